/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	query.h
 * @brief	Ask a question in SQL to the tables of export, in a private database.
 *
 * The database is SQLite's own temporary one: a file without a name if it exceeds the cache. SQLite
 * keeps the data that a question sorts and stores in memory, which has a limit; so a question
 * cannot fill a disk. A question can only read: SQLite's authorizer refuses all other statements.
 * Texts in the database are as others have chosen them; the writers escape them.
 *
 * Source: https://www.sqlite.org/c3ref/set_authorizer.html, and "Defense Against The Dark Arts" of
 * SQLite's documentation.
 */
#ifndef KSHARK_VIRT_QUERY_H
#define KSHARK_VIRT_QUERY_H

#include "export_database.h"
#include "export_rows.h"
#include "output.h"
#include "table.h"
#include "trace_notes.h"

/** The rows of a result that give the widths of the columns of a text table. */
#define QUERY_SAMPLE_ROWS	200

struct query {
	const struct ksv_command *command;
	const char		*sql;
	int64_t			timeout_ns;	/* of computing, without loading and writing */
	struct export_database	database;
	sqlite3_stmt		*statement;
	unsigned int		tables;		/* that it names: 1 << their ids */
	bool			is_refused;	/* it is no question */
	int			status;		/* after query_step() has failed: for the exit */
	int64_t			used_ns, begin_ns; /* time that it took, and began to take */
	bool			is_late;
};

/**
 * query_open - make the empty tables, and compile the question
 * @query: with command, sql and timeout_ns set; query_close() must follow in any case
 *
 * Return: KSV_EXIT_OK, or the exit status after a message.
 */
int query_open(struct query *query);
void query_close(struct query *query);

/**
 * query_names_table - is the name of a table a word of a question?
 *
 * A question that reads a table names it. The authorizer does not do instead: of a table whose only
 * columns are those of a join by USING or NATURAL, it hears nothing.
 */
bool query_names_table(const char *sql, const char *table);

/** query_fill - fill the tables that the question names. Return: the exit status. */
int query_fill(struct query *query, const struct export_job *job);

/** query_step - compute the next row. Return: 1, 0 at the end, or -1 after a message. */
int query_step(struct query *query);

/**
 * query_check_names - does each column have a name of its own, as members of an object need?
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_USAGE after a message.
 */
int query_check_names(const struct query *query);

/** query_write - all rows. Return: KSV_EXIT_OK, or the exit status after a message. */
int query_write(struct query *query, enum table_format_kind format,
		const struct trace_notes *notes, struct output *out);

/** query_schema - tables and columns. @table: only this one; NULL: all. Return: as query_open(). */
int query_schema(const struct ksv_command *command, const char *table,
		 enum table_format_kind format, struct output *out);

/** query_tables - the tables, a line or object each. */
void query_tables(enum table_format_kind format, struct output *out);

/** query_help - what may be wrong with a question that SQLite does not accept. @error: its text */
void query_help(const struct query *query, const char *error, char *text, size_t size);

/** A documented question. */
struct query_example {
	const char	*question;
	const char	*sql;		/* without a semicolon */
};

#define QUERY_N_EXAMPLES	11

extern const struct query_example query_examples[QUERY_N_EXAMPLES];

/** query_print_examples - as SQL, each question is a comment above its statement */
void query_print_examples(struct output *out);

#endif
