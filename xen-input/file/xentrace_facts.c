// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_facts.c
 * @brief	Set facts about a file that was cut out of another one, and read its bytes.
 */
#include <errno.h>

#include "search.h"
#include "xentrace_facts.h"
#include "xentrace_private.h"

int xentrace_set_gap(struct xentrace *reader, uint64_t offset)
{
	size_t i;

	SEARCH_FIRST(i, 0, reader->n_segments, reader->segments[i].begin < offset);
	if (i == reader->n_segments || reader->segments[i].begin != offset)
		return -ENOENT;
	reader->segments[i].flags |= SEGMENT_AFTER_GAP;
	return 0;
}

void xentrace_set_whole_tsc(struct xentrace *reader, uint64_t tsc)
{
	reader->whole_is_given = true;
	reader->whole_tsc = tsc;
}

void xentrace_set_known_tsc(struct xentrace *reader, uint16_t pcpu, uint64_t tsc)
{
	for (int i = 0; i < reader->n_pcpus; i++)
		if (reader->pcpus[i].pcpu == pcpu && reader->pcpus[i].known_tsc > tsc)
			reader->pcpus[i].known_tsc = tsc;
}

uint16_t xentrace_run_pcpu(const struct xentrace *reader, uint32_t run)
{
	return reader->runs[run].pcpu;
}

size_t xentrace_bytes_at(const struct xentrace *reader, void *buf, uint64_t offset, size_t n)
{
	if (offset >= reader->file.size)
		return 0;
	if (n > reader->file.size - offset)
		n = reader->file.size - offset;
	return xentrace_file_read(&reader->file, buf, offset, n);
}
