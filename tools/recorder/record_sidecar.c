// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_sidecar.c
 * @brief	The sidecar of a KVM host: names, threads and clocks of its machines.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock_moment.h"
#include "host_topology.h"
#include "kvm_meta.h"
#include "record.h"

/** QEMU's workers live for some seconds: how often they are looked for; more with each machine. */
#define THREADS_NS	1000000000LL
#define THREADS_EACH_NS	10000000LL

const struct kvm_live_guest *record_same_machine(const struct kvm_live *live,
						 const struct kvm_live_guest *guest)
{
	for (int i = 0; live && i < live->n_guests; i++)
		if (live->guests[i].pid == guest->pid && live->guests[i].fd == guest->fd)
			return &live->guests[i];
	return NULL;
}

static const struct kvm_live_vcpu *same_vcpu(const struct kvm_live_guest *guest, int id)
{
	for (int i = 0; guest && i < guest->n_vcpus; i++)
		if (guest->vcpus[i].id == id)
			return &guest->vcpus[i];
	return NULL;
}

/** One that has changed is for a part of the trace only; the host's trace may show when. */
static int64_t offset_at_end(const struct kvm_live_guest *guest, const struct kvm_live_vcpu *vcpu,
			     const struct kvm_live_vcpu *end)
{
	if (!end || !end->has_offset || end->tsc_offset == vcpu->tsc_offset)
		return vcpu->tsc_offset;
	ksv_note("%s: the TSC offset of vCPU %d changed by %+lld cycles during the recording",
		 guest->name, vcpu->id, (long long)((uint64_t)end->tsc_offset -
						    (uint64_t)vcpu->tsc_offset));
	return end->tsc_offset;
}

/** That of one guest's vCPUs is one, as a rule. */
static void note_difference(const struct kvm_live_guest *guest)
{
	const struct kvm_live_vcpu *first = guest->vcpus;

	for (int i = 1; i < guest->n_vcpus; i++) {
		const struct kvm_live_vcpu *vcpu = &guest->vcpus[i];

		if (!first->has_offset || !vcpu->has_offset ||
		    vcpu->tsc_offset == first->tsc_offset)
			continue;
		ksv_note("%s: the TSC offset of vCPU %d differs by %+lld cycles from vCPU %d's",
			 guest->name, vcpu->id, (long long)((uint64_t)vcpu->tsc_offset -
							    (uint64_t)first->tsc_offset),
			 first->id);
		return;
	}
}

static int add_vcpu(struct kvm_meta_guest *to, const struct kvm_live_guest *guest,
		    const struct kvm_live_vcpu *vcpu, const struct kvm_live_vcpu *end)
{
	struct kvm_meta_vcpu facts = { .id = vcpu->id, .tid = vcpu->tid };
	int ret;

	if (vcpu->has_offset) {
		facts.has_tsc = true;
		facts.tsc_offset = vcpu->tsc_offset;
		facts.tsc_offset_at_end = offset_at_end(guest, vcpu, end);
		/* without a ratio, the processor cannot scale */
		facts.tsc_ratio = vcpu->tsc_ratio ? vcpu->tsc_ratio : KVM_META_RATIO_ONE;
		facts.tsc_frac_bits = vcpu->tsc_ratio ? vcpu->tsc_ratio_frac_bits :
				      KVM_META_FRAC_BITS;
	}
	ret = kvm_meta_add_vcpu(to, &facts);
	if (ret == -EINVAL)
		ksv_note("%s: vCPU %d cannot be kept in the sidecar", guest->name, vcpu->id);
	return ret == -EINVAL ? 0 : ret;
}

/** Those of the beginning and of the end, both ascending. */
static int add_threads(struct kvm_meta_guest *to, const struct kvm_live_guest *guest,
		       const struct kvm_live_guest *end)
{
	int n_end = end ? end->n_threads : 0, i = 0, k = 0, ret = 0;

	while ((i < guest->n_threads || k < n_end) && ret != -ENOMEM) {
		int tid = i < guest->n_threads ? guest->threads[i] : INT_MAX;

		if (k < n_end && end->threads[k] < tid)
			tid = end->threads[k];
		i += i < guest->n_threads && guest->threads[i] == tid;
		k += k < n_end && end->threads[k] == tid;
		ret = kvm_meta_add_thread(to, tid);
	}
	return ret == -ENOMEM ? ret : 0;
}

static bool is_called_alike(const struct kvm_live_guest *a, const struct kvm_live_guest *b)
{
	if (a->uuid && b->uuid)
		return !strcmp(a->uuid, b->uuid);
	return a->called && a->called == b->called && !memcmp(a->name, b->name, a->called);
}

/**
 * The process of the beginning that is gone, in whose place one goes on: its machine was restored,
 * migrated, or has begun anew. 0: there is none, or there may be several.
 */
static int continued(const struct kvm_live *begin, const struct kvm_live *end,
		     const struct kvm_live_guest *guest)
{
	int pid = 0;

	for (int i = 0; i < begin->n_guests; i++) {
		const struct kvm_live_guest *before = &begin->guests[i];

		if (!is_called_alike(before, guest))
			continue;
		if (pid || record_same_machine(end, before))
			return 0;
		pid = before->pid;
	}
	return pid;
}

/** @continues: the process in whose place it goes on; or 0 */
static int add_guest(const struct record *record, struct kvm_meta *meta,
		     const struct kvm_live_guest *guest, const struct kvm_live_guest *end,
		     int continues)
{
	struct kvm_meta_guest *to = kvm_meta_add_guest(meta, guest->name, guest->uuid, guest->pid);
	int ret = to ? 0 : -ENOMEM;

	if (to)
		to->continues = continues;

	if (end)
		note_difference(guest);
	for (int i = 0; !ret && i < guest->n_vcpus; i++)
		ret = add_vcpu(to, guest, &guest->vcpus[i], same_vcpu(end, guest->vcpus[i].id));
	if (!ret)
		ret = add_threads(to, guest, end);
	if (!ret)
		ret = record_add_regions(record, guest, to);
	return ret;
}

/** Machines of the beginning, and such as came later. */
static int add_guests(struct record *record, const struct kvm_live *end, struct kvm_meta *meta)
{
	int ret = 0;

	for (int i = 0; !ret && i < record->live.n_guests; i++)
		ret = add_guest(record, meta, &record->live.guests[i],
				record_same_machine(end, &record->live.guests[i]), 0);
	for (int i = 0; !ret && end && i < end->n_guests; i++)
		if (!record_same_machine(&record->live, &end->guests[i]))
			ret = add_guest(record, meta, &end->guests[i], NULL,
					continued(&record->live, end, &end->guests[i]));
	return ret;
}

static uint64_t khz_of(const struct trace_dat_scale *scale)
{
	return (uint64_t)((((unsigned __int128)1000000 << scale->shift) + scale->mult / 2) /
			  scale->mult);
}

/** Which physical CPUs share a core. */
static int add_topology(const char *path, char *error, size_t size)
{
	struct host_topology topology = { 0 };
	int ret = host_topology_live(&topology, record_root());

	if (!ret)
		ret = host_topology_write(&topology, path, error, size);
	host_topology_free(&topology);
	return ret;
}

/** What its idle states are called, and what decides on the frequencies. Return: 0 or -ENOMEM. */
static int add_power(struct kvm_meta *meta)
{
	char name[64];

	for (int i = 0; i < VIRT_IDLE_STATES; i++)
		if (record_read(name, sizeof(name),
				"/sys/devices/system/cpu/cpu0/cpuidle/state%d/name", i) > 0 &&
		    kvm_meta_name_idle_state(meta, i, name) == -ENOMEM)
			return -ENOMEM;
	/* CPUs that are offline have none, and leave gaps */
	for (int cpu = 0, gap = 0; gap < 1024; cpu++, gap++) {
		if (record_read(name, sizeof(name),
				"/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor",
				cpu) <= 0)
			continue;
		if (kvm_meta_add_governor(meta, name) == -ENOMEM)
			return -ENOMEM;
		gap = 0;
	}
	return 0;
}

/** Now, on the axis that the trace is going to have. */
static void add_moment(const struct record *record, struct kvm_meta *meta)
{
	const struct trace_dat_scale *scale = &record->scale;
	struct clock_moment now;
	unsigned __int128 ns;

	clock_moment_take(&now);
	ns = (unsigned __int128)now.tsc * scale->mult >> scale->shift;
	if (!strcmp(record->clock, "mono")) {
		meta->trace_ns = now.monotonic_ns;
	} else if (!strcmp(record->clock, "x86-tsc") && now.tsc && scale->mult &&
		   ns <= INT64_MAX) {
		meta->trace_ns = (int64_t)ns;
	} else {
		return;
	}
	meta->realtime_ns = now.realtime_ns;
	meta->within_ns = now.within_ns;
	meta->has_moment = true;
}

enum record_stop record_look_at_threads(struct record *record)
{
	int64_t now = record_now_ns();

	if (now < record->threads_ns + THREADS_NS + record->live.n_guests * THREADS_EACH_NS)
		return RECORD_ON;
	record->threads_ns = now;
	kvm_live_more_threads(record_root(), &record->live);
	return RECORD_ON;
}

/** @end is NULL while it is unknown. */
int record_sidecar(struct record *record, const struct kvm_live *end)
{
	char path[PATH_MAX + NAME_MAX], error[512] = "not enough memory";
	struct kvm_meta *meta = kvm_meta_new();
	int ret;

	record_look_at_regions(record, end ? end : &record->live);
	ret = meta ? add_guests(record, end, meta) : -ENOMEM;
	if (!ret)
		ret = record_add_cgroups(record, meta);
	snprintf(path, sizeof(path), "%s/" RECORD_KVM_FILE, record->folder);
	if (meta && record->scale.mult)
		meta->cpu_khz = khz_of(&record->scale);
	if (!ret) {
		add_moment(record, meta);
		ret = add_power(meta);
	}
	if (!ret)
		ret = kvm_meta_write(path, meta, error, sizeof(error));
	if (!ret)
		ret = add_topology(path, error, sizeof(error));
	if (ret)
		ksv_error("%s", error);
	kvm_meta_free(meta);
	return ret ? KSV_EXIT_FILE : KSV_EXIT_OK;
}
