/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The frequency from a trace's own run times: made-up traces with a known one, and the samples.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace_builder.h"
#include "xen_clock.h"
#include "xen_events.h"
#include "xentrace_reader.h"

/** How a made-up machine behaves. */
struct machine {
	double		hz;
	int		n_pcpus;
	int		switches;	/* per pCPU */
	double		slice_ns;	/* mean run time */
	double		noise_ns;	/* between reading the clock and writing the record */
	int		lost_every;	/* one of this many switches is missing; 0: none */
	int		long_every;	/* a run time above 2^32 ns, of which 32 bits are kept */
	int		wrong_every;	/* a run time that is nonsense */
	bool		old_layout;	/* domain and run time alone, as before Xen 4.8 */
};

static double uniform(uint64_t *seed)
{
	return (trace_random(seed) >> 11) / 9007199254740992.0;
}

static void prev(struct trace *t, const struct machine *m, uint64_t tsc, uint32_t vcpu,
		 uint32_t runtime)
{
	if (m->old_layout)
		TRACE_RECORD(t, XEN_TRC_SCHED_SWITCH_INFPREV, tsc, 1, runtime);
	else
		TRACE_RECORD(t, XEN_TRC_SCHED_SWITCH_INFPREV, tsc, 1, vcpu, runtime);
}

static void next(struct trace *t, const struct machine *m, uint64_t tsc, uint32_t vcpu)
{
	if (m->old_layout)
		TRACE_RECORD(t, XEN_TRC_SCHED_SWITCH_INFNEXT, tsc, 1, 0, 30000000);
	else
		TRACE_RECORD(t, XEN_TRC_SCHED_SWITCH_INFNEXT, tsc, 1, vcpu, 0, 30000000);
}

static void run_pcpu(struct trace *t, const struct machine *m, int pcpu, uint64_t *seed)
{
	uint64_t now = 5000000000ULL + pcpu, before = now;	/* system time in whole ns */
	double ahead = pcpu * 1e6;
	uint32_t vcpu = 0;

	trace_window(t, pcpu);
	for (int i = 0; i < m->switches; i++) {
		uint64_t tsc;

		now += 1000 + uniform(seed) * 2 * m->slice_ns;
		if (m->long_every && i % m->long_every == 5)
			now += 5000000000ULL;
		tsc = (uint64_t)(((double)now + uniform(seed) * m->noise_ns) * (m->hz / 1e9) +
				 ahead);
		if (!m->lost_every || i / 7 % m->lost_every) {
			uint32_t runtime = now - before;

			if (m->wrong_every && i % m->wrong_every == 3)
				runtime = trace_random(seed);
			prev(t, m, tsc, vcpu, runtime);
			vcpu = 1 + i % 3;
			next(t, m, tsc + 200, vcpu);
		} else if (i % 7 == 6) {
			TRACE_RECORD(t, XEN_TRC_LOST_RECORDS, tsc, 14, 1, 0, 0);
		}
		before = now;
	}
}

static int calibrate(const struct machine *m, struct xen_clock_fit *fit)
{
	struct trace t = { 0 };
	struct xentrace *reader;
	uint64_t seed = 31337;
	int ret;

	for (int pcpu = 0; pcpu < m->n_pcpus; pcpu++)
		run_pcpu(&t, m, pcpu, &seed);
	reader = xentrace_open_memory(t.data, t.size, NULL, NULL, 0);
	assert_non_null(reader);
	ret = xen_clock_calibrate(reader, fit);
	xentrace_close(reader);
	trace_free(&t);
	return ret;
}

static double off_ppm(double found, double truth)
{
	return fabs(found / truth - 1) * 1e6;
}

static void check(const struct machine *m, double max_ppm)
{
	struct xen_clock_fit fit = { 0 };
	int ret = calibrate(m, &fit);

	if (ret)
		fail_msg("%.0f Hz: %d", m->hz, ret);
	if (!(off_ppm(fit.hz, m->hz) <= max_ppm))
		fail_msg("%.0f Hz: found %llu, %.2f ppm off", m->hz, (unsigned long long)fit.hz,
			 off_ppm(fit.hz, m->hz));
	/* it knows how good it is, within a factor of some */
	if (!(off_ppm(fit.hz, m->hz) <= 5 * fit.residual_ppm + 1))
		fail_msg("%.0f Hz: %.2f ppm off, but claims %.2f ppm", m->hz,
			 off_ppm(fit.hz, m->hz), fit.residual_ppm);
	assert_true(fit.n_samples > 0);
	assert_true(fit.span_ns > 0);
}

static void test_frequencies(void **state)
{
	static const double frequencies[] = {
		24e6, 800e6, 1e9, 1999.999e6, 2.3e9, 2300.002e6, 2400e6, 3333.333e6, 5.2e9,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(frequencies) / sizeof(*frequencies); i++) {
		struct machine m = { frequencies[i], 4, 2000, 1e6, 0, 0, 0, 0, false };

		check(&m, 1);
		m.old_layout = true;
		check(&m, 1);
	}
}

static void test_noise(void **state)
{
	struct machine m = { 2.3e9, 4, 4000, 1e6, 2000, 0, 0, 0, false };

	(void)state;
	check(&m, 5);
	m.noise_ns = 50000;
	check(&m, 50);
	m.n_pcpus = 1;
	m.noise_ns = 5000;
	check(&m, 20);
}

static void test_lost_records(void **state)
{
	struct machine m = { 2.3e9, 4, 6000, 1e6, 2000, 5, 0, 0, false };

	(void)state;
	check(&m, 20);
	m.lost_every = 2;	/* half of them */
	check(&m, 50);
}

static void test_wrapped_runtime(void **state)
{
	struct machine m = { 2.3e9, 4, 3000, 1e6, 1000, 0, 300, 0, false };

	(void)state;
	check(&m, 20);
}

static void test_wrong_runtimes(void **state)
{
	struct machine m = { 2.3e9, 4, 3000, 1e6, 1000, 0, 0, 100, false };

	(void)state;
	check(&m, 20);
}

static void test_too_few(void **state)
{
	struct machine m = { 2.3e9, 1, 10, 1e6, 0, 0, 0, 0, false };
	struct xen_clock_fit fit;
	struct xentrace *reader;
	struct trace t = { 0 };

	(void)state;
	assert_int_equal(calibrate(&m, &fit), -ENODATA);
	/* enough of them, but of too short a time */
	m = (struct machine){ 2.3e9, 1, 100, 100, 0, 0, 0, 0, false };
	assert_int_equal(calibrate(&m, &fit), -ENODATA);
	/* none at all */
	trace_window(&t, 0);
	trace_ticks(&t, 1 << 30, 1000, 1000);
	reader = xentrace_open_memory(t.data, t.size, NULL, NULL, 0);
	assert_int_equal(xen_clock_calibrate(reader, &fit), -ENODATA);
	xentrace_close(reader);
	trace_free(&t);
	/* a frequency that no CPU has */
	m = (struct machine){ 500e3, 2, 1000, 1e6, 0, 0, 0, 0, false };
	assert_int_equal(calibrate(&m, &fit), -ENODATA);
}

/* What Xen itself measured: samples/README.md, "true frequency". */
static void test_samples(void **state)
{
	static const struct { const char *name; double khz; } samples[] = {
		{ "credit2-basic", 2300000 }, { "pinned", 2300002 }, { "lost-records", 2300000 },
		{ "hvm-exits", 2300000 },
	};
	const char *source = getenv("KSV_SOURCE_DIR");

	(void)state;
	if (!source)
		fail_msg("KSV_SOURCE_DIR is not set: run this test by ctest");
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		char path[1024], error[512];
		struct xen_clock_fit fit;
		struct xentrace *reader;

		snprintf(path, sizeof(path), "%s/samples/%s.xen", source, samples[i].name);
		reader = xentrace_open(path, NULL, error, sizeof(error));
		if (!reader)
			fail_msg("%s", error);
		assert_int_equal(xen_clock_calibrate(reader, &fit), 0);
		print_message("%-14s %llu Hz, %+.2f ppm, residual %.2f ppm, %llu run times\n",
			      samples[i].name, (unsigned long long)fit.hz,
			      (fit.hz / (samples[i].khz * 1e3) - 1) * 1e6, fit.residual_ppm,
			      (unsigned long long)fit.n_samples);
		if (off_ppm(fit.hz, samples[i].khz * 1e3) > 50)
			fail_msg("%s: more than 50 ppm off", samples[i].name);
		xentrace_close(reader);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frequencies),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_lost_records),
		cmocka_unit_test(test_wrapped_runtime),
		cmocka_unit_test(test_wrong_runtimes),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests_name("xen_calibrate", tests, NULL, NULL);
}
