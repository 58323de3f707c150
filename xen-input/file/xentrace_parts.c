// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_parts.c
 * @brief	Build the index of a large file with several threads, each of them a part of it.
 *
 * The first part is walked as always. A thread walks each of the others as if its part was a file.
 * Such a part joins what lies before it only if one walk through all of it would have come to the
 * same index: the walk before it stops where the part begins, the part has no problem, and each
 * pCPU goes on at the TSC of its last record or later. Parts that do not join are walked again.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "xentrace_scan.h"

struct part {
	struct xentrace		reader;		/* its index; the file is that of the whole */
	struct xentrace_blocks	blocks;
	struct scan		scan;
	uint64_t		from, to;	/* it begins and ends with a window from there on */
	uint64_t		begin, end;
	const atomic_bool	*unwanted;
	pthread_t		thread;
	bool			runs;
	int			error;
};

static void *walk_part(void *arg)
{
	struct part *part = arg;

	part->begin = part->end = scan_find_window(&part->scan, part->from);
	while (!part->error && part->end < part->to && !*part->unwanted)
		part->end = scan_step(&part->scan, part->end, &part->error);
	return NULL;
}

static void begin_part(struct part *part, const struct scan *scan, uint64_t from, uint64_t to,
		       const atomic_bool *unwanted)
{
	part->reader.file = scan->reader->file;
	part->from = from;
	part->to = to;
	part->unwanted = unwanted;
	scan_begin(&part->scan, &part->reader, &part->blocks, scan->size);
	part->runs = !pthread_create(&part->thread, NULL, walk_part, part);
}

static void free_part(struct part *part)
{
	scan_free(&part->scan);
	xentrace_blocks_destroy(&part->blocks);
	/* the file belongs to another reader */
	part->reader.file = (struct xentrace_file){ .fd = -1 };
	xentrace_forget(&part->reader);
}

/* --- joining --------------------------------------------------------------------------------- */

/** Is it what each walk through it would find, whatever lies before it? */
static bool is_whole(const struct part *part)
{
	const struct xentrace *reader = &part->reader;

	if (!part->runs || part->error || part->blocks.error || part->scan.gaps ||
	    reader->n_repairs || reader->n_runs != (uint32_t)reader->n_pcpus)
		return false;
	for (int kind = 0; kind < XENTRACE_N_PROBLEM_KINDS; kind++)
		if (reader->problem_count[kind])
			return false;
	for (int i = 0; i < part->scan.n_pcpus; i++)
		if (part->scan.pcpus[i] && part->scan.pcpus[i]->first_waits)
			return false;
	return true;
}

static struct pcpu_state *find_pcpu(const struct scan *scan, int number)
{
	return number < scan->n_pcpus ? scan->pcpus[number] : NULL;
}

/** Does it go on where the walk has stopped? */
static bool follows(const struct scan *scan, const struct part *part)
{
	/* the first turn of all pCPUs is over */
	if (!scan->reader->whole_tsc ||
	    scan->reader->n_segments + (uint64_t)part->reader.n_segments >= NO_SEGMENT - 1)
		return false;
	for (int i = 0; i < part->scan.n_pcpus; i++) {
		const struct pcpu_state *after = part->scan.pcpus[i];
		const struct pcpu_state *before = find_pcpu(scan, i);

		if (after && before &&
		    (before->run_records <= 1 || before->run_before != NO_RUN ||
		     part->reader.runs[after->run].first_tsc < before->last_tsc))
			return false;
	}
	return true;
}

/** The pCPU's state at the end of the part. */
static void add_state(struct pcpu_state *cpu, struct pcpu_state *after)
{
	for (unsigned int i = history_length(after); i-- > 0;)
		remember_tsc(cpu, history_at(after, i)->offset, history_at(after, i)->tsc);
	cpu->total.n_records += after->total.n_records;
	cpu->total.n_bytes += after->total.n_bytes;
}

/** The segments of a run, already with their new numbers, from @first on. */
static void join_run(struct scan *scan, struct pcpu_state *cpu, uint32_t first, uint32_t last)
{
	struct segment *segments = scan->reader->segments;
	struct run *run = &scan->reader->runs[cpu->run];

	if (cpu->gap || cpu->gaps_seen != scan->gaps)
		segments[first].flags |= SEGMENT_AFTER_GAP;
	cpu->gaps_seen = scan->gaps;
	cpu->gap = false;
	/* those before the first TSC of the part */
	for (uint32_t s = first; s != NO_SEGMENT && !segments[s].tsc_before; s = segments[s].next)
		segments[s].tsc_before = cpu->last_tsc;
	if (run->last_segment == NO_SEGMENT)
		run->first_segment = first;
	else
		segments[run->last_segment].next = first;
	run->last_segment = last;
}

/** The pCPU, which may be new. NULL without memory. */
static struct pcpu_state *pcpu_of_run(struct scan *scan, const struct run *run)
{
	struct pcpu_state *cpu = find_pcpu(scan, run->pcpu);

	if (cpu)
		return cpu;
	cpu = scan_pcpu(scan, run->pcpu);
	if (!cpu || scan_open_run(scan, cpu))
		return NULL;
	scan->reader->runs[cpu->run].first_tsc = run->first_tsc;
	cpu->first_waits = false;
	return cpu;
}

/** Return: 0 or -ENOMEM. */
static int join(struct scan *scan, const struct part *part)
{
	const struct xentrace *from = &part->reader;
	struct xentrace *to = scan->reader;
	uint32_t base = to->n_segments, n = base + from->n_segments;
	struct segment *segments;

	if (!from->n_windows)
		return 0;
	if (ARRAY_GROW(to->segments, n, scan->room_segments))
		return -ENOMEM;
	segments = to->segments;
	if (from->n_segments)
		memcpy(&segments[base], from->segments, from->n_segments * sizeof(*segments));
	to->n_segments = n;
	for (uint32_t s = base; s < n; s++)
		if (segments[s].next != NO_SEGMENT)
			segments[s].next += base;
	for (uint32_t r = 0; r < from->n_runs; r++) {
		const struct run *run = &from->runs[r];
		struct pcpu_state *cpu = pcpu_of_run(scan, run);

		if (!cpu)
			return -ENOMEM;
		if (run->first_segment != NO_SEGMENT)
			join_run(scan, cpu, base + run->first_segment, base + run->last_segment);
		add_state(cpu, part->scan.pcpus[run->pcpu]);
	}
	for (uint32_t s = base; s < n; s++)
		segments[s].run = scan->pcpus[from->runs[segments[s].run].pcpu]->run;
	to->n_windows += from->n_windows;
	scan->last_pcpu = part->scan.last_pcpu;
	return 0;
}

/* --- all of them ----------------------------------------------------------------------------- */

/** The walk has come to the first part. Return: where to go on. */
static uint64_t join_parts(struct scan *scan, const struct part *parts, unsigned int n,
			   uint64_t offset, int *error)
{
	/* what is known of a pCPU where the file is damaged depends on all that lies before it */
	for (unsigned int i = 0; i < n; i++)
		if (!is_whole(&parts[i]))
			return offset;
	for (unsigned int i = 0; i < n; i++) {
		if (offset != parts[i].begin || !follows(scan, &parts[i]))
			break;
		*error = join(scan, &parts[i]);
		if (*error)
			break;
		offset = parts[i].end;
	}
	return offset;
}

uint64_t scan_in_parts(struct scan *scan, uint64_t offset, unsigned int n_parts, int *error)
{
	uint64_t length = (scan->size - offset) / n_parts, to = offset + length;
	struct part *parts = calloc(n_parts, sizeof(*parts));
	unsigned int n = parts ? n_parts - 1 : 0;
	atomic_bool unwanted = false;

	for (unsigned int i = 0; i < n; i++)
		begin_part(&parts[i], scan, to + i * length,
			   i + 1 < n ? to + (i + 1) * length : scan->size, &unwanted);
	scan->first = offset;
	scan->n_parts = n + 1;
	*error = scan_windows(scan, &offset, to);
	scan->n_parts = 1;
	unwanted = *error != 0;
	for (unsigned int i = 0; i < n; i++)
		if (parts[i].runs)
			pthread_join(parts[i].thread, NULL);
	if (!*error && n)
		offset = join_parts(scan, parts, n, offset, error);
	for (unsigned int i = 0; i < n; i++)
		free_part(&parts[i]);
	free(parts);
	return offset;
}
