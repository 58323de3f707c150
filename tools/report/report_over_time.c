// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_over_time.c
 * @brief	kshark-virt report --over-time: what the pCPUs of a host did, interval by interval.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "host_samples.h"
#include "host_tasks.h"
#include "report_modes.h"
#include "report_page.h"
#include "regular_file.h"
#include "report_unknown.h"
#include "text_columns.h"

#define TIME_WIDTH	18
#define SAMPLED_WIDTH	10
#define MIB		(1 << 20)

/** Means of numbers of tasks are not whole; those of bytes are rounded. */
#define IS_MEAN(number)	((number) == HOST_SAMPLE_RUNNABLE || (number) == HOST_SAMPLE_BLOCKED)

/** All tasks of the host in an interval. */
struct interval {
	int64_t		from_ns, to_ns;
	int64_t		modes_ns[HOST_N_MODES], all_ns;	/* of all pCPUs, idle included */
	int64_t		waiting_ns, waking_ns, uninterruptible_ns;
	uint64_t	switches, migrations, faults;
	struct host_sample_sums sampled;
};

/* --- the table ------------------------------------------------------------------------------- */

/** A mode in text is a share of the time of all pCPUs. */
#define MODE(mode)								\
	{ .key = mode "_ns", .type = TABLE_NS },				\
	{ .type = TABLE_SHARE, .title = mode, .brief = true, .width = TEXT_NUMBER }

static const struct table_column columns[] = {
	{ .key = "from_ns", .type = TABLE_TIME },
	{ .key = "to_ns", .type = TABLE_TIME },
	{ .title = "from", .width = TIME_WIDTH },
	MODE("guest"),
	MODE("user"),
	MODE("syscall"),
	MODE("interrupt"),
	MODE("softirq"),
	MODE("idle"),
	{ .key = "mode_unknown_ns", .type = TABLE_NS },
	{ .type = TABLE_SHARE, .title = "unknown", .brief = true, .width = TEXT_NUMBER },
	{ .key = "switches", .type = TABLE_COUNT, .title = "switches" },
	{ .key = "migrations", .type = TABLE_COUNT, .title = "moves" },
	{ .key = "preempted_ns", .type = TABLE_NS, .title = "preempted" },
	{ .key = "waking_ns", .type = TABLE_NS, .title = "waking" },
	{ .key = "uninterruptible_ns", .type = TABLE_NS, .title = "in D" },
	{ .key = "faults", .type = TABLE_COUNT, .title = "faults" },
#define SAMPLED(name, key_)							\
	{ .key = "sampled_" key_,						\
	  .type = IS_MEAN(HOST_SAMPLE_##name) ? TABLE_FIXED : TABLE_COUNT },
	HOST_SAMPLE_COUNTERS(SAMPLED)
	HOST_SAMPLE_STATES(SAMPLED)
#undef SAMPLED
};

/** What text has of samples, in lines of their own. */
#define SAMPLED_SHARE(name)							\
	{ .type = TABLE_SHARE, .title = name, .brief = true, .width = SAMPLED_WIDTH }
#define SAMPLED_NUMBER(name)							\
	{ .type = TABLE_COUNT, .title = name, .width = SAMPLED_WIDTH }

static const struct table_column sampled_columns[] = {
	{ .title = "sampled from", .width = TIME_WIDTH },
	SAMPLED_SHARE("guest"),
	SAMPLED_SHARE("user"),
	SAMPLED_SHARE("system"),
	SAMPLED_SHARE("irq"),
	SAMPLED_SHARE("softirq"),
	SAMPLED_SHARE("steal"),
	SAMPLED_SHARE("iowait"),
	SAMPLED_SHARE("idle"),
	{ .type = TABLE_VALUE, .title = "runnable", .width = SAMPLED_WIDTH, .right = true },
	{ .type = TABLE_VALUE, .title = "blocked", .width = SAMPLED_WIDTH, .right = true },
	SAMPLED_NUMBER("used MiB"),
	SAMPLED_NUMBER("swap MiB"),
	SAMPLED_NUMBER("read MiB"),
	SAMPLED_NUMBER("wr. MiB"),
	SAMPLED_SHARE("cpu"),
	SAMPLED_SHARE("memory"),
	SAMPLED_SHARE("io"),
};

static const struct table sampled_table = { .rows = { TABLE_COLUMNS(sampled_columns) } };

static const struct table table = {
	.rows = { .key = "intervals", TABLE_COLUMNS(columns), .none = "  no interval\n" },
};

/* --- rows ------------------------------------------------------------------------------------ */

/** Return: 0 or -ENOMEM. */
static int sum_up(struct interval *interval, const struct host_tasks *tasks,
		  const struct virt_model *model)
{
	struct host_task_sums sums;
	int ret = host_task_sums_make(&sums, tasks, model, interval->from_ns, interval->to_ns);

	for (size_t i = 0; i < sums.n && !ret; i++) {
		const struct host_task_sum *sum = &sums.all[i];

		interval->waiting_ns += sum->ns[VIRT_LIFE_PREEMPTED];
		interval->waking_ns += sum->ns[VIRT_LIFE_WAKING];
		interval->uninterruptible_ns += sum->uninterruptible_ns;
		interval->switches += sum->on_pcpus ? sum->on_pcpus->runs : 0;
		interval->migrations += sum->migrations;
		interval->faults += sum->modes ? sum->modes->faults : 0;
		for (int mode = 0; mode < HOST_N_MODES && sum->modes; mode++) {
			interval->modes_ns[mode] += sum->modes->ns[mode];
			interval->all_ns += sum->modes->ns[mode];
		}
	}
	host_task_sums_free(&sums);
	return ret;
}

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
	return isnan(sampled->means[i]) ? table_unknown() :
	       table_number(llround(sampled->means[i]));
}

static const char *time_text(int64_t ns, char text[40])
{
	snprintf(text, 40, "%s%lld.%09lld", ns < 0 ? "-" : "", llabs(ns / 1000000000),
		 llabs(ns % 1000000000));
	return text;
}

static void interval_row(struct table_writer *to, const struct report *report,
			 const struct host_modes *modes, const struct interval *interval)
{
	bool wakes = report_knows(report, VIRT_NUMBER_WAKING);
	struct table_cell cells[ARRAY_SIZE(columns)], mode_cells[HOST_N_MODES];
	char from[40];
	size_t at = 0;

	report_mode_cells(report, modes, interval->modes_ns, mode_cells);
	cells[at++] = table_number(interval->from_ns);
	cells[at++] = table_number(interval->to_ns);
	cells[at++] = table_name(time_text(interval->from_ns, from));
	for (int mode = 0; mode < HOST_N_MODES; mode++) {
		cells[at++] = mode_cells[mode];
		cells[at] = mode_cells[mode];
		cells[at++].whole = interval->all_ns;
	}
	cells[at++] = table_number((int64_t)interval->switches);
	cells[at++] = table_number((int64_t)interval->migrations);
	cells[at++] = table_number(interval->waiting_ns);
	cells[at++] = known_cell(wakes, interval->waking_ns);
	cells[at++] = known_cell(wakes, interval->uninterruptible_ns);
	cells[at++] = known_cell(modes->has_faults, (int64_t)interval->faults);
	for (int i = 0; i < HOST_N_SAMPLED; i++)
		cells[at++] = sampled_cell(&interval->sampled, i);
	table_row(to, cells);
}

/** Return: interval @i of the window; empty ones are left out. */
static struct interval make_interval(const struct report *report, int64_t i,
				     const struct host_samples *samples)
{
	int64_t length_ns = report->to_ns - report->from_ns, n = report->n_intervals;
	struct interval interval = {
		.from_ns = report->from_ns + (int64_t)((__int128)length_ns * i / n),
		.to_ns = report->from_ns + (int64_t)((__int128)length_ns * (i + 1) / n),
	};

	host_samples_sum(samples, interval.from_ns, interval.to_ns, &interval.sampled);
	return interval;
}

static int all_rows(struct table_writer *to, const struct report *report,
		    const struct host_tasks *tasks, const struct host_samples *samples)
{
	int ret = 0;

	for (int64_t i = 0; i < report->n_intervals && !ret; i++) {
		struct interval interval = make_interval(report, i, samples);

		if (interval.from_ns == interval.to_ns)
			continue;
		ret = sum_up(&interval, tasks, report->load->model);
		if (!ret)
			interval_row(to, report, &tasks->modes, &interval);
	}
	return ret;
}

/* --- samples --------------------------------------------------------------------------------- */

/** Without samples, there is nothing to say: only record writes them. Return: 0 or -ENOMEM. */
static int read_samples(struct host_samples *samples, const struct report *report)
{
	const char *path = kvm_trace_path(report->load->host.kvm);
	int ret = host_samples_read(samples, path);

	if (ret == -ENOMEM)
		return ret;
	if (ret && ret != -ENOENT)
		ksv_note("%s" HOST_SAMPLES_ENDING ": not used, samples are unknown: %s",
			 report->file, ret == -EBADMSG ? "it has no samples of record" :
			 regular_file_error(ret));
	if (samples->bad_lines)
		ksv_note("%s" HOST_SAMPLES_ENDING ": %zu lines are left out: they are no samples, "
			 "or not later than the line before", report->file, samples->bad_lines);
	return 0;
}

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

static void sampled_row(struct table_writer *to, const struct interval *interval)
{
	static const enum host_sample_number pressures[] = {
		HOST_SAMPLE_CPU_SOME, HOST_SAMPLE_MEMORY_SOME, HOST_SAMPLE_IO_SOME,
	};
	const int64_t *counts = interval->sampled.counts;
	const double *means = interval->sampled.means;
	struct table_cell cells[ARRAY_SIZE(sampled_columns)];
	int64_t cpu_ns = 0;
	char from[40], runnable[24], blocked[24];
	size_t at = 0;

	for (int i = HOST_SAMPLE_GUEST; i <= HOST_SAMPLE_IDLE; i++)
		cpu_ns += counts[i] > 0 ? counts[i] : 0;
	cells[at++] = table_name(time_text(interval->from_ns, from));
	for (int i = HOST_SAMPLE_GUEST; i <= HOST_SAMPLE_IDLE; i++)
		cells[at++] = share_cell(counts[i], cpu_ns);
	cells[at++] = tasks_cell(means[HOST_SAMPLE_RUNNABLE], runnable);
	cells[at++] = tasks_cell(means[HOST_SAMPLE_BLOCKED], blocked);
	cells[at++] = mib_cell(means[HOST_SAMPLE_MEMORY] - means[HOST_SAMPLE_AVAILABLE]);
	cells[at++] = mib_cell(means[HOST_SAMPLE_SWAP] - means[HOST_SAMPLE_SWAP_FREE]);
	cells[at++] = mib_cell(bytes_of(counts[HOST_SAMPLE_READ]));
	cells[at++] = mib_cell(bytes_of(counts[HOST_SAMPLE_WRITTEN]));
	for (size_t i = 0; i < ARRAY_SIZE(pressures); i++)
		cells[at++] = share_cell(counts[pressures[i]],
					 interval->to_ns - interval->from_ns);
	table_row(to, cells);
}

/** In text, other lines of the same intervals: one line would be too long. */
static void sampled_text(const struct table_writer *to, const struct report *report,
			 const struct host_samples *samples)
{
	struct table_writer lines = *to;

	if (!table_is(to, TABLE_TEXT) || !samples->n)
		return;
	out_str(to->out, "\n");
	lines.table = &sampled_table;
	table_flat(&lines, false);
	for (int64_t i = 0; i < report->n_intervals; i++) {
		struct interval interval = make_interval(report, i, samples);

		if (interval.from_ns < interval.to_ns)
			sampled_row(&lines, &interval);
	}
	table_flat_end(&lines);
}

/** Return: 0 or -ENOMEM. */
static int write_over_time(struct table_writer *to, const struct report *report, bool first)
{
	struct host_tasks tasks = { .tasks.trace = NULL };
	struct kvm_trace *trace = report->load->host.kvm;
	struct host_samples samples = { .n = 0 };
	int ret = 0;

	to->unknown |= !trace;
	if (!to->unknown)
		ret = host_tasks_read(&tasks, report->load->model, trace);
	if (!to->unknown && !ret)
		ret = read_samples(&samples, report);
	report_modes_text(to, &tasks.modes);
	table_flat(to, first);
	if (!to->unknown && !ret)
		ret = all_rows(to, report, &tasks, &samples);
	table_flat_end(to);
	if (!to->unknown && !ret)
		sampled_text(to, report, &samples);
	report_modes_json(to, &tasks.modes);
	host_samples_free(&samples);
	host_tasks_free(&tasks);
	return ret;
}

const struct report_page report_over_time = {
	.table = &table, .number = VIRT_NUMBER_TASKS, .write = write_over_time,
};
