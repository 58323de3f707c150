// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_missing_records.c
 * @brief	The law of what was not recorded: with fewer kinds of records, each moment of a
 *		trace is what it is with all of them, or unknown. Of each sample, each kind is left
 *		out in turn, and sets of kinds by chance.
 *
 * And the law of what has no meaning: the number of a pCPU, the origin and unit of time.
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

#include "array.h"
#include "enough.h"
#include "kvm_fields.h"
#include "kvm_private.h"
#include "sample_file.h"
#include "virt_needs.h"
#include "virt_worst.h"

#define N_BY_CHANCE	(12 / ENOUGH(4))

/** Groups of events, each about one kind of things; any may not have been recorded. */
static const struct group {
	const char	*name, *events[4];
} groups[] = {
	{ "entries", { "kvm_entry" } },
	{ "exits", { "kvm_exit" } },
	{ "switches", { "sched_switch" } },
	{ "wake-ups", { "sched_wakeup" } },
	{ "wakers", { "sched_waking" } },
	{ "exits to the monitor", { "kvm_userspace_exit" } },
	{ "migrations", { "sched_migrate_task" } },
	{ "births", { "sched_wakeup_new" } },
	{ "hypercalls", { "kvm_hypercall", "kvm_hv_hypercall", "kvm_xen_hypercall" } },
	{ "interrupts sent", { "kvm_apic_accept_irq" } },
	{ "interrupts injected", { "kvm_inj_virq" } },
	{ "ways of interrupts", { "kvm_apic_ipi", "kvm_set_irq", "kvm_msi_set_irq",
				  "kvm_ioapic_set_irq" } },
	{ "nested entries", { "kvm_nested_vmrun", "kvm_nested_vmenter" } },
	{ "nested exits", { "kvm_nested_vmexit" } },
	{ "nested exits handed on", { "kvm_nested_vmexit_inject" } },
	{ "KVM_RUN", { "kvm_fpu" } },
	{ "halt polling", { "kvm_vcpu_wakeup" } },
	{ "all others", { NULL } },
};

#define N_GROUPS	ARRAY_SIZE(groups)
#define OTHERS		(N_GROUPS - 1)

static size_t group_of(const char *name)
{
	for (size_t i = 0; i < OTHERS; i++)
		for (size_t e = 0; e < ARRAY_SIZE(groups[i].events) && groups[i].events[e]; e++)
			if (!strcmp(groups[i].events[e], name))
				return i;
	return OTHERS;
}

static uint64_t seed;

static uint64_t rnd(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % n;
}

/* --- a sample, read once --------------------------------------------------------------------- */

struct sample {
	struct tracecmd_input *input;
	struct kvm_fields *fields;
	struct tep_handle *tep;
	struct {
		struct tep_record *record;
		int32_t		pid;
		int		id;
		int16_t		cpu;
		uint8_t		group;
	}		*all;		/* CPU by CPU */
	size_t		n, room;
	int64_t		begin_ns, end_ns;
	uint32_t	there;		/* groups, by bit */
};

/** libtracecmd 3.3.1 crashes when records that were kept are freed. */
static struct tep_record *copy_of(const struct tep_record *record)
{
	struct tep_record *copy = malloc(sizeof(*copy) + (size_t)record->size);

	assert_non_null(copy);
	*copy = *record;
	copy->data = copy + 1;
	memcpy(copy->data, record->data, (size_t)record->size);
	return copy;
}

static void take_record(struct sample *sample, const struct tep_record *from, int cpu)
{
	struct tep_record *record = copy_of(from);
	struct tep_event *event = tep_find_event_by_record(sample->tep, record);
	int64_t time_ns = (int64_t)record->ts;
	size_t group = event ? group_of(event->name) : OTHERS;

	assert_int_equal(ARRAY_GROW(sample->all, sample->n, sample->room), 0);
	sample->all[sample->n].record = record;
	sample->all[sample->n].pid = kvm_fields_pid(sample->fields, record);
	sample->all[sample->n].id = tep_data_type(sample->tep, record);
	sample->all[sample->n].cpu = (int16_t)cpu;
	sample->all[sample->n++].group = (uint8_t)group;
	sample->there |= UINT32_C(1) << group;
	if (time_ns < sample->begin_ns)
		sample->begin_ns = time_ns;
	if (time_ns >= sample->end_ns)
		sample->end_ns = time_ns + 1;
}

static void read_records(struct sample *sample, const char *name)
{
	*sample = (struct sample){
		.input = tracecmd_open(sample_path(name), 0),
		.begin_ns = INT64_MAX, .end_ns = INT64_MIN,
	};
	assert_non_null(sample->input);
	sample->tep = tracecmd_get_tep(sample->input);
	sample->fields = kvm_fields_new(sample->tep);
	assert_non_null(sample->fields);
	for (int cpu = 0; cpu < tep_get_cpus(sample->tep); cpu++) {
		struct tep_record *record = tracecmd_read_cpu_first(sample->input, cpu);

		for (; record; record = tracecmd_read_data(sample->input, cpu)) {
			take_record(sample, record, cpu);
			tracecmd_free_record(record);
		}
	}
}

static void close_sample(struct sample *sample)
{
	for (size_t i = 0; i < sample->n; i++)
		free(sample->all[i].record);
	free(sample->all);
	kvm_fields_free(sample->fields);
	tracecmd_close(sample->input);
}

/** @without: groups, by bit */
static struct kvm_tracker *feed(const struct sample *sample, uint32_t without)
{
	struct kvm_tracker *tracker = kvm_tracker_new();

	assert_non_null(tracker);
	for (size_t i = 0; i < sample->n; i++) {
		struct tep_record *record = sample->all[i].record;
		int cpu = sample->all[i].cpu;
		int32_t pid = sample->all[i].pid;

		if (record->missed_events)
			assert_int_equal(kvm_tracker_lost(tracker, cpu, pid, (int64_t)record->ts,
							  1), 0);
		if (!(without >> sample->all[i].group & 1))
			assert_int_equal(kvm_fields_take(sample->fields, tracker, record,
							 sample->all[i].id, cpu, pid,
							 (int64_t)record->ts), 0);
	}
	return tracker;
}

static struct virt_model *build(const struct sample *sample, uint32_t without)
{
	struct kvm_tracker *tracker = feed(sample, without);
	struct virt_model *model = NULL;

	assert_int_equal(kvm_tracker_finish(tracker, sample->begin_ns, sample->end_ns, &model), 0);
	kvm_tracker_free(tracker);
	return model;
}

/* --- the law --------------------------------------------------------------------------------- */

/** The same time of the same vCPU, by both models. */
struct pair {
	const struct virt_model *whole, *cut;
	const struct virt_interval *is, *said;	/* in the whole one; in the cut one */
	const char	*what;
	unsigned int	n;		/* moments that are said to be what they are not */
};

static bool is_on(const struct virt_interval *interval)
{
	return interval->state <= VIRT_VMM || interval->flags & VIRT_INTERVAL_ON_PCPU;
}

static bool same_text(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/** The same reason; of which guest it leads out, the machine's or that one's, other events show. */
static bool same_reason(const struct pair *pair, int32_t is, int32_t said)
{
	const uint64_t levels = VIRT_RECORD_BIT(VIRT_RECORD_NESTED) |
				VIRT_RECORD_BIT(VIRT_RECORD_NESTED_EXIT) |
				VIRT_RECORD_BIT(VIRT_RECORD_NESTED_INJECT);
	const char *a = virt_model_reason(pair->whole, is), *b = virt_model_reason(pair->cut, said);

	if (a && b && (virt_model_recorded(pair->whole) & levels) !=
		      (virt_model_recorded(pair->cut) & levels)) {
		a += strncmp(a, "L2:", 3) ? 0 : 3;
		b += strncmp(b, "L2:", 3) ? 0 : 3;
	}
	return same_text(a, b);
}

static bool state_fits(const struct pair *pair)
{
	const struct virt_interval *is = pair->is, *said = pair->said;
	bool unsplit = said->flags & VIRT_INTERVAL_UNSPLIT;

	if (said->state == VIRT_UNKNOWN)
		return said->flags & VIRT_INTERVAL_ON_PCPU ? is_on(is) && is->pcpu == said->pcpu :
							     !unsplit || is->state != VIRT_GUEST;
	if (said->flags & VIRT_INTERVAL_LOOSE && is->state == VIRT_WAKING)
		return !virt_model_has_recorded(pair->cut, VIRT_RECORD_WAKEUP);
	if (said->state == VIRT_BLOCKED && is->state == VIRT_OFFLINE)
		return !virt_model_has_recorded(pair->cut, VIRT_RECORD_RUN) ||
		       !virt_model_has_recorded(pair->cut, VIRT_RECORD_MONITOR);
	if (said->state == VIRT_HYPERVISOR && is->state == VIRT_POLLING &&
	    !virt_model_has_recorded(pair->cut, VIRT_RECORD_HALT_POLL))
		return true;
	/* the monitor's time lasts until the next entry, also where KVM polls before that */
	if (said->state == VIRT_POLLING && is->state == VIRT_VMM)
		return !virt_model_has_recorded(pair->cut, VIRT_RECORD_MONITOR);
	/* the monitor's time, or all of it between exit and entry */
	if (said->state == VIRT_HYPERVISOR && is->state == VIRT_VMM &&
	    !virt_model_has_recorded(pair->cut, VIRT_RECORD_MONITOR))
		return true;
	if (unsplit)
		return is->state != VIRT_GUEST && is->state != VIRT_UNKNOWN;
	return said->state == is->state && (!is_on(is) || said->pcpu == is->pcpu);
}

/** What ended a wait: the same, or less of it, or unknown. */
static bool wake_fits(const struct pair *pair)
{
	const struct virt_wake *is = virt_model_wake(pair->whole, pair->is->detail);
	const struct virt_wake *said = virt_model_wake(pair->cut, pair->said->detail);

	if (!said || said->cause == VIRT_WAKE_UNKNOWN)
		return true;
	if (!is)
		return false;
	if (said->vector != VIRT_NONE && said->vector != is->vector)
		return false;
	if (said->cause == VIRT_WAKE_INTERRUPT)
		return is->cause != VIRT_WAKE_TASK;
	/* the same one, and not how */
	if (said->cause == VIRT_WAKE_TASK && is->cause != VIRT_WAKE_DEVICE &&
	    is->cause != VIRT_WAKE_TASK)
		return false;
	return (said->cause == is->cause || said->cause == VIRT_WAKE_TASK) &&
	       (said->who == VIRT_NONE ? is->who == VIRT_NONE :
		same_text(virt_model_who(pair->whole, is->who),
			  virt_model_who(pair->cut, said->who)));
}

/** Which exit it was, who took the pCPU: the same, or unknown. */
static bool detail_fits(const struct pair *pair)
{
	const struct virt_interval *is = pair->is, *said = pair->said;

	if (said->detail == VIRT_NONE || is->state != said->state)
		return true;
	if (said->state == VIRT_BLOCKED)
		return wake_fits(pair);
	if (said->state == VIRT_PREEMPTED)
		return same_text(virt_model_who(pair->whole, is->detail),
				 virt_model_who(pair->cut, said->detail));
	return said->state > VIRT_VMM || same_reason(pair, is->detail, said->detail);
}

static void complain(struct pair *pair, const char *why, int32_t vcpu, int64_t time_ns)
{
	if (pair->n++ < 4)
		print_message("%s: %s at %lld ns is said to be %s (p%d, %d, flags %x), and it is "
			      "%s (p%d, %d, flags %x): %s\n", pair->what,
			      virt_model_who(pair->cut, vcpu), (long long)time_ns,
			      virt_state_name(pair->said->state), pair->said->pcpu,
			      pair->said->detail, pair->said->flags,
			      virt_state_name(pair->is->state), pair->is->pcpu,
			      pair->is->detail, pair->is->flags, why);
}

static int64_t end_of(const struct virt_interval_range *range, size_t i)
{
	return i + 1 < range->n ? range->first[i + 1].start_ns : range->end_ns;
}

static void compare_vcpu(struct pair *pair, int32_t vcpu, int32_t of)
{
	struct virt_interval_range is = virt_vcpu_intervals(pair->whole, of, INT64_MIN, INT64_MAX);
	struct virt_interval_range said = virt_vcpu_intervals(pair->cut, vcpu, INT64_MIN,
							      INT64_MAX);

	for (size_t i = 0, j = 0; i < is.n && j < said.n;) {
		int64_t is_end = end_of(&is, i), said_end = end_of(&said, j);
		int64_t start = is.first[i].start_ns > said.first[j].start_ns ?
				is.first[i].start_ns : said.first[j].start_ns;
		int64_t end = is_end < said_end ? is_end : said_end;

		pair->is = &is.first[i];
		pair->said = &said.first[j];
		if (start < end && !state_fits(pair))
			complain(pair, "state", vcpu, start);
		else if (start < end && !detail_fits(pair))
			complain(pair, pair->is->state == VIRT_BLOCKED ? "wake" : "detail", vcpu,
				 start);
		if (is_end <= said_end)
			i++;
		if (said_end <= is_end)
			j++;
	}
}

/**
 * The hypervisor's time includes polling where that was not recorded, and so does the cost. The
 * monitor's time, if it was recorded, lasts until the next entry, with the polling before that.
 */
static bool cost_fits(const struct pair *pair, const struct virt_exit *is,
		      const struct virt_exit *said)
{
	bool sum = !virt_model_has_recorded(pair->cut, VIRT_RECORD_HALT_POLL) ||
		   !virt_model_has_recorded(pair->cut, VIRT_RECORD_MONITOR);

	return is->cost_ns + (sum ? is->state_ns[VIRT_POLLING] : 0) ==
	       said->cost_ns + (sum ? said->state_ns[VIRT_POLLING] : 0);
}

/** Each exit is one, of the same reason, and has the same cost or none that is known. */
static void compare_exits(struct pair *pair, int32_t vcpu, int32_t of)
{
	struct virt_interval_range range = virt_vcpu_intervals(pair->cut, vcpu, INT64_MIN,
							       INT64_MAX);
	struct virt_exit is, said;

	for (size_t i = 0; i < range.n; i++) {
		if (!(range.first[i].flags & VIRT_INTERVAL_EXIT) ||
		    !virt_vcpu_next_exit(pair->cut, vcpu, range.first[i].start_ns, &said))
			continue;
		pair->said = pair->is = &range.first[i];
		if (!virt_vcpu_next_exit(pair->whole, of, said.time_ns, &is) ||
		    is.time_ns != said.time_ns)
			complain(pair, "no such exit", vcpu, said.time_ns);
		else if (said.reason != VIRT_NONE && !same_reason(pair, is.reason, said.reason))
			complain(pair, "exit's reason", vcpu, said.time_ns);
		else if (said.complete && (!is.complete || !cost_fits(pair, &is, &said)))
			complain(pair, "exit's cost", vcpu, said.time_ns);
	}
}

/** The level that each exit leaves, where both can show it. */
static void compare_levels(struct pair *pair, int32_t vcpu, int32_t of)
{
	static const struct virt_interval none;
	struct virt_exit_levels is, said;

	if (!virt_model_knows(pair->cut, VIRT_NUMBER_NESTED) ||
	    !virt_model_knows(pair->whole, VIRT_NUMBER_NESTED))
		return;
	virt_vcpu_exit_levels(pair->whole, of, INT64_MIN, INT64_MAX, &is);
	virt_vcpu_exit_levels(pair->cut, vcpu, INT64_MIN, INT64_MAX, &said);
	pair->said = pair->is = &none;
	if (said.l1 > is.l1 + is.unknown || said.l2 > is.l2 + is.unknown ||
	    said.l1 + said.l2 + said.unknown != is.l1 + is.l2 + is.unknown ||
	    (said.unknown <= is.unknown && (said.l1 != is.l1 || said.l2 != is.l2)))
		complain(pair, "exits by level", vcpu, 0);
}

/** Return: moments for which the law does not hold. */
static unsigned int compare(const struct virt_model *whole, const struct virt_model *cut,
			    const char *what)
{
	struct pair pair = { .whole = whole, .cut = cut, .what = what };

	for (int32_t v = 0; v < virt_model_n_vcpus(cut); v++) {
		int32_t of = virt_model_find_vcpu(whole, virt_model_vcpu(cut, v)->host_pid);

		assert_true(of >= 0);
		compare_vcpu(&pair, v, of);
		compare_exits(&pair, v, of);
		compare_levels(&pair, v, of);
	}
	return pair.n;
}

/** What is left out, in words. */
static void describe(char *text, size_t size, const char *name, uint32_t without)
{
	size_t n = (size_t)snprintf(text, size, "%s without", name);

	for (size_t i = 0; i < N_GROUPS && n < size; i++)
		if (without >> i & 1)
			n += (size_t)snprintf(text + n, size - n, " %s,", groups[i].name);
}

static void check_missing(void **state)
{
	struct sample sample;
	struct virt_model *whole;
	unsigned int n = 0;

	seed = 88172645463325252u;
	read_records(&sample, *state);
	whole = build(&sample, 0);
	for (size_t i = 0; i < N_GROUPS + N_BY_CHANCE; i++) {
		uint32_t without = i < N_GROUPS ? UINT32_C(1) << i :
						  (uint32_t)(rnd(1u << N_GROUPS) &
							     rnd(1u << N_GROUPS));
		struct virt_model *cut;
		char what[600];

		without &= sample.there;
		if (!without)
			continue;
		describe(what, sizeof(what), *state, without);
		cut = build(&sample, without);
		n += compare(whole, cut, what);
		virt_model_free(cut);
	}
	virt_model_free(whole);
	close_sample(&sample);
	assert_int_equal(n, 0);
}

/* --- what has no meaning --------------------------------------------------------------------- */

#define SCALE	3

/** Where a time, a pCPU and a thread are in the other world. */
static int64_t time_there(const struct sample *sample, int64_t time_ns)
{
	return SCALE * (time_ns - sample->begin_ns) + 12345;
}

static int cpu_there(const struct kvm_tracker *tracker, int64_t cpu)
{
	int n = (int)tracker->n_cpus;

	return cpu >= 0 && cpu < n ? (n - 1 - (int)cpu + n / 2) % n : (int)cpu;
}

/** Numbers distinguish threads of one name: those stay. */
static struct kvm_event event_there(const struct sample *sample, const struct kvm_tracker *tracker,
				    const struct kvm_event *event)
{
	struct kvm_event there = *event;

	there.time_ns = time_there(sample, event->time_ns);
	there.cpu = (int16_t)cpu_there(tracker, event->cpu);
	if (event->kind == KVM_MIGRATE)
		there.value = cpu_there(tracker, event->value);
	if ((event->kind == KVM_WHOLE || event->kind == KVM_HALTED) && event->value > 0)
		there.value *= SCALE;
	/* how an interrupt was raised was put into its record, and is found again in the mark */
	if (event->kind == KVM_ACCEPT)
		there.more &= KVM_IN_INTERRUPT;
	return there;
}

static void add_there(struct kvm_tracker *to, const struct kvm_event *there,
		      const struct kvm_event *event)
{
	struct kvm_event mark = *there;

	if (event->kind == KVM_ACCEPT && event->more & (KVM_BY_IPI | KVM_BY_LINE)) {
		mark.kind = event->more & KVM_BY_IPI ? KVM_IPI : KVM_IRQ_LINE;
		assert_int_equal(kvm_tracker_add(to, &mark), 0);
	}
	assert_int_equal(kvm_tracker_add(to, there), 0);
}

/** The same trace, on pCPUs with other numbers, by a clock that goes differently. */
static struct virt_model *build_there(const struct sample *sample,
				      const struct kvm_tracker *tracker)
{
	struct kvm_tracker *to = kvm_tracker_new();
	struct virt_model *model = NULL;

	assert_non_null(to);
	for (uint32_t i = 0; i < tracker->pids.n_keys; i++)
		if (tracker->threads[i].comm[0])
			assert_int_equal(kvm_tracker_name(to, tracker->threads[i].pid, "other"), 0);
	for (size_t c = 0; c < tracker->n_cpus; c++) {
		const struct kvm_cpu *cpu = &tracker->cpus[c];

		for (size_t i = 0; i < cpu->events.n_plain; i++) {
			const struct kvm_event *event = &cpu->events.plain[i];
			struct kvm_event there = event_there(sample, tracker, event);

			add_there(to, &there, event);
		}
	}
	assert_int_equal(kvm_tracker_finish(to, time_there(sample, sample->begin_ns),
					    time_there(sample, sample->end_ns), &model), 0);
	kvm_tracker_free(to);
	return model;
}

static void check_there(void **state)
{
	struct sample sample;
	struct kvm_tracker *tracker;
	struct virt_model *here = NULL, *there;

	read_records(&sample, *state);
	tracker = feed(&sample, 0);
	assert_int_equal(kvm_tracker_finish(tracker, sample.begin_ns, sample.end_ns, &here), 0);
	there = build_there(&sample, tracker);
	assert_int_equal(virt_model_n_vcpus(here), virt_model_n_vcpus(there));
	for (int32_t v = 0; v < virt_model_n_vcpus(here); v++) {
		int32_t of = virt_model_find_vcpu(there, virt_model_vcpu(here, v)->host_pid);
		struct virt_interval_range a = virt_vcpu_intervals(here, v, INT64_MIN, INT64_MAX);
		struct virt_interval_range b = virt_vcpu_intervals(there, of, INT64_MIN,
								   INT64_MAX);

		assert_int_equal(a.n, b.n);
		for (size_t i = 0; i < a.n; i++) {
			int64_t start_ns = time_there(&sample, a.first[i].start_ns);

			/* a loss begins 1 ns behind the last record, whatever the clock */
			assert_true(b.first[i].start_ns <= start_ns &&
				    b.first[i].start_ns >= start_ns - SCALE);
			assert_int_equal(b.first[i].state, a.first[i].state);
			assert_int_equal(b.first[i].flags, a.first[i].flags);
			assert_int_equal(b.first[i].pcpu, cpu_there(tracker, a.first[i].pcpu));
		}
	}
	virt_model_free(there);
	virt_model_free(here);
	kvm_tracker_free(tracker);
	close_sample(&sample);
}

#define SAMPLE(file, check) { file, check, NULL, NULL, (void *)(uintptr_t)file }

int main(void)
{
	const struct CMUnitTest tests[] = {
		SAMPLE("kvm-host.dat", check_missing),
		SAMPLE("kvm-migration.dat", check_missing),
		SAMPLE("kvm-nested.dat", check_missing),
		SAMPLE("kvm-nested-linux.dat", check_missing),
		SAMPLE("kvm-paused.dat", check_missing),
		SAMPLE("kvm-restored.dat", check_missing),
		SAMPLE("kvm-shared.dat", check_missing),
		SAMPLE("waits-disk.dat", check_missing),
		SAMPLE("waits-ipi.dat", check_missing),
		SAMPLE("waits-timer.dat", check_missing),
		SAMPLE("kvm-host.dat", check_there),
		SAMPLE("kvm-migration.dat", check_there),
		SAMPLE("kvm-nested.dat", check_there),
		SAMPLE("kvm-nested-linux.dat", check_there),
		SAMPLE("kvm-paused.dat", check_there),
		SAMPLE("kvm-restored.dat", check_there),
		SAMPLE("kvm-shared.dat", check_there),
		SAMPLE("waits-disk.dat", check_there),
		SAMPLE("waits-ipi.dat", check_there),
		SAMPLE("waits-timer.dat", check_there),
	};

	tracecmd_set_loglevel(TEP_LOG_NONE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
