// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_threads.c
 * @brief	kshark-virt report --threads: the threads that work for machines and are not vCPUs.
 */
#include <errno.h>
#include <stdlib.h>

#include "report_page.h"
#include "report_unknown.h"
#include "text_columns.h"
#include "virt_threads.h"

/** Of names, and of what a thread is known by. */
#define NAME_WIDTH	28
#define THREAD_WIDTH	24
#define SOURCE_WIDTH	8

static const struct table_column machines[] = {
	{ .key = "machine", .title = "" },
	{ .key = "total_ns", .type = TABLE_NS, .not_csv = true },
};

static const struct table_column threads_columns[] = {
	{ .key = "name", .title = "thread", .width = NAME_WIDTH },
	{ .key = "thread", .title = "is", .width = THREAD_WIDTH },
	{ .key = "pid", .type = TABLE_COUNT },
	{ .key = "kind" },
	{ .key = "known_by", .title = "known by", .width = SOURCE_WIDTH },
	{ .key = "pcpu", .type = TABLE_COUNT, .not_json = true },
	{ .key = "total_ns", .type = TABLE_NS, .title = "on pCPUs" },
	{ .type = TABLE_SHARE, .title = "share" },
	{ .key = "runs", .type = TABLE_COUNT, .title = "runs" },
	{ .key = "max_ns", .type = TABLE_NS, .title = "longest" },
	{ .key = "own_steal_ns", .type = TABLE_NS, .title = "from own" },
	{ .key = "others_steal_ns", .type = TABLE_NS, .title = "others" },
	{ .key = "pcpus_ns", .type = TABLE_PCPUS, .title = "where", .not_csv = true },
};

static const struct table table = {
	.groups = "machines", .group = machines, .n_group = ARRAY_SIZE(machines),
	.rows = {
		.key = "threads", TABLE_COLUMNS(threads_columns),
		.none = "  no other thread of it is known that had a pCPU\n",
	},
};

/** @place: on one pCPU, a row of CSV; NULL: on all of them, @pcpus */
static void threads_row(struct table_writer *to, const struct report *report,
			const struct virt_thread *thread, const struct virt_thread_place *place,
			const struct table_on_pcpu *pcpus)
{
	const struct virt_task *task = virt_model_task(report->load->model, thread->task);
	bool steal = !place && report_knows(report, VIRT_NUMBER_CULPRITS);
	int64_t ns = place ? place->ns : thread->ns;

	table_row(to, (const struct table_cell[]){
		table_name(task->name), table_name(task->thread), table_number(task->pid),
		table_name(virt_thread_kind_name((enum virt_thread_kind)task->kind)),
		table_name(virt_thread_source_name((enum virt_thread_source)task->source)),
		table_number(place ? place->pcpu : VIRT_NONE), table_number(ns),
		table_share(ns, report->to_ns - report->from_ns),
		table_number((int64_t)(place ? place->runs : thread->runs)),
		table_number(place ? place->max_ns : thread->max_ns),
		table_number(steal ? thread->own_ns : VIRT_NONE),
		table_number(steal ? thread->others_ns : VIRT_NONE),
		table_pcpus(pcpus, pcpus ? thread->n_places : 0),
	});
}

/** Return: 0 or -ENOMEM. */
static int threads_thread_rows(struct table_writer *to, const struct report *report,
			       const struct virt_thread *thread)
{
	struct table_on_pcpu *pcpus = calloc(thread->n_places + 1, sizeof(*pcpus));

	if (!pcpus)
		return -ENOMEM;
	for (size_t i = 0; i < thread->n_places; i++)
		pcpus[i] = (struct table_on_pcpu){ thread->places[i].pcpu, thread->places[i].ns };
	threads_row(to, report, thread, NULL, pcpus);
	for (size_t i = 0; i < thread->n_places && table_is(to, TABLE_CSV); i++)
		threads_row(to, report, thread, &thread->places[i], NULL);
	free(pcpus);
	return 0;
}

static int threads_machine_rows(struct table_writer *to, const struct report *report,
				const struct virt_machine *machine,
				const struct virt_thread *threads, size_t n)
{
	struct output *text = table_as_text(to);
	int64_t ns = 0;
	int ret = 0;

	for (size_t i = 0; i < n; i++)
		ns += threads[i].ns;
	const struct table_cell cells[] = {
		table_name(machine->name), table_number(to->unknown ? VIRT_NONE : ns),
	};

	table_group(to, cells);
	for (size_t i = 0; i < n && !ret; i++)
		ret = threads_thread_rows(to, report, &threads[i]);
	table_group_end(to);
	if (n && !to->unknown && text) {
		out_str(text, "  ");
		out_text_left(text, "all", NAME_WIDTH + THREAD_WIDTH + SOURCE_WIDTH);
		text_duration(text, ns);
		out_char(text, '\n');
	}
	return ret;
}

/** Each machine that is wanted, also without threads. Return: 0 or -ENOMEM. */
static int threads_rows(struct table_writer *to, const struct report *report)
{
	const struct virt_model *model = report->load->model;
	struct virt_threads *threads = virt_threads_new(model, report->from_ns, report->to_ns);
	int ret = threads ? 0 : -ENOMEM;
	size_t at = 0;

	for (int32_t m = 0; !ret && m < virt_model_n_machines(model); m++) {
		size_t first = at;

		while (at < threads->n &&
		       virt_model_machine_of(model, threads->threads[at].task) == m)
			at++;
		if (report_wants_machine(report, m))
			ret = threads_machine_rows(to, report, virt_model_machine(model, m),
						   &threads->threads[first], at - first);
	}
	virt_threads_free(threads);
	return ret;
}

const struct report_page report_threads = {
	.table = &table, .number = VIRT_NUMBER_TASKS, .rows = threads_rows,
};
