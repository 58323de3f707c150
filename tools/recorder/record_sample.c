// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_sample.c
 * @brief	Read what this host's kernel counts, and write it once a second beside the trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#include "record.h"

/** All of such a file: a line of /proc/stat has a number for each interrupt. */
#define TEXT_BYTES	(1 << 20)

/** The names of the numbers of the line "cpu" are in this order. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, GUEST, GUEST_NICE, N_TICKS };

/** A line of a file, "NAME: NUMBER" or "NAME NUMBER". */
struct line {
	const char	*name;		/* with what stands before the number */
	int		number;		/* enum host_sample_number; equal ones add up */
	int64_t		unit;
};

static const struct line stat_lines[] = {
	{ "ctxt ", HOST_SAMPLE_SWITCHES, 1 },
	{ "intr ", HOST_SAMPLE_INTERRUPTS, 1 },
	{ "processes ", HOST_SAMPLE_FORKS, 1 },
	{ "procs_running ", HOST_SAMPLE_RUNNABLE, 1 },
	{ "procs_blocked ", HOST_SAMPLE_BLOCKED, 1 },
	{ NULL, 0, 0 }
};

static const struct line memory_lines[] = {
	{ "MemTotal:", HOST_SAMPLE_MEMORY, 1024 },
	{ "MemFree:", HOST_SAMPLE_FREE, 1024 },
	{ "MemAvailable:", HOST_SAMPLE_AVAILABLE, 1024 },
	{ "Buffers:", HOST_SAMPLE_CACHED, 1024 },
	{ "Cached:", HOST_SAMPLE_CACHED, 1024 },
	{ "SwapTotal:", HOST_SAMPLE_SWAP, 1024 },
	{ "SwapFree:", HOST_SAMPLE_SWAP_FREE, 1024 },
	{ NULL, 0, 0 }
};

/** Units of swap are pages: 0 stands for their size. */
static const struct line vmstat_lines[] = {
	{ "pgpgin ", HOST_SAMPLE_READ, 1024 },
	{ "pgpgout ", HOST_SAMPLE_WRITTEN, 1024 },
	{ "pswpin ", HOST_SAMPLE_SWAP_IN, 0 },
	{ "pswpout ", HOST_SAMPLE_SWAP_OUT, 0 },
	{ "pgfault ", HOST_SAMPLE_FAULTS, 1 },
	{ "pgmajfault ", HOST_SAMPLE_MAJOR_FAULTS, 1 },
	{ NULL, 0, 0 }
};

/** A number of /proc/pressure, in microseconds. */
static const struct {
	const char	*file, *line;
	int		number;
} pressures[] = {
	{ "cpu", "some ", HOST_SAMPLE_CPU_SOME },
	{ "memory", "some ", HOST_SAMPLE_MEMORY_SOME },
	{ "memory", "full ", HOST_SAMPLE_MEMORY_FULL },
	{ "io", "some ", HOST_SAMPLE_IO_SOME },
	{ "io", "full ", HOST_SAMPLE_IO_FULL },
};

/* --- what the kernel counts ------------------------------------------------------------------ */

static void take_lines(struct host_sample *sample, const char *text, const struct line *lines)
{
	for (; text && *text; text = strchr(text, '\n')) {
		text += *text == '\n';
		for (const struct line *line = lines; line->name; line++) {
			size_t n = strlen(line->name);
			int64_t *number = &sample->numbers[line->number], value;

			if (strncmp(text, line->name, n) != 0)
				continue;
			value = strtoll(text + n, NULL, 10) *
				(line->unit ? line->unit : sysconf(_SC_PAGESIZE));
			*number = *number < 0 ? value : *number + value;
		}
	}
}

static int64_t ns_of(unsigned long long ticks)
{
	return (int64_t)((__int128)ticks * 1000000000 / sysconf(_SC_CLK_TCK));
}

/** Guests' time is in the user's, too. */
static void take_cpu(struct host_sample *sample, const char *text)
{
	unsigned long long ticks[N_TICKS] = { 0 }, user, guest;
	int64_t *numbers = sample->numbers;

	if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[USER],
		   &ticks[NICE], &ticks[SYSTEM], &ticks[IDLE], &ticks[IOWAIT], &ticks[IRQ],
		   &ticks[SOFTIRQ], &ticks[STEAL], &ticks[GUEST], &ticks[GUEST_NICE]) != N_TICKS)
		return;
	user = ticks[USER] + ticks[NICE];
	guest = ticks[GUEST] + ticks[GUEST_NICE];
	numbers[HOST_SAMPLE_GUEST] = ns_of(guest);
	numbers[HOST_SAMPLE_USER] = ns_of(user > guest ? user - guest : 0);
	numbers[HOST_SAMPLE_SYSTEM] = ns_of(ticks[SYSTEM]);
	numbers[HOST_SAMPLE_IRQ] = ns_of(ticks[IRQ]);
	numbers[HOST_SAMPLE_SOFTIRQ] = ns_of(ticks[SOFTIRQ]);
	numbers[HOST_SAMPLE_STEAL] = ns_of(ticks[STEAL]);
	numbers[HOST_SAMPLE_IOWAIT] = ns_of(ticks[IOWAIT]);
	numbers[HOST_SAMPLE_IDLE] = ns_of(ticks[IDLE]);
}

static void take_pressures(struct host_sample *sample, char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(pressures); i++) {
		const char *line, *total;

		if (record_read(text, TEXT_BYTES, "/proc/pressure/%s", pressures[i].file) <= 0)
			continue;
		line = strstr(text, pressures[i].line);
		total = line ? strstr(line, "total=") : NULL;
		if (total)
			sample->numbers[pressures[i].number] =
				strtoll(total + strlen("total="), NULL, 10) * 1000;
	}
}

bool record_sample_read(struct host_sample *sample)
{
	char *text = malloc(TEXT_BYTES);
	bool known = false;

	for (int i = 0; i < HOST_N_SAMPLED; i++)
		sample->numbers[i] = HOST_SAMPLE_UNKNOWN;
	if (!text)
		return false;
	if (record_read(text, TEXT_BYTES, "/proc/stat") > 0) {
		take_cpu(sample, text);
		take_lines(sample, text, stat_lines);
	}
	if (record_read(text, TEXT_BYTES, "/proc/meminfo") > 0)
		take_lines(sample, text, memory_lines);
	if (record_read(text, TEXT_BYTES, "/proc/vmstat") > 0)
		take_lines(sample, text, vmstat_lines);
	take_pressures(sample, text);
	for (int i = 0; i < HOST_N_SAMPLED; i++)
		known |= sample->numbers[i] >= 0;
	free(text);
	return known;
}

/* --- beside a trace -------------------------------------------------------------------------- */

/** The time of the trace's clock, as readers of the trace have it in ns. */
static int64_t trace_time_ns(const struct record *record)
{
#if defined(__x86_64__) || defined(__i386__)
	if (!strcmp(record->clock, "x86-tsc"))
		return (int64_t)((unsigned __int128)__rdtsc() * record->scale.mult >>
				 record->scale.shift);
#else
	(void)record;
#endif
	return record_now_ns();
}

/** The trace is complete without the file. */
static void give_up(struct record *record, const char *why)
{
	ksv_note("%s/" RECORD_KVM_FILE HOST_SAMPLES_ENDING ": there are no more samples of this "
		 "host's counters: %s", record->folder, why);
	close(record->samples);
	record->samples = -1;
}

static void put(struct record *record, const char *line, size_t n)
{
	ssize_t done = write(record->samples, line, n);

	if (done != (ssize_t)n)
		give_up(record, strerror(done < 0 ? errno : ENOSPC));
}

static void put_sample(struct record *record, struct host_sample *sample)
{
	char line[HOST_SAMPLE_LINE];

	if (record->n_samples == HOST_SAMPLES_MAX) {
		give_up(record, "the file is full");
		return;
	}
	record->n_samples++;
	put(record, line, host_samples_line(line, sample));
}

void record_samples_begin(struct record *record)
{
	struct host_sample sample = { .time_ns = trace_time_ns(record) };
	char path[PATH_MAX + NAME_MAX], line[HOST_SAMPLE_LINE];

	record->samples = -1;
	if (!record_sample_read(&sample))
		return;
	snprintf(path, sizeof(path), "%s/" RECORD_KVM_FILE HOST_SAMPLES_ENDING, record->folder);
	record->samples = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (record->samples < 0) {
		ksv_note("%s: %s: this host's counters are not sampled", path, strerror(errno));
		return;
	}
	record->sampled_ns = record_now_ns();
	put(record, line, host_samples_titles(line));
	if (record->samples >= 0)
		put_sample(record, &sample);
}

static void sample_now(struct record *record)
{
	struct host_sample sample = { .time_ns = trace_time_ns(record) };

	if (record->samples >= 0 && record_sample_read(&sample))
		put_sample(record, &sample);
}

void record_samples_look(struct record *record)
{
	int64_t now = record_now_ns();

	if (record->samples < 0 || now < record->sampled_ns + HOST_SAMPLE_NS)
		return;
	/* late ones do not shift those that follow; what was missed stays missing */
	record->sampled_ns += (now - record->sampled_ns) / HOST_SAMPLE_NS * HOST_SAMPLE_NS;
	sample_now(record);
}

void record_samples_end(struct record *record)
{
	sample_now(record);
	if (record->samples >= 0)
		close(record->samples);
	record->samples = -1;
}
