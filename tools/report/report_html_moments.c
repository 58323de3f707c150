// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_html_moments.c
 * @brief	The worst moments in a page: a table that leads into the figure, and causes.
 */
#include <errno.h>

#include "report_html.h"
#include "report_worst.h"
#include "text_columns.h"
#include "why_answer.h"

/** Moments that anybody looks at. */
#define MOST_MOMENTS	20

/** The most segments of a tree on the page: "kshark-virt why" shows larger ones. */
#define MOST_SEGMENTS	5000
#define MOST_LINES	400

struct moments {
	struct output	*out;
	const struct report *report;
	const struct report_html *html;
	struct virt_finding all[MOST_MOMENTS];
	size_t		n;
};

static void take_moment(void *arg, const struct virt_finding *finding)
{
	struct moments *moments = arg;

	if (moments->n < MOST_MOMENTS)
		moments->all[moments->n++] = *finding;
}

/* --- the table ------------------------------------------------------------------------------- */

static void put_moment(const struct moments *moments, const struct virt_finding *finding)
{
	const struct report *report = moments->report;
	struct output *out = moments->out;
	char text[1024];

	report_moment_text(text, sizeof(text), report->load->model, finding);
	out_str(out, "<tr>");
	html_cell_write(out, &(const struct html_cell){
		.kind = HTML_NUMBER, .type = HTML_DURATION, .number = finding->moment.cost_ns,
	}, true);
	out_printf(out, "<td><button type=\"button\" class=\"show\" data-vcpu=\"%d\" "
		   "data-from=\"%lld\" data-to=\"%lld\" disabled>Show</button></td>",
		   finding->moment.vcpu < 0 ? VIRT_NONE :
		   moments->html->places[finding->moment.vcpu],
		   (long long)(finding->moment.start_ns - report->from_ns),
		   (long long)(finding->moment.end_ns - report->from_ns));
	out_printf(out, "<td>%s</td><td>", virt_worst_kind_name(finding->moment.kind));
	out_html(out, finding->vcpu);
	out_str(out, "</td>");
	html_cell_write(out, &(const struct html_cell){
		.kind = HTML_NUMBER, .type = HTML_TIME, .number = finding->time_ns,
	}, false);
	out_str(out, "<td class=\"words\">");
	out_html(out, text);
	out_str(out, "</td></tr>\n");
}

static void put_kinds(struct output *out, const char *before, unsigned int kinds)
{
	if (!kinds)
		return;
	out_printf(out, "<p class=\"quiet\">%s:", before);
	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++)
		if (kinds >> kind & 1)
			out_printf(out, " %s", virt_worst_kind_name((enum virt_worst_kind)kind));
	out_str(out, "</p>\n");
}

static void put_moments(const struct moments *moments)
{
	struct output *out = moments->out;

	out_printf(out, "<div class=\"scroll\"><table class=\"data\" id=\"t%d-worst\">\n"
		   "<caption>The worst moments, one of each incident</caption>\n<thead><tr>"
		   "<th scope=\"col\">cost</th><th scope=\"col\">figure</th>"
		   "<th scope=\"col\">kind</th><th scope=\"col\">vCPU</th>"
		   "<th scope=\"col\">at [s]</th><th scope=\"col\">what</th></tr></thead>\n"
		   "<tbody>\n", moments->html->index);
	for (size_t i = 0; i < moments->n; i++)
		put_moment(moments, &moments->all[i]);
	out_str(out, "</tbody></table></div>\n");
}

/* --- why ------------------------------------------------------------------------------------- */

/** A tree that is being written: its lines are nested lists. */
struct tree {
	struct output	*out;
	const struct virt_why *why;
	struct output	words;		/* one line of text */
	int		level;		/* of the list that is open; -1: none */
	bool		is_open[VIRT_WHY_LEVELS + 2];	/* has an item of the level a list below? */
	size_t		n;
};

static void close_item(struct tree *tree)
{
	if (tree->is_open[tree->level])
		out_str(tree->out, "</details>");
	out_str(tree->out, "</li>\n");
}

/** End the lists that are deeper than @level; there is an item of each. */
static void close_lists(struct tree *tree, int level)
{
	while (tree->level > level) {
		close_item(tree);
		out_str(tree->out, "</ul>");
		tree->level--;
	}
}

static void put_line_words(struct tree *tree, const struct why_line *line)
{
	const char *text;

	out_str(tree->out, "<span class=\"at\">");
	out_ns(tree->out, line->from_ns, 0);
	out_str(tree->out, " s</span><span class=\"length\">");
	out_collect(&tree->words);
	why_put_duration(&tree->words, line->length_ns, 0);
	text = out_collected(&tree->words);
	out_html(tree->out, text ? text : "");
	out_str(tree->out, "</span>");
	out_collect(&tree->words);
	why_put_words(&tree->words, tree->why, line);
	text = out_collected(&tree->words);
	out_html(tree->out, text ? text : "");
}

static void put_why_line(void *arg, const struct why_line *line)
{
	struct tree *tree = arg;
	int level = line->level <= VIRT_WHY_LEVELS ? line->level : VIRT_WHY_LEVELS;

	if (tree->n++ >= MOST_LINES)
		return;
	if (level > tree->level) {
		out_str(tree->out, "<ul>\n");
		tree->level++;
	} else {
		close_lists(tree, level);
		close_item(tree);
	}
	/* of segments below another one, at least the longest one is a line */
	tree->is_open[tree->level] = line->segment && line->segment->n_below;
	out_str(tree->out, tree->is_open[tree->level] ? "<li><details><summary>" : "<li>");
	put_line_words(tree, line);
	if (tree->is_open[tree->level])
		out_str(tree->out, "</summary>");
}

static void put_tree(struct output *out, struct tree *tree, const struct virt_why *why)
{
	*tree = (struct tree){ .out = out, .why = why, .level = -1 };
	why_each_line(why, put_why_line, tree);
	close_lists(tree, -1);
	if (tree->n > MOST_LINES)
		out_printf(out, "<p>%zu more lines: kshark-virt why</p>\n", tree->n - MOST_LINES);
	out_str(out, "<p class=\"quiet\">unexplained: ");
	out_collect(&tree->words);
	why_put_duration(&tree->words, why->unexplained_ns, 0);
	out_str(out, out_collected(&tree->words));
	out_str(out, "</p>\n");
}

/** Return: 0 or -ENOMEM. */
static int put_why(const struct moments *moments, const struct virt_finding *finding,
		   struct tree *tree)
{
	const struct virt_moment *moment = &finding->moment;
	struct output *out = moments->out;
	struct virt_why why;
	char text[1024];
	int ret = virt_why_vcpu(moments->report->load->model, NULL, moment->vcpu,
				moment->start_ns, moment->end_ns, MOST_SEGMENTS, &why);

	if (ret == -ENOMEM)
		return ret;
	report_moment_text(text, sizeof(text), moments->report->load->model, finding);
	out_str(out, "<details><summary>");
	out_html(out, text);
	out_str(out, "</summary>\n");
	if (ret) {
		out_str(out, "<p>The tree is too large for a page: kshark-virt why</p>\n");
	} else {
		put_tree(out, tree, &why);
		virt_why_free(&why);
	}
	out_str(out, "</details>\n");
	return 0;
}

static int put_whys(const struct moments *moments)
{
	struct tree *tree = malloc(sizeof(*tree));
	int ret = tree ? 0 : -ENOMEM;

	out_str(moments->out, "<section class=\"why\"><h2>Why they happened</h2>\n");
	for (size_t i = 0; i < moments->n && !ret; i++)
		ret = put_why(moments, &moments->all[i], tree);
	out_str(moments->out, "</section>\n");
	free(tree);
	return ret;
}

int report_html_moments(struct output *out, const struct report *report,
			const struct ksv_vcpu_set *vcpus, const struct report_html *html)
{
	const struct report_worst worst = {
		.n = MOST_MOMENTS, .apart = true,
		.kinds = 1u << VIRT_WORST_EXIT | 1u << VIRT_WORST_STEAL | 1u << VIRT_WORST_WAKE,
	};
	unsigned int visible = report_worst_visible(report, worst.kinds);
	struct moments moments = { .out = out, .report = report, .html = html };
	int ret = report_worst_each(report, vcpus, &worst, take_moment, &moments);

	if (ret)
		return ret;
	out_str(out, "<section><h2>The worst moments</h2>\n");
	if (moments.n)
		put_moments(&moments);
	else
		put_kinds(out, "none", visible);
	put_kinds(out, "unknown", worst.kinds & ~visible);
	out_str(out, "</section>\n");
	return moments.n ? put_whys(&moments) : 0;
}
