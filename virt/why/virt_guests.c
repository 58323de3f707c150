// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_guests.c
 * @brief	Query guests and their tasks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "search.h"
#include "virt_guest.h"

ptrdiff_t virt_guest_run_at(const struct virt_guest_cpu *cpu, int64_t time_ns)
{
	size_t i;

	SEARCH_FIRST(i, 0, cpu->n, cpu->runs[i].start_ns <= time_ns);
	return (ptrdiff_t)i - 1;
}

ptrdiff_t virt_life_at(const struct virt_guest_task *task, int64_t time_ns)
{
	size_t i;

	SEARCH_FIRST(i, 0, task->n, task->intervals[i].start_ns <= time_ns);
	return (ptrdiff_t)i - 1;
}

int32_t virt_guest_find(const struct virt_guest *guest, int32_t pid)
{
	size_t i;

	SEARCH_FIRST(i, 0, (size_t)guest->n_tasks, guest->tasks[i].pid < pid);
	return i < (size_t)guest->n_tasks && guest->tasks[i].pid == pid ? (int32_t)i : VIRT_NONE;
}

/** How long each task had the CPU. */
static void add_runs(const struct virt_guest *guest, const struct virt_guest_cpu *cpu,
		     int64_t from_ns, int64_t to_ns, int64_t *ns)
{
	ptrdiff_t first = virt_guest_run_at(cpu, from_ns);

	for (size_t i = first < 0 ? 0 : (size_t)first; i + 1 < cpu->n; i++) {
		int64_t a = cpu->runs[i].start_ns > from_ns ? cpu->runs[i].start_ns : from_ns;
		int64_t b = cpu->runs[i + 1].start_ns < to_ns ? cpu->runs[i + 1].start_ns : to_ns;
		int32_t task = cpu->runs[i].pid > 0 ? virt_guest_find(guest, cpu->runs[i].pid) :
			       VIRT_NONE;

		if (cpu->runs[i].start_ns >= to_ns)
			break;
		if (a < b && task != VIRT_NONE)
			ns[task] += b - a;
	}
}

ssize_t virt_guest_busiest(const struct virt_guest *guest, int64_t from_ns, int64_t to_ns,
			   int32_t *tasks, size_t n)
{
	int64_t *ns = calloc((size_t)guest->n_tasks + 1, sizeof(*ns));
	size_t found = 0;

	if (!ns)
		return -ENOMEM;
	for (int i = 0; i < guest->n_cpus; i++)
		add_runs(guest, &guest->cpus[i], from_ns, to_ns, ns);
	for (int32_t i = 0; i < guest->n_tasks && n; i++) {
		size_t at = found < n ? found : n;

		if (!ns[i] || (found == n && ns[tasks[n - 1]] >= ns[i]))
			continue;
		for (at -= at == n; at && ns[tasks[at - 1]] < ns[i]; at--)
			tasks[at] = tasks[at - 1];
		tasks[at] = i;
		found += found < n;
	}
	free(ns);
	return (ssize_t)found;
}

int32_t virt_guest_handler(struct virt_guest *guest, const char *name)
{
	char *copy;

	/* there are few, and mostly it is one of the last */
	for (int32_t i = guest->n_handlers; i--;)
		if (!strcmp(guest->handlers[i], name))
			return i;
	copy = strdup(name);
	if (!copy || ARRAY_GROW(guest->handlers, guest->n_handlers, guest->room_handlers)) {
		free(copy);
		return -1;
	}
	guest->handlers[guest->n_handlers] = copy;
	return guest->n_handlers++;
}

int32_t virt_guests_number(const struct virt_guests *guests, int guest, int32_t task)
{
	int64_t number = (int64_t)VIRT_FIRST_GUEST_TASK + task;

	if (task < 0 || guest < 0 || guest >= guests->n || task >= guests->all[guest].n_tasks)
		return VIRT_NONE;
	for (int i = 0; i < guest; i++)
		number += guests->all[i].n_tasks;
	return number > INT32_MAX ? VIRT_NONE : (int32_t)number;
}

const struct virt_guest_task *virt_guests_task(const struct virt_guests *guests, int32_t number,
					       int *guest)
{
	int32_t task = number - VIRT_FIRST_GUEST_TASK;

	if (!guests || number < VIRT_FIRST_GUEST_TASK)
		return NULL;
	for (int i = 0; i < guests->n; i++) {
		if (task < guests->all[i].n_tasks) {
			if (guest)
				*guest = i;
			return &guests->all[i].tasks[task];
		}
		task -= guests->all[i].n_tasks;
	}
	return NULL;
}

const char *virt_guests_short(const struct virt_guests *guests, int32_t number)
{
	int guest = 0;
	const struct virt_guest_task *task = virt_guests_task(guests, number, &guest);

	return task && task->name ? task->name + strlen(guests->all[guest].name) + 1 : NULL;
}

const struct virt_guest_cpu *virt_guests_cpu(const struct virt_guests *guests, int32_t vcpu,
					     int *guest)
{
	for (int i = 0; guests && vcpu != VIRT_NONE && i < guests->n; i++) {
		for (int c = 0; c < guests->all[i].n_cpus; c++) {
			if (guests->all[i].cpus[c].vcpu == vcpu && guests->all[i].cpus[c].n) {
				if (guest)
					*guest = i;
				return &guests->all[i].cpus[c];
			}
		}
	}
	return NULL;
}

int32_t virt_guests_task_at(const struct virt_guests *guests, int32_t vcpu, int64_t time_ns)
{
	int guest = 0;
	const struct virt_guest_cpu *cpu = virt_guests_cpu(guests, vcpu, &guest);
	ptrdiff_t run = cpu ? virt_guest_run_at(cpu, time_ns) : -1;
	int32_t pid = run < 0 ? VIRT_NONE : cpu->runs[run].pid;

	return pid < 0 ? VIRT_NONE :
	       virt_guests_number(guests, guest, virt_guest_find(&guests->all[guest], pid));
}
