/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_waits.h
 * @brief	kshark-virt report --waits: what vCPUs waited for, and who woke them.
 */
#ifndef KSHARK_VIRT_REPORT_WAITS_H
#define KSHARK_VIRT_REPORT_WAITS_H

#include "report.h"

/**
 * report_waits_text, report_waits_json, report_waits_csv - count and write them
 * @report: with file, load and window set
 * @first: this is the first file of the output
 *
 * Return: 0 or -ENOMEM.
 */
int report_waits_text(struct output *out, const struct report *report, bool first);
int report_waits_json(struct output *out, const struct report *report, bool first);
int report_waits_csv(struct output *out, const struct report *report, bool first);

#endif
