// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_losses.c
 * @brief	Missing records, and contradictions in the others.
 */
#include <stdio.h>

#include "json_durations.h"
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
			text_rest(out);
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

static void loss_facts(struct facts *to, const struct report *report)
{
	const struct virt_model *model = report->load->model;
	struct virt_loss_range losses = virt_model_losses_from(model, report->from_ns,
							       report->to_ns);

	facts_open(to, "lost", '{', false);
	facts_count(to, FACT_JSON("records"), virt_model_count_losses(model, VIRT_NONE,
								      report->from_ns,
								      report->to_ns).records);
	facts_open(to, "windows", '[', false);
	for (size_t i = 0; i < losses.n; i++) {
		const struct virt_loss *loss = &losses.first[i];

		facts_open(to, NULL, '{', true);
		facts_number(to, "pcpu", loss->pcpu);
		facts_number(to, "from_ns", loss->from_ns);
		facts_number(to, "to_ns", loss->to_ns);
		to->unknown = !loss->records;
		facts_count(to, FACT_JSON("records"), loss->records);
		to->unknown = false;
		facts_close(to, '}');
	}
	facts_close(to, ']');
	facts_close(to, '}');
}

/* text has the list at its end */
const struct report_section report_losses = { .facts = loss_facts };
const struct report_section report_losses_list = { .text = text };

static void contradiction_facts(struct facts *to, const struct report *report)
{
	const struct virt_model *model = report->load->model;
	const char *what;

	facts_open(to, "contradictions", '[', false);
	for (int i = 0; (what = virt_model_contradictions(model, i, NULL)); i++) {
		uint64_t count = virt_model_count_contradictions(model, i, report->from_ns,
								 report->to_ns);

		if (!count)
			continue;
		facts_open(to, NULL, '{', true);
		facts_name(to, "what", what);
		facts_count(to, FACT("count", "contradiction", what), count);
		facts_close(to, '}');
	}
	facts_close(to, ']');
}

const struct report_section report_contradictions = { .facts = contradiction_facts };
