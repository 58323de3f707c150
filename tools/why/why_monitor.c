// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	why_monitor.c
 * @brief	Explain the time of a vCPU in its monitor, from the monitor's own trace.
 */
#include <stdio.h>

#include "escape.h"
#include "host_monitor.h"
#include "why.h"

/** Accesses that text lists one by one. */
#define MAX_LISTED	3

/** The caller's function for accesses. */
struct taker {
	const struct host_monitor *monitor;
	void			(*take)(void *arg, const struct why_access *access);
	void			*arg;
};

static void take_access(const struct taker *taker, const struct monitor_access *access)
{
	const struct monitor_device *device = &taker->monitor->requests.devices[access->device];
	const struct why_access found = {
		.time_ns = host_monitor_time(taker->monitor, access->time_ns),
		.operation = monitor_operation_name((enum monitor_operation)access->operation),
		.device = device->name, .n_device = device->n_name, .bytes = access->bytes,
		.address = access->address,
	};

	taker->take(taker->arg, &found);
}

/** Of a stay in which nothing is accessed. */
static void take_exit(const struct taker *taker, const struct monitor_exit *exit)
{
	const struct why_access found = {
		.time_ns = host_monitor_time(taker->monitor, exit->time_ns), .is_exit = true,
		.reason = exit->reason, .operation = monitor_exit_name(exit->reason),
	};

	taker->take(taker->arg, &found);
}

static void take_stretch(void *arg, const struct host_monitor_stretch *stretch)
{
	const struct taker *taker = arg;
	const struct monitor_requests *requests = &taker->monitor->requests;
	size_t first = stretch->first_access;

	for (size_t i = first; i < first + stretch->n_accesses; i++)
		take_access(taker, &requests->accesses[stretch->vcpu->accesses[i]]);
	if (!stretch->n_accesses && stretch->n_exits)
		take_exit(taker, &requests->exits[stretch->vcpu->exits[stretch->first_exit]]);
}

void why_each_access(const struct why_writing *writing, const struct virt_why_segment *segment,
		     void (*take)(void *arg, const struct why_access *access), void *arg)
{
	if (segment->kind != VIRT_WHY_VMM)
		return;
	for (int i = 0; i < writing->n_monitors; i++) {
		struct taker taker = { &writing->monitors[i], take, arg };

		host_monitor_vcpu_stretches(taker.monitor, segment->subject, segment->from_ns,
					    segment->to_ns, take_stretch, &taker);
	}
}

/** What has been put. */
struct putting {
	struct output	*out;
	int		n;
};

static void put_access(void *arg, const struct why_access *access)
{
	struct putting *putting = arg;
	struct output *out = putting->out;
	char name[128];

	if (putting->n++ >= MAX_LISTED)
		return;
	out_str(out, putting->n == 1 ? ", the monitor: " : ", ");
	if (access->is_exit) {
		out_str(out, "KVM exit ");
		if (access->operation)
			out_str(out, access->operation);
		else
			out_i64(out, access->reason);
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)text_cut(access->device, access->n_device),
		 access->device);
	out_printf(out, "%s of %d B, ", access->operation, access->bytes);
	out_text(out, name);
	out_printf(out, " at 0x%llx", (unsigned long long)access->address);
}

void why_put_accesses(const struct why_writing *writing, const struct virt_why_segment *segment)
{
	struct putting putting = { .out = writing->out };

	why_each_access(writing, segment, put_access, &putting);
	if (putting.n > MAX_LISTED)
		out_printf(writing->out, " and %d more", putting.n - MAX_LISTED);
}
