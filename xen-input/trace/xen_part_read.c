// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_part_read.c
 * @brief	Read the member "part" of a sidecar, which other programs may have written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "json_read.h"
#include "virt_part_json.h"
#include "xen_cores.h"
#include "xen_part.h"
#include "xen_part_words.h"

/** A part that is being read, and what is wrong with it. */
struct reading {
	struct xen_part	*part;
	const char	*wrong;		/* the member that cannot be understood */
};

static int wrong(struct reading *reading, const char *what)
{
	reading->wrong = what;
	return -EINVAL;
}

/* ---- the whole ---- */

static int read_clock(struct reading *reading, struct json_object *root)
{
	struct json_object *object = json_member(root, "clock", json_type_object);
	struct json_object *name = json_member(object, "source", json_type_string);
	struct xen_part *part = reading->part;
	enum xen_clock_source source = XEN_CLOCK_OPTION;
	int64_t hz = json_number_member(object, "hz", -1);
	uint64_t base;

	if (!object)
		return 0;
	while (name && source <= XEN_CLOCK_ASSUMED &&
	       strcmp(json_object_get_string(name), xen_clock_source_name(source)) != 0)
		source++;
	if (!name || source > XEN_CLOCK_ASSUMED || hz < (int64_t)XEN_CLOCK_MIN_HZ ||
	    hz > (int64_t)XEN_CLOCK_MAX_HZ || !json_bits_member(object, "time0_tsc", &base))
		return wrong(reading, "clock");
	part->has_clock = true;
	xen_clock_init(&part->clock, (uint64_t)hz, source, base);
	part->clock.residual_ppm =
		json_object_get_double(json_member(object, "residual_ppm", json_type_double));
	part->clock.n_samples = (uint64_t)json_number_member(object, "samples", 0);
	return 0;
}

/** Places in the file. */
static int read_offsets(struct reading *reading, struct json_object *root, const char *key,
			int (*add)(struct xen_part *part, uint64_t offset))
{
	struct json_object *list;
	int ret = 0;
	size_t n;

	list = json_list_member(root, key, &n);
	for (size_t i = 0; i < n && !ret; i++) {
		struct json_object *offset = json_object_array_get_idx(list, i);
		int64_t number = json_object_get_int64(offset);

		if (!json_object_is_type(offset, json_type_int) || number < 0)
			return wrong(reading, key);
		ret = add(reading->part, (uint64_t)number);
	}
	return ret;
}

static int read_file(struct reading *reading, struct json_object *root)
{
	struct xen_part *part = reading->part;
	struct json_object *list;
	int ret = 0;
	size_t n;

	part->bytes = (uint64_t)json_number_member(root, "bytes", -1);
	part->records = (uint64_t)json_number_member(root, "records", -1);
	part->has_whole = json_bits_member(root, "whole_tsc", &part->whole_tsc);
	ret = read_offsets(reading, root, "gaps", xen_part_add_gap);
	if (!ret)
		ret = read_offsets(reading, root, "windows", xen_part_add_window);
	list = json_list_member(root, "ends", &n);
	for (size_t i = 0; i < n && !ret; i++) {
		struct json_object *object = json_object_array_get_idx(list, i);
		int64_t number = json_number_member(object, "pcpu", -1);
		struct xen_part_pcpu pcpu = { .pcpu = (uint16_t)number, .known_tsc = UINT64_MAX };
		uint64_t first;

		if (number < 0 || number > XENTRACE_MAX_PCPU)
			return wrong(reading, "ends");
		pcpu.has_first = json_bits_member(object, "first", &first);
		pcpu.first = pcpu.has_first ? (xen_vcpu)first : XEN_VCPU_UNKNOWN;
		json_bits_member(object, "known_tsc", &pcpu.known_tsc);
		if (ARRAY_GROW(part->pcpus, part->n_of_pcpus, part->room_pcpus))
			return -ENOMEM;
		part->pcpus[part->n_of_pcpus++] = pcpu;
	}
	return ret;
}

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

static int read_cores(struct reading *reading, struct json_object *root)
{
	struct xen_part *part = reading->part;
	struct xen_core_members *cores;
	struct json_object *list;
	int ret = 0;
	size_t n;

	list = json_list_member(root, "cores", &n);
	part->has_cores = list;
	if (n > XENTRACE_MAX_PCPU)
		return wrong(reading, "cores");
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
	return ret == -EINVAL ? wrong(reading, "cores") : ret;
}

/** Which one each vCPU is. */
static int read_vcpus(struct reading *reading, struct json_object *root)
{
	struct xen_part *part = reading->part;
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
			return wrong(reading, "vcpus");
		part->vcpus[i] = (struct xen_part_vcpu){
			.vcpu = (xen_vcpu)domain << 16 | (xen_vcpu)id,
			.hvm = json_object_get_boolean(json_member(object, "hvm",
								   json_type_boolean)),
		};
	}
	return 0;
}

/** What only Xen's traces have. */
static int read_xen(struct reading *reading, struct json_object *root)
{
	struct xen_part *part = reading->part;
	struct json_object *isa = json_member(root, "isa", json_type_string);

	if (!part->has_clock)
		return wrong(reading, "clock");
	part->scheduler = json_object_get_boolean(json_member(root, "scheduler",
							      json_type_boolean));
	part->n_pcpus = (int)json_number_member(root, "n_pcpus", 0);
	if (part->n_pcpus < 0 || part->n_pcpus > XENTRACE_MAX_PCPU + 1)
		return wrong(reading, "n_pcpus");
	while (isa && part->isa < XEN_ISA_SVM &&
	       strcmp(json_object_get_string(isa), xen_part_isa(part->isa)) != 0)
		part->isa++;
	return read_cores(reading, root);
}

/** What the whole trace tells of it. */
static int read_model(struct reading *reading, struct json_object *root)
{
	int ret = virt_part_read(root, &reading->part->model, &reading->wrong);

	if (ret || !reading->part->model)
		return ret;
	ret = read_xen(reading, root);
	return ret ? ret : read_vcpus(reading, root);
}

int xen_part_read(struct json_object *root, const char *path, struct xen_part **part, char *error,
		  size_t size)
{
	struct json_object *object = json_member(root, "part", json_type_object);
	struct reading reading = { .wrong = "version" };
	int ret = 0;

	*part = NULL;
	if (!object)
		return 0;
	reading.part = calloc(1, sizeof(*reading.part));
	if (!reading.part)
		return -ENOMEM;
	if (json_number_member(object, "version", 0) != XEN_PART_VERSION)
		ret = -EINVAL;
	if (!ret)
		ret = read_clock(&reading, object);
	if (!ret)
		ret = read_file(&reading, object);
	if (!ret)
		ret = read_model(&reading, object);
	if (!ret) {
		*part = reading.part;
		return 0;
	}
	xen_part_free(reading.part);
	if (ret == -EINVAL)
		text_format(error, size, "%s: \"%s\" of \"part\" cannot be understood: split the "
			    "trace again with this version", path, reading.wrong);
	return ret;
}
