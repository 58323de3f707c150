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
		static const struct kvm_step seen = { .kind = KVM_STEP_SEEN };
		static const struct kvm_step handled = { .kind = KVM_STEP_HANDLER };
		const struct kvm_step *step;
		union kvm_item_room room;
		struct kvm_item item;

		used = kvm_item_unpack(at, size, &item, &room);
		if (!used)
			break;
		check_texts(&item);
		check_again(&item, used);
		step = kvm_item_part(&item, KVM_ITEM_STEP);
		step = step ? step : item.tracks_handler ? &handled : &seen;
		time_ns += (int64_t)(item.ts & 0xffff);
		ret = kvm_step_take(step, kvm_item_part(&item, KVM_ITEM_HANDLER), tracker,
				    item.cpu % N_CPUS, item.pid, time_ns);
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
