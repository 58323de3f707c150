// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_boot.c
 * @brief	Read the levels and initcalls of a boot from the file of a guest.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "guest_inside.h"
#include "host_hypertrace.h"
#include "host_trace.h"
#include "virt_boot.h"

static int64_t stream_time(void *arg, int64_t time)
{
	const struct virt_boot_source *source = arg;

	return virt_guest_file_time(&source->file, time);
}

static bool asks_stop(void *arg)
{
	const struct virt_boot_source *source = arg;

	return source->stop && source->stop(source->arg);
}

int virt_boot_read(const struct virt_boot_source *source, struct virt_inside **inside, char *error,
		   size_t size)
{
	struct host_boot_source of = {
		.trace = virt_guest_file_open(&source->file, error, size),
		.time = stream_time, .stop = asks_stop, .arg = (void *)source,
	};
	struct hyper_guest *guest = NULL;
	int ret;

	*inside = NULL;
	if (!of.trace)
		return -EIO;
	ret = host_hypertrace_boot_alone(&of, &guest);
	if (!ret && guest) {
		*inside = guest_inside_boot(guest, of.trace);
		ret = *inside ? 0 : -ENOMEM;
	}
	if (ret)
		snprintf(error, size, "%s: %s", source->file.path, host_trace_problem(ret));
	hyper_guest_free(guest);
	kvm_trace_close(of.trace);
	return ret;
}
