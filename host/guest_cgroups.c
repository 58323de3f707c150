// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	guest_cgroups.c
 * @brief	Find the cgroups of a guest's tasks in the guest's own trace.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "guest_cgroups.h"
#include "hash_bytes.h"
#include "search.h"

static int add_step(struct guest_cgroups *cgroups, const struct guest_cgroup_step *step)
{
	if (ARRAY_GROW(cgroups->steps, cgroups->n, cgroups->room))
		return -ENOMEM;
	cgroups->steps[cgroups->n++] = *step;
	return 0;
}

/** Return: the number of a path, or -ENOMEM. */
static int32_t number_of(struct guest_cgroups *cgroups, const char *path)
{
	uint64_t key = hash_text(path);
	int64_t number;
	char *copy;

	/* another one may have that key */
	while ((number = key_map_find(&cgroups->name_map, key)) >= 0 &&
	       strcmp(cgroups->names[number].text, path) != 0)
		key++;
	if (number >= 0)
		return (int32_t)number;
	copy = strdup(path);
	number = copy ? KEY_MAP_ELEMENT(&cgroups->name_map, key, cgroups->names,
					cgroups->room_names) : -ENOMEM;
	if (number < 0) {
		free(copy);
		return -ENOMEM;
	}
	cgroups->names[number].text = copy;
	return (int32_t)number;
}

static void forget_names(struct guest_cgroups *cgroups)
{
	for (uint32_t i = 0; i < cgroups->name_map.n_keys; i++)
		free(cgroups->names[i].text);
	key_map_destroy(&cgroups->name_map);
}

/** Records of other hierarchies count no more. */
static void forget_paths(struct guest_cgroups *cgroups)
{
	size_t n = 0;

	for (size_t i = 0; i < cgroups->n; i++)
		if (cgroups->steps[i].maker != VIRT_NONE)
			cgroups->steps[n++] = cgroups->steps[i];
	cgroups->n = n;
	forget_names(cgroups);
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
	if (cgroups->name_map.n_keys && event->root > cgroups->root)
		return 0;
	if (cgroups->name_map.n_keys && event->root < cgroups->root)
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

	/* without records of cgroups, new tasks say nothing about them either */
	if (!cgroups->name_map.n_keys)
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
	return number >= 0 && (uint32_t)number < cgroups->name_map.n_keys ?
	       cgroups->names[number].text : NULL;
}

void guest_cgroups_free(struct guest_cgroups *cgroups)
{
	forget_names(cgroups);
	free(cgroups->names);
	free(cgroups->steps);
	*cgroups = (struct guest_cgroups){ .n = 0 };
}
