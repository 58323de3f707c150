// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_input_kernel.c
 * @brief	The current activity of this KVM host, as programs in its kernel count it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "kvm_live.h"
#include "record.h"
#include "search.h"
#include "top_input_kernel.h"
#include "top_kernel.h"

/** Machines are looked for as often as that. */
#define LOOK_NS		INT64_C(2000000000)
/** An end of an interval lies at least as far ahead when it is given to the kernel. */
#define AHEAD_NS	INT64_C(2000000)
/** There is room for as many vCPUs as run now, this many times, and these. */
#define ROOM_TIMES	2
#define ROOM_MORE	256
#define ROOM_MOST	65536

/**
 * KVM's counters of a machine. The first one counts all exits, each of the others those of one
 * reason; a kernel of another processor has the first one alone.
 */
static const char *const counters[] = {
	"exits", "halt_exits", "io_exits", "mmio_exits", "irq_exits", "irq_window_exits",
	"nmi_window_exits",
};

struct vcpu {
	int	id, tid;
	int	place;		/* in the kernel; -1: none */
	char	*name;
};

struct machine {
	int32_t		id;
	int		pid, fd;
	char		*called, *name;		/* "web", "g1:web" */
	struct vcpu	*vcpus;
	int		n_vcpus, room;
	int		*threads;		/* of its monitor, ascending */
	int		n_threads;
	int64_t		counted[ARRAY_SIZE(counters)]; /* up to the interval; VIRT_NONE: unknown */
	bool		is_over;
};

/** A thread of a machine. */
struct known {
	int	tid;
	int	machine, vcpu;		/* which ones; vcpu -1: another thread of its monitor */
};

struct top_input_kernel {
	const char	*name;
	struct top_input_kernel_options options;
	struct top_kernel *kernel;
	struct machine	*machines;
	int		n, room;
	int32_t		last_id;
	struct known	*known;			/* of all machines, by @tid; vCPUs first */
	size_t		n_known, known_room;
	uint64_t	number;			/* of the interval, from 1 on */
	struct top_kernel_edge edge;		/* of that */
	int64_t		begin_ns, looked_ns;
	bool		detached;		/* it ends */
	bool		ended;
	bool		had_no_room;		/* for all vCPUs */
	uint64_t	events, missed;		/* of all vCPUs that are there */
	uint64_t	torn;
	int64_t		others_ns;
};

/* --- who is who ------------------------------------------------------------------------------ */

static void free_machine(struct machine *machine)
{
	for (int i = 0; i < machine->n_vcpus; i++)
		free(machine->vcpus[i].name);
	free(machine->vcpus);
	free(machine->threads);
	free(machine->called);
	free(machine->name);
}

static struct machine *find_machine(const struct top_input_kernel *input,
				    const struct kvm_live_guest *guest)
{
	for (int i = 0; i < input->n; i++) {
		struct machine *machine = &input->machines[i];

		if (machine->pid == guest->pid && machine->fd == guest->fd && !machine->is_over)
			return machine;
	}
	return NULL;
}

/** What KVM counts by now. */
static void count_exits(const struct machine *machine, int64_t counts[ARRAY_SIZE(counters)])
{
	char text[32];

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		counts[i] = record_read(text, sizeof(text), "/sys/kernel/debug/kvm/%d-%d/%s",
					machine->pid, machine->fd, counters[i]) > 0 ?
			    strtoll(text, NULL, 10) : VIRT_NONE;
}

/** Return: NULL without memory. */
static struct machine *add_machine(struct top_input_kernel *input,
				   const struct kvm_live_guest *guest)
{
	struct machine *machine;

	if (ARRAY_GROW(input->machines, input->n, input->room))
		return NULL;
	machine = &input->machines[input->n];
	*machine = (struct machine){
		.id = input->last_id + 1, .pid = guest->pid, .fd = guest->fd,
		.called = strdup(guest->name),
	};
	if (!machine->called ||
	    asprintf(&machine->name, "g%d:%s", (int)machine->id, guest->name) < 0) {
		free(machine->called);
		return NULL;
	}
	input->last_id++;
	input->n++;
	count_exits(machine, machine->counted);
	return machine;
}

/** The kernel counts a vCPU's thread from now on. */
static void begin_vcpu(struct top_input_kernel *input, const struct machine *machine,
		       struct vcpu *vcpu, int tid)
{
	int64_t now_ns = record_now_ns();

	if (vcpu->place >= 0)
		top_kernel_drop(input->kernel, vcpu->place, vcpu->tid);
	vcpu->tid = tid;
	vcpu->place = top_kernel_add(input->kernel, tid, now_ns);
	input->had_no_room |= vcpu->place == -ENOSPC;
	now_ns = record_now_ns();
	if (vcpu->place >= 0 && record_is_asleep(machine->pid, tid))
		top_kernel_asleep(input->kernel, vcpu->place, now_ns);
}

/** Return: 0 or -ENOMEM. */
static int look_at_vcpu(struct top_input_kernel *input, struct machine *machine,
			const struct kvm_live_vcpu *live)
{
	int i = 0;

	while (i < machine->n_vcpus && machine->vcpus[i].id != live->id)
		i++;
	if (i == machine->n_vcpus) {
		if (ARRAY_GROW(machine->vcpus, machine->n_vcpus, machine->room))
			return -ENOMEM;
		machine->vcpus[i] = (struct vcpu){ .id = live->id, .place = -1 };
		if (asprintf(&machine->vcpus[i].name, "%s v%d", machine->called, live->id) < 0)
			return -ENOMEM;
		machine->n_vcpus++;
	}
	/* one that had no room may have it now */
	if (live->tid > 0 && (machine->vcpus[i].tid != live->tid || machine->vcpus[i].place < 0))
		begin_vcpu(input, machine, &machine->vcpus[i], live->tid);
	return 0;
}

/** Return: 0 or -ENOMEM. */
static int look_at_guest(struct top_input_kernel *input, const struct kvm_live_guest *guest)
{
	struct machine *machine = find_machine(input, guest);
	size_t size = (size_t)guest->n_threads * sizeof(*guest->threads);
	int ret = 0, *threads;

	if (!machine)
		machine = add_machine(input, guest);
	threads = machine ? malloc(size + 1) : NULL;
	if (!threads)
		return -ENOMEM;
	if (size)
		memcpy(threads, guest->threads, size);
	free(machine->threads);
	machine->threads = threads;
	machine->n_threads = guest->n_threads;
	for (int v = 0; v < guest->n_vcpus && !ret; v++)
		ret = look_at_vcpu(input, machine, &guest->vcpus[v]);
	return ret;
}

static int compare_known(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return x->tid != y->tid ? (x->tid > y->tid) - (x->tid < y->tid) :
	       (x->vcpu < y->vcpu) - (x->vcpu > y->vcpu);
}

static int add_known(struct top_input_kernel *input, int tid, int machine, int vcpu)
{
	if (ARRAY_GROW(input->known, input->n_known, input->known_room))
		return -ENOMEM;
	input->known[input->n_known++] = (struct known){ tid, machine, vcpu };
	return 0;
}

/** Whose threads there are, so that each culprit is found at once. Return: 0 or -ENOMEM. */
static int index_threads(struct top_input_kernel *input)
{
	int ret = 0;

	input->n_known = 0;
	for (int m = 0; m < input->n; m++) {
		const struct machine *machine = &input->machines[m];

		for (int v = 0; v < machine->n_vcpus && !ret; v++)
			ret = add_known(input, machine->vcpus[v].tid, m, v);
		for (int t = 0; t < machine->n_threads && !ret; t++)
			ret = add_known(input, machine->threads[t], m, -1);
	}
	if (input->n_known)
		qsort(input->known, input->n_known, sizeof(*input->known), compare_known);
	return ret;
}

/** Return: NULL if it is of no machine. A vCPU comes before the same thread of its monitor. */
static const struct known *find_known(const struct top_input_kernel *input, int tid)
{
	size_t i;

	SEARCH_FIRST(i, 0, input->n_known, input->known[i].tid < tid);
	return i < input->n_known && input->known[i].tid == tid ? &input->known[i] : NULL;
}

static bool is_there(const struct kvm_live *live, const struct machine *machine)
{
	for (int i = 0; i < live->n_guests; i++)
		if (live->guests[i].pid == machine->pid && live->guests[i].fd == machine->fd)
			return true;
	return false;
}

/** All machines that are there now. Return: 0 or a negative errno. */
static int look(struct top_input_kernel *input)
{
	struct kvm_live live = { 0 };
	int ret = kvm_live_read(record_root(), &live);

	for (int i = 0; i < live.n_notes; i++)
		if (!input->looked_ns)
			ksv_note("%s", live.notes[i]);
	for (int i = 0; i < live.n_guests && !ret; i++)
		ret = look_at_guest(input, &live.guests[i]);
	for (int i = 0; i < input->n && !ret; i++)
		input->machines[i].is_over |= !is_there(&live, &input->machines[i]);
	if (!ret)
		ret = index_threads(input);
	kvm_live_free(&live);
	input->looked_ns = record_now_ns();
	return ret;
}

/** Those that were over in the interval before are gone. Return: 0 or -ENOMEM. */
static int forget(struct top_input_kernel *input)
{
	int n = 0;

	for (int i = 0; i < input->n; i++) {
		struct machine *machine = &input->machines[i];

		if (machine->is_over) {
			for (int v = 0; v < machine->n_vcpus; v++)
				if (machine->vcpus[v].place >= 0)
					top_kernel_drop(input->kernel, machine->vcpus[v].place,
							machine->vcpus[v].tid);
			free_machine(machine);
		} else {
			input->machines[n++] = *machine;
		}
	}
	if (n == input->n)
		return 0;
	input->n = n;
	return index_threads(input);
}

/* --- begin and end --------------------------------------------------------------------------- */

static size_t count_vcpus(const struct kvm_live *live)
{
	size_t n = 0;

	for (int i = 0; i < live->n_guests; i++)
		n += (size_t)live->guests[i].n_vcpus;
	n = n * ROOM_TIMES + ROOM_MORE;
	return n < ROOM_MOST ? n : ROOM_MOST;
}

/** Return: KSV_EXIT_OK, or after a message. */
static int check(const char *name, struct kvm_live *live)
{
	int ret;

	if (!record_is_kvm()) {
		ksv_error("this host runs no KVM machines: there is no /dev/kvm; run top on the "
			  "host, or give a trace");
		return KSV_EXIT_FILE;
	}
	if (geteuid()) {
		ksv_error("--in-kernel needs root: sudo kshark-virt top ...");
		return KSV_EXIT_FILE;
	}
	ret = kvm_live_read(record_root(), live);
	if (!ret)
		return KSV_EXIT_OK;
	ksv_error("%s: --in-kernel needs debugfs: only /sys/kernel/debug/kvm shows which threads "
		  "are vCPUs: %s", name, strerror(-ret));
	return KSV_EXIT_FILE;
}

static void set_first_edge(struct top_input_kernel *input)
{
	input->begin_ns = record_now_ns();
	input->number = 1;
	input->edge.from_ns = (uint64_t)input->begin_ns;
	if (__builtin_add_overflow(input->edge.from_ns, (uint64_t)input->options.interval_ns,
				   &input->edge.to_ns))
		input->edge.to_ns = UINT64_MAX;
}

struct top_input_kernel *top_input_kernel_open(const char *name,
					       const struct top_input_kernel_options *options,
					       char *why, size_t size, int *status)
{
	struct top_input_kernel *input = calloc(1, sizeof(*input));
	struct kvm_live live = { 0 };
	int ret = 0;

	*why = '\0';
	*status = input ? check(name, &live) : KSV_EXIT_FILE;
	if (input && !*status) {
		input->name = name;
		input->options = *options;
		/* an interval has been read before the next one ends */
		if (input->options.hold_ns > input->options.interval_ns / 2)
			input->options.hold_ns = input->options.interval_ns / 2;
		input->kernel = top_kernel_open(count_vcpus(&live),
						(size_t)sysconf(_SC_NPROCESSORS_CONF), why, size);
		ret = input->kernel ? 0 : -ENOTSUP;
	}
	kvm_live_free(&live);
	if (input && input->kernel) {
		set_first_edge(input);
		ret = top_kernel_attach(input->kernel, &input->edge);
		if (!ret)
			ret = look(input);
		if (ret)
			snprintf(why, size, "%s", strerror(-ret));
	}
	if (!input || ret == -ENOMEM) {
		ksv_error("%s: not enough memory", name);
		*status = KSV_EXIT_FILE;
	}
	if (!*status && !ret)
		return input;
	top_input_kernel_close(input);
	return NULL;
}

bool top_input_kernel_is_idle(const struct top_input_kernel *input)
{
	return !input->n;
}

void top_input_kernel_close(struct top_input_kernel *input)
{
	if (!input)
		return;
	top_kernel_close(input->kernel);
	for (int i = 0; i < input->n; i++)
		free_machine(&input->machines[i]);
	free(input->machines);
	free(input->known);
	free(input);
}

/* --- facts ----------------------------------------------------------------------------------- */

/** A state of the model that the kernel's programs know, and what they call it. */
static const struct state_row {
	enum virt_state		state;
	enum top_kernel_state	counted;	/* TOP_KERNEL_N_STATES: not known */
} state_rows[] = {
	{ VIRT_GUEST, TOP_KERNEL_N_STATES },
	{ VIRT_HYPERVISOR, TOP_KERNEL_N_STATES },
	{ VIRT_POLLING, TOP_KERNEL_N_STATES },
	{ VIRT_VMM, TOP_KERNEL_N_STATES },
	{ VIRT_PREEMPTED, TOP_KERNEL_PREEMPTED },
	{ VIRT_WAKING, TOP_KERNEL_WAKING },
	{ VIRT_BLOCKED, TOP_KERNEL_BLOCKED },
	{ VIRT_OFFLINE, TOP_KERNEL_OFFLINE },
};

/** What facts are made of. */
struct walk {
	struct top_input_kernel	*input;
	top_fact_fn		take;
	void			*arg;
	struct top_kernel_edge	edge;
	uint64_t		number;
};

/** A time that no program has counted yet, cut to the interval. */
static uint64_t open_ns(const struct walk *walk, uint64_t since_ns)
{
	uint64_t from_ns = since_ns > walk->edge.from_ns ? since_ns : walk->edge.from_ns;

	return from_ns < walk->edge.to_ns ? walk->edge.to_ns - from_ns : 0;
}

static void add_open_culprit(const struct walk *walk, const struct top_kernel_vcpu *vcpu,
			     struct top_kernel_bank *bank)
{
	uint64_t ns = open_ns(walk, vcpu->slice_ns);
	struct top_kernel_culprit *free_one = NULL;

	for (int i = 0; i < TOP_KERNEL_CULPRITS && vcpu->waiter && vcpu->by; i++) {
		if (bank->culprits[i].key == vcpu->by) {
			bank->culprits[i].ns += ns;
			return;
		}
		if (!bank->culprits[i].key && !free_one)
			free_one = &bank->culprits[i];
	}
	if (!free_one) {
		bank->others_ns += ns;
		return;
	}
	*free_one = (struct top_kernel_culprit){ .key = vcpu->by, .ns = ns };
	memcpy(free_one->comm, vcpu->by_comm, sizeof(free_one->comm));
}

/** The bank of the interval, with what goes on at its end. */
static void close_bank(const struct walk *walk, struct top_kernel_vcpu *vcpu,
		       struct top_kernel_bank *bank)
{
	if (bank->number != walk->number)
		*bank = (struct top_kernel_bank){ .number = walk->number };
	if (vcpu->state == TOP_KERNEL_UNKNOWN && vcpu->asleep_ns) {
		vcpu->state = TOP_KERNEL_BLOCKED;
		vcpu->counted_ns = vcpu->asleep_ns;
	}
	bank->ns[vcpu->state] += open_ns(walk, vcpu->counted_ns);
	if (vcpu->state == TOP_KERNEL_PREEMPTED && open_ns(walk, vcpu->slice_ns))
		add_open_culprit(walk, vcpu, bank);
}

/** @is_counted: else all is unknown */
static void state_facts(const struct walk *walk, struct top_fact fact,
			const struct top_kernel_bank *bank, bool is_counted)
{
	int64_t length_ns = (int64_t)(walk->edge.to_ns - walk->edge.from_ns), rest_ns = length_ns;

	fact.kind = TOP_STATE;
	for (size_t i = 0; i < ARRAY_SIZE(state_rows); i++) {
		const struct state_row *row = &state_rows[i];

		fact.id = (int32_t)row->state;
		fact.name = virt_state_name(row->state);
		fact.ns = fact.count = VIRT_NONE;
		if (is_counted && row->counted < TOP_KERNEL_N_STATES) {
			fact.ns = (int64_t)bank->ns[row->counted];
			fact.count = (int64_t)bank->count[row->counted];
			rest_ns -= fact.ns;
		}
		walk->take(walk->arg, &fact);
	}
	/* on a pCPU, or not seen yet */
	walk->input->torn += rest_ns < 0;
	fact.id = VIRT_UNKNOWN;
	fact.name = virt_state_name(VIRT_UNKNOWN);
	fact.ns = rest_ns > 0 ? rest_ns : 0;
	fact.count = is_counted ? (int64_t)bank->count[TOP_KERNEL_ON] : VIRT_NONE;
	walk->take(walk->arg, &fact);
}

static int64_t percentile(const struct top_kernel_bank *bank)
{
	uint64_t per_mille = virt_stat_look(TOP_WAKE_STAT)->per_mille, sum = 0;
	uint64_t rank = (bank->wakes * per_mille + 999) / 1000;

	for (uint32_t i = 0; i < TOP_KERNEL_LATENCIES; i++) {
		sum += bank->latencies[i];
		if (sum && sum >= rank)
			return (int64_t)top_kernel_latency_end(i);
	}
	return VIRT_NONE;
}

static void wake_fact(const struct walk *walk, struct top_fact fact,
		      const struct top_kernel_bank *bank)
{
	fact.kind = TOP_WAKE;
	fact.count = (int64_t)bank->count[TOP_KERNEL_WAKING];
	fact.complete = (int64_t)bank->wakes;
	fact.ns = bank->wakes ? (int64_t)bank->wake_ns : VIRT_NONE;
	fact.wake_ns = percentile(bank);
	if (fact.count)
		walk->take(walk->arg, &fact);
}

/** A vCPU, a task of a machine's, or another task. */
static void name_culprit(const struct top_input_kernel *input,
			 const struct top_kernel_culprit *culprit, char *name, size_t size)
{
	int pid = (int)culprit->key - 1;
	const struct machine *machine;
	const struct known *known;

	/* the idle task has it */
	if (!pid) {
		snprintf(name, size, "nobody");
		return;
	}
	known = find_known(input, pid);
	machine = known ? &input->machines[known->machine] : NULL;
	if (known && known->vcpu >= 0)
		snprintf(name, size, "%s", machine->vcpus[known->vcpu].name);
	else if (known)
		snprintf(name, size, "%s's %.*s-%d", machine->called, TOP_KERNEL_COMM,
			 pid == machine->pid ? virt_thread_kind_name(VIRT_THREAD_MAIN) :
			 culprit->comm, pid);
	else
		snprintf(name, size, "%.*s-%d", TOP_KERNEL_COMM, culprit->comm, pid);
}

static int compare_culprits(const void *a, const void *b)
{
	const struct top_kernel_culprit *x = a, *y = b;

	return x->ns != y->ns ? x->ns < y->ns ? 1 : -1 : (x->key > y->key) - (x->key < y->key);
}

static void culprit_facts(const struct walk *walk, struct top_fact fact,
			  struct top_kernel_bank *bank)
{
	char name[256];

	fact.kind = TOP_STEAL;
	fact.name = name;
	fact.count = fact.complete = VIRT_NONE;
	qsort(bank->culprits, TOP_KERNEL_CULPRITS, sizeof(*bank->culprits), compare_culprits);
	for (size_t i = 0; i < TOP_KERNEL_CULPRITS; i++) {
		const struct top_kernel_culprit *culprit = &bank->culprits[i];

		/* a free one may have an old time */
		if (!culprit->key || !culprit->ns)
			continue;
		name_culprit(walk->input, culprit, name, sizeof(name));
		fact.id = (int32_t)culprit->key - 1;
		fact.ns = (int64_t)culprit->ns;
		walk->take(walk->arg, &fact);
	}
	if (!bank->others_ns)
		return;
	walk->input->others_ns += (int64_t)bank->others_ns;
	snprintf(name, sizeof(name), "others");
	fact.id = VIRT_OTHERS;
	fact.ns = (int64_t)bank->others_ns;
	walk->take(walk->arg, &fact);
}

static bool is_wanted(const struct walk *walk, const struct machine *machine,
		      const struct vcpu *vcpu)
{
	const struct ksv_vcpu_set *set = walk->input->options.vcpus;

	if (!ksv_vcpus_given(set) ||
	    ksv_vcpu_in_set(set, (xen_vcpu)machine->id << 16 | (uint32_t)vcpu->id))
		return true;
	for (int i = 0; i < set->n_names; i++)
		if (ksv_vcpu_is_called(machine->name, (uint32_t)vcpu->id, set->names[i]))
			return true;
	return false;
}

static void vcpu_facts(const struct walk *walk, struct top_fact fact, const struct vcpu *vcpu)
{
	struct top_kernel_vcpu read = { .state = TOP_KERNEL_UNKNOWN };
	struct top_kernel_bank *bank = &read.banks[walk->number & 1];

	fact.vcpu = vcpu->name;
	fact.vcpu_id = vcpu->id;
	if (vcpu->place >= 0) {
		walk->input->torn += !top_kernel_read(walk->input->kernel, vcpu->place, &read);
		if (read.state >= TOP_KERNEL_N_STATES)
			read.state = TOP_KERNEL_UNKNOWN;
		walk->input->events += read.events;
		walk->input->missed += read.missed;
	}
	close_bank(walk, &read, bank);
	fact.known_ns = (int64_t)(walk->edge.to_ns - walk->edge.from_ns);
	state_facts(walk, fact, bank, vcpu->place >= 0);
	/* KVM counts exits of each vCPU where only its monitor can read them */
	fact.kind = TOP_EXIT;
	fact.name = NULL;
	fact.id = fact.count = fact.ns = VIRT_NONE;
	walk->take(walk->arg, &fact);
	if (vcpu->place >= 0) {
		wake_fact(walk, fact, bank);
		culprit_facts(walk, fact, bank);
		return;
	}
	fact.kind = TOP_WAKE;
	walk->take(walk->arg, &fact);
	fact.kind = TOP_STEAL;
	walk->take(walk->arg, &fact);
}

/** @counts: receives what KVM counted since the interval before. */
static void exits_since(struct machine *machine, int64_t counts[ARRAY_SIZE(counters)])
{
	count_exits(machine, counts);
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		int64_t now = counts[i], before = machine->counted[i];

		counts[i] = now == VIRT_NONE || before == VIRT_NONE || now < before ? VIRT_NONE :
			    now - before;
		machine->counted[i] = now;
	}
}

/** Exits by reason; what no counter of a reason has is the rest. */
static void exit_facts(const struct walk *walk, struct top_fact fact, struct machine *machine)
{
	int64_t counts[ARRAY_SIZE(counters)], rest;

	exits_since(machine, counts);
	rest = counts[0];
	for (size_t i = 1; i < ARRAY_SIZE(counters) && rest != VIRT_NONE; i++)
		rest -= counts[i] == VIRT_NONE ? 0 : counts[i];
	fact.kind = TOP_EXIT;
	for (size_t i = 1; i < ARRAY_SIZE(counters) && rest >= 0; i++) {
		fact.id = (int32_t)i;
		fact.name = counters[i];
		fact.count = counts[i];
		if (counts[i] > 0)
			walk->take(walk->arg, &fact);
	}
	/* reasons that are more than all would be wrong */
	fact.id = rest >= 0 ? (int32_t)ARRAY_SIZE(counters) : 0;
	fact.name = counts[0] == VIRT_NONE ? NULL : rest >= 0 ? "other exits" : counters[0];
	fact.count = rest >= 0 ? rest : counts[0];
	if (fact.count)
		walk->take(walk->arg, &fact);
}

static void machine_facts(const struct walk *walk, struct machine *machine)
{
	struct top_fact fact = {
		.kind = TOP_MACHINE_STATE, .machine = machine->name, .machine_id = machine->id,
		.vcpu_id = VIRT_NONE, .pcpu = VIRT_NONE, .ns = VIRT_NONE, .count = VIRT_NONE,
		.complete = VIRT_NONE, .wake_ns = VIRT_NONE,
	};
	int n = 0;

	for (int v = 0; v < machine->n_vcpus; v++)
		n += is_wanted(walk, machine, &machine->vcpus[v]);
	if (!n)
		return;
	for (int state = 0; state < VIRT_M_LOST; state++) {
		fact.id = state;
		fact.name = virt_machine_state_name((enum virt_machine_state)state);
		walk->take(walk->arg, &fact);
	}
	exit_facts(walk, fact, machine);
	for (int v = 0; v < machine->n_vcpus; v++)
		if (is_wanted(walk, machine, &machine->vcpus[v]))
			vcpu_facts(walk, fact, &machine->vcpus[v]);
}

static int all_facts(void *arg, top_fact_fn take, void *taker)
{
	struct walk *walk = arg;

	walk->take = take;
	walk->arg = taker;
	walk->input->events = walk->input->missed = 0;
	for (int i = 0; i < walk->input->n; i++)
		machine_facts(walk, &walk->input->machines[i]);
	return 0;
}

/* --- intervals ------------------------------------------------------------------------------- */

/** After @edge, which has been read at a time. */
static struct top_kernel_edge edge_after(const struct top_input_kernel *input,
					 const struct top_kernel_edge *edge, int64_t now_ns)
{
	struct top_kernel_edge next = { .from_ns = edge->to_ns };
	uint64_t step = (uint64_t)input->options.interval_ns;
	uint64_t least_ns = (uint64_t)now_ns + AHEAD_NS, n = 1;

	/* who comes late makes it longer */
	if (least_ns > edge->to_ns)
		n = (least_ns - edge->to_ns + step - 1) / step;
	if (__builtin_mul_overflow(n ? n : 1, step, &step) ||
	    __builtin_add_overflow(edge->to_ns, step, &next.to_ns))
		next.to_ns = UINT64_MAX;
	return next;
}

/** Return: 1, 0 if there is none, or a negative errno. */
static int kernel_interval(void *self, struct top_interval *interval)
{
	struct top_input_kernel *input = self;
	struct walk walk = { .input = input, .edge = input->edge, .number = input->number };
	int64_t now_ns = record_now_ns();
	int ret;

	if (input->ended ||
	    (!input->detached &&
	     now_ns < (int64_t)input->edge.to_ns + input->options.hold_ns))
		return 0;
	/* the last one is as long as it was counted */
	if (input->detached && (int64_t)walk.edge.to_ns >= now_ns) {
		walk.edge.to_ns = (uint64_t)now_ns;
		input->ended = true;
		if (walk.edge.to_ns <= walk.edge.from_ns)
			return 0;
	}
	*interval = (struct top_interval){
		.from_ns = (int64_t)walk.edge.from_ns, .to_ns = (int64_t)walk.edge.to_ns,
	};
	ret = top_interval_collect(interval, all_facts, &walk);
	if (ret)
		return ret;
	input->edge = edge_after(input, &walk.edge, now_ns);
	input->number++;
	top_kernel_next(input->kernel, input->number, &input->edge);
	ret = forget(input);
	if (!ret)
		return 1;
	top_interval_free(interval);
	return ret;
}

/** Until the next interval can be read, or for so long. */
static void wait_for_end(const struct top_input_kernel *input, int64_t most_ns)
{
	int64_t ns = (int64_t)input->edge.to_ns + input->options.hold_ns - record_now_ns();
	struct timespec pause;

	ns = ns > most_ns ? most_ns : ns > 0 ? ns : 0;
	pause.tv_sec = ns / 1000000000;
	pause.tv_nsec = ns % 1000000000;
	nanosleep(&pause, NULL);
}

static int kernel_read(void *self, int timeout_ms)
{
	struct top_input_kernel *input = self;
	int ret = 0;

	if (input->options.grows && !input->options.grows(input->options.arg))
		return -ENODATA;
	wait_for_end(input, timeout_ms * INT64_C(1000000));
	if (record_now_ns() - input->looked_ns >= LOOK_NS)
		ret = look(input);
	return ret == -ENOMEM ? ret : 1;
}

static int kernel_end(void *self)
{
	struct top_input_kernel *input = self;

	top_kernel_detach(input->kernel);
	input->detached = true;
	return 0;
}

static bool kernel_has_begun(const void *self, int64_t *begin_ns)
{
	*begin_ns = ((const struct top_input_kernel *)self)->begin_ns;
	return true;
}

static int kernel_settle(void *self)
{
	(void)self;
	return 0;
}

static void kernel_notes(const void *self, struct trace_notes *notes)
{
	const struct top_input_kernel *input = self;
	uint64_t missed = top_kernel_missed(input->kernel);

	if (input->had_no_room)
		trace_notes_add(notes, TRACE_NOTE_LIMIT, TRACE_NOTE_WARNING,
				"%s: there was no room for all vCPUs of machines that began since: "
				"the states of some are unknown; run top again", input->name);
	if (input->missed)
		trace_notes_add(notes, TRACE_NOTE_CONTRADICTION, TRACE_NOTE_WARNING,
				"%s: %llu times, the kernel's programs did not see that a vCPU was "
				"woken, or got or lost a pCPU: the time in between is unknown",
				input->name,
				(unsigned long long)input->missed);
	if (missed)
		trace_notes_add(notes, TRACE_NOTE_LOSS, TRACE_NOTE_WARNING,
				"%s: the kernel's programs missed %llu events of the scheduler",
				input->name, (unsigned long long)missed);
	if (input->torn)
		trace_notes_add(notes, TRACE_NOTE_LOSS, TRACE_NOTE_WARNING,
				"%s: %llu times numbers of a vCPU changed while they were read",
				input->name, (unsigned long long)input->torn);
	if (input->others_ns)
		trace_notes_add(notes, TRACE_NOTE_LIMIT, TRACE_NOTE_WARNING,
				"%s: %.3f ms of steal have culprits that are unknown, or had no "
				"room: they are called others", input->name,
				(double)input->others_ns / 1e6);
}

static void kernel_count(const void *self, struct top_count *count)
{
	const struct top_input_kernel *input = self;

	*count = (struct top_count){ .records = input->events };
}

const struct top_input top_input_kernel = {
	.read = kernel_read,
	.settle = kernel_settle,
	.end = kernel_end,
	.has_begun = kernel_has_begun,
	.interval = kernel_interval,
	.notes = kernel_notes,
	.count = kernel_count,
};
