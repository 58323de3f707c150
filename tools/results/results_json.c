// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	results_json.c
 * @brief	Results of fio and hyperfine in JSON.
 */
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "json_read.h"
#include "results.h"

static const char *name_of(struct json_object *object, const char *key, const char *missing)
{
	struct json_object *text = json_member(object, key, json_type_string);

	return text ? json_object_get_string(text) : missing;
}

/* --- fio ------------------------------------------------------------------------------------- */

static bool fits_fio(const struct results_file *file)
{
	return json_member(file->json, "fio version", json_type_string);
}

/** A metric of a job and a direction. */
static int add_fio(struct results_file *file, const char *prefix, const char *name,
		   enum compare_better better, double value)
{
	char metric[RESULTS_MAX_NAME + 40];

	snprintf(metric, sizeof(metric), "%s.%s", prefix, name);
	return results_add(file, metric, better, value);
}

/** Latencies. fio 2 has microseconds. */
static int add_latency(struct results_file *file, struct json_object *direction,
		       const char *prefix, const char *kind)
{
	static const char *const percentiles[] = { "50", "90", "95", "99", "99.9" };
	struct json_object *latency, *all;
	char name[40], key[20];
	double scale = 1, value;
	int ret = 0;

	snprintf(key, sizeof(key), "%s_ns", kind);
	latency = json_member(direction, key, json_type_object);
	if (!latency) {
		latency = json_member(direction, kind, json_type_object);
		scale = 1000;
	}
	if (results_json_number(latency, "mean", &value)) {
		snprintf(name, sizeof(name), "%s_mean_ns", kind);
		ret = add_fio(file, prefix, name, COMPARE_LOWER, value * scale);
	}
	if (!ret && results_json_number(latency, "max", &value)) {
		snprintf(name, sizeof(name), "%s_max_ns", kind);
		ret = add_fio(file, prefix, name, COMPARE_LOWER, value * scale);
	}
	all = json_member(latency, "percentile", json_type_object);
	for (size_t i = 0; i < ARRAY_SIZE(percentiles) && !ret; i++) {
		results_number(percentiles[i], &value, NULL);
		snprintf(key, sizeof(key), "%.6f", value);
		if (!results_json_number(all, key, &value))
			continue;
		snprintf(name, sizeof(name), "%s_p%s_ns", kind, percentiles[i]);
		ret = add_fio(file, prefix, name, COMPARE_LOWER, value * scale);
	}
	return ret;
}

static int add_direction(struct results_file *file, struct json_object *job, const char *direction)
{
	struct json_object *numbers = json_member(job, direction, json_type_object);
	char prefix[RESULTS_MAX_NAME];
	double value, ios = 0;
	int ret = 0;

	/* what a job did not do has zeros */
	if (!numbers || !results_json_number(numbers, "total_ios", &ios) || ios <= 0)
		return 0;
	snprintf(prefix, sizeof(prefix), "fio.%.100s.%s", name_of(job, "jobname", "job"),
		 direction);
	if (results_json_number(numbers, "iops", &value))
		ret = add_fio(file, prefix, "iops", COMPARE_HIGHER, value);
	if (!ret && results_json_number(numbers, "bw_bytes", &value))
		ret = add_fio(file, prefix, "bytes_per_s", COMPARE_HIGHER, value);
	else if (!ret && results_json_number(numbers, "bw", &value))
		ret = add_fio(file, prefix, "bytes_per_s", COMPARE_HIGHER, value * 1024);
	if (!ret)
		ret = add_latency(file, numbers, prefix, "clat");
	return ret ? ret : add_latency(file, numbers, prefix, "lat");
}

/** The options of all jobs, which should be the same in all runs; files may have other names. */
static int add_settings(struct results_file *file, struct json_object *job)
{
	static const char *const keys[] = {
		"rw", "bs", "size", "iodepth", "numjobs", "ioengine", "direct", "runtime",
	};
	struct json_object *options = json_member(job, "job options", json_type_object);
	struct json_object *global = json_member(file->json, "global options", json_type_object);
	char text[RESULTS_MAX_NAME] = "", key[RESULTS_MAX_NAME];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys) && n < sizeof(text); i++) {
		const char *value = name_of(options, keys[i], name_of(global, keys[i], NULL));

		if (value)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s=%s", n ? " " : "",
					      keys[i], value);
	}
	snprintf(key, sizeof(key), "fio %.100s", name_of(job, "jobname", "job"));
	return results_fact(file, COMPARE_SETTINGS, key, text);
}

static int add_job(struct results_file *file, struct json_object *job)
{
	static const char *const directions[] = { "read", "write", "trim" };
	int ret = 0;

	if (json_number_member(job, "error", 0)) {
		results_note(file, "job %.100s failed with error %d: it is left out",
			     name_of(job, "jobname", "job"),
			     (int)json_number_member(job, "error", 0));
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(directions) && !ret; i++)
		ret = add_direction(file, job, directions[i]);
	return ret ? ret : add_settings(file, job);
}

static int read_fio(struct results_file *file)
{
	struct json_object *jobs = json_member(file->json, "jobs", json_type_array);
	int ret = results_fact(file, COMPARE_PROGRAM, "fio",
			       name_of(file->json, "fio version", ""));

	for (size_t i = 0; jobs && i < json_object_array_length(jobs) && !ret; i++)
		ret = add_job(file, json_object_array_get_idx(jobs, i));
	return ret;
}

const struct results_format results_fio = {
	.name = "fio JSON", .expected = "fio --output-format=json", .fits = fits_fio,
	.read = read_fio,
};

/* --- hyperfine ------------------------------------------------------------------------------- */

static struct json_object *first_of(struct json_object *array)
{
	return array && json_object_array_length(array) ? json_object_array_get_idx(array, 0) :
	       NULL;
}

static bool fits_hyperfine(const struct results_file *file)
{
	struct json_object *first =
		first_of(json_member(file->json, "results", json_type_array));

	return json_member(first, "command", json_type_string) &&
	       json_member(first, "times", json_type_array);
}

/** The number of runs that did not end with status 0. */
static size_t failed_runs(struct json_object *result)
{
	struct json_object *codes = json_member(result, "exit_codes", json_type_array);
	size_t n = 0;

	for (size_t i = 0; codes && i < json_object_array_length(codes); i++) {
		struct json_object *code = json_object_array_get_idx(codes, i);

		n += !json_object_is_type(code, json_type_int) || json_object_get_int(code) != 0;
	}
	return n;
}

static int add_command(struct results_file *file, struct json_object *result)
{
	static const char *const means[] = { "user", "system" };
	struct json_object *times = json_member(result, "times", json_type_array);
	const char *command = name_of(result, "command", "command");
	char metric[RESULTS_MAX_NAME];
	double value;
	int ret = 0;

	if (failed_runs(result))
		results_note(file, "%zu runs of '%.100s' failed", failed_runs(result), command);
	snprintf(metric, sizeof(metric), "hyperfine.%.100s.time_s", command);
	for (size_t i = 0; times && i < json_object_array_length(times) && !ret; i++) {
		struct json_object *time = json_object_array_get_idx(times, i);

		if (json_object_is_type(time, json_type_double) ||
		    json_object_is_type(time, json_type_int))
			ret = results_add(file, metric, COMPARE_LOWER,
					  json_object_get_double(time));
	}
	for (size_t i = 0; i < ARRAY_SIZE(means) && !ret; i++) {
		snprintf(metric, sizeof(metric), "hyperfine.%.100s.%s_s", command, means[i]);
		if (results_json_number(result, means[i], &value))
			ret = results_add(file, metric, COMPARE_LOWER, value);
	}
	return ret;
}

static int read_hyperfine(struct results_file *file)
{
	struct json_object *results = json_member(file->json, "results", json_type_array);
	int ret = 0;

	for (size_t i = 0; i < json_object_array_length(results) && !ret; i++)
		ret = add_command(file, json_object_array_get_idx(results, i));
	return ret;
}

const struct results_format results_hyperfine = {
	.name = "hyperfine JSON", .expected = "hyperfine --export-json", .fits = fits_hyperfine,
	.read = read_hyperfine,
};
