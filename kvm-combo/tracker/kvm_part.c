// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_part.c
 * @brief	Keep facts about the trace that another trace was cut out of.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kvm_part.h"
#include "kvm_private.h"

void kvm_part_free(struct kvm_part *part)
{
	if (!part)
		return;
	for (int32_t i = 0; part->model && part->vcpus && i < part->model->n_vcpus; i++) {
		free(part->vcpus[i].machine_name);
		free(part->vcpus[i].name);
	}
	free(part->vcpus);
	virt_part_free(part->model);
	free(part);
}

static bool add_vcpus(struct kvm_part *part, const struct virt_model *whole)
{
	int32_t n = virt_model_n_vcpus(whole);

	part->vcpus = calloc((size_t)n + 1, sizeof(*part->vcpus));
	for (int32_t i = 0; part->vcpus && i < n; i++) {
		const struct virt_vcpu *from = virt_model_vcpu(whole, i);
		const struct virt_machine *machine = virt_model_machine(whole, from->machine);
		struct kvm_part_vcpu *to = &part->vcpus[i];

		*to = (struct kvm_part_vcpu){
			.machine = machine->id, .machine_name = strdup(machine->name),
			.id = from->id, .tid = from->host_pid, .name = strdup(from->name),
			.has_tsc = from->tsc_scale > 0, .tsc_offset = from->tsc_offset,
		};
		if (!to->machine_name || !to->name)
			return false;
	}
	return part->vcpus;
}

struct kvm_part *kvm_part_of(const struct virt_model *whole, int64_t from_ns, int64_t to_ns)
{
	struct kvm_part *part = calloc(1, sizeof(*part));

	if (part)
		part->model = virt_part_of(whole, from_ns, to_ns);
	if (part && part->model && add_vcpus(part, whole))
		return part;
	kvm_part_free(part);
	return NULL;
}

bool kvm_part_fits(const struct kvm_part *part, int64_t begin_ns, int64_t end_ns)
{
	return part->first_ns == begin_ns && part->last_ns == end_ns - 1;
}

void kvm_tracker_set_part(struct kvm_tracker *tracker, const struct kvm_part *part)
{
	tracker->part = part;
}

int kvm_part_begin(struct kvm_tracker *tracker, const struct kvm_part *part,
		   struct virt_model *model)
{
	int ret = virt_part_begin(part->model, model);

	/* they have their names and machines */
	for (int32_t i = 0; i < part->model->n_tasks && !ret; i++) {
		int32_t pid = part->model->tasks[i].pid;
		struct kvm_thread *thread = kvm_thread_add(tracker, pid);

		if (!thread)
			return -ENOMEM;
		thread->task = virt_model_find_task(model, pid);
		thread->is_owned = true;
	}
	return ret;
}
