// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	ks_memo.c
 * @brief	Keep a text in a stream of KernelShark, so that sessions keep it, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ks_memo.h"

/** After the text: their number, and the magic. */
#define TAIL	2

static size_t members_of(size_t bytes)
{
	return (bytes + sizeof(int64_t) - 1) / sizeof(int64_t);
}

size_t ks_memo_at(const int64_t *parts, size_t n)
{
	int64_t bytes;

	/* the first member is KernelShark's */
	if (!parts || n < 1 + TAIL || parts[n - 1] != KS_MEMO_MAGIC)
		return n;
	bytes = parts[n - TAIL];
	if (bytes < 0 || bytes > (int64_t)KS_MEMO_MOST ||
	    members_of((size_t)bytes) > n - TAIL - 1)
		return n;
	return n - TAIL - members_of((size_t)bytes);
}

char *ks_memo_get(const struct kshark_data_stream *stream)
{
	const int64_t *parts = stream ? stream->calib_array : NULL;
	size_t n = parts ? stream->calib_array_size : 0, at = ks_memo_at(parts, n), bytes;
	char *text;

	if (at == n)
		return NULL;
	bytes = (size_t)parts[n - TAIL];
	text = malloc(bytes + 1);
	if (!text)
		return NULL;
	memcpy(text, parts + at, bytes);
	text[bytes] = '\0';
	return text;
}

int ks_memo_set(struct kshark_data_stream *stream, const char *text)
{
	const int64_t *old = stream->calib_array;
	size_t n = ks_memo_at(old, old ? stream->calib_array_size : 0);
	size_t bytes = text ? strlen(text) : 0, members = members_of(bytes);
	int64_t *parts;

	if (bytes > KS_MEMO_MOST)
		return -EFBIG;
	if (!text && n == stream->calib_array_size)
		return 0;
	parts = calloc((n ? n : 1) + members + TAIL, sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	if (n)
		memcpy(parts, old, n * sizeof(*parts));
	/* without a clock: an offset of 0 */
	n = n ? n : 1;
	if (text) {
		memcpy(parts + n, text, bytes);
		n += members;
		parts[n++] = (int64_t)bytes;
		parts[n++] = KS_MEMO_MAGIC;
	}
	free(stream->calib_array);
	stream->calib_array = parts;
	stream->calib_array_size = n;
	if (!stream->calib)
		stream->calib = kshark_offset_calib;
	return 0;
}
