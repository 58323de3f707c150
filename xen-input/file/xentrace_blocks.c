// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_blocks.c
 * @brief	Keep blocks of a file in memory, for several places of it at once.
 *
 * The windows of all pCPUs lie beside each other, and are read at the same time: a block that one
 * cursor has read serves the others, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "xentrace_file.h"

/** Blocks that are kept though unused. */
#define MAX_IDLE	16

#define FIRST_TABLE	64

void xentrace_blocks_init(struct xentrace_blocks *blocks, const struct xentrace_file *file)
{
	*blocks = (struct xentrace_blocks){ .file = file };
}

void xentrace_blocks_destroy(struct xentrace_blocks *blocks)
{
	for (uint32_t i = 0; i < blocks->n_table; i++) {
		while (blocks->table[i]) {
			struct xentrace_block *block = blocks->table[i];

			blocks->table[i] = block->next;
			free(block);
		}
	}
	free(blocks->table);
	blocks->table = NULL;
	blocks->n_table = 0;
}

static struct xentrace_block **place_of(const struct xentrace_blocks *blocks, uint64_t number)
{
	return &blocks->table[number & (blocks->n_table - 1)];
}

/** The table is as long as there are blocks, at least. */
static int grow_table(struct xentrace_blocks *blocks)
{
	struct xentrace_blocks grown = {
		.n_table = blocks->n_table ? blocks->n_table * 2 : FIRST_TABLE,
	};

	if (blocks->n_blocks < blocks->n_table)
		return 0;
	grown.table = calloc(grown.n_table, sizeof(*grown.table));
	if (!grown.table)
		return -ENOMEM;
	for (uint32_t i = 0; i < blocks->n_table; i++) {
		while (blocks->table[i]) {
			struct xentrace_block *block = blocks->table[i];
			struct xentrace_block **place = place_of(&grown, block->number);

			blocks->table[i] = block->next;
			block->next = *place;
			*place = block;
		}
	}
	free(blocks->table);
	blocks->table = grown.table;
	blocks->n_table = grown.n_table;
	return 0;
}

static void leave_idle(struct xentrace_blocks *blocks, struct xentrace_block *block)
{
	*(block->newer ? &block->newer->older : &blocks->newest) = block->older;
	*(block->older ? &block->older->newer : &blocks->oldest) = block->newer;
	blocks->n_idle--;
}

static void unlink_block(struct xentrace_blocks *blocks, struct xentrace_block *block)
{
	struct xentrace_block **place = place_of(blocks, block->number);

	while (*place != block)
		place = &(*place)->next;
	*place = block->next;
	blocks->n_blocks--;
}

/** Memory for one more: that of the block that was idle for longest, or new. */
static struct xentrace_block *room_for_block(struct xentrace_blocks *blocks)
{
	struct xentrace_block *block = blocks->oldest;

	if (blocks->n_idle < MAX_IDLE)
		return malloc(sizeof(*block));
	leave_idle(blocks, block);
	unlink_block(blocks, block);
	return block;
}

/** Read a block. Return: 0, or -ESTALE if it is not what was there. */
static int fill(const struct xentrace_file *file, struct xentrace_block *block)
{
	uint64_t begin = block->number * XENTRACE_BLOCK;
	uint64_t there = begin < file->size ? file->size - begin : 0;
	size_t wanted = there < sizeof(block->data) ? there : sizeof(block->data);

	if (xentrace_file_read(file, block->data, begin, wanted) != wanted)
		return -ESTALE;
	memset(block->data + wanted, 0, sizeof(block->data) - wanted);
	return 0;
}

static struct xentrace_block *find(const struct xentrace_blocks *blocks, uint64_t number)
{
	struct xentrace_block *block = blocks->n_table ? *place_of(blocks, number) : NULL;

	while (block && block->number != number)
		block = block->next;
	return block;
}

static void link_block(struct xentrace_blocks *blocks, struct xentrace_block *block)
{
	block->next = *place_of(blocks, block->number);
	*place_of(blocks, block->number) = block;
	blocks->n_blocks++;
}

/** The one that was used last; if there are too many, the one that was idle for longest goes. */
static void enter_idle(struct xentrace_blocks *blocks, struct xentrace_block *block)
{
	block->newer = NULL;
	block->older = blocks->newest;
	*(block->older ? &block->older->newer : &blocks->oldest) = block;
	blocks->newest = block;
	if (++blocks->n_idle <= MAX_IDLE)
		return;
	block = blocks->oldest;
	leave_idle(blocks, block);
	unlink_block(blocks, block);
	free(block);
}

struct xentrace_block *xentrace_blocks_get(struct xentrace_blocks *blocks, uint64_t offset)
{
	uint64_t number = offset / XENTRACE_BLOCK;
	struct xentrace_block *block = find(blocks, number);

	if (block) {
		if (!block->users++)
			leave_idle(blocks, block);
		return block;
	}
	if (blocks->error)
		return NULL;
	block = grow_table(blocks) ? NULL : room_for_block(blocks);
	if (!block) {
		blocks->error = -ENOMEM;
		return NULL;
	}
	block->number = number;
	block->users = 1;
	blocks->error = fill(blocks->file, block);
	if (blocks->error) {
		free(block);
		return NULL;
	}
	link_block(blocks, block);
	return block;
}

void xentrace_blocks_put(struct xentrace_blocks *blocks, struct xentrace_block *block)
{
	if (block && !--block->users)
		enter_idle(blocks, block);
}
