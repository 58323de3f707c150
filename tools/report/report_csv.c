// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_csv.c
 * @brief	kshark-virt report as CSV: one table for all, a row per number.
 */
#include "report_csv.h"
#include "table.h"

static void put_number(struct output *out, const int64_t *value)
{
	out_char(out, ',');
	if (value)
		out_i64(out, *value);
}

static void put_text(struct output *out, const char *text)
{
	if (text)
		out_csv(out, text, strlen(text));
	out_char(out, ',');
}

static void put_u64(struct output *out, const uint64_t *value)
{
	out_char(out, ',');
	if (value)
		out_u64(out, *value);
}

void csv_titles(struct output *out)
{
	out_str(out, "file,section,machine,vcpu,name,");
	table_csv_titles(out, "", TABLE_N_STRETCHES);
	out_char(out, '\n');
}

void csv_row(struct output *out, const struct report *report, const struct csv_row *row)
{
	const struct virt_stretches *stretches = row->stretches;
	const struct virt_dist *dist = stretches ? &stretches->whole : row->dist;
	struct csv_row empty = *row;

	if (row->unknown) {
		empty.count = NULL;
		empty.ns = NULL;
		empty.stretches = stretches = NULL;
		row = &empty;
	}
	if (dist && (!dist->count || row->unknown))
		dist = NULL;
	put_text(out, report->file);
	put_text(out, row->section);
	put_text(out, row->machine);
	put_text(out, row->vcpu);
	if (row->name)
		out_csv(out, row->name, strlen(row->name));
	put_u64(out, stretches ? &stretches->count : row->count);
	put_number(out, stretches ? &stretches->ns : row->ns);
	table_csv_statistics(out, dist);
	put_u64(out, stretches ? &stretches->whole.count : NULL);
	put_u64(out, stretches ? &stretches->before : NULL);
	put_number(out, stretches && stretches->before && stretches->before_ns != VIRT_NONE ?
		   &stretches->before_ns : NULL);
	out_char(out, '\n');
}

void csv_count(struct output *out, const struct report *report, const struct csv_row *row,
	       const char *section, const char *name, uint64_t count)
{
	struct csv_row counted = *row;

	if (!count && !row->unknown)
		return;
	counted.section = section;
	counted.name = name;
	counted.count = &count;
	csv_row(out, report, &counted);
}

void csv_time(struct output *out, const struct report *report, const struct csv_row *row,
	      const char *section, const char *name, int64_t ns)
{
	struct csv_row timed = *row;

	timed.section = section;
	timed.name = name;
	timed.ns = &ns;
	csv_row(out, report, &timed);
}

void csv_stretches(struct output *out, const struct report *report, const struct csv_row *row,
		   const char *section, const char *name,
		   const struct virt_stretches *stretches)
{
	struct csv_row full = *row;

	full.section = section;
	full.name = name;
	full.stretches = stretches;
	csv_row(out, report, &full);
}
