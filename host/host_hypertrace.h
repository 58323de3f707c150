/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_hypertrace.h
 * @brief	Reports of a host's guests through hypercalls, machine by machine.
 *
 * The first step finds the dialect of each machine. The second step makes the guest itself, on the
 * host's time. The tools and the plugins share this code. host_hypercalls.h provides the calls.
 */
#ifndef KSHARK_VIRT_HOST_HYPERTRACE_H
#define KSHARK_VIRT_HOST_HYPERTRACE_H

#include "host_hypercalls.h"
#include "hyper_decoder.h"
#include "hyper_detect.h"
#include "hyper_guest.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Numbers that are listed one by one. */
#define HOST_HYPERTRACE_NUMBERS	64

/** Calls of one number that have become no events. */
struct host_hypertrace_number {
	uint64_t	nr, count;	/* of our own dialect: without the sequence number */
	enum hyper_result result;
	bool		wire;		/* it is of that */
};

/** A machine that makes hypercalls. */
struct host_hypertrace_machine {
	int32_t		machine;	/* index in the model */
	const struct hyper_dialect *dialect; /* NULL: none is known */
	char		*why;		/* a sentence about the choice; NULL if it makes no calls */
	struct hyper_tally tally;
	/* what host_hypertrace_guests() adds, of the window alone but the guest */
	struct hyper_guest *guest;	/* NULL without a dialect; CPUs: the machine's vCPUs */
	uint64_t	results[HYPER_N_RESULTS]; /* calls */
	uint64_t	events;
	uint64_t	outside;	/* calls while the vCPU was not out of its guest */
	uint64_t	vague;		/* calls whose time is that of a record before them */
	struct host_hypertrace_number *numbers; /* at most HOST_HYPERTRACE_NUMBERS */
	size_t		n_numbers, room;
	uint64_t	more_numbers;	/* calls of others */
};

struct host_hypertrace {
	const struct virt_model	*model;
	const struct host_hypercalls *calls;
	struct hyper_dialect	*own;		/* from a file, or NULL */
	struct host_hypertrace_machine *machines; /* by the model's index; with calls or without */
	int32_t			n_machines;
	size_t			strays;		/* calls of threads that are no vCPUs */
};

/**
 * host_hypertrace_new - find out which dialects the machines of a trace speak
 * @calls: sorted; stays, as the model does. Receives is_users of each call: KVM records calls
 *	of programs before it refuses them. 64-bit kernels have the upper half of the addresses,
 *	and programs the lower half (Linux, Documentation/arch/x86/x86_64/mm.rst). So a call from
 *	there is a program's, once the machine has made one from the upper half: a kernel that
 *	begins is in the lower half, and so is one of 32 bits.
 * @dialect: the name of a published one, or a file (what has a '.' or '/' in it), for all of
 *	them; NULL: by their calls
 * @error: on failure, receives a text
 *
 * Return: to be given to host_hypertrace_free(); NULL on failure.
 */
struct host_hypertrace *host_hypertrace_new(const struct virt_model *model,
					    struct host_hypercalls *calls,
					    const char *dialect, char *error, size_t size);
void host_hypertrace_free(struct host_hypertrace *trace);

/**
 * host_hypertrace_guests - decode all calls, and make a guest of the events of each machine
 * @from_ns, @to_ns: only calls within [from, to) are counted
 *
 * Records that the host has lost are losses of the vCPUs that they may be about.
 *
 * Return: 0 or -ENOMEM.
 */
int host_hypertrace_guests(struct host_hypertrace *trace, int64_t from_ns, int64_t to_ns);

/**
 * What goes by while a guest is made, in order of time but for calls that become no events. Any
 * function may be NULL; one that does not return 0 ends it with what it returns.
 */
struct host_hypertrace_watch {
	/** hyper_guest_take() has taken an event; its time is hyper_guest_now(). */
	int	(*event)(void *arg, int32_t cpu, const struct hyper_event *event);
	/** A call that has become none, or not all of it has. */
	int	(*call)(void *arg, int32_t cpu, const struct hyper_call *call,
			const struct hyper_decoded *decoded);
	/** hyper_guest_lost() got the same. */
	int	(*lost)(void *arg, int32_t cpu, bool begins);
	void	*arg;
};

/**
 * host_hypertrace_guest - the same of one machine, and of all of the trace
 * @machine: with a dialect
 *
 * Return: 0, -ENOMEM, or what ended it.
 */
int host_hypertrace_guest(struct host_hypertrace *trace, int32_t machine,
			  const struct host_hypertrace_watch *watch);

/** The boot of a machine, from its own trace. */
struct host_boot {
	int32_t		machine;	/* index in the model; VIRT_NONE: of none */
	struct hyper_guest *guest;	/* NULL: the trace shows no boot */
};

/**
 * host_hypertrace_boot - levels and initcalls from the trace of a guest itself (initcall:*)
 * @host: with which it is aligned
 * @boot: receives it; the guest is to be given to hyper_guest_free()
 *
 * Return: 0 or -ENOMEM.
 */
int host_hypertrace_boot(const struct host_trace *host, const struct virt_model *model,
			 struct kvm_trace *trace, struct host_boot *boot);

/** The trace of a guest, on an axis of the caller's. */
struct host_boot_source {
	struct kvm_trace	*trace;
	/** From its times to that axis; NULL: they are the same. */
	int64_t			(*time)(void *arg, int64_t time);
	/** Asked for each record whether to give up; or NULL. */
	bool			(*stop)(void *arg);
	void			*arg;
};

/**
 * host_hypertrace_boot_alone - the same without a host
 * @guest: receives it, with the trace's own CPUs; NULL: the trace has nothing of a boot. To be
 *	given to hyper_guest_free()
 *
 * Return: 0, -ENOMEM or -ECANCELED.
 */
int host_hypertrace_boot_alone(const struct host_boot_source *source, struct hyper_guest **guest);

/**
 * host_hypertrace_vcpu - the vCPU that a CPU of a guest is
 *
 * Return: its global index.
 */
int32_t host_hypertrace_vcpu(const struct host_hypertrace *trace, int32_t machine, int32_t cpu);

/** For host_hypertrace_true_ns(). */
struct host_hypertrace_time {
	const struct host_hypertrace *trace;
	int32_t		machine;
};

/**
 * host_hypertrace_true_ns - how long the vCPU executed its guest, a hyper_time_fn
 * @arg: struct host_hypertrace_time
 */
int64_t host_hypertrace_true_ns(void *arg, int32_t cpu, int64_t from_ns, int64_t to_ns);

/** host_hypertrace_unknown_ns - how long it is unknown what it did, the same */
int64_t host_hypertrace_unknown_ns(void *arg, int32_t cpu, int64_t from_ns, int64_t to_ns);

/** host_hypertrace_is_file - is that the name of a file, not that of a dialect? */
bool host_hypertrace_is_file(const char *dialect);

/**
 * host_hypertrace_check - would @dialect be understood? Without a trace, before it is read
 *
 * Return: false after a text in @error.
 */
bool host_hypertrace_check(const char *dialect, char *error, size_t size);

#ifdef __cplusplus
}
#endif
#endif
