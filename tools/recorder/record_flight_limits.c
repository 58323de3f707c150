// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_flight_limits.c
 * @brief	Judge the limits of a flight recorder: run kshark-virt check, and read its JSON.
 *
 * So a limit means the same here as there. check runs as a program of its own, because it reads
 * the trace with more of the product than a recorder needs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_read.h"
#include "record_flight.h"

/** How long check may take, and the length of its result. */
#define LIMITS_S	600
#define LIMITS_BYTES	(4u << 20)

static double number_of(struct json_object *row, const char *key)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(row, key, &value);
	return json_object_get_double(value);
}

/** Is this row about that limit? */
static bool is_of(struct json_object *row, const struct record_trigger *trigger)
{
	const char *name = json_object_get_string(json_member(row, "limit_of", json_type_string));

	return trigger->is_limit && name && strlen(name) == trigger->name_size &&
	       !strncmp(name, trigger->text, trigger->name_size) &&
	       number_of(row, "limit") == trigger->limit;
}

static void take_text(char *text, size_t size, struct json_object *row, const char *key)
{
	struct json_object *value = json_member(row, key, json_type_string);

	snprintf(text, size, "%s", value ? json_object_get_string(value) : "");
}

static void take_row(struct json_object *row, struct record_fired *fired)
{
	char result[16];
	double value = number_of(row, "value");

	take_text(result, sizeof(result), row, "result");
	if (strcmp(result, "unknown") != 0)
		fired->is_known = true;
	else if (!*fired->unknown)
		take_text(fired->unknown, sizeof(fired->unknown), row, "why");
	if (strcmp(result, "exceeded") != 0 || (fired->moments && value <= fired->value))
		return;
	fired->value = value;
	/* a limit of losses has no moments */
	fired->moments = (uint64_t)json_number_member(row, "count", 1);
	fired->moments += !fired->moments;
	fired->cost_ns = json_number_member(row, "worst_ns", 0);
	fired->time_ns = json_number_member(row, "worst_time_ns", 0);
	take_text(fired->vcpu, sizeof(fired->vcpu), row, "worst_vcpu");
	take_text(fired->of, sizeof(fired->of), row, "of");
	take_text(fired->unit, sizeof(fired->unit), row, "unit");
}

/** Notes may stand before the document. */
static int take_document(const char *said, const struct record_trigger *triggers, int n,
			 struct record_fired *fired, char *error, size_t size)
{
	const char *begin = *said == '{' ? said : strstr(said, "\n{\n");
	struct json_object *root, *rows;
	size_t n_rows;

	if (!begin) {
		snprintf(error, size, "kshark-virt check: %.400s", said);
		return -1;
	}
	if (json_read_text("kshark-virt check", begin, strlen(begin), &root, error, size))
		return -1;
	rows = json_list_member(root, "limits", &n_rows);
	for (size_t i = 0; i < n_rows; i++)
		for (int k = 0; k < n; k++)
			if (is_of(json_object_array_get_idx(rows, i), &triggers[k]))
				take_row(json_object_array_get_idx(rows, i), &fired[k]);
	json_object_put(root);
	return 0;
}

int record_flight_limits(const char *path, const struct record_trigger *triggers, int n,
			 struct record_fired *fired, char *error, size_t size)
{
	const char *argv[7 + 2 * RECORD_MAX_TRIGGERS + 1] = {
		"/proc/self/exe", "check", "--quiet", "--format", "json",
	};
	int n_args = 5, ret = -1;
	char *said;

	for (int i = 0; i < n; i++) {
		if (!triggers[i].is_limit)
			continue;
		argv[n_args++] = "--max";
		argv[n_args++] = triggers[i].text;
	}
	if (n_args == 5)
		return 0;
	argv[n_args++] = "--";
	argv[n_args] = path;
	said = malloc(LIMITS_BYTES);
	if (!said)
		snprintf(error, size, "not enough memory");
	else if (record_capture(argv, LIMITS_S, said, LIMITS_BYTES) < 0)
		snprintf(error, size, "kshark-virt check did not end within %d s", LIMITS_S);
	else
		ret = take_document(said, triggers, n, fired, error, size);
	free(said);
	return ret;
}
