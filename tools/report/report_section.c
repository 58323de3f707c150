// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_section.c
 * @brief	kshark-virt report, section by section.
 */
#include "report_section.h"

/* In the order in which they are written. */
static const struct report_section *const sections[] = {
	&report_head,
	&report_machines,
	&report_pcpus,
	&report_steal,
	&report_polling,
	&report_tasks,
	&report_interrupts,
	&report_losses,
	&report_volume,
	&report_losses_list,
	&report_contradictions,
};

/* Instead, if the options ask for what guests report of themselves. */
static const struct report_section *const guest_sections[] = {
	&report_head,
	&report_hypertrace,
	&report_boot,
	&report_functions,
};

_Static_assert(ARRAY_SIZE(sections) <= REPORT_MOST_SECTIONS, "room for all");
_Static_assert(ARRAY_SIZE(guest_sections) <= REPORT_MOST_SECTIONS, "room for all");

struct section_list {
	const struct report_section *const *all;
	size_t		n;
};

static struct section_list list_of(bool guests)
{
	return guests ? (struct section_list){ guest_sections, ARRAY_SIZE(guest_sections) } :
	       (struct section_list){ sections, ARRAY_SIZE(sections) };
}

void report_sections_rows(struct report_counted *counted, const struct xen_trace_row *rows,
			  size_t n)
{
	const struct section_list list = list_of(counted->hypertrace.options);

	report_count_rows(&counted->count, rows, n);
	for (size_t i = 0; i < list.n; i++)
		if (list.all[i]->rows)
			list.all[i]->rows(counted, rows, n);
}

static void find_takers(struct report_counted *counted)
{
	const struct section_list list = list_of(counted->hypertrace.options);
	size_t n = 0;

	for (size_t i = 0; i < list.n; i++)
		if (list.all[i]->record)
			counted->takers[n++] = list.all[i];
	counted->has_takers = true;
}

void report_sections_record(struct report_counted *counted,
			    const struct kvm_trace_record *record)
{
	if (!counted->has_takers)
		find_takers(counted);
	report_count_record(&counted->count, record);
	for (const struct report_section **taker = counted->takers; *taker; taker++)
		(*taker)->record(counted, record);
}

int report_sections_build(struct report_counted *counted, struct report *report,
			  const struct ksv_vcpu_set *vcpus)
{
	const struct section_list list = list_of(counted->hypertrace.options);
	int ret = 0;

	for (size_t i = 0; i < list.n && !ret; i++)
		if (list.all[i]->build)
			ret = list.all[i]->build(counted, report, vcpus);
	return ret;
}

void report_sections_free(struct report_counted *counted)
{
	const struct section_list list = list_of(counted->hypertrace.options);

	for (size_t i = 0; i < list.n; i++)
		if (list.all[i]->free)
			list.all[i]->free(counted);
	report_count_destroy(&counted->count);
}

void report_text(struct output *out, const struct report *report, bool first)
{
	const struct section_list list = list_of(report->hypertrace);

	if (!first)
		out_char(out, '\n');
	for (size_t i = 0; i < list.n; i++)
		if (list.all[i]->text)
			list.all[i]->text(out, report);
}

void report_json(struct output *out, const struct report *report, bool first)
{
	const struct section_list list = list_of(report->hypertrace);
	struct json json;
	struct facts to = { .json = &json };

	(void)first;
	json_document(&json, out);
	for (size_t i = 0; i < list.n; i++)
		if (list.all[i]->facts)
			list.all[i]->facts(&to, report);
	json_document_end(&json);
}

void report_csv(struct output *out, const struct report *report, bool first)
{
	const struct section_list list = list_of(report->hypertrace);
	struct facts to = { .csv = out, .file = report->file };

	if (first)
		facts_titles(out);
	for (size_t i = 0; i < list.n; i++)
		if (list.all[i]->facts)
			list.all[i]->facts(&to, report);
}

void report_html_facts(struct html_tables *tables, const struct report *report)
{
	const struct section_list list = list_of(report->hypertrace);
	struct facts to = { .html = tables };

	/* the page has its own head */
	for (size_t i = 0; i < list.n; i++)
		if (list.all[i]->facts && list.all[i] != &report_head)
			list.all[i]->facts(&to, report);
}
