// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_threads.c
 * @brief	kshark-virt report --threads: what works for machines beside their vCPUs.
 */
#include <errno.h>
#include <stdio.h>

#include "report_page.h"
#include "report_text.h"
#include "report_unknown.h"
#include "virt_threads.h"

/** Of names, in the table. */
#define NAME_WIDTH	28
#define THREAD_WIDTH	24

/** A machine, and its threads. */
struct crew {
	const struct virt_machine *machine;
	const struct virt_thread *threads;
	size_t			n;
};

/** Each machine that is wanted, also without threads. Return: 0 or -ENOMEM. */
static int each_crew(const struct report *report,
		     void (*tell)(void *arg, const struct report *report, const struct crew *crew),
		     void *arg)
{
	const struct virt_model *model = report->load->model;
	struct virt_threads *threads = virt_threads_new(model, report->from_ns, report->to_ns);
	size_t at = 0;

	if (!threads)
		return -ENOMEM;
	for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
		struct crew crew = {
			.machine = virt_model_machine(model, m), .threads = &threads->threads[at],
		};
		bool wanted = false;

		for (; at < threads->n && virt_model_machine_of(model, threads->threads[at].task) ==
					  m; at++)
			crew.n++;
		for (int32_t i = 0; i < crew.machine->n_vcpus; i++)
			wanted |= virt_window_walk_wants(report->walk, crew.machine->vcpus[i]);
		if (wanted)
			tell(arg, report, &crew);
	}
	virt_threads_free(threads);
	return 0;
}

static const struct virt_task *task_of(const struct report *report,
				       const struct virt_thread *thread)
{
	return virt_model_task(report->load->model, thread->task);
}

static const char *source_of(const struct virt_task *task)
{
	return virt_thread_source_name((enum virt_thread_source)task->source);
}

static const char *kind_of(const struct virt_task *task)
{
	return virt_thread_kind_name((enum virt_thread_kind)task->kind);
}

static int64_t sum_of(const struct crew *crew)
{
	int64_t ns = 0;

	for (size_t i = 0; i < crew->n; i++)
		ns += crew->threads[i].ns;
	return ns;
}

/* --- text ------------------------------------------------------------------------------------ */

static void text_thread(struct output *out, const struct report *report,
			const struct virt_thread *thread)
{
	const struct virt_task *task = task_of(report, thread);

	out_str(out, "  ");
	out_text_left(out, task->name, NAME_WIDTH);
	out_text_left(out, task->thread, THREAD_WIDTH);
	out_text_left(out, source_of(task), 8);
	text_duration(out, thread->ns);
	text_share(out, thread->ns, report->to_ns - report->from_ns, TEXT_SHARE);
	text_count(out, thread->runs);
	text_duration(out, thread->max_ns);
	if (report_knows(report, VIRT_NUMBER_CULPRITS)) {
		text_duration(out, thread->own_ns);
		text_duration(out, thread->others_ns);
	} else {
		text_unknown(out);
		text_unknown(out);
	}
	for (size_t i = 0; i < thread->n_places; i++) {
		char time[32];

		report_duration(time, sizeof(time), thread->places[i].ns);
		out_printf(out, "%s p%d %s", i ? "," : " ", (int)thread->places[i].pcpu, time);
	}
	out_char(out, '\n');
}

static void text_crew(void *arg, const struct report *report, const struct crew *crew)
{
	struct output *out = arg;

	out_str(out, "\n  ");
	out_text(out, crew->machine->name);
	out_char(out, '\n');
	if (!crew->n) {
		out_str(out, "  no other thread of it is known that had a pCPU\n");
		return;
	}
	out_str(out, "  ");
	out_text_left(out, "thread", NAME_WIDTH);
	out_text_left(out, "is", THREAD_WIDTH);
	out_text_left(out, "known by", 8);
	text_right(out, "on pCPUs", TEXT_NUMBER);
	text_right(out, "share", TEXT_SHARE);
	text_right(out, "runs", TEXT_NUMBER);
	text_right(out, "longest", TEXT_NUMBER);
	text_right(out, "from own", TEXT_NUMBER);
	text_right(out, "others", TEXT_NUMBER);
	out_str(out, "  where\n");
	for (size_t i = 0; i < crew->n; i++)
		text_thread(out, report, &crew->threads[i]);
	out_str(out, "  ");
	out_text_left(out, "all", NAME_WIDTH + THREAD_WIDTH + 8);
	text_duration(out, sum_of(crew));
	out_char(out, '\n');
}

static int page_text(struct output *out, const struct report *report, bool first)
{
	report_page_head(out, report, first);
	return each_crew(report, text_crew, out);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_thread(struct json *json, const struct report *report,
			const struct virt_thread *thread)
{
	const struct virt_task *task = task_of(report, thread);

	json_open(json, NULL, '{', true);
	json_str(json, "name", task->name);
	json_str(json, "thread", task->thread);
	json_i64(json, "pid", task->pid);
	json_str(json, "kind", kind_of(task));
	json_str(json, "known_by", source_of(task));
	json_i64(json, "ns", thread->ns);
	json_u64(json, "runs", thread->runs);
	json_i64(json, "max", thread->max_ns);
	json->unknown = !report_knows(report, VIRT_NUMBER_CULPRITS);
	json_i64(json, "own_steal_ns", thread->own_ns);
	json_i64(json, "others_steal_ns", thread->others_ns);
	json->unknown = false;
	json_open(json, "pcpus", '{', true);
	for (size_t i = 0; i < thread->n_places; i++) {
		char pcpu[16];

		snprintf(pcpu, sizeof(pcpu), "%d", (int)thread->places[i].pcpu);
		json_i64(json, pcpu, thread->places[i].ns);
	}
	json_close(json, '}');
	json_close(json, '}');
}

static void json_crew(void *arg, const struct report *report, const struct crew *crew)
{
	struct json *json = arg;

	json_open(json, NULL, '{', false);
	json_str(json, "name", crew->machine->name);
	json_i64(json, "ns", sum_of(crew));
	json_open(json, "threads", '[', false);
	for (size_t i = 0; i < crew->n; i++)
		json_thread(json, report, &crew->threads[i]);
	json_close(json, ']');
	json_close(json, '}');
}

static int page_json(struct output *out, const struct report *report, bool first)
{
	struct json json;
	int ret;

	(void)first;
	report_page_begin(&json, out, report);
	json_open(&json, "machines", '[', false);
	ret = each_crew(report, json_crew, &json);
	json_close(&json, ']');
	report_page_end(&json);
	return ret;
}

/* --- CSV ------------------------------------------------------------------------------------- */

/** @place: on one pCPU; NULL: all */
static void csv_row(struct output *out, const struct report *report, const struct crew *crew,
		    const struct virt_thread *thread, const struct virt_thread_place *place)
{
	const struct virt_task *task = task_of(report, thread);
	bool steal = !place && report_knows(report, VIRT_NUMBER_CULPRITS);

	report_csv_text(out, report->file);
	report_csv_text(out, crew->machine->name);
	report_csv_text(out, task->name);
	report_csv_text(out, task->thread);
	out_i64(out, task->pid);
	out_char(out, ',');
	report_csv_text(out, kind_of(task));
	report_csv_text(out, source_of(task));
	if (place)
		out_i64(out, place->pcpu);
	out_char(out, ',');
	out_i64(out, place ? place->ns : thread->ns);
	out_char(out, ',');
	out_u64(out, place ? place->runs : thread->runs);
	out_char(out, ',');
	out_i64(out, place ? place->max_ns : thread->max_ns);
	out_char(out, ',');
	if (steal)
		out_i64(out, thread->own_ns);
	out_char(out, ',');
	if (steal)
		out_i64(out, thread->others_ns);
	out_char(out, '\n');
}

static void csv_crew(void *arg, const struct report *report, const struct crew *crew)
{
	struct output *out = arg;

	for (size_t i = 0; i < crew->n; i++) {
		const struct virt_thread *thread = &crew->threads[i];

		csv_row(out, report, crew, thread, NULL);
		for (size_t k = 0; k < thread->n_places; k++)
			csv_row(out, report, crew, thread, &thread->places[k]);
	}
}

static int page_csv(struct output *out, const struct report *report, bool first)
{
	if (first)
		out_str(out, "file,machine,name,thread,pid,kind,known_by,pcpu,ns,runs,max,"
			"own_steal_ns,others_steal_ns\n");
	return each_crew(report, csv_crew, out);
}

const struct report_page report_threads = { .text = page_text, .json = page_json, .csv = page_csv };
