/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_fields.h
 * @brief	From ftrace records to what the KVM tracker takes; fields are looked up once.
 */
#ifndef KSHARK_VIRT_KVM_FIELDS_H
#define KSHARK_VIRT_KVM_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hyper_event.h"
#include "kvm_handler_fields.h"
#include "kvm_tracker.h"

#ifdef __cplusplus
extern "C" {
#endif

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
 * Any record will do; one that does not matter only tells who has the CPU. Records that are missing
 * before it must be told with kvm_tracker_lost().
 *
 * Return: as kvm_tracker_add().
 */
int kvm_fields_take(const struct kvm_fields *fields, struct kvm_tracker *tracker,
		    const struct tep_record *record, int id, int cpu, int32_t pid,
		    int64_t time_ns);

/**
 * kvm_fields_call - the registers of a hypercall that a guest may tell of itself with
 * @id: which event
 * @call: receives numbers, registers and source; time, thread and CPU are the caller's to set
 *
 * Return: false for a record that is none, or too short.
 */
bool kvm_fields_call(const struct kvm_fields *fields, const struct tep_record *record, int id,
		     struct hyper_call *call);

/**
 * kvm_fields_boot - what a guest's own kernel tells of its boot: levels and initcalls
 * @id: which event
 * @event: receives it, of HYPER_LEVEL or HYPER_INITCALL
 *
 * Return: false for a record that tells nothing of that.
 */
bool kvm_fields_boot(const struct kvm_fields *fields, const struct tep_record *record, int id,
		     struct hyper_event *event);

/** Longer than the name of any device. */
#define KVM_DEVICE_SIZE	32

/** kvm_fields_irq - which interrupt of a device is handled from this record on; below 0: none. */
int64_t kvm_fields_irq(const struct kvm_fields *fields, const struct tep_record *record, int id);

/** kvm_fields_device - what the device of such a record is called; "" if it does not tell. */
void kvm_fields_device(const struct kvm_fields *fields, const struct tep_record *record, int id,
		       char name[KVM_DEVICE_SIZE]);

/** Longer than the paths of most cgroups; what is longer is not told. */
#define KVM_CGROUP_SIZE	1024

/** A task, or the leader of a process, enters a cgroup. */
struct kvm_cgroup_event {
	int32_t		root;		/* number of the hierarchy; 0: cgroup v2's */
	int32_t		pid;
	char		path[KVM_CGROUP_SIZE];
};

/** kvm_fields_cgroup - whether a record tells that. Return: false if not, or it is too short. */
bool kvm_fields_cgroup(const struct kvm_fields *fields, const struct tep_record *record, int id,
		       struct kvm_cgroup_event *event);

/**
 * kvm_fields_sched - what a record tells of the tasks of its own kernel
 * @event: receives it, of KVM_SWITCH, KVM_WAKING, KVM_WAKEUP, KVM_BORN or KVM_MIGRATE
 *
 * Return: false for a record that tells nothing of that, or is too short.
 */
bool kvm_fields_sched(const struct kvm_fields *fields, const struct tep_record *record, int id,
		      int cpu, int32_t pid, int64_t time_ns, struct kvm_event *event);

/** Of a handler's name, with its end. */
#define KVM_HANDLER_NAME	64

/** A handler begins or ends on the CPU of a record, or has been there. */
struct kvm_handler_event {
	uint8_t		kind;		/* enum virt_handler_kind */
	uint8_t		edge;		/* enum kvm_handler_edge */
	bool		is_timer;	/* a timer's function, which runs within another handler */
	char		name[KVM_HANDLER_NAME];	/* of one that begins: "49 virtio0", "NET_RX" */
};

/**
 * kvm_fields_handler - what a record tells of the handlers of its own kernel
 *
 * Return: false for a record that tells nothing of that.
 */
bool kvm_fields_handler(const struct kvm_fields *fields, const struct tep_record *record, int id,
			struct kvm_handler_event *event);

/** kvm_fields_pid - whose record it is. */
int32_t kvm_fields_pid(const struct kvm_fields *fields, struct tep_record *record);

#ifdef __cplusplus
}
#endif
#endif
