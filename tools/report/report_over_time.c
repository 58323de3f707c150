// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_over_time.c
 * @brief	kshark-virt report --over-time: what the pCPUs of a host did, interval by interval.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "model_over_time.h"
#include "report_modes.h"
#include "report_page.h"
#include "report_unknown.h"
#include "text_columns.h"

#define TIME_WIDTH	18
#define MODE_WIDTH	9
#define PART_WIDTH	8
#define LOAD_WIDTH	10
#define MIB		(1 << 20)

/** Means of numbers of tasks are not whole; those of bytes are rounded. */
#define IS_MEAN(number)	((number) == HOST_SAMPLE_RUNNABLE || (number) == HOST_SAMPLE_BLOCKED)

/** What the page is made of. */
struct over_time {
	const struct report *report;
	struct model_over_time sums;
};

/* --- the table ------------------------------------------------------------------------------- */

/** A mode in text is a share of the time of all pCPUs. */
#define MODE(name, mode)							\
	{ .key = mode "_ns", .type = TABLE_NS },				\
	{ .type = TABLE_SHARE, .title = mode, .brief = true, .width = MODE_WIDTH },

static const struct table_column columns[] = {
	{ .key = "from_ns", .type = TABLE_TIME },
	{ .key = "to_ns", .type = TABLE_TIME },
	{ .title = "from", .width = TIME_WIDTH },
	HOST_MODES(MODE)
	{ .key = "mode_unknown_ns", .type = TABLE_NS },
	{ .type = TABLE_SHARE, .title = "unknown", .brief = true, .width = MODE_WIDTH },
	{ .key = "switches", .type = TABLE_COUNT },
	{ .key = "migrations", .type = TABLE_COUNT },
	{ .key = "preempted_ns", .type = TABLE_NS },
	{ .key = "waking_ns", .type = TABLE_NS },
	{ .key = "uninterruptible_ns", .type = TABLE_NS },
	{ .key = "faults", .type = TABLE_COUNT },
#define SAMPLED(name, key_)							\
	{ .key = "sampled_" key_,						\
	  .type = IS_MEAN(HOST_SAMPLE_##name) ? TABLE_FIXED : TABLE_COUNT },
#define SAMPLED_CPU(name, kind)	SAMPLED(name, kind "_ns")
	HOST_SAMPLE_CPU(SAMPLED_CPU)
	HOST_SAMPLE_COUNTERS(SAMPLED)
	HOST_SAMPLE_STATES(SAMPLED)
#undef SAMPLED_CPU
#undef SAMPLED
};

/** In text, the rest are tables of their own: lines stay short. */
#define SHARE(name, title_)							\
	{ .type = TABLE_SHARE, .title = title_, .brief = true, .width = PART_WIDTH },
#define NUMBER(name)								\
	{ .type = TABLE_COUNT, .title = name, .width = PART_WIDTH }
#define LOAD(name)								\
	{ .type = TABLE_COUNT, .title = name, .width = LOAD_WIDTH }
#define MEAN(name)								\
	{ .type = TABLE_VALUE, .title = name, .width = LOAD_WIDTH, .right = true }

static const struct table_column task_columns[] = {
	{ .title = "tasks from", .width = TIME_WIDTH },
	NUMBER("switches"),
	NUMBER("moves"),
	{ .type = TABLE_NS, .title = "preempted" },
	{ .type = TABLE_NS, .title = "waking" },
	{ .type = TABLE_NS, .title = "in D" },
	NUMBER("faults"),
};

static const struct table_column cpu_columns[] = {
	{ .title = "sampled from", .width = TIME_WIDTH },
	HOST_SAMPLE_CPU(SHARE)
};

static const struct table_column load_columns[] = {
	{ .title = "sampled from", .width = TIME_WIDTH },
	LOAD("switches"),
	MEAN("runnable"),
	MEAN("blocked"),
	LOAD("used MiB"),
	LOAD("swap MiB"),
	LOAD("read MiB"),
	LOAD("wr. MiB"),
};

/** The share of the time in which a task waited for it. */
static const struct table_column pressure_columns[] = {
	{ .title = "pressure from", .width = TIME_WIDTH },
	SHARE(CPU, "cpu")
	SHARE(MEMORY, "memory")
	SHARE(IO, "io")
};

static const struct table table = {
	.rows = { .key = "intervals", TABLE_COLUMNS(columns), .none = "  no interval\n" },
};

/* --- rows ------------------------------------------------------------------------------------ */

static struct table_cell known_cell(bool known, int64_t number)
{
	return known ? table_number(number) : table_unknown();
}

static struct table_cell count_cell(int64_t count)
{
	return known_cell(count >= 0, count);
}

static struct table_cell mean_cell(double mean)
{
	return isnan(mean) ? table_unknown() : table_rate(true, mean);
}

static struct table_cell sampled_cell(const struct host_sample_sums *sampled, int i)
{
	if (i < HOST_N_COUNTERS)
		return count_cell(sampled->counts[i]);
	if (IS_MEAN(i))
		return mean_cell(sampled->means[i]);
	/* the largest numbers are not those of a double */
	return !(sampled->means[i] < (double)INT64_MAX) ? table_unknown() :
	       table_number(llround(sampled->means[i]));
}

static const char *time_text(int64_t ns, char text[40])
{
	snprintf(text, 40, "%s%lld.%09lld", ns < 0 ? "-" : "", llabs(ns / 1000000000),
		 llabs(ns % 1000000000));
	return text;
}

/** Numbers of tasks, from switches on. */
static void task_cells(struct table_cell *cells, const struct over_time *all,
		       const struct model_interval *interval)
{
	bool wakes = all->sums.has_tasks && report_knows(all->report, VIRT_NUMBER_WAKING);

	*cells++ = known_cell(all->sums.has_tasks, (int64_t)interval->switches);
	*cells++ = known_cell(all->sums.has_tasks, (int64_t)interval->migrations);
	*cells++ = known_cell(all->sums.has_tasks, interval->waiting_ns);
	*cells++ = known_cell(wakes, interval->waking_ns);
	*cells++ = known_cell(wakes, interval->uninterruptible_ns);
	*cells++ = known_cell(all->sums.has_tasks && all->sums.tasks.modes.has_faults,
			      (int64_t)interval->faults);
}

static void interval_row(struct table_writer *to, const struct over_time *all,
			 const struct model_interval *interval)
{
	struct table_cell cells[ARRAY_SIZE(columns)], mode_cells[HOST_N_MODES];
	char from[40];
	size_t at = 0;

	report_mode_cells(all->report, &all->sums.tasks.modes, interval->modes_ns, mode_cells);
	cells[at++] = table_number(interval->from_ns);
	cells[at++] = table_number(interval->to_ns);
	cells[at++] = table_name(time_text(interval->from_ns, from));
	for (int mode = 0; mode < HOST_N_MODES; mode++) {
		cells[at] = all->sums.has_tasks ? mode_cells[mode] : table_unknown();
		cells[at + 1] = cells[at];
		cells[at + 1].whole = interval->all_ns;
		at += 2;
	}
	task_cells(cells + at, all, interval);
	at += ARRAY_SIZE(task_columns) - 1;
	for (int i = 0; i < HOST_N_SAMPLED; i++)
		cells[at++] = sampled_cell(&interval->sampled, i);
	table_row(to, cells);
}

/* --- more tables in text -------------------------------------------------------------------- */

static struct table_cell share_cell(int64_t part, int64_t whole)
{
	return part < 0 || whole <= 0 ? table_unknown() : table_share(part, whole);
}

static struct table_cell mib_cell(double bytes)
{
	return isnan(bytes) ? table_unknown() : table_number(llround(bytes / MIB));
}

/** @text: receives the number of tasks. */
static struct table_cell tasks_cell(double mean, char text[24])
{
	snprintf(text, 24, "%.1f", mean);
	return isnan(mean) ? table_unknown() :
	       table_value(table_rate(true, mean), TABLE_RATE, text);
}

static double bytes_of(int64_t count)
{
	return count < 0 ? NAN : (double)count;
}

static void task_part(struct table_writer *to, const struct over_time *all,
		      const struct model_interval *interval)
{
	struct table_cell cells[ARRAY_SIZE(columns)];
	char from[40];

	cells[0] = table_name(time_text(interval->from_ns, from));
	task_cells(cells + 1, all, interval);
	table_row(to, cells);
}

static void cpu_part(struct table_writer *to, const struct over_time *all,
		     const struct model_interval *interval)
{
	const int64_t *counts = interval->sampled.counts;
	struct table_cell cells[ARRAY_SIZE(cpu_columns)];
	int64_t cpu_ns = host_samples_cpu_ns(&interval->sampled);
	char from[40];
	size_t at = 0;

	(void)all;
	cells[at++] = table_name(time_text(interval->from_ns, from));
	for (int i = HOST_SAMPLE_GUEST; i <= HOST_SAMPLE_IDLE; i++)
		cells[at++] = share_cell(counts[i], cpu_ns);
	table_row(to, cells);
}

static void load_part(struct table_writer *to, const struct over_time *all,
		      const struct model_interval *interval)
{
	const int64_t *counts = interval->sampled.counts;
	const double *means = interval->sampled.means;
	char from[40], runnable[24], blocked[24];

	(void)all;
	table_row(to, (const struct table_cell[ARRAY_SIZE(load_columns)]){
		table_name(time_text(interval->from_ns, from)),
		count_cell(counts[HOST_SAMPLE_SWITCHES]),
		tasks_cell(means[HOST_SAMPLE_RUNNABLE], runnable),
		tasks_cell(means[HOST_SAMPLE_BLOCKED], blocked),
		mib_cell(means[HOST_SAMPLE_MEMORY] - means[HOST_SAMPLE_AVAILABLE]),
		mib_cell(means[HOST_SAMPLE_SWAP] - means[HOST_SAMPLE_SWAP_FREE]),
		mib_cell(bytes_of(counts[HOST_SAMPLE_READ])),
		mib_cell(bytes_of(counts[HOST_SAMPLE_WRITTEN])),
	});
}

static void pressure_part(struct table_writer *to, const struct over_time *all,
			  const struct model_interval *interval)
{
	const int64_t *counts = interval->sampled.counts;
	int64_t length_ns = interval->to_ns - interval->from_ns;
	char from[40];

	(void)all;
	table_row(to, (const struct table_cell[ARRAY_SIZE(pressure_columns)]){
		table_name(time_text(interval->from_ns, from)),
		share_cell(counts[HOST_SAMPLE_CPU_SOME], length_ns),
		share_cell(counts[HOST_SAMPLE_MEMORY_SOME], length_ns),
		share_cell(counts[HOST_SAMPLE_IO_SOME], length_ns),
	});
}

/** In text, other lines of the same intervals. */
static const struct part {
	struct table	table;
	bool		sampled;
	void		(*put)(struct table_writer *to, const struct over_time *all,
			       const struct model_interval *interval);
} parts[] = {
	{ { .rows = { TABLE_COLUMNS(task_columns) } }, false, task_part },
	{ { .rows = { TABLE_COLUMNS(cpu_columns) } }, true, cpu_part },
	{ { .rows = { TABLE_COLUMNS(load_columns) } }, true, load_part },
	{ { .rows = { TABLE_COLUMNS(pressure_columns) } }, true, pressure_part },
};

static void write_parts(const struct table_writer *to, const struct over_time *all)
{
	for (size_t p = 0; p < ARRAY_SIZE(parts); p++) {
		struct table_writer lines = *to;

		if (parts[p].sampled ? !all->sums.samples.n : !all->sums.has_tasks)
			continue;
		out_str(to->out, "\n");
		lines.table = &parts[p].table;
		table_flat(&lines, false);
		for (size_t i = 0; i < all->sums.n; i++)
			parts[p].put(&lines, all, &all->sums.all[i]);
		table_flat_end(&lines);
	}
}

static void write_rows(struct table_writer *to, const struct over_time *all, bool first)
{
	table_flat(to, first);
	for (size_t i = 0; i < all->sums.n && !to->unknown; i++)
		interval_row(to, all, &all->sums.all[i]);
	table_flat_end(to);
}

/** Without tasks, samples still have numbers. Return: 0 or -ENOMEM. */
static int write_over_time(struct table_writer *to, const struct report *report, bool first)
{
	struct over_time all = { .report = report };
	int ret = model_over_time_make(&all.sums, report->load, report->file, report->from_ns,
				       report->to_ns, report->n_intervals);

	to->unknown |= !all.sums.has_tasks;
	report_modes_text(to, &all.sums.tasks.modes);
	to->unknown &= !all.sums.samples.n;
	if (all.sums.has_tasks || to->unknown || !table_is(to, TABLE_TEXT))
		write_rows(to, &all, first);
	if (table_is(to, TABLE_TEXT) && !to->unknown)
		write_parts(to, &all);
	to->unknown = !all.sums.has_tasks;
	report_modes_json(to, &all.sums.tasks.modes);
	model_over_time_free(&all.sums);
	return ret;
}

const struct report_page report_over_time = {
	.table = &table, .number = VIRT_NUMBER_TASKS, .write = write_over_time,
};
