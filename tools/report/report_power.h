/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_power.h
 * @brief	kshark-virt report --power: how pCPUs slept, and how fast they were.
 */
#ifndef KSHARK_VIRT_REPORT_POWER_H
#define KSHARK_VIRT_REPORT_POWER_H

#include "report.h"

/**
 * report_power_text, report_power_json, report_power_csv - count and write it
 * @report: with file, load, count and window set
 * @first: this is the first file of the output
 *
 * Return: 0.
 */
int report_power_text(struct output *out, const struct report *report, bool first);
int report_power_json(struct output *out, const struct report *report, bool first);
int report_power_csv(struct output *out, const struct report *report, bool first);

#endif
