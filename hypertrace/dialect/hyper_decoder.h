/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	hyper_decoder.h
 * @brief	Decode the calls of a machine, one after the other, into events.
 *
 * The meaning of a call may depend on earlier calls. Therefore each machine has its own decoder,
 * which receives all calls of the machine, those of each vCPU in order of time.
 */
#ifndef KSHARK_VIRT_HYPER_DECODER_H
#define KSHARK_VIRT_HYPER_DECODER_H

#include "hyper_dialect.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Events in a call at most. */
#define HYPER_MAX_EVENTS	32

/** What is in a call. */
struct hyper_decoded {
	enum hyper_result result;
	const char	*fault;		/* HYPER_SENSELESS: what makes no sense */
	const char	*label;		/* HYPER_SENSELESS: what it would be */
	unsigned int	n;		/* events, in order of time: those before the fault, too */
	struct hyper_event events[HYPER_MAX_EVENTS];
};

struct hyper_decoder;

/**
 * hyper_decoder_new - begin
 * @dialect: outlives it
 * @khz: of the machine's tally
 *
 * Return: NULL without memory.
 */
struct hyper_decoder *hyper_decoder_new(const struct hyper_dialect *dialect, struct hyper_khz khz);
void hyper_decoder_free(struct hyper_decoder *decoder);

/**
 * hyper_decoder_take - decode the next call
 * @decoded: until then uninitialized
 *
 * Return: 0 or -ENOMEM.
 */
int hyper_decoder_take(struct hyper_decoder *decoder, const struct hyper_call *call,
			struct hyper_decoded *decoded);

/** hyper_result_name - "decoded", "unknown" ... */
const char *hyper_result_name(enum hyper_result result);

#ifdef __cplusplus
}
#endif
#endif
