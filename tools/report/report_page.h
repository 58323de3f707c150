/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_page.h
 * @brief	The pages that kshark-virt report prints instead of all its sections, from the
 *		model.
 */
#ifndef KSHARK_VIRT_REPORT_PAGE_H
#define KSHARK_VIRT_REPORT_PAGE_H

#include "report.h"
#include "table.h"
#include "virt_needs.h"

/**
 * How a page is counted and written in each format.
 * @report: with file, load, count, topology and window set
 * @first: this is the first file of the output
 *
 * Return: 0 or -ENOMEM.
 */
typedef int report_page_writer(struct output *out, const struct report *report, bool first);

/** A page is a table, or has a writer for each format. */
struct report_page {
	const struct table	*table;
	enum virt_number	number;		/* of the rows; if it is unknown, so are they;
						 * VIRT_N_NUMBERS: they are known */
	int	(*rows)(struct table_writer *to, const struct report *report);
	/* text and JSON in front of the table; or NULL */
	void	(*preface)(struct table_writer *to, const struct report *report);
	/* instead of @rows: the table from its begin to its end, and what JSON has after it */
	int	(*write)(struct table_writer *to, const struct report *report, bool first);
	report_page_writer	*writers[TABLE_N_FORMATS];
	bool			with_guests;	/* the page shows more with their traces */
	unsigned int		parts;		/* set of enum virt_window_part that it needs */
};

/** report_page_write - a page in one format. Return: 0 or -ENOMEM. */
int report_page_write(const struct report_page *page, enum table_format_kind format,
		      struct output *out, const struct report *report, bool first);

/**
 * report_page_tables - the tables of a page, for HTML
 * @name: in front of their keys
 *
 * Return: 0 or -ENOMEM.
 */
int report_page_tables(const struct report_page *page, const char *name,
		       struct html_tables *tables, const struct report *report);

/**
 * report_each_vcpu - the vCPUs that were asked for, machine by machine
 *
 * Return: 0, or what @put returned if that is not 0.
 */
int report_each_vcpu(const struct report *report, struct table_writer *to,
		     int (*put)(struct table_writer *to, const struct report *report,
				const struct virt_machine *machine, int32_t vcpu, void *arg),
		     void *arg);

/** What vCPUs waited for, and who woke them. */
extern const struct report_page report_waits;

/** What works for machines beside their vCPUs. */
extern const struct report_page report_threads;

/** What the host's own tasks did, and waited for. */
extern const struct report_page report_host_tasks;

/** How often each event was recorded. */
extern const struct report_page report_event_counts;

/** What disks were asked for, and how long that took. */
extern const struct report_page report_disks;
extern const struct report_page report_file_calls;

/** Which locks of the kernel were waited for, and how long. */
extern const struct report_page report_locks;

/** Counters of pCPUs, by the vCPU or task that had the pCPU. */
extern const struct report_page report_counters;

/** What the pCPUs did, interval by interval. */
extern const struct report_page report_over_time;

/** What interrupted vCPUs on their pCPUs. */
extern const struct report_page report_handlers;

/** How pCPUs slept, how fast they were, and who waited for it. */
extern const struct report_page report_power;

/** How far vCPUs moved, and what that cost. */
extern const struct report_page report_migrations;

/** What devices were asked for, by the monitors' own traces. */
extern const struct report_page report_devices;

/** What VM exits were for. */
extern const struct report_page report_arguments;

/** report_page_head - file and window; with a line between, if it is not the first one */
void report_page_head(struct output *out, const struct report *report, bool first);

/** report_page_begin, report_page_end - the same, in an object that stays open in between */
void report_page_begin(struct json *json, struct output *out, const struct report *report);
void report_page_end(struct json *json);

#endif
