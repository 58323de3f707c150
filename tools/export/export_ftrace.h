/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	export_ftrace.h
 * @brief	The records of a KVM host and of guests, as Perfetto's machines with ftrace.
 */
#ifndef KSHARK_VIRT_EXPORT_FTRACE_H
#define KSHARK_VIRT_EXPORT_FTRACE_H

#include "export_rows.h"
#include "output.h"

/**
 * export_ftrace - all records of the window, trace by trace, each in order of time
 * @shift_ns: is added to all times
 *
 * The host is machine 0, guests are the next ones, then the guests of these. Of a CPU whose vCPU is
 * not known, not asked for, or whose clock is wrong, there is nothing: its times are not those of
 * the host. Memory has one bundle of records.
 *
 * Return: 0, or as kvm_trace_next_line().
 */
int export_ftrace(const struct export_job *job, struct output *out, int64_t shift_ns);

#endif
