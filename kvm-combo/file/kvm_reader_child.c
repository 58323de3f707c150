// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_reader_child.c
 * @brief	The process that reads a trace.dat and sends its records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "kvm_apart.h"
#include "kvm_confine.h"
#include "kvm_reader_wire.h"
#include "kvm_source.h"

struct child {
	int		fd;
	uint8_t		*blocks;
	uint64_t	file_bytes;
	struct kvm_source *source;
	struct reader_bytes in, out;
	/* of a walk: */
	size_t		block, used;	/* the block that is being filled */
	size_t		n_full;		/* blocks that the other process has not read yet */
	bool		is_stopped;
	void		(*read_symbols)(void);	/* NULL: they are read, or cannot be */
};

/* --- the process ----------------------------------------------------------------------------- */

/** End: the other process has closed the connection. */
__attribute__((noreturn))
static void leave(void)
{
	_exit(EXIT_SUCCESS);
}

static void answer(struct child *child, enum reader_reply kind, uint64_t value)
{
	const struct reader_head head = { .kind = kind, .value = value };

	if (reader_send(child->fd, &head, &child->out))
		leave();
	child->out.n = 0;
}

static void receive(struct child *child, struct reader_head *head)
{
	if (reader_receive(child->fd, head, &child->in))
		leave();
}

/* --- facts ----------------------------------------------------------------------------------- */

static void put_facts(struct child *child)
{
	const struct kvm_facts *facts = kvm_source_facts(child->source);
	struct reader_bytes *out = &child->out;

	reader_put_number(out, facts->unit);
	reader_put_number(out, facts->is_host);
	reader_put_number(out, facts->has_vcpus);
	reader_put_number(out, facts->shifted);
	reader_put_number(out, (uint64_t)facts->jump);
	reader_put_number(out, facts->kinds);
	reader_put_number(out, facts->trace_id);
	reader_put_number(out, (uint64_t)facts->n_cpus);
	reader_put_number(out, (uint64_t)facts->n_unread);
	reader_put_text(out, facts->clock);
	reader_put_number(out, facts->stranger != NULL);
	if (facts->stranger)
		reader_put_text(out, facts->stranger);
	reader_put_number(out, (uint64_t)facts->n_buffers);
	for (int32_t i = 0; i < facts->n_buffers; i++) {
		reader_put_number(out, facts->buffers[i].name != NULL);
		if (facts->buffers[i].name)
			reader_put_text(out, facts->buffers[i].name);
	}
	reader_put_number(out, (uint64_t)facts->n_events);
	for (int32_t i = 0; i < facts->n_events; i++) {
		reader_put_number(out, (uint32_t)facts->events[i].id);
		reader_put_text(out, facts->events[i].system);
		reader_put_text(out, facts->events[i].name);
	}
}

static void put_walked(struct child *child, int ret)
{
	const struct kvm_facts *facts = kvm_source_facts(child->source);
	struct reader_bytes *out = &child->out;

	reader_put_number(out, ret == -ENOMEM);
	reader_put_number(out, (uint64_t)(facts->damaged_cpu + 1));
	reader_put_number(out, facts->n_twice);
	for (int32_t i = 0; i < facts->n_buffers; i++) {
		reader_put_number(out, facts->buffers[i].has_lost);
		reader_put_number(out, facts->buffers[i].lost);
	}
}

/* --- a walk ---------------------------------------------------------------------------------- */

/** Send a full block, and wait for room in the next one. */
static void next_block(struct child *child)
{
	const struct reader_head full = {
		.kind = READER_BLOCK_FULL, .value = child->block, .size_of_block = child->used,
	};

	if (reader_send(child->fd, &full, NULL))
		leave();
	child->used = 0;
	child->block = (child->block + 1) % READER_BLOCKS;
	child->n_full++;
	while (child->n_full == READER_BLOCKS && !child->is_stopped) {
		struct reader_head head;

		receive(child, &head);
		child->n_full -= head.kind == READER_BLOCK_FREE;
		child->is_stopped = head.kind == READER_STOP;
	}
}

static int take_item(void *arg, struct kvm_item *item)
{
	struct child *child = arg;

	if (child->used > READER_BLOCK - KVM_ITEM_MOST)
		next_block(child);
	if (child->is_stopped)
		return 1;
	child->used += kvm_item_pack(item, child->blocks + child->block * READER_BLOCK +
				     child->used);
	return 0;
}

static int take_line(void *arg, const struct kvm_line *line)
{
	struct child *child = arg;
	size_t size = kvm_line_size(line);

	if (child->used > READER_BLOCK - size)
		next_block(child);
	if (child->is_stopped)
		return 1;
	kvm_line_pack(line, child->blocks + child->block * READER_BLOCK + child->used);
	child->used += size;
	return 0;
}

static void begin_walk(struct child *child)
{
	child->block = child->used = child->n_full = 0;
	child->is_stopped = false;
	kvm_apart_limit(child->file_bytes);
}

static void end_walk(struct child *child, int ret)
{
	if (child->used && !child->is_stopped)
		next_block(child);
	put_walked(child, ret);
	answer(child, READER_ANSWER, 0);
}

static void walk(struct child *child, uint64_t flags)
{
	begin_walk(child);
	end_walk(child, kvm_source_walk(child->source, flags & KVM_WALK_FLAGS, take_item, child));
}

static void walk_lines(struct child *child)
{
	struct reader_cursor cursor = reader_cursor(&child->in);
	struct kvm_lines_wanted wanted;
	int ret = reader_get_wanted(&cursor, &wanted);

	begin_walk(child);
	if (!ret)
		ret = kvm_source_lines(child->source, &wanted, take_line, child);
	free((void *)wanted.without);
	free((void *)wanted.steps);
	end_walk(child, ret);
}

/* --- questions ------------------------------------------------------------------------------- */

static void put_tids(struct child *child, uint64_t trace_id)
{
	int n = 0;
	const int *tids = kvm_source_guest_tids(child->source, trace_id, &n);

	reader_put_number(&child->out, tids ? (uint64_t)n : 0);
	for (int i = 0; tids && i < n; i++)
		reader_put_number(&child->out, (uint32_t)tids[i]);
}

static void serve(struct child *child, const struct reader_head *head)
{
	const char *name;

	switch (head->kind) {
	case READER_WALK:
		walk(child, head->value);
		return;
	case READER_LINES:
		walk_lines(child);
		return;
	case READER_TASK:
		name = kvm_source_task(child->source, (int32_t)head->value);
		reader_put_text(&child->out, name ? name : "");
		answer(child, READER_ANSWER, 0);
		return;
	case READER_FUNCTION:
		if (child->read_symbols)
			child->read_symbols();
		child->read_symbols = NULL;
		name = kvm_source_function(child->source, head->value);
		reader_put_text(&child->out, name ? name : "");
		answer(child, READER_ANSWER, 0);
		return;
	case READER_TIDS:
		put_tids(child, head->value);
		answer(child, READER_ANSWER, 0);
		return;
	case READER_HIDE_OFFSETS:
		answer(child, READER_ANSWER, kvm_source_hide_offsets(child->source));
		return;
	}
	/* READER_BLOCK_FREE and READER_STOP may arrive after the end of a walk */
}

void kvm_reader_child(const char *path, int fd, uint8_t *blocks, void (*read_symbols)(void))
{
	const int keep[] = { fd, held_file_fd(path) };
	struct child child = { .fd = fd, .blocks = blocks, .read_symbols = read_symbols };
	struct kvm_source_file file;
	char error[1024] = "";
	struct stat st;

	kvm_apart_settle(keep, ARRAY_SIZE(keep));
	child.file_bytes = stat(path, &st) ? 0 : (uint64_t)st.st_size;
	kvm_apart_limit(child.file_bytes);
	kvm_apart_limit_memory(child.file_bytes);
	if (kvm_source_find(path, &file, error, sizeof(error))) {
		if (!kvm_confine())
			abort();
		child.source = kvm_source_open(path, &file, error, sizeof(error));
	}
	if (!child.source) {
		reader_put_text(&child.out, error);
		answer(&child, READER_REFUSED, 0);
		leave();
	}
	put_facts(&child);
	answer(&child, READER_ANSWER, 0);
	for (;;) {
		struct reader_head head;

		receive(&child, &head);
		serve(&child, &head);
	}
}
