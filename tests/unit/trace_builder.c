/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_builder.c
 * @brief	Write small xentrace files for unit tests: in memory, good or broken on purpose.
 */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "trace_builder.h"

#define WINDOW_WORD		0x2001f003u
#define CONTINUE_RUNNING	0x00021002u

/* Without memory a test cannot go on, and says so by aborting. */
static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

void trace_free(struct trace *trace)
{
	free(trace->data);
	memset(trace, 0, sizeof(*trace));
}

size_t trace_bytes(struct trace *trace, const void *data, size_t size)
{
	size_t offset = trace->size;

	if (trace->size + size > trace->room) {
		trace->room = 2 * trace->room + size + 1024;
		trace->data = must(realloc(trace->data, trace->room));
	}
	if (size)
		memcpy(trace->data + trace->size, data, size);
	trace->size += size;
	return offset;
}

size_t trace_u32(struct trace *trace, uint32_t word)
{
	word = htole32(word);
	return trace_bytes(trace, &word, sizeof(word));
}

size_t trace_window(struct trace *trace, uint32_t pcpu)
{
	size_t offset = trace_u32(trace, WINDOW_WORD);

	trace_u32(trace, pcpu);
	trace_u32(trace, 0);
	trace->window = offset + 1;
	return offset;
}

void trace_patch_u32(struct trace *trace, size_t offset, uint32_t word)
{
	word = htole32(word);
	memcpy(trace->data + offset, &word, sizeof(word));
}

static void update_window(struct trace *trace)
{
	if (trace->window)
		trace_patch_u32(trace, trace->window - 1 + 8,
				trace->size - (trace->window - 1) - 12);
}

static size_t append(struct trace *trace, uint32_t header, const uint64_t *tsc, int n_words,
		     const uint32_t *words)
{
	size_t offset = trace_u32(trace, header | (uint32_t)n_words << 28);

	if (tsc) {
		trace_u32(trace, *tsc);
		trace_u32(trace, *tsc >> 32);
	}
	for (int i = 0; i < n_words; i++)
		trace_u32(trace, words[i]);
	update_window(trace);
	return offset;
}

size_t trace_record(struct trace *trace, uint32_t event, uint64_t tsc, int n_words,
		    const uint32_t *words)
{
	return append(trace, event | 1u << 31, &tsc, n_words, words);
}

size_t trace_untimed(struct trace *trace, uint32_t event, int n_words, const uint32_t *words)
{
	return append(trace, event, NULL, n_words, words);
}

size_t trace_ticks(struct trace *trace, uint64_t tsc, int n, uint64_t step)
{
	size_t offset = trace->size;

	for (int i = 0; i < n; i++)
		TRACE_RECORD(trace, CONTINUE_RUNNING, tsc + i * step, 1 << 16);
	return offset;
}

void trace_cut(struct trace *trace, size_t offset, size_t size)
{
	memmove(trace->data + offset, trace->data + offset + size,
		trace->size - offset - size);
	trace->size -= size;
}

uint64_t trace_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

void trace_gzip(struct trace *trace, const uint8_t *data, size_t size)
{
	size_t room = compressBound(size) + 64;
	uint8_t *packed = malloc(room);
	z_stream z = { .next_in = (uint8_t *)data, .avail_in = size,
		       .next_out = packed, .avail_out = room };

	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	trace_bytes(trace, packed, room - z.avail_out);
	deflateEnd(&z);
	free(packed);
}

void trace_zstd(struct trace *trace, const uint8_t *data, size_t size)
{
	size_t room = ZSTD_compressBound(size);
	uint8_t *packed = malloc(room);
	size_t n = ZSTD_compress(packed, room, data, size, 1);

	assert_false(ZSTD_isError(n));
	trace_bytes(trace, packed, n);
	free(packed);
}

char *trace_file(const void *data, size_t size, const char *suffix)
{
	char *path;
	FILE *file;
	int fd;

	if (asprintf(&path, "/tmp/ksv-unit-XXXXXX%s", suffix) < 0)
		abort();
	fd = mkstemps(path, strlen(suffix));
	file = must(fd < 0 ? NULL : fdopen(fd, "w"));
	if (fwrite(data, 1, size, file) != size || fclose(file))
		abort();
	return path;
}
