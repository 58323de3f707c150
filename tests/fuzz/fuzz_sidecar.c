/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_sidecar.c
 * @brief	Any bytes as a sidecar: what Xen's and KVM's say, how a clock is aligned, and which
 *		of two sidecars counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "align_meta.h"
#include "escape.h"
#include "json_read.h"
#include "kvm_meta.h"
#include "kvm_part_json.h"
#include "sidecar.h"
#include "virt_part.h"
#include "xen_meta.h"
#include "xen_part.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char trace_path[64];
static char *meta_path;

/** The trace that is beside some of the sidecars: its size, and when it was written. */
#define TRACE_BYTES	8
#define TRACE_S		1

static void remove_files(void)
{
	unlink(meta_path);
	unlink(trace_path);
}

static void begin(void)
{
	snprintf(trace_path, sizeof(trace_path), "%s/ksv-fuzz-sidecar-%d",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
	meta_path = sidecar_path(trace_path);
	if (!meta_path)
		abort();
	atexit(remove_files);
}

/** A sidecar that names its trace has one; all others count without. */
static void put_trace(bool is_there)
{
	static const struct timespec written[2] = { { .tv_sec = TRACE_S }, { .tv_sec = TRACE_S } };
	static bool was_there;

	if (is_there == was_there)
		return;
	was_there = is_there;
	if (!is_there) {
		unlink(trace_path);
		return;
	}
	fclose(fopen(trace_path, "w"));
	if (truncate(trace_path, TRACE_BYTES) || utimensat(AT_FDCWD, trace_path, written, 0))
		abort();
}

/** More would only take longer. */
#define MAX_VCPUS	200

/** Whatever it says, a model comes of it, whose vCPUs' states fill each window. */
static void check_model_of(const struct virt_part *part)
{
	struct virt_model *model = virt_model_new();

	for (int32_t i = 0; i < part->n_vcpus; i++)
		virt_model_add_vcpu(model, virt_model_add_machine(model, i % 3, "m"), i, i, "v");
	if (virt_part_begin(part, model))
		abort();
	if (virt_part_finish(part, model)) {
		virt_model_free(model);
		return;
	}
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
		struct virt_interval_range all = virt_vcpu_intervals(model, i, INT64_MIN,
								     INT64_MAX);
		struct virt_totals totals;
		int64_t ns = part->to_ns - part->from_ns;

		virt_vcpu_totals(model, i, part->from_ns, part->to_ns, &totals);
		for (int state = 0; state < VIRT_N_STATES; state++)
			ns -= totals.ns[state];
		if (ns)
			abort();
		for (size_t k = 1; k < all.n; k++)
			if (all.first[k].start_ns < all.first[k - 1].start_ns)
				abort();
	}
	virt_model_free(model);
}

/** What can be read can be written, and is the same then. */
static void check_part(const struct xen_part *part)
{
	struct json_object *root = json_object_new_object(), *written = xen_part_write(part);
	struct json_object *again;
	struct xen_part *copy;
	char error[256];

	json_object_object_add(root, "part", written);
	if (xen_part_read(root, "again", &copy, error, sizeof(error)) || !copy)
		abort();
	again = xen_part_write(copy);
	if (strcmp(json_object_to_json_string(written), json_object_to_json_string(again)) != 0)
		abort();
	json_object_put(again);
	json_object_put(root);
	xen_part_free(copy);
	if (part->model && part->model->n_vcpus <= MAX_VCPUS)
		check_model_of(part->model);
}

static void check_xen(void)
{
	char error[256] = "";
	struct xen_meta *meta = xen_meta_load(meta_path, error, sizeof(error));

	if (!meta && errno == EINVAL && strncmp(error, meta_path, strlen(meta_path)) != 0)
		abort();
	for (int i = 0; meta && i < meta->n_domains; i++) {
		const struct xen_meta_domain *domain = &meta->domains[i];

		if (!isfinite(domain->tsc_scale) || domain->tsc_scale < 0 ||
		    (!domain->name && !(domain->tsc_scale > 0) && !domain->n_vcpus) ||
		    (i && domain->id < meta->domains[i - 1].id))
			abort();
	}
	if (meta && meta->part)
		check_part(meta->part);
	xen_meta_free(meta);
}

static void check_kvm_part(const struct kvm_part *part)
{
	struct json_object *root = json_object_new_object(), *written = kvm_part_write(part);
	struct json_object *again;
	struct kvm_part *copy;
	char error[256];

	json_object_object_add(root, "part", written);
	if (kvm_part_read(root, "again", &copy, error, sizeof(error)) || !copy)
		abort();
	again = kvm_part_write(copy);
	if (strcmp(json_object_to_json_string(written), json_object_to_json_string(again)) != 0)
		abort();
	json_object_put(again);
	json_object_put(root);
	kvm_part_free(copy);
}

/** What can be read can be written, and is the same then. */
static void check_kvm(void)
{
	struct kvm_meta *meta, *again;
	char error[256] = "";

	if (kvm_meta_read(trace_path, &meta, error, sizeof(error))) {
		if (meta || strncmp(error, meta_path, strlen(meta_path)) != 0)
			abort();
		return;
	}
	if (!meta)
		return;
	if (meta->part)
		check_kvm_part(meta->part);
	if (kvm_meta_write(trace_path, meta, error, sizeof(error)) ||
	    kvm_meta_read(trace_path, &again, error, sizeof(error)) || !again ||
	    again->n_guests != meta->n_guests || again->cpu_khz != meta->cpu_khz ||
	    again->threads.n_keys != meta->threads.n_keys)
		abort();
	for (uint32_t i = 0; i < meta->threads.n_keys; i++) {
		int32_t tid = (int32_t)meta->threads.keys[i];
		const struct kvm_meta_vcpu *old = kvm_meta_find(meta, tid, NULL);
		const struct kvm_meta_vcpu *new = kvm_meta_find(again, tid, NULL);

		if (!old || !new || old->id != new->id || old->has_tsc != new->has_tsc ||
		    (old->has_tsc && (old->tsc_offset != new->tsc_offset ||
				      old->tsc_ratio != new->tsc_ratio)))
			abort();
	}
	kvm_meta_free(meta);
	kvm_meta_free(again);
}

/** Each other byte is read as it is, for messages, and written as U+FFFD. */
static bool is_utf8(const char *text)
{
	uint32_t code;

	for (size_t n; *text; text += n) {
		n = text_char(text, strlen(text), &code);
		if (!n)
			return false;
	}
	return true;
}

static void check_alignment(void)
{
	struct align_meta *meta = NULL, *again = NULL;
	char error[256] = "";
	int ret = align_meta_read(trace_path, &meta, error, sizeof(error));

	if (ret ? !error[0] || meta : meta && (!meta->host || !isfinite(meta->drift_ppm)))
		abort();
	/* what can be read can be written, and is the same then; something new is not lost */
	if (!meta)
		return;
	meta->after_trace_cmd = !meta->after_trace_cmd;
	if (align_meta_write(trace_path, meta, error, sizeof(error)) ||
	    align_meta_read(trace_path, &again, error, sizeof(error)) || !again ||
	    again->offset != meta->offset || again->n_tids != meta->n_tids ||
	    again->after_trace_cmd != meta->after_trace_cmd ||
	    (is_utf8(meta->host) && strcmp(again->host, meta->host) != 0))
		abort();
	align_meta_free(meta);
	align_meta_free(again);
}

/** Whichever counts: written again, it counts, and is the same. */
static void check_which_counts(void)
{
	struct json_object *root, *again;
	char error[256];

	if (json_read_file(meta_path, &root, error, sizeof(error)))
		return;
	if (json_write_file(meta_path, root, error, sizeof(error)) ||
	    json_read_file(meta_path, &again, error, sizeof(error)) ||
	    strcmp(json_object_to_json_string(root), json_object_to_json_string(again)) != 0)
		abort();
	json_object_put(root);
	json_object_put(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char names_trace[] = "trace_";
	FILE *out;

	if (!meta_path)
		begin();
	put_trace(memmem(data, size, names_trace, strlen(names_trace)));
	out = fopen(meta_path, "w");
	if (!out)
		abort();
	fwrite(data, 1, size, out);
	fclose(out);
	check_xen();
	check_alignment();
	check_kvm();
	check_which_counts();
	return 0;
}
