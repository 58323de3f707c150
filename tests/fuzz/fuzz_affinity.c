/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_affinity.c
 * @brief	Any bytes as a list of affinities: what is taken is what each line says.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Read again alone, an item is the same. */
static void check_item(const struct affinity *item)
{
	struct affinity_list list = { 0 };

	if (affinity_add(&list, item->text) || list.n != 1 ||
	    list.items[0].vcpus.n != item->vcpus.n || !item->vcpus.n || !item->pcpus.any ||
	    memcmp(list.items[0].pcpus.bits, item->pcpus.bits, sizeof(item->pcpus.bits)) != 0)
		abort();
	for (int i = 0; i < item->vcpus.n; i++)
		if (item->vcpus.ranges[i].first > item->vcpus.ranges[i].last ||
		    !ksv_vcpu_in_set(&item->vcpus, item->vcpus.ranges[i].first) ||
		    !ksv_vcpu_in_set(&item->vcpus, item->vcpus.ranges[i].last))
			abort();
	if (strpbrk(item->text, "#\r\n"))
		abort();
	affinity_free(&list);
}

/** The last one counts. */
static void check_order(struct affinity_list *list)
{
	struct affinity *last = list->n ? &list->items[list->n - 1] : NULL;
	xen_vcpu vcpu = last ? last->vcpus.ranges[0].first : 0;

	if (last && vcpu >> 16 < XEN_DOMID_IDLE &&
	    affinity_of(list, (int32_t)(vcpu >> 16), (int32_t)(vcpu & 0xffff)) != last)
		abort();
	if (affinity_of(list, XEN_DOMID_IDLE, 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = size ? fmemopen((void *)data, size, "r") : NULL;
	struct affinity_list list = { 0 };
	unsigned int line;
	int ret;

	if (!file)
		return 0;
	ret = affinity_read(&list, file, &line);
	if (ret > 0 || (ret && ret != -EINVAL && ret != -EFBIG) || list.n > line)
		abort();
	/* what could not be understood is the last one, incomplete */
	for (size_t i = 0; i < list.n - (ret == -EINVAL); i++)
		check_item(&list.items[i]);
	if (!ret)
		check_order(&list);
	affinity_free(&list);
	fclose(file);
	return 0;
}
