/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	top_rows.h
 * @brief	An interval as rows: machines, their vCPUs, and the facts of open ones, sorted.
 *
 * This is the content of the screen; it needs no screen itself.
 */
#ifndef KSHARK_VIRT_TOP_ROWS_H
#define KSHARK_VIRT_TOP_ROWS_H

#include "top.h"

enum top_row_kind {
	TOP_ROW_MACHINE,	/* sums of its vCPUs; of percentiles, the worst one's */
	TOP_ROW_VCPU,
	TOP_ROW_FACT,		/* of the vCPU above: exits of a reason, who took its pCPU ... */
};

struct top_row {
	enum top_row_kind	kind;
	int32_t			machine_id, vcpu_id;	/* or VIRT_NONE */
	const char		*name;
	int64_t			state_ns[VIRT_N_STATES];
	unsigned int		unknown;		/* states that were not recorded, by bit */
	int64_t			all_ns;			/* the sum */
	int64_t			known_ns;		/* what shares refer to */
	int64_t			exits, wakes;		/* or VIRT_NONE: not recorded */
	int64_t			wake_ns;		/* ns, or VIRT_NONE */
	/* of one vCPU, if it is a machine's: */
	const char		*reason;		/* of most exits; or NULL */
	int64_t			reason_count;
	const char		*culprit;		/* who had most of its time; or NULL */
	int64_t			culprit_ns;
	bool			is_open;		/* there are rows below it */
	const struct top_fact	*fact;			/* TOP_ROW_FACT */
};

/** What rows are sorted by: machines, and the vCPUs of each. */
enum top_sort {
	TOP_SORT_NAME = 0,	/* as they are in the interval */
	TOP_SORT_STEAL,		/* the highest first, of these and the following */
	TOP_SORT_EXITS,
	TOP_SORT_WAKE_NS,
	TOP_SORT_GUEST,
	TOP_SORT_HYPERVISOR,
	TOP_SORT_WAKING,
	TOP_SORT_BLOCKED,
	TOP_N_SORTS
};

#define TOP_SORT_NAME_SIZE	32

/** top_sort_name - "name", "steal", "exits" ... @text: room for those that are made of words */
const char *top_sort_name(enum top_sort sort, char text[TOP_SORT_NAME_SIZE]);

/** How rows are wanted. All zero: by name, machines open, vCPUs closed. */
struct top_view {
	enum top_sort	sort;
	bool		reversed;
	bool		closed;		/* machines are, unless toggled */
	uint64_t	*toggled;
	size_t		n_toggled, room;
};

/** top_view_toggle - open or close a machine or vCPU. Return: 0 or -ENOMEM. */
int top_view_toggle(struct top_view *view, const struct top_row *row);

/** top_view_toggle_all - open all machines, or close them; vCPUs are closed. */
void top_view_toggle_all(struct top_view *view);
void top_view_free(struct top_view *view);

/** All zero is none. */
struct top_rows {
	struct top_row	*rows;
	size_t		n, room;
};

/**
 * top_rows_make - the rows of an interval, in place of those that were there
 *
 * They need the interval.
 *
 * Return: 0 or -ENOMEM.
 */
int top_rows_make(struct top_rows *rows, const struct top_interval *interval,
		  const struct top_view *view);
void top_rows_free(struct top_rows *rows);

/** top_row_share - the share of a state, 0 to 1, of the known time. */
double top_row_share(const struct top_row *row, int state);

/** top_row_bar - a state for each of @n cells, as their time is shared. Return: false: no time. */
bool top_row_bar(const struct top_row *row, uint8_t *states, size_t n);

#endif
