// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_guest_log.c
 * @brief	Logs of guests' kernels: messages as Linux prints them, in each form of a log.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "array.h"
#include "guest_log.h"

#define US	INT64_C(1000)
#define MS	INT64_C(1000000)
#define S	INT64_C(1000000000)

static void add(struct guest_log *log, const char *line)
{
	assert_int_equal(guest_log_add_line(log, line, strlen(line)), 0);
}

/** Messages with which Linux 4.19 to 6.12 warns, as their printk() has them. */
static void test_kinds(void **state)
{
	static const struct {
		const char	*text;
		enum guest_log_kind kind;
		int		cpu;
		int64_t		span_ns;
		bool		is_default;
	} messages[] = {
		{ "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [stress:1234]",
		  GUEST_LOG_SOFT_LOCKUP, 1, 22 * S, false },
		{ "NMI watchdog: BUG: soft lockup - CPU#12 stuck for 23s! [a: b:7]",
		  GUEST_LOG_SOFT_LOCKUP, 12, 23 * S, false },
		{ "BUG: soft lockup - CPU#0 stuck for 67s! [swapper/0:0]",
		  GUEST_LOG_SOFT_LOCKUP, 0, 67 * S, false },
		{ "watchdog: Watchdog detected hard LOCKUP on cpu 3", GUEST_LOG_HARD_LOCKUP, 3,
		  10 * S, true },
		{ "NMI watchdog: Watchdog detected hard LOCKUP on cpu 3", GUEST_LOG_HARD_LOCKUP, 3,
		  10 * S, true },
		{ "rcu: INFO: rcu_sched self-detected stall on CPU", GUEST_LOG_RCU_STALL, -1,
		  21 * S, true },
		{ "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:", GUEST_LOG_RCU_STALL, -1,
		  21 * S, true },
		{ "INFO: rcu_sched self-detected stall on CPU { 2}  (t=21000 jiffies g=1 c=2 q=3)",
		  GUEST_LOG_RCU_STALL, 2, 21 * S, true },
		{ "rcu: INFO: rcu_sched detected expedited stalls on CPUs/tasks: { 5-...D } 6002 "
		  "jiffies s: 101 root: 0x2/.", GUEST_LOG_RCU_STALL, 5, 21 * S, true },
		{ "INFO: task kworker/u8:2:412 blocked for more than 120 seconds.",
		  GUEST_LOG_HUNG_TASK, -1, 120 * S, false },
		{ "INFO: task dd:9 blocked in I/O wait for more than 122 seconds.",
		  GUEST_LOG_HUNG_TASK, -1, 122 * S, false },
		{ "clocksource: timekeeping watchdog on CPU2: Marking clocksource 'tsc' as "
		  "unstable because the skew is too large:", GUEST_LOG_CLOCKSOURCE, 2, S / 2,
		  true },
		{ "clocksource: timekeeping watchdog: Marking clocksource 'tsc' as unstable, "
		  "because the skew is too large:", GUEST_LOG_CLOCKSOURCE, -1, S / 2, true },
		{ "clocksource: timekeeping watchdog on CPU1: hpet wd-wd read-back delay of "
		  "1234567ns", GUEST_LOG_CLOCKSOURCE, 1, 1234567, false },
		{ "clocksource: Long readout interval, skipping watchdog check: cs_nsec: "
		  "5123456789 wd_nsec: 5123456780", GUEST_LOG_CLOCKSOURCE, -1, 5123456780, false },
		{ "Clocksource tsc unstable (delta = 123456 ns)", GUEST_LOG_CLOCKSOURCE, -1, S / 2,
		  true },
		{ "tsc: Marking TSC unstable due to clocksource watchdog",
		  GUEST_LOG_CLOCKSOURCE, -1, S / 2, true },
		{ "hrtimer: interrupt took 5012345 ns", GUEST_LOG_HRTIMER, -1, 5012345, false },
		{ "sched: RT throttling activated", GUEST_LOG_RT_THROTTLING, -1, S, true },
		{ "sched: DL replenish lagged too much", GUEST_LOG_DEADLINE, -1, 0, false },
		{ "NOHZ tick-stop error: Non-RCU local softirq work is pending, handler #08!!!",
		  GUEST_LOG_NOHZ, -1, 0, false },
		{ "NOHZ: local_softirq_pending 08", GUEST_LOG_NOHZ, -1, 0, false },
		{ "BUG: workqueue lockup - pool cpus=3 node=0 flags=0x0 nice=0 stuck for 31s!",
		  GUEST_LOG_WORKQUEUE, 3, 31 * S, false },
		{ "BUG: workqueue lockup - pool cpus=0-3 flags=0x4 nice=0 stuck for 32s!",
		  GUEST_LOG_WORKQUEUE, -1, 32 * S, false },
		{ "workqueue: drm_fb_work hogged CPU for >10000us 4 times, consider switching to "
		  "WQ_UNBOUND", GUEST_LOG_CPU_HOG, -1, 10000 * US, false },
		{ "INFO: NMI handler (perf_event_nmi_handler) took too long to run: 1.234 msecs",
		  GUEST_LOG_NMI, -1, 1234 * US, false },
		{ "smp: csd: Detected non-responsive CSD lock (#1) on CPU#1, waiting 5000000032 ns "
		  "for CPU#02 do_flush+0x0/0x20(0x0).", GUEST_LOG_CSD, 2, 5000000032, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
		struct guest_log log = { .n = 0 };
		char line[300];

		snprintf(line, sizeof(line), "[   12.345678] %s", messages[i].text);
		add(&log, line);
		if (log.n != 1)
			fail_msg("%zu warnings: %s", log.n, line);
		assert_int_equal(log.warnings[0].kind, messages[i].kind);
		assert_int_equal(log.warnings[0].cpu, messages[i].cpu);
		assert_int_equal(log.warnings[0].span_ns, messages[i].span_ns);
		assert_int_equal(log.warnings[0].is_default, messages[i].is_default);
		assert_int_equal(log.warnings[0].time_ns, 12345678 * US);
		assert_string_equal(log.warnings[0].text, messages[i].text);
		guest_log_free(&log);
	}
}

static void test_names(void **state)
{
	(void)state;
	for (int i = 0; i < GUEST_LOG_N_KINDS; i++) {
		assert_non_null(guest_log_kind_name((enum guest_log_kind)i));
		assert_non_null(guest_log_kind_words((enum guest_log_kind)i));
	}
	for (int i = 0; i < GUEST_LOG_N_CLOCKS; i++)
		assert_non_null(guest_log_clock_name((enum guest_log_clock)i));
}

/** What is no warning of the kernel is none. */
static void test_others(void **state)
{
	static const char *const lines[] = {
		"", "[", "[ 1.", "[ 1.5", "{", "{}", "[ 1.5] ",
		"[    1.500000] BUG: soft lockup - CPU# stuck for 22s!",
		"[    1.500000] BUG: soft lockup - CPU#1 stuck for s!",
		"[    1.500000] BUG: soft lockup - CPU#70000 stuck for 22s!",
		"[    1.500000] BUG: soft lockup - CPU#1 stuck for 99999999999999999999s!",
		"[    1.500000] he said BUG: soft lockup - CPU#1 stuck for 22s!",
		"[    1.500000] web log[412]: BUG: soft lockup - CPU#1 stuck for 22s!",
		"[    1.500000] hrtimer: interrupt took x ns",
		"[    1.500000] hrtimer: interrupt took 5012345",
		"[    1.500000] INFO: task a blocked for more than",
		"[    1.500000] INFO: rcu",
		"{ \"_TRANSPORT\": \"syslog\", \"MESSAGE\": \"hrtimer: interrupt took 5 ns\" }",
		"{ \"_TRANSPORT\": \"kernel\", \"MESSAGE\": [ 1, 2 ] }",
		"{ \"_TRANSPORT\": \"kernel\", \"MESSAGE\": \"hrtimer: interrupt took 5 ns\"",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct guest_log log = { .n = 0 };

		add(&log, lines[i]);
		assert_int_equal(log.n, 0);
		assert_int_equal(log.lines, 1);
		guest_log_free(&log);
	}
}

static void test_forms(void **state)
{
	static const struct {
		const char	*line;
		enum guest_log_clock clock;
		int64_t		time_ns;
		int		cpu;
	} forms[] = {
		/* a console, dmesg */
		{ "[ 1234.000001] hrtimer: interrupt took 5 ns\r", GUEST_LOG_PRINTK,
		  1234 * S + 1000, -1 },
		{ "[12345678.123456] hrtimer: interrupt took 5 ns", GUEST_LOG_PRINTK,
		  12345678 * S + 123456000, -1 },
		/* CONFIG_PRINTK_CALLER */
		{ "[    1.500000][    C3] hrtimer: interrupt took 5 ns", GUEST_LOG_PRINTK,
		  1500 * MS, 3 },
		{ "[    1.500000] [   T12] hrtimer: interrupt took 5 ns", GUEST_LOG_PRINTK,
		  1500 * MS, -1 },
		/* dmesg -r, dmesg -x, syslog */
		{ "<4>[    1.500000] hrtimer: interrupt took 5 ns", GUEST_LOG_PRINTK, 1500 * MS,
		  -1 },
		{ "kern  :warn  : [    1.500000] hrtimer: interrupt took 5 ns", GUEST_LOG_PRINTK,
		  1500 * MS, -1 },
		{ "Nov 27 17:51:19 web kernel: [    1.500000] hrtimer: interrupt took 5 ns",
		  GUEST_LOG_PRINTK, 1500 * MS, -1 },
		/* dmesg -T: 2026-11-27 17:51:19 UTC */
		{ "[Fri Nov 27 17:51:19 2026] hrtimer: interrupt took 5 ns", GUEST_LOG_REALTIME,
		  INT64_C(1795801879) * S, -1 },
		/* without a time */
		{ "hrtimer: interrupt took 5 ns", GUEST_LOG_NO_CLOCK, 0, -1 },
		/* journalctl -o short-monotonic */
		{ "[    1.500000] web kernel: hrtimer: interrupt took 5 ns", GUEST_LOG_JOURNAL,
		  1500 * MS, -1 },
		/* journalctl -o json */
		{ "{\"_TRANSPORT\":\"kernel\",\"MESSAGE\":\"hrtimer: interrupt took 5 ns\","
		  "\"__MONOTONIC_TIMESTAMP\":\"1600000\",\"_SOURCE_MONOTONIC_TIMESTAMP\":"
		  "\"1500000\"}", GUEST_LOG_PRINTK, 1500 * MS, -1 },
		{ "{\"_TRANSPORT\":\"kernel\",\"MESSAGE\":\"hrtimer: interrupt took 5 ns\","
		  "\"__MONOTONIC_TIMESTAMP\":\"1600000\"}", GUEST_LOG_JOURNAL, 1600 * MS, -1 },
		{ "{\"_TRANSPORT\":\"kernel\",\"MESSAGE\":\"hrtimer: interrupt took 5 ns\","
		  "\"__REALTIME_TIMESTAMP\":\"1795801879000001\"}", GUEST_LOG_REALTIME,
		  INT64_C(1795801879) * S + 1000, -1 },
		{ "{\"_TRANSPORT\":\"kernel\",\"MESSAGE\":\"hrtimer: interrupt took 5 ns\","
		  "\"__REALTIME_TIMESTAMP\":\"-1\"}", GUEST_LOG_NO_CLOCK, 0, -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct guest_log log = { .n = 0 };

		add(&log, forms[i].line);
		if (log.n != 1)
			fail_msg("%zu warnings: %s", log.n, forms[i].line);
		assert_int_equal(log.warnings[0].clock, forms[i].clock);
		assert_int_equal(log.warnings[0].time_ns, forms[i].time_ns);
		assert_int_equal(log.warnings[0].cpu, forms[i].cpu);
		assert_string_equal(log.warnings[0].text, "hrtimer: interrupt took 5 ns");
		guest_log_free(&log);
	}
}

/** Lines below a warning name its CPUs, or for how long. */
static void test_below(void **state)
{
	struct guest_log log = { .n = 0 };

	(void)state;
	add(&log, "[   40.000000] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:");
	add(&log, "[   40.000001] rcu: \t1-...!: (0 ticks this GP) idle=f34/0/0x0 softirq=1/1");
	add(&log, "[   40.000002] rcu: \t3-....: (21 ticks this GP) idle=f34/0/0x0 softirq=1/1");
	add(&log, "[   40.000002] rcu: \t3-....: (21 ticks this GP) idle=f34/0/0x0 softirq=1/1");
	add(&log, "[   40.000003] rcu: \t(detected by 0, t=5252 jiffies, g=1, q=2 ncpus=4)");
	add(&log, "[   50.000000] clocksource: timekeeping watchdog on CPU0: Marking clocksource "
	    "'tsc' as unstable because the skew is too large:");
	add(&log, "[   50.000001] clocksource:                       'hpet' wd_nsec: 2512345678 "
	    "wd_now: 1 wd_last: 0 mask: ffffffff");
	add(&log, "[   50.000002] rcu: \t2-....: (21 ticks this GP)");
	assert_int_equal(log.n, 3);
	assert_int_equal(log.warnings[0].cpu, 1);
	assert_int_equal(log.warnings[1].cpu, 3);
	assert_int_equal(log.warnings[1].line, 1);
	assert_int_equal(log.warnings[1].time_ns, 40 * S);
	assert_int_equal(log.warnings[1].kind, GUEST_LOG_RCU_STALL);
	assert_int_equal(log.warnings[2].line, 6);
	assert_int_equal(log.warnings[2].cpu, 0);
	assert_int_equal(log.warnings[2].span_ns, 2512345678);
	assert_false(log.warnings[2].is_default);
	guest_log_free(&log);
	/* one that is far below is another one's */
	add(&log, "[   40.000000] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:");
	for (int i = 0; i < 20; i++)
		add(&log, "[   41.000000] eth0: link up");
	add(&log, "[   42.000001] rcu: \t1-...!: (0 ticks this GP) idle=f34/0/0x0 softirq=1/1");
	assert_int_equal(log.n, 1);
	assert_int_equal(log.warnings[0].cpu, -1);
	guest_log_free(&log);
	/* a CPU that was idle, and has not noticed the last grace periods */
	add(&log, "[   40.543034] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:");
	add(&log, "[   40.565224] rcu: \t1-...0: (1 GPs behind) idle=c7ac/1/0x4000000000000000 "
	    "softirq=510/511 fqs=20");
	assert_int_equal(log.n, 1);
	assert_int_equal(log.warnings[0].cpu, 1);
	guest_log_free(&log);
	/* in the line itself; a task is P412 */
	add(&log, "[   40.000000] rcu: INFO: rcu_sched detected expedited stalls on CPUs/tasks: { "
	    "1-... P412 3-...D } 6002 jiffies s: 101 root: 0x2/.");
	assert_int_equal(log.n, 2);
	assert_int_equal(log.warnings[0].cpu, 1);
	assert_int_equal(log.warnings[1].cpu, 3);
	guest_log_free(&log);
}

/** A console's log goes on when its guest boots again. */
static void test_boots(void **state)
{
	struct guest_log log = { .n = 0 };

	(void)state;
	add(&log, "[  500.000000] hrtimer: interrupt took 5 ns");
	add(&log, "[  495.000000] hrtimer: interrupt took 5 ns");
	add(&log, "[    0.000000] Linux version 6.12.0");
	add(&log, "[Fri Nov 27 17:51:19 2026] hello");
	add(&log, "[   50.000000] hrtimer: interrupt took 5 ns");
	add(&log, "hrtimer: interrupt took 5 ns");
	assert_int_equal(log.n, 4);
	assert_int_equal(log.boot, 1);
	assert_int_equal(log.warnings[0].boot, 0);
	assert_int_equal(log.warnings[1].boot, 0);
	assert_int_equal(log.warnings[2].boot, 1);
	assert_int_equal(log.warnings[3].boot, 1);
	guest_log_free(&log);
}

/** Memory stays small whatever the log is. */
static void test_many(void **state)
{
	struct guest_log log = { .n = 0 };

	(void)state;
	for (int i = 0; i < GUEST_LOG_MOST + 5; i++)
		add(&log, "[    1.500000] hrtimer: interrupt took 5 ns");
	assert_int_equal(log.n, GUEST_LOG_MOST);
	assert_int_equal(log.left_out, 5);
	assert_int_equal(log.lines, GUEST_LOG_MOST + 5);
	guest_log_free(&log);
}

static void write_file(const char *path, const char *text, size_t n)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static void test_file(void **state)
{
	static const char warning[] = "[    1.500000] hrtimer: interrupt took 5 ns";
	char path[] = "/tmp/ksv-guest-log-XXXXXX", error[200] = "";
	size_t n = 3 * GUEST_LOG_LINE;
	struct guest_log log;
	char *text = malloc(n + 200);
	int fd = mkstemp(path);

	(void)state;
	assert_non_null(text);
	assert_true(fd >= 0);
	close(fd);
	/* a long line, what is after its beginning, and one without an end */
	memset(text, 'x', n);
	memcpy(text, warning, strlen(warning));
	text[strlen(warning)] = ' ';
	memcpy(text + n - 100, warning, strlen(warning));
	text[n - 1] = '\n';
	memcpy(text + n, warning, strlen(warning));
	write_file(path, text, n + strlen(warning));
	assert_int_equal(guest_log_read(path, &log, error, sizeof(error)), 0);
	assert_int_equal(log.n, 2);
	assert_int_equal(log.lines, 2);
	assert_int_equal(strlen(log.warnings[0].text), GUEST_LOG_TEXT - 1);
	assert_string_equal(log.warnings[1].text, "hrtimer: interrupt took 5 ns");
	assert_int_equal(log.warnings[1].line, 2);
	guest_log_free(&log);
	write_file(path, "", 0);
	assert_int_equal(guest_log_read(path, &log, error, sizeof(error)), 0);
	assert_int_equal(log.lines, 0);
	guest_log_free(&log);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(guest_log_read(path, &log, error, sizeof(error)), -ENOENT);
	assert_non_null(strstr(error, path));
	guest_log_free(&log);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(guest_log_read(path, &log, error, sizeof(error)), -EINVAL);
	assert_int_equal(unlink(path), 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_below),
		cmocka_unit_test(test_boots),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
