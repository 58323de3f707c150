// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	hyper_decoder.c
 * @brief	The calls of a machine, one after the other, become events.
 */
#include <stdlib.h>

#include "hyper_decoder.h"

struct hyper_decoder {
	const struct hyper_dialect *dialect;
};

struct hyper_decoder *hyper_decoder_new(const struct hyper_dialect *dialect)
{
	struct hyper_decoder *decoder = calloc(1, sizeof(*decoder));

	if (decoder)
		decoder->dialect = dialect;
	return decoder;
}

void hyper_decoder_free(struct hyper_decoder *decoder)
{
	free(decoder);
}

void hyper_decoder_take(struct hyper_decoder *decoder, const struct hyper_call *call,
			struct hyper_decoded *decoded)
{
	decoded->bad = HYPER_F_NONE;
	decoded->label = NULL;
	decoded->result = hyper_decode(decoder->dialect, call, &decoded->events[0], &decoded->bad);
	decoded->n = decoded->result == HYPER_DECODED;
	if (decoded->result == HYPER_SENSELESS)
		decoded->label = decoded->events[0].label;
}

const char *hyper_result_name(enum hyper_result result)
{
	static const char *const names[HYPER_N_RESULTS] = {
		[HYPER_DECODED] = "decoded", [HYPER_UNKNOWN] = "unknown",
		[HYPER_FOREIGN] = "kvm", [HYPER_SENSELESS] = "senseless",
	};

	return names[result];
}
