// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	facts.c
 * @brief	Facts as members of JSON objects and as rows of one CSV or of tables.
 */
#include <string.h>

#include "facts.h"
#include "json_durations.h"
#include "table.h"

/* --- JSON ------------------------------------------------------------------------------------ */

/** Is there a member of JSON? Its numbers are null if they are unknown. */
static bool has_member(struct facts *to, const char *key)
{
	if (!to->json || !key)
		return false;
	to->json->unknown = to->unknown;
	return true;
}

void facts_open(struct facts *to, const char *key, char bracket, bool flat)
{
	if (to->json)
		json_open(to->json, key, bracket, flat);
}

void facts_close(struct facts *to, char bracket)
{
	if (to->json)
		json_close(to->json, bracket);
}

void facts_name(struct facts *to, const char *key, const char *text)
{
	if (to->json)
		json_str(to->json, key, text);
}

void facts_flag(struct facts *to, const char *key, bool value)
{
	if (to->json)
		json_bool(to->json, key, value);
}

void facts_null(struct facts *to, const char *key)
{
	if (to->json)
		json_null(to->json, key);
}

void facts_number(struct facts *to, const char *key, int64_t number)
{
	if (!has_member(to, key))
		return;
	json_i64(to->json, key, number);
	to->json->unknown = false;
}

/* --- CSV ------------------------------------------------------------------------------------- */

/** The numbers of a row. */
struct numbers {
	bool		has_count, has_ns;
	uint64_t	count;
	int64_t		ns;
	const struct virt_dist *durations;
	const struct virt_stretches *stretches;
};

/** The texts in front of the numbers of a row. */
enum { TEXT_FILE, TEXT_SECTION, TEXT_MACHINE, TEXT_VCPU, TEXT_NAME, N_TEXTS };

static const char *const text_titles[N_TEXTS] = {
	[TEXT_FILE] = "file", [TEXT_SECTION] = "section", [TEXT_MACHINE] = "machine",
	[TEXT_VCPU] = "vcpu", [TEXT_NAME] = "name",
};

static void text_cells(struct output *out, const char *const texts[N_TEXTS])
{
	for (int i = 0; i < N_TEXTS; i++) {
		if (texts[i])
			out_csv(out, texts[i], strlen(texts[i]));
		out_char(out, ',');
	}
}

void facts_titles(struct output *csv)
{
	text_cells(csv, text_titles);
	table_csv_titles(csv, "", TABLE_N_STRETCHES);
	out_char(csv, '\n');
}

static void count_cell(struct output *out, bool known, uint64_t count)
{
	if (known)
		out_u64(out, count);
}

static void ns_cell(struct output *out, bool known, int64_t ns)
{
	out_char(out, ',');
	if (known)
		out_i64(out, ns);
}

/** The numbers of stretches that follow the distribution of their lengths. */
static void stretches_cells(struct output *out, const struct virt_stretches *stretches)
{
	out_char(out, ',');
	count_cell(out, stretches, stretches ? stretches->whole.count : 0);
	out_char(out, ',');
	count_cell(out, stretches, stretches ? stretches->before : 0);
	ns_cell(out, stretches && stretches->before && stretches->before_ns != VIRT_NONE,
		stretches ? stretches->before_ns : 0);
}

static void csv_row(struct facts *to, const char *section, const char *name,
		    const struct numbers *numbers)
{
	struct output *out = to->csv;

	text_cells(out, (const char *const[N_TEXTS]){
		[TEXT_FILE] = to->file, [TEXT_SECTION] = section, [TEXT_MACHINE] = to->machine,
		[TEXT_VCPU] = to->vcpu, [TEXT_NAME] = name,
	});
	count_cell(out, numbers->has_count, numbers->count);
	ns_cell(out, numbers->has_ns, numbers->ns);
	table_csv_statistics(out, numbers->durations);
	stretches_cells(out, numbers->stretches);
	out_char(out, '\n');
}

/* --- HTML ------------------------------------------------------------------------------------ */

static struct html_table *section_table(struct facts *to, const char *section)
{
	struct html_table *table = html_table(to->html, section);

	if (!table || table->n_columns)
		return table;
	html_column(to->html, table, "machine");
	html_column(to->html, table, "vCPU");
	html_column(to->html, table, "name");
	table_html_statistics(to->html, table, "", TABLE_N_STRETCHES);
	return table;
}

static void html_sum(struct facts *to, struct html_table *table, enum html_type type, bool is_there,
		     int64_t number)
{
	if (to->unknown)
		html_unknown(to->html, table);
	else if (is_there)
		html_number(to->html, table, type, number);
	else
		html_blank(to->html, table);
}

static void html_row(struct facts *to, const char *section, const char *name,
		     const struct numbers *numbers)
{
	struct html_table *table = section_table(to, section);

	if (!table)
		return;
	html_text(to->html, table, to->machine);
	html_text(to->html, table, to->vcpu);
	html_text(to->html, table, name);
	html_sum(to, table, HTML_COUNT, numbers->has_count, (int64_t)numbers->count);
	html_sum(to, table, HTML_DURATION, numbers->has_ns, numbers->ns);
	table_html_durations(to->html, table, numbers->durations);
	table_html_stretches(to->html, table, numbers->stretches);
}

/* --- rows ------------------------------------------------------------------------------------ */

static void put_row(struct facts *to, const char *section, const char *name,
		    const struct numbers *numbers)
{
	static const struct numbers unknown;

	if (!section)
		return;
	if (to->unknown)
		numbers = &unknown;
	if (to->csv)
		csv_row(to, section, name, numbers);
	if (to->html)
		html_row(to, section, name, numbers);
}

void facts_sum(struct facts *to, const char *section, const char *name, uint64_t count, int64_t ns)
{
	put_row(to, section, name, &(const struct numbers){
		.has_count = true, .has_ns = ns != VIRT_NONE, .count = count, .ns = ns,
	});
}

void facts_row(struct facts *to, const char *section, const char *name)
{
	put_row(to, section, name, &(const struct numbers){ .has_count = false });
}

/* --- all ------------------------------------------------------------------------------------- */

void facts_counted(struct facts *to, struct fact fact, uint64_t count)
{
	if (has_member(to, fact.key)) {
		json_u64(to->json, fact.key, count);
		to->json->unknown = false;
	}
	put_row(to, fact.section, fact.name, &(const struct numbers){
		.has_count = true, .count = count,
	});
}

void facts_count(struct facts *to, struct fact fact, uint64_t count)
{
	if (!count && !to->unknown)
		fact.section = NULL;
	facts_counted(to, fact, count);
}

void facts_ns(struct facts *to, struct fact fact, int64_t ns)
{
	facts_number(to, fact.key, ns);
	put_row(to, fact.section, fact.name, &(const struct numbers){ .has_ns = true, .ns = ns });
}

void facts_part(struct facts *to, struct fact fact, int64_t ns)
{
	if (!ns && !to->unknown)
		fact.section = NULL;
	facts_ns(to, fact, ns);
}

void facts_members(struct facts *to, const struct virt_dist *durations)
{
	if (!has_member(to, "total_ns"))
		return;
	json_i64(to->json, "total_ns", durations->ns);
	json_dist(to->json, durations);
	to->json->unknown = false;
}

void facts_durations(struct facts *to, struct fact fact, const struct virt_dist *durations)
{
	if (has_member(to, fact.key)) {
		json_durations(to->json, fact.key, durations);
		to->json->unknown = false;
	}
	put_row(to, fact.section, fact.name, &(const struct numbers){
		.has_count = true, .has_ns = true, .count = durations->count,
		.ns = durations->ns, .durations = durations,
	});
}

void facts_stretches(struct facts *to, struct fact fact, const struct virt_stretches *stretches)
{
	if (has_member(to, fact.key)) {
		json_stretches(to->json, fact.key, stretches);
		to->json->unknown = false;
	}
	put_row(to, fact.section, fact.name, &(const struct numbers){
		.has_count = true, .has_ns = true, .count = stretches->count,
		.ns = stretches->ns, .durations = &stretches->whole, .stretches = stretches,
	});
}
