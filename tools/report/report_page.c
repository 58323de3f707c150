// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_page.c
 * @brief	Which file and window a page of a report is about.
 */
#include <string.h>

#include "report_json.h"
#include "report_page.h"
#include "report_unknown.h"

void report_page_head(struct output *out, const struct report *report, bool first)
{
	out_str(out, first ? "" : "\n");
	out_text(out, report->file);
	out_str(out, "\n  window   ");
	out_ns(out, report->from_ns, 0);
	out_str(out, " .. ");
	out_ns(out, report->to_ns, 0);
	out_str(out, " s\n");
	report_lacks_text(out, report);
}

void report_page_begin(struct json *json, struct output *out, const struct report *report)
{
	json_begin(json, out);
	json_open(json, NULL, '{', false);
	json_str(json, "file", report->file);
	report_lacks_json(json, report);
	json_window(json, report->from_ns, report->to_ns);
	json_warnings(json, &report->load->notes);
}

void report_page_end(struct json *json)
{
	json_close(json, '}');
	json_end(json);
}

void report_csv_text(struct output *out, const char *text)
{
	out_csv(out, text ? text : "", text ? strlen(text) : 0);
	out_char(out, ',');
}
