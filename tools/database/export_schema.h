/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	export_schema.h
 * @brief	The tables of kshark-virt export: names, columns, types and keys, in one place.
 *
 * Headers of CSV files, CREATE TABLE and docs/export-schema.md come from here, or are compared
 * with it (unit.export_schema).
 */
#ifndef KSHARK_VIRT_EXPORT_SCHEMA_H
#define KSHARK_VIRT_EXPORT_SCHEMA_H

#include <stddef.h>
#include <stdio.h>

/** Counted up when a column is removed, or means something else; not when one is added. */
#define EXPORT_SCHEMA_VERSION	2

enum export_table_id {
	EXPORT_HOST = 0,
	EXPORT_CLOCK,
	EXPORT_MACHINE,
	EXPORT_VCPU,
	EXPORT_INTERVAL,
	EXPORT_EXIT,
	EXPORT_MIGRATION,
	EXPORT_WAKE,
	EXPORT_MOMENT,
	EXPORT_LOSS,
	EXPORT_POWER,
	EXPORT_GUEST_TASK,
	EXPORT_DISK_REQUEST,
	EXPORT_LOCK_WAIT,
	EXPORT_HOST_SAMPLE,
	EXPORT_COUNTER,
	EXPORT_COUNTER_SPAN,
	EXPORT_N_TABLES
};

enum export_type {
	EXPORT_INTEGER = 0,	/* 64 bits, signed */
	EXPORT_BOOLEAN,		/* 0 or 1 */
	EXPORT_TEXT,
	EXPORT_N_TYPES
};

struct export_column {
	const char		*name;
	enum export_type	type;
	const char		*key;	/* "primary", or the column that it refers to; or NULL */
	const char		*what;	/* for people */
};

struct export_table {
	const char		*name;
	const char		*what;	/* what a row is */
	const struct export_column *columns;
	size_t			n;
};

extern const struct export_table export_tables[EXPORT_N_TABLES];

/**
 * export_create_table - CREATE TABLE, with its keys, and without a semicolon
 * @types: what the types are called
 */
void export_create_table(FILE *sql, const struct export_table *table,
			 const char *const types[EXPORT_N_TYPES]);

#endif
