// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	memvmm.c
 * @brief	A small VMM whose guest touches pages, in phases: for each, the host has something
 *		else to do.
 *
 * Its one vCPU asks port 0x100 for an address and port 0x104 whether to write there, and does so.
 * Each phase is bracketed by "begin X" and "end X" in trace_marker. The duration of the touches of
 * a phase, as seen from here, goes to stdout.
 *
 *	cc -O2 -Wall -static -pthread -o memvmm memvmm.c
 *	memvmm DISK DELAY_US
 *
 * It reads files from DISK. A page of userfaultfd comes after DELAY_US. Swapped pages are freed by
 * memory.reclaim of the cgroup /sys/fs/cgroup/vm.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MB		(UINT64_C(1) << 20)
#define PAGE		UINT64_C(4096)
#define TOUCHES		24
#define ASK_ADDRESS	0x100
#define ASK_WRITE	0x104

enum { CODE, ANON, SWAP, SHARED, USERFAULT, PRIVATE, LOGGED, N_SLOTS };

static struct slot {
	uint64_t	gpa, size;
	char		*memory;
} slots[N_SLOTS] = {
	[CODE] = { 0x1000, PAGE }, [ANON] = { 16 * MB, 4 * MB }, [SWAP] = { 32 * MB, 4 * MB },
	[SHARED] = { 48 * MB, 4 * MB }, [USERFAULT] = { 64 * MB, 4 * MB },
	[PRIVATE] = { 80 * MB, 4 * MB }, [LOGGED] = { 96 * MB, 4 * MB },
};

/** Always there. */
#define NO_FAULT	(slots[CODE].gpa + 0x800)

/** A device's register, as no slot is there. */
#define NO_MEMORY	UINT64_C(0xd0000000)

/**
 * Protected mode: again: mov dx, ASK_ADDRESS; in eax, dx; mov ebx, eax; mov dx, ASK_WRITE; in eax, dx;
 * test eax, eax; jz read; mov byte [ebx], 1; jmp again; read: mov al, [ebx]; jmp again
 */
static const uint8_t code[] = {
	0x66, 0xba, 0x00, 0x01, 0xed, 0x89, 0xc3, 0x66, 0xba, 0x04, 0x01, 0xed, 0x85, 0xc0, 0x74,
	0x05, 0xc6, 0x03, 0x01, 0xeb, 0xeb, 0x8a, 0x03, 0xeb, 0xe7,
};

static int vm, vcpu, uffd;
static unsigned int delay_us;
static struct kvm_run *run;

static void must(int result, const char *what)
{
	if (result >= 0)
		return;
	fprintf(stderr, "memvmm: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void mark(const char *what, const char *phase)
{
	int fd = open("/sys/kernel/tracing/trace_marker", O_WRONLY);

	if (fd >= 0) {
		dprintf(fd, "%s %s", what, phase);
		close(fd);
	}
}

static void map(int slot, unsigned int flags)
{
	struct kvm_userspace_memory_region region = {
		.slot = slot, .flags = flags, .guest_phys_addr = slots[slot].gpa,
		.memory_size = slots[slot].size, .userspace_addr = (uintptr_t)slots[slot].memory,
	};

	must(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region), "memory region");
}

/** Return: the place of the answer. */
static uint32_t *until_asked(uint16_t port)
{
	for (;;) {
		if (ioctl(vcpu, KVM_RUN, 0) < 0 && errno != EINTR)
			must(-1, "KVM_RUN");
		if (run->exit_reason == KVM_EXIT_MMIO || run->exit_reason == KVM_EXIT_INTR)
			continue;
		if (run->exit_reason != KVM_EXIT_IO || run->io.port != port) {
			fprintf(stderr, "memvmm: exit reason %u\n", run->exit_reason);
			exit(1);
		}
		return (uint32_t *)((char *)run + run->io.data_offset);
	}
}

/** It has asked for an address before, and has asked for the next one when this is over. */
static void touch(const char *phase, uint64_t address, uint32_t writes)
{
	uint32_t *answer = (uint32_t *)((char *)run + run->io.data_offset);
	int64_t total = 0, begin;

	mark("begin", phase);
	for (int i = 0; i < TOUCHES; i++, address += PAGE) {
		*answer = (uint32_t)address;
		*until_asked(ASK_WRITE) = writes;
		begin = now();
		answer = until_asked(ASK_ADDRESS);
		total += now() - begin;
	}
	mark("end", phase);
	printf("%s: %d touches, %lld ns\n", phase, TOUCHES, (long long)total);
}

/** Supply pages, late. */
static void *handle(void *arg)
{
	static char page[PAGE] = { 7 };
	struct uffd_msg message;

	prctl(PR_SET_NAME, "uffd-handler");
	for (;;) {
		struct pollfd fds = { .fd = uffd, .events = POLLIN };
		struct uffdio_copy copy = { .src = (uintptr_t)page, .len = PAGE };

		poll(&fds, 1, -1);
		if (read(uffd, &message, sizeof(message)) != sizeof(message))
			continue;
		usleep(delay_us);
		copy.dst = message.arg.pagefault.address & ~(PAGE - 1);
		must(ioctl(uffd, UFFDIO_COPY, &copy), "UFFDIO_COPY");
	}
	return arg;
}

static void start_handler(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { (uintptr_t)slots[USERFAULT].memory, slots[USERFAULT].size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	pthread_t thread;

	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	must(uffd, "userfaultfd");
	must(ioctl(uffd, UFFDIO_API, &api), "UFFDIO_API");
	must(ioctl(uffd, UFFDIO_REGISTER, &range), "UFFDIO_REGISTER");
	must(-pthread_create(&thread, NULL, handle, NULL), "thread");
}

static void start_vm(int kvm, int disk)
{
	struct kvm_regs regs = { .rip = slots[CODE].gpa, .rflags = 2 };
	struct kvm_sregs sregs;

	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	must(vm, "KVM_CREATE_VM");
	ioctl(vm, KVM_SET_TSS_ADDR, 0xfffbd000);
	for (int i = 0; i < N_SLOTS; i++) {
		int fd = i == SHARED || i == PRIVATE ? disk : -1;

		slots[i].memory = mmap(NULL, slots[i].size, PROT_READ | PROT_WRITE,
				       (i == SHARED ? MAP_SHARED : MAP_PRIVATE) |
				       (fd < 0 ? MAP_ANONYMOUS : 0), fd,
				       i == PRIVATE ? (off_t)(8 * MB) : 0);
		must(slots[i].memory == MAP_FAILED ? -1 : 0, "mmap");
		madvise(slots[i].memory, slots[i].size, MADV_NOHUGEPAGE);
		if (fd >= 0)
			madvise(slots[i].memory, slots[i].size, MADV_RANDOM);
		map(i, 0);
	}
	memcpy(slots[CODE].memory, code, sizeof(code));
	vcpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	must(vcpu, "KVM_CREATE_VCPU");
	run = mmap(NULL, ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), PROT_READ | PROT_WRITE, MAP_SHARED,
		   vcpu, 0);
	must(run == MAP_FAILED ? -1 : 0, "mmap of the vCPU");
	must(ioctl(vcpu, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
	sregs.cr0 |= 1;
	sregs.cs.base = sregs.ds.base = 0;
	sregs.cs.limit = sregs.ds.limit = UINT32_MAX;
	sregs.cs.selector = 8;
	sregs.ds.selector = 16;
	sregs.cs.db = sregs.ds.db = sregs.cs.g = sregs.ds.g = 1;
	sregs.cs.type = 11;
	sregs.ds.type = 3;
	sregs.ss = sregs.es = sregs.ds;
	must(ioctl(vcpu, KVM_SET_SREGS, &sregs), "KVM_SET_SREGS");
	must(ioctl(vcpu, KVM_SET_REGS, &regs), "KVM_SET_REGS");
}

/** Pages that only the swap device has. */
static void swap_out(void)
{
	memset(slots[SWAP].memory, 1, TOUCHES * PAGE);
	must(madvise(slots[SWAP].memory, TOUCHES * PAGE, MADV_PAGEOUT), "MADV_PAGEOUT");
	usleep(500000);
	if (system("echo 2M > /sys/fs/cgroup/vm/memory.reclaim"))
		fprintf(stderr, "memvmm: not all could be reclaimed\n");
}

int main(int argc, char **argv)
{
	int kvm = open("/dev/kvm", O_RDWR), disk = argc == 3 ? open(argv[1], O_RDWR) : -1;

	must(kvm, "/dev/kvm");
	must(disk, "disk");
	delay_us = (unsigned int)atoi(argv[2]);
	start_vm(kvm, disk);
	start_handler();
	prctl(PR_SET_NAME, "CPU 0/KVM");
	swap_out();
	until_asked(ASK_ADDRESS);
	touch("first touch", slots[ANON].gpa, 1);
	touch("no fault", slots[ANON].gpa, 1);
	touch("swap-in", slots[SWAP].gpa, 1);
	touch("file read", slots[SHARED].gpa, 0);
	touch("userfault", slots[USERFAULT].gpa, 1);
	touch("file read, private", slots[PRIVATE].gpa, 0);
	touch("copy on write", slots[PRIVATE].gpa, 1);
	touch("first touch, to be logged", slots[LOGGED].gpa, 1);
	map(LOGGED, KVM_MEM_LOG_DIRTY_PAGES);
	touch("dirty logging", slots[LOGGED].gpa, 1);
	/* as with a balloon: the guest touches again what the host has taken */
	madvise(slots[ANON].memory, TOUCHES * PAGE, MADV_DONTNEED);
	touch("first touch, again", slots[ANON].gpa, 1);
	memset(slots[ANON].memory + MB, 3, TOUCHES * PAGE);
	touch("mapped only", slots[ANON].gpa + MB, 1);
	touch("MMIO", NO_MEMORY, 1);
	return 0;
}
