/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	foreign_file.h
 * @brief	Files of other programs, known by their first bytes, and what to do with each.
 */
#ifndef KSHARK_VIRT_FOREIGN_FILE_H
#define KSHARK_VIRT_FOREIGN_FILE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As many first bytes tell all kinds apart. */
#define FOREIGN_FILE_HEAD	16

/**
 * foreign_file_problem - what a file is that is no trace of ours, and what helps
 * @head: its first @n bytes
 *
 * Return: the end of a sentence that begins with the file's name; NULL if its kind is not known.
 */
const char *foreign_file_problem(const void *head, size_t n);

/** foreign_folder_problem - the same of a folder; NULL if it is none, or of no known kind. */
const char *foreign_folder_problem(const char *path);

#ifdef __cplusplus
}
#endif
#endif
