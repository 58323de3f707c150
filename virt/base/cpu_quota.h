/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	cpu_quota.h
 * @brief	The CPU quota of a cgroup at a moment, and how long it has held threads by then.
 */
#ifndef KSHARK_VIRT_CPU_QUOTA_H
#define KSHARK_VIRT_CPU_QUOTA_H

#include <stdint.h>

/** Instead of a quota: there is none. */
#define CPU_NO_QUOTA	(-1)

struct cpu_quota {
	int64_t		quota_us;	/* CPU time in each period; or CPU_NO_QUOTA */
	int64_t		period_us;
	int64_t		periods;	/* in which threads wanted to run; since it was made */
	int64_t		throttled;	/* of these, those in which the quota was used up */
	int64_t		throttled_us;	/* how long threads were held, added up over CPUs */
};

#endif
