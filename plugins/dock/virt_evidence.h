/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_evidence.h
 * @brief	The records that show what the page "Why" tells, out of the file.
 *
 * Works on files and copies: nothing here touches KernelShark, so it may run in any thread.
 */
#ifndef KSHARK_VIRT_VIRT_EVIDENCE_H
#define KSHARK_VIRT_VIRT_EVIDENCE_H

#include "why_answer.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * virt_evidence_read - as why_evidence_find(), of a file that KernelShark has opened
 * @stop: asked now and then whether to give up
 *
 * Return: to be given to why_evidence_free(); NULL with a text in @error.
 */
struct why_evidence *virt_evidence_read(const char *file, const struct why_answer *answer,
					bool (*stop)(void *arg), void *arg, char *error,
					size_t size);

#ifdef __cplusplus
}
#endif
#endif
