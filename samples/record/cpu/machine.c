// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	machine.c
 * @brief	A virtual machine with two vCPUs on one CPU, on arm64 and on x86. Its guest counts, and has a VM exit
 *		of each of some kinds per round.
 *
 * usage: machine -name NAME ROUNDS
 *
 * After one round, it stops itself (SIGSTOP). From SIGCONT on, it works for ROUNDS, and prints how often each vCPU did
 * what in them, to compare with the trace. On x86, the guest is in real mode, with segments
 * of 4 GB, and the interrupt controllers are in the kernel.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define VCPUS	2
#define CPU	1
#define MEMORY	(64UL << 20)

struct vcpu {
	int		number, fd;
	struct kvm_run	*run;
	/** What the monitor saw. */
	unsigned	rounds, reads, writes, mmio, interrupted;
};

static struct vcpu vcpus[VCPUS];
static unsigned rounds;
static pthread_barrier_t stopped;
static int kvm, vm;
extern const char guest_begin[], guest_end[];

static int need(int result, const char *what)
{
	if (result < 0) {
		perror(what);
		exit(1);
	}
	return result;
}

#ifdef __aarch64__

#define BASE	0x80000000UL

/* x20: the monitor's page; x21: memory that was not used before */
__asm__(".pushsection .rodata\n"
	".balign 8\n"
	".global guest_begin, guest_end\n"
	"guest_begin:\n"
	"	msr	daifset, #15\n"
	"	mov	x20, #0x0a000000\n"
	"1:	movz	x1, #4, lsl #16\n"
	"2:	subs	x1, x1, #1\n"
	"	b.ne	2b\n"
	"	str	x1, [x21]\n"			/* a page */
	"	add	x21, x21, #4096\n"
	"	movz	x0, #0x8400, lsl #16\n"		/* PSCI_VERSION */
	"	hvc	#0\n"
	"	mov	x2, #1\n"
	"	str	w2, [x20]\n"			/* ask for an interrupt */
	"	wfi\n"
	"	str	w2, [x20, #4]\n"		/* the end of the round */
	"	b	1b\n"
	"guest_end:\n"
	".popsection\n");

static volatile int wanted[VCPUS];

static void interrupt(int number, int level)
{
	struct kvm_irq_level irq = {
		.irq = KVM_ARM_IRQ_TYPE_CPU << KVM_ARM_IRQ_TYPE_SHIFT |
		       number << KVM_ARM_IRQ_VCPU_SHIFT | KVM_ARM_IRQ_CPU_IRQ,
		.level = level,
	};

	need(ioctl(vm, KVM_IRQ_LINE, &irq), "KVM_IRQ_LINE");
}

static void set(struct vcpu *vcpu, uint64_t reg, uint64_t value)
{
	struct kvm_one_reg one = { .id = reg, .addr = (uintptr_t)&value };

	need(ioctl(vcpu->fd, KVM_SET_ONE_REG, &one), "KVM_SET_ONE_REG");
}

#define CORE(offset)	(KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE | (offset) / 4)

static void prepare_vm(void)
{
}

static void prepare(struct vcpu *vcpu)
{
	struct kvm_vcpu_init init;

	need(ioctl(vm, KVM_ARM_PREFERRED_TARGET, &init), "KVM_ARM_PREFERRED_TARGET");
	init.features[0] |= 1 << KVM_ARM_VCPU_PSCI_0_2;
	need(ioctl(vcpu->fd, KVM_ARM_VCPU_INIT, &init), "KVM_ARM_VCPU_INIT");
	set(vcpu, CORE(offsetof(struct kvm_regs, regs.pc)), BASE);
	set(vcpu, CORE(offsetof(struct kvm_regs, regs.regs[21])),
	    BASE + (vcpu->number + 1) * MEMORY / 4);
}

/** Returns whether a round has ended. */
static int handle(struct vcpu *vcpu)
{
	if (vcpu->run->exit_reason != KVM_EXIT_MMIO)
		return -1;
	vcpu->mmio++;
	if (!(vcpu->run->mmio.phys_addr & 4)) {
		wanted[vcpu->number] = 1;
		return 0;
	}
	interrupt(vcpu->number, 0);
	return 1;
}

/** Interrupts come 5 ms later or earlier: a guest that waits for one sleeps. */
static void *device(void *arg)
{
	for (;;) {
		usleep(5000);
		for (int i = 0; i < VCPUS; i++)
			if (wanted[i]) {
				wanted[i] = 0;
				interrupt(i, 1);
			}
	}
	return arg;
}

#else

#define BASE	0
#define CODE	0x1000
#define PORT	0x10

/* esi: memory that was not used before; edi: the local APIC */
__asm__(".pushsection .rodata\n"
	".global guest_begin, guest_end, guest_invalid, guest_interrupt\n"
	".code16\n"
	"guest_begin:\n"
	"	movl	$0xfee00000, %edi\n"
	"	movl	$0x1ff, %es:0xf0(%edi)\n"	/* on */
	"	movl	$3, %es:0x3e0(%edi)\n"		/* the timer: divided by 16, */
	"	movl	$0x40, %es:0x320(%edi)\n"	/* one shot, vector 0x40 */
	"1:	movl	$100000, %ecx\n"
	"2:	decl	%ecx\n"
	"	jnz	2b\n"
	"	movl	%ecx, %es:(%esi)\n"		/* a page */
	"	addl	$4096, %esi\n"
	"	xorl	%eax, %eax\n"
	"	cpuid\n"
	"	movl	$0x277, %ecx\n"			/* PAT */
	"	rdmsr\n"
	"	wrmsr\n"
	"	movl	%cr0, %eax\n"
	"	xorl	$2, %eax\n"
	"	movl	%eax, %cr0\n"
	"	movl	$1000, %eax\n"			/* a hypercall that there is not */
	"	vmcall\n"
	"	ud2\n"
	"	movl	$0xa0000000, %ebx\n"
	"	movl	%eax, %es:(%ebx)\n"		/* MMIO */
	"	movl	$0x40041, %es:0x300(%edi)\n"	/* an IPI to itself, vector 0x41, */
	"	sti\n"					/* that has to wait for this */
	"	nop\n"
	"	cli\n"
	"	movl	$10000, %es:0x380(%edi)\n"	/* start the timer */
	"	sti\n"
	"	hlt\n"
	"	cli\n"
	"	inb	$0x10, %al\n"
	"	outb	%al, $0x10\n"			/* the end of the round */
	"	jmp	1b\n"
	"guest_invalid:\n"
	"	pushw	%bp\n"
	"	movw	%sp, %bp\n"
	"	addw	$2, 2(%bp)\n"			/* after ud2 */
	"	popw	%bp\n"
	"	iretw\n"
	"guest_interrupt:\n"
	"	movl	$0, %es:0xb0(%edi)\n"
	"	iretw\n"
	".code64\n"
	"guest_end:\n"
	".popsection\n");

extern const char guest_invalid[], guest_interrupt[];

static void prepare_vm(void)
{
	need(ioctl(vm, KVM_SET_TSS_ADDR, 0xfffbd000UL), "KVM_SET_TSS_ADDR");
	need(ioctl(vm, KVM_CREATE_IRQCHIP, 0), "KVM_CREATE_IRQCHIP");
}

static void flat(struct kvm_segment *segment)
{
	segment->base = 0;
	segment->selector = 0;
	segment->limit = 0xffffffff;
	segment->g = 1;
}

static void prepare(struct vcpu *vcpu)
{
	struct {
		struct kvm_cpuid2	head;
		struct kvm_cpuid_entry2	entries[256];
	} cpuid = { .head.nent = 256 };
	struct kvm_mp_state runs = { .mp_state = KVM_MP_STATE_RUNNABLE };
	struct kvm_regs regs = { .rip = CODE, .rflags = 2, .rsp = 0x8000 + 0x1000 * vcpu->number };
	struct kvm_sregs sregs;

	need(ioctl(kvm, KVM_GET_SUPPORTED_CPUID, &cpuid), "KVM_GET_SUPPORTED_CPUID");
	need(ioctl(vcpu->fd, KVM_SET_CPUID2, &cpuid), "KVM_SET_CPUID2");
	need(ioctl(vcpu->fd, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	flat(&sregs.es);
	need(ioctl(vcpu->fd, KVM_SET_SREGS, &sregs), "KVM_SET_SREGS");
	regs.rsi = (vcpu->number + 1) * MEMORY / 4;
	need(ioctl(vcpu->fd, KVM_SET_REGS, &regs), "KVM_SET_REGS");
	need(ioctl(vcpu->fd, KVM_SET_MP_STATE, &runs), "KVM_SET_MP_STATE");
}

/** Returns whether a round has ended. */
static int handle(struct vcpu *vcpu)
{
	switch (vcpu->run->exit_reason) {
	case KVM_EXIT_MMIO:
		vcpu->mmio++;
		return 0;
	case KVM_EXIT_IO:
		if (vcpu->run->io.direction == KVM_EXIT_IO_IN) {
			vcpu->reads++;
			return 0;
		}
		vcpu->writes++;
		return 1;
	}
	return -1;
}

#endif

static void work(struct vcpu *vcpu, unsigned n)
{
	while (vcpu->rounds < n) {
		int ended;

		if (ioctl(vcpu->fd, KVM_RUN, 0)) {
			if (errno != EINTR)
				need(-1, "KVM_RUN");
			vcpu->interrupted++;
			continue;
		}
		ended = handle(vcpu);
		if (ended < 0) {
			fprintf(stderr, "vCPU %d: exit reason %u, %llx\n", vcpu->number,
				vcpu->run->exit_reason,
				(unsigned long long)vcpu->run->hw.hardware_exit_reason);
			exit(1);
		}
		vcpu->rounds += ended;
	}
}

/** Its thread is called as QEMU calls those of vCPUs. */
static void *run(void *arg)
{
	struct vcpu *vcpu = arg;
	cpu_set_t cpus;
	char name[16];

	snprintf(name, sizeof(name), "CPU %d/KVM", vcpu->number);
	pthread_setname_np(pthread_self(), name);
	CPU_ZERO(&cpus);
	CPU_SET(CPU, &cpus);
	need(sched_setaffinity(0, sizeof(cpus), &cpus), "sched_setaffinity");
	work(vcpu, 1);
	pthread_barrier_wait(&stopped);
	pthread_barrier_wait(&stopped);
	vcpu->rounds = vcpu->reads = vcpu->writes = vcpu->mmio = vcpu->interrupted = 0;
	work(vcpu, rounds);
	return NULL;
}

int main(int argc, char **argv)
{
	struct kvm_userspace_memory_region region = { .guest_phys_addr = BASE, .memory_size = MEMORY };
	pthread_t threads[VCPUS];
	char *memory;

	if (argc != 4 || strcmp(argv[1], "-name") || (rounds = atoi(argv[3])) == 0) {
		fprintf(stderr, "usage: machine -name NAME ROUNDS\n");
		return 2;
	}
	kvm = need(open("/dev/kvm", O_RDWR | O_CLOEXEC), "/dev/kvm");
	vm = need(ioctl(kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(memory == MAP_FAILED ? -1 : 0, "mmap");
	need(madvise(memory, MEMORY, MADV_NOHUGEPAGE), "madvise");
#ifdef __aarch64__
	memcpy(memory, guest_begin, guest_end - guest_begin);
#else
	memcpy(memory + CODE, guest_begin, guest_end - guest_begin);
	((uint32_t *)memory)[6] = CODE + (guest_invalid - guest_begin);
	((uint32_t *)memory)[0x40] = CODE + (guest_interrupt - guest_begin);
	((uint32_t *)memory)[0x41] = CODE + (guest_interrupt - guest_begin);
#endif
	region.userspace_addr = (uintptr_t)memory;
	need(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region), "KVM_SET_USER_MEMORY_REGION");
	prepare_vm();
	for (int i = 0; i < VCPUS; i++) {
		struct vcpu *vcpu = &vcpus[i];

		vcpu->number = i;
		vcpu->fd = need(ioctl(vm, KVM_CREATE_VCPU, i), "KVM_CREATE_VCPU");
		vcpu->run = mmap(NULL, ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), PROT_READ | PROT_WRITE,
				 MAP_SHARED, vcpu->fd, 0);
		need(vcpu->run == MAP_FAILED ? -1 : 0, "mmap");
		prepare(vcpu);
	}
	pthread_barrier_init(&stopped, NULL, VCPUS + 1);
	for (int i = 0; i < VCPUS; i++)
		need(-pthread_create(&threads[i], NULL, run, &vcpus[i]), "pthread_create");
#ifdef __aarch64__
	pthread_t other;

	need(-pthread_create(&other, NULL, device, NULL), "pthread_create");
#endif
	pthread_barrier_wait(&stopped);
	raise(SIGSTOP);
	pthread_barrier_wait(&stopped);
	for (int i = 0; i < VCPUS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < VCPUS; i++)
		printf("%s v%d: %u rounds, %u reads, %u writes, %u mmio, %u interrupted\n", argv[2], i,
		       vcpus[i].rounds, vcpus[i].reads, vcpus[i].writes, vcpus[i].mmio,
		       vcpus[i].interrupted);
	return 0;
}
