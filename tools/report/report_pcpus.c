// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_pcpus.c
 * @brief	The activity of the pCPUs.
 */
#include <stdio.h>
#include <string.h>

#include "report_parts.h"
#include "report_section.h"
#include "report_unknown.h"
#include "table.h"
#include "text_columns.h"

/** Whatever a vCPU does on a pCPU counts as busy, if it is known what that is. */
static bool knows_busy(const struct report *report)
{
	return report_knows(report, VIRT_NUMBER_RUNS) && report_knows_state(report, VIRT_GUEST);
}

/** Xen's interrupts are records of their own; KVM's host has a page for them. */
static bool knows_interrupts(const struct report *report, int pcpu)
{
	return pcpu < report->count->n_pcpus &&
	       virt_model_has_recorded(report->load->model, VIRT_RECORD_HANDLER);
}

/* --- text ------------------------------------------------------------------------------------ */

enum {
	NAME = 0, BUSY, GUEST, HYPERVISOR, POLLING, VMM, TASKS, IDLE, UNKNOWN, LOST, INTERRUPTS,
	N_COLUMNS
};

static const struct table_column all_columns[N_COLUMNS] = {
	[NAME] = { .title = "pCPU", .width = TEXT_NAME },
	[BUSY] = { .title = "busy", .type = TABLE_NS },
	[GUEST] = { .title = "guest", .type = TABLE_NS },
	[HYPERVISOR] = { .title = "hypervisor", .type = TABLE_NS },
	[POLLING] = { .title = "polling", .type = TABLE_NS },
	[VMM] = { .title = "vmm", .type = TABLE_NS },
	[TASKS] = { .title = "other tasks", .type = TABLE_NS },
	[IDLE] = { .title = "idle", .type = TABLE_NS },
	[UNKNOWN] = { .title = "unknown", .type = TABLE_NS },
	[LOST] = { .title = "lost", .type = TABLE_NS },
	[INTERRUPTS] = { .title = "interrupts", .type = TABLE_COUNT },
};

/** Few traces show polling: no column without any. */
static bool has_polling(const struct report *report)
{
	for (int pcpu = 0; pcpu < report->n_pcpus; pcpu++)
		if (report_pcpu(report, pcpu)->totals.state_ns[VIRT_POLLING])
			return true;
	return false;
}

/** Without the columns that this hypervisor's traces cannot fill. */
static void choose_columns(struct table_column columns[N_COLUMNS], const struct report *report)
{
	static const int of_kvm[] = { POLLING, VMM, TASKS }, of_xen[] = { BUSY, INTERRUPTS };

	memcpy(columns, all_columns, sizeof(all_columns));
	for (size_t i = 0; i < ARRAY_SIZE(of_kvm) && !report->kvm; i++)
		columns[of_kvm[i]].title = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(of_xen) && report->kvm; i++)
		columns[of_xen[i]].title = NULL;
	if (!has_polling(report))
		columns[POLLING].title = NULL;
	if (report->kvm && report_is_unsplit(report))
		columns[NAME].title = "pCPU, not split";
}

static struct table_cell number_cell(bool is_known, int64_t number)
{
	return is_known ? table_number(number) : table_unknown();
}

static struct table_cell state_cell(const struct report *report, enum virt_state state, int pcpu)
{
	return number_cell(report_knows_state(report, state),
			   report_pcpu(report, pcpu)->totals.state_ns[state]);
}

static void pcpu_row(struct table_writer *to, const struct report *report, int pcpu)
{
	const struct virt_pcpu_totals *totals = &report_pcpu(report, pcpu)->totals;
	bool interrupts = knows_interrupts(report, pcpu);
	bool tasks = report_knows(report, VIRT_NUMBER_TASKS);
	char name[16];

	snprintf(name, sizeof(name), "p%d", pcpu);
	table_row(to, (const struct table_cell[N_COLUMNS]){
		[NAME] = table_name(name),
		[BUSY] = number_cell(knows_busy(report), report_busy_ns(totals)),
		[GUEST] = state_cell(report, VIRT_GUEST, pcpu),
		[HYPERVISOR] = state_cell(report, VIRT_HYPERVISOR, pcpu),
		[POLLING] = state_cell(report, VIRT_POLLING, pcpu),
		[VMM] = state_cell(report, VIRT_VMM, pcpu),
		[TASKS] = number_cell(tasks, totals->task_ns),
		[IDLE] = number_cell(tasks, totals->idle_ns),
		[UNKNOWN] = table_number(totals->unknown_ns),
		[LOST] = table_number(report_pcpu(report, pcpu)->lost_ns),
		[INTERRUPTS] = number_cell(interrupts, interrupts ? (int64_t)
					   report->count->pcpus[pcpu].interrupts : 0),
	});
}

static void text(struct output *out, const struct report *report)
{
	struct table_column columns[N_COLUMNS];
	const struct table table = {
		.rows = { TABLE_COLUMNS(columns), .apart = true, .titled = true },
	};
	struct table_writer to = { .table = &table, .format = &table_text, .out = out };

	choose_columns(columns, report);
	table_flat(&to, true);
	for (int pcpu = 0; pcpu < report->n_pcpus; pcpu++)
		pcpu_row(&to, report, pcpu);
	table_flat_end(&to);
}

/* --- facts ----------------------------------------------------------------------------------- */

static void pcpu_known_facts(struct facts *to, const struct report *report, enum virt_number number,
			     const char *key, const char *name, int64_t ns)
{
	to->unknown = !report_knows(report, number);
	facts_ns(to, FACT(key, "pcpu", name), ns);
	to->unknown = false;
}

static void pcpu_state_facts(struct facts *to, const struct report *report, enum virt_state state,
			     const struct virt_pcpu_totals *totals)
{
	unsigned int in = virt_model_includes(report->load->model, state);
	char key[32], names[VIRT_STATE_NAMES];

	snprintf(key, sizeof(key), "%s_ns", virt_state_name(state));
	to->unknown = !report_knows_state(report, state);
	facts_ns(to, FACT(key, "pcpu", virt_state_name(state)), totals->state_ns[state]);
	to->unknown = false;
	if (in) {
		snprintf(key, sizeof(key), "%s_includes", virt_state_name(state));
		facts_name(to, key, virt_state_names(in, "+", names, sizeof(names)));
	}
}

static void pcpu_time_facts(struct facts *to, const struct report *report, int pcpu)
{
	const struct virt_window_pcpu *window = report_pcpu(report, pcpu);
	const struct virt_pcpu_totals *totals = &window->totals;

	to->unknown = !knows_busy(report);
	facts_ns(to, FACT("busy_ns", "pcpu", "busy"), report_busy_ns(totals));
	to->unknown = false;
	for (int state = 0; state < VIRT_N_PCPU_STATES; state++)
		pcpu_state_facts(to, report, (enum virt_state)state, totals);
	if (report_is_unsplit(report))
		facts_ns(to, FACT("unsplit_ns", "pcpu", "unsplit"),
			 totals->state_ns[VIRT_HYPERVISOR] + totals->state_ns[VIRT_VMM]);
	if (report->kvm)
		pcpu_known_facts(to, report, VIRT_NUMBER_TASKS, "task_ns", "tasks",
				 totals->task_ns);
	pcpu_known_facts(to, report, VIRT_NUMBER_TASKS, "idle_ns", "idle", totals->idle_ns);
	facts_ns(to, FACT("unknown_ns", "pcpu", "unknown"), totals->unknown_ns);
	facts_ns(to, FACT("lost_ns", "pcpu", "lost"), window->lost_ns);
}

/** In CSV, pCPUs take the column of the vCPU: "p0". */
static void pcpu_facts(struct facts *to, const struct report *report, int pcpu)
{
	char name[16];

	snprintf(name, sizeof(name), "p%d", pcpu);
	to->vcpu = name;
	facts_open(to, NULL, '{', true);
	facts_number(to, "pcpu", pcpu);
	pcpu_time_facts(to, report, pcpu);
	to->unknown = !knows_interrupts(report, pcpu);
	if (!report->kvm)
		facts_count(to, FACT("interrupts", "pcpu", "interrupts"),
			    to->unknown ? 0 : report->count->pcpus[pcpu].interrupts);
	to->unknown = false;
	facts_close(to, '}');
	if (pcpu < report->count->n_pcpus) {
		facts_count(to, FACT_CSV("pcpu", "lost_records"),
			    virt_model_count_losses(report->load->model, pcpu, report->from_ns,
						    report->to_ns).records);
		report_volume_facts(to, report, pcpu);
	}
	to->vcpu = NULL;
}

/** Has a pCPU no record in the window, so that all of it is unknown? */
static bool is_blank(const struct report *report, int pcpu)
{
	const struct virt_window_pcpu *window = report_pcpu(report, pcpu);
	int64_t known_ns = report_busy_ns(&window->totals) + window->totals.task_ns +
			   window->totals.idle_ns;

	for (int class = 0; pcpu < report->count->n_pcpus &&
			    report_count_class(report->count, class); class++)
		if (report->count->pcpus[pcpu].volume[class].records)
			return false;
	return !known_ns && !window->lost_ns;
}

/** In a page, more pCPUs than that without a record are one row. */
#define MOST_BLANK	64

static int count_blank(const struct report *report)
{
	int n = 0;

	for (int pcpu = 0; pcpu < report->n_pcpus; pcpu++)
		n += is_blank(report, pcpu);
	return n;
}

/** A row of @n pCPUs together. */
static void blank_facts(struct facts *to, int n, int64_t ns)
{
	char name[32];

	snprintf(name, sizeof(name), "%d without records", n);
	to->vcpu = name;
	facts_ns(to, FACT_CSV("pcpu", "unknown"), ns);
	to->vcpu = NULL;
}

/** A page keeps its tables in memory. */
static void pcpus_facts(struct facts *to, const struct report *report)
{
	bool sums_up = to->html && count_blank(report) > MOST_BLANK;
	int64_t blank_ns = 0;
	int n_blank = 0;

	facts_open(to, "pcpus", '[', false);
	for (int pcpu = 0; pcpu < report->n_pcpus; pcpu++) {
		if (!sums_up || !is_blank(report, pcpu)) {
			pcpu_facts(to, report, pcpu);
			continue;
		}
		n_blank++;
		if (__builtin_add_overflow(blank_ns, report_pcpu(report, pcpu)->totals.unknown_ns,
					   &blank_ns))
			blank_ns = INT64_MAX;
	}
	facts_close(to, ']');
	if (n_blank)
		blank_facts(to, n_blank, blank_ns);
}

const struct report_section report_pcpus = { .text = text, .facts = pcpus_facts };
