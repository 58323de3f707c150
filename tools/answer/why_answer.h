/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	why_answer.h
 * @brief	An answer of "kshark-virt why": its text, and the records that show it.
 *
 * The command and the dock share this code, so both have the same text. Names are escaped when they
 * are written.
 */
#ifndef KSHARK_VIRT_WHY_ANSWER_H
#define KSHARK_VIRT_WHY_ANSWER_H

#include "output.h"
#include "virt_steal.h"
#include "virt_why.h"

#ifdef __cplusplus
extern "C" {
#endif

struct guest_lives_source;
struct host_trace;
struct host_monitor;

/** One answer: a subject, a window, and the tree. */
struct why_answer {
	int32_t		who, pcpu;	/* whose time it is: a vCPU, a guest's task, see
					 * virt_guest.h, or a pCPU; the other one is VIRT_NONE */
	const struct virt_why_moment *moment;	/* one of the worst; or NULL */
	struct virt_why	why;
};

/* --- the records that show it: why_evidence.c ------------------------------------------------- */

/** Records at one time and CPU that are numbered, at most. */
#define WHY_MOST_RECORDS	4

/** Where records are: the host's trace, and those of its guests, in the order of virt_guests. */
struct why_source {
	struct host_trace	*host;
	const struct guest_lives_source *guests;
	int			n_guests;
	bool			(*stop)(void *arg);	/* asked now and then; or NULL */
	void			*arg;
};

struct why_evidence;

/**
 * why_evidence_find - number the records at the beginnings and ends of segments
 *
 * They are counted from 0 in order of time, as KernelShark numbers the rows of one file. That takes
 * another walk through the traces that have any.
 *
 * Return: to be given to why_evidence_free(); NULL with errno: ENOMEM, ECANCELED, or what ended the
 * walk.
 */
struct why_evidence *why_evidence_find(const struct why_source *source,
				       const struct why_answer *answers, size_t n);
void why_evidence_free(struct why_evidence *evidence);

/**
 * why_evidence_of, why_evidence_in_guest - the records of a segment, ascending
 * @evidence: or NULL, as long as it is not known
 * @numbers: receives them: 2 * WHY_MOST_RECORDS at most
 *
 * Those of the host's trace; and of that of the guest which virt_why_guest_of() returns.
 *
 * Return: how many.
 */
size_t why_evidence_of(const struct why_evidence *evidence,
		       const struct virt_why_segment *segment, uint64_t *numbers);
size_t why_evidence_in_guest(const struct why_evidence *evidence, const struct virt_why *why,
			     const struct virt_why_segment *segment, uint64_t *numbers);

/* --- output as text: why_lines.c -------------------------------------------------------------- */

struct why_writing {
	const char		*file;
	const char *const	*guest_files;	/* in the order of virt_guests; NULL: none */
	const struct virt_why	*why;		/* that is written */
	const struct why_evidence *evidence;	/* or NULL */
	struct output		*out;
	/** More about a segment, behind its words; or NULL. */
	void			(*put_more)(const struct why_writing *writing,
					    const struct virt_why_segment *segment);
	const struct host_monitor *monitors;	/* whose traces are given, for that */
	int			n_monitors;
};

/** A line of the tree: a segment; or segments below another one that have no lines of their own. */
struct why_line {
	const struct virt_why_segment *segment;	/* NULL: the rest */
	int			level;
	int64_t			from_ns, to_ns;
	int64_t			length_ns;	/* of the rest: of all that it sums up */
	size_t			n;		/* number of segments */
	int64_t			ns[VIRT_WHY_N_KINDS];	/* of the rest */
};

/**
 * why_each_line - call @take for each line of the tree, from the top down
 *
 * Each uppermost segment has a line, and so have the longest ones below it.
 */
void why_each_line(const struct virt_why *why,
		   void (*take)(void *arg, const struct why_line *line), void *arg);

/** why_put_head, why_put_line, why_put_sum - the text: first lines; one of the tree; the last. */
void why_put_head(const struct why_writing *writing, const struct why_answer *answer);
void why_put_line(const struct why_writing *writing, const struct why_line *line);
void why_put_sum(const struct why_writing *writing);

/** why_put_title - whose time it is, and which moment. */
void why_put_title(struct output *out, const struct why_answer *answer);

/** why_put_words - what a line says, without place and records. */
void why_put_words(struct output *out, const struct virt_why *why, const struct why_line *line);

/** why_put_segment - what a segment is, with whose time it is, if the title does not say that. */
void why_put_segment(struct output *out, const struct virt_why *why,
		     const struct virt_why_segment *segment);

/** why_put_records - the numbers of a line's records: "#12 #15"; nothing for the rest. */
void why_put_records(const struct why_writing *writing, const struct why_line *line);

/** why_duration - all digits, so that lengths add up, for an argument of out_printf() */
struct why_duration { char text[48]; };
struct why_duration why_duration(int64_t ns);

/** why_put_duration - print why_duration() in at least @width columns */
void why_put_duration(struct output *out, int64_t ns, size_t width);

/** why_subject - the name of a vCPU or task as it is, or "pCPU 3". */
void why_subject(const struct why_answer *answer, char *text, size_t size);

/** why_vector_of - the vector of the interrupt that ended a wait; or VIRT_NONE. */
int why_vector_of(const struct virt_why *why, const struct virt_why_segment *segment);

/** why_read_of - the request to a block device that a vCPU waits for, in the kernel; NULL: none */
const struct virt_block_read *why_read_of(const struct virt_why *why,
					  const struct virt_why_segment *segment);

/** why_is_paused - of a vCPU that is offline: is its whole machine, at half of the time? */
bool why_is_paused(const struct virt_why *why, const struct virt_why_segment *segment);

/** why_vector_name - what that is for, or whose: virt_vector_name(); or NULL. */
const char *why_vector_name(const struct virt_why *why, const struct virt_why_segment *segment);

/** why_interrupt_of - the guest's handler that woke its task: "irq 49 virtio0"; or NULL. */
const char *why_interrupt_of(const struct virt_why *why, const struct virt_why_segment *segment);

/** why_handler_kind_of - "irq", "softirq" ... */
const char *why_handler_kind_of(const struct virt_why *why,
				const struct virt_why_segment *segment);

/** why_asks_for_host - has a task of the host ended a wait? Then its life is of interest. */
bool why_asks_for_host(const struct virt_why *why);

/** why_next_of - the next segment that is not below @i. */
size_t why_next_of(const struct virt_why *why, size_t i);

/** why_is_steal - is it the time in which a vCPU is preempted? */
bool why_is_steal(const struct virt_why *why, const struct virt_why_segment *segment);

/** why_steal_kinds - the time of segment @i, which is steal, by who had the pCPU. */
void why_steal_kinds(const struct virt_why *why, size_t i, int64_t ns[VIRT_STEAL_N_KINDS]);

#ifdef __cplusplus
}
#endif
#endif
