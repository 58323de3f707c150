// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_scan.c
 * @brief	Build the index of a xentrace file in one walk, around whatever is damaged.
 *
 * A window's declared end is trusted if the file ends there or another window begins there;
 * otherwise it is a hint. A header word is plausible if its event id has one class and a subclass.
 * After something implausible, the walk goes on at the next place from which either a window or a
 * chain of records with TSCs in order can be read; nothing that lies in between is guessed at.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "xentrace_private.h"

/** Class and subclass bits of an event id (xen/include/public/trace.h, TRC_CLS_SHIFT ...). */
#define CLASS_OF(header)	((header) >> 16 & 0xfff)
#define SUBCLASS_BITS		0xf000u
#define CLASS_GEN_BITS		0x0001f000u

/** A jump of a pCPU's TSC that only damage explains: 2^46 cycles are 6 to 20 hours. */
#define TSC_JUMP		(1ULL << 46)

/** Two records this far apart (minutes) do not confirm each other after damage. */
#define TSC_NEAR		(1ULL << 40)

/** TSCs kept per pCPU to tell an outlier from a jump back. */
#define HISTORY			8

/** How far to look ahead for the TSC to recover. */
#define LOOK_AHEAD		4

/** Records to read before a place counts as the beginning of good ones, if no TSCs tell. */
#define CHAIN_RECORDS		16

/** Bytes searched for a window's header word at a time. */
#define PIECE			4096

#define PROGRESS_BYTES		(16 << 20)
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
	uint64_t		run_records;	/* with a TSC */
	struct history		history[HISTORY]; /* ring of the run's last TSCs */
	uint64_t		n_history;	/* entries ever written in this run */
	uint64_t		recovered;	/* last record given the TSC before it, or 0 */
	uint64_t		gaps_seen;	/* of scan->gaps */
	bool			gap;		/* bytes were skipped since the last record */
	bool			first_waits;	/* the run has no TSC yet */
	int			index;		/* in the finished list */
};

struct scan {
	struct xentrace			*reader;
	const struct xentrace_options	*options;
	const uint8_t			*data;
	uint64_t			size;
	struct pcpu_state		**pcpus;	/* by number */
	int				n_pcpus;	/* length of that array */
	uint32_t			open;		/* segment being filled, or NO_SEGMENT */
	uint32_t			open_after;	/* the one before it in its run */
	uint64_t			gaps;		/* losses that may have hit any pCPU */
	size_t				room_segments, room_runs, room_repairs, room_problems;
	uint16_t			last_pcpu;	/* for problems between windows */
	uint64_t			next_progress;
	uint64_t			dropped;
};

/** Make room for one more element. Return: the (moved) array or NULL. */
static void *grow(void *array, size_t n, size_t *room, size_t element)
{
	size_t more = *room ? *room * 2 : 64;
	void *moved;

	if (n < *room)
		return array;
	moved = realloc(array, more * element);
	if (moved)
		*room = more;
	return moved;
}

static inline bool plausible(uint32_t header)
{
	uint32_t class = CLASS_OF(header);

	return class && !(class & (class - 1)) && (header & SUBCLASS_BITS);
}

static int add_problem(struct scan *scan, enum xentrace_problem_kind kind, uint16_t pcpu,
		       uint64_t offset, uint64_t bytes, uint64_t tsc)
{
	struct xentrace *reader = scan->reader;
	struct xentrace_problem *problems;

	reader->problem_count[kind]++;
	reader->skipped_bytes += bytes;
	if (reader->n_problems >= XENTRACE_MAX_PROBLEMS)
		return 0;
	problems = grow(reader->problems, reader->n_problems, &scan->room_problems,
			sizeof(*problems));
	if (!problems)
		return -ENOMEM;
	reader->problems = problems;
	problems[reader->n_problems++] = (struct xentrace_problem){
		.kind = kind, .pcpu = pcpu, .offset = offset, .bytes = bytes, .tsc = tsc,
	};
	return 0;
}

/* ---- windows ---- */

static inline bool window_word_at(const struct scan *scan, uint64_t offset)
{
	return scan->size - offset >= 4 && load_u32(scan->data + offset) == WINDOW_HEADER;
}

/** Is this the end of a window: the end of the file, or the header of the next one? */
static bool window_ends_at(const struct scan *scan, uint64_t offset)
{
	return offset == scan->size ||
	       (offset < scan->size && window_word_at(scan, offset));
}

/**
 * Do records follow each other from here to @limit? True after CHAIN_RECORDS of them, after two
 * TSCs that confirm each other and @after, or at the limit or a window. With @open_end the limit
 * may lie inside a record.
 */
static bool chain_from(const struct scan *scan, uint64_t offset, uint64_t limit, uint64_t after,
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
		header = load_u32(scan->data + offset);
		if (!plausible(header))
			return false;
		if (record_size(header) > limit - offset)
			return open_end;
		if (header & RECORD_HAS_TSC) {
			uint64_t tsc = load_u64(scan->data + offset + 4);

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
static bool window_at(const struct scan *scan, uint64_t offset)
{
	uint64_t begin = offset + WINDOW_HEADER_SIZE, end;

	if (!window_word_at(scan, offset) || scan->size - offset < WINDOW_HEADER_SIZE ||
	    load_u32(scan->data + offset + 4) > XENTRACE_MAX_PCPU)
		return false;
	end = begin + load_u32(scan->data + offset + 8);
	return window_ends_at(scan, end) ||
	       (end < scan->size && chain_from(scan, begin, end, 0, false)) ||
	       chain_from(scan, begin, scan->size, 0, true);
}

/** A window whose header word alone is damaged: pCPU and size make sense. */
static bool broken_window_at(const struct scan *scan, uint64_t offset)
{
	uint32_t bytes;

	if (scan->size - offset < WINDOW_HEADER_SIZE)
		return false;
	bytes = load_u32(scan->data + offset + 8);
	return load_u32(scan->data + offset + 4) <= XENTRACE_MAX_PCPU && bytes &&
	       window_ends_at(scan, offset + WINDOW_HEADER_SIZE + bytes) &&
	       chain_from(scan, offset + WINDOW_HEADER_SIZE,
			  offset + WINDOW_HEADER_SIZE + bytes, 0, false);
}

/** The next usable window at or after an offset, or the file's end. */
static uint64_t find_window(const struct scan *scan, uint64_t offset)
{
	static const uint8_t word[4] = { 0x03, 0xf0, 0x01, 0x20 };	/* WINDOW_HEADER */

	while (offset < scan->size) {
		/* in pieces: sanitizers look at all that memmem() might */
		size_t rest = scan->size - offset, piece = rest < PIECE ? rest : PIECE;
		const uint8_t *found = memmem(scan->data + offset, piece, word, sizeof(word));

		if (!found && piece == rest)
			break;
		if (!found) {
			offset += piece - (sizeof(word) - 1);
			continue;
		}
		offset = found - scan->data;
		if (window_at(scan, offset))
			return offset;
		offset++;
	}
	return scan->size;
}

/* ---- pCPUs, runs and segments ---- */

static struct pcpu_state *pcpu_of(struct scan *scan, uint16_t number)
{
	struct pcpu_state *state;

	if (number >= scan->n_pcpus) {
		int n = scan->n_pcpus ? scan->n_pcpus : 64;
		struct pcpu_state **moved;

		while (n <= number)
			n *= 2;
		moved = realloc(scan->pcpus, n * sizeof(*moved));
		if (!moved)
			return NULL;
		memset(moved + scan->n_pcpus, 0, (n - scan->n_pcpus) * sizeof(*moved));
		scan->pcpus = moved;
		scan->n_pcpus = n;
	}
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

static int open_run(struct scan *scan, struct pcpu_state *cpu)
{
	struct xentrace *reader = scan->reader;
	struct run *runs = grow(reader->runs, reader->n_runs, &scan->room_runs, sizeof(*runs));

	if (!runs)
		return -ENOMEM;
	reader->runs = runs;
	runs[reader->n_runs] = (struct run){
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
static void link_segment(struct xentrace *reader, uint32_t index, uint32_t run_index)
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

static int open_segment(struct scan *scan, struct pcpu_state *cpu, uint64_t begin)
{
	struct xentrace *reader = scan->reader;
	struct segment *segments;

	if (reader->n_segments == NO_SEGMENT - 1)
		return -EOVERFLOW;
	segments = grow(reader->segments, reader->n_segments, &scan->room_segments,
			sizeof(*segments));
	if (!segments)
		return -ENOMEM;
	reader->segments = segments;
	if (cpu->gaps_seen != scan->gaps)
		cpu->gap = true;
	cpu->gaps_seen = scan->gaps;
	scan->open = reader->n_segments++;
	scan->open_after = reader->runs[cpu->run].last_segment;
	segments[scan->open] = (struct segment){
		.begin = begin, .end = begin, .tsc_before = cpu->last_tsc,
		.flags = cpu->gap ? SEGMENT_AFTER_GAP : 0,
	};
	cpu->gap = false;
	link_segment(reader, scan->open, cpu->run);
	return 0;
}

/** The segment ends; one without a record (an empty window, garbage at once) goes again. */
static void close_segment(struct scan *scan, struct pcpu_state *cpu, uint64_t end)
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

/* ---- TSCs out of order ---- */

static int add_repair(struct scan *scan, struct pcpu_state *cpu, uint64_t offset, uint64_t tsc)
{
	struct xentrace *reader = scan->reader;
	struct repair *repairs = grow(reader->repairs, reader->n_repairs, &scan->room_repairs,
				      sizeof(*repairs));

	if (!repairs)
		return -ENOMEM;
	reader->repairs = repairs;
	repairs[reader->n_repairs] = (struct repair){ offset, tsc, reader->n_repairs };
	reader->n_repairs++;
	return add_problem(scan, XENTRACE_TSC_OUTLIER, cpu->total.pcpu, offset, 0, tsc);
}

static inline void remember_tsc(struct pcpu_state *cpu, uint64_t offset, uint64_t tsc)
{
	cpu->history[cpu->n_history++ % HISTORY] = (struct history){ offset, tsc };
	cpu->run_records++;
	cpu->last_tsc = tsc;
}

/** The @i-th last TSC of the run, 0 being the last. */
static struct history *history_at(struct pcpu_state *cpu, unsigned int i)
{
	return &cpu->history[(cpu->n_history - 1 - i) % HISTORY];
}

static unsigned int history_length(const struct pcpu_state *cpu)
{
	return cpu->n_history < HISTORY ? cpu->n_history : HISTORY;
}

/** Does the TSC come back to at least @tsc within the next few records before @limit? */
static bool recovers(const struct scan *scan, uint64_t offset, uint64_t limit, uint64_t tsc)
{
	for (int seen = 0; seen < LOOK_AHEAD && limit - offset >= 12; ) {
		uint32_t header = load_u32(scan->data + offset);

		if (!plausible(header) || record_size(header) > limit - offset)
			return false;
		if (header & RECORD_HAS_TSC) {
			uint64_t next = load_u64(scan->data + offset + 4);

			if (next >= tsc && next - tsc < TSC_NEAR)
				return true;
			seen++;
		}
		offset += record_size(header);
	}
	return false;
}

/** Is the next TSC before @limit lower than @tsc? */
static bool next_is_lower(const struct scan *scan, uint64_t offset, uint64_t limit, uint64_t tsc)
{
	for (int seen = 0; seen < CHAIN_RECORDS && limit - offset >= 12; seen++) {
		uint32_t header = load_u32(scan->data + offset);

		if (!plausible(header) || record_size(header) > limit - offset)
			return false;
		if (header & RECORD_HAS_TSC)
			return load_u64(scan->data + offset + 4) < tsc;
		offset += record_size(header);
	}
	return false;
}

/** Is this no record? Then the one before it may well be the first victim of the damage. */
static bool garbage_at(const struct scan *scan, uint64_t offset, uint64_t limit)
{
	uint32_t header;

	if (limit - offset < 4)
		return false;
	header = load_u32(scan->data + offset);
	return !plausible(header) || record_size(header) > limit - offset;
}

/** Would @tsc follow well if the last TSC of the run were an outlier? */
static bool only_last_off(struct pcpu_state *cpu, uint64_t tsc)
{
	return history_length(cpu) > 1 && history_at(cpu, 1)->tsc <= tsc;
}

/**
 * The run before ended at a higher TSC, this one had but a few records, and now the TSC is back at
 * where it was: those few were outliers. Give their segment back to the run before.
 */
static int undo_run(struct scan *scan, struct pcpu_state *cpu)
{
	struct xentrace *reader = scan->reader;
	struct run *mistaken = &reader->runs[cpu->run];
	struct run *before = &reader->runs[cpu->run_before];
	int ret = 0;

	for (unsigned int i = history_length(cpu); i-- > 0 && !ret; )
		ret = add_repair(scan, cpu, history_at(cpu, i)->offset, before->last_tsc);
	reader->problem_count[XENTRACE_TSC_BACKWARDS]--;
	for (int i = reader->n_problems; i-- > 0; ) {
		struct xentrace_problem *problem = &reader->problems[i];

		if (problem->kind != XENTRACE_TSC_BACKWARDS ||
		    problem->offset != reader->segments[mistaken->first_segment].begin)
			continue;
		memmove(problem, problem + 1, (--reader->n_problems - i) * sizeof(*problem));
		break;
	}
	for (uint32_t s = mistaken->first_segment, next; s != NO_SEGMENT; s = next) {
		next = reader->segments[s].next;
		link_segment(reader, s, cpu->run_before);
	}
	mistaken->first_segment = mistaken->last_segment = NO_SEGMENT;
	if (cpu->run == reader->n_runs - 1)
		reader->n_runs--;
	cpu->run = cpu->run_before;
	cpu->run_before = NO_RUN;
	cpu->last_tsc = before->last_tsc;
	cpu->n_history = 0;	/* too few to tell: what follows starts afresh */
	cpu->recovered = 0;
	cpu->run_records = HISTORY;
	cpu->first_waits = false;
	return ret;
}

/** Has a record since then got the @i-th last TSC or one after it? Then that one must stay. */
static bool was_taken_over(struct pcpu_state *cpu, unsigned int i)
{
	return cpu->recovered > history_at(cpu, i)->offset;
}

/** The last TSCs of the run are higher than @tsc: outliers, or the time before a jump back? */
static int tsc_went_back(struct scan *scan, struct pcpu_state *cpu, uint64_t offset, uint64_t tsc)
{
	unsigned int length = history_length(cpu), higher = 0;
	uint64_t good;
	int ret = 0;

	while (higher < length && history_at(cpu, higher)->tsc > tsc)
		higher++;
	if ((higher < length || (cpu->run_records == length && higher <= HISTORY / 2)) &&
	    !was_taken_over(cpu, higher - 1)) {
		good = higher < length ? history_at(cpu, higher)->tsc : tsc;
		while (higher-- > 0 && !ret)
			ret = add_repair(scan, cpu, history_at(cpu, higher)->offset, good);
		for (unsigned int i = 0; i < length && history_at(cpu, i)->tsc > good; i++)
			history_at(cpu, i)->tsc = good;
		if (scan->reader->runs[cpu->run].first_tsc > good)
			scan->reader->runs[cpu->run].first_tsc = good;
		return ret;
	}
	ret = add_problem(scan, XENTRACE_TSC_BACKWARDS, cpu->total.pcpu, offset, 0, cpu->last_tsc);
	scan->reader->runs[cpu->run].last_tsc = cpu->last_tsc;
	close_segment(scan, cpu, offset);
	if (!ret)
		ret = open_run(scan, cpu);
	if (!ret) {
		cpu->gap = true;
		ret = open_segment(scan, cpu, offset);
	}
	return ret;
}

/** A record's TSC that does not simply follow the one before. @limit: end of the window */
static int odd_tsc(struct scan *scan, struct pcpu_state *cpu, uint64_t offset, uint64_t limit,
		   uint64_t tsc)
{
	uint64_t next = offset + record_size(load_u32(scan->data + offset));
	struct run *run = &scan->reader->runs[cpu->run];
	int ret = 0;

	if (cpu->first_waits) {
		cpu->first_waits = false;
		run->first_tsc = tsc;
	} else if (tsc < cpu->last_tsc) {
		if (recovers(scan, next, limit, cpu->last_tsc) ||
		    (garbage_at(scan, next, limit) && !only_last_off(cpu, tsc))) {
			cpu->recovered = offset;
			return add_repair(scan, cpu, offset, cpu->last_tsc);
		}
		ret = tsc_went_back(scan, cpu, offset, tsc);
		run = &scan->reader->runs[cpu->run];
		if (cpu->first_waits) {
			cpu->first_waits = false;
			run->first_tsc = tsc;
		}
	} else if (cpu->run_records == 1 && tsc - cpu->last_tsc > TSC_JUMP &&
		   !next_is_lower(scan, next, limit, tsc) && !was_taken_over(cpu, 0)) {
		ret = add_repair(scan, cpu, history_at(cpu, 0)->offset, tsc);
		history_at(cpu, 0)->tsc = tsc;
		run->first_tsc = tsc;
	}
	if (!ret)
		remember_tsc(cpu, offset, tsc);
	return ret;
}

/** Before a window's first record: was the last run of this pCPU a mistake? */
static int check_short_run(struct scan *scan, struct pcpu_state *cpu, uint64_t offset,
			   uint64_t limit)
{
	uint64_t before;

	if (cpu->run_before == NO_RUN)
		return 0;
	if (cpu->run_records > LOOK_AHEAD ||
	    was_taken_over(cpu, history_length(cpu) - 1)) {
		cpu->run_before = NO_RUN;
		return 0;
	}
	before = scan->reader->runs[cpu->run_before].last_tsc;
	return recovers(scan, offset, limit, before) ? undo_run(scan, cpu) : 0;
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

/** Walk through good records from @begin; @end receives where it stopped. */
static enum stop walk(struct scan *scan, struct pcpu_state *cpu, uint64_t begin, uint64_t limit,
		      uint64_t *end, int *error)
{
	const uint8_t *data = scan->data;
	uint64_t offset = begin;
	uint64_t records = 0;
	enum stop stop = STOP_END;

	*error = open_segment(scan, cpu, begin);
	while (!*error && offset < limit) {
		uint32_t header;
		unsigned int size;

		stop = STOP_CROSSES;
		if (limit - offset < 4)
			break;
		stop = STOP_GARBAGE;
		header = load_u32(data + offset);
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
				uint64_t tsc = load_u64(data + offset + 4);

				if (cpu->first_waits || tsc < cpu->last_tsc ||
				    cpu->run_records == 1)
					*error = odd_tsc(scan, cpu, offset, limit, tsc);
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
	close_segment(scan, cpu, offset);
	cpu->total.n_records += records;
	cpu->total.n_bytes += offset - begin;
	*end = offset;
	return *error ? STOP_ERROR : stop;
}

/** After damage at @offset: where records of this window (below @limit) or a window go on. */
static uint64_t resume_at(const struct scan *scan, struct pcpu_state *cpu, uint64_t offset,
			  uint64_t limit, bool *in_window)
{
	unsigned int length = history_length(cpu);
	/* not the very last one, which may be the damage itself */
	uint64_t after = length > 2 ? history_at(cpu, 2)->tsc : 0;

	for (offset++; offset < limit; offset++) {
		if (window_word_at(scan, offset) && window_at(scan, offset))
			break;
		if (chain_from(scan, offset, limit, after, false)) {
			*in_window = true;
			return offset;
		}
	}
	*in_window = false;
	return offset < limit ? offset : find_window(scan, offset);
}

/** The file ends inside this window; @at: where the last good record ended. */
static int end_of_file(struct scan *scan, struct pcpu_state *cpu, uint64_t at)
{
	return add_problem(scan, XENTRACE_TRUNCATED, cpu->total.pcpu, at, scan->size - at,
			   cpu->last_tsc);
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

	*error = check_short_run(scan, cpu, begin, limit);
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
			if (declared > scan->size && at == scan->size)
				*error = end_of_file(scan, cpu, at);
			else if (at != declared)
				*error = add_problem(scan, XENTRACE_BAD_WINDOW, cpu->total.pcpu,
						     begin - WINDOW_HEADER_SIZE, 0, cpu->last_tsc);
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
		*error = add_problem(scan, kind, cpu->total.pcpu, at, next - at, cpu->last_tsc);
		if (!in_window)
			return next;
	}
	return at;
}

/** Give back memory and tell the caller how far it is. */
static int progress(struct scan *scan, uint64_t offset)
{
	const struct xentrace_options *options = scan->options;

	if (offset < scan->next_progress)
		return 0;
	scan->next_progress = offset + PROGRESS_BYTES;
	xentrace_file_drop(&scan->reader->file, scan->dropped, offset);
	scan->dropped = offset;
	if (options && options->progress &&
	    options->progress(options->progress_arg, offset, scan->size))
		return -ECANCELED;
	return 0;
}

/** Something else than a usable window header at @offset. Return: where to go on. */
static uint64_t bad_header(struct scan *scan, uint64_t offset, int *error)
{
	bool word = window_word_at(scan, offset);
	uint64_t next = scan->size;

	if (word && scan->size - offset >= WINDOW_HEADER_SIZE)
		next = offset + WINDOW_HEADER_SIZE + load_u32(scan->data + offset + 8);
	/* otherwise only the pCPU number is impossible */
	if (!word || next > scan->size || !window_ends_at(scan, next))
		next = find_window(scan, offset + 1);
	scan->gaps++;
	if (next == scan->size && scan->size - offset < WINDOW_HEADER_SIZE)
		*error = add_problem(scan, XENTRACE_TRUNCATED, scan->last_pcpu, offset,
				     next - offset, 0);
	else
		*error = add_problem(scan, word ? XENTRACE_BAD_WINDOW : XENTRACE_GARBAGE,
				     scan->last_pcpu, offset, next - offset, 0);
	return next;
}

static int scan_windows(struct scan *scan)
{
	uint64_t offset = 0;
	int ret = 0;

	while (!ret && offset < scan->size) {
		bool good = window_at(scan, offset);
		struct pcpu_state *cpu;
		uint64_t begin, end;

		if (!good && !broken_window_at(scan, offset)) {
			offset = bad_header(scan, offset, &ret);
			if (!ret)
				ret = progress(scan, offset);
			continue;
		}
		begin = offset + WINDOW_HEADER_SIZE;
		end = begin + load_u32(scan->data + offset + 8);
		scan->last_pcpu = load_u32(scan->data + offset + 4);
		cpu = pcpu_of(scan, scan->last_pcpu);
		if (!cpu)
			return -ENOMEM;
		scan->reader->n_windows++;
		if (!good)
			ret = add_problem(scan, XENTRACE_BAD_WINDOW, scan->last_pcpu, offset, 0,
					  cpu->last_tsc);
		if (!ret && cpu->run == NO_RUN)
			ret = open_run(scan, cpu);
		if (!ret)
			offset = read_window(scan, cpu, begin, end, &ret);
		if (!ret)
			ret = progress(scan, offset);
	}
	return ret;
}

/* ---- the finished index ---- */

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

/** Sort the repairs, keep the last one of each record, and mark the segments that have some. */
static void finish_repairs(struct xentrace *reader)
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

/** A pCPU's last TSC that lies hours after the one before it is damage, not time. */
static int finish_last_tsc(struct scan *scan, struct pcpu_state *cpu)
{
	struct history *last, *before;
	int ret = 0;

	if (history_length(cpu) >= 2 && !was_taken_over(cpu, 0)) {
		last = history_at(cpu, 0);
		before = history_at(cpu, 1);
		if (last->tsc - before->tsc > TSC_JUMP) {
			ret = add_repair(scan, cpu, last->offset, before->tsc);
			cpu->last_tsc = before->tsc;
		}
	}
	scan->reader->runs[cpu->run].last_tsc = cpu->last_tsc;
	return ret;
}

/** Is there a record with a TSC in [@offset, @end)? */
static bool has_tsc(const struct xentrace *reader, uint64_t offset, uint64_t end)
{
	while (offset < end) {
		uint32_t header = load_u32(reader->file.data + offset);

		if ((header & RECORD_HAS_TSC) && (header & EVENT_MASK) != EVENT_WRAP_BUFFER)
			return true;
		offset += record_size(header);
	}
	return false;
}

/** From @segment on, up to the first one with a TSC of its own, @tsc is what they inherit. */
static void inherit_tsc(struct xentrace *reader, uint32_t segment, uint64_t tsc)
{
	for (; segment != NO_SEGMENT; segment = reader->segments[segment].next) {
		struct segment *seg = &reader->segments[segment];

		seg->tsc_before = tsc;
		if (has_tsc(reader, seg->begin, seg->end))
			break;
	}
}

/** Let random access inherit the same TSCs as an iteration: first ones and repaired ones. */
static void finish_inherited(struct xentrace *reader)
{
	size_t r = 0;

	for (uint32_t i = 0; i < reader->n_runs; i++)
		inherit_tsc(reader, reader->runs[i].first_segment, reader->runs[i].first_tsc);
	for (uint32_t s = 0; s < reader->n_segments; s++) {
		const struct segment *seg = &reader->segments[s];
		uint64_t after;

		if (!(seg->flags & SEGMENT_REPAIRS))
			continue;
		while (r < reader->n_repairs && reader->repairs[r].offset < seg->end)
			r++;
		after = reader->repairs[r - 1].offset;
		after += record_size(load_u32(reader->file.data + after));
		if (!has_tsc(reader, after, seg->end))
			inherit_tsc(reader, seg->next, reader->repairs[r - 1].tsc);
	}
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
		ret = finish_last_tsc(scan, cpu);
		if (ret)
			return ret;
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

int xentrace_scan(struct xentrace *reader, const struct xentrace_options *options)
{
	struct scan scan = {
		.reader = reader, .options = options,
		.data = reader->file.data, .size = reader->file.size,
		.open = NO_SEGMENT, .next_progress = PROGRESS_BYTES,
	};
	int ret = scan_windows(&scan);

	if (!ret && reader->file.cut_short && !reader->problem_count[XENTRACE_TRUNCATED])
		ret = add_problem(&scan, XENTRACE_TRUNCATED, scan.last_pcpu, scan.size, 0, 0);
	if (!ret)
		ret = finish_pcpus(&scan);
	if (!ret) {
		finish_repairs(reader);
		finish_inherited(reader);
	}
	for (int i = 0; i < scan.n_pcpus; i++)
		free(scan.pcpus[i]);
	free(scan.pcpus);
	return ret;
}

bool xentrace_looks_right(const uint8_t *data, size_t size)
{
	const struct scan scan = { .data = data, .size = size };

	if (size < WINDOW_HEADER_SIZE)
		return size >= 4 && window_word_at(&scan, 0);
	if (window_word_at(&scan, 0)) {
		size_t begin = WINDOW_HEADER_SIZE;

		return chain_from(&scan, begin, size, 0, true);
	}
	for (size_t offset = 1; offset + 128 < size; offset++)
		if (window_word_at(&scan, offset) &&
		    load_u32(data + offset + 4) <= XENTRACE_MAX_PCPU &&
		    chain_from(&scan, offset + WINDOW_HEADER_SIZE, size, 0, true))
			return true;
	return false;
}
