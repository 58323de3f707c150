// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	view_state.c
 * @brief	The view with which "kshark-virt view" wants the window to begin, as a text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "json_fields.h"
#include "json_read.h"
#include "view_state.h"

/** Sums and differences of two times fit. */
#define MOST_NS		(INT64_MAX / 4)

#define AN_INDEX(key, type, member)							\
	JSON_A_NUMBER(key, type, member, -1, 0, VIEW_STATE_MOST), .strict = true
#define A_TIME(key, member)								\
	JSON_A_NUMBER(key, struct view_state, member, VIEW_STATE_NO_TIME, -MOST_NS, MOST_NS), \
	.strict = true

static const struct json_field graph_fields[] = {
	{ AN_INDEX("file", struct view_state_graph, file), .must = true },
	{ AN_INDEX("cpu", struct view_state_graph, cpu) },
	{ AN_INDEX("task", struct view_state_graph, task) },
	JSON_FIELDS_END
};

static const struct json_field file_fields[] = {
	{ JSON_A_TEXT("opened", struct view_state_file, opened), .must = true },
	{ JSON_A_TEXT("given", struct view_state_file, given) },
	JSON_FIELDS_END
};

static const struct json_field word_fields[] = {
	{ JSON_A_TEXT("text", struct view_state_word, text), .must = true },
	JSON_FIELDS_END
};

static const struct json_field fields[] = {
	{ JSON_A_TEXT("page", struct view_state, page) },
	{ JSON_A_TEXT("select", struct view_state, select) },
	{ AN_INDEX("select_file", struct view_state, select_file) },
	{ AN_INDEX("why_pcpu", struct view_state, why_pcpu) },
	{ AN_INDEX("why_task", struct view_state, why_task) },
	{ AN_INDEX("why_file", struct view_state, why_file) },
	{ AN_INDEX("scroll", struct view_state, scroll) },
	{ A_TIME("from_ns", from_ns) },
	{ A_TIME("to_ns", to_ns) },
	{ A_TIME("a_ns", a_ns) },
	{ A_TIME("b_ns", b_ns) },
	{ JSON_A_FLAG("a_to_b", struct view_state, a_to_b) },
	{ JSON_A_LIST("graphs", struct view_state, graphs, n_graphs, graphs_room, graph_fields),
	  .most = VIEW_STATE_GRAPHS },
	{ JSON_A_LIST("files", struct view_state, files, n_files, files_room, file_fields) },
	{ JSON_A_LIST("words", struct view_state, words, n_words, words_room, word_fields) },
	{ JSON_A_LIST("extra", struct view_state, extra, n_extra, extra_room, word_fields) },
	JSON_FIELDS_END
};

void view_state_init(struct view_state *state)
{
	*state = (struct view_state){
		.select_file = -1, .why_pcpu = -1, .why_task = -1, .why_file = -1, .scroll = -1,
		.from_ns = VIEW_STATE_NO_TIME, .to_ns = VIEW_STATE_NO_TIME,
		.a_ns = VIEW_STATE_NO_TIME, .b_ns = VIEW_STATE_NO_TIME,
	};
}

char *view_state_write(const struct view_state *state)
{
	struct json_object *root = json_object_new_object();
	char *text = NULL;

	if (root && !json_fields_write(root, fields, state))
		text = strdup(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN |
							     JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(root);
	return text;
}

int view_state_read(const char *text, struct view_state *state, char *error, size_t size)
{
	struct json_object *root;
	struct json_wrong wrong = { 0 };
	size_t n_graphs;
	int ret;

	view_state_init(state);
	ret = json_read_text(VIEW_STATE, text, strlen(text), &root, error, size);
	if (ret)
		return ret == -ENOMEM ? ret : -EINVAL;
	memset(state, 0, sizeof(*state));
	ret = json_fields_read(root, fields, state, &wrong);
	/* those that cannot be are left out */
	json_list_member(root, "graphs", &n_graphs);
	if (!ret && n_graphs != state->n_graphs) {
		wrong.key = "graphs";
		ret = -EINVAL;
	}
	json_object_put(root);
	if (!ret && ((state->from_ns == VIEW_STATE_NO_TIME) !=
		     (state->to_ns == VIEW_STATE_NO_TIME) || state->from_ns > state->to_ns)) {
		wrong.key = "from_ns";
		ret = -EINVAL;
	}
	if (ret == -ENOMEM)
		text_format(error, size, VIEW_STATE ": not enough memory");
	else if (ret)
		text_format(error, size, VIEW_STATE " has an impossible \"%s\"", wrong.key);
	return ret == -E2BIG ? -EINVAL : ret;
}

int view_state_add_graph(struct view_state *state, const struct view_state_graph *graph)
{
	return json_list_add(fields, "graphs", state, graph);
}

int view_state_add_file(struct view_state *state, const char *opened, const char *given)
{
	const struct view_state_file file = { .opened = (char *)opened, .given = (char *)given };

	return json_list_add(fields, "files", state, &file);
}

static int add_word(struct view_state *state, const char *list, const char *text)
{
	const struct view_state_word word = { .text = (char *)text };

	return json_list_add(fields, list, state, &word);
}

int view_state_add_word(struct view_state *state, const char *text)
{
	return add_word(state, "words", text);
}

int view_state_add_extra(struct view_state *state, const char *text)
{
	return add_word(state, "extra", text);
}

void view_state_free(struct view_state *state)
{
	json_fields_free(fields, state);
}
