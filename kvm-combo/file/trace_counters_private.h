/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_counters_private.h
 * @brief	The head and the foot of the counters in a trace.dat.
 */
#ifndef KSHARK_VIRT_TRACE_COUNTERS_PRIVATE_H
#define KSHARK_VIRT_TRACE_COUNTERS_PRIVATE_H

#include <stdint.h>

/** A number, which shows the byte order as well. */
#define TRACE_COUNTERS_MAGIC	UINT64_C(0x6b7376636e743031)

struct trace_counters_head {
	uint64_t	magic;
	uint64_t	n;		/* counters, which follow; then come readings */
};

struct trace_counters_foot {
	uint64_t	begin;		/* of the head, in the file */
	uint64_t	magic;
};

#endif
