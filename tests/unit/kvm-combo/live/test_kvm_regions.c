// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_regions.c
 * @brief	QEMU's list of memory regions: what is a device, what is left out, without memory.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "failing_memory.h"
#include "kvm_regions.h"

void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

#define MEMORY	"FlatView #1\n AS \"memory\", root: system\n Root memory region: system\n"
#define PORTS	"FlatView #0\n AS \"I/O\", root: io\n Root memory region: io\n"

/** What one line is: the name of the device, or NULL: none. */
static void test_lines(void **state)
{
	static const struct {
		const char *line, *name;
	} lines[] = {
		{ "  00000000feb02a00-00000000feb02bff (prio 0, i/o): virtio-mmio owner:{obj}",
		  "virtio-mmio" },
		{ "  1-2 (prio 0, i/o): virtio-mmio owner:{dev id=disk0}", "virtio-mmio disk0" },
		{ "  1-2 (prio 0, romd): flash KVM", "flash" },
		{ "  1-2 (prio -100, i/o): hpet @0000000000000010 parent:{x}", "hpet" },
		{ "  ffffffffffffffff-ffffffffffffffff (prio 0, i/o): last", "last" },
		/* what prints a name escapes it */
		{ "  1-2 (prio 0, i/o): a\001\377", "a\001\377" },
		{ "  1-2 (prio 0, ram): pc.ram", NULL },
		{ "  1-2 (prio 0, i/o): system", NULL },
		{ "  2-1 (prio 0, i/o): backwards", NULL },
		{ "  10000000000000000-20000000000000000 (prio 0, i/o): large", NULL },
		{ "  1-2 (prio 0, i/o): ", NULL },
		{ "  1-2 (prio 0, i/o):", NULL },
		{ "  1-2 (prio 0", NULL },
		{ "  1-", NULL },
		{ "  -1-2 (prio 0, i/o): x", NULL },
		{ "  + 1-2 (prio 0, i/o): x", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct kvm_regions regions = { 0 };
		char text[512];

		snprintf(text, sizeof(text), MEMORY "%s\r\n", lines[i].line);
		assert_int_equal(kvm_regions_parse(text, &regions), 0);
		assert_int_equal(regions.n, lines[i].name ? 1 : 0);
		if (lines[i].name)
			assert_string_equal(regions.all[0].name, lines[i].name);
		kvm_regions_free(&regions);
	}
}

static void test_views(void **state)
{
	static const char line[] = "  60-64 (prio 0, i/o): kbd\n";
	struct kvm_regions regions = { 0 };
	char text[1024];

	(void)state;
	/* of a view that is of neither, or before any, there are none */
	snprintf(text, sizeof(text), "%s" PORTS "%sFlatView #2\n AS \"pci\"\n%s" MEMORY "%s", line,
		 line, line, line);
	assert_int_equal(kvm_regions_parse(text, &regions), 0);
	assert_int_equal(regions.n, 2);
	assert_true(regions.all[0].is_port);
	assert_false(regions.all[1].is_port);
	assert_int_equal(regions.all[0].first, 0x60);
	assert_int_equal(regions.all[0].last, 0x64);
	kvm_regions_free(&regions);
	assert_int_equal(kvm_regions_parse("", &regions), -EINVAL);
	assert_int_equal(kvm_regions_parse("unknown command: 'info mtree -f -o'\n", &regions),
			 -EINVAL);
	assert_int_equal(kvm_regions_parse(line, &regions), -EINVAL);
	assert_int_equal(regions.n, 0);
}

/** A name as long as can be, and longer ones. */
static void test_long(void **state)
{
	struct kvm_regions regions = { 0 };
	char *text = malloc(4 << 20);
	size_t n;

	(void)state;
	assert_non_null(text);
	n = (size_t)sprintf(text, MEMORY "  1-2 (prio 0, i/o): ");
	memset(text + n, 'x', 3 << 20);
	text[n + (3 << 20)] = '\0';
	assert_int_equal(kvm_regions_parse(text, &regions), 0);
	assert_int_equal(regions.n, 1);
	assert_int_equal(strlen(regions.all[0].name), KVM_REGION_NAME - 1);
	kvm_regions_free(&regions);
	/* more than are kept are counted */
	n = (size_t)sprintf(text, MEMORY);
	for (int i = 0; i < DEVICE_MAX_REGIONS + 5; i++)
		n += (size_t)sprintf(text + n, "  %x-%x (prio 0, i/o): d\n", i, i);
	assert_int_equal(kvm_regions_parse(text, &regions), 0);
	assert_int_equal(regions.n, DEVICE_MAX_REGIONS);
	assert_int_equal(regions.n_left_out, 5);
	kvm_regions_free(&regions);
	free(text);
}

static void test_no_memory(void **state)
{
	static const char text[] = PORTS "  60-64 (prio 0, i/o): kbd\n  70-71 (prio 0, i/o): rtc\n"
				   MEMORY "  1000-1fff (prio 0, i/o): hpet\n";
	struct kvm_regions regions = { 0 };
	long n;

	(void)state;
	n_allocations = 0;
	assert_int_equal(kvm_regions_parse(text, &regions), 0);
	n = n_allocations;
	kvm_regions_free(&regions);
	assert_true(n > 3);
	for (long i = 1; i <= n; i++) {
		countdown = i;
		assert_int_equal(kvm_regions_parse(text, &regions), -ENOMEM);
		countdown = 0;
		kvm_regions_free(&regions);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
