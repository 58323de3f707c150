// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	exit_causes.c
 * @brief	The tables of a host's work during VM exits for memory.
 */
#include <stddef.h>
#include <string.h>

#include "array.h"
#include "exit_causes.h"

#define K(kind)		VIRT_RECORD_BIT(VIRT_RECORD_##kind)

/** The processor found no page, or one that it may not use so. */
static const char *const reasons[] = {
	"EPT_VIOLATION", "NPF", "DABT_LOW", "IABT_LOW",
};

bool exit_is_for_memory(const char *reason)
{
	if (!strncmp(reason, "L2:", 3))
		reason += 3;
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (!strcmp(reasons[i], reason))
			return true;
	return false;
}

/**
 * What shows the causes, in Linux's sources:
 *
 * - MMIO: emulation records kvm_mmio (arch/x86/kvm/x86.c, arch/arm64/kvm/mmio.c).
 * - userfault: handle_userfault() sleeps, and records nothing. The ioctls that supply a page wake
 *   it in the handler's thread (wake_userfault() of fs/userfaultfd.c).
 * - file: filemap_add_folio() of mm/filemap.c, before it reads. Neither swap (mm/swap_state.c) nor
 *   tmpfs (mm/shmem.c) calls it.
 * - swap: swap_readpage() of mm/page_io.c asks a block device in the thread that faults, and puts
 *   nothing into a file's page cache.
 * - first touch: alloc_zeroed_user_highpage_movable(), or a huge page, of which none is made for a
 *   copy since Linux 5.8 (do_anonymous_page(), do_huge_pmd_anonymous_page()).
 * - copy on write: wp_page_copy() of mm/memory.c takes a page that is not cleared. tmpfs takes such
 *   pages for its first touch, too, but the guest cannot have had them for reading before.
 * - dirty logging: fast_page_fault() of arch/x86/kvm/mmu/mmu.c gives back the right to write that
 *   only dirty logging takes away without clearing the page's "MMU-writable" bit.
 * - asynchronous: kvm_faultin_pfn(), in mmu.c there.
 * - mapped only: nothing of this. Huge pages of hugetlbfs are from a pool, and taking one is not
 *   recorded. A thread that slept may have waited for a page that another thread gets.
 */
static const struct cause_row {
	const char	*name;
	unsigned int	all;		/* enum exit_seen */
	unsigned int	only_if;	/* it cannot be without these, which the model shows, ... */
	unsigned int	not_if;		/* ... nor with these */
	uint64_t	needs, needs_one; /* all of these kinds, and one of those, if any */
} rows[EXIT_CAUSE_N] = {
	[EXIT_CAUSE_MMIO] = { "MMIO", .all = EXIT_SEEN_MMIO, .needs = K(MMIO) },
	[EXIT_CAUSE_USERFAULT] = {
		"userfault", .all = EXIT_SEEN_USERFAULT, .only_if = EXIT_SEEN_SLEEP,
		.needs = K(WAKER) | K(USERFAULT),
	},
	[EXIT_CAUSE_FILE] = { "file read", .all = EXIT_SEEN_CACHE, .needs = K(PAGE_CACHE) },
	[EXIT_CAUSE_SWAP] = { "swap-in", .all = EXIT_SEEN_READ, .needs = K(BLOCK) },
	[EXIT_CAUSE_FIRST] = { "first touch", .all = EXIT_SEEN_CLEARED, .needs = K(ALLOC) },
	[EXIT_CAUSE_COPY] = {
		"copy on write", .all = EXIT_SEEN_PAGE | EXIT_SEEN_SHARED,
		.needs = K(ALLOC), .needs_one = K(FAULT) | K(ABORT),
	},
	[EXIT_CAUSE_NEW] = { "new page", .all = EXIT_SEEN_PAGE, .needs = K(ALLOC) },
	[EXIT_CAUSE_DIRTY] = { "dirty logging", .all = EXIT_SEEN_DIRTY, .needs = K(FAST_FAULT) },
	[EXIT_CAUSE_ASYNC] = { "asynchronous", .all = EXIT_SEEN_ASYNC, .needs = K(ASYNC) },
	[EXIT_CAUSE_MAPPED] = { "mapped only", .not_if = EXIT_SEEN_SLEEP },
};

/** Without these, the thread may have done what a record shows in user space, or slept. */
#define BASE		(K(ENTRY) | K(EXIT) | K(MONITOR) | K(SWITCH))

bool exit_causes_recorded(uint64_t recorded)
{
	return recorded & (K(USERFAULT) | K(PAGE_CACHE) | K(BLOCK) | K(ALLOC) | K(FAST_FAULT));
}

bool exit_dirty_is_known(uint64_t recorded)
{
	return (recorded & (BASE | K(FAST_FAULT))) == (BASE | K(FAST_FAULT));
}

enum exit_cause exit_cause_of(unsigned int seen, uint64_t recorded)
{
	if ((recorded & BASE) != BASE)
		return EXIT_CAUSE_UNKNOWN;
	/* that was all: direct_page_fault() of mmu.c does nothing else after it */
	if (seen & EXIT_SEEN_DIRTY && exit_dirty_is_known(recorded))
		return EXIT_CAUSE_DIRTY;
	for (int i = EXIT_CAUSE_MMIO; i < EXIT_CAUSE_N; i++) {
		if ((seen & rows[i].only_if) != rows[i].only_if)
			continue;
		if ((recorded & rows[i].needs) != rows[i].needs ||
		    (rows[i].needs_one && !(recorded & rows[i].needs_one)))
			return EXIT_CAUSE_UNKNOWN;
		if ((seen & rows[i].all) == rows[i].all && !(seen & rows[i].not_if))
			return (enum exit_cause)i;
	}
	return EXIT_CAUSE_UNKNOWN;
}

uint64_t exit_cause_lacks(uint64_t recorded)
{
	uint64_t needs = BASE;

	for (int i = 0; i < EXIT_CAUSE_N; i++) {
		needs |= rows[i].needs;
		if (!(rows[i].needs_one & recorded))
			needs |= rows[i].needs_one & -rows[i].needs_one;
	}
	return needs & ~recorded;
}

const char *exit_cause_name(enum exit_cause cause)
{
	return (unsigned int)cause < EXIT_CAUSE_N ? rows[cause].name : NULL;
}
