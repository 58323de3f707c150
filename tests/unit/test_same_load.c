/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	test_same_load.c
 * @brief	One load, recorded in other ways: with other names of tasks, by halves, or one
 *		machine alone. What is known is the same.
 *
 * unit.missing_records has the numbers of pCPUs, and the origin and unit of time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trace-cmd.h>

#include "kvm_fields.h"
#include "kvm_recorded.h"
#include "sample_file.h"
#include "virt_needs.h"

/** No pid of any trace. */
#define NOBODY		INT32_MIN

/** How a trace is recorded anew. All zero: as it is. */
struct way {
	bool		rename;		/* tasks have other names */
	int64_t		from_ns, to_ns;	/* only these records; both 0: all */
	const struct virt_model *whole;
	int32_t		machine;	/* of @whole: only records of its threads, if @whole */
};

struct reading {
	const struct way *way;
	struct kvm_tracker *tracker;
	struct kvm_fields *fields;
	struct tep_handle *tep;
	int64_t		begin_ns, end_ns;
};

/* --- a record, changed ----------------------------------------------------------------------- */

static const char *const name_fields[] = { "comm", "prev_comm", "next_comm", NULL };

static struct tep_format_field *field_of(const struct reading *reading,
					 struct tep_record *record, const char *name)
{
	struct tep_event *event = tep_find_event_by_record(reading->tep, record);
	struct tep_format_field *field = event ? tep_find_field(event, name) : NULL;

	return field && field->offset + field->size <= record->size ? field : NULL;
}

static void rename_tasks(const struct reading *reading, struct tep_record *record)
{
	for (int i = 0; name_fields[i] && reading->way->rename; i++) {
		struct tep_format_field *field = field_of(reading, record, name_fields[i]);
		char *name = field ? (char *)record->data + field->offset : NULL;

		if (name && *name)
			*name ^= 1;
	}
}

/** Is it a thread of the machine, as set_event_pid has it? */
static bool is_of_machine(const struct way *way, int32_t pid)
{
	int32_t vcpu = pid > 0 ? virt_model_find_vcpu(way->whole, pid) : VIRT_NONE;

	return vcpu >= 0 && virt_model_vcpu(way->whole, vcpu)->machine == way->machine;
}

static int32_t number_of(const struct reading *reading, struct tep_record *record,
			 const char *name)
{
	struct tep_format_field *field = field_of(reading, record, name);
	int32_t pid;

	if (!field || field->size != sizeof(pid))
		return NOBODY;
	memcpy(&pid, (char *)record->data + field->offset, sizeof(pid));
	return pid;
}

static bool is_recorded(const struct reading *reading, struct tep_record *record, int32_t pid)
{
	const struct way *way = reading->way;
	int64_t time_ns = (int64_t)record->ts;

	if (way->to_ns && (time_ns < way->from_ns || time_ns >= way->to_ns))
		return false;
	return !way->whole || is_of_machine(way, pid) ||
	       is_of_machine(way, number_of(reading, record, "next_pid")) ||
	       is_of_machine(way, number_of(reading, record, "pid"));
}

static void take(struct reading *reading, struct tep_record *record, int cpu)
{
	int32_t pid = kvm_fields_pid(reading->fields, record);
	struct tep_record changed = *record;
	int64_t time_ns = (int64_t)record->ts;

	if (!is_recorded(reading, record, pid))
		return;
	changed.data = malloc((size_t)record->size + 1);
	assert_non_null(changed.data);
	memcpy(changed.data, record->data, (size_t)record->size);
	rename_tasks(reading, &changed);
	if (time_ns < reading->begin_ns)
		reading->begin_ns = time_ns;
	if (time_ns >= reading->end_ns)
		reading->end_ns = time_ns + 1;
	if (record->missed_events)
		assert_int_equal(kvm_tracker_lost(reading->tracker, cpu, pid, time_ns, 1),
				 0);
	assert_int_equal(kvm_fields_take(reading->fields, reading->tracker, &changed,
					 tep_data_type(reading->tep, record), cpu, pid, time_ns),
			 0);
	free(changed.data);
}

static struct virt_model *read_trace(const char *name, const struct way *way)
{
	struct reading reading = { .way = way, .begin_ns = INT64_MAX, .end_ns = INT64_MIN };
	struct virt_model *model = NULL;
	struct tracecmd_input *input = tracecmd_open(sample_path(name), 0);

	assert_non_null(input);
	reading.tep = tracecmd_get_tep(input);
	reading.tracker = kvm_tracker_new();
	reading.fields = kvm_fields_new(reading.tep);
	assert_true(reading.tracker && reading.fields);
	kvm_tracker_formats(reading.tracker, kvm_fields_kinds(reading.fields));
	for (int cpu = 0; cpu < tep_get_cpus(reading.tep); cpu++) {
		struct tep_record *record = tracecmd_read_cpu_first(input, cpu);

		while (record) {
			take(&reading, record, cpu);
			tracecmd_free_record(record);
			record = tracecmd_read_data(input, cpu);
		}
	}
	assert_true(reading.begin_ns < reading.end_ns);
	assert_int_equal(kvm_tracker_finish(reading.tracker, reading.begin_ns, reading.end_ns,
					    &model), 0);
	kvm_fields_free(reading.fields);
	kvm_tracker_free(reading.tracker);
	tracecmd_close(input);
	return model;
}

/* --- all is the same ------------------------------------------------------------------------- */

static void check_same(void **state)
{
	static const struct way as_it_is = { 0 }, renamed = { .rename = true };
	struct virt_model *whole = read_trace(*state, &as_it_is);
	struct virt_model *model = read_trace(*state, &renamed);

	assert_int_equal(virt_model_n_vcpus(model), virt_model_n_vcpus(whole));
	assert_int_equal(virt_model_recorded(model), virt_model_recorded(whole));
	for (int32_t v = 0; v < virt_model_n_vcpus(whole); v++) {
		struct virt_interval_range a, b;

		assert_int_equal(virt_model_vcpu(model, v)->host_pid,
				 virt_model_vcpu(whole, v)->host_pid);
		assert_string_equal(virt_model_vcpu(model, v)->name,
				    virt_model_vcpu(whole, v)->name);
		a = virt_vcpu_intervals(whole, v, INT64_MIN, INT64_MAX);
		b = virt_vcpu_intervals(model, v, INT64_MIN, INT64_MAX);
		assert_int_equal(a.n, b.n);
		assert_memory_equal(a.first, b.first, a.n * sizeof(*a.first));
	}
	virt_model_free(model);
	virt_model_free(whole);
}

/* --- what is known is the same --------------------------------------------------------------- */

static bool is_same_state(const struct virt_model *part, unsigned int state, unsigned int whole)
{
	return state == whole ||
	       virt_model_includes(part, (enum virt_state)state) >> whole & 1;
}

static bool has_guest(const struct virt_interval *intervals, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (intervals[i].state == VIRT_GUEST)
			return true;
	return false;
}

/**
 * What goes on at the end of a part is shown by a record after it: how much of a wait KVM has
 * polled. What goes on at its beginning, by one before it: whether the machine is stopped, and
 * whether the vCPU is in the monitor until it first enters its guest.
 */
static bool is_beyond(const struct virt_interval_range *range, size_t i, unsigned int whole)
{
	unsigned int state = range->first[i].state;

	if (state == VIRT_BLOCKED && whole == VIRT_OFFLINE)
		return !has_guest(range->first, i);
	if (state == VIRT_HYPERVISOR && whole == VIRT_VMM)
		return !has_guest(range->first, i);
	return state == VIRT_HYPERVISOR && whole == VIRT_POLLING &&
	       !has_guest(&range->first[i], range->n - i);
}

/** Whatever a part knows is so in the whole. Return: the time that it knows */
static int64_t check_part(const struct virt_model *whole, const struct virt_model *part,
			  const char *what)
{
	int64_t known_ns = 0;

	for (int32_t v = 0; v < virt_model_n_vcpus(part); v++) {
		int32_t same = virt_model_find_vcpu(whole, virt_model_vcpu(part, v)->host_pid);
		struct virt_interval_range range = virt_vcpu_intervals(part, v, INT64_MIN,
								       INT64_MAX);

		assert_true(same >= 0);
		for (size_t i = 0; i < range.n; i++) {
			const struct virt_interval *interval = &range.first[i];
			int64_t end = i + 1 < range.n ? interval[1].start_ns : range.end_ns;
			struct virt_interval_range there;

			if (interval->state == VIRT_UNKNOWN || interval->start_ns == end)
				continue;
			known_ns += end - interval->start_ns;
			there = virt_vcpu_intervals(whole, same, interval->start_ns, end);
			for (size_t k = 0; k < there.n; k++)
				if (!is_same_state(part, interval->state, there.first[k].state) &&
				    !is_beyond(&range, i, there.first[k].state))
					fail_msg("%s: %s is %s, not %s, at %lld ns", what,
						 virt_model_who(whole, same),
						 virt_state_name(there.first[k].state),
						 virt_state_name(interval->state),
						 (long long)there.first[k].start_ns);
		}
	}
	return known_ns;
}

/** Cut at a record, half of a trace and the other half. */
static void check_halves(void **state)
{
	static const struct way as_it_is = { 0 };
	struct virt_model *whole = read_trace(*state, &as_it_is);
	int64_t begin = virt_model_begin(whole), end = virt_model_end(whole);

	for (int i = 1; i < 4; i++) {
		struct virt_interval_range at =
			virt_vcpu_intervals(whole, 0, begin + (end - begin) * i / 4, end);
		struct way first = { .from_ns = begin, .to_ns = at.first->start_ns };
		struct way second = { .from_ns = at.first->start_ns, .to_ns = end };
		struct virt_model *halves[2];
		int64_t known_ns, known_of_halves_ns = 0;
		char what[200];

		if (first.to_ns <= begin)
			continue;
		halves[0] = read_trace(*state, &first);
		halves[1] = read_trace(*state, &second);
		snprintf(what, sizeof(what), "%s, cut at %lld ns", (char *)*state,
			 (long long)first.to_ns);
		for (int k = 0; k < 2; k++) {
			known_of_halves_ns += check_part(whole, halves[k], what);
			virt_model_free(halves[k]);
		}
		known_ns = check_part(whole, whole, what);
		/* and they know most of it */
		assert_true(known_of_halves_ns <= known_ns);
		assert_true(known_of_halves_ns >= known_ns / 2);
	}
	virt_model_free(whole);
}

static void check_machines(void **state)
{
	static const struct way as_it_is = { 0 };
	struct virt_model *whole = read_trace(*state, &as_it_is);

	assert_true(virt_model_n_machines(whole) > 1);
	for (int32_t m = 0; m < virt_model_n_machines(whole); m++) {
		const struct virt_machine *machine = virt_model_machine(whole, m);
		struct way way = { .whole = whole, .machine = m };
		struct virt_model *alone = read_trace(*state, &way);
		char what[300];

		snprintf(what, sizeof(what), "%s, %s alone", (char *)*state, machine->name);
		assert_int_equal(virt_model_n_vcpus(alone), machine->n_vcpus);
		assert_true(check_part(whole, alone, what) > 0);
		virt_model_free(alone);
	}
	virt_model_free(whole);
}

#define SAMPLE(file, check) { file, check, NULL, NULL, (void *)(uintptr_t)file }

int main(void)
{
	const struct CMUnitTest tests[] = {
		SAMPLE("kvm-host.dat", check_same),
		SAMPLE("kvm-shared.dat", check_same),
		SAMPLE("kvm-cgroups.dat", check_same),
		SAMPLE("recording-kvm/host.dat", check_same),
		SAMPLE("kvm-host.dat", check_halves),
		SAMPLE("kvm-shared.dat", check_halves),
		SAMPLE("kvm-cgroups.dat", check_halves),
		SAMPLE("kvm-paused.dat", check_halves),
		SAMPLE("waits-packet.dat", check_halves),
		SAMPLE("waits-packet.dat", check_machines),
		SAMPLE("recording-kvm/host.dat", check_machines),
	};

	tracecmd_set_loglevel(TEP_LOG_NONE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
