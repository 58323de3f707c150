/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_formats.h
 * @brief	Formats of events that libtraceevent parses when they are asked for.
 *
 * A trace.dat has the formats of all events that it may hold, up to thousands of them. A report
 * uses some fifty; libtraceevent takes some 150,000 instructions for each, 200,000 with how it is
 * printed.
 */
#ifndef KSHARK_VIRT_KVM_FORMATS_H
#define KSHARK_VIRT_KVM_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct read_event;
struct tep_event;
struct tep_handle;

/** A format that is kept. */
struct kvm_format {
	char		*text;		/* NULL: libtraceevent has parsed it */
	const char	*system;
	const char	*name;		/* @name_size bytes of @text */
	size_t		size, name_size;
	size_t		head;		/* bytes before how it is printed */
	size_t		n_common, n_own;	/* fields */
	int		id;
	struct read_event *read;	/* by kvm_formats_find(); or NULL */
};

struct kvm_formats;

/** kvm_formats_new, kvm_formats_free - those of one file. Return: NULL without memory. */
struct kvm_formats *kvm_formats_new(void);
void kvm_formats_free(struct kvm_formats *formats);

/** kvm_formats_use - the functions below are about these from now on, in this thread; NULL: none */
void kvm_formats_use(struct kvm_formats *formats);

/**
 * kvm_formats_keep - keep a format, instead of tep_parse_event()
 *
 * Return: false if libtraceevent must parse it now: none are kept, or it is not as a kernel writes
 * it, so that libtraceevent might refuse it.
 */
bool kvm_formats_keep(struct tep_handle *tep, const char *text, size_t size, const char *system);

/** kvm_formats_ask - a library asks for an event: that is parsed now */
void kvm_formats_ask(struct tep_handle *tep, const char *system, const char *name);

/**
 * kvm_formats_settle - all formats are known
 *
 * Of the event with the lowest number, libtraceevent takes what all events have in common.
 */
void kvm_formats_settle(struct tep_handle *tep);

/**
 * kvm_formats_find - as tep_find_event_by_name(), whether it is parsed or not
 *
 * The event is valid until kvm_formats_free(). If it is not parsed, its fields have a name, a place
 * and TEP_FIELD_IS_ARRAY. Only those events say how they are printed of which this is read.
 */
struct tep_event *kvm_formats_find(struct tep_handle *tep, const char *system, const char *name);

typedef void kvm_format_fn(void *arg, int id, const char *name);

/** kvm_formats_each - the events of a system, those first that are not parsed, and stay so */
void kvm_formats_each(struct tep_handle *tep, const char *system, kvm_format_fn *take, void *arg);

/** kvm_formats_count - as tep_get_events_count(), with those that are not parsed */
int kvm_formats_count(struct tep_handle *tep);

/** kvm_formats_find_id - as tep_find_event(), of any thread; @formats may be NULL */
struct tep_event *kvm_formats_find_id(struct kvm_formats *formats, struct tep_handle *tep, int id);

/** kvm_formats_can_print - were none kept? Those that were do not say how records are printed. */
bool kvm_formats_can_print(const struct kvm_formats *formats);

/** kvm_formats_kept - all that were kept. Return: how many. */
size_t kvm_formats_kept(const struct kvm_formats *formats, const struct kvm_format **kept);

#ifdef __cplusplus
}
#endif
#endif
