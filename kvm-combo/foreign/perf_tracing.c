// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	perf_tracing.c
 * @brief	The formats of tracepoints in a perf.data file.
 *
 * Linux's tools/perf/util/trace-event-info.c writes them: the head of a trace.dat of an older
 * version. Its parts come one after the other, each with its size before it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "perf_private.h"
#include "trace_dat.h"

/** From this version on, there are names of threads at the end. */
#define VERSION_COMMS	0.6

/** A text that ends with 0. Return: NULL if it does not end, or is longer than @most. */
static const char *take_text(struct perf_bytes *bytes, size_t most)
{
	const char *text = (const char *)bytes->at;
	size_t n = strnlen(text, bytes->left < most ? bytes->left : most);

	return n < most && perf_skip(bytes, n + 1) ? text : NULL;
}

/** Bytes with their size before them, which has @n bytes. */
static bool take_sized(struct perf_bytes *bytes, int n, struct perf_bytes *part)
{
	uint64_t size;

	if (bytes->left < (size_t)n)
		return false;
	size = n == 8 ? perf_64(bytes, 0) : perf_32(bytes, 0);
	return perf_part(bytes, (uint64_t)n, size, part) && perf_skip(bytes, (uint64_t)n + size);
}

static bool take_number(struct perf_bytes *bytes, uint32_t *value)
{
	if (bytes->left < 4)
		return false;
	*value = perf_32(bytes, 0);
	return perf_skip(bytes, 4);
}

/** Magic number, version, byte order, size of a long, page size. */
static bool take_head(const struct perf_reader *reader, struct perf_bytes *bytes, double *version,
		      uint8_t *long_size)
{
	const char *text;

	*bytes = reader->tracing;
	if (!bytes->at || bytes->left < sizeof(trace_dat_magic) ||
	    memcmp(bytes->at, trace_dat_magic, sizeof(trace_dat_magic)) != 0)
		return false;
	perf_skip(bytes, sizeof(trace_dat_magic));
	text = take_text(bytes, 16);
	if (!text || bytes->left < 6)
		return false;
	*version = strtod(text, NULL);
	bytes->swap = (bytes->at[0] != 0) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	*long_size = bytes->at[1];
	perf_skip(bytes, 6);
	return *long_size == 4 || *long_size == 8;
}

uint8_t perf_tracing_head(const struct perf_reader *reader)
{
	struct perf_bytes bytes;
	uint8_t long_size;
	double version;

	return take_head(reader, &bytes, &version, &long_size) ? long_size : 0;
}

/** A part that has its name before its size. */
static bool skip_named(struct perf_bytes *bytes, const char *name, struct perf_bytes *part)
{
	const char *found = take_text(bytes, 16);

	return found && !strcmp(found, name) && take_sized(bytes, 8, part);
}

/** The number of an event is a line of its format: "ID: 312". Return: -1: there is none. */
static int32_t id_of(const struct perf_bytes *format)
{
	const char *at = memmem(format->at, format->left, "\nID:", 4);
	const char *end = (const char *)format->at + format->left;
	int32_t id = -1;

	if (!at)
		return -1;
	for (at += 4; at < end && *at == ' '; at++)
		;
	for (; at < end && *at >= '0' && *at <= '9' && id <= UINT16_MAX; at++)
		id = (id < 0 ? 0 : id * 10) + *at - '0';
	return id <= UINT16_MAX ? id : -1;
}

/** An event whose number is not understood has no records, either. */
static int take_format(struct perf_reader *reader, const char *system,
		       const struct perf_bytes *format)
{
	static const char name[] = "name: sched_switch\n";
	int32_t id = id_of(format);

	if (id < 0)
		return 0;
	if (!strcmp(system, "sched") && format->left >= sizeof(name) - 1 &&
	    !memcmp(format->at, name, sizeof(name) - 1))
		reader->switch_id = id;
	return trace_dat_writer_event(reader->writer, (uint16_t)id, system,
				      (const char *)format->at, format->left);
}

/** Formats of a system. Return: 0, -EILSEQ if they are damaged, or what the writer returns. */
static int take_formats(struct perf_reader *reader, struct perf_bytes *bytes, const char *system)
{
	struct perf_bytes format;
	uint32_t n;
	int ret = take_number(bytes, &n) ? 0 : -EILSEQ;

	for (; !ret && n; n--) {
		ret = take_sized(bytes, 8, &format) ? take_format(reader, system, &format) :
		      -EILSEQ;
		/* an event whose system has an invalid name is left out */
		if (ret == -EINVAL)
			ret = 0;
	}
	return ret;
}

static int take_systems(struct perf_reader *reader, struct perf_bytes *bytes)
{
	const char *system;
	uint32_t n;
	int ret = take_number(bytes, &n) ? 0 : -EILSEQ;

	for (; !ret && n; n--) {
		system = take_text(bytes, 256);
		ret = system ? take_formats(reader, bytes, system) : -EILSEQ;
	}
	return ret;
}

/** Names of threads, as lines "PID NAME"; the records of perf have later ones. */
static int take_comms(struct perf_reader *reader, const struct perf_bytes *part)
{
	const char *at = (const char *)part->at, *end = at + part->left, *line;
	int ret = 0;

	for (; at < end && !ret; at = line + 1) {
		char text[64], *name;
		long pid;

		line = memchr(at, '\n', (size_t)(end - at));
		if (!line)
			line = end;
		snprintf(text, sizeof(text), "%.*s", (int)(line - at > 63 ? 63 : line - at), at);
		pid = strtol(text, &name, 10);
		if (name != text && *name == ' ' && pid >= 0 && pid <= INT32_MAX)
			ret = trace_dat_writer_comm(reader->writer, (int32_t)pid, name + 1);
		if (ret == -ENOSPC) {
			reader->facts->unnamed++;
			ret = 0;
		}
	}
	return ret;
}

/** Symbols, formats of trace_printk(), names of threads: older ones end before. */
static int take_texts(struct perf_reader *reader, struct perf_bytes *bytes, double version)
{
	struct perf_bytes part;
	int ret = 0;

	if (take_sized(bytes, 4, &part))
		ret = trace_dat_writer_symbols(reader->writer, (const char *)part.at, part.left);
	if (!ret && take_sized(bytes, 4, &part))
		ret = trace_dat_writer_printk(reader->writer, (const char *)part.at, part.left);
	if (!ret && version >= VERSION_COMMS && take_sized(bytes, 8, &part))
		ret = take_comms(reader, &part);
	return ret;
}

int perf_tracing_take(struct perf_reader *reader)
{
	struct perf_bytes bytes, part;
	uint8_t long_size;
	double version;
	int ret = -EILSEQ;

	if (take_head(reader, &bytes, &version, &long_size) &&
	    skip_named(&bytes, "header_page", &part) && skip_named(&bytes, "header_event", &part))
		ret = take_formats(reader, &bytes, "ftrace");
	if (!ret)
		ret = take_systems(reader, &bytes);
	if (!ret)
		ret = take_texts(reader, &bytes, version);
	if (ret == -EILSEQ)
		return perf_fail(reader, ret, "cut short or damaged: the formats of its "
				 "tracepoints cannot be read. Copy the file again, if there is "
				 "another one");
	return ret;
}
