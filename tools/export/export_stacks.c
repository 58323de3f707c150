// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	export_stacks.c
 * @brief	The time of a vCPU as stacks of frames, for flame graphs.
 */
#include "export_stacks.h"
#include "virt_arguments.h"
#include "virt_exits.h"

/** The VM exit during which an interval passes. */
struct exit_now {
	bool		is_there;
	int32_t		reason, argument;
};

/** Update it for an interval, which begins with an exit, or with the vCPU in its guest again. */
static void follow_exit(const struct export_job *job, int32_t vcpu,
			const struct virt_interval *interval, struct exit_now *now)
{
	const struct virt_model *model = job->report->load->model;
	struct virt_exit exit;

	if (virt_exit_of(model, vcpu, interval, &exit))
		*now = (struct exit_now){
			.is_there = true, .reason = exit.reason,
			.argument = virt_exit_argument(model, vcpu, interval),
		};
	else if (interval->state == VIRT_GUEST || interval->state == VIRT_UNKNOWN)
		now->is_there = false;
}

/** The exit that is in progress when the window begins. */
static struct exit_now exit_before(const struct export_job *job, int32_t vcpu,
				   const struct virt_interval *first)
{
	const struct virt_interval *begin =
		virt_vcpu_intervals(job->report->load->model, vcpu, INT64_MIN, INT64_MAX).first;
	struct exit_now now = { .is_there = false };

	while (first > begin) {
		first--;
		if (first->state == VIRT_GUEST || first->state == VIRT_UNKNOWN)
			break;
		if (first->flags & VIRT_INTERVAL_EXIT) {
			follow_exit(job, vcpu, first, &now);
			break;
		}
	}
	return now;
}

static void add_frame(struct export_stack *stack, enum export_frame_kind kind, int32_t id)
{
	stack->frames[stack->n++] = (struct export_frame){ .kind = kind, .id = id };
}

static struct export_stack stack_of(const struct export_job *job,
				    const struct virt_interval *interval,
				    const struct exit_now *now)
{
	struct export_stack stack = { .n = 0 };
	const struct virt_model *model = job->report->load->model;
	enum exit_cause cause;
	int32_t who;

	add_frame(&stack, interval->flags & VIRT_INTERVAL_UNSPLIT ? EXPORT_FRAME_UNSPLIT :
		  EXPORT_FRAME_STATE, interval->state);
	if (now->is_there) {
		add_frame(&stack, EXPORT_FRAME_REASON, now->reason);
		cause = virt_argument_cause(model, now->argument);
		if (cause != EXIT_CAUSE_UNKNOWN)
			add_frame(&stack, EXPORT_FRAME_CAUSE, cause);
		if (virt_argument_name(model, now->argument))
			add_frame(&stack, EXPORT_FRAME_ARGUMENT, now->argument);
	} else if (interval->state == VIRT_HYPERVISOR || interval->state == VIRT_POLLING ||
		   interval->state == VIRT_VMM) {
		/* the trace does not show the exit before it */
		add_frame(&stack, EXPORT_FRAME_REASON, interval->detail);
	}
	if (interval->state == VIRT_PREEMPTED) {
		report_detail(job->report, interval, &who);
		add_frame(&stack, EXPORT_FRAME_CULPRIT, who);
	}
	return stack;
}

int export_stacks(const struct export_job *job, int32_t vcpu, bool all_states,
		  export_stack_fn take, void *arg)
{
	struct virt_interval_range range = export_vcpu_window(job, vcpu);
	struct exit_now now = { .is_there = false };
	int ret = 0;

	if (range.n)
		now = exit_before(job, vcpu, range.first);
	for (size_t i = 0; i < range.n && !ret; i++) {
		const struct virt_interval *interval = &range.first[i];
		int64_t from_ns = interval->start_ns, to_ns = export_interval_end(&range, i);
		struct export_stack stack;

		follow_exit(job, vcpu, interval, &now);
		if (interval->state == VIRT_GUEST && !all_states)
			continue;
		if (from_ns < job->report->from_ns)
			from_ns = job->report->from_ns;
		if (to_ns > job->report->to_ns)
			to_ns = job->report->to_ns;
		if (from_ns >= to_ns)
			continue;
		stack = stack_of(job, interval, &now);
		stack.ns = to_ns - from_ns;
		ret = take(arg, &stack);
	}
	return ret;
}

const char *export_frame_name(const struct export_job *job, const struct export_frame *frame,
			      char *text, size_t size)
{
	const struct virt_model *model = job->report->load->model;
	const char *name = NULL;

	switch (frame->kind) {
	case EXPORT_FRAME_STATE:
		return virt_state_name((enum virt_state)frame->id);
	case EXPORT_FRAME_UNSPLIT:
		snprintf(text, size, "%s (unsplit)", virt_state_name((enum virt_state)frame->id));
		return text;
	case EXPORT_FRAME_REASON:
		name = virt_model_reason(model, frame->id);
		break;
	case EXPORT_FRAME_CAUSE:
		name = exit_cause_name((enum exit_cause)frame->id);
		break;
	case EXPORT_FRAME_ARGUMENT:
		name = virt_argument_name(model, frame->id);
		break;
	case EXPORT_FRAME_CULPRIT:
		name = virt_model_who(model, frame->id);
		break;
	}
	return name ? name : "unknown";
}
