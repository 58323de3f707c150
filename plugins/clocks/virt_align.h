/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_align.h
 * @brief	Align a stream with that of its host, and judge how they are aligned.
 *
 * Works on files and copies: nothing here touches KernelShark, so it may run in any thread.
 */
#ifndef KSHARK_VIRT_VIRT_ALIGN_H
#define KSHARK_VIRT_VIRT_ALIGN_H

#include "clock_align.h"
#include "ks_clock.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What came out. */
struct virt_align_result {
	struct ks_clock	clock;		/* for the guest's stream; parts is NULL if there is none */
	char		text[768];	/* why there is none, or what else is to be said */
};

/** What is to be aligned. */
struct virt_align_files {
	const char	*host, *guest;
	int32_t		chosen_pid;	/* of a vCPU: the guest is its machine if several fit; 0:
					 * none is chosen */
	bool		(*stop)(void *arg);	/* asked now and then: give up? may be NULL */
	void		*arg;
};

/** virt_align_files - as kshark-virt align does it; virt_align_result_free() in any case. */
void virt_align_files(const struct virt_align_files *files, struct virt_align_result *result);

/** A name, or what went wrong. */
struct virt_align_host {
	char		text[512];
};

/**
 * virt_align_stored_host - which file does the guest's sidecar align it with?
 *
 * Return: false if it does not; with a text if something is wrong with it.
 */
bool virt_align_stored_host(const char *guest, struct virt_align_host *host);

/**
 * virt_align_stored - what is in the guest's sidecar
 * @host: path of the file that the sidecar names
 */
void virt_align_stored(const char *host, const char *guest, struct virt_align_result *result);

/**
 * virt_align_store - keep an alignment in the guest's sidecar
 * @parts: of an aligned stream (ks_clock.h)
 *
 * What has been added by hand since is not kept.
 *
 * Return: 0, or a negative errno and a text in @error.
 */
int virt_align_store(const char *host, const char *guest, const int64_t *parts, char *error,
		     size_t size);

/** virt_align_source - the name of an aligned stream's source. */
const char *virt_align_source(const int64_t *parts);

/** virt_align_result_free - free all that was not taken out. */
void virt_align_result_free(struct virt_align_result *result);

/** What a host knows of a CPU of a guest, and the times of its rows. */
struct virt_align_cpu {
	int32_t		vcpu;		/* global index in the host's model, or VIRT_NONE */
	int64_t		*times;
	size_t		n;
};

/**
 * virt_align_judge - do the rows of a guest lie where its vCPUs executed it?
 * @offset: from the times to those of the model
 *
 * All vCPUs are those of the machine of the first one that is known.
 *
 * Return: 0, -ENOMEM, or -ENOENT if no vCPU is known.
 */
int virt_align_judge(const struct virt_model *model, const struct virt_align_cpu *cpus,
		     int32_t n_cpus, int64_t offset, struct virt_clock_alignment *alignment);

#ifdef __cplusplus
}
#endif
#endif
