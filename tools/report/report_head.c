// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_head.c
 * @brief	Write the file, the clock and the window of a report.
 */
#include "json_durations.h"
#include "report_section.h"
#include "report_unknown.h"
#include "text_columns.h"

/** Functions are reported of any kernel. */
static bool is_host(const struct report *report)
{
	return report->load->host.xen || kvm_trace_is_host(report->load->host.kvm);
}

static void text(struct output *out, const struct report *report)
{
	char clock[256];

	out_style(out, OUT_HEAD);
	out_text(out, report->file);
	out_style(out, OUT_PLAIN);
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
	if (is_host(report))
		report_lacks_text(out, report);
}

static void head_clock_facts(struct facts *to, const struct xen_clock *clock)
{
	const char *source = xen_clock_source_name(clock->source);

	facts_open(to, "clock", '{', true);
	facts_number(to, "cpu_khz", (int64_t)((clock->hz + 500) / 1000));
	facts_count(to, FACT("cpu_hz", "clock_hz", source), clock->hz);
	facts_name(to, "source", source);
	if (to->json)
		json_fixed(to->json, "residual_ppm", clock->residual_ppm);
	facts_close(to, '}');
}

static void head_facts(struct facts *to, const struct report *report)
{
	facts_name(to, "file", report->file);
	if (is_host(report))
		facts_name(to, "hypervisor", host_trace_hypervisor(&report->load->host));
	if (report->load->host.xen)
		head_clock_facts(to, xen_trace_clock(report->load->host.xen));
	facts_ns(to, FACT_CSV("window", "from"), report->from_ns);
	facts_ns(to, FACT_CSV("window", "to"), report->to_ns);
	if (is_host(report))
		report_lacks_facts(to, report);
	if (!to->json)
		return;
	json_window(to->json, report->from_ns, report->to_ns);
	json_warnings(to->json, &report->load->notes);
}

const struct report_section report_head = { .text = text, .facts = head_facts };
