// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_window.c
 * @brief	Windows of every sample, of random and of hand-made timelines.
 *
 * Each number is counted anew from the intervals, in the plainest way, and must be what all parts
 * of the project say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enough.h"
#include "hand_model.h"
#include "sample_model.h"
#include "virt_matrix.h"
#include "virt_window.h"
#include "virt_window_walk.h"

#define ALL	(VIRT_WINDOW_STATES | VIRT_WINDOW_EXITS)
#define WINDOWS	(100 / ENOUGH(5))
#define EXIT	VIRT_INTERVAL_EXIT
#define NONE	VIRT_NONE

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

/* ---- the plainest way ---- */

/** Something that is counted: a stretch, a run, a VM exit. */
struct piece {
	int64_t		start, end;
	int		kind;		/* state; exit: its reason */
	bool		whole;		/* the trace shows its beginning and its end */
	bool		begun;		/* its beginning */
	struct virt_exit exit;
};

struct pieces {
	struct piece	*piece;
	size_t		n, room;
};

/** A vCPU's life. */
struct life {
	struct virt_interval_range all;
	struct pieces	stretches, runs, exits;
};

static void add_piece(struct pieces *pieces, struct piece piece)
{
	if (pieces->n == pieces->room) {
		pieces->room = pieces->room ? 2 * pieces->room : 64;
		pieces->piece = realloc(pieces->piece, pieces->room * sizeof(piece));
		assert_non_null(pieces->piece);
	}
	pieces->piece[pieces->n++] = piece;
}

static int64_t end_of(const struct life *life, size_t i)
{
	return i + 1 < life->all.n ? life->all.first[i + 1].start_ns : life->all.end_ns;
}

static bool holds_pcpu(const struct virt_interval *interval)
{
	return interval->state == VIRT_GUEST || interval->state == VIRT_HYPERVISOR ||
	       interval->state == VIRT_POLLING || interval->state == VIRT_VMM;
}

static bool waits(int state)
{
	return state == VIRT_PREEMPTED || state == VIRT_WAKING;
}

/** Intervals @first to @last belong together. */
static struct piece piece_of(const struct life *life, size_t first, size_t last, bool is_run)
{
	const struct virt_interval *interval = &life->all.first[first];
	struct piece piece = {
		.start = interval->start_ns, .end = end_of(life, last), .kind = interval->state,
	};

	piece.begun = piece.start > life->all.first->start_ns;
	if (piece.begun && interval[-1].state == VIRT_UNKNOWN)
		piece.begun = waits(interval->state) || interval->flags & EXIT ||
			      (!is_run && interval->state == VIRT_GUEST &&
			       interval[-1].flags & VIRT_INTERVAL_UNSPLIT);
	piece.whole = piece.begun && last + 1 < life->all.n &&
		      life->all.first[last + 1].state != VIRT_UNKNOWN;
	return piece;
}

static void live_exit(struct life *life, size_t i)
{
	const struct virt_interval *all = life->all.first;
	struct piece piece = { .start = all[i].start_ns, .kind = NONE, .end = all[i].start_ns };
	bool monitor = false;
	size_t j = i;

	if (holds_pcpu(&all[i]))
		piece.kind = all[i].detail;
	while (j < life->all.n && all[j].state != VIRT_GUEST && all[j].state != VIRT_UNKNOWN &&
	       (j == i || !(all[j].flags & EXIT))) {
		int64_t ns = end_of(life, j) - all[j].start_ns;
		bool asked = !(all[j].flags & VIRT_INTERVAL_UNASKED) &&
			     all[j].state != VIRT_DEVICE_MODEL;
		bool sleeps = !asked || all[j].state == VIRT_BLOCKED ||
			      all[j].state == VIRT_OFFLINE;

		monitor |= all[j].state == VIRT_VMM;
		piece.exit.state_ns[all[j].state] += ns;
		/* a poll for an event is no wait */
		if (all[j].state != VIRT_POLLING && (!sleeps || !asked))
			piece.exit.cost_ns += ns;
		if (sleeps && !asked)
			piece.exit.unasked_ns += ns;
		if (sleeps && !asked && monitor)
			piece.exit.unasked_vmm_ns += ns;
		piece.end = end_of(life, j);
		j++;
	}
	piece.whole = j > i && j < life->all.n && all[j].state == VIRT_GUEST &&
		      !(all[j].flags & EXIT);
	add_piece(&life->exits, piece);
}

static struct life live(const struct virt_model *model, int32_t vcpu)
{
	struct life life = { .all = virt_vcpu_intervals(model, vcpu, INT64_MIN, INT64_MAX) };
	const struct virt_interval *all = life.all.first;
	size_t stretch = 0, run = 0;

	for (size_t i = 0; i < life.all.n; i++) {
		bool last = i + 1 == life.all.n;

		if (all[i].flags & EXIT)
			live_exit(&life, i);
		if (last || holds_pcpu(&all[i]) || all[i + 1].state != all[i].state) {
			add_piece(&life.stretches, piece_of(&life, stretch, i, false));
			stretch = i + 1;
		}
		if (!holds_pcpu(&all[i])) {
			run = i + 1;
		} else if (last || !holds_pcpu(&all[i + 1]) || all[i + 1].pcpu != all[i].pcpu) {
			add_piece(&life.runs, piece_of(&life, run, i, true));
			run = i + 1;
		}
	}
	return life;
}

static void die(struct life *life)
{
	free(life->stretches.piece);
	free(life->runs.piece);
	free(life->exits.piece);
}

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/** Nearest rank, out of a sorted list. */
static struct virt_dist dist_of(int64_t *ns, size_t n)
{
	struct virt_dist dist = { .count = n };

	if (!n)
		return dist;
	qsort(ns, n, sizeof(*ns), compare_ns);
	for (size_t i = 0; i < n; i++)
		dist.ns += ns[i];
	dist.min = ns[0];
	dist.max = ns[n - 1];
	for (size_t i = n; i-- > 0; ) {
		/* the number that are not greater than this one */
		if ((i + 1) * 100 >= n * 5)
			dist.p5 = ns[i];
		if ((i + 1) * 100 >= n * 50)
			dist.p50 = ns[i];
		if ((i + 1) * 100 >= n * 95)
			dist.p95 = ns[i];
		if ((i + 1) * 100 >= n * 99)
			dist.p99 = ns[i];
	}
	return dist;
}

/** Of the kinds (a set of bits) in @pieces, what the rule says of a window. */
static struct virt_stretches count(const struct pieces *pieces, unsigned int kinds, int64_t from,
				   int64_t to, int64_t begin)
{
	int64_t *ns = malloc((pieces->n + 1) * sizeof(*ns));
	struct virt_stretches sum = { .before_ns = NONE };
	size_t n = 0;

	assert_non_null(ns);
	for (size_t i = 0; i < pieces->n; i++) {
		const struct piece *piece = &pieces->piece[i];
		int64_t a = piece->start > from ? piece->start : from;
		int64_t b = piece->end < to ? piece->end : to;

		if (piece->start >= to || (piece->start < from && piece->end <= from))
			continue;
		if (!(kinds >> piece->kind & 1))
			continue;
		sum.ns += a < b ? b - a : 0;
		if (piece->start < from || piece->start == begin) {
			sum.before++;
			if (piece->begun && from - piece->start > sum.before_ns)
				sum.before_ns = from - piece->start;
			continue;
		}
		sum.count++;
		if (piece->whole)
			ns[n++] = piece->end - piece->start;
	}
	sum.whole = dist_of(ns, n);
	if (!sum.before)
		sum.before_ns = 0;
	free(ns);
	return sum;
}

/* ---- comparing ---- */

/** @all: percentiles, too */
static void same_dist(const struct virt_dist *a, const struct virt_dist *b, bool all)
{
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->ns, b->ns);
	assert_int_equal(a->min, b->min);
	assert_int_equal(a->max, b->max);
	if (!all)
		return;
	assert_int_equal(a->p5, b->p5);
	assert_int_equal(a->p50, b->p50);
	assert_int_equal(a->p95, b->p95);
	assert_int_equal(a->p99, b->p99);
}

static void same(const struct virt_stretches *a, const struct virt_stretches *b, bool all)
{
	assert_int_equal(a->ns, b->ns);
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->before, b->before);
	assert_int_equal(a->before_ns, b->before_ns);
	same_dist(&a->whole, &b->whole, all);
}

/** Exits of one reason against those of the window, the split only if it has one. */
static void check_reason(const struct life *life, const struct virt_window_exit *exit,
			 int64_t from, int64_t to, bool all)
{
	int64_t *ns = malloc((life->exits.n + 1) * sizeof(*ns));
	struct virt_window_exit sum = { .reason = exit->reason };
	struct virt_dist cost;
	size_t n = 0;

	assert_non_null(ns);
	for (size_t i = 0; i < life->exits.n; i++) {
		const struct piece *piece = &life->exits.piece[i];

		if (piece->kind != exit->reason || piece->start < from || piece->start >= to)
			continue;
		sum.count++;
		if (!piece->whole)
			continue;
		ns[n++] = piece->exit.cost_ns;
		for (int state = 0; state < VIRT_N_STATES; state++)
			sum.state_ns[state] += piece->exit.state_ns[state];
		sum.unasked_ns += piece->exit.unasked_ns;
		sum.unasked_vmm_ns += piece->exit.unasked_vmm_ns;
	}
	cost = dist_of(ns, n);
	free(ns);
	assert_int_equal(exit->count, sum.count);
	assert_int_equal(exit->cost.count, cost.count);
	assert_int_equal(exit->cost.ns, cost.ns);
	assert_int_equal(exit->cost.max, cost.max);
	if (!all)
		return;
	same_dist(&exit->cost, &cost, true);
	assert_memory_equal(exit->state_ns, sum.state_ns, sizeof(sum.state_ns));
	assert_int_equal(exit->unasked_ns, sum.unasked_ns);
	assert_int_equal(exit->unasked_vmm_ns, sum.unasked_vmm_ns);
}

static void check_exits(const struct life *life, const struct virt_window_stats *stats,
			int64_t from, int64_t to, bool all)
{
	const struct piece *before = NULL;
	uint64_t n = 0, listed = 0;

	for (size_t i = 0; i < life->exits.n; i++) {
		const struct piece *piece = &life->exits.piece[i];

		n += piece->start >= from && piece->start < to;
		if (piece->start < from && piece->end > from)
			before = piece;
	}
	assert_int_equal(stats->exits_before, before != NULL);
	assert_int_equal(stats->exits_before_ns, before ? from - before->start : 0);
	assert_int_equal(stats->before_reason, before ? before->kind : NONE);
	assert_int_equal(stats->exits, n);
	for (size_t i = 0; i < stats->n_reasons; i++) {
		listed += stats->reasons[i].count;
		if (i)
			assert_true(stats->reasons[i - 1].cost.ns >= stats->reasons[i].cost.ns);
		check_reason(life, &stats->reasons[i], from, to, all);
	}
	assert_int_equal(listed, n);
}

/** What belongs to intervals, and not to what they are parts of. */
static void check_intervals(const struct life *life, const struct virt_window_stats *stats,
			    int64_t from, int64_t to, int32_t n_pcpus)
{
	int64_t *pcpu_ns = calloc(n_pcpus + 1, sizeof(*pcpu_ns));
	int64_t unsplit[VIRT_N_STATES] = { 0 };
	int64_t known = 0, unasked = 0, culprits = 0, longest = -1;

	assert_non_null(pcpu_ns);
	for (size_t i = 0; i < life->all.n; i++) {
		const struct virt_interval *interval = &life->all.first[i];
		int64_t a = interval->start_ns > from ? interval->start_ns : from;
		int64_t b = end_of(life, i) < to ? end_of(life, i) : to;

		if (a >= b)
			continue;
		known += virt_interval_is_lost(interval) ? 0 : b - a;
		unsplit[interval->state] += interval->flags & VIRT_INTERVAL_UNSPLIT ? b - a : 0;
		unasked += interval->state == VIRT_DEVICE_MODEL ||
			   interval->flags & VIRT_INTERVAL_UNASKED ? b - a : 0;
		if (holds_pcpu(interval) && interval->pcpu >= 0)
			pcpu_ns[interval->pcpu] += b - a;
	}
	for (size_t i = 0; i < life->stretches.n; i++) {
		const struct piece *piece = &life->stretches.piece[i];

		if (waits(piece->kind) && piece->start < to && (piece->end > from ||
								piece->start >= from) &&
		    piece->end - piece->start > longest)
			longest = piece->end - piece->start;
	}
	assert_int_equal(stats->known_ns, known);
	assert_memory_equal(stats->unsplit_ns, unsplit, sizeof(unsplit));
	assert_int_equal(stats->unasked_ns, unasked);
	assert_int_equal(stats->longest_vcpu != NONE, longest >= 0);
	if (longest >= 0)
		assert_int_equal(stats->longest_to_ns - stats->longest_from_ns, longest);
	for (size_t i = 0; i < stats->n_places; i++) {
		assert_true(!i || stats->places[i].pcpu > stats->places[i - 1].pcpu);
		assert_int_equal(stats->places[i].ns, pcpu_ns[stats->places[i].pcpu]);
		pcpu_ns[stats->places[i].pcpu] = 0;
	}
	for (int32_t i = 0; stats->places && i < n_pcpus; i++)
		assert_int_equal(pcpu_ns[i], 0);
	for (size_t i = 0; i < stats->n_culprits; i++)
		culprits += stats->culprits[i].ns;
	assert_int_equal(culprits, stats->states[VIRT_PREEMPTED].ns);
	free(pcpu_ns);
}

/** What a vCPU waits for from its last run on a pCPU until its guest runs on another one. */
static bool moved(const struct life *life, const struct virt_migration *migration, int64_t *ns)
{
	int64_t left = migration->time_ns - migration->gap_ns;
	size_t i = 0, step;

	*ns = 0;
	/* what has ended by then is no matter, and much */
	for (step = 1 << 20; step; step /= 2)
		if (i + step < life->all.n && life->all.first[i + step].start_ns < left)
			i += step;
	for (; i < life->all.n && life->all.first[i].start_ns < migration->time_ns; i++) {
		const struct virt_interval *interval = &life->all.first[i];
		int64_t from = interval->start_ns > left ? interval->start_ns : left;
		int64_t to = end_of(life, i) < migration->time_ns ? end_of(life, i) :
								    migration->time_ns;

		if (from < to && interval->state == VIRT_UNKNOWN)
			return false;
		*ns += from < to && waits(interval->state) ? to - from : 0;
	}
	for (; i < life->all.n && life->all.first[i].state != VIRT_GUEST; i++) {
		const struct virt_interval *interval = &life->all.first[i];
		bool sleeps = interval->state == VIRT_BLOCKED || interval->state == VIRT_OFFLINE;

		if (interval->state == VIRT_UNKNOWN)
			return false;
		if (interval->state != VIRT_POLLING &&
		    (!sleeps || interval->flags & VIRT_INTERVAL_UNASKED))
			*ns += end_of(life, i) - interval->start_ns;
	}
	return i < life->all.n;
}

static struct virt_dist moves_of(const struct virt_model *model, const struct life *life,
				 int32_t vcpu, int64_t from, int64_t to)
{
	struct virt_migration_range range = virt_vcpu_migrations(model, vcpu, from, to);
	int64_t *ns = malloc((range.n + 1) * sizeof(*ns));
	struct virt_dist dist;
	size_t n = 0;

	assert_non_null(ns);
	for (size_t i = 0; i < range.n; i++)
		n += moved(life, &range.first[i], &ns[n]);
	dist = dist_of(ns, n);
	free(ns);
	return dist;
}

static void check_vcpu(const struct virt_model *model, const struct life *life,
		       const struct virt_window_stats *stats, int64_t from, int64_t to, bool all)
{
	int64_t begin = life->all.first->start_ns;
	struct virt_stretches sum;

	for (int state = 0; state < VIRT_N_STATES; state++) {
		sum = count(&life->stretches, 1u << state, from, to, begin);
		assert_int_equal(stats->states[state].ns, sum.ns);
		if (all || !virt_state_on_pcpu(state))
			same(&stats->states[state], &sum, all || state == VIRT_WAKING);
	}
	sum = count(&life->runs, ~0u, from, to, begin);
	same(&stats->runs, &sum, all);
	sum = count(&life->stretches, 1u << VIRT_PREEMPTED | 1u << VIRT_WAKING, from, to, begin);
	/* its time is that of the two states */
	same(&stats->waits, &sum, all);
	check_exits(life, stats, from, to, all);
	check_intervals(life, stats, from, to, virt_model_n_pcpus(model));
}

/** The whole of a machine is what its vCPUs are. */
static void check_machine(const struct virt_model *model, const struct virt_window *window,
			  int32_t index, const struct life *lives, bool all)
{
	const struct virt_window_machine *machine = &window->machines[index];
	const struct virt_machine *info = virt_model_machine(model, index);
	struct pieces stretches = { 0 };
	struct virt_stretches wakes;
	uint64_t exits = 0, migrations = 0, runs = 0;
	int64_t moves = 0, costliest = 0;

	for (int32_t i = 0; i < info->n_vcpus; i++) {
		const struct life *life = &lives[info->vcpus[i]];
		const struct virt_window_stats *stats = &window->vcpus[info->vcpus[i]];

		for (size_t j = 0; j < life->stretches.n; j++)
			if (life->stretches.piece[j].kind == VIRT_WAKING)
				add_piece(&stretches, life->stretches.piece[j]);
		exits += stats->exits;
		migrations += stats->migrations;
		moves += stats->migration_cost.ns;
		if (stats->migration_cost.max > costliest)
			costliest = stats->migration_cost.max;
		runs += stats->runs.count;
	}
	wakes = count(&stretches, 1u << VIRT_WAKING, window->from_ns, window->to_ns,
		      virt_model_begin(model));
	same(&machine->all.states[VIRT_WAKING], &wakes, true);
	assert_int_equal(machine->all.exits, exits);
	assert_int_equal(machine->all.migrations, migrations);
	assert_int_equal(machine->all.migration_cost.ns, moves);
	assert_int_equal(machine->all.migration_cost.max, costliest);
	assert_int_equal(machine->all.runs.count, runs);
	for (size_t i = 0; all && i < machine->all.n_reasons; i++)
		exits -= machine->all.reasons[i].count;
	assert_int_equal(exits, all ? 0 : machine->all.exits);
	free(stretches.piece);
}

/** And what its vCPUs did together. */
static void check_together(const struct virt_model *model, const struct virt_window *window,
			   int32_t index)
{
	struct virt_machine_range range = virt_machine_intervals(model, index, INT64_MIN,
								 INT64_MAX);
	const struct virt_window_machine *machine = &window->machines[index];
	struct pieces pieces = { 0 };
	int64_t lost;

	for (size_t i = 0; i < range.n; i++) {
		struct piece piece = {
			.start = range.first[i].start_ns, .kind = range.first[i].state,
			.end = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns,
			.begun = i && range.first[i - 1].state != VIRT_M_LOST,
		};

		piece.whole = piece.begun && i + 1 < range.n &&
			      range.first[i + 1].state != VIRT_M_LOST;
		add_piece(&pieces, piece);
	}
	for (int state = 0; state < VIRT_M_N_STATES; state++) {
		struct virt_stretches sum = count(&pieces, 1u << state, window->from_ns,
						  window->to_ns, virt_model_begin(model));

		same(&machine->states[state], &sum, true);
	}
	/* of what is not split, shares are those of all */
	lost = virt_model_is_unsplit(model) ? 0 : machine->states[VIRT_M_LOST].ns;
	assert_int_equal(machine->known_ns, window->to_ns - window->from_ns - lost);
	free(pieces.piece);
}

static void check_pcpus(const struct virt_model *model, const struct virt_window *window)
{
	assert_int_equal(window->n_pcpus, virt_model_n_pcpus(model));
	for (int32_t i = 0; i < window->n_pcpus; i++) {
		struct virt_loss_range losses = virt_model_losses(model);
		struct virt_pcpu_totals totals;
		int64_t lost = 0, done = window->from_ns;

		virt_pcpu_totals(model, i, window->from_ns, window->to_ns, &totals);
		assert_memory_equal(&window->pcpus[i].totals, &totals, sizeof(totals));
		for (size_t j = 0; j < losses.n; j++) {
			int64_t a = losses.first[j].from_ns, b = losses.first[j].to_ns;

			a = a > done ? a : done;
			b = b < window->to_ns ? b : window->to_ns;
			if (losses.first[j].pcpu != i || a >= b)
				continue;
			lost += b - a;
			done = b;
		}
		assert_int_equal(window->pcpus[i].lost_ns, lost);
	}
}

/** Is a vCPU or task a part of a row or column? */
static bool is_of(const struct virt_model *model, const struct virt_matrix_side *side, int32_t who)
{
	const struct virt_vcpu *vcpu = virt_model_vcpu(model, who);

	if (side->machine != NONE && side->vcpu == NONE)
		return vcpu && vcpu->machine == side->machine;
	return side->vcpu == who;
}

/** Time that a column takes from a row, or from all, from the culprits of each vCPU. */
static int64_t taken(const struct virt_model *model, const struct virt_window *window,
		     const struct virt_matrix *matrix, const struct virt_matrix_side *row,
		     size_t column)
{
	int64_t ns = 0;

	for (int32_t i = 0; i < window->n_vcpus; i++) {
		const struct virt_window_stats *stats = &window->vcpus[i];

		for (size_t j = 0; j < stats->n_culprits && (!row || is_of(model, row, i)); j++) {
			int32_t who = stats->culprits[j].vcpu;
			size_t at = 0;

			while (at < matrix->n_columns &&
			       !is_of(model, &matrix->columns[at], who))
				at++;
			/* who has no column is one of the others */
			if (at == matrix->n_columns)
				at = matrix->n_columns - 2;
			ns += at == column ? stats->culprits[j].ns : 0;
		}
	}
	return ns;
}

/** The matrix of steal: each cell, and the sums of rows, columns and all of it. */
static void check_matrix(const struct virt_model *model, const struct virt_window *window,
			 bool by_machine, size_t most)
{
	struct virt_matrix *matrix = virt_matrix_new(model, window, by_machine, most);
	int64_t preempted = 0;

	assert_non_null(matrix);
	assert_int_equal(matrix->n_rows, by_machine ? window->n_machines : window->n_vcpus);
	assert_true(!most || matrix->n_columns <= most + 2);
	for (size_t row = 0; row < matrix->n_rows; row++) {
		int64_t sum = 0;

		for (size_t i = 0; i < matrix->n_columns; i++) {
			int64_t ns = matrix->ns[row * matrix->n_columns + i];

			assert_int_equal(ns, taken(model, window, matrix, &matrix->rows[row], i));
			sum += ns;
		}
		assert_int_equal(matrix->rows[row].ns, sum);
	}
	for (size_t i = 0; i < matrix->n_columns; i++) {
		assert_int_equal(matrix->columns[i].ns, taken(model, window, matrix, NULL, i));
		if (i && i + 2 < matrix->n_columns)
			assert_true(matrix->columns[i].ns <= matrix->columns[i - 1].ns);
	}
	for (int32_t i = 0; i < window->n_vcpus; i++)
		preempted += window->vcpus[i].states[VIRT_PREEMPTED].ns;
	assert_int_equal(matrix->total_ns, preempted);
	virt_matrix_free(matrix);
}

static void same_stats(const struct virt_window_stats *a, const struct virt_window_stats *b)
{
	assert_memory_equal(a, b, offsetof(struct virt_window_stats, before_reason));
	assert_int_equal(a->before_reason, b->before_reason);
	assert_int_equal(a->n_reasons, b->n_reasons);
	for (size_t i = 0; i < a->n_reasons; i++) {
		assert_int_equal(a->reasons[i].reason, b->reasons[i].reason);
		assert_int_equal(a->reasons[i].count, b->reasons[i].count);
		assert_memory_equal(&a->reasons[i].cost, &b->reasons[i].cost,
				    sizeof(a->reasons[i].cost));
	}
	assert_int_equal(a->n_culprits, b->n_culprits);
	assert_int_equal(a->n_places, b->n_places);
	assert_int_equal(a->longest_vcpu, b->longest_vcpu);
}

/** Single lengths that were reported. */
struct lengths {
	struct virt_dist of[VIRT_N_LENGTHS];
};

static void take_length(void *arg, enum virt_length what, int64_t ns)
{
	struct lengths *lengths = arg;
	struct virt_dist *dist = &lengths->of[what];

	dist->count++;
	dist->ns += ns;
	dist->max = ns > dist->max ? ns : dist->max;
}

static void same_lengths(const struct virt_dist *found, const struct virt_dist *dist)
{
	assert_int_equal(found->count, dist->count);
	assert_int_equal(found->ns, dist->ns);
	assert_int_equal(found->max, dist->max);
}

/** Each single length of a vCPU, against what they are together. */
static void check_lengths(const struct virt_model *model, struct virt_window_query query)
{
	struct lengths lengths;
	struct virt_window_walk *walk;

	query.length = take_length;
	query.arg = &lengths;
	walk = virt_window_walk_new(model, &query);
	assert_non_null(walk);
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
		const struct virt_window_stats *stats;
		struct virt_dist exits = { 0 };

		lengths = (struct lengths){ 0 };
		stats = virt_window_walk_vcpu(walk, i);
		same_lengths(&lengths.of[VIRT_LENGTH_WAKE], &stats->states[VIRT_WAKING].whole);
		if (query.parts & VIRT_WINDOW_STATES)
			same_lengths(&lengths.of[VIRT_LENGTH_STEAL],
				     &stats->states[VIRT_PREEMPTED].whole);
		else
			assert_int_equal(lengths.of[VIRT_LENGTH_STEAL].count, 0);
		for (size_t j = 0; query.parts & VIRT_WINDOW_EXITS && j < stats->n_reasons; j++) {
			const struct virt_dist *cost = &stats->reasons[j].cost;

			exits.count += cost->count;
			exits.ns += cost->ns;
			exits.max = cost->max > exits.max ? cost->max : exits.max;
		}
		same_lengths(&lengths.of[VIRT_LENGTH_EXIT], &exits);
	}
	virt_window_walk_free(walk);
}

/** One at a time, it is the same. */
static void check_walk(const struct virt_model *model, const struct virt_window_query *query,
		       const struct virt_window *window)
{
	static const struct virt_window_stats nothing = {
		.longest_vcpu = VIRT_NONE, .before_reason = VIRT_NONE,
	};
	struct virt_window_walk *walk = virt_window_walk_new(model, query);

	assert_non_null(walk);
	for (int32_t i = 0; i < virt_model_n_machines(model); i++) {
		const struct virt_machine *info = virt_model_machine(model, i);
		const struct virt_window_machine *machine;

		for (int all = 0; all <= 1; all++) {
			machine = virt_window_walk_machine(walk, i, all);
			assert_memory_equal(machine->states, window->machines[i].states,
					    sizeof(machine->states));
			assert_int_equal(machine->known_ns, window->machines[i].known_ns);
			same_stats(&machine->all, all ? &window->machines[i].all : &nothing);
		}
		for (int32_t j = 0; j < info->n_vcpus; j++) {
			int32_t vcpu = info->vcpus[j];

			same_stats(virt_window_walk_vcpu(walk, vcpu), &window->vcpus[vcpu]);
		}
		/* whatever is kept of its vCPUs */
		machine = virt_window_walk_machine(walk, i, true);
		same_stats(&machine->all, &window->machines[i].all);
	}
	for (int32_t i = 0; i < virt_model_n_pcpus(model); i++)
		assert_int_equal(virt_window_walk_pcpu(walk, i)->lost_ns,
				 window->pcpus[i].lost_ns);
	assert_int_equal(virt_window_walk_error(walk), 0);
	virt_window_walk_free(walk);
}

/** All that is said of one window, as the dock asks and as the report does. */
static void check_window(const struct virt_model *model, const struct life *lives, int64_t from,
			 int64_t to)
{
	for (int pass = 0; pass < 2; pass++) {
		const struct virt_window_query query = {
			.from_ns = from, .to_ns = to, .parts = pass ? ALL : 0,
		};
		struct virt_window *window = virt_window_new(model, &query);

		assert_non_null(window);
		for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
			const struct virt_window_stats *stats = &window->vcpus[i];

			assert_int_equal(stats->migrations,
					 virt_vcpu_migrations(model, i, from, to).n);
			check_vcpu(model, &lives[i], stats, window->from_ns, window->to_ns, pass);
			if (!pass)
				continue;

			struct virt_dist moves = moves_of(model, &lives[i], i, from, to);

			same_dist(&stats->migration_cost, &moves, true);
		}
		for (int32_t i = 0; i < virt_model_n_machines(model); i++) {
			check_machine(model, window, i, lives, pass);
			if (pass)
				check_together(model, window, i);
		}
		check_pcpus(model, window);
		check_walk(model, &query, window);
		check_lengths(model, query);
		check_matrix(model, window, pass, rnd(2) ? 0 : 1 + rnd(3));
		virt_window_free(window);
	}
}

/** Windows of all lengths, some of which begin or end with an interval. */
static void check_windows(const struct virt_model *model, int windows)
{
	int64_t begin = virt_model_begin(model), end = virt_model_end(model);
	int32_t n = virt_model_n_vcpus(model);
	struct life *lives = calloc(n + 1, sizeof(*lives));

	assert_non_null(lives);
	for (int32_t i = 0; i < n; i++)
		lives[i] = live(model, i);
	check_window(model, lives, INT64_MIN, INT64_MAX);
	for (int i = 0; i < windows; i++) {
		uint64_t length = (uint64_t)(end - begin) >> rnd(16);
		int64_t from = begin + (int64_t)rnd((uint64_t)(end - begin));
		int64_t to = from + 1 + (int64_t)(length ? rnd(length) : 0);
		const struct life *life = &lives[rnd((uint64_t)n)];

		if (i % 3 == 0)
			from = life->all.first[rnd(life->all.n)].start_ns;
		if (i % 5 == 0)
			to = life->all.first[rnd(life->all.n)].start_ns;
		if (from < to && from < end)
			check_window(model, lives, from, to);
	}
	for (int32_t i = 0; i < n; i++)
		die(&lives[i]);
	free(lives);
}

/* ---- samples ---- */

static void test_samples(void **state)
{
	static const char *const samples[] = {
		"credit2-basic.xen", "dom0.xen", "domU.xen.gz", "hvm-exits.xen", "hvm-io.xen",
		"lost-records.xen", "migration.xen", "pinned.xen", "sched-credit.xen",
		"kvm-host.dat", "kvm-migration.dat", "kvm-nested.dat", "kvm-nested-linux.dat",
		"kvm-nested-shift.dat", "kvm-nosync.dat", "kvm-ptp.dat", "kvm-shared.dat",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct virt_model *model = sample_model(samples[i]);

		check_windows(model, WINDOWS);
		virt_model_free(model);
	}
}

/* ---- made ---- */

/** @n vCPUs of one machine, and three reasons. */
static struct virt_model *new_model(int n)
{
	struct virt_model *model = virt_model_new();

	assert_int_equal(virt_model_add_machine(model, 1, "d1"), 0);
	for (int i = 0; i < n; i++)
		assert_int_equal(virt_model_add_vcpu(model, 0, i, 20000 + i, "v"), i);
	for (int i = 0; i < 3; i++)
		assert_int_equal(virt_model_add_reason(model, i ? i > 1 ? "two" : "one" : "zero"),
				 i);
	return model;
}

/** Whatever a tracker could say, and more; @stay: chance that a pCPU is kept, of 16 */
static struct virt_model *random_model(unsigned int stay)
{
	struct virt_model *model = new_model(3);
	const struct virt_loss losses[] = {
		{ 300, 900, 0, 0 }, { 700, 800, 0, 0 }, { 850, 1500, 3, 0 }, { 100, 200, 0, 1 },
	};

	for (int vcpu = 0; vcpu < 3; vcpu++) {
		int16_t pcpu = 0;

		for (int64_t t = (int64_t)rnd(40); t < 20000; t += (int64_t)rnd(9)) {
			bool on = rnd(16) < stay;
			enum virt_state state = (enum virt_state)(on ? rnd(3) : rnd(VIRT_N_STATES));
			int32_t detail = NONE;
			uint8_t flags = 0;

			pcpu = on ? pcpu : (int16_t)rnd(4);
			if (state == VIRT_HYPERVISOR || state == VIRT_VMM)
				flags = rnd(2) ? EXIT : 0;
			if (state == VIRT_HYPERVISOR && !rnd(4))
				flags |= VIRT_INTERVAL_UNSPLIT;
			if ((state == VIRT_BLOCKED || state == VIRT_OFFLINE) && rnd(2))
				flags = VIRT_INTERVAL_UNASKED;
			if (flags & EXIT)
				detail = (int32_t)rnd(4) - 1;
			if (state == VIRT_PREEMPTED)
				detail = (int32_t)rnd(4) - 1;
			set(model, vcpu, t, state, pcpu, detail, flags);
		}
	}
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(virt_model_add_loss(model, &losses[i]), 0);
	assert_int_equal(virt_model_finish(model, 10, 20000), 0);
	return model;
}

static void test_random(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 12; i++) {
		struct virt_model *model = random_model(4 + i);

		check_windows(model, 60);
		virt_model_free(model);
	}
}

/**
 * A vCPU on [0, 1000): woken at 100, runs at 130; preempted from 200 to 300, in which time it is
 * moved and the one who has the pCPU changes; asleep from 400 on, woken at 900 until the end.
 */
static struct virt_model *one_life(void)
{
	struct virt_model *model = new_model(2);

	set(model, 0, 0, VIRT_BLOCKED, 0, NONE, 0);
	set(model, 0, 100, VIRT_WAKING, 0, NONE, 0);
	set(model, 0, 130, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 200, VIRT_PREEMPTED, 0, 1, 0);
	set(model, 0, 220, VIRT_PREEMPTED, 1, 1, 0);
	set(model, 0, 250, VIRT_PREEMPTED, 1, NONE, 0);
	set(model, 0, 300, VIRT_GUEST, 1, NONE, 0);
	set(model, 0, 400, VIRT_BLOCKED, 1, NONE, 0);
	set(model, 0, 900, VIRT_WAKING, 1, NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 1000), 0);
	return model;
}

static struct virt_window *ask(const struct virt_model *model, int64_t from, int64_t to)
{
	const struct virt_window_query query = { .from_ns = from, .to_ns = to, .parts = ALL };
	struct virt_window *window = virt_window_new(model, &query);

	assert_non_null(window);
	return window;
}

/** What the rule means, in numbers. */
static void test_rule(void **state)
{
	struct virt_model *model = one_life();
	const struct virt_stretches *wait;
	struct virt_window *window;

	(void)state;
	/* a wake-up that begins in the window counts, and is taken whole; nothing was before */
	window = ask(model, 90, 110);
	wait = &window->vcpus[0].states[VIRT_WAKING];
	assert_int_equal(wait->ns, 10);
	assert_int_equal(wait->count, 1);
	assert_int_equal(wait->whole.count, 1);
	assert_int_equal(wait->whole.max, 30);
	assert_int_equal(wait->before, 0);
	assert_int_equal(window->vcpus[0].states[VIRT_BLOCKED].before, 1);
	assert_int_equal(window->vcpus[0].states[VIRT_BLOCKED].before_ns, NONE);
	virt_window_free(window);
	/* one that began before is no wake-up of the window */
	window = ask(model, 110, 200);
	wait = &window->vcpus[0].states[VIRT_WAKING];
	assert_int_equal(wait->ns, 20);
	assert_int_equal(wait->count, 0);
	assert_int_equal(wait->before, 1);
	assert_int_equal(wait->before_ns, 10);
	virt_window_free(window);
	/* one wait is one wait, wherever the window cuts it */
	window = ask(model, 150, 230);
	wait = &window->vcpus[0].states[VIRT_PREEMPTED];
	assert_int_equal(wait->ns, 30);
	assert_int_equal(wait->count, 1);
	assert_int_equal(wait->whole.p50, 100);
	assert_int_equal(window->vcpus[0].runs.before, 1);
	assert_int_equal(window->vcpus[0].runs.before_ns, 20);
	virt_window_free(window);
	window = ask(model, 240, 900);
	wait = &window->vcpus[0].states[VIRT_PREEMPTED];
	assert_int_equal(wait->count, 0);
	assert_int_equal(wait->before_ns, 40);
	assert_int_equal(window->vcpus[0].runs.count, 1);
	assert_int_equal(window->vcpus[0].runs.whole.max, 100);
	assert_int_equal(window->vcpus[0].migrations, 1);
	virt_window_free(window);
	/* what does not end in the trace has no length */
	window = ask(model, 800, 2000);
	wait = &window->vcpus[0].states[VIRT_WAKING];
	assert_int_equal(window->to_ns, 1000);
	assert_int_equal(wait->ns, 100);
	assert_int_equal(wait->count, 1);
	assert_int_equal(wait->whole.count, 0);
	assert_int_equal(window->vcpus[0].longest_to_ns, 1000);
	virt_window_free(window);
	virt_model_free(model);
}

/** Of reasons that have cost as much, the one of the most exits is first, then by number. */
static void test_exit_order(void **state)
{
	static const struct { int reason, ns; } exits[] = {
		{ 2, 20 }, { 0, 20 }, { 1, 10 }, { 1, 10 },
	};
	static const int order[] = { 1, 0, 2 };
	struct virt_model *model = new_model(1);
	struct virt_window *window;
	int64_t t = 10;

	(void)state;
	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	for (size_t i = 0; i < ARRAY_SIZE(exits); i++) {
		set(model, 0, t, VIRT_HYPERVISOR, 0, exits[i].reason, VIRT_INTERVAL_EXIT);
		set(model, 0, t + exits[i].ns, VIRT_GUEST, 0, NONE, 0);
		t += 50;
	}
	assert_int_equal(virt_model_finish(model, 0, 1000), 0);
	window = ask(model, 0, 1000);
	assert_int_equal(window->vcpus[0].n_reasons, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(window->vcpus[0].reasons[i].cost.ns, 20);
		assert_int_equal(window->vcpus[0].reasons[i].reason, order[i]);
	}
	virt_window_free(window);
	virt_model_free(model);
}

/**
 * Two vCPUs on [0, 100), of which nothing is known before 10 and from 80 on: the first one runs
 * from 10 to 40 and from 60 to 75, the second one from 20 to 30; else they sleep. The first run is
 * shown without its beginning.
 */
static void test_together(void **state)
{
	struct virt_model *model = new_model(2);
	const struct virt_window_machine *machine;
	struct virt_window *window;

	(void)state;
	for (int vcpu = 0; vcpu < 2; vcpu++) {
		set(model, vcpu, 10, VIRT_BLOCKED, vcpu, NONE, 0);
		set(model, vcpu, vcpu ? 20 : 10, VIRT_GUEST, vcpu, NONE, 0);
		set(model, vcpu, vcpu ? 30 : 40, VIRT_BLOCKED, vcpu, NONE, 0);
	}
	set(model, 0, 60, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 75, VIRT_BLOCKED, 0, NONE, 0);
	set(model, 0, 80, VIRT_UNKNOWN, NONE, NONE, 0);
	set(model, 1, 80, VIRT_UNKNOWN, NONE, NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 100), 0);
	window = ask(model, 0, 100);
	machine = window->machines;
	/* those of 15 and of 10 have a length; the longer one comes first */
	assert_int_equal(machine->all.runs.ns, 55);
	assert_int_equal(machine->all.runs.count, 3);
	assert_int_equal(machine->all.runs.whole.count, 2);
	assert_int_equal(machine->all.runs.whole.ns, 25);
	assert_int_equal(machine->all.runs.whole.min, 10);
	assert_int_equal(machine->all.runs.whole.max, 15);
	/* together: one of them from 10 to 20, from 30 to 40, from 60 to 75; none from 40 and 75 */
	assert_int_equal(machine->states[VIRT_M_PARTIAL_RUN].ns, 35);
	assert_int_equal(machine->states[VIRT_M_PARTIAL_RUN].count, 3);
	assert_int_equal(machine->states[VIRT_M_PARTIAL_RUN].whole.count, 2);
	assert_int_equal(machine->states[VIRT_M_PARTIAL_RUN].whole.ns, 25);
	assert_int_equal(machine->states[VIRT_M_FULL_RUN].whole.ns, 10);
	assert_int_equal(machine->states[VIRT_M_BLOCKED].ns, 25);
	assert_int_equal(machine->states[VIRT_M_BLOCKED].count, 2);
	assert_int_equal(machine->states[VIRT_M_BLOCKED].whole.count, 1);
	assert_int_equal(machine->states[VIRT_M_BLOCKED].whole.max, 20);
	assert_int_equal(machine->states[VIRT_M_LOST].ns, 30);
	assert_int_equal(machine->states[VIRT_M_LOST].before, 1);
	assert_int_equal(machine->states[VIRT_M_LOST].before_ns, NONE);
	assert_int_equal(machine->known_ns, 70);
	virt_window_free(window);
	virt_model_free(model);
}

/** The device model's answer is a cost, and asleep after HLT is none. */
static void test_unasked(void **state)
{
	struct virt_model *model = new_model(1);
	const struct virt_window_exit *exit;
	struct virt_exit_total totals[3];
	struct virt_window *window;

	(void)state;
	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 100, VIRT_HYPERVISOR, 0, 0, EXIT);
	set(model, 0, 110, VIRT_BLOCKED, 0, NONE, VIRT_INTERVAL_UNASKED);
	set(model, 0, 150, VIRT_WAKING, 0, NONE, 0);
	set(model, 0, 155, VIRT_HYPERVISOR, 0, 0, 0);
	set(model, 0, 160, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 200, VIRT_HYPERVISOR, 0, 1, EXIT);
	set(model, 0, 205, VIRT_BLOCKED, 0, NONE, 0);
	set(model, 0, 290, VIRT_HYPERVISOR, 0, 1, 0);
	set(model, 0, 300, VIRT_GUEST, 0, NONE, 0);
	/* to the monitor, which sleeps; a pause of the host before it is not its own */
	set(model, 0, 400, VIRT_HYPERVISOR, 0, 2, EXIT);
	set(model, 0, 401, VIRT_OFFLINE, 0, NONE, VIRT_INTERVAL_UNASKED);
	set(model, 0, 403, VIRT_VMM, 0, 2, 0);
	set(model, 0, 410, VIRT_BLOCKED, 0, NONE, VIRT_INTERVAL_UNASKED);
	set(model, 0, 440, VIRT_VMM, 0, 2, 0);
	set(model, 0, 450, VIRT_GUEST, 0, NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 1000), 0);
	window = ask(model, 0, 1000);
	assert_int_equal(window->vcpus[0].n_reasons, 3);
	exit = window->vcpus[0].reasons;
	assert_int_equal(exit[0].reason, 0);
	assert_int_equal(exit[0].cost.ns, 60);
	assert_int_equal(exit[0].unasked_ns, 40);
	assert_int_equal(exit[0].unasked_vmm_ns, 0);
	assert_int_equal(exit[1].reason, 2);
	assert_int_equal(exit[1].cost.ns, 50);
	assert_int_equal(exit[1].unasked_ns, 32);
	assert_int_equal(exit[1].unasked_vmm_ns, 30);
	assert_int_equal(exit[2].cost.ns, 15);
	assert_int_equal(exit[2].unasked_ns, 0);
	assert_int_equal(exit[2].state_ns[VIRT_BLOCKED], 85);
	assert_int_equal(window->vcpus[0].unasked_ns, 72);
	assert_int_equal(virt_vcpu_exits(model, 0, 0, 1000, totals, 3), 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(totals[i].reason, exit[i].reason);
		assert_int_equal(totals[i].ns, exit[i].cost.ns);
		assert_int_equal(totals[i].max_ns, exit[i].cost.max);
	}
	virt_window_free(window);
	virt_model_free(model);
}

static bool at_once(void *arg)
{
	(void)arg;
	return true;
}

static void test_choice(void **state)
{
	struct virt_model *model = one_life();
	const bool chosen[2] = { false, true };
	struct virt_window_query query = {
		.from_ns = 0, .to_ns = 1000, .parts = ALL, .vcpus = chosen,
	};
	struct virt_window *window = virt_window_new(model, &query);
	const struct virt_culprit *culprits;
	struct virt_window_walk *walk;

	(void)state;
	assert_non_null(window);
	assert_int_equal(window->vcpus[0].known_ns, 0);
	assert_null(window->vcpus[0].places);
	assert_non_null(window->vcpus[1].places);
	assert_int_equal(window->machines[0].all.states[VIRT_WAKING].count, 0);
	assert_int_equal(window->machines[0].states[VIRT_M_FULL_RUN].ns, 170);
	virt_window_free(window);
	/* culprits are returned for a vCPU that is wanted */
	walk = virt_window_walk_new(model, &query);
	assert_non_null(walk);
	assert_int_equal(virt_window_walk_culprits(walk, 0, &culprits), 0);
	query.vcpus = NULL;
	assert_true(virt_window_walk_culprits(walk, 0, &culprits) > 0);
	virt_window_walk_free(walk);
	query.stop = at_once;
	assert_null(virt_window_new(model, &query));
	/* what there is none of can be freed */
	virt_window_free(NULL);
	virt_window_walk_free(NULL);
	/* nothing lies there */
	window = ask(model, 1000, 2000);
	assert_int_equal(window->from_ns, window->to_ns);
	assert_int_equal(window->vcpus[0].states[VIRT_WAKING].before, 0);
	virt_window_free(window);
	virt_model_free(model);
}

/** A walk that has given up stays so: what comes next is not returned as if it were all. */
static void test_walk_error(void **state)
{
	struct virt_model *model = one_life();
	const struct virt_window_query query = {
		.from_ns = 0, .to_ns = 1000, .parts = ALL, .stop = at_once,
	};
	struct virt_window_walk *walk = virt_window_walk_new(model, &query);
	const struct virt_culprit *culprits;

	(void)state;
	assert_non_null(walk);
	virt_window_walk_vcpu(walk, 1);
	assert_int_equal(virt_window_walk_error(walk), -ECANCELED);
	assert_non_null(virt_window_walk_pcpu(walk, 0));
	assert_int_equal(virt_window_walk_error(walk), -ECANCELED);
	assert_int_equal(virt_window_walk_culprits(walk, 0, &culprits), 0);
	assert_int_equal(virt_window_walk_error(walk), -ECANCELED);
	virt_window_walk_machine(walk, 0, true);
	assert_int_equal(virt_window_walk_error(walk), -ECANCELED);
	virt_window_walk_free(walk);
	virt_model_free(model);
}

/** Stops when it has been asked as often as @arg says. */
static bool after_some(void *arg)
{
	int *left = arg;

	return !(*left)--;
}

/** A walk that gives up returns nothing; one that does not returns all of it. */
static void test_stop(void **state)
{
	struct virt_model *model = new_model(1);
	struct virt_window_query query = {
		.from_ns = INT64_MIN, .to_ns = INT64_MAX, .parts = ALL, .stop = after_some,
	};
	int n = 0;

	(void)state;
	for (int64_t t = 0; t < 200000; t += 2) {
		set(model, 0, t, VIRT_GUEST, 0, NONE, 0);
		set(model, 0, t + 1, VIRT_HYPERVISOR, 0, 0, EXIT);
	}
	assert_int_equal(virt_model_finish(model, 0, 200000), 0);
	for (bool done = false; !done; n++) {
		int left = n;
		struct virt_window *window;

		query.arg = &left;
		window = virt_window_new(model, &query);
		/* asked once more than there was patience for */
		assert_int_equal(!window, left < 0);
		done = window;
		virt_window_free(window);
	}
	assert_true(n > 2);
	virt_model_free(model);
}

/** Four vCPUs for 146 years each: their sum is the longest time that there is, and not below 0. */
static void test_longest_time(void **state)
{
	const int64_t most = INT64_MAX / 4;
	struct virt_model *model = new_model(4);
	struct virt_window *window;

	(void)state;
	for (int vcpu = 0; vcpu < 4; vcpu++)
		set(model, vcpu, -most, VIRT_BLOCKED, NONE, NONE, 0);
	assert_int_equal(virt_model_finish(model, -most, most), 0);
	window = ask(model, INT64_MIN, INT64_MAX);
	assert_true(window->vcpus[3].states[VIRT_BLOCKED].ns == 2 * most);
	assert_true(window->machines[0].all.states[VIRT_BLOCKED].ns == INT64_MAX);
	assert_true(window->machines[0].all.known_ns == INT64_MAX);
	virt_window_free(window);
	virt_model_free(model);
}

static void test_dist(void **state)
{
	int64_t ns[1000] = { 0 };

	(void)state;
	for (size_t n = 0; n <= 1000; n += n < 30 ? 1 : 97) {
		struct virt_dist expected, dist;
		int64_t sorted[1000];

		for (size_t i = 0; i < n; i++)
			ns[i] = (int64_t)rnd(n + 1);
		memcpy(sorted, ns, sizeof(ns));
		expected = dist_of(sorted, n);
		virt_dist_make(&dist, ns, n);
		same_dist(&dist, &expected, true);
	}
}

/** Each statistic has names of its own, and the value of its member. */
static void test_stats(void **state)
{
	const struct virt_dist dist = {
		.count = 2, .ns = 201, .min = 1, .p5 = 2, .p50 = 3, .p95 = 4, .p99 = 5, .max = 6,
	};
	const int64_t values[VIRT_N_STATS] = { 101, 1, 2, 3, 4, 5, 6 };
	const struct virt_dist nothing = { 0 };
	unsigned int last = 0;

	(void)state;
	for (int i = 0; i < VIRT_N_STATS; i++) {
		const struct virt_statistic *look = virt_stat_look((enum virt_stat)i);
		char key[32], name[32];

		assert_int_equal(virt_dist_stat(&dist, (enum virt_stat)i), values[i]);
		assert_int_equal(virt_dist_stat(&nothing, (enum virt_stat)i), 0);
		snprintf(key, sizeof(key), "%s_ns", look->name);
		assert_string_equal(look->key, key);
		if (!look->per_mille)
			continue;
		/* percentiles ascend, and their names are their numbers */
		assert_true(look->per_mille > last);
		last = look->per_mille;
		snprintf(name, sizeof(name), "p%u", last / 10);
		assert_string_equal(look->name, name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_unasked),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_walk_error),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_exit_order),
		cmocka_unit_test(test_longest_time),
		cmocka_unit_test(test_dist),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_stats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
