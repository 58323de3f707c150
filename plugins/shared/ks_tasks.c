// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	ks_tasks.c
 * @brief	Find the task that has each CPU of a stream, from its rows.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "array.h"
#include "ks_tasks.h"
#include "search.h"

struct cpu {
	struct ks_task_run	*runs;
	size_t			n, room;
	int64_t			last_ns;	/* of its rows */
};

struct ks_tasks {
	struct cpu	*cpus;
	int		n_cpus;
};

/** Return: false without memory. */
static bool add_run(struct cpu *cpu, int64_t from_ns, int32_t pid)
{
	if (cpu->n && cpu->runs[cpu->n - 1].pid == pid)
		return true;
	if (ARRAY_GROW(cpu->runs, cpu->n, cpu->room))
		return false;
	cpu->runs[cpu->n++] = (struct ks_task_run){ from_ns, pid };
	return true;
}

static bool add_row(struct ks_tasks *tasks, const struct kshark_entry *row)
{
	struct cpu *cpu;
	bool lost = row->event_id == KS_EVENT_OVERFLOW, added;

	if (row->cpu >= tasks->n_cpus && ARRAY_REACH(tasks->cpus, row->cpu, tasks->n_cpus))
		return false;
	cpu = &tasks->cpus[row->cpu];
	/* between its last row and those that are missing, it may have been anybody */
	added = lost ? !cpu->n || add_run(cpu, cpu->last_ns, KS_TASK_NONE) :
		add_run(cpu, row->ts, row->pid < 0 ? KS_TASK_NONE : row->pid);
	cpu->last_ns = row->ts;
	return added;
}

struct ks_tasks *ks_tasks_new(struct kshark_entry *const *rows, size_t n, int stream_id)
{
	struct ks_tasks *tasks = calloc(1, sizeof(*tasks));
	bool added = tasks;

	for (size_t i = 0; added && i < n; i++)
		if (rows[i]->stream_id == stream_id && rows[i]->cpu >= 0)
			added = add_row(tasks, rows[i]);
	for (int i = 0; added && i < tasks->n_cpus; i++)
		if (tasks->cpus[i].n)
			added = add_run(&tasks->cpus[i], tasks->cpus[i].last_ns, KS_TASK_NONE);
	if (added)
		return tasks;
	ks_tasks_free(tasks);
	return NULL;
}

void ks_tasks_free(struct ks_tasks *tasks)
{
	if (!tasks)
		return;
	for (int i = 0; i < tasks->n_cpus; i++)
		free(tasks->cpus[i].runs);
	free(tasks->cpus);
	free(tasks);
}

const struct ks_task_run *ks_tasks_runs(const struct ks_tasks *tasks, int cpu, size_t *n)
{
	*n = cpu < 0 || cpu >= tasks->n_cpus ? 0 : tasks->cpus[cpu].n;
	return *n ? tasks->cpus[cpu].runs : NULL;
}

size_t ks_tasks_at(const struct ks_task_run *runs, size_t n, int64_t time_ns)
{
	size_t i;

	SEARCH_FIRST(i, 0, n, runs[i].from_ns <= time_ns);
	return i ? i - 1 : n;
}
