/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_finding.h
 * @brief	Make a row of a list from one of the worst moments, for reports and windows.
 */
#ifndef KSHARK_VIRT_VIRT_FINDING_H
#define KSHARK_VIRT_VIRT_FINDING_H

#include "virt_worst.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A row. Names are as the trace has them, and live as long as the model. */
struct virt_finding {
	struct virt_moment	moment;
	int64_t			time_ns;	/* where it stands, see enum virt_worst_kind */
	const char		*vcpu;		/* or "" */
	const char		*what;		/* exit: reason; steal, wake: who had the pCPU; irq:
						 * what Linux uses the vector for; or "" */
};

/** virt_finding_make - the row of a hit. Return: false if it is none. */
bool virt_finding_make(const struct virt_model *model, const struct virt_worst *worst,
		       const struct virt_worst_hit *hit, struct virt_finding *finding);

#ifdef __cplusplus
}
#endif
#endif
