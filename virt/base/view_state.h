/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	view_state.h
 * @brief	The view with which "kshark-virt view" wants the window to begin, as a text in the
 *		environment of KernelShark.
 */
#ifndef KSHARK_VIRT_VIEW_STATE_H
#define KSHARK_VIRT_VIEW_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The variable. */
#define VIEW_STATE		"KSHARK_VIRT_VIEW"

/** The variable with the folder of the program kshark-virt that began KernelShark. */
#define VIEW_FOLDER		"KSHARK_VIRT_FOLDER"

/** A time that is not given. */
#define VIEW_STATE_NO_TIME	INT64_MIN

/** Numbers of files, of pids and of CPUs are below it; graphs, at most. */
#define VIEW_STATE_MOST		INT32_MAX
#define VIEW_STATE_GRAPHS	100000

/** One graph of a file. Neither of a CPU nor of a task: a file with no more than the others. */
struct view_state_graph {
	int32_t		file;		/* which of those that are opened, from 0 */
	int32_t		cpu, task;	/* -1: not of one */
};

/** What KernelShark has opened, and the argument that it stands for. */
struct view_state_file {
	char		*opened;
	char		*given;		/* NULL: none; the command makes it again */
};

struct view_state_word {
	char		*text;
};

/** What is not given is NULL, -1, false or VIEW_STATE_NO_TIME. Times are of the first file. */
struct view_state {
	char		*page;		/* title, in any case */
	char		*select;	/* vCPU or machine, by id or name */
	int32_t		select_file;	/* that it is of, from 0; -1: of any */
	int32_t		why_pcpu;	/* of the page "Why", if it is not of a vCPU */
	int32_t		why_task;	/* instead: pid of a guest's task */
	int32_t		why_file;	/* that it is of, from 0; -1: of the first that can be */
	int32_t		scroll;		/* pixels from the top of the graphs */
	int64_t		from_ns, to_ns;	/* visible; both or none */
	int64_t		a_ns, b_ns;	/* markers, each for itself */
	bool		a_to_b;		/* figures are of the time from A to B */
	struct view_state_graph *graphs; /* of each file, from the top */
	size_t		n_graphs, graphs_room;
	struct view_state_file *files;	/* all */
	size_t		n_files, files_room;
	struct view_state_word *words;	/* options of the command that stay the same */
	size_t		n_words, words_room;
	struct view_state_word *extra;	/* arguments of KernelShark's */
	size_t		n_extra, extra_room;
};

/** view_state_init - nothing is given. */
void view_state_init(struct view_state *state);

/** view_state_write - as a text. Return: to be freed, or NULL without memory. */
char *view_state_write(const struct view_state *state);

/**
 * view_state_read - from a text that anybody may have written
 * @state: receives it, to be given to view_state_free(), also after an error
 * @error: on failure, receives a sentence
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int view_state_read(const char *text, struct view_state *state, char *error, size_t size);

/** view_state_add_... - add a copy of it after the others. Return: 0 or -ENOMEM. */
int view_state_add_graph(struct view_state *state, const struct view_state_graph *graph);
int view_state_add_file(struct view_state *state, const char *opened, const char *given);
int view_state_add_word(struct view_state *state, const char *text);
int view_state_add_extra(struct view_state *state, const char *text);

/** view_state_free - free what it has. */
void view_state_free(struct view_state *state);

#ifdef __cplusplus
}
#endif
#endif
