// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_handlings.c
 * @brief	Find where and how long handlers of interrupts work.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hash_bytes.h"
#include "host_handlings.h"

/** Handlers interrupt each other: an NMI an interrupt, that a softirq. */
#define MOST_OPEN	8

struct reading {
	struct host_handlings	*handlings;
	struct kvm_trace	*trace;
	int			cpu;		/* of the last record; -1: none */
	struct open {
		size_t	handling;
		uint8_t	kind;
	} open[MOST_OPEN];
	int			n_open;
};

/** Return: its index, or -ENOMEM. */
static int32_t handler_of(struct host_handlings *handlings, const struct kvm_handler_event *event)
{
	uint64_t key = hash_text(event->name) + event->kind;
	struct host_handler *handler;
	int64_t i;

	/* another one may have that key */
	while ((i = key_map_find(&handlings->map, key)) >= 0) {
		handler = &handlings->handlers[i];
		if (handler->kind == event->kind && !strcmp(handler->name, event->name))
			return (int32_t)i;
		key++;
	}
	if (ARRAY_GROW(handlings->handlers, handlings->n_handlers, handlings->room_handlers) ||
	    key_map_add(&handlings->map, key) < 0)
		return -ENOMEM;
	handler = &handlings->handlers[handlings->n_handlers];
	handler->kind = event->kind;
	handler->name = strdup(event->name);
	return handler->name ? (int32_t)handlings->n_handlers++ : -ENOMEM;
}

static int add(struct host_handlings *handlings, const struct kvm_handler_event *event,
	       int64_t begin_ns, int64_t end_ns, int16_t cpu)
{
	int32_t handler = handler_of(handlings, event);

	if (handler < 0 || ARRAY_GROW(handlings->all, handlings->n, handlings->room))
		return -ENOMEM;
	handlings->all[handlings->n++] = (struct host_handling){
		.begin_ns = begin_ns, .end_ns = end_ns, .handler = handler, .cpu = cpu,
	};
	return 0;
}

/** What is open in it has no end, if its own beginning is not the last one. */
static void end(struct reading *reading, uint8_t kind, int64_t time_ns)
{
	int i = reading->n_open;

	while (i > 0 && reading->open[i - 1].kind != kind)
		i--;
	if (i)
		reading->handlings->all[reading->open[i - 1].handling].end_ns = time_ns;
	if (i)
		reading->n_open = i - 1;
}

static int take(void *arg, const struct kvm_trace_record *record)
{
	struct reading *reading = arg;
	const struct kvm_handler_event *event = record->handler;
	int ret;

	if (record->cpu != reading->cpu || record->next_pid != VIRT_NONE)
		reading->n_open = 0;
	reading->cpu = record->cpu;
	/* a timer runs in another handler */
	if (!event || event->is_timer || event->kind >= VIRT_HANDLER_N_KINDS)
		return 0;
	if (event->edge == KVM_HANDLER_EXIT) {
		end(reading, event->kind, record->time_ns);
		return 0;
	}
	reading->handlings->known[event->kind] = true;
	if (event->edge == KVM_HANDLER_WHOLE)
		return add(reading->handlings, event, record->time_ns - event->ns, record->time_ns,
			   record->cpu);
	ret = add(reading->handlings, event, record->time_ns, HOST_HANDLING_NO_TIME, record->cpu);
	if (ret)
		return ret;
	/* no kernel has that many: their ends are missing */
	if (reading->n_open == MOST_OPEN)
		reading->n_open = 0;
	reading->open[reading->n_open++] = (struct open){
		.handling = reading->handlings->n - 1, .kind = event->kind,
	};
	return 0;
}

static void lose(void *arg, int cpu, uint64_t records)
{
	struct reading *reading = arg;

	(void)cpu;
	(void)records;
	reading->n_open = 0;
}

static int compare(const void *a, const void *b)
{
	const struct host_handling *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu - y->cpu;
	return x->handler - y->handler;
}

/** Also where none has come. */
static void find_known(struct reading *reading)
{
	static const struct { enum virt_handler_kind kind; const char *system, *name; } events[] = {
		{ VIRT_HANDLER_IRQ, "irq", "irq_handler_entry" },
		{ VIRT_HANDLER_SOFTIRQ, "irq", "softirq_entry" },
		{ VIRT_HANDLER_VECTOR, "irq_vectors", "local_timer_entry" },
		{ VIRT_HANDLER_NMI, "nmi", "nmi_handler" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		reading->handlings->known[events[i].kind] |=
			kvm_trace_has_enabled(reading->trace, events[i].system, events[i].name);
}

int host_handlings_read(struct host_handlings *handlings, struct kvm_trace *trace)
{
	struct reading reading = { .handlings = handlings, .trace = trace, .cpu = -1 };
	int ret;

	*handlings = (struct host_handlings){ .n = 0 };
	ret = kvm_trace_walk(trace, take, lose, &reading);
	if (ret)
		return ret;
	find_known(&reading);
	if (handlings->n)
		qsort(handlings->all, handlings->n, sizeof(*handlings->all), compare);
	return 0;
}

void host_handlings_free(struct host_handlings *handlings)
{
	for (size_t i = 0; i < handlings->n_handlers; i++)
		free(handlings->handlers[i].name);
	free(handlings->handlers);
	free(handlings->all);
	key_map_destroy(&handlings->map);
	*handlings = (struct host_handlings){ .n = 0 };
}
