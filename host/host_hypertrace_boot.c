// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_hypertrace_boot.c
 * @brief	Find levels and initcalls of a boot in the trace of the guest itself.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "host_hypertrace.h"

/** An event, or records that are missing before a time. */
struct boot_event {
	int64_t		time_ns, since_ns; /* HYPER_LOST: since when */
	int32_t		cpu;		/* of the machine in the model */
	int32_t		pid;		/* that has it: initcalls go on where it goes */
	struct hyper_event event;
};

struct boot_walk {
	const struct host_boot_source *source;
	const int32_t	*cpus;		/* by the guest's: of the machine, or VIRT_NONE */
	int		n_cpus;
	int64_t		end_ns;		/* after the last record */
	int64_t		*last_ns;	/* by the guest's CPU; INT64_MIN: no record yet */
	bool		*lost;		/* before the next record */
	struct boot_event *events;
	size_t		n, room, n_boot;
};

static int add(struct boot_walk *walk, const struct boot_event *event)
{
	if (ARRAY_GROW(walk->events, walk->n, walk->room))
		return -ENOMEM;
	walk->events[walk->n++] = *event;
	return 0;
}

static int take(void *arg, const struct kvm_trace_record *record)
{
	struct boot_walk *walk = arg;
	struct boot_event event = { .time_ns = record->time_ns };
	int ret = 0;

	if (walk->source->stop && walk->source->stop(walk->source->arg))
		return -ECANCELED;
	if (record->cpu >= walk->n_cpus || walk->cpus[record->cpu] == VIRT_NONE)
		return 0;
	if (walk->source->time)
		event.time_ns = walk->source->time(walk->source->arg, record->time_ns);
	if (event.time_ns >= walk->end_ns)
		walk->end_ns = event.time_ns + 1;
	event.cpu = walk->cpus[record->cpu];
	event.pid = record->pid;
	if (walk->lost[record->cpu] && walk->last_ns[record->cpu] != INT64_MIN) {
		event.since_ns = walk->last_ns[record->cpu];
		event.event.kind = HYPER_LOST;
		ret = add(walk, &event);
	}
	walk->lost[record->cpu] = false;
	walk->last_ns[record->cpu] = event.time_ns;
	if (ret || !record->boot)
		return ret;
	event.event = *record->boot;
	walk->n_boot++;
	return add(walk, &event);
}

static void lose(void *arg, int cpu, uint64_t records)
{
	struct boot_walk *walk = arg;

	(void)records;
	if (cpu >= 0 && cpu < walk->n_cpus)
		walk->lost[cpu] = true;
}

/** Of one moment, what was recorded first, which is the order of a CPU's records. */
static int compare_events(const void *a, const void *b)
{
	const struct boot_event *x = *(const struct boot_event *const *)a;
	const struct boot_event *y = *(const struct boot_event *const *)b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

/** The events go by in order of time; what is lost is doubtful from where it may begin. */
static int feed(struct boot_walk *walk, struct hyper_guest *guest, int64_t end_ns)
{
	struct boot_event **order = malloc((walk->n + 1) * sizeof(*order));
	int ret = order ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < walk->n; i++)
		order[i] = &walk->events[i];
	if (!ret && walk->n)
		qsort(order, walk->n, sizeof(*order), compare_events);
	for (size_t i = 0; !ret && i < walk->n; i++) {
		const struct boot_event *event = order[i];

		if (event->event.kind == HYPER_LOST) {
			ret = hyper_guest_lost(guest, event->cpu, event->since_ns, true);
			if (!ret)
				ret = hyper_guest_lost(guest, event->cpu, event->time_ns, false);
		} else {
			ret = hyper_guest_seen(guest, event->cpu, event->time_ns, event->pid);
			if (!ret)
				ret = hyper_guest_take(guest, event->cpu, event->time_ns,
						       &event->event);
		}
	}
	free(order);
	return ret ? ret : hyper_guest_finish(guest, end_ns);
}

static int32_t cpu_of(const struct virt_machine *machine, int32_t vcpu)
{
	for (int32_t i = 0; i < machine->n_vcpus; i++)
		if (machine->vcpus[i] == vcpu)
			return i;
	return VIRT_NONE;
}

/** Which vCPUs the guest's CPUs are; the machine is that of the first that is known. */
static void find_cpus(const struct virt_model *model, const int *tids, int n, int32_t *cpus,
		      struct host_boot *boot)
{
	for (int i = 0; i < n; i++) {
		int32_t vcpu = tids[i] > 0 ? virt_model_find_vcpu(model, tids[i]) : VIRT_NONE;

		cpus[i] = VIRT_NONE;
		if (vcpu == VIRT_NONE)
			continue;
		if (boot->machine == VIRT_NONE)
			boot->machine = virt_model_vcpu(model, vcpu)->machine;
		cpus[i] = cpu_of(virt_model_machine(model, boot->machine), vcpu);
	}
}

static int make_guest(const struct virt_model *model, struct boot_walk *walk,
		      struct host_boot *boot)
{
	const struct virt_machine *machine = virt_model_machine(model, boot->machine);
	int32_t *numbers = calloc((size_t)machine->n_vcpus + 1, sizeof(*numbers));

	for (int32_t i = 0; numbers && i < machine->n_vcpus; i++)
		numbers[i] = virt_model_vcpu(model, machine->vcpus[i])->id;
	boot->guest = numbers ? hyper_guest_new(machine->n_vcpus, numbers) : NULL;
	free(numbers);
	return boot->guest ? feed(walk, boot->guest, virt_model_end(model)) : -ENOMEM;
}

/** Collect the events of @n CPUs. Return: 0, -ENOMEM or -ECANCELED. */
static int collect(struct boot_walk *walk, const struct host_boot_source *source,
		   const int32_t *cpus, int n)
{
	*walk = (struct boot_walk){
		.source = source, .cpus = cpus, .n_cpus = n, .end_ns = INT64_MIN,
		.last_ns = malloc(((size_t)n + 1) * sizeof(*walk->last_ns)),
		.lost = calloc((size_t)n + 1, sizeof(*walk->lost)),
	};
	if (!walk->last_ns || !walk->lost)
		return -ENOMEM;
	for (int i = 0; i < n; i++)
		walk->last_ns[i] = INT64_MIN;
	return kvm_trace_walk(source->trace, take, lose, walk);
}

static void end_walk(struct boot_walk *walk)
{
	free(walk->events);
	free(walk->last_ns);
	free(walk->lost);
}

/** Times of a guest of Xen are cycles of the host's TSC. */
static int64_t tsc_time(void *arg, int64_t time)
{
	return host_trace_tsc_ns(arg, (uint64_t)time);
}

int host_hypertrace_boot(const struct host_trace *host, const struct virt_model *model,
			 struct kvm_trace *trace, struct host_boot *boot)
{
	const struct host_boot_source source = {
		.trace = trace, .time = host->xen ? tsc_time : NULL, .arg = (void *)host,
	};
	struct boot_walk walk = { 0 };
	int n = 0, ret = 0;
	const int *tids = host->kvm ? kvm_trace_guest_tids(host->kvm, trace, &n) :
			  kvm_trace_aligned_tids(trace, host->path, &n);
	int32_t *cpus = calloc((size_t)n + 1, sizeof(*cpus));

	*boot = (struct host_boot){ .machine = VIRT_NONE };
	if (!cpus)
		return -ENOMEM;
	if (tids)
		find_cpus(model, tids, n, cpus, boot);
	if (boot->machine != VIRT_NONE)
		ret = collect(&walk, &source, cpus, n);
	if (!ret && walk.n_boot)
		ret = make_guest(model, &walk, boot);
	if (ret) {
		hyper_guest_free(boot->guest);
		boot->guest = NULL;
	}
	end_walk(&walk);
	free(cpus);
	return ret;
}

int host_hypertrace_boot_alone(const struct host_boot_source *source, struct hyper_guest **guest)
{
	int n = kvm_trace_n_cpus(source->trace), ret;
	int32_t *cpus = calloc((size_t)n + 1, sizeof(*cpus));
	struct boot_walk walk = { 0 };

	*guest = NULL;
	for (int i = 0; cpus && i < n; i++)
		cpus[i] = i;
	ret = cpus ? collect(&walk, source, cpus, n) : -ENOMEM;
	if (!ret && walk.n_boot) {
		*guest = hyper_guest_new(n, cpus);
		ret = *guest ? feed(&walk, *guest, walk.end_ns) : -ENOMEM;
	}
	if (ret) {
		hyper_guest_free(*guest);
		*guest = NULL;
	}
	end_walk(&walk);
	free(cpus);
	return ret;
}
