/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	align_try.h
 * @brief	Find the source that aligns a guest's clock best with its host's.
 *
 * kshark-virt align and the plugins share this code.
 */
#ifndef KSHARK_VIRT_ALIGN_TRY_H
#define KSHARK_VIRT_ALIGN_TRY_H

#include "align_data.h"
#include "align_meta.h"
#include "align_pairing.h"
#include "align_tsc.h"
#include "trace_dat.h"

/** From which an alignment comes, in the order in which they are tried. */
enum align_source {
	ALIGN_AUTO = 0,
	ALIGN_TRACE_CMD,
	ALIGN_KVM,			/* what KVM set the TSC of vCPUs to, from its trace */
	ALIGN_SIDECAR,			/* the same, from the sidecar of the host's trace */
	ALIGN_TSC,
	ALIGN_CAUSALITY,
	ALIGN_N_SOURCES
};

/**
 * align_machine_is - is this the name of a machine, or a part of it: of "d1:web", "d1" or "web"?
 */
bool align_machine_is(const char *machine, const char *name);

/** align_source_name - auto, trace-cmd, kvm_write_tsc_offset, sidecar, tsc, causality. */
const char *align_source_name(enum align_source source);

/** align_source_find - Return: the source of a name, or -1. */
int align_source_find(const char *name);

/** One try: what was found for a machine. */
struct align_try {
	enum align_source		source;
	int32_t				machine;	/* -1: nothing was tried */
	struct virt_clock_alignment	alignment;
	struct virt_clock_evidence	*evidence;	/* by the guest's CPU */
	struct virt_clock_step		*steps;		/* where one offset is not enough */
	size_t				n_steps;
};

/** ns or cycles: offsets that differ by no more are one. */
#define ALIGN_ROUNDING	2

/** What trace-cmd's offsets do to a guest's times. */
struct align_offsets {
	int64_t		least, most;	/* that is added to an event's time */
	double		scale_ppm;	/* by which the times are stretched, from first to last */
	int64_t		bend;		/* how far any event is from that line */
};

/** vCPUs whose TSCs differ, or one whose TSC changes. */
struct align_unequal {
	enum align_source	source;		/* which shows it */
	int32_t			machine;
	const struct virt_vcpu	*vcpu, *other;	/* NULL: @vcpu itself, at the end */
	int64_t			cycles;		/* between their offsets; 0: they differ in speed */
	bool			is_found;	/* no record shows when it has changed */
	bool			is_assumed;	/* nothing shows @vcpu's: it is taken to be as
						 * @other at first, though others change */
};

/** The traces of a host and of its guest. */
struct align_pair {
	/* align_pair_begin() sets these */
	bool			cycles;		/* the unit of all times; else ns */
	uint64_t		file_bytes;	/* of both files */
	bool			scaled;		/* ns of cycles, by factors in both files: */
	struct trace_dat_scale	host_scale, guest_scale;
	/* align_pair_kvm() and align_pair_xen() do, of records of the host */
	uint64_t		record_bytes;
	struct irq_injections	injections;	/* in any order; freed at the end */
	struct align_tsc_sets	tsc_sets;	/* the same */
	/* to be set before */
	enum align_source	source;		/* which are tried: ALIGN_AUTO, or one of them */
	const char		*machine;	/* which may be the guest; NULL: any */
	int32_t			chosen_pid;	/* a vCPU's of the one that it is, if several fit;
						 * 0: none is chosen */
	const struct virt_model	*model;		/* of the host */
	const struct kvm_trace	*host;		/* NULL: a xentrace file */
	struct align_stop	stop;
	/* the result */
	struct kvm_trace	*guest;
	bool			has_offsets;	/* trace-cmd's, as events show: */
	struct align_offsets	offsets;
	struct align_events	shifted, plain;	/* with them, without them */
	struct align_try	best;
	struct align_try	recorded;	/* trace-cmd's offsets, if these are wrong */
	int32_t			other_machine;	/* which fits as well; -1: none */
	struct align_pairing	fits;		/* instead of the vCPUs that were recorded, or of
						 * the machine that is wanted, with the clock as it
						 * was recorded; without vCPUs if there is none */
	struct align_unequal	*unequal;	/* one of a machine at most */
	size_t			n_unequal, room_unequal;
	uint64_t		work;		/* that may still be done: clock_align.h */
	bool			dense;		/* it was too much, and nothing is known */
};

/**
 * align_pair_begin - do a host and a guest count alike, and how much is there to be read?
 *
 * Return: 0, or -EINVAL and a text in @error.
 */
int align_pair_begin(struct align_pair *pair, const char *host, const char *guest, char *error,
		     size_t size);

/** align_pair_kvm - take note of a record of the host */
void align_pair_kvm(struct align_pair *pair, const struct kvm_trace_record *record);
void align_pair_xen(struct align_pair *pair, const struct xen_trace_row *rows, size_t n);

/**
 * align_pair_try - try the sources
 * @guest: its trace, whose offsets are hidden from then on
 *
 * Return: 0, -ENOMEM, -EINVAL (times beyond all reason), -ECANCELED, or as kvm_trace_walk();
 * align_pair_free() in any case.
 */
int align_pair_try(struct align_pair *pair, struct kvm_trace *guest);

void align_pair_free(struct align_pair *pair);

/* --- what is reported and kept of it: align_result.c ----------------------------------------- */

/** align_unequal_of - what is unequal in a machine, or in any if it is -1; NULL: nothing. */
const struct align_unequal *align_unequal_of(const struct align_pair *pair, int32_t machine);

/** align_pair_refusal - why nothing may be aligned by the result; NULL if it may. */
const char *align_pair_refusal(const struct align_pair *pair);

/**
 * align_pair_doubt - what is wrong with what trace-cmd recorded, or with the machine that is wanted
 *
 * Return: false if nothing is.
 */
bool align_pair_doubt(const struct align_pair *pair, char *text, size_t size);

/** align_pair_offsets - what trace-cmd's offsets do, for people. Return: false without any. */
bool align_pair_offsets(const struct align_pair *pair, char *text, size_t size);

/** align_pair_vcpu - the vCPU that a CPU of the guest is, or NULL. */
const struct virt_vcpu *align_pair_vcpu(const struct align_pair *pair, int32_t cpu);

/**
 * align_pair_meta - the result as it is kept
 * @host_path: of which the name is kept
 *
 * Return: to be given to align_meta_free(), or NULL without memory.
 */
struct align_meta *align_pair_meta(const struct align_pair *pair, const char *host_path);

#endif
