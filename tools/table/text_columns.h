/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	text_columns.h
 * @brief	Columns of text for people, times in fitting units.
 */
#ifndef KSHARK_VIRT_TEXT_COLUMNS_H
#define KSHARK_VIRT_TEXT_COLUMNS_H

#include "output.h"
#include "virt_window.h"

/** Widths of columns. */
#define TEXT_NAME	20
#define TEXT_NUMBER	11
#define TEXT_SHARE	9
#define TEXT_PART	12

/** Losses and migrations that are listed one by one. */
#define TEXT_MAX_LISTED	20

/** format_duration - for people: four digits or so, in the unit that fits. */
void format_duration(char *text, size_t size, int64_t ns);

/** format_seconds - a time in ns as out_ns() has it. */
void format_seconds(char *text, size_t size, int64_t ns);

/** duration_text - the same for an argument of out_printf(): duration_text(ns).text */
struct duration_text { char text[32]; };
struct duration_text duration_text(int64_t ns);

/** format_share - for people: @ns of @all in per cent; empty if there is no whole. */
void format_share(char *text, size_t size, int64_t ns, int64_t all, int decimals);

/** Costs that text shows as bad: shares of time in percent, and single waits. */
#define TEXT_MUCH_PERCENT	5
#define TEXT_MUCH_NS		INT64_C(10000000)

/** text_cost_style - of time that a vCPU lost, as a share of @all */
enum out_style text_cost_style(int64_t ns, int64_t all);

/** text_name - the first column, from where a line begins. */
void text_name(struct output *out, const char *name);

/** text_right - on the right of a column, with a blank before it in any case. */
void text_right(struct output *out, const char *text, size_t width);
void text_duration(struct output *out, int64_t ns);
void text_count(struct output *out, uint64_t count);

/** text_unknown - "-", for a number whose records the trace does not have */
void text_unknown(struct output *out);

/** text_share - @ns of @all; nothing if there is no whole. */
void text_share(struct output *out, int64_t ns, int64_t all, size_t width);

/** text_rest - a line below rows: there are more, which text leaves out */
void text_rest(struct output *out);

/** text_heading - the titles above lines of text_stretches(). */
void text_heading(struct output *out, const char *what);

/** text_stretches - a line, if there are any. @share_of: 0 if a share would say nothing */
void text_stretches(struct output *out, const char *name, const struct virt_stretches *stretches,
		    int64_t share_of);

/** text_stretches_titles, text_stretches_cells - the columns of both, after a name */
void text_stretches_titles(struct output *out);
void text_stretches_cells(struct output *out, const struct virt_stretches *stretches,
			  int64_t share_of);

#endif
