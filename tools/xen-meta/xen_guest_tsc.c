// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_guest_tsc.c
 * @brief	Find the TSC that an HVM or PVH domain sees, from the state that Xen would save of
 *		the domain.
 *
 * The state is a sequence of records, each after a descriptor (struct hvm_save_descriptor,
 * xen/include/public/hvm/save.h). Xen takes the time for all of them when it begins to save.
 */
#include "xen_private.h"

#if defined(__x86_64__) || defined(__i386__)
#include <stdlib.h>
#include <string.h>
#include <xen/xen.h>
#include <xen/hvm/save.h>

#include "clock_moment.h"
#include "json_read.h"

/** The frequency of a TSC that is not scaled differs by less from the host's. */
#define SAME_KHZ_PPM	200

/** The first record of a type. Return: false if there is none of at least @size bytes. */
static bool find_record(const uint8_t *saved, uint32_t bytes, uint16_t type, void *record,
			uint32_t size)
{
	struct hvm_save_descriptor descriptor;

	for (uint32_t at = 0; bytes - at >= sizeof(descriptor); ) {
		memcpy(&descriptor, saved + at, sizeof(descriptor));
		at += sizeof(descriptor);
		if (descriptor.length > bytes - at)
			return false;
		if (descriptor.typecode == type && descriptor.length >= size) {
			memcpy(record, saved + at, size);
			return true;
		}
		at += descriptor.length;
	}
	return false;
}

/** Does the domain's TSC run as fast as the host's? Else its offset is none. */
static bool runs_alike(const struct xen_state *state, const struct hvm_save_header *header)
{
	int64_t apart = (int64_t)header->gtsc_khz - state->cpu_khz;

	return !header->gtsc_khz ||
	       llabs(apart) * 1000000 <= (int64_t)state->cpu_khz * SAME_KHZ_PPM;
}

void take_guest_tsc(struct xen_state *state, uint32_t domid, struct json_object *domain)
{
	int size = xc_domain_hvm_getcontext(state->xc, domid, NULL, 0);
	uint8_t *saved = size > 0 ? malloc(size) : NULL;
	struct hvm_save_header header;
	struct hvm_hw_cpu cpu;
	uint64_t before, after;

	if (!saved)
		return;
	before = clock_read_tsc();
	size = xc_domain_hvm_getcontext(state->xc, domid, saved, size);
	after = clock_read_tsc();
	if (size <= 0 ||
	    !find_record(saved, size, HVM_SAVE_CODE(HEADER), &header, sizeof(header)) ||
	    !find_record(saved, size, HVM_SAVE_CODE(CPU), &cpu, sizeof(cpu)) ||
	    !runs_alike(state, &header))
		goto out;
	set(state, domain, "tsc_offset",
	    json_bits_new(cpu.tsc - (before + (after - before) / 2)));
	set(state, domain, "tsc_scale", json_object_new_double(1));
	set(state, domain, "tsc_within", json_object_new_uint64((after - before) / 2 + 1));
out:
	free(saved);
}

#else
void take_guest_tsc(struct xen_state *state, uint32_t domid, struct json_object *domain)
{
	(void)state, (void)domid, (void)domain;
}
#endif
