// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	compare_exits.c
 * @brief	What VM exits were for, as metrics of a run.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_exits.h"
#include "virt_arguments.h"
#include "virt_needs.h"

#define NAME_SIZE	400

enum kind { RATE, COST, N_KINDS };

static const char *const kind_names[N_KINDS] = { [RATE] = "exits_per_s", [COST] = "exit_cost_ns" };

static const enum virt_number kind_numbers[N_KINDS] = {
	[RATE] = VIRT_NUMBER_EXITS, [COST] = VIRT_NUMBER_EXIT_COST,
};

/** Exits of a reason, a cause, an argument, or without an argument. */
struct item {
	char		*name;		/* "MSR:write TSC_DEADLINE"; NULL: no metric */
	bool		has_metric[N_KINDS];
	int		metric[N_KINDS];
	uint64_t	count;		/* of the window */
};

struct compare_exits {
	struct compare	*compare;
	int		run;
	const struct virt_model *model;
	const char *const *patterns;
	int		n_patterns;
	const char	*machine;
	size_t		windows;	/* that were added */
	struct item	*items;		/* reasons; their causes; without argument; arguments */
	int32_t		n_reasons, n_arguments;
	size_t		n;
};

/* --- items ----------------------------------------------------------------------------------- */

static struct item *item_of_reason(const struct compare_exits *exits, int32_t reason)
{
	return &exits->items[reason];
}

static struct item *item_of_cause(const struct compare_exits *exits, int32_t reason,
				  enum exit_cause cause)
{
	return &exits->items[exits->n_reasons + (size_t)reason * EXIT_CAUSE_N + cause];
}

/** @argument: or VIRT_NONE: of the reason, those of which no record shows it */
static struct item *item_of_argument(const struct compare_exits *exits, int32_t reason,
				     int32_t argument)
{
	size_t first = (size_t)exits->n_reasons * (1 + EXIT_CAUSE_N);

	return &exits->items[first + (argument == VIRT_NONE ? (size_t)reason :
				      (size_t)exits->n_reasons + (size_t)argument)];
}

static bool has_causes(const struct virt_model *model, int32_t reason)
{
	return virt_reason_for_memory(model, reason) &&
	       exit_causes_recorded(virt_model_recorded(model));
}

static const char *cause_name(enum exit_cause cause)
{
	const char *name = exit_cause_name(cause);

	return name ? name : "unknown";
}

/** Does the trace have the records that show the arguments of a reason? */
static bool has_arguments(const struct virt_model *model, int32_t reason)
{
	enum virt_record_kind kind = virt_reason_record(model, reason);

	return kind != VIRT_RECORD_N_KINDS && virt_model_has_recorded(model, kind);
}

/** Return: 0 or -ENOMEM. */
static int name_item(struct item *item, const char *reason, const char *cause,
		     const char *argument)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%s%s%s%s%s", reason, cause ? ":" : "", cause ? cause : "",
		 argument ? ":" : "", argument ? argument : "");
	item->name = strdup(name);
	return item->name ? 0 : -ENOMEM;
}

static int name_reason(const struct compare_exits *exits, int32_t reason)
{
	const struct virt_model *model = exits->model;
	const char *name = virt_model_reason(model, reason);
	bool caused = has_causes(model, reason);
	int ret = name_item(item_of_reason(exits, reason), name, NULL, NULL);

	for (int cause = 0; cause < EXIT_CAUSE_N && caused && !ret; cause++)
		ret = name_item(item_of_cause(exits, reason, (enum exit_cause)cause), name,
				cause_name((enum exit_cause)cause), NULL);
	if (!ret && has_arguments(model, reason))
		ret = name_item(item_of_argument(exits, reason, VIRT_NONE), name,
				caused ? cause_name(EXIT_CAUSE_UNKNOWN) : NULL, "not recorded");
	return ret;
}

static int name_argument(const struct compare_exits *exits, int32_t argument)
{
	const struct virt_model *model = exits->model;
	const struct virt_argument *of = virt_model_argument(model, argument);
	const char *name = of->kind == EXIT_ARGUMENT_NONE ? "not recorded" : of->name;

	if (of->kind == EXIT_ARGUMENT_OTHERS || !has_arguments(model, of->reason))
		return 0;
	return name_item(item_of_argument(exits, of->reason, argument),
			 virt_model_reason(model, of->reason), has_causes(model, of->reason) ?
			 cause_name((enum exit_cause)of->cause) : NULL, name);
}

struct compare_exits *compare_exits_new(struct compare *compare, int run,
					const struct virt_model *model,
					const char *const *patterns, int n_patterns)
{
	struct compare_exits *exits = calloc(1, sizeof(*exits));
	int ret = 0;

	if (!exits)
		return NULL;
	*exits = (struct compare_exits){
		.compare = compare, .run = run, .model = model, .patterns = patterns,
		.n_patterns = n_patterns, .n_reasons = virt_model_n_reasons(model),
		.n_arguments = virt_model_n_arguments(model),
	};
	exits->n = (size_t)exits->n_reasons * (2 + EXIT_CAUSE_N) + (size_t)exits->n_arguments;
	exits->items = calloc(exits->n + 1, sizeof(*exits->items));
	if (!exits->items)
		ret = -ENOMEM;
	for (int32_t i = 0; i < exits->n_reasons && !ret; i++)
		ret = name_reason(exits, i);
	for (int32_t i = 0; i < exits->n_arguments && !ret; i++)
		ret = name_argument(exits, i);
	if (!ret)
		return exits;
	compare_exits_free(exits);
	return NULL;
}

void compare_exits_free(struct compare_exits *exits)
{
	for (size_t i = 0; exits && exits->items && i < exits->n; i++)
		free(exits->items[i].name);
	if (exits)
		free(exits->items);
	free(exits);
}

/* --- values ---------------------------------------------------------------------------------- */

static void metric_name(const struct compare_exits *exits, enum kind kind, const char *name,
			char text[NAME_SIZE])
{
	snprintf(text, NAME_SIZE, "%s.%s%s%s", exits->machine, kind_names[kind],
		 name ? ":" : "", name ? name : "");
}

/** Return: false: it is not wanted, or after an error. */
static bool find_metric(struct compare_exits *exits, struct item *item, enum kind kind, int *ret)
{
	char name[NAME_SIZE];

	if (item->has_metric[kind])
		return item->metric[kind] >= 0;
	metric_name(exits, kind, item->name, name);
	item->has_metric[kind] = true;
	item->metric[kind] = -1;
	if (exits->n_patterns && !compare_fits(name, exits->patterns, exits->n_patterns))
		return false;
	item->metric[kind] = compare_metric(exits->compare, name);
	if (item->metric[kind] < 0)
		*ret = item->metric[kind];
	return !*ret;
}

void compare_exits_machine(struct compare_exits *exits, const char *name)
{
	exits->machine = name;
	exits->windows = 0;
	for (size_t i = 0; i < exits->n; i++)
		memset(exits->items[i].has_metric, 0, sizeof(exits->items[i].has_metric));
}

static void count_exits(struct compare_exits *exits, const struct virt_window_stats *stats)
{
	for (size_t i = 0; i < stats->n_arguments; i++) {
		const struct virt_window_exit *exit = &stats->arguments[i];

		if (exit->reason == VIRT_NONE)
			continue;
		item_of_reason(exits, exit->reason)->count += exit->count;
		item_of_cause(exits, exit->reason, (enum exit_cause)exit->cause)->count +=
			exit->count;
		item_of_argument(exits, exit->reason, exit->argument)->count += exit->count;
	}
}

/** Return: 0 or as compare_run(). */
static int add_rate(struct compare_exits *exits, struct item *item, double known_ns)
{
	bool is_new = !item->has_metric[RATE];
	int ret = 0;

	/* it had none in the windows before */
	if (!item->name || (is_new && !item->count))
		return 0;
	if (!find_metric(exits, item, RATE, &ret))
		return ret;
	for (size_t i = 0; i < exits->windows && is_new && !ret; i++)
		ret = compare_add_to(exits->compare, exits->run, item->metric[RATE], 0);
	return ret ? ret : compare_add_to(exits->compare, exits->run, item->metric[RATE],
					  1e9 * (double)item->count / known_ns);
}

int compare_exits_window(struct compare_exits *exits, struct virt_window_walk *walk,
			 const int32_t *of, size_t n, double known_ns)
{
	int ret = 0;

	for (size_t i = 0; i < exits->n; i++)
		exits->items[i].count = 0;
	for (size_t i = 0; i < n; i++)
		count_exits(exits, virt_window_walk_vcpu(walk, of[i]));
	if (virt_window_walk_error(walk))
		return -ENOMEM;
	if (!virt_model_knows(exits->model, kind_numbers[RATE]))
		return 0;
	for (size_t i = 0; i < exits->n && !ret; i++)
		ret = add_rate(exits, &exits->items[i], known_ns);
	exits->windows++;
	return ret;
}

int compare_exits_hit(struct compare_exits *exits, const struct virt_worst *worst,
		      const struct virt_worst_hit *hit)
{
	struct virt_moment moment = { .reason = VIRT_NONE, .argument = VIRT_NONE };
	struct item *items[3];
	int ret = 0;

	if (!virt_worst_describe(worst, hit, &moment) || moment.reason == VIRT_NONE)
		return 0;
	items[0] = item_of_reason(exits, moment.reason);
	items[1] = item_of_cause(exits, moment.reason,
				 virt_argument_cause(exits->model, moment.argument));
	items[2] = item_of_argument(exits, moment.reason, moment.argument);
	for (size_t i = 0; i < ARRAY_SIZE(items) && !ret; i++)
		if (items[i]->name && find_metric(exits, items[i], COST, &ret))
			ret = compare_add_to(exits->compare, exits->run, items[i]->metric[COST],
					     (double)hit->cost_ns);
	return ret;
}

/* --- what a run does not have ---------------------------------------------------------------- */

/** @name: of items, and of all that it begins; @why: NULL: there were none */
static int add_absent(const struct compare_exits *exits, enum kind kind, const char *name,
		      const char *end, const char *why)
{
	char whole[NAME_SIZE], text[NAME_SIZE], prefix[NAME_SIZE + 8];

	metric_name(exits, kind, NULL, whole);
	metric_name(exits, kind, name, text);
	snprintf(prefix, sizeof(prefix), "%s%s", text, end);
	return compare_add_absent(exits->compare, exits->run, kind == RATE ? whole : NULL, prefix,
				  why);
}

/** Causes that records cannot show are unknown. */
static int causes_absent(const struct compare_exits *exits, enum kind kind, int32_t reason,
			 bool others)
{
	uint64_t recorded = virt_model_recorded(exits->model);
	bool caused = has_causes(exits->model, reason);
	const char *why = !caused || exit_cause_lacks(recorded) ?
			  "events that show what the host did were not recorded" : NULL;
	char name[NAME_SIZE];
	int ret = 0;

	for (int cause = 0; cause < EXIT_CAUSE_N && !ret; cause++) {
		snprintf(name, sizeof(name), "%s:%s", virt_model_reason(exits->model, reason),
			 cause_name((enum exit_cause)cause));
		ret = add_absent(exits, kind, name, "", why);
		if (!ret && caused && !why && others)
			ret = add_absent(exits, kind, name, ":", "a trace keeps the most frequent "
					 "arguments of a reason apart; others are unknown");
	}
	return ret;
}

static int reason_absent(const struct compare_exits *exits, enum kind kind, int32_t reason)
{
	const struct virt_model *model = exits->model;
	enum virt_record_kind record = virt_reason_record(model, reason);
	const char *why = NULL;
	char text[NAME_SIZE];
	bool others = false;
	int ret = 0;

	for (int32_t i = 0; i < exits->n_arguments; i++)
		others |= virt_model_argument(model, i)->reason == reason &&
			  virt_model_argument(model, i)->kind == EXIT_ARGUMENT_OTHERS;
	if (record != VIRT_RECORD_N_KINDS && !virt_model_has_recorded(model, record)) {
		snprintf(text, sizeof(text), "%s was not recorded",
			 virt_record_name(virt_model_hypervisor(model), record) ? : "it");
		why = text;
	} else if (has_causes(model, reason)) {
		why = "this run has the arguments of each cause apart";
	} else if (others) {
		why = "a trace keeps the most frequent arguments of a reason apart; others are "
		      "unknown";
	}
	if (why)
		ret = add_absent(exits, kind, virt_model_reason(model, reason), ":", why);
	if (!ret && virt_reason_for_memory(model, reason))
		ret = causes_absent(exits, kind, reason, others);
	return ret;
}

int compare_exits_end(struct compare_exits *exits)
{
	char advice[VIRT_ADVICE_SIZE];
	int ret = 0;

	for (int k = 0; k < N_KINDS && !ret; k++) {
		enum kind kind = (enum kind)k;
		bool known = virt_model_knows(exits->model, kind_numbers[kind]);
		char whole[NAME_SIZE], prefix[NAME_SIZE + 1];

		metric_name(exits, kind, NULL, whole);
		snprintf(prefix, sizeof(prefix), "%s:", whole);
		virt_model_advice(exits->model, kind_numbers[kind], advice, sizeof(advice));
		ret = compare_add_absent(exits->compare, exits->run, kind == RATE ? whole : NULL,
					 prefix, known ? NULL : advice);
		for (int32_t i = 0; i < exits->n_reasons && known && !ret; i++)
			ret = reason_absent(exits, kind, i);
		/* what the model keeps apart is not there if it was not seen */
		for (size_t i = 0; i < exits->n && known && !ret; i++)
			if (exits->items[i].name && !exits->items[i].has_metric[kind])
				ret = add_absent(exits, kind, exits->items[i].name, "", NULL);
	}
	return ret;
}
