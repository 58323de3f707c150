/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	dump.h
 * @brief	Parts of "kshark-virt dump": which records, how they are written, known events.
 */
#ifndef KSHARK_VIRT_DUMP_H
#define KSHARK_VIRT_DUMP_H

#include "host_trace.h"
#include "model_files.h"
#include "options.h"
#include "table.h"
#include "terminal.h"
#include "xen_trace.h"

enum dump_format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON, N_FORMATS };

/** @format: enum dump_format */
static inline enum out_reader dump_reader(int format)
{
	return format == FORMAT_TEXT ? OUT_PAGES : OUT_PROGRAM;
}

/** dump_rows - how a table is written. @format: enum dump_format, but not text */
static inline const struct table_format *dump_rows(int format)
{
	return format == FORMAT_CSV ? &table_csv : &table_json_lines;
}

/** One --event argument. */
struct event_pattern {
	const char	*glob;
	bool		is_id;
	uint32_t	id;
};

/** Patterns of names, as given. */
struct dump_globs {
	const char	**all;
	int		n, room;
};

/** Which records were asked for. All zero: every one. */
struct dump_filter {
	struct ksv_id_set	pcpus;
	struct ksv_vcpu_set	vcpus;
	struct event_pattern	*patterns;
	int			n_patterns, patterns_room;
	struct ksv_time		from, to;
	struct dump_globs	machines, tasks;	/* KVM */
};

/* --- which records: dump_filter.c ------------------------------------------------------------ */

/** dump_add_pattern - one more name or id of events. Return: 0 or an exit status (reported). */
int dump_add_pattern(struct dump_filter *filter, const struct ksv_command *command,
		     const char *glob);

/**
 * dump_check_patterns - a name that is in no table is a typing error, not an empty result
 *
 * Return: 0 or an exit status (reported).
 */
int dump_check_patterns(const struct dump_filter *filter, const struct ksv_command *command);

bool dump_event_selected(const struct dump_filter *filter, uint32_t id, const char *name);

/** dump_names_event - the same for an event of KVM, whose pattern may be "system:name" */
bool dump_names_event(const struct dump_filter *filter, uint32_t id, const char *system,
		      const char *name);

/** dump_add_glob - one more name. Return: 0 or an exit status (reported). */
int dump_add_glob(struct dump_globs *globs, const char *glob);

/** dump_before, dump_after - is a record outside of the time that was asked for? */
bool dump_before(const struct dump_filter *filter, const struct xen_trace_row *row);
bool dump_after(const struct dump_filter *filter, const struct xen_trace_row *row);

void dump_filter_free(struct dump_filter *filter);

/* --- how they are written: dump_write.c ------------------------------------------------------ */

/** Columns of the text format. */
#define DUMP_TASK_WIDTH		16
#define DUMP_TIME_WIDTH		16
#define DUMP_EVENT_WIDTH	24

/** dump_text_place - " [003]     1.234567890:" */
void dump_text_place(struct output *out, int cpu, int64_t time_ns);

/** dump_text_event - the event and its fields, escaped, and the end of the line; @info may be "" */
void dump_text_event(struct output *out, const char *event, const char *info);

struct dump_writer;

/** dump_write_titles - the first line, if the format has one */
void dump_write_titles(enum dump_format format, struct output *out);

/** dump_writer_new - begin to write. @filter, @trace: outlive it. Return: NULL: no memory. */
struct dump_writer *dump_writer_new(const struct dump_filter *filter, enum dump_format format,
				    const struct xen_trace *trace);

/** dump_writer_into - write the following records into @out, which outlives the last of them */
void dump_writer_into(struct dump_writer *writer, struct output *out);

/** dump_write - write a record, if its event and vCPU are asked for. */
void dump_write(struct dump_writer *writer, const struct xen_trace_row *row);

/** dump_writer_learn - take the vCPUs that another writer of the same trace has seen */
void dump_writer_learn(struct dump_writer *writer, const struct dump_writer *other);

/**
 * dump_check_pcpus - has the trace one of the pCPUs that are asked for?
 * @n: the highest pCPU number of the trace + 1
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_USAGE after a message.
 */
int dump_check_pcpus(const struct dump_filter *filter, const struct ksv_command *command, int n);

/**
 * dump_check_vcpus - was there each vCPU that is asked for, when all records have gone by?
 *
 * Return: KSV_EXIT_OK, or the exit status after a message.
 */
int dump_check_vcpus(struct dump_writer *writer, const struct ksv_command *command,
		     const char *path);

void dump_writer_free(struct dump_writer *writer);

/* --- two threads write: dump_share.c --------------------------------------------------------- */

struct dump_share;

/**
 * dump_share_new - begin to write records with two threads, if the machine has two cores
 * @filter, @trace, @out: outlive it. What is written is the same as with one thread.
 *
 * Return: to be given to dump_share_free(); NULL without memory.
 */
struct dump_share *dump_share_new(const struct dump_filter *filter, enum dump_format format,
				  const struct xen_trace *trace, struct output *out);

/** dump_share_room - where the next record of the walk goes, for dump_share_add() */
struct xen_trace_row *dump_share_room(struct dump_share *share);

/** dump_share_add - write what is in dump_share_room() now, or later */
void dump_share_add(struct dump_share *share);

/** dump_share_end - write all. Return: the writer, which has seen all vCPUs; NULL: no memory. */
struct dump_writer *dump_share_end(struct dump_share *share);

void dump_share_free(struct dump_share *share);

/* --- what guests report through hypercalls: dump_hypertrace.c -------------------------------- */

/** What is wanted. */
struct dump_hypertrace {
	const struct ksv_command *command;
	const char		*dialect;	/* NULL: found by the calls */
	const char		*kallsyms;	/* or NULL */
	const struct dump_filter *filter;	/* patterns are those of the dialect's events */
	enum dump_format	format;
	const char		*output;
	bool			quiet;
	struct host_options	trace;
};

/** dump_hypertrace - write the hypercalls of a host's trace. Return: exit status. */
int dump_hypertrace(const struct dump_hypertrace *options, const char *path, struct output *out);

/* --- a KVM host and its guests: dump_kvm.c --------------------------------------------------- */

/** What is wanted. */
struct dump_kvm {
	const struct ksv_command *command;
	const struct dump_filter *filter;
	enum dump_format	format;
	const char		*output;
	bool			quiet;
	struct host_options	trace;
};

/** dump_kvm - write the records of a host and those of its guests. Return: exit status. */
int dump_kvm(const struct dump_kvm *options, const struct trace_args *args, struct output *out);

/* --- the table of events: dump_list.c --------------------------------------------------------- */

/** dump_list - write what is known about all events that are asked for. */
void dump_list(const struct dump_filter *filter, enum dump_format format, struct output *out);

#endif
