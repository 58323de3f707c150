// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_head.c
 * @brief	Which file, clock and window a report is about.
 */
#include "json_durations.h"
#include "report_csv.h"
#include "report_section.h"
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

static void text(struct output *out, const struct report *report)
{
	char clock[256];

	out_text(out, report->file);
	if (report->load->host.xen) {
		out_str(out, "\n  clock    ");
		xen_clock_text(clock, sizeof(clock), xen_trace_clock(report->load->host.xen));
		out_str(out, clock);
	}
	out_str(out, "\n  window   ");
	out_ns(out, report->from_ns, 0);
	out_str(out, " .. ");
	out_ns(out, report->to_ns, 0);
	out_str(out, " s\n  records  ");
	out_u64(out, report->count->records);
	out_char(out, '\n');
	if (report_head_note(report)) {
		out_str(out, "  note     ");
		out_str(out, report_head_note(report));
		out_char(out, '\n');
	}
	report_lacks_text(out, report);
}

static void json_clock(struct json *json, const struct report *report)
{
	const struct xen_clock *clock = xen_trace_clock(report->load->host.xen);

	json_open(json, "clock", '{', true);
	json_u64(json, "cpu_khz", (clock->hz + 500) / 1000);
	json_u64(json, "cpu_hz", clock->hz);
	json_str(json, "source", xen_clock_source_name(clock->source));
	json_fixed(json, "residual_ppm", clock->residual_ppm);
	json_close(json, '}');
}

static void json(struct json *json, const struct report *report)
{
	json_str(json, "file", report->file);
	json_str(json, "hypervisor", host_trace_hypervisor(&report->load->host));
	if (report->load->host.xen)
		json_clock(json, report);
	if (report_is_unsplit(report))
		json_bool(json, "unsplit", true);
	report_lacks_json(json, report);
	json_window(json, report->from_ns, report->to_ns);
	json_warnings(json, &report->load->notes);
}

static void csv(struct output *out, const struct report *report)
{
	const struct xen_clock *clock = report->load->host.xen ?
					xen_trace_clock(report->load->host.xen) : NULL;
	const struct csv_row row = { 0 };

	if (clock)
		csv_count(out, report, &row, "clock_hz", xen_clock_source_name(clock->source),
			  clock->hz);
	csv_time(out, report, &row, "window", "from", report->from_ns);
	csv_time(out, report, &row, "window", "to", report->to_ns);
	report_lacks_csv(out, report);
}

const struct report_section report_head = { .text = text, .json = json, .csv = csv };
