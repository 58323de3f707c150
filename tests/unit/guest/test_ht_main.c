// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_ht_main.c
 * @brief	The guest's module begins, or says why not; what was attached until then is gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fake_kernel.h"

#define module_param(name, type, mode)	_Static_assert(sizeof(name) != 0, #type)
#define MODULE_PARM_DESC(name, text)	_Static_assert(sizeof(name) != 0, text)
#define MODULE_LICENSE(text)		_Static_assert(sizeof(text) != 0, text)
#define MODULE_DESCRIPTION		MODULE_LICENSE
#define MODULE_VERSION			MODULE_LICENSE
#define module_init(function)		static int (*const on_load)(void) = function
#define module_exit(function)		static void (*const on_unload)(void) = function
#define DEFINE_MUTEX(name)		int name
#define mutex_lock(lock)		(++*(lock))
#define mutex_unlock(lock)		(--*(lock))
#define CPUHP_AP_ONLINE_DYN		1
#define NOTIFY_DONE			0

enum { SYS_RESTART, SYS_HALT, SYS_POWER_OFF };

struct notifier_block {
	int (*notifier_call)(struct notifier_block *block, unsigned long action, void *data);
};

static int panic_notifier_list, notifiers;

static void register_reboot_notifier(struct notifier_block *block)
{
	notifiers++;
}

static void unregister_reboot_notifier(struct notifier_block *block)
{
	notifiers--;
}

static void atomic_notifier_chain_register(int *list, struct notifier_block *block)
{
	notifiers++;
}

static void atomic_notifier_chain_unregister(int *list, struct notifier_block *block)
{
	notifiers--;
}

static int cpus, cpus_fail;

static int cpuhp_setup_state(int state, const char *name, int (*start)(unsigned int cpu),
			     int (*stop)(unsigned int cpu))
{
	cpus += !cpus_fail;
	return cpus_fail ? -ENOSPC : state;
}

#define cpuhp_remove_state(state)	(cpus--)

#include "ht_main.c"

/* --- the rest of the module, parts of which may fail ------------------------------------------ */

static int host_fails, functions_fail, probes_fail, attached, sends;
static bool reported;

int ht_probes_find(void) { return probes_fail ? -EOPNOTSUPP : 0; }
int ht_probes_want(const char *list) { return 0; }
int ht_probes_attach(void) { attached++; return 0; }
void ht_probes_detach(void) { attached--; }
int ht_functions_attach(const char *filter) { return functions_fail ? -ENOENT : 0; }
void ht_functions_detach(void) { }
void ht_functions_report_missed(void) { }
int ht_send_init(void) { sends++; return 0; }
void ht_send_exit(void) { sends--; }
int ht_check_host(void) { return host_fails ? -ENODEV : 0; }
int ht_cpu_start(unsigned int cpu) { return 0; }
int ht_cpu_stop(unsigned int cpu) { return 0; }
void ht_report(struct ht_event *event) { reported = true; }
void ht_flush(void) { }
void ht_set_reporting(bool on) { }
void ht_control_init(void) { }
void ht_control_exit(void) { }

/* --- tests ----------------------------------------------------------------------------------- */

static void expect_nothing(void)
{
	assert_int_equal(attached, 0);
	assert_int_equal(sends, 0);
	assert_int_equal(cpus, 0);
	assert_int_equal(notifiers, 0);
	assert_int_equal(lock, 0);
	fake_log[0] = '\0';
}

static void test_begins(void **state)
{
	assert_int_equal(on_load(), 0);
	assert_true(reported);
	assert_true(ht_is_on());
	assert_string_equal(fake_log, "");
	on_unload();
	expect_nothing();
}

/** Only what is wrong is blamed. */
static void test_fails(void **state)
{
	struct { int *fails, result; const char *says; } cases[] = {
		{ &host_fails, -ENODEV, "hypertrace: not begun (-19)\n" },
		{ &functions_fail, -ENOENT, "hypertrace: not begun (-2)\n" },
		{ &cpus_fail, -ENOSPC, "hypertrace: CPUs cannot be followed (-28)\n"
		  "hypertrace: not begun (-28)\n" },
		{ &probes_fail, -EOPNOTSUPP,
		  "hypertrace: this kernel has no tracepoint sched_switch\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		*cases[i].fails = 1;
		assert_int_equal(on_load(), cases[i].result);
		assert_string_equal(fake_log, cases[i].says);
		*cases[i].fails = 0;
		expect_nothing();
	}
}

static void test_parameters(void **state)
{
	mode = "wild";
	assert_int_equal(on_load(), -EINVAL);
	assert_string_equal(fake_log, "hypertrace: mode is packed or plain, not 'wild'\n");
	mode = "plain";
	expect_nothing();
	shift = 32;
	assert_int_equal(on_load(), -EINVAL);
	assert_string_equal(fake_log, "hypertrace: shift is 31 at most, functions has less than "
			    "256 letters\n");
	shift = 6;
	expect_nothing();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begins), cmocka_unit_test(test_fails),
		cmocka_unit_test(test_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
