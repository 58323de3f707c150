// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	guest_tasks_nest.c
 * @brief	Replace threads that are CPUs of a nested guest by the tasks of that guest.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "guest_tasks.h"

/** Tasks of nested guests have pids from there on, guest after guest: Linux has less. */
#define INNER_PIDS	(1 << 22)
#define MOST_INNER	255

/** While the trace of the innermost guest is read. */
struct nesting {
	struct guest_tasks	tasks;
	int			error;
};

static int take_record(void *arg, const struct kvm_trace_record *record)
{
	struct nesting *nesting = arg;

	return guest_tasks_take(&nesting->tasks, record, record->time_ns);
}

static void take_lost(void *arg, int cpu, uint64_t records)
{
	struct nesting *nesting = arg;

	(void)records;
	nesting->error |= guest_tasks_lost(&nesting->tasks, cpu);
}

void guest_tasks_know_all(struct guest_tasks *tasks)
{
	for (int i = 0; i < tasks->n_cpus; i++)
		tasks->cpus[i].vcpu = i;
}

/** The CPU that a thread is; NULL: none. */
static const struct virt_guest_cpu *cpu_of(const struct nesting *nesting, int32_t pid,
					   const int *tids, int n)
{
	for (int i = 0; i < n && i < nesting->tasks.n_cpus && pid > 0; i++)
		if (tids[i] == pid)
			return &nesting->tasks.cpus[i];
	return NULL;
}

static int add_run(struct virt_guest_cpu *cpu, int64_t start_ns, int32_t pid)
{
	if (ARRAY_GROW(cpu->runs, cpu->n, cpu->room))
		return -ENOMEM;
	cpu->runs[cpu->n++] = (struct virt_guest_run){ .start_ns = start_ns, .pid = pid };
	return 0;
}

/** A run of a thread: those of the tasks that it executed, as far as they are known. */
static int add_inner(struct virt_guest_cpu *cpu, const struct virt_guest_run *run, int64_t end_ns,
		     const struct virt_guest_cpu *inner, int32_t base)
{
	ptrdiff_t at = virt_guest_run_at(inner, run->start_ns);
	int32_t pid = at < 0 ? VIRT_NONE : inner->runs[at].pid;
	int ret = add_run(cpu, run->start_ns, pid < 0 ? run->pid : base + pid % INNER_PIDS);

	for (size_t i = (size_t)(at + 1); i < inner->n && inner->runs[i].start_ns < end_ns && !ret;
	     i++) {
		pid = inner->runs[i].pid;
		ret = add_run(cpu, inner->runs[i].start_ns,
			      pid < 0 ? run->pid : base + pid % INNER_PIDS);
	}
	return ret;
}

static int nest_cpu(struct virt_guest_cpu *cpu, const struct nesting *nesting, const int *tids,
		    int n, int32_t base)
{
	struct virt_guest_cpu nested = { .vcpu = cpu->vcpu };
	int ret = 0;

	for (size_t i = 0; i < cpu->n && !ret; i++) {
		const struct virt_guest_cpu *inner = cpu_of(nesting, cpu->runs[i].pid, tids, n);

		ret = inner && i + 1 < cpu->n ?
		      add_inner(&nested, &cpu->runs[i], cpu->runs[i + 1].start_ns, inner, base) :
		      add_run(&nested, cpu->runs[i].start_ns, cpu->runs[i].pid);
	}
	if (ret) {
		free(nested.runs);
		return ret;
	}
	free(cpu->runs);
	*cpu = nested;
	return 0;
}

int guest_tasks_nest(struct guest_tasks *tasks, const struct virt_model *model,
		     struct kvm_trace *trace, const int *tids, int n)
{
	struct nesting nesting = { .error = 0 };
	int32_t base = INNER_PIDS * (tasks->n_inner + 1);
	int ret = guest_tasks_init(&nesting.tasks, model, trace, NULL, 0);

	if (tasks->n_inner == MOST_INNER || !tids)
		goto out;
	guest_tasks_know_all(&nesting.tasks);
	if (!ret)
		ret = kvm_trace_walk(trace, take_record, take_lost, &nesting);
	if (!ret)
		ret = guest_tasks_end(&nesting.tasks);
	ret = ret ? ret : nesting.error;
	for (int i = 0; i < tasks->n_cpus && !ret; i++)
		ret = nest_cpu(&tasks->cpus[i], &nesting, tids, n, base);
	if (!ret && ARRAY_GROW(tasks->inner, tasks->n_inner, tasks->room_inner))
		ret = -ENOMEM;
	if (!ret)
		tasks->inner[tasks->n_inner++] = trace;
out:
	guest_tasks_free(&nesting.tasks);
	return ret;
}

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/** "n1" of "some/day-n1.dat", if the guest that it is in is "day-g1.dat". */
void guest_tasks_called(char *text, size_t size, const struct kvm_trace *inside,
			const struct kvm_trace *guest)
{
	const char *name = file_of(kvm_trace_path(inside)), *other = file_of(kvm_trace_path(guest));
	const char *dot = strrchr(name, '.');
	size_t n = dot && dot != name ? (size_t)(dot - name) : strlen(name), same = 0;

	for (size_t i = 0; i < n && name[i] == other[i]; i++)
		if (strchr("-_.", name[i]) && i + 1 < n)
			same = i + 1;
	text_format(text, size, "%.*s", (int)(n - same), name + same);
}

const struct kvm_trace *guest_tasks_inside(const struct guest_tasks *tasks, int32_t pid)
{
	return pid >= INNER_PIDS && pid / INNER_PIDS <= tasks->n_inner ?
	       tasks->inner[pid / INNER_PIDS - 1] : NULL;
}

int32_t guest_tasks_pid(int32_t pid)
{
	return pid < INNER_PIDS ? pid : pid % INNER_PIDS;
}
