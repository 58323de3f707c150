/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	why_answer.h
 * @brief	An answer of "kshark-virt why": the records that show it, and how it is told.
 *
 * For the command and for the dock, which say the same. Names are escaped on their way out.
 */
#ifndef KSHARK_VIRT_WHY_ANSWER_H
#define KSHARK_VIRT_WHY_ANSWER_H

#include "output.h"
#include "virt_why.h"

#ifdef __cplusplus
extern "C" {
#endif

struct host_trace;

/** One answer: a subject, a window, and the tree. */
struct why_answer {
	int32_t		vcpu, pcpu;	/* whose time it is; the other one is VIRT_NONE */
	const struct virt_why_moment *moment;	/* one of the worst; or NULL */
	struct virt_why	why;
};

/* --- the records that show it: why_evidence.c ------------------------------------------------- */

/** Records at one time and pCPU that are numbered, at most. */
#define WHY_MOST_RECORDS	4

struct why_evidence;

/**
 * why_evidence_find - number the records at the beginnings and ends of segments
 * @stop: asked now and then whether to give up; or NULL
 *
 * They are counted from 0 in order of time, as KernelShark numbers the rows of one file. That takes
 * another walk through the trace.
 *
 * Return: to be given to why_evidence_free(); NULL with errno: ENOMEM, ECANCELED, or what ended the
 * walk.
 */
struct why_evidence *why_evidence_find(struct host_trace *trace, const struct why_answer *answers,
				       size_t n, bool (*stop)(void *arg), void *arg);
void why_evidence_free(struct why_evidence *evidence);

/**
 * why_evidence_of - the records of a segment, ascending
 * @evidence: or NULL, as long as it is not known
 * @numbers: receives them: 2 * WHY_MOST_RECORDS at most
 *
 * Return: how many.
 */
size_t why_evidence_of(const struct why_evidence *evidence,
		       const struct virt_why_segment *segment, uint64_t *numbers);

/* --- how it is told: why_lines.c -------------------------------------------------------------- */

struct why_writing {
	const char		*file;
	const struct virt_model	*model;
	const struct why_evidence *evidence;	/* or NULL */
	struct output		*out;
};

/** A line of the tree: a segment; or segments below another one that are not told one by one. */
struct why_line {
	const struct virt_why_segment *segment;	/* NULL: the rest */
	int			level;
	int64_t			from_ns, to_ns;
	int64_t			length_ns;	/* of the rest: of all that it sums up */
	size_t			n;		/* so many segments */
	int64_t			ns[VIRT_WHY_N_KINDS];	/* of the rest */
};

/**
 * why_each_line - call @take for each line of the tree, from the top down
 *
 * All uppermost segments are told, and the longest ones below each.
 */
void why_each_line(const struct virt_why *why,
		   void (*take)(void *arg, const struct why_line *line), void *arg);

/** why_put_head, why_put_line, why_put_sum - the text: first lines; one of the tree; the last. */
void why_put_head(const struct why_writing *writing, const struct why_answer *answer);
void why_put_line(const struct why_writing *writing, const struct why_line *line);
void why_put_sum(const struct why_writing *writing, const struct virt_why *why);

/** why_put_title - whose time it is, and which moment. */
void why_put_title(struct output *out, const struct virt_model *model,
		   const struct why_answer *answer);

/** why_put_words - what a line says, without place and records. */
void why_put_words(struct output *out, const struct virt_model *model,
		   const struct why_line *line);

/** why_put_segment - what a segment is, with whose time it is, if the title does not say that. */
void why_put_segment(struct output *out, const struct virt_model *model,
		     const struct virt_why_segment *segment);

/** why_put_records - the numbers of a line's records: "#12 #15"; nothing for the rest. */
void why_put_records(const struct why_writing *writing, const struct why_line *line);

/** why_put_duration - all digits: lengths that a reader adds up add up. @width: at least. */
void why_put_duration(struct output *out, int64_t ns, size_t width);

/** why_subject - a vCPU's name as it is, or "p3". */
void why_subject(const struct virt_model *model, const struct why_answer *answer, char *text,
		 size_t size);

/** why_vector_of - the vector of the interrupt that ended a wait; or VIRT_NONE. */
int why_vector_of(const struct virt_model *model, const struct virt_why_segment *segment);

/** why_handler_kind_of - "irq", "softirq" ... */
const char *why_handler_kind_of(const struct virt_model *model,
				const struct virt_why_segment *segment);

/** why_next_of - the next segment that is not below @i. */
size_t why_next_of(const struct virt_why *why, size_t i);

#ifdef __cplusplus
}
#endif
#endif
