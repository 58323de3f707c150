// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_live.c
 * @brief	Read records of a trace that is still being written.
 *
 * Windows are read one by one, as soon as it is certain what they are: when a window is complete
 * and the header of another one follows. Its records are copied to a queue per run, and merged.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "xentrace_scan.h"
#include "xentrace_live.h"
#include "xentrace_queues.h"

/** What has to follow before damage is judged. */
#define AHEAD		((uint64_t)64 << 10)
/** A trace has a window in the first bytes. */
#define PROBE_BYTES	((uint64_t)1 << 20)
/** No window is larger than the largest buffer. */
#define MAX_WINDOW	((uint64_t)256 << 20)
/** More jumps back than this are no trace. */
#define MAX_RUNS	65536
/** Arrays are moved to their beginning when at least this and half of them is free. */
#define MOVE_LEAST	4096
/** Turns of emptying buffers that have to follow: one for records, more for losses. */
#define TURNS		4

struct xentrace_live {
	struct xentrace		reader;
	struct scan		scan;
	uint8_t			*data;		/* what has not been read yet: [first, n) */
	size_t			first, n, room;
	uint64_t		at;		/* offset of data[first] */
	uint64_t		looked;		/* up to here, no other window is in this one */
	uint64_t		max_bytes;
	int			n_listed;	/* of the reader's pCPUs */
	struct xentrace_queues	queues;
	uint64_t		turn_ends[TURNS]; /* highest TSC by then, the last first */
	uint64_t		settled, settled_by_end;
	uint64_t		given;		/* the highest TSC that was given out */
	bool			ended;
	bool			timed;		/* a TSC has come */
	xentrace_ahead_fn	ahead;
	void			*arg;
	struct xentrace_live_counts counts;
};

/* --- begin and end --------------------------------------------------------------------------- */

struct xentrace_live *xentrace_live_new(const char *name, uint64_t max_bytes)
{
	struct xentrace_live *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->max_bytes = max_bytes;
	stream->scan = (struct scan){
		.reader = &stream->reader, .open = NO_SEGMENT, .goes_on = true,
	};
	stream->reader.file.fd = -1;
	stream->reader.name = strdup(name);
	if (stream->reader.name)
		return stream;
	free(stream);
	return NULL;
}

void xentrace_live_free(struct xentrace_live *stream)
{
	if (!stream)
		return;
	scan_free(&stream->scan);
	queues_free(&stream->queues);
	free(stream->data);
	free(stream->reader.name);
	free(stream->reader.segments);
	free(stream->reader.runs);
	free(stream->reader.pcpus);
	free(stream->reader.repairs);
	free(stream->reader.problems);
	free(stream);
}

void xentrace_live_watch(struct xentrace_live *stream, xentrace_ahead_fn ahead, void *arg)
{
	stream->ahead = ahead;
	stream->arg = arg;
}

/* --- queues ---------------------------------------------------------------------------------- */

/** What lies before may have been given out: whether it has must not depend on who is how fast. */
static uint64_t begin_of_waiting(const struct xentrace_live *stream)
{
	return stream->given > stream->settled ? stream->given : stream->settled;
}

/** Later ones may have been given out already: it is missing where it belongs. */
static void drop_late(struct xentrace_live *stream, const struct xentrace_record *rec)
{
	uint64_t cycles = begin_of_waiting(stream) - rec->tsc;

	stream->queues.queues[rec->run].late = true;
	stream->counts.late++;
	if (cycles > stream->counts.late_cycles)
		stream->counts.late_cycles = cycles;
}

static int take_record(struct xentrace_live *stream, struct xentrace_record *rec)
{
	struct xentrace_queue *queue = &stream->queues.queues[rec->run];
	struct pcpu_state *cpu = stream->scan.pcpus[rec->pcpu];
	uint64_t before = queue->last_tsc, waiting = begin_of_waiting(stream);
	int ret = 0;

	stream->counts.records++;
	if (!cpu->total.first_tsc || rec->tsc < cpu->total.first_tsc)
		cpu->total.first_tsc = rec->tsc;
	queue->last_tsc = rec->tsc;
	if (rec->tsc < waiting) {
		drop_late(stream, rec);
		return 0;
	}
	if (queue->late)
		rec->flags |= XENTRACE_AFTER_GAP;
	queue->late = false;
	if (before < waiting)
		before = waiting;
	if (stream->ahead)
		ret = stream->ahead(stream->arg, rec, before);
	return ret ? ret : queues_put(&stream->queues, rec);
}

/* --- pCPUs ----------------------------------------------------------------------------------- */

static int compare_pcpus(const void *a, const void *b)
{
	const struct xentrace_pcpu *x = a, *y = b;

	return (x->pcpu > y->pcpu) - (x->pcpu < y->pcpu);
}

int xentrace_live_list_pcpus(struct xentrace_live *stream)
{
	struct xentrace *reader = &stream->reader;
	struct xentrace_pcpu *pcpus = calloc((size_t)reader->n_pcpus + 1, sizeof(*pcpus));
	int n = 0;

	if (!pcpus)
		return -ENOMEM;
	for (int i = 0; i < stream->scan.n_pcpus; i++) {
		const struct pcpu_state *cpu = stream->scan.pcpus[i];

		if (!cpu)
			continue;
		pcpus[n] = cpu->total;
		pcpus[n].last_tsc = cpu->last_tsc;
		pcpus[n++].known_tsc = stream->ended ? scan_known_tsc(&stream->scan, cpu) :
				       UINT64_MAX;
	}
	qsort(pcpus, (size_t)n, sizeof(*pcpus), compare_pcpus);
	free(reader->pcpus);
	reader->pcpus = pcpus;
	stream->n_listed = n;
	return 0;
}

/* --- windows --------------------------------------------------------------------------------- */

/** What a record without a TSC at the beginning of the next window inherits. */
static uint64_t tsc_to_inherit(const struct xentrace_live *stream, uint32_t run)
{
	const struct pcpu_state *cpu = stream->scan.pcpus[stream->reader.runs[run].pcpu];

	return cpu->run == run && !cpu->first_waits ? cpu->last_tsc : stream->scan.rounds.seen;
}

static int take_run(struct xentrace_live *stream, uint32_t run)
{
	struct xentrace_iter_options options = { .one_run = true, .run = run };
	struct xentrace_iter *iter;
	struct xentrace_record rec;
	int ret;

	/* not a single one has come yet */
	if (!stream->reader.runs[run].first_tsc)
		stream->reader.runs[run].first_tsc = tsc_to_inherit(stream, run);
	iter = xentrace_iter_new(&stream->reader, &options);
	ret = iter ? 0 : -ENOMEM;
	while (!ret && xentrace_iter_next(iter, &rec))
		ret = take_record(stream, &rec);
	if (!ret)
		ret = xentrace_iter_error(iter);
	xentrace_iter_free(iter);
	return ret;
}

/** All records of the segments that a step has left; then these are forgotten. */
static int take_segments(struct xentrace_live *stream, uint64_t begin)
{
	struct xentrace *reader = &stream->reader;
	int ret = 0;

	if (reader->n_runs > MAX_RUNS)
		return -E2BIG;
	if (queues_reach(&stream->queues, reader->n_runs))
		return -ENOMEM;
	scan_finish_repairs(reader);
	/* of records that were read earlier; what still waits is corrected */
	queues_repair(&stream->queues, reader->repairs, reader->n_repairs, begin);
	for (uint32_t i = 0; i < reader->n_segments && !ret; i++)
		if (reader->runs[reader->segments[i].run].first_segment == i)
			ret = take_run(stream, reader->segments[i].run);
	for (uint32_t i = 0; i < reader->n_segments; i++) {
		struct run *run = &reader->runs[reader->segments[i].run];

		run->first_segment = run->last_segment = NO_SEGMENT;
		run->first_tsc = tsc_to_inherit(stream, reader->segments[i].run);
	}
	reader->n_segments = 0;
	reader->n_repairs = 0;
	return ret;
}

/** The first TSC has come. */
static void set_first_tsc(struct xentrace_live *stream)
{
	uint64_t first = queues_time(&stream->queues, stream->scan.rounds.seen);

	stream->timed = true;
	for (int i = 0; i < stream->scan.n_pcpus; i++)
		if (stream->scan.pcpus[i] && !stream->scan.pcpus[i]->total.first_tsc)
			stream->scan.pcpus[i]->total.first_tsc = first;
}

/** A turn of emptying buffers is over. */
static void end_turn(struct xentrace_live *stream)
{
	uint64_t settled;

	memmove(stream->turn_ends + 1, stream->turn_ends, (TURNS - 1) * sizeof(*stream->turn_ends));
	stream->turn_ends[0] = stream->scan.rounds.last;
	settled = stream->turn_ends[TURNS - 1];
	if (settled > stream->settled)
		stream->settled = settled;
}

static void forget_bytes(struct xentrace_live *stream, uint64_t up_to)
{
	stream->first += up_to - stream->at;
	stream->at = up_to;
	if (stream->first < MOVE_LEAST || stream->first < stream->n / 2)
		return;
	stream->n -= stream->first;
	memmove(stream->data, stream->data + stream->first, stream->n);
	stream->first = 0;
}

static uint32_t word_at(const struct xentrace_live *stream, uint64_t offset)
{
	return load_u32(stream->data + stream->first + (offset - stream->at));
}

static uint64_t end_of_data(const struct xentrace_live *stream)
{
	return stream->at + (stream->n - stream->first);
}

/** Is a window's header here, of a possible pCPU? @end: receives where it should end */
static bool is_window(const struct xentrace_live *stream, uint64_t offset, uint64_t *end)
{
	if (word_at(stream, offset) != WINDOW_HEADER ||
	    word_at(stream, offset + 4) > XENTRACE_MAX_PCPU ||
	    word_at(stream, offset + 8) > MAX_WINDOW)
		return false;
	*end = offset + WINDOW_HEADER_SIZE + word_at(stream, offset + 8);
	return true;
}

/** Read the window that is next, or skip what is there instead. @size: as if that were all */
static int step(struct xentrace_live *stream, uint64_t size)
{
	struct xentrace_blocks blocks;
	uint64_t turn = stream->scan.rounds.number, begin = stream->at, next, end;
	bool whole = size - begin >= WINDOW_HEADER_SIZE && is_window(stream, begin, &end) &&
		     end == size;
	int ret = 0;

	stream->reader.file.memory = stream->data + stream->first;
	stream->reader.file.begin = stream->at;
	stream->reader.file.size = size;
	xentrace_blocks_init(&blocks, &stream->reader.file);
	scan_look_at(&stream->scan, &blocks, size);
	next = scan_step(&stream->scan, begin, &ret);
	if (!ret)
		ret = blocks.error;
	xentrace_blocks_destroy(&blocks);
	if (stream->scan.rounds.number != turn)
		end_turn(stream);
	if (!ret)
		ret = take_segments(stream, begin);
	if (!ret && !stream->timed && stream->scan.rounds.seen)
		set_first_tsc(stream);
	if (stream->scan.last_pcpu < stream->scan.n_pcpus &&
	    stream->scan.pcpus[stream->scan.last_pcpu])
		stream->scan.pcpus[stream->scan.last_pcpu]->run_before = NO_RUN;
	if (!ret && stream->n_listed != stream->reader.n_pcpus)
		ret = xentrace_live_list_pcpus(stream);
	/* a header that begins right before the end may be one */
	if (next == size && !stream->ended && !whole && next - begin > WINDOW_HEADER_SIZE) {
		next -= WINDOW_HEADER_SIZE - 1;
		stream->reader.skipped_bytes -= WINDOW_HEADER_SIZE - 1;
	}
	forget_bytes(stream, next);
	return ret;
}

/** Nothing but records, up to the end of the window. */
static bool is_clean(const struct xentrace_live *stream, uint64_t offset, uint64_t end)
{
	while (end - offset >= 4) {
		uint32_t header = word_at(stream, offset);

		if (!plausible(header) || (header & EVENT_MASK) == EVENT_CPU_CHANGE ||
		    record_size(header) > end - offset)
			return false;
		offset += record_size(header);
	}
	return offset == end;
}

/**
 * A window seems to be longer than what is there. If another one is in it, with a third one behind
 * that, its size is wrong. @size: receives where that third one's first word ends
 */
static bool has_other_window(struct xentrace_live *stream, uint64_t *size)
{
	static const uint8_t word[4] = { 0x03, 0xf0, 0x01, 0x20 };	/* WINDOW_HEADER */
	uint64_t all = end_of_data(stream), from = stream->at + WINDOW_HEADER_SIZE, end;

	if (stream->looked > from)
		from = stream->looked;
	while (all - from >= WINDOW_HEADER_SIZE) {
		const uint8_t *data = stream->data + stream->first + (from - stream->at);
		const uint8_t *found = memmem(data, all - from, word, sizeof(word));

		if (!found) {
			from = all - (sizeof(word) - 1);
			break;
		}
		from += (uint64_t)(found - data);
		if (all - from < WINDOW_HEADER_SIZE)
			break;
		if (is_window(stream, from, &end)) {
			if (end > all || all - end < 4)
				break;
			if (word_at(stream, end) == WINDOW_HEADER) {
				*size = end + 4;
				return true;
			}
		}
		from++;
	}
	stream->looked = from;
	return false;
}

/**
 * Is it certain by now what is next? Which pieces the bytes came in must not change what they are:
 * so it is judged as soon as that is possible, and by no more bytes than that takes.
 *
 * Return: whether it is; @size receives how much it is judged by.
 */
static bool is_certain(struct xentrace_live *stream, uint64_t *size)
{
	uint64_t all = end_of_data(stream), end;

	if (stream->ended) {
		*size = all;
		return stream->at < all;
	}
	if (all - stream->at < WINDOW_HEADER_SIZE)
		return false;
	if (!is_window(stream, stream->at, &end)) {
		*size = stream->at + AHEAD;
		return *size <= all;
	}
	if (has_other_window(stream, size) && *size <= end)
		return true;
	if (all < end || all - end < 4) {
		*size = all;
		/* there is no room for more */
		return all - stream->at >= stream->max_bytes;
	}
	*size = end + 4;
	if (is_clean(stream, stream->at + WINDOW_HEADER_SIZE, end) &&
	    word_at(stream, end) == WINDOW_HEADER)
		return true;
	*size = end + AHEAD;
	return *size <= all;
}

static int read_windows(struct xentrace_live *stream)
{
	uint64_t size;
	int ret = 0;

	while (!ret && is_certain(stream, &size)) {
		ret = step(stream, size);
		if (!ret && !stream->reader.n_windows && stream->at >= PROBE_BYTES)
			ret = -EINVAL;
	}
	return ret;
}

/* --- what comes ------------------------------------------------------------------------------ */

/** What has not been read yet is most of a window, at most: it is moved rather than made larger. */
static int make_room_for(struct xentrace_live *stream, size_t size)
{
	if (stream->first && stream->room - stream->n < size) {
		stream->n -= stream->first;
		memmove(stream->data, stream->data + stream->first, stream->n);
		stream->first = 0;
	}
	return ARRAY_GROW(stream->data, stream->n + size, stream->room);
}

int xentrace_live_push(struct xentrace_live *stream, const void *data, size_t size)
{
	if (!size)
		return 0;
	if (make_room_for(stream, size))
		return -ENOMEM;
	memcpy(stream->data + stream->n, data, size);
	stream->n += size;
	stream->counts.bytes += size;
	return read_windows(stream);
}

int xentrace_live_end(struct xentrace_live *stream)
{
	int ret;

	stream->ended = true;
	stream->scan.goes_on = false;
	ret = read_windows(stream);
	if (!ret)
		ret = xentrace_live_list_pcpus(stream);
	stream->reader.file.size = stream->counts.bytes;
	stream->reader.n_records = stream->counts.records;
	stream->settled_by_end = begin_of_waiting(stream);
	stream->settled = UINT64_MAX;
	return ret;
}

/** Is there one window, all of it, and nothing else? */
static bool is_last_window(const struct xentrace_live *stream)
{
	uint64_t all = end_of_data(stream), end;

	return all - stream->at >= WINDOW_HEADER_SIZE && is_window(stream, stream->at, &end) &&
	       end == all && is_clean(stream, stream->at + WINDOW_HEADER_SIZE, end);
}

int xentrace_live_settle(struct xentrace_live *stream)
{
	uint64_t last;
	int ret = 0;

	if (is_last_window(stream))
		ret = step(stream, end_of_data(stream));
	last = xentrace_live_last_tsc(stream);
	if (!ret && stream->first == stream->n && last > stream->settled)
		stream->settled = last;
	return ret;
}

/* --- what goes ------------------------------------------------------------------------------- */

static uint64_t waiting_bytes(const struct xentrace_live *stream)
{
	return stream->queues.n_waiting * sizeof(struct xentrace_record) +
	       (stream->n - stream->first);
}

bool xentrace_live_is_full(const struct xentrace_live *stream)
{
	return waiting_bytes(stream) > stream->max_bytes;
}

const struct xentrace_record *xentrace_live_next(struct xentrace_live *stream)
{
	const struct xentrace_record *rec = queues_first(&stream->queues);
	/* up to the first TSC, all times are unknown */
	bool settled = rec && rec->tsc <= stream->settled && (stream->timed || stream->ended);

	return settled || (rec && xentrace_live_is_full(stream)) ? rec : NULL;
}

void xentrace_live_take(struct xentrace_live *stream)
{
	uint64_t tsc = queues_first(&stream->queues)->tsc;

	if (tsc > stream->given)
		stream->given = tsc;
	if (tsc > stream->settled)
		stream->counts.hurried++;
	queues_take(&stream->queues);
}

int xentrace_live_each(const struct xentrace_live *stream,
		       int (*take)(void *arg, const struct xentrace_record *rec), void *arg)
{
	return queues_each(&stream->queues, take, arg);
}

bool xentrace_live_first_tsc(const struct xentrace_live *stream, uint64_t *tsc)
{
	const struct xentrace_record *rec = queues_first(&stream->queues);

	if (rec)
		*tsc = rec->tsc;
	return rec;
}

uint64_t xentrace_live_last_tsc(const struct xentrace_live *stream)
{
	return queues_last_tsc(&stream->queues);
}

uint32_t xentrace_live_run_of(const struct xentrace_live *stream, uint16_t pcpu)
{
	return stream->scan.pcpus[pcpu]->run;
}

uint64_t xentrace_live_settled_by_end(const struct xentrace_live *stream)
{
	return stream->settled_by_end;
}

uint64_t xentrace_live_settled(const struct xentrace_live *stream)
{
	return stream->settled;
}

const struct xentrace *xentrace_live_reader(const struct xentrace_live *stream)
{
	return &stream->reader;
}

void xentrace_live_count(const struct xentrace_live *stream,
			   struct xentrace_live_counts *counts)
{
	*counts = stream->counts;
	counts->waiting = waiting_bytes(stream);
}
