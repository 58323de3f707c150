// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	why_evidence.c
 * @brief	Which records of a trace are at the beginnings and ends of segments, by number.
 *
 * The model does not keep numbers of records, so that loading a trace costs nothing more. The times
 * that are looked for are sorted; a walk counts the records before each of them.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "host_trace.h"
#include "search.h"
#include "why_answer.h"

/** Records at one time that are looked at. */
#define MOST_AT_A_TIME	16

/** A record at a time that is looked for. */
struct match {
	uint32_t	time;		/* index */
	uint32_t	nth;		/* of that time, in order of pCPUs */
	int32_t		pcpu;
};

struct why_evidence {
	int64_t		*times;		/* ascending, each one once */
	size_t		n_times;
	uint64_t	*before;	/* n_times + 1: records before each time, in the end */
	uint32_t	*at;		/* n_times: records at this time */
	uint8_t		*lost;		/* by CPU: something is missing before its next record */
	int		n_lost;
	struct match	*matches;	/* by time, then by pCPU */
	size_t		n, room;
	bool		(*stop)(void *arg);	/* or NULL */
	void		*arg;
	int		error;
};

/* --- what is looked for ---------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void add_times(struct why_evidence *evidence, const struct virt_why *why)
{
	for (size_t i = 0; i < why->n; i++) {
		if (why->segments[i].flags & VIRT_WHY_BEGINS)
			evidence->times[evidence->n_times++] = why->segments[i].from_ns;
		if (why->segments[i].flags & VIRT_WHY_ENDS)
			evidence->times[evidence->n_times++] = why->segments[i].to_ns;
	}
}

/** All times of all answers. Return: 0 or -ENOMEM. */
static int set_times(struct why_evidence *evidence, const struct why_answer *answers, size_t n)
{
	size_t most = 1, kept = 0;

	for (size_t i = 0; i < n; i++)
		most += 2 * answers[i].why.n;
	evidence->times = calloc(most, sizeof(*evidence->times));
	evidence->before = calloc(most + 1, sizeof(*evidence->before));
	evidence->at = calloc(most, sizeof(*evidence->at));
	if (!evidence->times || !evidence->before || !evidence->at)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		add_times(evidence, &answers[i].why);
	qsort(evidence->times, evidence->n_times, sizeof(*evidence->times), compare_times);
	for (size_t i = 0; i < evidence->n_times; i++)
		if (!i || evidence->times[i] != evidence->times[kept - 1])
			evidence->times[kept++] = evidence->times[i];
	evidence->n_times = kept;
	return 0;
}

/** The first time that is not before @time_ns. */
static size_t find_time(const struct why_evidence *evidence, int64_t time_ns)
{
	size_t i;

	SEARCH_FIRST(i, 0, evidence->n_times, evidence->times[i] < time_ns);
	return i;
}

/* --- the walk -------------------------------------------------------------------------------- */

static int take(struct why_evidence *evidence, int64_t time_ns, int pcpu, bool counts)
{
	size_t i = find_time(evidence, time_ns);
	bool found = i < evidence->n_times && evidence->times[i] == time_ns;

	/* it is before the times that follow */
	evidence->before[found ? i + 1 : i]++;
	if (!found)
		return 0;
	if (counts && evidence->at[i] < MOST_AT_A_TIME) {
		if (ARRAY_GROW(evidence->matches, evidence->n, evidence->room))
			return -ENOMEM;
		evidence->matches[evidence->n++] = (struct match){
			.time = (uint32_t)i, .nth = evidence->at[i], .pcpu = pcpu,
		};
	}
	evidence->at[i]++;
	return 0;
}

static int take_rows(void *arg, const struct xen_trace_row *rows, size_t n)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		ret = take(arg, rows[i].time_ns, rows[i].rec.pcpu, true);
	return ret;
}

/** KernelShark has a row for what is missing, too. */
static void take_lost(void *arg, int cpu, uint64_t records)
{
	struct why_evidence *evidence = arg;

	(void)records;
	if (cpu < 0)
		return;
	if (cpu >= evidence->n_lost && ARRAY_REACH(evidence->lost, cpu, evidence->n_lost)) {
		evidence->error = -ENOMEM;
		return;
	}
	evidence->lost[cpu] = 1;
}

static int take_record(void *arg, const struct kvm_trace_record *record)
{
	struct why_evidence *evidence = arg;
	int ret = evidence->error;

	if (!ret && record->cpu < evidence->n_lost && evidence->lost[record->cpu]) {
		evidence->lost[record->cpu] = 0;
		ret = take(evidence, record->time_ns, record->cpu, false);
	}
	return ret ? ret : take(evidence, record->time_ns, record->cpu, true);
}

static int compare_matches(const void *a, const void *b)
{
	const struct match *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->nth > y->nth) - (x->nth < y->nth);
}

/** struct host_walk */
static int is_stopped(void *arg, uint64_t done, uint64_t total)
{
	const struct why_evidence *evidence = arg;

	(void)done;
	(void)total;
	return evidence->stop && evidence->stop(evidence->arg) ? -ECANCELED : 0;
}

struct why_evidence *why_evidence_find(struct host_trace *trace, const struct why_answer *answers,
				       size_t n, bool (*stop)(void *arg), void *arg)
{
	struct why_evidence *evidence = calloc(1, sizeof(*evidence));
	const struct host_walk walk = {
		.rows = take_rows, .record = take_record, .lost = take_lost,
		.progress = is_stopped, .arg = evidence,
	};
	int ret = evidence ? set_times(evidence, answers, n) : -ENOMEM;

	if (!ret) {
		evidence->stop = stop;
		evidence->arg = arg;
	}
	if (!ret && evidence->n_times)
		ret = host_trace_walk(trace, &walk);
	if (ret) {
		why_evidence_free(evidence);
		errno = ret < 0 ? -ret : EIO;
		return NULL;
	}
	for (size_t i = 1; i <= evidence->n_times; i++)
		evidence->before[i] += evidence->before[i - 1];
	if (evidence->n)
		qsort(evidence->matches, evidence->n, sizeof(*evidence->matches), compare_matches);
	return evidence;
}

void why_evidence_free(struct why_evidence *evidence)
{
	if (!evidence)
		return;
	free(evidence->times);
	free(evidence->before);
	free(evidence->at);
	free(evidence->lost);
	free(evidence->matches);
	free(evidence);
}

/* --- what was found -------------------------------------------------------------------------- */

/** Those at a time; @pcpu: of this one, if it has any; else, or VIRT_NONE: of all. */
static size_t numbers_at(const struct why_evidence *evidence, int64_t time_ns, int32_t pcpu,
			 uint64_t *numbers)
{
	size_t time = find_time(evidence, time_ns), first, n = 0;

	if (time >= evidence->n_times || evidence->times[time] != time_ns)
		return 0;
	SEARCH_FIRST(first, 0, evidence->n, evidence->matches[first].time < time);
	for (size_t i = first; i < evidence->n && evidence->matches[i].time == time &&
			       n < WHY_MOST_RECORDS; i++)
		if (pcpu == VIRT_NONE || evidence->matches[i].pcpu == pcpu)
			numbers[n++] = evidence->before[time] + evidence->matches[i].nth;
	return n || pcpu == VIRT_NONE ? n : numbers_at(evidence, time_ns, VIRT_NONE, numbers);
}

size_t why_evidence_of(const struct why_evidence *evidence,
		       const struct virt_why_segment *segment, uint64_t *numbers)
{
	size_t n = 0;

	if (!evidence)
		return 0;
	/* a wake-up is recorded where the waker is */
	if (segment->flags & VIRT_WHY_BEGINS)
		n = numbers_at(evidence, segment->from_ns,
			       segment->kind == VIRT_WHY_WAKING ? VIRT_NONE : segment->pcpu,
			       numbers);
	if (segment->flags & VIRT_WHY_ENDS)
		n += numbers_at(evidence, segment->to_ns,
				segment->kind == VIRT_WHY_BLOCKED ? VIRT_NONE : segment->pcpu,
				numbers + n);
	return n;
}
