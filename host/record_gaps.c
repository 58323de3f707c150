// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_gaps.c
 * @brief	Where records of any CPU of a trace are missing.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "record_gaps.h"

static int begin(struct record_gaps *gaps, size_t n_cpus)
{
	*gaps = (struct record_gaps){ .n = 0 };
	gaps->last_ns = calloc(n_cpus + 1, sizeof(*gaps->last_ns));
	if (!gaps->last_ns)
		return -ENOMEM;
	for (size_t i = 0; i < n_cpus; i++)
		gaps->last_ns[i] = INT64_MIN;
	return 0;
}

void record_gaps_free(struct record_gaps *gaps)
{
	free(gaps->last_ns);
	free(gaps->all);
	*gaps = (struct record_gaps){ .n = 0 };
}

static int take_line(struct record_gaps *gaps, const struct kvm_trace_line *line, int64_t time_ns)
{
	int64_t from_ns = gaps->last_ns[line->cpu];

	gaps->last_ns[line->cpu] = time_ns;
	if (!line->has_lost)
		return 0;
	if (ARRAY_GROW(gaps->all, gaps->n, gaps->room))
		return -ENOMEM;
	gaps->all[gaps->n++] = (struct record_gap){ from_ns, time_ns };
	return 0;
}

static int compare_gaps(const void *a, const void *b)
{
	const struct record_gap *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/** Gaps in order of time, and apart. */
static void join(struct record_gaps *gaps)
{
	size_t n = 0;

	if (gaps->n)
		qsort(gaps->all, gaps->n, sizeof(*gaps->all), compare_gaps);
	for (size_t i = 0; i < gaps->n; i++) {
		const struct record_gap gap = gaps->all[i];

		if (n && gap.from_ns < gaps->all[n - 1].to_ns) {
			if (gap.to_ns > gaps->all[n - 1].to_ns)
				gaps->all[n - 1].to_ns = gap.to_ns;
			continue;
		}
		gaps->all[n++] = gap;
	}
	gaps->n = n;
}

static int walk_lines(struct record_gaps *gaps, struct kvm_trace *trace,
		      const struct record_walk *walk)
{
	const struct kvm_trace_lines lines = {
		.from_ns = INT64_MIN, .fields = true, .no_info = true,
		.wants = walk->wants, .arg = walk->arg,
	};
	struct kvm_trace_line line;
	int ret = kvm_trace_begin_lines(trace, &lines);

	while (!ret) {
		int64_t time_ns;

		ret = kvm_trace_next_line(trace, &line);
		if (ret <= 0)
			break;
		time_ns = walk->time ? walk->time(walk->time_arg, line.time_ns) : line.time_ns;
		ret = take_line(gaps, &line, time_ns);
		if (!ret)
			ret = walk->take(walk->arg, &line, time_ns);
	}
	kvm_trace_end_lines(trace);
	return ret;
}

int record_gaps_walk(struct record_gaps *gaps, struct kvm_trace *trace,
		     const struct record_walk *walk)
{
	int ret = begin(gaps, (size_t)kvm_trace_n_cpus(trace));

	/* most traces have no such events */
	if (!ret && kvm_trace_has_event(trace, walk->wants, walk->arg))
		ret = walk_lines(gaps, trace, walk);
	join(gaps);
	return ret;
}

void record_gaps_rewind(struct record_gaps *gaps)
{
	gaps->next = 0;
}

size_t record_gaps_segment(struct record_gaps *gaps, int64_t time_ns)
{
	while (gaps->next < gaps->n && gaps->all[gaps->next].to_ns <= time_ns)
		gaps->next++;
	return 2 * gaps->next + (gaps->next < gaps->n && gaps->all[gaps->next].from_ns < time_ns);
}
