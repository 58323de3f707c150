// SPDX-License-Identifier: GPL-2.0-only
/*
 * hypertrace: report events of this guest to its host by hypercalls, from the moment when the
 * module is loaded. The host records them with its own trace of hypercalls:
 * docs/hypertrace-format.md.
 */
#include <linux/cpuhotplug.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/reboot.h>

#include "ht.h"

static char *events = "sched";
module_param(events, charp, 0444);
MODULE_PARM_DESC(events, "sched, irq, softirq, syscalls, initcalls, all, or tracepoints");
static char *mode = "packed";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "packed: several events in a call; plain: one");
static unsigned int most;
module_param(most, uint, 0444);
MODULE_PARM_DESC(most, "events in a packed call at most; as many as fit (0)");
static unsigned int shift = 6;
module_param(shift, uint, 0444);
MODULE_PARM_DESC(shift, "time of packed events is in units of 1 << shift cycles (6)");
static char *functions = "";
module_param(functions, charp, 0444);
MODULE_PARM_DESC(functions, "functions whose entries and exits are reported");
static bool enabled = true;
module_param(enabled, bool, 0444);
MODULE_PARM_DESC(enabled, "begin at once, or by debugfs");

struct ht_settings ht_settings;
static DEFINE_MUTEX(lock);
static bool is_on;
static int cpu_state;

void ht_settings_lock(void)
{
	mutex_lock(&lock);
}

void ht_settings_unlock(void)
{
	mutex_unlock(&lock);
}

bool ht_is_on(void)
{
	return is_on;
}

/* With the lock held. */
int ht_start(void)
{
	int ret;

	if (is_on)
		return 0;
	ret = ht_check_host();
	if (ret)
		return ret;
	cpu_state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "hypertrace:online", ht_cpu_start,
				      ht_cpu_stop);
	if (cpu_state < 0) {
		pr_err("hypertrace: CPUs cannot be followed (%d)\n", cpu_state);
		return cpu_state;
	}
	is_on = true;
	ret = ht_probes_attach();
	if (!ret)
		ret = ht_functions_attach(ht_settings.functions);
	if (ret)
		ht_stop();
	else
		ht_set_reporting(true);
	return ret;
}

void ht_stop(void)
{
	if (!is_on)
		return;
	ht_functions_report_missed();
	ht_set_reporting(false);
	ht_functions_detach();
	ht_probes_detach();
	cpuhp_remove_state(cpu_state);
	is_on = false;
}

/* After settings have changed. */
int ht_restart(void)
{
	if (!is_on)
		return 0;
	ht_stop();
	return ht_start();
}

static void report_phase(enum ht_phase phase)
{
	struct ht_event event = { .kind = HT_PHASE, .field = { phase } };

	ht_report(&event);
	ht_flush();
}

static int on_reboot(struct notifier_block *block, unsigned long action, void *data)
{
	switch (action) {
	case SYS_RESTART:
		report_phase(HT_PHASE_RESTART);
		break;
	case SYS_HALT:
		report_phase(HT_PHASE_HALT);
		break;
	case SYS_POWER_OFF:
		report_phase(HT_PHASE_POWER_OFF);
		break;
	}
	return NOTIFY_DONE;
}

static int on_panic(struct notifier_block *block, unsigned long action, void *data)
{
	report_phase(HT_PHASE_PANIC);
	return NOTIFY_DONE;
}

static struct notifier_block reboot_block = { .notifier_call = on_reboot };
static struct notifier_block panic_block = { .notifier_call = on_panic };

static int take_parameters(void)
{
	ht_settings.packed = !strcmp(mode, "packed");
	if (!ht_settings.packed && strcmp(mode, "plain")) {
		pr_err("hypertrace: mode is packed or plain, not '%s'\n", mode);
		return -EINVAL;
	}
	if (shift > HT_MAX_SHIFT || strlen(functions) >= sizeof(ht_settings.functions)) {
		pr_err("hypertrace: shift is %d at most, functions has less than %d letters\n",
		       HT_MAX_SHIFT, HT_LIST_SIZE);
		return -EINVAL;
	}
	ht_settings.most = most;
	ht_settings.shift = shift;
	strscpy(ht_settings.functions, functions, sizeof(ht_settings.functions));
	return ht_probes_want(events);
}

static int begin(void)
{
	int ret;

	mutex_lock(&lock);
	ret = enabled ? ht_start() : 0;
	mutex_unlock(&lock);
	if (!ret && enabled)
		report_phase(HT_PHASE_MODULE);
	return ret;
}

static int __init ht_init(void)
{
	int ret = ht_probes_find();

	if (ret)
		pr_err("hypertrace: this kernel has no tracepoint sched_switch\n");
	else
		ret = take_parameters();
	if (!ret)
		ret = ht_send_init();
	if (ret)
		return ret;
	ret = begin();
	if (ret) {
		/* the function that failed has printed why */
		pr_info("hypertrace: not begun (%d)\n", ret);
		ht_send_exit();
		return ret;
	}
	register_reboot_notifier(&reboot_block);
	atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
	ht_control_init();
	return 0;
}

static void __exit ht_exit(void)
{
	ht_control_exit();
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_block);
	unregister_reboot_notifier(&reboot_block);
	mutex_lock(&lock);
	ht_stop();
	mutex_unlock(&lock);
	ht_send_exit();
}

module_init(ht_init);
module_exit(ht_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Report events of this guest to its host by hypercalls");
MODULE_VERSION("0.1.0");
