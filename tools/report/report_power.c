// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_power.c
 * @brief	kshark-virt report --power: how pCPUs slept, and how fast they were.
 */
#include <stdio.h>
#include <string.h>

#include "report_page.h"
#include "text_columns.h"
#include "virt_power.h"

/** A pCPU, or a vCPU, for which these are those that it ran on or was woken for. */
struct subject {
	const char		*kind, *machine, *name;
	const struct virt_idle_sum *idle;	/* VIRT_IDLE_STATES of them */
	int64_t			awake_ns, unknown_ns;
	int64_t			ns;		/* with the idle ones */
	const struct virt_speed	*speed;
	int64_t			ran_ns;		/* of which speed.known_ns are told */
	uint64_t		changes;	/* of a pCPU's frequency */
};

typedef void (*tell_subject)(void *arg, const struct report *report, const struct subject *subject);

static void each_pcpu(const struct report *report, tell_subject tell, void *arg)
{
	for (int32_t pcpu = 0; pcpu < report->count->n_pcpus; pcpu++) {
		struct virt_pcpu_power_sum sum;
		char name[16];
		struct subject subject = {
			.kind = "pcpu", .name = name, .idle = sum.idle, .speed = &sum.speed,
			.ns = report->to_ns - report->from_ns,
			.ran_ns = report->to_ns - report->from_ns,
		};

		virt_power_of_pcpu(report->load->model, pcpu, report->from_ns, report->to_ns,
				   &sum);
		snprintf(name, sizeof(name), "p%d", pcpu);
		subject.awake_ns = sum.awake_ns;
		subject.unknown_ns = sum.unknown_ns;
		subject.changes = sum.changes;
		tell(arg, report, &subject);
	}
}

static void each_vcpu(const struct report *report, tell_subject tell, void *arg)
{
	const struct virt_model *model = report->load->model;

	for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		for (int32_t i = 0; i < machine->n_vcpus; i++) {
			struct virt_vcpu_power_sum sum;
			struct subject subject = {
				.kind = "vcpu", .machine = machine->name,
				.name = virt_model_who(model, machine->vcpus[i]),
				.idle = sum.asleep, .speed = &sum.speed,
			};

			if (!virt_window_walk_wants(report->walk, machine->vcpus[i]))
				continue;
			virt_power_of_vcpu(model, machine->vcpus[i], report->from_ns,
					   report->to_ns, &sum);
			subject.awake_ns = sum.awake_ns;
			subject.unknown_ns = sum.unknown_ns;
			subject.ns = sum.waking_ns;
			subject.ran_ns = sum.on_pcpu_ns;
			tell(arg, report, &subject);
		}
	}
}

static bool is_there(const struct virt_idle_sum *idle)
{
	return idle->ns || idle->count;
}

/* --- text ------------------------------------------------------------------------------------ */

static void text_rest(struct output *out, const char *name, int64_t ns, int64_t all)
{
	if (!ns)
		return;
	text_name(out, name);
	text_right(out, "", TEXT_NUMBER);
	text_duration(out, ns);
	text_right(out, "", TEXT_NUMBER);
	text_share(out, ns, all, TEXT_NUMBER);
	out_char(out, '\n');
}

static void text_idle(struct output *out, const struct report *report,
		      const struct subject *subject)
{
	for (int32_t i = 0; i < VIRT_IDLE_STATES; i++) {
		const struct virt_idle_sum *idle = &subject->idle[i];

		if (!is_there(idle))
			continue;
		text_name(out, virt_idle_state_name(report->load->model, i));
		text_count(out, idle->count);
		text_duration(out, idle->ns);
		if (idle->count)
			text_duration(out, idle->max_ns);
		else
			text_right(out, "", TEXT_NUMBER);
		text_share(out, idle->ns, subject->ns, TEXT_NUMBER);
		out_char(out, '\n');
	}
	text_rest(out, "awake", subject->awake_ns, subject->ns);
	text_rest(out, "unknown", subject->unknown_ns, subject->ns);
}

static void text_speed(struct output *out, const struct subject *subject)
{
	const struct virt_speed *speed = subject->speed;
	char text[128];

	if (!speed->known_ns)
		return;
	snprintf(text, sizeof(text), "%.3f GHz in the mean, %.3f to %.3f, known for %.2f %%",
		 (double)speed->mean_khz / 1e6, speed->min_khz / 1e6, speed->max_khz / 1e6,
		 100.0 * (double)speed->known_ns / (double)subject->ran_ns);
	text_name(out, "frequency");
	out_char(out, ' ');
	out_str(out, text);
	if (subject->changes) {
		out_str(out, ", changes ");
		out_u64(out, subject->changes);
	}
	out_char(out, '\n');
}

/** What heads the lines of a vCPU is not what heads those of a pCPU. */
static void text_subject(void *arg, const struct report *report, const struct subject *subject)
{
	static const char *const columns[] = { "count", "total", "max", "share" };
	bool is_pcpu = !subject->machine;
	struct output *out = arg;

	out_str(out, "\n  ");
	out_text(out, subject->name);
	out_char(out, '\n');
	if (virt_model_has_power(report->load->model, VIRT_IDLE_STATE) && subject->ns) {
		text_name(out, is_pcpu ? "idle state" : "woken on a pCPU in");
		text_columns(out, columns, ARRAY_SIZE(columns));
		text_idle(out, report, subject);
	}
	text_speed(out, subject);
	if (!subject->ns && !subject->speed->known_ns)
		out_str(out, "  was not woken, and its frequency is unknown\n");
}

static void text_untold(struct output *out, const struct report *report)
{
	bool is_kvm = report->load->host.kvm;

	if (!virt_model_has_power(report->load->model, VIRT_IDLE_STATE)) {
		out_str(out, "  the trace has no idle states: record ");
		out_str(out, is_kvm ? "power:cpu_idle\n" : "class hw.pm (0x00801000)\n");
	}
	if (!virt_model_has_power(report->load->model, VIRT_FREQUENCY)) {
		out_str(out, "  the trace has no frequency changes: record ");
		out_str(out, is_kvm ? "power:cpu_frequency\n" : "class hw.pm (0x00801000)\n");
	}
}

static int page_text(struct output *out, const struct report *report, bool first)
{
	const struct virt_model *model = report->load->model;

	report_page_head(out, report, first);
	text_untold(out, report);
	if (!virt_model_has_power(model, VIRT_IDLE_STATE) &&
	    !virt_model_has_power(model, VIRT_FREQUENCY))
		return 0;
	each_pcpu(report, text_subject, out);
	each_vcpu(report, text_subject, out);
	return 0;
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_speed(struct json *json, const struct subject *subject)
{
	const struct virt_speed *speed = subject->speed;

	if (!speed->known_ns)
		return;
	json_open(json, "frequency", '{', true);
	json_i64(json, "known_ns", speed->known_ns);
	json_i64(json, "mean_khz", speed->mean_khz);
	json_i64(json, "min_khz", speed->min_khz);
	json_i64(json, "max_khz", speed->max_khz);
	if (!subject->machine)
		json_u64(json, "changes", subject->changes);
	json_close(json, '}');
}

static void json_subject(void *arg, const struct report *report, const struct subject *subject)
{
	struct json *json = arg;

	json_open(json, NULL, '{', false);
	if (subject->machine)
		json_str(json, "machine", subject->machine);
	json_str(json, "name", subject->name);
	if (subject->machine) {
		json_i64(json, "waking_ns", subject->ns);
		json_i64(json, "on_pcpu_ns", subject->ran_ns);
	}
	json_i64(json, "awake_ns", subject->awake_ns);
	json_i64(json, "unknown_ns", subject->unknown_ns);
	json_open(json, "idle_states", '[', false);
	for (int32_t i = 0; i < VIRT_IDLE_STATES; i++) {
		const struct virt_idle_sum *idle = &subject->idle[i];

		if (!is_there(idle))
			continue;
		json_open(json, NULL, '{', true);
		json_i64(json, "state", i);
		json_str(json, "name", virt_idle_state_name(report->load->model, i));
		json_u64(json, "count", idle->count);
		json_i64(json, "ns", idle->ns);
		if (idle->count)
			json_i64(json, "max_ns", idle->max_ns);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_speed(json, subject);
	json_close(json, '}');
}

static int page_json(struct output *out, const struct report *report, bool first)
{
	const struct virt_model *model = report->load->model;
	struct json json;

	(void)first;
	report_page_begin(&json, out, report);
	json_bool(&json, "has_idle_states", virt_model_has_power(model, VIRT_IDLE_STATE));
	json_bool(&json, "has_frequency", virt_model_has_power(model, VIRT_FREQUENCY));
	json_open(&json, "pcpus", '[', false);
	each_pcpu(report, json_subject, &json);
	json_close(&json, ']');
	json_open(&json, "vcpus", '[', false);
	each_vcpu(report, json_subject, &json);
	json_close(&json, ']');
	report_page_end(&json);
	return 0;
}

/* --- CSV ------------------------------------------------------------------------------------- */

/** Everything in front of the numbers. */
static void csv_begin(struct output *out, const struct report *report,
		      const struct subject *subject, const char *what)
{
	const char *const texts[] = {
		report->file, subject->kind, subject->machine ? subject->machine : "",
		subject->name, what,
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		out_csv(out, texts[i], strlen(texts[i]));
		out_char(out, ',');
	}
}

static void csv_rest(struct output *out, const struct report *report,
		     const struct subject *subject, const char *what, int64_t ns)
{
	csv_begin(out, report, subject, what);
	out_char(out, ',');
	out_i64(out, ns);
	out_str(out, ",,,,\n");
}

static void csv_speed(struct output *out, const struct report *report,
		      const struct subject *subject)
{
	const struct virt_speed *speed = subject->speed;
	const int64_t numbers[] = { speed->mean_khz, speed->min_khz, speed->max_khz };

	if (!speed->known_ns)
		return;
	csv_begin(out, report, subject, "frequency");
	if (!subject->machine)
		out_u64(out, subject->changes);
	out_char(out, ',');
	out_i64(out, speed->known_ns);
	out_char(out, ',');
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		out_char(out, ',');
		out_i64(out, numbers[i]);
	}
	out_char(out, '\n');
}

static void csv_subject(void *arg, const struct report *report, const struct subject *subject)
{
	struct output *out = arg;

	for (int32_t i = 0; i < VIRT_IDLE_STATES; i++) {
		const struct virt_idle_sum *idle = &subject->idle[i];

		if (!is_there(idle))
			continue;
		csv_begin(out, report, subject, virt_idle_state_name(report->load->model, i));
		out_u64(out, idle->count);
		out_char(out, ',');
		out_i64(out, idle->ns);
		out_char(out, ',');
		if (idle->count)
			out_i64(out, idle->max_ns);
		out_str(out, ",,,\n");
	}
	csv_rest(out, report, subject, "awake", subject->awake_ns);
	csv_rest(out, report, subject, "unknown", subject->unknown_ns);
	if (subject->machine)
		csv_rest(out, report, subject, "on_pcpu", subject->ran_ns);
	csv_speed(out, report, subject);
}

static int page_csv(struct output *out, const struct report *report, bool first)
{
	if (first)
		out_str(out, "file,kind,machine,name,what,count,ns,max_ns,mean_khz,min_khz,"
			"max_khz\n");
	each_pcpu(report, csv_subject, out);
	each_vcpu(report, csv_subject, out);
	return 0;
}

const struct report_page report_power = { .writers = { page_text, page_json, page_csv } };
