/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_traced.h
 * @brief	Functions in the traces of a host and its guests, by tracers of ftrace.
 */
#ifndef KSHARK_VIRT_REPORT_TRACED_H
#define KSHARK_VIRT_REPORT_TRACED_H

#include "report.h"
#include "virt_window.h"

struct report_counted;
struct report_hypertrace;

/** report_traced_build - as in struct report_section */
int report_traced_build(struct report_counted *counted, struct report *report,
			const struct ksv_vcpu_set *vcpus);

/** report_traced_free - what it has added */
void report_traced_free(struct report_hypertrace *hypertrace);

#endif
