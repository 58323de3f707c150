// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	figure_bars.c
 * @brief	Convert stretches of time to bars, for one row of a figure.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "figure_bars.h"
#include "options.h"

/** Of a column: too narrow to be seen. */
#define TINY_GAP	0.1

int figure_keys_init(struct figure_keys *keys, int n)
{
	*keys = (struct figure_keys){
		.lists = calloc(n, sizeof(*keys->lists)),
		.shares = calloc(n, sizeof(*keys->shares)),
		.used = malloc(n * sizeof(*keys->used)),
	};
	return keys->lists && keys->shares && keys->used ? 0 : -ENOMEM;
}

void figure_keys_free(struct figure_keys *keys)
{
	free(keys->lists);
	free(keys->shares);
	free(keys->used);
}

void figure_bars_init(struct figure_bars *bars, struct figure_keys *keys, int64_t from_ns,
		      int64_t to_ns, double n_columns, double min_run)
{
	*bars = (struct figure_bars){
		.keys = keys, .from_ns = from_ns, .to_ns = to_ns, .n_columns = n_columns,
		.min_run = min_run, .key = -1, .column = -1, .run.label = FIGURE_NO_LABEL,
	};
}

void figure_bars_free(struct figure_bars *bars)
{
	for (size_t i = 0; i < bars->n_lists; i++)
		free(bars->lists[i].bars);
	free(bars->lists);
	free(bars->runs);
}

/** The bars of a key. Return: NULL without memory. */
static struct figure_bar_list *list_of(struct figure_bars *bars, int key)
{
	int *number = &bars->keys->lists[key];

	if (*number)
		return &bars->lists[*number - 1];
	if (ARRAY_GROW(bars->lists, bars->n_lists, bars->lists_room)) {
		bars->error = -ENOMEM;
		return NULL;
	}
	bars->lists[bars->n_lists] = (struct figure_bar_list){ .key = key };
	*number = (int)++bars->n_lists;
	return &bars->lists[bars->n_lists - 1];
}

static void add_bar(struct figure_bars *bars, int key, double x0, double x1, double height)
{
	struct figure_bar_list *list = list_of(bars, key);
	struct canvas_bar *last = list && list->n ? &list->bars[list->n - 1] : NULL;

	if (!list)
		return;
	if (last && last->x1 == x0 && last->height == height) {
		last->x1 = x1;
		return;
	}
	if (ARRAY_GROW(list->bars, list->n, list->room)) {
		bars->error = -ENOMEM;
		return;
	}
	list->bars[list->n++] = (struct canvas_bar){ x0, x1, height };
}

/** One change: a key that is painted later ends or begins exactly there, above the first one. */
static void divide_column(struct figure_bars *bars)
{
	int below = 0;
	bool painted = false;

	for (int i = 0; i < bars->n_pieces; i++)
		below = bars->pieces[i].key > below ? bars->pieces[i].key : below;
	for (int i = 0; i < bars->n_pieces; i++) {
		double end = i + 1 < bars->n_pieces ? bars->pieces[i + 1].x0 : bars->column + 1;

		if (bars->pieces[i].key != below)
			add_bar(bars, bars->pieces[i].key, bars->pieces[i].x0, end, 1);
		else if (!painted)
			add_bar(bars, below, bars->column, bars->column + 1, 1);
		painted |= bars->pieces[i].key == below;
	}
}

/** Is there one change, or two with next to nothing between them, as when vCPUs are switched? */
static bool has_one_change(const struct figure_bars *bars)
{
	return bars->n_pieces == 2 ||
	       (bars->n_pieces == 3 &&
		bars->pieces[2].x0 - bars->pieces[1].x0 < TINY_GAP);
}

static int compare_keys(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void stack_column(struct figure_bars *bars)
{
	struct figure_keys *keys = bars->keys;
	double height = 0;

	qsort(keys->used, (size_t)keys->n_used, sizeof(*keys->used), compare_keys);
	for (int i = 0; i < keys->n_used; i++) {
		height += keys->shares[keys->used[i]];
		add_bar(bars, keys->used[i], bars->column, bars->column + 1, fmin(height, 1));
	}
}

static void end_column(struct figure_bars *bars)
{
	if (has_one_change(bars))
		divide_column(bars);
	else if (bars->n_pieces)
		stack_column(bars);
	for (int i = 0; i < bars->keys->n_used; i++)
		bars->keys->shares[bars->keys->used[i]] = 0;
	bars->keys->n_used = 0;
	bars->n_pieces = 0;
	bars->column = -1;
}

static void add_piece(struct figure_bars *bars, int key, double x0, double x1)
{
	double column = floor(x0);

	if (column != bars->column)
		end_column(bars);
	bars->column = column;
	if (bars->n_pieces < (int)ARRAY_SIZE(bars->pieces)) {
		bars->pieces[bars->n_pieces].key = key;
		bars->pieces[bars->n_pieces].x0 = x0;
	}
	bars->n_pieces++;
	if (bars->keys->shares[key] <= 0)
		bars->keys->used[bars->keys->n_used++] = key;
	bars->keys->shares[key] += x1 - x0;
	if (x1 >= column + 1)
		end_column(bars);
}

/** The stretch that has been collected goes into columns. */
static void flush(struct figure_bars *bars)
{
	double x = bars->x0, end = bars->x1;

	while (bars->key >= 0 && x < end) {
		double column = floor(x), next = fmin(column + 1, end);

		if (x == column && end >= column + 1) {
			end_column(bars);
			next = floor(end);
			add_bar(bars, bars->key, x, next, 1);
		} else {
			add_piece(bars, bars->key, x, next);
		}
		x = next;
	}
	bars->key = -1;
}

static void end_run(struct figure_bars *bars)
{
	struct figure_run *run = &bars->run;

	if (run->label != FIGURE_NO_LABEL && run->x1 - run->x0 >= bars->min_run) {
		if (ARRAY_GROW(bars->runs, bars->n_runs, bars->runs_room))
			bars->error = -ENOMEM;
		else
			bars->runs[bars->n_runs++] = *run;
	}
	run->label = FIGURE_NO_LABEL;
}

static void continue_run(struct figure_bars *bars, double x0, double x1, int key, int64_t label)
{
	struct figure_run *part = &bars->part;

	if (label != bars->run.label) {
		end_run(bars);
		bars->run = *part = (struct figure_run){ x0, x1, label, key };
	} else if (key == part->key) {
		part->x1 = x1;
	} else {
		*part = (struct figure_run){ x0, x1, label, key };
	}
	if (part->x1 - part->x0 > bars->run.x1 - bars->run.x0)
		bars->run = *part;
}

static double to_x(const struct figure_bars *bars, int64_t time_ns)
{
	return (double)(time_ns - bars->from_ns) / (double)(bars->to_ns - bars->from_ns) *
	       bars->n_columns;
}

void figure_bars_add(struct figure_bars *bars, int64_t start_ns, int64_t end_ns, int key,
		     int64_t label)
{
	double x0, x1;

	if (start_ns < bars->from_ns)
		start_ns = bars->from_ns;
	if (end_ns > bars->to_ns)
		end_ns = bars->to_ns;
	if (end_ns <= start_ns)
		return;
	x0 = to_x(bars, start_ns);
	x1 = to_x(bars, end_ns);
	if (bars->min_run > 0)
		continue_run(bars, x0, x1, key, label);
	if (key == bars->key && x0 == bars->x1) {
		bars->x1 = x1;
		return;
	}
	flush(bars);
	bars->key = key;
	bars->x0 = x0;
	bars->x1 = x1;
}

static int compare_lists(const void *a, const void *b)
{
	const struct figure_bar_list *x = a, *y = b;

	return x->key - y->key;
}

int figure_bars_finish(struct figure_bars *bars)
{
	flush(bars);
	end_column(bars);
	end_run(bars);
	for (size_t i = 0; i < bars->n_lists; i++)
		bars->keys->lists[bars->lists[i].key] = 0;
	if (bars->n_lists)
		qsort(bars->lists, bars->n_lists, sizeof(*bars->lists), compare_lists);
	return bars->error;
}
