/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_threads.h
 * @brief	kshark-virt report --threads: what works for machines beside their vCPUs.
 */
#ifndef KSHARK_VIRT_REPORT_THREADS_H
#define KSHARK_VIRT_REPORT_THREADS_H

#include "report.h"

/**
 * report_threads_text, report_threads_json, report_threads_csv - count and write them
 * @report: with file, load and window set
 * @first: this is the first file of the output
 *
 * Return: 0 or -ENOMEM.
 */
int report_threads_text(struct output *out, const struct report *report, bool first);
int report_threads_json(struct output *out, const struct report *report, bool first);
int report_threads_csv(struct output *out, const struct report *report, bool first);

#endif
