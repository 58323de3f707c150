/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_live.h
 * @brief	List the virtual machines that run on this KVM host now, by kernel and monitors.
 *
 *	/sys/kernel/debug/kvm/PID-FD/vcpuN/{pid,tsc-offset,tsc-scaling-ratio,...}
 *	/proc/PID/cmdline, /proc/PID/task, /proc/PID/task/TID/comm
 *	/proc/PID/fd, where debugfs has no vcpuN: on arm64, for example
 *
 * Other programs write all of this text, and machines end while the code reads it. Text that cannot
 * be understood becomes a note, and the rest is listed.
 */
#ifndef KSHARK_VIRT_KVM_LIVE_H
#define KSHARK_VIRT_KVM_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes of a command line that are looked at. */
#define KVM_LIVE_CMDLINE	(256 << 10)

/** A vCPU's number is below this. */
#define KVM_LIVE_VCPUS		4096

/** Threads of a monitor that are listed, at most. */
#define KVM_LIVE_THREADS	16384

struct kvm_live_vcpu {
	int		id;
	int		tid;		/* its thread; 0: not known */
	bool		has_offset;
	int64_t		tsc_offset;	/* guest's TSC = host's TSC * ratio + this */
	uint64_t	tsc_ratio;	/* a fixed-point number, 0: not known */
	int		tsc_ratio_frac_bits;
};

struct kvm_live_guest {
	int		pid;		/* of the monitor */
	int		fd;		/* its VM; a process may have several */
	char		*name;		/* as its user has called it, else PROGRAM-PID; with the
					 * begin of its UUID, or its pid, if others are called so */
	size_t		called;		/* bytes of it that are what the user has called it */
	char		*uuid;		/* NULL if it is not known */
	uint32_t	cid;		/* where vsock reaches it; 0: not known */
	char		*control;	/* QEMU's socket for QMP, as the monitor sees the file
					 * system; NULL: it has none of its own */
	struct kvm_live_vcpu *vcpus;	/* ascending by id */
	int		n_vcpus, room;
	int		*threads;	/* of the monitor, with those of its vCPUs; ascending */
	int		n_threads, threads_room;
};

struct kvm_live {
	struct kvm_live_guest *guests;	/* ascending by pid and fd */
	int		n_guests, room;
	char		**notes;	/* what was not understood: a line each */
	int		n_notes, notes_room;
};

/**
 * kvm_live_read - look at all machines of this host
 * @root: what is put before /sys and /proc; "" for this system
 * @live: receives them; to be given to kvm_live_free() in any case
 *
 * Return: 0, -ENOMEM, or the negative errno with which the folder kvm of debugfs cannot be read.
 */
int kvm_live_read(const char *root, struct kvm_live *live);

/** kvm_live_more_threads - threads of these machines that were not there before. 0 or -ENOMEM. */
int kvm_live_more_threads(const char *root, struct kvm_live *live);

void kvm_live_free(struct kvm_live *live);

/**
 * kvm_live_find - the machine that is called so: by its name, UUID or its monitor's pid
 *
 * By a name that several have been given, all of these are.
 * @n: receives how many are; with more than one, the first is returned
 */
const struct kvm_live_guest *kvm_live_find(const struct kvm_live *live, const char *name, int *n);

/**
 * kvm_live_cmdline - read a monitor's arguments, each of which ends with a NUL
 *
 * Return: 0 or -ENOMEM; @guest receives name, uuid, cid and control if they are there.
 */
int kvm_live_cmdline(const char *text, size_t size, struct kvm_live_guest *guest);

/** kvm_live_thread - Return: the vCPU whose thread has this name, -1 if it is no vCPU's. */
int kvm_live_thread(const char *comm);

#endif
