// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_trace_symbols.c
 * @brief	Leave out what only prints records when a trace.dat is opened.
 *
 * A trace.dat holds /proc/kallsyms, some 10 MB of text, and libtracecmd has libtraceevent parse it
 * whenever it opens the file: more than half of the instructions of a report. It also has it parse
 * how each event is printed. Only dump prints records, and lanes of a boot show names of functions.
 * A program's own function comes before that of a library, so libtracecmd calls these. Plugins do
 * not contain them: KernelShark prints.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "kvm_trace_symbols.h"

typedef int parse_fn(struct tep_handle *tep, const char *kallsyms);

static bool is_wanted, is_kept;

/** Of the file that was opened last; or NULL. */
static struct tep_handle *kept_tep;
static char *kept_text;

void kvm_trace_use_symbols(void)
{
	is_wanted = true;
}

void kvm_trace_keep_symbols(void)
{
	is_kept = true;
}

/** Call the function that this program's own one hides. */
static int parse_symbols(struct tep_handle *tep, const char *kallsyms)
{
	parse_fn *parse;
	void *next = dlsym(RTLD_NEXT, "tep_parse_kallsyms");

	if (!next)
		return 0;
	memcpy(&parse, &next, sizeof(parse));
	return parse(tep, kallsyms);
}

void kvm_trace_read_symbols(void)
{
	if (kept_text)
		parse_symbols(kept_tep, kept_text);
	free(kept_text);
	kept_text = NULL;
}

__attribute__((visibility("default")))
int tep_parse_kallsyms(struct tep_handle *tep, const char *kallsyms)
{
	if (is_wanted)
		return parse_symbols(tep, kallsyms);
	if (is_kept) {
		free(kept_text);
		kept_text = strdup(kallsyms);
		kept_tep = tep;
	}
	return 0;
}

/** Of this event, how it is printed shows which states it has: kvm_fields.h. */
static bool is_switch(const char *format, size_t size)
{
	static const char name[] = "name: sched_switch\n";

	return size >= sizeof(name) - 1 && !memcmp(format, name, sizeof(name) - 1);
}

/** An event's format up to how it is printed. Return: malloc'ed, or NULL if all of it is needed. */
static char *without_print(const char *format, size_t size, size_t *short_size)
{
	static const char print[] = "\nprint fmt:", nothing[] = " \"\"\n";
	const char *end = is_wanted || is_switch(format, size) ? NULL :
			  memmem(format, size, print, sizeof(print) - 1);
	size_t head = end ? (size_t)(end - format) + sizeof(print) - 1 : 0;
	char *copy = end ? malloc(head + sizeof(nothing)) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, format, head);
	memcpy(copy + head, nothing, sizeof(nothing));
	*short_size = head + sizeof(nothing) - 1;
	return copy;
}

__attribute__((visibility("default")))
enum tep_errno tep_parse_event(struct tep_handle *tep, const char *buf, unsigned long size,
			       const char *sys)
{
	enum tep_errno (*parse)(struct tep_handle *tep, const char *buf, unsigned long size,
				const char *sys);
	void *next = dlsym(RTLD_NEXT, "tep_parse_event");
	enum tep_errno ret;
	size_t short_size;
	char *copy;

	if (!next)
		return TEP_ERRNO__READ_FORMAT_FAILED;
	memcpy(&parse, &next, sizeof(parse));
	copy = without_print(buf, size, &short_size);
	ret = copy ? parse(tep, copy, short_size, sys) : parse(tep, buf, size, sys);
	free(copy);
	return ret;
}
