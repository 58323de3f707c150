/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_dat_cut.h
 * @brief	Cut records out of trace.dat files, and write them as a file that keeps all else.
 *
 * Formats, symbols, names of tasks and options are copied as they are. Records stay in their pages,
 * except the first and the last page of each CPU.
 */
#ifndef KSHARK_VIRT_TRACE_DAT_CUT_H
#define KSHARK_VIRT_TRACE_DAT_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_dat_cut;

/**
 * trace_dat_cut_open - begin: no record is wanted yet
 * @path: of a file that is not compressed, or has an unpacked copy (held_file_set_copy())
 *
 * Return: NULL, with the file's name and the remedy in @error.
 */
struct trace_dat_cut *trace_dat_cut_open(const char *path, char *error, size_t size);
void trace_dat_cut_close(struct trace_dat_cut *cut);

/**
 * trace_dat_cut_take - want the record at an offset, as libtracecmd reports it
 *
 * Wanted records of a CPU's buffer lie in a row: those between two of them are wanted as well.
 */
void trace_dat_cut_take(struct trace_dat_cut *cut, uint64_t offset);

/** trace_dat_cut_take_all - want all records. */
void trace_dat_cut_take_all(struct trace_dat_cut *cut);

/** trace_dat_cut_gap - mark that records before those of this file are missing. */
void trace_dat_cut_gap(struct trace_dat_cut *cut);

/** trace_dat_cut_same - are two files of one recording, with the same CPUs in the same buffers? */
bool trace_dat_cut_same(const struct trace_dat_cut *a, const struct trace_dat_cut *b);

/**
 * trace_dat_cut_write - write the wanted records of files that follow each other, as one file
 * @cuts: @n of them, the first of which gives all that is no record
 * @fd: of an empty file
 * @error: receives a sentence about a file that cannot be read
 *
 * Return: 0; -EILSEQ with a text in @error; or a negative errno of writing.
 */
int trace_dat_cut_write(struct trace_dat_cut *const *cuts, int n, int fd, char *error,
			size_t size);

#endif
