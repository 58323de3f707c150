// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	check_budgets.c
 * @brief	Check whether a trace keeps limits: of machines or vCPUs, in one window or in
 *		several.
 *
 * Times, numbers and shares are those of virt_window.h, lengths those of virt_worst.h: report
 * prints the same values for the same window.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "check_budgets.h"
#include "check_tests.h"
#include "model_vcpus.h"
#include "table.h"
#include "text_columns.h"
#include "virt_delivery.h"
#include "virt_limits.h"
#include "virt_needs.h"
#include "virt_arguments.h"
#include "virt_window_walk.h"

/** What a limit is compared with. */
struct result {
	enum check_outcome outcome;
	bool		is_hidden;	/* the trace shows nothing of it: not even their number */
	bool		has_value;
	double		value;
	bool		has_no_count;	/* moments of tasks are not counted */
	uint64_t	count;		/* of moments that it is about */
	struct virt_worst_hit worst;	/* of these; kind VIRT_WORST_N_KINDS: none */
	const char	*why;		/* it is not known; until the next one is judged */
};

/** One of those that are judged: a vCPU, a machine, a task of the host, or the trace. */
struct subject {
	const char	*name;
	const struct host_task_sum *task; /* or NULL */
	const int32_t	*vcpus;		/* of which it consists */
	size_t		n;
};

/** What its vCPUs did, added up. */
struct sums {
	double		ns;		/* in the state that a limit is about */
	double		known_ns, unsplit_ns;
	double		other_ns;	/* may be in it as well: steal of an unknown kind */
	uint64_t	possible;	/* the same of holds */
	uint64_t	unseen;		/* interrupts without a handler in the guest's trace */
	uint64_t	beyond;		/* interrupts that the guest's trace does not cover */
	uint64_t	unnamed;	/* interrupts that may be of the limit's vector, or exits of
					 * its argument, as well */
	bool		unjudged;	/* no guest's trace shows the interrupts of a vCPU */
	uint64_t	count;
};

struct judging {
	const struct check_budgets *check;
	const struct virt_model	*model;
	const struct trace_notes *notes;
	const struct virt_worst	*worst;
	struct output		*out;
	struct json		json;
	struct table_writer	table;
	struct check_tests	tests;
	struct output		*line;	/* memory for a sentence */
	struct virt_window_walk	*walk;
	int32_t			*members;	/* room for all vCPUs */
	const struct check_window *window;	/* or NULL */
	int64_t			from_ns, to_ns;
	uint64_t		n[CHECK_N_OUTCOMES]; /* by outcome */
	uint64_t		n_tasks;	/* that were judged, in all windows */
	/* what is collected of a subject and a limit */
	const struct budget	*budget;
	int64_t			*costs;
	size_t			n_costs, room;
	double			cost_ns;	/* sum */
	uint64_t		n_unknown;	/* VM exits, or interrupts, without a known cost */
	bool			unsplit;
	struct virt_worst_hit	highest;
	char			advice[VIRT_ADVICE_SIZE]; /* why it is not judged */
	int			error;
};

/* --- is there such a thing? ------------------------------------------------------------------ */

/** May be "0x2f": the vector has no name. @name: room for that */
static const char *vector_name(const struct virt_model *model, int32_t vcpu, int32_t vector,
			       char name[16])
{
	const char *known = virt_vector_name(model, vcpu, vector);

	snprintf(name, 16, "0x%02x", (unsigned int)vector);
	return known ? known : name;
}

static bool has_vector(const struct budget *budget, const struct virt_model *model, int32_t vcpu,
		       int32_t vector)
{
	char name[16];

	return budget_has_reason(budget, vector_name(model, vcpu, vector, name));
}

/** A vector without a name may be the device's that a limit names; its number is no name. */
static bool may_be_vector(const struct budget *budget, const struct virt_model *model,
			  int32_t vcpu, int32_t vector)
{
	return strncasecmp(budget->reason, "0x", 2) != 0 &&
	       !virt_vector_name(model, vcpu, vector);
}

/**
 * The argument or cause that a limit is about; NULL: the trace does not show it, or it is one of
 * the rare ones that the model does not keep apart.
 */
static const char *argument_of(const struct budget *budget, const struct virt_model *model,
			       int32_t argument)
{
	const struct virt_argument *found = virt_model_argument(model, argument);

	if (budget->is_cause)
		return exit_cause_name(virt_argument_cause(model, argument));
	return found && found->kind != EXIT_ARGUMENT_OTHERS ? virt_argument_name(model, argument) :
							      NULL;
}

static bool is_in_trace(const struct budget *budget, const struct virt_model *model,
			const struct irq_list *irqs)
{
	if (budget->kind == VIRT_WORST_IRQ) {
		for (size_t i = 0; i < irqs->n; i++)
			if (has_vector(budget, model, irqs->all[i].vcpu, irqs->all[i].vector) ||
			    may_be_vector(budget, model, irqs->all[i].vcpu,
					  irqs->all[i].vector))
				return true;
		return false;
	}
	for (int32_t i = 0; i < virt_model_n_reasons(model); i++)
		if (budget_has_reason(budget, virt_model_reason(model, i)))
			return true;
	return false;
}

/** Of the reasons that a limit is about. */
static bool has_argument(const struct budget *budget, const struct virt_model *model)
{
	for (int32_t i = 0; i < virt_model_n_arguments(model); i++) {
		int32_t reason = virt_model_argument(model, i)->reason;

		if (budget_has_reason(budget, virt_model_reason(model, reason)) &&
		    budget_has_argument(budget, argument_of(budget, model, i)))
			return true;
	}
	return false;
}

void check_budgets_notes(const struct check_budgets *check, const struct virt_model *model)
{
	for (size_t i = 0; i < check->budgets->n; i++) {
		const struct budget *budget = &check->budgets->items[i];

		/* without a guest's trace, there may be such interrupts */
		if (budget->kind == VIRT_WORST_IRQ && !check->irqs->list.n)
			continue;
		if (budget->reason && !is_in_trace(budget, model, &check->irqs->list))
			ksv_note("--max %s: the trace has no %s", budget->text,
				 budget->kind == VIRT_WORST_IRQ ? "interrupt of this vector" :
				 "VM exit of this reason");
		else if (budget->argument && !has_argument(budget, model))
			ksv_note("--max %s: the trace shows no VM exit of this argument",
				 budget->text);
	}
}

bool check_budgets_need_irqs(const struct budget_list *budgets)
{
	for (size_t i = 0; i < budgets->n; i++)
		if (budgets->items[i].kind == VIRT_WORST_IRQ)
			return true;
	return false;
}

/* --- can the trace show it? ------------------------------------------------------------------ */

static enum virt_number number_of(const struct budget *budget)
{
	bool is_count = budget->statistic == BUDGET_COUNT || budget->statistic == BUDGET_RATE;

	if (is_count && budget->kind == VIRT_WORST_EXIT)
		return VIRT_NUMBER_EXITS;
	if (is_count && budget->kind == VIRT_WORST_MIGRATION)
		return VIRT_NUMBER_MIGRATIONS;
	if (budget->steal_kind != VIRT_STEAL_N_KINDS)
		return VIRT_NUMBER_CULPRITS;
	return virt_number_of_worst(budget->kind);
}

/* --- lengths --------------------------------------------------------------------------------- */

static int compare_costs(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int keep(struct judging *judging, const struct virt_worst_hit *hit)
{
	if (judging->highest.kind == VIRT_WORST_N_KINDS ||
	    hit->cost_ns > judging->highest.cost_ns)
		judging->highest = *hit;
	/* how long the others took is not known */
	if (!hit->whole)
		return 0;
	if (ARRAY_GROW(judging->costs, judging->n_costs, judging->room))
		return -ENOMEM;
	judging->costs[judging->n_costs++] = hit->cost_ns;
	judging->cost_ns += (double)hit->cost_ns;
	return 0;
}

static int collect(void *arg, const struct virt_worst_hit *hit)
{
	struct judging *judging = arg;
	struct virt_moment moment = { .reason = VIRT_NONE, .argument = VIRT_NONE };

	if (judging->budget->kind == VIRT_WORST_IRQ && judging->budget->reason &&
	    (!virt_worst_describe(judging->worst, hit, &moment) ||
	     !has_vector(judging->budget, judging->model, hit->vcpu, moment.vector)))
		return 0;
	if (judging->budget->kind == VIRT_WORST_EXIT) {
		if (!virt_worst_describe(judging->worst, hit, &moment) ||
		    !budget_has_reason(judging->budget,
				       virt_model_reason(judging->model, moment.reason)) ||
		    !budget_has_argument(judging->budget, argument_of(
			    judging->budget, judging->model, moment.argument)))
			return 0;
		judging->unsplit |= moment.unsplit;
	}
	return keep(judging, hit);
}

/** The holds of a vCPU that begin in the window. Return: 0 or -ENOMEM. */
static int collect_holds(struct judging *judging, int32_t vcpu)
{
	struct virt_hold_range holds = virt_vcpu_holds(judging->model, vcpu, judging->from_ns,
						       judging->to_ns);
	int ret = 0;

	for (size_t i = 0; i < holds.n && !ret; i++) {
		const struct virt_hold *hold = &holds.first[i];
		struct virt_worst_hit hit = {
			.time_ns = hold->from_ns, .cost_ns = hold->to_ns - hold->from_ns,
			.vcpu = vcpu, .whole = hold->complete,
		};

		if (virt_begins_in(hold->from_ns, judging->from_ns, judging->to_ns))
			ret = keep(judging, &hit);
	}
	return ret;
}

static void collect_all(struct judging *judging, const struct subject *subject)
{
	struct virt_worst_query query = {
		.from_ns = judging->from_ns, .to_ns = judging->to_ns,
		.kinds = 1u << judging->budget->kind, .of = subject->vcpus, .n_of = subject->n,
	};

	judging->n_costs = 0;
	judging->cost_ns = 0;
	judging->unsplit = false;
	judging->highest.kind = VIRT_WORST_N_KINDS;
	if (judging->budget->held) {
		for (size_t i = 0; i < subject->n && !judging->error; i++)
			judging->error = collect_holds(judging, subject->vcpus[i]);
		return;
	}
	if (virt_worst_each(judging->worst, &query, collect, judging))
		judging->error = -ENOMEM;
}

/**
 * Would the limit still be kept if no unknown cost was below it? At each end of the trace, a VM
 * exit or an interrupt of each vCPU may be cut off. A sum of costs is kept only if all others are
 * known.
 */
static bool keeps_despite_unknown(const struct judging *judging, const struct subject *subject)
{
	const struct budget *budget = judging->budget;
	uint64_t place;

	if (judging->n_unknown <= 2 * subject->n)
		return true;
	if (budget->statistic != BUDGET_LENGTH)
		return false;
	place = budget_place(budget, judging->n_costs + judging->n_unknown);
	return place <= judging->n_costs &&
	       (double)judging->costs[place - 1] <= budget->limit;
}

/** What has gone on for longer already when the trace ends counts for a maximum. */
static void take_length(struct judging *judging, struct result *result)
{
	const struct budget *budget = judging->budget;

	if (judging->n_costs) {
		qsort(judging->costs, judging->n_costs, sizeof(*judging->costs), compare_costs);
		result->value = (double)budget_percentile(budget, judging->costs,
							  judging->n_costs);
		result->has_value = true;
	}
	if (budget->per_million == 1000000 && judging->highest.kind != VIRT_WORST_N_KINDS &&
	    (!result->has_value || (double)judging->highest.cost_ns > result->value) &&
	    (double)judging->highest.cost_ns > budget->limit) {
		result->value = (double)judging->highest.cost_ns;
		result->has_value = true;
	}
}

/* --- times and numbers ----------------------------------------------------------------------- */

static uint64_t count_exits(const struct judging *judging, const struct virt_window_stats *stats,
			    struct sums *sums)
{
	const struct budget *budget = judging->budget;
	uint64_t count = 0;

	if (!budget->reason)
		return stats->exits;
	for (size_t i = 0; budget->argument && i < stats->n_arguments; i++) {
		const struct virt_window_exit *exit = &stats->arguments[i];
		const char *argument = argument_of(budget, judging->model, exit->argument);

		if (!budget_has_reason(budget, virt_model_reason(judging->model, exit->reason)))
			continue;
		if (budget_has_argument(budget, argument))
			count += exit->count;
		if (!argument && (budget->is_cause ?
		    virt_reason_for_memory(judging->model, exit->reason) :
		    virt_reason_record(judging->model, exit->reason) != VIRT_RECORD_N_KINDS))
			sums->unnamed += exit->count;
	}
	for (size_t i = 0; !budget->argument && i < stats->n_reasons; i++)
		if (budget_has_reason(budget, virt_model_reason(judging->model,
								stats->reasons[i].reason)))
			count += stats->reasons[i].count;
	return count;
}

static void add_state(struct sums *sums, const struct virt_stretches *stretches)
{
	sums->ns += (double)stretches->ns;
	sums->count += stretches->count;
}

/** Of the steal, what the machine's own limit may have held, for all that the trace shows. */
static int64_t possible_steal(const struct judging *judging, int32_t vcpu)
{
	struct virt_interval_range range = virt_vcpu_intervals(judging->model, vcpu,
							       judging->from_ns, judging->to_ns);
	int64_t ns = 0;

	for (size_t i = 0; i < range.n; i++) {
		int64_t from_ns = range.first[i].start_ns;
		int64_t to_ns = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		if (range.first[i].state != VIRT_PREEMPTED)
			continue;
		ns += virt_vcpu_held(judging->model, vcpu,
				     from_ns > judging->from_ns ? from_ns : judging->from_ns,
				     to_ns < judging->to_ns ? to_ns : judging->to_ns).possible_ns;
	}
	return ns;
}

/** The steal by one kind of culprits. */
static void add_steal_kind(struct sums *sums, const struct judging *judging, int32_t vcpu,
			   const struct virt_window_stats *stats)
{
	int64_t ns[VIRT_STEAL_N_KINDS];
	enum virt_steal_kind kind = judging->budget->steal_kind;

	virt_steal_split(judging->model, vcpu, judging->from_ns, judging->to_ns, stats->culprits,
			 stats->n_culprits, ns);
	sums->ns += (double)ns[kind];
	if (kind == VIRT_STEAL_LIMIT)
		sums->other_ns += (double)possible_steal(judging, vcpu);
	else if (kind != VIRT_STEAL_UNKNOWN)
		sums->other_ns += (double)ns[VIRT_STEAL_UNKNOWN];
	sums->count += stats->states[VIRT_PREEMPTED].count;
}

/** Deliveries that were injected in the window; the latencies come from the worst moments. */
static void add_irqs(struct sums *sums, const struct judging *judging, int32_t vcpu)
{
	const struct model_irqs *irqs = judging->check->irqs;
	size_t n;
	const struct virt_irq_delivery *irq = model_irqs_of(irqs, vcpu, judging->from_ns,
							    judging->to_ns, &n);

	if (!irqs->judged[vcpu])
		sums->unjudged = true;
	for (; n--; irq++) {
		if (judging->budget->reason &&
		    !has_vector(judging->budget, judging->model, vcpu, irq->vector)) {
			sums->unnamed += may_be_vector(judging->budget, judging->model, vcpu,
						       irq->vector);
			continue;
		}
		sums->count += irq->result != VIRT_DELIVERY_UNJUDGED;
		sums->unseen += irq->result == VIRT_DELIVERY_NOT_SEEN;
		sums->beyond += irq->result == VIRT_DELIVERY_UNJUDGED;
	}
}

static void add_holds(struct sums *sums, const struct judging *judging, int32_t vcpu)
{
	struct virt_held held = virt_vcpu_held(judging->model, vcpu, judging->from_ns,
					       judging->to_ns);

	sums->ns += (double)held.ns;
	sums->other_ns += (double)held.possible_ns;
	sums->count += held.count;
	sums->possible += held.possible;
}

static void add_vcpu(struct sums *sums, const struct judging *judging, int32_t vcpu)
{
	const struct virt_window_stats *stats = virt_window_walk_vcpu(judging->walk, vcpu);

	sums->known_ns += (double)stats->known_ns;
	for (int state = 0; state < VIRT_N_STATES; state++)
		sums->unsplit_ns += (double)stats->unsplit_ns[state];
	if (judging->budget->held)
		add_holds(sums, judging, vcpu);
	switch (judging->budget->kind) {
	case VIRT_WORST_EXIT:
		sums->count += count_exits(judging, stats, sums);
		break;
	case VIRT_WORST_STEAL:
		if (judging->budget->steal_kind != VIRT_STEAL_N_KINDS)
			add_steal_kind(sums, judging, vcpu, stats);
		else
			add_state(sums, &stats->states[VIRT_PREEMPTED]);
		break;
	case VIRT_WORST_WAKE:
		add_state(sums, &stats->states[VIRT_WAKING]);
		break;
	case VIRT_WORST_MIGRATION:
		sums->count += stats->migrations;
		break;
	case VIRT_WORST_IRQ:
		add_irqs(sums, judging, vcpu);
		break;
	case VIRT_WORST_LOST:
	case VIRT_WORST_OFFLINE:
	case VIRT_WORST_TSC:
	case VIRT_WORST_N_KINDS:
		break;
	}
}

/** A number or rate, of what was counted and @more. */
static double value_with(const struct judging *judging, const struct sums *sums, uint64_t more)
{
	double count = (double)(sums->count + more);

	return judging->budget->statistic == BUDGET_RATE ? 1e9 * count / sums->known_ns : count;
}

static void take_value(struct judging *judging, const struct sums *sums, struct result *result)
{
	bool is_state = judging->budget->kind == VIRT_WORST_STEAL ||
			judging->budget->kind == VIRT_WORST_WAKE || judging->budget->held;

	switch (judging->budget->statistic) {
	case BUDGET_LENGTH:
		take_length(judging, result);
		return;
	case BUDGET_COUNT:
	case BUDGET_RATE:
		result->value = value_with(judging, sums, 0);
		break;
	case BUDGET_SHARE:
		result->value = 100 * (is_state ? sums->ns : judging->cost_ns) / sums->known_ns;
		break;
	}
	result->has_value = true;
}

/* --- judging --------------------------------------------------------------------------------- */

#define WHY_POSSIBLE	"the trace does not show whether the quota was the cause of all waits"

/** Might a limit of holds be exceeded, or kept, if those that are only possible are holds? */
static bool depends_on_possible(const struct judging *judging, const struct sums *sums,
				bool exceeded)
{
	const struct budget *budget = judging->budget;

	if (!budget->held || !sums->possible)
		return false;
	switch (budget->statistic) {
	case BUDGET_LENGTH:
		return !exceeded || budget->per_million != 1000000;
	case BUDGET_COUNT:
	case BUDGET_RATE:
		return !exceeded && value_with(judging, sums, sums->possible) > budget->limit;
	case BUDGET_SHARE:
		break;
	}
	return false;
}

/**
 * Where the trace does not show who has a pCPU, waits are missing: their true sum is larger than
 * the one seen. VM exits contain these waits in their cost: their true sum is smaller.
 */
static void judge(struct judging *judging, const struct subject *subject,
		  const struct sums *sums, struct result *result)
{
	const struct budget *budget = judging->budget;
	bool exceeded = result->has_value && result->value > budget->limit;
	bool is_exit = budget->kind == VIRT_WORST_EXIT;
	bool is_cost = budget->statistic == BUDGET_SHARE || budget->statistic == BUDGET_LENGTH;

	result->outcome = exceeded ? CHECK_EXCEEDED : CHECK_WITHIN;
	if (!(sums->known_ns > 0)) {
		result->why = "the trace shows nothing of this time";
		result->outcome = CHECK_UNKNOWN;
	} else if (is_exit ? exceeded && is_cost && judging->unsplit :
			     !exceeded && sums->unsplit_ns > 0 && !budget->held) {
		result->why = "waits for a pCPU were not recorded: record sched_switch and "
			      "sched_wakeup, or Xen's scheduler";
		result->outcome = CHECK_UNKNOWN;
	} else if (depends_on_possible(judging, sums, exceeded)) {
		result->why = WHY_POSSIBLE;
		result->outcome = CHECK_UNKNOWN;
	} else if (!exceeded && sums->other_ns > 0 && budget->statistic == BUDGET_SHARE &&
		   100 * (sums->ns + sums->other_ns) / sums->known_ns > budget->limit) {
		result->why = budget->held || budget->steal_kind == VIRT_STEAL_LIMIT ?
			      WHY_POSSIBLE :
			      "the trace does not show who had the pCPU for a part of the steal";
		result->outcome = CHECK_UNKNOWN;
	} else if (!exceeded && is_exit && sums->unnamed &&
		   (is_cost ? !keeps_despite_unknown(judging, subject) :
			      value_with(judging, sums, sums->unnamed) > budget->limit)) {
		snprintf(judging->advice, sizeof(judging->advice), "the trace does not show what "
			 "%llu VM exits were for, see report --exits",
			 (unsigned long long)sums->unnamed);
		result->why = judging->advice;
		result->outcome = CHECK_UNKNOWN;
	} else if (!exceeded && is_exit && is_cost &&
		   !keeps_despite_unknown(judging, subject)) {
		snprintf(judging->advice, sizeof(judging->advice), "the costs of %llu of %llu VM "
			 "exits are unknown", (unsigned long long)judging->n_unknown,
			 (unsigned long long)sums->count);
		result->why = judging->advice;
		result->outcome = CHECK_UNKNOWN;
	}
}

/** Which interrupts have no known latency. Return: the advice of @judging. */
static const char *why_irqs_unknown(struct judging *judging, const struct sums *sums)
{
	if (sums->unnamed)
		snprintf(judging->advice, sizeof(judging->advice), "%llu interrupts have vectors "
			 "without a name: record irq_handler_entry in the guest",
			 (unsigned long long)sums->unnamed);
	else
		snprintf(judging->advice, sizeof(judging->advice), "the guest's trace shows no "
			 "handler of %llu of %llu interrupts",
			 (unsigned long long)sums->unseen, (unsigned long long)sums->count);
	return judging->advice;
}

/** Only traces of guests show their latency. */
static void judge_irqs(struct judging *judging, const struct subject *subject,
		       const struct sums *sums, struct result *result)
{
	bool exceeded = result->has_value && result->value > judging->budget->limit;

	result->outcome = exceeded ? CHECK_EXCEEDED : CHECK_WITHIN;
	if (exceeded)
		return;
	result->is_hidden = sums->unjudged;
	if (sums->unjudged)
		result->why = "no aligned trace of the guest shows its interrupts, or the host's "
			      "trace has no injections: give the guest's trace, too";
	else if (!sums->count && sums->beyond)
		result->why = "the guest's trace does not cover this time";
	else if (!keeps_despite_unknown(judging, subject))
		result->why = why_irqs_unknown(judging, sums);
	if (result->why)
		result->outcome = CHECK_UNKNOWN;
}

/* --- tasks of the host ----------------------------------------------------------------------- */

/** A statistic of a distribution. Return: VIRT_N_STATS: it is none. */
static enum virt_stat stat_of(const struct budget *budget)
{
	int stat = 0;

	if (budget->per_million == 1000000)
		return VIRT_STAT_MAX;
	while (stat < VIRT_N_STATS &&
	       virt_stat_look((enum virt_stat)stat)->per_mille * 1000 != budget->per_million)
		stat++;
	return (enum virt_stat)stat;
}

static bool is_of_tasks(const struct budget *budget)
{
	if (budget->steal_kind != VIRT_STEAL_N_KINDS)
		return false;
	switch (budget->kind) {
	case VIRT_WORST_WAKE:
		return budget->statistic != BUDGET_LENGTH || stat_of(budget) != VIRT_N_STATS;
	case VIRT_WORST_STEAL:
		return budget->statistic == BUDGET_SHARE;
	case VIRT_WORST_MIGRATION:
		return budget->statistic == BUDGET_COUNT || budget->statistic == BUDGET_RATE;
	default:
		return budget->kind == VIRT_WORST_LOST;
	}
}

const struct budget *check_budgets_of_tasks(const struct budget_list *budgets)
{
	for (size_t i = 0; i < budgets->n; i++)
		if (!is_of_tasks(&budgets->items[i]))
			return &budgets->items[i];
	return NULL;
}

/** As for vCPUs, the part of the window that the trace shows counts. */
static void judge_value(const struct judging *judging, const struct host_task_sum *task,
			struct result *result)
{
	const struct budget *budget = judging->budget;
	int64_t known_ns = judging->to_ns - judging->from_ns - task->ns[VIRT_LIFE_ABSENT] -
			   host_task_unknown_ns(task, judging->from_ns, judging->to_ns);
	int64_t waited_ns = task->ns[budget->kind == VIRT_WORST_STEAL ? VIRT_LIFE_PREEMPTED :
									VIRT_LIFE_WAKING];

	result->count = budget->kind == VIRT_WORST_MIGRATION ? task->migrations : task->wake.count;
	result->has_no_count = budget->kind == VIRT_WORST_STEAL;
	result->has_value = known_ns > 0;
	if (!result->has_value) {
		result->outcome = CHECK_UNKNOWN;
		result->why = "the trace shows nothing of this time";
		return;
	}
	switch (budget->statistic) {
	case BUDGET_SHARE:
		result->value = 100 * (double)waited_ns / (double)known_ns;
		break;
	case BUDGET_COUNT:
		result->value = (double)result->count;
		break;
	case BUDGET_RATE:
		result->value = 1e9 * (double)result->count / (double)known_ns;
		break;
	case BUDGET_LENGTH:
		result->has_value = task->wake.count > 0;
		result->value = (double)virt_dist_stat(&task->wake, stat_of(budget));
		break;
	}
	if (result->has_value && result->value > budget->limit)
		result->outcome = CHECK_EXCEEDED;
}

static struct result judge_task(struct judging *judging, const struct host_task_sum *task)
{
	struct result result = { .worst.kind = VIRT_WORST_N_KINDS };
	enum virt_number number = judging->budget->kind == VIRT_WORST_WAKE ? VIRT_NUMBER_WAKING :
									     VIRT_NUMBER_TASKS;

	if (virt_model_knows(judging->model, number)) {
		judge_value(judging, task, &result);
		return result;
	}
	result.outcome = CHECK_UNKNOWN;
	result.is_hidden = true;
	result.why = virt_model_advice(judging->model, number, judging->advice,
				       sizeof(judging->advice));
	return result;
}

/** Does the trace show what a limit is about? If not, @result has the reason. */
static bool is_shown(struct judging *judging, struct result *result)
{
	enum virt_number number = number_of(judging->budget);

	bool is_limit = judging->budget->held || judging->budget->steal_kind == VIRT_STEAL_LIMIT;

	if (is_limit && !virt_model_knows_holds(judging->model))
		result->why = virt_model_hypervisor(judging->model) == VIRT_KVM ?
			      "the sidecar lacks cgroups of vCPUs, or the trace lacks "
			      "sched_switch or sched_wakeup: record with kshark-virt record" :
			      "the trace has no records of credit2 or RTDS: record the part "
			      "sched.scheduler (-e 0x22000)";
	else if (!judging->budget->held && !virt_model_knows(judging->model, number))
		result->why = virt_model_advice(judging->model, number, judging->advice,
						sizeof(judging->advice));
	else
		return true;
	result->outcome = CHECK_UNKNOWN;
	result->is_hidden = true;
	return false;
}

static struct result judge_subject(struct judging *judging, const struct subject *subject)
{
	struct result result = { .worst.kind = VIRT_WORST_N_KINDS };
	struct sums sums = { 0 };

	if (subject->task)
		return judge_task(judging, subject->task);
	if (!is_shown(judging, &result))
		return result;
	for (size_t i = 0; i < subject->n; i++)
		add_vcpu(&sums, judging, subject->vcpus[i]);
	collect_all(judging, subject);
	result.count = sums.count;
	result.worst = judging->highest;
	if (sums.known_ns > 0)
		take_value(judging, &sums, &result);
	judging->n_unknown = sums.count > judging->n_costs ? sums.count - judging->n_costs : 0;
	judging->n_unknown += sums.unnamed;
	if (judging->budget->kind == VIRT_WORST_IRQ)
		judge_irqs(judging, subject, &sums, &result);
	else
		judge(judging, subject, &sums, &result);
	return result;
}

/** Judges the whole trace, no vCPU. */
static struct result judge_losses(struct judging *judging)
{
	struct virt_loss_sum sum = virt_model_count_losses(judging->model, VIRT_NONE,
							   judging->from_ns, judging->to_ns);
	struct result result = { .has_value = true, .worst.kind = VIRT_WORST_N_KINDS };

	result.count = sum.losses;
	result.value = (double)result.count;
	result.outcome = result.value > judging->budget->limit ? CHECK_EXCEEDED : CHECK_WITHIN;
	return result;
}

/* --- writing --------------------------------------------------------------------------------- */

static void text_value(const struct budget *budget, double value, char *text, size_t size)
{
	if (budget_is_time(budget))
		format_duration(text, size, (int64_t)value);
	else if (budget->statistic == BUDGET_COUNT)
		snprintf(text, size, "%.0f", value);
	else
		snprintf(text, size, "%.3f%s%s", value, budget->statistic == BUDGET_RATE ? "" : " ",
			 budget->statistic == BUDGET_RATE ? "/s" : "%");
}

static void text_window(const struct judging *judging, struct output *out)
{
	out_ns(out, judging->from_ns, 0);
	out_str(out, " .. ");
	out_ns(out, judging->to_ns, 0);
	if (judging->window->name) {
		out_char(out, ' ');
		out_text(out, judging->window->name);
	}
}

static void text_worst(const struct judging *judging, const struct result *result,
		       struct output *out)
{
	static const char *const nouns[VIRT_WORST_N_KINDS + 1] = {
		[VIRT_WORST_EXIT] = "VM exits", [VIRT_WORST_STEAL] = "preemptions",
		[VIRT_WORST_WAKE] = "wake-ups", [VIRT_WORST_MIGRATION] = "migrations",
		[VIRT_WORST_IRQ] = "interrupts", [VIRT_WORST_N_KINDS] = "holds",
	};
	char text[32];

	out_printf(out, " (%llu %s", (unsigned long long)result->count,
		   nouns[judging->budget->kind]);
	if (result->worst.kind != VIRT_WORST_N_KINDS) {
		format_duration(text, sizeof(text), result->worst.cost_ns);
		out_printf(out, "; the worst took %s%s, of ",
			   result->worst.whole ? "" : "at least ", text);
		out_text(out, virt_model_vcpu(judging->model, result->worst.vcpu)->name);
		out_str(out, ", at ");
		out_ns(out, result->worst.time_ns, 0);
		out_str(out, " s");
	}
	out_char(out, ')');
}

/** Value, limit and place of what is not within its limit. */
static void text_sentence(const struct judging *judging, const struct result *result,
			  struct output *out)
{
	const struct budget *budget = judging->budget;
	char value[64], limit[64];

	text_value(budget, budget->limit, limit, sizeof(limit));
	text_value(budget, result->value, value, sizeof(value));
	if (result->outcome == CHECK_UNKNOWN && result->has_value)
		out_printf(out, "seen %s; it is unknown, as %s", value, result->why);
	else if (result->outcome == CHECK_UNKNOWN)
		out_printf(out, "unknown, as %s", result->why);
	else
		out_printf(out, "%s is more than %s", value, limit);
	if (budget->kind != VIRT_WORST_LOST && result->has_value && !result->has_no_count)
		text_worst(judging, result, out);
}

/** Only what is not within its limit. */
static void write_text(const struct judging *judging, const struct subject *subject,
		       const struct result *result)
{
	struct output *out = judging->out;

	if (result->outcome == CHECK_WITHIN)
		return;
	if (judging->window) {
		text_window(judging, out);
		out_str(out, ": ");
	}
	out_style(out, result->outcome == CHECK_EXCEEDED ? OUT_BAD : OUT_WARNING);
	out_text(out, subject->name);
	out_char(out, ' ');
	out_text(out, judging->budget->text);
	out_style(out, OUT_PLAIN);
	out_str(out, ": ");
	text_sentence(judging, result, out);
	out_char(out, '\n');
}

/* --- tests of continuous integration --------------------------------------------------------- */

static bool writes_tests(const struct judging *judging)
{
	return judging->check->format == CHECK_JUNIT || judging->check->format == CHECK_TAP;
}

static void tests_begin(struct judging *judging, const struct subject *subject)
{
	const char *window = NULL;

	if (judging->window) {
		out_collect(judging->line);
		text_window(judging, judging->line);
		window = out_collected(judging->line);
	}
	if (check_tests_of(&judging->tests, subject->name, window))
		judging->error = -ENOMEM;
}

static void test_result(struct judging *judging, const struct result *result)
{
	struct check_test test = { .limit = judging->budget->text, .outcome = result->outcome };

	if (result->outcome != CHECK_WITHIN) {
		out_collect(judging->line);
		text_sentence(judging, result, judging->line);
		test.sentence = out_collected(judging->line);
		/* names in it are too long */
		if (!test.sentence)
			test.sentence = check_outcome_names[result->outcome];
	}
	if (check_test_put(&judging->tests, &test))
		judging->error = -ENOMEM;
}

/* --- rows ------------------------------------------------------------------------------------ */

static const struct table_column columns[] = {
	{ .key = "from_ns", .type = TABLE_TIME },
	{ .key = "to_ns", .type = TABLE_TIME },
	{ .key = "window" },
	{ .key = "of" },
	{ .key = "limit_of" },
	{ .key = "value", .type = TABLE_RATE },
	{ .key = "limit", .type = TABLE_RATE },
	{ .key = "unit" },
	{ .key = "result" },
	{ .key = "why", .not_csv = true },
	{ .key = "count", .type = TABLE_COUNT },
	{ .key = "worst_ns", .type = TABLE_NS },
	{ .key = "worst_time_ns", .type = TABLE_TIME },
	{ .key = "worst_vcpu" },
};

static const struct table table = { .rows = { .key = "limits", TABLE_COLUMNS(columns) } };

static void result_row(struct judging *judging, const struct subject *subject,
		       const struct result *result)
{
	const struct budget *budget = judging->budget;
	const struct virt_worst_hit *worst = &result->worst;
	bool is_known = !result->is_hidden;
	bool has_worst = is_known && worst->kind != VIRT_WORST_N_KINDS;
	struct table_cell none = is_known ? table_absent() : table_unknown();
	char name[300];

	snprintf(name, sizeof(name), "%.*s", (int)budget_name_size(budget), budget->text);
	table_row(&judging->table, (const struct table_cell[]){
		table_number(judging->from_ns), table_number(judging->to_ns),
		table_optional_name(judging->window ? judging->window->name : NULL),
		table_name(subject->name), table_name(name),
		!result->has_value && result->outcome == CHECK_UNKNOWN ? table_unknown() :
		table_rate(result->has_value, result->value),
		table_rate(true, budget->limit), table_name(budget_unit(budget)),
		table_name(check_outcome_names[result->outcome]), table_optional_name(result->why),
		!is_known || result->has_no_count ? none : table_number((int64_t)result->count),
		has_worst ? table_number(worst->cost_ns) : none,
		has_worst ? table_number(worst->time_ns) : none,
		has_worst ? table_name(virt_model_vcpu(judging->model, worst->vcpu)->name) : none,
	});
}

static void budget_result(struct judging *judging, const struct subject *subject,
			  const struct result *result)
{
	judging->n[result->outcome]++;
	if (writes_tests(judging))
		test_result(judging, result);
	else if (judging->check->format == CHECK_TEXT)
		write_text(judging, subject, result);
	else
		result_row(judging, subject, result);
}

static void write_begin(struct judging *judging)
{
	bool is_json = judging->check->format == CHECK_JSON;

	if (judging->check->format == CHECK_TEXT)
		return;
	if (writes_tests(judging)) {
		check_tests_begin(&judging->tests, judging->out,
				  judging->check->format == CHECK_JUNIT);
		return;
	}
	if (is_json) {
		json_document(&judging->json, judging->out);
		json_warnings(&judging->json, judging->notes);
	}
	judging->table = (struct table_writer){
		.table = &table, .format = is_json ? &table_json : &table_csv,
		.out = judging->out, .json = &judging->json,
	};
	table_flat(&judging->table, true);
}

static void write_end(struct judging *judging)
{
	unsigned long long within = judging->n[CHECK_WITHIN], exceeded = judging->n[CHECK_EXCEEDED],
			   unknown = judging->n[CHECK_UNKNOWN];

	if (judging->check->format == CHECK_TEXT) {
		out_style(judging->out, exceeded ? OUT_BAD : unknown ? OUT_WARNING : OUT_GOOD);
		out_printf(judging->out, "%llu of %llu limits exceeded", exceeded,
			   within + exceeded + unknown);
		if (unknown)
			out_printf(judging->out, ", %llu unknown", unknown);
		out_style(judging->out, OUT_PLAIN);
		out_char(judging->out, '\n');
	}
	if (writes_tests(judging))
		check_tests_end(&judging->tests);
	if (judging->check->format != CHECK_JSON)
		return;
	table_flat_end(&judging->table);
	json_u64(&judging->json, "within", within);
	json_u64(&judging->json, "exceeded", exceeded);
	json_u64(&judging->json, "unknown", unknown);
	json_document_end(&judging->json);
}

/* --- all of them ----------------------------------------------------------------------------- */

/** The losses of the trace, if @losses; else what vCPUs suffer. */
static void judge_budgets(struct judging *judging, const struct subject *subject, bool losses)
{
	const struct budget_list *budgets = judging->check->budgets;

	for (size_t i = 0; i < budgets->n && !judging->error; i++) {
		struct result result;

		judging->budget = &budgets->items[i];
		if ((judging->budget->kind == VIRT_WORST_LOST) != losses)
			continue;
		result = losses ? judge_losses(judging) : judge_subject(judging, subject);
		if (!judging->error)
			judging->error = virt_window_walk_error(judging->walk);
		if (!judging->error)
			budget_result(judging, subject, &result);
	}
}

static void judge_all(struct judging *judging, const struct subject *subject, bool losses)
{
	const struct budget_list *budgets = judging->check->budgets;
	size_t n = 0;

	for (size_t i = 0; i < budgets->n; i++)
		n += (budgets->items[i].kind == VIRT_WORST_LOST) == losses;
	if (!n)
		return;
	if (writes_tests(judging))
		tests_begin(judging, subject);
	if (judging->error)
		return;
	judge_budgets(judging, subject, losses);
	if (writes_tests(judging) && check_tests_of_end(&judging->tests))
		judging->error = -ENOMEM;
}

static void judge_machine(struct judging *judging, const struct virt_machine *machine)
{
	struct subject subject = { .name = machine->name, .vcpus = judging->members };

	for (int32_t i = 0; i < machine->n_vcpus; i++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(judging->model, machine->vcpus[i]);

		if (!model_wants_vcpu(judging->model, machine->vcpus[i], judging->check->vcpus))
			continue;
		judging->members[subject.n++] = machine->vcpus[i];
		if (judging->check->per == CHECK_PER_MACHINE)
			continue;
		subject.name = vcpu->name;
		judge_all(judging, &subject, false);
		subject.n = 0;
	}
	if (subject.n)
		judge_all(judging, &subject, false);
}

/** "sh-120", "sh" or "120": any of them may fit. */
static bool task_fits(const char *pattern, const char *name, int32_t pid)
{
	const char *end = strrchr(name, '-');
	char short_name[GUEST_TASK_FULL_NAME], number[16];

	snprintf(short_name, sizeof(short_name), "%.*s", end ? (int)(end - name) : 0, name);
	snprintf(number, sizeof(number), "%d", pid);
	return !fnmatch(pattern, name, 0) || !fnmatch(pattern, short_name, 0) ||
	       !fnmatch(pattern, number, 0);
}

static void judge_tasks(struct judging *judging, int64_t from_ns, int64_t to_ns)
{
	const struct check_budgets *check = judging->check;
	struct host_task_sums sums;
	char name[GUEST_TASK_FULL_NAME];

	judging->error = host_task_sums_make(&sums, check->tasks, judging->model, from_ns, to_ns);
	for (size_t i = 0; i < sums.n && !judging->error; i++) {
		const struct subject subject = { .name = name, .task = &sums.all[i] };

		/* idle tasks want nothing */
		if (!sums.all[i].pid)
			continue;
		guest_tasks_name(name, sizeof(name), &check->tasks->tasks, sums.all[i].pid);
		if (!task_fits(check->task, name, sums.all[i].pid))
			continue;
		judging->n_tasks++;
		judge_all(judging, &subject, false);
	}
	host_task_sums_free(&sums);
}

/** Arguments of exits cost more than the rest. */
static unsigned int parts_of(const struct budget_list *budgets)
{
	for (size_t i = 0; i < budgets->n; i++)
		if (budgets->items[i].argument)
			return VIRT_WINDOW_EXITS | VIRT_WINDOW_ARGUMENTS;
	return 0;
}

static void judge_window(struct judging *judging, int64_t from_ns, int64_t to_ns)
{
	struct virt_window_query query = {
		.from_ns = from_ns, .to_ns = to_ns, .parts = parts_of(judging->check->budgets),
	};
	const struct subject trace = { .name = "trace" };

	judging->from_ns = from_ns;
	judging->to_ns = to_ns;
	judging->walk = virt_window_walk_new(judging->model, &query);
	if (!judging->walk) {
		judging->error = -ENOMEM;
		return;
	}
	if (judging->check->task)
		judge_tasks(judging, from_ns, to_ns);
	for (int32_t i = 0; i < virt_model_n_machines(judging->model) && !judging->error &&
	     !judging->check->task; i++)
		judge_machine(judging, virt_model_machine(judging->model, i));
	if (!judging->error)
		judge_all(judging, &trace, true);
	virt_window_walk_free(judging->walk);
}

/** Times may be as far apart as a time can be. */
static int64_t shifted(int64_t time, int64_t by)
{
	int64_t sum;

	return __builtin_add_overflow(time, by, &sum) ? by < 0 ? INT64_MIN : INT64_MAX : sum;
}

static void judge_windows(struct judging *judging, const struct model_load *load)
{
	const struct check_budgets *check = judging->check;
	const struct check_windows *windows = check->windows;

	if (!windows->n)
		judge_window(judging, check->from_ns, check->to_ns);
	for (size_t i = 0; i < windows->n && !judging->error; i++) {
		const struct check_window *window = &windows->items[i];
		int64_t from = model_time(load, &window->from, 0);
		int64_t to = model_time(load, &window->to, from);

		judging->window = window;
		if (window->to.kind == KSV_TIME_NONE)
			judge_window(judging, shifted(from, -check->around_ns),
				     shifted(from, check->around_ns));
		else
			judge_window(judging, from, to);
	}
}

/** Is the product of what was asked for too large? Then there is a message. */
static bool is_too_much(const struct judging *judging)
{
	struct model_extent extent = model_extent(judging->model, judging->check->vcpus,
						  virt_model_begin(judging->model),
						  virt_model_end(judging->model));
	uint64_t windows = judging->check->windows->n, limits = judging->check->budgets->n;
	const struct host_tasks *tasks = judging->check->tasks;
	uint64_t subjects = tasks ? (uint64_t)tasks->lives.n_tasks : extent.vcpus;

	/* there are 100,000 windows and 2^31 vCPUs at most */
	if (!windows || !subjects || limits <= extent.most_rows / (windows * subjects))
		return false;
	if (tasks) {
		ksv_error("%llu windows times %llu tasks times %llu limits are too many: at most "
			  "%llu results are written: give fewer windows",
			  (unsigned long long)windows, (unsigned long long)subjects,
			  (unsigned long long)limits, (unsigned long long)extent.most_rows);
		return true;
	}
	ksv_error("%llu windows times %llu vCPUs times %llu limits are too many: for %llu changes "
		  "of state, at most %llu results are written: give fewer windows, or select vCPUs "
		  "with --vcpu", (unsigned long long)windows, (unsigned long long)extent.vcpus,
		  (unsigned long long)limits, (unsigned long long)extent.states,
		  (unsigned long long)extent.most_rows);
	return true;
}

int check_budgets_run(const struct check_budgets *check, const struct model_load *load,
		      struct output *out)
{
	static struct output line;
	struct judging judging = {
		.check = check, .model = load->model, .notes = &load->notes, .out = out,
		.line = &line,
		.worst = virt_worst_new(load->model, false, check->irqs->list.all,
					check->irqs->list.n),
		.members = calloc((size_t)virt_model_n_vcpus(load->model) + 1, sizeof(int32_t)),
	};
	bool too_much = is_too_much(&judging);

	if (!judging.worst || !judging.members)
		judging.error = -ENOMEM;
	if (!too_much) {
		write_begin(&judging);
		if (!judging.error)
			judge_windows(&judging, load);
		write_end(&judging);
	}
	virt_worst_free((struct virt_worst *)(uintptr_t)judging.worst);
	free(judging.members);
	free(judging.costs);
	if (judging.error)
		ksv_error("not enough memory");
	if (judging.error || too_much)
		return KSV_EXIT_FILE;
	if (check->task && !judging.n_tasks) {
		ksv_error("%s: --task %s: the trace shows no such task of the host", load->path,
			  check->task);
		return KSV_EXIT_UNKNOWN;
	}
	return judging.n[CHECK_EXCEEDED] ? KSV_EXIT_FINDINGS :
	       judging.n[CHECK_UNKNOWN] ? KSV_EXIT_UNKNOWN : KSV_EXIT_OK;
}
