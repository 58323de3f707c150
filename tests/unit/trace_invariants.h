/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_invariants.h
 * @brief	What holds for every file that opens, however damaged: for unit tests and fuzzing.
 */
#ifndef KSHARK_VIRT_TRACE_INVARIANTS_H
#define KSHARK_VIRT_TRACE_INVARIANTS_H

#include <stdlib.h>
#include <string.h>

#include "xentrace_private.h"

/** Tables of one check. */
struct trace_check {
	uint8_t		*used;		/* by byte of the file: part of a record */
	uint64_t	*next;		/* by run: where its next record may begin */
	struct xentrace_pcpu *pcpus;	/* what the records say; by index */
};

/** How many problems a file has, of all kinds. */
static inline uint64_t trace_problems(const struct xentrace *reader)
{
	uint64_t n = 0;

	for (int kind = 0; kind < XENTRACE_N_PROBLEM_KINDS; kind++)
		n += xentrace_problem_count(reader, kind);
	return n;
}

/** Where a pCPU is in the reader's list, or -1. */
static inline int trace_pcpu_index(const struct xentrace *reader, uint16_t number)
{
	int low = 0, high = reader->n_pcpus - 1;

	while (low < high) {
		int middle = (low + high) / 2;

		if (reader->pcpus[middle].pcpu < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low == high && reader->pcpus[low].pcpu == number ? low : -1;
}

/** One record of an iteration. Return: what is wrong with it, or NULL. */
static inline const char *trace_check_record(const struct xentrace *reader,
					     struct trace_check *check,
					     const struct xentrace_record *rec)
{
	int index = trace_pcpu_index(reader, rec->pcpu);
	struct xentrace_record again;
	struct xentrace_pcpu *pcpu;
	uint8_t p[12 + 4 * XENTRACE_MAX_WORDS] = { 0 };
	uint32_t header, size;

	if (rec->offset > reader->file.size || reader->file.size - rec->offset < 4)
		return "record outside of the file";
	xentrace_file_read(&reader->file, p, rec->offset, sizeof(p));
	header = load_u32(p);
	size = record_size(header);
	if (size > reader->file.size - rec->offset)
		return "record reaches beyond the file";
	if (memchr(check->used + rec->offset, 1, size))
		return "bytes in two records";
	memset(check->used + rec->offset, 1, size);
	if (rec->event != (header & EVENT_MASK) || rec->n_words != record_words(header) ||
	    memcmp(rec->words, p + size - 4 * rec->n_words, 4 * rec->n_words))
		return "event or payload is not what the file has";
	if (rec->event == EVENT_WRAP_BUFFER)
		return "wrap record given out";
	if (rec->run >= reader->n_runs || index < 0 ||
	    reader->runs[rec->run].pcpu != rec->pcpu)
		return "impossible run or pCPU";
	if (rec->offset < check->next[rec->run])
		return "records of a run not in file order";
	check->next[rec->run] = rec->offset + size;
	if (!!(rec->flags & XENTRACE_HAS_TSC) != header >> 31)
		return "XENTRACE_HAS_TSC is wrong";
	if ((rec->flags & (XENTRACE_HAS_TSC | XENTRACE_TSC_REPAIRED)) == XENTRACE_HAS_TSC &&
	    rec->tsc != load_u64(p + 4))
		return "TSC is not the recorded one";
	pcpu = &check->pcpus[index];
	if (!pcpu->n_records++)
		pcpu->first_tsc = rec->tsc;
	pcpu->last_tsc = rec->tsc;
	if (xentrace_read_at(reader, rec->offset, &again))
		return "xentrace_read_at() does not find the record";
	if (again.tsc != rec->tsc)
		return "xentrace_read_at() gives another TSC";
	if (again.flags != rec->flags)
		return "xentrace_read_at() gives other flags";
	if (again.pcpu != rec->pcpu || again.run != rec->run || again.event != rec->event ||
	    again.n_words != rec->n_words ||
	    memcmp(again.words, rec->words, 4 * rec->n_words))
		return "xentrace_read_at() gives another record";
	return NULL;
}

static inline const char *trace_check_totals(const struct xentrace *reader,
					     const struct trace_check *check)
{
	uint64_t bytes = 0, records = 0, problems = trace_problems(reader);
	char text[256];
	int before = -1;

	for (int i = 0; i < xentrace_n_pcpus(reader); i++) {
		const struct xentrace_pcpu *pcpu = xentrace_pcpu_at(reader, i);
		const struct xentrace_pcpu *seen = &check->pcpus[i];

		if (pcpu->pcpu <= before)
			return "pCPUs not in ascending order";
		before = pcpu->pcpu;
		if (pcpu->n_records != seen->n_records)
			return "a pCPU's number of records is wrong";
		if (pcpu->first_tsc != seen->first_tsc)
			return "a pCPU's first TSC is wrong";
		if (pcpu->last_tsc != seen->last_tsc)
			return "a pCPU's last TSC is wrong";
		bytes += pcpu->n_bytes;
		records += pcpu->n_records;
	}
	if (records != xentrace_n_records(reader))
		return "records of pCPUs do not add up";
	if (bytes + xentrace_skipped_bytes(reader) + WINDOW_HEADER_SIZE * reader->n_windows !=
	    xentrace_size(reader))
		return "records, window headers and skipped bytes are not the whole file";
	if (xentrace_n_problems(reader) != (int)(problems < XENTRACE_MAX_PROBLEMS ? problems
							: XENTRACE_MAX_PROBLEMS))
		return "the list of problems is not as long as their number";
	for (int i = 0; i < xentrace_n_problems(reader); i++) {
		const struct xentrace_problem *problem = xentrace_problem_at(reader, i);

		if (problem->offset > xentrace_size(reader) ||
		    problem->bytes > xentrace_size(reader) - problem->offset)
			return "a problem outside of the file";
		if (xentrace_problem_text(text, sizeof(text), problem) <= 0)
			return "a problem without text";
	}
	return NULL;
}

/** trace_invariants - Return: what is wrong with a trace that was opened, or NULL. */
static inline const char *trace_invariants(const struct xentrace *reader)
{
	struct trace_check check = {
		.used = calloc(reader->file.size + 1, 1),
		.next = calloc(reader->n_runs + 1, sizeof(*check.next)),
		.pcpus = calloc(reader->n_pcpus + 1, sizeof(*check.pcpus)),
	};
	struct xentrace_iter *iter = xentrace_iter_new(reader, NULL);
	struct xentrace_record rec, last = { 0 };
	const char *wrong = NULL;
	uint64_t n = 0;

	while (!wrong && xentrace_iter_next(iter, &rec)) {
		if (n++ && (rec.tsc < last.tsc ||
			    (rec.tsc == last.tsc && rec.offset <= last.offset)))
			wrong = "not in order of time, or ties not in file order";
		else
			wrong = trace_check_record(reader, &check, &rec);
		last = rec;
	}
	if (!wrong && (n != xentrace_n_records(reader) || !n))
		wrong = "number of records";
	if (!wrong && last.tsc != xentrace_last_tsc(reader))
		wrong = "last TSC";
	if (!wrong)
		wrong = trace_check_totals(reader, &check);
	xentrace_iter_free(iter);
	free(check.used);
	free(check.next);
	free(check.pcpus);
	return wrong;
}

#endif
