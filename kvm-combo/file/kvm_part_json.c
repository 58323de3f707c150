// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_part_json.c
 * @brief	Read and write the member "part" of the sidecar of a KVM host's trace.
 */
#include <errno.h>
#include <stdlib.h>

#include "escape.h"
#include "json_read.h"
#include "key_map.h"
#include "kvm_part_json.h"
#include "virt_part_json.h"

/** What another version has written in another way is not read. */
#define PART_VERSION	1

/* --- writing --------------------------------------------------------------------------------- */

static int write_vcpu(struct json_object *object, const struct kvm_part_vcpu *vcpu)
{
	int ret = json_add(object, "machine", json_object_new_int(vcpu->machine));

	if (!ret)
		ret = json_add(object, "machine_name", json_text_new(vcpu->machine_name));
	if (!ret)
		ret = json_add(object, "id", json_object_new_int(vcpu->id));
	if (!ret)
		ret = json_add(object, "tid", json_object_new_int(vcpu->tid));
	if (!ret)
		ret = json_add(object, "name", json_text_new(vcpu->name));
	if (!ret && vcpu->has_tsc)
		ret = json_add(object, "tsc_offset", json_bits_new((uint64_t)vcpu->tsc_offset));
	return ret;
}

static struct json_object *write_vcpus(const struct kvm_part *part)
{
	struct json_object *list = json_object_new_array();
	int ret = list ? 0 : -ENOMEM;

	for (int32_t i = 0; i < part->model->n_vcpus && !ret; i++) {
		struct json_object *object = json_object_new_object();

		ret = json_add(list, NULL, object);
		if (!ret)
			ret = write_vcpu(object, &part->vcpus[i]);
	}
	if (!ret)
		return list;
	json_object_put(list);
	return NULL;
}

struct json_object *kvm_part_write(const struct kvm_part *part)
{
	struct json_object *root = json_object_new_object();
	int ret = root ? json_add(root, "version", json_object_new_int(PART_VERSION)) : -ENOMEM;

	if (!ret)
		ret = json_add(root, "first_ns", json_object_new_int64(part->first_ns));
	if (!ret)
		ret = json_add(root, "last_ns", json_object_new_int64(part->last_ns));
	if (!ret && part->hz)
		ret = json_add(root, "hz", json_object_new_int64((int64_t)part->hz));
	if (!ret)
		ret = virt_part_write(root, part->model, write_vcpus(part));
	if (!ret)
		return root;
	json_object_put(root);
	return NULL;
}

/* --- reading --------------------------------------------------------------------------------- */

/** What the numbers of vCPUs depend on: each one is there once. */
struct seen {
	struct key_map	tids, ids;
};

/** Return: 0, -ENOMEM, or -EEXIST. */
static int see(struct key_map *map, uint64_t key)
{
	if (key_map_find(map, key) >= 0)
		return -EEXIST;
	return key_map_add(map, key) < 0 ? -ENOMEM : 0;
}

static int read_vcpu(struct json_object *object, struct kvm_part_vcpu *vcpu, struct seen *seen)
{
	int64_t machine = json_number_member(object, "machine", -1);
	int64_t id = json_number_member(object, "id", -1);
	int64_t tid = json_number_member(object, "tid", 0);
	uint64_t offset;
	int ret;

	if (machine < 0 || machine > INT32_MAX || id < 0 || id > INT32_MAX || tid <= 0 ||
	    tid > INT32_MAX)
		return -EINVAL;
	*vcpu = (struct kvm_part_vcpu){
		.machine = (int32_t)machine, .id = (int32_t)id, .tid = (int32_t)tid,
		.has_tsc = json_bits_member(object, "tsc_offset", &offset),
	};
	if (vcpu->has_tsc)
		vcpu->tsc_offset = (int64_t)offset;
	ret = json_text_member(object, "machine_name", &vcpu->machine_name);
	if (!ret)
		ret = json_text_member(object, "name", &vcpu->name);
	if (!ret && (!vcpu->machine_name || !vcpu->name))
		ret = -EINVAL;
	if (!ret)
		ret = see(&seen->tids, (uint64_t)tid);
	return ret ? ret : see(&seen->ids, (uint64_t)machine << 32 | (uint64_t)id);
}

static int read_vcpus(struct kvm_part *part, struct json_object *root)
{
	struct seen seen = { 0 };
	struct json_object *list;
	int ret = 0;
	size_t n;

	list = json_list_member(root, "vcpus", &n);
	part->vcpus = calloc(n + 1, sizeof(*part->vcpus));
	if (!part->vcpus)
		return -ENOMEM;
	for (size_t i = 0; i < n && !ret; i++)
		ret = read_vcpu(json_object_array_get_idx(list, i), &part->vcpus[i], &seen);
	key_map_destroy(&seen.tids);
	key_map_destroy(&seen.ids);
	return ret;
}

static int read_part(struct kvm_part *part, struct json_object *root, const char **wrong)
{
	int64_t hz = json_number_member(root, "hz", 0);
	int ret;

	*wrong = "version";
	if (json_number_member(root, "version", 0) != PART_VERSION)
		return -EINVAL;
	part->first_ns = json_number_member(root, "first_ns", 1);
	part->last_ns = json_number_member(root, "last_ns", 0);
	*wrong = hz < 0 ? "hz" : "first_ns";
	if (part->first_ns > part->last_ns || hz < 0)
		return -EINVAL;
	part->hz = (uint64_t)hz;
	*wrong = "vcpus";
	ret = virt_part_read(root, &part->model, wrong);
	if (!ret && !part->model)
		ret = -EINVAL;
	return ret ? ret : read_vcpus(part, root);
}

int kvm_part_read(struct json_object *root, const char *path, struct kvm_part **part, char *error,
		  size_t size)
{
	struct json_object *object = json_member(root, "part", json_type_object);
	struct kvm_part *read;
	const char *wrong;
	int ret;

	*part = NULL;
	/* that of a guest only says which times it has */
	if (!object || !json_object_object_get_ex(object, "vcpus", NULL))
		return 0;
	read = calloc(1, sizeof(*read));
	ret = read ? read_part(read, object, &wrong) : -ENOMEM;
	if (!ret) {
		*part = read;
		return 0;
	}
	kvm_part_free(read);
	if (ret == -ENOMEM)
		return ret;
	text_format(error, size, "%s: \"%s\" of \"part\" cannot be understood: split the trace "
		    "again with this version", path, wrong);
	return -EINVAL;
}
