/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_hyper_dialect.c
 * @brief	Any bytes as a user's dialect, and as hypercalls in all of them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hyper_decoder.h"
#include "hyper_detect.h"
#include "memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** What is decoded makes sense, and has what its kind needs. */
static void check_call(const struct hyper_dialect *dialect, const struct hyper_call *call)
{
	enum hyper_field bad;
	struct hyper_event event;
	enum hyper_result result = hyper_decode(dialect, call, &event, &bad);

	if (result >= HYPER_N_RESULTS || (result == HYPER_SENSELESS && !hyper_field_name(bad)))
		abort();
	if (result != HYPER_DECODED)
		return;
	if (!event.label || !hyper_kind_name(event.kind) || !hyper_edge_name(event.edge) ||
	    event.depth < 0 || event.pid < 0 || event.prev_pid < 0 || event.cpu < 0 ||
	    strnlen(event.name, sizeof(event.name)) == sizeof(event.name))
		abort();
	for (int field = 1; field < HYPER_N_FIELDS; field++)
		if (event.has >> field & 1 && !hyper_field_name((enum hyper_field)field))
			abort();
	hyper_number_name(dialect, event.kind, event.number);
}

/** All calls of a machine in our own dialect: the state of one vCPU goes on to the next call. */
static void check_decoder(struct hyper_decoder *decoder, struct hyper_call call)
{
	struct hyper_decoded decoded;

	call.nr = UINT64_C(0x48541000) | (call.nr & 0xfff);
	call.tid = (int32_t)(call.a[3] & 3);
	if (hyper_decoder_take(decoder, &call, &decoded) || decoded.n > HYPER_MAX_EVENTS ||
	    (decoded.result == HYPER_SENSELESS && (!decoded.fault || !decoded.label)))
		abort();
	for (unsigned int i = 0; i < decoded.n; i++)
		if (!decoded.events[i].label ||
		    (decoded.events[i].before_ns < 0 &&
		     decoded.events[i].before_ns != HYPER_BEFORE_UNKNOWN) ||
		    decoded.events[i].pid < 0 || decoded.events[i].prev_pid < 0 ||
		    !hyper_kind_name(decoded.events[i].kind))
			abort();
}

static void check_calls(const struct hyper_dialect *dialect, const uint8_t *data, size_t size)
{
	struct hyper_decoder *decoder = hyper_decoder_new(hyper_dialect_find("hypertrace"),
							  (struct hyper_khz){ 0 });
	struct hyper_tally tally = { .calls = 0 };
	char text[512];

	if (!decoder)
		abort();

	for (size_t at = 0; at + 12 <= size; at += 12) {
		struct hyper_call call = { .bytes = data[at] % 33, .source = data[at + 1] % 3 };

		memcpy(&call.nr, data + at + 2, 2);
		memcpy(call.a, data + at + 4, 8);
		memcpy(call.a + 1, data + at + 3, 8);
		memcpy(call.a + 2, data + at + 2, 8);
		memcpy(call.a + 3, data + at + 1, 8);
		for (size_t i = 0; hyper_dialects[i]; i++)
			check_call(hyper_dialects[i], &call);
		if (dialect) {
			check_call(dialect, &call);
			call.nr = dialect->rows[call.nr % dialect->n_rows].number;
			check_call(dialect, &call);
		}
		check_decoder(decoder, call);
		if (hyper_tally_add(&tally, &call))
			abort();
	}
	hyper_detect(&tally, text, sizeof(text));
	if (!*text || tally.map.n_keys > HYPER_MAX_NUMBERS)
		abort();
	hyper_tally_free(&tally);
	hyper_decoder_free(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file file = memory_file(data, size);
	struct hyper_dialect *dialect;
	char error[512] = "";

	if (hyper_dialect_read(file.path, &dialect, error, sizeof(error)) ?
	    dialect || strncmp(error, file.path, strlen(file.path)) != 0 :
	    !dialect || !dialect->n_rows || *error)
		abort();
	check_calls(dialect, data, size);
	hyper_dialect_free(dialect);
	close(file.fd);
	return 0;
}
