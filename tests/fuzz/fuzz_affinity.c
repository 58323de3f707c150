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

/** Ranges have the same numbers as a set of bits. */
static void check_pcpus(const struct affinity *item)
{
	struct ksv_id_set set = { .any = false };

	if (ksv_parse_ids(strchr(item->text, '=') + 1, &set) || !set.any)
		abort();
	for (int32_t id = 0; id < 65536; id++)
		if (affinity_allows(item, id) != ksv_id_in_set(&set, (unsigned int)id))
			abort();
}

/** Read again alone, an item is the same. */
static void check_item(const struct affinity *item)
{
	struct affinity_list list = { 0 };

	if (affinity_add(&list, item->text) || list.n != 1 ||
	    list.items[0].vcpus.n != item->vcpus.n || !item->vcpus.n || !item->n_pcpus ||
	    list.items[0].n_pcpus != item->n_pcpus ||
	    memcmp(list.items[0].pcpus, item->pcpus, item->n_pcpus * sizeof(*item->pcpus)) != 0)
		abort();
	check_pcpus(item);
	for (int i = 0; i < item->vcpus.n; i++)
		if (item->vcpus.ranges[i].first > item->vcpus.ranges[i].last ||
		    !ksv_vcpu_in_set(&item->vcpus, item->vcpus.ranges[i].first) ||
		    !ksv_vcpu_in_set(&item->vcpus, item->vcpus.ranges[i].last))
			abort();
	if (strpbrk(item->text, "#\r\n"))
		abort();
	affinity_free(&list);
}

/** The last item that has the vCPU, one by one. */
static const struct affinity *item_of(const struct affinity_list *list, xen_vcpu vcpu)
{
	for (size_t i = list->n; i-- > 0; )
		if (ksv_vcpu_in_set(&list->items[i].vcpus, vcpu))
			return &list->items[i];
	return NULL;
}

/** The last one counts, at both ends of each range and beyond. */
static void check_order(struct affinity_list *list)
{
	const struct affinity *unused;

	if (affinity_sort(list) || affinity_of(list, XEN_DOMID_IDLE, 0))
		abort();
	if (list->n && affinity_unused(list) != &list->items[0])
		abort();
	for (size_t i = 0; i < list->n && i < 100; i++) {
		const struct ksv_vcpu_range *range = list->items[i].vcpus.ranges;
		const xen_vcpu vcpus[] = {
			range->first, range->last, range->first - 1, range->last + 1,
		};

		for (int j = 0; j < 4; j++)
			if (vcpus[j] >> 16 < XEN_DOMID_IDLE &&
			    affinity_of(list, (int32_t)(vcpus[j] >> 16),
					(int32_t)(vcpus[j] & 0xffff)) != item_of(list, vcpus[j]))
				abort();
	}
	unused = affinity_unused(list);
	if (unused && unused < list->items + 100 &&
	    unused->vcpus.ranges->first >> 16 < XEN_DOMID_IDLE)
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
