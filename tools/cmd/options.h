/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	options.h
 * @brief	Command lines of all subcommands: one table gives parsing and --help.
 */
#ifndef KSHARK_VIRT_OPTIONS_H
#define KSHARK_VIRT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
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
	KSV_EXIT_UNKNOWN = 4,	/* no answer: not in the trace, or too few values to decide */
};

struct ksv_command;
struct ksv_option;

/**
 * ksv_take_fn - what an option does
 * @value: its argument, or NULL if it has none
 * @target: the member of a subcommand's options at @option->offset; all of them, if that is 0
 *
 * Return: 0, or the exit status to end with, after a message.
 */
typedef int (*ksv_take_fn)(const struct ksv_command *command, const struct ksv_option *option,
			   const char *value, void *target);

/** One option: everything about it is here. */
struct ksv_option {
	char		key;		/* its short form; 0: it has none */
	const char	*name;
	const char	*arg;		/* name of the argument, NULL if it takes none; [=NAME]: it
					 * may be left out */
	const char	*help;
	ksv_take_fn	take;
	size_t		offset;
	const char	*const *choices; /* ksv_take_choice(): ends with NULL */
};

/** Notes of a subcommand that takes the trace of a host, whichever hypervisor wrote it. */
#define KSV_NOTE_HOST \
	"FILE is a xentrace file, which may be compressed with gzip or zstd, a pipe, or\n" \
	"- for standard input; or the trace.dat of a KVM host; or the folder of a recording.\n"

/** When text is coloured. */
enum ksv_color {
	KSV_COLOR_AUTO = 0, KSV_COLOR_ALWAYS, KSV_COLOR_NEVER
};

/** Values of an option that are no choices: some of them, in a list, or with more after them. */
struct ksv_words {
	bool		in_help;	/* a list of all stands in front of the option's help */
	const char	*option;	/* its name */
	const char	*(*word)(size_t i); /* NULL after the last one */
	const char	*suffix;	/* after each; or NULL */
};

/** A subcommand. */
struct ksv_command {
	const char	*name;
	const char	*args;		/* as shown in the usage line */
	const char	*summary;	/* one line */
	const char	*notes;		/* shown below the options; may be NULL */
	const struct ksv_option *options; /* ends with a NULL name; --help is added */
	int		n_options;
	const struct ksv_words *words;	/* ends with a NULL option; may be NULL */
	bool		prints_text;	/* it also has --color and --no-pager */
	int		(*run)(const struct ksv_command *command, int argc, char **argv);
};

extern const struct ksv_command cmd_align;
extern const struct ksv_command cmd_check;
extern const struct ksv_command cmd_compare;
extern const struct ksv_command cmd_diff;
extern const struct ksv_command cmd_dump;
extern const struct ksv_command cmd_export;
extern const struct ksv_command cmd_merge;
extern const struct ksv_command cmd_migration;
extern const struct ksv_command cmd_plot;
extern const struct ksv_command cmd_query;
extern const struct ksv_command cmd_record;
extern const struct ksv_command cmd_report;
extern const struct ksv_command cmd_self_test;
extern const struct ksv_command cmd_split;
extern const struct ksv_command cmd_study;
extern const struct ksv_command cmd_top;
extern const struct ksv_command cmd_rollup;
extern const struct ksv_command cmd_view;
extern const struct ksv_command cmd_why;

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

/** ksv_find_option - the option with this name, except --help; NULL: there is none */
const struct ksv_option *ksv_find_option(const struct ksv_command *command, const char *name);

/** ksv_option_words - the words of an option; NULL: it has none */
const struct ksv_words *ksv_option_words(const struct ksv_command *command,
					 const struct ksv_option *option);

/** ksv_option_at - option @i, --help comes last; NULL: there are no more */
const struct ksv_option *ksv_option_at(const struct ksv_command *command, int i);

/** ksv_option_is_optional - may its argument be left out? */
bool ksv_option_is_optional(const struct ksv_option *option);

/** ksv_command_help - what --help prints. */
void ksv_command_help(const struct ksv_command *command, FILE *out);

/**
 * ksv_parse - go through a command line
 * @options: the subcommand's, which the offsets of its table lead into
 * @first: receives the index of the first argument that is no option; argv is permuted
 *
 * Return: -1 to go on, or the status to exit with (--help, errors; all is printed already).
 */
int ksv_parse(const struct ksv_command *command, int argc, char **argv, void *options,
	      int *first);

/**
 * ksv_split_command - find the user's command after --; getopt would take its options for ours
 * @argv: gets its end before the command
 * @command: receives it, ending with NULL; NULL: there is none
 *
 * Return: the number of arguments before the --.
 */
int ksv_split_command(int argc, char **argv, char ***command);

/** ksv_color - the value of --color. It is a property of the process, as standard output is. */
enum ksv_color ksv_color(void);

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

/** An item of a list of vCPUs that is an id. */
struct ksv_vcpu_range {
	xen_vcpu	first, last;
};

/** What --vcpu selects: ids, and names that only a trace can explain. */
struct ksv_vcpu_set {
	struct ksv_vcpu_range	*ranges;
	int			n, room;
	char			**words;	/* each item as it was given; */
	int			n_words, room_words;
	const char		**names;	/* those of them that are no ids */
	int			n_names, room_names;
};

/** ksv_parse_vcpus - add a list such as d1v0,d2,idle,d?v?. Return: 0, -EINVAL or -ENOMEM. */
int ksv_parse_vcpus(const char *text, struct ksv_vcpu_set *set);

/**
 * ksv_add_vcpus - the same, but an item may also be the name of a machine or of one of its vCPUs
 *
 * Return: 0, -EINVAL (an item is empty) or -ENOMEM.
 */
int ksv_add_vcpus(const char *text, struct ksv_vcpu_set *set);
void ksv_vcpus_free(struct ksv_vcpu_set *set);

/** ksv_vcpu_in_set - is it one of the ids? */
bool ksv_vcpu_in_set(const struct ksv_vcpu_set *set, xen_vcpu vcpu);

static inline bool ksv_vcpus_given(const struct ksv_vcpu_set *set)
{
	return set->n || set->n_names;
}

/**
 * ksv_vcpu_is_called - is that the name of a machine, or of one of its vCPUs?
 * @machine: "g1:web", which "web" is the name of, too
 * @word: "web", "web v0" or "web:0"
 */
bool ksv_vcpu_is_called(const char *machine, uint32_t vcpu, const char *word);

/** Names of vCPUs or machines of a trace, for a message: the first ones, and how many more. */
struct ksv_vcpu_list {
	char		text[512];
	char		more[40];
	size_t		size, left_out;
};

void ksv_vcpu_list_add(struct ksv_vcpu_list *list, const char *name);

/** ksv_vcpu_list_more - the words after list->text, which is "none" if it was empty */
const char *ksv_vcpu_list_more(struct ksv_vcpu_list *list);

/** ksv_no_vcpu - the trace has no such vCPU. Return: KSV_EXIT_USAGE, after a message. */
int ksv_no_vcpu(const struct ksv_command *command, const char *path, const char *word,
		struct ksv_vcpu_list *list);

/** ksv_no_window - a window has nothing of a trace. Return: KSV_EXIT_USAGE, after a message. */
int ksv_no_window(const struct ksv_command *command, const char *path, int64_t begin_ns,
		  int64_t end_ns);

#define KSV_TIME_WHOLE	INT64_C(1000000000)

/** A point in a trace. */
struct ksv_time {
	enum {
		KSV_TIME_NONE = 0, KSV_TIME_NS, KSV_TIME_TSC,
		KSV_TIME_AFTER,		/* @ns after the beginning of the trace */
		KSV_TIME_SHARE		/* of the trace, in parts of KSV_TIME_WHOLE */
	} kind;
	int64_t		ns;
	uint64_t	tsc;
};

/**
 * ksv_parse_time - 1.5 (seconds), 20ms, 3us, 17ns, 2m, 1h, tsc:12345, +1s, 10%
 *
 * Return: 0, -EINVAL, or -ERANGE for what is finer than 1 ns or does not fit.
 */
int ksv_parse_time(const char *text, struct ksv_time *time);

/** ksv_time_is_relative - do the ends of the trace decide where it is? */
static inline bool ksv_time_is_relative(const struct ksv_time *time)
{
	return time->kind == KSV_TIME_AFTER || time->kind == KSV_TIME_SHARE;
}

/** ksv_time_in - where a relative time is in a trace that goes from @begin_ns to @end_ns */
int64_t ksv_time_in(const struct ksv_time *time, int64_t begin_ns, int64_t end_ns);

/** What options do that several subcommands have; the comment is what @target is. */
int ksv_take_flag(const struct ksv_command *command, const struct ksv_option *option,
		  const char *value, void *target);	/* bool */
int ksv_take_text(const struct ksv_command *command, const struct ksv_option *option,
		  const char *value, void *target);	/* const char * */
int ksv_take_choice(const struct ksv_command *command, const struct ksv_option *option,
		    const char *value, void *target);	/* int: which one of @option->choices */
int ksv_take_time(const struct ksv_command *command, const struct ksv_option *option,
		  const char *value, void *target);	/* struct ksv_time */
int ksv_take_hz(const struct ksv_command *command, const struct ksv_option *option,
		const char *value, void *target);	/* uint64_t */
int ksv_take_size(const struct ksv_command *command, const struct ksv_option *option,
		  const char *value, void *target);	/* uint64_t: bytes */
int ksv_take_vcpus(const struct ksv_command *command, const struct ksv_option *option,
		   const char *value, void *target);	/* struct ksv_vcpu_set */
int ksv_take_pcpus(const struct ksv_command *command, const struct ksv_option *option,
		   const char *value, void *target);	/* struct ksv_id_set */

/** ksv_take_number - a whole number from @min to @max, for options that have such limits. */
int ksv_take_number(const struct ksv_command *command, const struct ksv_option *option,
		    const char *value, size_t min, size_t max, size_t *target);

/** Rows of options that several subcommands have: @type is that of the subcommand's options. */
#define KSV_OPTION_FORMAT(type, member, names, help)						\
	{ 'f', "format", "FORMAT", help, ksv_take_choice, offsetof(type, member), names }
#define KSV_OPTION_OUTPUT(type, member)								\
	{ 'o', "output", "FILE", "write to FILE instead of standard output",			\
	  ksv_take_text, offsetof(type, member), NULL }
#define KSV_OPTION_QUIET(type, member, help)							\
	{ 'q', "quiet", NULL, help, ksv_take_flag, offsetof(type, member), NULL }
#define KSV_OPTION_VCPUS(type, member, help)							\
	{ 0, "vcpu", "LIST", help, ksv_take_vcpus, offsetof(type, member), NULL }
#define KSV_OPTION_PCPUS(type, member, help)							\
	{ 0, "pcpu", "LIST", help, ksv_take_pcpus, offsetof(type, member), NULL }
#define KSV_OPTION_FROM(type, member, help)							\
	{ 0, "from", "TIME", help, ksv_take_time, offsetof(type, member), NULL }
#define KSV_OPTION_TO(type, member, help)							\
	{ 0, "to", "TIME", help, ksv_take_time, offsetof(type, member), NULL }
#define KSV_OPTION_CPU_HZ(type, member)								\
	{ 0, "cpu-hz", "HZ", "frequency of the TSC, e.g. 2.4G, 2399998K",			\
	  ksv_take_hz, offsetof(type, member), NULL }
#define KSV_OPTION_MAX_INPUT(type, member)							\
	KSV_OPTION_MAX_INPUT_BY(ksv_take_size, offsetof(type, member))
#define KSV_OPTION_MAX_INPUT_BY(take, offset)							\
	{ 0, "max-input", "SIZE", "unpack at most this many bytes, or copy them from a\n"	\
	  "pipe, e.g. 500M, 64G (default 16G)", take, offset, NULL }
#define KSV_OPTION_ABSOLUTE(type, member)							\
	{ 0, "absolute", NULL, "time 0 is TSC 0 instead of the first record",			\
	  ksv_take_flag, offsetof(type, member), NULL }
#define KSV_OPTION_SKEW(type, member)								\
	{ 0, "correct-skew", NULL, "correct TSC differences between pCPUs",		\
	  ksv_take_flag, offsetof(type, member), NULL }

/** All of these, of a struct host_options. */
#define KSV_OPTIONS_TRACE(type, trace)								\
	KSV_OPTION_CPU_HZ(type, trace.cpu_hz),							\
	KSV_OPTION_MAX_INPUT(type, trace.max_input),						\
	KSV_OPTION_ABSOLUTE(type, trace.absolute_time),						\
	KSV_OPTION_SKEW(type, trace.correct_skew)

/** How many of the worst moments commands show by default. */
#define KSV_FEW_WORST	3

/** What --from means where [from, to) is asked for. */
#define KSV_FROM_HELP	"from this time on: seconds, or a number with ns, us, ms,\n"		\
			"s, m or h; +1s or 10% of the trace; or tsc:N for a raw\n"		\
			"time stamp"

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

#endif
