/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	export_database.h
 * @brief	Write the tables of an export into a database of SQLite, independent of the file
 *		that has it.
 */
#ifndef KSHARK_VIRT_EXPORT_DATABASE_H
#define KSHARK_VIRT_EXPORT_DATABASE_H

#include <sqlite3.h>

#include "export_sink.h"

/** A connection, and the statements that add rows. */
struct export_database {
	sqlite3		*db;		/* the caller opens and closes it */
	bool		is_raw;		/* texts as others have chosen them; else escaped */
	sqlite3_stmt	*insert[EXPORT_N_TABLES];
	int		error;		/* of SQLite; the first one sticks */
	int		system_error;	/* errno of it, or 0 */
};

/** export_database_take - keep an error. @ret: of a function of SQLite */
void export_database_take(struct export_database *database, int ret);

/** export_database_execute - statements without rows. Errors stick, and nothing follows them. */
void export_database_execute(struct export_database *database, const char *sql);

/** export_database_tables - make all tables, in a transaction that stays open. Errors stick. */
void export_database_tables(struct export_database *database);

/** export_database_row - add a row, with a value for each column of its table. Errors stick. */
void export_database_row(struct export_database *database, enum export_table_id table,
			 const struct export_value *values);

/** export_database_problem - the error in words; "" if there is none */
const char *export_database_problem(const struct export_database *database);

/** export_database_end - no more rows follow: free the statements. */
void export_database_end(struct export_database *database);

#endif
