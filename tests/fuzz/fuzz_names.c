/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_names.c
 * @brief	Any numbers as hypercalls, exit reasons, vectors, MSRs, events: a name, or none.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exit_reasons.h"
#include "xen_events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *name)
{
	if (name && (!*name || strlen(name) > 60 || strpbrk(name, "\n\r\"\\\x1b")))
		abort();
}

static void check_text(enum xen_field_kind kind, unsigned int width, uint64_t value, int isa)
{
	char whole[1024], cut[8];
	int n = xen_field_text(whole, sizeof(whole), kind, width, value, isa);

	if (n <= 0 || (size_t)n >= sizeof(whole) || (size_t)n != strlen(whole) ||
	    xen_field_text(cut, sizeof(cut), kind, width, value, isa) != n ||
	    strncmp(cut, whole, sizeof(cut) - 1) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (; size >= 10; data += 10, size -= 10) {
		uint64_t value;
		uint32_t low;
		char text[64];

		memcpy(&value, data, sizeof(value));
		low = (uint32_t)value;
		check(xen_hypercall_name(low));
		check(xen_vmx_exit_name(low));
		check(xen_svm_exit_name(value));
		check(exit_vmx_name(low));
		check(exit_svm_name(value));
		check(xen_trap_name(low));
		check(xen_msr_name(low));
		check(xen_runstate_name(low));
		if (xen_event_name(text, sizeof(text), low) <= 0)
			abort();
		check_text(data[8] % XEN_FIELD_N_KINDS, 1u + (data[9] & 63), value,
			   data[9] & 64 ? XEN_ISA_SVM : XEN_ISA_VMX);
	}
	return 0;
}
