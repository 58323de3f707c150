/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	top.h
 * @brief	What happened in one interval of a trace, fact by fact, and who writes it down.
 *
 * The numbers are those of virt_window.h: times are cut to the interval, what begins in it is
 * counted and has its whole length. So intervals without gaps add up to the window that they fill.
 */
#ifndef KSHARK_VIRT_TOP_H
#define KSHARK_VIRT_TOP_H

#include "report.h"

enum top_kind {
	TOP_MACHINE_STATE = 0,	/* of a machine: its vCPUs together */
	TOP_STATE,
	TOP_UNSPLIT,		/* of TOP_STATE: VIRT_INTERVAL_UNSPLIT */
	TOP_EXIT,
	TOP_WAKE,
	TOP_STEAL,
	TOP_LOSS,		/* of a pCPU */
	TOP_N_KINDS
};

/** One number, or those that belong together. */
struct top_fact {
	enum top_kind	kind;
	const struct virt_machine *machine;	/* NULL: of a pCPU */
	const struct virt_vcpu *vcpu;		/* NULL: of a machine or pCPU */
	int		pcpu;
	const char	*name;			/* state, reason, culprit; or NULL */
	int32_t		id;			/* of what the name is; names may be the same */
	int64_t		ns;			/* or VIRT_NONE: not known */
	int64_t		count;			/* or VIRT_NONE */
	int64_t		complete;		/* of these, with a length; or VIRT_NONE */
	int64_t		p99;			/* or VIRT_NONE */
	int64_t		known_ns;		/* what shares refer to */
};

typedef void (*top_fact_fn)(void *arg, const struct top_fact *fact);

/**
 * top_facts - all that is told of the window of @report, machine by machine, then pCPUs
 *
 * Return: 0 or -ENOMEM.
 */
int top_facts(struct report *report, const struct ksv_vcpu_set *vcpus, top_fact_fn take, void *arg);

/** top_section - the name of a kind. */
const char *top_section(enum top_kind kind);

/** How intervals are written. */
struct top_format {
	void	(*begin)(struct output *out, const struct report *report);	/* or NULL */
	/** Return: 0 or -ENOMEM */
	int	(*interval)(struct output *out, struct report *report,
			    const struct ksv_vcpu_set *vcpus);
	void	(*end)(struct output *out);					/* or NULL */
	bool	at_once;	/* a single interval: counters since the window's beginning */
};

extern const struct top_format top_text, top_csv, top_json, top_openmetrics;

#endif
