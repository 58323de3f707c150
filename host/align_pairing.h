/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	align_pairing.h
 * @brief	Find the vCPU that each CPU of a guest is, by its events, with unchanged clocks.
 */
#ifndef KSHARK_VIRT_ALIGN_PAIRING_H
#define KSHARK_VIRT_ALIGN_PAIRING_H

#include "clock_align.h"
#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** align_work - what files of @bytes bytes may cause, in the steps of clock_align.h. */
uint64_t align_work(uint64_t bytes);

/** What explains the events of a guest. */
struct align_pairing {
	int32_t		machine;	/* of the host */
	int32_t		*vcpus;		/* by the guest's CPU: index in the model, or VIRT_NONE */
	struct virt_clock_alignment alignment;
};

/**
 * align_pairing_find - which machine, and which of its vCPUs, explain the events of a guest?
 * @cpus: their vCPUs do not matter
 * @offset: from the times to those of the model
 * @work: what may still be done, as in clock_align.h; NULL: there is no limit
 * @pairing: room for @n_cpus numbers of vCPUs
 *
 * Some events of each CPU find the pairs, all of them judge these. What explains less than
 * VIRT_CLOCK_DOUBT_PERCENT does not count; nor does one of two machines that explain as much.
 *
 * Return: 1 if there is one, 0 if not, or a negative errno; -ETIME because of @work.
 */
int align_pairing_find(const struct virt_model *model, const struct virt_clock_cpu *cpus,
		       int32_t n_cpus, int64_t offset, uint64_t *work,
		       struct align_pairing *pairing);

/**
 * align_pairing_text - how a guest is paired wrongly, and what its events fit instead
 * @paired: the machine that it is paired with, or VIRT_NONE
 *
 * In the form "the wrong machine: its events fit d0 (PID 10000) instead".
 */
void align_pairing_text(const struct virt_model *model, int32_t paired,
			const struct align_pairing *pairing, int32_t n_cpus, char *text,
			size_t size);

#ifdef __cplusplus
}
#endif

#endif
