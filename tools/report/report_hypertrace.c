// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_hypertrace.c
 * @brief	kshark-virt report --hypertrace: hypercalls of guests, and their tasks by them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "escape.h"
#include "report_csv.h"
#include "report_section.h"
#include "text_columns.h"
#include "virt_window.h"

#define MAX_TASKS	20

/** The columns of a task's time. */
static const struct {
	const char	*name;
	enum virt_state	state;
} columns[] = {
	{ "executed", VIRT_GUEST }, { "steal", VIRT_PREEMPTED }, { "hypervisor", VIRT_HYPERVISOR },
	{ "polling", VIRT_POLLING }, { "vmm", VIRT_VMM }, { "waking", VIRT_WAKING },
	{ "blocked", VIRT_BLOCKED },
	{ "unknown", VIRT_UNKNOWN },
};

const char *report_hyper_vcpu(const struct report *report,
			      const struct report_hyper_machine *machine, int32_t cpu)
{
	return virt_model_who(report->load->model,
			      host_hypertrace_vcpu(report->hypertrace->trace,
						   machine->info->machine, cpu));
}

const char *report_hyper_name(const struct report *report,
			      const struct report_hyper_machine *machine)
{
	return virt_model_machine(report->load->model, machine->info->machine)->name;
}

/* --- what goes by ---------------------------------------------------------------------------- */

static void rows(struct report_counted *counted, const struct xen_trace_row *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		host_hypercalls_row(&counted->hypertrace.calls, &row[i]);
}

static void record(struct report_counted *counted, const struct kvm_trace_record *one)
{
	host_hypercalls_record(&counted->hypertrace.calls, one);
}

/* --- tasks ----------------------------------------------------------------------------------- */

/** A run counts where it lies within the window. */
static void add_run(const struct report *report, const struct hyper_run *run, int32_t vcpu,
		    struct report_hyper_machine *machine, struct report_hyper_task *task)
{
	int64_t from = run->start_ns > report->from_ns ? run->start_ns : report->from_ns;
	int64_t to = run->end_ns < report->to_ns ? run->end_ns : report->to_ns;
	struct virt_totals totals;

	if (task)
		task->runs += virt_begins_in(run->start_ns, report->from_ns, report->to_ns);
	if (from >= to)
		return;
	if (!task) {
		machine->unknown_ns += to - from;
		return;
	}
	if (run->flags & HYPER_NO_END) {
		task->doubt_ns += to - from;
		return;
	}
	task->cpu_ns += to - from;
	virt_vcpu_totals(report->load->model, vcpu, from, to, &totals);
	for (int state = 0; state < VIRT_N_STATES; state++)
		task->ns[state] += totals.ns[state];
}

static int compare_tasks(const void *a, const void *b)
{
	const struct report_hyper_task *x = a, *y = b;

	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns > y->cpu_ns ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int build_tasks(const struct report *report, struct report_hyper_machine *machine)
{
	const struct virt_machine *info = virt_model_machine(report->load->model,
							     machine->info->machine);
	struct key_map map = { .n_keys = 0 };
	uint32_t room = 0;
	int ret = 0;

	for (int32_t cpu = 0; cpu < info->n_vcpus && !ret; cpu++) {
		size_t n;
		const struct hyper_run *runs = hyper_guest_runs(machine->info->guest, cpu, &n);

		for (size_t i = 0; i < n && !ret; i++) {
			int64_t task = runs[i].pid == HYPER_NONE ? HYPER_NONE :
				       KEY_MAP_ELEMENT(&map, (uint32_t)runs[i].pid, machine->tasks,
						       room);

			if (task == -ENOMEM) {
				ret = -ENOMEM;
				break;
			}
			if (task >= 0)
				machine->tasks[task].pid = runs[i].pid;
			add_run(report, &runs[i], info->vcpus[cpu], machine,
				task >= 0 ? &machine->tasks[task] : NULL);
		}
	}
	machine->n_tasks = map.n_keys;
	if (machine->n_tasks)
		qsort(machine->tasks, machine->n_tasks, sizeof(*machine->tasks), compare_tasks);
	key_map_destroy(&map);
	return ret;
}

/* --- all machines ---------------------------------------------------------------------------- */

static bool is_wanted(const struct report *report, int32_t machine,
		      const struct ksv_vcpu_set *vcpus)
{
	const struct virt_machine *info = virt_model_machine(report->load->model, machine);

	for (int32_t i = 0; i < info->n_vcpus; i++)
		if (report_wants_vcpu(report, info->vcpus[i], vcpus))
			return true;
	return false;
}

static int build_machine(const struct report_hypertrace *hypertrace, const struct report *report,
			 struct report_hyper_machine *machine)
{
	const struct virt_model *model = report->load->model;
	const struct virt_machine *info = virt_model_machine(model, machine->info->machine);
	int ret;

	for (int32_t i = 0; i < info->n_vcpus; i++) {
		struct virt_totals totals;

		virt_vcpu_totals(model, info->vcpus[i], report->from_ns, report->to_ns, &totals);
		machine->guest_ns += totals.ns[VIRT_GUEST];
	}
	if (hypertrace->options->boot) {
		machine->stages = host_stages_new(hypertrace->trace, machine->info->machine,
						  model_boots_of(&hypertrace->boots,
								 machine->info->machine),
						  hypertrace->options->symbols,
						  report->from_ns, report->to_ns);
		if (!machine->stages)
			return -ENOMEM;
	}
	if (!machine->info->guest)
		return 0;
	ret = build_tasks(report, machine);
	return ret || !hypertrace->options->function ? ret :
	       report_hyper_functions(hypertrace, report, machine);
}

/** The machines that tell something, if they are asked for. */
static int build_machines(struct report_hypertrace *hypertrace, const struct report *report,
			  const struct ksv_vcpu_set *vcpus)
{
	int ret = hypertrace->options->boot ?
		  model_boots_find(&hypertrace->boots, report->load) : 0;

	for (int32_t m = 0; m < hypertrace->trace->n_machines && !ret; m++) {
		struct report_hyper_machine *machine =
			&hypertrace->machines[hypertrace->n_machines];

		if ((!hypertrace->trace->machines[m].tally.calls &&
		     !model_boots_of(&hypertrace->boots, m)) || !is_wanted(report, m, vcpus))
			continue;
		hypertrace->n_machines++;
		machine->info = &hypertrace->trace->machines[m];
		ret = build_machine(hypertrace, report, machine);
	}
	return ret;
}

static int build(struct report_counted *counted, struct report *report,
		 const struct ksv_vcpu_set *vcpus)
{
	struct report_hypertrace *hypertrace = &counted->hypertrace;
	const struct virt_model *model = report->load->model;
	char error[512] = "";
	int ret;

	host_hypercalls_sort(&hypertrace->calls);
	if (hypertrace->calls.error)
		return hypertrace->calls.error;
	hypertrace->trace = host_hypertrace_new(model, &hypertrace->calls,
						hypertrace->options->dialect, error, sizeof(error));
	/* a dialect that was asked for has been read before */
	ret = hypertrace->trace ? host_hypertrace_guests(hypertrace->trace, report->from_ns,
							 report->to_ns) : -ENOMEM;
	report->hypertrace = hypertrace;
	hypertrace->machines = calloc((size_t)virt_model_n_machines(model) + 1,
				      sizeof(*hypertrace->machines));
	if (!hypertrace->machines)
		ret = -ENOMEM;
	return ret ? ret : build_machines(hypertrace, report, vcpus);
}

static void release(struct report_counted *counted)
{
	struct report_hypertrace *hypertrace = &counted->hypertrace;

	for (int32_t m = 0; m < hypertrace->n_machines; m++) {
		free(hypertrace->machines[m].tasks);
		free(hypertrace->machines[m].functions);
		host_stages_free(hypertrace->machines[m].stages);
	}
	free(hypertrace->machines);
	model_boots_free(&hypertrace->boots);
	host_hypertrace_free(hypertrace->trace);
	host_hypercalls_free(&hypertrace->calls);
	memset(hypertrace, 0, sizeof(*hypertrace));
}

/* --- words ----------------------------------------------------------------------------------- */

static void task_name(char *text, size_t size, const struct report_hyper_machine *machine,
		      int32_t pid)
{
	const struct hyper_task *task = hyper_guest_task(machine->info->guest, pid);

	if (!pid)
		snprintf(text, size, "idle");
	else
		text_format(text, size, "%s-%d", task && *task->comm ? task->comm : "task", pid);
}

static void number_name(char *text, size_t size, const struct host_hypertrace_number *number)
{
	const char *own = number->result == HYPER_FOREIGN ? hyper_kvm_number(number->nr) : NULL;

	if (own)
		snprintf(text, size, "KVM_HC_%s", own);
	else if (number->wire)
		snprintf(text, size, "hypercall_0x%llx??", (unsigned long long)number->nr >> 8);
	else
		snprintf(text, size, "hypercall_%llu", (unsigned long long)number->nr);
}

/* --- text ------------------------------------------------------------------------------------ */

static void text_calls(struct output *out, const struct report_hyper_machine *machine)
{
	const struct host_hypertrace_machine *info = machine->info;
	char name[64];

	out_printf(out, "  calls decoded %llu, events in them %llu; unknown %llu, senseless %llu, "
		   "KVM's own %llu\n", (unsigned long long)info->results[HYPER_DECODED],
		   (unsigned long long)info->events,
		   (unsigned long long)info->results[HYPER_UNKNOWN],
		   (unsigned long long)info->results[HYPER_SENSELESS],
		   (unsigned long long)info->results[HYPER_FOREIGN]);
	for (size_t i = 0; i < info->n_numbers; i++) {
		number_name(name, sizeof(name), &info->numbers[i]);
		out_printf(out, "%s%s %llu%s", i ? ", " : "  no events in ", name,
			   (unsigned long long)info->numbers[i].count,
			   info->numbers[i].result == HYPER_SENSELESS ? " (senseless)" : "");
	}
	if (info->more_numbers)
		out_printf(out, " and %llu of other numbers",
			   (unsigned long long)info->more_numbers);
	if (info->n_numbers)
		out_char(out, '\n');
	if (info->outside)
		out_printf(out, "  %llu calls lie where the vCPU was not out of its guest\n",
			   (unsigned long long)info->outside);
	if (info->vague)
		out_printf(out, "  %llu calls have the time of whatever was recorded before them: "
			   "exits and hypercalls tell it,\n  the classes hvm and pv (xentrace -e "
			   "all)\n", (unsigned long long)info->vague);
}

static void text_troubles(struct output *out, const struct report *report,
			  const struct report_hyper_machine *machine)
{
	for (int i = 0; i < HYPER_N_TROUBLES; i++) {
		const struct hyper_trouble_count *count =
			hyper_guest_trouble(machine->info->guest, (enum hyper_trouble)i);

		if (!count->count)
			continue;
		out_printf(out, "  %s: %llu in all of the trace, the first at ",
			   hyper_trouble_text((enum hyper_trouble)i),
			   (unsigned long long)count->count);
		out_ns(out, count->first_ns, 0);
		out_str(out, " s on ");
		out_text(out, report_hyper_vcpu(report, machine, count->first_cpu));
		out_char(out, '\n');
	}
}

/** Few traces show polling: no column without any. */
static bool has_column(const struct report_hyper_machine *machine, enum virt_state state)
{
	for (size_t i = 0; state == VIRT_POLLING && i < machine->n_tasks; i++)
		if (machine->tasks[i].ns[state])
			return true;
	return state != VIRT_POLLING;
}

static void put_first(struct output *out, const char *name)
{
	out_str(out, "  ");
	out_text_left(out, name, 24);
}

static void text_tasks(struct output *out, const struct report_hyper_machine *machine)
{
	char name[64];

	if (!machine->n_tasks)
		return;
	put_first(out, "guest's tasks");
	text_right(out, "runs", TEXT_NUMBER);
	text_right(out, "on CPU", TEXT_NUMBER);
	for (size_t c = 0; c < ARRAY_SIZE(columns); c++)
		if (has_column(machine, columns[c].state))
			text_right(out, columns[c].name, TEXT_NUMBER);
	text_right(out, "doubtful", TEXT_NUMBER);
	out_char(out, '\n');
	for (size_t i = 0; i < machine->n_tasks && i < MAX_TASKS; i++) {
		const struct report_hyper_task *task = &machine->tasks[i];

		task_name(name, sizeof(name), machine, task->pid);
		put_first(out, name);
		text_count(out, task->runs);
		text_duration(out, task->cpu_ns);
		for (size_t c = 0; c < ARRAY_SIZE(columns); c++)
			if (has_column(machine, columns[c].state))
				text_duration(out, task->ns[columns[c].state]);
		text_duration(out, task->doubt_ns);
		out_char(out, '\n');
	}
	if (machine->n_tasks > MAX_TASKS)
		out_str(out, "  ... and more: --format json lists all\n");
	if (machine->unknown_ns) {
		put_first(out, "nobody knows who");
		text_right(out, "", TEXT_NUMBER);
		text_duration(out, machine->unknown_ns);
		out_char(out, '\n');
	}
}

static void text(struct output *out, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;

	if (!hypertrace->n_machines)
		out_str(out, "\n  no guest makes hypercalls in it: of KVM record "
			"kvm:kvm_hypercall, of Xen the class guest\n");
	if (hypertrace->trace->strays)
		out_printf(out, "\n  %zu hypercalls are of threads that are no vCPUs\n",
			   hypertrace->trace->strays);
	for (int32_t m = 0; m < hypertrace->n_machines; m++) {
		const struct report_hyper_machine *machine = &hypertrace->machines[m];

		if (!machine->info->why)
			continue;
		out_str(out, "\nhypertracing of ");
		out_text(out, report_hyper_name(report, machine));
		out_str(out, "\n  ");
		out_text(out, machine->info->why);
		out_char(out, '\n');
		if (!hypertrace->options->calls)
			continue;
		text_calls(out, machine);
		if (!machine->info->guest)
			continue;
		text_troubles(out, report, machine);
		text_tasks(out, machine);
	}
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_calls(struct json *json, const struct report_hyper_machine *machine)
{
	const struct host_hypertrace_machine *info = machine->info;
	char name[64];

	json_open(json, "calls", '{', true);
	for (int i = 0; i < HYPER_N_RESULTS; i++)
		json_u64(json, hyper_result_name((enum hyper_result)i), info->results[i]);
	json_u64(json, "outside", info->outside);
	json_u64(json, "vague", info->vague);
	json_close(json, '}');
	json_u64(json, "events", info->events);
	json_open(json, "numbers", '[', false);
	for (size_t i = 0; i < info->n_numbers; i++) {
		number_name(name, sizeof(name), &info->numbers[i]);
		json_open(json, NULL, '{', true);
		json_u64(json, "nr", info->numbers[i].nr);
		json_str(json, "name", name);
		json_str(json, "result", hyper_result_name(info->numbers[i].result));
		json_u64(json, "count", info->numbers[i].count);
		json_close(json, '}');
	}
	json_close(json, ']');
	if (info->more_numbers)
		json_u64(json, "other_numbers", info->more_numbers);
}

static void json_troubles(struct json *json, const struct report *report,
			  const struct report_hyper_machine *machine)
{
	json_open(json, "troubles", '[', false);
	for (int i = 0; i < HYPER_N_TROUBLES; i++) {
		const struct hyper_trouble_count *count =
			hyper_guest_trouble(machine->info->guest, (enum hyper_trouble)i);

		if (!count->count)
			continue;
		json_open(json, NULL, '{', true);
		json_str(json, "what", hyper_trouble_text((enum hyper_trouble)i));
		json_u64(json, "count", count->count);
		json_i64(json, "first_ns", count->first_ns);
		json_str(json, "vcpu", report_hyper_vcpu(report, machine, count->first_cpu));
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void json_tasks(struct json *json, const struct report_hyper_machine *machine)
{
	char name[64];

	json_open(json, "tasks", '[', false);
	for (size_t i = 0; i < machine->n_tasks; i++) {
		const struct report_hyper_task *task = &machine->tasks[i];

		task_name(name, sizeof(name), machine, task->pid);
		json_open(json, NULL, '{', true);
		json_i64(json, "pid", task->pid);
		json_str(json, "name", name);
		json_u64(json, "runs", task->runs);
		json_i64(json, "cpu_ns", task->cpu_ns);
		json_i64(json, "executed_ns", task->ns[VIRT_GUEST]);
		json_i64(json, "steal_ns", task->ns[VIRT_PREEMPTED]);
		json_i64(json, "doubtful_ns", task->doubt_ns);
		json_open(json, "states_ns", '{', true);
		for (int state = 0; state < VIRT_N_STATES; state++)
			json_i64(json, virt_state_name((enum virt_state)state), task->ns[state]);
		json_close(json, '}');
		json_close(json, '}');
	}
	json_close(json, ']');
	json_i64(json, "unknown_ns", machine->unknown_ns);
}

static void json(struct json *json, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;

	json_open(json, "hypertrace", '[', false);
	for (int32_t m = 0; m < hypertrace->n_machines; m++) {
		const struct report_hyper_machine *machine = &hypertrace->machines[m];

		if (!machine->info->why)
			continue;
		json_open(json, NULL, '{', false);
		json_str(json, "machine", report_hyper_name(report, machine));
		if (machine->info->dialect)
			json_str(json, "dialect", machine->info->dialect->name);
		json_str(json, "why", machine->info->why);
		if (hypertrace->options->calls)
			json_calls(json, machine);
		if (hypertrace->options->calls && machine->info->guest) {
			json_troubles(json, report, machine);
			json_tasks(json, machine);
		}
		json_close(json, '}');
	}
	json_close(json, ']');
	if (hypertrace->trace->strays)
		json_u64(json, "stray_hypercalls", hypertrace->trace->strays);
}

/* --- CSV ------------------------------------------------------------------------------------- */

static void csv_tasks(struct output *out, const struct report *report,
		      const struct report_hyper_machine *machine)
{
	const struct csv_row row = { .machine = report_hyper_name(report, machine) };
	char name[64];

	for (size_t i = 0; i < machine->n_tasks; i++) {
		const struct report_hyper_task *task = &machine->tasks[i];

		task_name(name, sizeof(name), machine, task->pid);
		csv_row(out, report, &(struct csv_row){
			.section = "hyper_task_cpu", .machine = row.machine, .name = name,
			.count = &task->runs, .ns = &task->cpu_ns });
		csv_time(out, report, &row, "hyper_task_executed", name, task->ns[VIRT_GUEST]);
		csv_time(out, report, &row, "hyper_task_steal", name, task->ns[VIRT_PREEMPTED]);
		csv_time(out, report, &row, "hyper_task_doubtful", name, task->doubt_ns);
	}
	csv_time(out, report, &row, "hyper_unknown", NULL, machine->unknown_ns);
}

static void csv_machine(struct output *out, const struct report *report,
			const struct report_hyper_machine *machine)
{
	const struct host_hypertrace_machine *info = machine->info;
	struct csv_row row = { .machine = report_hyper_name(report, machine) };
	char name[64], section[32];

	for (int i = 0; i < HYPER_N_RESULTS; i++)
		csv_count(out, report, &row, "hyper_calls", hyper_result_name((enum hyper_result)i),
			  info->results[i]);
	csv_count(out, report, &row, "hyper_calls", "outside", info->outside);
	if (info->vague)
		csv_count(out, report, &row, "hyper_calls", "vague", info->vague);
	csv_count(out, report, &row, "hyper_events", NULL, info->events);
	for (size_t i = 0; i < info->n_numbers; i++) {
		number_name(name, sizeof(name), &info->numbers[i]);
		snprintf(section, sizeof(section), "hyper_number_%s",
			 hyper_result_name(info->numbers[i].result));
		csv_count(out, report, &row, section, name, info->numbers[i].count);
	}
	csv_count(out, report, &row, "hyper_number", "others", info->more_numbers);
	for (int i = 0; i < HYPER_N_TROUBLES && info->guest; i++) {
		const struct hyper_trouble_count *count =
			hyper_guest_trouble(info->guest, (enum hyper_trouble)i);

		const char *what = hyper_trouble_text((enum hyper_trouble)i);

		if (!count->count)
			continue;
		row.vcpu = report_hyper_vcpu(report, machine, count->first_cpu);
		csv_count(out, report, &row, "hyper_trouble", what, count->count);
		csv_time(out, report, &row, "hyper_trouble_first", what, count->first_ns);
	}
	if (info->guest)
		csv_tasks(out, report, machine);
}

static void csv(struct output *out, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;

	for (int32_t m = 0; m < hypertrace->n_machines; m++) {
		const struct report_hyper_machine *machine = &hypertrace->machines[m];
		const struct csv_row row = { .machine = report_hyper_name(report, machine) };

		if (!machine->info->why)
			continue;
		csv_count(out, report, &row, "hyper_dialect", machine->info->dialect ?
			  machine->info->dialect->name : "none", 1);
		if (hypertrace->options->calls)
			csv_machine(out, report, machine);
	}
	csv_count(out, report, &(struct csv_row){ .machine = NULL }, "hyper_stray_calls", NULL,
		  hypertrace->trace->strays);
}

const struct report_section report_hypertrace = {
	.rows = rows, .record = record, .build = build, .free = release,
	.text = text, .json = json, .csv = csv,
};
