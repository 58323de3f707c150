// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_path.c
 * @brief	Convert the segments of a "why" to pieces of graphs.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "search.h"
#include "virt_path.h"

/** A part of a segment that nothing below it covers. */
struct piece {
	struct virt_path_row	row;
	int64_t			from_ns, to_ns;
	uint32_t		segment;
};

struct virt_path {
	struct virt_why		why;		/* its segments belong to the caller */
	struct piece		*pieces;	/* by row, then by time */
	size_t			n, room;
	bool			no_memory;
};

static size_t next_of(const struct virt_why *why, size_t i)
{
	return i + 1 + why->segments[i].n_below;
}

/* --- pieces ---------------------------------------------------------------------------------- */

static void add_piece(struct virt_path *path, struct virt_path_row row, int64_t from_ns,
		      int64_t to_ns, size_t segment)
{
	if (from_ns >= to_ns || row.id == VIRT_NONE || path->no_memory)
		return;
	if (ARRAY_GROW(path->pieces, path->n, path->room)) {
		path->no_memory = true;
		return;
	}
	path->pieces[path->n++] = (struct piece){ row, from_ns, to_ns, (uint32_t)segment };
}

/** Is it about a pCPU that is waited for, below @above? */
static bool is_of_pcpu(const struct virt_why_segment *above,
		       const struct virt_why_segment *segment)
{
	return (segment->kind >= VIRT_WHY_VCPU && segment->kind <= VIRT_WHY_IDLE) ||
	       segment->kind == VIRT_WHY_SLEEP ||
	       (segment->kind == VIRT_WHY_UNEXPLAINED && above && above->cause == VIRT_WHY_PCPU);
}

/** Do segments below a segment show more of the same row? */
static bool is_on(struct virt_path_row row, const struct virt_why_segment *above,
		  const struct virt_why_segment *segment)
{
	return row.is_pcpu ? is_of_pcpu(above, segment) && segment->pcpu == row.id :
	       segment->subject == row.id || segment->task == row.id;
}

/** A segment but for what is shown in more detail below it. */
static void add_pieces(struct virt_path *path, struct virt_path_row row, size_t i)
{
	const struct virt_why_segment *segments = path->why.segments, *segment = &segments[i];
	int64_t from_ns = segment->from_ns;

	for (size_t below = i + 1; below < next_of(&path->why, i);
	     below = next_of(&path->why, below)) {
		if (!is_on(row, segment, &segments[below]))
			continue;
		add_piece(path, row, from_ns, segments[below].from_ns, i);
		from_ns = segments[below].to_ns;
	}
	add_piece(path, row, from_ns, segment->to_ns, i);
}

static void add_segment(struct virt_path *path, const struct virt_why_segment *above, size_t i)
{
	const struct virt_why_segment *segment = &path->why.segments[i];

	if (is_of_pcpu(above, segment))
		add_pieces(path, (struct virt_path_row){ true, segment->pcpu }, i);
	add_pieces(path, (struct virt_path_row){ false, segment->subject }, i);
	if (segment->task != segment->subject)
		add_pieces(path, (struct virt_path_row){ false, segment->task }, i);
	for (size_t below = i + 1; below < next_of(&path->why, i);
	     below = next_of(&path->why, below))
		add_segment(path, segment, below);
}

static int compare_rows(struct virt_path_row a, struct virt_path_row b)
{
	if (a.is_pcpu != b.is_pcpu)
		return a.is_pcpu ? 1 : -1;
	return (a.id > b.id) - (a.id < b.id);
}

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	int ret = compare_rows(x->row, y->row);

	if (ret)
		return ret;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (x->segment > y->segment) - (x->segment < y->segment);
}

struct virt_path *virt_path_new(const struct virt_why *why)
{
	struct virt_path *path = calloc(1, sizeof(*path));

	if (!path)
		return NULL;
	path->why = *why;
	for (size_t i = 0; i < why->n; i = next_of(why, i))
		add_segment(path, NULL, i);
	if (path->no_memory) {
		virt_path_free(path);
		return NULL;
	}
	if (path->n)
		qsort(path->pieces, path->n, sizeof(*path->pieces), compare_pieces);
	return path;
}

void virt_path_free(struct virt_path *path)
{
	if (!path)
		return;
	free(path->pieces);
	free(path);
}

/* --- columns --------------------------------------------------------------------------------- */

/** What has most of a column so far. */
struct column {
	int64_t		ns;
	uint32_t	segment;
};

static int64_t window_end(const struct virt_shade_window *window)
{
	return window->from_ns + window->column_ns * window->n_columns;
}

static void add_to_columns(struct column *columns, const struct virt_shade_window *window,
			   const struct piece *piece)
{
	int64_t from_ns = piece->from_ns, to_ns = piece->to_ns;

	if (from_ns < window->from_ns)
		from_ns = window->from_ns;
	if (to_ns > window_end(window))
		to_ns = window_end(window);
	while (from_ns < to_ns) {
		int64_t i = (from_ns - window->from_ns) / window->column_ns;
		int64_t end_ns = window->from_ns + (i + 1) * window->column_ns;

		end_ns = end_ns < to_ns ? end_ns : to_ns;
		if (end_ns - from_ns > columns[i].ns)
			columns[i] = (struct column){ end_ns - from_ns, piece->segment };
		from_ns = end_ns;
	}
}

static int make_runs(const struct column *columns, int n_columns, struct virt_path_run *runs)
{
	int n = 0;

	for (int i = 0; i < n_columns; i++) {
		struct virt_path_run *last = n ? &runs[n - 1] : NULL;

		if (!columns[i].ns)
			continue;
		if (last && last->first + last->n == i && last->segment == columns[i].segment)
			last->n++;
		else
			runs[n++] = (struct virt_path_run){ i, 1, columns[i].segment };
	}
	return n;
}

int virt_path_runs(const struct virt_path *path, struct virt_path_row row,
		   const struct virt_shade_window *window, struct virt_path_run *runs)
{
	struct column *columns;
	size_t i;
	int n;

	if (window->n_columns < 1 || window->column_ns < 1)
		return -EINVAL;
	SEARCH_FIRST(i, 0, path->n, compare_rows(path->pieces[i].row, row) < 0);
	if (i == path->n || compare_rows(path->pieces[i].row, row))
		return 0;
	columns = calloc((size_t)window->n_columns, sizeof(*columns));
	if (!columns)
		return -ENOMEM;
	for (; i < path->n && !compare_rows(path->pieces[i].row, row) &&
	       path->pieces[i].from_ns < window_end(window); i++)
		add_to_columns(columns, window, &path->pieces[i]);
	n = make_runs(columns, window->n_columns, runs);
	free(columns);
	return n;
}

/* --- links ----------------------------------------------------------------------------------- */

/** What stands last below segment @i, on the next level. */
static size_t last_below(const struct virt_why *why, size_t i)
{
	size_t last = i + 1;

	for (size_t at = last; at < next_of(why, i); at = next_of(why, at))
		last = at;
	return last;
}

static int add_link(struct virt_path_link *links, int n, const struct virt_shade_window *window,
		    const struct virt_why_segment *waits, const struct virt_why_segment *other,
		    bool is_back)
{
	int64_t time_ns = is_back ? waits->to_ns : waits->from_ns;
	/* a task that waits is woken by the one that has the vCPU */
	bool by_task = waits->subject >= VIRT_FIRST_GUEST_TASK && other->task != VIRT_NONE;
	bool is_touching = is_back ? other->to_ns == time_ns : other->from_ns == time_ns;

	if (!is_touching || other->subject == waits->subject || time_ns < window->from_ns ||
	    time_ns >= window_end(window))
		return n;
	links[n] = (struct virt_path_link){
		.column = (int32_t)((time_ns - window->from_ns) / window->column_ns),
		.waits = waits->subject,
		.other = by_task ? other->task : other->subject,
		.vcpu = by_task ? other->subject : VIRT_NONE,
		.pcpu = is_of_pcpu(waits, other) ? other->pcpu : VIRT_NONE, .is_back = is_back,
	};
	return n + 1;
}

int virt_path_links(const struct virt_path *path, const struct virt_shade_window *window, int least,
		    struct virt_path_link *links, int n)
{
	const struct virt_why *why = &path->why;
	int found = 0;

	if (window->n_columns < 1 || window->column_ns < 1)
		return 0;
	for (size_t i = 0; i < why->n && found + 2 <= n; i++) {
		const struct virt_why_segment *segment = &why->segments[i];

		if (!segment->n_below || segment->kind >= VIRT_WHY_VCPU ||
		    (segment->to_ns - segment->from_ns) / window->column_ns < least)
			continue;
		found = add_link(links, found, window, segment, &why->segments[i + 1], false);
		found = add_link(links, found, window, segment,
				 &why->segments[last_below(why, i)], true);
	}
	return found;
}

/* --- colours --------------------------------------------------------------------------------- */

struct virt_look virt_path_look(const struct virt_model *model,
				const struct virt_why_segment *segment)
{
	struct virt_look look = { .color = virt_state_look(VIRT_UNKNOWN)->color };

	if (segment->kind < VIRT_N_STATES)
		return *virt_state_look_in(model, (enum virt_state)segment->kind);
	if (segment->kind == VIRT_WHY_VCPU)
		look.color = virt_vcpu_color(segment->subject);
	else if (segment->kind == VIRT_WHY_TASK)
		look.color = virt_vcpu_color(segment->vcpu);
	else if (segment->kind == VIRT_WHY_HANDLER)
		look.color = virt_exit_class_color(VIRT_EXIT_INTERRUPT);
	else if (segment->kind == VIRT_WHY_LOCK)
		look.color = virt_state_look(VIRT_WAKING)->color;
	else if (segment->kind == VIRT_WHY_SLEEP)
		look.color = virt_state_look(VIRT_BLOCKED)->color;
	return look;
}
