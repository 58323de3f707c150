// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_dat_unpack.c
 * @brief	Make an uncompressed copy of a trace.dat file that zlib or zstd has compressed.
 *
 * Debian 12's libtracecmd supports only zstd, and later versions do not notice damaged data. Parts
 * of files are written with the pages of other records.
 * Options show where everything is. The section of each option is copied and unpacked, and the
 * options are written after all sections, with the new places.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "array.h"
#include "temporary_file.h"
#include "trace_dat.h"
#include "trace_dat_read.h"
#include "write_at.h"

/** Traces become 3 to 30 times as large. Up to this size it does not matter what they become. */
#define MAX_GROWTH	100
#define ALWAYS_TAKEN	(1ull << 30)

#define COPY_PIECE	(256u << 10)

struct unpack {
	const struct dat_file *in;
	int		out;		/* -1: only add up what it becomes */
	uint64_t	at;		/* where the copy ends */
	uint64_t	limit;
	uint64_t	taken;		/* of the input: no part of it belongs to two things */
	int		error;		/* of the last failure; -EILSEQ: the file is damaged */
	uint8_t		*piece;
	uint8_t		*options;	/* with the new places */
	dat_cpu_fn	write_cpu;	/* instead of a copy; or NULL */
	void		*arg;
	size_t		n_options, room_options;
};

static bool fail(struct unpack *unpack, int error)
{
	unpack->error = error;
	return false;
}

static int write_out(void *arg, const void *data, size_t n)
{
	struct unpack *unpack = arg;
	int ret = write_at(unpack->out, data, n, unpack->at);

	unpack->at += n;
	return ret;
}

static bool write_all(struct unpack *unpack, const void *data, size_t n)
{
	int ret = 0;

	if (n > unpack->limit - unpack->at)
		return fail(unpack, -EFBIG);
	if (unpack->out < 0)
		unpack->at += n;
	else
		ret = write_out(unpack, data, n);
	return ret ? fail(unpack, ret) : true;
}

static bool write_number(struct unpack *unpack, int bytes, uint64_t value)
{
	uint8_t raw[8];

	dat_put(unpack->in, raw, bytes, value);
	return write_all(unpack, raw, (size_t)bytes);
}

/** Something of which the place is known, but not the value until now. */
static bool patch(struct unpack *unpack, uint64_t offset, uint64_t value)
{
	uint64_t end = unpack->at;
	bool ok;

	unpack->at = offset;
	ok = write_number(unpack, 8, value);
	unpack->at = end;
	return ok;
}

/* --- sections -------------------------------------------------------------------------------- */

/** Are @size bytes at @offset in the file, and not more in all than the file has? */
static bool take_input(struct unpack *unpack, uint64_t offset, uint64_t size)
{
	const struct dat_file *in = unpack->in;

	if (offset > in->size || size > in->size - offset || size > in->size - unpack->taken)
		return fail(unpack, -EILSEQ);
	unpack->taken += size;
	return true;
}

static bool copy(struct unpack *unpack, uint64_t offset, uint64_t size)
{
	if (!take_input(unpack, offset, size))
		return false;
	if (unpack->out < 0) {
		if (size > unpack->limit - unpack->at)
			return fail(unpack, -EFBIG);
		unpack->at += size;
		return true;
	}
	if (!dat_seek(unpack->in, offset))
		return fail(unpack, -EILSEQ);
	while (size) {
		size_t n = size < COPY_PIECE ? (size_t)size : COPY_PIECE;

		if (fread(unpack->piece, 1, n, unpack->in->file) != n)
			return fail(unpack, -EILSEQ);
		if (!write_all(unpack, unpack->piece, n))
			return false;
		size -= n;
	}
	return true;
}

/** A part that is compressed in one go. @next: receives where it ends; it may not be after @end */
static bool inflate_part(struct unpack *unpack, uint64_t offset, uint64_t end, uint64_t *next)
{
	uint64_t packed, size;
	int ret;

	if (offset > end || end - offset < DAT_CHUNK || !dat_seek(unpack->in, offset) ||
	    !dat_number(unpack->in, 4, &packed) || !dat_number(unpack->in, 4, &size) ||
	    packed > end - offset - DAT_CHUNK ||
	    !dat_is_possible(unpack->in, packed, size))
		return fail(unpack, -EILSEQ);
	if (!take_input(unpack, offset, DAT_CHUNK + packed))
		return false;
	*next = offset + DAT_CHUNK + packed;
	if (size > unpack->limit - unpack->at)
		return fail(unpack, -EFBIG);
	if (unpack->out < 0) {
		unpack->at += size;
		return true;
	}
	ret = dat_inflate(unpack->in, packed, size, write_out, unpack);
	return ret ? fail(unpack, ret) : true;
}

/** Records, and a latency trace, are compressed in chunks. */
static bool inflate_chunks(struct unpack *unpack, uint64_t offset, uint64_t end)
{
	uint64_t n;

	if (!dat_seek(unpack->in, offset) || !dat_number(unpack->in, 4, &n))
		return fail(unpack, -EILSEQ);
	for (offset += 4; n; n--)
		if (!inflate_part(unpack, offset, end, &offset))
			return false;
	return true;
}

/** The head of a section. @size_at: receives where its size belongs */
static bool begin_section(struct unpack *unpack, const struct dat_section *section,
			  uint64_t *size_at)
{
	*size_at = unpack->at + 8;
	return write_number(unpack, 2, section->id) &&
	       write_number(unpack, 2, section->flags & ~(unsigned int)DAT_COMPRESSED) &&
	       write_number(unpack, 4, section->text) && write_number(unpack, 8, 0);
}

static bool end_section(struct unpack *unpack, uint64_t size_at)
{
	return patch(unpack, size_at, unpack->at - size_at - 8);
}

/** A section that is read in one go. @place: receives where it is now */
static bool copy_section(struct unpack *unpack, uint64_t offset, uint64_t *place)
{
	struct dat_section section;
	uint64_t data = offset + DAT_SECTION, size_at, next;

	if (!dat_section(unpack->in, offset, &section))
		return fail(unpack, -EILSEQ);
	*place = unpack->at;
	return begin_section(unpack, &section, &size_at) &&
	       (section.flags & DAT_COMPRESSED ?
		inflate_part(unpack, data, data + section.size, &next) :
		copy(unpack, data, section.size)) &&
	       end_section(unpack, size_at);
}

/** The records of a CPU, at a place where they can be mapped. */
static bool copy_cpu(struct unpack *unpack, uint8_t *entry, uint64_t page, bool packed)
{
	uint64_t offset = dat_get(unpack->in, entry + 4, 8);
	uint64_t size = dat_get(unpack->in, entry + 12, 8);
	uint64_t from = (unpack->at + page - 1) & ~(page - 1);

	if (from > unpack->limit)
		return fail(unpack, -EFBIG);
	unpack->at = from;
	dat_put(unpack->in, entry + 4, 8, from);
	if (unpack->write_cpu) {
		int ret = unpack->write_cpu(unpack->arg, from, &unpack->at);

		dat_put(unpack->in, entry + 12, 8, unpack->at - from);
		return ret ? fail(unpack, ret) : true;
	}
	if (!size)
		return true;
	/* what the size counts are the chunks, without their number */
	if (!(packed ? inflate_chunks(unpack, offset, unpack->in->size) :
		       copy(unpack, offset, size)))
		return false;
	dat_put(unpack->in, entry + 12, 8, unpack->at - from);
	return true;
}

/** A buffer's section is where its option says, and its records where that says of each CPU. */
static bool copy_buffer(struct unpack *unpack, const struct dat_option *option)
{
	struct dat_buffer buffer;
	struct dat_section section;
	uint64_t offset, page, size_at, place = unpack->at;
	bool packed, ok = true;

	if (!dat_buffer(unpack->in, option, &buffer))
		return fail(unpack, -EILSEQ);
	offset = dat_get(unpack->in, buffer.offset, 8);
	/* libtracecmd maps pages of the recording machine at multiples of this one's */
	page = buffer.page_size > DAT_LEAST_PAGE ? buffer.page_size : DAT_LEAST_PAGE;
	if (!dat_section(unpack->in, offset, &section) || page & (page - 1) ||
	    page > DAT_MOST_PAGE)
		return fail(unpack, -EILSEQ);
	packed = section.flags & DAT_COMPRESSED;
	dat_put(unpack->in, buffer.offset, 8, place);
	if (!begin_section(unpack, &section, &size_at))
		return false;
	offset += DAT_SECTION;
	if (option->id == DAT_BUFFER_TEXT)
		ok = packed ? inflate_chunks(unpack, offset, offset + section.size) :
			      copy(unpack, offset, section.size);
	for (uint32_t i = 0; ok && i < buffer.n_cpus; i++)
		ok = copy_cpu(unpack, buffer.cpus + (size_t)i * DAT_BUFFER_CPU, page, packed);
	return ok && end_section(unpack, size_at);
}

/** Descriptions of sections; no option contains their places. */
static bool copy_strings(struct unpack *unpack)
{
	struct dat_section section;
	uint64_t place;

	for (uint64_t at = unpack->in->options_at + 8; dat_section(unpack->in, at, &section);
	     at += DAT_SECTION + section.size)
		if (section.id == DAT_STRINGS && !copy_section(unpack, at, &place))
			return false;
	return true;
}

/* --- options --------------------------------------------------------------------------------- */

static bool keep_option(struct unpack *unpack, const struct dat_option *option)
{
	size_t n = unpack->n_options + 6 + option->size;
	uint8_t *place;

	if (ARRAY_GROW(unpack->options, n, unpack->room_options))
		return fail(unpack, -ENOMEM);
	place = unpack->options + unpack->n_options;
	dat_put(unpack->in, place, 2, option->id);
	dat_put(unpack->in, place + 2, 4, option->size);
	if (option->size)
		memcpy(place + 6, option->data, option->size);
	unpack->n_options = n;
	return true;
}

static bool take_option(void *arg, const struct dat_file *dat, struct dat_option *option)
{
	struct unpack *unpack = arg;
	uint64_t place;

	if (option->id == DAT_BUFFER || option->id == DAT_BUFFER_TEXT) {
		if (!copy_buffer(unpack, option))
			return false;
	} else if (option->id >= DAT_HEADER_INFO && option->id <= DAT_CMDLINES &&
		   option->size >= 8) {
		if (!copy_section(unpack, dat_get(dat, option->data, 8), &place))
			return false;
		dat_put(dat, option->data, 8, place);
	}
	return keep_option(unpack, option);
}

/** All options as one section, the last thing in the file. */
static bool write_options(struct unpack *unpack, uint64_t *place)
{
	const struct dat_section section = { .id = DAT_DONE };
	uint64_t size_at;

	*place = unpack->at;
	return begin_section(unpack, &section, &size_at) &&
	       write_all(unpack, unpack->options, unpack->n_options) &&
	       write_number(unpack, 2, DAT_DONE) && write_number(unpack, 4, 8) &&
	       write_number(unpack, 8, 0) && end_section(unpack, size_at);
}

/* --- the copy -------------------------------------------------------------------------------- */

static bool unpack_all(struct unpack *unpack)
{
	static const char none[] = "none\0";	/* and a version that is empty */
	const struct dat_file *in = unpack->in;
	uint64_t head = in->options_at - strlen(in->compression) -
			strlen(in->compression_version) - 2, at, options;

	if (!copy(unpack, 0, head) || !write_all(unpack, none, sizeof(none)))
		return false;
	at = unpack->at;
	return write_number(unpack, 8, 0) && copy_strings(unpack) &&
	       dat_options(in, take_option, unpack) && write_options(unpack, &options) &&
	       patch(unpack, at, options);
}

/** Go through the file, with or without writing. Return: 0 or a negative errno. */
static int run(struct unpack *unpack)
{
	bool ok;

	unpack->piece = malloc(COPY_PIECE);
	ok = unpack->piece ? unpack_all(unpack) : fail(unpack, -ENOMEM);
	free(unpack->piece);
	free(unpack->options);
	return ok ? 0 : unpack->error ? unpack->error : -EILSEQ;
}

int dat_copy(const struct dat_file *dat, int fd, dat_cpu_fn write_cpu, void *arg)
{
	struct unpack unpack = {
		.in = dat, .out = fd, .limit = UINT64_MAX, .write_cpu = write_cpu, .arg = arg,
	};

	return run(&unpack);
}

/** What a file may become. */
static uint64_t limit_of(const struct dat_file *dat)
{
	return dat->size > ALWAYS_TAKEN / MAX_GROWTH ? dat->size * MAX_GROWTH : ALWAYS_TAKEN;
}

static bool explain(const struct dat_file *dat, int error)
{
	switch (error) {
	case -EILSEQ:
		return dat_complain(dat, "damaged: its %s data cannot be unpacked. Copy it "
				    "again, if there is another one", dat->compression);
	case -EFBIG:
		return dat_complain(dat, "it would unpack to more than %llu bytes, as no trace "
				    "does: not opened",
				    (unsigned long long)limit_of(dat));
	case -ENOMEM:
		return dat_complain(dat, "not enough memory");
	default:
		return dat_complain(dat, "cannot unpack it to a temporary file in %s: %s; set "
				    "TMPDIR to a directory with more room", temporary_directory(),
				    strerror(-error));
	}
}

/** Add up what a file becomes. Return: 0 or a negative errno. */
static int measure(const struct dat_file *dat, uint64_t *size)
{
	struct unpack unpack = { .in = dat, .out = -1, .limit = limit_of(dat) };
	int ret = run(&unpack);

	*size = unpack.at;
	return ret;
}

bool dat_unpack_check(const struct dat_file *dat)
{
	uint64_t size;
	int ret = measure(dat, &size);

	return !ret || explain(dat, ret);
}

/** Return: 0 or -ENOSPC. */
static int check_room(int fd, uint64_t size)
{
	struct statvfs fs;

	if (!fstatvfs(fd, &fs) && fs.f_bavail < size / fs.f_frsize + 1)
		return -ENOSPC;
	return 0;
}

int trace_dat_unpack(const char *path, char *error, size_t size)
{
	char problem[400];
	struct dat_file dat;
	uint64_t becomes = 0;
	int fd = -EIO, ret = 0;

	if (!dat_open(&dat, path, problem, sizeof(problem)))
		goto out;
	ret = measure(&dat, &becomes);
	fd = ret ? ret : temporary_file();
	if (fd >= 0) {
		struct unpack unpack = { .in = &dat, .out = fd, .limit = becomes };

		ret = check_room(fd, becomes);
		if (!ret)
			ret = run(&unpack);
		if (ret)
			close(fd);
	} else {
		ret = fd;
	}
	if (ret) {
		explain(&dat, ret);
		fd = ret;
	}
out:
	if (fd < 0)
		snprintf(error, size, "%s: %s", path, problem);
	dat_close(&dat);
	return fd;
}
