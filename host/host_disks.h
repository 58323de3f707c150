/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_disks.h
 * @brief	Requests to disks, as a kernel's block layer records them.
 *
 * A request is put into a queue (block_rq_insert), given to the disk (block_rq_issue) and ends
 * (block_rq_complete); one that finds its disk ready is given to it at once, without a queue. It
 * belongs to the task that put it into the queue, else to the one that gave it to the disk.
 *
 * While records of any CPU are missing, requests may begin or end without a record. So requests
 * before, in and after a gap have nothing to do with each other: a request in flight where a gap
 * begins or ends has an unknown duration. In a gap, the depth and the position of disks are
 * unknown.
 */
#ifndef KSHARK_VIRT_HOST_DISKS_H
#define KSHARK_VIRT_HOST_DISKS_H

#include "key_map.h"
#include "kvm_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

enum host_disk_operation {
	HOST_DISK_READ = 0,
	HOST_DISK_WRITE,
	HOST_DISK_DISCARD,
	HOST_DISK_FLUSH,
	HOST_DISK_OTHER,	/* commands, zones, ... */
	HOST_DISK_N_OPERATIONS
};

/** host_disk_operation_name - "read", "write" ... */
const char *host_disk_operation_name(enum host_disk_operation operation);

/** A time that the trace does not show. */
#define HOST_DISK_NO_TIME	INT64_MIN

/** A request that the trace shows to be given to its disk. */
struct host_disk_request {
	int64_t		issue_ns;
	int64_t		queue_ns;	/* from its queue to the disk; VIRT_NONE: it was in none, or
					 * unknown */
	int64_t		end_ns;		/* HOST_DISK_NO_TIME: unknown */
	uint64_t	sector, bytes;
	int64_t		seek_bytes;	/* from the end of the request before it on this
					 * disk; VIRT_NONE: unknown, or it has no place */
	uint32_t	disk;		/* index of struct host_disks' @disks */
	uint32_t	depth;		/* requests that the disk has, this one too; 0: unknown */
	int32_t		pid;
	int32_t		interrupts;	/* the task whose request came between this one and that of
					 * the same task which ends where this one begins; or
					 * VIRT_NONE */
	uint8_t		operation;	/* enum host_disk_operation */
	bool		has_failed;
};

enum host_disk_moment_kind {
	HOST_DISK_FOREIGN_END,	/* a request ends of which the trace does not show the beginning */
	HOST_DISK_MERGE,	/* a request, or part of one, becomes part of another one */
};

struct host_disk_moment {
	int64_t		time_ns;
	uint32_t	disk;
	uint8_t		kind;		/* enum host_disk_moment_kind */
};

struct host_disk {
	uint32_t	device;		/* major << 20 | minor */
};

/** All zero is none. */
struct host_disks {
	struct host_disk_request *requests;	/* in order of @issue_ns */
	size_t		n, room;
	struct host_disk_moment *moments;	/* in order of time */
	size_t		n_moments, room_moments;
	struct key_map	disk_map;
	struct host_disk *disks;
	uint32_t	room_disks;
	bool		known;		/* the trace shows each request, and its end; else there are
					 * no requests */
	bool		knows_queues;	/* it shows when requests are put into queues ... */
	bool		knows_merges;	/* ... and when they are merged */
};

/**
 * host_disks_read - read a trace once more
 * @time: brings the times of records to the axis of the model; NULL: they are on it
 * @disks: to be given to host_disks_free() in any case
 *
 * Only for a trace of kvm_trace_open_apart(). Return: 0 or -ENOMEM, or as kvm_trace_next_line().
 */
int host_disks_read(struct host_disks *disks, struct kvm_trace *trace,
		    int64_t (*time)(const void *arg, int64_t time_ns), const void *arg);
void host_disks_free(struct host_disks *disks);

/** Longer than the name of any disk. */
#define HOST_DISK_NAME	24

/** host_disk_name - "254:0", as lsblk has it */
void host_disk_name(const struct host_disk *disk, char name[HOST_DISK_NAME]);

#ifdef __cplusplus
}
#endif
#endif
