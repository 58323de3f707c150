// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_summary.c
 * @brief	The first answer of kshark-virt report: one screen about a trace.
 *
 * The limits of the recording come first, then the vCPUs, the worst moments, and commands that show
 * more. The screen has a fixed number of lines: vCPUs get the lines that the other parts leave.
 */
#include <errno.h>
#include <stdarg.h>
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
#define LEAST_LINES	24
#define MOST_LINES	40

/** Lines about the limits of the recording. */
#define MOST_LIMITS	9

/** Rows of vCPUs on the smallest screen. */
#define LEAST_ROWS	3

/** Size of the name of a vCPU or culprit. */
#define MOST_NAME	96

enum column {
	COLUMN_STEAL = 0, COLUMN_WAITING, COLUMN_GUEST, COLUMN_HYPERVISOR, COLUMN_BLOCKED,
	COLUMN_EXITS, COLUMN_MIGRATIONS, COLUMN_VCPU, N_COLUMNS
};

const char *const report_summary_columns[] = {
	[COLUMN_STEAL] = "steal", [COLUMN_WAITING] = "waiting", [COLUMN_GUEST] = "guest",
	[COLUMN_HYPERVISOR] = "hypervisor", [COLUMN_BLOCKED] = "blocked",
	[COLUMN_EXITS] = "exits", [COLUMN_MIGRATIONS] = "migrations", [COLUMN_VCPU] = "vcpu",
	[N_COLUMNS] = NULL
};

/** The states of the columns that are shares of time. */
static const int states[N_COLUMNS] = {
	[COLUMN_STEAL] = VIRT_PREEMPTED, [COLUMN_GUEST] = VIRT_GUEST,
	[COLUMN_HYPERVISOR] = VIRT_HYPERVISOR, [COLUMN_BLOCKED] = VIRT_BLOCKED,
};

/** A vCPU. */
struct row {
	int32_t		vcpu;
	const char	*culprit;		/* or NULL */
	ssize_t		place;			/* in the order of the full report */
	int64_t		value[N_COLUMNS];	/* VIRT_NONE: unknown */
	int64_t		whole[N_COLUMNS];	/* of a share or a rate: the time it refers to */
};

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
 * Put words into lines. @text is escaped already. @out: NULL to count only. Return: the number of
 * lines.
 */
static size_t put_words(struct output *out, const char *before, const char *text, size_t width)
{
	size_t indent = strlen(before), at = indent, lines = 1;

	if (out)
		out_str(out, before);
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

/* --- limits of the recording ----------------------------------------------------------------- */

/** Lines about them, MOST_LIMITS at most. */
struct limits {
	struct screen	*screen;
	size_t		lines, left_out;
};

/** Write a limit if its lines fit. @text: escaped; only its first line is written */
static void put_limit(struct limits *limits, const char *before, const char *text, size_t size)
{
	struct screen *screen = limits->screen;
	size_t width = (size_t)screen->summary->width, lines;
	char line[2048];

	snprintf(line, sizeof(line), "%.*s", (int)size, text);
	lines = put_words(NULL, before, line, width);
	if (limits->left_out || limits->lines + lines > MOST_LIMITS) {
		limits->left_out++;
		return;
	}
	put_words(screen->out, before, line, width);
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

	out_text(screen->out, report->file);
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

static void fill_row(struct row *row, const struct report *report, int32_t vcpu,
		     const struct virt_window_stats *stats)
{
	const struct virt_dist *waits = &stats->waits.whole;
	bool has_culprit = stats->n_culprits && report_knows(report, VIRT_NUMBER_CULPRITS);

	row->vcpu = vcpu;
	row->culprit = has_culprit ? report_who(report, stats->culprits[0].vcpu) : NULL;
	for (int i = 0; i < N_COLUMNS; i++) {
		row->value[i] = report_knows_state(report, (enum virt_state)states[i]) ?
				stats->states[states[i]].ns : VIRT_NONE;
		row->whole[i] = virt_window_share_base(stats, states[i]);
	}
	row->value[COLUMN_WAITING] = waits->count && report_knows(report, VIRT_NUMBER_RUNNABLE) ?
				     waits->p99 : VIRT_NONE;
	row->value[COLUMN_EXITS] = report_knows(report, VIRT_NUMBER_EXITS) ?
				   (int64_t)stats->exits : VIRT_NONE;
	row->whole[COLUMN_EXITS] = stats->known_ns;
	row->value[COLUMN_MIGRATIONS] = report_knows(report, VIRT_NUMBER_MIGRATIONS) ?
					(int64_t)stats->migrations : VIRT_NONE;
	row->value[COLUMN_VCPU] = 0;
}

/** The column that compare_rows() compares first. */
static int sort_by;

/** The larger number comes first, an unknown one last. */
static int compare_column(const struct row *a, const struct row *b, int column)
{
	bool is_ratio = column != COLUMN_WAITING && column != COLUMN_MIGRATIONS &&
			column != COLUMN_VCPU;
	double x = (double)a->value[column], y = (double)b->value[column];

	if (is_ratio && x > 0)
		x /= (double)a->whole[column];
	if (is_ratio && y > 0)
		y /= (double)b->whole[column];
	return (x < y) - (x > y);
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	const int order[] = { sort_by, COLUMN_STEAL, COLUMN_WAITING };

	for (size_t i = 0; i < ARRAY_SIZE(order) && sort_by != COLUMN_VCPU; i++) {
		int difference = compare_column(x, y, order[i]);

		if (difference)
			return difference;
	}
	return (x->place > y->place) - (x->place < y->place);
}

/** Return: their number in @rows, or -ENOMEM. */
static ssize_t find_rows(const struct report *report, int sort, struct row **rows)
{
	const struct virt_model *model = report->load->model;
	ssize_t found = 0;

	*rows = calloc((size_t)virt_model_n_vcpus(model) + 1, sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		for (int32_t i = 0; i < machine->n_vcpus; i++) {
			int32_t vcpu = machine->vcpus[i];

			if (!virt_window_walk_wants(report->walk, vcpu))
				continue;
			(*rows)[found].place = found;
			fill_row(&(*rows)[found++], report, vcpu,
				 virt_window_walk_vcpu(report->walk, vcpu));
		}
	}
	if (virt_window_walk_error(report->walk)) {
		free(*rows);
		return -ENOMEM;
	}
	sort_by = sort;
	qsort(*rows, (size_t)found, sizeof(**rows), compare_rows);
	return found;
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

static const char *vcpu_name(const struct report *report, const struct row *row)
{
	return virt_model_vcpu(report->load->model, row->vcpu)->name;
}

/** Set the widths of the columns; the last one gets the rest of the line. */
static void fit_columns(struct table_column *columns, size_t n, struct screen *screen,
			const struct row *rows, size_t n_rows)
{
	bool is_wide = screen->summary->width >= MOST_WIDTH;
	size_t most = is_wide ? 20 : 12, left = (size_t)screen->summary->width - 2;

	columns[0].width = strlen(columns[0].title);
	for (size_t i = 0; i < n_rows; i++) {
		size_t size = out_columns(vcpu_name(screen->report, &rows[i]));

		if (size > columns[0].width)
			columns[0].width = size > most ? most : size;
	}
	columns[0].width++;	/* a blank behind the longest name */
	if (is_wide) {
		columns[2].title = "hypervisor";
		columns[2].width = strlen(columns[2].title);
		columns[7].title = "migrations";
		columns[7].width = strlen(columns[7].title);
	}
	left -= columns[0].width;
	for (size_t i = 1; i + 1 < n; i++)
		left -= columns[i].width + (columns[i].type != TABLE_NAME);
	screen->culprit_width = left;
}

static void put_row(struct table_writer *to, const struct screen *screen, const struct row *row)
{
	const struct report *report = screen->report;
	char name[MOST_NAME], culprit[MOST_NAME] = "-";

	cut_name(name, vcpu_name(report, row), to->table->rows.columns[0].width - 1);
	if (row->culprit)
		cut_name(culprit, row->culprit, screen->culprit_width);
	else if (!row->value[COLUMN_STEAL])
		*culprit = '\0';
	table_row(to, (const struct table_cell[]){
		table_name(name),
		table_share(row->value[COLUMN_GUEST], row->whole[COLUMN_GUEST]),
		table_share(row->value[COLUMN_HYPERVISOR], row->whole[COLUMN_HYPERVISOR]),
		table_share(row->value[COLUMN_STEAL], row->whole[COLUMN_STEAL]),
		table_number(row->value[COLUMN_WAITING]),
		table_share(row->value[COLUMN_BLOCKED], row->whole[COLUMN_BLOCKED]),
		table_share(row->value[COLUMN_EXITS], row->whole[COLUMN_EXITS]),
		table_number(row->value[COLUMN_MIGRATIONS]),
		table_name(""), table_name(culprit),
	});
}

static void put_rows(struct screen *screen, const struct row *rows, size_t n, size_t shown)
{
	struct table_column columns[] = {
		{ .title = "vCPU" },
		{ .title = "guest", .type = TABLE_SHARE, .brief = true, .width = 7 },
		{ .title = "hyp.", .type = TABLE_SHARE, .brief = true, .width = 7 },
		{ .title = "steal", .type = TABLE_SHARE, .brief = true, .width = 7 },
		{ .title = "wait p99", .type = TABLE_NS, .width = 8 },
		{ .title = "blocked", .type = TABLE_SHARE, .brief = true, .width = 7 },
		{ .title = "exits/s", .type = TABLE_PER_SECOND, .width = 7 },
		{ .title = "migr.", .type = TABLE_COUNT, .width = 6 },
		{ .title = "", .width = 2 },
		{ .title = "culprit" },
	};
	const struct table table = { .rows = { TABLE_COLUMNS(columns) } };
	struct table_writer to = { .table = &table, .format = &table_text, .out = screen->out };

	fit_columns(columns, ARRAY_SIZE(columns), screen, rows, n);
	table_begin(&to, true);
	table_group(&to, NULL);
	for (size_t i = 0; i < shown; i++)
		put_row(&to, screen, &rows[i]);
	table_group_end(&to);
	table_end(&to);
	if (!n)
		out_str(screen->out, "  no vCPU\n");
	if (shown < n)
		out_printf(screen->out, "  ... %zu more vCPUs, sorted by %s: report --full, or "
			   "--vcpu LIST, or --sort COLUMN\n", n - shown,
			   report_summary_columns[screen->summary->sort]);
}

/* --- the worst moments ----------------------------------------------------------------------- */

static size_t add(char *text, size_t n, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static size_t add(char *text, size_t n, size_t size, const char *format, ...)
{
	va_list args;
	int more;

	va_start(args, format);
	more = n < size ? vsnprintf(text + n, size - n, format, args) : 0;
	va_end(args);
	return n + (more > 0 ? (size_t)more : 0);
}

/** The parts of the cost of an exit: all time but the waits that the guest asked for. */
static void add_parts(char *text, size_t n, size_t size, const struct virt_moment *moment)
{
	static const enum virt_state costs[] = {
		VIRT_HYPERVISOR, VIRT_VMM, VIRT_PREEMPTED, VIRT_WAKING,
	};
	const char *before = ": ";

	char time[32];

	for (size_t i = 0; i < ARRAY_SIZE(costs); i++) {
		if (!moment->state_ns[costs[i]])
			continue;
		format_duration(time, sizeof(time), moment->state_ns[costs[i]]);
		n = add(text, n, size, "%s%s %s", before, virt_state_name(costs[i]), time);
		before = ", ";
	}
	if (!moment->unasked_ns)
		return;
	format_duration(time, sizeof(time), moment->unasked_ns);
	add(text, n, size, "%skept waiting %s", before, time);
}

/** Describe a moment in a sentence. Names are escaped. */
static void moment_text(char *text, size_t size, const struct virt_finding *finding)
{
	const struct virt_moment *moment = &finding->moment;
	const char *least = moment->begun && moment->complete ? "" : "at least ";
	char vcpu[256], what[256], cost[32], time[32], pcpu[32] = "a pCPU";
	size_t n = 0;

	escape_text(vcpu, sizeof(vcpu), finding->vcpu);
	escape_text(what, sizeof(what), finding->what);
	format_duration(cost, sizeof(cost), moment->cost_ns);
	format_duration(time, sizeof(time), moment->who_ns);
	if (moment->pcpu >= 0)
		snprintf(pcpu, sizeof(pcpu), "pCPU %d", moment->pcpu);
	switch (moment->kind) {
	case VIRT_WORST_STEAL:
		n = add(text, n, size, "%s was preempted and waited %s%s for %s", vcpu, least,
			cost, pcpu);
		if (moment->who_ns)
			add(text, n, size, "; %s had it for %s", what, time);
		break;
	case VIRT_WORST_WAKE:
		add(text, n, size, "%s was woken and waited %s%s until it ran on %s", vcpu,
		    least, cost, pcpu);
		break;
	default:
		n = add(text, n, size, "%s left its guest on %s (%s), which cost %s%s", vcpu,
			pcpu, *what ? what : "for an unknown reason", least, cost);
		add_parts(text, n, size, moment);
	}
}

static void put_moment(void *arg, const struct virt_finding *finding)
{
	struct screen *screen = arg;
	char text[1024] = "", before[32];

	moment_text(text, sizeof(text), finding);
	snprintf(before, sizeof(before), "  %14.6f s  ", (double)finding->time_ns / 1e9);
	screen->end_lines += put_words(screen->end, before, text,
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
		.n = KSV_FEW_WORST,
		.kinds = 1u << VIRT_WORST_EXIT | 1u << VIRT_WORST_STEAL | 1u << VIRT_WORST_WAKE,
	};
	unsigned int visible = report_worst_visible(screen->report, worst.kinds);
	size_t before;
	int ret;

	put_line(screen->end, &screen->end_lines, "\nThe worst moments:");
	screen->end_lines++;
	before = screen->end_lines;
	ret = report_worst_each(screen->report, vcpus, &worst, put_moment, screen);
	if (!ret && before == screen->end_lines)
		put_kinds(screen, "  none:", visible);
	if (!ret)
		put_kinds(screen, "  unknown:", worst.kinds & ~visible);
	return ret;
}

/* --- commands -------------------------------------------------------------------------------- */

/** The arguments that name the trace, for a shell. Return: to be freed, or NULL. */
static char *files_text(const struct report_summary *summary)
{
	char *text = calloc(1, 1);

	for (int i = 0; text && i < summary->n_files; i++) {
		char *word = escape_shell_dup(summary->files[i]), *longer = NULL;

		if (word && asprintf(&longer, "%s %s", text, word) < 0)
			longer = NULL;
		free(word);
		free(text);
		text = longer;
	}
	return text;
}

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
	files = files_text(screen->summary);
	if (!files)
		return -ENOMEM;
	put_line(screen->end, &screen->end_lines, "\nNext:");
	screen->end_lines++;
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

static int put_screen(struct screen *screen, const struct row *rows, size_t n)
{
	size_t most = (size_t)screen->summary->lines, used, shown;
	const char *end = out_collected(screen->end);

	if (!end)
		return -ENOMEM;
	out_char(screen->out, '\n');
	/* a blank line, and the titles */
	used = screen->lines + screen->end_lines + 2;
	shown = used + n > most ? used + 1 + LEAST_ROWS > most ? LEAST_ROWS : most - used - 1 : n;
	put_rows(screen, rows, n, shown < n ? shown : n);
	out_str(screen->out, end);
	return 0;
}

int report_summary_write(struct output *out, struct report *report,
			 const struct ksv_vcpu_set *vcpus, const struct report_summary *summary,
			 bool first)
{
	struct screen screen = { .out = out, .report = report, .summary = summary };
	struct row *rows = NULL;
	ssize_t n = 0;
	int ret = report_window(report, vcpus, VIRT_WINDOW_STATES);

	if (ret)
		return ret;
	screen.end = calloc(1, sizeof(*screen.end));
	if (!screen.end)
		return -ENOMEM;
	out_collect(screen.end);
	report->n_pcpus = host_trace_n_pcpus(&report->load->host);
	ret = put_moments(&screen, vcpus);
	if (!ret)
		ret = put_commands(&screen);
	if (!ret)
		n = find_rows(report, summary->sort, &rows);
	if (!ret && n < 0)
		ret = -ENOMEM;
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
