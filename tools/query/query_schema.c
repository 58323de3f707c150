// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	query_schema.c
 * @brief	The tables and columns that a question can read, from the schema of export.
 */
#include <string.h>

#include "options.h"
#include "query.h"

static const struct table_column table_columns[] = {
	{ .key = "table", .title = "table", .width = 14 },
	{ .key = "what", .title = "a row is", .width = 0 },
};

static const struct table tables_table = {
	.rows = { .key = "tables", TABLE_COLUMNS(table_columns) },
};

static const struct table_column group_columns[] = {
	{ .key = "table", .title = "table" },
	{ .key = "what", .not_csv = true },
};

static const struct table_column schema_columns[] = {
	{ .key = "column", .title = "column", .width = 16 },
	{ .key = "type", .title = "type", .width = 10 },
	{ .key = "key", .title = "key", .width = 12 },
	{ .key = "what", .title = "what it is", .width = 0 },
};

static const struct table schema_table = {
	.groups = "tables", .group = group_columns, .n_group = ARRAY_SIZE(group_columns),
	.rows = { .key = "columns", TABLE_COLUMNS(schema_columns) },
};

static const char *const type_names[EXPORT_N_TYPES] = {
	[EXPORT_INTEGER] = "integer", [EXPORT_BOOLEAN] = "boolean", [EXPORT_TEXT] = "text",
};

static struct table_writer begin(enum table_format_kind format, const struct table *table,
				 struct output *out, struct json *json)
{
	if (format == TABLE_JSON) {
		json_document(json, out);
	}
	return (struct table_writer){
		.table = table, .format = table_formats[format], .out = out, .json = json,
	};
}

static void end(enum table_format_kind format, struct json *json)
{
	if (format != TABLE_JSON)
		return;
	json_document_end(json);
}

void query_tables(enum table_format_kind format, struct output *out)
{
	struct json json;
	struct table_writer to = begin(format, &tables_table, out, &json);

	table_flat(&to, true);
	for (int i = 0; i < EXPORT_N_TABLES; i++)
		table_row(&to, (const struct table_cell[]){
			table_name(export_tables[i].name), table_name(export_tables[i].what),
		});
	table_flat_end(&to);
	end(format, &json);
}

static void column_rows(struct table_writer *to, const struct export_table *table)
{
	const struct table_cell group[] = { table_name(table->name), table_name(table->what) };

	table_group(to, group);
	for (size_t i = 0; i < table->n; i++) {
		const struct export_column *column = &table->columns[i];

		table_row(to, (const struct table_cell[]){
			table_name(column->name), table_name(type_names[column->type]),
			table_optional_name(column->key), table_name(column->what),
		});
	}
	table_group_end(to);
}

int query_schema(const struct ksv_command *command, const char *table,
		 enum table_format_kind format, struct output *out)
{
	const char *names[EXPORT_N_TABLES + 1] = { NULL };
	struct table_writer to;
	struct json json;
	bool is_there = !table;

	for (int i = 0; i < EXPORT_N_TABLES; i++) {
		names[i] = export_tables[i].name;
		is_there = is_there || !strcmp(table, names[i]);
	}
	if (!is_there) {
		const char *near = ksv_suggest(table, names);

		return ksv_usage_error(command, "no table '%s'%s%s%s; .tables lists them", table,
				       near ? "; did you mean '" : "", near ? near : "",
				       near ? "'?" : "");
	}
	to = begin(format, &schema_table, out, &json);
	table_begin(&to, true);
	for (int i = 0; i < EXPORT_N_TABLES; i++)
		if (!table || !strcmp(table, names[i]))
			column_rows(&to, &export_tables[i]);
	table_end(&to);
	end(format, &json);
	return KSV_EXIT_OK;
}
