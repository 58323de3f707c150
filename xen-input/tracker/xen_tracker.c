// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_tracker.c
 * @brief	Walk through the records of a xentrace file, and a second time if some are missing.
 */
#include <stdlib.h>
#include <string.h>

#include "xen_trace_window.h"
#include "xen_tracker_private.h"

/** The sidecar may know of pCPUs that have no records. */
static int32_t n_pcpus(const struct xen_tracker *tracker)
{
	const struct xen_meta *meta = xen_trace_meta(tracker->trace);
	int32_t n = xen_trace_n_pcpus(tracker->trace);

	return meta && meta->n_pcpus > n ? meta->n_pcpus : n;
}

/** From when on nothing that happened is missing; INT64_MAX: not known. */
static int64_t whole_since(const struct xen_tracker *tracker)
{
	uint64_t tsc = xentrace_whole_tsc(xen_trace_reader(tracker->trace));
	int64_t since;

	if (tsc == UINT64_MAX)
		return INT64_MAX;
	since = cut_time(xen_clock_ns(xen_trace_clock(tracker->trace), tsc));
	return since > tracker->begin_ns ? since : tracker->begin_ns;
}

/** Of a trace that was cut out of another one: who there is gets the numbers that it has there. */
static void begin_part(struct xen_tracker *tracker)
{
	const struct xen_part *part = tracker->part;

	for (int32_t i = 0; i < part->model->n_vcpus && !tracker->error; i++) {
		int32_t who = tracker_vcpu_of(tracker, part->vcpus[i].vcpu);

		if (who >= 0 && part->vcpus[i].hvm)
			tracker->domains[tracker->vcpus[who].domain].hvm = true;
	}
	tracker_fail(tracker, virt_part_begin(part->model, tracker->model));
}

int xen_tracker_change(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	uint32_t event = row->rec.event;
	struct xen_trace_row cut;

	if (cut_time(row->time_ns) != row->time_ns) {
		cut = *row;
		cut.time_ns = cut_time(row->time_ns);
		row = &cut;
	}
	tracker->now_ns = row->time_ns;
	if (!tracker->begun) {
		tracker->begin_ns = row->time_ns;
		tracker->whole_ns = whole_since(tracker);
		tracker->begun = true;
		if (tracker->part)
			begin_part(tracker);
	}
	if (!tracker->runs[row->rec.run].begun)
		tracker_begin_run(tracker, row->rec.run, row->rec.pcpu, row->time_ns);
	if (!tracker->replay) {
		if (is_loss(row))
			tracker_note_loss(tracker, row);
		/* all that was done until the first loss will be done anew */
		if (tracker->n_losses)
			return tracker->error;
	} else {
		tracker_begin_losses(tracker, row->time_ns, is_loss(row));
		if (is_loss(row))
			tracker_end_loss(tracker, row);
	}
	if (tracker->runs[row->rec.run].pending)
		tracker_after_switch(tracker, row);
	if (xen_tracker_wants(event)) {
		tracker_note_kind(tracker, event);
		tracker_record(tracker, row);
	}
	return tracker->error;
}

int xen_tracker_add(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	return xen_tracker_feed(tracker, row);
}

void tracker_new_run(struct xen_tracker *tracker, uint32_t run)
{
	tracker->head.last_ns[run] = INT64_MIN;
	tracker->head.calls[run] = (struct xen_tracker_call){ 0 };
	tracker->runs[run] = (struct tracked_run){ .current = NOT_KNOWN, .preempted = NOT_KNOWN,
						   .woken = NOBODY };
}

/** Forget everything but the losses. Return: 0 or -ENOMEM. */
static int start_over(struct xen_tracker *tracker)
{
	virt_model_free(tracker->model);
	tracker->model = virt_model_new();
	key_map_destroy(&tracker->vcpu_map);
	key_map_destroy(&tracker->domain_map);
	key_map_destroy(&tracker->reason_map);
	key_map_destroy(&tracker->switch_map);
	tracker->n_shown = 0;
	tracker->head.n_pending = 0;
	tracker->begun = false;
	tracker->have_runstates = tracker->have_requests = false;
	tracker->head.has_budgets = tracker->head.has_limits = false;
	for (uint32_t i = 0; i < tracker->n_runs + tracker->n_left_out; i++)
		tracker_new_run(tracker, i);
	return tracker->model ? 0 : -ENOMEM;
}

struct xen_tracker *xen_tracker_new(struct xen_trace *trace)
{
	struct xen_tracker *tracker = calloc(1, sizeof(*tracker));
	size_t n;

	if (!tracker)
		return NULL;
	tracker->trace = trace;
	tracker->n_runs = xentrace_n_runs(xen_trace_reader(trace));
	tracker->part = xen_trace_part(trace);
	if (tracker->part && !tracker->part->model)
		tracker->part = NULL;
	if (tracker->part)
		tracker->n_left_out = (uint32_t)tracker->part->model->n_left_out;
	n = (size_t)tracker->n_runs + tracker->n_left_out + 1;
	tracker->head.last_ns = calloc(n, sizeof(*tracker->head.last_ns));
	tracker->head.calls = calloc(n, sizeof(*tracker->head.calls));
	tracker->runs = calloc(n, sizeof(*tracker->runs));
	if (!tracker->head.last_ns || !tracker->head.calls || !tracker->runs ||
	    start_over(tracker)) {
		xen_tracker_free(tracker);
		return NULL;
	}
	return tracker;
}

/** What it knows of vCPUs, domains and reasons. */
static void forget(struct xen_tracker *tracker)
{
	key_map_destroy(&tracker->vcpu_map);
	key_map_destroy(&tracker->domain_map);
	key_map_destroy(&tracker->reason_map);
	key_map_destroy(&tracker->switch_map);
	free(tracker->vcpus);
	free(tracker->shown);
	free(tracker->switch_runs);
	free(tracker->domains);
	free(tracker->reasons);
	tracker->vcpus = NULL;
	tracker->shown = NULL;
	tracker->switch_runs = NULL;
	tracker->domains = NULL;
	tracker->reasons = NULL;
	tracker->room_vcpus = tracker->room_shown = tracker->room_switch_runs = 0;
	tracker->room_domains = tracker->room_reasons = 0;
}

void xen_tracker_free(struct xen_tracker *tracker)
{
	if (!tracker)
		return;
	virt_model_free(tracker->model);
	forget(tracker);
	free(tracker->losses);
	free(tracker->runs);
	free(tracker->head.last_ns);
	free(tracker->head.calls);
	free(tracker);
}

static int walk(struct xen_tracker *tracker)
{
	struct xen_trace_iter *iter = xen_trace_iter_new(tracker->trace);
	struct xen_trace_row row;
	int ret = iter ? 0 : -ENOMEM, ret_read;

	while (!ret && xen_trace_iter_next(iter, &row))
		ret = xen_tracker_feed(tracker, &row);
	ret_read = xen_trace_iter_free(iter);
	return ret ? ret : ret_read;
}

void xen_tracker_brief(struct xen_tracker *tracker)
{
	tracker->is_brief = true;
}

int xen_tracker_finish(struct xen_tracker *tracker, struct virt_model **model)
{
	const struct xen_trace_span *window;
	int64_t end_ns = INT64_MIN;
	int ret;

	tracker_note_ends(tracker);
	ret = tracker->error;
	if (!ret && tracker->n_losses) {
		tracker_sort_losses(tracker);
		tracker->replay = true;
		ret = start_over(tracker);
		if (!ret)
			ret = walk(tracker);
		/* those that nothing has ended */
		if (!ret)
			tracker_begin_losses(tracker, INT64_MAX, true);
	}
	if (ret)
		return ret;
	tracker_end_switches(tracker);
	tracker_close(tracker);
	for (uint32_t i = 0; i < tracker->n_runs; i++) {
		if (tracker->head.last_ns[i] > end_ns)
			end_ns = tracker->head.last_ns[i];
	}
	/* the last record lies within the trace */
	end_ns = tracker->begun ? cut_time(end_ns) + 1 : 0;
	tracker_end_holds(tracker, end_ns);
	ret = tracker->error;
	tracker_set_recorded(tracker, tracker->model);
	/* a limit may have held vCPUs when a part began: the part knows */
	if (tracker->head.has_limits && tracker->have_runstates && !tracker->part)
		virt_model_know_holds(tracker->model);
	if (!ret)
		ret = virt_model_know_pcpus(tracker->model, n_pcpus(tracker));
	if (tracker->is_brief)
		virt_model_brief(tracker->model);
	/* the model needs the memory now */
	forget(tracker);
	if (!ret && tracker->part)
		ret = virt_part_finish(tracker->part->model, tracker->model);
	else if (!ret)
		ret = virt_model_finish(tracker->model, tracker->begin_ns, end_ns);
	if (ret)
		return ret;
	window = xen_trace_window(tracker->trace);
	if (window)
		virt_model_show(tracker->model, window->from_ns, window->to_ns);
	*model = tracker->model;
	tracker->model = NULL;
	return 0;
}

int xen_tracker_build(struct xen_trace *trace, struct virt_model **model)
{
	struct xen_tracker *tracker = xen_tracker_new(trace);
	int ret = tracker ? walk(tracker) : -ENOMEM;

	if (!ret)
		ret = xen_tracker_finish(tracker, model);
	xen_tracker_free(tracker);
	return ret;
}
