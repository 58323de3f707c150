/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	why.h
 * @brief	Parts of "kshark-virt why": how answers are written and drawn.
 */
#ifndef KSHARK_VIRT_WHY_H
#define KSHARK_VIRT_WHY_H

#include "canvas.h"
#include "why_answer.h"

/* --- how it is written: why_write.c ----------------------------------------------------------- */

void why_write_text(const struct why_writing *writing, const struct why_answer *answer,
		    bool first);
void why_write_json(const struct why_writing *writing, const struct why_answer *answer,
		    bool first);

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
