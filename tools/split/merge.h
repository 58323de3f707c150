/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	merge.h
 * @brief	Merge xentrace files into one: the files that belong together, and the known facts
 *		about them.
 */
#ifndef KSHARK_VIRT_MERGE_H
#define KSHARK_VIRT_MERGE_H

#include "split.h"

/** One of the files. */
struct merge_file {
	const char		*path;
	struct xen_trace	*trace;
	const struct xen_part	*part;	/* it was cut out of another one; or NULL */
	struct split_cut	cut;	/* all of it */
	uint64_t		first_tsc, last_tsc;
};

struct merge {
	struct merge_file	*files;	/* in order of time */
	int			n;
	struct split_piece	*pieces; /* in the order in which they are written */
	size_t			n_pieces;
	struct xen_part		*part;	/* what is known of the result */
	struct json_object	*root;	/* its sidecar */
};

/**
 * merge_check - do the files belong together?
 *
 * They get their order.
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_FILE after a message.
 */
int merge_check(struct merge *merge);

/** merge_order - find the order of all windows. Return: 0 or -ENOMEM. */
int merge_order(struct merge *merge);

/** merge_parts - what is known of parts of a trace, put together. Return: 0 or -ENOMEM. */
int merge_parts(struct merge *merge);

/** merge_recordings - what is known of recordings that follow each other. Return: as above. */
int merge_recordings(struct merge *merge);

/** merge_follows - does the time of a file begin where the one before ends? Of parts only. */
bool merge_follows(const struct merge *merge, int i);

/** merge_same_time - are both parts of the same window, of other pCPUs? */
bool merge_same_time(const struct merge_file *a, const struct merge_file *b);

/** merge_sidecar - one sidecar out of all: root, without "part". Return: 0 or -ENOMEM. */
int merge_sidecar(struct merge *merge);

#endif
