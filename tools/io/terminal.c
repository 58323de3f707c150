// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	terminal.c
 * @brief	Text for people: the colours of a terminal.
 */
#include <stdlib.h>
#include <unistd.h>

#include "options.h"
#include "terminal.h"

/** Does the terminal know no escape sequences, or is nothing known about it? */
static bool is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || !strcmp(term, "dumb");
}

static bool wants_color(int fd)
{
	const char *no_color = getenv("NO_COLOR");

	if (ksv_color() != KSV_COLOR_AUTO)
		return ksv_color() == KSV_COLOR_ALWAYS;
	/* https://no-color.org */
	return (!no_color || !*no_color) && !is_dumb() && isatty(fd);
}

int out_open_text(struct output *out, const char *path, enum out_reader reader)
{
	int status = out_open(out, path);

	if (status || reader == OUT_PROGRAM)
		return status;
	out->color = wants_color(out->fd);
	return status;
}
