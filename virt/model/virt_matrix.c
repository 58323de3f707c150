// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_matrix.c
 * @brief	Who takes pCPUs from whom: what a window tells of each vCPU, side by side.
 */
#include <stdlib.h>

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

static bool is_told(int32_t culprit)
{
	return culprit != VIRT_NONE && culprit != VIRT_OTHERS;
}

/** All culprits of a window, with their sums, most first. Return: their number. */
static size_t find_columns(const struct virt_model *model, const struct virt_window *window,
			   bool by_machine, struct virt_matrix_side *columns)
{
	size_t n = 0, kept = 0;

	for (int32_t i = 0; i < window->n_vcpus; i++) {
		const struct virt_window_stats *stats = &window->vcpus[i];

		for (size_t j = 0; j < stats->n_culprits; j++) {
			if (!is_told(stats->culprits[j].vcpu))
				continue;
			columns[n] = side_of(model, stats->culprits[j].vcpu, by_machine);
			columns[n++].ns = stats->culprits[j].ns;
		}
	}
	qsort(columns, n, sizeof(*columns), compare_sides);
	for (size_t i = 0; i < n; i++) {
		if (kept && !compare_sides(&columns[kept - 1], &columns[i]))
			columns[kept - 1].ns += columns[i].ns;
		else
			columns[kept++] = columns[i];
	}
	qsort(columns, kept, sizeof(*columns), compare_sums);
	return kept;
}

size_t virt_matrix_column(const struct virt_matrix *matrix, const struct virt_model *model,
			  int32_t culprit)
{
	size_t others = matrix->n_columns - 2;

	if (culprit == VIRT_NONE)
		return others + 1;
	for (size_t i = 0; i < others && is_told(culprit); i++) {
		bool by_machine = matrix->columns[i].machine != VIRT_NONE &&
				  matrix->columns[i].vcpu == VIRT_NONE;
		struct virt_matrix_side side = side_of(model, culprit, by_machine);

		if (!compare_sides(&matrix->columns[i], &side))
			return i;
	}
	return others;
}

static void add_row(struct virt_matrix *matrix, const struct virt_model *model, size_t row,
		    const struct virt_window_stats *stats)
{
	for (size_t i = 0; i < stats->n_culprits; i++) {
		int64_t ns = stats->culprits[i].ns;
		size_t column = virt_matrix_column(matrix, model, stats->culprits[i].vcpu);

		matrix->ns[row * matrix->n_columns + column] += ns;
		matrix->rows[row].ns += ns;
		matrix->columns[column].ns += ns;
		matrix->total_ns += ns;
	}
}

static void fill(struct virt_matrix *matrix, const struct virt_model *model,
		 const struct virt_window *window, bool by_machine)
{
	for (size_t i = 0; i < matrix->n_columns; i++)
		matrix->columns[i].ns = 0;
	for (int32_t m = 0; m < window->n_machines; m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		for (int32_t i = 0; i < machine->n_vcpus; i++) {
			int32_t vcpu = machine->vcpus[i];

			if (!by_machine || !i)
				matrix->rows[matrix->n_rows++] = side_of(model, vcpu, by_machine);
			add_row(matrix, model, matrix->n_rows - 1, &window->vcpus[vcpu]);
		}
	}
}

struct virt_matrix *virt_matrix_new(const struct virt_model *model,
				    const struct virt_window *window, bool by_machine,
				    size_t most)
{
	struct virt_matrix *matrix = calloc(1, sizeof(*matrix));
	size_t room = 2;

	if (!matrix)
		return NULL;
	for (int32_t i = 0; i < window->n_vcpus; i++)
		room += window->vcpus[i].n_culprits;
	matrix->rows = calloc((size_t)window->n_vcpus + 1, sizeof(*matrix->rows));
	matrix->columns = calloc(room, sizeof(*matrix->columns));
	if (!matrix->rows || !matrix->columns)
		goto no_memory;
	matrix->n_columns = find_columns(model, window, by_machine, matrix->columns);
	if (most && matrix->n_columns > most)
		matrix->n_columns = most;
	matrix->columns[matrix->n_columns++] =
		(struct virt_matrix_side){ .machine = VIRT_NONE, .vcpu = VIRT_OTHERS };
	matrix->columns[matrix->n_columns++] =
		(struct virt_matrix_side){ .machine = VIRT_NONE, .vcpu = VIRT_NONE };
	matrix->ns = calloc(((size_t)window->n_vcpus + 1) * matrix->n_columns,
			    sizeof(*matrix->ns));
	if (!matrix->ns)
		goto no_memory;
	fill(matrix, model, window, by_machine);
	return matrix;
no_memory:
	virt_matrix_free(matrix);
	return NULL;
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
