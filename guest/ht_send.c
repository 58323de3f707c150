// SPDX-License-Identifier: GPL-2.0-only
/*
 * Send an event as a hypercall, on one CPU.
 *
 * Probes run at any moment: in interrupts, in the middle of another probe (only in an NMI, as
 * interrupts are off during a probe), on CPUs that have not begun yet. A probe that finds its CPU
 * busy counts its event as lost. The next event that is sent reports the loss.
 */
#include <linux/cc_platform.h>
#include <linux/kvm_para.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#ifdef CONFIG_XEN
#include <xen/xen.h>
#include <asm/xen/hypercall.h>
#endif

#include "ht.h"

/* Names that this CPU has reported, by the lower bits of the pid. */
#define HT_N_NAMES	128

/* Calls from one clock to the next. */
#define HT_CLOCK_EVERY	128

struct ht_name {
	u32	pid;
	bool	known;
	char	comm[HT_TEXT_SIZE];
};

struct ht_cpu {
	bool			started;
	int			busy;
	unsigned long		missed;		/* since the last event that was reported */
	unsigned long		missed_ever;
	u64			events;
	struct ht_encoder	encoder;
	struct ht_name		names[HT_N_NAMES];
};

static struct ht_cpu __percpu *ht_cpus;

/* Probes are attached and detached one after the other; by this, all begin and end at once. */
static bool reporting;

#ifdef CONFIG_XEN
/* Xen's public/hvm/hvm_op.h. */
#define HVMOP_xentrace	11

struct xen_hvm_xentrace {
	u16	event, extra_bytes;
	u8	extra[HT_XEN_BYTES];
};

static bool under_xen(void)
{
	return xen_domain();
}

static long xen_call(const struct ht_call *call)
{
	struct xen_hvm_xentrace trace = {
		.event = call->nr, .extra_bytes = HT_XEN_BYTES,
	};

	/* x86 is little-endian, as the format is */
	memcpy(trace.extra, call->a, HT_XEN_BYTES);
	return HYPERVISOR_hvm_op(HVMOP_xentrace, &trace);
}
#else
static bool under_xen(void)
{
	return false;
}

static long xen_call(const struct ht_call *call)
{
	return -ENOSYS;
}
#endif

/* vmcall or vmmcall: the kernel has chosen by the CPU's vendor. */
static long make_call(const struct ht_call *call)
{
	if (call->xen)
		return xen_call(call);
	return kvm_hypercall4(call->nr, call->a[0], call->a[1], call->a[2], call->a[3]);
}

/* What a host answers that has no use for a call but to record it. */
static long usual_answer(void)
{
	return under_xen() ? 0 : -KVM_ENOSYS;
}

static void make_clock(struct ht_clock *clock)
{
	*clock = (struct ht_clock) {
		.tsc = rdtsc(), .khz = tsc_khz, .vcpu = smp_processor_id(),
		.kinds = ht_probes_kinds(), .shift = ht_settings.shift,
		.packed = ht_settings.packed,
	};
}

/*
 * Is there a host that answers a call as expected? The first call says that this CPU begins, the
 * second one that it ends.
 */
int ht_check_host(void)
{
	struct ht_encoder encoder;
	struct ht_clock clock;
	struct ht_call call;
	long answer;

	if (!under_xen() && !kvm_para_available()) {
		pr_info("hypertrace: this guest runs under neither KVM nor Xen\n");
		return -ENODEV;
	}
	if (cc_platform_has(CC_ATTR_GUEST_STATE_ENCRYPT)) {
		pr_info("hypertrace: the host cannot see the registers of this guest\n");
		return -ENODEV;
	}
	preempt_disable();
	make_clock(&clock);
	ht_encode_start(&encoder, &clock, under_xen(), &call);
	answer = make_call(&call);
	if (answer == usual_answer()) {
		ht_encode_stop(&encoder, rdtsc(), 0, &call);
		make_call(&call);
	}
	preempt_enable();
	if (answer == usual_answer())
		return 0;
	pr_info("hypertrace: the host answers %ld, not %ld\n", answer, usual_answer());
	return -EOPNOTSUPP;
}

/* Take this CPU; interrupts are off until it is given back. Return: NULL if it is not to be had. */
static struct ht_cpu *take_cpu(unsigned long *flags)
{
	struct ht_cpu *cpu;

	raw_local_irq_save(*flags);
	cpu = this_cpu_ptr(ht_cpus);
	if (READ_ONCE(cpu->started) && !READ_ONCE(cpu->busy)) {
		WRITE_ONCE(cpu->busy, 1);
		barrier();
		return cpu;
	}
	if (cpu->started) {
		this_cpu_inc(ht_cpus->missed);
		this_cpu_inc(ht_cpus->missed_ever);
	}
	raw_local_irq_restore(*flags);
	return NULL;
}

static void give_back(struct ht_cpu *cpu, unsigned long flags)
{
	barrier();
	WRITE_ONCE(cpu->busy, 0);
	raw_local_irq_restore(flags);
}

static void send_clock(struct ht_cpu *cpu)
{
	struct ht_call call;

	if (cpu->encoder.calls % HT_CLOCK_EVERY)
		return;
	ht_encode_clock(&cpu->encoder, rdtsc(), &call);
	make_call(&call);
}

static void flush_cpu(struct ht_cpu *cpu)
{
	struct ht_call call;

	if (!ht_encode_flush(&cpu->encoder, rdtsc(), &call))
		return;
	make_call(&call);
	send_clock(cpu);
}

static void put_event(struct ht_cpu *cpu, const struct ht_event *event)
{
	struct ht_call call;

	cpu->events++;
	if (cpu->encoder.clock.packed) {
		if (!ht_encode_add(&cpu->encoder, event)) {
			flush_cpu(cpu);
			ht_encode_add(&cpu->encoder, event);
		}
		if (ht_settings.most && cpu->encoder.n_events >= ht_settings.most)
			flush_cpu(cpu);
	} else if (ht_encode_plain(&cpu->encoder, event, &call)) {
		make_call(&call);
		send_clock(cpu);
	}
}

/* The loss of this CPU comes first. */
static void put_missed(struct ht_cpu *cpu, u64 tsc)
{
	struct ht_event lost = { .kind = HT_LOST, .tsc = tsc };

	if (!READ_ONCE(cpu->missed))
		return;
	lost.field[0] = this_cpu_xchg(ht_cpus->missed, 0);
	put_event(cpu, &lost);
}

/* A task's name, unless this CPU has reported it already. */
static void put_name(struct ht_cpu *cpu, u32 pid, const char *comm, u64 tsc)
{
	struct ht_name *name = &cpu->names[pid % HT_N_NAMES];
	struct ht_event event = { .kind = HT_TASK_NAME, .tsc = tsc, .field = { pid } };
	int i;

	for (i = 0; i < HT_TEXT_SIZE && comm[i]; i++)
		event.text[i] = comm[i];
	if (name->known && name->pid == pid &&
	    !memcmp(name->comm, event.text, sizeof(name->comm)))
		return;
	name->known = true;
	name->pid = pid;
	memcpy(name->comm, event.text, sizeof(name->comm));
	put_event(cpu, &event);
}

/* Report an event that happens now, on this CPU. Its time is set. */
void ht_report(struct ht_event *event)
{
	unsigned long flags;
	struct ht_cpu *cpu;

	if (!READ_ONCE(reporting))
		return;
	cpu = take_cpu(&flags);
	if (!cpu)
		return;
	event->tsc = rdtsc();
	put_missed(cpu, event->tsc);
	put_event(cpu, event);
	give_back(cpu, flags);
}

void ht_report_task(u32 pid, const char *comm)
{
	unsigned long flags;
	struct ht_cpu *cpu;

	if (!READ_ONCE(reporting))
		return;
	cpu = take_cpu(&flags);
	if (!cpu)
		return;
	put_name(cpu, pid, comm, rdtsc());
	give_back(cpu, flags);
}

/* Send what is packed, before this CPU does nothing for long. */
void ht_flush(void)
{
	unsigned long flags;
	struct ht_cpu *cpu = take_cpu(&flags);

	if (!cpu)
		return;
	flush_cpu(cpu);
	give_back(cpu, flags);
}

void ht_set_reporting(bool on)
{
	WRITE_ONCE(reporting, on);
}

/* Both are called on the CPU itself, by its hotplug thread. */
int ht_cpu_start(unsigned int number)
{
	struct ht_cpu *cpu = per_cpu_ptr(ht_cpus, number);
	struct ht_clock clock;
	struct ht_call call;
	unsigned long flags;

	raw_local_irq_save(flags);
	memset(cpu, 0, sizeof(*cpu));
	make_clock(&clock);
	ht_encode_start(&cpu->encoder, &clock, under_xen(), &call);
	make_call(&call);
	barrier();
	WRITE_ONCE(cpu->started, true);
	raw_local_irq_restore(flags);
	return 0;
}

int ht_cpu_stop(unsigned int number)
{
	struct ht_call call;
	unsigned long flags;
	struct ht_cpu *cpu = take_cpu(&flags);

	if (!cpu)
		return 0;
	put_missed(cpu, rdtsc());
	flush_cpu(cpu);
	ht_encode_stop(&cpu->encoder, rdtsc(), (u32)min_t(u64, cpu->missed_ever, U32_MAX), &call);
	make_call(&call);
	WRITE_ONCE(cpu->started, false);
	give_back(cpu, flags);
	return 0;
}

void ht_cpu_stats(unsigned int number, struct ht_cpu_stats *stats)
{
	const struct ht_cpu *cpu = per_cpu_ptr(ht_cpus, number);

	stats->events = READ_ONCE(cpu->events);
	stats->calls = READ_ONCE(cpu->encoder.calls);
	stats->lost = READ_ONCE(cpu->missed_ever);
}

int ht_send_init(void)
{
	ht_cpus = alloc_percpu(struct ht_cpu);
	return ht_cpus ? 0 : -ENOMEM;
}

void ht_send_exit(void)
{
	free_percpu(ht_cpus);
}
