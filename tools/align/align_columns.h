/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	align_columns.h
 * @brief	What JSON has of an alignment, be it that of a guest or of a monitor.
 */
#ifndef KSHARK_VIRT_ALIGN_COLUMNS_H
#define KSHARK_VIRT_ALIGN_COLUMNS_H

#include "table.h"

enum align_column {
	ALIGNED_OFFSET = 0, ALIGNED_AT, ALIGNED_UNIT, ALIGNED_INTERVAL, ALIGNED_DRIFT,
	ALIGNED_DRIFT_INTERVAL, ALIGNED_EXPLAINED, ALIGNED_WORST, ALIGNED_UNKNOWN,
	ALIGNED_INTERRUPTS, ALIGNED_INTERRUPTS_EXPLAINED, ALIGNED_BY_INTERRUPTS, ALIGNED_EVENTS,
	ALIGNED_MACHINE, ALIGNED_SOURCE, ALIGNED_REFUSED, ALIGNED_REASON, ALIGNED_TRACE_CMD,
	ALIGNED_N_COLUMNS
};

/** The columns of ALIGNED_TRACE_CMD. */
enum { ALIGNED_N_TRACE_CMD = 5 };

/** align_cells - make all of them absent */
void align_cells(struct table_cell cells[ALIGNED_N_COLUMNS]);

/**
 * align_begin - begin an object with the cells as its members; json_close() must follow
 * @file: the first member if there are several; NULL: the version
 */
void align_begin(struct json *json, const char *file,
		 const struct table_cell cells[ALIGNED_N_COLUMNS]);

#endif
