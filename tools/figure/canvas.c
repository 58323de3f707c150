// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	canvas.c
 * @brief	A sheet to draw a figure on: SVG, PNG or PDF.
 */
#include <math.h>
#include <stdlib.h>

#include "canvas_private.h"
#include "escape.h"
#include "own_module.h"

/** Longer lines than that reach beyond every sheet. */
#define MAX_TEXT	8192

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

static void svg_escaped(struct output *out, const char *text)
{
	const char *end = text + strlen(text);
	char piece[ESCAPE_PIECE];
	size_t n;

	while ((n = escape_next(&text, end, piece))) {
		const char *xml = escape_xml(*piece);

		if (xml)
			out_str(out, xml);
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

static const char *svg_begin(struct canvas *canvas, double width, double height, double scale)
{
	static const struct canvas_paint white = { .color = { 255, 255, 255 } };
	struct output *out = canvas->out;

	(void)scale;
	out_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\"");
	svg_attribute_cents(out, "width", to_cents(width));
	svg_attribute_cents(out, "height", to_cents(height));
	out_str(out, " viewBox=\"0 0 ");
	svg_number(out, to_cents(width));
	out_char(out, ' ');
	svg_number(out, to_cents(height));
	out_str(out, "\" font-family=\"DejaVu Sans,Helvetica,Arial,sans-serif\">\n");
	canvas_rect(canvas, "paper", &white, 0, 0, width, height);
	return NULL;
}

static void svg_free(struct canvas *canvas)
{
	(void)canvas;
}

static const struct canvas_ops svg_ops = {
	.begin = svg_begin, .free = svg_free,
	.group = svg_group, .group_end = svg_group_end, .path = svg_path, .move = svg_move,
	.line = svg_line, .close = svg_close, .path_end = svg_path_end, .text = svg_text,
	.finish = svg_finish,
};

/* --- all formats ---------------------------------------------------------------------------- */

struct canvas *canvas_new(enum canvas_format format, struct output *out, double width,
			  double height, double scale, const char **problem)
{
	struct canvas *canvas = calloc(1, sizeof(*canvas));

	*problem = "not enough memory";
	if (!canvas)
		return NULL;
	canvas->out = out;
	canvas->write = out_mem;
	canvas->is_png = format == CANVAS_PNG;
	canvas->ops = &svg_ops;
	if (format != CANVAS_SVG)
		canvas->ops = own_module(KSHARK_VIRT_CAIRO, CANVAS_CAIRO_NAME, problem);
	if (!canvas->ops) {
		free(canvas);
		return NULL;
	}
	*problem = canvas->ops->begin(canvas, width, height, scale);
	if (!*problem)
		return canvas;
	canvas_free(canvas);
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
	canvas->ops->free(canvas);
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
	char shown[MAX_TEXT];

	/* SVG escapes it together with its own special characters */
	if (canvas->ops != &svg_ops) {
		escape_text(shown, sizeof(shown), text);
		text = shown;
	}
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
