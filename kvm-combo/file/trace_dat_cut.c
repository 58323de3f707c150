// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_dat_cut.c
 * @brief	Cut records out of trace.dat files.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "trace_dat_cut.h"
#include "trace_dat_pages.h"
#include "trace_dat_read.h"
#include "write_at.h"

/** The records of a CPU in a buffer. */
struct area {
	uint64_t	offset, size, page;
	uint32_t	cpu;
	bool		is_wanted;
	uint64_t	first, last;	/* offsets of records, if so */
};

struct trace_dat_cut {
	char		*path;
	struct dat_file	dat;
	char		problem[400];
	uint64_t	head;		/* version 6: bytes before the list of places */
	struct area	*areas;		/* in the order in which the file lists them */
	size_t		n_areas, room_areas;
	size_t		last;		/* the area that was wanted last */
	bool		has_gap;
	uint64_t	trace_id;	/* of trace-cmd; 0: none */
};

/* --- opening --------------------------------------------------------------------------------- */

static bool add_area(struct trace_dat_cut *cut, const struct dat_cpu *cpu)
{
	if (!dat_check_cpu(&cut->dat, cpu))
		return false;
	if (ARRAY_GROW(cut->areas, cut->n_areas, cut->room_areas))
		return dat_complain(&cut->dat, "not enough memory");
	cut->areas[cut->n_areas++] = (struct area){
		.offset = cpu->offset, .size = cpu->size, .page = cpu->page, .cpu = cpu->cpu,
	};
	return true;
}

static bool take_option(void *arg, const struct dat_file *dat, struct dat_option *option)
{
	struct trace_dat_cut *cut = arg;
	struct dat_buffer buffer;

	if (option->id == DAT_TRACEID && option->size >= 8)
		cut->trace_id = dat_get(dat, option->data, 8);
	if (option->id != DAT_BUFFER)
		return true;
	if (!dat_find_buffer(dat, option, "split", &buffer))
		return false;
	for (uint32_t i = 0; i < buffer.n_cpus; i++) {
		const struct dat_cpu cpu = dat_buffer_cpu(dat, &buffer, i);

		if (!add_area(cut, &cpu))
			return false;
	}
	return true;
}

#define V6_TAG		"flyrecord"
#define V6_PLACE	16	/* bytes: offset and size */

/** The list of places after the tag, at the end of the head. Return: false: there is none. */
static bool find_list(struct trace_dat_cut *cut, uint64_t end, uint64_t *n)
{
	char tag[sizeof(V6_TAG)];

	for (*n = 0; end >= V6_PLACE * *n + sizeof(tag); ++*n) {
		if (!dat_seek(&cut->dat, end - V6_PLACE * *n - sizeof(tag)) ||
		    fread(tag, sizeof(tag), 1, cut->dat.file) != 1)
			return false;
		if (!memcmp(tag, V6_TAG, sizeof(tag)))
			return true;
	}
	return false;
}

/** Version 6 has no option of its only buffer, but a list of the places of all CPUs. */
static bool find_areas_v6(struct trace_dat_cut *cut)
{
	struct dat_file *dat = &cut->dat;
	uint64_t end, n;

	if (!dat_options(dat, take_option, cut))
		return false;
	end = (uint64_t)ftello(dat->file);
	if (!find_list(cut, end, &n))
		return dat_complain(dat, "a text of latencies, which has no records to split");
	cut->head = end - V6_PLACE * n;
	for (uint64_t i = 0; i < n; i++) {
		struct dat_cpu cpu = { .cpu = (uint32_t)i, .page = dat->page_size };

		if (!dat_seek(dat, cut->head + V6_PLACE * i) ||
		    !dat_number(dat, 8, &cpu.offset) || !dat_number(dat, 8, &cpu.size))
			return dat_cut_off(dat, "the list of its CPUs is", end);
		if (!add_area(cut, &cpu))
			return false;
	}
	return true;
}

static bool open_cut(struct trace_dat_cut *cut)
{
	struct dat_file *dat = &cut->dat;

	if (!dat_open(dat, cut->path, cut->problem, sizeof(cut->problem)))
		return false;
	if (strcmp(dat->compression, "none") != 0)
		return dat_complain(dat, "compressed with %s, which cannot be split. Make a copy "
				    "with 'trace-cmd convert --file-version 7 --compression none "
				    "-i FILE -o COPY'", dat->compression);
	return dat->version < 7 ? find_areas_v6(cut) : dat_options(dat, take_option, cut);
}

struct trace_dat_cut *trace_dat_cut_open(const char *path, char *error, size_t size)
{
	struct trace_dat_cut *cut = calloc(1, sizeof(*cut));

	if (cut)
		cut->path = strdup(path);
	if (cut && cut->path && open_cut(cut))
		return cut;
	text_format(error, size, "%s: %s", path,
		    cut && *cut->problem ? cut->problem : "not enough memory");
	trace_dat_cut_close(cut);
	return NULL;
}

void trace_dat_cut_close(struct trace_dat_cut *cut)
{
	if (!cut)
		return;
	dat_close(&cut->dat);
	free(cut->path);
	free(cut->areas);
	free(cut);
}

/* --- choosing -------------------------------------------------------------------------------- */

static bool has_offset(const struct area *area, uint64_t offset)
{
	return offset >= area->offset && offset - area->offset < area->size;
}

void trace_dat_cut_take(struct trace_dat_cut *cut, uint64_t offset)
{
	size_t i = cut->last;
	struct area *area;

	if (i >= cut->n_areas || !has_offset(&cut->areas[i], offset))
		for (i = 0; i < cut->n_areas && !has_offset(&cut->areas[i], offset); i++)
			;
	if (i >= cut->n_areas)
		return;
	cut->last = i;
	area = &cut->areas[i];
	if (!area->is_wanted || offset < area->first)
		area->first = offset;
	if (!area->is_wanted || offset > area->last)
		area->last = offset;
	area->is_wanted = true;
}

void trace_dat_cut_take_all(struct trace_dat_cut *cut)
{
	for (size_t i = 0; i < cut->n_areas; i++) {
		struct area *area = &cut->areas[i];

		area->is_wanted = area->size;
		area->first = area->offset;
		area->last = area->offset + area->size - 1;
	}
}

void trace_dat_cut_gap(struct trace_dat_cut *cut)
{
	cut->has_gap = true;
}

bool trace_dat_cut_same(const struct trace_dat_cut *a, const struct trace_dat_cut *b)
{
	if (a->n_areas != b->n_areas || a->trace_id != b->trace_id ||
	    a->dat.version != b->dat.version ||
	    a->dat.big_endian != b->dat.big_endian || a->dat.long_size != b->dat.long_size)
		return false;
	for (size_t i = 0; i < a->n_areas; i++)
		if (a->areas[i].cpu != b->areas[i].cpu || a->areas[i].page != b->areas[i].page)
			return false;
	return true;
}

/* --- writing --------------------------------------------------------------------------------- */

/** A file that is written from several. */
struct writing {
	struct trace_dat_cut *const *cuts;
	int		n;
	int		fd;
	size_t		area;		/* the next one */
	uint8_t		*in;		/* a page of the input */
	struct dat_stream out;
	bool		has_gap;	/* before the next record */
};

/** Pass on the records of a page that lie in a range. @at: its offset in the file */
static int take_page(struct writing *writing, const struct trace_dat_cut *cut,
		     const struct area *area, uint64_t at)
{
	struct dat_page_walk walk;
	struct dat_page_record record;
	bool is_first = true;
	int ret = 0;

	dat_page_walk_begin(&walk, &cut->dat, writing->in, area->page);
	while (!ret && dat_page_walk_next(&walk, &record)) {
		bool is_wanted = at + record.end > area->first && at + record.begin <= area->last;

		if (is_wanted && (writing->has_gap || (is_first && walk.has_lost)))
			ret = dat_stream_lost(&writing->out,
					      writing->has_gap ? 0 : walk.lost);
		is_first = false;
		if (!is_wanted)
			continue;
		writing->has_gap = false;
		if (!ret)
			ret = dat_stream_add(&writing->out, record.ts, writing->in + record.data,
					     record.size);
	}
	return ret;
}

/** A page of which all records are wanted stays as it is. */
static int copy_page(struct writing *writing, uint64_t page)
{
	struct dat_stream *out = &writing->out;
	int ret = dat_stream_end(out);

	if (!ret)
		ret = write_at(out->fd, writing->in, page, out->at);
	out->at += page;
	return ret;
}

static int write_area(struct writing *writing, const struct trace_dat_cut *cut,
		      const struct area *area)
{
	uint64_t end = area->offset + area->size, first, at;
	int ret = 0;

	if (!area->is_wanted)
		return 0;
	first = area->offset + (area->first - area->offset) / area->page * area->page;
	for (at = first; at < end && at <= area->last && !ret; at += area->page) {
		bool is_whole = end - at >= area->page && at > area->first &&
				at + area->page <= area->last && !writing->has_gap;

		ret = dat_read_page(&cut->dat, at, end, writing->in, area->page);
		if (!ret)
			ret = is_whole ? copy_page(writing, area->page) :
					 take_page(writing, cut, area, at);
	}
	return ret;
}

/** Write one CPU of a buffer, from all files. @end: receives where its pages end */
static int write_cpu(void *arg, uint64_t at, uint64_t *end)
{
	struct writing *writing = arg;
	size_t i = writing->area++;
	const struct trace_dat_cut *first = writing->cuts[0];
	uint64_t page = first->areas[i].page;
	int ret = dat_stream_begin(&writing->out, &first->dat, page, writing->fd, at);

	writing->in = malloc(page);
	if (!writing->in)
		ret = -ENOMEM;
	for (int k = 0; k < writing->n && !ret; k++) {
		/* before the first record of a CPU, nothing is known anyhow */
		writing->has_gap = k && writing->cuts[k]->has_gap &&
				   (writing->out.at > at || writing->out.page.used);
		ret = write_area(writing, writing->cuts[k], &writing->cuts[k]->areas[i]);
	}
	if (!ret)
		ret = dat_stream_end(&writing->out);
	free(writing->in);
	dat_stream_free(&writing->out);
	*end = writing->out.at;
	return ret;
}

static int copy_head(const struct trace_dat_cut *cut, int fd, uint64_t size)
{
	char piece[1 << 14];
	int ret = 0;

	if (!dat_seek(&cut->dat, 0))
		return -ESTALE;
	for (uint64_t at = 0; at < size && !ret; ) {
		size_t n = size - at < sizeof(piece) ? (size_t)(size - at) : sizeof(piece);

		if (fread(piece, 1, n, cut->dat.file) != n)
			return -ESTALE;
		ret = write_at(fd, piece, n, at);
		at += n;
	}
	return ret;
}

/** Version 6 has the places of all CPUs at the end of the head. */
static int write_v6(struct writing *writing)
{
	const struct trace_dat_cut *cut = writing->cuts[0];
	uint64_t page = cut->dat.page_size, list = cut->head;
	uint64_t at = page ? (list + V6_PLACE * cut->n_areas + page - 1) / page * page : 0;
	int ret = page ? copy_head(cut, writing->fd, list) : -EILSEQ;

	for (size_t i = 0; i < cut->n_areas && !ret; i++) {
		uint8_t place[V6_PLACE];
		uint64_t end = at;

		ret = write_cpu(writing, at, &end);
		dat_put(&cut->dat, place, 8, at);
		dat_put(&cut->dat, place + 8, 8, end - at);
		if (!ret)
			ret = write_at(writing->fd, place, sizeof(place),
				       list + V6_PLACE * i);
		at = end;
	}
	if (!ret && ftruncate(writing->fd, (off_t)at))
		ret = -errno;
	return ret;
}

int trace_dat_cut_write(struct trace_dat_cut *const *cuts, int n, int fd, char *error, size_t size)
{
	struct writing writing = { .cuts = cuts, .n = n, .fd = fd };
	int ret = cuts[0]->dat.version < 7 ? write_v6(&writing) :
		  dat_copy(&cuts[0]->dat, fd, write_cpu, &writing);

	if (ret == -EILSEQ)
		text_format(error, size, "%s: damaged: it cannot be copied. Copy it again, if "
			    "there is another one", cuts[0]->path);
	return ret;
}
