/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_block.h
 * @brief	Requests of vCPUs' threads to block devices, during exits for memory.
 */
#ifndef KSHARK_VIRT_VIRT_BLOCK_H
#define KSHARK_VIRT_VIRT_BLOCK_H

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

struct virt_block_read {
	int64_t		from_ns;	/* it is asked for */
	int64_t		to_ns;		/* it is there; VIRT_NO_TIME: the trace does not show it */
	uint64_t	sector;		/* the first one, of 512 bytes */
	uint32_t	device;		/* dev_t of the kernel: major << 20 | minor */
	int32_t		vcpu;		/* whose thread asks */
};

#define VIRT_BLOCK_MAJOR(device)	((device) >> 20)
#define VIRT_BLOCK_MINOR(device)	((device) & 0xfffff)

/**
 * virt_model_read_begins - a vCPU's thread asks for data, of a model that is not finished
 *
 * Calls are in order of time. Return: 0, -ENOMEM, or -EINVAL for what cannot be.
 */
int virt_model_read_begins(struct virt_model *model, int32_t vcpu, int64_t time_ns,
			   uint32_t device, uint64_t sector);

/**
 * virt_model_read_ends - a device has supplied some sectors
 *
 * A request to a partition may end as one to its disk, which has the same major number.
 */
void virt_model_read_ends(struct virt_model *model, int64_t time_ns, uint32_t device,
			  uint64_t sector, uint32_t n_sectors);

/**
 * virt_block_read_in - what a vCPU waits for in a part of its time
 *
 * Return: of its requests that are under way in [@from_ns, @to_ns) and whose end the trace shows,
 * the longest one; NULL: none.
 */
const struct virt_block_read *virt_block_read_in(const struct virt_model *model, int32_t vcpu,
						 int64_t from_ns, int64_t to_ns);

#ifdef __cplusplus
}
#endif
#endif
