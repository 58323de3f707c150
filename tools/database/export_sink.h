/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	export_sink.h
 * @brief	The interface that takes rows of tables, and its implementations.
 */
#ifndef KSHARK_VIRT_EXPORT_SINK_H
#define KSHARK_VIRT_EXPORT_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "export_schema.h"

/** Room for a name, escaped; what is longer is cut. */
#define EXPORT_TEXT_SIZE	1024

/** A value of a row: nothing, a number or a text. */
struct export_value {
	enum { EXPORT_NULL = 0, EXPORT_NUMBER, EXPORT_STRING } kind;
	int64_t		number;
	const char	*text;		/* as others have chosen it: the sink escapes it */
};

struct export_sink {
	/** Begin. Return: KSV_EXIT_OK, or the exit status after a message; then it is over. */
	int	(*open)(struct export_sink *sink, const char *path);
	/** A row, with a value for each column of its table. Errors stick. */
	void	(*row)(struct export_sink *sink, enum export_table_id table,
		       const struct export_value *values);
	/** Has something failed, so that more rows are of no use? */
	bool	(*failed)(const struct export_sink *sink);
	/**
	 * End: what is written gets its name if @status is KSV_EXIT_OK.
	 *
	 * Return: @status, or KSV_EXIT_FILE after a message.
	 */
	int	(*close)(struct export_sink *sink, int status);
	void	*data;
};

/** A folder with a CSV file for each table. */
extern const struct export_sink export_csv;

/** A database of SQLite. */
extern const struct export_sink export_sqlite;

#endif
