// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	study_check.c
 * @brief	List what a study needs and does not have, with the remedies, before its first run.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "escape.h"
#include "record_buffers.h"
#include "record_tracing.h"
#include "study.h"

/** Programs of packages that have another name. */
static const struct {
	const char	*program, *package;
} packages[] = {
	{ "hackbench", "rt-tests" }, { "cyclictest", "rt-tests" },
};

static const char *package_of(const char *program)
{
	for (size_t i = 0; i < ARRAY_SIZE(packages); i++)
		if (!strcmp(packages[i].program, program))
			return packages[i].package;
	return program;
}

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/** As execvp() finds it. */
static bool has_program(const char *name)
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];

	if (strchr(name, '/'))
		return is_program(name);
	for (at = at ? at : "/bin:/usr/bin"; *at; ) {
		size_t n = strcspn(at, ":");

		if (snprintf(path, sizeof(path), "%.*s%s%s", (int)n, at, n ? "/" : "", name) <
		    (int)sizeof(path) && is_program(path))
			return true;
		at += n + (at[n] == ':');
	}
	return false;
}

/** Return: how many things are missing, after messages. */
static int check_benchmark(const struct study *study, const struct study_benchmark *benchmark)
{
	const struct study_guest *guest = benchmark->where ?
					  study_find_guest(&study->plan, benchmark->where) : NULL;
	const char *program = benchmark->command[0];
	char *word, *script = NULL, said[4096];
	int status;

	if (!guest && has_program(program))
		return 0;
	if (!guest) {
		ksv_error("%s: there is no program %s: apt-get install %s", benchmark->name,
			  program, package_of(program));
		return 1;
	}
	word = escape_shell_dup(program);
	if (!word || asprintf(&script, "command -v %s", word) < 0)
		script = NULL;
	status = script ? study_ssh(guest, script, said, sizeof(said)) : -1;
	/* 255 is ssh's own */
	if (status < 0 || status == 255)
		ksv_error("%s: ssh %s does not answer any more: %s", guest->name, guest->target,
			  *said ? said : "no answer");
	else if (status)
		ksv_error("%s: the guest %s has no program %s: apt-get install %s there",
			  benchmark->name, guest->name, program, package_of(program));
	free(script);
	free(word);
	return status != 0;
}

static bool traces(const struct study *study, unsigned int where)
{
	for (int i = 0; i < study->plan.n_configs; i++)
		if (study->plan.configs[i].where & where)
			return true;
	return false;
}

static int check_guest(const struct study *study, const struct study_guest *guest)
{
	char said[4096];
	int status = study_ssh(guest, "echo uid=$(id -u).", said, sizeof(said));

	if (status == 127 && !*said)
		ksv_error("ssh is not installed: apt-get install openssh-client");
	else if (status || !strstr(said, "uid="))
		ksv_error("%s: ssh %s does not answer without a password: %s", guest->name,
			  guest->target, *said ? said : "no answer");
	else if (traces(study, STUDY_GUESTS) && !strstr(said, "uid=0."))
		ksv_error("%s: %s is not root there, and only root can trace: --guest "
			  "%s=ssh:root@...", guest->name, guest->target, guest->name);
	else
		return 0;
	return 1;
}

static int check_host(const struct study *study)
{
	char *used;

	if (!traces(study, STUDY_HOST))
		return 0;
	if (record_is_xen())
		return study_xen_check(study);
	if (!record_check_root(study->command->name))
		return 1;
	if (!record_there("%s/instances", record_tracing())) {
		ksv_error("%s has no instances: this kernel is too old, or built without them",
			  record_tracing());
		return 1;
	}
	used = record_tracing_in_use();
	if (used)
		ksv_note("tracing is in use: %s; it costs time in all configurations alike", used);
	free(used);
	return 0;
}

int study_check(struct study *study)
{
	int missing = check_host(study);

	for (int i = 0; i < study->plan.n_guests; i++)
		missing += check_guest(study, &study->plan.guests[i]);
	for (int i = 0; !missing && i < study->plan.n_benchmarks; i++)
		missing += check_benchmark(study, &study->plan.benchmarks[i]);
	return missing || record_lock_take(&study->record) ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

int study_try(struct study *study)
{
	const struct timespec now = { .tv_sec = 0 };
	struct study_run ignored = { .round = 0 };
	int status = KSV_EXIT_OK;

	if (record_tracing())
		record_instance_sweep(STUDY_INSTANCE);
	for (int i = 0; i < study->plan.n_configs; i++) {
		const struct study_config *config = &study->plan.configs[i];

		int number = record_next_signal(&now);

		if (number > 0 && number != SIGCHLD) {
			study->signal = number;
			ksv_error("interrupted before the first run");
			status = KSV_EXIT_FILE;
			break;
		}
		if (!config->where)
			continue;
		if (!study_trace_begin(study, config) && !study_trace_end(study, config, &ignored))
			continue;
		ksv_error("the configuration %s cannot be traced", config->name);
		status = KSV_EXIT_FILE;
	}
	study_trace_clean(study);
	return status;
}
