// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_locks.c
 * @brief	Find out who had a lock for which another task waited.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "search.h"
#include "virt_guest.h"
#include "virt_locks.h"

/** Holds for each wait, on average: a damaged trace may have any number of tasks with one lock. */
#define MOST_HOLDS	16

/** While holds are collected. */
struct making {
	const struct virt_guest	*guest;
	struct virt_locks	*locks;
	uint32_t		*gets;	/* waits that ended with the lock, by lock, then by end */
	size_t			n_gets;
	int			error;
};

static bool is_known(const struct virt_lock_wait *wait)
{
	return wait->end_ns != VIRT_LOCK_NO_TIME;
}

/* --- who gets a lock when --------------------------------------------------------------------- */

static int compare_waits(const void *a, const void *b)
{
	const struct virt_lock_wait *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int compare_gets(const void *a, const void *b, void *arg)
{
	const struct virt_lock_wait *waits = arg;
	const struct virt_lock_wait *x = &waits[*(const uint32_t *)a];
	const struct virt_lock_wait *y = &waits[*(const uint32_t *)b];

	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static int find_gets(struct making *making)
{
	const struct virt_locks *locks = making->locks;

	making->gets = calloc(locks->n_waits + 1, sizeof(*making->gets));
	if (!making->gets)
		return -ENOMEM;
	for (size_t i = 0; i < locks->n_waits; i++)
		if (is_known(&locks->waits[i]) && !locks->waits[i].has_failed)
			making->gets[making->n_gets++] = (uint32_t)i;
	qsort_r(making->gets, making->n_gets, sizeof(*making->gets), compare_gets, locks->waits);
	return 0;
}

/** Which wait for the lock of @wait ended with it, @i of those from a time on; NULL: no more. */
static const struct virt_lock_wait *get_after(const struct making *making,
					      const struct virt_lock_wait *wait, int64_t time_ns,
					      size_t i)
{
	const struct virt_lock_wait *waits = making->locks->waits, *found;
	const uint32_t *gets = making->gets;
	size_t first;

	SEARCH_FIRST(first, 0, making->n_gets, waits[gets[first]].lock < wait->lock ||
		     (waits[gets[first]].lock == wait->lock &&
		      waits[gets[first]].end_ns <= time_ns));
	if (first + i >= making->n_gets)
		return NULL;
	found = &waits[gets[first + i]];
	return found->lock == wait->lock ? found : NULL;
}

/** The last one that ended with it before a time, and since the wait began; NULL: none. */
static const struct virt_lock_wait *get_before(const struct making *making,
					       const struct virt_lock_wait *wait, int64_t time_ns)
{
	const struct virt_lock_wait *waits = making->locks->waits, *found;
	const uint32_t *gets = making->gets;
	size_t next;

	SEARCH_FIRST(next, 0, making->n_gets, waits[gets[next]].lock < wait->lock ||
		     (waits[gets[next]].lock == wait->lock &&
		      waits[gets[next]].end_ns < time_ns));
	found = next ? &waits[gets[next - 1]] : NULL;
	return found && found->lock == wait->lock && found->end_ns > wait->begin_ns ? found : NULL;
}

/* --- holds ------------------------------------------------------------------------------------ */

static bool is_full(const struct making *making)
{
	return making->locks->n_holds / MOST_HOLDS > making->locks->n_waits;
}

static void add(struct making *making, const struct virt_lock_wait *wait,
		const struct virt_lock_wait *next, int32_t pid, int16_t cpu, int64_t from_ns,
		int64_t to_ns)
{
	struct virt_locks *locks = making->locks;

	if (making->error || from_ns >= to_ns || is_full(making))
		return;
	if (ARRAY_GROW(locks->holds, locks->n_holds, locks->room_holds)) {
		making->error = -ENOMEM;
		return;
	}
	locks->holds[locks->n_holds++] = (struct virt_lock_hold){
		.from_ns = from_ns, .to_ns = to_ns, .wait = (uint32_t)(wait - locks->waits),
		.next = (uint32_t)(next - locks->waits), .pid = pid, .cpu = cpu,
	};
}

/** Until when a task keeps a spinlock from a time on: it does not wait for what it has. */
static int64_t kept_until(const struct making *making, uint64_t lock, int32_t pid, int16_t cpu,
			  int64_t from_ns, int64_t to_ns)
{
	const struct virt_lock_wait *wait;
	size_t at = 0;

	while ((wait = virt_lock_next_wait(making->locks, pid, from_ns, to_ns, &at)))
		if (wait->lock == lock && (pid || wait->cpu == cpu))
			return wait->begin_ns;
	return to_ns;
}

/** The task on a CPU, all the time; VIRT_NONE: unknown, or several. */
static int32_t pid_on(const struct virt_guest_cpu *cpu, int64_t from_ns, int64_t to_ns)
{
	ptrdiff_t run = virt_guest_run_at(cpu, from_ns);

	if (run < 0)
		return VIRT_NONE;
	for (size_t i = (size_t)run + 1; i < cpu->n && cpu->runs[i].start_ns < to_ns; i++)
		if (cpu->runs[i].pid != cpu->runs[run].pid)
			return VIRT_NONE;
	return cpu->runs[run].pid;
}

/** A lock is not with the CPU that waits for it: of two, it is with the other one. */
static void add_other_cpu(struct making *making, const struct virt_lock_wait *wait,
			  const struct virt_lock_wait *next)
{
	const struct virt_guest *guest = making->guest;
	int64_t to_ns = next->end_ns;
	int other = !wait->cpu;
	int32_t pid;

	if (guest->n_cpus != 2 || wait->cpu < 0 || wait->cpu > 1 || !guest->cpus[other].n)
		return;
	pid = pid_on(&guest->cpus[other], wait->begin_ns, to_ns);
	if (pid != VIRT_NONE)
		add(making, wait, next, pid, (int16_t)other, wait->begin_ns,
		    kept_until(making, wait->lock, pid, (int16_t)other, wait->begin_ns, to_ns));
}

/** While one waits, no other task gets a spinlock without a wait of its own. */
static void add_spinners(struct making *making, const struct virt_lock_wait *wait)
{
	const struct virt_lock_wait *get = get_after(making, wait, wait->begin_ns, 0), *next;

	if (!get || get->end_ns > wait->end_ns)
		get = wait;
	add_other_cpu(making, wait, get);
	for (size_t i = 1; get->end_ns < wait->end_ns && !is_full(making); i++, get = next) {
		next = get_after(making, wait, wait->begin_ns, i);
		if (!next || next->end_ns > wait->end_ns)
			next = wait;
		add(making, wait, next, get->pid, get->cpu, get->end_ns,
		    kept_until(making, wait->lock, get->pid, get->cpu, get->end_ns,
			       next->end_ns));
	}
}

/** Does a task wait for the lock of @wait itself at a time, or until @to_ns? */
static bool is_waiting(const struct making *making, const struct virt_lock_wait *wait, int32_t pid,
		       int64_t from_ns, int64_t to_ns)
{
	const struct virt_lock_wait *other;
	size_t at = 0;

	while ((other = virt_lock_next_wait(making->locks, pid, from_ns, to_ns + 1, &at)))
		if (other->lock == wait->lock)
			return true;
	return false;
}

/** The last wake-up in a wait, its time, and when the task first slept; false: not known. */
static bool find_wake(const struct making *making, const struct virt_lock_wait *wait,
		      const struct virt_life_wake **wake, int64_t *first_ns, int64_t *wake_ns)
{
	const struct virt_guest *guest = making->guest;
	int32_t index = virt_guest_find(guest, wait->pid);
	const struct virt_guest_task *task = index > 0 ? &guest->tasks[index] : NULL;
	ptrdiff_t at = task ? virt_life_at(task, wait->begin_ns) : -1;

	*wake = NULL;
	for (size_t i = at < 0 ? 0 : (size_t)at; task && i + 1 < task->n &&
	     task->intervals[i].start_ns < wait->end_ns; i++) {
		const struct virt_life_interval *interval = &task->intervals[i];

		if (interval->state == VIRT_LIFE_UNKNOWN)
			return false;
		if (interval->state != VIRT_LIFE_BLOCKED || interval->start_ns < wait->begin_ns)
			continue;
		if (!*wake)
			*first_ns = interval->start_ns;
		if (interval->wake == VIRT_NONE)
			return false;
		*wake = &guest->wakes[interval->wake];
		*wake_ns = interval[1].start_ns;
	}
	return *wake && (*wake)->cause == VIRT_WAKE_TASK && (*wake)->waker > 0;
}

/** Who wakes the next one has had the lock. */
static void add_waker(struct making *making, const struct virt_lock_wait *wait)
{
	const struct virt_life_wake *wake;
	const struct virt_lock_wait *get;
	int64_t from_ns = 0, wake_ns = 0;
	/* others may have got it without a record */
	bool is_shared = wait->how == VIRT_LOCK_SHARED, is_certain = !is_shared;

	if (!find_wake(making, wait, &wake, &from_ns, &wake_ns) ||
	    is_waiting(making, wait, wake->waker, wake_ns, is_shared ? wait->end_ns : wake_ns))
		return;
	/* of those that got it in between, the last one is the waker */
	get = get_before(making, wait, wake_ns);
	if (get) {
		from_ns = get->end_ns;
		is_certain = get->pid == wake->waker;
	}
	add(making, wait, wait, wake->waker, VIRT_NONE, is_certain ? from_ns : wake_ns - 1,
	    wake_ns);
}

static int compare_holds(const void *a, const void *b)
{
	const struct virt_lock_hold *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (x->wait > y->wait) - (x->wait < y->wait);
}

static int add_holds(struct making *making)
{
	const struct virt_locks *locks = making->locks;

	for (size_t i = 0; i < locks->n_waits && !making->error; i++) {
		const struct virt_lock_wait *wait = &locks->waits[i];

		if (!is_known(wait) || wait->has_failed || wait->how == VIRT_LOCK_OTHER)
			continue;
		(wait->how == VIRT_LOCK_SPINS ? add_spinners : add_waker)(making, wait);
	}
	if (locks->n_holds)
		qsort(locks->holds, locks->n_holds, sizeof(*locks->holds), compare_holds);
	return making->error;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int set_wait_reach(struct virt_locks *locks)
{
	locks->wait_reach = calloc(locks->n_waits + 1, sizeof(*locks->wait_reach));
	if (!locks->wait_reach)
		return -ENOMEM;
	for (size_t i = 0; i < locks->n_waits; i++) {
		const struct virt_lock_wait *wait = &locks->waits[i];

		locks->wait_reach[i] = is_known(wait) ? wait->end_ns : wait->begin_ns;
		if (i && wait[-1].pid == wait->pid &&
		    locks->wait_reach[i - 1] > locks->wait_reach[i])
			locks->wait_reach[i] = locks->wait_reach[i - 1];
	}
	return 0;
}

static int set_hold_reach(struct virt_locks *locks)
{
	locks->hold_reach = calloc(locks->n_holds + 1, sizeof(*locks->hold_reach));
	if (!locks->hold_reach)
		return -ENOMEM;
	for (size_t i = 0; i < locks->n_holds; i++) {
		locks->hold_reach[i] = locks->holds[i].to_ns;
		if (i && locks->hold_reach[i - 1] > locks->hold_reach[i])
			locks->hold_reach[i] = locks->hold_reach[i - 1];
	}
	return 0;
}

int virt_guest_set_locks(struct virt_guest *guest, struct virt_lock_wait *waits, size_t n)
{
	struct making making = { .guest = guest, .locks = &guest->locks };
	int ret;

	guest->locks = (struct virt_locks){ .waits = waits, .n_waits = n };
	if (n)
		qsort(waits, n, sizeof(*waits), compare_waits);
	ret = set_wait_reach(&guest->locks);
	if (!ret)
		ret = find_gets(&making);
	if (!ret)
		ret = add_holds(&making);
	if (!ret)
		ret = set_hold_reach(&guest->locks);
	free(making.gets);
	return ret;
}

void virt_locks_free(struct virt_locks *locks)
{
	free(locks->waits);
	free(locks->wait_reach);
	free(locks->holds);
	free(locks->hold_reach);
	*locks = (struct virt_locks){ .n_waits = 0 };
}

/* --- queries ---------------------------------------------------------------------------------- */

const struct virt_lock_wait *virt_lock_next_wait(const struct virt_locks *locks, int32_t pid,
						 int64_t from_ns, int64_t to_ns, size_t *at)
{
	size_t i = *at;

	if (!i)
		SEARCH_FIRST(i, 0, locks->n_waits, locks->waits[i].pid < pid ||
			     (locks->waits[i].pid == pid && locks->wait_reach[i] <= from_ns));
	for (; i < locks->n_waits && locks->waits[i].pid == pid &&
	       locks->waits[i].begin_ns < to_ns; i++) {
		if (is_known(&locks->waits[i]) && locks->waits[i].end_ns > from_ns) {
			*at = i + 1;
			return &locks->waits[i];
		}
	}
	return NULL;
}

const struct virt_lock_wait *virt_lock_wait_around(const struct virt_locks *locks, int32_t pid,
						   int64_t from_ns, int64_t to_ns)
{
	const struct virt_lock_wait *wait, *found = NULL;
	size_t at = 0;

	/* the later one begins within the other one */
	while ((wait = virt_lock_next_wait(locks, pid, from_ns, to_ns, &at)))
		if (wait->begin_ns <= from_ns && wait->end_ns >= to_ns)
			found = wait;
	return found;
}

const struct virt_lock_hold *virt_lock_next_hold(const struct virt_locks *locks, int64_t from_ns,
						 int64_t to_ns, size_t *at)
{
	size_t i = *at;

	if (!i)
		SEARCH_FIRST(i, 0, locks->n_holds, locks->hold_reach[i] <= from_ns);
	for (; i < locks->n_holds && locks->holds[i].from_ns < to_ns; i++) {
		if (locks->holds[i].to_ns > from_ns) {
			*at = i + 1;
			return &locks->holds[i];
		}
	}
	return NULL;
}
