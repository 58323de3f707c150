// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_volume.c
 * @brief	How much was recorded, by pCPU and class of events.
 */
#include <stdio.h>

#include "json_durations.h"
#include "report_csv.h"
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

static void json_volume(struct json *json, const char *key, const struct count_volume *volume)
{
	if (!volume->records)
		return;
	json_open(json, key, '{', true);
	json_u64(json, "records", volume->records);
	json_u64(json, "bytes", volume->bytes);
	json_close(json, '}');
}

static void json(struct json *json, const struct report *report)
{
	const struct report_count *count = report->count;
	char number[16];

	json_open(json, "volume", '{', false);
	json_u64(json, "records", count->records);
	json_open(json, "classes", '{', false);
	for (int class = 0; report_count_class(count, class); class++) {
		struct count_volume sum = { 0 };

		for (int pcpu = 0; pcpu < count->n_pcpus; pcpu++) {
			sum.records += count->pcpus[pcpu].volume[class].records;
			sum.bytes += count->pcpus[pcpu].volume[class].bytes;
		}
		json_volume(json, report_count_class(count, class), &sum);
	}
	json_close(json, '}');
	json_open(json, "pcpus", '{', false);
	for (int pcpu = 0; pcpu < count->n_pcpus; pcpu++) {
		snprintf(number, sizeof(number), "%d", pcpu);
		json_open(json, number, '{', false);
		for (int class = 0; report_count_class(count, class); class++)
			json_volume(json, report_count_class(count, class),
				    &count->pcpus[pcpu].volume[class]);
		json_close(json, '}');
	}
	json_close(json, '}');
	json_close(json, '}');
}

void report_volume_csv(struct output *out, const struct report *report, const struct csv_row *row,
		       int pcpu)
{
	const char *name;

	for (int class = 0; (name = report_count_class(report->count, class)); class++) {
		const struct count_volume *volume = &report->count->pcpus[pcpu].volume[class];

		csv_count(out, report, row, "volume_records", name, volume->records);
		csv_count(out, report, row, "volume_bytes", name, volume->bytes);
	}
}

const struct report_section report_volume = { .text = text, .json = json };
