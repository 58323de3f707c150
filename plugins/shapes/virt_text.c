// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_text.c
 * @brief	Describe intervals, migrations and the worst moments in words.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "virt_delivery.h"
#include "escape.h"
#include "virt_affinity.h"
#include "virt_arguments.h"
#include "virt_limits.h"
#include "virt_moments.h"
#include "virt_text.h"

/** Culprits of a preemption that are named. */
#define MAX_CULPRITS	3

/** A text that grows until its room is full. */
struct text {
	char				*buf;
	size_t				size, n;
	const struct virt_model		*model;
	const struct virt_name_parts	*parts;		/* of all names of vCPUs, or NULL */
};

__attribute__((format(printf, 2, 3)))
static void add(struct text *text, const char *format, ...)
{
	va_list args;
	int n;

	if (text->n + 1 >= text->size)
		return;
	va_start(args, format);
	n = vsnprintf(text->buf + text->n, text->size - text->n, format, args);
	va_end(args);
	if (n > 0)
		text->n += n;
	if (text->n >= text->size) {
		text->n = text_cut(text->buf, text->size - 1);
		text->buf[text->n] = '\0';
		text->size = 0;
	}
}

const char *virt_text_duration(char *buf, size_t size, int64_t ns)
{
	static const struct {
		int64_t		unit_ns;
		const char	*name;
	} units[] = {
		{ 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (ns >= units[i].unit_ns) {
			snprintf(buf, size, "%.3f %s", (double)ns / (double)units[i].unit_ns,
				 units[i].name);
			return buf;
		}
	}
	snprintf(buf, size, "%lld ns", (long long)ns);
	return buf;
}

const char *virt_text_reason(const struct virt_model *model, int32_t reason)
{
	const char *name = reason < 0 ? NULL : virt_model_reason(model, reason);

	return name ? name : "unknown reason";
}

const char *virt_text_vcpu(const struct virt_model *model, int32_t vcpu)
{
	return virt_model_culprit(model, vcpu);
}

/** Who has or wants a pCPU, by name. */
static void add_who(struct text *text, int32_t who)
{
	const char *name = virt_text_vcpu(text->model, who);

	if (text->parts && virt_model_vcpu(text->model, who))
		add(text, "%s%s%s", text->parts->before, name, text->parts->after);
	else
		add(text, "%s", name);
}

/** A CPU of a machine inside another one is no physical one. */
static void add_pcpu(struct text *text, int32_t pcpu)
{
	size_t outer = text->parts ? strlen(text->parts->before) : 0;

	if (outer)
		add(text, "CPU %d of %.*s", pcpu, (int)outer - 1, text->parts->before);
	else
		add(text, "pCPU %d", pcpu);
}

const char *virt_text_pcpu(char *buf, size_t size, const struct virt_name_parts *parts,
			   int32_t pcpu)
{
	struct text text = { .buf = buf, .size = size, .parts = parts };

	add_pcpu(&text, pcpu);
	return buf;
}

static void add_culprits(struct text *text, int32_t vcpu, const struct virt_interval *interval,
			 int64_t end_ns)
{
	struct virt_culprit culprits[MAX_CULPRITS];
	size_t n = virt_vcpu_culprits(text->model, vcpu, interval->start_ns, end_ns, culprits,
				      MAX_CULPRITS);
	char time[32];

	if (!n && interval->detail != VIRT_NONE) {
		add(text, " by ");
		add_who(text, interval->detail);
	}
	for (size_t i = 0; i < n && i < MAX_CULPRITS; i++) {
		add(text, i ? ", " : " by ");
		add_who(text, culprits[i].vcpu);
		add(text, " (%s%s)", virt_text_duration(time, sizeof(time), culprits[i].ns),
		    virt_model_is_own(text->model, vcpu, culprits[i].vcpu) ?
		    ", its own machine's" : "");
	}
	if (n > MAX_CULPRITS)
		add(text, " and others");
}

/** Who had a pCPU that a vCPU waited for; nothing if it was idle. */
static void add_had_pcpu(struct text *text, int32_t pcpu, struct virt_culprit culprit)
{
	char time[32];

	if (culprit.vcpu == VIRT_NONE)
		return;
	add(text, "; ");
	add_pcpu(text, pcpu);
	add(text, " was running ");
	add_who(text, culprit.vcpu);
	add(text, " for %s", virt_text_duration(time, sizeof(time), culprit.ns));
}

/** Who had the pCPU that a woken vCPU comes to run on. */
static void add_woken(struct text *text, int32_t vcpu, const struct virt_interval *interval,
		      int64_t end_ns)
{
	const struct virt_interval *next = virt_vcpu_at(text->model, vcpu, end_ns, NULL);
	int32_t pcpu = next && virt_state_on_pcpu(next->state) ? next->pcpu : interval->pcpu;

	add_had_pcpu(text, pcpu, virt_pcpu_culprit(text->model, pcpu, interval->start_ns, end_ns));
}

/** What ended a wait, if the trace shows it. */
static void add_wait_end(struct text *text, const char *before, int32_t vcpu,
			 const struct virt_wake *wake)
{
	static const struct {
		const char	*what;
		const char	*by;		/* before its name; NULL: the name stands first */
	} words[VIRT_N_WAKES] = {
		[VIRT_WAKE_TIMER] = { "a timer of its own", "by way of" },
		[VIRT_WAKE_DEVICE] = { "the interrupt of a device", "by way of" },
		[VIRT_WAKE_VCPU] = { "another vCPU", NULL },
		[VIRT_WAKE_INTERRUPT] = { "an interrupt", "by way of" },
		[VIRT_WAKE_TASK] = { "a task", NULL },
		[VIRT_WAKE_SPURIOUS] = { "nothing that it waits for", "woken by" },
	};
	const char *name, *what;

	if (!wake || wake->cause >= VIRT_N_WAKES || !words[wake->cause].what)
		return;
	what = words[wake->cause].what;
	add(text, "; %sended by ", before);
	if (wake->who == VIRT_NONE || words[wake->cause].by)
		add(text, "%s", what);
	if (wake->who != VIRT_NONE && words[wake->cause].by)
		add(text, ", %s ", words[wake->cause].by);
	if (wake->who != VIRT_NONE)
		add_who(text, wake->who);
	name = virt_vector_name(text->model, vcpu, wake->vector);
	if (wake->vector != VIRT_NONE)
		add(text, ", vector 0x%02x%s%s", (unsigned int)wake->vector, name ? " " : "",
		    name ? name : "");
}

/** What it waited for that is woken now. */
static const struct virt_interval *wait_before(const struct virt_model *model, int32_t vcpu,
					       const struct virt_interval *interval)
{
	const struct virt_interval *wait = interval->state != VIRT_WAKING ? NULL :
					   virt_vcpu_at(model, vcpu, interval->start_ns - 1, NULL);

	return wait && wait->state == VIRT_BLOCKED ? wait : NULL;
}

static void add_last_on(struct text *text, int32_t pcpu)
{
	add(text, " (last on ");
	add_pcpu(text, pcpu);
	add(text, ")");
}

/** Why the vCPU is not in its guest. */
static void add_reason(struct text *text, int32_t vcpu, const struct virt_interval *interval)
{
	const char *argument = virt_argument_text(
		text->model, virt_argument_before(text->model, vcpu, interval->start_ns));

	add(text, ", VM exit: %s%s%s", virt_text_reason(text->model, interval->detail),
	    argument ? ": " : "", argument ? argument : "");
}

const char *virt_text_interval(char *buf, size_t size, const struct virt_model *model,
			       const struct virt_name_parts *parts, int32_t vcpu,
			       const struct virt_interval *interval, int64_t end_ns)
{
	static const char *const doing[VIRT_N_STATES] = {
		[VIRT_GUEST] = "runs guest code",
		[VIRT_HYPERVISOR] = "is in the hypervisor",
		[VIRT_POLLING] = "waits while its hypervisor polls for an event",
		[VIRT_VMM] = "is in its monitor",
		[VIRT_PREEMPTED] = "is preempted",
		[VIRT_WAKING] = "was woken and waits for a pCPU",
		[VIRT_BLOCKED] = "is blocked",
		[VIRT_DEVICE_MODEL] = "waits for its device model",
		[VIRT_OFFLINE] = "is offline",
		[VIRT_UNKNOWN] = "is in a state that the trace does not show",
	};
	bool nested = interval->state == VIRT_GUEST && interval->flags & VIRT_INTERVAL_NESTED;
	bool kept = (interval->state == VIRT_BLOCKED || interval->state == VIRT_OFFLINE) &&
		    interval->flags & VIRT_INTERVAL_UNASKED;
	struct text text = { .buf = buf, .size = size, .model = model, .parts = parts };
	const struct virt_interval *wait = interval->state == VIRT_BLOCKED ? interval :
					   wait_before(model, vcpu, interval);
	char time[32];

	add_who(&text, vcpu);
	add(&text, " %s", nested ? "runs code of its own guest" :
	    kept ? "is kept waiting" :
	    interval->state < VIRT_N_STATES ? doing[interval->state] : "?");
	if (interval->flags & VIRT_INTERVAL_ON_PCPU ||
	    (interval->pcpu != VIRT_NONE && virt_state_on_pcpu(interval->state))) {
		add(&text, " on ");
		add_pcpu(&text, interval->pcpu);
	} else if (interval->pcpu != VIRT_NONE && interval->state != VIRT_UNKNOWN) {
		add_last_on(&text, interval->pcpu);
	}
	add(&text, " for %s", virt_text_duration(time, sizeof(time), end_ns - interval->start_ns));
	if (interval->state == VIRT_PREEMPTED)
		add_culprits(&text, vcpu, interval, end_ns);
	else if (interval->state == VIRT_WAKING)
		add_woken(&text, vcpu, interval, end_ns);
	else if (virt_state_on_pcpu(interval->state) && interval->detail != VIRT_NONE)
		add_reason(&text, vcpu, interval);
	if (wait)
		add_wait_end(&text, wait == interval ? "" : "its wait was ", vcpu,
			     virt_model_wake(model, wait->detail));
	if (interval->flags & VIRT_INTERVAL_UNSPLIT)
		add(&text, interval->state == VIRT_UNKNOWN ?
		    " between a VM exit and the next entry: there is no sched_switch in it" :
		    ", not split: waits are not distinguished, there is no sched_switch");
	return buf;
}

const char *virt_text_occupant(char *buf, size_t size, const struct virt_model *model,
			       const struct virt_name_parts *parts, int32_t pcpu,
			       const struct virt_occupant *occupant, int64_t end_ns)
{
	struct text text = { .buf = buf, .size = size, .model = model, .parts = parts };
	char time[32];

	add_pcpu(&text, pcpu);
	if (!occupant->known) {
		add(&text, " is in a state that the trace does not show");
	} else if (occupant->vcpu == VIRT_NONE) {
		add(&text, " is idle");
	} else {
		add(&text, " runs ");
		add_who(&text, occupant->vcpu);
	}
	add(&text, " for %s", virt_text_duration(time, sizeof(time), end_ns - occupant->start_ns));
	return buf;
}

static void add_move(struct text *text, int32_t from, int32_t to)
{
	add_pcpu(text, from);
	add(text, " to ");
	add_pcpu(text, to);
}

const char *virt_text_migration(char *buf, size_t size, const struct virt_model *model,
				const struct virt_name_parts *parts,
				const struct virt_migration *migration)
{
	struct text text = { .buf = buf, .size = size, .model = model, .parts = parts };
	char time[32];

	add_who(&text, migration->vcpu);
	add(&text, " migrated from ");
	add_move(&text, migration->from, migration->to);
	add(&text, ", %s after it last ran",
	    virt_text_duration(time, sizeof(time), migration->gap_ns));
	return buf;
}

static void add_time(struct text *text, const char *before, int64_t ns)
{
	char time[32];

	add(text, "%s%s", before, virt_text_duration(time, sizeof(time), ns));
}

/** "name 1.2 us" of states, as a list. @asleep: those without a wish to run, else the others. */
static const char *add_states(struct text *text, const struct virt_moment *moment, bool asleep,
			      const char *before)
{
	for (int state = 0; state < VIRT_N_STATES; state++) {
		bool is_asleep = state == VIRT_BLOCKED || state == VIRT_DEVICE_MODEL ||
				 state == VIRT_OFFLINE;

		if (!moment->state_ns[state] || is_asleep != asleep)
			continue;
		add(text, "%s%s ", before, virt_state_name((enum virt_state)state));
		add_time(text, "", moment->state_ns[state]);
		before = ", ";
	}
	return before;
}

/** What a moment cost, and what of it cost nothing: asleep because the guest asked for it. */
static void add_split(struct text *text, const struct virt_moment *moment)
{
	int64_t asleep = moment->state_ns[VIRT_BLOCKED] + moment->state_ns[VIRT_DEVICE_MODEL] +
			 moment->state_ns[VIRT_OFFLINE];
	int64_t other_ns = moment->unasked_ns - moment->unasked_vmm_ns;
	const char *before = add_states(text, moment, false, ": ");

	if (moment->unasked_vmm_ns) {
		add(text, "%skept waiting by its monitor ", before);
		add_time(text, "", moment->unasked_vmm_ns);
		before = ", ";
	}
	if (other_ns) {
		add(text, "%skept waiting ", before);
		add_time(text, "", other_ns);
	}
	if (!moment->unasked_ns)
		add_states(text, moment, true, "; not counted: ");
	else if (asleep > moment->unasked_ns)
		add_time(text, "; not counted: asleep ", asleep - moment->unasked_ns);
}

static void add_exit(struct text *text, const struct virt_moment *moment)
{
	const char *argument = virt_argument_text(text->model, moment->argument);

	add_who(text, moment->vcpu);
	add(text, " VM exit %s%s%s%s on ", virt_text_reason(text->model, moment->reason),
	    argument ? ": " : "", argument ? argument : "",
	    moment->nested ? " out of a nested guest" : "");
	add_pcpu(text, moment->pcpu);
	add_time(text, " cost ", moment->cost_ns);
	add_split(text, moment);
	if (moment->unsplit)
		add(text, "; the trace does not distinguish waits");
}

/** Where the vCPU of a moment ever runs, in the whole trace: its affinity allows these pCPUs. */
static bool *find_own(const struct virt_model *model, const struct virt_moment *moment)
{
	int32_t n = virt_model_n_pcpus(model);
	bool *own = calloc((size_t)n + 1, sizeof(*own));
	struct virt_migration_range moves = virt_vcpu_migrations(model, moment->vcpu, INT64_MIN,
								 INT64_MAX);

	for (size_t i = 0; own && i < moves.n; i++) {
		if (moves.first[i].from >= 0 && moves.first[i].from < n)
			own[moves.first[i].from] = true;
		if (moves.first[i].to >= 0 && moves.first[i].to < n)
			own[moves.first[i].to] = true;
	}
	if (own && moment->pcpu >= 0 && moment->pcpu < n)
		own[moment->pcpu] = true;
	return own;
}

/** The pCPU that was idle longest, for more than half of a wait. @own: one where the vCPU runs */
static int32_t find_idle(const struct virt_model *model, const struct virt_moment *moment,
			 const bool *runs, bool own, int64_t *ns)
{
	int32_t idle = VIRT_NONE;

	*ns = (moment->cost_to_ns - moment->cost_from_ns) / 2;
	for (int32_t pcpu = 0; pcpu < virt_model_n_pcpus(model); pcpu++) {
		struct virt_pcpu_totals totals;

		if (runs[pcpu] != own)
			continue;
		virt_pcpu_totals(model, pcpu, moment->cost_from_ns, moment->cost_to_ns, &totals);
		if (totals.idle_ns <= *ns)
			continue;
		*ns = totals.idle_ns;
		idle = pcpu;
	}
	return idle;
}

/**
 * A pCPU that was idle for at least half of a wait: the vCPU need not have waited, if it may run
 * there. The sidecar shows that; else only the pCPUs where it runs some time are known.
 */
static void add_idle(struct text *text, const struct virt_moment *moment)
{
	bool *runs = find_own(text->model, moment), own = true, known;
	int32_t idle = VIRT_NONE;
	int64_t ns = 0;

	if (!runs)
		return;
	known = virt_vcpu_may_run(text->model, moment->vcpu, runs, virt_model_n_pcpus(text->model));
	idle = find_idle(text->model, moment, runs, true, &ns);
	if (!known && idle == VIRT_NONE) {
		own = false;
		idle = find_idle(text->model, moment, runs, false, &ns);
	}
	free(runs);
	if (idle == VIRT_NONE)
		return;
	add(text, "; ");
	add_pcpu(text, idle);
	add_time(text, " was idle for ", ns);
	if (own)
		return;
	add(text, ", but ");
	add_who(text, moment->vcpu);
	add(text, " never runs there: its affinity is unknown");
}

static void add_steal(struct text *text, const struct virt_moment *moment)
{
	struct virt_interval interval = { .start_ns = moment->start_ns, .detail = VIRT_NONE };
	struct virt_wait_part part = { .to_ns = moment->end_ns };
	bool moved = virt_wait_longest_part(text->model, moment, &part);

	add_who(text, moment->vcpu);
	add(text, " is preempted");
	if (moved)
		add(text, " (moved during the wait)");
	else
		add_last_on(text, moment->pcpu);
	add_time(text, " for ", moment->cost_ns);
	if (moved) {
		interval.start_ns = part.from_ns;
		add(text, ", for ");
		add_pcpu(text, part.pcpu);
		add_time(text, " it waits ", part.to_ns - part.from_ns);
	}
	add_culprits(text, moment->vcpu, &interval, part.to_ns);
}

static void add_wake(struct text *text, const struct virt_moment *moment)
{
	add_who(text, moment->vcpu);
	add(text, " waited ");
	add_time(text, "", moment->cost_ns);
	add(text, " after its wake-up");
	if (moment->complete)
		add_time(text, ", on a pCPU after ", moment->end_ns - moment->start_ns);
	if (moment->complete && moment->pcpu != VIRT_NONE) {
		add(text, " (");
		add_pcpu(text, moment->pcpu);
		add(text, ")");
	}
}

static void add_migration(struct text *text, const struct virt_moment *moment)
{
	add_who(text, moment->vcpu);
	add(text, " migrated from ");
	add_move(text, moment->from_pcpu, moment->pcpu);
	add_time(text, ", ", moment->end_ns - moment->start_ns);
	add_time(text, " after it last ran; this cost ", moment->cost_ns);
	add_split(text, moment);
}

static void add_irq(struct text *text, const struct virt_moment *moment)
{
	const char *name = virt_vector_name(text->model, moment->vcpu, moment->vector);

	add_who(text, moment->vcpu);
	add(text, " interrupt vector 0x%02x%s%s on ", (unsigned int)moment->vector,
	    name ? " " : "", name ? name : "");
	add_pcpu(text, moment->pcpu);
	add_time(text, ", from injection to handler ", moment->cost_ns);
}

static void add_loss(struct text *text, const struct virt_moment *moment)
{
	add_pcpu(text, moment->pcpu);
	add(text, ": ");
	if (moment->records)
		add(text, "%llu", (unsigned long long)moment->records);
	else
		add(text, "an unknown number of");
	add_time(text, " records lost over ", moment->cost_ns);
}

static void add_offline(struct text *text, const struct virt_moment *moment)
{
	add_who(text, moment->vcpu);
	add(text, " is offline");
	if (moment->pcpu != VIRT_NONE)
		add_last_on(text, moment->pcpu);
	add_time(text, " for ", moment->cost_ns);
	add(text, moment->held_ns == moment->cost_ns ? ", held by its cap" :
		  moment->whole_machine ? ", with its whole machine" :
					  ", others of its machine are not");
}

static void add_tsc(struct text *text, const struct virt_moment *moment)
{
	const struct virt_tsc_write *write = moment->tsc;

	add_who(text, moment->vcpu);
	add(text, " has its TSC set");
	if (write->has_before)
		add(text, " by %+lld cycles", (long long)virt_tsc_jump(write));
	add(text, ": from here on the host's plus 0x%llx", (unsigned long long)write->offset);
}

/** How long of a wait its own limit held a vCPU, or may have. */
static void add_held(struct text *text, const struct virt_moment *moment)
{
	char certain[32], most[32], held[VIRT_HELD_TEXT];

	virt_text_duration(certain, sizeof(certain), moment->held_ns);
	virt_text_duration(most, sizeof(most), moment->held_ns + moment->possible_ns);
	if (virt_held_text(held, text->model, VIRT_PREEMPTED, moment->held_ns ? certain : NULL,
			   moment->possible_ns ? most : NULL))
		add(text, "; %s", held);
}

/** When guest code goes on, counted from the moment's beginning. */
static void add_entry(struct text *text, const struct virt_moment *moment, int64_t guest_ns)
{
	if (moment->entry_ns != VIRT_NO_TIME)
		add_time(text, ", guest code after ", moment->entry_ns - moment->start_ns);
	if (guest_ns != VIRT_NO_TIME)
		add_time(text, ", the guest's first event after ", guest_ns - moment->start_ns);
	if (moment->kind == VIRT_WORST_WAKE)
		add_had_pcpu(text, moment->pcpu,
			     (struct virt_culprit){ moment->who, moment->who_ns });
	if (moment->kind == VIRT_WORST_STEAL || moment->kind == VIRT_WORST_WAKE)
		add_idle(text, moment);
	if (moment->kind != VIRT_WORST_OFFLINE)
		add_held(text, moment);
	if (!moment->begun)
		add(text, "; its beginning is not in the trace");
	if (!moment->complete)
		add(text, "; its end is not in the trace");
}

const char *virt_text_moment(char *buf, size_t size, const struct virt_model *model,
			     const struct virt_name_parts *parts,
			     const struct virt_moment *moment, int64_t guest_ns)
{
	struct text text = { .buf = buf, .size = size, .model = model, .parts = parts };

	switch (moment->kind) {
	case VIRT_WORST_EXIT:
		add_exit(&text, moment);
		break;
	case VIRT_WORST_STEAL:
		add_steal(&text, moment);
		break;
	case VIRT_WORST_WAKE:
		add_wake(&text, moment);
		break;
	case VIRT_WORST_MIGRATION:
		add_migration(&text, moment);
		break;
	case VIRT_WORST_IRQ:
		add_irq(&text, moment);
		break;
	case VIRT_WORST_OFFLINE:
		add_offline(&text, moment);
		break;
	case VIRT_WORST_TSC:
		add_tsc(&text, moment);
		break;
	default:
		add_loss(&text, moment);
	}
	add_entry(&text, moment, guest_ns);
	return buf;
}

const char *virt_text_cause(char *buf, size_t size, const struct virt_model *model,
			    const struct virt_name_parts *parts,
			    const struct virt_finding *finding)
{
	const struct virt_moment *moment = &finding->moment;
	struct text text = { .buf = buf, .size = size, .model = model, .parts = parts };

	*buf = '\0';
	switch (moment->kind) {
	case VIRT_WORST_STEAL:
		add_who(&text, moment->who);
		break;
	case VIRT_WORST_WAKE:
		if (moment->who != VIRT_NONE)
			add_who(&text, moment->who);
		break;
	case VIRT_WORST_MIGRATION:
		add_move(&text, moment->from_pcpu, moment->pcpu);
		break;
	case VIRT_WORST_IRQ:
		add(&text, "0x%02x%s%s", (unsigned int)moment->vector, *finding->what ? " " : "",
		    finding->what);
		break;
	case VIRT_WORST_LOST:
		if (moment->records)
			add(&text, "%llu records", (unsigned long long)moment->records);
		break;
	case VIRT_WORST_TSC:
		if (moment->tsc->has_before)
			add(&text, "%+lld cycles", (long long)virt_tsc_jump(moment->tsc));
		break;
	default:
		add(&text, "%s", finding->what);
	}
	return buf;
}
