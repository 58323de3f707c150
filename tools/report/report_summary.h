/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_summary.h
 * @brief	The first answer of kshark-virt report: one screen about a trace.
 */
#ifndef KSHARK_VIRT_REPORT_SUMMARY_H
#define KSHARK_VIRT_REPORT_SUMMARY_H

#include "report.h"
#include "table.h"

enum report_summary_column {
	SUMMARY_STEAL = 0, SUMMARY_WAITING, SUMMARY_GUEST, SUMMARY_HYPERVISOR, SUMMARY_BLOCKED,
	SUMMARY_EXITS, SUMMARY_MIGRATIONS, SUMMARY_VCPU, SUMMARY_N_COLUMNS
};

/** A vCPU. */
struct report_summary_row {
	int32_t		vcpu;
	const char	*culprit;		/* or NULL */
	bool		is_culprit_known;	/* @culprit had its pCPU */
	ssize_t		place;			/* in the order of the full report */
	int64_t		value[SUMMARY_N_COLUMNS]; /* VIRT_NONE: unknown */
	int64_t		whole[SUMMARY_N_COLUMNS]; /* of a share or a rate: the time it refers to */
};

struct report_summary {
	int		sort;		/* index of report_summary_columns */
	int		width, lines;	/* of the screen */
	char *const	*files;		/* the arguments that name the trace */
	int		n_files;
};

/** Columns to sort by, the default one first; NULL behind the last one. */
extern const char *const report_summary_columns[];

/** The numbers of a vCPU as columns of tables, whose titles are those of a wide screen. */
extern const struct table_column report_summary_measures[SUMMARY_VCPU];

/** Other work of the caller, which needs no rows. @work: returns 0 or a negative errno. */
struct report_summary_beside {
	int	(*work)(void *arg);
	void	*arg;
};

/**
 * report_summary_rows - the vCPUs that are asked for, in the order of a column
 * @sort: index of report_summary_columns
 * @other: is done beside, by another thread if a core is free; NULL: this thread does all, and its
 *	walk has the numbers
 * @rows: receives them, to be freed
 *
 * Return: their number, or a negative errno.
 */
ssize_t report_summary_rows(const struct report *report, int sort,
			    const struct report_summary_beside *other,
			    struct report_summary_row **rows);

/** report_summary_sort - put them into the order of another column */
void report_summary_sort(struct report_summary_row *rows, size_t n, int sort);

/** report_summary_screen - the screen of standard output, or a usual one if @path is a file */
void report_summary_screen(struct report_summary *summary, const char *path);

/**
 * report_summary_write - write the summary of the window of @report as text
 * @report: with file, load and window set
 * @first: this is the first file of the output
 *
 * Warnings of the trace are part of it, so that model_notes() does not print them again.
 *
 * Return: 0 or -ENOMEM.
 */
int report_summary_write(struct output *out, struct report *report,
			 const struct ksv_vcpu_set *vcpus, const struct report_summary *summary,
			 bool first);

#endif
