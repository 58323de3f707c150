// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_regions.c
 * @brief	Where machines' devices are, for the sidecar: from their monitors or from files.
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

#include "array.h"
#include "escape.h"
#include "kvm_apart.h"
#include "kvm_confine.h"
#include "record.h"
#include "regular_file.h"

/** What a machine's monitor has answered; nothing, if it has not. */
struct record_regions {
	int		pid, fd;	/* as in struct kvm_live_guest */
	struct kvm_regions regions;
};

static const struct record_regions *find_asked(const struct record *record,
					       const struct kvm_live_guest *guest)
{
	for (int i = 0; i < record->n_asked; i++)
		if (record->asked[i].pid == guest->pid && record->asked[i].fd == guest->fd)
			return &record->asked[i];
	return NULL;
}

/** The file with its answer; NULL: none was given. */
static const char *file_for(const struct record_options *options, const struct kvm_live *live,
			    const struct kvm_live_guest *guest)
{
	for (int i = 0; i < options->n_regions; i++) {
		const char *file = strchr(options->regions[i], '=');
		char *name = file ? strndup(options->regions[i],
					    (size_t)(file - options->regions[i])) : NULL;
		int n = 0;
		bool same = name && kvm_live_find(live, name, &n) == guest;

		free(name);
		if (same)
			return file + 1;
	}
	return NULL;
}

static int read_answer(const char *path, struct kvm_regions *regions, char *error, size_t size)
{
	char *text = malloc(KVM_REGIONS_BYTES + 1);
	ssize_t n = text ? regular_file_start(path, text, KVM_REGIONS_BYTES + 1) : -ENOMEM;
	int ret = n < 0 ? (int)n : n == KVM_REGIONS_BYTES ? -EFBIG :
		  kvm_regions_parse(text, regions);

	free(text);
	if (ret)
		text_format(error, size, "%s: %s", path,
			    ret == -EINVAL ? "no answer to 'info mtree -f -o'" :
			    ret == -EFBIG ? "too large" : regular_file_error(ret));
	return ret;
}

/* --- a monitor, asked by a process without rights -------------------------------------------- */

#define PATIENCE_NS	INT64_C(1500000000)

/** What the process sends: first this, then a struct sent_region for each. */
struct sent_head {
	int32_t		ret;
	uint32_t	n, n_left_out;
};

struct sent_region {
	uint64_t	first, last;
	uint8_t		is_port;
	char		name[KVM_REGION_NAME];
};

static bool write_all(int fd, const void *data, size_t size)
{
	for (size_t done = 0; done < size; ) {
		ssize_t n = write(fd, (const char *)data + done, size - done);

		if (n < 0 && errno != EINTR)
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/** The process. @to: where it sends what it reads from the monitor @from */
static void talk(int from, int to)
{
	const int keep[] = { from, to };
	struct kvm_regions regions = { 0 };
	struct sent_head head = { 0 };
	bool ok;

	kvm_apart_settle(keep, ARRAY_SIZE(keep));
	kvm_apart_limit(KVM_REGIONS_BYTES);
	if (!kvm_confine())
		_exit(1);
	head.ret = kvm_regions_talk(from, &regions);
	head.n = head.ret ? 0 : (uint32_t)regions.n;
	head.n_left_out = (uint32_t)regions.n_left_out;
	ok = write_all(to, &head, sizeof(head));
	for (uint32_t i = 0; i < head.n && ok; i++) {
		struct sent_region sent = {
			.first = regions.all[i].first, .last = regions.all[i].last,
			.is_port = regions.all[i].is_port,
		};

		snprintf(sent.name, sizeof(sent.name), "%s", regions.all[i].name);
		ok = write_all(to, &sent, sizeof(sent));
	}
	_exit(0);
}

/** Read all of a piece before a time. Return: 0, -ETIMEDOUT, -ECONNRESET or another errno. */
static int read_all(int fd, void *data, size_t size, int64_t until_ns)
{
	for (size_t done = 0; done < size; ) {
		int64_t left_ns = until_ns - record_now_ns();
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (left_ns <= 0)
			return -ETIMEDOUT;
		if (poll(&ready, 1, (int)(left_ns / 1000000 + 1)) <= 0)
			continue;
		n = read(fd, (char *)data + done, size - done);
		if (!n)
			return -ECONNRESET;
		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/** Take what the process sends, which may be hostile. */
static int take_sent(int fd, struct kvm_regions *regions)
{
	int64_t until_ns = record_now_ns() + PATIENCE_NS;
	struct sent_head head;
	int ret = read_all(fd, &head, sizeof(head), until_ns);

	if (!ret)
		ret = head.ret > 0 || head.n > DEVICE_MAX_REGIONS ? -EPROTO : head.ret;
	for (uint32_t i = 0; !ret && i < head.n; i++) {
		struct sent_region sent;

		ret = read_all(fd, &sent, sizeof(sent), until_ns);
		if (!ret && (sent.is_port > 1 || sent.first > sent.last ||
			     !memchr(sent.name, '\0', sizeof(sent.name))))
			ret = -EPROTO;
		if (!ret)
			ret = kvm_regions_add(regions, &(struct device_region){
				.first = sent.first, .last = sent.last, .is_port = sent.is_port,
				.name = sent.name,
			});
	}
	if (!ret)
		regions->n_left_out = head.n_left_out;
	return ret;
}

static int ask_apart(int monitor, struct kvm_regions *regions)
{
	int ends[2], ret, status;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		talk(monitor, ends[1]);
	ret = pid < 0 ? -errno : 0;
	close(ends[1]);
	if (!ret)
		ret = take_sent(ends[0], regions);
	close(ends[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	return ret;
}

static int ask_monitor(const struct kvm_live_guest *guest, struct kvm_regions *regions,
		       char *error, size_t size)
{
	int fd = kvm_regions_connect(record_root(), guest);
	int ret = fd < 0 ? fd : ask_apart(fd, regions);

	if (fd >= 0)
		close(fd);
	if (ret)
		text_format(error, size, "its monitor (%s) %s", guest->control,
			    kvm_regions_problem(ret));
	return ret;
}

static void ask(struct record *record, const struct kvm_live *live,
		const struct kvm_live_guest *guest)
{
	struct record_regions *asked;
	const char *file = file_for(record->options, live, guest);
	char error[512];
	int ret = 0;

	if (find_asked(record, guest))
		return;
	/* what does not fit into memory is not known */
	if (ARRAY_GROW(record->asked, record->n_asked, record->asked_room))
		return;
	asked = &record->asked[record->n_asked++];
	*asked = (struct record_regions){ .pid = guest->pid, .fd = guest->fd };
	if (file)
		ret = read_answer(file, &asked->regions, error, sizeof(error));
	else if (guest->control && !record->options->no_regions)
		ret = ask_monitor(guest, &asked->regions, error, sizeof(error));
	if (ret) {
		kvm_regions_free(&asked->regions);
		ksv_note("%s: %s: addresses have no names of devices", guest->name, error);
	} else if (asked->regions.n_left_out) {
		ksv_note("%s: %zu regions of devices are left out, after the first %d",
			 guest->name, asked->regions.n_left_out, DEVICE_MAX_REGIONS);
	}
}

int record_check_regions(const struct record *record)
{
	const struct record_options *options = record->options;

	for (int i = 0; i < options->n_regions; i++) {
		size_t n = strcspn(options->regions[i], "=");
		char *name = strndup(options->regions[i], n);
		int found = 0;

		if (name)
			kvm_live_find(&record->live, name, &found);
		free(name);
		if (found != 1) {
			ksv_error("--regions %s: %s machine is called %.*s", options->regions[i],
				  found ? "more than one" : "no", (int)n, options->regions[i]);
			return KSV_EXIT_USAGE;
		}
	}
	return KSV_EXIT_OK;
}

void record_look_at_regions(struct record *record, const struct kvm_live *live)
{
	for (int i = 0; i < live->n_guests; i++)
		ask(record, live, &live->guests[i]);
}

int record_add_regions(const struct record *record, const struct kvm_live_guest *guest,
		       struct kvm_meta_guest *to)
{
	const struct record_regions *asked = find_asked(record, guest);
	int ret = 0;

	for (size_t i = 0; asked && i < asked->regions.n && ret != -ENOMEM; i++)
		ret = kvm_meta_add_region(to, &asked->regions.all[i]);
	return ret == -ENOMEM ? ret : 0;
}

void record_free_regions(struct record *record)
{
	for (int i = 0; i < record->n_asked; i++)
		kvm_regions_free(&record->asked[i].regions);
	free(record->asked);
}
