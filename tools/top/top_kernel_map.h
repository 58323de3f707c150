/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/**
 * @file	top_kernel_map.h
 * @brief	What top's programs in the kernel count, in memory that both share.
 *
 * A vCPU has two banks, one for each of two intervals that follow each other. While an interval is
 * read, the programs write into the bank of the next one. The ends of intervals are known before
 * they come: the programs cut times there, and the reader those that no program has counted yet.
 */
#ifndef KSHARK_VIRT_TOP_KERNEL_MAP_H
#define KSHARK_VIRT_TOP_KERNEL_MAP_H

#ifdef __bpf__
typedef unsigned int		top_u32;
typedef unsigned long long	top_u64;
#else
#include <stdint.h>
typedef uint32_t		top_u32;
typedef uint64_t		top_u64;
#endif

enum top_kernel_state {
	TOP_KERNEL_UNKNOWN = 0,	/* nothing has shown it yet */
	TOP_KERNEL_ON,		/* has a pCPU: which of its states that is, is not known */
	TOP_KERNEL_PREEMPTED,
	TOP_KERNEL_WAKING,
	TOP_KERNEL_BLOCKED,
	TOP_KERNEL_OFFLINE,	/* has been stopped, or has ended */
	TOP_KERNEL_MISSED,	/* it was woken or got a pCPU, and no event said when */
	TOP_KERNEL_N_STATES
};

/** Latencies of wake-ups: eight steps for each power of two, up to 2^38 ns. */
#define TOP_KERNEL_STEPS	8
#define TOP_KERNEL_LATENCIES	(36 * TOP_KERNEL_STEPS)

/** Culprits of a vCPU in an interval that are counted by name. A power of two. */
#define TOP_KERNEL_CULPRITS	128

/** Preempted vCPUs of a pCPU whose culprits are counted by name. */
#define TOP_KERNEL_WAITERS	16

#define TOP_KERNEL_COMM		16

struct top_kernel_culprit {
	top_u32	key;		/* pid + 1; 0: there is none here */
	char	comm[TOP_KERNEL_COMM];
	top_u32	reserved;
	top_u64	ns;
};

struct top_kernel_bank {
	top_u64	number;		/* of the interval, from 1 on */
	top_u64	ns[TOP_KERNEL_N_STATES];
	top_u64	count[TOP_KERNEL_N_STATES];	/* stays in a state that begin */
	top_u64	wakes, wake_ns;			/* of those that begin in it, which have ended */
	top_u64	others_ns;			/* of steal: culprits that had no room */
	struct top_kernel_culprit culprits[TOP_KERNEL_CULPRITS];
	top_u32	latencies[TOP_KERNEL_LATENCIES];
};

struct top_kernel_vcpu {
	top_u64	writes;		/* odd: it is being written */
	top_u64	since_ns;	/* of the state */
	top_u64	counted_ns;	/* its time is counted up to here */
	top_u64	slice_ns;	/* steal by culprit is counted up to here */
	top_u64	asleep_ns;	/* its reader saw it asleep then; 0: it did not */
	top_u64	events;
	top_u64	missed;		/* events that must have been, and were not seen */
	top_u32	state;		/* enum top_kernel_state */
	top_u32	pcpu;		/* preempted: that it waits for */
	top_u32	waiter;		/* preempted: its place among those that wait, and 1; 0: none */
	top_u32	by;		/* preempted: who has that pCPU, pid + 1; 0: not known */
	char	by_comm[TOP_KERNEL_COMM];
	struct top_kernel_bank banks[2];
};

/** The end of an interval is the begin of the next one. */
struct top_kernel_edge {
	top_u64	from_ns, to_ns;
};

/** top_kernel_latency - where a latency is counted. */
static inline top_u32 top_kernel_latency(top_u64 ns)
{
	top_u32 power = 0;
	top_u64 rest = ns;

	/* by halves: a program in the kernel has no loop without an end */
	for (int step = 32; step; step /= 2) {
		if (rest >> step) {
			rest >>= step;
			power += (top_u32)step;
		}
	}
	if (power < 3)
		return (top_u32)ns;
	power = (power - 2) * TOP_KERNEL_STEPS + (top_u32)(ns >> (power - 3) & 7);
	return power < TOP_KERNEL_LATENCIES ? power : TOP_KERNEL_LATENCIES - 1;
}

/** top_kernel_latency_end - the longest latency counted there; the last place has no end */
static inline top_u64 top_kernel_latency_end(top_u32 at)
{
	top_u32 power = at / TOP_KERNEL_STEPS + 2, step = at % TOP_KERNEL_STEPS;

	if (at < TOP_KERNEL_STEPS)
		return at;
	return (1ULL << power) + ((top_u64)(step + 1) << (power - 3)) - 1;
}

#endif
