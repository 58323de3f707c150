// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	make_fleet.c
 * @brief	Rows of many hosts that never were, as kshark-virt rollup would write them.
 *
 * make_fleet HOSTS SECONDS SEED [FIRST]: the same rows for the same numbers, host after host, from
 * number FIRST on. Each host has two VMs of two vCPUs, which are asleep for most of the time. What
 * can be found in them: on every tenth host a backup takes pCPUs; on every seventh the rate of VM
 * exits doubles after half of the time; every thirteenth loses records now and then.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "rollup.h"

#define NS_PER_S	INT64_C(1000000000)
#define BEGIN_S		INT64_C(1795514400)	/* 2026-11-24T10:00:00Z */
#define VMS		50			/* names, which hosts share */

static uint64_t state;

static uint64_t rnd(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

/** Around @usual, but now and then much longer. */
static int64_t length_of(int64_t usual)
{
	int64_t ns = usual / 2 + (int64_t)rnd((uint64_t)usual);

	return rnd(50) ? ns : ns * (int64_t)(2 + rnd(30));
}

/** That number of lengths. Return: their sum. */
static int64_t add_lengths(struct latency_histogram *histogram, uint64_t n, int64_t usual)
{
	int64_t sum = 0;

	for (; n; n--) {
		int64_t ns = length_of(usual);

		latency_add(histogram, ns);
		sum += ns;
	}
	return sum;
}

struct host {
	char	name[32];
	bool	backup, doubles, loses;
};

static void put_vcpu(struct output *out, const struct host *host, struct rollup_row *row,
		     struct latency_histogram *lengths, bool is_late)
{
	struct rollup_exit exits[3] = {
		{ .reason = "HLT" }, { .reason = "EXTERNAL_INTERRUPT" },
		{ .reason = "EPT_VIOLATION" },
	};
	struct rollup_steal steals[2] = { { .culprit = host->backup ? "backup" : "kworker" } };
	int64_t left = NS_PER_S, *ns = row->state_ns;

	for (int i = 0; i < VIRT_N_LENGTHS; i++)
		latency_clear(&lengths[i]);
	for (int i = 0; i < VIRT_N_STATES; i++)
		row->state_count[i] = 0;
	row->state_count[VIRT_WAKING] = 20 + rnd(20);
	ns[VIRT_WAKING] = add_lengths(&lengths[VIRT_LENGTH_WAKE], row->state_count[VIRT_WAKING],
				      40000);
	row->state_count[VIRT_PREEMPTED] = host->backup ? 10 + rnd(10) : rnd(3);
	ns[VIRT_PREEMPTED] = add_lengths(&lengths[VIRT_LENGTH_STEAL],
					 row->state_count[VIRT_PREEMPTED], 1000000);
	steals[0].ns = ns[VIRT_PREEMPTED];
	row->steals = steals;
	row->n_steals = ns[VIRT_PREEMPTED] ? 1 : 0;
	ns[VIRT_HYPERVISOR] = 0;
	for (int i = 0; i < 3; i++) {
		exits[i].count = exits[i].complete = (10 + rnd(20)) << (host->doubles && is_late);
		exits[i].ns = add_lengths(&lengths[VIRT_LENGTH_EXIT], exits[i].count, 3000);
		ns[VIRT_HYPERVISOR] += exits[i].ns;
	}
	row->exits = exits;
	row->n_exits = 3;
	row->migrations = rnd(20) ? 0 : 1 + rnd(3);
	ns[VIRT_UNKNOWN] = host->loses && !rnd(100) ? (int64_t)rnd(5000000) : 0;
	ns[VIRT_GUEST] = (int64_t)rnd(100000000);
	for (int i = 0; i < VIRT_N_STATES; i++)
		left -= i == VIRT_BLOCKED ? 0 : ns[i];
	ns[VIRT_BLOCKED] = left;
	rollup_clickhouse.row(out, row);
}

static void put_host(struct output *out, uint64_t number, int64_t seconds, uint64_t seed)
{
	static struct latency_histogram lengths[VIRT_N_LENGTHS];
	struct host host = { .backup = number % 10 == 3, .doubles = number % 7 == 2,
			     .loses = number % 13 == 5 };
	struct rollup_row row = {
		.host = host.name, .lengths = lengths, .trace_ns = BEGIN_S * NS_PER_S,
		.length_ns = NS_PER_S,
	};

	snprintf(host.name, sizeof(host.name), "host%04llu", (unsigned long long)number);
	state = (seed + 1) * 0x9e3779b97f4a7c15u ^ (number + 1) * 0xbf58476d1ce4e5b9u;
	for (int64_t second = 0; second < seconds; second++) {
		row.time_ns = (BEGIN_S + second) * NS_PER_S;
		for (uint64_t vcpu = 0; vcpu < 4; vcpu++) {
			char name[32];

			snprintf(name, sizeof(name), "vm%llu",
				 (unsigned long long)((2 * number + vcpu / 2) % VMS));
			row.machine = name;
			row.machine_id = (int64_t)(1 + vcpu / 2);
			row.vcpu = (int)(vcpu % 2);
			put_vcpu(out, &host, &row, lengths, second >= seconds / 2);
		}
		if (host.loses && !rnd(100)) {
			struct rollup_loss loss = {
				.pcpu = (int)rnd(4), .ns = (int64_t)(1 + rnd(5000000)),
				.records = rnd(4) ? (int64_t)(1 + rnd(1000)) : VIRT_NONE,
			};
			struct rollup_row own = row;

			for (int i = 0; i < VIRT_N_LENGTHS; i++)
				latency_clear(&lengths[i]);
			own.machine = NULL;
			own.losses = &loss;
			own.n_losses = 1;
			rollup_clickhouse.row(out, &own);
		}
	}
}

int main(int argc, char **argv)
{
	static struct output out;
	uint64_t number[4] = { 0 };

	for (int i = 1; i < argc && i < 5; i++)
		number[i - 1] = strtoull(argv[i], NULL, 10);
	if (argc < 4 || argc > 5 || !number[0] || !number[1]) {
		fprintf(stderr, "usage: make_fleet HOSTS SECONDS SEED [FIRST]\n");
		return 2;
	}
	if (out_open(&out, NULL))
		return 3;
	for (uint64_t i = 0; i < number[0] && !out.error; i++)
		put_host(&out, number[3] + i, (int64_t)number[1], number[2]);
	return out_close(&out, 0);
}
