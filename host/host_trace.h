/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_trace.h
 * @brief	The trace of a host, whichever hypervisor wrote it: open it, walk it, get its model.
 *
 * Works on files: nothing here prints, or touches KernelShark.
 */
#ifndef KSHARK_VIRT_HOST_TRACE_H
#define KSHARK_VIRT_HOST_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hz_contradicts.h"
#include "kvm_trace.h"
#include "recording.h"
#include "trace_notes.h"
#include "virt_model.h"
#include "xen_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is missing in the trace of a host whose vCPUs' threads are known by their names. */
#define HOST_KVM_NO_ENTRIES							\
	"%s: has threads of vCPUs (CPU 0/KVM), but neither VM entries nor exits: when a vCPU " \
	"was in its guest is unknown. Record kvm:kvm_entry and kvm:kvm_exit as well: '" \
	RECORD_KVM "'"

/** Called now and then with how much is done. Return: other than 0 to give up. */
typedef int (*host_progress_fn)(void *arg, uint64_t done, uint64_t total);

/** All zero is a good default. */
struct host_options {
	uint64_t	cpu_hz;		/* of the TSC; 0: from the trace and its sidecar */
	bool		absolute_time;	/* Xen: time 0 is TSC 0 instead of the first record */
	bool		correct_skew;	/* Xen: apply xen_skew_correction() */
	bool		has_threads;	/* this process has: kvm_trace_open_by_program() */
	uint64_t	max_input;	/* Xen: struct xentrace_options */
	host_progress_fn progress;	/* while a file is opened; or NULL */
	void		*arg;
};

/**
 * host_options_from_env - set options from the environment, see xen_trace_options_from_env()
 *
 * Return: 0, or -EINVAL with a text in @error.
 */
int host_options_from_env(struct host_options *options, char *error, size_t size);

struct host_kind;

/** An open trace. */
struct host_trace {
	const struct host_kind	*kind;
	char			*path;
	struct xen_trace	*xen;		/* one of these two; the other one is NULL */
	struct kvm_trace	*kvm;
};

/** What goes by while a trace is walked. Any function may be NULL; one that does not return 0 ends
 * the walk with what it returns. */
struct host_walk {
	/** Xen: rows in order of time, some of them at a time. */
	int	(*rows)(void *arg, const struct xen_trace_row *rows, size_t n);
	/** Xen: if set, rows that change no state are counted; called after the other rows. Without
	 * rows() they are skipped in any case. */
	int	(*skipped)(void *arg, const struct xen_trace_skipped *skipped);
	/** KVM: a record, CPU by CPU. */
	int	(*record)(void *arg, const struct kvm_trace_record *record);
	bool	only_counts;	/* KVM: record() only counts, see kvm_trace_count() */
	/** KVM: records of a CPU that are missing. */
	void	(*lost)(void *arg, int cpu, uint64_t records);
	host_progress_fn	progress;
	void	*arg;
	bool	is_brief;	/* few windows will be asked for, see virt_model_brief() */
};

/**
 * host_trace_open - open a trace.dat of KVM, or else a xentrace file
 * @error: on failure, receives a text that names the file
 *
 * Return: 0, to be closed; or -1.
 */
int host_trace_open(struct host_trace *trace, const char *path,
		    const struct host_options *options, char *error, size_t size);

/** host_trace_take_kvm - the same for one that is open, and is closed with it. */
int host_trace_take_kvm(struct host_trace *trace, struct kvm_trace *kvm, char *error, size_t size);

/**
 * host_contradicts_hz - does a KVM host's trace know another frequency of its TSC than @cpu_hz?
 * @cpu_hz: 0: nothing is claimed
 * @error: receives a text that names the file
 */
bool host_contradicts_hz(const struct kvm_trace *trace, uint64_t cpu_hz, char *error, size_t size);

/** host_trace_close - close a trace; one that is all zero is closed already. */
void host_trace_close(struct host_trace *trace);

/** host_trace_walk - let all records go by. Return: 0, -ENOMEM, or what ended the walk. */
int host_trace_walk(struct host_trace *trace, const struct host_walk *walk);

/** host_trace_problem - why a walk or a model has failed, in words. */
const char *host_trace_problem(int ret);

/**
 * host_trace_model - the same, and make the model
 * @walk: may be NULL
 * @model: receives the model, to be given to virt_model_free()
 *
 * Return: 0, -ENOMEM, -ENODATA (no record), -E2BIG (more than VIRT_MAX_MACHINES machines, or
 * VIRT_MAX_VCPUS vCPUs, or as many exit reasons), or what ended the walk.
 */
int host_trace_model(struct host_trace *trace, const struct host_walk *walk,
		     struct virt_model **model);

/** host_trace_hypervisor - "xen" or "kvm". */
const char *host_trace_hypervisor(const struct host_trace *trace);

/**
 * host_trace_notes - what a user must know about the file, and about the model made of it
 * @model: of the trace
 * @max_lines: damaged places to list at most
 * @notes: receives more; without memory, trace_notes.incomplete is set
 */
void host_trace_notes(const struct host_trace *trace, const struct virt_model *model,
		      int max_lines, struct trace_notes *notes);

/** host_trace_tsc_ns - from a raw time stamp to the trace's time axis. */
int64_t host_trace_tsc_ns(const struct host_trace *trace, uint64_t tsc);

/** The wall clock of the host, at one moment of the recording. */
struct host_moment {
	int64_t		trace_ns;	/* on the axis of the trace */
	int64_t		realtime_ns;	/* since 1970 in UTC */
	int64_t		within_ns;	/* the error of the wall clock; -1: not known */
};

/** host_trace_moment - from the sidecar of a trace. Return: false if it is unknown. */
bool host_trace_moment(const struct host_trace *trace, struct host_moment *moment);

/**
 * host_trace_realtime - when time 0 of the trace was, from its sidecar
 * @ns: receives it, since 1970 in UTC; negative where the axis begins before that
 *
 * Return: false if it is unknown, or does not fit.
 */
bool host_trace_realtime(const struct host_trace *trace, int64_t *ns);

/** host_trace_n_pcpus - CPUs of the machine that was traced, from the file. */
int host_trace_n_pcpus(const struct host_trace *trace);

/**
 * host_trace_changed - has the file changed while it was read, so that part of it was not?
 * @text: receives a sentence that says so
 */
bool host_trace_changed(const struct host_trace *trace, char *text, size_t size);

/** host_xen_changed - the same for a xentrace file that was opened as such. */
bool host_xen_changed(const struct xen_trace *trace, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
