/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	view.h
 * @brief	Parts of "kshark-virt view": the plugins, the files' names, KernelShark itself.
 */
#ifndef KSHARK_VIRT_VIEW_H
#define KSHARK_VIRT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "host_trace.h"
#include "options.h"
#include "view_state.h"

/** What the plugins show that need not be there. */
enum view_plugins {
	VIEW_GUESTS	= 1 << 0,	/* guests without a trace */
	VIEW_FOLDERS	= 1 << 1,	/* folders in CTF */
};

/**
 * view_plugin_list - our plugins, separated by commas
 * @shown: receives the flags of those that are there, enum view_plugins
 *
 * Return: malloc'ed, or NULL (reported).
 */
char *view_plugin_list(unsigned int *shown);

/** Options for guests that report through hypercalls. */
struct view_guests {
	const char	*dialect;	/* NULL: by their calls */
	const char	*kallsyms;	/* or NULL */
	bool		none;
	struct host_options options;	/* as the plugins' */
};

/** The window of traces that is wanted. */
struct view_window {
	struct ksv_time		from, to;	/* KSV_TIME_NONE: their ends */
	struct xen_trace_options options;	/* as the plugins' */
};

/** Files, and what KernelShark gets instead. */
struct view_files {
	const struct ksv_command *command;	/* for messages */
	char	**paths;	/* to be opened; - is standard input */
	char	**given;	/* of each, what it is on the command line: another one for parts */
	int	n;		/* less after view_hand_over() without those of no use */
	char	**names;	/* malloc'ed names to hand over; */
	int	n_names, names_room; /* more than n, if guests of those report through hypercalls */
	bool	*calls;		/* of each of n: it may contain reports of guests */
	char	*temp;		/* private directory, or NULL */
	uint64_t max_input;	/* bytes that are copied from a pipe at most; 0: a default */
	bool	any_kind;	/* others' plugins may read what ours do not */
	bool	takes_folders;	/* KernelShark opens folders in CTF by a plugin of ours */
	struct view_guests guests;
	struct view_window window;
};

/** view_wants_window - only a window of the traces? */
static inline bool view_wants_window(const struct view_files *files)
{
	return files->window.from.kind != KSV_TIME_NONE || files->window.to.kind != KSV_TIME_NONE;
}

/**
 * view_hand_over_window - what stands for a window of a xentrace file
 * @handed: receives its path
 *
 * Return: 0; -ERANGE if the window lies outside the trace, or another negative errno. A message has
 * been printed, except for -ENOMEM.
 */
int view_hand_over_window(struct view_files *files, const char *path, bool appended, char **handed);

struct trace_args;

/**
 * view_split - write the window of a host's trace.dat, and of those of its guests, into the private
 * directory
 * @paths: receives an array of their paths; NULL: it is not a trace.dat, and no window is written
 * @given: receives what each is a part of, an array to be freed with texts of @args; or NULL
 * @n: receives how many
 *
 * Return: KSV_EXIT_OK, or the exit status after a message.
 */
int view_split(struct view_files *files, const struct ksv_command *command,
	       const struct trace_args *args, char ***paths, char ***given, int *n);

/** view_make_temp - make the private directory. Return: 0, or a negative errno after a message. */
int view_make_temp(struct view_files *files);

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

/**
 * view_add_guests - names for guests that report through hypercalls, in files that have names
 *
 * What cannot be read for that is said, and shown without its guests.
 *
 * Return: 0, -ENOMEM or -EINTR.
 */
int view_add_guests(struct view_files *files);

/** view_link_name - a name in the private directory that leads to a file. Return: or NULL. */
char *view_link_name(struct view_files *files, const char *path, const char *why);

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
	bool		no_hypertrace;	/* as given */
	struct view_state state;	/* the view to begin with */
	char		*view;		/* the same as text, for the plugins; or NULL */
};

/** Of options for the view that the window begins with; targets are struct view_start. */
extern const char *const view_page_names[];
int view_take_show(const struct ksv_command *command, const struct ksv_option *option,
		   const char *value, void *target);
int view_take_mark(const struct ksv_command *command, const struct ksv_option *option,
		   const char *value, void *target);
int view_take_page(const struct ksv_command *command, const struct ksv_option *option,
		   const char *value, void *target);
int view_take_select(const struct ksv_command *command, const struct ksv_option *option,
		     const char *value, void *target);
int view_take_graphs(const struct ksv_command *command, const struct ksv_option *option,
		     const char *value, void *target);
int view_take_scroll(const struct ksv_command *command, const struct ksv_option *option,
		     const char *value, void *target);

/** view_wants_state - has an option asked for a view? */
bool view_wants_state(const struct view_state *state);

/** view_check_state - say so, if it is about more than @n files. Return: is it of these only? */
bool view_check_state(const struct ksv_command *command, const struct view_state *state, int n);

/**
 * view_write_state - what the plugins get: the view, and from which arguments the window was made
 * @files: after view_hand_over()
 * @part: only this window of the files has been written to others; or NULL
 *
 * Return: 0 or -ENOMEM.
 */
int view_write_state(struct view_start *start, const struct view_files *files,
		     const struct view_window *part);

/** view_catch_signals - from now on, a signal ends preparations, or reaches KernelShark. */
void view_catch_signals(void);

/** view_signal - the signal that was caught, or 0. */
int view_signal(void);

/** view_start - run KernelShark to its end, or only show how. Return: exit status. */
int view_start(const struct view_start *start, bool dry_run);

#endif
