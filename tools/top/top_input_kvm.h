/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	top_input_kvm.h
 * @brief	The current activity of this KVM host, from trace buffers of the kernel that are
 *		top's own.
 *
 * The buffers are an instance of tracefs: other tracers, such as trace-cmd record, do not disturb
 * top, and top does not disturb them. trace-cmd's own files would come late: trace-cmd takes whole
 * pages, and a CPU with few events fills a page in minutes.
 */
#ifndef KSHARK_VIRT_TOP_INPUT_KVM_H
#define KSHARK_VIRT_TOP_INPUT_KVM_H

#include "guest_lives.h"
#include "host_samples.h"
#include "kvm_live.h"
#include "kvm_pages.h"
#include "record_buffers.h"
#include "top_live.h"
#include "virt_recorded.h"

/** Kinds of records that are left out with no_exits. */
#define TOP_INPUT_KVM_EXITS							\
	(VIRT_RECORD_BIT(VIRT_RECORD_ENTRY) | VIRT_RECORD_BIT(VIRT_RECORD_EXIT) |	\
	 VIRT_RECORD_BIT(VIRT_RECORD_MONITOR) | VIRT_RECORD_BIT(VIRT_RECORD_RUN) |	\
	 VIRT_RECORD_BIT(VIRT_RECORD_HYPERCALL) | VIRT_RECORD_BIT(VIRT_RECORD_CALL) |	\
	 VIRT_RECORD_BIT(VIRT_RECORD_NESTED) | VIRT_RECORD_BIT(VIRT_RECORD_NESTED_EXIT) | \
	 VIRT_RECORD_BIT(VIRT_RECORD_NESTED_INJECT) |				\
	 VIRT_RECORD_BIT(VIRT_RECORD_HALT_POLL))

struct top_input_kvm {
	const char	*name;		/* for messages */
	char		instance[RECORD_INSTANCE_SIZE]; /* "": there is none */
	struct record_cpus cpus;
	struct kvm_pages *pages;
	struct kvm_follow *follow;
	struct kvm_live	live;
	struct guest_lives_now *tasks;	/* of the host; NULL: they are not asked for */
	struct host_samples samples;	/* the same; none */
	int64_t		sample_ns;	/* between two of these; 0: they are not asked for */
	int64_t		sampled_ns;	/* the time of the last one */
	unsigned char	*page;
	uint64_t	max_bytes;	/* that wait at most */
	int64_t		settled_ns;	/* all that came before this is there */
	int64_t		begin_ns;	/* of the first record */
	int64_t		looked_ns;	/* when threads were looked at last */
	bool		knows_guests;	/* those in @live are all that run */
	uint64_t	hurried;	/* records that were taken early, for lack of memory */
	bool		no_exits;	/* only the scheduler is recorded */
	bool		begun, ended;
	/** Will there be more? NULL: yes. */
	bool		(*grows)(void *arg);
	void		*arg;
};

struct top_input_kvm_options {
	uint64_t	buffer;		/* bytes for each CPU */
	uint64_t	max_bytes;	/* of records that wait */
	bool		no_exits;	/* record only the scheduler: times between exits are
					 * unknown, and exits cost nothing */
	bool		tasks;		/* also those of the host */
	int64_t		sample_ns;	/* sample its counters as often as that; 0: never */
};

/**
 * top_input_kvm_open - begin to record
 *
 * Return: KSV_EXIT_OK, to be closed; or an exit status after a message.
 */
int top_input_kvm_open(struct top_input_kvm *input, const char *name,
		       const struct top_input_kvm_options *options);

/** top_input_kvm_is_idle - is it known that no machine runs? */
bool top_input_kvm_is_idle(const struct top_input_kvm *input);
void top_input_kvm_close(struct top_input_kvm *input);

extern const struct top_input top_input_kvm;

#endif
