// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	guest_tasks.c
 * @brief	Find the tasks that had the CPUs of a guest in the guest's own trace.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "guest_clock.h"
#include "guest_tasks.h"

/** Bytes of a task's command. */
#define MAX_COMM	40

const int *guest_tasks_tids(const struct host_trace *host, struct kvm_trace *trace, int *n)
{
	return host->kvm ? kvm_trace_guest_tids(host->kvm, trace, n) :
	       kvm_trace_aligned_tids(trace, host->path, n);
}

/** A guest of Xen is aligned in cycles of the host's TSC. */
int64_t guest_tasks_time(const struct host_trace *host, int64_t time_ns)
{
	return host->kvm ? time_ns : host_trace_tsc_ns(host, (uint64_t)time_ns);
}

int guest_tasks_init(struct guest_tasks *tasks, const struct virt_model *model,
		     struct kvm_trace *trace, const int *tids, int n)
{
	*tasks = (struct guest_tasks){ .trace = trace, .cpu = -1 };
	tasks->cpus = calloc((size_t)kvm_trace_n_cpus(trace) + 1, sizeof(*tasks->cpus));
	if (!tasks->cpus)
		return -ENOMEM;
	tasks->n_cpus = kvm_trace_n_cpus(trace);
	for (int i = 0; i < tasks->n_cpus; i++)
		tasks->cpus[i].vcpu = tids && i < n && tids[i] > 0 ?
				      virt_model_find_vcpu(model, tids[i]) : VIRT_NONE;
	return 0;
}

int guest_tasks_init_live(struct guest_tasks *tasks, int n_cpus)
{
	*tasks = (struct guest_tasks){ .cpu = -1 };
	tasks->cpus = calloc((size_t)n_cpus + 1, sizeof(*tasks->cpus));
	tasks->each = calloc((size_t)n_cpus + 1, sizeof(*tasks->each));
	if (!tasks->cpus || !tasks->each)
		return -ENOMEM;
	tasks->n_cpus = n_cpus;
	guest_tasks_know_all(tasks);
	return 0;
}

void guest_tasks_free(struct guest_tasks *tasks)
{
	for (int i = 0; i < tasks->n_cpus; i++)
		free(tasks->cpus[i].runs);
	free(tasks->cpus);
	free(tasks->each);
	free(tasks->inner);
	guest_cgroups_free(&tasks->cgroups);
	*tasks = (struct guest_tasks){ .cpu = -1 };
}

static int add_run(struct guest_tasks *tasks, int64_t time_ns, int32_t pid, bool by_switch)
{
	struct virt_guest_cpu *cpu = &tasks->cpus[tasks->cpu];

	/* trace-cmd corrects the clock by steps, which may lead back */
	if (cpu->n && time_ns < cpu->runs[cpu->n - 1].start_ns)
		time_ns = cpu->runs[cpu->n - 1].start_ns;
	if (ARRAY_GROW(cpu->runs, cpu->n, cpu->room))
		return -ENOMEM;
	cpu->runs[cpu->n++] = (struct virt_guest_run){
		.start_ns = time_ns, .pid = pid, .by_switch = by_switch,
	};
	return 0;
}

/** What is known of the CPU of the last record. */
static struct guest_task_cpu *now_of(struct guest_tasks *tasks)
{
	return tasks->each ? &tasks->each[tasks->cpu] : &tasks->one;
}

/** From its last record on, it is unknown who has the CPU. */
static int end_cpu(struct guest_tasks *tasks)
{
	struct guest_task_cpu *now = now_of(tasks);
	bool begun = now->begun;

	now->begun = false;
	now->switched = false;
	now->left = VIRT_NONE;
	return begun ? add_run(tasks, now->last_ns, VIRT_NONE, false) : 0;
}

/**
 * Does a record show that its task has the CPU, though no switch to it is recorded? The kernel
 * drops records, also without counting them.
 *
 * Between the record of a switch and the change of the stack, the old task still writes records. It
 * wakes no task there, begins and ends no system call, and no interrupt comes.
 */
static bool contradicts(struct guest_tasks *tasks, const struct kvm_trace_record *record)
{
	const struct virt_guest_cpu *cpu = &tasks->cpus[tasks->cpu];
	struct guest_task_cpu *now = now_of(tasks);
	int32_t has = cpu->runs[cpu->n - 1].pid;
	bool is_at_work = record->sched || record->handler ||
			  record->injection == KVM_TRACE_SYSCALL ||
			  record->injection == KVM_TRACE_SYSCALL_END;

	if (!now->switched || record->pid < 0 ||
	    (record->pid != has && record->pid == now->left && !is_at_work))
		return false;
	now->left = VIRT_NONE;
	return record->pid != has;
}

int guest_tasks_take(struct guest_tasks *tasks, const struct kvm_trace_record *record,
		     int64_t time_ns)
{
	int ret = guest_cgroups_take(&tasks->cgroups, record, time_ns);
	struct guest_task_cpu *now;

	if (ret || record->cpu < 0 || record->cpu >= tasks->n_cpus)
		return ret;
	if (record->cpu != tasks->cpu && !tasks->each)
		ret = end_cpu(tasks);
	tasks->cpu = record->cpu;
	now = now_of(tasks);
	now->last_ns = time_ns;
	if (ret || tasks->cpus[record->cpu].vcpu == VIRT_NONE)
		return ret;
	if (!now->begun || contradicts(tasks, record))
		ret = add_run(tasks, time_ns, record->pid, false);
	now->begun = true;
	if (ret || record->next_pid == VIRT_NONE)
		return ret;
	now->switched = true;
	now->left = record->pid;
	return add_run(tasks, time_ns, record->next_pid, true);
}

int guest_tasks_lost(struct guest_tasks *tasks, int cpu)
{
	if (tasks->each && cpu >= 0 && cpu < tasks->n_cpus)
		tasks->cpu = cpu;
	return cpu == tasks->cpu ? end_cpu(tasks) : 0;
}

int guest_tasks_end(struct guest_tasks *tasks)
{
	int ret = end_cpu(tasks);

	return ret ? ret : guest_cgroups_end(&tasks->cgroups);
}

/** While a trace is read for this alone. */
struct reading {
	struct guest_tasks *tasks;
	const struct host_trace *host;
	int	error;
};

static int take_record(void *arg, const struct kvm_trace_record *record)
{
	struct reading *reading = arg;

	return guest_tasks_take(reading->tasks, record,
				guest_tasks_time(reading->host, record->time_ns));
}

static void take_lost(void *arg, int cpu, uint64_t records)
{
	struct reading *reading = arg;

	(void)records;
	reading->error |= guest_tasks_lost(reading->tasks, cpu);
}

int guest_tasks_read(struct guest_tasks *tasks, const struct host_trace *host,
		     const struct virt_model *model, const struct guest_clock *clock)
{
	struct reading reading = { .tasks = tasks, .host = host };
	int n = 0, ret;
	const int *tids = guest_tasks_tids(host, clock->trace, &n);

	ret = guest_tasks_init(tasks, model, clock->trace, tids, n);
	for (int i = 0; i < tasks->n_cpus; i++)
		if (guest_clock_is_wrong(clock, i))
			tasks->cpus[i].vcpu = VIRT_NONE;
	if (!ret)
		ret = kvm_trace_walk(clock->trace, take_record, take_lost, &reading);
	if (!ret)
		ret = guest_tasks_end(tasks);
	return ret ? ret : reading.error;
}

static void set_name(char *text, size_t size, const char *comm, int32_t pid)
{
	comm = comm ? comm : "task";
	if (!pid)
		snprintf(text, size, "idle");
	else if (pid < 0)
		/* a trace of another tool does not show who had the CPU */
		snprintf(text, size, "unknown");
	else
		text_format(text, size, "%.*s-%d", (int)text_cut(comm, strnlen(comm, MAX_COMM)),
			    comm, pid);
}

void guest_task_name(char *text, size_t size, const struct kvm_trace *trace, int32_t pid)
{
	set_name(text, size, kvm_trace_task(trace, pid), pid);
}

void guest_tasks_name(char *text, size_t size, const struct guest_tasks *tasks, int32_t pid)
{
	const struct kvm_trace *inside = guest_tasks_inside(tasks, pid);
	char stem[GUEST_TASK_NAME], name[GUEST_TASK_NAME];

	if (tasks->trace)
		guest_task_name(name, sizeof(name), inside ? inside : tasks->trace,
				guest_tasks_pid(pid));
	else
		set_name(name, sizeof(name), tasks->comm ? tasks->comm(tasks->arg, pid) : NULL,
			 pid);
	if (!inside) {
		text_format(text, size, "%s", name);
		return;
	}
	guest_tasks_called(stem, sizeof(stem), inside, tasks->trace);
	text_format(text, size, "%s: %s", stem, name);
}
