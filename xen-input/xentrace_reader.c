// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_reader.c
 * @brief	Read xentrace files: index, iteration in order of time, random access.
 *
 * The index (xentrace_scan.c) is a list of segments: ranges of good records of one pCPU, in file
 * order. The segments of one run (one pCPU, TSC never going back) are chained; an iteration keeps
 * one cursor per run and always advances the one with the smallest TSC.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xentrace_private.h"

/** How much is passed before its memory is given back. */
#define DROP_BYTES	(4 << 20)

bool xentrace_check(const char *path)
{
	uint8_t head[4096];
	int n = xentrace_file_peek(path, head, sizeof(head));

	return n > 0 && xentrace_looks_right(head, n);
}

static struct xentrace *reader_open(struct xentrace *reader, const char *name,
				    const struct xentrace_options *options,
				    char *error, size_t error_size)
{
	int ret = xentrace_scan(reader, options);

	if (!ret && reader->n_records)
		return reader;
	if (ret == -ECANCELED)
		xentrace_set_error(error, error_size, "%s: canceled", name);
	else if (ret)
		xentrace_set_error(error, error_size, "%s: %s", name, strerror(-ret));
	else if (!reader->file.size)
		xentrace_set_error(error, error_size, "%s: the file is empty", name);
	else if (!reader->n_windows)
		xentrace_set_error(error, error_size,
				   "%s: not a xentrace file: no window of records in %zu bytes "
				   "(a window begins with the bytes 03 f0 01 20)",
				   name, reader->file.size);
	else
		xentrace_set_error(error, error_size,
				   "%s: a xentrace file without a single record (%zu bytes): "
				   "was tracing on, and the event mask (xentrace -e) not empty?",
				   name, reader->file.size);
	xentrace_close(reader);
	errno = ret ? -ret : EINVAL;
	return NULL;
}

struct xentrace *xentrace_open(const char *path, const struct xentrace_options *options,
			       char *error, size_t error_size)
{
	struct xentrace *reader = calloc(1, sizeof(*reader));
	int ret = reader ? xentrace_file_open(&reader->file, path, options, error, error_size)
			 : -ENOMEM;

	if (ret) {
		free(reader);
		errno = -ret;
		return NULL;
	}
	return reader_open(reader, path, options, error, error_size);
}

struct xentrace *xentrace_open_memory(const void *data, size_t size,
				      const struct xentrace_options *options,
				      char *error, size_t error_size)
{
	struct xentrace *reader = calloc(1, sizeof(*reader));

	if (!reader) {
		errno = ENOMEM;
		return NULL;
	}
	reader->file.data = data;
	reader->file.size = size;
	return reader_open(reader, "memory", options, error, error_size);
}

void xentrace_close(struct xentrace *reader)
{
	if (!reader)
		return;
	xentrace_file_close(&reader->file);
	free(reader->segments);
	free(reader->runs);
	free(reader->pcpus);
	free(reader->repairs);
	free(reader->problems);
	free(reader);
}

uint64_t xentrace_size(const struct xentrace *reader)
{
	return reader->file.size;
}

uint64_t xentrace_n_records(const struct xentrace *reader)
{
	return reader->n_records;
}

int xentrace_n_pcpus(const struct xentrace *reader)
{
	return reader->n_pcpus;
}

const struct xentrace_pcpu *xentrace_pcpu_at(const struct xentrace *reader, int i)
{
	return i >= 0 && i < reader->n_pcpus ? &reader->pcpus[i] : NULL;
}

uint32_t xentrace_n_runs(const struct xentrace *reader)
{
	return reader->n_runs;
}

uint64_t xentrace_first_tsc(const struct xentrace *reader)
{
	uint64_t first = UINT64_MAX;

	for (int i = 0; i < reader->n_pcpus; i++)
		if (reader->pcpus[i].n_records && reader->pcpus[i].first_tsc < first)
			first = reader->pcpus[i].first_tsc;
	return first == UINT64_MAX ? 0 : first;
}

uint64_t xentrace_last_tsc(const struct xentrace *reader)
{
	uint64_t last = 0;

	for (int i = 0; i < reader->n_pcpus; i++)
		if (reader->pcpus[i].last_tsc > last)
			last = reader->pcpus[i].last_tsc;
	return last;
}

int xentrace_n_problems(const struct xentrace *reader)
{
	return reader->n_problems;
}

const struct xentrace_problem *xentrace_problem_at(const struct xentrace *reader, int i)
{
	return i >= 0 && i < reader->n_problems ? &reader->problems[i] : NULL;
}

uint64_t xentrace_problem_count(const struct xentrace *reader, enum xentrace_problem_kind kind)
{
	return (unsigned int)kind < XENTRACE_N_PROBLEM_KINDS ? reader->problem_count[kind] : 0;
}

uint64_t xentrace_skipped_bytes(const struct xentrace *reader)
{
	return reader->skipped_bytes;
}

/** What each kind of problem is, in words; %s of the count's plural comes last. */
static const struct {
	const char	*what;
	const char	*many;
} problem_words[XENTRACE_N_PROBLEM_KINDS] = {
	[XENTRACE_TRUNCATED]	 = { "the file ends inside a window", "truncated" },
	[XENTRACE_BAD_WINDOW]	 = { "a window header with an impossible pCPU or size",
				     "bad window headers" },
	[XENTRACE_GARBAGE]	 = { "bytes that are no records", "stretches of garbage" },
	[XENTRACE_CROSSES_WINDOW] = { "a record reaches beyond the end of its window",
				     "records that cross their window's end" },
	[XENTRACE_TSC_OUTLIER]	 = { "a TSC that contradicts the records around it; "
				     "the neighbour's was taken", "TSCs out of line" },
	[XENTRACE_TSC_BACKWARDS] = { "the TSC jumps back and goes on from there (two recordings "
				     "put together?)", "jumps back of the TSC" },
};

int xentrace_problem_text(char *buf, size_t size, const struct xentrace_problem *problem)
{
	char skipped[48] = "";
	unsigned int kind = problem->kind;

	if (kind >= XENTRACE_N_PROBLEM_KINDS)
		kind = XENTRACE_GARBAGE;
	if (problem->bytes)
		snprintf(skipped, sizeof(skipped), "; %llu bytes skipped",
			 (unsigned long long)problem->bytes);
	return snprintf(buf, size, "offset %llu, pCPU %u: %s%s",
			(unsigned long long)problem->offset, problem->pcpu,
			problem_words[kind].what, skipped);
}

static void report_summary(FILE *out, const struct xentrace *reader, const char *file)
{
	const char *separator = ": damaged: ";

	fputs(file, out);
	for (int kind = 0; kind < XENTRACE_N_PROBLEM_KINDS; kind++) {
		if (!reader->problem_count[kind])
			continue;
		if (kind == XENTRACE_TRUNCATED)
			fprintf(out, "%s%s", separator, problem_words[kind].many);
		else
			fprintf(out, "%s%llu %s", separator,
				(unsigned long long)reader->problem_count[kind],
				problem_words[kind].many);
		separator = ", ";
	}
	if (reader->file.cut_short)
		fprintf(out, "%sthe compressed data is cut short or corrupt", separator);
	fprintf(out, "; %llu of %zu bytes skipped, %llu records read\n",
		(unsigned long long)reader->skipped_bytes, reader->file.size,
		(unsigned long long)reader->n_records);
}

char *xentrace_report(const struct xentrace *reader, const char *file, int max_lines)
{
	char line[256];
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int i;

	if (!out)
		return NULL;
	if (reader->n_problems || reader->file.cut_short) {
		report_summary(out, reader, file);
		for (i = 0; i < reader->n_problems && i < max_lines; i++) {
			xentrace_problem_text(line, sizeof(line), &reader->problems[i]);
			fprintf(out, "  %s\n", line);
		}
		if (max_lines > 0 && i < reader->n_problems)
			fprintf(out, "  ... and more\n");
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* ---- iteration ---- */

/** Where an iteration stands in one run. */
struct cursor {
	const uint8_t	*p;		/* next record */
	const uint8_t	*end;		/* of its segment */
	uint64_t	tsc;		/* of the next record, with the pCPU's offset */
	uint64_t	pcpu_offset;	/* cycles to add */
	uint32_t	segment;
	uint32_t	run;
	uint16_t	pcpu;
	uint8_t		flags;		/* XENTRACE_... of the next record */
	bool		repairs;	/* this segment has repaired TSCs */
};

/** Key of a waiting cursor. */
struct heap_item {
	uint64_t	tsc;
	const uint8_t	*p;
	struct cursor	*cursor;
};

struct xentrace_iter {
	const struct xentrace	*reader;
	struct cursor		*cursors;
	struct cursor		*current;	/* holds the next record; NULL at the end */
	struct heap_item	*heap;		/* all others, smallest first, then a guard */
	uint32_t		n_heap;
	bool			drop_behind;
	uint64_t		dropped;	/* file range below this was given back */
};

static inline bool before(uint64_t tsc_a, const uint8_t *p_a, uint64_t tsc_b, const uint8_t *p_b)
{
	return tsc_a < tsc_b || (tsc_a == tsc_b && p_a < p_b);
}

static void heap_sift_down(struct heap_item *heap, uint32_t n, uint32_t i)
{
	struct heap_item item = heap[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= n)
			break;
		if (child + 1 < n && before(heap[child + 1].tsc, heap[child + 1].p,
					    heap[child].tsc, heap[child].p))
			child++;
		if (!before(heap[child].tsc, heap[child].p, item.tsc, item.p))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = item;
}

/** Stands behind the last waiting cursor, so that an empty heap need not be asked for. */
static const struct heap_item heap_guard = { UINT64_MAX, (const uint8_t *)UINTPTR_MAX, NULL };

/** The smallest waiting cursor becomes the current one; none is left behind in its place. */
static void heap_pop(struct xentrace_iter *iter)
{
	iter->current = iter->heap[0].cursor;
	if (!iter->n_heap)
		return;
	iter->heap[0] = iter->heap[--iter->n_heap];
	iter->heap[iter->n_heap] = heap_guard;
	if (iter->n_heap)
		heap_sift_down(iter->heap, iter->n_heap, 0);
}

/** The TSC of the record at the cursor, which has one of its own or a repaired one. */
static void cursor_take_tsc(const struct xentrace *reader, struct cursor *c, uint32_t header)
{
	const struct repair *repair;

	c->flags &= XENTRACE_AFTER_GAP;
	if (!(header & RECORD_HAS_TSC))
		return;
	c->flags |= XENTRACE_HAS_TSC;
	c->tsc = load_u64(c->p + 4) + c->pcpu_offset;
	if (c->repairs) {
		repair = xentrace_find_repair(reader, c->p - reader->file.data);
		if (repair) {
			c->tsc = repair->tsc + c->pcpu_offset;
			c->flags |= XENTRACE_TSC_REPAIRED;
		}
	}
}

/** Enter a segment. Return: false for the end of the chain. */
static bool cursor_enter(const struct xentrace *reader, struct cursor *c, uint32_t segment)
{
	const struct segment *seg;

	if (segment == NO_SEGMENT)
		return false;
	seg = &reader->segments[segment];
	c->segment = segment;
	c->p = reader->file.data + seg->begin;
	c->end = reader->file.data + seg->end;
	c->repairs = seg->flags & SEGMENT_REPAIRS;
	if (seg->flags & SEGMENT_AFTER_GAP)
		c->flags |= XENTRACE_AFTER_GAP;
	return true;
}

/** Stand on the next record that is to be given out. Return: false at the end of the run. */
static bool cursor_settle(const struct xentrace *reader, struct cursor *c)
{
	uint32_t header;

	for (;;) {
		while (c->p >= c->end)
			if (!cursor_enter(reader, c, reader->segments[c->segment].next))
				return false;
		header = load_u32(c->p);
		if ((header & EVENT_MASK) != EVENT_WRAP_BUFFER)
			break;
		c->p += record_size(header);
	}
	cursor_take_tsc(reader, c, header);
	return true;
}

/** Give back the memory of what all cursors have passed. */
static void drop_passed(struct xentrace_iter *iter)
{
	uint64_t passed = iter->current->p - iter->reader->file.data;

	for (uint32_t i = 0; i < iter->n_heap; i++) {
		uint64_t offset = iter->heap[i].p - iter->reader->file.data;

		if (offset < passed)
			passed = offset;
	}
	if (passed < iter->dropped + DROP_BYTES)
		return;
	xentrace_file_drop(&iter->reader->file, iter->dropped, passed);
	iter->dropped = passed;
}

struct xentrace_iter *xentrace_iter_new(const struct xentrace *reader,
					const struct xentrace_iter_options *options)
{
	struct xentrace_iter *iter = calloc(1, sizeof(*iter));
	bool one_run = options && options->one_run && options->run < reader->n_runs;
	uint32_t first = one_run ? options->run : 0, n = one_run ? 1 : reader->n_runs;

	if (!iter)
		return NULL;
	iter->reader = reader;
	iter->drop_behind = options && options->drop_behind;
	iter->cursors = calloc(n, sizeof(*iter->cursors));
	iter->heap = calloc(n + 1, sizeof(*iter->heap));
	if (!iter->cursors || !iter->heap) {
		xentrace_iter_free(iter);
		errno = ENOMEM;
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct run *run = &reader->runs[first + i];
		struct cursor *c = &iter->cursors[i];

		c->run = first + i;
		c->pcpu = run->pcpu;
		if (options && options->pcpu_offset && run->pcpu < options->n_pcpu_offset)
			c->pcpu_offset = options->pcpu_offset[run->pcpu];
		c->tsc = run->first_tsc + c->pcpu_offset;
		if (!cursor_enter(reader, c, run->first_segment) || !cursor_settle(reader, c))
			continue;
		iter->heap[iter->n_heap++] = (struct heap_item){ c->tsc, c->p, c };
	}
	for (uint32_t i = iter->n_heap / 2; i-- > 0; )
		heap_sift_down(iter->heap, iter->n_heap, i);
	iter->heap[iter->n_heap] = heap_guard;
	if (iter->n_heap)
		heap_pop(iter);
	return iter;
}

/** The current cursor has moved: should another one come first now? */
static inline void iter_choose(struct xentrace_iter *iter, struct cursor *c)
{
	struct heap_item *top = iter->heap;

	if (before(c->tsc, c->p, top->tsc, top->p))
		return;
	iter->current = top->cursor;
	*top = (struct heap_item){ c->tsc, c->p, c };
	heap_sift_down(top, iter->n_heap, 0);
}

/** The step to the next record, in all its generality. */
static void iter_step(struct xentrace_iter *iter, struct cursor *c)
{
	uint32_t segment = c->segment;

	c->flags = 0;
	if (cursor_settle(iter->reader, c))
		iter_choose(iter, c);
	else
		heap_pop(iter);
	if (iter->drop_behind && c->segment != segment && iter->current)
		drop_passed(iter);
}

bool xentrace_iter_next(struct xentrace_iter *iter, struct xentrace_record *rec)
{
	struct cursor *c = iter->current;
	const uint8_t *p;
	uint32_t header;

	if (!c)
		return false;
	p = c->p;
	header = load_u32(p);
	rec->tsc = c->tsc;
	rec->offset = p - iter->reader->file.data;
	rec->payload = p + (header & RECORD_HAS_TSC ? 12 : 4);
	rec->event = header & EVENT_MASK;
	rec->pcpu = c->pcpu;
	rec->n_words = record_words(header);
	rec->flags = c->flags;
	rec->run = c->run;

	/* nearly always: the next record of the same segment, with nothing special about it */
	p += record_size(header);
	c->p = p;
	if (p < c->end && !c->repairs) {
		header = load_u32(p);
		if ((header & EVENT_MASK) != EVENT_WRAP_BUFFER) {
			c->flags = 0;
			if (header & RECORD_HAS_TSC) {
				c->tsc = load_u64(p + 4) + c->pcpu_offset;
				c->flags = XENTRACE_HAS_TSC;
			}
			iter_choose(iter, c);
			return true;
		}
	}
	iter_step(iter, c);
	return true;
}

void xentrace_iter_free(struct xentrace_iter *iter)
{
	if (!iter)
		return;
	free(iter->cursors);
	free(iter->heap);
	free(iter);
}

/* ---- random access ---- */

/** The last segment that begins at or before an offset, or NULL. */
static const struct segment *find_segment(const struct xentrace *reader, uint64_t offset)
{
	uint32_t low = 0, high = reader->n_segments;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (reader->segments[middle].begin <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &reader->segments[low - 1] : NULL;
}

int xentrace_read_at(const struct xentrace *reader, uint64_t offset,
		     struct xentrace_record *rec)
{
	const struct segment *seg = find_segment(reader, offset);
	struct cursor c = { 0 };
	uint32_t header;

	if (!seg || offset >= seg->end || seg->end - offset < 4)
		return -ENOENT;
	header = load_u32(reader->file.data + offset);
	if (record_size(header) > seg->end - offset)
		return -ENOENT;
	c.p = reader->file.data + offset;
	c.repairs = seg->flags & SEGMENT_REPAIRS;
	c.tsc = seg->tsc_before;
	if (!(header & RECORD_HAS_TSC)) {
		/* inherited: walk up to it */
		const uint8_t *p = reader->file.data + seg->begin;

		for (; p < reader->file.data + offset; p += record_size(load_u32(p))) {
			c.p = p;
			if ((load_u32(p) & EVENT_MASK) != EVENT_WRAP_BUFFER)
				cursor_take_tsc(reader, &c, load_u32(p));
		}
		if (p != reader->file.data + offset)
			return -ENOENT;
		c.p = p;
	}
	c.flags = offset == seg->begin && (seg->flags & SEGMENT_AFTER_GAP) ? XENTRACE_AFTER_GAP : 0;
	cursor_take_tsc(reader, &c, header);
	rec->tsc = c.tsc;
	rec->offset = offset;
	rec->payload = c.p + (header & RECORD_HAS_TSC ? 12 : 4);
	rec->event = header & EVENT_MASK;
	rec->pcpu = reader->runs[seg->run].pcpu;
	rec->n_words = record_words(header);
	rec->flags = c.flags;
	rec->run = seg->run;
	return 0;
}
