// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_devices.c
 * @brief	kshark-virt report --devices: requests to devices, from the monitors' traces.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "report_devices.h"
#include "report_page.h"
#include "text_columns.h"

/** Of names, in the tables. */
#define NAME_WIDTH	28
#define WHAT_WIDTH	12

/** Threads that text names of those that begin requests. */
#define MAX_THREADS	2

/** Of a thread that has no name. */
#define THREAD_NAME	32

/* --- names ----------------------------------------------------------------------------------- */

const char *report_device_name(const struct monitor_requests *requests, int32_t device, char *text,
			       size_t size)
{
	const struct monitor_device *of = &requests->devices[device];
	bool alone = true;

	for (size_t i = 0; i < requests->n_devices; i++)
		alone &= (int32_t)i == device || requests->devices[i].n_name != of->n_name ||
			 memcmp(requests->devices[i].name, of->name, of->n_name) != 0;
	if (alone)
		text_format(text, size, "%.*s", (int)of->n_name, of->name);
	else
		text_format(text, size, "%.*s %#llx", (int)(of->n_name < 100 ? of->n_name : 100),
			    of->name, (unsigned long long)of->pointer);
	return text;
}

/** A vCPU, another thread of a machine's, or one that no record names. */
static const char *thread_name(const struct virt_model *model, int32_t thread, char *text,
			       size_t size)
{
	int32_t vcpu = virt_model_find_vcpu(model, thread);
	const struct virt_task *task;

	if (vcpu != VIRT_NONE)
		return virt_model_who(model, vcpu);
	for (int32_t i = 0; i < virt_model_n_tasks(model); i++) {
		task = virt_model_task(model, VIRT_FIRST_TASK + i);
		if (task->pid == thread)
			return task->name;
	}
	snprintf(text, size, "thread %d", (int)thread);
	return text;
}

static const char *clock_name(const struct host_monitor *monitor)
{
	return monitor_trace_clock(monitor->trace) == MONITOR_REALTIME ? "realtime" : "monotonic";
}

static const char *machine_name(const struct report *report, const struct host_monitor *monitor)
{
	return virt_model_machine(report->load->model, monitor->machine)->name;
}

static uint64_t judged(const struct host_monitor *monitor)
{
	return monitor->alignment.inside + monitor->alignment.outside;
}

/** From its clock to the axis of the trace, about: at its first record. */
static int64_t offset_of(const struct host_monitor *monitor)
{
	return host_monitor_time(monitor, monitor->base_ns) - monitor->base_ns;
}

static const char *operation_name(uint8_t operation)
{
	return monitor_operation_name((enum monitor_operation)operation);
}

static const char *pointer_of(const struct host_monitor *monitor, int32_t device, char *text,
			      size_t size)
{
	snprintf(text, size, "%#llx",
		 (unsigned long long)monitor->requests.devices[device].pointer);
	return text;
}

/** A cell that is absent without a name. */
static struct table_cell name_if(const char *name)
{
	return name ? table_name(name) : table_absent();
}

/** What opened time in the monitor: a device, an exit of KVM, or nothing that was traced. */
static const char *opened_by(const struct host_monitor *monitor, const struct report_opened *opened,
			     char *text, size_t size)
{
	const char *exit = monitor_exit_name(opened->reason);

	if (opened->device != MONITOR_NONE)
		return report_device_name(&monitor->requests, opened->device, text, size);
	if (opened->reason == REPORT_NO_EXIT)
		snprintf(text, size, "(nothing traced)");
	else if (exit)
		snprintf(text, size, "(KVM exit %s)", exit);
	else
		snprintf(text, size, "(KVM exit %d)", (int)opened->reason);
	return text;
}

/* --- the tables ------------------------------------------------------------------------------ */

static const struct table_column monitors[] = {
	{ .key = "monitor" },
	{ .key = "machine" },
	{ .key = "events", .type = TABLE_COUNT, .not_csv = true },
	{ .key = "vmm_ns", .type = TABLE_NS, .not_csv = true },
};

static const struct table_column beginners[] = {
	{ .key = "name" },
	{ .key = "thread", .type = TABLE_COUNT },
	{ .key = "count", .type = TABLE_COUNT },
};

static const struct table_column asked_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "device", .title = "device", .width = NAME_WIDTH },
	{ .key = "pointer", .not_csv = true },
	{ .key = "operation", .title = "", .width = WHAT_WIDTH },
	{ .key = "count", .type = TABLE_COUNT, .title = "requests" },
	{ .key = "bytes", .type = TABLE_COUNT, .title = "bytes" },
	{ .key = "latency", .type = TABLE_DURATIONS, .title = "",
	  .shown = TABLE_MEAN | TABLE_P50 | TABLE_P95 | TABLE_P99 | TABLE_MAX },
	{ .type = TABLE_COUNT, .title = "open" },
	{ .title = "  begun by" },	/* the blanks between */
	{ .key = "begun_by", .type = TABLE_LIST, .not_csv = true, .list = beginners,
	  .n_list = ARRAY_SIZE(beginners) },
	/* of what the other rows have */
	{ .key = "stretches", .type = TABLE_COUNT, .not_json = true },
	{ .key = "total_ns", .type = TABLE_NS, .not_json = true },
};

static const struct table_column opened_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "device", .not_json = true, .title = "vCPUs in the monitor, for",
	  .width = NAME_WIDTH },
	{ .key = "device", .not_csv = true },
	{ .key = "pointer", .not_csv = true },
	{ .title = "", .width = WHAT_WIDTH },
	{ .key = "operation" },
	{ .key = "bytes", .type = TABLE_COUNT },
	{ .key = "kvm_exit", .type = TABLE_COUNT, .not_csv = true },
	{ .key = "kvm_exit_name", .not_csv = true },
	{ .key = "count", .type = TABLE_COUNT, .title = "accesses" },
	{ .key = "stretches", .type = TABLE_COUNT, .title = "stretches" },
	{ .key = "total_ns", .type = TABLE_NS, .title = "time" },
	{ .type = TABLE_SHARE, .title = "share" },
};

static const struct table_rows opened_rows = {
	.key = "vmm", TABLE_COLUMNS(opened_columns), .apart = true,
	.none = "\n  no vCPU was in the monitor\n",
};

static const struct table table = {
	.groups = "monitors", .group = monitors, .n_group = ARRAY_SIZE(monitors),
	.rows = {
		.key = "devices", TABLE_COLUMNS(asked_columns), .apart = true,
		.none = "\n  no request to a device is traced\n",
	},
};

/* --- rows ------------------------------------------------------------------------------------ */

/** Those that began most requests, as text has them. */
static void name_beginners(char *text, size_t size, const struct report *report,
			   const struct report_asked *asked)
{
	char name[THREAD_NAME], count[32] = "";
	size_t n = 0;

	*text = '\0';
	for (size_t i = 0; i < asked->n_threads && i < MAX_THREADS && n < size; i++) {
		if (asked->n_threads > 1)
			snprintf(count, sizeof(count), " (%llu)",
				 (unsigned long long)asked->threads[i].count);
		n += (size_t)text_format(text + n, size - n, "%s%s%s", i ? ", " : "  ",
					 thread_name(report->load->model, asked->threads[i].thread,
						     name, sizeof(name)), count);
	}
	if (asked->n_threads > MAX_THREADS && n < size)
		text_format(text + n, size - n, ", ...");
}

/** The same for JSON, all of them; the names of those that have none are in @names. */
static void list_beginners(struct table_cell *cells, char (*names)[THREAD_NAME],
			   const struct report *report, const struct report_asked *asked)
{
	for (size_t i = 0; i < asked->n_threads; i++) {
		int32_t thread = asked->threads[i].thread;
		const struct table_cell beginner[ARRAY_SIZE(beginners)] = {
			table_name(thread_name(report->load->model, thread, names[i],
					       sizeof(names[i]))),
			table_number(thread), table_number((int64_t)asked->threads[i].count),
		};

		memcpy(&cells[i * ARRAY_SIZE(beginners)], beginner, sizeof(beginner));
	}
}

/** Return: 0 or -ENOMEM. */
static int devices_asked_rows(struct table_writer *to, const struct report *report,
			      const struct host_monitor *monitor, const struct report_asked *asked)
{
	struct table_cell *list = calloc(asked->n_threads + 1,
					 ARRAY_SIZE(beginners) * sizeof(*list));
	char (*names)[THREAD_NAME] = calloc(asked->n_threads + 1, sizeof(*names));
	const struct monitor_requests *requests = &monitor->requests;
	char device[160], pointer[32], begun_by[128];
	bool ok = list && names;

	if (ok) {
		list_beginners(list, names, report, asked);
		name_beginners(begun_by, sizeof(begun_by), report, asked);
		table_row(to, (const struct table_cell[ARRAY_SIZE(asked_columns)]){
			table_name("request"),
			table_name(report_device_name(requests, asked->device, device,
						      sizeof(device))),
			table_name(pointer_of(monitor, asked->device, pointer,
					      sizeof(pointer))),
			table_name(operation_name(asked->operation)),
			table_number((int64_t)asked->count), table_number((int64_t)asked->bytes),
			table_durations(&asked->latency),
			table_number((int64_t)(asked->count - asked->latency.count)),
			table_name(begun_by), table_list(list, asked->n_threads),
			table_absent(), table_absent(),
		});
	}
	free(list);
	free(names);
	return ok ? 0 : -ENOMEM;
}

static void devices_opened_row(struct table_writer *to, const struct host_monitor *monitor,
			       const struct report_opened *opened, int64_t all_ns)
{
	bool device = opened->device != MONITOR_NONE;
	bool exit = !device && opened->reason != REPORT_NO_EXIT;
	const char *exit_name = exit ? monitor_exit_name(opened->reason) : NULL;
	const char *operation = device ? operation_name(opened->operation) : NULL;
	char name[160], pointer[32] = "", what[32] = "";

	opened_by(monitor, opened, name, sizeof(name));
	if (device) {
		pointer_of(monitor, opened->device, pointer, sizeof(pointer));
		snprintf(what, sizeof(what), "%s %d B", operation, opened->bytes);
	}
	table_row(to, (const struct table_cell[ARRAY_SIZE(opened_columns)]){
		table_name("vmm"), table_name(name), name_if(device ? name : NULL),
		name_if(device ? pointer : NULL), table_name(what), name_if(operation),
		table_optional(device, opened->bytes), table_optional(exit, opened->reason),
		name_if(exit_name), table_number((int64_t)opened->accesses),
		table_number((int64_t)opened->stretches), table_number(opened->ns),
		table_share(opened->ns, all_ns),
	});
}

/* --- a monitor ------------------------------------------------------------------------------- */

static void text_clock(struct output *out, const struct report *report,
		      const struct host_monitor *monitor)
{
	char lo[32], hi[32];

	out_str(out, "\n  ");
	out_text(out, machine_name(report, monitor));
	out_str(out, ": ");
	out_text(out, monitor_trace_path(monitor->trace));
	out_char(out, '\n');
	if (monitor->source == HOST_MONITOR_NONE) {
		out_str(out, "  its clock is not aligned: the page has all of its events, "
			"whatever their time\n");
		return;
	}
	format_duration(lo, sizeof(lo), monitor->alignment.offset - monitor->alignment.lo);
	format_duration(hi, sizeof(hi), monitor->alignment.hi - monitor->alignment.offset);
	out_printf(out, "  aligned by %s: %.3f %% of %llu events of vCPUs lie in their time in the "
		   "monitor, as with -%s .. +%s\n", host_monitor_source_name(monitor->source),
		   monitor->alignment.explained_percent, (unsigned long long)judged(monitor),
		   lo, hi);
}

static const struct table_column clock_columns[] = {
	{ .key = "clock" },
	{ .key = "aligned_by" },
	{ .key = "offset_ns", .type = TABLE_TIME },
	{ .key = "interval_ns", .type = TABLE_RANGE },
	{ .key = "drift_ppm", .type = TABLE_FIXED },
	{ .key = "explained_percent", .type = TABLE_FIXED },
	{ .key = "judged", .type = TABLE_COUNT },
};

static void clock_members(struct json *json, const struct host_monitor *monitor)
{
	const struct virt_clock_alignment *alignment = &monitor->alignment;
	bool is_aligned = monitor->source != HOST_MONITOR_NONE;

	table_json_members(json, clock_columns, ARRAY_SIZE(clock_columns),
			   (const struct table_cell[ARRAY_SIZE(clock_columns)]){
		table_name(clock_name(monitor)),
		table_name(host_monitor_source_name(monitor->source)),
		table_optional(is_aligned, is_aligned ? offset_of(monitor) : 0),
		is_aligned ? table_range(alignment->lo - alignment->offset,
					 alignment->hi - alignment->offset) : table_absent(),
		table_rate(is_aligned, alignment->drift_ppm),
		table_rate(true, alignment->explained_percent),
		table_number((int64_t)judged(monitor)),
	});
}

static void put_all(struct output *out, int64_t vmm_ns)
{
	out_str(out, "  ");
	out_text_left(out, "all", NAME_WIDTH + WHAT_WIDTH + 2 * (TEXT_NUMBER + 1));
	text_duration(out, vmm_ns);
	out_char(out, '\n');
}

static int devices_monitor_rows(void *arg, const struct report *report,
				const struct report_devices *devices)
{
	const struct host_monitor *monitor = devices->monitor;
	struct table_writer *to = arg;
	int ret = 0;
	size_t n;

	monitor_trace_records(monitor->trace, &n);
	const struct table_cell cells[ARRAY_SIZE(monitors)] = {
		table_name(monitor_trace_path(monitor->trace)),
		table_name(machine_name(report, monitor)), table_number((int64_t)n),
		table_number(devices->vmm_ns),
	};

	if (table_as_text(to))
		text_clock(to->out, report, monitor);
	table_group(to, cells);
	for (size_t i = 0; i < devices->n_asked && !ret; i++)
		ret = devices_asked_rows(to, report, monitor, &devices->asked[i]);
	table_rows(to, &opened_rows);
	for (size_t i = 0; i < devices->n_opened; i++)
		devices_opened_row(to, monitor, &devices->opened[i], devices->vmm_ns);
	table_rows_end(to);
	if (table_as_text(to) && devices->n_opened)
		put_all(to->out, devices->vmm_ns);
	if (table_as_json(to))
		clock_members(to->json, monitor);
	table_group_end(to);
	return ret;
}

static int devices_rows(struct table_writer *to, const struct report *report)
{
	return report_each_monitor(report, devices_monitor_rows, to);
}

const struct report_page report_devices = {
	.table = &table, .number = VIRT_N_NUMBERS, .rows = devices_rows,
};
