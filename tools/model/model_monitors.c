// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	model_monitors.c
 * @brief	Traces that monitors made of themselves, beside that of their host.
 */
#include <stdio.h>
#include <stdlib.h>

#include "model_monitors.h"

int model_take_monitor(const struct ksv_command *command, const struct ksv_option *option,
		       const char *text, void *target)
{
	struct model_monitors *monitors = target;

	(void)option;
	if (monitors->n_paths == MODEL_MAX_MONITORS)
		return ksv_usage_error(command, "--monitor: more than %d", MODEL_MAX_MONITORS);
	monitors->paths[monitors->n_paths++] = text;
	return 0;
}

int model_monitors_check(const struct model_monitors *monitors, const struct ksv_command *command,
			 const char *output)
{
	int status = KSV_EXIT_OK;

	for (int i = 0; i < monitors->n_paths && !status; i++)
		status = ksv_check_output(command, "output", output, monitors->paths[i]);
	return status;
}

int model_monitors_open(struct model_monitors *monitors, const struct model_load *load)
{
	char error[1024] = "not enough memory";
	int ret = 0;

	monitors->all = calloc((size_t)monitors->n_paths + 1, sizeof(*monitors->all));
	if (!monitors->all)
		ret = -1;
	for (int i = 0; i < monitors->n_paths && !ret; i++) {
		monitors->n = i + 1;
		ret = host_monitor_open(&monitors->all[i], &load->host, load->model,
					monitors->paths[i], error, sizeof(error));
	}
	if (!ret)
		return KSV_EXIT_OK;
	ksv_error("%s", error);
	return KSV_EXIT_FILE;
}

void model_monitors_close(struct model_monitors *monitors)
{
	for (int i = 0; i < monitors->n; i++)
		host_monitor_close(&monitors->all[i]);
	free(monitors->all);
	monitors->all = NULL;
	monitors->n = 0;
}

void model_monitors_notes(const struct model_monitors *monitors)
{
	for (int i = 0; i < monitors->n; i++) {
		char *notes = host_monitor_notes(&monitors->all[i]);

		if (notes)
			fputs(notes, stderr);
		free(notes);
	}
}
