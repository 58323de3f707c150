// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	model_tasks.c
 * @brief	Read the tasks of the host of a trace that is loaded.
 */
#include "model_tasks.h"
#include "virt_needs.h"

int model_tasks_read(const struct model_load *load, struct host_tasks *tasks, const char *option)
{
	char advice[VIRT_ADVICE_SIZE];
	int ret;

	if (!load->host.kvm || !virt_model_knows(load->model, VIRT_NUMBER_TASKS)) {
		ksv_error("%s: %s: its records do not show the host's tasks%s%s", load->path,
			  option, load->host.kvm ? ", as " : ": only those of KVM do",
			  load->host.kvm ? virt_model_advice(load->model, VIRT_NUMBER_TASKS, advice,
							     sizeof(advice)) : "");
		return KSV_EXIT_UNKNOWN;
	}
	ret = host_tasks_read(tasks, load->model, load->host.kvm);
	if (ret)
		ksv_error("%s: %s", load->path, host_trace_problem(ret));
	return ret ? KSV_EXIT_FILE : KSV_EXIT_OK;
}
