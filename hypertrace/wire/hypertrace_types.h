/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/**
 * @file	hypertrace_types.h
 * @brief	Integers for the kernel module and for programs, which compile the same sources.
 */
#ifndef KSHARK_VIRT_HYPERTRACE_TYPES_H
#define KSHARK_VIRT_HYPERTRACE_TYPES_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#endif
