// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_live.c
 * @brief	Make models of the last part of a trace while xentrace writes it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "xen_live.h"
#include "xen_tracker_live.h"
#include "xentrace_file.h"
#include "xentrace_unpack.h"

/** No clock is faster: with this rate, a part is long enough while the real rate is unknown. */
#define FASTEST_HZ	5000000000ULL

struct xen_live {
	struct xen_live_options	options;
	struct xentrace_live	*stream;
	struct xen_trace	*trace;
	struct xen_tracker	*tracker;	/* NULL: it has not begun */
	int64_t			begin_ns, last_ns, next_ns;
	uint8_t			head[4];	/* the first bytes */
	size_t			n_head;
	bool			ended;
};

struct xen_live *xen_live_new(const char *name, const struct xen_live_options *options, char *error,
			      size_t error_size)
{
	struct xen_live *live = calloc(1, sizeof(*live));

	if (live) {
		live->options = *options;
		live->stream = xentrace_live_new(name, options->max_bytes);
	}
	if (live && live->stream)
		live->trace = xen_follow_open(live->stream, name, options->path,
					      &options->trace, error, error_size);
	else
		xentrace_set_error(error, error_size, "%s: not enough memory", name);
	if (live && live->trace)
		return live;
	xen_live_free(live);
	return NULL;
}

void xen_live_free(struct xen_live *live)
{
	if (!live)
		return;
	xen_tracker_free(live->tracker);
	xen_trace_close(live->trace);
	xentrace_live_free(live->stream);
	free(live);
}

/* --- beginning ------------------------------------------------------------------------------- */

static int64_t time_of(const struct xen_live *live, uint64_t tsc)
{
	return xen_clock_ns(xen_trace_clock(live->trace), tsc);
}

static struct xen_trace_row row_of(const struct xen_live *live, const struct xentrace_record *rec)
{
	return (struct xen_trace_row){
		.rec = *rec, .time_ns = time_of(live, rec->tsc), .vcpu = XEN_VCPU_UNKNOWN,
	};
}

/** A record has come; @before_tsc: since when records may be missing, 0: since the beginning */
static int look_ahead(void *arg, const struct xentrace_record *rec, uint64_t before_tsc)
{
	struct xen_live *live = arg;
	struct xen_trace_row row;

	xen_follow_isa(live->trace, rec);
	if (xen_follow_runs(live->trace) || xen_tracker_runs(live->tracker))
		return -ENOMEM;
	if (rec->event != XEN_TRC_LOST_RECORDS && !(rec->flags & XENTRACE_AFTER_GAP))
		return 0;
	row = row_of(live, rec);
	xen_tracker_expect_loss(live->tracker, &row,
				before_tsc ? time_of(live, before_tsc) : INT64_MIN);
	return 0;
}

/** All that came before it began. */
struct waiting {
	struct xen_live	*live;
	uint64_t	*last_tsc;	/* by run */
};

static int look_at(void *arg, const struct xentrace_record *rec)
{
	struct waiting *waiting = arg;
	uint64_t before = waiting->last_tsc[rec->run];

	waiting->last_tsc[rec->run] = rec->tsc;
	return look_ahead(waiting->live, rec, before);
}

/** Is enough of the trace there to begin? */
static bool is_enough(const struct xen_live *live)
{
	const struct xen_meta *meta = xen_trace_meta(live->trace);
	uint64_t meta_hz = meta ? meta->cpu_khz * 1000 : 0, first;
	uint64_t hz = live->options.trace.cpu_hz ? live->options.trace.cpu_hz :
		      meta_hz >= XEN_CLOCK_MIN_HZ ? meta_hz : FASTEST_HZ;
	uint64_t settled = xentrace_live_settled(live->stream);
	unsigned __int128 cycles = (unsigned __int128)hz * (uint64_t)live->options.begin_ns;

	if (!xentrace_live_first_tsc(live->stream, &first))
		return false;
	return live->ended || xentrace_live_is_full(live->stream) ||
	       (settled > first && settled - first >= cycles / 1000000000);
}

static int begin(struct xen_live *live)
{
	uint32_t n_runs = xentrace_n_runs(xen_trace_reader(live->trace));
	struct waiting waiting = { .live = live };
	uint64_t first = 0;
	int ret = xen_follow_begin(live->trace, &live->options.trace);

	if (ret)
		return ret;
	xentrace_live_first_tsc(live->stream, &first);
	live->begin_ns = live->last_ns = time_of(live, first);
	live->tracker = xen_tracker_new(live->trace);
	waiting.last_tsc = calloc((size_t)n_runs + 1, sizeof(*waiting.last_tsc));
	if (live->tracker && waiting.last_tsc) {
		xen_tracker_follow(live->tracker, live->begin_ns);
		ret = xentrace_live_each(live->stream, look_at, &waiting);
		xentrace_live_watch(live->stream, look_ahead, live);
	} else {
		ret = -ENOMEM;
	}
	free(waiting.last_tsc);
	return ret;
}

static int begin_if_enough(struct xen_live *live)
{
	return live->tracker || !is_enough(live) ? 0 : begin(live);
}

bool xen_live_has_begun(const struct xen_live *live, int64_t *begin_ns)
{
	*begin_ns = live->begin_ns;
	return live->tracker;
}

/* --- what comes ------------------------------------------------------------------------------ */

static bool is_packed(struct xen_live *live, const uint8_t *data, size_t size)
{
	size_t n = sizeof(live->head) - live->n_head;

	if (!n)
		return false;
	n = n < size ? n : size;
	memcpy(live->head + live->n_head, data, n);
	live->n_head += n;
	return xentrace_is_packed(live->head, live->n_head);
}

int xen_live_push(struct xen_live *live, const void *data, size_t size)
{
	int ret = is_packed(live, data, size) ? -ENOTSUP :
		  xentrace_live_push(live->stream, data, size);

	return ret ? ret : begin_if_enough(live);
}

int xen_live_settle(struct xen_live *live)
{
	return xentrace_live_settle(live->stream);
}

/** Of a trace that is cut, what its pCPUs had to say up to its end. */
static int expect_ends(struct xen_live *live)
{
	const struct xentrace *reader = xen_trace_reader(live->trace);
	int64_t end_ns = time_of(live, xentrace_live_last_tsc(live->stream));
	int64_t begin_ns = time_of(live, xentrace_live_settled_by_end(live->stream));

	/* those of which not a record was in time are known, too */
	if (xen_follow_runs(live->trace) || xen_tracker_runs(live->tracker))
		return -ENOMEM;
	for (int i = 0; i < xentrace_n_pcpus(reader); i++) {
		const struct xentrace_pcpu *pcpu = xentrace_pcpu_at(reader, i);
		int64_t from_ns = xen_trace_known_until(live->trace, i);

		/* what has been reported is not taken back */
		if (from_ns < begin_ns)
			from_ns = begin_ns;
		if (pcpu->n_records && from_ns < end_ns)
			xen_tracker_expect_end(live->tracker,
					       xentrace_live_run_of(live->stream, pcpu->pcpu),
					       pcpu->pcpu, from_ns, end_ns);
	}
	return 0;
}

int xen_live_end(struct xen_live *live)
{
	int ret = xentrace_live_end(live->stream);

	live->ended = true;
	if (!ret)
		ret = begin_if_enough(live);
	if (!ret && live->tracker)
		ret = expect_ends(live);
	return ret;
}

/* --- what goes ------------------------------------------------------------------------------- */

int xen_live_feed(struct xen_live *live, int64_t until_ns)
{
	const struct xentrace_record *rec;
	int ret = begin_if_enough(live);

	while (!ret && live->tracker && (rec = xentrace_live_next(live->stream))) {
		struct xen_trace_row row = row_of(live, rec);

		live->next_ns = row.time_ns;
		if (row.time_ns >= until_ns)
			return 1;
		ret = xen_tracker_feed(live->tracker, &row);
		if (row.time_ns >= live->last_ns)
			live->last_ns = row.time_ns + 1;
		xentrace_live_take(live->stream);
	}
	return ret;
}

int64_t xen_live_next(const struct xen_live *live)
{
	return live->next_ns;
}

int64_t xen_live_last(const struct xen_live *live)
{
	return live->last_ns;
}

int xen_live_model(struct xen_live *live, int64_t begin_ns, int64_t end_ns,
		   struct virt_model **model)
{
	return xen_tracker_excerpt(live->tracker, begin_ns, end_ns, model);
}

void xen_live_forget(struct xen_live *live, int64_t before_ns)
{
	xen_tracker_forget(live->tracker, before_ns);
}

const struct xen_trace *xen_live_trace(const struct xen_live *live)
{
	return live->trace;
}

void xen_live_count(const struct xen_live *live, struct xentrace_live_counts *counts)
{
	xentrace_live_count(live->stream, counts);
}
