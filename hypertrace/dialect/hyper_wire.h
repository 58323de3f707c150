/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	hyper_wire.h
 * @brief	The dialect of our own kernel module. Only the module's codec reads its calls.
 */
#ifndef KSHARK_VIRT_HYPER_WIRE_H
#define KSHARK_VIRT_HYPER_WIRE_H

#include "hyper_decoder.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hyper_wire;

/** hyper_wire_new - for the calls of a machine. @khz: as in hyper_decoder_new() */
struct hyper_wire *hyper_wire_new(struct hyper_khz khz);
void hyper_wire_free(struct hyper_wire *wire);

/**
 * hyper_wire_take - as hyper_decoder_take()
 *
 * Calls that are missing, by their sequence numbers, are an event of HYPER_LOST before the others.
 * Of a call that ends in nonsense, the events before that are there nevertheless.
 *
 * Return: 0 or -ENOMEM.
 */
int hyper_wire_take(struct hyper_wire *wire, const struct hyper_call *call,
		    struct hyper_decoded *decoded);

/** hyper_wire_number - of a call of ours, without what counts calls; of another, as it is. */
uint64_t hyper_wire_number(const struct hyper_call *call);

/** What a control call says about the guest's TSC. */
struct hyper_clock {
	uint64_t	tsc;		/* at the call */
	uint32_t	khz;		/* as the guest believes; 0: it is not in the call */
	bool		start;		/* the first call of a vCPU */
};

/** hyper_wire_clock - Return: false if @call is no control call. */
bool hyper_wire_clock(const struct hyper_call *call, struct hyper_clock *clock);

/** hyper_wire_fits - does a call, by itself, make sense? */
bool hyper_wire_fits(const struct hyper_call *call);

#ifdef __cplusplus
}
#endif
#endif
