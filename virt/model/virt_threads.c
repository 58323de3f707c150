// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_threads.c
 * @brief	Sum up the times of the machines' threads, pCPU by pCPU.
 */
#include <stdlib.h>

#include "array.h"
#include "virt_threads.h"

/** While they are summed up. */
struct sums {
	const struct virt_model	*model;
	struct virt_threads	*threads;
	size_t			places_room;
	struct virt_thread	*of_task;	/* by number; @places is not set yet */
	struct virt_thread_place *here;		/* the same, on the pCPU that is looked at */
};

static bool is_owned(const struct virt_model *model, int32_t who)
{
	return virt_model_task(model, who) && virt_model_machine_of(model, who) != VIRT_NONE;
}

/* --- on pCPUs -------------------------------------------------------------------------------- */

static void add_run(struct virt_thread_place *place, int64_t ns, bool begins)
{
	place->ns += ns;
	place->runs += begins;
	if (ns > place->max_ns)
		place->max_ns = ns;
}

/** What has been summed up of one pCPU becomes places. Return: 0 or -ENOMEM. */
static int take_places(struct sums *sums, int32_t pcpu)
{
	struct virt_threads *threads = sums->threads;

	for (int32_t i = 0; i < virt_model_n_tasks(sums->model); i++) {
		struct virt_thread_place *here = &sums->here[i];
		struct virt_thread *thread = &sums->of_task[i];

		if (!here->ns && !here->runs)
			continue;
		if (ARRAY_GROW(threads->places, threads->n_places, sums->places_room))
			return -ENOMEM;
		here->task = VIRT_FIRST_TASK + i;
		here->pcpu = pcpu;
		threads->places[threads->n_places++] = *here;
		thread->ns += here->ns;
		thread->runs += here->runs;
		if (here->max_ns > thread->max_ns)
			thread->max_ns = here->max_ns;
		*here = (struct virt_thread_place){ 0 };
	}
	return 0;
}

static int sum_pcpu(struct sums *sums, int32_t pcpu, int64_t from_ns, int64_t to_ns)
{
	struct virt_occupant_range range = virt_pcpu_occupants(sums->model, pcpu, from_ns, to_ns);
	bool any = false;

	for (size_t i = 0; i < range.n; i++) {
		int64_t start = range.first[i].start_ns, begin = start < from_ns ? from_ns : start;
		int64_t end = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		if (!is_owned(sums->model, range.first[i].vcpu))
			continue;
		any = true;
		add_run(&sums->here[range.first[i].vcpu - VIRT_FIRST_TASK],
			(end > to_ns ? to_ns : end) - begin, start >= from_ns);
	}
	return any ? take_places(sums, pcpu) : 0;
}

/* --- which vCPUs they delay ------------------------------------------------------------------ */

static int sum_culprits(struct sums *sums, int32_t vcpu, int64_t from_ns, int64_t to_ns)
{
	size_t n = virt_vcpu_culprits(sums->model, vcpu, from_ns, to_ns, NULL, 0);
	struct virt_culprit *culprits = calloc(n + 1, sizeof(*culprits));

	if (!culprits)
		return -1;
	n = virt_vcpu_culprits(sums->model, vcpu, from_ns, to_ns, culprits, n);
	for (size_t i = 0; i < n; i++) {
		struct virt_thread *thread;

		if (!is_owned(sums->model, culprits[i].vcpu))
			continue;
		thread = &sums->of_task[culprits[i].vcpu - VIRT_FIRST_TASK];
		if (virt_model_is_own(sums->model, vcpu, culprits[i].vcpu))
			thread->own_ns += culprits[i].ns;
		else
			thread->others_ns += culprits[i].ns;
	}
	free(culprits);
	return 0;
}

/* --- all of them ----------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
	const struct virt_thread_place *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return (x->pcpu > y->pcpu) - (x->pcpu < y->pcpu);
}

struct ordered {
	int32_t			machine;
	struct virt_thread	thread;
};

static int compare_threads(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->machine != y->machine)
		return x->machine < y->machine ? -1 : 1;
	if (x->thread.ns != y->thread.ns)
		return x->thread.ns > y->thread.ns ? -1 : 1;
	return (x->thread.task > y->thread.task) - (x->thread.task < y->thread.task);
}

/** Each gets the places that are its, which are in order of the tasks. */
static void give_places(struct sums *sums)
{
	const struct virt_threads *threads = sums->threads;

	for (size_t i = 0; i < threads->n_places; i++) {
		struct virt_thread *thread = &sums->of_task[threads->places[i].task -
							    VIRT_FIRST_TASK];

		if (!thread->n_places++)
			thread->places = &threads->places[i];
	}
}

static int order(struct sums *sums)
{
	int32_t n_tasks = virt_model_n_tasks(sums->model);
	struct virt_threads *threads = sums->threads;
	struct ordered *ordered = calloc((size_t)n_tasks + 1, sizeof(*ordered));

	threads->threads = calloc((size_t)n_tasks + 1, sizeof(*threads->threads));
	if (!ordered || !threads->threads) {
		free(ordered);
		return -1;
	}
	if (threads->n_places)
		qsort(threads->places, threads->n_places, sizeof(*threads->places),
		      compare_places);
	give_places(sums);
	for (int32_t i = 0; i < n_tasks; i++) {
		struct virt_thread *thread = &sums->of_task[i];

		thread->task = VIRT_FIRST_TASK + i;
		if (thread->n_places || thread->own_ns || thread->others_ns)
			ordered[threads->n++] = (struct ordered){
				virt_model_machine_of(sums->model, thread->task), *thread,
			};
	}
	qsort(ordered, threads->n, sizeof(*ordered), compare_threads);
	for (size_t i = 0; i < threads->n; i++)
		threads->threads[i] = ordered[i].thread;
	free(ordered);
	return 0;
}

struct virt_threads *virt_threads_new(const struct virt_model *model, int64_t from_ns,
				      int64_t to_ns)
{
	size_t n_tasks = (size_t)virt_model_n_tasks(model) + 1;
	struct sums sums = {
		.model = model,
		.threads = calloc(1, sizeof(*sums.threads)),
		.of_task = calloc(n_tasks, sizeof(*sums.of_task)),
		.here = calloc(n_tasks, sizeof(*sums.here)),
	};
	int ret = sums.threads && sums.of_task && sums.here ? 0 : -1;

	if (from_ns < virt_model_begin(model))
		from_ns = virt_model_begin(model);
	if (to_ns > virt_model_end(model))
		to_ns = virt_model_end(model);
	for (int32_t i = 0; i < virt_model_n_pcpus(model) && !ret; i++)
		ret = sum_pcpu(&sums, i, from_ns, to_ns);
	for (int32_t i = 0; i < virt_model_n_vcpus(model) && !ret; i++)
		ret = sum_culprits(&sums, i, from_ns, to_ns);
	if (!ret)
		ret = order(&sums);
	free(sums.of_task);
	free(sums.here);
	if (!ret)
		return sums.threads;
	virt_threads_free(sums.threads);
	return NULL;
}

void virt_threads_free(struct virt_threads *threads)
{
	if (!threads)
		return;
	free(threads->threads);
	free(threads->places);
	free(threads);
}
