// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_html_figure.c
 * @brief	The figure of all vCPUs in a page: packed intervals, and what the script needs.
 *
 * Packed are, vCPU by vCPU: the state of each interval; the length of each; its pCPU, as the
 * difference to the one before; the number of its detail. If there are too many intervals, short
 * neighbours become one, which keeps the time in each of its states, so that sums stay the same.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "html_pack.h"
#include "report_html.h"
#include "report_unknown.h"
#include "virt_colors.h"

/** As many intervals as a browser opens in two seconds. */
#define MOST_INTERVALS	1000000

/** Intervals of 2 to the power of this, or longer, are only summed up if there are too many. */
#define LEAST_BITS	8

/** State of an interval that sums up short ones. */
#define MIXED		15

/** One interval of the figure. */
struct piece {
	int64_t		ns;
	unsigned int	state;
	int16_t		pcpu;
	const struct virt_interval *interval;	/* NULL: it is mixed */
	int64_t		state_ns[VIRT_N_STATES];	/* if it is */
};

struct figure {
	const struct report *report;
	struct html_pack *pack;
	int64_t		short_ns;	/* neighbours shorter than this become one; 0: none do */
	int32_t		*reasons, *causes, *vcpus, *tasks; /* number of a detail; 0: none yet */
	const char	**details;
	size_t		n_details, details_room;
	int16_t		pcpu;		/* of the piece before */
	int		error;
};

int32_t *report_html_places(const struct report *report)
{
	const struct virt_model *model = report->load->model;
	int32_t *places = malloc(((size_t)virt_model_n_vcpus(model) + 1) * sizeof(*places));
	int32_t n = 0;

	for (int32_t m = 0; places && m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		for (int32_t i = 0; i < machine->n_vcpus; i++)
			places[machine->vcpus[i]] =
				virt_window_walk_wants(report->walk, machine->vcpus[i]) ? n++ :
				VIRT_NONE;
	}
	return places;
}

/* --- pieces ---------------------------------------------------------------------------------- */

/** How long interval @i is in the window. */
static int64_t length_of(const struct report *report, const struct virt_interval_range *range,
			 size_t i)
{
	int64_t from_ns = range->first[i].start_ns;
	int64_t to_ns = i + 1 < range->n ? range->first[i + 1].start_ns : range->end_ns;

	if (from_ns < report->from_ns)
		from_ns = report->from_ns;
	if (to_ns > report->to_ns)
		to_ns = report->to_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

static void set_piece(struct piece *piece, const struct virt_interval *interval, int64_t ns)
{
	piece->ns = ns;
	piece->state = interval->state;
	piece->pcpu = interval->pcpu;
	piece->interval = interval;
}

/** Short neighbours as one. */
static void add_short(struct piece *mixed, const struct virt_interval *interval, int64_t ns)
{
	if (mixed->interval) {
		memset(mixed->state_ns, 0, sizeof(mixed->state_ns));
		mixed->state_ns[mixed->state] = mixed->ns;
		mixed->state = MIXED;
		mixed->interval = NULL;
	}
	mixed->ns += ns;
	mixed->state_ns[interval->state] += ns;
	if (interval->pcpu != mixed->pcpu)
		mixed->pcpu = VIRT_NONE;
}

static struct virt_interval_range range_of(const struct report *report, int32_t vcpu)
{
	return virt_vcpu_intervals(report->load->model, vcpu, report->from_ns, report->to_ns);
}

/** Call @take for each piece of a vCPU. */
static void each_piece(struct figure *figure, int32_t vcpu,
		       void (*take)(struct figure *figure, const struct piece *piece))
{
	struct virt_interval_range range = range_of(figure->report, vcpu);
	struct piece piece;

	for (size_t i = 0; i < range.n; i++) {
		int64_t ns = length_of(figure->report, &range, i);

		if (i && ns < figure->short_ns && piece.ns < figure->short_ns) {
			add_short(&piece, &range.first[i], ns);
			continue;
		}
		if (i)
			take(figure, &piece);
		set_piece(&piece, &range.first[i], ns);
	}
	if (range.n)
		take(figure, &piece);
}

/** How many pieces a vCPU has; more than @most are not counted. */
static uint64_t count_pieces(const struct figure *figure, int32_t vcpu, uint64_t most)
{
	struct virt_interval_range range = range_of(figure->report, vcpu);
	int64_t before_ns = figure->short_ns;
	uint64_t n = 0;

	if (!figure->short_ns)
		return range.n;
	for (size_t i = 0; i < range.n && n <= most; i++) {
		int64_t ns = length_of(figure->report, &range, i);

		if (ns < figure->short_ns && before_ns < figure->short_ns) {
			before_ns += ns;
		} else {
			before_ns = ns;
			n++;
		}
	}
	return n;
}

/** The vCPUs that are asked for, machine by machine. */
static void each_vcpu(struct figure *figure,
		      void (*put)(struct figure *figure, int32_t vcpu, void *arg), void *arg)
{
	const struct virt_model *model = figure->report->load->model;

	for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		for (int32_t i = 0; i < machine->n_vcpus; i++)
			if (virt_window_walk_wants(figure->report->walk, machine->vcpus[i]))
				put(figure, machine->vcpus[i], arg);
	}
}

/* --- how many -------------------------------------------------------------------------------- */

static void count_vcpu(struct figure *figure, int32_t vcpu, void *arg)
{
	uint64_t *n = arg;

	if (*n <= MOST_INTERVALS)
		*n += count_pieces(figure, vcpu, MOST_INTERVALS - *n);
}

static bool fits(struct figure *figure, int64_t short_ns)
{
	uint64_t n = 0;

	figure->short_ns = short_ns;
	each_vcpu(figure, count_vcpu, &n);
	return n <= MOST_INTERVALS;
}

/** Numbers of bits that a length has. */
#define N_BITS		64

static unsigned int bits_of(uint64_t ns)
{
	return ns ? N_BITS - (unsigned int)__builtin_clzll(ns) : 0;
}

static void count_lengths(struct figure *figure, int32_t vcpu, void *arg)
{
	struct virt_interval_range range = range_of(figure->report, vcpu);
	uint64_t *of = arg;

	for (size_t i = 0; i < range.n; i++)
		of[bits_of((uint64_t)length_of(figure->report, &range, i))]++;
}

/** Find the length from which on an interval is shown by itself: the shortest power of two. */
static void find_short(struct figure *figure)
{
	uint64_t of[N_BITS + 1] = { 0 }, n = 0;
	unsigned int bits = N_BITS;

	if (fits(figure, 0))
		return;
	/* intervals of that length are too many already, whatever the shorter ones become */
	each_vcpu(figure, count_lengths, of);
	while (bits && n + of[bits] <= MOST_INTERVALS)
		n += of[bits--];
	bits = bits < LEAST_BITS ? LEAST_BITS : bits;
	while (bits < N_BITS - 2 && !fits(figure, (int64_t)1 << bits))
		bits++;
	figure->short_ns = (int64_t)1 << bits;
}

/* --- packing --------------------------------------------------------------------------------- */

static void pack_state(struct figure *figure, const struct piece *piece)
{
	html_pack_byte(figure->pack, piece->state);
}

static void pack_length(struct figure *figure, const struct piece *piece)
{
	html_pack_number(figure->pack, (uint64_t)piece->ns);
}

static void pack_pcpu(struct figure *figure, const struct piece *piece)
{
	html_pack_signed(figure->pack, piece->pcpu - figure->pcpu);
	figure->pcpu = piece->pcpu;
}

/** Where the number of a detail is kept; NULL: the interval has none. */
static int32_t *number_of(const struct figure *figure, const struct virt_interval *interval)
{
	const struct virt_model *model = figure->report->load->model;
	const struct virt_wake *wake;
	int32_t who;

	if (!report_detail(figure->report, interval, &who))
		return NULL;
	switch (interval->state) {
	case VIRT_PREEMPTED:
		if (who >= VIRT_FIRST_TASK)
			return &figure->tasks[who - VIRT_FIRST_TASK];
		return who >= 0 ? &figure->vcpus[who] : NULL;
	case VIRT_BLOCKED:
		wake = virt_model_wake(model, interval->detail);
		return wake ? &figure->causes[wake->cause] : NULL;
	default:
		return interval->detail >= 0 ? &figure->reasons[interval->detail] : NULL;
	}
}

static void pack_detail(struct figure *figure, const struct piece *piece)
{
	int32_t *number = piece->interval ? number_of(figure, piece->interval) : NULL;
	int32_t who;

	if (number && !*number) {
		if (ARRAY_GROW(figure->details, figure->n_details, figure->details_room)) {
			figure->error = -ENOMEM;
			number = NULL;
		} else {
			figure->details[figure->n_details++] =
				report_detail(figure->report, piece->interval, &who);
			*number = (int32_t)figure->n_details;
		}
	}
	html_pack_number(figure->pack, number ? (uint64_t)*number : 0);
}

static void pack_parts(struct figure *figure, const struct piece *piece)
{
	unsigned int states = 0;

	if (piece->interval)
		return;
	for (int state = 0; state < VIRT_N_STATES; state++)
		states |= (unsigned int)(piece->state_ns[state] > 0) << state;
	html_pack_number(figure->pack, states);
	for (int state = 0; state < VIRT_N_STATES; state++)
		if (piece->state_ns[state] > 0)
			html_pack_number(figure->pack, (uint64_t)piece->state_ns[state]);
}

static void pack_vcpu(struct figure *figure, int32_t vcpu, void *arg)
{
	(void)arg;
	figure->pcpu = 0;
	each_piece(figure, vcpu, pack_state);
	each_piece(figure, vcpu, pack_length);
	each_piece(figure, vcpu, pack_pcpu);
	each_piece(figure, vcpu, pack_detail);
	each_piece(figure, vcpu, pack_parts);
}

static void put_intervals(struct output *out, struct figure *figure)
{
	figure->pack = malloc(sizeof(*figure->pack));
	if (!figure->pack || html_pack_begin(figure->pack, out)) {
		free(figure->pack);
		figure->error = -ENOMEM;
		return;
	}
	out_str(out, "<script type=\"application/octet-stream\" class=\"intervals\">");
	each_vcpu(figure, pack_vcpu, NULL);
	html_pack_end(figure->pack);
	out_str(out, "</script>\n");
	free(figure->pack);
}

/* --- what else the script needs -------------------------------------------------------------- */

static void put_color(struct json *json, const char *key, struct virt_color color)
{
	char text[8];

	snprintf(text, sizeof(text), "#%02x%02x%02x", color.red, color.green, color.blue);
	json_str(json, key, text);
}

static void put_state(struct json *json, const struct report *report, enum virt_state state)
{
	const struct virt_look *look = virt_state_look_in(report->load->model, state);
	unsigned int in = virt_model_includes(report->load->model, state);
	char names[VIRT_STATE_NAMES];

	json_open(json, NULL, '{', true);
	json_str(json, "name", virt_state_name(state));
	json_str(json, "label", in ? virt_state_names(in | 1U << state, "+", names, sizeof(names)) :
		 virt_state_name(state));
	json_bool(json, "known", report_knows_state(report, state));
	json_str(json, "meaning", look->meaning ? look->meaning : look->title);
	put_color(json, "color", look->color);
	if (look->hatched)
		put_color(json, "hatch", look->hatch);
	json_close(json, '}');
}

/** A name of the trace as people see it. */
static void put_shown(struct json *json, struct output *text, const char *key, const char *name)
{
	const char *shown;

	out_collect(text);
	out_text(text, name);
	shown = out_collected(text);
	json_str(json, key, shown ? shown : "");
}

struct facts_writer {
	struct json	*json;
	struct output	*text;
};

static void put_vcpu(struct figure *figure, int32_t vcpu, void *arg)
{
	const struct facts_writer *to = arg;

	json_open(to->json, NULL, '{', true);
	put_shown(to->json, to->text, "shown",
		  virt_model_vcpu(figure->report->load->model, vcpu)->name);
	json_u64(to->json, "n", count_pieces(figure, vcpu, MOST_INTERVALS));
	json_close(to->json, '}');
}

static void put_facts(struct output *out, struct figure *figure, const struct report_html *html,
		      struct output *text)
{
	const struct report *report = figure->report;
	char begin[24];
	struct json json;
	struct facts_writer to = { &json, text };

	out_str(out, "<script type=\"application/json\" class=\"facts\">");
	out->in_html = true;
	json_begin(&json, out);
	json_open(&json, NULL, '{', false);
	/* more than a number of JavaScript holds */
	snprintf(begin, sizeof(begin), "%lld", (long long)report->from_ns);
	json_str(&json, "begin_ns", begin);
	json_i64(&json, "length_ns", report->to_ns - report->from_ns);
	json_i64(&json, "resolution_ns", figure->short_ns);
	json_open(&json, "states", '[', false);
	for (int state = 0; state < VIRT_N_STATES; state++)
		put_state(&json, report, (enum virt_state)state);
	json_close(&json, ']');
	json_open(&json, "vcpus", '[', false);
	each_vcpu(figure, put_vcpu, &to);
	json_close(&json, ']');
	json_open(&json, "details", '[', true);
	json_str(&json, NULL, "");
	for (size_t i = 0; i < figure->n_details; i++)
		put_shown(&json, text, NULL, figure->details[i]);
	json_close(&json, ']');
	json_open(&json, "files", '[', true);
	for (int i = 0; i < html->n_files; i++)
		json_str(&json, NULL, html->files[i]);
	json_close(&json, ']');
	json_document_end(&json);
	out->in_html = false;
	out_str(out, "</script>\n");
}

/* --- the frame ------------------------------------------------------------------------------- */

static void put_button(struct output *out, const char *name, const char *text, const char *title)
{
	out_printf(out, "<button type=\"button\" class=\"%s\" title=\"%s\" disabled>%s</button>\n",
		   name, title, text);
}

static void put_frame(struct output *out, const struct figure *figure,
		      const struct report_html *html)
{
	out_printf(out, "<section class=\"figure\" aria-label=\"Figure of all vCPUs\">"
		   "<h2 id=\"t%d-figure\">All vCPUs over time</h2>\n<ul class=\"legend\"></ul>\n",
		   html->index);
	if (figure->short_ns)
		out_printf(out, "<p class=\"quiet\">The trace has more intervals than a page can "
			   "hold. Neighbours shorter than %lld ns are one, with the time in each "
			   "state. Make a page of a shorter window to see them.</p>\n",
			   (long long)figure->short_ns);
	out_str(out, "<div class=\"tools\">\n");
	put_button(out, "in", "Zoom in", "key +");
	put_button(out, "out", "Zoom out", "key -");
	put_button(out, "back", "Earlier", "left arrow");
	put_button(out, "on", "Later", "right arrow");
	put_button(out, "all", "All", "key 0");
	out_str(out, "<label>Search <input type=\"search\" class=\"search\" "
		"placeholder=\"vCPU or exit reason\" disabled></label>\n");
	put_button(out, "prev", "Previous", "key p");
	put_button(out, "next", "Next", "key n");
	out_str(out, "<span class=\"matches\" role=\"status\"></span></div>\n"
		"<div class=\"view\"><div class=\"room\"></div><canvas tabindex=\"0\" "
		"role=\"application\" aria-label=\"States of all vCPUs over time. Arrows move, "
		"plus and minus zoom, a and b set the ends of a selection. The tables have the "
		"same numbers.\"></canvas></div>\n"
		"<div class=\"tip\" aria-hidden=\"true\" hidden></div>\n"
		"<p class=\"detail\" role=\"status\">The figure needs JavaScript.</p>\n"
		"<div class=\"tools\">\n");
	put_button(out, "select", "Select", "drag selects a time instead of moving");
	out_str(out, "<label>A [s] <input class=\"a\" inputmode=\"decimal\" disabled></label>\n"
		"<label>B [s] <input class=\"b\" inputmode=\"decimal\" disabled></label>\n");
	put_button(out, "sum", "Sums from A to B", "time of each vCPU in each state");
	put_button(out, "clear", "Clear", "Escape");
	put_button(out, "copy-window", "Copy command for this window",
		   "kshark-virt report of the time from A to B, or of the visible time");
	out_str(out, "</div>\n<div class=\"sums scroll\"></div>\n");
}

static void free_figure(struct figure *figure)
{
	free(figure->reasons);
	free(figure->causes);
	free(figure->vcpus);
	free(figure->tasks);
	free(figure->details);
}

int report_html_figure(struct output *out, const struct report *report,
		       const struct report_html *html)
{
	const struct virt_model *model = report->load->model;
	struct figure figure = {
		.report = report,
		.reasons = calloc((size_t)virt_model_n_reasons(model) + 1, sizeof(int32_t)),
		.causes = calloc(VIRT_N_WAKES, sizeof(int32_t)),
		.vcpus = calloc((size_t)virt_model_n_vcpus(model) + 1, sizeof(int32_t)),
		.tasks = calloc((size_t)virt_model_n_tasks(model) + 1, sizeof(int32_t)),
	};
	struct output *text = calloc(1, sizeof(*text));

	if (figure.reasons && figure.causes && figure.vcpus && figure.tasks && text) {
		find_short(&figure);
		put_frame(out, &figure, html);
		put_intervals(out, &figure);
		put_facts(out, &figure, html, text);
		out_str(out, "</section>\n");
	} else {
		figure.error = -ENOMEM;
	}
	free(text);
	free_figure(&figure);
	return figure.error;
}
