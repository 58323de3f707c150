// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_xen_host.c
 * @brief	Run xentrace in dom0, for top of this host.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recording_folder.h"
#include "top_xen_host.h"

/** xentrace has its first records in this time: Xen writes them all the time. */
#define START_MS	10000
/** As much as a user may have: Xen's own buffers are small. */
#define PIPE_BYTES	(1 << 20)

static int make_folder(struct record *record)
{
	const char *temp = getenv("TMPDIR");
	int n = snprintf(record->folder, sizeof(record->folder), "%s/kshark-virt-top-XXXXXX",
			 temp && *temp ? temp : "/tmp");

	if (n > 0 && (size_t)n < sizeof(record->folder) && mkdtemp(record->folder))
		return KSV_EXIT_OK;
	ksv_error("%s: cannot be created: %s", record->folder, strerror(errno));
	*record->folder = '\0';
	return KSV_EXIT_FILE;
}

static void start_meta(struct top_xen_host *host)
{
	host->meta = record_xen_start_meta(&host->record);
	snprintf(host->sidecar, sizeof(host->sidecar), "%s/" RECORD_XEN_FILE ".meta.json",
		 host->record.folder);
	if (access(host->sidecar, R_OK))
		*host->sidecar = '\0';
}

static int start_xentrace(struct top_xen_host *host)
{
	struct record *record = &host->record;
	struct pollfd wait = { .events = POLLIN };

	record->recorder = record_xen_spawn(record, &host->fd);
	if (record->recorder < 0) {
		ksv_error("xentrace: %s", strerror(-record->recorder));
		record->recorder = 0;
		return KSV_EXIT_FILE;
	}
	fcntl(host->fd, F_SETPIPE_SZ, PIPE_BYTES);
	wait.fd = host->fd;
	if (!poll(&wait, 1, START_MS))
		ksv_note("no data from xentrace in %d s", START_MS / 1000);
	/* closed without a record */
	if (wait.revents && !(wait.revents & POLLIN)) {
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
	int status;

	*host = (struct top_xen_host){
		.options = { .buffer = buffer }, .fd = -1,
		.record = { .lock = -1, .input = -1,
			    .mask = RECORD_XEN_GEN | RECORD_XEN_SCHED | RECORD_XEN_HVM |
				    RECORD_XEN_PV },
	};
	record->options = &host->options;
	if (record_xen_check_host(record) || record_xen_check_in_use())
		return KSV_EXIT_FILE;
	status = make_folder(record);
	if (status)
		return status;
	record_xen_choose_buffer(record);
	start_meta(host);
	return start_xentrace(host);
}

/** Only what is ours: three files and the folder. */
static void remove_folder(const struct record *record)
{
	static const char *const names[] = {
		RECORD_XEN_LOG, RECORD_XEN_FILE ".meta.json", RECORD_XEN_META_LOG,
	};
	char path[PATH_MAX + NAME_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", record->folder, names[i]);
		unlink(path);
	}
	if (rmdir(record->folder))
		ksv_note("%s: cannot be removed: %s", record->folder, strerror(errno));
}

/** One that has closed its end of the pipe is about to end. */
static bool has_ended(const struct top_xen_host *host, int *status)
{
	struct pollfd look = { .fd = host->fd, .events = POLLIN };

	if (host->fd >= 0 && poll(&look, 1, 0) > 0 && !(look.revents & POLLIN))
		return record_wait(host->record.recorder, RECORD_XEN_END_S, status);
	return waitpid(host->record.recorder, status, WNOHANG) > 0;
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
		remove_folder(record);
	return status;
}
