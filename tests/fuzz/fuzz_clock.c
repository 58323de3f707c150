/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_clock.c
 * @brief	Frequencies as text, exact conversion, and calibration from any bytes as a trace.
 *
 * Input: a text of 16 bytes for xen_clock_parse_hz(), three 64-bit numbers (frequency, base, TSC),
 * then a trace.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "xen_clock.h"
#include "xentrace_reader.h"

#define TEXT_SIZE	16
#define HEAD_SIZE	(TEXT_SIZE + 3 * 8)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_conversion(uint64_t hz, uint64_t base, uint64_t tsc)
{
	uint64_t cycles = tsc > base ? tsc - base : base - tsc;
	unsigned __int128 exact = (unsigned __int128)cycles * 1000000000 / hz;
	struct xen_clock clock;
	int64_t ns;

	xen_clock_init(&clock, hz, XEN_CLOCK_OPTION, base);
	if (xen_clock_cycles_to_ns(&clock, cycles) != (exact > UINT64_MAX ? UINT64_MAX
									  : (uint64_t)exact))
		abort();
	ns = xen_clock_ns(&clock, tsc);
	if (exact <= INT64_MAX && ns != (tsc < base ? -(int64_t)exact : (int64_t)exact))
		abort();
	if (exact > INT64_MAX)
		return;
	tsc = xen_clock_tsc(&clock, ns);
	if (xen_clock_ns(&clock, tsc) < ns || (tsc && xen_clock_ns(&clock, tsc - 1) >= ns))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[TEXT_SIZE + 1] = "", line[256];
	struct xen_clock_fit fit;
	struct xen_clock clock;
	struct xentrace *reader;
	uint64_t hz, number[3];

	if (size < HEAD_SIZE)
		return 0;
	memcpy(text, data, TEXT_SIZE);
	memcpy(number, data + TEXT_SIZE, sizeof(number));
	if (!xen_clock_parse_hz(text, &hz)) {
		if (hz < XEN_CLOCK_MIN_HZ || hz > XEN_CLOCK_MAX_HZ)
			abort();
		check_conversion(hz, number[1], number[2]);
	}
	check_conversion(XEN_CLOCK_MIN_HZ + number[0] % (XEN_CLOCK_MAX_HZ - XEN_CLOCK_MIN_HZ + 1),
			 number[1], number[2]);
	reader = xentrace_open_memory(data + HEAD_SIZE, size - HEAD_SIZE, NULL, NULL, 0);
	if (!reader)
		return 0;
	if (!xen_clock_calibrate(reader, &fit)) {
		if (fit.hz < XEN_CLOCK_MIN_HZ || fit.hz > XEN_CLOCK_MAX_HZ || !fit.n_samples ||
		    !(fit.residual_ppm >= 0))
			abort();
		xen_clock_init(&clock, fit.hz, XEN_CLOCK_CALIBRATED, xentrace_first_tsc(reader));
		if (xen_clock_text(line, sizeof(line), &clock) <= 0)
			abort();
	}
	xentrace_close(reader);
	return 0;
}
