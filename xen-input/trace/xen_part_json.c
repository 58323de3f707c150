// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_part_json.c
 * @brief	The member "part" of a sidecar, which other programs may have written.
 */
#include <errno.h>
#include <stdlib.h>

#include "escape.h"
#include "json_fields.h"
#include "json_read.h"
#include "virt_part_json.h"
#include "xen_cores.h"
#include "xen_part.h"

/** A file of another version is not read. */
#define PART_VERSION	1

static const char *isa_name(int i)
{
	return i == XEN_ISA_VMX ? "vmx" : i == XEN_ISA_SVM ? "svm" : "unknown";
}

static const char *source_name(int i)
{
	return xen_clock_source_name((enum xen_clock_source)i);
}

/* --- tables ---------------------------------------------------------------------------------- */

static bool is_calibrated(const void *clock)
{
	return ((const struct xen_clock *)clock)->source == XEN_CLOCK_CALIBRATED;
}

static const struct json_field clock_fields[] = {
	{ JSON_A_NUMBER("hz", struct xen_clock, hz, 0, (int64_t)XEN_CLOCK_MIN_HZ,
			(int64_t)XEN_CLOCK_MAX_HZ), .must = true },
	{ JSON_A_WORD("source", struct xen_clock, source, 0, source_name, XEN_CLOCK_ASSUMED + 1),
	  .must = true, .always = true },
	{ JSON_SOME_BITS("time0_tsc", struct xen_clock, base_tsc, 0), .must = true,
	  .always = true },
	{ .key = "residual_ppm", .kind = JSON_REAL, JSON_PLACE(struct xen_clock, residual_ppm),
	  .when = is_calibrated },
	{ JSON_A_VALUE("samples", struct xen_clock, n_samples, 0), .when = is_calibrated },
	JSON_FIELDS_END
};

/** Of a place in the file. */
static const struct json_field offset_fields[] = {
	{ .kind = JSON_NUMBER, .width = sizeof(uint64_t), .most = INT64_MAX, .must = true,
	  .always = true },
	JSON_FIELDS_END
};

static const struct json_field pcpu_fields[] = {
	{ JSON_A_NUMBER("pcpu", struct xen_part_pcpu, pcpu, 0, 0, XENTRACE_MAX_PCPU),
	  .must = true, .always = true },
	{ JSON_SOME_BITS("first", struct xen_part_pcpu, first, XEN_VCPU_UNKNOWN),
	  JSON_HAS(struct xen_part_pcpu, has_first) },
	{ JSON_SOME_BITS("known_tsc", struct xen_part_pcpu, known_tsc, (int64_t)UINT64_MAX) },
	JSON_FIELDS_END
};

static const struct json_field file_fields[] = {
	{ JSON_A_VALUE("bytes", struct xen_part, bytes, -1) },
	{ JSON_A_VALUE("records", struct xen_part, records, -1) },
	{ JSON_SOME_BITS("whole_tsc", struct xen_part, whole_tsc, 0),
	  JSON_HAS(struct xen_part, has_whole) },
	{ JSON_A_LIST("gaps", struct xen_part, gaps, n_gaps, room_gaps, offset_fields),
	  .always = true },
	{ JSON_A_LIST("windows", struct xen_part, windows, n_windows, room_windows,
		      offset_fields) },
	{ JSON_A_LIST("ends", struct xen_part, pcpus, n_of_pcpus, room_pcpus, pcpu_fields),
	  .always = true },
	{ .key = "clock", .kind = JSON_INSIDE, JSON_PLACE(struct xen_part, clock),
	  .fields = clock_fields, JSON_HAS(struct xen_part, has_clock) },
	JSON_FIELDS_END
};

/** What only Xen's traces have. */
static const struct json_field xen_fields[] = {
	{ JSON_A_FLAG("scheduler", struct xen_part, scheduler) },
	{ JSON_A_NUMBER("n_pcpus", struct xen_part, n_pcpus, 0, 0, XENTRACE_MAX_PCPU + 1),
	  .strict = true, .always = true },
	{ JSON_A_WORD("isa", struct xen_part, isa, XEN_ISA_UNKNOWN, isa_name, XEN_ISA_SVM + 1),
	  .always = true },
	JSON_FIELDS_END
};

/* --- writing --------------------------------------------------------------------------------- */

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

struct json_object *xen_part_write(const struct xen_part *part)
{
	struct json_object *root = json_object_new_object();
	int ret = json_add(root, "version", json_object_new_int(PART_VERSION));

	if (!ret)
		ret = json_fields_write(root, file_fields, part);
	if (!ret && part->model)
		ret = json_fields_write(root, xen_fields, part);
	if (!ret && part->model && part->has_cores)
		ret = add_cores(root, part);
	if (!ret && part->model)
		ret = virt_part_write(root, part->model, make_vcpus(part));
	if (!ret)
		return root;
	json_object_put(root);
	return NULL;
}

/* --- reading --------------------------------------------------------------------------------- */

/** The numbers of a core's pCPUs. Return: 0, -ENOMEM or -EINVAL. */
static int read_core(struct json_object *object, struct xen_core_members *core)
{
	struct json_object *list;
	uint16_t *pcpus;
	size_t n;

	list = json_list_member(object, "pcpus", &n);
	if (n > XENTRACE_MAX_PCPU)
		return -EINVAL;
	pcpus = calloc(n + 1, sizeof(*pcpus));
	if (!pcpus)
		return -ENOMEM;
	core->known = json_object_get_boolean(json_member(object, "known", json_type_boolean));
	core->n_pcpus = (uint32_t)n;
	core->pcpus = pcpus;
	for (size_t i = 0; i < n; i++) {
		int pcpu = json_object_get_int(json_object_array_get_idx(list, i));

		if (pcpu < 0 || pcpu > XENTRACE_MAX_PCPU)
			return -EINVAL;
		pcpus[i] = (uint16_t)pcpu;
	}
	return 0;
}

static int read_cores(struct xen_part *part, struct json_object *root)
{
	struct xen_core_members *cores;
	struct json_object *list;
	int ret = 0;
	size_t n;

	list = json_list_member(root, "cores", &n);
	part->has_cores = list;
	if (n > XENTRACE_MAX_PCPU)
		return -EINVAL;
	cores = calloc(n + 1, sizeof(*cores));
	if (!cores)
		return -ENOMEM;
	for (size_t i = 0; i < n && !ret; i++)
		ret = read_core(json_object_array_get_idx(list, i), &cores[i]);
	if (!ret)
		ret = xen_cores_of_members(cores, n, &part->cores);
	for (size_t i = 0; i < n; i++)
		free((void *)(uintptr_t)cores[i].pcpus);
	free(cores);
	return ret;
}

/** Which one each vCPU is. */
static int read_vcpus(struct xen_part *part, struct json_object *root)
{
	struct json_object *list;
	size_t n;

	list = json_list_member(root, "vcpus", &n);
	part->vcpus = calloc(n + 1, sizeof(*part->vcpus));
	if (!part->vcpus)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct json_object *object = json_object_array_get_idx(list, i);
		int64_t domain = json_number_member(object, "domain", -1);
		int64_t id = json_number_member(object, "id", -1);

		if (domain < 0 || domain > UINT16_MAX || id < 0 || id > XEN_MAX_VCPU)
			return -EINVAL;
		part->vcpus[i] = (struct xen_part_vcpu){
			.vcpu = (xen_vcpu)domain << 16 | (xen_vcpu)id,
			.hvm = json_object_get_boolean(json_member(object, "hvm",
								   json_type_boolean)),
		};
	}
	return 0;
}

/** What the whole trace has about the part. */
static int read_model(struct xen_part *part, struct json_object *root, struct json_wrong *wrong)
{
	int ret = virt_part_read(root, &part->model, &wrong->key);

	if (ret || !part->model)
		return ret;
	wrong->key = "clock";
	if (!part->has_clock)
		return -EINVAL;
	ret = json_fields_read(root, xen_fields, part, wrong);
	if (ret)
		return ret;
	wrong->key = "cores";
	ret = read_cores(part, root);
	if (ret)
		return ret;
	wrong->key = "vcpus";
	return read_vcpus(part, root);
}

static int read_part(struct xen_part *part, struct json_object *root, struct json_wrong *wrong)
{
	struct xen_clock read;
	int ret;

	wrong->key = "version";
	if (json_number_member(root, "version", 0) != PART_VERSION)
		return -EINVAL;
	ret = json_fields_read(root, file_fields, part, wrong);
	if (!ret && part->has_clock) {
		read = part->clock;
		xen_clock_init(&part->clock, read.hz, read.source, read.base_tsc);
		part->clock.residual_ppm = read.residual_ppm;
		part->clock.n_samples = read.n_samples;
	}
	return ret ? ret : read_model(part, root, wrong);
}

int xen_part_read(struct json_object *root, const char *path, struct xen_part **part, char *error,
		  size_t size)
{
	struct json_object *object = json_member(root, "part", json_type_object);
	struct json_wrong wrong;
	int ret;

	*part = NULL;
	if (!object)
		return 0;
	*part = calloc(1, sizeof(**part));
	if (!*part)
		return -ENOMEM;
	ret = read_part(*part, object, &wrong);
	if (!ret)
		return 0;
	xen_part_free(*part);
	*part = NULL;
	if (ret == -EINVAL)
		text_format(error, size, "%s: \"%s\" of \"part\" cannot be understood: split the "
			    "trace again with this version", path, wrong.key);
	return ret;
}
