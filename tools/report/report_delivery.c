// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_delivery.c
 * @brief	kshark-virt report: interrupts, from their injection to the guest's handler.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report_section.h"
#include "table.h"

static int build_vcpu(struct report_delivery *delivery, const struct report *report,
		      int32_t number, const struct report_guest *guest,
		      const struct report_guest_cpu *cpu, struct virt_devices *devices)
{
	struct report_delivery_vcpu *vcpu = &delivery->vcpus[delivery->n_vcpus];
	size_t n = 0;
	struct virt_delivery *deliveries = irq_deliveries(report->load->model,
							  &delivery->injections, &cpu->seen, &n);
	size_t begin = delivery->irqs.n;
	ssize_t rows;
	int ret = deliveries ? 0 : -ENOMEM;

	if (!ret && n)
		ret = irq_list_add(&delivery->irqs, number, deliveries, n);
	if (!ret)
		ret = irq_deliveries_devices(deliveries, n, &cpu->seen, guest->trace, devices);
	free(deliveries);
	if (ret || !n)
		return ret;
	*vcpu = (struct report_delivery_vcpu){
		.vcpu = number, .cpu = (int)(cpu - guest->cpus), .guest = guest,
	};
	rows = virt_delivered_new(&delivery->irqs.all[begin], n, report->from_ns, report->to_ns,
				  &vcpu->rows);
	if (rows < 0)
		return (int)rows;
	vcpu->n = (size_t)rows;
	delivery->n_vcpus++;
	return 0;
}

/** All vCPUs, each machine's together and in the order of their numbers. NULL without memory. */
static int32_t *vcpus_in_order(const struct virt_model *model)
{
	int32_t *order = malloc(((size_t)virt_model_n_vcpus(model) + 1) * sizeof(*order));
	int32_t n = 0;

	for (int32_t m = 0; order && m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		for (int32_t i = 0; i < machine->n_vcpus; i++)
			order[n++] = machine->vcpus[i];
	}
	return order;
}

int report_delivery_build(struct report_delivery *delivery, const struct report *report,
			  const struct ksv_vcpu_set *vcpus)
{
	static const char *const missing[] = {
		"no aligned trace of the guest is given after that of its host",
		"nothing is known of the vCPUs that are the guest's CPUs",
		"the guest's clock is not aligned with the host's, or it is paired with the wrong "
		"vCPUs: let kshark-virt align --write do that",
		"the host's trace has no injections into these vCPUs: record it with -e kvm, or "
		"of Xen the class hvm, and without AVIC or APICv, with which the processor "
		"delivers interrupts on its own",
	};
	struct virt_model *model = report->load->model;
	struct virt_devices *devices = virt_devices_new();
	int32_t n = virt_model_n_vcpus(model), *order = vcpus_in_order(model);
	int known = 0, aligned = 0, ret = delivery->injections.error;

	delivery->vcpus = calloc((size_t)n + 1, sizeof(*delivery->vcpus));
	if (!delivery->vcpus || !order || !devices)
		ret = -ENOMEM;
	irq_injections_sort(&delivery->injections);
	for (int32_t i = 0; i < n && !ret; i++) {
		const struct report_guest *guest = NULL;
		const struct report_guest_cpu *cpu = report_kvm_find(report->guests, order[i],
								     &guest);

		if (!cpu || !report_wants_vcpu(report, order[i], vcpus))
			continue;
		known++;
		if (!irq_guest_cpu_is_aligned(&cpu->seen))
			continue;
		aligned++;
		ret = build_vcpu(delivery, report, order[i], guest, cpu, devices);
	}
	virt_model_set_devices(model, devices);
	free(order);
	delivery->missing = !report->load->n_guests ? missing[0] : !known ? missing[1] :
			    !aligned ? missing[2] : !delivery->n_vcpus ? missing[3] : NULL;
	return ret;
}

void report_delivery_free(struct report_delivery *delivery)
{
	for (size_t i = 0; i < delivery->n_vcpus; i++)
		free(delivery->vcpus[i].rows);
	free(delivery->vcpus);
	irq_list_free(&delivery->irqs);
	irq_injections_free(&delivery->injections);
	memset(delivery, 0, sizeof(*delivery));
}

void report_vector(char *text, size_t size, const struct report *report, int32_t vcpu, int vector)
{
	const char *name = virt_vector_name(report->load->model, vcpu, vector);

	snprintf(text, size, "0x%02x%s%s", (unsigned int)vector, name ? " " : "", name ? name : "");
}

/* --- writers --------------------------------------------------------------------------------- */

static const struct table_column columns[] = {
	{ .title = "interrupt delivery", .width = 28 },
	{ .type = TABLE_COUNT, .title = "injected", .width = 9 },
	{ .type = TABLE_COUNT, .title = "seen" },
	{ .type = TABLE_COUNT, .title = "not seen" },
	{ .type = TABLE_COUNT, .title = "not judged" },
	{ .type = TABLE_DURATIONS, .title = "", .shown = TABLE_P50 | TABLE_P99 | TABLE_MAX },
};

static const struct table table = { .rows = { TABLE_COLUMNS(columns), .apart = true } };

static void delivered_row(struct table_writer *to, const char *name,
			  const struct virt_delivered *row)
{
	table_row(to, (const struct table_cell[ARRAY_SIZE(columns)]){
		table_name(name), table_number((int64_t)virt_delivered_injected(row->results)),
		table_number((int64_t)row->results[VIRT_DELIVERY_SEEN]),
		table_number((int64_t)row->results[VIRT_DELIVERY_NOT_SEEN]),
		table_number((int64_t)row->results[VIRT_DELIVERY_UNJUDGED]),
		table_durations(&row->latency),
	});
}

static void text(struct output *out, const struct report *report)
{
	const struct report_delivery *delivery = report->delivery;
	struct table_writer to = { .table = &table, .format = &table_text, .out = out };
	char vector[64], name[80];

	if (!delivery || !report->load->n_guests)
		return;
	if (delivery->missing) {
		out_str(out, "\n  interrupt delivery is unknown, because ");
		out_text(out, delivery->missing);
		out_char(out, '\n');
		return;
	}
	table_flat(&to, true);
	for (size_t i = 0; i < delivery->n_vcpus; i++) {
		const struct report_delivery_vcpu *vcpu = &delivery->vcpus[i];

		delivered_row(&to, virt_model_who(report->load->model, vcpu->vcpu),
			      &vcpu->rows[0]);
		for (size_t j = 1; j < vcpu->n; j++) {
			report_vector(vector, sizeof(vector), report, vcpu->vcpu,
				      vcpu->rows[j].vector);
			snprintf(name, sizeof(name), "  %s", vector);
			delivered_row(&to, name, &vcpu->rows[j]);
		}
	}
	table_flat_end(&to);
}

static void delivered_facts(struct facts *to, const struct virt_delivered *row)
{
	static const char *const keys[VIRT_DELIVERY_N_RESULTS] = {
		[VIRT_DELIVERY_SEEN] = "seen",
		[VIRT_DELIVERY_NOT_SEEN] = "not_seen",
		[VIRT_DELIVERY_UNJUDGED] = "not_judged",
	};

	facts_count(to, FACT_JSON("injected"), virt_delivered_injected(row->results));
	for (int i = 0; i < VIRT_DELIVERY_N_RESULTS; i++)
		facts_count(to, FACT_JSON(keys[i]), row->results[i]);
	if (row->latency.count) {
		facts_count(to, FACT_JSON("count"), row->latency.count);
		facts_members(to, &row->latency);
	}
}

static void delivery_vcpu_facts(struct facts *to, const struct virt_model *model,
				const struct report_delivery_vcpu *vcpu)
{
	facts_open(to, NULL, '{', false);
	facts_name(to, "vcpu", virt_model_who(model, vcpu->vcpu));
	facts_number(to, "guest_cpu", vcpu->cpu);
	delivered_facts(to, &vcpu->rows[0]);
	facts_open(to, "vectors", '[', false);
	for (size_t j = 1; j < vcpu->n; j++) {
		const char *name = virt_vector_name(model, vcpu->vcpu, vcpu->rows[j].vector);

		facts_open(to, NULL, '{', true);
		facts_number(to, "vector", vcpu->rows[j].vector);
		if (name)
			facts_name(to, "name", name);
		delivered_facts(to, &vcpu->rows[j]);
		facts_close(to, '}');
	}
	facts_close(to, ']');
	facts_close(to, '}');
}

static void delivery_facts(struct facts *to, const struct report *report)
{
	const struct report_delivery *delivery = report->delivery;

	if (!delivery)
		return;
	facts_open(to, "interrupt_delivery", '{', false);
	if (delivery->missing)
		facts_name(to, "missing", delivery->missing);
	facts_open(to, "vcpus", '[', false);
	for (size_t i = 0; i < delivery->n_vcpus; i++)
		delivery_vcpu_facts(to, report->load->model, &delivery->vcpus[i]);
	facts_close(to, ']');
	facts_close(to, '}');
}

/* --- the section ----------------------------------------------------------------------------- */

static void count_rows(struct report_counted *counted, const struct xen_trace_row *rows, size_t n)
{
	for (size_t i = 0; counted->load.n_guests && i < n; i++)
		irq_injections_xen(&counted->delivery.injections, &rows[i]);
}

static void count_record(struct report_counted *counted, const struct kvm_trace_record *record)
{
	if (counted->load.n_guests)
		irq_injections_kvm(&counted->delivery.injections, record);
}

static int build(struct report_counted *counted, struct report *report,
		 const struct ksv_vcpu_set *vcpus)
{
	int ret;

	if (!report->guests)
		return 0;
	report->delivery = &counted->delivery;
	ret = report_delivery_build(&counted->delivery, report, vcpus);
	report->delivery_missing = counted->delivery.missing;
	return ret;
}

static void release(struct report_counted *counted)
{
	report_delivery_free(&counted->delivery);
}

const struct report_section report_interrupts = {
	.rows = count_rows, .record = count_record, .build = build, .free = release,
	.text = text, .facts = delivery_facts,
};
