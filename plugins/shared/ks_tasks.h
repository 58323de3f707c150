/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ks_tasks.h
 * @brief	Find the task that has each CPU of a stream, from its rows, as KernelShark colours
 *		them.
 *
 * The task is unknown before a CPU's first row, after its last one, and from the last row before
 * lost ones to the next row.
 */
#ifndef KSHARK_VIRT_KS_TASKS_H
#define KSHARK_VIRT_KS_TASKS_H

#include <stddef.h>
#include <stdint.h>

#include <libkshark.h>

#ifdef __cplusplus
extern "C" {
#endif

/** No task is known. */
#define KS_TASK_NONE	(-1)

/** Who has a CPU from then on, until the next one. */
struct ks_task_run {
	int64_t	from_ns;	/* as the rows count */
	int32_t	pid;		/* 0: idle; or KS_TASK_NONE */
};

struct ks_tasks;

/**
 * ks_tasks_new - look through rows
 * @rows: of all streams, in order of time, as KernelShark has them; hidden ones count
 *
 * Return: to be given to ks_tasks_free(); NULL without memory.
 */
struct ks_tasks *ks_tasks_new(struct kshark_entry *const *rows, size_t n, int stream_id);

/** ks_tasks_free - free it; it may be NULL. */
void ks_tasks_free(struct ks_tasks *tasks);

/** ks_tasks_runs - of a CPU, by time; the last one is KS_TASK_NONE. @n: receives how many */
const struct ks_task_run *ks_tasks_runs(const struct ks_tasks *tasks, int cpu, size_t *n);

/** ks_tasks_at - the run of ks_tasks_runs() in force at a time; @n if it is before the first. */
size_t ks_tasks_at(const struct ks_task_run *runs, size_t n, int64_t time_ns);

#ifdef __cplusplus
}
#endif
#endif
