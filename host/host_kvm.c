// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_kvm.c
 * @brief	The trace.dat of a KVM host.
 */
#include "align_meta.h"
#include "escape.h"
#include "host_private.h"
#include "recording.h"

/** Return: 0, or -1 for a trace that is that of no host. */
static int check_host(const struct host_trace *trace, char *error, size_t size)
{
	const char *stranger = kvm_trace_stranger(trace->kvm);

	if (kvm_trace_is_host(trace->kvm))
		return 0;
	if (stranger) {
		text_format(error, size, "%s: " KVM_TRACE_STRANGER, trace->path, stranger);
		return -1;
	}
	if (kvm_trace_has_vcpus(trace->kvm)) {
		text_format(error, size, HOST_KVM_NO_ENTRIES, trace->path);
		return -1;
	}
	text_format(error, size, "%s: has no VM entries and exits: not the trace of a KVM host. "
		    "Record one with '" RECORD_KVM "'; give the trace of a guest after the one of "
		    "its host", trace->path);
	return -1;
}

static int kvm_open(struct host_trace *trace, const struct host_options *options, char *error,
		    size_t size)
{
	const struct kvm_meta *meta;

	trace->kvm = options->has_threads ? kvm_trace_open_by_program(trace->path, error, size) :
					    kvm_trace_open_apart(trace->path, error, size);
	if (!trace->kvm)
		return -1;
	meta = kvm_trace_meta(trace->kvm);
	kvm_trace_set_hz(trace->kvm, options->cpu_hz ? options->cpu_hz :
				     meta ? meta->cpu_khz * 1000 : 0);
	align_meta_mend(trace->kvm);
	return check_host(trace, error, size);
}

static void kvm_close(struct host_trace *trace)
{
	kvm_trace_close(trace->kvm);
}

static int kvm_walk(struct host_trace *trace, const struct host_walk *walk,
		    struct virt_model **model)
{
	int ret;

	kvm_trace_watch(trace->kvm, HOST_PROGRESS, walk->progress, walk->arg);
	kvm_trace_count(trace->kvm, walk->only_counts);
	kvm_trace_brief(trace->kvm, walk->is_brief);
	ret = model ? kvm_trace_model(trace->kvm, walk->record, walk->lost, walk->arg, model) :
		      kvm_trace_walk(trace->kvm, walk->record, walk->lost, walk->arg);
	kvm_trace_watch(trace->kvm, 0, NULL, NULL);
	return ret;
}

/** Note the quota that held threads longest. No record shows when: it is of the whole recording. */
static void note_quotas(const struct host_trace *trace, struct trace_notes *notes)
{
	const struct kvm_meta *meta = kvm_trace_meta(trace->kvm);
	struct cpu_quota held, most = { 0 };
	const char *path = NULL;

	for (int i = 0; meta && i < meta->n_cgroups; i++) {
		if (!kvm_meta_held(&meta->cgroups[i], &held) ||
		    held.throttled_us <= most.throttled_us)
			continue;
		most = held;
		path = meta->cgroups[i].path;
	}
	if (path)
		trace_notes_add(notes, TRACE_NOTE_LIMIT, TRACE_NOTE_WARNING,
				"%s: in the whole recording%s, the CPU quota of the cgroup %s held "
				"threads for %lld us, in %lld of %lld periods: steal may be due to "
				"it, whatever the culprits", trace->path,
				meta->part ? ", of which this trace is a part" : "", path,
				(long long)most.throttled_us, (long long)most.throttled,
				(long long)most.periods);
}

static void kvm_notes(const struct host_trace *trace, const struct virt_model *model,
		      int max_lines, struct trace_notes *notes)
{
	(void)max_lines;
	kvm_trace_notes(trace->kvm, notes);
	note_quotas(trace, notes);
	if (virt_model_knows_calls_only(model))
		trace_notes_add(notes, TRACE_NOTE_EVENTS, TRACE_NOTE_WARNING,
				"%s: has neither kvm_entry nor kvm_exit: only hypercalls of vCPUs "
				"are known. Record with '" RECORD_KVM "'",
				trace->path);
	else if (virt_model_is_unsplit(model))
		trace_notes_add(notes, TRACE_NOTE_EVENTS, TRACE_NOTE_WARNING,
				"%s: has no sched_switch: waits between VM exits and entries are "
				"not split. Record with '" RECORD_KVM "'", trace->path);
}

/** Times of a trace.dat are what its clock gave. */
static int64_t kvm_tsc_ns(const struct host_trace *trace, uint64_t tsc)
{
	(void)trace;
	return tsc > INT64_MAX ? INT64_MAX : (int64_t)tsc;
}

static bool kvm_moment(const struct host_trace *trace, struct host_moment *moment)
{
	const struct kvm_meta *meta = kvm_trace_meta(trace->kvm);

	if (!meta || !meta->has_moment)
		return false;
	*moment = (struct host_moment){
		.trace_ns = meta->trace_ns, .realtime_ns = meta->realtime_ns,
		.within_ns = meta->within_ns,
	};
	return true;
}

static int kvm_n_pcpus(const struct host_trace *trace)
{
	return kvm_trace_n_cpus(trace->kvm);
}

const struct host_kind host_kvm = {
	.hypervisor = "kvm",
	.open = kvm_open,
	.close = kvm_close,
	.walk = kvm_walk,
	.notes = kvm_notes,
	.tsc_ns = kvm_tsc_ns,
	.moment = kvm_moment,
	.n_pcpus = kvm_n_pcpus,
};
