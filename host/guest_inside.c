// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	guest_inside.c
 * @brief	Make lanes of a guest that reports through hypercalls.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "guest_inside.h"
#include "key_map.h"
#include "search.h"

#define NAME_BYTES	192

/** Which lane slices of a kind are in; VIRT_INSIDE_N_KINDS: in none. */
static const uint8_t lanes[HYPER_N_KINDS] = {
	[HYPER_OTHER] = VIRT_INSIDE_N_KINDS,
	[HYPER_FUNCTION] = VIRT_INSIDE_FUNCTION,
	[HYPER_USER_FUNCTION] = VIRT_INSIDE_USER_FUNCTION,
	[HYPER_SYSCALL] = VIRT_INSIDE_SYSCALL,
	[HYPER_IRQ] = VIRT_INSIDE_IRQ,
	[HYPER_SOFTIRQ] = VIRT_INSIDE_SOFTIRQ,
	[HYPER_INITCALL] = VIRT_INSIDE_INITCALL,
	[HYPER_LEVEL] = VIRT_INSIDE_LEVEL,
	[HYPER_SHUTDOWN] = VIRT_INSIDE_LEVEL,
	[HYPER_DEVICE] = VIRT_INSIDE_INITCALL,
	[HYPER_NOTIFIER] = VIRT_INSIDE_INITCALL,
	[HYPER_PHASE] = VIRT_INSIDE_PHASE,
};

struct making {
	const struct guest_trace *trace;
	const struct kvm_trace	*own;		/* the guest's own trace; or NULL */
	struct virt_inside	*inside;
	struct key_map		names;		/* kind, and what */
	int32_t			*numbers;	/* along @names */
	uint32_t		room;
	uint16_t		*nest;		/* by slice: slices of its kind around it */
};

/* --- names ----------------------------------------------------------------------------------- */

static const char *function_of(const struct making *making, uint64_t address)
{
	return making->own ? kvm_trace_function(making->own, address) :
			     hyper_symbols_name(making->trace->symbols, address, NULL);
}

static void write_name(char *text, size_t size, const struct making *making,
		       const struct hyper_slice *slice)
{
	const struct guest_trace *trace = making->trace;
	const char *own = hyper_guest_name(trace->rows.guest, slice->name);
	const char *known = hyper_number_name(trace->rows.dialect, (enum hyper_kind)slice->kind,
					      (int32_t)slice->what);
	const char *symbol = slice->what > UINT32_MAX ?
			     function_of(making, slice->what) : NULL;

	if (own || symbol)
		snprintf(text, size, "%s", own ? own : symbol);
	else if (slice->kind == HYPER_PHASE)
		snprintf(text, size, "%s", slice->label);
	else if (slice->kind == HYPER_FUNCTION || slice->kind == HYPER_USER_FUNCTION ||
		 slice->what > UINT32_MAX)
		snprintf(text, size, "0x%" PRIx64, slice->what);
	else if (known)
		snprintf(text, size, "%s", known);
	else
		snprintf(text, size, "%s %" PRIu64, hyper_kind_name((enum hyper_kind)slice->kind),
			 slice->what);
}

/** Return: number of its name, or -ENOMEM. Names of their own are not looked for again. */
static int32_t name_of(struct making *making, const struct hyper_slice *slice)
{
	/* a label is not the same text as another one's */
	uint64_t what = slice->kind == HYPER_PHASE ? (uintptr_t)slice->label : slice->what;
	uint64_t key = what ^ (uint64_t)slice->kind << 56;
	bool is_own = slice->name != HYPER_NONE;
	int64_t i = is_own ? -1 : key_map_find(&making->names, key);
	char text[NAME_BYTES];
	int32_t number;

	if (i >= 0)
		return making->numbers[i];
	write_name(text, sizeof(text), making, slice);
	number = virt_inside_add_name(making->inside, text);
	if (number < 0 || is_own)
		return number;
	i = KEY_MAP_ELEMENT(&making->names, key, making->numbers, making->room);
	if (i < 0)
		return -ENOMEM;
	making->numbers[i] = number;
	return number;
}

/* --- pieces ---------------------------------------------------------------------------------- */

static int add(struct making *making, const struct hyper_slice *slice, size_t i, int32_t name,
	       int32_t cpu, int64_t from_ns, int64_t to_ns)
{
	const struct virt_inside_piece piece = {
		.start_ns = from_ns, .end_ns = to_ns, .name = name,
		.slice_ns = slice->end_ns - slice->start_ns,
		.no_end = slice->flags & HYPER_NO_END,
	};

	return virt_inside_add(making->inside,
			       cpu == VIRT_NONE ? cpu : making->trace->rows.numbers[cpu],
			       (enum virt_inside_kind)lanes[slice->kind], making->nest[i], &piece);
}

/** What a task does, while it has a CPU. */
static int add_of_task(struct making *making, const struct hyper_slice *slice, size_t i,
		       int32_t name)
{
	size_t n, run;
	const struct hyper_run *const *runs =
		hyper_guest_task_runs(making->trace->rows.guest, slice->pid, &n);
	int ret = 0;

	SEARCH_FIRST(run, 0, n, runs[run]->end_ns <= slice->start_ns);
	for (; run < n && runs[run]->start_ns < slice->end_ns && !ret; run++) {
		int64_t from_ns = runs[run]->start_ns, to_ns = runs[run]->end_ns;

		ret = add(making, slice, i, name, runs[run]->cpu,
			  from_ns > slice->start_ns ? from_ns : slice->start_ns,
			  to_ns < slice->end_ns ? to_ns : slice->end_ns);
	}
	return ret;
}

/** The same of the idle task of a CPU. */
static int add_of_idle(struct making *making, const struct hyper_slice *slice, size_t i,
		       int32_t name)
{
	size_t n, run;
	const struct hyper_run *runs = hyper_guest_runs(making->trace->rows.guest, slice->cpu, &n);
	int ret = 0;

	SEARCH_FIRST(run, 0, n, runs[run].end_ns <= slice->start_ns);
	for (; run < n && runs[run].start_ns < slice->end_ns && !ret; run++)
		if (!runs[run].pid)
			ret = add(making, slice, i, name, slice->cpu,
				  runs[run].start_ns > slice->start_ns ?
				  runs[run].start_ns : slice->start_ns,
				  runs[run].end_ns < slice->end_ns ?
				  runs[run].end_ns : slice->end_ns);
	return ret;
}

static int add_slice(struct making *making, const struct hyper_slice *slices, size_t i)
{
	const struct hyper_slice *slice = &slices[i];
	enum virt_inside_kind kind = (enum virt_inside_kind)lanes[slice->kind];
	bool of_machine = kind == VIRT_INSIDE_LEVEL || kind == VIRT_INSIDE_PHASE ||
			  slice->kind == HYPER_DEVICE || slice->kind == HYPER_NOTIFIER;
	int32_t name;

	making->nest[i] = slice->parent == HYPER_NONE ? 0 :
			  making->nest[slice->parent] < UINT16_MAX ?
			  (uint16_t)(making->nest[slice->parent] + 1) : UINT16_MAX;
	if (kind == VIRT_INSIDE_N_KINDS || making->nest[i] >= VIRT_INSIDE_DEPTHS)
		return 0;
	name = name_of(making, slice);
	if (name < 0)
		return name;
	if (!hyper_is_of_task((enum hyper_kind)slice->kind) || slice->pid == HYPER_NONE)
		return add(making, slice, i, name, of_machine ? VIRT_NONE : slice->cpu,
			   slice->start_ns, slice->end_ns);
	return slice->pid ? add_of_task(making, slice, i, name) :
			    add_of_idle(making, slice, i, name);
}

static int add_slices(struct making *making)
{
	size_t n;
	const struct hyper_slice *slices = hyper_guest_slices(making->trace->rows.guest, &n);
	int ret = 0;

	making->nest = calloc(n + 1, sizeof(*making->nest));
	if (!making->nest)
		return -ENOMEM;
	for (size_t i = 0; i < n && !ret; i++)
		ret = add_slice(making, slices, i);
	return ret;
}

/** The time of a CPU's first row; INT64_MAX: it has none. */
static int64_t first_of(const struct guest_rows *rows, int32_t cpu)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->rows[i].cpu == rows->numbers[cpu])
			return rows->rows[i].time_ns;
	return INT64_MAX;
}

/** Who has a CPU is not known, or not for how long. */
static int add_doubts(struct making *making, int32_t cpu)
{
	const struct guest_rows *rows = &making->trace->rows;
	size_t n;
	const struct hyper_run *runs = hyper_guest_runs(rows->guest, cpu, &n);
	struct virt_inside_piece before = { .start_ns = first_of(rows, cpu), .name = VIRT_NONE };
	int ret;

	before.end_ns = n ? runs[0].start_ns : rows->n ? rows->rows[rows->n - 1].time_ns : 0;
	if (before.start_ns < before.end_ns)
		before.slice_ns = before.end_ns - before.start_ns;
	ret = virt_inside_add(making->inside, rows->numbers[cpu], VIRT_INSIDE_UNKNOWN, 0, &before);
	for (size_t i = 0; i < n && !ret; i++) {
		struct virt_inside_piece piece = {
			.start_ns = runs[i].start_ns, .end_ns = runs[i].end_ns, .name = VIRT_NONE,
			.slice_ns = runs[i].end_ns - runs[i].start_ns,
		};

		if (runs[i].pid == HYPER_NONE || runs[i].flags & HYPER_NO_END)
			ret = virt_inside_add(making->inside, rows->numbers[cpu],
					      runs[i].pid == HYPER_NONE ? VIRT_INSIDE_UNKNOWN :
					      VIRT_INSIDE_DOUBT, 0, &piece);
	}
	return ret;
}

static int set_host(struct making *making)
{
	const struct guest_rows *rows = &making->trace->rows;
	int32_t *pids = malloc(((size_t)rows->n_numbers + 1) * sizeof(*pids));
	int ret;

	if (!pids)
		return -ENOMEM;
	for (int32_t cpu = 0; cpu < rows->n_numbers; cpu++)
		pids[cpu] = VIRT_NONE;
	for (int32_t cpu = 0; cpu < rows->n_cpus; cpu++)
		if (rows->numbers[cpu] >= 0 && rows->numbers[cpu] < rows->n_numbers)
			pids[rows->numbers[cpu]] = rows->tids[cpu];
	ret = virt_inside_set_host(making->inside, making->trace->host, pids);
	free(pids);
	return ret;
}

/** Return: what has been made, or NULL after an error. */
static struct virt_inside *finish(struct making *making, int error)
{
	key_map_destroy(&making->names);
	free(making->numbers);
	free(making->nest);
	if (!error) {
		virt_inside_finish(making->inside);
		return making->inside;
	}
	virt_inside_put(making->inside);
	return NULL;
}

struct virt_inside *guest_inside_make(const struct guest_trace *trace)
{
	struct making making = {
		.trace = trace, .inside = virt_inside_new(trace->rows.n_numbers),
	};
	int ret = making.inside ? set_host(&making) : -ENOMEM;

	if (!ret)
		ret = add_slices(&making);
	for (int32_t cpu = 0; cpu < trace->rows.n_cpus && !ret; cpu++)
		ret = add_doubts(&making, cpu);
	return finish(&making, ret);
}

struct virt_inside *guest_inside_boot(struct hyper_guest *guest, const struct kvm_trace *own)
{
	int32_t n_cpus = kvm_trace_n_cpus(own);
	int32_t *numbers = malloc(((size_t)n_cpus + 1) * sizeof(*numbers));
	const struct guest_trace trace = { .rows = {
		.guest = guest, .dialect = &hyper_tracepoints, .numbers = numbers,
		.n_cpus = n_cpus, .n_numbers = n_cpus,
	} };
	struct making making = {
		.trace = &trace, .own = own, .inside = virt_inside_new(n_cpus),
	};
	struct virt_inside *inside;

	for (int32_t cpu = 0; numbers && cpu < n_cpus; cpu++)
		numbers[cpu] = cpu;
	inside = finish(&making, numbers && making.inside ? add_slices(&making) : -ENOMEM);
	free(numbers);
	return inside;
}
