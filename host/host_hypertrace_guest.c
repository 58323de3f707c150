// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_hypertrace_guest.c
 * @brief	Make a guest from the hypercalls of a machine's vCPUs, merged in order of time.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "heap.h"
#include "host_hypertrace.h"
#include "hyper_wire.h"

/** When the host shows nothing of a vCPU. */
struct gap {
	int64_t		from_ns, to_ns;
};

/** A vCPU, whose calls and gaps go by. */
struct cursor {
	const struct hyper_call *calls;
	size_t		n_calls, next_call;
	struct hyper_decoded *decoded;	/* of the call before @next_call; from @event on */
	unsigned int	event;
	struct gap	*gaps;
	size_t		n_gaps, room, gap;
	bool		in_gap;
	bool		has_exits;	/* the trace shows when its vCPU leaves its guest */
	int64_t		last_ns;	/* keys never go back: lies are seen where they are */
	int32_t		vcpu, cpu;
};

/** A machine whose vCPUs are gone through. */
struct walk {
	const struct host_hypertrace *trace;
	struct host_hypertrace_machine *machine;
	const struct host_hypertrace_watch *watch;
	int64_t		from_ns, to_ns;	/* what is counted */
	struct hyper_decoder *decoder;
	struct cursor	*cursors;
	struct cursor	**heap;		/* of those that are not through, the earliest first */
	size_t		n, n_heap;
};

/* --- one vCPU -------------------------------------------------------------------------------- */

/** Return: 0 or -ENOMEM. */
static int count_number(struct host_hypertrace_machine *machine, const struct hyper_call *call,
			enum hyper_result result)
{
	bool wire = machine->dialect && machine->dialect->wire && result == HYPER_SENSELESS;
	uint64_t nr = wire ? hyper_wire_number(call) : call->nr;
	size_t i = 0;

	/* numbers that programs choose say nothing */
	if (result == HYPER_USERS)
		return 0;
	while (i < machine->n_numbers &&
	       (machine->numbers[i].nr != nr || machine->numbers[i].result != result))
		i++;
	if (i == HOST_HYPERTRACE_NUMBERS) {
		machine->more_numbers++;
		return 0;
	}
	if (i == machine->n_numbers) {
		if (ARRAY_GROW(machine->numbers, machine->n_numbers, machine->room))
			return -ENOMEM;
		machine->numbers[machine->n_numbers++] = (struct host_hypertrace_number){
			.nr = nr, .result = result, .wire = wire };
	}
	machine->numbers[i].count++;
	return 0;
}

/** Between an exit and the next entry, the vCPU is the hypervisor's or the monitor's. */
static bool is_outside(const struct virt_model *model, const struct cursor *cursor,
		       const struct hyper_call *call)
{
	const struct virt_interval *interval = virt_vcpu_at(model, cursor->vcpu, call->time_ns,
							    NULL);

	return call->source != HYPER_KVM_WHOLE && !call->vague && cursor->has_exits && interval &&
	       interval->state != VIRT_HYPERVISOR && interval->state != VIRT_POLLING &&
	       interval->state != VIRT_VMM && interval->state != VIRT_UNKNOWN;
}

static int count_call(struct walk *walk, const struct cursor *cursor, const struct hyper_call *call)
{
	struct host_hypertrace_machine *machine = walk->machine;

	if (call->time_ns < walk->from_ns || call->time_ns >= walk->to_ns)
		return 0;
	machine->results[cursor->decoded->result]++;
	machine->events += cursor->decoded->n;
	machine->outside += is_outside(walk->trace->model, cursor, call);
	machine->vague += call->vague;
	return cursor->decoded->result == HYPER_DECODED ? 0 :
	       count_number(machine, call, cursor->decoded->result);
}

static int watch_call(const struct walk *walk, const struct cursor *cursor,
		      const struct hyper_call *call)
{
	const struct host_hypertrace_watch *watch = walk->watch;

	return !watch->call || cursor->decoded->result == HYPER_DECODED ? 0 :
	       watch->call(watch->arg, cursor->cpu, call, cursor->decoded);
}

/** On to the next call that has events in it. Return: 0 or -ENOMEM. */
static int decode_next(struct walk *walk, struct cursor *cursor)
{
	int ret = 0;

	cursor->event = 0;
	cursor->decoded->n = 0;
	while (!ret && !cursor->decoded->n && cursor->next_call < cursor->n_calls) {
		const struct hyper_call *call = &cursor->calls[cursor->next_call++];

		ret = hyper_decoder_take(walk->decoder, call, cursor->decoded);
		if (!ret)
			ret = count_call(walk, cursor, call);
		if (!ret)
			ret = watch_call(walk, cursor, call);
	}
	return ret;
}

static const struct hyper_call *current_call(const struct cursor *cursor)
{
	return &cursor->calls[cursor->next_call - 1];
}

static bool has_event(const struct cursor *cursor)
{
	return cursor->decoded && cursor->event < cursor->decoded->n;
}

static int64_t event_ns(const struct cursor *cursor)
{
	int64_t before_ns = cursor->decoded->events[cursor->event].before_ns;
	int64_t call_ns = current_call(cursor)->time_ns, time_ns;

	if (before_ns < 0 || __builtin_sub_overflow(call_ns, before_ns, &time_ns))
		time_ns = call_ns;
	return time_ns > cursor->last_ns ? time_ns : cursor->last_ns;
}

/** The next end of a gap; INT64_MAX: there is none. */
static int64_t gap_ns(const struct cursor *cursor)
{
	return cursor->gap == cursor->n_gaps ? INT64_MAX :
	       cursor->in_gap ? cursor->gaps[cursor->gap].to_ns : cursor->gaps[cursor->gap].from_ns;
}

static int64_t key_of(const struct cursor *cursor)
{
	int64_t gap = gap_ns(cursor), event = has_event(cursor) ? event_ns(cursor) : INT64_MAX;

	return gap < event ? gap : event;
}

static int step_gap(struct walk *walk, struct cursor *cursor, int64_t time_ns)
{
	const struct host_hypertrace_watch *watch = walk->watch;
	int ret;

	cursor->in_gap = !cursor->in_gap;
	cursor->gap += !cursor->in_gap;
	ret = hyper_guest_lost(walk->machine->guest, cursor->cpu, time_ns, cursor->in_gap);
	return ret || !watch->lost ? ret : watch->lost(watch->arg, cursor->cpu, cursor->in_gap);
}

static int step_event(struct walk *walk, struct cursor *cursor)
{
	const struct hyper_event *event = &cursor->decoded->events[cursor->event];
	const struct host_hypertrace_watch *watch = walk->watch;
	int ret = hyper_guest_take(walk->machine->guest, cursor->cpu,
				   current_call(cursor)->time_ns, event);

	if (!ret && watch->event)
		ret = watch->event(watch->arg, cursor->cpu, event);
	return ret;
}

/** The next event or end of a gap; an event at the end of a gap comes after it. */
static int step(struct walk *walk, struct cursor *cursor)
{
	int64_t key = key_of(cursor);
	int ret;

	if (gap_ns(cursor) == key && (cursor->gap < cursor->n_gaps))
		return step_gap(walk, cursor, key);
	cursor->last_ns = key;
	ret = step_event(walk, cursor);
	if (!ret && ++cursor->event == cursor->decoded->n)
		ret = decode_next(walk, cursor);
	return ret;
}

/* --- all of a machine ------------------------------------------------------------------------ */

static bool comes_before(struct cursor *const *a, struct cursor *const *b)
{
	int64_t x = key_of(*a), y = key_of(*b);

	return x != y ? x < y : (*a)->cpu < (*b)->cpu;
}

static bool is_through(const struct cursor *cursor)
{
	return !has_event(cursor) && cursor->gap == cursor->n_gaps;
}

/** Where the model knows nothing because records are lost; not before it knows the vCPU. */
static int find_gaps(const struct virt_model *model, struct cursor *cursor)
{
	struct virt_interval_range range = virt_vcpu_intervals(model, cursor->vcpu, INT64_MIN,
							       INT64_MAX);

	for (size_t i = 1; i < range.n && virt_model_losses(model).n; i++) {
		int64_t from_ns = range.first[i].start_ns;
		int64_t to_ns = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		if (!virt_interval_is_lost(&range.first[i]) ||
		    !virt_model_loss_in(model, from_ns, to_ns))
			continue;
		if (ARRAY_GROW(cursor->gaps, cursor->n_gaps, cursor->room))
			return -ENOMEM;
		cursor->gaps[cursor->n_gaps++] = (struct gap){ from_ns, to_ns };
	}
	return 0;
}

static int begin_cursor(struct walk *walk, struct cursor *cursor, int32_t cpu)
{
	const struct virt_model *model = walk->trace->model;
	struct virt_exit exit;
	int ret;

	cursor->cpu = cpu;
	cursor->vcpu = host_hypertrace_vcpu(walk->trace, walk->machine->machine, cpu);
	cursor->last_ns = INT64_MIN;
	cursor->has_exits = virt_vcpu_next_exit(model, cursor->vcpu, INT64_MIN, &exit);
	cursor->calls = host_hypercalls_of(walk->trace->calls,
					   virt_model_vcpu(model, cursor->vcpu)->host_pid,
					   &cursor->n_calls);
	/* of very many vCPUs, most say nothing */
	cursor->decoded = cursor->n_calls ? calloc(1, sizeof(*cursor->decoded)) : NULL;
	ret = cursor->n_calls && !cursor->decoded ? -ENOMEM :
	      cursor->n_calls ? decode_next(walk, cursor) : 0;
	return ret ? ret : find_gaps(model, cursor);
}

static int begin_walk(struct walk *walk, const struct virt_machine *machine)
{
	int32_t *numbers = calloc((size_t)machine->n_vcpus + 1, sizeof(*numbers));
	int ret = 0;

	walk->cursors = calloc((size_t)machine->n_vcpus + 1, sizeof(*walk->cursors));
	walk->heap = calloc((size_t)machine->n_vcpus + 1, sizeof(*walk->heap));
	walk->decoder = hyper_decoder_new(walk->machine->dialect, walk->machine->tally.khz);
	for (int32_t cpu = 0; numbers && cpu < machine->n_vcpus; cpu++)
		numbers[cpu] = virt_model_vcpu(walk->trace->model, machine->vcpus[cpu])->id;
	if (numbers)
		walk->machine->guest = hyper_guest_new(machine->n_vcpus, numbers);
	free(numbers);
	if (!walk->cursors || !walk->heap || !walk->decoder || !walk->machine->guest)
		return -ENOMEM;
	for (int32_t cpu = 0; cpu < machine->n_vcpus && !ret; cpu++) {
		struct cursor *cursor = &walk->cursors[walk->n++];

		ret = begin_cursor(walk, cursor, cpu);
		if (ret || is_through(cursor))
			continue;
		walk->heap[walk->n_heap++] = cursor;
		HEAP_UP(walk->heap, walk->n_heap - 1, comes_before);
	}
	return ret;
}

static void end_walk(struct walk *walk)
{
	for (size_t i = 0; i < walk->n; i++) {
		free(walk->cursors[i].decoded);
		free(walk->cursors[i].gaps);
	}
	free(walk->cursors);
	free(walk->heap);
	hyper_decoder_free(walk->decoder);
}

static int make_guest(const struct host_hypertrace *trace, struct host_hypertrace_machine *machine,
		      int64_t from_ns, int64_t to_ns, const struct host_hypertrace_watch *watch)
{
	struct walk walk = {
		.trace = trace, .machine = machine, .watch = watch,
		.from_ns = from_ns, .to_ns = to_ns,
	};
	int ret = begin_walk(&walk, virt_model_machine(trace->model, machine->machine));

	while (!ret && walk.n_heap) {
		ret = step(&walk, walk.heap[0]);
		if (is_through(walk.heap[0]))
			walk.heap[0] = walk.heap[--walk.n_heap];
		if (walk.n_heap)
			HEAP_DOWN(walk.heap, walk.n_heap, 0, comes_before);
	}
	end_walk(&walk);
	return ret ? ret : hyper_guest_finish(machine->guest, virt_model_end(trace->model));
}

/** Count also the calls that no dialect explains. */
static int count_unknown(const struct host_hypertrace *trace,
			 struct host_hypertrace_machine *machine, int64_t from_ns, int64_t to_ns)
{
	const struct virt_machine *info = virt_model_machine(trace->model, machine->machine);
	int ret = 0;

	for (int32_t cpu = 0; cpu < info->n_vcpus; cpu++) {
		int32_t vcpu = host_hypertrace_vcpu(trace, machine->machine, cpu);
		size_t n;
		const struct hyper_call *calls = host_hypercalls_of(trace->calls,
			virt_model_vcpu(trace->model, vcpu)->host_pid, &n);

		for (size_t i = 0; i < n && !ret; i++) {
			enum hyper_result result = hyper_result_of(&calls[i]);

			if (calls[i].time_ns < from_ns || calls[i].time_ns >= to_ns)
				continue;
			machine->results[result]++;
			ret = count_number(machine, &calls[i], result);
		}
	}
	return ret;
}

int host_hypertrace_guest(struct host_hypertrace *trace, int32_t machine,
			  const struct host_hypertrace_watch *watch)
{
	return make_guest(trace, &trace->machines[machine], INT64_MIN, INT64_MAX, watch);
}

int host_hypertrace_guests(struct host_hypertrace *trace, int64_t from_ns, int64_t to_ns)
{
	static const struct host_hypertrace_watch nobody;
	int ret = 0;

	for (int32_t m = 0; m < trace->n_machines && !ret; m++) {
		struct host_hypertrace_machine *machine = &trace->machines[m];

		if (machine->tally.calls && machine->dialect)
			ret = make_guest(trace, machine, from_ns, to_ns, &nobody);
		else if (machine->tally.calls)
			ret = count_unknown(trace, machine, from_ns, to_ns);
	}
	return ret;
}

int32_t host_hypertrace_vcpu(const struct host_hypertrace *trace, int32_t machine, int32_t cpu)
{
	return virt_model_machine(trace->model, machine)->vcpus[cpu];
}

static int64_t state_ns(const struct host_hypertrace_time *time, int32_t cpu, int64_t from_ns,
			int64_t to_ns, enum virt_state state)
{
	struct virt_totals totals;

	virt_vcpu_totals(time->trace->model,
			 host_hypertrace_vcpu(time->trace, time->machine, cpu), from_ns, to_ns,
			 &totals);
	return totals.ns[state];
}

int64_t host_hypertrace_true_ns(void *arg, int32_t cpu, int64_t from_ns, int64_t to_ns)
{
	return state_ns(arg, cpu, from_ns, to_ns, VIRT_GUEST);
}

int64_t host_hypertrace_unknown_ns(void *arg, int32_t cpu, int64_t from_ns, int64_t to_ns)
{
	return state_ns(arg, cpu, from_ns, to_ns, VIRT_UNKNOWN);
}
