/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtWhose.hpp
 * @brief	The subject of the page "Why": a vCPU, a pCPU, or a task of a guest.
 */
#ifndef KSHARK_VIRT_VIRTWHOSE_HPP
#define KSHARK_VIRT_VIRTWHOSE_HPP

#include "virt_model.h"

/** Whose time: a vCPU, a pCPU, or a task of a guest. */
struct VirtWhose {
	int			stream = VIRT_NONE;	/* of the host; or none */
	int			vcpu = VIRT_NONE, pcpu = VIRT_NONE;
	int			guest = VIRT_NONE;	/* stream of the task's */
	int			pid = 0;		/* of the task */
};

#endif
