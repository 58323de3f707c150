/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	top_input_xen.h
 * @brief	The records that xentrace writes, into a pipe or into a file that grows.
 */
#ifndef KSHARK_VIRT_TOP_INPUT_XEN_H
#define KSHARK_VIRT_TOP_INPUT_XEN_H

#include "top_live.h"
#include "xen_live.h"

struct top_input_xen {
	int		fd;
	const char	*name;		/* for messages */
	struct xen_live	*live;
	/** At the end of what there is: will there be more? NULL: no. */
	bool		(*grows)(void *arg);
	void		*arg;
	bool		is_over;	/* it has said no */
	unsigned char	*data;
};

/**
 * top_input_xen_open - begin with a pipe or file
 * @path: "-" is standard input
 *
 * Return: 0, to be closed; or -1 after a message.
 */
int top_input_xen_open(struct top_input_xen *input, const char *path,
		       const struct xen_live_options *options);
void top_input_xen_close(struct top_input_xen *input);

extern const struct top_input top_input_xen;

#endif
