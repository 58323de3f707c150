/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_unknown.h
 * @brief	What a report does not know, as the trace has no records of it.
 *
 * A number that is unknown is "-" in text, null in JSON and empty in CSV.
 */
#ifndef KSHARK_VIRT_REPORT_UNKNOWN_H
#define KSHARK_VIRT_REPORT_UNKNOWN_H

#include "json_writer.h"
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

/** report_lacks_text - a line for each kind that was not recorded, what is unknown without it */
void report_lacks_text(struct output *out, const struct report *report);

/** report_lacks_json - the same as the list "not_recorded", if anything was not */
void report_lacks_json(struct json *json, const struct report *report);

/** report_lacks_csv - the same as rows of the sections not_recorded and includes */
void report_lacks_csv(struct output *out, const struct report *report);

/** report_advice_text - of a page about one number: why it has nothing, if that is unknown */
void report_advice_text(struct output *out, const struct report *report, enum virt_number number);

/** json_state - json_stretches() of the time in a state, null if it is unknown */
void json_state(struct json *json, const struct report *report, const char *key,
		enum virt_state state, const struct virt_stretches *stretches);

/** json_known_stretches - json_stretches(), null if @number is unknown */
void json_known_stretches(struct json *json, const struct report *report, enum virt_number number,
			  const char *key, const struct virt_stretches *stretches);

#endif
