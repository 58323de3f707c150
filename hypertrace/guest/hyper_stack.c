// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	hyper_stack.c
 * @brief	Build nested slices from entries and exits, for each task, CPU or machine.
 */
#include <errno.h>
#include <string.h>

#include "hyper_private.h"

/** Whose a stack is. */
enum owner { OWNER_TASK, OWNER_CPU, OWNER_MACHINE, N_OWNERS };

static const uint8_t owners[HYPER_N_KINDS] = {
	[HYPER_FUNCTION] = OWNER_TASK,
	[HYPER_USER_FUNCTION] = OWNER_TASK,
	[HYPER_SYSCALL] = OWNER_TASK,
	[HYPER_INITCALL] = OWNER_TASK,
	[HYPER_IRQ] = OWNER_CPU,
	[HYPER_SOFTIRQ] = OWNER_CPU,
	[HYPER_LEVEL] = OWNER_MACHINE,
	[HYPER_SHUTDOWN] = OWNER_MACHINE,
	[HYPER_DEVICE] = OWNER_MACHINE,
	[HYPER_NOTIFIER] = OWNER_MACHINE,
	[HYPER_PHASE] = OWNER_MACHINE,
};

_Static_assert(OWNER_TASK == 0, "hyper_stacks_cut_task() has keys without an owner");

/* Of a stack's key, from the lowest bit on: task or CPU, owner, kind; tasks that are not known are
 * distinguished by their CPUs, idle ones as well. */
#define KEY_OWNER	32
#define KEY_ANONYMOUS	40
#define KEY_KIND	48

bool hyper_is_of_task(enum hyper_kind kind)
{
	return kind < HYPER_N_SLICES && kind != HYPER_OTHER && owners[kind] == OWNER_TASK;
}

static uint64_t key_of(const struct hyper_guest *guest, enum hyper_kind kind, int32_t cpu)
{
	uint64_t key = (uint64_t)kind << KEY_KIND | (uint64_t)owners[kind] << KEY_OWNER;
	int32_t pid = hyper_pid_on(guest, cpu);

	switch (owners[kind]) {
	case OWNER_TASK:
		/* idle: 1; unknown: 2 */
		return pid > 0 ? key | (uint32_t)pid :
		       key | (UINT64_C(1) << (pid ? 1 : 0)) << KEY_ANONYMOUS | (uint32_t)cpu;
	case OWNER_CPU:
		return key | (uint32_t)cpu;
	default:
		return key;
	}
}

struct hyper_stack *hyper_stack_of(struct hyper_guest *guest, enum hyper_kind kind, int32_t cpu)
{
	int64_t i = KEY_MAP_ELEMENT(&guest->stack_map, key_of(guest, kind, cpu), guest->stacks,
				    guest->stacks_room);

	return i < 0 ? NULL : &guest->stacks[i];
}

void hyper_stack_cut(struct hyper_guest *guest, struct hyper_stack *stack, int64_t time_ns)
{
	for (uint32_t i = 0; i < stack->n; i++) {
		struct hyper_slice *slice = &guest->slices[stack->open[i]];

		slice->end_ns = time_ns > slice->start_ns ? time_ns : slice->start_ns;
		slice->flags |= HYPER_NO_END;
	}
	stack->n = 0;
}

static void cut_key(struct hyper_guest *guest, uint64_t key, int64_t time_ns)
{
	int64_t i = key_map_find(&guest->stack_map, key);

	if (i >= 0)
		hyper_stack_cut(guest, &guest->stacks[i], time_ns);
}

void hyper_stacks_cut_cpu(struct hyper_guest *guest, int32_t cpu, int64_t time_ns)
{
	for (int kind = 1; kind < HYPER_N_SLICES; kind++)
		if (owners[kind] != OWNER_MACHINE)
			cut_key(guest, key_of(guest, (enum hyper_kind)kind, cpu), time_ns);
}

void hyper_stacks_cut_task(struct hyper_guest *guest, int32_t pid, int64_t time_ns)
{
	for (int kind = 1; kind < HYPER_N_SLICES; kind++)
		if (owners[kind] == OWNER_TASK)
			cut_key(guest, (uint64_t)kind << KEY_KIND | (uint32_t)pid, time_ns);
}

void hyper_stacks_cut_machine(struct hyper_guest *guest, int64_t time_ns)
{
	for (int kind = 1; kind <= HYPER_PHASE; kind++)
		if (owners[kind] == OWNER_MACHINE)
			cut_key(guest, key_of(guest, (enum hyper_kind)kind, 0), time_ns);
}

void hyper_stacks_end(struct hyper_guest *guest, int64_t end_ns)
{
	for (uint32_t i = 0; i < guest->task_map.n_keys; i++) {
		const struct hyper_task_state *state = &guest->states[i];

		if (state->cpu == HYPER_NONE && state->doubts < guest->n_doubts)
			hyper_stacks_cut_task(guest, guest->tasks[i].pid,
					      guest->doubts[state->doubts]);
	}
	for (uint32_t i = 0; i < guest->stack_map.n_keys; i++)
		hyper_stack_cut(guest, &guest->stacks[i], end_ns);
}

/* --- entries and exits ----------------------------------------------------------------------- */

/** What an entry and its exit have in common. */
static uint64_t what_of(const struct hyper_event *event)
{
	return hyper_has(event, HYPER_F_ADDRESS) ? event->address : (uint64_t)event->number;
}

/** Return: its number, HYPER_NONE if there is none, or -ENOMEM. */
static int32_t keep_name(struct hyper_guest *guest, const struct hyper_event *event)
{
	if (!*event->name)
		return HYPER_NONE;
	if (guest->n_names >= INT32_MAX ||
	    ARRAY_GROW(guest->names, guest->n_names, guest->names_room))
		return -ENOMEM;
	memcpy(guest->names[guest->n_names], event->name, HYPER_NAME_SIZE);
	return (int32_t)guest->n_names++;
}

static int push(struct hyper_guest *guest, struct hyper_stack *stack, int32_t cpu, int64_t time_ns,
		const struct hyper_event *event)
{
	int32_t name = keep_name(guest, event);

	if (name == -ENOMEM || guest->n_slices >= INT32_MAX ||
	    ARRAY_GROW(guest->slices, guest->n_slices, guest->slices_room) ||
	    ARRAY_GROW(stack->open, stack->n, stack->room))
		return -ENOMEM;
	guest->slices[guest->n_slices] = (struct hyper_slice){
		.start_ns = time_ns, .end_ns = time_ns, .what = what_of(event), .cpu = cpu,
		.label = event->label, .kind = event->kind, .name = name,
		.pid = hyper_is_of_task((enum hyper_kind)event->kind) ? hyper_pid_on(guest, cpu) :
		       HYPER_NONE,
		.parent = stack->n ? (int32_t)stack->open[stack->n - 1] : HYPER_NONE,
		.depth = hyper_has(event, HYPER_F_DEPTH) ? (uint16_t)event->depth :
			 (uint16_t)stack->n,
	};
	stack->open[stack->n++] = (uint32_t)guest->n_slices++;
	return 0;
}

/**
 * A system call ends what is open: there is no other one in it, but exit and exit_group never come
 * back, and the ends of others may be lost.
 */
static void end_syscall(struct hyper_guest *guest, struct hyper_stack *stack, int64_t time_ns,
			const struct hyper_event *event)
{
	if (event->kind == HYPER_SYSCALL)
		hyper_stack_cut(guest, stack, time_ns);
}

static int enter(struct hyper_guest *guest, struct hyper_stack *stack, int32_t cpu,
		 int64_t time_ns, const struct hyper_event *event)
{
	const struct hyper_slice *top;

	end_syscall(guest, stack, time_ns, event);
	top = stack->n ? &guest->slices[stack->open[stack->n - 1]] : NULL;
	if (stack->n >= HYPER_MAX_DEPTH ||
	    (top && hyper_has(event, HYPER_F_DEPTH) && event->depth != top->depth + 1)) {
		hyper_count(guest, HYPER_T_DEPTH, cpu, time_ns);
		hyper_stack_cut(guest, stack, time_ns);
	}
	return push(guest, stack, cpu, time_ns, event);
}

/** rt_sigreturn has put back the registers of before: its number is lost. */
static bool is_exit_of(const struct hyper_slice *slice, const struct hyper_event *event)
{
	return slice->what == what_of(event) ||
	       (event->kind == HYPER_SYSCALL && event->number == -1);
}

static void leave(struct hyper_guest *guest, struct hyper_stack *stack, int32_t cpu,
		  int64_t time_ns, const struct hyper_event *event)
{
	struct hyper_slice *top;

	if (!stack->n) {
		hyper_count(guest, HYPER_T_ALONE, cpu, time_ns);
		return;
	}
	top = &guest->slices[stack->open[stack->n - 1]];
	if (!is_exit_of(top, event)) {
		hyper_count(guest, HYPER_T_OTHER, cpu, time_ns);
		hyper_stack_cut(guest, stack, time_ns);
		return;
	}
	if (hyper_has(event, HYPER_F_DEPTH) && top->depth != event->depth) {
		hyper_count(guest, HYPER_T_DEPTH, cpu, time_ns);
		hyper_stack_cut(guest, stack, time_ns);
		return;
	}
	top->end_ns = time_ns;
	top->has_value = hyper_has(event, HYPER_F_VALUE);
	top->value = event->value;
	stack->n--;
}

/** What lasts until the next one ends here. */
static void end_all(struct hyper_guest *guest, struct hyper_stack *stack, int64_t time_ns)
{
	for (uint32_t i = 0; i < stack->n; i++)
		guest->slices[stack->open[i]].end_ns = time_ns;
	stack->n = 0;
}

/** A level ends with the next one, with a phase, and with the way down, which ends phases, too. */
static int begin_next(struct hyper_guest *guest, struct hyper_stack *stack, int32_t cpu,
		      int64_t time_ns, const struct hyper_event *event)
{
	static const enum hyper_kind ends[HYPER_N_KINDS][2] = {
		[HYPER_PHASE] = { HYPER_LEVEL, HYPER_SHUTDOWN },
		[HYPER_SHUTDOWN] = { HYPER_LEVEL, HYPER_PHASE },
	};

	end_all(guest, stack, time_ns);
	for (int i = 0; i < 2; i++) {
		struct hyper_stack *other;

		if (!ends[event->kind][i])
			continue;
		other = hyper_stack_of(guest, ends[event->kind][i], cpu);
		if (!other)
			return -ENOMEM;
		end_all(guest, other, time_ns);
	}
	/* the array of stacks may have moved */
	stack = hyper_stack_of(guest, (enum hyper_kind)event->kind, cpu);
	return stack ? push(guest, stack, cpu, time_ns, event) : -ENOMEM;
}

int hyper_slice_take(struct hyper_guest *guest, int32_t cpu, int64_t time_ns,
		     const struct hyper_event *event)
{
	struct hyper_stack *stack = hyper_stack_of(guest, (enum hyper_kind)event->kind, cpu);

	if (!stack)
		return -ENOMEM;
	if (event->edge == HYPER_ENTRY)
		return enter(guest, stack, cpu, time_ns, event);
	if (event->edge == HYPER_AT_ONCE)
		return begin_next(guest, stack, cpu, time_ns, event);
	leave(guest, stack, cpu, time_ns, event);
	return 0;
}
