// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	view_state_options.c
 * @brief	The view that KernelShark's window begins with: time, markers, page, selection,
 *		graphs.
 *
 * "Copy > View command" writes these options. The plugins get them as a text (view_state.h), and
 * with it the arguments for which files were opened under other names.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_hypertrace.h"
#include "view.h"

/** Those of the window, as their buttons are called. */
const char *const view_page_names[] = {
	"events", "vcpus", "worst", "histograms", "exits", "steal", "why", "tables", "bookmarks",
	"search",
	NULL
};

/** What stands on one side of "..", @n bytes; without any, the time is not given. */
static bool take_end(const char *text, size_t n, int64_t *ns)
{
	char copy[64];
	struct ksv_time time;

	if (!n)
		return true;
	if (n >= sizeof(copy))
		return false;
	memcpy(copy, text, n);
	copy[n] = '\0';
	if (ksv_parse_time(copy, &time) || time.kind != KSV_TIME_NS)
		return false;
	*ns = time.ns;
	return true;
}

/** FROM..TO */
static bool take_span(const char *text, int64_t *from, int64_t *to)
{
	const char *dots = strstr(text, "..");

	return take_end(text, dots ? (size_t)(dots - text) : strlen(text), from) &&
	       (!dots || take_end(dots + 2, strlen(dots + 2), to));
}

int view_take_show(const struct ksv_command *command, const struct ksv_option *option,
		   const char *value, void *target)
{
	struct view_state *state = target;
	bool good;

	state->from_ns = state->to_ns = VIEW_STATE_NO_TIME;
	good = take_span(value, &state->from_ns, &state->to_ns);
	if (good && state->from_ns != VIEW_STATE_NO_TIME && state->from_ns < state->to_ns)
		return 0;
	return ksv_usage_error(command, "--%s %s: not FROM..TO, two times of the trace",
			       option->name, value);
}

int view_take_mark(const struct ksv_command *command, const struct ksv_option *option,
		   const char *value, void *target)
{
	struct view_state *state = target;

	state->a_ns = state->b_ns = VIEW_STATE_NO_TIME;
	if (take_span(value, &state->a_ns, &state->b_ns) &&
	    (state->a_ns != VIEW_STATE_NO_TIME || state->b_ns != VIEW_STATE_NO_TIME))
		return 0;
	return ksv_usage_error(command, "--%s %s: not A..B, two times of the trace, or one of "
			       "them", option->name, value);
}

/** Arguments live longer; copied, so that all of a state is freed alike. */
static int keep(char **to, const char *text)
{
	free(*to);
	*to = strdup(text);
	if (*to)
		return 0;
	ksv_error("not enough memory");
	return KSV_EXIT_FILE;
}

int view_take_page(const struct ksv_command *command, const struct ksv_option *option,
		   const char *value, void *target)
{
	struct view_state *state = target;
	int page, status = ksv_take_choice(command, option, value, &page);

	return status ? status : keep(&state->page, view_page_names[page]);
}

/** "N:", which file, counted from 1. Return: the text after it; @file: from 0, or -1 without it. */
static const char *take_file(const char *text, int32_t *file)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long long number = strtoull(text, NULL, 10);

	*file = -1;
	if (!digits || text[digits] != ':')
		return text;
	*file = number && number <= INT32_MAX ? (int32_t)number - 1 : INT32_MAX;
	return text + digits + 1;
}

/** A number and, after a dash, another one, which is not lower. Return: the text after them. */
static const char *take_range(const char *text, long *from, long *to)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	*from = *to = strtol(text, &end, 10);
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		*to = strtol(end + 1, &end, 10);
	return errno || *from > *to || *to >= INT32_MAX ? NULL : end;
}

int view_take_select(const struct ksv_command *command, const struct ksv_option *option,
		     const char *value, void *target)
{
	struct view_state *state = target;
	const char *who, *end = NULL;
	long number, last;
	int32_t file;
	bool is_pcpu;

	who = take_file(value, &file);
	is_pcpu = !strncmp(who, "pcpu", 4);
	if (is_pcpu || !strncmp(who, "task", 4))
		end = take_range(who + 4, &number, &last);
	if (end && !*end && number == last) {
		state->why_pcpu = is_pcpu ? (int32_t)number : -1;
		state->why_task = is_pcpu ? -1 : (int32_t)number;
		state->why_file = file;
		return 0;
	}
	state->select_file = file;
	if (*who)
		return keep(&state->select, who);
	return ksv_usage_error(command, "--%s %s: not a vCPU or machine, pcpuN or taskN",
			       option->name, value);
}

/** cpu0-3, task412, none. Return: the text after it, or NULL; @ret: receives -ENOMEM or 0. */
static const char *take_graph(const char *text, int32_t file, struct view_state *state, int *ret)
{
	bool is_cpu = !strncmp(text, "cpu", 3), is_task = !strncmp(text, "task", 4);
	struct view_state_graph graph = { .file = file, .cpu = -1, .task = -1 };
	const char *rest;
	long from, to;

	if (!strncmp(text, "none", 4)) {
		*ret = view_state_add_graph(state, &graph);
		return text + 4;
	}
	rest = is_cpu || is_task ? take_range(text + (is_cpu ? 3 : 4), &from, &to) : NULL;
	if (rest && (size_t)(to - from) >= VIEW_STATE_GRAPHS - state->n_graphs)
		return NULL;
	for (long i = from; rest && i <= to && !*ret; i++) {
		*(is_cpu ? &graph.cpu : &graph.task) = (int32_t)i;
		*ret = view_state_add_graph(state, &graph);
	}
	return rest;
}

int view_take_graphs(const struct ksv_command *command, const struct ksv_option *option,
		     const char *value, void *target)
{
	struct view_state *state = target;
	int32_t file;
	const char *rest = take_file(value, &file);
	int ret = 0;

	do {
		rest = take_graph(rest, file < 0 ? 0 : file, state, &ret);
	} while (rest && !ret && *rest == ',' && rest++);
	if (ret)
		ksv_error("not enough memory");
	if (ret || (rest && !*rest))
		return ret ? KSV_EXIT_FILE : 0;
	return ksv_usage_error(command, "--%s %s: not a list such as cpu0-3,task412, or none",
			       option->name, value);
}

int view_take_scroll(const struct ksv_command *command, const struct ksv_option *option,
		     const char *value, void *target)
{
	struct view_state *state = target;
	size_t pixels = 0;
	int status = ksv_take_number(command, option, value, 0, INT32_MAX, &pixels);

	state->scroll = status ? -1 : (int32_t)pixels;
	return status;
}

bool view_wants_state(const struct view_state *state)
{
	return state->page || state->select || state->why_pcpu >= 0 || state->why_task >= 0 ||
	       state->n_graphs || state->scroll >= 0 ||
	       state->from_ns != VIEW_STATE_NO_TIME || state->a_ns != VIEW_STATE_NO_TIME ||
	       state->b_ns != VIEW_STATE_NO_TIME || state->a_to_b;
}

bool view_check_state(const struct ksv_command *command, const struct view_state *state, int n)
{
	int32_t most = state->select_file > state->why_file ? state->select_file :
							      state->why_file;

	for (size_t i = 0; i < state->n_graphs; i++)
		if (state->graphs[i].file > most)
			most = state->graphs[i].file;
	if (most < n)
		return true;
	ksv_usage_error(command, "--select and --graphs: there is no file %lld of %d",
			(long long)most + 1, n);
	return false;
}

/* --- handing over ---------------------------------------------------------------------------- */

/** An option, and its value or NULL. */
static int add_option(struct view_state *state, const char *name, const char *value)
{
	int ret = view_state_add_word(state, name);

	return ret || !value ? ret : view_state_add_word(state, value);
}

/** A path that holds in any folder. */
static int add_path_option(struct view_state *state, const char *name, const char *path)
{
	char *real = realpath(path, NULL);
	int ret = add_option(state, name, real ? real : path);

	free(real);
	return ret;
}

static int add_time(struct view_state *state, const char *name, const struct ksv_time *time)
{
	char text[40];

	if (time->kind == KSV_TIME_NONE)
		return 0;
	if (time->kind == KSV_TIME_TSC)
		snprintf(text, sizeof(text), "tsc:%llu", (unsigned long long)time->tsc);
	else
		snprintf(text, sizeof(text), "%lldns", (long long)time->ns);
	return add_option(state, name, text);
}

static int add_words(struct view_state *state, const struct view_start *start,
		     const struct view_files *files, const struct view_window *part)
{
	const struct view_guests *guests = &files->guests;
	bool is_file = guests->dialect && host_hypertrace_is_file(guests->dialect);
	int ret = 0;

	if (part)
		ret = add_time(state, "--from", &part->from);
	if (!ret && part)
		ret = add_time(state, "--to", &part->to);
	if (!ret && guests->dialect)
		ret = (is_file ? add_path_option : add_option)(state, "--hypertrace",
							      guests->dialect);
	if (!ret && guests->kallsyms)
		ret = add_path_option(state, "--kallsyms", guests->kallsyms);
	if (!ret && start->no_hypertrace)
		ret = add_option(state, "--no-hypertrace", NULL);
	return ret;
}

int view_write_state(struct view_start *start, const struct view_files *files,
		     const struct view_window *part)
{
	struct view_state *state = &start->state;
	int ret = add_words(state, start, files, part);

	for (int i = 0; i < files->n_names && !ret; i++) {
		const char *given = i < files->n ? files->given[i] : NULL;
		char *real = given && strcmp(given, "-") != 0 ? realpath(given, NULL) : NULL;

		ret = view_state_add_file(state, files->names[i], real ? real : given);
		free(real);
	}
	for (int i = 0; i < start->n_extra && !ret; i++)
		ret = view_state_add_extra(state, start->extra[i]);
	start->view = ret ? NULL : view_state_write(state);
	return start->view ? 0 : -ENOMEM;
}
