// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_item.c
 * @brief	Pack decoded records, and unpack them with suspicion.
 */
#include <string.h>

#include "array.h"
#include "exit_arguments.h"
#include "exit_causes.h"
#include "hyper_dialect.h"
#include "kvm_item.h"
#include "virt_handlers.h"

static const uint16_t sizes[KVM_ITEM_N_PARTS] = {
	[KVM_ITEM_STEP_MORE] = sizeof(struct kvm_step_more),
	[KVM_ITEM_RARE] = sizeof(struct kvm_item_rare),
	[KVM_ITEM_HANDLER] = sizeof(struct kvm_handler_event),
	[KVM_ITEM_CALL] = sizeof(struct hyper_call),
	[KVM_ITEM_BOOT] = sizeof(struct hyper_event),
	[KVM_ITEM_CGROUP] = sizeof(struct kvm_cgroup_event),
	[KVM_ITEM_DEVICE] = KVM_DEVICE_SIZE,
	[KVM_ITEM_NAME] = sizeof(struct kvm_item_name),
	[KVM_ITEM_NEXT_NAME] = sizeof(struct kvm_item_name),
};

#define HEAD	offsetof(struct kvm_item, part)

static size_t size_of(const struct kvm_item *item, int part)
{
	return part == KVM_ITEM_RUN ? item->n * sizeof(struct kvm_event) : sizes[part];
}

_Static_assert(HEAD % 8 == 0, "the parts begin at a multiple of 8");
_Static_assert(KVM_ITEM_N_PARTS <= 16, "a bit for each part");
_Static_assert(EIGHTS(sizeof(struct kvm_step_more)) + EIGHTS(sizeof(struct kvm_item_rare)) +
	       EIGHTS(sizeof(struct kvm_handler_event)) +
	       EIGHTS(sizeof(struct hyper_call)) + EIGHTS(sizeof(struct hyper_event)) +
	       EIGHTS(sizeof(struct kvm_cgroup_event)) + EIGHTS(KVM_DEVICE_SIZE) +
	       2 * EIGHTS(sizeof(struct kvm_item_name)) + HEAD <= KVM_ITEM_MOST, "room for all");
_Static_assert(KVM_ITEM_MOST_EVENTS * sizeof(struct kvm_event) + HEAD <= KVM_ITEM_MOST,
	       "room for a run");

size_t kvm_item_pack(const struct kvm_item *item, void *to)
{
	uint8_t *at = to;

	memcpy(at, item, HEAD);
	at += HEAD;
	for (unsigned int left = item->parts; left; left &= left - 1) {
		int part = __builtin_ctz(left);

		memcpy(at, item->part[part], size_of(item, part));
		at += EIGHTS(size_of(item, part));
	}
	return (size_t)(at - (uint8_t *)to);
}

/* --- impossible values ----------------------------------------------------------------------- */

static bool is_text(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

/** Is the byte a valid bool? Reading any other byte as a bool is undefined. */
static bool is_bool(const void *place)
{
	return *(const uint8_t *)place <= 1;
}

static bool is_argument(const struct kvm_event *event)
{
	return event->more < EXIT_ARGUMENT_OTHERS &&
	       (uint64_t)event->value <=
	       exit_argument_most((enum exit_argument_kind)event->more);
}

/** Records of these kinds alone show what a thread did. */
static bool is_saw(const struct kvm_event *event)
{
	return event->arg >= VIRT_RECORD_USERFAULT && event->arg <= VIRT_RECORD_ASYNC &&
	       event->value >= 0 && event->value < EXIT_SEEN_SLEEP &&
	       event->more <= KVM_IN_INTERRUPT;
}

/** Events of these kinds may have any values. */
#define PLAIN	((1U << KVM_N_KINDS) - 1 - (1U << KVM_SEEN) - (1U << KVM_LOST) - \
		 (1U << KVM_FOUND) - (1U << KVM_ARGUMENT) - (1U << KVM_SAW))

_Static_assert(KVM_N_KINDS < 32, "a bit for each kind");

static inline bool is_event(const struct kvm_event *event)
{
	return event->kind < KVM_N_KINDS &&
	       (PLAIN >> event->kind & 1 ||
		(event->kind == KVM_ARGUMENT && is_argument(event)) ||
		(event->kind == KVM_SAW && is_saw(event)));
}

static bool is_run(const struct kvm_event *events, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!is_event(&events[i]) && events[i].kind != KVM_SEEN &&
		    events[i].kind != KVM_RUN_ENTER && events[i].kind != KVM_RUN_LEAVE)
			return false;
	return true;
}

static bool has_flags(const struct kvm_step *step)
{
	return (!(step->flags & KVM_STEP_SCHED) || kvm_event_is_sched(step->event.kind)) &&
	       (!(step->flags & KVM_STEP_BEFORE) || step->event.kind == KVM_TSC_OFFSET) &&
	       (!(step->flags & KVM_STEP_NAMED) || step->event.arg > 0);
}

/** Are the parts there that the step needs? */
static bool is_step(const struct kvm_item *item)
{
	const struct kvm_step *step = &item->step;

	if (kvm_step_has_more(step) && !(item->parts >> KVM_ITEM_STEP_MORE & 1))
		return false;
	if (step->kind == KVM_STEP_EVENT)
		return is_event(&step->event) && (!step->flags || has_flags(step));
	return step->kind < KVM_STEP_N_KINDS && !step->flags &&
	       (step->kind != KVM_STEP_HANDLER || (item->parts >> KVM_ITEM_HANDLER & 1 &&
						   item->n <= KVM_ITEM_MOST_HANDLERS));
}

static bool is_step_more(const struct kvm_step_more *more)
{
	return is_text(more->comm, sizeof(more->comm));
}

static bool is_rare(const struct kvm_item_rare *rare)
{
	return rare->injection < KVM_TRACE_N_INJECTIONS;
}

static bool is_handler(const struct kvm_handler_event *event)
{
	return event->kind < VIRT_HANDLER_N_KINDS && event->edge <= KVM_HANDLER_WHOLE &&
	       event->is_timer <= 1 && is_text(event->name, sizeof(event->name));
}

static bool is_call(const struct hyper_call *call)
{
	return is_bool((const char *)call + offsetof(struct hyper_call, vague)) &&
	       is_bool((const char *)call + offsetof(struct hyper_call, is_users)) &&
	       (call->source == HYPER_KVM || call->source == HYPER_KVM_WHOLE) &&
	       call->bytes <= sizeof(call->a) && call->cost_ns >= -1 &&
	       call->cost_ns <= HYPER_MOST_COST_NS;
}

static bool is_boot(struct hyper_event *event)
{
	const char *bytes = (const char *)event;

	if (!is_bool(bytes + offsetof(struct hyper_event, no_sign)) ||
	    !is_bool(bytes + offsetof(struct hyper_event, vague)) ||
	    !is_text(event->name, sizeof(event->name)))
		return false;
	event->label = kvm_fields_boot_label(event);
	return event->label != NULL;
}

static bool is_cgroup(const struct kvm_cgroup_event *event)
{
	return event->pid > 0 && is_text(event->path, sizeof(event->path));
}

static bool is_name(const struct kvm_item_name *name)
{
	return is_text(name->comm, sizeof(name->comm));
}

static bool is_part(const struct kvm_item *item, enum kvm_item_part part, void *bytes)
{
	switch (part) {
	case KVM_ITEM_STEP_MORE:
		return is_step_more(bytes);
	case KVM_ITEM_RARE:
		return is_rare(bytes);
	case KVM_ITEM_HANDLER:
		return is_handler(bytes);
	case KVM_ITEM_CALL:
		return is_call(bytes);
	case KVM_ITEM_BOOT:
		return is_boot(bytes);
	case KVM_ITEM_CGROUP:
		return is_cgroup(bytes);
	case KVM_ITEM_DEVICE:
		return is_text(bytes, KVM_DEVICE_SIZE);
	case KVM_ITEM_NAME:
	case KVM_ITEM_NEXT_NAME:
		return is_name(bytes);
	case KVM_ITEM_RUN:
		return is_run(bytes, item->n);
	case KVM_ITEM_N_PARTS:
		break;
	}
	return false;
}

/** Is the run the only part, and no longer than a run may be? */
static bool is_run_alone(const struct kvm_item *item)
{
	return item->role == KVM_ITEM_EVENTS && item->parts == 1U << KVM_ITEM_RUN &&
	       item->n <= KVM_ITEM_MOST_EVENTS;
}

static bool is_item(const struct kvm_item *item)
{
	return item->step.event.cpu >= 0 && item->vector >= VIRT_NONE && item->vector <= 0xff &&
	       item->has_lost <= 1 && item->is_blind <= 1 && item->role < KVM_ITEM_N_ROLES &&
	       item->parts < 1U << KVM_ITEM_N_PARTS && is_step(item) &&
	       (!(item->parts >> KVM_ITEM_RUN & 1) || is_run_alone(item));
}

size_t kvm_item_unpack(const void *from, size_t size, struct kvm_item *item,
		       union kvm_item_room *room)
{
	const uint8_t *at = from;
	size_t used = HEAD;

	if (size < HEAD)
		return 0;
	memcpy(item, at, HEAD);
	if (!is_item(item))
		return 0;
	for (unsigned int left = item->parts; left; left &= left - 1) {
		int part = __builtin_ctz(left);
		size_t bytes = EIGHTS(size_of(item, part));
		uint8_t *to = room->bytes + used - HEAD;

		if (bytes > size - used)
			return 0;
		memcpy(to, at + used, size_of(item, part));
		item->part[part] = to;
		used += bytes;
		if (!is_part(item, (enum kvm_item_part)part, to))
			return 0;
	}
	return used;
}
