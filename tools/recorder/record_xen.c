// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_xen.c
 * @brief	Record a host of Xen by xentrace, with kshark-virt-xen-meta beside it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "own_directory.h"
#include "record_flight.h"
#include "record_xen.h"
#include "xen_events.h"

/** xentrace has opened its file, and the helper has written the sidecar, in this time. */
#define START_S		10
/** Its first records come through a pipe in this time; those of an idle machine are few. */
#define PIPE_START_MS	2000
/** As much as a user may have: the larger it is, the longer we may be kept from reading. */
#define PIPE_BYTES	(1 << 20)
/** Where the helper is, as seen from the command. */
#define META		"kshark-virt-xen-meta"

#define MASK_GEN	RECORD_XEN_GEN
#define MASK_SCHED	RECORD_XEN_SCHED
#define MASK_DOM0OP	0x0004f000
#define MASK_HVM	RECORD_XEN_HVM
#define MASK_PV		RECORD_XEN_PV
#define MASK_HW		0x0080f000

static const struct {
	const char	*name;
	uint32_t	mask;
} classes[] = {
	{ "minimal", MASK_GEN | MASK_SCHED },
	{ "default", MASK_GEN | MASK_SCHED | MASK_DOM0OP | MASK_HVM | MASK_PV | MASK_HW },
	{ "full", 0x0ffff000 },
	{ "gen", MASK_GEN },
	{ "sched", MASK_SCHED },
	{ "dom0op", MASK_DOM0OP },
	{ "hvm", MASK_HVM },
	{ "mem", 0x0010f000 },
	{ "pv", MASK_PV },
	{ "shadow", 0x0040f000 },
	{ "hw", MASK_HW },
	{ "guest", 0x0800f000 },
};

/* --- checks ---------------------------------------------------------------------------------- */

static int check_domain(void)
{
	char text[64];

	if (record_read(text, sizeof(text), "/proc/xen/capabilities") < 0) {
		ksv_error("/proc/xen is not mounted: mount -t xenfs xenfs /proc/xen");
		return 1;
	}
	if (strstr(text, "control_d"))
		return 0;
	ksv_error("this is a Xen guest, which cannot trace: record in dom0");
	return 1;
}

/** Debian's xentrace is a script that looks for the one of this Xen. */
static int check_xentrace(struct record *record)
{
	const char *argv[] = { "xentrace", "--version", NULL };
	char said[4096], major[16], minor[16];
	int status = record_capture(argv, RECORD_ANSWER_S, said, sizeof(said));

	if (record_read(major, sizeof(major), "/sys/hypervisor/version/major") > 0 &&
	    record_read(minor, sizeof(minor), "/sys/hypervisor/version/minor") > 0)
		snprintf(record->version, sizeof(record->version), "%s.%s", major, minor);
	if (!status)
		return 0;
	if (status == 127)
		ksv_error("xentrace is not installed: apt-get install xen-utils");
	else
		ksv_error("xentrace does not work here: %s", *said ? said : "it says nothing");
	return 1;
}

int record_xen_check_host(struct record *record)
{
	return check_domain() + check_xentrace(record);
}

int record_xen_check_in_use(void)
{
	char path[PATH_MAX], comm[32];
	const struct dirent *entry;
	int used = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/proc", record_root());
	dir = opendir(path);
	while (dir && !used && (entry = readdir(dir))) {
		int pid = atoi(entry->d_name);

		used = pid > 0 && record_read(comm, sizeof(comm), "/proc/%d/comm", pid) > 0 &&
		       (!strcmp(comm, "xentrace") || !strcmp(comm, "xenbaked"));
		if (used)
			ksv_error("tracing is in use: process %d is %s; wait for it, or end it: "
				  "kill -INT %d", pid, comm, pid);
	}
	if (dir)
		closedir(dir);
	return used;
}

static int take_classes(struct record *record)
{
	const char *list = record->options->events ? record->options->events : "default";

	record->mask = MASK_GEN;
	for (;;) {
		size_t n = strcspn(list, ","), i = 0;

		while (i < ARRAY_SIZE(classes) && (strlen(classes[i].name) != n ||
						   strncmp(classes[i].name, list, n) != 0))
			i++;
		if (i == ARRAY_SIZE(classes))
			return ksv_usage_error(record->command, "--events %.*s: not a class of "
					       "events: gen, sched, dom0op, hvm, mem, pv, shadow, "
					       "hw or guest", (int)n, list);
		record->mask |= classes[i].mask;
		if (!list[n])
			return KSV_EXIT_OK;
		list += n + 1;
	}
}

/* --- programs -------------------------------------------------------------------------------- */

static bool wait_for_file(const struct record *record, const char *name, pid_t *pid)
{
	char path[PATH_MAX + NAME_MAX];
	int status;

	snprintf(path, sizeof(path), "%s/%s", record->folder, name);
	for (int i = 0; i < START_S * 50; i++) {
		if (!access(path, F_OK))
			return true;
		if (*pid <= 0 || waitpid(*pid, &status, WNOHANG)) {
			*pid = 0;
			return false;
		}
		usleep(20000);
	}
	return false;
}

/** Beside the command in an installation and in a build tree, else wherever PATH leads. */
void record_xen_meta(char path[PATH_MAX])
{
	char *own = own_directory();
	bool is_there;

	snprintf(path, PATH_MAX, "%s/../libexec/kshark-virt/" META, own ? own : "");
	is_there = own && !*record_root() && !access(path, X_OK);
	free(own);
	if (!is_there)
		strcpy(path, META);
}

/** Names, clock and places come from Xen itself; without them there is still a trace. */
pid_t record_xen_start_meta(struct record *record)
{
	char program[PATH_MAX], path[PATH_MAX + NAME_MAX];
	const char *argv[] = { program, "--watch", "--output", path, NULL };
	pid_t pid;

	record_xen_meta(program);
	snprintf(path, sizeof(path), "%s/" RECORD_XEN_FILE ".meta.json", record->folder);
	pid = record_spawn(record, argv, NULL, NULL, RECORD_XEN_META_LOG);
	if (pid > 0 && wait_for_file(record, RECORD_XEN_FILE ".meta.json", &pid))
		return pid;
	ksv_note(META " does not work here (%s/" RECORD_XEN_META_LOG "): names, clock and "
		 "placement of vCPUs will be missing", record->folder);
	return pid > 0 ? pid : 0;
}

/** What each of xentrace's command lines has. */
struct words {
	char	events[16], pages[24], reserve[24];
};

static void make_words(const struct record *record, struct words *words)
{
	const struct record_options *options = record->options;

	snprintf(words->events, sizeof(words->events), "0x%08x", record->mask);
	snprintf(words->pages, sizeof(words->pages), "%llu",
		 (unsigned long long)options->buffer / RECORD_XEN_PAGE);
	snprintf(words->reserve, sizeof(words->reserve), "%llu",
		 (unsigned long long)(options->reserve / RECORD_MIB));
}

/**
 * A pipe has no room in the sense of -r. /dev/stdout is not everywhere, and then xentrace would
 * make a file of that name.
 */
#define STDOUT	"/proc/self/fd/1"

pid_t record_xen_spawn(struct record *record, int *output)
{
	struct words words;
	const char *argv[] = { "xentrace", "-D", "-e", words.events, "-S", words.pages,
			       STDOUT, NULL };

	make_words(record, &words);
	return record_spawn_output(record, argv, output, RECORD_XEN_LOG);
}

int record_xen_begin_pipe(struct record *record, int *output)
{
	struct pollfd wait = { .events = POLLIN };

	record->recorder = record_xen_spawn(record, output);
	if (record->recorder < 0) {
		ksv_error("xentrace: %s", strerror(-record->recorder));
		record->recorder = 0;
		return KSV_EXIT_FILE;
	}
	fcntl(*output, F_SETPIPE_SZ, PIPE_BYTES);
	wait.fd = *output;
	if (!poll(&wait, 1, PIPE_START_MS))
		ksv_note("no data from xentrace in %d s", PIPE_START_MS / 1000);
	return KSV_EXIT_OK;
}

static int start_xentrace(struct record *record)
{
	char path[PATH_MAX + NAME_MAX];
	struct words words;
	const char *argv[] = { "xentrace", "-D", "-e", words.events, "-S", words.pages, "-r",
			       words.reserve, path, NULL };

	make_words(record, &words);
	snprintf(path, sizeof(path), "%s/" RECORD_XEN_FILE, record->folder);
	record->recorder = record_spawn(record, argv, NULL, NULL, RECORD_XEN_LOG);
	if (record->recorder < 0)
		record->recorder = 0;
	if (wait_for_file(record, RECORD_XEN_FILE, &record->recorder)) {
		record_xen_check_buffer(record);
		return KSV_EXIT_OK;
	}
	return record_failed(record, RECORD_XEN_LOG, "xentrace", "does not begin");
}

void record_xen_stop(pid_t *pid, int signal, int *status)
{
	*status = 0;
	if (*pid <= 0)
		return;
	kill(*pid, signal);
	while (waitpid(*pid, status, 0) < 0 && errno == EINTR)
		continue;
	*pid = 0;
}

void record_xen_end(pid_t *pid, int signal, int *status)
{
	*status = 0;
	if (*pid <= 0)
		return;
	kill(*pid, signal);
	record_wait_or_kill(*pid, RECORD_XEN_END_S, status);
	*pid = 0;
}

/* --- what was recorded ----------------------------------------------------------------------- */

/** While it is written, only its size is known. */
static void count_bytes(struct record *record, struct record_count *count)
{
	(void)record;
	count->records = count->bytes / RECORD_XEN_BYTES;
}

/** Return: whether all of it could be counted. */
static bool count_records(struct record *record)
{
	struct xen_trace_options options = { 0 };
	struct record_count *count = &record->count;
	struct record_xen_losses losses = { 0 };
	char path[PATH_MAX + NAME_MAX], error[512];
	struct xen_trace_iter *iter = NULL;
	struct xen_trace_row row;
	struct xen_trace *trace;
	bool counted;

	snprintf(path, sizeof(path), "%s/" RECORD_XEN_FILE, record->folder);
	if (access(path, F_OK))
		return false;
	trace = xen_trace_open(path, &options, error, sizeof(error));
	if (trace)
		iter = xen_trace_iter_new(trace);
	else
		ksv_note("%s", error);
	count->records = count->lost = 0;
	counted = iter;
	while (counted && xen_trace_iter_next(iter, &row))
		counted = !record_xen_add_row(&losses, &row, count);
	if (iter)
		xen_trace_iter_free(iter);
	xen_trace_close(trace);
	record_xen_losses_end(record, &losses);
	return counted;
}

static int add_file(struct record *record, bool counted)
{
	struct recording_file file = {
		.name = (char *)RECORD_XEN_FILE, .role = RECORDING_HOST,
		.records = counted ? (int64_t)record->count.records : RECORDING_UNKNOWN,
		.lost = counted ? (int64_t)record->count.lost : RECORDING_UNKNOWN,
	};
	char path[PATH_MAX + NAME_MAX];

	snprintf(path, sizeof(path), "%s/" RECORD_XEN_FILE, record->folder);
	if (access(path, F_OK))
		return KSV_EXIT_OK;
	return recording_add_file(&record->recording, &file) ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

int record_xen_finish(struct record *record, int status)
{
	bool counted = count_records(record);

	if (!status && !record->count.records)
		status = record_failed(record, RECORD_XEN_LOG, "xentrace", "has recorded nothing");
	return add_file(record, counted) ? KSV_EXIT_FILE : status;
}

/** Has xentrace failed, or ended before it was stopped? Then something may be missing. */
static bool has_failed(const struct record *record, int ended)
{
	return record->stop == RECORD_DIED || !WIFEXITED(ended) || WEXITSTATUS(ended);
}

static int finish(struct record *record, pid_t meta, int status)
{
	int ended, meta_ended;

	record_xen_stop(&record->recorder, SIGINT, &ended);
	/* the places of vCPUs at the end */
	record_xen_end(&meta, SIGTERM, &meta_ended);
	status = record_xen_finish(record, status);
	if (!status && has_failed(record, ended))
		status = record_failed(record, RECORD_XEN_LOG, "xentrace", "has failed");
	record_lock_note_folder(record);
	return status;
}

static int run(struct record *record)
{
	static const struct record_watch watch = { .count = count_bytes, .copies = 1 };
	pid_t meta = 0;
	int status;

	/* from the first time that recording.json is there, it is written again at the end */
	record_block_signals();
	status = record_begin(record);
	if (!status)
		status = record_write_state(record);
	if (status)
		return status;
	meta = record_xen_start_meta(record);
	status = start_xentrace(record);
	if (!status && record_lock_note(record))
		ksv_note("/run: cannot be written to");
	if (!status) {
		ksv_note("recording into %s%s", record->folder,
			 record->options->duration.kind || record->options->command ? "" :
			 "; Ctrl-C ends it");
		status = record_loop(record, &watch);
	}
	return finish(record, meta, status);
}

int record_xen(struct record *record)
{
	int missing, status;

	status = take_classes(record);
	if (!status)
		status = record_flight_check(record, &record_source_xen);
	if (status)
		return status;
	if (record->options->n_guests)
		return ksv_usage_error(record->command, "--guest: Xen guests are only seen from "
				       "the host");
	status = record_lock_take(record);
	if (status)
		return status;
	missing = record_xen_check_host(record) + record_xen_check_in_use();
	if (!missing)
		missing = record_check_folder(record);
	if (missing)
		return KSV_EXIT_FILE;
	record_xen_choose_buffer(record);
	if (record->options->flight_ns)
		return record_flight(record, &record_source_xen);
	return record_end(record, run(record));
}
