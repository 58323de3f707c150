// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_host_tasks.c
 * @brief	kshark-virt report --tasks: what the host's own tasks did, and what they waited for.
 */
#include <errno.h>
#include <stdlib.h>

#include "host_tasks.h"
#include "json_durations.h"
#include "report_modes.h"
#include "report_page.h"
#include "report_unknown.h"
#include "text_columns.h"

#define NAME_WIDTH	28
#define KIND_WIDTH	12

/** In text, of each machine and of the host. */
#define MAX_TASKS	20

/** The group of tasks that work for no machine. */
#define HOST_NAME	"host"

/* --- the tables ------------------------------------------------------------------------------ */

enum { MODE_COLUMNS = HOST_N_MODES };

/** The time by mode; text has it in rows of its own. */
#define MODE(name, mode)	{ .key = mode "_ns", .type = TABLE_NS },
#define MODE_NOT_CSV(name, mode)	{ .key = mode "_ns", .type = TABLE_NS, .not_csv = true },
#define MODE_TITLE(name, mode)	{ .type = TABLE_NS, .title = mode },

static const struct table_column group_columns[] = {
	{ .key = "machine", .title = "" },
	{ .key = "total_ns", .type = TABLE_NS, .not_csv = true },
	{ .key = "preempted_ns", .type = TABLE_NS, .not_csv = true },
	{ .key = "waking_ns", .type = TABLE_NS, .not_csv = true },
	HOST_MODES(MODE_NOT_CSV)
	{ .key = "mode_unknown_ns", .type = TABLE_NS, .not_csv = true },
};

static const struct table_column task_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "name", .title = "task", .width = NAME_WIDTH },
	{ .key = "pid", .type = TABLE_TIME },
	{ .key = "kind", .title = "is", .width = KIND_WIDTH },
	{ .key = "cgroup" },
	{ .key = "other", .not_json = true },
	{ .key = "runs", .type = TABLE_COUNT, .title = "runs" },
	{ .key = "total_ns", .type = TABLE_NS, .title = "on pCPUs" },
	{ .type = TABLE_SHARE, .title = "share" },
	{ .key = "preempted_ns", .type = TABLE_NS, .title = "preempted" },
	{ .key = "waking_ns", .type = TABLE_NS, .title = "waking" },
	{ .key = "blocked_ns", .type = TABLE_NS, .title = "blocked" },
	{ .key = "uninterruptible_ns", .type = TABLE_NS, .title = "in D" },
	{ .key = "absent_ns", .type = TABLE_NS },
	{ .key = "unknown_ns", .type = TABLE_NS },
	{ .key = "migrations", .type = TABLE_COUNT, .title = "moves" },
	{ .key = "wake_latency", .type = TABLE_DURATIONS, .title = "", .shown = TABLE_P99 |
	  TABLE_MAX },
	HOST_MODES(MODE)
	{ .key = "mode_unknown_ns", .type = TABLE_NS },
	{ .key = "faults", .type = TABLE_COUNT },
	{ .key = "pcpus_ns", .type = TABLE_PCPUS, .not_csv = true },
};

/** The same tasks in text: what they did on pCPUs. */
static const struct table_column mode_columns[] = {
	{ .title = "on pCPUs", .width = NAME_WIDTH + KIND_WIDTH },
	HOST_MODES(MODE_TITLE)
	{ .type = TABLE_NS, .title = "unknown" },
	{ .type = TABLE_COUNT, .title = "faults" },
};

static const struct table_column call_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "name", .title = "system calls of", .width = NAME_WIDTH },
	{ .key = "pid", .type = TABLE_TIME },
	{ .key = "call", .title = "call", .width = KIND_WIDTH, .not_csv = true },
	{ .key = "other", .not_json = true },
	{ .key = "count", .type = TABLE_COUNT, .title = "count", .not_csv = true },
	{ .key = "runs", .type = TABLE_COUNT, .not_json = true },
	{ .key = "total_ns", .type = TABLE_NS, .title = "on pCPUs" },
};

static const struct table_column culprit_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "name", .title = "waits of", .width = NAME_WIDTH },
	{ .key = "pid", .type = TABLE_TIME },
	{ .key = "culprit", .title = "while its pCPU had", .width = NAME_WIDTH, .not_csv = true },
	{ .key = "other", .not_json = true },
	{ .key = "culprit_pid", .type = TABLE_TIME, .not_csv = true },
	{ .key = "total_ns", .type = TABLE_NS, .title = "waited" },
};

static const struct table_column cgroup_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "cgroup", .title = "cgroup", .width = NAME_WIDTH + KIND_WIDTH },
	{ .key = "runs", .type = TABLE_COUNT, .title = "runs" },
	{ .key = "total_ns", .type = TABLE_NS, .title = "on pCPUs" },
};

static const struct table table = {
	.groups = "machines", .group = group_columns, .n_group = ARRAY_SIZE(group_columns),
	.rows = {
		.key = "tasks", TABLE_COLUMNS(task_columns),
		.none = "  no task had a pCPU or waited for one\n",
	},
};

static const struct table_rows modes_rows = { TABLE_COLUMNS(mode_columns), .apart = true };
static const struct table_rows calls_rows = {
	.key = "syscalls", TABLE_COLUMNS(call_columns), .apart = true,
};
static const struct table_rows culprits_rows = {
	.key = "culprits", TABLE_COLUMNS(culprit_columns), .apart = true,
};
static const struct table_rows cgroups_rows = {
	.key = "cgroups", TABLE_COLUMNS(cgroup_columns), .apart = true,
};

/* --- cells ----------------------------------------------------------------------------------- */

/** What is being written. */
struct page {
	struct table_writer	*to;
	const struct report	*report;
	struct host_tasks	tasks;
	struct host_task_sums	sums;
};

static void task_name(const struct page *page, int32_t pid, char name[GUEST_TASK_NAME])
{
	guest_task_name(name, GUEST_TASK_NAME, page->tasks.modes.trace, pid);
}

static struct table_cell faults_cell(const struct page *page, const struct host_mode_sum *modes)
{
	return !page->tasks.modes.has_faults ? table_unknown() :
	       table_number(modes ? (int64_t)modes->faults : 0);
}

/** A number that needs wake-ups. */
static struct table_cell woken_cell(const struct page *page, int64_t number)
{
	return report_knows(page->report, VIRT_NUMBER_WAKING) ? table_number(number) :
	       table_unknown();
}

/* --- rows ------------------------------------------------------------------------------------ */

static const int64_t no_modes[HOST_N_MODES];

static const int64_t *modes_of(const struct host_task_sum *sum)
{
	return sum->modes ? sum->modes->ns : no_modes;
}

static int64_t on_pcpus_ns(const struct host_task_sum *sum)
{
	return sum->on_pcpus ? sum->on_pcpus->believed_ns : 0;
}

static const char *cgroup_of(const struct page *page, int32_t pid)
{
	const struct guest_cgroups *cgroups = &page->tasks.tasks.cgroups;

	return guest_cgroups_name(cgroups, guest_cgroups_at(cgroups, pid, page->report->to_ns - 1,
							    NULL));
}

/** @pcpus: has room for its places */
static void task_row(const struct page *page, const struct host_task_sum *sum,
		     struct table_on_pcpu *pcpus)
{
	const struct report *report = page->report;
	int64_t window_ns = report->to_ns - report->from_ns, total_ns = on_pcpus_ns(sum);
	size_t n = sum->on_pcpus ? sum->on_pcpus->n_places : 0, at = 0;
	bool lives = sum->pid > 0, wakes = lives && report_knows(report, VIRT_NUMBER_WAKING);
	struct table_cell cells[ARRAY_SIZE(task_columns)];
	char name[GUEST_TASK_NAME];

	for (size_t i = 0; i < n; i++)
		pcpus[i] = (struct table_on_pcpu){ sum->on_pcpus->places[i].pcpu,
						   sum->on_pcpus->places[i].ns };
	task_name(page, sum->pid, name);
	cells[at++] = table_name("task");
	cells[at++] = table_name(name);
	cells[at++] = table_number(sum->pid);
	cells[at++] = table_optional_name(host_task_kind(report->load->model, sum->pid));
	cells[at++] = table_optional_name(cgroup_of(page, sum->pid));
	cells[at++] = table_absent();
	cells[at++] = table_number(sum->on_pcpus ? (int64_t)sum->on_pcpus->runs : 0);
	cells[at++] = table_number(total_ns);
	/* idle is idle on several pCPUs at once */
	cells[at] = table_share(total_ns, window_ns);
	cells[at++].absent = !lives;
	cells[at++] = table_optional(lives, sum->ns[VIRT_LIFE_PREEMPTED]);
	cells[at++] = lives ? woken_cell(page, sum->ns[VIRT_LIFE_WAKING]) : table_absent();
	cells[at++] = lives ? woken_cell(page, sum->ns[VIRT_LIFE_BLOCKED]) : table_absent();
	cells[at++] = lives ? woken_cell(page, sum->uninterruptible_ns) : table_absent();
	cells[at++] = table_optional(lives, sum->ns[VIRT_LIFE_ABSENT]);
	cells[at++] = table_optional(lives, host_task_unknown_ns(sum, report->from_ns,
								 report->to_ns));
	cells[at++] = table_optional(lives, (int64_t)sum->migrations);
	cells[at] = table_durations(wakes ? &sum->wake : NULL);
	cells[at++].absent = !lives;
	report_mode_cells(page->report, &page->tasks.modes, modes_of(sum), &cells[at]);
	at += HOST_N_MODES;
	cells[at++] = faults_cell(page, sum->modes);
	cells[at++] = table_pcpus(pcpus, n);
	table_row(page->to, cells);
}

static int task_rows(const struct page *page, const struct host_task_sum *first, size_t n)
{
	bool is_text = table_as_text(page->to);
	size_t most = 0, shown = 0, left_out = 0;
	struct table_on_pcpu *pcpus;

	for (size_t i = 0; i < n; i++)
		if (first[i].on_pcpus && first[i].on_pcpus->n_places > most)
			most = first[i].on_pcpus->n_places;
	pcpus = calloc(most + 1, sizeof(*pcpus));
	if (!pcpus)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		/* who only slept is of interest to programs alone */
		if (is_text && !first[i].on_pcpus && !host_task_wait_ns(&first[i]))
			continue;
		left_out += is_text && shown == MAX_TASKS;
		if (is_text && shown == MAX_TASKS)
			continue;
		shown++;
		task_row(page, &first[i], pcpus);
	}
	free(pcpus);
	if (left_out && !page->to->unknown)
		text_rest(page->to->out);
	return 0;
}

static void mode_rows(const struct page *page, const struct host_task_sum *first, size_t n)
{
	char name[GUEST_TASK_NAME];

	table_rows(page->to, &modes_rows);
	for (size_t i = 0; i < n && i < MAX_TASKS; i++) {
		struct table_cell cells[ARRAY_SIZE(mode_columns)];

		if (!first[i].on_pcpus)
			continue;
		task_name(page, first[i].pid, name);
		cells[0] = table_name(name);
		report_mode_cells(page->report, &page->tasks.modes, modes_of(&first[i]), &cells[1]);
		cells[1 + HOST_N_MODES] = faults_cell(page, first[i].modes);
		table_row(page->to, cells);
	}
}

/** The tasks of a group are those of a machine. */
static bool is_in(const struct page *page, int32_t pid, int32_t machine)
{
	return host_task_machine(page->report->load->model, pid) == machine;
}

/** Has text shown enough rows? */
static bool is_full(const struct page *page)
{
	return table_as_text(page->to) && page->to->n_rows >= MAX_TASKS;
}

static void call_rows(const struct page *page, int32_t machine)
{
	const struct host_mode_sums *sums = &page->sums.modes;
	struct table_writer *to = page->to;
	bool unknown = to->unknown;
	char name[GUEST_TASK_NAME];

	if (table_as_text(to) && !page->tasks.modes.has_calls)
		return;
	to->unknown |= !page->tasks.modes.has_calls;
	table_rows(to, &calls_rows);
	for (uint32_t i = 0; i < sums->call_map.n_keys && !is_full(page); i++) {
		const struct host_call_sum *call = &sums->calls[i];
		const char *called = host_call_name(&page->tasks.modes, call->call);

		if ((!call->ns && !call->count) || !is_in(page, call->pid, machine))
			continue;
		task_name(page, call->pid, name);
		table_row(to, (const struct table_cell[]){
			table_name("syscall"), table_name(name), table_number(call->pid),
			table_name(called), table_name(called),
			table_number((int64_t)call->count), table_number((int64_t)call->count),
			table_number(call->ns),
		});
	}
	table_rows_end(to);
	to->unknown = unknown;
}

static void culprit_rows(const struct page *page, int32_t machine)
{
	const struct host_task_sums *sums = &page->sums;
	struct table_writer *to = page->to;
	/* without wake-ups, the beginning of a wait for a pCPU is unknown */
	bool unknown = !report_knows(page->report, VIRT_NUMBER_CULPRITS) ||
		       !report_knows(page->report, VIRT_NUMBER_WAKING), before = to->unknown;
	char name[GUEST_TASK_NAME], culprit[GUEST_TASK_NAME];

	if (table_as_text(to) && unknown)
		return;
	to->unknown |= unknown;
	table_rows(to, &culprits_rows);
	for (uint32_t i = 0; i < sums->culprit_map.n_keys && !is_full(page); i++) {
		const struct host_task_culprit *one = &sums->culprits[i];

		if (!is_in(page, one->pid, machine))
			continue;
		task_name(page, one->pid, name);
		task_name(page, one->culprit, culprit);
		table_row(to, (const struct table_cell[]){
			table_name("culprit"), table_name(name), table_number(one->pid),
			table_name(culprit), table_name(culprit), table_number(one->culprit),
			table_number(one->ns),
		});
	}
	table_rows_end(to);
	to->unknown = before;
}

/** Cgroups have tasks of machines as well. */
static void cgroup_rows(const struct page *page)
{
	const struct guest_task_sums *sums = &page->sums.by_cgroup;

	if (!sums->n)
		return;
	table_rows(page->to, &cgroups_rows);
	for (size_t i = 0; i < sums->n && !is_full(page); i++) {
		const struct guest_task_sum *sum = &sums->all[i];
		const char *name = guest_cgroups_name(&page->tasks.tasks.cgroups, sum->pid);

		table_row(page->to, (const struct table_cell[]){
			table_name("cgroup"), table_optional_name(name),
			table_number((int64_t)sum->runs), table_number(sum->believed_ns),
		});
	}
}

/* --- groups ---------------------------------------------------------------------------------- */

/** A machine, or VIRT_NONE for the host, whose tasks are @n from @first on. 0 or -ENOMEM. */
static int group_rows(const struct page *page, int32_t machine, const struct host_task_sum *first,
		      size_t n)
{
	const struct virt_model *model = page->report->load->model;
	struct table_writer *to = page->to;
	struct table_cell cells[ARRAY_SIZE(group_columns)];
	int64_t total_ns = 0, preempted_ns = 0, waking_ns = 0, modes_ns[HOST_N_MODES] = { 0 };
	int ret;

	for (size_t i = 0; i < n; i++) {
		total_ns += on_pcpus_ns(&first[i]);
		preempted_ns += first[i].ns[VIRT_LIFE_PREEMPTED];
		waking_ns += first[i].ns[VIRT_LIFE_WAKING];
		for (int mode = 0; mode < HOST_N_MODES; mode++)
			modes_ns[mode] += modes_of(&first[i])[mode];
	}
	cells[0] = table_name(machine == VIRT_NONE ? HOST_NAME :
			      virt_model_machine(model, machine)->name);
	cells[1] = table_number(to->unknown ? VIRT_NONE : total_ns);
	cells[2] = table_number(to->unknown ? VIRT_NONE : preempted_ns);
	cells[3] = to->unknown ? table_unknown() : woken_cell(page, waking_ns);
	report_mode_cells(page->report, &page->tasks.modes, modes_ns, &cells[4]);
	for (int mode = 0; mode < HOST_N_MODES && to->unknown; mode++)
		cells[4 + mode] = table_unknown();
	table_group(to, cells);
	ret = task_rows(page, first, n);
	if (table_as_text(to) && n && !to->unknown) {
		out_str(to->out, "  ");
		out_text_left(to->out, "all", NAME_WIDTH + KIND_WIDTH + TEXT_NUMBER + 1);
		text_duration(to->out, total_ns);
		out_char(to->out, '\n');
		table_rows_end(to);
		mode_rows(page, first, n);
	}
	table_rows_end(to);
	call_rows(page, machine);
	if (!table_as_text(to) || !to->unknown)
		culprit_rows(page, machine);
	if (machine == VIRT_NONE)
		cgroup_rows(page);
	table_group_end(to);
	return ret;
}

/* --- all ------------------------------------------------------------------------------------- */

static int all_rows(const struct page *page)
{
	const struct report *report = page->report;
	const struct host_task_sums *sums = &page->sums;
	int32_t n_machines = virt_model_n_machines(report->load->model);
	size_t at = 0, first;
	int ret = 0;

	report_modes_text(page->to, &page->tasks.modes);
	for (int32_t m = 0; m <= n_machines && !ret; m++) {
		int32_t machine = m == n_machines ? VIRT_NONE : m;

		for (first = at; at < sums->n && sums->all[at].machine == machine; at++)
			;
		if (machine == VIRT_NONE ? !report->chosen : report_wants_machine(report, machine))
			ret = group_rows(page, machine, sums->n ? &sums->all[first] : NULL,
					 at - first);
	}
	return ret;
}

/** Return: 0 or -ENOMEM. */
static int write_host_tasks(struct table_writer *to, const struct report *report, bool first)
{
	struct page page = { .to = to, .report = report };
	struct kvm_trace *trace = report->load->host.kvm;
	int ret = 0;

	table_begin(to, first);
	to->unknown |= !trace;
	if (!to->unknown)
		ret = host_tasks_read(&page.tasks, report->load->model, trace);
	if (!to->unknown && !ret)
		ret = host_task_sums_make(&page.sums, &page.tasks, report->load->model,
					  report->from_ns, report->to_ns);
	if (!ret)
		ret = all_rows(&page);
	table_end(to);
	report_modes_json(to, &page.tasks.modes);
	host_task_sums_free(&page.sums);
	host_tasks_free(&page.tasks);
	return ret;
}

const struct report_page report_host_tasks = {
	.table = &table, .number = VIRT_NUMBER_TASKS, .write = write_host_tasks,
};
