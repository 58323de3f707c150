// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_functions.c
 * @brief	Calls of functions, from the records of ftrace's tracers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hash_bytes.h"
#include "host_functions.h"
#include "record_gaps.h"

/** An end whose call began this much later than the one that is open is that of another call. */
#define SLACK_NS	10000

/** What a record is: Linux's kernel/trace/trace_entries.h; ENTRY_FROM since 6.13. */
enum event_kind { CALL, ENTRY, ENTRY_FROM, EXIT, N_EVENT_KINDS };

static const char *const event_names[N_EVENT_KINDS] = {
	[CALL] = "function", [ENTRY] = "funcgraph_entry",
	[ENTRY_FROM] = "fgraph_retaddr_entry", [EXIT] = "funcgraph_exit",
};

/** A call that has not ended. */
struct frame {
	int64_t		start_ns;
	int64_t		child_ns;	/* of the calls in it */
	int64_t		ns[HOST_N_FUNCTION_TIMES];	/* of its task, when it began */
	size_t		segment;
	uint32_t	doubts;		/* the same */
	uint32_t	function;
	uint32_t	by_task, by_cpu; /* its sums, if it is counted */
	int32_t		depth;
	bool		is_counted;
	bool		lacks_child;	/* the duration of a call in it is unknown */
};

/** A task; the idle task of each CPU is one, and what is not known to be another. */
struct task {
	struct frame	*frames;	/* the innermost last */
	uint32_t	n, room;
	uint32_t	doubts;		/* how often a switch was missing */
	int32_t		cpu;		/* that it has; VIRT_NONE: none */
	int64_t		since_ns;	/* then, @ns was right */
	int64_t		ns[HOST_N_FUNCTION_TIMES];
	bool		is_known;
};

/** Tasks by their numbers; below 0: unknown. */
struct cpu {
	int64_t		has, left;	/* @left may still write records after a switch */
};

struct reading {
	struct host_functions *functions;
	const struct host_functions_from *from;
	int32_t		ids[N_EVENT_KINDS];
	struct record_gaps gaps;
	bool		knows_gaps;	/* @gaps are those of all of the trace */
	struct key_map	task_map;
	struct task	*tasks;
	uint32_t	room_tasks;
	struct cpu	*cpus;
	int64_t		*last_ns;	/* by CPU */
	int64_t		begin_ns;	/* of the trace */
};

/** A record. */
struct event {
	int64_t		time_ns, duration_ns;	/* VIRT_NONE: unknown */
	size_t		segment;
	uint32_t	function;
	int32_t		pid, depth;
	int16_t		cpu;
};

/** The fields of a record that matter. */
struct fields {
	uint64_t	address, begun, ended;
	const char	*name;
	size_t		n_name;
	int32_t		depth;
	bool		has_begun, has_ended, has_depth;
};

/** A file may claim any durations: a sum that is too large for its type is the largest there is. */
static void add_ns(int64_t *sum, int64_t ns)
{
	if (__builtin_add_overflow(*sum, ns, sum))
		*sum = INT64_MAX;
}

void host_function_calls_add(struct host_function_calls *sum,
			     const struct host_function_calls *calls)
{
	sum->calls += calls->calls;
	sum->complete += calls->complete;
	add_ns(&sum->total_ns, calls->total_ns);
	sum->max_ns = calls->max_ns > sum->max_ns ? calls->max_ns : sum->max_ns;
	sum->owned += calls->owned;
	add_ns(&sum->own_ns, calls->own_ns);
	sum->timed += calls->timed;
	for (int i = 0; i < HOST_N_FUNCTION_TIMES; i++)
		add_ns(&sum->ns[i], calls->ns[i]);
}

/* --- functions and their sums ---------------------------------------------------------------- */

/** Return: its number, or -ENOMEM. */
static int64_t function_of(struct host_functions *functions, const struct fields *fields)
{
	uint64_t key = fields->address ? fields->address :
		       hash_bytes(HASH_BYTES_NONE, fields->name, fields->n_name);
	int64_t i = KEY_MAP_ELEMENT(&functions->map, key, functions->functions, functions->room);
	struct host_function *function = i < 0 ? NULL : &functions->functions[i];

	if (!function || function->address || function->name)
		return i;
	function->address = fields->address;
	if (!fields->address)
		function->name = strndup(fields->name, fields->n_name);
	return fields->address || function->name ? i : -ENOMEM;
}

/** Return: the number of the sum, or -ENOMEM. */
static int64_t sum_of(struct host_function_sums *sums, uint32_t function, int32_t who)
{
	int64_t i = KEY_MAP_ELEMENT(&sums->map, (uint64_t)function << 32 | (uint32_t)who, sums->all,
				    sums->room);

	if (i < 0)
		return i;
	sums->all[i].function = function;
	sums->all[i].who = who;
	return i;
}

/** Count a call that begins in the window, and say where. Return: 0 or -ENOMEM. */
static int count(struct reading *reading, enum host_function_tracer tracer,
		 const struct event *event, struct frame *frame)
{
	struct host_function_sums *by_task = &reading->functions->tracers[tracer].by_task;
	struct host_function_sums *by_cpu = &reading->functions->tracers[tracer].by_cpu;
	int64_t task = sum_of(by_task, event->function, event->pid);
	int64_t cpu = sum_of(by_cpu, event->function, event->cpu);

	if (task < 0 || cpu < 0)
		return -ENOMEM;
	by_task->all[task].calls.calls++;
	by_cpu->all[cpu].calls.calls++;
	frame->by_task = (uint32_t)task;
	frame->by_cpu = (uint32_t)cpu;
	frame->is_counted = true;
	return 0;
}

/** A call that was counted has ended: @calls is about it alone. */
static void complete(struct reading *reading, const struct frame *frame,
		     const struct host_function_calls *calls)
{
	struct host_functions *functions = reading->functions;

	host_function_calls_add(&functions->tracers[HOST_FUNCTION_GRAPH].by_task
				.all[frame->by_task].calls, calls);
	host_function_calls_add(&functions->tracers[HOST_FUNCTION_GRAPH].by_cpu
				.all[frame->by_cpu].calls, calls);
}

static bool begins_in(const struct reading *reading, int64_t time_ns)
{
	return time_ns >= reading->from->from_ns && time_ns < reading->from->to_ns;
}

/* --- who has a CPU --------------------------------------------------------------------------- */

/** Return: the number of a task, or -ENOMEM. */
static int64_t task_of(struct reading *reading, int32_t pid, int cpu)
{
	uint64_t key = pid > 0 ? (uint32_t)pid : (UINT64_C(1) << (pid ? 33 : 32)) | (uint32_t)cpu;
	int64_t i = KEY_MAP_ELEMENT(&reading->task_map, key, reading->tasks, reading->room_tasks);

	if (i >= 0 && !reading->tasks[i].is_known) {
		reading->tasks[i].cpu = VIRT_NONE;
		reading->tasks[i].is_known = true;
	}
	return i;
}

/** The vCPU that a CPU of a guest is. */
static int32_t vcpu_of(const struct host_functions_from *from, int cpu)
{
	return from->vcpus && cpu < from->n_vcpus ? from->vcpus[cpu] : VIRT_NONE;
}

/** Bring the times of a task up to date. */
static void go_on(const struct reading *reading, struct task *task, int64_t time_ns)
{
	const struct host_functions_from *from = reading->from;
	int64_t passed_ns, known_ns = 0;
	int32_t vcpu;

	if (task->cpu == VIRT_NONE ||
	    __builtin_sub_overflow(time_ns, task->since_ns, &passed_ns) || passed_ns <= 0)
		return;
	vcpu = vcpu_of(from, task->cpu);
	add_ns(&task->ns[HOST_FUNCTION_ON_CPU], passed_ns);
	if (vcpu != VIRT_NONE) {
		struct virt_totals totals;

		virt_vcpu_totals(from->model, vcpu, task->since_ns, time_ns, &totals);
		for (int state = 0; state < VIRT_N_STATES; state++)
			known_ns += state == VIRT_UNKNOWN ? 0 : totals.ns[state];
		add_ns(&task->ns[HOST_FUNCTION_TRUE], totals.ns[VIRT_GUEST]);
	}
	add_ns(&task->ns[HOST_FUNCTION_UNKNOWN], passed_ns - known_ns);
	task->since_ns = time_ns;
}

static void leave_cpu(struct reading *reading, int64_t number, int64_t time_ns)
{
	struct task *task = number < 0 ? NULL : &reading->tasks[number];

	if (!task)
		return;
	go_on(reading, task, time_ns);
	task->cpu = VIRT_NONE;
}

static void reach_cpu(struct reading *reading, int64_t number, int cpu, int64_t time_ns)
{
	struct task *task = &reading->tasks[number];

	/* it has another one, or left it without a record */
	if (task->cpu != VIRT_NONE) {
		reading->cpus[task->cpu].has = -1;
		leave_cpu(reading, number, time_ns);
		task->doubts++;
	}
	task->cpu = cpu;
	task->since_ns = time_ns;
	reading->cpus[cpu].has = number;
}

/**
 * A record of a task shows that it has the CPU. Between the record of a switch and the switch
 * itself, the old task calls functions.
 */
static void see(struct reading *reading, int64_t number, int cpu, int64_t time_ns)
{
	struct cpu *at = &reading->cpus[cpu];

	if (at->has == number) {
		at->left = -1;
		go_on(reading, &reading->tasks[number], time_ns);
		return;
	}
	if (at->left == number)
		return;
	if (at->has >= 0)
		reading->tasks[at->has].doubts++;
	leave_cpu(reading, at->has, time_ns);
	reading->tasks[number].doubts++;
	reach_cpu(reading, number, cpu, time_ns);
}

/** Return: 0 or -ENOMEM. */
static int switch_to(struct reading *reading, int64_t number, int32_t next_pid, int cpu,
		     int64_t time_ns)
{
	int64_t next = task_of(reading, next_pid, cpu);

	if (next < 0)
		return -ENOMEM;
	reading->functions->has_switches = true;
	if (next == number)
		return 0;
	leave_cpu(reading, reading->cpus[cpu].has, time_ns);
	reach_cpu(reading, next, cpu, time_ns);
	reading->cpus[cpu].left = number;
	return 0;
}

/* --- calls ----------------------------------------------------------------------------------- */

/** The innermost call will have no end in the trace. */
static void drop(struct task *task)
{
	task->n--;
	if (task->n)
		task->frames[task->n - 1].lacks_child = true;
}

static int enter(struct reading *reading, struct task *task, const struct event *event)
{
	struct frame *frame;

	while (task->n && task->frames[task->n - 1].depth >= event->depth)
		drop(task);
	if (ARRAY_GROW(task->frames, task->n, task->room))
		return -ENOMEM;
	frame = &task->frames[task->n++];
	*frame = (struct frame){
		.start_ns = event->time_ns, .segment = event->segment, .doubts = task->doubts,
		.function = event->function, .depth = event->depth,
	};
	memcpy(frame->ns, task->ns, sizeof(frame->ns));
	return begins_in(reading, event->time_ns) ?
	       count(reading, HOST_FUNCTION_GRAPH, event, frame) : 0;
}

/** When a call has begun, by its end alone. */
static int64_t begin_of(const struct event *event)
{
	int64_t begin_ns;

	return __builtin_sub_overflow(event->time_ns, event->duration_ns, &begin_ns) ||
	       begin_ns < INT64_MIN + SLACK_NS ? INT64_MIN + SLACK_NS : begin_ns;
}

/** Is the end one of the call that is open? Where records are missing, it may be a later one's. */
static bool is_end_of(const struct frame *frame, const struct event *event)
{
	return frame->depth == event->depth && frame->function == event->function &&
	       (frame->segment == event->segment || event->duration_ns == VIRT_NONE ||
		begin_of(event) - SLACK_NS <= frame->start_ns);
}

/** What is known of a call that ends. @frame: has its beginning, or is not counted yet */
static struct host_function_calls describe(const struct task *task, const struct frame *frame,
					   const struct event *event)
{
	struct host_function_calls calls = {
		.complete = 1, .total_ns = event->duration_ns, .max_ns = event->duration_ns,
	};
	bool is_whole = frame && frame->segment == event->segment &&
			!record_gaps_is_gap(event->segment);

	if (is_whole && !frame->lacks_child && frame->child_ns <= event->duration_ns) {
		calls.owned = 1;
		calls.own_ns = event->duration_ns - frame->child_ns;
	}
	if (is_whole && frame->doubts == task->doubts) {
		calls.timed = 1;
		for (int i = 0; i < HOST_N_FUNCTION_TIMES; i++)
			calls.ns[i] = task->ns[i] - frame->ns[i];
	}
	return calls;
}

/** The beginning is missing. Return: 0 or -ENOMEM. */
static int leave_alone(struct reading *reading, struct task *task, const struct event *event)
{
	int64_t start_ns = begin_of(event);
	struct host_function_calls calls = describe(task, NULL, event);
	struct frame frame = { .is_counted = false };
	int ret = 0;

	if (start_ns < reading->begin_ns)
		reading->functions->tracers[HOST_FUNCTION_GRAPH].before +=
			begins_in(reading, event->time_ns);
	else if (begins_in(reading, start_ns))
		ret = count(reading, HOST_FUNCTION_GRAPH, event, &frame);
	if (frame.is_counted)
		complete(reading, &frame, &calls);
	return ret;
}

static int leave(struct reading *reading, struct task *task, const struct event *event)
{
	const struct frame *frame;
	int ret = 0;

	while (task->n && task->frames[task->n - 1].depth > event->depth)
		drop(task);
	frame = task->n ? &task->frames[task->n - 1] : NULL;
	if (frame && frame->depth == event->depth && !is_end_of(frame, event)) {
		drop(task);
		frame = NULL;
	} else if (frame && frame->depth < event->depth) {
		frame = NULL;
	}
	if (frame && event->duration_ns == VIRT_NONE) {
		drop(task);
		return 0;
	}
	if (frame && frame->is_counted) {
		const struct host_function_calls calls = describe(task, frame, event);

		complete(reading, frame, &calls);
	}
	if (frame)
		task->n--;
	else if (event->duration_ns != VIRT_NONE)
		ret = leave_alone(reading, task, event);
	if (task->n && event->duration_ns != VIRT_NONE)
		add_ns(&task->frames[task->n - 1].child_ns, event->duration_ns);
	return ret;
}

/* --- records --------------------------------------------------------------------------------- */

static void take_field(struct fields *fields, const struct kvm_line_field *field)
{
	const char *name = field->name;

	if (field->text && !strcmp(name, "text")) {
		/* the text of ftrace: "schedule <-do_nanosleep" */
		fields->name = field->text;
		fields->n_name = strcspn(field->text, " ");
	} else if (field->text) {
		return;
	} else if (!strcmp(name, "ip") || !strcmp(name, "func")) {
		fields->address = field->value;
	} else if (!strcmp(name, "depth")) {
		fields->depth = (int32_t)field->value;
		fields->has_depth = true;
	} else if (!strcmp(name, "calltime")) {
		fields->begun = field->value;
		fields->has_begun = true;
	} else if (!strcmp(name, "rettime")) {
		fields->ended = field->value;
		fields->has_ended = true;
	}
}

static int take_call(struct reading *reading, enum event_kind kind, int64_t number,
		     const struct kvm_trace_line *line, struct event *event)
{
	enum host_function_tracer tracer = kind == CALL ? HOST_FUNCTION : HOST_FUNCTION_GRAPH;
	struct fields fields = { .has_depth = false };
	struct kvm_line_field field;
	struct frame nowhere;
	int64_t function;
	size_t at = 0;

	while (kvm_line_field(&line->line, &at, &field))
		take_field(&fields, &field);
	if ((!fields.address && !fields.n_name) || (kind != CALL && !fields.has_depth))
		return 0;
	function = function_of(reading->functions, &fields);
	if (function < 0)
		return -ENOMEM;
	reading->functions->tracers[tracer].records++;
	event->function = (uint32_t)function;
	event->depth = fields.depth;
	event->duration_ns = fields.has_begun && fields.has_ended &&
			     fields.begun <= fields.ended &&
			     fields.ended - fields.begun <= INT64_MAX / 2 ?
			     (int64_t)(fields.ended - fields.begun) : VIRT_NONE;
	if (kind == CALL)
		return begins_in(reading, event->time_ns) ?
		       count(reading, tracer, event, &nowhere) : 0;
	return (kind == EXIT ? leave : enter)(reading, &reading->tasks[number], event);
}

/** Records before this one are missing. */
static void take_loss(struct reading *reading, const struct kvm_trace_line *line, int64_t time_ns)
{
	const struct host_functions_from *from = reading->from;
	int64_t since_ns = reading->last_ns[line->cpu];

	if (since_ns >= from->to_ns || time_ns < from->from_ns)
		return;
	/* of a gap at the edge, it is unknown how much of it is in the window */
	if (!line->missing || since_ns < from->from_ns || time_ns >= from->to_ns)
		reading->functions->uncounted = true;
	else
		reading->functions->lost += line->missing;
}

static int take_line(void *arg, const struct kvm_trace_line *line, int64_t time_ns)
{
	struct reading *reading = arg;
	struct event event = {
		.time_ns = time_ns, .pid = line->pid, .cpu = line->cpu,
		.segment = reading->knows_gaps ?
			   record_gaps_segment(&reading->gaps, time_ns) : 0,
	};
	int64_t number = task_of(reading, line->pid, line->cpu);
	int kind = 0, ret = 0;

	if (number < 0)
		return -ENOMEM;
	if (reading->begin_ns == INT64_MIN)
		reading->begin_ns = time_ns;
	if (line->has_lost)
		take_loss(reading, line, time_ns);
	reading->last_ns[line->cpu] = time_ns;
	if (line->pid < 0)
		reading->tasks[number].doubts++;
	else
		see(reading, number, line->cpu, time_ns);
	while (kind < N_EVENT_KINDS && reading->ids[kind] != line->event)
		kind++;
	if (kind < N_EVENT_KINDS)
		ret = take_call(reading, (enum event_kind)kind, number, line, &event);
	if (!ret && line->next_pid != VIRT_NONE)
		ret = switch_to(reading, number, line->next_pid, line->cpu, time_ns);
	return ret;
}

static bool wants_event(void *arg, int32_t event, const char *system, const char *name)
{
	struct reading *reading = arg;
	int kind = 0;

	if (strcmp(system, "ftrace") != 0)
		return false;
	while (kind < N_EVENT_KINDS && strcmp(name, event_names[kind]) != 0)
		kind++;
	if (kind == N_EVENT_KINDS)
		return false;
	reading->ids[kind] = event;
	return true;
}

/* --- a trace --------------------------------------------------------------------------------- */

static int begin(struct reading *reading)
{
	size_t n = (size_t)kvm_trace_n_cpus(reading->from->trace);

	reading->begin_ns = INT64_MIN;
	reading->cpus = malloc((n + 1) * sizeof(*reading->cpus));
	reading->last_ns = malloc((n + 1) * sizeof(*reading->last_ns));
	if (!reading->cpus || !reading->last_ns)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		reading->cpus[i] = (struct cpu){ -1, -1 };
		reading->last_ns[i] = INT64_MIN;
	}
	for (int kind = 0; kind < N_EVENT_KINDS; kind++)
		reading->ids[kind] = VIRT_NONE;
	return 0;
}

static void end(struct reading *reading)
{
	for (uint32_t i = 0; i < reading->task_map.n_keys; i++)
		free(reading->tasks[i].frames);
	key_map_destroy(&reading->task_map);
	free(reading->tasks);
	free(reading->cpus);
	free(reading->last_ns);
}

/** @gaps: receives those of the trace; to be given to record_gaps_free() in any case */
static int read_once(struct host_functions *functions, const struct host_functions_from *from,
		     const struct record_gaps *known, struct record_gaps *gaps)
{
	struct reading reading = { .functions = functions, .from = from, .knows_gaps = known };
	const struct record_walk walk = {
		.wants = wants_event, .take = take_line, .arg = &reading,
		.time = from->time, .time_arg = from->time_arg,
	};
	int ret = begin(&reading);

	*functions = (struct host_functions){ .lost = 0 };
	if (known)
		reading.gaps = *known;
	if (!ret)
		ret = record_gaps_walk(gaps, from->trace, &walk);
	end(&reading);
	return ret;
}

int host_functions_read(struct host_functions *functions, const struct host_functions_from *from)
{
	struct record_gaps gaps = { .n = 0 }, again = { .n = 0 };
	int ret = read_once(functions, from, NULL, &gaps);

	/* a gap is known when it ends; what other CPUs did since it began is doubtful */
	if (!ret && gaps.n) {
		host_functions_free(functions);
		ret = read_once(functions, from, &gaps, &again);
	}
	record_gaps_free(&gaps);
	record_gaps_free(&again);
	return ret;
}

static void free_sums(struct host_function_sums *sums)
{
	key_map_destroy(&sums->map);
	free(sums->all);
}

void host_functions_free(struct host_functions *functions)
{
	for (uint32_t i = 0; i < functions->map.n_keys; i++)
		free(functions->functions[i].name);
	key_map_destroy(&functions->map);
	free(functions->functions);
	for (int i = 0; i < HOST_N_FUNCTION_TRACERS; i++) {
		free_sums(&functions->tracers[i].by_task);
		free_sums(&functions->tracers[i].by_cpu);
	}
	*functions = (struct host_functions){ .lost = 0 };
}
