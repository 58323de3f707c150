/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_files.h
 * @brief	Bytes that tasks of a kernel read and write by file descriptor, as their system
 *		calls return them.
 *
 * A file may be a disk's, a pipe or a socket; no record shows which. Calls of io_uring and access
 * to memory that is a file have no such records.
 *
 * A call that goes on where records of its CPU or any other are missing has unknown bytes.
 */
#ifndef KSHARK_VIRT_HOST_FILES_H
#define KSHARK_VIRT_HOST_FILES_H

#include "kvm_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A time that the trace does not show. */
#define HOST_FILE_NO_TIME	INT64_MIN

/** A system call that begins in the trace. One that reads a file and writes another is two. */
struct host_file_call {
	int64_t		begin_ns;
	int64_t		end_ns;		/* HOST_FILE_NO_TIME: unknown, and bytes too */
	uint64_t	bytes;
	int32_t		pid;
	int32_t		file;		/* its descriptor */
	bool		writes;		/* else it reads */
	bool		has_failed;	/* it returned an error */
};

/** All zero is none. */
struct host_files {
	struct host_file_call *calls;	/* in order of @begin_ns */
	size_t		n, room;
	int64_t		*foreign_ns;	/* ends of calls whose beginning the trace does not show */
	size_t		n_foreign, room_foreign;
	bool		known;		/* the trace shows some of these system calls, */
	bool		knows_all;	/* all of them */
};

/**
 * host_files_read - read a trace once more
 * @time: brings the times of records to the axis of the model; NULL: they are on it
 * @files: to be given to host_files_free() in any case
 *
 * Only for a trace of kvm_trace_open_apart(). Return: 0 or -ENOMEM, or as kvm_trace_next_line().
 */
int host_files_read(struct host_files *files, struct kvm_trace *trace,
		    int64_t (*time)(const void *arg, int64_t time_ns), const void *arg);
void host_files_free(struct host_files *files);

#ifdef __cplusplus
}
#endif
#endif
