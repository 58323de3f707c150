/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	exit_causes.h
 * @brief	What the host did during a VM exit for memory (a page that the processor could not
 *		translate), and the records that show it.
 */
#ifndef KSHARK_VIRT_EXIT_CAUSES_H
#define KSHARK_VIRT_EXIT_CAUSES_H

#include <stdbool.h>
#include <stdint.h>

#include "virt_recorded.h"

#ifdef __cplusplus
extern "C" {
#endif

/** In this order: an exit has the first cause that its records show; but with dirty logging, it has
 * no other one. */
enum exit_cause {
	EXIT_CAUSE_UNKNOWN = 0,		/* also of exits that are not for memory */
	EXIT_CAUSE_MMIO,		/* a device's register is there, no memory */
	EXIT_CAUSE_USERFAULT,		/* waited until a handler of userfaultfd had the page */
	EXIT_CAUSE_FILE,		/* read a page of a file */
	EXIT_CAUSE_SWAP,		/* read a page that was swapped out */
	EXIT_CAUSE_FIRST,		/* took a page and cleared it: first touch, also of memory
					 * that the host took back before (balloon) */
	EXIT_CAUSE_COPY,		/* took a page for a copy of a shared one */
	EXIT_CAUSE_NEW,			/* took a page; records do not show what for */
	EXIT_CAUSE_DIRTY,		/* noted that a page is written, for dirty logging */
	EXIT_CAUSE_ASYNC,		/* had another thread get the page (async page fault) */
	EXIT_CAUSE_MAPPED,		/* neither slept nor took a page: one was there */
	EXIT_CAUSE_N
};

/** What records of a vCPU's thread show during an exit; a set. */
enum exit_seen {
	EXIT_SEEN_MMIO = 1 << 0,
	EXIT_SEEN_USERFAULT = 1 << 1,	/* it was woken by a thread in an ioctl of userfaultfd */
	EXIT_SEEN_CACHE = 1 << 2,	/* it put a page into the page cache */
	EXIT_SEEN_READ = 1 << 3,	/* it asked a block device for data */
	EXIT_SEEN_DIRTY = 1 << 4,	/* it made a page writable without taking a lock */
	EXIT_SEEN_CLEARED = 1 << 5,	/* it took a page of zeros, or a huge one */
	EXIT_SEEN_PAGE = 1 << 6,	/* it took another page for user space */
	EXIT_SEEN_ASYNC = 1 << 7,
	EXIT_SEEN_SHARED = 1 << 8,	/* the guest wrote to a page that it may only read */
	EXIT_SEEN_SLEEP = 1 << 9,	/* it slept. Not from records: the model shows it */
};

/** exit_is_for_memory - whether exits of a reason have a cause; also with "L2:" in front */
bool exit_is_for_memory(const char *reason);

/**
 * exit_causes_recorded - whether a trace has any of the events of memory
 *
 * Without them, no exit has a cause: kvm_mmio, which most traces of a host have, shows too little.
 */
bool exit_causes_recorded(uint64_t recorded);

/** exit_dirty_is_known - does a trace show which exits are for dirty logging? */
bool exit_dirty_is_known(uint64_t recorded);

/**
 * exit_cause_of - what the host did
 * @seen: enum exit_seen, of an exit that is over
 * @recorded: the kinds of records that the trace has
 *
 * More kinds of records never change a cause that is known: it is unknown as long as a kind is
 * missing that would show a cause further up.
 */
enum exit_cause exit_cause_of(unsigned int seen, uint64_t recorded);

/**
 * exit_cause_lacks - the kinds of all causes that were not recorded; 0: each cause can be known
 *
 * Of kinds of which one is enough, the first one.
 */
uint64_t exit_cause_lacks(uint64_t recorded);

/** exit_cause_name - "first touch" ...; NULL: unknown */
const char *exit_cause_name(enum exit_cause cause);

#ifdef __cplusplus
}
#endif
#endif
