/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	canvas.h
 * @brief	A sheet to draw a figure on: SVG, PNG or PDF.
 *
 * PNG and PDF are cairo's. SVG is written here, because cairo turns text into outlines: labels in
 * these files can be searched, edited and set in the font of a paper, and groups have names.
 * Coordinates are rounded to hundredths of a unit, one unit being a pixel of SVG, a point of PDF.
 */
#ifndef KSHARK_VIRT_CANVAS_H
#define KSHARK_VIRT_CANVAS_H

#include <stdbool.h>
#include <stddef.h>

#include "output.h"
#include "virt_colors.h"

enum canvas_format { CANVAS_SVG, CANVAS_PNG, CANVAS_PDF };

enum canvas_anchor { CANVAS_START, CANVAS_MIDDLE, CANVAS_END };

/** How a path is painted: filled, or drawn as a line if @line is not 0. */
struct canvas_paint {
	struct virt_color	color;
	struct virt_color	hatch;
	bool			hatched;	/* lines of @hatch across @color */
	bool			dashed;
	double			line;		/* width */
};

/** How text is set. */
struct canvas_font {
	double			size;
	bool			bold;
	enum canvas_anchor	anchor;
	struct virt_color	color;
};

/** A column of a bar chart. */
struct canvas_bar {
	double	x0, x1, height;
};

struct canvas;

/**
 * canvas_new - begin a sheet
 * @out: open, and empty so far; to be closed after canvas_finish()
 * @scale: PNG only: pixels per unit
 *
 * @problem: set if NULL is returned: what went wrong; valid until the next dlopen()
 */
struct canvas *canvas_new(enum canvas_format format, struct output *out, double width,
			  double height, double scale, const char **problem);

/** canvas_finish - write it out. Return: NULL, or what went wrong. Errors of @out stay there. */
const char *canvas_finish(struct canvas *canvas);

/** canvas_free - without canvas_finish(), the file is incomplete. NULL is allowed. */
void canvas_free(struct canvas *canvas);

/**
 * canvas_group, canvas_group_end - what belongs together; only SVG shows it
 * @kind: becomes the class
 * @name: becomes data-name; may be NULL
 * @tip: shown by viewers under the mouse; may be NULL
 */
void canvas_group(struct canvas *canvas, const char *kind, const char *name, const char *tip);
void canvas_group_end(struct canvas *canvas);

/** canvas_path - begin a path; @kind becomes its class. canvas_path_end() paints it. */
void canvas_path(struct canvas *canvas, const char *kind, const struct canvas_paint *paint);
void canvas_move(struct canvas *canvas, double x, double y);
void canvas_line(struct canvas *canvas, double x, double y);
void canvas_close(struct canvas *canvas);
void canvas_path_end(struct canvas *canvas);

/** canvas_rect - a path that is a rectangle. */
void canvas_rect(struct canvas *canvas, const char *kind, const struct canvas_paint *paint,
		 double x, double y, double width, double height);

/** Where bars are: their origin, and the size of one unit of theirs. */
struct canvas_place {
	double	x, base, x_unit, y_unit;
};

/**
 * canvas_bars - bars on a base line, as one path: neighbours share an outline
 * @bars: from left to right
 */
void canvas_bars(struct canvas *canvas, const char *kind, const struct canvas_paint *paint,
		 const struct canvas_place *place, const struct canvas_bar *bars, size_t n);

/** canvas_text - one line, of which all that is no plain text is escaped; @y is its base line. */
void canvas_text(struct canvas *canvas, const char *kind, const struct canvas_font *font,
		 double x, double y, const char *text);

/** canvas_text_width - how wide that will be at most; the same on every machine. */
double canvas_text_width(const struct canvas_font *font, const char *text);

#endif
