// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_range.c
 * @brief	--from and --to of a command that covers one window.
 */
#include "model_vcpus.h"
#include "report_range.h"

int report_set_range(const struct ksv_command *command, struct report *report,
		     const struct ksv_time *from, const struct ksv_time *to)
{
	return model_window(report->load, command, from, to, &report->from_ns, &report->to_ns);
}

int report_begin_intervals(struct report *report)
{
	report->lost = virt_loss_walk_new(report->load->model);
	if (report->lost)
		return KSV_EXIT_OK;
	ksv_error("%s: not enough memory", report->file);
	return KSV_EXIT_FILE;
}

int report_check_intervals(const struct ksv_command *command, const struct report *report,
			   const struct ksv_vcpu_set *vcpus, int64_t interval_ns)
{
	const struct virt_model *model = report->load->model;
	/* times may be farther apart than a time can be */
	uint64_t length_ns = (uint64_t)report->to_ns - (uint64_t)report->from_ns;
	uint64_t n = length_ns / (uint64_t)interval_ns + (length_ns % (uint64_t)interval_ns != 0);
	struct model_extent extent = model_extent(model, vcpus, report->from_ns, report->to_ns);
	uint64_t of = extent.vcpus + (uint64_t)virt_model_n_machines(model) +
		      virt_loss_walk_n_pcpus(report->lost);

	if (!of || n <= extent.most_rows / of)
		return KSV_EXIT_OK;
	return ksv_usage_error(command, "%s: %llu intervals of %llu machines, vCPUs and pCPUs with "
			       "losses are too many: for %llu changes of state, at most %llu rows "
			       "are written: give a longer --interval, or --from and --to",
			       report->file, (unsigned long long)n, (unsigned long long)of,
			       (unsigned long long)extent.states,
			       (unsigned long long)extent.most_rows);
}
