// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	query_help.c
 * @brief	Suggest reasons why SQLite does not accept a question.
 *
 * SQLite does not report in which table it looked for a column. So a question names a table if the
 * name of the table is one of its words.
 */
#include <ctype.h>
#include <string.h>

#include "options.h"
#include "query.h"

static bool is_part(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool query_names_table(const char *sql, const char *table)
{
	size_t n = strlen(table);

	for (const char *at = sql; *at; at++)
		if (!sqlite3_strnicmp(at, table, (int)n) && !is_part(at[n]) &&
		    (at == sql || !is_part(at[-1])))
			return true;
	return false;
}

static void add(char *text, size_t size, const char *before, const char *name)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%s%s", before, name);
}

static void suggest(char *text, size_t size, const char *word, const char *const *names)
{
	const char *near = ksv_suggest(word, names);

	if (near) {
		add(text, size, "; did you mean '", near);
		add(text, size, "'?", "");
	}
}

/** @column: "name" or "table.name" */
static void help_column(const struct query *query, const char *column, char *text, size_t size)
{
	const char *names[EXPORT_N_TABLES * 16 + 1] = { NULL };
	const char *dot = strrchr(column, '.');
	size_t n = 0;

	for (int i = 0; i < EXPORT_N_TABLES; i++)
		for (size_t j = 0; query_names_table(query->sql, export_tables[i].name) &&
		     j < export_tables[i].n && n + 1 < sizeof(names) / sizeof(names[0]); j++)
			names[n++] = export_tables[i].columns[j].name;
	for (int i = 0; i < EXPORT_N_TABLES; i++) {
		if (!query_names_table(query->sql, export_tables[i].name))
			continue;
		add(text, size, "; columns of ", export_tables[i].name);
		for (size_t j = 0; j < export_tables[i].n; j++)
			add(text, size, j ? ", " : ": ", export_tables[i].columns[j].name);
	}
	suggest(text, size, dot ? dot + 1 : column, names);
}

static void help_table(const char *table, char *text, size_t size)
{
	const char *names[EXPORT_N_TABLES + 1] = { NULL };

	for (int i = 0; i < EXPORT_N_TABLES; i++)
		names[i] = export_tables[i].name;
	for (int i = 0; i < EXPORT_N_TABLES; i++)
		add(text, size, i ? ", " : "; the tables are ", names[i]);
	suggest(text, size, table, names);
}

void query_help(const struct query *query, const char *error, char *text, size_t size)
{
	static const char no_column[] = "no such column: ", no_table[] = "no such table: ",
			  ambiguous[] = "ambiguous column name: ";

	*text = '\0';
	if (!strncmp(error, no_column, sizeof(no_column) - 1)) {
		const char *column = error + sizeof(no_column) - 1;

		if (strchr(query->sql, '"'))
			add(text, size, "; write a text in single quotes", "");
		help_column(query, *column == '"' ? column + 1 : column, text, size);
	} else if (!strncmp(error, no_table, sizeof(no_table) - 1)) {
		help_table(error + sizeof(no_table) - 1, text, size);
	} else if (!strncmp(error, ambiguous, sizeof(ambiguous) - 1)) {
		add(text, size, "; write TABLE.", error + sizeof(ambiguous) - 1);
	}
}
