// SPDX-License-Identifier: LGPL-2.1-or-later
/** Records have room in a bundle whatever their fields are, and a packet has all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "export_bundle.h"
#include "export_sink.h"
#include "kvm_line.h"

static struct kvm_line_fields fields;
static size_t n_fields;
static char text[UINT16_MAX];

/** As many fields as a line has room for; escapes make four bytes of each byte of their texts. */
static struct kvm_line fill(size_t name_size, size_t text_size)
{
	static char name[64];
	struct kvm_line_field field = { .name = name, .text = text_size ? text : NULL };
	size_t before;

	memset(name, 1, sizeof(name));
	memset(text, 2, sizeof(text));
	name[name_size] = text[text_size] = '\0';
	fields.n = n_fields = 0;
	do {
		before = fields.n;
		kvm_line_add_field(&fields, &field);
		n_fields += fields.n > before;
	} while (fields.n > before);
	assert_true(n_fields > 0);
	return (struct kvm_line){ .fields = fields.bytes, .fields_size = (uint32_t)fields.n };
}

static uint64_t varint(FILE *file)
{
	uint64_t value = 0;
	int byte, shift = 0;

	do {
		byte = getc(file);
		assert_true(byte != EOF && shift < 64);
		value |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	return value;
}

/** The packet is all of the file. Return: its size. */
static uint64_t check_packet(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint64_t size;

	assert_non_null(file);
	assert_int_equal(getc(file), 1 << 3 | 2);
	size = varint(file);
	assert_int_equal(fseek(file, (long)size, SEEK_CUR), 0);
	assert_int_equal(getc(file), EOF);
	assert_int_equal(fseek(file, -1, SEEK_END), 0);
	assert_true(getc(file) != EOF);
	fclose(file);
	return size;
}

static void check_full(size_t name_size, size_t text_size)
{
	struct export_bundle *bundle = export_bundle_new();
	struct kvm_line line = fill(name_size, text_size);
	struct export_record record = {
		.time_ns = INT64_MAX, .pid = 7, .event = 1, .system = "kvm", .name = "odd",
		.line = &line,
	};
	char path[] = "/tmp/export_bundle.XXXXXX";
	/* a byte of a name or text is four here, up to what a text may have */
	size_t longest = EXPORT_TEXT_SIZE - 8, n = 0, bytes = 4 * name_size;
	static struct output out;

	assert_non_null(bundle);
	assert_int_equal(close(mkstemp(path)), 0);
	assert_true(export_bundle_is_empty(bundle));
	while (!export_bundle_is_full(bundle)) {
		export_bundle_add(bundle, &record);
		n++;
	}
	assert_false(export_bundle_is_empty(bundle));
	assert_int_equal(out_open(&out, path), 0);
	export_bundle_write(bundle, &out, 3, 1023, true);
	assert_int_equal(out_close(&out, 0), 0);
	assert_true(export_bundle_is_empty(bundle));
	bytes += 4 * text_size < longest ? 4 * text_size : longest;
	assert_true(check_packet(path) >= n * n_fields * bytes);
	unlink(path);
	export_bundle_free(bundle);
}

static void test_full(void **state)
{
	(void)state;
	check_full(1, 0);
	check_full(1, 1);
	check_full(7, 7);
	check_full(63, 0);
	check_full(7, 200);
	check_full(1, sizeof(text) - 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
