/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_live.h
 * @brief	Make models of the last part of a trace while xentrace writes it, for days.
 *
 * The caller pushes bytes. Records go to the tracker as soon as no earlier record can come any more
 * (xentrace_live.h), up to the time that the caller sets. The caller can then have a model made of
 * the facts that are known by then, and sets the time before which all may be forgotten: so memory
 * is bounded.
 *
 * Properties that are derived from the whole of a file are derived here from its first @begin_ns:
 * the clock, unless the user or the sidecar gives it, and the vCPU that was on each pCPU at its
 * first record.
 */
#ifndef KSHARK_VIRT_XEN_LIVE_H
#define KSHARK_VIRT_XEN_LIVE_H

#include "virt_model.h"
#include "xen_follow.h"

struct xen_live_options {
	struct xen_trace_options trace;	/* these, see xen_follow_open() */
	const char		*path;
	int64_t			begin_ns;	/* how much must be there before it begins */
	uint64_t		max_bytes;	/* that wait at most */
};

struct xen_live;

/**
 * xen_live_new - nothing has come yet
 * @name: for notes
 *
 * Return: to be freed; NULL with errno and a text in @error.
 */
struct xen_live *xen_live_new(const char *name, const struct xen_live_options *options, char *error,
			      size_t error_size);

/** xen_live_free - free all; models that were made are to be freed before. */
void xen_live_free(struct xen_live *live);

/**
 * xen_live_push, xen_live_end, xen_live_settle - as those of xentrace_live.h
 *
 * Return: 0, -ENOMEM, -ENOTSUP: it is compressed, -EINVAL: it is no trace, -E2BIG: see
 * virt_model_add_machine(), and xentrace_live_push().
 */
int xen_live_push(struct xen_live *live, const void *data, size_t size);
int xen_live_end(struct xen_live *live);
int xen_live_settle(struct xen_live *live);

/** xen_live_has_begun - is there a first record? @begin_ns: receives its time */
bool xen_live_has_begun(const struct xen_live *live, int64_t *begin_ns);

/**
 * xen_live_feed - take records up to a time, which is not included
 *
 * Return: 1 if there is a later one, 0 if more has to come (none will after the end), or a negative
 * errno as above.
 */
int xen_live_feed(struct xen_live *live, int64_t until_ns);

/** xen_live_next - the time of the record that comes next, if xen_live_feed() has returned 1. */
int64_t xen_live_next(const struct xen_live *live);

/** xen_live_last - the time behind the last record that was taken. */
int64_t xen_live_last(const struct xen_live *live);

/** xen_live_model - xen_tracker_excerpt() */
int xen_live_model(struct xen_live *live, int64_t begin_ns, int64_t end_ns,
		   struct virt_model **model);

/** xen_live_forget - xen_tracker_forget() */
void xen_live_forget(struct xen_live *live, int64_t before_ns);

/** xen_live_trace - for notes, names and the clock. */
const struct xen_trace *xen_live_trace(const struct xen_live *live);

/** xen_live_count - how much has come. */
void xen_live_count(const struct xen_live *live, struct xentrace_live_counts *counts);

#endif
