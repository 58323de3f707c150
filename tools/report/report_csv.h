/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_csv.h
 * @brief	kshark-virt report as CSV: one table for all, a row per number.
 */
#ifndef KSHARK_VIRT_REPORT_CSV_H
#define KSHARK_VIRT_REPORT_CSV_H

#include "report.h"

/** Columns that every row has; NULL and absent numbers are empty. */
struct csv_row {
	const char	*section, *machine, *vcpu, *name;
	const uint64_t	*count;
	const int64_t	*ns;
	const struct virt_dist	*dist;
	const struct virt_stretches *stretches;	/* instead of count, ns and dist */
	bool		unknown;	/* numbers are empty */
};

/** csv_titles - the line of titles. */
void csv_titles(struct output *out);

/** csv_row - write a row. */
void csv_row(struct output *out, const struct report *report, const struct csv_row *row);

/** csv_count, csv_time, csv_stretches - the same with more in it; what is 0 is not counted. */
void csv_count(struct output *out, const struct report *report, const struct csv_row *row,
	       const char *section, const char *name, uint64_t count);
void csv_time(struct output *out, const struct report *report, const struct csv_row *row,
	      const char *section, const char *name, int64_t ns);
void csv_stretches(struct output *out, const struct report *report, const struct csv_row *row,
		   const char *section, const char *name, const struct virt_stretches *stretches);

#endif
