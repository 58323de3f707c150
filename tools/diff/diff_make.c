// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	diff_make.c
 * @brief	Find the changes of the activity of vCPUs.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "diff.h"
#include "virt_arguments.h"
#include "virt_needs.h"

#define NS_PER_S	1000000000

/** Of a window of a few ns; more is no number. */
#define MOST_MOVES	(INT64_C(1) << 62)

/** Something with a name that took time. */
struct named {
	const char	*reason;		/* of the arguments of VM exits; else "" */
	const char	*name, *cause;		/* without a cause, "" */
	bool		unnamed;		/* the name says that the argument is not known */
	uint64_t	count;
	int64_t		ns;
};

/** What a vCPU did on one side. */
struct life {
	const char	*machine;
	int64_t		machine_id;
	bool		by_id;			/* the machine's number identifies it */
	int		id;
	const char	*name;
	const struct virt_model *model;		/* which knows what was recorded */
	int64_t		known_ns;
	int64_t		state_ns[VIRT_N_STATES];
	uint64_t	begun[VIRT_N_STATES];
	uint64_t	migrations;
	int64_t		wake_ns;
	struct named	*exits, *culprits;	/* by name */
	struct named	*arguments;		/* by reason and name */
	size_t		n_exits, n_culprits, n_arguments;
};

struct side {
	struct life	*lives;			/* by machine and number */
	size_t		n;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	int order = strcmp(x->reason, y->reason);

	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->cause, y->cause);
}

/** Are they the same vCPU? The order of those that are on the same side is that, too. */
static int compare_lives(const void *a, const void *b)
{
	const struct life *x = a, *y = b;
	int order = x->by_id ? 0 : strcmp(x->machine, y->machine);

	if (!order && x->by_id)
		order = (x->machine_id > y->machine_id) - (x->machine_id < y->machine_id);
	return order ? order : (x->id > y->id) - (x->id < y->id);
}

/** Of several machines of one name, the first one is the first one again. */
static int compare_order(const void *a, const void *b)
{
	const struct life *x = a, *y = b;
	int order = compare_lives(a, b);

	return order ? order : (x->machine_id > y->machine_id) - (x->machine_id < y->machine_id);
}

/** Numbers of machines are the same in one trace; in two of them where there is no name. */
static bool is_by_id(const struct report *reports)
{
	bool named[DIFF_N_SIDES] = { false, false };

	if (reports[DIFF_BEFORE].load == reports[DIFF_AFTER].load)
		return true;
	for (int side = 0; side < DIFF_N_SIDES; side++) {
		const struct virt_model *model = reports[side].load->model;

		/* what is no domain of Xen has a name, or is called by its order */
		named[side] = !reports[side].load->host.xen;
		for (int32_t i = 0; i < virt_model_n_machines(model); i++)
			named[side] |= report_machine_name(&reports[side], i) !=
				       virt_model_machine(model, i)->name;
	}
	return !named[DIFF_BEFORE] || !named[DIFF_AFTER];
}

/** In order of name, each name once. Return: how many. */
static size_t sort_named(struct named *list, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(list, n, sizeof(*list), compare_named);
	for (size_t i = 0; i < n; i++) {
		if (kept && !compare_named(&list[kept - 1], &list[i])) {
			list[kept - 1].count += list[i].count;
			list[kept - 1].ns += list[i].ns;
		} else {
			list[kept++] = list[i];
		}
	}
	return kept;
}

static int take_life(struct life *life, const struct report *report, int32_t index, bool by_id)
{
	const struct virt_window_stats *stats = virt_window_walk_vcpu(report->walk, index);
	const struct virt_vcpu *vcpu = virt_model_vcpu(report->load->model, index);
	const struct virt_dist *wakes = &stats->states[VIRT_WAKING].whole;

	*life = (struct life){
		.machine = report_machine_name(report, vcpu->machine), .id = vcpu->id,
		.machine_id = virt_model_machine(report->load->model, vcpu->machine)->id,
		.by_id = by_id, .model = report->load->model,
		.name = vcpu->name, .known_ns = stats->known_ns, .migrations = stats->migrations,
		.wake_ns = wakes->count ? virt_dist_stat(wakes, DIFF_WAKE) : VIRT_NONE,
		.exits = calloc(stats->n_reasons + 1, sizeof(*life->exits)),
		.culprits = calloc(stats->n_culprits + 1, sizeof(*life->culprits)),
		.arguments = calloc(stats->n_arguments + 1, sizeof(*life->arguments)),
	};
	if (!life->exits || !life->culprits || !life->arguments)
		return -ENOMEM;
	for (int state = 0; state < VIRT_N_STATES; state++) {
		life->state_ns[state] = stats->states[state].ns;
		life->begun[state] = stats->states[state].count;
	}
	for (size_t i = 0; i < stats->n_reasons; i++)
		life->exits[i] = (struct named){
			.reason = "", .cause = "",
			.name = report_reason(report, stats->reasons[i].reason),
			.count = stats->reasons[i].count, .ns = stats->reasons[i].cost.ns,
		};
	life->n_exits = sort_named(life->exits, stats->n_reasons);
	for (size_t i = 0; i < stats->n_culprits; i++)
		life->culprits[i] = (struct named){
			.reason = "", .cause = "", .ns = stats->culprits[i].ns,
			.name = report_who(report, stats->culprits[i].vcpu),
		};
	life->n_culprits = sort_named(life->culprits, stats->n_culprits);
	for (size_t i = 0; i < stats->n_arguments; i++) {
		const struct virt_window_exit *exit = &stats->arguments[i];
		const char *cause = report_cause(report, exit);

		if (report_has_argument(report, exit->reason))
			life->arguments[life->n_arguments++] = (struct named){
				.reason = report_reason(report, exit->reason),
				.name = report_argument(report, exit),
				.cause = cause ? cause : "", .count = exit->count,
				.unnamed = !virt_argument_name(report->load->model, exit->argument),
				.ns = exit->cost.ns,
			};
	}
	life->n_arguments = sort_named(life->arguments, life->n_arguments);
	return virt_window_walk_error(report->walk);
}

static int take_side(struct side *side, struct report *report, const struct ksv_vcpu_set *vcpus,
		     bool by_id, bool arguments)
{
	int32_t n = virt_model_n_vcpus(report->load->model);
	int ret = report_window(report, vcpus, VIRT_WINDOW_STATES | (arguments ?
				VIRT_WINDOW_EXITS | VIRT_WINDOW_ARGUMENTS : 0));

	side->lives = calloc((size_t)n + 1, sizeof(*side->lives));
	if (!side->lives)
		ret = -ENOMEM;
	for (int32_t i = 0; !ret && i < n; i++)
		if (virt_window_walk_wants(report->walk, i))
			ret = take_life(&side->lives[side->n++], report, i, by_id);
	report_free(report);
	if (!ret && side->n)
		qsort(side->lives, side->n, sizeof(*side->lives), compare_order);
	return ret;
}

static void free_side(struct side *side)
{
	for (size_t i = 0; side->lives && i < side->n; i++) {
		free(side->lives[i].exits);
		free(side->lives[i].culprits);
		free(side->lives[i].arguments);
	}
	free(side->lives);
}

/* --- differences ----------------------------------------------------------------------------- */

/** Of each second of what is known. Exits last longer than the window that they begin in. */
static int64_t ns_per_s(int64_t ns, const struct life *life)
{
	__int128 known = life->known_ns, rate;

	rate = known ? ((__int128)ns * NS_PER_S + known / 2) / known : 0;
	return rate < INT64_MAX ? (int64_t)rate : INT64_MAX;
}

static double per_s(uint64_t count, const struct life *life)
{
	return life->known_ns ? (double)count * NS_PER_S / (double)life->known_ns : 0;
}

/** How much it weighs: ns of each second. */
static int64_t weight_of(const struct diff_item *item)
{
	const struct diff_value *value = item->value;

	double moves = fabs(value[DIFF_AFTER].per_s - value[DIFF_BEFORE].per_s) * DIFF_MOVE_NS;

	if (item->kind != DIFF_MIGRATIONS)
		return llabs(value[DIFF_AFTER].ns - value[DIFF_BEFORE].ns);
	return moves < MOST_MOVES ? (int64_t)moves : MOST_MOVES;
}

bool diff_is_cost(const struct diff_item *item)
{
	return item->kind != DIFF_STATE ||
	       (item->state != VIRT_GUEST && item->state != VIRT_BLOCKED &&
		item->state != VIRT_OFFLINE);
}

static int compare_items(const void *a, const void *b)
{
	const struct diff_item *x = a, *y = b;
	int64_t left = weight_of(x), right = weight_of(y);
	int order = diff_is_cost(y) - diff_is_cost(x);

	if (order)
		return order;
	if (left != right)
		return left < right ? 1 : -1;
	order = strcmp(x->who, y->who);
	if (!order)
		order = (int)x->kind - (int)y->kind;
	if (!order)
		order = (int)x->state - (int)y->state;
	return order || !x->reason || !y->reason ? order : strcmp(x->reason, y->reason);
}

static int compare_culprits(const void *a, const void *b)
{
	const struct diff_culprit *x = a, *y = b;
	int64_t left = llabs(x->ns[DIFF_AFTER] - x->ns[DIFF_BEFORE]);
	int64_t right = llabs(y->ns[DIFF_AFTER] - y->ns[DIFF_BEFORE]);

	if (left != right)
		return left < right ? 1 : -1;
	return strcmp(x->name, y->name);
}

/** The names of two lists, each once. @at: of both, moved on. Return: NULL at the end. */
static const char *next_name(const struct named *const list[DIFF_N_SIDES],
			     const size_t n[DIFF_N_SIDES], size_t at[DIFF_N_SIDES],
			     const struct named *found[DIFF_N_SIDES])
{
	bool before = at[DIFF_BEFORE] < n[DIFF_BEFORE], after = at[DIFF_AFTER] < n[DIFF_AFTER];
	int order = !before ? 1 : !after ? -1 :
		    compare_named(&list[DIFF_BEFORE][at[DIFF_BEFORE]],
				  &list[DIFF_AFTER][at[DIFF_AFTER]]);

	found[DIFF_BEFORE] = found[DIFF_AFTER] = NULL;
	if (!before && !after)
		return NULL;
	if (order <= 0)
		found[DIFF_BEFORE] = &list[DIFF_BEFORE][at[DIFF_BEFORE]++];
	if (order >= 0)
		found[DIFF_AFTER] = &list[DIFF_AFTER][at[DIFF_AFTER]++];
	return found[order <= 0 ? DIFF_BEFORE : DIFF_AFTER]->name;
}

static void free_item(const struct diff_item *item)
{
	free(item->culprits);
	free(item->arguments);
}

static int add_item(struct diff *diff, const struct diff_item *item, int64_t above_ns)
{
	if (weight_of(item) <= above_ns) {
		diff->n_same += weight_of(item) > 0;
		free_item(item);
		return 0;
	}
	if (ARRAY_GROW(diff->items, diff->n, diff->room)) {
		free_item(item);
		return -ENOMEM;
	}
	diff->items[diff->n++] = *item;
	return 0;
}

static int add_culprits(struct diff_item *item, const struct life *const life[DIFF_N_SIDES])
{
	const struct named *const list[] = {
		life[DIFF_BEFORE]->culprits, life[DIFF_AFTER]->culprits,
	};
	const size_t n[] = { life[DIFF_BEFORE]->n_culprits, life[DIFF_AFTER]->n_culprits };
	const struct named *found[DIFF_N_SIDES];
	size_t at[DIFF_N_SIDES] = { 0 };
	const char *name;

	item->culprits = calloc(n[DIFF_BEFORE] + n[DIFF_AFTER] + 1, sizeof(*item->culprits));
	if (!item->culprits)
		return -ENOMEM;
	while ((name = next_name(list, n, at, found))) {
		struct diff_culprit *culprit = &item->culprits[item->n_culprits++];

		culprit->name = name;
		for (int side = 0; side < DIFF_N_SIDES; side++)
			culprit->ns[side] = found[side] ? ns_per_s(found[side]->ns, life[side]) : 0;
	}
	if (item->n_culprits)
		qsort(item->culprits, item->n_culprits, sizeof(*item->culprits), compare_culprits);
	return 0;
}

/** Whether both sides can show a number. If one side cannot show it, there is no difference. */
static bool is_known(const struct life *const life[DIFF_N_SIDES], enum virt_number number)
{
	return virt_model_knows(life[DIFF_BEFORE]->model, number) &&
	       virt_model_knows(life[DIFF_AFTER]->model, number);
}

static bool is_known_state(const struct life *const life[DIFF_N_SIDES], enum virt_state state)
{
	const struct virt_model *before = life[DIFF_BEFORE]->model;
	const struct virt_model *after = life[DIFF_AFTER]->model;

	return virt_model_knows_state(before, state) && virt_model_knows_state(after, state) &&
	       virt_model_includes(before, state) == virt_model_includes(after, state);
}

static int add_states(struct diff *diff, struct diff_item item,
		      const struct life *const life[DIFF_N_SIDES], int64_t above_ns)
{
	int ret = 0;

	item.kind = DIFF_STATE;
	for (int state = 0; !ret && state < VIRT_N_STATES; state++) {
		/* rates are of what is known */
		if (state == VIRT_UNKNOWN || !is_known_state(life, (enum virt_state)state))
			continue;
		item.state = (enum virt_state)state;
		item.includes = virt_model_includes(life[DIFF_AFTER]->model, item.state);
		item.culprits = NULL;
		item.n_culprits = 0;
		for (int side = 0; side < DIFF_N_SIDES; side++)
			item.value[side] = (struct diff_value){
				.count = life[side]->begun[state],
				.ns = ns_per_s(life[side]->state_ns[state], life[side]),
				.per_s = per_s(life[side]->begun[state], life[side]),
				.wake_ns = state == VIRT_WAKING ? life[side]->wake_ns : VIRT_NONE,
			};
		if (state == VIRT_PREEMPTED && is_known(life, VIRT_NUMBER_CULPRITS))
			ret = add_culprits(&item, life);
		ret = ret ? ret : add_item(diff, &item, above_ns);
	}
	return ret;
}

static void take_values(struct diff_value value[DIFF_N_SIDES],
			const struct named *const found[DIFF_N_SIDES],
			const struct life *const life[DIFF_N_SIDES])
{
	for (int side = 0; side < DIFF_N_SIDES; side++)
		value[side] = (struct diff_value){
			.count = found[side] ? found[side]->count : 0,
			.ns = found[side] ? ns_per_s(found[side]->ns, life[side]) : 0,
			.per_s = found[side] ? per_s(found[side]->count, life[side]) : 0,
			.wake_ns = VIRT_NONE,
		};
}

/* --- arguments of VM exits ------------------------------------------------------------------- */

/** The name of all arguments that a model does not keep apart. */
static const char others[] = "others";

/** The arguments of a reason on one side, with names that the other side can have as well. */
struct kinds {
	struct named	*list;
	size_t		n;
};

/** A reason by its name. Return: VIRT_NONE: the trace has no such exit. */
static int32_t reason_of(const struct virt_model *model, const char *name)
{
	for (int32_t i = 0; i < virt_model_n_reasons(model); i++)
		if (!strcmp(virt_model_reason(model, i), name))
			return i;
	return VIRT_NONE;
}

static int take_kinds(struct kinds *kinds, const struct life *life, const char *reason)
{
	kinds->list = calloc(life->n_arguments + 1, sizeof(*kinds->list));
	if (!kinds->list)
		return -ENOMEM;
	for (size_t i = 0; i < life->n_arguments; i++)
		if (!strcmp(life->arguments[i].reason, reason))
			kinds->list[kinds->n++] = life->arguments[i];
	return 0;
}

/** A name that one side cannot show is no difference. */
static void forget(struct kinds *kinds, bool name, bool cause)
{
	for (size_t i = 0; i < kinds->n; i++) {
		if (name)
			kinds->list[i].name = "unknown";
		kinds->list[i].unnamed |= name;
		if (cause)
			kinds->list[i].cause = "";
	}
	kinds->n = sort_named(kinds->list, kinds->n);
}

static bool has_others(const struct kinds *kinds, const char *cause)
{
	for (size_t i = 0; i < kinds->n; i++)
		if (!strcmp(kinds->list[i].name, others) && !strcmp(kinds->list[i].cause, cause))
			return true;
	return false;
}

/** Does a model keep this argument apart? */
static bool keeps(const struct virt_model *model, int32_t reason, const struct named *named)
{
	for (int32_t i = 0; i < virt_model_n_arguments(model); i++) {
		const struct virt_argument *argument = virt_model_argument(model, i);
		const char *cause = exit_cause_name((enum exit_cause)argument->cause);

		if (argument->reason == reason && !strcmp(argument->name, named->name) &&
		    (!*named->cause || !strcmp(cause ? cause : "unknown", named->cause)))
			return true;
	}
	return false;
}

/** An argument that the other side has among its others is one of the others here as well. */
static void fold(struct kinds *kinds, const struct kinds *other, const struct virt_model *model,
		 int32_t reason)
{
	for (size_t i = 0; i < kinds->n; i++)
		if (!kinds->list[i].unnamed && has_others(other, kinds->list[i].cause) &&
		    !keeps(model, reason, &kinds->list[i]))
			kinds->list[i].name = others;
}

static int compare_arguments(const void *a, const void *b)
{
	const struct diff_argument *x = a, *y = b;
	int64_t left = llabs(x->value[DIFF_AFTER].ns - x->value[DIFF_BEFORE].ns);
	int64_t right = llabs(y->value[DIFF_AFTER].ns - y->value[DIFF_BEFORE].ns);
	int order = strcmp(x->name, y->name);

	if (left != right)
		return left < right ? 1 : -1;
	return order ? order : strcmp(x->cause, y->cause);
}

/** Put both sides together. Return: 0 or -ENOMEM. */
static int join(struct diff_item *item, const struct life *const life[DIFF_N_SIDES],
		const struct kinds kinds[DIFF_N_SIDES])
{
	const struct named *const list[] = { kinds[DIFF_BEFORE].list, kinds[DIFF_AFTER].list };
	const size_t n[] = { kinds[DIFF_BEFORE].n, kinds[DIFF_AFTER].n };
	const struct named *found[DIFF_N_SIDES];
	size_t at[DIFF_N_SIDES] = { 0 };

	item->arguments = calloc(n[DIFF_BEFORE] + n[DIFF_AFTER] + 1, sizeof(*item->arguments));
	if (!item->arguments)
		return -ENOMEM;
	while (next_name(list, n, at, found)) {
		struct diff_argument *argument = &item->arguments[item->n_arguments++];
		const struct named *named = found[DIFF_BEFORE] ? : found[DIFF_AFTER];

		argument->name = named->name;
		argument->cause = *named->cause ? named->cause : NULL;
		take_values(argument->value, found, life);
	}
	if (item->n_arguments)
		qsort(item->arguments, item->n_arguments, sizeof(*item->arguments),
		      compare_arguments);
	return 0;
}

/** What a side lacks, none of both has. Return: 0 or -ENOMEM. */
static int add_arguments(struct diff_item *item, const struct life *const life[DIFF_N_SIDES])
{
	struct kinds kinds[DIFF_N_SIDES] = { 0 };
	int32_t reason[DIFF_N_SIDES];
	bool any = false, named = true, caused = true;
	uint64_t lacks[DIFF_N_SIDES];
	int ret = 0;

	for (int side = 0; side < DIFF_N_SIDES && !ret; side++) {
		const struct virt_model *model = life[side]->model;
		uint64_t recorded = virt_model_recorded(model);
		enum virt_record_kind kind;

		reason[side] = reason_of(model, item->reason);
		kind = virt_reason_record(model, reason[side]);
		/* a side without such exits knows all about them */
		any |= kind != VIRT_RECORD_N_KINDS;
		named &= kind == VIRT_RECORD_N_KINDS || virt_model_has_recorded(model, kind);
		caused &= reason[side] == VIRT_NONE || exit_causes_recorded(recorded);
		lacks[side] = exit_cause_lacks(recorded);
		ret = take_kinds(&kinds[side], life[side], item->reason);
	}
	caused &= reason[DIFF_BEFORE] == VIRT_NONE || reason[DIFF_AFTER] == VIRT_NONE ||
		  lacks[DIFF_BEFORE] == lacks[DIFF_AFTER];
	if (ret || !any || (!named && !caused))
		goto end;
	for (int side = 0; side < DIFF_N_SIDES; side++)
		forget(&kinds[side], !named, !caused);
	for (int side = 0; side < DIFF_N_SIDES; side++)
		fold(&kinds[side], &kinds[!side], life[!side]->model, reason[!side]);
	for (int side = 0; side < DIFF_N_SIDES; side++)
		kinds[side].n = sort_named(kinds[side].list, kinds[side].n);
	ret = join(item, life, kinds);
end:
	item->arguments_unknown = any && !named && !caused;
	free(kinds[DIFF_BEFORE].list);
	free(kinds[DIFF_AFTER].list);
	return ret;
}

/* --- all differences ------------------------------------------------------------------------- */

static int add_exits(struct diff *diff, struct diff_item item,
		     const struct life *const life[DIFF_N_SIDES], int64_t above_ns,
		     bool with_arguments)
{
	const struct named *const list[] = { life[DIFF_BEFORE]->exits, life[DIFF_AFTER]->exits };
	const size_t n[] = { life[DIFF_BEFORE]->n_exits, life[DIFF_AFTER]->n_exits };
	const struct named *found[DIFF_N_SIDES];
	size_t at[DIFF_N_SIDES] = { 0 };
	int ret = 0;

	item.kind = DIFF_EXIT;
	while (!ret && (item.reason = next_name(list, n, at, found))) {
		take_values(item.value, found, life);
		item.arguments = NULL;
		item.n_arguments = 0;
		if (with_arguments)
			ret = add_arguments(&item, life);
		ret = ret ? ret : add_item(diff, &item, above_ns);
	}
	return ret;
}

static int add_vcpu(struct diff *diff, const struct life *before, const struct life *after,
		    int64_t above_ns, bool with_arguments)
{
	const struct life *const life[] = { before, after };
	struct diff_item item = {
		.machine = after->machine, .vcpu = after->id, .who = after->name,
	};
	int ret;

	diff->n_vcpus++;
	for (int side = 0; side < DIFF_N_SIDES; side++) {
		double all = (double)diff->length_ns[side];
		double unknown = (all - (double)life[side]->known_ns) / all;

		if (unknown > diff->unknown[side])
			diff->unknown[side] = unknown;
	}
	/* of what is not known at all, nothing differs */
	if (!before->known_ns || !after->known_ns)
		return 0;
	ret = add_states(diff, item, life, above_ns);
	if (!ret && is_known(life, VIRT_NUMBER_EXIT_COST))
		ret = add_exits(diff, item, life, above_ns, with_arguments);
	if (ret || !is_known(life, VIRT_NUMBER_MIGRATIONS))
		return ret;
	item.kind = DIFF_MIGRATIONS;
	for (int side = 0; side < DIFF_N_SIDES; side++)
		item.value[side] = (struct diff_value){
			.count = life[side]->migrations,
			.per_s = per_s(life[side]->migrations, life[side]), .wake_ns = VIRT_NONE,
		};
	return add_item(diff, &item, above_ns);
}

static int add_missing(struct diff *diff, const struct life *life, enum diff_side only)
{
	if (ARRAY_GROW(diff->missing, diff->n_missing, diff->room_missing))
		return -ENOMEM;
	diff->missing[diff->n_missing++] = (struct diff_missing){ life->name, only };
	return 0;
}

static int compare_sides(struct diff *diff, const struct side *before, const struct side *after,
			 int64_t above_ns, bool with_arguments)
{
	size_t i = 0, j = 0;
	int ret = 0;

	while (!ret && (i < before->n || j < after->n)) {
		int order = i == before->n ? 1 : j == after->n ? -1 :
			    compare_lives(&before->lives[i], &after->lives[j]);

		if (!order)
			ret = add_vcpu(diff, &before->lives[i++], &after->lives[j++], above_ns,
				       with_arguments);
		else if (order < 0)
			ret = add_missing(diff, &before->lives[i++], DIFF_BEFORE);
		else
			ret = add_missing(diff, &after->lives[j++], DIFF_AFTER);
	}
	return ret;
}

int diff_make(struct diff *diff, struct report *reports, const struct ksv_vcpu_set *vcpus,
	      int64_t above_ns, bool arguments)
{
	struct side sides[DIFF_N_SIDES] = { 0 };
	int ret = 0;

	*diff = (struct diff){ 0 };
	for (int side = 0; !ret && side < DIFF_N_SIDES; side++) {
		diff->length_ns[side] = reports[side].to_ns - reports[side].from_ns;
		ret = take_side(&sides[side], &reports[side], vcpus, is_by_id(reports),
				arguments);
	}
	if (!ret)
		ret = compare_sides(diff, &sides[DIFF_BEFORE], &sides[DIFF_AFTER], above_ns,
				    arguments);
	for (int side = 0; side < DIFF_N_SIDES; side++)
		free_side(&sides[side]);
	if (diff->n)
		qsort(diff->items, diff->n, sizeof(*diff->items), compare_items);
	return ret;
}

void diff_free(struct diff *diff)
{
	for (size_t i = 0; i < diff->n; i++)
		free_item(&diff->items[i]);
	free(diff->items);
	free(diff->missing);
}
