/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_trace.h
 * @brief	The trace.dat of a KVM host and those of its guests, without KernelShark.
 *
 * libtracecmd reads the files and brings the guests' times to the host's, if trace-cmd recorded
 * how. It prints on its own what it does not like about a file.
 */
#ifndef KSHARK_VIRT_KVM_TRACE_H
#define KSHARK_VIRT_KVM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock_steps.h"
#include "hyper_event.h"
#include "kvm_item.h"
#include "kvm_line.h"
#include "kvm_meta.h"
#include "trace_dat.h"
#include "trace_notes.h"
#include "virt_delivery.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A record, as far as it is counted. */
struct kvm_trace_record {
	int64_t		time_ns;
	uint64_t	offset;		/* in the file, or in its unpacked copy */
	int32_t		pid;		/* thread that was on the CPU */
	int32_t		vcpu_pid;	/* kvm_meta_first() of that: struct virt_vcpu's host_pid */
	int32_t		next_pid;	/* sched_switch: who comes next; else VIRT_NONE */
	uint32_t	bytes;
	uint32_t	records;	/* 1; or more, see kvm_trace_count() */
	int16_t		cpu;		/* below kvm_trace_n_cpus() */
	int16_t		class;		/* kvm_trace_class() */
	uint8_t		injection;		/* enum kvm_trace_injection, and its number */
	uint8_t		injection_flags;	/* enum kvm_trace_injection_flags */
	uint64_t	number, before;
	int32_t		event;		/* kvm_trace_event() */
	int16_t		vector;		/* of an interrupt's handler, in its entry; or
					 * VIRT_NONE */
	uint16_t	flags;		/* enum virt_guest_flags; of missing records, nothing */
	int32_t		device;		/* whose interrupt is handled from here on, see
					 * kvm_trace_device(); or VIRT_NONE */
	const struct hyper_call *call;	/* of a hypercall, until the next record; else NULL */
	const struct hyper_event *boot;	/* of initcall:*, as well; else NULL */
	const struct kvm_event *sched;	/* kvm_fields_sched(), as well; else NULL */
	const struct kvm_handler_event *handler; /* kvm_fields_handler(), as well; else NULL */
	const struct kvm_cgroup_event *cgroup;	/* kvm_fields_cgroup(), as well; else NULL */
};

struct kvm_trace;

/**
 * kvm_trace_open - open a file that trace_dat_check() accepts, in this process
 *
 * For tests: a file on which libtracecmd crashes ends this process.
 *
 * Return: NULL, with the file's name and what helps in @error.
 */
struct kvm_trace *kvm_trace_open(const char *path, char *error, size_t size);

/**
 * kvm_trace_open_apart - the same; a process of its own reads the file
 *
 * Only for programs with a single thread. A file on which libtracecmd crashes, or comes to no end,
 * is an error, here or in a walk. The trace is the file that has this name now, also if another
 * one gets it later: held_file_hold().
 */
struct kvm_trace *kvm_trace_open_apart(const char *path, char *error, size_t size);

/**
 * kvm_trace_open_by_program - the same, for programs with threads: another program reads the file
 *
 * A later trace of the same name is that of the file that has the name then.
 */
struct kvm_trace *kvm_trace_open_by_program(const char *path, char *error, size_t size);

/** kvm_trace_problem - the reason for a negative result of a walk, as part of a sentence */
const char *kvm_trace_problem(int ret);

/** kvm_trace_close - close a trace, which may be NULL. */
void kvm_trace_close(struct kvm_trace *trace);

/**
 * kvm_trace_unit - what time stamps are, as far as the file shows
 *
 * TRACE_DAT_EITHER until kvm_trace_align() finds more; such times are taken for ns.
 */
enum trace_dat_unit kvm_trace_unit(const struct kvm_trace *trace);

/**
 * kvm_trace_set_hz - from now on, cycles are those of a clock of @hz; 0: they are taken for ns
 *
 * Times that are ns stay as they are.
 */
void kvm_trace_set_hz(struct kvm_trace *trace, uint64_t hz);

/** kvm_trace_hz - of cycles; 0: they are taken for ns. */
uint64_t kvm_trace_hz(const struct kvm_trace *trace);

/** kvm_trace_meta - the sidecar of a host's trace; NULL: none. */
const struct kvm_meta *kvm_trace_meta(const struct kvm_trace *trace);

/** kvm_trace_lend_meta - another sidecar counts; the caller keeps it until the trace is closed. */
void kvm_trace_lend_meta(struct kvm_trace *trace, struct kvm_meta *meta);

/** kvm_trace_meta_error - why the sidecar of a host's trace is not used; NULL: it is, if there. */
const char *kvm_trace_meta_error(const struct kvm_trace *trace);

/**
 * kvm_trace_hide_offsets - do not bring a guest's times to its host's as trace-cmd recorded it
 *
 * Return: false if this libtracecmd cannot do without.
 */
bool kvm_trace_hide_offsets(struct kvm_trace *trace);

/**
 * kvm_trace_set_steps - from now on, this is added to the times, before all else
 * @steps: sorted; are copied
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_trace_set_steps(struct kvm_trace *trace, const struct virt_clock_step *steps, size_t n);

/** kvm_trace_jumps - do trace-cmd's offsets that its times have jump, as no clock does? */
bool kvm_trace_jumps(const struct kvm_trace *trace);

/** How the times of a guest's trace become its host's, and which threads its CPUs are. */
struct kvm_trace_alignment {
	bool		hide_offsets;	/* instead of trace-cmd's offsets, not after them */
	bool		cycles;		/* the unit: as both files count; else ns */
	int64_t		offset;		/* before kvm_trace_set_hz() */
	double		drift_ppm;	/* clock_align.h */
	const char	*host;		/* name of the host's file, without its directory */
	const int	*tids;		/* by CPU; VIRT_NONE: not known */
	int		n_tids;
	const struct virt_clock_step *steps; /* before all else: kvm_trace_set_steps() */
	size_t		n_steps;
};

/**
 * kvm_trace_align - from now on, times are those of the host
 *
 * The threads count for a host of that name of which trace-cmd has not recorded them.
 *
 * Return: 0, -ENOMEM, or -ENOTSUP if this libtracecmd cannot do without trace-cmd's offsets.
 */
int kvm_trace_align(struct kvm_trace *trace, const struct kvm_trace_alignment *alignment);

/** kvm_trace_is_aligned - has kvm_trace_align() set how? */
bool kvm_trace_is_aligned(const struct kvm_trace *trace);

/**
 * kvm_trace_clock_time - from a time of the trace's own clock, in ns, to the axis of its host
 * @ns: receives it
 *
 * Return: false if that is not known: the trace is not aligned, or its clock was set in between.
 */
bool kvm_trace_clock_time(const struct kvm_trace *trace, int64_t time, int64_t *ns);

/**
 * kvm_trace_own_time - from a time on the axis of its host, in ns, to the trace's own clock
 * @time: receives the first one that is there or later; the same time if the trace has that axis
 *        without kvm_trace_align()
 *
 * Return: false as kvm_trace_clock_time() if the trace is aligned, or if trace-cmd's offsets are
 * left out for that.
 */
bool kvm_trace_own_time(const struct kvm_trace *trace, int64_t ns, int64_t *time);

/**
 * kvm_trace_walk_begin - get ready for times of a CPU, as the file has them
 * @walk: for kvm_trace_walk_time()
 */
void kvm_trace_walk_begin(const struct kvm_trace *trace, int32_t cpu,
			  struct virt_clock_walk *walk);

/** kvm_trace_walk_time - the time of a record as a walk has it. @ts: as in the file, in order */
int64_t kvm_trace_walk_time(const struct kvm_trace *trace, uint64_t ts,
			    struct virt_clock_walk *walk);

/**
 * kvm_trace_function - the function of the traced kernel whose beginning is at an address
 * @address: of its entry, or of ftrace's place in that: KVM_FUNCTION_ENTRY
 *
 * Return: its name by the kallsyms in the file, which belongs to @trace; NULL if there is none, or
 * if these are not read: kvm_trace_use_symbols() before it is opened, or by program.
 */
const char *kvm_trace_function(const struct kvm_trace *trace, uint64_t address);

/** kvm_trace_path - as it was given. */
const char *kvm_trace_path(const struct kvm_trace *trace);

/** kvm_trace_clock - its clock's name in trace_clock, "local", "perf" ...; "": unknown */
const char *kvm_trace_clock(const struct kvm_trace *trace);

/** kvm_trace_is_host - does it know VM entries and exits? */
bool kvm_trace_is_host(const struct kvm_trace *trace);

/** What to say about kvm_trace_stranger(). */
#define KVM_TRACE_STRANGER \
	"KVM of %s is not understood, only that of x86, arm64, RISC-V, LoongArch, s390 and " \
	"POWER9 on"

/** kvm_trace_stranger - architecture of KVM's events that are not understood; or NULL */
const char *kvm_trace_stranger(const struct kvm_trace *trace);

/** kvm_trace_has_vcpus - does it know a thread that is called as QEMU calls those of vCPUs? */
bool kvm_trace_has_vcpus(const struct kvm_trace *trace);

/**
 * kvm_trace_guest_tids - which threads of a host are the CPUs of a guest, as trace-cmd recorded it
 * @n: receives how many CPUs the guest has
 *
 * Return: the thread of each CPU, which belong to @host; NULL if it does not know the guest.
 */
const int *kvm_trace_guest_tids(const struct kvm_trace *host, const struct kvm_trace *guest,
				int *n);

/**
 * kvm_trace_aligned_tids - which threads of a host are the CPUs, as kvm_trace_align() set them
 * @host: path of the host's file, which may be one of Xen
 * @n: receives how many CPUs
 *
 * Return: the thread of each CPU, which belong to @guest; NULL if it is not aligned with this host.
 */
const int *kvm_trace_aligned_tids(const struct kvm_trace *guest, const char *host, int *n);

/**
 * kvm_trace_notes - what a user must know about the file, of a host or a guest
 * @notes: receives more; without memory, trace_notes.incomplete is set
 *
 * After a walk, damage is among it.
 */
void kvm_trace_notes(const struct kvm_trace *trace, struct trace_notes *notes);

/** kvm_trace_damaged_cpu - the last CPU of which a walk had to leave records out; -1: none. */
int kvm_trace_damaged_cpu(const struct kvm_trace *trace);

/** kvm_trace_n_cpus - number of CPUs. */
int kvm_trace_n_cpus(const struct kvm_trace *trace);

/** kvm_trace_class - name of a class of events, "kvm", "sched" ...; NULL if there are no more. */
const char *kvm_trace_class(const struct kvm_trace *trace, int class);

/** kvm_trace_event - name of an event by its number; or NULL. */
const char *kvm_trace_event(const struct kvm_trace *trace, int32_t event);

/** kvm_trace_device - name of a device whose interrupts were handled; or NULL. */
const char *kvm_trace_device(const struct kvm_trace *trace, int32_t device);

/** kvm_trace_task - the name of a thread, or NULL. */
const char *kvm_trace_task(const struct kvm_trace *trace, int32_t pid);

/** Receives the CPU whose records are read, and the number of CPUs. Not 0: ends the walk. */
typedef int (*kvm_trace_progress_fn)(void *arg, uint64_t cpu, uint64_t n_cpus);

/** kvm_trace_watch - let walks call @progress after each @n records; NULL: no more. */
void kvm_trace_watch(struct kvm_trace *trace, uint64_t n, kvm_trace_progress_fn progress,
		     void *arg);

/** kvm_trace_brief - whether kvm_trace_model() makes models as virt_model_brief() does */
void kvm_trace_brief(struct kvm_trace *trace, bool is_brief);

/**
 * kvm_trace_count - say what the following walks that feed a tracker are for
 * @only_counts: @take counts records of any time, by CPU, thread and event. It gets several of them
 *	as one, with their bytes, unless they have injections, hypercalls, devices, cgroups or boots
 */
void kvm_trace_count(struct kvm_trace *trace, bool only_counts);

/**
 * kvm_trace_walk - go through all records, CPU by CPU
 * @take: NULL: the walk reads only those parts of records that a model needs
 * @lost: called for records that are missing before the next one; may be NULL
 *
 * Return: 0, -ENOMEM, what @take returned other than 0, or if another process reads also
 * -EBADMSG or -ETIMEDOUT: kvm_trace_problem().
 */
int kvm_trace_walk(struct kvm_trace *trace,
		   int (*take)(void *arg, const struct kvm_trace_record *record),
		   void (*lost)(void *arg, int cpu, uint64_t records), void *arg);

/**
 * kvm_trace_try - the same, as KernelShark does it: libtracecmd reads all records
 *
 * Return: as kvm_trace_walk(); -ETIMEDOUT also if libtracecmd would come to no end.
 */
int kvm_trace_try(struct kvm_trace *trace,
		  int (*take)(void *arg, const struct kvm_trace_record *record), void *arg);

/** A record as text. */
struct kvm_trace_line {
	int64_t		time_ns;
	uint64_t	missing;	/* records lost before it, if @has_lost; 0: unknown */
	int32_t		pid;		/* thread that was on the CPU */
	int32_t		vcpu_pid;	/* as in struct kvm_trace_record */
	int32_t		next_pid;	/* sched_switch: who comes next; else VIRT_NONE */
	int32_t		event;		/* kvm_trace_event() */
	int16_t		cpu;
	bool		has_lost;
	bool		is_own;		/* no record of the file: kshark-virt added it when it
					 * converted the trace of another tool */
	const char	*info;		/* the fields as the event's format prints them; or "" */
	struct kvm_line	line;		/* for kvm_line_field() */
};

/** @system: "kvm", "sched" ... */
typedef bool (*kvm_trace_wants_fn)(void *arg, int32_t event, const char *system,
				   const char *name);

/** Which records of a trace are wanted as text. */
struct kvm_trace_lines {
	int64_t		from_ns;	/* earlier ones have no texts; INT64_MIN: all */
	bool		fields;		/* also each field by itself */
	bool		no_info;	/* only that */
	kvm_trace_wants_fn wants;	/* are texts of an event wanted? NULL: of each event */
	void		*arg;
};

/**
 * kvm_trace_begin_lines - begin to take the records one by one, in order of time
 *
 * Only for a trace that another process reads. Until kvm_trace_end_lines(), it can neither be
 * walked nor asked for names of threads whose records were not taken yet.
 *
 * Return: 0, -ENOMEM, -ENOTSUP for another trace, or as kvm_trace_walk().
 */
int kvm_trace_begin_lines(struct kvm_trace *trace, const struct kvm_trace_lines *lines);

/**
 * kvm_trace_next_line - the next record; of the same time, those of the lower CPU first
 * @line: valid until the next call
 *
 * Return: 1; 0: there are no more; or as kvm_trace_walk(), which ends it.
 */
int kvm_trace_next_line(struct kvm_trace *trace, struct kvm_trace_line *line);

/** kvm_trace_end_lines - end it; it may be over already. */
void kvm_trace_end_lines(struct kvm_trace *trace);

/** kvm_trace_has_event - does it know an event that is wanted? */
bool kvm_trace_has_event(const struct kvm_trace *trace, kvm_trace_wants_fn wants, void *arg);

/** kvm_trace_has_enabled - do the formats show that an event was recorded, should it happen? */
bool kvm_trace_has_enabled(const struct kvm_trace *trace, const char *system, const char *name);

/** kvm_trace_system - "kvm", "sched" ..., the system of an event; or NULL. */
const char *kvm_trace_system(const struct kvm_trace *trace, int32_t event);

/**
 * kvm_trace_track - walk, and give all records to a tracker, with the contents of the sidecar
 * @take, @lost: as kvm_trace_walk(), for counting; may be NULL
 * @begin_ns, @end_ns: receive the span of the records
 *
 * Return: 0, -ENOMEM, -ENODATA without any record, or what @take returned.
 */
int kvm_trace_track(struct kvm_trace *trace, struct kvm_tracker *tracker,
		    int (*take)(void *arg, const struct kvm_trace_record *record),
		    void (*lost)(void *arg, int cpu, uint64_t records), void *arg,
		    int64_t *begin_ns, int64_t *end_ns);

/**
 * kvm_trace_model - walk and build the model of a host
 * @take, @lost: as kvm_trace_walk(), for counting; may be NULL
 *
 * Return: 0, -ENOMEM, -ENODATA without any record, or what @take returned.
 */
int kvm_trace_model(struct kvm_trace *trace,
		    int (*take)(void *arg, const struct kvm_trace_record *record),
		    void (*lost)(void *arg, int cpu, uint64_t records), void *arg,
		    struct virt_model **model);

#ifdef __cplusplus
}
#endif
#endif
