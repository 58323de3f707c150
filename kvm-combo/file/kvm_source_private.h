/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_source_private.h
 * @brief	Inner parts of the reader of trace.dat files: records by libtracecmd.
 */
#ifndef KSHARK_VIRT_KVM_SOURCE_PRIVATE_H
#define KSHARK_VIRT_KVM_SOURCE_PRIVATE_H

#include <event-parse.h>

#include "key_map.h"
#include "kvm_quick.h"
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
#define KVM_SOURCE_MET		(1 << 5)	/* this sparse walk has given one as a record */
#define KVM_SOURCE_SWITCH	(1 << 6)	/* sched_switch */
#define KVM_SOURCE_QUICK	8		/* bits before a number in struct kvm_source's
						 * @quick + 1; 0: none */

/** Events that are decoded quickly; there are not that many. */
#define KVM_SOURCE_MOST_QUICK	16

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
	bool		is_usual;		/* kvm_fields_is_usual() */
	int		most_bytes;		/* of a record */
	int		switch_id;
	struct tep_format_field *next_pid, *next_comm;
	int		injection_id[KVM_TRACE_N_INJECTIONS];
	struct tep_format_field *injection_field[KVM_TRACE_N_INJECTIONS]; /* or NULL */
	struct tep_format_field *again[KVM_TRACE_N_INJECTIONS];	/* or NULL */
	struct tep_format_field *soft;		/* of KVM_TRACE_INTERRUPT; or NULL */
	struct tep_format_field *before;	/* of KVM_TRACE_TSC_OFFSET; or NULL */
	struct tep_format_field *flags;		/* of all events; or NULL */
	uint16_t	*contents;		/* by event id: set of KVM_SOURCE_... */
	struct kvm_quick quick[KVM_SOURCE_MOST_QUICK];
	unsigned int	n_quick;
	uint8_t		*handler_of;		/* by event id: number in @vectors + 1, or 0 */
	struct tep_format_field *vectors[KVM_SOURCE_HANDLERS];
	int		n_vectors;
	struct key_map	irqs;		/* of devices, whose names were given */
	struct key_map	named;		/* threads, whose names were given */
	/* some of them, and some whose names the trace knows; + 1, 0: none: */
	uint32_t	named_lately[KVM_SOURCE_LATELY], known_lately[KVM_SOURCE_LATELY];
	/* of the walk: the last names that the tracker got, of some threads */
	struct {
		int32_t	pid;
		char	comm[KVM_COMM_SIZE];
	} tracked_lately[KVM_SOURCE_LATELY];
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

/** Numbers that a sparse walk keeps before it gives them; a power of two. */
#define KVM_SPARSE_COUNTS	1024

/** Of one CPU: records of an event and a thread. */
struct kvm_sparse_count {
	int32_t		pid, event;
	uint32_t	n, bytes;	/* n 0: none */
};

/** No thread: the next record of the CPU shows something new. */
#define KVM_SPARSE_NO_PID	INT32_MIN

/** A record with one of these parts is given, not only counted. */
#define KVM_SPARSE_GIVEN \
	(1U << KVM_ITEM_RARE | 1U << KVM_ITEM_CALL | 1U << KVM_ITEM_BOOT | \
	 1U << KVM_ITEM_CGROUP | 1U << KVM_ITEM_DEVICE)

/** A walk with KVM_WALK_SPARSE. When it begins, all members but the first three are 0. */
struct kvm_sparse {
	kvm_item_fn	take;		/* of the items that are left */
	void		*arg;
	struct kvm_sparse_count *counts;	/* KVM_SPARSE_COUNTS; NULL: without numbers */
	int		cpu;
	int32_t		last_pid;	/* that the last record showed on the CPU */
	bool		is_held;	/* the last record showed nothing else: it matters only if
					 * another thread follows */
	uint64_t	held_ts;	/* its time */
	uint32_t	n_handlers, n_events;
	struct kvm_handler_event handlers[KVM_ITEM_MOST_HANDLERS];	/* that have a number */
	struct kvm_event events[KVM_ITEM_MOST_EVENTS];	/* not sent yet */
};

/**
 * kvm_sparse_repeat - a record that shows only that @last_pid still has the CPU
 * kvm_sparse_event - a record that is no more than an event for the tracker, or KVM_SEEN
 * kvm_sparse_item - any other record
 * @is_first: the record itself is to be given, whatever it has
 *
 * Return: 0, or what take() returned.
 */
int kvm_sparse_repeat(struct kvm_sparse *sparse, uint64_t ts, int32_t event, uint32_t bytes);
int kvm_sparse_event(struct kvm_sparse *sparse, const struct kvm_event *event, int32_t id,
		     uint32_t bytes);
int kvm_sparse_item(struct kvm_sparse *sparse, struct kvm_item *item, bool is_first);

/**
 * kvm_sparse_handler - the handler's number for KVM_RUN_ENTER
 * @is_new: receives whether this call has given it the number: then an item must name it
 *
 * Return: -1: it gets none.
 */
int kvm_sparse_handler(struct kvm_sparse *sparse, const struct kvm_handler_event *handler,
		       bool *is_new);
void kvm_sparse_begin_cpu(struct kvm_sparse *sparse, int cpu);
int kvm_sparse_end_cpu(struct kvm_sparse *sparse);

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
