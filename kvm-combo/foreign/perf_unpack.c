// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	perf_unpack.c
 * @brief	Records that perf record -z has compressed with zstd.
 *
 * One stream goes through all compressed records. A record may begin in one of them and end in the
 * next one: tools/perf/util/session.c.
 */
#include <errno.h>
#include <stdlib.h>

#include <zstd.h>

#include "perf_private.h"

/** Bytes to unpack at once; before them may be a part of a record, MOST_REST bytes at most. */
#define PIECE		((size_t)256 << 10)
#define MOST_REST	((size_t)UINT16_MAX)

struct perf_unpack {
	ZSTD_DStream	*stream;
	uint8_t		*data;		/* MOST_REST + PIECE bytes */
	size_t		rest;		/* bytes at its beginning that wait for more */
};

void perf_unpack_free(struct perf_unpack *unpack)
{
	if (!unpack)
		return;
	ZSTD_freeDStream(unpack->stream);
	free(unpack->data);
	free(unpack);
}

static struct perf_unpack *make(void)
{
	struct perf_unpack *unpack = calloc(1, sizeof(*unpack));

	if (!unpack)
		return NULL;
	unpack->stream = ZSTD_createDStream();
	unpack->data = malloc(MOST_REST + PIECE);
	/* zstd itself refuses a stream that needs more than 128 MiB */
	if (unpack->stream && unpack->data)
		return unpack;
	perf_unpack_free(unpack);
	return NULL;
}

/** Records in the first @n bytes; what is not complete moves to the beginning. */
static int take_piece(struct perf_reader *reader, const struct perf_record *from, size_t n)
{
	struct perf_unpack *unpack = reader->unpack;
	struct perf_bytes bytes = { unpack->data, n, reader->swap };
	struct perf_record record = { .offset = from->offset, .is_unpacked = true };
	int ret = 0;

	while (!ret && bytes.left >= RECORD_HEAD) {
		uint16_t size = perf_16(&bytes, 6);

		if (size < RECORD_HEAD)
			return -EILSEQ;
		if (size > bytes.left)
			break;
		perf_next_record(&bytes, &record);
		ret = perf_take_record(reader, &record);
	}
	unpack->rest = bytes.left;
	memmove(unpack->data, bytes.at, bytes.left);
	return ret;
}

/** The compressed bytes: with their number before them, or up to the end of the record. */
static bool find_packed(const struct perf_record *record, struct perf_bytes *packed)
{
	*packed = record->body;
	return record->type == RECORD_COMPRESSED ||
	       (packed->left >= 8 && perf_part(&record->body, 8, perf_64(packed, 0), packed));
}

int perf_unpack_take(struct perf_reader *reader, const struct perf_record *record)
{
	struct perf_bytes packed;
	ZSTD_inBuffer in;
	ZSTD_outBuffer out;
	int ret = 0;

	if (!find_packed(record, &packed))
		return -EILSEQ;
	if (!reader->unpack)
		reader->unpack = make();
	if (!reader->unpack)
		return -ENOMEM;
	in = (ZSTD_inBuffer){ packed.at, packed.left, 0 };
	do {
		size_t rest = reader->unpack->rest, left;

		out = (ZSTD_outBuffer){ reader->unpack->data + rest, PIECE, 0 };
		left = ZSTD_decompressStream(reader->unpack->stream, &out, &in);
		if (ZSTD_isError(left))
			return -EILSEQ;
		if (out.pos)
			ret = take_piece(reader, record, rest + out.pos);
	} while (!ret && (in.pos < in.size || out.pos == out.size));
	return ret;
}
