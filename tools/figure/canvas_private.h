/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	canvas_private.h
 * @brief	What the formats of a sheet implement.
 *
 * cairo and the libraries that it needs take a third of the time in which a command starts, and few
 * commands draw PNG or PDF. canvas_cairo.c is therefore a file of its own, kshark-virt-cairo.so,
 * which canvas_new() loads. It exports its struct canvas_ops, and calls nothing of the command
 * except @write.
 */
#ifndef KSHARK_VIRT_CANVAS_PRIVATE_H
#define KSHARK_VIRT_CANVAS_PRIVATE_H

#include "canvas.h"

/** The name of the struct canvas_ops that kshark-virt-cairo.so exports. */
#define CANVAS_CAIRO_NAME	"kshark_virt_cairo"

/** Distance of hatching lines. */
#define HATCH_STEP	6

/** Hundredths of a unit: what neighbours share is rounded to the same number. */
typedef long long cents;

struct canvas_ops {
	/* Return: NULL, or the problem */
	const char *(*begin)(struct canvas *canvas, double width, double height, double scale);
	void (*group)(struct canvas *canvas, const char *kind, const char *name, const char *tip);
	void (*group_end)(struct canvas *canvas);
	void (*path)(struct canvas *canvas, const char *kind);
	void (*move)(struct canvas *canvas, cents x, cents y);
	void (*line)(struct canvas *canvas, cents x, cents y);
	void (*close)(struct canvas *canvas);
	void (*path_end)(struct canvas *canvas);
	void (*text)(struct canvas *canvas, const char *kind, const struct canvas_font *font,
		     cents x, cents y, const char *text);
	const char *(*finish)(struct canvas *canvas);
	void (*free)(struct canvas *canvas);
};

struct canvas {
	const struct canvas_ops	*ops;
	struct output		*out;
	void			(*write)(struct output *out, const char *data, size_t size);
	struct canvas_paint	paint;		/* of the path being drawn */
	cents			x, y;		/* where the path is */
	int			n_hatches;	/* SVG: patterns defined so far */
	struct _cairo_surface	*surface;	/* PNG and PDF */
	struct _cairo		*cairo;
	bool			is_png;
};

#endif
