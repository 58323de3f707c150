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

#include "export_database.h"
#include "options.h"
#include "whole_file.h"

struct database {
	char		*path;
	struct whole_file file;
	struct export_database tables;
};

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

	export_database_end(&database->tables);
	/* what is still open is rolled back, and the file is thrown away */
	sqlite3_close(database->tables.db);
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
		export_database_execute(&database->tables, "COMMIT");
	if (database->tables.error) {
		ksv_error("%s: cannot write: %s", database->path,
			  export_database_problem(&database->tables));
		status = status ? status : KSV_EXIT_FILE;
	}
	return end(sink, status);
}

/** SQLite takes a name, which leads to the file under whatever name it has until it is complete. */
static void open_database(struct database *database)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", database->file.fd);
	export_database_take(&database->tables,
			     sqlite3_open_v2(name, &database->tables.db, SQLITE_OPEN_READWRITE |
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
	if (!database->tables.error)
		export_database_tables(&database->tables);
	return database->tables.error ? sqlite_close(sink, KSV_EXIT_OK) : KSV_EXIT_OK;
}

static void sqlite_row(struct export_sink *sink, enum export_table_id table,
		       const struct export_value *values)
{
	export_database_row(&((struct database *)sink->data)->tables, table, values);
}

static bool sqlite_failed(const struct export_sink *sink)
{
	return ((const struct database *)sink->data)->tables.error;
}

const struct export_sink export_sqlite = {
	.open = sqlite_open, .row = sqlite_row, .failed = sqlite_failed, .close = sqlite_close,
};
