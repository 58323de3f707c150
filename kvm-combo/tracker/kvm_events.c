// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_events.c
 * @brief	Pack the events of a CPU, and read them one after the other.
 *
 * A packed event is a head and a body. Most events are of the same thread as the one before, and
 * many have the arguments of the last one of their kind: the head has a flag for each of both.
 *
 * - 1 byte: kind, SAME_PID, SAME_REST
 * - ns since the event before, 7 bits per byte, the lowest ones first; each byte but the last one
 *   has its highest bit set
 * - without SAME_PID: 4 bytes, the pid
 * - without SAME_REST: 1 byte, the length of @value and, times 16, that of @arg; both as signed
 *   numbers, the lowest byte first; 1 byte, @more
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "kvm_events.h"

#define KIND		0x3f
#define SAME_PID	0x40
#define SAME_REST	0x80

_Static_assert(KVM_N_KINDS <= KIND + 1, "a kind has six bits");

/** A head, a time of 64 bits, a pid, lengths, @value, @arg, @more. */
#define LONGEST		(1 + 10 + 4 + 1 + 8 + 4 + 1)

/** The events before, in a pack. */
struct before {
	int64_t		time_ns;
	int32_t		pid;
	struct {
		int64_t	value;
		int32_t	arg;
		uint8_t	more;
	}		rest[KVM_N_KINDS];
};

/** Write a signed number. Return: its length in bytes. */
static unsigned int put_number(uint8_t **p, int64_t number)
{
	unsigned int n = 0;

	for (; number < -128 || number > 127; number >>= 8, n++)
		*(*p)++ = (uint8_t)number;
	*(*p)++ = (uint8_t)number;
	return n + 1;
}

static int64_t get_number(const uint8_t **p, unsigned int n)
{
	uint64_t number = (uint64_t)(int64_t)(int8_t)(*p)[n - 1];

	for (unsigned int i = n - 1; i-- > 0; )
		number = number << 8 | (*p)[i];
	*p += n;
	return (int64_t)number;
}

static uint8_t *pack_event(uint8_t *p, const struct kvm_event *event, struct before *before)
{
	uint64_t ns = (uint64_t)event->time_ns - (uint64_t)before->time_ns;
	bool same_pid = event->pid == before->pid;
	bool same_rest = event->value == before->rest[event->kind].value &&
			 event->arg == before->rest[event->kind].arg &&
			 event->more == before->rest[event->kind].more;
	uint8_t *lengths;

	*p++ = (uint8_t)(event->kind | (same_pid ? SAME_PID : 0) | (same_rest ? SAME_REST : 0));
	for (; ns > 0x7f; ns >>= 7)
		*p++ = (uint8_t)(ns | 0x80);
	*p++ = (uint8_t)ns;
	before->time_ns = event->time_ns;
	if (!same_pid) {
		memcpy(p, &event->pid, sizeof(event->pid));
		p += sizeof(event->pid);
		before->pid = event->pid;
	}
	if (same_rest)
		return p;
	lengths = p++;
	*lengths = (uint8_t)put_number(&p, event->value);
	*lengths |= (uint8_t)(put_number(&p, event->arg) << 4);
	*p++ = event->more;
	before->rest[event->kind].value = event->value;
	before->rest[event->kind].arg = event->arg;
	before->rest[event->kind].more = event->more;
	return p;
}

static const uint8_t *unpack_event(const uint8_t *p, struct kvm_event *event,
				   struct before *before)
{
	uint8_t head = *p++, kind = head & KIND, lengths;
	uint64_t ns = 0;

	for (unsigned int shift = 0; ; shift += 7) {
		ns |= (uint64_t)(*p & 0x7f) << shift;
		if (!(*p++ & 0x80))
			break;
	}
	before->time_ns = (int64_t)((uint64_t)before->time_ns + ns);
	if (!(head & SAME_PID)) {
		memcpy(&before->pid, p, sizeof(before->pid));
		p += sizeof(before->pid);
	}
	if (!(head & SAME_REST)) {
		lengths = *p++;
		before->rest[kind].value = get_number(&p, lengths & 15);
		before->rest[kind].arg = (int32_t)get_number(&p, lengths >> 4);
		before->rest[kind].more = *p++;
	}
	event->time_ns = before->time_ns;
	event->value = before->rest[kind].value;
	event->pid = before->pid;
	event->arg = before->rest[kind].arg;
	event->kind = kind;
	event->more = before->rest[kind].more;
	return p;
}

/** Pack KVM_PACK_EVENTS, after the number of their CPU. Return: NULL without memory. */
static uint8_t *pack(const struct kvm_event *events)
{
	uint8_t room[sizeof(events->cpu) + KVM_PACK_EVENTS * LONGEST], *p = room, *copy;
	struct before before = { 0 };

	memcpy(p, &events->cpu, sizeof(events->cpu));
	p += sizeof(events->cpu);
	for (size_t i = 0; i < KVM_PACK_EVENTS; i++)
		p = pack_event(p, &events[i], &before);
	copy = malloc((size_t)(p - room));
	return copy ? memcpy(copy, room, (size_t)(p - room)) : NULL;
}

static void unpack(const uint8_t *p, struct kvm_event *events)
{
	struct before before = { 0 };
	int16_t cpu;

	memcpy(&cpu, p, sizeof(cpu));
	p += sizeof(cpu);
	for (size_t i = 0; i < KVM_PACK_EVENTS; i++) {
		p = unpack_event(p, &events[i], &before);
		events[i].cpu = cpu;
	}
}

int kvm_events_pack(struct kvm_events *events)
{
	size_t done = 0;
	int ret = 0;

	while (events->n_plain - done >= KVM_PACK_EVENTS + 2 && !ret) {
		uint8_t *packed = pack(events->plain + done);

		if (!packed || ARRAY_GROW(events->packs, events->n_packs, events->packs_room)) {
			free(packed);
			ret = -ENOMEM;
			break;
		}
		events->packs[events->n_packs++] = packed;
		done += KVM_PACK_EVENTS;
	}
	events->n_plain -= done;
	if (done)
		memmove(events->plain, events->plain + done,
			events->n_plain * sizeof(*events->plain));
	return ret;
}

void kvm_events_free(struct kvm_events *events)
{
	for (size_t i = 0; i < events->n_packs; i++)
		free(events->packs[i]);
	free(events->packs);
	free(events->plain);
	*events = (struct kvm_events){ 0 };
}

void kvm_scan_begin(struct kvm_scan *scan, const struct kvm_events *events, size_t from)
{
	scan->events = events;
	scan->at = scan->end = NULL;
	scan->next = from;
}

bool kvm_scan_more(struct kvm_scan *scan)
{
	const struct kvm_events *events = scan->events;
	size_t packed = events->n_packs * KVM_PACK_EVENTS, in_pack = scan->next % KVM_PACK_EVENTS;
	const uint8_t *of;

	if (scan->error || scan->next >= kvm_events_count(events))
		return false;
	if (scan->next >= packed) {
		scan->at = events->plain + (scan->next - packed);
		scan->end = events->plain + events->n_plain;
		scan->next = packed + events->n_plain;
		return true;
	}
	of = events->packs[scan->next / KVM_PACK_EVENTS];
	if (!scan->unpacked)
		scan->unpacked = malloc(KVM_PACK_EVENTS * sizeof(*scan->unpacked));
	if (!scan->unpacked) {
		scan->error = -ENOMEM;
		return false;
	}
	if (of != scan->pack)
		unpack(of, scan->unpacked);
	scan->pack = of;
	scan->at = scan->unpacked + in_pack;
	scan->end = scan->unpacked + KVM_PACK_EVENTS;
	scan->next += KVM_PACK_EVENTS - in_pack;
	return true;
}

void kvm_scan_end(struct kvm_scan *scan)
{
	free(scan->unpacked);
	*scan = (struct kvm_scan){ 0 };
}
