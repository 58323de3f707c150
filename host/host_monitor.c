// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_monitor.c
 * @brief	Read a monitor's trace of itself, find its machine, and align it with the host.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "host_monitor.h"
#include "search.h"
#include "trace_dat.h"

/** A log's times are cut to microseconds: the middle of one is wrong by half of it at most. */
#define HALF_MICROSECOND	500

/** What aligning may take, in steps of about a ns. */
#define MOST_WORK		UINT64_C(20000000000)

static const char *const source_names[HOST_MONITOR_N_SOURCES] = {
	[HOST_MONITOR_NONE] = "none", [HOST_MONITOR_SAME_CLOCK] = "clock",
	[HOST_MONITOR_MOMENT] = "moment", [HOST_MONITOR_CAUSALITY] = "causality",
};

const char *host_monitor_source_name(enum host_monitor_source source)
{
	return source_names[source];
}

/* --- whose it is ----------------------------------------------------------------------------- */

/** The machine that has a thread, or process; VIRT_NONE: none, or it is not known. */
static int32_t machine_of(const struct virt_model *model, int32_t thread)
{
	int32_t vcpu = virt_model_find_vcpu(model, thread);

	if (vcpu != VIRT_NONE)
		return virt_model_vcpu(model, vcpu)->machine;
	for (int32_t i = 0; i < virt_model_n_tasks(model); i++)
		if (virt_model_task(model, VIRT_FIRST_TASK + i)->pid == thread)
			return virt_model_machine_of(model, VIRT_FIRST_TASK + i);
	return VIRT_NONE;
}

/** The machine of a process, from the sidecar. */
static int32_t machine_of_process(const struct host_trace *host, const struct virt_model *model,
				  int32_t process)
{
	const struct kvm_meta *meta = host->kvm ? kvm_trace_meta(host->kvm) : NULL;

	for (int i = 0; meta && i < meta->n_guests; i++) {
		const struct kvm_meta_guest *guest = &meta->guests[i];

		for (int v = 0; guest->pid == process && v < guest->n_vcpus; v++) {
			int32_t machine = machine_of(model, guest->vcpus[v].tid);

			if (machine != VIRT_NONE)
				return machine;
		}
	}
	return VIRT_NONE;
}

/** Threads that are asked about. */
#define MAX_THREADS	1000

/** The first thread that is a machine's; a vCPU's counts more than others. */
static int32_t find_machine(const struct host_monitor *monitor, const struct host_trace *host)
{
	size_t n;
	const struct monitor_record *records = monitor_trace_records(monitor->trace, &n);
	int32_t found = VIRT_NONE, asked = 0, last = 0;

	for (size_t i = 0; i < n; i++) {
		int32_t vcpu = virt_model_find_vcpu(monitor->model, records[i].thread);

		if (vcpu != VIRT_NONE)
			return virt_model_vcpu(monitor->model, vcpu)->machine;
		if (records[i].thread == last || asked == MAX_THREADS || found != VIRT_NONE)
			continue;
		last = records[i].thread;
		asked++;
		found = machine_of_process(host, monitor->model, last);
		if (found == VIRT_NONE)
			found = machine_of(monitor->model, last);
	}
	return found;
}

/**
 * Do records name threads? The simple backend's name the process, and so do those of some logs:
 * they have one number in every line, and it is no vCPU's thread.
 */
static bool names_threads(const struct host_monitor *monitor)
{
	size_t n;
	const struct monitor_record *records = monitor_trace_records(monitor->trace, &n);

	if (monitor_trace_clock(monitor->trace) != MONITOR_REALTIME)
		return false;
	if (virt_model_find_vcpu(monitor->model, records[0].thread) != VIRT_NONE)
		return true;
	for (size_t i = 1; i < n; i++) {
		if (records[i].thread != records[0].thread)
			return true;
	}
	return false;
}

/* --- what its vCPUs did ---------------------------------------------------------------------- */

/** By its thread, or by its number, where records name the process only. */
static struct host_monitor_vcpu *vcpu_of(const struct host_monitor *monitor, int32_t thread,
					 int32_t cpu)
{
	for (int32_t i = 0; i < monitor->n_vcpus; i++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(monitor->model,
							       monitor->vcpus[i].vcpu);

		if (monitor->knows_threads ? vcpu->host_pid == thread : vcpu->id == cpu)
			return &monitor->vcpus[i];
	}
	return NULL;
}

static int add_time(const struct host_monitor *monitor, struct host_monitor_vcpu *vcpu,
		    int64_t time_ns)
{
	int64_t half = monitor_trace_clock(monitor->trace) == MONITOR_REALTIME ?
		       HALF_MICROSECOND : 0;

	if (ARRAY_GROW(vcpu->times, vcpu->n_times, vcpu->room_times))
		return -ENOMEM;
	vcpu->times[vcpu->n_times++] = time_ns - monitor->base_ns + half;
	return 0;
}

/** All that a vCPU's thread did, if records name threads. */
static int add_times(struct host_monitor *monitor)
{
	size_t n;
	const struct monitor_record *records = monitor_trace_records(monitor->trace, &n);
	struct host_monitor_vcpu *vcpu = NULL;
	int32_t last = 0;
	int ret = 0;

	if (!monitor->knows_threads)
		return 0;
	for (size_t i = 0; i < n && !ret; i++) {
		if (records[i].thread != last)
			vcpu = vcpu_of(monitor, records[i].thread, VIRT_NONE);
		last = records[i].thread;
		if (vcpu)
			ret = add_time(monitor, vcpu, records[i].time_ns);
	}
	return ret;
}

static int add_accesses(struct host_monitor *monitor, bool times)
{
	const struct monitor_requests *requests = &monitor->requests;

	for (size_t i = 0; i < requests->n_accesses; i++) {
		const struct monitor_access *access = &requests->accesses[i];
		struct host_monitor_vcpu *vcpu = vcpu_of(monitor, access->thread, access->cpu);

		if (!vcpu)
			continue;
		if (ARRAY_GROW(vcpu->accesses, vcpu->n_accesses, vcpu->room_accesses))
			return -ENOMEM;
		vcpu->accesses[vcpu->n_accesses++] = (uint32_t)i;
		if (times && add_time(monitor, vcpu, access->time_ns))
			return -ENOMEM;
	}
	return 0;
}

static int add_exits(struct host_monitor *monitor, bool times)
{
	const struct monitor_requests *requests = &monitor->requests;

	for (size_t i = 0; i < requests->n_exits; i++) {
		const struct monitor_exit *exit = &requests->exits[i];
		struct host_monitor_vcpu *vcpu = vcpu_of(monitor, exit->thread, exit->cpu);

		if (!vcpu)
			continue;
		if (ARRAY_GROW(vcpu->exits, vcpu->n_exits, vcpu->room_exits))
			return -ENOMEM;
		vcpu->exits[vcpu->n_exits++] = (uint32_t)i;
		if (times && add_time(monitor, vcpu, exit->time_ns))
			return -ENOMEM;
	}
	return 0;
}

static int compare_times(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int sort_out(struct host_monitor *monitor)
{
	const struct virt_machine *machine = virt_model_machine(monitor->model, monitor->machine);
	bool by_thread = monitor->knows_threads;
	int ret;

	monitor->vcpus = calloc((size_t)machine->n_vcpus + 1, sizeof(*monitor->vcpus));
	if (!monitor->vcpus)
		return -ENOMEM;
	monitor->n_vcpus = machine->n_vcpus;
	for (int32_t i = 0; i < machine->n_vcpus; i++)
		monitor->vcpus[i].vcpu = machine->vcpus[i];
	ret = add_times(monitor);
	if (!ret)
		ret = add_accesses(monitor, !by_thread);
	if (!ret)
		ret = add_exits(monitor, !by_thread);
	for (int32_t i = 0; i < monitor->n_vcpus && !by_thread && !ret; i++)
		if (monitor->vcpus[i].n_times)
			qsort(monitor->vcpus[i].times, monitor->vcpus[i].n_times,
			      sizeof(*monitor->vcpus[i].times), compare_times);
	return ret;
}

/* --- its clock ------------------------------------------------------------------------------- */

static int32_t where_of(const struct virt_interval *interval)
{
	return interval->state == VIRT_VMM ? VIRT_CLOCK_INSIDE :
	       interval->state == VIRT_UNKNOWN ? VIRT_CLOCK_UNKNOWN : VIRT_CLOCK_OUTSIDE;
}

/** Where a vCPU's thread can have executed the monitor. Return: 0 or -ENOMEM. */
static int changes_of(const struct virt_model *model, int32_t vcpu, struct virt_clock_vcpu *to)
{
	struct virt_interval_range range = virt_vcpu_intervals(model, vcpu, INT64_MIN, INT64_MAX);
	struct virt_clock_change *changes = calloc(range.n + 2, sizeof(*changes));
	size_t n = 0;

	to->changes = changes;
	if (!changes)
		return -ENOMEM;
	for (size_t i = 0; i < range.n; i++) {
		int32_t where = where_of(&range.first[i]);
		int64_t end = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		if (end > range.first[i].start_ns && (!n || changes[n - 1].where != where))
			changes[n++] = (struct virt_clock_change){ range.first[i].start_ns, where };
	}
	changes[n++] = (struct virt_clock_change){ range.end_ns, VIRT_CLOCK_UNKNOWN };
	to->n = n;
	return 0;
}

/** What explains the events of its vCPUs. */
struct aligning {
	struct host_monitor	*monitor;
	struct virt_clock_problem problem;
	struct virt_clock_vcpu	*vcpus;
	struct virt_clock_cpu	*cpus;
	struct virt_clock_evidence *evidence;
	uint64_t		work;
};

static int begin_aligning(struct aligning *aligning, struct host_monitor *monitor)
{
	size_t n = (size_t)monitor->n_vcpus + 1;

	*aligning = (struct aligning){
		.monitor = monitor, .work = MOST_WORK,
		.vcpus = calloc(n, sizeof(*aligning->vcpus)),
		.cpus = calloc(n, sizeof(*aligning->cpus)),
		.evidence = calloc(n, sizeof(*aligning->evidence)),
	};
	if (!aligning->vcpus || !aligning->cpus || !aligning->evidence)
		return -ENOMEM;
	for (int32_t i = 0; i < monitor->n_vcpus; i++) {
		if (changes_of(monitor->model, monitor->vcpus[i].vcpu, &aligning->vcpus[i]))
			return -ENOMEM;
		aligning->cpus[i] = (struct virt_clock_cpu){
			.times = monitor->vcpus[i].times, .n = monitor->vcpus[i].n_times,
			.vcpu = i,
		};
	}
	aligning->problem = (struct virt_clock_problem){
		.vcpus = aligning->vcpus, .n_vcpus = monitor->n_vcpus,
		.cpus = aligning->cpus, .n_cpus = monitor->n_vcpus, .work = &aligning->work,
	};
	return 0;
}

static void end_aligning(struct aligning *aligning)
{
	for (int32_t i = 0; aligning->vcpus && i < aligning->monitor->n_vcpus; i++)
		free((void *)aligning->vcpus[i].changes);
	free(aligning->vcpus);
	free(aligning->cpus);
	free(aligning->evidence);
}

/** What the difference of two clocks would be at @base_ns. Return: false: unknown. */
static bool known_offset(const struct host_monitor *monitor, const struct host_trace *host,
			 int64_t *offset, enum host_monitor_source *source)
{
	int64_t realtime;

	if (monitor_trace_clock(monitor->trace) == MONITOR_MONOTONIC) {
		/* it may be the same clock; its vCPUs' events show whether it is */
		*offset = monitor->base_ns;
		*source = HOST_MONITOR_SAME_CLOCK;
		return true;
	}
	*source = HOST_MONITOR_MOMENT;
	return host_trace_realtime(host, &realtime) &&
	       !__builtin_sub_overflow(monitor->base_ns, realtime, offset);
}

/** Is it explained? A clock that is known may have few events that speak for it. */
static bool is_good(const struct virt_clock_alignment *alignment, double percent)
{
	return alignment->inside && alignment->explained_percent >= percent;
}

static void take_alignment(struct host_monitor *monitor, enum host_monitor_source source,
			   const struct virt_clock_alignment *alignment)
{
	monitor->source = source;
	monitor->alignment = *alignment;
}

static int align(struct host_monitor *monitor, const struct host_trace *host)
{
	struct virt_clock_alignment known = { 0 }, found = { 0 };
	enum host_monitor_source source = HOST_MONITOR_NONE;
	struct aligning aligning;
	int64_t offset = 0;
	int ret = begin_aligning(&aligning, monitor);
	bool has_known = known_offset(monitor, host, &offset, &source);

	if (!ret && has_known)
		ret = virt_clock_judge(&aligning.problem, offset, 0, &known, aligning.evidence);
	/* what is judged begins at the offset that was given */
	known.offset = offset;
	known.at = 0;
	if (!ret && has_known && is_good(&known, VIRT_CLOCK_DOUBT_PERCENT)) {
		take_alignment(monitor, source, &known);
		goto end;
	}
	if (!ret)
		ret = virt_clock_align(&aligning.problem, &found, aligning.evidence);
	if (!ret && found.verdict == VIRT_CLOCK_GOOD)
		take_alignment(monitor, HOST_MONITOR_CAUSALITY, &found);
	else if (!ret && has_known && is_good(&known, VIRT_CLOCK_MIN_PERCENT))
		take_alignment(monitor, source, &known);
	else if (!ret)
		monitor->alignment = has_known ? known : found;
end:
	end_aligning(&aligning);
	return ret;
}

int64_t host_monitor_time(const struct host_monitor *monitor, int64_t time_ns)
{
	const struct virt_clock_alignment *alignment = &monitor->alignment;
	int64_t time = time_ns - monitor->base_ns;

	return time + virt_clock_offset_at(alignment->offset, alignment->drift_ppm, alignment->at,
					   time);
}

/* --- opening --------------------------------------------------------------------------------- */

static int open_trace(struct host_monitor *monitor, const struct host_trace *host,
		      const char *path, char *error, size_t size)
{
	const struct monitor_record *records;
	size_t n;
	int ret;

	if (!host->kvm) {
		text_format(error, size, "%s: QEMU's trace needs the trace of a KVM host, but %s "
			    "is of Xen", path,
			    host->path);
		return -EINVAL;
	}
	ret = monitor_trace_open(path, &monitor->trace, error, size);
	if (ret)
		return ret;
	records = monitor_trace_records(monitor->trace, &n);
	if (!n) {
		text_format(error, size, "%s: has no event", path);
		return -ENODATA;
	}
	monitor->base_ns = records[0].time_ns;
	monitor->machine = find_machine(monitor, host);
	monitor->knows_threads = names_threads(monitor);
	if (monitor->machine != VIRT_NONE)
		return 0;
	text_format(error, size, "%s: none of its threads belongs to a machine in %s: it is of "
		    "another host, or of another time", path, host->path);
	return -EINVAL;
}

int host_monitor_open(struct host_monitor *monitor, const struct host_trace *host,
		      const struct virt_model *model, const char *path, char *error, size_t size)
{
	int ret;

	*monitor = (struct host_monitor){ .model = model, .machine = VIRT_NONE };
	ret = open_trace(monitor, host, path, error, size);
	if (ret)
		return ret;
	ret = monitor_requests_make(&monitor->requests, monitor->trace);
	if (!ret)
		ret = sort_out(monitor);
	if (!ret)
		ret = align(monitor, host);
	if (ret)
		text_format(error, size, "%s: %s", path, ret == -ENOMEM ? "not enough memory" :
			    strerror(-ret));
	return ret;
}

void host_monitor_close(struct host_monitor *monitor)
{
	for (int32_t i = 0; i < monitor->n_vcpus; i++) {
		free(monitor->vcpus[i].times);
		free(monitor->vcpus[i].accesses);
		free(monitor->vcpus[i].exits);
	}
	free(monitor->vcpus);
	monitor_requests_free(&monitor->requests);
	monitor_trace_free(monitor->trace);
	*monitor = (struct host_monitor){ 0 };
}

char *host_monitor_notes(const struct host_monitor *monitor)
{
	const char *path = monitor_trace_path(monitor->trace);
	uint64_t first, others = monitor_trace_others(monitor->trace, &first);
	bool is_log = monitor_trace_clock(monitor->trace) == MONITOR_REALTIME;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (others)
		escape_print(out, "", "%s: %llu %s no event; the first one is at byte %llu", path,
			     (unsigned long long)others, is_log ? others == 1 ? "line is" :
			     "lines are" : "bytes at its end are", (unsigned long long)first);
	if (monitor->requests.odd)
		escape_print(out, "", "%s: %llu events are skipped, because their arguments are "
			     "not those of QEMU 7.2 and 10.0", path,
			     (unsigned long long)monitor->requests.odd);
	if (monitor_trace_dropped(monitor->trace))
		escape_print(out, "", "%s: QEMU dropped %llu events: trace fewer of them", path,
			     (unsigned long long)monitor_trace_dropped(monitor->trace));
	if (is_log && !monitor->knows_threads)
		escape_print(out, "", "%s: its lines have the process id, but no thread: vCPUs are "
			     "only known from the cpu of kvm_run_exit and memory_region_ops_*, and "
			     "the threads that began requests are unknown", path);
	if (monitor->source == HOST_MONITOR_NONE)
		escape_print(out, "", "%s: its clock cannot be aligned with the host's: %.1f %% of "
			     "%llu events of vCPUs lie in their time in the monitor. All its "
			     "requests are listed, whatever their time; record the host with "
			     "kshark-virt record%s", path,
			     monitor->alignment.explained_percent,
			     (unsigned long long)(monitor->alignment.inside +
						  monitor->alignment.outside),
			     monitor->requests.n_exits ? "" : ", or trace kvm_run_exit as well");
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* --- time in the monitor --------------------------------------------------------------------- */

/** Times of a log are exact to a microsecond. */
#define TOLERANCE	1000

/** While stretches of a vCPU are looked through. */
struct walk {
	const struct host_monitor *monitor;
	const struct host_monitor_vcpu *vcpu;
	size_t		access, exit;	/* the next ones */
	int64_t		from_ns, to_ns;
};

static int64_t access_time(const struct walk *walk, size_t i)
{
	const struct monitor_access *access =
		&walk->monitor->requests.accesses[walk->vcpu->accesses[i]];

	return host_monitor_time(walk->monitor, access->time_ns);
}

static int64_t exit_time(const struct walk *walk, size_t i)
{
	const struct monitor_exit *exit = &walk->monitor->requests.exits[walk->vcpu->exits[i]];

	return host_monitor_time(walk->monitor, exit->time_ns);
}

/** Those of the stretch [from, to), which follow those of the one before. */
static void take_events(struct walk *walk, int64_t from_ns, int64_t to_ns,
			struct host_monitor_stretch *stretch)
{
	if (walk->monitor->source == HOST_MONITOR_NONE)
		return;
	while (walk->access < walk->vcpu->n_accesses &&
	       access_time(walk, walk->access) < from_ns - TOLERANCE)
		walk->access++;
	while (walk->exit < walk->vcpu->n_exits &&
	       exit_time(walk, walk->exit) < from_ns - TOLERANCE)
		walk->exit++;
	stretch->first_access = walk->access;
	stretch->first_exit = walk->exit;
	while (walk->access < walk->vcpu->n_accesses && access_time(walk, walk->access) < to_ns)
		walk->access++;
	while (walk->exit < walk->vcpu->n_exits && exit_time(walk, walk->exit) < to_ns)
		walk->exit++;
	stretch->n_accesses = walk->access - stretch->first_access;
	stretch->n_exits = walk->exit - stretch->first_exit;
}

static bool ends_stretch(const struct virt_interval *interval)
{
	return interval->state == VIRT_GUEST || interval->state == VIRT_UNKNOWN ||
	       interval->flags & VIRT_INTERVAL_EXIT;
}

/** Index of the interval that begins the stretch in which interval @i lies, if it is one. */
static size_t stretch_begin(const struct virt_interval_range *range, size_t i)
{
	size_t first = i;

	for (; i && !ends_stretch(&range->first[i]) && range->first[i - 1].state != VIRT_GUEST &&
	       range->first[i - 1].state != VIRT_UNKNOWN; i--)
		if (range->first[i - 1].state == VIRT_VMM)
			first = i - 1;
	return first;
}

static int64_t start_of(const struct virt_interval_range *range, size_t i)
{
	return i < range->n ? range->first[i].start_ns : range->end_ns;
}

static int64_t part_of(const struct walk *walk, int64_t from_ns, int64_t to_ns)
{
	from_ns = from_ns > walk->from_ns ? from_ns : walk->from_ns;
	to_ns = to_ns < walk->to_ns ? to_ns : walk->to_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/** The stretch that begins with interval @i. Return: the interval behind it. */
static size_t take_stretch(struct walk *walk, const struct virt_interval_range *range, size_t i,
			   struct host_monitor_stretch *stretch)
{
	int64_t from_ns = start_of(range, i), to_ns = from_ns;

	*stretch = (struct host_monitor_stretch){ .vcpu = walk->vcpu };
	do {
		if (range->first[i].state == VIRT_VMM) {
			to_ns = start_of(range, i + 1);
			stretch->vmm_ns += part_of(walk, start_of(range, i), to_ns);
		}
		i++;
	} while (i < range->n && !ends_stretch(&range->first[i]));
	take_events(walk, from_ns, to_ns, stretch);
	stretch->from_ns = from_ns > walk->from_ns ? from_ns : walk->from_ns;
	stretch->to_ns = to_ns < walk->to_ns ? to_ns : walk->to_ns;
	return i;
}

/** Accesses are those of the whole stretch, also where a window cuts it. */
static void walk_vcpu(struct walk *walk, host_monitor_stretch_fn take, void *arg)
{
	struct virt_interval_range all = virt_vcpu_intervals(walk->monitor->model, walk->vcpu->vcpu,
							     INT64_MIN, INT64_MAX);
	size_t i;

	SEARCH_FIRST(i, 0, all.n, all.first[i].start_ns <= walk->from_ns);
	i = i && all.n ? stretch_begin(&all, i - 1) : 0;
	while (i < all.n && all.first[i].start_ns < walk->to_ns) {
		struct host_monitor_stretch stretch;

		if (all.first[i].state != VIRT_VMM) {
			i++;
			continue;
		}
		i = take_stretch(walk, &all, i, &stretch);
		if (stretch.vmm_ns)
			take(arg, &stretch);
	}
}

void host_monitor_vcpu_stretches(const struct host_monitor *monitor, int32_t vcpu, int64_t from_ns,
				 int64_t to_ns, host_monitor_stretch_fn take, void *arg)
{
	for (int32_t i = 0; i < monitor->n_vcpus; i++) {
		struct walk walk = {
			.monitor = monitor, .vcpu = &monitor->vcpus[i], .from_ns = from_ns,
			.to_ns = to_ns,
		};

		if (monitor->vcpus[i].vcpu == vcpu)
			walk_vcpu(&walk, take, arg);
	}
}

void host_monitor_stretches(const struct host_monitor *monitor, int64_t from_ns, int64_t to_ns,
			    host_monitor_stretch_fn take, void *arg)
{
	for (int32_t i = 0; i < monitor->n_vcpus; i++)
		host_monitor_vcpu_stretches(monitor, monitor->vcpus[i].vcpu, from_ns, to_ns, take,
					    arg);
}
