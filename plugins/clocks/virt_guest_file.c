// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_guest_file.c
 * @brief	The file of a guest, with the times that KernelShark shows.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kvm_trace.h"
#include "virt_guest_file.h"

/** What is beyond all reason is cut, so that differences fit. */
int64_t virt_guest_file_time(const struct virt_guest_file *file, int64_t time)
{
	__int128 ns = (__int128)ks_clock_time(&file->clock, time) - file->host_offset;

	return ns > INT64_MAX / 2 ? INT64_MAX / 2 : ns < -INT64_MAX / 2 ? -INT64_MAX / 2 :
	       (int64_t)ns;
}

/** The guest's own times, as its clock would have counted on. */
static int set_steps(struct kvm_trace *guest, const struct ks_clock *clock)
{
	const struct kshark_data_stream stream = {
		.calib_array = clock->parts, .calib_array_size = clock->n,
	};
	const int64_t *parts = ks_clock_of(&stream);
	size_t n = ks_clock_n_steps(parts);
	struct virt_clock_step *steps = malloc((n + 1) * sizeof(*steps));
	int ret = steps ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && steps; i++)
		steps[i] = ks_clock_step(parts, i);
	if (!ret)
		ret = kvm_trace_set_steps(guest, steps, n);
	free(steps);
	return ret;
}

struct kvm_trace *virt_guest_file_open(const struct virt_guest_file *file, char *error,
				       size_t size)
{
	struct kvm_trace *guest = kvm_trace_open_by_program(file->path, error, size);
	int ret;

	if (!guest)
		return NULL;
	ret = ks_clock_hides(&file->clock) && !kvm_trace_hide_offsets(guest) ? -ENOTSUP :
	      set_steps(guest, &file->clock);
	if (!ret)
		return guest;
	snprintf(error, size, "%s: %s", file->path, strerror(-ret));
	kvm_trace_close(guest);
	return NULL;
}
