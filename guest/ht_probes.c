// SPDX-License-Identifier: GPL-2.0-only
/*
 * Report the kernel's tracepoints, each by a line of the table. Arguments are those of Linux 6.1
 * and later.
 */
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <asm/syscall.h>

#include "ht.h"

/* As trace/events/sched.h prints it. */
static u32 switched_state(bool preempt, struct task_struct *prev, unsigned int prev_state)
{
	unsigned int index;

	if (preempt)
		return TASK_REPORT_MAX;
	index = __task_state_index(prev_state, prev->exit_state);
	return index ? 1 << (index - 1) : 0;
}

static void on_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	struct ht_event event = { .kind = HT_SWITCH };

	event.field[HT_SWITCH_PREV_PID] = prev->pid;
	event.field[HT_SWITCH_PREV_PRIO] = prev->prio;
	event.field[HT_SWITCH_PREV_STATE] = switched_state(preempt, prev, prev_state);
	event.field[HT_SWITCH_NEXT_PID] = next->pid;
	event.field[HT_SWITCH_NEXT_PRIO] = next->prio;
	ht_report_task(prev->pid, prev->comm);
	ht_report_task(next->pid, next->comm);
	ht_report(&event);
}

static void on_wakeup(void *data, struct task_struct *task)
{
	struct ht_event event = {
		.kind = HT_WAKEUP, .field = { task->pid, task->prio, task_cpu(task) },
	};

	ht_report(&event);
}

static void on_irq_entry(void *data, int irq, struct irqaction *action)
{
	struct ht_event event = { .kind = HT_IRQ_ENTRY, .field = { irq } };

	ht_report(&event);
}

static void on_irq_exit(void *data, int irq, struct irqaction *action, int ret)
{
	struct ht_event event = { .kind = HT_IRQ_EXIT, .field = { irq, !!ret } };

	ht_report(&event);
}

static void on_softirq_entry(void *data, unsigned int vec)
{
	struct ht_event event = { .kind = HT_SOFTIRQ_ENTRY, .field = { vec } };

	ht_report(&event);
}

static void on_softirq_exit(void *data, unsigned int vec)
{
	struct ht_event event = { .kind = HT_SOFTIRQ_EXIT, .field = { vec } };

	ht_report(&event);
}

static bool is_wanted_syscall(long id)
{
	return !READ_ONCE(ht_settings.some_syscalls) ||
	       (id >= 0 && id < HT_MAX_SYSCALLS && test_bit(id, ht_settings.syscalls));
}

static void on_sys_enter(void *data, struct pt_regs *regs, long id)
{
	struct ht_event event = { .kind = HT_SYSCALL_ENTRY, .field = { id } };

	if (is_wanted_syscall(id))
		ht_report(&event);
}

static void on_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	long id = syscall_get_nr(current, regs);
	struct ht_event event = { .kind = HT_SYSCALL_EXIT, .field = { id, ret } };

	if (is_wanted_syscall(id))
		ht_report(&event);
}

static void on_initcall_level(void *data, const char *level)
{
	struct ht_event event = { .kind = HT_INITCALL_LEVEL, .field = { ht_level_of(level) } };

	ht_report(&event);
}

static void on_initcall_start(void *data, initcall_t func)
{
	struct ht_event event = { .kind = HT_INITCALL_START, .field = { (unsigned long)func } };

	ht_report(&event);
}

static void on_initcall_finish(void *data, initcall_t func, int ret)
{
	struct ht_event event = {
		.kind = HT_INITCALL_FINISH, .field = { (unsigned long)func, ret },
	};

	ht_report(&event);
}

/* (u32)-1 is the end of it. */
static void on_idle(void *data, unsigned int state, unsigned int cpu)
{
	if (state != (u32)-1)
		ht_flush();
}

#define PROBE(name_, group_, function_, kind_) \
	{ .name = name_, .group = group_, .function = function_, .kinds = 1u << (kind_) }

struct ht_probe ht_probes[] = {
	PROBE("sched_switch", "sched", on_switch, HT_SWITCH),
	PROBE("sched_wakeup", "sched", on_wakeup, HT_WAKEUP),
	PROBE("sched_wakeup_new", "sched", on_wakeup, HT_WAKEUP),
	PROBE("irq_handler_entry", "irq", on_irq_entry, HT_IRQ_ENTRY),
	PROBE("irq_handler_exit", "irq", on_irq_exit, HT_IRQ_EXIT),
	PROBE("softirq_entry", "softirq", on_softirq_entry, HT_SOFTIRQ_ENTRY),
	PROBE("softirq_exit", "softirq", on_softirq_exit, HT_SOFTIRQ_EXIT),
	PROBE("sys_enter", "syscalls", on_sys_enter, HT_SYSCALL_ENTRY),
	PROBE("sys_exit", "syscalls", on_sys_exit, HT_SYSCALL_EXIT),
	PROBE("initcall_level", "initcalls", on_initcall_level, HT_INITCALL_LEVEL),
	PROBE("initcall_start", "initcalls", on_initcall_start, HT_INITCALL_START),
	PROBE("initcall_finish", "initcalls", on_initcall_finish, HT_INITCALL_FINISH),
	{ .name = "cpu_idle", .function = on_idle, .wanted = true },
	{ }
};

static void find_one(struct tracepoint *tracepoint, void *data)
{
	struct ht_probe *probe;

	for (probe = ht_probes; probe->name; probe++)
		if (!strcmp(probe->name, tracepoint->name))
			probe->tracepoint = tracepoint;
}

/* Which of them this kernel has: those that it lacks cannot be wanted. */
int ht_probes_find(void)
{
	for_each_kernel_tracepoint(find_one, NULL);
	return ht_probes[0].tracepoint ? 0 : -EOPNOTSUPP;
}

int ht_probes_attach(void)
{
	struct ht_probe *probe;
	int ret;

	for (probe = ht_probes; probe->name; probe++) {
		if (!probe->wanted || !probe->tracepoint)
			continue;
		ret = tracepoint_probe_register(probe->tracepoint, probe->function, NULL);
		if (ret) {
			pr_err("hypertrace: %s cannot be traced (%d)\n", probe->name, ret);
			return ret;
		}
		probe->attached = true;
	}
	return 0;
}

/* When it returns, no probe runs any more. */
void ht_probes_detach(void)
{
	struct ht_probe *probe;

	for (probe = ht_probes; probe->name; probe++) {
		if (probe->attached)
			tracepoint_probe_unregister(probe->tracepoint, probe->function, NULL);
		probe->attached = false;
	}
	tracepoint_synchronize_unregister();
}

/* Names or groups, with commas between. Return: 0, or -EINVAL for one that is not there. */
int ht_probes_want(const char *list)
{
	char copy[HT_LIST_SIZE], *rest = copy, *word;
	struct ht_probe *probe;
	bool found;

	if (strscpy(copy, list, sizeof(copy)) < 0) {
		pr_err("hypertrace: events has less than %d letters\n", HT_LIST_SIZE);
		return -EINVAL;
	}
	while ((word = strsep(&rest, ",\n"))) {
		found = !*word;
		for (probe = ht_probes; probe->name; probe++) {
			if (!probe->group ||
			    (strcmp(word, probe->name) && strcmp(word, probe->group) &&
			     strcmp(word, "all")))
				continue;
			probe->wanted = found = true;
		}
		if (!found) {
			pr_err("hypertrace: there is no event '%s'\n", word);
			return -EINVAL;
		}
	}
	return 0;
}

u32 ht_probes_kinds(void)
{
	u32 kinds = 1u << HT_TASK_NAME | 1u << HT_LOST | 1u << HT_USER | 1u << HT_PHASE;
	struct ht_probe *probe;

	for (probe = ht_probes; probe->name; probe++)
		if (probe->wanted && probe->tracepoint)
			kinds |= probe->kinds;
	if (ht_settings.functions[0])
		kinds |= 1u << HT_FUNCTION_ENTRY | 1u << HT_FUNCTION_EXIT;
	return kinds;
}
