/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	close_others.h
 * @brief	Close the descriptors of a process that it does not need.
 */
#ifndef KSHARK_VIRT_CLOSE_OTHERS_H
#define KSHARK_VIRT_CLOSE_OTHERS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** close_others - all descriptors but those of standard input, output and error, and of @keep */
void close_others(const int *keep, size_t n);

#ifdef __cplusplus
}
#endif
#endif
