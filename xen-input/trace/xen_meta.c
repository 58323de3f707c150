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
#include "json_fields.h"
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

/* --- tables ---------------------------------------------------------------------------------- */

/** Where a vCPU was at a moment. */
struct place {
	int32_t		pcpu;		/* or -1 */
	char		*state;
};

struct xen_meta_vcpu {
	int32_t		id;		/* or -1 */
	char		*affinity;	/* a list, or NULL */
	int32_t		only;		/* the only pCPU that it may be on, or -1 */
	struct place	begin, end;
};

static const struct json_field place_fields[] = {
	{ JSON_A_NUMBER("pcpu", struct place, pcpu, -1, 0, MAX_PCPU) },
	{ JSON_A_TEXT("state", struct place, state) },
	JSON_FIELDS_END
};

/** The only pCPU of a list as "xl vcpu-list" shows it, "2"; -1 for others: "all", "0-1,3". */
static int take_affinity(struct json_object *object, const char *key, void *only)
{
	int32_t *to = only;
	struct json_object *value;
	const char *text;
	char *end;
	long pcpu;

	*to = -1;
	text = json_object_object_get_ex(object, key, &value) ? json_object_get_string(value) :
	       NULL;
	if (!text || *text < '0' || *text > '9')
		return 0;
	errno = 0;
	pcpu = strtol(text, &end, 10);
	if (!errno && !*end && pcpu <= MAX_PCPU)
		*to = (int32_t)pcpu;
	return 0;
}

static const struct json_field vcpu_fields[] = {
	{ JSON_A_NUMBER("id", struct xen_meta_vcpu, id, -1, 0, MAX_VCPU) },
	{ JSON_A_TEXT("hard_affinity", struct xen_meta_vcpu, affinity) },
	{ .key = "hard_affinity", .kind = JSON_OWN, JSON_PLACE(struct xen_meta_vcpu, only),
	  .take = take_affinity },
	{ .key = "begin", .kind = JSON_INSIDE, JSON_PLACE(struct xen_meta_vcpu, begin),
	  .fields = place_fields },
	{ .key = "end", .kind = JSON_INSIDE, JSON_PLACE(struct xen_meta_vcpu, end),
	  .fields = place_fields },
	JSON_FIELDS_END
};

/** An offset is all 64 bits: in hexadecimal, as Xen and the VMCB show it, or a number. */
static int take_tsc(struct json_object *object, const char *key, void *to)
{
	struct xen_meta_domain *domain = to;
	struct json_object *value;
	uint64_t offset;
	double scale = 1;

	if (json_object_object_get_ex(object, "tsc_scale", &value)) {
		scale = json_object_get_double(value);
		if (!(scale >= MIN_TSC_SCALE && scale <= MAX_TSC_SCALE))
			return 0;
	}
	if (!json_bits_member(object, key, &offset))
		return 0;
	domain->tsc_offset = (int64_t)offset;
	domain->tsc_scale = scale;
	return 0;
}

static const struct json_field domain_fields[] = {
	{ JSON_A_NUMBER("id", struct xen_meta_domain, id, UINT32_MAX, 0, 0xffff) },
	{ JSON_A_TEXT("name", struct xen_meta_domain, name) },
	{ JSON_A_LIST("vcpus", struct xen_meta_domain, vcpus, n_vcpus, vcpus_room, vcpu_fields) },
	{ .key = "tsc_offset", .kind = JSON_OWN, .take = take_tsc },
	JSON_FIELDS_END
};

/** Of the list that host_topology.h describes, how many pCPUs there are. */
static int take_pcpus(struct json_object *root, const char *key, void *to)
{
	struct xen_meta *meta = to;
	size_t n;
	struct json_object *list = json_list_member(root, key, &n);

	for (size_t i = 0; i < n; i++) {
		struct json_object *object = json_object_array_get_idx(list, i);
		int64_t id = json_number_member(object, "id", -1);

		if (id >= meta->n_pcpus && id <= MAX_PCPU)
			meta->n_pcpus = (int32_t)id + 1;
	}
	return 0;
}

/** An impossible one is kept until the whole moment is judged. */
static const struct json_field moment_fields[] = {
	{ JSON_A_NUMBER("realtime_ns", struct xen_meta, realtime_ns, -1, 0, INT64_MAX) },
	{ JSON_SOME_BITS("tsc", struct xen_meta, tsc, 0), JSON_HAS(struct xen_meta, has_moment) },
	JSON_FIELDS_END
};

static const struct json_field meta_fields[] = {
	{ JSON_A_KHZ(struct xen_meta, cpu_khz) },
	{ JSON_A_TEXT("xen_version", struct xen_meta, xen_version) },
	{ JSON_A_TEXT("scheduler", struct xen_meta, scheduler) },
	{ .key = "begin", .kind = JSON_INSIDE, .fields = moment_fields },
	{ JSON_A_LIST("domains", struct xen_meta, domains, n_domains, domains_room,
		      domain_fields) },
	{ .key = "pcpus", .kind = JSON_OWN, .take = take_pcpus },
	JSON_FIELDS_END
};

/* --- pins ------------------------------------------------------------------------------------ */

static bool was_running(const struct place *place)
{
	return place->state && !strcmp(place->state, "running");
}

/** The pCPU that a vCPU has all the time, as @pin->pcpu. Return: false: the sidecar shows none. */
static bool find_place(const struct xen_meta_vcpu *vcpu, struct xen_meta_pin *pin)
{
	const struct place *begin = &vcpu->begin, *end = &vcpu->end;

	pin->ran = begin->state && end->state && begin->pcpu >= 0 && begin->pcpu == end->pcpu &&
		   (was_running(begin) || was_running(end));
	pin->pcpu = pin->ran ? (uint32_t)begin->pcpu : (uint32_t)vcpu->only;
	return pin->ran || vcpu->only >= 0;
}

static int compare_vcpus(const void *a, const void *b)
{
	const struct xen_meta_vcpu *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int compare_pins(const void *a, const void *b)
{
	const struct xen_meta_pin *x = a, *y = b;

	if (x->pcpu != y->pcpu)
		return x->pcpu < y->pcpu ? -1 : 1;
	return y->ran - x->ran;
}

/** Which vCPUs of a domain are on a single pCPU. */
static int make_pins(struct xen_meta *meta, const struct xen_meta_domain *domain)
{
	int room = meta->n_pins;

	if (domain->id > MAX_DOMID || !domain->n_vcpus)
		return 0;
	if (ARRAY_GROW(meta->pins, (size_t)room + (size_t)domain->n_vcpus, room))
		return -ENOMEM;
	for (int i = 0; i < domain->n_vcpus; i++) {
		const struct xen_meta_vcpu *vcpu = &domain->vcpus[i];
		struct xen_meta_pin pin = { .domid = domain->id, .vcpu = (uint32_t)vcpu->id };

		if (vcpu->id >= 0 && find_place(vcpu, &pin))
			meta->pins[meta->n_pins++] = pin;
	}
	return 0;
}

/* --- all of it ------------------------------------------------------------------------------- */

/** Make pins; keep the domains of which more is known, vCPUs by number. Return: 0 or -ENOMEM. */
static int judge_domains(struct xen_meta *meta)
{
	int kept = 0, ret = 0;

	for (int i = 0; i < meta->n_domains; i++) {
		struct xen_meta_domain *domain = &meta->domains[i];

		if (domain->name && !*domain->name) {
			free(domain->name);
			domain->name = NULL;
		}
		if (!ret)
			ret = make_pins(meta, domain);
		if (domain->n_vcpus)
			qsort(domain->vcpus, (size_t)domain->n_vcpus, sizeof(*domain->vcpus),
			      compare_vcpus);
		if (domain->id != UINT32_MAX && (domain->name || domain->tsc_scale > 0 ||
						 domain->n_vcpus))
			meta->domains[kept++] = *domain;
		else
			json_fields_free(domain_fields, domain);
	}
	meta->n_domains = kept;
	if (kept)
		qsort(meta->domains, (size_t)kept, sizeof(*meta->domains), compare_domains);
	if (meta->n_pins)
		qsort(meta->pins, (size_t)meta->n_pins, sizeof(*meta->pins), compare_pins);
	return ret;
}

/** Return: 0, or a negative errno and, but for -ENOMEM, a text in @error. */
static int take_all(struct xen_meta *meta, struct json_object *root, const char *path,
		    char *error, size_t size)
{
	struct json_wrong wrong;
	int ret = json_fields_read(root, meta_fields, meta, &wrong);

	if (ret == -EINVAL)
		json_khz_error(root, path, error, size);
	meta->has_moment = meta->has_moment && meta->realtime_ns >= 0;
	if (!ret)
		ret = judge_domains(meta);
	return ret ? ret : xen_part_read(root, path, &meta->part, error, size);
}

struct xen_meta *xen_meta_load(const char *path, char *error, size_t error_size)
{
	struct json_object *root = NULL;
	struct xen_meta *meta = NULL;
	int ret = json_read_file(path, &root, error, error_size);

	if (!ret) {
		meta = calloc(1, sizeof(*meta));
		ret = meta ? take_all(meta, root, path, error, error_size) : -ENOMEM;
	}
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
	json_fields_free(meta_fields, meta);
	free(meta->pins);
	xen_part_free(meta->part);
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

const char *xen_meta_affinity(const struct xen_meta *meta, uint32_t domid, uint32_t vcpu)
{
	const struct xen_meta_domain *domain = xen_meta_domain(meta, domid);
	const struct xen_meta_vcpu key = { .id = (int32_t)vcpu }, *found = NULL;

	if (domain && domain->n_vcpus && vcpu <= MAX_VCPU)
		found = bsearch(&key, domain->vcpus, (size_t)domain->n_vcpus, sizeof(key),
				compare_vcpus);
	return found ? found->affinity : NULL;
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
