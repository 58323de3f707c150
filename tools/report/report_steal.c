// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_steal.c
 * @brief	Who takes pCPUs from whom, machine by machine.
 */
#include <string.h>

#include "report_parts.h"
#include "report_section.h"
#include "report_unknown.h"
#include "text_columns.h"

static const char *side_name(const struct report *report, const struct virt_matrix_side *side)
{
	const struct virt_machine *machine = virt_model_machine(report->load->model,
								side->machine);

	return side->vcpu == VIRT_NONE && machine ? machine->name : report_who(report, side->vcpu);
}

/** A row; columns that are empty throughout are left out, the others as wide as their names. */
static void text_row(struct output *out, const struct report *report, const char *name,
		     int64_t sum, const int64_t *ns)
{
	const struct virt_matrix *matrix = report->matrix;

	text_name(out, name);
	text_duration(out, sum);
	for (size_t i = 0; i < matrix->n_columns; i++) {
		int64_t part = ns ? ns[i] : matrix->columns[i].ns;
		size_t width = strlen(side_name(report, &matrix->columns[i]));
		char text[32] = "";

		if (part)
			format_duration(text, sizeof(text), part);
		if (matrix->columns[i].ns)
			text_right(out, text, width > TEXT_NUMBER ? width : TEXT_NUMBER);
	}
	out_char(out, '\n');
}

/** Rows are preempted, columns have the pCPU. */
static void text(struct output *out, const struct report *report)
{
	const struct virt_matrix *matrix = report->matrix;

	if (!report_knows(report, VIRT_NUMBER_CULPRITS)) {
		out_char(out, '\n');
		text_name(out, "preempted, by");
		text_unknown(out);
		out_char(out, '\n');
		return;
	}
	if (!matrix->total_ns)
		return;
	out_char(out, '\n');
	text_name(out, "preempted, by");
	text_right(out, "time", TEXT_NUMBER);
	for (size_t i = 0; i < matrix->n_columns; i++)
		if (matrix->columns[i].ns)
			text_right(out, side_name(report, &matrix->columns[i]), TEXT_NUMBER);
	out_char(out, '\n');
	for (size_t i = 0; i < matrix->n_rows; i++)
		if (matrix->rows[i].ns)
			text_row(out, report, side_name(report, &matrix->rows[i]),
				 matrix->rows[i].ns, &matrix->ns[i * matrix->n_columns]);
	text_row(out, report, "all", matrix->total_ns, NULL);
	report_stolen_text(out, report);
}

/** Who takes how much. @ns: of a row; NULL: of all */
static void json_by(struct json *json, const struct report *report, const int64_t *ns)
{
	const struct virt_matrix *steal = report->matrix;

	json_open(json, "by", '[', false);
	for (size_t i = 0; i < steal->n_columns; i++) {
		int64_t part = ns ? ns[i] : steal->columns[i].ns;

		if (!part)
			continue;
		json_open(json, NULL, '{', true);
		json_str(json, "who", side_name(report, &steal->columns[i]));
		json_i64(json, "total_ns", part);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void json(struct json *json, const struct report *report)
{
	const struct virt_matrix *steal = report->matrix;

	json_open(json, "steal", '{', false);
	json->unknown = !report_knows(report, VIRT_NUMBER_PREEMPTED);
	json_i64(json, "total_ns", steal->total_ns);
	json->unknown = false;
	if (!report_knows(report, VIRT_NUMBER_CULPRITS)) {
		json_null(json, "by");
		json_null(json, "machines");
		json_close(json, '}');
		return;
	}
	json_by(json, report, NULL);
	json_open(json, "machines", '[', false);
	for (size_t i = 0; i < steal->n_rows; i++) {
		if (!steal->rows[i].ns)
			continue;
		json_open(json, NULL, '{', false);
		json_str(json, "machine", side_name(report, &steal->rows[i]));
		json_i64(json, "total_ns", steal->rows[i].ns);
		json_by(json, report, &steal->ns[i * steal->n_columns]);
		json_close(json, '}');
	}
	json_close(json, ']');
	report_stolen_json(json, report);
	json_close(json, '}');
}

/** Without a name, by all of them. @ns: as for json_by() */
static void csv_by(struct output *out, const struct report *report, const char *machine,
		   int64_t sum, const int64_t *ns)
{
	const struct csv_row row = { .machine = machine };
	const struct virt_matrix *steal = report->matrix;

	csv_time(out, report, &row, "steal", NULL, sum);
	for (size_t i = 0; i < steal->n_columns; i++) {
		int64_t part = ns ? ns[i] : steal->columns[i].ns;

		if (part)
			csv_time(out, report, &row, "steal", side_name(report, &steal->columns[i]),
				 part);
	}
}

/** Without a machine, of all of them. */
static void csv(struct output *out, const struct report *report)
{
	const struct virt_matrix *steal = report->matrix;

	if (!report_knows(report, VIRT_NUMBER_CULPRITS)) {
		csv_time(out, report, &(struct csv_row){ .unknown = true }, "steal", NULL, 0);
		return;
	}
	csv_by(out, report, NULL, steal->total_ns, NULL);
	for (size_t i = 0; i < steal->n_rows; i++)
		if (steal->rows[i].ns)
			csv_by(out, report, side_name(report, &steal->rows[i]), steal->rows[i].ns,
			       &steal->ns[i * steal->n_columns]);
	report_stolen_csv(out, report);
}

const struct report_section report_steal = { .text = text, .json = json, .csv = csv };
