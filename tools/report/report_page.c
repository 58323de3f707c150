// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_page.c
 * @brief	Write a page of a report, after its file and its window.
 */
#include "json_durations.h"
#include "report_page.h"
#include "report_unknown.h"

void report_page_head(struct output *out, const struct report *report, bool first)
{
	out_str(out, first ? "" : "\n");
	out_text(out, report->file);
	out_str(out, "\n  window   ");
	out_ns(out, report->from_ns, 0);
	out_str(out, " .. ");
	out_ns(out, report->to_ns, 0);
	out_str(out, " s\n");
	report_lacks_text(out, report);
}

void report_page_begin(struct json *json, struct output *out, const struct report *report)
{
	struct facts to = { .json = json };

	json_document(json, out);
	json_str(json, "file", report->file);
	report_lacks_facts(&to, report);
	json_window(json, report->from_ns, report->to_ns);
	json_warnings(json, &report->load->notes);
}

void report_page_end(struct json *json)
{
	json_document_end(json);
}

static int write_rows(const struct report_page *page, struct table_writer *to,
		      const struct report *report, bool first)
{
	int ret;

	if (page->write)
		return page->write(to, report, first);
	table_begin(to, first);
	ret = page->rows(to, report);
	table_end(to);
	return ret;
}

static int put_table(const struct report_page *page, enum table_format_kind format,
		     struct output *out, const struct report *report, bool first)
{
	struct json json;
	struct table_writer to = {
		.table = page->table, .format = table_formats[format], .out = out,
		.json = &json, .file = report->file,
		.unknown = !report_knows(report, page->number),
	};
	int ret;

	if (format == TABLE_TEXT) {
		report_page_head(out, report, first);
		report_advice_text(out, report, page->number);
	}
	if (format == TABLE_JSON)
		report_page_begin(&json, out, report);
	if (page->preface)
		page->preface(&to, report);
	ret = write_rows(page, &to, report, first);
	if (format == TABLE_JSON)
		report_page_end(&json);
	return ret;
}

int report_page_tables(const struct report_page *page, const char *name,
		       struct html_tables *tables, const struct report *report)
{
	struct table_writer to = {
		.table = page->table, .format = table_formats[TABLE_HTML], .html = tables,
		.page = name, .unknown = !report_knows(report, page->number),
	};

	return write_rows(page, &to, report, false);
}

int report_page_write(const struct report_page *page, enum table_format_kind format,
		      struct output *out, const struct report *report, bool first)
{
	return page->table ? put_table(page, format, out, report, first) :
	       page->writers[format](out, report, first);
}

int report_each_vcpu(const struct report *report, struct table_writer *to,
		     int (*put)(struct table_writer *to, const struct report *report,
				const struct virt_machine *machine, int32_t vcpu, void *arg),
		     void *arg)
{
	const struct virt_model *model = report->load->model;
	int ret = 0;

	for (int32_t m = 0; m < virt_model_n_machines(model) && !ret; m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		for (int32_t i = 0; i < machine->n_vcpus && !ret; i++)
			if (virt_window_walk_wants(report->walk, machine->vcpus[i]))
				ret = put(to, report, machine, machine->vcpus[i], arg);
	}
	return ret;
}
