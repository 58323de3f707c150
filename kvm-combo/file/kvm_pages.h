/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_pages.h
 * @brief	Pages of the kernel's own trace buffers, as trace_pipe_raw gives them.
 *
 * libtraceevent reads them, with the formats that the kernel lists in tracefs. Times are taken for
 * ns, which most of the kernel's clocks count.
 */
#ifndef KSHARK_VIRT_KVM_PAGES_H
#define KSHARK_VIRT_KVM_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "kvm_follow.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kvm_pages;

/** What has become of what was taken. */
struct kvm_pages_count {
	uint64_t	bytes, records;
	uint64_t	lost;		/* records, as far as the kernel counts them */
	uint64_t	late;		/* records that came after their time was reported */
	int64_t		late_ns;	/* by that much at most */
};

/**
 * kvm_pages_new - read the formats of events
 * @tracing: where tracefs is
 * @events: "SYSTEM:EVENT" each; those that this kernel does not have are left out. Without any of
 *	kvm, sched_switch is enough; otherwise kvm_entry and kvm_exit must be there.
 *
 * Return: NULL, with a text in @error.
 */
struct kvm_pages *kvm_pages_new(const char *tracing, const char *const *events, size_t n,
				char *error, size_t size);

/** kvm_pages_kinds - kinds of records that will be there, see kvm_tracker_expect() */
uint64_t kvm_pages_kinds(const struct kvm_pages *pages);

/** kvm_pages_free - it may be NULL. */
void kvm_pages_free(struct kvm_pages *pages);

/** kvm_pages_take - the next page of a CPU. Return: 0 or -ENOMEM. */
int kvm_pages_take(struct kvm_pages *pages, struct kvm_follow *follow, int cpu, void *page,
		   size_t size);

/** kvm_pages_last - the time of the latest record so far; INT64_MIN: there was none. */
int64_t kvm_pages_last(const struct kvm_pages *pages);

/** kvm_pages_last_of - the time of a CPU's last record; 0: there was none. */
int64_t kvm_pages_last_of(const struct kvm_pages *pages, int cpu);

/** kvm_pages_count - so far */
void kvm_pages_count(const struct kvm_pages *pages, struct kvm_pages_count *count);

#ifdef __cplusplus
}
#endif
#endif
