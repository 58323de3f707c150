/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_args.h
 * @brief	Arguments that are traces, or folders with all traces of a recording.
 */
#ifndef KSHARK_VIRT_TRACE_ARGS_H
#define KSHARK_VIRT_TRACE_ARGS_H

#include "options.h"
#include "recording_folder.h"
#include "trace_notes.h"

/** A trace that is meant. */
struct trace_arg {
	char		*path;
	bool		is_guest;	/* according to a folder; else a host, or any trace given */
	char		*guest;		/* its name according to a folder, or NULL */
	bool		in_folder;
};

/** All zero is none; to be given to trace_args_free(). */
struct trace_args {
	bool			host_only;	/* guests are of no use: one trace per argument */
	bool			quiet;		/* no notes */
	bool			is_live;	/* a pipe that goes on: it is not looked at */
	bool			counters;	/* those of perf.data, too, which costs time */
	uint64_t		max_input;	/* struct xentrace_options: of what is copied */
	struct trace_arg	*items;		/* hosts before their guests */
	int			n, room;
	int			left_out;	/* traces that should have been there */
	struct trace_notes	notes;		/* about files that were left out, and recordings */
	char			**kept;		/* that no output may take the place of */
	int			n_kept, room_kept;
};

/**
 * trace_args_add - add an argument: a trace as it is, or the traces that a folder names
 *
 * What a folder names and has not is said, and left out; without that of the host, it is an error.
 *
 * Return: KSV_EXIT_OK, or the exit status after a message.
 */
int trace_args_add(struct trace_args *args, const char *arg);

/** trace_args_add_all - several. Return: as trace_args_add(). */
int trace_args_add_all(struct trace_args *args, char **argv, int n);

/**
 * trace_args_check_twice - refuse a file that is given twice, under whatever names
 *
 * Return: KSV_EXIT_OK, or the exit status after a message.
 */
int trace_args_check_twice(const struct trace_args *args);

/**
 * trace_args_twice - refuse two traces that say the same
 * @why: "are the same file" ...
 *
 * Return: KSV_EXIT_USAGE, after a message.
 */
int trace_args_twice(const char *one, const char *other, const char *why);

/**
 * trace_args_check_output - writing over anything that was given, or is of a recording that was,
 * would destroy it
 * @option: name of the option that gave @out
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_USAGE after a message.
 */
int trace_args_check_output(const struct trace_args *args, const struct ksv_command *command,
			    const char *option, const char *out);

/**
 * trace_args_take - all arguments: none twice, and --output takes the place of none
 *
 * Return: as trace_args_add() and the checks.
 */
int trace_args_take(struct trace_args *args, char **argv, int n,
		    const struct ksv_command *command, const char *output);

/**
 * trace_args_only - the one trace that an argument is, or of the host whose folder it is
 * @args: .quiet is set, all else zero; to be given to trace_args_free() in any case
 * @out: of --output, which must not take the place of anything; or NULL
 * @path: receives its path, which @args keeps
 *
 * Return: as trace_args_add() and trace_args_check_output().
 */
int trace_args_only(struct trace_args *args, const struct ksv_command *command, const char *arg,
		    const char *out, const char **path);

/** trace_args_print_notes - print what was not printed yet, unless @quiet. */
void trace_args_print_notes(struct trace_notes *notes, bool quiet);

/** trace_args_paths - all paths. Return: an array to be freed, not they; NULL after a message. */
char **trace_args_paths(const struct trace_args *args);

/** trace_args_free - free it, and leave none. */
void trace_args_free(struct trace_args *args);

#endif
