// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_rows.c
 * @brief	An interval as rows, sorted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top_rows.h"
#include "virt_window.h"

static const char *const sort_names[TOP_N_SORTS] = {
	[TOP_SORT_NAME] = "name",
	[TOP_SORT_STEAL] = "steal",
	[TOP_SORT_EXITS] = "exits",
	[TOP_SORT_GUEST] = "guest",
	[TOP_SORT_HYPERVISOR] = "hypervisor",
	[TOP_SORT_WAKING] = "waking",
	[TOP_SORT_BLOCKED] = "blocked",
};

const char *top_sort_name(enum top_sort sort, char text[TOP_SORT_NAME_SIZE])
{
	if (sort != TOP_SORT_WAKE_NS)
		return sort_names[sort];
	snprintf(text, TOP_SORT_NAME_SIZE, "wake %s", virt_stat_look(TOP_WAKE_STAT)->name);
	return text;
}

/* --- what is open ---------------------------------------------------------------------------- */

static uint64_t key_of(const struct top_row *row)
{
	return (uint64_t)(uint32_t)row->machine_id << 32 | (uint32_t)row->vcpu_id;
}

/** Return: its place, or how many there are. */
static size_t find(const struct top_view *view, uint64_t key)
{
	size_t i = 0;

	while (i < view->n_toggled && view->toggled[i] != key)
		i++;
	return i;
}

static bool is_open(const struct top_view *view, const struct top_row *row)
{
	bool toggled = find(view, key_of(row)) < view->n_toggled;

	return toggled != (row->kind == TOP_ROW_MACHINE && !view->closed);
}

int top_view_toggle(struct top_view *view, const struct top_row *row)
{
	uint64_t key = key_of(row);
	size_t i = find(view, key);

	if (i < view->n_toggled) {
		view->toggled[i] = view->toggled[--view->n_toggled];
		return 0;
	}
	if (ARRAY_GROW(view->toggled, view->n_toggled, view->room))
		return -ENOMEM;
	view->toggled[view->n_toggled++] = key;
	return 0;
}

void top_view_toggle_all(struct top_view *view)
{
	view->closed = !view->closed;
	view->n_toggled = 0;
}

void top_view_free(struct top_view *view)
{
	free(view->toggled);
	*view = (struct top_view){ 0 };
}

/* --- numbers --------------------------------------------------------------------------------- */

static int64_t sum(int64_t a, int64_t b)
{
	int64_t c;

	return __builtin_add_overflow(a, b, &c) ? INT64_MAX : c;
}

/** A sum of which something is unknown is unknown. */
static int64_t count(int64_t a, int64_t b)
{
	return a == VIRT_NONE || b == VIRT_NONE ? VIRT_NONE : sum(a, b);
}

double top_row_share(const struct top_row *row, int state)
{
	int64_t base = state == VIRT_UNKNOWN ? row->all_ns : row->known_ns;

	return base > 0 ? (double)row->state_ns[state] / (double)base : 0;
}

bool top_row_bar(const struct top_row *row, uint8_t *states, size_t n)
{
	int64_t end_ns = 0;
	size_t cell = 0;

	if (row->all_ns <= 0)
		return false;
	/* a cell has the state that its middle has, if states lie side by side */
	for (int state = 0; state < VIRT_N_STATES; state++) {
		end_ns = sum(end_ns, row->state_ns[state]);
		while (cell < n && ((double)cell + 0.5) * (double)row->all_ns <
				   (double)end_ns * (double)n)
			states[cell++] = (uint8_t)state;
	}
	while (cell < n)
		states[cell++] = VIRT_UNKNOWN;
	return true;
}

static void take_fact(struct top_row *row, const struct top_fact *fact)
{
	switch (fact->kind) {
	case TOP_STATE:
		if (fact->ns != VIRT_NONE) {
			row->state_ns[fact->id] = sum(row->state_ns[fact->id], fact->ns);
			row->all_ns = sum(row->all_ns, fact->ns);
		} else {
			row->unknown |= 1U << fact->id;
		}
		/* each state of a vCPU has it */
		if (fact->id == VIRT_UNKNOWN)
			row->known_ns = sum(row->known_ns, fact->known_ns);
		break;
	case TOP_EXIT:
		row->exits = count(row->exits, fact->count);
		if (fact->count > row->reason_count) {
			row->reason = fact->name;
			row->reason_count = fact->count;
		}
		break;
	case TOP_WAKE:
		row->wakes = count(row->wakes, fact->count);
		if (fact->wake_ns > row->wake_ns)
			row->wake_ns = fact->wake_ns;
		break;
	case TOP_STEAL:
		if (fact->ns > row->culprit_ns) {
			row->culprit = fact->name;
			row->culprit_ns = fact->ns;
		}
		break;
	default:
		break;
	}
}

static int64_t sort_value(const struct top_row *row, enum top_sort sort)
{
	static const enum virt_state states[TOP_N_SORTS] = {
		[TOP_SORT_STEAL] = VIRT_PREEMPTED, [TOP_SORT_GUEST] = VIRT_GUEST,
		[TOP_SORT_HYPERVISOR] = VIRT_HYPERVISOR, [TOP_SORT_WAKING] = VIRT_WAKING,
		[TOP_SORT_BLOCKED] = VIRT_BLOCKED,
	};

	if (sort == TOP_SORT_EXITS)
		return row->exits;
	if (sort == TOP_SORT_WAKE_NS)
		return row->wake_ns;
	/* of machines with many vCPUs and few, shares can be compared, times cannot */
	return (int64_t)(top_row_share(row, states[sort]) * 1e12);
}

/* --- rows ------------------------------------------------------------------------------------ */

/** A row that is to be sorted. */
struct item {
	struct top_row	row;
	size_t		order;		/* in the interval */
	size_t		first, n;	/* machine: its vCPUs among all; vCPU: its facts */
	int64_t		value;
	bool		has_exits;	/* machine: of its own */
};

struct items {
	struct item	*items;
	size_t		n, room;
};

static int add_item(struct items *items, const struct top_fact *fact, enum top_row_kind kind,
		    size_t first)
{
	if (ARRAY_GROW(items->items, items->n, items->room))
		return -ENOMEM;
	items->items[items->n] = (struct item){
		.row = {
			.kind = kind, .machine_id = fact->machine_id,
			.vcpu_id = kind == TOP_ROW_MACHINE ? VIRT_NONE : fact->vcpu_id,
			.name = kind == TOP_ROW_MACHINE ? fact->machine : fact->vcpu,
			.wake_ns = VIRT_NONE,
		},
		.order = items->n, .first = first,
	};
	items->n++;
	return 0;
}

static struct item *last_of(const struct items *items)
{
	return items->n ? &items->items[items->n - 1] : NULL;
}

/** All machines, and all vCPUs. Return: 0 or -ENOMEM. */
static int collect(const struct top_interval *interval, struct items *machines, struct items *vcpus)
{
	int ret = 0;

	for (size_t i = 0; i < interval->n && !ret; i++) {
		const struct top_fact *fact = &interval->facts[i];
		struct item *machine = last_of(machines), *vcpu = last_of(vcpus);

		/* the screen has no tasks of the host */
		if (!fact->machine || fact->kind >= TOP_TASK)
			continue;
		if (!machine || machine->row.machine_id != fact->machine_id) {
			ret = add_item(machines, fact, TOP_ROW_MACHINE, vcpus->n);
			machine = last_of(machines);
		}
		/* exits of a machine are not those of one vCPU, if they are counted so */
		if (!ret && !fact->vcpu && fact->kind == TOP_EXIT) {
			machine->has_exits = true;
			take_fact(&machine->row, fact);
		}
		if (ret || !fact->vcpu)
			continue;
		if (!machine->n || vcpu->row.vcpu_id != fact->vcpu_id) {
			ret = add_item(vcpus, fact, TOP_ROW_VCPU, i);
			vcpu = last_of(vcpus);
			machine->n++;
		}
		if (ret)
			continue;
		vcpu->n = i + 1 - vcpu->first;
		take_fact(&vcpu->row, fact);
		if (fact->kind != TOP_EXIT || !machine->has_exits)
			take_fact(&machine->row, fact);
	}
	return ret;
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

static void sort_items(struct item *items, size_t n, const struct top_view *view)
{
	/* there may be none at all */
	if (!n || (view->sort == TOP_SORT_NAME && !view->reversed))
		return;
	for (size_t i = 0; i < n; i++) {
		items[i].value = view->sort == TOP_SORT_NAME ? -(int64_t)items[i].order :
				 sort_value(&items[i].row, view->sort);
		if (view->reversed)
			items[i].value = -items[i].value;
	}
	qsort(items, n, sizeof(*items), compare_items);
}

static int add_row(struct top_rows *rows, const struct top_row *row)
{
	if (ARRAY_GROW(rows->rows, rows->n, rows->room))
		return -ENOMEM;
	rows->rows[rows->n++] = *row;
	return 0;
}

/** Facts of a vCPU that its own row does not show. */
static int add_facts(struct top_rows *rows, const struct top_interval *interval,
		     const struct item *vcpu)
{
	int ret = 0;

	for (size_t i = vcpu->first; i < vcpu->first + vcpu->n && !ret; i++) {
		const struct top_fact *fact = &interval->facts[i];
		const struct top_row row = {
			.kind = TOP_ROW_FACT, .machine_id = vcpu->row.machine_id,
			.vcpu_id = vcpu->row.vcpu_id, .name = fact->name, .fact = fact,
			.wake_ns = VIRT_NONE,
		};

		if (fact->kind != TOP_STATE || fact->ns)
			ret = add_row(rows, &row);
	}
	return ret;
}

static int add_vcpus(struct top_rows *rows, const struct top_interval *interval,
		     const struct top_view *view, const struct item *vcpus, size_t n)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		struct top_row row = vcpus[i].row;

		row.is_open = is_open(view, &row);
		ret = add_row(rows, &row);
		if (!ret && row.is_open)
			ret = add_facts(rows, interval, &vcpus[i]);
	}
	return ret;
}

int top_rows_make(struct top_rows *rows, const struct top_interval *interval,
		  const struct top_view *view)
{
	struct items machines = { 0 }, vcpus = { 0 };
	int ret = collect(interval, &machines, &vcpus);

	rows->n = 0;
	if (!ret)
		sort_items(machines.items, machines.n, view);
	for (size_t i = 0; i < machines.n && !ret; i++) {
		struct item *machine = &machines.items[i];

		machine->row.is_open = is_open(view, &machine->row);
		ret = add_row(rows, &machine->row);
		if (ret || !machine->row.is_open || !machine->n)
			continue;
		sort_items(&vcpus.items[machine->first], machine->n, view);
		ret = add_vcpus(rows, interval, view, &vcpus.items[machine->first], machine->n);
	}
	free(machines.items);
	free(vcpus.items);
	return ret;
}

void top_rows_free(struct top_rows *rows)
{
	free(rows->rows);
	*rows = (struct top_rows){ 0 };
}
