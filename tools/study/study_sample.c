// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	study_sample.c
 * @brief	What the host does while a benchmark runs: CPU, memory, runnable tasks, heat, exits.
 *
 * record_sample.c reads the numbers, which are as vmstat prints them.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "study.h"

static double number(const struct host_sample *sample, enum host_sample_number number)
{
	return sample->numbers[number] < 0 ? NAN : (double)sample->numbers[number];
}

void study_sample(struct study_sample *sample)
{
	struct host_sample host;

	record_sample_read(&host);
	*sample = (struct study_sample){
		.busy = number(&host, HOST_SAMPLE_GUEST) + number(&host, HOST_SAMPLE_USER) +
			number(&host, HOST_SAMPLE_SYSTEM) + number(&host, HOST_SAMPLE_IRQ) +
			number(&host, HOST_SAMPLE_SOFTIRQ),
		.idle = number(&host, HOST_SAMPLE_IDLE) + number(&host, HOST_SAMPLE_IOWAIT),
		.steal = number(&host, HOST_SAMPLE_STEAL),
		.memory_mib = (number(&host, HOST_SAMPLE_MEMORY) -
			       number(&host, HOST_SAMPLE_AVAILABLE)) / (double)RECORD_MIB,
		.runnable = number(&host, HOST_SAMPLE_RUNNABLE),
	};
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

/** Of one machine of KVM; NAN: not known. */
static double exits_of(const char *machine)
{
	char text[32], *end;
	double exits;

	if (record_read(text, sizeof(text), "/sys/kernel/debug/kvm/%s/exits", machine) <= 0)
		return NAN;
	exits = strtod(text, &end);
	return *end || exits < 0 ? NAN : exits;
}

double study_kvm_exits(uint64_t *machines)
{
	char path[PATH_MAX], rest;
	const struct dirent *entry;
	double sum = NAN;
	unsigned int pid, fd;
	DIR *dir;

	*machines = 0;
	snprintf(path, sizeof(path), "%s/sys/kernel/debug/kvm", record_root());
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "%u-%u%c", &pid, &fd, &rest) != 2)
			continue;
		sum = (*machines ? sum : 0) + exits_of(entry->d_name);
		*machines += (uint64_t)pid << 32 | fd;
	}
	if (dir)
		closedir(dir);
	return sum;
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
