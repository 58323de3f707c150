// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	study_journal.c
 * @brief	The journal of a study: a line of JSON for each run that has ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "escape.h"
#include "json_read.h"
#include "regular_file.h"
#include "results.h"
#include "study.h"
#include "whole_file.h"

#define JOURNAL_MAX_BYTES	(32 << 20)

/** Numbers of a run; those that are not known are left out. */
static const struct {
	const char	*key;
	size_t		offset;
} numbers[] = {
	{ "wall_s", offsetof(struct study_run, wall_s) },
	{ "load", offsetof(struct study_run, load) },
	{ "cpu_percent", offsetof(struct study_run, cpu_percent) },
	{ "others_percent", offsetof(struct study_run, others_percent) },
	{ "own_s", offsetof(struct study_run, own_s) },
	{ "steal_percent", offsetof(struct study_run, steal_percent) },
	{ "memory_mib", offsetof(struct study_run, memory_mib) },
	{ "runnable", offsetof(struct study_run, runnable) },
	{ "throttled", offsetof(struct study_run, throttled) },
	{ "records", offsetof(struct study_run, records) },
	{ "lost", offsetof(struct study_run, lost) },
	{ "bytes", offsetof(struct study_run, bytes) },
	{ "guest_records", offsetof(struct study_run, guest_records) },
	{ "guest_bytes", offsetof(struct study_run, guest_bytes) },
	{ "exits", offsetof(struct study_run, exits) },
};

static double *number_of(struct study_run *run, size_t i)
{
	return (double *)((char *)run + numbers[i].offset);
}

/* --- writing --------------------------------------------------------------------------------- */

/**
 * Nine digits are more than any of them is exact to.
 * @number: becomes what is read again later, so that results stay the same
 */
static struct json_object *number_new(double *number)
{
	char text[40];

	snprintf(text, sizeof(text), "%.9g", *number);
	*number = strtod(text, NULL);
	return json_object_new_double_s(*number, text);
}

static int put_run(struct json_object *object, const struct study_plan *plan,
		   struct study_run *run)
{
	int ret = json_add(object, "round", json_object_new_int(run->round));

	if (!ret)
		ret = json_add(object, "benchmark",
			       json_text_new(plan->benchmarks[run->benchmark].name));
	if (!ret)
		ret = json_add(object, "configuration",
			       json_text_new(plan->configs[run->config].name));
	for (size_t i = 0; !ret && i < ARRAY_SIZE(numbers); i++)
		if (isfinite(*number_of(run, i)))
			ret = json_add(object, numbers[i].key, number_new(number_of(run, i)));
	if (!ret && *run->kernel)
		ret = json_add(object, "kernel", json_text_new(run->kernel));
	if (!ret && *run->governor)
		ret = json_add(object, "governor", json_text_new(run->governor));
	return ret;
}

/** What an interrupted writer has left of a line would spoil the next one. */
static int cut_last_line(int fd)
{
	char block[4096];
	off_t size = lseek(fd, 0, SEEK_END), at = size;

	while (at > 0) {
		off_t from = at > (off_t)sizeof(block) ? at - (off_t)sizeof(block) : 0;
		ssize_t n = pread(fd, block, (size_t)(at - from), from);

		if (n != at - from)
			return -EIO;
		for (; n && block[n - 1] != '\n'; n--)
			;
		at = from + n;
		if (n)
			break;
	}
	return size < 0 || (at < size && ftruncate(fd, at)) ? -errno : 0;
}

static int append(const char *path, const char *line)
{
	size_t n = strlen(line);
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	int ret = fd < 0 ? -errno : cut_last_line(fd);

	if (!ret && write(fd, line, n) != (ssize_t)n)
		ret = errno ? -errno : -ENOSPC;
	if (!ret && fsync(fd))
		ret = -errno;
	if (fd >= 0)
		close(fd);
	return ret;
}

static size_t bit_of(int round, int benchmark, int config)
{
	return ((size_t)round * STUDY_MAX_BENCHMARKS + (size_t)benchmark) * STUDY_MAX_CONFIGS +
	       (size_t)config;
}

bool study_has_run(const struct study *study, int round, int benchmark, int config)
{
	size_t bit = bit_of(round, benchmark, config);

	return study->done[bit / 8] >> bit % 8 & 1;
}

static int keep(struct study *study, const struct study_run *run)
{
	size_t bit = bit_of(run->round, run->benchmark, run->config);

	if (ARRAY_GROW(study->runs, study->n_runs, study->room_runs))
		return -ENOMEM;
	study->runs[study->n_runs++] = *run;
	study->done[bit / 8] |= (unsigned char)(1u << bit % 8);
	return 0;
}

int study_journal_add(struct study *study, const struct study_run *run)
{
	struct json_object *object = json_object_new_object();
	struct study_run copy = *run;
	char path[STUDY_PATH], *line = NULL;
	int ret = object ? put_run(object, &study->plan, &copy) : -ENOMEM;

	snprintf(path, sizeof(path), "%s/journal.jsonl", study->folder);
	if (!ret && asprintf(&line, "%s\n", json_object_to_json_string_ext(object,
			     JSON_C_TO_STRING_PLAIN)) < 0)
		ret = -ENOMEM;
	if (!ret)
		ret = append(path, line);
	if (!ret)
		ret = keep(study, &copy);
	json_object_put(object);
	free(line);
	if (ret)
		ksv_error("%s: cannot be written: %s", path, strerror(-ret));
	return ret ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

/* --- reading --------------------------------------------------------------------------------- */

static int find_name(struct json_object *object, const char *key, const struct study_plan *plan,
		     bool benchmarks)
{
	struct json_object *member = json_member(object, key, json_type_string);
	const char *name = member ? json_object_get_string(member) : "";
	int n = benchmarks ? plan->n_benchmarks : plan->n_configs;

	for (int i = 0; i < n; i++)
		if (!strcmp(benchmarks ? plan->benchmarks[i].name : plan->configs[i].name, name))
			return i;
	return -1;
}

static void copy_member(struct json_object *object, const char *key, char *text, size_t size)
{
	struct json_object *member = json_member(object, key, json_type_string);

	text_format(text, size, "%s", member ? json_object_get_string(member) : "");
}

/** Return: 0, or -EINVAL with a reason in @why. */
static int read_run(const struct study_plan *plan, struct json_object *object,
		    struct study_run *run, const char **why)
{
	int64_t round = json_number_member(object, "round", -1);

	*run = (struct study_run){
		.round = (int)round,
		.benchmark = find_name(object, "benchmark", plan, true),
		.config = find_name(object, "configuration", plan, false),
	};
	*why = "no round of the plan";
	if (round < 0 || round > STUDY_MAX_ROUNDS)
		return -EINVAL;
	*why = "a benchmark or configuration that the plan has not";
	if (run->benchmark < 0 || run->config < 0)
		return -EINVAL;
	*why = "a number that is none";
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct json_object *member;
		double *number = number_of(run, i);

		*number = NAN;
		if (!json_object_object_get_ex(object, numbers[i].key, &member))
			continue;
		if (!results_json_number(object, numbers[i].key, number) || !isfinite(*number) ||
		    *number < 0)
			return -EINVAL;
	}
	copy_member(object, "kernel", run->kernel, sizeof(run->kernel));
	copy_member(object, "governor", run->governor, sizeof(run->governor));
	return 0;
}

static int read_line(struct study *study, const char *path, size_t number, const char *line,
		     size_t length, char *error, size_t size)
{
	struct json_object *object = NULL;
	const char *why = "no object of JSON";
	char ignored[512];
	struct study_run run;
	int ret = json_read_text(path, line, length, &object, ignored, sizeof(ignored));

	if (!ret)
		ret = read_run(&study->plan, object, &run, &why);
	json_object_put(object);
	if (!ret && run.round && study_has_run(study, run.round, run.benchmark, run.config)) {
		why = "a run that an earlier line has, too";
		ret = -EINVAL;
	}
	if (!ret)
		ret = keep(study, &run);
	if (ret)
		text_format(error, size, "%s, line %zu: %s", path, number,
			    ret == -ENOMEM ? "not enough memory" : why);
	return ret;
}

int study_journal_read_text(struct study *study, const char *path, char *text, size_t length,
			    char *error, size_t size)
{
	char *at = text, *end;
	int ret = 0;

	if (strlen(text) != length) {
		text_format(error, size, "%s: no text", path);
		return -EINVAL;
	}
	for (size_t number = 1; !ret && (end = strchr(at, '\n')); number++) {
		*end = '\0';
		ret = read_line(study, path, number, at, (size_t)(end - at), error, size);
		at = end + 1;
	}
	if (!ret && *at)
		ksv_note("%s: its last line has no end: the run was interrupted, and is left out",
			 path);
	return ret;
}

int study_journal_read(struct study *study, char *error, size_t size)
{
	char path[STUDY_PATH], *text = NULL;
	size_t length;
	int ret;

	snprintf(path, sizeof(path), "%s/journal.jsonl", study->folder);
	ret = whole_file_read(path, JOURNAL_MAX_BYTES, &text, &length);
	if (ret == -ENOENT)
		return 0;
	if (ret)
		text_format(error, size, "%s: cannot read: %s", path, regular_file_error(ret));
	else
		ret = study_journal_read_text(study, path, text, length, error, size);
	free(text);
	return ret;
}
