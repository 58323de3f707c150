// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_tsc.c
 * @brief	Judge TSCs that do not follow each other: a damaged one, or time that jumped back?
 */
#include <string.h>

#include "xentrace_scan.h"

/** A jump of a pCPU's TSC that only damage explains: 2^46 cycles are 6 to 20 hours. */
#define TSC_JUMP		(1ULL << 46)

/** How far to look ahead for the TSC to recover. */
#define LOOK_AHEAD		4

/** Does the TSC come back to at least @tsc within the next few records before @limit? */
static bool recovers(struct scan *scan, uint64_t offset, uint64_t limit, uint64_t tsc)
{
	for (int seen = 0; seen < LOOK_AHEAD && limit - offset >= 12; ) {
		uint32_t header = scan_u32(scan, offset);

		if (!plausible(header) || record_size(header) > limit - offset)
			return false;
		if (header & RECORD_HAS_TSC) {
			uint64_t next = scan_u64(scan, offset + 4);

			if (next >= tsc && next - tsc < TSC_NEAR)
				return true;
			seen++;
		}
		offset += record_size(header);
	}
	return false;
}

/** Is the next TSC before @limit lower than @tsc? */
static bool next_is_lower(struct scan *scan, uint64_t offset, uint64_t limit, uint64_t tsc)
{
	for (int seen = 0; seen < CHAIN_RECORDS && limit - offset >= 12; seen++) {
		uint32_t header = scan_u32(scan, offset);

		if (!plausible(header) || record_size(header) > limit - offset)
			return false;
		if (header & RECORD_HAS_TSC)
			return scan_u64(scan, offset + 4) < tsc;
		offset += record_size(header);
	}
	return false;
}

/** Is this no record? Then the one before it may well be the first victim of the damage. */
static bool garbage_at(struct scan *scan, uint64_t offset, uint64_t limit)
{
	uint32_t header;

	if (limit - offset < 4)
		return false;
	header = scan_u32(scan, offset);
	return !plausible(header) || record_size(header) > limit - offset;
}

/** Would @tsc follow well if the last TSC of the run were an outlier? */
static bool only_last_off(struct pcpu_state *cpu, uint64_t tsc)
{
	return history_length(cpu) > 1 && history_at(cpu, 1)->tsc <= tsc;
}

/**
 * The run before ended at a higher TSC, this one had but a few records, and now the TSC is back at
 * where it was: those few were outliers. Give their segment back to the run before.
 */
static int undo_run(struct scan *scan, struct pcpu_state *cpu)
{
	struct xentrace *reader = scan->reader;
	struct run *mistaken = &reader->runs[cpu->run];
	struct run *before = &reader->runs[cpu->run_before];
	int ret = 0;

	for (unsigned int i = history_length(cpu); i-- > 0 && !ret; )
		ret = scan_add_repair(scan, cpu, history_at(cpu, i)->offset, before->last_tsc);
	reader->problem_count[XENTRACE_TSC_BACKWARDS]--;
	for (int i = reader->n_problems; i-- > 0; ) {
		struct xentrace_problem *problem = &reader->problems[i];

		if (problem->kind != XENTRACE_TSC_BACKWARDS ||
		    problem->offset != reader->segments[mistaken->first_segment].begin)
			continue;
		memmove(problem, problem + 1, (--reader->n_problems - i) * sizeof(*problem));
		break;
	}
	for (uint32_t s = mistaken->first_segment, next; s != NO_SEGMENT; s = next) {
		next = reader->segments[s].next;
		scan_link_segment(reader, s, cpu->run_before);
	}
	mistaken->first_segment = mistaken->last_segment = NO_SEGMENT;
	if (cpu->run == reader->n_runs - 1)
		reader->n_runs--;
	cpu->run = cpu->run_before;
	cpu->run_before = NO_RUN;
	cpu->last_tsc = before->last_tsc;
	cpu->n_history = 0;	/* too few to decide: what follows starts afresh */
	cpu->recovered = 0;
	cpu->run_records = HISTORY;
	cpu->first_waits = false;
	return ret;
}

/** Has a record since then got the @i-th last TSC or one after it? Then that one must stay. */
static bool was_taken_over(struct pcpu_state *cpu, unsigned int i)
{
	return cpu->recovered > history_at(cpu, i)->offset;
}

/** The last TSCs of the run are higher than @tsc: outliers, or the time before a jump back? */
static int tsc_went_back(struct scan *scan, struct pcpu_state *cpu, uint64_t offset, uint64_t tsc)
{
	unsigned int length = history_length(cpu), higher = 0;
	uint64_t good;
	int ret = 0;

	while (higher < length && history_at(cpu, higher)->tsc > tsc)
		higher++;
	if ((higher < length || (cpu->run_records == length && higher <= HISTORY / 2)) &&
	    !was_taken_over(cpu, higher - 1)) {
		good = higher < length ? history_at(cpu, higher)->tsc : tsc;
		while (higher-- > 0 && !ret)
			ret = scan_add_repair(scan, cpu, history_at(cpu, higher)->offset, good);
		for (unsigned int i = 0; i < length && history_at(cpu, i)->tsc > good; i++)
			history_at(cpu, i)->tsc = good;
		if (scan->reader->runs[cpu->run].first_tsc > good)
			scan->reader->runs[cpu->run].first_tsc = good;
		return ret;
	}
	ret = scan_add_problem(scan, XENTRACE_TSC_BACKWARDS, cpu->total.pcpu, offset, 0,
			       cpu->last_tsc);
	scan->reader->runs[cpu->run].last_tsc = cpu->last_tsc;
	scan_close_segment(scan, cpu, offset);
	if (!ret)
		ret = scan_open_run(scan, cpu);
	if (!ret) {
		cpu->gap = true;
		ret = scan_open_segment(scan, cpu, offset);
	}
	return ret;
}

/** A record's TSC that does not simply follow the one before. @limit: end of the window */
int scan_odd_tsc(struct scan *scan, struct pcpu_state *cpu, uint64_t offset, uint64_t limit,
		   uint64_t tsc)
{
	uint64_t next = offset + record_size(scan_u32(scan, offset));
	struct run *run = &scan->reader->runs[cpu->run];
	int ret = 0;

	if (cpu->first_waits) {
		cpu->first_waits = false;
		run->first_tsc = tsc;
	} else if (tsc < cpu->last_tsc) {
		if (recovers(scan, next, limit, cpu->last_tsc) ||
		    (garbage_at(scan, next, limit) && !only_last_off(cpu, tsc))) {
			cpu->recovered = offset;
			return scan_add_repair(scan, cpu, offset, cpu->last_tsc);
		}
		ret = tsc_went_back(scan, cpu, offset, tsc);
		run = &scan->reader->runs[cpu->run];
		if (cpu->first_waits) {
			cpu->first_waits = false;
			run->first_tsc = tsc;
		}
	} else if (cpu->run_records == 1 && tsc - cpu->last_tsc > TSC_JUMP &&
		   !next_is_lower(scan, next, limit, tsc) && !was_taken_over(cpu, 0)) {
		ret = scan_add_repair(scan, cpu, history_at(cpu, 0)->offset, tsc);
		history_at(cpu, 0)->tsc = tsc;
		run->first_tsc = tsc;
	}
	if (!ret)
		remember_tsc(cpu, offset, tsc);
	return ret;
}

/** Before a window's first record: was the last run of this pCPU a mistake? */
int scan_check_short_run(struct scan *scan, struct pcpu_state *cpu, uint64_t offset,
			   uint64_t limit)
{
	uint64_t before;

	if (cpu->run_before == NO_RUN)
		return 0;
	if (cpu->run_records > LOOK_AHEAD ||
	    was_taken_over(cpu, history_length(cpu) - 1)) {
		cpu->run_before = NO_RUN;
		return 0;
	}
	before = scan->reader->runs[cpu->run_before].last_tsc;
	return recovers(scan, offset, limit, before) ? undo_run(scan, cpu) : 0;
}

/** A pCPU's last TSC that lies hours after the one before it is damage, not time. */
int scan_finish_last_tsc(struct scan *scan, struct pcpu_state *cpu)
{
	struct history *last, *before;
	int ret = 0;

	if (history_length(cpu) >= 2 && !was_taken_over(cpu, 0)) {
		last = history_at(cpu, 0);
		before = history_at(cpu, 1);
		if (last->tsc - before->tsc > TSC_JUMP) {
			ret = scan_add_repair(scan, cpu, last->offset, before->tsc);
			cpu->last_tsc = before->tsc;
		}
	}
	scan->reader->runs[cpu->run].last_tsc = cpu->last_tsc;
	return ret;
}
