// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	compare_data.c
 * @brief	Values by run and metric.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "compare.h"

void compare_init(struct compare *compare)
{
	*compare = (struct compare){ .last_run = -1, .last_metric = -1 };
}

static void free_metric(struct compare_metric *metric)
{
	for (int run = 0; run < COMPARE_MAX_RUNS; run++) {
		free(metric->sets[run].values);
		free(metric->sets[run].unknown);
	}
	free(metric->name);
	free(metric);
}

static void free_run(struct compare *compare, int run)
{
	struct compare_conditions *conditions = &compare->conditions[run];

	free(compare->runs[run]);
	for (int fact = 0; fact < COMPARE_N_FACTS; fact++) {
		for (int i = 0; i < conditions->facts[fact].n; i++) {
			free(conditions->facts[fact].all[i].key);
			free(conditions->facts[fact].all[i].text);
		}
	}
}

static void free_absent(struct compare *compare)
{
	for (size_t i = 0; i < compare->n_absent; i++) {
		free(compare->absent[i].whole);
		free(compare->absent[i].prefix);
		free(compare->absent[i].why);
	}
	free(compare->absent);
	compare->absent = NULL;
	compare->n_absent = compare->absent_room = 0;
}

void compare_free(struct compare *compare)
{
	for (int i = 0; i < compare->n_runs; i++)
		free_run(compare, i);
	for (int i = 0; i < compare->n_metrics; i++)
		free_metric(compare->metrics[i]);
	free(compare->metrics);
	free_absent(compare);
	trace_notes_free(&compare->notes);
	compare_init(compare);
}

int compare_find_run(const struct compare *compare, const char *name)
{
	for (int i = 0; i < compare->n_runs; i++)
		if (!strcmp(compare->runs[i], name))
			return i;
	return -1;
}

int compare_run(struct compare *compare, const char *name)
{
	int run = compare->last_run;

	if (run < 0 || strcmp(compare->runs[run], name) != 0)
		run = compare_find_run(compare, name);
	if (run < 0) {
		run = compare->n_runs;
		if (run == COMPARE_MAX_RUNS)
			return -ENOSPC;
		compare->runs[run] = strdup(name);
		if (!compare->runs[run])
			return -ENOMEM;
		compare->n_runs++;
	}
	compare->last_run = run;
	return run;
}

static int find_metric(const struct compare *compare, const char *name)
{
	int next = compare->last_metric + 1;

	/* tables repeat themselves: the last one again, or the next one */
	if (next > 0 && !strcmp(compare->metrics[next - 1]->name, name))
		return next - 1;
	if (next < compare->n_metrics && !strcmp(compare->metrics[next]->name, name))
		return next;
	for (int i = 0; i < compare->n_metrics; i++)
		if (!strcmp(compare->metrics[i]->name, name))
			return i;
	return -1;
}

static int new_metric(struct compare *compare, const char *name)
{
	struct compare_metric *metric;

	if (compare->n_metrics == COMPARE_MAX_METRICS)
		return -ENOSPC;
	if (ARRAY_GROW(compare->metrics, compare->n_metrics, compare->metrics_room))
		return -ENOMEM;
	metric = calloc(1, sizeof(*metric));
	if (metric)
		metric->name = strdup(name);
	if (!metric || !metric->name) {
		free(metric);
		return -ENOMEM;
	}
	compare->metrics[compare->n_metrics] = metric;
	return compare->n_metrics++;
}

int compare_metric(struct compare *compare, const char *name)
{
	int metric = find_metric(compare, name);

	if (metric < 0)
		metric = new_metric(compare, name);
	if (metric >= 0)
		compare->last_metric = metric;
	return metric;
}

static int add_times(struct compare *compare, int run, int metric, double value, uint64_t times)
{
	struct compare_set *set = &compare->metrics[metric]->sets[run];

	if (times > COMPARE_MAX_VALUES || (times > 1 && set->n + times > COMPARE_MAX_VALUES))
		return -E2BIG;
	for (uint64_t i = 0; i < times; i++) {
		if (ARRAY_GROW(set->values, set->n, set->room))
			return -ENOMEM;
		set->values[set->n++] = value;
	}
	return 0;
}

int compare_add_times(struct compare *compare, int run, const char *name, double value,
		      uint64_t times)
{
	int metric = compare_metric(compare, name);

	return metric < 0 ? metric : add_times(compare, run, metric, value, times);
}

int compare_add(struct compare *compare, int run, const char *name, double value)
{
	return compare_add_times(compare, run, name, value, 1);
}

int compare_add_to(struct compare *compare, int run, int metric, double value)
{
	return add_times(compare, run, metric, value, 1);
}

const char *compare_better_name(enum compare_better better)
{
	static const char *const names[] = {
		[COMPARE_LOWER] = "lower", [COMPARE_HIGHER] = "higher",
	};

	return names[better];
}

int compare_add_unknown(struct compare *compare, int run, const char *name, const char *why)
{
	int metric = compare_metric(compare, name);
	struct compare_set *set;

	if (metric < 0)
		return metric;
	set = &compare->metrics[metric]->sets[run];
	if (!set->unknown)
		set->unknown = strdup(why);
	return set->unknown ? 0 : -ENOMEM;
}

/* --- what a run does not have ---------------------------------------------------------------- */

int compare_add_absent(struct compare *compare, int run, const char *whole, const char *prefix,
		       const char *why)
{
	struct compare_absent *absent;

	if (ARRAY_GROW(compare->absent, compare->n_absent, compare->absent_room))
		return -ENOMEM;
	absent = &compare->absent[compare->n_absent++];
	*absent = (struct compare_absent){
		.run = run, .whole = whole ? strdup(whole) : NULL, .prefix = strdup(prefix),
		.why = why ? strdup(why) : NULL,
	};
	return (!whole || absent->whole) && absent->prefix && (!why || absent->why) ? 0 : -ENOMEM;
}

/** By run and prefix; of equal ones, the unknown one last. */
static int compare_absents(const void *a, const void *b)
{
	const struct compare_absent *x = a, *y = b;
	int order = x->run - y->run;

	if (!order)
		order = strcmp(x->prefix, y->prefix);
	return order ? order : !!x->why - !!y->why;
}

/** Return: NULL: nothing was said about it. */
static const struct compare_absent *find_absent(const struct compare *compare, int run,
						const char *name)
{
	const struct compare_absent *found = NULL;
	size_t longest = 0;

	/* all prefixes of a name are in order, shorter ones first */
	for (size_t i = 0; i < compare->n_absent; i++) {
		const struct compare_absent *absent = &compare->absent[i];
		size_t n = strlen(absent->prefix);

		if (absent->run == run && n >= longest && !strncmp(name, absent->prefix, n)) {
			found = absent;
			longest = n;
		}
	}
	return found;
}

static int fill(struct compare *compare, int metric, int run)
{
	const struct compare_metric *of = compare->metrics[metric];
	const struct compare_absent *absent = find_absent(compare, run, of->name);
	int whole, ret = 0;

	if (!absent || (of->sets[run].n && absent->why))
		return 0;
	if (absent->why)
		return compare_add_unknown(compare, run, of->name, absent->why);
	whole = absent->whole ? find_metric(compare, absent->whole) : -1;
	for (size_t n = of->sets[run].n; whole >= 0 && !ret &&
	     n < compare->metrics[whole]->sets[run].n; n++)
		ret = add_times(compare, run, metric, 0, 1);
	return ret;
}

int compare_fill_absent(struct compare *compare)
{
	int ret = 0;

	if (compare->n_absent)
		qsort(compare->absent, compare->n_absent, sizeof(*compare->absent),
		      compare_absents);
	for (int metric = 0; metric < compare->n_metrics && compare->n_absent && !ret; metric++)
		for (int run = 0; run < compare->n_runs && !ret; run++)
			ret = fill(compare, metric, run);
	free_absent(compare);
	return ret;
}

/* --- what is kept ---------------------------------------------------------------------------- */

void compare_keep_runs(struct compare *compare, const int *runs, int n)
{
	struct compare_conditions conditions[COMPARE_MAX_RUNS] = { { .n_loads = 0 } };
	bool kept[COMPARE_MAX_RUNS] = { false };
	char *names[COMPARE_MAX_RUNS] = { NULL };

	for (int i = 0; i < n; i++) {
		kept[runs[i]] = true;
		names[i] = compare->runs[runs[i]];
		conditions[i] = compare->conditions[runs[i]];
	}
	for (int i = 0; i < compare->n_metrics; i++) {
		struct compare_set *sets = compare->metrics[i]->sets;
		struct compare_set wanted[COMPARE_MAX_RUNS] = { { 0 } };

		for (int j = 0; j < n; j++)
			wanted[j] = sets[runs[j]];
		for (int j = 0; j < compare->n_runs; j++)
			if (!kept[j]) {
				free(sets[j].values);
				free(sets[j].unknown);
			}
		memcpy(sets, wanted, sizeof(wanted));
	}
	for (int i = 0; i < compare->n_runs; i++)
		if (!kept[i])
			free_run(compare, i);
	memcpy(compare->runs, names, sizeof(names));
	memcpy(compare->conditions, conditions, sizeof(conditions));
	compare->n_runs = n;
	compare->last_run = -1;
}

int compare_add_fact(struct compare *compare, int run, enum compare_fact fact, const char *key,
		     const char *text)
{
	struct compare_facts *facts = &compare->conditions[run].facts[fact];
	int n = facts->n;

	for (int i = 0; i < n; i++)
		if (!strcmp(facts->all[i].key, key) && !strcmp(facts->all[i].text, text))
			return 0;
	if (n == COMPARE_MAX_FACTS) {
		facts->incomplete = true;
		return 0;
	}
	facts->all[n].key = strdup(key);
	facts->all[n].text = strdup(text);
	if (!facts->all[n].key || !facts->all[n].text) {
		free(facts->all[n].key);
		free(facts->all[n].text);
		return -ENOMEM;
	}
	facts->n++;
	return 0;
}

void compare_add_load(struct compare *compare, int run, double load)
{
	compare->conditions[run].load += load;
	compare->conditions[run].n_loads++;
}

/** Forget the metrics that @keep is false of. */
static void filter_metrics(struct compare *compare,
			   bool (*keep)(const struct compare_metric *metric, const void *arg),
			   const void *arg)
{
	int n = 0;

	for (int i = 0; i < compare->n_metrics; i++) {
		if (keep(compare->metrics[i], arg))
			compare->metrics[n++] = compare->metrics[i];
		else
			free_metric(compare->metrics[i]);
	}
	compare->n_metrics = n;
	compare->last_metric = -1;
}

bool compare_fits(const char *metric, const char *const *patterns, int n)
{
	for (int i = 0; i < n; i++)
		if (!fnmatch(patterns[i], metric, 0))
			return true;
	return false;
}

struct patterns {
	const char *const *patterns;
	int		n;
};

static bool fits(const struct compare_metric *metric, const void *arg)
{
	const struct patterns *patterns = arg;

	return compare_fits(metric->name, patterns->patterns, patterns->n);
}

void compare_judge(struct compare *compare, const char *const *patterns, int n,
		   enum compare_better better)
{
	for (int i = 0; i < compare->n_metrics; i++)
		if (compare_fits(compare->metrics[i]->name, patterns, n))
			compare->metrics[i]->better = better;
}

void compare_keep_metrics(struct compare *compare, const char *const *patterns, int n)
{
	const struct patterns arg = { patterns, n };

	filter_metrics(compare, fits, &arg);
}

/** @arg: whether metrics that no run knows are wanted all the same */
static bool is_not_zero(const struct compare_metric *metric, const void *arg)
{
	const bool *asked = arg;

	for (int run = 0; run < COMPARE_MAX_RUNS && *asked; run++)
		if (compare_is_unknown(&metric->sets[run]))
			return true;
	for (int run = 0; run < COMPARE_MAX_RUNS; run++)
		for (size_t i = 0; i < metric->sets[run].n; i++)
			if (metric->sets[run].values[i] != 0)
				return true;
	return false;
}

void compare_drop_zeros(struct compare *compare, bool asked)
{
	filter_metrics(compare, is_not_zero, &asked);
}
