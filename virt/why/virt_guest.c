// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_guest.c
 * @brief	Build the lives of a guest's tasks from the events of its trace.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "key_map.h"
#include "time_sort.h"
#include "virt_guest.h"

/** What is known of a task while its events go by. */
struct life {
	size_t		epoch;		/* of its last change: losses before it */
	struct virt_life_wake wake;	/* of a wake-up that has not led to anything yet */
	bool		woken;		/* there is one */
	bool		seen;		/* a record has shown what it does */
};

struct replay {
	struct virt_guest *guest;
	struct key_map	pids;		/* to tasks */
	struct life	*lives;		/* as many as tasks */
	int32_t		room_tasks, room_lives;
	int32_t		*on;		/* who has a CPU, by number of the task */
	bool		*known;		/* whether anybody knows */
	int		n_cpus, n_unknown;
	int64_t		certain_ns;	/* since when all is known, if so */
	int64_t		*epochs;	/* since when nothing but having a CPU is certain, as */
	size_t		n_epochs, room_epochs;	/* records are lost: each time */
	bool		wakes;		/* there are events of wake-ups */
	bool		begun;		/* an event has gone by */
	bool		has_forgotten;	/* a task that seems new may have had records before */
	int		error;
};

/* --- intervals ------------------------------------------------------------------------------- */

static void put(struct replay *replay, int32_t task, int64_t time_ns,
		struct virt_life_interval interval)
{
	struct virt_guest_task *of = &replay->guest->tasks[task];
	struct virt_life_interval *last = of->n ? &of->intervals[of->n - 1] : NULL;

	interval.start_ns = time_ns;
	if (last && last->start_ns == time_ns && replay->lives[task].seen) {
		/* of two that begin at once, the first one has no time */
		*last = interval;
		return;
	}
	replay->lives[task].seen = last;
	if (ARRAY_GROW(of->intervals, of->n, of->room))
		replay->error = -ENOMEM;
	else
		of->intervals[of->n++] = interval;
}

static struct virt_life_interval *last_of(struct replay *replay, int32_t task)
{
	struct virt_guest_task *of = &replay->guest->tasks[task];

	return &of->intervals[of->n - 1];
}

/** What is not certain any more is not known; having a CPU is. */
static void set(struct replay *replay, int32_t task, int64_t time_ns, enum virt_life_state state,
		int16_t cpu)
{
	struct virt_life_interval interval = {
		.wake = VIRT_NONE, .cpu = cpu, .state = (uint8_t)state,
	};

	if (replay->n_unknown && state != VIRT_LIFE_RUNS) {
		interval.state = VIRT_LIFE_UNKNOWN;
		interval.flags = replay->n_epochs ? VIRT_LIFE_LOST : 0;
	}
	replay->lives[task].epoch = replay->n_epochs;
	put(replay, task, time_ns, interval);
}

/** A task, up to date; it may be a new one. Return: below 0 without memory. */
static int32_t task_of(struct replay *replay, int32_t pid)
{
	struct virt_guest *guest = replay->guest;
	uint32_t before = replay->pids.n_keys;
	int64_t task = KEY_MAP_ELEMENT(&replay->pids, (uint32_t)pid, guest->tasks,
				       replay->room_tasks);
	struct life *life;

	if (task < 0 || (task == before && ARRAY_GROW(replay->lives, before, replay->room_lives))) {
		replay->error = -ENOMEM;
		return -1;
	}
	life = &replay->lives[task];
	if (task == before) {
		guest->n_tasks = (int32_t)before + 1;
		guest->tasks[task].pid = pid;
		*life = (struct life){ .epoch = replay->n_epochs };
		put(replay, (int32_t)task, guest->begin_ns, (struct virt_life_interval){
			.wake = VIRT_NONE, .cpu = VIRT_NONE, .state = VIRT_LIFE_UNKNOWN });
		life->seen = replay->has_forgotten;
	} else if (life->epoch < replay->n_epochs && guest->tasks[task].n &&
		   last_of(replay, (int32_t)task)->state != VIRT_LIFE_RUNS) {
		const struct virt_life_interval *last = last_of(replay, (int32_t)task);

		if (!(last->flags & VIRT_LIFE_LOST))
			put(replay, (int32_t)task, replay->epochs[life->epoch],
			    (struct virt_life_interval){
				.wake = VIRT_NONE, .cpu = last->cpu,
				.state = VIRT_LIFE_UNKNOWN, .flags = VIRT_LIFE_LOST });
		life->epoch = replay->n_epochs;
		life->woken = false;
	}
	return replay->error ? -1 : (int32_t)task;
}

/* --- wake-ups -------------------------------------------------------------------------------- */

/** What woke a task; the same as last time has the same number. */
static int32_t wake_number(struct replay *replay, const struct virt_life_wake *wake)
{
	struct virt_guest *guest = replay->guest;
	const struct virt_life_wake *last = guest->n_wakes ? &guest->wakes[guest->n_wakes - 1] :
					    NULL;

	if (last && last->waker == wake->waker && last->handler == wake->handler &&
	    last->cpu == wake->cpu && last->cause == wake->cause)
		return (int32_t)guest->n_wakes - 1;
	if (guest->n_wakes >= INT32_MAX || ARRAY_GROW(guest->wakes, guest->n_wakes,
						      guest->room_wakes)) {
		replay->error = -ENOMEM;
		return VIRT_NONE;
	}
	guest->wakes[guest->n_wakes++] = *wake;
	return (int32_t)guest->n_wakes - 1;
}

/** A sleep ends, or what was before is not known; who was never seen before has slept. */
static void wake(struct replay *replay, int32_t task, int64_t time_ns,
		 const struct virt_life_wake *by)
{
	struct virt_life_interval *last = last_of(replay, task);

	if (last->state == VIRT_LIFE_UNKNOWN && !replay->n_unknown &&
	    !replay->lives[task].seen && replay->certain_ns < time_ns) {
		set(replay, task, replay->certain_ns, VIRT_LIFE_BLOCKED, VIRT_NONE);
		last = last_of(replay, task);
	}
	if (last->state == VIRT_LIFE_BLOCKED)
		last->wake = wake_number(replay, by);
	if (!replay->error)
		set(replay, task, time_ns, VIRT_LIFE_WAKING, last->cpu);
	replay->lives[task].woken = false;
}

static void on_waking(struct replay *replay, const struct virt_life_event *event)
{
	int32_t task = task_of(replay, event->pid);

	replay->wakes = true;
	if (task < 0)
		return;
	switch (last_of(replay, task)->state) {
	case VIRT_LIFE_RUNS:
		/* it is about to sleep: it leaves its CPU, and wakes up then */
		replay->lives[task].wake = event->wake;
		replay->lives[task].woken = true;
		break;
	case VIRT_LIFE_BLOCKED:
	case VIRT_LIFE_UNKNOWN:
		wake(replay, task, event->time_ns, &event->wake);
		break;
	default:
		break;
	}
}

static void on_wakeup(struct replay *replay, const struct virt_life_event *event)
{
	int32_t task = task_of(replay, event->pid);
	struct life *life;

	replay->wakes = true;
	if (task < 0)
		return;
	life = &replay->lives[task];
	switch (last_of(replay, task)->state) {
	case VIRT_LIFE_BLOCKED:
	case VIRT_LIFE_UNKNOWN:
		wake(replay, task, event->time_ns, life->woken ? &life->wake : &event->wake);
		break;
	default:
		life->woken = false;
		break;
	}
}

static void on_born(struct replay *replay, const struct virt_life_event *event)
{
	int32_t task = task_of(replay, event->pid);
	struct virt_life_interval *last;

	if (task < 0)
		return;
	last = last_of(replay, task);
	/* before, it was not there */
	if (last->state == VIRT_LIFE_UNKNOWN && !replay->lives[task].seen)
		last->state = VIRT_LIFE_ABSENT;
	if (last->state != VIRT_LIFE_RUNS)
		set(replay, task, event->time_ns, VIRT_LIFE_WAKING, VIRT_NONE);
}

static void on_migrate(struct replay *replay, const struct virt_life_event *event)
{
	int32_t task = task_of(replay, event->pid);
	enum virt_life_state state;

	if (task < 0)
		return;
	state = (enum virt_life_state)last_of(replay, task)->state;
	if (state == VIRT_LIFE_PREEMPTED || state == VIRT_LIFE_WAKING)
		set(replay, task, event->time_ns, state, event->wake.cpu);
}

/* --- CPUs ------------------------------------------------------------------------------------ */

static void leave(struct replay *replay, const struct virt_life_event *event)
{
	static const uint8_t states[] = {
		[VIRT_LEFT_UNKNOWN] = VIRT_LIFE_UNKNOWN, [VIRT_LEFT_RUNNABLE] = VIRT_LIFE_PREEMPTED,
		[VIRT_LEFT_ASLEEP] = VIRT_LIFE_BLOCKED, [VIRT_LEFT_DEAD] = VIRT_LIFE_ABSENT,
		[VIRT_LEFT_UNINTERRUPTIBLE] = VIRT_LIFE_BLOCKED,
	};
	int32_t task = replay->on[event->cpu];
	struct virt_life_interval *last;

	if (task < 0)
		return;
	last = last_of(replay, task);
	if (last->state == VIRT_LIFE_RUNS && last->cpu == event->cpu)
		set(replay, task, event->time_ns, (enum virt_life_state)states[event->left],
		    event->cpu);
	if (replay->error)
		return;
	last = last_of(replay, task);
	if (event->left == VIRT_LEFT_UNINTERRUPTIBLE && last->state == VIRT_LIFE_BLOCKED)
		last->flags |= VIRT_LIFE_UNINTERRUPTIBLE;
	if (event->left != VIRT_LEFT_ASLEEP && event->left != VIRT_LEFT_UNINTERRUPTIBLE)
		replay->lives[task].woken = false;
}

/** @switched: only the switch shows what led to this run, as a record is missing */
static void arrive(struct replay *replay, const struct virt_life_event *event, bool switched)
{
	int32_t task = event->pid > 0 ? task_of(replay, event->pid) : VIRT_NONE;
	struct virt_life_interval *last;

	replay->on[event->cpu] = task;
	if (task < 0)
		return;
	last = last_of(replay, task);
	/* nothing shows when it was woken, or when it got the CPU */
	if (last->state == VIRT_LIFE_BLOCKED || (!switched && last->state != VIRT_LIFE_RUNS))
		last->state = VIRT_LIFE_UNKNOWN;
	set(replay, task, event->time_ns, VIRT_LIFE_RUNS, event->cpu);
}

/** From now on, a CPU is known, or not. */
static void know(struct replay *replay, int cpu, bool known, int64_t time_ns)
{
	if (replay->known[cpu] == known)
		return;
	replay->known[cpu] = known;
	replay->n_unknown += known ? -1 : 1;
	if (known && !replay->n_unknown)
		replay->certain_ns = time_ns;
	if (known || replay->n_unknown > 1)
		return;
	if (ARRAY_GROW(replay->epochs, replay->n_epochs, replay->room_epochs))
		replay->error = -ENOMEM;
	else
		replay->epochs[replay->n_epochs++] = time_ns;
}

static void on_run(struct replay *replay, const struct virt_life_event *event)
{
	bool switched = !replay->known[event->cpu] || event->left != VIRT_LEFT_UNKNOWN;

	know(replay, event->cpu, event->pid != VIRT_NONE, event->time_ns);
	if (!replay->error)
		leave(replay, event);
	if (!replay->error)
		arrive(replay, event, switched);
}

/** Who has the CPU then is unknown, but a sleeping task cannot have run without a record. */
static void on_end(struct replay *replay, const struct virt_life_event *event)
{
	leave(replay, event);
	replay->on[event->cpu] = VIRT_NONE;
}

/* --- all of it ------------------------------------------------------------------------------- */

int virt_life_events_add(struct virt_life_events *events, const struct virt_life_event *event)
{
	const struct virt_life_event *last = events->n ? &events->all[events->n - 1] : NULL;
	int64_t time_ns = event->time_ns;

	/* trace-cmd corrects the clock by steps, which may lead back */
	if (last && last->cpu == event->cpu && time_ns < last->time_ns)
		time_ns = last->time_ns;
	if (ARRAY_GROW(events->all, events->n, events->room))
		return -ENOMEM;
	events->all[events->n] = *event;
	events->all[events->n++].time_ns = time_ns;
	return 0;
}

/** In order of time; of those at once, as they came, and CPU by CPU. */
static int sort(struct virt_life_events *events)
{
	void *all = events->all;
	int ret = time_sort(&all, events->n, sizeof(*events->all));

	events->all = all;
	if (!ret)
		events->room = events->n;
	return ret;
}

static int compare_tasks(const void *a, const void *b)
{
	const struct virt_guest_task *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/** CPUs that have events, and the span of all. Return: 0 or -ENOMEM. */
static int begin(struct replay *replay, const struct virt_life_events *events)
{
	int n_cpus = 0;

	for (size_t i = 0; i < events->n; i++)
		n_cpus = events->all[i].cpu >= n_cpus ? events->all[i].cpu + 1 : n_cpus;
	replay->n_cpus = n_cpus;
	replay->on = calloc((size_t)n_cpus + 1, sizeof(*replay->on));
	replay->known = calloc((size_t)n_cpus + 1, sizeof(*replay->known));
	if (!replay->on || !replay->known)
		return -ENOMEM;
	for (int i = 0; i < n_cpus; i++) {
		replay->on[i] = VIRT_NONE;
		replay->known[i] = true;
	}
	/* one that has no records at all is not there */
	for (size_t i = 0; i < events->n; i++) {
		replay->n_unknown += replay->known[events->all[i].cpu];
		replay->known[events->all[i].cpu] = false;
	}
	replay->guest->begin_ns = events->n ? events->all[0].time_ns : 0;
	replay->guest->end_ns = events->n ? events->all[events->n - 1].time_ns : 0;
	return task_of(replay, 0) < 0 ? -ENOMEM : 0;
}

/** Complete each task: where no wake-ups are recorded, a sleep is an unknown state. */
static void finish(struct replay *replay)
{
	struct virt_guest *guest = replay->guest;

	for (int32_t i = 0; i < guest->n_tasks && !replay->error; i++) {
		struct virt_guest_task *task = &guest->tasks[i];

		if (task_of(replay, task->pid) < 0)
			return;
		for (size_t k = 0; k < task->n && !replay->wakes; k++)
			if (task->intervals[k].state == VIRT_LIFE_BLOCKED)
				task->intervals[k].state = VIRT_LIFE_UNKNOWN;
	}
	/* the idle task has no life */
	guest->tasks[0].n = 0;
	qsort(guest->tasks, (size_t)guest->n_tasks, sizeof(*guest->tasks), compare_tasks);
}

/** The next event. Return: 0 or -ENOMEM. */
static int take(struct replay *replay, const struct virt_life_event *event)
{
	static void (*const rules[])(struct replay *replay, const struct virt_life_event *event) = {
		[VIRT_LIFE_E_RUN] = on_run, [VIRT_LIFE_E_END] = on_end,
		[VIRT_LIFE_E_WAKING] = on_waking, [VIRT_LIFE_E_WAKEUP] = on_wakeup,
		[VIRT_LIFE_E_BORN] = on_born, [VIRT_LIFE_E_MIGRATE] = on_migrate,
	};

	/* a pid of 0 or less is no task that can sleep */
	if (event->kind <= VIRT_LIFE_E_END || event->pid > 0)
		rules[event->kind](replay, event);
	return replay->error;
}

static void free_replay(struct replay *replay)
{
	key_map_destroy(&replay->pids);
	free(replay->lives);
	free(replay->on);
	free(replay->known);
	free(replay->epochs);
}

int virt_guest_live(struct virt_guest *guest, struct virt_life_events *events)
{
	struct replay replay = { .guest = guest };
	int ret = sort(events);

	if (!ret)
		ret = begin(&replay, events);
	for (size_t i = 0; i < events->n && !ret; i++)
		ret = take(&replay, &events->all[i]);
	if (!ret) {
		finish(&replay);
		ret = replay.error;
	}
	free_replay(&replay);
	return ret;
}

/* --- lives that go on ------------------------------------------------------------------------ */

/** Tasks are forgotten if this number of them can be, and a quarter of all. */
#define OVER_LEAST	256

struct virt_lives_now {
	struct replay	replay;
	struct virt_guest guest;
};

struct virt_lives_now *virt_lives_now_new(int n_cpus)
{
	struct virt_lives_now *lives = calloc(1, sizeof(*lives));
	struct replay *replay;

	if (!lives)
		return NULL;
	replay = &lives->replay;
	replay->guest = &lives->guest;
	replay->wakes = true;
	replay->n_cpus = replay->n_unknown = n_cpus;
	replay->on = calloc((size_t)n_cpus + 1, sizeof(*replay->on));
	replay->known = calloc((size_t)n_cpus + 1, sizeof(*replay->known));
	if (!replay->on || !replay->known) {
		virt_lives_now_free(lives);
		return NULL;
	}
	for (int i = 0; i < n_cpus; i++)
		replay->on[i] = VIRT_NONE;
	return lives;
}

void virt_lives_now_free(struct virt_lives_now *lives)
{
	if (!lives)
		return;
	free_replay(&lives->replay);
	virt_guest_free(&lives->guest);
	free(lives);
}

int virt_lives_now_take(struct virt_lives_now *lives, const struct virt_life_event *event)
{
	struct replay *replay = &lives->replay;

	if (event->cpu < 0 || event->cpu >= replay->n_cpus)
		return 0;
	if (!replay->begun) {
		replay->begun = true;
		lives->guest.begin_ns = event->time_ns;
		if (task_of(replay, 0) < 0)
			return -ENOMEM;
	}
	return take(replay, event);
}

int virt_lives_now_show(struct virt_lives_now *lives, int64_t end_ns, struct virt_guest *guest)
{
	struct replay *replay = &lives->replay;
	int32_t n = lives->guest.n_tasks;

	*guest = (struct virt_guest){ .begin_ns = lives->guest.begin_ns, .end_ns = end_ns };
	guest->tasks = calloc((size_t)n + 1, sizeof(*guest->tasks));
	if (!guest->tasks)
		return -ENOMEM;
	for (int32_t i = 0; i < n && !replay->error; i++)
		task_of(replay, lives->guest.tasks[i].pid);
	for (int32_t i = 0; i < n; i++)
		guest->tasks[i] = lives->guest.tasks[i];
	guest->n_tasks = n;
	/* the idle task has no life */
	if (n)
		guest->tasks[0].n = 0;
	qsort(guest->tasks, (size_t)n, sizeof(*guest->tasks), compare_tasks);
	return replay->error;
}

/** Intervals that are over at a time; the CPU that it had last stays known. */
static void forget_intervals(struct virt_guest_task *task, int64_t before_ns)
{
	size_t n = 0;

	while (n + 1 < task->n && task->intervals[n + 1].start_ns <= before_ns)
		n++;
	for (size_t i = n + 1; i-- > 0;)
		if (task->intervals[i].state == VIRT_LIFE_RUNS) {
			n = i;
			break;
		}
	task->n -= n;
	if (n)
		memmove(task->intervals, task->intervals + n, task->n * sizeof(*task->intervals));
	for (size_t i = 0; i < task->n; i++)
		task->intervals[i].wake = VIRT_NONE;
}

/** Is it dead, or is nothing known of it since records were lost? */
static bool is_over(const struct virt_guest_task *task, int64_t before_ns)
{
	const struct virt_life_interval *last = task->n ? &task->intervals[task->n - 1] : NULL;

	return task->pid && last && last->start_ns <= before_ns &&
	       (last->state == VIRT_LIFE_ABSENT || last->flags & VIRT_LIFE_LOST);
}

/** Return: 0, or -ENOMEM, and all stay. */
static int forget_tasks(struct replay *replay, int64_t before_ns)
{
	struct virt_guest *guest = replay->guest;
	struct key_map pids = { 0 };
	int32_t n = 0, *to = calloc((size_t)guest->n_tasks + 1, sizeof(*to));

	for (int32_t i = 0; i < guest->n_tasks && to; i++) {
		to[i] = VIRT_NONE;
		if (is_over(&guest->tasks[i], before_ns))
			continue;
		if (key_map_add(&pids, (uint32_t)guest->tasks[i].pid) < 0) {
			key_map_destroy(&pids);
			free(to);
			return -ENOMEM;
		}
		to[i] = n++;
	}
	if (!to)
		return -ENOMEM;
	for (int32_t i = 0; i < guest->n_tasks; i++) {
		if (to[i] == VIRT_NONE) {
			free(guest->tasks[i].intervals);
			continue;
		}
		guest->tasks[to[i]] = guest->tasks[i];
		replay->lives[to[i]] = replay->lives[i];
	}
	for (int i = 0; i < replay->n_cpus; i++)
		if (replay->on[i] >= 0)
			replay->on[i] = to[replay->on[i]];
	key_map_destroy(&replay->pids);
	replay->pids = pids;
	guest->n_tasks = n;
	replay->has_forgotten = true;
	free(to);
	return 0;
}

int virt_lives_now_forget(struct virt_lives_now *lives, int64_t before_ns)
{
	struct replay *replay = &lives->replay;
	struct virt_guest *guest = &lives->guest;
	int32_t n_over = 0;

	for (int32_t i = 0; i < guest->n_tasks; i++) {
		if (task_of(replay, guest->tasks[i].pid) < 0)
			return -ENOMEM;
		forget_intervals(&guest->tasks[i], before_ns);
		n_over += is_over(&guest->tasks[i], before_ns);
		/* all are up to date: of losses, the last one is enough */
		if (replay->n_epochs)
			replay->lives[i].epoch = 1;
	}
	guest->n_wakes = 0;
	if (replay->n_epochs) {
		replay->epochs[0] = replay->epochs[replay->n_epochs - 1];
		replay->n_epochs = 1;
	}
	return n_over < OVER_LEAST || n_over < guest->n_tasks / 4 ? 0 :
	       forget_tasks(replay, before_ns);
}

void virt_guest_free(struct virt_guest *guest)
{
	for (int i = 0; i < guest->n_cpus; i++)
		free(guest->cpus[i].runs);
	for (int32_t i = 0; i < guest->n_tasks; i++) {
		free(guest->tasks[i].name);
		free(guest->tasks[i].intervals);
	}
	for (int32_t i = 0; i < guest->n_handlers; i++)
		free(guest->handlers[i]);
	virt_locks_free(&guest->locks);
	free(guest->name);
	free(guest->cpus);
	free(guest->threads);
	free(guest->tasks);
	free(guest->wakes);
	free(guest->handlers);
	*guest = (struct virt_guest){ 0 };
}
