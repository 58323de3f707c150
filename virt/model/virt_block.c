// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_block.c
 * @brief	Requests of vCPUs' threads to block devices, during exits for memory.
 */
#include <errno.h>

#include "array.h"
#include "virt_block.h"
#include "virt_private.h"
#include "virt_worst.h"

/** A thread waits for few requests at a time: more than these are not looked through. */
#define MOST_AT_ONCE	256

int virt_model_read_begins(struct virt_model *model, int32_t vcpu, int64_t time_ns,
			   uint32_t device, uint64_t sector)
{
	if (model->finished || !virt_is_vcpu(model, vcpu) ||
	    (model->n_reads && time_ns < model->reads[model->n_reads - 1].from_ns))
		return -EINVAL;
	if (model->arguments.skip)
		return 0;
	if (ARRAY_GROW(model->reads, model->n_reads, model->reads_room))
		return -ENOMEM;
	model->reads[model->n_reads++] = (struct virt_block_read){
		.from_ns = time_ns, .to_ns = VIRT_NO_TIME, .sector = sector, .device = device,
		.vcpu = vcpu,
	};
	return 0;
}

void virt_model_read_ends(struct virt_model *model, int64_t time_ns, uint32_t device,
			  uint64_t sector, uint32_t n_sectors)
{
	size_t first = model->n_reads > MOST_AT_ONCE ? model->n_reads - MOST_AT_ONCE : 0;

	for (size_t i = model->n_reads; i-- > first && !model->finished; ) {
		struct virt_block_read *read = &model->reads[i];

		if (read->to_ns == VIRT_NO_TIME && read->sector >= sector &&
		    read->sector - sector < n_sectors &&
		    VIRT_BLOCK_MAJOR(read->device) == VIRT_BLOCK_MAJOR(device))
			read->to_ns = time_ns;
	}
}

const struct virt_block_read *virt_block_read_in(const struct virt_model *model, int32_t vcpu,
						 int64_t from_ns, int64_t to_ns)
{
	const struct virt_block_read *longest = NULL;
	int64_t longest_ns = 0;
	size_t i, first;

	if (!model->finished)
		return NULL;
	SEARCH_FIRST(i, 0, model->n_reads, model->reads[i].from_ns < to_ns);
	first = i > MOST_AT_ONCE ? i - MOST_AT_ONCE : 0;
	while (i-- > first) {
		const struct virt_block_read *read = &model->reads[i];

		if (read->vcpu != vcpu || read->to_ns == VIRT_NO_TIME || read->to_ns <= from_ns ||
		    (longest && read->to_ns - read->from_ns <= longest_ns))
			continue;
		longest = read;
		longest_ns = read->to_ns - read->from_ns;
	}
	return longest;
}
