/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	thread_names.h
 * @brief	Names of threads: only changes of a name go into the trace.dat.
 */
#ifndef KSHARK_VIRT_THREAD_NAMES_H
#define KSHARK_VIRT_THREAD_NAMES_H

#include "key_map.h"
#include "trace_dat_write.h"

/** All zero is empty. */
struct thread_names {
	struct key_map	pids;
	uint64_t	*hashes;	/* of their names */
	size_t		room;
};

/**
 * thread_names_put - a thread has a name from now on
 * @pid: the idle thread, 0, and unknown ones have none
 * @text: @n bytes; a zero byte among them ends the name
 *
 * Of very many threads, the names of the first 1,048,576 are kept.
 *
 * Return: 0, -ENOMEM, or as trace_dat_writer_comm().
 */
int thread_names_put(struct thread_names *names, struct trace_dat_writer *writer, int32_t pid,
		     const char *text, size_t n);

void thread_names_destroy(struct thread_names *names);

#endif
