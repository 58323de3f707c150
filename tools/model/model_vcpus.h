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
