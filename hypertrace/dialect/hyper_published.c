// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	hyper_published.c
 * @brief	The dialects of the research that presented hypertracing.
 *
 * H. Nemati, A. Benbachir, M. Dagenais and others, Polytechnique Montreal, 2017 and 2018. No format
 * was ever written down. The tables here follow from the calls that their patches send and the
 * fields that their scripts read (github.com/abenbachir/dorsal): hypergraph/hypergraph.c,
 * hypertracing/syscall_hypertracing_guest.c, bootlevel-analysis.xml, shutdown-analysis.xml,
 * boot-time.py, and, from 2018, hypertracing/script/utils.py.
 */
#include <string.h>

#include "array.h"
#include "hyper_dialect.h"

/* A whole register, a part of one, a whole one of entries or exits alone. */
#define ALL(what, reg)			{ HYPER_F_##what, reg, 0, 0, 0 }
#define PART(what, reg, shift, bits)	{ HYPER_F_##what, reg, shift, bits, 0 }
#define ONLY(which, what, reg)		{ HYPER_F_##what, reg, 0, 0, HYPER_##which }

/* What both have. Names of 24 letters are in the registers from the last one to the first. */
#define LEVELS										\
	{ 3000, "level", HYPER_LEVEL, 0, { ALL(NUMBER, 0), ALL(SYNC, 1) } },		\
	{ 3001, "level_entry", HYPER_LEVEL, HYPER_ENTRY, { ALL(NUMBER, 0) } },		\
	{ 3002, "level_exit", HYPER_LEVEL, HYPER_EXIT, { ALL(NUMBER, 0) } }
#define INITCALLS									\
	{ 4001, "initcall_entry", HYPER_INITCALL, HYPER_ENTRY,				\
	  { ALL(NUMBER, 0), ALL(NAME, 3), ALL(NAME, 2), ALL(NAME, 1) } },		\
	{ 4002, "initcall_exit", HYPER_INITCALL, HYPER_EXIT,				\
	  { ALL(NUMBER, 0), ALL(NAME, 3), ALL(NAME, 2), ALL(NAME, 1) } }
#define PHASES										\
	{ 9000, "first_code", HYPER_PHASE, 0, { { 0 } } },				\
	{ 9001, "start_kernel", HYPER_PHASE, 0, { { 0 } } },				\
	{ 9002, "user_space", HYPER_PHASE, 0, { { 0 } } },				\
	{ 9003, "panic", HYPER_PHASE, 0, { { 0 } } },					\
	{ 10000, "shutdown", HYPER_SHUTDOWN, 0, { ALL(NUMBER, 0) } },			\
	{ 10001, "shutdown_entry", HYPER_SHUTDOWN, HYPER_ENTRY, { ALL(NUMBER, 0) } },	\
	{ 10002, "shutdown_exit", HYPER_SHUTDOWN, HYPER_EXIT, { ALL(NUMBER, 0) } },	\
	{ 11001, "device_entry", HYPER_DEVICE, HYPER_ENTRY, { ALL(NUMBER, 0) } },	\
	{ 11002, "device_exit", HYPER_DEVICE, HYPER_EXIT, { ALL(NUMBER, 0) } },		\
	{ 12001, "notifier_entry", HYPER_NOTIFIER, HYPER_ENTRY, { ALL(NUMBER, 0) } },	\
	{ 12002, "notifier_exit", HYPER_NOTIFIER, HYPER_EXIT, { ALL(NUMBER, 0) } }
#define FUNCTION									\
	{ 1000, "function", HYPER_FUNCTION, 0,						\
	  { ALL(ADDRESS, 0), ALL(EDGE, 1), ONLY(EXIT, VALUE, 2), ALL(DEPTH, 3) } }
#define USER_FUNCTION									\
	{ 2000, "user_function", HYPER_USER_FUNCTION, 0, { ALL(ADDRESS, 0), ALL(EDGE, 1) } }

static const struct hyper_number_name number_names[] = {
	/* without _sync ones: ours has no others */
#define N_PLAIN_LEVELS	12
	{ HYPER_LEVEL, 0, "early" }, { HYPER_LEVEL, 1, "pure" }, { HYPER_LEVEL, 2, "core" },
	{ HYPER_LEVEL, 3, "postcore" }, { HYPER_LEVEL, 4, "arch" }, { HYPER_LEVEL, 5, "subsys" },
	{ HYPER_LEVEL, 6, "fs" }, { HYPER_LEVEL, 7, "rootfs" }, { HYPER_LEVEL, 8, "device" },
	{ HYPER_LEVEL, 9, "late" }, { HYPER_LEVEL, 10, "console" },
	{ HYPER_LEVEL, 11, "security" }, { HYPER_LEVEL, 12, "core_sync" },
	{ HYPER_LEVEL, 13, "postcore_sync" }, { HYPER_LEVEL, 14, "arch_sync" },
	{ HYPER_LEVEL, 15, "subsys_sync" }, { HYPER_LEVEL, 16, "fs_sync" },
	{ HYPER_LEVEL, 17, "rootfs_sync" }, { HYPER_LEVEL, 18, "device_sync" },
	{ HYPER_LEVEL, 19, "late_sync" },
	{ HYPER_SHUTDOWN, 104, "power_off_notifiers" },
	{ HYPER_SHUTDOWN, 105, "usermode_helper_disable" },
	{ HYPER_SHUTDOWN, 106, "device_shutdown" },
	{ HYPER_SHUTDOWN, 107, "migrate_to_reboot_cpu" },
	{ HYPER_SHUTDOWN, 108, "syscore_shutdown" },
};

static const struct hyper_row hypergraph_rows[] = {
	/* at an entry, the register that has the duration at an exit has the CPU, or a hash */
	FUNCTION,
	{ 1001, "sched_switch", HYPER_SWITCH, 0,
	  { ALL(PREV_PID, 0), ALL(PREV_TGID, 1), ALL(PID, 2), ALL(TGID, 3) } },
	{ 1002, "start", HYPER_START, 0, { { 0 } } },
	{ 1003, "stop", HYPER_STOP, 0, { { 0 } } },
	USER_FUNCTION,
	LEVELS,
	{ 4000, "syscall", HYPER_SYSCALL, 0,
	  { ALL(NUMBER, 0), ALL(EDGE, 1), ONLY(EXIT, VALUE, 2) } },
	INITCALLS,
	PHASES,
};

/* The name of a woken task has 8 letters only, so a switch says more. */
#define WAKEUP	{ ALL(PID, 0), ALL(PRIO, 1), ALL(CPU, 2), ALL(NAME, 3) }

static const struct hyper_row hypertracing_rows[] = {
	{ 0, "arch", HYPER_OTHER, 0, { ALL(NUMBER, 0) } },
	FUNCTION,
	/* the state of who comes next says nothing: what is in its bits is not looked at */
	{ 1001, "sched_switch", HYPER_SWITCH, 0,
	  { PART(PREV_PID, 0, 0, 32), PART(PREV_STATE, 0, 48, 16), PART(PID, 1, 0, 32),
	    PART(PRIO, 1, 32, 16), ALL(NAME, 3), ALL(NAME, 2) } },
	{ 1002, "sched_waking", HYPER_WAKEUP, 0, WAKEUP },
	{ 1003, "sched_wakeup", HYPER_WAKEUP, 0, WAKEUP },
	{ 1004, "sched_wakeup_new", HYPER_WAKEUP, 0, WAKEUP },
	{ 1005, "sched_process_fork", HYPER_FORK, 0,
	  { ALL(PREV_PID, 0), ALL(PREV_TGID, 1), ALL(PID, 2), ALL(TGID, 3) } },
	{ 1006, "sched_process_free", HYPER_OTHER, 0, { ALL(PID, 0), ALL(NAME, 3), ALL(NAME, 2) } },
	{ 1007, "sched_process_exit", HYPER_TASK_EXIT, 0,
	  { ALL(PID, 0), ALL(NAME, 3), ALL(NAME, 2) } },
	{ 1100, "sys_enter", HYPER_SYSCALL, HYPER_ENTRY, { ALL(NUMBER, 0) } },
	{ 1101, "sys_exit", HYPER_SYSCALL, HYPER_EXIT, { ALL(NUMBER, 0), ALL(VALUE, 1) } },
	{ 1102, "softirq_raise", HYPER_SOFTIRQ_RAISE, 0, { ALL(NUMBER, 0) } },
	{ 1103, "softirq_entry", HYPER_SOFTIRQ, HYPER_ENTRY, { ALL(NUMBER, 0) } },
	{ 1104, "softirq_exit", HYPER_SOFTIRQ, HYPER_EXIT, { ALL(NUMBER, 0) } },
	{ 1105, "irq_handler_entry", HYPER_IRQ, HYPER_ENTRY, { ALL(NUMBER, 0) } },
	{ 1106, "irq_handler_exit", HYPER_IRQ, HYPER_EXIT, { ALL(NUMBER, 0), ALL(VALUE, 1) } },
	{ 1107, "hrtimer_init", HYPER_OTHER, 0, { ALL(ADDRESS, 0) } },
	{ 1108, "hrtimer_start", HYPER_OTHER, 0, { ALL(ADDRESS, 1) } },
	{ 1109, "hrtimer_expire_entry", HYPER_OTHER, 0, { ALL(ADDRESS, 2) } },
	{ 1110, "hrtimer_expire_exit", HYPER_OTHER, 0, { { 0 } } },
	{ 1111, "hrtimer_cancel", HYPER_OTHER, 0, { { 0 } } },
	USER_FUNCTION,
	LEVELS,
	INITCALLS,
	PHASES,
};

static const struct hyper_dialect hypertrace = {
	.name = "hypertrace", .about = "of our kernel module", .wire = true,
	.names = number_names, .n_names = N_PLAIN_LEVELS,
};

static const struct hyper_dialect hypergraph = {
	.name = "hypergraph", .about = "published in 2017",
	.rows = hypergraph_rows, .n_rows = ARRAY_SIZE(hypergraph_rows),
	.names = number_names, .n_names = ARRAY_SIZE(number_names),
};

static const struct hyper_dialect hypertracing = {
	.name = "hypertracing", .about = "published in 2018", .number_bits = 16,
	.rows = hypertracing_rows, .n_rows = ARRAY_SIZE(hypertracing_rows),
	.names = number_names, .n_names = ARRAY_SIZE(number_names),
};

const struct hyper_dialect hyper_tracepoints = {
	.name = "initcall tracepoints", .about = "the guest's own trace",
	.names = number_names, .n_names = ARRAY_SIZE(number_names),
};

int32_t hyper_level_number(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(number_names); i++)
		if (number_names[i].kind == HYPER_LEVEL && !strcmp(number_names[i].name, name))
			return number_names[i].number;
	return HYPER_OTHER_LEVEL;
}

const struct hyper_dialect *const hyper_dialects[] = {
	&hypertrace, &hypergraph, &hypertracing, NULL
};
