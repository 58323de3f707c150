/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The Xen tracker on real traces, whole and with kinds of records left out, beside sums that are
 * taken from the records themselves, without it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "enough.h"
#include "trace_builder.h"
#include "virt_needs.h"
#include "virt_window.h"
#include "xen_tracker.h"
#include "xentrace_private.h"

/* Exit codes of SVM (APM, volume 2, appendix C) */
#define SVM_HLT		0x78
#define SVM_IOIO	0x7b

/** vCPUs that a sample has, at most; their places are what number() gives. */
#define MAX_VCPUS	64
#define MAX_PCPUS	64

static const char *const samples[] = {
	"credit2-basic", "pinned", "migration", "hvm-exits", "hvm-io", "sched-credit", "dom0",
};

/** Whether a record stays in the trace. */
typedef bool (*keep_fn)(uint32_t pcpu, uint32_t event);

static bool keep_all(uint32_t pcpu, uint32_t event)
{
	(void)pcpu;
	(void)event;
	return true;
}

static bool keep_no_runstates(uint32_t pcpu, uint32_t event)
{
	(void)pcpu;
	return event >> XEN_TRC_SUBCLASS_SHIFT != XEN_TRC_SCHED_MIN;
}

static uint32_t left_out;
static unsigned int left_out_shift;

static bool keep_others(uint32_t pcpu, uint32_t event)
{
	(void)pcpu;
	return event >> left_out_shift != left_out;
}

static bool keep_no_scheduler_on_2(uint32_t pcpu, uint32_t event)
{
	return pcpu != 2 || event >> XEN_TRC_CLASS_SHIFT != XEN_TRC_CLASS_SCHED;
}

/** A sample as bytes, without some of its records. */
static struct trace sample(const char *name, keep_fn keep)
{
	uint64_t last_tsc[MAX_PCPUS] = { 0 };
	struct trace out = { 0 };
	char path[4096];
	uint8_t *data;
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "%s/samples/%s.xen", getenv("KSV_SOURCE_DIR"), name);
	file = fopen(path, "re");
	assert_non_null(file);
	data = malloc(8 << 20);
	size = fread(data, 1, 8 << 20, file);
	fclose(file);
	for (size_t at = 0; at < size; ) {
		uint32_t pcpu = load_u32(data + at + 4);
		size_t end = at + WINDOW_HEADER_SIZE + load_u32(data + at + 8);

		assert_int_equal(load_u32(data + at), WINDOW_HEADER);
		assert_true(end <= size);
		trace_window(&out, pcpu);
		for (at += WINDOW_HEADER_SIZE; at < end; ) {
			uint32_t header = load_u32(data + at);
			uint64_t tsc = load_u64(data + at + 4);
			uint32_t words[XENTRACE_MAX_WORDS];
			unsigned int skip = header & RECORD_HAS_TSC ? 12 : 4;

			memcpy(words, data + at + skip, 4 * record_words(header));
			at += record_size(header);
			assert_true(pcpu < MAX_PCPUS);
			if (header & RECORD_HAS_TSC)
				last_tsc[pcpu] = tsc;
			if ((header & EVENT_MASK) == EVENT_WRAP_BUFFER ||
			    !keep(pcpu, header & EVENT_MASK))
				continue;
			/* without a time, it has that of the one before, which may be left out */
			if (header & RECORD_HAS_TSC || (keep != keep_all && last_tsc[pcpu]))
				trace_record(&out, header & EVENT_MASK, last_tsc[pcpu],
					     record_words(header), words);
			else
				trace_untimed(&out, header & EVENT_MASK, record_words(header),
					      words);
		}
	}
	free(data);
	return out;
}

static struct xen_trace *open_trace(const struct trace *trace)
{
	struct xen_trace_options options = { .cpu_hz = 1000000000, .absolute_time = true };
	char error[512] = "";
	struct xen_trace *xen = xen_trace_open_memory(trace->data, trace->size, &options, error,
						      sizeof(error));

	if (!xen)
		fail_msg("%s", error);
	return xen;
}

static struct virt_model *model_of(struct xen_trace *xen)
{
	struct virt_model *model = NULL;

	assert_int_equal(xen_tracker_build(xen, &model), 0);
	return model;
}

/** A vCPU's place in an array. */
static int number(xen_vcpu vcpu)
{
	int n = (int)(xen_vcpu_domid(vcpu) * 8 + xen_vcpu_id(vcpu));

	assert_in_range(n, 0, MAX_VCPUS - 1);
	return n;
}

/* ---- VM exits ---- */

/** Time from exits of a kind to the next entry, and how many there were. */
struct crossings {
	int64_t	ns, blocked_ns;
	int	n;
};

/** From the VM exits and entries, and the runstate changes. */
static struct crossings crossings_in(struct xen_trace *xen, uint32_t code)
{
	struct xen_trace_iter *iter = xen_trace_iter_new(xen);
	int64_t exit_ns[MAX_VCPUS] = { 0 }, blocked_since = 0;
	struct crossings sum = { 0 };
	struct xen_trace_row row;

	while (xen_trace_iter_next(iter, &row)) {
		uint32_t word = xentrace_word(&row.rec, 0);
		int64_t *since;

		if (xen_event_is_runstate_change(row.rec.event) ? xen_vcpu_is_idle(word) :
								  row.vcpu == XEN_VCPU_UNKNOWN)
			continue;
		if (row.rec.event == XEN_TRC_HVM_VMX_EXIT ||
		    row.rec.event == XEN_TRC_HVM_VMX_EXIT64) {
			exit_ns[number(row.vcpu)] = word == code ? row.time_ns : 0;
		} else if (row.rec.event == XEN_TRC_SCHED_RUNNING_TO_BLOCKED &&
			   exit_ns[number(word)]) {
			blocked_since = row.time_ns;
		} else if (row.rec.event == XEN_TRC_SCHED_BLOCKED_TO_RUNNABLE &&
			   exit_ns[number(word)]) {
			sum.blocked_ns += row.time_ns - blocked_since;
		} else if (row.rec.event == XEN_TRC_HVM_VMENTRY) {
			since = &exit_ns[number(row.vcpu)];
			sum.ns += *since ? row.time_ns - *since : 0;
			sum.n += *since != 0;
			*since = 0;
		}
	}
	xen_trace_iter_free(iter);
	return sum;
}

/** The same as the model has it; what the guest asked to wait for in @blocked_ns. */
static struct crossings crossings_of(const struct virt_model *model, const char *reason)
{
	struct crossings sum = { 0 };

	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
		struct virt_interval_range range = virt_vcpu_intervals(model, i, INT64_MIN,
								       INT64_MAX);
		struct crossings one = { 0 };
		bool within = false;

		for (size_t k = 0; k + 1 < range.n; k++) {
			const struct virt_interval *now = &range.first[k];
			int64_t ns = now[1].start_ns - now->start_ns;

			if (now->flags & VIRT_INTERVAL_EXIT) {
				within = !strcmp(virt_model_reason(model, now->detail), reason);
				one = (struct crossings){ 0 };
			}
			if (!within)
				continue;
			one.ns += ns;
			if ((now->state == VIRT_BLOCKED || now->state == VIRT_OFFLINE) &&
			    !(now->flags & VIRT_INTERVAL_UNASKED))
				one.blocked_ns += ns;
			if (now[1].state == VIRT_GUEST) {
				sum.ns += one.ns;
				sum.blocked_ns += one.blocked_ns;
				sum.n++;
				within = false;
			}
		}
	}
	return sum;
}

/** All of the time from port I/O to the next entry is its cost: nothing of it was asked for. */
static void test_port_io(void **state)
{
	struct trace trace = sample("hvm-io", keep_all);
	struct xen_trace *xen = open_trace(&trace);
	struct virt_model *model = model_of(xen);
	struct crossings truth = crossings_in(xen, SVM_IOIO), seen = crossings_of(model, "IOIO");

	(void)state;
	assert_in_range(truth.n, 400, 500);
	assert_int_equal(seen.n, truth.n);
	assert_int_equal(seen.ns, truth.ns);
	assert_int_equal(seen.blocked_ns, 0);
	virt_model_free(model);
	xen_trace_close(xen);
	trace_free(&trace);
}

/** All that a halted vCPU sleeps is no cost. */
static void test_halt(void **state)
{
	struct trace trace = sample("hvm-exits", keep_all);
	struct xen_trace *xen = open_trace(&trace);
	struct virt_model *model = model_of(xen);
	struct crossings truth = crossings_in(xen, SVM_HLT), seen = crossings_of(model, "HLT");

	(void)state;
	assert_in_range(truth.n, 400, 500);
	assert_int_equal(seen.n, truth.n);
	assert_int_equal(seen.ns, truth.ns);
	assert_true(truth.blocked_ns > 0);
	assert_int_equal(seen.blocked_ns, truth.blocked_ns);
	virt_model_free(model);
	xen_trace_close(xen);
	trace_free(&trace);
}

/* ---- without runstates ---- */

/** How long a vCPU has a pCPU. */
static int64_t on_pcpus_ns(const struct virt_model *model, int32_t vcpu)
{
	struct virt_totals totals;

	virt_vcpu_totals(model, vcpu, INT64_MIN, INT64_MAX, &totals);
	return totals.ns[VIRT_GUEST] + totals.ns[VIRT_HYPERVISOR];
}

/**
 * Switches show who has a pCPU, as runstates do some microseconds later; and nothing of what vCPUs
 * do without one.
 */
static void test_no_runstates(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		struct trace whole = sample(samples[i], keep_all);
		struct trace less = sample(samples[i], keep_no_runstates);
		struct xen_trace *xen = open_trace(&whole), *xen_less = open_trace(&less);
		struct virt_model *model = model_of(xen), *seen = model_of(xen_less);
		int64_t on_ns = 0, without_ns = 0;

		assert_in_range(virt_model_n_vcpus(seen), 1, virt_model_n_vcpus(model));
		for (int32_t v = 0; v < virt_model_n_vcpus(seen); v++) {
			int32_t tid = virt_model_vcpu(seen, v)->host_pid;
			int32_t same = virt_model_find_vcpu(model, tid);
			int64_t ns = on_pcpus_ns(model, same), off_ns = on_pcpus_ns(seen, v) - ns;
			struct virt_totals totals;

			virt_vcpu_totals(model, same, INT64_MIN, INT64_MAX, &totals);
			on_ns += ns;
			for (int s = VIRT_PREEMPTED; s < VIRT_UNKNOWN; s++)
				without_ns += totals.ns[s];
			virt_vcpu_totals(seen, v, INT64_MIN, INT64_MAX, &totals);
			print_message("%s: %s: %lld ns, and %lld\n", samples[i],
				      virt_model_vcpu(seen, v)->name, (long long)ns,
				      (long long)off_ns);
			assert_in_range(llabs(off_ns), 0, ns / 200 + 100000);
			for (int s = VIRT_PREEMPTED; s < VIRT_UNKNOWN; s++)
				assert_int_equal(totals.ns[s], 0);
		}
		/* with runstates, there is time of both kinds */
		assert_true(on_ns > 0 && without_ns > 0);
		virt_model_free(model);
		virt_model_free(seen);
		xen_trace_close(xen);
		xen_trace_close(xen_less);
		trace_free(&whole);
		trace_free(&less);
	}
}

/* ---- vCPUs that nothing names ---- */

/** The same windows, of any length: what pCPUs and vCPUs do adds up. */
static void assert_conserved(const struct virt_model *model)
{
	int64_t begin = virt_model_begin(model), length = virt_model_end(model) - begin;
	struct virt_pcpu_totals pcpu;
	struct virt_totals totals;

	for (int i = 0; i < 20; i++) {
		int64_t from = begin + length * i / 40, to = from + length * (i + 1) / 40;
		int64_t ns[VIRT_N_STATES] = { 0 };

		for (int32_t p = 0; p < virt_model_n_pcpus(model); p++) {
			virt_pcpu_totals(model, p, from, to, &pcpu);
			for (int s = VIRT_GUEST; s <= VIRT_HYPERVISOR; s++)
				ns[s] += pcpu.state_ns[s];
		}
		for (int32_t v = 0; v < virt_model_n_vcpus(model); v++) {
			virt_vcpu_totals(model, v, from, to, &totals);
			for (int s = VIRT_GUEST; s <= VIRT_HYPERVISOR; s++)
				ns[s] -= totals.ns[s];
		}
		assert_int_equal(ns[VIRT_GUEST], 0);
		assert_int_equal(ns[VIRT_HYPERVISOR], 0);
	}
}

/** Without its scheduler's records, a vCPU is on a pCPU all the time, and none is lost. */
static void test_somebody(void **state)
{
	static const char *const names[] = { "pinned", "hvm-exits" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct trace trace = sample(names[i], keep_no_scheduler_on_2);
		struct xen_trace *xen = open_trace(&trace);
		struct virt_model *model = model_of(xen);
		int32_t vcpu = virt_model_find_vcpu(model, xen_vcpu_tid(xen_vcpu_somebody(2)));
		struct xen_trace_iter *iter = xen_trace_iter_new(xen);
		struct virt_totals totals;
		struct xen_trace_row row;
		int64_t first_ns = -1;

		while (xen_trace_iter_next(iter, &row)) {
			if (row.rec.pcpu != 2)
				continue;
			assert_int_equal(row.vcpu, xen_vcpu_somebody(2));
			if (first_ns < 0)
				first_ns = row.time_ns;
		}
		xen_trace_iter_free(iter);
		assert_true(vcpu >= 0);
		assert_string_equal(virt_model_vcpu(model, vcpu)->name, "d?v? on p2");
		virt_vcpu_totals(model, vcpu, INT64_MIN, INT64_MAX, &totals);
		assert_int_equal(totals.ns[VIRT_GUEST] + totals.ns[VIRT_HYPERVISOR],
				 virt_model_end(model) - first_ns);
		assert_conserved(model);
		virt_model_free(model);
		xen_trace_close(xen);
		trace_free(&trace);
	}
}

/* ---- fewer records ---- */

/** A trace, its model, and a window of it. */
struct seen {
	struct trace	bytes;
	struct xen_trace *xen;
	struct virt_model *model;
	struct virt_window *window;
	uint64_t	records[VIRT_N_NUMBERS][MAX_VCPUS]; /* in the window, of each list */
};

/** The list that a record of a vCPU is counted in, or VIRT_N_NUMBERS. */
static enum virt_number list_of(uint32_t event)
{
	switch (event) {
	case XEN_TRC_PV_HYPERCALL:
	case XEN_TRC_PV_HYPERCALL64:
	case XEN_TRC_PV_HYPERCALL_V2:
	case XEN_TRC_HVM_VMMCALL:
		return VIRT_NUMBER_HYPERCALLS;
	case XEN_TRC_PV_HYPERCALL_SUBCALL:
		return VIRT_NUMBER_SUBCALLS;
	case XEN_TRC_PV_TRAP:
	case XEN_TRC_PV_TRAP64:
	case XEN_TRC_HVM_TRAP:
#define XEN_TRAP(symbol_, symbol64_, name_) case XEN_TRC_##symbol_:
#include "xen_events.def"
		return VIRT_NUMBER_TRAPS;
#define XEN_MEMORY(symbol_, name_) case XEN_TRC_##symbol_:
#include "xen_events.def"
		return VIRT_NUMBER_MEMORY;
	case XEN_TRC_HVM_INJ_VIRQ:
		return VIRT_NUMBER_INJECTED;
	default:
		return VIRT_N_NUMBERS;
	}
}

static void count_records(struct seen *seen, int64_t from, int64_t to)
{
	struct xen_trace_iter *iter = xen_trace_iter_new(seen->xen);
	struct xen_trace_row row;

	while (xen_trace_iter_next(iter, &row)) {
		enum virt_number list = list_of(row.rec.event);

		if (row.time_ns >= from && row.time_ns < to && list < VIRT_N_NUMBERS &&
		    row.vcpu != XEN_VCPU_UNKNOWN && !xen_vcpu_is_idle(row.vcpu))
			seen->records[list][number(row.vcpu)]++;
	}
	xen_trace_iter_free(iter);
}

static void look(struct seen *seen, const char *name, keep_fn keep)
{
	*seen = (struct seen){ .bytes = sample(name, keep) };
	seen->xen = open_trace(&seen->bytes);
	seen->model = model_of(seen->xen);
}

static void count_window(struct seen *seen, int64_t from, int64_t to)
{
	struct virt_window_query query = {
		.from_ns = from, .to_ns = to, .parts = VIRT_WINDOW_STATES | VIRT_WINDOW_EXITS,
	};

	seen->window = virt_window_new(seen->model, &query);
	assert_non_null(seen->window);
	count_records(seen, from, to);
}

static void forget(struct seen *seen)
{
	virt_window_free(seen->window);
	virt_model_free(seen->model);
	xen_trace_close(seen->xen);
	trace_free(&seen->bytes);
}

/** If a number is known without some records, it is the one that all records give. */
static void check_number(const struct seen *less, const char *name, const char *vcpu,
			 enum virt_number number, const char *what, int64_t seen, int64_t truth)
{
	if (virt_model_knows(less->model, number) && seen != truth)
		fail_msg("%s without 0x%x: %s %s %s %lld, truth %lld", name, left_out, vcpu,
			 virt_number_name(number), what, (long long)seen, (long long)truth);
}

/** The lists that are counted from records. */
static void check_lists(const struct seen *whole, const struct seen *less, const char *name)
{
	char vcpu[16];

	for (int list = 0; list < VIRT_N_NUMBERS; list++)
		for (int i = 0; i < MAX_VCPUS; i++) {
			snprintf(vcpu, sizeof(vcpu), "d%dv%d", i / 8, i % 8);
			check_number(less, name, vcpu, (enum virt_number)list, "records",
				     (int64_t)less->records[list][i],
				     (int64_t)whole->records[list][i]);
		}
}

static int64_t culprits_ns(const struct virt_window_stats *stats)
{
	int64_t ns = 0;

	for (size_t i = 0; i < stats->n_culprits; i++)
		ns += stats->culprits[i].ns;
	return ns;
}

static int64_t exits_ns(const struct virt_window_stats *stats)
{
	int64_t ns = 0;

	for (size_t i = 0; i < stats->n_reasons; i++)
		ns += stats->reasons[i].cost.ns;
	return ns;
}

/** What the model has of a vCPU in a window. */
static const struct {
	enum virt_number number;
	const char	*what;
} numbers[] = {
	{ VIRT_NUMBER_RUNS, "ns" }, { VIRT_NUMBER_RUNS, "count" },
	{ VIRT_NUMBER_RUNNABLE, "ns" }, { VIRT_NUMBER_RUNNABLE, "count" },
	{ VIRT_NUMBER_EXITS, "count" }, { VIRT_NUMBER_EXIT_COST, "ns" },
	{ VIRT_NUMBER_MIGRATIONS, "count" }, { VIRT_NUMBER_MIGRATION_COST, "ns" },
	{ VIRT_NUMBER_CULPRITS, "ns" },
};

static void numbers_of(const struct virt_window_stats *stats, int64_t values[])
{
	*values++ = stats->runs.ns;
	*values++ = (int64_t)stats->runs.count;
	*values++ = stats->waits.ns;
	*values++ = (int64_t)stats->waits.count;
	*values++ = (int64_t)stats->exits;
	*values++ = exits_ns(stats);
	*values++ = (int64_t)stats->migrations;
	*values++ = stats->migration_cost.ns;
	*values = culprits_ns(stats);
}

static void check_vcpu(const struct seen *whole, const struct seen *less, const char *name,
		       int32_t v)
{
	const struct virt_vcpu *vcpu = virt_model_vcpu(less->model, v);
	int32_t same = virt_model_find_vcpu(whole->model, vcpu->host_pid);
	const struct virt_window_stats *stats = &less->window->vcpus[v], *true_stats;
	int64_t seen[ARRAY_SIZE(numbers)], truth[ARRAY_SIZE(numbers)];

	assert_true(same >= 0);
	true_stats = &whole->window->vcpus[same];
	for (int s = 0; s < VIRT_UNKNOWN; s++)
		check_number(less, name, vcpu->name, virt_number_of_state((enum virt_state)s), "ns",
			     stats->states[s].ns, true_stats->states[s].ns);
	numbers_of(stats, seen);
	numbers_of(true_stats, truth);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		check_number(less, name, vcpu->name, numbers[i].number, numbers[i].what, seen[i],
			     truth[i]);
}

/** A number that is known from fewer records is the one that all records give. */
static void check_fewer(const char *name, keep_fn keep)
{
	struct seen whole, less;
	int64_t begin, length, from, to;

	look(&whole, name, keep_all);
	look(&less, name, keep);
	/* a vCPU is found with the first record of its pCPU, and lost with the last one */
	begin = virt_model_begin(whole.model);
	length = virt_model_end(whole.model) - begin;
	from = begin + length / 10;
	to = begin + length * 9 / 10;
	count_window(&whole, from, to);
	count_window(&less, from, to);
	check_lists(&whole, &less, name);
	for (int32_t v = 0; v < virt_model_n_vcpus(less.model); v++)
		check_vcpu(&whole, &less, name, v);
	forget(&whole);
	forget(&less);
}

/**
 * Each class and part of a class in turn. Without runstates, wake-ups begin with the request, which
 * is earlier: test_no_runstates().
 */
static void test_fewer(void **state)
{
	static const struct {
		uint32_t bits;
		unsigned int shift;
	} parts[] = {
#define XEN_CLASS(symbol_, bits_, name_) { bits_, XEN_TRC_CLASS_SHIFT },
#define XEN_SUBCLASS(symbol_, bits_) { bits_, XEN_TRC_SUBCLASS_SHIFT },
#include "xen_events.def"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i += ENOUGH(3))
		for (size_t k = 0; k < ARRAY_SIZE(parts); k++) {
			left_out = parts[k].bits;
			left_out_shift = parts[k].shift;
			if (left_out != XEN_TRC_SCHED_MIN && left_out != XEN_TRC_CLASS_SCHED)
				check_fewer(samples[i], keep_others);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_port_io),
		cmocka_unit_test(test_halt),
		cmocka_unit_test(test_no_runstates),
		cmocka_unit_test(test_somebody),
		cmocka_unit_test(test_fewer),
	};

	if (!getenv("KSV_SOURCE_DIR")) {
		fputs("KSV_SOURCE_DIR is not set: run this test by ctest\n", stderr);
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
