// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	lttng_input.c
 * @brief	KernelShark data-readout plugin: a folder with traces in CTF, as LTTng writes them.
 *
 * The stream is one of a trace.dat in all but its name: KernelShark reads the copy of the folder
 * with its own reader. So all that KernelShark and plugins do with a trace.dat works: fields,
 * advanced filters, plugins for the scheduler and for lost events, models of machines.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libkshark.h>
#include <libkshark-plugin.h>
#include <libkshark-tepdata.h>

#include "ctf_folder.h"
#include "escape.h"
#include "lttng_copy.h"
#include "trace_dat.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT const char *KSHARK_INPUT_FORMAT(void);
EXPORT bool KSHARK_INPUT_CHECK(const char *file);
EXPORT int KSHARK_INPUT_INITIALIZER(struct kshark_data_stream *stream);
EXPORT int KSHARK_INPUT_DEINITIALIZER(struct kshark_data_stream *stream);

static const char *format_name = "lttng";

/** Every trace in CTF has this file, which a dialog for files can choose. */
static const char metadata[] = "/metadata";

/** Without slashes at its end; of a trace's metadata, the trace. Return: malloc'ed, or NULL. */
static char *folder_of(const char *file)
{
	char *folder = strdup(file);
	size_t n = folder ? strlen(folder) : 0, tail = sizeof(metadata) - 1;

	while (n > 1 && folder[n - 1] == '/')
		folder[--n] = '\0';
	if (n > tail && !strcmp(folder + n - tail, metadata))
		folder[n - tail] = '\0';
	else if (folder && !strcmp(folder, metadata + 1))
		strcpy(folder, ".");
	return folder;
}

const char *KSHARK_INPUT_FORMAT(void)
{
	return format_name;
}

bool KSHARK_INPUT_CHECK(const char *file)
{
	char *folder = folder_of(file);
	bool is = folder && ctf_folder_is(folder);

	free(folder);
	return is;
}

/**
 * Let KernelShark's own reader open the copy. The stream gets all at once: other threads find it as
 * soon as it has an interface.
 */
static int open_copy(struct kshark_data_stream *stream)
{
	struct kshark_data_stream opened = { .stream_id = stream->stream_id };
	int fd = held_file_open(stream->file), ret;
	char name[32];

	if (fd < 0)
		return fd;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	opened.file = name;
	ret = kshark_tep_init_input(&opened);
	close(fd);
	if (ret < 0)
		return ret;
	free(opened.name);
	stream->n_cpus = opened.n_cpus;
	stream->n_events = opened.n_events;
	stream->idle_pid = opened.idle_pid;
	kshark_set_data_format(stream->data_format, TEP_DATA_FORMAT_IDENTIFIER);
	stream->interface = opened.interface;
	return 0;
}

int KSHARK_INPUT_INITIALIZER(struct kshark_data_stream *stream)
{
	char *folder = folder_of(stream->file);
	int ret = folder ? 0 : -ENOMEM;

	stream->interface = NULL;
	if (!ret) {
		/* its name, and that of its sidecar */
		free(stream->file);
		stream->file = folder;
		ret = lttng_copy_make(folder);
	}
	if (!ret) {
		ret = open_copy(stream);
		if (ret)
			escape_print(stderr, "kshark-virt: ", "%s: KernelShark cannot read it as a "
				     "trace.dat", folder);
	}
	return ret;
}

int KSHARK_INPUT_DEINITIALIZER(struct kshark_data_stream *stream)
{
	/* KernelShark closes the stream of a trace.dat by itself */
	(void)stream;
	return 0;
}
