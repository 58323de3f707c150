// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	bench_hypertrace.c
 * @brief	What hypertracing costs besides the exits: encoding in the guest, decoding after.
 *
 * Usage: bench_hypertrace [EVENTS]	default: 2000000
 *
 * Switches of 300 tasks on a vCPU; then the same with a wake-up, an interrupt and a softirq each.
 * Prints a line of name=value pairs per stream and sort of call: calls (each of them a VM exit) and
 * bytes of registers per event, ns per event for both sides. Exit status 1 if packed calls have not
 * half as many exits, or if a side takes more than 1 us per event: an exit takes as long.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hypertrace_wire.h"

#define LIMIT_NS	1000.0
#define LIMIT_CALLS	0.5

/** On a CPU: what else runs on the machine is not ours. */
static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static uint32_t rnd(uint32_t n)
{
	static uint64_t seed = 88172645463325252ULL;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

/* The kinds of a stream are those of a set. */
static void make_events(struct ht_event *events, size_t n, uint32_t kinds)
{
	uint64_t tsc = 1000000, pid = 0;

	for (size_t i = 0; i < n; i++) {
		struct ht_event *event = &events[i];

		*event = (struct ht_event) { .tsc = tsc += 2000 + rnd(100000) };
		do
			event->kind = (uint8_t)(1 + rnd(HT_N_KINDS - 1));
		while (!(kinds >> event->kind & 1));
		if (event->kind == HT_SWITCH) {
			event->field[HT_SWITCH_PREV_PID] = pid;
			event->field[HT_SWITCH_PREV_PRIO] = 120;
			event->field[HT_SWITCH_PREV_STATE] = pid ? rnd(2) : 0;
			event->field[HT_SWITCH_NEXT_PID] = pid = rnd(2) ? 1000 + rnd(300) : 0;
			event->field[HT_SWITCH_NEXT_PRIO] = 120;
		} else if (event->kind == HT_WAKEUP) {
			event->field[0] = 1000 + rnd(300);
			event->field[1] = 120;
			event->field[2] = rnd(4);
		} else {
			event->field[0] = rnd(10);
		}
	}
}

static size_t encode(const struct ht_event *events, size_t n, bool packed, struct ht_call *calls)
{
	const struct ht_clock clock = { .shift = 6, .packed = packed };
	struct ht_encoder encoder = { 0 };
	size_t n_calls = 1;

	ht_encode_start(&encoder, &clock, false, &calls[0]);
	for (size_t i = 0; i < n; i++) {
		if (!packed) {
			ht_encode_plain(&encoder, &events[i], &calls[n_calls++]);
		} else if (!ht_encode_add(&encoder, &events[i])) {
			ht_encode_flush(&encoder, events[i].tsc, &calls[n_calls++]);
			ht_encode_add(&encoder, &events[i]);
		}
	}
	return n_calls + ht_encode_flush(&encoder, events[n - 1].tsc, &calls[n_calls]);
}

static size_t decode(const struct ht_call *calls, size_t n)
{
	struct ht_decoder decoder = { 0 };
	struct ht_decoded decoded;
	size_t n_events = 0;

	for (size_t i = 0; i < n; i++) {
		if (ht_decode(&decoder, &calls[i], &decoded))
			return 0;
		n_events += decoded.n;
	}
	return n_events;
}

static bool run(const char *name, const struct ht_event *events, size_t n, bool packed,
		struct ht_call *calls)
{
	double begin = now_ns(), middle, per_event;
	size_t n_calls = encode(events, n, packed, calls);
	bool all;

	middle = now_ns();
	all = decode(calls, n_calls) == n;
	per_event = (double)n_calls / (double)n;
	printf("stream=%s calls=%s calls_per_event=%.3f bytes_per_event=%.1f encode_ns=%.1f "
	       "decode_ns=%.1f%s\n", name, packed ? "packed" : "plain", per_event,
	       per_event * HT_KVM_BYTES, (middle - begin) / (double)n,
	       (now_ns() - middle) / (double)n, all ? "" : " NOT ALL DECODED");
	return all && (middle - begin) / (double)n < LIMIT_NS &&
	       (!packed || per_event < LIMIT_CALLS);
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
	struct ht_event *events = calloc(n ? n : 1, sizeof(*events));
	struct ht_call *calls = calloc(n + 2, sizeof(*calls));
	bool good = n && events && calls;

	for (int all = 0; good && all < 2; all++) {
		const char *name = all ? "switches+wakeups+irqs" : "switches";

		make_events(events, n, all ? 1u << HT_SWITCH | 1u << HT_WAKEUP |
			    1u << HT_IRQ_ENTRY | 1u << HT_SOFTIRQ_ENTRY : 1u << HT_SWITCH);
		good = run(name, events, n, false, calls) && run(name, events, n, true, calls);
	}
	free(events);
	free(calls);
	return !good;
}
