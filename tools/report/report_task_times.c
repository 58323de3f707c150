// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_task_times.c
 * @brief	The time of a task by the state of its vCPU: columns of text, facts.
 */
#include <string.h>

#include "report_parts.h"
#include "report_unknown.h"

/** Hardly any machine is paused or saved, and few traces show polling. */
static const struct {
	const char	*title;
	enum virt_state	state;
	bool		is_rare;
} times[REPORT_N_TIMES] = {
	{ "executed", VIRT_GUEST, false }, { "steal", VIRT_PREEMPTED, false },
	{ "hypervisor", VIRT_HYPERVISOR, false }, { "polling", VIRT_POLLING, true },
	{ "vmm", VIRT_VMM, false }, { "waking", VIRT_WAKING, false },
	{ "blocked", VIRT_BLOCKED, false }, { "device model", VIRT_DEVICE_MODEL, true },
	{ "offline", VIRT_OFFLINE, true },
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

void report_time_cells(struct table_cell cells[REPORT_N_TIMES], const struct report *report,
		       const int64_t *ns)
{
	for (int i = 0; i < REPORT_N_TIMES; i++)
		cells[i] = table_number(report_knows_state(report, times[i].state) ?
					ns[times[i].state] : VIRT_NONE);
}

/** A member and a row of CSV for a state that has both. */
static void time_fact(struct facts *to, struct fact fact, const struct report *report,
		      enum virt_state state, const int64_t *ns)
{
	bool before = to->unknown;

	to->unknown |= !report_knows_state(report, state);
	facts_ns(to, fact, ns[state]);
	to->unknown = before;
}

void report_time_facts(struct facts *to, const struct report *report, const char *executed,
		       const char *steal, const char *name, const int64_t *ns)
{
	time_fact(to, FACT("executed_ns", executed, name), report, VIRT_GUEST, ns);
	time_fact(to, FACT("steal_ns", steal, name), report, VIRT_PREEMPTED, ns);
	report_states_facts(to, report, NULL, NULL, VIRT_GUEST, VIRT_N_STATES, ns);
}
