/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	why.h
 * @brief	Parts of "kshark-virt why": how answers are written and drawn.
 */
#ifndef KSHARK_VIRT_WHY_H
#define KSHARK_VIRT_WHY_H

#include "canvas.h"
#include "json_writer.h"
#include "trace_notes.h"
#include "why_answer.h"

/* --- how it is written: why_write.c ----------------------------------------------------------- */

void why_write_text(const struct why_writing *writing, const struct why_answer *answer,
		    bool first);

/** why_write_json - one document: why_write_json_begin(), answers, why_write_json_end(). */
void why_write_json_begin(struct output *out, const char *file, const struct trace_notes *notes);
void why_write_json(const struct why_writing *writing, const struct why_answer *answer,
		    bool first);
void why_write_json_end(struct output *out);

/** why_write_json_of - an answer as a member of an object; @key: NULL inside an array */
void why_write_json_of(const struct why_writing *writing, const char *key,
		       const struct why_answer *answer);

/** why_json_document - what is written between begin and end. */
struct json *why_json_document(void);

/* --- drawn: why_figure.c ---------------------------------------------------------------------- */

/**
 * why_draw - a lane for each level of the tree, above the vCPUs that are in it
 * @path: NULL: standard output
 *
 * Return: KSV_EXIT_OK, or another exit status after a message.
 */
int why_draw(const struct virt_model *model, const struct why_answer *answer,
	     enum canvas_format format, const char *path);

/* --- for what a vCPU was in its monitor: why_monitor.c ---------------------------------------- */

/** What it did there; names are as the monitor has them. */
struct why_access {
	int64_t		time_ns;
	const char	*operation;	/* read or write; of an exit, its name, or NULL */
	const char	*device;
	size_t		n_device;
	uint64_t	address;	/* as the monitor records it */
	int		bytes;
	bool		is_exit;	/* no access: KVM's exit, of @reason, is all that's known */
	int32_t		reason;
};

/** why_each_access - in the stay that a segment is of, also if it began before; none of others. */
void why_each_access(const struct why_writing *writing, const struct virt_why_segment *segment,
		     void (*take)(void *arg, const struct why_access *access), void *arg);

/** why_put_accesses - ", the monitor: write of 1 B, serial at 0x3f8"; or nothing */
void why_put_accesses(const struct why_writing *writing, const struct virt_why_segment *segment);

#endif
