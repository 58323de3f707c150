// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	align_data.c
 * @brief	Convert traces to the input of virt/clock/clock_align.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "align_data.h"
#include "array.h"

static int32_t where(const struct virt_interval *interval)
{
	return interval->state == VIRT_GUEST ? VIRT_CLOCK_INSIDE :
	       virt_interval_is_lost(interval) ? VIRT_CLOCK_UNKNOWN : VIRT_CLOCK_OUTSIDE;
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

static int read_injections(const struct irq_injections *injections, int32_t tid,
			   struct virt_clock_vcpu *vcpu)
{
	if (injections)
		vcpu->injections = irq_injections_of(injections, tid, &vcpu->n_injections);
	return injections && !vcpu->injections ? -ENOMEM : 0;
}

struct align_machine *align_machine_new(const struct virt_model *model, int32_t number,
					const struct irq_injections *injections)
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
	machine->n = source->n_vcpus;
	for (int32_t i = 0; i < machine->n; i++) {
		int32_t index = source->vcpus[i];

		if (read_vcpu(model, index, &machine->vcpus[i]) ||
		    read_injections(injections, virt_model_vcpu(model, index)->host_pid,
				    &machine->vcpus[i]))
			goto err;
	}
	return machine;
err:
	align_machine_free(machine);
	return NULL;
}

void align_machine_free(struct align_machine *machine)
{
	if (!machine)
		return;
	for (int32_t i = 0; machine->vcpus && i < machine->n; i++) {
		free((struct virt_clock_change *)machine->vcpus[i].changes);
		free((struct virt_injection *)machine->vcpus[i].injections);
	}
	free(machine->vcpus);
	free(machine);
}

/* --- events ---------------------------------------------------------------------------------- */

/** Records between two questions whether to stop. */
#define STOP_RECORDS	4096

/** Of a CPU, while they are read. */
struct reading_cpu {
	int64_t		*times;
	struct virt_clock_handler *handlers;
	size_t		room, room_handlers;
	bool		in_irq;		/* perhaps: at the last event */
};

struct reading {
	const struct kvm_trace *guest;
	struct align_events *events;
	struct reading_cpu *cpus;
	const struct align_stop *stop;
	uint64_t	done;
};

/** The interrupt of which an event is the first one; its handler may not show it. */
static int32_t vector_of(const struct kvm_trace *guest, const struct kvm_trace_record *record)
{
	const char *name;

	if (record->vector != VIRT_NONE)
		return record->vector;
	name = kvm_trace_event(guest, record->event);
	return name && !strcmp(name, "irq_handler_entry") ? VIRT_CLOCK_DEVICE : VIRT_CLOCK_ANY;
}

static int take_handler(struct reading *reading, const struct kvm_trace_record *record)
{
	struct reading_cpu *of = &reading->cpus[record->cpu];
	struct virt_clock_cpu *cpu = &reading->events->cpus[record->cpu];
	bool in_irq = record->flags & VIRT_GUEST_IN_IRQ;
	bool begins = record->vector != VIRT_NONE || (in_irq && !of->in_irq);

	of->in_irq = in_irq;
	if (!begins)
		return 0;
	if (ARRAY_GROW(of->handlers, cpu->n_handlers, of->room_handlers))
		return -ENOMEM;
	cpu->handlers = of->handlers;
	of->handlers[cpu->n_handlers++] = (struct virt_clock_handler){
		record->time_ns, vector_of(reading->guest, record),
	};
	return 0;
}

static int take(void *arg, const struct kvm_trace_record *record)
{
	struct reading *reading = arg;
	struct reading_cpu *of;
	struct virt_clock_cpu *cpu;

	if (++reading->done % STOP_RECORDS == 0 && reading->stop->asked &&
	    reading->stop->asked(reading->stop->arg))
		return -ECANCELED;
	reading->events->bytes += record->bytes;
	cpu = &reading->events->cpus[record->cpu];
	of = &reading->cpus[record->cpu];
	if (ARRAY_GROW(of->times, cpu->n, of->room))
		return -ENOMEM;
	cpu->times = of->times;
	of->times[cpu->n++] = record->time_ns;
	return take_handler(reading, record);
}

/** The first event after missing ones may be anywhere in a handler. */
static void lost(void *arg, int cpu, uint64_t records)
{
	const struct reading *reading = arg;

	(void)records;
	reading->cpus[cpu].in_irq = true;
}

static int compare_times(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int compare_handlers(const void *a, const void *b)
{
	const struct virt_clock_handler *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

/**
 * Offsets that change on the way may turn the order round, and a clock that is set back.
 * Return: 0 or -ENOMEM.
 */
static int sort(const struct virt_clock_cpu *cpu, const struct reading_cpu *of, int64_t **in_file)
{
	for (size_t i = 1; i < cpu->n; i++) {
		if (cpu->times[i] >= cpu->times[i - 1])
			continue;
		*in_file = malloc(cpu->n * sizeof(**in_file));
		if (!*in_file)
			return -ENOMEM;
		memcpy(*in_file, of->times, cpu->n * sizeof(**in_file));
		qsort(of->times, cpu->n, sizeof(*of->times), compare_times);
		if (cpu->n_handlers)
			qsort(of->handlers, cpu->n_handlers, sizeof(*of->handlers),
			      compare_handlers);
		break;
	}
	return 0;
}

int align_events_read(struct kvm_trace *guest, const struct align_stop *stop,
		      struct align_events *events)
{
	size_t n = (size_t)kvm_trace_n_cpus(guest);
	struct reading reading = {
		.guest = guest, .events = events, .stop = stop,
		.cpus = calloc(n + 1, sizeof(*reading.cpus)),
	};
	int ret = -ENOMEM;

	*events = (struct align_events){
		.cpus = calloc(n + 1, sizeof(*events->cpus)),
		.in_file = calloc(n + 1, sizeof(*events->in_file)),
	};
	events->n = events->cpus && events->in_file && reading.cpus ? (int32_t)n : 0;
	for (int32_t i = 0; i < events->n; i++)
		reading.cpus[i].in_irq = true;
	if (events->cpus && events->in_file && reading.cpus)
		ret = kvm_trace_walk(guest, take, lost, &reading);
	for (int32_t i = 0; i < events->n; i++) {
		events->cpus[i].vcpu = VIRT_NONE;
		if (!ret)
			ret = sort(&events->cpus[i], &reading.cpus[i], &events->in_file[i]);
	}
	free(reading.cpus);
	return ret;
}

void align_events_free(struct align_events *events)
{
	for (int32_t i = 0; i < events->n; i++) {
		free((int64_t *)events->cpus[i].times);
		free((struct virt_clock_handler *)events->cpus[i].handlers);
		free(events->in_file[i]);
	}
	free(events->cpus);
	free(events->in_file);
	memset(events, 0, sizeof(*events));
}
