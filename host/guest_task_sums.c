// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	guest_task_sums.c
 * @brief	Sum the time that a guest's tasks really had, by pCPU, and the time taken from them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "guest_tasks.h"
#include "key_map.h"
#include "virt_window.h"

static int add_place(struct guest_task_sum *sum, int32_t pcpu, int64_t ns)
{
	size_t i = 0;

	/* there are few, and mostly it is the last one */
	if (sum->n_places && sum->places[sum->n_places - 1].pcpu == pcpu)
		i = sum->n_places - 1;
	while (i < sum->n_places && sum->places[i].pcpu != pcpu)
		i++;
	if (i == sum->n_places) {
		if (ARRAY_GROW(sum->places, sum->n_places, sum->room_places))
			return -ENOMEM;
		sum->places[sum->n_places++] = (struct guest_task_place){ .pcpu = pcpu };
	}
	sum->places[i].ns += ns;
	return 0;
}

/** A walk through the intervals of a vCPU, which goes on with each run. */
struct cursor {
	struct virt_interval_range range;
	size_t	i;
};

static int64_t interval_end(const struct cursor *cursor)
{
	return cursor->i + 1 < cursor->range.n ? cursor->range.first[cursor->i + 1].start_ns :
	       cursor->range.end_ns;
}

/** What the vCPU did in [from, to), not before what was asked about last. */
static int add_states(struct guest_task_sum *sum, struct cursor *cursor, int64_t from_ns,
		      int64_t to_ns)
{
	for (; cursor->i < cursor->range.n; cursor->i++) {
		const struct virt_interval *interval = &cursor->range.first[cursor->i];
		int64_t end_ns = interval_end(cursor);
		int64_t a = interval->start_ns > from_ns ? interval->start_ns : from_ns;
		int64_t b = end_ns < to_ns ? end_ns : to_ns;

		if (a < b) {
			sum->ns[interval->state] += b - a;
			if (interval->state == VIRT_GUEST &&
			    add_place(sum, interval->pcpu, b - a))
				return -ENOMEM;
		}
		if (end_ns > to_ns)
			break;
	}
	return 0;
}

/** Sums that are being made. */
struct making {
	struct guest_task_sums	*sums;
	const struct guest_cgroups *cgroups;	/* NULL: by task */
	struct key_map		map;
	size_t			room;
	int64_t			from_ns, to_ns;
	int32_t			pcpu;		/* that the CPU is; VIRT_NONE: it is a vCPU */
};

/** The sum of a task or cgroup; NULL: no memory. */
static struct guest_task_sum *sum_of(struct making *making, int32_t key)
{
	struct guest_task_sums *sums = making->sums;
	int64_t i = KEY_MAP_ELEMENT(&making->map, (uint32_t)key, sums->all, making->room);

	if (i < 0)
		return NULL;
	sums->n = making->map.n_keys;
	sums->all[i].pid = key;
	return &sums->all[i];
}

static int add_part(struct making *making, struct cursor *cursor, int32_t key, int64_t from_ns,
		    int64_t to_ns)
{
	struct guest_task_sum *sum = sum_of(making, key);

	if (!sum)
		return -ENOMEM;
	sum->believed_ns += to_ns - from_ns;
	if (making->pcpu != VIRT_NONE)
		return add_place(sum, making->pcpu, to_ns - from_ns);
	return add_states(sum, cursor, from_ns, to_ns);
}

/** A run, cut where its task enters another cgroup. */
static int add_run_by_cgroup(struct making *making, struct cursor *cursor, int32_t pid,
			     int64_t from_ns, int64_t to_ns)
{
	int64_t until_ns;
	int ret = 0;

	for (; from_ns < to_ns && !ret && pid; from_ns = until_ns) {
		int32_t cgroup = guest_cgroups_at(making->cgroups, pid, from_ns, &until_ns);

		if (until_ns > to_ns)
			until_ns = to_ns;
		ret = add_part(making, cursor, cgroup, from_ns, until_ns);
	}
	return ret;
}

/** A run counts once, in the window and for the cgroup in which it begins. */
static int count_run(struct making *making, const struct virt_guest_run *run)
{
	struct guest_task_sum *sum;

	if (making->cgroups && !run->pid)
		return 0;
	sum = sum_of(making, !making->cgroups ? run->pid :
		     guest_cgroups_at(making->cgroups, run->pid, run->start_ns, NULL));
	if (!sum)
		return -ENOMEM;
	sum->runs++;
	return 0;
}

static int add_cpu(struct making *making, const struct virt_guest_cpu *cpu, struct cursor *cursor)
{
	int64_t from_ns = making->from_ns, to_ns = making->to_ns;
	ptrdiff_t first = virt_guest_run_at(cpu, from_ns - 1);
	int ret = 0;

	for (size_t i = first < 0 ? 0 : (size_t)first; i + 1 < cpu->n && !ret; i++) {
		const struct virt_guest_run *run = &cpu->runs[i];
		int64_t a = run->start_ns > from_ns ? run->start_ns : from_ns;
		int64_t b = run[1].start_ns < to_ns ? run[1].start_ns : to_ns;

		if (run->start_ns >= to_ns)
			break;
		if (run->pid < 0)
			continue;
		/* if the task before is unknown, the trace does not show the switch */
		if (i && run[-1].pid >= 0 && virt_begins_in(run->start_ns, from_ns, to_ns))
			ret = count_run(making, run);
		if (ret || a >= b)
			continue;
		ret = making->cgroups ? add_run_by_cgroup(making, cursor, run->pid, a, b) :
					add_part(making, cursor, run->pid, a, b);
	}
	return ret;
}

static int compare_sums(const void *a, const void *b)
{
	const struct guest_task_sum *x = a, *y = b;

	if (x->believed_ns != y->believed_ns)
		return x->believed_ns < y->believed_ns ? 1 : -1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int compare_places(const void *a, const void *b)
{
	const struct guest_task_place *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->pcpu > y->pcpu) - (x->pcpu < y->pcpu);
}

static int make(struct making *making, const struct guest_tasks *tasks,
		const struct virt_model *model)
{
	struct guest_task_sums *sums = making->sums;
	int ret = 0;

	*sums = (struct guest_task_sums){ .n = 0 };
	for (int i = 0; i < tasks->n_cpus && !ret; i++) {
		struct cursor cursor = { .i = 0 };

		if (!tasks->cpus[i].n)
			continue;
		making->pcpu = tasks->cpus[i].vcpu == VIRT_NONE ? i : VIRT_NONE;
		cursor.range = virt_vcpu_intervals(model, tasks->cpus[i].vcpu, making->from_ns,
						   making->to_ns);
		ret = add_cpu(making, &tasks->cpus[i], &cursor);
	}
	key_map_destroy(&making->map);
	if (sums->n)
		qsort(sums->all, sums->n, sizeof(*sums->all), compare_sums);
	for (size_t i = 0; i < sums->n; i++)
		if (sums->all[i].n_places)
			qsort(sums->all[i].places, sums->all[i].n_places,
			      sizeof(*sums->all[i].places), compare_places);
	return ret;
}

int guest_task_sums_make(struct guest_task_sums *sums, const struct guest_tasks *tasks,
			 const struct virt_model *model, int64_t from_ns, int64_t to_ns)
{
	struct making making = { .sums = sums, .from_ns = from_ns, .to_ns = to_ns };

	return make(&making, tasks, model);
}

int guest_cgroup_sums_make(struct guest_task_sums *sums, const struct guest_tasks *tasks,
			   const struct virt_model *model, int64_t from_ns, int64_t to_ns)
{
	struct making making = {
		.sums = sums, .cgroups = &tasks->cgroups, .from_ns = from_ns, .to_ns = to_ns,
	};

	*sums = (struct guest_task_sums){ .n = 0 };
	return tasks->cgroups.name_map.n_keys ? make(&making, tasks, model) : 0;
}

void guest_task_sums_free(struct guest_task_sums *sums)
{
	for (size_t i = 0; i < sums->n; i++)
		free(sums->all[i].places);
	free(sums->all);
	*sums = (struct guest_task_sums){ .n = 0 };
}
