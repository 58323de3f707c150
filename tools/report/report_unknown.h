/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_unknown.h
 * @brief	Numbers that a report does not know, because the trace has no records of them.
 *
 * A number that is unknown is "-" in text, null in JSON and empty in CSV.
 */
#ifndef KSHARK_VIRT_REPORT_UNKNOWN_H
#define KSHARK_VIRT_REPORT_UNKNOWN_H

#include "facts.h"
#include "report.h"
#include "virt_needs.h"

/** report_knows - can the trace show a number? */
static inline bool report_knows(const struct report *report, enum virt_number number)
{
	return virt_model_knows(report->load->model, number);
}

/** report_knows_state - can it show the time in a state, perhaps together with another one? */
static inline bool report_knows_state(const struct report *report, enum virt_state state)
{
	return virt_model_knows_state(report->load->model, state);
}

/** report_head_note - what limits all numbers of the trace, perhaps in two lines; or NULL */
const char *report_head_note(const struct report *report);

/** report_lacks_text - that note, and a line for each kind that was not recorded */
void report_lacks_text(struct output *out, const struct report *report);

/**
 * report_lacks_facts - the same, if anything was not; whether waits are split, and which states
 * include others
 */
void report_lacks_facts(struct facts *to, const struct report *report);

/** report_advice_text - of a page about one number: why it has nothing, if that is unknown */
void report_advice_text(struct output *out, const struct report *report, enum virt_number number);

/** report_known_facts - facts_stretches(), without numbers if @number is unknown */
void report_known_facts(struct facts *to, struct fact fact, const struct report *report,
			enum virt_number number, const struct virt_stretches *stretches);

/** report_state_facts - the same for the time in a state */
void report_state_facts(struct facts *to, struct fact fact, const struct report *report,
			enum virt_state state, const struct virt_stretches *stretches);

/**
 * report_states_facts - member "states_ns": time by state, without numbers where it is unknown
 * @section: of CSV, with the name of the state after it; NULL: not there
 * @first, @end: the states that apply, the last one not included
 * @ns: of all states
 */
void report_states_facts(struct facts *to, const struct report *report, const char *section,
			 const char *name, enum virt_state first, enum virt_state end,
			 const int64_t *ns);

/**
 * report_unasked_facts - the part of the time of states that the guest did not ask for
 * @name: of the rows of CSV; NULL: no rows
 */
void report_unasked_facts(struct facts *to, const struct report *report, const char *name,
			  int64_t ns, int64_t vmm_ns);

#endif
