// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_tasks.c
 * @brief	Sum up the tasks of a host: their pCPUs, their waits and what they did.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "host_tasks.h"

static int take(void *arg, const struct kvm_trace_record *record, int64_t time)
{
	struct host_tasks *tasks = arg;

	return host_modes_take(&tasks->modes, record, time);
}

int host_tasks_read(struct host_tasks *tasks, const struct virt_model *model,
		    struct kvm_trace *trace)
{
	struct guest_lives_source source = { .trace = trace, .take = take, .arg = tasks };
	int ret;

	*tasks = (struct host_tasks){ .tasks.trace = trace };
	host_modes_init(&tasks->modes, trace);
	source.cgroups = &tasks->tasks.cgroups;
	ret = guest_lives_read_host(&tasks->lives, model, &source);
	tasks->tasks.cpus = tasks->lives.cpus;
	tasks->tasks.n_cpus = tasks->lives.n_cpus;
	return ret ? ret : host_modes_end(&tasks->modes, &tasks->lives);
}

void host_tasks_free(struct host_tasks *tasks)
{
	host_modes_free(&tasks->modes);
	guest_cgroups_free(&tasks->tasks.cgroups);
	virt_guest_free(&tasks->lives);
	*tasks = (struct host_tasks){ .tasks.trace = NULL };
}

int host_tasks_show(struct host_tasks *tasks, struct guest_lives_now *now, int64_t end_ns,
		    const char *(*comm)(const void *arg, int32_t pid), const void *arg)
{
	int ret;

	*tasks = (struct host_tasks){ .tasks = { .comm = comm, .arg = arg } };
	ret = guest_lives_now_show(now, end_ns, &tasks->lives);
	tasks->tasks.cpus = tasks->lives.cpus;
	tasks->tasks.n_cpus = tasks->lives.n_cpus;
	return ret;
}

void host_tasks_hide(struct host_tasks *tasks)
{
	guest_lives_now_hide(&tasks->lives);
	*tasks = (struct host_tasks){ .tasks.trace = NULL };
}

/* --- whose it is ----------------------------------------------------------------------------- */

int32_t host_task_machine(const struct virt_model *model, int32_t pid)
{
	int32_t vcpu = virt_model_find_vcpu(model, pid);
	int32_t task = vcpu == VIRT_NONE ? virt_model_find_task(model, pid) : VIRT_NONE;

	return vcpu != VIRT_NONE ? virt_model_machine_of(model, vcpu) :
	       task != VIRT_NONE ? virt_model_machine_of(model, task) : VIRT_NONE;
}

const char *host_task_kind(const struct virt_model *model, int32_t pid)
{
	int32_t task = virt_model_find_task(model, pid);

	if (virt_model_find_vcpu(model, pid) != VIRT_NONE)
		return "vCPU";
	if (task == VIRT_NONE || virt_model_machine_of(model, task) == VIRT_NONE)
		return NULL;
	return virt_thread_kind_name((enum virt_thread_kind)virt_model_task(model, task)->kind);
}

/* --- sums ------------------------------------------------------------------------------------ */

struct making {
	struct host_task_sums	*sums;
	const struct host_tasks	*tasks;
	int64_t			from_ns, to_ns;
	size_t			room;
	int64_t			*wakes;		/* of the task: how long each took */
	size_t			n_wakes, room_wakes;
};

/** A task waits for a pCPU in [from, to): add this time to the tasks that have the pCPU. */
static int add_culprits(struct making *making, int32_t pid, int cpu, int64_t from_ns,
			int64_t to_ns)
{
	const struct virt_guest_cpu *of;
	struct host_task_sums *sums = making->sums;
	ptrdiff_t first;

	if (cpu < 0 || cpu >= making->tasks->lives.n_cpus)
		return 0;
	of = &making->tasks->lives.cpus[cpu];
	first = virt_guest_run_at(of, from_ns);
	for (size_t i = first < 0 ? 0 : (size_t)first; i + 1 < of->n; i++) {
		int64_t a = of->runs[i].start_ns > from_ns ? of->runs[i].start_ns : from_ns;
		int64_t b = of->runs[i + 1].start_ns < to_ns ? of->runs[i + 1].start_ns : to_ns;
		int64_t at;

		if (of->runs[i].start_ns >= to_ns)
			break;
		if (of->runs[i].pid < 0 || of->runs[i].pid == pid || a >= b)
			continue;
		at = KEY_MAP_ELEMENT(&sums->culprit_map, (uint64_t)(uint32_t)pid << 32 |
				     (uint32_t)of->runs[i].pid, sums->culprits,
				     sums->room_culprits);
		if (at < 0)
			return -ENOMEM;
		sums->culprits[at].pid = pid;
		sums->culprits[at].culprit = of->runs[i].pid;
		sums->culprits[at].ns += b - a;
	}
	return 0;
}

static bool is_wait(const struct virt_life_interval *interval)
{
	return interval->state == VIRT_LIFE_PREEMPTED || interval->state == VIRT_LIFE_WAKING;
}

/** A wake-up: from interval @i on, which may be followed by the same for another pCPU. */
static int add_wake(struct making *making, const struct virt_guest_task *task, size_t i)
{
	const struct virt_life_interval *interval = &task->intervals[i];
	size_t end = i;

	if ((i && interval[-1].state == VIRT_LIFE_WAKING) ||
	    !virt_begins_in(interval->start_ns, making->from_ns, making->to_ns))
		return 0;
	while (end < task->n && task->intervals[end].state == VIRT_LIFE_WAKING)
		end++;
	if (end == task->n || task->intervals[end].state != VIRT_LIFE_RUNS)
		return 0;
	if (ARRAY_GROW(making->wakes, making->n_wakes, making->room_wakes))
		return -ENOMEM;
	making->wakes[making->n_wakes++] = task->intervals[end].start_ns - interval->start_ns;
	return 0;
}

/** Interval @i of a task. Return: 0 or -ENOMEM. */
static int add_interval(struct making *making, const struct virt_guest_task *task, size_t i,
			struct host_task_sum *sum, int *last_cpu)
{
	const struct virt_life_interval *interval = &task->intervals[i];
	bool is_last = i + 1 == task->n;
	int64_t end_ns = is_last ? making->tasks->lives.end_ns : interval[1].start_ns;
	int64_t a = interval->start_ns > making->from_ns ? interval->start_ns : making->from_ns;
	int64_t b = end_ns < making->to_ns ? end_ns : making->to_ns;
	int cpu = interval->cpu;
	int ret = 0;

	if (interval->state == VIRT_LIFE_RUNS) {
		sum->migrations += *last_cpu >= 0 && *last_cpu != cpu &&
				   virt_begins_in(interval->start_ns, making->from_ns,
						  making->to_ns);
		*last_cpu = cpu;
	}
	if (interval->state == VIRT_LIFE_WAKING)
		ret = add_wake(making, task, i);
	if (ret || a >= b)
		return ret;
	sum->ns[interval->state] += b - a;
	if (interval->flags & VIRT_LIFE_UNINTERRUPTIBLE)
		sum->uninterruptible_ns += b - a;
	/* sched_wakeup without sched_waking comes after the task got its pCPU */
	if (!is_last && interval[1].state == VIRT_LIFE_RUNS)
		cpu = interval[1].cpu;
	return is_wait(interval) ? add_culprits(making, task->pid, cpu, a, b) : 0;
}

/** A task of @lives becomes a sum. Return: 0 or -ENOMEM. */
static int add_task(struct making *making, const struct virt_guest_task *task,
		    const struct virt_model *model, const struct guest_task_sum *on_pcpus)
{
	struct host_task_sums *sums = making->sums;
	struct host_task_sum sum = {
		.pid = task->pid, .machine = host_task_machine(model, task->pid),
		.on_pcpus = on_pcpus, .modes = host_mode_sum_of(&sums->modes, task->pid),
	};
	int last_cpu = -1, ret = 0;

	making->n_wakes = 0;
	for (size_t i = 0; i < task->n && task->intervals[i].start_ns < making->to_ns && !ret; i++)
		ret = add_interval(making, task, i, &sum, &last_cpu);
	if (ret)
		return ret;
	virt_dist_make(&sum.wake, making->wakes, making->n_wakes);
	if (ARRAY_GROW(sums->all, sums->n, making->room))
		return -ENOMEM;
	sums->all[sums->n++] = sum;
	return 0;
}

static int64_t on_pcpus_ns(const struct host_task_sum *sum)
{
	return sum->on_pcpus ? sum->on_pcpus->believed_ns : 0;
}

int64_t host_task_unknown_ns(const struct host_task_sum *sum, int64_t from_ns, int64_t to_ns)
{
	int64_t ns = to_ns - from_ns - on_pcpus_ns(sum);

	for (int state = VIRT_LIFE_PREEMPTED; state < VIRT_LIFE_UNKNOWN; state++)
		ns -= sum->ns[state];
	return ns < 0 ? 0 : ns;
}

static int compare_sums(const void *a, const void *b)
{
	const struct host_task_sum *x = a, *y = b;

	/* VIRT_NONE comes last */
	if (x->machine != y->machine)
		return (uint32_t)x->machine < (uint32_t)y->machine ? -1 : 1;
	if (on_pcpus_ns(x) != on_pcpus_ns(y))
		return on_pcpus_ns(x) < on_pcpus_ns(y) ? 1 : -1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int compare_culprits(const void *a, const void *b)
{
	const struct host_task_culprit *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->culprit > y->culprit) - (x->culprit < y->culprit);
}

/** By pid, as the tasks of @lives are. */
static int compare_pids(const void *a, const void *b)
{
	const struct guest_task_sum *x = *(const struct guest_task_sum *const *)a;
	const struct guest_task_sum *y = *(const struct guest_task_sum *const *)b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int add_all(struct making *making, const struct virt_model *model)
{
	const struct virt_guest *lives = &making->tasks->lives;
	const struct guest_task_sums *by_task = &making->sums->by_task;
	const struct guest_task_sum **by_pid = calloc(by_task->n + 1, sizeof(*by_pid));
	size_t at = 0;
	int ret = by_pid ? 0 : -ENOMEM;

	for (size_t i = 0; i < by_task->n && !ret; i++)
		by_pid[i] = &by_task->all[i];
	if (!ret && by_task->n)
		qsort(by_pid, by_task->n, sizeof(*by_pid), compare_pids);
	for (int32_t i = 0; i < lives->n_tasks && !ret; i++) {
		while (at < by_task->n && by_pid[at]->pid < lives->tasks[i].pid)
			at++;
		ret = add_task(making, &lives->tasks[i], model, at < by_task->n &&
			       by_pid[at]->pid == lives->tasks[i].pid ? by_pid[at] : NULL);
	}
	free(by_pid);
	return ret;
}

int host_task_sums_make(struct host_task_sums *sums, const struct host_tasks *tasks,
			const struct virt_model *model, int64_t from_ns, int64_t to_ns)
{
	struct making making = {
		.sums = sums, .tasks = tasks, .from_ns = from_ns, .to_ns = to_ns,
	};
	int ret;

	*sums = (struct host_task_sums){ .n = 0 };
	ret = guest_task_sums_make(&sums->by_task, &tasks->tasks, model, from_ns, to_ns);
	if (!ret)
		ret = guest_cgroup_sums_make(&sums->by_cgroup, &tasks->tasks, model, from_ns,
					     to_ns);
	if (!ret)
		ret = host_mode_sums_make(&sums->modes, &tasks->modes, model, from_ns, to_ns);
	if (!ret)
		ret = add_all(&making, model);
	free(making.wakes);
	if (sums->n)
		qsort(sums->all, sums->n, sizeof(*sums->all), compare_sums);
	if (sums->culprit_map.n_keys)
		qsort(sums->culprits, sums->culprit_map.n_keys, sizeof(*sums->culprits),
		      compare_culprits);
	return ret;
}

void host_task_sums_free(struct host_task_sums *sums)
{
	guest_task_sums_free(&sums->by_task);
	guest_task_sums_free(&sums->by_cgroup);
	host_mode_sums_free(&sums->modes);
	key_map_destroy(&sums->culprit_map);
	free(sums->culprits);
	free(sums->all);
	*sums = (struct host_task_sums){ .n = 0 };
}
