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

#include "html_tables.h"
#include "json_writer.h"
#include "virt_window.h"

enum table_format_kind {
	TABLE_TEXT = 0,
	TABLE_JSON,
	TABLE_CSV,
	TABLE_HTML,
	TABLE_LATEX,
	TABLE_N_FORMATS
};

/** The values of --format of commands with a single table; the last one is NULL. */
extern const char *const table_format_names[];

/** What the cells of a column are. */
enum table_type {
	TABLE_NAME = 0,		/* a text */
	TABLE_COUNT,		/* how many */
	TABLE_NS,		/* a duration in ns */
	TABLE_TIME,		/* a time in ns, in text in seconds; or an id, also -1 */
	TABLE_FLAG,		/* 0 or 1; not in text */
	TABLE_RATE,		/* a number that is not whole; not in text */
	TABLE_FIXED,		/* the same with three decimals, six in JSON */
	TABLE_SHARE,		/* of a whole, for people alone */
	TABLE_PER_SECOND,	/* how many in a second, for people alone */
	TABLE_VALUE,		/* of each cell another type: see table_value() */
	TABLE_PCPUS,		/* a duration on each of some pCPUs; not in CSV */
	TABLE_LIST,		/* things with columns of their own; in JSON alone */
	TABLE_OBJECT,		/* one such thing */
	TABLE_RANGE,		/* two times or ids, from and to; in JSON alone */
	TABLE_FIXED_RANGE,	/* two numbers that are not whole; in JSON alone */
	TABLE_MEMBERS,		/* members that a function writes; in JSON alone */
	/* what follows has more titles than its own, which may be empty */
	TABLE_ONE_STAT,		/* one statistic of durations in ns, which names the column: its
				 * key and title are in front of the name, or empty */
	TABLE_DURATIONS,	/* a distribution of durations, several columns of numbers */
	TABLE_STRETCHES		/* the same of stretches of time in a window, with their share */
};

/** What text shows of TABLE_DURATIONS; JSON and CSV have all of it. */
#define TABLE_TOTAL	TABLE_STAT(VIRT_N_STATS)
#define TABLE_STAT(stat) (1u << (stat))
#define TABLE_MEAN	TABLE_STAT(VIRT_STAT_MEAN)
#define TABLE_P50	TABLE_STAT(VIRT_STAT_P50)
#define TABLE_P95	TABLE_STAT(VIRT_STAT_P95)
#define TABLE_P99	TABLE_STAT(VIRT_STAT_P99)
#define TABLE_MAX	TABLE_STAT(VIRT_STAT_MAX)

struct table_column {
	enum table_type	type;
	const char	*key;		/* its name in CSV and JSON; NULL: in neither */
	bool		not_csv, not_json;
	const char	*title;		/* above it in text; NULL: not there */
	size_t		width;		/* in text, not of statistics; 0: the usual one */
	bool		brief;		/* of a TABLE_SHARE in text: one decimal */
	unsigned int	shown;		/* of TABLE_DURATIONS in text: TABLE_TOTAL, TABLE_STAT() */
	enum virt_stat	stat;		/* of TABLE_ONE_STAT */
	bool		right;		/* of a TABLE_NAME in LaTeX: it is a number; of a
					 * TABLE_VALUE in text: so is its title */
	bool		not_before;	/* of TABLE_STRETCHES: without those that began before */
	const struct table_column *list; /* of TABLE_LIST, TABLE_OBJECT: the columns of things */
	size_t		n_list;
	bool		lines;		/* these have a line each */
};

/** Time on a pCPU. */
struct table_on_pcpu {
	int32_t		pcpu;
	int64_t		ns;
};

/** The value of a column. Whatever it points to stays the caller's. */
struct table_cell {
	bool		absent;		/* nothing: blank, no member of JSON, empty in CSV */
	bool		unknown;	/* the same, but null in JSON */
	enum out_style	style;		/* in text */
	const char	*instead;	/* in text: replaces the number */
	enum table_type	as;		/* of a TABLE_VALUE: TABLE_NAME, _TIME or _RATE */
	union {				/* by the type of the column */
		const char	*name;
		int64_t		number;	/* VIRT_NONE: unknown */
		double		rate;
		const struct table_on_pcpu *pcpus;	/* @n of them */
		const struct virt_dist *durations;	/* NULL: unknown */
		const struct virt_stretches *stretches;	/* the same */
		const struct table_cell *list;	/* @n things, each with a cell for each column */
		const void	*of;		/* what @members is about */
	};
	union {
		int64_t		whole;	/* what a number or stretches are a share of; ns of a
					 * TABLE_PER_SECOND */
		int64_t		to;	/* of a TABLE_RANGE, after the number */
		double		rate_to; /* of a TABLE_FIXED_RANGE, after the rate */
		size_t		n;
		void	(*members)(struct json *json, const void *of);
	};
};

/** table_absent, table_name ... - a cell; a NULL name is an empty one */
static inline struct table_cell table_absent(void)
{
	return (struct table_cell){ .absent = true };
}

static inline struct table_cell table_optional(bool is_there, int64_t number)
{
	return (struct table_cell){ .absent = !is_there, .number = number };
}

static inline struct table_cell table_name(const char *name)
{
	return (struct table_cell){ .name = name ? name : "" };
}

static inline struct table_cell table_optional_name(const char *name)
{
	return (struct table_cell){ .absent = !name, .name = name };
}

/** table_known_name - a name; "" is unknown */
static inline struct table_cell table_known_name(const char *name)
{
	return (struct table_cell){ .unknown = !*name, .name = name };
}

static inline struct table_cell table_unknown(void)
{
	return (struct table_cell){ .unknown = true, .number = VIRT_NONE };
}

static inline struct table_cell table_number(int64_t number)
{
	return (struct table_cell){ .number = number };
}

static inline struct table_cell table_rate(bool is_there, double rate)
{
	return (struct table_cell){ .absent = !is_there, .rate = rate };
}

/** table_value - a number of a TABLE_VALUE. @text: that number, in text and CSV */
static inline struct table_cell table_value(struct table_cell number, enum table_type as,
					    const char *text)
{
	number.as = as;
	number.instead = text;
	return number;
}

static inline struct table_cell table_share(int64_t number, int64_t whole)
{
	return (struct table_cell){ .number = number, .whole = whole };
}

static inline struct table_cell table_pcpus(const struct table_on_pcpu *pcpus, size_t n)
{
	return (struct table_cell){ .pcpus = pcpus, .n = n };
}

static inline struct table_cell table_durations(const struct virt_dist *durations)
{
	return (struct table_cell){ .durations = durations };
}

static inline struct table_cell table_stretches(const struct virt_stretches *stretches,
						int64_t whole)
{
	return (struct table_cell){ .stretches = stretches, .whole = whole };
}

static inline struct table_cell table_range(int64_t from, int64_t to)
{
	return (struct table_cell){ .number = from, .to = to };
}

static inline struct table_cell table_rates(double from, double to)
{
	return (struct table_cell){ .rate = from, .rate_to = to };
}

/** table_object - @members: a cell for each column of the thing */
static inline struct table_cell table_object(const struct table_cell *members)
{
	return (struct table_cell){ .list = members, .n = 1 };
}

static inline struct table_cell table_list(const struct table_cell *list, size_t n)
{
	return (struct table_cell){ .list = list, .n = n };
}

static inline struct table_cell table_members(void (*members)(struct json *json, const void *of),
					      const void *of)
{
	return (struct table_cell){ .of = of, .members = members };
}

/** Some columns, the number of them included. */
#define TABLE_COLUMNS(array)	.columns = (array), .n = ARRAY_SIZE(array)

/** A group has rows of one kind or more. */
struct table_rows {
	const char	*key;		/* JSON: their array in the group; NULL: not in JSON */
	const struct table_column *columns;
	size_t		n;
	bool		apart;		/* text: an empty line above their titles */
	bool		flush;		/* text: no blanks in front of lines */
	bool		heading;	/* text: titles are in OUT_HEAD */
	bool		untitled;	/* text: there are none */
	bool		titled;		/* text: titles also stand above no rows */
	const char	*none;		/* text: a line for a group without rows */
};

struct table {
	const char	*groups;	/* JSON: the array of groups; NULL: one without cells */
	const struct table_column *group;
	size_t		n_group;
	struct table_rows rows;		/* of the first kind; CSV has its columns for all kinds */
};

/** A table that is being written. */
struct table_writer {
	const struct table *table;
	const struct table_format *format;
	struct output	*out;
	struct json	*json;		/* an open object; of JSON alone */
	struct html_tables *html;	/* of HTML alone: these get the rows ... */
	const char	*page;		/* ... in tables whose keys begin with this */
	const char	*file;		/* the first column of CSV; NULL: it has no such column */
	bool		unknown;	/* the trace cannot show the rows: none are written */
	const struct table *titles;	/* whose columns CSV has */
	const struct table_cell *group;	/* the one that is open */
	const struct table_rows *rows;	/* their kind; NULL: all of the group are written */
	size_t		n_rows;		/* written of this kind */
};

/** How a format writes a table. What it does not do is NULL. */
struct table_format {
	void	(*begin)(struct table_writer *to, bool first);
	void	(*group)(struct table_writer *to, const struct table_cell *cells);
	void	(*rows)(struct table_writer *to);
	void	(*row)(struct table_writer *to, const struct table_cell *cells);
	void	(*rows_end)(struct table_writer *to);
	void	(*group_end)(struct table_writer *to);
	void	(*end)(struct table_writer *to);
};

extern const struct table_format table_text, table_json, table_csv, table_html, table_latex;

/** JSON Lines: each row is a document. Rows are in no groups. */
extern const struct table_format table_json_lines;
extern const struct table_format *const table_formats[TABLE_N_FORMATS];

/**
 * table_begin - begin a table; table_end() must follow
 * @to: with table, format, out, json and file set
 * @first: this is the first table of the output, so CSV has its titles
 */
void table_begin(struct table_writer *to, bool first);
void table_end(struct table_writer *to);

/**
 * table_flat, table_flat_end - begin and end a table whose rows are in no groups
 * @to: as for table_begin(). JSON: the object that is open gets the array of the rows
 */
void table_flat(struct table_writer *to, bool first);
void table_flat_end(struct table_writer *to);

/** table_next - end a table and begin another one, whose rows CSV has under the same titles */
void table_next(struct table_writer *to, const struct table *table);

/**
 * table_inside - begin a table in the group that is open, whose rows are all written
 *
 * Return: the writer of it; table_end() must follow.
 */
struct table_writer table_inside(struct table_writer *to, const struct table *table);

/** table_group - begin a group; table_group_end() must follow. @cells: one for each column */
void table_group(struct table_writer *to, const struct table_cell *cells);
void table_group_end(struct table_writer *to);

/** table_rows - rows of another kind follow in the group that is open */
void table_rows(struct table_writer *to, const struct table_rows *rows);

/** table_rows_end - no more rows follow in the group: what else JSON has of it can be written */
void table_rows_end(struct table_writer *to);

/** table_row - a row of the group. @cells: one for each column */
void table_row(struct table_writer *to, const struct table_cell *cells);

/** table_json_members - the cells as members of the JSON object that is open, without a table */
void table_json_members(struct json *json, const struct table_column *columns, size_t n,
			const struct table_cell *cells);

/** table_is - is that the format? CSV has a row for what text has in one line. */
bool table_is(const struct table_writer *to, enum table_format_kind format);

/** table_as_text, table_as_json - where to write what is no row; NULL in other formats */
struct output *table_as_text(const struct table_writer *to);
struct json *table_as_json(const struct table_writer *to);

#define TABLE_NAME_SIZE	48

/**
 * table_key, table_title - the key and the title of a column, as outputs show it
 * @text: room for that of a TABLE_ONE_STAT
 */
const char *table_key(const struct table_column *column, char text[TABLE_NAME_SIZE]);
const char *table_title(const struct table_column *column, char text[TABLE_NAME_SIZE]);

/** The columns that stretches have in CSV after a distribution: complete, before, before_ns */
#define TABLE_N_STRETCHES	3

/**
 * table_csv_titles - the titles of CSV for a distribution, commas between
 * @prefix: in front of each
 * @n_stretches: how many it has of what stretches have
 */
void table_csv_titles(struct output *out, const char *prefix, size_t n_stretches);

/** table_html_type - the unit in which a page shows the number of a cell */
enum html_type table_html_type(enum table_type type);

/** table_html_statistics - the same as columns of a table; @before: in front of each, or "" */
void table_html_statistics(struct html_tables *html, struct html_table *table, const char *before,
			   size_t n_stretches);

/** table_html_durations, table_html_stretches - cells: what follows the sum; the last columns */
void table_html_durations(struct html_tables *html, struct html_table *table,
			  const struct virt_dist *durations);
void table_html_stretches(struct html_tables *html, struct html_table *table,
			  const struct virt_stretches *stretches);

/** table_csv_statistics - the numbers of a distribution after its sum, a comma before each */
void table_csv_statistics(struct output *out, const struct virt_dist *durations);

#endif
