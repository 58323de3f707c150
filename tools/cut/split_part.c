// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	split_part.c
 * @brief	Keep facts about a whole trace beside a part of it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "json_read.h"
#include "split.h"
#include "xen_tracker.h"

/** Has a machine VM entries and exits? */
static bool has_exits(const struct virt_model *model, const struct virt_machine *machine)
{
	for (int32_t i = 0; i < machine->n_vcpus; i++) {
		struct virt_interval_range all = virt_vcpu_intervals(model, machine->vcpus[i],
								     INT64_MIN, INT64_MAX);

		for (size_t n = 0; n < all.n; n++)
			if (all.first[n].flags & VIRT_INTERVAL_EXIT ||
			    all.first[n].state == VIRT_HYPERVISOR)
				return true;
	}
	return false;
}

static int add_vcpus(struct xen_part *part, const struct virt_model *whole)
{
	int32_t n = virt_model_n_vcpus(whole);

	part->vcpus = calloc((size_t)n + 1, sizeof(*part->vcpus));
	if (!part->vcpus)
		return -ENOMEM;
	for (int32_t m = 0; m < virt_model_n_machines(whole); m++) {
		const struct virt_machine *machine = virt_model_machine(whole, m);
		bool hvm = has_exits(whole, machine);

		for (int32_t i = 0; i < machine->n_vcpus; i++) {
			int32_t vcpu = machine->vcpus[i];

			part->vcpus[vcpu] = (struct xen_part_vcpu){
				.vcpu = (xen_vcpu)machine->id << 16 |
					(xen_vcpu)virt_model_vcpu(whole, vcpu)->id,
				.hvm = hvm,
			};
		}
	}
	return 0;
}

/** What the reader of a cut file knows of the ends of its pCPUs. */
static int add_pcpus(struct xen_part *part, const struct split_cut *cut)
{
	const struct xentrace *reader = xen_trace_reader(cut->trace);
	const struct xen_clock *clock = xen_trace_clock(cut->trace);

	for (int i = 0; i < cut->n_firsts; i++) {
		struct xen_part_pcpu *pcpu = xen_part_pcpu(part, cut->firsts[i].pcpu);

		if (!pcpu)
			return -ENOMEM;
		*pcpu = cut->firsts[i];
	}
	for (int i = 0; i < xentrace_n_pcpus(reader); i++) {
		const struct xentrace_pcpu *of = xentrace_pcpu_at(reader, i);
		struct xen_part_pcpu *pcpu = xen_part_pcpu(part, of->pcpu);

		if (!pcpu)
			return -ENOMEM;
		if (of->known_tsc != UINT64_MAX && xen_clock_ns(clock, of->known_tsc) < cut->to_ns)
			pcpu->known_tsc = of->known_tsc;
	}
	return 0;
}

/** Pieces of traces that are parts themselves: these pCPUs are not there either. */
static int inherit_left_out(struct virt_part *model, const struct xen_trace *trace)
{
	const struct xen_part *part = xen_trace_part(trace);
	int ret = 0;

	for (int32_t i = 0; part && part->model && i < part->model->n_left_out && !ret; i++)
		if (part->model->left_out[i])
			ret = virt_part_leave_out(model, i);
	return ret;
}

static int begin_part(struct xen_part *part, const struct split_cut *cut,
		      const struct virt_model *whole)
{
	const struct xentrace *reader = xen_trace_reader(cut->trace);
	int ret;

	part->has_clock = true;
	part->clock = *xen_trace_clock(cut->trace);
	part->n_pcpus = xen_trace_n_pcpus(cut->trace);
	part->isa = xen_trace_isa(cut->trace);
	part->scheduler = xen_trace_first(cut->trace)->scheduler;
	part->has_whole = true;
	part->whole_tsc = xentrace_whole_tsc(reader);
	part->records = cut->n_records;
	part->model = virt_part_of(whole, cut->from_ns, cut->to_ns);
	if (!part->model)
		return -ENOMEM;
	ret = inherit_left_out(part->model, cut->trace);
	if (!ret)
		ret = xen_part_set_cores(part, xen_trace_cores(cut->trace));
	if (!ret)
		ret = add_vcpus(part, whole);
	return ret ? ret : add_pcpus(part, cut);
}

/* ---- the model of the part alone ---- */

/** A file without a name, to be read by one. */
struct unnamed {
	int		fd;
	char		path[32];
};

static int make_unnamed(struct unnamed *file, int fd)
{
	file->fd = fd;
	snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", fd);
	return fd < 0 ? -errno : 0;
}

static int write_sidecar(const struct unnamed *file, const struct split_cut *cut, const char *path,
			 const struct xen_part *part)
{
	struct json_object *root;
	const char *text;
	int ret = split_sidecar(cut->trace, path, part, &root);

	if (ret)
		return ret;
	text = json_object_to_json_string(root);
	if (!text || write(file->fd, text, strlen(text)) != (ssize_t)strlen(text))
		ret = -ENOMEM;
	json_object_put(root);
	return ret;
}

static int read_model(const struct unnamed *trace, const struct unnamed *sidecar, bool absolute,
		      struct virt_model **model)
{
	const struct xen_trace_options options = {
		.meta_path = sidecar->path, .absolute_time = absolute,
		.reader.regular_only = true,
	};
	char error[512] = "";
	struct xen_trace *part = xen_trace_open(trace->path, &options, error, sizeof(error));
	int ret = part ? xen_tracker_build(part, model) : -errno;

	xen_trace_close(part);
	return ret;
}

int split_finish_part(struct xen_part *part, const struct split_cut *cut, const char *path,
		      const struct virt_model *whole, int fd)
{
	struct unnamed trace, sidecar = { .fd = -1 };
	struct virt_model *rest = NULL;
	int ret = make_unnamed(&trace, fd);

	if (!ret)
		ret = make_unnamed(&sidecar, memfd_create("kshark-virt", MFD_CLOEXEC));
	if (!ret)
		ret = write_sidecar(&sidecar, cut, path, part);
	if (!ret)
		ret = read_model(&trace, &sidecar, !part->clock.base_tsc, &rest);
	if (sidecar.fd >= 0)
		close(sidecar.fd);
	if (!ret)
		ret = virt_part_compare(part->model, whole, rest);
	virt_model_free(rest);
	return ret;
}

struct xen_part *split_begin_part(const struct split_cut *cut, const struct virt_model *whole)
{
	struct xen_part *part = calloc(1, sizeof(*part));

	if (part && !begin_part(part, cut, whole))
		return part;
	xen_part_free(part);
	return NULL;
}
