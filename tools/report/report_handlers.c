// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_handlers.c
 * @brief	kshark-virt report --handlers: what interrupted vCPUs on their pCPUs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report_page.h"
#include "report_text.h"
#include "virt_handlers.h"

/** Of names, in the table. */
#define NAME_WIDTH	36

/** A vCPU, and what interrupted it. */
struct interrupted {
	int32_t			vcpu;
	const char		*machine, *name;
	const struct virt_handled *handled;
	size_t			n;
	int64_t			hypervisor_ns, vmm_ns;	/* of all of them */
	struct virt_totals	totals;			/* of the vCPU */
};

static const struct virt_handler *handler_of(const struct report *report,
					     const struct virt_handled *handled)
{
	return virt_model_handler(report->load->model, handled->handler);
}

static const char *kind_of(const struct virt_handler *handler)
{
	return virt_handler_kind_name((enum virt_handler_kind)handler->kind);
}

/** Each vCPU that is wanted, machine by machine. Return: 0 or -ENOMEM. */
static int each_vcpu(const struct report *report,
		     void (*tell)(void *arg, const struct report *report,
				  const struct interrupted *interrupted), void *arg)
{
	const struct virt_model *model = report->load->model;

	for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		for (int32_t i = 0; i < machine->n_vcpus; i++) {
			struct interrupted interrupted = {
				.vcpu = machine->vcpus[i], .machine = machine->name,
				.name = virt_model_who(model, machine->vcpus[i]),
			};
			struct virt_handled *handled;

			if (!virt_window_walk_wants(report->walk, interrupted.vcpu))
				continue;
			handled = virt_handled_new(model, interrupted.vcpu, report->from_ns,
						   report->to_ns, &interrupted.n);
			if (!handled)
				return -ENOMEM;
			interrupted.handled = handled;
			virt_vcpu_totals(model, interrupted.vcpu, report->from_ns, report->to_ns,
					 &interrupted.totals);
			for (size_t k = 0; k < interrupted.n; k++) {
				interrupted.hypervisor_ns += handled[k].hypervisor_ns;
				interrupted.vmm_ns += handled[k].vmm_ns;
			}
			tell(arg, report, &interrupted);
			free(handled);
		}
	}
	return 0;
}

/* --- text ------------------------------------------------------------------------------------ */

static void text_handler(struct output *out, const struct report *report,
			 const struct virt_handled *handled)
{
	const struct virt_handler *handler = handler_of(report, handled);

	out_str(out, "  ");
	out_text_left(out, kind_of(handler), 8);
	out_text_left(out, handler->name, NAME_WIDTH - 8);
	text_count(out, handled->count);
	text_duration(out, handled->hypervisor_ns + handled->vmm_ns + handled->other_ns);
	text_duration(out, handled->max_ns);
	text_duration(out, handled->hypervisor_ns);
	text_duration(out, handled->vmm_ns);
	text_duration(out, handled->other_ns);
	out_char(out, '\n');
}

static void text_vcpu(void *arg, const struct report *report,
		      const struct interrupted *interrupted)
{
	static const char *const columns[] = {
		"count", "total", "max", "hypervisor", "vmm", "other",
	};
	struct output *out = arg;

	out_str(out, "\n  ");
	out_text(out, interrupted->name);
	out_char(out, '\n');
	if (!interrupted->n) {
		out_str(out, "  the trace tells of no handler on its time\n");
		return;
	}
	out_str(out, "  ");
	out_text_left(out, "interrupted by", NAME_WIDTH);
	text_columns(out, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < interrupted->n; i++)
		text_handler(out, report, &interrupted->handled[i]);
	out_str(out, "  ");
	out_text_left(out, "of its time in this state", NAME_WIDTH + 3 * TEXT_NUMBER);
	text_share(out, interrupted->hypervisor_ns, interrupted->totals.ns[VIRT_HYPERVISOR],
		   TEXT_NUMBER);
	text_share(out, interrupted->vmm_ns, interrupted->totals.ns[VIRT_VMM], TEXT_NUMBER);
	out_char(out, '\n');
}

static int page_text(struct output *out, const struct report *report, bool first)
{
	report_page_head(out, report, first);
	return each_vcpu(report, text_vcpu, out);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_vcpu(void *arg, const struct report *report,
		      const struct interrupted *interrupted)
{
	struct json *json = arg;

	json_open(json, NULL, '{', false);
	json_str(json, "machine", interrupted->machine);
	json_str(json, "name", interrupted->name);
	json_i64(json, "hypervisor_ns", interrupted->totals.ns[VIRT_HYPERVISOR]);
	json_i64(json, "vmm_ns", interrupted->totals.ns[VIRT_VMM]);
	json_open(json, "handlers", '[', false);
	for (size_t i = 0; i < interrupted->n; i++) {
		const struct virt_handled *handled = &interrupted->handled[i];
		const struct virt_handler *handler = handler_of(report, handled);

		json_open(json, NULL, '{', true);
		json_str(json, "kind", kind_of(handler));
		json_str(json, "name", handler->name);
		json_u64(json, "count", handled->count);
		json_i64(json, "ns", handled->hypervisor_ns + handled->vmm_ns +
			 handled->other_ns);
		json_i64(json, "max", handled->max_ns);
		json_i64(json, "hypervisor_ns", handled->hypervisor_ns);
		json_i64(json, "vmm_ns", handled->vmm_ns);
		json_i64(json, "other_ns", handled->other_ns);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

static int page_json(struct output *out, const struct report *report, bool first)
{
	struct json json;
	int ret;

	(void)first;
	report_page_begin(&json, out, report);
	json_open(&json, "vcpus", '[', false);
	ret = each_vcpu(report, json_vcpu, &json);
	json_close(&json, ']');
	report_page_end(&json);
	return ret;
}

/* --- CSV ------------------------------------------------------------------------------------- */

static void csv_vcpu(void *arg, const struct report *report,
		     const struct interrupted *interrupted)
{
	struct output *out = arg;

	for (size_t i = 0; i < interrupted->n; i++) {
		const struct virt_handled *handled = &interrupted->handled[i];
		const struct virt_handler *handler = handler_of(report, handled);
		const int64_t numbers[] = {
			handled->hypervisor_ns + handled->vmm_ns + handled->other_ns,
			handled->max_ns, handled->hypervisor_ns, handled->vmm_ns,
			handled->other_ns,
		};

		report_csv_text(out, report->file);
		report_csv_text(out, interrupted->machine);
		report_csv_text(out, interrupted->name);
		report_csv_text(out, kind_of(handler));
		report_csv_text(out, handler->name);
		out_u64(out, handled->count);
		for (size_t k = 0; k < ARRAY_SIZE(numbers); k++) {
			out_char(out, ',');
			out_i64(out, numbers[k]);
		}
		out_char(out, '\n');
	}
}

static int page_csv(struct output *out, const struct report *report, bool first)
{
	if (first)
		out_str(out, "file,machine,vcpu,kind,name,count,ns,max,hypervisor_ns,vmm_ns,"
			"other_ns\n");
	return each_vcpu(report, csv_vcpu, out);
}

const struct report_page report_handlers = {
	.text = page_text, .json = page_json, .csv = page_csv,
};
