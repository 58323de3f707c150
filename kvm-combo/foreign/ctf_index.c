// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	ctf_index.c
 * @brief	Read the first entry of an index of LTTng.
 *
 * The format is that of lttng-tools, include/lttng/lttng-index.h: numbers of 32 bits, then entries
 * of as many bytes as the last of them says, with numbers of 64 bits; all big-endian.
 */
#include <endian.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctf_index.h"
#include "regular_file.h"

#define MAGIC		0xc1f1dcc1U

struct head {
	uint32_t	magic, major, minor, entry_size;
};

/** Version 1.0 has all up to the stream's number. */
struct entry {
	uint64_t	offset, packet_size, content_size, begin, end, discarded, stream;
	uint64_t	instance, number;
};

#define ENTRY_1_0	offsetof(struct entry, instance)

/** Return: malloc'ed, or NULL. */
static char *index_path(const char *stream)
{
	const char *slash = strrchr(stream, '/');
	char *path;

	if (!slash || asprintf(&path, "%.*s/index%s.idx", (int)(slash - stream), stream, slash) < 0)
		return NULL;
	return path;
}

bool ctf_index_first(const char *stream, struct ctf_first *first)
{
	char text[sizeof(struct head) + sizeof(struct entry) + 1];
	char *path = index_path(stream);
	ssize_t n = path ? regular_file_start(path, text, sizeof(text)) : -1;
	struct entry entry = { .number = htobe64(UINT64_MAX) };
	struct head head;
	size_t size;

	free(path);
	if (n < (ssize_t)(sizeof(head) + ENTRY_1_0))
		return false;
	memcpy(&head, text, sizeof(head));
	size = be32toh(head.entry_size);
	if (be32toh(head.magic) != MAGIC || be32toh(head.major) != 1 || size < ENTRY_1_0)
		return false;
	/* 1.0 has no number of the packet, and a later version more than is of use here */
	if (size > sizeof(entry))
		size = sizeof(entry);
	if ((size_t)n < sizeof(head) + size)
		return false;
	memcpy(&entry, text + sizeof(head), size);
	first->has_lost = entry.discarded != 0;
	first->lost = be64toh(entry.number) ? 0 : be64toh(entry.discarded);
	return true;
}
