// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	fuzz_kvm_line.c
 * @brief	Any bytes as records as text from a process that a file has taken over.
 */
#include <stdlib.h>
#include <string.h>

#include "kvm_line.h"
#include "model_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** All texts end, and there is an end of the fields. */
static void check_texts(const struct kvm_line *line)
{
	struct kvm_line_field field;
	size_t at = 0, last = 0;

	check(strlen(line->name.comm) < sizeof(line->name.comm), "a name");
	check(!line->info || strlen(line->info) < line->info_size, "an info");
	while (kvm_line_field(line, &at, &field)) {
		check(at > last && at <= line->fields_size, "a field");
		check(strlen(field.name) < at - last, "a field's name");
		check(!field.text || strlen(field.text) < at - last, "a field's text");
		last = at;
	}
}

/** What was unpacked comes out again. */
static void check_again(const struct kvm_line *line, size_t size)
{
	static uint64_t packed[KVM_LINE_MOST / 8 + 1], room[KVM_LINE_MOST / 8 + 1];
	struct kvm_line again;

	check(kvm_line_size(line) == size, "another size");
	kvm_line_pack(line, packed);
	check(kvm_line_unpack(packed, size, &again, room) == size, "not accepted again");
	check(!memcmp(line, &again, offsetof(struct kvm_line, info)), "another line");
	check(!kvm_line_unpack(packed, size - 1, &again, room), "a cut line is accepted");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint64_t room[KVM_LINE_MOST / 8 + 1];
	/* exactly as large as it says, so that reading beyond it is seen */
	uint8_t *copy = malloc(size + !size), *at = copy;
	struct kvm_line line;
	size_t used;

	if (!copy)
		abort();
	memcpy(copy, data, size);
	while ((used = kvm_line_unpack(at, size, &line, room)) > 0) {
		check_texts(&line);
		check_again(&line, used);
		at += used;
		size -= used;
	}
	free(copy);
	return 0;
}
