// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_align.c
 * @brief	Align a stream with that of its host, and judge how they are aligned.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align_try.h"
#include "escape.h"
#include "host_trace.h"
#include "trace_dat.h"
#include "virt_align.h"

static void say(struct virt_align_result *result, const char *text)
{
	snprintf(result->text, sizeof(result->text), "%s", text);
}

/* --- the clock of a stream ------------------------------------------------------------------- */

/**
 * How KernelShark shows the host's cycles: as ns of its TSC, or as they are, with the same offset.
 *
 * Return: false if that cannot be found out.
 */
static bool find_host_clock(const char *host, int64_t *parts, struct virt_align_result *result)
{
	struct host_options options = { .has_threads = true };
	struct host_trace trace;

	host_options_from_env(&options, result->text, sizeof(result->text));
	if (host_trace_open(&trace, host, &options, result->text, sizeof(result->text)))
		return false;
	result->text[0] = '\0';
	if (trace.xen) {
		parts[KS_CLOCK_HZ] = (int64_t)xen_trace_clock(trace.xen)->hz;
		parts[KS_CLOCK_BASE] = (int64_t)xen_trace_clock(trace.xen)->base_tsc;
	} else if (kvm_trace_unit(trace.kvm) == TRACE_DAT_CYCLES) {
		parts[KS_CLOCK_HZ] = (int64_t)kvm_trace_hz(trace.kvm);
	}
	if (!parts[KS_CLOCK_HZ])
		parts[KS_CLOCK_OFFSET] = parts[KS_CLOCK_FOUND];
	host_trace_close(&trace);
	return true;
}

/** Behind what has its place. Return: how many parts there are then. */
static size_t put_tail(const struct align_meta *meta, int64_t *parts, size_t n)
{
	if (meta->at)
		parts[n++] = meta->at;
	if (!meta->n_steps)
		return n;
	parts[n++] = (int64_t)meta->n_steps;
	for (size_t i = 0; i < meta->n_steps; i++, n += KS_CLOCK_STEP_PARTS) {
		parts[n + KS_CLOCK_STEP_CPU] = meta->steps[i].cpu;
		parts[n + KS_CLOCK_STEP_BACK] = meta->steps[i].back;
		parts[n + KS_CLOCK_STEP_FROM] = meta->steps[i].from;
		parts[n + KS_CLOCK_STEP_ADD] = meta->steps[i].add;
	}
	return n;
}

static void make_clock(const struct align_meta *meta, const char *host,
		       struct virt_align_result *result)
{
	int n_tids = meta->n_tids < KS_CLOCK_MAX_TIDS ? meta->n_tids : KS_CLOCK_MAX_TIDS;
	size_t n = KS_CLOCK_TIDS + (size_t)n_tids;
	int64_t *parts = calloc(n + 2 + KS_CLOCK_STEP_PARTS * meta->n_steps, sizeof(*parts));
	int source = align_source_find(meta->source);

	if (!parts) {
		say(result, "not enough memory");
		return;
	}
	parts[KS_CLOCK_MAGIC] = KS_CLOCK_IS_OURS;
	parts[KS_CLOCK_FLAGS] = KS_CLOCK_ALIGNED | (meta->after_trace_cmd ? 0 : KS_CLOCK_HIDES) |
				(meta->cycles ? KS_CLOCK_CYCLES : 0) |
				(meta->at ? KS_CLOCK_AT : 0) |
				(meta->n_steps ? KS_CLOCK_STEPS : 0);
	parts[KS_CLOCK_SOURCE] = source < 0 ? ALIGN_AUTO : source;
	parts[KS_CLOCK_FOUND] = meta->offset;
	parts[KS_CLOCK_LO] = meta->lo;
	parts[KS_CLOCK_HI] = meta->hi;
	parts[KS_CLOCK_DRIFT] = (int64_t)(meta->drift_ppm * 1e6 + (meta->drift_ppm < 0 ? -.5 : .5));
	parts[KS_CLOCK_HOST] = ks_clock_key(meta->host);
	parts[KS_CLOCK_N_TIDS] = n_tids;
	for (int i = 0; i < n_tids; i++)
		parts[KS_CLOCK_TIDS + i] = meta->tids[i];
	n = put_tail(meta, parts, n);
	if (meta->cycles) {
		if (!find_host_clock(host, parts, result)) {
			free(parts);
			return;
		}
	} else {
		parts[KS_CLOCK_OFFSET] = meta->offset;
	}
	result->clock = (struct ks_clock){ parts, n };
}

bool virt_align_stored_host(const char *guest, struct virt_align_host *host)
{
	struct align_meta *meta;

	host->text[0] = '\0';
	align_meta_read(guest, &meta, host->text, sizeof(host->text));
	if (!meta)
		return false;
	snprintf(host->text, sizeof(host->text), "%s", meta->host);
	align_meta_free(meta);
	return true;
}

void virt_align_stored(const char *host, const char *guest, struct virt_align_result *result)
{
	struct align_meta *meta;

	memset(result, 0, sizeof(*result));
	if (!align_meta_read(guest, &meta, result->text, sizeof(result->text)) && meta)
		make_clock(meta, host, result);
	align_meta_free(meta);
}

const char *virt_align_source(const int64_t *parts)
{
	int64_t source = parts[KS_CLOCK_SOURCE];

	return source > ALIGN_AUTO && source < ALIGN_N_SOURCES ?
	       align_source_name((enum align_source)source) : "the sidecar";
}

int virt_align_store(const char *host, const char *guest, const int64_t *parts, char *error,
		     size_t size)
{
	const char *slash = strrchr(host, '/');
	struct align_meta meta = {
		.host = strdup(slash ? slash + 1 : host),
		.source = strdup(virt_align_source(parts)),
		.cycles = parts[KS_CLOCK_FLAGS] & KS_CLOCK_CYCLES,
		.after_trace_cmd = !(parts[KS_CLOCK_FLAGS] & KS_CLOCK_HIDES),
		.at = ks_clock_at(parts), .offset = parts[KS_CLOCK_FOUND],
		.lo = parts[KS_CLOCK_LO], .hi = parts[KS_CLOCK_HI],
		.drift_ppm = (double)parts[KS_CLOCK_DRIFT] / 1e6,
		.tids = calloc((size_t)parts[KS_CLOCK_N_TIDS] + 1, sizeof(*meta.tids)),
		.n_tids = (int)parts[KS_CLOCK_N_TIDS],
		.steps = calloc(ks_clock_n_steps(parts) + 1, sizeof(*meta.steps)),
	};
	int ret = -ENOMEM;

	snprintf(error, size, "not enough memory");
	for (int i = 0; meta.tids && i < meta.n_tids; i++)
		meta.tids[i] = (int)parts[KS_CLOCK_TIDS + i];
	for (; meta.steps && meta.n_steps < ks_clock_n_steps(parts); meta.n_steps++)
		meta.steps[meta.n_steps] = ks_clock_step(parts, meta.n_steps);
	if (meta.host && meta.source && meta.tids && meta.steps)
		ret = align_meta_write(guest, &meta, error, size);
	free(meta.host);
	free(meta.source);
	free(meta.tids);
	free(meta.steps);
	return ret;
}

/* --- aligning -------------------------------------------------------------------------------- */

static int take_rows(void *arg, const struct xen_trace_row *rows, size_t n)
{
	align_pair_xen(arg, rows, n);
	return 0;
}

static int take_record(void *arg, const struct kvm_trace_record *record)
{
	align_pair_kvm(arg, record);
	return 0;
}

static int is_stopped(void *arg, uint64_t done, uint64_t total)
{
	const struct align_stop *stop = &((struct align_pair *)arg)->stop;

	(void)done;
	(void)total;
	return stop->asked && stop->asked(stop->arg) ? -ECANCELED : 0;
}

/** Return: the model, or NULL and a text. */
static struct virt_model *load_host(const char *path, struct host_trace *host,
				    struct align_pair *pair, struct virt_align_result *result)
{
	const struct host_options options = {
		.cpu_hz = HZ_CYCLES_AS_NS, .absolute_time = true, .has_threads = true,
		.progress = is_stopped, .arg = pair,
	};
	const struct host_walk walk = {
		.rows = take_rows, .record = take_record, .progress = is_stopped, .arg = pair,
	};
	struct virt_model *model = NULL;
	int ret;

	if (host_trace_open(host, path, &options, result->text, sizeof(result->text)))
		return NULL;
	ret = host_trace_model(host, &walk, &model);
	if (ret)
		text_format(result->text, sizeof(result->text), "%s: %s", path,
			    ret == -ECANCELED ? "cancelled" : host_trace_problem(ret));
	return model;
}

static void try_pair(struct align_pair *pair, struct kvm_trace *guest, const char *host,
		     struct virt_align_result *result)
{
	int ret = align_pair_try(pair, guest);
	struct align_meta *meta;
	const char *refused = ret ? NULL : align_pair_refusal(pair);

	align_pair_doubt(pair, result->text, sizeof(result->text));
	if (ret)
		say(result, ret == -ECANCELED ? "cancelled" :
		    ret == -EINVAL ? "the guest's times, or the host's, are impossible" :
		    host_trace_problem(ret));
	else if (pair->other_machine >= 0)
		text_format(result->text, sizeof(result->text), "%s and %s of its host fit as "
			    "well as each other. Choose which one it is in Plots > Virtual machine "
			    "combos, and align again",
			    virt_model_machine(pair->model, pair->best.machine)->name,
			    virt_model_machine(pair->model, pair->other_machine)->name);
	else if (refused)
		snprintf(result->text, sizeof(result->text), "%s (best: %.3f %% of the guest's "
			 "events)", refused, pair->best.alignment.explained_percent);
	if (ret || refused)
		return;
	meta = align_pair_meta(pair, host);
	if (meta)
		make_clock(meta, host, result);
	else
		say(result, "not enough memory");
	align_meta_free(meta);
}

void virt_align_files(const struct virt_align_files *files, struct virt_align_result *result)
{
	struct align_pair pair = {
		.source = ALIGN_AUTO, .chosen_pid = files->chosen_pid,
		.stop = { files->stop, files->arg },
	};
	struct host_trace host = { 0 };
	struct kvm_trace *guest = NULL;
	struct virt_model *model = NULL;

	memset(result, 0, sizeof(*result));
	if (align_pair_begin(&pair, files->host, files->guest, result->text,
			     sizeof(result->text)))
		return;
	guest = kvm_trace_open_by_program(files->guest, result->text,
					  sizeof(result->text));
	if (guest && pair.cycles)
		kvm_trace_set_hz(guest, HZ_CYCLES_AS_NS);
	model = guest ? load_host(files->host, &host, &pair, result) : NULL;
	if (model) {
		pair.model = model;
		pair.host = host.kvm;
		try_pair(&pair, guest, files->host, result);
	}
	align_pair_free(&pair);
	virt_model_free(model);
	kvm_trace_close(guest);
	host_trace_close(&host);
}

void virt_align_result_free(struct virt_align_result *result)
{
	free(result->clock.parts);
	memset(result, 0, sizeof(*result));
}

/* --- judging --------------------------------------------------------------------------------- */

/** The number of a vCPU within a machine, or VIRT_NONE. */
static int32_t place_of(const struct virt_machine *machine, int32_t vcpu)
{
	for (int32_t i = 0; i < machine->n_vcpus; i++)
		if (machine->vcpus[i] == vcpu)
			return i;
	return VIRT_NONE;
}

static int32_t machine_of(const struct virt_model *model, const struct virt_align_cpu *cpus,
			  int32_t n_cpus)
{
	for (int32_t c = 0; c < n_cpus; c++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(model, cpus[c].vcpu);

		if (vcpu)
			return vcpu->machine;
	}
	return VIRT_NONE;
}

int virt_align_judge(const struct virt_model *model, const struct virt_align_cpu *cpus,
		     int32_t n_cpus, int64_t offset, struct virt_clock_alignment *alignment)
{
	int32_t number = machine_of(model, cpus, n_cpus);
	struct align_machine *machine = number >= 0 ? align_machine_new(model, number, NULL) : NULL;
	struct virt_clock_cpu *judged = calloc((size_t)n_cpus + 1, sizeof(*judged));
	struct virt_clock_evidence *evidence = calloc((size_t)n_cpus + 1, sizeof(*evidence));
	struct virt_clock_problem problem = { 0 };
	int ret = number < 0 ? -ENOENT : -ENOMEM;

	if (!machine || !judged || !evidence)
		goto end;
	for (int32_t c = 0; c < n_cpus; c++)
		judged[c] = (struct virt_clock_cpu){
			.times = cpus[c].times, .n = cpus[c].n,
			.vcpu = place_of(virt_model_machine(model, number), cpus[c].vcpu),
		};
	problem = (struct virt_clock_problem){
		.vcpus = machine->vcpus, .n_vcpus = machine->n, .cpus = judged, .n_cpus = n_cpus,
	};
	ret = virt_clock_judge(&problem, offset, 0, alignment, evidence);
end:
	align_machine_free(machine);
	free(judged);
	free(evidence);
	return ret;
}
