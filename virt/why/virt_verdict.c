// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_verdict.c
 * @brief	Who is to blame if a vCPU was late in a window.
 */
#include <errno.h>
#include <stdlib.h>

#include "virt_limits.h"
#include "virt_verdict.h"

/** Intervals before a window in which the beginning of a VM exit is looked for. */
#define MOST_BACK	16

static const struct {
	enum virt_verdict_side side;
	const char	*name, *words;
} parts[VIRT_VERDICT_N_PARTS] = {
	[VIRT_VERDICT_RUNS] = { VIRT_VERDICT_BY_GUEST, "guest", "guest code" },
	[VIRT_VERDICT_PREEMPTED] = { VIRT_VERDICT_BY_HOST, "preempted", "preempted" },
	[VIRT_VERDICT_WAKING] = { VIRT_VERDICT_BY_HOST, "waking", "waking" },
	[VIRT_VERDICT_HYPERVISOR] = { VIRT_VERDICT_BY_HOST, "hypervisor", "hypervisor" },
	[VIRT_VERDICT_VMM] = { VIRT_VERDICT_BY_HOST, "vmm", "vmm" },
	[VIRT_VERDICT_ANSWER] = { VIRT_VERDICT_BY_HOST, "unasked",
				  "blocked, waits for the answer to a VM exit" },
	[VIRT_VERDICT_HELD] = { VIRT_VERDICT_BY_HOST, "held",
				"blocked, which the guest did not ask for" },
	[VIRT_VERDICT_STOPPED] = { VIRT_VERDICT_BY_HOST, "stopped",
				   "offline, others of its machine are not" },
	[VIRT_VERDICT_PAUSED] = { VIRT_VERDICT_BY_HOST, "paused",
				  "offline, with its whole machine" },
	[VIRT_VERDICT_LIMIT] = { VIRT_VERDICT_BY_HOST, "limit",
				 "out of quota (its own quota, cap or budget)" },
	[VIRT_VERDICT_HALTS] = { VIRT_VERDICT_BY_WISH, "halt",
				 "hypervisor, handles the guest's wish to wait" },
	[VIRT_VERDICT_POLLING] = { VIRT_VERDICT_BY_WISH, "polling", "polling" },
	[VIRT_VERDICT_ASLEEP] = { VIRT_VERDICT_BY_WISH, "blocked", "blocked, as the guest asked" },
	[VIRT_VERDICT_UNSURE] = { VIRT_VERDICT_BY_UNKNOWN, "unsure",
				  "no guest code; the trace does not show what else" },
	[VIRT_VERDICT_UNKNOWN] = { VIRT_VERDICT_BY_UNKNOWN, "unknown", "unknown" },
	[VIRT_VERDICT_BEFORE] = { VIRT_VERDICT_BY_UNKNOWN, "before", "before the trace" },
	[VIRT_VERDICT_AFTER] = { VIRT_VERDICT_BY_UNKNOWN, "after", "after the trace" },
};

static const char *const names[VIRT_VERDICT_N_WORDS] = {
	[VIRT_VERDICT_HOST] = "host", [VIRT_VERDICT_RAN] = "guest",
	[VIRT_VERDICT_SLEPT] = "asleep", [VIRT_VERDICT_BOTH] = "both",
	[VIRT_VERDICT_NOT_HOST] = "not_host", [VIRT_VERDICT_NOT_COVERED] = "not_covered",
};

enum virt_verdict_side virt_verdict_side_of(enum virt_verdict_part part)
{
	return parts[part].side;
}

const char *virt_verdict_part_name(enum virt_verdict_part part)
{
	return parts[part].name;
}

const char *virt_verdict_part_words(enum virt_verdict_part part)
{
	return parts[part].words;
}

const char *virt_verdict_name(enum virt_verdict_word word)
{
	return names[word];
}

/* --- parts ------------------------------------------------------------------------------------ */

/** A walk through the intervals of a window. */
struct walk {
	const struct virt_model *model;
	struct virt_verdict	*verdict;
	int64_t			*reason_ns;	/* by virt_model_reason() */
	int32_t			reason;		/* of the last VM exit, or VIRT_NONE */
	bool			ran;		/* no VM exit since guest code */
	int64_t			kept_from_ns;	/* since when the host keeps it from running */
	bool			kept;
};

/** Between exit and entry, on a pCPU; a trace need not show who had that. */
static enum virt_verdict_part exit_part(const struct walk *walk,
					const struct virt_interval *interval,
					enum virt_verdict_part part)
{
	enum virt_exit_class class = virt_model_reason_class(walk->model, interval->detail);
	bool halts = interval->detail != VIRT_NONE && class == VIRT_EXIT_HALT;

	if (!(interval->flags & VIRT_INTERVAL_UNSPLIT))
		return halts ? VIRT_VERDICT_HALTS : part;
	/* the guest may have slept; else the host had all of the time */
	return halts || interval->detail == VIRT_NONE || class == VIRT_EXIT_HYPERCALL ?
	       VIRT_VERDICT_UNSURE : part;
}

/**
 * A vCPU sleeps after the VM exit that says so: HLT, WFx. The monitor can also hold it back after
 * any other VM exit; after some of these, the trace does not show whether the guest asked.
 */
static enum virt_verdict_part sleep_part(const struct walk *walk)
{
	/* a trace without VM exits shows sleep only if the guest asks (Xen's PV) */
	if (walk->ran)
		return VIRT_VERDICT_ASLEEP;
	if (walk->reason == VIRT_NONE)
		return VIRT_VERDICT_UNSURE;
	switch (virt_model_reason_class(walk->model, walk->reason)) {
	case VIRT_EXIT_HALT:
		return VIRT_VERDICT_ASLEEP;
	case VIRT_EXIT_INTERRUPT:
	case VIRT_EXIT_MEMORY:
	case VIRT_EXIT_IO:
	case VIRT_EXIT_REGISTER:
	case VIRT_EXIT_APIC:
	case VIRT_EXIT_EXCEPTION:
		return VIRT_VERDICT_HELD;
	default:
		return VIRT_VERDICT_UNSURE;
	}
}

static enum virt_verdict_part offline_part(const struct walk *walk, int64_t from_ns, int64_t to_ns)
{
	int32_t machine = virt_model_vcpu(walk->model, walk->verdict->vcpu)->machine;

	return virt_machine_is_offline(walk->model, machine, from_ns + (to_ns - from_ns) / 2) ?
	       VIRT_VERDICT_PAUSED : VIRT_VERDICT_STOPPED;
}

static enum virt_verdict_part part_of(const struct walk *walk, const struct virt_interval *interval,
				      int64_t from_ns, int64_t to_ns)
{
	switch (interval->state) {
	case VIRT_GUEST:
		return VIRT_VERDICT_RUNS;
	case VIRT_HYPERVISOR:
		return exit_part(walk, interval, VIRT_VERDICT_HYPERVISOR);
	case VIRT_POLLING:
		return VIRT_VERDICT_POLLING;
	case VIRT_VMM:
		return exit_part(walk, interval, VIRT_VERDICT_VMM);
	case VIRT_PREEMPTED:
		return VIRT_VERDICT_PREEMPTED;
	case VIRT_WAKING:
		return VIRT_VERDICT_WAKING;
	case VIRT_BLOCKED:
		return interval->flags & VIRT_INTERVAL_LOOSE ? VIRT_VERDICT_UNSURE :
		       interval->flags & VIRT_INTERVAL_UNASKED ? VIRT_VERDICT_ANSWER :
								 sleep_part(walk);
	case VIRT_DEVICE_MODEL:
		return VIRT_VERDICT_ANSWER;
	case VIRT_OFFLINE:
		return interval->flags & VIRT_INTERVAL_LOOSE ? VIRT_VERDICT_UNSURE :
		       interval->flags & VIRT_INTERVAL_UNASKED ? VIRT_VERDICT_ANSWER :
								 offline_part(walk, from_ns, to_ns);
	default:
		return interval->flags & VIRT_INTERVAL_UNSPLIT ? VIRT_VERDICT_UNSURE :
								 VIRT_VERDICT_UNKNOWN;
	}
}

static void end_kept(struct walk *walk, int64_t to_ns)
{
	struct virt_verdict *verdict = walk->verdict;

	if (walk->kept &&
	    to_ns - walk->kept_from_ns > verdict->longest_to_ns - verdict->longest_from_ns) {
		verdict->longest_from_ns = walk->kept_from_ns;
		verdict->longest_to_ns = to_ns;
	}
	walk->kept = false;
}

static void add_part(struct walk *walk, enum virt_verdict_part part, int64_t from_ns, int64_t to_ns)
{
	bool kept = parts[part].side == VIRT_VERDICT_BY_HOST;

	walk->verdict->ns[part] += to_ns - from_ns;
	walk->verdict->side_ns[parts[part].side] += to_ns - from_ns;
	if (!kept || !walk->kept) {
		end_kept(walk, from_ns);
		walk->kept_from_ns = from_ns;
		walk->kept = kept;
	}
	if (walk->reason != VIRT_NONE && (part == VIRT_VERDICT_HYPERVISOR ||
					  part == VIRT_VERDICT_VMM || part == VIRT_VERDICT_ANSWER))
		walk->reason_ns[walk->reason] += to_ns - from_ns;
}

/** Return: does the interval show which VM exit goes on, or that none does? */
static bool look_at(struct walk *walk, const struct virt_interval *interval)
{
	switch (interval->state) {
	case VIRT_GUEST:
	case VIRT_UNKNOWN:
		walk->reason = VIRT_NONE;
		walk->ran = interval->state == VIRT_GUEST;
		return true;
	case VIRT_HYPERVISOR:
	case VIRT_POLLING:
	case VIRT_VMM:
		walk->reason = interval->detail;
		walk->ran = false;
		return true;
	default:
		return false;
	}
}

/** A part, but for the time in which the machine's own limit holds the vCPU. */
static void add_held(struct walk *walk, enum virt_verdict_part part, int64_t from_ns,
		     int64_t to_ns)
{
	struct virt_hold_range holds = virt_vcpu_holds(walk->model, walk->verdict->vcpu, from_ns,
						       to_ns);

	for (size_t i = 0; i < holds.n; i++) {
		int64_t begin_ns = holds.first[i].from_ns, end_ns = holds.first[i].to_ns;

		if (begin_ns > from_ns) {
			add_part(walk, part, from_ns, begin_ns);
			from_ns = begin_ns;
		}
		end_ns = end_ns < to_ns ? end_ns : to_ns;
		add_part(walk, VIRT_VERDICT_LIMIT, from_ns, end_ns);
		from_ns = end_ns;
	}
	if (from_ns < to_ns)
		add_part(walk, part, from_ns, to_ns);
}

static void add_interval(struct walk *walk, const struct virt_interval *interval, int64_t end_ns)
{
	int64_t from_ns = interval->start_ns, to_ns = end_ns;
	int64_t *ns = walk->verdict->ns, before_ns;
	enum virt_verdict_part part;

	look_at(walk, interval);
	if (from_ns < walk->verdict->from_ns)
		from_ns = walk->verdict->from_ns;
	if (to_ns > walk->verdict->to_ns)
		to_ns = walk->verdict->to_ns;
	if (from_ns >= to_ns)
		return;
	part = part_of(walk, interval, from_ns, to_ns);
	before_ns = ns[part];
	add_held(walk, part, from_ns, to_ns);
	if ((part == VIRT_VERDICT_STOPPED || part == VIRT_VERDICT_PAUSED) &&
	    interval->flags & VIRT_INTERVAL_SIGNAL)
		walk->verdict->signal_ns += ns[part] - before_ns;
}

/** The VM exit that goes on when the window begins, from the intervals before. */
static void look_before(struct walk *walk, int64_t start_ns)
{
	for (int i = 0; i < MOST_BACK; i++) {
		const struct virt_interval *interval =
			virt_vcpu_at(walk->model, walk->verdict->vcpu, start_ns - 1, NULL);

		if (!interval || look_at(walk, interval))
			return;
		start_ns = interval->start_ns;
	}
}

static void add_intervals(struct walk *walk)
{
	const struct virt_verdict *verdict = walk->verdict;
	int64_t begin_ns = virt_model_begin(walk->model), end_ns = virt_model_end(walk->model);
	struct virt_interval_range range = virt_vcpu_intervals(walk->model, verdict->vcpu,
							       verdict->from_ns, verdict->to_ns);

	if (verdict->from_ns < begin_ns)
		add_part(walk, VIRT_VERDICT_BEFORE, verdict->from_ns,
			 verdict->to_ns < begin_ns ? verdict->to_ns : begin_ns);
	if (range.n)
		look_before(walk, range.first[0].start_ns);
	for (size_t i = 0; i < range.n; i++)
		add_interval(walk, &range.first[i],
			     i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns);
	if (verdict->to_ns > end_ns)
		add_part(walk, VIRT_VERDICT_AFTER,
			 verdict->from_ns > end_ns ? verdict->from_ns : end_ns, verdict->to_ns);
	end_kept(walk, verdict->to_ns);
}

/* --- verdicts --------------------------------------------------------------------------------- */

/** Keep the longest ones. */
static void find_reasons(struct walk *walk)
{
	struct virt_verdict *verdict = walk->verdict;

	for (int32_t i = 0; i < virt_model_n_reasons(walk->model); i++) {
		struct virt_culprit added = { .vcpu = i, .ns = walk->reason_ns[i] };

		if (!added.ns)
			continue;
		for (size_t j = 0; j < verdict->n_reasons; j++) {
			struct virt_culprit *other = &verdict->reasons[j];

			if (other->ns < added.ns) {
				struct virt_culprit lower = *other;

				*other = added;
				added = lower;
			}
		}
		if (verdict->n_reasons < VIRT_VERDICT_MOST)
			verdict->reasons[verdict->n_reasons++] = added;
	}
}

static void find_main_part(struct virt_verdict *verdict)
{
	verdict->part = VIRT_VERDICT_PREEMPTED;
	for (int i = 0; i < VIRT_VERDICT_N_PARTS; i++)
		if (parts[i].side == VIRT_VERDICT_BY_HOST &&
		    verdict->ns[i] > verdict->ns[verdict->part])
			verdict->part = (uint8_t)i;
}

/** The verdict if all of the unknown time is added to @side. */
static enum virt_verdict_word judge_with(const struct virt_verdict *verdict,
					 enum virt_verdict_side side)
{
	int64_t all_ns = verdict->to_ns - verdict->from_ns;
	int64_t ns[VIRT_VERDICT_BY_UNKNOWN];

	for (int i = 0; i < VIRT_VERDICT_BY_UNKNOWN; i++)
		ns[i] = verdict->side_ns[i];
	ns[side] += verdict->side_ns[VIRT_VERDICT_BY_UNKNOWN];
	return ns[VIRT_VERDICT_BY_HOST] >= all_ns - all_ns / 2 ? VIRT_VERDICT_HOST :
	       ns[VIRT_VERDICT_BY_GUEST] >= all_ns - all_ns / 10 ? VIRT_VERDICT_RAN :
	       ns[VIRT_VERDICT_BY_WISH] >= all_ns - all_ns / 2 ? VIRT_VERDICT_SLEPT :
								 VIRT_VERDICT_BOTH;
}

/** The verdict that holds whatever happened in the unknown time. */
static enum virt_verdict_word judge(const struct virt_verdict *verdict)
{
	enum virt_verdict_word word = judge_with(verdict, VIRT_VERDICT_BY_GUEST);

	for (int side = VIRT_VERDICT_BY_HOST; side < VIRT_VERDICT_BY_UNKNOWN; side++)
		if (judge_with(verdict, (enum virt_verdict_side)side) != word)
			return VIRT_VERDICT_NOT_COVERED;
	return word;
}

/** The verdict about a machine, by the vCPU that the host kept from running longest. */
static enum virt_verdict_word judge_machine(int64_t kept_ns, int64_t all_ns)
{
	return kept_ns >= all_ns - all_ns / 2 ? VIRT_VERDICT_HOST :
	       kept_ns <= all_ns / 10 ? VIRT_VERDICT_NOT_HOST : VIRT_VERDICT_BOTH;
}

/** The longest time for which the host can have kept it from running. */
static int64_t most_kept(const struct virt_verdict *verdict)
{
	return verdict->side_ns[VIRT_VERDICT_BY_HOST] + verdict->side_ns[VIRT_VERDICT_BY_UNKNOWN];
}

int virt_verdict_vcpu(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
		      int64_t to_ns, struct virt_verdict *verdict)
{
	struct walk walk = { .model = model, .verdict = verdict, .reason = VIRT_NONE };

	*verdict = (struct virt_verdict){ .from_ns = from_ns, .to_ns = to_ns, .vcpu = vcpu,
					 .other = VIRT_NONE };
	if (!virt_model_vcpu(model, vcpu) || from_ns >= to_ns)
		return -EINVAL;
	walk.reason_ns = calloc((size_t)virt_model_n_reasons(model) + 1, sizeof(*walk.reason_ns));
	if (!walk.reason_ns)
		return -ENOMEM;
	add_intervals(&walk);
	find_reasons(&walk);
	free(walk.reason_ns);
	verdict->n_culprits = virt_vcpu_culprits(model, vcpu, from_ns, to_ns, verdict->culprits,
						 VIRT_VERDICT_MOST);
	if (verdict->n_culprits > VIRT_VERDICT_MOST)
		verdict->n_culprits = VIRT_VERDICT_MOST;
	find_main_part(verdict);
	verdict->word = (uint8_t)judge(verdict);
	return 0;
}

/** Has it been offline since the trace began, and not with its machine in the window? */
static bool is_away(const struct virt_model *model, const struct virt_verdict *verdict)
{
	int64_t begin_ns = virt_model_begin(model);
	int64_t end_ns = verdict->to_ns < virt_model_end(model) ? verdict->to_ns :
								  virt_model_end(model);
	struct virt_totals totals;

	if (!verdict->ns[VIRT_VERDICT_STOPPED])
		return false;
	virt_vcpu_totals(model, verdict->vcpu, begin_ns, end_ns, &totals);
	return totals.ns[VIRT_OFFLINE] == end_ns - begin_ns;
}

int virt_verdict_machine(const struct virt_model *model, int32_t machine, int64_t from_ns,
			 int64_t to_ns, struct virt_verdict *verdict)
{
	const struct virt_machine *of = virt_model_machine(model, machine);
	struct virt_verdict most = { .vcpu = VIRT_NONE };
	int64_t all_ns = to_ns - from_ns;
	bool any = false;
	int ret;

	for (int32_t i = 0; of && i < of->n_vcpus; i++) {
		struct virt_verdict one;

		ret = virt_verdict_vcpu(model, of->vcpus[i], from_ns, to_ns, &one);
		if (ret)
			return ret;
		if (is_away(model, &one))
			continue;
		if (!any || one.side_ns[VIRT_VERDICT_BY_HOST] >
			  verdict->side_ns[VIRT_VERDICT_BY_HOST])
			*verdict = one;
		if (!any || most_kept(&one) > most_kept(&most))
			most = one;
		any = true;
	}
	if (!any)
		return -EINVAL;
	verdict->word = (uint8_t)judge_machine(verdict->side_ns[VIRT_VERDICT_BY_HOST], all_ns);
	if (verdict->word != (uint8_t)judge_machine(most_kept(&most), all_ns)) {
		*verdict = most;
		verdict->word = VIRT_VERDICT_NOT_COVERED;
	}
	return 0;
}

int virt_verdict_others(const struct virt_model *model, struct virt_verdict *verdict)
{
	const struct virt_machine *machine =
		virt_model_machine(model, virt_model_vcpu(model, verdict->vcpu)->machine);

	for (int32_t i = 0; i < machine->n_vcpus; i++) {
		struct virt_verdict one;
		int ret = 0;

		if (machine->vcpus[i] == verdict->vcpu)
			continue;
		ret = virt_verdict_vcpu(model, machine->vcpus[i], verdict->from_ns, verdict->to_ns,
					&one);
		if (ret)
			return ret;
		if (is_away(model, &one))
			continue;
		if (most_kept(&one) > verdict->others_most_ns)
			verdict->others_most_ns = most_kept(&one);
		if (verdict->other != VIRT_NONE &&
		    one.side_ns[VIRT_VERDICT_BY_HOST] <= verdict->other_ns)
			continue;
		verdict->other = machine->vcpus[i];
		verdict->other_ns = one.side_ns[VIRT_VERDICT_BY_HOST];
	}
	return 0;
}
