/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_locks.h
 * @brief	Waits for locks of a kernel, and for futexes, as it records them.
 *
 * A task that does not get a lock at once waits from contention_begin to contention_end; nested
 * waits are those of interrupts. A lock that a task gets at once has no record, and no record shows
 * which task has a lock.
 *
 * A task waits for a futex, a word of its process' memory, from the beginning of such a system call
 * to its end. Most are locks of programs; others are events for which threads wait.
 *
 * A wait that goes on where records of its CPU or any other are missing has an unknown duration.
 */
#ifndef KSHARK_VIRT_HOST_LOCKS_H
#define KSHARK_VIRT_HOST_LOCKS_H

#include "kvm_trace.h"
#include "virt_locks.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A wait that the trace shows to begin. */
struct host_lock_wait {
	int64_t		begin_ns;
	int64_t		end_ns;		/* VIRT_LOCK_NO_TIME: unknown */
	uint64_t	lock;		/* its address */
	int32_t		pid;
	int16_t		cpu;		/* on which it begins */
	uint32_t	flags;		/* for host_lock_kind_of() */
	bool		has_failed;	/* it ended without the lock, or the futex's event */
};

/** All zero is none. */
struct host_locks {
	struct host_lock_wait *waits;	/* in order of @begin_ns */
	size_t		n, room;
	int64_t		*foreign_ns;	/* ends of waits whose beginning the trace does not show */
	size_t		n_foreign, room_foreign;
	/* the trace shows each wait, for locks of the kernel, for futexes; else there are none */
	bool		known, futexes_known;
};

/**
 * host_locks_read - read a trace once more
 * @time: brings the times of records to the axis of the model; NULL: they are on it
 * @locks: to be given to host_locks_free() in any case
 *
 * Only for a trace of kvm_trace_open_apart(). Return: 0 or -ENOMEM, or as kvm_trace_next_line().
 */
int host_locks_read(struct host_locks *locks, struct kvm_trace *trace,
		    int64_t (*time)(const void *arg, int64_t time_ns), const void *arg);
void host_locks_free(struct host_locks *locks);

/** host_lock_kind_of - the number of a kind of lock, and of waiting for it; below 256 */
uint32_t host_lock_kind_of(uint32_t flags);

/** host_lock_kind_name - "spinlock", "rwsem write", "mutex", "futex" ... */
const char *host_lock_kind_name(uint32_t kind);

/** host_lock_how - how those that wait for a lock of a kind get it */
enum virt_lock_how host_lock_how(uint32_t kind);

/** host_lock_is_futex - is that the kind of a futex? */
bool host_lock_is_futex(uint32_t kind);

#ifdef __cplusplus
}
#endif
#endif
