// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_trace_symbols.c
 * @brief	Leave out the names of the kernel's functions when a trace.dat is opened.
 *
 * A trace.dat holds /proc/kallsyms, some 10 MB of text, and libtracecmd has libtraceevent parse it
 * whenever it opens the file: more than half of the instructions of a report. Only dump and the
 * lanes of a boot show names from it. A program's own function comes before that of a library, so
 * libtracecmd calls this one. Plugins do not contain it: KernelShark prints these names. In the
 * same way, libtracecmd does not unpack text that is left out, formats of events are kept, and
 * names of tasks are read without sscanf().
 */
#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event-parse.h>
#include <zstd.h>

#include "kvm_formats.h"
#include "kvm_source.h"
#include "kvm_trace_symbols.h"

typedef int parse_fn(struct tep_handle *tep, const char *text);

static bool is_wanted, is_kept, is_whole;

/** Of the file that was opened last; or NULL. */
static struct tep_handle *kept_tep;
static char *kept_text;

void kvm_trace_use_symbols(void)
{
	is_wanted = true;
}

void kvm_trace_read_whole(void)
{
	is_whole = true;
}

void kvm_trace_keep_symbols(void)
{
	is_kept = true;
}

/** Call the function that this program's own one hides. */
static int parse_on(const char *function, struct tep_handle *tep, const char *text)
{
	void *next = dlsym(RTLD_NEXT, function);
	parse_fn *parse;

	if (!next)
		return 0;
	memcpy(&parse, &next, sizeof(parse));
	return parse(tep, text);
}

static int parse_symbols(struct tep_handle *tep, const char *kallsyms)
{
	return parse_on("tep_parse_kallsyms", tep, kallsyms);
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

typedef enum tep_errno event_fn(struct tep_handle *tep, const char *buf, unsigned long size,
				const char *sys);

__attribute__((visibility("default")))
enum tep_errno tep_parse_event(struct tep_handle *tep, const char *buf, unsigned long size,
			       const char *sys)
{
	event_fn *parse;
	void *next;

	if (!is_wanted && !is_whole && kvm_formats_keep(tep, buf, size, sys))
		return TEP_ERRNO__SUCCESS;
	next = dlsym(RTLD_NEXT, "tep_parse_event");
	if (!next)
		return TEP_ERRNO__READ_FORMAT_FAILED;
	memcpy(&parse, &next, sizeof(parse));
	return parse(tep, buf, size, sys);
}

typedef struct tep_event *find_fn(struct tep_handle *tep, const char *sys, const char *name);

/** libtracecmd adds events of its own if some of ftrace are there. */
__attribute__((visibility("default")))
struct tep_event *tep_find_event_by_name(struct tep_handle *tep, const char *sys, const char *name)
{
	void *next = dlsym(RTLD_NEXT, "tep_find_event_by_name");
	find_fn *find;

	if (!next)
		return NULL;
	kvm_formats_ask(tep, sys, name);
	memcpy(&find, &next, sizeof(find));
	return find(tep, sys, name);
}

/** A line "1234 name"; numbers with more digits are left to sscanf(). Return: the name, or NULL. */
static const char *name_in(const char *line, int *pid)
{
	const char *at = line;

	*pid = 0;
	for (; *at >= '0' && *at <= '9' && at - line < 9; at++)
		*pid = *pid * 10 + (*at - '0');
	return at > line && *at == ' ' && at[1] && !isspace((unsigned char)at[1]) ? at + 1 : NULL;
}

/** @text: is changed. Return: false, before any task: sscanf() must look at the lines. */
static bool register_tasks(struct tep_handle *tep, char *text)
{
	const char *line = text;
	char *at, *next = NULL;
	int pid;

	for (; (line += strspn(line, "\n"), *line); line = strchrnul(line, '\n'))
		if (!name_in(line, &pid))
			return false;
	for (at = strtok_r(text, "\n", &next); at; at = strtok_r(NULL, "\n", &next)) {
		const char *name = name_in(at, &pid);

		tep_register_comm(tep, name, pid);
	}
	return true;
}

__attribute__((visibility("default")))
int tep_parse_saved_cmdlines(struct tep_handle *tep, const char *buf)
{
	char *copy = strdup(buf);
	bool is_done = copy && register_tasks(tep, copy);

	free(copy);
	return is_done ? 0 : parse_on("tep_parse_saved_cmdlines", tep, buf);
}

/** Has libtracecmd just read the packed text of the file that it opens? */
static bool is_left_out(size_t room)
{
	const struct kvm_source_opening *opening = kvm_source_opening();

	return !is_wanted && !is_kept && !is_whole && opening && opening->symbols.end &&
	       opening->symbols.size >= sizeof(uint32_t) && opening->symbols.size <= room &&
	       lseek(opening->fd, 0, SEEK_CUR) == (off_t)opening->symbols.end;
}

typedef size_t unpack_fn(ZSTD_DCtx *context, void *to, size_t room, const void *from, size_t size);

/** The text begins with the number of its bytes: of none, libtracecmd reads no more than that. */
__attribute__((visibility("default")))
size_t ZSTD_decompressDCtx(ZSTD_DCtx *context, void *to, size_t room, const void *from, size_t size)
{
	void *next = dlsym(RTLD_NEXT, "ZSTD_decompressDCtx");
	unpack_fn *unpack;

	if (is_left_out(room)) {
		memset(to, 0, sizeof(uint32_t));
		return kvm_source_opening()->symbols.size;
	}
	if (!next)
		return (size_t)-1;
	memcpy(&unpack, &next, sizeof(unpack));
	return unpack(context, to, room, from, size);
}
