// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The vCPU model of a file as CSV, of xentrace or of a KVM host, for the tests of what is drawn:
 * kind (vcpu, pcpu, migration), number (pid, pCPU, pid), begin and end in ns, state. A pCPU's state
 * is that of the vCPU there, "nothing" if there is none.
 */
#include <stdio.h>
#include <stdlib.h>

#include <libkshark.h>

#include "kvm_stream.h"
#include "virt_model.h"
#include "virt_registry.h"
#include "xen_trace.h"
#include "xen_tracker.h"
#include "xentrace_reader.h"

static void print_vcpu(const struct virt_model *model, int32_t vcpu, const char *kind, int number,
		       int64_t from, int64_t to)
{
	struct virt_interval_range range = virt_vcpu_intervals(model, vcpu, from, to);

	for (size_t i = 0; i < range.n; i++) {
		int64_t start = range.first[i].start_ns;
		int64_t end = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		printf("%s,%d,%lld,%lld,%s\n", kind, number,
		       (long long)(start > from ? start : from), (long long)(end < to ? end : to),
		       virt_state_name(range.first[i].state));
	}
}

static void print_pcpu(const struct virt_model *model, int32_t pcpu, int64_t from, int64_t to)
{
	struct virt_occupant_range range = virt_pcpu_occupants(model, pcpu, from, to);

	for (size_t i = 0; i < range.n; i++) {
		const struct virt_occupant *occupant = &range.first[i];
		int64_t end = i + 1 < range.n ? occupant[1].start_ns : range.end_ns;

		if (virt_model_vcpu(model, occupant->vcpu))
			print_vcpu(model, occupant->vcpu, "pcpu", pcpu, occupant->start_ns, end);
		else
			printf("pcpu,%d,%lld,%lld,%s\n", pcpu, (long long)occupant->start_ns,
			       (long long)end, occupant->known ? "nothing" : "unknown");
	}
}

static void print_migrations(const struct virt_model *model, int32_t vcpu, int pid)
{
	struct virt_migration_range range =
		virt_vcpu_migrations(model, vcpu, INT64_MIN, INT64_MAX);

	for (size_t i = 0; i < range.n; i++)
		printf("migration,%d,%lld,%lld,%d>%d\n", pid,
		       (long long)(range.first[i].time_ns - range.first[i].gap_ns),
		       (long long)range.first[i].time_ns, range.first[i].from, range.first[i].to);
}

static struct virt_model *load_xen(const char *file)
{
	struct xen_trace_options options = { 0 };
	struct virt_model *model = NULL;
	struct xen_trace *trace = NULL;
	char error[512] = "";

	if (!xen_trace_options_from_env(&options, error, sizeof(error)))
		trace = xen_trace_open(file, &options, error, sizeof(error));
	if (!trace || xen_tracker_build(trace, &model))
		fprintf(stderr, "%s: cannot make a model: %s\n", file, error);
	if (trace)
		xen_trace_close(trace);
	return model;
}

/** As KernelShark loads it; what is left over goes with the process. */
static const struct virt_model *load_kvm(const char *file)
{
	struct kshark_context *kshark = NULL;
	struct kshark_entry **rows = NULL;
	struct virt_shared *shared = NULL;
	int id;

	if (!kshark_instance(&kshark))
		return NULL;
	id = kshark_open(kshark, file);
	if (id >= 0 && kvm_stream_attach(kshark_get_data_stream(kshark, id)) == 1 &&
	    kshark_load_entries(kshark, id, &rows) > 0)
		shared = virt_registry_get(id);
	if (!shared)
		fprintf(stderr, "%s: cannot make a model\n", file);
	return shared ? virt_shared_model(shared) : NULL;
}

int main(int argc, char **argv)
{
	const struct virt_model *model;
	int64_t from, to;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE\n", argv[0]);
		return 2;
	}
	model = xentrace_check(argv[1]) ? load_xen(argv[1]) : load_kvm(argv[1]);
	if (!model)
		return 1;
	from = virt_model_begin(model);
	to = virt_model_end(model);
	printf("kind,number,from,to,state\n");
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
		int pid = virt_model_vcpu(model, i)->host_pid;

		print_vcpu(model, i, "vcpu", pid, from, to);
		print_migrations(model, i, pid);
	}
	for (int32_t i = 0; i < virt_model_n_pcpus(model); i++)
		print_pcpu(model, i, from, to);
	return 0;
}
