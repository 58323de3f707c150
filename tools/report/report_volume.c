// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_volume.c
 * @brief	The number of records and their size, by pCPU and class of events.
 */
#include <stdio.h>

#include "json_durations.h"
#include "report_parts.h"
#include "report_section.h"
#include "text_columns.h"

static void text(struct output *out, const struct report *report)
{
	const char *name;
	char text[32];

	out_char(out, '\n');
	text_name(out, "trace volume");
	text_right(out, "records", TEXT_NUMBER);
	text_right(out, "bytes", TEXT_NUMBER);
	out_char(out, '\n');
	for (int pcpu = 0; pcpu < report->count->n_pcpus; pcpu++) {
		for (int class = 0; (name = report_count_class(report->count, class)); class++) {
			const struct count_volume *volume =
				&report->count->pcpus[pcpu].volume[class];

			if (!volume->records)
				continue;
			snprintf(text, sizeof(text), "p%d %s", pcpu, name);
			text_name(out, text);
			text_count(out, volume->records);
			text_count(out, volume->bytes);
			out_char(out, '\n');
		}
	}
}

static void volume_facts(struct facts *to, const char *class, const struct count_volume *volume)
{
	if (!volume->records)
		return;
	facts_open(to, class, '{', true);
	facts_count(to, FACT_JSON("records"), volume->records);
	facts_count(to, FACT_JSON("bytes"), volume->bytes);
	facts_close(to, '}');
}

static void pcpu_facts(struct facts *to, const struct report_count *count, int pcpu)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", pcpu);
	facts_open(to, number, '{', false);
	for (int class = 0; report_count_class(count, class); class++)
		volume_facts(to, report_count_class(count, class),
			     &count->pcpus[pcpu].volume[class]);
	facts_close(to, '}');
}

static void facts(struct facts *to, const struct report *report)
{
	const struct report_count *count = report->count;

	facts_open(to, "volume", '{', false);
	facts_count(to, FACT_JSON("records"), count->records);
	facts_open(to, "classes", '{', false);
	for (int class = 0; report_count_class(count, class); class++) {
		struct count_volume sum = { 0 };

		for (int pcpu = 0; pcpu < count->n_pcpus; pcpu++) {
			sum.records += count->pcpus[pcpu].volume[class].records;
			sum.bytes += count->pcpus[pcpu].volume[class].bytes;
		}
		volume_facts(to, report_count_class(count, class), &sum);
	}
	facts_close(to, '}');
	facts_open(to, "pcpus", '{', false);
	for (int pcpu = 0; pcpu < count->n_pcpus; pcpu++)
		pcpu_facts(to, count, pcpu);
	facts_close(to, '}');
	facts_close(to, '}');
}

void report_volume_facts(struct facts *to, const struct report *report, int pcpu)
{
	const char *name;

	for (int class = 0; (name = report_count_class(report->count, class)); class++) {
		const struct count_volume *volume = &report->count->pcpus[pcpu].volume[class];

		facts_count(to, FACT_CSV("volume_records", name), volume->records);
		facts_count(to, FACT_CSV("volume_bytes", name), volume->bytes);
	}
}

const struct report_section report_volume = { .text = text, .facts = facts };
