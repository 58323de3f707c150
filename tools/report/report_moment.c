// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_moment.c
 * @brief	One of the worst moments in a sentence.
 */
#include <stdarg.h>
#include <stdio.h>

#include "escape.h"
#include "report_worst.h"
#include "text_columns.h"
#include "virt_arguments.h"

static size_t note_add(char *text, size_t n, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static size_t note_add(char *text, size_t n, size_t size, const char *format, ...)
{
	va_list args;
	int more;

	va_start(args, format);
	more = n < size ? vsnprintf(text + n, size - n, format, args) : 0;
	va_end(args);
	return n + (more > 0 ? (size_t)more : 0);
}

/** The parts of the cost of an exit: all time but the waits that the guest asked for. */
static void add_parts(char *text, size_t n, size_t size, const struct virt_moment *moment)
{
	static const enum virt_state costs[] = {
		VIRT_HYPERVISOR, VIRT_VMM, VIRT_PREEMPTED, VIRT_WAKING,
	};
	const char *before = ": ";

	char time[32];

	for (size_t i = 0; i < ARRAY_SIZE(costs); i++) {
		if (!moment->state_ns[costs[i]])
			continue;
		format_duration(time, sizeof(time), moment->state_ns[costs[i]]);
		n = note_add(text, n, size, "%s%s %s", before, virt_state_name(costs[i]), time);
		before = ", ";
	}
	if (!moment->unasked_ns)
		return;
	format_duration(time, sizeof(time), moment->unasked_ns);
	note_add(text, n, size, "%skept waiting %s", before, time);
}

void report_moment_text(char *text, size_t size, const struct virt_model *model,
			const struct virt_finding *finding)
{
	const struct virt_moment *moment = &finding->moment;
	const char *argument;
	const char *least = moment->begun && moment->complete ? "" : "at least ";
	char vcpu[256], what[256], cost[32], time[32], pcpu[32] = "an unknown pCPU";
	size_t n = 0;

	escape_text(vcpu, sizeof(vcpu), finding->vcpu);
	escape_text(what, sizeof(what), finding->what);
	format_duration(cost, sizeof(cost), moment->cost_ns);
	format_duration(time, sizeof(time), moment->who_ns);
	if (moment->pcpu >= 0)
		snprintf(pcpu, sizeof(pcpu), "pCPU %d", moment->pcpu);
	switch (moment->kind) {
	case VIRT_WORST_STEAL:
		n = note_add(text, n, size, "%s was preempted and waited %s%s for %s", vcpu, least,
			     cost, pcpu);
		if (moment->who_ns && moment->pcpu >= 0)
			note_add(text, n, size, "; %s had it for %s", what, time);
		break;
	case VIRT_WORST_WAKE:
		n = note_add(text, n, size, "%s was woken and waited %s%s until it ran on %s",
			     vcpu, least, cost, pcpu);
		if (moment->who_ns)
			note_add(text, n, size, "; %s had it for %s", what, time);
		break;
	default:
		argument = virt_argument_text(model, moment->argument);
		n = note_add(text, n, size, "%s left its guest on %s (%s%s%s), which cost %s%s",
			     vcpu, pcpu, *what ? what : "for an unknown reason",
			     argument ? ": " : "", argument ? argument : "", least, cost);
		add_parts(text, n, size, moment);
	}
}
