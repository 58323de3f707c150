/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_lives.h
 * @brief	Read the data of the page "Why" from the files of a host and its guests.
 *
 * Works on files and copies: nothing here touches KernelShark, so it may run in any thread.
 */
#ifndef KSHARK_VIRT_VIRT_LIVES_H
#define KSHARK_VIRT_VIRT_LIVES_H

#include "virt_guest_file.h"
#include "why_answer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A guest whose stream is open. */
struct virt_lives_guest {
	struct virt_guest_file	file;
	const int32_t		*tids;		/* its CPUs in the host's trace; or VIRT_NONE */
	int			n_tids;
};

struct virt_lives_source {
	const char		*host;		/* file; it may be one of Xen */
	const struct virt_lives_guest *guests;
	int			n_guests;
	bool			(*stop)(void *arg);	/* asked now and then */
	void			*arg;
};

/**
 * virt_lives_read - what the tasks of the guests did, with the times that KernelShark shows
 * @model: of the host
 * @with_host: the host's own tasks are wanted, also if none of them waits for a lock
 * @guests: receives them in their order, on the model's axis; to be given to virt_lives_free()
 * @host: receives the host's own tasks, if they are read; zero, to be given to virt_guest_free()
 *
 * Return: 0, or a negative errno and a text in @error.
 */
int virt_lives_read(const struct virt_lives_source *source, const struct virt_model *model,
		    bool with_host, struct virt_guests *guests, struct virt_guest *host,
		    char *error, size_t size);
void virt_lives_free(struct virt_guests *guests);

/**
 * virt_lives_evidence - as why_evidence_find(), of files that KernelShark has opened
 *
 * Return: to be given to why_evidence_free(); NULL with a text in @error.
 */
struct why_evidence *virt_lives_evidence(const struct virt_lives_source *source,
					 const struct why_answer *answer, char *error, size_t size);

#ifdef __cplusplus
}
#endif
#endif
