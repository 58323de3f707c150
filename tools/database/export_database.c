// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	export_database.c
 * @brief	Write the tables of an export into a database of SQLite, independent of the file
 *		that has it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "export_database.h"

void export_database_take(struct export_database *database, int ret)
{
	if (database->error || ret == SQLITE_OK || ret == SQLITE_DONE || ret == SQLITE_ROW)
		return;
	database->error = ret;
	database->system_error = sqlite3_system_errno(database->db);
}

void export_database_execute(struct export_database *database, const char *sql)
{
	if (!database->error)
		export_database_take(database, sqlite3_exec(database->db, sql, NULL, NULL, NULL));
}

/** CREATE TABLE and INSERT. */
static void make_table(struct export_database *database, enum export_table_id id)
{
	static const char *const types[EXPORT_N_TYPES] = {
		[EXPORT_INTEGER] = "INTEGER", [EXPORT_BOOLEAN] = "INTEGER", [EXPORT_TEXT] = "TEXT",
	};
	const struct export_table *table = &export_tables[id];
	char *text = NULL;
	size_t size, insert;
	FILE *sql = open_memstream(&text, &size);

	if (!sql) {
		export_database_take(database, SQLITE_NOMEM);
		return;
	}
	export_create_table(sql, table, types);
	fputc('\0', sql);
	fflush(sql);
	insert = size;
	fprintf(sql, "INSERT INTO \"%s\" VALUES (", table->name);
	for (size_t i = 0; i < table->n; i++)
		fputs(i ? ", ?" : "?", sql);
	fputs(")", sql);
	if (fclose(sql)) {
		export_database_take(database, SQLITE_NOMEM);
	} else {
		export_database_execute(database, text);
		if (!database->error)
			export_database_take(database,
					     sqlite3_prepare_v2(database->db, text + insert, -1,
								&database->insert[id], NULL));
	}
	free(text);
}

void export_database_tables(struct export_database *database)
{
	char version[64];

	/* an incomplete database is never visible: no rollback, and no sync before the end */
	export_database_execute(database, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
				"PRAGMA temp_store = MEMORY; PRAGMA locking_mode = EXCLUSIVE");
	export_database_execute(database, "BEGIN");
	snprintf(version, sizeof(version), "PRAGMA user_version = %d", EXPORT_SCHEMA_VERSION);
	export_database_execute(database, version);
	for (int i = 0; i < EXPORT_N_TABLES && !database->error; i++)
		make_table(database, (enum export_table_id)i);
}

static int bind(const struct export_database *database, sqlite3_stmt *insert, int at,
		const struct export_value *value)
{
	char text[EXPORT_TEXT_SIZE];

	if (value->kind == EXPORT_NULL)
		return sqlite3_bind_null(insert, at);
	if (value->kind == EXPORT_NUMBER)
		return sqlite3_bind_int64(insert, at, value->number);
	if (database->is_raw)
		return sqlite3_bind_text(insert, at, value->text, -1, SQLITE_TRANSIENT);
	escape_text(text, sizeof(text), value->text);
	return sqlite3_bind_text(insert, at, text, -1, SQLITE_TRANSIENT);
}

void export_database_row(struct export_database *database, enum export_table_id table,
			 const struct export_value *values)
{
	sqlite3_stmt *insert = database->insert[table];

	for (size_t i = 0; i < export_tables[table].n && !database->error; i++)
		export_database_take(database, bind(database, insert, (int)i + 1, &values[i]));
	if (database->error)
		return;
	export_database_take(database, sqlite3_step(insert));
	sqlite3_reset(insert);
}

const char *export_database_problem(const struct export_database *database)
{
	if (database->system_error)
		return strerror(database->system_error);
	return database->error ? sqlite3_errstr(database->error) : "";
}

void export_database_end(struct export_database *database)
{
	for (int i = 0; i < EXPORT_N_TABLES; i++)
		sqlite3_finalize(database->insert[i]);
	memset(database->insert, 0, sizeof(database->insert));
}
