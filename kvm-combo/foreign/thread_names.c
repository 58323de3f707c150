// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	thread_names.c
 * @brief	Names of threads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event_format.h"
#include "hash_bytes.h"
#include "thread_names.h"

#define MOST_NAMES	(1U << 20)

int thread_names_put(struct thread_names *names, struct trace_dat_writer *writer, int32_t pid,
		     const char *text, size_t n)
{
	char comm[EVENT_COMM_SIZE] = "";
	int64_t at;

	memcpy(comm, text, n < sizeof(comm) - 1 ? n : sizeof(comm) - 1);
	if (pid <= 0 || !*comm || (names->pids.n_keys >= MOST_NAMES &&
				   key_map_find(&names->pids, (uint32_t)pid) < 0))
		return 0;
	at = KEY_MAP_ELEMENT(&names->pids, (uint32_t)pid, names->hashes, names->room);
	if (at < 0)
		return (int)at;
	if (names->hashes[at] == hash_text(comm))
		return 0;
	names->hashes[at] = hash_text(comm);
	return trace_dat_writer_comm(writer, pid, comm);
}

void thread_names_destroy(struct thread_names *names)
{
	key_map_destroy(&names->pids);
	free(names->hashes);
	*names = (struct thread_names){ 0 };
}
