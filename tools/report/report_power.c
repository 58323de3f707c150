// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_power.c
 * @brief	kshark-virt report --power: how pCPUs slept, and how fast they were.
 */
#include <stdio.h>

#include "report_frequencies.h"
#include "report_page.h"
#include "report_unknown.h"
#include "text_columns.h"
#include "virt_power.h"

/** A pCPU, or a vCPU, for which these are those that it ran on or was woken for. */
struct subject {
	const char		*kind, *machine, *name;	/* @machine NULL: of @pcpu */
	int32_t			pcpu;
	const struct virt_idle_sum *idle;	/* VIRT_IDLE_STATES of them */
	int64_t			awake_ns, unknown_ns;
	int64_t			ns;		/* with the idle ones */
	const struct virt_speed	*speed;
	int64_t			ran_ns;		/* of which speed.known_ns are known */
	uint64_t		changes;	/* of a pCPU's frequency */
};

/* --- the table ------------------------------------------------------------------------------- */

static const struct table_column subjects[] = {
	{ .key = "kind", .not_json = true },
	{ .key = "machine" },
	{ .key = "vcpu" },
	{ .key = "pcpu", .type = TABLE_COUNT },
	{ .title = "" },
	{ .key = "waking_ns", .type = TABLE_NS, .not_csv = true },
	{ .key = "on_pcpu_ns", .type = TABLE_NS, .not_csv = true },
	{ .key = "awake_ns", .type = TABLE_NS, .not_csv = true },
	{ .key = "unknown_ns", .type = TABLE_NS, .not_csv = true },
};

/** CSV has rows for what JSON has as members of the subject. */
#define IDLE_COLUMNS(heading) {								\
	{ .key = "state", .type = TABLE_COUNT, .not_csv = true },			\
	{ .key = "what", .title = heading, .width = TEXT_NAME },	\
	{ .key = "count", .type = TABLE_COUNT, .title = "count" },			\
	{ .key = "total_ns", .type = TABLE_NS, .title = "total" },			\
	{ .key = "max_ns", .type = TABLE_NS, .title = "max" },				\
	{ .type = TABLE_SHARE, .title = "share", .width = TEXT_NUMBER },		\
	{ .key = "mean_khz", .type = TABLE_COUNT, .not_json = true },			\
	{ .key = "min_khz", .type = TABLE_COUNT, .not_json = true },			\
	{ .key = "max_khz", .type = TABLE_COUNT, .not_json = true },			\
	{ .key = "name", .not_json = true },						\
	{ .key = "khz", .type = TABLE_COUNT, .not_json = true },			\
}

static const struct table_column of_pcpu[] = IDLE_COLUMNS("idle state");
static const struct table_column of_vcpu[] = IDLE_COLUMNS("woken on a pCPU in");

static const struct table pcpus = {
	.groups = "pcpus", .group = subjects, .n_group = ARRAY_SIZE(subjects),
	.rows = { .key = "idle_states", TABLE_COLUMNS(of_pcpu) },
};

static const struct table vcpus = {
	.groups = "vcpus", .group = subjects, .n_group = ARRAY_SIZE(subjects),
	.rows = { .key = "idle_states", TABLE_COLUMNS(of_vcpu) },
};

/* --- what stands in it ----------------------------------------------------------------------- */

static void power_idle_rows(struct table_writer *to, const struct report *report,
			    const struct subject *subject)
{
	for (int32_t i = 0; i < VIRT_IDLE_STATES; i++) {
		const struct virt_idle_sum *idle = &subject->idle[i];

		if (idle->ns || idle->count)
			table_row(to, (const struct table_cell[ARRAY_SIZE(of_pcpu)]){
				table_number(i),
				table_name(virt_idle_state_name(report->load->model, i)),
				table_number((int64_t)idle->count), table_number(idle->ns),
				table_optional(idle->count, idle->max_ns),
				table_share(idle->ns, subject->ns),
				table_absent(), table_absent(), table_absent(),
				table_absent(), table_absent(),
			});
	}
}

/** Time that is in no idle state. */
static void power_rest_row(struct table_writer *to, const struct subject *subject, const char *what,
			   int64_t ns)
{
	if (table_is(to, TABLE_CSV) || (table_as_text(to) && ns))
		table_row(to, (const struct table_cell[ARRAY_SIZE(of_pcpu)]){
			table_absent(), table_name(what), table_absent(), table_number(ns),
			table_absent(), table_share(ns, subject->ns),
			table_absent(), table_absent(), table_absent(),
			table_absent(), table_absent(),
		});
}

static void csv_speed(struct table_writer *to, const struct subject *subject)
{
	const struct virt_speed *speed = subject->speed;

	table_row(to, (const struct table_cell[ARRAY_SIZE(of_pcpu)]){
		table_absent(), table_name("frequency"),
		table_optional(!subject->machine, (int64_t)subject->changes),
		table_number(speed->known_ns), table_absent(), table_absent(),
		table_number(speed->mean_khz), table_number(speed->min_khz),
		table_number(speed->max_khz), table_absent(), table_absent(),
	});
}

static const struct table_column speed_columns[] = {
	{ .key = "known_ns", .type = TABLE_TIME },
	{ .key = "mean_khz", .type = TABLE_TIME },
	{ .key = "min_khz", .type = TABLE_TIME },
	{ .key = "max_khz", .type = TABLE_TIME },
	{ .key = "changes", .type = TABLE_COUNT },
};

static void speed_object(struct json *json, const struct subject *subject)
{
	const struct virt_speed *speed = subject->speed;

	json_open(json, "frequency", '{', true);
	table_json_members(json, speed_columns, ARRAY_SIZE(speed_columns),
			   (const struct table_cell[ARRAY_SIZE(speed_columns)]){
		table_number(speed->known_ns), table_number(speed->mean_khz),
		table_number(speed->min_khz), table_number(speed->max_khz),
		table_optional(!subject->machine, (int64_t)subject->changes),
	});
	json_close(json, '}');
}

static void text_speed(struct output *out, const struct subject *subject)
{
	const struct virt_speed *speed = subject->speed;

	text_name(out, "frequency");
	out_printf(out, " %.3f GHz in the mean, %.3f to %.3f, known for %.2f %%",
		   (double)speed->mean_khz / 1e6, speed->min_khz / 1e6, speed->max_khz / 1e6,
		   100.0 * (double)speed->known_ns / (double)subject->ran_ns);
	if (subject->changes)
		out_printf(out, ", changes %llu", (unsigned long long)subject->changes);
	out_char(out, '\n');
}

static void power_subject_rows(struct table_writer *to, const struct report *report,
			       const struct subject *subject)
{
	bool is_vcpu = subject->machine;
	int64_t ran_ns = report_knows(report, VIRT_NUMBER_RUNS) ? subject->ran_ns : VIRT_NONE;
	const struct table_cell cells[ARRAY_SIZE(subjects)] = {
		table_name(subject->kind),
		is_vcpu ? table_name(subject->machine) : table_absent(),
		is_vcpu ? table_name(subject->name) : table_absent(),
		table_optional(!is_vcpu, subject->pcpu), table_name(subject->name),
		table_optional(is_vcpu, subject->ns),
		table_optional(is_vcpu, ran_ns), table_number(subject->awake_ns),
		table_number(subject->unknown_ns),
	};

	to->unknown = subject->ns == VIRT_NONE;
	table_group(to, cells);
	if (!table_as_text(to) || virt_model_has_power(report->load->model, VIRT_IDLE_STATE)) {
		power_idle_rows(to, report, subject);
		power_rest_row(to, subject, "awake", subject->awake_ns);
		power_rest_row(to, subject, "unknown", subject->unknown_ns);
	}
	if (is_vcpu && table_is(to, TABLE_CSV))
		power_rest_row(to, subject, "on_pcpu", ran_ns);
	if (subject->speed->known_ns && table_is(to, TABLE_CSV))
		csv_speed(to, subject);
	table_rows_end(to);
	to->unknown = false;
	if (subject->speed->known_ns && table_as_text(to))
		text_speed(to->out, subject);
	else if (subject->speed->known_ns && table_as_json(to))
		speed_object(to->json, subject);
	else if (!subject->ns && !subject->speed->known_ns && table_as_text(to))
		out_str(to->out, "  was not woken, and its frequency is unknown\n");
	table_group_end(to);
}

static void power_pcpu_rows(struct table_writer *to, const struct report *report, int32_t pcpu)
{
	int64_t ns = report->to_ns - report->from_ns;
	struct virt_pcpu_power_sum sum;
	char name[16];

	snprintf(name, sizeof(name), "p%d", pcpu);
	virt_power_of_pcpu(report->load->model, pcpu, report->from_ns, report->to_ns, &sum);
	power_subject_rows(to, report, &(const struct subject){
		.kind = "pcpu", .pcpu = pcpu, .name = name, .idle = sum.idle, .speed = &sum.speed,
		.ns = ns, .ran_ns = ns, .awake_ns = sum.awake_ns,
		.unknown_ns = sum.unknown_ns, .changes = sum.changes,
	});
}

static int power_vcpu_rows(struct table_writer *to, const struct report *report,
			   const struct virt_machine *machine, int32_t vcpu, void *arg)
{
	const struct virt_model *model = report->load->model;
	bool woken = report_knows(report, VIRT_NUMBER_WAKING);
	struct virt_vcpu_power_sum sum;

	(void)arg;
	virt_power_of_vcpu(model, vcpu, report->from_ns, report->to_ns, &sum);
	power_subject_rows(to, report, &(const struct subject){
		.kind = "vcpu", .machine = machine->name, .name = virt_model_who(model, vcpu),
		.idle = sum.asleep, .speed = &sum.speed,
		.ns = woken ? sum.waking_ns : VIRT_NONE,
		.ran_ns = sum.on_pcpu_ns,
		.awake_ns = woken ? sum.awake_ns : VIRT_NONE,
		.unknown_ns = woken ? sum.unknown_ns : VIRT_NONE,
	});
	return 0;
}

static int power_rows(struct table_writer *to, const struct report *report)
{
	const struct virt_model *model = report->load->model;
	int ret;

	if (table_as_text(to) && !virt_model_has_power(model, VIRT_IDLE_STATE) &&
	    !virt_model_has_power(model, VIRT_FREQUENCY))
		return 0;
	for (int32_t pcpu = 0; pcpu < report->count->n_pcpus; pcpu++)
		power_pcpu_rows(to, report, pcpu);
	table_next(to, &vcpus);
	ret = report_each_vcpu(report, to, power_vcpu_rows, NULL);
	return ret ? ret : report_frequencies(to, report);
}

/** What the trace has. */
static void preface(struct table_writer *to, const struct report *report)
{
	const struct virt_model *model = report->load->model;
	const char *states = "power:cpu_idle", *frequency = "power:cpu_frequency";

	if (!report->load->host.kvm)
		states = frequency = "class hw.pm (0x00801000)";
	if (table_as_json(to)) {
		json_bool(to->json, "has_idle_states",
			  virt_model_has_power(model, VIRT_IDLE_STATE));
		json_bool(to->json, "has_frequency", virt_model_has_power(model, VIRT_FREQUENCY));
	}
	if (table_as_text(to) && !virt_model_has_power(model, VIRT_IDLE_STATE))
		out_printf(to->out, "  the trace has no idle states: record %s\n", states);
	if (table_as_text(to) && !virt_model_has_power(model, VIRT_FREQUENCY))
		out_printf(to->out, "  the trace has no frequency changes: record %s\n",
			   frequency);
}

const struct report_page report_power = {
	.table = &pcpus, .number = VIRT_N_NUMBERS, .rows = power_rows, .preface = preface,
};
