/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ks_memo.h
 * @brief	Keep a text in a stream of KernelShark, so that sessions keep it, too.
 *
 * KernelShark's sessions have no place for plugins. They keep the calib_array of each stream, of
 * which KernelShark itself uses the first member only, and ks_clock.h the ones after it. The text
 * comes after these: its bytes, eight to a member, then their number, then KS_MEMO_MAGIC.
 */
#ifndef KSHARK_VIRT_KS_MEMO_H
#define KSHARK_VIRT_KS_MEMO_H

#include <stddef.h>
#include <stdint.h>

#include <libkshark.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KS_MEMO_MAGIC		0x6b7368766d656d31LL

/** Bytes of a text, at most. */
#define KS_MEMO_MOST		((size_t)4 << 20)

/** ks_memo_at - how many members of an array come before the text; all of them if there is none. */
size_t ks_memo_at(const int64_t *parts, size_t n);

/** ks_memo_get - the text of a stream. Return: to be freed; NULL: there is none, or no memory. */
char *ks_memo_get(const struct kshark_data_stream *stream);

/**
 * ks_memo_set - let this be the text of a stream
 * @text: is copied; NULL: it has none
 *
 * As ks_clock_set(), in one thread at a time, and not while KernelShark loads.
 *
 * Return: 0; -EFBIG if the text is longer than KS_MEMO_MOST, or -ENOMEM, and nothing is changed.
 */
int ks_memo_set(struct kshark_data_stream *stream, const char *text);

#ifdef __cplusplus
}
#endif
#endif
