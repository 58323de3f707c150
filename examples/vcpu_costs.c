// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	vcpu_costs.c
 * @brief	Example of libkshark-virt: what the vCPUs of a xentrace file did; their worst waits.
 *
 * Usage: vcpu_costs FILE
 *
 * Build: cc -o vcpu_costs vcpu_costs.c $(pkg-config --cflags --libs kshark-virt)
 */
#include <inttypes.h>
#include <stdio.h>

#include <kshark-virt/virt_window.h>
#include <kshark-virt/virt_worst.h>
#include <kshark-virt/xen_tracker.h>

/** Moments that are listed. */
#define MOST	5

static void print_vcpus(const struct virt_model *model, const struct virt_window *window)
{
	printf("vCPU          guest      steal    blocked  wake-ups    %s [us]  migrations\n",
	       virt_stat_look(VIRT_STAT_P99)->name);
	for (int32_t i = 0; i < window->n_vcpus; i++) {
		const struct virt_window_stats *stats = &window->vcpus[i];

		printf("%-8s %8.3f s %8.3f s %8.3f s %9" PRIu64 " %11.3f %11" PRIu64 "\n",
		       virt_model_vcpu(model, i)->name, stats->states[VIRT_GUEST].ns / 1e9,
		       stats->states[VIRT_PREEMPTED].ns / 1e9,
		       stats->states[VIRT_BLOCKED].ns / 1e9, stats->states[VIRT_WAKING].count,
		       virt_dist_stat(&stats->states[VIRT_WAKING].whole, VIRT_STAT_P99) / 1e3,
		       stats->migrations);
	}
}

static void print_worst(const struct virt_model *model, const struct virt_worst *worst)
{
	const struct virt_worst_query query = {
		.from_ns = virt_model_begin(model), .to_ns = virt_model_end(model),
		.kinds = 1u << VIRT_WORST_STEAL | 1u << VIRT_WORST_WAKE,
	};
	struct virt_worst_hit hits[MOST];
	ssize_t n = virt_worst_top(worst, &query, hits, MOST);

	printf("\nworst waits for a pCPU\n");
	for (ssize_t i = 0; i < n; i++)
		printf("%12.6f s  %-6s %-6s %10.3f us\n", hits[i].time_ns / 1e9,
		       virt_model_vcpu(model, hits[i].vcpu)->name,
		       virt_worst_kind_name(hits[i].kind), hits[i].cost_ns / 1e3);
}

int main(int argc, char **argv)
{
	struct virt_window_query query = { 0 };
	struct virt_window *window = NULL;
	struct virt_worst *worst = NULL;
	struct virt_model *model = NULL;
	struct xen_trace *trace;
	char error[512];
	int status = 1;

	if (argc != 2) {
		fprintf(stderr, "usage: vcpu_costs FILE\n");
		return 2;
	}
	trace = xen_trace_open(argv[1], NULL, error, sizeof(error));
	if (!trace) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	if (!xen_tracker_build(trace, &model)) {
		query.from_ns = virt_model_begin(model);
		query.to_ns = virt_model_end(model);
		query.parts = VIRT_WINDOW_STATES;	/* percentiles of wake-ups */
		window = virt_window_new(model, &query);
		worst = virt_worst_new(model, false, NULL, 0);
	}
	if (window && worst) {
		print_vcpus(model, window);
		print_worst(model, worst);
		status = 0;
	} else {
		fprintf(stderr, "%s: not enough memory\n", argv[1]);
	}
	virt_worst_free(worst);
	virt_window_free(window);
	virt_model_free(model);
	xen_trace_close(trace);
	return status;
}
