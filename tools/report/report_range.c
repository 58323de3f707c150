// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_range.c
 * @brief	--from and --to of a command that tells of one window.
 */
#include "report_range.h"

int report_set_range(const struct ksv_command *command, struct report *report,
		     const struct ksv_time *from, const struct ksv_time *to)
{
	int64_t begin_ns = virt_model_begin(report->load->model);
	int64_t end_ns = virt_model_end(report->load->model);

	report->from_ns = model_time(report->load, from, INT64_MIN);
	report->to_ns = model_time(report->load, to, INT64_MAX);
	if (report->from_ns >= report->to_ns)
		return ksv_usage_error(command, "--from is not before --to: nothing lies between");
	if (report->from_ns < begin_ns)
		report->from_ns = begin_ns;
	if (report->to_ns > end_ns)
		report->to_ns = end_ns;
	if (report->from_ns < report->to_ns)
		return KSV_EXIT_OK;
	return ksv_usage_error(command, "%s: --from and --to lie outside the trace, which goes "
			       "from %lld ns to %lld ns", report->file, (long long)begin_ns,
			       (long long)end_ns);
}
