// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_hypertrace.c
 * @brief	kshark-virt report --hypertrace: hypercalls of guests, and their tasks by them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "escape.h"
#include "report_parts.h"
#include "report_section.h"
#include "report_traced.h"
#include "text_columns.h"
#include "virt_window.h"

#define MAX_TASKS	20

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
	return ret || !hypertrace->options->functions.n_patterns ? ret :
	       report_hyper_functions(hypertrace, report, machine);
}

/** The machines that report something, if they are asked for. */
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
		report_functions_free(&hypertrace->machines[m].functions);
		host_stages_free(hypertrace->machines[m].stages);
	}
	free(hypertrace->machines);
	report_traced_free(hypertrace);
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
		   "KVM's own %llu", (unsigned long long)info->results[HYPER_DECODED],
		   (unsigned long long)info->events,
		   (unsigned long long)info->results[HYPER_UNKNOWN],
		   (unsigned long long)info->results[HYPER_SENSELESS],
		   (unsigned long long)info->results[HYPER_FOREIGN]);
	if (info->results[HYPER_USERS])
		out_printf(out, ", left out as calls of programs %llu",
			   (unsigned long long)info->results[HYPER_USERS]);
	out_str(out, "\n");
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
		out_printf(out, "  %llu calls have the time of the last record before them: "
			   "their own time needs records of\n  exits and hypercalls, the classes "
			   "hvm and pv (xentrace -e all)\n", (unsigned long long)info->vague);
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
		out_sentence(out, " s on %s", report_hyper_vcpu(report, machine, count->first_cpu));
		out_char(out, '\n');
	}
}

/** The columns of a task: name, runs, time on the CPU, that time by state, doubtful time. */
enum { TASK_NAME = 0, TASK_RUNS, TASK_CPU, TASK_TIMES, TASK_DOUBT = TASK_TIMES + REPORT_N_TIMES,
	N_TASK };

static void task_row(struct table_writer *to, const struct report *report,
		     const struct report_hyper_machine *machine,
		     const struct report_hyper_task *task)
{
	struct table_cell cells[N_TASK];
	char name[64];

	task_name(name, sizeof(name), machine, task->pid);
	cells[TASK_NAME] = table_name(name);
	cells[TASK_RUNS] = table_number((int64_t)task->runs);
	cells[TASK_CPU] = table_number(task->cpu_ns);
	report_time_cells(&cells[TASK_TIMES], report, task->ns);
	cells[TASK_DOUBT] = table_number(task->doubt_ns);
	table_row(to, cells);
}

/** The time of unknown tasks. */
static void unknown_row(struct table_writer *to, const struct report_hyper_machine *machine)
{
	struct table_cell cells[N_TASK] = {
		[TASK_NAME] = table_name("unknown"), [TASK_RUNS] = table_absent(),
		[TASK_CPU] = table_number(machine->unknown_ns),
	};

	for (int i = TASK_TIMES; i < N_TASK; i++)
		cells[i] = table_absent();
	table_row(to, cells);
}

static void tasks_text(struct output *out, const struct report *report,
		       const struct report_hyper_machine *machine)
{
	struct table_column columns[N_TASK] = {
		[TASK_NAME] = { .title = "guest's tasks", .width = REPORT_TASK_WIDTH },
		[TASK_RUNS] = { .title = "runs", .type = TABLE_COUNT },
		[TASK_CPU] = { .title = "on CPU", .type = TABLE_NS },
		[TASK_DOUBT] = { .title = "doubtful", .type = TABLE_NS },
	};
	const struct table table = { .rows = { TABLE_COLUMNS(columns) } };
	struct table_writer to = { .table = &table, .format = &table_text, .out = out };

	if (!machine->n_tasks)
		return;
	report_time_columns(&columns[TASK_TIMES]);
	for (size_t i = 0; i < machine->n_tasks; i++)
		report_time_columns_add(&columns[TASK_TIMES], machine->tasks[i].ns);
	table_flat(&to, true);
	for (size_t i = 0; i < machine->n_tasks && i < MAX_TASKS; i++)
		task_row(&to, report, machine, &machine->tasks[i]);
	if (machine->n_tasks > MAX_TASKS)
		text_rest(out);
	if (machine->unknown_ns)
		unknown_row(&to, machine);
	table_flat_end(&to);
}

static void text(struct output *out, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;

	/* functions may have been recorded otherwise */
	if (!hypertrace->n_machines && (hypertrace->options->calls || hypertrace->options->boot))
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
		tasks_text(out, report, machine);
	}
}

/* --- facts ----------------------------------------------------------------------------------- */

static void hyper_number_facts(struct facts *to, const struct host_hypertrace_number *number)
{
	const char *result = hyper_result_name(number->result);
	char name[64], section[32];

	number_name(name, sizeof(name), number);
	snprintf(section, sizeof(section), "hyper_number_%s", result);
	facts_open(to, NULL, '{', true);
	if (to->json)
		json_u64(to->json, "nr", number->nr);
	facts_name(to, "name", name);
	facts_name(to, "result", result);
	facts_count(to, FACT("count", section, name), number->count);
	facts_close(to, '}');
}

static void hyper_call_facts(struct facts *to, const struct host_hypertrace_machine *info)
{
	facts_open(to, "calls", '{', true);
	for (int i = 0; i < HYPER_N_RESULTS; i++) {
		const char *name = hyper_result_name((enum hyper_result)i);

		facts_count(to, FACT(name, "hyper_calls", name), info->results[i]);
	}
	facts_count(to, FACT("outside", "hyper_calls", "outside"), info->outside);
	facts_count(to, FACT("vague", "hyper_calls", "vague"), info->vague);
	facts_close(to, '}');
	facts_count(to, FACT("events", "hyper_events", NULL), info->events);
	facts_open(to, "numbers", '[', false);
	for (size_t i = 0; i < info->n_numbers; i++)
		hyper_number_facts(to, &info->numbers[i]);
	facts_close(to, ']');
	if (info->more_numbers)
		facts_count(to, FACT("other_numbers", "hyper_number", "others"),
			    info->more_numbers);
}

static void hyper_trouble_facts(struct facts *to, const struct report *report,
				const struct report_hyper_machine *machine)
{
	facts_open(to, "troubles", '[', false);
	for (int i = 0; i < HYPER_N_TROUBLES; i++) {
		const struct hyper_trouble_count *count =
			hyper_guest_trouble(machine->info->guest, (enum hyper_trouble)i);
		const char *what = hyper_trouble_text((enum hyper_trouble)i);

		if (!count->count)
			continue;
		to->vcpu = report_hyper_vcpu(report, machine, count->first_cpu);
		facts_open(to, NULL, '{', true);
		facts_name(to, "what", what);
		facts_count(to, FACT("count", "hyper_trouble", what), count->count);
		facts_ns(to, FACT("first_ns", "hyper_trouble_first", what), count->first_ns);
		facts_name(to, "vcpu", to->vcpu);
		facts_close(to, '}');
	}
	to->vcpu = NULL;
	facts_close(to, ']');
}

static void hyper_task_facts(struct facts *to, const struct report *report,
			     const struct report_hyper_machine *machine,
			     const struct report_hyper_task *task)
{
	char name[64];

	task_name(name, sizeof(name), machine, task->pid);
	facts_open(to, NULL, '{', true);
	facts_number(to, "pid", task->pid);
	facts_name(to, "name", name);
	facts_count(to, FACT_JSON("runs"), task->runs);
	facts_number(to, "cpu_ns", task->cpu_ns);
	facts_sum(to, "hyper_task_cpu", name, task->runs, task->cpu_ns);
	report_time_facts(to, report, "hyper_task_executed", "hyper_task_steal", name, task->ns);
	facts_ns(to, FACT("doubtful_ns", "hyper_task_doubtful", name), task->doubt_ns);
	facts_close(to, '}');
}

/** What calls say of a machine whose dialect is known. */
static void hyper_guest_facts(struct facts *to, const struct report *report,
			      const struct report_hyper_machine *machine)
{
	hyper_trouble_facts(to, report, machine);
	facts_open(to, "tasks", '[', false);
	for (size_t i = 0; i < machine->n_tasks; i++)
		hyper_task_facts(to, report, machine, &machine->tasks[i]);
	facts_close(to, ']');
	facts_ns(to, FACT("unknown_ns", "hyper_unknown", NULL), machine->unknown_ns);
}

static void hyper_machine_facts(struct facts *to, const struct report *report,
				const struct report_hyper_machine *machine)
{
	const struct hyper_dialect *dialect = machine->info->dialect;

	to->machine = report_hyper_name(report, machine);
	facts_open(to, NULL, '{', false);
	facts_name(to, "machine", to->machine);
	if (dialect)
		facts_name(to, "dialect", dialect->name);
	facts_count(to, FACT_CSV("hyper_dialect", dialect ? dialect->name : "none"), 1);
	facts_name(to, "why", machine->info->why);
	if (report->hypertrace->options->calls) {
		hyper_call_facts(to, machine->info);
		if (machine->info->guest)
			hyper_guest_facts(to, report, machine);
	}
	facts_close(to, '}');
	to->machine = NULL;
}

static void hyper_facts(struct facts *to, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;

	facts_open(to, "hypertrace", '[', false);
	for (int32_t m = 0; m < hypertrace->n_machines; m++)
		if (hypertrace->machines[m].info->why)
			hyper_machine_facts(to, report, &hypertrace->machines[m]);
	facts_close(to, ']');
	if (hypertrace->trace->strays)
		facts_count(to, FACT("stray_hypercalls", "hyper_stray_calls", NULL),
			    hypertrace->trace->strays);
}

const struct report_section report_hypertrace = {
	.rows = rows, .record = record, .build = build, .free = release,
	.text = text, .facts = hyper_facts,
};
