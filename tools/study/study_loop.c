// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	study_loop.c
 * @brief	Rounds in random order, until the differences are known well enough.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "study.h"

static int pairs_of(const struct study_plan *plan)
{
	return plan->n_benchmarks * plan->n_configs;
}

static void show(const struct study *study, const struct study_run *run)
{
	if (study->quiet)
		return;
	ksv_note("%s %d: %s, %s: %.2f s", run->round ? "round" : "warm-up", run->round,
		 study->plan.benchmarks[run->benchmark].name,
		 study->plan.configs[run->config].name, run->wall_s);
}

static int run_pair(struct study *study, int round, int benchmark, int config)
{
	struct study_run run = { .round = round, .benchmark = benchmark, .config = config };
	int status = KSV_EXIT_OK;

	if (study_has_run(study, round, benchmark, config))
		return KSV_EXIT_OK;
	status = study_run_one(study, &run);
	if (!status)
		show(study, &run);
	return status;
}

/** The output of a benchmark must be what the plan expects, before hours are spent on it. */
static int check_output(const struct study *study, int benchmark)
{
	struct study_run run = { .benchmark = benchmark };
	struct compare values;
	char error[2048] = "";
	int ret;

	compare_init(&values);
	ret = study_read_raw(study, &run, &values, error, sizeof(error));
	if (ret)
		ksv_error("%s", *error ? error : "not enough memory");
	compare_free(&values);
	return ret ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

/** Without tracing; a benchmark that failed would fail again. */
static int warm_up(struct study *study)
{
	int status = KSV_EXIT_OK;

	if (study->n_runs)
		return KSV_EXIT_OK;
	for (size_t i = 0; !status && i < study->plan.warm_up; i++)
		for (int j = 0; !status && j < study->plan.n_benchmarks; j++) {
			struct study_run run = { .benchmark = j };

			status = study_run_one(study, &run);
			if (!status)
				show(study, &run);
			if (!status)
				status = check_output(study, j);
		}
	return status;
}

static int run_round(struct study *study, int round)
{
	int n = pairs_of(&study->plan), *order = calloc((size_t)n, sizeof(*order));
	int status = KSV_EXIT_OK;

	if (!order) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	study_order(study->plan.seed, round, study->plan.n_benchmarks, study->plan.n_configs,
		    order);
	for (int i = 0; !status && i < n; i++)
		status = run_pair(study, round, order[i] / study->plan.n_configs,
				  order[i] % study->plan.n_configs);
	free(order);
	return status;
}

/** Are the results good enough? @status: receives an exit status */
static bool is_enough(const struct study *study, int *status)
{
	struct study_results *results = calloc(1, sizeof(*results));
	bool enough;

	*status = KSV_EXIT_FILE;
	if (!results) {
		ksv_error("not enough memory");
		return true;
	}
	*status = study_results_make(study, results);
	enough = *status || study_is_narrow(study, results);
	study_results_free(results);
	free(results);
	return enough;
}

static int run_rounds(struct study *study)
{
	int64_t begin = record_now_ns(), longest = 0;
	int64_t most = (int64_t)study->plan.max_seconds * 1000000000;
	int status = warm_up(study);

	for (int round = 1; !status && round <= (int)study->plan.max_rounds; round++) {
		int64_t before = record_now_ns(), took;

		if (round > 1 && before - begin + longest > most) {
			ksv_note("%d rounds: another one would not end in %zu seconds (--max-time)",
				 round - 1, study->plan.max_seconds);
			break;
		}
		status = run_round(study, round);
		took = record_now_ns() - before;
		longest = took > longest ? took : longest;
		if (!status && round >= (int)study->plan.rounds && is_enough(study, &status))
			break;
	}
	return status;
}

int study_go(struct study *study)
{
	int status = run_rounds(study);

	if (study->signal)
		ksv_error("interrupted after %d runs; go on with: kshark-virt study --resume %s",
			  study->n_runs, study->folder);
	return status;
}
