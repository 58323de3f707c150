/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	top_xen_host.h
 * @brief	Run xentrace in dom0, for top of this host.
 */
#ifndef KSHARK_VIRT_TOP_XEN_HOST_H
#define KSHARK_VIRT_TOP_XEN_HOST_H

#include "record_xen.h"

/** xentrace, whose records come by a pipe, and what Xen knows, in a temporary folder. */
struct top_xen_host {
	struct record_options options;
	struct record	record;
	pid_t		meta;		/* writes the sidecar; 0: it does not run */
	int		fd;		/* end of the pipe; or -1 */
	char		path[32];	/* to open it by; "": it is not there */
	char		sidecar[PATH_MAX + NAME_MAX]; /* "": there is none */
};

/**
 * top_xen_host_open - start xentrace
 * @buffer: bytes for each pCPU; 0: as Xen has it
 *
 * Return: KSV_EXIT_OK, or an exit status after a message. Give it to top_xen_host_close() in any
 * case.
 */
int top_xen_host_open(struct top_xen_host *host, uint64_t buffer);

/**
 * top_xen_host_close - end xentrace, and remove the folder
 * @status: exit status so far
 *
 * Return: @status; or KSV_EXIT_FILE, after a message, if xentrace has ended before.
 */
int top_xen_host_close(struct top_xen_host *host, int status);

#endif
