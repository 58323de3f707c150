// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_shading.c
 * @brief	Compute the colours of pixel columns from a model and a window.
 *
 * The model adds up the time of each column; the cost does not depend on the number of intervals.
 */
#include <errno.h>
#include <string.h>

#include "virt_shading.h"

/** ns of a column, by what is shown. */
struct column {
	int64_t	ns[VIRT_N_SHADES];
};

static int64_t column_start(const struct virt_shade_window *window, int64_t column)
{
	return window->from_ns + column * window->column_ns;
}

static int64_t window_end(const struct virt_shade_window *window)
{
	return column_start(window, window->n_columns);
}

static int column_of(const struct virt_shade_window *window, int64_t ns)
{
	return (int)((ns - window->from_ns) / window->column_ns);
}

static int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/** Columns whose totals are asked for at once. */
#define BATCH	128

static void vcpu_columns(const struct virt_model *model, int32_t vcpu, int64_t from, int64_t to,
			 struct column *columns, int n)
{
	int64_t ns[BATCH][VIRT_N_STATES];

	virt_vcpu_columns(model, vcpu, from, to, ns, n);
	for (int i = 0; i < n; i++) {
		memcpy(columns[i].ns, ns[i], sizeof(ns[i]));
		columns[i].ns[VIRT_SHADE_NOTHING] = 0;
	}
}

static void machine_columns(const struct virt_model *model, int32_t index, int64_t from, int64_t to,
			    struct column *columns, int n)
{
	const struct virt_machine *machine = virt_model_machine(model, index);
	struct column one[BATCH];

	memset(columns, 0, (size_t)n * sizeof(*columns));
	for (int32_t v = 0; machine && v < machine->n_vcpus; v++) {
		vcpu_columns(model, machine->vcpus[v], from, to, one, n);
		for (int i = 0; i < n; i++)
			for (int shade = 0; shade < VIRT_N_SHADES; shade++)
				columns[i].ns[shade] += one[i].ns[shade];
	}
}

static void pcpu_columns(const struct virt_model *model, int32_t pcpu, int64_t from, int64_t to,
			 struct column *columns, int n)
{
	struct virt_pcpu_totals totals[BATCH];

	virt_pcpu_columns(model, pcpu, from, to, totals, n);
	for (int i = 0; i < n; i++) {
		memcpy(columns[i].ns, totals[i].state_ns, sizeof(totals[i].state_ns));
		columns[i].ns[VIRT_UNKNOWN] = totals[i].unknown_ns;
		/* KernelShark draws tasks itself */
		columns[i].ns[VIRT_SHADE_NOTHING] = totals[i].idle_ns + totals[i].task_ns;
	}
}

/** Divide @n_parts by shares of time, those first that lose most by rounding down. */
static void divide(const int64_t *ns, size_t n, int n_parts, uint8_t *parts)
{
	int64_t rest[VIRT_N_SHADES > VIRT_EXIT_N_CLASSES ? VIRT_N_SHADES : VIRT_EXIT_N_CLASSES];
	int64_t sum = 0;
	int left = n_parts;

	for (size_t i = 0; i < n; i++)
		sum += ns[i];
	memset(parts, 0, n);
	if (!sum)
		return;
	for (size_t i = 0; i < n; i++) {
		/* one thing alone: by far the most frequent case */
		if (ns[i] == sum) {
			parts[i] = n_parts;
			return;
		}
	}
	for (size_t i = 0; i < n; i++) {
		parts[i] = (uint8_t)virt_shade_share(ns[i], sum, n_parts, &rest[i]);
		left -= parts[i];
	}
	while (left-- > 0) {
		size_t most = 0;

		for (size_t i = 1; i < n; i++)
			if (rest[i] > rest[most])
				most = i;
		parts[most]++;
		rest[most] = -1;
	}
}

/** A column's parts; the shares are those of the time that lies in the trace, if any does. */
static void divide_column(const struct column *column, int n_parts, uint8_t *parts)
{
	int64_t sum = 0;

	for (int i = 0; i < VIRT_N_SHADES; i++)
		sum += column->ns[i];
	divide(column->ns, VIRT_N_SHADES, n_parts, parts);
	if (!sum)
		parts[VIRT_UNKNOWN] = n_parts;
}

/** Add a column to the runs. Return: their number. */
static int add_column(struct virt_shade_run *runs, int n, int column, const uint8_t *parts)
{
	if (n && !memcmp(runs[n - 1].parts, parts, sizeof(runs->parts))) {
		runs[n - 1].n++;
		return n;
	}
	runs[n].first = column;
	runs[n].n = 1;
	memcpy(runs[n].parts, parts, sizeof(runs->parts));
	return n + 1;
}

static bool is_window(const struct virt_shade_window *window)
{
	return window->n_columns > 0 && window->column_ns > 0 && window->n_parts > 0 &&
	       window->n_parts <= VIRT_SHADE_MAX_PARTS;
}

typedef void (*columns_fn)(const struct virt_model *model, int32_t id, int64_t from, int64_t to,
			   struct column *columns, int n);

static int shade(const struct virt_model *model, int32_t id,
		 const struct virt_shade_window *window, columns_fn get_columns,
		 struct virt_shade_run *runs)
{
	struct column columns[BATCH];
	uint8_t parts[VIRT_N_SHADES];
	int n = 0;

	if (!is_window(window))
		return -EINVAL;
	for (int first = 0; first < window->n_columns; first += BATCH) {
		int size = window->n_columns - first < BATCH ? window->n_columns - first : BATCH;

		get_columns(model, id, column_start(window, first),
			    column_start(window, first + size), columns, size);
		for (int i = 0; i < size; i++) {
			divide_column(&columns[i], window->n_parts, parts);
			n = add_column(runs, n, first + i, parts);
		}
	}
	return n;
}

int virt_shade_vcpu(const struct virt_model *model, int32_t vcpu,
		    const struct virt_shade_window *window, struct virt_shade_run *runs)
{
	return shade(model, vcpu, window, vcpu_columns, runs);
}

void virt_shade_times(const struct virt_model *model, int32_t vcpu,
		      const struct virt_shade_window *window, int64_t (*ns)[VIRT_N_STATES])
{
	if (is_window(window))
		virt_vcpu_columns(model, vcpu, window->from_ns, window_end(window), ns,
				  (size_t)window->n_columns);
}

int virt_shade_runs(const struct virt_shade_window *window, const int64_t (*ns)[VIRT_N_STATES],
		    struct virt_shade_run *runs)
{
	struct column column = { { 0 } };
	uint8_t parts[VIRT_N_SHADES];
	int n = 0;

	if (!is_window(window))
		return -EINVAL;
	for (int i = 0; i < window->n_columns; i++) {
		memcpy(column.ns, ns[i], sizeof(ns[i]));
		divide_column(&column, window->n_parts, parts);
		n = add_column(runs, n, i, parts);
	}
	return n;
}

int virt_shade_machine(const struct virt_model *model, int32_t machine,
		       const struct virt_shade_window *window, struct virt_shade_run *runs)
{
	return shade(model, machine, window, machine_columns, runs);
}

int virt_shade_pcpu(const struct virt_model *model, int32_t pcpu,
		    const struct virt_shade_window *window, struct virt_shade_run *runs)
{
	return shade(model, pcpu, window, pcpu_columns, runs);
}

/** Add a column to the last element, if both are of one run and alike. Return: their number. */
static int add_exits(struct virt_shade_exit_run *exits, int n, int column, bool same_run,
		     const uint8_t *parts)
{
	if (n && same_run && exits[n - 1].first + exits[n - 1].n == column &&
	    !memcmp(exits[n - 1].parts, parts, sizeof(exits->parts))) {
		exits[n - 1].n++;
		return n;
	}
	exits[n].first = column;
	exits[n].n = 1;
	memcpy(exits[n].parts, parts, sizeof(exits->parts));
	return n + 1;
}

int virt_shade_exits(const struct virt_model *model, int32_t vcpu,
		     const struct virt_shade_window *window, const struct virt_shade_run *runs,
		     int n_runs, struct virt_shade_exit_run *exits)
{
	int64_t ns[BATCH][VIRT_EXIT_N_CLASSES];
	uint8_t parts[VIRT_EXIT_N_CLASSES];
	int first = 0, size = 0, n = 0;

	for (int r = 0; r < n_runs; r++) {
		int end = runs[r].first + runs[r].n;

		if (!runs[r].parts[VIRT_HYPERVISOR])
			continue;
		for (int column = runs[r].first; column < end; column++) {
			if (column >= first + size) {
				first = column;
				size = window->n_columns - first < BATCH ?
				       window->n_columns - first : BATCH;
				virt_vcpu_exit_columns(model, vcpu, column_start(window, first),
						       column_start(window, first + size), ns,
						       (size_t)size);
			}
			divide(ns[column - first], VIRT_EXIT_N_CLASSES,
			       runs[r].parts[VIRT_HYPERVISOR], parts);
			n = add_exits(exits, n, column, column > runs[r].first, parts);
		}
	}
	return n;
}

int virt_shade_at(const struct virt_shade_run *run, int part)
{
	int i = 0;

	for (; i < VIRT_N_SHADES - 1; i++) {
		part -= run->parts[i];
		if (part < 0)
			break;
	}
	return i;
}

/** The first free column of [@column, @end), with @right columns of room to its right; or -1. */
static int free_column(const struct virt_shade_room *room, int column, int end, int right)
{
	for (size_t i = 0; i < room->n_taken && column < end; i++)
		if (room->taken[i].column > column - room->margin &&
		    room->taken[i].column < column + right)
			column = room->taken[i].column + room->margin;
	return column < end ? column : -1;
}

static bool has_marker(const struct virt_shade_room *room, int column)
{
	for (size_t i = 0; i < room->n_taken; i++)
		if (room->taken[i].is_migration && room->taken[i].column == column)
			return true;
	return false;
}

/** Put a mark near by where there is room for it, for its number, too. Return: is there? */
static bool place_mark(const struct virt_shade_room *room, struct virt_shade_mark *mark, int end)
{
	int column = mark->n > 1 ? free_column(room, mark->column, end, room->many) : -1;

	if (column < 0)
		column = free_column(room, mark->column, end, room->margin);
	if (column >= 0)
		mark->column = column;
	return column >= 0;
}

int virt_shade_migrations(const struct virt_model *model, int32_t vcpu,
			  const struct virt_shade_window *window,
			  const struct virt_shade_room *room, struct virt_shade_mark *marks, int n)
{
	int64_t end = window_end(window), from = window->from_ns;
	size_t all = virt_vcpu_migrations(model, vcpu, from, end).n;
	int distance = all > (size_t)(window->n_columns / room->many) ? room->many : room->few;
	struct virt_shade_mark mark = { 0 };
	int n_marks = 0;

	while (n_marks < n && from < end) {
		struct virt_migration_range range = virt_vcpu_migrations(model, vcpu, from, end);
		int column;

		if (!range.n)
			break;
		column = column_of(window, range.first->time_ns);
		/* those before had no room */
		if (!mark.n)
			mark.migration = range.first;
		mark.column = column;
		if (n_marks && marks[n_marks - 1].column + distance > column)
			mark.column = marks[n_marks - 1].column + distance;
		from = min64(end, column_start(window, column + distance));
		range = virt_vcpu_migrations(model, vcpu, range.first->time_ns, from);
		if (range.n == 1 && has_marker(room, column))
			continue;
		mark.n += (int32_t)range.n;
		if (place_mark(room, &mark, column + room->many < window->n_columns ?
			       column + room->many : window->n_columns)) {
			marks[n_marks++] = mark;
			mark.n = 0;
		}
	}
	/* never none at all */
	if (mark.n && n_marks)
		marks[n_marks - 1].n += mark.n;
	else if (mark.n && n)
		marks[n_marks++] = mark;
	return n_marks;
}

int virt_shade_losses(const struct virt_model *model, const struct virt_shade_window *window,
		      struct virt_shade_span *spans)
{
	int64_t from = window->from_ns;
	int n = 0;

	if (!virt_model_loss_in(model, from, window_end(window)))
		return 0;
	for (int column = 0; column < window->n_columns; column++, from += window->column_ns) {
		if (!virt_model_loss_in(model, from, from + window->column_ns))
			continue;
		if (n && spans[n - 1].first + spans[n - 1].n == column)
			spans[n - 1].n++;
		else
			spans[n++] = (struct virt_shade_span){ column, 1 };
	}
	return n;
}

static void keep_longer(struct virt_shade_hit *best, int64_t *longest, int32_t vcpu,
			const struct virt_interval *interval, int64_t end_ns, int64_t overlap)
{
	if (overlap <= *longest)
		return;
	*longest = overlap;
	best->vcpu = vcpu;
	best->end_ns = end_ns;
	best->interval = *interval;
}

static void pick(const struct virt_model *model, int32_t vcpu, int64_t from, int64_t to,
		 int state, struct virt_shade_hit *hit, int64_t *longest)
{
	struct virt_interval_range range = virt_vcpu_intervals(model, vcpu, from, to);

	for (size_t i = 0; i < range.n; i++) {
		const struct virt_interval *interval = &range.first[i];
		int64_t end = i + 1 < range.n ? interval[1].start_ns : range.end_ns;

		if (state < 0 || interval->state == state)
			keep_longer(hit, longest, vcpu, interval, end,
				    min64(end, to) - max64(interval->start_ns, from));
	}
}

bool virt_shade_pick_vcpu(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			  int64_t to_ns, int state, struct virt_shade_hit *hit)
{
	int64_t longest = 0;

	pick(model, vcpu, from_ns, to_ns, state, hit, &longest);
	return longest > 0;
}

bool virt_shade_pick_pcpu(const struct virt_model *model, int32_t pcpu, int64_t from_ns,
			  int64_t to_ns, int state, struct virt_shade_hit *hit)
{
	struct virt_occupant_range range = virt_pcpu_occupants(model, pcpu, from_ns, to_ns);
	int64_t longest = 0;

	for (size_t i = 0; i < range.n; i++) {
		const struct virt_occupant *occupant = &range.first[i];
		int64_t end = i + 1 < range.n ? occupant[1].start_ns : range.end_ns;
		int64_t start = max64(occupant->start_ns, from_ns);

		if (virt_model_vcpu(model, occupant->vcpu) && start < min64(end, to_ns))
			pick(model, occupant->vcpu, start, min64(end, to_ns), state, hit, &longest);
	}
	return longest > 0;
}

bool virt_shade_pick_other(const struct virt_model *model, int32_t pcpu, int64_t from_ns,
			   int64_t to_ns, int state, struct virt_occupant *occupant,
			   int64_t *end_ns)
{
	struct virt_occupant_range range = virt_pcpu_occupants(model, pcpu, from_ns, to_ns);
	int64_t longest = 0;

	for (size_t i = 0; i < range.n; i++) {
		const struct virt_occupant *one = &range.first[i];
		int64_t end = i + 1 < range.n ? one[1].start_ns : range.end_ns;
		int64_t ns = min64(end, to_ns) - max64(one->start_ns, from_ns);

		if (virt_model_vcpu(model, one->vcpu) || ns <= longest ||
		    (one->known ? VIRT_SHADE_NOTHING : VIRT_UNKNOWN) != state)
			continue;
		longest = ns;
		*occupant = *one;
		*end_ns = end;
	}
	return longest > 0;
}
