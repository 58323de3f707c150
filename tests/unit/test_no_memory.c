// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Each single allocation fails once, on the way from a file to the model and from it to what is
 * shown of it: no crash, nothing lost, no result that is other than with memory.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "clock_world.h"
#include "failing_memory.h"
#include "kvm_tracker.h"
#include "trace_builder.h"
#include "virt_matrix.h"
#include "virt_window_walk.h"
#include "virt_worst.h"
#include "xen_tracker.h"

#define BASE	1000000000ULL
#define RUNSTATE(old, new)	(0x00021001u | (old) << 8 | (new) << 4)

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

/**
 * Let each allocation of @use fail, or about @most of them if there are more. @use returns 0,
 * -ENOMEM, or another value if its result differs from the first one.
 */
static void sweep(int (*use)(void *arg), void *arg, long most)
{
	long n, failures = 0, step;

	countdown = 0;
	n_allocations = 0;
	assert_int_equal(use(arg), 0);
	n = n_allocations;
	step = n / most + 1;
	assert_true(n > 5);
	for (long i = 1; i <= n; i += step) {
		int ret;

		countdown = i;
		ret = use(arg);
		countdown = 0;
		if (ret && ret != -ENOMEM)
			fail_msg("allocation %ld of %ld: %d", i, n, ret);
		failures += ret == -ENOMEM;
	}
	assert_true(failures > n / step / 2);
}

/* --- from a xentrace file ------------------------------------------------------------------- */

/** What comes with a trace beside it. */
static void write_sidecar(const char *path, char *sidecar, size_t size)
{
	static const char text[] = "{ \"domains\": [ { \"id\": 1, \"name\": \"web\", "
				   "\"vcpus\": [ { \"id\": 0, \"hard_affinity\": \"2\" } ] }, "
				   "{ \"id\": 2, \"name\": \"\" } ] }\n";
	FILE *out;

	snprintf(sidecar, size, "%s.meta.json", path);
	out = fopen(sidecar, "w");
	assert_non_null(out);
	assert_int_equal(fputs(text, out) < 0, 0);
	assert_int_equal(fclose(out), 0);
}

static void trace_add(struct trace *trace, const uint8_t *data, size_t size)
{
	trace_bytes(trace, data, size);
}

/* Two vCPUs that take turns, with run times, on three pCPUs; damage, a jump back, a cut end. */
static char *make_trace(void (*pack)(struct trace *trace, const uint8_t *data, size_t size))
{
	struct trace t = { 0 }, packed = { 0 };
	char *path;

	for (uint32_t round = 0; round < 30; round++) {
		for (uint32_t pcpu = 0; pcpu < 3; pcpu++) {
			uint64_t tsc = BASE + round * 24000000 + pcpu * 100;
			uint32_t who = 1 << 16 | pcpu;

			trace_window(&t, pcpu);
			TRACE_RECORD(&t, 0x2800f, tsc, 1, pcpu, 0, 30000000);
			TRACE_RECORD(&t, RUNSTATE(1, 0), tsc + 10, who);
			trace_ticks(&t, tsc + 1000, 20, 1000);
			TRACE_RECORD(&t, 0x2800e, tsc + 12000000, 1, pcpu, 5000000);
			TRACE_RECORD(&t, RUNSTATE(0, 2), tsc + 12000010, who);
		}
		if (round == 7)
			trace_bytes(&t, "this is no record at all", 24);
		if (round == 9) {
			trace_window(&t, 40);
			trace_ticks(&t, 9 * BASE, 10, 100);
			trace_window(&t, 40);
			trace_ticks(&t, 2 * BASE, 30, 100);
		}
	}
	t.size -= 7;
	pack(&packed, t.data, t.size);
	path = trace_file(packed.data, packed.size, ".xen");
	trace_free(&packed);
	trace_free(&t);
	return path;
}

/* What came of it. */
struct outcome {
	int		error;		/* 0, or why there is none */
	uint64_t	n_records;
	struct xen_clock clock;
	int32_t		n_vcpus;
	size_t		n_losses;
	int64_t		end_ns;
};

static struct outcome use(const char *path, bool correct_skew)
{
	const struct xen_trace_options options = { .correct_skew = correct_skew };
	struct outcome outcome = { .error = EPROTO };
	struct virt_model *model = NULL;
	char error[512] = "";
	struct xen_trace *trace = xen_trace_open(path, &options, error, sizeof(error));
	int ret;

	if (!trace) {
		outcome.error = errno;
		return outcome;
	}
	outcome.n_records = xentrace_n_records(xen_trace_reader(trace));
	outcome.clock = *xen_trace_clock(trace);
	free(xen_trace_notes(trace, 3));
	ret = xen_tracker_build(trace, &model);
	outcome.error = -ret;
	if (!ret) {
		outcome.n_vcpus = virt_model_n_vcpus(model);
		outcome.n_losses = virt_model_losses(model).n;
		outcome.end_ns = virt_model_end(model);
		virt_model_free(model);
	}
	xen_trace_close(trace);
	return outcome;
}

static void check(void (*pack)(struct trace *trace, const uint8_t *data, size_t size),
		  bool correct_skew)
{
	char *path = make_trace(pack), sidecar[4096];
	struct outcome wanted;
	long n, failures = 0;

	write_sidecar(path, sidecar, sizeof(sidecar));
	countdown = 0;
	n_allocations = 0;
	wanted = use(path, correct_skew);
	n = n_allocations;
	assert_int_equal(wanted.error, 0);
	assert_int_equal(wanted.clock.source, XEN_CLOCK_CALIBRATED);
	assert_true(wanted.n_vcpus == 3 && wanted.n_losses > 0);
	assert_true(n > 50);
	for (long i = 1; i <= n; i++) {
		struct outcome outcome;

		countdown = i;
		outcome = use(path, correct_skew);
		countdown = 0;
		if (outcome.error) {
			if (outcome.error != ENOMEM)
				fail_msg("allocation %ld of %ld: %s", i, n,
					 strerror(outcome.error));
			failures++;
			continue;
		}
		/* one that was not needed, such as for the notes */
		if (outcome.n_records != wanted.n_records || outcome.clock.hz != wanted.clock.hz ||
		    outcome.n_vcpus != wanted.n_vcpus || outcome.n_losses != wanted.n_losses ||
		    outcome.end_ns != wanted.end_ns)
			fail_msg("allocation %ld of %ld: %llu records, %llu Hz, %d vCPUs, "
				 "%zu losses",
				 i, n, (unsigned long long)outcome.n_records,
				 (unsigned long long)outcome.clock.hz, outcome.n_vcpus,
				 outcome.n_losses);
	}
	assert_true(failures > n / 2);
	remove(sidecar);
	remove(path);
	free(path);
}

static void test_each_allocation(void **state)
{
	(void)state;
	check(trace_add, false);
	check(trace_add, true);
	check(trace_gzip, true);
	check(trace_zstd, false);
}

/** A checksum of a model, however it was made. */
static uint64_t sum_of(const struct virt_model *model)
{
	uint64_t sum = (uint64_t)virt_model_n_machines(model);

	for (int32_t v = 0; v < virt_model_n_vcpus(model); v++) {
		struct virt_interval_range all;

		all = virt_vcpu_intervals(model, v, INT64_MIN, INT64_MAX);
		for (size_t i = 0; i < all.n; i++)
			sum = 31 * sum + (uint64_t)all.first[i].start_ns + all.first[i].state;
	}
	return 31 * sum + virt_model_losses(model).n;
}

/** Bytes that are a trace of Xen, of whatever kind; the sum of its model. */
struct bytes {
	uint8_t		data[4096];
	size_t		size;
	uint64_t	sum;		/* 0: not known yet */
};

static int use_bytes(void *arg)
{
	const struct xen_trace_options options = { .cpu_hz = 1000000000 };
	struct virt_model *model = NULL;
	struct bytes *bytes = arg;
	struct xen_trace *trace;
	char error[512];
	int ret;

	trace = xen_trace_open_memory(bytes->data, bytes->size, &options, error, sizeof(error));
	if (!trace)
		return -errno;
	ret = xen_tracker_build(trace, &model);
	if (!ret && !bytes->sum)
		bytes->sum = sum_of(model);
	if (!ret && bytes->sum != sum_of(model))
		ret = -EPROTO;
	virt_model_free(model);
	xen_trace_close(trace);
	return ret;
}

/** All events that the tracker knows are in what its fuzzing has found. */
static void test_all_events(void **state)
{
	const char *source = getenv("KSV_SOURCE_DIR");
	char folder[4096];
	struct dirent *entry;
	DIR *dir;
	int n = 0;

	(void)state;
	if (!source)
		fail_msg("KSV_SOURCE_DIR is not set: run this test by ctest");
	snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/tracker", source);
	dir = opendir(folder);
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		struct bytes bytes = { .sum = 0 };
		char path[8192];
		FILE *in;

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		in = *entry->d_name == '.' ? NULL : fopen(path, "rb");
		if (!in)
			continue;
		bytes.size = fread(bytes.data, 1, sizeof(bytes.data), in);
		fclose(in);
		if (use_bytes(&bytes))
			continue;
		sweep(use_bytes, &bytes, 100);
		n++;
	}
	closedir(dir);
	assert_true(n > 20);
}

/** Hypercalls of vCPUs that take turns on a pCPU, counted instead of read. */
struct counting {
	struct trace	trace;
	uint64_t	sum;		/* 0: not known yet */
};

static int add_count(void *arg, const struct xen_trace_skipped *skipped)
{
	uint64_t *sum = arg;

	*sum = 31 * *sum + skipped->vcpu * 64 + skipped->number + skipped->records;
	return 0;
}

static int use_counts(void *arg)
{
	const struct xen_trace_options options = { .cpu_hz = 1000000000 };
	struct counting *counting = arg;
	struct xen_trace_iter *iter;
	struct xen_trace *trace;
	struct xen_trace_row row;
	uint64_t sum = 1;
	char error[512];
	int ret, ret_read;

	trace = xen_trace_open_memory(counting->trace.data, counting->trace.size, &options, error,
				      sizeof(error));
	if (!trace)
		return -errno;
	iter = xen_trace_iter_new(trace);
	ret = iter ? xen_trace_iter_skip(iter, true) : -ENOMEM;
	while (!ret && xen_trace_iter_next(iter, &row))
		sum++;
	if (!ret)
		ret = xen_trace_iter_skipped(iter, add_count, &sum);
	ret_read = xen_trace_iter_free(iter);
	ret = ret ? ret : ret_read;
	xen_trace_close(trace);
	if (!ret && !counting->sum)
		counting->sum = sum;
	return !ret && counting->sum != sum ? -EPROTO : ret;
}

static void test_counts(void **state)
{
	struct counting counting = { .sum = 0 };

	(void)state;
	trace_window(&counting.trace, 0);
	for (uint32_t turn = 0; turn < 100; turn++) {
		uint64_t tsc = BASE + turn * 1000000;
		uint32_t who = (turn % 50) << 16 | 1;

		TRACE_RECORD(&counting.trace, RUNSTATE(1, 0), tsc, who);
		for (uint32_t call = 0; call < 8; call++)
			TRACE_RECORD(&counting.trace, XEN_TRC_PV_HYPERCALL_V2, tsc + 10 + call,
				     turn % 32);
		TRACE_RECORD(&counting.trace, RUNSTATE(0, 2), tsc + 500, who);
	}
	sweep(use_counts, &counting, 1000);
	trace_free(&counting.trace);
}

/* --- from records of KVM -------------------------------------------------------------------- */

/** Two machines, one of them added with its threads; losses, wake-ups, a hypercall, nesting. */
static int feed(struct kvm_tracker *tracker)
{
	static const int32_t tids[] = { 100, 101, 0 };
	static const struct kvm_event round[] = {
		{ .kind = KVM_SWITCH, .pid = 0, .arg = 100 },
		{ .kind = KVM_ENTRY, .pid = 100, .arg = 0 },
		{ .kind = KVM_EXIT, .pid = 100, .arg = 0, .value = 0x7b, .more = KVM_ISA_SVM },
		{ .kind = KVM_USERSPACE_EXIT, .pid = 100, .arg = 2 },
		{ .kind = KVM_SWITCH, .pid = 100, .arg = 50 },
		{ .kind = KVM_WAKEUP, .pid = 50, .arg = 101 },
		{ .kind = KVM_SWITCH, .pid = 50, .arg = 201, .value = 1 },
		{ .kind = KVM_TSC_OFFSET, .pid = 201, .arg = 1, .value = -5 },
		{ .kind = KVM_NESTED_ENTRY, .pid = 201, .arg = VIRT_NONE },
		{ .kind = KVM_ENTRY, .pid = 201, .arg = 1 },
		{ .kind = KVM_NESTED_EXIT, .pid = 201, .arg = VIRT_NONE },
		{ .kind = KVM_EXIT, .pid = 201, .arg = 1, .value = 0x81, .more = KVM_ISA_SVM },
		{ .kind = KVM_HYPERCALL, .pid = 201, .value = 5 },
		{ .kind = KVM_BORN, .pid = 201, .arg = 202 },
		{ .kind = KVM_SWITCH, .pid = 201, .arg = 0, .value = 1 },
	};
	int ret = kvm_tracker_add_guest(tracker, "named", tids, ARRAY_SIZE(tids));

	for (int cpu = 0; cpu < 6 && !ret; cpu++) {
		for (size_t i = 0; i < 8 * ARRAY_SIZE(round) && !ret; i++) {
			struct kvm_event event = round[i % ARRAY_SIZE(round)];

			event.cpu = (int16_t)cpu;
			event.time_ns = 1000 + 1000 * cpu + 10 * (int64_t)i;
			event.pid += event.pid > 200 ? 10 * cpu : 0;
			ret = kvm_tracker_add(tracker, &event);
		}
		if (!ret)
			ret = kvm_tracker_lost(tracker, cpu, 50, 3000 + 1000 * cpu, 7);
		if (!ret)
			ret = kvm_tracker_seen(tracker, cpu, 60 + cpu, 3000 + 1000 * cpu);
		if (!ret)
			ret = kvm_tracker_name(tracker, 50 + cpu, "somebody");
	}
	return ret;
}

/** The sum that @arg points to, if it is 0, is found. */
static int use_kvm(void *arg)
{
	struct kvm_tracker *tracker = kvm_tracker_new();
	struct virt_model *model = NULL;
	uint64_t *wanted = arg;
	int ret = tracker ? feed(tracker) : -ENOMEM;

	if (!ret)
		ret = kvm_tracker_finish(tracker, 0, 10000, &model);
	if (!ret && !*wanted)
		*wanted = sum_of(model);
	if (!ret && *wanted != sum_of(model))
		ret = -EPROTO;
	virt_model_free(model);
	kvm_tracker_free(tracker);
	return ret;
}

static void test_kvm(void **state)
{
	uint64_t sum = 0;

	(void)state;
	sweep(use_kvm, &sum, 1000);
}

/* --- from the model ------------------------------------------------------------------------- */

static struct virt_model *make_model(void)
{
	struct kvm_tracker *tracker = kvm_tracker_new();
	struct virt_model *model = NULL;

	assert_non_null(tracker);
	assert_int_equal(feed(tracker), 0);
	assert_int_equal(kvm_tracker_finish(tracker, 0, 10000, &model), 0);
	kvm_tracker_free(tracker);
	return model;
}

static int use_window(void *arg)
{
	const struct virt_window_query queries[] = {
		{ .from_ns = 0, .to_ns = 10000 },
		{ .from_ns = 1500, .to_ns = 5000, .parts = VIRT_WINDOW_STATES | VIRT_WINDOW_EXITS },
	};
	const struct virt_model *model = arg;

	for (size_t i = 0; i < 2 * ARRAY_SIZE(queries); i++) {
		struct virt_window *window = virt_window_new(model, &queries[i / 2]);
		struct virt_matrix *matrix;
		uint64_t exits = 0;

		if (!window)
			return -ENOMEM;
		for (int32_t v = 0; v < window->n_vcpus; v++)
			exits += window->vcpus[v].exits;
		matrix = virt_matrix_new(model, window, i % 2, 1);
		virt_matrix_free(matrix);
		virt_window_free(window);
		if (!matrix)
			return -ENOMEM;
		if (!exits)
			return -EPROTO;
	}
	return 0;
}

/** The same, one vCPU and one machine at a time: what is missing is reported. */
static int use_walk(void *arg)
{
	const struct virt_window_query query = {
		.to_ns = 10000, .parts = VIRT_WINDOW_STATES | VIRT_WINDOW_EXITS,
	};
	struct virt_window_walk *walk = virt_window_walk_new(arg, &query);
	const struct virt_culprit *culprits;
	int ret = walk ? 0 : -ENOMEM;

	for (int32_t v = 0; v < virt_model_n_vcpus(arg) && !ret; v++) {
		virt_window_walk_culprits(walk, v, &culprits);
		virt_window_walk_vcpu(walk, v);
		ret = virt_window_walk_error(walk);
	}
	for (int32_t i = 0; i < virt_model_n_machines(arg) && !ret; i++) {
		virt_window_walk_machine(walk, i, true);
		ret = virt_window_walk_error(walk);
	}
	if (!ret) {
		virt_window_walk_pcpu(walk, 0);
		ret = virt_window_walk_error(walk);
	}
	virt_window_walk_free(walk);
	return ret;
}

static int use_worst(void *arg)
{
	static const struct virt_irq_delivery irqs[] = {
		{ .inject_ns = 1100, .handler_ns = 1200 },
		{ .inject_ns = 1000, .handler_ns = 1900 },
	};
	const struct virt_worst_query query = { .to_ns = 10000, .kinds = ~0U };
	struct virt_worst_hit hits[20];
	int ret = 0;

	for (int by_pcpu = 0; by_pcpu < 2 && !ret; by_pcpu++) {
		struct virt_worst *worst = virt_worst_new(arg, by_pcpu, irqs, ARRAY_SIZE(irqs));
		ssize_t n = worst ? virt_worst_top(worst, &query, hits, ARRAY_SIZE(hits)) : -ENOMEM;

		if (n < 0)
			ret = (int)n;
		else if (n != ARRAY_SIZE(hits))
			ret = -EPROTO;
		virt_worst_free(worst);
	}
	return ret;
}

static void test_model(void **state)
{
	struct virt_model *model = make_model();

	(void)state;
	sweep(use_window, model, 1000);
	sweep(use_walk, model, 1000);
	sweep(use_worst, model, 1000);
	virt_model_free(model);
}

/* --- clocks --------------------------------------------------------------------------------- */

struct clocks {
	struct clock_world	world;
	struct virt_clock_alignment wanted;	/* found at first */
	bool			found;
};

static int use_clocks(void *arg)
{
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct clocks *clocks = arg;
	int ret;

	clocks->world.work = clock_world_work(&clocks->world.problem);
	ret = virt_clock_align(&clocks->world.problem, &alignment, evidence);
	if (ret)
		return ret;
	if (!clocks->found)
		clocks->wanted = alignment;
	clocks->found = true;
	if (alignment.verdict != clocks->wanted.verdict ||
	    alignment.offset != clocks->wanted.offset ||
	    alignment.explained_percent != clocks->wanted.explained_percent)
		return -EPROTO;
	return virt_clock_judge(&clocks->world.problem, alignment.offset, alignment.drift_ppm,
				&alignment, evidence);
}

static void test_clocks(void **state)
{
	static const struct clock_recipe recipes[] = {
		{ .seed = 1, .n = 2, .length = CLOCK_WORLD_SECOND, .in = 500000, .out = 300000,
		  .percent = 60, .events = 3, .margin = 100, .offset = 12345678, .wrong = 100 },
		{ .seed = 2, .n = 2, .length = 2 * CLOCK_WORLD_SECOND, .in = 500000, .out = 300000,
		  .percent = 60, .events = 3, .offset = -9876543210, .ppm = 40 },
		{ .seed = 3, .n = 2, .length = CLOCK_WORLD_SECOND, .in = 900000, .out = 100000,
		  .events = 2, .percent = 50, .offset = 5555555, .periodic = true, .irqs = true,
		  .device_percent = 10, .has_vectors = true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(recipes); i++) {
		struct clocks clocks = { .found = false };

		clock_world_make(&clocks.world, &recipes[i]);
		sweep(use_clocks, &clocks, 20);
		clock_world_drop(&clocks.world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_allocation),
		cmocka_unit_test(test_all_events),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_kvm),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
