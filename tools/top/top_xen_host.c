// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_xen_host.c
 * @brief	Run xentrace in dom0, for top of this host.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recording_folder.h"
#include "top_xen_host.h"

static void start_meta(struct top_xen_host *host)
{
	host->meta = record_xen_start_meta(&host->record);
	snprintf(host->sidecar, sizeof(host->sidecar), "%s/" RECORD_XEN_FILE ".meta.json",
		 host->record.folder);
	if (access(host->sidecar, R_OK))
		*host->sidecar = '\0';
}

/** Has xentrace closed its end of the pipe, and are all records read? */
static bool is_closed(int fd)
{
	struct pollfd look = { .fd = fd, .events = POLLIN };

	return fd >= 0 && poll(&look, 1, 0) > 0 && !(look.revents & POLLIN);
}

static int start_xentrace(struct top_xen_host *host)
{
	struct record *record = &host->record;
	int status = record_xen_begin_pipe(record, &host->fd);

	if (status)
		return status;
	if (is_closed(host->fd)) {
		record_wait_or_kill(record->recorder, RECORD_XEN_END_S, &record->recorder_status);
		record->recorder = 0;
		return record_failed(record, RECORD_XEN_LOG, "xentrace", "does not begin");
	}
	record_xen_check_buffer(record);
	snprintf(host->path, sizeof(host->path), "/proc/self/fd/%d", host->fd);
	return KSV_EXIT_OK;
}

int top_xen_host_open(struct top_xen_host *host, uint64_t buffer)
{
	struct record *record = &host->record;

	*host = (struct top_xen_host){
		.options = { .buffer = buffer }, .fd = -1,
		.record = { .lock = -1, .input = -1,
			    .mask = RECORD_XEN_GEN | RECORD_XEN_SCHED | RECORD_XEN_HVM |
				    RECORD_XEN_PV },
	};
	record->options = &host->options;
	if (record_xen_check_host(record) || record_xen_check_in_use())
		return KSV_EXIT_FILE;
	if (!record_temp_make(record->folder, "top")) {
		ksv_error("%s: cannot be created: %s; set TMPDIR", record->folder, strerror(errno));
		*record->folder = '\0';
		return KSV_EXIT_FILE;
	}
	record_xen_choose_buffer(record);
	start_meta(host);
	return start_xentrace(host);
}

/** One that has closed its end of the pipe is about to end. */
static bool has_ended(const struct top_xen_host *host, int *status)
{
	return is_closed(host->fd) ?
	       record_wait(host->record.recorder, RECORD_XEN_END_S, status) :
	       waitpid(host->record.recorder, status, WNOHANG) > 0;
}

int top_xen_host_close(struct top_xen_host *host, int status)
{
	struct record *record = &host->record;
	int ended;

	if (record->recorder > 0 && has_ended(host, &ended)) {
		record->recorder = 0;
		if (!status)
			status = record_failed(record, RECORD_XEN_LOG, "xentrace", "has ended");
	}
	/* it may wait for room in the pipe, which has none as long as it is open here */
	if (host->fd >= 0)
		close(host->fd);
	record_xen_end(&record->recorder, SIGINT, &ended);
	record_xen_end(&host->meta, SIGTERM, &ended);
	if (*record->folder)
		record_temp_remove(record->folder);
	return status;
}
