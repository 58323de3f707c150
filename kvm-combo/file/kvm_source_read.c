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

/** The next record of a CPU in a buffer. */
static void read_next(struct kvm_source *source, struct kvm_reading *reading, int at, bool first)
{
	struct kvm_buffer_facts *facts = &source->facts.buffers[at];
	struct place *place = &reading->places[at];
	struct tep_record *record = first ?
				    tracecmd_read_cpu_first(source->inputs[at], reading->cpu) :
				    tracecmd_read_data(source->inputs[at], reading->cpu);

	/* in a damaged page, libtracecmd goes round in circles */
	if (record && !first && record->offset <= place->last) {
		source->facts.damaged_cpu = reading->cpu;
		tracecmd_free_record(record);
		record = NULL;
	}
	place->next = record;
	place->last = record ? record->offset : 0;
	place->was_taken = false;
	if (record && record->missed_events) {
		facts->has_lost = true;
		facts->lost += record->missed_events > 0 ? (uint64_t)record->missed_events : 0;
	}
}

int kvm_reading_begin(struct kvm_source *source, struct kvm_reading *reading, int cpu)
{
	int n = source->facts.n_buffers;

	*reading = (struct kvm_reading){ .cpu = cpu };
	reading->places = calloc((size_t)n, sizeof(*reading->places));
	if (n > 1)
		reading->recent = calloc(N_RECENT, sizeof(*reading->recent));
	if (!reading->places || (n > 1 && !reading->recent))
		return -ENOMEM;
	for (int i = 0; i < n; i++)
		read_next(source, reading, i, true);
	return 0;
}

void kvm_reading_end(const struct kvm_source *source, struct kvm_reading *reading)
{
	for (int i = 0; reading->places && i < source->facts.n_buffers; i++)
		if (reading->places[i].next)
			tracecmd_free_record(reading->places[i].next);
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

/** The next record of the only buffer. */
static struct tep_record *next_of_one(struct kvm_source *source, struct kvm_reading *reading)
{
	struct place *only = reading->places;
	struct tep_record *record;

	if (only->was_taken)
		read_next(source, reading, 0, false);
	record = only->next;
	only->next = NULL;
	only->was_taken = record != NULL;
	return record;
}

/** The next record that was not in another buffer just now; @at receives its buffer. */
static struct tep_record *next_of_all(struct kvm_source *source, struct kvm_reading *reading,
				      int *at, bool *blind)
{
	for (;;) {
		struct tep_record *record;

		for (int i = 0; i < source->facts.n_buffers; i++)
			if (reading->places[i].was_taken)
				read_next(source, reading, i, false);
		*at = earliest(source, reading, blind);
		if (*at < 0)
			return NULL;
		record = reading->places[*at].next;
		reading->places[*at].next = NULL;
		reading->places[*at].was_taken = true;
		if (record->missed_events || !is_twice(source, reading, *at, record))
			return record;
		tracecmd_free_record(record);
	}
}

int kvm_reading_next(struct kvm_source *source, struct kvm_reading *reading,
		     struct tep_record **record, bool *blind)
{
	int at, ret;

	if (!reading->recent) {
		*blind = false;
		*record = next_of_one(source, reading);
		return 0;
	}
	*record = next_of_all(source, reading, &at, blind);
	ret = *record ? remember(reading, at, *record) : 0;
	if (ret) {
		tracecmd_free_record(*record);
		*record = NULL;
	}
	return ret;
}
