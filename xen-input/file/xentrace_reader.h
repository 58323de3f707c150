/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xentrace_reader.h
 * @brief	Read xentrace files: every record once, in order of time, from damaged files too.
 *
 * A xentrace file is a sequence of windows, each one a piece of one pCPU's trace buffer, preceded
 * by a TRC_TRACE_CPU_CHANGE record with the pCPU's number and the window's size in bytes
 * (tools/xentrace/xentrace.c). A record is a 32-bit header (event id, 28 bits; number of payload
 * words, 3 bits; "has a TSC", 1 bit), an optional 64-bit TSC and up to 7 payload words, all
 * little-endian (xen/include/public/trace.h, struct t_rec).
 *
 * Opening a file walks it once and builds an index of its windows; after that the reader is
 * immutable and any number of threads may iterate and seek at the same time. The file itself may be
 * cut or rewritten in the meantime: bytes that are read after that are not taken for the indexed
 * ones.
 *
 * Units: TSC in cycles as recorded; offsets in bytes of the uncompressed file.
 */
#ifndef KSHARK_VIRT_XENTRACE_READER_H
#define KSHARK_VIRT_XENTRACE_READER_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Payload words that a record can have (TRACE_EXTRA_MAX). */
#define XENTRACE_MAX_WORDS	7

/** Highest pCPU number that is taken for real. */
#define XENTRACE_MAX_PCPU	32767

/** The record carries a TSC of its own; without it @tsc is the last one of its pCPU. */
#define XENTRACE_HAS_TSC	(1 << 0)

/** The record's own TSC was out of order beyond doubt and has been replaced (see problems). */
#define XENTRACE_TSC_REPAIRED	(1 << 1)

/** Bytes of this pCPU's trace are missing right before this record (see problems). */
#define XENTRACE_AFTER_GAP	(1 << 2)

/** One record. Filled by the reader; a copy, to be kept and passed on at will. */
struct xentrace_record {
	uint64_t	tsc;	/* cycles; own, or taken from the neighbours (see flags) */
	uint64_t	offset;	/* of the record's header; the handle for xentrace_read_at() */
	uint32_t	event;	/* event id, 28 bits */
	uint32_t	run;	/* 0 .. xentrace_n_runs() - 1 */
	uint16_t	pcpu;
	uint8_t		n_words;
	uint8_t		flags;	/* XENTRACE_HAS_TSC ... */
	uint32_t	words[XENTRACE_MAX_WORDS]; /* little-endian; see xentrace_word() */
};

/** xentrace_word - payload word @i; 0 if the record is shorter than that. */
static inline uint32_t xentrace_word(const struct xentrace_record *rec, unsigned int i)
{
	return i < rec->n_words ? le32toh(rec->words[i]) : 0;
}

/** xentrace_bytes - what a record takes in a buffer. */
static inline uint64_t xentrace_bytes(const struct xentrace_record *rec)
{
	return 4 + 4 * (uint64_t)rec->n_words + (rec->flags & XENTRACE_HAS_TSC ? 8 : 0);
}

/** What was wrong at some place of the file. */
enum xentrace_problem_kind {
	XENTRACE_TRUNCATED,	/* the file ends inside a window or record */
	XENTRACE_BAD_WINDOW,	/* a window with an impossible pCPU number or size */
	XENTRACE_GARBAGE,	/* bytes that are no records; skipped up to the next window */
	XENTRACE_CROSSES_WINDOW,/* a record reaches beyond the end of its window */
	XENTRACE_TSC_OUTLIER,	/* one record's TSC contradicts its neighbours on both sides */
	XENTRACE_TSC_BACKWARDS,	/* the TSC of a pCPU jumps back and stays there */
	XENTRACE_N_PROBLEM_KINDS
};

/** One damaged place. */
struct xentrace_problem {
	enum xentrace_problem_kind kind;
	uint16_t	pcpu;
	uint64_t	offset;	/* where it begins */
	uint64_t	bytes;	/* how many bytes were skipped; 0 if none */
	uint64_t	tsc;	/* last good TSC before it on that pCPU; 0 if there was none */
};

/**
 * What one pCPU contributed.
 *
 * When xentrace ends, it writes the rest of all buffers: the silence of a pCPU after its last
 * record is real, up to the end of the trace. If the file is cut, later records of the pCPU are
 * missing. It is known to have had none only up to the end of a turn of windows that is followed by
 * a whole turn without a window of this pCPU (docs/xentrace-format.md).
 */
struct xentrace_pcpu {
	uint16_t	pcpu;
	uint64_t	n_records;
	uint64_t	n_bytes;
	uint64_t	first_tsc;
	uint64_t	last_tsc;
	uint64_t	known_tsc;	/* records are missing after this; UINT64_MAX: none */
};

struct xentrace;
struct xentrace_iter;

/** Called from time to time while a file is opened; returning nonzero cancels (ECANCELED). */
typedef int (*xentrace_progress_fn)(void *arg, uint64_t done_bytes, uint64_t total_bytes);

/** Options of opening; all zero (or a NULL pointer) is a good default. */
struct xentrace_options {
	xentrace_progress_fn	progress;
	void			*progress_arg;
	/**
	 * Limit in bytes for the copy of a compressed file or a pipe; 0: XENTRACE_MAX_INPUT, and
	 * at most 250 times the size of the compressed data, from 256 MiB on.
	 */
	uint64_t		max_input;
	/** A regular file or nothing: no FIFO is waited for, and "-" is a name as any other. */
	bool			regular_only;
};

#define XENTRACE_MAX_INPUT	(UINT64_C(16) << 30)

/**
 * xentrace_check - is this a xentrace file (plain, gzip or zstd)?
 *
 * Reads a few KB at most.
 */
bool xentrace_check(const char *path);

/**
 * xentrace_open - open a file and index it
 * @path: a file (plain, gzip, zstd), a FIFO, or "-" for standard input; what cannot be read at
 *	any place is copied to an unlinked temporary file in $TMPDIR first
 * @options: may be NULL
 * @error: on failure, receives a text that says what, where and what to do; may be NULL
 *
 * A damaged file opens as long as one window can be read: see xentrace_problem_at().
 *
 * Return: the reader, to be given to xentrace_close(), or NULL with errno set: EINVAL not a
 * xentrace file or nothing usable in it, EFBIG more than max_input, ESTALE changed while it was
 * opened, ECANCELED, or what the system said.
 */
struct xentrace *xentrace_open(const char *path, const struct xentrace_options *options,
			       char *error, size_t error_size);

/** xentrace_open_memory - the same for a trace in memory, which must outlive the reader. */
struct xentrace *xentrace_open_memory(const void *data, size_t size,
				      const struct xentrace_options *options,
				      char *error, size_t error_size);

void xentrace_close(struct xentrace *reader);

/** What has become of a file since it was opened. */
enum xentrace_change {
	XENTRACE_UNCHANGED = 0,
	XENTRACE_GREW,		/* there is more at its end, which is not read */
	XENTRACE_REPLACED,	/* its name is another file's now; what was opened is still there */
	XENTRACE_CHANGED,	/* cut, or written anew: nothing more of it is read */
	XENTRACE_UNREADABLE,	/* reading failed: nothing more of it is read */
};

/**
 * xentrace_changed - look what has become of the file
 *
 * From XENTRACE_CHANGED on, iterations end early and xentrace_read_at() gives -ESTALE; what they
 * gave before is what was in the file when it was opened.
 */
enum xentrace_change xentrace_changed(const struct xentrace *reader);

/**
 * xentrace_change_text - the same as a sentence without its end: "... has changed since it was
 * opened (was 2027372 bytes, now 0)"
 *
 * Return: as snprintf(); 0 and an empty text if nothing has changed.
 */
int xentrace_change_text(char *buf, size_t size, const struct xentrace *reader);

/** xentrace_size - bytes of the uncompressed trace. */
uint64_t xentrace_size(const struct xentrace *reader);

/** xentrace_n_records - records that an iteration gives; window and wrap records do not count. */
uint64_t xentrace_n_records(const struct xentrace *reader);

/** xentrace_n_pcpus - number of pCPUs that have a window. */
int xentrace_n_pcpus(const struct xentrace *reader);

/** xentrace_pcpu_at - the @i-th of them in ascending order of pCPU number, or NULL. */
const struct xentrace_pcpu *xentrace_pcpu_at(const struct xentrace *reader, int i);

/**
 * xentrace_n_runs - number of stretches of pCPU time in which the TSC never goes back
 *
 * One per pCPU, and one more for each XENTRACE_TSC_BACKWARDS (a machine that was booted anew, files
 * that were put together in the wrong order). Whatever is carried along from record to record
 * belongs to a run.
 */
uint32_t xentrace_n_runs(const struct xentrace *reader);

/** xentrace_first_tsc, xentrace_last_tsc - the whole trace's span; 0 if it has no record. */
uint64_t xentrace_first_tsc(const struct xentrace *reader);
uint64_t xentrace_last_tsc(const struct xentrace *reader);

/**
 * xentrace_whole_tsc - from when on the records of all pCPUs are there
 *
 * After this TSC, an event without a record has not happened. Xen begins to trace all pCPUs at
 * once; but a trace kept in memory (xentrace -M, a flight recorder) begins with some turn of
 * emptying the pCPUs' buffers, one after the other: the records of all are there only after the end
 * of that turn. pCPUs that are not traced (xentrace -c) cannot be distinguished from idle ones.
 *
 * Return: a TSC; UINT64_MAX if the file is damaged, or was put together from traces whose TSC
 * jumps back.
 */
uint64_t xentrace_whole_tsc(const struct xentrace *reader);

/**
 * xentrace_n_problems - number of damaged places that are kept for xentrace_problem_at()
 *
 * Their number is bounded (XENTRACE_MAX_PROBLEMS); xentrace_problem_count() counts all of a kind.
 */
int xentrace_n_problems(const struct xentrace *reader);
#define XENTRACE_MAX_PROBLEMS	1000

/** xentrace_problem_at - the @i-th problem in the order of their finding, or NULL. */
const struct xentrace_problem *xentrace_problem_at(const struct xentrace *reader, int i);

/** xentrace_problem_count - how often a kind of problem occurred in the whole file. */
uint64_t xentrace_problem_count(const struct xentrace *reader, enum xentrace_problem_kind kind);

/** xentrace_n_bytes - size of the file, uncompressed */
uint64_t xentrace_n_bytes(const struct xentrace *reader);

/** xentrace_skipped_bytes - bytes that belong to no record, in the whole file. */
uint64_t xentrace_skipped_bytes(const struct xentrace *reader);

/** xentrace_problem_text - one problem as a sentence. Return: as snprintf(). */
int xentrace_problem_text(char *buf, size_t size, const struct xentrace_problem *problem);

/**
 * xentrace_report - all problems of a file as text for people, a line each, at most @max_lines
 *
 * Return: a malloc'ed text, empty for a good file; NULL without memory.
 */
char *xentrace_report(const struct xentrace *reader, const char *file, int max_lines);

/** Options of an iteration; all zero (or a NULL pointer) is a good default. */
struct xentrace_iter_options {
	/** Cycles to add to the TSCs of each pCPU, index = pCPU number; NULL for none. */
	const int64_t	*pcpu_offset;
	int		n_pcpu_offset;
	/** Only the records of one run. */
	bool		one_run;
	uint32_t	run;
};

/**
 * xentrace_iter_new - begin to walk through all records in order of time
 *
 * Records with equal TSC come in file order. A record without TSC has the last one of its pCPU;
 * before the first TSC of a pCPU, the first one. @options is copied, but not what it points to.
 *
 * Return: an iterator, to be given to xentrace_iter_free(); NULL without memory.
 */
struct xentrace_iter *xentrace_iter_new(const struct xentrace *reader,
					const struct xentrace_iter_options *options);

/**
 * xentrace_iter_next - the next record
 *
 * Return: true, or false at the end: the trace's, or that of what can be read (xentrace_changed(),
 * xentrace_iter_error()).
 */
bool xentrace_iter_next(struct xentrace_iter *iter, struct xentrace_record *rec);

/** Numbers of calls that are counted one by one. */
#define XENTRACE_NUMBERS	64

/** An event of a part that is given out, unless one of its words says that it means nothing. */
struct xentrace_loud {
	uint32_t	event;
	uint32_t	word;		/* number of it; XENTRACE_MAX_WORDS: none */
	uint32_t	nothing;	/* its value then */
};

#define XENTRACE_LOUD	4
#define XENTRACE_PLAIN	2

/** Which records are not given out one by one: those of a part of a class, some others, calls. */
struct xentrace_quiet {
	uint32_t	part;		/* their event >> 12 */
	uint32_t	loud_low;	/* set of event & 31 of @loud */
	struct xentrace_loud loud[XENTRACE_LOUD]; /* of them, these are given; event 0 ends them */
	uint32_t	plain[XENTRACE_PLAIN]; /* other events; 0: none */
	uint32_t	call;		/* event of calls, whose first word has a number: */
	uint32_t	number;		/* mask of it */
	uint64_t	given;		/* set of numbers whose calls are given out nevertheless */
	uint32_t	awaiting;	/* part whose records need the next one; 0: all do */
	bool		counts;		/* into the tallies of runs */
	uint64_t	most;		/* records that the caller passes, or 0: shortly before, all
					 * are given out, so that runs end there together */
};

/** What was not given out of a run. */
struct xentrace_tally {
	uint64_t	n_part, part_bytes;
	uint64_t	n_plain, plain_bytes;
	uint64_t	n_calls, call_bytes;
	/** Of XENTRACE_NUMBERS counters, to which calls are added; NULL: they are given out, if
	 * others are counted. The caller can set another one after any record. */
	uint64_t	*numbers;
	uint16_t	pcpu;
};

/**
 * xentrace_iter_skip - from now on, count records that change nothing; before the first record
 *
 * Given out are nevertheless: the first ones of a run, the record after one that needs it, and then
 * the first call; the last call before another record; the last record before records are missing.
 *
 * Return: 0 or -ENOMEM.
 */
int xentrace_iter_skip(struct xentrace_iter *iter, const struct xentrace_quiet *quiet);

/** xentrace_iter_tally - what was not given out of a run, after xentrace_iter_skip(). */
struct xentrace_tally *xentrace_iter_tally(struct xentrace_iter *iter, uint32_t run);

/** xentrace_iter_passed - how many records were given out or counted. */
uint64_t xentrace_iter_passed(const struct xentrace_iter *iter);

/** xentrace_iter_error - Return: 0; -ENOMEM or -ESTALE if some records could not be read. */
int xentrace_iter_error(const struct xentrace_iter *iter);

void xentrace_iter_free(struct xentrace_iter *iter);

/**
 * xentrace_read_at - the record at a file offset
 * @offset: of a record's header, as given by an iteration
 *
 * Return: 0, -ENOENT if no record can begin there, -ENOMEM, or -ESTALE if it cannot be read any
 * more (xentrace_changed()).
 */
int xentrace_read_at(const struct xentrace *reader, uint64_t offset,
		     struct xentrace_record *rec);

#ifdef __cplusplus
}
#endif
#endif
