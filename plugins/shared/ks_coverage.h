/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ks_coverage.h
 * @brief	Find the times that a stream's rows cover, CPU by CPU.
 *
 * KernelShark draws the last task until the window's end. The trace of a CPU shows nothing before
 * its first record, after its last one, and from the last record before lost ones to the next
 * record.
 */
#ifndef KSHARK_VIRT_KS_COVERAGE_H
#define KSHARK_VIRT_KS_COVERAGE_H

#include <stddef.h>
#include <stdint.h>

#include <libkshark.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ks_coverage;

/**
 * ks_coverage_new - look through rows
 * @rows: of all streams, in order of time, as KernelShark has them; hidden ones count
 *
 * Return: to be given to ks_coverage_free(); NULL without memory.
 */
struct ks_coverage *ks_coverage_new(struct kshark_entry *const *rows, size_t n, int stream_id);

/** ks_coverage_free - free it; it may be NULL. */
void ks_coverage_free(struct ks_coverage *coverage);

/** Columns side by side in which nothing is known. */
struct ks_gap {
	int32_t	first, n;
};

/**
 * ks_coverage_gaps - the columns of a graph that lie in unknown time as a whole
 * @from_ns: where column 0 begins; as the rows count
 * @column_ns: length of a column, above 0
 * @gaps: receives them from left to right; room for @n_columns
 *
 * Return: number of gaps.
 */
int ks_coverage_gaps(const struct ks_coverage *coverage, int cpu, int64_t from_ns,
		     int64_t column_ns, int n_columns, struct ks_gap *gaps);

#ifdef __cplusplus
}
#endif
#endif
