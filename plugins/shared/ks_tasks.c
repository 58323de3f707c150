// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	ks_tasks.c
 * @brief	Which task has each CPU of a stream, by its rows.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "array.h"
#include "key_map.h"
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

static int compare_shares(const void *a, const void *b)
{
	const struct ks_task_share *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

size_t ks_tasks_shares(const struct ks_tasks *tasks, int cpu, int64_t from_ns, int64_t to_ns,
		       size_t max_runs, struct ks_task_share *shares, size_t max)
{
	struct key_map map = { .n_keys = 0 };
	struct ks_task_share *all = NULL;
	uint32_t room = 0;
	size_t n, found;
	const struct ks_task_run *runs = ks_tasks_runs(tasks, cpu, &n);
	size_t first = n ? ks_tasks_at(runs, n, from_ns) : 0;
	bool complete = true;

	first = first == n ? 0 : first;
	for (size_t i = first; i + 1 < n && runs[i].from_ns < to_ns && complete; i++) {
		int64_t a = runs[i].from_ns > from_ns ? runs[i].from_ns : from_ns;
		int64_t b = runs[i + 1].from_ns < to_ns ? runs[i + 1].from_ns : to_ns;
		int64_t task;

		if (runs[i].pid == KS_TASK_NONE || a >= b)
			continue;
		task = i - first >= max_runs ? -1 :
		       KEY_MAP_ELEMENT(&map, (uint32_t)runs[i].pid, all, room);
		complete = task >= 0;
		if (complete) {
			all[task].pid = runs[i].pid;
			all[task].ns += b - a;
		}
	}
	found = complete ? map.n_keys : 0;
	if (found)
		qsort(all, found, sizeof(*all), compare_shares);
	for (size_t i = 0; i < found && i < max; i++)
		shares[i] = all[i];
	free(all);
	key_map_destroy(&map);
	return found;
}
