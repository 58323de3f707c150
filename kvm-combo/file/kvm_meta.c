// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_meta.c
 * @brief	The sidecar of a KVM host's trace: names of guests, their vCPUs and clocks.
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "json_fields.h"
#include "json_read.h"
#include "kvm_meta.h"
#include "kvm_part_json.h"
#include "sidecar.h"
#include "trace_dat.h"

/** Ratios of two CPUs' frequencies. */
#define MIN_SCALE	0.001
#define MAX_SCALE	1000

/** A ratio has 64 bits; at least two of them are before the point. */
#define MAX_FRAC_BITS	62

/* --- tables ---------------------------------------------------------------------------------- */

static double scale_of(const struct kvm_meta_vcpu *vcpu)
{
	return ldexp((double)vcpu->tsc_ratio, -vcpu->tsc_frac_bits);
}

static bool is_ratio(const struct kvm_meta_vcpu *vcpu)
{
	return vcpu->tsc_frac_bits > 0 && vcpu->tsc_frac_bits <= MAX_FRAC_BITS &&
	       scale_of(vcpu) >= MIN_SCALE && scale_of(vcpu) <= MAX_SCALE;
}

/** Bits of 64, and a ratio that people can read beside the exact one. */
static int put_tsc(struct json_object *object, const char *key, const void *from)
{
	const struct kvm_meta_vcpu *vcpu = from;
	char scale[32];

	if (!vcpu->has_tsc)
		return 0;
	snprintf(scale, sizeof(scale), "%.12f", scale_of(vcpu));
	return json_add(object, key, json_bits_new((uint64_t)vcpu->tsc_offset)) ||
	       (vcpu->tsc_offset_at_end != vcpu->tsc_offset &&
		json_add(object, "tsc_offset_at_end",
			 json_bits_new((uint64_t)vcpu->tsc_offset_at_end))) ||
	       json_add(object, "tsc_scale", json_object_new_double_s(scale_of(vcpu), scale)) ||
	       json_add(object, "tsc_ratio", json_object_new_uint64(vcpu->tsc_ratio)) ||
	       json_add(object, "tsc_ratio_frac_bits", json_object_new_int(vcpu->tsc_frac_bits)) ?
	       -ENOMEM : 0;
}

/** Of what cannot be understood, nothing is assumed. */
static int take_tsc(struct json_object *object, const char *key, void *to)
{
	struct kvm_meta_vcpu *vcpu = to;
	struct json_object *scale;
	uint64_t offset, end;

	if (!json_bits_member(object, key, &offset))
		return 0;
	if (!json_bits_member(object, "tsc_offset_at_end", &end))
		end = offset;
	vcpu->tsc_offset = (int64_t)offset;
	vcpu->tsc_offset_at_end = (int64_t)end;
	vcpu->tsc_ratio = KVM_META_RATIO_ONE;
	vcpu->tsc_frac_bits = KVM_META_FRAC_BITS;
	if (json_object_object_get_ex(object, "tsc_ratio", NULL)) {
		int64_t bits = json_number_member(object, "tsc_ratio_frac_bits", 0);

		if (!json_bits_member(object, "tsc_ratio", &vcpu->tsc_ratio))
			return 0;
		vcpu->tsc_frac_bits = bits > 0 && bits <= MAX_FRAC_BITS ? (int)bits : 0;
	} else if (json_object_object_get_ex(object, "tsc_scale", &scale)) {
		double value = json_object_get_double(scale);

		if (!(value >= MIN_SCALE && value <= MAX_SCALE))
			return 0;
		vcpu->tsc_ratio = (uint64_t)llround(ldexp(value, KVM_META_FRAC_BITS));
	}
	vcpu->has_tsc = is_ratio(vcpu);
	return 0;
}

static const struct json_field vcpu_fields[] = {
	{ JSON_A_NUMBER("id", struct kvm_meta_vcpu, id, -1, 0, KVM_META_MAX_VCPUS - 1) },
	{ JSON_A_NUMBER("tid", struct kvm_meta_vcpu, tid, 0, 1, INT32_MAX) },
	{ .key = "tsc_offset", .kind = JSON_OWN, .put = put_tsc, .take = take_tsc },
	{ JSON_A_NUMBER("cgroup", struct kvm_meta_vcpu, cgroup, 0, 0, KVM_META_MAX_CGROUPS),
	  .plus = 1 },
	JSON_FIELDS_END
};

static const struct json_field tid_fields[] = {
	{ .kind = JSON_NUMBER, .width = sizeof(int32_t), .is_signed = true, .least = 1,
	  .most = INT32_MAX },
	JSON_FIELDS_END
};

/** A region that lies somewhere and has a name. */
static int check_region(const void *element)
{
	const struct device_region *region = element;

	return !region->name || !*region->name || region->first > region->last;
}

static const struct json_field region_fields[] = {
	{ JSON_SOME_BITS("first", struct device_region, first, 0) },
	{ JSON_SOME_BITS("last", struct device_region, last, 0) },
	{ JSON_A_FLAG("port", struct device_region, is_port) },
	{ JSON_A_TEXT("name", struct device_region, name) },
	JSON_FIELDS_END
};

static const struct json_field guest_fields[] = {
	{ JSON_A_TEXT("name", struct kvm_meta_guest, name) },
	{ JSON_A_TEXT("uuid", struct kvm_meta_guest, uuid) },
	{ JSON_A_NUMBER("pid", struct kvm_meta_guest, pid, 0, 1, INT32_MAX) },
	{ JSON_A_NUMBER("continues", struct kvm_meta_guest, continues, 0, 1, INT32_MAX) },
	{ JSON_A_LIST("threads", struct kvm_meta_guest, threads, n_threads, threads_room,
		      tid_fields), .most = KVM_META_MAX_THREADS, .cut = true },
	{ JSON_A_LIST("vcpus", struct kvm_meta_guest, vcpus, n_vcpus, room, vcpu_fields),
	  .most = KVM_META_MAX_VCPUS, .cut = true, .always = true },
	{ JSON_A_LIST("regions", struct kvm_meta_guest, regions, n_regions, regions_room,
		      region_fields), .most = DEVICE_MAX_REGIONS, .cut = true,
	  .check = check_region },
	JSON_FIELDS_END
};

static const struct json_field guest_list[] = {
	{ JSON_A_LIST("guests", struct kvm_meta, guests, n_guests, room, guest_fields),
	  .most = KVM_META_MAX_GUESTS, .always = true },
	JSON_FIELDS_END
};

/** Numbers of a quota; an impossible one is kept until the whole quota is judged. */
#define A_QUOTA(member)	\
	{ JSON_A_NUMBER(#member, struct cpu_quota, member, CPU_NO_QUOTA, INT64_MIN, INT64_MAX) }

static const struct json_field quota_fields[] = {
	A_QUOTA(quota_us), A_QUOTA(period_us), A_QUOTA(periods), A_QUOTA(throttled),
	A_QUOTA(throttled_us),
	JSON_FIELDS_END
};

static const struct json_field cgroup_fields[] = {
	{ JSON_A_TEXT("path", struct kvm_meta_cgroup, path) },
	{ JSON_A_NUMBER("above", struct kvm_meta_cgroup, above, 0, 0, KVM_META_MAX_CGROUPS),
	  .plus = 1 },
	{ .key = "begin", .kind = JSON_INSIDE, JSON_PLACE(struct kvm_meta_cgroup, begin),
	  .fields = quota_fields, JSON_HAS(struct kvm_meta_cgroup, has_begin) },
	{ .key = "end", .kind = JSON_INSIDE, JSON_PLACE(struct kvm_meta_cgroup, end),
	  .fields = quota_fields, JSON_HAS(struct kvm_meta_cgroup, has_end) },
	JSON_FIELDS_END
};

/** Up to the last one that is there; without any, nothing. */
static int put_texts(struct json_object *root, const char *key, char *const *texts, int n)
{
	struct json_object *list;
	int ret;

	while (n && !texts[n - 1])
		n--;
	if (!n)
		return 0;
	list = json_object_new_array();
	ret = json_add(root, key, list);
	for (int i = 0; i < n && !ret; i++)
		ret = json_add(list, NULL, json_text_new(texts[i] ? texts[i] : ""));
	return ret;
}

/** Elements that are no text, and impossible ones, are left out. Return: 0 or -ENOMEM. */
static int take_texts(struct kvm_meta *meta, struct json_object *root, const char *key, size_t most,
		      int (*take)(struct kvm_meta *meta, int32_t i, const char *text))
{
	size_t n;
	struct json_object *list = json_list_member(root, key, &n);

	for (size_t i = 0; i < n && i < most; i++) {
		const char *text = json_text_at(list, i);

		if (text && take(meta, (int32_t)i, text) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

static int put_idle_states(struct json_object *root, const char *key, const void *from)
{
	const struct kvm_meta *meta = from;

	return put_texts(root, key, meta->idle_states, VIRT_IDLE_STATES);
}

static int take_idle_states(struct json_object *root, const char *key, void *meta)
{
	return take_texts(meta, root, key, VIRT_IDLE_STATES, kvm_meta_name_idle_state);
}

static int put_governors(struct json_object *root, const char *key, const void *from)
{
	const struct kvm_meta *meta = from;

	return put_texts(root, key, meta->governors, meta->n_governors);
}

static int take_governor(struct kvm_meta *meta, int32_t i, const char *name)
{
	(void)i;
	return kvm_meta_add_governor(meta, name);
}

static int take_governors(struct json_object *root, const char *key, void *meta)
{
	return take_texts(meta, root, key, KVM_META_MAX_GOVERNORS, take_governor);
}

/** An impossible one is kept until the whole moment is judged. */
static const struct json_field moment_fields[] = {
	{ JSON_A_NUMBER("realtime_ns", struct kvm_meta, realtime_ns, -1, 0, INT64_MAX) },
	{ JSON_A_NUMBER("trace_ns", struct kvm_meta, trace_ns, -1, 0, INT64_MAX) },
	{ JSON_A_NUMBER("within_ns", struct kvm_meta, within_ns, -1, 0, INT64_MAX) },
	JSON_FIELDS_END
};

/** All but the guests. */
static const struct json_field head_fields[] = {
	{ .key = "idle_states", .kind = JSON_OWN, .put = put_idle_states,
	  .take = take_idle_states },
	{ .key = "governors", .kind = JSON_OWN, .put = put_governors, .take = take_governors },
	{ .key = "moment", .kind = JSON_INSIDE, .fields = moment_fields,
	  JSON_HAS(struct kvm_meta, has_moment) },
	{ JSON_A_LIST("cgroups", struct kvm_meta, cgroups, n_cgroups, cgroups_room,
		      cgroup_fields), .most = KVM_META_MAX_CGROUPS, .cut = true },
	{ JSON_SOME_BITS("quota_timer", struct kvm_meta, quota_timer, 0) },
	{ JSON_SOME_BITS("slack_timer", struct kvm_meta, slack_timer, 0) },
	{ JSON_A_KHZ(struct kvm_meta, cpu_khz) },
	JSON_FIELDS_END
};

/* --- in memory ------------------------------------------------------------------------------- */

struct kvm_meta *kvm_meta_new(void)
{
	return calloc(1, sizeof(struct kvm_meta));
}

void kvm_meta_free(struct kvm_meta *meta)
{
	if (!meta)
		return;
	json_fields_free(guest_list, meta);
	json_fields_free(head_fields, meta);
	for (int i = 0; i < VIRT_IDLE_STATES; i++)
		free(meta->idle_states[i]);
	for (int i = 0; i < meta->n_governors; i++)
		free(meta->governors[i]);
	free(meta->places);
	key_map_destroy(&meta->threads);
	kvm_part_free(meta->part);
	free(meta);
}

int kvm_meta_name_idle_state(struct kvm_meta *meta, int32_t state, const char *name)
{
	char *copy;

	if (state < 0 || state >= VIRT_IDLE_STATES || !*name)
		return -EINVAL;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	free(meta->idle_states[state]);
	meta->idle_states[state] = copy;
	return 0;
}

int kvm_meta_add_governor(struct kvm_meta *meta, const char *name)
{
	for (int i = 0; i < meta->n_governors; i++)
		if (!strcmp(meta->governors[i], name))
			return 0;
	if (!*name || meta->n_governors == KVM_META_MAX_GOVERNORS)
		return -EINVAL;
	meta->governors[meta->n_governors] = strdup(name);
	if (!meta->governors[meta->n_governors])
		return -ENOMEM;
	meta->n_governors++;
	return 0;
}

struct kvm_meta_cgroup *kvm_meta_add_cgroup(struct kvm_meta *meta, const char *path, int above)
{
	/* the list copies texts */
	struct kvm_meta_cgroup cgroup = { .path = (char *)(uintptr_t)path };

	if (above > 0 && meta->cgroups[above - 1].depth < KVM_META_MAX_DEPTH) {
		cgroup.above = above;
		cgroup.depth = meta->cgroups[above - 1].depth + 1;
	}
	return meta->n_cgroups == KVM_META_MAX_CGROUPS ||
	       json_list_add(head_fields, "cgroups", meta, &cgroup) ? NULL :
	       &meta->cgroups[meta->n_cgroups - 1];
}

struct kvm_meta_guest *kvm_meta_add_guest(struct kvm_meta *meta, const char *name,
					  const char *uuid, int32_t pid)
{
	struct kvm_meta_guest guest = {
		.name = (char *)(uintptr_t)name, .uuid = (char *)(uintptr_t)uuid, .pid = pid,
	};

	return meta->n_guests == KVM_META_MAX_GUESTS ||
	       json_list_add(guest_list, "guests", meta, &guest) ? NULL :
	       &meta->guests[meta->n_guests - 1];
}

int kvm_meta_add_vcpu(struct kvm_meta_guest *guest, const struct kvm_meta_vcpu *vcpu)
{
	if (vcpu->id < 0 || vcpu->id >= KVM_META_MAX_VCPUS || vcpu->tid < 0 ||
	    (vcpu->has_tsc && !is_ratio(vcpu)))
		return -EINVAL;
	if (ARRAY_GROW(guest->vcpus, guest->n_vcpus, guest->room))
		return -ENOMEM;
	guest->vcpus[guest->n_vcpus++] = *vcpu;
	return 0;
}

int kvm_meta_add_thread(struct kvm_meta_guest *guest, int32_t tid)
{
	if (tid <= 0 || guest->n_threads == KVM_META_MAX_THREADS)
		return -EINVAL;
	if (ARRAY_GROW(guest->threads, guest->n_threads, guest->threads_room))
		return -ENOMEM;
	guest->threads[guest->n_threads++] = tid;
	return 0;
}

int kvm_meta_add_region(struct kvm_meta_guest *guest, const struct device_region *region)
{
	if (check_region(region) || guest->n_regions == DEVICE_MAX_REGIONS)
		return -EINVAL;
	return json_list_add(guest_fields, "regions", guest, region);
}

const struct kvm_meta_vcpu *kvm_meta_find(const struct kvm_meta *meta, int32_t tid,
					  const struct kvm_meta_guest **guest)
{
	int64_t n = meta && tid > 0 ? key_map_find(&meta->threads, (uint32_t)tid) : -1;

	if (n < 0)
		return NULL;
	if (guest)
		*guest = &meta->guests[meta->places[n].guest];
	return &meta->guests[meta->places[n].guest].vcpus[meta->places[n].vcpu];
}

/** The one that a guest continues, which stands before it; or NULL. */
static const struct kvm_meta_guest *continued(const struct kvm_meta *meta,
					      const struct kvm_meta_guest *guest)
{
	for (const struct kvm_meta_guest *before = guest; before-- > meta->guests;)
		if (guest->continues && before->pid == guest->continues)
			return before;
	return NULL;
}

static int32_t tid_of(const struct kvm_meta_guest *guest, int32_t id)
{
	for (int i = 0; i < guest->n_vcpus; i++)
		if (guest->vcpus[i].id == id)
			return guest->vcpus[i].tid;
	return 0;
}

int32_t kvm_meta_first(const struct kvm_meta *meta, int32_t tid)
{
	const struct kvm_meta_guest *guest;
	const struct kvm_meta_vcpu *vcpu;

	if (!meta || !meta->has_lives)
		return tid;
	vcpu = kvm_meta_find(meta, tid, &guest);
	/* each stands before the other */
	while (vcpu && (guest = continued(meta, guest)) && tid_of(guest, vcpu->id) > 0)
		tid = tid_of(guest, vcpu->id);
	return tid;
}

bool kvm_meta_has_quota(const struct kvm_meta_cgroup *cgroup)
{
	return (cgroup->has_begin && cgroup->begin.quota_us != CPU_NO_QUOTA) ||
	       (cgroup->has_end && cgroup->end.quota_us != CPU_NO_QUOTA);
}

bool kvm_meta_knows_quotas(const struct kvm_meta *meta, const struct kvm_meta_vcpu *vcpu)
{
	const struct kvm_meta_cgroup *cgroups = meta->cgroups;
	int at = vcpu ? vcpu->cgroup : 0;
	struct cpu_quota held;

	while (at && cgroups[at - 1].above && kvm_meta_held(&cgroups[at - 1], &held))
		at = cgroups[at - 1].above;
	return at && !strcmp(cgroups[at - 1].path, "/");
}

/* --- writing --------------------------------------------------------------------------------- */

static int put_all(struct json_object *root, const void *meta)
{
	int ret = json_fields_write(root, head_fields, meta);

	return ret ? ret : json_fields_write(root, guest_list, meta);
}

int kvm_meta_write(const char *trace_path, const struct kvm_meta *meta, char *error, size_t size)
{
	return json_update_sidecar(trace_path, put_all, meta, error, size);
}

/* --- reading --------------------------------------------------------------------------------- */

/** Is every number of a quota known? Only the quota itself may be missing. */
static bool is_quota(const struct cpu_quota *quota)
{
	return quota->quota_us >= CPU_NO_QUOTA && quota->period_us >= 0 && quota->periods >= 0 &&
	       quota->throttled >= 0 && quota->throttled_us >= 0;
}

/** A lower number, of one that is there; its depth is limited. */
static void judge_cgroup(struct kvm_meta *meta, int i)
{
	struct kvm_meta_cgroup *cgroup = &meta->cgroups[i];
	const struct kvm_meta_cgroup *above = NULL;

	if (cgroup->above > 0 && cgroup->above <= i)
		above = &meta->cgroups[cgroup->above - 1];
	if (above && above->depth < KVM_META_MAX_DEPTH)
		cgroup->depth = above->depth + 1;
	else
		cgroup->above = 0;
	cgroup->has_begin = cgroup->has_begin && is_quota(&cgroup->begin);
	cgroup->has_end = cgroup->has_end && is_quota(&cgroup->end);
}

/** @seen: numbers of vCPUs that the guest has already. Return: 0, 1 to leave it out, or -ENOMEM. */
static int judge_vcpu(struct kvm_meta *meta, int guest, int n, struct kvm_meta_vcpu *vcpu,
		      bool *seen)
{
	int64_t place;

	if (vcpu->id < 0 || seen[vcpu->id] || vcpu->tid <= 0 ||
	    kvm_meta_find(meta, vcpu->tid, NULL))
		return 1;
	seen[vcpu->id] = true;
	if (vcpu->cgroup > meta->n_cgroups)
		vcpu->cgroup = 0;
	place = KEY_MAP_ELEMENT(&meta->threads, (uint32_t)vcpu->tid, meta->places, meta->n_places);
	if (place < 0)
		return -ENOMEM;
	meta->places[place] = (struct kvm_meta_place){ guest, n };
	return 0;
}

/** Impossible vCPUs and threads are left out. Return: 0 or -ENOMEM. */
static int judge_guest(struct kvm_meta *meta, int i)
{
	bool seen[KVM_META_MAX_VCPUS] = { false };
	struct kvm_meta_guest *guest = &meta->guests[i];
	int n = 0, ret = 0;

	if (guest->name && !*guest->name) {
		free(guest->name);
		guest->name = NULL;
	}
	meta->has_lives |= guest->continues > 0;
	for (int k = 0; k < guest->n_vcpus && ret >= 0; k++) {
		ret = judge_vcpu(meta, i, n, &guest->vcpus[k], seen);
		if (!ret)
			guest->vcpus[n++] = guest->vcpus[k];
	}
	guest->n_vcpus = n;
	return ret < 0 ? ret : 0;
}

/** Return: 0, or a negative errno and a text in @error. */
static int take_all(struct kvm_meta *meta, struct json_object *root, const char *path,
		    char *error, size_t size)
{
	struct json_wrong wrong;
	int ret = json_fields_read(root, head_fields, meta, &wrong);

	if (ret == -EINVAL)
		json_khz_error(root, path, error, size);
	meta->has_moment = meta->has_moment && meta->realtime_ns >= 0 && meta->trace_ns >= 0;
	if (!ret)
		ret = kvm_part_read(root, path, &meta->part, error, size);
	if (!ret)
		ret = json_fields_read(root, guest_list, meta, &wrong);
	if (ret == -E2BIG)
		text_format(error, size, "%s: %zu guests, and at most %d are allowed: correct it, "
			    "or move it away", path, wrong.n, KVM_META_MAX_GUESTS);
	for (int i = 0; i < meta->n_cgroups && !ret; i++) {
		judge_cgroup(meta, i);
		if (!meta->cgroups[i].path && !(meta->cgroups[i].path = strdup("")))
			ret = -ENOMEM;
	}
	for (int i = 0; i < meta->n_guests && !ret; i++)
		ret = judge_guest(meta, i);
	return ret;
}

static bool is_empty(const struct kvm_meta *meta)
{
	for (int i = 0; i < VIRT_IDLE_STATES; i++)
		if (meta->idle_states[i])
			return false;
	return !meta->n_guests && !meta->n_cgroups && !meta->cpu_khz && !meta->n_governors &&
	       !meta->has_moment && !meta->part;
}

int kvm_meta_read(const char *trace_path, struct kvm_meta **meta, char *error, size_t size)
{
	char *path = sidecar_find(trace_path);
	struct json_object *root = NULL;
	int ret;

	*meta = NULL;
	if (!path)
		return 0;
	ret = json_read_file(path, &root, error, size);
	if (!ret) {
		*meta = kvm_meta_new();
		if (*meta)
			ret = take_all(*meta, root, path, error, size);
		else
			ret = -ENOMEM;
	}
	if (ret == -ENOMEM)
		text_format(error, size, "%s: not enough memory", path);
	if (ret || is_empty(*meta)) {
		kvm_meta_free(*meta);
		*meta = NULL;
	}
	json_object_put(root);
	free(path);
	return ret;
}

/* --- for the tracker ------------------------------------------------------------------------- */

struct filling {
	const struct kvm_meta	*meta;
	struct kvm_tracker	*tracker;
};

/** What trace-cmd has recorded: its name of a guest need not be the hypervisor's. */
static int add_recorded(void *arg, const char *name, const int32_t *tids, int n)
{
	const struct filling *filling = arg;

	for (int i = 0; i < n; i++)
		if (kvm_meta_find(filling->meta, tids[i], NULL))
			return 0;
	return kvm_tracker_add_guest(filling->tracker, name, tids, n);
}

/** Each thread whose vCPU has had another one. Return: 0 or -ENOMEM. */
static int add_lives(struct kvm_tracker *tracker, const struct kvm_meta *meta,
		     const struct kvm_meta_guest *guest)
{
	int ret = 0;

	for (int i = 0; i < guest->n_vcpus && ret != -ENOMEM; i++) {
		int32_t tid = guest->vcpus[i].tid;

		if (kvm_meta_first(meta, tid) != tid)
			ret = kvm_tracker_continue(tracker, kvm_meta_first(meta, tid), tid);
	}
	return ret == -ENOMEM ? ret : 0;
}

/** Whether quotas limit a vCPU, as far as all of its cgroups are known. */
static int add_quota(struct kvm_tracker *tracker, const struct kvm_meta *meta,
		     const struct kvm_meta_vcpu *vcpu)
{
	enum kvm_quota quota = KVM_QUOTA_NONE;

	if (!kvm_meta_knows_quotas(meta, vcpu))
		return 0;
	for (int at = vcpu->cgroup; at; at = meta->cgroups[at - 1].above)
		if (kvm_meta_has_quota(&meta->cgroups[at - 1]))
			quota = KVM_QUOTA_LIMITED;
	return kvm_tracker_limit(tracker, vcpu->tid, quota);
}

static int add_guest(struct kvm_tracker *tracker, const struct kvm_meta *meta,
		     const struct kvm_meta_guest *guest)
{
	int32_t *tids;
	int n = 0, ret;

	for (int i = 0; i < guest->n_vcpus; i++)
		n = guest->vcpus[i].id >= n ? guest->vcpus[i].id + 1 : n;
	tids = calloc((size_t)n + 1, sizeof(*tids));
	if (!tids)
		return -ENOMEM;
	for (int i = 0; i < guest->n_vcpus; i++)
		tids[guest->vcpus[i].id] = guest->vcpus[i].tid;
	if (continued(meta, guest))
		ret = add_lives(tracker, meta, guest);
	else
		ret = n ? kvm_tracker_add_guest(tracker, guest->name ? guest->name : "", tids, n) :
			  0;
	for (int i = 0; i < guest->n_vcpus && !ret; i++)
		ret = add_quota(tracker, meta, &guest->vcpus[i]);
	for (int i = 0; i < guest->n_regions && n && !ret && !continued(meta, guest); i++)
		ret = kvm_tracker_add_region(tracker, &guest->regions[i]);
	for (int i = 0; i < n && !ret && guest->pid; i++)
		if (tids[i])
			ret = kvm_tracker_add_thread(tracker, tids[i], guest->pid);
	for (int i = 0; i < guest->n_threads && !ret && guest->pid; i++)
		if (!kvm_meta_find(meta, guest->threads[i], NULL))
			ret = kvm_tracker_add_thread(tracker, guest->threads[i], guest->pid);
	free(tids);
	return ret;
}

int kvm_meta_fill_tracker(const struct kvm_meta *meta, const char *trace_path,
			  struct kvm_tracker *tracker)
{
	struct filling filling = { meta, tracker };
	int ret = 0;

	for (int i = 0; meta && i < meta->n_guests && !ret; i++)
		ret = add_guest(tracker, meta, &meta->guests[i]);
	for (int32_t i = 0; meta && i < VIRT_IDLE_STATES && !ret; i++)
		if (meta->idle_states[i])
			ret = kvm_tracker_name_idle_state(tracker, i, meta->idle_states[i]);
	if (meta)
		kvm_tracker_quota_timers(tracker, (const uint64_t[KVM_QUOTA_TIMERS]){
			meta->quota_timer, meta->slack_timer,
		});
	if (meta && meta->part)
		kvm_tracker_set_part(tracker, meta->part);
	return ret ? ret : trace_dat_guests(trace_path, add_recorded, &filling);
}
