// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_dat_spool.c
 * @brief	Records of many CPUs in one file, to be read CPU by CPU.
 */
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "array.h"
#include "read_at.h"
#include "trace_dat_spool.h"
#include "write_at.h"

/** Bytes that are written at once. */
#define BLOCK		((size_t)64 << 10)
/** CPUs that have a block at the same time; with more of them, the blocks change hands. */
#define N_BLOCKS	512

struct extent {
	uint64_t	offset, size;
};

struct cpu {
	struct extent	*extents;
	size_t		n_extents, room;
	uint32_t	block;		/* number of its block + 1; 0: it has none */
};

struct block {
	uint8_t		*data;
	size_t		n;
	uint32_t	cpu;
};

struct spool {
	int		fd;
	uint64_t	at;		/* end of the file */
	uint64_t	bytes;
	struct cpu	*cpus;
	size_t		n_cpus;
	struct block	blocks[N_BLOCKS];
	uint32_t	n_blocks, next;	/* in use; the next one that changes hands */
	size_t		largest;	/* extent */
};

struct spool *spool_new(int fd)
{
	struct spool *spool = calloc(1, sizeof(*spool));

	if (spool)
		spool->fd = fd;
	return spool;
}

void spool_free(struct spool *spool)
{
	if (!spool)
		return;
	for (size_t i = 0; i < spool->n_cpus; i++)
		free(spool->cpus[i].extents);
	for (uint32_t i = 0; i < spool->n_blocks; i++)
		free(spool->blocks[i].data);
	free(spool->cpus);
	free(spool);
}

uint64_t spool_bytes(const struct spool *spool)
{
	return spool->bytes;
}

/* --- writing --------------------------------------------------------------------------------- */

static int flush(struct spool *spool, struct block *block)
{
	struct cpu *cpu = &spool->cpus[block->cpu];
	struct extent *last = cpu->n_extents ? &cpu->extents[cpu->n_extents - 1] : NULL;
	int ret;

	if (!block->n)
		return 0;
	ret = write_at(spool->fd, block->data, block->n, spool->at);
	if (ret)
		return ret;
	if (last && last->offset + last->size == spool->at && last->size + block->n <= BLOCK) {
		last->size += block->n;
	} else {
		if (ARRAY_GROW(cpu->extents, cpu->n_extents, cpu->room))
			return -ENOMEM;
		last = &cpu->extents[cpu->n_extents++];
		*last = (struct extent){ spool->at, block->n };
	}
	if (last->size > spool->largest)
		spool->largest = (size_t)last->size;
	spool->at += block->n;
	block->n = 0;
	return 0;
}

/** A block for a CPU that has none. Return: 0 or a negative errno. */
static int give_block(struct spool *spool, uint32_t cpu)
{
	struct block *block;
	int ret;

	if (spool->n_blocks < N_BLOCKS) {
		block = &spool->blocks[spool->n_blocks];
		block->data = malloc(BLOCK);
		if (!block->data)
			return -ENOMEM;
		spool->n_blocks++;
	} else {
		block = &spool->blocks[spool->next];
		spool->next = (spool->next + 1) % N_BLOCKS;
		ret = flush(spool, block);
		if (ret)
			return ret;
		spool->cpus[block->cpu].block = 0;
	}
	block->cpu = cpu;
	block->n = 0;
	spool->cpus[cpu].block = (uint32_t)(block - spool->blocks) + 1;
	return 0;
}

/** A record that no block has room for is an extent of its own. */
static int put_large(struct spool *spool, struct block *block, const struct spool_head *head,
		     const void *data)
{
	struct block large = { .cpu = block->cpu, .n = sizeof(*head) + head->size };
	int ret = flush(spool, block);

	if (ret)
		return ret;
	large.data = malloc(large.n);
	if (!large.data)
		return -ENOMEM;
	memcpy(large.data, head, sizeof(*head));
	memcpy(large.data + sizeof(*head), data, head->size);
	ret = flush(spool, &large);
	free(large.data);
	return ret;
}

int spool_put(struct spool *spool, uint32_t cpu, const struct spool_head *head, const void *data)
{
	size_t size = head->size == SPOOL_LOST ? 0 : head->size;
	struct block *block;
	int ret = 0;

	if (cpu >= spool->n_cpus && ARRAY_REACH(spool->cpus, cpu, spool->n_cpus))
		return -ENOMEM;
	if (!spool->cpus[cpu].block)
		ret = give_block(spool, cpu);
	if (ret)
		return ret;
	spool->bytes += sizeof(*head) + size;
	block = &spool->blocks[spool->cpus[cpu].block - 1];
	if (sizeof(*head) + size > BLOCK)
		return put_large(spool, block, head, data);
	if (sizeof(*head) + size > BLOCK - block->n)
		ret = flush(spool, block);
	if (ret)
		return ret;
	memcpy(block->data + block->n, head, sizeof(*head));
	if (size)
		memcpy(block->data + block->n + sizeof(*head), data, size);
	block->n += sizeof(*head) + size;
	return 0;
}

/* --- reading --------------------------------------------------------------------------------- */

static int walk_bytes(const uint8_t *data, size_t n, spool_fn take, void *arg)
{
	struct spool_head head;
	size_t at = 0;
	int ret = 0;

	while (at < n && !ret) {
		if (n - at < sizeof(head))
			return -EIO;
		memcpy(&head, data + at, sizeof(head));
		at += sizeof(head);
		if (head.size != SPOOL_LOST && head.size > n - at)
			return -EIO;
		ret = take(arg, &head, data + at);
		at += head.size == SPOOL_LOST ? 0 : head.size;
	}
	return ret;
}

int spool_walk(struct spool *spool, uint32_t cpu, spool_fn take, void *arg)
{
	const struct cpu *of = cpu < spool->n_cpus ? &spool->cpus[cpu] : NULL;
	const struct block *block;
	uint8_t *data;
	int ret = 0;

	if (!of)
		return 0;
	data = malloc(spool->largest + 1);
	if (!data)
		return -ENOMEM;
	for (size_t i = 0; i < of->n_extents && !ret; i++) {
		ret = read_at(spool->fd, data, (size_t)of->extents[i].size, of->extents[i].offset);
		if (!ret)
			ret = walk_bytes(data, (size_t)of->extents[i].size, take, arg);
	}
	free(data);
	block = of->block ? &spool->blocks[of->block - 1] : NULL;
	return ret || !block ? ret : walk_bytes(block->data, block->n, take, arg);
}
