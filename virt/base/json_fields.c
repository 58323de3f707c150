// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	json_fields.c
 * @brief	Read, write and free structs by tables of their members.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "json_fields.h"
#include "json_read.h"

/* --- numbers in memory ----------------------------------------------------------------------- */

static int64_t load(const void *at, size_t width, bool is_signed)
{
	if (width == 1)
		return *(const uint8_t *)at;
	if (width == 2 && is_signed)
		return *(const int16_t *)at;
	if (width == 2)
		return *(const uint16_t *)at;
	if (width == 4 && is_signed)
		return *(const int32_t *)at;
	return width == 4 ? *(const uint32_t *)at : *(const int64_t *)at;
}

static void store(void *at, size_t width, int64_t number)
{
	if (width == 1)
		*(uint8_t *)at = (uint8_t)number;
	else if (width == 2)
		*(uint16_t *)at = (uint16_t)number;
	else if (width == 4)
		*(uint32_t *)at = (uint32_t)number;
	else
		*(int64_t *)at = number;
}

static void *member(const struct json_field *field, const void *from)
{
	return (void *)((uintptr_t)from + field->offset);
}

static uint8_t *known(const struct json_field *field, const void *from)
{
	return (uint8_t *)((uintptr_t)from + field->has - 1);
}

static int64_t number_in(const struct json_field *field, const void *from)
{
	return load(member(field, from), field->width, field->is_signed);
}

static size_t count(const struct json_field *list, const void *from)
{
	return (size_t)load((const char *)from + list->n, list->width, false);
}

static void *element(const struct json_field *list, const void *from, size_t i)
{
	return *(char **)member(list, from) + i * list->size;
}

/** Is what a field has in memory no value? */
static bool is_none(const struct json_field *field, const void *from)
{
	return field->has ? !*known(field, from) :
	       !field->always && number_in(field, from) == field->none;
}

/* --- writing --------------------------------------------------------------------------------- */

static struct json_object *new_real(const struct json_field *field, double number)
{
	char text[64];

	if (!field->decimals)
		return json_object_new_double(number);
	snprintf(text, sizeof(text), "%.*f", field->decimals, number);
	return json_object_new_double_s(number, text);
}

/** A value that is no object and no list. Return: NULL if there is none, or without memory. */
static struct json_object *new_value(const struct json_field *field, const void *from)
{
	switch (field->kind) {
	case JSON_TEXT:
		return json_text_new(*(char **)member(field, from));
	case JSON_NUMBER:
		return json_object_new_int64(number_in(field, from) - field->plus);
	case JSON_BITS:
		return json_bits_new((uint64_t)number_in(field, from));
	case JSON_REAL:
		return new_real(field, *(double *)member(field, from));
	case JSON_FLAG:
		return json_object_new_boolean(*(bool *)member(field, from));
	default:
		return json_object_new_string(field->word((int)number_in(field, from)));
	}
}

static bool is_written(const struct json_field *field, const void *from)
{
	if (field->when && !field->when(from))
		return false;
	switch (field->kind) {
	case JSON_TEXT:
		return *(char **)member(field, from);
	case JSON_NUMBER:
	case JSON_BITS:
	case JSON_WORD:
		return !is_none(field, from);
	case JSON_FLAG:
		return field->always || *(bool *)member(field, from);
	case JSON_INSIDE:
		return !field->has || *known(field, from);
	case JSON_LIST:
		return field->always || count(field, from);
	default:
		return true;
	}
}

static int write_element(struct json_object *list, const struct json_field *field,
			 const void *from)
{
	struct json_object *object;
	int ret;

	if (field->line)
		return json_add(list, NULL, json_line_write(field->fields, from, NULL));
	if (!field->fields->key)
		return json_add(list, NULL, new_value(field->fields, from));
	object = json_object_new_object();
	ret = json_add(list, NULL, object);
	return ret ? ret : json_fields_write(object, field->fields, from);
}

static int write_list(struct json_object *object, const struct json_field *field, const void *from)
{
	struct json_object *list = json_object_new_array();
	int ret = json_add(object, field->key, list);

	for (size_t i = 0; i < count(field, from) && !ret; i++)
		ret = write_element(list, field, element(field, from, i));
	return ret;
}

static int write_field(struct json_object *object, const struct json_field *field,
		       const void *from)
{
	struct json_object *inside;
	int ret;

	if (!is_written(field, from))
		return 0;
	switch (field->kind) {
	case JSON_INSIDE:
		inside = json_object_new_object();
		ret = json_add(object, field->key, inside);
		return ret ? ret : json_fields_write(inside, field->fields, member(field, from));
	case JSON_LIST:
		return write_list(object, field, from);
	case JSON_OWN:
		return field->put(object, field->key, member(field, from));
	default:
		return json_add(object, field->key, new_value(field, from));
	}
}

int json_fields_write(struct json_object *object, const struct json_field *fields,
		      const void *from)
{
	int ret = 0;

	for (; fields->kind && !ret; fields++)
		ret = write_field(object, fields, from);
	return ret;
}

/* --- reading --------------------------------------------------------------------------------- */

/** The value itself, if an element is no object. */
static struct json_object *value_of(struct json_object *object, const struct json_field *field,
				    json_type type)
{
	if (field->key)
		return json_member(object, field->key, type);
	return json_object_is_type(object, type) ? object : NULL;
}

static bool in_limits(const struct json_field *field, int64_t number)
{
	return number >= field->least && number <= field->most;
}

static bool read_number(struct json_object *object, const struct json_field *field, void *to)
{
	struct json_object *value = value_of(object, field, json_type_int);
	int64_t number = value ? json_object_get_int64(value) : 0;

	if (value && in_limits(field, number)) {
		store(member(field, to), field->width, number + field->plus);
		if (number_in(field, to) - field->plus == number)
			return true;
	}
	store(member(field, to), field->width, field->none);
	return false;
}

static bool read_bits(struct json_object *object, const struct json_field *field, void *to)
{
	uint64_t bits;
	bool right = json_bits_member(object, field->key, &bits) &&
		     (field->width == 8 || !(bits >> 8 * field->width));

	store(member(field, to), field->width, right ? (int64_t)bits : field->none);
	return right;
}

static bool read_real(struct json_object *object, const struct json_field *field, void *to)
{
	struct json_object *value;
	bool there = json_object_is_type(object, json_type_object) &&
		     json_object_object_get_ex(object, field->key, &value);

	*(double *)member(field, to) = there ? json_object_get_double(value) : 0;
	return there;
}

/** The number of a word with @length bytes, or -1. */
static int find_word(const struct json_field *field, const char *text, size_t length)
{
	for (int i = 0; i <= field->most; i++)
		if (strlen(field->word(i)) == length && !memcmp(field->word(i), text, length))
			return i;
	return -1;
}

static bool read_word(struct json_object *object, const struct json_field *field, void *to)
{
	struct json_object *value = value_of(object, field, json_type_string);
	const char *text = json_object_get_string(value);
	int i = text ? find_word(field, text, strlen(text)) : -1;

	store(member(field, to), field->width, i < 0 ? field->none : i);
	return i >= 0;
}

static bool read_flag(struct json_object *object, const struct json_field *field, void *to)
{
	struct json_object *value = value_of(object, field, json_type_boolean);

	*(bool *)member(field, to) = value && json_object_get_boolean(value);
	return value;
}

/** Return: 1 if there is a possible one, 0, or -ENOMEM. */
static int read_text(struct json_object *object, const struct json_field *field, void *to)
{
	struct json_object *value = value_of(object, field, json_type_string);
	const char *text = json_object_get_string(value);
	char **copy = member(field, to);

	*copy = NULL;
	if (!text || strlen(text) != (size_t)json_object_get_string_len(value))
		return 0;
	*copy = strdup(text);
	return *copy ? 1 : -ENOMEM;
}

/** Return: 1 if there is a possible value, 0, or a negative errno. */
static int read_value(struct json_object *object, const struct json_field *field, void *to)
{
	switch (field->kind) {
	case JSON_TEXT:
		return read_text(object, field, to);
	case JSON_NUMBER:
		return read_number(object, field, to);
	case JSON_BITS:
		return read_bits(object, field, to);
	case JSON_REAL:
		return read_real(object, field, to);
	case JSON_FLAG:
		return read_flag(object, field, to);
	default:
		return read_word(object, field, to);
	}
}

/** Return: 0, 1 to leave it out, or a negative errno. */
static int read_element(struct json_object *value, const struct json_field *list, void *to)
{
	struct json_wrong inside;
	const char *rest;
	int ret;

	if (list->line) {
		rest = json_object_is_type(value, json_type_string) ?
		       json_line_read(json_object_get_string(value), list->fields, to) : NULL;
		return rest && !*rest ? 0 : -EINVAL;
	}
	if (list->fields->key) {
		ret = json_fields_read(value, list->fields, to, &inside);
	} else {
		ret = read_value(value, list->fields, to);
		if (ret >= 0)
			ret = ret ? 0 : list->fields->must ? -EINVAL : 1;
	}
	return ret || !list->check ? ret : list->check(to);
}

/** Only for elements that are kept: a file may have very many that are not. */
static int grow(const struct json_field *field, void *to, size_t n, size_t *room, size_t most)
{
	void **array = member(field, to), *more;
	size_t before = *room;

	if (n < before)
		return 0;
	more = array_room(*array, field->size, n, room, most);
	if (!more)
		return -ENOMEM;
	memset((char *)more + before * field->size, 0, (*room - before) * field->size);
	*array = more;
	store((char *)to + field->room, field->width, (int64_t)*room);
	return 0;
}

static int read_list(struct json_object *object, const struct json_field *field, void *to,
		     struct json_wrong *wrong)
{
	size_t length, n = 0, room = 0;
	struct json_object *list = json_list_member(object, field->key, &length);
	int ret = 0;

	wrong->n = length;
	if (field->most && length > (size_t)field->most) {
		if (!field->cut)
			return -E2BIG;
		length = (size_t)field->most;
	}
	for (size_t i = 0; i < length && ret >= 0; i++) {
		void *one;

		if (grow(field, to, n, &room, length))
			return -ENOMEM;
		one = element(field, to, n);
		wrong->i = i;
		ret = read_element(json_object_array_get_idx(list, i), field, one);
		if (!ret) {
			store((char *)to + field->n, field->width, (int64_t)++n);
			continue;
		}
		if (field->fields->key)
			json_fields_free(field->fields, one);
		memset(one, 0, field->size);
	}
	return ret < 0 ? ret : 0;
}

static int read_inside(struct json_object *object, const struct json_field *field, void *to,
		       struct json_wrong *wrong)
{
	struct json_object *inside = json_member(object, field->key, json_type_object);

	if (field->has)
		*known(field, to) = inside != NULL;
	if (!inside && field->has)
		return 0;
	return json_fields_read(inside, field->fields, member(field, to), wrong);
}

static int read_field(struct json_object *object, const struct json_field *field, void *to,
		      struct json_wrong *wrong)
{
	int ret;

	switch (field->kind) {
	case JSON_INSIDE:
		return read_inside(object, field, to, wrong);
	case JSON_LIST:
		return read_list(object, field, to, wrong);
	case JSON_OWN:
		return field->take(object, field->key, member(field, to));
	default:
		ret = read_value(object, field, to);
		if (field->has && ret >= 0)
			*known(field, to) = (uint8_t)ret;
		if (ret)
			return ret < 0 ? ret : 0;
		return field->must || (field->strict && json_member(object, field->key,
								    json_type_int)) ? -EINVAL : 0;
	}
}

int json_fields_read(struct json_object *object, const struct json_field *fields, void *to,
		     struct json_wrong *wrong)
{
	int ret = 0;

	*wrong = (struct json_wrong){ 0 };
	for (; fields->kind && !ret; fields++) {
		ret = read_field(object, fields, to, wrong);
		if (ret && (fields->kind != JSON_INSIDE || ret == -EINVAL))
			wrong->key = fields->key;
	}
	return ret;
}

/* --- frequencies ----------------------------------------------------------------------------- */

/** As xen_clock.h takes them for real. */
#define MIN_KHZ		1000
#define MAX_KHZ		100000000

int json_khz_put(struct json_object *object, const char *key, const void *khz)
{
	const uint64_t *number = khz;

	return *number ? json_add(object, key, json_object_new_uint64(*number)) : 0;
}

int json_khz_take(struct json_object *object, const char *key, void *khz)
{
	struct json_object *value;
	uint64_t *to = khz;
	double number;

	*to = 0;
	if (!json_object_object_get_ex(object, key, &value) || !value)
		return 0;
	number = json_object_is_type(value, json_type_int) ||
		 json_object_is_type(value, json_type_double) ? json_object_get_double(value) : -1;
	if (!(number >= MIN_KHZ && number <= MAX_KHZ && number == (double)(uint64_t)number))
		return -EINVAL;
	*to = (uint64_t)number;
	return 0;
}

void json_khz_error(struct json_object *object, const char *path, char *error, size_t size)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(object, JSON_KHZ, &value);
	text_format(error, size, "%s: " JSON_KHZ " %.40s is no CPU frequency in kHz, a whole "
		    "number from %d to %d: correct it", path, json_object_to_json_string(value),
		    MIN_KHZ, MAX_KHZ);
}

/* --- freeing and adding ---------------------------------------------------------------------- */

static void free_list(const struct json_field *list, void *from)
{
	void **array = member(list, from);

	for (size_t i = 0; *array && i < count(list, from); i++)
		json_fields_free(list->fields, element(list, from, i));
	free(*array);
	*array = NULL;
}

void json_fields_free(const struct json_field *fields, void *from)
{
	for (; fields->kind; fields++) {
		if (fields->kind == JSON_LIST) {
			free_list(fields, from);
		} else if (fields->kind == JSON_INSIDE) {
			json_fields_free(fields->fields, member(fields, from));
		} else if (fields->kind == JSON_TEXT) {
			free(*(char **)member(fields, from));
			*(char **)member(fields, from) = NULL;
		}
	}
}

static int copy_texts(const struct json_field *fields, void *to)
{
	int ret = 0;

	for (; fields->kind; fields++) {
		char **text = member(fields, to);

		if (fields->kind != JSON_TEXT || !*text)
			continue;
		*text = ret ? NULL : strdup(*text);
		if (!*text)
			ret = -ENOMEM;
	}
	return ret;
}

int json_list_add(const struct json_field *fields, const char *key, void *to, const void *from)
{
	const struct json_field *list = fields;
	size_t n, room;
	void **array, *grown;

	while (strcmp(list->key, key) != 0)
		list++;
	n = count(list, to);
	room = (size_t)load((char *)to + list->room, list->width, false);
	array = member(list, to);
	grown = array_room(*array, list->size, n, &room, INT32_MAX);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	store((char *)to + list->room, list->width, (int64_t)room);
	store((char *)to + list->n, list->width, (int64_t)n + 1);
	memcpy(element(list, to, n), from, list->size);
	return copy_texts(list->fields, element(list, to, n));
}

/* --- lines ----------------------------------------------------------------------------------- */

/** A number; a blank or the end follows it. @text: moved past both */
static bool take_number(const char **text, int64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoll(*text, &end, 10);
	if (errno || end == *text || (*end && *end != ' '))
		return false;
	*text = *end ? end + 1 : end;
	return true;
}

static bool take_letters(const char *text, const struct json_field *field, void *to)
{
	int64_t bits = 0;

	if (!strcmp(text, "-"))
		text++;
	for (; *text; text++) {
		const char *found = *text == ' ' ? NULL : strchr(field->letters, *text);

		if (!found)
			return false;
		bits |= 1 << (found - field->letters);
	}
	store(member(field, to), field->width, bits);
	return true;
}

static bool take_word(const char **text, const struct json_field *field, void *to)
{
	size_t length = strcspn(*text, " ");
	int i = find_word(field, *text, length);

	*text += length + ((*text)[length] == ' ');
	store(member(field, to), field->width, i);
	return i >= 0;
}

static bool take_numeric(const char **text, const struct json_field *field, void *to)
{
	bool unknown = !field->always && !strcmp(*text, "?");
	int64_t number = field->none;

	if (field->has)
		*known(field, to) = !unknown;
	if (unknown)
		*text += 1;
	else if (!take_number(text, &number) || !in_limits(field, number))
		return false;
	store(member(field, to), field->width, number);
	return true;
}

const char *json_line_read(const char *text, const struct json_field *fields, void *to)
{
	for (; fields->kind; fields++) {
		if (fields->kind == JSON_LETTERS) {
			if (!take_letters(text, fields, to))
				return NULL;
			text += strlen(text);
		} else if (fields->kind == JSON_WORD) {
			if (!take_word(&text, fields, to))
				return NULL;
		} else if (!take_numeric(&text, fields, to)) {
			return NULL;
		}
	}
	return text;
}

/** Return: the length. */
static size_t put_letters(char *to, const struct json_field *field, int64_t bits)
{
	size_t n = 0;

	for (int i = 0; field->letters[i]; i++)
		if (field->letters[i] != ' ' && bits >> i & 1)
			to[n++] = field->letters[i];
	if (!n)
		to[n++] = '-';
	return n;
}

/** Of fields that are numbers, words or letters; each is short. */
#define MOST_LINE	256

struct json_object *json_line_write(const struct json_field *fields, const void *from,
				    const char *rest)
{
	struct json_object *line;
	char text[MOST_LINE];
	char *all = text;
	size_t n = 0;

	for (; fields->kind; fields++) {
		int64_t number = number_in(fields, from);

		if (n)
			text[n++] = ' ';
		if (fields->kind == JSON_LETTERS)
			n += put_letters(text + n, fields, number);
		else if (fields->kind == JSON_WORD)
			n += (size_t)sprintf(text + n, "%s", fields->word((int)number));
		else if (is_none(fields, from))
			text[n++] = '?';
		else
			n += (size_t)sprintf(text + n, "%" PRId64, number);
	}
	text[n] = '\0';
	if (rest && asprintf(&all, "%s %s", text, rest) < 0)
		return NULL;
	line = json_object_new_string(all);
	if (rest)
		free(all);
	return line;
}
