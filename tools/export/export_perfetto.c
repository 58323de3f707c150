// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	export_perfetto.c
 * @brief	A window of a trace as tracks: host > machine > vCPU, and the physical CPUs.
 *
 * Records of Linux are export_ftrace.c's. The vCPUs of Xen are threads of the host's machine, so
 * that Perfetto's "sched" and "thread_state" have them, too.
 *
 * From src/trace_processor/ of https://github.com/google/perfetto at commit ec5d16b1:
 * importers/common/state_tracker.cc makes one row of updates with the same state, so that none is
 * between two of them here; importers/generic_kernel/generic_kernel_parser.cc refuses RUNNING after
 * RUNNING, and knows no unknown state.
 */
#include <errno.h>
#include <stdio.h>

#include "export_ftrace.h"
#include "export_packet.h"
#include "export_perfetto.h"
#include "key_map.h"
#include "virt_arguments.h"
#include "virt_exits.h"
#include "virt_needs.h"

/** Tracks have numbers: of the host, of pCPUs, machines, some for each vCPU, then of samples. */
#define TRACK_HOST	1

enum vcpu_track { OF_ALL = 0, OF_STATES, OF_EXITS, OF_STEAL, OF_WAKES, OF_TASKS, N_OF_VCPU };

/** Names have numbers: a few that are always there, then of reasons, vCPUs and tasks. */
enum {
	NAME_STATE = 1,
	NAME_CAUSE = NAME_STATE + VIRT_N_STATES,
	NAME_UNKNOWN = NAME_CAUSE + VIRT_N_WAKES,
	NAME_MIGRATES,
	NAME_COMES,
	NAME_WAKES,
	NAME_PREEMPTS,
	NAME_LOST,
	NAME_NOBODY,
	NAME_REASON,
};

struct perfetto {
	const struct export_job	*job;
	const struct virt_model	*model;
	struct output		*out;
	int64_t			shift_ns;	/* times of the format are not below 0 */
	uint64_t		flows;		/* given away */
	uint64_t		task_names;	/* names of guests' tasks begin with this one */
	struct key_map		tasks;		/* guest and pid, in order of their names */
	bool			no_memory;
};

static uint64_t pcpu_track(int32_t pcpu)
{
	return TRACK_HOST + 1 + (uint64_t)pcpu;
}

static uint64_t machine_track(const struct perfetto *perfetto, int32_t machine)
{
	return pcpu_track(perfetto->job->report->n_pcpus) + (uint64_t)machine * 2;
}

static uint64_t vcpu_track(const struct perfetto *perfetto, int32_t vcpu, enum vcpu_track what)
{
	return machine_track(perfetto, virt_model_n_machines(perfetto->model)) +
	       (uint64_t)vcpu * N_OF_VCPU + what;
}

static uint64_t sample_track(const struct perfetto *perfetto, int number)
{
	return vcpu_track(perfetto, virt_model_n_vcpus(perfetto->model), OF_ALL) + (uint64_t)number;
}

static uint64_t reason_name(int32_t reason)
{
	return reason < 0 ? NAME_UNKNOWN : NAME_REASON + (uint64_t)reason;
}

static uint64_t who_name(const struct perfetto *perfetto, int32_t who)
{
	uint64_t first = NAME_REASON + (uint64_t)virt_model_n_reasons(perfetto->model);

	if (who < 0)
		return NAME_UNKNOWN;
	return who < VIRT_FIRST_TASK ? first + (uint64_t)who :
	       first + (uint64_t)virt_model_n_vcpus(perfetto->model) +
	       (uint64_t)(who - VIRT_FIRST_TASK);
}

static void put_names(const struct perfetto *perfetto)
{
	static const char *const names[] = {
		"unknown", "migrates", "comes", "wakes", "preempts", "lost records",
	};
	const struct virt_model *model = perfetto->model;
	struct output *out = perfetto->out;

	for (int i = 0; i < VIRT_N_STATES; i++)
		packet_name(out, NAME_STATE + (uint64_t)i, virt_state_name((enum virt_state)i));
	for (int i = 0; i < VIRT_N_WAKES; i++)
		packet_name(out, NAME_CAUSE + (uint64_t)i,
			    virt_wake_cause_name((enum virt_wake_cause)i));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		packet_name(out, NAME_UNKNOWN + i, names[i]);
	packet_name(out, NAME_NOBODY, virt_model_culprit(model, VIRT_NONE));
	for (int32_t i = 0; i < virt_model_n_reasons(model); i++)
		packet_name(out, reason_name(i), virt_model_reason(model, i));
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++)
		packet_name(out, who_name(perfetto, i), virt_model_vcpu(model, i)->name);
	for (int32_t i = VIRT_FIRST_TASK; virt_model_task(model, i); i++)
		packet_name(out, who_name(perfetto, i), virt_model_who(model, i));
}

/** Behind all others, of which those of tasks are the last ones. */
static uint64_t first_task_name(const struct perfetto *perfetto)
{
	int32_t i = VIRT_FIRST_TASK;

	while (virt_model_task(perfetto->model, i))
		i++;
	return who_name(perfetto, i);
}

static void put_track(const struct perfetto *perfetto, uint64_t track, uint64_t parent,
		      const char *name, int32_t rank, const char *unit)
{
	packet_track(perfetto->out, &(struct packet_track){
		.track = track, .parent = parent, .name = name, .rank = rank, .unit = unit,
	});
}

static bool has_tasks(const struct perfetto *perfetto, int32_t vcpu)
{
	for (int guest = 0; guest < perfetto->job->n_guests; guest++)
		for (int i = 0; i < perfetto->job->guests[guest].n_cpus; i++)
			if (perfetto->job->guests[guest].cpus[i].vcpu == vcpu)
				return true;
	return false;
}

/** Without its records, a track would be empty as if nothing had happened. */
static bool is_shown(const struct perfetto *perfetto, int32_t vcpu, enum vcpu_track what)
{
	static const enum virt_number numbers[N_OF_VCPU] = {
		[OF_EXITS] = VIRT_NUMBER_EXITS, [OF_STEAL] = VIRT_NUMBER_PREEMPTED,
		[OF_WAKES] = VIRT_NUMBER_WAKING,
	};

	return what == OF_TASKS ? has_tasks(perfetto, vcpu) :
	       what <= OF_STATES || virt_model_knows(perfetto->model, numbers[what]);
}

static void put_vcpu_tracks(const struct perfetto *perfetto, int32_t vcpu, uint64_t machine,
			    int32_t rank)
{
	static const char *const names[N_OF_VCPU] = {
		[OF_STATES] = "state", [OF_EXITS] = "VM exits", [OF_STEAL] = "steal",
		[OF_WAKES] = "wake-ups", [OF_TASKS] = "tasks",
	};
	uint64_t track = vcpu_track(perfetto, vcpu, OF_ALL);

	put_track(perfetto, track, machine, virt_model_vcpu(perfetto->model, vcpu)->name, rank,
		  NULL);
	packet_track(perfetto->out, &(struct packet_track){
		.track = track + OF_STATES, .parent = track, .name = names[OF_STATES],
		.has_states = true,
	});
	for (int32_t i = OF_EXITS; i < N_OF_VCPU; i++)
		if (is_shown(perfetto, vcpu, (enum vcpu_track)i))
			put_track(perfetto, track + (uint64_t)i, track, names[i], i, NULL);
}

static void put_tracks(const struct perfetto *perfetto)
{
	int n_pcpus = perfetto->job->report->n_pcpus;
	char name[32];

	put_track(perfetto, TRACK_HOST, 0, "host", 0, NULL);
	for (int i = 0; i < n_pcpus; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		put_track(perfetto, pcpu_track(i), TRACK_HOST, name, i, NULL);
	}
	for (int32_t i = 0; i < virt_model_n_machines(perfetto->model); i++) {
		const struct virt_machine *machine = virt_model_machine(perfetto->model, i);
		uint64_t track = machine_track(perfetto, i);

		put_track(perfetto, track, TRACK_HOST, machine->name, n_pcpus + i, NULL);
		put_track(perfetto, track + 1, track, "machine state", 0, "state");
		for (int32_t j = 0; j < machine->n_vcpus; j++)
			put_vcpu_tracks(perfetto, machine->vcpus[j], track, j + 1);
	}
}

/* --- events ---------------------------------------------------------------------------------- */

static void note(struct packet_event *event, enum packet_note what, bool is_name, int64_t value)
{
	event->notes[event->n_notes++] = (struct packet_note_value){ what, is_name, value, NULL };
}

static void note_text(struct packet_event *event, enum packet_note what, const char *text)
{
	event->notes[event->n_notes++] = (struct packet_note_value){ what, false, 0, text };
}

static void put(const struct perfetto *perfetto, struct packet_event *event)
{
	event->time_ns += perfetto->shift_ns;
	packet_event(perfetto->out, event);
}

static void put_end(const struct perfetto *perfetto, uint64_t track, int64_t time_ns)
{
	put(perfetto, &(struct packet_event){ .type = PACKET_END, .track = track,
					      .time_ns = time_ns });
}

/** Where the part within the window begins or ends. */
static int64_t cut(const struct perfetto *perfetto, int64_t time_ns)
{
	const struct report *report = perfetto->job->report;

	return time_ns < report->from_ns ? report->from_ns :
	       time_ns > report->to_ns ? report->to_ns : time_ns;
}

static void put_states(struct perfetto *perfetto, int32_t vcpu)
{
	struct virt_interval_range range = export_vcpu_window(perfetto->job, vcpu);
	struct packet_event event = {
		.type = PACKET_STATE, .track = vcpu_track(perfetto, vcpu, OF_STATES),
	};

	for (size_t i = 0; i < range.n && !perfetto->out->error; i++) {
		const struct virt_interval *interval = &range.first[i];
		int64_t start_ns = cut(perfetto, interval->start_ns);
		struct packet_event none = event;

		none.time_ns = start_ns;
		if (i && interval[-1].state == interval->state)
			put(perfetto, &none);
		event.time_ns = start_ns;
		event.name = NAME_STATE + (uint64_t)interval->state;
		event.n_notes = 0;
		if (interval->pcpu >= 0)
			note(&event, NOTE_PCPU, false, interval->pcpu);
		put(perfetto, &event);
		event.name = 0;
		event.n_notes = 0;
		event.time_ns = cut(perfetto, export_interval_end(&range, i));
	}
	if (range.n)
		put(perfetto, &event);
}

/** From the pCPU to the vCPU that has to leave it. */
static uint64_t put_preempts(struct perfetto *perfetto, int32_t vcpu, int32_t pcpu, int64_t time_ns)
{
	struct packet_event event = {
		.type = PACKET_INSTANT, .track = pcpu_track(pcpu), .time_ns = time_ns,
		.name = NAME_PREEMPTS, .flow_from = ++perfetto->flows,
	};

	note(&event, NOTE_VCPU, true, (int64_t)who_name(perfetto, vcpu));
	put(perfetto, &event);
	return perfetto->flows;
}

/** By who has the pCPU instead. */
static void put_steal(struct perfetto *perfetto, int32_t vcpu)
{
	struct virt_interval_range range = export_vcpu_window(perfetto->job, vcpu);

	for (size_t i = 0; i < range.n && !perfetto->out->error; i++) {
		const struct virt_interval *interval = &range.first[i];
		struct packet_event event = {
			.type = PACKET_BEGIN, .track = vcpu_track(perfetto, vcpu, OF_STEAL),
			.time_ns = cut(perfetto, interval->start_ns),
			.name = interval->detail < 0 ? NAME_NOBODY :
						       who_name(perfetto, interval->detail),
		};

		if (interval->state != VIRT_PREEMPTED)
			continue;
		if (interval->pcpu >= 0) {
			note(&event, NOTE_PCPU, false, interval->pcpu);
			event.flow_to = put_preempts(perfetto, vcpu, interval->pcpu,
						     event.time_ns);
		}
		if (interval->detail >= 0)
			note(&event, NOTE_CULPRIT, true, (int64_t)event.name);
		put(perfetto, &event);
		put_end(perfetto, event.track, cut(perfetto, export_interval_end(&range, i)));
	}
}

static void put_exits(struct perfetto *perfetto, int32_t vcpu)
{
	struct virt_interval_range range = export_vcpu_window(perfetto->job, vcpu);
	uint64_t track = vcpu_track(perfetto, vcpu, OF_EXITS);

	for (size_t i = 0; i < range.n && !perfetto->out->error; i++) {
		struct packet_event event = { .type = PACKET_BEGIN, .track = track };
		const char *argument;
		struct virt_exit exit;

		if (range.first[i].start_ns < perfetto->job->report->from_ns ||
		    !virt_exit_of(perfetto->model, vcpu, &range.first[i], &exit))
			continue;
		event.time_ns = exit.time_ns;
		event.name = reason_name(exit.reason);
		if (range.first[i].pcpu >= 0)
			note(&event, NOTE_PCPU, false, range.first[i].pcpu);
		if (exit.complete)
			note(&event, NOTE_COST, false, exit.cost_ns);
		argument = virt_argument_text(perfetto->model, virt_exit_argument(
			perfetto->model, vcpu, &range.first[i]));
		if (argument)
			note_text(&event, NOTE_ARGUMENT, argument);
		put(perfetto, &event);
		put_end(perfetto, track, exit.entry_ns);
	}
}

static void put_migrations(struct perfetto *perfetto, int32_t vcpu)
{
	const struct report *report = perfetto->job->report;
	struct virt_migration_range range = virt_vcpu_migrations(perfetto->model, vcpu,
								 report->from_ns, report->to_ns);

	for (size_t i = 0; i < range.n && !perfetto->out->error; i++) {
		const struct virt_migration *migration = &range.first[i];
		struct packet_event event = {
			.type = PACKET_INSTANT, .track = pcpu_track(migration->from),
			.time_ns = migration->time_ns - migration->gap_ns,
			.name = NAME_MIGRATES, .flow_from = ++perfetto->flows,
		};

		note(&event, NOTE_VCPU, true, (int64_t)who_name(perfetto, vcpu));
		put(perfetto, &event);
		event.track = pcpu_track(migration->to);
		event.time_ns = migration->time_ns;
		event.name = NAME_COMES;
		event.flow_to = event.flow_from;
		event.flow_from = 0;
		put(perfetto, &event);
	}
}

/** From the wake-up until the vCPU is on a pCPU, as far as the trace and the window show it. */
static void put_wake(void *arg, int32_t vcpu, const struct export_wake *wake)
{
	struct perfetto *perfetto = arg;
	struct packet_event event = {
		.type = PACKET_BEGIN, .track = vcpu_track(perfetto, vcpu, OF_WAKES),
		.time_ns = wake->time_ns, .name = NAME_CAUSE + (uint64_t)wake->cause,
	};

	if (wake->is_complete)
		note(&event, NOTE_LATENCY, false, wake->end_ns - wake->time_ns);
	if (wake->pcpu >= 0)
		note(&event, NOTE_PCPU, false, wake->pcpu);
	if (wake->waker >= 0)
		note(&event, NOTE_WAKER, true, (int64_t)who_name(perfetto, wake->waker));
	if (wake->waker >= 0 && wake->waker < VIRT_FIRST_TASK) {
		struct packet_event from = {
			.type = PACKET_INSTANT, .time_ns = wake->time_ns,
			.track = vcpu_track(perfetto, wake->waker, OF_WAKES),
			.name = NAME_WAKES, .flow_from = ++perfetto->flows,
		};

		note(&from, NOTE_VCPU, true, (int64_t)who_name(perfetto, vcpu));
		put(perfetto, &from);
		event.flow_to = perfetto->flows;
	}
	put(perfetto, &event);
	put_end(perfetto, event.track, cut(perfetto, wake->end_ns));
}

static void put_wakes(struct perfetto *perfetto, int32_t vcpu)
{
	export_wakes(perfetto->job, vcpu, put_wake, perfetto);
}

/** The number of a task's name, which comes before its first use. */
static uint64_t task_name(struct perfetto *perfetto, const struct export_task *task)
{
	uint64_t key = (uint64_t)task->guest << 32 | (uint32_t)task->pid;
	int64_t found = key_map_find(&perfetto->tasks, key);
	char name[GUEST_TASK_NAME];

	if (found >= 0)
		return perfetto->task_names + (uint64_t)found;
	found = key_map_add(&perfetto->tasks, key);
	if (found < 0) {
		perfetto->no_memory = true;
		return NAME_UNKNOWN;
	}
	guest_task_name(name, sizeof(name), perfetto->job->guests[task->guest].trace, task->pid);
	packet_name(perfetto->out, perfetto->task_names + (uint64_t)found, name);
	return perfetto->task_names + (uint64_t)found;
}

static void put_task(void *arg, const struct export_task *task)
{
	struct perfetto *perfetto = arg;
	uint64_t track = vcpu_track(perfetto, task->vcpu, OF_TASKS);

	/* idle: there is nothing */
	if (!task->pid || perfetto->out->error)
		return;
	put(perfetto, &(struct packet_event){
		.type = PACKET_BEGIN, .track = track, .time_ns = task->start_ns,
		.name = task_name(perfetto, task) });
	put_end(perfetto, track, task->end_ns);
}

static void put_tasks(struct perfetto *perfetto, int32_t vcpu)
{
	export_tasks(perfetto->job, vcpu, put_task, perfetto);
}

static void put_occupants(struct perfetto *perfetto, int32_t pcpu)
{
	const struct report *report = perfetto->job->report;
	struct virt_occupant_range range = virt_pcpu_occupants(perfetto->model, pcpu,
							       report->from_ns, report->to_ns);

	for (size_t i = 0; i < range.n && !perfetto->out->error; i++) {
		const struct virt_occupant *occupant = &range.first[i];
		int64_t end_ns = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		/* idle: there is nothing */
		if (occupant->known && occupant->vcpu < 0)
			continue;
		put(perfetto, &(struct packet_event){
			.type = PACKET_BEGIN, .track = pcpu_track(pcpu),
			.time_ns = cut(perfetto, occupant->start_ns),
			.name = occupant->known ? who_name(perfetto, occupant->vcpu) :
			NAME_UNKNOWN });
		put_end(perfetto, pcpu_track(pcpu), cut(perfetto, end_ns));
	}
}

static void put_machine(struct perfetto *perfetto, int32_t machine)
{
	const struct report *report = perfetto->job->report;
	struct virt_machine_range range = virt_machine_intervals(perfetto->model, machine,
								 report->from_ns, report->to_ns);

	for (size_t i = 0; i < range.n && !perfetto->out->error; i++)
		put(perfetto, &(struct packet_event){
			.type = PACKET_COUNTER, .track = machine_track(perfetto, machine) + 1,
			.time_ns = cut(perfetto, range.first[i].start_ns),
			.value = range.first[i].state });
}

static void put_losses(struct perfetto *perfetto)
{
	const struct report *report = perfetto->job->report;
	struct virt_loss_range losses = virt_model_losses_from(perfetto->model, report->from_ns,
							       report->to_ns);

	for (size_t i = 0; i < losses.n && !perfetto->out->error; i++) {
		const struct virt_loss *loss = &losses.first[i];
		struct packet_event event = {
			.type = PACKET_INSTANT, .track = pcpu_track(loss->pcpu),
			.time_ns = cut(perfetto, loss->from_ns), .name = NAME_LOST,
		};

		if (loss->pcpu < 0)
			continue;
		if (loss->records)
			note(&event, NOTE_RECORDS, false, (int64_t)loss->records);
		put(perfetto, &event);
	}
}

/* --- samples of the host's counters ---------------------------------------------------------- */

/** A number of samples: its name, and its unit, of a counter in a second. */
static const struct {
	const char	*name, *unit;
	int64_t		divisor;
} sampled[HOST_N_SAMPLED] = {
#define CPU(number, kind)	[HOST_SAMPLE_##number] = { "CPU " kind, "ms/s", 1000000 },
	HOST_SAMPLE_CPU(CPU)
#undef CPU
	[HOST_SAMPLE_SWITCHES] = { "context switches", "1/s", 1 },
	[HOST_SAMPLE_INTERRUPTS] = { "interrupts", "1/s", 1 },
	[HOST_SAMPLE_FORKS] = { "forks", "1/s", 1 },
	[HOST_SAMPLE_FAULTS] = { "page faults", "1/s", 1 },
	[HOST_SAMPLE_MAJOR_FAULTS] = { "major page faults", "1/s", 1 },
	[HOST_SAMPLE_READ] = { "disks read", "bytes/s", 1 },
	[HOST_SAMPLE_WRITTEN] = { "disks written", "bytes/s", 1 },
	[HOST_SAMPLE_SWAP_IN] = { "swap in", "bytes/s", 1 },
	[HOST_SAMPLE_SWAP_OUT] = { "swap out", "bytes/s", 1 },
	[HOST_SAMPLE_CPU_SOME] = { "CPU pressure", "ms/s", 1000000 },
	[HOST_SAMPLE_MEMORY_SOME] = { "memory pressure", "ms/s", 1000000 },
	[HOST_SAMPLE_MEMORY_FULL] = { "memory pressure, full", "ms/s", 1000000 },
	[HOST_SAMPLE_IO_SOME] = { "IO pressure", "ms/s", 1000000 },
	[HOST_SAMPLE_IO_FULL] = { "IO pressure, full", "ms/s", 1000000 },
	[HOST_SAMPLE_RUNNABLE] = { "runnable tasks", "tasks", 1 },
	[HOST_SAMPLE_BLOCKED] = { "blocked tasks", "tasks", 1 },
	[HOST_SAMPLE_MEMORY] = { "memory", "bytes", 1 },
	[HOST_SAMPLE_AVAILABLE] = { "memory available", "bytes", 1 },
	[HOST_SAMPLE_FREE] = { "memory free", "bytes", 1 },
	[HOST_SAMPLE_CACHED] = { "memory cached", "bytes", 1 },
	[HOST_SAMPLE_SWAP] = { "swap", "bytes", 1 },
	[HOST_SAMPLE_SWAP_FREE] = { "swap free", "bytes", 1 },
};

/** A counter of Perfetto has no gaps: there is none of a number that is ever unknown, or falls. */
static bool is_sampled(const struct perfetto *perfetto, int number)
{
	const struct host_sample *samples;
	size_t n = export_samples(perfetto->job, &samples);

	for (size_t i = 0; i < n; i++)
		if (samples[i].numbers[number] < 0 ||
		    (i && number < HOST_N_COUNTERS &&
		     samples[i].numbers[number] < samples[i - 1].numbers[number]))
			return false;
	return n > 1;
}

/** Until the next sample, a counter is that growth in a second. */
static int64_t sample_value(const struct host_sample *sample, int number)
{
	int64_t more = sample[1].numbers[number] - sample[0].numbers[number];
	__int128 value = sample[0].numbers[number];

	if (number < HOST_N_COUNTERS)
		value = (__int128)more * 1000000000 / sampled[number].divisor /
			(sample[1].time_ns - sample[0].time_ns);
	return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

static void put_samples(struct perfetto *perfetto)
{
	const struct host_sample *samples;
	size_t n = export_samples(perfetto->job, &samples);

	for (int i = 0; i < HOST_N_SAMPLED; i++) {
		if (!is_sampled(perfetto, i))
			continue;
		put_track(perfetto, sample_track(perfetto, i), TRACK_HOST, sampled[i].name,
			  perfetto->job->report->n_pcpus +
			  virt_model_n_machines(perfetto->model) + i, sampled[i].unit);
		for (size_t j = 0; j + 1 < n && !perfetto->out->error; j++)
			put(perfetto, &(struct packet_event){
				.type = PACKET_COUNTER, .track = sample_track(perfetto, i),
				.time_ns = cut(perfetto, samples[j].time_ns),
				.value = sample_value(&samples[j], i) });
	}
}

/* --- vCPUs of Xen as threads ----------------------------------------------------------------- */

static const enum packet_task_state task_states[VIRT_N_STATES] = {
	[VIRT_GUEST] = PACKET_RUNNING, [VIRT_HYPERVISOR] = PACKET_RUNNING,
	[VIRT_POLLING] = PACKET_RUNNING, [VIRT_VMM] = PACKET_RUNNING,
	[VIRT_PREEMPTED] = PACKET_RUNNABLE, [VIRT_WAKING] = PACKET_RUNNABLE,
	[VIRT_BLOCKED] = PACKET_SLEEPS, [VIRT_DEVICE_MODEL] = PACKET_SLEEPS,
	[VIRT_OFFLINE] = PACKET_STOPPED, [VIRT_UNKNOWN] = PACKET_GONE,
};

/** Of what is not known, there is no thread: it goes, and another one comes. */
static void put_thread(struct perfetto *perfetto, int32_t vcpu)
{
	const struct virt_vcpu *info = virt_model_vcpu(perfetto->model, vcpu);
	const struct packet_thread thread = {
		.process = info->host_pid - info->id, .tid = info->host_pid, .name = info->name,
	};
	struct virt_interval_range range = export_vcpu_window(perfetto->job, vcpu);
	enum packet_task_state state = PACKET_GONE;
	int32_t pcpu = VIRT_NONE;

	for (size_t i = 0; i < range.n && !perfetto->out->error; i++) {
		const struct virt_interval *interval = &range.first[i];
		enum packet_task_state now = task_states[interval->state];
		int64_t time_ns = cut(perfetto, interval->start_ns) + perfetto->shift_ns;
		bool moves = now == PACKET_RUNNING && interval->pcpu != pcpu;

		if (now == state && !moves)
			continue;
		if (state == PACKET_GONE)
			packet_task(perfetto->out, time_ns, &thread,
				    virt_model_machine(perfetto->model, info->machine)->name);
		else if (now == state)
			packet_task_state(perfetto->out, time_ns, &thread, PACKET_RUNNABLE, pcpu);
		state = now;
		/* Perfetto ends its run on the CPU of the event that follows */
		if (now == PACKET_RUNNING)
			pcpu = interval->pcpu;
		packet_task_state(perfetto->out, time_ns, &thread, now, pcpu);
	}
}

int export_perfetto(const struct export_job *job, struct output *out)
{
	static void (*const parts[N_OF_VCPU])(struct perfetto *perfetto, int32_t vcpu) = {
		/* migrations are on the tracks of pCPUs */
		[OF_ALL] = put_migrations, [OF_STATES] = put_states, [OF_EXITS] = put_exits,
		[OF_STEAL] = put_steal, [OF_WAKES] = put_wakes, [OF_TASKS] = put_tasks,
	};
	const struct host_trace *host = &job->report->load->host;
	struct perfetto perfetto = { .job = job, .model = job->report->load->model, .out = out };
	int ret;

	if (virt_model_begin(perfetto.model) < 0)
		perfetto.shift_ns = -virt_model_begin(perfetto.model);
	packet_begin(out, host->xen && !perfetto.shift_ns ?
		     xen_trace_clock(host->xen)->base_tsc : 0);
	if (host->xen)
		packet_machine(out, &(struct packet_machine){ .name = "host" }, 0);
	put_names(&perfetto);
	perfetto.task_names = first_task_name(&perfetto);
	put_tracks(&perfetto);
	for (int32_t i = 0; i < virt_model_n_pcpus(perfetto.model); i++)
		put_occupants(&perfetto, i);
	put_losses(&perfetto);
	put_samples(&perfetto);
	for (int32_t i = 0; i < virt_model_n_machines(perfetto.model); i++)
		if (export_wants_machine(job, i))
			put_machine(&perfetto, i);
	for (int32_t i = 0; i < virt_model_n_vcpus(perfetto.model); i++) {
		if (!export_wants_vcpu(job, i))
			continue;
		for (int part = 0; part < N_OF_VCPU; part++)
			if (is_shown(&perfetto, i, (enum vcpu_track)part))
				parts[part](&perfetto, i);
		if (host->xen)
			put_thread(&perfetto, i);
	}
	ret = perfetto.no_memory ? -ENOMEM : export_ftrace(job, out, perfetto.shift_ns);
	key_map_destroy(&perfetto.tasks);
	return ret;
}
