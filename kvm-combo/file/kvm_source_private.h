/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_source_private.h
 * @brief	Inner parts of the reader of trace.dat files: records by libtracecmd.
 */
#ifndef KSHARK_VIRT_KVM_SOURCE_PRIVATE_H
#define KSHARK_VIRT_KVM_SOURCE_PRIVATE_H

#include <event-parse.h>

#include "key_map.h"
#include "kvm_source.h"

struct tracecmd_input;

/** Events of irq_vectors that are entries of handlers; Linux has less than 20. */
#define KVM_SOURCE_HANDLERS	64

struct kvm_recent;

/** Where the records of a CPU in a buffer are. */
struct kvm_source_area {
	uint64_t	offset, size, page;	/* in the file; bytes of a page */
	int32_t		buffer, cpu;
	bool		is_packed;	/* by zstd, in chunks; their number is before them */
};

/** The pages of a file, see kvm_source_pages.c. */
struct kvm_source_pages {
	int		fd;		/* below 0: libtracecmd reads all records */
	bool		big_endian;
	uint8_t		long_size;
	struct trace_dat_scale scale;	/* mult 0: no conversion */
	struct kvm_source_area *areas;
	size_t		n, room;
	size_t		held;		/* bytes of pages in memory */
	bool		is_off;		/* libtracecmd reads this walk's records */
};

struct kvm_page_reader;

/** The records of a CPU, buffer by buffer, while it is read. */
struct kvm_reading {
	int		cpu;
	struct place {
		struct kvm_page_reader *pages;	/* NULL: libtracecmd reads them */
		struct tep_record *next;	/* or NULL: there are no more */
		uint64_t	last;		/* offset of the record before */
		bool		was_taken;	/* @next was given to the caller */
	} *places;		/* by buffer */
	struct kvm_recent *recent;	/* NULL: there is one buffer */
	size_t		n_recent;	/* number of records so far */
	struct kvm_page_reader *only;	/* has all further records; or NULL */
};

/** What records of an event may have. */
#define KVM_SOURCE_INJECTION	(1 << 0)
#define KVM_SOURCE_MORE		(1 << 1)	/* kvm_fields_has_more() */
#define KVM_SOURCE_STEP		(1 << 2)	/* kvm_fields_tracks() */
#define KVM_SOURCE_HANDLER	(1 << 3)	/* kvm_fields_handles() */
#define KVM_SOURCE_RIP		(1 << 4)	/* kvm_fields_has_exit_rip() */

/** Threads that were seen lately, by their last bits. */
#define KVM_SOURCE_LATELY	64

struct kvm_source {
	struct kvm_facts facts;
	struct kvm_source_pages pages;
	struct tracecmd_input **inputs;	/* of the buffers of @facts; the top one first */
	struct tracecmd_input *input;	/* the top buffer */
	struct tep_handle *tep;
	struct kvm_fields *fields;
	struct kvm_formats *formats;
	int		most_bytes;		/* of a record */
	int		switch_id;
	struct tep_format_field *next_pid, *next_comm;
	int		injection_id[KVM_TRACE_N_INJECTIONS];
	struct tep_format_field *injection_field[KVM_TRACE_N_INJECTIONS]; /* or NULL */
	struct tep_format_field *again[KVM_TRACE_N_INJECTIONS];	/* or NULL */
	struct tep_format_field *soft;		/* of KVM_TRACE_INTERRUPT; or NULL */
	struct tep_format_field *before;	/* of KVM_TRACE_TSC_OFFSET; or NULL */
	struct tep_format_field *flags;		/* of all events; or NULL */
	uint8_t		*contents;		/* by event id: set of KVM_SOURCE_... */
	uint8_t		*handler_of;		/* by event id: number in @vectors + 1, or 0 */
	struct tep_format_field *vectors[KVM_SOURCE_HANDLERS];
	int		n_vectors;
	struct key_map	irqs;		/* of devices, whose names were given */
	struct key_map	named;		/* threads, whose names were given */
	/* some of them, and some whose names the trace knows; + 1, 0: none: */
	uint32_t	named_lately[KVM_SOURCE_LATELY], known_lately[KVM_SOURCE_LATELY];
};

/**
 * kvm_reading_begin - begin with the first record of a CPU
 *
 * Return: 0 or -ENOMEM; to be given to kvm_reading_end() in any case.
 */
int kvm_reading_begin(struct kvm_source *source, struct kvm_reading *reading, int cpu);

/** kvm_reading_end - free it; one that is all zero has ended already. */
void kvm_reading_end(struct kvm_source *source, struct kvm_reading *reading);

/**
 * kvm_source_pages_find - find where a file has its records
 *
 * The buffers are known, and the file's descriptor.
 * libtracecmd reads what cannot be found or unpacked, and what has times that it changes.
 * Return: 0 or -ENOMEM.
 */
int kvm_source_pages_find(struct kvm_source *source);
void kvm_source_pages_free(struct kvm_source *source);

/**
 * kvm_page_reader_new - begin to read the records of a CPU in a buffer
 * @first: the first record as libtracecmd has it
 * @reader: receives it; NULL if its first record would be another one
 *
 * A page that is damaged from its beginning has no first record.
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_page_reader_new(struct kvm_source *source, int buffer, int cpu,
			const struct tep_record *first, struct kvm_page_reader **reader);
void kvm_page_reader_free(struct kvm_source *source, struct kvm_page_reader *reader);

/** kvm_page_reader_first, kvm_page_reader_next - a record, valid until the next call; or NULL */
struct tep_record *kvm_page_reader_first(struct kvm_page_reader *reader);
struct tep_record *kvm_page_reader_next(struct kvm_page_reader *reader);

/**
 * kvm_reading_any - as kvm_reading_next()
 * kvm_reading_note - @record of reading->only comes after a loss, or is NULL
 */
int kvm_reading_any(struct kvm_source *source, struct kvm_reading *reading,
		    struct tep_record **record, bool *blind);
void kvm_reading_note(struct kvm_source *source, struct kvm_reading *reading,
		      struct tep_record *record);

/**
 * kvm_reading_next - the next record of the CPU, of all buffers in order of time
 * @record: receives it, valid until the next call; NULL: there are no more
 * @blind: receives whether another buffer has lost records at that time
 *
 * Return: 0 or -ENOMEM.
 */
static inline int kvm_reading_next(struct kvm_source *source, struct kvm_reading *reading,
				   struct tep_record **record, bool *blind)
{
	if (!reading->only)
		return kvm_reading_any(source, reading, record, blind);
	*blind = false;
	*record = kvm_page_reader_next(reading->only);
	if (!*record || (*record)->missed_events)
		kvm_reading_note(source, reading, *record);
	return 0;
}

/** kvm_page_reader_is_damaged - are there records that it could not read? */
bool kvm_page_reader_is_damaged(const struct kvm_page_reader *reader);

/** kvm_source_forget_walk - a new walk begins: the facts about the last one are gone */
void kvm_source_forget_walk(struct kvm_source *source);

/**
 * kvm_source_name_once - the name of a thread goes with the first record after it is known
 *
 * Return: 1: @name has it; 0: there is none, or it was given before; -ENOMEM.
 */
int kvm_source_name_once(struct kvm_source *source, int32_t pid, struct kvm_item_name *name);

/**
 * kvm_source_next_pid - the next thread of a sched_switch, or VIRT_NONE
 *
 * The trace keeps the first name of each that has none.
 */
int32_t kvm_source_next_pid(struct kvm_source *source, struct tep_record *record);

#endif
