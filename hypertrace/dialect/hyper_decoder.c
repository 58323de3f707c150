// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	hyper_decoder.c
 * @brief	Decode the calls of a machine, one after the other, into events.
 */
#include <stdlib.h>

#include "hyper_wire.h"

struct hyper_decoder {
	const struct hyper_dialect *dialect;
	struct hyper_wire *wire;	/* of our own dialect; else NULL */
};

struct hyper_decoder *hyper_decoder_new(const struct hyper_dialect *dialect, struct hyper_khz khz)
{
	struct hyper_decoder *decoder = calloc(1, sizeof(*decoder));

	if (!decoder)
		return NULL;
	decoder->dialect = dialect;
	decoder->wire = dialect->wire ? hyper_wire_new(khz) : NULL;
	if (!dialect->wire || decoder->wire)
		return decoder;
	free(decoder);
	return NULL;
}

void hyper_decoder_free(struct hyper_decoder *decoder)
{
	if (decoder)
		hyper_wire_free(decoder->wire);
	free(decoder);
}

/** hypergraph_host is recorded at the entry: its events were at the exit, or before it. */
static void move_to_exit(const struct hyper_call *call, struct hyper_decoded *decoded)
{
	if (call->source != HYPER_KVM_WHOLE || call->cost_ns <= 0)
		return;
	for (unsigned int i = 0; i < decoded->n; i++) {
		struct hyper_event *event = &decoded->events[i];

		if (event->before_ns < 0 ||
		    __builtin_add_overflow(event->before_ns, call->cost_ns, &event->before_ns))
			continue;
		event->has |= UINT32_C(1) << HYPER_F_BEFORE;
	}
}

static int decode(struct hyper_decoder *decoder, const struct hyper_call *call,
		  struct hyper_decoded *decoded)
{
	enum hyper_field bad = HYPER_F_NONE;

	decoded->fault = decoded->label = NULL;
	decoded->n = 0;
	decoded->result = hyper_decode(decoder->dialect, call, &decoded->events[0], &bad);
	if (decoder->wire && decoded->result == HYPER_UNKNOWN)
		return hyper_wire_take(decoder->wire, call, decoded);
	decoded->n = decoded->result == HYPER_DECODED;
	if (decoded->result != HYPER_SENSELESS)
		return 0;
	decoded->label = decoded->events[0].label;
	decoded->fault = hyper_field_name(bad);
	return 0;
}

int hyper_decoder_take(struct hyper_decoder *decoder, const struct hyper_call *call,
		       struct hyper_decoded *decoded)
{
	int ret = decode(decoder, call, decoded);

	move_to_exit(call, decoded);
	for (unsigned int i = 0; i < decoded->n; i++)
		decoded->events[i].vague = call->vague;
	return ret;
}

const char *hyper_result_name(enum hyper_result result)
{
	static const char *const names[HYPER_N_RESULTS] = {
		[HYPER_DECODED] = "decoded", [HYPER_UNKNOWN] = "unknown",
		[HYPER_FOREIGN] = "kvm", [HYPER_SENSELESS] = "senseless",
		[HYPER_USERS] = "user",
	};

	return names[result];
}
