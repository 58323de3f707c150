// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_power.c
 * @brief	Collect idle states and frequencies of CPUs from a host's records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "kvm_private.h"

static int add_step(struct kvm_tracker *tracker, enum virt_power_kind kind, int cpu,
		    int64_t time_ns, int32_t value)
{
	if (ARRAY_GROW(tracker->power, tracker->n_power, tracker->power_room))
		return -ENOMEM;
	tracker->power[tracker->n_power] = (struct kvm_power_step){
		.time_ns = time_ns, .value = value, .cpu = (int16_t)cpu, .kind = (uint8_t)kind,
		.number = (uint32_t)tracker->n_power,
	};
	tracker->n_power++;
	return 0;
}

int kvm_power_awake(struct kvm_tracker *tracker, struct kvm_cpu *cpu, int64_t time_ns)
{
	if (cpu->idle_known)
		return 0;
	cpu->idle_known = true;
	return add_step(tracker, VIRT_IDLE_STATE, (int)(cpu - tracker->cpus), time_ns, VIRT_AWAKE);
}

int kvm_power_lost(struct kvm_tracker *tracker, struct kvm_cpu *cpu, int64_t time_ns)
{
	int number = (int)(cpu - tracker->cpus);
	int ret = add_step(tracker, VIRT_IDLE_STATE, number, time_ns, VIRT_POWER_UNKNOWN);

	cpu->idle_known = false;
	/* any CPU may record the frequency of any other one */
	return ret ? ret : add_step(tracker, VIRT_FREQUENCY, VIRT_NONE, time_ns,
				    VIRT_POWER_UNKNOWN);
}

int kvm_tracker_idle_state(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns,
			   int32_t state)
{
	int ret = kvm_tracker_seen(tracker, cpu, pid, time_ns);

	if (ret)
		return ret;
	tracker->cpus[cpu].idle_known = true;
	kvm_tracker_expect(tracker, VIRT_RECORD_BIT(VIRT_RECORD_IDLE_STATE));
	if (state != VIRT_AWAKE && (state < 0 || state >= VIRT_IDLE_STATES))
		state = VIRT_POWER_UNKNOWN;
	return add_step(tracker, VIRT_IDLE_STATE, cpu, tracker->cpus[cpu].last_ns, state);
}

int kvm_tracker_frequency(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns,
			  int64_t of_cpu, int64_t khz)
{
	int ret = kvm_tracker_seen(tracker, cpu, pid, time_ns);

	kvm_tracker_expect(tracker, VIRT_RECORD_BIT(VIRT_RECORD_FREQUENCY));
	if (ret || of_cpu < 0 || of_cpu > INT16_MAX)
		return ret;
	return add_step(tracker, VIRT_FREQUENCY, (int)of_cpu, time_ns,
			khz > 0 && khz <= INT32_MAX ? (int32_t)khz : VIRT_POWER_UNKNOWN);
}

int kvm_tracker_name_idle_state(struct kvm_tracker *tracker, int32_t state, const char *name)
{
	char *copy;

	if (state < 0 || state >= VIRT_IDLE_STATES || !*name)
		return -EINVAL;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	free(tracker->idle_names[state]);
	tracker->idle_names[state] = copy;
	return 0;
}

/** Records come CPU by CPU. */
static int compare_steps(const void *a, const void *b)
{
	const struct kvm_power_step *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/** CPUs whose frequency is known at a moment. */
struct known {
	bool		is[INT16_MAX + 1];
	int16_t		cpus[INT16_MAX + 1];
	int		n;
};

static int add_to_model(const struct kvm_power_step *step, struct known *known,
			struct virt_model *model)
{
	enum virt_power_kind kind = (enum virt_power_kind)step->kind;
	int ret = 0;

	if (step->cpu != VIRT_NONE) {
		if (kind == VIRT_FREQUENCY && !known->is[step->cpu]) {
			known->is[step->cpu] = true;
			known->cpus[known->n++] = step->cpu;
		}
		return virt_model_add_power(model, kind, step->cpu, step->time_ns, step->value);
	}
	while (known->n && ret != -ENOMEM) {
		int16_t cpu = known->cpus[--known->n];

		known->is[cpu] = false;
		ret = virt_model_add_power(model, kind, cpu, step->time_ns, step->value);
	}
	return ret;
}

static int add_steps(struct kvm_tracker *tracker, struct virt_model *model)
{
	struct known *known;
	int ret = 0;

	if (!tracker->n_power)
		return 0;
	known = calloc(1, sizeof(*known));
	if (!known)
		return -ENOMEM;
	qsort(tracker->power, tracker->n_power, sizeof(*tracker->power), compare_steps);
	for (size_t i = 0; i < tracker->n_power && ret != -ENOMEM; i++)
		/* that threads are awake says nothing where sleeps are not recorded */
		if (tracker->power[i].kind != VIRT_IDLE_STATE ||
		    kvm_has(tracker, VIRT_RECORD_IDLE_STATE))
			ret = add_to_model(&tracker->power[i], known, model);
	free(known);
	return ret == -ENOMEM ? ret : 0;
}

int kvm_add_power(struct kvm_tracker *tracker, struct virt_model *model)
{
	if (add_steps(tracker, model))
		return -ENOMEM;
	for (int32_t i = 0; i < VIRT_IDLE_STATES; i++)
		if (tracker->idle_names[i] &&
		    virt_model_name_idle_state(model, i, tracker->idle_names[i]) == -ENOMEM)
			return -ENOMEM;
	return 0;
}

void kvm_power_free(struct kvm_tracker *tracker)
{
	for (int i = 0; i < VIRT_IDLE_STATES; i++)
		free(tracker->idle_names[i]);
	free(tracker->power);
}
