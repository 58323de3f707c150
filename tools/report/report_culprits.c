// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_culprits.c
 * @brief	Write which culprits preempted vCPUs; with traces of guests, by which of their
 *		tasks.
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
#include "virt_limits.h"
#include "virt_moments.h"
#include "virt_steal.h"

/** Tasks of a culprit that are listed one by one, in text. */
#define MAX_TASKS	5
#define MAX_STOLEN	12	/* between two machines */

/** A task and its time. */
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

/** A culprit, or a task of one: its time, and which share of the steal that is. */
static const struct table_column culprit_columns[] = {
	{ .title = "preempted by", .width = TEXT_NAME },
	{ .title = "", .type = TABLE_NS },
	{ .title = "", .type = TABLE_SHARE },
	{ .title = "" },
};

static const struct table culprits_table = {
	.rows = { TABLE_COLUMNS(culprit_columns), .apart = true },
};

/** The same of a kind of culprits. */
static const struct table_column kind_columns[] = {
	{ .title = "preempted, by kind", .width = TEXT_NAME },
	{ .title = "", .type = TABLE_NS },
	{ .title = "", .type = TABLE_SHARE },
	{ .title = "" },
};

static const struct table kinds_table = {
	.rows = { TABLE_COLUMNS(kind_columns), .apart = true },
};

static void culprit_row(struct table_writer *to, const char *name, int64_t ns, int64_t all,
			const char *more)
{
	table_row(to, (const struct table_cell[ARRAY_SIZE(culprit_columns)]){
		table_name(name), table_number(ns), table_share(ns, all), table_name(more),
	});
}

static void task_rows(struct table_writer *to, const struct report *report, int32_t who,
		      int64_t all)
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
		culprit_row(to, text, tasks[i].ns, all, "");
	}
	if (rest)
		culprit_row(to, "  other tasks", rest, all, "");
}

void report_steal_split(const struct report *report, const struct report_vcpu *vcpu,
			int64_t ns[VIRT_STEAL_N_KINDS])
{
	virt_steal_split(report->load->model, vcpu->index, report->from_ns, report->to_ns,
			 vcpu->stats->culprits, vcpu->stats->n_culprits, ns);
}

/** Whether it was a neighbour, the host, its own machine, or no one. */
static void kind_rows(struct output *out, const struct report *report,
		      const struct report_vcpu *vcpu, int64_t all)
{
	struct table_writer to = { .table = &kinds_table, .format = &table_text, .out = out };
	int64_t ns[VIRT_STEAL_N_KINDS];

	report_steal_split(report, vcpu, ns);
	table_flat(&to, true);
	for (int kind = 0; kind < VIRT_STEAL_N_KINDS; kind++)
		if (ns[kind])
			culprit_row(&to, virt_steal_kind_name((enum virt_steal_kind)kind), ns[kind],
				    all, "");
	table_flat_end(&to);
}

void report_culprits_text(struct output *out, const struct report *report,
			  const struct report_vcpu *vcpu)
{
	const struct virt_window_stats *stats = vcpu->stats;
	struct table_writer to = { .table = &culprits_table, .format = &table_text, .out = out };
	int64_t all = stats->states[VIRT_PREEMPTED].ns;

	if (!report_knows(report, VIRT_NUMBER_CULPRITS))
		return;
	kind_rows(out, report, vcpu, all);
	find_tasks(report, vcpu->index, report->from_ns, report->to_ns);
	table_flat(&to, true);
	for (size_t i = 0; i < stats->n_culprits; i++) {
		const struct virt_culprit *culprit = &stats->culprits[i];
		bool is_own = virt_model_is_own(report->load->model, vcpu->index, culprit->vcpu);

		culprit_row(&to, report_who(report, culprit->vcpu), culprit->ns, all,
			    is_own ? "  its own machine's" : "");
		task_rows(&to, report, culprit->vcpu, all);
	}
	table_flat_end(&to);
}

/** @label: of the row of CSV, in @section; NULL: no row */
static void culprit_task_facts(struct facts *to, const struct report *report,
			       const struct guest_culprit *culprit, const char *section,
			       const char *label)
{
	char name[2 * GUEST_TASK_NAME + 80];
	struct task task;

	take_task(report, culprit, &task);
	text_format(name, sizeof(name), "%s: %s", label ? label : "", task.name);
	facts_name(to, "task", task.name);
	if (culprit->pid != VIRT_NONE)
		facts_number(to, "pid", culprit->pid);
	facts_ns(to, FACT("total_ns", label ? section : NULL, name), culprit->ns);
}

/** "d0v1: qemu-dm-412" in CSV, as sections that have one name need it */
static void culprit_tasks_facts(struct facts *to, const struct report *report, int32_t who)
{
	size_t n;
	const struct guest_culprit *tasks = tasks_of(report, who, &n);

	if (!n)
		return;
	facts_open(to, "tasks", '[', true);
	for (size_t i = 0; i < n; i++) {
		facts_open(to, NULL, '{', true);
		culprit_task_facts(to, report, &tasks[i], "culprit_task", report_who(report, who));
		facts_close(to, '}');
	}
	facts_close(to, ']');
}

void report_steal_kinds_facts(struct facts *to, const struct report *report, const char *key,
			      const int64_t ns[VIRT_STEAL_N_KINDS])
{
	static const char *const keys[VIRT_STEAL_N_KINDS] = {
		[VIRT_STEAL_MACHINES] = "machines_ns", [VIRT_STEAL_HOST] = "host_ns",
		[VIRT_STEAL_OWN] = "own_ns", [VIRT_STEAL_LIMIT] = "limit_ns",
		[VIRT_STEAL_NOBODY] = "nobody_ns", [VIRT_STEAL_UNKNOWN] = "unknown_ns",
	};

	bool knows = report_knows(report, VIRT_NUMBER_CULPRITS);

	to->unknown = !knows;
	facts_open(to, key, '{', true);
	for (int kind = 0; kind < VIRT_STEAL_N_KINDS; kind++) {
		to->unknown = !knows || (kind == VIRT_STEAL_LIMIT &&
					 !virt_model_knows_holds(report->load->model));
		facts_part(to, FACT(keys[kind], "steal_kind",
				    virt_steal_kind_name((enum virt_steal_kind)kind)), ns[kind]);
	}
	facts_close(to, '}');
	to->unknown = false;
}

/** JSON has the tasks of each culprit in it, CSV after all culprits. */
void report_culprits_facts(struct facts *to, const struct report *report,
			   const struct report_vcpu *vcpu)
{
	const struct virt_window_stats *stats = vcpu->stats;
	int64_t ns[VIRT_STEAL_N_KINDS];

	report_steal_split(report, vcpu, ns);
	report_steal_kinds_facts(to, report, "steal_kinds", ns);
	if (!report_knows(report, VIRT_NUMBER_CULPRITS)) {
		facts_null(to, "culprits");
		return;
	}
	find_tasks(report, vcpu->index, report->from_ns, report->to_ns);
	facts_open(to, "culprits", '[', false);
	for (size_t i = 0; i < stats->n_culprits; i++) {
		const struct virt_culprit *culprit = &stats->culprits[i];
		const char *who = report_who(report, culprit->vcpu);

		facts_open(to, NULL, '{', true);
		facts_name(to, "who", who);
		facts_ns(to, FACT("total_ns", "culprit", who), culprit->ns);
		if (virt_model_is_own(report->load->model, vcpu->index, culprit->vcpu))
			facts_flag(to, "own", true);
		if (to->json)
			culprit_tasks_facts(to, report, culprit->vcpu);
		facts_close(to, '}');
	}
	facts_close(to, ']');
	for (size_t i = 0; i < stats->n_culprits && !to->json; i++)
		culprit_tasks_facts(to, report, stats->culprits[i].vcpu);
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

	find_moment_tasks(report, moment);
	tasks = tasks_of(report, moment->who, &n);
	for (size_t i = 0; i < n && i < MAX_TASKS; i++) {
		take_task(report, &tasks[i], &task);
		out_sentence(out, "%s%s %s", i ? ", " : ": ", task.name,
			     duration_text(tasks[i].ns).text);
	}
	if (n > MAX_TASKS)
		out_str(out, ", ...");
}

void report_moment_tasks_facts(struct facts *to, const struct report *report,
			       const struct virt_moment *moment)
{
	find_moment_tasks(report, moment);
	culprit_tasks_facts(to, report, moment->who);
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
			void (*take)(void *arg, const struct report *report,
				     const struct stolen *stolen, bool first), void *arg)
{
	struct stolen_list list = { 0 };
	int ret = report->culprits ? find_stolen(&list, report) : 0;

	if (ret)
		report->culprits->error = ret;
	for (size_t i = 0; i < list.n && !ret; i++)
		take(arg, report, &list.all[i], !i);
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
		out_str(text->out, first ? "\n" : "");
		out_sentence(text->out, "  %s, by tasks of %s",
			     machine_name(report, stolen->from), machine_name(report, stolen->by));
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

static void stolen_facts(void *arg, const struct report *report, const struct stolen *stolen,
			 bool first)
{
	struct facts *to = arg;
	const char *by = machine_name(report, stolen->by);

	(void)first;
	to->machine = machine_name(report, stolen->from);
	facts_open(to, NULL, '{', true);
	facts_name(to, "from", to->machine);
	facts_name(to, "by", by);
	culprit_task_facts(to, report, &stolen->task, "steal_task", by);
	facts_close(to, '}');
	to->machine = NULL;
}

void report_stolen_facts(struct facts *to, const struct report *report)
{
	if (!report->culprits)
		return;
	facts_open(to, "tasks", '[', false);
	each_stolen(report, stolen_facts, to);
	facts_close(to, ']');
}
