// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_handlers.c
 * @brief	kshark-virt report --handlers: the handlers that interrupted vCPUs on their pCPUs.
 */
#include <errno.h>
#include <stdlib.h>

#include "report_page.h"
#include "report_unknown.h"
#include "text_columns.h"
#include "virt_handlers.h"

/** Of kinds and names. */
#define KIND_WIDTH	8
#define NAME_WIDTH	28

static const struct table_column vcpus[] = {
	{ .key = "machine" },
	{ .key = "vcpu", .title = "" },
	{ .key = "hypervisor_ns", .type = TABLE_NS, .not_csv = true },
	{ .key = "vmm_ns", .type = TABLE_NS, .not_csv = true },
};

static const struct table_column handlers[] = {
	{ .key = "kind", .title = "interrupted by", .width = KIND_WIDTH },
	{ .key = "name", .title = "", .width = NAME_WIDTH },
	{ .key = "count", .type = TABLE_COUNT, .title = "count" },
	{ .key = "total_ns", .type = TABLE_NS, .title = "total" },
	{ .key = "max_ns", .type = TABLE_NS, .title = "max" },
	{ .key = "hypervisor_ns", .type = TABLE_NS, .title = "hypervisor" },
	{ .key = "vmm_ns", .type = TABLE_NS, .title = "vmm" },
	{ .key = "other_ns", .type = TABLE_NS, .title = "other" },
};

static const struct table table = {
	.groups = "vcpus", .group = vcpus, .n_group = ARRAY_SIZE(vcpus),
	.rows = {
		.key = "handlers", TABLE_COLUMNS(handlers),
		.none = "  the trace shows no handler in its time\n",
	},
};

/** What part of the vCPU's time in each state handlers took. */
static void put_shares(struct output *out, int64_t hypervisor_ns, int64_t vmm_ns,
		       const struct virt_totals *totals)
{
	out_str(out, "  ");
	out_text_left(out, "of its time in this state",
		      KIND_WIDTH + NAME_WIDTH + 3 * TEXT_NUMBER);
	text_share(out, hypervisor_ns, totals->ns[VIRT_HYPERVISOR], TEXT_NUMBER);
	text_share(out, vmm_ns, totals->ns[VIRT_VMM], TEXT_NUMBER);
	out_char(out, '\n');
}

/** Time in a state; unknown if the trace does not show that state, or only a part of it. */
static struct table_cell time_in(const struct report *report, enum virt_state state, int64_t ns)
{
	bool known = report_knows_state(report, state) && !report_is_unsplit(report);

	return table_number(known ? ns : VIRT_NONE);
}

static void handlers_row(struct table_writer *to, const struct report *report,
			 const struct virt_handled *handled)
{
	const struct virt_handler *handler = virt_model_handler(report->load->model,
								handled->handler);

	table_row(to, (const struct table_cell[]){
		table_name(virt_handler_kind_name((enum virt_handler_kind)handler->kind)),
		table_name(handler->name), table_number((int64_t)handled->count),
		table_number(handled->hypervisor_ns + handled->vmm_ns + handled->other_ns),
		table_number(handled->max_ns),
		time_in(report, VIRT_HYPERVISOR, handled->hypervisor_ns),
		time_in(report, VIRT_VMM, handled->vmm_ns),
		/* the time in neither state: known if their sum is */
		time_in(report, VIRT_HYPERVISOR, handled->other_ns),
	});
}

static int handlers_vcpu_rows(struct table_writer *to, const struct report *report,
			      const struct virt_machine *machine, int32_t vcpu, void *arg)
{
	const struct virt_model *model = report->load->model;
	int64_t hypervisor_ns = 0, vmm_ns = 0;
	struct virt_totals totals;
	size_t n;
	struct virt_handled *handled = virt_handled_new(model, vcpu, report->from_ns,
							report->to_ns, &n);

	(void)arg;
	if (!handled)
		return -ENOMEM;
	virt_vcpu_totals(model, vcpu, report->from_ns, report->to_ns, &totals);
	const struct table_cell cells[] = {
		table_name(machine->name), table_name(virt_model_who(model, vcpu)),
		time_in(report, VIRT_HYPERVISOR, totals.ns[VIRT_HYPERVISOR]),
		time_in(report, VIRT_VMM, totals.ns[VIRT_VMM]),
	};

	table_group(to, cells);
	for (size_t i = 0; i < n; i++) {
		handlers_row(to, report, &handled[i]);
		hypervisor_ns += handled[i].hypervisor_ns;
		vmm_ns += handled[i].vmm_ns;
	}
	table_group_end(to);
	if (n && !to->unknown && table_as_text(to))
		put_shares(table_as_text(to), hypervisor_ns, vmm_ns, &totals);
	free(handled);
	return 0;
}

static int handlers_rows(struct table_writer *to, const struct report *report)
{
	return report_each_vcpu(report, to, handlers_vcpu_rows, NULL);
}

const struct report_page report_handlers = {
	.table = &table, .number = VIRT_NUMBER_HANDLERS, .rows = handlers_rows,
};
