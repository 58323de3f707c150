/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A search for an alignment that is under way, and what its parts should say, by definition. */
#ifndef KSHARK_VIRT_TESTS_CLOCK_SMALL_H
#define KSHARK_VIRT_TESTS_CLOCK_SMALL_H

#include "clock_fit.h"

/** clock_small_begin - as virt_clock_align() does; to be given to clock_small_end() */
void clock_small_begin(struct clock_search *search, const struct virt_clock_problem *problem);
void clock_small_end(struct clock_search *search);

/** clock_small_score - of some samples, with an offset */
int64_t clock_small_score(const struct clock_vcpu *vcpus, const struct clock_sample *samples,
			  int n, const struct clock_rate *rate, int64_t offset);

#endif
