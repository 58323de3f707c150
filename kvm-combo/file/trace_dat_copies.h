/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_dat_copies.h
 * @brief	Copies that are read in place of traces.
 *
 * A trace that cannot be read in its place has a copy: a trace.dat that was compressed as a whole
 * or comes from a pipe, or the trace of another tool, as a trace.dat. The table of copies is in
 * libkshark-virt, so that all plugins of a process share it. All functions may be called from any
 * thread. Entries live as long as the process.
 */
#ifndef KSHARK_VIRT_TRACE_DAT_COPIES_H
#define KSHARK_VIRT_TRACE_DAT_COPIES_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * trace_dat_set_copy - from now on, what is read of a file is read of a copy
 * @path: as it will be asked for: of a file that was compressed as a whole, of another tool's
 *	trace, or "-" for a pipe
 * @fd: of the copy, which can be read at any place; after success it belongs to the table
 *
 * The new copy replaces an older one. The older one stays open, because other threads may be
 * opening it. Return: 0 or -ENOMEM.
 */
int trace_dat_set_copy(const char *path, int fd);

/**
 * trace_dat_hold - from now on, this name stands for the file that it names now
 *
 * Another file that gets this name later is not read. A name that has a copy keeps it. Otherwise
 * the same as trace_dat_set_copy().
 *
 * Return: 0, or a negative errno, as regular_file_open().
 */
int trace_dat_hold(const char *path);

/** trace_dat_held - the descriptor of a file that is held, or of its copy; -1: there is none */
int trace_dat_held(const char *path);

/** trace_dat_has_copy - is what is read of a file a copy? */
bool trace_dat_has_copy(const char *path);

/** trace_dat_open - open a file, or its copy, as regular_file_open(). */
int trace_dat_open(const char *path);

#ifdef __cplusplus
}
#endif
#endif
