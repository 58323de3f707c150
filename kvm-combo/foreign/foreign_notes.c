// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	foreign_notes.c
 * @brief	The facts about a converted trace that limit its numbers, as notes.
 */
#include "foreign_notes.h"
#include "trace_counters.h"

static unsigned long long ull(uint64_t number)
{
	return number;
}

static void note_damage(const char *path, const struct perf_facts *facts,
			struct trace_notes *notes)
{
	if (facts->is_damaged)
		trace_notes_add(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_WARNING,
				"%s%s%s: damaged at byte %llu: it is read up to there. Copy it "
				"again, if there is another one", path,
				*facts->damaged_in ? "/" : "", facts->damaged_in,
				ull(facts->damaged_at));
	else if (facts->is_unfinished)
		trace_notes_add(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_WARNING,
				"%s: perf record did not end in order: it is read up to the last "
				"complete record", path);
	else if (facts->is_cut)
		trace_notes_add(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_WARNING,
				"%s: cut short: it is read up to its end. Copy it again, if there "
				"is another one", path);
}

static void note_samples(const char *path, const struct perf_facts *facts,
			 struct trace_notes *notes)
{
	if (facts->others)
		trace_notes_add(notes, TRACE_NOTE_EVENTS, TRACE_NOTE_INFO,
				"%s: %llu samples of events that are no tracepoints are left out",
				path, ull(facts->others));
	if (facts->unusable)
		trace_notes_add(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_WARNING,
				"%s: %llu samples are left out: they have no time, CPU or content, "
				"or belong to no event of the file", path, ull(facts->unusable));
	if (facts->late)
		trace_notes_add(notes, TRACE_NOTE_CLOCK, TRACE_NOTE_WARNING,
				"%s: %llu samples are earlier than others of their CPU that come "
				"before them in the file", path, ull(facts->late));
	if (facts->uncounted)
		trace_notes_add(notes, TRACE_NOTE_EVENTS, TRACE_NOTE_WARNING,
				"%s: %llu values of counters are left out: it does not show which "
				"events they are of, or has more than %d counters", path,
				ull(facts->uncounted), TRACE_COUNTERS_MOST);
	if (facts->unnamed)
		trace_notes_add(notes, TRACE_NOTE_EVENTS, TRACE_NOTE_WARNING,
				"%s: it names too many threads: %llu names are left out", path,
				ull(facts->unnamed));
	if (facts->unplaced)
		trace_notes_add(notes, TRACE_NOTE_LOSS, TRACE_NOTE_WARNING,
				"%s: it does not say on which CPU records were lost, %llu times: "
				"all CPUs count as incomplete there", path, ull(facts->unplaced));
}

static void note_scope(const char *path, const struct perf_facts *facts, struct trace_notes *notes)
{
	if (facts->is_per_task)
		trace_notes_add(notes, TRACE_NOTE_EVENTS, TRACE_NOTE_WARNING,
				"%s: only certain tasks were recorded: where another task follows "
				"on a CPU, records count as lost. Record all: perf record "
				"-a", path);
	else if (facts->n_recorded && facts->n_recorded < facts->n_cpus)
		trace_notes_add(notes, TRACE_NOTE_EVENTS, TRACE_NOTE_WARNING,
				"%s: only %u of %u CPUs were recorded. Record all: perf record -a",
				path, facts->n_recorded, facts->n_cpus);
}

/** What a folder lacks, or has too much. */
static void note_folder(const char *path, const struct perf_facts *facts,
			struct trace_notes *notes)
{
	uint32_t without = facts->n_recorded > facts->n_sampled ?
			   facts->n_recorded - facts->n_sampled : 0;

	if (facts->missing_part >= 0)
		trace_notes_add(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_WARNING,
				"%s: its file data.%lld is missing, and with it all records of "
				"some CPUs. Copy the folder again", path,
				(long long)facts->missing_part);
	else if (without && facts->n_parts < facts->n_recorded)
		trace_notes_add(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_WARNING,
				"%s: %u of the %u CPUs that were recorded have no record in it. "
				"If one of its files data.%u ... is missing, copy the folder again",
				path, without, facts->n_recorded, facts->n_parts);
	if (facts->outside)
		trace_notes_add(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_WARNING,
				"%s: %llu samples are earlier or later than the recording was: "
				"some of its files belong to another recording. Copy the folder "
				"again", path, ull(facts->outside));
}

static void note_perf(const char *path, const struct perf_facts *facts, struct trace_notes *notes)
{
	note_damage(path, facts, notes);
	if (facts->n_parts)
		note_folder(path, facts, notes);
	note_scope(path, facts, notes);
	note_samples(path, facts, notes);
}

void foreign_notes(const char *path, const struct foreign_outcome *outcome,
		   struct trace_notes *notes)
{
	note_perf(path, &outcome->perf, notes);
	if (*outcome->damage)
		trace_notes_add(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_WARNING, "%s: %s", path,
				outcome->damage);
	if (outcome->without_cpu)
		trace_notes_add(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_WARNING,
				"%s: %llu events are left out, because it does not record their "
				"CPUs", path, ull(outcome->without_cpu));
	if (outcome->lines)
		trace_notes_add(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_WARNING,
				"%s: %llu lines are not understood, and their events not counted",
				path, ull(outcome->lines));
	if (outcome->has_micros)
		trace_notes_add(notes, TRACE_NOTE_CLOCK, TRACE_NOTE_INFO,
				"%s: its times are in microseconds, and so are the numbers; with "
				"'trace-cmd report -t', they are in nanoseconds", path);
	if (outcome->fields)
		trace_notes_add(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_INFO,
				"%s: %llu fields of events are left out, because two events of one "
				"name differ, or have more than 128", path, ull(outcome->fields));
	if (outcome->no_context)
		trace_notes_add(notes, TRACE_NOTE_PAIRING, TRACE_NOTE_INFO,
				"%s: it does not record all interrupts, so that some causes of "
				"wake-ups are unknown; record the events irq_* and "
				"x86_irq_vectors_* as well", path);
}
