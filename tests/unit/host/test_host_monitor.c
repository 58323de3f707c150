// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_host_monitor.c
 * @brief	A monitor's trace beside its host's: whose it is, its clock, vCPUs' time in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>

#include "hand_model.h"
#include "host_monitor.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* --- stretches, by hand ---------------------------------------------------------------------- */

/** The stretches that were reported. */
struct found {
	struct host_monitor_stretch all[100];
	size_t		n;
};

static void take(void *arg, const struct host_monitor_stretch *stretch)
{
	struct found *found = arg;

	assert_true(found->n < COUNT(found->all));
	found->all[found->n++] = *stretch;
}

/** A vCPU with three stretches: one with a wait in it, one that goes on from exit to exit. */
static struct virt_model *model_of_stretches(void)
{
	struct virt_model *model = with_vcpus(1);
	int32_t io = virt_model_add_reason(model, "IO");

	set(model, 0, 0, VIRT_GUEST, 1, VIRT_NONE, 0);
	set(model, 0, 10000, VIRT_HYPERVISOR, 1, io, VIRT_INTERVAL_EXIT);
	set(model, 0, 11000, VIRT_VMM, 1, io, 0);
	set(model, 0, 15000, VIRT_PREEMPTED, 1, VIRT_NONE, 0);
	set(model, 0, 18000, VIRT_VMM, 1, io, 0);
	set(model, 0, 20000, VIRT_GUEST, 1, VIRT_NONE, 0);
	set(model, 0, 30000, VIRT_HYPERVISOR, 1, io, VIRT_INTERVAL_EXIT);
	set(model, 0, 31000, VIRT_VMM, 1, io, 0);
	set(model, 0, 34000, VIRT_HYPERVISOR, 1, io, VIRT_INTERVAL_EXIT);
	set(model, 0, 35000, VIRT_VMM, 1, io, 0);
	set(model, 0, 37000, VIRT_GUEST, 1, VIRT_NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 50000), 0);
	return model;
}

static void check(const struct host_monitor_stretch *stretch, int64_t from, int64_t to,
		  int64_t vmm_ns, size_t first_access, size_t n_accesses, size_t n_exits)
{
	assert_int_equal(stretch->from_ns, from);
	assert_int_equal(stretch->to_ns, to);
	assert_int_equal(stretch->vmm_ns, vmm_ns);
	if (n_accesses)
		assert_int_equal(stretch->first_access, first_access);
	assert_int_equal(stretch->n_accesses, n_accesses);
	assert_int_equal(stretch->n_exits, n_exits);
}

/** Times of the monitor are those of the model, and 1000000 more. */
static void test_stretches(void **state)
{
	static const int64_t access_times[] = { 10500, 12000, 19500, 25000, 32000, 36500 };
	static const int64_t exit_times[] = { 11000, 35000 };
	struct monitor_access accesses[COUNT(access_times)] = { { 0 } };
	struct monitor_exit exits[COUNT(exit_times)] = { { 0 } };
	uint32_t numbers[] = { 0, 1, 2, 3, 4, 5 };
	struct host_monitor_vcpu vcpu = {
		.vcpu = 0, .accesses = numbers, .n_accesses = COUNT(accesses), .exits = numbers,
		.n_exits = COUNT(exits),
	};
	struct virt_model *model = model_of_stretches();
	struct host_monitor monitor = {
		.model = model, .vcpus = &vcpu, .n_vcpus = 1, .base_ns = 500000,
		.source = HOST_MONITOR_MOMENT, .alignment.offset = -500000,
		.requests = { .accesses = accesses, .exits = exits },
	};
	struct found found = { .n = 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(accesses); i++)
		accesses[i].time_ns = access_times[i] + 1000000;
	for (size_t i = 0; i < COUNT(exits); i++)
		exits[i].time_ns = exit_times[i] + 1000000;
	assert_int_equal(host_monitor_time(&monitor, 1000000), 0);
	host_monitor_stretches(&monitor, 0, 50000, take, &found);
	assert_int_equal(found.n, 3);
	/* the first access is recorded a little too early, the fourth lies in guest code */
	check(&found.all[0], 11000, 20000, 6000, 0, 3, 1);
	check(&found.all[1], 31000, 34000, 3000, 4, 1, 0);
	check(&found.all[2], 35000, 37000, 2000, 5, 1, 1);
	/* a window that cuts both ends has their accesses, as far as there is anything of them */
	found.n = 0;
	host_monitor_stretches(&monitor, 16000, 33000, take, &found);
	assert_int_equal(found.n, 2);
	check(&found.all[0], 16000, 20000, 2000, 0, 3, 1);
	check(&found.all[1], 31000, 33000, 2000, 4, 1, 0);
	found.n = 0;
	host_monitor_vcpu_stretches(&monitor, 0, 19000, 20000, take, &found);
	assert_int_equal(found.n, 1);
	check(&found.all[0], 19000, 20000, 1000, 0, 3, 1);
	found.n = 0;
	host_monitor_vcpu_stretches(&monitor, 7, 0, 50000, take, &found);
	host_monitor_vcpu_stretches(&monitor, 0, 21000, 29000, take, &found);
	host_monitor_vcpu_stretches(&monitor, 0, 15000, 18000, take, &found);
	assert_int_equal(found.n, 0);
	/* if their times are unknown, no access is in any */
	monitor.source = HOST_MONITOR_NONE;
	host_monitor_stretches(&monitor, 0, 50000, take, &found);
	assert_int_equal(found.n, 3);
	check(&found.all[0], 11000, 20000, 6000, 0, 0, 0);
	virt_model_free(model);
}

/* --- clocks, on a real host ------------------------------------------------------------------ */

static struct host_trace host;
static struct virt_model *real;
static int64_t realtime;	/* of time 0 of the host's trace */
static char folder[] = "/tmp/ksv-monitor-XXXXXX", path[64];

static int open_host(void **state)
{
	static const struct host_options options = { 0 };
	char sample[4096], error[512] = "";

	(void)state;
	snprintf(sample, sizeof(sample), "%s/samples/recording-qemu/host.dat",
		 getenv("KSV_SOURCE_DIR"));
	if (host_trace_open(&host, sample, &options, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(host_trace_model(&host, NULL, &real), 0);
	assert_true(host_trace_realtime(&host, &realtime));
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/q.log", folder);
	return 0;
}

static int close_host(void **state)
{
	(void)state;
	remove(path);
	virt_model_free(real);
	host_trace_close(&host);
	return rmdir(folder);
}

/** Each time that a vCPU of the first machine is in the monitor, 2 us behind its begin. */
static size_t moments(int64_t (*times)[2], size_t n)
{
	const struct virt_machine *machine = virt_model_machine(real, 0);
	size_t found = 0;

	for (int32_t v = 0; v < machine->n_vcpus; v++) {
		struct virt_interval_range range = virt_vcpu_intervals(real, machine->vcpus[v],
								       INT64_MIN, INT64_MAX);

		for (size_t i = 0; i + 1 < range.n; i++) {
			if (range.first[i].state != VIRT_VMM ||
			    range.first[i + 1].start_ns - range.first[i].start_ns < 5000)
				continue;
			assert_true(found < n);
			times[found][0] = range.first[i].start_ns + 2000;
			times[found++][1] = machine->vcpus[v];
		}
	}
	return found;
}

static int64_t moment_times[1000][2];

/** A log of that, by a clock that is late by @late_ns. */
static void put_log(int64_t late_ns)
{
	size_t n = moments(moment_times, COUNT(moment_times));
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_true(n > 100);
	for (size_t i = 0; i < n; i++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(real, (int32_t)moment_times[i][1]);
		int64_t us = (moment_times[i][0] + realtime + late_ns) / 1000;

		fprintf(out, "%d@%lld.%06lld:kvm_run_exit cpu_index %d, reason 6\n", vcpu->host_pid,
			(long long)(us / 1000000), (long long)(us % 1000000), vcpu->id);
	}
	fclose(out);
}

/** The same by QEMU's simple backend, which records the monitor's process. */
static void put_simple(int64_t late_ns, int32_t process)
{
	static const char event[] = "kvm_run_exit";
	const uint64_t header[] = { UINT64_MAX, UINT64_C(0xf2b177cb0aa429b4), 4, 0, 9 };
	size_t n = moments(moment_times, COUNT(moment_times));
	uint32_t length = sizeof(event) - 1;
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fwrite(header, sizeof(header), 1, out);
	fwrite(&length, sizeof(length), 1, out);
	fwrite(event, length, 1, out);
	for (size_t i = 0; i < n; i++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(real, (int32_t)moment_times[i][1]);
		const uint64_t words[] = {
			1, 9, (uint64_t)(moment_times[i][0] + late_ns),
			40 | (uint64_t)(uint32_t)process << 32, (uint64_t)vcpu->id, 6,
		};

		fwrite(words, sizeof(words), 1, out);
	}
	fclose(out);
}

static struct host_monitor open_monitor(void)
{
	struct host_monitor monitor;
	char error[512] = "";

	if (host_monitor_open(&monitor, &host, real, path, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(monitor.machine, 0);
	return monitor;
}

/** All of it lies where it was. */
static void check_times(const struct host_monitor *monitor, enum host_monitor_source source,
			int64_t late_ns, int64_t most_ns)
{
	int64_t off = host_monitor_time(monitor, realtime + late_ns + moment_times[0][0]) -
		      moment_times[0][0];

	assert_int_equal(monitor->source, source);
	assert_true(monitor->alignment.explained_percent >= 99.5);
	assert_true(off >= -most_ns && off <= most_ns);
	assert_true(monitor->alignment.lo <= monitor->alignment.offset &&
		    monitor->alignment.offset <= monitor->alignment.hi);
}

static void check_no_notes(const struct host_monitor *monitor)
{
	char *notes = host_monitor_notes(monitor);

	assert_string_equal(notes, "");
	free(notes);
}

/** By the sidecar's moment; by causality, if the clock was set since. */
static void test_clocks(void **state)
{
	static const int64_t late[] = { INT64_C(3600000000123), INT64_C(-7000000777) };
	struct host_monitor monitor;

	(void)state;
	put_log(0);
	monitor = open_monitor();
	check_times(&monitor, HOST_MONITOR_MOMENT, 0, 1);
	check_no_notes(&monitor);
	host_monitor_close(&monitor);
	for (size_t i = 0; i < COUNT(late); i++) {
		put_log(late[i]);
		monitor = open_monitor();
		check_times(&monitor, HOST_MONITOR_CAUSALITY, late[i], 20000);
		check_no_notes(&monitor);
		host_monitor_close(&monitor);
	}
	assert_string_equal(host_monitor_source_name(HOST_MONITOR_MOMENT), "moment");
}

static void test_simple_clocks(void **state)
{
	int32_t process = kvm_trace_meta(host.kvm)->guests[0].pid;
	int64_t was = realtime;
	struct host_monitor monitor;

	(void)state;
	realtime = 0;
	put_simple(0, process);
	monitor = open_monitor();
	check_times(&monitor, HOST_MONITOR_SAME_CLOCK, 0, 1);
	host_monitor_close(&monitor);
	put_simple(INT64_C(50000000000), process);
	monitor = open_monitor();
	check_times(&monitor, HOST_MONITOR_CAUSALITY, INT64_C(50000000000), 20000);
	host_monitor_close(&monitor);
	realtime = was;
}

/** Events that cannot be explained are not placed, and a note says so. */
static void test_no_clock(void **state)
{
	struct host_monitor monitor;
	FILE *out = fopen(path, "w");
	unsigned int seed = 7;
	char *notes;

	(void)state;
	assert_non_null(out);
	for (int i = 0; i < 300; i++) {
		seed = seed * 1103515245u + 12345u;
		fprintf(out, "%d@5.%06u:kvm_run_exit cpu_index 0, reason 6\n",
			virt_model_vcpu(real, 0)->host_pid, (seed >> 8) % 1000000);
	}
	fputs("a line of others\n", out);
	fclose(out);
	monitor = open_monitor();
	assert_int_equal(monitor.source, HOST_MONITOR_NONE);
	notes = host_monitor_notes(&monitor);
	assert_non_null(strstr(notes, "cannot be aligned"));
	assert_non_null(strstr(notes, "1 line is no event"));
	free(notes);
	host_monitor_close(&monitor);
}

/** Of another machine, or none. */
static void test_refused(void **state)
{
	static const char *const wrong[][2] = {
		{ "99999@1.000000:kvm_run_exit cpu_index 0, reason 6\n",
		  "it is of another host" },
		{ "hello\n", "not a trace of QEMU" },
	};
	struct host_monitor monitor;
	char error[512];

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		FILE *out = fopen(path, "w");

		assert_non_null(out);
		fputs(wrong[i][0], out);
		fclose(out);
		assert_int_not_equal(host_monitor_open(&monitor, &host, real, path, error,
						       sizeof(error)), 0);
		assert_non_null(strstr(error, wrong[i][1]));
		assert_non_null(strstr(error, path));
		host_monitor_close(&monitor);
	}
	assert_int_equal(host_monitor_open(&monitor, &host, real, "/nowhere/q.log", error,
					   sizeof(error)), -ENOENT);
	host_monitor_close(&monitor);
}

/** In any window, all time in the monitor is reported, and no access twice. */
static void test_law(void **state)
{
	const struct virt_machine *machine = virt_model_machine(real, 0);
	int64_t begin = virt_model_begin(real), end = virt_model_end(real);
	struct host_monitor monitor;
	unsigned int seed = 1;

	(void)state;
	put_log(0);
	monitor = open_monitor();
	for (int round = 0; round < 200; round++) {
		struct host_monitor_stretch last = { 0 };
		struct found found = { .n = 0 };
		int64_t from, to, vmm_ns = 0, found_ns = 0;

		seed = seed * 1103515245u + 12345u;
		from = begin + (end - begin) / 1000 * (int64_t)(seed >> 16) / 66;
		seed = seed * 1103515245u + 12345u;
		to = from + (end - begin) / 1000 * (int64_t)((seed >> 16) % 40);
		for (int32_t v = 0; v < machine->n_vcpus; v++) {
			struct virt_totals totals;

			virt_vcpu_totals(real, machine->vcpus[v], from, to, &totals);
			vmm_ns += totals.ns[VIRT_VMM];
		}
		host_monitor_stretches(&monitor, from, to, take, &found);
		for (size_t i = 0; i < found.n; i++) {
			found_ns += found.all[i].vmm_ns;
			assert_true(found.all[i].from_ns < found.all[i].to_ns);
			if (last.vcpu == found.all[i].vcpu) {
				assert_true(found.all[i].from_ns >= last.to_ns);
				assert_true(found.all[i].first_exit >=
					    last.first_exit + last.n_exits);
			}
			last = found.all[i];
		}
		assert_int_equal(found_ns, vmm_ns);
	}
	host_monitor_close(&monitor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stretches), cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_simple_clocks), cmocka_unit_test(test_no_clock),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_law),
	};

	return cmocka_run_group_tests(tests, open_host, close_host);
}
