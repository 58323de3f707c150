/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	test_conservation.c
 * @brief	In every window, what vCPUs do on pCPUs is what pCPUs do for vCPUs: on all samples,
 *		and on those of KVM with events and records left out.
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

#include "enough.h"
#include "kvm_fields.h"
#include "sample_file.h"
#include "virt_limits.h"
#include "virt_steal.h"
#include "virt_waits.h"
#include "xen_tracker.h"

#define N_WINDOWS	(300 / ENOUGH(10))

static uint64_t seed;

static uint64_t rnd(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % n;
}

/* --- the law --------------------------------------------------------------------------------- */

static bool on_pcpu(unsigned int state)
{
	return state == VIRT_GUEST || state == VIRT_HYPERVISOR || state == VIRT_POLLING ||
	       state == VIRT_VMM;
}

/** Each wait has one cause, whatever is known of it. */
static void check_waits(const struct virt_model *model, const char *what, int64_t from, int64_t to)
{
	const struct virt_window_query query = { .from_ns = from, .to_ns = to };

	for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);
		struct virt_waits *waits = virt_waits_new(model, &query, m, VIRT_NONE);
		int64_t blocked = 0, by_cause = 0;

		assert_non_null(waits);
		for (int32_t v = 0; v < machine->n_vcpus; v++) {
			struct virt_totals totals;

			virt_vcpu_totals(model, machine->vcpus[v], from, to, &totals);
			blocked += totals.ns[VIRT_BLOCKED];
		}
		for (int cause = 0; cause < VIRT_N_WAKES; cause++)
			by_cause += waits->causes[cause].blocked.ns;
		if (by_cause != blocked)
			fail_msg("%s: in %lld .. %lld ns, %s is blocked for %lld ns, of which "
				 "%lld ns have a cause", what, (long long)from, (long long)to,
				 machine->name, (long long)blocked, (long long)by_cause);
		virt_waits_free(waits);
	}
}

/** By each occupant of each wait. */
static void recount_kinds(const struct virt_model *model, int32_t vcpu, int64_t from, int64_t to,
			  int64_t ns[VIRT_STEAL_N_KINDS])
{
	struct virt_interval_range waits = virt_vcpu_intervals(model, vcpu, from, to);

	for (size_t i = 0; i < waits.n; i++) {
		int64_t begin = waits.first[i].start_ns > from ? waits.first[i].start_ns : from;
		int64_t end = i + 1 < waits.n ? waits.first[i + 1].start_ns : waits.end_ns;
		struct virt_occupant_range there = virt_pcpu_occupants(model, waits.first[i].pcpu,
								       from, to);
		int64_t limit;

		end = end < to ? end : to;
		if (waits.first[i].state != VIRT_PREEMPTED || begin >= end)
			continue;
		limit = virt_vcpu_held(model, vcpu, begin, end).ns;
		ns[VIRT_STEAL_LIMIT] += limit;
		ns[VIRT_STEAL_UNKNOWN] += end - begin - limit;
		for (size_t j = 0; j < there.n; j++) {
			const struct virt_occupant *who = &there.first[j];
			int64_t start = who->start_ns > begin ? who->start_ns : begin;
			int64_t stop = j + 1 < there.n ? who[1].start_ns : there.end_ns;
			enum virt_steal_kind kind = virt_steal_kind_of(model, vcpu, who->vcpu);
			int64_t held;

			stop = stop < end ? stop : end;
			if (who->vcpu == VIRT_NONE && who->known)
				kind = VIRT_STEAL_NOBODY;
			if (start >= stop)
				continue;
			held = virt_vcpu_held(model, vcpu, start, stop).ns;
			ns[VIRT_STEAL_UNKNOWN] -= stop - start - held;
			ns[kind] += stop - start - held;
		}
	}
}

/** The kinds of culprits are all of the steal, and a culprit has one kind. */
static void check_kinds(const struct virt_model *model, const char *what, int64_t from, int64_t to)
{
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
		size_t room = virt_vcpu_culprits(model, i, from, to, NULL, 0);
		struct virt_culprit *culprits = calloc(room + 1, sizeof(*culprits));
		int64_t ns[VIRT_STEAL_N_KINDS], recounted[VIRT_STEAL_N_KINDS] = { 0 }, sum = 0;
		struct virt_totals totals;

		assert_non_null(culprits);
		assert_int_equal(virt_vcpu_culprits(model, i, from, to, culprits, room), room);
		virt_vcpu_totals(model, i, from, to, &totals);
		virt_steal_split(model, i, from, to, culprits, room, ns);
		recount_kinds(model, i, from, to, recounted);
		for (int kind = 0; kind < VIRT_STEAL_N_KINDS; kind++) {
			if (ns[kind] != recounted[kind])
				fail_msg("%s: in %lld .. %lld ns, %s is %lld ns of the steal of "
					 "%s, not %lld ns", what, (long long)from, (long long)to,
					 virt_steal_kind_name((enum virt_steal_kind)kind),
					 (long long)recounted[kind], virt_model_who(model, i),
					 (long long)ns[kind]);
			sum += ns[kind];
		}
		assert_int_equal(sum, totals.ns[VIRT_PREEMPTED]);
		free(culprits);
	}
}

static void check_window(const struct virt_model *model, const char *what, int64_t from, int64_t to)
{
	int64_t by_vcpu[VIRT_N_PCPU_STATES] = { 0 }, by_pcpu[VIRT_N_PCPU_STATES] = { 0 };

	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
		struct virt_totals totals;
		int64_t sum = 0;

		virt_vcpu_totals(model, i, from, to, &totals);
		for (int state = 0; state < VIRT_N_STATES; state++)
			sum += totals.ns[state];
		assert_int_equal(sum, to - from);
		for (int state = 0; state < VIRT_N_PCPU_STATES; state++)
			by_vcpu[state] += totals.ns[state];
	}
	for (int32_t i = 0; i < virt_model_n_pcpus(model); i++) {
		struct virt_pcpu_totals totals;
		int64_t sum;

		virt_pcpu_totals(model, i, from, to, &totals);
		sum = totals.task_ns + totals.idle_ns + totals.unknown_ns;
		assert_true(totals.task_ns >= 0 && totals.idle_ns >= 0 && totals.unknown_ns >= 0);
		for (int state = 0; state < VIRT_N_PCPU_STATES; state++) {
			sum += totals.state_ns[state];
			by_pcpu[state] += totals.state_ns[state];
		}
		assert_int_equal(sum, to - from);
	}
	for (int state = 0; state < VIRT_N_PCPU_STATES; state++) {
		if (by_vcpu[state] != by_pcpu[state])
			fail_msg("%s: in %lld .. %lld ns, %s is %lld ns of vCPUs and %lld ns of "
				 "pCPUs", what, (long long)from, (long long)to,
				 virt_state_name((enum virt_state)state), (long long)by_vcpu[state],
				 (long long)by_pcpu[state]);
	}
}

/** A vCPU on a pCPU, according to the pCPU. */
struct stay {
	int32_t		vcpu;
	int64_t		start_ns, end_ns;
};

static int compare_stays(const void *a, const void *b)
{
	const struct stay *x = a, *y = b;

	if (x->vcpu != y->vcpu)
		return x->vcpu < y->vcpu ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/** No vCPU has two pCPUs at once, and where it has one, both say so. */
static void check_stays(const struct virt_model *model, const char *what)
{
	struct stay *stays = NULL;
	size_t n = 0;

	for (int32_t p = 0; p < virt_model_n_pcpus(model); p++) {
		struct virt_occupant_range range = virt_pcpu_occupants(model, p, INT64_MIN,
								       INT64_MAX);

		stays = realloc(stays, (n + range.n + 1) * sizeof(*stays));
		assert_non_null(stays);
		for (size_t i = 0; i < range.n; i++) {
			int64_t end = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

			if (!virt_model_vcpu(model, range.first[i].vcpu))
				continue;
			stays[n++] = (struct stay){
				range.first[i].vcpu, range.first[i].start_ns, end,
			};
		}
	}
	if (n)
		qsort(stays, n, sizeof(*stays), compare_stays);
	for (size_t i = 1; i < n; i++)
		if (stays[i].vcpu == stays[i - 1].vcpu && stays[i].start_ns < stays[i - 1].end_ns)
			fail_msg("%s: %s is on two pCPUs at %lld ns", what,
				 virt_model_who(model, stays[i].vcpu),
				 (long long)stays[i].start_ns);
	free(stays);
}

static void check_intervals(const struct virt_model *model, const char *what)
{
	for (int32_t v = 0; v < virt_model_n_vcpus(model); v++) {
		struct virt_interval_range range = virt_vcpu_intervals(model, v, INT64_MIN,
								       INT64_MAX);

		for (size_t i = 0; i < range.n; i++) {
			const struct virt_interval *interval = &range.first[i];
			int64_t end = i + 1 < range.n ? interval[1].start_ns : range.end_ns;
			struct virt_occupant_range there;

			if (!on_pcpu(interval->state) || interval->start_ns == end)
				continue;
			there = virt_pcpu_occupants(model, interval->pcpu, interval->start_ns, end);
			if (there.n != 1 || there.first->vcpu != v)
				fail_msg("%s: %s is not on p%d at %lld ns, whatever it says", what,
					 virt_model_who(model, v), interval->pcpu,
					 (long long)interval->start_ns);
		}
	}
}

static void check_model(const struct virt_model *model, const char *what)
{
	int64_t begin = virt_model_begin(model), end = virt_model_end(model);

	assert_true(end > begin);
	check_window(model, what, begin, end);
	check_waits(model, what, begin, end);
	for (int i = 0; i < N_WINDOWS; i++) {
		int64_t from = begin + (int64_t)rnd((uint64_t)(end - begin));
		/* long and short ones */
		int64_t length = (end - from) >> rnd(20);

		check_window(model, what, from, from + length);
		if (i % 4 == 0)
			check_waits(model, what, from, from + length);
		if (i % 4 == 1)
			check_kinds(model, what, from, from + length);
	}
	check_stays(model, what);
	check_intervals(model, what);
}

/* --- KVM ------------------------------------------------------------------------------------- */

/** What of a trace is left out, as if it had not been recorded. */
struct cut {
	const char	*name;
	bool		(*leave_out)(const struct tep_event *event);
	unsigned int	lose;		/* of 1000 records */
	bool		shows_loss;		/* ring buffers, unlike filters, record losses */
	bool		whole;		/* exit and entry became one record, at the entry */
};

static bool is_switch(const struct tep_event *event)
{
	return !strcmp(event->name, "sched_switch");
}

static bool is_sched(const struct tep_event *event)
{
	return !strcmp(event->system, "sched");
}

static bool is_wakeup(const struct tep_event *event)
{
	return !strncmp(event->name, "sched_wak", 9);
}

static bool is_no_kvm(const struct tep_event *event)
{
	return strcmp(event->system, "kvm") != 0;
}

static bool is_no_entry_or_exit(const struct tep_event *event)
{
	return strcmp(event->name, "kvm_entry") != 0 && strcmp(event->name, "kvm_exit") != 0;
}

static bool is_userspace_or_migration(const struct tep_event *event)
{
	return !strcmp(event->name, "kvm_userspace_exit") ||
	       !strcmp(event->name, "sched_migrate_task");
}

static const struct cut cuts[] = {
	{ "all of it", NULL, 0, false, false },
	{ "without sched_switch", is_switch, 0, false, false },
	{ "without sched", is_sched, 0, false, false },
	{ "without sched_wakeup", is_wakeup, 0, false, false },
	{ "kvm alone", is_no_kvm, 0, false, false },
	{ "kvm_entry and kvm_exit alone", is_no_entry_or_exit, 0, false, false },
	{ "without migrations and exits to user space", is_userspace_or_migration, 0, false,
	  false },
	{ "some missing, unknown to it", NULL, 20, false, false },
	{ "many missing, unknown to it", NULL, 400, false, false },
	{ "some missing", NULL, 5, true, false },
	{ "many missing", NULL, 200, true, false },
	{ "without sched_switch, some missing, unknown to it", is_switch, 20, false, false },
	{ "without sched_switch, some missing", is_switch, 5, true, false },
	{ "without sched_switch, many missing", is_switch, 300, true, false },
	{ "exits and entries as one", NULL, 0, false, true },
	{ "exits and entries as one, some missing", NULL, 5, true, true },
	{ "exits and entries as one, without sched_switch", is_switch, 0, false, true },
	{ "exits and entries as one, without sched_switch, many missing", is_switch, 200, true,
	  true },
};

struct feed {
	const struct cut *cut;
	struct kvm_tracker *tracker;
	struct kvm_fields *fields;
	struct tep_handle *tep;
	bool		missing;	/* something, before the next record of this CPU */
	int64_t		begin_ns, end_ns;
	/* of one CPU, the exit that an entry belongs to if only records of its thread follow */
	int64_t		exit_ns;
	int32_t		exit_pid;	/* 0: none */
	int64_t		whole_ns;	/* sum of all that have been handed over */
};

/** Of a cut in which they are one: exits are remembered, entries become a record of both. */
static void take_whole(struct feed *feed, const struct tep_event *event, int cpu, int32_t pid,
		       int64_t time_ns)
{
	const struct kvm_event whole = {
		.time_ns = time_ns, .pid = pid, .cpu = (int16_t)cpu, .kind = KVM_WHOLE,
		.arg = VIRT_NONE, .value = time_ns - feed->exit_ns,
	};
	bool is_whole = feed->exit_pid && feed->exit_pid == pid;

	feed->exit_ns = time_ns;
	feed->exit_pid = strcmp(event->name, "kvm_exit") ? 0 : pid;
	if (feed->exit_pid || !is_whole)
		return;
	feed->whole_ns += whole.value;
	assert_int_equal(kvm_tracker_add(feed->tracker, &whole), 0);
}

static void take(struct feed *feed, struct tep_record *record, int cpu)
{
	struct tep_event *event = tep_find_event_by_record(feed->tep, record);
	int32_t pid = kvm_fields_pid(feed->fields, record);
	int64_t time_ns = (int64_t)record->ts;

	if (event && is_switch(event))
		feed->exit_pid = 0;
	if (feed->cut->leave_out && event && feed->cut->leave_out(event))
		return;
	if (rnd(1000) < feed->cut->lose) {
		feed->missing = feed->cut->shows_loss;
		return;
	}
	if (time_ns < feed->begin_ns)
		feed->begin_ns = time_ns;
	if (time_ns >= feed->end_ns)
		feed->end_ns = time_ns + 1;
	if (feed->missing || record->missed_events)
		feed->exit_pid = 0;
	if (feed->missing || record->missed_events)
		assert_int_equal(kvm_tracker_lost(feed->tracker, cpu, pid, time_ns, 1), 0);
	feed->missing = false;
	if (event && feed->cut->whole && !is_no_entry_or_exit(event)) {
		take_whole(feed, event, cpu, pid, time_ns);
		return;
	}
	assert_int_equal(kvm_fields_take(feed->fields, feed->tracker, record,
					 tep_data_type(feed->tep, record), cpu, pid, time_ns), 0);
}

/** @whole_ns: receives how long exits that are one with their entry took; or NULL */
static struct virt_model *read_kvm(const char *path, const struct cut *cut, int64_t *whole_ns)
{
	struct tracecmd_input *input = tracecmd_open(path, 0);
	struct feed feed = { .cut = cut, .begin_ns = INT64_MAX, .end_ns = INT64_MIN };
	struct virt_model *model = NULL;

	assert_non_null(input);
	feed.tep = tracecmd_get_tep(input);
	feed.tracker = kvm_tracker_new();
	feed.fields = kvm_fields_new(feed.tep);
	assert_true(feed.tracker && feed.fields);
	for (int cpu = 0; cpu < tep_get_cpus(feed.tep); cpu++) {
		struct tep_record *record = tracecmd_read_cpu_first(input, cpu);

		feed.missing = false;
		feed.exit_pid = 0;
		while (record) {
			take(&feed, record, cpu);
			tracecmd_free_record(record);
			record = tracecmd_read_data(input, cpu);
		}
	}
	assert_int_equal(kvm_tracker_finish(feed.tracker, feed.begin_ns, feed.end_ns, &model), 0);
	if (whole_ns)
		*whole_ns = feed.whole_ns;
	kvm_fields_free(feed.fields);
	kvm_tracker_free(feed.tracker);
	tracecmd_close(input);
	return model;
}

static void check_kvm(void **state)
{
	const char *name = *state;
	static size_t n_samples;

	seed = 88172645463325252u;
	/* each cut of some samples */
	for (size_t i = n_samples++ % ENOUGH(2); i < sizeof(cuts) / sizeof(cuts[0]);
	     i += ENOUGH(2)) {
		struct virt_model *model = read_kvm(sample_path(name), &cuts[i], NULL);
		char what[200];

		snprintf(what, sizeof(what), "%s, %s", name, cuts[i].name);
		assert_true(virt_model_n_vcpus(model) > 0);
		check_model(model, what);
		virt_model_free(model);
	}
}

/* --- what a trace without sched_switch still shows ------------------------------------------- */

/** In its first part a vCPU may not be found yet. */
static int64_t first_exit(const struct virt_model *model, int32_t vcpu)
{
	struct virt_exit exit;

	return virt_vcpu_next_exit(model, vcpu, INT64_MIN, &exit) ? exit.time_ns :
								    virt_model_end(model);
}

/** The guest's time is the same; nothing else is said that only sched_switch can show. */
static void check_same_guest(const struct virt_model *whole, const struct virt_model *cut)
{
	for (int32_t v = 0; v < virt_model_n_vcpus(cut); v++) {
		int32_t pid = virt_model_vcpu(cut, v)->host_pid;
		int32_t same = virt_model_find_vcpu(whole, pid);
		struct virt_interval_range range = virt_vcpu_intervals(cut, v, INT64_MIN,
								       INT64_MAX);
		int64_t from = first_exit(cut, v), to = virt_model_end(cut);
		struct virt_totals expected, totals;

		assert_true(same >= 0);
		virt_vcpu_totals(whole, same, from, to, &expected);
		virt_vcpu_totals(cut, v, from, to, &totals);
		assert_int_equal(totals.ns[VIRT_GUEST], expected.ns[VIRT_GUEST]);
		assert_int_equal(totals.ns[VIRT_PREEMPTED], 0);
		assert_int_equal(totals.ns[VIRT_WAKING], 0);
		assert_int_equal(totals.ns[VIRT_BLOCKED], 0);
		for (size_t i = 0; i < range.n; i++) {
			const struct virt_interval *interval = &range.first[i];
			int64_t end = i + 1 < range.n ? interval[1].start_ns : range.end_ns;

			if (interval->state != VIRT_HYPERVISOR && interval->state != VIRT_VMM)
				continue;
			assert_true(interval->flags & VIRT_INTERVAL_UNSPLIT);
			/* a vCPU that asked for a wait probably slept */
			assert_true(interval->start_ns == end ||
				    virt_model_reason_class(cut, interval->detail) !=
				    VIRT_EXIT_HALT);
		}
	}
}

static void test_without_switches(void **state)
{
	struct virt_model *whole = read_kvm(sample_path("kvm-host.dat"), &cuts[0], NULL);
	struct virt_model *cut = read_kvm(sample_path("kvm-host.dat"), &cuts[1], NULL);

	(void)state;
	check_same_guest(whole, cut);
	assert_null(virt_model_contradictions(cut, 0, NULL));
	virt_model_free(cut);
	virt_model_free(whole);
}

/* --- what a trace with hypercalls alone shows ------------------------------------------------ */

/** All of what is said in @interval is so in the whole trace; guest code is never known. */
static void check_true(const struct virt_model *whole, int32_t vcpu,
		       const struct virt_interval *interval, int64_t end_ns, bool switches)
{
	struct virt_interval_range range = virt_vcpu_intervals(whole, vcpu, interval->start_ns,
							       end_ns);

	assert_int_not_equal(interval->state, VIRT_GUEST);
	assert_int_not_equal(interval->state, VIRT_VMM);
	assert_true(switches || interval->state == VIRT_HYPERVISOR ||
		    interval->state == VIRT_UNKNOWN);
	for (size_t i = 0; i < range.n && interval->state != VIRT_UNKNOWN; i++)
		if (range.first[i].state != interval->state &&
		    (interval->state != VIRT_HYPERVISOR ||
		     (range.first[i].state != VIRT_VMM && range.first[i].state != VIRT_POLLING)))
			fail_msg("%s is %s, not %s, at %lld ns", virt_model_who(whole, vcpu),
				 virt_state_name(range.first[i].state),
				 virt_state_name(interval->state),
				 (long long)range.first[i].start_ns);
}

static void check_whole(const char *name, const struct cut *cut)
{
	struct virt_model *whole = read_kvm(sample_path(name), &cuts[0], NULL), *model;
	int64_t expected_ns, ns = 0;

	model = read_kvm(sample_path(name), cut, &expected_ns);
	assert_true(virt_model_knows_calls_only(model) && !virt_model_knows_calls_only(whole));
	for (int32_t v = 0; v < virt_model_n_vcpus(model); v++) {
		int32_t same = virt_model_find_vcpu(whole, virt_model_vcpu(model, v)->host_pid);
		struct virt_interval_range range = virt_vcpu_intervals(model, v, INT64_MIN,
								       INT64_MAX);

		for (size_t i = 0; i < range.n; i++) {
			int64_t end = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

			check_true(whole, same, &range.first[i], end, !cut->leave_out);
			if (range.first[i].state == VIRT_HYPERVISOR)
				ns += end - range.first[i].start_ns;
		}
	}
	/* without switches, its thread may first be seen after the exit, by another record */
	assert_true(ns > 0 && ns <= expected_ns);
	assert_true(ns == expected_ns || cut->leave_out);
	assert_null(virt_model_contradictions(model, 0, NULL));
	virt_model_free(model);
	virt_model_free(whole);
}

static void test_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		if (!cuts[i].whole || cuts[i].lose)
			continue;
		check_whole("kvm-host.dat", &cuts[i]);
		check_whole("kvm-migration.dat", &cuts[i]);
		check_whole("kvm-shared.dat", &cuts[i]);
	}
}

/* --- Xen ------------------------------------------------------------------------------------- */

static void check_xen(void **state)
{
	struct xen_trace *trace = xen_trace_open(sample_path(*state), NULL, NULL, 0);
	struct virt_model *model = NULL;

	seed = 88172645463325252u;
	assert_non_null(trace);
	assert_int_equal(xen_tracker_build(trace, &model), 0);
	check_model(model, *state);
	virt_model_free(model);
	xen_trace_close(trace);
}

#define SAMPLE(file, check) { file, check, NULL, NULL, (void *)(uintptr_t)file }

int main(void)
{
	const struct CMUnitTest tests[] = {
		SAMPLE("kvm-host.dat", check_kvm),
		SAMPLE("kvm-migration.dat", check_kvm),
		SAMPLE("kvm-nested.dat", check_kvm),
		SAMPLE("kvm-nested-linux.dat", check_kvm),
		SAMPLE("kvm-nested-shift.dat", check_kvm),
		SAMPLE("kvm-nosync.dat", check_kvm),
		SAMPLE("kvm-ptp.dat", check_kvm),
		SAMPLE("kvm-shared.dat", check_kvm),
		cmocka_unit_test(test_without_switches),
		cmocka_unit_test(test_whole),
		SAMPLE("credit2-basic.xen", check_xen),
		SAMPLE("dom0.xen", check_xen),
		SAMPLE("domU.xen.gz", check_xen),
		SAMPLE("hvm-exits.xen", check_xen),
		SAMPLE("hvm-io.xen", check_xen),
		SAMPLE("lost-records.xen", check_xen),
		SAMPLE("migration.xen", check_xen),
		SAMPLE("pinned.xen", check_xen),
		SAMPLE("sched-credit.xen", check_xen),
	};

	tracecmd_set_loglevel(TEP_LOG_NONE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
