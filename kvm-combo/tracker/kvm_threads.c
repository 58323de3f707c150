// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_threads.c
 * @brief	Find the machine that a thread works for. The rules are in kvm_tracker.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "kvm_private.h"
#include "search.h"

/** As for vCPUs: what is made in a row is not far. */
#define MAX_DISTANCE	64

/** Makers of makers that are asked. */
#define MAX_MAKERS	16

/**
 * What threads of a machine's are called: in Linux, drivers/vhost/vhost.c, arch/x86/kvm/i8254.c and
 * arch/x86/kvm/mmu/mmu.c (cut to the 15 letters that a name can have); in QEMU, the callers of
 * qemu_thread_create(). The first row that fits counts.
 */
static const struct name_row {
	const char	*begin;
	uint8_t		kind;
	bool		has_pid;	/* the monitor's follows */
	bool		comes_and_goes;	/* its number does not show whose row it is in */
} name_rows[] = {
	{ "vhost-", VIRT_THREAD_VHOST, true, false },
	{ "kvm-pit/", VIRT_THREAD_PIT, true, false },
	{ "kvm-nx-lpage-re", VIRT_THREAD_PAGES, false, false },
	{ "IO mon_iothread", VIRT_THREAD_CONTROL, false, false },
	{ "IO ", VIRT_THREAD_IOTHREAD, false, false },
	{ "worker", VIRT_THREAD_WORKER, false, true },
	{ "live_migration", VIRT_THREAD_MIGRATION, false, true },
	{ "mig/", VIRT_THREAD_MIGRATION, false, true },
	{ "multifd", VIRT_THREAD_MIGRATION, false, true },
	{ "return path", VIRT_THREAD_MIGRATION, false, true },
	{ "postcopy/", VIRT_THREAD_MIGRATION, false, true },
	{ "bg_snapshot", VIRT_THREAD_MIGRATION, false, true },
	{ "call_rcu", VIRT_THREAD_RCU, false, false },
};

/** Monitors: what they are called, or begin with. */
static const struct {
	const char	*name;
	bool		whole;
} monitors[] = {
	{ "qemu-", false }, { "kvm", true }, { "crosvm", true }, { "cloud-hyperviso", true },
	{ "firecracker", true },
};

/** A machine whose monitor is known, or searched. */
struct machine {
	int32_t		number;		/* in the model */
	int32_t		first, last;	/* threads of its vCPUs */
	int32_t		vcpu;		/* one of them, by index */
	int32_t		process;	/* of the monitor; 0: not known */
	uint8_t		source;		/* of that: enum virt_thread_source */
};

struct search {
	struct kvm_tracker *tracker;
	const struct kvm_vcpu *vcpus;
	struct machine	*machines;	/* ascending by the first thread */
	size_t		n;
	struct key_map	processes;	/* of monitors */
	int32_t		*of_process;	/* machines, by number in it; VIRT_NONE: several */
	int32_t		*pids;		/* of all threads, ascending */
	size_t		n_pids;
};

/* --- names ----------------------------------------------------------------------------------- */

static bool begins(const char *comm, const char *begin)
{
	return !strncmp(comm, begin, strlen(begin));
}

/** @pid: receives the monitor's, or 0. Return: NULL for a name that no machine's thread has. */
static const struct name_row *row_of(const char *comm, int32_t *pid)
{
	*pid = 0;
	for (size_t i = 0; i < ARRAY_SIZE(name_rows); i++) {
		const struct name_row *row = &name_rows[i];
		int n = 0, end = 0;

		if (!begins(comm, row->begin))
			continue;
		if (!row->has_pid)
			return row;
		if (sscanf(comm + strlen(row->begin), "%9d%n", &n, &end) == 1 && n > 0 &&
		    !comm[strlen(row->begin) + (size_t)end]) {
			*pid = n;
			return row;
		}
	}
	return NULL;
}

static bool is_monitor(const char *comm)
{
	for (size_t i = 0; i < ARRAY_SIZE(monitors); i++)
		if (monitors[i].whole ? !strcmp(comm, monitors[i].name) :
					begins(comm, monitors[i].name))
			return true;
	return false;
}

/** What a thread of a monitor does; of a name that a monitor's thread has, too. */
static bool fits(const struct kvm_thread *thread, uint8_t *kind, bool *comes_and_goes)
{
	int32_t pid;
	const struct name_row *row = row_of(thread->comm, &pid);

	*kind = row ? row->kind : VIRT_THREAD_OTHER;
	*comes_and_goes = row && row->comes_and_goes;
	return row ? !row->has_pid : is_monitor(thread->comm);
}

/* --- monitors -------------------------------------------------------------------------------- */

static int compare_machines(const void *a, const void *b)
{
	const struct machine *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static int compare_pids(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/** The first machine all of whose vCPUs are behind @tid. */
static size_t machine_after(const struct search *search, int32_t tid)
{
	size_t i;

	SEARCH_FIRST(i, 0, search->n, search->machines[i].first <= tid);
	return i;
}

/** The machine whose monitor could have this pid, so close is its first vCPU; or NULL. */
static struct machine *machine_behind(const struct search *search, int32_t pid)
{
	size_t next = machine_after(search, pid);
	struct machine *machine = next < search->n ? &search->machines[next] : NULL;

	return machine && machine->first - pid <= MAX_DISTANCE ? machine : NULL;
}

/** The machine, by its place in the search, of a vCPU. */
static int32_t machine_of_vcpu(const struct search *search, int32_t vcpu)
{
	for (size_t i = 0; i < search->n; i++)
		if (search->machines[i].number == search->vcpus[vcpu].machine)
			return (int32_t)i;
	return VIRT_NONE;
}

/** Processes in which machines go on. Return: 0 or -ENOMEM. */
static int index_later(struct search *search)
{
	const struct kvm_tracker *tracker = search->tracker;

	for (uint32_t i = 0; tracker->has_lives && i < tracker->pids.n_keys; i++) {
		const struct kvm_thread *thread = &tracker->threads[i];
		int64_t at;

		if (!thread->first || !thread->process || thread->vcpu_then == VIRT_NONE)
			continue;
		at = key_map_add(&search->processes, (uint32_t)thread->process);
		if (at < 0)
			return -ENOMEM;
		search->of_process[at] = machine_of_vcpu(search, thread->vcpu_then);
	}
	return 0;
}

/** Those whose monitor is known, by it. Return: 0 or -ENOMEM. */
static int index_processes(struct search *search)
{
	key_map_destroy(&search->processes);
	search->processes = (struct key_map){ 0 };
	for (size_t i = 0; i < search->n; i++) {
		size_t before = search->processes.n_keys;
		int64_t at;

		if (!search->machines[i].process)
			continue;
		at = key_map_add(&search->processes, (uint32_t)search->machines[i].process);
		if (at < 0)
			return -ENOMEM;
		/* if a process has several machines, it is unknown for which a thread works */
		search->of_process[at] = (size_t)at == before ? (int32_t)i : VIRT_NONE;
	}
	return index_later(search);
}

static struct machine *machine_of_process(const struct search *search, int32_t process)
{
	int64_t at = process > 0 ? key_map_find(&search->processes, (uint32_t)process) : -1;

	return at >= 0 && search->of_process[at] != VIRT_NONE ?
	       &search->machines[search->of_process[at]] : NULL;
}

/** The nearest pid to its vCPUs, of several that could be the monitor's. */
static void take_process(struct machine *machine, int32_t pid, uint8_t source)
{
	if (!machine || (machine->process && (machine->source < source ||
					      machine->process >= pid)))
		return;
	machine->process = pid;
	machine->source = source;
}

/** Pids that names of threads contain. */
static void find_named(struct search *search)
{
	const struct kvm_tracker *tracker = search->tracker;

	for (uint32_t i = 0; i < tracker->pids.n_keys; i++) {
		int32_t pid;

		if (row_of(tracker->threads[i].comm, &pid) && pid &&
		    !machine_of_process(search, pid))
			take_process(machine_behind(search, pid), pid, VIRT_THREAD_OF_NAME);
	}
}

/** The first thread with the name of a monitor, behind the machine before and not far. */
static void find_in_row(struct search *search, size_t i)
{
	struct machine *machine = &search->machines[i];
	int32_t least = machine->first - MAX_DISTANCE;
	size_t at;

	if (i && search->machines[i - 1].last >= least)
		least = search->machines[i - 1].last + 1;
	SEARCH_FIRST(at, 0, search->n_pids, search->pids[at] < least);
	for (; at < search->n_pids && search->pids[at] < machine->first; at++) {
		const struct kvm_thread *thread = kvm_thread_find(search->tracker,
								  search->pids[at]);

		if (thread->vcpu == VIRT_NONE && is_monitor(thread->comm)) {
			machine->process = thread->pid;
			machine->source = VIRT_THREAD_OF_ROW;
			return;
		}
	}
}

/** Threads that will be a vCPU later. */
static size_t count_later(const struct kvm_tracker *tracker)
{
	size_t n = 0;

	for (uint32_t i = 0; tracker->has_lives && i < tracker->pids.n_keys; i++)
		n += tracker->threads[i].first != 0;
	return n;
}

/** Return: 0 or -ENOMEM. */
static int find_machines(struct search *search, const struct virt_model *model,
			 const struct kvm_vcpu *vcpus, int32_t n_vcpus)
{
	size_t n = (size_t)virt_model_n_machines(model);

	search->machines = calloc(n + 1, sizeof(*search->machines));
	search->of_process = malloc((n + count_later(search->tracker) + 1) *
				    sizeof(*search->of_process));
	if (!search->machines || !search->of_process)
		return -ENOMEM;
	search->n = n;
	for (int32_t i = 0; i < n_vcpus; i++) {
		const struct kvm_vcpu *vcpu = &vcpus[i];
		int32_t number = virt_model_vcpu(model, vcpu->index)->machine;
		struct machine *machine = &search->machines[number];
		const struct kvm_thread *thread = kvm_thread_find(search->tracker, vcpu->tid);

		machine->number = number;
		/* they come by ascending tid */
		if (!machine->first) {
			machine->first = vcpu->tid;
			machine->vcpu = i;
		}
		machine->last = vcpu->tid;
		/* of one that has died, the number may be that of another thread, or of none */
		if (thread && kvm_vcpu_of_thread(thread) == i && thread->process) {
			machine->process = thread->process;
			machine->source = VIRT_THREAD_OF_SIDECAR;
		}
	}
	qsort(search->machines, n, sizeof(*search->machines), compare_machines);
	return index_processes(search);
}

/* --- threads --------------------------------------------------------------------------------- */

static void own(struct kvm_thread *thread, const struct machine *machine, uint8_t kind,
		uint8_t source)
{
	thread->owner = machine->vcpu;
	thread->kind = kind;
	thread->source = source;
}

/** The machine in whose row of threads one is, if it can be only one's; or NULL. */
static const struct machine *machine_around(const struct search *search, int32_t pid)
{
	const struct machine *behind = machine_behind(search, pid), *before;
	size_t next = machine_after(search, pid);

	if (behind && behind->process && behind->process < pid)
		return behind;
	before = next ? &search->machines[next - 1] : NULL;
	if (!before || !before->process || pid - before->last > MAX_DISTANCE ||
	    (behind && !behind->process && pid > before->last))
		return NULL;
	return before;
}

/** What is known of a thread itself. */
static void find_owner(const struct search *search, struct kvm_thread *thread)
{
	const struct machine *machine;
	int32_t pid;
	const struct name_row *row = row_of(thread->comm, &pid);
	uint8_t kind = row ? row->kind : VIRT_THREAD_OTHER;

	machine = machine_of_process(search, thread->pid);
	if (machine) {
		own(thread, machine, VIRT_THREAD_MAIN, machine->source);
		return;
	}
	machine = machine_of_process(search, thread->process);
	if (machine) {
		own(thread, machine, kind, VIRT_THREAD_OF_SIDECAR);
		return;
	}
	machine = machine_of_process(search, pid);
	if (machine)
		own(thread, machine, kind, VIRT_THREAD_OF_NAME);
}

/** Who has made it, and so on: the first that is a machine's. */
static int32_t owner_of_makers(const struct search *search, const struct kvm_thread *thread)
{
	for (int i = 0; i < MAX_MAKERS && thread && thread->maker; i++) {
		thread = kvm_thread_find(search->tracker, thread->maker);
		if (thread && thread->vcpu != VIRT_NONE)
			return thread->vcpu;
		if (thread && thread->owner != VIRT_NONE)
			return thread->owner;
	}
	return VIRT_NONE;
}

/** The owner of a thread, from other threads, if its name fits. */
static void guess_owner(const struct search *search, struct kvm_thread *thread)
{
	const struct machine *around;
	bool comes_and_goes;
	uint8_t kind;

	if (!fits(thread, &kind, &comes_and_goes))
		return;
	if (thread->maker) {
		thread->owner = owner_of_makers(search, thread);
		thread->kind = kind;
		thread->source = VIRT_THREAD_OF_MAKER;
		return;
	}
	around = comes_and_goes ? NULL : machine_around(search, thread->pid);
	if (around)
		own(thread, around, kind, VIRT_THREAD_OF_ROW);
}

static bool is_open(const struct kvm_thread *thread)
{
	return thread->pid > 0 && thread->vcpu == VIRT_NONE && thread->owner == VIRT_NONE;
}

static int sort_pids(struct search *search)
{
	const struct kvm_tracker *tracker = search->tracker;

	search->n_pids = tracker->pids.n_keys;
	search->pids = malloc((search->n_pids + 1) * sizeof(*search->pids));
	if (!search->pids)
		return -ENOMEM;
	for (size_t i = 0; i < search->n_pids; i++)
		search->pids[i] = tracker->threads[i].pid;
	if (search->n_pids)
		qsort(search->pids, search->n_pids, sizeof(*search->pids), compare_pids);
	return 0;
}

/** The monitors that no record shows for certain. Return: 0 or -ENOMEM. */
static int find_monitors(struct search *search)
{
	int ret = sort_pids(search);

	if (ret)
		return ret;
	find_named(search);
	for (size_t i = 0; i < search->n; i++)
		if (!search->machines[i].process)
			find_in_row(search, i);
	return index_processes(search);
}

int kvm_find_threads(struct kvm_tracker *tracker, const struct virt_model *model,
		     const struct kvm_vcpu *vcpus, int32_t n_vcpus)
{
	struct search search = { .tracker = tracker, .vcpus = vcpus };
	int ret = n_vcpus ? find_machines(&search, model, vcpus, n_vcpus) : 0;

	if (!ret && n_vcpus)
		ret = find_monitors(&search);
	for (uint32_t i = 0; i < tracker->pids.n_keys && !ret && n_vcpus; i++)
		if (is_open(&tracker->threads[i]))
			find_owner(&search, &tracker->threads[i]);
	/* in order of their making, so that makers come first */
	for (size_t i = 0; i < search.n_pids && !ret; i++) {
		struct kvm_thread *thread = kvm_thread_find(tracker, search.pids[i]);

		if (is_open(thread))
			guess_owner(&search, thread);
	}
	key_map_destroy(&search.processes);
	free(search.of_process);
	free(search.machines);
	free(search.pids);
	return ret;
}
