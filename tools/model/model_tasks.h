/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	model_tasks.h
 * @brief	Read the tasks of the host of a trace that is loaded.
 */
#ifndef KSHARK_VIRT_MODEL_TASKS_H
#define KSHARK_VIRT_MODEL_TASKS_H

#include "host_tasks.h"
#include "model_load.h"

/**
 * model_tasks_read - read the trace once more
 * @load: is loaded
 * @tasks: to be given to host_tasks_free() in any case
 * @option: that asks for them, for messages
 *
 * Return: KSV_EXIT_OK; or after a message KSV_EXIT_UNKNOWN, if the trace does not show them, or
 * KSV_EXIT_FILE.
 */
int model_tasks_read(const struct model_load *load, struct host_tasks *tasks, const char *option);

#endif
