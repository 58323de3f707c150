// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_dat_join.c
 * @brief	Several recordings of one host, or of one guest, as a single trace.dat.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace_dat_join.h"
#include "trace_dat_join_private.h"
#include "trace_dat_pages.h"

#define NS_PER_S	1e9

/* --- times ----------------------------------------------------------------------------------- */

int join_walk(const struct join_file *file, const struct join_area *area, join_record_fn take,
	      void *arg)
{
	uint64_t end = area->offset + area->size;
	uint8_t *page = malloc(area->page);
	int ret = page ? 0 : -ENOMEM;

	for (uint64_t at = area->offset; at < end && !ret; at += area->page) {
		struct dat_page_record found;
		struct dat_page_walk walk;

		ret = dat_read_page(&file->dat, at, end, page, area->page);
		if (ret)
			break;
		dat_page_walk_begin(&walk, &file->dat, page, area->page);
		for (bool is_first = true; !ret && dat_page_walk_next(&walk, &found);
		     is_first = false)
			ret = take(arg, &(struct join_record){
				.ts = found.ts, .data = page + found.data, .size = found.size,
				.has_lost = is_first && walk.has_lost, .lost = walk.lost,
			});
	}
	free(page);
	return ret;
}

static int see_time(void *arg, const struct join_record *record)
{
	struct join_area *area = arg;

	if (!area->n_records++ || record->ts < area->first)
		area->first = record->ts;
	if (record->ts > area->last)
		area->last = record->ts;
	return 0;
}

/** The times of all areas of a file. Return: 0 or a negative errno. */
static int see_times(struct join_file *file)
{
	bool is_first = true;
	int ret = 0;

	for (size_t i = 0; i < file->n_areas && !ret; i++) {
		struct join_area *area = &file->areas[i];

		ret = join_walk(file, area, see_time, area);
		if (!area->n_records)
			continue;
		if (is_first || area->first < file->first)
			file->first = area->first;
		if (is_first || area->last > file->last)
			file->last = area->last;
		is_first = false;
	}
	if (!ret && is_first)
		ret = join_fail(file->join, "%s: there is no record in it", file->path);
	return ret;
}

/** A time as the clock has it. */
static const char *say_time(const struct join_file *file, uint64_t ts, char text[96])
{
	if (!strcmp(file->clock, "x86-tsc") || !strcmp(file->clock, "counter"))
		snprintf(text, 96, "%s %llu", file->clock, (unsigned long long)ts);
	else
		snprintf(text, 96, "%.9f s", (double)ts / NS_PER_S);
	return text;
}

/* --- what belongs together ------------------------------------------------------------------- */

static int compare_files(const void *a, const void *b)
{
	const struct join_file *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/** The area of a CPU in a buffer. Return: NULL: the file has none with records. */
static const struct join_area *area_of(const struct join_file *file, const char *buffer,
				       uint32_t cpu)
{
	for (size_t i = 0; i < file->n_areas; i++)
		if (file->areas[i].n_records && file->areas[i].cpu == cpu &&
		    !strcmp(file->areas[i].buffer, buffer))
			return &file->areas[i];
	return NULL;
}

/** Files of one time: no buffer of a CPU has records in both. */
static int check_apart(struct join *join, const struct join_file *a, const struct join_file *b)
{
	char from[96], to[96];

	for (size_t i = 0; i < a->n_areas; i++) {
		const struct join_area *x = &a->areas[i], *y;

		y = x->n_records ? area_of(b, x->buffer, x->cpu) : NULL;
		if (!y)
			continue;
		return join_fail(join, "%s and %s both have records of CPU %u%s%s, and are of one "
				 "time (%s to %s): is one a copy of the other one, or are they of "
				 "different boots?", a->path, b->path, x->cpu,
				 *x->buffer ? " in buffer " : "", x->buffer,
				 say_time(a, b->first, from),
				 say_time(a, a->last < b->last ? a->last : b->last, to));
	}
	return 0;
}

/** Files of different times: if they have other events, it would look as if these never came. */
static int check_events(struct join *join, const struct join_file *a, const struct join_file *b)
{
	const struct join_event *only = join_event_missing(a, b);
	const char *in = a->path, *not_in = b->path;

	if (!only) {
		only = join_event_missing(b, a);
		in = b->path;
		not_in = a->path;
	}
	if (!only)
		return 0;
	return join_fail(join, "%s was recorded with the event %s, %s was not, and is of another "
			 "time: numbers of both together would be wrong. Report each by itself",
			 in, only->name, not_in);
}

/** All of one time, or one after the other. */
static int check_times(struct join *join)
{
	uint64_t begin = 0, end = UINT64_MAX, last = 0;
	bool follow = true;
	int ret = 0;

	qsort(join->files, (size_t)join->n, sizeof(*join->files), compare_files);
	for (int i = 0; i < join->n; i++) {
		const struct join_file *file = &join->files[i];

		follow &= !i || file->first > last;
		last = i && last > file->last ? last : file->last;
		begin = file->first;
		end = file->last < end ? file->last : end;
	}
	join->begin = follow ? 0 : begin;
	join->end = follow ? UINT64_MAX : end;
	join->last = follow ? last : end;
	if (!follow && begin > end)
		return join_fail(join, "some of the files are of one time, others are not. Merge "
				 "those of one time first, then the results");
	for (int i = 0; i < join->n && !ret; i++)
		for (int k = i + 1; k < join->n && !ret; k++)
			ret = follow ? check_events(join, &join->files[i], &join->files[k]) :
				       check_apart(join, &join->files[i], &join->files[k]);
	return ret;
}

/* --- records --------------------------------------------------------------------------------- */

/** Pages that are written, of a CPU in a buffer. */
struct stream {
	struct join	*join;
	struct dat_stream out;
	bool		has_gap;	/* before the next record */
	uint64_t	lost;		/* how many records are missing there; 0: unknown */
	bool		is_past;	/* a record came after those that are wanted */
	bool		ends_lost;	/* and others are missing before it */
};

static int add_record(struct stream *stream, uint64_t ts, const void *data, size_t size)
{
	int ret = stream->has_gap ? dat_stream_lost(&stream->out, stream->lost) : 0;

	stream->has_gap = false;
	return ret ? ret : dat_stream_add(&stream->out, ts, data, size);
}

static int take_record(void *arg, const struct join_record *record)
{
	struct stream *stream = arg;
	struct join *join = stream->join;

	if (record->ts < join->begin || record->ts > join->end) {
		join->joined->n_left_out++;
		stream->ends_lost |= record->ts > join->end && !stream->is_past && record->has_lost;
		stream->is_past |= record->ts > join->end;
		return 0;
	}
	if (record->has_lost) {
		stream->lost = stream->has_gap ? 0 : record->lost;
		stream->has_gap = true;
	}
	join->joined->n_records++;
	return add_record(stream, record->ts, record->data, record->size);
}

/** No record of this CPU follows the gap after its last file, or one that reaches the end. */
static int end_with_loss(struct stream *stream)
{
	const struct join *join = stream->join;
	uint8_t record[DAT_LOST_BYTES];

	dat_lost_record(record, join->files->dat.big_endian, join->lost_id);
	stream->has_gap = true;
	stream->lost = 0;
	return add_record(stream, join->last, record, sizeof(record));
}

int join_write_cpu(struct join *join, const char *buffer, uint32_t cpu, uint64_t page, uint64_t at,
		   uint64_t *end)
{
	struct stream stream = { .join = join };
	bool has_records = false, is_over = false;
	int ret = dat_stream_begin(&stream.out, &join->files->dat, page, join->fd, at);

	for (int i = 0; i < join->n && !ret; i++) {
		const struct join_area *area = area_of(&join->files[i], buffer, cpu);

		is_over = has_records && !area;
		if (!area)
			continue;
		/* before the first record of a CPU, nothing is known anyhow */
		stream.has_gap = has_records && !join->joined->is_parallel;
		stream.lost = 0;
		has_records = true;
		ret = join_walk(&join->files[i], area, take_record, &stream);
		if (ret == -EILSEQ)
			join_fail(join, "%s: damaged: a record is larger than a page",
				  join->files[i].path);
	}
	if (!ret && (join->joined->is_parallel ? stream.ends_lost : is_over))
		ret = end_with_loss(&stream);
	if (!ret)
		ret = dat_stream_end(&stream.out);
	dat_stream_free(&stream.out);
	*end = stream.out.at;
	return ret;
}

/* --- all of it ------------------------------------------------------------------------------- */

int trace_dat_join(const char **paths, int n, int fd, struct trace_dat_joined *joined, char *error,
		   size_t size)
{
	struct join join = {
		.files = calloc((size_t)n, sizeof(*join.files)), .n = n, .fd = fd,
		.joined = joined, .error = error, .error_size = size,
	};
	int ret = join.files ? 0 : -ENOMEM;

	*joined = (struct trace_dat_joined){ 0 };
	for (int i = 0; i < n && !ret; i++) {
		ret = join_open(&join, &join.files[i], paths[i]);
		if (!ret)
			ret = see_times(&join.files[i]);
	}
	if (!ret)
		ret = check_times(&join);
	for (int i = 0; i < n && !ret; i++)
		paths[i] = join.files[i].path;
	joined->is_parallel = join.end != UINT64_MAX;
	for (int i = 1; i < n && !ret; i++)
		ret = join_check(&join, &join.files[0], &join.files[i]);
	if (!ret)
		ret = join_write(&join);
	for (int i = 0; join.files && i < n; i++)
		join_close(&join.files[i]);
	free(join.files);
	return ret;
}
