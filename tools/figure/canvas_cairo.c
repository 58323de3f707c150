// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	canvas_cairo.c
 * @brief	Draw PNG and PDF with cairo: the content of kshark-virt-cairo.so.
 */
#include <cairo-pdf.h>
#include <cairo.h>
#include <math.h>

#include "canvas_private.h"

static cairo_status_t write_data(void *arg, const unsigned char *data, unsigned int size)
{
	const struct canvas *canvas = arg;

	canvas->write(canvas->out, (const char *)data, size);
	return CAIRO_STATUS_SUCCESS;
}

static void set_color(cairo_t *cairo, struct virt_color color)
{
	cairo_set_source_rgb(cairo, color.red / 255.0, color.green / 255.0, color.blue / 255.0);
}

static void cairo_no_group(struct canvas *canvas, const char *kind, const char *name,
			   const char *tip)
{
	(void)canvas;
	(void)kind;
	(void)name;
	(void)tip;
}

static void cairo_no_group_end(struct canvas *canvas)
{
	(void)canvas;
}

static void cairo_begin_path(struct canvas *canvas, const char *kind)
{
	(void)kind;
	cairo_new_path(canvas->cairo);
}

static void cairo_move(struct canvas *canvas, cents x, cents y)
{
	cairo_move_to(canvas->cairo, x / 100.0, y / 100.0);
}

static void cairo_line(struct canvas *canvas, cents x, cents y)
{
	cairo_line_to(canvas->cairo, x / 100.0, y / 100.0);
}

static void cairo_close(struct canvas *canvas)
{
	cairo_close_path(canvas->cairo);
}

/** The same lines as in svg_hatch(), where x + y is a multiple of the step. */
static void cairo_hatch(cairo_t *cairo, struct virt_color color)
{
	double x0, y0, x1, y1;

	cairo_save(cairo);
	cairo_clip_preserve(cairo);
	cairo_path_extents(cairo, &x0, &y0, &x1, &y1);
	cairo_new_path(cairo);
	for (double sum = floor((x0 + y0) / HATCH_STEP) * HATCH_STEP; sum < x1 + y1;
	     sum += HATCH_STEP) {
		cairo_move_to(cairo, sum - y1, y1);
		cairo_line_to(cairo, sum - y0, y0);
	}
	set_color(cairo, color);
	cairo_set_line_width(cairo, 1);
	cairo_stroke(cairo);
	cairo_restore(cairo);
}

static void cairo_path_done(struct canvas *canvas)
{
	static const double dashes[] = { 3, 2 };
	const struct canvas_paint *paint = &canvas->paint;
	cairo_t *cairo = canvas->cairo;

	set_color(cairo, paint->color);
	if (paint->line > 0) {
		cairo_set_line_width(cairo, paint->line);
		cairo_set_dash(cairo, dashes, paint->dashed ? 2 : 0, 0);
		cairo_stroke(cairo);
		return;
	}
	cairo_fill_preserve(cairo);
	if (paint->hatched)
		cairo_hatch(cairo, paint->hatch);
	cairo_new_path(cairo);
}

static void cairo_text(struct canvas *canvas, const char *kind, const struct canvas_font *font,
		       cents x, cents y, const char *text)
{
	static const double shifts[] = { 0, 0.5, 1 };
	cairo_t *cairo = canvas->cairo;
	cairo_text_extents_t extents;

	(void)kind;
	cairo_select_font_face(cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
			       font->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_font_size(cairo, font->size);
	set_color(cairo, font->color);
	cairo_text_extents(cairo, text, &extents);
	cairo_move_to(cairo, x / 100.0 - shifts[font->anchor] * extents.x_advance, y / 100.0);
	cairo_show_text(cairo, text);
	cairo_new_path(cairo);
}

static const char *cairo_finish(struct canvas *canvas)
{
	cairo_status_t status = cairo_status(canvas->cairo);

	cairo_show_page(canvas->cairo);
	cairo_surface_flush(canvas->surface);
	if (!status && canvas->is_png)
		status = cairo_surface_write_to_png_stream(canvas->surface, write_data,
							   canvas);
	cairo_surface_finish(canvas->surface);
	if (!status)
		status = cairo_surface_status(canvas->surface);
	return status ? cairo_status_to_string(status) : NULL;
}

static const char *cairo_begin(struct canvas *canvas, double width, double height, double scale)
{
	cairo_status_t status;

	if (canvas->is_png) {
		canvas->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24,
							     (int)ceil(width * scale),
							     (int)ceil(height * scale));
	} else {
		canvas->surface = cairo_pdf_surface_create_for_stream(write_data, canvas,
								      width, height);
		/* the same trace gives the same file */
		cairo_pdf_surface_set_metadata(canvas->surface, CAIRO_PDF_METADATA_CREATE_DATE,
					       NULL);
	}
	status = cairo_surface_status(canvas->surface);
	if (status)
		return status == CAIRO_STATUS_INVALID_SIZE ? "the figure is too large for PNG and "
			"PDF: show fewer rows, or write SVG" : cairo_status_to_string(status);
	canvas->cairo = cairo_create(canvas->surface);
	status = cairo_status(canvas->cairo);
	if (status)
		return cairo_status_to_string(status);
	/* up to the edges of the last pixels, which the paper may cover only in part */
	cairo_set_source_rgb(canvas->cairo, 1, 1, 1);
	cairo_paint(canvas->cairo);
	if (canvas->is_png)
		cairo_scale(canvas->cairo, scale, scale);
	return NULL;
}

static void cairo_free(struct canvas *canvas)
{
	if (canvas->cairo)
		cairo_destroy(canvas->cairo);
	if (canvas->surface)
		cairo_surface_destroy(canvas->surface);
}

extern const struct canvas_ops kshark_virt_cairo;

__attribute__((visibility("default")))
const struct canvas_ops kshark_virt_cairo = {
	.begin = cairo_begin, .free = cairo_free,
	.group = cairo_no_group, .group_end = cairo_no_group_end, .path = cairo_begin_path,
	.move = cairo_move, .line = cairo_line, .close = cairo_close,
	.path_end = cairo_path_done, .text = cairo_text, .finish = cairo_finish,
};
