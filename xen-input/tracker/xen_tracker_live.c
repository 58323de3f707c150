// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_tracker_live.c
 * @brief	Run a tracker for days: make models of the last part, and forget the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "virt_arguments.h"
#include "virt_excerpt.h"
#include "xen_tracker_live.h"
#include "xen_tracker_private.h"

void xen_tracker_follow(struct xen_tracker *tracker, int64_t begin_ns)
{
	virt_model_skip_arguments(tracker->model);
	tracker->begin_ns = cut_time(begin_ns);
	tracker->replay = true;
}

int xen_tracker_runs(struct xen_tracker *tracker)
{
	uint32_t n = xentrace_n_runs(xen_trace_reader(tracker->trace));
	uint32_t times = tracker->n_runs, calls = tracker->n_runs, runs = tracker->n_runs;

	if (n <= tracker->n_runs)
		return 0;
	if (ARRAY_REACH(tracker->head.last_ns, n, times) ||
	    ARRAY_REACH(tracker->head.calls, n, calls) || ARRAY_REACH(tracker->runs, n, runs))
		return -ENOMEM;
	while (tracker->n_runs < n)
		tracker_new_run(tracker, tracker->n_runs++);
	return 0;
}

void xen_tracker_expect_loss(struct xen_tracker *tracker, const struct xen_trace_row *row,
			     int64_t last_ns)
{
	if (is_loss(row))
		tracker_expect_loss(tracker, row, cut_time(last_ns));
}

void xen_tracker_expect_end(struct xen_tracker *tracker, uint32_t run, uint16_t pcpu,
			    int64_t from_ns, int64_t to_ns)
{
	from_ns = cut_time(from_ns);
	to_ns = cut_time(to_ns);
	if (from_ns < to_ns)
		tracker_expect(tracker, &(struct loss){ .run = run, .pcpu = (int16_t)pcpu,
							.from_ns = from_ns, .to_ns = to_ns });
}

/* --- a model of what was last ---------------------------------------------------------------- */

/** What the end of a trace changes. */
struct saved {
	struct tracked_vcpu	*vcpus;
	struct tracked_domain	*domains;
	struct tracked_run	*runs;
	int32_t			*shown;
	size_t			n_shown;
	uint32_t		n_pending;
};

static void *save_array(const void *array, size_t size)
{
	void *copy = malloc(size + 1);

	if (copy && size)
		memcpy(copy, array, size);
	return copy;
}

static void restore_array(void *array, void *copy, size_t size)
{
	if (size)
		memcpy(array, copy, size);
	free(copy);
}

static size_t vcpus_size(const struct xen_tracker *tracker)
{
	return tracker->vcpu_map.n_keys * sizeof(*tracker->vcpus);
}

static size_t domains_size(const struct xen_tracker *tracker)
{
	return tracker->domain_map.n_keys * sizeof(*tracker->domains);
}

static size_t runs_size(const struct xen_tracker *tracker)
{
	return tracker->n_runs * sizeof(*tracker->runs);
}

/** Return: 0 or -ENOMEM; drop() or restore() must follow. */
static int save(const struct xen_tracker *tracker, struct saved *saved)
{
	*saved = (struct saved){
		.vcpus = save_array(tracker->vcpus, vcpus_size(tracker)),
		.domains = save_array(tracker->domains, domains_size(tracker)),
		.runs = save_array(tracker->runs, runs_size(tracker)),
		.shown = save_array(tracker->shown, tracker->n_shown * sizeof(*tracker->shown)),
		.n_shown = tracker->n_shown,
		.n_pending = tracker->head.n_pending,
	};
	return saved->vcpus && saved->domains && saved->runs && saved->shown ? 0 : -ENOMEM;
}

static void drop(struct saved *saved)
{
	free(saved->vcpus);
	free(saved->domains);
	free(saved->runs);
	free(saved->shown);
}

static void restore(struct xen_tracker *tracker, struct saved *saved)
{
	tracker->n_shown = saved->n_shown;
	tracker->head.n_pending = saved->n_pending;
	restore_array(tracker->vcpus, saved->vcpus, vcpus_size(tracker));
	restore_array(tracker->domains, saved->domains, domains_size(tracker));
	restore_array(tracker->runs, saved->runs, runs_size(tracker));
	restore_array(tracker->shown, saved->shown, saved->n_shown * sizeof(*tracker->shown));
}

/** vCPUs that switches name which are not over: a vCPU never becomes known only in between. */
static void know_pending(struct xen_tracker *tracker)
{
	for (uint32_t i = 0; tracker->head.n_pending && i < tracker->n_runs; i++) {
		const struct tracked_run *run = &tracker->runs[i];

		if (run->pending && run->prev != XEN_VCPU_UNKNOWN && believable(run->prev))
			tracker_vcpu_of(tracker, run->prev);
		if (run->pending && run->next != XEN_VCPU_UNKNOWN && believable(run->next) &&
		    !xen_vcpu_is_idle(run->next))
			tracker_vcpu_of(tracker, run->next);
	}
}

/** As if the trace ended. Return: the model, not finished; or NULL: see the tracker's error. */
static struct virt_model *close_copy(struct xen_tracker *tracker, int64_t begin_ns)
{
	struct virt_model *whole = tracker->model, *copy = virt_model_excerpt(whole, begin_ns);
	struct saved saved;

	if (!copy || save(tracker, &saved)) {
		tracker_fail(tracker, -ENOMEM);
		if (copy)
			drop(&saved);
		virt_model_free(copy);
		return NULL;
	}
	tracker->model = copy;
	tracker_end_switches(tracker);
	tracker_close(tracker);
	tracker->model = whole;
	restore(tracker, &saved);
	return copy;
}

int xen_tracker_excerpt(struct xen_tracker *tracker, int64_t begin_ns, int64_t end_ns,
			struct virt_model **model)
{
	struct virt_model *copy;
	int ret;

	begin_ns = cut_time(begin_ns);
	end_ns = cut_time(end_ns);
	if (begin_ns < tracker->begin_ns)
		begin_ns = tracker->begin_ns;
	tracker_begin_losses(tracker, end_ns, false);
	know_pending(tracker);
	copy = tracker->error ? NULL : close_copy(tracker, begin_ns);
	if (!copy)
		return tracker->error;
	tracker_set_recorded(tracker, copy);
	ret = tracker->error ? tracker->error : virt_model_finish(copy, begin_ns, end_ns);
	if (ret) {
		virt_model_free(copy);
		return ret;
	}
	*model = copy;
	return 0;
}

void xen_tracker_forget(struct xen_tracker *tracker, int64_t before_ns)
{
	virt_model_forget(tracker->model, cut_time(before_ns));
}
