/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_worst.h
 * @brief	kshark-virt report --worst: a list of the worst moments.
 */
#ifndef KSHARK_VIRT_REPORT_WORST_H
#define KSHARK_VIRT_REPORT_WORST_H

#include "report.h"
#include "table.h"
#include "virt_finding.h"
#include "virt_worst.h"

struct report_worst {
	size_t		n;			/* how many at most; 0: not asked for */
	unsigned int	kinds;			/* set of 1 << enum virt_worst_kind */
	int64_t		above_ns;		/* only moments that cost at least this */
	bool		apart;			/* one moment of each incident */
};

/** report_worst_kinds - parse a list such as exit,steal. Return: 0 or -EINVAL. */
int report_worst_kinds(const char *text, unsigned int *kinds);

/**
 * report_worst_index - the index of all vCPUs: the report's, or a new one
 * @own: the new one, to be freed, or NULL
 *
 * Return: the index, or NULL without memory.
 */
struct virt_worst *report_worst_index(const struct report *report, struct virt_worst **own);

/**
 * report_worst_each - pass each moment to @take, the worst one first
 *
 * Return: 0 or -ENOMEM.
 */
int report_worst_each(const struct report *report, const struct ksv_vcpu_set *vcpus,
		      const struct report_worst *worst,
		      void (*take)(void *arg, const struct virt_finding *finding), void *arg);

/** report_moment_text - a moment of a model in a sentence; names are escaped, see escape.h */
void report_moment_text(char *text, size_t size, const struct virt_model *model,
			const struct virt_finding *finding);

/**
 * report_worst_write - find and write them, but not as HTML
 * @report: with file, load and window set
 * @first: this is the first file of the output
 *
 * Return: 0 or -ENOMEM.
 */
int report_worst_write(enum table_format_kind format, struct output *out,
		       const struct report *report, const struct ksv_vcpu_set *vcpus,
		       const struct report_worst *worst, bool first);

#endif
