// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_follow.c
 * @brief	Track a KVM host for days.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "kvm_follow.h"
#include "kvm_order.h"
#include "kvm_wakes.h"
#include "virt_arguments.h"
#include "virt_excerpt.h"

/** Least number of elements to remove at once, and half of the array: one move each on average. */
#define DROP_LEAST	256

/** Threads are forgotten if this number of them is dead, and half of all. */
#define DEAD_LEAST	4096

/** A thread that was seen asleep. */
struct asleep {
	int64_t		from_ns, to_ns;
	int32_t		tid;
};

struct kvm_follow {
	struct kvm_tracker *tracker;
	struct virt_model *model;
	struct kvm_vcpus vcpus;
	struct kvm_replay *replay;	/* NULL: nothing was taken yet */
	uint32_t	n_known;	/* threads, when it was found out last whose they are */
	size_t		n_dead;		/* threads */
	struct asleep	*asleep;	/* ascending */
	size_t		n_asleep, asleep_room;
	int		(*see)(void *arg, const struct kvm_event *event);
	void		*arg;
};

struct kvm_follow *kvm_follow_new(const struct kvm_follow_options *options)
{
	struct kvm_follow *follow = calloc(1, sizeof(*follow));

	if (!follow)
		return NULL;
	follow->tracker = kvm_tracker_new();
	follow->model = virt_model_new();
	if (!follow->tracker || !follow->model ||
	    (options->n_cpus > 0 && kvm_tracker_expect_cpu(follow->tracker, options->n_cpus - 1))) {
		kvm_follow_free(follow);
		return NULL;
	}
	virt_model_skip_arguments(follow->model);
	kvm_tracker_expect(follow->tracker, options->kinds);
	follow->tracker->task_limit = KVM_FOLLOW_TASKS;
	/* the events stay for a moment only */
	follow->tracker->most_plain = 0;
	return follow;
}

void kvm_follow_free(struct kvm_follow *follow)
{
	if (!follow)
		return;
	kvm_replay_free(follow->replay);
	free(follow->vcpus.all);
	free(follow->asleep);
	kvm_tracker_free(follow->tracker);
	virt_model_free(follow->model);
	free(follow);
}

struct kvm_tracker *kvm_follow_tracker(struct kvm_follow *follow)
{
	return follow->tracker;
}

void kvm_follow_observe(struct kvm_follow *follow,
			int (*see)(void *arg, const struct kvm_event *event), void *arg)
{
	follow->see = see;
	follow->arg = arg;
}

const char *kvm_follow_comm(const struct kvm_follow *follow, int32_t pid)
{
	const struct kvm_thread *thread = kvm_thread_find(follow->tracker, pid);

	return thread && *thread->comm ? thread->comm : NULL;
}

/* --- who is who ------------------------------------------------------------------------------ */

/** The machine that has one of these threads; or NULL. */
static struct kvm_guest *guest_with(const struct kvm_tracker *tracker, const int32_t *tids, int n)
{
	for (size_t i = 0; i < tracker->n_guests; i++)
		for (int v = 0; v < n && v < tracker->guests[i].n_vcpus; v++)
			if (tids[v] > 0 && tids[v] == tracker->guests[i].tids[v])
				return &tracker->guests[i];
	return NULL;
}

int kvm_follow_add_guest(struct kvm_follow *follow, const char *name, const int32_t *tids,
			 int n_vcpus)
{
	struct kvm_guest *guest = guest_with(follow->tracker, tids, n_vcpus);
	int room = guest ? guest->n_vcpus : 0;

	if (!guest)
		return kvm_tracker_add_guest(follow->tracker, name, tids, n_vcpus);
	if (n_vcpus > guest->n_vcpus) {
		if (ARRAY_REACH(guest->tids, n_vcpus - 1, room))
			return -ENOMEM;
		guest->n_vcpus = n_vcpus;
	}
	memcpy(guest->tids, tids, (size_t)n_vcpus * sizeof(*tids));
	return 0;
}

static bool is_named_vcpu(const struct kvm_tracker *tracker, int32_t tid)
{
	for (size_t i = 0; i < tracker->n_guests; i++)
		for (int v = 0; v < tracker->guests[i].n_vcpus; v++)
			if (tracker->guests[i].tids[v] == tid)
				return true;
	return false;
}

/**
 * The next new record by which a thread enters or leaves its guest.
 * @i: where to begin; becomes its place
 * @last: another thread's than this one's
 *
 * Return: NULL if there is none.
 */
static const struct kvm_event *next_of_guest(const struct kvm_cpu *cpu, size_t *i, int32_t last)
{
	for (; *i < cpu->events.n_plain; (*i)++) {
		const struct kvm_event *event = &cpu->events.plain[*i];

		if (kvm_is_of_guest(event) && event->pid > 0 && event->pid != last)
			return event;
	}
	return NULL;
}

bool kvm_follow_has_strangers(const struct kvm_follow *follow)
{
	const struct kvm_tracker *tracker = follow->tracker;

	for (size_t c = 0; c < tracker->n_cpus; c++) {
		const struct kvm_cpu *cpu = &tracker->cpus[c];
		const struct kvm_event *event;
		int32_t last = KVM_NO_PID;

		for (size_t i = cpu->looked; (event = next_of_guest(cpu, &i, last)); i++) {
			const struct kvm_thread *thread = kvm_thread_find(tracker, event->pid);

			last = event->pid;
			if ((!thread || thread->vcpu == VIRT_NONE || thread->is_dead) &&
			    !is_named_vcpu(tracker, last))
				return true;
		}
	}
	return false;
}

/** A thread begins: its number may have been that of one that is dead. */
static void begin_life(struct kvm_follow *follow, int32_t pid)
{
	struct kvm_thread *thread = kvm_thread_find(follow->tracker, pid);

	if (!thread || !thread->is_dead)
		return;
	thread->is_dead = thread->is_owned = false;
	thread->vcpu = thread->task = thread->owner = VIRT_NONE;
	thread->process = 0;
	follow->n_dead--;
}

/** Who enters a guest is alive: where records are lost, its beginning may be among them. */
static void revive(struct kvm_follow *follow)
{
	const struct kvm_tracker *tracker = follow->tracker;

	for (size_t c = 0; c < tracker->n_cpus && follow->n_dead; c++) {
		const struct kvm_cpu *cpu = &tracker->cpus[c];
		const struct kvm_event *event;
		int32_t last = KVM_NO_PID;

		for (size_t i = cpu->looked; (event = next_of_guest(cpu, &i, last)); i++) {
			last = event->pid;
			begin_life(follow, last);
		}
	}
}

/** Whose are the threads that were not there before? Return: 0 or a negative errno. */
static int find_owners(struct kvm_follow *follow)
{
	struct kvm_tracker *tracker = follow->tracker;
	int ret = kvm_find_threads(tracker, follow->model, follow->vcpus.all,
				   (int32_t)follow->vcpus.n);

	for (uint32_t i = 0; i < tracker->pids.n_keys && !ret; i++)
		if (tracker->threads[i].task != VIRT_NONE)
			ret = kvm_own_task(tracker, follow->model, follow->vcpus.all,
					   &tracker->threads[i]);
	follow->n_known = tracker->pids.n_keys;
	return ret;
}

/** Find the CPUs, threads and vCPUs in new records. Return: 0 or a negative errno. */
static int look(struct kvm_follow *follow)
{
	struct kvm_tracker *tracker = follow->tracker;
	size_t before = follow->vcpus.n;
	int ret = kvm_add_threads(tracker);

	revive(follow);
	if (!ret)
		ret = kvm_find_vcpus(tracker, follow->model, &follow->vcpus);
	if (!ret && before != follow->vcpus.n)
		ret = find_owners(follow);
	if (ret)
		return ret;
	if (follow->replay)
		return kvm_replay_more(follow->replay, follow->vcpus.all, (int32_t)follow->vcpus.n,
				       tracker->fed_ns);
	follow->replay = kvm_replay_new(tracker, follow->model, follow->vcpus.all,
					(int32_t)follow->vcpus.n);
	return follow->replay ? 0 : -ENOMEM;
}

int kvm_follow_asleep(struct kvm_follow *follow, int32_t tid, int64_t from_ns, int64_t to_ns)
{
	if (ARRAY_GROW(follow->asleep, follow->n_asleep, follow->asleep_room))
		return -ENOMEM;
	follow->asleep[follow->n_asleep++] = (struct asleep){
		.from_ns = from_ns, .to_ns = to_ns, .tid = tid,
	};
	return 0;
}

/* --- what goes ------------------------------------------------------------------------------- */

/** A thread that gets its number later is not of its machine. */
static void end_vcpu(struct kvm_follow *follow, const struct kvm_vcpu *vcpu)
{
	if (vcpu->guest < KVM_UNNAMED)
		follow->tracker->guests[vcpu->guest].tids[vcpu->id] = 0;
}

static void end_life(struct kvm_follow *follow, int32_t pid)
{
	struct kvm_thread *thread = pid > 0 ? kvm_thread_find(follow->tracker, pid) : NULL;

	if (!thread || thread->is_dead)
		return;
	thread->is_dead = true;
	follow->n_dead++;
	if (thread->vcpu != VIRT_NONE)
		end_vcpu(follow, &follow->vcpus.all[thread->vcpu]);
}

static int take(void *arg, const struct kvm_event *event)
{
	struct kvm_follow *follow = arg;
	int ret = follow->see ? follow->see(follow->arg, event) : 0;

	if (event->kind == KVM_BORN)
		begin_life(follow, event->arg);
	if (!ret)
		ret = kvm_replay_take(follow->replay, event);
	if (event->kind == KVM_SWITCH && event->value & KVM_STATE_DEAD)
		end_life(follow, event->pid);
	return ret;
}

/** Is any record of a thread up to a time, of those that were not taken? */
static bool has_records(const struct kvm_tracker *tracker, int32_t tid, int64_t to_ns)
{
	for (size_t c = 0; c < tracker->n_cpus; c++) {
		const struct kvm_cpu *cpu = &tracker->cpus[c];

		for (size_t i = cpu->taken; i < cpu->events.n_plain; i++) {
			const struct kvm_event *event = &cpu->events.plain[i];

			if (event->time_ns > to_ns)
				break;
			if (event->pid == tid || event->arg == tid)
				return true;
		}
	}
	return false;
}

/** What was seen before a time. Return: 0 or a negative errno. */
static int take_asleep(struct kvm_follow *follow, int64_t until_ns)
{
	size_t n = 0;
	int ret = 0;

	for (; n < follow->n_asleep && follow->asleep[n].to_ns < until_ns && !ret; n++) {
		const struct asleep *seen = &follow->asleep[n];
		const struct kvm_thread *thread;

		ret = kvm_in_order(follow->tracker, seen->from_ns, take, follow);
		thread = kvm_thread_find(follow->tracker, seen->tid);
		if (!ret && thread && thread->vcpu != VIRT_NONE &&
		    !has_records(follow->tracker, seen->tid, seen->to_ns))
			kvm_replay_asleep(follow->replay, &follow->vcpus.all[thread->vcpu],
					  seen->from_ns);
	}
	follow->n_asleep -= n;
	if (n)
		memmove(follow->asleep, follow->asleep + n,
			follow->n_asleep * sizeof(*follow->asleep));
	return ret;
}

/** What is not kept. */
static void drop(struct kvm_tracker *tracker)
{
	for (size_t c = 0; c < tracker->n_cpus; c++) {
		struct kvm_cpu *cpu = &tracker->cpus[c];

		if (!cpu->n_levels)
			cpu->n_handled = 0;
		if (cpu->taken < DROP_LEAST || cpu->taken < cpu->events.n_plain / 2)
			continue;
		cpu->events.n_plain -= cpu->taken;
		memmove(cpu->events.plain, cpu->events.plain + cpu->taken,
			cpu->events.n_plain * sizeof(*cpu->events.plain));
		cpu->looked -= cpu->taken;
		cpu->taken = 0;
	}
	tracker->n_power = 0;
	tracker->n_offsets = 0;
	tracker->n_disordered = 0;
}

int kvm_follow_feed(struct kvm_follow *follow, int64_t until_ns)
{
	size_t n_disordered = follow->tracker->n_disordered;
	int ret = look(follow);

	for (size_t i = 0; i < n_disordered; i++)
		virt_model_contradiction(follow->model,
					 "a record is earlier than the one before it");
	if (!ret)
		ret = take_asleep(follow, until_ns);
	if (!ret)
		ret = kvm_in_order(follow->tracker, until_ns, take, follow);
	if (until_ns > follow->tracker->fed_ns)
		follow->tracker->fed_ns = until_ns;
	drop(follow->tracker);
	return ret;
}

int64_t kvm_follow_fed(const struct kvm_follow *follow)
{
	return follow->tracker->fed_ns;
}

int64_t kvm_follow_next(const struct kvm_follow *follow)
{
	const struct kvm_tracker *tracker = follow->tracker;
	int64_t next_ns = INT64_MAX;

	for (size_t c = 0; c < tracker->n_cpus; c++) {
		const struct kvm_cpu *cpu = &tracker->cpus[c];

		if (cpu->taken < cpu->events.n_plain &&
		    cpu->events.plain[cpu->taken].time_ns < next_ns)
			next_ns = cpu->events.plain[cpu->taken].time_ns;
	}
	return next_ns;
}

size_t kvm_follow_waiting(const struct kvm_follow *follow)
{
	size_t n = 0;

	for (size_t c = 0; c < follow->tracker->n_cpus; c++)
		n += follow->tracker->cpus[c].events.n_plain - follow->tracker->cpus[c].taken;
	return n;
}

int kvm_follow_model(const struct kvm_follow *follow, int64_t begin_ns, int64_t end_ns,
		     struct virt_model **model)
{
	struct virt_model *copy = virt_model_excerpt(follow->model, begin_ns);
	int ret = copy ? 0 : -ENOMEM;

	if (!ret && follow->replay)
		ret = kvm_replay_open_losses(follow->replay, copy);
	if (!ret)
		ret = virt_model_set_recorded(copy, follow->tracker->recorded);
	if (!ret)
		ret = virt_model_finish(copy, begin_ns, end_ns);
	if (ret)
		virt_model_free(copy);
	else
		*model = copy;
	return ret;
}

/* --- what is forgotten ----------------------------------------------------------------------- */

static void expect(struct kvm_tracker *tracker, int32_t pid)
{
	struct kvm_thread *thread = kvm_thread_find(tracker, pid);

	if (thread)
		thread->is_expected = true;
}

/** Expect the threads that new records name, which are not replayed yet. */
static void expect_next(struct kvm_tracker *tracker)
{
	for (uint32_t i = 0; i < tracker->pids.n_keys; i++)
		tracker->threads[i].is_expected = false;
	for (size_t c = 0; c < tracker->n_cpus; c++) {
		const struct kvm_cpu *cpu = &tracker->cpus[c];

		for (size_t i = cpu->taken; i < cpu->events.n_plain; i++) {
			expect(tracker, cpu->events.plain[i].pid);
			expect(tracker, cpu->events.plain[i].arg);
		}
	}
}

static bool is_over(const struct kvm_thread *thread)
{
	return thread->is_dead && thread->vcpu == VIRT_NONE && !thread->is_expected;
}

/** Threads that are dead, unless they are vCPUs. Return: 0 or -ENOMEM. */
static int bury(struct kvm_follow *follow)
{
	struct kvm_tracker *tracker = follow->tracker;
	struct key_map pids = { 0 };
	uint32_t n = 0;

	if (follow->n_dead < DEAD_LEAST || follow->n_dead < tracker->pids.n_keys / 2)
		return 0;
	expect_next(tracker);
	for (uint32_t i = 0; i < tracker->pids.n_keys; i++) {
		if (is_over(&tracker->threads[i]))
			continue;
		if (key_map_add(&pids, (uint32_t)tracker->threads[i].pid) < 0) {
			key_map_destroy(&pids);
			return -ENOMEM;
		}
	}
	for (uint32_t i = 0; i < tracker->pids.n_keys; i++)
		if (!is_over(&tracker->threads[i]))
			tracker->threads[n++] = tracker->threads[i];
	key_map_destroy(&tracker->pids);
	tracker->pids = pids;
	follow->n_dead = 0;
	follow->n_known = n;
	for (uint32_t i = 0; i < n; i++)
		follow->n_dead += tracker->threads[i].is_dead;
	return 0;
}

int kvm_follow_forget(struct kvm_follow *follow, int64_t before_ns)
{
	int ret = 0;

	/* of many threads that come and go, this takes time: not for each bit */
	if (follow->n_known != follow->tracker->pids.n_keys)
		ret = find_owners(follow);
	virt_model_forget(follow->model, before_ns);
	return ret ? ret : bury(follow);
}
