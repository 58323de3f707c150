/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xentrace_private.h
 * @brief	Inside the reader: the record format and the index, which xentrace_reader.c and
 *		xentrace_scan.c share.
 */
#ifndef KSHARK_VIRT_XENTRACE_PRIVATE_H
#define KSHARK_VIRT_XENTRACE_PRIVATE_H

#include <string.h>

#include "xentrace_file.h"
#include "xentrace_reader.h"

/* Header word of a record: xen/include/public/trace.h, struct t_rec. */
#define EVENT_MASK		0x0fffffffu
#define RECORD_HAS_TSC		0x80000000u

/* Events that belong to the file format itself (their rows in xen_events.def are for listings). */
#define EVENT_WRAP_BUFFER	0x0001f002u	/* TRC_TRACE_WRAP_BUFFER */
#define EVENT_CPU_CHANGE	0x0001f003u	/* TRC_TRACE_CPU_CHANGE */

/** Header word of a window: TRC_TRACE_CPU_CHANGE with two payload words, no TSC. */
#define WINDOW_HEADER		(2u << 28 | EVENT_CPU_CHANGE)
#define WINDOW_HEADER_SIZE	12

static inline uint32_t load_u32(const uint8_t *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return le32toh(word);
}

static inline uint64_t load_u64(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word);
}

static inline unsigned int record_words(uint32_t header)
{
	return header >> 28 & XENTRACE_MAX_WORDS;
}

static inline unsigned int record_size(uint32_t header)
{
	return 4 + 4 * record_words(header) + (header >> 31) * 8;
}

/** The longest record: header, TSC and payload. */
#define MAX_RECORD_SIZE		((uint64_t)(12 + 4 * XENTRACE_MAX_WORDS))

/** What begins before this offset cannot reach beyond @end, whatever it is. */
static inline uint64_t whole_before(uint64_t end)
{
	return end < MAX_RECORD_SIZE ? 0 : end - MAX_RECORD_SIZE + 1;
}

#define NO_SEGMENT		UINT32_MAX

#define SEGMENT_AFTER_GAP	(1 << 0)	/* bytes of this pCPU are missing before it */
#define SEGMENT_REPAIRS		(1 << 1)	/* some of its TSCs are in the list of repairs */

/** A range of good records of one run, [begin, end), in file order. */
struct segment {
	uint64_t	begin, end;
	uint64_t	tsc_before;	/* what a first record without TSC inherits */
	uint32_t	run;
	uint32_t	next;		/* segment of the same run, or NO_SEGMENT */
	uint32_t	flags;
};

/** A stretch of one pCPU's time in which the TSC never goes back. */
struct run {
	uint64_t	first_tsc, last_tsc;
	uint32_t	first_segment, last_segment;
	uint16_t	pcpu;
};

/** A TSC that was replaced. */
struct repair {
	uint64_t	offset;		/* of the record */
	uint64_t	tsc;
	uint64_t	order;		/* of being found; of two repairs the later one counts */
};

struct xentrace {
	struct xentrace_file	file;
	char			*name;		/* for texts; NULL: memory */
	struct segment		*segments;
	uint32_t		n_segments;
	struct run		*runs;
	uint32_t		n_runs;
	struct xentrace_pcpu	*pcpus;		/* ascending */
	int			n_pcpus;
	struct repair		*repairs;	/* ascending by offset */
	size_t			n_repairs;
	uint64_t		n_records;
	uint64_t		n_windows;
	uint64_t		whole_tsc;	/* highest one of the first turn; 0: there is one */
	bool			whole_is_given;
	uint64_t		skipped_bytes;
	struct xentrace_problem	*problems;
	int			n_problems;
	uint64_t		problem_count[XENTRACE_N_PROBLEM_KINDS];
};

struct xentrace_range;

/**
 * xentrace_scan - build the index of a file
 * @range: of this part of it; NULL: all
 *
 * Return: 0 or a negative errno.
 */
int xentrace_scan(struct xentrace *reader, const struct xentrace_options *options,
		  const struct xentrace_range *range);

/**
 * xentrace_scan_in_parts - the same, with this many threads
 * @n_parts: 0: as many as pay
 *
 * The index does not depend on their number.
 */
int xentrace_scan_in_parts(struct xentrace *reader, const struct xentrace_options *options,
			   const struct xentrace_range *range, unsigned int n_parts);

/** xentrace_forget - there is no index any more. */
void xentrace_forget(struct xentrace *reader);

/** xentrace_looks_right - could these be the first bytes of a xentrace file? */
bool xentrace_looks_right(const uint8_t *data, size_t size);

/** xentrace_find_repair - the repair of the record at an offset, or NULL. */
const struct repair *xentrace_find_repair(const struct xentrace *reader, uint64_t offset);

#endif
