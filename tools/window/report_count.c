// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_count.c
 * @brief	Count records while a trace is read: volume, hypercalls, traps, interrupts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "report_count.h"

static const char *const class_names[] = {
#define XEN_CLASS(symbol_, bits_, name_) [COUNT_CLASS_##symbol_] = name_,
#define XEN_PART(symbol_, bits_, name_) [COUNT_CLASS_##symbol_] = name_,
#include "xen_events.def"
	[COUNT_CLASS_OTHER] = "other",
};

/** Events that are a trap of one kind each. */
static const struct {
	const char	*name;
	uint32_t	event, event64;
} trap_events[] = {
#define XEN_TRAP(symbol_, symbol64_, name_) \
	[COUNT_TRAP_##symbol_] = { name_, XEN_TRC_##symbol_, XEN_TRC_##symbol64_ },
#include "xen_events.def"
};

/** Grants, tables of pages, populate on demand: by the vCPU for which, or by which, it is done. */
static const struct {
	const char	*name;
	uint32_t	event;
} memory_events[] = {
#define XEN_MEMORY(symbol_, name_) [COUNT_##symbol_] = { name_, XEN_TRC_##symbol_ },
#include "xen_events.def"
};

const char *report_count_class(const struct report_count *count, int class)
{
	if (count->kvm)
		return kvm_trace_class(count->kvm, class);
	return class < COUNT_CLASSES ? class_names[class] : NULL;
}

const char *report_count_trap(int i)
{
	return i < COUNT_TRAP_EVENTS ? trap_events[i].name : NULL;
}

const char *report_count_memory(int i)
{
	return i < COUNT_MEMORY_EVENTS ? memory_events[i].name : NULL;
}

/** The class of each subclass that an event can be of. */
static uint8_t class_of[(XEN_TRC_ID_MASK >> XEN_TRC_SUBCLASS_SHIFT) + 1];

#define PARTS	(1u << (XEN_TRC_CLASS_SHIFT - XEN_TRC_SUBCLASS_SHIFT))

static void fill_class_of(void)
{
	memset(class_of, COUNT_CLASS_OTHER, sizeof(class_of));
#define XEN_CLASS(symbol_, bits_, name_) \
	memset(&class_of[(bits_) * PARTS], COUNT_CLASS_##symbol_, PARTS);
#include "xen_events.def"
#define XEN_PART(symbol_, bits_, name_) class_of[bits_] = COUNT_CLASS_##symbol_;
#include "xen_events.def"
}

static enum count_class find_class(uint32_t event)
{
	return class_of[(event & XEN_TRC_ID_MASK) >> XEN_TRC_SUBCLASS_SHIFT];
}

int report_count_init(struct report_count *count, int n_pcpus)
{
	fill_class_of();
	count->n_pcpus = n_pcpus;
	count->pcpus = calloc(n_pcpus, sizeof(*count->pcpus));
	return count->pcpus ? 0 : -ENOMEM;
}

void report_count_destroy(struct report_count *count)
{
	for (uint32_t i = 0; i < count->vcpu_map.n_keys && count->vcpus; i++) {
		if (count->vcpus[i])
			free(count->vcpus[i]->counters);
		free(count->vcpus[i]);
	}
	free(count->vcpus);
	free(count->pcpus);
	key_map_destroy(&count->vcpu_map);
	memset(count, 0, sizeof(*count));
}

const struct vcpu_count *report_count_vcpu(const struct report_count *count, xen_vcpu vcpu)
{
	int64_t n = key_map_find(&count->vcpu_map, vcpu);

	return n < 0 ? NULL : count->vcpus[n];
}

/** A vCPU's counts. Return: NULL without memory. */
static struct vcpu_count *vcpu_count(struct report_count *count, struct pcpu_count *pcpu,
				     xen_vcpu vcpu)
{
	int64_t n;

	if (vcpu == pcpu->cached && pcpu->cached_count)
		return pcpu->cached_count;
	n = KEY_MAP_ELEMENT(&count->vcpu_map, vcpu, count->vcpus, count->room_vcpus);
	if (n >= 0 && !count->vcpus[n])
		count->vcpus[n] = calloc(1, sizeof(**count->vcpus));
	if (n < 0 || !count->vcpus[n]) {
		count->error = -ENOMEM;
		return NULL;
	}
	pcpu->cached = vcpu;
	pcpu->cached_count = count->vcpus[n];
	return pcpu->cached_count;
}

/** Count some of a vCPU's; running out of memory sets the error of @count. */
static void add(struct report_count *count, struct vcpu_count *vcpu, enum count_what what,
		uint32_t i, uint64_t more)
{
	uint32_t n = (uint32_t)what + i;
	uint8_t *chunk = &vcpu->chunks[n / COUNT_CHUNK];

	if (!*chunk) {
		if (ARRAY_GROW(vcpu->counters, vcpu->n_chunks, vcpu->room_chunks)) {
			count->error = -ENOMEM;
			return;
		}
		memset(vcpu->counters[vcpu->n_chunks], 0, sizeof(*vcpu->counters));
		*chunk = ++vcpu->n_chunks;
	}
	vcpu->counters[*chunk - 1][n % COUNT_CHUNK] += more;
}

static void add_one(struct report_count *count, struct vcpu_count *vcpu, enum count_what what,
		    uint32_t i)
{
	add(count, vcpu, what, i, 1);
}

static uint32_t hypercall_of(uint32_t nr)
{
	return nr < COUNT_OTHER_HYPERCALL ? nr : COUNT_OTHER_HYPERCALL;
}

static void count_trap_event(struct report_count *count, struct vcpu_count *vcpu, uint32_t event)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(trap_events); i++) {
		if (event == trap_events[i].event || event == trap_events[i].event64) {
			add_one(count, vcpu, COUNT_TRAP_EVENT, i);
			return;
		}
	}
}

static void count_memory(struct report_count *count, struct pcpu_count *pcpu,
			 const struct xen_trace_row *row)
{
	struct vcpu_count *vcpu = vcpu_count(count, pcpu, row->vcpu);

	for (uint32_t i = 0; vcpu && i < COUNT_MEMORY_EVENTS; i++)
		if (row->rec.event == memory_events[i].event)
			add_one(count, vcpu, COUNT_MEMORY, i);
}

/** What a record says about the vCPU that was running. */
static void count_vcpu(struct report_count *count, struct pcpu_count *pcpu,
		       const struct xen_trace_row *row)
{
	const struct xentrace_record *rec = &row->rec;
	struct vcpu_count *vcpu = vcpu_count(count, pcpu, row->vcpu);

	if (!vcpu)
		return;
	switch (rec->event) {
	case XEN_TRC_PV_HYPERCALL_V2:
		add_one(count, vcpu, COUNT_HYPERCALL,
			hypercall_of(xentrace_word(rec, 0) & XEN_TRC_HYPERCALL_MASK));
		break;
	case XEN_TRC_PV_HYPERCALL_SUBCALL:
		add_one(count, vcpu, COUNT_SUBCALL,
			hypercall_of(xentrace_word(rec, 0) & XEN_TRC_HYPERCALL_MASK));
		break;
	case XEN_TRC_PV_HYPERCALL:
	case XEN_TRC_PV_HYPERCALL64:
		/* the last word: the address before it is 32 or 64 bits wide */
		add_one(count, vcpu, COUNT_HYPERCALL,
			hypercall_of(xentrace_word(rec, rec->n_words - 1u)));
		break;
	case XEN_TRC_HVM_VMMCALL:
		add_one(count, vcpu, COUNT_HYPERCALL, hypercall_of(xentrace_word(rec, 0)));
		break;
	case XEN_TRC_PV_TRAP:
	case XEN_TRC_PV_TRAP64:
		add_one(count, vcpu, COUNT_TRAP,
			xentrace_word(rec, rec->n_words - 1u) % COUNT_TRAPS);
		break;
	case XEN_TRC_HVM_TRAP:
		add_one(count, vcpu, COUNT_TRAP, xentrace_word(rec, 0) % COUNT_TRAPS);
		break;
	/* the same one again (XEN_TRC_HVM_REINJ_VIRQ) is no other one */
	case XEN_TRC_HVM_INJ_VIRQ:
		add_one(count, vcpu, COUNT_VECTOR, xentrace_word(rec, 0) % COUNT_VECTORS);
		break;
	default:
		count_trap_event(count, vcpu, rec->event);
	}
}

static void count_row(struct report_count *count, const struct xen_trace_row *row)
{
	struct pcpu_count *pcpu = &count->pcpus[row->rec.pcpu];
	enum count_class class = find_class(row->rec.event);
	struct count_volume *volume = &pcpu->volume[class];

	volume->records++;
	volume->bytes += xentrace_bytes(&row->rec);
	/* PV, and what Xen did for an HVM vCPU */
	if (class == COUNT_CLASS_PV_ENTRY || class == COUNT_CLASS_PV_SUBCALL ||
	    class == COUNT_CLASS_HVM_HANDLER)
		count_vcpu(count, pcpu, row);
	else if (class == COUNT_CLASS_MEM)
		count_memory(count, pcpu, row);
	else if (row->rec.event == XEN_TRC_HW_IRQ_HANDLED)
		pcpu->interrupts++;
}

void report_count_rows(struct report_count *count, const struct xen_trace_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (rows[i].time_ns < count->from_ns || rows[i].time_ns >= count->to_ns)
			continue;
		count->records++;
		count_row(count, &rows[i]);
	}
}

void report_count_skipped(struct report_count *count, const struct xen_trace_skipped *skipped)
{
	struct pcpu_count nowhere = { .cached_count = NULL };
	struct count_volume *volume;
	struct vcpu_count *vcpu;

	if (skipped->is_call) {
		vcpu = vcpu_count(count, &nowhere, skipped->vcpu);
		if (vcpu)
			add(count, vcpu, COUNT_HYPERCALL, hypercall_of(skipped->number),
			    skipped->records);
		return;
	}
	volume = &count->pcpus[skipped->pcpu].volume[find_class(skipped->event)];
	volume->records += skipped->records;
	volume->bytes += skipped->bytes;
	count->records += skipped->records;
}

/** What a KVM host's record gives to its thread, which is the key of the counts. */
static void count_injection(struct report_count *count, const struct kvm_trace_record *record)
{
	struct vcpu_count *vcpu;

	if (record->injection >= KVM_TRACE_TSC_OFFSET)
		return;
	vcpu = vcpu_count(count, &count->pcpus[record->cpu], (xen_vcpu)record->pid);
	if (!vcpu)
		return;
	vcpu->is_kvm = true;
	switch (record->injection) {
	case KVM_TRACE_INTERRUPT:
		/* again, it is no other one; as irq_injections.h has it */
		if (!(record->injection_flags & (KVM_TRACE_AGAIN | KVM_TRACE_SOFT)))
			add_one(count, vcpu, COUNT_VECTOR, record->number % COUNT_VECTORS);
		break;
	case KVM_TRACE_EXCEPTION:
		if (!(record->injection_flags & KVM_TRACE_AGAIN))
			add_one(count, vcpu, COUNT_TRAP, record->number % COUNT_TRAPS);
		break;
	case KVM_TRACE_HYPERCALL:
		add_one(count, vcpu, COUNT_HYPERCALL,
			record->number < COUNT_OTHER_HYPERCALL ? (uint32_t)record->number :
			COUNT_OTHER_HYPERCALL);
		break;
	}
}

void report_count_record(struct report_count *count, const struct kvm_trace_record *record)
{
	struct count_volume *volume;

	if (record->time_ns < count->from_ns || record->time_ns >= count->to_ns ||
	    record->cpu >= count->n_pcpus)
		return;
	volume = &count->pcpus[record->cpu].volume[record->class];
	volume->records += record->records;
	volume->bytes += record->bytes;
	count->records += record->records;
	if (record->injection)
		count_injection(count, record);
}

const char *report_count_hypercall(const struct vcpu_count *count, uint32_t nr)
{
	/* KVM_HC_* of Linux's include/uapi/linux/kvm_para.h */
	static const char *const kvm[] = {
		[1] = "VAPIC_POLL_IRQ",	[2] = "MMU_OP",		[3] = "FEATURES",
		[4] = "PPC_MAP_MAGIC_PAGE", [5] = "KICK_CPU",	[6] = "MIPS_GET_CLOCK_FREQ",
		[7] = "MIPS_EXIT_VM",	[8] = "MIPS_CONSOLE_OUTPUT", [9] = "CLOCK_PAIRING",
		[10] = "SEND_IPI",	[11] = "SCHED_YIELD",	[12] = "MAP_GPA_RANGE",
	};

	if (!count->is_kvm)
		return xen_hypercall_name(nr);
	return nr < ARRAY_SIZE(kvm) ? kvm[nr] : NULL;
}
