// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_pcpus.c
 * @brief	What the pCPUs did.
 */
#include <stdio.h>

#include "json_durations.h"
#include "report_csv.h"
#include "report_parts.h"
#include "report_section.h"
#include "report_unknown.h"
#include "text_columns.h"

/** Whatever a vCPU does on a pCPU counts as busy, if it is known what that is. */
static bool knows_busy(const struct report *report)
{
	return report_knows(report, VIRT_NUMBER_RUNS) && report_knows_state(report, VIRT_GUEST);
}

/** A duration, if the trace can show it. */
static void text_known(struct output *out, const struct report *report, enum virt_number number,
		       int64_t ns)
{
	if (report_knows(report, number))
		text_duration(out, ns);
	else
		text_unknown(out);
}

static void text_state(struct output *out, const struct report *report, enum virt_state state,
		       const struct virt_pcpu_totals *totals)
{
	if (report_knows_state(report, state))
		text_duration(out, totals->state_ns[state]);
	else
		text_unknown(out);
}

static void text_xen(struct output *out, const struct report *report)
{
	static const char *const columns[] = {
		"busy", "guest", "hypervisor", "idle", "unknown", "lost", "interrupts"
	};
	char text[32];

	out_char(out, '\n');
	text_name(out, "pCPU");
	text_columns(out, columns, ARRAY_SIZE(columns));
	for (int pcpu = 0; pcpu < report->n_pcpus; pcpu++) {
		const struct virt_pcpu_totals *totals = &report_pcpu(report, pcpu)->totals;

		snprintf(text, sizeof(text), "p%d", pcpu);
		text_name(out, text);
		if (knows_busy(report))
			text_duration(out, report_busy_ns(totals));
		else
			text_unknown(out);
		text_state(out, report, VIRT_GUEST, totals);
		text_state(out, report, VIRT_HYPERVISOR, totals);
		text_known(out, report, VIRT_NUMBER_TASKS, totals->idle_ns);
		text_duration(out, totals->unknown_ns);
		text_duration(out, report_pcpu(report, pcpu)->lost_ns);
		text_count(out, pcpu < report->count->n_pcpus ?
			   report->count->pcpus[pcpu].interrupts : 0);
		out_char(out, '\n');
	}
}

static bool has_polling(const struct report *report)
{
	for (int pcpu = 0; pcpu < report->n_pcpus; pcpu++)
		if (report_pcpu(report, pcpu)->totals.state_ns[VIRT_POLLING])
			return true;
	return false;
}

static void text_kvm(struct output *out, const struct report *report)
{
	static const char *const columns[] = { "vmm", "other tasks", "idle", "unknown", "lost" };
	/* few traces show it */
	bool polling = has_polling(report);
	char text[32];

	out_char(out, '\n');
	text_name(out, report_is_unsplit(report) ? "pCPU, not split" : "pCPU");
	text_right(out, "guest", TEXT_NUMBER);
	text_right(out, "hypervisor", TEXT_NUMBER);
	if (polling)
		text_right(out, "polling", TEXT_NUMBER);
	text_columns(out, columns, ARRAY_SIZE(columns));
	for (int pcpu = 0; pcpu < report->n_pcpus; pcpu++) {
		const struct virt_pcpu_totals *totals = &report_pcpu(report, pcpu)->totals;

		snprintf(text, sizeof(text), "p%d", pcpu);
		text_name(out, text);
		text_state(out, report, VIRT_GUEST, totals);
		text_state(out, report, VIRT_HYPERVISOR, totals);
		if (polling)
			text_state(out, report, VIRT_POLLING, totals);
		text_state(out, report, VIRT_VMM, totals);
		text_known(out, report, VIRT_NUMBER_TASKS, totals->task_ns);
		text_known(out, report, VIRT_NUMBER_TASKS, totals->idle_ns);
		text_duration(out, totals->unknown_ns);
		text_duration(out, report_pcpu(report, pcpu)->lost_ns);
		out_char(out, '\n');
	}
}

static void text(struct output *out, const struct report *report)
{
	if (report->kvm)
		text_kvm(out, report);
	else
		text_xen(out, report);
}

static void json_known(struct json *json, const struct report *report, enum virt_number number,
		       const char *key, int64_t ns)
{
	json->unknown = !report_knows(report, number);
	json_i64(json, key, ns);
	json->unknown = false;
}

static void json_pcpu_state(struct json *json, const struct report *report, enum virt_state state,
			    const struct virt_pcpu_totals *totals)
{
	unsigned int in = virt_model_includes(report->load->model, state);
	char key[32], names[VIRT_STATE_NAMES];

	snprintf(key, sizeof(key), "%s_ns", virt_state_name(state));
	json->unknown = !report_knows_state(report, state);
	json_i64(json, key, totals->state_ns[state]);
	json->unknown = false;
	if (in) {
		snprintf(key, sizeof(key), "%s_includes", virt_state_name(state));
		json_str(json, key, virt_state_names(in, "+", names, sizeof(names)));
	}
}

static void json_pcpu(struct json *json, const struct report *report, int pcpu)
{
	const struct virt_pcpu_totals *totals = &report_pcpu(report, pcpu)->totals;

	json_open(json, NULL, '{', true);
	json_i64(json, "pcpu", pcpu);
	json->unknown = !knows_busy(report);
	json_i64(json, "busy_ns", report_busy_ns(totals));
	json->unknown = false;
	for (int state = 0; state < VIRT_N_PCPU_STATES; state++)
		json_pcpu_state(json, report, (enum virt_state)state, totals);
	if (report_is_unsplit(report))
		json_i64(json, "unsplit_ns", totals->state_ns[VIRT_HYPERVISOR] +
			 totals->state_ns[VIRT_VMM]);
	if (report->kvm)
		json_known(json, report, VIRT_NUMBER_TASKS, "task_ns", totals->task_ns);
	json_known(json, report, VIRT_NUMBER_TASKS, "idle_ns", totals->idle_ns);
	json_i64(json, "unknown_ns", totals->unknown_ns);
	json_i64(json, "lost_ns", report_pcpu(report, pcpu)->lost_ns);
	if (pcpu < report->count->n_pcpus && !report->kvm)
		json_u64(json, "interrupts", report->count->pcpus[pcpu].interrupts);
	json_close(json, '}');
}

static void json(struct json *json, const struct report *report)
{
	json_open(json, "pcpus", '[', false);
	for (int pcpu = 0; pcpu < report->n_pcpus; pcpu++)
		json_pcpu(json, report, pcpu);
	json_close(json, ']');
}

/** pCPUs take the column of the vCPU: "p0". */
static void csv_pcpu(struct output *out, const struct report *report, int pcpu)
{
	const struct virt_window_pcpu *window = report_pcpu(report, pcpu);
	const struct virt_pcpu_totals *totals = &window->totals;
	char name[16];
	struct csv_row row = { .vcpu = name };

	snprintf(name, sizeof(name), "p%d", pcpu);
	row.unknown = !knows_busy(report);
	csv_time(out, report, &row, "pcpu", "busy", report_busy_ns(totals));
	for (int state = 0; state < VIRT_N_PCPU_STATES; state++) {
		row.unknown = !report_knows_state(report, (enum virt_state)state);
		csv_time(out, report, &row, "pcpu", virt_state_name((enum virt_state)state),
			 totals->state_ns[state]);
	}
	row.unknown = false;
	if (report_is_unsplit(report))
		csv_time(out, report, &row, "pcpu", "unsplit",
			 totals->state_ns[VIRT_HYPERVISOR] + totals->state_ns[VIRT_VMM]);
	row.unknown = !report_knows(report, VIRT_NUMBER_TASKS);
	if (report->kvm)
		csv_time(out, report, &row, "pcpu", "tasks", totals->task_ns);
	csv_time(out, report, &row, "pcpu", "idle", totals->idle_ns);
	row.unknown = false;
	csv_time(out, report, &row, "pcpu", "unknown", totals->unknown_ns);
	csv_time(out, report, &row, "pcpu", "lost", window->lost_ns);
	if (pcpu >= report->count->n_pcpus)
		return;
	csv_count(out, report, &row, "pcpu", "interrupts",
		  report->count->pcpus[pcpu].interrupts);
	csv_count(out, report, &row, "pcpu", "lost_records",
		  virt_model_count_losses(report->load->model, pcpu, report->from_ns,
					  report->to_ns).records);
	report_volume_csv(out, report, &row, pcpu);
}

static void csv(struct output *out, const struct report *report)
{
	for (int pcpu = 0; pcpu < report->n_pcpus; pcpu++)
		csv_pcpu(out, report, pcpu);
}

const struct report_section report_pcpus = { .text = text, .json = json, .csv = csv };
