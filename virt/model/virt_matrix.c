// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_matrix.c
 * @brief	Who takes pCPUs from whom: what a window tells of each vCPU, side by side.
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

static bool is_told(int32_t culprit)
{
	return culprit != VIRT_NONE && culprit != VIRT_OTHERS;
}

/** A vCPU, who has its pCPU while it is preempted, and for how long. */
struct taken {
	int32_t		vcpu;
	struct virt_culprit culprit;
};

/** All of a window, by vCPU in the model's order of machines. */
struct all_taken {
	struct taken	*taken;
	size_t		n, room;
};

static int add_taken(struct all_taken *all, int32_t vcpu, const struct virt_culprit *culprits,
		     size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ARRAY_GROW(all->taken, all->n, all->room))
			return -ENOMEM;
		all->taken[all->n++] = (struct taken){ vcpu, culprits[i] };
	}
	return 0;
}

/** All culprits with their sums, most first. Return: their number. */
static size_t find_columns(const struct virt_model *model, const struct all_taken *all,
			   bool by_machine, struct virt_matrix_side *columns)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct virt_culprit *culprit = &all->taken[i].culprit;

		if (!is_told(culprit->vcpu))
			continue;
		columns[n] = side_of(model, culprit->vcpu, by_machine);
		columns[n++].ns = culprit->ns;
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

static void fill(struct virt_matrix *matrix, const struct virt_model *model,
		 const struct all_taken *all, bool by_machine)
{
	size_t next = 0;

	for (size_t i = 0; i < matrix->n_columns; i++)
		matrix->columns[i].ns = 0;
	for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		for (int32_t i = 0; i < machine->n_vcpus; i++) {
			int32_t vcpu = machine->vcpus[i];

			if (!by_machine || !i)
				matrix->rows[matrix->n_rows++] = side_of(model, vcpu, by_machine);
			for (; next < all->n && all->taken[next].vcpu == vcpu; next++)
				add_to_row(matrix, model, matrix->n_rows - 1,
					   &all->taken[next].culprit);
		}
	}
}

/** @all: is freed */
static struct virt_matrix *make(const struct virt_model *model, struct all_taken *all,
				bool by_machine, size_t most)
{
	struct virt_matrix *matrix = calloc(1, sizeof(*matrix));
	size_t n_rows = (size_t)(by_machine ? virt_model_n_machines(model) :
				 virt_model_n_vcpus(model)) + 1;

	if (!matrix)
		goto no_memory;
	matrix->rows = calloc(n_rows, sizeof(*matrix->rows));
	matrix->columns = calloc(all->n + 2, sizeof(*matrix->columns));
	if (!matrix->rows || !matrix->columns)
		goto no_memory;
	matrix->n_columns = find_columns(model, all, by_machine, matrix->columns);
	if (most && matrix->n_columns > most)
		matrix->n_columns = most;
	matrix->columns[matrix->n_columns++] =
		(struct virt_matrix_side){ .machine = VIRT_NONE, .vcpu = VIRT_OTHERS };
	matrix->columns[matrix->n_columns++] =
		(struct virt_matrix_side){ .machine = VIRT_NONE, .vcpu = VIRT_NONE };
	matrix->ns = calloc(n_rows * matrix->n_columns, sizeof(*matrix->ns));
	if (!matrix->ns)
		goto no_memory;
	fill(matrix, model, all, by_machine);
	free(all->taken);
	return matrix;
no_memory:
	free(all->taken);
	virt_matrix_free(matrix);
	return NULL;
}

struct virt_matrix *virt_matrix_new(const struct virt_model *model,
				    const struct virt_window *window, bool by_machine,
				    size_t most)
{
	struct all_taken all = { 0 };

	for (int32_t m = 0; m < window->n_machines; m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		for (int32_t i = 0; i < machine->n_vcpus; i++) {
			const struct virt_window_stats *stats = &window->vcpus[machine->vcpus[i]];

			if (add_taken(&all, machine->vcpus[i], stats->culprits, stats->n_culprits))
				goto no_memory;
		}
	}
	return make(model, &all, by_machine, most);
no_memory:
	free(all.taken);
	return NULL;
}

struct virt_matrix *virt_matrix_of_walk(const struct virt_model *model,
					struct virt_window_walk *walk, bool by_machine,
					size_t most)
{
	struct all_taken all = { 0 };

	for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		for (int32_t i = 0; i < machine->n_vcpus; i++) {
			const struct virt_culprit *culprits;
			size_t n = virt_window_walk_culprits(walk, machine->vcpus[i], &culprits);

			if (virt_window_walk_error(walk) ||
			    add_taken(&all, machine->vcpus[i], culprits, n))
				goto no_memory;
		}
	}
	return make(model, &all, by_machine, most);
no_memory:
	free(all.taken);
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
