// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	merge_facts.c
 * @brief	Combine the facts that parts of a trace keep of the whole one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "merge_facts.h"

static int copy_tasks(struct virt_part *to, const struct virt_part *from)
{
	if (from->n_tasks && ARRAY_GROW(to->tasks, from->n_tasks, to->room_tasks))
		return -ENOMEM;
	for (int32_t i = 0; i < from->n_tasks; i++) {
		struct virt_part_task *task = &to->tasks[to->n_tasks++];

		*task = from->tasks[i];
		task->name = strdup(from->tasks[i].name);
		task->thread = from->tasks[i].thread ? strdup(from->tasks[i].thread) : NULL;
		if (!task->name || (from->tasks[i].thread && !task->thread))
			return -ENOMEM;
	}
	return 0;
}

static int copy_tables(struct virt_part *to, const struct virt_part *from)
{
	for (int32_t i = 0; i < from->n_reasons; i++) {
		if (ARRAY_GROW(to->reasons, to->n_reasons, to->room_reasons))
			return -ENOMEM;
		to->reasons[i] = strdup(from->reasons[i]);
		if (!to->reasons[i])
			return -ENOMEM;
		to->n_reasons++;
	}
	if (from->n_wakes && ARRAY_GROW(to->wakes, from->n_wakes, to->room_wakes))
		return -ENOMEM;
	for (int32_t i = 0; i < from->n_wakes; i++)
		to->wakes[to->n_wakes++] = from->wakes[i];
	memcpy(to->idle_states, from->idle_states, sizeof(to->idle_states));
	return copy_tasks(to, from);
}

/** How many of the first @n losses are the same. */
static size_t count_same(const struct virt_part *part, size_t n, const struct virt_loss *loss)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += part->losses[i].pcpu == loss->pcpu &&
			 part->losses[i].from_ns == loss->from_ns &&
			 part->losses[i].to_ns == loss->to_ns &&
			 part->losses[i].records == loss->records;
	return count;
}

static int add_loss(struct virt_part *model, const struct virt_loss *loss)
{
	if (ARRAY_GROW(model->losses, model->n_losses, model->room_losses))
		return -ENOMEM;
	model->losses[model->n_losses++] = *loss;
	return 0;
}

/** A loss that touches several parts is in each of them; one part can have the same loss twice. */
static int join_losses(struct virt_part *to, const struct virt_part *from)
{
	int ret = 0;

	for (size_t i = 0; i < from->n_losses && !ret; i++)
		if (count_same(to, to->n_losses, &from->losses[i]) <
		    count_same(from, i + 1, &from->losses[i]))
			ret = add_loss(to, &from->losses[i]);
	return ret;
}

static bool has_hold(const struct virt_part *model, const struct virt_part_hold *hold)
{
	for (size_t i = model->n_holds; i-- > 0; )
		if (model->holds[i].vcpu == hold->vcpu &&
		    model->holds[i].hold.possible == hold->hold.possible)
			return model->holds[i].hold.from_ns >= hold->hold.from_ns;
	return false;
}

/** A hold that touches two parts is in both. Windows come in order of time, so holds do, too. */
static int join_holds(struct virt_part *to, const struct virt_part *from)
{
	to->knows_holds &= from->knows_holds;
	for (size_t i = 0; i < from->n_holds; i++) {
		if (has_hold(to, &from->holds[i]))
			continue;
		if (ARRAY_GROW(to->holds, to->n_holds, to->room_holds))
			return -ENOMEM;
		to->holds[to->n_holds++] = from->holds[i];
	}
	return 0;
}

static int join_contradictions(struct virt_part *to, const struct virt_part *from)
{
	int ret = 0;

	for (int i = 0; i < from->n_contradictions && !ret; i++)
		ret = virt_part_contradict(to, from->contradictions[i].what,
					   from->contradictions[i].time_ns,
					   from->contradictions[i].count);
	return ret;
}

struct virt_part *merge_facts_begin(const struct virt_part *first)
{
	struct virt_part *part = virt_part_alloc(first->n_vcpus, first->n_pcpus);

	if (part && copy_tables(part, first)) {
		virt_part_free(part);
		return NULL;
	}
	if (!part)
		return NULL;
	part->begin_ns = first->begin_ns;
	part->end_ns = first->end_ns;
	part->from_ns = part->to_ns = first->from_ns;
	part->unsplit = first->unsplit;
	part->migrates = first->migrates;
	part->recorded = first->recorded;
	part->knows_holds = first->knows_holds;
	part->n_known = first->n_known;
	return part;
}

int merge_facts_nothing(struct virt_part *part, const struct virt_part *after, int n_pcpus)
{
	int64_t from_ns = part->to_ns;
	int ret = virt_part_join(part, after, from_ns, after->from_ns, true);

	for (int pcpu = 0; pcpu < n_pcpus && !ret; pcpu++)
		ret = add_loss(part, &(struct virt_loss){
			.from_ns = from_ns, .to_ns = after->from_ns, .pcpu = (int16_t)pcpu,
		});
	return ret;
}

int merge_facts_add(struct virt_part *part, const struct virt_part *window, bool is_first,
		    bool is_last)
{
	int ret = virt_part_join(part, window, is_first ? INT64_MIN : window->from_ns,
				 is_last ? INT64_MAX : window->to_ns, false);

	if (!ret)
		ret = join_losses(part, window);
	if (!ret)
		ret = join_holds(part, window);
	if (!ret)
		ret = join_contradictions(part, window);
	part->to_ns = window->to_ns;
	return ret;
}
