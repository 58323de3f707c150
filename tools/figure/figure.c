// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	figure.c
 * @brief	Make a figure of a model: the places of its parts on the sheet.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure_private.h"

#define MACHINE_GAP	5.0
/** Bars narrower than this show nothing. */
#define MIN_PLOT_WIDTH	100.0
#define MIN_PITCH	4.0
/** With at most this many rows, vector formats have two columns per unit; else files get large. */
#define FINE_ROWS	16

/** How far apart rows are, if the height is free: less, the more there are. */
static const struct { int n; double pitch; } pitches[] = {
	{ 4, 42 }, { 8, 34 }, { 16, 27 }, { 32, 20 }, { INT32_MAX, 14 },
};

/* --- what things are called and how they look ------------------------------------------------ */

bool figure_key_paint(const struct figure *figure, int key, struct canvas_paint *paint)
{
	const struct virt_look *look = NULL;

	*paint = (struct canvas_paint){ .color = { 0xc0, 0xc0, 0xc0 } };
	if (figure->options.by_vcpu)
		look = virt_state_look_in(figure->options.model, (enum virt_state)key);
	else if (key == figure_key_unknown(figure))
		look = virt_state_look(VIRT_UNKNOWN);
	else if (key < figure_key_other(figure))
		paint->color = virt_vcpu_color(key);
	else if (figure_key_of_task(figure, key))
		paint->color = figure_key_of_task(figure, key)->color;
	if (look)
		*paint = (struct canvas_paint){ .color = look->color, .hatched = look->hatched,
						.hatch = look->hatch };
	return figure->options.by_vcpu || key != figure_key_idle(figure);
}

const char *figure_key_name(const struct figure *figure, int key)
{
	if (figure->options.by_vcpu)
		return virt_state_name((enum virt_state)key);
	if (key < figure_key_other(figure))
		return virt_model_vcpu(figure->options.model, key)->name;
	if (figure_key_of_task(figure, key))
		return figure_key_of_task(figure, key)->name;
	return key == figure_key_other(figure) ? "other" : virt_state_name(VIRT_UNKNOWN);
}

const char *figure_machine_name(const struct figure *figure, int32_t index)
{
	const struct virt_model *model = figure->options.model;
	const struct virt_machine *machine = virt_model_machine(model, index);

	if (!machine->n_vcpus ||
	    !strncmp(virt_model_vcpu(model, machine->vcpus[0])->name, machine->name,
		     strlen(machine->name)))
		return NULL;
	return machine->name;
}

double figure_x(const struct figure *figure, int64_t time_ns)
{
	const struct figure_options *options = &figure->options;

	return figure->left + (double)(time_ns - options->from_ns) /
	       (double)(options->to_ns - options->from_ns) * (figure->right - figure->left);
}

/* --- what is shown --------------------------------------------------------------------------- */

static void add_row(struct figure *figure, int32_t index, const char *name)
{
	struct figure_row *row = &figure->rows[figure->n_rows++];

	row->index = index;
	text_format(row->name, sizeof(row->name), "%s", name);
}

/** vCPUs by machine, as their machines name them; pCPUs by number. */
static int find_rows(struct figure *figure, char *error, size_t size)
{
	const struct figure_options *options = &figure->options;
	const struct virt_model *model = options->model;
	int32_t n_vcpus = virt_model_n_vcpus(model), n_pcpus = virt_model_n_pcpus(model);
	char name[32];
	int n = 0;

	for (int32_t i = 0; i < (options->by_vcpu ? n_vcpus : n_pcpus); i++)
		n += options->by_vcpu ? options->vcpus[i] : options->pcpus[i];
	if (n > FIGURE_MAX_ROWS) {
		snprintf(error, size, "%d rows are too many: select %s, at most %d, with --vcpu or "
			 "--pcpu", n, options->by_vcpu ? "vCPUs" : "pCPUs",
			 FIGURE_MAX_ROWS);
		return -EINVAL;
	}
	figure->rows = calloc((size_t)n + 1, sizeof(*figure->rows));
	if (!figure->rows)
		return -ENOMEM;
	for (int32_t i = 0; options->by_vcpu && i < virt_model_n_machines(model); i++) {
		const struct virt_machine *machine = virt_model_machine(model, i);

		for (int32_t j = 0; j < machine->n_vcpus; j++) {
			if (options->vcpus[machine->vcpus[j]])
				add_row(figure, machine->vcpus[j],
					virt_model_vcpu(model, machine->vcpus[j])->name);
		}
	}
	for (int32_t i = 0; !options->by_vcpu && i < n_pcpus; i++) {
		snprintf(name, sizeof(name), "pCPU %d", i);
		if (options->pcpus[i])
			add_row(figure, i, name);
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct virt_migration *ma = a, *mb = b;

	if (ma->time_ns != mb->time_ns)
		return ma->time_ns < mb->time_ns ? -1 : 1;
	return (ma->vcpu > mb->vcpu) - (ma->vcpu < mb->vcpu);
}

/** Those of the vCPUs that are shown, to the pCPUs that are shown. */
static int find_migrations(struct figure *figure)
{
	const struct figure_options *options = &figure->options;
	size_t n = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (int32_t i = 0; i < virt_model_n_vcpus(options->model); i++) {
			struct virt_migration_range range;

			if (!options->vcpus[i])
				continue;
			range = virt_vcpu_migrations(options->model, i, options->from_ns,
						     options->to_ns);
			n += range.n;
			for (size_t j = 0; pass && j < range.n; j++) {
				if (options->by_vcpu || options->pcpus[range.first[j].to])
					figure->migrations[figure->n_migrations++] =
						range.first[j];
			}
		}
		if (pass || !n)
			break;
		figure->migrations = calloc(n, sizeof(*figure->migrations));
		if (!figure->migrations)
			return -ENOMEM;
	}
	if (figure->n_migrations)
		qsort(figure->migrations, figure->n_migrations, sizeof(*figure->migrations),
		      by_time);
	return 0;
}

/** For each row, where its migrations are. Return: 0 or -ENOMEM. */
static int order_migrations(struct figure *figure)
{
	bool by_vcpu = figure->options.by_vcpu;
	size_t n = by_vcpu ? (size_t)virt_model_n_vcpus(figure->options.model) :
			     (size_t)virt_model_n_pcpus(figure->options.model);
	size_t *first = calloc(n + 2, sizeof(*first));

	figure->first_of_row = first;
	figure->of_row = malloc((figure->n_migrations + 1) * sizeof(*figure->of_row));
	if (!first || !figure->of_row)
		return -ENOMEM;
	for (size_t i = 0; i < figure->n_migrations; i++) {
		const struct virt_migration *migration = &figure->migrations[i];

		first[(by_vcpu ? migration->vcpu : migration->to) + 2]++;
	}
	for (size_t i = 2; i < n + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < figure->n_migrations; i++) {
		const struct virt_migration *migration = &figure->migrations[i];

		figure->of_row[first[(by_vcpu ? migration->vcpu : migration->to) + 1]++] = i;
	}
	return 0;
}

static int fill_rows(struct figure *figure)
{
	int ret = 0;

	for (int i = 0; i < figure->n_rows && !ret; i++) {
		ret = figure_fill_row(figure, &figure->rows[i]);
		for (size_t j = 0; j < figure->rows[i].bars.n_lists; j++)
			figure->seen[figure->rows[i].bars.lists[j].key] = true;
	}
	return ret;
}

/* --- where it is ----------------------------------------------------------------------------- */

static int32_t row_machine(const struct figure *figure, const struct figure_row *row)
{
	return virt_model_vcpu(figure->options.model, row->index)->machine;
}

static int layout_across(struct figure *figure, char *error, size_t error_size)
{
	const struct canvas_font font = { .size = FIGURE_FONT_SIZE };
	const struct canvas_font bold = { .size = FIGURE_FONT_SIZE, .bold = true };
	double scale = figure->options.scale, names = figure_lanes_names(figure);

	if (scale <= 0)
		scale = figure->n_rows <= FINE_ROWS ? 2 : 1;
	for (int i = 0; i < figure->n_rows; i++) {
		const struct figure_row *row = &figure->rows[i];
		const char *machine = NULL;

		names = fmax(names, canvas_text_width(&font, row->name));
		if (figure->options.by_vcpu)
			machine = figure_machine_name(figure, row_machine(figure, row));
		if (machine)
			figure->machine_width = fmax(figure->machine_width, 2 * FIGURE_LABEL_GAP +
						     canvas_text_width(&bold, machine));
	}
	figure->left = FIGURE_MARGIN + figure->machine_width + ceil(names) + FIGURE_LABEL_GAP;
	figure->left = ceil(figure->left);
	figure->right = floor(figure->options.width - 2 * FIGURE_MARGIN);
	if (figure->right - figure->left < MIN_PLOT_WIDTH) {
		snprintf(error, error_size, "a width of %.0f is too small: at least %.0f are "
			 "needed", figure->options.width,
			 ceil(figure->left + MIN_PLOT_WIDTH + 2 * FIGURE_MARGIN));
		return -EINVAL;
	}
	figure->n_columns = (int)((figure->right - figure->left) * scale);
	figure->column = (figure->right - figure->left) / figure->n_columns;
	return 0;
}

static double row_gap(const struct figure *figure, int i)
{
	if (!figure->options.by_vcpu || !i || row_machine(figure, &figure->rows[i]) ==
	    row_machine(figure, &figure->rows[i - 1]))
		return 0;
	return MACHINE_GAP;
}

static double auto_pitch(int n_rows)
{
	size_t i = 0;

	while (n_rows > pitches[i].n)
		i++;
	return pitches[i].pitch;
}

static void divide_pitch(struct figure *figure, double pitch)
{
	bool marks = figure->n_migrations > 0;

	figure->below = marks ? fmin(pitch * 0.34, 10) : fmin(pitch * 0.12, 4);
	figure->above = fmin(pitch * 0.1, 3);
	if (marks && !figure->options.by_vcpu)
		figure->above = figure->below = fmin(pitch * 0.2, 8);
	figure->row_height = pitch - figure->above - figure->below;
}

static int layout_down(struct figure *figure, char *error, size_t error_size)
{
	const struct figure_options *options = &figure->options;
	double y = FIGURE_MARGIN, gaps = 0, pitch = auto_pitch(figure->n_rows), others;

	if (options->title && *options->title)
		y += FIGURE_TITLE_HEIGHT;
	figure->lanes_y = y;
	y += figure_lanes_height(figure);
	for (int i = 0; i < figure->n_rows; i++)
		gaps += row_gap(figure, i);
	others = y + gaps + FIGURE_AXIS_HEIGHT + figure_draw_legend(figure, NULL) + FIGURE_MARGIN;
	if (options->height > 0) {
		pitch = (options->height - others) / figure->n_rows;
		if (pitch < MIN_PITCH) {
			snprintf(error, error_size, "a height of %.0f is too small for %d rows: "
				 "at least %.0f are needed", options->height, figure->n_rows,
				 ceil(others + figure->n_rows * MIN_PITCH));
			return -EINVAL;
		}
	}
	divide_pitch(figure, pitch);
	for (int i = 0; i < figure->n_rows; i++) {
		y += row_gap(figure, i);
		figure->rows[i].y = y + figure->above;
		y += pitch;
	}
	figure->axis_y = y + 2;
	figure->legend_y = figure->axis_y + FIGURE_AXIS_HEIGHT;
	figure->height = options->height > 0 ? options->height : ceil(others + figure->n_rows *
								      pitch + 2);
	return 0;
}

struct figure *figure_new(const struct figure_options *options, char *error, size_t error_size)
{
	struct figure *figure = calloc(1, sizeof(*figure));
	int ret = -ENOMEM;

	if (!figure)
		return NULL;
	figure->options = *options;
	figure->n_keys = options->by_vcpu ? VIRT_N_STATES :
			 figure_key_task(figure, options->n_tasks);
	figure->seen = calloc(figure->n_keys, sizeof(*figure->seen));
	if (!figure->seen || figure_keys_init(&figure->keys, figure->n_keys))
		goto fail;
	ret = find_rows(figure, error, error_size);
	if (ret)
		goto fail;
	ret = -ENOMEM;
	if (find_migrations(figure) || order_migrations(figure))
		goto fail;
	if (!figure->n_rows) {
		snprintf(error, error_size, "nothing to show: no such %s in this window of the "
			 "trace",
			 options->by_vcpu ? "vCPU" : "pCPU");
		ret = -EINVAL;
		goto fail;
	}
	ret = layout_across(figure, error, error_size);
	if (!ret)
		ret = figure_find_arrows(figure);
	if (!ret)
		ret = fill_rows(figure);
	if (!ret)
		ret = layout_down(figure, error, error_size);
	if (!ret)
		return figure;
fail:
	figure_free(figure);
	errno = -ret;
	return NULL;
}

void figure_free(struct figure *figure)
{
	if (!figure)
		return;
	for (int i = 0; i < figure->n_rows; i++)
		figure_bars_free(&figure->rows[i].bars);
	free(figure->rows);
	free(figure->seen);
	free(figure->migrations);
	free(figure->of_row);
	free(figure->first_of_row);
	free(figure->arrows);
	figure_keys_free(&figure->keys);
	free(figure);
}

double figure_height(const struct figure *figure)
{
	return figure->height;
}

/* --- drawing --------------------------------------------------------------------------------- */

/** Names to the left of the rows; of every other row or fewer, if they are too close. */
static void draw_names(const struct figure *figure, struct canvas *canvas)
{
	double pitch = figure->above + figure->row_height + figure->below;
	struct canvas_font font = {
		.size = fmax(fmin(FIGURE_FONT_SIZE, pitch * 0.85), FIGURE_MIN_FONT_SIZE),
		.anchor = CANVAS_END, .color = figure_black,
	};
	int every = (int)ceil(FIGURE_MIN_FONT_SIZE * 1.1 / pitch);

	for (int i = 0; i < figure->n_rows; i += every)
		canvas_text(canvas, "name", &font, figure->left - FIGURE_LABEL_GAP,
			    figure->rows[i].y + figure->row_height / 2 + font.size * 0.36,
			    figure->rows[i].name);
}

/** A machine's name beside a bracket around its rows. */
static void draw_machine(const struct figure *figure, int first, int last, struct canvas *canvas)
{
	const struct canvas_paint line = { .color = figure_grey, .line = 0.8 };
	const struct canvas_font font = {
		.size = FIGURE_FONT_SIZE, .bold = true, .color = figure_black,
	};
	const char *name = figure_machine_name(figure, row_machine(figure, &figure->rows[first]));
	double top = figure->rows[first].y, bottom = figure->rows[last].y + figure->row_height;
	double x = FIGURE_MARGIN + figure->machine_width - FIGURE_LABEL_GAP;

	if (!name)
		return;
	canvas_path(canvas, "machine", &line);
	canvas_move(canvas, x + 3, top);
	canvas_line(canvas, x, top);
	canvas_line(canvas, x, bottom);
	canvas_line(canvas, x + 3, bottom);
	canvas_path_end(canvas);
	canvas_text(canvas, "machine", &font, FIGURE_MARGIN,
		    (top + bottom) / 2 + font.size * 0.36, name);
}

static void draw_machines(const struct figure *figure, struct canvas *canvas)
{
	int first = 0;

	if (!figure->options.by_vcpu)
		return;
	for (int i = 0; i < figure->n_rows; i++) {
		if (i + 1 == figure->n_rows || row_gap(figure, i + 1) > 0) {
			draw_machine(figure, first, i, canvas);
			first = i + 1;
		}
	}
}

void figure_draw_title(const struct figure *figure, struct canvas *canvas)
{
	const struct canvas_font font = {
		.size = FIGURE_FONT_SIZE + 1.5, .bold = true, .color = figure_black,
		.anchor = CANVAS_MIDDLE,
	};
	const char *title = figure->options.title;

	if (title && *title)
		canvas_text(canvas, "title", &font, (figure->left + figure->right) / 2,
			    FIGURE_MARGIN + font.size, title);
}

void figure_draw(const struct figure *figure, struct canvas *canvas)
{
	figure_draw_title(figure, canvas);
	figure_draw_grid(figure, canvas);
	draw_machines(figure, canvas);
	draw_names(figure, canvas);
	for (int i = 0; i < figure->n_rows; i++)
		figure_draw_row(figure, &figure->rows[i], canvas);
	figure_draw_migrations(figure, canvas);
	figure_draw_texts(figure, canvas);
	figure_draw_lanes(figure, canvas);
	figure_draw_axis(figure, canvas);
	figure_draw_legend(figure, canvas);
}

int figure_write_sheet(const struct figure_sheet *sheet, enum canvas_format format,
		       const char *path, double scale)
{
	struct output *out = malloc(sizeof(*out));
	int status = out ? out_open(out, path) : KSV_EXIT_FILE;
	struct canvas *canvas;
	const char *problem;

	if (!out)
		ksv_error("not enough memory");
	if (status) {
		free(out);
		return status;
	}
	canvas = canvas_new(format, out, sheet->width, sheet->height, scale, &problem);
	if (canvas) {
		sheet->draw(sheet->arg, canvas);
		problem = canvas_finish(canvas);
	}
	canvas_free(canvas);
	if (problem)
		ksv_error("%s: cannot draw: %s", out->name, problem);
	status = out_close(out, problem ? KSV_EXIT_FILE : KSV_EXIT_OK);
	free(out);
	return status;
}

static void draw_figure(const void *arg, struct canvas *canvas)
{
	figure_draw(arg, canvas);
}

int figure_write(const struct figure *figure, enum canvas_format format, const char *path,
		 double scale)
{
	const struct figure_sheet sheet = {
		.width = figure->options.width, .height = figure_height(figure),
		.draw = draw_figure, .arg = figure,
	};

	return figure_write_sheet(&sheet, format, path, scale);
}
