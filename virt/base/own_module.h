/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	own_module.h
 * @brief	Load a part of the command that is a file of its own, because few commands need it.
 */
#ifndef KSHARK_VIRT_OWN_MODULE_H
#define KSHARK_VIRT_OWN_MODULE_H

#include <dlfcn.h>
#include <stdio.h>

#include "own_directory.h"

/**
 * own_module - load a part and find the object that it exports; it stays loaded
 * @path: of the file, from the directory of the running program
 * @problem: set on failure; valid until the next call of dlopen() or dlsym()
 *
 * Return: the object, or NULL.
 */
static inline const void *own_module(const char *path, const char *object, const char **problem)
{
	char *own = own_directory(), *file = NULL;
	const void *found = NULL;
	void *handle = NULL;

	*problem = "not enough memory";
	if (own && asprintf(&file, "%s/%s", own, path) >= 0) {
		handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
		free(file);
		if (handle)
			found = dlsym(handle, object);
		if (!found)
			*problem = dlerror();
	}
	free(own);
	return found;
}

#endif
