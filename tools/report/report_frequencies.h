/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_frequencies.h
 * @brief	The time at each frequency, by pCPU and by who had it: the end of report --power.
 */
#ifndef KSHARK_VIRT_REPORT_FREQUENCIES_H
#define KSHARK_VIRT_REPORT_FREQUENCIES_H

#include "report_page.h"

/**
 * report_frequencies - begin and fill the table
 * @to: of a table that has the columns of CSV
 *
 * Return: 0 or -ENOMEM.
 */
int report_frequencies(struct table_writer *to, const struct report *report);

#endif
