/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_live.c
 * @brief	Any bytes as a trace that is still being written: how they come makes no difference.
 *
 * The first byte says in which pieces they come. A model of the end is made now and then, in which
 * every vCPU's intervals fill the time; and of a sound trace that was there as a whole when it
 * began, it has the contents of the file's model.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "model_checks.h"
#include "xen_live.h"
#include "xen_tracker.h"

#define HZ		1000000000
#define STEP_NS		1000000
#define MOST_STEPS	20
#define FNV		0x100000001b3ULL

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct xen_live *new_live(int64_t begin_ns)
{
	const struct xen_live_options options = {
		.trace = { .cpu_hz = HZ }, .begin_ns = begin_ns, .max_bytes = 1 << 30,
	};

	return xen_live_new("fuzz", &options, NULL, 0);
}

/** Intervals, one after the other, each of which is forgotten then. */
struct steps {
	struct xen_live	*live;
	int		n;
	uint64_t	hash;
};

static void take_step(struct steps *steps, int64_t from_ns, int64_t known_ns)
{
	struct virt_model *model = NULL;

	check(!xen_live_model(steps->live, from_ns - 1, known_ns, &model), "no model");
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++)
		check_vcpu(model, i);
	for (int32_t i = 0; i < virt_model_n_pcpus(model); i++)
		check_pcpu(model, i);
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
		struct virt_totals totals;

		virt_vcpu_totals(model, i, from_ns, known_ns, &totals);
		for (int state = 0; state < VIRT_N_STATES; state++)
			steps->hash = (steps->hash ^ (uint64_t)totals.ns[state]) * FNV;
	}
	virt_model_free(model);
	xen_live_forget(steps->live, from_ns - 1);
}

/** All that can be taken by now. */
static void take_steps(struct steps *steps, bool ended)
{
	int64_t from_ns, known_ns;
	int more = 1;

	while (more > 0 && steps->n < MOST_STEPS && xen_live_has_begun(steps->live, &from_ns)) {
		if (from_ns > INT64_MAX - (int64_t)(steps->n + 2) * STEP_NS)
			return;
		from_ns += (int64_t)steps->n * STEP_NS;
		more = xen_live_feed(steps->live, from_ns + 2 * STEP_NS);
		check(more >= 0, "feeding fails");
		known_ns = more ? xen_live_next(steps->live) : xen_live_last(steps->live);
		if (!more && !ended)
			return;
		steps->n++;
		if (known_ns > from_ns)
			take_step(steps, from_ns, known_ns);
	}
}

/** @steps: taken as it comes; or NULL. Return: whether it is a trace. */
static bool push(struct xen_live *live, const uint8_t *data, size_t size, size_t piece,
		 struct steps *steps)
{
	int ret = 0;

	for (size_t at = 0; at < size && !ret; at += piece) {
		ret = xen_live_push(live, data + at, size - at < piece ? size - at : piece);
		if (!ret && steps)
			take_steps(steps, false);
	}
	check(!ret || ret == -EINVAL || ret == -ENOTSUP || ret == -E2BIG, "pushing fails");
	return !ret && !xen_live_end(live);
}

/** Return: a checksum of all intervals. */
static uint64_t outcome(const uint8_t *data, size_t size, size_t piece)
{
	struct steps steps = { .live = new_live(STEP_NS) };
	struct xentrace_live_counts counts;

	check(steps.live, "no memory");
	if (push(steps.live, data, size, piece, &steps))
		take_steps(&steps, true);
	xen_live_count(steps.live, &counts);
	steps.hash ^= counts.records << 20 ^ counts.late;
	xen_live_free(steps.live);
	return steps.hash;
}

static void compare(const struct virt_model *a, const struct virt_model *b)
{
	int64_t begin = virt_model_begin(a), end = virt_model_end(a);

	check(begin == virt_model_begin(b) && end == virt_model_end(b), "another span");
	check(virt_model_n_vcpus(a) == virt_model_n_vcpus(b), "other vCPUs");
	for (int32_t i = 0; i < virt_model_n_vcpus(a); i++) {
		struct virt_totals x, y;

		virt_vcpu_totals(a, i, begin, end, &x);
		virt_vcpu_totals(b, i, begin, end, &y);
		for (int state = 0; state < VIRT_N_STATES; state++)
			check(x.ns[state] == y.ns[state] && x.count[state] == y.count[state],
			      "a vCPU does something else");
	}
}

/** Is there a pCPU whose first record has no TSC? Then the first one of all may come later. */
static bool is_untimed(const struct xentrace *reader)
{
	bool untimed = false;

	for (uint32_t run = 0; run < xentrace_n_runs(reader) && !untimed; run++) {
		const struct xentrace_iter_options one = { .one_run = true, .run = run };
		struct xentrace_iter *iter = xentrace_iter_new(reader, &one);
		struct xentrace_record rec;

		untimed = xentrace_iter_next(iter, &rec) && !(rec.flags & XENTRACE_HAS_TSC);
		xentrace_iter_free(iter);
	}
	return untimed;
}

/** All of it at once, beside the file. */
static void compare_with_file(const uint8_t *data, size_t size)
{
	const struct xen_trace_options options = { .cpu_hz = HZ };
	struct xen_trace *trace = xen_trace_open_memory(data, size, &options, NULL, 0);
	struct xen_live *live = new_live(INT64_MAX);
	struct xentrace_live_counts counts;
	struct virt_model *of_file = NULL, *of_live = NULL;
	int64_t begin_ns;

	if (trace && live && !xentrace_n_problems(xen_trace_reader(trace)) &&
	    push(live, data, size, size, NULL) && !xen_live_feed(live, INT64_MAX) &&
	    xen_live_has_begun(live, &begin_ns)) {
		xen_live_count(live, &counts);
		check(!xen_tracker_build(trace, &of_file), "no model of the file");
		check(!xen_live_model(live, begin_ns, xen_live_last(live), &of_live), "no model");
		/* in a file, windows need not come in turns */
		if (!counts.late && !is_untimed(xen_trace_reader(trace)) &&
		    counts.records == xentrace_n_records(xen_trace_reader(trace)))
			compare(of_file, of_live);
	}
	virt_model_free(of_file);
	virt_model_free(of_live);
	xen_live_free(live);
	xen_trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	check(outcome(data + 1, size - 1, size) == outcome(data + 1, size - 1, data[0] + 1u),
	      "it matters how it comes");
	compare_with_file(data + 1, size - 1);
	return 0;
}
