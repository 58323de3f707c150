// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_formats.c
 * @brief	Formats of events that libtraceevent parses when they are asked for.
 *
 * libtraceevent then has the same events in the same order as if it had parsed all: it sorts them
 * by their numbers. So all are parsed at once if two have the same number. How a record is printed
 * is left out: of most formats, that is the larger part. An event that is asked for by its name is
 * read here, unless that part is needed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "array.h"
#include "kvm_formats.h"

/** Event ids have 16 bits. */
#define N_IDS		65536

/** Of an event that libtraceevent has parsed at once. */
#define PARSED		UINT32_MAX

struct kvm_formats {
	struct kvm_format *all;
	size_t		n, room;
	uint32_t	*number;	/* by id: in @all + 1, or PARSED; 0: there is no event */
	bool		is_off;		/* all that follow are parsed at once */
	bool		is_parsing;
	bool		is_finding;
};

static _Thread_local struct kvm_formats *used;

/** A line of a format. */
struct field {
	const char	*name;
	size_t		name_size;
	int		offset, size;
	bool		is_array;
};

/** What is read without libtraceevent: types and signs are left out. */
struct read_event {
	struct tep_event event;
	size_t		n;
	struct tep_format_field fields[];	/* their text comes after them */
};

/* --- how a kernel writes a format ------------------------------------------------------------ */

struct text {
	const char	*at, *end;
};

static bool eat(struct text *text, const char *word)
{
	size_t size = strlen(word);

	if ((size_t)(text->end - text->at) < size || memcmp(text->at, word, size) != 0)
		return false;
	text->at += size;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool begins_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/** Decimal: libtraceevent takes what begins with 0 for octal. */
static bool eat_number(struct text *text, int *value)
{
	const char *begin = text->at;

	*value = 0;
	for (; text->at < text->end && is_digit(*text->at) && text->at - begin < 9; text->at++)
		*value = *value * 10 + (*text->at - '0');
	return text->at - begin == 1 || (text->at > begin && *begin != '0');
}

/** Return: its size, 0 if there is none. */
static size_t eat_word(struct text *text)
{
	const char *begin = text->at;

	if (text->at == text->end || !begins_word(*begin))
		return 0;
	while (text->at < text->end && (begins_word(*text->at) || is_digit(*text->at)))
		text->at++;
	return (size_t)(text->at - begin);
}

/** "[16]", or "[]". */
static bool eat_brackets(struct text *text)
{
	int value;

	if (!eat(text, "["))
		return false;
	eat_number(text, &value);
	return eat(text, "]");
}

static bool eat_name(struct text *text, struct field *field)
{
	field->name = text->at;
	field->name_size = eat_word(text);
	return field->name_size;
}

/** Words and stars with blanks between them: "unsigned int x", "char x[16]", "const char * x". */
static bool eat_plain(struct text *text, struct field *field)
{
	struct field last;
	size_t n_words = 0;

	while (eat_name(text, &last)) {
		*field = last;
		n_words++;
		if (eat(text, " "))
			(void)(eat(text, "* ") || eat(text, "*"));
	}
	if (n_words < 2 || text->at[-1] == ' ' || text->at[-1] == '*')
		return false;
	field->is_array = text->at < text->end && *text->at == '[';
	return !field->is_array || eat_brackets(text);
}

/** "__data_loc char[] x" */
static bool eat_located(struct text *text, struct field *field)
{
	while (eat_word(text) && eat(text, " "))
		continue;
	field->is_array = true;
	return text->at[-1] != ' ' && eat_brackets(text) && eat(text, " ") &&
	       eat_name(text, field);
}

static bool eat_field(struct text *text, struct field *field)
{
	int value;

	if (!eat(text, "\tfield:") ||
	    !(eat(text, "__data_loc ") || eat(text, "__rel_loc ") ? eat_located(text, field) :
								     eat_plain(text, field)))
		return false;
	if (!eat(text, ";\toffset:") || !eat_number(text, &field->offset) ||
	    !eat(text, ";\tsize:") || !eat_number(text, &field->size) || !eat(text, ";"))
		return false;
	return eat(text, "\n") ||
	       (eat(text, "\tsigned:") && eat_number(text, &value) && eat(text, ";\n"));
}

static bool eat_head(struct text *text, struct kvm_format *format)
{
	if (!eat(text, "name: "))
		return false;
	format->name = text->at;
	format->name_size = eat_word(text);
	return format->name_size && eat(text, "\nID: ") && eat_number(text, &format->id) &&
	       eat(text, "\nformat:\n");
}

/** The fields that all events have, a blank line, others. */
static bool eat_fields(struct text *text, struct kvm_format *format)
{
	struct field field;

	while (eat_field(text, &field))
		format->n_common++;
	if (!format->n_common || !eat(text, "\n"))
		return false;
	while (eat_field(text, &field))
		format->n_own++;
	return format->n_own && eat(text, "\nprint fmt:");
}

/* --- without libtraceevent ------------------------------------------------------------------- */

/** @text: the place in it, which can be changed */
static void add_field(struct read_event *read, char *text, const struct field *field,
		      struct tep_format_field ***end)
{
	struct tep_format_field *to = &read->fields[read->n++];

	text[field->name_size] = '\0';
	*to = (struct tep_format_field){
		.event = &read->event, .name = text, .offset = field->offset, .size = field->size,
		.flags = field->is_array ? TEP_FIELD_IS_ARRAY : 0,
	};
	**end = to;
	*end = &to->next;
}

static void add_fields(struct read_event *read, char *text, struct text *rest, size_t n,
		       struct tep_format_field **list)
{
	const char *begin = rest->at;
	struct field field = { 0 };

	for (size_t i = 0; i < n && eat_field(rest, &field); i++)
		add_field(read, text + (field.name - begin), &field, &list);
}

/** The same event as libtraceevent would have. Return: NULL without memory. */
static struct tep_event *read_format(struct tep_handle *tep, struct kvm_format *format)
{
	size_t n = format->n_common + format->n_own;
	struct text rest = { format->text, format->text + format->head };
	struct read_event *read = format->read;
	struct kvm_format head = { 0 };
	char *text;

	if (read)
		return &read->event;
	format->read = read = calloc(1, sizeof(*read) + n * sizeof(*read->fields) + format->head);
	if (!read)
		return NULL;
	text = (char *)&read->fields[n];
	memcpy(text, format->text, format->head);
	eat_head(&rest, &head);
	add_fields(read, text + (rest.at - format->text), &rest, format->n_common,
		   &read->event.format.common_fields);
	eat(&rest, "\n");
	add_fields(read, text + (rest.at - format->text), &rest, format->n_own,
		   &read->event.format.fields);
	text[format->name - format->text + format->name_size] = '\0';
	read->event.tep = tep;
	read->event.id = format->id;
	read->event.name = text + (format->name - format->text);
	return &read->event;
}

/* --- those of a file ------------------------------------------------------------------------- */

struct kvm_formats *kvm_formats_new(void)
{
	struct kvm_formats *formats = calloc(1, sizeof(*formats));

	if (!formats)
		return NULL;
	formats->number = calloc(N_IDS, sizeof(*formats->number));
	if (formats->number)
		return formats;
	free(formats);
	return NULL;
}

void kvm_formats_free(struct kvm_formats *formats)
{
	if (!formats)
		return;
	for (size_t i = 0; i < formats->n; i++) {
		free(formats->all[i].text);
		free(formats->all[i].read);
	}
	free(formats->all);
	free(formats->number);
	free(formats);
}

void kvm_formats_use(struct kvm_formats *formats)
{
	used = formats;
}

static bool is_called(const struct kvm_format *format, const char *name)
{
	return *format->name == *name && !strncmp(format->name, name, format->name_size) &&
	       !name[format->name_size];
}

/** How these are printed shows states and flags: kvm_fields.c, kvm_memory_fields.c. */
static const char *const read_prints[] = { "sched_switch", "mm_page_alloc" };

static bool is_print_read(const struct kvm_format *format)
{
	for (size_t i = 0; i < ARRAY_SIZE(read_prints); i++)
		if (is_called(format, read_prints[i]))
			return true;
	return false;
}

static void leave_out_print(struct kvm_format *format)
{
	static const char nothing[] = " \"\"\n";

	if (is_print_read(format) || format->size - format->head < sizeof(nothing) - 1)
		return;
	memcpy(format->text + format->head, nothing, sizeof(nothing) - 1);
	format->size = format->head + sizeof(nothing) - 1;
}

static void parse(struct kvm_formats *formats, struct tep_handle *tep, struct kvm_format *format)
{
	if (!format->text)
		return;
	if (!formats->is_off)
		leave_out_print(format);
	formats->is_parsing = true;
	tep_parse_event(tep, format->text, (unsigned long)format->size, format->system);
	formats->is_parsing = false;
	free(format->text);
	format->text = NULL;
}

/** Nothing is kept any more. */
static void give_up(struct kvm_formats *formats, struct tep_handle *tep)
{
	formats->is_off = true;
	for (size_t i = 0; i < formats->n; i++)
		parse(formats, tep, &formats->all[i]);
}

/** Return: false without memory. */
static bool add(struct kvm_formats *formats, const struct kvm_format *found, const char *text,
		const char *system)
{
	size_t system_size = strlen(system) + 1;
	struct kvm_format *to;
	char *copy;

	if (ARRAY_GROW(formats->all, formats->n, formats->room))
		return false;
	copy = malloc(found->size + system_size);
	if (!copy)
		return false;
	memcpy(copy, text, found->size);
	memcpy(copy + found->size, system, system_size);
	to = &formats->all[formats->n++];
	*to = *found;
	to->text = copy;
	to->name = copy + (found->name - text);
	to->system = copy + found->size;
	formats->number[found->id] = (uint32_t)formats->n;
	return true;
}

bool kvm_formats_keep(struct tep_handle *tep, const char *text, size_t size, const char *system)
{
	struct kvm_format found = { .size = size };
	struct text rest = { text, text + size };

	if (!used || used->is_off || used->is_parsing)
		return false;
	if (!system || !eat_head(&rest, &found) || found.id >= N_IDS || used->number[found.id]) {
		give_up(used, tep);
		return false;
	}
	used->number[found.id] = PARSED;
	if (!eat_fields(&rest, &found))
		return false;
	found.head = (size_t)(rest.at - text);
	return add(used, &found, text, system);
}

void kvm_formats_settle(struct tep_handle *tep)
{
	struct kvm_format *lowest = NULL;

	for (size_t i = 0; used && i < used->n; i++)
		if (!lowest || used->all[i].id < lowest->id)
			lowest = &used->all[i];
	if (lowest)
		parse(used, tep, lowest);
}

/* --- asking for them ------------------------------------------------------------------------- */

static bool is_asked_for(const struct kvm_format *format, const char *system, const char *name)
{
	return format->text && is_called(format, name) &&
	       (!system || !strcmp(format->system, system));
}

void kvm_formats_ask(struct tep_handle *tep, const char *system, const char *name)
{
	for (size_t i = 0; used && !used->is_finding && i < used->n; i++)
		if (is_asked_for(&used->all[i], system, name))
			parse(used, tep, &used->all[i]);
}

struct tep_event *kvm_formats_find(struct tep_handle *tep, const char *system, const char *name)
{
	struct kvm_format *lowest = NULL;
	struct tep_event *event;

	for (size_t i = 0; used && i < used->n; i++) {
		struct kvm_format *format = &used->all[i];

		if (!is_asked_for(format, system, name))
			continue;
		if (is_print_read(format))
			parse(used, tep, format);
		else if (!lowest || format->id < lowest->id)
			lowest = format;
	}
	if (used)
		used->is_finding = true;
	event = tep_find_event_by_name(tep, system, name);
	if (used)
		used->is_finding = false;
	return lowest && (!event || lowest->id < event->id) ? read_format(tep, lowest) : event;
}

void kvm_formats_each(struct tep_handle *tep, const char *system, kvm_format_fn *take, void *arg)
{
	int n = tep_get_events_count(tep);
	char name[256];

	for (size_t i = 0; used && i < used->n; i++) {
		const struct kvm_format *format = &used->all[i];

		if (!format->text || strcmp(format->system, system) != 0 ||
		    format->name_size >= sizeof(name))
			continue;
		memcpy(name, format->name, format->name_size);
		name[format->name_size] = '\0';
		take(arg, format->id, name);
	}
	for (int i = 0; i < n; i++) {
		const struct tep_event *event = tep_get_event(tep, i);

		if (event && event->system && event->name && !strcmp(event->system, system))
			take(arg, event->id, event->name);
	}
}

int kvm_formats_count(struct tep_handle *tep)
{
	int n = tep_get_events_count(tep);

	for (size_t i = 0; used && i < used->n; i++)
		n += used->all[i].text != NULL;
	return n;
}

struct tep_event *kvm_formats_find_id(struct kvm_formats *formats, struct tep_handle *tep, int id)
{
	uint32_t number = formats && id >= 0 && id < N_IDS ? formats->number[id] : 0;

	if (number && number != PARSED)
		parse(formats, tep, &formats->all[number - 1]);
	return tep_find_event(tep, id);
}

bool kvm_formats_can_print(const struct kvm_formats *formats)
{
	return !formats || !formats->n;
}

size_t kvm_formats_kept(const struct kvm_formats *formats, const struct kvm_format **kept)
{
	*kept = formats ? formats->all : NULL;
	return formats ? formats->n : 0;
}
