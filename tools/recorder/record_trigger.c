// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_trigger.c
 * @brief	Conditions of a flight recorder, and whether moments of a trace meet one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "budget.h"
#include "host_trace.h"
#include "options.h"
#include "record_trigger.h"
#include "virt_finding.h"

/** States by which moments are known, too. */
static const struct {
	const char		*name;
	enum virt_worst_kind	kind;
} states[] = {
	{ "preempted", VIRT_WORST_STEAL },
	{ "waking", VIRT_WORST_WAKE },
};

static bool is_word(const char *text, size_t n, const char *word)
{
	return strlen(word) == n && !strncmp(text, word, n);
}

static int parse_kind(const char *text, size_t n, enum virt_worst_kind *kind)
{
	for (int i = 0; i < VIRT_WORST_N_KINDS; i++) {
		*kind = (enum virt_worst_kind)i;
		if (is_word(text, n, virt_worst_kind_name(*kind)))
			return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		*kind = states[i].kind;
		if (is_word(text, n, states[i].name))
			return 0;
	}
	return -ENOENT;
}

int record_trigger_parse(const char *text, struct record_trigger *trigger)
{
	size_t n = strcspn(text, ">");
	struct ksv_time above;
	int ret;

	*trigger = (struct record_trigger){ .text = text };
	if (!n || !text[n])
		return -EINVAL;
	ret = parse_kind(text, n, &trigger->kind);
	if (ret)
		return ret;
	if (ksv_parse_time(text + n + 1, &above) || above.kind != KSV_TIME_NS || above.ns < 0 ||
	    above.ns == INT64_MAX)
		return -ERANGE;
	trigger->above_ns = above.ns;
	return 0;
}

int record_limit_parse(const char *text, struct record_trigger *trigger, const char **wrong)
{
	struct budget_list list = { 0 };
	int ret = budget_add(&list, text, wrong);

	if (!ret && list.items->held) {
		*wrong = "this limit can only be checked in a recording";
		ret = -EINVAL;
	}
	if (!ret)
		*trigger = (struct record_trigger){
			.text = text, .kind = list.items->kind, .is_limit = true,
			.name_size = budget_name_size(list.items), .limit = list.items->limit,
		};
	budget_free(&list);
	return ret;
}

/* --- judging --------------------------------------------------------------------------------- */

static int count_one(void *arg, const struct virt_worst_hit *hit)
{
	struct record_fired *fired = arg;

	(void)hit;
	fired->moments++;
	return 0;
}

static void judge_one(const struct virt_model *model, const struct virt_worst *worst,
		      const struct record_trigger *trigger, struct record_fired *fired)
{
	struct virt_worst_query query = {
		.from_ns = virt_model_begin(model), .to_ns = virt_model_end(model),
		.kinds = 1u << trigger->kind,
	};
	struct virt_worst_hit hit;
	struct virt_finding row;

	query.min_ns[trigger->kind] = trigger->above_ns + 1;
	if (virt_worst_top(worst, &query, &hit, 1) != 1 ||
	    !virt_finding_make(model, worst, &hit, &row))
		return;
	virt_worst_each(worst, &query, count_one, fired);
	fired->time_ns = row.time_ns;
	fired->cost_ns = hit.cost_ns;
	snprintf(fired->vcpu, sizeof(fired->vcpu), "%s", row.vcpu);
}

static int judge_model(struct host_trace *trace, const struct record_trigger *triggers, int n,
		       struct record_fired *fired)
{
	struct virt_worst *worst = NULL;
	struct virt_model *model = NULL;
	int ret = host_trace_model(trace, NULL, &model);

	if (!ret) {
		worst = virt_worst_new(model, false, NULL, 0);
		ret = worst ? 0 : -ENOMEM;
	}
	for (int i = 0; !ret && i < n; i++)
		if (!triggers[i].is_limit)
			judge_one(model, worst, &triggers[i], &fired[i]);
	virt_worst_free(worst);
	virt_model_free(model);
	return ret;
}

int record_trigger_judge(const char *path, const struct record_trigger *triggers, int n,
			 struct record_fired *fired, char *error, size_t size)
{
	const struct host_options options = { 0 };
	struct host_trace trace;
	int ret;

	memset(fired, 0, (size_t)n * sizeof(*fired));
	if (host_trace_open(&trace, path, &options, error, size))
		return -1;
	ret = judge_model(&trace, triggers, n, fired);
	host_trace_close(&trace);
	if (!ret || ret == -ENODATA)
		return ret ? 1 : 0;
	snprintf(error, size, "%s: %s", path, host_trace_problem(ret));
	return -1;
}
