// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	model_over_time.c
 * @brief	Add up what a host did, interval by interval.
 */
#include <errno.h>
#include <stdlib.h>

#include "model_over_time.h"
#include "regular_file.h"
#include "virt_needs.h"

/* --- samples --------------------------------------------------------------------------------- */

/** Without samples, there is nothing to say: only record writes them. */
int model_samples_read(struct host_samples *samples, const struct model_load *load,
		       const char *file)
{
	const char *path = kvm_trace_path(load->host.kvm);
	int ret = host_samples_read(samples, path);

	if (ret == -ENOMEM)
		return ret;
	if (ret && ret != -ENOENT)
		ksv_note("%s" HOST_SAMPLES_ENDING ": not used, samples are unknown: %s", file,
			 ret == -EBADMSG ? "it has no samples of record" :
			 regular_file_error(ret));
	if (samples->bad_lines)
		ksv_note("%s" HOST_SAMPLES_ENDING ": %zu lines are left out: they are no samples, "
			 "or not later than the line before", file, samples->bad_lines);
	return 0;
}

/* --- intervals ------------------------------------------------------------------------------- */

bool model_has_mode(const struct model_load *load, const struct host_modes *modes,
		    enum host_mode mode)
{
	switch (mode) {
	case HOST_MODE_GUEST:
		return virt_model_knows(load->model, VIRT_NUMBER_GUEST);
	case HOST_MODE_USER:
	case HOST_MODE_SYSCALL:
		return modes->has_calls;
	case HOST_MODE_INTERRUPT:
		return modes->has_interrupts;
	case HOST_MODE_SOFTIRQ:
		return modes->has_softirqs;
	default:
		return true;
	}
}

/** Return: 0 or -ENOMEM. */
static int sum_up(struct model_interval *interval, const struct host_tasks *tasks,
		  const struct virt_model *model)
{
	struct host_task_sums sums;
	int ret = host_task_sums_make(&sums, tasks, model, interval->from_ns, interval->to_ns);

	for (size_t i = 0; i < sums.n && !ret; i++) {
		const struct host_task_sum *sum = &sums.all[i];

		interval->waiting_ns += sum->ns[VIRT_LIFE_PREEMPTED];
		interval->waking_ns += sum->ns[VIRT_LIFE_WAKING];
		interval->uninterruptible_ns += sum->uninterruptible_ns;
		interval->switches += sum->on_pcpus ? sum->on_pcpus->runs : 0;
		interval->migrations += sum->migrations;
		interval->faults += sum->modes ? sum->modes->faults : 0;
		for (int mode = 0; mode < HOST_N_MODES && sum->modes; mode++) {
			interval->modes_ns[mode] += sum->modes->ns[mode];
			interval->all_ns += sum->modes->ns[mode];
		}
	}
	host_task_sums_free(&sums);
	return ret;
}

static int make_intervals(struct model_over_time *over_time, const struct virt_model *model,
			  int64_t from_ns, int64_t to_ns, int n)
{
	int64_t length_ns = to_ns - from_ns;
	int ret = 0;

	over_time->all = calloc((size_t)n + 1, sizeof(*over_time->all));
	if (!over_time->all)
		return -ENOMEM;
	for (int i = 0; i < n && !ret; i++) {
		struct model_interval *interval = &over_time->all[over_time->n];

		interval->from_ns = from_ns + (int64_t)((__int128)length_ns * i / n);
		interval->to_ns = from_ns + (int64_t)((__int128)length_ns * (i + 1) / n);
		if (interval->from_ns == interval->to_ns)
			continue;
		host_samples_sum(&over_time->samples, interval->from_ns, interval->to_ns,
				 &interval->sampled);
		if (over_time->has_tasks)
			ret = sum_up(interval, &over_time->tasks, model);
		over_time->n++;
	}
	return ret;
}

int model_over_time_make(struct model_over_time *over_time, const struct model_load *load,
			 const char *file, int64_t from_ns, int64_t to_ns, int n)
{
	struct kvm_trace *trace = load->host.kvm;
	int ret = 0;

	if (!trace)
		return 0;
	over_time->has_tasks = virt_model_knows(load->model, VIRT_NUMBER_TASKS);
	if (over_time->has_tasks)
		ret = host_tasks_read(&over_time->tasks, load->model, trace);
	if (!ret)
		ret = model_samples_read(&over_time->samples, load, file);
	return ret ? ret : make_intervals(over_time, load->model, from_ns, to_ns, n);
}

void model_over_time_free(struct model_over_time *over_time)
{
	free(over_time->all);
	host_samples_free(&over_time->samples);
	host_tasks_free(&over_time->tasks);
	*over_time = (struct model_over_time){ .n = 0 };
}
