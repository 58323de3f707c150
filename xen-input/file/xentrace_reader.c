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

#include "array.h"
#include "foreign_file.h"
#include "heap.h"
#include "search.h"
#include "xentrace_facts.h"
#include "xentrace_private.h"

_Static_assert(XENTRACE_TAIL >= 12 + 4 * XENTRACE_MAX_WORDS, "a block has records as a whole");

bool xentrace_check(const char *path)
{
	uint8_t head[4096];
	int n = xentrace_file_peek(path, head, sizeof(head));

	return n > 0 && xentrace_looks_right(head, n);
}

/**
 * What a file is instead of a xentrace file; or NULL. The records of several traces in an archive
 * must not be mixed.
 */
static const char *foreign_of(const struct xentrace *reader)
{
	uint8_t head[FOREIGN_FILE_HEAD];
	size_t n = xentrace_file_read(&reader->file, head, 0, sizeof(head));

	return !reader->n_windows || foreign_file_is_tar(head, n) ? foreign_file_problem(head, n) :
								    NULL;
}

static struct xentrace *reader_open(struct xentrace *reader, const char *name,
				    const struct xentrace_options *options,
				    const struct xentrace_range *range,
				    char *error, size_t error_size)
{
	int ret = xentrace_scan(reader, options, range);
	char change[512];

	if (!ret && reader->n_records && !foreign_of(reader))
		return reader;
	if (ret == -ESTALE && xentrace_change_text(change, sizeof(change), reader))
		xentrace_set_error(error, error_size, "%s: try again when it is complete", change);
	else if (ret == -ECANCELED)
		xentrace_set_error(error, error_size, "%s: canceled", name);
	else if (ret)
		xentrace_set_error(error, error_size, "%s: %s", name, strerror(-ret));
	else if (!reader->file.size)
		xentrace_set_error(error, error_size, "%s: the file is empty", name);
	else if (foreign_of(reader))
		xentrace_set_error(error, error_size, "%s: %s", name, foreign_of(reader));
	else if (!reader->n_windows)
		xentrace_set_error(error, error_size,
				   "%s: not a xentrace file: no window of records in %llu bytes "
				   "(a window begins with the bytes 03 f0 01 20). Give a file of "
				   "xentrace, trace-cmd or 'kshark-virt record'",
				   name, (unsigned long long)reader->file.size);
	else
		xentrace_set_error(error, error_size,
				   "%s: a xentrace file without a single record (%llu bytes): "
				   "was tracing on, and the event mask (xentrace -e) not empty?",
				   name, (unsigned long long)reader->file.size);
	xentrace_close(reader);
	errno = ret ? -ret : EINVAL;
	return NULL;
}

struct xentrace *xentrace_open_head(const char *path, const struct xentrace_options *options,
				    uint64_t bytes, char *error, size_t error_size)
{
	const struct xentrace_range head = { 0, bytes };
	struct xentrace *reader = calloc(1, sizeof(*reader));
	int ret = reader ? xentrace_file_open(&reader->file, path, options, error, error_size)
			 : -ENOMEM;

	if (!ret) {
		reader->name = strdup(path);
		ret = reader->name ? 0 : -ENOMEM;
	}
	if (ret) {
		xentrace_close(reader);
		errno = -ret;
		return NULL;
	}
	return reader_open(reader, path, options, &head, error, error_size);
}

struct xentrace *xentrace_open(const char *path, const struct xentrace_options *options,
			       char *error, size_t error_size)
{
	return xentrace_open_head(path, options, UINT64_MAX, error, error_size);
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
	reader->file = (struct xentrace_file){ .memory = data, .fd = -1, .size = size };
	return reader_open(reader, "memory", options, NULL, error, error_size);
}

void xentrace_close(struct xentrace *reader)
{
	if (!reader)
		return;
	xentrace_file_close(&reader->file);
	free(reader->name);
	xentrace_forget(reader);
	free(reader);
}

enum xentrace_change xentrace_changed(const struct xentrace *reader)
{
	return xentrace_file_change(&reader->file, NULL);
}

int xentrace_change_text(char *buf, size_t size, const struct xentrace *reader)
{
	uint64_t now;
	enum xentrace_change change = xentrace_file_change(&reader->file, &now);
	unsigned long long was = reader->file.size;

	switch (change) {
	case XENTRACE_GREW:
		return snprintf(buf, size, "%s: has grown since it was opened (was %llu bytes, now "
				"%llu)", reader->name, was, (unsigned long long)now);
	case XENTRACE_REPLACED:
		return snprintf(buf, size, "%s: was replaced since it was opened", reader->name);
	case XENTRACE_CHANGED:
		return snprintf(buf, size, "%s: has changed since it was opened (was %llu bytes, "
				"now %llu)", reader->name, was, (unsigned long long)now);
	case XENTRACE_UNREADABLE:
		return snprintf(buf, size, "%s: cannot be read any more: %s", reader->name,
				strerror(xentrace_file_errno(&reader->file)));
	default:
		return snprintf(buf, size, "%s", "");
	}
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

uint64_t xentrace_whole_tsc(const struct xentrace *reader)
{
	static const enum xentrace_problem_kind lacking[] = {
		XENTRACE_BAD_WINDOW, XENTRACE_GARBAGE, XENTRACE_CROSSES_WINDOW,
		XENTRACE_TSC_BACKWARDS,
	};

	for (size_t i = 0; i < ARRAY_SIZE(lacking); i++)
		if (reader->problem_count[lacking[i]])
			return UINT64_MAX;
	if (reader->whole_is_given)
		return reader->whole_tsc;
	return reader->whole_tsc ? reader->whole_tsc : xentrace_first_tsc(reader);
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

uint64_t xentrace_n_bytes(const struct xentrace *reader)
{
	return reader->file.size;
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
	fprintf(out, "; %llu of %llu bytes skipped, %llu records read\n",
		(unsigned long long)reader->skipped_bytes,
		(unsigned long long)reader->file.size,
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
	uint64_t	offset;		/* of the next record */
	uintptr_t	base;		/* of the file, if all of it were where its block is */
	uint64_t	easy_end;	/* what begins before is whole, and nothing special */
	uint64_t	tsc;		/* of the next record, with the pCPU's offset */
	uint64_t	pcpu_offset;	/* cycles to add */
	uint32_t	run;
	uint16_t	pcpu;
	uint8_t		flags;		/* XENTRACE_... of the next record */
	bool		repairs;	/* this segment has repaired TSCs */
	uint64_t	end;		/* of the segment */
	struct xentrace_block *block;	/* that the next record begins in, or NULL */
	uint32_t	segment;
};

/** Key of a waiting cursor. */
struct heap_item {
	uint64_t	tsc;
	uint64_t	offset;
	struct cursor	*cursor;
};

struct xentrace_iter {
	const struct xentrace	*reader;
	struct xentrace_blocks	blocks;
	struct cursor		*cursors;
	struct cursor		*current;	/* holds the next record; NULL at the end */
	struct heap_item	*heap;		/* all others, smallest first, then a guard */
	uint32_t		n_heap;
	uint32_t		n_cursors;
	int			error;
	/* of xentrace_iter_skip(): */
	struct quiet_run	*quiet_runs;	/* by cursor; NULL: all records are given out */
	struct xentrace_quiet	quiet;
	uint64_t		skip_until;	/* passed: from there on, all are given out */
	bool			is_given;	/* the current cursor's record: it moves on first */
	uint64_t		n_passed;	/* records given out or counted */
};

static inline bool before(uint64_t tsc_a, uint64_t offset_a, uint64_t tsc_b, uint64_t offset_b)
{
	return tsc_a < tsc_b || (tsc_a == tsc_b && offset_a < offset_b);
}

static inline bool is_before(const struct heap_item *a, const struct heap_item *b)
{
	return before(a->tsc, a->offset, b->tsc, b->offset);
}

/** Stands behind the last waiting cursor, so that an empty heap need not be asked for. */
static const struct heap_item heap_guard = { UINT64_MAX, UINT64_MAX, NULL };

/** The smallest waiting cursor becomes the current one; none is left behind in its place. */
static void heap_pop(struct xentrace_iter *iter)
{
	iter->current = iter->heap[0].cursor;
	if (!iter->n_heap)
		return;
	iter->heap[0] = iter->heap[--iter->n_heap];
	iter->heap[iter->n_heap] = heap_guard;
	if (iter->n_heap)
		HEAP_DOWN(iter->heap, iter->n_heap, 0, is_before);
}

static inline const uint8_t *cursor_at(const struct cursor *c)
{
	return (const uint8_t *)(c->base + c->offset);
}

/** The TSC of the record at the cursor, which has one of its own or a repaired one. */
static void cursor_take_tsc(const struct xentrace *reader, struct cursor *c, uint32_t header)
{
	const struct repair *repair;

	c->flags &= XENTRACE_AFTER_GAP;
	if (!(header & RECORD_HAS_TSC))
		return;
	c->flags |= XENTRACE_HAS_TSC;
	c->tsc = load_u64(cursor_at(c) + 4) + c->pcpu_offset;
	if (c->repairs) {
		repair = xentrace_find_repair(reader, c->offset);
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
	c->offset = seg->begin;
	c->end = seg->end;
	c->easy_end = 0;
	c->repairs = seg->flags & SEGMENT_REPAIRS;
	if (seg->flags & SEGMENT_AFTER_GAP)
		c->flags |= XENTRACE_AFTER_GAP;
	return true;
}

/** Have the block that the next record begins in. Return: 0, -ENOMEM or -ESTALE. */
static int cursor_read(struct xentrace_blocks *blocks, struct cursor *c)
{
	uint64_t number = c->offset / XENTRACE_BLOCK;
	uint64_t block_end = (number + 1) * XENTRACE_BLOCK;
	/* what has been written anew since may be longer than what was indexed */
	uint64_t whole_end = whole_before(c->end);

	if (!c->block || c->block->number != number) {
		xentrace_blocks_put(blocks, c->block);
		c->block = xentrace_blocks_get(blocks, c->offset);
		if (!c->block)
			return blocks->error;
		c->base = (uintptr_t)c->block->data - number * XENTRACE_BLOCK;
	}
	c->easy_end = c->repairs ? 0 : whole_end < block_end ? whole_end : block_end;
	return 0;
}

/** Stand on the next record that is to be given out. Return: 0, or -ENODATA at the run's end. */
static int cursor_settle(struct xentrace_blocks *blocks, const struct xentrace *reader,
			 struct cursor *c)
{
	uint32_t header;
	int ret;

	for (;;) {
		while (c->offset >= c->end)
			if (!cursor_enter(reader, c, reader->segments[c->segment].next))
				return -ENODATA;
		ret = cursor_read(blocks, c);
		if (ret)
			return ret;
		header = load_u32(cursor_at(c));
		/* written anew since, faster than the clock of its file system ticks */
		if (record_size(header) > c->end - c->offset) {
			xentrace_file_condemn(&reader->file);
			return -ESTALE;
		}
		if ((header & EVENT_MASK) != EVENT_WRAP_BUFFER)
			break;
		c->offset += record_size(header);
	}
	cursor_take_tsc(reader, c, header);
	return 0;
}

/**
 * The same for an iteration, which goes on without a run that is at its end. If one cannot be read,
 * all end there: up to that time everything is known.
 */
static bool iter_settle(struct xentrace_iter *iter, struct cursor *c)
{
	int ret = cursor_settle(&iter->blocks, iter->reader, c);

	if (!ret)
		return true;
	if (ret != -ENODATA) {
		iter->error = ret;
		iter->heap[0] = heap_guard;
		iter->n_heap = 0;
	}
	xentrace_blocks_put(&iter->blocks, c->block);
	c->block = NULL;
	return false;
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
	xentrace_blocks_init(&iter->blocks, &reader->file);
	iter->cursors = calloc(n, sizeof(*iter->cursors));
	iter->heap = calloc(n + 1, sizeof(*iter->heap));
	iter->n_cursors = n;
	if (!iter->cursors || !iter->heap) {
		xentrace_iter_free(iter);
		errno = ENOMEM;
		return NULL;
	}
	for (uint32_t i = 0; i < n && !iter->error; i++) {
		const struct run *run = &reader->runs[first + i];
		struct cursor *c = &iter->cursors[i];

		c->run = first + i;
		c->pcpu = run->pcpu;
		if (options && options->pcpu_offset && run->pcpu < options->n_pcpu_offset)
			c->pcpu_offset = options->pcpu_offset[run->pcpu];
		c->tsc = run->first_tsc + c->pcpu_offset;
		if (!cursor_enter(reader, c, run->first_segment) || !iter_settle(iter, c))
			continue;
		iter->heap[iter->n_heap++] = (struct heap_item){ c->tsc, c->offset, c };
	}
	for (uint32_t i = iter->n_heap / 2; i-- > 0; )
		HEAP_DOWN(iter->heap, iter->n_heap, i, is_before);
	iter->heap[iter->n_heap] = heap_guard;
	if (iter->n_heap)
		heap_pop(iter);
	return iter;
}

/** The current cursor has moved: should another one come first now? */
static inline void iter_choose(struct xentrace_iter *iter, struct cursor *c)
{
	struct heap_item *top = iter->heap;

	if (before(c->tsc, c->offset, top->tsc, top->offset))
		return;
	iter->current = top->cursor;
	*top = (struct heap_item){ c->tsc, c->offset, c };
	HEAP_DOWN(top, iter->n_heap, 0, is_before);
}

/** The step to the next record, in all its generality. */
static void iter_step(struct xentrace_iter *iter, struct cursor *c)
{
	c->flags = 0;
	if (iter_settle(iter, c))
		iter_choose(iter, c);
	else
		heap_pop(iter);
}

/** The current cursor has a new offset: take the record that is there. */
static inline void iter_arrive(struct xentrace_iter *iter, struct cursor *c)
{
	/* nearly always: a record of the same segment, with nothing special about it */
	if (c->offset < c->easy_end) {
		const uint8_t *p = cursor_at(c);
		uint32_t header = load_u32(p);

		if ((header & EVENT_MASK) != EVENT_WRAP_BUFFER) {
			c->flags = 0;
			if (header & RECORD_HAS_TSC) {
				c->tsc = load_u64(p + 4) + c->pcpu_offset;
				c->flags = XENTRACE_HAS_TSC;
			}
			iter_choose(iter, c);
			return;
		}
	}
	iter_step(iter, c);
}

/** What is at a cursor; where there is a record, the longest payload can be read. */
static inline uint32_t record_at(const struct cursor *c, struct xentrace_record *rec)
{
	const uint8_t *p = cursor_at(c);
	uint32_t header = load_u32(p);

	rec->tsc = c->tsc;
	rec->offset = c->offset;
	rec->event = header & EVENT_MASK;
	rec->run = c->run;
	rec->pcpu = c->pcpu;
	rec->n_words = record_words(header);
	rec->flags = c->flags;
	memcpy(rec->words, p + (header & RECORD_HAS_TSC ? 12 : 4), sizeof(rec->words));
	return header;
}

/* ---- records that are only counted ---- */

/** A place in a run. */
struct mark {
	uint64_t	offset;
	uint64_t	tsc;		/* that a record without one has */
};

/** What an iteration keeps of a run if it counts records. */
struct quiet_run {
	struct xentrace_tally tally;
	struct mark	marks[3];	/* where it goes on, the next one last */
	uint8_t		n_marks;
	bool		has_call;	/* none needs to be given out until the next other record */
	bool		has_part;	/* one was given out */
	bool		has_plain;
};

enum kind { OTHER, PART, PLAIN, CALL };

static inline uint32_t word_at(const uint8_t *p, uint32_t header, uint32_t word)
{
	return load_u32(p + (header & RECORD_HAS_TSC ? 12 : 4) + 4 * word);
}

static bool is_loud(const struct xentrace_quiet *quiet, const uint8_t *p, uint32_t header)
{
	for (int i = 0; i < XENTRACE_LOUD && quiet->loud[i].event; i++) {
		const struct xentrace_loud *loud = &quiet->loud[i];

		if (loud->event == (header & EVENT_MASK))
			return loud->word >= record_words(header) ||
			       word_at(p, header, loud->word) != loud->nothing;
	}
	return false;
}

static inline enum kind kind_of(const struct xentrace_quiet *quiet, const uint8_t *p,
				uint32_t header)
{
	uint32_t event = header & EVENT_MASK;

	if (event == quiet->call && record_words(header))
		return CALL;
	if (event >> 12 == quiet->part)
		return quiet->loud_low >> (event & 31) & 1 && is_loud(quiet, p, header) ? OTHER :
											  PART;
	return event == quiet->plain[0] || event == quiet->plain[1] ? PLAIN : OTHER;
}

/** The run goes on later at @p, with the TSC of the record at @timed unless that at @p has one. */
static inline void add_mark(struct quiet_run *run, const struct cursor *c, const uint8_t *p,
			    const uint8_t *timed)
{
	run->marks[run->n_marks++] = (struct mark){ (uintptr_t)p - c->base,
						    load_u64(timed + 4) + c->pcpu_offset };
}

/** Records that follow each other and are not given out. */
struct stretch {
	const uint8_t	*end;		/* behind the last one */
	const uint8_t	*last, *call;	/* the last one, the last call; NULL: there is none */
	uint32_t	next;		/* header of what stopped it, if its block did not end */
	uint64_t	n;
};

/** No id of an event, nor a part of one, whatever the file has. */
#define NO_EVENT	UINT32_MAX

static inline uint32_t event_if(bool is_wanted, uint32_t event)
{
	return is_wanted && event ? event : NO_EVENT;
}

/**
 * Pass records from @p up to one that is given out, or @end.
 * @tally: where they are counted; NULL: nowhere
 */
static inline struct stretch pass(const struct xentrace_quiet *quiet, const struct quiet_run *run,
				  const uint8_t *p, const uint8_t *end,
				  struct xentrace_tally *tally)
{
	const bool has_call = run->has_call && (!tally || tally->numbers);
	const uint32_t call = event_if(has_call, quiet->call);
	const uint32_t part = event_if(run->has_part, quiet->part);
	const uint32_t plain = event_if(run->has_plain, quiet->plain[0]);
	const uint32_t other_plain = event_if(run->has_plain, quiet->plain[1]);
	const uint64_t given = quiet->given;
	struct stretch s = { .end = p };

	for (; s.end < end; s.n++) {
		uint32_t header = load_u32(s.end), event = header & EVENT_MASK;
		uint32_t size = record_size(header);

		s.next = header;
		if (!(header & RECORD_HAS_TSC))
			break;
		if (event == call) {
			uint32_t number = load_u32(s.end + 12) & quiet->number;

			if (!record_words(header) || number >= XENTRACE_NUMBERS ||
			    given >> number & 1)
				break;
			s.call = s.end;
			if (tally) {
				tally->n_calls++;
				tally->call_bytes += size;
				tally->numbers[number]++;
			}
		} else if (event >> 12 == part) {
			if (quiet->loud_low >> (event & 31) & 1 && is_loud(quiet, s.end, header))
				break;
			if (tally) {
				tally->n_part++;
				tally->part_bytes += size;
			}
		} else if (event == plain || event == other_plain) {
			if (tally) {
				tally->n_plain++;
				tally->plain_bytes += size;
			}
		} else {
			break;
		}
		s.last = s.end;
		s.end += size;
	}
	return s;
}

/**
 * A record that is given out after all. The same call of skip_quiet() has counted it, so that the
 * caller has not set other counters since.
 */
static void uncount(const struct xentrace_quiet *quiet, struct xentrace_tally *tally,
		    const uint8_t *p)
{
	uint32_t header = load_u32(p);

	switch (kind_of(quiet, p, header)) {
	case PART:
		tally->n_part--;
		tally->part_bytes -= record_size(header);
		break;
	case PLAIN:
		tally->n_plain--;
		tally->plain_bytes -= record_size(header);
		break;
	default:
		tally->n_calls--;
		tally->call_bytes -= record_size(header);
		tally->numbers[word_at(p, header, 0) & quiet->number]--;
	}
}

/**
 * Pass records up to one that is given out, and mark that one, and those before it that are given
 * out as well.
 */
static void skip_quiet(struct xentrace_iter *iter, struct cursor *c, struct quiet_run *run)
{
	const uint8_t *begin = cursor_at(c), *end = (const uint8_t *)(c->base + c->easy_end);
	const struct xentrace_quiet *quiet = &iter->quiet;
	/* the compiler makes a loop for each of the two */
	struct stretch s = quiet->counts ? pass(quiet, run, begin, end, &run->tally) :
					   pass(quiet, run, begin, end, NULL);

	if (!s.last)
		return;
	add_mark(run, c, s.end, s.last);
	/* here, records may be missing */
	if (s.last != s.call &&
	    (s.end >= end || (s.next & EVENT_MASK) >> 16 == EVENT_WRAP_BUFFER >> 16))
		add_mark(run, c, s.last, s.last);
	if (s.call)
		add_mark(run, c, s.call, s.call);
	iter->n_passed += s.n - (run->n_marks - 1u);
	for (uint8_t i = 1; quiet->counts && i < run->n_marks; i++)
		uncount(quiet, &run->tally, (const uint8_t *)(c->base + run->marks[i].offset));
}

/** Does a record need the next one of its pCPU, whatever that is? */
static inline bool is_awaiting(const struct xentrace_quiet *quiet, uint32_t header)
{
	return !quiet->awaiting || (header & EVENT_MASK) >> 12 == quiet->awaiting;
}

/** The same as the step in xentrace_iter_next(), but records are only counted. */
static void iter_step_far(struct xentrace_iter *iter, struct cursor *c)
{
	struct quiet_run *run = &iter->quiet_runs[c - iter->cursors];
	uint32_t header = load_u32(cursor_at(c));
	enum kind kind = c->flags & XENTRACE_AFTER_GAP ? OTHER :
			 kind_of(&iter->quiet, cursor_at(c), header);
	bool is_awaited = kind == OTHER && is_awaiting(&iter->quiet, header);

	run->has_call = !is_awaited && ((kind != PART && kind != PLAIN) || run->has_call);
	run->has_part |= kind == PART;
	run->has_plain |= kind == PLAIN;
	if (!run->n_marks) {
		c->offset += record_size(header);
		if (!is_awaited && iter->n_passed < iter->skip_until)
			skip_quiet(iter, c, run);
	}
	if (run->n_marks) {
		const struct mark *mark = &run->marks[--run->n_marks];

		c->offset = mark->offset;
		c->tsc = mark->tsc;
	}
	iter_arrive(iter, c);
}

int xentrace_iter_skip(struct xentrace_iter *iter, const struct xentrace_quiet *quiet)
{
	/* all runs together are this far ahead at most: of each, a block of records with TSCs */
	uint64_t ahead = iter->n_cursors * (XENTRACE_BLOCK / 12);

	iter->quiet_runs = calloc((size_t)iter->n_cursors + 1, sizeof(*iter->quiet_runs));
	if (!iter->quiet_runs)
		return -ENOMEM;
	for (uint32_t i = 0; i < iter->n_cursors; i++)
		iter->quiet_runs[i].tally.pcpu = iter->cursors[i].pcpu;
	iter->quiet = *quiet;
	iter->skip_until = quiet->most > ahead ? quiet->most - ahead : 0;
	if (!quiet->most)
		iter->skip_until = UINT64_MAX;
	return 0;
}

struct xentrace_tally *xentrace_iter_tally(struct xentrace_iter *iter, uint32_t run)
{
	return &iter->quiet_runs[run].tally;
}

bool xentrace_iter_next(struct xentrace_iter *iter, struct xentrace_record *rec)
{
	struct cursor *c = iter->current;
	uint32_t header;

	if (c && iter->is_given) {
		iter_step_far(iter, c);
		c = iter->current;
	}
	if (!c)
		return false;
	header = record_at(c, rec);
	iter->n_passed++;
	iter->is_given = iter->quiet_runs;
	if (iter->is_given)
		return true;

	c->offset += record_size(header);
	iter_arrive(iter, c);
	return true;
}

uint64_t xentrace_iter_passed(const struct xentrace_iter *iter)
{
	return iter->n_passed;
}

int xentrace_iter_error(const struct xentrace_iter *iter)
{
	return iter->error;
}

void xentrace_iter_free(struct xentrace_iter *iter)
{
	if (!iter)
		return;
	xentrace_blocks_destroy(&iter->blocks);
	free(iter->cursors);
	free(iter->quiet_runs);
	free(iter->heap);
	free(iter);
}

/* ---- random access ---- */

/** The last segment that begins at or before an offset, or NULL. */
static const struct segment *find_segment(const struct xentrace *reader, uint64_t offset)
{
	size_t i;

	SEARCH_FIRST(i, 0, reader->n_segments, reader->segments[i].begin <= offset);
	return i ? &reader->segments[i - 1] : NULL;
}

/** What a record without TSC inherits: walk from the segment's beginning up to it. */
static int walk_up_to(const struct xentrace *reader, const struct segment *seg, struct cursor *c,
		      uint64_t offset)
{
	struct xentrace_blocks blocks;
	int ret;

	xentrace_blocks_init(&blocks, &reader->file);
	c->offset = seg->begin;
	c->end = seg->end;
	ret = 0;
	while (!ret && c->offset < offset) {
		uint32_t header;

		ret = cursor_read(&blocks, c);
		if (ret)
			break;
		header = load_u32(cursor_at(c));
		if ((header & EVENT_MASK) != EVENT_WRAP_BUFFER)
			cursor_take_tsc(reader, c, header);
		c->offset += record_size(header);
	}
	if (!ret && c->offset != offset)
		ret = -ENOENT;
	xentrace_blocks_destroy(&blocks);
	return ret;
}

int xentrace_read_at(const struct xentrace *reader, uint64_t offset,
		     struct xentrace_record *rec)
{
	const struct segment *seg = find_segment(reader, offset);
	uint8_t bytes[MAX_RECORD_SIZE + sizeof(rec->words)] = { 0 };
	struct cursor c = { 0 };
	uint64_t there;
	uint32_t header;
	int ret = 0;

	if (!seg || offset >= seg->end || seg->end - offset < 4)
		return -ENOENT;
	there = seg->end - offset < MAX_RECORD_SIZE ? seg->end - offset : MAX_RECORD_SIZE;
	if (xentrace_file_read(&reader->file, bytes, offset, there) != there)
		return -ESTALE;
	header = load_u32(bytes);
	if (record_size(header) > seg->end - offset)
		return -ENOENT;
	c.repairs = seg->flags & SEGMENT_REPAIRS;
	c.tsc = seg->tsc_before;
	if (!(header & RECORD_HAS_TSC))
		ret = walk_up_to(reader, seg, &c, offset);
	if (ret)
		return ret;
	c.offset = offset;
	c.base = (uintptr_t)bytes - offset;
	c.run = seg->run;
	c.pcpu = reader->runs[seg->run].pcpu;
	c.flags = offset == seg->begin && (seg->flags & SEGMENT_AFTER_GAP) ? XENTRACE_AFTER_GAP : 0;
	cursor_take_tsc(reader, &c, header);
	record_at(&c, rec);
	return 0;
}
