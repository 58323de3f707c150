// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_loss_walk.c
 * @brief	Add up the losses of each pCPU, window by window.
 */
#include <stdlib.h>

#include "virt_loss_walk.h"
#include "virt_private.h"

/** A pCPU that has losses. */
struct track {
	int64_t		end_ns;		/* the latest end of its losses so far */
	size_t		item;		/* in the window: its place and 1, or 0 */
};

struct virt_loss_walk {
	const struct virt_model	*model;
	struct track		*tracks;	/* by pCPU */
	struct virt_loss_walk_pcpu *items;	/* of the window, some of which go on */
	size_t			n_items, most;
	size_t			next;		/* the first loss that has not begun */
	int64_t			to_ns;
};

/** All losses are to come. */
static void rewind_losses(struct virt_loss_walk *lost)
{
	for (size_t i = 0; i < lost->model->n_losses; i++)
		if (lost->model->losses[i].pcpu >= 0)
			lost->tracks[lost->model->losses[i].pcpu] = (struct track){ INT64_MIN, 0 };
	lost->n_items = lost->next = 0;
	lost->to_ns = INT64_MIN;
}

struct virt_loss_walk *virt_loss_walk_new(const struct virt_model *model)
{
	struct virt_loss_walk *lost = calloc(1, sizeof(*lost));

	if (!lost)
		return NULL;
	lost->model = model;
	lost->tracks = calloc((size_t)model->n_pcpus + 1, sizeof(*lost->tracks));
	for (size_t i = 0; lost->tracks && i < model->n_losses; i++) {
		int32_t pcpu = model->losses[i].pcpu;

		if (pcpu >= 0 && !lost->tracks[pcpu].item++)
			lost->most++;
	}
	lost->items = calloc(lost->most + 1, sizeof(*lost->items));
	if (!lost->tracks || !lost->items) {
		virt_loss_walk_free(lost);
		return NULL;
	}
	rewind_losses(lost);
	return lost;
}

void virt_loss_walk_free(struct virt_loss_walk *lost)
{
	if (!lost)
		return;
	free(lost->tracks);
	free(lost->items);
	free(lost);
}

size_t virt_loss_walk_n_pcpus(const struct virt_loss_walk *lost)
{
	return lost->most;
}

static struct virt_loss_walk_pcpu *item_of(struct virt_loss_walk *lost, int32_t pcpu)
{
	struct track *track = &lost->tracks[pcpu];

	if (!track->item) {
		lost->items[lost->n_items++] = (struct virt_loss_walk_pcpu){ .pcpu = pcpu };
		track->item = lost->n_items;
	}
	return &lost->items[track->item - 1];
}

/** Add the time from @begin_ns to @end_ns, unless it is empty. */
static void add_time(struct virt_loss_walk *lost, int32_t pcpu, int64_t begin_ns, int64_t end_ns)
{
	if (end_ns > begin_ns)
		item_of(lost, pcpu)->ns += end_ns - begin_ns;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/** Continue the losses of earlier windows. */
static void go_on(struct virt_loss_walk *lost, int64_t from_ns, int64_t to_ns)
{
	size_t n = lost->n_items;

	/* an item is written no later than it is read */
	lost->n_items = 0;
	for (size_t i = 0; i < n; i++) {
		int32_t pcpu = lost->items[i].pcpu;

		lost->tracks[pcpu].item = 0;
		add_time(lost, pcpu, from_ns, earlier(lost->tracks[pcpu].end_ns, to_ns));
	}
}

static void begin_loss(struct virt_loss_walk *lost, const struct virt_loss *loss, int64_t from_ns,
		       int64_t to_ns)
{
	struct track *track = &lost->tracks[loss->pcpu];
	int64_t begin_ns = loss->from_ns;

	if (begin_ns >= from_ns) {
		struct virt_loss_sum *sum = &item_of(lost, loss->pcpu)->sum;

		sum->losses++;
		sum->records += loss->records;
		sum->uncounted += !loss->records;
	} else {
		begin_ns = from_ns;
	}
	if (begin_ns < track->end_ns)
		begin_ns = track->end_ns;
	add_time(lost, loss->pcpu, begin_ns, earlier(loss->to_ns, to_ns));
	if (track->end_ns < loss->to_ns)
		track->end_ns = loss->to_ns;
}

static int compare_pcpus(const void *a, const void *b)
{
	const struct virt_loss_walk_pcpu *x = a, *y = b;

	return (x->pcpu > y->pcpu) - (x->pcpu < y->pcpu);
}

size_t virt_loss_walk_window(struct virt_loss_walk *lost, int64_t from_ns, int64_t to_ns,
			const struct virt_loss_walk_pcpu **pcpus)
{
	const struct virt_model *model = lost->model;

	if (from_ns < lost->to_ns)
		rewind_losses(lost);
	go_on(lost, from_ns, to_ns);
	for (; lost->next < model->n_losses && model->losses[lost->next].from_ns < to_ns;
	     lost->next++)
		if (model->losses[lost->next].pcpu >= 0)
			begin_loss(lost, &model->losses[lost->next], from_ns, to_ns);
	lost->to_ns = to_ns;
	if (lost->n_items > 1)
		qsort(lost->items, lost->n_items, sizeof(*lost->items), compare_pcpus);
	*pcpus = lost->items;
	return lost->n_items;
}
