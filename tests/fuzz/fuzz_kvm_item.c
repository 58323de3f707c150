// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	fuzz_kvm_item.c
 * @brief	Any bytes as decoded records from a process that a file has taken over.
 *
 * What is accepted has only values that can be, so that the tracker makes a model of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kvm_fields.h"
#include "kvm_item.h"
#include "model_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define N_CPUS	8

static void check_texts(const struct kvm_item *item)
{
	const struct kvm_handler_event *handler = kvm_item_part(item, KVM_ITEM_HANDLER);
	const struct kvm_cgroup_event *cgroup = kvm_item_part(item, KVM_ITEM_CGROUP);
	const struct kvm_item_name *name = kvm_item_part(item, KVM_ITEM_NAME);
	const struct hyper_event *boot = kvm_item_part(item, KVM_ITEM_BOOT);
	const char *device = kvm_item_part(item, KVM_ITEM_DEVICE);

	check(!handler || strlen(handler->name) < sizeof(handler->name), "a handler's name");
	check(!cgroup || strlen(cgroup->path) < sizeof(cgroup->path), "a path");
	check(!name || strlen(name->comm) < sizeof(name->comm), "a name");
	check(!boot || (boot->label && strlen(boot->name) < sizeof(boot->name)), "a level");
	check(!device || strlen(device) < KVM_DEVICE_SIZE, "a device");
}

/** What was unpacked comes out again. */
static void check_again(const struct kvm_item *item, size_t size)
{
	union kvm_item_room packed = { .bytes = { 0 } }, room;
	struct kvm_item again;

	check(kvm_item_pack(item, packed.bytes) == size, "another size");
	check(kvm_item_unpack(packed.bytes, size, &again, &room) == size, "not accepted again");
	check(!memcmp(item, &again, offsetof(struct kvm_item, part)), "another item");
	check(!kvm_item_unpack(packed.bytes, size - 1, &again, &room), "a cut item is accepted");
}

/** Give the events of a run to the tracker. Return: as kvm_tracker_add(). */
static int take_run(const struct kvm_item *item, struct kvm_tracker *tracker, int64_t *time_ns)
{
	const struct kvm_event *events = kvm_item_part(item, KVM_ITEM_RUN);
	int ret = 0;

	for (uint32_t i = 0; events && i < item->n && !ret; i++) {
		struct kvm_event event = events[i];

		check(event.kind <= KVM_RUN_LEAVE && event.kind != KVM_LOST &&
		      event.kind != KVM_FOUND, "an impossible event");
		event.cpu = (int16_t)(item->step.event.cpu % N_CPUS);
		*time_ns += event.time_ns & 0xffff;
		event.time_ns = *time_ns;
		if (event.kind < KVM_N_KINDS)
			ret = kvm_tracker_add(tracker, &event);
	}
	return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kvm_tracker *tracker = kvm_tracker_new();
	struct virt_model *model = NULL;
	/* exactly as large as it says, so that reading beyond it is seen */
	uint8_t *copy = malloc(size + !size), *at = copy;
	int64_t time_ns = 0;
	size_t used;
	int ret = 0;

	if (!tracker || !copy)
		abort();
	memcpy(copy, data, size);
	while (size && !ret) {
		union kvm_item_room room;
		struct kvm_item item;

		used = kvm_item_unpack(at, size, &item, &room);
		if (!used)
			break;
		check_texts(&item);
		check_again(&item, used);
		time_ns += item.step.event.time_ns & 0xffff;
		item.step.event.time_ns = time_ns;
		item.step.event.cpu %= N_CPUS;
		ret = take_run(&item, tracker, &time_ns);
		if (!ret && item.role != KVM_ITEM_EVENTS)
			ret = kvm_step_take(&item.step, kvm_item_part(&item, KVM_ITEM_STEP_MORE),
					    kvm_item_part(&item, KVM_ITEM_HANDLER), tracker);
		at += used;
		size -= used;
	}
	if (!ret)
		ret = kvm_tracker_finish(tracker, 0, time_ns + 1, &model);
	check(!ret ? model != NULL : ret == -E2BIG, "no model");
	if (model)
		check_model(model);
	virt_model_free(model);
	kvm_tracker_free(tracker);
	free(copy);
	return 0;
}
