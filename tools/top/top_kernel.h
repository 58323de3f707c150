/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	top_kernel.h
 * @brief	Let the kernel count what vCPUs do: load programs, and read what they have counted.
 *
 * The programs are top_kernel.bpf.c. They are attached by files that this process has open, and by
 * nothing else: they end with it, also if it is killed.
 */
#ifndef KSHARK_VIRT_TOP_KERNEL_H
#define KSHARK_VIRT_TOP_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "top_kernel_map.h"

struct top_kernel;

/**
 * top_kernel_open - load the programs, which count nothing yet
 * @n_vcpus: number of vCPUs that have room
 * @n_pcpus: of this host, with those that are off
 * @why: receives a sentence's part if that is not possible
 */
struct top_kernel *top_kernel_open(size_t n_vcpus, size_t n_pcpus, char *why, size_t size);
void top_kernel_close(struct top_kernel *kernel);

/** top_kernel_attach - begin to count, with the first interval. Return: 0 or a negative errno. */
int top_kernel_attach(struct top_kernel *kernel, const struct top_kernel_edge *edge);

/** top_kernel_detach - count no more. */
void top_kernel_detach(struct top_kernel *kernel);

/**
 * top_kernel_next - the interval before has been read: go on with the next one
 * @number: that of the first one is 1
 */
void top_kernel_next(struct top_kernel *kernel, uint64_t number,
		     const struct top_kernel_edge *edge);

/**
 * top_kernel_add - count a thread as a vCPU from now on
 *
 * Return: its place, -ENOSPC, or another negative errno.
 */
int top_kernel_add(struct top_kernel *kernel, int tid, int64_t now_ns);

/** top_kernel_drop - a thread has ended: its place is free for another one. */
void top_kernel_drop(struct top_kernel *kernel, int place, int tid);

/** top_kernel_asleep - it has been seen asleep, at a time since it was added. */
void top_kernel_asleep(struct top_kernel *kernel, int place, int64_t time_ns);

/** top_kernel_read - Return: false: a program wrote all the time, and parts may not fit. */
bool top_kernel_read(const struct top_kernel *kernel, int place, struct top_kernel_vcpu *vcpu);

/** top_kernel_missed - events that no program saw, as one ran already. */
uint64_t top_kernel_missed(const struct top_kernel *kernel);

#endif
