/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_dat.h
 * @brief	See what is wrong with a trace.dat file before KernelShark only says "no data".
 */
#ifndef KSHARK_VIRT_TRACE_DAT_H
#define KSHARK_VIRT_TRACE_DAT_H

#include <stdbool.h>
#include <stddef.h>

/** How a trace.dat file begins (trace-cmd.dat(5)). */
extern const char trace_dat_magic[10];

/** trace_dat_is - does a file begin like that? Takes nothing from a pipe. */
bool trace_dat_is(const char *path);

/**
 * trace_dat_check - can libtracecmd read this file?
 * @problem: receives what is wrong and what helps, without the file's name
 * @cycles: receives whether its times are cycles of the TSC, of which the file does not tell how
 *	    long they are; may be NULL
 *
 * Looks at what has to be there: the compression, and whether the file's parts lie within it. What
 * else may be wrong is libtracecmd's to find.
 *
 * Return: false if the file cannot be read.
 */
bool trace_dat_check(const char *path, char *problem, size_t size, bool *cycles);

#endif
