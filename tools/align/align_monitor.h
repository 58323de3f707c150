/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	align_monitor.h
 * @brief	kshark-virt align, for the trace that a machine's monitor made of itself.
 */
#ifndef KSHARK_VIRT_ALIGN_MONITOR_H
#define KSHARK_VIRT_ALIGN_MONITOR_H

#include <stdbool.h>

#include "json_writer.h"

struct align_monitor_options {
	bool	write;		/* store it in the sidecar */
	bool	quiet;
};

/**
 * align_monitor - put the clock of a monitor on its host's axis, and print the result
 * @json: for JSON output, else NULL; with @many, the caller has begun it, and each has a name
 *
 * Return: an exit status, after a message if it is an error.
 */
int align_monitor(const char *host, const char *path, const struct align_monitor_options *options,
		  struct output *out, struct json *json, bool many);

#endif
