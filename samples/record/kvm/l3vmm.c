// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	l3vmm.c
 * @brief	The smallest VMM: two vCPUs that run a few real-mode instructions, in phases.
 *
 * It runs in the guest L2 and its own guest is L3. There is no interrupt controller in the kernel,
 * so that HLT ends KVM_RUN. Each phase is bracketed by "begin X" and "end X" in trace_marker; what
 * was seen of KVM_RUN goes to stdout, to compare with the traces.
 *
 *	cc -O2 -Wall -static -pthread -o l3vmm l3vmm.c
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define N_VCPUS		2
#define MEMORY		0x10000
#define PORT		0x10

/** What L3 can do; SI counts. Each ends with HLT. */
#define BUSY		0x1000
#define PORT_IO		0x1100
#define CPUID		0x1200
#define HALT		0x1300

static const uint8_t busy[] = {
	0x66, 0x4e,		/* dec esi */
	0x75, 0xfc,		/* jnz */
	0xf4,			/* hlt */
};
static const uint8_t port_io[] = {
	0xe6, PORT,		/* out PORT, al */
	0xe4, PORT,		/* in al, PORT */
	0x66, 0x4e, 0x75, 0xf8, 0xf4,
};
static const uint8_t cpuid[] = {
	0x66, 0x31, 0xc0,	/* xor eax, eax */
	0x0f, 0xa2,		/* cpuid */
	0x66, 0x4e, 0x75, 0xf7, 0xf4,
};
static const uint8_t halt[] = { 0xf4 };

static const struct phase {
	const char	*name;
	uint16_t	code;
	uint32_t	count;		/* ESI */
	int		times;		/* so often */
	int		pause_us;	/* after each */
	int		vcpus;		/* bit mask */
} phases[] = {
	{ "l3 io", PORT_IO, 30, 1, 0, 1 },
	{ "l3 cpuid", CPUID, 30, 1, 0, 1 },
	{ "l3 busy", BUSY, 40000000, 1, 0, 1 },
	{ "l3 halt", HALT, 0, 10, 5000, 2 },
	{ "l3 both", BUSY, 30000000, 1, 0, 3 },
};
#define N_PHASES	(int)(sizeof(phases) / sizeof(phases[0]))

struct vcpu {
	int		number, fd;
	struct kvm_run	*run;
	unsigned	runs, halts, ins, outs, interrupted;
};

static pthread_barrier_t barrier;
static int marker = -1;

static void die(const char *what)
{
	fprintf(stderr, "l3vmm: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void mark(const char *edge, const char *name)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%s %s", edge, name);

	if (marker >= 0 && write(marker, line, n) != n)
		die("trace_marker");
}

/** Let L3 run from @code on until it halts. */
static void run(struct vcpu *vcpu, uint16_t code, uint32_t count)
{
	struct kvm_regs regs = { .rip = code, .rsi = count, .rsp = 0x8000, .rflags = 2 };

	if (ioctl(vcpu->fd, KVM_SET_REGS, &regs))
		die("KVM_SET_REGS");
	for (;;) {
		vcpu->runs++;
		if (ioctl(vcpu->fd, KVM_RUN, 0)) {
			if (errno != EINTR)
				die("KVM_RUN");
			vcpu->interrupted++;
			continue;
		}
		if (vcpu->run->exit_reason == KVM_EXIT_HLT)
			break;
		if (vcpu->run->exit_reason != KVM_EXIT_IO) {
			fprintf(stderr, "l3vmm: exit reason %u\n", vcpu->run->exit_reason);
			exit(1);
		}
		if (vcpu->run->io.direction == KVM_EXIT_IO_IN)
			vcpu->ins++;
		else
			vcpu->outs++;
	}
	vcpu->halts++;
}

static void *vcpu_thread(void *arg)
{
	struct vcpu *vcpu = arg;
	char name[16];

	snprintf(name, sizeof(name), "l3 vCPU %d", vcpu->number);
	prctl(PR_SET_NAME, name);
	for (int p = 0; p < N_PHASES; p++) {
		pthread_barrier_wait(&barrier);
		for (int i = 0; phases[p].vcpus >> vcpu->number & 1 && i < phases[p].times; i++) {
			run(vcpu, phases[p].code, phases[p].count);
			if (phases[p].pause_us)
				usleep(phases[p].pause_us);
		}
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void vcpu_make(struct vcpu *vcpu, int kvm, int vm, int number)
{
	struct kvm_sregs sregs;

	vcpu->number = number;
	vcpu->fd = ioctl(vm, KVM_CREATE_VCPU, number);
	if (vcpu->fd < 0)
		die("KVM_CREATE_VCPU");
	vcpu->run = mmap(NULL, ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), PROT_READ | PROT_WRITE,
			 MAP_SHARED, vcpu->fd, 0);
	if (vcpu->run == MAP_FAILED || ioctl(vcpu->fd, KVM_GET_SREGS, &sregs))
		die("vCPU");
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	if (ioctl(vcpu->fd, KVM_SET_SREGS, &sregs))
		die("KVM_SET_SREGS");
}

int main(void)
{
	struct kvm_userspace_memory_region region = { .memory_size = MEMORY };
	struct vcpu vcpus[N_VCPUS] = { 0 };
	pthread_t threads[N_VCPUS];
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm;
	uint8_t *memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			       -1, 0);

	vm = kvm < 0 ? -1 : ioctl(kvm, KVM_CREATE_VM, 0);
	if (vm < 0 || memory == MAP_FAILED)
		die("/dev/kvm");
	memcpy(memory + BUSY, busy, sizeof(busy));
	memcpy(memory + PORT_IO, port_io, sizeof(port_io));
	memcpy(memory + CPUID, cpuid, sizeof(cpuid));
	memcpy(memory + HALT, halt, sizeof(halt));
	region.userspace_addr = (uintptr_t)memory;
	if (ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region))
		die("KVM_SET_USER_MEMORY_REGION");
	marker = open("/sys/kernel/tracing/trace_marker", O_WRONLY);
	pthread_barrier_init(&barrier, NULL, N_VCPUS + 1);
	for (int i = 0; i < N_VCPUS; i++)
		vcpu_make(&vcpus[i], kvm, vm, i);
	for (int i = 0; i < N_VCPUS; i++)
		if (pthread_create(&threads[i], NULL, vcpu_thread, &vcpus[i]))
			die("thread");
	for (int p = 0; p < N_PHASES; p++) {
		usleep(20000);
		mark("begin", phases[p].name);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		mark("end", phases[p].name);
	}
	for (int i = 0; i < N_VCPUS; i++) {
		pthread_join(threads[i], NULL);
		printf("L3 vCPU %d: %u times KVM_RUN, %u halts, %u in, %u out, %u interrupted\n", i,
		       vcpus[i].runs, vcpus[i].halts, vcpus[i].ins, vcpus[i].outs,
		       vcpus[i].interrupted);
	}
	return 0;
}
