// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_part_write.c
 * @brief	Write the member "part" of a sidecar.
 */
#include <errno.h>

#include "json_read.h"
#include "virt_part_json.h"
#include "xen_cores.h"
#include "xen_part.h"
#include "xen_part_words.h"

/** Which one each vCPU is. Return: NULL without memory. */
static struct json_object *make_vcpus(const struct xen_part *part)
{
	struct json_object *list = json_object_new_array();
	int ret = list ? 0 : -ENOMEM;

	for (int32_t i = 0; i < part->model->n_vcpus && !ret; i++) {
		struct json_object *object = json_object_new_object();
		xen_vcpu vcpu = part->vcpus[i].vcpu;

		ret = json_add(list, NULL, object);
		if (!ret)
			ret = json_add(object, "domain",
				       json_object_new_int64(xen_vcpu_domid(vcpu)));
		if (!ret)
			ret = json_add(object, "id", json_object_new_int64(xen_vcpu_id(vcpu)));
		if (!ret && part->vcpus[i].hvm)
			ret = json_add(object, "hvm", json_object_new_boolean(1));
	}
	if (!ret)
		return list;
	json_object_put(list);
	return NULL;
}

/** What only Xen's traces have. */
static int add_xen(struct json_object *root, const struct xen_part *part)
{
	int ret = part->scheduler ? json_add(root, "scheduler", json_object_new_boolean(1)) : 0;

	if (!ret)
		ret = json_add(root, "n_pcpus", json_object_new_int(part->n_pcpus));
	if (!ret)
		ret = json_add(root, "isa", json_object_new_string(xen_part_isa(part->isa)));
	return ret;
}

/** pCPUs that Xen schedules together. */
static int add_cores(struct json_object *root, const struct xen_part *part)
{
	struct json_object *list = json_object_new_array();
	int ret = json_add(root, "cores", list);

	for (uint32_t i = 0; part->cores && i < part->cores->n_cores && !ret; i++) {
		const struct xen_core *core = &part->cores->cores[i];
		struct json_object *object = json_object_new_object();
		struct json_object *pcpus = json_object_new_array();

		ret = json_add(list, NULL, object);
		ret |= json_add(ret ? NULL : object, "pcpus", pcpus);
		for (uint32_t k = 0; k < core->n_pcpus && !ret; k++)
			ret = json_add(pcpus, NULL, json_object_new_int(core->pcpus[k].pcpu));
		if (!ret && core->known)
			ret = json_add(object, "known", json_object_new_boolean(1));
	}
	return ret;
}

static int add_clock(struct json_object *root, const struct xen_clock *clock)
{
	struct json_object *object = json_object_new_object();
	int ret = json_add(root, "clock", object);

	if (!ret)
		ret = json_add(object, "hz", json_object_new_int64((int64_t)clock->hz));
	if (!ret)
		ret = json_add(object, "source",
			       json_object_new_string(xen_clock_source_name(clock->source)));
	if (!ret)
		ret = json_add(object, "time0_tsc", json_bits_new(clock->base_tsc));
	if (!ret && clock->source == XEN_CLOCK_CALIBRATED)
		ret = json_add(object, "residual_ppm",
			       json_object_new_double(clock->residual_ppm));
	if (!ret && clock->source == XEN_CLOCK_CALIBRATED)
		ret = json_add(object, "samples",
			       json_object_new_int64((int64_t)clock->n_samples));
	return ret;
}

static int add_offsets(struct json_object *root, const char *key, const uint64_t *offsets,
		       size_t n)
{
	struct json_object *list = json_object_new_array();
	int ret = json_add(root, key, list);

	for (size_t i = 0; i < n && !ret; i++)
		ret = json_add(list, NULL, json_object_new_int64((int64_t)offsets[i]));
	return ret;
}

/** What belongs to the reader. */
static int add_file(struct json_object *root, const struct xen_part *part)
{
	struct json_object *ends = json_object_new_array();
	int ret = json_add(root, "version", json_object_new_int(XEN_PART_VERSION));

	if (!ret)
		ret = json_add(root, "bytes", json_object_new_int64((int64_t)part->bytes));
	if (!ret)
		ret = json_add(root, "records", json_object_new_int64((int64_t)part->records));
	if (!ret && part->has_whole)
		ret = json_add(root, "whole_tsc", json_bits_new(part->whole_tsc));
	if (!ret)
		ret = add_offsets(root, "gaps", part->gaps, part->n_gaps);
	if (!ret && part->n_windows)
		ret = add_offsets(root, "windows", part->windows, part->n_windows);
	ret |= json_add(ret ? NULL : root, "ends", ends);
	for (int i = 0; i < part->n_of_pcpus && !ret; i++) {
		const struct xen_part_pcpu *pcpu = &part->pcpus[i];
		struct json_object *object = json_object_new_object();

		ret = json_add(ends, NULL, object);
		if (!ret)
			ret = json_add(object, "pcpu", json_object_new_int(pcpu->pcpu));
		if (!ret && pcpu->has_first)
			ret = json_add(object, "first", json_bits_new(pcpu->first));
		if (!ret && pcpu->known_tsc != UINT64_MAX)
			ret = json_add(object, "known_tsc", json_bits_new(pcpu->known_tsc));
	}
	return ret;
}

struct json_object *xen_part_write(const struct xen_part *part)
{
	struct json_object *root = json_object_new_object();
	int ret = root ? add_file(root, part) : -ENOMEM;

	if (!ret && part->has_clock)
		ret = add_clock(root, &part->clock);
	if (!ret && part->model)
		ret = add_xen(root, part);
	if (!ret && part->model && part->has_cores)
		ret = add_cores(root, part);
	if (!ret && part->model)
		ret = virt_part_write(root, part->model, make_vcpus(part));
	if (!ret)
		return root;
	json_object_put(root);
	return NULL;
}
