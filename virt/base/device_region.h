/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	device_region.h
 * @brief	A range of addresses or ports of a guest that belongs to a device.
 */
#ifndef KSHARK_VIRT_DEVICE_REGION_H
#define KSHARK_VIRT_DEVICE_REGION_H

#include <stdbool.h>
#include <stdint.h>

/** A machine has no more of them. */
#define DEVICE_MAX_REGIONS	4096

struct device_region {
	uint64_t	first, last;	/* guest's physical addresses, or ports; @last is one of
					 * them */
	const char	*name;		/* "virtio-mmio" */
	bool		is_port;
};

#endif
