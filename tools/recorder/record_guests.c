// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_guests.c
 * @brief	Choose how to record each guest of a KVM host: by an agent, by ssh, or not at all.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "escape.h"
#include "kvm_meta.h"
#include "record.h"

/** A guest that records says so in this time. */
#define SSH_START_S	20

/* --- which guests ---------------------------------------------------------------------------- */

/** The characters of a guest's name that can be in a file's name and a word for trace-cmd. */
static char *file_name(const char *guest, int i)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-";
	size_t n = strspn(guest, letters);
	bool plain = n && n < 64 && !guest[n] && *guest != '-' && strcmp(guest, "host") != 0;
	char *name;

	if (plain)
		return asprintf(&name, "host-%s.dat", guest) < 0 ? NULL : name;
	return asprintf(&name, "host-guest%d.dat", i + 1) < 0 ? NULL : name;
}

static struct record_guest *add_guest(struct record *record, const char *name, uint32_t cid)
{
	struct record_guest *guest;

	if (ARRAY_GROW(record->guests, record->n_guests, record->room_guests))
		return NULL;
	guest = &record->guests[record->n_guests];
	*guest = (struct record_guest){ .name = strdup(name), .cid = cid, .input = -1 };
	if (!guest->name)
		return NULL;
	record->n_guests++;
	return guest;
}

static int no_memory(void)
{
	ksv_error("not enough memory");
	return KSV_EXIT_FILE;
}

static int unknown_guest(const struct record *record, const char *name, int n)
{
	char all[512] = "";
	size_t used = 0;

	for (int i = 0; i < record->live.n_guests && used < sizeof(all); i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "",
					 record->live.guests[i].name);
	if (n > 1)
		ksv_error("--guest %s: %d machines have this name; give the UUID, the pid of the "
			  "process, or one of these names: %s", name, n, all);
	else if (*all)
		ksv_error("--guest %s: no such machine; the running ones are %s", name, all);
	else
		ksv_error("--guest %s: no machine runs on this host", name);
	return KSV_EXIT_FILE;
}

/** The text after NAME=. */
static int take_how(struct record *record, struct record_guest *guest, const char *how)
{
	if (!strcmp(how, "agent")) {
		guest->how = RECORD_BY_AGENT;
	} else if (!strcmp(how, "none")) {
		guest->how = RECORD_BY_NONE;
	} else if (!strncmp(how, "ssh:", 4) && how[4] && how[4] != '-') {
		guest->how = RECORD_BY_SSH;
		guest->target = strdup(how + 4);
		return guest->target ? 0 : no_memory();
	} else {
		return ksv_usage_error(record->command, "--guest %s=%s: not agent, "
				       "ssh:USER@HOST or none", guest->name, how);
	}
	return 0;
}

static int named_guest(struct record *record, const char *text)
{
	const char *equals = strchr(text, '=');
	char *name = strndup(text, equals ? (size_t)(equals - text) : strlen(text));
	const struct kvm_live_guest *found;
	struct record_guest *guest = NULL;
	int n = 0, status = KSV_EXIT_OK;

	if (!name)
		return no_memory();
	found = kvm_live_find(&record->live, name, &n);
	if (n != 1)
		status = unknown_guest(record, name, n);
	for (int i = 0; !status && i < record->n_guests; i++)
		if (!strcmp(record->guests[i].name, found->name))
			status = ksv_usage_error(record->command, "--guest %s: given twice",
						 name);
	if (!status)
		guest = add_guest(record, found->name, found->cid);
	free(name);
	if (status)
		return status;
	if (!guest)
		return no_memory();
	return equals ? take_how(record, guest, equals + 1) : 0;
}

/** What there is for a guest; what was asked for must be there. */
static int decide(struct record_guest *guest)
{
	const char *refusal;

	guest->asked = guest->how == RECORD_BY_AGENT;
	if (guest->how != RECORD_BY_ANY && !guest->asked)
		return 0;
	refusal = record_agent_refusal(guest->cid);
	guest->how = refusal ? RECORD_BY_NONE : RECORD_BY_AGENT;
	if (refusal && guest->asked) {
		ksv_error("%s: %s; start one in the guest: trace-cmd agent -D%s", guest->name,
			  refusal, guest->cid ? "" :
			  ", and give it a device: -device vhost-vsock-pci,guest-cid=3");
		return KSV_EXIT_FILE;
	}
	return refusal && recording_text(&guest->why, refusal) ? no_memory() : 0;
}

/** recording.json has the version of the guest's trace-cmd, as it has the host's. */
static int keep_version(struct record *record, const struct record_guest *guest, const char *said)
{
	char version[64], program[300];
	const char *text = strstr(said, "trace-cmd version ");

	snprintf(program, sizeof(program), "trace-cmd of %s", guest->name);
	if (text && sscanf(text, "trace-cmd version %63s", version) == 1 &&
	    recording_add_program(&record->recording, program, version))
		return no_memory();
	return KSV_EXIT_OK;
}

/** Files of older ones do not say how long a cycle is. */
static bool is_too_old(const char *said)
{
	const char *text = strstr(said, "trace-cmd version ");
	int major = 0;

	return text && sscanf(text, "trace-cmd version %d", &major) == 1 &&
	       major < RECORD_TRACE_CMD_MAJOR;
}

/** What is needed in a guest is there? Asked by ssh, before anything begins. */
static int check_ssh(struct record *record, const struct record_guest *guest)
{
	static const char questions[] =
		"echo uid=$(id -u).; trace-cmd --version 2>&1 | grep version; "
		"cat /sys/kernel/tracing/trace_clock /sys/kernel/debug/tracing/trace_clock "
		"2> /dev/null";
	const char *argv[] = { "ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=8",
			       guest->target, questions, NULL };
	char said[4096];
	int status = record_capture(argv, RECORD_ANSWER_S, said, sizeof(said));

	if (status == 127 && !*said)
		ksv_error("ssh is not installed: apt-get install openssh-client");
	else if (status < 0 || status == 255)
		ksv_error("%s: ssh %s does not answer without a password: %s", guest->name,
			  guest->target, *said ? said : "no answer");
	else if (!strstr(said, "uid=0."))
		ksv_error("%s: %s is not root there, and only root can trace: --guest "
			  "%s=ssh:root@...",
			  guest->name, guest->target, guest->name);
	else if (!strstr(said, "trace-cmd version "))
		ksv_error("%s: trace-cmd is not installed there: apt-get install trace-cmd",
			  guest->name);
	else if (is_too_old(said))
		ksv_error("%s: its trace-cmd is too old: %d.0 or later is needed there",
			  guest->name, RECORD_TRACE_CMD_MAJOR);
	else if (!strstr(said, record->clock))
		ksv_error("%s: its kernel has no clock %s, or tracefs is not mounted there: "
			  "mount -t tracefs tracefs /sys/kernel/tracing", guest->name,
			  record->clock);
	else
		return keep_version(record, guest, said);
	return KSV_EXIT_FILE;
}

static int prepare(struct record *record, int i)
{
	struct record_guest *guest = &record->guests[i];
	int status = decide(guest);

	if (!status && guest->how == RECORD_BY_SSH)
		status = check_ssh(record, guest);
	if (status || guest->how == RECORD_BY_NONE)
		return status;
	guest->file = file_name(guest->name, i);
	return guest->file ? KSV_EXIT_OK : no_memory();
}

/** Guests that no option names are recorded if they have an agent. */
static int unnamed_guests(struct record *record)
{
	for (int i = 0; i < record->live.n_guests; i++) {
		const struct kvm_live_guest *live = &record->live.guests[i];
		bool there = false;

		for (int j = 0; j < record->n_guests; j++)
			there = there || !strcmp(record->guests[j].name, live->name);
		if (!there && !add_guest(record, live->name, live->cid))
			return no_memory();
	}
	return KSV_EXIT_OK;
}

int record_find_guests(struct record *record)
{
	int status = KSV_EXIT_OK;

	for (int i = 0; !status && i < record->options->n_guests; i++)
		status = named_guest(record, record->options->guests[i]);
	if (!status)
		status = unnamed_guests(record);
	for (int i = 0; !status && i < record->n_guests; i++)
		status = prepare(record, i);
	return status;
}

/** It is none of the recording's files; what is in it stays. */
static void drop_file(const struct record *record, struct record_guest *guest)
{
	char path[PATH_MAX + NAME_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", record->folder, guest->file);
	if (!lstat(path, &st) && !st.st_size)
		unlink(path);
	free(guest->file);
	guest->file = NULL;
}

bool record_has_agents(const struct record *record)
{
	for (int i = 0; i < record->n_guests; i++)
		if (record->guests[i].how == RECORD_BY_AGENT)
			return true;
	return false;
}

bool record_drop_agents(struct record *record, const char *why)
{
	bool any = false;

	for (int i = 0; i < record->n_guests; i++) {
		const struct record_guest *guest = &record->guests[i];

		if (guest->how == RECORD_BY_AGENT && guest->asked)
			return false;
		any = any || guest->how == RECORD_BY_AGENT;
	}
	for (int i = 0; i < record->n_guests; i++) {
		struct record_guest *guest = &record->guests[i];

		if (guest->how != RECORD_BY_AGENT)
			continue;
		drop_file(record, guest);
		guest->how = RECORD_BY_NONE;
		if (recording_text(&guest->why, why) ||
		    recording_text(&record->recording.guests[i].how, "none") ||
		    recording_text(&record->recording.guests[i].why, guest->why))
			return false;
	}
	return any;
}

/* --- ssh ------------------------------------------------------------------------------------- */

/**
 * What runs in the guest: it records until its input ends, whatever ends it, then sends the trace.
 * Its output is the trace alone.
 */
static char *ssh_script(const struct record *record)
{
	char events[256] = "", *script;
	const char *list = record_guest_events(record);
	size_t used = 0;

	while (*list) {
		size_t n = strcspn(list, ",");

		used += (size_t)snprintf(events + used, sizeof(events) - used, " -e %.*s", (int)n,
					 list);
		list += n + (list[n] == ',');
	}
	if (asprintf(&script,
		     "d=$(mktemp -d) || exit 1; cd $d || exit 1; "
		     "trace-cmd record -C %s%s -o t.dat 1>&2 < /dev/null & p=$!; "
		     "n=0; while [ ! -e t.dat.cpu0 ] && [ $n -lt 60 ] && kill -0 $p; do "
		     "n=$((n+1)); sleep 0.2; done; "
		     "[ -e t.dat.cpu0 ] && echo '" RECORD_SAYS "' 1>&2; "
		     "read x; kill -INT $p; wait $p; w=$?; cat t.dat && [ $w = 0 ]; s=$?; cd /; "
		     "[ $s = 0 ] && rm -rf $d || echo \"the trace stays in $d\" 1>&2; exit $s",
		     record->clock, events) < 0)
		return NULL;
	return script;
}

static int start_ssh(struct record *record, struct record_guest *guest)
{
	char *script = ssh_script(record), log[NAME_MAX];
	const char *argv[] = { "ssh", "-o", "BatchMode=yes", guest->target, script, NULL };
	const struct timespec pause = { .tv_nsec = 50000000 };
	int status;

	if (!script)
		return no_memory();
	snprintf(log, sizeof(log), "%s.log", guest->file);
	guest->pid = record_spawn(record, argv, &guest->input, guest->file, log);
	free(script);
	for (int i = 0; guest->pid > 0 && i < SSH_START_S * 20; i++) {
		if (record_log_says(record, log, RECORD_SAYS))
			return KSV_EXIT_OK;
		if (waitpid(guest->pid, &status, WNOHANG)) {
			guest->pid = 0;
			break;
		}
		nanosleep(&pause, NULL);
	}
	record->names_files = true;
	ksv_error("%s: does not start to record; its messages are in %s/%s", guest->name,
		  record->folder, log);
	return KSV_EXIT_FILE;
}

int record_start_guests(struct record *record)
{
	int status = KSV_EXIT_OK;

	for (int i = 0; !status && i < record->n_guests; i++)
		if (record->guests[i].how == RECORD_BY_SSH)
			status = start_ssh(record, &record->guests[i]);
	return status;
}

/** All at once, so that none records longer because of another, or of the host. */
void record_release_guests(struct record *record)
{
	for (int i = 0; i < record->n_guests; i++) {
		if (record->guests[i].input >= 0)
			close(record->guests[i].input);
		record->guests[i].input = -1;
	}
}

/** Is there a trace that can be read? What there is of another stays, and is none of its files. */
static bool has_trace(const char *folder, const struct record_guest *guest)
{
	char path[PATH_MAX + NAME_MAX], problem[512];

	snprintf(path, sizeof(path), "%s/%s", folder, guest->file);
	return trace_dat_is(path) && trace_dat_check(path, problem, sizeof(problem), NULL);
}

/** What an agent sends ends with its machine, and trace-cmd takes that for the end of the trace. */
static bool machine_has_ended(const struct record *record, const struct record_guest *guest,
			      const struct kvm_live *end)
{
	for (int i = 0; end && i < record->live.n_guests; i++)
		if (!strcmp(record->live.guests[i].name, guest->name))
			return !record_same_machine(end, &record->live.guests[i]);
	return false;
}

/** Why its trace is not known to be all that was recorded; NULL: it is. */
static const char *why_not_all(const struct record *record, const struct record_guest *guest,
			       const struct kvm_live *end)
{
	bool agent = guest->how == RECORD_BY_AGENT;
	int status = agent ? record->recorder_status : guest->status;

	if (guest->given_up)
		return "the wait for it was abandoned";
	if (agent && machine_has_ended(record, guest, end))
		return "its machine ended in the meantime";
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return NULL;
	return agent ? "trace-cmd has failed" :
	       "it ended, or did not send all of its trace";
}

static int judge_guest(struct record *record, struct record_guest *guest,
		       const struct kvm_live *end)
{
	const char *why = why_not_all(record, guest, end);
	bool there = guest->file && has_trace(record->folder, guest);

	if (!guest->file || (there && !why))
		return 0;
	free(guest->why);
	if (asprintf(&guest->why, "%s%s", why ? why : "it did not send its trace",
		     there ? "" : ": its data could not be made into a trace") < 0) {
		guest->why = NULL;
		return no_memory();
	}
	record->names_files = true;
	ksv_note("%s: its trace is not complete: %s; messages are in %s/%s.log", guest->name,
		 guest->why, record->folder,
		 guest->how == RECORD_BY_SSH ? guest->file : RECORD_KVM_FILE);
	if (!there)
		drop_file(record, guest);
	return 0;
}

/** How fast a guest's TSC is, as that of the host is 1: a fixed-point number, or 0. */
static uint64_t ratio_of(const char *folder, const char *guest, int *bits)
{
	char host[PATH_MAX + NAME_MAX], error[256];
	struct kvm_meta *meta = NULL;
	uint64_t ratio = 0;

	snprintf(host, sizeof(host), "%s/" RECORD_KVM_FILE, folder);
	kvm_meta_read(host, &meta, error, sizeof(error));
	for (int i = 0; meta && i < meta->n_guests; i++) {
		const struct kvm_meta_guest *known = &meta->guests[i];

		if (!known->name || strcmp(known->name, guest) != 0 || !known->n_vcpus ||
		    !known->vcpus[0].has_tsc)
			continue;
		ratio = known->vcpus[0].tsc_ratio;
		*bits = known->vcpus[0].tsc_frac_bits;
	}
	kvm_meta_free(meta);
	return ratio;
}

/**
 * What a guest has sent by ssh counts cycles, and the host's trace ns. With the same factor, but
 * for what KVM makes of the TSC, it is exact what the offset is between them. An agent does so
 * itself.
 */
static void scale_guest(const char *folder, const char *guest, const char *file,
			struct trace_dat_scale scale)
{
	char path[PATH_MAX + NAME_MAX];
	int bits = 0, ret;
	uint64_t ratio = ratio_of(folder, guest, &bits);
	unsigned __int128 mult = scale.mult;

	if (!mult)
		return;
	if (ratio)
		mult = ((mult << bits) + ratio / 2) / ratio;
	for (; mult > UINT32_MAX && scale.shift; scale.shift--)
		mult >>= 1;
	scale.mult = (uint32_t)mult;
	snprintf(path, sizeof(path), "%s/%s", folder, file);
	ret = mult > UINT32_MAX ? -EINVAL : trace_dat_add_scale(path, &scale);
	if (ret && ret != -EEXIST)
		ksv_note("%s: its trace has TSC cycles, and their length cannot be added to it: %s",
			 guest, strerror(-ret));
}

int record_add_left_guests(struct record *record, const char *folder,
			   struct recording *recording)
{
	const struct trace_dat_scale scale = { recording->tsc_mult, recording->tsc_shift };
	bool by_ssh = false;
	int ret = 0;

	for (int i = 0; i < recording->n_guests && !ret; i++) {
		struct recording_guest *guest = &recording->guests[i];
		const struct record_guest left = {
			.name = guest->name, .file = file_name(guest->name, i),
		};
		const struct recording_file file = {
			.name = left.file, .role = RECORDING_GUEST, .guest = guest->name,
			.records = RECORDING_UNKNOWN, .lost = RECORDING_UNKNOWN,
		};

		if (!left.file)
			return -ENOMEM;
		if (guest->how && strcmp(guest->how, "none") != 0) {
			bool there = has_trace(folder, &left);

			if (there && !strncmp(guest->how, "ssh:", 4)) {
				scale_guest(folder, left.name, left.file, scale);
				by_ssh = true;
			}
			ret = there ? recording_add_file(recording, &file) :
			      recording_text(&guest->why, "no readable part of it had arrived when "
					     "kshark-virt record was killed");
		}
		free(left.file);
	}
	/* what follows has been asked for, and does not wait until that is done */
	if (by_ssh && !record->left_folder)
		record->left_folder = strdup(folder);
	return ret;
}

int record_judge_guests(struct record *record, const struct kvm_live *end)
{
	int status = KSV_EXIT_OK;

	for (int i = 0; !status && i < record->n_guests; i++) {
		struct record_guest *guest = &record->guests[i];

		status = judge_guest(record, guest, end);
		if (guest->how == RECORD_BY_SSH && guest->file)
			scale_guest(record->folder, guest->name, guest->file, record->scale);
		/* they are in the same order there */
		if (!status && guest->why && i < record->recording.n_guests &&
		    recording_text(&record->recording.guests[i].why, guest->why))
			status = no_memory();
	}
	return status;
}
