/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	terminal.h
 * @brief	Text for people: the colours of a terminal, and a pager.
 */
#ifndef KSHARK_VIRT_TERMINAL_H
#define KSHARK_VIRT_TERMINAL_H

#include "output.h"

/** The reader of an output. */
enum out_reader {
	OUT_PROGRAM = 0,	/* no colours */
	OUT_PEOPLE,
	OUT_PAGES		/* people, and a pager if the text does not fit on their terminal */
};

/**
 * out_open_text - out_open() for text, which is coloured if --color, NO_COLOR, TERM and the kind
 * of the output permit it
 *
 * A terminal that shows no escape sequences gets neither colours nor a pager.
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_FILE after a message.
 */
int out_open_text(struct output *out, const char *path, enum out_reader reader);

#endif
