// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	export_source.c
 * @brief	Traces on a command line, loaded as the source of tables.
 */
#include <errno.h>
#include <stdlib.h>

#include "export_source.h"
#include "model_files.h"
#include "model_over_time.h"
#include "report_range.h"

/** The loaded traces, and the functions that take them. */
struct loading {
	const struct export_source *source;
	export_source_fn	take;
	void			*arg;
};

int export_take_moments(const struct ksv_command *command, const struct ksv_option *option,
			const char *text, void *target)
{
	return ksv_take_number(command, option, text, 0, EXPORT_MAX_MOMENTS, target);
}

static int take_report(const struct loading *loading, struct report *report,
		       const struct guest_tasks *guests, const struct host_disks *disks,
		       const struct host_locks *locks, const struct host_samples *samples,
		       struct host_counters *counters)
{
	const struct export_job job = {
		.report = report, .most_moments = loading->source->moments,
		.left_out = loading->source->left_out,
		.guests = guests, .n_guests = report->load->n_guests, .disks = disks,
		.locks = locks, .samples = samples,
		.counters = counters->file.n ? counters : NULL,
	};

	if (report_window(report, &loading->source->vcpus, 0)) {
		ksv_error("%s: not enough memory", report->file);
		return KSV_EXIT_FILE;
	}
	report->n_pcpus = host_trace_n_pcpus(&report->load->host);
	if (virt_model_n_pcpus(report->load->model) > report->n_pcpus)
		report->n_pcpus = virt_model_n_pcpus(report->load->model);
	return loading->take(loading->arg, &job);
}

/** Is a table not left out? */
static bool wants(const struct loading *loading, enum export_table_id table)
{
	return !(loading->source->left_out >> table & 1);
}

static bool wants_counters(const struct loading *loading)
{
	return wants(loading, EXPORT_COUNTER) || wants(loading, EXPORT_COUNTER_SPAN);
}

/** With the tasks of its guests, and what its own disks, locks and counters show. */
static int take_model(const struct loading *loading, struct report *report)
{
	const struct model_load *load = report->load;
	struct guest_tasks *guests = calloc((size_t)load->n_guests + 1, sizeof(*guests));
	struct host_disks disks = { .n = 0 };
	struct host_locks locks = { .n = 0 };
	struct host_samples samples = { .n = 0 };
	struct host_counters counters = { .fd = -1 };
	int ret = guests ? 0 : -ENOMEM, status = KSV_EXIT_FILE;

	for (int i = 0; !ret && i < load->n_guests; i++)
		ret = guest_tasks_read(&guests[i], &load->host, load->model, &load->clocks[i]);
	if (!ret && load->host.kvm && wants(loading, EXPORT_DISK_REQUEST))
		ret = host_disks_read(&disks, load->host.kvm, NULL, NULL);
	if (!ret && load->host.kvm && wants(loading, EXPORT_LOCK_WAIT))
		ret = host_locks_read(&locks, load->host.kvm, NULL, NULL);
	if (!ret && load->host.kvm && wants(loading, EXPORT_HOST_SAMPLE))
		ret = model_samples_read(&samples, load, report->file);
	if (!ret && load->host.kvm && wants_counters(loading))
		ret = host_counters_open(&counters, load->host.kvm);
	if (ret == -ENOENT)
		ret = 0;
	if (ret)
		ksv_error("%s: %s", report->file, host_trace_problem(ret));
	else
		status = take_report(loading, report, guests, &disks, &locks, &samples,
				     &counters);
	host_disks_free(&disks);
	host_locks_free(&locks);
	host_samples_free(&samples);
	host_counters_close(&counters);
	for (int i = 0; guests && i < load->n_guests; i++)
		guest_tasks_free(&guests[i]);
	free(guests);
	return status;
}

static int take_host(const struct loading *loading, struct model_files *files)
{
	const struct export_source *source = loading->source;
	struct model_load load = {
		.options = source->trace, .quiet = source->quiet,
		.command = source->command, .vcpus = &source->vcpus,
	};
	struct report report = { .load = &load };
	int host, status = model_files_only_host(files, source->command, &host);

	if (status)
		return status;
	model_files_load(files, host, &load);
	report.file = load.path;
	status = model_load(&load);
	if (!status)
		status = report_set_range(source->command, &report, &source->from, &source->to);
	if (!status)
		status = take_model(loading, &report);
	if (!status && !source->quiet)
		model_notes(&load);
	report_free(&report);
	model_unload(&load);
	return status;
}

/** A host, and its guests. */
int export_source_each(const struct export_source *source, char **argv, int n,
		       export_source_fn take, void *arg)
{
	const struct loading loading = { .source = source, .take = take, .arg = arg };
	struct trace_args args = {
		.quiet = source->quiet, .max_input = source->trace.max_input,
		.counters = wants_counters(&loading),
	};
	struct model_files files = {
		.args = &args, .cpu_hz = source->trace.cpu_hz, .quiet = source->quiet,
	};
	int status = trace_args_take(&args, argv, n, source->command, source->output), unread;

	if (!status) {
		unread = model_files_open(&files);
		status = files.traces ? take_host(&loading, &files) : unread;
		status = status ? status : unread;
	}
	model_files_close(&files);
	trace_args_free(&args);
	return status;
}

void export_source_free(struct export_source *source)
{
	ksv_vcpus_free(&source->vcpus);
}
