/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	split_dat.h
 * @brief	Cut windows out of trace.dat files of a host and its guests, and join such parts.
 */
#ifndef KSHARK_VIRT_SPLIT_DAT_H
#define KSHARK_VIRT_SPLIT_DAT_H

#include "model_load.h"
#include "split.h"
#include "trace_args.h"

/** All zero but what is known. */
struct split_dat_options {
	const struct ksv_command *command;
	const char		*output;	/* a file, or a folder for several; or NULL */
	const struct ksv_time	*from, *to;
	struct host_options	trace;
	bool			quiet;
};

/**
 * split_dat_unpack - from now on, a trace.dat that is compressed is read from an unpacked copy
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_FILE after a message.
 */
int split_dat_unpack(const char *path);

/**
 * split_dat - write the windows of all traces of a command line
 * @args: the first host and its guests
 *
 * Return: KSV_EXIT_OK, or the exit status after a message.
 */
int split_dat(const struct split_dat_options *options, const struct trace_args *args);

/** split_dat_name - the part of a trace in a folder has its name. Return: NULL without memory. */
char *split_dat_name(const char *folder, const char *path);

/**
 * split_dat_sidecar - a copy of the sidecar of a trace, or an empty one, in which "part" is another
 * @part: belongs to this function; NULL: there was no memory for it
 *
 * Return: NULL without memory.
 */
struct json_object *split_dat_sidecar(const char *path, struct json_object *part);

/**
 * split_dat_facts - read the sidecar of a trace
 * @path: receives its name, to be freed; NULL: the trace has none. @root: the same
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_FILE after a message.
 */
int split_dat_facts(const char *trace, char **path, struct json_object **root);

/**
 * split_dat_written - the end of writing a trace.dat
 * @path: of the trace that was read; NULL: one of several
 * @ret: of the writer; -EILSEQ: @error has a text
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_FILE after a message.
 */
int split_dat_written(const struct split_target *target, const char *path, int ret,
		      const char *error);

/** merge_dat - join parts of a trace.dat, or recordings. Return: as split_dat(). */
int merge_dat(const struct split_dat_options *options, const struct trace_args *args);

/** merge_dat_join - join separate recordings of a host, which are unpacked. Return: the same. */
int merge_dat_join(const struct split_dat_options *options, const struct trace_args *args);

#endif
