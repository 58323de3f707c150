/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	view.h
 * @brief	Parts of "kshark-virt view": the plugins, the files' names, KernelShark itself.
 */
#ifndef KSHARK_VIRT_VIEW_H
#define KSHARK_VIRT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

/** view_plugin_list - our plugins, separated by commas. Return: malloc'ed, or NULL (reported). */
char *view_plugin_list(void);

/** Files, and what KernelShark gets instead. */
struct view_files {
	char	**paths;	/* as given; - is standard input */
	int	n;		/* less after view_hand_over() without those of no use */
	char	**names;	/* malloc'ed names to hand over */
	char	*temp;		/* private directory, or NULL */
	uint64_t max_input;	/* bytes that are copied from a pipe at most; 0: a default */
	bool	any_kind;	/* others' plugins may read what ours do not */
};

/** view_check_readable - say why, if a file cannot be read. */
bool view_check_readable(const char *path);

/** view_check_session - say why, if KernelShark cannot restore a session, or all of its traces. */
bool view_check_session(const char *path);

/**
 * view_hand_over - find or make a name for each file that KernelShark takes
 * @files: paths and n are given, the rest is zero; to be given to view_files_clean() in any case
 *
 * A regular file keeps its name if it can, or gets a symbolic link; a pipe is copied.
 *
 * Return: 0 or a negative errno, after the problem has been reported.
 */
int view_hand_over(struct view_files *files);

/** view_files_clean - remove links and copies, free the names. */
void view_files_clean(struct view_files *files);

/** What KernelShark is started with. */
struct view_start {
	const char	*program;
	const char	*plugins;
	const char	*session;	/* or NULL */
	char		**names;	/* of files */
	int		n_names;
	char		**extra;	/* more arguments */
	int		n_extra;
	char		hz[24];		/* as XEN_CPUHZ; empty if not given */
	char		max_input[24];	/* as XEN_MAX_INPUT; the same */
	bool		absolute;
	bool		correct_skew;
	bool		no_combos;
};

/** view_catch_signals - from now on, a signal ends preparations, or reaches KernelShark. */
void view_catch_signals(void);

/** view_signal - the signal that was caught, or 0. */
int view_signal(void);

/** view_start - run KernelShark to its end, or only show how. Return: exit status. */
int view_start(const struct view_start *start, bool dry_run);

#endif
