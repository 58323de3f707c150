// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_irq_devices.c
 * @brief	Which device a vector is the interrupt of: of each vCPU, and of one device only.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "array.h"
#include "irq_delivery.h"

static void by_vcpu(void **state)
{
	struct virt_devices *devices = virt_devices_new();

	(void)state;
	assert_null(virt_devices_name(devices, 0, 0x22));
	assert_int_equal(virt_devices_add(devices, 0, 0x22, "virtio0"), 0);
	assert_int_equal(virt_devices_add(devices, 1, 0x22, "virtio1"), 0);
	assert_int_equal(virt_devices_add(devices, 0, 0x22, "virtio0"), 0);
	assert_string_equal(virt_devices_name(devices, 0, 0x22), "virtio0");
	assert_string_equal(virt_devices_name(devices, 1, 0x22), "virtio1");
	assert_null(virt_devices_name(devices, 0, 0x23));
	assert_null(virt_devices_name(devices, 0, VIRT_NONE));
	/* the vector has been given to another one, at an unknown time */
	assert_int_equal(virt_devices_add(devices, 0, 0x22, "ttyS0"), 0);
	assert_null(virt_devices_name(devices, 0, 0x22));
	assert_int_equal(virt_devices_add(devices, 0, 0x22, "ttyS0"), 0);
	assert_null(virt_devices_name(devices, 0, 0x22));
	virt_devices_free(devices);
}

/** Of all vCPUs together, and of several traces. */
static void joined(void **state)
{
	struct virt_devices *devices = virt_devices_new(), *more = virt_devices_new();

	(void)state;
	assert_int_equal(virt_devices_add(devices, 0, 0x22, "virtio0"), 0);
	assert_int_equal(virt_devices_add(devices, 1, 0x22, "virtio0"), 0);
	assert_int_equal(virt_devices_add(devices, 0, 0x23, "virtio1"), 0);
	assert_int_equal(virt_devices_add(devices, 1, 0x23, "virtio2"), 0);
	assert_string_equal(virt_devices_name(devices, VIRT_NONE, 0x22), "virtio0");
	assert_null(virt_devices_name(devices, VIRT_NONE, 0x23));
	assert_string_equal(virt_devices_name(devices, 1, 0x23), "virtio2");
	assert_int_equal(virt_devices_join(more, NULL), 0);
	assert_int_equal(virt_devices_add(more, 2, 0x22, "ttyS0"), 0);
	assert_int_equal(virt_devices_add(more, 0, 0x22, "virtio0"), 0);
	assert_int_equal(virt_devices_join(more, devices), 0);
	assert_string_equal(virt_devices_name(more, 0, 0x22), "virtio0");
	assert_string_equal(virt_devices_name(more, 2, 0x22), "ttyS0");
	assert_null(virt_devices_name(more, VIRT_NONE, 0x22));
	assert_null(virt_devices_name(more, VIRT_NONE, 0x23));
	virt_devices_free(devices);
	virt_devices_free(more);
}

/** Names of a model are there as long as it is, whatever is set later. */
static void of_model(void **state)
{
	struct virt_model *model = virt_model_new();
	struct virt_devices *devices = virt_devices_new();
	const char *name;

	(void)state;
	assert_null(virt_vector_name(model, 0, 0x22));
	assert_int_equal(virt_devices_add(devices, 0, 0x22, "virtio0"), 0);
	assert_int_equal(virt_devices_add(devices, 0, 0xec, "never"), 0);
	virt_model_set_devices(model, devices);
	name = virt_vector_name(model, 0, 0x22);
	assert_string_equal(name, "virtio0");
	assert_string_equal(virt_vector_name(model, 0, 0xec), "local_timer");
	virt_model_set_devices(model, NULL);
	assert_null(virt_vector_name(model, 0, 0x22));
	assert_string_equal(name, "virtio0");
	virt_model_free(model);
}

/** The trace of a guest that has this device, number 0; others have no name. */
static void of_deliveries(void **state)
{
	struct irq_device_use uses[] = { { 100, 5 }, { 200, 6 } };
	const struct irq_guest_cpu cpu = { .vcpu = 3, .uses = uses, .n_uses = ARRAY_SIZE(uses) };
	const struct virt_delivery deliveries[] = {
		{ .handler_ns = 100, .vector = 0x22, .result = VIRT_DELIVERY_SEEN },
		{ .handler_ns = 150, .vector = 0x23, .result = VIRT_DELIVERY_SEEN },
		{ .handler_ns = 200, .vector = 0x24, .result = VIRT_DELIVERY_NOT_SEEN },
	};
	char path[4096], error[512] = "";
	struct virt_devices *devices = virt_devices_new();
	struct kvm_trace *guest;

	(void)state;
	snprintf(path, sizeof(path), "%s/samples/waits-disk-web.dat", getenv("KSV_SOURCE_DIR"));
	guest = kvm_trace_open(path, error, sizeof(error));
	if (!guest)
		fail_msg("%s", error);
	/* it has not been read yet: no device has a name */
	assert_null(kvm_trace_device(guest, 5));
	assert_int_equal(irq_deliveries_devices(deliveries, ARRAY_SIZE(deliveries), &cpu, guest,
						devices), 0);
	assert_null(virt_devices_name(devices, 3, 0x22));
	kvm_trace_close(guest);
	virt_devices_free(devices);
}

struct seen {
	struct kvm_trace	*guest;
	struct irq_guest_cpu	cpus[2];
};

static int take(void *arg, const struct kvm_trace_record *record)
{
	struct seen *seen = arg;

	return irq_guest_cpu_take(&seen->cpus[record->cpu], record, NULL);
}

/** Of a real trace: each handler of a device, with the time of its record. */
static void of_sample(void **state)
{
	struct seen seen = { .cpus[1].vcpu = 1 };
	char path[4096], error[512] = "";
	struct virt_devices *devices = virt_devices_new();

	(void)state;
	snprintf(path, sizeof(path), "%s/samples/waits-disk-web.dat", getenv("KSV_SOURCE_DIR"));
	seen.guest = kvm_trace_open(path, error, sizeof(error));
	if (!seen.guest)
		fail_msg("%s", error);
	assert_int_equal(kvm_trace_walk(seen.guest, take, NULL, &seen), 0);
	/* as trace-cmd prints: 40 times virtio2 on CPU 0, 31 times virtio0 on CPU 1 */
	assert_int_equal(seen.cpus[0].n_uses, 40);
	assert_int_equal(seen.cpus[1].n_uses, 31);
	for (int cpu = 0; cpu < 2; cpu++) {
		struct irq_guest_cpu *of = &seen.cpus[cpu];

		for (size_t i = 0; i < of->n_uses; i++) {
			const struct virt_delivery delivery = {
				.handler_ns = of->uses[i].time_ns, .vector = 0x20,
				.result = VIRT_DELIVERY_SEEN,
			};

			assert_string_equal(kvm_trace_device(seen.guest, of->uses[i].device),
					    cpu ? "virtio0" : "virtio2");
			assert_int_equal(irq_deliveries_devices(&delivery, 1, of, seen.guest,
								devices), 0);
		}
	}
	assert_string_equal(virt_devices_name(devices, 0, 0x20), "virtio2");
	assert_string_equal(virt_devices_name(devices, 1, 0x20), "virtio0");
	for (int cpu = 0; cpu < 2; cpu++)
		irq_guest_cpu_free(&seen.cpus[cpu]);
	kvm_trace_close(seen.guest);
	virt_devices_free(devices);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_vcpu),
		cmocka_unit_test(joined),
		cmocka_unit_test(of_model),
		cmocka_unit_test(of_deliveries),
		cmocka_unit_test(of_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
