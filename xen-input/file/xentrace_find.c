// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_find.c
 * @brief	Find a window of time in a large file, without reading all of it.
 *
 * xentrace writes the windows of all pCPUs in turns: the first TSCs of windows rise from one turn
 * to the next. Within a turn, they differ by no more than the time of a turn. So a binary search
 * with a margin finds them; after the end, the margin is checked turn by turn.
 */
#include <errno.h>

#include "xentrace_facts.h"
#include "xentrace_scan.h"

/** Halves are made until they are no longer than this. */
#define NEAR_BYTES	(64 << 10)

/** What is read before the window at least, to find which vCPU is where. */
#define LOOK_BACK_BYTES	(4 << 20)

/** The end of a file is looked for so far from it. */
#define TAIL_BYTES	(4 << 20)

/** Turns behind the window that are looked through at most. */
#define MOST_BYTES	(256 << 20)

/** Where a file is being looked at. */
struct finder {
	struct xentrace_blocks	blocks;
	struct scan		scan;
	uint64_t		size;
};

static void finder_begin(struct finder *finder, const struct xentrace *reader)
{
	/* it looks, and leaves no index */
	scan_begin(&finder->scan, (struct xentrace *)reader, &finder->blocks, reader->file.size);
	finder->size = reader->file.size;
}

static int finder_end(struct finder *finder)
{
	int ret = finder->blocks.error;

	xentrace_blocks_destroy(&finder->blocks);
	return ret;
}

/** The next window that has a record with a TSC. */
struct found {
	uint64_t	offset, end;	/* of the window */
	uint64_t	tsc;		/* of that record */
	uint32_t	pcpu;
};

/** Return: false at the end of the file. */
static bool next_window(struct finder *finder, uint64_t offset, struct found *found)
{
	struct scan *scan = &finder->scan;

	for (offset = scan_find_window(scan, offset); offset < finder->size;
	     offset = scan_find_window(scan, found->end)) {
		uint64_t at = offset + WINDOW_HEADER_SIZE;

		*found = (struct found){
			.offset = offset, .pcpu = scan_u32(scan, offset + 4),
			.end = at + scan_u32(scan, offset + 8),
		};
		if (found->end > finder->size)
			found->end = finder->size;
		for (uint32_t header; at + 12 <= found->end; at += record_size(header)) {
			header = scan_u32(scan, at);
			if (!plausible(header))
				break;
			if (!(header & RECORD_HAS_TSC) ||
			    (header & EVENT_MASK) == EVENT_WRAP_BUFFER)
				continue;
			found->tsc = scan_u64(scan, at + 4);
			return true;
		}
	}
	return false;
}

/**
 * Where windows begin to have TSCs from @tsc on.
 * @low: an offset before, of whose window that is not so; @high: one behind, or the file's end
 */
static void halve(struct finder *finder, uint64_t tsc, uint64_t *low, uint64_t *high)
{
	*low = 0;
	*high = finder->size;
	while (*high - *low > NEAR_BYTES && !finder->blocks.error) {
		uint64_t middle = *low + (*high - *low) / 2;
		struct found found;

		if (!next_window(finder, middle, &found) || found.tsc >= tsc)
			*high = middle;
		else
			*low = middle;
	}
}

/** From a window on to @end, one turn of all pCPUs. Return: does it have a TSC before @tsc? */
static bool turn_is_early(struct finder *finder, uint64_t offset, uint64_t tsc, uint64_t *end)
{
	bool early = false, wrapped = false;
	struct found found;
	uint32_t last = 0;

	*end = offset;
	while (next_window(finder, *end, &found) && found.offset - offset < MOST_BYTES) {
		if (found.pcpu <= last && found.offset != offset) {
			if (wrapped)
				break;
			wrapped = true;
		}
		last = found.pcpu;
		early |= found.tsc < tsc;
		*end = found.end;
	}
	return early;
}

int xentrace_find(const struct xentrace *reader, uint64_t from_tsc, uint64_t to_tsc,
		  uint64_t margin, struct xentrace_range *range)
{
	uint64_t low, high, end;
	struct finder finder;

	finder_begin(&finder, reader);
	halve(&finder, from_tsc < margin ? 0 : from_tsc - margin, &low, &high);
	range->begin = low;
	halve(&finder, from_tsc, &low, &high);
	if (low < LOOK_BACK_BYTES)
		range->begin = 0;
	else if (range->begin > low - LOOK_BACK_BYTES)
		range->begin = low - LOOK_BACK_BYTES;
	range->begin = scan_find_window(&finder.scan, range->begin);
	halve(&finder, to_tsc > UINT64_MAX - margin ? UINT64_MAX : to_tsc + margin, &low, &high);
	range->end = high < finder.size ? scan_find_window(&finder.scan, high) : finder.size;
	/* a turn may take longer than the margin */
	while (range->end < finder.size && !finder.blocks.error &&
	       range->end - high < MOST_BYTES &&
	       turn_is_early(&finder, range->end, to_tsc, &end))
		range->end = end;
	return finder_end(&finder);
}

int xentrace_index(struct xentrace *reader, const struct xentrace_range *range)
{
	int ret;

	xentrace_forget(reader);
	ret = xentrace_scan(reader, NULL, range);
	return ret || reader->n_records ? ret : -ENODATA;
}

int xentrace_last_of_file(const struct xentrace *reader, uint64_t *tsc)
{
	struct xentrace tail = { .file = reader->file };
	uint64_t size = reader->file.size;
	struct finder finder;
	struct xentrace_range range = { .end = size };
	int ret;

	finder_begin(&finder, &tail);
	range.begin = scan_find_window(&finder.scan, size > TAIL_BYTES ? size - TAIL_BYTES : 0);
	ret = finder_end(&finder);
	if (!ret)
		ret = xentrace_scan(&tail, NULL, &range);
	if (!ret && !tail.n_records)
		ret = -ENODATA;
	*tsc = ret ? 0 : xentrace_last_tsc(&tail);
	tail.file = (struct xentrace_file){ .fd = -1 };
	xentrace_forget(&tail);
	return ret;
}
