// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_source_pages.c
 * @brief	The records of a CPU of a trace.dat, read from its pages.
 *
 * libtracecmd takes some 800 instructions a record. The pages give the same records, unless
 * libtracecmd changes times by more than a scale: the first record of each CPU is compared.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trace-cmd.h>
#include <zstd.h>

#include "array.h"
#include "kvm_source_private.h"
#include "read_at.h"
#include "trace_dat_pages.h"
#include "trace_dat_read.h"

/** libtracecmd shifts the halves of a number. */
#define MOST_SHIFT	32

/** The limit of the bytes of pages in memory. libtracecmd reads a CPU that needs more. */
#define MOST_HELD	((size_t)64 << 20)

/** Pages of a plain file are read together up to this size. */
#define READ_SIZE	((uint64_t)64 << 10)

struct kvm_page_reader {
	int		fd;
	const struct kvm_source_area *area;
	struct dat_file	form;		/* byte order and size of a long */
	struct trace_dat_scale scale;	/* of struct kvm_source_pages */
	uint64_t	next;		/* offset in the area, of the next page or chunk */
	uint64_t	n_chunks;	/* that follow, of a packed area */
	uint64_t	base;		/* libtracecmd's offset of the first page */
	uint64_t	cycles;		/* the time of @record, without a scale */
	uint64_t	before;		/* bytes of pages before those in memory */
	size_t		at, n;		/* the page in memory that is read, and the end of all */
	uint8_t		*page;		/* that page */
	uint64_t	page_offset;	/* and libtracecmd's offset of it */
	struct dat_page_walk walk;
	struct tep_record record;
	bool		is_damaged;
	bool		has_lost;	/* records are missing before the next one */
	uint64_t	lost;		/* how many; 0: unknown */
	size_t		room;
	uint8_t		*pages;		/* @room bytes: some, or all of a chunk */
};

/* --- where they are -------------------------------------------------------------------------- */

struct finding {
	struct kvm_source *source;
	bool		has_failed;	/* there is not enough memory */
};

static bool add_area(struct finding *finding, const struct dat_file *dat, int32_t buffer,
		     const struct dat_cpu *cpu, bool is_packed)
{
	struct kvm_source_pages *pages = &finding->source->pages;

	if (!cpu->size || cpu->cpu > INT16_MAX)
		return true;
	if (!dat_check_cpu(dat, cpu))
		return false;
	finding->has_failed = ARRAY_GROW(pages->areas, pages->n, pages->room);
	if (finding->has_failed)
		return false;
	pages->areas[pages->n++] = (struct kvm_source_area){
		.offset = cpu->offset, .size = cpu->size, .page = cpu->page,
		.buffer = buffer, .cpu = (int32_t)cpu->cpu, .is_packed = is_packed,
	};
	return true;
}

/** The number of a buffer; -1: libtracecmd cannot open it. The top one has no name. */
static int32_t buffer_of(const struct kvm_facts *facts, const char *name)
{
	for (int32_t i = 0; i < facts->n_buffers; i++)
		if (!strcmp(facts->buffers[i].name ? facts->buffers[i].name : "", name))
			return i;
	return -1;
}

/** Of version 7. */
static bool take_buffer(struct finding *finding, const struct dat_file *dat,
			const struct dat_option *option)
{
	struct dat_section section;
	struct dat_buffer buffer;
	int32_t number;
	bool is_packed;

	if (!dat_buffer(dat, option, &buffer) ||
	    !dat_section(dat, dat_get(dat, buffer.offset, 8), &section))
		return false;
	is_packed = section.flags & DAT_COMPRESSED;
	if (is_packed && strcmp(dat->compression, "zstd") != 0)
		return false;
	number = buffer_of(&finding->source->facts, buffer.name);
	for (uint32_t i = 0; number >= 0 && i < buffer.n_cpus; i++) {
		const struct dat_cpu cpu = dat_buffer_cpu(dat, &buffer, i);

		if (!add_area(finding, dat, number, &cpu, is_packed))
			return false;
	}
	return true;
}

static bool take_option(void *arg, const struct dat_file *dat, struct dat_option *option)
{
	struct finding *finding = arg;
	struct kvm_source_pages *pages = &finding->source->pages;

	dat_scale(dat, option, &pages->scale);
	/* version 6 has another option of this number */
	return option->id != DAT_BUFFER || dat->version < 7 || take_buffer(finding, dat, option);
}

/** Version 6 lists the CPUs of its top buffer after the options. */
static bool take_list(struct finding *finding, const struct dat_file *dat,
		      const struct dat_areas *areas)
{
	for (size_t i = 0; dat->version < 7 && i < areas->n; i++) {
		const struct dat_cpu cpu = {
			.cpu = (uint32_t)areas->all[i].cpu, .offset = areas->all[i].offset,
			.size = areas->all[i].size, .page = dat->page_size,
		};

		if (!add_area(finding, dat, 0, &cpu, false))
			return false;
	}
	return true;
}

/** Return: false: the places of records are not found. */
static bool find_areas(struct finding *finding, struct dat_file *dat)
{
	struct dat_areas areas = { 0 };
	bool ok;

	dat->areas = &areas;
	ok = dat_options(dat, take_option, finding) && take_list(finding, dat, &areas);
	free(areas.all);
	return ok;
}

int kvm_source_pages_find(struct kvm_source *source)
{
	struct kvm_source_pages *pages = &source->pages;
	struct finding finding = { .source = source };
	struct dat_file dat;
	char problem[512];
	bool ok = false;
	off_t at;

	if (pages->fd < 0 || source->facts.shifted)
		return 0;
	/* all descriptors of a file have the same position, that of libtracecmd */
	at = lseek(pages->fd, 0, SEEK_CUR);
	if (dat_open_fd(&dat, dup(pages->fd), problem, sizeof(problem))) {
		ok = find_areas(&finding, &dat);
		pages->big_endian = dat.big_endian;
		pages->long_size = dat.long_size;
	}
	dat_close(&dat);
	lseek(pages->fd, at, SEEK_SET);
	if (!ok)
		pages->n = 0;
	return finding.has_failed ? -ENOMEM : 0;
}

void kvm_source_pages_free(struct kvm_source *source)
{
	if (source->pages.fd >= 0)
		close(source->pages.fd);
	free(source->pages.areas);
	source->pages = (struct kvm_source_pages){ .fd = -1 };
}

/* --- bytes of the file ----------------------------------------------------------------------- */

/** Read bytes at an offset of the area. Return: false if the area or the file ends before. */
static bool read_bytes(const struct kvm_page_reader *reader, uint64_t offset, void *to, size_t n)
{
	/* the number of chunks is not counted in the size */
	uint64_t size = reader->area->size + (reader->area->is_packed ? 4 : 0);

	return offset <= size && n <= size - offset &&
	       !read_at(reader->fd, to, n, reader->area->offset + offset);
}

static bool read_number(const struct kvm_page_reader *reader, uint64_t offset, uint64_t *value)
{
	uint8_t raw[4];

	if (!read_bytes(reader, offset, raw, sizeof(raw)))
		return false;
	*value = dat_get(&reader->form, raw, sizeof(raw));
	return true;
}

/** Read the head of the next chunk. Return: false if there is none, or it is impossible. */
static bool read_head(const struct kvm_page_reader *reader, uint64_t *packed, uint64_t *size)
{
	return read_number(reader, reader->next, packed) &&
	       read_number(reader, reader->next + 4, size) && *packed <= reader->area->size &&
	       *size && *size <= MOST_HELD;
}

/** Return: false if the chunk is damaged, or there is no memory for it. */
static bool read_chunk(struct kvm_page_reader *reader)
{
	uint64_t packed, size;
	uint8_t *bytes;
	bool ok;

	if (!read_head(reader, &packed, &size) || size > reader->room)
		return false;
	bytes = malloc((size_t)packed + 1);
	ok = bytes && read_bytes(reader, reader->next + DAT_CHUNK, bytes, (size_t)packed) &&
	     ZSTD_decompress(reader->pages, reader->room, bytes, (size_t)packed) == size;
	free(bytes);
	reader->next += DAT_CHUNK + packed;
	reader->n = (size_t)size;
	reader->n_chunks--;
	return ok;
}

/** Get the next pages, or a chunk, into memory. Return: false at the end, or if it is damaged. */
static bool read_more(struct kvm_page_reader *reader)
{
	const struct kvm_source_area *area = reader->area;

	reader->before += reader->n;
	reader->at = reader->n = 0;
	if (area->is_packed) {
		reader->is_damaged = reader->n_chunks && !read_chunk(reader);
		return reader->n && !reader->is_damaged;
	}
	reader->n = area->size - reader->next < reader->room ?
		    (size_t)(area->size - reader->next) : reader->room;
	reader->is_damaged = !read_bytes(reader, reader->next, reader->pages, reader->n);
	reader->next += reader->n;
	return reader->n && !reader->is_damaged;
}

/* --- records --------------------------------------------------------------------------------- */

/** Return: false: there is no further page, or it is damaged. */
__attribute__((noinline))
static bool next_page(struct kvm_page_reader *reader)
{
	size_t page = (size_t)reader->area->page, n;

	reader->at += page;
	if (reader->at >= reader->n && !read_more(reader))
		return false;
	n = reader->n - reader->at < page ? reader->n - reader->at : page;
	reader->page = reader->pages + reader->at;
	dat_page_walk_begin(&reader->walk, &reader->form, reader->page, n);
	reader->page_offset = reader->base + reader->before + reader->at;
	/* a page without a record can have a loss, too */
	if (reader->walk.has_lost) {
		reader->lost = reader->has_lost ? 0 : reader->walk.lost;
		reader->has_lost = true;
	}
	return true;
}

/** As libtracecmd converts cycles. */
static uint64_t scaled(const struct kvm_page_reader *reader, uint64_t cycles)
{
	return (uint64_t)((unsigned __int128)cycles * reader->scale.mult >> reader->scale.shift);
}

/** The same as libtracecmd 1.3 has it: it takes the factor for a signed one. */
static uint64_t scaled_signed(const struct trace_dat_scale *scale, uint64_t cycles)
{
	uint64_t mult = (uint64_t)(int64_t)(int32_t)scale->mult;

	return ((cycles & UINT32_MAX) * mult >> scale->shift) +
	       ((cycles >> 32) * mult << (MOST_SHIFT - scale->shift));
}

/** Records that are missing before the next one. */
static int take_missed(struct kvm_page_reader *reader)
{
	int missed = !reader->lost ? -1 : reader->lost > INT_MAX ? INT_MAX : (int)reader->lost;

	reader->has_lost = false;
	reader->lost = 0;
	return missed;
}

struct tep_record *kvm_page_reader_next(struct kvm_page_reader *reader)
{
	const struct dat_page_walk *walk = &reader->walk;
	struct tep_record *record = &reader->record;
	struct dat_page_record found;

	while (!dat_page_walk_next(&reader->walk, &found)) {
		reader->is_damaged = walk->is_damaged;
		if (walk->is_damaged || !next_page(reader))
			return NULL;
	}
	reader->cycles = found.ts;
	record->ts = reader->scale.mult ? scaled(reader, found.ts) : found.ts;
	record->offset = reader->page_offset + found.begin;
	record->missed_events = reader->has_lost ? take_missed(reader) : 0;
	record->record_size = (int)(found.end - found.begin);
	record->size = (int)found.size;
	record->data = reader->page + found.data;
	return record;
}

struct tep_record *kvm_page_reader_first(struct kvm_page_reader *reader)
{
	return reader->record.data ? &reader->record : NULL;
}

bool kvm_page_reader_is_damaged(const struct kvm_page_reader *reader)
{
	return reader->is_damaged;
}

/* --- a CPU ----------------------------------------------------------------------------------- */

static const struct kvm_source_area *area_of(const struct kvm_source_pages *pages, int buffer,
					     int cpu)
{
	for (size_t i = 0; i < pages->n; i++)
		if (pages->areas[i].buffer == buffer && pages->areas[i].cpu == cpu)
			return &pages->areas[i];
	return NULL;
}

/** Bytes that are read at once: some pages, or a chunk; 0: the first chunk cannot be read. */
static size_t first_bytes(struct kvm_page_reader *reader)
{
	const struct kvm_source_area *area = reader->area;
	uint64_t packed, size;

	if (!area->is_packed) {
		size = area->page < READ_SIZE ? READ_SIZE / area->page * area->page : area->page;
		return (size_t)(area->size < size ? area->size : size);
	}
	if (!read_number(reader, 0, &reader->n_chunks))
		return 0;
	reader->next = 4;
	return read_head(reader, &packed, &size) ? (size_t)size : 0;
}

/** Its time is wrong where the TSC runs at 1 GHz or slower. */
static bool is_same_time(const struct kvm_page_reader *reader, uint64_t own, uint64_t other)
{
	return own == other || (reader->scale.mult > INT32_MAX &&
				scaled_signed(&reader->scale, reader->cycles) == other);
}

/**
 * Are the pages those that libtracecmd reads?
 * @first: whose offset says where libtracecmd has the first page
 */
static bool is_same(struct kvm_page_reader *reader, const struct tep_record *first)
{
	size_t most = reader->area->is_packed ? reader->room : (size_t)reader->area->page;
	struct tep_record *own = kvm_page_reader_next(reader);

	/* libtracecmd trusts the size of a damaged record, and goes on in what follows */
	if (!own && (first->record_size < 0 || (size_t)first->record_size > most))
		return reader->is_damaged;
	if (!own || !is_same_time(reader, own->ts, first->ts) || own->size != first->size ||
	    own->record_size != first->record_size || own->offset > first->offset ||
	    memcmp(own->data, first->data, (size_t)own->size) != 0)
		return false;
	/* of what is packed, it counts unpacked bytes */
	reader->base = first->offset - own->offset;
	reader->page_offset += reader->base;
	own->offset = first->offset;
	return reader->area->is_packed || reader->base == reader->area->offset;
}

int kvm_page_reader_new(struct kvm_source *source, int buffer, int cpu,
			const struct tep_record *first, struct kvm_page_reader **reader)
{
	struct kvm_source_pages *pages = &source->pages;
	const struct kvm_source_area *area = area_of(pages, buffer, cpu);
	struct kvm_page_reader *made;

	*reader = NULL;
	if (!area || pages->scale.shift > MOST_SHIFT || pages->is_off)
		return 0;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	*made = (struct kvm_page_reader){
		.fd = pages->fd, .area = area, .scale = pages->scale,
		.form = { .big_endian = pages->big_endian, .long_size = pages->long_size },
		.record = { .cpu = cpu },
	};
	made->room = first_bytes(made);
	if (made->room > MOST_HELD - pages->held && !area->is_packed)
		made->room = (size_t)(area->size < area->page ? area->size : area->page);
	if (made->room && made->room <= MOST_HELD - pages->held)
		made->pages = malloc(made->room);
	if (!made->pages) {
		free(made);
		return 0;
	}
	pages->held += made->room;
	if (is_same(made, first))
		*reader = made;
	else
		kvm_page_reader_free(source, made);
	return 0;
}

void kvm_page_reader_free(struct kvm_source *source, struct kvm_page_reader *reader)
{
	if (!reader)
		return;
	source->pages.held -= reader->room;
	free(reader->pages);
	free(reader);
}
