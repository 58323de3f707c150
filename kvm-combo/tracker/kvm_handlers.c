// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_handlers.c
 * @brief	Collect handlers that interrupt threads without a switch: IRQs, softirqs, NMIs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "kvm_private.h"

int kvm_tracker_add_handler(struct kvm_tracker *tracker, int kind, const char *name)
{
	char *copy;

	for (size_t i = 0; i < tracker->n_handlers; i++)
		if (tracker->handlers[i].kind == kind && !strcmp(tracker->handlers[i].name, name))
			return (int)i;
	if (tracker->n_handlers >= VIRT_MAX_HANDLERS)
		return -E2BIG;
	if (ARRAY_GROW(tracker->handlers, tracker->n_handlers, tracker->handlers_room))
		return -ENOMEM;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	tracker->handlers[tracker->n_handlers] = (struct kvm_handler){ copy, kind };
	return (int)tracker->n_handlers++;
}

void kvm_handlers_forget(struct kvm_cpu *cpu)
{
	if (cpu->n_levels)
		cpu->n_handled = cpu->levels[0].first;
	cpu->n_levels = 0;
}

static struct kvm_handler_level *innermost(struct kvm_cpu *cpu)
{
	return cpu->n_levels ? &cpu->levels[cpu->n_levels - 1] : NULL;
}

/** The innermost handler has had its CPU up to now. Return: 0 or -ENOMEM. */
static int add_piece(struct kvm_cpu *cpu, int64_t time_ns)
{
	struct kvm_handler_level *level = innermost(cpu);
	bool begins;

	if (!level)
		return 0;
	begins = level->first == cpu->n_handled;
	level->whole_ns += time_ns - level->since_ns;
	/* also one of no length is counted */
	if (time_ns == level->since_ns && !begins)
		return 0;
	if (ARRAY_GROW(cpu->handled, cpu->n_handled, cpu->handled_room))
		return -ENOMEM;
	cpu->handled[cpu->n_handled++] = (struct kvm_handled){
		.start_ns = level->since_ns, .end_ns = time_ns, .pid = cpu->handled_pid,
		.handler = (int16_t)level->handler, .begins = begins,
	};
	return 0;
}

/** The CPU of a record, where handlers come upon its thread; NULL: it does not count. */
static struct kvm_cpu *cpu_at(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t *time_ns)
{
	struct kvm_cpu *known = (size_t)cpu < tracker->n_cpus ? &tracker->cpus[cpu] : NULL;

	if (!known || pid <= 0)
		return NULL;
	if (known->n_levels && known->handled_pid != pid)
		kvm_handlers_forget(known);
	known->handled_pid = pid;
	/* as for other records that are earlier than the one before */
	if (*time_ns < known->last_ns)
		*time_ns = known->last_ns;
	return known;
}

int kvm_tracker_enter(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns,
		      int handler)
{
	int ret = kvm_tracker_seen(tracker, cpu, pid, time_ns);
	struct kvm_cpu *known = ret ? NULL : cpu_at(tracker, cpu, pid, &time_ns);

	kvm_tracker_expect(tracker, VIRT_RECORD_BIT(VIRT_RECORD_HANDLER));
	if (!known)
		return ret;
	if (handler < 0 || (size_t)handler >= tracker->n_handlers ||
	    known->n_levels == KVM_HANDLER_LEVELS) {
		kvm_handlers_forget(known);
		return 0;
	}
	ret = add_piece(known, time_ns);
	known->levels[known->n_levels++] = (struct kvm_handler_level){
		.handler = handler, .first = known->n_handled, .since_ns = time_ns,
	};
	return ret;
}

int kvm_tracker_leave(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns,
		      int kind)
{
	int ret = kvm_tracker_seen(tracker, cpu, pid, time_ns);
	struct kvm_cpu *known = ret ? NULL : cpu_at(tracker, cpu, pid, &time_ns);
	struct kvm_handler_level *level = known ? innermost(known) : NULL;

	if (!level)
		return ret;
	if (tracker->handlers[level->handler].kind != kind) {
		kvm_handlers_forget(known);
		return 0;
	}
	ret = add_piece(known, time_ns);
	if (!ret)
		known->handled[level->first].whole_ns = level->whole_ns;
	known->n_levels--;
	level = innermost(known);
	if (level)
		level->since_ns = time_ns;
	return ret;
}

int kvm_tracker_handled(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns,
			int handler, int64_t ns)
{
	const struct kvm_handler_level *level;
	int64_t start_ns;
	struct kvm_cpu *known;
	int ret;

	if (handler < 0 || (size_t)handler >= tracker->n_handlers)
		return kvm_tracker_seen(tracker, cpu, pid, time_ns);
	known = cpu >= 0 && (size_t)cpu < tracker->n_cpus ? &tracker->cpus[cpu] : NULL;
	level = known ? innermost(known) : NULL;
	/* what it interrupted has begun before, and is only added later */
	start_ns = ns < 0 || ns > time_ns ? time_ns : time_ns - ns;
	if (level && start_ns < level->since_ns)
		start_ns = level->since_ns;
	ret = kvm_tracker_enter(tracker, cpu, pid, start_ns, handler);
	return ret ? ret : kvm_tracker_leave(tracker, cpu, pid, time_ns,
					     tracker->handlers[handler].kind);
}

/** Return: 0 or -ENOMEM. */
static int add_cpu(const struct kvm_tracker *tracker, const struct kvm_cpu *cpu,
		   struct virt_model *model, const struct kvm_vcpu *vcpus, const int32_t *numbers)
{
	/* what has not ended is left out */
	size_t n = cpu->n_levels ? cpu->levels[0].first : cpu->n_handled;

	for (size_t i = 0; i < n; i++) {
		const struct kvm_handled *handled = &cpu->handled[i];
		const struct kvm_thread *thread = kvm_thread_find(tracker, handled->pid);
		struct virt_handling handling = {
			.start_ns = handled->start_ns, .end_ns = handled->end_ns,
			.whole_ns = handled->whole_ns, .begins = handled->begins,
			.handler = (int16_t)numbers[handled->handler],
		};

		if (!thread || kvm_vcpu_of_thread(thread) == VIRT_NONE)
			continue;
		handling.vcpu = vcpus[kvm_vcpu_of_thread(thread)].index;
		if (virt_model_add_handling(model, &handling) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

int kvm_add_handled(const struct kvm_tracker *tracker, struct virt_model *model,
		    const struct kvm_vcpu *vcpus)
{
	int32_t *numbers = calloc(tracker->n_handlers + 1, sizeof(*numbers));
	int ret = numbers ? 0 : -ENOMEM;

	for (size_t i = 0; i < tracker->n_handlers && !ret; i++) {
		numbers[i] = virt_model_add_handler(model, (enum virt_handler_kind)
						    tracker->handlers[i].kind,
						    tracker->handlers[i].name);
		ret = numbers[i] == -ENOMEM ? -ENOMEM : 0;
	}
	for (size_t i = 0; i < tracker->n_cpus && !ret; i++)
		ret = add_cpu(tracker, &tracker->cpus[i], model, vcpus, numbers);
	free(numbers);
	return ret;
}

void kvm_handlers_free(struct kvm_tracker *tracker)
{
	for (size_t i = 0; i < tracker->n_cpus; i++)
		free(tracker->cpus[i].handled);
	for (size_t i = 0; i < tracker->n_handlers; i++)
		free(tracker->handlers[i].name);
	free(tracker->handlers);
}
