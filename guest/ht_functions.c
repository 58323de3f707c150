// SPDX-License-Identifier: GPL-2.0-only
/*
 * Report functions under a filter, a list with commas: patterns by fprobe, where the kernel has it;
 * else names, by a kretprobe each.
 */
#include <linux/container_of.h>
#include <linux/fprobe.h>
#include <linux/kprobes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/version.h>

#include "ht.h"

#define HT_MAX_FUNCTIONS	32

static struct ht_function {
#ifdef CONFIG_FPROBE
	struct fprobe	probe;
#else
	struct kretprobe probe;
	char		name[KSYM_NAME_LEN];
#endif
	unsigned long	reported_missed;
} *functions;
static unsigned int n_functions;
static unsigned long missed_before;	/* of those that are detached */

/*
 * Calls that the kernel could not follow, because too many were open or one came within another's
 * probe. Their entries and exits are not reported.
 */
static unsigned long missed(const struct ht_function *function)
{
	return READ_ONCE(function->probe.nmissed);
}

static void report_missed(struct ht_function *function)
{
	struct ht_event event = { .kind = HT_LOST };
	unsigned long now = missed(function), reported = READ_ONCE(function->reported_missed);

	if (now == reported || cmpxchg(&function->reported_missed, reported, now) != reported)
		return;
	event.field[0] = now - reported;
	ht_report(&event);
}

static void report_call(enum ht_kind kind, unsigned long address)
{
	struct ht_event event = { .kind = kind, .field = { address } };

	ht_report(&event);
}

#ifdef CONFIG_FPROBE

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
#define HT_REGS	struct ftrace_regs
#else
#define HT_REGS	struct pt_regs
#endif

static void enter(struct fprobe *probe, unsigned long ip)
{
	report_missed(container_of(probe, struct ht_function, probe));
	report_call(HT_FUNCTION_ENTRY, ip);
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
static int on_entry(struct fprobe *probe, unsigned long ip, unsigned long ret_ip, HT_REGS *regs,
		    void *data)
{
	enter(probe, ip);
	return 0;
}

static void on_exit(struct fprobe *probe, unsigned long ip, unsigned long ret_ip, HT_REGS *regs,
		    void *data)
{
	report_call(HT_FUNCTION_EXIT, ip);
}
#else
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
static int on_entry(struct fprobe *probe, unsigned long ip, struct pt_regs *regs, void *data)
{
	enter(probe, ip);
	return 0;
}
#else
static void on_entry(struct fprobe *probe, unsigned long ip, struct pt_regs *regs, void *data)
{
	enter(probe, ip);
}
#endif

static void on_exit(struct fprobe *probe, unsigned long ip, struct pt_regs *regs, void *data)
{
	report_call(HT_FUNCTION_EXIT, ip);
}
#endif

/* It takes one pattern, not a list. */
static int attach_one(struct ht_function *function, const char *pattern)
{
	function->probe.entry_handler = on_entry;
	function->probe.exit_handler = on_exit;
	return register_fprobe(&function->probe, pattern, NULL);
}

static void detach_one(struct ht_function *function)
{
	unregister_fprobe(&function->probe);
}

#else

static int on_entry(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct kretprobe *probe = get_kretprobe(instance);

	if (!probe)
		return 1;
	report_missed(container_of(probe, struct ht_function, probe));
	report_call(HT_FUNCTION_ENTRY, (unsigned long)probe->kp.addr);
	return 0;
}

static int on_exit(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct kretprobe *probe = get_kretprobe(instance);

	if (probe)
		report_call(HT_FUNCTION_EXIT, (unsigned long)probe->kp.addr);
	return 0;
}

static int attach_one(struct ht_function *function, const char *name)
{
	if (strpbrk(name, "*?[")) {
		pr_err("hypertrace: no fprobe in this kernel: functions need names\n");
		return -EOPNOTSUPP;
	}
	if (strscpy(function->name, name, sizeof(function->name)) < 0)
		return -EINVAL;
	function->probe.kp.symbol_name = function->name;
	function->probe.entry_handler = on_entry;
	function->probe.handler = on_exit;
	function->probe.maxactive = 64;
	return register_kretprobe(&function->probe);
}

static void detach_one(struct ht_function *function)
{
	unregister_kretprobe(&function->probe);
}

#endif

int ht_functions_attach(const char *filter)
{
	char copy[HT_LIST_SIZE], *rest = copy, *word;
	int ret = 0;

	if (!*filter)
		return 0;
	functions = kcalloc(HT_MAX_FUNCTIONS, sizeof(*functions), GFP_KERNEL);
	if (!functions)
		return -ENOMEM;
	strscpy(copy, filter, sizeof(copy));
	while (!ret && (word = strsep(&rest, ","))) {
		if (!*word)
			continue;
		ret = n_functions < HT_MAX_FUNCTIONS ?
			attach_one(&functions[n_functions], word) : -E2BIG;
		if (!ret)
			n_functions++;
		else
			pr_err("hypertrace: function '%s' cannot be traced (%d)\n", word, ret);
	}
	if (ret)
		ht_functions_detach();
	return ret;
}

void ht_functions_detach(void)
{
	while (n_functions) {
		detach_one(&functions[--n_functions]);
		missed_before += missed(&functions[n_functions]);
	}
	kfree(functions);
	functions = NULL;
}

/* Report misses that no further call has reported. With the lock held, as for the others. */
void ht_functions_report_missed(void)
{
	unsigned int i;

	for (i = 0; i < n_functions; i++)
		report_missed(&functions[i]);
}

u64 ht_functions_missed(void)
{
	u64 sum = missed_before;
	unsigned int i;

	for (i = 0; i < n_functions; i++)
		sum += missed(&functions[i]);
	return sum;
}
