// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_unknown.c
 * @brief	What a report does not know, as the trace has no records of it.
 */
#include <stdio.h>

#include "json_durations.h"
#include "report_csv.h"
#include "report_unknown.h"
#include "text_columns.h"

void report_lacks_text(struct output *out, const struct report *report)
{
	char text[VIRT_ADVICE_SIZE];

	for (int kind = 0; kind < VIRT_RECORD_N_KINDS; kind++) {
		if (!virt_model_lacks(report->load->model, (enum virt_record_kind)kind, text,
				      sizeof(text)))
			continue;
		out_str(out, "  note     ");
		out_str(out, text);
		out_char(out, '\n');
	}
}

/** Numbers that need a kind, those that not every report has among them. */
static void json_unknown_without(struct json *json, const struct virt_model *model,
				 enum virt_record_kind kind)
{
	json_open(json, "unknown", '[', true);
	for (int number = 0; number < VIRT_N_NUMBERS; number++)
		if (virt_model_unknown_without(model, kind, (enum virt_number)number))
			json_str(json, NULL, virt_number_name((enum virt_number)number));
	json_close(json, ']');
}

void report_lacks_json(struct json *json, const struct report *report)
{
	const struct virt_model *model = report->load->model;
	char text[VIRT_ADVICE_SIZE];
	bool any = false;

	for (int i = 0; i < VIRT_RECORD_N_KINDS; i++) {
		enum virt_record_kind kind = (enum virt_record_kind)i;

		if (!virt_model_lacks(model, kind, text, sizeof(text)))
			continue;
		if (!any)
			json_open(json, "not_recorded", '[', false);
		any = true;
		json_open(json, NULL, '{', true);
		json_str(json, "record", virt_record_name(virt_model_hypervisor(model), kind));
		json_unknown_without(json, model, kind);
		json_close(json, '}');
	}
	if (any)
		json_close(json, ']');
}

void report_lacks_csv(struct output *out, const struct report *report)
{
	const struct virt_model *model = report->load->model;
	char text[VIRT_ADVICE_SIZE];
	struct csv_row row = { .section = "not_recorded" };

	for (int i = 0; i < VIRT_RECORD_N_KINDS; i++) {
		enum virt_record_kind kind = (enum virt_record_kind)i;

		if (!virt_model_lacks(model, kind, text, sizeof(text)))
			continue;
		row.name = virt_record_name(virt_model_hypervisor(model), kind);
		csv_row(out, report, &row);
	}
	row.section = "includes";
	row.name = text;
	for (int i = 0; i < VIRT_N_STATES; i++) {
		enum virt_state state = (enum virt_state)i;
		unsigned int in = virt_model_includes(model, state);
		char names[VIRT_STATE_NAMES];

		if (!in)
			continue;
		snprintf(text, sizeof(text), "%s includes %s", virt_state_name(state),
			 virt_state_names(in, " and ", names, sizeof(names)));
		csv_row(out, report, &row);
	}
}

void report_advice_text(struct output *out, const struct report *report, enum virt_number number)
{
	char text[VIRT_ADVICE_SIZE];

	if (!*virt_model_advice(report->load->model, number, text, sizeof(text)))
		return;
	out_str(out, "  note     ");
	out_str(out, virt_number_name(number));
	out_str(out, ": unknown, as ");
	out_str(out, text);
	out_char(out, '\n');
}

void json_known_stretches(struct json *json, const struct report *report, enum virt_number number,
			  const char *key, const struct virt_stretches *stretches)
{
	bool before = json->unknown;

	json->unknown |= !report_knows(report, number);
	json_stretches(json, key, stretches);
	json->unknown = before;
}

void json_state(struct json *json, const struct report *report, const char *key,
		enum virt_state state, const struct virt_stretches *stretches)
{
	unsigned int in = virt_model_includes(report->load->model, state);
	char names[VIRT_STATE_NAMES];

	if (!in) {
		json_known_stretches(json, report, virt_number_of_state(state), key, stretches);
		return;
	}
	json_open(json, key, '{', true);
	json_stretch_members(json, stretches);
	json_str(json, "includes", virt_state_names(in, "+", names, sizeof(names)));
	json_close(json, '}');
}
