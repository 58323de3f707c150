/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	completion.h
 * @brief	Completion for shells, from the tables of all subcommands.
 */
#ifndef KSHARK_VIRT_COMPLETION_H
#define KSHARK_VIRT_COMPLETION_H

#include "options.h"

/** The shells, NULL after the last one. */
extern const char *const completion_shells[];

/**
 * completion_print - a script that completes kshark-virt's arguments
 * @shell: one of completion_shells
 * @commands: @n of them
 *
 * Return: false if there is no such shell; nothing is printed then.
 */
bool completion_print(const char *shell, const struct ksv_command *const *commands, size_t n,
		      FILE *out);

#endif
