// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_why_words.c
 * @brief	Names and texts for segments, causes and moments.
 */
#include "virt_arguments.h"
#include "virt_handlers.h"
#include "virt_limits.h"
#include "virt_power.h"
#include "virt_why.h"
#include "virt_why_private.h"

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
	case VIRT_WHY_LOCK:
		return "lock";
	default:
		return virt_state_name((enum virt_state)kind);
	}
}

static const char *cause_name(enum virt_why_cause cause)
{
	static const char *const name[VIRT_WHY_N_CAUSES] = {
		[VIRT_WHY_RUNS] = "runs",
		[VIRT_WHY_NESTED] = "nested guest",
		[VIRT_WHY_EXIT] = "exit",
		[VIRT_WHY_POLLS] = "halt polling",
		[VIRT_WHY_PCPU] = "pcpu",
		[VIRT_WHY_GUEST_CPU] = "guest cpu",
		[VIRT_WHY_WAKE] = "wait",
		[VIRT_WHY_HANDLES] = "interrupt",
		[VIRT_WHY_SLEEPS] = "idle state",
		[VIRT_WHY_SPINS] = "lock",
		[VIRT_WHY_ABSENT] = "absent", [VIRT_WHY_SIGNAL] = "signal",
		[VIRT_WHY_ANSWER] = "device model",
		[VIRT_WHY_LIMIT] = "limit",
		[VIRT_WHY_LOST] = "lost records",
		[VIRT_WHY_NOT_SHOWN] = "not in the trace",
		[VIRT_WHY_UNSPLIT] = "not split",
		[VIRT_WHY_LEFT_IDLE] = "pcpu idle",
		[VIRT_WHY_OPEN] = "end not in the trace",
	};

	return (unsigned int)cause < VIRT_WHY_N_CAUSES ? name[cause] : NULL;
}

const char *virt_why_who(const struct virt_why *why, int32_t who)
{
	const struct virt_guest_task *task = virt_guests_task(why->guests, who, NULL);

	return task ? task->name : virt_model_who(why->model, who);
}

int virt_why_guest_of(const struct virt_why *why, const struct virt_why_segment *segment)
{
	int guest = -1;

	if (!virt_guests_task(why->guests, segment->subject, &guest) &&
	    !virt_guests_task(why->guests, segment->task, &guest) &&
	    !virt_guests_cpu(why->guests, segment->vcpu, &guest))
		virt_guests_cpu(why->guests, segment->subject, &guest);
	return guest;
}

const struct virt_guest *virt_why_life_of(const struct virt_why *why,
					  const struct virt_why_segment *segment)
{
	int guest = 0;

	if (virt_guests_task(why->guests, segment->subject, &guest))
		return &why->guests->all[guest];
	return why_host_task(why->guests, why->model, segment->subject) ? why->guests->host : NULL;
}

const struct virt_life_wake *virt_why_guest_wake(const struct virt_why *why,
						 const struct virt_why_segment *segment)
{
	const struct virt_guest *of = virt_why_life_of(why, segment);

	return of && segment->wake >= 0 ? &of->wakes[segment->wake] : NULL;
}

static enum virt_wake_cause wake_cause(const struct virt_why *why,
				       const struct virt_why_segment *segment)
{
	const struct virt_life_wake *life = virt_why_guest_wake(why, segment);
	const struct virt_wake *wake = life ? NULL : virt_model_wake(why->model, segment->wake);

	return life ? (enum virt_wake_cause)life->cause :
	       wake ? (enum virt_wake_cause)wake->cause : VIRT_WAKE_UNKNOWN;
}

const char *virt_why_argument_of(const struct virt_why *why,
				 const struct virt_why_segment *segment)
{
	if (segment->reason == VIRT_NONE || !virt_model_vcpu(why->model, segment->subject))
		return NULL;
	return virt_argument_text(why->model, virt_argument_before(why->model, segment->subject,
								   segment->from_ns));
}

const char *virt_why_cause_of(const struct virt_why *why, const struct virt_why_segment *segment)
{
	const char *reason = virt_model_reason(why->model, segment->reason);
	const struct virt_handler *handler = virt_model_handler(why->model, segment->handler);

	if (handler)
		return handler->name;
	if (segment->cause == VIRT_WHY_SLEEPS)
		return virt_idle_state_name(why->model, segment->idle_state);
	if (segment->cause == VIRT_WHY_EXIT)
		return reason ? reason : "unknown";
	if (segment->cause == VIRT_WHY_WAKE)
		return virt_wake_cause_name(wake_cause(why, segment));
	if (segment->kind == VIRT_WHY_IDLE)
		return virt_why_kind_name(VIRT_WHY_IDLE);
	return cause_name((enum virt_why_cause)segment->cause);
}

struct virt_held virt_why_held(const struct virt_why *why, const struct virt_why_segment *segment)
{
	switch (segment->kind) {
	case VIRT_WHY_PREEMPTED:
	case VIRT_WHY_WAKING:
	case VIRT_WHY_OFFLINE:
		return virt_vcpu_held(why->model, segment->subject, segment->from_ns,
				      segment->to_ns);
	default:
		return (struct virt_held){ 0 };
	}
}

const char *virt_why_moment_name(enum virt_why_moment_kind kind)
{
	static const char *const name[VIRT_WHY_M_N_KINDS] = {
		[VIRT_WHY_M_WAKE] = "wake",
		[VIRT_WHY_M_STEAL] = "steal",
		[VIRT_WHY_M_EXIT] = "exit",
		[VIRT_WHY_M_BLOCKED] = "blocked",
		[VIRT_WHY_M_OFFLINE] = "offline",
	};

	return (unsigned int)kind < VIRT_WHY_M_N_KINDS ? name[kind] : NULL;
}
