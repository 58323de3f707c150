// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_trace_symbols.c
 * @brief	Leave out the names of the kernel's functions when a trace.dat is opened.
 *
 * A trace.dat holds /proc/kallsyms, some 10 MB of text, and libtracecmd has libtraceevent parse it
 * whenever it opens the file: more than half of the instructions of a report. Only dump prints
 * names from it. A program's own function comes before that of a library, so libtracecmd calls this
 * one. Plugins do not contain it: KernelShark prints these names.
 */
#include <dlfcn.h>
#include <string.h>

#include <event-parse.h>

#include "kvm_trace_symbols.h"

static bool is_wanted;

void kvm_trace_use_symbols(void)
{
	is_wanted = true;
}

__attribute__((visibility("default")))
int tep_parse_kallsyms(struct tep_handle *tep, const char *kallsyms)
{
	int (*parse)(struct tep_handle *tep, const char *kallsyms);
	void *next = is_wanted ? dlsym(RTLD_NEXT, "tep_parse_kallsyms") : NULL;

	if (!next)
		return 0;
	memcpy(&parse, &next, sizeof(parse));
	return parse(tep, kallsyms);
}
