/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ctf_names.h
 * @brief	The kernel's own names of the events and fields that LTTng records.
 */
#ifndef KSHARK_VIRT_CTF_NAMES_H
#define KSHARK_VIRT_CTF_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "event_format.h"

/** Of an event, for tracefs. */
struct ctf_event_name {
	char	system[EVENT_NAME_SIZE], name[EVENT_NAME_SIZE];
};

/**
 * ctf_event_name - system and name of an event of LTTng
 *
 * Other events keep their name; their system is the part before the first ':' or '_'.
 */
void ctf_event_name(const char *ctf, struct ctf_event_name *to);

/** Of a field. */
struct ctf_field_name {
	const char	*name;		/* @field of ctf_field_name(), or a constant */
	int64_t		add;		/* the kernel's value is LTTng's plus this */
	uint64_t	most;		/* a larger number is no value: it is unknown; 0: any is */
};

/** ctf_field_name - the kernel's name of a field of an event, which has its kernel's name */
struct ctf_field_name ctf_field_name(const struct ctf_event_name *event, const char *field);

/** ctf_field_is_comm - does a field hold the name of a thread, as the kernel has it? */
bool ctf_field_is_comm(const struct ctf_event_name *event, const char *field);

/**
 * ctf_switch_print - the print format of sched_switch, whose states depend on the kernel
 * @release: "6.1.0-13-amd64", or NULL: unknown
 */
const char *ctf_switch_print(const char *release);

#endif
