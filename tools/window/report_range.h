/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_range.h
 * @brief	--from and --to of a command that covers one window.
 */
#ifndef KSHARK_VIRT_REPORT_RANGE_H
#define KSHARK_VIRT_REPORT_RANGE_H

#include "report.h"

/**
 * report_set_range - the window of @report, cut to its trace, whose model is there
 *
 * Return: KSV_EXIT_OK, or the exit status after a message: nothing of the trace lies in it.
 */
int report_set_range(const struct ksv_command *command, struct report *report,
		     const struct ksv_time *from, const struct ksv_time *to);

/** report_begin_intervals - make report->lost. Return: KSV_EXIT_OK, or after a message. */
int report_begin_intervals(struct report *report);

/**
 * report_check_intervals - can the window of @report be written in intervals of this length?
 *
 * A small file can name a very long time. Each vCPU is in a state in each interval, so the product
 * of both is limited by what the trace shows of the vCPUs.
 *
 * Return: KSV_EXIT_OK, or the exit status after a message.
 */
int report_check_intervals(const struct ksv_command *command, const struct report *report,
			   const struct ksv_vcpu_set *vcpus, int64_t interval_ns);

#endif
