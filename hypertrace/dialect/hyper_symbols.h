/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	hyper_symbols.h
 * @brief	Read the names of a guest's functions from a copy of /proc/kallsyms or System.map.
 */
#ifndef KSHARK_VIRT_HYPER_SYMBOLS_H
#define KSHARK_VIRT_HYPER_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hyper_symbols;

/**
 * hyper_symbols_read - read a file: an address in hexadecimal, a type, a name in each line
 * @symbols: receives them, to be given to hyper_symbols_free()
 * @error: on failure, receives a text that names the file and what to do
 *
 * Only functions are kept (types t, T, w, W). A file whose addresses are all 0 is refused: that is
 * what the kernel shows to others than root.
 *
 * Return: 0 or a negative errno.
 */
int hyper_symbols_read(const char *path, struct hyper_symbols **symbols, char *error, size_t size);
void hyper_symbols_free(struct hyper_symbols *symbols);

/**
 * hyper_symbols_name - the function that an address lies in
 * @symbols: may be NULL
 * @offset: receives how far behind its beginning; may be NULL
 *
 * Return: NULL if there is none.
 */
const char *hyper_symbols_name(const struct hyper_symbols *symbols, uint64_t address,
			       uint64_t *offset);

#ifdef __cplusplus
}
#endif
#endif
