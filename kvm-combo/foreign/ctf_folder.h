/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ctf_folder.h
 * @brief	The traces in a folder: of CTF, each is a folder with a file "metadata".
 *
 * A session of LTTng has a folder per domain ("kernel", "ust/uid/1000/64-bit"); a rotated session
 * has its chunks in "archives".
 */
#ifndef KSHARK_VIRT_CTF_FOLDER_H
#define KSHARK_VIRT_CTF_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How far below a folder traces may be, and how many. */
#define CTF_FOLDER_DEPTH	8
#define CTF_FOLDER_TRACES	1024
#define CTF_FOLDER_FILES	100000

/** Bytes of a file "metadata"; LTTng's, with all events of a kernel, has less than 2 MiB. */
#define CTF_FOLDER_METADATA	((uint64_t)64 << 20)

/**
 * The variable by which 'kshark-virt view' hands over copies of folders: the number of the process
 * that they are for, then a line for each: a descriptor of a trace.dat, a blank, the folder.
 */
#define CTF_COPIES		"KSHARK_VIRT_COPIES"

struct ctf_folder {
	char		**traces;	/* paths */
	size_t		n, room;
	uint64_t	bytes;		/* of all files in them, without metadata */
	uint64_t	stamp;		/* another one if a file has another name, size or time */
};

/**
 * ctf_folder_is - does a folder hold a trace, itself or below? False for a file.
 *
 * It looks no further than CTF_FOLDER_DEPTH, and follows no links below @path.
 */
bool ctf_folder_is(const char *path);

/**
 * ctf_folder_read - all traces of a folder
 * @folder: receives them, for ctf_folder_free(), also after an error
 *
 * A trace with a link, or with anything else that is neither a file nor a folder, is refused: it
 * may lead out of the folder, or never end.
 *
 * Return: 0; -ENOENT: there is none; another negative errno. There is a text in each case.
 */
int ctf_folder_read(const char *path, struct ctf_folder *folder, char *problem, size_t size);

void ctf_folder_free(struct ctf_folder *folder);

#endif
