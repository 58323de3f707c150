/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_meta.h
 * @brief	Read the sidecar <trace>.meta.json, which has facts that the trace itself lacks.
 *
 *     { "cpu_khz": 2300000, "xen_version": "4.17.7", "scheduler": "credit2",
 *       "domains": [ { "id": 1, "name": "burny", "tsc_offset": "0xfffffff9e57d569a",
 *                      "tsc_scale": 1.0,
 *                      "vcpus": [ { "id": 0, "hard_affinity": "2",
 *                                   "begin": { "pcpu": 2, "state": "running" },
 *                                   "end": { "pcpu": 2, "state": "running" } }, ... ] }, ... ] }
 *
 * kshark-virt-xen-meta (tools/xen-meta) writes one, with more in it.
 *
 * Unknown keys are ignored, missing ones are unknown.
 */
#ifndef KSHARK_VIRT_XEN_META_H
#define KSHARK_VIRT_XEN_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xen_part;

struct xen_meta_vcpu;

struct xen_meta_domain {
	uint32_t	id;
	char		*name;		/* NULL if it is not known */
	double		tsc_scale;	/* guest's TSC = host's TSC * tsc_scale + tsc_offset, */
	int64_t		tsc_offset;	/* modulo 2^64; tsc_scale 0: not known */
	struct xen_meta_vcpu *vcpus;	/* ascending by id */
	int		n_vcpus, vcpus_room;
};

/** A vCPU that can be on one pCPU only, or was there at both ends of the recording and ran. */
struct xen_meta_pin {
	uint32_t	pcpu;
	uint32_t	domid, vcpu;
	bool		ran;
};

/** All members are owned by the struct; NULL or 0 when the sidecar does not have them. */
struct xen_meta {
	uint64_t	cpu_khz;
	char		*xen_version;
	char		*scheduler;
	struct xen_meta_domain *domains; /* ascending by id */
	int		n_domains, domains_room;
	struct xen_meta_pin *pins;	/* ascending by pCPU */
	int		n_pins;
	bool		has_moment;	/* both clocks were read at one moment: */
	int64_t		realtime_ns;	/* since 1970 */
	uint64_t	tsc;		/* dom0's */
	struct xen_part	*part;		/* of a trace that was cut out of another one; or NULL */
	int32_t		n_pcpus;	/* highest pCPU that it names + 1; 0: none */
};

/**
 * xen_meta_load - read a sidecar
 *
 * Return: the sidecar, to be given to xen_meta_free(), or NULL with errno: ENOENT when there is no
 * such file, EFBIG above SIDECAR_MAX_BYTES, EINVAL (and a text in @error that names file and
 * offset) when it is not valid, or no regular file.
 */
struct xen_meta *xen_meta_load(const char *path, char *error, size_t error_size);

/** xen_meta_free - free a sidecar, which may be NULL. */
void xen_meta_free(struct xen_meta *meta);

/** xen_meta_domain - the entry of a domain, or NULL; @meta may be NULL. */
const struct xen_meta_domain *xen_meta_domain(const struct xen_meta *meta, uint32_t domid);

/**
 * xen_meta_pinned - the vCPU that was on a pCPU at begin and end of the recording, and ran at one
 * of them; else the one that is pinned to it
 * @meta: may be NULL
 *
 * Return: NULL if there is none, or several of that kind.
 */
const struct xen_meta_pin *xen_meta_pinned(const struct xen_meta *meta, uint32_t pcpu);

/**
 * xen_meta_moment - a moment on the clock of the records, and since 1970
 * @meta: may be NULL
 *
 * dom0's TSC is that of the records unless the sidecar has an offset for it.
 *
 * Return: false if the sidecar has no such moment.
 */
bool xen_meta_moment(const struct xen_meta *meta, uint64_t *tsc, int64_t *realtime_ns);

/** xen_meta_affinity - the pCPUs that a vCPU may run on, "0-1,3", or NULL; @meta may be NULL. */
const char *xen_meta_affinity(const struct xen_meta *meta, uint32_t domid, uint32_t vcpu);

/** xen_meta_domain_name - a domain's name, or NULL; @meta may be NULL. */
const char *xen_meta_domain_name(const struct xen_meta *meta, uint32_t domid);

#ifdef __cplusplus
}
#endif
#endif
