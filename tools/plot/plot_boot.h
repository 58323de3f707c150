/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	plot_boot.h
 * @brief	kshark-virt plot --boot: phases and levels of guests' boots, above the activity of
 *		vCPUs.
 */
#ifndef KSHARK_VIRT_PLOT_BOOT_H
#define KSHARK_VIRT_PLOT_BOOT_H

#include "figure.h"
#include "host_stages.h"
#include "model_guests.h"
#include "model_load.h"

/** What is wanted. */
struct plot_boot_options {
	bool		wanted;
	const char	*dialect;	/* NULL: found by the calls */
	const char	*kallsyms;	/* a file, or NULL */
};

/** Stages of all machines that are shown; all zero at first. */
struct plot_boot {
	struct model_guests	guests;
	struct model_boots	boots;
	struct hyper_symbols	*symbols;
	struct figure_lane	*lanes;
	int			n_lanes;
};

/** plot_boot_walk - let the calls be collected while @load is filled. */
void plot_boot_walk(struct plot_boot *boot, struct model_load *load);

/**
 * plot_boot_make - find the stages, when all has gone by
 * @vcpus: by global index: shown; a machine is if one of its vCPUs is
 * @out: NULL, or where they are written as CSV; then there are no lanes
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_FILE after a message.
 */
int plot_boot_make(struct plot_boot *boot, const struct plot_boot_options *options,
		   const struct model_load *load, const bool *vcpus, int64_t from_ns, int64_t to_ns,
		   struct output *out);
void plot_boot_free(struct plot_boot *boot);

#endif
