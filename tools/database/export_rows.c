// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	export_rows.c
 * @brief	A window as rows: what begins in it, times cut to it, as virt_window.h says.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "export_rows.h"
#include "host_tasks.h"
#include "search.h"
#include "virt_arguments.h"
#include "virt_exits.h"
#include "virt_limits.h"
#include "virt_needs.h"
#include "virt_part.h"
#include "virt_power.h"
#include "virt_worst.h"

/* --- values ---------------------------------------------------------------------------------- */

static struct export_value number(int64_t value)
{
	return (struct export_value){ .kind = EXPORT_NUMBER, .number = value };
}

static struct export_value number_if(bool known, int64_t value)
{
	return known ? number(value) : (struct export_value){ .kind = EXPORT_NULL };
}

/** A pCPU, a vector: below 0, there is none. */
static struct export_value index_of(int32_t value)
{
	return number_if(value >= 0, value);
}

/** Who it is, if it is a vCPU. */
static struct export_value vcpu_of(int32_t who)
{
	return number_if(who >= 0 && who < VIRT_FIRST_TASK, who);
}

static struct export_value text(const char *value)
{
	return (struct export_value){ .kind = value ? EXPORT_STRING : EXPORT_NULL, .text = value };
}

static void put(struct export_sink *sink, enum export_table_id table,
		const struct export_value *values, size_t n)
{
	assert(n == export_tables[table].n);
	(void)n;
	sink->row(sink, table, values);
}

/** A row, value by value, in the order of its columns. */
#define PUT(sink, table, ...)									\
	put(sink, table, (const struct export_value[]){ __VA_ARGS__ },				\
	    sizeof((const struct export_value[]){ __VA_ARGS__ }) / sizeof(struct export_value))

/* --- what is asked for ----------------------------------------------------------------------- */

static const struct virt_model *model_of(const struct export_job *job)
{
	return job->report->load->model;
}

bool export_wants_vcpu(const struct export_job *job, int32_t vcpu)
{
	return !job->report->chosen || job->report->chosen[vcpu];
}

bool export_wants_machine(const struct export_job *job, int32_t machine)
{
	const struct virt_machine *info = virt_model_machine(model_of(job), machine);

	for (int32_t i = 0; i < info->n_vcpus; i++)
		if (export_wants_vcpu(job, info->vcpus[i]))
			return true;
	return false;
}

struct virt_interval_range export_vcpu_window(const struct export_job *job, int32_t vcpu)
{
	return virt_vcpu_intervals(model_of(job), vcpu, job->report->from_ns, job->report->to_ns);
}

const char *export_reason(const struct export_job *job, int32_t reason)
{
	const char *name = virt_model_reason(model_of(job), reason);

	return name ? name : "unknown";
}

/* --- who there is ---------------------------------------------------------------------------- */

static void host_row(const struct export_job *job, struct export_sink *sink)
{
	const struct report *report = job->report;
	const struct virt_model *model = model_of(job);

	PUT(sink, EXPORT_HOST, number(EXPORT_SCHEMA_VERSION), text(report->file),
	    text(host_trace_hypervisor(&report->load->host)), number(report->n_pcpus),
	    number(report->from_ns), number(report->to_ns), number(virt_model_begin(model)),
	    number(virt_model_end(model)), number(virt_model_is_unsplit(model)));
}

static void clock_row(const struct export_job *job, struct export_sink *sink)
{
	const struct host_trace *host = &job->report->load->host;
	const struct xen_clock *xen = host->xen ? xen_trace_clock(host->xen) : NULL;
	bool cycles = host->kvm && kvm_trace_unit(host->kvm) == TRACE_DAT_CYCLES;

	if (xen) {
		PUT(sink, EXPORT_CLOCK, text("tsc"), number((int64_t)xen->hz),
		    text(xen_clock_source_name(xen->source)),
		    number_if(xen->base_tsc <= INT64_MAX, (int64_t)xen->base_tsc));
		return;
	}
	PUT(sink, EXPORT_CLOCK, text(cycles ? "tsc" : "ns"),
	    number_if(!cycles || kvm_trace_hz(host->kvm),
		      cycles ? (int64_t)kvm_trace_hz(host->kvm) : 1000000000),
	    text(NULL), number_if(!cycles, 0));
}

static void machine_rows(const struct export_job *job, struct export_sink *sink)
{
	const struct virt_model *model = model_of(job);

	for (int32_t i = 0; i < virt_model_n_machines(model); i++) {
		const struct virt_machine *machine = virt_model_machine(model, i);

		PUT(sink, EXPORT_MACHINE, number(machine->id), text(machine->name),
		    number(machine->n_vcpus));
	}
}

/** All of them: those that were not asked for can be in the rows of others. */
static void vcpu_rows(const struct export_job *job, struct export_sink *sink)
{
	const struct virt_model *model = model_of(job);

	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(model, i);

		PUT(sink, EXPORT_VCPU, number(i),
		    number(virt_model_machine(model, vcpu->machine)->id), number(vcpu->id),
		    text(vcpu->name), number_if(job->report->load->host.kvm, vcpu->host_pid));
	}
}

/* --- what vCPUs did -------------------------------------------------------------------------- */

/** How long its own limit held a vCPU in an interval, as far as the window has it. */
static struct virt_held held_of(const struct export_job *job, int32_t vcpu,
				const struct virt_interval *interval, int64_t end_ns)
{
	const struct report *report = job->report;
	int64_t from_ns = interval->start_ns < report->from_ns ? report->from_ns :
								 interval->start_ns;

	end_ns = end_ns > report->to_ns ? report->to_ns : end_ns;
	return virt_vcpu_held(model_of(job), vcpu, from_ns, end_ns);
}

/** Is it known whether a limit holds a vCPU in an interval, which waits? */
static bool has_hold(const struct export_job *job, const struct virt_interval *interval)
{
	return virt_model_knows_holds(model_of(job)) &&
	       (interval->state == VIRT_PREEMPTED || interval->state == VIRT_WAKING ||
		interval->state == VIRT_OFFLINE);
}

static void interval_rows(const struct export_job *job, struct export_sink *sink, int32_t vcpu)
{
	struct virt_interval_range range = export_vcpu_window(job, vcpu);
	const struct report *report = job->report;

	for (size_t i = 0; i < range.n && !sink->failed(sink); i++) {
		const struct virt_interval *interval = &range.first[i];
		bool is_cut = interval->start_ns < report->from_ns;
		int64_t end_ns = export_interval_end(&range, i);
		int32_t who;
		const char *detail = report_detail(job->report, interval, &who);
		bool waits = has_hold(job, interval);
		struct virt_held held = { 0 };

		if (waits)
			held = held_of(job, vcpu, interval, end_ns);
		PUT(sink, EXPORT_INTERVAL, number(vcpu),
		    number(is_cut ? report->from_ns : interval->start_ns),
		    number(end_ns > report->to_ns ? report->to_ns : end_ns),
		    text(virt_state_name((enum virt_state)interval->state)),
		    index_of(interval->pcpu), text(detail), vcpu_of(who),
		    number(!is_cut && interval->flags & VIRT_INTERVAL_EXIT ? 1 : 0),
		    number(!is_cut && interval->flags & VIRT_INTERVAL_MIGRATED ? 1 : 0),
		    number(interval->state == VIRT_GUEST &&
			   interval->flags & VIRT_INTERVAL_NESTED ? 1 : 0),
		    number(interval->flags & VIRT_INTERVAL_UNSPLIT ? 1 : 0),
		    number(interval->flags & VIRT_INTERVAL_UNASKED ? 1 : 0),
		    number_if(waits, held.ns), number_if(waits, held.possible_ns));
	}
}

/** How long an exit was in a state; NULL if the trace does not show that. */
static struct export_value state_of(const struct export_job *job, const struct virt_exit *exit,
				    enum virt_state state)
{
	return number_if(exit->complete && virt_model_knows_state(model_of(job), state),
			 exit->state_ns[state]);
}

static const char *argument_of(const struct export_job *job, int32_t argument)
{
	return virt_argument_name(model_of(job), argument);
}

static const char *cause_of(const struct export_job *job, int32_t argument)
{
	return exit_cause_name(virt_argument_cause(model_of(job), argument));
}

static void exit_rows(const struct export_job *job, struct export_sink *sink, int32_t vcpu)
{
	struct virt_interval_range range = export_vcpu_window(job, vcpu);

	for (size_t i = 0; i < range.n && !sink->failed(sink); i++) {
		struct virt_exit exit;
		int32_t argument;

		if (range.first[i].start_ns < job->report->from_ns ||
		    !virt_exit_of(model_of(job), vcpu, &range.first[i], &exit))
			continue;
		argument = virt_exit_argument(model_of(job), vcpu, &range.first[i]);
		PUT(sink, EXPORT_EXIT, number(vcpu), number(exit.time_ns),
		    number_if(exit.complete, exit.entry_ns), text(export_reason(job, exit.reason)),
		    number_if(exit.complete, exit.cost_ns), index_of(range.first[i].pcpu),
		    state_of(job, &exit, VIRT_HYPERVISOR),
		    state_of(job, &exit, VIRT_POLLING),
		    state_of(job, &exit, VIRT_VMM),
		    state_of(job, &exit, VIRT_PREEMPTED),
		    state_of(job, &exit, VIRT_WAKING),
		    state_of(job, &exit, VIRT_BLOCKED),
		    state_of(job, &exit, VIRT_DEVICE_MODEL),
		    state_of(job, &exit, VIRT_OFFLINE),
		    number_if(exit.complete, exit.unasked_ns),
		    text(argument_of(job, argument)), text(cause_of(job, argument)));
	}
}

static void migration_rows(const struct export_job *job, struct export_sink *sink, int32_t vcpu)
{
	struct virt_migration_range range = virt_vcpu_migrations(model_of(job), vcpu,
								 job->report->from_ns,
								 job->report->to_ns);

	for (size_t i = 0; i < range.n && !sink->failed(sink); i++)
		PUT(sink, EXPORT_MIGRATION, number(vcpu), number(range.first[i].time_ns),
		    index_of(range.first[i].from), index_of(range.first[i].to),
		    number(range.first[i].gap_ns));
}

/** A stretch in WAKING, from interval @i to @end of all that the vCPU did. */
static struct export_wake wake_of(const struct virt_model *model,
				  const struct virt_interval_range *all, size_t i, size_t end)
{
	const struct virt_interval *before = i ? &all->first[i - 1] : NULL;
	const struct virt_wake *wake = before && before->state == VIRT_BLOCKED ?
				       virt_model_wake(model, before->detail) : NULL;

	return (struct export_wake){
		.time_ns = all->first[i].start_ns, .end_ns = export_interval_end(all, end - 1),
		.is_complete = end < all->n && (all->first[end].state != VIRT_UNKNOWN ||
						all->first[end].flags & VIRT_INTERVAL_ON_PCPU),
		.pcpu = all->first[end - 1].pcpu,
		.has_cause = before && before->state == VIRT_BLOCKED,
		.cause = wake ? (enum virt_wake_cause)wake->cause : VIRT_WAKE_UNKNOWN,
		.is_known = wake != NULL,
		.waker = wake ? wake->who : VIRT_NONE, .vector = wake ? wake->vector : VIRT_NONE,
	};
}

void export_wakes(const struct export_job *job, int32_t vcpu, export_wake_fn take, void *arg)
{
	const struct virt_model *model = model_of(job);
	struct virt_interval_range range = export_vcpu_window(job, vcpu);
	struct virt_interval_range all = virt_vcpu_intervals(model, vcpu, INT64_MIN, INT64_MAX);
	size_t i = range.n ? (size_t)(range.first - all.first) : 0, last = i + range.n, end;
	int64_t begin_ns, end_ns;

	virt_model_span(model, &begin_ns, &end_ns);
	for (; i < last; i = end) {
		struct export_wake wake;

		end = i + 1;
		if (all.first[i].state != VIRT_WAKING)
			continue;
		while (end < all.n && all.first[end].state == VIRT_WAKING)
			end++;
		/* what the trace begins with has begun before */
		if (all.first[i].start_ns < job->report->from_ns ||
		    all.first[i].start_ns <= begin_ns ||
		    (i && all.first[i - 1].state == VIRT_WAKING))
			continue;
		wake = wake_of(model, &all, i, end);
		take(arg, vcpu, &wake);
	}
}

/** Where the rows of a vCPU go. */
struct row_sink {
	const struct export_job	*job;
	struct export_sink	*sink;
};

static void wake_row(void *arg, int32_t vcpu, const struct export_wake *wake)
{
	const struct row_sink *rows = arg;

	if (rows->sink->failed(rows->sink))
		return;
	PUT(rows->sink, EXPORT_WAKE, number(vcpu), number(wake->time_ns),
	    number_if(wake->is_complete, wake->end_ns - wake->time_ns), index_of(wake->pcpu),
	    text(wake->has_cause ? virt_wake_cause_name(wake->cause) : NULL),
	    text(wake->is_known ? virt_model_who(model_of(rows->job), wake->waker) : NULL),
	    vcpu_of(wake->waker), index_of(wake->vector));
}

static void wake_rows(const struct export_job *job, struct export_sink *sink, int32_t vcpu)
{
	export_wakes(job, vcpu, wake_row, &(struct row_sink){ .job = job, .sink = sink });
}

/* --- tasks of guests ------------------------------------------------------------------------- */

static void cpu_tasks(const struct export_job *job, int guest, const struct virt_guest_cpu *cpu,
		      export_task_fn take, void *arg)
{
	const struct report *report = job->report;
	ptrdiff_t at = virt_guest_run_at(cpu, report->from_ns);

	for (size_t i = at < 0 ? 0 : (size_t)at; i + 1 < cpu->n; i++) {
		const struct virt_guest_run *run = &cpu->runs[i];
		struct export_task task = {
			.guest = guest, .vcpu = cpu->vcpu, .pid = run->pid,
			.start_ns = run->start_ns > report->from_ns ? run->start_ns :
				    report->from_ns,
			.end_ns = run[1].start_ns < report->to_ns ? run[1].start_ns :
				  report->to_ns,
		};

		if (run->start_ns >= report->to_ns)
			break;
		if (run->pid != VIRT_NONE && task.start_ns < task.end_ns)
			take(arg, &task);
	}
}

void export_tasks(const struct export_job *job, int32_t vcpu, export_task_fn take, void *arg)
{
	for (int guest = 0; guest < job->n_guests; guest++)
		for (int i = 0; i < job->guests[guest].n_cpus; i++)
			if (job->guests[guest].cpus[i].vcpu == vcpu)
				cpu_tasks(job, guest, &job->guests[guest].cpus[i], take, arg);
}

static void task_row(void *arg, const struct export_task *task)
{
	const struct row_sink *rows = arg;
	char name[GUEST_TASK_NAME];
	struct virt_totals totals;

	if (rows->sink->failed(rows->sink))
		return;
	guest_task_name(name, sizeof(name), rows->job->guests[task->guest].trace, task->pid);
	virt_vcpu_totals(model_of(rows->job), task->vcpu, task->start_ns, task->end_ns, &totals);
	PUT(rows->sink, EXPORT_GUEST_TASK, number(task->vcpu), number(task->start_ns),
	    number(task->end_ns), number(task->pid), text(name), number(totals.ns[VIRT_GUEST]));
}

static void task_rows(const struct export_job *job, struct export_sink *sink, int32_t vcpu)
{
	struct row_sink rows = { .job = job, .sink = sink };

	export_tasks(job, vcpu, task_row, &rows);
}

/* --- the worst, and what is missing ---------------------------------------------------------- */

static void moment_row(const struct export_job *job, struct export_sink *sink, size_t rank,
		       const struct virt_moment *moment)
{
	bool has_hold = virt_model_knows_holds(model_of(job)) &&
			(moment->kind == VIRT_WORST_STEAL || moment->kind == VIRT_WORST_WAKE ||
			 moment->kind == VIRT_WORST_OFFLINE);

	PUT(sink, EXPORT_MOMENT, number((int64_t)rank), text(virt_worst_kind_name(moment->kind)),
	    vcpu_of(moment->vcpu),
	    number(moment->kind == VIRT_WORST_MIGRATION ? moment->end_ns : moment->start_ns),
	    number(moment->start_ns), number(moment->end_ns), number(moment->cost_ns),
	    index_of(moment->pcpu), index_of(moment->from_pcpu),
	    text(moment->kind == VIRT_WORST_EXIT ? export_reason(job, moment->reason) : NULL),
	    text(moment->kind == VIRT_WORST_STEAL || moment->who != VIRT_NONE ?
		 virt_model_who(model_of(job), moment->who) : NULL),
	    number(moment->begun && moment->complete), text(argument_of(job, moment->argument)),
	    text(cause_of(job, moment->argument)),
	    number_if(has_hold, moment->held_ns), number_if(has_hold, moment->possible_ns));
}

static int hit_rows(const struct export_job *job, struct export_sink *sink,
		    const struct virt_worst *worst, const int32_t *of, size_t n_of)
{
	const struct virt_worst_query query = {
		.from_ns = job->report->from_ns, .to_ns = job->report->to_ns,
		.kinds = report_worst_visible(job->report, VIRT_WORST_ALL_KINDS), .of = of,
		.n_of = n_of,
	};
	struct virt_worst_hit *hits = calloc(job->most_moments, sizeof(*hits));
	ssize_t n = hits ? virt_worst_top(worst, &query, hits, job->most_moments) : -ENOMEM;
	struct virt_moment moment;

	for (ssize_t i = 0; i < n && !sink->failed(sink); i++)
		if (virt_worst_describe(worst, &hits[i], &moment))
			moment_row(job, sink, (size_t)i + 1, &moment);
	free(hits);
	return n < 0 ? (int)n : 0;
}

static int moment_rows(const struct export_job *job, struct export_sink *sink)
{
	int32_t n = virt_model_n_vcpus(model_of(job));
	int32_t *of = calloc((size_t)n + 1, sizeof(*of));
	struct virt_worst *worst = of ? virt_worst_new(model_of(job), false, NULL, 0) : NULL;
	size_t n_of = 0;
	int ret = -ENOMEM;

	for (int32_t i = 0; of && i < n; i++)
		if (export_wants_vcpu(job, i))
			of[n_of++] = i;
	if (worst)
		ret = hit_rows(job, sink, worst, job->report->chosen ? of : NULL, n_of);
	virt_worst_free(worst);
	free(of);
	return ret;
}

static void loss_rows(const struct export_job *job, struct export_sink *sink)
{
	struct virt_loss_range losses = virt_model_losses_from(model_of(job), job->report->from_ns,
							       job->report->to_ns);

	for (size_t i = 0; i < losses.n && !sink->failed(sink); i++) {
		const struct virt_loss *loss = &losses.first[i];

		PUT(sink, EXPORT_LOSS, index_of(loss->pcpu), number(loss->from_ns),
		    number(loss->to_ns), number_if(loss->records, (int64_t)loss->records));
	}
}

static struct export_value machine_id(const struct export_job *job, int32_t machine)
{
	return machine == VIRT_NONE ? number_if(false, 0) :
	       number(virt_model_machine(model_of(job), machine)->id);
}

static void disk_request_row(const struct export_job *job, struct export_sink *sink,
			     const struct host_disk_request *request)
{
	const struct report *report = job->report;
	int32_t machine = host_task_machine(model_of(job), request->pid);
	char disk[HOST_DISK_NAME], task[GUEST_TASK_NAME];

	if (!virt_begins_in(request->issue_ns, report->from_ns, report->to_ns) ||
	    !report_wants_work(report, machine))
		return;
	host_disk_name(&job->disks->disks[request->disk], disk);
	guest_task_name(task, sizeof(task), report->load->host.kvm, request->pid);
	PUT(sink, EXPORT_DISK_REQUEST, text(disk),
	    text(host_disk_operation_name((enum host_disk_operation)request->operation)),
	    machine_id(job, machine), number(request->pid), text(task), number(request->issue_ns),
	    number_if(request->queue_ns != VIRT_NONE, request->queue_ns),
	    number_if(request->end_ns != HOST_DISK_NO_TIME, request->end_ns),
	    number_if(request->sector <= INT64_MAX, (int64_t)request->sector),
	    number((int64_t)request->bytes), number_if(request->depth, request->depth),
	    number_if(request->seek_bytes != VIRT_NONE, request->seek_bytes),
	    number(request->has_failed));
}

static void disk_request_rows(const struct export_job *job, struct export_sink *sink)
{
	for (size_t i = 0; i < job->disks->n && !sink->failed(sink); i++)
		disk_request_row(job, sink, &job->disks->requests[i]);
}

static void lock_wait_row(const struct export_job *job, struct export_sink *sink,
			  const struct host_lock_wait *wait)
{
	const struct report *report = job->report;
	int32_t machine = host_task_machine(model_of(job), wait->pid);
	char lock[VIRT_LOCK_NAME], task[GUEST_TASK_NAME];

	if (!virt_begins_in(wait->begin_ns, report->from_ns, report->to_ns) ||
	    !report_wants_work(report, machine))
		return;
	virt_lock_name(wait->lock, lock);
	guest_task_name(task, sizeof(task), report->load->host.kvm, wait->pid);
	PUT(sink, EXPORT_LOCK_WAIT, text(lock),
	    text(host_lock_kind_name(host_lock_kind_of(wait->flags))), machine_id(job, machine),
	    number(wait->pid), text(task), number(wait->begin_ns),
	    number_if(wait->end_ns != VIRT_LOCK_NO_TIME, wait->end_ns), number(wait->has_failed));
}

static void lock_wait_rows(const struct export_job *job, struct export_sink *sink)
{
	for (size_t i = 0; i < job->locks->n && !sink->failed(sink); i++)
		lock_wait_row(job, sink, &job->locks->waits[i]);
}

size_t export_samples(const struct export_job *job, const struct host_sample **first)
{
	const struct host_samples *samples = job->samples;
	const struct report *report = job->report;
	size_t begin, end;

	SEARCH_FIRST(begin, 0, samples->n, samples->all[begin].time_ns <= report->from_ns);
	begin -= begin > 0;
	SEARCH_FIRST(end, begin, samples->n, samples->all[end].time_ns < report->to_ns);
	end += end < samples->n;
	*first = samples->n ? &samples->all[begin] : NULL;
	return end - begin;
}

static void host_sample_rows(const struct export_job *job, struct export_sink *sink)
{
	const struct host_sample *samples;
	size_t n = export_samples(job, &samples);

	for (size_t i = 0; i < n && !sink->failed(sink); i++) {
		struct export_value values[HOST_N_SAMPLED + 1] = { number(samples[i].time_ns) };

		for (int j = 0; j < HOST_N_SAMPLED; j++)
			values[j + 1] = number_if(samples[i].numbers[j] >= 0,
						  samples[i].numbers[j]);
		put(sink, EXPORT_HOST_SAMPLE, values, ARRAY_SIZE(values));
	}
}

/** What holds on a pCPU, piece by piece. */
static void pcpu_power_rows(const struct export_job *job, struct export_sink *sink,
			    enum virt_power_kind kind, int32_t pcpu)
{
	const struct report *report = job->report;
	struct virt_power_piece piece;
	int64_t from_ns = report->from_ns;

	if (from_ns < virt_model_begin(model_of(job)))
		from_ns = virt_model_begin(model_of(job));
	for (int64_t at = from_ns; at < report->to_ns && !sink->failed(sink) &&
	     virt_pcpu_power(model_of(job), kind, pcpu, at, &piece); at = piece.to_ns) {
		bool is_known = piece.value != VIRT_POWER_UNKNOWN;
		const char *name = !is_known || kind != VIRT_IDLE_STATE ? NULL :
				   piece.value == VIRT_AWAKE ? "awake" :
				   virt_idle_state_name(model_of(job), piece.value);

		PUT(sink, EXPORT_POWER, number(pcpu),
		    text(kind == VIRT_IDLE_STATE ? "idle" : "frequency"), number(at),
		    number(piece.to_ns < report->to_ns ? piece.to_ns : report->to_ns),
		    number_if(is_known, piece.value), text(name),
		    number(piece.begins && piece.from_ns == at));
	}
}

static void power_rows(const struct export_job *job, struct export_sink *sink)
{
	for (int kind = 0; kind < VIRT_POWER_N_KINDS; kind++) {
		if (!virt_model_has_power(model_of(job), (enum virt_power_kind)kind))
			continue;
		for (int32_t pcpu = 0; pcpu < job->report->n_pcpus; pcpu++)
			pcpu_power_rows(job, sink, (enum virt_power_kind)kind, pcpu);
	}
}

static void counter_rows(const struct export_job *job, struct export_sink *sink)
{
	const struct host_counters *counters = job->counters;

	for (uint32_t i = 0; i < counters->file.n && !sink->failed(sink); i++) {
		const struct trace_counter *counter = &counters->file.counters[i];

		PUT(sink, EXPORT_COUNTER, number(i), text(counter->name), number(counter->group),
		    text(counter->read_at), text(host_counter_side_name(counter)));
	}
}

/** Where the spans go. */
struct span_rows {
	const struct export_job	*job;
	struct export_sink	*sink;
};

/** A span of the window, as report --counters has it. Return: 0. */
static int counter_span_row(void *arg, const struct host_counter_span *span)
{
	const struct span_rows *rows = arg;
	const struct export_job *job = rows->job;
	const struct virt_model *model = model_of(job);
	const struct virt_vcpu *vcpu = virt_model_vcpu(model, span->who);
	const struct virt_task *task = virt_model_task(model, span->who);
	int32_t machine = span->who < 0 ? VIRT_NONE : virt_model_machine_of(model, span->who);
	int32_t pid = vcpu ? vcpu->host_pid : task ? task->pid :
		      span->who == HOST_COUNTER_IDLE ? 0 : VIRT_NONE;
	bool has_times = span->enabled_ns >= 0;
	char name[GUEST_TASK_NAME];

	if (span->from_ns < job->report->from_ns || span->to_ns > job->report->to_ns ||
	    (vcpu ? !export_wants_vcpu(job, span->who) : !report_wants_work(job->report, machine)))
		return 0;
	if (pid >= 0)
		guest_task_name(name, sizeof(name), job->report->load->host.kvm, pid);
	PUT(rows->sink, EXPORT_COUNTER_SPAN, number(span->counter), number(span->pcpu),
	    number(span->from_ns), number(span->to_ns), text(host_counter_owner_name(model, span)),
	    vcpu_of(span->who), machine_id(job, machine), index_of(pid),
	    text(pid >= 0 ? name : NULL), text(vcpu ? host_counter_state_name(span->state) : NULL),
	    text(vcpu ? host_counter_after_name((enum host_counter_after)span->after) : NULL),
	    number_if(span->is_counted && span->value <= INT64_MAX, (int64_t)span->value),
	    number_if(has_times, span->enabled_ns), number_if(has_times, span->running_ns));
	return 0;
}

static int counter_span_rows(const struct export_job *job, struct export_sink *sink)
{
	struct span_rows rows = { job, sink };

	return host_counters_each(job->counters, job->report->load->host.kvm, model_of(job),
				  counter_span_row, &rows);
}

static bool wants(const struct export_job *job, enum export_table_id table)
{
	return !(job->left_out >> table & 1);
}

int export_rows(const struct export_job *job, struct export_sink *sink)
{
	static const struct {
		enum export_table_id table;
		void (*put)(const struct export_job *job, struct export_sink *sink);
	} parts[] = {
		{ EXPORT_HOST, host_row }, { EXPORT_CLOCK, clock_row },
		{ EXPORT_MACHINE, machine_rows }, { EXPORT_VCPU, vcpu_rows },
	};
	static const struct {
		enum export_table_id table;
		void (*put)(const struct export_job *job, struct export_sink *sink, int32_t vcpu);
	} vcpu_parts[] = {
		{ EXPORT_INTERVAL, interval_rows }, { EXPORT_EXIT, exit_rows },
		{ EXPORT_MIGRATION, migration_rows }, { EXPORT_WAKE, wake_rows },
		{ EXPORT_GUEST_TASK, task_rows },
	};
	int ret = 0;

	for (size_t part = 0; part < ARRAY_SIZE(parts); part++)
		if (wants(job, parts[part].table))
			parts[part].put(job, sink);
	for (size_t part = 0; part < ARRAY_SIZE(vcpu_parts); part++)
		for (int32_t i = 0; i < virt_model_n_vcpus(model_of(job)); i++)
			if (wants(job, vcpu_parts[part].table) && export_wants_vcpu(job, i))
				vcpu_parts[part].put(job, sink, i);
	if (wants(job, EXPORT_LOSS))
		loss_rows(job, sink);
	if (wants(job, EXPORT_POWER))
		power_rows(job, sink);
	if (wants(job, EXPORT_DISK_REQUEST))
		disk_request_rows(job, sink);
	if (wants(job, EXPORT_LOCK_WAIT))
		lock_wait_rows(job, sink);
	if (wants(job, EXPORT_HOST_SAMPLE))
		host_sample_rows(job, sink);
	if (job->counters && wants(job, EXPORT_COUNTER))
		counter_rows(job, sink);
	if (job->counters && wants(job, EXPORT_COUNTER_SPAN))
		ret = counter_span_rows(job, sink);
	if (ret)
		return ret;
	return job->most_moments && wants(job, EXPORT_MOMENT) ? moment_rows(job, sink) : 0;
}
