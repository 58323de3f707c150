// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	guest_culprits.c
 * @brief	Find the guest tasks that ran on culprits, the vCPUs that had the pCPUs of others.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "guest_culprits.h"
#include "search.h"

/** Runs of tasks that are looked at, for each that there is, and more in all. */
#define RUNS_EACH	16
#define RUNS_MORE	(1u << 22)

/** What a vCPU executed. */
struct guest_culprit_cpu {
	const struct virt_guest_cpu *cpu;	/* or NULL */
	int32_t		guest;
};

int guest_culprits_init(struct guest_culprits *culprits, const struct virt_model *model,
			const struct guest_culprits_guest *guests, int n)
{
	int32_t n_vcpus = virt_model_n_vcpus(model);

	*culprits = (struct guest_culprits){
		.model = model, .guests = guests, .left = RUNS_MORE,
		.cpus = calloc((size_t)n_vcpus + 1, sizeof(*culprits->cpus)),
	};
	if (!culprits->cpus)
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		for (int c = 0; c < guests[i].tasks->n_cpus; c++) {
			const struct virt_guest_cpu *cpu = &guests[i].tasks->cpus[c];

			if (cpu->vcpu == VIRT_NONE || culprits->cpus[cpu->vcpu].cpu ||
			    !guests[i].is_aligned[c])
				continue;
			culprits->left += RUNS_EACH * cpu->n;
			culprits->cpus[cpu->vcpu] = (struct guest_culprit_cpu){ cpu, i };
		}
	}
	return 0;
}

void guest_culprits_free(struct guest_culprits *culprits)
{
	free(culprits->cpus);
	free(culprits->all);
	*culprits = (struct guest_culprits){ 0 };
}

bool guest_culprits_know(const struct guest_culprits *culprits, int32_t vcpu)
{
	return culprits->cpus && vcpu >= 0 && vcpu < virt_model_n_vcpus(culprits->model) &&
	       culprits->cpus[vcpu].cpu;
}

/* --- pieces ---------------------------------------------------------------------------------- */

static int compare_tasks(const void *a, const void *b)
{
	const struct guest_culprit *x = a, *y = b;

	if (x->vcpu != y->vcpu)
		return x->vcpu < y->vcpu ? -1 : 1;
	if (x->guest != y->guest)
		return x->guest < y->guest ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/** Pieces of the same task become one. */
static void merge(struct guest_culprits *culprits)
{
	size_t n = 0;

	if (culprits->n)
		qsort(culprits->all, culprits->n, sizeof(*culprits->all), compare_tasks);
	for (size_t i = 0; i < culprits->n; i++) {
		if (n && !compare_tasks(&culprits->all[n - 1], &culprits->all[i]))
			culprits->all[n - 1].ns += culprits->all[i].ns;
		else
			culprits->all[n++] = culprits->all[i];
	}
	culprits->n = n;
}

static int append(struct guest_culprits *culprits, const struct guest_culprit *one)
{
	if (ARRAY_GROW(culprits->all, culprits->n, culprits->room))
		return -ENOMEM;
	culprits->all[culprits->n++] = *one;
	return 0;
}

/** There are many pieces, and few tasks. */
static int add_task(struct guest_culprits *culprits, int32_t vcpu, int32_t guest, int32_t pid,
		    int64_t ns)
{
	if (culprits->n == culprits->room) {
		merge(culprits);
		if (ARRAY_GROW(culprits->all, 2 * culprits->n, culprits->room))
			return -ENOMEM;
	}
	return append(culprits, &(struct guest_culprit){ vcpu, guest, pid, ns });
}

/** Who had the vCPU in [from, to). Return: 0 or -ENOMEM. */
static int add_piece(struct guest_culprits *culprits, int32_t vcpu, int64_t from_ns, int64_t to_ns)
{
	const struct guest_culprit_cpu *known = &culprits->cpus[vcpu];
	const struct virt_guest_cpu *cpu = known->cpu;
	ptrdiff_t first = virt_guest_run_at(cpu, from_ns);
	int ret = 0;

	for (size_t i = first < 0 ? 0 : (size_t)first;
	     i + 1 < cpu->n && cpu->runs[i].start_ns < to_ns && culprits->left && !ret; i++) {
		int64_t a = cpu->runs[i].start_ns, b = cpu->runs[i + 1].start_ns;

		a = a > from_ns ? a : from_ns;
		b = b < to_ns ? b : to_ns;
		culprits->left--;
		if (a < b && cpu->runs[i].pid >= 0)
			ret = add_task(culprits, vcpu, known->guest, cpu->runs[i].pid, b - a);
	}
	return ret;
}

/** What is not known comes last. */
static int compare_times(const void *a, const void *b)
{
	const struct guest_culprit *x = a, *y = b;

	if (x->vcpu != y->vcpu)
		return x->vcpu < y->vcpu ? -1 : 1;
	if ((x->pid == VIRT_NONE) != (y->pid == VIRT_NONE))
		return x->pid == VIRT_NONE ? 1 : -1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return compare_tasks(a, b);
}

/** Add the rest of a culprit's time, without a task. @n: tasks. Return: 0 or -ENOMEM. */
static int add_rest(struct guest_culprits *culprits, size_t n, int32_t vcpu, int64_t ns)
{
	size_t i;

	SEARCH_FIRST(i, 0, n, culprits->all[i].vcpu < vcpu);
	for (; i < n && culprits->all[i].vcpu == vcpu; i++)
		ns -= culprits->all[i].ns;
	return ns ? append(culprits, &(struct guest_culprit){ vcpu, VIRT_NONE, VIRT_NONE, ns }) : 0;
}

/** Drop what was found only in part. */
static int end_search(struct guest_culprits *culprits, int ret)
{
	if (ret) {
		culprits->error = ret;
		culprits->n = 0;
	}
	if (culprits->n)
		qsort(culprits->all, culprits->n, sizeof(*culprits->all), compare_times);
	return ret;
}

/* --- what is asked --------------------------------------------------------------------------- */

/** Occupants of a pCPU in [from, to), in which a vCPU waits for it. */
static int add_wait(struct guest_culprits *culprits, int16_t pcpu, int64_t from_ns, int64_t to_ns)
{
	struct virt_occupant_range range = virt_pcpu_occupants(culprits->model, pcpu, from_ns,
							       to_ns);
	int ret = 0;

	for (size_t i = 0; i < range.n && !ret; i++) {
		int64_t a = range.first[i].start_ns;
		int64_t b = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		a = a > from_ns ? a : from_ns;
		b = b < to_ns ? b : to_ns;
		if (a < b && guest_culprits_know(culprits, range.first[i].vcpu))
			ret = add_piece(culprits, range.first[i].vcpu, a, b);
	}
	return ret;
}

static int add_waits(struct guest_culprits *culprits, int32_t vcpu, int64_t from_ns, int64_t to_ns)
{
	struct virt_interval_range range = virt_vcpu_intervals(culprits->model, vcpu, from_ns,
							       to_ns);
	int ret = 0;

	for (size_t i = 0; i < range.n && !ret; i++) {
		int64_t a = range.first[i].start_ns;
		int64_t b = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		a = a > from_ns ? a : from_ns;
		b = b < to_ns ? b : to_ns;
		if (a < b && range.first[i].state == VIRT_PREEMPTED)
			ret = add_wait(culprits, range.first[i].pcpu, a, b);
	}
	return ret;
}

/** Add the tasks of all culprits in @culprit_list. Return: 0 or -ENOMEM. */
static int take_culprits(struct guest_culprits *culprits, int32_t vcpu, int64_t from_ns,
			 int64_t to_ns, struct virt_culprit *culprit_list, size_t n)
{
	bool apart = true, known = false;
	size_t tasks;
	int ret = 0;

	virt_vcpu_culprits(culprits->model, vcpu, from_ns, to_ns, culprit_list, n);
	for (size_t i = 0; i < n; i++) {
		apart &= culprit_list[i].vcpu != VIRT_OTHERS;
		known |= guest_culprits_know(culprits, culprit_list[i].vcpu);
	}
	if (known && apart)
		ret = add_waits(culprits, vcpu, from_ns, to_ns);
	merge(culprits);
	tasks = culprits->n;
	for (size_t i = 0; i < n && !ret; i++)
		if (guest_culprits_know(culprits, culprit_list[i].vcpu))
			ret = add_rest(culprits, tasks, culprit_list[i].vcpu, culprit_list[i].ns);
	return ret;
}

int guest_culprits_find(struct guest_culprits *culprits, int32_t vcpu, int64_t from_ns,
			int64_t to_ns)
{
	size_t n;
	struct virt_culprit *culprit_list;
	int ret;

	culprits->n = 0;
	if (!culprits->cpus)
		return 0;
	n = virt_vcpu_culprits(culprits->model, vcpu, from_ns, to_ns, NULL, 0);
	culprit_list = calloc(n + 1, sizeof(*culprit_list));
	if (!culprit_list)
		return end_search(culprits, -ENOMEM);
	ret = take_culprits(culprits, vcpu, from_ns, to_ns, culprit_list, n);
	free(culprit_list);
	return end_search(culprits, ret);
}

int guest_culprits_during(struct guest_culprits *culprits, int32_t vcpu, int64_t from_ns,
			  int64_t to_ns)
{
	int ret;

	culprits->n = 0;
	if (!guest_culprits_know(culprits, vcpu) || from_ns >= to_ns)
		return 0;
	ret = add_piece(culprits, vcpu, from_ns, to_ns);
	merge(culprits);
	if (!ret)
		ret = add_rest(culprits, culprits->n, vcpu, to_ns - from_ns);
	return end_search(culprits, ret);
}

const struct guest_culprit *guest_culprits_of(const struct guest_culprits *culprits, int32_t vcpu,
					      size_t *n)
{
	size_t i, end;

	SEARCH_FIRST(i, 0, culprits->n, culprits->all[i].vcpu < vcpu);
	for (end = i; end < culprits->n && culprits->all[end].vcpu == vcpu; end++)
		;
	*n = end - i;
	return *n ? &culprits->all[i] : NULL;
}

void guest_culprit_name(char *text, size_t size, const struct guest_culprits *culprits,
			const struct guest_culprit *culprit)
{
	if (culprit->pid == VIRT_NONE)
		snprintf(text, size, "unknown");
	else
		guest_tasks_name(text, size, culprits->guests[culprit->guest].tasks, culprit->pid);
}
