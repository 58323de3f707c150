/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	options.h
 * @brief	Command lines of all subcommands: one table gives parsing and --help.
 */
#ifndef KSHARK_VIRT_OPTIONS_H
#define KSHARK_VIRT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "array.h"
#include "xen_running.h"

/** Exit status of every subcommand. */
enum ksv_exit {
	KSV_EXIT_OK = 0,
	KSV_EXIT_FINDINGS = 1,	/* a check or comparison found something */
	KSV_EXIT_USAGE = 2,
	KSV_EXIT_FILE = 3,	/* input that cannot be read, output that cannot be written */
	KSV_EXIT_UNTOLD = 4,	/* a comparison has too few values to tell */
};

/** One option. @key is its short form if it is a printable character, else any number >= 256. */
struct ksv_option {
	int		key;
	const char	*name;
	const char	*arg;	/* name of the argument, NULL if it takes none */
	const char	*help;
};

/** A subcommand. */
struct ksv_command {
	const char	*name;
	const char	*args;		/* as shown in the usage line */
	const char	*summary;	/* one line */
	const char	*notes;		/* shown below the options; may be NULL */
	const struct ksv_option *options; /* ends with a NULL name; --help is added */
	int		n_options;
	int		(*run)(const struct ksv_command *command, int argc, char **argv);
};

extern const struct ksv_command cmd_align;
extern const struct ksv_command cmd_check;
extern const struct ksv_command cmd_compare;
extern const struct ksv_command cmd_dump;
extern const struct ksv_command cmd_plot;
extern const struct ksv_command cmd_report;
extern const struct ksv_command cmd_view;

/**
 * ksv_error - a line to stderr with the program's name before it
 *
 * All that is formatted is escaped, line ends, too: names in it cannot control a terminal.
 */
void ksv_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** ksv_note - the same without the program's name: what a trace's reader should know. */
void ksv_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** ksv_usage_error - the same, with a hint at the subcommand's --help. Return: KSV_EXIT_USAGE. */
int ksv_usage_error(const struct ksv_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** ksv_command_help - what --help prints. */
void ksv_command_help(const struct ksv_command *command, FILE *out);

/** Called for each option; returns 0 or the exit status to end with. */
typedef int (*ksv_option_fn)(void *arg, int key, const char *value);

/**
 * ksv_parse - go through a command line
 * @first: receives the index of the first argument that is no option; argv is permuted
 *
 * Return: -1 to go on, or the status to exit with (--help, errors; all is printed already).
 */
int ksv_parse(const struct ksv_command *command, int argc, char **argv, ksv_option_fn fn,
	      void *arg, int *first);

/** ksv_suggest - the entry of @names (NULL-ended) that was probably meant by @word, or NULL. */
const char *ksv_suggest(const char *word, const char *const *names);

/** A set of numbers 0 .. 65535. */
struct ksv_id_set {
	bool		any;	/* something was added */
	uint64_t	bits[65536 / 64];
};

/** ksv_parse_ids - add a list such as 0,2-3. Return: 0 or -EINVAL. */
int ksv_parse_ids(const char *text, struct ksv_id_set *set);

static inline bool ksv_id_in_set(const struct ksv_id_set *set, unsigned int id)
{
	return id < 65536 && (set->bits[id / 64] >> id % 64 & 1);
}

/** One item of a list of vCPUs. */
struct ksv_vcpu_range {
	xen_vcpu	first, last;
};

struct ksv_vcpu_set {
	struct ksv_vcpu_range	*ranges;
	int			n;
};

/** ksv_parse_vcpus - add a list such as d1v0,d2,idle,d?v?. Return: 0, -EINVAL or -ENOMEM. */
int ksv_parse_vcpus(const char *text, struct ksv_vcpu_set *set);
bool ksv_vcpu_in_set(const struct ksv_vcpu_set *set, xen_vcpu vcpu);

/** A point in a trace. */
struct ksv_time {
	enum { KSV_TIME_NONE = 0, KSV_TIME_NS, KSV_TIME_TSC } kind;
	int64_t		ns;
	uint64_t	tsc;
};

/**
 * ksv_parse_time - 1.5 (seconds), 20ms, 3us, 17ns, tsc:12345
 *
 * Return: 0, -EINVAL, or -ERANGE for what is finer than 1 ns or does not fit.
 */
int ksv_parse_time(const char *text, struct ksv_time *time);

/**
 * ksv_option_time, ksv_option_hz, ksv_option_vcpus - the arguments of options that several
 * subcommands have
 *
 * Return: 0, or the exit status to end with, after a message.
 */
int ksv_option_time(const struct ksv_command *command, const char *name, const char *value,
		    struct ksv_time *time);
int ksv_option_hz(const struct ksv_command *command, const char *value, uint64_t *hz);
int ksv_option_vcpus(const struct ksv_command *command, const char *value,
		     struct ksv_vcpu_set *set);

/**
 * ksv_same_file - are these two names of one file?
 * @in: "-" is standard input
 * @out: NULL and "-" are standard output
 */
bool ksv_same_file(const char *in, const char *out);

/**
 * ksv_check_output - writing over a trace that is read, or over its sidecar, would destroy it
 * @option: name of the option that gave @out
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_USAGE after a message.
 */
int ksv_check_output(const struct ksv_command *command, const char *option, const char *out,
		     const char *in);

/** ksv_option_size - as ksv_option_time() for a number of bytes. */
int ksv_option_size(const struct ksv_command *command, const char *name, const char *value,
		    uint64_t *size);

/** What all subcommands have that read xentrace files. */
#define KSV_OPTION_MAX_INPUT(key)						\
	{ key, "max-input", "SIZE", "unpack or copy that many bytes at most of what is\n"	\
	  "compressed or a pipe, e.g. 500M, 64G (default 16G)" }

#endif
