// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_source_read.c
 * @brief	The records of a CPU of a trace.dat, of all buffers in order of time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <trace-cmd.h>

#include "kvm_source_private.h"

/** Records of a CPU that went by last, for finding them in another buffer again. */
#define N_RECENT	64
/** One tracepoint writes to all buffers at once; an interrupt may come between. */
#define MOST_APART	1000000

struct kvm_recent {
	uint64_t	ts;
	void		*data;		/* a copy: libtracecmd 3.3.1 crashes on kept records */
	int		size, buffer;
	uint64_t	matched;	/* set of buffers that had it, too */
};

/** Give the record back to libtracecmd. */
static void drop(struct place *place)
{
	if (place->next && !place->pages)
		tracecmd_free_record(place->next);
	place->next = NULL;
}

/** The record after @place->next. */
static void read_next(struct kvm_source *source, struct kvm_reading *reading, int at)
{
	struct place *place = &reading->places[at];
	struct tep_record *record;

	drop(place);
	place->was_taken = false;
	if (place->pages) {
		place->next = kvm_page_reader_next(place->pages);
		if (!place->next && kvm_page_reader_is_damaged(place->pages))
			source->facts.damaged_cpu = reading->cpu;
		return;
	}
	record = tracecmd_read_data(source->inputs[at], reading->cpu);
	/* in a damaged page, libtracecmd goes round in circles */
	if (record && record->offset <= place->last) {
		source->facts.damaged_cpu = reading->cpu;
		tracecmd_free_record(record);
		record = NULL;
	}
	place->next = record;
	place->last = record ? record->offset : 0;
}

/** Return: 0 or -ENOMEM. */
static int read_first(struct kvm_source *source, struct kvm_reading *reading, int at)
{
	struct place *place = &reading->places[at];
	struct kvm_page_reader *pages = NULL;
	int ret;

	place->next = tracecmd_read_cpu_first(source->inputs[at], reading->cpu);
	if (!place->next)
		return 0;
	place->last = place->next->offset;
	ret = kvm_page_reader_new(source, at, reading->cpu, place->next, &pages);
	if (!pages)
		return ret;
	drop(place);
	place->pages = pages;
	place->next = kvm_page_reader_first(pages);
	if (!place->next)
		source->facts.damaged_cpu = reading->cpu;
	return 0;
}

/** Of the record before which others are missing. */
static void note_lost(struct kvm_source *source, const struct kvm_reading *reading, int at)
{
	struct kvm_buffer_facts *facts = &source->facts.buffers[at];
	const struct tep_record *record = reading->places[at].next;

	if (!record || !record->missed_events)
		return;
	facts->has_lost = true;
	facts->lost += record->missed_events > 0 ? (uint64_t)record->missed_events : 0;
}

int kvm_reading_begin(struct kvm_source *source, struct kvm_reading *reading, int cpu)
{
	int n = source->facts.n_buffers, ret = 0;

	*reading = (struct kvm_reading){ .cpu = cpu };
	reading->places = calloc((size_t)n, sizeof(*reading->places));
	if (n > 1)
		reading->recent = calloc(N_RECENT, sizeof(*reading->recent));
	if (!reading->places || (n > 1 && !reading->recent))
		return -ENOMEM;
	for (int i = 0; i < n && !ret; i++) {
		ret = read_first(source, reading, i);
		note_lost(source, reading, i);
	}
	return ret;
}

void kvm_reading_end(struct kvm_source *source, struct kvm_reading *reading)
{
	for (int i = 0; reading->places && i < source->facts.n_buffers; i++) {
		drop(&reading->places[i]);
		kvm_page_reader_free(source, reading->places[i].pages);
	}
	for (size_t i = 0; reading->recent && i < N_RECENT; i++)
		free(reading->recent[i].data);
	free(reading->places);
	free(reading->recent);
	*reading = (struct kvm_reading){ 0 };
}

/** The buffer whose next record is the earliest; of two the first. Return: -1: there is none. */
static int earliest(const struct kvm_source *source, const struct kvm_reading *reading,
		    bool *blind)
{
	const struct place *places = reading->places;
	int found = -1;

	*blind = false;
	for (int i = 0; i < source->facts.n_buffers; i++)
		if (places[i].next && (found < 0 || places[i].next->ts < places[found].next->ts))
			found = i;
	for (int i = 0; i < source->facts.n_buffers; i++)
		if (i != found && places[i].next && places[i].next->missed_events)
			*blind = true;
	return found;
}

/** Was it in another buffer just now? One that is there twice is once paired with each. */
static bool is_twice(struct kvm_source *source, struct kvm_reading *reading, int buffer,
		     const struct tep_record *record)
{
	size_t n = reading->n_recent < N_RECENT ? reading->n_recent : N_RECENT;

	for (size_t i = 1; i <= n; i++) {
		struct kvm_recent *recent = &reading->recent[(reading->n_recent - i) % N_RECENT];

		if (record->ts - recent->ts > MOST_APART)
			break;
		if (recent->buffer == buffer || recent->matched >> buffer & 1 ||
		    recent->size != record->size ||
		    memcmp(recent->data, record->data, (size_t)record->size) != 0)
			continue;
		recent->matched |= UINT64_C(1) << buffer;
		source->facts.n_twice++;
		return true;
	}
	return false;
}

/** @record: a copy is kept as long as it is needed. Return: 0 or -ENOMEM. */
static int remember(struct kvm_reading *reading, int buffer, const struct tep_record *record)
{
	struct kvm_recent *recent = &reading->recent[reading->n_recent % N_RECENT];
	void *data = malloc((size_t)record->size + 1);

	if (!data)
		return -ENOMEM;
	memcpy(data, record->data, (size_t)record->size);
	free(recent->data);
	*recent = (struct kvm_recent){
		.ts = record->ts, .data = data, .size = record->size, .buffer = buffer,
	};
	reading->n_recent++;
	return 0;
}

/** Go on in the buffers whose records were given to the caller. */
static void go_on(struct kvm_source *source, struct kvm_reading *reading)
{
	for (int i = 0; i < source->facts.n_buffers; i++) {
		if (!reading->places[i].was_taken)
			continue;
		read_next(source, reading, i);
		note_lost(source, reading, i);
	}
}

/** The next record that was not in another buffer just now. Return: its buffer, or -1. */
static int next_of_all(struct kvm_source *source, struct kvm_reading *reading, bool *blind)
{
	for (;;) {
		const struct tep_record *record;
		int at;

		go_on(source, reading);
		at = earliest(source, reading, blind);
		if (at < 0)
			return at;
		record = reading->places[at].next;
		reading->places[at].was_taken = true;
		if (record->missed_events || !is_twice(source, reading, at, record))
			return at;
	}
}

void kvm_reading_note(struct kvm_source *source, struct kvm_reading *reading,
		      struct tep_record *record)
{
	if (!record && kvm_page_reader_is_damaged(reading->only))
		source->facts.damaged_cpu = reading->cpu;
	reading->places[0].next = record;
	note_lost(source, reading, 0);
	if (record)
		return;
	reading->places[0].was_taken = false;
	reading->only = NULL;
}

int kvm_reading_any(struct kvm_source *source, struct kvm_reading *reading,
		    struct tep_record **record, bool *blind)
{
	int at;

	if (!reading->recent) {
		struct place *only = reading->places;

		go_on(source, reading);
		*blind = false;
		*record = only->next;
		only->was_taken = only->next;
		/* the rest comes faster, up to the next loss or the end */
		reading->only = only->next ? only->pages : NULL;
		return 0;
	}
	at = next_of_all(source, reading, blind);
	*record = at < 0 ? NULL : reading->places[at].next;
	return *record ? remember(reading, at, *record) : 0;
}
