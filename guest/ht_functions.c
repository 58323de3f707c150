// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions under a filter: by fprobe, which takes patterns, where the kernel has it; else a
 * kretprobe for each name of a list.
 */
#include <linux/fprobe.h>
#include <linux/kprobes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/version.h>

#include "ht.h"

static void tell(enum ht_kind kind, unsigned long address)
{
	struct ht_event event = { .kind = kind, .field = { address } };

	ht_tell(&event);
}

#ifdef CONFIG_FPROBE

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
#define HT_REGS	struct ftrace_regs
#else
#define HT_REGS	struct pt_regs
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
static int on_entry(struct fprobe *probe, unsigned long ip, unsigned long ret_ip, HT_REGS *regs,
		    void *data)
{
	tell(HT_FUNCTION_ENTRY, ip);
	return 0;
}

static void on_exit(struct fprobe *probe, unsigned long ip, unsigned long ret_ip, HT_REGS *regs,
		    void *data)
{
	tell(HT_FUNCTION_EXIT, ip);
}
#else
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
static int on_entry(struct fprobe *probe, unsigned long ip, struct pt_regs *regs, void *data)
{
	tell(HT_FUNCTION_ENTRY, ip);
	return 0;
}
#else
static void on_entry(struct fprobe *probe, unsigned long ip, struct pt_regs *regs, void *data)
{
	tell(HT_FUNCTION_ENTRY, ip);
}
#endif

static void on_exit(struct fprobe *probe, unsigned long ip, struct pt_regs *regs, void *data)
{
	tell(HT_FUNCTION_EXIT, ip);
}
#endif

static struct fprobe function_probe;
static bool attached;

int ht_functions_attach(const char *filter)
{
	int ret;

	if (!*filter)
		return 0;
	function_probe = (struct fprobe) { .entry_handler = on_entry, .exit_handler = on_exit };
	ret = register_fprobe(&function_probe, filter, NULL);
	attached = !ret;
	return ret;
}

void ht_functions_detach(void)
{
	if (attached)
		unregister_fprobe(&function_probe);
	attached = false;
}

#else

#define HT_MAX_FUNCTIONS	32

static struct ht_function {
	struct kretprobe probe;
	char	name[KSYM_NAME_LEN];
} *functions;
static unsigned int n_functions;

static int on_entry(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct kretprobe *probe = get_kretprobe(instance);

	if (!probe)
		return 1;
	tell(HT_FUNCTION_ENTRY, (unsigned long)probe->kp.addr);
	return 0;
}

static int on_exit(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct kretprobe *probe = get_kretprobe(instance);

	if (probe)
		tell(HT_FUNCTION_EXIT, (unsigned long)probe->kp.addr);
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
	}
	if (ret)
		ht_functions_detach();
	return ret;
}

void ht_functions_detach(void)
{
	while (n_functions)
		unregister_kretprobe(&functions[--n_functions].probe);
	kfree(functions);
	functions = NULL;
}

#endif
