// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_state.c
 * @brief	Query Xen about a machine: its clock, its pCPUs, its version, its scheduler.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock_moment.h"
#include "json_read.h"
#include "xen_private.h"

/* ---- JSON ---- */

void set(struct xen_state *state, struct json_object *object, const char *key,
	 struct json_object *value)
{
	state->no_memory |= json_add(object, key, value) != 0;
}

void set_text(struct xen_state *state, struct json_object *object, const char *key,
	      const char *text)
{
	set(state, object, key, json_text_new(text));
}

void set_number(struct xen_state *state, struct json_object *object, const char *key,
		int64_t number)
{
	set(state, object, key, json_object_new_int64(number));
}

struct json_object *add(struct xen_state *state, struct json_object *array)
{
	struct json_object *object = json_object_new_object();

	if (!json_add(array, NULL, object))
		return object;
	state->no_memory = true;
	return NULL;
}

/* ---- clocks ---- */

int64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/** Both clocks at one moment. The TSC is dom0's: of a PV dom0, that of the records. */
static void take_clocks(struct xen_state *state, const char *key)
{
	struct json_object *clocks = json_object_new_object();
	struct clock_moment moment;

	clock_moment_take(&moment);
	set(state, state->root, key, clocks);
	if (!clocks || state->no_memory)
		return;
	set_number(state, clocks, "realtime_ns", moment.realtime_ns);
	if (!moment.tsc)
		return;
	set(state, clocks, "tsc", json_object_new_uint64(moment.tsc));
	set(state, clocks, "tsc_within", json_object_new_uint64(moment.tsc_within));
}

/* ---- the machine ---- */

/** xen/include/public/domctl.h */
static const char *const schedulers[] = {
	[XEN_SCHEDULER_CREDIT] = "credit",	[XEN_SCHEDULER_CREDIT2] = "credit2",
	[XEN_SCHEDULER_ARINC653] = "arinc653",	[XEN_SCHEDULER_RTDS] = "rtds",
	[XEN_SCHEDULER_NULL] = "null",
};

static void take_scheduler(struct xen_state *state)
{
	int id = -1;

	if (xc_sched_id(state->xc, &id) || id < 0 ||
	    (size_t)id >= sizeof(schedulers) / sizeof(*schedulers) || !schedulers[id])
		return;
	set_text(state, state->root, "scheduler", schedulers[id]);
}

static void version_text(struct xen_state *state, char *text, size_t size)
{
	int version = xc_version(state->xc, XENVER_version, NULL);
	xen_extraversion_t extra = "";

	if (xc_version(state->xc, XENVER_extraversion, &extra) < 0)
		*extra = '\0';
	snprintf(text, size, "%d.%d%.*s", version >> 16, version & 0xffff,
		 (int)sizeof(extra) - 1, extra);
}

static void set_place(struct xen_state *state, struct json_object *pcpu, const char *key,
		      uint32_t number)
{
	if (number <= INT32_MAX)
		set_number(state, pcpu, key, number);
}

/** Core, socket and node of each pCPU. */
static void take_topology(struct xen_state *state)
{
	struct json_object *list = json_object_new_array();
	unsigned int n = state->max_pcpus;
	xc_cputopo_t *places = calloc(n, sizeof(*places));

	if (!places || !list) {
		state->no_memory = true;
		json_object_put(list);
		goto out;
	}
	set(state, state->root, "pcpus", list);
	if (state->no_memory || xc_cputopoinfo(state->xc, &n, places))
		goto out;
	for (unsigned int i = 0; i < n && i < (unsigned int)state->max_pcpus; i++) {
		struct json_object *pcpu;

		if (places[i].core == XEN_INVALID_CORE_ID)
			continue;
		pcpu = add(state, list);
		if (!pcpu)
			break;
		set_number(state, pcpu, "id", i);
		set_place(state, pcpu, "core", places[i].core);
		set_place(state, pcpu, "socket", places[i].socket);
		set_place(state, pcpu, "node", places[i].node);
	}
out:
	free(places);
}

/** Memory of each NUMA node, in bytes. */
static void take_nodes(struct xen_state *state)
{
	struct json_object *list = json_object_new_array();
	xc_meminfo_t *nodes = NULL;
	unsigned int n = 0, room;

	if (!list || xc_numainfo(state->xc, &n, NULL, NULL))
		goto out;
	room = n;
	nodes = calloc(n + 1, sizeof(*nodes));
	if (!nodes || xc_numainfo(state->xc, &n, nodes, NULL))
		goto out;
	for (unsigned int i = 0; i < n && i < room; i++) {
		struct json_object *node = nodes[i].memsize == XEN_INVALID_MEM_SZ ? NULL :
					   add(state, list);

		if (!node)
			continue;
		set_number(state, node, "id", i);
		set(state, node, "bytes", json_object_new_uint64(nodes[i].memsize));
	}
out:
	free(nodes);
	set(state, state->root, "nodes", list);
}

/** @state: has nothing yet. What Xen refuses to another version's program is asked first. */
static int take_machine(struct xen_state *state, char *error, size_t size)
{
	xc_physinfo_t info = { 0 };
	char version[64];

	version_text(state, version, sizeof(version));
	if (xc_physinfo(state->xc, &info)) {
		int why = errno;

		if (why == EACCES)
			snprintf(error, size, "Xen %s does not accept a program that was built for "
				 "Xen " XEN_LIBS_VERSION ": install kshark-virt as built on this "
				 "machine", version);
		else
			snprintf(error, size, "Xen %s does not describe the host: %s; is this its "
				 "control domain, and are you root?", version,
				 strerror(why));
		return -why;
	}
	state->cpu_khz = info.cpu_khz;
	state->max_pcpus = xc_get_max_cpus(state->xc);
	state->affinity = xc_cpumap_alloc(state->xc);
	if (state->max_pcpus <= 0 || !state->affinity) {
		snprintf(error, size, "Xen %s does not report the number of pCPUs", version);
		return -EIO;
	}
	set_text(state, state->root, "xen_version", version);
	set_number(state, state->root, "cpu_khz", info.cpu_khz);
	take_scheduler(state);
	take_topology(state);
	take_nodes(state);
	return 0;
}

/* ---- moments ---- */

int xen_state_take(struct xen_state *state, enum xen_moment moment, bool guest_tsc,
		   bool *changed, char *error, size_t size)
{
	int ret = 0;

	state->changed = moment != XEN_BETWEEN;
	if (moment == XEN_BEGIN)
		ret = take_machine(state, error, size);
	if (ret)
		return ret;
	if (moment != XEN_BETWEEN)
		take_clocks(state, moment == XEN_BEGIN ? "begin" : "end");
	ret = take_domains(state, moment, guest_tsc);
	if (!ret && state->no_memory)
		ret = -ENOMEM;
	*changed = state->changed;
	if (ret)
		snprintf(error, size, "Xen does not list its domains: %s", strerror(-ret));
	return ret;
}

int xen_state_buffers(const struct xen_state *state, struct xen_buffers *buffers, char *error,
		      size_t size)
{
	*buffers = (struct xen_buffers){ .pcpus = xc_get_max_cpus(state->xc) };
	if (buffers->pcpus <= 0) {
		snprintf(error, size, "Xen does not report the number of pCPUs");
		return -EIO;
	}
	/* where there are none, they cannot be mapped, and that is an error */
	if (xc_tbuf_get_size(state->xc, &buffers->pages))
		buffers->pages = 0;
	return 0;
}

struct json_object *xen_state_json(const struct xen_state *state)
{
	return state->root;
}

bool xen_state_is_named(const struct xen_state *state)
{
	return state->xs;
}

struct xen_state *xen_state_open(char *error, size_t size)
{
	struct xen_state *state = calloc(1, sizeof(*state));

	if (state)
		state->root = json_object_new_object();
	if (!state || !state->root) {
		snprintf(error, size, "not enough memory");
		xen_state_close(state);
		return NULL;
	}
	state->xc = xc_interface_open(NULL, NULL, XC_OPENFLAG_NON_REENTRANT);
	if (!state->xc) {
		snprintf(error, size, "cannot talk to Xen: %s; run this in Xen's control domain "
			 "(dom0), as root", strerror(errno));
		xen_state_close(state);
		return NULL;
	}
	state->xs = xs_open(XS_OPEN_READONLY);
	return state;
}

void xen_state_close(struct xen_state *state)
{
	if (!state)
		return;
	if (state->xs)
		xs_close(state->xs);
	if (state->xc)
		xc_interface_close(state->xc);
	free(state->affinity);
	json_object_put(state->root);
	free(state);
}
