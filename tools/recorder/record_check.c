// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_check.c
 * @brief	List the requirements that are missing before a recording, each with its remedy.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "record.h"
#include "record_tracing.h"

/** The reserve that is left on a disk, unless it is small. */
#define RESERVE		(1024 * RECORD_MIB)

/* --- the folder ------------------------------------------------------------------------------ */

static bool is_empty(const char *path)
{
	const struct dirent *entry;
	DIR *dir = opendir(path);
	bool empty = dir;

	while (dir && empty && (entry = readdir(dir)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (dir)
		closedir(dir);
	return empty;
}

static int check_disk(struct record *record)
{
	struct record_options *options = record->options;
	char left[24], kept[24];
	struct statvfs fs;
	uint64_t available, reserve = RESERVE;

	if (statvfs(record->folder, &fs)) {
		ksv_error("%s: %s", record->folder, strerror(errno));
		return 1;
	}
	available = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (reserve > (uint64_t)fs.f_blocks * fs.f_frsize / 10)
		reserve = (uint64_t)fs.f_blocks * fs.f_frsize / 10;
	if (!options->has_reserve)
		options->reserve = reserve;
	if (available > options->reserve)
		return 0;
	ksv_error("%s: only %s are free, but %s must stay free (--reserve); choose another disk "
		  "(--output), or free some space",
		  record->folder, record_size_text(available, left),
		  record_size_text(options->reserve, kept));
	return 1;
}

/** What is recorded goes by way of it, as does all that dom0 does for its guests. */
static int check_memory(const struct record *record)
{
	char left[24], kept[24];
	uint64_t available, reserve;

	if (!record_memory_is_short(record, &available, &reserve))
		return 0;
	ksv_error("only %s of memory are free, but %s must stay free (--reserve); end programs "
		  "that use it",
		  record_size_text(available, left), record_size_text(reserve, kept));
	return 1;
}

/** Others could lead what root writes there elsewhere, by a link. */
static bool is_ours(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/** The user that runs this, by way of sudo, too: @variable is SUDO_UID or SUDO_GID. */
static bool is_own_id(unsigned int id, unsigned int effective, const char *variable)
{
	const char *text = effective ? NULL : getenv(variable);

	return id == effective || (text && *text && id == strtoul(text, NULL, 10));
}

/** A folder in which others can put something in the place of what is in it. */
static bool is_of_others(const struct stat *st)
{
	if (st->st_uid && !is_own_id(st->st_uid, geteuid(), "SUDO_UID"))
		return true;
	/* in a sticky one, everybody has what is theirs */
	if (st->st_mode & S_ISVTX)
		return false;
	return (st->st_mode & S_IWOTH) || ((st->st_mode & S_IWGRP) && st->st_gid &&
					   !is_own_id(st->st_gid, getegid(), "SUDO_GID"));
}

/**
 * Who can rename a folder above ours leads what root writes elsewhere, as sshd's StrictModes knows.
 * @full: a path without links
 */
static int check_parents(const char *full)
{
	char path[PATH_MAX];
	struct stat st;

	for (const char *slash = full; slash; slash = strchr(slash + 1, '/')) {
		snprintf(path, sizeof(path), "%.*s", slash == full ? 1 : (int)(slash - full), full);
		if (lstat(path, &st)) {
			ksv_error("%s: %s", path, strerror(errno));
			return 1;
		}
		if (!is_of_others(&st))
			continue;
		ksv_error("%s: others can write to %s (user %u, mode %04o), and could redirect "
			  "what root writes; choose a folder (--output) that only you or root can "
			  "write to", full, path, (unsigned int)st.st_uid,
			  (unsigned int)st.st_mode & 07777);
		return 1;
	}
	return 0;
}

/** The folder is made, and stays empty if anything else is missing. */
int record_check_folder(struct record *record)
{
	const char *path = record->options->folder;
	char *full;

	record->made = !mkdir(path, record->options->share ? 0755 : 0700);
	if (!record->made && errno != EEXIST) {
		ksv_error("%s: cannot be created: %s; choose another folder (--output)", path,
			  strerror(errno));
		return 1;
	}
	if (!record->made && is_empty(path) && !is_ours(path)) {
		ksv_error("%s: others can write to it: choose another folder (--output), or one "
			  "that does not exist", path);
		return 1;
	}
	if (!is_empty(path)) {
		ksv_error("%s: exists and is not an empty folder; choose another one (--output)",
			  path);
		return 1;
	}
	full = realpath(path, NULL);
	if (!full || strlen(full) >= sizeof(record->folder) - NAME_MAX) {
		ksv_error("%s: %s", path, full ? "too long a path" : strerror(errno));
		free(full);
		return 1;
	}
	strcpy(record->folder, full);
	free(full);
	if (check_parents(record->folder))
		return 1;
	return check_disk(record) + check_memory(record);
}

/* --- KVM ------------------------------------------------------------------------------------- */

static int check_trace_cmd(struct record *record)
{
	const char *argv[] = { "trace-cmd", "--version", NULL };
	char said[4096], *version;
	int status = record_capture(argv, RECORD_ANSWER_S, said, sizeof(said)), major = 0;

	if (status == 127) {
		ksv_error("trace-cmd is not installed: apt-get install trace-cmd");
		return 1;
	}
	version = strstr(said, "trace-cmd version ");
	if (!version || sscanf(version, "trace-cmd version %63s", record->version) != 1 ||
	    sscanf(record->version, "%d", &major) != 1) {
		ksv_error("trace-cmd --version prints no version; is it Linux' trace-cmd?");
		return 1;
	}
	if (major >= RECORD_TRACE_CMD_MAJOR)
		return 0;
	ksv_error("trace-cmd %s is too old: %d.0 or later is needed", record->version,
		  RECORD_TRACE_CMD_MAJOR);
	return 1;
}

/** Without it, nothing else about tracing can be checked. */
bool record_check_root(const char *command)
{
	char path[PATH_MAX];

	if (!record_tracing()) {
		if (geteuid())
			ksv_error("recording needs root: sudo kshark-virt %s ...", command);
		else
			ksv_error("tracefs is not mounted: mount -t tracefs tracefs "
				  "/sys/kernel/tracing");
		return false;
	}
	snprintf(path, sizeof(path), "%s%s/tracing_on", record_root(), record_tracing());
	if (!access(path, W_OK))
		return true;
	ksv_error("recording needs root: sudo kshark-virt %s ...", command);
	return false;
}

/** The module kvm alone knows the events, but runs no machine. */
bool record_is_kvm(void)
{
	return record_there("/dev/kvm") || record_there("/sys/class/misc/kvm");
}

static int check_kvm_events(void)
{
	if (!record_is_kvm()) {
		ksv_error("this host runs no KVM machines: there is no /dev/kvm; modprobe "
			  "kvm_intel, or kvm_amd");
		return 1;
	}
	if (record_there("%s/events/kvm/kvm_entry", record_tracing()))
		return 0;
	ksv_error("the kernel has no events of KVM: modprobe kvm_intel, or kvm_amd");
	return 1;
}

int record_check_in_use(void)
{
	char *text = record_tracing_in_use();

	if (!text)
		return 0;
	ksv_error("tracing is in use: %s; end the program that uses it, or if there is none, run "
		  "trace-cmd reset",
		  text);
	free(text);
	return 1;
}

static int check_debugfs(struct record *record)
{
	int ret = kvm_live_read(record_root(), &record->live);

	for (int i = 0; i < record->live.n_notes; i++)
		ksv_note("%s", record->live.notes[i]);
	if (!ret)
		return 0;
	if (ret == -ENOENT && !record_there("/sys/kernel/debug/tracing"))
		ksv_error("debugfs, which has names and clocks of guests, is not mounted: mount -t "
			  "debugfs debugfs /sys/kernel/debug");
	else if (ret == -ENOENT)
		ksv_error("/sys/kernel/debug/kvm is missing: modprobe kvm_intel, or kvm_amd");
	else
		ksv_error("/sys/kernel/debug/kvm: %s", strerror(-ret));
	return 1;
}

int record_check_kvm(struct record *record)
{
	int missing = 0;

	missing += check_kvm_events();
	/* who else traces does not matter to buffers of our own */
	if (!record_there("%s/instances", record_tracing()))
		missing += record_check_in_use();
	missing += check_debugfs(record);
	missing += check_trace_cmd(record);
	return missing;
}
