// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_feed.c
 * @brief	Write to standard output as xentrace does of a busy host: RATE records per second.
 *
 * Usage: xentrace_feed RATE SECONDS
 *
 * Eight pCPUs, two vCPUs of one domain on each; every 100 ms a window per pCPU that has records. On
 * each, VM exits and entries alternate; after 100 of these the other vCPU has its turn, and each
 * third time the one that leaves blocks, and is woken shortly before its next turn. Its TSC counts
 * at 2.4 GHz. On standard error it prints what it has written, and how late it was at most.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "xen_events.h"

#define PCPUS		8
#define HZ		2400000000ULL
#define TICK_NS		100000000ULL
#define SECOND_NS	1000000000ULL
/** Exits and entries of a vCPU's turn. */
#define TURN		200

struct pcpu {
	uint64_t	n;		/* records so far */
	int		on;		/* vCPU of it, 0 or 1 */
	int		off;		/* runstate of the other one: XEN_RUNSTATE_... */
	int		turns;
	int		left;		/* records until the next one may have its turn */
	bool		in_guest;
};

static uint8_t *window;
static size_t n_window, room_window;
static uint64_t written;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void put(const void *data, size_t size)
{
	if (ARRAY_GROW(window, n_window + size, room_window))
		exit(1);
	memcpy(window + n_window, data, size);
	n_window += size;
}

static void put_u32(uint32_t word)
{
	word = htole32(word);
	put(&word, sizeof(word));
}

static void record(struct pcpu *cpu, uint64_t tsc, uint32_t event, int n, uint32_t a, uint32_t b)
{
	put_u32(event | (uint32_t)n << 28 | UINT32_C(1) << 31);
	put_u32((uint32_t)tsc);
	put_u32((uint32_t)(tsc >> 32));
	if (n > 0)
		put_u32(a);
	if (n > 1)
		put_u32(b);
	cpu->n++;
	written++;
}

static void runstate(struct pcpu *cpu, uint64_t tsc, uint32_t vcpu, int old, int new)
{
	record(cpu, tsc, 0x00021001u | (uint32_t)old << 8 | (uint32_t)new << 4, 1, vcpu, 0);
}

/** The next record, or those of a switch, which come in an exit. */
static void step(struct pcpu *cpu, int number, uint64_t tsc)
{
	static const uint32_t reasons[] = { 12, 30, 48, 1, 32 };
	uint32_t on = UINT32_C(1) << 16 | (uint32_t)(2 * number + cpu->on);
	uint32_t off = UINT32_C(1) << 16 | (uint32_t)(2 * number + !cpu->on);
	int leaves;

	if (--cpu->left == 20 && cpu->off == XEN_RUNSTATE_BLOCKED) {
		runstate(cpu, tsc, off, XEN_RUNSTATE_BLOCKED, XEN_RUNSTATE_RUNNABLE);
		cpu->off = XEN_RUNSTATE_RUNNABLE;
	} else if (cpu->left <= 0 && !cpu->in_guest) {
		leaves = ++cpu->turns % 3 ? XEN_RUNSTATE_RUNNABLE : XEN_RUNSTATE_BLOCKED;
		runstate(cpu, tsc, on, XEN_RUNSTATE_RUNNING, leaves);
		runstate(cpu, tsc + 100, off, cpu->off, XEN_RUNSTATE_RUNNING);
		cpu->on = !cpu->on;
		cpu->off = leaves;
		cpu->left = TURN;
	} else if (cpu->in_guest) {
		record(cpu, tsc, 0x00081002, 2, reasons[cpu->n / 7 % ARRAY_SIZE(reasons)], 0);
		cpu->in_guest = false;
	} else {
		record(cpu, tsc, 0x00081001, 0, 0, 0);
		cpu->in_guest = true;
	}
}

/** Return: 0, or an errno: nobody reads any more. */
static int put_out(void)
{
	for (size_t at = 0; at < n_window; ) {
		ssize_t n = write(STDOUT_FILENO, window + at, n_window - at);

		if (n < 0)
			return errno;
		at += (size_t)n;
	}
	return 0;
}

/** What a pCPU has recorded in one period of @tick. */
static int put_window(struct pcpu *cpu, int number, uint64_t tick, uint64_t records)
{
	uint64_t begin = HZ + tick * (HZ * TICK_NS / SECOND_NS), size;

	n_window = 0;
	put_u32(0x2001f003);
	put_u32((uint32_t)number);
	put_u32(0);
	for (uint64_t i = 0, before = cpu->n; cpu->n < before + records; i++)
		step(cpu, number, begin + i * (HZ * TICK_NS / SECOND_NS) / (records + 1));
	size = htole32((uint32_t)(n_window - 12));
	memcpy(window + 8, &size, 4);
	return put_out();
}

int main(int argc, char **argv)
{
	uint64_t rate = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t ticks = argc == 3 ? strtoull(argv[2], NULL, 10) * SECOND_NS / TICK_NS : 0;
	uint64_t per_window = rate * TICK_NS / SECOND_NS / PCPUS, begin = now_ns(), late = 0;
	struct pcpu cpus[PCPUS];

	if (!per_window || !ticks) {
		fprintf(stderr, "usage: xentrace_feed RATE SECONDS\n");
		return 2;
	}
	for (int i = 0; i < PCPUS; i++)
		cpus[i] = (struct pcpu){ .off = XEN_RUNSTATE_BLOCKED, .left = TURN };
	for (uint64_t tick = 0; tick < ticks; tick++) {
		uint64_t due = begin + (tick + 1) * TICK_NS, now = now_ns();

		if (now < due)
			nanosleep(&(struct timespec){ .tv_nsec = (long)(due - now) }, NULL);
		else if (now - due > late)
			late = now - due;
		for (int i = 0; i < PCPUS; i++) {
			if (put_window(&cpus[i], i, tick, per_window)) {
				perror("xentrace_feed");
				return 1;
			}
		}
	}
	fprintf(stderr, "%" PRIu64 " records in %.1f s; %.1f s late at most\n", written,
		(double)(now_ns() - begin) / 1e9, (double)late / 1e9);
	return 0;
}
