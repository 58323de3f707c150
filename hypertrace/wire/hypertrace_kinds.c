// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/**
 * @file	hypertrace_kinds.c
 * @brief	The table of kinds, and the names of all numbers.
 */
#include "hypertrace_kinds.h"

#define FIELD(name_, reg_, shift_, bits_, form_) \
	{ .name = name_, .reg = reg_, .shift = shift_, .bits = bits_, .form = form_ }

const struct ht_kind_row ht_kinds[HT_N_KINDS] = {
	[HT_SWITCH] = { .name = "sched_switch", .fields = {
		FIELD("prev_pid", 1, 0, 32, HT_UNSIGNED),
		FIELD("prev_prio", 0, 16, 16, HT_PLUS_ONE),
		FIELD("prev_state", 0, 32, 16, HT_UNSIGNED),
		FIELD("next_pid", 1, 32, 32, HT_UNSIGNED),
		FIELD("next_prio", 0, 48, 16, HT_PLUS_ONE) } },
	[HT_SWITCH_ON] = { .name = "sched_switch", .inner = true, .fields = {
		FIELD("prev_state", 0, 32, 16, HT_UNSIGNED),
		FIELD("next_pid", 1, 32, 32, HT_UNSIGNED),
		FIELD("next_prio", 0, 48, 16, HT_PLUS_ONE) } },
	[HT_WAKEUP] = { .name = "sched_wakeup", .fields = {
		FIELD("pid", 1, 0, 32, HT_UNSIGNED),
		FIELD("prio", 0, 16, 16, HT_PLUS_ONE),
		FIELD("target_cpu", 1, 32, 32, HT_UNSIGNED) } },
	[HT_IRQ_ENTRY] = { .name = "irq_handler_entry", .fields = {
		FIELD("irq", 1, 0, 32, HT_UNSIGNED) } },
	[HT_IRQ_EXIT] = { .name = "irq_handler_exit", .fields = {
		FIELD("irq", 1, 0, 32, HT_UNSIGNED),
		FIELD("handled", 1, 32, 32, HT_UNSIGNED) } },
	[HT_SOFTIRQ_ENTRY] = { .name = "softirq_entry", .fields = {
		FIELD("vec", 1, 0, 32, HT_UNSIGNED) } },
	[HT_SOFTIRQ_EXIT] = { .name = "softirq_exit", .fields = {
		FIELD("vec", 1, 0, 32, HT_UNSIGNED) } },
	[HT_SYSCALL_ENTRY] = { .name = "sys_enter", .fields = {
		FIELD("id", 1, 0, 32, HT_PLUS_ONE) } },
	[HT_SYSCALL_EXIT] = { .name = "sys_exit", .fields = {
		FIELD("id", 1, 0, 32, HT_PLUS_ONE),
		FIELD("ret", 2, 0, 64, HT_SIGNED) } },
	[HT_INITCALL_LEVEL] = { .name = "initcall_level", .fields = {
		FIELD("level", 1, 0, 32, HT_UNSIGNED) } },
	[HT_INITCALL_START] = { .name = "initcall_start", .fields = {
		FIELD("func", 1, 0, 64, HT_ADDRESS) } },
	[HT_INITCALL_FINISH] = { .name = "initcall_finish", .fields = {
		FIELD("func", 1, 0, 64, HT_ADDRESS),
		FIELD("ret", 2, 0, 32, HT_SIGNED) } },
	[HT_FUNCTION_ENTRY] = { .name = "function_entry", .fields = {
		FIELD("ip", 1, 0, 64, HT_ADDRESS) } },
	[HT_FUNCTION_EXIT] = { .name = "function_exit", .fields = {
		FIELD("ip", 1, 0, 64, HT_ADDRESS) } },
	[HT_TASK_NAME] = { .name = "task_name", .text = true, .fields = {
		FIELD("pid", 0, 32, 32, HT_UNSIGNED) } },
	[HT_LOST] = { .name = "lost", .fields = {
		FIELD("count", 1, 0, 64, HT_UNSIGNED) } },
	[HT_USER] = { .name = "user", .fields = {
		FIELD("id", 1, 0, 32, HT_UNSIGNED),
		FIELD("value", 2, 0, 64, HT_UNSIGNED) } },
	[HT_PHASE] = { .name = "phase", .fields = {
		FIELD("phase", 1, 0, 32, HT_UNSIGNED) } },
};

const struct ht_kind_row *ht_row(unsigned int kind)
{
	if (kind >= HT_N_KINDS || !ht_kinds[kind].name || ht_kinds[kind].inner)
		return NULL;
	return &ht_kinds[kind];
}

const char *ht_kind_name(unsigned int kind)
{
	const struct ht_kind_row *row = ht_row(kind);

	return row ? row->name : NULL;
}

unsigned int ht_kind_fields(unsigned int kind)
{
	const struct ht_kind_row *row = ht_row(kind);
	unsigned int n = 0;

	while (row && n < HT_MAX_FIELDS && row->fields[n].name)
		n++;
	return n;
}

const char *ht_field_name(unsigned int kind, unsigned int field)
{
	return field < ht_kind_fields(kind) ? ht_kinds[kind].fields[field].name : NULL;
}

/* The levels of Linux's init/main.c and init.h, in their order. */
static const char *const levels[] = {
	"early", "pure", "core", "postcore", "arch", "subsys", "fs", "rootfs", "device", "late",
	"console", "security",
};

#define N_LEVELS (sizeof(levels) / sizeof(levels[0]))

const char *ht_level_name(uint64_t level)
{
	return level < N_LEVELS ? levels[level] : NULL;
}

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

int ht_level_of(const char *name)
{
	unsigned int i;

	for (i = 0; i < N_LEVELS; i++)
		if (same(levels[i], name))
			return (int)i;
	return -1;
}

const char *ht_phase_name(uint64_t phase)
{
	static const char *const names[HT_N_PHASES] = {
		[HT_PHASE_MODULE] = "module loaded", [HT_PHASE_USER] = "user space",
		[HT_PHASE_RESTART] = "restart", [HT_PHASE_HALT] = "halt",
		[HT_PHASE_POWER_OFF] = "power off", [HT_PHASE_PANIC] = "panic",
	};

	return phase < HT_N_PHASES ? names[phase] : NULL;
}

const char *ht_result_name(enum ht_result result)
{
	static const char *const names[HT_N_RESULTS] = {
		[HT_OK] = "ok", [HT_FOREIGN] = "foreign",
		[HT_UNKNOWN_VERSION] = "unknown version", [HT_TRUNCATED] = "truncated",
		[HT_BAD] = "bad",
	};

	return names[result];
}
