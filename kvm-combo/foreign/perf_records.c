// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	perf_records.c
 * @brief	The records of a perf.data file, as records of a trace.dat.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "array.h"
#include "perf_private.h"

/** Pages of a mapped file leave memory in such steps, which are multiples of a page. */
#define RELEASE_BYTES	((size_t)16 << 20)

int perf_next_record(struct perf_bytes *bytes, struct perf_record *record)
{
	uint16_t size;

	if (!bytes->left)
		return 0;
	if (bytes->left < RECORD_HEAD)
		return -EILSEQ;
	record->type = perf_32(bytes, 0);
	record->misc = perf_16(bytes, 4);
	size = perf_16(bytes, 6);
	if (size < RECORD_HEAD || size > bytes->left)
		return -EILSEQ;
	perf_part(bytes, RECORD_HEAD, size - RECORD_HEAD, &record->body);
	perf_skip(bytes, size);
	return 1;
}

/* --- samples --------------------------------------------------------------------------------- */

/** A sample, as far as its record shows it. */
struct sample {
	uint64_t	time, id;
	uint32_t	cpu;
	bool		has_time, has_cpu, has_id;
	struct perf_bytes read, raw;	/* counters, content; at NULL: there is none */
};

/** Counters that were read with the sample: perf_event_open(2). */
static bool skip_read(const struct perf_attr *attr, struct perf_bytes *body)
{
	uint64_t format = attr->read_format, n = 1, each = 1;

	each += !!(format & READ_ID) + (uint64_t)!!(format & READ_LOST);
	if (format & READ_GROUP && (!perf_take_64(body, true, &n) || n > body->left / 8 / each))
		return false;
	return perf_skip(body, 8 * (n * each + (uint64_t)!!(format & READ_TIME_ENABLED) +
				    !!(format & READ_TIME_RUNNING)));
}

static bool skip_callchain(struct perf_bytes *body)
{
	uint64_t n = 0;

	return perf_take_64(body, true, &n) && n <= body->left / 8 && perf_skip(body, 8 * n);
}

static bool take_raw(struct perf_bytes *body, struct perf_bytes *raw)
{
	return body->left >= 4 && perf_part(body, 4, perf_32(body, 0), raw);
}

/** What comes before the content, in the order in which the kernel writes it. */
static bool take_fields(const struct perf_attr *attr, struct perf_bytes *at, struct sample *sample)
{
	uint64_t type = attr->sample_type, skipped, cpu;
	struct perf_bytes body = *at;

	*sample = (struct sample){
		.has_time = type & SAMPLE_TIME, .has_cpu = type & SAMPLE_CPU,
		.has_id = type & (SAMPLE_ID | SAMPLE_IDENTIFIER),
	};
	if (!perf_take_64(&body, type & SAMPLE_IDENTIFIER, &sample->id) ||
	    !perf_take_64(&body, type & SAMPLE_IP, &skipped) ||
	    !perf_take_64(&body, type & SAMPLE_TID, &skipped) ||
	    !perf_take_64(&body, type & SAMPLE_TIME, &sample->time) ||
	    !perf_take_64(&body, type & SAMPLE_ADDR, &skipped) ||
	    !perf_take_64(&body, type & SAMPLE_ID, &sample->id) ||
	    !perf_take_64(&body, type & SAMPLE_STREAM_ID, &skipped))
		return false;
	if (sample->has_cpu) {
		sample->cpu = body.left >= 8 ? perf_32(&body, 0) : 0;
		if (!perf_take_64(&body, true, &cpu))
			return false;
	}
	if (!perf_take_64(&body, type & SAMPLE_PERIOD, &skipped))
		return false;
	sample->read = body;
	if ((type & SAMPLE_READ && !skip_read(attr, &body)) ||
	    (type & SAMPLE_CALLCHAIN && !skip_callchain(&body)))
		return false;
	*at = body;
	return true;
}

/** What follows the content does not matter. */
static bool take_sample(const struct perf_attr *attr, struct perf_bytes body, struct sample *sample)
{
	return take_fields(attr, &body, sample) &&
	       (!(attr->sample_type & SAMPLE_RAW) || take_raw(&body, &sample->raw));
}

/** By id; all attributes have the id at the same place. Return: NULL: it is not known. */
static const struct perf_attr *attr_of_id(const struct perf_reader *reader, uint64_t id)
{
	int64_t n = key_map_find(&reader->ids, id);

	return n < 0 ? NULL : &reader->attrs[reader->attr_of[n]];
}

static const struct perf_attr *attr_of_sample(const struct perf_reader *reader,
					      const struct perf_bytes *body)
{
	static const uint64_t before_id = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR;
	const struct perf_attr *first = reader->attrs;
	uint64_t type = first->sample_type;
	size_t at = type & SAMPLE_IDENTIFIER ? 0 :
		    8 * (size_t)__builtin_popcountll(type & before_id);

	/* a single attribute may come without ids */
	if (!(type & (SAMPLE_ID | SAMPLE_IDENTIFIER)) ||
	    (reader->n_attrs == 1 && !reader->ids.n_keys))
		return first;
	return body->left >= at + 8 ? attr_of_id(reader, perf_64(body, at)) : NULL;
}

bool perf_read_part(const struct perf_reader *reader, const struct perf_bytes *body,
		    struct perf_attr **attr, struct perf_bytes *part)
{
	const struct perf_attr *found = attr_of_sample(reader, body);
	struct perf_bytes at = *body;
	struct sample sample;

	if (!found || !take_fields(found, &at, &sample))
		return false;
	*attr = &reader->attrs[found - reader->attrs];
	*part = sample.read;
	return true;
}

static struct perf_cpu *cpu_of(struct perf_reader *reader, uint32_t cpu)
{
	return ARRAY_REACH(reader->cpus, cpu, reader->n_cpus) ? NULL : &reader->cpus[cpu];
}

/** The name of a file of a folder. */
static const char *name_piece(uint32_t piece, char name[24])
{
	if (piece)
		snprintf(name, 24, "data.%u", piece - 1);
	else
		strcpy(name, "data");
	return name;
}

/** A CPU has one buffer, and each buffer goes to one file. Return: false after perf_fail(). */
static bool belongs(struct perf_reader *reader, struct perf_cpu *cpu, const struct sample *sample)
{
	char one[24], other[24];

	if (cpu->has_samples && cpu->piece != reader->piece) {
		perf_fail(reader, -EINVAL, "its files %s and %s both have records of CPU %u: one "
			  "of them belongs to another recording. Copy the folder again",
			  name_piece(cpu->piece, one), name_piece(reader->piece, other),
			  sample->cpu);
		return false;
	}
	cpu->piece = reader->piece;
	reader->facts->outside += reader->last_ns && (sample->time < reader->first_ns ||
						      sample->time > reader->last_ns);
	return true;
}

static int add_sample(struct perf_reader *reader, const struct perf_record *record)
{
	const struct perf_attr *attr = attr_of_sample(reader, &record->body);
	struct perf_cpu *cpu;
	struct sample sample;
	uint16_t before = 0;

	if (attr && attr->type != PERF_TRACEPOINT) {
		reader->facts->others++;
		return 0;
	}
	reader->n_known += attr != NULL;
	reader->n_unknown += !attr;
	if (!attr || !take_sample(attr, record->body, &sample) || !sample.has_time ||
	    !sample.has_cpu || sample.cpu >= TRACE_DAT_WRITE_CPUS || !sample.raw.at ||
	    sample.raw.left < COMMON_BYTES) {
		reader->facts->unusable++;
		return 0;
	}
	cpu = cpu_of(reader, sample.cpu);
	if (!cpu)
		return -ENOMEM;
	if (reader->is_folder && !belongs(reader, cpu, &sample))
		return -EINVAL;
	cpu->has_samples = true;
	if (reader->has_reads && attr->sample_type & SAMPLE_READ)
		before = (uint16_t)(sample.raw.at - record->body.at);
	return perf_order_add(reader->order, sample.cpu, sample.time, sample.raw.at,
			      sample.raw.left, before, record->is_unpacked);
}

/* --- other records --------------------------------------------------------------------------- */

/** Records that are no samples have some fields of a sample at their end. */
static bool take_tail(const struct perf_reader *reader, const struct perf_bytes *body,
		      struct sample *tail)
{
	const struct perf_attr *attr = reader->attrs;
	uint64_t type = attr->sample_type;
	size_t at = body->left;

	*tail = (struct sample){ 0 };
	if (!attr->has_sample_id)
		return false;
	if (type & SAMPLE_IDENTIFIER && at >= 8) {
		at -= 8;
		tail->id = perf_64(body, at);
		attr = attr_of_id(reader, tail->id);
		type = attr ? attr->sample_type : type;
		tail->has_id = true;
	}
	if (type & SAMPLE_CPU && at >= 8) {
		at -= 8;
		tail->cpu = perf_32(body, at);
		tail->has_cpu = tail->cpu < TRACE_DAT_WRITE_CPUS;
	}
	if (type & SAMPLE_STREAM_ID && at >= 8)
		at -= 8;
	if (type & SAMPLE_ID && at >= 8) {
		at -= 8;
		tail->id = perf_64(body, at);
		tail->has_id = true;
	}
	if (type & SAMPLE_TIME && at >= 8) {
		tail->time = perf_64(body, at - 8);
		tail->has_time = true;
	}
	return true;
}

uint64_t perf_time_of(const struct perf_reader *reader, const struct perf_bytes *body)
{
	struct sample tail;

	return take_tail(reader, body, &tail) && tail.has_time ? tail.time : 0;
}

static uint64_t add_up(uint64_t sum, uint64_t n)
{
	return n > UINT64_MAX - sum ? UINT64_MAX : sum + n;
}

/** Of which CPU is not known: all of them lack records. */
static int lose_everywhere(struct perf_reader *reader)
{
	int ret = 0;

	reader->facts->unplaced++;
	for (size_t i = 0; i < reader->n_cpus && !ret; i++)
		if (reader->cpus[i].has_samples)
			ret = perf_order_lost(reader->order, (uint32_t)i, 0);
	return ret;
}

/** The ring buffer of a CPU had no room for a number of records. */
static int add_lost(struct perf_reader *reader, const struct perf_record *record)
{
	struct perf_cpu *cpu;
	struct sample tail;
	uint64_t n;

	if (record->body.left < 16)
		return 0;
	n = perf_64(&record->body, 8);
	reader->facts->lost = add_up(reader->facts->lost, n);
	if (!take_tail(reader, &record->body, &tail) || !tail.has_cpu)
		return lose_everywhere(reader);
	cpu = cpu_of(reader, tail.cpu);
	if (!cpu)
		return -ENOMEM;
	cpu->in_ring = add_up(cpu->in_ring, n);
	return perf_order_lost(reader->order, tail.cpu, n);
}

/** The kernel's own sum for an event on a CPU, as perf record reads it at the end. */
static int add_lost_samples(struct perf_reader *reader, const struct perf_record *record)
{
	const struct perf_attr *attr;
	struct perf_cpu *cpu;
	struct sample tail;

	if (record->body.left < 8 || record->misc & MISC_LOST_BY_FILTER ||
	    !take_tail(reader, &record->body, &tail) || !tail.has_cpu || !tail.has_id)
		return 0;
	attr = attr_of_id(reader, tail.id);
	if (!attr || attr->type != PERF_TRACEPOINT)
		return 0;
	cpu = cpu_of(reader, tail.cpu);
	if (!cpu)
		return -ENOMEM;
	cpu->of_events = add_up(cpu->of_events, perf_64(&record->body, 0));
	return 0;
}

/** The threads that were asked for: 8 bytes for the id, -1 for all; 16 for the name. */
static void see_threads(struct perf_reader *reader, const struct perf_bytes *body)
{
	uint64_t n = body->left >= 8 ? perf_64(body, 0) : 0;

	for (uint64_t i = 0; i < n && i < (body->left - 8) / 24; i++)
		if ((int32_t)perf_64(body, 8 + 24 * (size_t)i) != -1)
			reader->facts->is_per_task = true;
}

/** Kinds of a set of CPUs: a list, bits of longs, a range. */
enum { CPUS_LIST, CPUS_MASK, CPUS_RANGE };

static uint32_t count_bits(const struct perf_bytes *body, size_t at)
{
	uint32_t n = 0;

	for (; at < body->left; at++)
		n += (uint32_t)__builtin_popcount(body->at[at]);
	return n;
}

/** The CPUs that were asked for. In a list, 0xffff is any CPU. */
static void see_cpus(struct perf_reader *reader, const struct perf_bytes *body)
{
	uint32_t n = 0;

	if (body->left < 8)
		return;
	switch (perf_16(body, 0)) {
	case CPUS_LIST:
		if (perf_16(body, 4) != UINT16_MAX)
			n = perf_16(body, 2);
		break;
	case CPUS_MASK:
		/* the mask is aligned: to its longs, in most versions */
		n = count_bits(body, perf_16(body, 4) == 8 || body->left % 8 == 0 ? 8 : 6);
		break;
	case CPUS_RANGE:
		if (perf_16(body, 6) >= perf_16(body, 4))
			n = perf_16(body, 6) - perf_16(body, 4) + 1U;
		break;
	}
	reader->facts->n_recorded = n;
}

/* --- all of them ----------------------------------------------------------------------------- */

int perf_take_record(struct perf_reader *reader, const struct perf_record *record)
{
	switch (record->type) {
	case RECORD_SAMPLE:
		return add_sample(reader, record);
	case RECORD_LOST:
		return add_lost(reader, record);
	case RECORD_LOST_SAMPLES:
		return add_lost_samples(reader, record);
	case RECORD_COMM:
		return perf_names_comm(reader, record);
	case RECORD_FORK:
		return perf_names_fork(reader, record);
	case RECORD_FINISHED_ROUND:
		return perf_order_round(reader->order);
	case RECORD_THREAD_MAP:
		see_threads(reader, &record->body);
		break;
	case RECORD_CPU_MAP:
		see_cpus(reader, &record->body);
		break;
	case RECORD_COMPRESSED:
	case RECORD_COMPRESSED2:
		return record->is_unpacked ? -EILSEQ : perf_unpack_take(reader, record);
	}
	return 0;
}

/** Some records have more after them than their size says. Return: false: it is not there. */
static bool skip_more(struct perf_bytes *bytes, const struct perf_record *record)
{
	const struct perf_bytes *body = &record->body;

	if (record->type == RECORD_AUXTRACE)
		return body->left >= 8 && perf_skip(bytes, perf_64(body, 0));
	if (record->type == RECORD_TRACING_DATA)
		return body->left >= 4 &&
		       perf_skip(bytes, ((uint64_t)perf_32(body, 0) + 7) & ~UINT64_C(7));
	return true;
}

/** Only the counters of the events show the losses after the last sample of a CPU. */
static int end_losses(struct perf_reader *reader)
{
	int ret = 0;

	for (size_t i = 0; i < reader->n_cpus && !ret; i++) {
		const struct perf_cpu *cpu = &reader->cpus[i];

		if (cpu->of_events <= cpu->in_ring)
			continue;
		reader->facts->lost = add_up(reader->facts->lost, cpu->of_events - cpu->in_ring);
		ret = perf_order_lost(reader->order, (uint32_t)i, cpu->of_events - cpu->in_ring);
	}
	return ret;
}

/** What follows is not read, so the CPUs of this file lack records. Return: as perf_walk(). */
static int end_at_damage(struct perf_reader *reader, uint64_t offset)
{
	struct perf_facts *facts = reader->facts;
	int ret = 0;

	if (!facts->is_damaged) {
		facts->is_damaged = true;
		facts->damaged_at = offset;
		if (reader->is_folder)
			name_piece(reader->piece, facts->damaged_in);
	}
	for (size_t i = 0; i < reader->n_cpus && reader->piece && !ret; i++)
		if (reader->cpus[i].has_samples && reader->cpus[i].piece == reader->piece)
			ret = perf_order_lost(reader->order, (uint32_t)i, 0);
	return ret;
}

/** Samples that still wait in these pages bring them back from the file. */
static void release(struct perf_reader *reader, const uint8_t *at)
{
	size_t end = (size_t)(at - reader->data) / RELEASE_BYTES * RELEASE_BYTES;

	if (!reader->is_mapped || end <= reader->released)
		return;
	madvise((void *)(uintptr_t)(reader->data + reader->released), end - reader->released,
		MADV_DONTNEED);
	reader->released = end;
}

/** All records of the file or part. Return: as perf_walk(). */
static int walk_records(struct perf_reader *reader)
{
	struct perf_bytes bytes = {
		reader->data + reader->records_at, reader->records_size, reader->swap,
	};
	struct perf_record record = { 0 };
	int found = 1, ret = 0;

	while (!ret) {
		record.offset = (uint64_t)(bytes.at - reader->data);
		found = perf_next_record(&bytes, &record);
		if (found != 1)
			break;
		ret = perf_take_record(reader, &record);
		release(reader, bytes.at);
		if (!ret && !skip_more(&bytes, &record))
			ret = -EILSEQ;
	}
	/* a record that the end of the file cuts off */
	if (found < 0 && !reader->piece && (reader->facts->is_cut || reader->facts->is_unfinished))
		reader->facts->is_cut = true;
	else if (found < 0 || ret == -EILSEQ)
		return end_at_damage(reader, record.offset);
	return ret;
}

/** A part has no head, and its buffers are only in it. Return: as perf_walk(). */
static int walk_piece(struct perf_reader *reader, const struct perf_piece *piece)
{
	char name[24];
	int ret;

	perf_unpack_free(reader->unpack);
	reader->unpack = NULL;
	reader->data = piece->data;
	reader->size = reader->records_size = piece->size;
	reader->released = reader->records_at = 0;
	reader->piece = piece->number + 1;
	reader->n_known = reader->n_unknown = 0;
	ret = piece->size ? walk_records(reader) : 0;
	if (!ret && reader->n_unknown && !reader->n_known)
		return perf_fail(reader, -EINVAL, "its file %s belongs to another recording: it "
				 "has no event of this one. Copy the folder again",
				 name_piece(reader->piece, name));
	/* the file's bytes may leave memory, so nothing waits for the next part */
	return ret ? ret : perf_order_end(reader->order);
}

static int walk_pieces(struct perf_reader *reader, const struct perf_input *input)
{
	struct perf_facts *facts = reader->facts;
	int ret = perf_order_end(reader->order);

	facts->n_parts = (uint32_t)input->n_pieces;
	for (size_t i = 0; i < input->n_pieces && !ret; i++) {
		if (facts->missing_part < 0 && input->pieces[i].number > i)
			facts->missing_part = (int64_t)i;
		ret = walk_piece(reader, &input->pieces[i]);
	}
	return ret;
}

int perf_walk(struct perf_reader *reader, const struct perf_input *input)
{
	int ret = walk_records(reader);

	reader->facts->missing_part = -1;
	if (!ret && input->is_folder)
		ret = walk_pieces(reader, input);
	if (!ret)
		ret = perf_names_end(reader);
	for (size_t i = 0; i < reader->n_cpus; i++)
		reader->facts->n_sampled += reader->cpus[i].has_samples;
	if (!ret)
		ret = end_losses(reader);
	return ret ? ret : perf_order_end(reader->order);
}
