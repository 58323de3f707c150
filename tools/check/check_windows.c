// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	check_windows.c
 * @brief	Windows of a trace, one in each line of a file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "check_budgets.h"

#define MAX_LINE	4096
#define MAX_LINES	100000
#define BLANKS		" \t"

/** The next word of a line, which ends there. Return: NULL if there is none. */
static char *word(char **rest)
{
	char *begin = *rest + strspn(*rest, BLANKS), *end = begin + strcspn(begin, BLANKS);

	if (!*begin)
		return NULL;
	*rest = *end ? end + 1 : end;
	*end = '\0';
	return begin;
}

static int take_line(struct check_windows *windows, char *line)
{
	struct check_window window = { .name = NULL };
	char *text = word(&line), *end;

	if (!text)
		return 0;
	if (ksv_parse_time(text, &window.from))
		return -EINVAL;
	text = word(&line);
	if (text && ksv_parse_time(text, &window.to))
		return -EINVAL;
	line += strspn(line, BLANKS);
	for (end = line + strlen(line); end > line && strchr(BLANKS, end[-1]); end--)
		end[-1] = '\0';
	if (ARRAY_GROW(windows->items, windows->n, windows->room))
		return -ENOMEM;
	if (*line) {
		window.name = strdup(line);
		if (!window.name)
			return -ENOMEM;
	}
	windows->items[windows->n++] = window;
	return 0;
}

int check_windows_read(struct check_windows *windows, FILE *file, unsigned int *line)
{
	char text[MAX_LINE];
	int ret = 0;

	for (*line = 0; !ret && fgets(text, sizeof(text), file);) {
		if (++*line > MAX_LINES || (!strchr(text, '\n') && !feof(file)))
			return -EFBIG;
		text[strcspn(text, "#\r\n")] = '\0';
		ret = take_line(windows, text);
	}
	return ret ? ret : ferror(file) ? -EIO : 0;
}

void check_windows_free(struct check_windows *windows)
{
	for (size_t i = 0; i < windows->n; i++)
		free(windows->items[i].name);
	free(windows->items);
	*windows = (struct check_windows){ 0 };
}
