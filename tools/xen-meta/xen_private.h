/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_private.h
 * @brief	Internals of xen_state: building JSON, and the queries of domains and their TSC.
 */
#ifndef KSHARK_VIRT_XEN_PRIVATE_H
#define KSHARK_VIRT_XEN_PRIVATE_H

#include <stdint.h>
#include <xenctrl.h>
#include <xenstore.h>

#include "xen_state.h"

struct xen_state {
	xc_interface		*xc;
	struct xs_handle	*xs;		/* NULL: there is none */
	struct json_object	*root;
	uint32_t		cpu_khz;
	int			max_pcpus;
	xc_cpumap_t		affinity;	/* room for one */
	bool			no_memory;
	bool			changed;
};

/**
 * set - give an object a member, instead of the one that it had
 * @value: is given away; NULL: there was no memory for it
 */
void set(struct xen_state *state, struct json_object *object, const char *key,
	 struct json_object *value);
void set_text(struct xen_state *state, struct json_object *object, const char *key,
	      const char *text);
void set_number(struct xen_state *state, struct json_object *object, const char *key,
		int64_t number);

/** add - put a new object at the end of an array. Return: it, or NULL without memory. */
struct json_object *add(struct xen_state *state, struct json_object *array);

/** realtime_ns - the wall clock, ns since 1970. */
int64_t realtime_ns(void);

/** take_domains - the domains that there are now. Return: 0 or a negative errno. */
int take_domains(struct xen_state *state, enum xen_moment moment, bool guest_tsc);

/**
 * take_guest_tsc - how far the TSC of an HVM or PVH domain is from the host's
 *
 * The domain is paused while Xen writes down its state. What is found lies within half of the
 * time that this took.
 */
void take_guest_tsc(struct xen_state *state, uint32_t domid, struct json_object *domain);

#endif
