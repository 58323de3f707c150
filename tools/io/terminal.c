// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	terminal.c
 * @brief	Text for people: the colours of a terminal, and a pager.
 */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "options.h"
#include "pager.h"
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

/** The number of lines that text takes on a terminal, without its escape sequences. */
static size_t count_lines(const char *text, const char *end, size_t width)
{
	size_t lines = 0, column = 0;

	for (; text < end; text++) {
		if (*text == '\n') {
			lines++;
			column = 0;
		} else if (*text == '\033') {
			text = memchr(text, 'm', (size_t)(end - text));
			if (!text)
				break;
		} else if ((*text & 0xc0) != 0x80 && column++ == width) {
			lines++;
			column = 1;
		}
	}
	return lines + (column > 0);
}

static void choose_pager(struct output *out, bool is_all)
{
	struct winsize size;
	int fd;

	if (ioctl(out->fd, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		return;
	/* the shell's prompt needs a line, too */
	if (is_all && count_lines(out->buffer, out->pos, size.ws_col) < size.ws_row)
		return;
	fd = pager_start();
	if (fd >= 0)
		out->fd = fd;
}

int out_open_text(struct output *out, const char *path, enum out_reader reader)
{
	int status = out_open(out, path);

	if (status || reader == OUT_PROGRAM)
		return status;
	out->color = wants_color(out->fd);
	if (reader == OUT_PAGES && !out->named && isatty(out->fd) && !is_dumb())
		out->choose = choose_pager;
	return status;
}
