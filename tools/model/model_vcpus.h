/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	model_vcpus.h
 * @brief	The vCPUs of a model that an option --vcpu names.
 */
#ifndef KSHARK_VIRT_MODEL_VCPUS_H
#define KSHARK_VIRT_MODEL_VCPUS_H

#include "options.h"
#include "virt_model.h"

/** model_wants_vcpu - is a vCPU, by its global index, among those of a set? All are in none. */
bool model_wants_vcpu(const struct virt_model *model, int32_t vcpu,
		      const struct ksv_vcpu_set *set);

/** The vCPUs of a set in a window. */
struct model_extent {
	uint64_t	vcpus;
	uint64_t	states;		/* intervals of these, each in one state */
	uint64_t	most_rows;	/* of an output with a row of each vCPU again and again */
};

/**
 * model_extent - how much a trace has of the vCPUs of a set in a window
 *
 * A small file can name a very long time, and many vCPUs. An output with their product follows what
 * the trace shows.
 */
struct model_extent model_extent(const struct virt_model *model, const struct ksv_vcpu_set *set,
				 int64_t from_ns, int64_t to_ns);

/** model_list_vcpus - the names of all vCPUs, machine by machine, for a message */
void model_list_vcpus(const struct virt_model *model, struct ksv_vcpu_list *list);

/** model_no_machine - the trace has no machine of the option's @word. Return: after a message. */
int model_no_machine(const struct virt_model *model, const struct ksv_command *command,
		     const char *path, const char *option, const char *word);

/**
 * model_check_vcpus - does each item of a set name a vCPU of one of some models?
 * @path: of the trace, for messages
 *
 * Return: KSV_EXIT_OK, or the exit status after a message that lists the vCPUs of the first model.
 */
int model_check_vcpus(const struct virt_model *const *models, size_t n, const char *path,
		      const struct ksv_command *command, const struct ksv_vcpu_set *set);

#endif
