/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_figure.h
 * @brief	The figure that "kshark-virt plot" draws, of a model that is in memory.
 */
#ifndef KSHARK_VIRT_VIRT_FIGURE_H
#define KSHARK_VIRT_VIRT_FIGURE_H

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is drawn: a row per vCPU. */
struct virt_figure {
	const struct virt_model	*model;
	int64_t			from_ns, to_ns;
	const bool		*vcpus;		/* by global index */
	int			width;
	const char		*title;
};

/**
 * virt_figure_write - write it as SVG
 * @error: receives what went wrong
 *
 * Return: 0, or a negative errno.
 */
int virt_figure_write(const struct virt_figure *wanted, const char *path, char *error,
		      size_t error_size);

#ifdef __cplusplus
}
#endif
#endif
