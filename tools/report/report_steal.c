// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_steal.c
 * @brief	Who takes pCPUs from whom, machine by machine. JSON and CSV have it vCPU by vCPU.
 */
#include <string.h>

#include "report_section.h"
#include "report_text.h"

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
			report_duration(text, sizeof(text), part);
		if (matrix->columns[i].ns)
			text_right(out, text, width > TEXT_NUMBER ? width : TEXT_NUMBER);
	}
	out_char(out, '\n');
}

/** Rows are preempted, columns have the pCPU. */
static void text(struct output *out, const struct report *report)
{
	const struct virt_matrix *matrix = report->matrix;

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
}

const struct report_section report_steal = { .text = text };
