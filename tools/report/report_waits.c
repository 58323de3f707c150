// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_waits.c
 * @brief	kshark-virt report --waits: what vCPUs waited for, and who woke them.
 */
#include <errno.h>

#include "json_durations.h"
#include "report_delivery.h"
#include "report_page.h"
#include "report_unknown.h"
#include "text_columns.h"
#include "virt_waits.h"

static const char *cause_name(int cause)
{
	return virt_wake_cause_name((enum virt_wake_cause)cause);
}

/** Is there anything of it at all? */
static bool is_there(const struct virt_waited *waited)
{
	return waited->blocked.ns || waited->blocked.count || waited->blocked.before ||
	       waited->wakes;
}

/** How much is unknown is always shown. */
static bool is_shown(const struct virt_waited *waited, int cause)
{
	return cause == VIRT_WAKE_UNKNOWN || is_there(waited);
}

/** Wake-ups as lengths; states have how much of them lies in the window. */
static struct virt_stretches wakes_of(const struct virt_waited *waited)
{
	return (struct virt_stretches){
		.ns = waited->latency.ns, .count = waited->wakes, .whole = waited->latency,
	};
}

/** Lengths of a state, if the trace shows it. */
static struct table_cell state_cell(const struct report *report, enum virt_state state,
				    const struct virt_stretches *stretches, int64_t whole)
{
	return table_stretches(report_knows_state(report, state) ? stretches : NULL, whole);
}

/** Its name, with what else is known of it; "" for none. */
static const char *who_of(const struct report *report, const struct virt_wake *wake)
{
	return wake->who == VIRT_NONE ? "" : report_who(report, wake->who);
}

/* --- the tables ------------------------------------------------------------------------------ */

/** What a row has of a cause and of a waker. */
enum { SECTION = 0, CAUSE, WHO, VECTOR, BLOCKED, WAKING, N_CAUSE };

static const struct table_column subjects[] = {
	{ .key = "machine", .title = "" },
	{ .key = "vcpu", .not_json = true },
	{ .key = "blocked", .type = TABLE_STRETCHES, .not_csv = true },
	{ .key = "wake_latency", .type = TABLE_STRETCHES, .not_csv = true },
};

static const struct table_column of_vcpu[] = {
	{ .key = "machine", .not_json = true },
	{ .key = "vcpu", .title = "" },
	{ .key = "blocked", .type = TABLE_STRETCHES, .not_csv = true },
	{ .key = "wake_latency", .type = TABLE_STRETCHES, .not_csv = true },
};

static const struct table_column causes[N_CAUSE] = {
	[SECTION] = { .key = "section", .not_json = true },
	[CAUSE] = { .key = "cause", .title = "blocked until", .width = TEXT_NAME },
	[WHO] = { .key = "who", .not_json = true },
	[VECTOR] = { .key = "vector", .type = TABLE_COUNT, .not_json = true },
	[BLOCKED] = { .key = "blocked", .type = TABLE_STRETCHES, .title = "" },
	[WAKING] = { .key = "wake_latency", .type = TABLE_STRETCHES, .not_before = true },
};

/** Text has the wake-ups below. */
static const struct table_column waking_columns[] = {
	{ .title = "then waking", .width = TEXT_NAME },
	{ .type = TABLE_STRETCHES, .title = "" },
};

static const struct table_column wakers_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "vcpu", .title = "woken vCPU", .width = TEXT_NAME + 1 },
	{ .key = "cause", .title = "cause", .width = 10 },
	{ .title = "vector", .width = 28 },
	{ .key = "who", .title = "by", .width = 24 },
	{ .key = "vector", .type = TABLE_COUNT },
	{ .key = "name", .not_csv = true },
	{ .title = "waits", .type = TABLE_COUNT },
	{ .title = "blocked", .type = TABLE_NS },
	{ .title = "wake-ups", .type = TABLE_COUNT },
	{ .title = "", .type = TABLE_DURATIONS, .shown = TABLE_P50 | TABLE_P99 | TABLE_MAX },
	{ .key = "blocked", .type = TABLE_STRETCHES },
	{ .key = "wake_latency", .type = TABLE_STRETCHES, .not_before = true },
};

static const struct table_rows waking = { TABLE_COLUMNS(waking_columns) };
static const struct table_rows wakers = {
	.key = "wakers", TABLE_COLUMNS(wakers_columns), .apart = true,
};

static const struct table machines = {
	.groups = "machines", .group = subjects, .n_group = ARRAY_SIZE(subjects),
	.rows = { .key = "causes", TABLE_COLUMNS(causes) },
};

static const struct table vcpus = {
	.groups = "vcpus", .group = of_vcpu, .n_group = ARRAY_SIZE(of_vcpu),
	.rows = { .key = "causes", TABLE_COLUMNS(causes) },
};

/* --- what stands in them --------------------------------------------------------------------- */

static void waits_cause_row(struct table_writer *to, const struct report *report, const char *name,
			    const struct virt_waited *waited, int64_t all_ns)
{
	const struct virt_stretches wakes = wakes_of(waited);

	table_row(to, (const struct table_cell[N_CAUSE]){
		[SECTION] = table_name("cause"), [CAUSE] = table_name(name),
		[WHO] = table_absent(), [VECTOR] = table_absent(),
		[BLOCKED] = state_cell(report, VIRT_BLOCKED, &waited->blocked, all_ns),
		[WAKING] = state_cell(report, VIRT_WAKING, &wakes, 0),
	});
}

static void waits_cause_rows(struct table_writer *to, const struct report *report,
			     const struct virt_waits *waits)
{
	const struct virt_waited *all = &waits->all;

	if (table_is(to, TABLE_CSV))
		waits_cause_row(to, report, "all", all, 0);
	for (int cause = 0; cause < VIRT_N_WAKES; cause++) {
		const struct virt_waited *waited = &waits->causes[cause];

		if (is_shown(waited, cause) &&
		    (!table_as_text(to) || cause == VIRT_WAKE_UNKNOWN ||
		     waited->blocked.count || waited->blocked.before))
			waits_cause_row(to, report, cause_name(cause), waited, all->blocked.ns);
	}
	if (table_as_text(to) && (all->blocked.count || all->blocked.before))
		waits_cause_row(to, report, "all", all, 0);
}

static void waits_waking_rows(struct table_writer *to, const struct virt_waits *waits)
{
	table_rows(to, &waking);
	for (int cause = 0; cause < VIRT_N_WAKES; cause++) {
		const struct virt_stretches wakes = wakes_of(&waits->causes[cause]);

		if (wakes.count)
			table_row(to, (const struct table_cell[]){
				table_name(cause_name(cause)),
				table_stretches(&wakes, waits->all.latency.ns),
			});
	}
}

static void waits_waker_row(struct table_writer *to, const struct report *report,
			    const struct virt_waker *waker)
{
	const struct virt_wake *wake = &waker->wake;
	const struct virt_waited *waited = &waker->waited;
	const struct virt_stretches wakes = wakes_of(waited);
	bool by_vector = wake->vector != VIRT_NONE;
	const char *name = by_vector ? virt_vector_name(report->load->model, waker->vcpu,
							wake->vector) : NULL;
	char vector[64] = "";

	if (by_vector)
		report_vector(vector, sizeof(vector), report, waker->vcpu, wake->vector);
	table_row(to, (const struct table_cell[]){
		table_name("waker"), table_name(report_who(report, waker->vcpu)),
		table_name(cause_name(wake->cause)), table_name(vector),
		wake->who == VIRT_NONE ? table_absent() : table_name(who_of(report, wake)),
		table_optional(by_vector, wake->vector),
		name ? table_name(name) : table_absent(),
		table_number((int64_t)waited->blocked.count), table_number(waited->blocked.ns),
		table_number((int64_t)waited->wakes), table_durations(&waited->latency),
		table_stretches(&waited->blocked, 0), table_stretches(&wakes, 0),
	});
}

static int waits_vcpu_rows(struct table_writer *to, const struct report *report,
			   const struct virt_machine *machine, int32_t m);

/** One of the vCPUs of machine @m, or all of it: VIRT_NONE. Return: 0 or -ENOMEM. */
static int waits_subject_rows(struct table_writer *to, const struct report *report, int32_t m,
			      int32_t vcpu)
{
	const struct virt_model *model = report->load->model;
	const struct virt_machine *machine = virt_model_machine(model, m);
	struct virt_waits *waits = virt_waits_new(model, &report->query, m, vcpu);
	bool is_vcpu = vcpu != VIRT_NONE;
	int ret = 0;

	if (!waits)
		return -ENOMEM;
	const struct virt_stretches wakes = wakes_of(&waits->all);
	const struct table_cell cells[ARRAY_SIZE(subjects)] = {
		table_name(machine->name),
		is_vcpu ? table_name(virt_model_who(model, vcpu)) : table_absent(),
		state_cell(report, VIRT_BLOCKED, &waits->all.blocked, 0),
		state_cell(report, VIRT_WAKING, &wakes, 0),
	};

	table_group(to, cells);
	waits_cause_rows(to, report, waits);
	if (table_as_text(to))
		waits_waking_rows(to, waits);
	table_rows_end(to);
	if (!is_vcpu) {
		/* without wake-ups, their wakers are unknown */
		to->unknown = !report_knows(report, VIRT_NUMBER_WAKING);
		table_rows(to, &wakers);
	}
	for (size_t i = 0; i < waits->n_wakers && !is_vcpu; i++)
		waits_waker_row(to, report, &waits->wakers[i]);
	table_rows_end(to);
	to->unknown = false;
	/* one at a time, as very many need very much memory */
	virt_waits_free(waits);
	if (!is_vcpu)
		ret = waits_vcpu_rows(to, report, machine, m);
	table_group_end(to);
	return ret;
}

static int waits_vcpu_rows(struct table_writer *to, const struct report *report,
			   const struct virt_machine *machine, int32_t m)
{
	struct table_writer inside = table_inside(to, &vcpus);
	int ret = 0;

	for (int32_t i = 0; i < machine->n_vcpus && !ret; i++)
		if (virt_window_walk_wants(report->walk, machine->vcpus[i]))
			ret = waits_subject_rows(&inside, report, m, machine->vcpus[i]);
	table_end(&inside);
	return ret;
}

static int waits_rows(struct table_writer *to, const struct report *report)
{
	int ret = 0;

	for (int32_t m = 0; m < virt_model_n_machines(report->load->model) && !ret; m++)
		if (report_wants_machine(report, m))
			ret = waits_subject_rows(to, report, m, VIRT_NONE);
	return ret;
}

const struct report_page report_waits = {
	.table = &machines, .number = VIRT_N_NUMBERS, .rows = waits_rows, .with_guests = true,
};
