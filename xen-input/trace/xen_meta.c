// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_meta.c
 * @brief	Read the sidecar <trace>.meta.json.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "json_read.h"
#include "search.h"
#include "xen_meta.h"
#include "xen_part.h"

/** What vCPUs, pCPUs and domains can be called: xen_running.h, xentrace_reader.h. */
#define MAX_VCPU	9999
#define MAX_PCPU	32767
#define MAX_DOMID	0x7fef

/** Ratios of two CPUs' frequencies. */
#define MIN_TSC_SCALE	0.001
#define MAX_TSC_SCALE	1000

static int compare_domains(const void *a, const void *b)
{
	const struct xen_meta_domain *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/** An offset is all 64 bits: in hexadecimal, as Xen and the VMCB show it, or a number. */
static void take_tsc(struct xen_meta_domain *domain, struct json_object *object)
{
	struct json_object *value;
	uint64_t offset;
	double scale = 1;

	if (json_object_object_get_ex(object, "tsc_scale", &value)) {
		scale = json_object_get_double(value);
		if (!(scale >= MIN_TSC_SCALE && scale <= MAX_TSC_SCALE))
			return;
	}
	if (!json_bits_member(object, "tsc_offset", &offset))
		return;
	domain->tsc_offset = (int64_t)offset;
	domain->tsc_scale = scale;
}

/** The only pCPU of a list as "xl vcpu-list" shows it, "2"; -1 for others: "all", "0-1,3". */
static int64_t only_pcpu(struct json_object *object)
{
	struct json_object *value;
	const char *text;
	char *end;
	long pcpu;

	if (!json_object_object_get_ex(object, "hard_affinity", &value))
		return -1;
	text = json_object_get_string(value);
	if (!text || *text < '0' || *text > '9')
		return -1;
	errno = 0;
	pcpu = strtol(text, &end, 10);
	return errno || *end || pcpu > MAX_PCPU ? -1 : pcpu;
}

/** The pCPU on which a vCPU was at a moment, or -1. @runs: is set if it was running there */
static int64_t place_at(struct json_object *vcpu, const char *moment, bool *runs)
{
	struct json_object *place = json_member(vcpu, moment, json_type_object), *state;
	int64_t pcpu = place ? json_number_member(place, "pcpu", -1) : -1;

	state = place ? json_member(place, "state", json_type_string) : NULL;
	if (!state || pcpu > MAX_PCPU)
		return -1;
	*runs |= !strcmp(json_object_get_string(state), "running");
	return pcpu;
}

/** Where a vCPU is all the time, as far as can be told; @pin->pcpu. Return: false: cannot. */
static bool find_place(struct json_object *vcpu, struct xen_meta_pin *pin)
{
	bool runs = false;
	int64_t begin = place_at(vcpu, "begin", &runs), end = place_at(vcpu, "end", &runs);
	int64_t only = only_pcpu(vcpu);

	pin->ran = runs && begin >= 0 && begin == end;
	pin->pcpu = pin->ran ? begin : only;
	return pin->ran || only >= 0;
}

/** Which vCPUs of a domain are on a single pCPU. */
static int take_pins(struct xen_meta *meta, uint32_t domid, struct json_object *domain)
{
	struct json_object *list;
	int room = meta->n_pins;
	size_t n;

	if (!json_object_object_get_ex(domain, "vcpus", &list) ||
	    !json_object_is_type(list, json_type_array))
		return 0;
	n = json_object_array_length(list);
	if (ARRAY_GROW(meta->pins, (size_t)room + n, room))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct json_object *object = json_object_array_get_idx(list, i);
		struct xen_meta_pin pin = { .domid = domid };
		int64_t id;

		if (!json_object_is_type(object, json_type_object))
			continue;
		id = json_number_member(object, "id", -1);
		if (id < 0 || id > MAX_VCPU || domid > MAX_DOMID || !find_place(object, &pin))
			continue;
		pin.vcpu = id;
		meta->pins[meta->n_pins++] = pin;
	}
	return 0;
}

static int compare_pins(const void *a, const void *b)
{
	const struct xen_meta_pin *x = a, *y = b;

	if (x->pcpu != y->pcpu)
		return x->pcpu < y->pcpu ? -1 : 1;
	return y->ran - x->ran;
}

static int take_domains(struct xen_meta *meta, struct json_object *root)
{
	struct json_object *list;
	size_t n;

	if (!json_object_object_get_ex(root, "domains", &list) ||
	    !json_object_is_type(list, json_type_array))
		return 0;
	n = json_object_array_length(list);
	meta->domains = calloc(n + 1, sizeof(*meta->domains));
	if (!meta->domains)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct json_object *object = json_object_array_get_idx(list, i);
		struct xen_meta_domain domain = { 0 };
		int64_t id;

		if (!json_object_is_type(object, json_type_object))
			continue;
		id = json_number_member(object, "id", -1);
		if (id < 0 || id > 0xffff)
			continue;
		domain.id = id;
		if (json_text_member(object, "name", &domain.name))
			return -ENOMEM;
		if (domain.name && !*domain.name) {
			free(domain.name);
			domain.name = NULL;
		}
		if (take_pins(meta, domain.id, object)) {
			free(domain.name);
			return -ENOMEM;
		}
		take_tsc(&domain, object);
		if (domain.name || domain.tsc_scale > 0)
			meta->domains[meta->n_domains++] = domain;
	}
	qsort(meta->domains, meta->n_domains, sizeof(*meta->domains), compare_domains);
	if (meta->n_pins)
		qsort(meta->pins, meta->n_pins, sizeof(*meta->pins), compare_pins);
	return 0;
}

/** Of the list that host_topology.h describes, how many pCPUs there are. */
static void take_pcpus(struct xen_meta *meta, struct json_object *root)
{
	struct json_object *list;

	if (!json_object_object_get_ex(root, "pcpus", &list) ||
	    !json_object_is_type(list, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *object = json_object_array_get_idx(list, i);
		int64_t id = json_object_is_type(object, json_type_object) ?
			     json_number_member(object, "id", -1) : -1;

		if (id >= meta->n_pcpus && id <= MAX_PCPU)
			meta->n_pcpus = (int32_t)id + 1;
	}
}

struct xen_meta *xen_meta_load(const char *path, char *error, size_t error_size)
{
	struct json_object *root = NULL;
	struct xen_meta *meta = NULL;
	int ret = json_read_file(path, &root, error, error_size);

	if (!ret) {
		meta = calloc(1, sizeof(*meta));
		ret = meta ? json_khz_member(root, path, &meta->cpu_khz, error, error_size) :
			     -ENOMEM;
	}
	if (!ret)
		ret = json_text_member(root, "xen_version", &meta->xen_version);
	if (!ret)
		ret = json_text_member(root, "scheduler", &meta->scheduler);
	if (!ret) {
		meta->has_moment = json_moment_member(root, "begin", "tsc", &meta->realtime_ns,
						      &meta->tsc);
		ret = take_domains(meta, root);
	if (!ret)
		take_pcpus(meta, root);
	}
	if (!ret)
		ret = xen_part_read(root, path, &meta->part, error, error_size);
	json_object_put(root);
	if (ret) {
		xen_meta_free(meta);
		meta = NULL;
		errno = -ret;
	}
	return meta;
}

void xen_meta_free(struct xen_meta *meta)
{
	if (!meta)
		return;
	for (int i = 0; i < meta->n_domains; i++)
		free(meta->domains[i].name);
	free(meta->domains);
	free(meta->pins);
	xen_part_free(meta->part);
	free(meta->xen_version);
	free(meta->scheduler);
	free(meta);
}

const struct xen_meta_domain *xen_meta_domain(const struct xen_meta *meta, uint32_t domid)
{
	struct xen_meta_domain key = { .id = domid };

	if (!meta || !meta->n_domains)
		return NULL;
	return bsearch(&key, meta->domains, meta->n_domains, sizeof(key), compare_domains);
}

bool xen_meta_moment(const struct xen_meta *meta, uint64_t *tsc, int64_t *realtime_ns)
{
	const struct xen_meta_domain *dom0 = xen_meta_domain(meta, 0);

	if (!meta || !meta->has_moment)
		return false;
	*realtime_ns = meta->realtime_ns;
	*tsc = meta->tsc;
	if (!dom0 || !(dom0->tsc_scale > 0))
		return true;
	*tsc -= (uint64_t)dom0->tsc_offset;
	/* dom0's is not scaled; were it, its cycles would be others */
	return dom0->tsc_scale == 1;
}

const char *xen_meta_domain_name(const struct xen_meta *meta, uint32_t domid)
{
	const struct xen_meta_domain *found = xen_meta_domain(meta, domid);

	return found ? found->name : NULL;
}

const struct xen_meta_pin *xen_meta_pinned(const struct xen_meta *meta, uint32_t pcpu)
{
	const struct xen_meta_pin *pins = meta ? meta->pins : NULL;
	size_t n = meta ? (size_t)meta->n_pins : 0, at;

	/* those that ran there come before those that are pinned */
	SEARCH_FIRST(at, 0, n, pins[at].pcpu < pcpu);
	if (at == n || pins[at].pcpu != pcpu)
		return NULL;
	/* a second one of the same kind */
	if (at + 1 < n && pins[at + 1].pcpu == pcpu && pins[at + 1].ran == pins[at].ran)
		return NULL;
	return &pins[at];
}
