/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_regions.c
 * @brief	Any text as QEMU's list of memory regions: each is a range with a name, of a line.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kvm_regions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is)
{
	if (!is)
		abort();
}

static size_t count_lines(const char *text)
{
	size_t n = 1;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

static void check_regions(const struct kvm_regions *regions, const char *text)
{
	check(regions->n <= DEVICE_MAX_REGIONS);
	check(!regions->n_left_out || regions->n == DEVICE_MAX_REGIONS);
	check(regions->n + regions->n_left_out <= count_lines(text));
	for (size_t i = 0; i < regions->n; i++) {
		const struct device_region *region = &regions->all[i];

		check(region->first <= region->last);
		check(*region->name && strlen(region->name) < KVM_REGION_NAME);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kvm_regions regions = { 0 };
	/* of its own size, so that reading beyond it is seen */
	char *text = malloc(size + 1);
	int ret;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	ret = kvm_regions_parse(text, &regions);
	check(!ret || ret == -EINVAL);
	check(!ret || !regions.n);
	check_regions(&regions, text);
	kvm_regions_free(&regions);
	free(text);
	return 0;
}
