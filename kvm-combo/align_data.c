// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	align_data.c
 * @brief	From traces to what virt/clock_align.h works on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "align_data.h"

static int32_t where(const struct virt_interval *interval)
{
	return interval->state == VIRT_GUEST ? VIRT_CLOCK_INSIDE :
	       interval->state == VIRT_UNKNOWN ? VIRT_CLOCK_UNKNOWN : VIRT_CLOCK_OUTSIDE;
}

static int read_vcpu(const struct virt_model *model, int32_t index, struct virt_clock_vcpu *vcpu)
{
	int64_t end_ns = virt_model_end(model);
	struct virt_interval_range range = virt_vcpu_intervals(model, index,
							       virt_model_begin(model), end_ns);
	struct virt_clock_change *changes = malloc((range.n + 1) * sizeof(*changes));
	size_t n = 0;

	if (!changes)
		return -ENOMEM;
	for (size_t i = 0; i < range.n; i++) {
		const struct virt_interval *interval = &range.first[i];
		int64_t stop = i + 1 < range.n ? interval[1].start_ns : range.end_ns;

		/* what lasts no time says nothing; what goes on is one */
		if (stop <= interval->start_ns || (n && changes[n - 1].where == where(interval)))
			continue;
		changes[n++] = (struct virt_clock_change){ interval->start_ns, where(interval) };
	}
	changes[n++] = (struct virt_clock_change){ end_ns, VIRT_CLOCK_UNKNOWN };
	vcpu->changes = changes;
	vcpu->n = n;
	return 0;
}

struct align_machine *align_machine_new(const struct virt_model *model, int32_t number)
{
	const struct virt_machine *source = virt_model_machine(model, number);
	struct align_machine *machine = calloc(1, sizeof(*machine));

	if (!source || !machine)
		goto err;
	machine->name = source->name;
	machine->indices = source->vcpus;
	machine->vcpus = calloc((size_t)source->n_vcpus + 1, sizeof(*machine->vcpus));
	if (!machine->vcpus)
		goto err;
	for (; machine->n < source->n_vcpus; machine->n++)
		if (read_vcpu(model, source->vcpus[machine->n], &machine->vcpus[machine->n]))
			goto err;
	return machine;
err:
	align_machine_free(machine);
	return NULL;
}

void align_machine_free(struct align_machine *machine)
{
	if (!machine)
		return;
	for (int32_t i = 0; machine->vcpus && i < machine->n; i++)
		free((struct virt_clock_change *)machine->vcpus[i].changes);
	free(machine->vcpus);
	free(machine);
}

/* --- events ---------------------------------------------------------------------------------- */

/** While they are read. */
struct reading {
	struct align_events *events;
	int64_t		**times;
	size_t		*rooms;
};

static int take(void *arg, const struct kvm_trace_record *record)
{
	struct reading *reading = arg;
	struct virt_clock_cpu *cpu;
	int64_t *grown;

	if (record->cpu < 0 || record->cpu >= reading->events->n)
		return 0;
	cpu = &reading->events->cpus[record->cpu];
	if (cpu->n == reading->rooms[record->cpu]) {
		size_t room = cpu->n ? 2 * cpu->n : 4096;

		grown = realloc(reading->times[record->cpu], room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		reading->times[record->cpu] = grown;
		reading->rooms[record->cpu] = room;
		cpu->times = grown;
	}
	reading->times[record->cpu][cpu->n++] = record->time_ns;
	return 0;
}

static int compare_times(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int align_events_read(struct kvm_trace *guest, struct align_events *events)
{
	size_t n = (size_t)kvm_trace_n_cpus(guest);
	struct reading reading = {
		.events = events,
		.times = calloc(n + 1, sizeof(*reading.times)),
		.rooms = calloc(n + 1, sizeof(*reading.rooms)),
	};
	int ret = -ENOMEM;

	events->cpus = calloc(n + 1, sizeof(*events->cpus));
	events->n = events->cpus ? (int32_t)n : 0;
	if (events->cpus && reading.times && reading.rooms)
		ret = kvm_trace_walk(guest, take, NULL, &reading);
	for (int32_t i = 0; i < events->n; i++) {
		struct virt_clock_cpu *cpu = &events->cpus[i];

		cpu->vcpu = VIRT_NONE;
		/* offsets that change on the way may turn the order round */
		for (size_t k = 1; !ret && k < cpu->n; k++) {
			if (cpu->times[k] >= cpu->times[k - 1])
				continue;
			qsort(reading.times[i], cpu->n, sizeof(*cpu->times), compare_times);
			break;
		}
	}
	free(reading.times);
	free(reading.rooms);
	return ret;
}

void align_events_free(struct align_events *events)
{
	for (int32_t i = 0; i < events->n; i++)
		free((int64_t *)events->cpus[i].times);
	free(events->cpus);
	memset(events, 0, sizeof(*events));
}
