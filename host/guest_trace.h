/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	guest_trace.h
 * @brief	Find the guests in a host's trace that have no trace file, and read the rows of one.
 */
#ifndef KSHARK_VIRT_GUEST_TRACE_H
#define KSHARK_VIRT_GUEST_TRACE_H

#include <sys/stat.h>

#include "guest_pointer.h"
#include "guest_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A guest that reports its own events. All zero is none. */
struct guest_trace {
	struct guest_rows	rows;
	struct hyper_symbols	*symbols;	/* or NULL */
	char			*host;		/* path of the host's trace */
	struct stat		was;		/* that trace, when it was read */
};

/**
 * guest_trace_open - read the host's trace for one guest
 * @trace: to be given to guest_trace_close() in any case
 * @error: on failure, receives a text that names the file and what to do
 *
 * Return: 0 or a negative errno.
 */
int guest_trace_open(struct guest_trace *trace, const struct guest_pointer *pointer,
		     const struct host_options *options, char *error, size_t size);
void guest_trace_close(struct guest_trace *trace);

/** guest_trace_is_old - is the host's trace not that any more which was read? */
bool guest_trace_is_old(const struct guest_trace *trace);

/** The guests of a host that report their own events. */
struct guest_list {
	struct guest_pointer	*pointers;
	char			**why;		/* of each, why its calls are those of a dialect */
	int			n, room;
};

/**
 * guest_list_find - which guests of a host's trace report their own events in a known dialect
 * @path: of the trace; pointers have its real path
 * @dialect, @kallsyms: for the pointers; NULL: by the calls, and none
 * @list: to be given to guest_list_free() in any case
 *
 * Return: 0, or a negative errno and a text in @error.
 */
int guest_list_find(const char *path, const struct host_options *options, const char *dialect,
		    const char *kallsyms, struct guest_list *list, char *error, size_t size);
void guest_list_free(struct guest_list *list);

#ifdef __cplusplus
}
#endif
#endif
