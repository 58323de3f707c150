/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	work_share.h
 * @brief	Do jobs that need nothing of each other, with two threads if a core is free.
 */
#ifndef KSHARK_VIRT_WORK_SHARE_H
#define KSHARK_VIRT_WORK_SHARE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * A job. @own: only the thread that does it uses this. Return: 0 or a negative errno, after which
 * no other job begins.
 */
typedef int (*work_share_fn)(void *own, size_t job);

/**
 * work_share - do jobs 0 to @n - 1, each once; they begin in this order
 * @own: of this thread
 * @beside: of the other thread; NULL: this thread does all, as it does if no core is free
 *
 * Return: 0 or the error of a job.
 */
int work_share(size_t n, work_share_fn job, void *own, void *beside);

#endif
