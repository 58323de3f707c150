/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_text.h
 * @brief	Describe intervals, migrations and the worst moments in words.
 */
#ifndef KSHARK_VIRT_VIRT_TEXT_H
#define KSHARK_VIRT_VIRT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "virt_finding.h"
#include "virt_model.h"
#include "virt_names.h"
#include "virt_worst.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Room for a text with names of ordinary length. */
#define VIRT_TEXT_SIZE	512

/** virt_text_duration - "1.234 ms": a time with the unit that suits it. Return: @buf. */
const char *virt_text_duration(char *buf, size_t size, int64_t ns);

/** virt_text_reason - name of an exit reason, VIRT_NONE too. */
const char *virt_text_reason(const struct virt_model *model, int32_t reason);

/** virt_text_vcpu - name of a vCPU or task; for VIRT_NONE, "nobody". */
const char *virt_text_vcpu(const struct virt_model *model, int32_t vcpu);

/**
 * virt_text_interval - what a vCPU does in an interval, how long, and because of what
 * @parts: what distinguishes its name, and those of other vCPUs of its trace; may be NULL
 *
 * E.g. "d1v0 preempted on pCPU 2 for 1.234 ms by d0v1 (1.100 ms), d2v0 (0.134 ms)". Return: @buf.
 */
const char *virt_text_interval(char *buf, size_t size, const struct virt_model *model,
			       const struct virt_name_parts *parts, int32_t vcpu,
			       const struct virt_interval *interval, int64_t end_ns);

/** virt_text_pcpu - "pCPU 2", or "CPU 2 of g1" inside a machine of another trace. Return: @buf. */
const char *virt_text_pcpu(char *buf, size_t size, const struct virt_name_parts *parts,
			   int32_t pcpu);

/** virt_text_occupant - "pCPU 2 is idle for ...": what a pCPU does without a vCPU. Return: @buf */
const char *virt_text_occupant(char *buf, size_t size, const struct virt_model *model,
			       const struct virt_name_parts *parts, int32_t pcpu,
			       const struct virt_occupant *occupant, int64_t end_ns);

/** virt_text_migration - "d1v0 migrated from pCPU 0 to pCPU 2, ...". Return: @buf. */
const char *virt_text_migration(char *buf, size_t size, const struct virt_model *model,
				const struct virt_name_parts *parts,
				const struct virt_migration *migration);

/**
 * virt_text_moment - what one of the worst moments is, how long it took, and why
 * @guest_ns: the guest's first event after its entry, on the model's time axis; or VIRT_NO_TIME
 *
 * Return: @buf.
 */
const char *virt_text_moment(char *buf, size_t size, const struct virt_model *model,
			     const struct virt_name_parts *parts,
			     const struct virt_moment *moment, int64_t guest_ns);

/** virt_text_cause - of a moment in a list, in a word or two; may be empty. Return: @buf. */
const char *virt_text_cause(char *buf, size_t size, const struct virt_model *model,
			    const struct virt_name_parts *parts,
			    const struct virt_finding *finding);

#ifdef __cplusplus
}
#endif
#endif
