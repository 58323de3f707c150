/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_fields.h
 * @brief	Convert ftrace records to input of the KVM tracker. Fields are looked up once.
 */
#ifndef KSHARK_VIRT_KVM_FIELDS_H
#define KSHARK_VIRT_KVM_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hyper_event.h"
#include "kvm_step.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The system of the events that we declare ourselves in a trace.dat. */
#define KVM_OWN_SYSTEM	"kshark_virt"

/**
 * An event of this system, which a trace.dat declares, without records of it, if another tool's
 * records do not show whether they were written in an interrupt: common_flags lack that for want of
 * knowledge.
 */
#define KVM_NO_CONTEXT	"context_unknown"

/**
 * trace-cmd writes the formats of all events if it was given none (trace-cmd extract, record -p) or
 * all of them (read_event_files() in its lib/trace-cmd/trace-output.c). A kernel has 1,000 and
 * more; then the formats do not say what was enabled, records do.
 */
#define KVM_MAX_ENABLED	600

struct kvm_fields;
struct tep_handle;
struct tep_record;

/**
 * kvm_fields_new - find the events that matter among those of a trace
 * @tep: the trace's formats; outlives the result
 *
 * Return: NULL without memory.
 */
struct kvm_fields *kvm_fields_new(struct tep_handle *tep);

/** kvm_fields_free - free it; it may be NULL. */
void kvm_fields_free(struct kvm_fields *fields);

/** kvm_fields_events - ids of the events that matter. Return: how many; @ids belongs to @fields. */
size_t kvm_fields_events(const struct kvm_fields *fields, const int **ids);

/** kvm_fields_kinds - kinds of records whose events are known to the trace, see virt_recorded.h */
uint64_t kvm_fields_kinds(const struct kvm_fields *fields);

/** kvm_fields_is_host - can this be the trace of a KVM host: are entries and exits known to it? */
bool kvm_fields_is_host(const struct kvm_fields *fields);

/** kvm_fields_stranger - as kvm_trace_stranger() */
const char *kvm_fields_stranger(const struct kvm_fields *fields);

/**
 * kvm_fields_take - give a record to the tracker
 * @id, @cpu, @pid, @time_ns: which event, where, who, when; all times of a trace are of one kind
 *
 * Any record will do; one that does not matter only shows who has the CPU. The caller must report
 * records that are missing before it with kvm_tracker_lost().
 *
 * Return: as kvm_tracker_add().
 */
int kvm_fields_take(const struct kvm_fields *fields, struct kvm_tracker *tracker,
		    const struct tep_record *record, int id, int cpu, int32_t pid,
		    int64_t time_ns);

/**
 * kvm_fields_exit_rip - where the guest was when it left
 * @id: which event
 *
 * Return: 0 for a record that is no VM exit, or does not have it.
 */
uint64_t kvm_fields_exit_rip(const struct kvm_fields *fields, const struct tep_record *record,
			     int id);

/**
 * kvm_fields_call - the registers of a hypercall with which a guest may report events
 * @id: which event
 * @call: receives numbers, registers and source; time, thread and CPU are the caller's to set
 *
 * Return: false for a record that is none, or too short.
 */
bool kvm_fields_call(const struct kvm_fields *fields, const struct tep_record *record, int id,
		     struct hyper_call *call);

/**
 * kvm_fields_boot - what a guest's own kernel records of its boot: levels and initcalls
 * @id: which event
 * @event: receives it, of HYPER_LEVEL or HYPER_INITCALL
 *
 * Return: false for any other record.
 */
bool kvm_fields_boot(const struct kvm_fields *fields, const struct tep_record *record, int id,
		     struct hyper_event *event);

/** kvm_fields_boot_label - the label of an event that kvm_fields_boot() makes; NULL for others */
const char *kvm_fields_boot_label(const struct hyper_event *event);

/** Longer than the name of any device. */
#define KVM_DEVICE_SIZE	32

/** kvm_fields_irq - which interrupt of a device is handled from this record on; below 0: none. */
int64_t kvm_fields_irq(const struct kvm_fields *fields, const struct tep_record *record, int id);

/** kvm_fields_device - the name of the device of such a record; "" if it has none. */
void kvm_fields_device(const struct kvm_fields *fields, const struct tep_record *record, int id,
		       char name[KVM_DEVICE_SIZE]);

/** Longer than the paths of most cgroups; longer ones are left out. */
#define KVM_CGROUP_SIZE	1024

/** A task, or the leader of a process, enters a cgroup. */
struct kvm_cgroup_event {
	int32_t		root;		/* number of the hierarchy; 0: cgroup v2's */
	int32_t		pid;
	char		path[KVM_CGROUP_SIZE];
};

/**
 * kvm_fields_tracks, kvm_fields_handles, kvm_fields_has_exit_rip - can records of an event be more
 * than KVM_STEP_SEEN, or what kvm_fields_handler() or kvm_fields_exit_rip() look for?
 */
bool kvm_fields_tracks(const struct kvm_fields *fields, int id);
bool kvm_fields_handles(const struct kvm_fields *fields, int id);
bool kvm_fields_has_exit_rip(const struct kvm_fields *fields, int id);

/**
 * kvm_fields_has_more - can records of an event be what kvm_fields_call(), _boot(), _cgroup() or
 * _irq() look for?
 */
bool kvm_fields_has_more(const struct kvm_fields *fields, int id);

/** kvm_fields_cgroup - the cgroup event of a record. Return: false if it is none, or too short. */
bool kvm_fields_cgroup(const struct kvm_fields *fields, const struct tep_record *record, int id,
		       struct kvm_cgroup_event *event);

/**
 * kvm_fields_step - decode a record for the tracker
 * @step: receives it, without place, thread and time. Of KVM_STEP_HANDLER, kvm_fields_handler()
 *	returns the rest
 * @more: receives the rest if kvm_step_has_more()
 *
 * Any record will do: one that does not matter is KVM_STEP_SEEN.
 */
void kvm_fields_step(const struct kvm_fields *fields, const struct tep_record *record, int id,
		     struct kvm_step *step, struct kvm_step_more *more);

/**
 * kvm_fields_handler - what a record shows of the handlers of its own kernel
 *
 * Return: false for any other record.
 */
bool kvm_fields_handler(const struct kvm_fields *fields, const struct tep_record *record, int id,
			struct kvm_handler_event *event);

/**
 * kvm_fields_handler_is_beyond - does kvm_fields_handler() read only what is at @begin or later?
 * @id: of an event that it knows
 *
 * Where a text is, each record says itself.
 */
bool kvm_fields_handler_is_beyond(const struct kvm_fields *fields, int id, int begin);

/**
 * kvm_fields_number - the number in a field, which may be NULL
 *
 * Return: as !tep_read_number_field(), which is slower and reads beyond the end of a record.
 */
bool kvm_fields_number(const struct kvm_fields *fields, const struct tep_format_field *field,
		       const struct tep_record *record, uint64_t *value);

/** The beginning of each record, if kvm_fields_is_usual(). */
struct kvm_common {
	uint16_t	type;		/* id of the event */
	uint8_t		flags, preempt_count;
	int32_t		pid;
};

/** kvm_fields_is_usual - is it where Linux puts it? The functions below find it anywhere. */
bool kvm_fields_is_usual(const struct kvm_fields *fields);

/** kvm_fields_pid - whose record it is. */
int32_t kvm_fields_pid(const struct kvm_fields *fields, struct tep_record *record);

/** kvm_fields_id - the id of its event */
int kvm_fields_id(const struct kvm_fields *fields, struct tep_record *record);

#ifdef __cplusplus
}
#endif
#endif
