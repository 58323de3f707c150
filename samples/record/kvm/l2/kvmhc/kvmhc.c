// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * kvmhc: issue KVM hypercalls from inside a guest, with recognisable arguments.
 *
 * Writing "NR COUNT A0" to /proc/kvmhc issues COUNT hypercalls
 *     rax = NR, a0 = A0 + i, a1 = 0x1111, a2 = 0x2222, a3 = i        (i = 0 .. COUNT-1)
 * on the CPU the writer runs on, and prints one trace_printk line before the
 * first and one after the last, so the guest's trace shows where they happened.
 * An NR the host does not know (1000 is customary) returns -KVM_ENOSYS, but still
 * shows up in the host's trace as one kvm_hypercall event per call.
 * Writing "tsc CYCLES" adds these to the TSC of all CPUs. Writing "spin MS" or "mutex MS"
 * takes a lock of this module, a spinlock or a mutex, and keeps it for that long; two
 * lines in the guest's trace show when. Writing "irqs MS" spins for that long with
 * interrupts off. Writing "loops N" counts to N without a pause for other tasks: how long
 * that takes depends on how much time the vCPU gets.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <asm/kvm_para.h>
#include <asm/msr.h>

static DEFINE_SPINLOCK(spin);
static DEFINE_MUTEX(mutex);

static volatile unsigned long counted;

static void add_tsc(void *cycles)
{
	wrmsrl(MSR_IA32_TSC, rdtsc() + *(long *)cycles);
}

static ssize_t kvmhc_write(struct file *f, const char __user *ubuf, size_t len, loff_t *ppos)
{
	char buf[64];
	unsigned long nr, count, a0, i, ms;
	long ret = 0, cycles;

	if (len >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, ubuf, len))
		return -EFAULT;
	buf[len] = 0;
	if (sscanf(buf, "tsc %ld", &cycles) == 1) {
		on_each_cpu(add_tsc, &cycles, 1);
		return len;
	}
	if (sscanf(buf, "spin %lu", &ms) == 1 && ms < 100) {
		spin_lock(&spin);
		trace_printk("kvmhc has spin\n");
		mdelay(ms);
		trace_printk("kvmhc frees spin\n");
		spin_unlock(&spin);
		return len;
	}
	if (sscanf(buf, "mutex %lu", &ms) == 1 && ms < 100) {
		mutex_lock(&mutex);
		trace_printk("kvmhc has mutex\n");
		mdelay(ms);
		trace_printk("kvmhc frees mutex\n");
		mutex_unlock(&mutex);
		return len;
	}
	if (sscanf(buf, "irqs %lu", &ms) == 1 && ms < 100000) {
		unsigned long flags;
		u64 end;

		local_irq_save(flags);
		for (end = ktime_get_mono_fast_ns() + ms * NSEC_PER_MSEC; ktime_get_mono_fast_ns() < end;)
			cpu_relax();
		local_irq_restore(flags);
		return len;
	}
	if (sscanf(buf, "loops %lu", &count) == 1) {
		preempt_disable();
		for (i = 0; i < count; i++)
			counted = i;
		preempt_enable();
		return len;
	}
	if (sscanf(buf, "%lu %lu %lu", &nr, &count, &a0) != 3 || count > 100000)
		return -EINVAL;

	trace_printk("kvmhc begin nr=%lu count=%lu a0=%lu\n", nr, count, a0);
	for (i = 0; i < count; i++)
		ret = kvm_hypercall4(nr, a0 + i, 0x1111, 0x2222, i);
	trace_printk("kvmhc end nr=%lu count=%lu ret=%ld\n", nr, count, ret);
	return len;
}

static const struct proc_ops kvmhc_ops = { .proc_write = kvmhc_write };

static int __init kvmhc_init(void)
{
	if (!kvm_para_available())
		return -ENODEV;
	return proc_create("kvmhc", 0200, NULL, &kvmhc_ops) ? 0 : -ENOMEM;
}

static void __exit kvmhc_exit(void)
{
	remove_proc_entry("kvmhc", NULL);
}

module_init(kvmhc_init);
module_exit(kvmhc_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("issue recognisable KVM hypercalls from a guest");
