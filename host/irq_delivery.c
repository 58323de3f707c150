// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	irq_delivery.c
 * @brief	Collect the input of virt_deliveries() from the traces of a host and its guests.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "irq_delivery.h"
#include "search.h"

/** Records of a guest between two calls of progress. */
#define ASK_RECORDS	4096

/* --- CPUs of a guest ------------------------------------------------------------------------- */

int irq_guest_cpu_take(struct irq_guest_cpu *cpu, const struct kvm_trace_record *record,
		       const struct virt_interval *interval)
{
	struct virt_guest_event event = {
		.time_ns = record->time_ns, .event = record->event, .vector = record->vector,
		.flags = (uint16_t)(record->flags | (cpu->lost ? VIRT_GUEST_LOST : 0)),
	};

	cpu->lost = false;
	if (cpu->vcpu == VIRT_NONE)
		return 0;
	if (ARRAY_GROW(cpu->events, cpu->n_events, cpu->room))
		return -ENOMEM;
	/* trace-cmd corrects the clock by steps, which may lead back */
	if (cpu->n_events && event.time_ns < cpu->events[cpu->n_events - 1].time_ns)
		event.time_ns = cpu->events[cpu->n_events - 1].time_ns;
	cpu->events[cpu->n_events++] = event;
	if (record->device != VIRT_NONE) {
		if (ARRAY_GROW(cpu->uses, cpu->n_uses, cpu->uses_room))
			return -ENOMEM;
		cpu->uses[cpu->n_uses++] = (struct irq_device_use){ event.time_ns, record->device };
	}
	if (interval && !virt_interval_is_lost(interval)) {
		cpu->fit += interval->state == VIRT_GUEST;
		cpu->misfit += interval->state != VIRT_GUEST;
	}
	return 0;
}

void irq_guest_cpu_free(struct irq_guest_cpu *cpu)
{
	free(cpu->events);
	free(cpu->uses);
}

bool irq_guest_cpu_is_aligned(const struct irq_guest_cpu *cpu)
{
	double all = (double)(cpu->fit + cpu->misfit);

	return cpu->fit && (double)cpu->fit >= IRQ_ALIGNED_SHARE * all;
}

/* --- both together --------------------------------------------------------------------------- */

struct virt_delivery *irq_deliveries(const struct virt_model *model,
				     const struct irq_injections *injections,
				     const struct irq_guest_cpu *cpu, size_t *n)
{
	struct virt_injection *of = irq_injections_of(injections, cpu->tid, n);
	struct virt_delivery *deliveries = calloc(*n + 1, sizeof(*deliveries));

	if (!of || !deliveries) {
		free(deliveries);
		deliveries = NULL;
	} else if (*n) {
		*n = virt_deliveries(model, cpu->vcpu, of, *n, cpu->events, cpu->n_events,
				     deliveries);
	}
	free(of);
	return deliveries;
}

int irq_deliveries_devices(const struct virt_delivery *deliveries, size_t n,
			   const struct irq_guest_cpu *cpu, const struct kvm_trace *guest,
			   struct virt_devices *devices)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		int64_t time_ns = deliveries[i].handler_ns;
		const char *name;
		size_t use;

		if (deliveries[i].result != VIRT_DELIVERY_SEEN)
			continue;
		SEARCH_FIRST(use, 0, cpu->n_uses, cpu->uses[use].time_ns < time_ns);
		if (use == cpu->n_uses || cpu->uses[use].time_ns != time_ns)
			continue;
		name = kvm_trace_device(guest, cpu->uses[use].device);
		if (name)
			ret = virt_devices_add(devices, cpu->vcpu, deliveries[i].vector, name);
	}
	return ret;
}

int irq_list_add(struct irq_list *irqs, int32_t vcpu, const struct virt_delivery *deliveries,
		 size_t n)
{
	if (ARRAY_GROW(irqs->all, irqs->n + n, irqs->room))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		irqs->all[irqs->n++] = (struct virt_irq_delivery){
			.inject_ns = deliveries[i].inject_ns,
			.handler_ns = deliveries[i].handler_ns,
			.vcpu = vcpu, .vector = deliveries[i].vector,
			.event = deliveries[i].event, .result = deliveries[i].result,
		};
	return 0;
}

void irq_list_free(struct irq_list *irqs)
{
	free(irqs->all);
	memset(irqs, 0, sizeof(*irqs));
}

/** While traces are read. */
struct reading {
	const struct irq_pair *pair;
	struct irq_injections	injections;
	struct irq_guest_cpu	*cpus;
	uint64_t		done;
};

static int take_kvm_record(void *arg, const struct kvm_trace_record *record)
{
	struct reading *reading = arg;

	irq_injections_kvm(&reading->injections, record);
	return reading->injections.error;
}

static int take_xen_rows(void *arg, const struct xen_trace_row *rows, size_t n)
{
	struct reading *reading = arg;

	for (size_t i = 0; i < n; i++)
		irq_injections_xen(&reading->injections, &rows[i]);
	return reading->injections.error;
}

static int ask_host(void *arg, uint64_t done, uint64_t total)
{
	const struct irq_pair *pair = ((struct reading *)arg)->pair;

	return pair->progress ? pair->progress(pair->arg, done, total) : 0;
}

static int take_guest_record(void *arg, const struct kvm_trace_record *record)
{
	struct reading *reading = arg;
	const struct irq_pair *pair = reading->pair;
	struct kvm_trace_record copy = *record;
	struct irq_guest_cpu *cpu;

	if (++reading->done % ASK_RECORDS == 0 && pair->progress) {
		int ret = pair->progress(pair->arg, reading->done, 0);

		if (ret)
			return ret;
	}
	if (record->cpu < 0 || record->cpu >= pair->n_tids)
		return 0;
	cpu = &reading->cpus[record->cpu];
	if (cpu->vcpu == VIRT_NONE)
		return 0;
	if (pair->model_time)
		copy.time_ns = pair->model_time(pair->arg, record->time_ns);
	return irq_guest_cpu_take(cpu, &copy, virt_vcpu_at(pair->model, cpu->vcpu, copy.time_ns,
							   NULL));
}

static void guest_lost(void *arg, int cpu, uint64_t records)
{
	struct reading *reading = arg;

	(void)records;
	if (cpu >= 0 && cpu < reading->pair->n_tids)
		reading->cpus[cpu].lost = true;
}

static int add_cpu(const struct reading *reading, const struct irq_guest_cpu *cpu,
		   struct irq_list *irqs)
{
	size_t n = 0;
	struct virt_delivery *deliveries = irq_deliveries(reading->pair->model,
							  &reading->injections, cpu, &n);
	int ret = deliveries ? irq_list_add(irqs, cpu->vcpu, deliveries, n) : -ENOMEM;

	if (reading->pair->judged)
		reading->pair->judged[cpu->vcpu] = true;
	if (!ret && reading->pair->devices)
		ret = irq_deliveries_devices(deliveries, n, cpu, reading->pair->guest,
					     reading->pair->devices);
	free(deliveries);
	return ret;
}

int irq_pair_read(const struct irq_pair *pair, struct irq_list *irqs)
{
	struct reading reading = {
		.pair = pair, .cpus = calloc((size_t)pair->n_tids + 1, sizeof(*reading.cpus)),
	};
	int ret = reading.cpus ? 0 : -ENOMEM;

	memset(irqs, 0, sizeof(*irqs));
	for (int i = 0; i < pair->n_tids && !ret; i++) {
		reading.cpus[i].tid = pair->tids[i];
		reading.cpus[i].vcpu = pair->tids[i] > 0 ?
			virt_model_find_vcpu(pair->model, pair->tids[i]) : VIRT_NONE;
	}
	if (!ret)
		ret = host_trace_walk(pair->host, &(struct host_walk){
			.rows = take_xen_rows, .record = take_kvm_record,
			.progress = ask_host, .arg = &reading,
		});
	/* without injections, as with APICv, the guest need not be read */
	if (!ret && reading.injections.n)
		ret = kvm_trace_walk(pair->guest, take_guest_record, guest_lost, &reading);
	irq_injections_sort(&reading.injections);
	for (int i = 0; i < pair->n_tids && !ret; i++)
		if (reading.cpus[i].vcpu != VIRT_NONE && irq_guest_cpu_is_aligned(&reading.cpus[i]))
			ret = add_cpu(&reading, &reading.cpus[i], irqs);
	for (int i = 0; reading.cpus && i < pair->n_tids; i++)
		irq_guest_cpu_free(&reading.cpus[i]);
	free(reading.cpus);
	irq_injections_free(&reading.injections);
	return ret;
}
