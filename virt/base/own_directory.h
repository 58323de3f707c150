/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	own_directory.h
 * @brief	Find the directory of the running program; its other files have fixed paths from
 *		there.
 */
#ifndef KSHARK_VIRT_OWN_DIRECTORY_H
#define KSHARK_VIRT_OWN_DIRECTORY_H

#include <stdlib.h>
#include <string.h>

/** own_directory - Return: malloc'ed, without a slash at its end; or NULL */
static inline char *own_directory(void)
{
	char *path = realpath("/proc/self/exe", NULL);
	char *slash = path ? strrchr(path, '/') : NULL;

	if (slash)
		*slash = '\0';
	return path;
}

#endif
