// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_delivery.c
 * @brief	kshark-virt report: interrupts, from their injection to the guest's handler.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report_section.h"
#include "text_columns.h"

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
		"no aligned trace of the guest is given behind that of its host",
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

static void put_row(struct output *out, const char *name, const struct virt_delivered *row)
{
	const int64_t times[] = { row->latency.p50, row->latency.p99, row->latency.max };
	char text[32];

	out_str(out, "  ");
	out_text_left(out, name, 28);
	out_u64_width(out, virt_delivered_injected(row->results), 10);
	for (int i = 0; i < VIRT_DELIVERY_N_RESULTS; i++) {
		out_char(out, ' ');
		out_u64_width(out, row->results[i], 11);
	}
	for (size_t i = 0; i < ARRAY_SIZE(times) && row->latency.count; i++) {
		format_duration(text, sizeof(text), times[i]);
		out_char(out, ' ');
		out_right(out, text, strlen(text), 10);
	}
	out_char(out, '\n');
}

static void text(struct output *out, const struct report *report)
{
	const struct report_delivery *delivery = report->delivery;
	char vector[64], name[80];

	if (!delivery || !report->load->n_guests)
		return;
	if (delivery->missing) {
		out_str(out, "\n  interrupt delivery is unknown, because ");
		out_text(out, delivery->missing);
		out_char(out, '\n');
		return;
	}
	out_str(out, "\n  interrupt delivery            injected        seen    not seen  "
		"not judged        p50        p99        max\n");
	for (size_t i = 0; i < delivery->n_vcpus; i++) {
		const struct report_delivery_vcpu *vcpu = &delivery->vcpus[i];

		put_row(out, virt_model_who(report->load->model, vcpu->vcpu), &vcpu->rows[0]);
		for (size_t j = 1; j < vcpu->n; j++) {
			report_vector(vector, sizeof(vector), report, vcpu->vcpu,
				      vcpu->rows[j].vector);
			snprintf(name, sizeof(name), "  %s", vector);
			put_row(out, name, &vcpu->rows[j]);
		}
	}
}

static void json_delivered(struct json *json, const struct virt_delivered *row)
{
	static const char *const keys[VIRT_DELIVERY_N_RESULTS] = {
		[VIRT_DELIVERY_SEEN] = "seen",
		[VIRT_DELIVERY_NOT_SEEN] = "not_seen",
		[VIRT_DELIVERY_UNJUDGED] = "not_judged",
	};

	json_u64(json, "injected", virt_delivered_injected(row->results));
	for (int i = 0; i < VIRT_DELIVERY_N_RESULTS; i++)
		json_u64(json, keys[i], row->results[i]);
	if (!row->latency.count)
		return;
	json_i64(json, "p50_ns", row->latency.p50);
	json_i64(json, "p99_ns", row->latency.p99);
	json_i64(json, "max_ns", row->latency.max);
}

static void json(struct json *json, const struct report *report)
{
	const struct report_delivery *delivery = report->delivery;

	if (!delivery)
		return;
	json_open(json, "interrupt_delivery", '{', false);
	if (delivery->missing)
		json_str(json, "missing", delivery->missing);
	json_open(json, "vcpus", '[', false);
	for (size_t i = 0; i < delivery->n_vcpus; i++) {
		const struct report_delivery_vcpu *vcpu = &delivery->vcpus[i];

		json_open(json, NULL, '{', false);
		json_str(json, "vcpu", virt_model_who(report->load->model, vcpu->vcpu));
		json_i64(json, "guest_cpu", vcpu->cpu);
		json_delivered(json, &vcpu->rows[0]);
		json_open(json, "vectors", '[', false);
		for (size_t j = 1; j < vcpu->n; j++) {
			const char *name = virt_vector_name(report->load->model, vcpu->vcpu,
							    vcpu->rows[j].vector);

			json_open(json, NULL, '{', true);
			json_i64(json, "vector", vcpu->rows[j].vector);
			if (name)
				json_str(json, "name", name);
			json_delivered(json, &vcpu->rows[j]);
			json_close(json, '}');
		}
		json_close(json, ']');
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

/* --- the section ----------------------------------------------------------------------------- */

static void count_rows(struct report_counted *counted, const struct xen_trace_row *rows, size_t n)
{
	for (size_t i = 0; counted->load.n_guests && i < n; i++)
		irq_injections_xen(&counted->delivery.injections, &rows[i]);
}

static void count_record(struct report_counted *counted, const struct kvm_trace_record *record)
{
	irq_injections_kvm(&counted->delivery.injections, record);
}

static int build(struct report_counted *counted, struct report *report,
		 const struct ksv_vcpu_set *vcpus)
{
	if (!report->guests)
		return 0;
	report->delivery = &counted->delivery;
	return report_delivery_build(&counted->delivery, report, vcpus);
}

static void release(struct report_counted *counted)
{
	report_delivery_free(&counted->delivery);
}

const struct report_section report_interrupts = {
	.rows = count_rows, .record = count_record, .build = build, .free = release,
	.text = text, .json = json,
};
