// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_matrix.c
 * @brief	Make a matrix of preempted vCPUs and their culprits from the vCPUs of a window.
 */
#include <stdlib.h>

#include "array.h"
#include "virt_matrix.h"

/** The side that a vCPU or task belongs to. */
static struct virt_matrix_side side_of(const struct virt_model *model, int32_t who,
				       bool by_machine)
{
	const struct virt_vcpu *vcpu = virt_model_vcpu(model, who);

	return (struct virt_matrix_side){
		.machine = vcpu ? vcpu->machine : VIRT_NONE,
		.vcpu = vcpu && by_machine ? VIRT_NONE : who,
	};
}

static int compare_sides(const void *a, const void *b)
{
	const struct virt_matrix_side *x = a, *y = b;

	if (x->machine != y->machine)
		return x->machine < y->machine ? -1 : 1;
	return (x->vcpu > y->vcpu) - (x->vcpu < y->vcpu);
}

static int compare_sums(const void *a, const void *b)
{
	const struct virt_matrix_side *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return compare_sides(a, b);
}

static bool is_known(int32_t culprit)
{
	return culprit != VIRT_NONE && culprit != VIRT_OTHERS;
}

/** Where culprits of vCPUs come from: what has been counted, or what is counted now. */
struct source {
	const struct virt_window *window;	/* or NULL */
	struct virt_window_walk	*walk;
};

static size_t culprits_of(const struct source *source, int32_t vcpu,
			  const struct virt_culprit **culprits)
{
	if (!source->window)
		return virt_window_walk_culprits(source->walk, vcpu, culprits);
	*culprits = source->window->vcpus[vcpu].culprits;
	return source->window->vcpus[vcpu].n_culprits;
}

/** Columns that are being found; some may be there more than once. */
struct columns {
	struct virt_matrix_side	*of;
	size_t			n, room;
};

/** Once is enough. */
static void merge(struct columns *columns)
{
	size_t kept = 0;

	if (columns->n)
		qsort(columns->of, columns->n, sizeof(*columns->of), compare_sides);
	for (size_t i = 0; i < columns->n; i++) {
		if (kept && !compare_sides(&columns->of[kept - 1], &columns->of[i]))
			columns->of[kept - 1].ns += columns->of[i].ns;
		else
			columns->of[kept++] = columns->of[i];
	}
	columns->n = kept;
}

static int add_column(struct columns *columns, struct virt_matrix_side side, int64_t ns)
{
	if (columns->n == columns->room) {
		merge(columns);
		/* else it would be done for every few of them */
		if (columns->n >= columns->room / 2 &&
		    ARRAY_GROW(columns->of, columns->room, columns->room))
			return -ENOMEM;
	}
	side.ns = ns;
	columns->of[columns->n++] = side;
	return 0;
}

/** All culprits with their sums, most first, and room for two more. Return: 0 or -ENOMEM. */
static int find_columns(const struct virt_model *model, const struct source *source,
			bool by_machine, struct columns *columns)
{
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
		const struct virt_culprit *culprits;
		size_t n = culprits_of(source, i, &culprits);

		for (size_t j = 0; j < n; j++)
			if (is_known(culprits[j].vcpu) &&
			    add_column(columns, side_of(model, culprits[j].vcpu, by_machine),
				       culprits[j].ns))
				return -ENOMEM;
	}
	merge(columns);
	if (columns->n)
		qsort(columns->of, columns->n, sizeof(*columns->of), compare_sums);
	return ARRAY_GROW(columns->of, columns->n + 1, columns->room);
}

size_t virt_matrix_column(const struct virt_matrix *matrix, const struct virt_model *model,
			  int32_t culprit)
{
	size_t others = matrix->n_columns - 2;

	if (culprit == VIRT_NONE)
		return others + 1;
	for (size_t i = 0; i < others && is_known(culprit); i++) {
		bool by_machine = matrix->columns[i].machine != VIRT_NONE &&
				  matrix->columns[i].vcpu == VIRT_NONE;
		struct virt_matrix_side side = side_of(model, culprit, by_machine);

		if (!compare_sides(&matrix->columns[i], &side))
			return i;
	}
	return others;
}

/** The row has a vCPU's time. */
static void add_to_row(struct virt_matrix *matrix, const struct virt_model *model, size_t row,
		       const struct virt_culprit *culprit)
{
	size_t column = virt_matrix_column(matrix, model, culprit->vcpu);

	matrix->ns[row * matrix->n_columns + column] += culprit->ns;
	matrix->rows[row].ns += culprit->ns;
	matrix->columns[column].ns += culprit->ns;
	matrix->total_ns += culprit->ns;
}

static void fill_matrix(struct virt_matrix *matrix, const struct virt_model *model,
			const struct source *source, bool by_machine)
{
	for (size_t i = 0; i < matrix->n_columns; i++)
		matrix->columns[i].ns = 0;
	for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		for (int32_t i = 0; i < machine->n_vcpus; i++) {
			const struct virt_culprit *culprits;
			int32_t vcpu = machine->vcpus[i];
			size_t n = culprits_of(source, vcpu, &culprits);

			if (!by_machine || !i)
				matrix->rows[matrix->n_rows++] = side_of(model, vcpu, by_machine);
			for (size_t j = 0; j < n; j++)
				add_to_row(matrix, model, matrix->n_rows - 1, &culprits[j]);
		}
	}
}

static struct virt_matrix *make(const struct virt_model *model, const struct source *source,
				bool by_machine, size_t most)
{
	struct virt_matrix *matrix = calloc(1, sizeof(*matrix));
	size_t n_rows = (size_t)(by_machine ? virt_model_n_machines(model) :
				 virt_model_n_vcpus(model)) + 1;
	struct columns columns = { 0 };
	int ret;

	if (!matrix)
		return NULL;
	ret = find_columns(model, source, by_machine, &columns);
	matrix->columns = columns.of;
	matrix->rows = calloc(n_rows, sizeof(*matrix->rows));
	if (ret || !matrix->rows)
		goto no_memory;
	matrix->n_columns = most && columns.n > most ? most : columns.n;
	matrix->columns[matrix->n_columns++] =
		(struct virt_matrix_side){ .machine = VIRT_NONE, .vcpu = VIRT_OTHERS };
	matrix->columns[matrix->n_columns++] =
		(struct virt_matrix_side){ .machine = VIRT_NONE, .vcpu = VIRT_NONE };
	matrix->ns = calloc(n_rows * matrix->n_columns, sizeof(*matrix->ns));
	if (!matrix->ns)
		goto no_memory;
	fill_matrix(matrix, model, source, by_machine);
	if (source->walk && virt_window_walk_error(source->walk))
		goto no_memory;
	return matrix;
no_memory:
	virt_matrix_free(matrix);
	return NULL;
}

struct virt_matrix *virt_matrix_new(const struct virt_model *model,
				    const struct virt_window *window, bool by_machine,
				    size_t most)
{
	const struct source source = { .window = window };

	return make(model, &source, by_machine, most);
}

struct virt_matrix *virt_matrix_of_walk(const struct virt_model *model,
					struct virt_window_walk *walk, bool by_machine,
					size_t most)
{
	const struct source source = { .walk = walk };

	return make(model, &source, by_machine, most);
}

void virt_matrix_free(struct virt_matrix *matrix)
{
	if (!matrix)
		return;
	free(matrix->rows);
	free(matrix->columns);
	free(matrix->ns);
	free(matrix);
}
