/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ctf_merge.h
 * @brief	Messages of all streams of CTF, in order of time.
 *
 * It is a sink of libbabeltrace2 with a port per stream. The library's own filter for this, the
 * muxer, takes a sixth of the time of a whole conversion.
 */
#ifndef KSHARK_VIRT_CTF_MERGE_H
#define KSHARK_VIRT_CTF_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <babeltrace2/babeltrace.h>

/** ctf_merge_fn - take a message. Return: 0 or a negative errno, after which no other comes. */
typedef int (*ctf_merge_fn)(void *arg, const bt_message *message);

struct ctf_port;

/** A merge. It stays where it is until the graph is freed. */
struct ctf_merge {
	ctf_merge_fn	take;
	void		*arg;
	uint64_t	n_ports;	/* of all sources together */

	/* of ctf_merge.c: */
	struct ctf_port	*ports;
	size_t		*heap;		/* ports with messages; the earliest one first */
	size_t		n_heap;
	int64_t		last_ns;	/* of the last message that has a time */
	bool		has_last;
	bool		is_backwards;	/* a message is earlier than the one before: the end */
	int		error;		/* of @take */
};

/**
 * ctf_merge_add - add the sink to a graph
 * @sink: receives it, with @merge->n_ports input ports; the graph owns it
 *
 * Return: false with an error of libbabeltrace2.
 */
bool ctf_merge_add(struct ctf_merge *merge, bt_graph *graph,
		   const bt_component_sink **sink);

#endif
