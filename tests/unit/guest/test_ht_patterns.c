// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_ht_patterns.c
 * @brief	Functions of a list, by an fprobe each: which are reported, which were missed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fake_kernel.h"

#define LINUX_VERSION_CODE	KERNEL_VERSION(6, 5, 0)
#define KERNEL_VERSION(a, b, c)	((a) << 16 | (b) << 8 | (c))
#define CONFIG_FPROBE

/* --- a kernel with fprobe: it takes one pattern --------------------------------------------- */

struct pt_regs { int unused; };
struct fprobe {
	unsigned long nmissed;
	int (*entry_handler)(struct fprobe *probe, unsigned long ip, unsigned long ret_ip,
			     struct pt_regs *regs, void *data);
	void (*exit_handler)(struct fprobe *probe, unsigned long ip, unsigned long ret_ip,
			     struct pt_regs *regs, void *data);
};

static struct { char name[64]; struct fprobe *probe; } there[8];
static int n_there;

static int register_fprobe(struct fprobe *probe, const char *filter, const char *notfilter)
{
	if (strchr(filter, ',') || !strcmp(filter, "nothing"))
		return -ENOENT;
	strcpy(there[n_there].name, filter);
	there[n_there++].probe = probe;
	return 0;
}

static void unregister_fprobe(struct fprobe *probe)
{
	n_there--;
}

static void enter_function(int i, unsigned long ip)
{
	there[i].probe->entry_handler(there[i].probe, ip, 0, NULL, NULL);
}

static void leave_function(int i, unsigned long ip)
{
	there[i].probe->exit_handler(there[i].probe, ip, 0, NULL, NULL);
}

#include "ht_functions.c"
#include "reported_events.h"

static int end(void **state)
{
	ht_functions_detach();
	n_reported = n_there = 0;
	missed_before = 0;
	return 0;
}

static void test_list(void **state)
{
	assert_int_equal(ht_functions_attach(""), 0);
	assert_int_equal(n_there, 0);
	assert_int_equal(ht_functions_attach("vfs_read,,acpi_*"), 0);
	assert_int_equal(n_there, 2);
	assert_string_equal(there[0].name, "vfs_read");
	assert_string_equal(there[1].name, "acpi_*");
	enter_function(1, 0x1000);
	leave_function(1, 0x1000);
	assert_int_equal(n_reported, 2);
	check_reported(0, HT_FUNCTION_ENTRY, 0x1000);
	check_reported(1, HT_FUNCTION_EXIT, 0x1000);
	ht_functions_detach();
	assert_int_equal(n_there, 0);
}

/** One that is not there takes the others along, and is named. */
static void test_refused(void **state)
{
	fake_log[0] = '\0';
	assert_int_equal(ht_functions_attach("vfs_read,nothing"), -ENOENT);
	assert_int_equal(n_there, 0);
	assert_non_null(strstr(fake_log, "'nothing'"));
}

static void test_missed(void **state)
{
	assert_int_equal(ht_functions_attach("vfs_read,vfs_write"), 0);
	there[1].probe->nmissed = 3;
	enter_function(0, 0x1000);
	assert_int_equal(n_reported, 1);
	assert_true(ht_functions_missed() == 3);
	/* the next call of the same says so, once */
	enter_function(1, 0x2000);
	check_reported(1, HT_LOST, 3);
	check_reported(2, HT_FUNCTION_ENTRY, 0x2000);
	enter_function(1, 0x2000);
	assert_int_equal(n_reported, 4);
	/* or the end */
	there[0].probe->nmissed = 1;
	there[1].probe->nmissed = 5;
	ht_functions_report_missed();
	check_reported(4, HT_LOST, 1);
	check_reported(5, HT_LOST, 2);
	ht_functions_report_missed();
	assert_int_equal(n_reported, 6);
	/* they are counted when nothing is attached any more */
	ht_functions_detach();
	assert_true(ht_functions_missed() == 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_list, end),
		cmocka_unit_test_teardown(test_refused, end),
		cmocka_unit_test_teardown(test_missed, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
