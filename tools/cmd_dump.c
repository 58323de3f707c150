// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_dump.c
 * @brief	kshark-virt dump: the records of a xentrace file as text, CSV or JSON lines.
 *
 * Nothing is allocated per record and nothing is looked up twice: names and filter decisions are
 * kept per event, the text of a vCPU in a small cache.
 */
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "options.h"
#include "output.h"
#include "progress.h"
#include "xen_trace.h"

enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON, N_FORMATS };

static const char *const format_names[N_FORMATS] = {
	[FORMAT_TEXT] = "text",
	[FORMAT_CSV] = "csv",
	[FORMAT_JSON] = "json",
};

/** Damaged places that are listed one by one. */
#define NOTES_MAX_LINES		20

/** Columns of the text format. */
#define TASK_WIDTH		16
#define TIME_WIDTH		16
#define EVENT_WIDTH		24

/** Enough for seven payload words, however they are shown. */
#define INFO_SIZE		1024

/** One --event argument. */
struct event_pattern {
	const char	*glob;
	bool		is_id;
	uint32_t	id;
};

/** What was asked for. */
struct dump_options {
	const struct ksv_command *command;
	enum format		format;
	bool			list_events;
	bool			quiet;
	const char		*output;
	struct ksv_id_set	pcpus;
	struct ksv_vcpu_set	vcpus;
	struct event_pattern	*patterns;
	int			n_patterns;
	struct ksv_time		from, to;
	struct xen_trace_options trace;
};

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
	uint8_t		csv_size, json_size, text_size;
	char		csv[16];	/* domid,vcpu */
	char		json[40];
	char		text[80];
};

struct dump {
	const struct dump_options *options;
	struct xen_trace	*trace;
	const struct xen_meta	*meta;
	enum xen_isa		isa;
	struct output		*out;
	struct event_cache	*events;	/* by index */
	struct vcpu_cache	vcpus[1 << VCPU_CACHE_BITS];
	bool			first_field;
};

/* --- the command line ------------------------------------------------------------------------ */

enum { KEY_PCPU = 256, KEY_VCPU, KEY_FROM, KEY_TO, KEY_CPU_HZ, KEY_ABSOLUTE, KEY_SKEW, KEY_LIST };

static const struct ksv_option dump_option_table[] = {
	{ 'f', "format", "FORMAT", "text (default), csv or json (one object per line)" },
	{ 'o', "output", "FILE", "write to FILE instead of standard output" },
	{ KEY_PCPU, "pcpu", "LIST", "only these physical CPUs, e.g. 0,2-3" },
	{ KEY_VCPU, "vcpu", "LIST", "only where these run, e.g. d1v0,d2,idle,d?v?" },
	{ 'e', "event", "GLOB", "only events with such a name or id (0x...);\nmay be repeated" },
	{ KEY_FROM, "from", "TIME", "from this time on: seconds as shown, or a number with\n"
	  "ns, us, ms or s, or tsc:N for a raw time stamp" },
	{ KEY_TO, "to", "TIME", "up to and including this time" },
	{ KEY_CPU_HZ, "cpu-hz", "HZ", "frequency of the TSC, e.g. 2.4G, 2399998K" },
	{ KEY_ABSOLUTE, "absolute", NULL, "time 0 is TSC 0 instead of the first record" },
	{ KEY_SKEW, "correct-skew", NULL, "correct TSC differences between physical CPUs" },
	{ KEY_LIST, "list-events", NULL, "show the table of all known events instead of a file" },
	{ 'q', "quiet", NULL, "no notes about damage, clock and skew" },
};

static int add_pattern(struct dump_options *options, const char *glob)
{
	struct event_pattern *patterns, *pattern;
	unsigned long id;
	char *end;

	patterns = realloc(options->patterns, (options->n_patterns + 1) * sizeof(*patterns));
	if (!patterns) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	options->patterns = patterns;
	pattern = &patterns[options->n_patterns++];
	*pattern = (struct event_pattern){ .glob = glob };
	if (strncmp(glob, "0x", 2) != 0)
		return 0;
	errno = 0;
	id = strtoul(glob, &end, 16);
	if (errno || *end || end == glob + 2 || id > XEN_TRC_ID_MASK)
		return ksv_usage_error(options->command, "--event %s: not an event id", glob);
	pattern->is_id = true;
	pattern->id = (uint32_t)id;
	return 0;
}

static int set_format(struct dump_options *options, const char *name)
{
	for (int i = 0; i < N_FORMATS; i++) {
		if (!strcmp(name, format_names[i])) {
			options->format = (enum format)i;
			return 0;
		}
	}
	return ksv_usage_error(options->command, "--format %s: not text, csv or json", name);
}

static int dump_option(void *arg, int key, const char *value)
{
	struct dump_options *options = arg;
	int ret = 0;

	switch (key) {
	case 'f':
		return set_format(options, value);
	case 'o':
		options->output = value;
		break;
	case 'e':
		return add_pattern(options, value);
	case 'q':
		options->quiet = true;
		break;
	case KEY_PCPU:
		if (ksv_parse_ids(value, &options->pcpus))
			ret = ksv_usage_error(options->command,
					      "--pcpu %s: not a list such as 0,2-3", value);
		break;
	case KEY_VCPU:
		return ksv_option_vcpus(options->command, value, &options->vcpus);
	case KEY_FROM:
		return ksv_option_time(options->command, "from", value, &options->from);
	case KEY_TO:
		return ksv_option_time(options->command, "to", value, &options->to);
	case KEY_CPU_HZ:
		return ksv_option_hz(options->command, value, &options->trace.cpu_hz);
	case KEY_ABSOLUTE:
		options->trace.absolute_time = true;
		break;
	case KEY_SKEW:
		options->trace.correct_skew = true;
		break;
	case KEY_LIST:
		options->list_events = true;
		break;
	}
	return ret;
}

/* --- which records --------------------------------------------------------------------------- */

static bool event_selected(const struct dump_options *options, uint32_t id, const char *name)
{
	if (!options->n_patterns)
		return true;
	for (int i = 0; i < options->n_patterns; i++) {
		const struct event_pattern *pattern = &options->patterns[i];

		if (pattern->is_id ? pattern->id == id : !fnmatch(pattern->glob, name, 0))
			return true;
	}
	return false;
}

/** A name that is in no table is a typing error, not an empty result. */
static int check_patterns(const struct dump_options *options)
{
	for (int i = 0; i < options->n_patterns; i++) {
		const struct event_pattern *pattern = &options->patterns[i];
		bool found = pattern->is_id || !strncmp(pattern->glob, "unknown_", 8);

		for (int j = 0; j < xen_events_count() && !found; j++)
			found = !fnmatch(pattern->glob, xen_event_at(j)->name, 0);
		if (!found)
			return ksv_usage_error(options->command, "--event %s: no event has such a "
					       "name; --list-events shows all", pattern->glob);
	}
	return 0;
}

static int cache_events(struct dump *dump)
{
	int n = xen_events_count();

	dump->events = calloc(n, sizeof(*dump->events));
	if (!dump->events)
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		const struct xen_event *event = xen_event_at(i);
		struct event_cache *cache = &dump->events[i];
		int size = snprintf(cache->csv, sizeof(cache->csv), ",0x%08x,%s,", event->id,
				    event->name);

		if (size < (int)sizeof(cache->csv) && !strpbrk(event->name, ",\"\r\n"))
			cache->csv_size = (uint8_t)size;
		cache->name = event->name;
		cache->size = (uint16_t)strlen(event->name);
		cache->selected = event_selected(dump->options, event->id, event->name);
	}
	return 0;
}

static void cache_vcpu(struct dump *dump, struct vcpu_cache *cache, xen_vcpu vcpu)
{
	const struct ksv_vcpu_set *set = &dump->options->vcpus;
	int n;

	cache->vcpu = vcpu;
	cache->valid = true;
	cache->selected = !set->n || ksv_vcpu_in_set(set, vcpu);
	if (vcpu == XEN_VCPU_UNKNOWN) {
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
	n = xen_vcpu_text(cache->text, sizeof(cache->text), vcpu, dump->meta);
	cache->text_size = n < (int)sizeof(cache->text) ? n : (int)sizeof(cache->text) - 1;
}

static struct vcpu_cache *find_vcpu(struct dump *dump, xen_vcpu vcpu)
{
	uint32_t slot = vcpu * UINT32_C(2654435769) >> (32 - VCPU_CACHE_BITS);
	struct vcpu_cache *cache = &dump->vcpus[slot];

	if (!cache->valid || cache->vcpu != vcpu)
		cache_vcpu(dump, cache, vcpu);
	return cache;
}

static bool before(const struct ksv_time *limit, const struct xen_trace_row *row)
{
	if (limit->kind == KSV_TIME_TSC)
		return row->rec.tsc < limit->tsc;
	return limit->kind == KSV_TIME_NS && row->time_ns < limit->ns;
}

static bool after(const struct ksv_time *limit, const struct xen_trace_row *row)
{
	if (limit->kind == KSV_TIME_TSC)
		return row->rec.tsc > limit->tsc;
	return limit->kind == KSV_TIME_NS && row->time_ns > limit->ns;
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

static void write_text(struct dump *dump, const struct line *line)
{
	struct output *out = dump->out;

	out_right(out, line->vcpu->text, line->vcpu->text_size, TASK_WIDTH);
	out_mem(out, " [", 2);
	out_u64_zeros(out, line->row->rec.pcpu, 3);
	out_mem(out, "] ", 2);
	out_ns(out, line->row->time_ns, TIME_WIDTH);
	out_mem(out, ": ", 2);
	out_mem(out, line->event, line->event_size);
	out_char(out, ':');
	if (line->info_size) {
		for (size_t i = line->event_size; i < EVENT_WIDTH; i++)
			out_char(out, ' ');
		out_char(out, ' ');
		out_mem(out, line->info, line->info_size);
	}
	out_char(out, '\n');
}

static void write_csv(struct dump *dump, const struct line *line)
{
	struct output *out = dump->out;

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
	struct dump *dump = arg;

	(void)width;
	if (!dump->first_field)
		out_char(dump->out, ',');
	dump->first_field = false;
	out_json(dump->out, name, strlen(name));
	out_char(dump->out, ':');
	if (kind == XEN_FIELD_SDEC)
		out_i64(dump->out, (int64_t)value);
	else
		out_u64(dump->out, value);
	return 0;
}

static void write_json(struct dump *dump, const struct line *line)
{
	struct output *out = dump->out;

	out_str(out, "{\"tsc\":");
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
	dump->first_field = true;
	xen_record_fields(&line->row->rec, write_json_field, dump);
	out_str(out, "}}\n");
}

static void (*const writers[N_FORMATS])(struct dump *, const struct line *) = {
	[FORMAT_TEXT] = write_text,
	[FORMAT_CSV] = write_csv,
	[FORMAT_JSON] = write_json,
};

static void dump_row(struct dump *dump, const struct xen_trace_row *row)
{
	int index = xen_event_index(row->rec.event);
	char info[INFO_SIZE], name[XEN_EVENT_NAME_SIZE];
	struct line line = { .row = row, .info = info };
	int n;

	/* what guests number by themselves shares a row of the table */
	if (index >= 0 && xen_event_at(index)->id == row->rec.event) {
		if (!dump->events[index].selected)
			return;
		line.cache = &dump->events[index];
		line.event = dump->events[index].name;
		line.event_size = dump->events[index].size;
	} else {
		line.event_size = xen_event_name(name, sizeof(name), row->rec.event);
		line.event = name;
		if (!event_selected(dump->options, row->rec.event, name))
			return;
	}
	line.vcpu = find_vcpu(dump, row->vcpu);
	if (!line.vcpu->selected)
		return;
	n = xen_record_info(info, sizeof(info), &row->rec, dump->isa);
	line.info_size = n < 0 ? 0 : n < INFO_SIZE ? n : INFO_SIZE - 1;
	writers[dump->options->format](dump, &line);
}

/* --- the walk -------------------------------------------------------------------------------- */

static int dump_records(struct dump *dump, struct progress *progress)
{
	const struct dump_options *options = dump->options;
	uint64_t total = xentrace_n_records(xen_trace_reader(dump->trace));
	struct xen_trace_iter *iter = xen_trace_iter_new(dump->trace);
	struct xen_trace_row row;
	uint64_t n = 0;

	if (!iter)
		return -ENOMEM;
	progress->what = "writing";
	if (options->format == FORMAT_CSV)
		out_str(dump->out, "tsc,time_ns,pcpu,domid,vcpu,event_id,event,info\n");
	while (!dump->out->error && xen_trace_iter_next(iter, &row)) {
		if (!(++n % PROGRESS_RECORDS))
			progress_update(progress, n, total);
		if (after(&options->to, &row))
			break;
		if (before(&options->from, &row))
			continue;
		if (options->pcpus.any && !ksv_id_in_set(&options->pcpus, row.rec.pcpu))
			continue;
		dump_row(dump, &row);
	}
	xen_trace_iter_free(iter);
	return 0;
}

static void print_notes(const struct xen_trace *trace)
{
	char *notes = xen_trace_notes(trace, NOTES_MAX_LINES);

	if (notes)
		fputs(notes, stderr);
	free(notes);
}

static int dump_file(const char *path, struct dump_options *options, struct output *out)
{
	struct dump *dump = calloc(1, sizeof(*dump));
	struct progress progress;
	char error[1024] = "";
	int status = KSV_EXIT_FILE;

	if (!dump) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	/* On a terminal the lines themselves show that something happens. */
	progress_init(&progress, !options->quiet && (options->output || !isatty(STDOUT_FILENO)));
	options->trace.reader.progress = progress_update;
	options->trace.reader.progress_arg = &progress;
	options->trace.drop_behind = true;
	dump->options = options;
	dump->trace = xen_trace_open(path, &options->trace, error, sizeof(error));
	if (!dump->trace) {
		progress_end(&progress);
		ksv_error("%s", *error ? error : strerror(errno));
		goto out;
	}
	dump->meta = xen_trace_meta(dump->trace);
	dump->isa = xen_trace_isa(dump->trace);
	dump->out = out;
	if (options->output && ksv_same_file(path, options->output)) {
		progress_end(&progress);
		status = ksv_usage_error(options->command, "--output %s: is the trace itself",
					 options->output);
		goto out;
	}
	if (out_open(out, options->output)) {
		progress_end(&progress);
		ksv_error("%s: cannot write: %s", options->output, strerror(errno));
		goto out;
	}
	if (cache_events(dump) || dump_records(dump, &progress)) {
		progress_end(&progress);
		ksv_error("not enough memory");
		out_close(out);
		goto out;
	}
	status = out_close(out);
	progress_end(&progress);
	if (!options->quiet && out->error != EPIPE)
		print_notes(dump->trace);
out:
	free(dump->events);
	xen_trace_close(dump->trace);
	free(dump);
	return status;
}

/* --- --list-events --------------------------------------------------------------------------- */

static const char *const kind_names[] = {
	[XEN_FIELD_DEC] = "dec",
	[XEN_FIELD_SDEC] = "signed",
	[XEN_FIELD_HEX] = "hex",
	[XEN_FIELD_BOOL] = "bool",
	[XEN_FIELD_NS] = "ns",
	[XEN_FIELD_CYCLES] = "cycles",
	[XEN_FIELD_VCPU] = "vcpu",
	[XEN_FIELD_DOMID] = "domid",
	[XEN_FIELD_RUNSTATE] = "runstate",
	[XEN_FIELD_EXIT_REASON] = "exit_reason",
	[XEN_FIELD_VMX_REASON] = "vmx_reason",
	[XEN_FIELD_SVM_REASON] = "svm_reason",
	[XEN_FIELD_HYPERCALL] = "hypercall",
	[XEN_FIELD_HYPERCALL_ARGS] = "hypercall_args",
	[XEN_FIELD_TRAP] = "trap",
	[XEN_FIELD_VECTOR] = "vector",
	[XEN_FIELD_PORT] = "port",
	[XEN_FIELD_MSR] = "msr",
	[XEN_FIELD_CR] = "cr",
	[XEN_FIELD_DR] = "dr",
	[XEN_FIELD_PF_ERROR] = "pf_error",
	[XEN_FIELD_GUEST_LEVELS] = "guest_levels",
	[XEN_FIELD_SHADOW_FLAGS] = "shadow_flags",
	[XEN_FIELD_PAGE_ORDER] = "page_order",
	[XEN_FIELD_DOM_SHUTDOWN] = "shutdown_reason",
};

_Static_assert(ARRAY_SIZE(kind_names) == XEN_FIELD_N_KINDS, "a name for every kind of field");

/** A layout's fields as name:kind, separated by blanks. */
static void format_fields(char *buf, size_t size, const struct xen_layout *layout)
{
	size_t n = 0;

	buf[0] = '\0';
	for (const struct xen_field *field = layout->fields; field && field->name; field++) {
		if (n < size)
			n += snprintf(buf + n, size - n, "%s%s:%s", n ? " " : "", field->name,
				      kind_names[field->kind]);
	}
}

static const struct xen_layout *first_layout(const struct xen_event *event)
{
	return event->layouts && event->layouts->n_words >= 0 ? event->layouts : NULL;
}

static void list_text(struct output *out, const struct xen_event *event)
{
	char fields[512];

	out_hex32(out, event->id);
	out_char(out, ' ');
	out_left(out, xen_event_class(event->id), strlen(xen_event_class(event->id)), 8);
	out_left(out, event->name, strlen(event->name), 28);
	out_char(out, ' ');
	out_str(out, event->symbol);
	out_str(out, "\n           ");
	out_str(out, event->help);
	out_char(out, '\n');
	for (const struct xen_layout *layout = first_layout(event); layout && layout->n_words >= 0;
	     layout++) {
		format_fields(fields, sizeof(fields), layout);
		out_str(out, "           Xen ");
		out_str(out, layout->versions);
		out_str(out, ": ");
		out_str(out, *fields ? fields : "no fields");
		out_char(out, '\n');
	}
}

/** One row per layout; an event without any has one, with these columns empty. */
static void list_csv(struct output *out, const struct xen_event *event)
{
	const struct xen_layout *layout = first_layout(event);
	char fields[512];

	do {
		out_hex32(out, event->id);
		out_char(out, ',');
		out_csv(out, event->symbol, strlen(event->symbol));
		out_char(out, ',');
		out_csv(out, event->name, strlen(event->name));
		out_char(out, ',');
		out_str(out, xen_event_class(event->id));
		out_char(out, ',');
		if (layout) {
			format_fields(fields, sizeof(fields), layout);
			out_u64(out, layout->n_words);
			out_char(out, ',');
			out_csv(out, layout->versions, strlen(layout->versions));
			out_char(out, ',');
			out_csv(out, fields, strlen(fields));
			layout++;
		} else {
			out_mem(out, ",,", 2);
		}
		out_char(out, ',');
		out_csv(out, event->help, strlen(event->help));
		out_char(out, '\n');
	} while (layout && layout->n_words >= 0);
}

static void json_member(struct output *out, const char *key, const char *value)
{
	out_json(out, key, strlen(key));
	out_char(out, ':');
	out_json(out, value, strlen(value));
}

static void list_json_layout(struct output *out, const struct xen_layout *layout)
{
	out_str(out, "{\"words\":");
	out_u64(out, layout->n_words);
	out_char(out, ',');
	json_member(out, "versions", layout->versions);
	out_str(out, ",\"fields\":[");
	for (const struct xen_field *field = layout->fields; field && field->name; field++) {
		out_str(out, field == layout->fields ? "{" : ",{");
		json_member(out, "name", field->name);
		out_char(out, ',');
		json_member(out, "kind", kind_names[field->kind]);
		out_str(out, ",\"bits\":");
		out_u64(out, field->width);
		out_char(out, '}');
	}
	out_str(out, "]}");
}

static void list_json(struct output *out, const struct xen_event *event)
{
	const struct xen_layout *first = first_layout(event);

	out_str(out, "{\"event_id\":\"");
	out_hex32(out, event->id);
	out_str(out, "\",");
	json_member(out, "symbol", event->symbol);
	out_char(out, ',');
	json_member(out, "event", event->name);
	out_char(out, ',');
	json_member(out, "class", xen_event_class(event->id));
	out_char(out, ',');
	json_member(out, "help", event->help);
	out_str(out, ",\"layouts\":[");
	for (const struct xen_layout *layout = first; layout && layout->n_words >= 0; layout++) {
		if (layout != first)
			out_char(out, ',');
		list_json_layout(out, layout);
	}
	out_str(out, "]}\n");
}

static void (*const listers[N_FORMATS])(struct output *, const struct xen_event *) = {
	[FORMAT_TEXT] = list_text,
	[FORMAT_CSV] = list_csv,
	[FORMAT_JSON] = list_json,
};

static int list_events(const struct dump_options *options, struct output *out)
{
	if (out_open(out, options->output)) {
		ksv_error("%s: cannot write: %s", options->output, strerror(errno));
		return KSV_EXIT_FILE;
	}
	if (options->format == FORMAT_CSV)
		out_str(out, "event_id,symbol,event,class,words,versions,fields,help\n");
	for (int i = 0; i < xen_events_count(); i++) {
		const struct xen_event *event = xen_event_at(i);

		if (event_selected(options, event->id, event->name))
			listers[options->format](out, event);
	}
	return out_close(out);
}

static int run_dump(const struct ksv_command *command, int argc, char **argv)
{
	static struct dump_options options;
	static struct output out;
	char error[512] = "";
	int first, status;

	options.command = command;
	if (xen_trace_options_from_env(&options.trace, error, sizeof(error)))
		return ksv_usage_error(command, "%s", error);
	status = ksv_parse(command, argc, argv, dump_option, &options, &first);
	if (status < 0)
		status = check_patterns(&options);
	else
		goto out;
	if (status)
		goto out;
	/* A closed pipe is an error of write() like others, so that everything is cleaned up. */
	signal(SIGPIPE, SIG_IGN);
	if (options.list_events && first < argc)
		status = ksv_usage_error(command, "--list-events takes no file");
	else if (options.list_events)
		status = list_events(&options, &out);
	else if (first == argc)
		status = ksv_usage_error(command, "which file?");
	else if (first + 1 < argc)
		status = ksv_usage_error(command, "one file at a time; '%s' is too much",
					 argv[first + 1]);
	else
		status = dump_file(argv[first], &options, &out);
out:
	free(options.patterns);
	free(options.vcpus.ranges);
	return status;
}

const struct ksv_command cmd_dump = {
	.name = "dump",
	.args = "[OPTION...] FILE",
	.summary = "Show the records of a xentrace file as text, CSV or JSON",
	.notes = "FILE may be compressed with gzip or zstd, a pipe, or - for standard input.\n",
	.options = dump_option_table,
	.n_options = ARRAY_SIZE(dump_option_table),
	.run = run_dump,
};
