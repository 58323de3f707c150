// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_devices.c
 * @brief	kshark-virt report --devices: what devices were asked for, by the monitors' traces.
 */
#include <stdio.h>
#include <string.h>

#include "escape.h"
#include "json_durations.h"
#include "report_devices.h"
#include "report_page.h"
#include "text_columns.h"

/** Of names, in the tables. */
#define NAME_WIDTH	28
#define WHAT_WIDTH	12

/** Threads that are told of those that begin requests, in text. */
#define MAX_THREADS	2

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

/** A vCPU, another thread of a machine's, or one of which no record tells. */
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

/* --- text ------------------------------------------------------------------------------------ */

static void text_threads(struct output *out, const struct report *report,
			 const struct report_asked *asked)
{
	char text[32];

	for (size_t i = 0; i < asked->n_threads && i < MAX_THREADS; i++) {
		out_str(out, i ? ", " : "  ");
		out_text(out, thread_name(report->load->model, asked->threads[i].thread, text,
					  sizeof(text)));
		if (asked->n_threads > 1)
			out_printf(out, " (%llu)", (unsigned long long)asked->threads[i].count);
	}
	if (asked->n_threads > MAX_THREADS)
		out_str(out, ", ...");
}

static void text_asked(struct output *out, const struct report *report,
		       const struct host_monitor *monitor, const struct report_asked *asked)
{
	const struct virt_dist *latency = &asked->latency;
	char text[160];

	out_str(out, "  ");
	out_text_left(out, report_device_name(&monitor->requests, asked->device, text,
					      sizeof(text)), NAME_WIDTH);
	out_text_left(out, monitor_operation_name((enum monitor_operation)asked->operation),
		      WHAT_WIDTH);
	text_count(out, asked->count);
	text_count(out, asked->bytes);
	if (latency->count) {
		text_duration(out, virt_mean(latency->ns, latency->count));
		text_duration(out, latency->p50);
		text_duration(out, latency->p95);
		text_duration(out, latency->p99);
		text_duration(out, latency->max);
	} else {
		for (int i = 0; i < 5; i++)
			text_right(out, "", TEXT_NUMBER);
	}
	text_count(out, asked->count - latency->count);
	text_threads(out, report, asked);
	out_char(out, '\n');
}

static void text_opened(struct output *out, const struct host_monitor *monitor,
			const struct report_opened *opened, int64_t all_ns)
{
	char text[160], what[32] = "";

	out_str(out, "  ");
	out_text_left(out, opened_by(monitor, opened, text, sizeof(text)), NAME_WIDTH);
	if (opened->device != MONITOR_NONE)
		snprintf(what, sizeof(what), "%s %d B",
			 monitor_operation_name((enum monitor_operation)opened->operation),
			 opened->bytes);
	out_text_left(out, what, WHAT_WIDTH);
	text_count(out, opened->accesses);
	text_count(out, opened->stretches);
	text_duration(out, opened->ns);
	text_share(out, opened->ns, all_ns, TEXT_SHARE);
	out_char(out, '\n');
}

static void text_head(struct output *out, const struct report *report,
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
	report_duration(lo, sizeof(lo), monitor->alignment.offset - monitor->alignment.lo);
	report_duration(hi, sizeof(hi), monitor->alignment.hi - monitor->alignment.offset);
	out_printf(out, "  aligned by %s: %.3f %% of %llu events of vCPUs lie in their time in the "
		   "monitor, as with -%s .. +%s\n", host_monitor_source_name(monitor->source),
		   monitor->alignment.explained_percent, (unsigned long long)judged(monitor),
		   lo, hi);
}

static void text_monitor(void *arg, const struct report *report,
			 const struct report_devices *devices)
{
	static const char *const of_requests[] = {
		"requests", "bytes", "mean", "p50", "p95", "p99", "max", "open",
	};
	static const char *const of_time[] = { "accesses", "stretches", "time" };
	struct output *out = arg;

	text_head(out, report, devices->monitor);
	out_str(out, "\n  ");
	out_text_left(out, "device", NAME_WIDTH + WHAT_WIDTH);
	for (size_t i = 0; i < ARRAY_SIZE(of_requests); i++)
		text_right(out, of_requests[i], TEXT_NUMBER);
	out_str(out, "  begun by\n");
	for (size_t i = 0; i < devices->n_asked; i++)
		text_asked(out, report, devices->monitor, &devices->asked[i]);
	if (!devices->n_asked)
		out_str(out, "  no request to a device is traced\n");
	out_str(out, "\n  ");
	out_text_left(out, "vCPUs in the monitor, for", NAME_WIDTH + WHAT_WIDTH);
	for (size_t i = 0; i < ARRAY_SIZE(of_time); i++)
		text_right(out, of_time[i], TEXT_NUMBER);
	text_right(out, "share", TEXT_SHARE);
	out_char(out, '\n');
	for (size_t i = 0; i < devices->n_opened; i++)
		text_opened(out, devices->monitor, &devices->opened[i], devices->vmm_ns);
	out_str(out, "  ");
	out_text_left(out, "all", NAME_WIDTH + WHAT_WIDTH + 2 * (TEXT_NUMBER + 1));
	text_duration(out, devices->vmm_ns);
	out_char(out, '\n');
}

static int page_text(struct output *out, const struct report *report, bool first)
{
	report_page_head(out, report, first);
	return report_each_monitor(report, text_monitor, out);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_device(struct json *json, const struct host_monitor *monitor, int32_t device)
{
	char text[160], pointer[32];

	json_str(json, "device",
		 report_device_name(&monitor->requests, device, text, sizeof(text)));
	snprintf(pointer, sizeof(pointer), "%#llx",
		 (unsigned long long)monitor->requests.devices[device].pointer);
	json_str(json, "pointer", pointer);
}

static void json_asked(struct json *json, const struct report *report,
		       const struct host_monitor *monitor, const struct report_asked *asked)
{
	char text[32];

	json_open(json, NULL, '{', true);
	json_device(json, monitor, asked->device);
	json_str(json, "operation", monitor_operation_name((enum monitor_operation)
							   asked->operation));
	json_u64(json, "requests", asked->count);
	json_u64(json, "bytes", asked->bytes);
	json_u64(json, "complete", asked->latency.count);
	json_i64(json, "ns", asked->latency.ns);
	json_dist(json, &asked->latency);
	json_open(json, "begun_by", '[', true);
	for (size_t i = 0; i < asked->n_threads; i++) {
		json_open(json, NULL, '{', true);
		json_str(json, "name", thread_name(report->load->model, asked->threads[i].thread,
						   text, sizeof(text)));
		json_i64(json, "thread", asked->threads[i].thread);
		json_u64(json, "requests", asked->threads[i].count);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

static void json_opened(struct json *json, const struct host_monitor *monitor,
			const struct report_opened *opened)
{
	json_open(json, NULL, '{', true);
	if (opened->device != MONITOR_NONE) {
		json_device(json, monitor, opened->device);
		json_str(json, "operation", monitor_operation_name((enum monitor_operation)
								   opened->operation));
		json_i64(json, "bytes", opened->bytes);
	} else if (opened->reason != REPORT_NO_EXIT) {
		json_i64(json, "kvm_exit", opened->reason);
		if (monitor_exit_name(opened->reason))
			json_str(json, "kvm_exit_name", monitor_exit_name(opened->reason));
	}
	json_u64(json, "accesses", opened->accesses);
	json_u64(json, "stretches", opened->stretches);
	json_i64(json, "ns", opened->ns);
	json_close(json, '}');
}

static void json_clock(struct json *json, const struct host_monitor *monitor)
{
	json_str(json, "clock", clock_name(monitor));
	json_str(json, "aligned_by", host_monitor_source_name(monitor->source));
	if (monitor->source != HOST_MONITOR_NONE) {
		json_i64(json, "offset_ns", offset_of(monitor));
		json_open(json, "interval_ns", '[', true);
		json_i64(json, NULL, monitor->alignment.lo - monitor->alignment.offset);
		json_i64(json, NULL, monitor->alignment.hi - monitor->alignment.offset);
		json_close(json, ']');
		json_fixed(json, "drift_ppm", monitor->alignment.drift_ppm);
	}
	json_fixed(json, "explained_percent", monitor->alignment.explained_percent);
	json_u64(json, "judged", judged(monitor));
}

static void json_monitor(void *arg, const struct report *report,
			 const struct report_devices *devices)
{
	const struct host_monitor *monitor = devices->monitor;
	struct json *json = arg;
	size_t n;

	json_open(json, NULL, '{', false);
	json_str(json, "file", monitor_trace_path(monitor->trace));
	json_str(json, "machine", machine_name(report, monitor));
	json_clock(json, monitor);
	monitor_trace_records(monitor->trace, &n);
	json_u64(json, "events", n);
	json_open(json, "devices", '[', false);
	for (size_t i = 0; i < devices->n_asked; i++)
		json_asked(json, report, monitor, &devices->asked[i]);
	json_close(json, ']');
	json_i64(json, "vmm_ns", devices->vmm_ns);
	json_open(json, "vmm", '[', false);
	for (size_t i = 0; i < devices->n_opened; i++)
		json_opened(json, monitor, &devices->opened[i]);
	json_close(json, ']');
	json_close(json, '}');
}

static int page_json(struct output *out, const struct report *report, bool first)
{
	struct json json;
	int ret;

	(void)first;
	report_page_begin(&json, out, report);
	json_open(&json, "monitors", '[', false);
	ret = report_each_monitor(report, json_monitor, &json);
	json_close(&json, ']');
	report_page_end(&json);
	return ret;
}

/* --- CSV ------------------------------------------------------------------------------------- */

/** What both kinds of rows begin with. */
static void csv_place(struct output *out, const struct report *report,
		      const struct report_devices *devices, const char *section, const char *device)
{
	report_csv_text(out, report->file);
	report_csv_text(out, monitor_trace_path(devices->monitor->trace));
	report_csv_text(out, machine_name(report, devices->monitor));
	report_csv_text(out, section);
	report_csv_text(out, device);
}

static void csv_asked(struct output *out, const struct report *report,
		      const struct report_devices *devices, const struct report_asked *asked)
{
	const struct virt_dist *dist = &asked->latency;
	char text[160];

	csv_place(out, report, devices, "request",
		  report_device_name(&devices->monitor->requests, asked->device, text,
				     sizeof(text)));
	report_csv_text(out, monitor_operation_name((enum monitor_operation)asked->operation));
	out_u64(out, asked->bytes);
	out_char(out, ',');
	out_u64(out, asked->count);
	out_char(out, ',');
	out_u64(out, dist->count);
	out_char(out, ',');
	out_i64(out, dist->ns);
	table_csv_durations(out, dist);
	out_char(out, '\n');
}

static void csv_opened(struct output *out, const struct report *report,
		       const struct report_devices *devices, const struct report_opened *opened)
{
	static const struct virt_dist none;
	char text[160];

	csv_place(out, report, devices, "vmm",
		  opened_by(devices->monitor, opened, text, sizeof(text)));
	report_csv_text(out, opened->device == MONITOR_NONE ? "" :
		 monitor_operation_name((enum monitor_operation)opened->operation));
	if (opened->device != MONITOR_NONE)
		out_i64(out, opened->bytes);
	out_char(out, ',');
	out_u64(out, opened->accesses);
	out_char(out, ',');
	out_u64(out, opened->stretches);
	out_char(out, ',');
	out_i64(out, opened->ns);
	table_csv_durations(out, &none);
	out_char(out, '\n');
}

static void csv_monitor(void *arg, const struct report *report,
			const struct report_devices *devices)
{
	for (size_t i = 0; i < devices->n_asked; i++)
		csv_asked(arg, report, devices, &devices->asked[i]);
	for (size_t i = 0; i < devices->n_opened; i++)
		csv_opened(arg, report, devices, &devices->opened[i]);
}

static int page_csv(struct output *out, const struct report *report, bool first)
{
	if (first) {
		out_str(out, "file,monitor,machine,section,device,operation,bytes,count,complete,"
			"ns");
		table_csv_statistics(out, "");
		out_char(out, '\n');
	}
	return report_each_monitor(report, csv_monitor, out);
}

const struct report_page report_devices = { .writers = { page_text, page_json, page_csv } };
