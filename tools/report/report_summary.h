/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_summary.h
 * @brief	The first answer of kshark-virt report: one screen about a trace.
 */
#ifndef KSHARK_VIRT_REPORT_SUMMARY_H
#define KSHARK_VIRT_REPORT_SUMMARY_H

#include "report.h"

struct report_summary {
	int		sort;		/* index of report_summary_columns */
	int		width, lines;	/* of the screen */
	char *const	*files;		/* the arguments that name the trace */
	int		n_files;
};

/** Columns to sort by, the default one first; NULL behind the last one. */
extern const char *const report_summary_columns[];

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
