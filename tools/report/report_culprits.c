// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_culprits.c
 * @brief	By whom vCPUs were preempted; with traces of guests, by which of their tasks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "escape.h"
#include "guest_culprits.h"
#include "report_parts.h"
#include "report_unknown.h"
#include "text_columns.h"
#include "virt_moments.h"

/** Tasks of a culprit that are listed one by one, in text. */
#define MAX_TASKS	5
#define MAX_STOLEN	12	/* between two machines */

/** What is told of each task. */
struct task {
	char		name[GUEST_TASK_NAME];
	const struct guest_culprit *culprit;
};

static void take_task(const struct report *report, const struct guest_culprit *culprit,
		      struct task *task)
{
	task->culprit = culprit;
	guest_culprit_name(task->name, sizeof(task->name), report->culprits, culprit);
}

/** Those of a vCPU that preempted @vcpu. Return: NULL, or @n of them. */
static const struct guest_culprit *tasks_of(const struct report *report, int32_t who, size_t *n)
{
	*n = 0;
	return report->culprits ? guest_culprits_of(report->culprits, who, n) : NULL;
}

/** To be called before tasks_of() is. Without memory, @error of @culprits is set. */
static void find_tasks(const struct report *report, int32_t vcpu, int64_t from_ns, int64_t to_ns)
{
	if (report->culprits)
		guest_culprits_find(report->culprits, vcpu, from_ns, to_ns);
}

/* --- of a vCPU ------------------------------------------------------------------------------- */

static void text_tasks(struct output *out, const struct report *report, int32_t who, int64_t all)
{
	size_t n;
	const struct guest_culprit *tasks = tasks_of(report, who, &n);
	int64_t rest = 0;
	struct task task;
	char text[GUEST_TASK_NAME + 8];

	for (size_t i = 0; i < n; i++) {
		if (i >= MAX_TASKS && n > MAX_TASKS + 1) {
			rest += tasks[i].ns;
			continue;
		}
		take_task(report, &tasks[i], &task);
		snprintf(text, sizeof(text), "  %s", task.name);
		text_name(out, text);
		text_duration(out, tasks[i].ns);
		text_share(out, tasks[i].ns, all, TEXT_SHARE);
		out_char(out, '\n');
	}
	if (rest) {
		text_name(out, "  other tasks");
		text_duration(out, rest);
		text_share(out, rest, all, TEXT_SHARE);
		out_char(out, '\n');
	}
}

void report_culprits_text(struct output *out, const struct report *report,
			  const struct report_vcpu *vcpu)
{
	const struct virt_window_stats *stats = vcpu->stats;
	int64_t all = stats->states[VIRT_PREEMPTED].ns;

	if (!stats->n_culprits || !report_knows(report, VIRT_NUMBER_CULPRITS))
		return;
	out_str(out, "\n  preempted by\n");
	find_tasks(report, vcpu->index, report->from_ns, report->to_ns);
	for (size_t i = 0; i < stats->n_culprits; i++) {
		const struct virt_culprit *culprit = &stats->culprits[i];

		text_name(out, report_who(report, culprit->vcpu));
		text_duration(out, culprit->ns);
		text_share(out, culprit->ns, all, TEXT_SHARE);
		if (virt_model_is_own(report->load->model, vcpu->index, culprit->vcpu))
			out_str(out, "  its own machine's");
		out_char(out, '\n');
		text_tasks(out, report, culprit->vcpu, all);
	}
}

static void json_task(struct json *json, const struct report *report,
		      const struct guest_culprit *culprit)
{
	struct task task;

	take_task(report, culprit, &task);
	json_str(json, "task", task.name);
	if (culprit->pid != VIRT_NONE)
		json_i64(json, "pid", culprit->pid);
	json_i64(json, "total_ns", culprit->ns);
}

static void json_tasks(struct json *json, const struct report *report, int32_t who)
{
	size_t n;
	const struct guest_culprit *tasks = tasks_of(report, who, &n);

	if (!n)
		return;
	json_open(json, "tasks", '[', true);
	for (size_t i = 0; i < n; i++) {
		json_open(json, NULL, '{', true);
		json_task(json, report, &tasks[i]);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void report_culprits_json(struct json *json, const struct report *report,
			  const struct report_vcpu *vcpu)
{
	const struct virt_window_stats *stats = vcpu->stats;

	if (!report_knows(report, VIRT_NUMBER_CULPRITS)) {
		json_null(json, "culprits");
		return;
	}
	find_tasks(report, vcpu->index, report->from_ns, report->to_ns);
	json_open(json, "culprits", '[', false);
	for (size_t i = 0; i < stats->n_culprits; i++) {
		const struct virt_culprit *culprit = &stats->culprits[i];

		json_open(json, NULL, '{', true);
		json_str(json, "who", report_who(report, culprit->vcpu));
		json_i64(json, "total_ns", culprit->ns);
		if (virt_model_is_own(report->load->model, vcpu->index, culprit->vcpu))
			json_bool(json, "own", true);
		json_tasks(json, report, culprit->vcpu);
		json_close(json, '}');
	}
	json_close(json, ']');
}

/** "d0v1: qemu-dm-412", as sections that have one name need it */
static void csv_tasks(struct output *out, const struct report *report, const struct csv_row *row,
		      int32_t who)
{
	size_t n;
	const struct guest_culprit *tasks = tasks_of(report, who, &n);
	char name[2 * GUEST_TASK_NAME + 80];
	struct task task;

	for (size_t i = 0; i < n; i++) {
		take_task(report, &tasks[i], &task);
		text_format(name, sizeof(name), "%s: %s", report_who(report, who), task.name);
		csv_time(out, report, row, "culprit_task", name, tasks[i].ns);
	}
}

void report_culprits_csv(struct output *out, const struct report *report,
			 const struct csv_row *row, const struct report_vcpu *vcpu)
{
	const struct virt_window_stats *stats = vcpu->stats;

	if (!report_knows(report, VIRT_NUMBER_CULPRITS))
		return;
	find_tasks(report, vcpu->index, report->from_ns, report->to_ns);
	for (size_t i = 0; i < stats->n_culprits; i++)
		csv_time(out, report, row, "culprit", report_who(report, stats->culprits[i].vcpu),
			 stats->culprits[i].ns);
	for (size_t i = 0; i < stats->n_culprits; i++)
		csv_tasks(out, report, row, stats->culprits[i].vcpu);
}

/* --- of a moment ----------------------------------------------------------------------------- */

/** Of the part of it that its culprit is of. */
static void find_moment_tasks(const struct report *report, const struct virt_moment *moment)
{
	struct virt_wait_part part = { .from_ns = moment->start_ns, .to_ns = moment->end_ns };

	virt_wait_longest_part(report->load->model, moment, &part);
	find_tasks(report, moment->vcpu, part.from_ns, part.to_ns);
}

void report_moment_tasks_text(struct output *out, const struct report *report,
			      const struct virt_moment *moment)
{
	size_t n;
	const struct guest_culprit *tasks;
	struct task task;
	char time[32];

	find_moment_tasks(report, moment);
	tasks = tasks_of(report, moment->who, &n);
	for (size_t i = 0; i < n && i < MAX_TASKS; i++) {
		take_task(report, &tasks[i], &task);
		format_duration(time, sizeof(time), tasks[i].ns);
		out_str(out, i ? ", " : ": ");
		out_text(out, task.name);
		out_char(out, ' ');
		out_str(out, time);
	}
	if (n > MAX_TASKS)
		out_str(out, ", ...");
}

void report_moment_tasks_json(struct json *json, const struct report *report,
			      const struct virt_moment *moment)
{
	find_moment_tasks(report, moment);
	json_tasks(json, report, moment->who);
}

bool report_moment_task(const struct report *report, const struct virt_moment *moment, char *text,
			size_t size, int64_t *ns)
{
	size_t n = 0;
	const struct guest_culprit *tasks = NULL;
	struct task task;

	if (moment->kind == VIRT_WORST_STEAL) {
		find_moment_tasks(report, moment);
		tasks = tasks_of(report, moment->who, &n);
	}
	if (!n)
		return false;
	take_task(report, tasks, &task);
	snprintf(text, size, "%s", task.name);
	*ns = tasks->ns;
	return true;
}

/* --- of machines ----------------------------------------------------------------------------- */

/** Time that a task of a machine's guest took from another machine, or its own. */
struct stolen {
	int32_t		from, by;	/* machines */
	struct guest_culprit task;
};

/** All of that. */
struct stolen_list {
	struct stolen	*all;
	size_t		n, room;
};

static int compare_stolen(const void *a, const void *b)
{
	const struct stolen *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->by != y->by)
		return x->by < y->by ? -1 : 1;
	if (x->task.guest != y->task.guest)
		return x->task.guest < y->task.guest ? -1 : 1;
	return (x->task.pid > y->task.pid) - (x->task.pid < y->task.pid);
}

/** The most time first, and what is not known last. */
static int compare_stolen_times(const void *a, const void *b)
{
	const struct stolen *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->by != y->by)
		return x->by < y->by ? -1 : 1;
	if ((x->task.pid == VIRT_NONE) != (y->task.pid == VIRT_NONE))
		return x->task.pid == VIRT_NONE ? 1 : -1;
	if (x->task.ns != y->task.ns)
		return x->task.ns < y->task.ns ? 1 : -1;
	return compare_stolen(a, b);
}

static int take_stolen(struct stolen_list *list, const struct report *report, int32_t vcpu)
{
	const struct virt_model *model = report->load->model;
	const struct guest_culprits *culprits = report->culprits;

	find_tasks(report, vcpu, report->from_ns, report->to_ns);
	for (size_t i = 0; i < culprits->n; i++) {
		if (ARRAY_GROW(list->all, list->n, list->room))
			return -ENOMEM;
		list->all[list->n++] = (struct stolen){
			.from = virt_model_machine_of(model, vcpu),
			.by = virt_model_machine_of(model, culprits->all[i].vcpu),
			.task = culprits->all[i],
		};
	}
	return 0;
}

/** Of all vCPUs that were asked for. Return: 0 or -ENOMEM. */
static int find_stolen(struct stolen_list *list, const struct report *report)
{
	size_t n = 0;

	for (int32_t i = 0; i < virt_model_n_vcpus(report->load->model); i++)
		if (virt_window_walk_wants(report->walk, i) && take_stolen(list, report, i))
			return -ENOMEM;
	if (!list->n)
		return 0;
	qsort(list->all, list->n, sizeof(*list->all), compare_stolen);
	for (size_t i = 0; i < list->n; i++) {
		if (n && !compare_stolen(&list->all[n - 1], &list->all[i]))
			list->all[n - 1].task.ns += list->all[i].task.ns;
		else
			list->all[n++] = list->all[i];
	}
	list->n = n;
	qsort(list->all, list->n, sizeof(*list->all), compare_stolen_times);
	return 0;
}

static const char *machine_name(const struct report *report, int32_t machine)
{
	return virt_model_machine(report->load->model, machine)->name;
}

/** Each that has more than nothing; without memory, @error of the culprits is set. */
static void each_stolen(const struct report *report,
			void (*tell)(void *arg, const struct report *report,
				     const struct stolen *stolen, bool first), void *arg)
{
	struct stolen_list list = { 0 };
	int ret = report->culprits ? find_stolen(&list, report) : 0;

	if (ret)
		report->culprits->error = ret;
	for (size_t i = 0; i < list.n && !ret; i++)
		tell(arg, report, &list.all[i], !i);
	free(list.all);
}

/** What is being written about two machines. */
struct stolen_text {
	struct output	*out;
	int32_t		from, by;
	size_t		n;
	int64_t		rest;		/* of tasks that are not listed */
};

static void end_stolen(struct stolen_text *text)
{
	if (text->rest) {
		text_name(text->out, "  other tasks");
		text_duration(text->out, text->rest);
		out_char(text->out, '\n');
	}
	text->rest = 0;
	text->n = 0;
}

static void text_stolen(void *arg, const struct report *report, const struct stolen *stolen,
			bool first)
{
	struct stolen_text *text = arg;
	char name[GUEST_TASK_NAME + 8];
	struct task task;

	if (first || text->from != stolen->from || text->by != stolen->by) {
		end_stolen(text);
		out_str(text->out, first ? "\n  " : "  ");
		out_text(text->out, machine_name(report, stolen->from));
		out_str(text->out, ", by tasks of ");
		out_text(text->out, machine_name(report, stolen->by));
		out_char(text->out, '\n');
	}
	text->from = stolen->from;
	text->by = stolen->by;
	if (text->n++ >= MAX_STOLEN) {
		text->rest += stolen->task.ns;
		return;
	}
	take_task(report, &stolen->task, &task);
	snprintf(name, sizeof(name), "  %s", task.name);
	text_name(text->out, name);
	text_duration(text->out, stolen->task.ns);
	out_char(text->out, '\n');
}

void report_stolen_text(struct output *out, const struct report *report)
{
	struct stolen_text text = { .out = out };

	each_stolen(report, text_stolen, &text);
	end_stolen(&text);
}

static void json_stolen(void *arg, const struct report *report, const struct stolen *stolen,
			bool first)
{
	struct json *json = arg;

	(void)first;
	json_open(json, NULL, '{', true);
	json_str(json, "from", machine_name(report, stolen->from));
	json_str(json, "by", machine_name(report, stolen->by));
	json_task(json, report, &stolen->task);
	json_close(json, '}');
}

void report_stolen_json(struct json *json, const struct report *report)
{
	if (!report->culprits)
		return;
	json_open(json, "tasks", '[', false);
	each_stolen(report, json_stolen, json);
	json_close(json, ']');
}

static void csv_stolen(void *arg, const struct report *report, const struct stolen *stolen,
		       bool first)
{
	const struct csv_row row = { .machine = machine_name(report, stolen->from) };
	char name[2 * GUEST_TASK_NAME + 80];
	struct task task;

	(void)first;
	take_task(report, &stolen->task, &task);
	text_format(name, sizeof(name), "%s: %s", machine_name(report, stolen->by), task.name);
	csv_time(arg, report, &row, "steal_task", name, stolen->task.ns);
}

void report_stolen_csv(struct output *out, const struct report *report)
{
	each_stolen(report, csv_stolen, out);
}
