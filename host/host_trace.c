// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_trace.c
 * @brief	The trace of a host, whichever hypervisor wrote it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "host_notes.h"
#include "host_private.h"
#include "trace_dat.h"

int host_options_from_env(struct host_options *options, char *error, size_t size)
{
	struct xen_trace_options xen = {
		.cpu_hz = options->cpu_hz, .absolute_time = options->absolute_time,
		.correct_skew = options->correct_skew, .reader.max_input = options->max_input,
	};
	int ret = xen_trace_options_from_env(&xen, error, size);

	options->cpu_hz = xen.cpu_hz;
	options->absolute_time = xen.absolute_time;
	options->correct_skew = xen.correct_skew;
	options->max_input = xen.reader.max_input;
	return ret;
}

static int set_path(struct host_trace *trace, const char *path, char *error, size_t size)
{
	trace->path = strdup(path);
	if (trace->path)
		return 0;
	snprintf(error, size, "not enough memory");
	return -1;
}

bool host_contradicts_hz(const struct kvm_trace *trace, uint64_t cpu_hz, char *error, size_t size)
{
	const struct kvm_meta *meta = kvm_trace_meta(trace);
	const char *path = kvm_trace_path(trace), *source = "sidecar";
	uint64_t known_hz = meta ? meta->cpu_khz * 1000 : 0;
	struct trace_dat_scale scale;
	char text[HZ_CONTRADICTION];

	if (!cpu_hz || !kvm_trace_is_host(trace))
		return false;
	if (!known_hz && trace_dat_find_scale(path, &scale) && scale.mult && scale.shift < 32) {
		known_hz = (1000000000ULL << scale.shift) / scale.mult;
		source = "scale of cycles in the file";
	}
	if (!known_hz || !hz_contradicts(cpu_hz, known_hz, 0, source, text, sizeof(text)))
		return false;
	text_format(error, size, "%s: %s", path, text);
	return true;
}

int host_trace_open(struct host_trace *trace, const char *path,
		    const struct host_options *options, char *error, size_t size)
{
	*trace = (struct host_trace){ .kind = trace_dat_is(path) ? &host_kvm : &host_xen };
	if (!set_path(trace, path, error, size) &&
	    !trace->kind->open(trace, options, error, size) &&
	    (!trace->kvm || !host_contradicts_hz(trace->kvm, options->cpu_hz, error, size)))
		return 0;
	host_trace_close(trace);
	return -1;
}

int host_trace_take_kvm(struct host_trace *trace, struct kvm_trace *kvm, char *error, size_t size)
{
	*trace = (struct host_trace){ .kind = &host_kvm, .kvm = kvm };
	if (!set_path(trace, kvm_trace_path(kvm), error, size))
		return 0;
	host_trace_close(trace);
	return -1;
}

void host_trace_close(struct host_trace *trace)
{
	if (trace->kind)
		trace->kind->close(trace);
	free(trace->path);
	memset(trace, 0, sizeof(*trace));
}

int host_trace_walk(struct host_trace *trace, const struct host_walk *walk)
{
	return trace->kind->walk(trace, walk, NULL);
}

const char *host_trace_problem(int ret)
{
	return kvm_trace_problem(ret);
}

int host_trace_model(struct host_trace *trace, const struct host_walk *walk,
		     struct virt_model **model)
{
	static const struct host_walk nothing;

	return trace->kind->walk(trace, walk ? walk : &nothing, model);
}

const char *host_trace_hypervisor(const struct host_trace *trace)
{
	return trace->kind->hypervisor;
}

void host_trace_notes(const struct host_trace *trace, const struct virt_model *model,
		      int max_lines, struct trace_notes *notes)
{
	trace->kind->notes(trace, model, max_lines, notes);
	host_note_model(model, trace->path, notes);
}

int64_t host_trace_tsc_ns(const struct host_trace *trace, uint64_t tsc)
{
	return trace->kind->tsc_ns(trace, tsc);
}

bool host_trace_moment(const struct host_trace *trace, struct host_moment *moment)
{
	return trace->kind->moment && trace->kind->moment(trace, moment);
}

bool host_trace_realtime(const struct host_trace *trace, int64_t *ns)
{
	struct host_moment moment;

	return host_trace_moment(trace, &moment) &&
	       !__builtin_sub_overflow(moment.realtime_ns, moment.trace_ns, ns);
}

int host_trace_n_pcpus(const struct host_trace *trace)
{
	return trace->kind->n_pcpus(trace);
}

bool host_trace_changed(const struct host_trace *trace, char *text, size_t size)
{
	return trace->kind->changed && trace->kind->changed(trace, text, size);
}
