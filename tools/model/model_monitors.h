/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	model_monitors.h
 * @brief	Traces that monitors (QEMU) made of themselves, given beside that of their host.
 */
#ifndef KSHARK_VIRT_MODEL_MONITORS_H
#define KSHARK_VIRT_MODEL_MONITORS_H

#include "host_monitor.h"
#include "model_load.h"

#define MODEL_MAX_MONITORS	256

/** All zero: none is given. */
struct model_monitors {
	const char	*paths[MODEL_MAX_MONITORS];
	int		n_paths;
	struct host_monitor *all;	/* in the same order */
	int		n;
};

/** An option that may be repeated. @member: a struct model_monitors */
#define MODEL_OPTION_MONITOR(type, member, help)						\
	{ 0, "monitor", "FILE", help, model_take_monitor, offsetof(type, member), NULL }

int model_take_monitor(const struct ksv_command *command, const struct ksv_option *option,
		       const char *text, void *target);

/** model_monitors_check - is none of them what is written? 0, or the status after a message */
int model_monitors_check(const struct model_monitors *monitors, const struct ksv_command *command,
			 const char *output);

/**
 * model_monitors_open - read them all, whose host has been loaded
 * @monitors: to be given to model_monitors_close() in any case
 *
 * Return: KSV_EXIT_OK, or the exit status after a message.
 */
int model_monitors_open(struct model_monitors *monitors, const struct model_load *load);
void model_monitors_close(struct model_monitors *monitors);

/** model_monitors_notes - what a user must know of them, to stderr. */
void model_monitors_notes(const struct model_monitors *monitors);

#endif
