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
#include "json_read.h"
#include "kvm_meta.h"
#include "kvm_part_json.h"
#include "sidecar.h"
#include "trace_dat.h"

/** Ratios of two CPUs' frequencies. */
#define MIN_SCALE	0.001
#define MAX_SCALE	1000

/** A ratio has 64 bits, and all of it must not be behind the point. */
#define MAX_FRAC_BITS	62

/* --- in memory ------------------------------------------------------------------------------- */

struct kvm_meta *kvm_meta_new(void)
{
	return calloc(1, sizeof(struct kvm_meta));
}

void kvm_meta_free(struct kvm_meta *meta)
{
	if (!meta)
		return;
	for (int i = 0; i < meta->n_guests; i++) {
		free(meta->guests[i].name);
		free(meta->guests[i].uuid);
		free(meta->guests[i].vcpus);
		free(meta->guests[i].threads);
	}
	for (int i = 0; i < VIRT_IDLE_STATES; i++)
		free(meta->idle_states[i]);
	for (int i = 0; i < meta->n_governors; i++)
		free(meta->governors[i]);
	for (int i = 0; i < meta->n_cgroups; i++)
		free(meta->cgroups[i].path);
	free(meta->cgroups);
	free(meta->guests);
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
	struct kvm_meta_cgroup cgroup = { .path = strdup(path) };

	if (above > 0 && meta->cgroups[above - 1].depth < KVM_META_MAX_DEPTH) {
		cgroup.above = above;
		cgroup.depth = meta->cgroups[above - 1].depth + 1;
	}
	if (!cgroup.path || meta->n_cgroups == KVM_META_MAX_CGROUPS ||
	    ARRAY_GROW(meta->cgroups, meta->n_cgroups, meta->cgroups_room)) {
		free(cgroup.path);
		return NULL;
	}
	meta->cgroups[meta->n_cgroups] = cgroup;
	return &meta->cgroups[meta->n_cgroups++];
}

struct kvm_meta_guest *kvm_meta_add_guest(struct kvm_meta *meta, const char *name,
					  const char *uuid, int32_t pid)
{
	struct kvm_meta_guest guest = {
		.name = name ? strdup(name) : NULL, .uuid = uuid ? strdup(uuid) : NULL, .pid = pid,
	};

	if ((name && !guest.name) || (uuid && !guest.uuid) ||
	    meta->n_guests == KVM_META_MAX_GUESTS ||
	    ARRAY_GROW(meta->guests, meta->n_guests, meta->room)) {
		free(guest.name);
		free(guest.uuid);
		return NULL;
	}
	meta->guests[meta->n_guests] = guest;
	return &meta->guests[meta->n_guests++];
}

static double scale_of(const struct kvm_meta_vcpu *vcpu)
{
	return ldexp((double)vcpu->tsc_ratio, -vcpu->tsc_frac_bits);
}

static bool is_ratio(const struct kvm_meta_vcpu *vcpu)
{
	return vcpu->tsc_frac_bits > 0 && vcpu->tsc_frac_bits <= MAX_FRAC_BITS &&
	       scale_of(vcpu) >= MIN_SCALE && scale_of(vcpu) <= MAX_SCALE;
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

/* --- writing --------------------------------------------------------------------------------- */

static struct json_object *object_of_vcpu(const struct kvm_meta_vcpu *vcpu)
{
	struct json_object *object = json_object_new_object();
	char scale[32];
	int ret = json_add(object, "id", json_object_new_int(vcpu->id));

	snprintf(scale, sizeof(scale), "%.12f", vcpu->has_tsc ? scale_of(vcpu) : 1);
	if (!ret && vcpu->tid)
		ret = json_add(object, "tid", json_object_new_int(vcpu->tid));
	if (!ret && vcpu->has_tsc &&
	    (json_add(object, "tsc_offset", json_bits_new((uint64_t)vcpu->tsc_offset)) ||
	     (vcpu->tsc_offset_at_end != vcpu->tsc_offset &&
	      json_add(object, "tsc_offset_at_end",
		       json_bits_new((uint64_t)vcpu->tsc_offset_at_end))) ||
	     json_add(object, "tsc_scale", json_object_new_double_s(scale_of(vcpu), scale)) ||
	     json_add(object, "tsc_ratio", json_object_new_uint64(vcpu->tsc_ratio)) ||
	     json_add(object, "tsc_ratio_frac_bits", json_object_new_int(vcpu->tsc_frac_bits))))
		ret = -ENOMEM;
	if (!ret && vcpu->cgroup)
		ret = json_add(object, "cgroup", json_object_new_int(vcpu->cgroup - 1));
	if (!ret)
		return object;
	json_object_put(object);
	return NULL;
}

/** Members of a quota; one that is CPU_NO_QUOTA is left out. */
static const struct {
	const char	*key;
	size_t		offset;
} quota_members[] = {
	{ "quota_us", offsetof(struct cpu_quota, quota_us) },
	{ "period_us", offsetof(struct cpu_quota, period_us) },
	{ "periods", offsetof(struct cpu_quota, periods) },
	{ "throttled", offsetof(struct cpu_quota, throttled) },
	{ "throttled_us", offsetof(struct cpu_quota, throttled_us) },
};

static int64_t *quota_member(const struct cpu_quota *quota, size_t i)
{
	return (int64_t *)((uintptr_t)quota + quota_members[i].offset);
}

/** Return: 0 or -ENOMEM. */
static int put_quota(struct json_object *root, const char *key, bool is_known,
		     const struct cpu_quota *quota)
{
	struct json_object *object;
	int ret;

	if (!is_known)
		return 0;
	object = json_object_new_object();
	ret = json_add(root, key, object);
	for (size_t i = 0; i < ARRAY_SIZE(quota_members) && !ret; i++)
		if (*quota_member(quota, i) >= 0)
			ret = json_add(object, quota_members[i].key,
				       json_object_new_int64(*quota_member(quota, i)));
	return ret;
}

static struct json_object *object_of_cgroup(const struct kvm_meta_cgroup *cgroup)
{
	struct json_object *object = json_object_new_object();
	int ret = json_add(object, "path", json_text_new(cgroup->path));

	if (!ret && cgroup->above)
		ret = json_add(object, "above", json_object_new_int(cgroup->above - 1));
	if (!ret)
		ret = put_quota(object, "begin", cgroup->has_begin, &cgroup->begin);
	if (!ret)
		ret = put_quota(object, "end", cgroup->has_end, &cgroup->end);
	if (!ret)
		return object;
	json_object_put(object);
	return NULL;
}

/** Return: 0 or -ENOMEM. */
static int put_cgroups(struct json_object *root, const struct kvm_meta *meta)
{
	struct json_object *list;
	int ret;

	if (!meta->n_cgroups)
		return 0;
	list = json_object_new_array();
	ret = json_add(root, "cgroups", list);
	for (int i = 0; i < meta->n_cgroups && !ret; i++)
		ret = json_add(list, NULL, object_of_cgroup(&meta->cgroups[i]));
	return ret;
}

/** Return: 0 or -ENOMEM. */
static int put_threads(struct json_object *object, const struct kvm_meta_guest *guest)
{
	struct json_object *list;
	int ret;

	if (!guest->n_threads)
		return 0;
	list = json_object_new_array();
	ret = json_add(object, "threads", list);
	for (int i = 0; i < guest->n_threads && !ret; i++)
		ret = json_add(list, NULL, json_object_new_int(guest->threads[i]));
	return ret;
}

static struct json_object *object_of_guest(const struct kvm_meta_guest *guest)
{
	struct json_object *object = json_object_new_object(), *list = json_object_new_array();
	int ret = 0;

	if (guest->name)
		ret = json_add(object, "name", json_text_new(guest->name));
	if (!ret && guest->uuid)
		ret = json_add(object, "uuid", json_text_new(guest->uuid));
	if (!ret && guest->pid)
		ret = json_add(object, "pid", json_object_new_int(guest->pid));
	if (!ret && guest->continues)
		ret = json_add(object, "continues", json_object_new_int(guest->continues));
	if (!ret)
		ret = put_threads(object, guest);
	for (int i = 0; i < guest->n_vcpus && !ret; i++)
		ret = json_add(list, NULL, object_of_vcpu(&guest->vcpus[i]));
	if (ret)
		json_object_put(list);
	else
		ret = json_add(object, "vcpus", list);
	if (!ret)
		return object;
	json_object_put(object);
	return NULL;
}

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

/** Return: 0 or -ENOMEM. */
static int put_moment(struct json_object *root, const struct kvm_meta *meta)
{
	struct json_object *moment = json_object_new_object();
	int ret = json_add(root, "moment", moment);

	if (!ret)
		ret = json_add(moment, "realtime_ns", json_object_new_int64(meta->realtime_ns));
	return ret ? ret : json_add(moment, "trace_ns", json_object_new_int64(meta->trace_ns));
}

static int put_all(struct json_object *root, const void *what)
{
	const struct kvm_meta *meta = what;
	struct json_object *list = json_object_new_array();
	int ret = put_texts(root, "idle_states", meta->idle_states, VIRT_IDLE_STATES);

	if (!ret)
		ret = put_texts(root, "governors", meta->governors, meta->n_governors);
	if (!ret && meta->has_moment)
		ret = put_moment(root, meta);
	if (!ret)
		ret = put_cgroups(root, meta);
	if (!ret && meta->cpu_khz)
		ret = json_add(root, "cpu_khz", json_object_new_int64((int64_t)meta->cpu_khz));
	for (int i = 0; i < meta->n_guests && !ret; i++)
		ret = json_add(list, NULL, object_of_guest(&meta->guests[i]));
	if (!ret)
		return json_add(root, "guests", list);
	json_object_put(list);
	return ret;
}

int kvm_meta_write(const char *trace_path, const struct kvm_meta *meta, char *error, size_t size)
{
	return json_update_sidecar(trace_path, put_all, meta, error, size);
}

/* --- reading --------------------------------------------------------------------------------- */

/** Of what is no text, or what there cannot be, nothing is taken. Return: 0 or -ENOMEM. */
static int take_texts(struct kvm_meta *meta, struct json_object *root, const char *key,
		      int (*take)(struct kvm_meta *meta, int32_t i, const char *text))
{
	struct json_object *list = json_member(root, key, json_type_array);
	size_t n = list ? json_object_array_length(list) : 0;

	for (size_t i = 0; i < n && i < VIRT_IDLE_STATES; i++) {
		struct json_object *text = json_object_array_get_idx(list, i);

		if (json_object_is_type(text, json_type_string) &&
		    take(meta, (int32_t)i, json_object_get_string(text)) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

static int take_governor(struct kvm_meta *meta, int32_t i, const char *name)
{
	(void)i;
	return kvm_meta_add_governor(meta, name);
}

/** Of what cannot be understood, nothing is assumed. */
static void take_tsc(struct json_object *object, struct kvm_meta_vcpu *vcpu)
{
	struct json_object *scale;
	uint64_t offset, end;

	if (!json_bits_member(object, "tsc_offset", &offset))
		return;
	if (!json_bits_member(object, "tsc_offset_at_end", &end))
		end = offset;
	vcpu->tsc_offset = (int64_t)offset;
	vcpu->tsc_offset_at_end = (int64_t)end;
	vcpu->tsc_ratio = KVM_META_RATIO_ONE;
	vcpu->tsc_frac_bits = KVM_META_FRAC_BITS;
	if (json_object_object_get_ex(object, "tsc_ratio", NULL)) {
		int64_t bits = json_number_member(object, "tsc_ratio_frac_bits", 0);

		if (!json_bits_member(object, "tsc_ratio", &vcpu->tsc_ratio))
			return;
		vcpu->tsc_frac_bits = bits > 0 && bits <= MAX_FRAC_BITS ? (int)bits : 0;
	} else if (json_object_object_get_ex(object, "tsc_scale", &scale)) {
		double value = json_object_get_double(scale);

		if (!(value >= MIN_SCALE && value <= MAX_SCALE))
			return;
		vcpu->tsc_ratio = (uint64_t)llround(ldexp(value, KVM_META_FRAC_BITS));
	}
	vcpu->has_tsc = is_ratio(vcpu);
}

/** A number of a cgroup below @end, from 1 on; 0: there is none. */
static int cgroup_number(const struct kvm_meta *meta, struct json_object *object, const char *key,
			 int end)
{
	int64_t number = json_number_member(object, key, -1);

	return number >= 0 && number < end && number < meta->n_cgroups ? (int)number + 1 : 0;
}

/** Return: false if any number of it is not known. */
static bool take_quota(struct json_object *object, const char *key, struct cpu_quota *quota)
{
	struct json_object *of = json_member(object, key, json_type_object);

	for (size_t i = 0; of && i < ARRAY_SIZE(quota_members); i++) {
		int64_t *number = quota_member(quota, i);

		*number = json_number_member(of, quota_members[i].key, CPU_NO_QUOTA);
		/* what cannot be is not known; only a quota may be missing */
		if (*number < 0 && (number != &quota->quota_us || *number != CPU_NO_QUOTA))
			return false;
	}
	return of;
}

/** Before the guests, whose vCPUs name them by number. Return: 0 or -ENOMEM. */
static int take_cgroups(struct kvm_meta *meta, struct json_object *root)
{
	struct json_object *list = json_member(root, "cgroups", json_type_array);
	size_t n = list ? json_object_array_length(list) : 0;

	for (size_t i = 0; i < n && i < KVM_META_MAX_CGROUPS; i++) {
		struct json_object *object = json_object_array_get_idx(list, i);
		struct kvm_meta_cgroup *cgroup;
		char *path;

		if (json_text_member(object, "path", &path))
			return -ENOMEM;
		cgroup = kvm_meta_add_cgroup(meta, path ? path : "", cgroup_number(meta, object,
					     "above", (int)i));
		free(path);
		if (!cgroup)
			return -ENOMEM;
		cgroup->has_begin = take_quota(object, "begin", &cgroup->begin);
		cgroup->has_end = take_quota(object, "end", &cgroup->end);
	}
	return 0;
}

/** @seen: numbers of vCPUs that the guest has already. Return: 0 or -ENOMEM. */
static int take_vcpu(struct kvm_meta *meta, struct json_object *object, bool *seen)
{
	struct kvm_meta_guest *guest = &meta->guests[meta->n_guests - 1];
	int64_t id = json_number_member(object, "id", -1);
	int64_t tid = json_number_member(object, "tid", 0), place;
	struct kvm_meta_vcpu vcpu = { 0 };

	if (id < 0 || id >= KVM_META_MAX_VCPUS || seen[id] || tid <= 0 || tid > INT32_MAX ||
	    kvm_meta_find(meta, (int32_t)tid, NULL))
		return 0;
	seen[id] = true;
	vcpu.id = (int32_t)id;
	vcpu.tid = (int32_t)tid;
	take_tsc(object, &vcpu);
	vcpu.cgroup = cgroup_number(meta, object, "cgroup", meta->n_cgroups);
	place = KEY_MAP_ELEMENT(&meta->threads, (uint32_t)tid, meta->places, meta->n_places);
	if (place < 0)
		return -ENOMEM;
	meta->places[place] = (struct kvm_meta_place){ meta->n_guests - 1, guest->n_vcpus };
	return kvm_meta_add_vcpu(guest, &vcpu);
}

/** What are no threads is left out. Return: 0 or -ENOMEM. */
static int take_threads(struct kvm_meta_guest *guest, struct json_object *object)
{
	struct json_object *list = json_member(object, "threads", json_type_array);
	size_t n = list ? json_object_array_length(list) : 0;

	for (size_t i = 0; i < n; i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		int64_t tid = json_object_is_type(one, json_type_int) ?
			      json_object_get_int64(one) : 0;

		if (tid > 0 && tid <= INT32_MAX &&
		    kvm_meta_add_thread(guest, (int32_t)tid) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

static int take_guest(struct kvm_meta *meta, struct json_object *object)
{
	bool seen[KVM_META_MAX_VCPUS] = { false };
	struct json_object *list = json_member(object, "vcpus", json_type_array);
	int64_t pid = json_number_member(object, "pid", 0);
	int64_t continues = json_number_member(object, "continues", 0);
	struct kvm_meta_guest *guest;
	char *name, *uuid = NULL;
	int ret = json_text_member(object, "name", &name);
	size_t n = list ? json_object_array_length(list) : 0;

	if (!ret)
		ret = json_text_member(object, "uuid", &uuid);
	guest = ret ? NULL : kvm_meta_add_guest(meta, name && *name ? name : NULL, uuid,
						pid > 0 && pid <= INT32_MAX ? (int32_t)pid : 0);
	free(name);
	free(uuid);
	if (guest && continues > 0 && continues <= INT32_MAX) {
		guest->continues = (int32_t)continues;
		meta->has_lives = true;
	}
	ret = guest ? take_threads(guest, object) : -ENOMEM;
	for (size_t i = 0; i < n && !ret; i++)
		ret = take_vcpu(meta, json_object_array_get_idx(list, i), seen);
	return ret;
}

static void take_moment(struct kvm_meta *meta, struct json_object *root)
{
	uint64_t trace_ns;

	meta->has_moment = json_moment_member(root, "moment", "trace_ns", &meta->realtime_ns,
					      &trace_ns) && trace_ns <= INT64_MAX;
	meta->trace_ns = meta->has_moment ? (int64_t)trace_ns : 0;
}

/** Return: 0, or a negative errno and a text in @error. */
static int take_all(struct kvm_meta *meta, struct json_object *root, const char *path,
		    char *error, size_t size)
{
	struct json_object *list = json_member(root, "guests", json_type_array);
	size_t n = list ? json_object_array_length(list) : 0;
	int ret = json_khz_member(root, path, &meta->cpu_khz, error, size);

	if (!ret && n > KVM_META_MAX_GUESTS) {
		text_format(error, size, "%s: %zu guests, and at most %d are allowed: correct it, "
			    "or move it away", path, n, KVM_META_MAX_GUESTS);
		return -E2BIG;
	}
	if (!ret && (take_cgroups(meta, root) ||
		     take_texts(meta, root, "idle_states", kvm_meta_name_idle_state) ||
		     take_texts(meta, root, "governors", take_governor))) {
		text_format(error, size, "%s: not enough memory", path);
		return -ENOMEM;
	}
	take_moment(meta, root);
	if (!ret)
		ret = kvm_part_read(root, path, &meta->part, error, size);
	for (size_t i = 0; i < n && !ret; i++) {
		ret = take_guest(meta, json_object_array_get_idx(list, i));
		if (ret)
			text_format(error, size, "%s: not enough memory", path);
	}
	return ret;
}

static bool tells_nothing(const struct kvm_meta *meta)
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
	if (ret || tells_nothing(*meta)) {
		kvm_meta_free(*meta);
		*meta = NULL;
	}
	json_object_put(root);
	free(path);
	return ret;
}

/* --- for the tracker ------------------------------------------------------------------------- */

struct telling {
	const struct kvm_meta	*meta;
	struct kvm_tracker	*tracker;
};

/** What trace-cmd has recorded: its name of a guest need not be the hypervisor's. */
static int tell_recorded(void *arg, const char *name, const int32_t *tids, int n)
{
	const struct telling *telling = arg;

	for (int i = 0; i < n; i++)
		if (kvm_meta_find(telling->meta, tids[i], NULL))
			return 0;
	return kvm_tracker_add_guest(telling->tracker, name, tids, n);
}

/** Each thread whose vCPU has had another one. Return: 0 or -ENOMEM. */
static int tell_lives(struct kvm_tracker *tracker, const struct kvm_meta *meta,
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

static int tell_guest(struct kvm_tracker *tracker, const struct kvm_meta *meta,
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
		ret = tell_lives(tracker, meta, guest);
	else
		ret = n ? kvm_tracker_add_guest(tracker, guest->name ? guest->name : "", tids, n) :
			  0;
	for (int i = 0; i < n && !ret && guest->pid; i++)
		if (tids[i])
			ret = kvm_tracker_add_thread(tracker, tids[i], guest->pid);
	for (int i = 0; i < guest->n_threads && !ret && guest->pid; i++)
		if (!kvm_meta_find(meta, guest->threads[i], NULL))
			ret = kvm_tracker_add_thread(tracker, guest->threads[i], guest->pid);
	free(tids);
	return ret;
}

int kvm_meta_tell(const struct kvm_meta *meta, const char *trace_path,
		  struct kvm_tracker *tracker)
{
	struct telling telling = { meta, tracker };
	int ret = 0;

	for (int i = 0; meta && i < meta->n_guests && !ret; i++)
		ret = tell_guest(tracker, meta, &meta->guests[i]);
	for (int32_t i = 0; meta && i < VIRT_IDLE_STATES && !ret; i++)
		if (meta->idle_states[i])
			ret = kvm_tracker_name_idle_state(tracker, i, meta->idle_states[i]);
	if (meta && meta->part)
		kvm_tracker_set_part(tracker, meta->part);
	return ret ? ret : trace_dat_guests(trace_path, tell_recorded, &telling);
}
