// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_stops.c
 * @brief	Find machines that their monitor has stopped, and machines that have ended.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "kvm_stops.h"

void kvm_stops_init(struct kvm_stops *stops, const struct virt_model *model)
{
	*stops = (struct kvm_stops){ .model = model };
}

int kvm_stops_more(struct kvm_stops *stops, struct kvm_vcpu *vcpus, int32_t n)
{
	int32_t n_machines = virt_model_n_machines(stops->model);

	if (n_machines && ARRAY_REACH(stops->machines, n_machines - 1, stops->room))
		return -ENOMEM;
	while (stops->n_machines < n_machines)
		stops->machines[stops->n_machines++].asleep = VIRT_NONE;
	stops->vcpus = vcpus;
	for (; stops->n_vcpus < n; stops->n_vcpus++) {
		struct kvm_stops_machine *machine =
			&stops->machines[vcpus[stops->n_vcpus].machine];

		machine->going++;
		machine->living++;
	}
	return 0;
}

void kvm_stops_destroy(struct kvm_stops *stops)
{
	free(stops->machines);
}

void kvm_stops_set(struct kvm_stops *stops, struct kvm_vcpu *vcpu, bool stopped)
{
	if (vcpu->stopped == stopped)
		return;
	vcpu->stopped = stopped;
	stops->machines[vcpu->machine].going += stopped ? -1 : 1;
}

bool kvm_stops_is_whole(const struct kvm_stops *stops, const struct kvm_vcpu *vcpu)
{
	return !stops->machines[vcpu->machine].going;
}

bool kvm_stops_end(struct kvm_stops *stops, struct kvm_vcpu *vcpu)
{
	if (vcpu->is_over)
		return false;
	vcpu->is_over = true;
	return !--stops->machines[vcpu->machine].living;
}

void kvm_stops_revive(struct kvm_stops *stops, struct kvm_vcpu *vcpu)
{
	vcpu->is_over = false;
	stops->machines[vcpu->machine].living++;
}

void kvm_stops_sleep(struct kvm_stops *stops, struct kvm_vcpu *vcpu)
{
	struct kvm_stops_machine *machine = &stops->machines[vcpu->machine];

	if (vcpu->is_listed)
		return;
	vcpu->is_listed = true;
	vcpu->next_asleep = machine->asleep;
	machine->asleep = (int32_t)(vcpu - stops->vcpus);
}

struct kvm_vcpu *kvm_stops_next(struct kvm_stops *stops, const struct kvm_vcpu *vcpu)
{
	struct kvm_stops_machine *machine = &stops->machines[vcpu->machine];
	struct kvm_vcpu *first;

	if (machine->going || machine->asleep == VIRT_NONE)
		return NULL;
	first = &stops->vcpus[machine->asleep];
	first->is_listed = false;
	machine->asleep = first->next_asleep;
	return first;
}
