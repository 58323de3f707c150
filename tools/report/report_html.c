// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_html.c
 * @brief	kshark-virt report --format html: a page that stands alone.
 *
 * The answer in words and the limits of the recording come first; then the vCPUs, the figure, the
 * worst moments, all tables, and the command that makes the page.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "escape.h"
#include "html_page.h"
#include "report_html.h"
#include "report_summary.h"
#include "report_unknown.h"
#include "report_worst.h"
#include "text_columns.h"

/** Of a name in the page: more has no place in a title. */
#define MOST_TITLE	256

void report_html_begin(struct output *out, char *const *files, int n_files)
{
	char title[MOST_TITLE];

	snprintf(title, sizeof(title), "%.*s%s - kshark-virt report", MOST_TITLE - 48,
		 n_files ? files[0] : "", n_files > 1 ? ", ..." : "");
	html_page_begin(out, title);
}

void report_html_end(struct output *out)
{
	html_page_end(out);
}

/* --- what the page is about ------------------------------------------------------------------ */

static void put_count(struct output *out, int n, const char *what)
{
	out_printf(out, "%d %s%s", n, what, n == 1 ? "" : "s");
}

static void put_duration(struct output *out, int64_t ns)
{
	char text[32];

	format_duration(text, sizeof(text), ns);
	out_html(out, text);
}

static void put_head(struct output *out, const struct report *report)
{
	const struct virt_model *model = report->load->model;

	out_str(out, "<h1>");
	out_html(out, report->file);
	out_str(out, "</h1>\n<p class=\"quiet\">");
	out_str(out, report->load->host.xen ? "Xen, " : "KVM, ");
	put_count(out, virt_model_n_machines(model), "machine");
	out_str(out, ", ");
	put_count(out, virt_model_n_vcpus(model), "vCPU");
	out_str(out, ", ");
	put_count(out, report->n_pcpus, "pCPU");
	out_str(out, ", ");
	out_u64(out, report->count->records);
	out_str(out, " records; the window lasts ");
	put_duration(out, report->to_ns - report->from_ns);
	out_str(out, ", from ");
	out_ns(out, report->from_ns, 0);
	out_str(out, " s to ");
	out_ns(out, report->to_ns, 0);
	out_str(out, " s.</p>\n");
}

/* --- the answer in words --------------------------------------------------------------------- */

static void put_bold(struct output *out, const char *name)
{
	out_str(out, "<b>");
	out_html(out, name);
	out_str(out, "</b>");
}

static const char *vcpu_name(const struct report *report, int32_t vcpu)
{
	return virt_model_vcpu(report->load->model, vcpu)->name;
}

static void put_unknown(struct output *out, const struct report *report, const char *what,
			enum virt_number number)
{
	char text[VIRT_ADVICE_SIZE];

	out_printf(out, "<p>%s is unknown", what);
	virt_model_advice(report->load->model, number, text, sizeof(text));
	out_str(out, *text ? ": " : "");
	out_html(out, text);
	out_str(out, ".</p>\n");
}

static void put_steal(struct output *out, const struct report *report,
		      const struct report_summary_row *row)
{
	int64_t ns = row->value[SUMMARY_STEAL], whole = row->whole[SUMMARY_STEAL];
	char text[32];

	if (ns == VIRT_NONE) {
		put_unknown(out, report, "Steal", VIRT_NUMBER_PREEMPTED);
		return;
	}
	if (!ns) {
		out_str(out, "<p>The trace shows no steal: no time in which a vCPU was "
			"preempted.</p>\n");
		return;
	}
	out_str(out, "<p>The vCPU with the most steal is ");
	put_bold(out, vcpu_name(report, row->vcpu));
	out_str(out, ": it was preempted for ");
	put_duration(out, ns);
	out_str(out, ", which is ");
	/* a share of 0.0 % would be none */
	if (ns < whole / 1000) {
		out_str(out, "less than 0.1 %");
	} else {
		format_share(text, sizeof(text), ns, whole, 1);
		out_html(out, text);
	}
	out_str(out, " of its known time. ");
	if (row->culprit && !row->is_culprit_known) {
		out_str(out, "The trace does not show what had its pCPU in the largest part of "
			"that time.</p>\n");
	} else if (row->culprit) {
		out_str(out, "The main culprit is ");
		put_bold(out, row->culprit);
		out_str(out, ".</p>\n");
	} else {
		out_str(out, "The culprit is unknown.</p>\n");
	}
}

static void put_waiting(struct output *out, const struct report *report,
			const struct report_summary_row *row)
{
	if (row->value[SUMMARY_WAITING] == VIRT_NONE)
		return;
	out_str(out, "<p>The vCPU with the longest waits for a pCPU is ");
	put_bold(out, vcpu_name(report, row->vcpu));
	out_str(out, ": one in a hundred of its waits lasted ");
	put_duration(out, row->value[SUMMARY_WAITING]);
	out_str(out, " or more.</p>\n");
}

static void put_exits(struct output *out, const struct report *report,
		      const struct report_summary_row *row)
{
	int64_t exits = row->value[SUMMARY_EXITS], whole = row->whole[SUMMARY_EXITS];

	if (exits == VIRT_NONE) {
		put_unknown(out, report, "The number of VM exits", VIRT_NUMBER_EXITS);
		return;
	}
	if (exits <= 0 || whole <= 0)
		return;
	out_str(out, "<p>The vCPU with the most VM exits is ");
	put_bold(out, vcpu_name(report, row->vcpu));
	out_printf(out, ": %.0f per second.</p>\n", 1e9 * (double)exits / (double)whole);
}

/** @rows: are sorted by it */
static void put_answer(struct output *out, const struct report *report,
		       struct report_summary_row *rows, size_t n)
{
	static const struct {
		enum report_summary_column column;
		void	(*put)(struct output *out, const struct report *report,
			       const struct report_summary_row *row);
	} sentences[] = {
		{ SUMMARY_STEAL, put_steal }, { SUMMARY_WAITING, put_waiting },
		{ SUMMARY_EXITS, put_exits },
	};

	out_str(out, "<section class=\"answer\"><h2>Summary</h2>\n");
	for (size_t i = 0; i < ARRAY_SIZE(sentences) && n; i++) {
		report_summary_sort(rows, n, (int)sentences[i].column);
		sentences[i].put(out, report, &rows[0]);
	}
	if (!n)
		out_str(out, "<p>The window has no vCPU.</p>\n");
	out_str(out, "</section>\n");
}

/* --- limits of the recording ----------------------------------------------------------------- */

static void put_limit(struct output *out, const char *kind, const char *before, const char *text)
{
	out_printf(out, "<li class=\"%s\">%s", kind, before);
	out_html(out, text);
	out_str(out, "</li>\n");
}

/** A text of several lines, whose names are escaped already. @between: two lines */
static void put_lines(struct output *out, const char *text, const char *between)
{
	char line[1024];

	for (;;) {
		size_t n = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		out_html(out, line);
		text += n;
		text += strspn(text, "\n ");
		if (!*text)
			return;
		out_str(out, between);
	}
}

static void put_note(struct output *out, const struct trace_note *note)
{
	out_printf(out, "<li class=\"%s\">%s: ", trace_note_severity_name(note->severity),
		   trace_note_kind_name(note->kind));
	put_lines(out, note->text, "<br>");
	out_str(out, "</li>\n");
}

/** How well the clock of a guest's trace fits: a guest records only while its vCPUs execute it. */
static void put_guest_clock(struct output *out, const struct guest_clock *clock)
{
	uint64_t inside = 0, outside = 0;
	char text[32];

	for (int cpu = 0; cpu < clock->n_cpus; cpu++) {
		inside += clock->cpus[cpu].inside;
		outside += clock->cpus[cpu].outside;
	}
	out_str(out, "<li class=\"info\">clock of ");
	out_html(out, kvm_trace_path(clock->trace));
	if (!inside && !outside) {
		out_str(out, ": unknown, no record lies in a time of which its vCPUs' states are "
			"known</li>\n");
		return;
	}
	format_share(text, sizeof(text), (int64_t)inside, (int64_t)(inside + outside), 2);
	out_printf(out, ": %s of its records in the host's trace lie in times in which its vCPUs "
		   "execute the guest, as they do if it is aligned</li>\n", text);
}

static void put_limits(struct output *out, const struct report *report)
{
	const struct trace_notes *notes = &report->load->notes;
	const char *head = report_head_note(report);
	char text[VIRT_ADVICE_SIZE];
	bool any = head;

	out_str(out, "<section class=\"limits\"><h2>Warnings and clock</h2>\n<ul>\n");
	for (size_t i = 0; i < notes->n; i++) {
		put_note(out, &notes->all[i]);
		any |= notes->all[i].severity == TRACE_NOTE_WARNING;
	}
	if (head) {
		out_str(out, "<li class=\"lacks\">");
		put_lines(out, head, " ");
		out_str(out, "</li>\n");
	}
	for (int kind = 0; kind < VIRT_RECORD_N_KINDS; kind++) {
		if (!virt_model_lacks(report->load->model, (enum virt_record_kind)kind, text,
				      sizeof(text)))
			continue;
		put_limit(out, "lacks", "", text);
		any = true;
	}
	if (!any)
		put_limit(out, "info", "", "no warning");
	if (report->load->host.xen) {
		xen_clock_text(text, 256, xen_trace_clock(report->load->host.xen));
		put_limit(out, "info", "clock: ", text);
	}
	for (int i = 0; i < report->load->n_guests && report->load->clocks; i++)
		put_guest_clock(out, &report->load->clocks[i]);
	out_str(out, "</ul></section>\n");
}

/* --- the vCPUs ------------------------------------------------------------------------------- */

static void put_number(struct output *out, const struct report *report,
		       const struct report_summary_row *row, size_t i)
{
	/* without any wait, none is the longest */
	bool is_none = i == SUMMARY_WAITING && report_knows(report, VIRT_NUMBER_RUNNABLE);
	enum html_kind none = is_none ? HTML_BLANK : HTML_UNKNOWN;

	html_cell_write(out, &(const struct html_cell){
		.kind = row->value[i] == VIRT_NONE ? none : HTML_NUMBER,
		.type = table_html_type(report_summary_measures[i].type),
		.number = row->value[i], .whole = row->whole[i],
	}, false);
}

/** One row, with a button that shows it in the figure. */
static void put_vcpu(struct output *out, const struct report *report,
		     const struct report_html *html, const struct report_summary_row *row)
{
	const struct virt_vcpu *vcpu = virt_model_vcpu(report->load->model, row->vcpu);

	out_str(out, "<tr><th scope=\"row\">");
	out_html(out, vcpu->name);
	out_printf(out, "</th><td><button type=\"button\" class=\"show\" data-vcpu=\"%d\" "
		   "disabled>Show</button></td><td>", html->places[row->vcpu]);
	out_html(out, virt_model_machine(report->load->model, vcpu->machine)->name);
	out_str(out, "</td>");
	for (size_t i = 0; i < SUMMARY_VCPU; i++)
		put_number(out, report, row, i);
	out_str(out, "<td>");
	out_html(out, row->culprit ? row->culprit : "");
	out_str(out, "</td></tr>\n");
}

static void put_vcpus(struct output *out, const struct report *report,
		      const struct report_html *html, struct report_summary_row *rows, size_t n)
{
	char title[TABLE_NAME_SIZE];

	report_summary_sort(rows, n, SUMMARY_STEAL);
	out_printf(out, "<section><h2>vCPUs</h2>\n<div class=\"scroll\"><table class=\"data\" "
		   "id=\"t%d-vcpus\">\n<caption>vCPUs, those with the most steal first</caption>\n"
		   "<thead><tr><th scope=\"col\">vCPU</th><th scope=\"col\">figure</th>"
		   "<th scope=\"col\">machine</th>",
		   html->index);
	for (size_t i = 0; i < SUMMARY_VCPU; i++)
		out_printf(out, "<th scope=\"col\">%s</th>",
			   table_title(&report_summary_measures[i], title));
	out_str(out, "<th scope=\"col\">culprit</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < n; i++)
		put_vcpu(out, report, html, &rows[i]);
	out_str(out, "</tbody></table></div></section>\n");
}

/* --- all tables ------------------------------------------------------------------------------ */

static void put_table(struct output *out, const struct html_table *table, const char *id)
{
	char words[64];

	html_words(words, sizeof(words), table->key);
	out_str(out, "<details><summary>");
	out_html(out, words);
	out_printf(out, " (%zu row%s)</summary>\n", html_table_rows(table),
		   html_table_rows(table) == 1 ? "" : "s");
	html_table_write(out, table, id);
	out_str(out, "</details>\n");
}

static void put_tables(struct output *out, const struct html_tables *tables, const char *id)
{
	for (size_t i = 0; i < tables->n; i++)
		put_table(out, tables->all[i], id);
}

/** The tables of a page; one that needs more of the window than others walks by itself. */
static int fill_page(struct html_tables *tables, const struct report *report,
		     const struct ksv_vcpu_set *vcpus, const struct report_html_page *page)
{
	struct report other = *report;
	int ret;

	if (!(page->page->parts & ~report->query.parts))
		return report_page_tables(page->page, page->name, tables, report);
	other.walk = NULL;
	other.matrix = NULL;
	other.chosen = NULL;
	ret = report_window(&other, vcpus, page->page->parts);
	if (!ret)
		ret = report_page_tables(page->page, page->name, tables, &other);
	if (!ret && virt_window_walk_error(other.walk))
		ret = -ENOMEM;
	report_free(&other);
	return ret;
}

static int put_page(struct output *out, const struct report *report,
		    const struct ksv_vcpu_set *vcpus, const struct report_html_page *page,
		    const char *id)
{
	struct html_tables tables = { .n = 0 };
	char advice[VIRT_ADVICE_SIZE];
	int ret = fill_page(&tables, report, vcpus, page);

	if (!ret)
		ret = tables.error;
	out_str(out, "<h3>");
	out_html(out, page->title);
	out_str(out, "</h3>\n");
	if (*virt_model_advice(report->load->model, page->page->number, advice, sizeof(advice))) {
		out_str(out, "<p class=\"quiet\">unknown: ");
		out_html(out, advice);
		out_str(out, "</p>\n");
	} else if (!tables.n) {
		out_str(out, "<p class=\"quiet\">nothing</p>\n");
	}
	put_tables(out, &tables, id);
	html_tables_free(&tables);
	return ret;
}

static int put_numbers(struct output *out, const struct report *report,
		       const struct ksv_vcpu_set *vcpus, const struct report_html *html)
{
	struct html_tables tables = { .n = 0 };
	char id[32];
	int ret;

	snprintf(id, sizeof(id), "t%d-", html->index);
	report_html_facts(&tables, report);
	ret = tables.error;
	out_str(out, "<section><h2>All numbers</h2>\n");
	put_tables(out, &tables, id);
	html_tables_free(&tables);
	for (size_t i = 0; i < html->n_pages && !ret; i++)
		ret = put_page(out, report, vcpus, &html->pages[i], id);
	out_str(out, "</section>\n");
	return ret;
}

/* --- all of it ------------------------------------------------------------------------------- */

static void put_command(struct output *out, const struct report_html *html)
{
	out_str(out, "<section class=\"made\"><h2>The command that made this page</h2>\n"
		"<pre><code>kshark-virt report");
	out_html(out, html->command);
	out_str(out, "</code></pre>\n<button type=\"button\" class=\"copy\">Copy</button>"
		"</section>\n");
}

int report_html_write(struct output *out, const struct report *report,
		      const struct ksv_vcpu_set *vcpus, const struct report_html *html)
{
	struct report_html with_places = *html;
	struct report_summary_row *rows;
	int32_t *places = report_html_places(report);
	ssize_t n = places ? report_summary_rows(report, SUMMARY_STEAL, NULL, &rows) : -1;
	struct report shared = *report;
	struct virt_worst *own;
	int ret;

	if (n < 0) {
		free(places);
		return -ENOMEM;
	}
	with_places.places = places;
	out_printf(out, "<article class=\"trace\" id=\"t%d\">\n", html->index);
	put_head(out, report);
	put_answer(out, report, rows, (size_t)n);
	put_limits(out, report);
	put_vcpus(out, report, &with_places, rows, (size_t)n);
	free(rows);
	shared.worst = report_worst_index(report, &own);
	ret = shared.worst ? report_html_figure(out, &shared, &with_places) : -ENOMEM;
	if (!ret)
		ret = report_html_moments(out, &shared, vcpus, &with_places);
	if (!ret)
		ret = put_numbers(out, &shared, vcpus, &with_places);
	virt_worst_free(own);
	put_command(out, html);
	out_str(out, "</article>\n");
	free(places);
	return ret;
}
