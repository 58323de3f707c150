// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	quota_machine.c
 * @brief	A virtual machine with two vCPUs, each on a CPU of its own. The guest of the first one
 *		always works; the monitor of the second one sleeps after each piece of work.
 *
 * usage: quota_machine -name NAME SECONDS
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MEMORY	4096
#define VCPUS	2
/** How long the second one sleeps. */
#define PAUSE_US	3000

static int kvm, vm;
static time_t end;

static int need(int result, const char *what)
{
	if (result < 0) {
		perror(what);
		exit(1);
	}
	return result;
}

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/** Its thread is called as QEMU calls those of vCPUs. */
static void *run(void *arg)
{
	int id = (int)(intptr_t)arg, vcpu;
	struct kvm_regs regs = { .rflags = 2, .rbx = id ? 2000 : 200000 };
	struct kvm_sregs sregs;
	struct kvm_run *state;
	cpu_set_t cpus;
	char name[16];

	snprintf(name, sizeof(name), "CPU %d/KVM", id);
	pthread_setname_np(pthread_self(), name);
	CPU_ZERO(&cpus);
	CPU_SET(id, &cpus);
	need(sched_setaffinity(0, sizeof(cpus), &cpus), "sched_setaffinity");
	vcpu = need(ioctl(vm, KVM_CREATE_VCPU, (unsigned long)id), "KVM_CREATE_VCPU");
	state = mmap(NULL, (size_t)need(ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, NULL), "size"),
		     PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	if (state == MAP_FAILED)
		need(-1, "mmap");
	need(ioctl(vcpu, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	need(ioctl(vcpu, KVM_SET_SREGS, &sregs), "KVM_SET_SREGS");
	need(ioctl(vcpu, KVM_SET_REGS, &regs), "KVM_SET_REGS");
	while (now() < end) {
		while (ioctl(vcpu, KVM_RUN, NULL))
			if (errno != EINTR && errno != EAGAIN)
				need(-1, "KVM_RUN");
		if (state->exit_reason != KVM_EXIT_IO)
			need(-1, "another exit");
		if (id)
			usleep(PAUSE_US);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const unsigned char program[] = {
		0x66, 0x89, 0xd9,	/* mov ecx, ebx */
		0x66, 0x49,		/* dec ecx */
		0x75, 0xfc,		/* jnz back to it */
		0xe4, 0x10,		/* in al, 0x10 */
		0xeb, 0xf5,		/* jmp to the beginning */
	};
	unsigned char *memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kvm_userspace_memory_region region = {
		.memory_size = MEMORY, .userspace_addr = (uintptr_t)memory,
	};
	pthread_t threads[VCPUS];

	if (argc != 4 || memory == MAP_FAILED)
		return 2;
	end = now() + atoi(argv[3]);
	memcpy(memory, program, sizeof(program));
	kvm = need(open("/dev/kvm", O_RDWR | O_CLOEXEC), "/dev/kvm");
	vm = need(ioctl(kvm, KVM_CREATE_VM, 0UL), "KVM_CREATE_VM");
	need(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region), "KVM_SET_USER_MEMORY_REGION");
	for (int i = 0; i < VCPUS; i++)
		need(-pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i), "thread");
	for (int i = 0; i < VCPUS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
