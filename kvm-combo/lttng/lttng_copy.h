/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	lttng_copy.h
 * @brief	The trace.dat that KernelShark reads in place of a folder in CTF.
 *
 * KernelShark's process never reads CTF: kshark-virt-convert does, in a process without rights. All
 * functions are for the thread that loads a file: KernelShark has only one.
 */
#ifndef KSHARK_VIRT_LTTNG_COPY_H
#define KSHARK_VIRT_LTTNG_COPY_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * lttng_copy_make - convert a folder, unless there is a copy of it as it is now
 * @folder: held_file_open() opens the copy by this name, and by the folder's real path
 *
 * Return: 0, or a negative errno after a message on stderr.
 */
int lttng_copy_make(const char *folder);

#ifdef __cplusplus
}
#endif
#endif
