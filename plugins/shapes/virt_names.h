/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_names.h
 * @brief	Name machines and vCPUs where several traces are seen together.
 *
 * A name is the name in the model, with additions. A machine inside another one has its path as its
 * name, "g1/g2". Machines of two hosts that have the same name also have the name of their file,
 * "g1 (a.dat)".
 */
#ifndef KSHARK_VIRT_VIRT_NAMES_H
#define KSHARK_VIRT_VIRT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Room for names of ordinary length. */
#define VIRT_NAME_SIZE	128

/** An open trace. */
struct virt_name_stream {
	int			id;
	const struct virt_model	*model;		/* NULL: it shows no machines */
	const char		*file;
	int			host;		/* where it is a machine, or VIRT_NONE */
	int32_t			host_machine;	/* index there */
};

/** Parts before and after each name of a model, to distinguish it; empty where not needed. */
struct virt_name_parts {
	char	before[VIRT_NAME_SIZE], after[VIRT_NAME_SIZE];
};

/**
 * virt_name_find_parts - what is added to names of a trace
 * @streams: all that are open
 * @machine: index
 */
void virt_name_find_parts(const struct virt_name_stream *streams, size_t n, int stream,
			  int32_t machine, struct virt_name_parts *parts);

/**
 * virt_name_machine, virt_name_vcpu - the name of a machine, and of a vCPU by its global index
 *
 * Tasks and what else can have a pCPU are called as in the model. Return: @buf.
 */
const char *virt_name_machine(char *buf, size_t size, const struct virt_name_stream *streams,
			      size_t n, int stream, int32_t machine);
const char *virt_name_vcpu(char *buf, size_t size, const struct virt_name_stream *streams,
			   size_t n, int stream, int32_t vcpu);

#ifdef __cplusplus
}
#endif
#endif
