// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_lives.c
 * @brief	Read the data of the page "Why" from the files of a host and its guests.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest_lives.h"
#include "virt_lives.h"

/** struct host_options */
static int is_stopped(void *arg, uint64_t done, uint64_t total)
{
	const struct virt_lives_source *source = arg;

	(void)done;
	(void)total;
	return source->stop && source->stop(source->arg) ? -ECANCELED : 0;
}

/** As KernelShark has opened it; what cannot be understood there has been said. */
static int open_host(struct host_trace *trace, const struct virt_lives_source *source, char *error,
		     size_t size)
{
	struct host_options options = {
		.has_threads = true, .progress = is_stopped, .arg = (void *)source,
	};

	host_options_from_env(&options, error, size);
	return host_trace_open(trace, source->host, &options, error, size) ? -EIO : 0;
}

/** A guest's file, and how its times become the model's. */
struct opened {
	const struct virt_lives_source *source;
	const struct virt_guest_file *file;
};

static int64_t axis_time(const void *arg, int64_t time_ns)
{
	const struct opened *opened = arg;

	return virt_guest_file_time(opened->file, time_ns);
}

static int64_t model_time(void *arg, int64_t time_ns)
{
	const struct opened *opened = arg;

	return virt_guest_file_time(opened->file, time_ns);
}

static bool asks_stop(void *arg)
{
	const struct opened *opened = arg;

	return opened->source->stop && opened->source->stop(opened->source->arg);
}

/** Return: false with a text. @opened: stays as long as @found. */
static bool open_guest(const struct virt_lives_source *source, int guest, struct opened *opened,
		       struct guest_lives_source *found, char *error, size_t size)
{
	const struct virt_lives_guest *of = &source->guests[guest];

	*opened = (struct opened){ source, &of->file };
	*found = (struct guest_lives_source){
		.trace = virt_guest_file_open(&of->file, error, size), .tids = of->tids,
		.n_tids = of->n_tids, .model_time = model_time, .stop = asks_stop, .arg = opened,
	};
	return found->trace;
}

static int read_guest(const struct virt_lives_source *source, const struct virt_model *model,
		      int guest, struct virt_guest *lives, char *error, size_t size)
{
	struct guest_lives_source found;
	struct guest_locks locks = { .n = 0 };
	struct opened opened;
	int ret;

	if (!open_guest(source, guest, &opened, &found, error, size))
		return -EIO;
	ret = guest_lives_read(lives, model, &found);
	if (!ret)
		ret = guest_locks_read(&locks, found.trace, axis_time, &opened);
	if (!ret)
		ret = guest_locks_put(lives, &locks);
	free(locks.all);
	if (ret)
		snprintf(error, size, "%s: %s", source->guests[guest].file.path,
			 host_trace_problem(ret));
	kvm_trace_close(found.trace);
	return ret;
}

/** @wanted: the lives, also without a lock that a task waits for */
static int read_host(const struct virt_lives_source *source, const struct virt_model *model,
		     bool wanted, struct virt_guest *lives, char *error, size_t size)
{
	struct guest_locks locks = { .n = 0 };
	struct host_trace trace = { 0 };
	int ret = open_host(&trace, source, error, size);
	const struct guest_lives_source found = {
		.trace = trace.kvm, .stop = source->stop, .arg = source->arg,
	};

	if (!ret && trace.kvm) {
		ret = guest_locks_read(&locks, trace.kvm, NULL, NULL);
		if (!ret && (wanted || locks.n))
			ret = guest_lives_read_host(lives, model, &found);
		if (!ret)
			ret = guest_locks_put(lives, &locks);
		free(locks.all);
		if (ret)
			snprintf(error, size, "%s: %s", source->host, host_trace_problem(ret));
	}
	host_trace_close(&trace);
	return ret;
}

int virt_lives_read(const struct virt_lives_source *source, const struct virt_model *model,
		    bool with_host, struct virt_guests *guests, struct virt_guest *host,
		    char *error, size_t size)
{
	int ret = 0;

	*guests = (struct virt_guests){
		.all = calloc((size_t)source->n_guests + 1, sizeof(*guests->all)),
	};
	if (!guests->all) {
		snprintf(error, size, "not enough memory");
		return -ENOMEM;
	}
	for (; guests->n < source->n_guests && !ret; guests->n++)
		ret = read_guest(source, model, guests->n, &guests->all[guests->n], error, size);
	if (!ret)
		ret = read_host(source, model, with_host, host, error, size);
	if (!ret && host->n_tasks)
		guests->host = host;
	return ret;
}

void virt_lives_free(struct virt_guests *guests)
{
	for (int i = 0; i < guests->n; i++)
		virt_guest_free(&guests->all[i]);
	free(guests->all);
	*guests = (struct virt_guests){ 0 };
}

struct why_evidence *virt_lives_evidence(const struct virt_lives_source *source,
					 const struct why_answer *answer, char *error, size_t size)
{
	size_t room = (size_t)source->n_guests + 1;
	struct guest_lives_source *guests = calloc(room, sizeof(*guests));
	struct opened *opened = calloc(room, sizeof(*opened));
	struct host_trace trace = { 0 };
	struct why_source files = {
		.host = &trace, .guests = guests, .stop = source->stop, .arg = source->arg,
	};
	struct why_evidence *evidence = NULL;
	bool ok = guests && opened;

	if (!ok)
		snprintf(error, size, "not enough memory");
	ok = ok && !open_host(&trace, source, error, size);
	for (; ok && files.n_guests < source->n_guests; files.n_guests += ok)
		ok = open_guest(source, files.n_guests, &opened[files.n_guests],
				&guests[files.n_guests], error, size);
	if (ok) {
		evidence = why_evidence_find(&files, answer, 1);
		if (!evidence)
			snprintf(error, size, "%s", host_trace_problem(-errno));
	}
	for (int i = 0; i < files.n_guests; i++)
		kvm_trace_close(guests[i].trace);
	host_trace_close(&trace);
	free(guests);
	free(opened);
	return evidence;
}
