// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	model_kvm.c
 * @brief	The vCPU model of a KVM host's trace.dat.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model_load.h"
#include "progress.h"

void model_note_cycles(const struct kvm_trace *trace, uint64_t cpu_hz)
{
	if (kvm_trace_unit(trace) != TRACE_DAT_CYCLES || cpu_hz)
		return;
	ksv_note("%s: its times are cycles of the TSC and it does not tell how many are a second; "
		 "they are taken for ns. Give --cpu-hz", kvm_trace_path(trace));
}

struct kvm_trace *model_open_kvm(const char *path, uint64_t cpu_hz)
{
	char problem[512] = "";
	struct kvm_trace *trace;

	trace = kvm_trace_try(path, problem, sizeof(problem)) ?
		kvm_trace_open(path, problem, sizeof(problem)) : NULL;
	if (!trace) {
		ksv_error("%s", problem);
		return NULL;
	}
	kvm_trace_set_hz(trace, cpu_hz);
	return trace;
}

/** The walk with what is counted and the progress. */
struct kvm_walk {
	const struct model_load	*load;
	struct progress	progress;
	uint64_t	done;
};

static int take(void *arg, const struct kvm_trace_record *record)
{
	struct kvm_walk *walk = arg;

	if (++walk->done % PROGRESS_RECORDS == 0)
		progress_update(&walk->progress, (uint64_t)record->cpu,
				(uint64_t)kvm_trace_n_cpus(walk->load->kvm));
	if (walk->load->records)
		walk->load->records(walk->load->arg, record);
	return 0;
}

static void lost(void *arg, int cpu, uint64_t records)
{
	const struct kvm_walk *walk = arg;

	if (walk->load->lost)
		walk->load->lost(walk->load->arg, cpu, records);
}

static int kvm_load(struct model_load *load)
{
	struct kvm_walk walk = { .load = load };
	int status, ret;

	if (!load->kvm) {
		load->kvm = model_open_kvm(load->path, load->options.cpu_hz);
		if (!load->kvm)
			return KSV_EXIT_FILE;
		model_note_cycles(load->kvm, load->options.cpu_hz);
	}
	if (!kvm_trace_is_host(load->kvm)) {
		ksv_error("%s: has no VM entries and exits: not the trace of a KVM host. Record "
			  "one with 'trace-cmd record -e kvm -e sched_switch -e sched_wakeup'; "
			  "that of a guest is given behind the one of its host", load->path);
		return KSV_EXIT_FILE;
	}
	status = load->opened ? load->opened(load->arg) : KSV_EXIT_OK;
	if (status)
		return status;
	progress_init(&walk.progress, !load->quiet);
	walk.progress.what = "tracking";
	ret = kvm_trace_model(load->kvm, take, lost, &walk, &load->model);
	progress_end(&walk.progress);
	if (!ret)
		return KSV_EXIT_OK;
	ksv_error("%s: %s", load->path, ret == -ENOMEM ? "not enough memory" :
		  ret == -ENODATA ? "there is no record in it" : strerror(-ret));
	return KSV_EXIT_FILE;
}

static void kvm_unload(struct model_load *load)
{
	kvm_trace_close(load->kvm);
	load->kvm = NULL;
}

static void kvm_notes(const struct model_load *load)
{
	struct virt_loss_range losses = virt_model_losses(load->model);

	if (virt_model_is_unsplit(load->model))
		fprintf(stderr, "%s: has no sched_switch: waits between VM exits and entries are "
			"not told apart. Record with 'trace-cmd record -e kvm -e sched_switch "
			"-e sched_wakeup'\n", load->path);
	if (kvm_trace_damaged_cpu(load->kvm) >= 0)
		ksv_note("%s: the records of CPU %d are damaged; they are read up to there. Copy "
			 "the file again, if there is another one", load->path,
			 kvm_trace_damaged_cpu(load->kvm));
	if (losses.n)
		ksv_note("%s: records were lost %zu times; what happened then is unknown. Larger "
			 "buffers (trace-cmd record -b) or fewer events help", load->path,
			 losses.n);
}

/** Times of a trace.dat are what its clock gave. */
static int64_t kvm_tsc_ns(const struct model_load *load, uint64_t tsc)
{
	(void)load;
	return tsc > INT64_MAX ? INT64_MAX : (int64_t)tsc;
}

static int kvm_n_pcpus(const struct model_load *load)
{
	return kvm_trace_n_cpus(load->kvm);
}

const struct model_source model_kvm = {
	.hypervisor = "kvm",
	.load = kvm_load,
	.unload = kvm_unload,
	.notes = kvm_notes,
	.tsc_ns = kvm_tsc_ns,
	.n_pcpus = kvm_n_pcpus,
};
