// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_memory_fields.c
 * @brief	Events that show what a host does for a guest's memory, and their fields.
 */
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "array.h"
#include "exit_causes.h"
#include "kvm_formats.h"
#include "kvm_memory_fields.h"
#include "kvm_tracker.h"

enum memory_event {
	ADD_TO_CACHE, BIO_QUEUE, BIO_COMPLETE, PAGE_ALLOC, FAST_FAULT, ASYNC_PAGE, ENTER_IOCTL,
	EXIT_IOCTL,
};

/**
 * Linux's include/trace/events/filemap.h, block.h and kmem.h there, arch/x86/kvm/mmu/mmutrace.h,
 * include/trace/events/kvm.h, and kernel/trace/trace_syscalls.c. exit_causes.c says what they show.
 */
static const struct memory_row {
	const char	*system, *name;
	uint8_t		event, record;
	const char	*parts[KVM_MEMORY_PARTS];
} memory_rows[] = {
	{ "filemap", "mm_filemap_add_to_page_cache", ADD_TO_CACHE, VIRT_RECORD_PAGE_CACHE,
	  { NULL } },
	{ "block", "block_bio_queue", BIO_QUEUE, VIRT_RECORD_BLOCK, { "rwbs", "dev", "sector" } },
	{ "block", "block_rq_complete", BIO_COMPLETE, VIRT_RECORD_N_KINDS,
	  { "nr_sector", "dev", "sector" } },
	{ "kmem", "mm_page_alloc", PAGE_ALLOC, VIRT_RECORD_ALLOC,
	  { "order", "gfp_flags", "migratetype" } },
	{ "kvmmmu", "fast_page_fault", FAST_FAULT, VIRT_RECORD_FAST_FAULT,
	  { "old_spte", "new_spte" } },
	{ "kvm", "kvm_try_async_get_page", ASYNC_PAGE, VIRT_RECORD_ASYNC, { NULL } },
	{ "syscalls", "sys_enter_ioctl", ENTER_IOCTL, VIRT_RECORD_USERFAULT, { "cmd" } },
	{ "syscalls", "sys_exit_ioctl", EXIT_IOCTL, VIRT_RECORD_USERFAULT, { NULL } },
};

_Static_assert(ARRAY_SIZE(memory_rows) <= KVM_MAX_MEMORY_EVENTS, "room for all");

/** MIGRATE_MOVABLE: pages of user space; include/linux/mmzone.h. */
#define MOVABLE		1

/** Bit 1 of an entry of a page table: the guest may write; of EPT and of NPT. */
#define WRITABLE	2

/** Of ioctls of userfaultfd (UFFDIO, include/uapi/linux/userfaultfd.h), the bits 8 to 15. */
#define UFFDIO		0xaa

/** The number that a print format calls "__GFP_ZERO", which depends on the kernel; 0: none. */
static uint64_t flag_of_zero(const struct tep_print_arg *arg)
{
	uint64_t found = 0;

	for (; arg && !found; arg = arg->next) {
		if (arg->type == TEP_PRINT_OP) {
			found = flag_of_zero(arg->op.left);
			if (!found)
				found = flag_of_zero(arg->op.right);
		}
		if (arg->type != TEP_PRINT_FLAGS)
			continue;
		for (const struct tep_print_flag_sym *flag = arg->flags.flags; flag;
		     flag = flag->next)
			if (flag->value && flag->str && !strcmp(flag->str, "__GFP_ZERO"))
				found = strtoull(flag->value, NULL, 0);
	}
	return found;
}

static bool find_parts(struct tep_event *event, const struct memory_row *row,
		       struct kvm_memory_field *field)
{
	for (int i = 0; i < KVM_MEMORY_PARTS && row->parts[i]; i++) {
		field->part[i] = tep_find_field(event, row->parts[i]);
		if (!field->part[i])
			return false;
	}
	if (row->event == PAGE_ALLOC)
		field->zero = flag_of_zero(event->print_fmt.args);
	return row->event != PAGE_ALLOC || field->zero;
}

/** An ioctl without its end would never be over. */
static size_t drop_half(struct kvm_memory_field *found, size_t n)
{
	return n && found[n - 1].event == ENTER_IOCTL ? n - 1 : n;
}

size_t kvm_memory_fields_find(struct tep_handle *tep, int max_id, struct kvm_memory_field *found)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(memory_rows); i++) {
		const struct memory_row *row = &memory_rows[i];
		struct tep_event *event = kvm_formats_find(tep, row->system, row->name);

		if (!event || event->id < 0 || event->id > max_id ||
		    (row->event == EXIT_IOCTL && (!n || found[n - 1].event != ENTER_IOCTL)))
			continue;
		found[n] = (struct kvm_memory_field){
			.id = event->id, .event = row->event, .record = row->record,
		};
		if (find_parts(event, row, &found[n]))
			n++;
	}
	return drop_half(found, n);
}

bool kvm_memory_event(const struct kvm_memory_field *field,
		      const uint64_t parts[KVM_MEMORY_PARTS], struct kvm_event *event)
{
	event->kind = KVM_SAW;
	event->arg = field->record;
	switch ((enum memory_event)field->event) {
	case ADD_TO_CACHE:
		event->value = EXIT_SEEN_CACHE;
		return true;
	case BIO_QUEUE:
		event->kind = KVM_READ_BEGINS;
		event->arg = (int32_t)parts[1];
		event->value = (int64_t)parts[2];
		return parts[0] == 'R';
	case BIO_COMPLETE:
		event->kind = KVM_READ_ENDS;
		event->arg = (int32_t)parts[1];
		event->value = (int64_t)(parts[2] | parts[0] << KVM_SECTOR_BITS);
		return parts[0] && parts[0] >> (64 - KVM_SECTOR_BITS) == 0 &&
		       parts[2] >> KVM_SECTOR_BITS == 0;
	case PAGE_ALLOC:
		event->value = parts[0] || parts[1] & field->zero ? EXIT_SEEN_CLEARED :
								      EXIT_SEEN_PAGE;
		return parts[2] == MOVABLE;
	case FAST_FAULT:
		event->value = !(parts[0] & WRITABLE) && parts[1] & WRITABLE ? EXIT_SEEN_DIRTY : 0;
		return true;
	case ASYNC_PAGE:
		event->value = EXIT_SEEN_ASYNC;
		return true;
	case ENTER_IOCTL:
	case EXIT_IOCTL:
		event->kind = KVM_USERFAULT;
		event->arg = VIRT_NONE;
		event->value = field->event == ENTER_IOCTL;
		return field->event == EXIT_IOCTL || (parts[0] >> 8 & 0xff) == UFFDIO;
	}
	return false;
}
