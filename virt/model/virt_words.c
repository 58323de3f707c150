// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_words.c
 * @brief	Names and texts for the states, kinds, causes and errors of a vCPU model.
 */
#include <errno.h>
#include <string.h>

#include "virt_private.h"

const char *virt_model_contradictions(const struct virt_model *model, int i, uint64_t *count)
{
	if (i < 0 || i >= VIRT_MAX_CONTRADICTIONS || !model->contradictions[i].what)
		return NULL;
	if (count)
		*count = model->contradictions[i].count;
	return model->contradictions[i].what;
}

uint64_t virt_model_count_contradictions(const struct virt_model *model, int i, int64_t from_ns,
					 int64_t to_ns)
{
	uint64_t count = 0;

	if (i < 0 || i >= VIRT_MAX_CONTRADICTIONS)
		return 0;
	for (size_t k = 0; k < model->n_contradicted; k++)
		if (model->contradicted[k].kind == i && model->contradicted[k].time_ns >= from_ns &&
		    model->contradicted[k].time_ns < to_ns)
			count += model->contradicted[k].count;
	if (from_ns <= model->begin_ns && to_ns > model->begin_ns)
		count += model->contradictions[i].untimed;
	return count;
}

#define TEXT_OF_IT(number)	#number
#define TEXT_OF(number)		TEXT_OF_IT(number)

const char *virt_model_problem(int error)
{
	switch (error) {
	case -ENOMEM:
		return "not enough memory";
	case -E2BIG:
		return "there are more than " TEXT_OF(VIRT_MAX_MACHINES) " machines, "
		       TEXT_OF(VIRT_MAX_VCPUS) " vCPUs or " TEXT_OF(VIRT_MAX_REASONS)
		       " exit reasons in it: it is damaged";
	default:
		return strerror(-error);
	}
}

const char *virt_state_name(enum virt_state state)
{
	static const char *const name[VIRT_N_STATES] = {
		[VIRT_GUEST] = "guest",
		[VIRT_HYPERVISOR] = "hypervisor",
		[VIRT_POLLING] = "polling",
		[VIRT_VMM] = "vmm",
		[VIRT_PREEMPTED] = "preempted",
		[VIRT_WAKING] = "waking",
		[VIRT_BLOCKED] = "blocked",
		[VIRT_DEVICE_MODEL] = "device_model",
		[VIRT_OFFLINE] = "offline",
		[VIRT_UNKNOWN] = "unknown",
	};

	return (unsigned int)state < VIRT_N_STATES ? name[state] : NULL;
}

const char *virt_wake_cause_name(enum virt_wake_cause cause)
{
	static const char *const name[VIRT_N_WAKES] = {
		[VIRT_WAKE_UNKNOWN] = "unknown",
		[VIRT_WAKE_TIMER] = "timer",
		[VIRT_WAKE_DEVICE] = "device",
		[VIRT_WAKE_VCPU] = "vcpu",
		[VIRT_WAKE_INTERRUPT] = "interrupt",
		[VIRT_WAKE_TASK] = "task",
		[VIRT_WAKE_SPURIOUS] = "spurious",
		[VIRT_WAKE_OPEN] = "open",
	};

	return (unsigned int)cause < VIRT_N_WAKES ? name[cause] : NULL;
}

const char *virt_machine_state_name(enum virt_machine_state state)
{
	static const char *const name[VIRT_M_N_STATES] = {
		[VIRT_M_FULL_RUN] = "full_run",
		[VIRT_M_PARTIAL_RUN] = "partial_run",
		[VIRT_M_CONCURRENCY_HAZARD] = "concurrency_hazard",
		[VIRT_M_PARTIAL_CONTENTION] = "partial_contention",
		[VIRT_M_FULL_CONTENTION] = "full_contention",
		[VIRT_M_BLOCKED] = "blocked",
		[VIRT_M_LOST] = "lost",
	};

	return (unsigned int)state < VIRT_M_N_STATES ? name[state] : NULL;
}

const char *virt_exit_class_name(enum virt_exit_class exit_class)
{
	static const char *const name[VIRT_EXIT_N_CLASSES] = {
		[VIRT_EXIT_OTHER] = "other",
		[VIRT_EXIT_HALT] = "halt",
		[VIRT_EXIT_INTERRUPT] = "interrupt",
		[VIRT_EXIT_MEMORY] = "memory",
		[VIRT_EXIT_IO] = "io",
		[VIRT_EXIT_REGISTER] = "register",
		[VIRT_EXIT_APIC] = "apic",
		[VIRT_EXIT_HYPERCALL] = "hypercall",
		[VIRT_EXIT_EXCEPTION] = "exception",
		[VIRT_EXIT_NESTED] = "nested",
	};

	return (unsigned int)exit_class < VIRT_EXIT_N_CLASSES ? name[exit_class] : NULL;
}

const char *virt_thread_kind_name(enum virt_thread_kind kind)
{
	static const char *const name[VIRT_THREAD_N_KINDS] = {
		[VIRT_THREAD_OTHER] = "thread",
		[VIRT_THREAD_MAIN] = "main loop",
		[VIRT_THREAD_IOTHREAD] = "iothread",
		[VIRT_THREAD_CONTROL] = "monitor",
		[VIRT_THREAD_VHOST] = "vhost",
		[VIRT_THREAD_PIT] = "pit",
		[VIRT_THREAD_PAGES] = "page recovery",
		[VIRT_THREAD_WORKER] = "worker",
		[VIRT_THREAD_MIGRATION] = "migration",
		[VIRT_THREAD_RCU] = "rcu",
	};

	return (unsigned int)kind < VIRT_THREAD_N_KINDS ? name[kind] : NULL;
}

const char *virt_thread_source_name(enum virt_thread_source source)
{
	static const char *const name[VIRT_THREAD_N_SOURCES] = {
		[VIRT_THREAD_OF_SIDECAR] = "sidecar",
		[VIRT_THREAD_OF_NAME] = "name",
		[VIRT_THREAD_OF_MAKER] = "maker",
		[VIRT_THREAD_OF_ROW] = "row",
	};

	return (unsigned int)source < VIRT_THREAD_N_SOURCES ? name[source] : NULL;
}

const char *virt_model_who(const struct virt_model *model, int32_t who)
{
	return virt_is_vcpu(model, who) ? model->vcpus[who].info.name :
	       virt_is_task(model, who) ? model->tasks[who - VIRT_FIRST_TASK].name :
	       who == VIRT_OTHERS ? "others" : NULL;
}

const char *virt_model_culprit(const struct virt_model *model, int32_t who)
{
	const char *name = virt_model_who(model, who);

	return name ? name : "nobody";
}
