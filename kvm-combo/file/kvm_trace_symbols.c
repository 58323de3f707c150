// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_trace_symbols.c
 * @brief	Leave out the names of the kernel's functions when a trace.dat is opened.
 *
 * A trace.dat holds /proc/kallsyms, some 10 MB of text, and libtracecmd has libtraceevent parse it
 * whenever it opens the file: more than half of the instructions of a report. Only dump and the
 * lanes of a boot show names from it. A program's own function comes before that of a library, so
 * libtracecmd calls this one. Plugins do not contain it: KernelShark prints these names.
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
