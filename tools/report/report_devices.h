/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_devices.h
 * @brief	Count requests to devices, and the time of vCPUs in their monitor, from the
 *		monitor's own trace.
 */
#ifndef KSHARK_VIRT_REPORT_DEVICES_H
#define KSHARK_VIRT_REPORT_DEVICES_H

#include "model_monitors.h"
#include "report.h"

/** No exit of KVM is traced. */
#define REPORT_NO_EXIT	INT32_MIN

/** A thread that began requests. */
struct report_beginner {
	int32_t		thread;
	uint64_t	count;
};

/** What a device was asked for, in one way: requests that begin in the window. */
struct report_asked {
	int32_t		device;
	uint8_t		operation;	/* enum monitor_operation */
	uint64_t	count, bytes;
	struct virt_dist latency;	/* of those whose end is in the trace */
	struct report_beginner *threads; /* most requests first */
	size_t		n_threads, room_threads;
	/* private, while they are counted */
	int64_t		*ns;
	size_t		n_ns, room_ns;
};

/** Time of vCPUs in the monitor, by what they accessed first there. */
struct report_opened {
	int32_t		device;		/* or MONITOR_NONE: none */
	int32_t		reason;		/* then, of KVM's exit; or REPORT_NO_EXIT */
	uint8_t		operation, bytes;
	uint64_t	accesses;	/* also those that were not the first */
	uint64_t	stretches;
	int64_t		ns;
};

/** Of one monitor. */
struct report_devices {
	const struct host_monitor *monitor;
	struct report_asked	*asked;		/* most time first */
	struct report_opened	*opened;	/* the same; their sum is @vmm_ns */
	size_t			n_asked, n_opened;
	int64_t			vmm_ns;		/* of the machine's vCPUs, in the window */
};

/** report_each_monitor - count and write, monitor by monitor. Return: 0 or -ENOMEM. */
int report_each_monitor(const struct report *report,
			int (*put)(void *arg, const struct report *report,
				   const struct report_devices *devices), void *arg);

/** report_device_name - with its pointer, if others are called so */
const char *report_device_name(const struct monitor_requests *requests, int32_t device, char *text,
			       size_t size);

#endif
