// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	dump_write.c
 * @brief	The records of a xentrace file as text, CSV or JSON lines.
 *
 * Nothing is allocated per record and nothing is looked up twice: names and filter decisions are
 * kept per event, the text of a vCPU in a small cache.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "json_writer.h"
#include "escape.h"
#include "key_map.h"
#include "table.h"

/** Enough for seven payload words, however they are shown. */
#define INFO_SIZE		1024

/** An event of the table, ready to be written. */
struct event_cache {
	const char	*name;
	uint16_t	size;
	bool		selected;
	uint8_t		csv_size;	/* 0: the name does not go as it is */
	char		csv[62];	/* ,event_id,event, */
};

/** A vCPU, ready to be written; direct-mapped, so that no file can make it grow. */
#define VCPU_CACHE_BITS		10

struct vcpu_cache {
	xen_vcpu	vcpu;
	bool		valid;
	bool		selected;
	uint8_t		csv_size, json_size;
	uint16_t	text_size;
	char		csv[16];	/* domid,vcpu */
	char		json[40];
	char		text[256];	/* escaped, with blanks in front */
};

struct dump_writer {
	const struct dump_filter *filter;
	enum dump_format	format;
	const struct xen_meta	*meta;
	enum xen_isa		isa;
	struct output		*out;		/* see dump_writer_into() */
	struct event_cache	*events;	/* by index */
	struct vcpu_cache	vcpus[1 << VCPU_CACHE_BITS];
	struct key_map		seen;		/* vCPUs, if some are asked for */
	int			error;		/* no memory for one of them */
	bool			first_field;
};

/* --- caches ---------------------------------------------------------------------------------- */

static int cache_events(struct dump_writer *writer)
{
	int n = xen_events_count();

	writer->events = calloc(n, sizeof(*writer->events));
	if (!writer->events)
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		const struct xen_event *event = xen_event_at(i);
		struct event_cache *cache = &writer->events[i];
		int size = snprintf(cache->csv, sizeof(cache->csv), ",0x%08x,%s,", event->id,
				    event->name);

		if (size < (int)sizeof(cache->csv) && !strpbrk(event->name, ",\"\r\n"))
			cache->csv_size = (uint8_t)size;
		cache->name = event->name;
		cache->size = (uint16_t)strlen(event->name);
		cache->selected = dump_event_selected(writer->filter, event->id, event->name);
	}
	return 0;
}

/** Is it an id or a name of --vcpu? */
static bool is_wanted(const struct dump_writer *writer, xen_vcpu vcpu)
{
	const struct ksv_vcpu_set *set = &writer->filter->vcpus;
	const char *name = xen_meta_domain_name(writer->meta, xen_vcpu_domid(vcpu));

	if (!ksv_vcpus_given(set) || ksv_vcpu_in_set(set, vcpu))
		return true;
	for (int i = 0; i < set->n_names && name; i++)
		if (ksv_vcpu_is_called(name, xen_vcpu_id(vcpu), set->names[i]))
			return true;
	return false;
}

static void cache_vcpu(struct dump_writer *writer, struct vcpu_cache *cache, xen_vcpu vcpu)
{
	char name[128], shown[sizeof(cache->text) - DUMP_TASK_WIDTH];
	size_t columns;

	cache->vcpu = vcpu;
	cache->valid = true;
	cache->selected = is_wanted(writer, vcpu);
	if (ksv_vcpus_given(&writer->filter->vcpus) && key_map_add(&writer->seen, vcpu) < 0)
		writer->error = -ENOMEM;
	if (vcpu == XEN_VCPU_UNKNOWN || xen_vcpu_is_somebody(vcpu)) {
		cache->csv_size = snprintf(cache->csv, sizeof(cache->csv), ",");
		cache->json_size = snprintf(cache->json, sizeof(cache->json),
					    "\"domid\":null,\"vcpu\":null");
	} else {
		cache->csv_size = snprintf(cache->csv, sizeof(cache->csv), "%u,%u",
					   xen_vcpu_domid(vcpu), xen_vcpu_id(vcpu));
		cache->json_size = snprintf(cache->json, sizeof(cache->json),
					    "\"domid\":%u,\"vcpu\":%u", xen_vcpu_domid(vcpu),
					    xen_vcpu_id(vcpu));
	}
	if (xen_vcpu_text(name, sizeof(name), vcpu, writer->meta) >= (int)sizeof(name))
		name[text_cut(name, strlen(name))] = '\0';
	escape_text(shown, sizeof(shown), name);
	columns = out_columns(name);
	columns = columns < DUMP_TASK_WIDTH ? DUMP_TASK_WIDTH - columns : 0;
	cache->text_size = (uint16_t)snprintf(cache->text, sizeof(cache->text), "%*s%s",
					      (int)columns, "", shown);
}

static struct vcpu_cache *find_vcpu(struct dump_writer *writer, xen_vcpu vcpu)
{
	uint32_t slot = vcpu * UINT32_C(2654435769) >> (32 - VCPU_CACHE_BITS);
	struct vcpu_cache *cache = &writer->vcpus[slot];

	if (!cache->valid || cache->vcpu != vcpu)
		cache_vcpu(writer, cache, vcpu);
	return cache;
}

/* --- how they are written -------------------------------------------------------------------- */

/** A record and all that is known about it. */
struct line {
	const struct xen_trace_row *row;
	const struct vcpu_cache	*vcpu;
	const struct event_cache *cache;	/* NULL for an unknown event */
	const char		*event;
	size_t			event_size;
	const char		*info;
	size_t			info_size;
};

void dump_text_place(struct output *out, int cpu, int64_t time_ns)
{
	out_mem(out, " [", 2);
	out_u64_zeros(out, (uint64_t)cpu, 3);
	out_mem(out, "] ", 2);
	out_ns(out, time_ns, DUMP_TIME_WIDTH);
}

void dump_text_event(struct output *out, const char *event, const char *info)
{
	out_text(out, event);
	out_char(out, ':');
	for (size_t i = out_columns(event); *info && i < DUMP_EVENT_WIDTH; i++)
		out_char(out, ' ');
	if (*info) {
		out_char(out, ' ');
		out_text(out, info);
	}
	out_char(out, '\n');
}

static void write_text(struct dump_writer *writer, const struct line *line)
{
	struct output *out = writer->out;

	out_mem(out, line->vcpu->text, line->vcpu->text_size);
	dump_text_place(out, line->row->rec.pcpu, line->row->time_ns);
	out_mem(out, ": ", 2);
	out_mem(out, line->event, line->event_size);
	out_char(out, ':');
	if (line->info_size) {
		for (size_t i = line->event_size; i < DUMP_EVENT_WIDTH; i++)
			out_char(out, ' ');
		out_char(out, ' ');
		out_mem(out, line->info, line->info_size);
	}
	out_char(out, '\n');
}

/** A table without table_row(): rows are millions, and their cells are kept as text. */
static const struct table_column columns[] = {
	{ .key = "tsc" }, { .key = "time_ns" }, { .key = "pcpu" }, { .key = "domid" },
	{ .key = "vcpu" }, { .key = "event_id" }, { .key = "event" }, { .key = "info" },
};

static const struct table table = { .rows = { TABLE_COLUMNS(columns) } };

void dump_write_titles(enum dump_format format, struct output *out)
{
	struct table_writer to = { .table = &table, .format = &table_csv, .out = out };

	if (format != FORMAT_CSV)
		return;
	table_flat(&to, true);
	table_flat_end(&to);
}

static void write_csv(struct dump_writer *writer, const struct line *line)
{
	struct output *out = writer->out;

	out_u64(out, line->row->rec.tsc);
	out_char(out, ',');
	out_i64(out, line->row->time_ns);
	out_char(out, ',');
	out_u64(out, line->row->rec.pcpu);
	out_char(out, ',');
	out_mem(out, line->vcpu->csv, line->vcpu->csv_size);
	if (line->cache && line->cache->csv_size) {
		out_mem(out, line->cache->csv, line->cache->csv_size);
	} else {
		out_char(out, ',');
		out_hex32(out, line->row->rec.event);
		out_char(out, ',');
		out_csv(out, line->event, line->event_size);
		out_char(out, ',');
	}
	out_csv(out, line->info, line->info_size);
	out_char(out, '\n');
}

static int write_json_field(void *arg, const char *name, enum xen_field_kind kind,
			    unsigned int width, uint64_t value)
{
	struct dump_writer *writer = arg;

	(void)width;
	if (!writer->first_field)
		out_char(writer->out, ',');
	writer->first_field = false;
	out_json(writer->out, name, strlen(name));
	out_char(writer->out, ':');
	if (kind == XEN_FIELD_SDEC)
		out_i64(writer->out, (int64_t)value);
	else
		out_u64(writer->out, value);
	return 0;
}

static void write_json(struct dump_writer *writer, const struct line *line)
{
	struct output *out = writer->out;

	out_str(out, JSON_LINE_BEGIN "\"tsc\":");
	out_u64(out, line->row->rec.tsc);
	out_str(out, ",\"time_ns\":");
	out_i64(out, line->row->time_ns);
	out_str(out, ",\"pcpu\":");
	out_u64(out, line->row->rec.pcpu);
	out_char(out, ',');
	out_mem(out, line->vcpu->json, line->vcpu->json_size);
	out_str(out, ",\"event_id\":\"");
	out_hex32(out, line->row->rec.event);
	out_str(out, "\",\"event\":");
	out_json(out, line->event, line->event_size);
	out_str(out, ",\"info\":");
	out_json(out, line->info, line->info_size);
	out_str(out, ",\"fields\":{");
	writer->first_field = true;
	xen_record_fields(&line->row->rec, write_json_field, writer);
	out_str(out, "}}\n");
}

static void (*const writers[N_FORMATS])(struct dump_writer *, const struct line *) = {
	[FORMAT_TEXT] = write_text,
	[FORMAT_CSV] = write_csv,
	[FORMAT_JSON] = write_json,
};

void dump_write(struct dump_writer *writer, const struct xen_trace_row *row)
{
	int index = xen_event_index(row->rec.event);
	char info[INFO_SIZE], name[XEN_EVENT_NAME_SIZE];
	struct line line = { .row = row, .info = info };
	int n;

	line.vcpu = find_vcpu(writer, row->vcpu);
	if (!line.vcpu->selected)
		return;
	/* what guests number by themselves shares a row of the table */
	if (index >= 0 && xen_event_at(index)->id == row->rec.event) {
		if (!writer->events[index].selected)
			return;
		line.cache = &writer->events[index];
		line.event = writer->events[index].name;
		line.event_size = writer->events[index].size;
	} else {
		line.event_size = xen_event_name(name, sizeof(name), row->rec.event);
		line.event = name;
		if (!dump_event_selected(writer->filter, row->rec.event, name))
			return;
	}
	n = xen_record_info(info, sizeof(info), &row->rec, writer->isa);
	line.info_size = n < 0 ? 0 : n < INFO_SIZE ? n : INFO_SIZE - 1;
	writers[writer->format](writer, &line);
}

/** Is there a vCPU that an item of --vcpu means? A vCPU without a name may be any. */
static bool was_seen(const struct dump_writer *writer, const char *word)
{
	struct ksv_vcpu_set set = { 0 };
	bool is_id = !ksv_parse_vcpus(word, &set), found = is_id && set.ranges[0].last ==
						    XEN_VCPU_UNKNOWN;

	for (uint32_t i = 0; i < writer->seen.n_keys && !found; i++) {
		xen_vcpu vcpu = (xen_vcpu)writer->seen.keys[i];
		const char *name = xen_meta_domain_name(writer->meta, xen_vcpu_domid(vcpu));

		found = (is_id && ksv_vcpu_in_set(&set, vcpu)) ||
			(name && ksv_vcpu_is_called(name, xen_vcpu_id(vcpu), word));
	}
	ksv_vcpus_free(&set);
	return found;
}

static int compare_keys(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int dump_check_pcpus(const struct dump_filter *filter, const struct ksv_command *command, int n)
{
	for (int i = 0; i < n; i++)
		if (ksv_id_in_set(&filter->pcpus, (unsigned int)i))
			return KSV_EXIT_OK;
	return !filter->pcpus.any ? KSV_EXIT_OK :
	       ksv_usage_error(command, "--pcpu: the trace has pCPUs 0 to %d", n - 1);
}

int dump_check_vcpus(struct dump_writer *writer, const struct ksv_command *command,
		     const char *path)
{
	const struct ksv_vcpu_set *set = &writer->filter->vcpus;
	struct ksv_vcpu_list list = { 0 };
	const char *missing = NULL;

	if (writer->error) {
		ksv_error("%s: not enough memory", path);
		return KSV_EXIT_FILE;
	}
	for (int i = 0; i < set->n_words && !missing; i++)
		if (!was_seen(writer, set->words[i]))
			missing = set->words[i];
	if (!missing)
		return KSV_EXIT_OK;
	if (writer->seen.n_keys)
		qsort(writer->seen.keys, writer->seen.n_keys, sizeof(*writer->seen.keys),
		      compare_keys);
	for (uint32_t i = 0; i < writer->seen.n_keys; i++) {
		xen_vcpu vcpu = (xen_vcpu)writer->seen.keys[i];
		char name[128];

		if (xen_vcpu_domid(vcpu) >= XEN_DOMID_IDLE)
			continue;
		xen_vcpu_text(name, sizeof(name), vcpu, writer->meta);
		ksv_vcpu_list_add(&list, name);
	}
	return ksv_no_vcpu(command, path, missing, &list);
}

void dump_writer_into(struct dump_writer *writer, struct output *out)
{
	writer->out = out;
}

void dump_writer_learn(struct dump_writer *writer, const struct dump_writer *other)
{
	for (uint32_t i = 0; i < other->seen.n_keys; i++)
		if (key_map_add(&writer->seen, other->seen.keys[i]) < 0)
			writer->error = -ENOMEM;
	if (other->error)
		writer->error = other->error;
}

struct dump_writer *dump_writer_new(const struct dump_filter *filter, enum dump_format format,
				    const struct xen_trace *trace)
{
	struct dump_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->filter = filter;
	writer->format = format;
	writer->meta = xen_trace_meta(trace);
	writer->isa = xen_trace_isa(trace);
	if (cache_events(writer)) {
		dump_writer_free(writer);
		return NULL;
	}
	return writer;
}

void dump_writer_free(struct dump_writer *writer)
{
	if (!writer)
		return;
	free(writer->events);
	key_map_destroy(&writer->seen);
	free(writer);
}
