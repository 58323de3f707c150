/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_migrations.h
 * @brief	kshark-virt report --migrations: how far vCPUs moved, and what that cost.
 */
#ifndef KSHARK_VIRT_REPORT_MIGRATIONS_H
#define KSHARK_VIRT_REPORT_MIGRATIONS_H

#include "report.h"

/**
 * report_migrations_text, report_migrations_json, report_migrations_csv - count and write them
 * @report: with file, load, topology and window set
 * @first: this is the first file of the output
 *
 * Return: 0 or -ENOMEM.
 */
int report_migrations_text(struct output *out, const struct report *report, bool first);
int report_migrations_json(struct output *out, const struct report *report, bool first);
int report_migrations_csv(struct output *out, const struct report *report, bool first);

#endif
