/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_parts.h
 * @brief	Parts that stand within a section of kshark-virt report.
 */
#ifndef KSHARK_VIRT_REPORT_PARTS_H
#define KSHARK_VIRT_REPORT_PARTS_H

#include "facts.h"
#include "report.h"
#include "table.h"
#include "virt_needs.h"
#include "virt_steal.h"

/** VM exits, of a vCPU or of all of a machine. */
void report_exits_text(struct output *out, const struct report *report,
		       const struct virt_window_stats *stats);
void report_exits_facts(struct facts *to, const struct report *report,
			const struct virt_window_stats *stats);

/** report_exit_has_cost - do any exits of a reason have a cost? They have an end in the trace. */
bool report_exit_has_cost(const struct report *report, const struct virt_dist *cost);

/**
 * report_exit_no_cost - a cell instead of that cost
 *
 * In text it is "-" if the trace does not show @number, and "?" if the exits have no end in it.
 */
struct table_cell report_exit_no_cost(const struct report *report, enum virt_number number);

/** report_exit_before_text - the exit from which a vCPU has not come back when the window begins */
void report_exit_before_text(struct output *out, const struct report *report,
			     const struct virt_window_stats *stats);

/** Hypercalls, traps, what was done to memory, interrupts; @count: NULL if there are none */
void report_events_text(struct output *out, const struct report *report,
			const struct vcpu_count *count);
void report_events_facts(struct facts *to, const struct report *report,
			 const struct vcpu_count *count);

/** Who preempted a vCPU, and with which of their tasks */
void report_culprits_text(struct output *out, const struct report *report,
			  const struct report_vcpu *vcpu);
void report_culprits_facts(struct facts *to, const struct report *report,
			   const struct report_vcpu *vcpu);

/** report_steal_split - the steal of a vCPU by the kind of its culprits */
void report_steal_split(const struct report *report, const struct report_vcpu *vcpu,
			int64_t ns[VIRT_STEAL_N_KINDS]);

/** report_steal_kinds_facts - a member @key of JSON with these times; rows of CSV */
void report_steal_kinds_facts(struct facts *to, const struct report *report, const char *key,
			      const int64_t ns[VIRT_STEAL_N_KINDS]);

/** report_limits_... - CPU quotas of machines, and how long they held them in the recording */
void report_limits_text(struct output *out, const struct report *report);
void report_limits_facts(struct facts *to, const struct report *report);

/** report_stolen_... - which tasks of guests took the time of which machines */
void report_stolen_text(struct output *out, const struct report *report);
void report_stolen_facts(struct facts *to, const struct report *report);

/** The tasks of the culprit of a moment */
void report_moment_tasks_text(struct output *out, const struct report *report,
			      const struct virt_moment *moment);
void report_moment_tasks_facts(struct facts *to, const struct report *report,
			       const struct virt_moment *moment);

/** report_moment_task - the one that had most of it. Return: false if none is known. */
bool report_moment_task(const struct report *report, const struct virt_moment *moment, char *text,
			size_t size, int64_t *ns);

/** Columns of text for the time of a task, and the width of its name. */
#define REPORT_N_TIMES		VIRT_N_STATES
#define REPORT_TASK_WIDTH	24

/**
 * report_time_columns - the states of a vCPU while it executed a task
 *
 * States that are rare have a column only after report_time_columns_add() with a time in them.
 */
void report_time_columns(struct table_column columns[REPORT_N_TIMES]);

/** report_time_columns_add - a task will have a row. @ns: its time in each state */
void report_time_columns_add(struct table_column columns[REPORT_N_TIMES], const int64_t *ns);

/** report_time_cells - the cells of its row */
void report_time_cells(struct table_cell cells[REPORT_N_TIMES], const struct report *report,
		       const int64_t *ns);

/**
 * report_time_facts - members "executed_ns", "steal_ns", "states_ns"; rows of CSV for the first two
 * @executed, @steal: the sections of CSV
 * @name: the task, in CSV
 */
void report_time_facts(struct facts *to, const struct report *report, const char *executed,
		       const char *steal, const char *name, const int64_t *ns);

/** report_volume_facts - what was recorded on a pCPU, as rows of CSV */
void report_volume_facts(struct facts *to, const struct report *report, int pcpu);

#endif
