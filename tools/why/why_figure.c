// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	why_figure.c
 * @brief	An answer of "kshark-virt why" as a figure.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "figure.h"
#include "options.h"
#include "why.h"

#define WIDTH	900

/** A level of the tree. */
struct level {
	struct figure_stage	*stages;
	size_t			n, room;
};

struct drawing {
	const struct virt_model	*model;
	const struct why_answer	*answer;
	struct output		*words;		/* to collect them in */
	struct level		levels[VIRT_WHY_LEVELS];
	struct figure_lane	lanes[VIRT_WHY_LEVELS];
	int			n_lanes;
	bool			*vcpus, *pcpus;	/* what has a row */
	char			*title;
};

/** What has been collected. Return: to be freed; NULL without memory. */
static char *words_of(struct drawing *drawing)
{
	const char *text = out_collected(drawing->words);

	return strdup(text ? text : "");
}

static char *segment_words(struct drawing *drawing, const struct virt_why_segment *segment,
			   bool with_length)
{
	out_collect(drawing->words);
	why_put_segment(drawing->words, &drawing->answer->why, segment);
	if (with_length) {
		out_str(drawing->words, ": ");
		why_put_duration(drawing->words, segment->to_ns - segment->from_ns, 0);
	}
	return words_of(drawing);
}

/** Return: 0 or -ENOMEM. */
static int add_segment(struct drawing *drawing, const struct virt_why_segment *segment)
{
	struct level *level = &drawing->levels[segment->level];
	struct figure_stage *stage;

	if (virt_model_vcpu(drawing->model, segment->subject))
		drawing->vcpus[segment->subject] = true;
	if (virt_model_vcpu(drawing->model, segment->vcpu))
		drawing->vcpus[segment->vcpu] = true;
	if (ARRAY_GROW(level->stages, level->n, level->room))
		return -ENOMEM;
	stage = &level->stages[level->n++];
	*stage = (struct figure_stage){
		.from_ns = segment->from_ns, .to_ns = segment->to_ns,
		.name = segment_words(drawing, segment, false),
		.tip = segment_words(drawing, segment, true),
		/* hatched */
		.no_end = segment->kind == VIRT_WHY_UNEXPLAINED,
	};
	return stage->name && stage->tip ? 0 : -ENOMEM;
}

static void add_lane(struct drawing *drawing, const char *name, const struct level *level)
{
	if (level->n)
		drawing->lanes[drawing->n_lanes++] = (struct figure_lane){
			.name = (char *)name, .stages = level->stages, .n = level->n,
		};
}

/** All that there is to draw. Return: 0 or -ENOMEM. */
static int make(struct drawing *drawing)
{
	/* with VIRT_WHY_LEVELS of them */
	static const char *const names[] = {
		"what", "why", "and why", "and why", "and why", "and why", "and why", "and why",
		"and why", "and why", "and why", "and why",
	};
	const struct virt_why *why = &drawing->answer->why;
	int ret = 0;

	drawing->words = malloc(sizeof(*drawing->words));
	drawing->vcpus = calloc((size_t)virt_model_n_vcpus(drawing->model) + 1, sizeof(bool));
	drawing->pcpus = calloc((size_t)virt_model_n_pcpus(drawing->model) + 1, sizeof(bool));
	if (!drawing->words || !drawing->vcpus || !drawing->pcpus)
		return -ENOMEM;
	out_collect(drawing->words);
	why_put_title(drawing->words, drawing->answer);
	drawing->title = words_of(drawing);
	if (!drawing->title)
		return -ENOMEM;
	for (size_t i = 0; i < why->n && !ret; i++)
		ret = add_segment(drawing, &why->segments[i]);
	for (int i = 0; i < VIRT_WHY_LEVELS && !ret; i++)
		add_lane(drawing, names[i], &drawing->levels[i]);
	for (int32_t i = 0; i < virt_model_n_pcpus(drawing->model); i++)
		drawing->pcpus[i] = drawing->answer->who != VIRT_NONE ||
				    i == drawing->answer->pcpu;
	return ret;
}

static void clear(struct drawing *drawing)
{
	for (int i = 0; i < VIRT_WHY_LEVELS; i++) {
		for (size_t s = 0; s < drawing->levels[i].n; s++) {
			free(drawing->levels[i].stages[s].name);
			free(drawing->levels[i].stages[s].tip);
		}
		free(drawing->levels[i].stages);
	}
	free(drawing->words);
	free(drawing->vcpus);
	free(drawing->pcpus);
	free(drawing->title);
}

int why_draw(const struct virt_model *model, const struct why_answer *answer,
	     enum canvas_format format, const char *path)
{
	struct drawing drawing = { .model = model, .answer = answer };
	struct figure *figure = NULL;
	char error[160] = "not enough memory";
	int status = KSV_EXIT_FILE;

	if (!make(&drawing)) {
		const struct figure_options options = {
			.model = model, .by_vcpu = answer->who != VIRT_NONE,
			.from_ns = answer->why.from_ns, .to_ns = answer->why.to_ns,
			.vcpus = drawing.vcpus, .pcpus = drawing.pcpus, .width = WIDTH,
			.title = drawing.title, .lanes = drawing.lanes,
			.n_lanes = drawing.n_lanes,
		};

		figure = figure_new(&options, error, sizeof(error));
	}
	if (figure)
		status = figure_write(figure, format, path, 1);
	else
		ksv_error("%s", error);
	figure_free(figure);
	clear(&drawing);
	return status;
}
