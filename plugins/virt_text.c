// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_text.c
 * @brief	Intervals and migrations in words.
 */
#include <stdarg.h>
#include <stdio.h>

#include "virt_text.h"

/** Culprits of a preemption that are named. */
#define MAX_CULPRITS	3

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/** A text that grows until its room is full. */
struct text {
	char	*buf;
	size_t	size, n;
};

__attribute__((format(printf, 2, 3)))
static void add(struct text *text, const char *format, ...)
{
	va_list args;
	int n;

	if (text->n + 1 >= text->size)
		return;
	va_start(args, format);
	n = vsnprintf(text->buf + text->n, text->size - text->n, format, args);
	va_end(args);
	if (n > 0)
		text->n += n;
	if (text->n >= text->size)
		text->n = text->size - 1;
}

const char *virt_text_duration(char *buf, size_t size, int64_t ns)
{
	static const struct {
		int64_t		unit_ns;
		const char	*name;
	} units[] = {
		{ 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (ns >= units[i].unit_ns) {
			snprintf(buf, size, "%.3f %s", (double)ns / (double)units[i].unit_ns,
				 units[i].name);
			return buf;
		}
	}
	snprintf(buf, size, "%lld ns", (long long)ns);
	return buf;
}

const char *virt_text_reason(const struct virt_model *model, int32_t reason)
{
	const char *name = reason < 0 ? NULL : virt_model_reason(model, reason);

	return name ? name : "unknown reason";
}

const char *virt_text_vcpu(const struct virt_model *model, int32_t vcpu)
{
	const char *name = virt_model_who(model, vcpu);

	return name ? name : "idle or unknown";
}

static void add_culprits(struct text *text, const struct virt_model *model, int32_t vcpu,
			 const struct virt_interval *interval, int64_t end_ns)
{
	struct virt_culprit culprits[MAX_CULPRITS];
	size_t n = virt_vcpu_culprits(model, vcpu, interval->start_ns, end_ns, culprits,
				      MAX_CULPRITS);
	char time[32];

	if (!n && interval->detail != VIRT_NONE)
		add(text, " by %s", virt_text_vcpu(model, interval->detail));
	for (size_t i = 0; i < n && i < MAX_CULPRITS; i++)
		add(text, "%s%s (%s)", i ? ", " : " by ",
		    virt_text_vcpu(model, culprits[i].vcpu),
		    virt_text_duration(time, sizeof(time), culprits[i].ns));
	if (n > MAX_CULPRITS)
		add(text, " and others");
}

const char *virt_text_interval(char *buf, size_t size, const struct virt_model *model,
			       int32_t vcpu, const struct virt_interval *interval, int64_t end_ns)
{
	static const char *const doing[VIRT_N_STATES] = {
		[VIRT_GUEST] = "runs guest code",
		[VIRT_HYPERVISOR] = "is in the hypervisor",
		[VIRT_VMM] = "is in its monitor",
		[VIRT_PREEMPTED] = "is preempted",
		[VIRT_WAKING] = "has been woken and waits for a pCPU",
		[VIRT_BLOCKED] = "is blocked",
		[VIRT_OFFLINE] = "is offline",
		[VIRT_UNKNOWN] = "does something that the trace does not tell",
	};
	struct text text = { .buf = buf, .size = size };
	char time[32];

	add(&text, "%s %s", virt_text_vcpu(model, vcpu),
	    interval->state < VIRT_N_STATES ? doing[interval->state] : "?");
	if (interval->pcpu != VIRT_NONE && interval->state != VIRT_UNKNOWN)
		add(&text, interval->state <= VIRT_VMM ? " on CPU %d" : " (last on CPU %d)",
		    interval->pcpu);
	add(&text, " for %s", virt_text_duration(time, sizeof(time), end_ns - interval->start_ns));
	if (interval->state == VIRT_PREEMPTED)
		add_culprits(&text, model, vcpu, interval, end_ns);
	else if (interval->state <= VIRT_VMM && interval->detail != VIRT_NONE)
		add(&text, ", VM exit: %s", virt_text_reason(model, interval->detail));
	return buf;
}

const char *virt_text_migration(char *buf, size_t size, const struct virt_model *model,
				const struct virt_migration *migration)
{
	char time[32];

	snprintf(buf, size, "%s migrated from CPU %d to CPU %d, %s after it last ran",
		 virt_text_vcpu(model, migration->vcpu), migration->from, migration->to,
		 virt_text_duration(time, sizeof(time), migration->gap_ns));
	return buf;
}
