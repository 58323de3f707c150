/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_reader.h
 * @brief	A process that reads a trace.dat with libtracecmd, and sends decoded records.
 *
 * A crash or an endless loop in that process is an error in this one. It decodes while this process
 * builds the model. This process checks all that it receives: a file may have taken the other one
 * over.
 */
#ifndef KSHARK_VIRT_KVM_READER_H
#define KSHARK_VIRT_KVM_READER_H

#include "kvm_source.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kvm_reader;

/**
 * kvm_reader_open - start a process that opens a file
 * @has_threads: this process has threads, or very much memory: a program of its own reads. A copy
 *	of this process starts faster; it stays with the file that has this name now, also in later
 *	readers: held_file_hold().
 *
 * Return: NULL, with the file's name and the remedy in @error.
 */
struct kvm_reader *kvm_reader_open(const char *path, bool has_threads, char *error, size_t size);

/** kvm_reader_close - end the process; @reader may be NULL. */
void kvm_reader_close(struct kvm_reader *reader);

/** kvm_reader_facts - as kvm_source_facts() */
const struct kvm_facts *kvm_reader_facts(const struct kvm_reader *reader);

/**
 * kvm_reader_walk - as kvm_source_walk()
 *
 * During a walk, @take may call kvm_reader_facts() of this reader, and nothing else.
 *
 * Return: also -EBADMSG if libtracecmd crashes on the file, -ETIMEDOUT if it exceeds its CPU time.
 */
int kvm_reader_walk(struct kvm_reader *reader, unsigned int flags, kvm_item_fn take, void *arg);

/**
 * kvm_reader_lines - begin a walk as kvm_source_lines(), whose lines the caller takes one by one
 *
 * Return: 0, -ENOMEM, -EBADMSG or -ETIMEDOUT.
 */
int kvm_reader_lines(struct kvm_reader *reader, const struct kvm_lines_wanted *wanted);

/**
 * kvm_reader_next_line - the next line of that walk
 * @line: valid until the next call
 *
 * Return: 1; 0: there are no more; or as kvm_reader_lines(): the walk is over then.
 */
int kvm_reader_next_line(struct kvm_reader *reader, struct kvm_line *line);

/** kvm_reader_end_lines - end that walk, which may be over already or has not begun. */
void kvm_reader_end_lines(struct kvm_reader *reader);

/**
 * kvm_reader_task - as kvm_source_task(), into @name
 *
 * Return: false if the thread has no name, and during a walk: items have the names then.
 */
bool kvm_reader_task(struct kvm_reader *reader, int32_t pid, char name[KVM_TASK_NAME]);

/** kvm_reader_function - as kvm_source_function(), to be freed; NULL also during a walk */
char *kvm_reader_function(struct kvm_reader *reader, uint64_t address);

/**
 * kvm_reader_guest_tids - as kvm_source_guest_tids()
 *
 * Return: an array of @n numbers that belongs to the caller, or NULL.
 */
int *kvm_reader_guest_tids(struct kvm_reader *reader, uint64_t trace_id, int *n);

/** kvm_reader_hide_offsets - as kvm_trace_hide_offsets() */
bool kvm_reader_hide_offsets(struct kvm_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
