/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_state.h
 * @brief	Query Xen about a machine while it is traced, for a sidecar.
 *
 * There are three kinds of moments. At the begin and at the end of a recording, the sidecar keeps
 * the place of each vCPU. The moments between find domains that come, go or are renamed.
 * docs/xentrace-format.md describes shapes and units.
 */
#ifndef KSHARK_VIRT_XEN_STATE_H
#define KSHARK_VIRT_XEN_STATE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

struct xen_state;

enum xen_moment {
	XEN_BEGIN,
	XEN_BETWEEN,
	XEN_END,
};

/**
 * xen_state_open - begin to talk to Xen, and to xenstore for names, if there is one
 *
 * Return: to be given to xen_state_close(), or NULL with a text in @error.
 */
struct xen_state *xen_state_open(char *error, size_t size);
void xen_state_close(struct xen_state *state);

/** xen_state_is_named - is there a xenstore? Without one, domains have no names. */
bool xen_state_is_named(const struct xen_state *state);

/**
 * xen_state_take - ask for everything that belongs to a moment
 * @guest_tsc: of the begin: ask HVM and PVH domains for their TSC, too, which pauses each of them
 * @changed: receives whether it is otherwise than before
 *
 * Return: 0, or a negative errno and a text in @error; what was known before is kept.
 */
int xen_state_take(struct xen_state *state, enum xen_moment moment, bool guest_tsc,
		   bool *changed, char *error, size_t size);

/** What Xen has to put records into. */
struct xen_buffers {
	unsigned long	pages;		/* for each pCPU; 0: not made yet, since Xen was started */
	int		pcpus;		/* that can have some */
};

/**
 * xen_state_buffers - the trace buffers that there are now
 *
 * Return: 0, or a negative errno and a text in @error.
 */
int xen_state_buffers(const struct xen_state *state, struct xen_buffers *buffers, char *error,
		      size_t size);

/** xen_state_json - all of it, owned by @state. */
struct json_object *xen_state_json(const struct xen_state *state);

#endif
