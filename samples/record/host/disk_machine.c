// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	disk_machine.c
 * @brief	A virtual machine whose guest reads a byte from a port again and again; for each, its
 *		monitor reads a block of a file, past the page cache.
 *
 * usage: disk_machine FILE READS
 */
#define _GNU_SOURCE
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
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK	4096

static int file, reads;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int need(int result, const char *what)
{
	if (result < 0)
		fail(what);
	return result;
}

/** Its thread is called as QEMU calls those of vCPUs. */
static void *run(void *arg)
{
	static const unsigned char program[] = {
		0xe4, 0x10,		/* in al, 0x10 */
		0xeb, 0xfc,		/* jmp to the beginning */
	};
	int kvm = need(open("/dev/kvm", O_RDWR | O_CLOEXEC), "/dev/kvm");
	int vm = need(ioctl(kvm, KVM_CREATE_VM, 0UL), "KVM_CREATE_VM");
	unsigned char *memory = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kvm_userspace_memory_region region = {
		.memory_size = BLOCK, .userspace_addr = (uintptr_t)memory,
	};
	struct kvm_regs regs = { .rflags = 2 };
	struct kvm_sregs sregs;
	struct kvm_run *state;
	struct stat facts;
	void *block;
	int vcpu;

	(void)arg;
	if (memory == MAP_FAILED || posix_memalign(&block, BLOCK, BLOCK))
		fail("memory");
	memcpy(memory, program, sizeof(program));
	need(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region), "KVM_SET_USER_MEMORY_REGION");
	vcpu = need(ioctl(vm, KVM_CREATE_VCPU, 0UL), "KVM_CREATE_VCPU");
	state = mmap(NULL, (size_t)need(ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, NULL), "size"),
		     PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	if (state == MAP_FAILED)
		fail("KVM_RUN");
	need(ioctl(vcpu, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	need(ioctl(vcpu, KVM_SET_SREGS, &sregs), "KVM_SET_SREGS");
	need(ioctl(vcpu, KVM_SET_REGS, &regs), "KVM_SET_REGS");
	need(fstat(file, &facts), "the file");
	pthread_setname_np(pthread_self(), "CPU 0/KVM");
	srandom(1);
	while (reads--) {
		off_t at = random() % (facts.st_size / BLOCK) * BLOCK;

		while (ioctl(vcpu, KVM_RUN, NULL))
			if (errno != EINTR && errno != EAGAIN)
				fail("KVM_RUN");
		if (state->exit_reason != KVM_EXIT_IO)
			fail("another exit");
		if (pread(file, block, BLOCK, at) != BLOCK)
			fail("the file");
		usleep(1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 3)
		return 2;
	file = need(open(argv[1], O_RDONLY | O_DIRECT | O_CLOEXEC), argv[1]);
	reads = atoi(argv[2]);
	if (pthread_create(&thread, NULL, run, NULL))
		fail("thread");
	pthread_join(thread, NULL);
	return 0;
}
