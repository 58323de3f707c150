// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	guest_trace.c
 * @brief	Find the guests in a host's trace that have no trace file, and read the rows of one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "guest_trace.h"

/** A host's trace, as far as its guests need it. */
struct reading {
	struct host_trace	trace;
	struct host_hypercalls	calls;
	struct virt_model	*model;
	struct host_hypertrace	*hypertrace;
};

static int read_host(struct reading *reading, const char *path, const struct host_options *options,
		     const char *dialect, char *error, size_t size)
{
	int ret;

	if (host_trace_open(&reading->trace, path, options, error, size))
		return -EINVAL;
	ret = host_hypercalls_walk(&reading->trace, &reading->calls, &reading->model);
	if (ret) {
		text_format(error, size, "%s: %s", path, host_trace_problem(ret));
		return ret;
	}
	reading->hypertrace = host_hypertrace_new(reading->model, &reading->calls, dialect, error,
						  size);
	return reading->hypertrace ? 0 : -EINVAL;
}

static void end_reading(struct reading *reading)
{
	host_hypertrace_free(reading->hypertrace);
	virt_model_free(reading->model);
	host_hypercalls_free(&reading->calls);
	host_trace_close(&reading->trace);
}

/* --- one guest ------------------------------------------------------------------------------- */

/** Return: index of the machine, or a negative errno and a text. */
static int32_t find_machine(const struct reading *reading, const struct guest_pointer *pointer,
			    char *error, size_t size)
{
	int32_t vcpu = virt_model_find_vcpu(reading->model, pointer->thread), machine;

	if (vcpu == VIRT_NONE) {
		text_format(error, size, "%s: has no machine with the vCPU %d: open it with "
			    "'kshark-virt view'", pointer->host, pointer->thread);
		return -ENOENT;
	}
	machine = virt_model_vcpu(reading->model, vcpu)->machine;
	if (reading->hypertrace->machines[machine].dialect)
		return machine;
	text_format(error, size, "%s: %s reports no events through hypercalls%s%s",
		    pointer->host, virt_model_machine(reading->model, machine)->name,
		    reading->hypertrace->machines[machine].why ? ": " : "",
		    reading->hypertrace->machines[machine].why ?
		    reading->hypertrace->machines[machine].why : "");
	return -ENODATA;
}

int guest_trace_open(struct guest_trace *trace, const struct guest_pointer *pointer,
		     const struct host_options *options, char *error, size_t size)
{
	struct reading reading = { 0 };
	int ret = 0;

	*trace = (struct guest_trace){ .host = strdup(pointer->host) };
	if (!trace->host)
		goto err_memory;
	if (stat(pointer->host, &trace->was)) {
		ret = -errno;
		text_format(error, size, "%s: %s", pointer->host, strerror(-ret));
		return ret;
	}
	if (pointer->kallsyms)
		ret = hyper_symbols_read(pointer->kallsyms, &trace->symbols, error, size);
	if (!ret)
		ret = read_host(&reading, pointer->host, options, pointer->dialect, error, size);
	if (!ret)
		ret = find_machine(&reading, pointer, error, size);
	if (ret >= 0) {
		ret = guest_rows_make(reading.hypertrace, ret, &trace->rows);
		if (ret)
			text_format(error, size, "%s: %s", pointer->host, virt_model_problem(ret));
	}
	end_reading(&reading);
	return ret;
err_memory:
	text_format(error, size, "not enough memory");
	return -ENOMEM;
}

void guest_trace_close(struct guest_trace *trace)
{
	guest_rows_free(&trace->rows);
	hyper_symbols_free(trace->symbols);
	free(trace->host);
	memset(trace, 0, sizeof(*trace));
}

bool guest_trace_is_old(const struct guest_trace *trace)
{
	struct stat now;

	return stat(trace->host, &now) || now.st_ino != trace->was.st_ino ||
	       now.st_dev != trace->was.st_dev || now.st_size != trace->was.st_size ||
	       now.st_mtim.tv_sec != trace->was.st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != trace->was.st_mtim.tv_nsec;
}

/* --- all of a host --------------------------------------------------------------------------- */

static int see_rows(void *arg, const struct xen_trace_row *rows, size_t n)
{
	struct host_hypercalls *calls = arg;

	for (size_t i = 0; i < n && !calls->n && !calls->error; i++)
		host_hypercalls_row(calls, &rows[i]);
	return calls->n || calls->error;
}

/** Is there anything at all? Most traces of Xen have nothing of that. */
static bool has_calls(const char *path, const struct host_options *options)
{
	struct host_hypercalls calls = { 0 };
	const struct host_walk walk = { .rows = see_rows, .arg = &calls };
	struct host_trace trace;
	char unused[8];
	bool has;

	if (trace_dat_is(path))
		return true;
	if (host_trace_open(&trace, path, options, unused, sizeof(unused)))
		return false;
	host_trace_walk(&trace, &walk);
	has = calls.n > 0;
	host_hypercalls_free(&calls);
	host_trace_close(&trace);
	return has;
}

/** A copy, which can be none. */
static int copy(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

static int add_guest(struct guest_list *list, const struct reading *reading, int32_t machine,
		     const struct guest_pointer *common)
{
	const struct virt_machine *info = virt_model_machine(reading->model, machine);
	struct guest_pointer pointer = {
		.thread = virt_model_vcpu(reading->model, info->vcpus[0])->host_pid,
	};
	char *why = NULL;
	size_t room = (size_t)list->room;

	if (copy(&pointer.host, common->host) || copy(&pointer.machine, info->name) ||
	    copy(&pointer.dialect, common->dialect) || copy(&pointer.kallsyms, common->kallsyms) ||
	    copy(&why, reading->hypertrace->machines[machine].why) ||
	    ARRAY_GROW(list->why, list->n, room) ||
	    ARRAY_GROW(list->pointers, list->n, list->room)) {
		guest_pointer_free(&pointer);
		free(why);
		return -ENOMEM;
	}
	list->why[list->n] = why;
	list->pointers[list->n++] = pointer;
	return 0;
}

static int add_guests(struct guest_list *list, const struct reading *reading,
		      const struct guest_pointer *common)
{
	int ret = 0;

	for (int32_t m = 0; m < reading->hypertrace->n_machines && !ret; m++) {
		const struct host_hypertrace_machine *machine = &reading->hypertrace->machines[m];

		if (machine->dialect && machine->tally.calls &&
		    virt_model_machine(reading->model, m)->n_vcpus)
			ret = add_guest(list, reading, m, common);
	}
	return ret;
}

int guest_list_find(const char *path, const struct host_options *options, const char *dialect,
		    const char *kallsyms, struct guest_list *list, char *error, size_t size)
{
	bool is_file = dialect && host_hypertrace_is_file(dialect);
	struct guest_pointer common = {
		.host = realpath(path, NULL),
		.kallsyms = kallsyms ? realpath(kallsyms, NULL) : NULL,
		.dialect = is_file ? realpath(dialect, NULL) : NULL,
	};
	struct reading reading = { 0 };
	int ret = common.host ? 0 : -errno;

	*list = (struct guest_list){ 0 };
	if (!ret && !has_calls(path, options))
		goto out;
	if (ret)
		text_format(error, size, "%s: %s", path, strerror(-ret));
	if (!ret && dialect && !is_file)
		ret = copy(&common.dialect, dialect);
	if (!ret)
		ret = read_host(&reading, path, options, dialect, error, size);
	if (!ret) {
		ret = add_guests(list, &reading, &common);
		if (ret)
			text_format(error, size, "not enough memory");
	}
	end_reading(&reading);
out:
	guest_pointer_free(&common);
	return ret;
}

void guest_list_free(struct guest_list *list)
{
	for (int i = 0; i < list->n; i++) {
		guest_pointer_free(&list->pointers[i]);
		free(list->why[i]);
	}
	free(list->pointers);
	free(list->why);
	memset(list, 0, sizeof(*list));
}
