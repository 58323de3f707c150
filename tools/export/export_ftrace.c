// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	export_ftrace.c
 * @brief	Records of trace.dat files as bundles of Perfetto's ftrace events.
 *
 * Facts about Perfetto are from src/trace_processor/ of https://github.com/google/perfetto at
 * commit ec5d16b1:
 * - importers/proto/proto_trace_reader.cc: a packet with a machine's number is that machine's. Its
 *   clock is the host's plus the mean offset of RemoteClockSync, of two rounds at least.
 * - importers/ftrace/ftrace_tokenizer.cc: a bundle is of one CPU below 1024, or the trace is
 *   refused; times are BOOTTIME.
 * - importers/ftrace/ftrace_parser.cc: a record without a pid ends the import. An event without a
 *   message of its own has its name and its fields in "ftrace_event" and "args"
 *   (ParseLegacyGenericFtrace).
 * - importers/ftrace/ftrace_sched_event_tracker.cc: sched_switch makes "sched" and "thread_state",
 *   and names threads. thread_state also has sched_waking.
 * - types/task_state.cc: only the bits of prev_state up to 0x20 mean the same in all kernels; those
 *   above depend on the release in SystemInfo, and without one they are those of Linux 4.4.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "export_bundle.h"
#include "export_ftrace.h"
#include "export_packet.h"
#include "trace_dat.h"

/** CPUs that Perfetto takes. */
#define MOST_CPUS	1024

/** The machine's own clock is shown again when its offset has changed by that. */
#define CLOCK_STEP_NS	100000

/** A trace while its records go by. */
struct ftrace {
	const struct export_job *job;
	struct output	*out;
	struct kvm_trace *trace;
	const struct guest_clock *clock;	/* of a guest; NULL: all CPUs are wanted */
	uint32_t	machine;
	int64_t		shift_ns;
	bool		has_release;	/* of the kernel, which says what prev_state means */
	bool		has_clock;	/* was shown, as: */
	int64_t		clock_ns, own_ns;
	uint64_t	n_left_out;
	int		cpu;		/* of the bundle; -1: none */
	bool		has_lost;
	struct export_bundle *bundle;
};

/* --- a record -------------------------------------------------------------------------------- */

static void flush(struct ftrace *ftrace)
{
	if (!export_bundle_is_empty(ftrace->bundle) || ftrace->has_lost)
		export_bundle_write(ftrace->bundle, ftrace->out, ftrace->machine, ftrace->cpu,
				    ftrace->has_lost);
	ftrace->has_lost = false;
}

/** A bundle of this CPU. It shows lost records only before its first one. */
static void begin_bundle(struct ftrace *ftrace, int cpu, bool has_lost)
{
	if (cpu != ftrace->cpu || has_lost || export_bundle_is_full(ftrace->bundle))
		flush(ftrace);
	ftrace->cpu = cpu;
	ftrace->has_lost |= has_lost;
}

static void put_record(struct ftrace *ftrace, const struct kvm_trace_line *line, int64_t time_ns)
{
	export_bundle_add(ftrace->bundle, &(const struct export_record){
		.time_ns = time_ns + ftrace->shift_ns, .pid = line->pid, .event = line->event,
		.system = kvm_trace_system(ftrace->trace, line->event),
		.name = kvm_trace_event(ftrace->trace, line->event),
		.has_release = ftrace->has_release, .line = &line->line,
	});
}

/* --- a trace --------------------------------------------------------------------------------- */

/** When the machine's own clock was what: at first, and when its offset has changed. */
static void show_clock(struct ftrace *ftrace, int64_t time_ns, int64_t own_ns)
{
	int64_t moved_ns = (time_ns - own_ns) - (ftrace->clock_ns - ftrace->own_ns);

	if (!ftrace->machine || own_ns < 0 ||
	    kvm_trace_unit(ftrace->trace) != TRACE_DAT_NS ||
	    (ftrace->has_clock && ((moved_ns < CLOCK_STEP_NS && moved_ns > -CLOCK_STEP_NS) ||
				   own_ns <= ftrace->own_ns || time_ns <= ftrace->clock_ns)))
		return;
	ftrace->has_clock = true;
	ftrace->clock_ns = time_ns;
	ftrace->own_ns = own_ns;
	packet_clock(ftrace->out, ftrace->machine, time_ns + ftrace->shift_ns, (uint64_t)own_ns);
}

static bool wants_cpu(const struct ftrace *ftrace, int cpu)
{
	int32_t vcpu;

	if (!ftrace->clock)
		return true;
	vcpu = cpu < ftrace->clock->n_cpus ? ftrace->clock->cpus[cpu].vcpu : VIRT_NONE;
	return vcpu != VIRT_NONE && export_wants_vcpu(ftrace->job, vcpu) &&
	       !guest_clock_is_wrong(ftrace->clock, cpu);
}

static void take_line(struct ftrace *ftrace, const struct kvm_trace_line *line, int64_t time_ns)
{
	if (!wants_cpu(ftrace, line->cpu) || (line->is_own && !line->has_lost))
		return;
	if (line->cpu >= MOST_CPUS || line->pid < 0) {
		ftrace->n_left_out += !line->is_own;
		return;
	}
	show_clock(ftrace, time_ns, line->line.key);
	begin_bundle(ftrace, line->cpu, line->has_lost);
	if (!line->is_own)
		put_record(ftrace, line, time_ns);
}

static int put_lines(struct ftrace *ftrace)
{
	const struct report *report = ftrace->job->report;
	const struct host_trace *host = &report->load->host;
	const struct kvm_trace_lines lines = {
		/* of a host of Xen, the axis is another one */
		.from_ns = host->xen ? INT64_MIN : report->from_ns, .fields = true,
		.no_info = true,
	};
	struct kvm_trace_line line;
	int ret = kvm_trace_begin_lines(ftrace->trace, &lines);

	while (!ret && !ftrace->out->error) {
		int64_t time_ns;

		ret = kvm_trace_next_line(ftrace->trace, &line);
		if (ret <= 0)
			break;
		ret = 0;
		time_ns = guest_tasks_time(host, line.time_ns);
		if (time_ns >= report->to_ns)
			break;
		if (time_ns >= report->from_ns)
			take_line(ftrace, &line, time_ns);
	}
	flush(ftrace);
	kvm_trace_end_lines(ftrace->trace);
	if (ftrace->n_left_out && !report->load->quiet)
		ksv_note("%s: %llu records are not in the export: Perfetto knows no CPU from %d "
			 "on, and no record without a task", kvm_trace_path(ftrace->trace),
			 (unsigned long long)ftrace->n_left_out, MOST_CPUS);
	return ret;
}

/** "Linux web7 6.1.0-18-amd64 x86_64", or with more before the last word. */
static void split_uname(char *uname, struct packet_machine *about)
{
	char *rest = NULL, *last = strrchr(uname, ' ');

	about->sysname = strtok_r(uname, " ", &rest);
	strtok_r(NULL, " ", &rest);
	about->release = strtok_r(NULL, " ", &rest);
	about->arch = about->release && last ? last + 1 : "";
}

/** Threads of machines, as far as the sidecar of the host names their processes. */
static void put_processes(const struct ftrace *ftrace)
{
	const struct kvm_meta *meta = kvm_trace_meta(ftrace->trace);
	int64_t time_ns = ftrace->job->report->from_ns + ftrace->shift_ns;

	for (int i = 0; meta && i < meta->n_guests; i++) {
		const struct kvm_meta_guest *guest = &meta->guests[i];

		if (guest->pid <= 0 || !guest->name)
			continue;
		packet_process(ftrace->out, time_ns, guest->pid, guest->name);
		for (int j = 0; j < guest->n_threads; j++)
			packet_process_thread(ftrace->out, time_ns, guest->pid, guest->threads[j]);
		for (int j = 0; j < guest->n_vcpus; j++)
			if (guest->vcpus[j].tid > 0)
				packet_process_thread(ftrace->out, time_ns, guest->pid,
						      guest->vcpus[j].tid);
	}
}

static int put_trace(struct ftrace *ftrace, const char *name)
{
	struct packet_machine about = { .number = ftrace->machine, .name = name };
	int64_t begin_ns = ftrace->job->report->from_ns + ftrace->shift_ns;
	char uname[TRACE_DAT_UNAME];

	trace_dat_uname(kvm_trace_path(ftrace->trace), uname);
	split_uname(uname, &about);
	ftrace->has_release = about.release != NULL;
	ftrace->has_clock = false;
	ftrace->n_left_out = 0;
	ftrace->cpu = -1;
	packet_machine(ftrace->out, &about, begin_ns > 0 ? begin_ns : 1);
	if (!ftrace->machine)
		put_processes(ftrace);
	return put_lines(ftrace);
}

/* --- all traces ------------------------------------------------------------------------------ */

static const char *machine_of(const struct export_job *job, const struct guest_clock *clock)
{
	const struct virt_model *model = job->report->load->model;

	for (int cpu = 0; cpu < clock->n_cpus; cpu++)
		if (clock->cpus[cpu].vcpu != VIRT_NONE)
			return virt_model_machine(model, virt_model_vcpu(
				model, clock->cpus[cpu].vcpu)->machine)->name;
	return NULL;
}

/** A guest's guest may be on any CPU of it, and has its clock. */
static bool wants_all(const struct ftrace *ftrace)
{
	for (int cpu = 0; cpu < ftrace->clock->n_cpus; cpu++)
		if (!wants_cpu(ftrace, cpu))
			return false;
	return true;
}

static int put_inner(struct ftrace *ftrace, struct kvm_trace *trace)
{
	char name[GUEST_TASK_NAME];

	guest_tasks_called(name, sizeof(name), trace, ftrace->clock->trace);
	ftrace->clock = NULL;
	ftrace->trace = trace;
	return put_trace(ftrace, name);
}

int export_ftrace(const struct export_job *job, struct output *out, int64_t shift_ns)
{
	const struct model_load *load = job->report->load;
	struct ftrace ftrace = {
		.job = job, .out = out, .shift_ns = shift_ns, .trace = load->host.kvm,
		.bundle = export_bundle_new(),
	};
	int ret = 0;

	if (!ftrace.bundle)
		return -ENOMEM;
	if (ftrace.trace)
		ret = put_trace(&ftrace, "host");
	for (int i = 0; i < load->n_guests && !ret; i++) {
		const char *name = machine_of(job, &load->clocks[i]);

		ftrace.machine = (uint32_t)i + 1;
		ftrace.clock = &load->clocks[i];
		ftrace.trace = ftrace.clock->trace;
		if (name)
			ret = put_trace(&ftrace, name);
	}
	for (int i = 0; i < load->n_inner && !ret; i++) {
		ftrace.machine = (uint32_t)(load->n_guests + i) + 1;
		ftrace.clock = &load->clocks[load->inner[i].guest];
		if (wants_all(&ftrace))
			ret = put_inner(&ftrace, load->inner[i].trace);
	}
	export_bundle_free(ftrace.bundle);
	return ret;
}
