// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_sidecar.c
 * @brief	The sidecar of a KVM host: names, threads and clocks of its machines.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_writer.h"
#include "record.h"
#include "sidecar.h"

static const struct kvm_live_guest *same_guest(const struct kvm_live *live,
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

/** An offset that changed belongs to a part of the trace only: it is told, and not used. */
static void write_offset(struct json *json, const struct kvm_live_guest *guest,
			 const struct kvm_live_vcpu *vcpu, const struct kvm_live_vcpu *end)
{
	if (!vcpu->has_offset)
		return;
	if (end && end->has_offset && end->tsc_offset != vcpu->tsc_offset) {
		ksv_note("%s: the TSC offset of vCPU %d has changed meanwhile, from %lld to %lld",
			 guest->name, vcpu->id, (long long)vcpu->tsc_offset,
			 (long long)end->tsc_offset);
		json_i64(json, "tsc_offset_at_end", end->tsc_offset);
	}
	json_i64(json, "tsc_offset", vcpu->tsc_offset);
}

static void write_vcpu(struct json *json, const struct kvm_live_guest *guest,
		       const struct kvm_live_vcpu *vcpu, const struct kvm_live_vcpu *end)
{
	json_open(json, NULL, '{', true);
	json_i64(json, "id", vcpu->id);
	if (vcpu->tid)
		json_i64(json, "tid", vcpu->tid);
	write_offset(json, guest, vcpu, end);
	if (vcpu->tsc_ratio) {
		json_u64(json, "tsc_ratio", vcpu->tsc_ratio);
		json_i64(json, "tsc_ratio_frac_bits", vcpu->tsc_ratio_frac_bits);
	}
	json_close(json, '}');
}

static void write_guest(struct json *json, const struct kvm_live_guest *guest,
			const struct kvm_live_guest *end)
{
	json_open(json, NULL, '{', false);
	json_str(json, "name", guest->name);
	if (guest->uuid)
		json_str(json, "uuid", guest->uuid);
	json_i64(json, "pid", guest->pid);
	json_open(json, "vcpus", '[', false);
	for (int i = 0; i < guest->n_vcpus; i++)
		write_vcpu(json, guest, &guest->vcpus[i],
			   same_vcpu(end, guest->vcpus[i].id));
	json_close(json, ']');
	json_close(json, '}');
}

/** Machines of the beginning, and such as came later: @end is NULL while nobody knows. */
int record_sidecar(struct record *record, const struct kvm_live *end)
{
	struct output *out = malloc(sizeof(*out));
	char *path = NULL;
	struct json json;
	int status;

	if (!out || asprintf(&path, "%s/" RECORD_KVM_FILE ".meta.json", record->folder) < 0) {
		free(out);
		return -ENOMEM;
	}
	status = out_open(out, path);
	if (!status) {
		json_begin(&json, out);
		json_open(&json, NULL, '{', false);
		json_open(&json, "guests", '[', false);
		for (int i = 0; i < record->live.n_guests; i++)
			write_guest(&json, &record->live.guests[i],
				    same_guest(end, &record->live.guests[i]));
		for (int i = 0; end && i < end->n_guests; i++)
			if (!same_guest(&record->live, &end->guests[i]))
				write_guest(&json, &end->guests[i], NULL);
		json_close(&json, ']');
		json_close(&json, '}');
		json_end(&json);
		status = out_close(out, status);
	}
	free(path);
	free(out);
	return status;
}
