// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_source_sparse.c
 * @brief	A walk that leaves out records of which the caller needs no more than their number.
 */
#include <string.h>

#include "kvm_source_private.h"

/** Send the numbers of a slot, which is empty then. */
static int send_count(struct kvm_sparse *sparse, struct kvm_sparse_count *count)
{
	struct kvm_item item = {
		.step.event = { .pid = count->pid, .cpu = (int16_t)sparse->cpu },
		.event = count->event, .n = count->n, .bytes = count->bytes,
		.next_pid = VIRT_NONE, .vector = VIRT_NONE, .role = KVM_ITEM_COUNTED,
	};

	*count = (struct kvm_sparse_count){ 0 };
	return sparse->take(sparse->arg, &item);
}

/** One more record. */
static inline int count_one(struct kvm_sparse *sparse, int32_t pid, int32_t event, uint32_t bytes)
{
	uint32_t slot = ((uint32_t)pid * 37 + (uint32_t)event) % KVM_SPARSE_COUNTS;
	struct kvm_sparse_count *count = &sparse->counts[slot];
	int ret = 0;

	if (count->pid != pid || count->event != event || count->bytes > UINT32_MAX / 2) {
		ret = count->n ? send_count(sparse, count) : 0;
		*count = (struct kvm_sparse_count){ .pid = pid, .event = event };
	}
	count->n++;
	count->bytes += bytes;
	return ret;
}

/** Send the events that are waiting. */
static int send_events(struct kvm_sparse *sparse)
{
	struct kvm_item item = {
		.step.event = { .pid = VIRT_NONE, .cpu = (int16_t)sparse->cpu },
		.next_pid = VIRT_NONE, .vector = VIRT_NONE, .role = KVM_ITEM_EVENTS,
		.n = sparse->n_events, .parts = 1U << KVM_ITEM_RUN,
	};

	if (!sparse->n_events)
		return 0;
	item.part[KVM_ITEM_RUN] = sparse->events;
	sparse->n_events = 0;
	return sparse->take(sparse->arg, &item);
}

static inline int add_event(struct kvm_sparse *sparse, const struct kvm_event *event)
{
	sparse->events[sparse->n_events++] = *event;
	return sparse->n_events < KVM_ITEM_MOST_EVENTS ? 0 : send_events(sparse);
}

/** Send the held record: it shows that its thread still had the CPU. */
static int add_held(struct kvm_sparse *sparse)
{
	const struct kvm_event held = {
		.time_ns = (int64_t)sparse->held_ts, .pid = sparse->last_pid,
		.cpu = (int16_t)sparse->cpu, .kind = KVM_SEEN,
	};

	sparse->is_held = false;
	return add_event(sparse, &held);
}

int kvm_sparse_repeat(struct kvm_sparse *sparse, uint64_t ts, int32_t event, uint32_t bytes)
{
	int ret = sparse->counts ? count_one(sparse, sparse->last_pid, event, bytes) : 0;

	if (sparse->is_held && ts < sparse->held_ts && !ret)
		ret = add_held(sparse);
	sparse->held_ts = ts;
	sparse->is_held = true;
	return ret;
}

/** The held record matters unless the next one of the CPU shows all that it does. */
static inline int end_held(struct kvm_sparse *sparse, int32_t pid, int64_t ts)
{
	int ret = 0;

	if (sparse->is_held && (pid != sparse->last_pid || (uint64_t)ts < sparse->held_ts))
		ret = add_held(sparse);
	sparse->is_held = false;
	return ret;
}

int kvm_sparse_event(struct kvm_sparse *sparse, const struct kvm_event *event, int32_t id,
		     uint32_t bytes)
{
	int ret = sparse->counts ? count_one(sparse, event->pid, id, bytes) : 0;

	if (!ret)
		ret = end_held(sparse, event->pid, event->time_ns);
	sparse->last_pid = event->kind != KVM_SWITCH ? event->pid : KVM_SPARSE_NO_PID;
	return ret ? ret : add_event(sparse, event);
}

int kvm_sparse_item(struct kvm_sparse *sparse, struct kvm_item *item, bool is_first)
{
	const struct kvm_event *event = &item->step.event;
	int32_t pid = item->has_lost || item->is_blind ? KVM_SPARSE_NO_PID : event->pid;
	int ret = 0;

	if (!is_first && !(item->parts & KVM_SPARSE_GIVEN)) {
		item->role = KVM_ITEM_TRACKED;
		if (sparse->counts)
			ret = count_one(sparse, event->pid, item->event, item->bytes);
	}
	if (!ret)
		ret = end_held(sparse, pid, event->time_ns);
	if (!ret)
		ret = send_events(sparse);
	sparse->last_pid = item->step.kind == KVM_STEP_EVENT && event->kind != KVM_SWITCH ?
			   pid : KVM_SPARSE_NO_PID;
	return ret ? ret : sparse->take(sparse->arg, item);
}

int kvm_sparse_handler(struct kvm_sparse *sparse, const struct kvm_handler_event *handler,
		       bool *is_new)
{
	*is_new = false;
	for (uint32_t i = 0; i < sparse->n_handlers; i++)
		if (sparse->handlers[i].kind == handler->kind &&
		    !strcmp(sparse->handlers[i].name, handler->name))
			return (int)i;
	if (sparse->n_handlers == KVM_ITEM_MOST_HANDLERS)
		return -1;
	*is_new = true;
	sparse->handlers[sparse->n_handlers] = *handler;
	return (int)sparse->n_handlers++;
}

void kvm_sparse_begin_cpu(struct kvm_sparse *sparse, int cpu)
{
	sparse->cpu = cpu;
	sparse->last_pid = KVM_SPARSE_NO_PID;
}

int kvm_sparse_end_cpu(struct kvm_sparse *sparse)
{
	int ret = sparse->is_held ? add_held(sparse) : 0;

	if (!ret)
		ret = send_events(sparse);
	for (size_t i = 0; sparse->counts && i < KVM_SPARSE_COUNTS && !ret; i++)
		if (sparse->counts[i].n)
			ret = send_count(sparse, &sparse->counts[i]);
	return ret;
}
