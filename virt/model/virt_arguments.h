/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_arguments.h
 * @brief	Keep the argument of each VM exit, in addition to its reason.
 *
 * An exit has one argument or none. So the exits of a reason are those of its arguments plus those
 * without an argument: their numbers, times and costs add up, in every window.
 *
 * An exit for memory also has a cause: what the host did, if records show that (exit_causes.h).
 * Each argument of such a reason has one cause; a page that was first touched and later swapped in
 * is two arguments. So causes add up to their reason, and arguments to their cause.
 *
 * A port or an address may be of another device in another machine. If the regions of machines are
 * known (virt_regions.h), an argument is of one device, and the same value of another device is
 * another argument.
 *
 * A reason may have very many arguments, such as the pages of a guest's memory. The finished model
 * keeps the VIRT_MOST_ARGUMENTS that most exits of the trace have; the remaining exits have the
 * argument "others" of their cause.
 */
#ifndef KSHARK_VIRT_VIRT_ARGUMENTS_H
#define KSHARK_VIRT_VIRT_ARGUMENTS_H

#include "exit_arguments.h"
#include "exit_causes.h"
#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The number of arguments that a reason keeps. */
#define VIRT_MOST_ARGUMENTS	64

struct virt_argument {
	const char	*name;		/* "write TSC_DEADLINE"; "others"; "write 0xfeb02a64
					 * (virtio-mmio)", escaped, as a name from outside is */
	const char	*text;		/* the same with the cause */
	uint64_t	value;		/* of the kind; EXIT_ARGUMENT_OTHERS, _NONE: 0 */
	const char	*region;	/* virt_regions.h: the device there; or NULL */
	int32_t		reason;		/* of the exits that have it */
	uint8_t		kind;		/* enum exit_argument_kind */
	uint8_t		cause;		/* enum exit_cause */
};

/**
 * virt_model_set_argument - what the last exit of a vCPU was for
 *
 * The first word about an exit counts, and only one that shows arguments of exits of its reason
 * (exit_argument_of_reason()).
 *
 * Return: 0, -ENOMEM, or -EINVAL for a vCPU or argument that cannot be.
 */
int virt_model_set_argument(struct virt_model *model, int32_t vcpu, enum exit_argument_kind kind,
			    uint64_t value);

/**
 * virt_model_saw - what a record shows of the last exit of a vCPU, if that is one for memory
 * @seen: enum exit_seen, without EXIT_SEEN_SLEEP; what was seen before stays
 *
 * Return: 0, -ENOMEM, or -EINVAL for what cannot be.
 */
int virt_model_saw(struct virt_model *model, int32_t vcpu, unsigned int seen);

/** virt_reason_for_memory - whether exits of a reason have a cause */
bool virt_reason_for_memory(const struct virt_model *model, int32_t reason);

/**
 * virt_model_skip_arguments - keep none, nor holds (virt_limits.h)
 *
 * Of a model that is filled for days, they would grow for ever.
 */
void virt_model_skip_arguments(struct virt_model *model);

/** virt_model_n_arguments - how many a finished model has, of all reasons */
int32_t virt_model_n_arguments(const struct virt_model *model);

/** virt_model_argument - one of a finished model; NULL: there is none of that number. */
const struct virt_argument *virt_model_argument(const struct virt_model *model, int32_t argument);

/**
 * virt_exit_argument - what the exit was for that an interval begins with, in O(log n)
 * @interval: of virt_vcpu_intervals() of this vCPU
 *
 * Return: VIRT_NONE: no record shows it, or the interval begins with no exit.
 */
int32_t virt_exit_argument(const struct virt_model *model, int32_t vcpu,
			   const struct virt_interval *interval);

/**
 * virt_argument_before - the same of the exit that goes on at a time: its vCPU has not entered its
 * guest since. Of several exits at the same ns, it is that of the last one.
 */
int32_t virt_argument_before(const struct virt_model *model, int32_t vcpu, int64_t time_ns);

/** virt_argument_name - its name; NULL for VIRT_NONE, and if it has a cause only */
const char *virt_argument_name(const struct virt_model *model, int32_t argument);

/** virt_argument_cause - what the host did; EXIT_CAUSE_UNKNOWN for VIRT_NONE */
enum exit_cause virt_argument_cause(const struct virt_model *model, int32_t argument);

/**
 * virt_argument_text - name and cause: "page 0x1000, first touch"; for VIRT_NONE, NULL
 *
 * Of arguments that are not kept apart, the cause alone.
 */
const char *virt_argument_text(const struct virt_model *model, int32_t argument);

/**
 * virt_reason_record - the records that show what exits of a reason were for
 *
 * Return: VIRT_RECORD_N_KINDS: none do.
 */
enum virt_record_kind virt_reason_record(const struct virt_model *model, int32_t reason);

#ifdef __cplusplus
}
#endif
#endif
