// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	figure_axis.c
 * @brief	The time axis of a figure, and its legend.
 */
#include <math.h>
#include <string.h>

#include "axis_steps.h"
#include "figure_private.h"

/* --- time axis ------------------------------------------------------------------------------- */

/** Units of the axis; one that gives at least two of it. */
static const struct {
	const char	*name;
	int64_t		ns;
	int		digits;		/* decimals down to 1 ns */
} units[] = {
	{ "s", 1000000000, 9 }, { "ms", 1000000, 6 }, { "\xc2\xb5s", 1000, 3 }, { "ns", 1, 0 },
};

/** More characters than these in a label make people misread it: an offset is split off. */
#define MAX_LABEL	6

struct axis {
	int64_t		step_ns;
	int64_t		first_ns;	/* first tick */
	int64_t		base_ns;	/* labels count from here */
	size_t		unit;
	int		decimals;
};

static void tick_text(const struct axis *axis, int64_t time_ns, char *text, size_t size)
{
	int64_t value = time_ns - axis->base_ns, unit = units[axis->unit].ns;
	uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
	uint64_t rest = magnitude % unit;
	int n;

	for (int i = axis->decimals; i < units[axis->unit].digits; i++)
		rest /= 10;
	n = snprintf(text, size, "%s%s%llu", value < 0 ? "-" : "",
		     axis->base_ns && value > 0 ? "+" : "", (unsigned long long)magnitude / unit);
	if (axis->decimals && n > 0 && (size_t)n < size)
		snprintf(text + n, size - n, ".%0*llu", axis->decimals, (unsigned long long)rest);
}

static void find_axis(const struct figure *figure, struct axis *axis)
{
	int64_t from = figure->options.from_ns, to = figure->options.to_ns;
	double width = figure->right - figure->left;
	char text[64];

	*axis = (struct axis){ 0 };
	/* room for the labels */
	axis->step_ns = axis_step((int64_t)ceil((double)(to - from) * fmin(80 / width, 1)));
	axis->first_ns = axis_first(from, axis->step_ns);
	while (axis->unit + 1 < ARRAY_SIZE(units) && to - from < 2 * units[axis->unit].ns)
		axis->unit++;
	axis->decimals = axis_decimals(axis->step_ns, units[axis->unit].ns);
	tick_text(axis, to, text, sizeof(text));
	if (strlen(text) > MAX_LABEL)
		axis->base_ns = axis_floor(from, axis->step_ns * 10);
}

static void format_seconds(int64_t ns, char *text, size_t size)
{
	uint64_t magnitude = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	size_t n;

	snprintf(text, size, "%s%llu.%09llu", ns < 0 ? "-" : "",
		 (unsigned long long)magnitude / 1000000000,
		 (unsigned long long)magnitude % 1000000000);
	for (n = strlen(text); n > 2 && text[n - 1] == '0' && text[n - 2] != '.'; n--)
		text[n - 1] = '\0';
}

void figure_draw_grid(const struct figure *figure, struct canvas *canvas)
{
	const struct canvas_paint paint = { .color = figure_light, .line = 0.5 };
	const struct figure_row *first = &figure->rows[0];
	struct axis axis;

	find_axis(figure, &axis);
	canvas_path(canvas, "grid", &paint);
	for (int64_t t = axis.first_ns; t <= figure->options.to_ns; t += axis.step_ns) {
		canvas_move(canvas, figure_x(figure, t), first->y - figure->above);
		canvas_line(canvas, figure_x(figure, t), figure->axis_y);
	}
	canvas_path_end(canvas);
}

void figure_draw_axis(const struct figure *figure, struct canvas *canvas)
{
	const struct canvas_paint paint = { .color = figure_black, .line = 1 };
	struct canvas_font font = {
		.size = FIGURE_FONT_SIZE, .anchor = CANVAS_MIDDLE, .color = figure_black,
	};
	double y = figure->axis_y + FIGURE_TICK_SIZE + FIGURE_FONT_SIZE + 1;
	char text[96], base[40];
	struct axis axis;

	find_axis(figure, &axis);
	canvas_group(canvas, "axis", NULL, NULL);
	canvas_path(canvas, "line", &paint);
	canvas_move(canvas, figure->left, figure->axis_y);
	canvas_line(canvas, figure->right, figure->axis_y);
	for (int64_t t = axis.first_ns; t <= figure->options.to_ns; t += axis.step_ns) {
		canvas_move(canvas, figure_x(figure, t), figure->axis_y);
		canvas_line(canvas, figure_x(figure, t), figure->axis_y + FIGURE_TICK_SIZE);
	}
	canvas_path_end(canvas);
	for (int64_t t = axis.first_ns; t <= figure->options.to_ns; t += axis.step_ns) {
		double x = figure_x(figure, t);

		tick_text(&axis, t, text, sizeof(text));
		/* the last one must not leave the sheet */
		x = fmin(x, figure->options.width - canvas_text_width(&font, text) / 2 - 2);
		canvas_text(canvas, "tick", &font, x, y, text);
	}
	snprintf(text, sizeof(text), "Time [%s]", units[axis.unit].name);
	if (axis.base_ns) {
		format_seconds(axis.base_ns, base, sizeof(base));
		snprintf(text, sizeof(text), "Time after %s s [%s]", base, units[axis.unit].name);
	}
	canvas_text(canvas, "unit", &font, (figure->left + figure->right) / 2,
		    y + FIGURE_FONT_SIZE + 4, text);
	canvas_group_end(canvas);
}

/* --- legend ---------------------------------------------------------------------------------- */

#define SWATCH_WIDTH	16.0
#define SWATCH_HEIGHT	10.0
#define LEGEND_LINE	17.0
#define LEGEND_GAP	14.0
/** More vCPUs than these are not listed: the colours come again anyway. */
#define LEGEND_MAX	48

struct legend {
	const struct figure	*figure;
	struct canvas		*canvas;	/* NULL: measure */
	struct canvas_font	font;
	double			x, y;
};

/** Room for an entry, on the next line if need be. */
static void legend_reserve(struct legend *legend, double width)
{
	if (legend->x > legend->figure->left && legend->x + width > legend->figure->right) {
		legend->x = legend->figure->left;
		legend->y += LEGEND_LINE;
	}
}

static void legend_text(struct legend *legend, const char *text)
{
	if (legend->canvas)
		canvas_text(legend->canvas, "entry", &legend->font, legend->x, legend->y + 9, text);
	legend->x += canvas_text_width(&legend->font, text) + LEGEND_GAP;
}

static void legend_swatch(struct legend *legend, const char *kind,
			  const struct canvas_paint *paint, const char *text)
{
	const struct canvas_paint frame = { .color = figure_grey, .line = 0.5 };

	legend_reserve(legend, SWATCH_WIDTH + 5 + canvas_text_width(&legend->font, text));
	if (legend->canvas) {
		canvas_rect(legend->canvas, kind, paint, legend->x, legend->y, SWATCH_WIDTH,
			    SWATCH_HEIGHT);
		canvas_rect(legend->canvas, "frame", &frame, legend->x, legend->y, SWATCH_WIDTH,
			    SWATCH_HEIGHT);
	}
	legend->x += SWATCH_WIDTH + 5;
	legend_text(legend, text);
}

static void legend_states(struct legend *legend)
{
	struct canvas_paint paint;

	for (int state = 0; state < VIRT_N_STATES; state++) {
		if (legend->figure->seen[state] &&
		    figure_key_paint(legend->figure, state, &paint))
			legend_swatch(legend, virt_state_name(state), &paint,
				      virt_state_look_in(legend->figure->options.model,
							 (enum virt_state)state)->title);
	}
}

/** The vCPUs of a machine, after its name. Return: how many. */
static int legend_machine(struct legend *legend, int32_t index, int max)
{
	const struct figure *figure = legend->figure;
	const struct virt_machine *machine = virt_model_machine(figure->options.model, index);
	const char *name = figure_machine_name(figure, index);
	struct canvas_paint paint;
	char text[96];
	int n = 0;

	for (int32_t i = 0; i < machine->n_vcpus && n < max; i++) {
		int32_t vcpu = machine->vcpus[i];

		if (!figure->seen[vcpu] || !figure_key_paint(figure, vcpu, &paint))
			continue;
		if (!n && name) {
			legend->font.bold = true;
			legend_reserve(legend, canvas_text_width(&legend->font, name) + 60);
			legend_text(legend, name);
			legend->font.bold = false;
		}
		text_format(text, sizeof(text), "%s%s",
			    virt_model_vcpu(figure->options.model, vcpu)->name,
			    figure->options.inner && figure->options.inner[vcpu].n ?
			    ", task not known" : "");
		legend_swatch(legend, "vcpu", &paint, text);
		n++;
	}
	return n;
}

static void legend_tasks(struct legend *legend)
{
	const struct figure *figure = legend->figure;
	struct canvas_paint paint;

	for (int i = 0; i < figure->options.n_tasks; i++) {
		int key = figure_key_task(figure, i);

		if (figure->seen[key] && figure_key_paint(figure, key, &paint))
			legend_swatch(legend, "task", &paint, figure->options.tasks[i].name);
	}
}

static void legend_vcpus(struct legend *legend)
{
	const struct figure *figure = legend->figure;
	struct canvas_paint paint;
	int total = 0, shown = 0;
	char text[40];

	for (int32_t i = 0; i < virt_model_n_vcpus(figure->options.model); i++)
		total += figure->seen[i];
	for (int32_t i = 0; i < virt_model_n_machines(figure->options.model); i++)
		shown += legend_machine(legend, i, LEGEND_MAX - shown);
	if (shown < total) {
		snprintf(text, sizeof(text), "and %d more", total - shown);
		legend_reserve(legend, canvas_text_width(&legend->font, text));
		legend_text(legend, text);
	}
	legend_tasks(legend);
	if (figure->seen[figure_key_other(figure)]) {
		figure_key_paint(figure, figure_key_other(figure), &paint);
		legend_swatch(legend, "other", &paint, "Others");
	}
	if (figure->seen[figure_key_unknown(figure)]) {
		figure_key_paint(figure, figure_key_unknown(figure), &paint);
		legend_swatch(legend, "unknown", &paint,
			      virt_state_look(VIRT_UNKNOWN)->title);
	}
	if (figure->seen[figure_key_idle(figure)]) {
		paint = (struct canvas_paint){ .color = figure_white };
		legend_swatch(legend, "idle", &paint, "Idle");
	}
}

static void legend_migration(struct legend *legend)
{
	const struct canvas_paint paint = { .color = figure_black };
	const char *text = legend->figure->options.by_vcpu ?
		"Migration (from \xe2\x86\x92 to pCPU)" : "Migration";

	legend_reserve(legend, 15 + canvas_text_width(&legend->font, text));
	if (legend->canvas) {
		canvas_path(legend->canvas, "migration", &paint);
		canvas_move(legend->canvas, legend->x + 5, legend->y + 1.5);
		canvas_line(legend->canvas, legend->x + 9, legend->y + 8.5);
		canvas_line(legend->canvas, legend->x + 1, legend->y + 8.5);
		canvas_close(legend->canvas);
		canvas_path_end(legend->canvas);
	}
	legend->x += 15;
	legend_text(legend, text);
}

double figure_draw_legend(const struct figure *figure, struct canvas *canvas)
{
	struct legend legend = {
		.figure = figure, .canvas = canvas, .x = figure->left, .y = figure->legend_y,
		.font = { .size = FIGURE_FONT_SIZE - 0.5, .color = figure_black },
	};

	if (canvas)
		canvas_group(canvas, "legend", NULL, NULL);
	if (figure->options.by_vcpu)
		legend_states(&legend);
	else
		legend_vcpus(&legend);
	if (figure->n_migrations)
		legend_migration(&legend);
	if (canvas)
		canvas_group_end(canvas);
	return legend.y + LEGEND_LINE - figure->legend_y;
}
