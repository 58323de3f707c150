/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	why.h
 * @brief	Parts of "kshark-virt why": answers, records that show them, how they are written.
 */
#ifndef KSHARK_VIRT_WHY_H
#define KSHARK_VIRT_WHY_H

#include "canvas.h"
#include "host_trace.h"
#include "output.h"
#include "virt_why.h"

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
 *
 * They are counted from 0 in order of time, as KernelShark numbers the rows of one file. That takes
 * another walk through the trace.
 *
 * Return: to be given to why_evidence_free(); NULL with errno: ENOMEM, or the walk failed.
 */
struct why_evidence *why_evidence_find(struct host_trace *trace, const struct why_answer *answers,
				       size_t n);
void why_evidence_free(struct why_evidence *evidence);

/**
 * why_evidence_of - the records of a segment, ascending
 * @numbers: receives them: 2 * WHY_MOST_RECORDS at most
 *
 * Return: how many.
 */
size_t why_evidence_of(const struct why_evidence *evidence,
		       const struct virt_why_segment *segment, uint64_t *numbers);

/* --- how it is written: why_write.c ----------------------------------------------------------- */

struct why_writing {
	const char		*file;
	const struct virt_model	*model;
	const struct why_evidence *evidence;
	struct output		*out;
};

void why_write_text(const struct why_writing *writing, const struct why_answer *answer,
		    bool first);
void why_write_json(const struct why_writing *writing, const struct why_answer *answer,
		    bool first);

/** why_put_title - whose time it is, and which moment. */
void why_put_title(struct output *out, const struct virt_model *model,
		   const struct why_answer *answer);

/** why_put_segment - what a segment is, with whose time it is, if the title does not say that. */
void why_put_segment(struct output *out, const struct virt_model *model,
		     const struct virt_why_segment *segment);

/** why_put_duration - all digits: lengths that a reader adds up add up. @width: at least. */
void why_put_duration(struct output *out, int64_t ns, size_t width);

/* --- drawn: why_figure.c ---------------------------------------------------------------------- */

/**
 * why_draw - a lane for each level of the tree, above the vCPUs that are in it
 * @path: NULL: standard output
 *
 * Return: KSV_EXIT_OK, or another exit status after a message.
 */
int why_draw(const struct virt_model *model, const struct why_answer *answer,
	     enum canvas_format format, const char *path);

#endif
