/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_topology.h
 * @brief	Read where physical CPUs are: from the sidecar of a trace, lscpu or xl.
 *
 * The sidecar of either hypervisor has "pcpus": [ { "id": 0, "core": 0, "socket": 0, "node": 0,
 * "llc": 0 } ]; llc is the last-level cache. "lscpu -p" prints lines of CPU,Core,Socket,Node and
 * caches, of which the last is the last level, after comments (#). "xl info -n" prints its table
 * cpu_topology, with lines "0: 0 0 0", which are CPU, core, socket and node. Under Xen, lscpu shows
 * the virtual CPUs of its domain.
 */
#ifndef KSHARK_VIRT_HOST_TOPOLOGY_H
#define KSHARK_VIRT_HOST_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** No trace has more physical CPUs. */
#define HOST_TOPOLOGY_MAX	32768

/** Where a physical CPU is; -1: not known. A core's number counts within its socket. */
struct host_pcpu {
	int32_t		id;
	int32_t		core, socket, node;
	int32_t		llc;		/* last-level cache; it counts within the machine */
};

/** How far from each other two physical CPUs are. */
enum host_distance {
	HOST_SMT = 0,		/* threads of one core */
	HOST_CORE,		/* cores that share their last-level cache */
	HOST_NEAR,		/* cores of one node; whether they share a cache is unknown */
	HOST_CACHE,		/* cores of one node, with last-level caches of their own */
	HOST_NODE,		/* another node: other memory is near */
	HOST_DISTANCE_UNKNOWN,
	HOST_N_DISTANCES
};

struct host_topology {
	struct host_pcpu *pcpus;	/* ascending by id, each once */
	size_t		n, room;
};

/**
 * host_topology_of_trace - what the sidecar of a trace says
 *
 * Return: 0, also if it says nothing; -ENOMEM; or another negative errno and a text in @error.
 */
int host_topology_of_trace(struct host_topology *topology, const char *trace_path, char *error,
			   size_t size);

/** host_topology_read - the same of a file: a sidecar, or what lscpu -p or xl info -n wrote. */
int host_topology_read(struct host_topology *topology, const char *path, char *error, size_t size);

/**
 * host_topology_live - of the machine that this runs on
 * @root: the folder in which its sys is: ""
 *
 * Return: 0, also if nothing is known; or -ENOMEM.
 */
int host_topology_live(struct host_topology *topology, const char *root);

/** host_topology_write - put it into the sidecar of a trace, whose other members stay. */
int host_topology_write(const struct host_topology *topology, const char *trace_path, char *error,
			size_t size);

void host_topology_free(struct host_topology *topology);

/** host_topology_pcpu - Return: NULL if nothing is known of it. */
const struct host_pcpu *host_topology_pcpu(const struct host_topology *topology, int32_t id);

/** host_topology_distance - of two that are not the same, by number. */
enum host_distance host_topology_distance(const struct host_topology *topology, int32_t a,
					  int32_t b);

/** host_distance_name - "smt", "core", "near", "cache", "node", "unknown". */
const char *host_distance_name(enum host_distance distance);

/** host_topology_siblings - do both share a core? If it is not known, no. */
int host_topology_siblings(const struct host_pcpu *a, const struct host_pcpu *b);

#ifdef __cplusplus
}
#endif
#endif
