// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_task_times.c
 * @brief	What a vCPU did while it executed a task: columns of text, a state each.
 */
#include <string.h>

#include "report_parts.h"

/** Hardly any machine is paused or saved, and few traces show polling. */
static const struct {
	const char	*title;
	enum virt_state	state;
	bool		is_rare;
} times[REPORT_N_TIMES] = {
	{ "executed", VIRT_GUEST, false }, { "steal", VIRT_PREEMPTED, false },
	{ "hypervisor", VIRT_HYPERVISOR, false }, { "polling", VIRT_POLLING, true },
	{ "vmm", VIRT_VMM, false }, { "waking", VIRT_WAKING, false },
	{ "blocked", VIRT_BLOCKED, false }, { "offline", VIRT_OFFLINE, true },
	{ "unknown", VIRT_UNKNOWN, false },
};

void report_time_columns(struct table_column columns[REPORT_N_TIMES])
{
	for (int i = 0; i < REPORT_N_TIMES; i++)
		columns[i] = (struct table_column){
			.title = times[i].is_rare ? NULL : times[i].title, .type = TABLE_NS,
		};
}

void report_time_columns_add(struct table_column columns[REPORT_N_TIMES], const int64_t *ns)
{
	for (int i = 0; i < REPORT_N_TIMES; i++)
		if (ns[times[i].state])
			columns[i].title = times[i].title;
}

void report_time_cells(struct table_cell cells[REPORT_N_TIMES], const int64_t *ns)
{
	for (int i = 0; i < REPORT_N_TIMES; i++)
		cells[i] = table_number(ns[times[i].state]);
}
