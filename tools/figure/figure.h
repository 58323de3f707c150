/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	figure.h
 * @brief	A figure of a model: rows of vCPUs or pCPUs over time, with migrations and a legend.
 */
#ifndef KSHARK_VIRT_FIGURE_H
#define KSHARK_VIRT_FIGURE_H

#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"
#include "virt_model.h"

/** More rows cannot be distinguished. */
#define FIGURE_MAX_ROWS	1000

/** What lasted from one moment to another. */
struct figure_stage {
	int64_t			from_ns, to_ns;
	char			*name;
	char			*tip;		/* shown under the mouse, in SVG; or NULL */
	bool			no_end;		/* not known, but not before @to_ns */
};

/** Stages above the rows; they may lie within each other. */
struct figure_lane {
	char			*name;
	const struct figure_stage *stages;	/* as they begin */
	size_t			n;
	bool			marked;		/* their begins are lines through the rows */
};

/** What a vCPU executes from then on. */
struct figure_inner_run {
	int64_t			start_ns;
	int32_t			task;		/* index; VIRT_NONE: not known */
};

/** By time; before the first one nothing is known. */
struct figure_inner {
	const struct figure_inner_run *first;
	size_t			n;
};

/** A task of a guest. */
struct figure_task {
	char			*name;
	struct virt_color	color;
};

/** What to show, and how large. Arrays outlive the figure. */
struct figure_options {
	const struct virt_model	*model;
	bool			by_vcpu;	/* rows are vCPUs, else pCPUs */
	int64_t			from_ns, to_ns;	/* within the model's span */
	const bool		*vcpus;		/* by global index: shown; the rest is grey */
	const bool		*pcpus;		/* by number */
	double			width;		/* units, see canvas.h */
	double			height;		/* 0: as the number of rows needs it */
	double			scale;		/* columns per unit: PNG's pixels; 0: by the rows */
	const char		*title;		/* NULL or empty: none */
	const struct figure_lane *lanes;	/* above the rows */
	int			n_lanes;
	/* rows of pCPUs: what vCPUs execute there, instead of the vCPUs */
	const struct figure_inner *inner;	/* by vCPU; or NULL */
	const struct figure_task *tasks;
	int			n_tasks;
};

struct figure;

/**
 * figure_new - lay out a figure
 * @error: receives what is wrong and what to do, if errno is EINVAL
 *
 * Return: NULL with errno ENOMEM or EINVAL.
 */
struct figure *figure_new(const struct figure_options *options, char *error, size_t error_size);
void figure_free(struct figure *figure);

/** figure_height - how high the sheet must be. */
double figure_height(const struct figure *figure);

void figure_draw(const struct figure *figure, struct canvas *canvas);

/** A sheet, and what draws on it. */
struct figure_sheet {
	double		width, height;
	void		(*draw)(const void *arg, struct canvas *canvas);
	const void	*arg;
};

/** figure_write_sheet - as figure_write() */
int figure_write_sheet(const struct figure_sheet *sheet, enum canvas_format format,
		       const char *path, double scale);

/**
 * figure_write - draw it into a file, which is then there whole, or as it was before
 * @path: NULL: standard output
 * @scale: see canvas_new()
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_FILE after a message.
 */
int figure_write(const struct figure *figure, enum canvas_format format, const char *path,
		 double scale);

#endif
