// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	canvas.c
 * @brief	A sheet to draw a figure on: SVG, PNG or PDF.
 */
#include <cairo-pdf.h>
#include <cairo.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "canvas.h"
#include "escape.h"
#include "options.h"

/** Distance of hatching lines. */
#define HATCH_STEP	6

/** Longer lines than that reach beyond every sheet. */
#define MAX_TEXT	8192

/** Hundredths of a unit: what neighbours share is rounded to the same number. */
typedef long long cents;

struct canvas_ops {
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
};

struct canvas {
	const struct canvas_ops	*ops;
	struct output		*out;
	struct canvas_paint	paint;		/* of the path being drawn */
	cents			x, y;		/* where the path is */
	int			n_hatches;	/* SVG: patterns defined so far */
	cairo_surface_t		*surface;
	cairo_t			*cairo;
	bool			is_png;
};

static cents to_cents(double value)
{
	return llround(value * 100);
}

/* --- SVG ------------------------------------------------------------------------------------- */

static void svg_number(struct output *out, cents value)
{
	unsigned int part = llabs(value) % 100;

	if (value < 0)
		out_char(out, '-');
	if (llabs(value) >= 100 || !part)
		out_u64(out, llabs(value) / 100);
	if (!part)
		return;
	out_char(out, '.');
	out_char(out, (char)('0' + part / 10));
	if (part % 10)
		out_char(out, (char)('0' + part % 10));
}

/** Of what is left when a text is escaped, XML needs no more than these. */
static void svg_escaped(struct output *out, const char *text)
{
	const char *end = text + strlen(text);
	char piece[ESCAPE_PIECE];
	size_t n;

	while ((n = escape_next(&text, end, piece))) {
		if (*piece == '&')
			out_str(out, "&amp;");
		else if (*piece == '<')
			out_str(out, "&lt;");
		else if (*piece == '>')
			out_str(out, "&gt;");
		else if (*piece == '"')
			out_str(out, "&quot;");
		else
			out_mem(out, piece, n);
	}
}

static void svg_attribute(struct output *out, const char *name, const char *value)
{
	if (!value)
		return;
	out_char(out, ' ');
	out_str(out, name);
	out_str(out, "=\"");
	svg_escaped(out, value);
	out_char(out, '"');
}

static void svg_attribute_cents(struct output *out, const char *name, cents value)
{
	out_char(out, ' ');
	out_str(out, name);
	out_str(out, "=\"");
	svg_number(out, value);
	out_char(out, '"');
}

static void svg_attribute_color(struct output *out, const char *name, struct virt_color color)
{
	char text[8];

	snprintf(text, sizeof(text), "#%02x%02x%02x", color.red, color.green, color.blue);
	svg_attribute(out, name, text);
}

static void svg_group(struct canvas *canvas, const char *kind, const char *name, const char *tip)
{
	out_str(canvas->out, "<g");
	svg_attribute(canvas->out, "class", kind);
	svg_attribute(canvas->out, "data-name", name);
	out_str(canvas->out, ">\n");
	if (!tip)
		return;
	out_str(canvas->out, "<title>");
	svg_escaped(canvas->out, tip);
	out_str(canvas->out, "</title>\n");
}

static void svg_group_end(struct canvas *canvas)
{
	out_str(canvas->out, "</g>\n");
}

static void svg_hatch(struct canvas *canvas)
{
	struct output *out = canvas->out;
	int s = HATCH_STEP;
	char text[160];

	snprintf(text, sizeof(text), "<pattern id=\"hatch%d\" patternUnits=\"userSpaceOnUse\" "
		 "width=\"%d\" height=\"%d\">", canvas->n_hatches++, s, s);
	out_str(out, text);
	snprintf(text, sizeof(text), "<path d=\"M0 0h%dv%dh-%dz\"", s, s, s);
	out_str(out, text);
	svg_attribute_color(out, "fill", canvas->paint.color);
	snprintf(text, sizeof(text), "/><path d=\"M-1 1L1 -1M0 %dL%d 0M%d %dL%d %d\"", s, s, s - 1,
		 s + 1, s + 1, s - 1);
	out_str(out, text);
	svg_attribute_color(out, "stroke", canvas->paint.hatch);
	out_str(out, "/></pattern>\n");
}

static void svg_path(struct canvas *canvas, const char *kind)
{
	const struct canvas_paint *paint = &canvas->paint;
	struct output *out = canvas->out;

	if (paint->hatched)
		svg_hatch(canvas);
	out_str(out, "<path");
	svg_attribute(out, "class", kind);
	if (paint->line > 0) {
		out_str(out, " fill=\"none\"");
		svg_attribute_color(out, "stroke", paint->color);
		svg_attribute_cents(out, "stroke-width", to_cents(paint->line));
		if (paint->dashed)
			out_str(out, " stroke-dasharray=\"3 2\"");
	} else if (paint->hatched) {
		char text[32];

		snprintf(text, sizeof(text), "url(#hatch%d)", canvas->n_hatches - 1);
		svg_attribute(out, "fill", text);
	} else {
		svg_attribute_color(out, "fill", paint->color);
	}
	out_str(out, " d=\"");
}

static void svg_move(struct canvas *canvas, cents x, cents y)
{
	out_char(canvas->out, 'M');
	svg_number(canvas->out, x);
	out_char(canvas->out, ' ');
	svg_number(canvas->out, y);
}

static void svg_line(struct canvas *canvas, cents x, cents y)
{
	struct output *out = canvas->out;

	if (y == canvas->y) {
		out_char(out, 'h');
		svg_number(out, x - canvas->x);
	} else if (x == canvas->x) {
		out_char(out, 'v');
		svg_number(out, y - canvas->y);
	} else {
		out_char(out, 'L');
		svg_number(out, x);
		out_char(out, ' ');
		svg_number(out, y);
	}
}

static void svg_close(struct canvas *canvas)
{
	out_char(canvas->out, 'z');
}

static void svg_path_end(struct canvas *canvas)
{
	out_str(canvas->out, "\"/>\n");
}

static void svg_text(struct canvas *canvas, const char *kind, const struct canvas_font *font,
		     cents x, cents y, const char *text)
{
	static const char *const anchors[] = { NULL, "middle", "end" };
	struct output *out = canvas->out;

	out_str(out, "<text");
	svg_attribute(out, "class", kind);
	svg_attribute_cents(out, "x", x);
	svg_attribute_cents(out, "y", y);
	svg_attribute_cents(out, "font-size", to_cents(font->size));
	svg_attribute(out, "font-weight", font->bold ? "bold" : NULL);
	svg_attribute(out, "text-anchor", anchors[font->anchor]);
	svg_attribute_color(out, "fill", font->color);
	out_char(out, '>');
	svg_escaped(out, text);
	out_str(out, "</text>\n");
}

static const char *svg_finish(struct canvas *canvas)
{
	out_str(canvas->out, "</svg>\n");
	return NULL;
}

static const struct canvas_ops svg_ops = {
	.group = svg_group, .group_end = svg_group_end, .path = svg_path, .move = svg_move,
	.line = svg_line, .close = svg_close, .path_end = svg_path_end, .text = svg_text,
	.finish = svg_finish,
};

static void svg_begin(struct canvas *canvas, double width, double height)
{
	struct output *out = canvas->out;

	out_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\"");
	svg_attribute_cents(out, "width", to_cents(width));
	svg_attribute_cents(out, "height", to_cents(height));
	out_str(out, " viewBox=\"0 0 ");
	svg_number(out, to_cents(width));
	out_char(out, ' ');
	svg_number(out, to_cents(height));
	out_str(out, "\" font-family=\"DejaVu Sans,Helvetica,Arial,sans-serif\">\n");
}

/* --- PNG and PDF ----------------------------------------------------------------------------- */

static cairo_status_t write_data(void *arg, const unsigned char *data, unsigned int size)
{
	out_mem(arg, (const char *)data, size);
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
		cairo_set_dash(cairo, dashes, paint->dashed ? ARRAY_SIZE(dashes) : 0, 0);
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
	char shown[MAX_TEXT];

	(void)kind;
	escape_text(shown, sizeof(shown), text);
	cairo_select_font_face(cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
			       font->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_font_size(cairo, font->size);
	set_color(cairo, font->color);
	cairo_text_extents(cairo, shown, &extents);
	cairo_move_to(cairo, x / 100.0 - shifts[font->anchor] * extents.x_advance, y / 100.0);
	cairo_show_text(cairo, shown);
	cairo_new_path(cairo);
}

static const char *cairo_finish(struct canvas *canvas)
{
	cairo_status_t status = cairo_status(canvas->cairo);

	cairo_show_page(canvas->cairo);
	cairo_surface_flush(canvas->surface);
	if (!status && canvas->is_png)
		status = cairo_surface_write_to_png_stream(canvas->surface, write_data,
							   canvas->out);
	cairo_surface_finish(canvas->surface);
	if (!status)
		status = cairo_surface_status(canvas->surface);
	return status ? cairo_status_to_string(status) : NULL;
}

static const struct canvas_ops cairo_ops = {
	.group = cairo_no_group, .group_end = cairo_no_group_end, .path = cairo_begin_path,
	.move = cairo_move, .line = cairo_line, .close = cairo_close,
	.path_end = cairo_path_done, .text = cairo_text, .finish = cairo_finish,
};

static int cairo_begin(struct canvas *canvas, double width, double height, double scale)
{
	cairo_status_t status;

	if (canvas->is_png) {
		canvas->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24,
							     (int)ceil(width * scale),
							     (int)ceil(height * scale));
	} else {
		canvas->surface = cairo_pdf_surface_create_for_stream(write_data, canvas->out,
								      width, height);
		/* the same trace gives the same file */
		cairo_pdf_surface_set_metadata(canvas->surface, CAIRO_PDF_METADATA_CREATE_DATE,
					       NULL);
	}
	status = cairo_surface_status(canvas->surface);
	if (status)
		return status == CAIRO_STATUS_INVALID_SIZE ? -EINVAL : -ENOMEM;
	canvas->cairo = cairo_create(canvas->surface);
	if (cairo_status(canvas->cairo))
		return -ENOMEM;
	/* up to the edges of the last pixels, which the paper may cover only in part */
	cairo_set_source_rgb(canvas->cairo, 1, 1, 1);
	cairo_paint(canvas->cairo);
	if (canvas->is_png)
		cairo_scale(canvas->cairo, scale, scale);
	return 0;
}

/* --- both ------------------------------------------------------------------------------------ */

struct canvas *canvas_new(enum canvas_format format, struct output *out, double width,
			  double height, double scale)
{
	static const struct canvas_paint white = { .color = { 255, 255, 255 } };
	struct canvas *canvas = calloc(1, sizeof(*canvas));
	int ret = 0;

	if (!canvas)
		return NULL;
	canvas->out = out;
	canvas->is_png = format == CANVAS_PNG;
	canvas->ops = format == CANVAS_SVG ? &svg_ops : &cairo_ops;
	if (format == CANVAS_SVG) {
		svg_begin(canvas, width, height);
		canvas_rect(canvas, "paper", &white, 0, 0, width, height);
	} else {
		ret = cairo_begin(canvas, width, height, scale);
	}
	if (!ret)
		return canvas;
	canvas_free(canvas);
	errno = -ret;
	return NULL;
}

const char *canvas_finish(struct canvas *canvas)
{
	return canvas->ops->finish(canvas);
}

void canvas_free(struct canvas *canvas)
{
	if (!canvas)
		return;
	if (canvas->cairo)
		cairo_destroy(canvas->cairo);
	if (canvas->surface)
		cairo_surface_destroy(canvas->surface);
	free(canvas);
}

void canvas_group(struct canvas *canvas, const char *kind, const char *name, const char *tip)
{
	canvas->ops->group(canvas, kind, name, tip);
}

void canvas_group_end(struct canvas *canvas)
{
	canvas->ops->group_end(canvas);
}

void canvas_path(struct canvas *canvas, const char *kind, const struct canvas_paint *paint)
{
	canvas->paint = *paint;
	canvas->ops->path(canvas, kind);
}

static void move_cents(struct canvas *canvas, cents x, cents y)
{
	canvas->ops->move(canvas, x, y);
	canvas->x = x;
	canvas->y = y;
}

static void line_cents(struct canvas *canvas, cents x, cents y)
{
	if (x == canvas->x && y == canvas->y)
		return;
	canvas->ops->line(canvas, x, y);
	canvas->x = x;
	canvas->y = y;
}

void canvas_move(struct canvas *canvas, double x, double y)
{
	move_cents(canvas, to_cents(x), to_cents(y));
}

void canvas_line(struct canvas *canvas, double x, double y)
{
	line_cents(canvas, to_cents(x), to_cents(y));
}

void canvas_close(struct canvas *canvas)
{
	canvas->ops->close(canvas);
}

void canvas_path_end(struct canvas *canvas)
{
	canvas->ops->path_end(canvas);
}

void canvas_rect(struct canvas *canvas, const char *kind, const struct canvas_paint *paint,
		 double x, double y, double width, double height)
{
	const struct canvas_place place = { x, y + height, 1, 1 };
	const struct canvas_bar bar = { 0, width, height };

	canvas_bars(canvas, kind, paint, &place, &bar, 1);
}

void canvas_bars(struct canvas *canvas, const char *kind, const struct canvas_paint *paint,
		 const struct canvas_place *place, const struct canvas_bar *bars, size_t n)
{
	cents bottom = to_cents(place->base), end = 0;
	bool open = false;

	canvas_path(canvas, kind, paint);
	for (size_t i = 0; i < n; i++) {
		cents x0 = to_cents(place->x + bars[i].x0 * place->x_unit);
		cents x1 = to_cents(place->x + bars[i].x1 * place->x_unit);
		cents top = bottom - to_cents(bars[i].height * place->y_unit);

		if (x1 <= x0 || top == bottom)
			continue;
		if (!open || x0 != end) {
			if (open) {
				line_cents(canvas, end, bottom);
				canvas_close(canvas);
			}
			move_cents(canvas, x0, bottom);
			open = true;
		}
		/* bars of equal height go on without a joint */
		if (top != canvas->y || i == 0)
			line_cents(canvas, x0, top);
		line_cents(canvas, x1, top);
		end = x1;
	}
	if (open) {
		line_cents(canvas, end, bottom);
		canvas_close(canvas);
	}
	canvas_path_end(canvas);
}

void canvas_text(struct canvas *canvas, const char *kind, const struct canvas_font *font,
		 double x, double y, const char *text)
{
	canvas->ops->text(canvas, kind, font, to_cents(x), to_cents(y), text);
}

/** Advances of DejaVu Sans Bold from blank to tilde, in thousandths; few fonts are wider. */
static const unsigned short advances[] = {
	348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696,
	696, 696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734,
	830, 683, 683, 821, 837, 372, 372, 775, 637, 995, 837, 850, 733, 850, 770, 720, 682, 812,
	774, 1103, 771, 724, 725, 457, 365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716,
	712, 343, 343, 665, 343, 1042, 712, 687, 716, 716, 493, 595, 478, 712, 652, 924, 645, 652,
	582, 712, 365, 712, 838,
};

double canvas_text_width(const struct canvas_font *font, const char *text)
{
	const char *end = text + strlen(text);
	char piece[ESCAPE_PIECE];
	unsigned long sum = 0;
	size_t n;

	while ((n = escape_next(&text, end, piece))) {
		if (*piece & 0x80)
			sum += 840;
		for (size_t i = 0; !(*piece & 0x80) && i < n; i++)
			sum += advances[piece[i] - ' '];
	}
	return sum * font->size / 1000 * (font->bold ? 1 : 0.92);
}
