/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_page.h
 * @brief	What kshark-virt report tells instead of all its sections, from the model.
 */
#ifndef KSHARK_VIRT_REPORT_PAGE_H
#define KSHARK_VIRT_REPORT_PAGE_H

#include "json_writer.h"
#include "report.h"

/**
 * How a page is counted and written in each format.
 * @report: with file, load, count, topology and window set
 * @first: this is the first file of the output
 *
 * Return: 0 or -ENOMEM.
 */
typedef int report_page_writer(struct output *out, const struct report *report, bool first);

struct report_page {
	report_page_writer	*text, *json, *csv;
	bool			with_guests;	/* if their traces are there, they tell more */
};

/** What vCPUs waited for, and who woke them. */
extern const struct report_page report_waits;

/** What works for machines beside their vCPUs. */
extern const struct report_page report_threads;

/** What interrupted vCPUs on their pCPUs. */
extern const struct report_page report_handlers;

/** How pCPUs slept, how fast they were, and who waited for it. */
extern const struct report_page report_power;

/** How far vCPUs moved, and what that cost. */
extern const struct report_page report_migrations;

/** What devices were asked for, by the monitors' own traces. */
extern const struct report_page report_devices;

/** report_page_head - file and window; with a line between, if it is not the first one */
void report_page_head(struct output *out, const struct report *report, bool first);

/** report_page_begin, report_page_end - the same, in an object that stays open in between */
void report_page_begin(struct json *json, struct output *out, const struct report *report);
void report_page_end(struct json *json);

/** report_csv_text - a text, or nothing for NULL, and the comma behind it */
void report_csv_text(struct output *out, const char *text);

#endif
