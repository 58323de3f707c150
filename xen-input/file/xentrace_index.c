// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_index.c
 * @brief	Keep the results of a walk through the file: problems, runs, segments, repairs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "xentrace_scan.h"

int scan_add_problem(struct scan *scan, enum xentrace_problem_kind kind, uint16_t pcpu,
		       uint64_t offset, uint64_t bytes, uint64_t tsc)
{
	struct xentrace *reader = scan->reader;

	/* what cannot be read is no damage of the trace */
	if (scan->blocks->error)
		return scan->blocks->error;
	reader->problem_count[kind]++;
	reader->skipped_bytes += bytes;
	if (reader->n_problems >= XENTRACE_MAX_PROBLEMS)
		return 0;
	if (ARRAY_GROW(reader->problems, reader->n_problems, scan->room_problems))
		return -ENOMEM;
	reader->problems[reader->n_problems++] = (struct xentrace_problem){
		.kind = kind, .pcpu = pcpu, .offset = offset, .bytes = bytes, .tsc = tsc,
	};
	return 0;
}

int scan_add_repair(struct scan *scan, struct pcpu_state *cpu, uint64_t offset, uint64_t tsc)
{
	struct xentrace *reader = scan->reader;

	if (ARRAY_GROW(reader->repairs, reader->n_repairs, scan->room_repairs))
		return -ENOMEM;
	reader->repairs[reader->n_repairs] = (struct repair){ offset, tsc, reader->n_repairs };
	reader->n_repairs++;
	return scan_add_problem(scan, XENTRACE_TSC_OUTLIER, cpu->total.pcpu, offset, 0, tsc);
}

struct pcpu_state *scan_pcpu(struct scan *scan, uint16_t number)
{
	struct pcpu_state *state;

	if (number >= scan->n_pcpus && ARRAY_REACH(scan->pcpus, number, scan->n_pcpus))
		return NULL;
	state = scan->pcpus[number];
	if (!state) {
		state = calloc(1, sizeof(*state));
		if (!state)
			return NULL;
		state->total.pcpu = number;
		state->run = state->run_before = NO_RUN;
		state->gaps_seen = scan->gaps;
		scan->pcpus[number] = state;
		scan->reader->n_pcpus++;
	}
	return state;
}

int scan_open_run(struct scan *scan, struct pcpu_state *cpu)
{
	struct xentrace *reader = scan->reader;

	if (ARRAY_GROW(reader->runs, reader->n_runs, scan->room_runs))
		return -ENOMEM;
	reader->runs[reader->n_runs] = (struct run){
		.pcpu = cpu->total.pcpu,
		.first_segment = NO_SEGMENT, .last_segment = NO_SEGMENT,
	};
	cpu->run_before = cpu->run;
	cpu->run = reader->n_runs++;
	cpu->run_records = 0;
	cpu->n_history = 0;
	cpu->recovered = 0;
	cpu->first_waits = true;
	return 0;
}

/** Append a segment to the chain of its run. */
void scan_link_segment(struct xentrace *reader, uint32_t index, uint32_t run_index)
{
	struct run *run = &reader->runs[run_index];

	reader->segments[index].run = run_index;
	reader->segments[index].next = NO_SEGMENT;
	if (run->last_segment == NO_SEGMENT)
		run->first_segment = index;
	else
		reader->segments[run->last_segment].next = index;
	run->last_segment = index;
}

int scan_open_segment(struct scan *scan, struct pcpu_state *cpu, uint64_t begin)
{
	struct xentrace *reader = scan->reader;

	if (reader->n_segments == NO_SEGMENT - 1)
		return -EOVERFLOW;
	if (ARRAY_GROW(reader->segments, reader->n_segments, scan->room_segments))
		return -ENOMEM;
	if (cpu->gaps_seen != scan->gaps)
		cpu->gap = true;
	cpu->gaps_seen = scan->gaps;
	scan->open = reader->n_segments++;
	scan->open_after = reader->runs[cpu->run].last_segment;
	reader->segments[scan->open] = (struct segment){
		.begin = begin, .end = begin, .tsc_before = cpu->last_tsc,
		.flags = cpu->gap ? SEGMENT_AFTER_GAP : 0,
	};
	cpu->gap = false;
	scan_link_segment(reader, scan->open, cpu->run);
	return 0;
}

/** The segment ends; one without a record (an empty window, garbage at once) goes again. */
void scan_close_segment(struct scan *scan, struct pcpu_state *cpu, uint64_t end)
{
	struct xentrace *reader = scan->reader;
	struct segment *seg;
	struct run *run;

	if (scan->open == NO_SEGMENT)
		return;
	seg = &reader->segments[scan->open];
	scan->open = NO_SEGMENT;
	seg->end = end;
	if (seg->begin != end)
		return;
	run = &reader->runs[seg->run];
	if (seg->flags & SEGMENT_AFTER_GAP)
		cpu->gap = true;
	run->last_segment = scan->open_after;
	if (scan->open_after == NO_SEGMENT)
		run->first_segment = NO_SEGMENT;
	else
		reader->segments[scan->open_after].next = NO_SEGMENT;
	reader->n_segments--;
}

static int compare_offsets(const void *a, const void *b)
{
	const struct repair *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int compare_repairs(const void *a, const void *b)
{
	const struct repair *x = a, *y = b;
	int by_offset = compare_offsets(a, b);

	return by_offset ? by_offset : x->order < y->order ? -1 : x->order > y->order;
}

const struct repair *xentrace_find_repair(const struct xentrace *reader, uint64_t offset)
{
	struct repair key = { .offset = offset };

	return bsearch(&key, reader->repairs, reader->n_repairs, sizeof(key), compare_offsets);
}

/** Sort them, keep the last one of each record, and mark the segments. */
void scan_finish_repairs(struct xentrace *reader)
{
	struct repair *repairs = reader->repairs;
	size_t n = 0;

	if (!reader->n_repairs)
		return;
	qsort(repairs, reader->n_repairs, sizeof(*repairs), compare_repairs);
	for (size_t i = 0; i < reader->n_repairs; i++) {
		if (n && repairs[n - 1].offset == repairs[i].offset)
			n--;
		repairs[n++] = repairs[i];
	}
	reader->n_repairs = n;
	for (size_t s = 0, r = 0; s < reader->n_segments && r < n; s++) {
		while (r < n && repairs[r].offset < reader->segments[s].begin)
			r++;
		if (r < n && repairs[r].offset < reader->segments[s].end)
			reader->segments[s].flags |= SEGMENT_REPAIRS;
	}
}

/** Is there a record with a TSC in [@offset, @end)? */
static bool has_tsc(struct scan *scan, uint64_t offset, uint64_t end)
{
	while (offset < end && !scan->blocks->error) {
		uint32_t header = scan_u32(scan, offset);

		if ((header & RECORD_HAS_TSC) && (header & EVENT_MASK) != EVENT_WRAP_BUFFER)
			return true;
		offset += record_size(header);
	}
	return false;
}

/** From @segment on, up to the first one with a TSC of its own, @tsc is what they inherit. */
static void inherit_tsc(struct scan *scan, uint32_t segment, uint64_t tsc)
{
	struct xentrace *reader = scan->reader;

	for (; segment != NO_SEGMENT; segment = reader->segments[segment].next) {
		struct segment *seg = &reader->segments[segment];

		seg->tsc_before = tsc;
		if (has_tsc(scan, seg->begin, seg->end))
			break;
	}
}

/** Let random access inherit the same TSCs as an iteration: first ones and repaired ones. */
static void finish_inherited(struct scan *scan)
{
	const struct xentrace *reader = scan->reader;
	size_t r = 0;

	for (uint32_t i = 0; i < reader->n_runs; i++)
		inherit_tsc(scan, reader->runs[i].first_segment, reader->runs[i].first_tsc);
	for (uint32_t s = 0; s < reader->n_segments; s++) {
		const struct segment *seg = &reader->segments[s];
		uint64_t after;

		if (!(seg->flags & SEGMENT_REPAIRS))
			continue;
		while (r < reader->n_repairs && reader->repairs[r].offset < seg->end)
			r++;
		after = reader->repairs[r - 1].offset;
		after += record_size(scan_u32(scan, after));
		if (!has_tsc(scan, after, seg->end))
			inherit_tsc(scan, seg->next, reader->repairs[r - 1].tsc);
	}
}

void scan_round(struct scan *scan, struct pcpu_state *cpu, uint64_t begin, uint64_t end)
{
	struct rounds *rounds = &scan->rounds;

	if (cpu->total.pcpu <= scan->last_pcpu) {
		rounds->number++;
		if (!scan->reader->whole_tsc)
			scan->reader->whole_tsc = rounds->seen;
		rounds->last_but_one = rounds->last;
		rounds->last = rounds->seen;
	}
	/* what should have been in its window of the round before */
	if (end - begin >= 12 && (scan_u32(scan, begin) & RECORD_HAS_TSC) &&
	    scan_u64(scan, begin + 4) < rounds->last_but_one)
		rounds->broken = true;
	cpu->round = rounds->number;
}

uint64_t scan_known_tsc(const struct scan *scan, const struct pcpu_state *cpu)
{
	const struct xentrace *reader = scan->reader;
	bool was_silent = !scan->rounds.broken && cpu->round + 1 < scan->rounds.number;
	uint64_t silent = was_silent ? scan->rounds.last_but_one : 0;

	if (cpu->gap || cpu->gaps_seen != scan->gaps)
		return cpu->last_tsc;
	if (!reader->problem_count[XENTRACE_TRUNCATED] && !scan->goes_on)
		return UINT64_MAX;
	return silent > cpu->last_tsc ? silent : cpu->last_tsc;
}

static int finish_pcpus(struct scan *scan)
{
	struct xentrace *reader = scan->reader;
	uint64_t first = UINT64_MAX;
	int n = 0, ret;

	reader->pcpus = calloc(reader->n_pcpus + 1, sizeof(*reader->pcpus));
	if (!reader->pcpus)
		return -ENOMEM;
	for (int i = 0; i < scan->n_pcpus; i++) {
		struct pcpu_state *cpu = scan->pcpus[i];

		if (!cpu)
			continue;
		ret = scan_finish_last_tsc(scan, cpu);
		if (ret)
			return ret;
		cpu->total.known_tsc = scan_known_tsc(scan, cpu);
		reader->n_records += cpu->total.n_records;
		reader->pcpus[n++] = cpu->total;
		if (!cpu->first_waits && reader->runs[cpu->run].first_tsc < first)
			first = reader->runs[cpu->run].first_tsc;
	}
	for (int i = 0; i < scan->n_pcpus; i++) {
		struct pcpu_state *cpu = scan->pcpus[i];

		/* not a single TSC on this pCPU: the trace's beginning is as good as any */
		if (cpu && cpu->first_waits && first != UINT64_MAX)
			reader->runs[cpu->run].first_tsc = reader->runs[cpu->run].last_tsc = first;
	}
	for (int i = 0; i < n; i++) {
		reader->pcpus[i].first_tsc = UINT64_MAX;
		scan->pcpus[reader->pcpus[i].pcpu]->index = i;
	}
	for (uint32_t r = 0; r < reader->n_runs; r++) {
		const struct run *run = &reader->runs[r];
		struct xentrace_pcpu *pcpu = &reader->pcpus[scan->pcpus[run->pcpu]->index];

		if (run->first_segment == NO_SEGMENT)
			continue;
		if (run->first_tsc < pcpu->first_tsc)
			pcpu->first_tsc = run->first_tsc;
		if (run->last_tsc > pcpu->last_tsc)
			pcpu->last_tsc = run->last_tsc;
	}
	for (int i = 0; i < n; i++)
		if (!reader->pcpus[i].n_records)
			reader->pcpus[i].first_tsc = 0;
	return 0;
}

int scan_finish_index(struct scan *scan)
{
	int ret = finish_pcpus(scan);

	if (!ret) {
		scan_finish_repairs(scan->reader);
		finish_inherited(scan);
	}
	return ret;
}

void xentrace_forget(struct xentrace *reader)
{
	const struct xentrace kept = { .file = reader->file, .name = reader->name };

	free(reader->segments);
	free(reader->runs);
	free(reader->pcpus);
	free(reader->repairs);
	free(reader->problems);
	*reader = kept;
}

void scan_free(struct scan *scan)
{
	for (int i = 0; i < scan->n_pcpus; i++)
		free(scan->pcpus[i]);
	free(scan->pcpus);
}
