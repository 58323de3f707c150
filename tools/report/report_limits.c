// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_limits.c
 * @brief	Write how long machines were held by their own limits: CPU quotas in the recording,
 *		by the sidecar of a KVM host; caps and budgets of Xen's schedulers in the window.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "kvm_trace.h"
#include "report_parts.h"
#include "text_columns.h"
#include "virt_limits.h"
#include "virt_span.h"

/** The cgroups of a machine at a time. */
struct limits {
	const struct report	*report;
	const struct kvm_meta	*meta;
	const struct virt_machine *machine;
	int			*seen;	/* by number of the cgroup: its last machine, */
	int			n;	/* by number, from 1 on */
};

/** Return: false if the sidecar has no cgroups of machines. */
static bool limits_init(struct limits *limits, const struct report *report)
{
	const struct kvm_trace *trace = report->load->host.kvm;
	const struct kvm_meta *meta = trace ? kvm_trace_meta(trace) : NULL;

	*limits = (struct limits){ .report = report, .meta = meta };
	if (meta && meta->n_cgroups)
		limits->seen = calloc((size_t)meta->n_cgroups + 1, sizeof(*limits->seen));
	return limits->seen;
}

/** A vCPU, as the sidecar has it; or NULL. */
static const struct kvm_meta_vcpu *vcpu_of(const struct limits *limits, int32_t vcpu)
{
	const struct virt_vcpu *info = virt_model_vcpu(limits->report->load->model, vcpu);

	return kvm_meta_find(limits->meta, info->host_pid, NULL);
}

static bool knows_all(const struct limits *limits)
{
	for (int32_t i = 0; i < limits->machine->n_vcpus; i++)
		if (!kvm_meta_knows_quotas(limits->meta,
					   vcpu_of(limits, limits->machine->vcpus[i])))
			return false;
	return limits->machine->n_vcpus;
}

/** Find the cgroups of the next machine's vCPUs, and those above them. */
static void take_machine(struct limits *limits)
{
	limits->machine = virt_model_machine(limits->report->load->model, limits->n++);
	for (int32_t i = 0; i < limits->machine->n_vcpus; i++) {
		const struct kvm_meta_vcpu *vcpu = vcpu_of(limits, limits->machine->vcpus[i]);
		int at = vcpu ? vcpu->cgroup : 0;

		while (at && limits->seen[at] != limits->n) {
			limits->seen[at] = limits->n;
			at = limits->meta->cgroups[at - 1].above;
		}
	}
}

/** The next cgroup with a quota that holds the machine, after number @i; or 0. */
static int next_quota(const struct limits *limits, int i)
{
	const struct kvm_meta_cgroup *cgroups = limits->meta->cgroups;

	for (i++; i <= limits->meta->n_cgroups; i++)
		if (limits->seen[i] == limits->n && kvm_meta_has_quota(&cgroups[i - 1]))
			return i;
	return 0;
}

/* --- in the window --------------------------------------------------------------------------- */

/** What the limits of a machine held of its vCPUs in the window. */
static struct virt_held held_of(const struct report *report, const struct virt_machine *machine)
{
	struct virt_held all = { 0 };

	for (int32_t i = 0; i < machine->n_vcpus; i++) {
		struct virt_held one = virt_vcpu_held(report->load->model, machine->vcpus[i],
						      report->from_ns, report->to_ns);

		virt_add_ns(&all.ns, one.ns);
		virt_add_ns(&all.possible_ns, one.possible_ns);
		all.count += one.count;
	}
	return all;
}

enum { WHO, TIME, TIMES, POSSIBLE, N_HELD };

static const struct table_column held_columns[N_HELD] = {
	[WHO] = { .title = "held by its own limit", .width = TEXT_NAME },
	[TIME] = { .title = "held for", .type = TABLE_NS },
	[TIMES] = { .title = "times", .type = TABLE_COUNT },
	[POSSIBLE] = { .title = "or up to", .type = TABLE_NS },
};

static const struct table held_table = { .rows = { TABLE_COLUMNS(held_columns), .apart = true } };

static void held_text(struct output *out, const struct report *report)
{
	struct table_writer to = { .table = &held_table, .format = &table_text, .out = out };
	const struct virt_model *model = report->load->model;
	bool any = false;

	for (int32_t i = 0; i < virt_model_n_machines(model); i++) {
		const struct virt_machine *machine = virt_model_machine(model, i);
		struct virt_held held = held_of(report, machine);

		if (!held.ns && !held.possible_ns)
			continue;
		if (!any)
			table_flat(&to, true);
		any = true;
		table_row(&to, (const struct table_cell[N_HELD]){
			[WHO] = table_name(machine->name), [TIME] = table_number(held.ns),
			[TIMES] = table_number((int64_t)held.count),
			[POSSIBLE] = held.possible_ns ?
				     table_number(held.ns + held.possible_ns) :
				     (struct table_cell){ .instead = "" },
		});
	}
	if (any)
		table_flat_end(&to);
}

static void held_facts(struct facts *to, const struct report *report)
{
	const struct virt_model *model = report->load->model;

	facts_open(to, "limits", '[', false);
	for (int32_t i = 0; i < virt_model_n_machines(model); i++) {
		struct virt_held held = held_of(report, virt_model_machine(model, i));

		to->machine = virt_model_machine(model, i)->name;
		facts_open(to, NULL, '{', true);
		facts_name(to, "machine", to->machine);
		facts_ns(to, FACT("held_ns", "limit", "scheduler"), held.ns);
		facts_number(to, "held", (int64_t)held.count);
		facts_close(to, '}');
	}
	to->machine = NULL;
	facts_close(to, ']');
}

/* --- text ------------------------------------------------------------------------------------ */

enum { NAME, QUOTA, HELD, PERIODS, CGROUP, N_COLUMNS };

static const struct table_column limit_columns[N_COLUMNS] = {
	[NAME] = { .title = "CPU quota", .width = TEXT_NAME },
	[QUOTA] = { .title = "of a CPU", .type = TABLE_COUNT },
	[HELD] = { .title = "held for", .type = TABLE_NS },
	[PERIODS] = { .title = "in periods", .type = TABLE_COUNT, .width = 16 },
	[CGROUP] = { .title = "  of the whole recording; cgroup" },
};

static const struct table limits_table = {
	.rows = { TABLE_COLUMNS(limit_columns), .apart = true },
};

static void quota_text(char *text, size_t size, const struct kvm_meta_cgroup *cgroup)
{
	const struct cpu_quota *quota = cgroup->has_begin ? &cgroup->begin : &cgroup->end;
	bool changed = cgroup->has_begin && cgroup->has_end &&
		       (cgroup->begin.quota_us != cgroup->end.quota_us ||
			cgroup->begin.period_us != cgroup->end.period_us);

	snprintf(text, size, "none");
	if (changed)
		snprintf(text, size, "changed");
	else if (quota->quota_us != CPU_NO_QUOTA && quota->period_us > 0)
		snprintf(text, size, "%.1f %%",
			 100 * (double)quota->quota_us / (double)quota->period_us);
}

static void limit_row(struct table_writer *to, const char *machine,
		      const struct kvm_meta_cgroup *cgroup)
{
	char quota[32], periods[48] = "-", path[512];
	struct cpu_quota held;
	bool is_known = kvm_meta_held(cgroup, &held);

	quota_text(quota, sizeof(quota), cgroup);
	snprintf(path, sizeof(path), "  %s", cgroup->path);
	if (is_known)
		snprintf(periods, sizeof(periods), "%lld of %lld", (long long)held.throttled,
			 (long long)held.periods);
	table_row(to, (const struct table_cell[N_COLUMNS]){
		[NAME] = table_name(machine), [CGROUP] = table_name(path),
		[QUOTA] = { .instead = quota },
		[HELD] = is_known ? table_number(1000 * held.throttled_us) : table_unknown(),
		[PERIODS] = { .instead = periods },
	});
}

/** The quotas of a machine; that it has none, or that this is unknown. */
static void machine_rows(struct table_writer *to, const struct limits *limits)
{
	const char *name = limits->machine->name;
	int first = next_quota(limits, 0);

	for (int i = first; i; i = next_quota(limits, i))
		limit_row(to, name, &limits->meta->cgroups[i - 1]);
	if (!first)
		table_row(to, (const struct table_cell[N_COLUMNS]){
			[NAME] = table_name(name),
			[QUOTA] = { .instead = knows_all(limits) ? "none" : "-" },
			[HELD] = { .instead = "" }, [PERIODS] = { .instead = "" },
			[CGROUP] = table_name(""),
		});
}

void report_limits_text(struct output *out, const struct report *report)
{
	struct table_writer to = { .table = &limits_table, .format = &table_text, .out = out };
	struct limits limits;

	if (virt_model_knows_holds(report->load->model))
		held_text(out, report);
	if (!limits_init(&limits, report))
		return;
	table_flat(&to, true);
	while (limits.n < virt_model_n_machines(report->load->model)) {
		take_machine(&limits);
		machine_rows(&to, &limits);
	}
	table_flat_end(&to);
	free(limits.seen);
}

/* --- facts ----------------------------------------------------------------------------------- */

/** Members of a quota when the recording began or ended. */
static void quota_facts(struct facts *to, const char *key, bool is_known,
			const struct cpu_quota *quota)
{
	if (!is_known) {
		facts_null(to, key);
		return;
	}
	facts_open(to, key, '{', true);
	to->unknown = quota->quota_us == CPU_NO_QUOTA;
	facts_number(to, "quota_us", quota->quota_us);
	to->unknown = false;
	facts_number(to, "period_us", quota->period_us);
	facts_close(to, '}');
}

static void limit_facts(struct facts *to, const struct kvm_meta_cgroup *cgroup)
{
	struct cpu_quota held;

	to->unknown = !kvm_meta_held(cgroup, &held);
	if (to->unknown)
		held = (struct cpu_quota){ 0 };
	facts_open(to, NULL, '{', false);
	facts_name(to, "cgroup", cgroup->path);
	facts_number(to, "periods", held.periods);
	facts_number(to, "throttled", held.throttled);
	facts_ns(to, FACT("throttled_ns", "limit", cgroup->path), 1000 * held.throttled_us);
	to->unknown = false;
	quota_facts(to, "begin", cgroup->has_begin, &cgroup->begin);
	quota_facts(to, "end", cgroup->has_end, &cgroup->end);
	facts_close(to, '}');
}

static void machine_facts(struct facts *to, const struct limits *limits)
{
	struct virt_held held = held_of(limits->report, limits->machine);

	to->machine = limits->machine->name;
	facts_open(to, NULL, '{', false);
	facts_name(to, "machine", to->machine);
	to->unknown = !virt_model_knows_holds(limits->report->load->model);
	facts_ns(to, FACT("held_ns", "limit", "in the window"), held.ns);
	facts_number(to, "held", (int64_t)held.count);
	facts_ns(to, FACT("possible_ns", "limit", "possible in the window"), held.possible_ns);
	to->unknown = false;
	facts_flag(to, "is_known", knows_all(limits));
	facts_open(to, "quotas", '[', false);
	for (int i = next_quota(limits, 0); i; i = next_quota(limits, i))
		limit_facts(to, &limits->meta->cgroups[i - 1]);
	facts_close(to, ']');
	facts_close(to, '}');
	to->machine = NULL;
}

void report_limits_facts(struct facts *to, const struct report *report)
{
	struct limits limits;

	if (!limits_init(&limits, report)) {
		if (virt_model_knows_holds(report->load->model))
			held_facts(to, report);
		else
			facts_null(to, "limits");
		return;
	}
	facts_open(to, "limits", '[', false);
	while (limits.n < virt_model_n_machines(report->load->model)) {
		take_machine(&limits);
		machine_facts(to, &limits);
	}
	facts_close(to, ']');
	free(limits.seen);
}
