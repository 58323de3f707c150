// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	ks_coverage.c
 * @brief	Find the times that a stream's rows cover, CPU by CPU.
 */
#include <stdlib.h>

#include "array.h"
#include "ks_coverage.h"
#include "search.h"

/** Records of a CPU are missing between two of them. */
struct lost {
	int64_t	from_ns, to_ns;
};

struct cpu {
	int64_t		first_ns, last_ns;	/* of its records, if it has any */
	struct lost	*lost;			/* in order of time */
	size_t		n_lost, room;
	int		has_records;
};

struct ks_coverage {
	struct cpu	*cpus;
	int		n_cpus;
};

static struct cpu *get_cpu(struct ks_coverage *coverage, int cpu)
{
	if (cpu >= coverage->n_cpus && ARRAY_REACH(coverage->cpus, cpu, coverage->n_cpus))
		return NULL;
	return &coverage->cpus[cpu];
}

/** Return: 0, or -1 without memory. */
static int add_lost(struct cpu *cpu, int64_t to_ns)
{
	if (ARRAY_GROW(cpu->lost, cpu->n_lost, cpu->room))
		return -1;
	cpu->lost[cpu->n_lost++] = (struct lost){ cpu->last_ns, to_ns };
	return 0;
}

struct ks_coverage *ks_coverage_new(struct kshark_entry *const *rows, size_t n, int stream_id)
{
	struct ks_coverage *coverage = calloc(1, sizeof(*coverage));

	for (size_t i = 0; coverage && i < n; i++) {
		const struct kshark_entry *row = rows[i];
		struct cpu *cpu;

		if (row->stream_id != stream_id || row->cpu < 0)
			continue;
		cpu = get_cpu(coverage, row->cpu);
		/* before the first record, nothing is known anyhow */
		if (!cpu || (row->event_id == KS_EVENT_OVERFLOW && cpu->has_records &&
			     add_lost(cpu, row->ts))) {
			ks_coverage_free(coverage);
			return NULL;
		}
		if (!cpu->has_records)
			cpu->first_ns = row->ts;
		cpu->has_records = 1;
		cpu->last_ns = row->ts;
	}
	return coverage;
}

void ks_coverage_free(struct ks_coverage *coverage)
{
	if (!coverage)
		return;
	for (int i = 0; i < coverage->n_cpus; i++)
		free(coverage->cpus[i].lost);
	free(coverage->cpus);
	free(coverage);
}

/** The columns of a window. */
struct columns {
	int64_t		from_ns, column_ns;
	int		n;
	struct ks_gap	*gaps;
	int		n_gaps;
};

/** How many columns begin before @ns. */
static int begun(const struct columns *columns, int64_t ns)
{
	__int128 ahead = (__int128)ns - columns->from_ns;
	__int128 n = (ahead + columns->column_ns - 1) / columns->column_ns;

	return ahead <= 0 ? 0 : n > columns->n ? columns->n : (int)n;
}

/** How many columns have ended at @ns. */
static int ended(const struct columns *columns, int64_t ns)
{
	__int128 ahead = (__int128)ns - columns->from_ns;
	__int128 n = ahead / columns->column_ns;

	return ahead <= 0 ? 0 : n > columns->n ? columns->n : (int)n;
}

/** Nothing is known after the record at @from_ns and before that at @to_ns. */
static void add_gap(struct columns *columns, int64_t from_ns, int64_t to_ns)
{
	int first = from_ns == INT64_MIN ? 0 : begun(columns, from_ns + 1);
	int end = to_ns == INT64_MAX ? columns->n : ended(columns, to_ns);

	if (first < end)
		columns->gaps[columns->n_gaps++] = (struct ks_gap){ first, end - first };
}

/** The first loss that ends after @ns. */
static size_t find_lost(const struct cpu *cpu, int64_t ns)
{
	size_t i;

	SEARCH_FIRST(i, 0, cpu->n_lost, cpu->lost[i].to_ns <= ns);
	return i;
}

int ks_coverage_gaps(const struct ks_coverage *coverage, int cpu, int64_t from_ns,
		     int64_t column_ns, int n_columns, struct ks_gap *gaps)
{
	struct columns columns = { from_ns, column_ns, n_columns, gaps, 0 };
	__int128 to_ns = from_ns + (__int128)column_ns * n_columns;
	const struct cpu *one;

	if (cpu < 0 || cpu >= coverage->n_cpus || !coverage->cpus[cpu].has_records) {
		add_gap(&columns, INT64_MIN, INT64_MAX);
		return columns.n_gaps;
	}
	one = &coverage->cpus[cpu];
	add_gap(&columns, INT64_MIN, one->first_ns);
	for (size_t i = find_lost(one, from_ns); i < one->n_lost; i++) {
		if (one->lost[i].from_ns >= to_ns)
			break;
		add_gap(&columns, one->lost[i].from_ns, one->lost[i].to_ns);
	}
	add_gap(&columns, one->last_ns, INT64_MAX);
	return columns.n_gaps;
}
