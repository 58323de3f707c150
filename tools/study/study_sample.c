// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	study_sample.c
 * @brief	What the host does while a benchmark runs: CPU, memory, runnable tasks, heat.
 *
 * Numbers are from /proc/stat and /proc/meminfo, as vmstat prints them: proc(5).
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "study.h"

/** All of /proc/stat: a line of it has a number for each interrupt. */
#define STAT_BYTES	(1 << 20)

/** The names of the numbers of the line "cpu" are in this order. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, N_TICKS };

void study_sample(struct study_sample *sample)
{
	char *text = malloc(STAT_BYTES);
	unsigned long long ticks[N_TICKS] = { 0 };
	uint64_t total, available = record_memory(&total);
	const char *running;

	*sample = (struct study_sample){ NAN, NAN, NAN, NAN, NAN };
	if (available)
		sample->memory_mib = (double)(total - available) / (double)RECORD_MIB;
	if (text && record_read(text, STAT_BYTES, "/proc/stat") > 0 &&
	    sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[USER],
		   &ticks[NICE], &ticks[SYSTEM], &ticks[IDLE], &ticks[IOWAIT], &ticks[IRQ],
		   &ticks[SOFTIRQ], &ticks[STEAL]) == N_TICKS) {
		sample->busy = (double)(ticks[USER] + ticks[NICE] + ticks[SYSTEM] + ticks[IRQ] +
					ticks[SOFTIRQ]);
		sample->idle = (double)(ticks[IDLE] + ticks[IOWAIT]);
		sample->steal = (double)ticks[STEAL];
		running = strstr(text, "\nprocs_running ");
		if (running)
			sample->runnable = strtod(running + strlen("\nprocs_running "), NULL);
	}
	free(text);
}

/** The governors of all CPUs, each once. */
static void read_governors(char *text, size_t size)
{
	char path[PATH_MAX], name[32];
	const struct dirent *entry;
	size_t n = 0;
	DIR *dir;
	int cpu;

	*text = '\0';
	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu", record_root());
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "cpu%d", &cpu) == 1 &&
		    record_read(name, sizeof(name), "/sys/devices/system/cpu/cpu%d/cpufreq/"
				"scaling_governor", cpu) > 0 && !strstr(text, name) && n < size)
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? " " : "", name);
	if (dir)
		closedir(dir);
}

void study_host_facts(struct study_run *run)
{
	struct utsname system;
	char text[64];

	uname(&system);
	snprintf(run->kernel, sizeof(run->kernel), "%.60s %.80s", system.release, system.version);
	read_governors(run->governor, sizeof(run->governor));
	run->load = record_read(text, sizeof(text), "/proc/loadavg") > 0 ? strtod(text, NULL) : NAN;
}

double study_throttled(void)
{
	static const char *const kinds[] = { "core", "package" };
	char path[PATH_MAX], text[32];
	const struct dirent *entry;
	double sum = NAN;
	DIR *dir;
	int cpu;

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu", record_root());
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "cpu%d", &cpu) != 1)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
			if (record_read(text, sizeof(text), "/sys/devices/system/cpu/cpu%d/"
					"thermal_throttle/%s_throttle_count", cpu, kinds[i]) > 0)
				sum = (isnan(sum) ? 0 : sum) + strtod(text, NULL);
	}
	if (dir)
		closedir(dir);
	return sum;
}
