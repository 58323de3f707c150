// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_reader.c
 * @brief	Start a process that reads a trace.dat, and check all that it sends.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kvm_reader.h"
#include "kvm_reader_wire.h"
#include "kvm_trace.h"

struct kvm_reader {
	struct reader_process process;
	struct kvm_facts facts;
	int		failure;	/* its reason to end: -EBADMSG or -ETIMEDOUT */
	bool		is_walking;
	struct reader_bytes message;	/* content of the last message */
	/* of a walk whose lines are taken one by one: */
	bool		has_lines;
	bool		has_block;	/* which the process gets back when @left is 0 */
	const uint8_t	*at;		/* the next line in the block */
	size_t		left;
	void		*room;		/* of KVM_LINE_MOST bytes: texts of the last line */
};

/* --- messages -------------------------------------------------------------------------------- */

/** End the process, also one that does not want to end. Return: the failure. */
static int fail(struct kvm_reader *reader)
{
	int status = 0;

	if (!reader->process.pid)
		return reader->failure;
	/* if it has ended by itself, its status stays */
	kill(reader->process.pid, SIGKILL);
	close(reader->process.fd);
	while (waitpid(reader->process.pid, &status, 0) < 0 && errno == EINTR)
		;
	reader->process.pid = 0;
	reader->failure = -EBADMSG;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		reader->failure = -ETIMEDOUT;
	return reader->failure;
}

/** An idle process may take this long to end. */
#define SECONDS_TO_END	10

/** Let an idle process end by itself: valgrind writes its counts then. */
static void end(struct kvm_reader *reader)
{
	const struct timeval most = { .tv_sec = SECONDS_TO_END };
	char byte;

	if (!reader->process.pid)
		return;
	shutdown(reader->process.fd, SHUT_WR);
	setsockopt(reader->process.fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	while (recv(reader->process.fd, &byte, 1, 0) < 0 && errno == EINTR)
		;
	fail(reader);
}

/** Return: 0 or the failure. */
static int ask_with(struct kvm_reader *reader, enum reader_request request, uint64_t value,
		    const struct reader_bytes *content)
{
	const struct reader_head head = { .kind = request, .value = value };

	if (!reader->process.pid)
		return reader->failure;
	return reader_send(reader->process.fd, &head, content) ? fail(reader) : 0;
}

static int ask(struct kvm_reader *reader, enum reader_request request, uint64_t value)
{
	return ask_with(reader, request, value, NULL);
}

/** Wait for a message, whose content is in reader->message. Return: 0, -ENOMEM or the failure. */
static int receive(struct kvm_reader *reader, struct reader_head *head)
{
	int ret;

	if (!reader->process.pid)
		return reader->failure;
	ret = reader_receive(reader->process.fd, head, &reader->message);
	if (ret == -ENOMEM) {
		fail(reader);
		return ret;
	}
	return ret ? fail(reader) : 0;
}

/** Ask, and wait for the answer. Return: 0, -ENOMEM or the failure. */
static int ask_for(struct kvm_reader *reader, enum reader_request request, uint64_t value,
		   struct reader_head *head)
{
	int ret = ask(reader, request, value);

	if (!ret)
		ret = receive(reader, head);
	return ret || head->kind == READER_ANSWER ? ret : fail(reader);
}

/* --- facts ----------------------------------------------------------------------------------- */

static bool take_events(struct reader_cursor *cursor, struct kvm_facts *facts)
{
	uint64_t n = reader_get_number(cursor, READER_MOST_EVENTS);

	facts->events = calloc((size_t)n + 1, sizeof(*facts->events));
	for (uint64_t i = 0; facts->events && i < n && !cursor->is_bad; i++) {
		struct kvm_event_name *event = &facts->events[facts->n_events++];

		event->id = (int32_t)reader_get_number(cursor, UINT32_MAX);
		event->system = reader_get_text(cursor);
		event->name = reader_get_text(cursor);
		if (!event->system || !event->name)
			return false;
	}
	return facts->events;
}

static bool take_buffers(struct reader_cursor *cursor, struct kvm_facts *facts)
{
	uint64_t n = reader_get_number(cursor, KVM_MOST_BUFFERS);

	facts->buffers = calloc((size_t)n + 1, sizeof(*facts->buffers));
	for (uint64_t i = 0; facts->buffers && i < n && !cursor->is_bad; i++) {
		struct kvm_buffer_facts *buffer = &facts->buffers[facts->n_buffers++];
		bool has_name = reader_get_number(cursor, 1);

		buffer->name = has_name ? reader_get_text(cursor) : NULL;
		if (has_name && !buffer->name)
			return false;
	}
	return facts->buffers;
}

/** Return: 0, -ENOMEM or -EBADMSG. */
static int take_facts(struct kvm_reader *reader)
{
	struct reader_cursor cursor = reader_cursor(&reader->message);
	struct kvm_facts *facts = &reader->facts;
	bool has_stranger, ok;
	char *clock;

	facts->unit = (enum trace_dat_unit)reader_get_number(&cursor, TRACE_DAT_EITHER);
	facts->is_host = reader_get_number(&cursor, 1);
	facts->has_vcpus = reader_get_number(&cursor, 1);
	facts->shifted = reader_get_number(&cursor, 1);
	facts->jump = (int64_t)reader_get_number(&cursor, INT64_MAX);
	facts->kinds = reader_get_number(&cursor, UINT64_MAX);
	facts->trace_id = reader_get_number(&cursor, UINT64_MAX);
	facts->n_cpus = (int32_t)reader_get_number(&cursor, KVM_MOST_CPUS);
	facts->n_unread = (int32_t)reader_get_number(&cursor, INT32_MAX);
	facts->damaged_cpu = -1;
	clock = reader_get_text(&cursor);
	snprintf(facts->clock, sizeof(facts->clock), "%s", clock ? clock : "");
	has_stranger = reader_get_number(&cursor, 1);
	facts->stranger = has_stranger ? reader_get_text(&cursor) : NULL;
	ok = clock && (!has_stranger || facts->stranger) && take_buffers(&cursor, facts) &&
	     take_events(&cursor, facts);
	free(clock);
	return cursor.is_bad || cursor.left ? -EBADMSG : ok ? 0 : -ENOMEM;
}

/** Take the facts of a walk that has ended. Return: its result, or -EBADMSG. */
static int take_walked(struct kvm_reader *reader)
{
	struct reader_cursor cursor = reader_cursor(&reader->message);
	struct kvm_facts *facts = &reader->facts;
	uint64_t cpu, ret = reader_get_number(&cursor, 1);

	cpu = reader_get_number(&cursor, KVM_MOST_CPUS);
	facts->damaged_cpu = (int32_t)cpu - 1;
	facts->n_twice = reader_get_number(&cursor, UINT64_MAX);
	for (int32_t i = 0; i < facts->n_buffers; i++) {
		facts->buffers[i].has_lost = reader_get_number(&cursor, 1);
		facts->buffers[i].lost = reader_get_number(&cursor, UINT64_MAX);
	}
	if (cursor.is_bad || cursor.left || facts->damaged_cpu >= facts->n_cpus)
		return -EBADMSG;
	return ret ? -ENOMEM : 0;
}

const struct kvm_facts *kvm_reader_facts(const struct kvm_reader *reader)
{
	return &reader->facts;
}

/* --- opening and closing --------------------------------------------------------------------- */

/** Return: 0, or a negative errno with a text. */
static int open_file(struct kvm_reader *reader, const char *path, char *error, size_t size)
{
	struct reader_head head;
	int ret = receive(reader, &head);

	if (!ret && head.kind == READER_REFUSED) {
		struct reader_cursor cursor = reader_cursor(&reader->message);
		char *text = reader_get_text(&cursor);

		snprintf(error, size, "%s", text ? text : path);
		free(text);
		return -EINVAL;
	}
	if (!ret)
		ret = head.kind == READER_ANSWER ? take_facts(reader) : -EBADMSG;
	if (ret == -EBADMSG || ret == -ETIMEDOUT)
		snprintf(error, size, "%s: %s", path, kvm_trace_problem(ret));
	else if (ret)
		snprintf(error, size, "%s: not enough memory", path);
	return ret;
}

struct kvm_reader *kvm_reader_open(const char *path, bool has_threads, char *error, size_t size)
{
	struct kvm_reader *reader = calloc(1, sizeof(*reader));
	int ret;

	if (!reader) {
		snprintf(error, size, "%s: not enough memory", path);
		return NULL;
	}
	/* the process reports a file that cannot be opened */
	if (!has_threads)
		held_file_hold(path);
	ret = kvm_reader_start(path, has_threads, &reader->process);
	if (ret)
		snprintf(error, size, "%s: a process that reads it cannot start: %s", path,
			 strerror(-ret));
	else
		ret = open_file(reader, path, error, size);
	if (!ret)
		return reader;
	kvm_reader_close(reader);
	return NULL;
}

void kvm_reader_close(struct kvm_reader *reader)
{
	if (!reader)
		return;
	end(reader);
	if (reader->process.blocks)
		munmap(reader->process.blocks, READER_BYTES);
	kvm_facts_free(&reader->facts);
	free(reader->message.data);
	free(reader->room);
	free(reader);
}

/* --- walking --------------------------------------------------------------------------------- */

/** A full block. Return: NULL if there cannot be such a block. */
static const uint8_t *block_of(const struct kvm_reader *reader, const struct reader_head *head)
{
	if (head->value >= READER_BLOCKS || head->size_of_block > READER_BLOCK)
		return NULL;
	return reader->process.blocks + head->value * READER_BLOCK;
}

/** Return: 0, what @take returned, or -EBADMSG. */
static int take_block(const struct kvm_reader *reader, const struct reader_head *head,
		      kvm_item_fn take, void *arg)
{
	const uint8_t *at = block_of(reader, head);
	uint64_t left = head->size_of_block;
	int ret = 0;

	if (!at)
		return -EBADMSG;
	while (left && !ret) {
		union kvm_item_room room;
		struct kvm_item item;
		size_t size = kvm_item_unpack(at, (size_t)left, &item, &room);

		if (!size || item.step.event.cpu >= reader->facts.n_cpus)
			return -EBADMSG;
		ret = take(arg, &item);
		at += size;
		left -= size;
	}
	return ret;
}

/** End a walk early: the process may send a few more blocks before it stops. */
static int stop(struct kvm_reader *reader)
{
	struct reader_head head;
	int ret = ask(reader, READER_STOP, 0);

	do {
		if (!ret)
			ret = receive(reader, &head);
	} while (!ret && head.kind == READER_BLOCK_FULL);
	return ret;
}

/** The facts of a walk that has ended with a message. Return: as kvm_reader_walk(). */
static int end_walk(struct kvm_reader *reader, const struct reader_head *head)
{
	int ret = head->kind == READER_ANSWER ? take_walked(reader) : -EBADMSG;

	return ret == -EBADMSG ? fail(reader) : ret;
}

int kvm_reader_walk(struct kvm_reader *reader, unsigned int flags, kvm_item_fn take, void *arg)
{
	struct reader_head head;
	int ret = ask(reader, READER_WALK, flags);

	reader->is_walking = true;
	while (!ret) {
		ret = receive(reader, &head);
		if (ret || head.kind != READER_BLOCK_FULL)
			break;
		ret = take_block(reader, &head, take, arg);
		if (ret == -EBADMSG)
			fail(reader);
		else if (ret)
			stop(reader);
		else
			ret = ask(reader, READER_BLOCK_FREE, 0);
	}
	reader->is_walking = false;
	return ret || !reader->process.pid ? ret : end_walk(reader, &head);
}

int kvm_reader_lines(struct kvm_reader *reader, const struct kvm_lines_wanted *wanted)
{
	struct reader_bytes content = { 0 };
	int ret;

	if (!reader->room)
		reader->room = malloc(KVM_LINE_MOST);
	reader_put_wanted(&content, wanted);
	if (!reader->room || content.has_failed)
		ret = -ENOMEM;
	else
		ret = ask_with(reader, READER_LINES, 0, &content);
	free(content.data);
	reader->is_walking = reader->has_lines = !ret;
	reader->has_block = false;
	reader->left = 0;
	return ret;
}

/** Wait for lines. Return: 1, 0 at the end of the walk, or an error, which ends it. */
static int next_block(struct kvm_reader *reader)
{
	struct reader_head head;
	int ret = reader->has_block ? ask(reader, READER_BLOCK_FREE, 0) : 0;

	reader->has_block = false;
	if (!ret)
		ret = receive(reader, &head);
	if (!ret && head.kind == READER_BLOCK_FULL) {
		reader->at = block_of(reader, &head);
		reader->left = (size_t)head.size_of_block;
		reader->has_block = true;
		return reader->at ? 1 : fail(reader);
	}
	reader->is_walking = reader->has_lines = false;
	return ret ? ret : end_walk(reader, &head);
}

int kvm_reader_next_line(struct kvm_reader *reader, struct kvm_line *line)
{
	size_t size;

	if (!reader->has_lines)
		return reader->process.pid ? 0 : reader->failure;
	while (!reader->left) {
		int ret = next_block(reader);

		if (ret <= 0)
			return ret;
	}
	size = kvm_line_unpack(reader->at, reader->left, line, reader->room);
	if (!size || line->cpu >= reader->facts.n_cpus) {
		reader->is_walking = reader->has_lines = false;
		return fail(reader);
	}
	reader->at += size;
	reader->left -= size;
	return 1;
}

void kvm_reader_end_lines(struct kvm_reader *reader)
{
	if (reader->has_lines)
		stop(reader);
	reader->is_walking = reader->has_lines = false;
}

/* --- questions ------------------------------------------------------------------------------- */

bool kvm_reader_task(struct kvm_reader *reader, int32_t pid, char name[KVM_TASK_NAME])
{
	struct reader_cursor cursor;
	struct reader_head head;
	char *text;

	if (reader->is_walking || ask_for(reader, READER_TASK, (uint32_t)pid, &head))
		return false;
	cursor = reader_cursor(&reader->message);
	text = reader_get_text(&cursor);
	snprintf(name, KVM_TASK_NAME, "%s", text ? text : "");
	free(text);
	return *name;
}

char *kvm_reader_function(struct kvm_reader *reader, uint64_t address)
{
	struct reader_cursor cursor;
	struct reader_head head;
	char *name;

	if (reader->is_walking || ask_for(reader, READER_FUNCTION, address, &head))
		return NULL;
	cursor = reader_cursor(&reader->message);
	name = reader_get_text(&cursor);
	if (name && *name)
		return name;
	free(name);
	return NULL;
}

int *kvm_reader_guest_tids(struct kvm_reader *reader, uint64_t trace_id, int *n)
{
	struct reader_cursor cursor;
	struct reader_head head;
	int *tids;

	if (reader->is_walking || ask_for(reader, READER_TIDS, trace_id, &head))
		return NULL;
	cursor = reader_cursor(&reader->message);
	*n = (int)reader_get_number(&cursor, KVM_MOST_CPUS);
	tids = *n ? calloc((size_t)*n, sizeof(*tids)) : NULL;
	for (int i = 0; tids && i < *n; i++)
		tids[i] = (int)reader_get_number(&cursor, UINT32_MAX);
	if (tids && !cursor.is_bad)
		return tids;
	free(tids);
	return NULL;
}

bool kvm_reader_hide_offsets(struct kvm_reader *reader)
{
	struct reader_head head;

	return !reader->is_walking && !ask_for(reader, READER_HIDE_OFFSETS, 0, &head) && head.value;
}
