// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_kvm.c
 * @brief	The data of kshark-virt report that only KVM has: events of tasks, and traces of
 *		guests.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "escape.h"
#include "report_parts.h"
#include "report_section.h"
#include "text_columns.h"
#include "virt_window.h"

/** Fewer records than this do not show whether two clocks fit. */
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
	/* records of one task follow each other */
	i = kvm->last_task - 1;
	if (i < 0 || kvm->tasks[i].pid != record->pid)
		i = KEY_MAP_ELEMENT(&kvm->task_map, (uint32_t)record->pid, kvm->tasks,
				    kvm->room_tasks);
	if (i < 0) {
		kvm->error = -ENOMEM;
		return;
	}
	kvm->last_task = i + 1;
	kvm->tasks[i].pid = record->pid;
	kvm->tasks[i].records[record->class] += record->records;
	kvm->tasks[i].all += record->records;
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

/** Guests with tasks that can be believed: these tasks are what culprits executed. */
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

/** One record in STRAY_SHARE may lie before the host's trace or after it; the page reports more. */
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

static void text_more_tasks(struct output *out, size_t n)
{
	if (n > MAX_TASKS)
		text_rest(out);
}

/** The number of all records, then a column for the records of each class. */
static void tasks_text(struct output *out, const struct report *report)
{
	enum { NAME = 0, ALL, CLASSES, MOST = CLASSES + COUNT_CLASSES };
	const struct report_kvm *kvm = report->kvm;
	struct table_column columns[MOST] = {
		[NAME] = { .title = "records of tasks", .width = REPORT_TASK_WIDTH },
		[ALL] = { .title = "all", .type = TABLE_COUNT },
	};
	struct table table = {
		.rows = { .columns = columns, .n = CLASSES, .apart = true, .titled = true },
	};
	struct table_writer to = { .table = &table, .format = &table_text, .out = out };
	struct table_cell cells[MOST];
	uint32_t n = kvm->task_map.n_keys;
	char name[GUEST_TASK_NAME];

	for (int class = 0; kvm_trace_class(kvm->trace, class); class++)
		columns[table.rows.n++] = (struct table_column){
			.title = kvm_trace_class(kvm->trace, class), .type = TABLE_COUNT,
		};
	table_flat(&to, true);
	for (uint32_t i = 0; i < n && i < MAX_TASKS; i++) {
		const struct report_task *task = &kvm->tasks[i];

		guest_task_name(name, sizeof(name), kvm->trace, task->pid);
		cells[NAME] = table_name(name);
		cells[ALL] = table_number((int64_t)task->all);
		for (size_t class = 0; CLASSES + class < table.rows.n; class++)
			cells[CLASSES + class] = table_number((int64_t)task->records[class]);
		table_row(&to, cells);
	}
	table_flat_end(&to);
	text_more_tasks(out, n);
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

/** On which pCPUs a task was executed, which share of it on each, and its cgroup or NULL. */
static void places_text(char *text, size_t size, const struct guest_task_sum *task,
			const char *cgroup)
{
	size_t n = 0;
	char pcpu[16];

	*text = '\0';
	for (size_t i = 0; i < task->n_places && i < MAX_PLACES; i++) {
		double share = 100 * (double)task->places[i].ns / (double)task->ns[VIRT_GUEST];

		pcpu_name(pcpu, sizeof(pcpu), task->places[i].pcpu);
		n += (size_t)snprintf(text + n, size - n, share < 0.5 ? "%s%s < 1 %%" :
				      "%s%s %.0f %%", i ? ", " : "  ", pcpu, share);
	}
	text_format(text + n, size - n, "%s%s%s", task->n_places > MAX_PLACES ? ", ..." : "",
		    cgroup ? "; in " : "", cgroup ? cgroup : "");
}

/** The columns of a task or cgroup: its name, all of its time, what that was, and where. */
enum { SUM_NAME = 0, SUM_BELIEVED, SUM_TIMES, SUM_PLACES = SUM_TIMES + REPORT_N_TIMES, N_SUM };

static void sum_row(struct table_writer *to, const struct report *report, const char *name,
		    const struct guest_task_sum *sum, const char *cgroup)
{
	char places[KVM_CGROUP_SIZE + 128];
	struct table_cell cells[N_SUM];

	places_text(places, sizeof(places), sum, cgroup);
	cells[SUM_NAME] = table_name(name);
	cells[SUM_BELIEVED] = table_number(sum->believed_ns);
	report_time_cells(&cells[SUM_TIMES], report, sum->ns);
	cells[SUM_PLACES] = table_name(places);
	table_row(to, cells);
}

/** Tasks without a known cgroup have a name, too. */
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

/** @of_cgroups: cgroups, else tasks */
static void sums_text(struct output *out, const struct report *report,
		      const struct report_guest *guest, bool of_cgroups)
{
	const struct guest_task_sums *sums = of_cgroups ? &guest->by_cgroup : &guest->sums;
	struct table_column columns[N_SUM] = {
		[SUM_NAME] = { .title = of_cgroups ? "guest's cgroups" : "guest's tasks",
			       .width = REPORT_TASK_WIDTH },
		[SUM_BELIEVED] = { .title = "believed", .type = TABLE_NS },
		[SUM_PLACES] = { .title = "  executed on" },
	};
	const struct table table = { .rows = { TABLE_COLUMNS(columns), .titled = true } };
	struct table_writer to = { .table = &table, .format = &table_text, .out = out };
	char name[GUEST_TASK_FULL_NAME];

	report_time_columns(&columns[SUM_TIMES]);
	for (size_t i = 0; i < sums->n; i++)
		report_time_columns_add(&columns[SUM_TIMES], sums->all[i].ns);
	table_flat(&to, true);
	for (size_t i = 0; i < sums->n && i < MAX_TASKS; i++) {
		const struct guest_task_sum *sum = &sums->all[i];

		if (of_cgroups) {
			sum_row(&to, report, cgroup_name(guest, sum), sum, NULL);
			continue;
		}
		guest_tasks_name(name, sizeof(name), &guest->tasks, sum->pid);
		sum_row(&to, report, name, sum, cgroup_of(report, guest, sum));
	}
	table_flat_end(&to);
	text_more_tasks(out, sums->n);
}

static void text_guest(struct output *out, const struct report *report,
		       const struct report_guest *guest)
{
	out_str(out, "\nguest ");
	out_text(out, kvm_trace_path(guest->trace));
	out_char(out, '\n');
	text_guest_cpus(out, report, guest);
	sums_text(out, report, guest, false);
	if (guest->by_cgroup.n)
		sums_text(out, report, guest, true);
}

static void text(struct output *out, const struct report *report)
{
	if (report->kvm)
		tasks_text(out, report);
	for (int i = 0; report->guests && i < report->guests->n_guests; i++)
		text_guest(out, report, &report->guests->guests[i]);
}

/* --- facts ----------------------------------------------------------------------------------- */

/** What the rows of CSV are called that are about a task or cgroup. */
struct sum_sections {
	const char	*believed, *executed, *steal, *pcpu;
};

static const struct sum_sections task_sections = {
	"guest_task_believed", "guest_task_executed", "guest_task_steal", "guest_task_pcpu",
};

static const struct sum_sections cgroup_sections = {
	"guest_cgroup_believed", "guest_cgroup_executed", "guest_cgroup_steal",
	"guest_cgroup_pcpu",
};

static void kvm_place_facts(struct facts *to, const struct sum_sections *sections, const char *name,
			    const struct guest_task_sum *sum)
{
	facts_open(to, "pcpus", '[', true);
	for (size_t i = 0; i < sum->n_places; i++) {
		char place[KVM_CGROUP_SIZE + 32], pcpu[16];

		pcpu_name(pcpu, sizeof(pcpu), sum->places[i].pcpu);
		text_format(place, sizeof(place), "%s on %s", name, pcpu);
		facts_open(to, NULL, '{', true);
		if (sum->places[i].pcpu >= 0)
			facts_number(to, "pcpu", sum->places[i].pcpu);
		facts_ns(to, FACT("executed_ns", sections->pcpu, place), sum->places[i].ns);
		facts_close(to, '}');
	}
	facts_close(to, ']');
}

/** The facts of a task or cgroup, in its object. */
static void kvm_sum_facts(struct facts *to, const struct report *report,
			  const struct sum_sections *sections, const char *name,
			  const struct guest_task_sum *sum)
{
	facts_count(to, FACT_JSON("runs"), sum->runs);
	facts_number(to, "believed_ns", sum->believed_ns);
	facts_sum(to, sections->believed, name, sum->runs, sum->believed_ns);
	report_time_facts(to, report, sections->executed, sections->steal, name, sum->ns);
	kvm_place_facts(to, sections, name, sum);
}

static void kvm_cpu_facts(struct facts *to, const struct report *report,
			  const struct report_guest *guest)
{
	char name[16];

	facts_open(to, "cpus", '[', false);
	for (int c = 0; c < guest->n_cpus; c++) {
		const struct report_guest_cpu *cpu = &guest->cpus[c];

		snprintf(name, sizeof(name), "cpu%d", c);
		facts_open(to, NULL, '{', true);
		facts_number(to, "cpu", c);
		if (cpu->seen.vcpu != VIRT_NONE)
			facts_name(to, "vcpu", virt_model_who(report->load->model, cpu->seen.vcpu));
		facts_counted(to, FACT("inside", "guest_records_inside", name), cpu->inside);
		facts_counted(to, FACT("outside", "guest_records_outside", name), cpu->outside);
		facts_count(to, FACT_JSON("unknown"), cpu->unknown);
		facts_count(to, FACT_JSON("beyond"), cpu->beyond);
		facts_close(to, '}');
	}
	facts_close(to, ']');
}

static void kvm_guest_facts(struct facts *to, const struct report *report,
			    const struct report_guest *guest)
{
	char name[GUEST_TASK_FULL_NAME];

	to->machine = kvm_trace_path(guest->trace);
	facts_open(to, NULL, '{', false);
	facts_name(to, "file", kvm_trace_path(guest->trace));
	kvm_cpu_facts(to, report, guest);
	facts_open(to, "tasks", '[', false);
	for (size_t i = 0; i < guest->sums.n; i++) {
		const struct guest_task_sum *task = &guest->sums.all[i];
		const struct kvm_trace *inside = guest_tasks_inside(&guest->tasks, task->pid);
		const char *cgroup = cgroup_of(report, guest, task);

		guest_tasks_name(name, sizeof(name), &guest->tasks, task->pid);
		facts_open(to, NULL, '{', true);
		facts_number(to, "pid", guest_tasks_pid(task->pid));
		facts_name(to, "name", name);
		if (inside)
			facts_name(to, "inside", kvm_trace_path(inside));
		if (cgroup)
			facts_name(to, "cgroup", cgroup);
		kvm_sum_facts(to, report, &task_sections, name, task);
		facts_close(to, '}');
	}
	facts_close(to, ']');
	facts_open(to, "cgroups", '[', false);
	for (size_t i = 0; i < guest->by_cgroup.n; i++) {
		const struct guest_task_sum *sum = &guest->by_cgroup.all[i];

		facts_open(to, NULL, '{', true);
		if (guest_cgroups_name(&guest->tasks.cgroups, sum->pid))
			facts_name(to, "name", cgroup_name(guest, sum));
		kvm_sum_facts(to, report, &cgroup_sections, cgroup_name(guest, sum), sum);
		facts_close(to, '}');
	}
	facts_close(to, ']');
	facts_close(to, '}');
	to->machine = NULL;
}

static void kvm_task_facts(struct facts *to, const struct report_kvm *kvm)
{
	char name[GUEST_TASK_NAME];

	facts_open(to, "tasks", '[', false);
	for (uint32_t i = 0; i < kvm->task_map.n_keys; i++) {
		const struct report_task *task = &kvm->tasks[i];

		guest_task_name(name, sizeof(name), kvm->trace, task->pid);
		facts_open(to, NULL, '{', true);
		facts_number(to, "pid", task->pid);
		facts_name(to, "name", name);
		facts_count(to, FACT("records", "task_records", name), task->all);
		facts_open(to, "classes", '{', true);
		for (int class = 0; kvm_trace_class(kvm->trace, class); class++)
			if (task->records[class])
				facts_count(to, FACT_JSON(kvm_trace_class(kvm->trace, class)),
					    task->records[class]);
		facts_close(to, '}');
		facts_close(to, '}');
	}
	facts_close(to, ']');
}

static void kvm_facts(struct facts *to, const struct report *report)
{
	if (report->kvm)
		kvm_task_facts(to, report->kvm);
	if (!report->guests)
		return;
	facts_open(to, "guests", '[', false);
	for (int i = 0; i < report->guests->n_guests; i++)
		kvm_guest_facts(to, report, &report->guests->guests[i]);
	facts_close(to, ']');
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
	.text = text, .facts = kvm_facts,
};
