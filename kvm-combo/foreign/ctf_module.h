/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ctf_module.h
 * @brief	The reader of CTF as a file of its own, which only the converting process loads.
 *
 * libbabeltrace2 and the libraries that it needs take a third of the start of a command, and hardly
 * any command reads CTF.
 */
#ifndef KSHARK_VIRT_CTF_MODULE_H
#define KSHARK_VIRT_CTF_MODULE_H

#include "ctf_convert.h"

/** The functions of ctf_convert.h. */
struct ctf_module {
	struct ctf_library *(*load)(char *problem, size_t size);
	void		(*free)(struct ctf_library *library);
	int		(*convert)(const struct ctf_library *library,
				   const struct ctf_folder *folder, int fd, int spool,
				   uint64_t most_bytes, struct foreign_outcome *outcome);
};

/** The name of the object that the module exports, a const struct ctf_module. */
#define CTF_MODULE_NAME	"kshark_virt_ctf"

#endif
