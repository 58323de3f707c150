// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	guest_lives.c
 * @brief	Collect the activity of guests' tasks from the guests' own traces.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "guest_lives.h"
#include "guest_tasks.h"
#include "virt_handlers.h"

/** Handlers that interrupt each other on a CPU: none is known while there are more. */
#define MOST_HANDLERS	8

/** Of names of the host's own tasks. */
#define HOST_PREFIX	"host:"

/** Records after which it is asked whether to go on. */
#define STOP_EVERY	4096

/** A handler that goes on. */
struct handling {
	int32_t		number;		/* virt_guest_handler() */
	uint8_t		kind;		/* enum virt_handler_kind */
	bool		is_timer;	/* a timer's, or a timer's interrupt */
	bool		within;		/* it is recorded within another one */
};

/** On the way through the trace of a guest, CPU by CPU. */
struct reading {
	const struct guest_lives_source *source;
	struct virt_guest	*guest;
	struct guest_tasks	tasks;
	struct virt_life_events	events;
	bool			*seen;		/* by CPU: one of no known vCPU has records */
	int			cpu;		/* of the last record; -1: none */
	struct handling		handlings[MOST_HANDLERS];
	int			n_handlings;
	unsigned int		steps;
	int			error;
};

/* --- handlers -------------------------------------------------------------------------------- */

static int enter(struct reading *reading, const struct kvm_handler_event *event)
{
	static const char *const kinds[VIRT_HANDLER_N_KINDS] = {
		[VIRT_HANDLER_IRQ] = "irq ", [VIRT_HANDLER_SOFTIRQ] = "softirq ",
		[VIRT_HANDLER_VECTOR] = "", [VIRT_HANDLER_NMI] = "",
	};
	struct handling handling = { .kind = event->kind, .within = event->is_timer };
	char name[KVM_HANDLER_NAME + 16];

	snprintf(name, sizeof(name), "%s%s", event->is_timer ? "" : kinds[event->kind],
		 event->name);
	/* "irq 21 timer1" of Xen, "softirq TIMER", "local_timer" */
	handling.is_timer = strstr(name, "timer") || strstr(name, "TIMER");
	handling.number = virt_guest_handler(reading->guest, name);
	if (handling.number < 0)
		return -ENOMEM;
	if (reading->n_handlings < MOST_HANDLERS)
		reading->handlings[reading->n_handlings++] = handling;
	else
		reading->n_handlings = 0;
	return 0;
}

static int take_handler(struct reading *reading, const struct kvm_handler_event *event)
{
	const struct handling *last = reading->n_handlings ?
				      &reading->handlings[reading->n_handlings - 1] : NULL;

	if (event->edge == KVM_HANDLER_ENTRY)
		return enter(reading, event);
	if (event->edge != KVM_HANDLER_EXIT)
		return 0;
	if (last && last->kind == event->kind && last->within == event->is_timer)
		reading->n_handlings--;
	else
		reading->n_handlings = 0;
	return 0;
}

/** The innermost one, if it is of that context. */
static const struct handling *handling_of(const struct reading *reading, bool is_hard)
{
	const struct handling *last = reading->n_handlings ?
				      &reading->handlings[reading->n_handlings - 1] : NULL;

	return last && (last->kind == VIRT_HANDLER_SOFTIRQ) != is_hard ? last : NULL;
}

/* --- events ---------------------------------------------------------------------------------- */

/** What interrupts leave over, a task does in their stead; it has a life of its own. */
static bool is_softirq_task(const struct reading *reading, int32_t pid)
{
	const struct kvm_trace *trace = reading->source->trace;
	const char *comm = trace ? kvm_trace_task(trace, pid) : NULL;

	return comm && !strncmp(comm, "ksoftirqd/", strlen("ksoftirqd/"));
}

static struct virt_life_wake wake_of(const struct reading *reading,
				     const struct kvm_trace_record *record)
{
	bool is_hard = record->flags & VIRT_GUEST_IN_IRQ;
	bool is_interrupt = record->sched->more == KVM_IN_INTERRUPT &&
			    (is_hard || !is_softirq_task(reading, record->pid));
	struct virt_life_wake wake = {
		.waker = VIRT_NONE, .handler = VIRT_NONE, .cpu = record->cpu,
		.cause = VIRT_WAKE_INTERRUPT,
	};
	const struct handling *handling;

	if (!is_interrupt && record->pid > 0) {
		wake.waker = record->pid;
		wake.cause = VIRT_WAKE_TASK;
		return wake;
	}
	/* it may speak for another CPU, which has sent this one an interrupt */
	if (record->sched->kind == KVM_WAKEUP) {
		wake.cause = VIRT_WAKE_UNKNOWN;
		return wake;
	}
	handling = is_interrupt ? handling_of(reading, is_hard) : NULL;
	if (handling) {
		wake.handler = handling->number;
		wake.cause = handling->is_timer ? VIRT_WAKE_TIMER : VIRT_WAKE_INTERRUPT;
	}
	return wake;
}

static int take_sched(struct reading *reading, const struct kvm_trace_record *record,
		      int64_t time_ns)
{
	static const uint8_t kinds[] = {
		[KVM_WAKING] = VIRT_LIFE_E_WAKING, [KVM_WAKEUP] = VIRT_LIFE_E_WAKEUP,
		[KVM_BORN] = VIRT_LIFE_E_BORN, [KVM_MIGRATE] = VIRT_LIFE_E_MIGRATE,
	};
	const struct kvm_event *sched = record->sched;
	struct virt_life_event event = {
		.time_ns = time_ns, .pid = sched->arg, .cpu = record->cpu,
	};

	/* runs show those */
	if (sched->kind == KVM_SWITCH || sched->kind >= ARRAY_SIZE(kinds))
		return 0;
	event.kind = kinds[sched->kind];
	if (sched->kind == KVM_MIGRATE)
		event.wake.cpu = (int16_t)sched->value;
	else
		event.wake = wake_of(reading, record);
	return virt_life_events_add(&reading->events, &event);
}

static enum virt_life_left left_of(const struct kvm_event *sched)
{
	uint64_t state = sched ? (uint64_t)sched->value : 0;

	if (!sched || sched->kind != KVM_SWITCH)
		return VIRT_LEFT_UNKNOWN;
	return state & KVM_STATE_DEAD ? VIRT_LEFT_DEAD :
	       state & KVM_STATE_UNINTERRUPTIBLE ? VIRT_LEFT_UNINTERRUPTIBLE :
	       state & KVM_STATE_ASLEEP ? VIRT_LEFT_ASLEEP : VIRT_LEFT_RUNNABLE;
}

/** Take the runs of a CPU that are new since it had @before of them. */
static int take_runs(struct reading *reading, int cpu, size_t before,
		     const struct kvm_event *sched, bool lost)
{
	const struct virt_guest_cpu *of = &reading->tasks.cpus[cpu];
	int ret = 0;

	for (size_t i = before; i < of->n && !ret; i++) {
		const struct virt_guest_run *run = &of->runs[i];
		struct virt_life_event event = {
			.time_ns = run->start_ns, .pid = run->pid, .cpu = (int16_t)cpu,
			.kind = run->pid == VIRT_NONE && !lost ? VIRT_LIFE_E_END : VIRT_LIFE_E_RUN,
			.left = (uint8_t)(i + 1 == of->n ? left_of(sched) : VIRT_LEFT_UNKNOWN),
		};

		ret = virt_life_events_add(&reading->events, &event);
	}
	return ret;
}

static size_t n_runs(const struct reading *reading, int cpu)
{
	return cpu < 0 ? 0 : reading->tasks.cpus[cpu].n;
}

/* --- the walk -------------------------------------------------------------------------------- */

/** What tasks do on a CPU that is no known vCPU is unknown. Return: 0 or -ENOMEM. */
static int see_stranger(struct reading *reading, int cpu, int64_t time_ns)
{
	const struct virt_life_event event = {
		.time_ns = time_ns, .pid = VIRT_NONE, .cpu = (int16_t)cpu, .kind = VIRT_LIFE_E_RUN,
	};

	if (reading->tasks.cpus[cpu].vcpu != VIRT_NONE || reading->seen[cpu])
		return 0;
	reading->seen[cpu] = true;
	return virt_life_events_add(&reading->events, &event);
}

static int64_t time_of(const struct guest_lives_source *source, int64_t time_ns)
{
	return source->model_time ? source->model_time(source->arg, time_ns) : time_ns;
}

static int take_record(void *arg, const struct kvm_trace_record *record)
{
	struct reading *reading = arg;
	const struct guest_lives_source *source = reading->source;
	int64_t time_ns = time_of(source, record->time_ns);
	size_t before = n_runs(reading, record->cpu), last = n_runs(reading, reading->cpu);
	int ret = reading->error;

	if (!ret && ++reading->steps % STOP_EVERY == 0 && source->stop && source->stop(source->arg))
		ret = -ECANCELED;
	if (!ret)
		ret = guest_tasks_take(&reading->tasks, record, time_ns);
	if (!ret && source->take)
		ret = source->take(source->arg, record, time_ns);
	if (!ret && reading->cpu >= 0 && record->cpu != reading->cpu) {
		ret = take_runs(reading, reading->cpu, last, NULL, false);
		reading->n_handlings = 0;
	}
	reading->cpu = record->cpu;
	if (!ret)
		ret = see_stranger(reading, record->cpu, time_ns);
	if (!ret && record->handler)
		ret = take_handler(reading, record->handler);
	if (!ret)
		ret = take_runs(reading, record->cpu, before, record->sched, false);
	return ret || !record->sched ? ret : take_sched(reading, record, time_ns);
}

static void take_lost(void *arg, int cpu, uint64_t records)
{
	struct reading *reading = arg;
	size_t before = n_runs(reading, cpu);

	(void)records;
	reading->n_handlings = 0;
	if (reading->error)
		return;
	reading->error = guest_tasks_lost(&reading->tasks, cpu);
	if (!reading->error)
		reading->error = take_runs(reading, cpu, before, NULL, true);
}

/** The last records have gone by; where they are damaged, more have not. */
static int end(struct reading *reading)
{
	size_t before = n_runs(reading, reading->cpu);
	bool is_damaged = kvm_trace_damaged_cpu(reading->source->trace) >= 0;
	int ret = reading->error;

	if (!ret)
		ret = guest_tasks_end(&reading->tasks);
	if (!ret && reading->cpu >= 0)
		ret = take_runs(reading, reading->cpu, before, NULL, false);
	for (size_t i = 0; i < reading->events.n && is_damaged; i++)
		if (reading->events.all[i].kind == VIRT_LIFE_E_END)
			reading->events.all[i].kind = VIRT_LIFE_E_RUN;
	return ret;
}

/* --- a guest --------------------------------------------------------------------------------- */

/** "web" of "g1:web": what the machine of its first known CPU is called. */
static const char *machine_of(const struct virt_guest *guest, const struct virt_model *model)
{
	for (int i = 0; i < guest->n_cpus; i++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(model, guest->cpus[i].vcpu);
		const char *name, *given;

		if (!vcpu)
			continue;
		name = virt_model_machine(model, vcpu->machine)->name;
		given = strchr(name, ':');
		return given ? given + 1 : name;
	}
	return "guest";
}

static int name_all(struct virt_guest *guest, const char *called, const struct kvm_trace *trace)
{
	char name[GUEST_TASK_NAME];

	guest->name = strdup(called);
	for (int32_t i = 0; i < guest->n_tasks && guest->name; i++) {
		struct virt_guest_task *task = &guest->tasks[i];

		guest_task_name(name, sizeof(name), trace, task->pid);
		if (asprintf(&task->name, "%s:%s", guest->name, name) < 0) {
			task->name = NULL;
			return -ENOMEM;
		}
	}
	return guest->name ? 0 : -ENOMEM;
}

/** @is_known: each CPU is one that is known, though no vCPU of the model. Names are not made. */
static int read_lives(struct virt_guest *guest, const struct virt_model *model,
		      const struct guest_lives_source *source, bool is_known)
{
	struct reading reading = { .source = source, .guest = guest, .cpu = -1 };
	int ret;

	*guest = (struct virt_guest){ 0 };
	ret = guest_tasks_init(&reading.tasks, model, source->trace, source->tids, source->n_tids);
	if (is_known)
		guest_tasks_know_all(&reading.tasks);
	reading.seen = calloc((size_t)reading.tasks.n_cpus + 1, sizeof(*reading.seen));
	if (!reading.seen)
		ret = -ENOMEM;
	if (!ret)
		ret = kvm_trace_walk(source->trace, take_record, take_lost, &reading);
	if (!ret)
		ret = end(&reading);
	/* they stay the guest's */
	guest->cpus = reading.tasks.cpus;
	guest->n_cpus = reading.tasks.n_cpus;
	reading.tasks.cpus = NULL;
	reading.tasks.n_cpus = 0;
	if (source->cgroups) {
		*source->cgroups = reading.tasks.cgroups;
		reading.tasks.cgroups = (struct guest_cgroups){ .n = 0 };
	}
	for (int i = 0; is_known && i < guest->n_cpus; i++)
		guest->cpus[i].vcpu = VIRT_NONE;
	if (!ret)
		ret = virt_guest_live(guest, &reading.events);
	guest_tasks_free(&reading.tasks);
	free(reading.events.all);
	free(reading.seen);
	return ret;
}

int guest_lives_read(struct virt_guest *guest, const struct virt_model *model,
		     const struct guest_lives_source *source)
{
	int ret = read_lives(guest, model, source, false);

	return ret ? ret : name_all(guest, machine_of(guest, model), source->trace);
}

int guest_lives_read_host(struct virt_guest *host, const struct virt_model *model,
			  const struct guest_lives_source *source)
{
	return read_lives(host, model, source, true);
}

/* --- a host, as its records come -------------------------------------------------------------- */

struct guest_lives_now {
	struct guest_lives_source source;	/* has nothing */
	struct reading		reading;
	struct virt_lives_now	*lives;
};

struct guest_lives_now *guest_lives_now_new(int n_cpus)
{
	struct guest_lives_now *now = calloc(1, sizeof(*now));

	if (!now)
		return NULL;
	now->reading = (struct reading){ .source = &now->source, .cpu = -1 };
	now->lives = virt_lives_now_new(n_cpus);
	now->reading.seen = calloc((size_t)n_cpus + 1, sizeof(*now->reading.seen));
	if (guest_tasks_init_live(&now->reading.tasks, n_cpus) || !now->lives ||
	    !now->reading.seen) {
		guest_lives_now_free(now);
		return NULL;
	}
	return now;
}

void guest_lives_now_free(struct guest_lives_now *now)
{
	if (!now)
		return;
	guest_tasks_free(&now->reading.tasks);
	virt_lives_now_free(now->lives);
	free(now->reading.events.all);
	free(now->reading.seen);
	free(now);
}

int guest_lives_now_take(struct guest_lives_now *now, const struct kvm_event *event)
{
	struct reading *reading = &now->reading;
	const struct kvm_trace_record record = {
		.time_ns = event->time_ns, .cpu = event->cpu, .pid = event->pid,
		.next_pid = event->kind == KVM_SWITCH ? event->arg : VIRT_NONE,
		.sched = kvm_event_is_sched(event->kind) ? event : NULL,
	};
	int ret = 0;

	if (event->cpu < 0 || event->cpu >= reading->tasks.n_cpus)
		return 0;
	if (event->kind == KVM_LOST)
		take_lost(reading, event->cpu, 0);
	else if (event->kind != KVM_FOUND)
		ret = take_record(reading, &record);
	ret = ret ? ret : reading->error;
	for (size_t i = 0; i < reading->events.n && !ret; i++)
		ret = virt_lives_now_take(now->lives, &reading->events.all[i]);
	reading->events.n = 0;
	return ret;
}

int guest_lives_now_show(struct guest_lives_now *now, int64_t end_ns, struct virt_guest *host)
{
	const struct guest_tasks *tasks = &now->reading.tasks;
	int ret = virt_lives_now_show(now->lives, end_ns, host);

	host->cpus = calloc((size_t)tasks->n_cpus + 1, sizeof(*host->cpus));
	host->n_cpus = host->cpus ? tasks->n_cpus : 0;
	for (int i = 0; i < host->n_cpus; i++) {
		const struct virt_guest_cpu *from = &tasks->cpus[i];
		struct virt_guest_cpu *to = &host->cpus[i];

		to->vcpu = VIRT_NONE;
		to->runs = calloc(from->n + 1, sizeof(*to->runs));
		if (!to->runs)
			return -ENOMEM;
		if (!from->n)
			continue;
		memcpy(to->runs, from->runs, from->n * sizeof(*to->runs));
		to->n = from->n + 1;
		to->runs[from->n] = (struct virt_guest_run){ .start_ns = end_ns, .pid = VIRT_NONE };
	}
	return host->cpus ? ret : -ENOMEM;
}

void guest_lives_now_hide(struct virt_guest *host)
{
	for (int32_t i = 0; i < host->n_tasks; i++)
		host->tasks[i].intervals = NULL;
	virt_guest_free(host);
}

int guest_lives_now_forget(struct guest_lives_now *now, int64_t before_ns)
{
	struct guest_tasks *tasks = &now->reading.tasks;

	for (int i = 0; i < tasks->n_cpus; i++) {
		struct virt_guest_cpu *cpu = &tasks->cpus[i];
		ptrdiff_t at = virt_guest_run_at(cpu, before_ns);

		/* whether a run counts shows the one before it */
		if (at < 2)
			continue;
		cpu->n -= (size_t)at - 1;
		memmove(cpu->runs, cpu->runs + at - 1, cpu->n * sizeof(*cpu->runs));
	}
	return virt_lives_now_forget(now->lives, before_ns);
}

/* --- all guests ------------------------------------------------------------------------------ */

static int64_t host_time(void *arg, int64_t time_ns)
{
	return guest_tasks_time(arg, time_ns);
}

/** One that is in another guest, whose tasks its CPUs are. */
static int read_inner(struct guest_lives *lives, const struct virt_model *model, int outer)
{
	struct virt_guest *guest = &lives->guests.all[lives->guests.n];
	const struct guest_lives_source *source = &lives->sources[lives->guests.n];
	char called[GUEST_TASK_NAME];
	int n = 0, ret = read_lives(guest, model, source, true);
	const int *tids = kvm_trace_guest_tids(lives->sources[outer].trace, source->trace, &n);

	lives->guests.n++;
	guest_tasks_called(called, sizeof(called), source->trace, lives->sources[outer].trace);
	if (!ret)
		ret = name_all(guest, called, source->trace);
	guest->threads = calloc((size_t)guest->n_cpus + 1, sizeof(*guest->threads));
	if (!guest->threads)
		return -ENOMEM;
	for (int i = 0; i < guest->n_cpus; i++) {
		int32_t task = tids && i < n ? virt_guest_find(&lives->guests.all[outer], tids[i]) :
			       VIRT_NONE;

		guest->threads[i] = virt_guests_number(&lives->guests, outer, task);
	}
	return ret;
}

int guest_lives_of(struct guest_lives *lives, const struct host_trace *host,
		   const struct virt_model *model, struct kvm_trace *const *traces,
		   const struct guest_clock *clocks, const int *outer, int n)
{
	int ret = 0;

	*lives = (struct guest_lives){
		.guests.all = calloc((size_t)n + 1, sizeof(*lives->guests.all)),
		.sources = calloc((size_t)n + 1, sizeof(*lives->sources)),
		.tids = calloc((size_t)n + 1, sizeof(*lives->tids)),
		.n_tids = n,
	};
	if (!lives->guests.all || !lives->sources || !lives->tids)
		return -ENOMEM;
	for (int i = 0; i < n && !ret; i++) {
		struct guest_lives_source *source = &lives->sources[i];

		*source = (struct guest_lives_source){
			.trace = traces[i], .model_time = host_time, .arg = (void *)host,
		};
		if (outer && outer[i] >= 0) {
			ret = read_inner(lives, model, outer[i]);
			continue;
		}
		lives->tids[i] = guest_clock_tids(&clocks[i], host, &source->n_tids);
		source->tids = lives->tids[i];
		ret = source->tids ? 0 : -ENOMEM;
		if (!ret)
			ret = guest_lives_read(&lives->guests.all[lives->guests.n++], model,
					       source);
	}
	return ret;
}

int guest_lives_add_host(struct guest_lives *lives, const struct host_trace *host,
			 const struct virt_model *model)
{
	const struct guest_lives_source source = { .trace = host->kvm };
	int ret = host->kvm ? guest_lives_read_host(&lives->host, model, &source) : 0;

	if (host->kvm && !ret)
		lives->guests.host = &lives->host;
	return ret;
}

void guest_lives_free(struct guest_lives *lives)
{
	virt_guest_free(&lives->host);
	for (int i = 0; i < lives->guests.n; i++)
		virt_guest_free(&lives->guests.all[i]);
	free(lives->guests.all);
	for (int i = 0; lives->tids && i < lives->n_tids; i++)
		free(lives->tids[i]);
	free(lives->tids);
	free(lives->sources);
	*lives = (struct guest_lives){ .sources = NULL };
}

/* --- names ----------------------------------------------------------------------------------- */

/** Is that what a task is called: by its name, its pid, or its command? The best is 3, none 0. */
static int is_called(const char *name, int32_t pid, const char *text)
{
	const char *dash = strrchr(name, '-');
	char number[16];

	snprintf(number, sizeof(number), "%d", pid);
	if (!strcmp(name, text))
		return 3;
	if (!strcmp(number, text))
		return 2;
	return dash && strlen(text) == (size_t)(dash - name) && !strncmp(name, text, strlen(text));
}

/** Is the text before the colon, of @n bytes, what its machine is called? */
static bool is_of(const struct virt_guest *guest, const struct virt_model *model, const char *text,
		  size_t n)
{
	if (strlen(guest->name) == n && !strncmp(guest->name, text, n))
		return true;
	for (int i = 0; i < guest->n_cpus; i++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(model, guest->cpus[i].vcpu);
		const char *name = vcpu ? virt_model_machine(model, vcpu->machine)->name : "";
		size_t id = strcspn(name, ":");

		/* "g1" of "g1:web", or all of it */
		if ((id == n || strlen(name) == n) && vcpu && !strncmp(name, text, n))
			return true;
	}
	return false;
}

/** What was found among names so far. */
struct finding {
	const char	*text;		/* that is looked for, without the machine */
	int		found, best;
	int32_t		number;
};

/** @other: another name of it, or the same */
static void try_names(struct finding *finding, const char *name, const char *other, int32_t pid,
		      int32_t number)
{
	int how = is_called(name, pid, finding->text);

	if (!how)
		how = is_called(other, pid, finding->text);
	if (!how || how < finding->best)
		return;
	finding->found = how > finding->best ? 1 : finding->found + 1;
	finding->best = how;
	finding->number = number;
}

/** Threads of vCPUs have names of their own. */
static void try_host(struct finding *finding, const struct virt_guest *host,
		     const struct virt_model *model)
{
	for (int32_t i = 1; i < host->n_tasks; i++) {
		int32_t number = virt_model_find_task(model, host->tasks[i].pid);
		const struct virt_task *task = virt_model_task(model, number);

		if (task)
			try_names(finding, task->thread, task->name, task->pid, number);
	}
}

bool guest_lives_is_host(const char *text)
{
	return !strncmp(text, HOST_PREFIX, strlen(HOST_PREFIX));
}

int guest_lives_find(const struct virt_guests *guests, const struct virt_model *model,
		     const char *text, int32_t *number)
{
	struct finding finding = { .found = 0 };

	if (guests->host && guest_lives_is_host(text)) {
		finding.text = text + strlen(HOST_PREFIX);
		try_host(&finding, guests->host, model);
	}
	for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
		finding.text = colon + 1;
		for (int i = 0; i < guests->n; i++) {
			const struct virt_guest *guest = &guests->all[i];
			bool is = is_of(guest, model, text, (size_t)(colon - text));

			for (int32_t t = 1; t < guest->n_tasks && is; t++) {
				int32_t task = virt_guests_number(guests, i, t);
				const char *name = virt_guests_short(guests, task);

				try_names(&finding, name, name, guest->tasks[t].pid, task);
			}
		}
	}
	*number = finding.found ? finding.number : *number;
	return finding.found;
}
