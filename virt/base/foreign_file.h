/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	foreign_file.h
 * @brief	Recognize files of other programs by their first bytes, and suggest what to do with
 *		each.
 */
#ifndef KSHARK_VIRT_FOREIGN_FILE_H
#define KSHARK_VIRT_FOREIGN_FILE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The first bytes that identify all kinds. */
#define FOREIGN_FILE_HEAD	512

/** A perf.data file begins with a number, of a host of either byte order. */
#define FOREIGN_PERF_BYTES	8
#define FOREIGN_PERF_LITTLE	"PERFILE2"
#define FOREIGN_PERF_BIG	"2ELIFREP"

/**
 * foreign_file_problem - what a file is that is no trace of ours, and what helps
 * @head: its first @n bytes
 *
 * Return: the end of a sentence that begins with the file's name; NULL if its kind is not known.
 */
const char *foreign_file_problem(const void *head, size_t n);

/** foreign_file_is_tar - is it an archive, in which traces may lie as they are? */
bool foreign_file_is_tar(const void *head, size_t n);

/** foreign_name_problem - the same of the name of a file that does not exist here */
const char *foreign_name_problem(const char *name);

/**
 * foreign_folder_problem - the same of a folder that nothing has converted; NULL if it is none
 */
const char *foreign_folder_problem(const char *path);

#ifdef __cplusplus
}
#endif
#endif
