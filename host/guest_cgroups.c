// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	guest_cgroups.c
 * @brief	In which cgroup a guest's tasks were, by its own trace.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "guest_cgroups.h"
#include "key_map.h"
#include "search.h"

static int add_step(struct guest_cgroups *cgroups, const struct guest_cgroup_step *step)
{
	if (ARRAY_GROW(cgroups->steps, cgroups->n, cgroups->room))
		return -ENOMEM;
	cgroups->steps[cgroups->n++] = *step;
	return 0;
}

/** There are few. Return: the number of a path, or -ENOMEM. */
static int32_t number_of(struct guest_cgroups *cgroups, const char *path)
{
	char *copy;

	for (size_t i = 0; i < cgroups->n_names; i++)
		if (!strcmp(cgroups->names[i], path))
			return (int32_t)i;
	copy = strdup(path);
	if (!copy || ARRAY_GROW(cgroups->names, cgroups->n_names, cgroups->room_names)) {
		free(copy);
		return -ENOMEM;
	}
	cgroups->names[cgroups->n_names] = copy;
	return (int32_t)cgroups->n_names++;
}

/** What other hierarchies have told counts no more. */
static void forget_paths(struct guest_cgroups *cgroups)
{
	size_t n = 0;

	for (size_t i = 0; i < cgroups->n; i++)
		if (cgroups->steps[i].maker != VIRT_NONE)
			cgroups->steps[n++] = cgroups->steps[i];
	cgroups->n = n;
	for (size_t i = 0; i < cgroups->n_names; i++)
		free(cgroups->names[i]);
	cgroups->n_names = 0;
}

int guest_cgroups_take(struct guest_cgroups *cgroups, const struct kvm_trace_record *record,
		       int64_t time_ns)
{
	const struct kvm_cgroup_event *event = record->cgroup;
	struct guest_cgroup_step step = {
		.time_ns = time_ns, .maker = VIRT_NONE, .cgroup = VIRT_NONE,
	};

	if (record->sched && record->sched->kind == KVM_BORN && record->pid >= 0) {
		step.pid = record->sched->arg;
		step.maker = record->pid;
		return add_step(cgroups, &step);
	}
	if (!event)
		return 0;
	if (cgroups->n_names && event->root > cgroups->root)
		return 0;
	if (cgroups->n_names && event->root < cgroups->root)
		forget_paths(cgroups);
	cgroups->root = event->root;
	step.pid = event->pid;
	step.cgroup = number_of(cgroups, event->path);
	return step.cgroup < 0 ? -ENOMEM : add_step(cgroups, &step);
}

static int compare_times(const void *a, const void *b)
{
	const struct guest_cgroup_step *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int compare_steps(const void *a, const void *b)
{
	const struct guest_cgroup_step *x = a, *y = b;

	return x->pid != y->pid ? (x->pid < y->pid ? -1 : 1) : compare_times(a, b);
}

int guest_cgroups_end(struct guest_cgroups *cgroups)
{
	struct key_map pids = { .n_keys = 0 };
	int32_t *now = NULL;
	uint32_t room = 0;
	int ret = 0;

	/* where no cgroup is told, whoever was made tells nothing either */
	if (!cgroups->n_names)
		cgroups->n = 0;
	if (cgroups->n)
		qsort(cgroups->steps, cgroups->n, sizeof(*cgroups->steps), compare_times);
	for (size_t i = 0; i < cgroups->n && !ret; i++) {
		struct guest_cgroup_step *step = &cgroups->steps[i];
		int64_t maker = step->maker == VIRT_NONE ? -1 :
				key_map_find(&pids, (uint32_t)step->maker);
		int64_t of;

		if (maker >= 0)
			step->cgroup = now[maker];
		of = KEY_MAP_ELEMENT(&pids, (uint32_t)step->pid, now, room);
		if (of < 0)
			ret = -ENOMEM;
		else
			now[of] = step->cgroup;
	}
	key_map_destroy(&pids);
	free(now);
	if (cgroups->n)
		qsort(cgroups->steps, cgroups->n, sizeof(*cgroups->steps), compare_steps);
	return ret;
}

int32_t guest_cgroups_at(const struct guest_cgroups *cgroups, int32_t pid, int64_t time_ns,
			 int64_t *until_ns)
{
	const struct guest_cgroup_step *steps = cgroups->steps;
	size_t i;

	/* the first one that comes later */
	SEARCH_FIRST(i, 0, cgroups->n, steps[i].pid < pid ||
		     (steps[i].pid == pid && steps[i].time_ns <= time_ns));
	if (until_ns)
		*until_ns = i < cgroups->n && steps[i].pid == pid ? steps[i].time_ns : INT64_MAX;
	return i && steps[i - 1].pid == pid ? steps[i - 1].cgroup : VIRT_NONE;
}

const char *guest_cgroups_name(const struct guest_cgroups *cgroups, int32_t number)
{
	return number >= 0 && (size_t)number < cgroups->n_names ? cgroups->names[number] : NULL;
}

void guest_cgroups_free(struct guest_cgroups *cgroups)
{
	for (size_t i = 0; i < cgroups->n_names; i++)
		free(cgroups->names[i]);
	free(cgroups->names);
	free(cgroups->steps);
	*cgroups = (struct guest_cgroups){ .n = 0 };
}
