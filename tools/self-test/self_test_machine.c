// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	self_test_machine.c
 * @brief	A virtual machine of some bytes: it counts, writes each number to its monitor, and
 *		halts on x86, for ever.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "self_test.h"

struct self_test_machine {
	int		kvm, vm, vcpu, stats;
	unsigned char	*memory;
	struct kvm_run	*run;
	size_t		run_size;
	uint64_t	steps;
	off_t		exits_at;	/* of the statistics; 0: not known */
};

#define MEMORY		4096

#if defined(__x86_64__) || defined(__i386__)

#define BASE		0
#define PORT		0x10

const struct self_test_way self_test_machine_way = {
	"in real mode", "a port, each followed by HLT"
};

/** Real mode. AL is the guest's counter. */
static const unsigned char program[] = {
	0xfe, 0xc0,		/* inc al */
	0xe6, PORT,		/* out PORT, al */
	0xf4,			/* hlt */
	0xeb, 0xf9,		/* jmp to the beginning */
};

static int prepare(struct self_test_machine *machine)
{
	struct kvm_sregs sregs;
	struct kvm_regs regs = { .rflags = 2 };

	if (ioctl(machine->vcpu, KVM_GET_SREGS, &sregs))
		return -errno;
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	if (ioctl(machine->vcpu, KVM_SET_SREGS, &sregs) ||
	    ioctl(machine->vcpu, KVM_SET_REGS, &regs))
		return -errno;
	return 0;
}

#elif defined(__aarch64__)

#define BASE		0x80000000UL
#define DEVICE		0x10000000UL

const struct self_test_way self_test_machine_way = { "at EL1", "a device" };

/** W1 is the guest's counter. A guest that waits here has no interrupt that wakes it. */
static const uint32_t program[] = {
	0x52a20000,		/* mov w0, #DEVICE */
	0x11000421,		/* add w1, w1, #1 */
	0x39000001,		/* strb w1, [x0] */
	0x17fffffe,		/* b to the addition */
};

static int prepare(struct self_test_machine *machine)
{
	uint64_t pc = BASE;
	struct kvm_one_reg reg = {
		.id = KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE |
		      KVM_REG_ARM_CORE_REG(regs.pc),
		.addr = (uintptr_t)&pc,
	};
	struct kvm_vcpu_init init;

	if (ioctl(machine->vm, KVM_ARM_PREFERRED_TARGET, &init) ||
	    ioctl(machine->vcpu, KVM_ARM_VCPU_INIT, &init) ||
	    ioctl(machine->vcpu, KVM_SET_ONE_REG, &reg))
		return -errno;
	return 0;
}

#endif

#ifdef BASE

static int set_memory(struct self_test_machine *machine)
{
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = BASE,
		.memory_size = MEMORY,
	};

	machine->memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);
	if (machine->memory == MAP_FAILED) {
		machine->memory = NULL;
		return -ENOMEM;
	}
	memcpy(machine->memory, program, sizeof(program));
	region.userspace_addr = (uintptr_t)machine->memory;
	return ioctl(machine->vm, KVM_SET_USER_MEMORY_REGION, &region) ? -errno : 0;
}

static int make(struct self_test_machine *machine)
{
	int size, ret;

	machine->vm = ioctl(machine->kvm, KVM_CREATE_VM, 0UL);
	if (machine->vm < 0)
		return -errno;
	ret = set_memory(machine);
	if (ret)
		return ret;
	machine->vcpu = ioctl(machine->vm, KVM_CREATE_VCPU, 0UL);
	size = ioctl(machine->kvm, KVM_GET_VCPU_MMAP_SIZE, NULL);
	if (machine->vcpu < 0 || size < (int)sizeof(*machine->run))
		return -errno;
	machine->run_size = (size_t)size;
	machine->run = mmap(NULL, machine->run_size, PROT_READ | PROT_WRITE, MAP_SHARED,
			    machine->vcpu, 0);
	if (machine->run == MAP_FAILED) {
		machine->run = NULL;
		return -errno;
	}
	return prepare(machine);
}

/** Return: false if the guest has done anything else. */
static bool enter(struct self_test_machine *machine, uint32_t reason)
{
	while (ioctl(machine->vcpu, KVM_RUN, NULL))
		if (errno != EINTR && errno != EAGAIN)
			return false;
	return machine->run->exit_reason == reason;
}

/** Is this the next number? */
static bool counts(struct self_test_machine *machine, unsigned char number)
{
	if (number != (unsigned char)(machine->steps + 1))
		return false;
	machine->steps++;
	return true;
}

#endif

#ifdef PORT

bool self_test_machine_step(struct self_test_machine *machine)
{
	const struct kvm_run *run = machine->run;
	const unsigned char *data = (const unsigned char *)run;

	return enter(machine, KVM_EXIT_IO) && run->io.direction == KVM_EXIT_IO_OUT &&
	       run->io.port == PORT && run->io.size == 1 &&
	       run->io.data_offset < machine->run_size &&
	       counts(machine, data[run->io.data_offset]) && enter(machine, KVM_EXIT_HLT);
}

#elif defined(DEVICE)

bool self_test_machine_step(struct self_test_machine *machine)
{
	const struct kvm_run *run = machine->run;

	return enter(machine, KVM_EXIT_MMIO) && run->mmio.is_write && run->mmio.len == 1 &&
	       run->mmio.phys_addr == DEVICE && counts(machine, run->mmio.data[0]);
}

#else

const struct self_test_way self_test_machine_way = { "", "" };

static int make(struct self_test_machine *machine)
{
	(void)machine;
	return -EOPNOTSUPP;
}

bool self_test_machine_step(struct self_test_machine *machine)
{
	(void)machine;
	return false;
}

#endif

/* --- statistics ------------------------------------------------------------------------------ */

#ifdef KVM_GET_STATS_FD
/** Linux 5.14 and later. */
static void find_exits(struct self_test_machine *machine)
{
	struct kvm_stats_header header;
	struct kvm_stats_desc *desc;
	size_t size;

	machine->stats = ioctl(machine->vcpu, KVM_GET_STATS_FD, NULL);
	if (machine->stats < 0 ||
	    pread(machine->stats, &header, sizeof(header), 0) != sizeof(header))
		return;
	size = sizeof(*desc) + header.name_size;
	desc = calloc(1, size + 1);
	for (uint32_t i = 0; desc && i < header.num_desc; i++) {
		if (pread(machine->stats, desc, size,
			  (off_t)(header.desc_offset + i * size)) != (ssize_t)size)
			break;
		if (!strcmp(desc->name, "exits") && desc->size == 1)
			machine->exits_at = (off_t)header.data_offset + desc->offset;
	}
	free(desc);
}
#else
static void find_exits(struct self_test_machine *machine)
{
	(void)machine;
}
#endif

/** Before Linux 5.14: of the whole machine, which has one vCPU. */
static bool read_debugfs(const struct self_test_machine *machine, uint64_t *exits)
{
	char path[128];
	unsigned long long value;
	FILE *file;
	bool read;

	snprintf(path, sizeof(path), "/sys/kernel/debug/kvm/%d-%d/exits", (int)getpid(),
		 machine->vm);
	file = fopen(path, "re");
	read = file && fscanf(file, "%llu", &value) == 1;
	if (file)
		fclose(file);
	if (read)
		*exits = value;
	return read;
}

bool self_test_machine_exits(struct self_test_machine *machine, uint64_t *exits)
{
	if (!machine->exits_at)
		return read_debugfs(machine, exits);
	return pread(machine->stats, exits, sizeof(*exits), machine->exits_at) == sizeof(*exits);
}

uint64_t self_test_machine_steps(const struct self_test_machine *machine)
{
	return machine->steps;
}

/* --- begin and end --------------------------------------------------------------------------- */

static void close_one(int fd)
{
	if (fd >= 0)
		close(fd);
}

void self_test_machine_free(struct self_test_machine *machine)
{
	if (!machine)
		return;
	if (machine->run)
		munmap(machine->run, machine->run_size);
	close_one(machine->stats);
	close_one(machine->vcpu);
	close_one(machine->vm);
	close_one(machine->kvm);
	if (machine->memory)
		munmap(machine->memory, MEMORY);
	free(machine);
}

struct self_test_machine *self_test_machine_new(char *why, size_t size)
{
	struct self_test_machine *machine = calloc(1, sizeof(*machine));
	int ret;

	if (!machine) {
		snprintf(why, size, "not enough memory");
		return NULL;
	}
	machine->vm = machine->vcpu = machine->stats = -1;
	machine->kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	ret = machine->kvm < 0 ? -errno : make(machine);
	if (!ret) {
		find_exits(machine);
		return machine;
	}
	snprintf(why, size, ret == -EOPNOTSUPP ? "it has no program for this architecture%s%s" :
		 machine->kvm < 0 ? "/dev/kvm: %s%s" :
		 "/dev/kvm opens, but makes no machine: %s%s",
		 ret == -EOPNOTSUPP ? "" : strerror(-ret),
		 ret == -ENOENT ? "; modprobe kvm_intel, or kvm_amd" : "");
	self_test_machine_free(machine);
	return NULL;
}
