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
	&report_tasks,
	&report_interrupts,
	&report_losses,
	&report_volume,
	&report_losses_list,
	&report_contradictions,
};

void report_sections_rows(struct report_counted *counted, const struct xen_trace_row *rows,
			  size_t n)
{
	report_count_rows(&counted->count, rows, n);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (sections[i]->rows)
			sections[i]->rows(counted, rows, n);
}

void report_sections_record(struct report_counted *counted,
			    const struct kvm_trace_record *record)
{
	report_count_record(&counted->count, record);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (sections[i]->record)
			sections[i]->record(counted, record);
}

int report_sections_build(struct report_counted *counted, struct report *report,
			  const struct ksv_vcpu_set *vcpus)
{
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sections) && !ret; i++)
		if (sections[i]->build)
			ret = sections[i]->build(counted, report, vcpus);
	return ret;
}

void report_sections_free(struct report_counted *counted)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (sections[i]->free)
			sections[i]->free(counted);
	report_count_destroy(&counted->count);
}

void report_text(struct output *out, const struct report *report, bool first)
{
	if (!first)
		out_char(out, '\n');
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (sections[i]->text)
			sections[i]->text(out, report);
}

void report_json(struct output *out, const struct report *report, bool first)
{
	struct json json;

	(void)first;
	json_begin(&json, out);
	json_open(&json, NULL, '{', false);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (sections[i]->json)
			sections[i]->json(&json, report);
	json_close(&json, '}');
	json_end(&json);
}

void report_csv(struct output *out, const struct report *report, bool first)
{
	if (first)
		out_str(out, "file,section,machine,vcpu,name,count,ns,mean,min,p5,p50,p95,p99,"
			     "max,complete,before,before_ns\n");
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (sections[i]->csv)
			sections[i]->csv(out, report);
}
