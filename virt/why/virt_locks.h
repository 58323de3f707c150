/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_locks.h
 * @brief	Waits for locks in the trace of a guest or of the host, and the tasks that have the
 *		locks.
 *
 * No record shows which task has a lock. But a task that ends a wait by a wake-up has had the lock
 * until then; while a task waits for a spinlock, the next one that gets it has it from the end of
 * its own wait on; and in a machine with two CPUs, what one of them waits for is with the other
 * one.
 */
#ifndef KSHARK_VIRT_VIRT_LOCKS_H
#define KSHARK_VIRT_VIRT_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Of a wait with an unknown end. */
#define VIRT_LOCK_NO_TIME	INT64_MIN

/** How those that wait for a lock of a kind get it. */
enum virt_lock_how {
	VIRT_LOCK_OTHER = 0,
	VIRT_LOCK_SPINS,	/* they execute until it is free; a task with it stays on its CPU */
	VIRT_LOCK_WAKES,	/* the task that gives it back wakes the next one */
	VIRT_LOCK_SHARED,	/* the same, but others may have it as well, without a record */
};

struct virt_lock_wait {
	int64_t		begin_ns, end_ns;
	uint64_t	lock;		/* its address */
	const char	*kind;		/* "mutex"; a constant */
	int32_t		pid;
	int16_t		cpu;		/* on which it begins */
	uint8_t		how;		/* enum virt_lock_how */
	bool		has_failed;	/* it ended without the lock */
};

/** A task has a lock for which another one waits. */
struct virt_lock_hold {
	int64_t		from_ns, to_ns;
	uint32_t	wait;		/* index of the wait that shows it */
	uint32_t	next;		/* and of the one that gets the lock next: of a spinlock, it
					 * may be free already if that one does not execute */
	int32_t		pid;		/* 0: the idle task, or an interrupt of it */
	int16_t		cpu;		/* of a spinlock: where; VIRT_NONE: wherever it is */
};

/** Of a trace. All zero is none. */
struct virt_locks {
	struct virt_lock_wait *waits;	/* by pid, then by their beginning */
	int64_t		*wait_reach;	/* latest end of a wait of the same pid, up to this one */
	size_t		n_waits;
	struct virt_lock_hold *holds;	/* by their beginning */
	int64_t		*hold_reach;	/* latest end of a hold, up to this one */
	size_t		n_holds, room_holds;
};

/** Room for the name of a lock. */
#define VIRT_LOCK_NAME	20

/** virt_lock_name - the address of a lock: "0xffff888301e57220" */
static inline void virt_lock_name(uint64_t lock, char name[VIRT_LOCK_NAME])
{
	snprintf(name, VIRT_LOCK_NAME, "0x%llx", (unsigned long long)lock);
}

/** virt_locks_free - free all that virt_guest_set_locks() has made */
void virt_locks_free(struct virt_locks *locks);

/** virt_lock_wait_around - the shortest wait of a task that a window lies within; or NULL. */
const struct virt_lock_wait *virt_lock_wait_around(const struct virt_locks *locks, int32_t pid,
						   int64_t from_ns, int64_t to_ns);

/**
 * virt_lock_next_wait - the next wait of a task that reaches into a window, and has a known end
 * @at: 0 at first; receives where to go on
 *
 * Return: NULL if there are no more.
 */
const struct virt_lock_wait *virt_lock_next_wait(const struct virt_locks *locks, int32_t pid,
						 int64_t from_ns, int64_t to_ns, size_t *at);

/** virt_lock_next_hold - the same of all holds. */
const struct virt_lock_hold *virt_lock_next_hold(const struct virt_locks *locks, int64_t from_ns,
						 int64_t to_ns, size_t *at);

#ifdef __cplusplus
}
#endif
#endif
