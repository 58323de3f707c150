/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_builder.h
 * @brief	Write small xentrace files for unit tests: in memory, good or broken on purpose.
 */
#ifndef KSHARK_VIRT_TRACE_BUILDER_H
#define KSHARK_VIRT_TRACE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A trace that grows; all zero is an empty one. */
struct trace {
	uint8_t	*data;
	size_t	size;
	size_t	room;
	size_t	window;		/* offset of the open window's header + 1, 0 if none */
};

void trace_free(struct trace *trace);

/** trace_bytes - append anything. Return: its offset. */
size_t trace_bytes(struct trace *trace, const void *data, size_t size);

/** trace_u32 - append a little-endian word. Return: its offset. */
size_t trace_u32(struct trace *trace, uint32_t word);

/** trace_window - begin a window; its size is filled in as records follow. Return: its offset. */
size_t trace_window(struct trace *trace, uint32_t pcpu);

/** trace_record - a record with a TSC. Return: its offset. */
size_t trace_record(struct trace *trace, uint32_t event, uint64_t tsc, int n_words,
		    const uint32_t *words);

/** trace_untimed - a record without TSC. Return: its offset. */
size_t trace_untimed(struct trace *trace, uint32_t event, int n_words, const uint32_t *words);

/** TRACE_RECORD, TRACE_UNTIMED - the same with the payload words as arguments. */
#define TRACE_WORDS(...)	(const uint32_t[]){ 0, ##__VA_ARGS__ }
#define TRACE_N_WORDS(...)	((int)(sizeof(TRACE_WORDS(__VA_ARGS__)) / sizeof(uint32_t)) - 1)
#define TRACE_RECORD(trace, event, tsc, ...)					\
	trace_record(trace, event, tsc, TRACE_N_WORDS(__VA_ARGS__),		\
		     TRACE_WORDS(__VA_ARGS__) + 1)
#define TRACE_UNTIMED(trace, event, ...)					\
	trace_untimed(trace, event, TRACE_N_WORDS(__VA_ARGS__), TRACE_WORDS(__VA_ARGS__) + 1)

/** trace_ticks - @n records of 16 bytes (CONTINUE_RUNNING of d1v0), @step cycles apart. */
size_t trace_ticks(struct trace *trace, uint64_t tsc, int n, uint64_t step);

/** trace_patch_u32 - overwrite a word. */
void trace_patch_u32(struct trace *trace, size_t offset, uint32_t word);

/** trace_cut - remove bytes. */
void trace_cut(struct trace *trace, size_t offset, size_t size);

/** trace_random - the next number of a sequence (xorshift64*); @state must not be 0. */
uint64_t trace_random(uint64_t *state);

/** trace_gzip, trace_zstd - append bytes in packed form. */
void trace_gzip(struct trace *trace, const uint8_t *data, size_t size);
void trace_zstd(struct trace *trace, const uint8_t *data, size_t size);

/**
 * trace_file - write bytes into a new file
 * @suffix: of its name
 *
 * Return: malloc'ed path, to be unlinked and freed.
 */
char *trace_file(const void *data, size_t size, const char *suffix);

#endif
