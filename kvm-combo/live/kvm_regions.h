/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_regions.h
 * @brief	Ask a machine's monitor (QEMU) at which addresses and ports its devices are.
 *
 * "info mtree -f -o" lists the regions that the guest sees now, with the ids of devices:
 *
 *	FlatView #1
 *	 AS "memory", root: system
 *	 Root memory region: system
 *	  00000000feb02a00-00000000feb02bff (prio 0, i/o): virtio-mmio owner:{dev id=disk0}
 */
#ifndef KSHARK_VIRT_KVM_REGIONS_H
#define KSHARK_VIRT_KVM_REGIONS_H

#include <stddef.h>

#include "device_region.h"
#include "kvm_live.h"

/** Bytes of an answer that are read. */
#define KVM_REGIONS_BYTES	(4 << 20)

/** Bytes of a region's name that are kept. */
#define KVM_REGION_NAME		64

struct kvm_regions {
	struct device_region *all;	/* with names of their own; at most DEVICE_MAX_REGIONS */
	size_t		n, room;
	size_t		n_left_out;	/* more than that */
};

/** kvm_regions_add - add one, with a copy of its name. Return: 0 or -ENOMEM. */
int kvm_regions_add(struct kvm_regions *regions, const struct device_region *region);

/**
 * kvm_regions_parse - the devices in the answer to "info mtree -f -o"
 * @regions: all zero; to be given to kvm_regions_free() in any case
 *
 * Memory itself is no device.
 *
 * Return: 0, -ENOMEM, or -EINVAL: the text has no such list.
 */
int kvm_regions_parse(const char *text, struct kvm_regions *regions);

/**
 * kvm_regions_connect - connect to the monitor's socket for QMP
 * @root: as for kvm_live_read()
 * @guest: with a socket
 *
 * A monitor serves one program at a time; if others wait already, that is -ETIMEDOUT.
 *
 * Return: a descriptor, or a negative errno.
 */
int kvm_regions_connect(const char *root, const struct kvm_live_guest *guest);

/**
 * kvm_regions_talk - ask a monitor
 * @fd: from kvm_regions_connect()
 * @regions: as above
 *
 * The answer may be hostile, and may never come: let a process without rights take it, and limit
 * its time.
 *
 * Return: 0 or a negative errno.
 */
int kvm_regions_talk(int fd, struct kvm_regions *regions);

/** kvm_regions_problem - what an error of these functions means: "does not answer ..."; static */
const char *kvm_regions_problem(int ret);

void kvm_regions_free(struct kvm_regions *regions);

#endif
