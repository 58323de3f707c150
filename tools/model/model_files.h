/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	model_files.h
 * @brief	The traces of a command line; some of them may belong to guests of others.
 */
#ifndef KSHARK_VIRT_MODEL_FILES_H
#define KSHARK_VIRT_MODEL_FILES_H

#include "trace_args.h"

struct kvm_trace;
struct model_inner;
struct model_load;

/**
 * All zero but @args, @cpu_hz, @quiet and @takes_any; to be given to model_files_close() in any
 * case.
 */
struct model_files {
	const struct trace_args	*args;
	uint64_t		cpu_hz;		/* of the TSC; 0: from sidecars */
	bool			quiet;		/* no notes */
	bool			takes_any;	/* also traces of kernels that are no hosts */
	/* the result, in the order of @args */
	char			**paths;	/* of these; NULL: of no use */
	int			n;
	struct kvm_trace	**traces;	/* of KVM, or NULL */
	struct kvm_trace	**guests;	/* of model_files_guests() */
	struct model_inner	*inner;		/* of model_files_inner() */
	struct trace_notes	notes;		/* those of @args, and what was found */
	struct trace_notes	said;		/* notes of loads that model_notes() has printed */
	int			*hosts;		/* the host of each guest; -1: none */
};

/**
 * model_files_open - open what is of KVM, apply what is kept of alignments, find whose guests are
 *
 * What is of no use is said, and left out.
 *
 * Return: KSV_EXIT_OK, or the worst exit status after messages; @traces is NULL if there is no
 * memory, or if two traces are of the same guest's CPUs.
 */
int model_files_open(struct model_files *files);

/** model_files_is_host - does the command report on this trace, is it not only a guest's own? */
bool model_files_is_host(const struct model_files *files, int i);

/**
 * model_files_only_host - the one host of a command that takes no more; a guest that is the host of
 * others is only a guest
 * @host: receives which one it is
 *
 * Return: KSV_EXIT_OK, or the exit status, after a message that says why there is none.
 */
int model_files_only_host(const struct model_files *files, const struct ksv_command *command,
			  int *host);

/**
 * model_files_guests - the guests of a host
 * @n: receives how many
 *
 * Return: they stay those of @files, and are there until the next call.
 */
struct kvm_trace **model_files_guests(const struct model_files *files, int host, int *n);

/**
 * model_files_inner - the guests of guests of a host
 * @n: receives how many
 *
 * Return: as model_files_guests(), whose numbers they have.
 */
const struct model_inner *model_files_inner(const struct model_files *files, int host, int *n);

/**
 * model_files_take - the trace of a host, which is the caller's from then on
 *
 * Return: NULL if it is to be opened anew: of Xen, or it is a guest as well and still needed.
 */
struct kvm_trace *model_files_take(struct model_files *files, int host);

/**
 * model_files_load - all that model_load() needs of a host and its guests
 * @load: its paths and traces are set; that of the host is closed with it, the others stay those of
 * @files
 */
void model_files_load(struct model_files *files, int host, struct model_load *load);

/**
 * model_files_leave_out - a guest's trace turns out to be of no use while its host is loaded
 * @guest: index in @load, whose other guests stay in their order
 * @why: as part of a sentence
 *
 * Return: false, and nothing is done, if it was given by itself; else @load has a note about it.
 */
bool model_files_leave_out(struct model_files *files, int guest, const char *why,
			   struct model_load *load);

void model_files_close(struct model_files *files);

#endif
