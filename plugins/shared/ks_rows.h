/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ks_rows.h
 * @brief	Check whether KernelShark's rows are still the ones that a result was made from.
 */
#ifndef KSHARK_VIRT_KS_ROWS_H
#define KSHARK_VIRT_KS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libkshark-model.h>

#include "ks_stream.h"

/** What distinguishes rows from others; those of a stream that was moved are others. */
struct ks_rows {
	struct kshark_entry	*const *rows;
	size_t			n;
	int64_t			first_ns, last_ns;	/* of all rows */
	int64_t			offset;			/* of the stream */
};

/** ks_rows_of - those that a graph is drawn from, for what is known of one stream */
static inline struct ks_rows ks_rows_of(const struct kshark_trace_histo *histo, int stream_id)
{
	struct ks_rows rows = {
		histo->data, histo->data_size, 0, 0, ks_stream_offset(stream_id),
	};

	if (rows.n) {
		rows.first_ns = rows.rows[0]->ts;
		rows.last_ns = rows.rows[rows.n - 1]->ts;
	}
	return rows;
}

static inline bool ks_rows_same(const struct ks_rows *a, const struct ks_rows *b)
{
	return a->rows == b->rows && a->n == b->n && a->first_ns == b->first_ns &&
	       a->last_ns == b->last_ns && a->offset == b->offset;
}

#endif
