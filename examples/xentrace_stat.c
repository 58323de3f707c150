// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_stat.c
 * @brief	Example of libkshark-virt: what is in a xentrace file, in numbers.
 *
 * Usage: xentrace_stat FILE
 *
 * Build: cc -o xentrace_stat xentrace_stat.c $(pkg-config --cflags --libs kshark-virt)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <kshark-virt/xen_trace.h>

/** How long a vCPU ran, on all pCPUs together. */
struct vcpu_time {
	xen_vcpu	vcpu;
	int64_t		ns;
};

/** What a pCPU is doing. */
struct stretch {
	bool		begun;
	xen_vcpu	vcpu;		/* is on it since ... */
	int64_t		since_ns;
	int64_t		last_ns;	/* its latest record */
};

/** An event and how often it occurs. */
struct event_count {
	int		index;		/* in the library's table of events */
	uint64_t	n;
};

static struct vcpu_time *vcpus;
static size_t n_vcpus;

static void add_time(xen_vcpu vcpu, int64_t ns)
{
	struct vcpu_time *more;

	/* Each pCPU has an idle vCPU of its own; one line for all of them will do. */
	if (vcpu != XEN_VCPU_UNKNOWN && xen_vcpu_is_idle(vcpu))
		vcpu = (xen_vcpu)XEN_DOMID_IDLE << 16;
	for (size_t i = 0; i < n_vcpus; i++) {
		if (vcpus[i].vcpu == vcpu) {
			vcpus[i].ns += ns;
			return;
		}
	}
	more = realloc(vcpus, (n_vcpus + 1) * sizeof(*vcpus));
	if (!more) {
		perror("xentrace_stat");
		exit(1);
	}
	vcpus = more;
	vcpus[n_vcpus++] = (struct vcpu_time){ vcpu, ns };
}

/** A vCPU runs from its first record on a pCPU to the first record of another one there. */
static void take_note(struct stretch *stretch, const struct xen_trace_row *row)
{
	bool lost = row->rec.event == XEN_TRC_LOST_RECORDS ||
		    (row->rec.flags & XENTRACE_AFTER_GAP);

	if (!stretch->begun || lost || row->vcpu != stretch->vcpu) {
		/* Nobody knows what has happened while records were lost. */
		if (stretch->begun)
			add_time(stretch->vcpu, (lost ? stretch->last_ns : row->time_ns) -
						stretch->since_ns);
		if (lost && stretch->begun)
			add_time(XEN_VCPU_UNKNOWN, row->time_ns - stretch->last_ns);
		stretch->begun = true;
		stretch->vcpu = row->vcpu;
		stretch->since_ns = row->time_ns;
	}
	stretch->last_ns = row->time_ns;
}

static int by_count(const void *a, const void *b)
{
	const struct event_count *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : x->index - y->index;
}

static int by_vcpu(const void *a, const void *b)
{
	const struct vcpu_time *x = a, *y = b;

	return x->vcpu < y->vcpu ? -1 : x->vcpu > y->vcpu;
}

static void print_all(const struct xen_trace *trace, struct event_count *events)
{
	const struct xentrace *reader = xen_trace_reader(trace);
	char text[128];

	xen_clock_text(text, sizeof(text), xen_trace_clock(trace));
	printf("clock: %s\n\nrecords per pCPU\n", text);
	for (int i = 0; i < xentrace_n_pcpus(reader); i++) {
		const struct xentrace_pcpu *pcpu = xentrace_pcpu_at(reader, i);

		printf("%12" PRIu64 "  %u\n", pcpu->n_records, pcpu->pcpu);
	}

	/* Index xen_events_count() stands for all events that the library does not know. */
	qsort(events, xen_events_count() + 1, sizeof(*events), by_count);
	printf("\nrecords per event\n");
	for (int i = 0; i <= xen_events_count() && events[i].n; i++) {
		const struct xen_event *event = xen_event_at(events[i].index);

		printf("%12" PRIu64 "  %s\n", events[i].n, event ? event->name : "(unknown)");
	}

	qsort(vcpus, n_vcpus, sizeof(*vcpus), by_vcpu);
	printf("\nseconds on a pCPU\n");
	for (size_t i = 0; i < n_vcpus; i++) {
		/* with the name of the domain, if there is a sidecar that has it */
		xen_vcpu_text(text, sizeof(text), vcpus[i].vcpu, xen_trace_meta(trace));
		printf("%12.6f  %s\n", vcpus[i].ns / 1e9, text);
	}
}

int main(int argc, char **argv)
{
	struct xen_trace_options options = { 0 };
	struct event_count *events;
	struct stretch *stretches;
	struct xen_trace_iter *iter;
	struct xen_trace *trace;
	struct xen_trace_row row;
	char error[512];
	uint32_t n_runs;
	bool changed;

	if (argc != 2) {
		fprintf(stderr, "usage: xentrace_stat FILE\n");
		return 2;
	}
	/* XEN_CPUHZ and the others, as for KernelShark; without it, the defaults hold. */
	if (xen_trace_options_from_env(&options, error, sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		return 2;
	}
	trace = xen_trace_open(argv[1], &options, error, sizeof(error));
	if (!trace) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}

	/* A run is one pCPU, unless its TSC jumps back: two recordings put together, say. */
	n_runs = xentrace_n_runs(xen_trace_reader(trace));
	stretches = calloc(n_runs, sizeof(*stretches));
	events = calloc(xen_events_count() + 1, sizeof(*events));
	iter = xen_trace_iter_new(trace);
	if (!stretches || !events || !iter) {
		perror("xentrace_stat");
		return 1;
	}
	for (int i = 0; i <= xen_events_count(); i++)
		events[i].index = i;

	while (xen_trace_iter_next(iter, &row)) {
		int index = xen_event_index(row.rec.event);

		events[index < 0 ? xen_events_count() : index].n++;
		take_note(&stretches[row.rec.run], &row);
	}
	for (uint32_t i = 0; i < n_runs; i++)
		if (stretches[i].begun)
			add_time(stretches[i].vcpu, stretches[i].last_ns - stretches[i].since_ns);
	print_all(trace, events);

	/* Somebody may have cut the file, or recorded into it anew, while it was read. */
	changed = xentrace_changed(xen_trace_reader(trace)) >= XENTRACE_CHANGED;
	if (changed) {
		xentrace_change_text(error, sizeof(error), xen_trace_reader(trace));
		fprintf(stderr, "%s: this is what was read until then\n", error);
	}
	if (xen_trace_iter_free(iter)) {
		fprintf(stderr, "%s: not enough memory\n", argv[1]);
		changed = true;
	}
	xen_trace_close(trace);
	free(stretches);
	free(events);
	free(vcpus);
	return changed;
}
