// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_range.c
 * @brief	--from and --to of a command that covers one window.
 */
#include "report_range.h"

/** A day of seconds fits. */
#define MAX_INTERVALS	1000000

/** A vCPU or pCPU in an interval: an hour of seconds of a host with 2000 of them fits. */
#define MAX_CELLS	10000000

int report_set_range(const struct ksv_command *command, struct report *report,
		     const struct ksv_time *from, const struct ksv_time *to)
{
	return model_window(report->load, command, from, to, &report->from_ns, &report->to_ns);
}

/** All pCPUs, and the vCPUs that are wanted. */
static uint64_t count_cpus(const struct report *report, const struct ksv_vcpu_set *vcpus)
{
	const struct virt_model *model = report->load->model;
	int n_pcpus = host_trace_n_pcpus(&report->load->host);
	uint64_t n;

	n = (uint64_t)(virt_model_n_pcpus(model) > n_pcpus ? virt_model_n_pcpus(model) : n_pcpus);
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++)
		n += report_wants_vcpu(report, i, vcpus);
	return n;
}

int report_check_intervals(const struct ksv_command *command, const struct report *report,
			   const struct ksv_vcpu_set *vcpus, int64_t interval_ns)
{
	/* times may be farther apart than a time can be */
	uint64_t length_ns = (uint64_t)report->to_ns - (uint64_t)report->from_ns;
	uint64_t n = length_ns / (uint64_t)interval_ns + 1, cpus = count_cpus(report, vcpus);

	if (n > MAX_INTERVALS)
		return ksv_usage_error(command, "%s: more than %d intervals: give a longer "
				       "--interval, or --from and --to", report->file,
				       MAX_INTERVALS);
	if (n * cpus > MAX_CELLS)
		return ksv_usage_error(command, "%s: %llu intervals of %llu vCPUs and pCPUs are "
				       "more than %d rows: give a longer --interval, or --from "
				       "and --to", report->file, (unsigned long long)n,
				       (unsigned long long)cpus, MAX_CELLS);
	return KSV_EXIT_OK;
}
