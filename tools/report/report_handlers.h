/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_handlers.h
 * @brief	kshark-virt report --handlers: what interrupted vCPUs on their pCPUs.
 */
#ifndef KSHARK_VIRT_REPORT_HANDLERS_H
#define KSHARK_VIRT_REPORT_HANDLERS_H

#include "report.h"

/**
 * report_handlers_text, report_handlers_json, report_handlers_csv - count and write them
 * @report: with file, load and window set
 * @first: this is the first file of the output
 *
 * Return: 0 or -ENOMEM.
 */
int report_handlers_text(struct output *out, const struct report *report, bool first);
int report_handlers_json(struct output *out, const struct report *report, bool first);
int report_handlers_csv(struct output *out, const struct report *report, bool first);

#endif
