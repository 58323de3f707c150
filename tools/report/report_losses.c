// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_losses.c
 * @brief	Records that are missing, and contradictions of those that are there.
 */
#include <stdio.h>

#include "json_durations.h"
#include "report_csv.h"
#include "report_section.h"
#include "text_columns.h"

static void text(struct output *out, const struct report *report)
{
	struct virt_loss_range losses = virt_model_losses_from(report->load->model, report->from_ns,
							       report->to_ns);
	size_t listed = 0;
	char pcpu[16];

	for (size_t i = 0; i < losses.n; i++) {
		const struct virt_loss *loss = &losses.first[i];

		if (listed == TEXT_MAX_LISTED) {
			out_str(out, "  ... and more: --format json lists all\n");
			return;
		}
		if (!listed++) {
			out_char(out, '\n');
			text_name(out, "lost from");
			text_right(out, "for", TEXT_NUMBER);
			text_right(out, "pCPU", TEXT_NUMBER);
			text_right(out, "records", TEXT_NUMBER);
			out_char(out, '\n');
		}
		out_str(out, "  ");
		out_ns(out, loss->from_ns, TEXT_NAME);
		text_duration(out, loss->to_ns - loss->from_ns);
		snprintf(pcpu, sizeof(pcpu), "p%d", loss->pcpu);
		text_right(out, pcpu, TEXT_NUMBER);
		if (loss->records)
			text_count(out, loss->records);
		else
			text_right(out, "?", TEXT_NUMBER);
		out_char(out, '\n');
	}
}

static void json(struct json *json, const struct report *report)
{
	const struct virt_model *model = report->load->model;
	struct virt_loss_range losses = virt_model_losses_from(model, report->from_ns,
							       report->to_ns);

	json_open(json, "lost", '{', false);
	json_u64(json, "records", virt_model_count_losses(model, VIRT_NONE, report->from_ns,
							  report->to_ns).records);
	json_open(json, "windows", '[', false);
	for (size_t i = 0; i < losses.n; i++) {
		const struct virt_loss *loss = &losses.first[i];

		json_open(json, NULL, '{', true);
		json_i64(json, "pcpu", loss->pcpu);
		json_i64(json, "from_ns", loss->from_ns);
		json_i64(json, "to_ns", loss->to_ns);
		json_u64(json, "records", loss->records);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

/* text has the list at its end */
const struct report_section report_losses = { .json = json };
const struct report_section report_losses_list = { .text = text };

static void json_contradictions(struct json *json, const struct report *report)
{
	const char *what;
	uint64_t count;

	json_open(json, "contradictions", '[', false);
	for (int i = 0; (what = virt_model_contradictions(report->load->model, i, &count)); i++) {
		json_open(json, NULL, '{', true);
		json_str(json, "what", what);
		json_u64(json, "count", count);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void csv_contradictions(struct output *out, const struct report *report)
{
	const struct csv_row row = { 0 };
	const char *what;
	uint64_t count;

	for (int i = 0; (what = virt_model_contradictions(report->load->model, i, &count)); i++)
		csv_count(out, report, &row, "contradiction", what, count);
}

const struct report_section report_contradictions = {
	.json = json_contradictions, .csv = csv_contradictions,
};
