// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_formats.c
 * @brief	Formats of events that libtraceevent parses when they are asked for.
 *
 * libtraceevent then has the same events in the same order as if it had parsed all: it sorts them
 * by their numbers. So all are parsed at once if two have the same number. How a record is printed
 * is left out: of most formats, that is the larger part.
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
};

static _Thread_local struct kvm_formats *used;

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

/** Words and stars with blanks between them: "unsigned int x", "char x[16]", "const char * x". */
static bool eat_plain(struct text *text)
{
	size_t n_words = 0;

	while (eat_word(text)) {
		n_words++;
		if (eat(text, " "))
			(void)(eat(text, "* ") || eat(text, "*"));
	}
	if (n_words < 2 || text->at[-1] == ' ' || text->at[-1] == '*')
		return false;
	return text->at == text->end || *text->at != '[' || eat_brackets(text);
}

/** "__data_loc char[] x" */
static bool eat_located(struct text *text)
{
	while (eat_word(text) && eat(text, " "))
		continue;
	return text->at[-1] != ' ' && eat_brackets(text) && eat(text, " ") && eat_word(text);
}

static bool eat_field(struct text *text)
{
	int value;

	if (!eat(text, "\tfield:") ||
	    !(eat(text, "__data_loc ") || eat(text, "__rel_loc ") ? eat_located(text) :
								     eat_plain(text)))
		return false;
	if (!eat(text, ";\toffset:") || !eat_number(text, &value) || !eat(text, ";\tsize:") ||
	    !eat_number(text, &value) || !eat(text, ";"))
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
static bool eat_fields(struct text *text)
{
	size_t n = 0;

	while (eat_field(text))
		n++;
	if (!n || !eat(text, "\n"))
		return false;
	for (n = 0; eat_field(text); n++)
		continue;
	return n && eat(text, "\nprint fmt:");
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
	for (size_t i = 0; i < formats->n; i++)
		free(formats->all[i].text);
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
	if (!eat_fields(&rest))
		return false;
	found.head = (size_t)(rest.at - text);
	if (!add(used, &found, text, system))
		return false;
	/* libtracecmd itself uses those of ftrace */
	if (!strcmp(system, "ftrace"))
		parse(used, tep, &used->all[used->n - 1]);
	return true;
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

struct tep_event *kvm_formats_find(struct tep_handle *tep, const char *system, const char *name)
{
	for (size_t i = 0; used && i < used->n; i++) {
		struct kvm_format *format = &used->all[i];

		if (format->text && is_called(format, name) &&
		    (!system || !strcmp(format->system, system)))
			parse(used, tep, format);
	}
	return tep_find_event_by_name(tep, system, name);
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
