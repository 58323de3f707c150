// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_modes.c
 * @brief	Find what tasks of a host spend their time on pCPUs on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seccomp.h>

#include "array.h"
#include "hash_bytes.h"
#include "host_modes.h"
#include "time_sort.h"
#include "trace_dat.h"
#include "virt_handlers.h"
#include "virt_window.h"

/** Linux's arch/x86/include/asm/trace/exceptions.h: a task's faults are of both kinds. */
#define USER_FAULT	"page_fault_user"
#define KERNEL_FAULT	"page_fault_kernel"

/** Room for the name of a system call. */
#define CALL_NAME	64

/** What a record says about modes. */
enum mode_event {
	MODE_RUN,		/* value: pid of the task that has the pCPU; VIRT_NONE: unknown */
	MODE_SWITCH,		/* the same, and no handler is at work */
	MODE_END,		/* the pCPU has no more records */
	MODE_ENTER,		/* value: a handler begins, of this enum host_mode */
	MODE_EXIT,		/* value: a handler ends, of this enum host_mode */
	MODE_WHOLE,		/* value: ns of a handler that has just ended */
	MODE_CALL,		/* value: a system call begins */
	MODE_CALL_END,		/* value: a system call ends */
	MODE_FAULT,
};

struct host_mode_event {
	int64_t		time_ns;
	int32_t		value;
	int16_t		cpu;
	uint8_t		kind;		/* enum mode_event */
};

/** What records of an event say; MODE_RUN: nothing. */
struct host_mode_kind {
	uint8_t		kind;		/* enum mode_event */
	bool		by_number;	/* the record has the number of the system call */
	bool		in_kernel;	/* of a page fault */
	int32_t		call;		/* else: the system call, or VIRT_NONE */
};

/* --- system calls ---------------------------------------------------------------------------- */

/** Events that only kernels of x86 have: arch/x86/kvm/trace.h, irq_vectors.h and fpu.h there. */
static bool is_of_x86(void *arg, int32_t event, const char *system, const char *name)
{
	static const char *const names[] = {
		"kvm_apic", "kvm_cpuid", "kvm_cr", "kvm_emulate_insn", "kvm_inj_virq", "kvm_msr",
		"kvm_nested_vmexit", "kvm_pio", "kvm_write_tsc_offset",
	};

	(void)arg;
	(void)event;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return !strcmp(system, "irq_vectors") || !strcmp(system, "x86_fpu");
}

bool host_modes_is_x86(const struct kvm_trace *trace)
{
	char uname[TRACE_DAT_UNAME];
	const char *machine;

	if (kvm_trace_has_event(trace, is_of_x86, NULL))
		return true;
	trace_dat_uname(kvm_trace_path(trace), uname);
	machine = strrchr(uname, ' ');
	return machine && !strcmp(machine + 1, "x86_64");
}

/** Return: the number of a system call by its name, or -ENOMEM. */
static int32_t call_of(struct host_modes *modes, const char *name)
{
	uint64_t key = hash_text(name);
	int64_t number;
	char *copy;

	/* another name may have that key */
	while ((number = key_map_find(&modes->call_map, key)) >= 0 &&
	       strcmp(modes->calls[number].name, name) != 0)
		key++;
	if (number >= 0)
		return (int32_t)number;
	copy = strdup(name);
	number = copy ? KEY_MAP_ELEMENT(&modes->call_map, key, modes->calls, modes->room_calls) :
		 -ENOMEM;
	if (number < 0) {
		free(copy);
		return -ENOMEM;
	}
	modes->calls[number].name = copy;
	return (int32_t)number;
}

/** A number is that of another system call on each architecture. */
static int32_t call_of_number(struct host_modes *modes, int64_t number)
{
	char text[CALL_NAME], *name = NULL;
	int32_t call;

	if (number < 0)
		return VIRT_NONE;
	if (modes->is_x86 && number <= INT32_MAX)
		name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_X86_64, (int)number);
	if (!name)
		snprintf(text, sizeof(text), "system call %lld", (long long)number);
	call = call_of(modes, name ? name : text);
	free(name);
	return call;
}

/* --- events ---------------------------------------------------------------------------------- */

static const char *after_prefix(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(name, prefix, n) ? NULL : name + n;
}

static int look_up_named(struct host_modes *modes, struct host_mode_kind *kind, const char *name)
{
	static const char *const begins[] = { "sys_enter_", "compat_sys_enter_" };
	static const char *const ends[] = { "sys_exit_", "compat_sys_exit_" };
	const char *call = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(begins) && !call; i++) {
		call = after_prefix(name, begins[i]);
		kind->kind = call ? MODE_CALL : MODE_RUN;
	}
	for (size_t i = 0; i < ARRAY_SIZE(ends) && !call; i++) {
		call = after_prefix(name, ends[i]);
		kind->kind = call ? MODE_CALL_END : MODE_RUN;
	}
	if (!call && !strcmp(name, "sys_exit"))
		kind->kind = MODE_CALL_END;
	kind->call = call ? call_of(modes, call) : VIRT_NONE;
	return kind->call == -ENOMEM ? -ENOMEM : 0;
}

static int look_up(struct host_modes *modes, struct host_mode_kind *kind,
		   const struct kvm_trace_record *record)
{
	const char *system = kvm_trace_system(modes->trace, record->event);
	const char *name = kvm_trace_event(modes->trace, record->event);

	kind->call = VIRT_NONE;
	if (!system || !name)
		return 0;
	if (record->injection == KVM_TRACE_SYSCALL || record->injection == KVM_TRACE_SYSCALL_END) {
		kind->kind = record->injection == KVM_TRACE_SYSCALL ? MODE_CALL : MODE_CALL_END;
		kind->by_number = true;
		return 0;
	}
	if (!strcmp(system, "exceptions") &&
	    (!strcmp(name, USER_FAULT) || !strcmp(name, KERNEL_FAULT))) {
		kind->kind = MODE_FAULT;
		kind->in_kernel = !strcmp(name, KERNEL_FAULT);
	}
	return strcmp(system, "syscalls") ? 0 : look_up_named(modes, kind, name);
}

/** Return: NULL without memory. */
static const struct host_mode_kind *kind_of(struct host_modes *modes,
					    const struct kvm_trace_record *record)
{
	uint32_t before = modes->kind_map.n_keys;
	int64_t i = KEY_MAP_ELEMENT(&modes->kind_map, (uint32_t)record->event, modes->kinds,
				    modes->room_kinds);

	if (i < 0 || (i == before && look_up(modes, &modes->kinds[i], record)))
		return NULL;
	return &modes->kinds[i];
}

static int32_t call_of_record(struct host_modes *modes, const struct host_mode_kind *kind,
			      const struct kvm_trace_record *record)
{
	return kind->by_number ? call_of_number(modes, (int64_t)record->number) : kind->call;
}

int32_t host_modes_call(struct host_modes *modes, const struct kvm_trace_record *record)
{
	const struct host_mode_kind *kind = kind_of(modes, record);

	if (!kind)
		return -ENOMEM;
	return kind->kind == MODE_CALL || kind->kind == MODE_CALL_END ?
	       call_of_record(modes, kind, record) : VIRT_NONE;
}

static int add(struct host_modes *modes, const struct host_mode_event *event)
{
	if (ARRAY_GROW(modes->all, modes->n, modes->room))
		return -ENOMEM;
	modes->all[modes->n++] = *event;
	return 0;
}

/** trace-cmd corrects the clock of a CPU by steps, which may lead back. */
static int64_t not_before_last(const struct host_modes *modes, int cpu, int64_t time_ns)
{
	const struct host_mode_event *last = modes->n ? &modes->all[modes->n - 1] : NULL;

	return last && last->cpu == cpu && time_ns < last->time_ns ? last->time_ns : time_ns;
}

/** A record shows that beginnings of its kind are recorded, or ends, or both. */
static void note_handler(struct host_modes *modes, const struct kvm_handler_event *handler)
{
	bool begins = handler->edge != KVM_HANDLER_EXIT, ends = handler->edge != KVM_HANDLER_ENTRY;

	switch (handler->kind) {
	case VIRT_HANDLER_IRQ:
		modes->irq_begins |= begins;
		modes->irq_ends |= ends;
		break;
	case VIRT_HANDLER_VECTOR:
		modes->vector_begins |= begins;
		modes->vector_ends |= ends;
		break;
	case VIRT_HANDLER_SOFTIRQ:
		modes->softirq_begins |= begins;
		modes->softirq_ends |= ends;
		break;
	default:
		break;
	}
}

static int take_handler(struct host_modes *modes, const struct kvm_handler_event *handler,
			struct host_mode_event *event)
{
	bool is_soft = handler->kind == VIRT_HANDLER_SOFTIRQ;

	/* a timer runs in another handler */
	if (handler->is_timer)
		return 0;
	note_handler(modes, handler);
	event->value = is_soft ? HOST_MODE_SOFTIRQ : HOST_MODE_INTERRUPT;
	event->kind = handler->edge == KVM_HANDLER_ENTRY ? MODE_ENTER : MODE_EXIT;
	if (handler->edge == KVM_HANDLER_WHOLE) {
		if (handler->ns <= 0 || handler->ns > INT32_MAX)
			return 0;
		event->kind = MODE_WHOLE;
		event->value = (int32_t)handler->ns;
	}
	return add(modes, event);
}

int host_modes_take(struct host_modes *modes, const struct kvm_trace_record *record,
		    int64_t time_ns)
{
	struct host_mode_event event = {
		.time_ns = not_before_last(modes, record->cpu, time_ns), .value = VIRT_NONE,
		.cpu = record->cpu,
	};
	const struct host_mode_kind *kind;

	if (record->handler)
		return take_handler(modes, record->handler, &event);
	kind = kind_of(modes, record);
	if (!kind)
		return -ENOMEM;
	if (kind->kind == MODE_RUN)
		return 0;
	event.kind = kind->kind;
	if (kind->kind == MODE_FAULT) {
		*(kind->in_kernel ? &modes->kernel_faults : &modes->user_faults) = true;
		return add(modes, &event);
	}
	event.value = call_of_record(modes, kind, record);
	if (kind->kind == MODE_CALL)
		*(kind->by_number ? &modes->raw_begins : &modes->named_begins) = true;
	else
		*(kind->by_number ? &modes->raw_ends : &modes->named_ends) = true;
	return event.value == -ENOMEM ? -ENOMEM : add(modes, &event);
}

/** In order of time; of the same time, as they came. Return: 0 or -ENOMEM. */
static int sort(struct host_modes *modes)
{
	void *all = modes->all;
	int ret = time_sort(&all, modes->n, sizeof(*modes->all));

	modes->all = all;
	if (!ret)
		modes->room = modes->n;
	return ret;
}

static struct host_mode_event run_event(const struct virt_guest *lives, int c, size_t i)
{
	const struct virt_guest_cpu *cpu = &lives->cpus[c];
	enum mode_event kind = i + 1 == cpu->n ? MODE_END :
			       cpu->runs[i].by_switch ? MODE_SWITCH : MODE_RUN;

	return (struct host_mode_event){
		.time_ns = cpu->runs[i].start_ns, .value = cpu->runs[i].pid, .cpu = (int16_t)c,
		.kind = (uint8_t)kind,
	};
}

/** Does a run of a CPU come before an event? The first record of a run is such an event, too. */
static bool is_before(const struct host_mode_event *run, const struct host_mode_event *event)
{
	return run->time_ns < event->time_ns ||
	       (run->time_ns == event->time_ns && run->kind == MODE_RUN);
}

/** The runs of each CPU among its events. Return: 0 or -ENOMEM. */
static int add_runs(struct host_modes *modes, const struct virt_guest *lives)
{
	struct host_modes merged = { .n = 0 };
	size_t *next = calloc((size_t)lives->n_cpus + 1, sizeof(*next));
	int ret = next ? 0 : -ENOMEM;

	for (size_t i = 0; i < modes->n && !ret; i++) {
		struct host_mode_event *event = &modes->all[i], run;
		int c = event->cpu;

		while (c < lives->n_cpus && next[c] < lives->cpus[c].n && !ret) {
			run = run_event(lives, c, next[c]);
			if (!is_before(&run, event))
				break;
			ret = add(&merged, &run);
			next[c]++;
		}
		if (!ret)
			ret = add(&merged, event);
	}
	for (int c = 0; c < lives->n_cpus && !ret; c++)
		for (; next[c] < lives->cpus[c].n && !ret; next[c]++) {
			const struct host_mode_event run = run_event(lives, c, next[c]);

			ret = add(&merged, &run);
		}
	free(next);
	free(modes->all);
	modes->all = merged.all;
	modes->n = merged.n;
	modes->room = merged.room;
	return ret;
}

/** Counts the system calls that hardly any program does without. */
static bool is_common_call(void *arg, int32_t event, const char *system, const char *name)
{
	static const char *const calls[] = { "read", "write", "futex", "ioctl" };
	const char *call = strcmp(system, "syscalls") ? NULL : after_prefix(name, "sys_enter_");
	size_t *n = arg;

	(void)event;
	for (size_t i = 0; i < ARRAY_SIZE(calls) && call; i++)
		*n += !strcmp(call, calls[i]);
	return *n == ARRAY_SIZE(calls);
}

/**
 * After a system call, a task is in user mode only if each other one would have a record, too: if
 * raw_syscalls was recorded, or all events of syscalls and not some of them.
 */
static bool shows_calls(const struct host_modes *modes)
{
	size_t n_common = 0;

	return (modes->raw_begins && modes->raw_ends) ||
	       (modes->named_begins && modes->named_ends &&
		kvm_trace_has_event(modes->trace, is_common_call, &n_common));
}

/** Counts events of the processor's own interrupts that each kernel of x86 has. */
static bool is_common_vector(void *arg, int32_t event, const char *system, const char *name)
{
	static const char *const vectors[] = {
		"local_timer_entry", "local_timer_exit", "reschedule_entry", "reschedule_exit",
		"call_function_single_entry", "call_function_single_exit",
	};
	size_t *n = arg;

	(void)event;
	for (size_t i = 0; i < ARRAY_SIZE(vectors) && !strcmp(system, "irq_vectors"); i++)
		*n += !strcmp(name, vectors[i]);
	return *n == ARRAY_SIZE(vectors);
}

/**
 * Interrupts of devices are events of irq, the processor's own ones (local timer, IPIs) those of
 * irq_vectors: the time in handlers is that of both.
 */
static bool shows_interrupts(const struct host_modes *modes)
{
	size_t n_common = 0;

	return modes->irq_begins && modes->irq_ends && modes->vector_begins && modes->vector_ends &&
	       kvm_trace_has_event(modes->trace, is_common_vector, &n_common);
}

/** Events without records did not happen, if the trace has their formats. */
static bool shows_faults(const struct host_modes *modes)
{
	const struct kvm_trace *trace = modes->trace;

	return (modes->user_faults || kvm_trace_has_enabled(trace, "exceptions", USER_FAULT)) &&
	       (modes->kernel_faults || kvm_trace_has_enabled(trace, "exceptions", KERNEL_FAULT));
}

int host_modes_end(struct host_modes *modes, const struct virt_guest *lives)
{
	int ret = add_runs(modes, lives);

	modes->has_calls = shows_calls(modes);
	modes->has_interrupts = shows_interrupts(modes);
	modes->has_softirqs = modes->softirq_begins && modes->softirq_ends;
	modes->has_faults = shows_faults(modes);
	return ret ? ret : sort(modes);
}

void host_modes_init(struct host_modes *modes, struct kvm_trace *trace)
{
	*modes = (struct host_modes){
		.trace = trace, .is_x86 = host_modes_is_x86(trace),
	};
}

void host_modes_free(struct host_modes *modes)
{
	for (uint32_t i = 0; i < modes->call_map.n_keys; i++)
		free(modes->calls[i].name);
	key_map_destroy(&modes->call_map);
	key_map_destroy(&modes->kind_map);
	free(modes->calls);
	free(modes->kinds);
	free(modes->all);
	*modes = (struct host_modes){ .n = 0 };
}

/* --- replay ---------------------------------------------------------------------------------- */

/** Instead of a system call. */
enum { CALL_USER = -2, CALL_UNKNOWN = -3 };

/** A pCPU. */
struct place {
	int32_t		pid;		/* VIRT_NONE: unknown */
	int64_t		since_ns;	/* up to then, all time is added up */
	unsigned int	n_hard;		/* handlers of interrupts at work */
	bool		in_softirq;		/* one of softirqs is */
	bool		is_settled;	/* it is known whether that is so */
	bool		is_known;	/* all its records are there */
};

/** A task. */
struct doer {
	int32_t		call;		/* VIRT_NONE: one whose number is unknown */
	size_t		epoch;		/* losses before the last change */
	int64_t		pending_ns;	/* time in the window that the next record explains */
};

struct replay {
	const struct host_modes	*modes;
	const struct virt_model	*model;
	struct host_mode_sums	*sums;
	struct doer		*doers;		/* of the tasks of @sums */
	uint32_t		room_doers;
	struct place		*places;
	int			n_places, n_unknown;
	size_t			epoch;
	int64_t			from_ns, to_ns;
	int			error;
};

static struct host_call_sum *call_sum(struct replay *replay, int32_t pid, int32_t call)
{
	struct host_mode_sums *sums = replay->sums;
	int64_t i = KEY_MAP_ELEMENT(&sums->call_map, (uint64_t)(uint32_t)pid << 32 | (uint32_t)call,
				    sums->calls, sums->room_calls);

	if (i < 0) {
		replay->error = -ENOMEM;
		return NULL;
	}
	sums->calls[i].pid = pid;
	sums->calls[i].call = call;
	return &sums->calls[i];
}

static void add_time(struct replay *replay, int64_t task, enum host_mode mode, int32_t call,
		     int64_t ns)
{
	struct host_call_sum *sum;

	if (!ns)
		return;
	replay->sums->all[task].ns[mode] += ns;
	sum = mode == HOST_MODE_SYSCALL ? call_sum(replay, replay->sums->all[task].pid, call) :
	      NULL;
	if (sum)
		sum->ns += ns;
}

/** The time that was not explained yet has a mode from now on. */
static void explain(struct replay *replay, int64_t task, enum host_mode mode, int32_t call)
{
	struct doer *doer = &replay->doers[task];

	add_time(replay, task, mode, call, doer->pending_ns);
	doer->pending_ns = 0;
}

/** A task, after the losses so far. Return: below 0 without memory. */
static int64_t task_of(struct replay *replay, int32_t pid)
{
	struct host_mode_sums *sums = replay->sums;
	uint32_t before = sums->map.n_keys;
	int64_t task = KEY_MAP_ELEMENT(&sums->map, (uint32_t)pid, sums->all, sums->room);

	if (task < 0 || (task == before &&
			 ARRAY_GROW(replay->doers, before, replay->room_doers))) {
		replay->error = -ENOMEM;
		return -1;
	}
	if (task == before) {
		sums->all[task].pid = pid;
		replay->doers[task] = (struct doer){
			.call = CALL_UNKNOWN, .epoch = replay->epoch,
		};
	} else if (replay->doers[task].epoch != replay->epoch) {
		explain(replay, task, HOST_MODE_UNKNOWN, VIRT_NONE);
		replay->doers[task].call = CALL_UNKNOWN;
		replay->doers[task].epoch = replay->epoch;
	}
	return task;
}

/** How much of [from, to) a vCPU executed its guest. */
static int64_t guest_ns(const struct replay *replay, int32_t pid, int64_t from_ns, int64_t to_ns)
{
	int32_t vcpu = virt_model_find_vcpu(replay->model, pid);
	struct virt_interval_range range;
	int64_t ns = 0;

	if (vcpu == VIRT_NONE)
		return 0;
	range = virt_vcpu_intervals(replay->model, vcpu, from_ns, to_ns);
	for (size_t i = 0; i < range.n; i++) {
		int64_t a = range.first[i].start_ns;
		int64_t b = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		a = a > from_ns ? a : from_ns;
		b = b < to_ns ? b : to_ns;
		if (range.first[i].state == VIRT_GUEST && a < b)
			ns += b - a;
	}
	return ns;
}

/** [from, to) of a task on a pCPU, with the same handlers and the same system call. */
static void add_piece(struct replay *replay, const struct place *place, int64_t task,
		      int64_t from_ns, int64_t to_ns)
{
	struct doer *doer = &replay->doers[task];
	bool in_softirq = place->is_settled && place->in_softirq;
	int64_t ns = to_ns - from_ns, guest = 0;

	if (place->n_hard || in_softirq) {
		add_time(replay, task, place->n_hard ? HOST_MODE_INTERRUPT : HOST_MODE_SOFTIRQ,
			 VIRT_NONE, ns);
		return;
	}
	if (place->pid)
		guest = guest_ns(replay, place->pid, from_ns, to_ns);
	add_time(replay, task, HOST_MODE_GUEST, VIRT_NONE, guest);
	ns -= guest;
	if (!place->is_settled)
		add_time(replay, task, HOST_MODE_UNKNOWN, VIRT_NONE, ns);
	else if (!place->pid)
		add_time(replay, task, HOST_MODE_IDLE, VIRT_NONE, ns);
	else if (doer->call == CALL_UNKNOWN)
		doer->pending_ns += ns;
	else
		add_time(replay, task, doer->call == CALL_USER ? HOST_MODE_USER :
			 HOST_MODE_SYSCALL, doer->call, ns);
}

/** Add up the time of a pCPU up to a record. */
static void go_on(struct replay *replay, struct place *place, int64_t time_ns)
{
	int64_t a = place->since_ns > replay->from_ns ? place->since_ns : replay->from_ns;
	int64_t b = time_ns < replay->to_ns ? time_ns : replay->to_ns, task;

	place->since_ns = time_ns;
	if (place->pid < 0)
		return;
	task = task_of(replay, place->pid);
	if (task >= 0 && a < b)
		add_piece(replay, place, task, a, b);
}

/* --- its events ------------------------------------------------------------------------------ */

static void on_run(struct replay *replay, struct place *place, const struct host_mode_event *event)
{
	bool is_known = event->value >= 0;
	bool has_handlers = replay->modes->has_interrupts || replay->modes->has_softirqs;
	int64_t task;

	place->pid = event->value;
	place->n_hard = 0;
	place->in_softirq = false;
	place->is_settled = event->kind == MODE_SWITCH || !has_handlers;
	if (event->kind == MODE_END)
		return;
	if (is_known != place->is_known) {
		place->is_known = is_known;
		replay->n_unknown += is_known ? -1 : 1;
		replay->epoch++;
	}
	task = is_known ? task_of(replay, event->value) : -1;
	/* it may come from a pCPU whose records are missing */
	if (task >= 0 && replay->n_unknown) {
		explain(replay, task, HOST_MODE_UNKNOWN, VIRT_NONE);
		replay->doers[task].call = CALL_UNKNOWN;
	}
}

/** Interrupts interrupt softirqs, softirqs nothing but tasks. */
static void on_handler(struct place *place, const struct host_mode_event *event)
{
	bool is_soft = event->value == HOST_MODE_SOFTIRQ, begins = event->kind == MODE_ENTER;

	if (is_soft) {
		place->n_hard = 0;
		place->in_softirq = begins;
		place->is_settled = true;
	} else if (begins) {
		place->n_hard++;
	} else if (place->n_hard) {
		place->n_hard--;
	}
}

/** Its record comes at its end. */
static void on_whole(struct replay *replay, struct place *place,
		     const struct host_mode_event *event)
{
	int64_t end_ns = event->time_ns, start_ns;
	unsigned int n_hard = place->n_hard;

	if (!__builtin_sub_overflow(end_ns, event->value, &start_ns) &&
	    start_ns > place->since_ns)
		go_on(replay, place, start_ns);
	place->n_hard = 1;
	go_on(replay, place, end_ns);
	place->n_hard = n_hard;
}

static void on_call(struct replay *replay, struct place *place,
		    const struct host_mode_event *event)
{
	int64_t task = place->pid > 0 ? task_of(replay, place->pid) : -1;
	struct doer *doer;
	bool begins = event->kind == MODE_CALL;
	struct host_call_sum *sum;

	/* no handler makes system calls */
	place->n_hard = 0;
	place->in_softirq = false;
	place->is_settled = true;
	if (task < 0)
		return;
	doer = &replay->doers[task];
	if (doer->call == CALL_UNKNOWN)
		explain(replay, task, begins ? HOST_MODE_USER : HOST_MODE_SYSCALL, event->value);
	/* two events may be recorded of the same system call */
	if (begins && doer->call < 0 && doer->call != VIRT_NONE &&
	    virt_begins_in(event->time_ns, replay->from_ns, replay->to_ns)) {
		sum = call_sum(replay, place->pid, event->value);
		if (sum)
			sum->count++;
	}
	doer->call = begins ? event->value : CALL_USER;
}

static void on_fault(struct replay *replay, const struct place *place,
		     const struct host_mode_event *event)
{
	int64_t task = place->pid >= 0 ? task_of(replay, place->pid) : -1;

	if (task >= 0 && virt_begins_in(event->time_ns, replay->from_ns, replay->to_ns))
		replay->sums->all[task].faults++;
}

/** Without records of its ends, or of its beginnings, a mode has no times. */
static bool counts(const struct host_modes *modes, const struct host_mode_event *event)
{
	switch (event->kind) {
	case MODE_ENTER:
	case MODE_EXIT:
		return event->value == HOST_MODE_SOFTIRQ ? modes->has_softirqs :
		       modes->has_interrupts;
	case MODE_WHOLE:
		return modes->has_interrupts;
	case MODE_CALL:
	case MODE_CALL_END:
		return modes->has_calls;
	default:
		return true;
	}
}

static void take(struct replay *replay, const struct host_mode_event *event)
{
	struct place *place = &replay->places[event->cpu];

	if (!counts(replay->modes, event))
		return;
	if (event->kind == MODE_WHOLE)
		on_whole(replay, place, event);
	else
		go_on(replay, place, event->time_ns);
	switch (event->kind) {
	case MODE_RUN:
	case MODE_SWITCH:
	case MODE_END:
		on_run(replay, place, event);
		break;
	case MODE_ENTER:
	case MODE_EXIT:
		on_handler(place, event);
		break;
	case MODE_CALL:
	case MODE_CALL_END:
		on_call(replay, place, event);
		break;
	case MODE_FAULT:
		on_fault(replay, place, event);
		break;
	default:
		break;
	}
}

static int compare_calls(const void *a, const void *b)
{
	const struct host_call_sum *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->call > y->call) - (x->call < y->call);
}

/** Return: 0 or -ENOMEM. */
static int begin(struct replay *replay)
{
	const struct host_modes *modes = replay->modes;

	for (size_t i = 0; i < modes->n; i++)
		if (modes->all[i].cpu >= replay->n_places)
			replay->n_places = modes->all[i].cpu + 1;
	replay->places = calloc((size_t)replay->n_places + 1, sizeof(*replay->places));
	if (!replay->places)
		return -ENOMEM;
	/* a pCPU without any record is not there */
	for (int i = 0; i < replay->n_places; i++)
		replay->places[i] = (struct place){ .pid = VIRT_NONE, .is_known = true };
	for (size_t i = 0; i < modes->n; i++) {
		replay->n_unknown += replay->places[modes->all[i].cpu].is_known;
		replay->places[modes->all[i].cpu].is_known = false;
	}
	return 0;
}

int host_mode_sums_make(struct host_mode_sums *sums, const struct host_modes *modes,
			const struct virt_model *model, int64_t from_ns, int64_t to_ns)
{
	struct replay replay = {
		.modes = modes, .model = model, .sums = sums, .from_ns = from_ns, .to_ns = to_ns,
	};
	int ret;

	*sums = (struct host_mode_sums){ .room = 0 };
	ret = begin(&replay);
	for (size_t i = 0; i < modes->n && !ret; i++) {
		take(&replay, &modes->all[i]);
		ret = replay.error;
	}
	for (uint32_t i = 0; i < sums->map.n_keys && !ret; i++)
		explain(&replay, i, HOST_MODE_UNKNOWN, VIRT_NONE);
	if (!ret)
		ret = replay.error;
	if (sums->call_map.n_keys)
		qsort(sums->calls, sums->call_map.n_keys, sizeof(*sums->calls), compare_calls);
	free(replay.places);
	free(replay.doers);
	return ret;
}

void host_mode_sums_free(struct host_mode_sums *sums)
{
	key_map_destroy(&sums->map);
	key_map_destroy(&sums->call_map);
	free(sums->all);
	free(sums->calls);
	*sums = (struct host_mode_sums){ .room = 0 };
}

const struct host_mode_sum *host_mode_sum_of(const struct host_mode_sums *sums, int32_t pid)
{
	int64_t i = key_map_find(&sums->map, (uint32_t)pid);

	return i < 0 ? NULL : &sums->all[i];
}

const char *host_call_name(const struct host_modes *modes, int32_t call)
{
	return call < 0 ? "unknown" : modes->calls[call].name;
}
