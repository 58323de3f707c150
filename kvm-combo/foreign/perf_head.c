// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	perf_head.c
 * @brief	The head of a perf.data file: attributes of events, and features.
 */
#include <errno.h>
#include <stdio.h>

#include "array.h"
#include "foreign_file.h"
#include "perf_private.h"

/** The head of a file, and that of what goes through a pipe. */
#define FILE_HEAD	104
#define PIPE_HEAD	16

/** Features, bits of 256: tools/perf/util/header.h. */
enum {
	FEATURE_TRACING_DATA = 1, FEATURE_HOSTNAME = 3, FEATURE_RELEASE = 4, FEATURE_ARCH = 6,
	FEATURE_CPUS = 7, FEATURE_EVENT_DESC = 12, FEATURE_SAMPLE_TIME = 21,
	FEATURE_DIR_FORMAT = 24, N_FEATURES = 256,
};

/** Of struct perf_event_attr: the first version's size, flags, and its offsets. */
enum {
	ATTR_SIZE_0 = 64, ATTR_TYPE = 0, ATTR_SIZE = 4, ATTR_CONFIG = 8, ATTR_SAMPLE_TYPE = 24,
	ATTR_READ_FORMAT = 32, ATTR_FLAGS = 40, ATTR_CLOCK = 92,
	FLAG_EXCLUDE_USER = 4, FLAG_SAMPLE_ID_ALL = 18, FLAG_EXCLUDE_HOST = 19,
	FLAG_USE_CLOCK = 25,
};

/** Limits: events, and ids of them, one for each CPU. */
#define MOST_ATTRS	(1 << 16)
#define MOST_IDS	(1 << 20)

bool perf_data_is(const void *head, size_t n)
{
	return n >= FOREIGN_PERF_BYTES &&
	       (!memcmp(head, FOREIGN_PERF_LITTLE, FOREIGN_PERF_BYTES) ||
		!memcmp(head, FOREIGN_PERF_BIG, FOREIGN_PERF_BYTES));
}

/* --- attributes ------------------------------------------------------------------------------ */

/** A bit of the flags: each byte's bits begin at its other end where the host is big-endian. */
static bool has_flag(const struct perf_reader *reader, const struct perf_bytes *attr, int flag)
{
	uint8_t byte = attr->at[ATTR_FLAGS + flag / 8];

	return byte >> (reader->big_endian ? 7 - flag % 8 : flag % 8) & 1;
}

/** exclude_user, _kernel, _hv and _idle, then exclude_host and _guest. */
static uint32_t modes_of(const struct perf_reader *reader, const struct perf_bytes *attr)
{
	uint32_t modes = 0;

	for (int i = 0; i < 6; i++)
		modes |= (uint32_t)has_flag(reader, attr, i < 4 ? FLAG_EXCLUDE_USER + i :
					    FLAG_EXCLUDE_HOST + i - 4) << i;
	return modes;
}

static int add_ids(struct perf_reader *reader, const struct perf_bytes *ids)
{
	for (size_t at = 0; ids->left - at >= 8; at += 8) {
		int64_t n;

		/* also of those that are there twice */
		if (reader->n_ids++ >= MOST_IDS)
			return perf_fail(reader, -EFBIG, "it has more than %d ids of events: "
					 "record fewer events", MOST_IDS);
		n = KEY_MAP_ELEMENT(&reader->ids, perf_64(ids, at), reader->attr_of,
				    reader->attr_of_room);
		if (n < 0)
			return perf_fail(reader, -ENOMEM, "not enough memory");
		reader->attr_of[n] = (uint32_t)reader->n_attrs - 1;
	}
	return 0;
}

int perf_add_attr(struct perf_reader *reader, const struct perf_bytes *attr,
		  const struct perf_bytes *ids)
{
	struct perf_attr *to;

	if (attr->left < ATTR_SIZE_0)
		return perf_fail(reader, -EILSEQ, "damaged: an attribute of an event has %zu "
				 "bytes. Copy the file again, if there is another one", attr->left);
	if (reader->n_attrs >= MOST_ATTRS)
		return perf_fail(reader, -EFBIG, "it has more than %d events: record fewer events",
				 MOST_ATTRS);
	if (ARRAY_GROW(reader->attrs, reader->n_attrs, reader->room_attrs))
		return perf_fail(reader, -ENOMEM, "not enough memory");
	to = &reader->attrs[reader->n_attrs++];
	*to = (struct perf_attr){
		.type = perf_32(attr, ATTR_TYPE),
		.config = perf_64(attr, ATTR_CONFIG),
		.modes = modes_of(reader, attr),
		.sample_type = perf_64(attr, ATTR_SAMPLE_TYPE),
		.read_format = perf_64(attr, ATTR_READ_FORMAT),
		.has_sample_id = has_flag(reader, attr, FLAG_SAMPLE_ID_ALL),
		.has_clock = attr->left >= ATTR_CLOCK + 4 &&
			     has_flag(reader, attr, FLAG_USE_CLOCK),
	};
	reader->has_reads |= reader->wants_reads && to->sample_type & SAMPLE_READ;
	if (to->has_clock)
		to->clock = (int32_t)perf_32(attr, ATTR_CLOCK);
	return add_ids(reader, ids);
}

/** A list of attributes, each with the place of its ids. */
static int read_attrs(struct perf_reader *reader, const struct perf_bytes *file, uint64_t entry,
		      uint64_t offset, uint64_t size)
{
	struct perf_bytes attr, place, ids;
	int ret = 0;

	if (!size)
		return 0;
	if (entry < ATTR_SIZE_0 + 16 || entry > 4096)
		return perf_fail(reader, -EILSEQ, "damaged: its attributes of events have %llu "
				 "bytes each. Copy the file again, if there is another one",
				 (unsigned long long)entry);
	for (uint64_t at = 0; size - at >= entry && !ret; at += entry) {
		if (offset + at < offset || !perf_part(file, offset + at, entry - 16, &attr) ||
		    !perf_part(file, offset + at + entry - 16, 16, &place) ||
		    !perf_part(file, perf_64(&place, 0), perf_64(&place, 8), &ids))
			return perf_fail(reader, -EILSEQ, "cut short or damaged: its attributes "
					 "of events lie outside of it. Copy the file again, if "
					 "there is another one");
		ret = perf_add_attr(reader, &attr, &ids);
	}
	return ret;
}

/* --- features -------------------------------------------------------------------------------- */

/** A size of 4 bytes, and a text that ends with 0 or with them. */
static void read_text(const struct perf_bytes *part, char *text, size_t size)
{
	struct perf_bytes bytes;

	if (part->left >= 4 && perf_part(part, 4, perf_32(part, 0), &bytes))
		snprintf(text, size, "%.*s", (int)strnlen((const char *)bytes.at, bytes.left),
			 (const char *)bytes.at);
}

static int take_feature(struct perf_reader *reader, uint64_t feature, const struct perf_bytes *part)
{
	switch (feature) {
	case FEATURE_TRACING_DATA:
		reader->tracing = *part;
		break;
	case FEATURE_HOSTNAME:
		read_text(part, reader->hostname, sizeof(reader->hostname));
		break;
	case FEATURE_RELEASE:
		read_text(part, reader->release, sizeof(reader->release));
		break;
	case FEATURE_ARCH:
		read_text(part, reader->arch, sizeof(reader->arch));
		break;
	case FEATURE_CPUS:
		if (part->left < 8)
			break;
		reader->cpus_there = perf_32(part, 0);
		reader->facts->n_cpus = perf_32(part, 4);
		break;
	case FEATURE_EVENT_DESC:
		reader->event_names = *part;
		break;
	case FEATURE_SAMPLE_TIME:
		if (part->left < 16)
			break;
		reader->first_ns = perf_64(part, 0);
		reader->last_ns = perf_64(part, 8);
		break;
	case FEATURE_DIR_FORMAT:
		reader->has_pieces = true;
		if (reader->is_folder)
			break;
		return perf_fail(reader, -EISDIR, "a part of a folder of 'perf record --threads': "
				 "give the folder that it is in");
	}
	return 0;
}

/** Behind the records, the place of each feature that is there. */
static int read_features(struct perf_reader *reader, const struct perf_bytes *file,
			 const uint8_t flags[N_FEATURES / 8], uint64_t at)
{
	/* longs of the host that recorded; one of 32 bits does not have its hostname in byte 7 */
	int wide = flags[7] >> FEATURE_HOSTNAME & 1 ? 64 : 32;
	struct perf_bytes place, part;
	int ret = 0;

	for (int feature = 0; feature < N_FEATURES && !ret; feature++) {
		int last = wide / 8 - 1, byte = feature / 8;

		/* in a long of the other order, the first byte is the last one */
		if (reader->big_endian)
			byte = byte / (last + 1) * (last + 1) + last - byte % (last + 1);
		if (!(flags[byte] >> feature % 8 & 1))
			continue;
		if (!perf_part(file, at, 16, &place) ||
		    !perf_part(file, perf_64(&place, 0), perf_64(&place, 8), &part)) {
			reader->facts->is_cut = true;
			return 0;
		}
		ret = take_feature(reader, (uint64_t)feature, &part);
		at += 16;
	}
	return ret;
}

static int read_file_head(struct perf_reader *reader, const struct perf_bytes *file)
{
	uint64_t at = perf_64(file, 40), size = perf_64(file, 48);
	int ret = read_attrs(reader, file, perf_64(file, 16), perf_64(file, 24),
			     perf_64(file, 32));

	if (ret)
		return ret;
	if (at > reader->size) {
		reader->facts->is_cut = true;
		at = reader->size;
	}
	/* perf record writes the size, and the features after it, at its end */
	reader->facts->is_unfinished = !size;
	if (size)
		ret = at + size < at ? 0 : read_features(reader, file, file->at + 72, at + size);
	if (!size || size > reader->size - at) {
		reader->facts->is_cut |= size > reader->size - at;
		size = reader->size - at;
	}
	reader->records_at = (size_t)at;
	reader->records_size = (size_t)size;
	return ret;
}

/* --- what went through a pipe ---------------------------------------------------------------- */

/** The formats of tracepoints follow their record, whose first number is their size, unpadded. */
static bool take_tracing(struct perf_reader *reader, struct perf_bytes *bytes,
			 const struct perf_record *record)
{
	uint64_t size = record->body.left >= 4 ? perf_32(&record->body, 0) : 0;

	if (!reader->tracing.at && !perf_part(bytes, 0, size, &reader->tracing))
		return false;
	return perf_skip(bytes, (size + 7) & ~UINT64_C(7));
}

static int take_head_record(struct perf_reader *reader, struct perf_bytes *bytes,
			    const struct perf_record *record)
{
	const struct perf_bytes *body = &record->body;
	struct perf_bytes attr, ids = { 0 };
	uint32_t size;

	switch (record->type) {
	case RECORD_ATTR:
		size = body->left >= ATTR_SIZE + 4 ? perf_32(body, ATTR_SIZE) : 0;
		if (!perf_part(body, 0, size ? size : ATTR_SIZE_0, &attr))
			return -EILSEQ;
		ids = *body;
		perf_skip(&ids, attr.left);
		return perf_add_attr(reader, &attr, &ids);
	case RECORD_TRACING_DATA:
		return take_tracing(reader, bytes, record) ? 0 : -EILSEQ;
	case RECORD_FEATURE:
		attr = *body;
		return body->left >= 8 && perf_skip(&attr, 8) ?
		       take_feature(reader, perf_64(body, 0), &attr) : 0;
	case RECORD_AUXTRACE:
		return body->left >= 8 && perf_skip(bytes, perf_64(body, 0)) ? 0 : -EILSEQ;
	}
	return 0;
}

/** Attributes and features are records among the others. perf_walk() finds damage. */
static int read_pipe_head(struct perf_reader *reader, const struct perf_bytes *file)
{
	struct perf_bytes bytes = *file;
	struct perf_record record;
	int ret = 0;

	reader->records_at = PIPE_HEAD;
	reader->records_size = reader->size - PIPE_HEAD;
	perf_skip(&bytes, PIPE_HEAD);
	while (!ret && perf_next_record(&bytes, &record) == 1)
		ret = take_head_record(reader, &bytes, &record);
	return *reader->problem ? ret : 0;
}

int perf_read_head(struct perf_reader *reader)
{
	struct perf_bytes file = { reader->data, reader->size, false };
	uint64_t size;

	if (!perf_data_is(file.at, file.left) || file.left < PIPE_HEAD)
		return perf_fail(reader, -EILSEQ, "cut short: there is no head of a perf.data "
				 "file. Copy the file again, if there is another one");
	/* a number, which has the order of the host that wrote it */
	reader->big_endian = file.at[0] != 'P' ? true : false;
	reader->swap = reader->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	file.swap = reader->swap;
	size = perf_64(&file, 8);
	reader->is_pipe = size == PIPE_HEAD;
	if (reader->is_pipe)
		return read_pipe_head(reader, &file);
	if (file.left < FILE_HEAD || size < FILE_HEAD)
		return perf_fail(reader, -EILSEQ, "cut short: its head is not complete. Copy the "
				 "file again, if there is another one");
	return read_file_head(reader, &file);
}
