/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_host_samples.c
 * @brief	Any bytes as samples of a host: refused, or in order, and the same when written
 *		again; sums of intervals add up.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host_samples.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is)
{
	if (!is)
		abort();
}

static FILE *open_bytes(const void *data, size_t size)
{
	FILE *file = size ? fmemopen((void *)(uintptr_t)data, size, "r") : fopen("/dev/null", "r");

	check(file);
	return file;
}

static void check_order(const struct host_samples *samples)
{
	for (size_t i = 0; i < samples->n; i++) {
		const struct host_sample *sample = &samples->all[i];

		check(sample->time_ns >= 0);
		check(!i || sample->time_ns > samples->all[i - 1].time_ns);
		for (int k = 0; k < HOST_N_SAMPLED; k++)
			check(sample->numbers[k] >= HOST_SAMPLE_UNKNOWN);
	}
}

static void check_written(const struct host_samples *samples)
{
	char *text = NULL, line[HOST_SAMPLE_LINE];
	struct host_samples again;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	check(out);
	fwrite(line, 1, host_samples_titles(line), out);
	for (size_t i = 0; i < samples->n; i++)
		fwrite(line, 1, host_samples_line(line, &samples->all[i]), out);
	fclose(out);
	out = open_bytes(text, size);
	check(!host_samples_take(&again, out));
	check(again.n == samples->n && !again.bad_lines);
	check(!again.n || !memcmp(again.all, samples->all, again.n * sizeof(*again.all)));
	host_samples_free(&again);
	fclose(out);
	free(text);
}

/** An interval and its two parts; a number that both parts have is known of the whole. */
static void check_sums(const struct host_samples *samples, int64_t from_ns, int64_t middle_ns,
		       int64_t to_ns)
{
	struct host_sample_sums whole, parts[2];

	host_samples_sum(samples, from_ns, to_ns, &whole);
	host_samples_sum(samples, from_ns, middle_ns, &parts[0]);
	host_samples_sum(samples, middle_ns, to_ns, &parts[1]);
	for (int i = 0; i < HOST_N_COUNTERS; i++) {
		check(whole.counts[i] >= HOST_SAMPLE_UNKNOWN);
		if (parts[0].counts[i] >= 0 && parts[1].counts[i] >= 0)
			check(whole.counts[i] == parts[0].counts[i] + parts[1].counts[i]);
		check(whole.counts[i] < 0 || (parts[0].counts[i] >= 0 && parts[1].counts[i] >= 0));
	}
	for (int i = HOST_N_COUNTERS; i < HOST_N_SAMPLED; i++) {
		double mean = whole.means[i];

		check(isnan(mean) == (isnan(parts[0].means[i]) && isnan(parts[1].means[i])));
		check(isnan(mean) || (mean >= 0 && mean <= 9.3e18));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = open_bytes(data, size);
	struct host_samples samples;
	int ret = host_samples_take(&samples, file);

	fclose(file);
	check(!ret || (ret == -EBADMSG && !samples.n && !samples.bad_lines));
	check_order(&samples);
	if (!ret)
		check_written(&samples);
	check_sums(&samples, INT64_MIN, 0, INT64_MAX);
	for (size_t i = 0; i < samples.n && i < 20; i++) {
		int64_t first_ns = samples.all[0].time_ns, here_ns = samples.all[i].time_ns;
		int64_t last_ns = samples.all[samples.n - 1].time_ns;

		check_sums(&samples, first_ns, here_ns, last_ns);
		check_sums(&samples, first_ns, here_ns + (last_ns - here_ns) / 2, last_ns);
	}
	host_samples_free(&samples);
	return 0;
}
