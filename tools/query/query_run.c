// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	query_run.c
 * @brief	Run a question in a private database, with limits to its rights and its time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "options.h"
#include "query.h"

/** Limits for a question. SQLite's own limits are far higher. */
#define MAX_TEXT	(16 << 20)	/* bytes of a value or a row */
#define MAX_SQL		(1 << 20)	/* bytes of a statement */
#define MAX_HEAP	(INT64_C(1) << 30) /* bytes of all memory of SQLite */
#define CACHE		"262144"	/* KiB of tables in memory; the others go to a file */

/** Instructions of SQLite's virtual machine between two looks at the clock: about 1 ms. */
#define LOOK_AFTER	100000

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- what is allowed ------------------------------------------------------------------------- */

/** SQLite asks it when it compiles a statement. */
static int authorize(void *arg, int action, const char *first, const char *second,
		     const char *database, const char *trigger)
{
	struct query *query = arg;

	(void)first;
	(void)database;
	(void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
	case SQLITE_READ:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		if (second && !sqlite3_stricmp(second, "load_extension"))
			break;
		return SQLITE_OK;
	default:
		break;
	}
	query->is_refused = true;
	return SQLITE_DENY;
}

static int look_at_clock(void *arg)
{
	struct query *query = arg;

	query->is_late = query->used_ns + now_ns() - query->begin_ns > query->timeout_ns;
	return query->is_late;
}

static void set_limits(struct query *query)
{
	sqlite3 *db = query->database.db;

	sqlite3_hard_heap_limit64(MAX_HEAP);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MAX_TEXT);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, MAX_SQL);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	/* "name" is a column and never a text, so that a wrong name is an error */
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
}

/* --- compiling ------------------------------------------------------------------------------- */

/** The place of an error, for people: line and column from 1, and the text from there on. */
static void error_place(const struct query *query, char *text, size_t size)
{
	const char *sql = query->sql, *line = sql;
	int offset = -1, number = 1;

	*text = '\0';
#if SQLITE_VERSION_NUMBER >= 3038000
	offset = sqlite3_error_offset(query->database.db);
#endif
	if (offset < 0 || (size_t)offset > strlen(sql))
		return;
	for (const char *at = sql; at < sql + offset; at++) {
		if (*at == '\n') {
			number++;
			line = at + 1;
		}
	}
	snprintf(text, size, "line %d, column %d, at '%.20s': ", number,
		 (int)(sql + offset - line) + 1, sql + offset);
}

static int refused(const struct query *query)
{
	return ksv_usage_error(query->command, "a question can only read the tables: write one "
			       "SELECT");
}

static int sql_error(const struct query *query)
{
	const char *error = sqlite3_errmsg(query->database.db);
	char place[128], help[1024];

	if (query->is_refused)
		return refused(query);
	error_place(query, place, sizeof(place));
	query_help(query, error, help, sizeof(help));
	return ksv_usage_error(query->command, "%s%s%s", place, error, help);
}

/** Is there nothing but blanks, comments and semicolons? */
static bool is_empty(struct query *query, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	bool empty = true;

	while (*sql && empty) {
		const char *rest = sql;

		empty = !sqlite3_prepare_v2(query->database.db, sql, -1, &statement, &rest) &&
			!statement && rest > sql;
		sqlite3_finalize(statement);
		sql = rest;
	}
	return empty;
}

static const char *parameter_of(sqlite3_stmt *statement)
{
	const char *name = sqlite3_bind_parameter_name(statement, 1);

	return name ? name : "?";
}

static int compile(struct query *query)
{
	sqlite3 *db = query->database.db;
	const char *rest = NULL;

	sqlite3_set_authorizer(db, authorize, query);
	if (sqlite3_prepare_v2(db, query->sql, -1, &query->statement, &rest))
		return sql_error(query);
	if (!query->statement)
		return ksv_usage_error(query->command, "the question is empty: see --examples");
	if (sqlite3_bind_parameter_count(query->statement))
		return ksv_usage_error(query->command, "'%s' is a parameter, which has no value: "
				       "write the value", parameter_of(query->statement));
	if (!is_empty(query, rest))
		return ksv_usage_error(query->command, "one question at a time: '%.40s' follows "
				       "the first one", rest);
	if (!sqlite3_stmt_readonly(query->statement) || !sqlite3_column_count(query->statement)) {
		query->is_refused = true;
		return sql_error(query);
	}
	for (int i = 0; i < EXPORT_N_TABLES; i++)
		if (query_names_table(query->sql, export_tables[i].name))
			query->tables |= 1u << i;
	return KSV_EXIT_OK;
}

static int database_error(const struct query *query)
{
	ksv_error("the database of the question: %s: free memory, or set SQLITE_TMPDIR to a folder "
		  "with room", export_database_problem(&query->database));
	return KSV_EXIT_FILE;
}

int query_open(struct query *query)
{
	struct export_database *database = &query->database;

	database->is_raw = true;
	/* without a name: a private temporary file, once the cache is full */
	export_database_take(database, sqlite3_open_v2("", &database->db, SQLITE_OPEN_READWRITE |
						       SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
						       NULL));
	if (!database->error)
		set_limits(query);
	export_database_tables(database);
	export_database_execute(database, "COMMIT");
	export_database_execute(database, "PRAGMA cache_size = -" CACHE);
	return database->error ? database_error(query) : compile(query);
}

void query_close(struct query *query)
{
	sqlite3_finalize(query->statement);
	export_database_end(&query->database);
	sqlite3_close(query->database.db);
}

/* --- filling --------------------------------------------------------------------------------- */

static void put_row(struct export_sink *sink, enum export_table_id table,
		    const struct export_value *values)
{
	export_database_row(&((struct query *)sink->data)->database, table, values);
}

static bool has_failed(const struct export_sink *sink)
{
	return ((const struct query *)sink->data)->database.error;
}

int query_fill(struct query *query, const struct export_job *job)
{
	struct export_sink sink = { .row = put_row, .failed = has_failed, .data = query };

	sqlite3_set_authorizer(query->database.db, NULL, NULL);
	export_database_execute(&query->database, "BEGIN");
	if (export_rows(job, &sink))
		export_database_take(&query->database, SQLITE_NOMEM);
	export_database_execute(&query->database, "COMMIT");
	sqlite3_set_authorizer(query->database.db, authorize, query);
	return query->database.error ? database_error(query) : KSV_EXIT_OK;
}

/* --- computing ------------------------------------------------------------------------------- */

static int step_error(struct query *query, int ret)
{
	/* SQLite of Debian 13 asks about some statements only here */
	if (query->is_refused) {
		query->status = refused(query);
		return -1;
	}
	query->status = KSV_EXIT_FILE;
	if (query->is_late)
		ksv_error("the question takes longer than --timeout permits (%.3g s): select less "
			  "with --from, --to or --vcpu, or give a longer time",
			  (double)query->timeout_ns / 1e9);
	else if (ret == SQLITE_NOMEM)
		ksv_error("the question needs more than %d MiB of memory: select less with --from, "
			  "--to or --vcpu", (int)(MAX_HEAP >> 20));
	else if (ret == SQLITE_TOOBIG)
		ksv_error("the question makes a text of more than %d MiB", MAX_TEXT >> 20);
	else
		ksv_error("the question: %s", sqlite3_errmsg(query->database.db));
	return -1;
}

int query_step(struct query *query)
{
	int ret;

	query->begin_ns = now_ns();
	sqlite3_progress_handler(query->database.db, LOOK_AFTER, look_at_clock, query);
	ret = sqlite3_step(query->statement);
	query->used_ns += now_ns() - query->begin_ns;
	if (ret == SQLITE_ROW)
		return 1;
	return ret == SQLITE_DONE ? 0 : step_error(query, ret);
}
