/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_source.h
 * @brief	The content of a trace.dat, read by libtracecmd and decoded.
 *
 * libtracecmd and libtraceevent trust a file's formats, sizes and offsets: a damaged file can make
 * them crash or loop. kvm_reader.h runs the same functions in a process of their own.
 */
#ifndef KSHARK_VIRT_KVM_SOURCE_H
#define KSHARK_VIRT_KVM_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kvm_item.h"
#include "kvm_line.h"
#include "trace_dat.h"

#ifdef __cplusplus
extern "C" {
#endif

/** CPUs of a trace, and buffers that are read, at most. */
#define KVM_MOST_CPUS		(INT16_MAX + 1)
#define KVM_MOST_BUFFERS	64

/** An event of a trace. */
struct kvm_event_name {
	int32_t		id;
	char		*system, *name;
};

/** A buffer of a trace: the top one, or an instance (trace-cmd record -B). */
struct kvm_buffer_facts {
	char		*name;		/* of an instance; NULL: the top buffer */
	/* of the last walk: */
	uint64_t	lost;		/* records, as far as the number is known */
	bool		has_lost;
};

/** Facts about a trace. */
struct kvm_facts {
	enum trace_dat_unit unit;
	char		clock[TRACE_DAT_CLOCK];	/* kvm_trace_clock() */
	bool		is_host;	/* kvm_trace_is_host() */
	bool		has_vcpus;	/* kvm_trace_has_vcpus() */
	bool		shifted;	/* so that instances cannot be read */
	int64_t		jump;		/* of its offsets, struct trace_dat_info */
	char		*stranger;	/* kvm_trace_stranger(), or NULL */
	uint64_t	kinds;		/* kvm_fields_kinds() */
	uint64_t	trace_id;	/* 0: none */
	int32_t		n_cpus;
	int32_t		n_unread;	/* instances that are not among the buffers */
	struct kvm_buffer_facts *buffers;	/* the top one first */
	int32_t		n_buffers;
	struct kvm_event_name *events;
	int32_t		n_events;
	/* of the last walk: */
	int32_t		damaged_cpu;	/* or -1 */
	uint64_t	n_twice;	/* records that two buffers had, and that are read once */
};

/** kvm_facts_free - free what it points to. */
void kvm_facts_free(struct kvm_facts *facts);

struct kvm_source;

/** A file that trace_dat_check() accepts. */
struct kvm_source_file {
	int		fd;		/* of the file, or of an unpacked copy */
	struct trace_dat_info info;
};

/**
 * kvm_source_find - check a file, and unpack it if zlib has compressed it; without libtracecmd
 *
 * Return: false, with the file's name and the remedy in @error.
 */
bool kvm_source_find(const char *path, struct kvm_source_file *file, char *error, size_t size);

/**
 * kvm_source_open - read the head of a file with libtracecmd; no other file is opened
 * @file: from kvm_source_find(); its descriptor belongs to this function
 *
 * Return: NULL, with the file's name and the remedy in @error.
 */
struct kvm_source *kvm_source_open(const char *path, const struct kvm_source_file *file,
				   char *error, size_t size);

/** A file whose head libtracecmd reads. */
struct kvm_source_opening {
	int		fd;
	struct trace_dat_symbols symbols;
};

/** kvm_source_opening - the file whose head libtracecmd reads in this thread now, or NULL */
const struct kvm_source_opening *kvm_source_opening(void);

/** kvm_source_close - close a source, which may be NULL. */
void kvm_source_close(struct kvm_source *source);

/** kvm_source_facts - the facts; they belong to the source, a walk changes some of them. */
const struct kvm_facts *kvm_source_facts(const struct kvm_source *source);

/** Takes a record; the item is valid until it returns. A value other than 0 ends the walk. */
typedef int (*kvm_item_fn)(void *arg, struct kvm_item *item);

/** How to walk. */
enum kvm_walk_flags {
	KVM_WALK_ALL_PARTS = 1,		/* decode all parts; else those for the tracker only */
	KVM_WALK_BY_LIBRARY = 2,	/* libtracecmd reads all records, as in KernelShark */
	KVM_WALK_SPARSE = 4,		/* leave out records that show the tracker nothing new */
	KVM_WALK_COUNTS = 8,		/* and only count records in which KVM_WALK_ALL_PARTS finds
					 * nothing rare */
	KVM_WALK_FLAGS = 15,
};

/**
 * kvm_source_walk - all records, CPU by CPU, each CPU's in order of time
 * @flags: enum kvm_walk_flags
 *
 * Return: 0, -ENOMEM, or what @take returned other than 0.
 */
int kvm_source_walk(struct kvm_source *source, unsigned int flags, kvm_item_fn take, void *arg);

/** Takes a record as text; the line is valid until it returns. Other values than 0 end the walk. */
typedef int (*kvm_line_fn)(void *arg, const struct kvm_line *line);

/**
 * kvm_source_lines - all records in order of time; of the same time, those of the lower CPU first
 *
 * Return: as kvm_source_walk().
 */
int kvm_source_lines(struct kvm_source *source, const struct kvm_lines_wanted *wanted,
		     kvm_line_fn take, void *arg);

/** kvm_source_task - the name of a thread, or NULL. */
const char *kvm_source_task(const struct kvm_source *source, int32_t pid);

/**
 * ftrace patches a function at most this number of bytes after its beginning: after an endbr64 of
 * x86, or a bti of arm64. Functions are this far apart.
 */
#define KVM_FUNCTION_ENTRY	16

/** kvm_source_function - the function whose beginning is at an address, by the file's kallsyms; or
 * NULL */
const char *kvm_source_function(const struct kvm_source *source, uint64_t address);

/**
 * kvm_source_guest_tids - the threads that are the CPUs of a guest, as trace-cmd recorded them
 * @trace_id: of the guest's trace
 * @n: receives the number of CPUs
 *
 * Return: the thread of each CPU, which belong to @source; NULL if it does not know the guest.
 */
const int *kvm_source_guest_tids(const struct kvm_source *source, uint64_t trace_id, int *n);

/** kvm_source_hide_offsets - as kvm_trace_hide_offsets() */
bool kvm_source_hide_offsets(struct kvm_source *source);

#ifdef __cplusplus
}
#endif
#endif
