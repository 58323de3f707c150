/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	model_load.h
 * @brief	Open a trace and build its vCPU model, with messages and progress for people.
 *
 * The commands report, compare, check, plot and align begin with this step.
 */
#ifndef KSHARK_VIRT_MODEL_LOAD_H
#define KSHARK_VIRT_MODEL_LOAD_H

#include "guest_clock.h"
#include "guest_tasks.h"
#include "host_trace.h"
#include "options.h"

/** A guest of a guest. */
struct model_inner {
	struct kvm_trace	*trace;
	int			guest;		/* of which, in struct model_load */
};

/** Called for the rows in order, a block at a time, while the model is being built. */
typedef void (*model_rows_fn)(void *arg, const struct xen_trace_row *rows, size_t n);

/**
 * model_parse - ksv_parse() of a command that reads traces
 * @trace: in @options; what the environment sets comes first
 *
 * Return: as ksv_parse().
 */
int model_parse(const struct ksv_command *command, int argc, char **argv, void *options,
		struct host_options *trace, int *first);

struct model_files;

struct model_load {
	/* to be set before */
	const char		*path;
	struct kvm_trace	*kvm;		/* if it is open already; it is closed in the end */
	struct kvm_trace	**guests;	/* KVM: open traces of guests; may be NULL */
	int			n_guests;
	const struct model_inner *inner;	/* of model_files_inner(); may be NULL */
	int			n_inner;
	struct host_options	options;
	bool			quiet;		/* no progress */
	bool			shows_lacks;	/* what was not recorded is in the output itself */
	const struct ksv_command *command;	/* whose option --vcpu ... */
	const struct ksv_vcpu_set *vcpus;	/* ... names only vCPUs of the trace; may be NULL */
	struct model_files	*files;		/* that guests come from, some of which may be
						   left out then; or NULL: none may */
	const struct kvm_trace	*as_guest;	/* the same file, as that of a guest of another host
						   of the command, whose times count; or NULL */
	const struct trace_notes *before;	/* found while the files were opened; may be NULL */
	/** Before the walk; may be NULL. Return: 0, or the exit status after a message. */
	int			(*opened)(void *arg);
	/** What goes by during the walk, of Xen and of KVM, here CPU by CPU; may be NULL. */
	model_rows_fn		rows;
	int			(*skipped)(void *arg, const struct xen_trace_skipped *skipped);
						/* as in struct host_walk */
	void			(*records)(void *arg, const struct kvm_trace_record *record);
	bool			only_counts;	/* as in struct host_walk */
	bool			is_brief;	/* the same */
	void			*arg;
	/* the result */
	struct host_trace	host;
	struct virt_model	*model;
	struct guest_clock	*clocks;	/* of @guests, in their order */
	int64_t			begin_ns, end_ns; /* of model_find_ends() */
	struct trace_notes	notes;		/* about the trace and its guests */
};

/** model_load - open, walk, finish. Return: KSV_EXIT_OK, or the exit status after a message. */
int model_load(struct model_load *load);

/**
 * model_nest - put tasks of guests of a guest in their place, see guest_tasks_nest()
 * @guest: index
 *
 * Return: 0 or -ENOMEM.
 */
int model_nest(const struct model_load *load, int guest, struct guest_tasks *tasks);

/** model_unload - free the result, also of a model_load() that failed. */
void model_unload(struct model_load *load);

/**
 * model_notes - print all notes of the load that were not printed yet to stderr
 *
 * A guest that is a host itself has two loads, with the same notes about its file: they are
 * printed once.
 */
void model_notes(struct model_load *load);

/**
 * model_changed - has the file changed while it was read? Then say so
 * @status: exit status so far
 *
 * Return: @status, or KSV_EXIT_FILE.
 */
int model_changed(const struct model_load *load, int status);

/** model_xen_changed - the same for a xentrace file without a model. */
int model_xen_changed(const struct xen_trace *trace, int status);

/**
 * model_find_ends - for model_time() of relative times before there is a model: another walk
 *
 * Return: KSV_EXIT_OK, or the exit status after a message.
 */
int model_find_ends(struct model_load *load);

/**
 * model_time - a point of a command line on the trace's time axis; @none if not given
 *
 * An absolute time is one of @as_guest's host, if kvm_trace_own_time() knows which one that is.
 * Relative times need the model, or model_find_ends().
 */
int64_t model_time(const struct model_load *load, const struct ksv_time *time, int64_t none);

/**
 * model_cut_window - cut a window to the trace
 *
 * Return: KSV_EXIT_OK, or the exit status after a message: it lies outside.
 */
int model_cut_window(const struct model_load *load, const struct ksv_command *command,
		     int64_t *from_ns, int64_t *to_ns);

/** model_window - the window of --from and --to, cut to the trace. Return: as above. */
int model_window(const struct model_load *load, const struct ksv_command *command,
		 const struct ksv_time *from, const struct ksv_time *to, int64_t *from_ns,
		 int64_t *to_ns);

/**
 * model_try_kvm - open a trace.dat
 * @cpu_hz: as of model_open_kvm()
 * @error: receives what is wrong with it, without a newline
 *
 * Return: NULL with such a text.
 */
struct kvm_trace *model_try_kvm(const char *path, uint64_t cpu_hz, char *error, size_t size);

/**
 * model_open_kvm - open a trace.dat, or say what is wrong with it
 * @cpu_hz: of the TSC, for a trace whose times are its cycles; 0: from its sidecar
 *
 * Return: NULL after a message.
 */
struct kvm_trace *model_open_kvm(const char *path, uint64_t cpu_hz);

#endif
