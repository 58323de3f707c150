// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_tracing.c
 * @brief	kshark-virt report --tracing: what the tracing itself costs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_writer.h"
#include "report_page.h"
#include "report_tracing.h"
#include "text_columns.h"

#define PAGE		4096

/** What is lost to these tools without a class; the others only say more in lists of events. */
static const struct {
	const char	*class, *without;
} uses[] = {
	{ "sched.runstate", "states of vCPUs, steal and wake-ups are not known" },
	{ "sched.verbose", "who is on a pCPU is known less exactly" },
	{ "hvm.entry_exit", "VM exits and their costs are not known" },
	{ "sched", "preempted, waiting and working vCPUs cannot be distinguished" },
	{ "kvm", "VM exits and their costs are not known" },
};

/* --- buffers --------------------------------------------------------------------------------- */

int report_tracing_init(struct report_tracing *tracing, int n_pcpus)
{
	tracing->n_pcpus = n_pcpus;
	tracing->pcpus = calloc((size_t)n_pcpus + 1, sizeof(*tracing->pcpus));
	for (int i = 0; tracing->pcpus && i < n_pcpus; i++)
		tracing->pcpus[i].interval = INT64_MIN;
	return tracing->pcpus ? 0 : -ENOMEM;
}

void report_tracing_destroy(struct report_tracing *tracing)
{
	free(tracing->pcpus);
	tracing->pcpus = NULL;
}

void report_tracing_record(struct report_tracing *tracing, int cpu, int64_t time_ns,
			   uint64_t bytes)
{
	struct report_polled *pcpu = &tracing->pcpus[cpu];
	int64_t interval = time_ns / REPORT_POLL_NS - (time_ns % REPORT_POLL_NS < 0);

	if (time_ns < tracing->from_ns || time_ns >= tracing->to_ns)
		return;
	if (interval != pcpu->interval) {
		pcpu->before = interval - 1 == pcpu->interval ? pcpu->now : 0;
		pcpu->interval = interval;
		pcpu->now = 0;
	}
	pcpu->now += bytes;
	if (pcpu->now + pcpu->before > pcpu->peak)
		pcpu->peak = pcpu->now + pcpu->before;
}

void report_tracing_rows(struct report_tracing *tracing, const struct xen_trace_row *rows,
			 size_t n)
{
	for (size_t i = 0; i < n; i++)
		report_tracing_record(tracing, rows[i].rec.pcpu, rows[i].time_ns,
				      xentrace_bytes(&rows[i].rec));
}

/** Pages that hold the peak, and one, because a page is filled while the oldest is emptied. */
static uint64_t buffer_pages(const struct report_polled *pcpu)
{
	return pcpu->peak ? (pcpu->peak + PAGE - 1) / PAGE + 1 : 0;
}

/** xentrace has buffers of one size for all pCPUs. */
static uint64_t most_pages(const struct report_tracing *tracing)
{
	uint64_t most = 0;

	for (int i = 0; i < tracing->n_pcpus; i++)
		if (buffer_pages(&tracing->pcpus[i]) > most)
			most = buffer_pages(&tracing->pcpus[i]);
	return most;
}

/* --- what is written ------------------------------------------------------------------------- */

/** A pCPU (or all), a class (or all) and what it costs. */
struct item {
	int		pcpu;		/* -1: all */
	int		class;		/* -1: all */
	const char	*name;		/* of the class; NULL: all */
	struct count_volume volume;
	double		records_per_s, bytes_per_s;
	double		cost_percent;	/* of the pCPU's time; negative: not known */
	double		share_percent;	/* of all records */
};

/** Whether there is a class, or all of them together. */
static bool has_class(const struct report *report, int class)
{
	return class < 0 || report_count_class(report->count, class);
}

static void make_item(const struct report *report, const struct report_tracing *tracing, int pcpu,
		      int class, struct item *item)
{
	const struct report_count *count = report->count;
	double seconds = (double)(report->to_ns - report->from_ns) / 1e9;
	double time_ns = seconds * 1e9 * (pcpu < 0 ? count->n_pcpus : 1);

	*item = (struct item){
		.pcpu = pcpu, .class = class, .cost_percent = -1,
		.name = class < 0 ? NULL : report_count_class(count, class),
	};
	for (int p = pcpu < 0 ? 0 : pcpu; p < (pcpu < 0 ? count->n_pcpus : pcpu + 1); p++) {
		for (int c = class < 0 ? 0 : class; has_class(report, c); c++) {
			item->volume.records += count->pcpus[p].volume[c].records;
			item->volume.bytes += count->pcpus[p].volume[c].bytes;
			if (class >= 0)
				break;
		}
	}
	if (seconds > 0) {
		item->records_per_s = (double)item->volume.records / seconds;
		item->bytes_per_s = (double)item->volume.bytes / seconds;
		if (tracing->record_cost_ns > 0)
			item->cost_percent = 100 * (double)item->volume.records *
					     tracing->record_cost_ns / time_ns;
	}
	if (count->records)
		item->share_percent = 100 * (double)item->volume.records / (double)count->records;
}

static const char *class_name(const struct item *item)
{
	return item->name ? item->name : "all";
}

static const char *without(const struct item *item)
{
	for (size_t i = 0; i < ARRAY_SIZE(uses); i++)
		if (!strcmp(uses[i].class, class_name(item)))
			return uses[i].without;
	return NULL;
}

/** First what is not needed, of that first what is most. */
static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	bool needed = without(x), other = without(y);

	if (needed != other)
		return needed ? 1 : -1;
	if (x->volume.records != y->volume.records)
		return x->volume.records > y->volume.records ? -1 : 1;
	return x->class - y->class;
}

/** Xen writes of lost records whatever the event mask says. */
static bool can_be_off(const struct item *item)
{
	return strcmp(class_name(item), "gen") != 0;
}

/** The classes that occur, in the order in which to switch them off. Return: their number. */
static int switch_off(const struct report *report, const struct report_tracing *tracing,
		      struct item items[COUNT_CLASSES])
{
	int n = 0;

	for (int class = 0; report_count_class(report->count, class); class++) {
		make_item(report, tracing, -1, class, &items[n]);
		n += items[n].volume.records > 0 && can_be_off(&items[n]);
	}
	if (n)
		qsort(items, n, sizeof(*items), compare_items);
	return n;
}

static uint64_t lost_records(const struct report *report)
{
	return virt_model_count_losses(report->load->model, VIRT_NONE, report->from_ns,
				       report->to_ns).records;
}

/* --- buffers --------------------------------------------------------------------------------- */

static const struct table_column buffer_columns[] = {
	{ .title = "", .width = 6 },
	{ .key = "pcpu", .type = TABLE_COUNT },
	{ .key = "bytes", .title = "", .type = TABLE_COUNT, .width = 17 },
	{ .key = "pages", .title = "", .type = TABLE_COUNT, .width = 13 },
	{ .key = "lost_ns", .type = TABLE_NS },
};

static const struct table buffers_table = {
	.rows = { .key = "pcpus", TABLE_COLUMNS(buffer_columns), .untitled = true },
};

static struct table_cell counted(int64_t number, const char *unit, char text[48])
{
	struct table_cell cell = table_number(number);

	snprintf(text, 48, "%lld %s", (long long)number, unit);
	cell.instead = text;
	return cell;
}

static void buffer_rows(struct table_writer *to, const struct report *report,
			const struct report_tracing *tracing)
{
	char name[16], bytes[48], pages[48];

	to->table = &buffers_table;
	table_flat(to, false);
	for (int pcpu = 0; pcpu < tracing->n_pcpus; pcpu++) {
		const struct report_polled *polled = &tracing->pcpus[pcpu];

		snprintf(name, sizeof(name), "p%d", pcpu);
		table_row(to, (const struct table_cell[ARRAY_SIZE(buffer_columns)]){
			table_name(name), table_number(pcpu),
			counted((int64_t)polled->peak, "bytes", bytes),
			counted((int64_t)buffer_pages(polled), "pages", pages),
			table_number(report_pcpu(report, pcpu)->lost_ns),
		});
	}
	table_flat_end(to);
}

static void lost_lines(struct output *out, const struct report *report)
{
	for (int pcpu = 0; pcpu < report->n_pcpus; pcpu++) {
		int64_t ns = report_pcpu(report, pcpu)->lost_ns;

		if (ns)
			out_printf(out, "  p%-5d%s, %.2f %% of its time\n", pcpu,
				   duration_text(ns).text,
				   100 * (double)ns / (double)(report->to_ns - report->from_ns));
	}
}

static void text_buffers(struct output *out, const struct report *report,
			 const struct report_tracing *tracing)
{
	struct table_writer to = { .format = &table_text, .out = out };
	uint64_t lost = lost_records(report);

	out_printf(out, "\n  buffers: what each pCPU records within two times %d ms, how often %s "
		   "reads (it may\n  be late once), in pages, and one more\n",
		   REPORT_POLL_NS / 1000000, report->load->host.kvm ? "a slow reader" : "xentrace");
	buffer_rows(&to, report, tracing);
	out_printf(out, "  %s %llu would be enough%s\n",
		   report->load->host.kvm ? "trace-cmd record -b" : "xentrace -S",
		   (unsigned long long)most_pages(tracing) *
		   (report->load->host.kvm ? PAGE / 1024 : 1),
		   lost ? " for the records that are here; some are lost, so take more" : "");
	out_printf(out, "\n  lost: %llu records\n", (unsigned long long)lost);
	lost_lines(out, report);
}

static void buffers_object(struct json *json, const struct report *report,
			   const struct report_tracing *tracing)
{
	struct table_writer to = { .format = &table_json, .json = json };

	json_open(json, "buffers", '{', false);
	json_i64(json, "poll_ns", REPORT_POLL_NS);
	json_u64(json, "pages", most_pages(tracing));
	buffer_rows(&to, report, tracing);
	json_close(json, '}');
}

/* --- what to switch off ---------------------------------------------------------------------- */

/** In text, a line about each: its name, then a sentence. */
static const struct table_column off_columns[] = {
	{ .title = "", .width = 18 },
	{ .title = "", .type = TABLE_RATE, .width = 19 },
	{ .title = "" },
};

static const struct table off_table = {
	.rows = { TABLE_COLUMNS(off_columns), .untitled = true },
};

static void switch_off_lines(struct output *out, const struct report *report,
			     const struct report_tracing *tracing)
{
	struct table_writer to = { .table = &off_table, .format = &table_text, .out = out };
	struct item items[COUNT_CLASSES + 1];
	int n = switch_off(report, tracing, items);

	if (n)
		out_str(out, "\n  what to switch off first, and what it saves\n");
	table_flat(&to, true);
	for (int i = 0; i < n; i++) {
		const char *needs = without(&items[i]);
		char share[40], cost[64] = "", rest[300];

		snprintf(share, sizeof(share), "%.2f %% of records", items[i].share_percent);
		if (items[i].cost_percent >= 0)
			snprintf(cost, sizeof(cost), ", %.4f %% of the time of all pCPUs",
				 items[i].cost_percent);
		snprintf(rest, sizeof(rest), "%s%s%s", cost, needs ? "; but without it, " : "",
			 needs ? needs : "");
		table_row(&to, (const struct table_cell[ARRAY_SIZE(off_columns)]){
			table_name(class_name(&items[i])), { .instead = share }, table_name(rest),
		});
	}
	table_flat_end(&to);
}

/* --- the table ------------------------------------------------------------------------------- */

static const struct table_column volume_columns[] = {
	{ .title = "pCPU", .width = 6 },
	{ .key = "pcpu", .type = TABLE_COUNT },
	{ .key = "class", .title = "class", .width = 18 },
	{ .key = "records", .type = TABLE_COUNT, .title = "records" },
	{ .key = "bytes", .type = TABLE_COUNT, .title = "bytes", .width = 13 },
	{ .key = "records_per_s", .type = TABLE_RATE, .title = "records/s", .width = 13 },
	{ .key = "bytes_per_s", .type = TABLE_RATE, .title = "bytes/s", .width = 13 },
	{ .key = "time_percent", .type = TABLE_RATE },
	{ .key = "lost_ns", .type = TABLE_NS, .not_json = true },
	{ .key = "buffer_bytes", .type = TABLE_COUNT, .not_json = true },
	{ .key = "buffer_pages", .type = TABLE_COUNT, .not_json = true },
	{ .key = "share_percent", .type = TABLE_RATE, .not_csv = true },
	{ .key = "without", .not_csv = true },
};

/** The column that text has only if the cost of a record is known. */
enum { TIME_PERCENT = 7 };

static const struct table table = { .rows = { .key = "volume", TABLE_COLUMNS(volume_columns) } };
static const struct table_rows off_rows = { .key = "switch_off", TABLE_COLUMNS(volume_columns) };

/** A number with decimals in text. */
static struct table_cell rate_cell(bool is_there, double rate, const char *text)
{
	struct table_cell cell = table_rate(is_there, rate);

	cell.instead = text;
	return cell;
}

/** @off: it is one to switch off */
static void tracing_row(struct table_writer *to, const struct report *report,
			const struct report_tracing *tracing, const struct item *item, bool off)
{
	bool is_pcpu = item->pcpu >= 0 && !item->name;	/* all classes of a pCPU */
	const struct report_polled *polled = is_pcpu ? &tracing->pcpus[item->pcpu] : NULL;
	const char *numbers = off ? without(item) : NULL;
	char pcpu[16] = "all", records[32], bytes[32], time[32];

	if (item->pcpu >= 0)
		snprintf(pcpu, sizeof(pcpu), "p%d", item->pcpu);
	snprintf(records, sizeof(records), "%.1f", item->records_per_s);
	snprintf(bytes, sizeof(bytes), "%.1f", item->bytes_per_s);
	snprintf(time, sizeof(time), "%.4f %%", item->cost_percent);
	table_row(to, (const struct table_cell[ARRAY_SIZE(volume_columns)]){
		table_name(pcpu), table_optional(item->pcpu >= 0, item->pcpu),
		table_name(class_name(item)), table_number((int64_t)item->volume.records),
		table_number((int64_t)item->volume.bytes),
		rate_cell(true, item->records_per_s, records),
		rate_cell(true, item->bytes_per_s, bytes),
		rate_cell(item->cost_percent >= 0, item->cost_percent, time),
		table_optional(is_pcpu, is_pcpu ? report_pcpu(report, item->pcpu)->lost_ns : 0),
		table_optional(is_pcpu, is_pcpu ? (int64_t)polled->peak : 0),
		table_optional(is_pcpu, is_pcpu ? (int64_t)buffer_pages(polled) : 0),
		table_rate(off, item->share_percent),
		numbers ? table_name(numbers) : table_absent(),
	});
}

static void tracing_volume_rows(struct table_writer *to, const struct report *report,
				const struct report_tracing *tracing)
{
	struct item item;

	for (int pcpu = -1; pcpu < report->count->n_pcpus; pcpu++) {
		for (int class = -1; has_class(report, class); class++) {
			make_item(report, tracing, pcpu, class, &item);
			if (item.volume.records)
				tracing_row(to, report, tracing, &item, false);
		}
	}
}

static void tracing_off_rows(struct table_writer *to, const struct report *report,
			     const struct report_tracing *tracing)
{
	struct item items[COUNT_CLASSES + 1];
	int n = switch_off(report, tracing, items);

	table_rows(to, &off_rows);
	for (int i = 0; i < n; i++)
		tracing_row(to, report, tracing, &items[i], true);
}

static void tracing_text(struct output *out, const struct report *report,
			 const struct report_tracing *tracing, bool first)
{
	struct table_column columns[ARRAY_SIZE(volume_columns)];
	const struct table text = {
		.rows = { TABLE_COLUMNS(columns), .apart = true, .titled = true },
	};
	struct table_writer to = { .table = &text, .format = &table_text, .out = out };

	memcpy(columns, volume_columns, sizeof(columns));
	report_page_head(out, report, first);
	if (tracing->record_cost_ns > 0) {
		out_printf(out, "  a record is taken to cost %.10g ns\n", tracing->record_cost_ns);
		columns[TIME_PERCENT].title = "time";
		columns[TIME_PERCENT].width = 12;
	}
	table_flat(&to, true);
	tracing_volume_rows(&to, report, tracing);
	table_flat_end(&to);
	text_buffers(out, report, tracing);
	switch_off_lines(out, report, tracing);
}

static void tracing_json(struct output *out, const struct report *report,
			 const struct report_tracing *tracing)
{
	struct json json;
	struct table_writer to = { .table = &table, .format = &table_json, .json = &json };

	report_page_begin(&json, out, report);
	if (tracing->record_cost_ns > 0)
		json_number(&json, "record_cost_ns", tracing->record_cost_ns);
	table_flat(&to, true);
	tracing_volume_rows(&to, report, tracing);
	table_rows_end(&to);
	json_u64(&json, "lost_records", lost_records(report));
	buffers_object(&json, report, tracing);
	tracing_off_rows(&to, report, tracing);
	table_flat_end(&to);
	report_page_end(&json);
}

void report_tracing_write(enum table_format_kind format, struct output *out,
			  const struct report *report, const struct report_tracing *tracing,
			  bool first)
{
	struct table_writer csv = {
		.table = &table, .format = &table_csv, .out = out, .file = report->file,
	};

	if (format == TABLE_TEXT) {
		tracing_text(out, report, tracing, first);
	} else if (format == TABLE_JSON) {
		tracing_json(out, report, tracing);
	} else {
		table_flat(&csv, first);
		tracing_volume_rows(&csv, report, tracing);
		table_flat_end(&csv);
	}
}
