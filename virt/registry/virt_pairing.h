/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_pairing.h
 * @brief	Keep for a whole process which vCPU of a host's trace is which CPU of a guest's.
 *
 * A stream and the pid in it name a vCPU, as everywhere in KernelShark. Any kind of stream can be
 * host or guest. All functions may be called from any thread.
 */
#ifndef KSHARK_VIRT_VIRT_PAIRING_H
#define KSHARK_VIRT_VIRT_PAIRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Who says that two belong together; a later one of these counts more. */
enum virt_pair_source {
	VIRT_PAIR_GUESSED = 0,	/* names, numbers of CPUs, activity */
	VIRT_PAIR_DERIVED,	/* the guest's stream is made of its host's trace; the guest may
				 * have one of its own as well: its pairs stay, and count more */
	VIRT_PAIR_RECORDED,	/* the traces */
	VIRT_PAIR_CHOSEN,	/* the user */
};

/** A vCPU and the guest's CPU that it is. */
struct virt_pair {
	int			host_stream;
	int32_t			host_pid;	/* struct virt_vcpu */
	int			guest_stream;	/* VIRT_NONE: no stream shows this vCPU's inside */
	int32_t			guest_cpu;
	enum virt_pair_source	source;
};

/**
 * virt_pairing_set - say what belongs together
 *
 * It ends the pairs that the vCPU and the guest's CPU had before, if these count no more.
 *
 * Return: 0; -EEXIST if a source that counts more said something else, and nothing is changed;
 * -EINVAL or -ENOMEM.
 */
int virt_pairing_set(const struct virt_pair *pair);

/** virt_pairing_drop_stream - forget all pairs with a stream, e.g. as it is closed. */
void virt_pairing_drop_stream(int stream_id);

/** virt_pairing_drop_source - forget all pairs that come from there. */
void virt_pairing_drop_source(enum virt_pair_source source);

/**
 * virt_pairing_of_vcpu, virt_pairing_of_cpu - what is said about a vCPU, or a CPU of a guest
 * @pair: receives it; may be NULL
 *
 * Return: false if nothing is. virt_pairing_of_vcpu() also gives pairs without a guest, and of
 * two, that which is not VIRT_PAIR_DERIVED.
 */
bool virt_pairing_of_vcpu(int host_stream, int32_t host_pid, struct virt_pair *pair);
bool virt_pairing_of_cpu(int guest_stream, int32_t guest_cpu, struct virt_pair *pair);

/** virt_pairing_serial - a number that changes with every change of the pairs. */
uint64_t virt_pairing_serial(void);

/* ---- guessing ---- */

/** A stream with a model, which may be the host of others. */
struct virt_pair_host {
	int				stream;
	const struct virt_model		*model;
	int64_t				offset_ns;	/* between its times and the stream's */
};

/** Times at which something happened on a CPU, ascending. */
struct virt_times {
	const int64_t	*ns;
	size_t		n;
};

/** A stream that may be the inside of a machine. */
struct virt_pair_guest {
	int				stream;
	const char			*name;		/* of its file */
	int32_t				n_cpus;
	const struct virt_times	*events;	/* by CPU; NULL if they are not known */
};

/**
 * virt_pairing_share - at which share of the times in the trace a vCPU was in its guest
 * @offset_ns: added to the model's times by the stream
 *
 * Return: 0 to 1; negative if there are too few times.
 */
double virt_pairing_share(const struct virt_model *model, int32_t vcpu, int64_t offset_ns,
			  const struct virt_times *times);

/**
 * virt_pairing_guess - find out which guest is which machine, and set the pairs
 *
 * Machines and guests of which a pair is set already are left out. A name counts most, then whether
 * the guest's events fall into the time in which the machine executes its guest, then the number of
 * CPUs. Two that fit equally well are left to the user.
 *
 * Return: number of pairs that were set, or -ENOMEM.
 */
int virt_pairing_guess(const struct virt_pair_host *hosts, size_t n_hosts,
		       const struct virt_pair_guest *guests, size_t n_guests);

#ifdef __cplusplus
}
#endif
#endif
