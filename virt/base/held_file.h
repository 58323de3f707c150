/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	held_file.h
 * @brief	Files that are opened once, and copies that are read in place of traces.
 *
 * A name that is opened twice can stand for two files. A file that is held is opened again by its
 * descriptor. A trace that cannot be read in its place has a copy: a trace.dat that was compressed
 * as a whole or comes from a pipe, or the trace of another tool, as a trace.dat. The table is in
 * libkshark-virt, so that all plugins of a process share it. All functions but held_file_release()
 * may be called from any thread. Other entries live as long as the process.
 */
#ifndef KSHARK_VIRT_HELD_FILE_H
#define KSHARK_VIRT_HELD_FILE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * held_file_set_copy - from now on, what is read of a file is read of a copy
 * @path: as it will be asked for: of a file that was compressed as a whole, of another tool's
 *	trace, or "-" for a pipe
 * @fd: of the copy, which can be read at any place; after success it belongs to the table
 *
 * The new copy replaces an older one. The older one stays open, because other threads may be
 * opening it. Return: 0 or -ENOMEM.
 */
int held_file_set_copy(const char *path, int fd);

/**
 * held_file_hold - from now on, this name stands for the file that it names now
 *
 * Another file that gets this name later is not read. A name that has a copy keeps it. Otherwise
 * the same as held_file_set_copy().
 *
 * Return: 0, or a negative errno, as regular_file_open().
 */
int held_file_hold(const char *path);

/** held_file_hold_itself - the same, but a link is not followed. Return: -ELOOP for a link. */
int held_file_hold_itself(const char *path);

/**
 * held_file_release - close a file that is held
 *
 * A file that was removed gives its room on the disk back only then. For a process that reads new
 * files for weeks. No other thread may use the table at that time. Copies, and names that are not
 * held, stay as they are.
 */
void held_file_release(const char *path);

/** held_file_fd - the descriptor of a file that is held, or of its copy; -1: there is none */
int held_file_fd(const char *path);

/** held_file_is_copy - is what is read of a file a copy? */
bool held_file_is_copy(const char *path);

/** held_file_open - open a file, or its copy, as regular_file_open(). */
int held_file_open(const char *path);

/** held_file_open_original - open a file, held or not, though it has a copy. */
int held_file_open_original(const char *path);

#ifdef __cplusplus
}
#endif
#endif
