/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_colors.h
 * @brief	The colours of states and vCPUs, the same in every window, figure and picture.
 *
 * The hues are Okabe and Ito's and Tol's, which people with colour-blindness can distinguish, too.
 * States that need attention (preempted, waking) have a strong colour, harmless states a quiet one.
 */
#ifndef KSHARK_VIRT_VIRT_COLORS_H
#define KSHARK_VIRT_VIRT_COLORS_H

#include <stdbool.h>
#include <stdint.h>

#include "virt_model.h"
#include "virt_worst.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An RGB colour. */
struct virt_color {
	uint8_t	red, green, blue;
};

/** How a state is shown. */
struct virt_look {
	struct virt_color	color;
	struct virt_color	hatch;		/* of the lines across, if @hatched */
	bool			hatched;
	const char		*title;		/* "Guest" */
	const char		*meaning;	/* "executes guest code (VIRT)" */
};

/** virt_state_look - how a state is shown. Return: NULL if there is no such state. */
const struct virt_look *virt_state_look(enum virt_state state);

/**
 * virt_state_look_in - how a state is shown in a trace: hatched if it is not split there
 *
 * Return: NULL if there is no such state.
 */
const struct virt_look *virt_state_look_in(const struct virt_model *model, enum virt_state state);

/** virt_exit_class_color - time in the hypervisor for such exits; for others, its own colour. */
struct virt_color virt_exit_class_color(enum virt_exit_class exit_class);

/** How the marker of a kind of moments is shown; its shape differs, too. */
struct virt_kind_look {
	struct virt_color	color;
	const char		*title;		/* "VM exits" */
	const char		*meaning;	/* "VM exits by what they cost" */
};

/** virt_worst_look - how a kind of moments is shown. Return: NULL if there is no such kind. */
const struct virt_kind_look *virt_worst_look(enum virt_worst_kind kind);

/** virt_vcpu_color - the colour of a vCPU by its global index; colours come again after some. */
struct virt_color virt_vcpu_color(int32_t vcpu);

/** virt_color_text_is_dark - does black have more contrast on this colour than white? */
bool virt_color_text_is_dark(struct virt_color color);

#ifdef __cplusplus
}
#endif
#endif
