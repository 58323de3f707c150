/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_reader_wire.h
 * @brief	Messages between a process that reads a trace.dat and the one that asked for it.
 *
 * Both run the same program on the same host, so numbers have its byte order. A message consists of
 * a head and its content. Records pass through blocks of shared memory; a message announces each
 * full block. The reading process waits while all blocks are full.
 */
#ifndef KSHARK_VIRT_KVM_READER_WIRE_H
#define KSHARK_VIRT_KVM_READER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kvm_line.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Number of blocks of shared memory, and the size of each. */
#define READER_BLOCKS		4
#define READER_BLOCK		((size_t)256 << 10)
#define READER_BYTES		(READER_BLOCKS * READER_BLOCK)

/** Limits: bytes of a message's content, events of a trace. */
#define READER_MOST_CONTENT	((size_t)32 << 20)
#define READER_MOST_EVENTS	65536

_Static_assert(KVM_LINE_MOST <= READER_BLOCK, "a block has room for each line");

enum reader_request {
	READER_WALK = 1,	/* value: enum kvm_walk_flags. Replies: full blocks, then
				 * READER_ANSWER */
	READER_BLOCK_FREE,	/* during a walk: the oldest full block has been read */
	READER_STOP,		/* end the walk */
	READER_TASK,		/* value: pid */
	READER_TIDS,		/* value: trace id of a guest */
	READER_HIDE_OFFSETS,
	READER_LINES,		/* content: reader_put_wanted(). Replies: as to READER_WALK */
	READER_FUNCTION,	/* value: an address */
};

enum reader_reply {
	READER_REFUSED = 1,	/* content: a text; the file cannot be opened */
	READER_ANSWER,
	READER_BLOCK_FULL,	/* value: its number; size_of_block */
};

struct reader_head {
	uint32_t	kind;		/* enum reader_request or reader_reply */
	uint32_t	size;		/* of the content */
	uint64_t	value;
	uint64_t	size_of_block;	/* bytes of items in a full block */
};

/** The content of a message. */
struct reader_bytes {
	uint8_t		*data;
	size_t		n, room;
	bool		has_failed;	/* there was not enough memory */
};

void reader_put_number(struct reader_bytes *bytes, uint64_t number);
void reader_put_text(struct reader_bytes *bytes, const char *text);

/** A place in content that may be hostile. */
struct reader_cursor {
	const uint8_t	*at;
	size_t		left;
	bool		is_bad;		/* something was missing or out of range */
};

struct reader_cursor reader_cursor(const struct reader_bytes *bytes);

/** reader_get_number - the next number; one above @most is 0, and bad */
uint64_t reader_get_number(struct reader_cursor *cursor, uint64_t most);

/** reader_get_text - the next text, to be freed; NULL without memory, or if it is bad */
char *reader_get_text(struct reader_cursor *cursor);

/**
 * reader_send - send a message
 * @content: may be NULL; its size is the message's
 *
 * Return: 0, -ENOMEM if the content is incomplete, -EPIPE if it has no receiver.
 */
int reader_send(int fd, const struct reader_head *head, const struct reader_bytes *content);

/**
 * reader_receive - wait for a message
 * @content: receives its content
 *
 * Return: 0, -EPIPE if there is none any more, -EBADMSG if it is too large, -ENOMEM.
 */
int reader_receive(int fd, struct reader_head *head, struct reader_bytes *content);

/** reader_put_wanted - add which lines are wanted */
void reader_put_wanted(struct reader_bytes *bytes, const struct kvm_lines_wanted *wanted);

/**
 * reader_get_wanted - read that
 * @wanted: receives it; its arrays are to be freed in any case
 *
 * Return: 0, -ENOMEM or -EBADMSG.
 */
int reader_get_wanted(struct reader_cursor *cursor, struct kvm_lines_wanted *wanted);

/** A process that reads. */
struct reader_process {
	pid_t		pid;		/* 0: it has ended */
	int		fd;		/* for messages */
	uint8_t		*blocks;	/* READER_BYTES, which both share; or NULL */
};

/** Second argument of the program: its standard error is what held_file_set_copy() had. */
#define KVM_READER_COPY		"copy"

/**
 * kvm_reader_start - start a process that runs kvm_reader_child()
 * @has_threads: this process has threads, so a program of its own reads. Its standard input is for
 *	messages, its standard output the memory of the blocks. Otherwise a copy of this one reads.
 * @process: all zero; its blocks are to be unmapped, also after a failure
 *
 * Return: 0 or a negative errno.
 */
int kvm_reader_start(const char *path, bool has_threads, struct reader_process *process);

/** kvm_reader_map - map the blocks. Return: NULL on failure, with errno. */
uint8_t *kvm_reader_map(int fd);

/**
 * kvm_reader_child - open the file, and answer requests until the other side closes @fd
 * @read_symbols: called before the first name of a function is searched; or NULL
 */
__attribute__((noreturn))
void kvm_reader_child(const char *path, int fd, uint8_t *blocks, void (*read_symbols)(void));

#ifdef __cplusplus
}
#endif
#endif
