// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_trace_symbols.c
 * @brief	Leave out the names of the kernel's functions when a trace.dat is opened.
 *
 * A trace.dat holds /proc/kallsyms, some 10 MB of text, and libtracecmd has libtraceevent parse it
 * whenever it opens the file: more than half of the instructions of a report. No command prints a
 * name from it. A program's own function comes before that of a library, so libtracecmd calls this
 * one. Plugins do not contain it: KernelShark prints these names.
 */
#include <event-parse.h>

__attribute__((visibility("default")))
int tep_parse_kallsyms(struct tep_handle *tep, const char *kallsyms)
{
	(void)tep;
	(void)kallsyms;
	return 0;
}
