// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_kernel.c
 * @brief	Load the programs that count in the kernel, and read what they have counted.
 *
 * The loader is generated with the programs, and needs no library.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "top_kernel.h"

/* made of the programs; uses what is included above */
#include <top_kernel.lskel.h>

/** So often a vCPU is read again. A program writes for less than a microsecond. */
#define READS		1000

struct top_kernel {
	struct top_kernel_program *program;
	struct top_kernel_vcpu *vcpus;
	size_t		size;		/* of these, in bytes */
	size_t		n_vcpus;
	int		*tids;		/* 0: the place is free */
};

/** Memory that the kernel shares is in whole pages. */
static size_t whole_pages(size_t size)
{
	size_t page = (size_t)getpagesize();

	return (size + page - 1) / page * page;
}

static const char *meaning_of(int error)
{
	switch (error) {
	case EPERM:
		return "it is not allowed: root may load programs unless the kernel is locked down";
	/* its verifier has refused them, or it does not know what they are made of */
	case EACCES:
	case E2BIG:
	case EINVAL:
	case ENOENT:
	case ENOSYS:
	case ESRCH:
		return "it needs Linux 5.18 or later with BPF and BTF";
	default:
		return strerror(error);
	}
}

struct top_kernel *top_kernel_open(size_t n_vcpus, size_t n_pcpus, char *why, size_t size)
{
	struct top_kernel *kernel = calloc(1, sizeof(*kernel));
	int ret;

	if (kernel) {
		kernel->n_vcpus = n_vcpus;
		kernel->size = whole_pages(n_vcpus * sizeof(*kernel->vcpus));
		kernel->tids = calloc(n_vcpus, sizeof(*kernel->tids));
		kernel->program = top_kernel_program__open();
	}
	if (!kernel || !kernel->tids || !kernel->program) {
		snprintf(why, size, "%s", strerror(ENOMEM));
		top_kernel_close(kernel);
		return NULL;
	}
	kernel->program->maps.vcpus.max_entries = (__u32)n_vcpus;
	/* a place is free before its thread is gone from there */
	kernel->program->maps.threads.max_entries = (__u32)n_vcpus * 2;
	kernel->program->maps.pcpus.max_entries = (__u32)n_pcpus;
	ret = top_kernel_program__load(kernel->program);
	if (!ret) {
		kernel->vcpus = mmap(NULL, kernel->size, PROT_READ | PROT_WRITE, MAP_SHARED,
				     kernel->program->maps.vcpus.map_fd, 0);
		ret = kernel->vcpus == MAP_FAILED ? -errno : 0;
	}
	if (!ret)
		return kernel;
	snprintf(why, size, "%s", meaning_of(-ret));
	top_kernel_close(kernel);
	return NULL;
}

void top_kernel_close(struct top_kernel *kernel)
{
	if (!kernel)
		return;
	if (kernel->vcpus && kernel->vcpus != MAP_FAILED)
		munmap(kernel->vcpus, kernel->size);
	if (kernel->program)
		top_kernel_program__destroy(kernel->program);
	free(kernel->tids);
	free(kernel);
}

static void set_edge(struct top_kernel *kernel, uint64_t number, const struct top_kernel_edge *edge)
{
	struct top_kernel_program__bss *shared = kernel->program->bss;

	shared->edges[number & 1] = *edge;
	__atomic_store_n(&shared->number, number, __ATOMIC_RELEASE);
}

int top_kernel_attach(struct top_kernel *kernel, const struct top_kernel_edge *edge)
{
	int ret;

	set_edge(kernel, 1, edge);
	ret = top_kernel_program__attach(kernel->program);
	return ret < 0 ? ret : 0;
}

void top_kernel_detach(struct top_kernel *kernel)
{
	top_kernel_program__detach(kernel->program);
	/* they are closed, and would be once more at the end */
	memset(&kernel->program->links, 0, sizeof(kernel->program->links));
}

void top_kernel_next(struct top_kernel *kernel, uint64_t number,
		     const struct top_kernel_edge *edge)
{
	set_edge(kernel, number, edge);
}

int top_kernel_add(struct top_kernel *kernel, int tid, int64_t now_ns)
{
	struct top_kernel_program__bss *shared = kernel->program->bss;
	size_t words = sizeof(shared->filter) / sizeof(*shared->filter);
	struct top_kernel_vcpu *vcpu;
	__u32 key = (__u32)tid, place = 0;

	while (place < kernel->n_vcpus && kernel->tids[place])
		place++;
	if (place == kernel->n_vcpus)
		return -ENOSPC;
	vcpu = &kernel->vcpus[place];
	*vcpu = (struct top_kernel_vcpu){
		.since_ns = (uint64_t)now_ns, .counted_ns = (uint64_t)now_ns,
	};
	if (skel_map_update_elem(kernel->program->maps.threads.map_fd, &key, &place, 0) < 0)
		return errno ? -errno : -EINVAL;
	kernel->tids[place] = tid;
	/* bits stay: of a thread that is no vCPU, a switch costs a little more then */
	shared->filter[key / 64 % words] |= UINT64_C(1) << key % 64;
	return (int)place;
}

void top_kernel_drop(struct top_kernel *kernel, int place, int tid)
{
	__u32 key = (__u32)tid;

	/* the queue of a pCPU still has it: the place stays taken */
	if (kernel->vcpus[place].waiter) {
		kernel->tids[place] = -1;
		return;
	}
	/* it has been deleted when the thread ended, if that was seen */
	skel_map_delete_elem(kernel->program->maps.threads.map_fd, &key);
	kernel->tids[place] = 0;
}

void top_kernel_asleep(struct top_kernel *kernel, int place, int64_t time_ns)
{
	__atomic_store_n(&kernel->vcpus[place].asleep_ns, (uint64_t)time_ns, __ATOMIC_RELEASE);
}

bool top_kernel_read(const struct top_kernel *kernel, int place, struct top_kernel_vcpu *vcpu)
{
	const struct top_kernel_vcpu *shared = &kernel->vcpus[place];

	for (int i = 0; i < READS; i++) {
		uint64_t before = __atomic_load_n(&shared->writes, __ATOMIC_ACQUIRE);

		memcpy(vcpu, shared, sizeof(*vcpu));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before & 1) &&
		    __atomic_load_n(&shared->writes, __ATOMIC_RELAXED) == before)
			return true;
	}
	return false;
}

uint64_t top_kernel_missed(const struct top_kernel *kernel)
{
	const int fds[] = {
		kernel->program->progs.top_switch.prog_fd,
		kernel->program->progs.top_wakeup.prog_fd,
		kernel->program->progs.top_wakeup_new.prog_fd,
		kernel->program->progs.top_migrate.prog_fd,
	};
	uint64_t missed = 0;

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
		struct bpf_prog_info info = { 0 };
		union bpf_attr attr = {
			.info = {
				.bpf_fd = (__u32)fds[i], .info_len = sizeof(info),
				.info = (uintptr_t)&info,
			},
		};

		if (!skel_sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)))
			missed += info.recursion_misses;
	}
	return missed;
}
