/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_modes.h
 * @brief	Times of a host by mode (host_modes.h), as pages of a report have them, and what was
 *		not recorded.
 */
#ifndef KSHARK_VIRT_REPORT_MODES_H
#define KSHARK_VIRT_REPORT_MODES_H

#include "host_modes.h"
#include "report.h"
#include "table.h"

/**
 * report_mode_cells - a cell for each mode; unknown without the records that show it
 * @ns: HOST_N_MODES times
 * @cells: receives HOST_N_MODES cells
 */
void report_mode_cells(const struct report *report, const struct host_modes *modes,
		       const int64_t *ns, struct table_cell *cells);

/** report_modes_text - in text: a line for each kind of records that was not recorded */
void report_modes_text(struct table_writer *to, const struct host_modes *modes);

/** report_modes_json - the same in JSON: the member "modes_not_recorded" */
void report_modes_json(struct table_writer *to, const struct host_modes *modes);

#endif
