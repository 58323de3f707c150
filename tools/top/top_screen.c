// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_screen.c
 * @brief	Show intervals on a terminal: the actions of keys, and the choice of the interval.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "top_follow.h"
#include "top_screen_draw.h"

#include <term.h>

/** How often it looks for keys, signals and news. */
#define KEY_MS		100

/* --- which interval -------------------------------------------------------------------------- */

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/** The interval of a number, or the next one that is there, is shown. */
static int show_number(struct top_screen *screen, uint64_t number)
{
	const struct top_screen_source *source = screen->source;
	const struct top_status *status = &screen->status;
	const struct top_interval *interval;

	if (!status->n)
		return 0;
	if (number < status->first)
		number = status->first;
	if (number >= status->n)
		number = status->n - 1;
	interval = source->get(source->self, number);
	if (!interval)
		return 0;
	source->put(source->self, screen->interval);
	screen->interval = interval;
	screen->number = number;
	screen->is_drawn = false;
	return top_rows_make(&screen->rows, interval, &screen->view);
}

static int again(struct top_screen *screen)
{
	screen->is_drawn = false;
	return screen->interval ? top_rows_make(&screen->rows, screen->interval, &screen->view) : 0;
}

/** What is shown as time goes by. */
static int follow(struct top_screen *screen)
{
	const struct top_screen_source *source = screen->source;
	const struct top_status *status = &screen->status;

	if (!screen->interval)
		return show_number(screen, source->is_live ? status->n : 0);
	if (screen->is_frozen)
		return 0;
	if (source->is_live)
		return screen->number + 1 < status->n ? show_number(screen, status->n) : 0;
	if (screen->number + 1 >= status->n) {
		screen->is_frozen = true;
		screen->is_drawn = false;
	} else if (now_ns() - screen->shown_ns >= source->interval_ns) {
		screen->shown_ns = now_ns();
		return show_number(screen, screen->number + 1);
	}
	return 0;
}

/* --- keys ------------------------------------------------------------------------------------ */

static int move_by(struct top_screen *screen, int64_t n)
{
	uint64_t number = screen->number;

	screen->is_frozen = true;
	if (n < 0)
		number = number < (uint64_t)-n ? 0 : number - (uint64_t)-n;
	else
		number += (uint64_t)n;
	return show_number(screen, number);
}

static int on_time(struct top_screen *screen, int key)
{
	switch (key) {
	case ' ':
		screen->is_frozen = !screen->is_frozen;
		screen->shown_ns = now_ns();
		return again(screen);
	case KEY_LEFT:
	case '[':
		return move_by(screen, -1);
	case KEY_RIGHT:
	case ']':
		return move_by(screen, 1);
	case '{':
		return move_by(screen, -10);
	case '}':
		return move_by(screen, 10);
	case KEY_HOME:
	case 'g':
		return move_by(screen, INT32_MIN);
	case KEY_END:
	case 'G':
		if (move_by(screen, INT32_MAX))
			return -ENOMEM;
		screen->is_frozen = !screen->source->is_live;
		return 0;
	default:
		return 0;
	}
}

static void select_by(struct top_screen *screen, int n)
{
	int64_t at = (int64_t)screen->selected + n;
	int64_t last = (int64_t)screen->rows.n - 1;

	at = at > last ? last : at;
	screen->selected = at < 0 ? 0 : (size_t)at;
	screen->is_drawn = false;
}

/** The row that a fact stands below counts for it. */
static int toggle(struct top_screen *screen)
{
	size_t at = screen->selected;

	if (at >= screen->rows.n)
		return 0;
	while (at && screen->rows.rows[at].kind == TOP_ROW_FACT)
		at--;
	screen->selected = at;
	if (top_view_toggle(&screen->view, &screen->rows.rows[at]))
		return -ENOMEM;
	return again(screen);
}

static int on_rows(struct top_screen *screen, int key)
{
	switch (key) {
	case KEY_UP:
	case 'k':
		select_by(screen, -1);
		return 0;
	case KEY_DOWN:
	case 'j':
		select_by(screen, 1);
		return 0;
	case KEY_PPAGE:
		select_by(screen, -LINES / 2);
		return 0;
	case KEY_NPAGE:
		select_by(screen, LINES / 2);
		return 0;
	case '\n':
	case '\r':
	case KEY_ENTER:
		return toggle(screen);
	case 'a':
		top_view_toggle_all(&screen->view);
		return again(screen);
	case 's':
		screen->view.sort = (screen->view.sort + 1) % TOP_N_SORTS;
		return again(screen);
	case 'S':
		screen->view.sort = (screen->view.sort + TOP_N_SORTS - 1) % TOP_N_SORTS;
		return again(screen);
	case 'r':
		screen->view.reversed = !screen->view.reversed;
		return again(screen);
	default:
		return on_time(screen, key);
	}
}

/** Return: 1: enough; 0, or -ENOMEM. */
static int on_key(struct top_screen *screen, int key)
{
	switch (key) {
	case ERR:
		return 0;
	case 'q':
	case 'Q':
	case 3:		/* Ctrl-C, if it is no signal here */
		return 1;
	case 'h':
	case '?':
	case KEY_F(1):
		screen->shows_help = !screen->shows_help;
		screen->is_drawn = false;
		return 0;
	case KEY_RESIZE:
	case 12:	/* Ctrl-L */
		clearok(curscr, TRUE);
		screen->is_drawn = false;
		return 0;
	default:
		if (screen->shows_help) {
			screen->shows_help = false;
			return again(screen);
		}
		return on_rows(screen, key);
	}
}

/* --- the terminal ---------------------------------------------------------------------------- */

/** Keys come from the terminal, whatever standard input is. Return: NULL if there is none. */
static FILE *open_keys(void)
{
	int fd = isatty(STDIN_FILENO) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) :
		 open("/dev/tty", O_RDONLY | O_CLOEXEC);
	FILE *keys = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (!keys && fd >= 0)
		close(fd);
	return keys;
}

bool top_screen_can(void)
{
	FILE *keys = isatty(STDOUT_FILENO) ? open_keys() : NULL;
	int error;
	bool can = keys && setupterm(NULL, STDOUT_FILENO, &error) == OK &&
		   tigetstr("cup") != (char *)-1 && tigetstr("cup");

	if (keys)
		fclose(keys);
	return can;
}

static void prepare(void)
{
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	curs_set(0);
	timeout(KEY_MS);
	top_screen_colors();
}

static int loop(struct top_screen *screen)
{
	const struct top_screen_source *source = screen->source;
	int ret = 0;

	while (!ret && !top_follow_is_over()) {
		int64_t silent_s = screen->status.silent_ns / 1000000000;
		enum top_state state = screen->status.state;

		source->wait(source->self, 0, 0, &screen->status);
		/* what is said of silence, or of the end, changes while nothing comes */
		screen->is_drawn &= state == screen->status.state &&
				    silent_s == screen->status.silent_ns / 1000000000;
		ret = follow(screen);
		if (!ret && !screen->is_drawn)
			top_screen_draw(screen);
		if (!ret)
			ret = on_key(screen, getch());
	}
	return ret < 0 ? ret : 0;
}

int top_screen_show(const struct top_screen_source *source, struct top_status *status)
{
	/* a file's first interval stays until time is let go */
	struct top_screen screen = { .source = source, .is_frozen = !source->is_live };
	FILE *keys = open_keys();
	SCREEN *terminal = keys ? newterm(NULL, stdout, keys) : NULL;
	int ret;

	if (!terminal) {
		if (keys)
			fclose(keys);
		return -ENOTTY;
	}
	set_term(terminal);
	prepare();
	ret = loop(&screen);
	endwin();
	delscreen(terminal);
	fclose(keys);
	source->put(source->self, screen.interval);
	source->wait(source->self, 0, 0, status);
	top_rows_free(&screen.rows);
	top_view_free(&screen.view);
	return ret;
}
