// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_domains.c
 * @brief	Domains and their vCPUs: names, kinds, clocks, where each vCPU may be and is.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "json_read.h"
#include "xen_private.h"

/** Domains per request. */
#define AT_ONCE		256

/** What xl calls TSC_MODE_* (xen/arch/x86/include/asm/time.h, xl.cfg(5) "tsc_mode"). */
static const char *const tsc_modes[] = { "default", "always_emulate", "native", "native_paravirt" };
#define TSC_NATIVE	2

/* ---- texts ---- */

/** xl's way to write a set of pCPUs: "all", "0-3,6". */
static void affinity_text(const struct xen_state *state, char *text, size_t size)
{
	size_t at = 0;
	int n = 0;

	*text = '\0';
	for (int i = 0; i < state->max_pcpus && at < size; i++) {
		int first = i;

		if (!xc_cpumap_testcpu(i, state->affinity))
			continue;
		while (i + 1 < state->max_pcpus && xc_cpumap_testcpu(i + 1, state->affinity))
			i++;
		n += i + 1 - first;
		at += snprintf(text + at, size - at, i > first ? "%s%d-%d" : "%s%d", at ? "," : "",
			       first, i);
	}
	/* what does not fit would be another set */
	if (n == state->max_pcpus || at >= size)
		snprintf(text, size, "%s", n == state->max_pcpus ? "all" : "");
}

static void uuid_text(const uint8_t *handle, char *text, size_t size)
{
	size_t at = 0;

	for (int i = 0; i < 16 && at < size; i++)
		at += snprintf(text + at, size - at, i == 4 || i == 6 || i == 8 || i == 10 ?
			       "-%02x" : "%02x", handle[i]);
}

static const char *kind_of(const xc_domaininfo_t *info)
{
	if (!(info->flags & XEN_DOMINF_hvm_guest))
		return "PV";
#if defined(__x86_64__) || defined(__i386__)
	/* PVH has a local APIC at most; HVM has the devices of a PC */
	return info->arch_config.emulation_flags & XEN_X86_EMU_PIT ? "HVM" : "PVH";
#else
	return "PVH";
#endif
}

/* ---- names ---- */

/** What xenstore calls a domain. Return: to be freed, or NULL. */
static char *name_of(const struct xen_state *state, uint32_t domid)
{
	char path[64];

	if (!state->xs)
		return NULL;
	snprintf(path, sizeof(path), "/local/domain/%u/name", domid);
	return xs_read(state->xs, XBT_NULL, path, NULL);
}

/** A name that is new; those from before are kept, with the time of the change. */
static void take_name(struct xen_state *state, struct json_object *domain, uint32_t domid)
{
	struct json_object *before, *names, *was;
	char *name = name_of(state, domid);

	if (!name || !*name)
		goto out;
	if (json_object_object_get_ex(domain, "name", &before)) {
		if (!strcmp(json_object_get_string(before), name))
			goto out;
		if (!json_object_object_get_ex(domain, "names_before", &names)) {
			names = json_object_new_array();
			set(state, domain, "names_before", names);
		}
		was = state->no_memory ? NULL : add(state, names);
		if (!was)
			goto out;
		set_text(state, was, "name", json_object_get_string(before));
		set_number(state, was, "until_realtime_ns", realtime_ns());
		state->changed = true;
	}
	set_text(state, domain, "name", name);
out:
	free(name);
}

/* ---- vCPUs ---- */

static void take_affinity(struct xen_state *state, uint32_t domid, int id,
			  struct json_object *vcpu, uint32_t which, const char *key)
{
	char text[2048];

	if (xc_vcpu_getaffinity(state->xc, domid, id,
				which == XEN_VCPUAFFINITY_HARD ? state->affinity : NULL,
				which == XEN_VCPUAFFINITY_SOFT ? state->affinity : NULL, which))
		return;
	affinity_text(state, text, sizeof(text));
	if (*text)
		set_text(state, vcpu, key, text);
}

/** Where a vCPU is, and since it was made, how long it has been running. */
static void take_place(struct xen_state *state, const xc_vcpuinfo_t *info,
		       struct json_object *vcpu, const char *key)
{
	struct json_object *place = json_object_new_object();

	set(state, vcpu, key, place);
	if (state->no_memory)
		return;
	set_number(state, place, "pcpu", info->cpu);
	set_text(state, place, "state", !info->online ? "offline" : info->running ? "running" :
		 info->blocked ? "blocked" : "runnable");
	set(state, place, "cpu_time_ns", json_object_new_uint64(info->cpu_time));
}

/** The vCPU of that number, which is made if there is none. */
static struct json_object *vcpu_of(struct xen_state *state, struct json_object *list, int id)
{
	size_t n = json_object_array_length(list);
	struct json_object *vcpu, *number;

	/* they were added in order, but for those that were hotplugged */
	for (size_t i = n; i-- > 0; ) {
		vcpu = json_object_array_get_idx(list, i);
		if (json_object_object_get_ex(vcpu, "id", &number) &&
		    json_object_get_int(number) == id)
			return vcpu;
	}
	vcpu = add(state, list);
	if (vcpu)
		set_number(state, vcpu, "id", id);
	return vcpu;
}

static void take_vcpus(struct xen_state *state, const xc_domaininfo_t *info,
		       struct json_object *domain, const char *key)
{
	struct json_object *list;

	if (!json_object_object_get_ex(domain, "vcpus", &list)) {
		list = json_object_new_array();
		set(state, domain, "vcpus", list);
	}
	if (info->max_vcpu_id == XEN_INVALID_MAX_VCPU_ID)
		return;
	for (uint32_t id = 0; id <= info->max_vcpu_id && !state->no_memory; id++) {
		struct json_object *vcpu;
		xc_vcpuinfo_t now;

		if (xc_vcpu_getinfo(state->xc, info->domain, id, &now))
			continue;
		vcpu = vcpu_of(state, list, id);
		if (!vcpu)
			return;
		take_affinity(state, info->domain, id, vcpu, XEN_VCPUAFFINITY_HARD,
			      "hard_affinity");
		take_affinity(state, info->domain, id, vcpu, XEN_VCPUAFFINITY_SOFT,
			      "soft_affinity");
		take_place(state, &now, vcpu, key);
	}
}

/* ---- domains ---- */

/**
 * The mode of a domain's TSC. A PV domain with the native one reads the host's. Of other domains,
 * Xen does not return the offset (tsc_get_info(), xen/arch/x86/time.c), but see take_guest_tsc().
 */
static void take_tsc_mode(struct xen_state *state, const xc_domaininfo_t *info,
			  struct json_object *domain)
{
	uint32_t mode, khz, incarnation;
	uint64_t elapsed;

	if (xc_domain_get_tsc_info(state->xc, info->domain, &mode, &elapsed, &khz,
				   &incarnation) ||
	    mode >= sizeof(tsc_modes) / sizeof(*tsc_modes))
		return;
	set_text(state, domain, "tsc_mode", tsc_modes[mode]);
	if (mode != TSC_NATIVE || info->flags & XEN_DOMINF_hvm_guest)
		return;
	set(state, domain, "tsc_offset", json_bits_new(0));
	set(state, domain, "tsc_scale", json_object_new_double(1));
}

static struct json_object *new_domain(struct xen_state *state, struct json_object *list,
				      const xc_domaininfo_t *info, enum xen_moment moment)
{
	struct json_object *domain = add(state, list);
	char uuid[40];

	if (!domain)
		return NULL;
	state->changed = true;
	uuid_text(info->handle, uuid, sizeof(uuid));
	set_number(state, domain, "id", info->domain);
	set_text(state, domain, "uuid", uuid);
	set_text(state, domain, "type", kind_of(info));
	set_number(state, domain, "cpupool", info->cpupool);
	take_tsc_mode(state, info, domain);
	if (moment != XEN_BEGIN)
		set_number(state, domain, "came_realtime_ns", realtime_ns());
	return domain;
}

/** The domain of a number that has not gone. */
static struct json_object *known_domain(struct json_object *list, uint32_t domid)
{
	for (size_t i = json_object_array_length(list); i-- > 0; ) {
		struct json_object *domain = json_object_array_get_idx(list, i), *id;

		if (json_object_object_get_ex(domain, "id", &id) &&
		    json_object_get_int64(id) == domid)
			return json_object_object_get_ex(domain, "went_realtime_ns", NULL) ?
			       NULL : domain;
	}
	return NULL;
}

static void take_domain(struct xen_state *state, struct json_object *list,
			const xc_domaininfo_t *info, enum xen_moment moment, bool guest_tsc)
{
	struct json_object *domain = known_domain(list, info->domain);
	bool is_new = !domain;

	if (is_new)
		domain = new_domain(state, list, info, moment);
	if (!domain)
		return;
	take_name(state, domain, info->domain);
	if (is_new || moment == XEN_END)
		take_vcpus(state, info, domain, is_new ? "begin" : "end");
	if (guest_tsc && moment == XEN_BEGIN && info->flags & XEN_DOMINF_hvm_guest)
		take_guest_tsc(state, info->domain, domain);
}

/** Those that are not there any more; @infos are ascending. */
static void note_gone(struct xen_state *state, struct json_object *list,
		      const xc_domaininfo_t *infos, size_t n)
{
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *domain = json_object_array_get_idx(list, i), *id;
		bool there = false;

		if (json_object_object_get_ex(domain, "went_realtime_ns", NULL) ||
		    !json_object_object_get_ex(domain, "id", &id))
			continue;
		for (size_t k = 0; k < n && !there; k++)
			there = infos[k].domain == json_object_get_int64(id);
		if (there)
			continue;
		set_number(state, domain, "went_realtime_ns", realtime_ns());
		state->changed = true;
	}
}

/** All domains. Return: how many, or a negative errno; *@infos is to be freed. */
static ssize_t list_domains(const struct xen_state *state, xc_domaininfo_t **infos)
{
	size_t n = 0, room = 0;

	*infos = NULL;
	for (;;) {
		int got;

		if (ARRAY_GROW(*infos, n + AT_ONCE, room))
			return -ENOMEM;
		got = xc_domain_getinfolist(state->xc, n ? (*infos)[n - 1].domain + 1 : 0,
					    AT_ONCE, *infos + n);
		if (got < 0)
			return -errno;
		n += got;
		if (got < AT_ONCE)
			return n;
	}
}

int take_domains(struct xen_state *state, enum xen_moment moment, bool guest_tsc)
{
	struct json_object *list;
	xc_domaininfo_t *infos;
	ssize_t n = list_domains(state, &infos);

	if (n >= 0 && !json_object_object_get_ex(state->root, "domains", &list)) {
		list = json_object_new_array();
		set(state, state->root, "domains", list);
	}
	if (n >= 0 && !state->no_memory) {
		for (ssize_t i = 0; i < n; i++)
			take_domain(state, list, &infos[i], moment, guest_tsc);
		note_gone(state, list, infos, n);
	}
	free(infos);
	return n < 0 ? (int)n : 0;
}
