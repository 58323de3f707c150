// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_screen_draw.c
 * @brief	Draw the screen.
 *
 * Nothing is written beyond the last column or line, however small the terminal is: at least the
 * first items are visible. Colours only repeat the meaning of letters and numbers.
 */
#include <inttypes.h>
#include <langinfo.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "escape.h"
#include "host_samples.h"
#include "text_columns.h"
#include "top_screen_draw.h"
#include "virt_colors.h"
#include "virt_window.h"

#define NAME_WIDTH	18
#define BAR_WIDTH	24
/** From here on there is a bar between names and numbers. */
#define BAR_FROM	70
/** Columns of numbers are right-adjusted. */
#define WIDEST_NUMBER	10
#define SECOND_NS	1000000000

/** What a state is in a bar. */
static const char letters[VIRT_N_STATES] = {
	[VIRT_GUEST] = 'G', [VIRT_HYPERVISOR] = 'H', [VIRT_POLLING] = 'L', [VIRT_VMM] = 'M',
	[VIRT_PREEMPTED] = 'P', [VIRT_WAKING] = 'W', [VIRT_BLOCKED] = '.',
	[VIRT_DEVICE_MODEL] = 'D', [VIRT_OFFLINE] = '-', [VIRT_UNKNOWN] = '?',
};

/* --- colours --------------------------------------------------------------------------------- */

static int distance(struct virt_color a, struct virt_color b)
{
	int red = a.red - b.red, green = a.green - b.green, blue = a.blue - b.blue;

	return red * red + green * green + blue * blue;
}

/** The nearest of the 6 x 6 x 6 that terminals with 256 colours have, or of the first eight. */
static short nearest(struct virt_color color)
{
	static const uint8_t levels[] = { 0, 95, 135, 175, 215, 255 };
	short best = 0;
	int least = INT32_MAX, n = COLORS >= 256 ? 216 : 8;

	for (int i = 0; i < n; i++) {
		struct virt_color one = n == 8 ? (struct virt_color){
			i & 1 ? 205 : 0, i & 2 ? 205 : 0, i & 4 ? 205 : 0,
		} : (struct virt_color){
			levels[i / 36], levels[i / 6 % 6], levels[i % 6],
		};

		if (distance(color, one) < least) {
			least = distance(color, one);
			best = (short)(n == 8 ? i : 16 + i);
		}
	}
	return best;
}

void top_screen_colors(void)
{
	if (!has_colors() || start_color() == ERR)
		return;
	use_default_colors();
	for (int state = 0; state < VIRT_N_STATES; state++) {
		struct virt_color color = virt_state_look((enum virt_state)state)->color;

		init_pair((short)(state + 1),
			  virt_color_text_is_dark(color) ? COLOR_BLACK : COLOR_WHITE,
			  nearest(color));
	}
}

/* --- text ------------------------------------------------------------------------------------ */

/** A place on the screen that text goes on from. */
struct pen {
	int	y, x;
};

static bool has_utf8(void)
{
	static int known = -1;

	if (known < 0)
		known = !strcmp(nl_langinfo(CODESET), "UTF-8");
	return known;
}

/** One character, already escaped, if it fits into @left columns. Return: how many it takes. */
static int put_char(struct pen *pen, const char *piece, size_t n, int left)
{
	mbstate_t state = { 0 };
	wchar_t wide;
	int width = 1;

	if (!has_utf8() && n && (unsigned char)*piece >= 0x80) {
		piece = "?";
		n = 1;
	} else if (n > 1 && (unsigned char)*piece >= 0x80) {
		width = mbrtowc(&wide, piece, n, &state) == n ? wcwidth(wide) : -1;
	} else {
		width = (int)n;
	}
	if (width < 0 || width > left)
		return width < 0 ? 0 : left + 1;
	mvaddnstr(pen->y, pen->x, piece, (int)n);
	pen->x += width;
	return width;
}

/** Names of others, escaped, in @width columns or less. */
static void put_name(struct pen *pen, const char *text, int width)
{
	const char *end = text + strlen(text);
	char piece[ESCAPE_PIECE];
	int end_x = pen->x + width < COLS ? pen->x + width : COLS;
	size_t n;

	if (pen->y < 0 || pen->y >= LINES)
		return;
	while ((n = escape_next(&text, end, piece)))
		if (put_char(pen, piece, n, end_x - pen->x) > end_x - pen->x)
			break;
}

/** Text of our own: ASCII. */
static void put(struct pen *pen, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct pen *pen, const char *format, ...)
{
	char text[512];
	va_list args;
	int left = COLS - pen->x;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (left > 0 && pen->y >= 0 && pen->y < LINES) {
		mvaddnstr(pen->y, pen->x, text, left);
		pen->x += (int)strlen(text) < left ? (int)strlen(text) : left;
	}
}

static void to_column(struct pen *pen, int x)
{
	pen->x = x < COLS ? x : COLS;
}

static void put_duration(struct pen *pen, int64_t ns)
{
	char text[64];

	format_duration(text, sizeof(text), ns);
	put(pen, "%s", text);
}

/* --- head ------------------------------------------------------------------------------------ */

static void put_state(struct pen *pen, const struct top_screen *screen)
{
	const struct top_status *status = &screen->status;
	int silent_s = (int)(status->silent_ns / SECOND_NS);

	if (status->state == TOP_FAILED)
		put(pen, "cannot be followed any more");
	else if (status->state == TOP_WAITING)
		put(pen, "waiting for records, %d s", silent_s);
	else if (status->state == TOP_ENDED && screen->source->is_live)
		put(pen, "has ended");
	else if (screen->source->is_live && silent_s >= 2)
		put(pen, "no data for %d s", silent_s);
	else if (screen->source->is_live)
		put(pen, "live");
	else
		put(pen, "file");
	if (screen->is_frozen)
		put(pen, screen->source->is_live ? ", frozen" : ", stopped");
}

static void draw_title(const struct top_screen *screen)
{
	struct pen pen = { 0 };

	attron(A_BOLD);
	put_state(&pen, screen);
	put(&pen, "  ");
	if (screen->interval) {
		put(&pen, "%.3f .. %.3f s", (double)screen->interval->from_ns / 1e9,
		    (double)screen->interval->to_ns / 1e9);
		put(&pen, "  (%" PRIu64 " of %" PRIu64 ")  ", screen->number + 1, screen->status.n);
	}
	put_name(&pen, screen->source->name, COLS);
	attroff(A_BOLD);
}

/** What the host's pCPUs did, if it is asked for. */
static void draw_host(struct pen *pen, const struct top_interval *interval)
{
	const char *separator = "; host: ";

	for (size_t i = 0; interval && i < interval->n; i++) {
		const struct top_fact *fact = &interval->facts[i];

		if (fact->kind != TOP_HOST_TIME || fact->id >= HOST_SAMPLE_SWITCHES || !fact->ns)
			continue;
		put(pen, "%s%s ", separator, fact->name);
		if (fact->ns == VIRT_NONE || !fact->known_ns)
			put(pen, "?");
		else
			put(pen, "%.1f", 100 * (double)fact->ns / (double)fact->known_ns);
		separator = ", ";
	}
}

static void draw_losses(const struct top_screen *screen)
{
	const struct top_count *count = &screen->status.count;
	struct pen pen = { .y = 1 };
	bool any = false;

	for (size_t i = 0; screen->interval && i < screen->interval->n; i++) {
		const struct top_fact *fact = &screen->interval->facts[i];

		if (fact->kind != TOP_LOSS)
			continue;
		put(&pen, any ? ", p%d " : "lost: p%d ", fact->pcpu);
		put_duration(&pen, fact->ns);
		if (fact->count > 0)
			put(&pen, " (%" PRId64 " records)", fact->count);
		any = true;
	}
	if (!any)
		put(&pen, "nothing lost");
	if (count->late)
		put(&pen, "; %" PRIu64 " records came too late", count->late);
	if (count->hurried)
		put(&pen, "; %" PRIu64 " taken early: no room", count->hurried);
	if (count->records)
		put(&pen, "; %" PRIu64 " records in all", count->records);
	draw_host(&pen, screen->interval);
}

/* --- columns --------------------------------------------------------------------------------- */

struct column {
	const char	*title;		/* NULL: that of TOP_WAKE_STAT */
	int		width;
	enum virt_state	state;		/* its share; VIRT_N_STATES: something else */
	void		(*put)(struct pen *pen, const struct top_row *row, double seconds);
	enum top_sort	sort;		/* TOP_SORT_NAME: by none */
};

static void put_rate(struct pen *pen, int64_t n, double seconds)
{
	double rate = seconds > 0 ? (double)n / seconds : 0;

	put(pen, rate >= 100000 ? "%7.0fk" : "%8.0f", rate >= 100000 ? rate / 1000 : rate);
}

static void put_count(struct pen *pen, int64_t n, double seconds)
{
	if (n == VIRT_NONE)
		put(pen, "%8s", "?");
	else
		put_rate(pen, n, seconds);
}

static void put_exits(struct pen *pen, const struct top_row *row, double seconds)
{
	put_count(pen, row->exits, seconds);
}

static void put_wakes(struct pen *pen, const struct top_row *row, double seconds)
{
	put_count(pen, row->wakes, seconds);
}

static void put_wake_ns(struct pen *pen, const struct top_row *row, double seconds)
{
	char text[64] = "";

	(void)seconds;
	if (row->wake_ns != VIRT_NONE)
		format_duration(text, sizeof(text), row->wake_ns);
	put(pen, "%9s", text);
}

static void put_culprit(struct pen *pen, const struct top_row *row, double seconds)
{
	(void)seconds;
	if (!row->culprit)
		return;
	put_name(pen, row->culprit, 16);
	put(pen, " ");
	put_duration(pen, row->culprit_ns);
}

static void put_reason(struct pen *pen, const struct top_row *row, double seconds)
{
	if (!row->reason)
		return;
	put_name(pen, row->reason, 20);
	put(pen, " %.0f", seconds > 0 ? (double)row->reason_count / seconds : 0);
}

static const struct column columns[] = {
	{ "guest", 6, VIRT_GUEST, NULL, TOP_SORT_GUEST },
	{ "hyp", 6, VIRT_HYPERVISOR, NULL, TOP_SORT_HYPERVISOR },
	{ "steal", 6, VIRT_PREEMPTED, NULL, TOP_SORT_STEAL },
	{ "wake", 6, VIRT_WAKING, NULL, TOP_SORT_WAKING },
	{ "block", 6, VIRT_BLOCKED, NULL, TOP_SORT_BLOCKED },
	{ "exits/s", 8, VIRT_N_STATES, put_exits, TOP_SORT_EXITS },
	{ "wakes/s", 8, VIRT_N_STATES, put_wakes, TOP_SORT_NAME },
	{ NULL, 9, VIRT_N_STATES, put_wake_ns, TOP_SORT_WAKE_NS },
	{ "?", 6, VIRT_UNKNOWN, NULL, TOP_SORT_NAME },
	{ "taken by", 28, VIRT_N_STATES, put_culprit, TOP_SORT_NAME },
	{ "exits", 28, VIRT_N_STATES, put_reason, TOP_SORT_NAME },
	{ "vmm", 6, VIRT_VMM, NULL, TOP_SORT_NAME },
	{ "poll", 6, VIRT_POLLING, NULL, TOP_SORT_NAME },
	{ "dm", 6, VIRT_DEVICE_MODEL, NULL, TOP_SORT_NAME },
	{ "offl", 6, VIRT_OFFLINE, NULL, TOP_SORT_NAME },
};

/** A column that is cut would show another number. */
static bool is_whole(int x, const struct column *column)
{
	return x + column->width <= COLS;
}

static int first_column(void)
{
	return NAME_WIDTH + (COLS >= BAR_FROM ? BAR_WIDTH + 1 : 0);
}

static const char *title_of(const struct column *column)
{
	return column->title ? column->title : virt_stat_look(TOP_WAKE_STAT)->name;
}

static void draw_header(const struct top_screen *screen)
{
	struct pen pen = { .y = 2 };

	attron(A_REVERSE);
	for (int x = 0; x < COLS; x++)
		mvaddch(pen.y, x, ' ');
	put(&pen, "%s%s", screen->view.sort == TOP_SORT_NAME ? "*" : "", "machine, vCPU");
	if (COLS >= BAR_FROM) {
		to_column(&pen, NAME_WIDTH);
		put(&pen, "states");
	}
	to_column(&pen, first_column());
	for (size_t i = 0; i < ARRAY_SIZE(columns) && is_whole(pen.x, &columns[i]); i++) {
		const struct column *column = &columns[i];
		bool sorted = column->sort != TOP_SORT_NAME && column->sort == screen->view.sort;
		char title[24];
		int x = pen.x;

		snprintf(title, sizeof(title), "%s%s", sorted ? "*" : "", title_of(column));
		if (column->width > WIDEST_NUMBER)
			put(&pen, " %s", title);
		else
			put(&pen, "%*s", column->width, title);
		to_column(&pen, x + column->width);
	}
	attroff(A_REVERSE);
}

static void draw_bar(struct pen *pen, const struct top_row *row)
{
	uint8_t states[BAR_WIDTH];

	if (!top_row_bar(row, states, BAR_WIDTH))
		return;
	for (int i = 0; i < BAR_WIDTH && pen->x + i < COLS; i++) {
		if (has_colors())
			attron(COLOR_PAIR(states[i] + 1));
		mvaddch(pen->y, pen->x + i, (chtype)letters[states[i]]);
		if (has_colors())
			attroff(COLOR_PAIR(states[i] + 1));
	}
}

static void put_share(struct pen *pen, const struct top_row *row, enum virt_state state)
{
	double share = top_row_share(row, state);

	if (row->unknown >> state & 1)
		put(pen, "%6s", "?");
	else if (share > 0)
		put(pen, "%6.1f", 100 * share);
	else if (row->known_ns > 0)
		put(pen, "%6s", "-");
}

static void draw_numbers(struct pen *pen, const struct top_row *row, double seconds)
{
	for (size_t i = 0; i < ARRAY_SIZE(columns) && is_whole(pen->x, &columns[i]); i++) {
		const struct column *column = &columns[i];
		int x = pen->x;

		if (column->width > WIDEST_NUMBER)
			pen->x++;
		if (column->put)
			column->put(pen, row, seconds);
		else
			put_share(pen, row, column->state);
		to_column(pen, x + column->width);
	}
}

/** Facts of a vCPU below its own row. */
static void draw_fact(struct pen *pen, const struct top_row *row, double seconds)
{
	static const char *const titles[TOP_N_KINDS] = {
		[TOP_STATE] = "", [TOP_UNSPLIT] = "not split: ", [TOP_EXIT] = "exit ",
		[TOP_ARGUMENT] = "exit for ",
		[TOP_WAKE] = "wake-ups", [TOP_STEAL] = "taken by ",
	};
	const struct top_fact *fact = row->fact;

	put(pen, "      %s", titles[fact->kind]);
	if (fact->name)
		put_name(pen, fact->name, 40);
	put(pen, "  ");
	if (fact->count != VIRT_NONE)
		put(pen, "%" PRId64 " (%.0f/s)  ", fact->count,
		    seconds > 0 ? (double)fact->count / seconds : 0);
	if (fact->complete != VIRT_NONE && fact->complete != fact->count)
		put(pen, "%" PRId64 " complete  ", fact->complete);
	if (fact->ns != VIRT_NONE)
		put_duration(pen, fact->ns);
	else if (top_has(fact->kind, TOP_NS))
		put(pen, "?");
	if (fact->wake_ns != VIRT_NONE) {
		put(pen, "  %s ", virt_stat_look(TOP_WAKE_STAT)->name);
		put_duration(pen, fact->wake_ns);
	}
}

static void draw_row(const struct top_screen *screen, size_t i, int y)
{
	const struct top_row *row = &screen->rows.rows[i];
	double seconds = (double)(screen->interval->to_ns - screen->interval->from_ns) / 1e9;
	struct pen pen = { .y = y };
	int attribute = (i == screen->selected ? A_REVERSE : 0) |
			(row->kind == TOP_ROW_MACHINE ? A_BOLD : 0);

	attron(attribute);
	if (row->kind == TOP_ROW_FACT) {
		draw_fact(&pen, row, seconds);
		attroff(attribute);
		return;
	}
	put(&pen, "%s%c ", row->kind == TOP_ROW_VCPU ? "  " : "", row->is_open ? '-' : '+');
	put_name(&pen, row->name, NAME_WIDTH - 1 - pen.x);
	attroff(attribute);
	if (COLS >= BAR_FROM) {
		to_column(&pen, NAME_WIDTH);
		draw_bar(&pen, row);
	}
	to_column(&pen, first_column());
	draw_numbers(&pen, row, seconds);
}

/* --- all of it ------------------------------------------------------------------------------- */

static const char *const help[] = {
	"q            quit",
	"Space        freeze, go on",
	"Left Right   an interval back or forward; [ ] the same, { } ten",
	"Home End     the first and the last one in memory",
	"Up Down      choose a row; PgUp PgDn",
	"Enter        open or close a machine or vCPU; a all machines",
	"s S          sort by the next column, the one before; r the other way round",
	"h            this help",
	"",
	"Shares are in per cent of the known time. For a machine, they are those of its",
	"vCPUs together; the latency of wake-ups is that of the worst one. In bars, a",
	"letter is a state:",
	"G guest, H hypervisor, M monitor (vmm), P preempted (steal), W woken and waiting",
	"for a pCPU, L hypervisor polls for an event, . blocked, D device model (Xen),",
	"- offline, ? unknown.",
};

static void draw_help(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(help) && (int)i < LINES; i++) {
		struct pen pen = { .y = (int)i };

		put(&pen, "%s", help[i]);
	}
}

static void draw_keys(const struct top_screen *screen)
{
	struct pen pen = { .y = LINES - 1 };
	char sort[TOP_SORT_NAME_SIZE];

	put(&pen, "q quit  Space freeze  <- -> time  Enter open  a all  s sort: %s%s  h help",
	    top_sort_name(screen->view.sort, sort), screen->view.reversed ? " (r)" : "");
}

/** The chosen row is among those that are seen. */
static void scroll_to(struct top_screen *screen, size_t n)
{
	if (screen->selected >= screen->rows.n)
		screen->selected = screen->rows.n ? screen->rows.n - 1 : 0;
	if (screen->selected < screen->top)
		screen->top = screen->selected;
	if (n && screen->selected >= screen->top + n)
		screen->top = screen->selected - n + 1;
	if (screen->top + n > screen->rows.n)
		screen->top = screen->rows.n > n ? screen->rows.n - n : 0;
}

static void draw_rows(struct top_screen *screen)
{
	/* a line for keys, if there is room */
	int first = LINES > 4 ? 3 : LINES > 1 ? 1 : LINES, last = LINES > 5 ? LINES - 1 : LINES;
	size_t n = last > first ? (size_t)(last - first) : 0;

	if (LINES > 4) {
		draw_losses(screen);
		draw_header(screen);
	}
	scroll_to(screen, n);
	for (size_t i = 0; screen->interval && i < n && screen->top + i < screen->rows.n; i++)
		draw_row(screen, screen->top + i, first + (int)i);
	if (LINES > 5)
		draw_keys(screen);
}

void top_screen_draw(struct top_screen *screen)
{
	erase();
	if (screen->shows_help) {
		draw_help();
	} else {
		draw_title(screen);
		draw_rows(screen);
	}
	refresh();
	screen->is_drawn = true;
}
