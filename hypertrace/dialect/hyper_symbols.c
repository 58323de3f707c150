// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	hyper_symbols.c
 * @brief	Read the names of a guest's functions from a copy of /proc/kallsyms or System.map.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "hyper_symbols.h"
#include "regular_file.h"
#include "search.h"
#include "whole_file.h"

/** Several times those of a kernel with everything in it. */
#define MAX_BYTES	(256u << 20)

struct symbol {
	uint64_t	address;
	const char	*name;		/* in the text of the file */
};

struct hyper_symbols {
	char		*text;
	struct symbol	*all;		/* ascending by address */
	size_t		n, room;
};

/** If an address has several names, the first in the file counts. */
static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/**
 * Take a line, and end its name with a NUL.
 *
 * Return: 0 for a symbol, 1 for one that is no function, or -EINVAL.
 */
static int take_line(char *line, struct symbol *symbol)
{
	char *end, *name;

	errno = 0;
	symbol->address = strtoull(line, &end, 16);
	if (errno || end == line || *end != ' ' || !end[1] || end[2] != ' ')
		return -EINVAL;
	name = end + 3;
	name[strcspn(name, " \t\r")] = '\0';
	symbol->name = name;
	if (!*name)
		return -EINVAL;
	return strchr("tTwW", end[1]) ? 0 : 1;
}

static int take_lines(struct hyper_symbols *symbols, size_t length, size_t *bad)
{
	char *line = symbols->text, *end = symbols->text + length;

	*bad = 0;
	for (size_t number = 1; line < end; number++) {
		char *next = memchr(line, '\n', (size_t)(end - line));
		struct symbol symbol;
		int ret;

		next = next ? next : end;
		*next = '\0';
		ret = *line ? take_line(line, &symbol) : 1;
		if (ret < 0) {
			*bad = number;
			return ret;
		}
		line = next + 1;
		if (ret || !symbol.address)
			continue;
		if (ARRAY_GROW(symbols->all, symbols->n, symbols->room))
			return -ENOMEM;
		symbols->all[symbols->n++] = symbol;
	}
	if (symbols->n)
		qsort(symbols->all, symbols->n, sizeof(*symbols->all), compare_symbols);
	return symbols->n ? 0 : -ENODATA;
}

int hyper_symbols_read(const char *path, struct hyper_symbols **symbols, char *error, size_t size)
{
	struct hyper_symbols *made = calloc(1, sizeof(*made));
	size_t length = 0, bad = 0;
	int ret = made ? whole_file_read(path, MAX_BYTES, &made->text, &length) : -ENOMEM;

	*symbols = NULL;
	if (ret) {
		text_format(error, size, "%s: cannot read: %s", path, regular_file_error(ret));
		goto err;
	}
	ret = take_lines(made, length, &bad);
	if (ret == -ENODATA)
		text_format(error, size, "%s: no function has an address there: copy the guest's "
			    "/proc/kallsyms as root", path);
	else if (ret == -EINVAL)
		text_format(error, size, "%s: line %zu is not a line of kallsyms or System.map: an "
			    "address, a type, a name", path, bad);
	else if (ret)
		text_format(error, size, "%s: not enough memory", path);
	if (ret)
		goto err;
	*symbols = made;
	return 0;
err:
	hyper_symbols_free(made);
	return ret;
}

void hyper_symbols_free(struct hyper_symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->all);
	free(symbols->text);
	free(symbols);
}

const char *hyper_symbols_name(const struct hyper_symbols *symbols, uint64_t address,
			       uint64_t *offset)
{
	size_t i, first;

	if (!symbols)
		return NULL;
	SEARCH_FIRST(i, 0, symbols->n, symbols->all[i].address <= address);
	if (!i)
		return NULL;
	SEARCH_FIRST(first, 0, i, symbols->all[first].address < symbols->all[i - 1].address);
	if (offset)
		*offset = address - symbols->all[first].address;
	return symbols->all[first].name;
}
