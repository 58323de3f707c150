/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_events.h
 * @brief	Inside the KVM tracker: the events of a CPU, of which it packs the oldest ones.
 *
 * The state machine runs when all records are known, so the tracker keeps an event for nearly each
 * record. An event takes 32 bytes, a packed one 6 to 9 (measured with the samples). Events of short
 * traces are not packed.
 */
#ifndef KSHARK_VIRT_KVM_EVENTS_H
#define KSHARK_VIRT_KVM_EVENTS_H

#include "kvm_tracker.h"

/** Events that are packed together. */
#define KVM_PACK_EVENTS		1024

/** Events of all CPUs for which a new tracker has room before it packs any: 32 MiB. */
#define KVM_MOST_PLAIN		((size_t)1 << 20)

/** Events of a CPU, numbered from 0 on: the packed ones, and then the plain ones. */
struct kvm_events {
	struct kvm_event *plain;
	size_t		n_plain, room;
	uint8_t		**packs;	/* of KVM_PACK_EVENTS each; NULL: given back */
	size_t		n_packs, packs_room;
};

/** kvm_events_count - of both kinds */
static inline size_t kvm_events_count(const struct kvm_events *events)
{
	return events->n_packs * KVM_PACK_EVENTS + events->n_plain;
}

/**
 * kvm_events_pack - pack all events of a CPU but the last ones, and at least two of these
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_events_pack(struct kvm_events *events);

/** kvm_events_free - all memory of a CPU's events. */
void kvm_events_free(struct kvm_events *events);

/** Events of a CPU, one after the other. All zero: none; kvm_scan_end() frees what it needs. */
struct kvm_scan {
	const struct kvm_events *events;
	const struct kvm_event *at, *end;	/* the next one, and the end of those after it */
	size_t		next;		/* number of the first one beyond @end */
	struct kvm_event *unpacked;	/* KVM_PACK_EVENTS; or NULL */
	const uint8_t	*pack;		/* that they are from */
	int		error;		/* -ENOMEM: there may be more events */
};

/** kvm_scan_begin - the next event is number @from. */
void kvm_scan_begin(struct kvm_scan *scan, const struct kvm_events *events, size_t from);

/** kvm_scan_more - @at is a further event, if @at == @end. Return: false at the end or an error. */
bool kvm_scan_more(struct kvm_scan *scan);

/** kvm_scan_next - the next event; it stays until the next call. Return: NULL as kvm_scan_more() */
static inline const struct kvm_event *kvm_scan_next(struct kvm_scan *scan)
{
	return scan->at < scan->end || kvm_scan_more(scan) ? scan->at++ : NULL;
}

/** kvm_scan_end - free the memory of a scan. */
void kvm_scan_end(struct kvm_scan *scan);

#endif
