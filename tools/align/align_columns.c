// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	align_columns.c
 * @brief	What JSON has of an alignment, be it that of a guest or of a monitor.
 */
#include "align_columns.h"
#include "array.h"

/** What trace-cmd added to the guest's times. */
static const struct table_column trace_cmd[ALIGNED_N_TRACE_CMD] = {
	{ .key = "least", .type = TABLE_TIME },
	{ .key = "most", .type = TABLE_TIME },
	{ .key = "scale_ppm", .type = TABLE_FIXED },
	{ .key = "bend", .type = TABLE_TIME },
	{ .key = "used", .type = TABLE_FLAG },
};

static const struct table_column columns[ALIGNED_N_COLUMNS] = {
	[ALIGNED_OFFSET] = { .key = "offset", .type = TABLE_TIME },
	[ALIGNED_AT] = { .key = "at", .type = TABLE_TIME },
	[ALIGNED_UNIT] = { .key = "unit" },
	[ALIGNED_INTERVAL] = { .key = "interval", .type = TABLE_RANGE },
	[ALIGNED_DRIFT] = { .key = "drift_ppm", .type = TABLE_FIXED },
	[ALIGNED_DRIFT_INTERVAL] = { .key = "drift_interval", .type = TABLE_FIXED_RANGE },
	[ALIGNED_EXPLAINED] = { .key = "explained_percent", .type = TABLE_FIXED },
	[ALIGNED_WORST] = { .key = "worst_violation", .type = TABLE_TIME },
	[ALIGNED_UNKNOWN] = { .key = "unknown", .type = TABLE_COUNT },
	[ALIGNED_INTERRUPTS] = { .key = "interrupts", .type = TABLE_COUNT },
	[ALIGNED_INTERRUPTS_EXPLAINED] = { .key = "interrupts_explained", .type = TABLE_COUNT },
	[ALIGNED_BY_INTERRUPTS] = { .key = "by_interrupts", .type = TABLE_FLAG },
	[ALIGNED_EVENTS] = { .key = "events", .type = TABLE_COUNT },
	[ALIGNED_MACHINE] = { .key = "machine" },
	[ALIGNED_SOURCE] = { .key = "source" },
	[ALIGNED_REFUSED] = { .key = "refused", .type = TABLE_FLAG },
	[ALIGNED_REASON] = { .key = "reason" },
	[ALIGNED_TRACE_CMD] = { .key = "trace_cmd", .type = TABLE_OBJECT, .list = trace_cmd,
			      .n_list = ARRAY_SIZE(trace_cmd) },
};

void align_cells(struct table_cell cells[ALIGNED_N_COLUMNS])
{
	for (int i = 0; i < ALIGNED_N_COLUMNS; i++)
		cells[i] = table_absent();
}

void align_begin(struct json *json, const char *file,
		 const struct table_cell cells[ALIGNED_N_COLUMNS])
{
	json_open(json, NULL, '{', false);
	if (file)
		json_str(json, "file", file);
	else
		json_version(json);
	table_json_members(json, columns, ARRAY_SIZE(columns), cells);
}
