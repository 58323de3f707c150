/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_study.c
 * @brief	Any bytes as the plan or the journal of a study: only names and numbers that can be
 *		used are accepted.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char usual[] =
	"{ \"benchmarks\": [ { \"name\": \"a\", \"command\": [\"true\"] } ], "
	"\"configurations\": [ \"none\", \"events\" ] }";

static void check_plan(const struct study_plan *plan)
{
	if (plan->n_configs < 2 || !plan->n_benchmarks || plan->rounds > plan->max_rounds ||
	    !plan->rounds || plan->max_rounds > STUDY_MAX_ROUNDS)
		abort();
	for (int i = 0; i < plan->n_benchmarks; i++)
		if (!*plan->benchmarks[i].command[0] || strchr(plan->benchmarks[i].name, '/') ||
		    *plan->benchmarks[i].name == '.')
			abort();
	for (int i = 0; i < plan->n_configs; i++)
		if (strchr(plan->configs[i].name, '/') || *plan->configs[i].name == '.' ||
		    (plan->configs[i].events && strpbrk(plan->configs[i].events, " ;'\"$`\n|&")))
			abort();
}

static void try_plan(const char *text, size_t size)
{
	struct study_plan *plan = malloc(sizeof(*plan));
	char error[2048] = "";
	int ret;

	if (!plan)
		return;
	study_plan_init(plan);
	ret = study_plan_read_text(plan, "plan", text, size, error, sizeof(error));
	if (ret && ret != -ENOMEM && !*error)
		abort();
	if (!ret)
		check_plan(plan);
	study_plan_free(plan);
	free(plan);
}

static void try_journal(char *text, size_t size)
{
	struct study *study = calloc(1, sizeof(*study));
	char error[2048] = "";
	int ret;

	if (!study)
		return;
	study_plan_init(&study->plan);
	if (study_plan_read_text(&study->plan, "plan", usual, strlen(usual), error, sizeof(error)))
		abort();
	ret = study_journal_read_text(study, "journal", text, size, error, sizeof(error));
	if (ret && ret != -ENOMEM && !*error)
		abort();
	for (int i = 0; i < study->n_runs; i++) {
		const struct study_run *run = &study->runs[i];

		if (run->config > 1 || run->benchmark || isinf(run->wall_s) || run->wall_s < 0 ||
		    !study_has_run(study, run->round, run->benchmark, run->config))
			abort();
	}
	study_plan_free(&study->plan);
	free(study->runs);
	free(study);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = size ? malloc(size) : NULL;

	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (*data & 1)
		try_plan(text, size - 1);
	else
		try_journal(text, size - 1);
	free(text);
	return 0;
}
