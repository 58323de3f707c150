// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_dat_read.c
 * @brief	The head and the options of a trace.dat file, read without libtracecmd.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include "array.h"
#include "regular_file.h"
#include "trace_dat.h"
#include "trace_dat_read.h"

/** A chain of options has no more parts than that, unless it goes round in circles. */
#define MAX_SECTIONS	1000

/** More than any options need: those of a host with some thousands of CPUs. */
#define MAX_OPTIONS	(64u << 20)

/**
 * Deflate makes at most 1032 bytes of one, zstd a block of 128 kB of 4; the rest is for the end of
 * the smallest stream.
 */
#define MAX_RATIO	1032
#define MAX_RATIO_ZSTD	(1 << 15)
#define MAX_SLACK	1024

#define PIECE		(256u << 10)

bool dat_complain(const struct dat_file *dat, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(dat->problem, dat->problem_size, format, args);
	va_end(args);
	return false;
}

bool dat_cut_off(const struct dat_file *dat, const char *what, uint64_t offset)
{
	return dat_complain(dat, "cut off: %s at offset %llu, the file ends at %llu. Copy it "
			    "again; after an interrupted recording, 'trace-cmd restore' can "
			    "restore its parts (trace.dat.cpu*)", what,
			    (unsigned long long)offset, (unsigned long long)dat->size);
}

static bool damaged(const struct dat_file *dat, const char *what)
{
	return dat_complain(dat, "damaged: %s. Copy it again, if there is another one", what);
}

uint64_t dat_get(const struct dat_file *dat, const uint8_t *raw, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value = value << 8 | raw[dat->big_endian ? i : bytes - 1 - i];
	return value;
}

void dat_put(const struct dat_file *dat, uint8_t *raw, int bytes, uint64_t value)
{
	for (int i = 0; i < bytes; i++, value >>= 8)
		raw[dat->big_endian ? bytes - 1 - i : i] = (uint8_t)value;
}

bool dat_seek(const struct dat_file *dat, uint64_t offset)
{
	return offset <= dat->size && !fseeko(dat->file, (off_t)offset, SEEK_SET);
}

bool dat_number(const struct dat_file *dat, int bytes, uint64_t *value)
{
	uint8_t raw[8];

	if (fread(raw, 1, (size_t)bytes, dat->file) != (size_t)bytes)
		return false;
	*value = dat_get(dat, raw, bytes);
	return true;
}

/** A text that ends with a zero byte. Return: false if it does not fit or end. */
static bool get_text(const struct dat_file *dat, char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		int c = getc(dat->file);

		if (c == EOF)
			return false;
		text[i] = (char)c;
		if (!c)
			return true;
	}
	return false;
}

/* --- the head -------------------------------------------------------------------------------- */

static bool read_head(struct dat_file *dat)
{
	char format[16];
	uint64_t endian, long_size;

	if (!dat_seek(dat, sizeof(trace_dat_magic)) || !get_text(dat, format, sizeof(format)))
		return false;
	dat->version = atoi(format);
	strcpy(dat->compression, "none");
	if (!dat_number(dat, 1, &endian) || !dat_number(dat, 1, &long_size))
		return false;
	dat->big_endian = endian;
	dat->long_size = long_size == 4 ? 4 : 8;
	if (!dat_number(dat, 4, &dat->page_size))
		return false;
	if (dat->version < 7)
		return true;
	if (!get_text(dat, dat->compression, sizeof(dat->compression)) ||
	    !get_text(dat, dat->compression_version, sizeof(dat->compression_version)))
		return false;
	dat->options_at = (uint64_t)ftello(dat->file);
	return dat_number(dat, 8, &dat->options);
}

bool dat_open_fd(struct dat_file *dat, int fd, char *problem, size_t size)
{
	struct stat st;

	memset(dat, 0, sizeof(*dat));
	dat->problem = problem;
	dat->problem_size = size;
	problem[0] = '\0';
	if (fd < 0)
		return dat_complain(dat, "%s", regular_file_error(fd));
	dat->file = fdopen(fd, "re");
	if (!dat->file || fstat(fd, &st)) {
		dat_complain(dat, "%s", strerror(errno));
		if (!dat->file)
			close(fd);
		return false;
	}
	dat->size = (uint64_t)st.st_size;
	return read_head(dat) || dat_cut_off(dat, "its head is", 0);
}

bool dat_open(struct dat_file *dat, const char *path, char *problem, size_t size)
{
	return dat_open_fd(dat, held_file_open(path), problem, size);
}

void dat_close(struct dat_file *dat)
{
	if (dat->file)
		fclose(dat->file);
	dat->file = NULL;
}

/* --- what is compressed ---------------------------------------------------------------------- */

static bool is_zstd(const struct dat_file *dat)
{
	return !strcmp(dat->compression, "zstd");
}

bool dat_can_unpack(const struct dat_file *dat)
{
	return is_zstd(dat) || !strcmp(dat->compression, "zlib") ||
	       !strcmp(dat->compression, "none");
}

bool dat_is_possible(const struct dat_file *dat, uint64_t packed, uint64_t unpacked)
{
	return unpacked <= packed * (is_zstd(dat) ? MAX_RATIO_ZSTD : MAX_RATIO) + MAX_SLACK;
}

/** Unpack all that a piece of input gives. Return: 0 or a negative errno. */
static int inflate_piece(z_stream *stream, uint8_t *out, uint64_t *left, bool *end,
			 int (*take)(void *arg, const void *data, size_t n), void *arg)
{
	do {
		size_t n;
		int ret;

		stream->next_out = out;
		stream->avail_out = PIECE;
		ret = inflate(stream, Z_NO_FLUSH);
		n = PIECE - stream->avail_out;
		*end = ret == Z_STREAM_END;
		if ((ret != Z_OK && ret != Z_BUF_ERROR && !*end) || n > *left)
			return ret == Z_MEM_ERROR ? -ENOMEM : -EILSEQ;
		*left -= n;
		ret = n ? take(arg, out, n) : 0;
		if (ret)
			return ret;
	} while (!*end && !stream->avail_out);
	return 0;
}

/** What goes through a decompressor, piece by piece. */
struct unpacking {
	uint8_t		*in, *out;	/* PIECE bytes each */
	uint64_t	left;		/* bytes that are still expected */
	int		(*take)(void *arg, const void *data, size_t n);
	void		*arg;
};

/** The same for zstd, of a piece of input. Return: as inflate_piece(). */
static int unpack_zstd_piece(ZSTD_DStream *stream, struct unpacking *to, size_t n, bool *end)
{
	ZSTD_inBuffer in = { to->in, n, 0 };
	ZSTD_outBuffer out = { to->out, PIECE, 0 };

	do {
		size_t ret;
		int taken;

		out.pos = 0;
		ret = ZSTD_decompressStream(stream, &out, &in);
		if (ZSTD_isError(ret) || out.pos > to->left)
			return -EILSEQ;
		*end = !ret;
		to->left -= out.pos;
		taken = out.pos ? to->take(to->arg, to->out, out.pos) : 0;
		if (taken)
			return taken;
	} while (!*end && (in.pos < in.size || out.pos == out.size));
	return *end && in.pos < in.size ? -EILSEQ : 0;
}

static int unpack_zstd(const struct dat_file *dat, uint64_t packed, struct unpacking *to)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	bool end = false;
	int ret = stream ? 0 : -ENOMEM;

	while (!ret && packed) {
		size_t n = packed < PIECE ? (size_t)packed : PIECE;

		packed -= n;
		/* nothing may follow the end */
		ret = end || fread(to->in, 1, n, dat->file) != n ? -EILSEQ :
		      unpack_zstd_piece(stream, to, n, &end);
	}
	ZSTD_freeDStream(stream);
	return !ret && (!end || to->left) ? -EILSEQ : ret;
}

int dat_inflate(const struct dat_file *dat, uint64_t packed, uint64_t size,
		int (*take)(void *arg, const void *data, size_t n), void *arg)
{
	uint8_t *in = malloc(2 * PIECE), *out = in + PIECE;
	z_stream stream = { 0 };
	bool end = false;
	int ret = in ? 0 : -ENOMEM;

	if (!ret && is_zstd(dat)) {
		struct unpacking to = { in, out, size, take, arg };

		ret = unpack_zstd(dat, packed, &to);
		free(in);
		return ret;
	}
	if (!ret && inflateInit(&stream) != Z_OK)
		ret = -ENOMEM;
	while (!ret && !end && packed) {
		size_t n = packed < PIECE ? (size_t)packed : PIECE;

		if (fread(in, 1, n, dat->file) != n) {
			ret = -EILSEQ;
			break;
		}
		packed -= n;
		stream.next_in = in;
		stream.avail_in = (uInt)n;
		ret = inflate_piece(&stream, out, &size, &end, take, arg);
	}
	if (in)
		inflateEnd(&stream);
	free(in);
	return !ret && (!end || size) ? -EILSEQ : ret;
}

/* --- sections -------------------------------------------------------------------------------- */

bool dat_section(const struct dat_file *dat, uint64_t offset, struct dat_section *section)
{
	uint64_t id, flags, text;

	if (!dat_seek(dat, offset) || !dat_number(dat, 2, &id) || !dat_number(dat, 2, &flags) ||
	    !dat_number(dat, 4, &text) || !dat_number(dat, 8, &section->size))
		return false;
	section->id = (unsigned int)id;
	section->flags = (unsigned int)flags;
	section->text = (uint32_t)text;
	return offset + DAT_SECTION <= dat->size &&
	       section->size <= dat->size - offset - DAT_SECTION;
}

/* --- areas ----------------------------------------------------------------------------------- */

bool dat_add_area(const struct dat_file *dat, int64_t cpu, uint64_t offset, uint64_t size)
{
	struct dat_areas *areas = dat->areas;

	if (!areas || !size)
		return true;
	if (ARRAY_GROW(areas->all, areas->n, areas->room))
		return dat_complain(dat, "not enough memory");
	areas->all[areas->n++] = (struct dat_area){ offset, size, cpu };
	return true;
}

bool dat_add_data(const struct dat_file *dat, uint64_t cpu, uint64_t offset, uint64_t size)
{
	char text[64];

	snprintf(text, sizeof(text), "the data of CPU %llu begins", (unsigned long long)cpu);
	if (offset > dat->size || size > dat->size - offset)
		return dat_cut_off(dat, text, offset);
	return dat_add_area(dat, (int64_t)(cpu & INT64_MAX), offset, size);
}

static int compare_areas(const void *a, const void *b)
{
	const struct dat_area *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

static const char *name_area(const struct dat_area *area, char *text, size_t size)
{
	if (area->cpu < 0)
		return "a section";
	snprintf(text, size, "the data of CPU %lld", (long long)area->cpu);
	return text;
}

bool dat_areas_apart(const struct dat_file *dat)
{
	const struct dat_areas *areas = dat->areas;
	char text[2][64];

	if (areas->n)
		qsort(areas->all, areas->n, sizeof(*areas->all), compare_areas);
	for (size_t i = 1; i < areas->n; i++) {
		const struct dat_area *one = &areas->all[i - 1], *next = one + 1;

		if (next->offset - one->offset < one->size)
			return dat_complain(dat, "damaged: %s, at offset %llu, and %s, at offset "
					    "%llu, overlap. Copy it again, if there is another one",
					    name_area(one, text[0], sizeof(text[0])),
					    (unsigned long long)one->offset,
					    name_area(next, text[1], sizeof(text[1])),
					    (unsigned long long)next->offset);
	}
	return true;
}

/* --- options --------------------------------------------------------------------------------- */

/** Memory that is filled in pieces. */
struct block {
	uint8_t		*data;
	size_t		n;
};

static int fill(void *arg, const void *data, size_t n)
{
	struct block *block = arg;

	memcpy(block->data + block->n, data, n);
	block->n += n;
	return 0;
}

/** What is in a section of options. Return: malloc'ed, or NULL after a complaint or without any. */
static uint8_t *read_options(const struct dat_file *dat, const struct dat_section *section,
			     uint64_t *size)
{
	bool packed = section->flags & DAT_COMPRESSED;
	struct block block = { 0 };
	uint64_t from = section->size;
	bool ok;

	*size = from;
	if (packed && (section->size < DAT_CHUNK || !dat_number(dat, 4, &from) ||
		       !dat_number(dat, 4, size) || from > section->size - DAT_CHUNK ||
		       !dat_is_possible(dat, from, *size))) {
		damaged(dat, "its options cannot be unpacked");
		return NULL;
	}
	if (*size > MAX_OPTIONS) {
		damaged(dat, "its options are too large");
		return NULL;
	}
	block.data = malloc((size_t)*size + 1);
	if (!block.data) {
		dat_complain(dat, "not enough memory");
		return NULL;
	}
	ok = packed ? !dat_inflate(dat, from, *size, fill, &block) :
		      fread(block.data, 1, (size_t)*size, dat->file) == *size;
	if (ok)
		return block.data;
	damaged(dat, "its options cannot be read");
	free(block.data);
	return NULL;
}

/** Bytes of a DAT_TSC2NSEC: mult, shift, and an offset. */
#define SCALE_BYTES	16

bool dat_scale(const struct dat_file *dat, const struct dat_option *option,
	       struct trace_dat_scale *scale)
{
	if (option->id != DAT_TSC2NSEC || option->size < SCALE_BYTES)
		return false;
	scale->mult = (uint32_t)dat_get(dat, option->data, 4);
	scale->shift = (uint32_t)dat_get(dat, option->data + 4, 4);
	return true;
}

/** Step over a text. Return: false if it has no end. */
static bool step_text(uint8_t **at, const uint8_t *end)
{
	uint8_t *zero = memchr(*at, '\0', (size_t)(end - *at));

	*at = zero ? zero + 1 : *at;
	return zero;
}

bool dat_buffer(const struct dat_file *dat, const struct dat_option *option,
		struct dat_buffer *buffer)
{
	uint8_t *at = option->data, *end = at + option->size;
	uint64_t n;

	if (option->size < 8)
		return false;
	*buffer = (struct dat_buffer){ .offset = at };
	at += 8;
	buffer->name = (const char *)at;
	if (!step_text(&at, end))
		return false;
	buffer->clock = (const char *)at;
	if (!step_text(&at, end))
		return false;
	if (option->id != DAT_BUFFER)
		return true;
	if (end - at < 8)
		return false;
	buffer->page_size = dat_get(dat, at, 4);
	n = dat_get(dat, at + 4, 4);
	buffer->cpus = at + 8;
	buffer->n_cpus = (uint32_t)n;
	return n <= (uint64_t)(end - buffer->cpus) / DAT_BUFFER_CPU;
}

struct dat_cpu dat_buffer_cpu(const struct dat_file *dat, const struct dat_buffer *buffer,
			      uint32_t i)
{
	const uint8_t *entry = buffer->cpus + (size_t)i * DAT_BUFFER_CPU;

	return (struct dat_cpu){
		.cpu = (uint32_t)dat_get(dat, entry, 4), .offset = dat_get(dat, entry + 4, 8),
		.size = dat_get(dat, entry + 12, 8), .page = buffer->page_size,
	};
}

bool dat_find_buffer(const struct dat_file *dat, const struct dat_option *option, const char *what,
		     struct dat_buffer *buffer)
{
	if (dat->version < 7)
		return dat_complain(dat, "a file of version 6 with buffer instances cannot be "
				    "%s. Make a copy with 'trace-cmd convert --file-version 7 "
				    "--compression none -i FILE -o COPY'", what);
	return dat_buffer(dat, option, buffer) ||
	       dat_complain(dat, "damaged: one of its buffers cannot be understood");
}

bool dat_check_cpu(const struct dat_file *dat, const struct dat_cpu *cpu)
{
	if (cpu->page < DAT_LEAST_PAGE || cpu->page > DAT_MOST_PAGE)
		return dat_complain(dat, "damaged: its pages have %llu bytes. Copy it again, if "
				    "there is another one", (unsigned long long)cpu->page);
	if (cpu->size && (cpu->offset > dat->size || cpu->size > dat->size - cpu->offset))
		return dat_cut_off(dat, "the records of a CPU begin", cpu->offset);
	return true;
}

/** The options in memory. @next: receives where more are, or 0 */
static bool take_options(const struct dat_file *dat, uint8_t *data, uint64_t size, uint64_t *next,
			 dat_option_fn take, void *arg)
{
	for (uint64_t at = 0; at + 6 <= size; ) {
		struct dat_option option = {
			.id = (unsigned int)dat_get(dat, data + at, 2),
			.size = (uint32_t)dat_get(dat, data + at + 2, 4),
			.data = data + at + 6,
		};

		at += 6;
		if (option.size > size - at)
			return damaged(dat, "an option is larger than the section that it is in");
		if (option.id == DAT_DONE) {
			*next = option.size >= 8 ? dat_get(dat, option.data, 8) : 0;
			return true;
		}
		if (!take(arg, dat, &option))
			return false;
		at += option.size;
	}
	return damaged(dat, "its options have no end");
}

static bool options_v7(const struct dat_file *dat, dat_option_fn take, void *arg)
{
	uint64_t offset = dat->options, size, all = 0;

	for (int i = 0; offset; i++) {
		struct dat_section section;
		uint8_t *data;
		bool ok;

		if (i >= MAX_SECTIONS)
			return damaged(dat, "its options go round in circles");
		if (!dat_section(dat, offset, &section))
			return dat_cut_off(dat, "its options are", offset);
		/* the largest part of the file could be read again and again */
		all += section.size;
		if (all > dat->size)
			return damaged(dat, "its options go round in circles");
		if (section.id != DAT_DONE)
			return damaged(dat, "where its options should be, something else is");
		if ((section.flags & DAT_COMPRESSED) && !dat_can_unpack(dat))
			return true;
		data = read_options(dat, &section, &size);
		ok = data && take_options(dat, data, size, &offset, take, arg);
		free(data);
		if (!ok)
			return false;
	}
	return true;
}

/* --- version 6: one thing after the other ---------------------------------------------------- */

/** Skip what has its size before it. Return: false if the file ends before. */
static bool skip(const struct dat_file *dat, int bytes)
{
	uint64_t size, here;

	if (!dat_number(dat, bytes, &size))
		return false;
	here = (uint64_t)ftello(dat->file);
	return size <= dat->size - here && dat_seek(dat, here + size);
}

static bool skip_word(const struct dat_file *dat, const char *word, size_t size)
{
	char found[16];

	return fread(found, 1, size, dat->file) == size && !memcmp(found, word, size);
}

static bool skip_formats(const struct dat_file *dat)
{
	uint64_t n;

	if (!dat_number(dat, 4, &n))
		return false;
	while (n--)
		if (!skip(dat, 8))
			return false;
	return true;
}

static bool skip_systems(const struct dat_file *dat)
{
	char name[4096];
	uint64_t n;

	if (!dat_number(dat, 4, &n))
		return false;
	while (n--)
		if (!get_text(dat, name, sizeof(name)) || !skip_formats(dat))
			return false;
	return true;
}

static bool skip_part(const struct dat_file *dat, int part)
{
	switch (part) {
	case DAT_HEADERS:
		return skip_word(dat, "header_page", 12) && skip(dat, 8) &&
		       skip_word(dat, "header_event", 13) && skip(dat, 8);
	case DAT_FTRACE:
		return skip_formats(dat);
	case DAT_FORMATS:
		return skip_systems(dat);
	default:
		return skip(dat, part == DAT_COMMS ? 8 : 4);
	}
}

/** All that comes before the options. */
static bool skip_headers(const struct dat_file *dat)
{
	bool ok = true;

	for (int part = 0; part <= DAT_PARTS && ok; part++) {
		if (dat->parts)
			dat->parts[part] = (uint64_t)ftello(dat->file);
		ok = part == DAT_PARTS || skip_part(dat, part);
	}
	return ok;
}

/** @n_cpus: is what the option says, if it is about that */
static bool take_option_v6(const struct dat_file *dat, uint64_t id, uint64_t *n_cpus,
			   dat_option_fn take, void *arg)
{
	struct dat_option option = { .id = (unsigned int)id };
	uint64_t size, here;
	bool ok;

	if (!dat_number(dat, 4, &size))
		return dat_cut_off(dat, "an option is", (uint64_t)ftello(dat->file));
	here = (uint64_t)ftello(dat->file);
	if (size > dat->size - here)
		return dat_cut_off(dat, "an option is", here);
	if (size > MAX_OPTIONS)
		return damaged(dat, "its options are too large");
	option.size = (uint32_t)size;
	option.data = malloc((size_t)size + 1);
	if (!option.data)
		return dat_complain(dat, "not enough memory");
	ok = fread(option.data, 1, (size_t)size, dat->file) == size ||
	     damaged(dat, "its options cannot be read");
	if (ok && id == DAT_CPUCOUNT && size >= 4)
		*n_cpus = dat_get(dat, option.data, 4);
	ok = ok && take(arg, dat, &option);
	free(option.data);
	return ok;
}

/** Where the records of each CPU are. */
static bool check_cpus(const struct dat_file *dat, uint64_t n_cpus)
{
	uint64_t offset, size;

	for (uint64_t cpu = 0; cpu < n_cpus; cpu++) {
		if (!dat_number(dat, 8, &offset) || !dat_number(dat, 8, &size))
			return dat_cut_off(dat, "the list of its CPUs is",
					   (uint64_t)ftello(dat->file));
		if (!dat_add_data(dat, cpu, offset, size))
			return false;
	}
	return true;
}

static bool options_v6(const struct dat_file *dat, dat_option_fn take, void *arg)
{
	uint64_t id, n_cpus;
	char tag[10];

	if (!dat_seek(dat, sizeof(trace_dat_magic) + 8) || !skip_headers(dat) ||
	    !dat_number(dat, 4, &n_cpus) || fread(tag, sizeof(tag), 1, dat->file) != 1)
		return dat_cut_off(dat, "its headers are", (uint64_t)ftello(dat->file));
	if (!memcmp(tag, "options", 7)) {
		for (;;) {
			if (!dat_number(dat, 2, &id))
				return dat_cut_off(dat, "its options are",
						   (uint64_t)ftello(dat->file));
			if (id == DAT_DONE)
				break;
			if (!take_option_v6(dat, id, &n_cpus, take, arg))
				return false;
		}
		if (fread(tag, sizeof(tag), 1, dat->file) != 1)
			return dat_cut_off(dat, "its records are", (uint64_t)ftello(dat->file));
	}
	return memcmp(tag, "flyrecord", 9) != 0 || check_cpus(dat, n_cpus);
}

bool dat_options(const struct dat_file *dat, dat_option_fn take, void *arg)
{
	if (dat->version >= 7)
		return options_v7(dat, take, arg);
	/* what is older is libtracecmd's to refuse */
	return dat->version < 6 || options_v6(dat, take, arg);
}
