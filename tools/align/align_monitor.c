// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	align_monitor.c
 * @brief	kshark-virt align, for the trace that a machine's monitor made of itself.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align_columns.h"
#include "align_monitor.h"
#include "escape.h"
#include "model_monitors.h"
#include "monitor_meta.h"

/** What is aligned. */
struct aligned {
	struct model_load	load;
	struct model_monitors	monitors;
};

static uint64_t judged(const struct virt_clock_alignment *alignment)
{
	return alignment->inside + alignment->outside;
}

/** To be added to a time of the monitor's at @at. */
static int64_t offset_of(const struct host_monitor *monitor, int64_t *at)
{
	*at = monitor->base_ns + monitor->alignment.at;
	return host_monitor_time(monitor, *at) - *at;
}

static const char *machine_of(const struct host_monitor *monitor)
{
	return virt_model_machine(monitor->model, monitor->machine)->name;
}

/* --- output ---------------------------------------------------------------------------------- */

static void put_text(const struct host_monitor *monitor, struct output *out, bool many)
{
	const struct virt_clock_alignment *alignment = &monitor->alignment;
	int64_t at, offset = offset_of(monitor, &at);

	if (many) {
		out_text(out, monitor_trace_path(monitor->trace));
		out_str(out, ": ");
	}
	if (monitor->source == HOST_MONITOR_NONE)
		out_str(out, "refused: no offset explains the events of its vCPUs\n");
	else
		out_printf(out, "host time = monitor's time %+lld ns\n", (long long)offset);
	out_str(out, "  machine     ");
	out_text(out, machine_of(monitor));
	out_printf(out, "\n  source      %s\n", host_monitor_source_name(monitor->source));
	if (monitor->source != HOST_MONITOR_NONE)
		out_printf(out, "  interval    %lld .. %lld (%lld ns wide)\n"
			   "  drift       %.6f ppm\n",
			   (long long)(offset + alignment->lo - alignment->offset),
			   (long long)(offset + alignment->hi - alignment->offset),
			   (long long)(alignment->hi - alignment->lo), alignment->drift_ppm);
	out_printf(out, "  explained   %.3f %% of %llu events of its vCPUs lie where these are in "
		   "the monitor\n", alignment->explained_percent,
		   (unsigned long long)judged(alignment));
}

static void result_object(struct json *json, const struct host_monitor *monitor, bool many)
{
	const struct virt_clock_alignment *alignment = &monitor->alignment;
	int64_t at, offset = offset_of(monitor, &at), shift = offset - alignment->offset;
	struct table_cell cells[ALIGNED_N_COLUMNS];

	align_cells(cells);
	cells[ALIGNED_OFFSET] = table_number(offset);
	cells[ALIGNED_AT] = table_number(at);
	cells[ALIGNED_UNIT] = table_name("ns");
	cells[ALIGNED_INTERVAL] = table_range(shift + alignment->lo, shift + alignment->hi);
	cells[ALIGNED_DRIFT] = table_rate(true, alignment->drift_ppm);
	cells[ALIGNED_EXPLAINED] = table_rate(true, alignment->explained_percent);
	cells[ALIGNED_EVENTS] = table_number((int64_t)judged(alignment));
	cells[ALIGNED_MACHINE] = table_name(machine_of(monitor));
	cells[ALIGNED_SOURCE] = table_name(host_monitor_source_name(monitor->source));
	cells[ALIGNED_REFUSED] = table_number(monitor->source == HOST_MONITOR_NONE);
	align_begin(json, many ? monitor_trace_path(monitor->trace) : NULL, cells);
	json_close(json, '}');
}

/* --- storing --------------------------------------------------------------------------------- */

/** Without the pid, which KernelShark shows beside it. Return: 0 or -ENOMEM. */
static int add_task(struct monitor_meta *meta, const struct virt_task *task)
{
	size_t n = strlen(task->thread);
	char pid[16], name[128];
	int length = snprintf(pid, sizeof(pid), "-%d", (int)task->pid);

	if (n > (size_t)length && !strcmp(task->thread + n - (size_t)length, pid))
		n -= (size_t)length;
	text_format(name, sizeof(name), "%.*s", (int)n, task->thread);
	return monitor_meta_add(meta, task->pid, name);
}

/** Its threads, by the names of the host's trace. Return: 0 or -ENOMEM. */
static int add_threads(struct monitor_meta *meta, const struct host_monitor *monitor)
{
	const struct virt_model *model = monitor->model;
	int ret = 0;

	for (int32_t i = 0; i < monitor->n_vcpus && !ret; i++) {
		int32_t vcpu = monitor->vcpus[i].vcpu;

		ret = monitor_meta_add(meta, virt_model_vcpu(model, vcpu)->host_pid,
				       virt_model_who(model, vcpu));
	}
	for (int32_t i = 0; i < virt_model_n_tasks(model) && !ret; i++) {
		const struct virt_task *task = virt_model_task(model, VIRT_FIRST_TASK + i);

		if (virt_model_machine_of(model, VIRT_FIRST_TASK + i) == monitor->machine)
			ret = add_task(meta, task);
	}
	return ret;
}

static int store(const struct host_monitor *monitor, const char *host)
{
	const char *slash = strrchr(host, '/'), *path = monitor_trace_path(monitor->trace);
	char error[512] = "not enough memory";
	struct monitor_meta meta = {
		.host = strdup(slash ? slash + 1 : host), .machine = strdup(machine_of(monitor)),
		.source = strdup(host_monitor_source_name(monitor->source)),
		.drift_ppm = monitor->alignment.drift_ppm,
	};
	int ret = meta.host && meta.machine && meta.source ? add_threads(&meta, monitor) : -ENOMEM;

	meta.offset_ns = offset_of(monitor, &meta.at_ns);
	if (!ret)
		ret = monitor_meta_write(path, &meta, error, sizeof(error));
	monitor_meta_free(&meta);
	if (!ret)
		return KSV_EXIT_OK;
	ksv_error("%s", error);
	return KSV_EXIT_FILE;
}

int align_monitor(const char *host, const char *path, const struct align_monitor_options *options,
		  struct output *out, struct json *json, bool many)
{
	struct aligned aligned = {
		.load = { .path = host, .quiet = options->quiet },
		.monitors = { .paths = { path }, .n_paths = 1 },
	};
	const struct host_monitor *monitor;
	int status = model_load(&aligned.load);

	if (!status)
		status = model_changed(&aligned.load, status);
	if (!status)
		status = model_monitors_open(&aligned.monitors, &aligned.load);
	if (status)
		goto end;
	monitor = &aligned.monitors.all[0];
	if (json && !many)
		json_begin(json, out);
	if (json)
		result_object(json, monitor, many);
	if (json && !many)
		json_end(json);
	if (!json)
		put_text(monitor, out, many);
	if (!options->quiet)
		model_monitors_notes(&aligned.monitors);
	status = monitor->source == HOST_MONITOR_NONE ? KSV_EXIT_FINDINGS : KSV_EXIT_OK;
	if (!status && !out->error && options->write)
		status = store(monitor, host);
end:
	model_monitors_close(&aligned.monitors);
	model_unload(&aligned.load);
	return status;
}
