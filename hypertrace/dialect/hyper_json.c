// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	hyper_json.c
 * @brief	Read a user's own dialect from a file in the shape of the published ones.
 *
 * Anything in the file that is not understood is an error, and not a guess: otherwise a misspelled
 * word would be a register that is not read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "hyper_dialect.h"
#include "json_read.h"

#define MAX_ROWS	4096
#define MAX_NAMES	65536
#define MAX_WORD	64

/** A dialect that is being read; its strings and tables belong to it. */
struct reading {
	struct hyper_dialect	dialect;	/* first: hyper_dialect_free() */
	struct hyper_row	*rows;
	struct hyper_number_name *names;
	const char		*path;
	char			place[64];	/* in the file */
	char			*error;
	size_t			size;
};

static int refuse(struct reading *reading, const char *what, const char *word)
{
	text_format(reading->error, reading->size, "%s: %s%s%s%.*s%s; docs/hypertracing.md "
		    "describes the format", reading->path, reading->place,
		    *reading->place ? ": " : "", what, MAX_WORD, word ? word : "", word ? "'" : "");
	return -EINVAL;
}

static int no_memory(struct reading *reading)
{
	text_format(reading->error, reading->size, "%s: not enough memory", reading->path);
	return -ENOMEM;
}

/** Are all members of an object among those that are known? */
static int check_members(struct reading *reading, struct json_object *object,
			 const char *const *known)
{
	json_object_object_foreach(object, key, value) {
		size_t i = 0;

		(void)value;
		while (known[i] && strcmp(known[i], key) != 0)
			i++;
		if (!known[i])
			return refuse(reading, "nothing is called '", key);
	}
	return 0;
}

/** A whole number, or what it is if it is not there. */
static int get_number(struct reading *reading, struct json_object *object, const char *key,
		      int64_t most, int64_t missing, int64_t *number)
{
	struct json_object *value;

	*number = missing;
	if (json_object_object_get_ex(object, key, &value)) {
		*number = json_object_is_type(value, json_type_int) ?
			  json_object_get_int64(value) : -1;
		if (*number < 0 || *number > most)
			return refuse(reading, "no number that can be: '", key);
	}
	return *number < 0 ? refuse(reading, "there is no '", key) : 0;
}

static int get_text(struct reading *reading, struct json_object *object, const char *key,
		    const char **text)
{
	char *copy;
	int ret = json_text_member(object, key, &copy);

	if (ret)
		return no_memory(reading);
	*text = copy;
	if (!copy || !*copy || strlen(copy) >= MAX_WORD)
		return refuse(reading, "no short text: '", key);
	return 0;
}

/**
 * A word of a list. @missing: its number if it is not there; -1: it must be there
 */
static int get_word(struct reading *reading, struct json_object *object, const char *key,
		    const char *(*name)(int), int n, int missing, uint8_t *number)
{
	struct json_object *value;
	const char *word;

	*number = (uint8_t)missing;
	if (!json_object_object_get_ex(object, key, &value))
		return missing < 0 ? refuse(reading, "there is no '", key) : 0;
	word = json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
	for (int i = 0; i < n; i++) {
		*number = (uint8_t)i;
		if (name(i) && !strcmp(name(i), word))
			return 0;
	}
	return refuse(reading, "unknown word '", *word ? word : key);
}

static const char *kind_word(int i)
{
	return hyper_kind_name((enum hyper_kind)i);
}

static const char *edge_word(int i)
{
	return hyper_edge_name((enum hyper_edge)i);
}

static const char *field_word(int i)
{
	return hyper_field_name((enum hyper_field)i);
}

static int read_part(struct reading *reading, struct json_object *object, struct hyper_part *part)
{
	static const char *const known[] = { "is", "register", "shift", "bits", "only", NULL };
	int64_t reg, shift, bits;
	int ret;

	if (!json_object_is_type(object, json_type_object))
		return refuse(reading, "a field is no object", NULL);
	ret = check_members(reading, object, known);
	if (!ret)
		ret = get_word(reading, object, "is", field_word, HYPER_N_FIELDS, -1, &part->field);
	if (!ret)
		ret = get_number(reading, object, "register", HYPER_N_REGISTERS - 1, -1, &reg);
	if (!ret)
		ret = get_number(reading, object, "shift", 63, 0, &shift);
	if (!ret)
		ret = get_number(reading, object, "bits", 64, 0, &bits);
	if (!ret)
		ret = get_word(reading, object, "only", edge_word, HYPER_N_EDGES, HYPER_AT_ONCE,
			       &part->only);
	if (ret)
		return ret;
	if (shift + bits > 64)
		return refuse(reading, "a register has 64 bits", NULL);
	part->reg = (uint8_t)reg;
	part->shift = (uint8_t)shift;
	part->bits = (uint8_t)bits;
	return 0;
}

/** Does a row have the fields that its kind needs? */
static int check_row(struct reading *reading, const struct hyper_row *row)
{
	uint32_t given = 0;
	bool edge = row->edge != HYPER_AT_ONCE;

	for (int i = 0; i < HYPER_MAX_FIELDS && row->parts[i].field; i++) {
		given |= UINT32_C(1) << row->parts[i].field;
		edge |= row->parts[i].field == HYPER_F_EDGE;
	}
	for (int field = 1; field < HYPER_N_FIELDS; field++)
		if ((hyper_kind_needs((enum hyper_kind)row->kind) & ~given) >> field & 1)
			return refuse(reading, "an event of this kind needs a field that is '",
				      hyper_field_name((enum hyper_field)field));
	if (edge && row->kind >= HYPER_N_SLICES)
		return refuse(reading, "an event of this kind has no entry and exit", NULL);
	if (!edge && row->kind < HYPER_N_SLICES && row->kind != HYPER_OTHER &&
	    row->kind != HYPER_LEVEL && row->kind != HYPER_SHUTDOWN)
		return refuse(reading, "an event of this kind needs 'edge'", NULL);
	return 0;
}

static int read_row(struct reading *reading, struct json_object *object, struct hyper_row *row)
{
	static const char *const known[] = { "number", "name", "kind", "edge", "fields", NULL };
	struct json_object *parts = json_member(object, "fields", json_type_array);
	struct json_object *any;
	int64_t number;
	size_t n = parts ? json_object_array_length(parts) : 0;
	int ret;

	if (!json_object_is_type(object, json_type_object))
		return refuse(reading, "it is no object", NULL);
	ret = check_members(reading, object, known);
	if (!ret)
		ret = get_number(reading, object, "number", UINT32_MAX, -1, &number);
	if (!ret)
		ret = get_text(reading, object, "name", &row->name);
	if (!ret)
		ret = get_word(reading, object, "kind", kind_word, HYPER_N_KINDS, -1, &row->kind);
	if (!ret)
		ret = get_word(reading, object, "edge", edge_word, HYPER_N_EDGES, HYPER_AT_ONCE,
			       &row->edge);
	if (ret)
		return ret;
	if (hyper_kvm_number((uint64_t)number))
		return refuse(reading, "its number is KVM's own '",
			      hyper_kvm_number((uint64_t)number));
	if (reading->dialect.number_bits && number >> reading->dialect.number_bits)
		return refuse(reading, "its number has more than 'number_bits'", NULL);
	if (n > HYPER_MAX_FIELDS || (!parts && json_object_object_get_ex(object, "fields", &any)))
		return refuse(reading, "'fields' is no list of up to 8", NULL);
	row->number = (uint32_t)number;
	for (size_t i = 0; i < n && !ret; i++)
		ret = read_part(reading, json_object_array_get_idx(parts, i), &row->parts[i]);
	return ret ? ret : check_row(reading, row);
}

static int read_name(struct reading *reading, struct json_object *object,
		     struct hyper_number_name *name)
{
	static const char *const known[] = { "kind", "number", "name", NULL };
	int64_t number;
	int ret;

	if (!json_object_is_type(object, json_type_object))
		return refuse(reading, "it is no object", NULL);
	ret = check_members(reading, object, known);
	if (!ret)
		ret = get_word(reading, object, "kind", kind_word, HYPER_N_KINDS, -1, &name->kind);
	if (!ret)
		ret = get_number(reading, object, "number", INT32_MAX, -1, &number);
	if (ret)
		return ret;
	name->number = (int32_t)number;
	return get_text(reading, object, "name", &name->name);
}

static int compare_rows(const void *a, const void *b)
{
	const struct hyper_row *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int read_rows(struct reading *reading, struct json_object *list)
{
	size_t n = list ? json_object_array_length(list) : 0;
	int ret = 0;

	if (!n || n > MAX_ROWS)
		return refuse(reading, "there is no list 'events' of up to 4096", NULL);
	reading->rows = calloc(n, sizeof(*reading->rows));
	if (!reading->rows)
		return no_memory(reading);
	reading->dialect.rows = reading->rows;
	reading->dialect.n_rows = n;
	for (size_t i = 0; i < n && !ret; i++) {
		snprintf(reading->place, sizeof(reading->place), "event %zu of %zu", i + 1, n);
		ret = read_row(reading, json_object_array_get_idx(list, i), &reading->rows[i]);
	}
	if (ret)
		return ret;
	qsort(reading->rows, n, sizeof(*reading->rows), compare_rows);
	for (size_t i = 1; i < n && !ret; i++) {
		snprintf(reading->place, sizeof(reading->place), "number %u",
			 reading->rows[i].number);
		if (reading->rows[i].number == reading->rows[i - 1].number)
			ret = refuse(reading, "it is there twice", NULL);
	}
	return ret;
}

static int read_names(struct reading *reading, struct json_object *list)
{
	size_t n = list ? json_object_array_length(list) : 0;
	int ret = 0;

	if (n > MAX_NAMES)
		return refuse(reading, "too many 'names'", NULL);
	reading->names = calloc(n + 1, sizeof(*reading->names));
	if (!reading->names)
		return no_memory(reading);
	reading->dialect.names = reading->names;
	reading->dialect.n_names = n;
	for (size_t i = 0; i < n && !ret; i++) {
		snprintf(reading->place, sizeof(reading->place), "name %zu of %zu", i + 1, n);
		ret = read_name(reading, json_object_array_get_idx(list, i), &reading->names[i]);
	}
	return ret;
}

static int read_dialect(struct reading *reading, struct json_object *root)
{
	static const char *const known[] = {
		"hypertrace_dialect", "about", "number_bits", "events", "names", NULL
	};
	struct json_object *names;
	int64_t bits;
	int ret = check_members(reading, root, known);

	if (!ret)
		ret = get_text(reading, root, "hypertrace_dialect", &reading->dialect.name);
	if (!ret && json_object_object_get_ex(root, "about", &names))
		ret = get_text(reading, root, "about", &reading->dialect.about);
	if (!ret)
		ret = get_number(reading, root, "number_bits", 32, 0, &bits);
	if (ret)
		return ret;
	reading->dialect.number_bits = (uint8_t)bits;
	if (json_object_object_get_ex(root, "names", &names) &&
	    !json_object_is_type(names, json_type_array))
		return refuse(reading, "no list: '", "names");
	ret = read_rows(reading, json_member(root, "events", json_type_array));
	return ret ? ret : read_names(reading, json_member(root, "names", json_type_array));
}

int hyper_dialect_read(const char *path, struct hyper_dialect **dialect, char *error, size_t size)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	struct json_object *root = NULL;
	int ret;

	*dialect = NULL;
	if (!reading) {
		text_format(error, size, "%s: not enough memory", path);
		return -ENOMEM;
	}
	reading->path = path;
	reading->error = error;
	reading->size = size;
	ret = json_read_file(path, &root, error, size);
	if (!ret)
		ret = read_dialect(reading, root);
	json_object_put(root);
	if (ret)
		hyper_dialect_free(&reading->dialect);
	else
		*dialect = &reading->dialect;
	return ret;
}

void hyper_dialect_free(struct hyper_dialect *dialect)
{
	struct reading *reading = (struct reading *)dialect;

	if (!reading)
		return;
	for (size_t i = 0; i < dialect->n_rows; i++)
		free((char *)reading->rows[i].name);
	for (size_t i = 0; i < dialect->n_names; i++)
		free((char *)reading->names[i].name);
	free((char *)dialect->name);
	free((char *)dialect->about);
	free(reading->rows);
	free(reading->names);
	free(reading);
}
