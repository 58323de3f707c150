// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	export_csv.c
 * @brief	Write tables as a folder of CSV files, with the statements that make the tables in a
 *		database. The files get their names when all are complete.
 *
 * schema.sql is removed before the first table gets its name, and is the last file to get its own.
 * A folder with schema.sql has the tables of one export. A folder without it belongs to an export
 * that was ended while it replaced another one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export_sink.h"
#include "options.h"
#include "output.h"

enum { SCHEMA = EXPORT_N_TABLES, N_FILES };

struct csv_folder {
	char		*path;
	bool		made;		/* by us */
	char		*paths[N_FILES];	/* of each table, and SCHEMA */
	struct output	files[N_FILES];
	int		n;		/* that are open */
};

static void free_folder(struct csv_folder *folder, bool good)
{
	/* not if anything is in it */
	if (folder->made && !good)
		rmdir(folder->path);
	for (int i = 0; i < N_FILES; i++)
		free(folder->paths[i]);
	free(folder->path);
	free(folder);
}

static void write_header(struct output *out, const struct export_table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		if (i)
			out_char(out, ',');
		out_str(out, table->columns[i].name);
	}
	out_char(out, '\n');
}

/** Types that databases share; keys lead to tables that come before. */
static int write_schema(struct output *out)
{
	static const char *const types[EXPORT_N_TYPES] = {
		[EXPORT_INTEGER] = "BIGINT", [EXPORT_BOOLEAN] = "SMALLINT", [EXPORT_TEXT] = "TEXT",
	};
	char *text = NULL;
	size_t size;
	FILE *sql = open_memstream(&text, &size);

	if (!sql)
		return -ENOMEM;
	fprintf(sql, "-- schema %d of kshark-virt export\n", EXPORT_SCHEMA_VERSION);
	for (int i = 0; i < EXPORT_N_TABLES; i++) {
		export_create_table(sql, &export_tables[i], types);
		fputs(";\n", sql);
	}
	if (fclose(sql)) {
		free(text);
		return -ENOMEM;
	}
	out_mem(out, text, size);
	free(text);
	return 0;
}

static int open_file(struct csv_folder *folder, int i)
{
	const char *name = i == SCHEMA ? "schema" : export_tables[i].name;
	int status;

	if (asprintf(&folder->paths[i], "%s/%s.%s", folder->path, name,
		     i == SCHEMA ? "sql" : "csv") < 0) {
		folder->paths[i] = NULL;
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	status = out_open(&folder->files[i], folder->paths[i]);
	if (status)
		return status;
	folder->n++;
	if (i < EXPORT_N_TABLES) {
		write_header(&folder->files[i], &export_tables[i]);
	} else if (write_schema(&folder->files[i])) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	return KSV_EXIT_OK;
}

/** From now on, until schema.sql is there again, the folder is that of no export. */
static int begin_commit(const struct csv_folder *folder)
{
	int dir, ret = 0;

	if (unlink(folder->paths[SCHEMA])) {
		ret = errno == ENOENT ? 0 : -errno;
	} else {
		/* after a loss of power, too */
		dir = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0 || fsync(dir))
			ret = errno == EINVAL ? 0 : -errno;
		if (dir >= 0)
			close(dir);
	}
	if (ret)
		ksv_error("%s: cannot replace: %s", folder->paths[SCHEMA], strerror(-ret));
	return ret ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

static int csv_close(struct export_sink *sink, int status)
{
	struct csv_folder *folder = sink->data;

	int bad = -1;

	/* none gets its name if one of them is not complete */
	for (int i = 0; i < folder->n; i++) {
		out_flush(&folder->files[i]);
		if (folder->files[i].error && bad < 0)
			bad = i;
	}
	if (bad >= 0)
		status = out_close(&folder->files[bad], status);
	if (!status)
		status = begin_commit(folder);
	/* SCHEMA is the last one */
	for (int i = 0; i < folder->n; i++)
		if (i != bad)
			status = out_close(&folder->files[i], status);
	free_folder(folder, !status);
	sink->data = NULL;
	return status;
}

static int csv_open(struct export_sink *sink, const char *path)
{
	struct csv_folder *folder = calloc(1, sizeof(*folder));
	int status = KSV_EXIT_OK;

	if (folder)
		folder->path = strdup(path);
	if (!folder || !folder->path) {
		free(folder);
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	folder->made = !mkdir(path, 0777);
	if (!folder->made && errno != EEXIST) {
		ksv_error("%s: cannot make this folder: %s", path, strerror(errno));
		free_folder(folder, false);
		return KSV_EXIT_FILE;
	}
	sink->data = folder;
	for (int i = 0; i < N_FILES && !status; i++)
		status = open_file(folder, i);
	return status ? csv_close(sink, status) : KSV_EXIT_OK;
}

static void csv_row(struct export_sink *sink, enum export_table_id table,
		    const struct export_value *values)
{
	struct output *out = &((struct csv_folder *)sink->data)->files[table];

	for (size_t i = 0; i < export_tables[table].n; i++) {
		if (i)
			out_char(out, ',');
		if (values[i].kind == EXPORT_NUMBER)
			out_i64(out, values[i].number);
		else if (values[i].kind == EXPORT_STRING && *values[i].text)
			out_csv(out, values[i].text, strlen(values[i].text));
		else if (values[i].kind == EXPORT_STRING)
			out_str(out, "\"\"");
	}
	out_char(out, '\n');
}

static bool csv_failed(const struct export_sink *sink)
{
	const struct csv_folder *folder = sink->data;

	for (int i = 0; i < folder->n; i++)
		if (folder->files[i].error)
			return true;
	return false;
}

const struct export_sink export_csv = {
	.open = csv_open, .row = csv_row, .failed = csv_failed, .close = csv_close,
};
