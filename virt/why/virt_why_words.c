// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_why_words.c
 * @brief	What segments, causes and moments are called.
 */
#include "virt_handlers.h"
#include "virt_power.h"
#include "virt_why.h"

const char *virt_why_kind_name(enum virt_why_kind kind)
{
	switch (kind) {
	case VIRT_WHY_UNEXPLAINED:
		return "unexplained";
	case VIRT_WHY_VCPU:
		return "vcpu";
	case VIRT_WHY_TASK:
		return "task";
	case VIRT_WHY_IDLE:
		return "idle";
	case VIRT_WHY_HANDLER:
		return "handler";
	case VIRT_WHY_SLEEP:
		return "sleep";
	default:
		return virt_state_name((enum virt_state)kind);
	}
}

const char *virt_why_cause_name(enum virt_why_cause cause)
{
	static const char *const name[VIRT_WHY_N_CAUSES] = {
		[VIRT_WHY_RUNS] = "runs",
		[VIRT_WHY_NESTED] = "nested guest",
		[VIRT_WHY_EXIT] = "exit",
		[VIRT_WHY_PCPU] = "pcpu",
		[VIRT_WHY_WAKE] = "wait",
		[VIRT_WHY_HANDLES] = "interrupt",
		[VIRT_WHY_SLEEPS] = "idle state",
		[VIRT_WHY_ABSENT] = "absent",
		[VIRT_WHY_LOST] = "lost records",
		[VIRT_WHY_UNTOLD] = "not in the trace",
		[VIRT_WHY_UNSPLIT] = "not split",
		[VIRT_WHY_LEFT_IDLE] = "pcpu idle",
		[VIRT_WHY_OPEN] = "end not in the trace",
	};

	return (unsigned int)cause < VIRT_WHY_N_CAUSES ? name[cause] : NULL;
}

const char *virt_why_cause_of(const struct virt_model *model,
			      const struct virt_why_segment *segment)
{
	const struct virt_wake *wake = virt_model_wake(model, segment->wake);
	const char *reason = virt_model_reason(model, segment->reason);
	const struct virt_handler *handler = virt_model_handler(model, segment->handler);

	if (handler)
		return handler->name;
	if (segment->cause == VIRT_WHY_SLEEPS)
		return virt_idle_state_name(model, segment->idle_state);
	if (segment->cause == VIRT_WHY_EXIT)
		return reason ? reason : "unknown";
	if (segment->cause == VIRT_WHY_WAKE)
		return virt_wake_cause_name(wake ? (enum virt_wake_cause)wake->cause :
					    VIRT_WAKE_UNKNOWN);
	if (segment->kind == VIRT_WHY_IDLE)
		return virt_why_kind_name(VIRT_WHY_IDLE);
	return virt_why_cause_name((enum virt_why_cause)segment->cause);
}

const char *virt_why_moment_name(enum virt_why_moment_kind kind)
{
	static const char *const name[VIRT_WHY_M_N_KINDS] = {
		[VIRT_WHY_M_WAKE] = "wake",
		[VIRT_WHY_M_STEAL] = "steal",
		[VIRT_WHY_M_EXIT] = "exit",
		[VIRT_WHY_M_BLOCKED] = "blocked",
	};

	return (unsigned int)kind < VIRT_WHY_M_N_KINDS ? name[kind] : NULL;
}
