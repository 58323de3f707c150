/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_boot.h
 * @brief	Read the levels and initcalls of a boot from the file of a guest.
 *
 * Works on files and copies: nothing here touches KernelShark, so it may run in any thread.
 */
#ifndef KSHARK_VIRT_VIRT_BOOT_H
#define KSHARK_VIRT_VIRT_BOOT_H

#include "virt_guest_file.h"
#include "virt_inside.h"

#ifdef __cplusplus
extern "C" {
#endif

struct virt_boot_source {
	struct virt_guest_file	file;		/* its host_offset: of the guest's own stream */
	bool			(*stop)(void *arg);	/* asked now and then */
	void			*arg;
};

/**
 * virt_boot_read - its lanes, with the times that KernelShark shows
 * @inside: receives them, on the axis of the guest's stream; NULL: there are none
 *
 * Return: 0, or a negative errno and a text in @error.
 */
int virt_boot_read(const struct virt_boot_source *source, struct virt_inside **inside, char *error,
		   size_t size);

#ifdef __cplusplus
}
#endif
#endif
