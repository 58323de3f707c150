/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xentrace_facts.h
 * @brief	Set facts about a file that was cut out of another one; read its bytes; open a
 *		window of a file that is too large to be read as a whole.
 *
 * Call these functions before the reader is handed out, see xentrace_reader.h.
 */
#ifndef KSHARK_VIRT_XENTRACE_FACTS_H
#define KSHARK_VIRT_XENTRACE_FACTS_H

#include "xentrace_reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * xentrace_set_gap - records are missing before the one at an offset, XENTRACE_AFTER_GAP
 *
 * Return: 0, or -ENOENT: no window's records begin there.
 */
int xentrace_set_gap(struct xentrace *reader, uint64_t offset);

/** xentrace_set_whole_tsc - what xentrace_whole_tsc() is. */
void xentrace_set_whole_tsc(struct xentrace *reader, uint64_t tsc);

/** xentrace_set_known_tsc - records of a pCPU are missing after this, see struct xentrace_pcpu. */
void xentrace_set_known_tsc(struct xentrace *reader, uint16_t pcpu, uint64_t tsc);

/** xentrace_run_pcpu - whose run it is; the run is below xentrace_n_runs(). */
uint16_t xentrace_run_pcpu(const struct xentrace *reader, uint32_t run);

/**
 * xentrace_bytes_at - bytes of the uncompressed trace
 *
 * Return: how many; less than @n at the end only, or if they cannot be read any more.
 */
size_t xentrace_bytes_at(const struct xentrace *reader, void *buf, uint64_t offset, size_t n);

/** A range of bytes of a file, from the beginning of a window of records to that of another one. */
struct xentrace_range {
	uint64_t	begin, end;
};

/**
 * xentrace_open_head - open a file, and index its beginning alone
 * @bytes: about this many
 *
 * Return: as xentrace_open(). Its first TSC is that of the whole file.
 */
struct xentrace *xentrace_open_head(const char *path, const struct xentrace_options *options,
				    uint64_t bytes, char *error, size_t error_size);

/**
 * xentrace_index - index another part of the file instead
 *
 * Return: 0, -ENODATA: there is no record in it, or another negative errno.
 */
int xentrace_index(struct xentrace *reader, const struct xentrace_range *range);

/** xentrace_last_of_file - the last TSC of the file, whatever is indexed. Return: 0 or an errno. */
int xentrace_last_of_file(const struct xentrace *reader, uint64_t *tsc);

/**
 * xentrace_find - where the records of a window of time are
 * @margin: cycles before and behind it that are looked at as well, as the windows of all pCPUs lie
 *	beside each other, and to know what goes on at its ends
 *
 * In O(log size): windows of records come in order of time, in turns of all pCPUs.
 *
 * Return: 0, or a negative errno: it could not be read.
 */
int xentrace_find(const struct xentrace *reader, uint64_t from_tsc, uint64_t to_tsc,
		  uint64_t margin, struct xentrace_range *range);

#ifdef __cplusplus
}
#endif
#endif
