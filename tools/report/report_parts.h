/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_parts.h
 * @brief	Parts that stand within a section of kshark-virt report.
 */
#ifndef KSHARK_VIRT_REPORT_PARTS_H
#define KSHARK_VIRT_REPORT_PARTS_H

#include "json_writer.h"
#include "report_csv.h"

/** VM exits, of a vCPU or of all of a machine. */
void report_exits_text(struct output *out, const struct report *report,
		       const struct virt_window_stats *stats);
void report_exits_json(struct json *json, const struct report *report,
		       const struct virt_window_stats *stats);
void report_exits_csv(struct output *out, const struct report *report, const struct csv_row *row,
		      const struct virt_window_stats *stats);

/** report_exit_before_text - the exit from which a vCPU has not come back when the window begins */
void report_exit_before_text(struct output *out, const struct report *report,
			     const struct virt_window_stats *stats);

/** Hypercalls, traps, what was done to memory, interrupts; @count: NULL if there are none */
void report_events_text(struct output *out, const struct vcpu_count *count);
void report_events_json(struct json *json, const struct vcpu_count *count);
void report_events_csv(struct output *out, const struct report *report, const struct csv_row *row,
		       const struct vcpu_count *count);

/** By whom a vCPU was preempted, and which of their tasks it was */
void report_culprits_text(struct output *out, const struct report *report,
			  const struct report_vcpu *vcpu);
void report_culprits_json(struct json *json, const struct report *report,
			  const struct report_vcpu *vcpu);
void report_culprits_csv(struct output *out, const struct report *report,
			 const struct csv_row *row, const struct report_vcpu *vcpu);

/** report_stolen_... - which tasks of guests took the time of which machines */
void report_stolen_text(struct output *out, const struct report *report);
void report_stolen_json(struct json *json, const struct report *report);
void report_stolen_csv(struct output *out, const struct report *report);

/** The tasks of the culprit of a moment */
void report_moment_tasks_text(struct output *out, const struct report *report,
			      const struct virt_moment *moment);
void report_moment_tasks_json(struct json *json, const struct report *report,
			      const struct virt_moment *moment);

/** report_moment_task - the one that had most of it. Return: false if none is known. */
bool report_moment_task(const struct report *report, const struct virt_moment *moment, char *text,
			size_t size, int64_t *ns);

/** report_volume_csv - what was recorded on a pCPU */
void report_volume_csv(struct output *out, const struct report *report, const struct csv_row *row,
		       int pcpu);

#endif
