// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_ht_control.c
 * @brief	The files of the guest's module in debugfs, written and read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fake_kernel.h"

struct seq_file { void *private; };
struct inode { void *i_private; };
struct file { void *private_data; };
struct dentry { int unused; };
struct file_operations {
	void *owner;
	int (*open)(struct inode *inode, struct file *file);
	int read, llseek, release;
	ssize_t (*write)(struct file *file, const char __user *from, size_t n, loff_t *at);
};

#define THIS_MODULE	NULL
#define seq_read	0
#define seq_lseek	0
#define single_release	0
#define single_open(file, function, data)	((file)->private_data = (data), 0)

static char shown[4096];

#define seq_printf(seq, ...)	\
	snprintf(shown + strlen(shown), sizeof(shown) - strlen(shown), "" __VA_ARGS__)
#define seq_puts(seq, text)	seq_printf(seq, "%s", text)
#define copy_from_user(to, from, n)	(memcpy(to, from, n), 0)
#define for_each_online_cpu(cpu)	for ((cpu) = 0; (cpu) < 2; (cpu)++)

struct dentry *debugfs_create_dir(const char *name, struct dentry *parent)
{
	return NULL;
}

void debugfs_create_file(const char *name, int mode, struct dentry *parent, void *data,
			 const void *operations)
{
}

#define debugfs_create_file_unsafe	debugfs_create_file
#define debugfs_remove(dentry)
#define DEFINE_DEBUGFS_ATTRIBUTE(name, get, set, format)			\
	const void *const name[] = { (const void *)(get), (const void *)(set) }

#include "ht_control.c"

/* --- the rest of the module ------------------------------------------------------------------- */

struct ht_settings ht_settings;
struct ht_probe ht_probes[1];
static int locked;
static struct ht_event reported;
static bool on;

int ht_start(void) { on = true; return 0; }
void ht_stop(void) { on = false; }
bool ht_is_on(void) { return on; }
int ht_restart(void) { return 0; }
void ht_settings_lock(void) { locked++; }
void ht_settings_unlock(void) { locked--; }
u64 ht_functions_missed(void) { return 5; }
void ht_report(struct ht_event *event) { reported = *event; }

void ht_cpu_stats(unsigned int cpu, struct ht_cpu_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
}

/* --- tests ----------------------------------------------------------------------------------- */

static ssize_t write_to(const char *name, const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct seq_file seq = { (void *)&files[i] };
		struct file opened = { &seq };
		loff_t at = 0;

		if (!strcmp(files[i].name, name))
			return file_operations.write(&opened, text, strlen(text), &at);
	}
	return -ENOENT;
}

static void test_change(void **state)
{
	assert_int_equal(write_to("enabled", "1\n"), 2);
	assert_true(on);
	assert_int_equal(write_to("enabled", "0"), 1);
	assert_false(on);
	assert_int_equal(write_to("mode", "packed\n"), 7);
	assert_true(ht_settings.packed);
	assert_int_equal(write_to("mode", "wild\n"), -EINVAL);
	assert_int_equal(write_to("most", "3\n"), 2);
	assert_int_equal(ht_settings.most, 3);
	assert_int_equal(write_to("most", "-1\n"), -EINVAL);
	assert_int_equal(ht_settings.most, 3);
	assert_int_equal(locked, 0);
}

/** Root may write to what has no mode for it. */
static void test_only_shown(void **state)
{
	assert_int_equal(write_to("stats", "1\n"), -EACCES);
	assert_int_equal(locked, 0);
}

static void test_stats(void **state)
{
	struct seq_file seq = { NULL };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (!strcmp(files[i].name, "stats"))
			seq.private = (void *)&files[i];
	file_show(&seq, NULL);
	assert_string_equal(shown, "cpu events calls lost\n0 0 0 0\n1 0 0 0\n"
			    "functions missed: 5\n");
}

static void test_user(void **state)
{
	assert_int_equal(write_to("user", "7 -3\n"), 5);
	assert_int_equal(reported.kind, HT_USER);
	assert_int_equal(reported.field[0], 7);
	assert_true(reported.field[1] == (uint64_t)-3);
	assert_int_equal(write_to("user", "x"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_change), cmocka_unit_test(test_only_shown),
		cmocka_unit_test(test_stats), cmocka_unit_test(test_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
