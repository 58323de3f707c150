// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_event_counts.c
 * @brief	kshark-virt report --events: how often each event and each system call was recorded.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "escape.h"
#include "guest_tasks.h"
#include "host_tasks.h"
#include "key_map.h"
#include "report_work.h"
#include "text_columns.h"
#include "xen_events.h"

#define EVENT_WIDTH	36
#define CALL_WIDTH	20
#define NAME_WIDTH	28

#define EVENT_NAME	128

/* --- counting -------------------------------------------------------------------------------- */

/** An event, and the system call that it begins or ends. */
struct what {
	int32_t		event;
	int32_t		call;		/* VIRT_NONE: none */
};

/** How often a task or vCPU has recorded it, or it was recorded on a CPU. */
struct count {
	uint32_t	what;
	int32_t		who;		/* pid, vCPU of Xen, CPU, or index of a machine */
	uint64_t	count;
};

/** Counts by what and who. All zero is none. */
struct counts {
	struct key_map	map;
	struct count	*all;
	uint32_t	room;
};

/** A trace that is counted. */
struct counting {
	const struct report_work *work;
	const struct report	*report;
	struct kvm_trace	*trace;		/* NULL: it is Xen's */
	bool			is_guest;
	struct host_modes	calls;		/* for the names of system calls */
	struct key_map		what_map;
	struct what		*kinds;
	uint32_t		room_kinds;
	struct counts		by_event, by_machine, by_task, by_cpu;
	uint64_t		records;
	struct virt_loss_sum	lost;		/* of a guest: at any time */
};

static int add(struct counts *counts, uint32_t what, int32_t who, uint64_t n)
{
	int64_t i = KEY_MAP_ELEMENT(&counts->map, (uint64_t)what << 32 | (uint32_t)who, counts->all,
				    counts->room);

	if (i < 0)
		return -ENOMEM;
	counts->all[i].what = what;
	counts->all[i].who = who;
	counts->all[i].count += n;
	return 0;
}

/** Count a record. @who: the task, or vCPU of Xen */
static int count(struct counting *counting, int32_t event, int32_t call, int32_t who, int32_t cpu)
{
	int64_t what = KEY_MAP_ELEMENT(&counting->what_map,
				       (uint64_t)(uint32_t)event << 32 | (uint32_t)call,
				       counting->kinds, counting->room_kinds);

	if (what < 0)
		return -ENOMEM;
	counting->kinds[what] = (struct what){ event, call };
	counting->records++;
	if (add(&counting->by_event, (uint32_t)what, 0, 1) ||
	    add(&counting->by_task, (uint32_t)what, who, 1) ||
	    add(&counting->by_cpu, (uint32_t)what, cpu, 1))
		return -ENOMEM;
	return 0;
}

static int take_record(void *arg, const struct kvm_trace_record *record)
{
	struct counting *counting = arg;
	const struct report *report = counting->report;
	int64_t time_ns = counting->is_guest ?
			  guest_tasks_time(&report->load->host, record->time_ns) : record->time_ns;
	int32_t call;

	if (!virt_begins_in(time_ns, report->from_ns, report->to_ns))
		return 0;
	call = host_modes_call(&counting->calls, record);
	return call == -ENOMEM ? -ENOMEM :
	       count(counting, record->event, call, record->pid, record->cpu);
}

static void take_lost(void *arg, int cpu, uint64_t records)
{
	struct counting *counting = arg;

	(void)cpu;
	counting->lost.losses++;
	counting->lost.records += records;
	counting->lost.uncounted += !records;
}

/** The records that are lost in the window. Those of a guest have no time. */
static struct table_cell lost_cell(const struct counting *counting)
{
	const struct report *report = counting->report;
	const struct virt_model *model = report->load->model;
	bool is_whole = report->from_ns <= virt_model_begin(model) &&
			report->to_ns >= virt_model_end(model);
	struct virt_loss_sum lost = counting->is_guest ? counting->lost :
				    virt_model_count_losses(model, VIRT_NONE, report->from_ns,
							    report->to_ns);

	if (lost.uncounted || (counting->is_guest && lost.losses && !is_whole))
		return table_unknown();
	return table_number((int64_t)lost.records);
}

static int count_xen(struct counting *counting)
{
	const struct report *report = counting->report;
	struct xen_trace_iter *iter = xen_trace_iter_new(report->load->host.xen);
	struct xen_trace_row row;
	int ret = iter ? 0 : -ENOMEM, end;

	while (!ret && xen_trace_iter_next(iter, &row))
		if (virt_begins_in(row.time_ns, report->from_ns, report->to_ns))
			ret = count(counting, (int32_t)row.rec.event, VIRT_NONE, (int32_t)row.vcpu,
				    row.rec.pcpu);
	end = iter ? xen_trace_iter_free(iter) : 0;
	return ret ? ret : end;
}

/** The machine that a task works for, or that a vCPU of Xen is of; or VIRT_NONE. */
static int32_t machine_of(const struct counting *counting, int32_t who)
{
	const struct virt_model *model = counting->report->load->model;
	int32_t vcpu;

	if (counting->trace)
		return report_work_machine(counting->work, who);
	vcpu = virt_model_find_vcpu(model, xen_vcpu_tid((xen_vcpu)who));
	return vcpu == VIRT_NONE ? VIRT_NONE : virt_model_machine_of(model, vcpu);
}

static int sum_machines(struct counting *counting)
{
	int ret = 0;

	for (uint32_t i = 0; i < counting->by_task.map.n_keys && !ret; i++) {
		const struct count *one = &counting->by_task.all[i];

		ret = add(&counting->by_machine, one->what, machine_of(counting, one->who),
			  one->count);
	}
	return ret;
}

static int compare_counts(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
}

static void sort(struct counts *counts)
{
	if (counts->map.n_keys)
		qsort(counts->all, counts->map.n_keys, sizeof(*counts->all), compare_counts);
}

static int count_all(struct counting *counting)
{
	int ret;

	if (counting->trace)
		host_modes_init(&counting->calls, counting->trace);
	ret = counting->trace ?
	      kvm_trace_walk(counting->trace, take_record,
			     counting->is_guest ? take_lost : NULL, counting) :
	      count_xen(counting);
	if (!ret)
		ret = sum_machines(counting);
	sort(&counting->by_event);
	sort(&counting->by_machine);
	sort(&counting->by_task);
	sort(&counting->by_cpu);
	return ret;
}

static void free_counts(struct counts *counts)
{
	key_map_destroy(&counts->map);
	free(counts->all);
}

static void free_counting(struct counting *counting)
{
	host_modes_free(&counting->calls);
	key_map_destroy(&counting->what_map);
	free(counting->kinds);
	free_counts(&counting->by_event);
	free_counts(&counting->by_machine);
	free_counts(&counting->by_task);
	free_counts(&counting->by_cpu);
}

/* --- the table ------------------------------------------------------------------------------- */

static const struct table_column trace_columns[] = {
	{ .key = "trace", .title = "" },
	{ .key = "records", .type = TABLE_COUNT, .not_csv = true },
	{ .key = "lost", .type = TABLE_COUNT, .not_csv = true },
};

/** The columns of all rows; @...: the title of who, of its number, and whether JSON has both */
#define EVENT_COLUMNS							\
	{ .key = "event", .title = "event", .width = EVENT_WIDTH },	\
	{ .key = "call", .title = "system call", .width = CALL_WIDTH },	\
	{ .key = "count", .type = TABLE_COUNT, .title = "count" },	\
	{ .type = TABLE_PER_SECOND, .title = "per second" },		\
	{ .key = "per_s", .type = TABLE_FIXED }

static const struct table_column event_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "machine", .not_json = true },
	{ .key = "name", .not_json = true },
	{ .key = "pid", .type = TABLE_TIME, .not_json = true },
	{ .key = "pcpu", .type = TABLE_COUNT, .not_json = true },
	{ .key = "cpu", .type = TABLE_COUNT, .not_json = true },
	EVENT_COLUMNS,
};

static const struct table_column machine_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "machine", .title = "machine", .width = NAME_WIDTH },
	EVENT_COLUMNS,
};

static const struct table_column task_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "machine" },
	{ .key = "name", .title = "task", .width = NAME_WIDTH },
	{ .key = "pid", .type = TABLE_TIME },
	EVENT_COLUMNS,
};

static const struct table_column cpu_columns[] = {
	{ .key = "section", .not_json = true },
	{ .title = "CPU", .width = NAME_WIDTH },
	{ .key = "pcpu", .type = TABLE_COUNT },
	{ .key = "cpu", .type = TABLE_COUNT },
	EVENT_COLUMNS,
};

static const struct table table = {
	.groups = "traces", .group = trace_columns, .n_group = ARRAY_SIZE(trace_columns),
	.rows = { .key = "events", TABLE_COLUMNS(event_columns), .none = "  no record\n" },
};

static const struct table_rows machine_rows = {
	.key = "machines", TABLE_COLUMNS(machine_columns), .apart = true,
};
static const struct table_rows task_rows = {
	.key = "tasks", TABLE_COLUMNS(task_columns), .apart = true,
};
static const struct table_rows cpu_rows = {
	.key = "cpus", TABLE_COLUMNS(cpu_columns), .apart = true,
};

/* --- rows ------------------------------------------------------------------------------------ */

static void event_name(const struct counting *counting, const struct what *what, char *text,
		       size_t size)
{
	const char *system, *name;

	if (!counting->trace) {
		xen_event_name(text, size, (uint32_t)what->event);
		return;
	}
	system = kvm_trace_system(counting->trace, what->event);
	name = kvm_trace_event(counting->trace, what->event);
	if (name)
		text_format(text, size, "%s:%s", system ? system : "other", name);
	else
		snprintf(text, size, "%d", what->event);
}

/** @lead: the @n_lead cells before those of the event */
static void count_row(struct table_writer *to, const struct counting *counting,
		      const struct count *one, const struct table_cell *lead, size_t n_lead)
{
	const struct what *what = &counting->kinds[one->what];
	int64_t window_ns = counting->report->to_ns - counting->report->from_ns;
	struct table_cell cells[ARRAY_SIZE(event_columns)];
	char event[EVENT_NAME];
	size_t at = 0;

	event_name(counting, what, event, sizeof(event));
	for (; at < n_lead; at++)
		cells[at] = lead[at];
	cells[at++] = table_name(event);
	cells[at++] = table_optional_name(what->call < 0 ? NULL :
					  host_call_name(&counting->calls, what->call));
	cells[at++] = table_number((int64_t)one->count);
	cells[at++] = table_share((int64_t)one->count, window_ns);
	cells[at++] = table_rate(true, 1e9 * (double)one->count / (double)window_ns);
	table_row(to, cells);
}

static bool is_full(const struct counting *counting)
{
	return report_work_is_full(counting->work);
}

static void event_rows(struct table_writer *to, const struct counting *counting)
{
	const struct table_cell lead[] = {
		table_name("event"), table_absent(), table_absent(), table_absent(),
		table_absent(), table_absent(),
	};

	for (uint32_t i = 0; i < counting->by_event.map.n_keys; i++)
		count_row(to, counting, &counting->by_event.all[i], lead, ARRAY_SIZE(lead));
}

static void of_machine_rows(struct table_writer *to, const struct counting *counting)
{
	table_rows(to, &machine_rows);
	for (uint32_t i = 0; i < counting->by_machine.map.n_keys && !is_full(counting); i++) {
		const struct count *one = &counting->by_machine.all[i];
		const struct table_cell lead[] = {
			table_name("machine"),
			table_name(report_works_for(counting->report, one->who,
						    counting->is_guest)),
		};

		if (report_wants_work(counting->report, one->who))
			count_row(to, counting, one, lead, ARRAY_SIZE(lead));
	}
}

static void of_task_rows(struct table_writer *to, const struct counting *counting)
{
	const struct virt_model *model = counting->report->load->model;
	char name[GUEST_TASK_NAME];

	table_rows(to, &task_rows);
	for (uint32_t i = 0; i < counting->by_task.map.n_keys && !is_full(counting); i++) {
		const struct count *one = &counting->by_task.all[i];
		int32_t machine = machine_of(counting, one->who), vcpu;
		const char *who = name;

		if (!report_wants_work(counting->report, machine))
			continue;
		if (counting->trace) {
			guest_task_name(name, sizeof(name), counting->trace, one->who);
		} else {
			vcpu = virt_model_find_vcpu(model, xen_vcpu_tid((xen_vcpu)one->who));
			who = vcpu == VIRT_NONE ? "unknown" : virt_model_who(model, vcpu);
		}
		const struct table_cell lead[] = {
			table_name("task"),
			table_name(report_works_for(counting->report, machine, counting->is_guest)),
			table_name(who), table_optional(counting->trace, one->who),
		};

		count_row(to, counting, one, lead, ARRAY_SIZE(lead));
	}
}

static void of_cpu_rows(struct table_writer *to, const struct counting *counting)
{
	char name[16];

	table_rows(to, &cpu_rows);
	for (uint32_t i = 0; i < counting->by_cpu.map.n_keys && !is_full(counting); i++) {
		const struct count *one = &counting->by_cpu.all[i];
		bool is_guest = counting->is_guest;

		snprintf(name, sizeof(name), is_guest ? "%d" : "p%d", one->who);
		const struct table_cell lead[] = {
			table_name("cpu"), table_name(name), table_optional(!is_guest, one->who),
			table_optional(is_guest, one->who),
		};

		count_row(to, counting, one, lead, ARRAY_SIZE(lead));
	}
}

/** CSV has a row, text a line if there are any. */
static void lost_row(struct table_writer *to, struct table_cell lost)
{
	struct output *text = table_as_text(to);

	if (table_is(to, TABLE_CSV))
		table_row(to, (const struct table_cell[ARRAY_SIZE(event_columns)]){
			table_name("lost"), table_absent(), table_absent(), table_absent(),
			table_absent(), table_absent(), table_absent(), table_absent(), lost,
			table_absent(), table_absent(),
		});
	if (text && lost.unknown)
		out_str(text, "  lost, and not counted here: an unknown number of records\n");
	else if (text && lost.number)
		out_printf(text, "  lost, and not counted here: %lld records\n",
			   (long long)lost.number);
}

/** Return: 0 or -ENOMEM. */
static int trace_rows(struct report_work *work)
{
	struct counting counting = {
		.work = work, .report = work->report, .trace = work->trace,
		.is_guest = work->is_guest,
	};
	struct table_writer *to = work->to;
	int ret = count_all(&counting);
	const struct table_cell lost = lost_cell(&counting);
	const struct table_cell cells[] = {
		table_name(work->path), table_number((int64_t)counting.records), lost,
	};

	if (!ret) {
		table_group(to, cells);
		lost_row(to, lost);
		event_rows(to, &counting);
		of_machine_rows(to, &counting);
		of_task_rows(to, &counting);
		of_cpu_rows(to, &counting);
		table_group_end(to);
	}
	free_counting(&counting);
	return ret;
}

/** Return: 0 or -ENOMEM. */
static int event_counts_rows(struct table_writer *to, const struct report *report)
{
	return report_work_each(to, report, trace_rows);
}

const struct report_page report_event_counts = {
	.table = &table, .number = VIRT_N_NUMBERS, .rows = event_counts_rows,
};
