// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	plot_tasks.c
 * @brief	kshark-virt plot --tasks: which tasks of guests had the physical CPUs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "options.h"
#include "plot_tasks.h"
#include "table.h"

/** Tasks with a colour of their own: virt_vcpu_color() has two more, for vCPUs. */
#define MAX_OWN	10

/** The guest's idle task is not work. */
static const struct virt_color idle_color = { 0xd9, 0xdf, 0xe6 };
static const struct virt_color rest_color = { 0x8c, 0x8c, 0x8c };

/* --- reading --------------------------------------------------------------------------------- */

int plot_tasks_read(struct plot_tasks *tasks, const struct model_load *load)
{
	int ret = 0;

	tasks->guests = calloc((size_t)load->n_guests + 1, sizeof(*tasks->guests));
	if (!tasks->guests)
		ret = -ENOMEM;
	for (int i = 0; i < load->n_guests && !ret; i++) {
		tasks->n_guests = i + 1;
		ret = guest_tasks_read(&tasks->guests[i], &load->host, load->model,
				       &load->clocks[i]);
		if (!ret)
			ret = model_nest(load, i, &tasks->guests[i]);
	}
	if (!ret)
		return KSV_EXIT_OK;
	ksv_error("%s: %s", load->path, host_trace_problem(ret));
	return KSV_EXIT_FILE;
}

void plot_tasks_free(struct plot_tasks *tasks)
{
	/* those of the figure are all in one piece, behind the first */
	if (tasks->inner)
		free((void *)tasks->inner[0].first);
	free(tasks->inner);
	for (int i = 0; i < tasks->n_tasks; i++)
		free(tasks->tasks[i].name);
	free(tasks->tasks);
	for (int i = 0; i < tasks->n_guests; i++)
		guest_tasks_free(&tasks->guests[i]);
	free(tasks->guests);
	*tasks = (struct plot_tasks){ .n_tasks = 0 };
}

/** The CPU that a vCPU is in the traces of guests; of several the first. */
static const struct virt_guest_cpu *find_cpu(const struct plot_tasks *tasks, int32_t vcpu,
					     int *guest)
{
	for (int i = 0; i < tasks->n_guests; i++) {
		for (int c = 0; c < tasks->guests[i].n_cpus; c++) {
			const struct virt_guest_cpu *cpu = &tasks->guests[i].cpus[c];

			if (cpu->vcpu == vcpu && cpu->n) {
				*guest = i;
				return cpu;
			}
		}
	}
	return NULL;
}

/* --- a figure -------------------------------------------------------------------------------- */

/** A task that may have a colour of its own. */
struct candidate {
	int		guest;
	int32_t		pid;
	int64_t		ns;
};

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->guest != y->guest)
		return x->guest - y->guest;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/** The busiest of all guests. Return: how many, or -ENOMEM. */
static int find_busiest(const struct plot_tasks *tasks, const struct virt_model *model,
			int64_t from_ns, int64_t to_ns, struct candidate *busiest)
{
	int n = 0;

	for (int i = 0; i < tasks->n_guests; i++) {
		struct guest_task_sums sums;

		if (guest_task_sums_make(&sums, &tasks->guests[i], model, from_ns, to_ns)) {
			guest_task_sums_free(&sums);
			return -ENOMEM;
		}
		for (size_t t = 0; t < sums.n; t++) {
			if (n == MAX_OWN && sums.all[t].ns[VIRT_GUEST] <= busiest[n - 1].ns)
				continue;
			n -= n == MAX_OWN;
			busiest[n++] = (struct candidate){
				.guest = i, .pid = sums.all[t].pid,
				.ns = sums.all[t].ns[VIRT_GUEST],
			};
			qsort(busiest, (size_t)n, sizeof(*busiest), compare_candidates);
		}
		guest_task_sums_free(&sums);
	}
	return n;
}

/** Whose tasks they are: what the machine of its first vCPU is called. */
static const char *guest_name(const struct plot_tasks *tasks, const struct virt_model *model,
			      int guest)
{
	for (int c = 0; c < tasks->guests[guest].n_cpus; c++) {
		int32_t vcpu = tasks->guests[guest].cpus[c].vcpu;

		if (vcpu != VIRT_NONE)
			return virt_model_machine(model,
						  virt_model_vcpu(model, vcpu)->machine)->name;
	}
	return "guest";
}

static int add_task(struct plot_tasks *tasks, const struct virt_model *model, int guest,
		    int32_t pid)
{
	struct figure_task *task = &tasks->tasks[tasks->n_tasks];
	char name[GUEST_TASK_FULL_NAME], text[GUEST_TASK_FULL_NAME + 80];

	task->color = rest_color;
	snprintf(name, sizeof(name), "other tasks");
	if (pid != VIRT_NONE) {
		guest_tasks_name(name, sizeof(name), &tasks->guests[guest], pid);
		task->color = pid ? virt_vcpu_color(virt_model_n_vcpus(model) + tasks->n_tasks) :
			      idle_color;
	}
	text_format(text, sizeof(text), "%s: %s", guest_name(tasks, model, guest), name);
	task->name = strdup(text);
	if (!task->name)
		return -ENOMEM;
	tasks->n_tasks++;
	return 0;
}

/** The number of a task of a guest among those of the figure. */
static int32_t find_task(const struct candidate *busiest, int n, int guest, int32_t pid)
{
	if (pid == VIRT_NONE)
		return VIRT_NONE;
	for (int i = 0; i < n; i++)
		if (busiest[i].guest == guest && busiest[i].pid == pid)
			return i;
	return n + guest;
}

int plot_tasks_make(struct plot_tasks *tasks, const struct model_load *load, const bool *vcpus,
		    int64_t from_ns, int64_t to_ns)
{
	struct candidate busiest[MAX_OWN];
	int n = find_busiest(tasks, load->model, from_ns, to_ns, busiest), guest;
	int32_t n_vcpus = virt_model_n_vcpus(load->model);
	struct figure_inner_run *all;
	size_t n_runs = 0;
	int ret = n < 0 ? n : 0;

	tasks->tasks = calloc((size_t)MAX_OWN + (size_t)tasks->n_guests, sizeof(*tasks->tasks));
	tasks->inner = calloc((size_t)n_vcpus + 1, sizeof(*tasks->inner));
	for (int i = 0; i < tasks->n_guests; i++)
		for (int c = 0; c < tasks->guests[i].n_cpus; c++)
			n_runs += tasks->guests[i].cpus[c].n;
	all = calloc(n_runs + 1, sizeof(*all));
	if (ret || !tasks->tasks || !tasks->inner || !all) {
		free(all);
		return -ENOMEM;
	}
	tasks->inner[0].first = all;
	for (int i = 0; i < n && !ret; i++)
		ret = add_task(tasks, load->model, busiest[i].guest, busiest[i].pid);
	for (int i = 0; i < tasks->n_guests && !ret; i++)
		ret = add_task(tasks, load->model, i, VIRT_NONE);
	for (int32_t v = 0; v < n_vcpus && !ret; v++) {
		const struct virt_guest_cpu *cpu = vcpus[v] ? find_cpu(tasks, v, &guest) : NULL;

		tasks->inner[v].first = all;
		for (size_t i = 0; cpu && i < cpu->n; i++)
			*all++ = (struct figure_inner_run){
				.start_ns = cpu->runs[i].start_ns,
				.task = find_task(busiest, n, guest, cpu->runs[i].pid),
			};
		tasks->inner[v].n = cpu ? cpu->n : 0;
	}
	return ret;
}

/* --- numbers --------------------------------------------------------------------------------- */

static int64_t executed_ns(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			   int64_t to_ns)
{
	struct virt_totals totals;

	virt_vcpu_totals(model, vcpu, from_ns, to_ns, &totals);
	return totals.ns[VIRT_GUEST];
}

static const struct table_column columns[] = {
	{ .key = "pcpu", .type = TABLE_COUNT },
	{ .key = "vcpu" },
	{ .key = "from_ns", .type = TABLE_TIME },
	{ .key = "to_ns", .type = TABLE_TIME },
	{ .key = "executed_ns", .type = TABLE_NS },
	{ .key = "pid", .type = TABLE_COUNT },
	{ .key = "task" },
};

static const struct table table = { .rows = { TABLE_COLUMNS(columns) } };

/** @guest: NULL: the task is unknown, and all of these are empty */
static void task_row(struct table_writer *to, const struct virt_model *model, int32_t pcpu,
		     int32_t vcpu, const struct guest_tasks *guest, int32_t pid, int64_t from_ns,
		     int64_t to_ns)
{
	bool is_known = guest && pid != VIRT_NONE;
	char name[GUEST_TASK_FULL_NAME] = "";

	if (is_known)
		guest_tasks_name(name, sizeof(name), guest, pid);
	table_row(to, (const struct table_cell[]){
		table_number(pcpu), table_name(virt_model_vcpu(model, vcpu)->name),
		table_number(from_ns), table_number(to_ns),
		table_number(executed_ns(model, vcpu, from_ns, to_ns)),
		table_optional(is_known, is_known ? guest_tasks_pid(pid) : 0), table_name(name),
	});
}

/** What a pCPU had a vCPU for, task by task. */
static void occupant_rows(struct table_writer *to, const struct plot_tasks *tasks,
			  const struct model_load *load, int32_t pcpu, int32_t vcpu,
			  int64_t from_ns, int64_t to_ns)
{
	int guest = 0;
	const struct virt_guest_cpu *cpu = find_cpu(tasks, vcpu, &guest);
	ptrdiff_t run = cpu ? virt_guest_run_at(cpu, from_ns) : -1;

	while (from_ns < to_ns) {
		int32_t pid = run < 0 ? VIRT_NONE : cpu->runs[run].pid;
		int64_t end_ns = to_ns;

		/* runs of no time, and of a task after itself, are no stretches */
		while (cpu && run + 1 < (ptrdiff_t)cpu->n && cpu->runs[run + 1].start_ns < to_ns) {
			const struct virt_guest_run *next = &cpu->runs[++run];

			if (next->start_ns <= from_ns) {
				pid = next->pid;
			} else if (next->pid != pid) {
				end_ns = next->start_ns;
				break;
			}
		}
		task_row(to, load->model, pcpu, vcpu, cpu ? &tasks->guests[guest] : NULL, pid,
			 from_ns, end_ns);
		from_ns = end_ns;
	}
}

void plot_tasks_csv(const struct plot_tasks *tasks, const struct model_load *load,
		    const bool *vcpus, const bool *pcpus, int64_t from_ns, int64_t to_ns,
		    struct output *out)
{
	struct table_writer to = { .table = &table, .format = &table_csv, .out = out };
	const struct virt_model *model = load->model;

	table_flat(&to, true);
	for (int32_t p = 0; p < virt_model_n_pcpus(model) && !out->error; p++) {
		struct virt_occupant_range range = { .n = 0 };

		if (pcpus[p])
			range = virt_pcpu_occupants(model, p, from_ns, to_ns);
		for (size_t i = 0; i < range.n; i++) {
			const struct virt_occupant *occupant = &range.first[i];
			int64_t a = occupant->start_ns, b = i + 1 < range.n ?
				    occupant[1].start_ns : range.end_ns;

			if (virt_model_vcpu(model, occupant->vcpu) && vcpus[occupant->vcpu])
				occupant_rows(&to, tasks, load, p, occupant->vcpu,
					      a < from_ns ? from_ns : a, b > to_ns ? to_ns : b);
		}
	}
}
