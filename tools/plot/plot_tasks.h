/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	plot_tasks.h
 * @brief	kshark-virt plot --tasks: which tasks of guests had the physical CPUs.
 */
#ifndef KSHARK_VIRT_PLOT_TASKS_H
#define KSHARK_VIRT_PLOT_TASKS_H

#include "figure.h"
#include "guest_tasks.h"
#include "model_load.h"
#include "output.h"

/** All zero at first. */
struct plot_tasks {
	struct guest_tasks	*guests;	/* as the traces of @load */
	int			n_guests;
	struct figure_inner	*inner;		/* by vCPU, for the figure */
	struct figure_task	*tasks;
	int			n_tasks;
};

/**
 * plot_tasks_read - read the traces of the guests of @load, whose model is made
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_FILE after a message.
 */
int plot_tasks_read(struct plot_tasks *tasks, const struct model_load *load);

/**
 * plot_tasks_make - what a figure needs
 * @vcpus: by global index: shown
 *
 * Those that executed most in [from, to) have a colour each, the rest of a guest has one.
 *
 * Return: 0 or -ENOMEM.
 */
int plot_tasks_make(struct plot_tasks *tasks, const struct model_load *load, const bool *vcpus,
		    int64_t from_ns, int64_t to_ns);

/**
 * plot_tasks_csv - a line for each stretch that a pCPU had the same vCPU with the same task
 * @vcpus, @pcpus: shown
 */
void plot_tasks_csv(const struct plot_tasks *tasks, const struct model_load *load,
		    const bool *vcpus, const bool *pcpus, int64_t from_ns, int64_t to_ns,
		    struct output *out);
void plot_tasks_free(struct plot_tasks *tasks);

#endif
