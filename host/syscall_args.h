/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	syscall_args.h
 * @brief	Arguments of a system call in a record of raw_syscalls:sys_enter, of x86-64.
 */
#ifndef KSHARK_VIRT_SYSCALL_ARGS_H
#define KSHARK_VIRT_SYSCALL_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** syscall_arg - argument @n, from the field args as text: "ARRAY[08, 00, ...]". False: has none */
bool syscall_arg(const char *text, size_t n, uint64_t *value);

#endif
