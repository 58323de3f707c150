// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_pages.c
 * @brief	Pages of the kernel's own trace buffers.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>
#include <kbuffer.h>

#include "array.h"
#include "kvm_fields.h"
#include "kvm_pages.h"
#include "regular_file.h"

/** Formats have some 1000 bytes; those of system calls, and of events with long names, more. */
#define FORMAT_BYTES	(64 << 10)

struct cpu {
	int64_t		last_ns;	/* 0: no record was taken */
	/* records that are left out, until one that is not: */
	bool		misses;
	bool		counted;	/* how many is known */
	uint64_t	n;
};

struct kvm_pages {
	struct tep_handle *tep;
	struct kbuffer	*buffer;
	struct kvm_fields *fields;
	struct kvm_pages_count count;
	int64_t		last_ns;
	struct cpu	*cpus;
	size_t		n_cpus;
};

/* --- formats --------------------------------------------------------------------------------- */

/** Return: a text with a NUL behind it, to be freed; or NULL with errno. */
static char *read_text(const char *path, ssize_t *size)
{
	char *text = malloc(FORMAT_BYTES);

	*size = text ? regular_file_start(path, text, FORMAT_BYTES) : -ENOMEM;
	if (*size > 0)
		return text;
	free(text);
	errno = *size ? (int)-*size : ENODATA;
	return NULL;
}

static bool read_head(struct kvm_pages *pages, const char *tracing, char *error, size_t size)
{
	char path[PATH_MAX], *text;
	ssize_t n;
	int ret;

	snprintf(path, sizeof(path), "%s/events/header_page", tracing);
	text = read_text(path, &n);
	if (!text) {
		snprintf(error, size, "%s: %s", path, strerror(errno));
		return false;
	}
	ret = tep_parse_header_page(pages->tep, text, (unsigned long)n, sizeof(long));
	free(text);
	if (!ret)
		return true;
	snprintf(error, size, "%s: is not understood: a newer libtraceevent may help", path);
	return false;
}

/** What is not there, or not understood, is not recorded. */
static void read_event(struct kvm_pages *pages, const char *tracing, const char *event)
{
	char path[PATH_MAX], system[64], *text;
	const char *colon = strchr(event, ':');
	ssize_t n;

	if (!colon)
		return;
	snprintf(system, sizeof(system), "%.*s", (int)(colon - event), event);
	snprintf(path, sizeof(path), "%s/events/%s/%s/format", tracing, system, colon + 1);
	text = read_text(path, &n);
	if (text)
		tep_parse_event(pages->tep, text, (unsigned long)n, system);
	free(text);
}

/** Are enough formats there? States need entries and exits if the caller asks for KVM's events. */
static bool has_formats(const struct kvm_pages *pages, const char *const *events, size_t n,
			const char *tracing, char *error, size_t size)
{
	bool wants_kvm = false;

	for (size_t i = 0; i < n; i++)
		wants_kvm |= !strncmp(events[i], "kvm:", strlen("kvm:"));
	if (wants_kvm ? kvm_fields_is_host(pages->fields) :
			kvm_fields_kinds(pages->fields) & VIRT_RECORD_BIT(VIRT_RECORD_SWITCH))
		return true;
	if (wants_kvm)
		snprintf(error, size, "%s/events/kvm: no formats of kvm_entry and kvm_exit: "
			 "modprobe kvm_intel, or kvm_amd", tracing);
	else
		snprintf(error, size, "%s/events/sched: no format of sched_switch", tracing);
	return false;
}

struct kvm_pages *kvm_pages_new(const char *tracing, const char *const *events, size_t n,
				char *error, size_t size)
{
	struct kvm_pages *pages = calloc(1, sizeof(*pages));

	snprintf(error, size, "not enough memory");
	if (!pages)
		return NULL;
	pages->last_ns = INT64_MIN;
	pages->tep = tep_alloc();
	pages->buffer = kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST, KBUFFER_ENDIAN_SAME_AS_HOST);
	if (!pages->tep || !pages->buffer)
		goto err;
	tep_set_local_bigendian(pages->tep, tep_is_bigendian());
	tep_set_file_bigendian(pages->tep, tep_is_bigendian());
	tep_set_long_size(pages->tep, sizeof(long));
	if (!read_head(pages, tracing, error, size))
		goto err;
	for (size_t i = 0; i < n; i++)
		read_event(pages, tracing, events[i]);
	pages->fields = kvm_fields_new(pages->tep);
	if (!pages->fields)
		goto err;
	if (has_formats(pages, events, n, tracing, error, size))
		return pages;
err:
	kvm_pages_free(pages);
	return NULL;
}

uint64_t kvm_pages_kinds(const struct kvm_pages *pages)
{
	return kvm_fields_kinds(pages->fields);
}

void kvm_pages_free(struct kvm_pages *pages)
{
	if (!pages)
		return;
	kvm_fields_free(pages->fields);
	if (pages->buffer)
		kbuffer_free(pages->buffer);
	if (pages->tep)
		tep_free(pages->tep);
	free(pages->cpus);
	free(pages);
}

/* --- pages ----------------------------------------------------------------------------------- */

/** A page begins with a time, and how much follows, with flags: Linux's ring_buffer.c */
#define HEAD_BYTES	(8 + sizeof(long))
#define COMMIT_MASK	0x7ffffffUL
#define MISSED_STORED	0x40000000UL	/* how many are missing stands behind the events */

/** Kinds of events; all other values are sizes in words. */
enum { EVENT_LONG = 0, EVENT_PADDING = 29, EVENT_EXTEND = 30, EVENT_STAMP = 31 };

/**
 * How many bytes an event takes; 0: it cannot be. A padding up to the end lies behind them all.
 * @left: bytes from its beginning on
 */
static size_t event_bytes(const uint32_t words[2], size_t left)
{
	/* kinds are the first 5 bits of the word */
	unsigned int kind = tep_is_bigendian() ? words[0] >> 27 : words[0] & 31;
	uint32_t delta = tep_is_bigendian() ? words[0] & 0x07ffffff : words[0] >> 5;

	switch (kind) {
	case EVENT_LONG:
		return left < 8 || words[1] < 4 ? 0 : (size_t)words[1] + 4;
	case EVENT_PADDING:
		return left < 8 || !delta ? 0 : (size_t)words[1] + 4;
	case EVENT_EXTEND:
	case EVENT_STAMP:
		return 8;
	default:
		return 4 * ((size_t)kind + 1);
	}
}

/** Do all events lie within the page? libtraceevent trusts their sizes. */
static bool is_sound(const unsigned char *page, size_t size)
{
	unsigned long commit;
	size_t at = HEAD_BYTES, end;

	if (size < HEAD_BYTES)
		return false;
	memcpy(&commit, page + 8, sizeof(commit));
	end = HEAD_BYTES + (commit & COMMIT_MASK);
	if (end + (commit & MISSED_STORED ? sizeof(commit) : 0) > size)
		return false;
	while (at < end) {
		uint32_t words[2] = { 0 };
		size_t bytes;

		memcpy(words, page + at, end - at < sizeof(words) ? end - at : sizeof(words));
		bytes = event_bytes(words, end - at);
		if (!bytes || bytes % 4 || bytes > end - at)
			return false;
		at += bytes;
	}
	return true;
}

static void miss(struct kvm_pages *pages, int cpu, bool counted, uint64_t n)
{
	struct cpu *of = &pages->cpus[cpu];

	of->counted = counted && (!of->misses || of->counted);
	of->misses = true;
	of->n += n;
	pages->count.lost += n;
}

/** A record that came after its time was reported. */
static void leave_out(struct kvm_pages *pages, int cpu, int64_t late_ns)
{
	pages->count.late++;
	if (late_ns > pages->count.late_ns)
		pages->count.late_ns = late_ns;
	miss(pages, cpu, true, 1);
}

/** Return: 0 or -ENOMEM. */
static int take_record(struct kvm_pages *pages, struct kvm_follow *follow,
		       struct tep_record *record)
{
	struct kvm_tracker *tracker = kvm_follow_tracker(follow);
	struct cpu *cpu = &pages->cpus[record->cpu];
	int64_t time_ns = record->ts > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)record->ts;
	int64_t fed_ns = kvm_follow_fed(follow);
	int32_t pid = kvm_fields_pid(pages->fields, record);
	int ret = 0;

	pages->count.records++;
	if (time_ns < fed_ns) {
		leave_out(pages, record->cpu, fed_ns - time_ns);
		return 0;
	}
	cpu->last_ns = time_ns;
	if (time_ns > pages->last_ns)
		pages->last_ns = time_ns;
	if (cpu->misses)
		ret = kvm_tracker_lost(tracker, record->cpu, pid, time_ns,
				       cpu->counted ? cpu->n : 0);
	cpu->misses = false;
	cpu->n = 0;
	return ret ? ret : kvm_fields_take(pages->fields, tracker, record,
					   kvm_fields_id(pages->fields, record), record->cpu, pid,
					   time_ns);
}

int kvm_pages_take(struct kvm_pages *pages, struct kvm_follow *follow, int cpu, void *page,
		   size_t size)
{
	struct tep_record record = { .cpu = cpu };
	int lost, at = -1, ret = 0;

	if (cpu < 0 || cpu > INT16_MAX)
		return 0;
	if (ARRAY_REACH(pages->cpus, cpu, pages->n_cpus))
		return -ENOMEM;
	pages->count.bytes += size;
	if (!is_sound(page, size) || kbuffer_load_subbuffer(pages->buffer, page)) {
		miss(pages, cpu, false, 0);
		return 0;
	}
	lost = kbuffer_missed_events(pages->buffer);
	if (lost)
		miss(pages, cpu, lost > 0, lost > 0 ? (uint64_t)lost : 0);
	record.data = kbuffer_read_event(pages->buffer, &record.ts);
	while (record.data && !ret && kbuffer_curr_offset(pages->buffer) > at) {
		at = kbuffer_curr_offset(pages->buffer);
		record.size = kbuffer_event_size(pages->buffer);
		record.record_size = kbuffer_curr_size(pages->buffer);
		if (record.size > 0)
			ret = take_record(pages, follow, &record);
		record.data = kbuffer_next_event(pages->buffer, &record.ts);
	}
	return ret;
}

int64_t kvm_pages_last_of(const struct kvm_pages *pages, int cpu)
{
	return cpu >= 0 && (size_t)cpu < pages->n_cpus ? pages->cpus[cpu].last_ns : 0;
}

int64_t kvm_pages_last(const struct kvm_pages *pages)
{
	return pages->last_ns;
}

void kvm_pages_count(const struct kvm_pages *pages, struct kvm_pages_count *count)
{
	*count = pages->count;
}
