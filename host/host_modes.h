/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_modes.h
 * @brief	Find what tasks of a host spend their time on pCPUs on, in the host's own trace.
 *
 * Each moment of a task on a pCPU has one mode. Handlers that interrupt the task come first, then
 * the guest that it executes, then its system call. A system call is known from its beginning to
 * its end; before the first of these records that a task has, the record shows what was before. A
 * thread of the kernel makes none, so its mode stays unknown.
 *
 * While records of a pCPU are lost, a system call may have begun or ended without a record. So the
 * system calls of all tasks are unknown from then on, until their next record.
 */
#ifndef KSHARK_VIRT_HOST_MODES_H
#define KSHARK_VIRT_HOST_MODES_H

#include "key_map.h"
#include "kvm_trace.h"
#include "virt_guest.h"
#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a pCPU does. X(NAME, mode) */
#define HOST_MODES(X)									\
	X(GUEST, "guest")		/* a vCPU executes its guest */			\
	X(USER, "user")									\
	X(SYSCALL, "syscall")								\
	X(INTERRUPT, "interrupt")	/* handlers of interrupts and NMIs */		\
	X(SOFTIRQ, "softirq")								\
	X(IDLE, "idle")			/* of the idle task alone */

enum host_mode {
#define HOST_MODE_ENUM(name, mode)	HOST_MODE_##name,
	HOST_MODES(HOST_MODE_ENUM)
#undef HOST_MODE_ENUM
	HOST_MODE_UNKNOWN,
	HOST_N_MODES
};

/** All zero is none. */
struct host_modes {
	struct kvm_trace *trace;
	struct host_mode_event *all;
	size_t		n, room;
	struct key_map	kind_map;	/* of events, by their numbers */
	struct host_mode_kind *kinds;
	uint32_t	room_kinds;
	struct key_map	call_map;	/* of system calls, by their names */
	struct host_mode_call {
		char	*name;
	} *calls;
	uint32_t	room_calls;
	bool		is_x86;
	/* of records: beginnings and ends of all system calls, of some, of handlers */
	bool		raw_begins, raw_ends, named_begins, named_ends;
	bool		irq_begins, irq_ends, vector_begins, vector_ends;
	bool		softirq_begins, softirq_ends;
	bool		user_faults, kernel_faults;	/* of records of page faults */
	/* after host_modes_end(): the records show when each of these begins and when it ends; all
	 * page faults */
	bool		has_calls, has_interrupts, has_softirqs, has_faults;
};

/** host_modes_is_x86 - do its events, or the name of its system, show that it is of x86? */
bool host_modes_is_x86(const struct kvm_trace *trace);

/** host_modes_init - begin; host_modes_free() must follow */
void host_modes_init(struct host_modes *modes, struct kvm_trace *trace);
void host_modes_free(struct host_modes *modes);

/**
 * host_modes_take - the next record, CPU by CPU
 * @time_ns: when it was, on the axis of the model
 *
 * Return: 0 or -ENOMEM.
 */
int host_modes_take(struct host_modes *modes, const struct kvm_trace_record *record,
		    int64_t time_ns);

/**
 * host_modes_end - all records were taken
 * @lives: with the runs of the same records
 *
 * Return: 0 or -ENOMEM.
 */
int host_modes_end(struct host_modes *modes, const struct virt_guest *lives);

/**
 * host_modes_call - the system call that a record begins or ends
 *
 * Return: its number for host_call_name(); VIRT_NONE: it is none, or unknown; or -ENOMEM.
 */
int32_t host_modes_call(struct host_modes *modes, const struct kvm_trace_record *record);

/** A task in a window. */
struct host_mode_sum {
	int32_t		pid;
	int64_t		ns[HOST_N_MODES];
	uint64_t	faults;		/* page faults */
};

/** A system call of a task in a window. */
struct host_call_sum {
	int32_t		pid;
	int32_t		call;		/* index of struct host_modes' @calls; VIRT_NONE: the trace
					 * does not show which one */
	uint64_t	count;		/* that begin in the window */
	int64_t		ns;		/* on pCPUs */
};

/** All zero is none. */
struct host_mode_sums {
	struct key_map	map;		/* pid */
	struct host_mode_sum *all;
	uint32_t	room;
	struct key_map	call_map;
	struct host_call_sum *calls;	/* most time first */
	uint32_t	room_calls;
};

/**
 * host_mode_sums_make - add up [from, to)
 * @sums: to be given to host_mode_sums_free() in any case
 *
 * Return: 0 or -ENOMEM.
 */
int host_mode_sums_make(struct host_mode_sums *sums, const struct host_modes *modes,
			const struct virt_model *model, int64_t from_ns, int64_t to_ns);
void host_mode_sums_free(struct host_mode_sums *sums);

/** host_mode_sum_of - the sum of a task; NULL: it had no pCPU */
const struct host_mode_sum *host_mode_sum_of(const struct host_mode_sums *sums, int32_t pid);

/** host_call_name - the name of a system call; "unknown" for VIRT_NONE */
const char *host_call_name(const struct host_modes *modes, int32_t call);

#ifdef __cplusplus
}
#endif
#endif
