// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_scan.c
 * @brief	Build the index of a xentrace file in one walk, around damaged places.
 *
 * A window's declared end is trusted if the file ends there or another window begins there;
 * otherwise it is a hint. A header word is plausible if its event id has one class and a subclass.
 * After something implausible, the walk goes on at the next place from which either a window or a
 * chain of records with TSCs in order can be read; it does not guess at the bytes in between.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "block_pipe.h"
#include "xentrace_facts.h"
#include "xentrace_scan.h"

/** Bytes searched for a window's header word at a time. */
#define PIECE			4096

#define PROGRESS_BYTES		(16 << 20)

/** Bytes that are worth a thread, and how many threads there are at most. */
#define PART_BYTES		(4 << 20)
#define MOST_PARTS		8

/** The beginning of no block. */
#define NOWHERE			(UINT64_C(1) << 63)

void scan_look_at(struct scan *scan, struct xentrace_blocks *blocks, uint64_t size)
{
	scan->blocks = blocks;
	scan->block = NULL;
	scan->block_begin = NOWHERE;
	scan->size = size;
}

const uint8_t *scan_turn(struct scan *scan, uint64_t offset)
{
	static const uint8_t nothing[XENTRACE_TAIL];
	struct xentrace_block *block = xentrace_blocks_get(scan->blocks, offset);

	/* no record and no window looks like this: the walk ends, and returns the error */
	if (!block)
		return nothing;
	xentrace_blocks_put(scan->blocks, scan->block);
	scan->block = block;
	scan->block_begin = block->number * XENTRACE_BLOCK;
	return block->data + (offset - scan->block_begin);
}

/* ---- windows ---- */

static inline bool window_word_at(struct scan *scan, uint64_t offset)
{
	return scan->size - offset >= 4 && scan_u32(scan, offset) == WINDOW_HEADER;
}

/** Is this the end of a window: the end of the file, or the header of the next one? */
static bool window_ends_at(struct scan *scan, uint64_t offset)
{
	return offset == scan->size ||
	       (offset < scan->size && window_word_at(scan, offset));
}

/**
 * Do records follow each other from here to @limit? True after CHAIN_RECORDS of them, after two
 * TSCs that confirm each other and @after, or at the limit or a window. With @open_end the limit
 * may lie inside a record.
 */
static bool chain_from(struct scan *scan, uint64_t offset, uint64_t limit, uint64_t after,
		       bool open_end)
{
	unsigned int records = 0, tscs = 0, tscs_needed = after ? 2 : 3;
	uint64_t last = after;

	for (; records < CHAIN_RECORDS && tscs < tscs_needed; records++) {
		uint32_t header;

		if (records && (offset == limit || window_word_at(scan, offset)))
			return true;
		if (limit - offset < 4)
			return open_end;
		header = scan_u32(scan, offset);
		if (!plausible(header))
			return false;
		if (record_size(header) > limit - offset)
			return open_end;
		if (header & RECORD_HAS_TSC) {
			uint64_t tsc = scan_u64(scan, offset + 4);

			if (last && (tsc < last || tsc - last > TSC_NEAR))
				return false;
			last = tsc;
			tscs++;
		}
		offset += record_size(header);
	}
	return true;
}

/** Does a usable window begin here? */
static bool window_at(struct scan *scan, uint64_t offset)
{
	uint64_t begin = offset + WINDOW_HEADER_SIZE, end;

	if (!window_word_at(scan, offset) || scan->size - offset < WINDOW_HEADER_SIZE ||
	    scan_u32(scan, offset + 4) > XENTRACE_MAX_PCPU)
		return false;
	end = begin + scan_u32(scan, offset + 8);
	return window_ends_at(scan, end) ||
	       (end < scan->size && chain_from(scan, begin, end, 0, false)) ||
	       chain_from(scan, begin, scan->size, 0, true);
}

/** A window whose header word alone is damaged: pCPU and size make sense. */
static bool broken_window_at(struct scan *scan, uint64_t offset)
{
	uint32_t bytes;

	if (scan->size - offset < WINDOW_HEADER_SIZE)
		return false;
	bytes = scan_u32(scan, offset + 8);
	return scan_u32(scan, offset + 4) <= XENTRACE_MAX_PCPU && bytes &&
	       window_ends_at(scan, offset + WINDOW_HEADER_SIZE + bytes) &&
	       chain_from(scan, offset + WINDOW_HEADER_SIZE,
			  offset + WINDOW_HEADER_SIZE + bytes, 0, false);
}

uint64_t scan_find_window(struct scan *scan, uint64_t offset)
{
	static const uint8_t word[4] = { 0x03, 0xf0, 0x01, 0x20 };	/* WINDOW_HEADER */

	while (offset < scan->size && !scan->blocks->error) {
		/* in pieces: sanitizers look at all that memmem() might */
		const uint8_t *p = scan_at(scan, offset), *found;
		uint64_t piece = XENTRACE_BLOCK - offset % XENTRACE_BLOCK;

		if (scan->blocks->error)
			break;
		if (piece > PIECE)
			piece = PIECE;
		/* a word that begins in the block is there as a whole */
		found = memmem(p, piece + sizeof(word) - 1, word, sizeof(word));
		if (!found) {
			offset += piece;
			continue;
		}
		offset += found - p;
		if (window_at(scan, offset))
			return offset;
		offset++;
	}
	return scan->size;
}

/* ---- records ---- */

/** Why a walk through records stopped. */
enum stop {
	STOP_END,	/* at the limit */
	STOP_WINDOW,	/* at a window header */
	STOP_GARBAGE,
	STOP_CROSSES,	/* a plausible record reaches beyond the limit */
	STOP_ERROR,
};

/** An ordinary record: with a TSC, and of no event that belongs to the file format. */
static inline bool ordinary(uint32_t header)
{
	return (header & RECORD_HAS_TSC) && plausible(header) &&
	       (header & SUBCLASS_BITS) != SUBCLASS_BITS;
}

/**
 * Pass ordinary records with TSCs in order, as nearly all are, up to the end of the block at most.
 * Return: where something else is, or might be.
 */
static uint64_t pass_ordinary(struct scan *scan, struct pcpu_state *cpu, uint64_t begin,
			      uint64_t limit, uint64_t *records)
{
	const uint8_t *start = scan_at(scan, begin), *p = start, *last[HISTORY];
	uint64_t block_end = scan->block_begin + XENTRACE_BLOCK, end = whole_before(limit);
	uint64_t tsc = cpu->last_tsc, n = 0;

	if (scan->blocks->error || cpu->first_waits || cpu->run_records <= 1)
		return begin;
	if (end > block_end)
		end = block_end;
	for (uint64_t left = end > begin ? end - begin : 0; (uint64_t)(p - start) < left; n++) {
		uint32_t header = load_u32(p);
		uint64_t next = load_u64(p + 4);

		if (!ordinary(header) || next < tsc)
			break;
		tsc = next;
		last[n % HISTORY] = p;
		p += record_size(header);
	}
	for (uint64_t i = n > HISTORY ? n - HISTORY : 0; i < n; i++) {
		const uint8_t *at = last[i % HISTORY];

		remember_tsc(cpu, begin + (at - start), load_u64(at + 4));
	}
	*records += n;
	return begin + (p - start);
}

/** Walk through good records from @begin; @end receives where it stopped. */
static enum stop walk(struct scan *scan, struct pcpu_state *cpu, uint64_t begin, uint64_t limit,
		      uint64_t *end, int *error)
{
	uint64_t offset = begin;
	uint64_t records = 0;
	enum stop stop = STOP_END;

	*error = scan_open_segment(scan, cpu, begin);
	while (!*error) {
		const uint8_t *p;
		uint32_t header;
		unsigned int size;

		offset = pass_ordinary(scan, cpu, offset, limit, &records);
		if (offset == limit)
			break;
		p = scan_at(scan, offset);
		stop = STOP_CROSSES;
		if (limit - offset < 4)
			break;
		stop = STOP_GARBAGE;
		header = load_u32(p);
		if (!plausible(header))
			break;
		if ((header & SUBCLASS_BITS) == SUBCLASS_BITS &&
		    (header & EVENT_MASK) == EVENT_CPU_CHANGE) {
			if (window_at(scan, offset))
				stop = STOP_WINDOW;
			break;
		}
		size = record_size(header);
		if (size > limit - offset) {
			stop = STOP_CROSSES;
			break;
		}
		if ((header & EVENT_MASK) != EVENT_WRAP_BUFFER) {
			if (header & RECORD_HAS_TSC) {
				uint64_t tsc = load_u64(p + 4);

				if (cpu->first_waits || tsc < cpu->last_tsc ||
				    cpu->run_records == 1)
					*error = scan_odd_tsc(scan, cpu, offset, limit, tsc);
				else
					remember_tsc(cpu, offset, tsc);
			}
			records++;
		} else if (offset == scan->reader->segments[scan->open].begin) {
			scan->reader->segments[scan->open].begin += size;
		}
		offset += size;
		stop = STOP_END;
	}
	scan_close_segment(scan, cpu, offset);
	cpu->total.n_records += records;
	cpu->total.n_bytes += offset - begin;
	*end = offset;
	return *error ? STOP_ERROR : stop;
}

/** After damage at @offset: where records of this window (below @limit) or a window go on. */
static uint64_t resume_at(struct scan *scan, struct pcpu_state *cpu, uint64_t offset,
			  uint64_t limit, bool *in_window)
{
	unsigned int length = history_length(cpu);
	/* not the very last one, which may be the damage itself */
	uint64_t after = length > 2 ? history_at(cpu, 2)->tsc : 0;

	for (offset++; offset < limit && !scan->blocks->error; offset++) {
		if (window_word_at(scan, offset) && window_at(scan, offset))
			break;
		if (chain_from(scan, offset, limit, after, false)) {
			*in_window = true;
			return offset;
		}
	}
	*in_window = false;
	return offset < limit ? offset : scan_find_window(scan, offset);
}

/** What there is ends inside this window; @at: where the last good record ended. */
static int end_of_file(struct scan *scan, struct pcpu_state *cpu, uint64_t at)
{
	return scan_add_problem(scan, scan->goes_on ? XENTRACE_BAD_WINDOW : XENTRACE_TRUNCATED,
				cpu->total.pcpu, at, scan->size - at, cpu->last_tsc);
}

/**
 * Read the window whose records begin at @begin and should end at @declared.
 * Return: where the next window is expected, or a negative errno in @error.
 */
static uint64_t read_window(struct scan *scan, struct pcpu_state *cpu, uint64_t begin,
			    uint64_t declared, int *error)
{
	bool trusted = window_ends_at(scan, declared);
	uint64_t limit = trusted ? declared : scan->size;
	uint64_t garbage_limit = declared < scan->size ? declared : scan->size;
	uint64_t at = begin, next;
	bool in_window;
	enum stop stop;

	*error = scan_check_short_run(scan, cpu, begin, limit);
	for (; !*error; at = next) {
		enum xentrace_problem_kind kind = XENTRACE_GARBAGE;

		/* a declared end that is no window: stop there if a broken header follows */
		if (!trusted && at <= declared && declared < scan->size &&
		    broken_window_at(scan, declared))
			limit = declared;
		stop = walk(scan, cpu, at, limit, &at, error);
		if (stop == STOP_ERROR || (stop == STOP_END && limit < scan->size))
			break;
		/* complete; what comes behind it is no longer this window's business */
		if (at == declared && (stop == STOP_GARBAGE || stop == STOP_CROSSES))
			break;
		if (stop == STOP_WINDOW || stop == STOP_END) {
			/* other windows may have been where this one should have gone on */
			if (at < declared && at < scan->size)
				scan->gaps++;
			if (declared > scan->size && at == scan->size)
				*error = end_of_file(scan, cpu, at);
			else if (at != declared)
				*error = scan_add_problem(scan, XENTRACE_BAD_WINDOW,
							  cpu->total.pcpu,
							  begin - WINDOW_HEADER_SIZE, 0,
							  cpu->last_tsc);
			break;
		}
		cpu->gap = true;
		if (stop == STOP_CROSSES && limit == scan->size && declared >= scan->size) {
			*error = end_of_file(scan, cpu, at);
			return scan->size;
		}
		if (stop == STOP_CROSSES)
			kind = XENTRACE_CROSSES_WINDOW;
		next = resume_at(scan, cpu, at, at < garbage_limit ? garbage_limit : at,
				 &in_window);
		*error = scan_add_problem(scan, kind, cpu->total.pcpu, at, next - at,
					  cpu->last_tsc);
		if (in_window)
			continue;
		/* the owner of the bytes after the window is unknown */
		if (next != declared)
			scan->gaps++;
		return next;
	}
	return at;
}

/** Report to the caller how far it is; other threads are about as far in their parts. */
static int progress(struct scan *scan, uint64_t offset)
{
	const struct xentrace_options *options = scan->options;
	uint64_t done = scan->first + (offset - scan->first) * scan->n_parts;

	if (done < scan->next_progress)
		return 0;
	scan->next_progress = done + PROGRESS_BYTES;
	if (options && options->progress &&
	    options->progress(options->progress_arg, done < scan->size ? done : scan->size,
			      scan->size))
		return -ECANCELED;
	return 0;
}

/** Something else than a usable window header at @offset. Return: where to go on. */
static uint64_t bad_header(struct scan *scan, uint64_t offset, int *error)
{
	bool word = window_word_at(scan, offset);
	uint64_t next = scan->size;

	if (word && scan->size - offset >= WINDOW_HEADER_SIZE)
		next = offset + WINDOW_HEADER_SIZE + scan_u32(scan, offset + 8);
	/* otherwise only the pCPU number is impossible */
	if (!word || next > scan->size || !window_ends_at(scan, next))
		next = scan_find_window(scan, offset + 1);
	/* of a window that the end of the file cuts, no record is lost but those behind the end */
	if (next == scan->size && scan->size - offset < WINDOW_HEADER_SIZE && !scan->goes_on) {
		*error = scan_add_problem(scan, XENTRACE_TRUNCATED, scan->last_pcpu, offset,
					  next - offset, 0);
		return next;
	}
	scan->gaps++;
	*error = scan_add_problem(scan, word ? XENTRACE_BAD_WINDOW : XENTRACE_GARBAGE,
				  scan->last_pcpu, offset, next - offset, 0);
	return next;
}

uint64_t scan_step(struct scan *scan, uint64_t offset, int *error)
{
	bool good = window_at(scan, offset);
	struct pcpu_state *cpu;
	uint64_t begin, end;

	if (!good && !broken_window_at(scan, offset))
		return bad_header(scan, offset, error);
	begin = offset + WINDOW_HEADER_SIZE;
	end = begin + scan_u32(scan, offset + 8);
	cpu = scan_pcpu(scan, scan_u32(scan, offset + 4));
	if (!cpu) {
		*error = -ENOMEM;
		return offset;
	}
	scan_round(scan, cpu, begin, end);
	scan->last_pcpu = cpu->total.pcpu;
	scan->reader->n_windows++;
	if (!good)
		*error = scan_add_problem(scan, XENTRACE_BAD_WINDOW, scan->last_pcpu, offset, 0,
					  cpu->last_tsc);
	if (!*error && cpu->run == NO_RUN)
		*error = scan_open_run(scan, cpu);
	if (!*error)
		offset = read_window(scan, cpu, begin, end, error);
	if (cpu->last_tsc > scan->rounds.seen)
		scan->rounds.seen = cpu->last_tsc;
	return offset;
}

int scan_windows(struct scan *scan, uint64_t *offset, uint64_t end)
{
	int ret = 0;

	while (!ret && *offset < end) {
		*offset = scan_step(scan, *offset, &ret);
		if (!ret)
			ret = progress(scan, *offset);
	}
	return ret;
}

void scan_begin(struct scan *scan, struct xentrace *reader, struct xentrace_blocks *blocks,
		uint64_t size)
{
	*scan = (struct scan){
		.reader = reader, .open = NO_SEGMENT, .next_progress = PROGRESS_BYTES,
		.n_parts = 1,
	};
	xentrace_blocks_init(blocks, &reader->file);
	scan_look_at(scan, blocks, size);
}

/** Where a part of the file ends, with a window as a whole. */
static uint64_t end_of_range(struct scan *scan, uint64_t end)
{
	return end < scan->size ? scan_find_window(scan, end) : scan->size;
}

/** How many threads walk through it, with this one. */
static unsigned int count_parts(const struct scan *scan, uint64_t begin)
{
	uint64_t most = scan->size > begin ? (scan->size - begin) / PART_BYTES : 0;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (most > MOST_PARTS)
		most = MOST_PARTS;
	if (cores > 0 && most > (uint64_t)cores)
		most = (uint64_t)cores;
	return most > 1 && block_pipe_pays() ? (unsigned int)most : 1;
}

int xentrace_scan_in_parts(struct xentrace *reader, const struct xentrace_options *options,
			   const struct xentrace_range *range, unsigned int n_parts)
{
	uint64_t offset = range ? range->begin : 0;
	struct xentrace_blocks blocks;
	struct scan scan;
	int ret = 0;

	scan_begin(&scan, reader, &blocks, reader->file.size);
	scan.options = options;
	if (range)
		scan.size = end_of_range(&scan, range->end);
	scan.goes_on = scan.size < reader->file.size;
	if (!n_parts)
		n_parts = count_parts(&scan, offset);
	/* otherwise it matters in which order the windows of pCPUs come, part after part */
	if (n_parts > 1 && offset < scan.size && !scan.goes_on && !reader->file.cut_short)
		offset = scan_in_parts(&scan, offset, n_parts, &ret);
	if (!ret)
		ret = scan_windows(&scan, &offset, scan.size);
	if (!ret && reader->file.cut_short && scan.size == reader->file.size &&
	    !reader->problem_count[XENTRACE_TRUNCATED])
		ret = scan_add_problem(&scan, XENTRACE_TRUNCATED, scan.last_pcpu, scan.size, 0, 0);
	if (!ret)
		ret = scan_finish_index(&scan);
	if (!ret)
		ret = blocks.error;
	scan_free(&scan);
	xentrace_blocks_destroy(&blocks);
	return ret;
}

int xentrace_scan(struct xentrace *reader, const struct xentrace_options *options,
		  const struct xentrace_range *range)
{
	return xentrace_scan_in_parts(reader, options, range, 0);
}

/** The part of xentrace_looks_right() that walks. */
static bool looks_right(struct scan *scan)
{
	if (scan->size < WINDOW_HEADER_SIZE)
		return scan->size >= 4 && window_word_at(scan, 0);
	if (window_word_at(scan, 0))
		return chain_from(scan, WINDOW_HEADER_SIZE, scan->size, 0, true);
	for (uint64_t offset = 1; offset + 128 < scan->size; offset++)
		if (window_word_at(scan, offset) &&
		    scan_u32(scan, offset + 4) <= XENTRACE_MAX_PCPU &&
		    chain_from(scan, offset + WINDOW_HEADER_SIZE, scan->size, 0, true))
			return true;
	return false;
}

bool xentrace_looks_right(const uint8_t *data, size_t size)
{
	const struct xentrace_file file = { .memory = data, .fd = -1, .size = size };
	struct xentrace_blocks blocks;
	struct scan scan = { .blocks = &blocks, .block_begin = NOWHERE, .size = size };
	bool right;

	xentrace_blocks_init(&blocks, &file);
	right = looks_right(&scan);
	xentrace_blocks_destroy(&blocks);
	return right;
}
