// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	export_sqlite.c
 * @brief	Tables as a database of SQLite, which gets its name when it is complete.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "escape.h"
#include "export_sink.h"
#include "options.h"
#include "whole_file.h"

struct database {
	char		*path;
	struct whole_file file;
	sqlite3		*db;
	sqlite3_stmt	*insert[EXPORT_N_TABLES];
	int		error;		/* of SQLite; the first one sticks */
	int		system_error;	/* errno of it, or 0 */
};

static void take_error(struct database *database, int ret)
{
	if (database->error || ret == SQLITE_OK || ret == SQLITE_DONE || ret == SQLITE_ROW)
		return;
	database->error = ret;
	database->system_error = sqlite3_system_errno(database->db);
}

static void execute(struct database *database, const char *sql)
{
	if (!database->error)
		take_error(database, sqlite3_exec(database->db, sql, NULL, NULL, NULL));
}

/* --- what is there --------------------------------------------------------------------------- */

/** CREATE TABLE and INSERT. */
static void make_table(struct database *database, enum export_table_id id)
{
	static const char *const types[EXPORT_N_TYPES] = {
		[EXPORT_INTEGER] = "INTEGER", [EXPORT_BOOLEAN] = "INTEGER", [EXPORT_TEXT] = "TEXT",
	};
	const struct export_table *table = &export_tables[id];
	char *text = NULL;
	size_t size, insert;
	FILE *sql = open_memstream(&text, &size);

	if (!sql) {
		take_error(database, SQLITE_NOMEM);
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
		take_error(database, SQLITE_NOMEM);
	} else {
		execute(database, text);
		if (!database->error)
			take_error(database, sqlite3_prepare_v2(database->db, text + insert, -1,
								&database->insert[id], NULL));
	}
	free(text);
}

static void make_tables(struct database *database)
{
	char version[64];

	/* what is not complete never gets its name: nothing is to be undone, or safe earlier */
	execute(database, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
			  "PRAGMA temp_store = MEMORY; PRAGMA locking_mode = EXCLUSIVE");
	execute(database, "BEGIN");
	snprintf(version, sizeof(version), "PRAGMA user_version = %d", EXPORT_SCHEMA_VERSION);
	execute(database, version);
	for (int i = 0; i < EXPORT_N_TABLES && !database->error; i++)
		make_table(database, (enum export_table_id)i);
}

/* --- the sink -------------------------------------------------------------------------------- */

/**
 * What SQLite keeps beside a database belongs to what is in that one. It would be played into ours,
 * which is damaged then.
 *
 * Return: KSV_EXIT_OK, or an exit status after a message.
 */
static int check_beside(const char *path)
{
	static const char *const endings[] = { "-journal", "-wal", "-shm" };
	/* SQLite follows links first */
	char *real = realpath(path, NULL), *beside;
	int status = KSV_EXIT_OK;
	struct stat st;

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]) && !status; i++) {
		if (asprintf(&beside, "%s%s", real ? real : path, endings[i]) < 0) {
			ksv_error("not enough memory");
			status = KSV_EXIT_FILE;
			break;
		}
		if (!lstat(beside, &st)) {
			ksv_error("%s: %s exists and belongs to the old database: close the "
				  "program that uses it, or remove both files", path,
				  beside);
			status = KSV_EXIT_FILE;
		}
		free(beside);
	}
	free(real);
	return status;
}

static int end(struct export_sink *sink, int status)
{
	struct database *database = sink->data;

	for (int i = 0; i < EXPORT_N_TABLES; i++)
		sqlite3_finalize(database->insert[i]);
	/* what is still open is rolled back, and the file is thrown away */
	sqlite3_close(database->db);
	if (!status)
		status = check_beside(database->path);
	if (!status) {
		int ret = whole_file_commit(&database->file);

		if (ret) {
			ksv_error("%s: cannot write: %s", database->path, strerror(-ret));
			status = KSV_EXIT_FILE;
		}
	} else if (database->file.base) {
		whole_file_discard(&database->file);
	}
	free(database->path);
	free(database);
	sink->data = NULL;
	return status;
}

static int sqlite_close(struct export_sink *sink, int status)
{
	struct database *database = sink->data;

	if (!status)
		execute(database, "COMMIT");
	if (database->error) {
		ksv_error("%s: cannot write: %s", database->path, database->system_error ?
			  strerror(database->system_error) : sqlite3_errstr(database->error));
		status = status ? status : KSV_EXIT_FILE;
	}
	return end(sink, status);
}

/** SQLite takes a name, which leads to the file under whatever name it has until it is complete. */
static void open_database(struct database *database)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", database->file.fd);
	take_error(database, sqlite3_open_v2(name, &database->db, SQLITE_OPEN_READWRITE |
					     SQLITE_OPEN_NOMUTEX, "unix-none"));
}

static int sqlite_open(struct export_sink *sink, const char *path)
{
	struct database *database = calloc(1, sizeof(*database));
	int ret = -ENOMEM;

	if (check_beside(path)) {
		free(database);
		return KSV_EXIT_FILE;
	}
	sink->data = database;
	if (database)
		database->path = strdup(path);
	if (database && database->path)
		ret = whole_file_open(&database->file, path, false);
	if (!ret && database->file.dir < 0) {
		whole_file_discard(&database->file);
		ret = -ESPIPE;
	}
	if (ret) {
		ksv_error(ret == -ESPIPE ? "%s: a database must be a regular file" :
			  "%s: cannot write: %s", path, strerror(-ret));
		free(database ? database->path : NULL);
		free(database);
		return KSV_EXIT_FILE;
	}
	open_database(database);
	if (!database->error)
		make_tables(database);
	return database->error ? sqlite_close(sink, KSV_EXIT_OK) : KSV_EXIT_OK;
}

static int bind(sqlite3_stmt *insert, int at, const struct export_value *value)
{
	char text[EXPORT_TEXT_SIZE];

	if (value->kind == EXPORT_NULL)
		return sqlite3_bind_null(insert, at);
	if (value->kind == EXPORT_NUMBER)
		return sqlite3_bind_int64(insert, at, value->number);
	escape_text(text, sizeof(text), value->text);
	return sqlite3_bind_text(insert, at, text, -1, SQLITE_TRANSIENT);
}

static void sqlite_row(struct export_sink *sink, enum export_table_id table,
		       const struct export_value *values)
{
	struct database *database = sink->data;
	sqlite3_stmt *insert = database->insert[table];

	for (size_t i = 0; i < export_tables[table].n && !database->error; i++)
		take_error(database, bind(insert, (int)i + 1, &values[i]));
	if (database->error)
		return;
	take_error(database, sqlite3_step(insert));
	sqlite3_reset(insert);
}

static bool sqlite_failed(const struct export_sink *sink)
{
	return ((const struct database *)sink->data)->error;
}

const struct export_sink export_sqlite = {
	.open = sqlite_open, .row = sqlite_row, .failed = sqlite_failed, .close = sqlite_close,
};
