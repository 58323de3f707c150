/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_window.h
 * @brief	A small file that stands for a window of a xentrace file.
 *
 * KernelShark opens files. To load only a window of a large trace, it opens this file, and its
 * sessions name it. Any program that opens it as a trace gets that window.
 */
#ifndef KSHARK_VIRT_XEN_WINDOW_H
#define KSHARK_VIRT_XEN_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** All zero is none. */
struct xen_window {
	char		*trace;			/* path */
	int64_t		from_ns, to_ns;		/* on the trace's own axis */
	int64_t		begin_ns, end_ns;	/* of the whole trace, when it was written */
};

/** xen_window_is - is that such a file? Whether it can be used is another question. */
bool xen_window_is(const char *path);

/**
 * xen_window_read - read one
 * @window: receives it, to be given to xen_window_free() in any case
 * @error: on failure, receives a text that names the file and what to do
 *
 * Return: 0 or a negative errno.
 */
int xen_window_read(const char *path, struct xen_window *window, char *error, size_t size);
void xen_window_free(struct xen_window *window);

/**
 * xen_window_write - put one into a folder
 * @path: receives its path, to be freed: another window has another one
 *
 * Return: 0; or a negative errno and a text in @error.
 */
int xen_window_write(const char *folder, const struct xen_window *window, char **path,
		     char *error, size_t size);

/** xen_window_text - "from 12.500 to 14.500 s of 0.000 to 98.250 s". Return: as snprintf(). */
int xen_window_text(char *text, size_t size, const struct xen_window *window);

#ifdef __cplusplus
}
#endif
#endif
