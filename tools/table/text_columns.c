// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	text_columns.c
 * @brief	Columns of text for people, times in fitting units.
 */
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "table.h"
#include "text_columns.h"

enum out_style text_cost_style(int64_t ns, int64_t all)
{
	bool is_much = all > 0 && (double)ns * 100 >= (double)all * TEXT_MUCH_PERCENT;

	return is_much ? OUT_BAD : OUT_PLAIN;
}

void text_right(struct output *out, const char *text, size_t width)
{
	out_char(out, ' ');
	out_text_right(out, text, width);
}

void text_name(struct output *out, const char *name)
{
	out_str(out, "  ");
	out_text_left(out, name, TEXT_NAME);
}

void format_duration(char *buf, size_t size, int64_t ns)
{
	static const struct {
		int64_t		ns;
		const char	*unit;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (ns >= units[i].ns) {
			double value = (double)ns / (double)units[i].ns;

			snprintf(buf, size, "%.*f %s", value < 10 ? 3 : value < 100 ? 2 : 1, value,
				 units[i].unit);
			return;
		}
	}
	snprintf(buf, size, "%lld ns", (long long)ns);
}

void format_seconds(char *text, size_t size, int64_t ns)
{
	uint64_t value = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	snprintf(text, size, "%s%llu.%09llu", ns < 0 ? "-" : "",
		 (unsigned long long)(value / 1000000000),
		 (unsigned long long)(value % 1000000000));
}

struct duration_text duration_text(int64_t ns)
{
	struct duration_text duration;

	format_duration(duration.text, sizeof(duration.text), ns);
	return duration;
}

void text_duration(struct output *out, int64_t ns)
{
	text_right(out, duration_text(ns).text, TEXT_NUMBER);
}

void text_count(struct output *out, uint64_t count)
{
	out_char(out, ' ');
	out_u64_width(out, count, TEXT_NUMBER);
}

void text_unknown(struct output *out)
{
	text_right(out, "-", TEXT_NUMBER);
}

void format_share(char *text, size_t size, int64_t ns, int64_t all, int decimals)
{
	*text = '\0';
	if (all > 0)
		snprintf(text, size, "%.*f %%", decimals, 100.0 * (double)ns / (double)all);
}

void text_share(struct output *out, int64_t ns, int64_t all, size_t width)
{
	char text[16];

	format_share(text, sizeof(text), ns, all, 2);
	text_right(out, text, width);
}

void text_rest(struct output *out)
{
	out_str(out, "  ... and more: --format json lists all\n");
}

void text_stretches_titles(struct output *out)
{
	text_right(out, "time", TEXT_NUMBER);
	text_right(out, "share", TEXT_SHARE);
	text_right(out, "count", TEXT_NUMBER);
	for (int i = 0; i < VIRT_N_STATS; i++)
		text_right(out, virt_stat_look((enum virt_stat)i)->name, TEXT_NUMBER);
	text_right(out, "cut", TEXT_NUMBER);
	text_right(out, "before", TEXT_NUMBER);
}

void text_heading(struct output *out, const char *what)
{
	text_name(out, what);
	text_stretches_titles(out);
	out_char(out, '\n');
}

/** Lengths, how many have none, and for how long one has gone on before; "" where not known. */
enum { CELL_CUT = VIRT_N_STATS, CELL_BEFORE, N_CELLS };

static void fill_cells(char cells[N_CELLS][32], const struct virt_stretches *stretches)
{
	const struct virt_dist *whole = &stretches->whole;

	memset(cells, 0, N_CELLS * sizeof(*cells));
	for (int i = 0; i < VIRT_N_STATS && whole->count; i++)
		format_duration(cells[i], sizeof(*cells),
				virt_dist_stat(whole, (enum virt_stat)i));
	if (stretches->count > whole->count)
		snprintf(cells[CELL_CUT], sizeof(*cells), "%llu",
			 (unsigned long long)(stretches->count - whole->count));
	if (stretches->before && stretches->before_ns != VIRT_NONE)
		format_duration(cells[CELL_BEFORE], sizeof(*cells), stretches->before_ns);
	else if (stretches->before)
		strcpy(cells[CELL_BEFORE], "?");
}

void text_stretches_cells(struct output *out, const struct virt_stretches *stretches,
			  int64_t share_of)
{
	char cells[N_CELLS][32];
	int n = N_CELLS;

	if (stretches->ns == VIRT_NONE) {
		text_right(out, "?", TEXT_NUMBER);
		text_right(out, "", TEXT_SHARE);
	} else {
		text_duration(out, stretches->ns);
		text_share(out, stretches->ns, share_of, TEXT_SHARE);
	}
	text_count(out, stretches->count);
	fill_cells(cells, stretches);
	while (n && !*cells[n - 1])
		n--;
	for (int i = 0; i < n; i++)
		text_right(out, cells[i], TEXT_NUMBER);
}

void text_stretches(struct output *out, const char *name,
		    const struct virt_stretches *stretches, int64_t share_of)
{
	if (!stretches->count && !stretches->before)
		return;
	text_name(out, name);
	text_stretches_cells(out, stretches, share_of);
	out_char(out, '\n');
}
