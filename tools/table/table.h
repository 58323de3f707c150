/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	table.h
 * @brief	A table that is described once and written as text, JSON or CSV.
 *
 * A table has rows in groups: the vCPU that they are about, for example. The description lists the
 * columns of both; a function yields the cells. One file per format writes them, so a new format
 * is one new file, and a new column is one line of a description.
 */
#ifndef KSHARK_VIRT_TABLE_H
#define KSHARK_VIRT_TABLE_H

#include "json_writer.h"
#include "virt_window.h"

enum table_format_kind {
	TABLE_TEXT = 0,
	TABLE_JSON,
	TABLE_CSV,
	TABLE_N_FORMATS
};

/** Their names, NULL behind the last one: values of the option --format */
extern const char *const table_format_names[];

/** What the cells of a column are. */
enum table_type {
	TABLE_NAME = 0,		/* a text */
	TABLE_COUNT,		/* how many */
	TABLE_NS,		/* a duration in ns */
	TABLE_SHARE,		/* of a whole, for people alone */
	TABLE_PCPUS,		/* a duration on each of some pCPUs; not in CSV */
	TABLE_DURATIONS		/* a distribution of durations, several columns of numbers */
};

/** Statistics of TABLE_DURATIONS that text shows; JSON and CSV have all of them. */
#define TABLE_MEAN	(1u << 0)
#define TABLE_MIN	(1u << 1)
#define TABLE_P5	(1u << 2)
#define TABLE_P50	(1u << 3)
#define TABLE_P95	(1u << 4)
#define TABLE_P99	(1u << 5)
#define TABLE_MAX	(1u << 6)

struct table_column {
	enum table_type	type;
	const char	*key;		/* its name in CSV and JSON; NULL: in neither */
	const char	*json;		/* the one in JSON if that is another; or NULL */
	bool		not_csv, not_json;
	const char	*title;		/* above it in text; NULL: not there */
	size_t		width;		/* of a TABLE_NAME in text */
	unsigned int	shown;		/* of TABLE_DURATIONS in text: TABLE_MEAN ... */
};

/** Time on a pCPU. */
struct table_on_pcpu {
	int32_t		pcpu;
	int64_t		ns;
};

/** The value of a column. Whatever it points to stays the caller's. */
struct table_cell {
	const char	*name;
	int64_t		number;		/* VIRT_NONE: unknown */
	int64_t		whole;		/* what @number is a share of */
	const struct table_on_pcpu *pcpus;
	size_t		n_pcpus;
	const struct virt_dist *durations; /* NULL: unknown */
};

/** table_name, table_number ... - a cell; a NULL name is an empty one */
static inline struct table_cell table_name(const char *name)
{
	return (struct table_cell){ .name = name ? name : "" };
}

static inline struct table_cell table_number(int64_t number)
{
	return (struct table_cell){ .number = number };
}

static inline struct table_cell table_share(int64_t number, int64_t whole)
{
	return (struct table_cell){ .number = number, .whole = whole };
}

static inline struct table_cell table_pcpus(const struct table_on_pcpu *pcpus, size_t n)
{
	return (struct table_cell){ .pcpus = pcpus, .n_pcpus = n };
}

static inline struct table_cell table_durations(const struct virt_dist *durations)
{
	return (struct table_cell){ .durations = durations };
}

struct table {
	const char	*groups;	/* JSON: the array of groups, */
	const char	*rows;		/* and that of rows in each of them */
	const struct table_column *group;
	size_t		n_group;
	const struct table_column *row;
	size_t		n_row;
	const char	*none;		/* text: stands for the rows of a group that has none */
};

/** A table that is being written. */
struct table_writer {
	const struct table *table;
	const struct table_format *format;
	struct output	*out;
	struct json	*json;		/* an open object; of JSON alone */
	const char	*file;		/* the first column of CSV */
	bool		unknown;	/* the trace cannot show the rows: none are written */
	const struct table_cell *group;	/* the one that is open */
	size_t		n_rows;		/* written in it */
};

/** How a format writes a table. What it does not do is NULL. */
struct table_format {
	void	(*begin)(struct table_writer *to, bool first);
	void	(*group)(struct table_writer *to, const struct table_cell *cells);
	void	(*row)(struct table_writer *to, const struct table_cell *cells);
	void	(*group_end)(struct table_writer *to);
	void	(*end)(struct table_writer *to);
};

extern const struct table_format table_text, table_json, table_csv;

/**
 * table_begin - begin a table; table_end() must follow
 * @to: with table, out, json and file set
 * @first: this is the first table of the output, so CSV has its titles
 */
void table_begin(struct table_writer *to, enum table_format_kind format, bool first);
void table_end(struct table_writer *to);

/** table_group - begin a group; table_group_end() must follow. @cells: one for each column */
void table_group(struct table_writer *to, const struct table_cell *cells);
void table_group_end(struct table_writer *to);

/** table_row - a row of the group. @cells: one for each column */
void table_row(struct table_writer *to, const struct table_cell *cells);

/** table_is - is that the format? CSV has a row for what text has in one line. */
bool table_is(const struct table_writer *to, enum table_format_kind format);

/** table_as_text - where to write what text has below the rows; NULL in other formats */
struct output *table_as_text(const struct table_writer *to);

/** A statistic of a distribution, in the order of all formats. */
struct table_statistic {
	const char	*name;		/* in text */
	const char	*key;		/* in JSON and CSV */
	unsigned int	bit;		/* TABLE_MEAN ... */
};

#define TABLE_N_STATISTICS	7

extern const struct table_statistic table_statistics[TABLE_N_STATISTICS];

/** table_statistic_of - the value of statistic @i of a distribution that is not empty */
int64_t table_statistic_of(const struct virt_dist *durations, size_t i);

/** table_csv_statistics - their names as titles of CSV, each with a comma and @prefix in front */
void table_csv_statistics(struct output *out, const char *prefix);

/** table_csv_durations - their values, each with a comma in front; empty if there are none */
void table_csv_durations(struct output *out, const struct virt_dist *durations);

#endif
