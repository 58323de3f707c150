// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_summary.c
 * @brief	The first answer of kshark-virt report: one screen about a trace.
 *
 * The limits of the recording come first, then the vCPUs, the worst moments, and commands that show
 * more. The screen has a fixed number of lines: vCPUs get the lines that the other parts leave.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "escape.h"
#include "report_section.h"
#include "report_summary.h"
#include "report_unknown.h"
#include "report_worst.h"
#include "table.h"
#include "text_columns.h"

/** Limits of a screen. */
#define LEAST_WIDTH	80
#define MOST_WIDTH	100
#define LEAST_LINES	23
#define MOST_LINES	40

/** Lines about the limits of the recording. */
#define MOST_LIMITS	9

/** Rows of vCPUs on the smallest screen. */
#define LEAST_ROWS	3

/** Size of the name of a vCPU or culprit. */
#define MOST_NAME	96

/** The screen. */
struct screen {
	struct output	*out;
	struct output	*end;		/* the lines below the vCPUs, collected */
	size_t		lines, end_lines;
	size_t		culprit_width;
	const struct report *report;
	const struct report_summary *summary;
};

void report_summary_screen(struct report_summary *summary, const char *path)
{
	struct winsize size;

	summary->width = MOST_WIDTH;
	summary->lines = MOST_LINES;
	if ((path && strcmp(path, "-")) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ||
	    !size.ws_col || !size.ws_row)
		return;
	if (size.ws_col < MOST_WIDTH)
		summary->width = size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col;
	/* the shell's prompt needs a line */
	if (size.ws_row <= MOST_LINES)
		summary->lines = size.ws_row <= LEAST_LINES ? LEAST_LINES : size.ws_row - 1;
}

/* --- lines ----------------------------------------------------------------------------------- */

/**
 * Put words into lines. @text is escaped already. @out: NULL to count only. @style: of @before.
 * Return: the number of lines.
 */
static size_t put_words(struct output *out, enum out_style style, const char *before,
			const char *text, size_t width)
{
	size_t indent = strlen(before), at = indent, lines = 1;

	if (out)
		out_styled(out, style, before);
	for (;;) {
		char word[1024];
		size_t n, columns;

		text += strspn(text, " \n");
		n = strcspn(text, " \n");
		if (!n)
			break;
		snprintf(word, sizeof(word), "%.*s", (int)n, text);
		columns = out_columns(word);
		if (at > indent && at + 1 + columns > width) {
			lines++;
			at = indent;
			if (out)
				out_printf(out, "\n%*s", (int)indent, "");
		} else if (at > indent) {
			at++;
			if (out)
				out_char(out, ' ');
		}
		if (out)
			out_mem(out, text, n);
		at += columns;
		text += n;
	}
	if (out)
		out_char(out, '\n');
	return lines;
}

static void put_line(struct output *out, size_t *lines, const char *text)
{
	out_str(out, text);
	out_char(out, '\n');
	(*lines)++;
}

/** A title below an empty line. */
static void put_part(struct output *out, size_t *lines, const char *title)
{
	put_line(out, lines, "");
	out_styled(out, OUT_HEAD, title);
	put_line(out, lines, "");
}

/* --- limits of the recording ----------------------------------------------------------------- */

/** Lines about them, MOST_LIMITS at most. */
struct limits {
	struct screen	*screen;
	size_t		lines, left_out;
};

/**
 * Write a limit if its lines fit. @before: what stands in front of it. @text: escaped; only its
 * first line is written
 */
static void put_limit(struct limits *limits, const char *before, const char *text, size_t size)
{
	struct screen *screen = limits->screen;
	size_t width = (size_t)screen->summary->width, lines;
	char line[2048];

	snprintf(line, sizeof(line), "%.*s", (int)size, text);
	lines = put_words(NULL, OUT_PLAIN, before, line, width);
	if (limits->left_out || limits->lines + lines > MOST_LIMITS) {
		limits->left_out++;
		return;
	}
	put_words(screen->out, OUT_WARNING, before, line, width);
	limits->lines += lines;
}

static void put_limits(struct screen *screen)
{
	const struct report *report = screen->report;
	struct trace_notes *notes = &report->load->notes;
	struct limits limits = { .screen = screen };
	const char *note = report_head_note(report);
	char text[VIRT_ADVICE_SIZE];

	for (size_t i = 0; i < notes->n; i++) {
		if (notes->all[i].severity != TRACE_NOTE_WARNING)
			continue;
		put_limit(&limits, "  warning  ", notes->all[i].text,
			  strcspn(notes->all[i].text, "\n"));
		notes->all[i].printed = true;
	}
	if (note)
		put_limit(&limits, "  unknown  ", note, strlen(note));
	for (int kind = 0; kind < VIRT_RECORD_N_KINDS; kind++)
		if (virt_model_lacks(report->load->model, (enum virt_record_kind)kind, text,
				     sizeof(text)))
			put_limit(&limits, "  unknown  ", text, strlen(text));
	if (limits.left_out) {
		out_printf(screen->out, "  ... %zu more: report --full\n", limits.left_out);
		limits.lines++;
	}
	screen->lines += limits.lines;
}

static void put_head(struct screen *screen)
{
	const struct report *report = screen->report;
	const struct virt_model *model = report->load->model;
	char text[32];

	out_style(screen->out, OUT_HEAD);
	out_text(screen->out, report->file);
	out_style(screen->out, OUT_PLAIN);
	out_printf(screen->out, ": %s, %d machine%s, ", report->load->host.xen ? "Xen" : "KVM",
		   virt_model_n_machines(model), virt_model_n_machines(model) == 1 ? "" : "s");
	format_duration(text, sizeof(text), report->to_ns - report->from_ns);
	out_printf(screen->out, "%d vCPU%s, %d pCPU%s, %s\n", virt_model_n_vcpus(model),
		   virt_model_n_vcpus(model) == 1 ? "" : "s", report->n_pcpus,
		   report->n_pcpus == 1 ? "" : "s", text);
	out_str(screen->out, "  window   ");
	out_ns(screen->out, report->from_ns, 0);
	out_str(screen->out, " .. ");
	out_ns(screen->out, report->to_ns, 0);
	out_str(screen->out, " s\n");
	screen->lines += 2;
}

/* --- vCPUs ----------------------------------------------------------------------------------- */

/** The columns of numbers, from left to right. */
static const enum report_summary_column numbers[] = {
	SUMMARY_GUEST, SUMMARY_HYPERVISOR, SUMMARY_STEAL, SUMMARY_WAITING, SUMMARY_BLOCKED,
	SUMMARY_EXITS, SUMMARY_MIGRATIONS,
};

/** All columns: the name, the numbers, a gap, the culprit. */
enum { COLUMN_NAME = 0, COLUMN_NUMBERS, COLUMN_GAP = COLUMN_NUMBERS + ARRAY_SIZE(numbers),
	COLUMN_CULPRIT, N_COLUMNS };

static struct table_cell number_cell(const struct report_summary_row *row,
				     enum report_summary_column column)
{
	struct table_cell cell = table_share(row->value[column], row->whole[column]);

	if (column == SUMMARY_STEAL)
		cell.style = text_cost_style(cell.number, cell.whole);
	else if (column == SUMMARY_WAITING && cell.number >= TEXT_MUCH_NS)
		cell.style = OUT_BAD;
	return cell;
}

/** A name that is longer than its column ends with "...". */
static void cut_name(char text[MOST_NAME], const char *name, size_t width)
{
	size_t size = snprintf(text, MOST_NAME, "%s", name) < MOST_NAME ? strlen(name) :
		      text_cut(name, MOST_NAME - 4);

	if (size == strlen(name) && out_columns(name) <= width)
		return;
	do {
		size = text_cut(name, size - 1);
		snprintf(text, MOST_NAME, "%.*s...", (int)size, name);
	} while (size && out_columns(text) > width);
}

static const char *vcpu_name(const struct report *report, const struct report_summary_row *row)
{
	return virt_model_vcpu(report->load->model, row->vcpu)->name;
}

/** Set the widths of the columns; the last one gets the rest of the line. */
static void fit_columns(struct table_column *columns, size_t n, struct screen *screen,
			const struct report_summary_row *rows, size_t n_rows)
{
	bool is_wide = screen->summary->width >= MOST_WIDTH;
	size_t most = is_wide ? 20 : 12, left = (size_t)screen->summary->width - 2;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct table_column *column = &columns[COLUMN_NUMBERS + i];

		*column = report_summary_measures[numbers[i]];
		if (is_wide)
			continue;
		if (numbers[i] == SUMMARY_HYPERVISOR)
			*column = (struct table_column){ .title = "hyp.", .type = column->type,
							 .brief = true, .width = 7 };
		else if (numbers[i] == SUMMARY_MIGRATIONS)
			*column = (struct table_column){ .title = "migr.", .type = column->type,
							 .width = 6 };
	}
	columns[0].width = strlen(columns[0].title);
	for (size_t i = 0; i < n_rows; i++) {
		size_t size = out_columns(vcpu_name(screen->report, &rows[i]));

		if (size > columns[0].width)
			columns[0].width = size > most ? most : size;
	}
	columns[0].width++;	/* a blank behind the longest name */
	left -= columns[0].width;
	for (size_t i = 1; i + 1 < n; i++)
		left -= columns[i].width + (columns[i].type != TABLE_NAME);
	screen->culprit_width = left;
}

static void vcpu_row(struct table_writer *to, const struct screen *screen,
		    const struct report_summary_row *row)
{
	const struct report *report = screen->report;
	char name[MOST_NAME], culprit[MOST_NAME] = "-";
	struct table_cell cells[N_COLUMNS];

	cut_name(name, vcpu_name(report, row), to->table->rows.columns[0].width - 1);
	if (row->culprit)
		cut_name(culprit, row->culprit, screen->culprit_width);
	else if (!row->value[SUMMARY_STEAL])
		*culprit = '\0';
	cells[COLUMN_NAME] = table_name(name);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		cells[COLUMN_NUMBERS + i] = number_cell(row, numbers[i]);
	cells[COLUMN_GAP] = table_name("");
	cells[COLUMN_CULPRIT] = table_name(culprit);
	table_row(to, cells);
}

static void vcpus_table(struct screen *screen, const struct report_summary_row *rows, size_t n,
		     size_t shown)
{
	struct table_column columns[N_COLUMNS] = {
		[COLUMN_NAME] = { .title = "vCPU" },
		[COLUMN_GAP] = { .title = "", .width = 2 },
		[COLUMN_CULPRIT] = { .title = "culprit" },
	};
	const struct table table = { .rows = { TABLE_COLUMNS(columns) } };
	struct table_writer to = { .table = &table, .format = &table_text, .out = screen->out };

	fit_columns(columns, ARRAY_SIZE(columns), screen, rows, n);
	table_flat(&to, true);
	for (size_t i = 0; i < shown; i++)
		vcpu_row(&to, screen, &rows[i]);
	table_flat_end(&to);
	if (!n)
		out_str(screen->out, "  no vCPU\n");
	if (shown < n)
		out_printf(screen->out, "  ... %zu more, sorted by %s: report --full, "
			   "--vcpu LIST or --sort COLUMN\n", n - shown,
			   report_summary_columns[screen->summary->sort]);
}

/* --- the worst moments ----------------------------------------------------------------------- */

static void put_moment(void *arg, const struct virt_finding *finding)
{
	struct screen *screen = arg;
	char text[1024] = "", before[32];

	report_moment_text(text, sizeof(text), screen->report->load->model, finding);
	snprintf(before, sizeof(before), "  %14.6f s  ", (double)finding->time_ns / 1e9);
	screen->end_lines += put_words(screen->end, OUT_PLAIN, before, text,
				       (size_t)screen->summary->width);
}

/** Kinds of moments, by name. */
static void put_kinds(struct screen *screen, const char *text, unsigned int kinds)
{
	const char *before = " ";

	if (!kinds)
		return;
	out_str(screen->end, text);
	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++) {
		if (!(kinds >> kind & 1))
			continue;
		out_str(screen->end, before);
		out_str(screen->end, virt_worst_kind_name((enum virt_worst_kind)kind));
		before = ", ";
	}
	put_line(screen->end, &screen->end_lines, "");
}

static int put_moments(struct screen *screen, const struct ksv_vcpu_set *vcpus)
{
	const struct report_worst worst = {
		.n = KSV_FEW_WORST, .apart = true,
		.kinds = 1u << VIRT_WORST_EXIT | 1u << VIRT_WORST_STEAL | 1u << VIRT_WORST_WAKE,
	};
	unsigned int visible = report_worst_visible(screen->report, worst.kinds);
	size_t before;
	int ret;

	put_part(screen->end, &screen->end_lines, "The worst moments:");
	before = screen->end_lines;
	ret = report_worst_each(screen->report, vcpus, &worst, put_moment, screen);
	if (!ret && before == screen->end_lines)
		put_kinds(screen, "  none:", visible);
	if (!ret)
		put_kinds(screen, "  unknown:", worst.kinds & ~visible);
	return ret;
}

/* --- commands -------------------------------------------------------------------------------- */

static int put_commands(struct screen *screen)
{
	static const struct {
		const char	*command, *what;
	} commands[] = {
		{ "why", "why the worst moments happened" },
		{ "report --full", "all numbers" },
		{ "plot -o vcpus.svg", "a picture" },
		{ "view", "the trace in KernelShark" },
	};
	char *files;

	/* a pipe cannot be read again */
	if (!strcmp(screen->summary->files[0], "-"))
		return 0;
	files = escape_shell_words(screen->summary->files, screen->summary->n_files);
	if (!files)
		return -ENOMEM;
	put_part(screen->end, &screen->end_lines, "Next:");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		size_t width = out_columns(commands[i].command) + out_columns(files) + 14;
		size_t at = (size_t)screen->summary->width - 34;

		out_str(screen->end, "  kshark-virt ");
		out_str(screen->end, commands[i].command);
		out_str(screen->end, files);
		if (width + 2 <= at)
			out_printf(screen->end, "%*s# %s", (int)(at - width), "",
				   commands[i].what);
		put_line(screen->end, &screen->end_lines, "");
	}
	free(files);
	return 0;
}

/* --- all of it ------------------------------------------------------------------------------- */

static int put_screen(struct screen *screen, const struct report_summary_row *rows, size_t n)
{
	size_t most = (size_t)screen->summary->lines, used, shown;
	const char *end = out_collected(screen->end);

	if (!end)
		return -ENOMEM;
	out_char(screen->out, '\n');
	/* a blank line, and the titles */
	used = screen->lines + screen->end_lines + 2;
	shown = used + n > most ? used + 1 + LEAST_ROWS > most ? LEAST_ROWS : most - used - 1 : n;
	vcpus_table(screen, rows, n, shown < n ? shown : n);
	out_str(screen->out, end);
	return 0;
}

/** The lines below the vCPUs. */
struct end {
	struct screen		*screen;
	const struct ksv_vcpu_set *vcpus;
};

static int put_end(void *arg)
{
	const struct end *end = arg;
	int ret = put_moments(end->screen, end->vcpus);

	return ret ? ret : put_commands(end->screen);
}

int report_summary_write(struct output *out, struct report *report,
			 const struct ksv_vcpu_set *vcpus, const struct report_summary *summary,
			 bool first)
{
	struct screen screen = { .out = out, .report = report, .summary = summary };
	struct end end = { &screen, vcpus };
	const struct report_summary_beside beside = { put_end, &end };
	struct report_summary_row *rows;
	ssize_t n;
	int ret = report_window(report, vcpus, VIRT_WINDOW_STATES);

	if (ret)
		return ret;
	screen.end = calloc(1, sizeof(*screen.end));
	if (!screen.end)
		return -ENOMEM;
	out_collect(screen.end);
	screen.end->color = out->color;
	report->n_pcpus = host_trace_n_pcpus(&report->load->host);
	n = report_summary_rows(report, summary->sort, &beside, &rows);
	ret = n < 0 ? (int)n : 0;
	if (!ret) {
		if (!first)
			out_char(out, '\n');
		put_head(&screen);
		put_limits(&screen);
		ret = put_screen(&screen, rows, (size_t)n);
	}
	if (n >= 0)
		free(rows);
	free(screen.end);
	return ret;
}
