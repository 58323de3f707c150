/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xentrace_scan.h
 * @brief	State of the walk that builds the index, shared by its parts: xentrace_scan.c reads
 *		windows and records, xentrace_tsc.c judges TSCs, xentrace_index.c keeps the results,
 *		xentrace_parts.c puts those of several threads together.
 */
#ifndef KSHARK_VIRT_XENTRACE_SCAN_H
#define KSHARK_VIRT_XENTRACE_SCAN_H

#include "xentrace_private.h"

/** Class and subclass bits of an event id (xen/include/public/trace.h, TRC_CLS_SHIFT ...). */
#define CLASS_OF(header)	((header) >> 16 & 0xfff)
#define SUBCLASS_BITS		0xf000u

/** Two records this far apart (minutes) do not confirm each other after damage. */
#define TSC_NEAR		(1ULL << 40)

/** Records that are looked at, at most, to find two TSCs in order. */
#define CHAIN_RECORDS		16

/** TSCs kept per pCPU to separate outliers from jumps back. */
#define HISTORY			8

#define NO_RUN			UINT32_MAX

struct history {
	uint64_t	offset, tsc;
};

/** What is known of a pCPU during the walk. */
struct pcpu_state {
	struct xentrace_pcpu	total;
	uint32_t		run;		/* the current one, or NO_RUN */
	uint32_t		run_before;	/* the one that a jump back ended, or NO_RUN */
	uint64_t		last_tsc;
	uint64_t		run_records;	/* with a TSC; a lower bound above HISTORY */
	struct history		history[HISTORY]; /* ring of the run's last TSCs */
	uint64_t		n_history;	/* entries ever written in this run */
	uint64_t		recovered;	/* last record given the TSC before it, or 0 */
	uint64_t		gaps_seen;	/* of scan->gaps */
	uint64_t		round;		/* of its last window */
	bool			gap;		/* bytes were skipped since the last record */
	bool			first_waits;	/* the run has no TSC yet */
	int			index;		/* in the finished list */
};

/**
 * xentrace writes the windows of all pCPUs in turns, in ascending order, and none for a pCPU that
 * has nothing to say. So one without a window in a round had nothing to say before the end of the
 * round before.
 */
struct rounds {
	uint64_t	number;
	uint64_t	seen;		/* the highest TSC so far */
	uint64_t	last;		/* ... at the end of the round before this one */
	uint64_t	last_but_one;	/* ... and of the one before that */
	bool		broken;		/* this file has no such order */
};

struct scan {
	struct xentrace			*reader;
	const struct xentrace_options	*options;
	struct xentrace_blocks		*blocks;
	struct xentrace_block		*block;		/* looked at last */
	uint64_t			block_begin;
	uint64_t			size;
	bool				goes_on;	/* behind @size, there will be more */
	struct pcpu_state		**pcpus;	/* by number */
	int				n_pcpus;	/* length of that array */
	uint32_t			open;		/* segment being filled, or NO_SEGMENT */
	uint32_t			open_after;	/* the one before it in its run */
	uint64_t			gaps;		/* losses that may have hit any pCPU */
	size_t				room_segments, room_runs, room_repairs, room_problems;
	uint16_t			last_pcpu;	/* of the last window */
	struct rounds			rounds;
	uint64_t			next_progress;
	uint64_t			first;		/* where it began */
	unsigned int			n_parts;	/* that are walked through at once */
};

/** scan_look_at - look at the first @size bytes, as they are now. @blocks: empty */
void scan_look_at(struct scan *scan, struct xentrace_blocks *blocks, uint64_t size);

/** scan_step - read the window at an offset, or what is there instead. Return: where to go on. */
uint64_t scan_step(struct scan *scan, uint64_t offset, int *error);

/**
 * scan_windows - read windows from an offset on, until the next one begins at @end or later
 * @offset: receives where it begins
 *
 * Return: 0 or a negative errno.
 */
int scan_windows(struct scan *scan, uint64_t *offset, uint64_t end);

/**
 * scan_in_parts - read windows from an offset on, with @n_parts threads
 * @scan: goes to the end of the file
 *
 * Return: where scan_windows() has to go on; or anywhere, with a negative errno in @error.
 */
uint64_t scan_in_parts(struct scan *scan, uint64_t offset, unsigned int n_parts, int *error);

/** scan_turn - another block than the last one; zeros if it cannot be read. */
const uint8_t *scan_turn(struct scan *scan, uint64_t offset);

/** What is at an offset: XENTRACE_TAIL bytes at least, zeros behind the end. */
static inline const uint8_t *scan_at(struct scan *scan, uint64_t offset)
{
	if (offset - scan->block_begin < XENTRACE_BLOCK)
		return scan->block->data + (offset - scan->block_begin);
	return scan_turn(scan, offset);
}

static inline uint32_t scan_u32(struct scan *scan, uint64_t offset)
{
	return load_u32(scan_at(scan, offset));
}

static inline uint64_t scan_u64(struct scan *scan, uint64_t offset)
{
	return load_u64(scan_at(scan, offset));
}

/** Could this be the header of a record? */
static inline bool plausible(uint32_t header)
{
	uint32_t class = CLASS_OF(header);

	return class && !(class & (class - 1)) && (header & SUBCLASS_BITS);
}

static inline void remember_tsc(struct pcpu_state *cpu, uint64_t offset, uint64_t tsc)
{
	cpu->history[cpu->n_history++ % HISTORY] = (struct history){ offset, tsc };
	cpu->run_records++;
	cpu->last_tsc = tsc;
}

/** The @i-th last TSC of the run, 0 being the last. */
static inline struct history *history_at(struct pcpu_state *cpu, unsigned int i)
{
	return &cpu->history[(cpu->n_history - 1 - i) % HISTORY];
}

static inline unsigned int history_length(const struct pcpu_state *cpu)
{
	return cpu->n_history < HISTORY ? cpu->n_history : HISTORY;
}

/** scan_begin - a scan of what lies before @size; @blocks: to be destroyed. */
void scan_begin(struct scan *scan, struct xentrace *reader, struct xentrace_blocks *blocks,
		uint64_t size);

/** scan_find_window - the next usable window at or after an offset, or the end. */
uint64_t scan_find_window(struct scan *scan, uint64_t offset);

/* ---- xentrace_index.c; all return 0 or a negative errno where they return an int ---- */

int scan_add_problem(struct scan *scan, enum xentrace_problem_kind kind, uint16_t pcpu,
		     uint64_t offset, uint64_t bytes, uint64_t tsc);
int scan_add_repair(struct scan *scan, struct pcpu_state *cpu, uint64_t offset, uint64_t tsc);

/** scan_pcpu - the state of a pCPU, made at its first window. NULL without memory. */
struct pcpu_state *scan_pcpu(struct scan *scan, uint16_t number);
int scan_open_run(struct scan *scan, struct pcpu_state *cpu);
int scan_open_segment(struct scan *scan, struct pcpu_state *cpu, uint64_t begin);
void scan_close_segment(struct scan *scan, struct pcpu_state *cpu, uint64_t end);

/** scan_link_segment - append a segment to the chain of its run. */
void scan_link_segment(struct xentrace *reader, uint32_t index, uint32_t run_index);

/** scan_round - a window begins. @begin: of its records; @end: where they should end */
void scan_round(struct scan *scan, struct pcpu_state *cpu, uint64_t begin, uint64_t end);

/** scan_finish_index - the walk is over: complete the index. */
int scan_finish_index(struct scan *scan);

/** scan_finish_repairs - of all segments that are there: which have some */
void scan_finish_repairs(struct xentrace *reader);

/** scan_known_tsc - up to which TSC everything is known of a pCPU */
uint64_t scan_known_tsc(const struct scan *scan, const struct pcpu_state *cpu);
void scan_free(struct scan *scan);

/* ---- xentrace_tsc.c ---- */

/** scan_odd_tsc - a TSC that does not simply follow the one before. @limit: end of the window */
int scan_odd_tsc(struct scan *scan, struct pcpu_state *cpu, uint64_t offset, uint64_t limit,
		 uint64_t tsc);

/** scan_check_short_run - before a window's first record: was the pCPU's last run a mistake? */
int scan_check_short_run(struct scan *scan, struct pcpu_state *cpu, uint64_t offset,
			 uint64_t limit);

/** scan_finish_last_tsc - the pCPU is complete: is its last TSC to be believed? */
int scan_finish_last_tsc(struct scan *scan, struct pcpu_state *cpu);

#endif
