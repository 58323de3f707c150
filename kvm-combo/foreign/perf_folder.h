/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	perf_folder.h
 * @brief	The folder that "perf record --threads" writes in place of a file.
 *
 * Linux's tools/perf/Documentation/perf.data-directory-format.txt describes it: "data" is a
 * perf.data file, and "data.0", "data.1" ... have records without a head, of some CPUs each. Other
 * entries ("kcore_dir") are ignored; with them alone, "data" has all records.
 */
#ifndef KSHARK_VIRT_PERF_FOLDER_H
#define KSHARK_VIRT_PERF_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perf_data.h"

/** Parts of a folder, at most: perf has one per CPU at most. */
#define PERF_FOLDER_PIECES	4096

/** Entries of a folder, at most. */
#define PERF_FOLDER_ENTRIES	100000

struct perf_folder {
	const uint8_t	*data;		/* the file "data", mapped: @size bytes */
	size_t		size;
	struct perf_piece *pieces;	/* in the order of their numbers */
	size_t		n, room;
	uint64_t	bytes;		/* of all files */
};

/**
 * perf_folder_is - is it a folder of perf? False for a file.
 *
 * It is one if "data" begins as perf.data does, or if there is a "data.0".
 */
bool perf_folder_is(const char *path);

/** perf_folder_part - is it a part of such a folder, which has no head of its own? */
bool perf_folder_part(const char *path);

/**
 * perf_folder_read - map all files of a folder
 * @folder: receives them, for perf_folder_free(), also after an error
 *
 * A file that is a link or no regular file is refused: it may lead out of the folder, or never end.
 *
 * Return: 0 or a negative errno with a text without the folder's name.
 */
int perf_folder_read(const char *path, struct perf_folder *folder, char *problem, size_t size);

void perf_folder_free(struct perf_folder *folder);

#endif
