// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_kvm.c
 * @brief	What kshark-virt report tells of KVM alone: events of tasks, and what guests say.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "escape.h"
#include "report_csv.h"
#include "report_section.h"
#include "text_columns.h"
#include "virt_window.h"

/** Of fewer records than that, nobody can tell whether two clocks fit. */
#define MIN_RECORDS	100

/** In text. */
#define MAX_TASKS	20
/** A name that no cgroup has. */
#define UNKNOWN_CGROUP	"unknown"
#define MAX_PLACES	3

/* --- counting -------------------------------------------------------------------------------- */

void report_kvm_record(struct report_kvm *kvm, const struct kvm_trace_record *record)
{
	int64_t i;

	if (record->time_ns < kvm->from_ns || record->time_ns >= kvm->to_ns)
		return;
	i = KEY_MAP_ELEMENT(&kvm->task_map, (uint32_t)record->pid, kvm->tasks, kvm->room_tasks);
	if (i < 0) {
		kvm->error = -ENOMEM;
		return;
	}
	kvm->tasks[i].pid = record->pid;
	kvm->tasks[i].records[record->class]++;
	kvm->tasks[i].all++;
}

static int compare_tasks(const void *a, const void *b)
{
	const struct report_task *x = a, *y = b;

	if (x->all != y->all)
		return x->all < y->all ? 1 : -1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* --- guests ---------------------------------------------------------------------------------- */

/** On the way through the trace of a guest, CPU by CPU. */
struct guest_walk {
	const struct report *report;
	struct report_guest *guest;
	int		error;
};

/** Where it lies in what its vCPU did. */
static void judge_record(const struct report *report, struct report_guest_cpu *cpu,
			 const struct virt_interval *interval, int64_t time_ns)
{
	cpu->beyond += !interval;
	if (!virt_begins_in(time_ns, report->from_ns, report->to_ns))
		return;
	if (!interval || virt_interval_is_lost(interval))
		cpu->unknown++;
	else if (interval->state == VIRT_GUEST)
		cpu->inside++;
	else
		cpu->outside++;
}

static int take_guest_record(void *arg, const struct kvm_trace_record *one)
{
	struct guest_walk *walk = arg;
	const struct report *report = walk->report;
	struct kvm_trace_record record = *one;
	const struct virt_interval *interval = NULL;
	struct report_guest_cpu *cpu;
	int ret;

	if (record.cpu >= walk->guest->n_cpus)
		return 0;
	record.time_ns = guest_tasks_time(&report->load->host, record.time_ns);
	cpu = &walk->guest->cpus[record.cpu];
	if (cpu->seen.vcpu != VIRT_NONE)
		interval = virt_vcpu_at(report->load->model, cpu->seen.vcpu, record.time_ns, NULL);
	ret = irq_guest_cpu_take(&cpu->seen, &record, interval);
	if (!ret)
		ret = guest_tasks_take(&walk->guest->tasks, &record, record.time_ns);
	if (cpu->seen.vcpu != VIRT_NONE)
		judge_record(report, cpu, interval, record.time_ns);
	return ret;
}

static void guest_lost(void *arg, int cpu, uint64_t records)
{
	struct guest_walk *walk = arg;

	(void)records;
	if (cpu >= 0 && cpu < walk->guest->n_cpus)
		walk->guest->cpus[cpu].seen.lost = true;
	walk->error |= guest_tasks_lost(&walk->guest->tasks, cpu);
}

static int build_guest(const struct report *report, struct report_guest *guest)
{
	const struct host_trace *host = &report->load->host;
	const struct virt_model *model = report->load->model;
	struct guest_walk walk = { .report = report, .guest = guest };
	int n = 0, ret;
	const int *tids = guest_tasks_tids(host, guest->trace, &n);

	ret = guest_tasks_init(&guest->tasks, model, guest->trace, tids, n);
	guest->n_cpus = guest->tasks.n_cpus;
	guest->cpus = calloc((size_t)guest->n_cpus + 1, sizeof(*guest->cpus));
	if (ret || !guest->cpus)
		return -ENOMEM;
	for (int i = 0; i < guest->n_cpus; i++) {
		guest->cpus[i].seen.tid = i < n ? tids[i] : VIRT_NONE;
		guest->cpus[i].seen.vcpu = guest->tasks.cpus[i].vcpu;
	}
	ret = kvm_trace_walk(guest->trace, take_guest_record, guest_lost, &walk);
	if (!ret)
		ret = guest_tasks_end(&guest->tasks);
	if (!ret)
		ret = walk.error;
	if (!ret)
		ret = model_nest(report->load, guest->number, &guest->tasks);
	if (!ret)
		ret = guest_task_sums_make(&guest->sums, &guest->tasks, model, report->from_ns,
					   report->to_ns);
	return ret ? ret : guest_cgroup_sums_make(&guest->by_cgroup, &guest->tasks, model,
						  report->from_ns, report->to_ns);
}

/** Share of the records that can be judged; negative if there are too few. */
static double share_of(const struct report_guest_cpu *cpu)
{
	uint64_t all = cpu->inside + cpu->outside;

	return all ? (double)cpu->inside / (double)all : -1;
}

static bool is_poor(const struct report_guest_cpu *cpu)
{
	return cpu->inside + cpu->outside >= MIN_RECORDS && share_of(cpu) < IRQ_ALIGNED_SHARE;
}

/** Whose tasks can be believed, and are whom culprits executed. */
static int find_culprits(struct report_kvm *kvm, const struct virt_model *model)
{
	kvm->of_culprits = calloc((size_t)kvm->n_guests + 1, sizeof(*kvm->of_culprits));
	if (!kvm->of_culprits)
		return -ENOMEM;
	for (int i = 0; i < kvm->n_guests; i++) {
		struct report_guest *guest = &kvm->guests[i];

		guest->is_aligned = calloc((size_t)guest->n_cpus + 1, sizeof(*guest->is_aligned));
		if (!guest->is_aligned)
			return -ENOMEM;
		for (int c = 0; c < guest->n_cpus; c++)
			guest->is_aligned[c] = irq_guest_cpu_is_aligned(&guest->cpus[c].seen);
		kvm->of_culprits[i] = (struct guest_culprits_guest){ &guest->tasks,
								     guest->is_aligned };
	}
	return guest_culprits_init(&kvm->culprits, model, kvm->of_culprits, kvm->n_guests);
}

int report_kvm_build(struct report_kvm *kvm, const struct report *report)
{
	const struct model_load *load = report->load;
	int ret = kvm->error;

	kvm->trace = load->host.kvm;
	if (kvm->tasks)
		qsort(kvm->tasks, kvm->task_map.n_keys, sizeof(*kvm->tasks), compare_tasks);
	kvm->guests = calloc((size_t)load->n_guests + 1, sizeof(*kvm->guests));
	if (!kvm->guests)
		return -ENOMEM;
	for (int i = 0; i < load->n_guests && !ret; i++) {
		struct report_guest *guest = &kvm->guests[kvm->n_guests++];

		guest->trace = load->guests[i];
		guest->number = i;
		ret = build_guest(report, guest);
	}
	return ret ? ret : find_culprits(kvm, load->model);
}

void report_kvm_free(struct report_kvm *kvm)
{
	for (int i = 0; i < kvm->n_guests; i++) {
		for (int cpu = 0; kvm->guests[i].cpus && cpu < kvm->guests[i].n_cpus; cpu++)
			irq_guest_cpu_free(&kvm->guests[i].cpus[cpu].seen);
		free(kvm->guests[i].cpus);
		free(kvm->guests[i].is_aligned);
		guest_tasks_free(&kvm->guests[i].tasks);
		guest_task_sums_free(&kvm->guests[i].sums);
		guest_task_sums_free(&kvm->guests[i].by_cgroup);
	}
	guest_culprits_free(&kvm->culprits);
	free(kvm->of_culprits);
	free(kvm->guests);
	free(kvm->tasks);
	key_map_destroy(&kvm->task_map);
	memset(kvm, 0, sizeof(*kvm));
}

int report_kvm_guest_cpu(const struct report_kvm *kvm, int32_t tid)
{
	for (int i = 0; i < kvm->n_guests; i++)
		for (int cpu = 0; cpu < kvm->guests[i].n_cpus; cpu++)
			if (kvm->guests[i].cpus[cpu].seen.tid == tid)
				return cpu;
	return VIRT_NONE;
}

/** Before the host's trace or after it, one in so many may lie; more are worth a word. */
#define STRAY_SHARE	100

const struct report_guest_cpu *report_kvm_find(const struct report_kvm *kvm, int32_t vcpu,
					       const struct report_guest **guest)
{
	for (int i = 0; i < kvm->n_guests && vcpu != VIRT_NONE; i++) {
		*guest = &kvm->guests[i];
		for (int cpu = 0; cpu < (*guest)->n_cpus; cpu++)
			if ((*guest)->cpus[cpu].seen.vcpu == vcpu)
				return &(*guest)->cpus[cpu];
	}
	return NULL;
}

/* --- text ------------------------------------------------------------------------------------ */

static void put_first(struct output *out, const char *name)
{
	out_str(out, "  ");
	out_text_left(out, name, 24);
}

static void text_tasks(struct output *out, const struct report *report)
{
	const struct report_kvm *kvm = report->kvm;
	uint32_t n = kvm->task_map.n_keys;
	char name[GUEST_TASK_NAME];

	out_char(out, '\n');
	put_first(out, "records of tasks");
	text_right(out, "all", TEXT_NUMBER);
	for (int class = 0; kvm_trace_class(kvm->trace, class); class++)
		text_right(out, kvm_trace_class(kvm->trace, class), TEXT_NUMBER);
	out_char(out, '\n');
	for (uint32_t i = 0; i < n && i < MAX_TASKS; i++) {
		guest_task_name(name, sizeof(name), kvm->trace, kvm->tasks[i].pid);
		put_first(out, name);
		out_char(out, ' ');
		out_u64_width(out, kvm->tasks[i].all, TEXT_NUMBER);
		for (int class = 0; kvm_trace_class(kvm->trace, class); class++) {
			out_char(out, ' ');
			out_u64_width(out, kvm->tasks[i].records[class], TEXT_NUMBER);
		}
		out_char(out, '\n');
	}
	if (n > MAX_TASKS)
		out_str(out, "  ... and more: --format json lists all\n");
}

static void text_guest_cpus(struct output *out, const struct report *report,
			    const struct report_guest *guest)
{
	const struct guest_clock *clock = &report->load->clocks[guest->number];
	char text[512];

	for (int c = 0; c < guest->n_cpus; c++) {
		const struct report_guest_cpu *cpu = &guest->cpus[c];

		if (cpu->seen.vcpu == VIRT_NONE) {
			snprintf(text, sizeof(text), "CPU %d: no vCPU is known for it", c);
		} else if (share_of(cpu) < 0) {
			snprintf(text, sizeof(text), "CPU %d: no record can be judged", c);
		} else {
			char rest[64] = "";

			if (cpu->beyond > (cpu->inside + cpu->outside) / STRAY_SHARE)
				snprintf(rest, sizeof(rest),
					 "; %llu more lie outside of the host's trace",
					 (unsigned long long)cpu->beyond);
			text_format(text, sizeof(text), "CPU %d: %.3f %% of %llu records lie where "
				    "%s executed its guest%s%s", c, 100 * share_of(cpu),
				    (unsigned long long)(cpu->inside + cpu->outside),
				    virt_model_who(report->load->model, cpu->seen.vcpu),
				    !is_poor(cpu) ? "" : clock->fits.vcpus ?
				    "; it is not this CPU" : "; the clocks are not aligned", rest);
		}
		out_str(out, "  ");
		out_text(out, text);
		out_char(out, '\n');
	}
}

static void pcpu_name(char *text, size_t size, int32_t pcpu)
{
	if (pcpu < 0)
		snprintf(text, size, "unknown");
	else
		snprintf(text, size, "p%d", pcpu);
}

/** On which pCPUs a task was executed, and which share of it on each. */
static void text_places(struct output *out, const struct guest_task_sum *task)
{
	char text[64], pcpu[16];

	for (size_t i = 0; i < task->n_places && i < MAX_PLACES; i++) {
		double share = 100 * (double)task->places[i].ns / (double)task->ns[VIRT_GUEST];

		pcpu_name(pcpu, sizeof(pcpu), task->places[i].pcpu);
		snprintf(text, sizeof(text), share < 0.5 ? "%s%s < 1 %%" : "%s%s %.0f %%",
			 i ? ", " : "  ", pcpu, share);
		out_str(out, text);
	}
	if (task->n_places > MAX_PLACES)
		out_str(out, ", ...");
}

/** What is told of each task or cgroup. */
static const struct {
	const char	*name;
	enum virt_state	state;
} sum_columns[] = {
	{ "executed", VIRT_GUEST }, { "steal", VIRT_PREEMPTED }, { "hypervisor", VIRT_HYPERVISOR },
	{ "polling", VIRT_POLLING }, { "vmm", VIRT_VMM }, { "waking", VIRT_WAKING },
	{ "blocked", VIRT_BLOCKED }, { "offline", VIRT_OFFLINE }, { "unknown", VIRT_UNKNOWN },
};

/** Hardly any machine is paused or saved, and few traces show polling: no column without any. */
static bool has_column(const struct guest_task_sums *sums, enum virt_state state)
{
	bool is_rare = state == VIRT_OFFLINE || state == VIRT_POLLING;

	for (size_t i = 0; is_rare && i < sums->n; i++)
		if (sums->all[i].ns[state])
			return true;
	return !is_rare;
}

static void text_sums_head(struct output *out, const char *first,
			   const struct guest_task_sums *sums)
{
	put_first(out, first);
	text_right(out, "believed", TEXT_NUMBER);
	for (size_t i = 0; i < ARRAY_SIZE(sum_columns); i++)
		if (has_column(sums, sum_columns[i].state))
			text_right(out, sum_columns[i].name, TEXT_NUMBER);
	out_str(out, "  executed on\n");
}

/** One of @sums */
static void text_sum(struct output *out, const char *name, const struct guest_task_sum *sum,
		     const struct guest_task_sums *sums)
{
	put_first(out, name);
	text_duration(out, sum->believed_ns);
	for (size_t i = 0; i < ARRAY_SIZE(sum_columns); i++)
		if (has_column(sums, sum_columns[i].state))
			text_duration(out, sum->ns[sum_columns[i].state]);
	text_places(out, sum);
}

/** Of tasks of which nothing is told, too. */
static const char *cgroup_name(const struct report_guest *guest, const struct guest_task_sum *sum)
{
	const char *name = guest_cgroups_name(&guest->tasks.cgroups, sum->pid);

	return name ? name : UNKNOWN_CGROUP;
}

/** The cgroup that a task was in last within the window; or NULL. */
static const char *cgroup_of(const struct report *report, const struct report_guest *guest,
			     const struct guest_task_sum *task)
{
	const struct guest_cgroups *cgroups = &guest->tasks.cgroups;

	return guest_cgroups_name(cgroups, guest_cgroups_at(cgroups, task->pid, report->to_ns - 1,
							    NULL));
}

static void text_guest(struct output *out, const struct report *report,
		       const struct report_guest *guest)
{
	char name[GUEST_TASK_FULL_NAME];

	out_str(out, "\nguest ");
	out_text(out, kvm_trace_path(guest->trace));
	out_char(out, '\n');
	text_guest_cpus(out, report, guest);
	text_sums_head(out, "guest's tasks", &guest->sums);
	for (size_t i = 0; i < guest->sums.n && i < MAX_TASKS; i++) {
		const struct guest_task_sum *task = &guest->sums.all[i];

		const char *cgroup = cgroup_of(report, guest, task);

		guest_tasks_name(name, sizeof(name), &guest->tasks, task->pid);
		text_sum(out, name, task, &guest->sums);
		if (cgroup) {
			out_str(out, "; in ");
			out_text(out, cgroup);
		}
		out_char(out, '\n');
	}
	if (guest->sums.n > MAX_TASKS)
		out_str(out, "  ... and more: --format json lists all\n");
	if (!guest->by_cgroup.n)
		return;
	text_sums_head(out, "guest's cgroups", &guest->by_cgroup);
	for (size_t i = 0; i < guest->by_cgroup.n && i < MAX_TASKS; i++) {
		text_sum(out, cgroup_name(guest, &guest->by_cgroup.all[i]),
			 &guest->by_cgroup.all[i], &guest->by_cgroup);
		out_char(out, '\n');
	}
	if (guest->by_cgroup.n > MAX_TASKS)
		out_str(out, "  ... and more: --format json lists all\n");
}

static void text(struct output *out, const struct report *report)
{
	if (report->kvm)
		text_tasks(out, report);
	for (int i = 0; report->guests && i < report->guests->n_guests; i++)
		text_guest(out, report, &report->guests->guests[i]);
}

/* --- JSON and CSV ---------------------------------------------------------------------------- */

/** What follows the name of a task or cgroup. */
static void json_sum(struct json *json, const struct guest_task_sum *sum)
{
	json_u64(json, "runs", sum->runs);
	json_i64(json, "believed_ns", sum->believed_ns);
	json_i64(json, "executed_ns", sum->ns[VIRT_GUEST]);
	json_i64(json, "steal_ns", sum->ns[VIRT_PREEMPTED]);
	json_open(json, "states_ns", '{', true);
	for (int state = 0; state < VIRT_N_STATES; state++)
		json_i64(json, virt_state_name((enum virt_state)state), sum->ns[state]);
	json_close(json, '}');
	json_open(json, "pcpus", '[', true);
	for (size_t j = 0; j < sum->n_places; j++) {
		json_open(json, NULL, '{', true);
		if (sum->places[j].pcpu >= 0)
			json_i64(json, "pcpu", sum->places[j].pcpu);
		json_i64(json, "executed_ns", sum->places[j].ns);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void json_cgroups(struct json *json, const struct report_guest *guest)
{
	json_open(json, "cgroups", '[', false);
	for (size_t i = 0; i < guest->by_cgroup.n; i++) {
		const struct guest_task_sum *sum = &guest->by_cgroup.all[i];
		const char *name = guest_cgroups_name(&guest->tasks.cgroups, sum->pid);

		json_open(json, NULL, '{', true);
		if (name)
			json_str(json, "name", name);
		json_sum(json, sum);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void json_guest(struct json *json, const struct report *report,
		       const struct report_guest *guest)
{
	char name[GUEST_TASK_FULL_NAME];

	json_open(json, NULL, '{', false);
	json_str(json, "file", kvm_trace_path(guest->trace));
	json_open(json, "cpus", '[', false);
	for (int c = 0; c < guest->n_cpus; c++) {
		const struct report_guest_cpu *cpu = &guest->cpus[c];

		json_open(json, NULL, '{', true);
		json_i64(json, "cpu", c);
		if (cpu->seen.vcpu != VIRT_NONE)
			json_str(json, "vcpu", virt_model_who(report->load->model, cpu->seen.vcpu));
		json_u64(json, "inside", cpu->inside);
		json_u64(json, "outside", cpu->outside);
		json_u64(json, "unknown", cpu->unknown);
		json_u64(json, "beyond", cpu->beyond);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_open(json, "tasks", '[', false);
	for (size_t i = 0; i < guest->sums.n; i++) {
		const struct guest_task_sum *task = &guest->sums.all[i];
		const struct kvm_trace *inside = guest_tasks_inside(&guest->tasks, task->pid);
		const char *cgroup = cgroup_of(report, guest, task);

		guest_tasks_name(name, sizeof(name), &guest->tasks, task->pid);
		json_open(json, NULL, '{', true);
		json_i64(json, "pid", guest_tasks_pid(task->pid));
		json_str(json, "name", name);
		if (inside)
			json_str(json, "inside", kvm_trace_path(inside));
		if (cgroup)
			json_str(json, "cgroup", cgroup);
		json_sum(json, task);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_cgroups(json, guest);
	json_close(json, '}');
}

static void json_tasks(struct json *json, const struct report_kvm *kvm)
{
	char name[GUEST_TASK_NAME];

	json_open(json, "tasks", '[', false);
	for (uint32_t i = 0; i < kvm->task_map.n_keys; i++) {
		const struct report_task *task = &kvm->tasks[i];

		guest_task_name(name, sizeof(name), kvm->trace, task->pid);
		json_open(json, NULL, '{', true);
		json_i64(json, "pid", task->pid);
		json_str(json, "name", name);
		json_u64(json, "records", task->all);
		json_open(json, "classes", '{', true);
		for (int class = 0; kvm_trace_class(kvm->trace, class); class++)
			if (task->records[class])
				json_u64(json, kvm_trace_class(kvm->trace, class),
					 task->records[class]);
		json_close(json, '}');
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void json(struct json *json, const struct report *report)
{
	if (report->kvm)
		json_tasks(json, report->kvm);
	if (!report->guests)
		return;
	json_open(json, "guests", '[', false);
	for (int i = 0; i < report->guests->n_guests; i++)
		json_guest(json, report, &report->guests->guests[i]);
	json_close(json, ']');
}

static void csv_named(struct output *out, const struct report *report, const char *section,
		      const char *guest, const char *name, const uint64_t *count,
		      const int64_t *ns)
{
	csv_row(out, report, &(struct csv_row){
		.section = section, .machine = guest, .name = name, .count = count, .ns = ns,
	});
}

static void csv_places(struct output *out, const struct report *report, const char *section,
		       const char *path, const char *name, const struct guest_task_sum *sum)
{
	for (size_t j = 0; j < sum->n_places; j++) {
		char place[KVM_CGROUP_SIZE + 32], pcpu[16];

		pcpu_name(pcpu, sizeof(pcpu), sum->places[j].pcpu);
		text_format(place, sizeof(place), "%s on %s", name, pcpu);
		csv_named(out, report, section, path, place, NULL, &sum->places[j].ns);
	}
}

static void csv_cgroups(struct output *out, const struct report *report,
			const struct report_guest *guest)
{
	const char *path = kvm_trace_path(guest->trace);

	for (size_t i = 0; i < guest->by_cgroup.n; i++) {
		const struct guest_task_sum *sum = &guest->by_cgroup.all[i];
		const char *name = cgroup_name(guest, sum);

		csv_named(out, report, "guest_cgroup_believed", path, name, &sum->runs,
			  &sum->believed_ns);
		csv_named(out, report, "guest_cgroup_executed", path, name, NULL,
			  &sum->ns[VIRT_GUEST]);
		csv_named(out, report, "guest_cgroup_steal", path, name, NULL,
			  &sum->ns[VIRT_PREEMPTED]);
		csv_places(out, report, "guest_cgroup_pcpu", path, name, sum);
	}
}

static void csv_guest(struct output *out, const struct report *report,
		      const struct report_guest *guest)
{
	const char *path = kvm_trace_path(guest->trace);
	char name[GUEST_TASK_FULL_NAME];

	for (int c = 0; c < guest->n_cpus; c++) {
		snprintf(name, sizeof(name), "cpu%d", c);
		csv_named(out, report, "guest_records_inside", path, name,
			  &guest->cpus[c].inside, NULL);
		csv_named(out, report, "guest_records_outside", path, name,
			  &guest->cpus[c].outside, NULL);
	}
	for (size_t i = 0; i < guest->sums.n; i++) {
		const struct guest_task_sum *task = &guest->sums.all[i];

		guest_tasks_name(name, sizeof(name), &guest->tasks, task->pid);
		csv_named(out, report, "guest_task_believed", path, name, &task->runs,
			  &task->believed_ns);
		csv_named(out, report, "guest_task_executed", path, name, NULL,
			  &task->ns[VIRT_GUEST]);
		csv_named(out, report, "guest_task_steal", path, name, NULL,
			  &task->ns[VIRT_PREEMPTED]);
		csv_places(out, report, "guest_task_pcpu", path, name, task);
	}
	csv_cgroups(out, report, guest);
}

static void csv(struct output *out, const struct report *report)
{
	const struct report_kvm *kvm = report->kvm;
	char name[GUEST_TASK_NAME];

	for (uint32_t i = 0; kvm && i < kvm->task_map.n_keys; i++) {
		guest_task_name(name, sizeof(name), kvm->trace, kvm->tasks[i].pid);
		csv_named(out, report, "task_records", NULL, name, &kvm->tasks[i].all, NULL);
	}
	for (int i = 0; report->guests && i < report->guests->n_guests; i++)
		csv_guest(out, report, &report->guests->guests[i]);
}

static void count(struct report_counted *counted, const struct kvm_trace_record *record)
{
	report_kvm_record(&counted->kvm, record);
}

/** Guests of Xen have tasks, too, which others ask about. */
static int build(struct report_counted *counted, struct report *report,
		 const struct ksv_vcpu_set *vcpus)
{
	(void)vcpus;
	if (!counted->load.host.kvm && !counted->load.n_guests)
		return 0;
	if (counted->load.host.kvm)
		report->kvm = &counted->kvm;
	report->guests = &counted->kvm;
	if (counted->load.n_guests)
		report->culprits = &counted->kvm.culprits;
	return report_kvm_build(&counted->kvm, report);
}

static void release(struct report_counted *counted)
{
	report_kvm_free(&counted->kvm);
}

const struct report_section report_tasks = {
	.record = count, .build = build, .free = release,
	.text = text, .json = json, .csv = csv,
};
