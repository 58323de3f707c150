/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	foreign_outcome.h
 * @brief	The result of the conversion of another tool's trace, apart from its records.
 */
#ifndef KSHARK_VIRT_FOREIGN_OUTCOME_H
#define KSHARK_VIRT_FOREIGN_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "perf_data.h"

/** All zero before the conversion. Texts are without the trace's name. */
struct foreign_outcome {
	uint64_t	events;		/* records that were written */
	uint64_t	without_cpu;	/* events whose CPU is not recorded: left out */
	uint64_t	fields;		/* fields for which an event had no room */
	uint64_t	lines;		/* lines of a text that are not understood */
	bool		has_micros;	/* times of a text have no more digits */
	bool		no_context;	/* which records interrupts wrote is unknown */
	struct perf_facts perf;
	char		problem[512];	/* why there is no result */
	char		damage[512];	/* why the result ends early */
};

#endif
