/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The clock against 128-bit arithmetic, and frequencies as text.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "trace_builder.h"
#include "xen_clock.h"

static const uint64_t frequencies[] = {
	XEN_CLOCK_MIN_HZ, XEN_CLOCK_MIN_HZ + 1, 24000000, 99999999, 999999999, 1000000000,
	1000000001, 1999999999, 2000000000, 2299999000, 2300002000, 2399998000, 2400000000,
	3333333333, 5000000000, 68719476736, 99999999999, XEN_CLOCK_MAX_HZ,
};

static const uint64_t numbers[] = {
	0, 1, 2, 3, 999999999, 1000000000, 1000000001, (1ULL << 32) - 1, 1ULL << 32,
	(1ULL << 53) - 1, (1ULL << 53) + 1, INT64_MAX - 1ULL, INT64_MAX, 1ULL << 63,
	UINT64_MAX - 1, UINT64_MAX,
};

static uint64_t exact_ns(uint64_t cycles, uint64_t hz)
{
	unsigned __int128 ns = (unsigned __int128)cycles * 1000000000 / hz;

	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

static void check_exact(uint64_t hz, uint64_t base, uint64_t tsc)
{
	struct xen_clock clock;
	uint64_t forward, cycles = tsc >= base ? tsc - base : base - tsc;
	int64_t expected, ns;

	xen_clock_init(&clock, hz, XEN_CLOCK_OPTION, base);
	forward = exact_ns(cycles, hz);
	assert_int_equal(xen_clock_cycles_to_ns(&clock, cycles), forward);
	if (tsc >= base)
		expected = forward > INT64_MAX ? INT64_MAX : (int64_t)forward;
	else
		expected = forward > INT64_MAX ? INT64_MIN : -(int64_t)forward;
	ns = xen_clock_ns(&clock, tsc);
	if (ns != expected)
		fail_msg("hz %llu base %llu tsc %llu: %lld instead of %lld",
			 (unsigned long long)hz, (unsigned long long)base, (unsigned long long)tsc,
			 (long long)ns, (long long)expected);
}

static void test_exact(void **state)
{
	uint64_t seed = 88172645463325252;

	(void)state;
	for (size_t f = 0; f < ARRAY_SIZE(frequencies); f++) {
		for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
			for (size_t k = 0; k < ARRAY_SIZE(numbers); k++)
				check_exact(frequencies[f], numbers[i], numbers[k]);
		for (int i = 0; i < 20000; i++)
			check_exact(frequencies[f], trace_random(&seed) >> (i % 64),
				    trace_random(&seed) >> (i / 7 % 64));
	}
	for (int i = 0; i < 300000; i++)
		check_exact(XEN_CLOCK_MIN_HZ +
			    trace_random(&seed) % (XEN_CLOCK_MAX_HZ - XEN_CLOCK_MIN_HZ + 1),
			    i % 2 ? 0 : trace_random(&seed), trace_random(&seed) >> (i % 64));
}

/* Whole multiples of a second must be exact, and the ns just before and after them. */
static void test_seconds(void **state)
{
	struct xen_clock clock;

	(void)state;
	for (size_t f = 0; f < ARRAY_SIZE(frequencies); f++) {
		uint64_t hz = frequencies[f];

		xen_clock_init(&clock, hz, XEN_CLOCK_OPTION, 0);
		for (uint64_t s = 1; s < 200000000 && s < UINT64_MAX / hz; s = s * 3 + 1) {
			assert_int_equal(xen_clock_ns(&clock, s * hz), s * 1000000000);
			assert_true(xen_clock_ns(&clock, s * hz - 1) <
				    (int64_t)(s * 1000000000));
		}
	}
}

/* xen_clock_tsc() gives the smallest TSC whose time is at least the one asked for. */
static void check_inverse(const struct xen_clock *clock, int64_t ns)
{
	uint64_t tsc = xen_clock_tsc(clock, ns);

	if (xen_clock_ns(clock, tsc) < ns && tsc != UINT64_MAX)
		fail_msg("hz %llu base %llu ns %lld: TSC %llu is too early",
			 (unsigned long long)clock->hz, (unsigned long long)clock->base_tsc,
			 (long long)ns, (unsigned long long)tsc);
	if (tsc && xen_clock_ns(clock, tsc - 1) >= ns)
		fail_msg("hz %llu base %llu ns %lld: TSC %llu is not the smallest",
			 (unsigned long long)clock->hz, (unsigned long long)clock->base_tsc,
			 (long long)ns, (unsigned long long)tsc);
}

static void test_inverse(void **state)
{
	static const int64_t times[] = {
		0, 1, -1, 2, -2, 999, 1000000000, -1000000000, 1000000001, INT64_MAX,
		INT64_MIN, INT64_MAX - 1, INT64_MIN + 1,
	};
	struct xen_clock clock;
	uint64_t seed = 7;

	(void)state;
	for (size_t f = 0; f < ARRAY_SIZE(frequencies); f++) {
		for (size_t b = 0; b < ARRAY_SIZE(numbers); b++) {
			xen_clock_init(&clock, frequencies[f], XEN_CLOCK_OPTION, numbers[b]);
			for (size_t i = 0; i < ARRAY_SIZE(times); i++)
				check_inverse(&clock, times[i]);
			for (int i = 0; i < 1000; i++)
				check_inverse(&clock, (int64_t)trace_random(&seed) >> (i % 64));
		}
		/* and it is its own inverse on every TSC that begins a ns */
		xen_clock_init(&clock, frequencies[f], XEN_CLOCK_OPTION, 1ULL << 40);
		for (int i = 0; i < 1000; i++) {
			uint64_t tsc = (1ULL << 40) + trace_random(&seed) % (1ULL << 50);

			assert_true(xen_clock_tsc(&clock, xen_clock_ns(&clock, tsc)) <= tsc);
		}
	}
}

static void test_parse_hz(void **state)
{
	static const struct {
		const char	*text;
		int		ret;
		uint64_t	hz;
	} cases[] = {
		{ "2.4G", 0, 2400000000 }, { "2,4G", 0, 2400000000 }, { "2.4g", 0, 2400000000 },
		{ "2400M", 0, 2400000000 }, { "2399998K", 0, 2399998000 },
		{ "2399998k", 0, 2399998000 }, { "2400000000", 0, 2400000000 },
		{ "2.4GHz", 0, 2400000000 }, { "2400 MHz", 0, 2400000000 },
		{ "2300002kHz", 0, 2300002000 }, { "2400000000Hz", 0, 2400000000 },
		{ "2400000000 hz", 0, 2400000000 }, { "2.399998765G", 0, 2399998765 },
		{ "2.3999987659G", 0, 2399998765 }, { ".5G", 0, 500000000 },
		{ "3.G", 0, 3000000000 }, { "0002.4G", 0, 2400000000 },
		{ "1M", 0, XEN_CLOCK_MIN_HZ }, { "100G", 0, XEN_CLOCK_MAX_HZ },
		{ "999999", -ERANGE, 0 }, { "100000000001", -ERANGE, 0 }, { "0", -ERANGE, 0 },
		{ "1", -ERANGE, 0 }, { "99999999999999999999999999999999999999", -ERANGE, 0 },
		{ "340282366920938463463374607431768211456G", -ERANGE, 0 },
		{ "", -EINVAL, 0 }, { "G", -EINVAL, 0 }, { ".", -EINVAL, 0 }, { ",G", -EINVAL, 0 },
		{ "abc", -EINVAL, 0 }, { "2.4T", -EINVAL, 0 }, { "2.4GG", -EINVAL, 0 },
		{ "2.4.1G", -EINVAL, 0 }, { "-2.4G", -EINVAL, 0 }, { "+2.4G", -EINVAL, 0 },
		{ "2.4G ", -EINVAL, 0 }, { "0x10G", -EINVAL, 0 }, { "2e9", -EINVAL, 0 },
		{ "1,000,000", -EINVAL, 0 }, { "2.4 G Hz", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t hz = 4711;
		int ret = xen_clock_parse_hz(cases[i].text, &hz);

		if (ret != cases[i].ret || hz != (ret ? 4711 : cases[i].hz))
			fail_msg("'%s': %d, %llu", cases[i].text, ret, (unsigned long long)hz);
	}
}

static void test_text(void **state)
{
	struct xen_clock clock;
	char text[256];

	(void)state;
	xen_clock_init(&clock, 2300002000, XEN_CLOCK_OPTION, 0);
	xen_clock_text(text, sizeof(text), &clock);
	assert_string_equal(text, "2300.002000 MHz (option)");
	xen_clock_init(&clock, 2300002000, XEN_CLOCK_SIDECAR, 0);
	xen_clock_text(text, sizeof(text), &clock);
	assert_string_equal(text, "2300.002000 MHz (sidecar)");
	xen_clock_init(&clock, 2300002999, XEN_CLOCK_CALIBRATED, 0);
	clock.n_samples = 1234;
	clock.residual_ppm = 0.5;
	xen_clock_text(text, sizeof(text), &clock);
	assert_string_equal(text, "2300.002999 MHz, calibrated from 1234 run times in the trace, "
			    "to 0.5 ppm");
	xen_clock_init(&clock, XEN_CLOCK_ASSUMED_HZ, XEN_CLOCK_ASSUMED, 0);
	xen_clock_text(text, sizeof(text), &clock);
	assert_non_null(strstr(text, "2400.000000 MHz"));
	assert_non_null(strstr(text, "XEN_CPUHZ"));
	assert_string_equal(xen_clock_source_name(XEN_CLOCK_ASSUMED), "assumed");
	assert_string_equal(xen_clock_source_name((enum xen_clock_source)99), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_inverse),
		cmocka_unit_test(test_parse_hz),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests_name("xen_clock", tests, NULL, NULL);
}
