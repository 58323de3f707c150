/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_dat_spool.h
 * @brief	Records of many CPUs in one file, to be read CPU by CPU.
 *
 * Each CPU's records lie in extents of the file. Numbers have this host's byte order.
 */
#ifndef KSHARK_VIRT_TRACE_DAT_SPOOL_H
#define KSHARK_VIRT_TRACE_DAT_SPOOL_H

#include <stddef.h>
#include <stdint.h>

/** The head of a record; a loss has no bytes after it. */
struct spool_head {
	uint64_t	value;		/* time in ns, or number of lost records */
	uint32_t	size;		/* of the record; SPOOL_LOST: it is a loss */
	uint32_t	unused;
};

#define SPOOL_LOST	UINT32_MAX

struct spool;

/** spool_new - @fd: an empty file, which stays the caller's. Return: NULL without memory. */
struct spool *spool_new(int fd);
void spool_free(struct spool *spool);

/**
 * spool_put - add a record or a loss
 * @data: head->size bytes; NULL for a loss
 *
 * Return: 0, -ENOMEM, or what write() failed with.
 */
int spool_put(struct spool *spool, uint32_t cpu, const struct spool_head *head, const void *data);

/** spool_bytes - bytes so far, in memory and in the file */
uint64_t spool_bytes(const struct spool *spool);

/** Takes a record or loss. Return: 0, or a negative errno to stop. */
typedef int (*spool_fn)(void *arg, const struct spool_head *head, const uint8_t *data);

/** spool_walk - all of a CPU, in the order of spool_put(). Return: 0 or a negative errno. */
int spool_walk(struct spool *spool, uint32_t cpu, spool_fn take, void *arg);

#endif
