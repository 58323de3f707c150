/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	export_source.h
 * @brief	Traces on a command line, loaded as the source of tables.
 */
#ifndef KSHARK_VIRT_EXPORT_SOURCE_H
#define KSHARK_VIRT_EXPORT_SOURCE_H

#include "export_rows.h"

/** The most moments that an option can ask for: they fit into memory, and more are not useful. */
#define EXPORT_MAX_MOMENTS	1000000

/** The moments that are written without an option. */
#define EXPORT_MOMENTS		1000

/** The options about the source. All zero: none, and no worst moments. */
struct export_source {
	const struct ksv_command *command;
	bool			quiet;
	const char		*output;	/* none of the traces; NULL: standard output */
	struct ksv_vcpu_set	vcpus;		/* freed by export_source_free() */
	struct ksv_time		from, to;
	size_t			moments;
	unsigned int		left_out;	/* as in struct export_job */
	struct host_options	trace;
};

/** Rows of options that fill the member @source of a subcommand's options of type @type. */
#define EXPORT_SOURCE_OPTIONS(type, source)							\
	KSV_OPTION_VCPUS(type, source.vcpus, "only these vCPUs, e.g. d1v0,d2"),			\
	KSV_OPTION_FROM(type, source.from, KSV_FROM_HELP),					\
	KSV_OPTION_TO(type, source.to, "up to this time, which is not included"),		\
	{ 0, "worst", "N", "the N costliest moments (default 1000)",				\
	  export_take_moments, offsetof(type, source.moments), NULL }
#define EXPORT_SOURCE_TRACE_OPTIONS(type, source)						\
	KSV_OPTION_CPU_HZ(type, source.trace.cpu_hz),						\
	KSV_OPTION_MAX_INPUT(type, source.trace.max_input),					\
	KSV_OPTION_ABSOLUTE(type, source.trace.absolute_time),					\
	KSV_OPTION_SKEW(type, source.trace.correct_skew),					\
	KSV_OPTION_QUIET(type, source.quiet, "no progress, no notes about damage, clock and skew")

/** export_take_moments - a number of moments; @target: size_t */
int export_take_moments(const struct ksv_command *command, const struct ksv_option *option,
			const char *text, void *target);

/** export_source_fn - takes the window of the trace. Return: the exit status. */
typedef int (*export_source_fn)(void *arg, const struct export_job *job);

/**
 * export_source_each - load the trace of a host and those of its guests
 * @argv: @n of them, files or a recording's folder
 *
 * Return: what @take returned, or the exit status after a message.
 */
int export_source_each(const struct export_source *source, char **argv, int n,
		       export_source_fn take, void *arg);

void export_source_free(struct export_source *source);

#endif
