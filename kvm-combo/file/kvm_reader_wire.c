// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_reader_wire.c
 * @brief	Messages between a process that reads a trace.dat and the one that asked for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "array.h"
#include "kvm_reader_wire.h"

static uint8_t *add(struct reader_bytes *bytes, size_t n)
{
	bytes->has_failed |= n > READER_MOST_CONTENT - bytes->n;
	while (!bytes->has_failed && bytes->room - bytes->n < n)
		bytes->has_failed = ARRAY_GROW(bytes->data, bytes->room, bytes->room);
	if (bytes->has_failed)
		return NULL;
	bytes->n += n;
	return bytes->data + bytes->n - n;
}

void reader_put_number(struct reader_bytes *bytes, uint64_t number)
{
	uint8_t *to = add(bytes, sizeof(number));

	if (to)
		memcpy(to, &number, sizeof(number));
}

void reader_put_text(struct reader_bytes *bytes, const char *text)
{
	size_t size = strlen(text) + 1;
	uint8_t *to = add(bytes, size);

	if (to)
		memcpy(to, text, size);
}

struct reader_cursor reader_cursor(const struct reader_bytes *bytes)
{
	return (struct reader_cursor){ .at = bytes->data, .left = bytes->n };
}

uint64_t reader_get_number(struct reader_cursor *cursor, uint64_t most)
{
	uint64_t number = 0;

	if (cursor->left < sizeof(number)) {
		cursor->is_bad = true;
		return 0;
	}
	memcpy(&number, cursor->at, sizeof(number));
	cursor->at += sizeof(number);
	cursor->left -= sizeof(number);
	if (number <= most)
		return number;
	cursor->is_bad = true;
	return 0;
}

char *reader_get_text(struct reader_cursor *cursor)
{
	const uint8_t *end = cursor->left ? memchr(cursor->at, '\0', cursor->left) : NULL;
	char *text;

	if (!end) {
		cursor->is_bad = true;
		return NULL;
	}
	text = strdup((const char *)cursor->at);
	cursor->left -= (size_t)(end + 1 - cursor->at);
	cursor->at = end + 1;
	return text;
}

void reader_put_wanted(struct reader_bytes *bytes, const struct kvm_lines_wanted *wanted)
{
	reader_put_number(bytes, wanted->fields);
	reader_put_number(bytes, wanted->no_info);
	reader_put_number(bytes, (uint64_t)wanted->from_key);
	reader_put_number(bytes, wanted->n_without);
	for (size_t i = 0; i < wanted->n_without; i++)
		reader_put_number(bytes, (uint32_t)wanted->without[i]);
	reader_put_number(bytes, wanted->n_steps);
	for (size_t i = 0; i < wanted->n_steps; i++) {
		reader_put_number(bytes, (uint32_t)wanted->steps[i].cpu);
		reader_put_number(bytes, wanted->steps[i].back);
		reader_put_number(bytes, (uint64_t)wanted->steps[i].from);
		reader_put_number(bytes, (uint64_t)wanted->steps[i].add);
	}
}

int reader_get_wanted(struct reader_cursor *cursor, struct kvm_lines_wanted *wanted)
{
	struct virt_clock_step *steps;
	int32_t *without;

	*wanted = (struct kvm_lines_wanted){ .fields = reader_get_number(cursor, 1) };
	wanted->no_info = reader_get_number(cursor, 1);
	wanted->from_key = (int64_t)reader_get_number(cursor, UINT64_MAX);
	wanted->n_without = (size_t)reader_get_number(cursor, READER_MOST_EVENTS);
	wanted->without = without = calloc(wanted->n_without + 1, sizeof(*without));
	for (size_t i = 0; without && i < wanted->n_without; i++)
		without[i] = (int32_t)reader_get_number(cursor, UINT32_MAX);
	wanted->n_steps = (size_t)reader_get_number(cursor, VIRT_CLOCK_MAX_STEPS);
	wanted->steps = steps = calloc(wanted->n_steps + 1, sizeof(*steps));
	for (size_t i = 0; steps && i < wanted->n_steps; i++) {
		steps[i].cpu = (int32_t)reader_get_number(cursor, UINT32_MAX);
		steps[i].back = reader_get_number(cursor, 1);
		steps[i].from = (int64_t)reader_get_number(cursor, UINT64_MAX);
		steps[i].add = (int64_t)reader_get_number(cursor, UINT64_MAX);
	}
	if (!without || !steps)
		return -ENOMEM;
	return cursor->is_bad || cursor->left ? -EBADMSG : 0;
}

static int send_all(int fd, const void *data, size_t n)
{
	const uint8_t *at = data;

	while (n) {
		ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return -EPIPE;
		at += sent;
		n -= (size_t)sent;
	}
	return 0;
}

int reader_send(int fd, const struct reader_head *head, const struct reader_bytes *content)
{
	struct reader_head with_size = *head;
	int ret;

	if (content && content->has_failed)
		return -ENOMEM;
	with_size.size = content ? (uint32_t)content->n : 0;
	ret = send_all(fd, &with_size, sizeof(with_size));
	return ret || !content ? ret : send_all(fd, content->data, content->n);
}

static int receive_all(int fd, void *data, size_t n)
{
	uint8_t *at = data;

	while (n) {
		ssize_t got = recv(fd, at, n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -EPIPE;
		at += got;
		n -= (size_t)got;
	}
	return 0;
}

int reader_receive(int fd, struct reader_head *head, struct reader_bytes *content)
{
	int ret = receive_all(fd, head, sizeof(*head));

	if (ret)
		return ret;
	if (head->size > READER_MOST_CONTENT)
		return -EBADMSG;
	content->n = 0;
	content->has_failed = false;
	if (head->size && !add(content, head->size))
		return -ENOMEM;
	return head->size ? receive_all(fd, content->data, head->size) : 0;
}
