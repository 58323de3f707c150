// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_unknown.c
 * @brief	Numbers that a report does not know, because the trace has no records of them.
 */
#include <stdio.h>

#include "json_durations.h"
#include "report_unknown.h"
#include "text_columns.h"

const char *report_head_note(const struct report *report)
{
	if (virt_model_knows_calls_only(report->load->model))
		return "neither kvm_entry nor kvm_exit in it: what vCPUs do beside their "
		       "hypercalls is unknown";
	if (report_is_unsplit(report))
		return "no sched_switch in it: the time from a VM exit to the next entry is not "
		       "split into work,\n           waits and sleep; it is unknown after HLT and "
		       "the like, or if the vCPU has left its pCPU";
	return NULL;
}

static void put_note(struct output *out, const char *text)
{
	out_styled(out, OUT_WARNING, "  note     ");
	out_str(out, text);
	out_char(out, '\n');
}

void report_lacks_text(struct output *out, const struct report *report)
{
	char text[VIRT_ADVICE_SIZE];

	if (report_head_note(report))
		put_note(out, report_head_note(report));
	for (int kind = 0; kind < VIRT_RECORD_N_KINDS; kind++) {
		if (!virt_model_lacks(report->load->model, (enum virt_record_kind)kind, text,
				      sizeof(text)))
			continue;
		put_note(out, text);
	}
}

/** Numbers that need a kind, those that not every report has among them. */
static void unknown_without(struct facts *to, const struct virt_model *model,
			    enum virt_record_kind kind)
{
	facts_open(to, "unknown", '[', true);
	for (int number = 0; number < VIRT_N_NUMBERS; number++)
		if (virt_model_unknown_without(model, kind, (enum virt_number)number))
			facts_name(to, NULL, virt_number_name((enum virt_number)number));
	facts_close(to, ']');
}

/** A member of JSON, whose value is an object; a row of CSV for each of these states. */
static void includes(struct facts *to, const struct virt_model *model)
{
	bool any = false;

	for (int i = 0; i < VIRT_N_STATES; i++) {
		enum virt_state state = (enum virt_state)i;
		unsigned int in = virt_model_includes(model, state);
		char text[VIRT_ADVICE_SIZE], names[VIRT_STATE_NAMES];

		if (!in)
			continue;
		if (!any)
			facts_open(to, "includes", '{', true);
		any = true;
		facts_name(to, virt_state_name(state),
			   virt_state_names(in, "+", names, sizeof(names)));
		snprintf(text, sizeof(text), "%s includes %s", virt_state_name(state),
			 virt_state_names(in, " and ", names, sizeof(names)));
		facts_row(to, "includes", text);
	}
	if (any)
		facts_close(to, '}');
}

void report_lacks_facts(struct facts *to, const struct report *report)
{
	const struct virt_model *model = report->load->model;
	char text[VIRT_ADVICE_SIZE];
	bool any = false;

	if (report_is_unsplit(report))
		facts_flag(to, "unsplit", true);
	for (int i = 0; i < VIRT_RECORD_N_KINDS; i++) {
		enum virt_record_kind kind = (enum virt_record_kind)i;
		const char *name = virt_record_name(virt_model_hypervisor(model), kind);

		if (!virt_model_lacks(model, kind, text, sizeof(text)))
			continue;
		if (!any)
			facts_open(to, "not_recorded", '[', false);
		any = true;
		facts_open(to, NULL, '{', true);
		facts_name(to, "record", name);
		facts_row(to, "not_recorded", name);
		unknown_without(to, model, kind);
		facts_close(to, '}');
	}
	if (any)
		facts_close(to, ']');
	includes(to, model);
}

void report_advice_text(struct output *out, const struct report *report, enum virt_number number)
{
	char text[VIRT_ADVICE_SIZE];

	if (!*virt_model_advice(report->load->model, number, text, sizeof(text)))
		return;
	out_styled(out, OUT_WARNING, "  note     ");
	out_str(out, virt_number_name(number));
	out_str(out, ": unknown, as ");
	out_str(out, text);
	out_char(out, '\n');
}

void report_known_facts(struct facts *to, struct fact fact, const struct report *report,
			enum virt_number number, const struct virt_stretches *stretches)
{
	to->unknown = !report_knows(report, number);
	facts_stretches(to, fact, stretches);
	to->unknown = false;
}

/** Which other states' time is in that of a state, as a member @key of the object that is open. */
static void state_includes(struct json *json, const char *key, unsigned int in)
{
	char names[VIRT_STATE_NAMES];

	if (in)
		json_str(json, key, virt_state_names(in, "+", names, sizeof(names)));
}

void report_state_facts(struct facts *to, struct fact fact, const struct report *report,
			enum virt_state state, const struct virt_stretches *stretches)
{
	unsigned int in = virt_model_includes(report->load->model, state);

	if (in && to->json) {
		json_open(to->json, fact.key, '{', true);
		json_stretch_members(to->json, stretches);
		state_includes(to->json, "includes", in);
		json_close(to->json, '}');
		fact.key = NULL;
	}
	to->unknown = !report_knows_state(report, state);
	facts_stretches(to, fact, stretches);
	to->unknown = false;
}

void report_states_facts(struct facts *to, const struct report *report, const char *section,
			 const char *name, enum virt_state first, enum virt_state end,
			 const int64_t *ns)
{
	bool before = to->unknown;
	char text[48];

	facts_open(to, "states_ns", '{', true);
	for (int i = first; i < (int)end; i++) {
		enum virt_state state = (enum virt_state)i;

		snprintf(text, sizeof(text), "%s%s", section ? section : "",
			 virt_state_name(state));
		to->unknown = before || !report_knows_state(report, state);
		facts_part(to, FACT(virt_state_name(state), section ? text : NULL, name), ns[i]);
	}
	to->unknown = before;
	for (int i = first; i < (int)end && to->json; i++) {
		enum virt_state state = (enum virt_state)i;

		snprintf(text, sizeof(text), "%s_includes", virt_state_name(state));
		state_includes(to->json, text, virt_model_includes(report->load->model, state));
	}
	facts_close(to, '}');
}

void report_unasked_facts(struct facts *to, const struct report *report, const char *name,
			  int64_t ns, int64_t vmm_ns)
{
	bool before = to->unknown;

	to->unknown |= !report_knows_state(report, VIRT_BLOCKED);
	facts_part(to, FACT("unasked_ns", name ? "exit_unasked" : NULL, name), ns);
	to->unknown |= !report_knows_state(report, VIRT_VMM);
	facts_part(to, FACT("unasked_vmm_ns", name ? "exit_unasked_vmm" : NULL, name), vmm_ns);
	to->unknown = before;
}
