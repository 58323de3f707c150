// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	why_evidence.c
 * @brief	Find the numbers of the records at the beginnings and ends of segments.
 *
 * The model does not keep the numbers of records, so loading a trace costs nothing more. The times
 * to look for are sorted; a walk counts the records before each of them, in the host's trace and in
 * the trace of each guest.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "guest_lives.h"
#include "search.h"
#include "why_answer.h"

/** Records at one time that are looked at. */
#define MOST_AT_A_TIME	16

/** Records of a guest after which it is asked whether to go on. */
#define STOP_EVERY	4096

/** A record at a time that is looked for. */
struct match {
	uint32_t	time;		/* index */
	uint32_t	nth;		/* of that time, in order of CPUs */
	int32_t		cpu;
};

/** What there is of one trace. */
struct file {
	int64_t		*times;		/* ascending, each one once */
	size_t		n_times;
	uint64_t	*before;	/* n_times + 1: records before each time, in the end */
	uint32_t	*at;		/* n_times: records at this time */
	uint8_t		*lost;		/* by CPU: something is missing before its next record */
	int		n_lost;
	struct match	*matches;	/* by time, then by CPU */
	size_t		n, room;
	const struct why_source *source;
	const struct guest_lives_source *guest;	/* NULL: it is the host's */
	unsigned int	steps;
	int		error;
};

struct why_evidence {
	struct file	*files;		/* the host's, then the guests' */
	int		n_files;
};

/* --- what is looked for ---------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/** @number: of the file; 0: the host's */
static void add_times(struct file *file, int number, const struct virt_why *why)
{
	unsigned int begins = number ? VIRT_WHY_GUEST_BEGINS : VIRT_WHY_BEGINS;
	unsigned int ends = number ? VIRT_WHY_GUEST_ENDS : VIRT_WHY_ENDS;

	for (size_t i = 0; i < why->n; i++) {
		const struct virt_why_segment *segment = &why->segments[i];

		if (!(segment->flags & (begins | ends)) ||
		    (number && virt_why_guest_of(why, segment) != number - 1))
			continue;
		if (segment->flags & begins)
			file->times[file->n_times++] = segment->from_ns;
		if (segment->flags & ends)
			file->times[file->n_times++] = segment->to_ns;
	}
}

/** All times of all answers. Return: 0 or -ENOMEM. */
static int set_times(struct file *file, int number, const struct why_answer *answers, size_t n)
{
	size_t most = 1, kept = 0;

	for (size_t i = 0; i < n; i++)
		most += 2 * answers[i].why.n;
	file->times = calloc(most, sizeof(*file->times));
	if (!file->times)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		add_times(file, number, &answers[i].why);
	qsort(file->times, file->n_times, sizeof(*file->times), compare_times);
	for (size_t i = 0; i < file->n_times; i++)
		if (!i || file->times[i] != file->times[kept - 1])
			file->times[kept++] = file->times[i];
	file->n_times = kept;
	ARRAY_SHRINK(file->times, kept);
	file->before = calloc(kept + 1, sizeof(*file->before));
	file->at = calloc(kept + 1, sizeof(*file->at));
	return file->before && file->at ? 0 : -ENOMEM;
}

/** The first time that is not before @time_ns. */
static size_t find_time(const struct file *file, int64_t time_ns)
{
	size_t i;

	SEARCH_FIRST(i, 0, file->n_times, file->times[i] < time_ns);
	return i;
}

/* --- the walk -------------------------------------------------------------------------------- */

static int take(struct file *file, int64_t time_ns, int cpu, bool counts)
{
	size_t i = find_time(file, time_ns);
	bool found = i < file->n_times && file->times[i] == time_ns;

	/* it is before the times that follow */
	file->before[found ? i + 1 : i]++;
	if (!found)
		return 0;
	if (counts && file->at[i] < MOST_AT_A_TIME) {
		if (ARRAY_GROW(file->matches, file->n, file->room))
			return -ENOMEM;
		file->matches[file->n++] = (struct match){
			.time = (uint32_t)i, .nth = file->at[i], .cpu = cpu,
		};
	}
	file->at[i]++;
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
	struct file *file = arg;

	(void)records;
	if (cpu < 0)
		return;
	if (cpu >= file->n_lost && ARRAY_REACH(file->lost, cpu, file->n_lost)) {
		file->error = -ENOMEM;
		return;
	}
	file->lost[cpu] = 1;
}

static bool is_stopped(const struct file *file)
{
	return file->source->stop && file->source->stop(file->source->arg);
}

static int take_record(void *arg, const struct kvm_trace_record *record)
{
	struct file *file = arg;
	int64_t time_ns = record->time_ns;
	int ret = file->error;

	if (file->guest && file->guest->model_time)
		time_ns = file->guest->model_time(file->guest->arg, time_ns);
	if (!ret && file->guest && ++file->steps % STOP_EVERY == 0 && is_stopped(file))
		ret = -ECANCELED;
	if (!ret && record->cpu < file->n_lost && file->lost[record->cpu]) {
		file->lost[record->cpu] = 0;
		ret = take(file, time_ns, record->cpu, false);
	}
	return ret ? ret : take(file, time_ns, record->cpu, true);
}

static int compare_matches(const void *a, const void *b)
{
	const struct match *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->nth > y->nth) - (x->nth < y->nth);
}

/** struct host_walk */
static int progress(void *arg, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	return is_stopped(arg) ? -ECANCELED : 0;
}

/** Return: 0, or what ended the walk. */
static int read_file(struct file *file)
{
	const struct host_walk walk = {
		.rows = take_rows, .record = take_record, .lost = take_lost, .progress = progress,
		.arg = file,
	};
	int ret = 0;

	if (file->n_times)
		ret = !file->guest ? host_trace_walk(file->source->host, &walk) :
		      kvm_trace_walk(file->guest->trace, take_record, take_lost, file);
	for (size_t i = 1; i <= file->n_times; i++)
		file->before[i] += file->before[i - 1];
	if (file->n)
		qsort(file->matches, file->n, sizeof(*file->matches), compare_matches);
	return ret;
}

struct why_evidence *why_evidence_find(const struct why_source *source,
				       const struct why_answer *answers, size_t n)
{
	struct why_evidence *evidence = calloc(1, sizeof(*evidence));
	int ret = evidence ? 0 : -ENOMEM;

	if (!ret) {
		evidence->n_files = source->n_guests + 1;
		evidence->files = calloc((size_t)evidence->n_files, sizeof(*evidence->files));
		ret = evidence->files ? 0 : -ENOMEM;
	}
	for (int i = 0; !ret && i < evidence->n_files; i++) {
		struct file *file = &evidence->files[i];

		file->source = source;
		file->guest = i ? &source->guests[i - 1] : NULL;
		ret = set_times(file, i, answers, n);
		if (!ret)
			ret = read_file(file);
	}
	if (!ret)
		return evidence;
	why_evidence_free(evidence);
	errno = ret < 0 ? -ret : EIO;
	return NULL;
}

void why_evidence_free(struct why_evidence *evidence)
{
	if (!evidence)
		return;
	for (int i = 0; evidence->files && i < evidence->n_files; i++) {
		struct file *file = &evidence->files[i];

		free(file->times);
		free(file->before);
		free(file->at);
		free(file->lost);
		free(file->matches);
	}
	free(evidence->files);
	free(evidence);
}

/* --- what was found -------------------------------------------------------------------------- */

/** Those at a time; @cpu: of this one, if it has any; else, or VIRT_NONE: of all. */
static size_t numbers_at(const struct file *file, int64_t time_ns, int32_t cpu, uint64_t *numbers)
{
	size_t time = find_time(file, time_ns), first, n = 0;

	if (time >= file->n_times || file->times[time] != time_ns)
		return 0;
	SEARCH_FIRST(first, 0, file->n, file->matches[first].time < time);
	for (size_t i = first; i < file->n && file->matches[i].time == time &&
			       n < WHY_MOST_RECORDS; i++)
		if (cpu == VIRT_NONE || file->matches[i].cpu == cpu)
			numbers[n++] = file->before[time] + file->matches[i].nth;
	return n || cpu == VIRT_NONE ? n : numbers_at(file, time_ns, VIRT_NONE, numbers);
}

size_t why_evidence_of(const struct why_evidence *evidence,
		       const struct virt_why_segment *segment, uint64_t *numbers)
{
	const struct file *file = evidence ? &evidence->files[0] : NULL;
	size_t n = 0;

	if (!evidence)
		return 0;
	/* a wake-up is recorded where the waker is */
	if (segment->flags & VIRT_WHY_BEGINS)
		n = numbers_at(file, segment->from_ns,
			       segment->kind == VIRT_WHY_WAKING ? VIRT_NONE : segment->pcpu,
			       numbers);
	if (segment->flags & VIRT_WHY_ENDS)
		n += numbers_at(file, segment->to_ns,
				segment->kind == VIRT_WHY_BLOCKED ? VIRT_NONE : segment->pcpu,
				numbers + n);
	return n;
}

/** Of a vCPU, the CPU that it is; VIRT_NONE: of none. */
static int32_t cpu_of(const struct virt_why *why, int32_t vcpu)
{
	int guest = 0;
	const struct virt_guest_cpu *cpu = virt_guests_cpu(why->guests, vcpu, &guest);

	return cpu ? (int32_t)(cpu - why->guests->all[guest].cpus) : VIRT_NONE;
}

size_t why_evidence_in_guest(const struct why_evidence *evidence, const struct virt_why *why,
			     const struct virt_why_segment *segment, uint64_t *numbers)
{
	bool begins = segment->flags & VIRT_WHY_GUEST_BEGINS;
	bool ends = segment->flags & VIRT_WHY_GUEST_ENDS;
	int guest = begins || ends ? virt_why_guest_of(why, segment) : -1;
	int32_t cpu = VIRT_NONE;
	size_t n = 0;

	if (!evidence || guest < 0 || guest + 1 >= evidence->n_files)
		return 0;
	/* records of other tasks begin and end what a task does without a CPU */
	if (!virt_guests_task(why->guests, segment->subject, NULL) ||
	    segment->kind == VIRT_WHY_TASK)
		cpu = cpu_of(why, segment->vcpu != VIRT_NONE ? segment->vcpu : segment->subject);
	if (begins)
		n = numbers_at(&evidence->files[guest + 1], segment->from_ns, cpu, numbers);
	if (ends)
		n += numbers_at(&evidence->files[guest + 1], segment->to_ns, cpu, numbers + n);
	return n;
}
