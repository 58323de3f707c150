/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ctf_convert.h
 * @brief	A folder with traces in CTF, read by libbabeltrace2, as a trace.dat.
 */
#ifndef KSHARK_VIRT_CTF_CONVERT_H
#define KSHARK_VIRT_CTF_CONVERT_H

#include <stddef.h>
#include <stdint.h>

#include "ctf_folder.h"
#include "foreign_outcome.h"

struct ctf_library;

/**
 * ctf_library_load - load libbabeltrace2's plugins
 *
 * It opens files, so it comes before a process gives up its rights. Plugins come from the system's
 * directory only: neither the environment nor a home directory has code for this process.
 *
 * Return: NULL with a text.
 */
struct ctf_library *ctf_library_load(char *problem, size_t size);

void ctf_library_free(struct ctf_library *library);

/**
 * ctf_convert - read all traces of a folder
 * @fd, @spool, @most_bytes: as ctf_sink_new() takes them
 * @outcome: receives the counts, what is wrong, and what is damaged
 *
 * Return: 0, also if the rest of the trace cannot be read; a negative errno with a text in
 * outcome->problem.
 */
int ctf_convert(const struct ctf_library *library, const struct ctf_folder *folder, int fd,
		int spool, uint64_t most_bytes, struct foreign_outcome *outcome);

#endif
