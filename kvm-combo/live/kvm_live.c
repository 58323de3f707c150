// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_live.c
 * @brief	List the virtual machines that run on this KVM host now: debugfs and /proc.
 */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "kvm_live.h"
#include "regular_file.h"

#define DEBUGFS	"/sys/kernel/debug/kvm"
/** A file with one number. */
#define NUMBER_BYTES	64
#define COMM_BYTES	64

/** A line about what was not understood. */
__attribute__((format(printf, 2, 3)))
static int note(struct kvm_live *live, const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	if (ARRAY_GROW(live->notes, live->n_notes, live->notes_room)) {
		free(text);
		return -ENOMEM;
	}
	live->notes[live->n_notes++] = text;
	return 0;
}

/** What such a file says; a machine that has ended says nothing, which is no mistake. */
enum said { SAID, SAID_NOTHING };

static bool vanished(ssize_t error)
{
	return error == -ENOENT || error == -ESRCH || error == -ENODEV || error == -ENOTDIR;
}

/**
 * A file that has a number and nothing else.
 *
 * Return: SAID, SAID_NOTHING (with a note, unless there is no such file), or -ENOMEM.
 */
static int read_number(struct kvm_live *live, const char *path, bool is_signed, uint64_t *value)
{
	char text[NUMBER_BYTES], *end;
	ssize_t n = regular_file_start(path, text, sizeof(text));

	if (n < 0)
		return vanished(n) ? SAID_NOTHING :
		       note(live, "%s: %s", path, regular_file_error((int)n)) ? : SAID_NOTHING;
	errno = 0;
	*value = is_signed ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
	if (n == sizeof(text) - 1 || strlen(text) < (size_t)n || end == text || errno ||
	    (!is_signed && strchr(text, '-')) || end[strspn(end, " \n")])
		return note(live, "%s: not a number", path) ? : SAID_NOTHING;
	return SAID;
}

static int vcpu_number(struct kvm_live *live, const char *folder, int id, const char *file,
		       bool is_signed, uint64_t *value)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/vcpu%d/%s", folder, id, file) >= (int)sizeof(path))
		return SAID_NOTHING;
	return read_number(live, path, is_signed, value);
}

static int read_thread(struct kvm_live *live, const char *folder, struct kvm_live_vcpu *vcpu)
{
	uint64_t value;
	int ret = vcpu_number(live, folder, vcpu->id, "pid", false, &value);

	if (ret != SAID)
		return ret;
	if (!value || value > INT_MAX)
		return note(live, "%s/vcpu%d/pid: not a thread", folder, vcpu->id);
	vcpu->tid = (int)value;
	return 0;
}

static int read_ratio(struct kvm_live *live, const char *folder, struct kvm_live_vcpu *vcpu)
{
	uint64_t ratio, bits;
	int ret = vcpu_number(live, folder, vcpu->id, "tsc-scaling-ratio", false, &ratio);

	if (ret != SAID)
		return ret;
	ret = vcpu_number(live, folder, vcpu->id, "tsc-scaling-ratio-frac-bits", false, &bits);
	if (ret != SAID)
		return ret;
	if (!ratio || bits > 63)
		return note(live, "%s/vcpu%d: no TSC runs at %llu / 2^%llu", folder, vcpu->id,
			    (unsigned long long)ratio, (unsigned long long)bits);
	vcpu->tsc_ratio = ratio;
	vcpu->tsc_ratio_frac_bits = (int)bits;
	return 0;
}

static int read_vcpu(struct kvm_live *live, const char *folder, struct kvm_live_vcpu *vcpu)
{
	uint64_t value;
	int ret = vcpu_number(live, folder, vcpu->id, "tsc-offset", true, &value);

	if (ret < 0)
		return ret;
	if (ret == SAID) {
		vcpu->has_offset = true;
		vcpu->tsc_offset = (int64_t)value;
	}
	ret = read_thread(live, folder, vcpu);
	if (ret < 0)
		return ret;
	ret = read_ratio(live, folder, vcpu);
	return ret < 0 ? ret : 0;
}

/** A name of digits alone, with @before in front and @after behind. Return: them, or -1. */
static int numbered(const char *name, const char *before, const char *after)
{
	size_t n = strlen(before);
	char *end;
	long value;

	if (strncmp(name, before, n) != 0 || !isdigit((unsigned char)name[n]))
		return -1;
	errno = 0;
	value = strtol(name + n, &end, 10);
	return errno || value > INT_MAX || strcmp(end, after) != 0 ? -1 : (int)value;
}

static int by_id(const void *a, const void *b)
{
	const struct kvm_live_vcpu *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/** @where: what has the number. Return: the new one, or NULL with 0 or -ENOMEM in @ret. */
static struct kvm_live_vcpu *add_vcpu(struct kvm_live *live, struct kvm_live_guest *guest, int id,
				      const char *where, const char *name, int *ret)
{
	*ret = 0;
	if (id >= KVM_LIVE_VCPUS)
		*ret = note(live, "%s/%s: no such number of a vCPU", where, name);
	else if (ARRAY_GROW(guest->vcpus, guest->n_vcpus, guest->room))
		*ret = -ENOMEM;
	else
		guest->vcpus[guest->n_vcpus++] = (struct kvm_live_vcpu){ .id = id };
	return *ret || id >= KVM_LIVE_VCPUS ? NULL : &guest->vcpus[guest->n_vcpus - 1];
}

/** The folders of its vCPUs, which KVM makes on x86 alone. */
static int read_folders(struct kvm_live *live, const char *folder, struct kvm_live_guest *guest)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	int ret = 0;

	while (!ret && dir && (entry = readdir(dir))) {
		int id = numbered(entry->d_name, "vcpu", "");
		struct kvm_live_vcpu *vcpu;

		if (id < 0)
			continue;
		vcpu = add_vcpu(live, guest, id, folder, entry->d_name, &ret);
		if (vcpu)
			ret = read_vcpu(live, folder, vcpu);
	}
	if (dir)
		closedir(dir);
	return ret;
}

/** The files of vCPUs that the monitor has open, if they can be of one VM alone. */
static int read_files(const char *root, struct kvm_live *live, struct kvm_live_guest *guest)
{
	char folder[PATH_MAX], to[64];
	const struct dirent *entry;
	int ret = 0, n_vms = 0;
	DIR *dir;

	if (snprintf(folder, sizeof(folder), "%s/proc/%d/fd", root, guest->pid) >=
	    (int)sizeof(folder))
		return 0;
	dir = opendir(folder);
	while (!ret && dir && (entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, to, sizeof(to) - 1);
		int id;

		to[n > 0 ? n : 0] = '\0';
		n_vms += !strcmp(to, "anon_inode:kvm-vm");
		id = numbered(to, "anon_inode:kvm-vcpu:", "");
		if (id >= 0)
			add_vcpu(live, guest, id, folder, entry->d_name, &ret);
	}
	if (dir)
		closedir(dir);
	if (n_vms != 1)
		guest->n_vcpus = 0;
	return ret;
}

static int read_vcpus(const char *root, struct kvm_live *live, const char *folder,
		      struct kvm_live_guest *guest)
{
	int ret = read_folders(live, folder, guest);

	if (!ret && !guest->n_vcpus)
		ret = read_files(root, live, guest);
	if (guest->n_vcpus)
		qsort(guest->vcpus, (size_t)guest->n_vcpus, sizeof(*guest->vcpus), by_id);
	return ret;
}

/* --- threads --------------------------------------------------------------------------------- */

int kvm_live_thread(const char *comm)
{
	static const struct {
		const char *before, *after;
	} names[] = {
		{ "CPU ", "/KVM" },	/* QEMU with debug-threads, as libvirt starts it */
		{ "CPU ", "/TCG" },
		{ "crosvm_vcpu", "" },
		{ "fc_vcpu ", "" },	/* firecracker */
		{ "vcpu", "" },		/* cloud-hypervisor */
		{ "kvm-vcpu-", "" },	/* kvmtool */
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		int id = numbered(comm, names[i].before, names[i].after);

		if (id >= 0)
			return id;
	}
	return -1;
}

static bool read_comm(const char *root, int pid, int tid, char comm[COMM_BYTES])
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/proc/%d/task/%d/comm", root, pid, tid) >=
	    (int)sizeof(path) || regular_file_start(path, comm, COMM_BYTES) <= 0)
		return false;
	comm[strcspn(comm, "\n")] = '\0';
	return *comm != '\0';
}

/** Whose thread is it? That of a vCPU which has none yet; two of one name prove nothing. */
static void take_thread(struct kvm_live_guest *guest, const char *comm, int tid)
{
	struct kvm_live_vcpu key = { .id = kvm_live_thread(comm) }, *vcpu;

	if (key.id < 0)
		return;
	vcpu = bsearch(&key, guest->vcpus, (size_t)guest->n_vcpus, sizeof(key), by_id);
	if (vcpu)
		vcpu->tid = vcpu->tid ? -1 : tid;
}

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/** All of the monitor that are not known yet. Return: 0 or -ENOMEM. */
static int read_threads(const char *root, struct kvm_live_guest *guest)
{
	char path[PATH_MAX];
	const struct dirent *entry;
	int known = guest->n_threads, ret = 0;
	DIR *dir;

	if (snprintf(path, sizeof(path), "%s/proc/%d/task", root, guest->pid) >= (int)sizeof(path))
		return 0;
	dir = opendir(path);
	while (dir && !ret && guest->n_threads < KVM_LIVE_THREADS && (entry = readdir(dir))) {
		int tid = numbered(entry->d_name, "", "");

		if (tid <= 0 || (known && bsearch(&tid, guest->threads, (size_t)known,
						  sizeof(*guest->threads), by_number)))
			continue;
		ret = ARRAY_GROW(guest->threads, guest->n_threads, guest->threads_room);
		if (!ret)
			guest->threads[guest->n_threads++] = tid;
	}
	if (dir)
		closedir(dir);
	if (guest->n_threads > known)
		qsort(guest->threads, (size_t)guest->n_threads, sizeof(*guest->threads), by_number);
	return ret;
}

int kvm_live_more_threads(const char *root, struct kvm_live *live)
{
	int ret = 0;

	for (int i = 0; i < live->n_guests && !ret; i++)
		ret = read_threads(root, &live->guests[i]);
	return ret;
}

/** Kernels before 6.0 do not list the threads of vCPUs: the names of threads may show them. */
static void name_threads(const char *root, struct kvm_live_guest *guest)
{
	char comm[COMM_BYTES];

	for (int i = 0; i < guest->n_vcpus; i++)
		if (guest->vcpus[i].tid)
			return;
	for (int i = 0; i < guest->n_threads; i++)
		if (read_comm(root, guest->pid, guest->threads[i], comm))
			take_thread(guest, comm, guest->threads[i]);
	for (int i = 0; i < guest->n_vcpus; i++)
		if (guest->vcpus[i].tid < 0)
			guest->vcpus[i].tid = 0;
}

/* --- machines -------------------------------------------------------------------------------- */

static int read_name(const char *root, struct kvm_live *live, struct kvm_live_guest *guest)
{
	char path[PATH_MAX], comm[COMM_BYTES];
	char *text = malloc(KVM_LIVE_CMDLINE + 1);
	ssize_t n;
	int ret = 0;

	if (!text)
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s/proc/%d/cmdline", root, guest->pid);
	n = regular_file_start(path, text, KVM_LIVE_CMDLINE + 1);
	if (n > 0)
		ret = kvm_live_cmdline(text, (size_t)n, guest);
	else if (n < 0 && !vanished(n))
		ret = note(live, "%s: %s", path, regular_file_error((int)n));
	free(text);
	if (ret || guest->name)
		return ret;
	if (!read_comm(root, guest->pid, guest->pid, comm))
		snprintf(comm, sizeof(comm), "vm");
	return asprintf(&guest->name, "%s-%d", comm, guest->pid) < 0 ? -ENOMEM : 0;
}

static void free_guest(struct kvm_live_guest *guest)
{
	free(guest->name);
	free(guest->uuid);
	free(guest->control);
	free(guest->vcpus);
	free(guest->threads);
}

/** The folder of a machine is called PID-FD. */
static bool guest_folder(const char *name, int *pid, int *fd)
{
	const char *dash = strchr(name, '-');
	char first[16];

	if (!dash || dash - name >= (int)sizeof(first))
		return false;
	memcpy(first, name, (size_t)(dash - name));
	first[dash - name] = '\0';
	*pid = numbered(first, "", "");
	*fd = numbered(dash + 1, "", "");
	return *pid > 0 && *fd >= 0;
}

static int add_guest(const char *root, const char *name, struct kvm_live *live)
{
	struct kvm_live_guest guest = { 0 };
	char path[PATH_MAX];
	int ret;

	if (!guest_folder(name, &guest.pid, &guest.fd))
		return 0;
	if (snprintf(path, sizeof(path), "%s" DEBUGFS "/%s", root, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	ret = read_vcpus(root, live, path, &guest);
	if (!ret)
		ret = read_name(root, live, &guest);
	if (!ret && guest.n_vcpus)
		ret = read_threads(root, &guest);
	if (!ret && guest.n_vcpus && ARRAY_GROW(live->guests, live->n_guests, live->room))
		ret = -ENOMEM;
	if (ret || !guest.n_vcpus) {
		free_guest(&guest);	/* a probe of the monitor's, or it has ended */
		return ret;
	}
	name_threads(root, &guest);
	guest.called = strlen(guest.name);
	live->guests[live->n_guests++] = guest;
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct kvm_live_guest *x = a, *y = b;

	return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid) :
	       (x->fd > y->fd) - (x->fd < y->fd);
}

/* --- names that differ ----------------------------------------------------------------------- */

static bool called_alike(const struct kvm_live_guest *a, const struct kvm_live_guest *b)
{
	return a->called == b->called && !memcmp(a->name, b->name, a->called);
}

/** Has another one this name, or been called so? */
static bool is_taken(const struct kvm_live *live, const struct kvm_live_guest *guest,
		     const char *name)
{
	for (int i = 0; i < live->n_guests; i++) {
		const struct kvm_live_guest *other = &live->guests[i];

		if (other != guest && (!strcmp(other->name, name) ||
				       (strlen(name) == other->called &&
					!memcmp(other->name, name, other->called))))
			return true;
	}
	return false;
}

/** A name to distinguish it by: what of its UUID differs, its process, its VM in that. */
static int other_name(const struct kvm_live *live, const struct kvm_live_guest *guest, int way,
		      char **name)
{
	const char *uuid = guest->uuid ? guest->uuid : "";
	int called = (int)guest->called, n;

	if (way == 0 && strlen(uuid) < 8) {
		*name = NULL;
		return 0;
	}
	n = way == 0 ? asprintf(name, "%.*s-%.8s", called, guest->name, uuid) :
	    way == 1 ? asprintf(name, "%.*s-%d", called, guest->name, guest->pid) :
	    asprintf(name, "%.*s-%d-%d", called, guest->name, guest->pid, guest->fd + way - 2);
	if (n < 0)
		return -ENOMEM;
	if (is_taken(live, guest, *name)) {
		free(*name);
		*name = NULL;
	}
	return 0;
}

/**
 * Files, sidecar and all views go by names: those of machines that were called alike are made to
 * differ here, and are the same everywhere.
 */
static int distinguish(struct kvm_live *live, struct kvm_live_guest *guest)
{
	bool alike = false;
	char *name = NULL;
	int ret = 0;

	for (int i = 0; i < live->n_guests && !alike; i++)
		alike = &live->guests[i] != guest && called_alike(&live->guests[i], guest);
	for (int way = 0; alike && !name && !ret; way++)
		ret = other_name(live, guest, way, &name);
	if (name) {
		free(guest->name);
		guest->name = name;
	}
	return ret;
}

int kvm_live_read(const char *root, struct kvm_live *live)
{
	char path[PATH_MAX];
	const struct dirent *entry;
	DIR *dir;
	int ret = 0;

	*live = (struct kvm_live){ 0 };
	if (snprintf(path, sizeof(path), "%s" DEBUGFS, root) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!ret && (entry = readdir(dir)))
		ret = add_guest(root, entry->d_name, live);
	closedir(dir);
	if (live->n_guests)
		qsort(live->guests, (size_t)live->n_guests, sizeof(*live->guests), by_pid);
	for (int i = 0; i < live->n_guests && !ret; i++)
		ret = distinguish(live, &live->guests[i]);
	return ret;
}

void kvm_live_free(struct kvm_live *live)
{
	for (int i = 0; i < live->n_guests; i++)
		free_guest(&live->guests[i]);
	for (int i = 0; i < live->n_notes; i++)
		free(live->notes[i]);
	free(live->guests);
	free(live->notes);
	*live = (struct kvm_live){ 0 };
}

const struct kvm_live_guest *kvm_live_find(const struct kvm_live *live, const char *name, int *n)
{
	const struct kvm_live_guest *found = NULL;
	int pid = numbered(name, "", "");

	*n = 0;
	for (int i = 0; i < live->n_guests; i++) {
		const struct kvm_live_guest *guest = &live->guests[i];

		if (strcmp(guest->name, name) != 0 && guest->pid != pid &&
		    (strlen(name) != guest->called || memcmp(guest->name, name, guest->called)) &&
		    (!guest->uuid || strcmp(guest->uuid, name) != 0))
			continue;
		if (!(*n)++)
			found = guest;
	}
	return found;
}
