// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	ks_clock.c
 * @brief	Convert the times of one of KernelShark's streams to its time axis.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>
#include <libkshark.h>
#include <libkshark-tepdata.h>

#include "clock_align.h"
#include "hash_bytes.h"
#include "ks_clock.h"
#include "ks_memo.h"

/* Of libtracecmd, which libkshark has loaded; another version may lack the first one. */
int tracecmd_enable_tsync(struct tracecmd_input *handle, bool enable) __attribute__((weak));
struct tep_record *tracecmd_read_at(struct tracecmd_input *handle, unsigned long long offset,
				    int *cpu);
void tracecmd_free_record(struct tep_record *record);

/** How much before a record KernelShark says that others have been lost. */
#define LOST_BEFORE_NS	10

/** Larger ones are no drift, but a damaged session. */
#define MAX_DRIFT	1000000000000LL

/* --- what is known --------------------------------------------------------------------------- */

int64_t ks_clock_key(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (int64_t)hash_text(slash ? slash + 1 : path);
}

bool ks_clock_is_key(const struct kshark_data_stream *stream, int64_t key)
{
	char *real;
	bool is;

	if (!stream || !stream->file)
		return false;
	if (ks_clock_key(stream->file) == key)
		return true;
	/* kshark-virt view gives files other names if KernelShark would not take theirs */
	real = realpath(stream->file, NULL);
	is = real && ks_clock_key(real) == key;
	free(real);
	return is;
}

static bool is_offset(int64_t ns)
{
	return ns >= -KS_CLOCK_MAX_OFFSET && ns <= KS_CLOCK_MAX_OFFSET;
}

/** Behind the threads: that time, and the steps. */
static size_t steps_at(const int64_t *parts)
{
	return KS_CLOCK_TIDS + (size_t)parts[KS_CLOCK_N_TIDS] +
	       !!(parts[KS_CLOCK_FLAGS] & KS_CLOCK_AT);
}

/** Are they there, and such as can be? */
static bool has_good_steps(const int64_t *parts, size_t n)
{
	size_t at = steps_at(parts);
	struct virt_clock_step last = { 0 };

	if (!(parts[KS_CLOCK_FLAGS] & KS_CLOCK_STEPS))
		return n >= at;
	if (n <= at || parts[at] < 0 || parts[at] > VIRT_CLOCK_MAX_STEPS ||
	    n < at + 1 + KS_CLOCK_STEP_PARTS * (size_t)parts[at])
		return false;
	for (size_t i = 0; i < (size_t)parts[at]; i++) {
		const struct virt_clock_step both[2] = { last, ks_clock_step(parts, i) };

		if (!virt_clock_steps_are_sorted(both, 2))
			return false;
		last = both[1];
	}
	return true;
}

const int64_t *ks_clock_of(const struct kshark_data_stream *stream)
{
	const int64_t *parts = stream ? stream->calib_array : NULL;

	if (!parts || stream->calib_array_size < KS_CLOCK_TIDS ||
	    parts[KS_CLOCK_MAGIC] != KS_CLOCK_IS_OURS || parts[KS_CLOCK_N_TIDS] < 0 ||
	    !is_offset(parts[KS_CLOCK_OFFSET]) || !is_offset(parts[KS_CLOCK_FOUND]) ||
	    parts[KS_CLOCK_DRIFT] > MAX_DRIFT || parts[KS_CLOCK_DRIFT] < -MAX_DRIFT ||
	    parts[KS_CLOCK_N_TIDS] > KS_CLOCK_MAX_TIDS ||
	    !has_good_steps(parts, stream->calib_array_size))
		return NULL;
	return parts;
}

int64_t ks_clock_at(const int64_t *parts)
{
	return parts[KS_CLOCK_FLAGS] & KS_CLOCK_AT ?
	       parts[KS_CLOCK_TIDS + parts[KS_CLOCK_N_TIDS]] : 0;
}

size_t ks_clock_n_steps(const int64_t *parts)
{
	return parts && (parts[KS_CLOCK_FLAGS] & KS_CLOCK_ALIGNED) &&
	       (parts[KS_CLOCK_FLAGS] & KS_CLOCK_STEPS) ? (size_t)parts[steps_at(parts)] : 0;
}

struct virt_clock_step ks_clock_step(const int64_t *parts, size_t i)
{
	const int64_t *step = parts + steps_at(parts) + 1 + i * KS_CLOCK_STEP_PARTS;
	int64_t cpu = step[KS_CLOCK_STEP_CPU];

	/* what does not fit is no CPU, and not sorted */
	return (struct virt_clock_step){
		.cpu = cpu < 0 || cpu > INT32_MAX ? -1 : (int32_t)cpu,
		.back = step[KS_CLOCK_STEP_BACK],
		.from = step[KS_CLOCK_STEP_FROM], .add = step[KS_CLOCK_STEP_ADD],
	};
}

struct ks_clock ks_clock_copy(const struct kshark_data_stream *stream)
{
	struct ks_clock copy = { .n = ks_memo_at(stream->calib_array,
						 stream->calib_array_size) };

	if (!stream->calib_array || !copy.n)
		return (struct ks_clock){ 0 };
	copy.parts = malloc(copy.n * sizeof(*copy.parts));
	if (copy.parts)
		memcpy(copy.parts, stream->calib_array, copy.n * sizeof(*copy.parts));
	return copy;
}

/* --- times ----------------------------------------------------------------------------------- */

/** From cycles of the host's TSC to ns, rounded down. */
static int64_t to_ns(__int128 cycles, int64_t hz)
{
	__int128 ns = cycles * 1000000000;

	ns = ns / hz - (ns % hz < 0);
	return ns > INT64_MAX / 2 ? INT64_MAX / 2 : ns < -INT64_MAX / 2 ? -INT64_MAX / 2 :
	       (int64_t)ns;
}

/** Offsets hold at the time in @parts; without a drift, they hold at any time. */
static int64_t host_time(int64_t offset, const int64_t *parts, double ppm, int64_t ts)
{
	if (ppm != 0)
		offset = virt_clock_offset_at(offset, ppm, ks_clock_at(parts), 0);
	return virt_clock_host_time(offset, ppm, ts);
}

/** From a stream's own time to that on KernelShark's axis. @parts: NULL if there is only @offset */
static int64_t convert(int64_t ts, const int64_t *parts, int64_t offset)
{
	bool aligned = parts && (parts[KS_CLOCK_FLAGS] & KS_CLOCK_ALIGNED);
	double ppm = aligned ? (double)parts[KS_CLOCK_DRIFT] / 1e6 : 0;
	__int128 cycles;

	if (!aligned || parts[KS_CLOCK_HZ] <= 0)
		return host_time(offset, parts, ppm, ts);
	cycles = host_time(parts[KS_CLOCK_FOUND], parts, ppm, ts);
	return to_ns(cycles - parts[KS_CLOCK_BASE], parts[KS_CLOCK_HZ]) + offset;
}

/**
 * KernelShark's time_calib_func. Negative times would get KernelShark's loading of trace.dat files
 * out of step, and 0, too, so they are moved to KS_CLOCK_FIRST until ks_clock_settle().
 */
static void calibrate(int64_t *ts, int64_t *parts)
{
	*ts = convert(*ts, parts, parts[KS_CLOCK_OFFSET]);
	if (*ts < KS_CLOCK_FIRST)
		*ts = KS_CLOCK_FIRST;
}

static bool only_adds(const int64_t *parts)
{
	return !parts || !(parts[KS_CLOCK_FLAGS] & KS_CLOCK_ALIGNED) ||
	       (!parts[KS_CLOCK_DRIFT] && parts[KS_CLOCK_HZ] <= 0 && !ks_clock_n_steps(parts));
}

static bool hides(const int64_t *parts)
{
	return parts && (parts[KS_CLOCK_FLAGS] & KS_CLOCK_ALIGNED) &&
	       (parts[KS_CLOCK_FLAGS] & KS_CLOCK_HIDES);
}

static bool have_same_steps(const int64_t *a, const int64_t *b)
{
	size_t n = ks_clock_n_steps(a);

	return n == ks_clock_n_steps(b) &&
	       (!n || !memcmp(a + steps_at(a), b + steps_at(b),
			      (1 + n * KS_CLOCK_STEP_PARTS) * sizeof(*a)));
}

/** Do two clocks differ by their first parts alone? */
static bool differ_by_offset(const int64_t *a, const int64_t *b)
{
	if (hides(a) != hides(b) || only_adds(a) != only_adds(b))
		return false;
	return only_adds(a) || (a[KS_CLOCK_DRIFT] == b[KS_CLOCK_DRIFT] &&
				ks_clock_at(a) == ks_clock_at(b) &&
				a[KS_CLOCK_HZ] == b[KS_CLOCK_HZ] &&
				a[KS_CLOCK_BASE] == b[KS_CLOCK_BASE] && have_same_steps(a, b) &&
				(!a[KS_CLOCK_HZ] || a[KS_CLOCK_FOUND] == b[KS_CLOCK_FOUND]));
}

static time_calib_func function_of(const struct kshark_data_stream *stream, const int64_t *parts)
{
	/* streams other than trace.dat can load negative times */
	return parts && kshark_is_tep((struct kshark_data_stream *)stream) ? calibrate :
									     kshark_offset_calib;
}

/** trace-cmd's own offsets come and go with this. Return: false if they cannot be changed. */
static bool set_hiding(struct kshark_data_stream *stream, bool hide)
{
	struct tracecmd_input *input = kshark_is_tep(stream) ? kshark_get_tep_input(stream) : NULL;

	if (!input || !tracecmd_enable_tsync)
		return !hide;
	/* a file without offsets has none to be shown */
	return !tracecmd_enable_tsync(input, !hide) || !hide;
}

/** The offsets of a copied clock, as ks_clock_of() returns them. */
static const int64_t *copied(const struct ks_clock *clock)
{
	const struct kshark_data_stream stream = {
		.calib_array = clock->parts, .calib_array_size = clock->n,
	};

	return ks_clock_of(&stream);
}

int64_t ks_clock_time(const struct ks_clock *clock, int64_t ts)
{
	return convert(ts, copied(clock), clock->n ? clock->parts[KS_CLOCK_OFFSET] : 0);
}

bool ks_clock_hides(const struct ks_clock *clock)
{
	return hides(copied(clock));
}

void ks_clock_prepare(struct kshark_data_stream *stream)
{
	const int64_t *parts = ks_clock_of(stream);

	if (!parts || !kshark_is_tep(stream))
		return;
	stream->calib = function_of(stream, parts);
	set_hiding(stream, hides(parts));
}

bool ks_clock_is_prepared(const struct kshark_data_stream *stream)
{
	const int64_t *parts = ks_clock_of(stream);

	return !parts || stream->calib == function_of(stream, parts);
}

/* --- changing -------------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
	const struct kshark_entry *const *x = a, *const *y = b;

	return ((*x)->ts > (*y)->ts) - ((*x)->ts < (*y)->ts);
}

/** The time of a row's record. Return: false if it cannot be read. */
static bool read_time(struct tracecmd_input *input, const struct kshark_entry *row, int64_t *ts)
{
	struct tep_record *record = tracecmd_read_at(input, (unsigned long long)row->offset, NULL);

	if (!record)
		return false;
	*ts = (int64_t)record->ts;
	tracecmd_free_record(record);
	return true;
}

static bool is_of(const struct kshark_data_stream *stream, const struct kshark_entry *row)
{
	return row->stream_id == stream->stream_id;
}

/** The stream's own times, but of lost records. */
static int read_times(struct kshark_data_stream *stream, struct kshark_entry **rows, size_t n_rows,
		      int64_t *times)
{
	struct tracecmd_input *input = kshark_get_tep_input(stream);

	for (size_t i = 0; i < n_rows; i++) {
		const struct kshark_entry *row = rows[i];

		if (!is_of(stream, row))
			continue;
		if (row->cpu < 0 || row->cpu >= stream->n_cpus ||
		    (row->event_id != KS_EVENT_OVERFLOW && !read_time(input, row, &times[i])))
			return -EIO;
	}
	return 0;
}

/**
 * What KernelShark inserts for lost records is that much before the next row of its CPU, and has no
 * place in the file.
 */
static int place_losses(const struct kshark_data_stream *stream, struct kshark_entry **rows,
			size_t n_rows, int64_t *times)
{
	int64_t *next = calloc((size_t)stream->n_cpus + 1, sizeof(*next));

	if (!next)
		return -ENOMEM;
	for (size_t i = n_rows; i-- > 0;) {
		const struct kshark_entry *row = rows[i];

		if (!is_of(stream, row))
			continue;
		if (row->event_id == KS_EVENT_OVERFLOW)
			times[i] = next[row->cpu] - LOST_BEFORE_NS;
		else
			next[row->cpu] = times[i];
	}
	free(next);
	return 0;
}

/** A row and its place among the others. */
struct place {
	const struct kshark_entry *row;
	size_t		i;
};

static int compare_places(const void *a, const void *b)
{
	const struct kshark_entry *x = ((const struct place *)a)->row;
	const struct kshark_entry *y = ((const struct place *)b)->row;

	return x->cpu != y->cpu ? x->cpu - y->cpu : (x->offset > y->offset) -
						    (x->offset < y->offset);
}

/** Steps are made in the order of the file, which is not that of the rows if a clock goes back. */
static int make_steps(const struct kshark_data_stream *stream, const int64_t *parts,
		      struct kshark_entry **rows, size_t n_rows, int64_t *times)
{
	size_t n_steps = ks_clock_n_steps(parts), n = 0;
	struct virt_clock_step *steps = malloc((n_steps + 1) * sizeof(*steps));
	struct place *places = malloc((n_rows + 1) * sizeof(*places));
	struct virt_clock_walk walk;
	int ret = steps && places ? 0 : -ENOMEM;

	for (size_t i = 0; i < n_steps && !ret; i++)
		steps[i] = ks_clock_step(parts, i);
	for (size_t i = 0; i < n_rows && !ret; i++)
		if (is_of(stream, rows[i]) && rows[i]->event_id != KS_EVENT_OVERFLOW)
			places[n++] = (struct place){ rows[i], i };
	if (n)
		qsort(places, n, sizeof(*places), compare_places);
	for (size_t i = 0; i < n; i++) {
		if (!i || places[i].row->cpu != places[i - 1].row->cpu)
			virt_clock_walk_begin(&walk, steps, n_steps, places[i].row->cpu);
		times[places[i].i] = virt_clock_walk_next(&walk, times[places[i].i]);
	}
	free(steps);
	free(places);
	return ret;
}

/** Give the stream's rows their times by another clock, out of its file. */
static int change_times(struct kshark_data_stream *stream, const int64_t *parts, int64_t offset,
			struct kshark_entry **rows, size_t n_rows)
{
	int64_t *times = malloc((n_rows + 1) * sizeof(*times));
	int ret = times ? read_times(stream, rows, n_rows, times) : -ENOMEM;

	if (!ret && ks_clock_n_steps(parts))
		ret = make_steps(stream, parts, rows, n_rows, times);
	if (!ret)
		ret = place_losses(stream, rows, n_rows, times);
	for (size_t i = 0; i < n_rows && !ret; i++)
		if (rows[i]->stream_id == stream->stream_id)
			rows[i]->ts = convert(times[i], parts, offset);
	free(times);
	return ret;
}

/**
 * Does libtracecmd add anything to the stream's times? Seen by its first and its last record, if
 * nothing but an offset is added here.
 */
static bool has_offsets(struct kshark_data_stream *stream, struct kshark_entry **rows,
			size_t n_rows, int64_t added)
{
	struct tracecmd_input *input = kshark_get_tep_input(stream);
	const struct kshark_entry *ends[2] = { NULL, NULL };
	bool has = false;
	int64_t ts;

	for (size_t i = 0; i < n_rows; i++) {
		if (rows[i]->stream_id != stream->stream_id ||
		    rows[i]->event_id == KS_EVENT_OVERFLOW)
			continue;
		if (!ends[0])
			ends[0] = rows[i];
		ends[1] = rows[i];
	}
	if (!set_hiding(stream, true))
		return true;
	for (int i = 0; i < 2; i++)
		has |= ends[i] && read_time(input, ends[i], &ts) && ts + added != ends[i]->ts;
	set_hiding(stream, false);
	return has;
}

int ks_clock_set(struct kshark_data_stream *stream, struct ks_clock clock,
		 struct kshark_entry **rows, size_t n_rows)
{
	const int64_t *old = ks_clock_of(stream), *new = copied(&clock);
	int64_t before = stream->calib_array ? stream->calib_array[KS_CLOCK_OFFSET] : 0;
	int ret = clock.parts && clock.n ? 0 : -ENOMEM;
	char *memo = ks_memo_get(stream);

	if (!ret && (!is_offset(clock.parts[KS_CLOCK_OFFSET]) || !is_offset(before) ||
		     (clock.n >= KS_CLOCK_TIDS && !new)))
		ret = -ERANGE;
	if (!ret && hides(new) && !hides(old) && only_adds(old) && kshark_is_tep(stream) &&
	    !has_offsets(stream, rows, n_rows, before))
		clock.parts[KS_CLOCK_FLAGS] &= ~(int64_t)KS_CLOCK_HIDES;
	if (!ret && !differ_by_offset(old, new)) {
		ret = kshark_is_tep(stream) && set_hiding(stream, hides(new)) ?
		      change_times(stream, new, clock.parts[KS_CLOCK_OFFSET], rows,
				   n_rows) : -ENOTSUP;
		if (ret)
			set_hiding(stream, hides(old));
	} else if (!ret) {
		for (size_t i = 0; i < n_rows; i++)
			if (rows[i]->stream_id == stream->stream_id)
				rows[i]->ts += clock.parts[KS_CLOCK_OFFSET] - before;
	}
	if (ret) {
		free(memo);
		free(clock.parts);
		return ret;
	}
	free(stream->calib_array);
	stream->calib_array = clock.parts;
	stream->calib_array_size = clock.n;
	stream->calib = function_of(stream, new);
	/* without memory, the text is lost */
	if (memo)
		ks_memo_set(stream, memo);
	free(memo);
	qsort(rows, n_rows, sizeof(struct kshark_entry *), compare_rows);
	return 0;
}

int ks_clock_settle(struct kshark_data_stream *stream, struct kshark_entry **rows, size_t n_rows)
{
	const int64_t *parts = ks_clock_of(stream);
	int ret;

	if (!parts || !kshark_is_tep(stream))
		return 0;
	ret = change_times(stream, parts, parts[KS_CLOCK_OFFSET], rows, n_rows);
	if (!ret)
		qsort(rows, n_rows, sizeof(struct kshark_entry *), compare_rows);
	return ret;
}
