/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_inside.h
 * @brief	Keep the activity inside a guest as lanes, to be drawn over the graphs of its CPUs.
 *
 * The reader of the guest's trace fills it once. After that it never changes, and any number of
 * threads may query it. Times are ns on the axis of the guest's stream. A lane is a row of pieces
 * that do not overlap: a called function is in a lane below that of its caller.
 */
#ifndef KSHARK_VIRT_VIRT_INSIDE_H
#define KSHARK_VIRT_VIRT_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virt_colors.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a lane is about: in this order, from the top down. */
enum virt_inside_kind {
	VIRT_INSIDE_PHASE = 0,		/* of the boot; these two are of the whole machine */
	VIRT_INSIDE_LEVEL,		/* of the initcalls, or of the way down */
	VIRT_INSIDE_INITCALL,
	VIRT_INSIDE_SYSCALL,
	VIRT_INSIDE_USER_FUNCTION,
	VIRT_INSIDE_FUNCTION,
	VIRT_INSIDE_IRQ,
	VIRT_INSIDE_SOFTIRQ,
	VIRT_INSIDE_DOUBT,		/* it is doubtful until when a task had the CPU; */
	VIRT_INSIDE_UNKNOWN,		/* unknown who has it */
	VIRT_INSIDE_N_KINDS
};

/** Lanes of a kind, one within the other; what is deeper is left out. */
#define VIRT_INSIDE_DEPTHS	8

/** A part of a slice in which it had the CPU. */
struct virt_inside_piece {
	int64_t		start_ns, end_ns;
	int64_t		before_ns;	/* of all pieces of the lane before this one */
	int64_t		slice_ns;	/* from the slice's begin to its end */
	int32_t		name;		/* virt_inside_name() */
	bool		no_end;		/* when the slice ended is not known: not before its end */
};

struct virt_inside_lane {
	enum virt_inside_kind	kind;
	int			depth;		/* from 0 */
	const struct virt_inside_piece *pieces;	/* in order of time */
	size_t			n;
};

struct virt_inside;

/* --- filling --------------------------------------------------------------------------------- */

/** virt_inside_new - @n_cpus: by number. Return: with one reference; NULL without memory. */
struct virt_inside *virt_inside_new(int32_t n_cpus);

/**
 * virt_inside_set_host - in which host's trace the guest is seen from outside
 * @path: of that trace; is copied
 * @pids: by CPU: virt_vcpu.host_pid there, or VIRT_NONE; are copied
 *
 * Return: 0 or -ENOMEM.
 */
int virt_inside_set_host(struct virt_inside *inside, const char *path, const int32_t *pids);

/** virt_inside_add_name - a name for pieces. Return: its number, or -ENOMEM. */
int32_t virt_inside_add_name(struct virt_inside *inside, const char *name);

/**
 * virt_inside_add - a piece, in any order
 * @cpu: VIRT_NONE: of the whole machine
 *
 * What is too deep, of no length, or of no CPU is left out. Return: 0 or -ENOMEM.
 */
int virt_inside_add(struct virt_inside *inside, int32_t cpu, enum virt_inside_kind kind, int depth,
		    const struct virt_inside_piece *piece);

/** virt_inside_finish - all is there. What overlaps ends where the next one begins. */
void virt_inside_finish(struct virt_inside *inside);

/* --- asking ---------------------------------------------------------------------------------- */

/** virt_inside_ref - one more reference to what one has already. Return: @inside. */
struct virt_inside *virt_inside_ref(struct virt_inside *inside);

/** virt_inside_put - give a reference back; NULL is allowed. */
void virt_inside_put(struct virt_inside *inside);

/** virt_inside_host - path of the host's trace; NULL: not known. */
const char *virt_inside_host(const struct virt_inside *inside);

/** virt_inside_pid - which vCPU of the host's trace a CPU is; VIRT_NONE: not known. */
int32_t virt_inside_pid(const struct virt_inside *inside, int32_t cpu);

/** virt_inside_name - a name; or "". */
const char *virt_inside_name(const struct virt_inside *inside, int32_t name);

/** virt_inside_kind_name - what a lane is about, in words: "system call" ... */
const char *virt_inside_kind_name(enum virt_inside_kind kind);

/** virt_inside_color - of its pieces. */
struct virt_color virt_inside_color(enum virt_inside_kind kind);

/**
 * virt_inside_lanes - those of a CPU that are not empty, from the top down
 * @cpu: VIRT_NONE: of the whole machine
 */
const struct virt_inside_lane *virt_inside_lanes(const struct virt_inside *inside, int32_t cpu,
						 size_t *n);

/** virt_inside_at - the first piece of a lane that ends behind @time_ns; its n if there is none. */
size_t virt_inside_at(const struct virt_inside_lane *lane, int64_t time_ns);

/** virt_inside_ns - how much of [from, to) pieces cover. In O(log n). */
int64_t virt_inside_ns(const struct virt_inside_lane *lane, int64_t from_ns, int64_t to_ns);

#ifdef __cplusplus
}
#endif
#endif
