/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	guest_pointer.h
 * @brief	A small file that stands for a guest without a trace of its own.
 *
 * The file names the host's trace in which the guest reports through hypercalls. KernelShark opens
 * files: it opens this one for such a guest, and its sessions name this one. Format:
 * docs/hypertracing.md, "In KernelShark".
 */
#ifndef KSHARK_VIRT_GUEST_POINTER_H
#define KSHARK_VIRT_GUEST_POINTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** All zero is none. */
struct guest_pointer {
	char	*host;		/* path of the host's trace */
	char	*machine;	/* its name there, for people */
	int32_t	thread;		/* virt_vcpu.host_pid of one of its vCPUs: which machine it is */
	char	*dialect;	/* as host_hypertrace_new() takes it; NULL: by the calls */
	char	*kallsyms;	/* path; or NULL */
};

/** guest_pointer_is - is that such a file? Whether it can be used is another question. */
bool guest_pointer_is(const char *path);

/**
 * guest_pointer_read - read one
 * @pointer: receives it, to be given to guest_pointer_free() in any case; paths that are relative
 *	to the file become those that can be opened
 * @error: on failure, receives a text that names the file and what to do
 *
 * Return: 0 or a negative errno.
 */
int guest_pointer_read(const char *path, struct guest_pointer *pointer, char *error, size_t size);
void guest_pointer_free(struct guest_pointer *pointer);

/**
 * guest_pointer_write - put one into a folder; what is there already and the same is left as it is
 * @folder: is made, with those above it
 * @path: receives its path, to be freed: a pointer that says something else has another one
 *
 * Return: 0; or a negative errno and a text in @error.
 */
int guest_pointer_write(const char *folder, const struct guest_pointer *pointer, char **path,
			char *error, size_t size);

#ifdef __cplusplus
}
#endif
#endif
