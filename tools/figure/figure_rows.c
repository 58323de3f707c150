// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	figure_rows.c
 * @brief	The rows of a figure: bars, texts on them, and migrations.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure_private.h"
#include "search.h"
#include "virt_window.h"

/** Units that a stretch must have to bear a text, and between two equal ones. */
#define MIN_RUN			22.0
#define LABEL_DISTANCE		140.0

/** Of a migration's mark; marks that would touch become one. */
#define MARK_WIDTH		6.0

/** Arrows that are that close are in the same place. */
#define SAME_PLACE		0.1

/** Labels of runs on vCPU rows: a pCPU, or with this added, the vCPU that took it. */
#define LABEL_CULPRIT		(INT64_C(1) << 32)

/* --- filling --------------------------------------------------------------------------------- */

static int64_t interval_label(const struct virt_interval *interval)
{
	if (virt_state_on_pcpu(interval->state) && interval->pcpu >= 0)
		return interval->pcpu;
	if (interval->state == VIRT_PREEMPTED && interval->detail >= 0)
		return LABEL_CULPRIT + interval->detail;
	return FIGURE_NO_LABEL;
}

static void fill_vcpu(const struct figure_options *options, struct figure_row *row)
{
	struct virt_interval_range range = virt_vcpu_intervals(options->model, row->index,
							       options->from_ns, options->to_ns);

	for (size_t i = 0; i < range.n; i++) {
		const struct virt_interval *interval = &range.first[i];
		int64_t end = i + 1 < range.n ? interval[1].start_ns : range.end_ns;

		figure_bars_add(&row->bars, interval->start_ns, end, interval->state,
				interval_label(interval));
	}
}

/** A vCPU on a pCPU, by what it executes there. */
static void add_vcpu(const struct figure *figure, struct figure_row *row, int32_t vcpu,
		     int64_t from_ns, int64_t to_ns)
{
	const struct figure_inner *inner = figure->options.inner ?
					   &figure->options.inner[vcpu] : NULL;
	int key = vcpu;
	size_t i;

	if (!inner || !inner->n) {
		figure_bars_add(&row->bars, from_ns, to_ns, vcpu, vcpu);
		return;
	}
	SEARCH_FIRST(i, 0, inner->n, inner->first[i].start_ns <= from_ns);
	for (; from_ns < to_ns; i++) {
		int64_t end_ns = i < inner->n && inner->first[i].start_ns < to_ns ?
				 inner->first[i].start_ns : to_ns;

		key = vcpu;
		if (i && inner->first[i - 1].task != VIRT_NONE)
			key = figure_key_task(figure, inner->first[i - 1].task);
		if (end_ns > from_ns)
			figure_bars_add(&row->bars, from_ns, end_ns, key, key);
		from_ns = end_ns;
	}
}

static void fill_pcpu(const struct figure *figure, struct figure_row *row)
{
	const struct figure_options *options = &figure->options;
	struct virt_occupant_range range = virt_pcpu_occupants(options->model, row->index,
							       options->from_ns, options->to_ns);

	for (size_t i = 0; i < range.n; i++) {
		const struct virt_occupant *occupant = &range.first[i];
		int64_t end = i + 1 < range.n ? occupant[1].start_ns : range.end_ns;
		int key = figure_key_idle(figure);

		if (!occupant->known) {
			key = figure_key_unknown(figure);
		} else if (virt_model_vcpu(options->model, occupant->vcpu) &&
			   options->vcpus[occupant->vcpu]) {
			add_vcpu(figure, row, occupant->vcpu, occupant->start_ns, end);
			continue;
		} else if (occupant->vcpu != VIRT_NONE) {
			key = figure_key_other(figure);
		}
		figure_bars_add(&row->bars, occupant->start_ns, end, key, FIGURE_NO_LABEL);
	}
}

int figure_fill_row(struct figure *figure, struct figure_row *row)
{
	const struct figure_options *options = &figure->options;

	figure_bars_init(&row->bars, &figure->keys, options->from_ns, options->to_ns,
			 figure->n_columns, MIN_RUN / figure->column);
	if (options->by_vcpu)
		fill_vcpu(options, row);
	else
		fill_pcpu(figure, row);
	return figure_bars_finish(&row->bars);
}

/* --- bars ------------------------------------------------------------------------------------ */

static void draw_bars(const struct figure *figure, const struct figure_row *row,
		      const struct figure_bar_list *list, struct canvas *canvas)
{
	const struct canvas_place place = {
		figure->left, row->y + figure->row_height, figure->column, figure->row_height,
	};
	struct canvas_paint paint;

	if (list->n && figure_key_paint(figure, list->key, &paint))
		canvas_bars(canvas, figure_key_name(figure, list->key), &paint, &place, list->bars,
			    list->n);
}

/** "d1v0: guest 66.66 %, blocked 33.34 %", as in the report, for those who point at a row. */
static void row_tip(const struct figure *figure, const struct figure_row *row, char *tip,
		    size_t size)
{
	const struct figure_options *options = &figure->options;
	int64_t unsplit[VIRT_N_STATES], partly_ns;
	const char *separator = ":";
	struct virt_totals totals;
	size_t n;

	n = (size_t)snprintf(tip, size, "%s", row->name);
	if (!options->by_vcpu)
		return;
	virt_vcpu_totals(options->model, row->index, options->from_ns, options->to_ns, &totals);
	virt_vcpu_unsplit(options->model, row->index, options->from_ns, options->to_ns, unsplit);
	partly_ns = unsplit[VIRT_UNKNOWN] + virt_vcpu_hidden(options->model, row->index,
							     options->from_ns, options->to_ns);
	for (int state = 0; state < VIRT_N_STATES; state++) {
		if (!totals.ns[state] || n >= size)
			continue;
		n += (size_t)snprintf(tip + n, size - n, "%s %s %.2f %%%s", separator,
				      virt_state_name(state),
				      100 * (double)totals.ns[state] / (double)
				      virt_share_base(state, totals.ns, partly_ns),
				      unsplit[state] ? " (not split)" : "");
		separator = ",";
	}
}

void figure_draw_row(const struct figure *figure, const struct figure_row *row,
		     struct canvas *canvas)
{
	const struct canvas_paint line = { .color = figure_grey, .line = 0.6 };
	double base = row->y + figure->row_height;
	char tip[512];

	row_tip(figure, row, tip, sizeof(tip));
	canvas_group(canvas, "row", row->name, tip);
	for (size_t i = row->bars.n_lists; i-- > 0; )
		draw_bars(figure, row, &row->bars.lists[i], canvas);
	canvas_path(canvas, "base", &line);
	canvas_move(canvas, figure->left, base);
	canvas_line(canvas, figure->right, base);
	canvas_path_end(canvas);
	canvas_group_end(canvas);
}

/* --- migrations ------------------------------------------------------------------------------ */

/** Migrations side by side that share a mark. */
struct mark {
	const struct virt_migration	*first;
	size_t				n;
	double				x0, x1;
};

/** The next mark of a row, from its migration @i on. Return: false at the end. */
static bool next_mark(const struct figure *figure, const struct figure_row *row, size_t *i,
		      struct mark *mark)
{
	mark->n = 0;
	for (; *i < figure->first_of_row[row->index + 1]; (*i)++) {
		const struct virt_migration *migration = &figure->migrations[figure->of_row[*i]];
		double x = figure_x(figure, migration->time_ns);

		if (mark->n && x - mark->x1 > MARK_WIDTH)
			break;
		if (!mark->n) {
			mark->first = migration;
			mark->x0 = x;
		}
		mark->x1 = x;
		mark->n++;
	}
	return mark->n > 0;
}

/** A triangle that points at (x, y), from below or from above. */
static void draw_triangle(struct canvas *canvas, double x, double y, double size, bool from_below)
{
	double back = from_below ? y + size * 1.1 : y - size * 1.1;

	canvas_move(canvas, x, y);
	canvas_line(canvas, x + size / 2, back);
	canvas_line(canvas, x - size / 2, back);
	canvas_close(canvas);
}

static void mark_text(const struct figure *figure, const struct mark *mark, char *text, size_t size)
{
	if (mark->n > 1)
		snprintf(text, size, "\xc3\x97%zu", mark->n);
	else if (figure->options.by_vcpu)
		snprintf(text, size, "%d\xe2\x86\x92%d", mark->first->from, mark->first->to);
	else
		text_format(text, size, "%s",
			    virt_model_vcpu(figure->options.model, mark->first->vcpu)->name);
}

/** Do two arrows stay clear of each other? Two vCPUs that change places may share a line. */
static bool apart(const struct figure *figure, const struct virt_migration *a,
		  const struct virt_migration *b)
{
	return figure_x(figure, b->time_ns) - figure_x(figure, a->time_ns) >= MARK_WIDTH ||
	       (a->from == b->to && a->to == b->from);
}

/** Is there no other migration so close that their arrows could be taken for each other? */
static bool has_room(const struct figure *figure, const struct virt_migration *migration)
{
	size_t i = migration - figure->migrations, n = figure->n_migrations;

	/* two neighbours on each side, as one of them may be the other half of an exchange */
	return (i < 1 || apart(figure, migration - 1, migration)) &&
	       (i < 2 || apart(figure, migration - 2, migration)) &&
	       (i + 1 >= n || apart(figure, migration, migration + 1)) &&
	       (i + 2 >= n || apart(figure, migration, migration + 2));
}

static double arrow_x(const struct figure *figure, size_t arrow)
{
	return figure_x(figure, figure->migrations[figure->arrows[arrow]].time_ns);
}

int figure_find_arrows(struct figure *figure)
{
	const struct virt_migration *last = NULL;

	if (figure->options.by_vcpu || !figure->n_migrations)
		return 0;
	figure->arrows = malloc(figure->n_migrations * sizeof(*figure->arrows));
	if (!figure->arrows)
		return -ENOMEM;
	for (size_t i = 0; i < figure->n_migrations; i++) {
		const struct virt_migration *migration = &figure->migrations[i];

		if (!has_room(figure, migration))
			continue;
		/* of many between the same two rows, at one place, one says it all */
		if (last && last->from + last->to == migration->from + migration->to &&
		    abs(last->from - last->to) == abs(migration->from - migration->to) &&
		    figure_x(figure, migration->time_ns) - figure_x(figure, last->time_ns) <
		    SAME_PLACE)
			continue;
		figure->arrows[figure->n_arrows++] = i;
		last = migration;
	}
	return 0;
}

/** Does an arrow cross a row within [x0, x1)? */
static bool is_crossed(const struct figure *figure, const struct figure_row *row, double x0,
		       double x1)
{
	size_t i;

	SEARCH_FIRST(i, 0, figure->n_arrows, arrow_x(figure, i) < x0);
	for (; i < figure->n_arrows && arrow_x(figure, i) < x1; i++) {
		const struct virt_migration *migration = &figure->migrations[figure->arrows[i]];
		int32_t low = migration->from < migration->to ? migration->from : migration->to;
		int32_t high = migration->from < migration->to ? migration->to : migration->from;

		if (row->index >= low && row->index <= high)
			return true;
	}
	return false;
}

/** Below the row, with a text if it ends before @limit. */
static void draw_mark(const struct figure *figure, const struct figure_row *row,
		      const struct mark *mark, double limit, struct canvas *canvas)
{
	const struct canvas_paint fill = { .color = figure_black };
	struct canvas_font font = {
		.size = fmin(figure->below * 0.85, 8.5), .color = figure_black,
	};
	double size = fmin(MARK_WIDTH, figure->below * 0.8);
	double y = row->y + figure->row_height + 0.3, end;
	char text[64];

	canvas_path(canvas, "migration", &fill);
	draw_triangle(canvas, mark->x0, y, size, true);
	if (mark->x1 > mark->x0) {
		canvas_move(canvas, mark->x0, y + size * 0.8);
		canvas_line(canvas, mark->x1 + 0.5, y + size * 0.8);
		canvas_line(canvas, mark->x1 + 0.5, y + size * 1.1);
		canvas_line(canvas, mark->x0, y + size * 1.1);
		canvas_close(canvas);
	}
	canvas_path_end(canvas);
	mark_text(figure, mark, text, sizeof(text));
	end = mark->x1 + 5 + canvas_text_width(&font, text);
	if (font.size >= FIGURE_MIN_FONT_SIZE && end < limit &&
	    !is_crossed(figure, row, mark->x1 + 1, end))
		canvas_text(canvas, "migration", &font, mark->x1 + size / 2 + 1.5,
			    y + font.size * 0.9, text);
}

/** Of a pCPU: their rows are in order. */
static const struct figure_row *find_row(const struct figure *figure, int32_t index)
{
	int i;

	SEARCH_FIRST(i, 0, figure->n_rows, figure->rows[i].index < index);
	return i < figure->n_rows && figure->rows[i].index == index ? &figure->rows[i] : NULL;
}

/** From pCPU to pCPU: a dashed line with a head. */
static void draw_arrow(const struct figure *figure, const struct figure_row *from,
		       const struct figure_row *to, double x, struct canvas *canvas)
{
	const struct canvas_paint line = { .color = figure_black, .line = 0.8, .dashed = true };
	const struct canvas_paint fill = { .color = figure_black };
	double size = fmin(MARK_WIDTH, fmin(figure->above, figure->below) * 0.9);
	bool up = from->y > to->y;
	double tip = up ? to->y + figure->row_height + 0.3 : to->y - 0.3;

	canvas_path(canvas, "arrow", &line);
	canvas_move(canvas, x, from->y + figure->row_height / 2);
	canvas_line(canvas, x, tip + (up ? size : -size));
	canvas_path_end(canvas);
	canvas_path(canvas, "migration", &fill);
	draw_triangle(canvas, x, tip, size, up);
	canvas_path_end(canvas);
}

static void draw_marks(const struct figure *figure, const struct figure_row *row,
		       struct canvas *canvas)
{
	struct mark mark, next;
	size_t i = figure->first_of_row[row->index];
	bool more = next_mark(figure, row, &i, &mark);

	for (; more; mark = next) {
		const struct figure_row *from = NULL;

		if (!figure->options.by_vcpu && mark.n == 1 && has_room(figure, mark.first))
			from = find_row(figure, mark.first->from);
		more = next_mark(figure, row, &i, &next);
		if (from)
			draw_arrow(figure, from, row, mark.x0, canvas);
		else
			draw_mark(figure, row, &mark,
				  more ? next.x0 - MARK_WIDTH : figure->right + 12, canvas);
	}
}

/* --- texts on bars --------------------------------------------------------------------------- */

/** Where in [x0, x1) a text can be centred, the middle if possible; or -1. */
static double free_place(const struct figure *figure, const struct figure_row *row, double x0,
			 double x1, double width)
{
	static const double places[] = { 0.5, 0.25, 0.75, 0, 1 };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		double x = x0 + width / 2 + (x1 - x0 - width) * places[i];

		if (!is_crossed(figure, row, x - width / 2, x + width / 2))
			return x;
	}
	return -1;
}

/** What a run's text could be, the longest first. Return: how many. */
static int run_texts(const struct figure *figure, const struct figure_run *run,
		     char texts[2][80])
{
	const struct virt_model *model = figure->options.model;

	if (!figure->options.by_vcpu) {
		text_format(texts[0], 80, "%s", figure_key_name(figure, (int)run->label));
		return 1;
	}
	if (run->label >= LABEL_CULPRIT) {
		const char *culprit = virt_model_who(model, (int32_t)(run->label - LABEL_CULPRIT));

		text_format(texts[0], 80, "preempted by %s", culprit ? culprit : "?");
		text_format(texts[1], 80, "by %s", culprit ? culprit : "?");
		return 2;
	}
	snprintf(texts[0], 80, "pCPU %d", (int)run->label);
	return 1;
}

static void draw_runs(const struct figure *figure, const struct figure_row *row,
		      struct canvas *canvas)
{
	struct canvas_font font = {
		.size = fmin(figure->row_height * 0.62, FIGURE_FONT_SIZE - 1),
		.anchor = CANVAS_MIDDLE,
	};
	int64_t last_label = FIGURE_NO_LABEL;
	double last_x = 0;

	if (font.size < FIGURE_MIN_FONT_SIZE)
		return;
	for (size_t i = 0; i < row->bars.n_runs; i++) {
		const struct figure_run *run = &row->bars.runs[i];
		double x0 = figure->left + run->x0 * figure->column;
		double x1 = figure->left + run->x1 * figure->column;
		struct canvas_paint paint = { .color = figure_white };
		char texts[2][80];
		double x, width;
		int n, j = 0;

		if (run->label == last_label && (x0 + x1) / 2 - last_x < LABEL_DISTANCE)
			continue;
		n = run_texts(figure, run, texts);
		while (j < n && canvas_text_width(&font, texts[j]) + 6 > x1 - x0)
			j++;
		if (j == n)
			continue;
		width = canvas_text_width(&font, texts[j]) + 6;
		x = free_place(figure, row, x0, x1, width);
		if (x < 0)
			continue;
		figure_key_paint(figure, run->key, &paint);
		font.color = virt_color_text_is_dark(paint.color) ? figure_black : figure_white;
		canvas_text(canvas, "run", &font, x,
			    row->y + figure->row_height / 2 + font.size * 0.36, texts[j]);
		last_label = run->label;
		last_x = x;
	}
}

void figure_draw_migrations(const struct figure *figure, struct canvas *canvas)
{
	canvas_group(canvas, "migrations", NULL, NULL);
	for (int i = 0; i < figure->n_rows; i++)
		draw_marks(figure, &figure->rows[i], canvas);
	canvas_group_end(canvas);
}

void figure_draw_texts(const struct figure *figure, struct canvas *canvas)
{
	canvas_group(canvas, "runs", NULL, NULL);
	for (int i = 0; i < figure->n_rows; i++)
		draw_runs(figure, &figure->rows[i], canvas);
	canvas_group_end(canvas);
}
