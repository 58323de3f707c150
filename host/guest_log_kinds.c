// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	guest_log_kinds.c
 * @brief	Which messages of Linux are warnings about time, and what they say of it.
 */
#include <string.h>

#include "array.h"
#include "guest_log.h"

#define US	INT64_C(1000)
#define MS	INT64_C(1000000)
#define S	INT64_C(1000000000)

/** Bytes that %w can stand for. */
#define MOST_WORDS	128

/** Most prefixes that end in a colon before a warning: "NMI watchdog: BUG: ..." has one. */
#define MOST_PREFIXES	4

/** The longest time that a message can speak of. */
#define MOST_SPAN	(INT64_C(100000000) * S)

/**
 * Forms of messages, the first one that fits counts. %c is the number of a CPU, %n a number in
 * @unit, %w any other text. A form begins where a message does, or after a colon and a blank.
 *
 * Sources are functions of Linux. A soft lockup counts in units of 2^30 ns, and rounds down: the
 * CPU was stuck for at least as many seconds if there are 15 or more.
 */
static const struct form {
	enum guest_log_kind kind;
	const char	*text;
	int64_t		unit;
	int64_t		default_ns;	/* if the message has no span; 0: it speaks of none */
} forms[] = {
	/* kernel/watchdog.c: watchdog_timer_fn() */
	{ GUEST_LOG_SOFT_LOCKUP, "BUG: soft lockup - CPU#%c stuck for %ns!", S, 0 },
	/* kernel/watchdog.c: watchdog_hardlockup_check(), before 6.5 kernel/watchdog_hld.c;
	 * watchdog_thresh is 10 s */
	{ GUEST_LOG_HARD_LOCKUP, "Watchdog detected hard LOCKUP on cpu %c", S, 10 * S },
	/* kernel/rcu/tree_stall.h: print_cpu_stall(), print_other_cpu_stall();
	 * kernel/rcu/tree_exp.h: synchronize_rcu_expedited_wait();
	 * CONFIG_RCU_CPU_STALL_TIMEOUT is 21 s */
	{ GUEST_LOG_RCU_STALL, "INFO: %w self-detected stall on CPU", S, 21 * S },
	{ GUEST_LOG_RCU_STALL, "INFO: %w detected stalls on CPUs/tasks", S, 21 * S },
	{ GUEST_LOG_RCU_STALL, "INFO: %w detected expedited stalls on CPUs/tasks", S, 21 * S },
	/* kernel/hung_task.c: check_hung_task() */
	{ GUEST_LOG_HUNG_TASK, "INFO: task %w for more than %n seconds", S, 0 },
	/* kernel/time/clocksource.c: clocksource_watchdog(), every 0.5 s: WATCHDOG_INTERVAL */
	{ GUEST_LOG_CLOCKSOURCE, "timekeeping watchdog on CPU%c: Marking clocksource", S, S / 2 },
	{ GUEST_LOG_CLOCKSOURCE, "timekeeping watchdog: Marking clocksource", S, S / 2 },
	{ GUEST_LOG_CLOCKSOURCE, "timekeeping watchdog on CPU%c: %w read-back delay of %nns", 1,
	  0 },
	{ GUEST_LOG_CLOCKSOURCE, "Long readout interval, skipping watchdog check: %w "
	  "wd_nsec: %n", 1, 0 },
	{ GUEST_LOG_CLOCKSOURCE, "Clocksource %w unstable (delta = ", S, S / 2 },
	/* arch/x86/kernel/tsc.c: mark_tsc_unstable(), tsc_cs_mark_unstable() */
	{ GUEST_LOG_CLOCKSOURCE, "Marking TSC unstable due to clocksource watchdog", S, S / 2 },
	/* kernel/time/hrtimer.c: hrtimer_interrupt() */
	{ GUEST_LOG_HRTIMER, "hrtimer: interrupt took %n ns", 1, 0 },
	/* kernel/sched/rt.c: sched_rt_runtime_exceeded(); sysctl_sched_rt_period is 1 s */
	{ GUEST_LOG_RT_THROTTLING, "sched: RT throttling activated", S, S },
	/* kernel/sched/deadline.c: replenish_dl_entity() */
	{ GUEST_LOG_DEADLINE, "sched: DL replenish lagged too much", S, 0 },
	/* kernel/time/tick-sched.c: report_idle_softirq(), before 5.17 can_stop_idle_tick() */
	{ GUEST_LOG_NOHZ, "NOHZ tick-stop error: ", S, 0 },
	{ GUEST_LOG_NOHZ, "NOHZ: local_softirq_pending ", S, 0 },
	/* kernel/workqueue.c: wq_watchdog_timer_fn(), pr_cont_pool_info(): cpus=1, cpus=0-3 */
	{ GUEST_LOG_WORKQUEUE, "BUG: workqueue lockup - pool cpus=%c %w stuck for %ns!", S, 0 },
	{ GUEST_LOG_WORKQUEUE, "BUG: workqueue lockup - pool %w stuck for %ns!", S, 0 },
	/* kernel/workqueue.c: wq_cpu_intensive_report() */
	{ GUEST_LOG_CPU_HOG, "workqueue: %w hogged CPU for >%nus", US, 0 },
	/* arch/x86/kernel/nmi.c: nmi_check_duration() */
	{ GUEST_LOG_NMI, "INFO: NMI handler (%w took too long to run: %n msecs", MS, 0 },
	/* kernel/smp.c: csd_lock_wait_toolong(): the second CPU did not answer */
	{ GUEST_LOG_CSD, "csd: Detected %w waiting %n ns for CPU#%c", 1, 0 },
};

static const struct {
	const char	*name, *words;
} kind_names[GUEST_LOG_N_KINDS] = {
	[GUEST_LOG_SOFT_LOCKUP] = { "soft_lockup", "soft lockup" },
	[GUEST_LOG_HARD_LOCKUP] = { "hard_lockup", "hard lockup" },
	[GUEST_LOG_RCU_STALL] = { "rcu_stall", "RCU stall" },
	[GUEST_LOG_HUNG_TASK] = { "hung_task", "hung task" },
	[GUEST_LOG_CLOCKSOURCE] = { "clocksource", "unstable clock" },
	[GUEST_LOG_HRTIMER] = { "hrtimer", "long timer interrupt" },
	[GUEST_LOG_RT_THROTTLING] = { "rt_throttling", "real-time throttling" },
	[GUEST_LOG_DEADLINE] = { "deadline", "deadline task late" },
	[GUEST_LOG_NOHZ] = { "nohz", "softirq pending in idle" },
	[GUEST_LOG_WORKQUEUE] = { "workqueue_lockup", "workqueue lockup" },
	[GUEST_LOG_CPU_HOG] = { "cpu_hog", "work hogs a CPU" },
	[GUEST_LOG_NMI] = { "nmi_handler", "long NMI handler" },
	[GUEST_LOG_CSD] = { "csd_lock", "CPU does not answer" },
};

const char *guest_log_kind_name(enum guest_log_kind kind)
{
	return kind_names[kind].name;
}

const char *guest_log_kind_words(enum guest_log_kind kind)
{
	return kind_names[kind].words;
}

/* --- forms ------------------------------------------------------------------------------------ */

/** A piece of text that is not read yet. */
struct cursor {
	const char	*at, *end;
};

static bool is_digit(const struct cursor *cursor)
{
	return cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9';
}

/** Digits. Return: false if there are none, or they make more than @most. */
static bool take_digits(struct cursor *cursor, int64_t most, int64_t *value)
{
	const char *begin = cursor->at;

	for (*value = 0; is_digit(cursor); cursor->at++) {
		*value = 10 * *value + (*cursor->at - '0');
		if (*value > most)
			return false;
	}
	return cursor->at > begin;
}

static bool take_cpu(struct cursor *cursor, int32_t *cpu)
{
	int64_t value;

	if (!take_digits(cursor, GUEST_LOG_MAX_CPU, &value))
		return false;
	*cpu = (int32_t)value;
	return true;
}

/** A number of @unit, which may have decimals. */
static bool take_span(struct cursor *cursor, int64_t unit, int64_t *span_ns)
{
	int64_t value;

	if (!take_digits(cursor, MOST_SPAN / unit, &value))
		return false;
	*span_ns = value * unit;
	if (cursor->end - cursor->at < 2 || *cursor->at != '.' || cursor->at[1] < '0' ||
	    cursor->at[1] > '9')
		return true;
	for (cursor->at++; is_digit(cursor); cursor->at++) {
		unit /= 10;
		*span_ns += (*cursor->at - '0') * unit;
	}
	return true;
}

/** Does the text at the cursor have this form, up to its first %w? Return: the rest of the form. */
static const char *take_plain(struct cursor *cursor, const char *form, int64_t unit,
			      struct guest_log_warning *warning)
{
	for (; *form; form++) {
		if (*form != '%') {
			if (cursor->at == cursor->end || *cursor->at++ != *form)
				return NULL;
			continue;
		}
		form++;
		if (*form == 'w')
			return form + 1;
		if (!(*form == 'c' ? take_cpu(cursor, &warning->cpu) :
				     take_span(cursor, unit, &warning->span_ns)))
			return NULL;
	}
	return form;
}

/** Does the text at the cursor have this whole form, which has at most one %w? */
static bool has_form(struct cursor cursor, const struct form *form,
		     struct guest_log_warning *warning)
{
	struct guest_log_warning found = *warning;
	const char *rest = take_plain(&cursor, form->text, form->unit, &found);
	bool fits = rest && !*rest;

	for (int i = 0; rest && !fits && i < MOST_WORDS && cursor.at < cursor.end; i++) {
		struct cursor tried = { ++cursor.at, cursor.end };
		struct guest_log_warning more = found;

		rest = take_plain(&tried, strstr(form->text, "%w") + 2, form->unit, &more);
		fits = rest && !*rest;
		if (fits)
			found = more;
		rest = form->text;
	}
	if (!fits)
		return false;
	found.kind = (uint8_t)form->kind;
	found.is_default = !found.span_ns && form->default_ns;
	if (found.is_default)
		found.span_ns = form->default_ns;
	*warning = found;
	return true;
}

/** Go on after the next ": ", or at the end. */
static void skip_prefix(struct cursor *cursor)
{
	while (cursor->end - cursor->at >= 2 && memcmp(cursor->at, ": ", 2) != 0)
		cursor->at++;
	cursor->at = cursor->end - cursor->at >= 2 ? cursor->at + 2 : cursor->end;
}

bool guest_log_find(const char *text, size_t n, struct guest_log_warning *warning)
{
	struct cursor cursor = { text, text + n };

	for (int i = 0; i <= MOST_PREFIXES && cursor.at < cursor.end; i++) {
		for (size_t f = 0; f < ARRAY_SIZE(forms); f++)
			if (has_form(cursor, &forms[f], warning))
				return true;
		skip_prefix(&cursor);
	}
	return false;
}

/* --- the lines below -------------------------------------------------------------------------- */

static const char *find_text(const char *text, size_t n, const char *word)
{
	return memmem(text, n, word, strlen(word));
}

/**
 * "rcu: \t1-....: (21000 ticks this GP) ...", or "(1 GPs behind)" of a CPU that has not noticed the
 * last grace period: print_cpu_stall_info() of tree_stall.h.
 */
static bool take_stalled(const char *text, size_t n, int32_t *cpu)
{
	struct cursor cursor = { text, text + n };
	const char *ticks = find_text(text, n, ": (");

	if (!ticks)
		return false;
	if (n >= 5 && !memcmp(text, "rcu: ", 5))
		cursor.at += 5;
	while (cursor.at < ticks && (*cursor.at == '\t' || *cursor.at == ' '))
		cursor.at++;
	return take_cpu(&cursor, cpu) && cursor.at < ticks && *cursor.at == '-' &&
	       (find_text(ticks, (size_t)(text + n - ticks), " this GP)") ||
		find_text(ticks, (size_t)(text + n - ticks), " GPs behind)"));
}

bool guest_log_more(enum guest_log_kind kind, const char *text, size_t n, int32_t *cpu,
		    int64_t *span_ns)
{
	struct cursor cursor = { NULL, text + n };

	*cpu = -1;
	*span_ns = 0;
	if (kind == GUEST_LOG_RCU_STALL)
		return take_stalled(text, n, cpu);
	if (kind != GUEST_LOG_CLOCKSOURCE)
		return false;
	/* "clocksource:   'hpet' wd_nsec: 512345678 wd_now: ...": clocksource_watchdog() */
	cursor.at = find_text(text, n, "' wd_nsec: ");
	if (!cursor.at)
		return false;
	cursor.at += strlen("' wd_nsec: ");
	return take_span(&cursor, 1, span_ns);
}

int32_t guest_log_next_cpu(enum guest_log_kind kind, const char *text, size_t n, size_t *at)
{
	struct cursor cursor = { text + *at, text + n };
	const char *end;
	int32_t cpu;

	if (kind != GUEST_LOG_RCU_STALL)
		return -1;
	if (!*at) {
		cursor.at = memchr(text, '{', n);
		if (!cursor.at)
			return -1;
		cursor.at++;
	}
	end = memchr(cursor.at, '}', (size_t)(cursor.end - cursor.at));
	if (end)
		cursor.end = end;
	while (cursor.at < cursor.end) {
		/* a task in it is "P412" */
		bool begins = cursor.at[-1] == ' ' || cursor.at[-1] == '{';

		if (begins && is_digit(&cursor) && take_cpu(&cursor, &cpu)) {
			*at = (size_t)(cursor.at - text);
			return cpu;
		}
		cursor.at++;
	}
	*at = n;
	return -1;
}
