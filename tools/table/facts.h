/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	facts.h
 * @brief	Facts that are stated once: members of JSON objects, rows of one CSV or of tables.
 *
 * Tables have the same columns in each row. Facts have not: JSON keeps them as a tree of objects,
 * and CSV as one row for each number, with its section, machine, vCPU and name in front. A
 * function that states facts gives the names of both. It needs no other code for a format.
 */
#ifndef KSHARK_VIRT_FACTS_H
#define KSHARK_VIRT_FACTS_H

#include "html_tables.h"
#include "json_writer.h"
#include "virt_window.h"

/** The outputs of facts. An output that is NULL is not written. */
struct facts {
	struct json	*json;		/* an open object */
	struct output	*csv;
	struct html_tables *html;	/* as CSV, with a table for each section */
	const char	*file, *machine, *vcpu;	/* of the rows of CSV; NULL: empty */
	bool		unknown;	/* numbers are null in JSON, empty in CSV */
};

/** The names of a fact. */
struct fact {
	const char	*key;		/* in JSON; NULL: not there */
	const char	*section, *name; /* in CSV; no section: not there */
};

/** FACT - of both formats; FACT_JSON - of JSON alone; FACT_CSV - of CSV alone */
#define FACT(key, section, name)	((struct fact){ (key), (section), (name) })
#define FACT_JSON(key)			FACT(key, NULL, NULL)
#define FACT_CSV(section, name)		FACT(NULL, section, name)

/** facts_titles - the titles of CSV */
void facts_titles(struct output *csv);

/** facts_open - begin an object ('{') or array ('['), as json_open() does; CSV has none */
void facts_open(struct facts *to, const char *key, char bracket, bool flat);
void facts_close(struct facts *to, char bracket);

/** Facts without a row in CSV: texts, flags, unknown groups, numbers that are no times. */
void facts_name(struct facts *to, const char *key, const char *text);
void facts_flag(struct facts *to, const char *key, bool value);
void facts_null(struct facts *to, const char *key);
void facts_number(struct facts *to, const char *key, int64_t number);

/** facts_count - how many; CSV has no row of 0, if that is known */
void facts_count(struct facts *to, struct fact fact, uint64_t count);

/** facts_counted - the same with a row of 0, too */
void facts_counted(struct facts *to, struct fact fact, uint64_t count);

/** facts_ns - a time or duration; facts_part() - the same; CSV has no row of 0, if that is known */
void facts_ns(struct facts *to, struct fact fact, int64_t ns);
void facts_part(struct facts *to, struct fact fact, int64_t ns);

/** facts_sum - a row of CSV: how many, and their time, also if both are 0; VIRT_NONE: unknown */
void facts_sum(struct facts *to, const char *section, const char *name, uint64_t count, int64_t ns);

/** facts_row - a row of CSV without a number: its name is all there is */
void facts_row(struct facts *to, const char *section, const char *name);

/** facts_members - members of the JSON object that is open: the sum of durations, its statistics */
void facts_members(struct facts *to, const struct virt_dist *durations);

/** facts_durations, facts_stretches - an object of JSON; a row of CSV */
void facts_durations(struct facts *to, struct fact fact, const struct virt_dist *durations);
void facts_stretches(struct facts *to, struct fact fact, const struct virt_stretches *stretches);

#endif
