// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_handler_fields.c
 * @brief	Events of handlers that interrupt whatever has the CPU, and their fields.
 */
#include <stdio.h>
#include <string.h>

#include <event-parse.h>

#include "array.h"
#include "kvm_formats.h"
#include "kvm_handler_fields.h"
#include "virt_handlers.h"

/**
 * Linux's include/trace/events/irq.h, nmi.h and timer.h. A softirq's number has a name; all *_entry
 * and *_exit of irq_vectors are found by their name.
 */
static const struct handler_row {
	const char	*system, *name;
	uint8_t		kind;		/* enum virt_handler_kind */
	uint8_t		edge;		/* enum kvm_handler_edge */
	const char	*number, *text;	/* fields that name it; NMI: how long it took */
	const char	*timer;		/* what it is called, of a timer's function */
} handler_rows[] = {
	{ "irq", "irq_handler_entry", VIRT_HANDLER_IRQ, KVM_HANDLER_ENTRY, "irq", "name", NULL },
	{ "irq", "irq_handler_exit", VIRT_HANDLER_IRQ, KVM_HANDLER_EXIT, NULL, NULL, NULL },
	{ "irq", "softirq_entry", VIRT_HANDLER_SOFTIRQ, KVM_HANDLER_ENTRY, "vec", NULL, NULL },
	{ "irq", "softirq_exit", VIRT_HANDLER_SOFTIRQ, KVM_HANDLER_EXIT, NULL, NULL, NULL },
	{ "nmi", "nmi_handler", VIRT_HANDLER_NMI, KVM_HANDLER_WHOLE, "delta_ns", NULL, NULL },
	{ "timer", "hrtimer_expire_entry", VIRT_HANDLER_IRQ, KVM_HANDLER_ENTRY, NULL, NULL,
	  "hrtimer" },
	{ "timer", "hrtimer_expire_exit", VIRT_HANDLER_IRQ, KVM_HANDLER_EXIT, NULL, NULL,
	  "hrtimer" },
	{ "timer", "timer_expire_entry", VIRT_HANDLER_SOFTIRQ, KVM_HANDLER_ENTRY, NULL, NULL,
	  "timer" },
	{ "timer", "timer_expire_exit", VIRT_HANDLER_SOFTIRQ, KVM_HANDLER_EXIT, NULL, NULL,
	  "timer" },
};

/** Linux's include/linux/interrupt.h. */
static const char *const softirqs[] = {
	"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER",
	"RCU",
};

/** A list, while it is made. */
struct found_list {
	struct kvm_handler_field *all;
	size_t		n;
	int		max_id;
};

/** Return: NULL if there are too many, or its number is one that no event has. */
static struct kvm_handler_field *add(struct found_list *list, int id)
{
	if (id < 0 || id > list->max_id || list->n == KVM_MAX_HANDLER_EVENTS)
		return NULL;
	for (size_t i = 0; i < list->n; i++)
		if (list->all[i].id == id)
			return NULL;
	list->all[list->n] = (struct kvm_handler_field){ .id = id };
	return &list->all[list->n++];
}

/** Linux's arch/x86/include/asm/trace/irq_vectors.h: local_timer_entry, local_timer_exit ... */
size_t kvm_vector_edge(const char *name, enum kvm_handler_edge *edge)
{
	const char *end = strrchr(name, '_');

	if (!end || (strcmp(end, "_entry") && strcmp(end, "_exit")))
		return 0;
	*edge = strcmp(end, "_exit") ? KVM_HANDLER_ENTRY : KVM_HANDLER_EXIT;
	return (size_t)(end - name);
}

/** The processor's own interrupts. */
static void add_vector(void *arg, int id, const char *name)
{
	enum kvm_handler_edge edge;
	size_t size = kvm_vector_edge(name, &edge);
	struct kvm_handler_field *field = size ? add(arg, id) : NULL;

	if (!field)
		return;
	field->kind = VIRT_HANDLER_VECTOR;
	field->edge = (uint8_t)edge;
	snprintf(field->name, sizeof(field->name), "%.*s", (int)size, name);
}

static void add_row(struct found_list *list, struct tep_handle *tep, const struct handler_row *row)
{
	struct tep_event *event = kvm_formats_find(tep, row->system, row->name);
	struct kvm_handler_field *field = event ? add(list, event->id) : NULL;

	if (!field)
		return;
	field->kind = row->kind;
	field->edge = row->edge;
	field->is_timer = row->timer;
	field->number = row->number ? tep_find_field(event, row->number) : NULL;
	field->text = row->text ? tep_find_field(event, row->text) : NULL;
	if (row->timer)
		snprintf(field->name, sizeof(field->name), "%s", row->timer);
	else if (row->kind == VIRT_HANDLER_NMI)
		snprintf(field->name, sizeof(field->name), "NMI");
}

size_t kvm_handler_fields_find(struct tep_handle *tep, int max_id,
			       struct kvm_handler_field *found)
{
	struct found_list list = { .all = found, .max_id = max_id };

	for (size_t i = 0; i < ARRAY_SIZE(handler_rows); i++)
		add_row(&list, tep, &handler_rows[i]);
	kvm_formats_each(tep, "irq_vectors", add_vector, &list);
	return list.n;
}

static void copy_name(char *name, size_t size, const char *text)
{
	size_t n = strnlen(text, size - 1);

	memcpy(name, text, n);
	name[n] = '\0';
}

void kvm_handler_field_name(const struct kvm_handler_field *field, int64_t number,
			    const char *text, char *name, size_t size)
{
	if (*field->name)
		copy_name(name, size, field->name);
	else if (field->kind == VIRT_HANDLER_SOFTIRQ && number >= 0 &&
		 number < (int64_t)ARRAY_SIZE(softirqs))
		copy_name(name, size, softirqs[number]);
	else
		snprintf(name, size, *text ? "%u %s" : "%u", (unsigned int)number, text);
}
