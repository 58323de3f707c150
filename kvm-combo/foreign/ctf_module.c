// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	ctf_module.c
 * @brief	Export the functions of the CTF module.
 */
#include "ctf_module.h"

extern const struct ctf_module kshark_virt_ctf;

__attribute__((visibility("default")))
const struct ctf_module kshark_virt_ctf = {
	.load = ctf_library_load,
	.free = ctf_library_free,
	.convert = ctf_convert,
};
