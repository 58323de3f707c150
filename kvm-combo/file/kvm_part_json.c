// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_part_json.c
 * @brief	Read and write the member "part" of the sidecar of a KVM host's trace.
 */
#include <errno.h>
#include <stdlib.h>

#include "escape.h"
#include "json_fields.h"
#include "json_read.h"
#include "key_map.h"
#include "kvm_part_json.h"
#include "sidecar.h"
#include "virt_part_json.h"

/** What another version has written in another way is not read. */
#define PART_VERSION	1

static const struct json_field vcpu_fields[] = {
	{ JSON_A_NUMBER("machine", struct kvm_part_vcpu, machine, -1, 0, INT32_MAX), .must = true },
	{ JSON_A_TEXT("machine_name", struct kvm_part_vcpu, machine_name), .must = true },
	{ JSON_A_NUMBER("id", struct kvm_part_vcpu, id, -1, 0, INT32_MAX), .must = true },
	{ JSON_A_NUMBER("tid", struct kvm_part_vcpu, tid, -1, 1, INT32_MAX), .must = true },
	{ JSON_A_TEXT("name", struct kvm_part_vcpu, name), .must = true },
	{ JSON_SOME_BITS("tsc_offset", struct kvm_part_vcpu, tsc_offset, 0),
	  JSON_HAS(struct kvm_part_vcpu, has_tsc) },
	JSON_FIELDS_END
};

static const struct json_field part_fields[] = {
	{ JSON_A_VALUE("first_ns", struct kvm_part, first_ns, 1) },
	{ JSON_A_VALUE("last_ns", struct kvm_part, last_ns, 0) },
	{ JSON_A_NUMBER("hz", struct kvm_part, hz, 0, 0, INT64_MAX), .strict = true },
	JSON_FIELDS_END
};

/* --- writing --------------------------------------------------------------------------------- */

static struct json_object *write_vcpus(const struct kvm_part *part)
{
	struct json_object *list = json_object_new_array();
	int ret = list ? 0 : -ENOMEM;

	for (int32_t i = 0; i < part->model->n_vcpus && !ret; i++) {
		struct json_object *object = json_object_new_object();

		ret = json_add(list, NULL, object);
		if (!ret)
			ret = json_fields_write(object, vcpu_fields, &part->vcpus[i]);
	}
	if (!ret)
		return list;
	json_object_put(list);
	return NULL;
}

struct json_object *kvm_part_write(const struct kvm_part *part)
{
	struct json_object *root = json_object_new_object();
	int ret = json_add(root, "version", json_object_new_int(PART_VERSION));

	if (!ret)
		ret = json_fields_write(root, part_fields, part);
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
	struct json_wrong wrong;
	int ret = json_fields_read(object, vcpu_fields, vcpu, &wrong);

	if (!ret)
		ret = see(&seen->tids, (uint64_t)vcpu->tid);
	return ret ? ret : see(&seen->ids, (uint64_t)vcpu->machine << 32 | (uint64_t)vcpu->id);
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
	struct json_wrong at;
	int ret;

	*wrong = "version";
	if (json_number_member(root, "version", 0) != PART_VERSION)
		return -EINVAL;
	ret = json_fields_read(root, part_fields, part, &at);
	*wrong = ret ? at.key : "first_ns";
	if (ret || part->first_ns > part->last_ns)
		return ret ? ret : -EINVAL;
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

int kvm_part_window(const char *trace_path, int64_t *from_ns, int64_t *to_ns)
{
	char *path = sidecar_find(trace_path), error[512];
	struct json_object *root = NULL, *part;
	int ret = path ? json_read_file(path, &root, error, sizeof(error)) : 0;

	part = json_member(root, "part", json_type_object);
	*from_ns = json_number_member(part, "from_ns", 1);
	*to_ns = json_number_member(part, "to_ns", 0);
	json_object_put(root);
	free(path);
	return ret == -ENOMEM ? ret : *from_ns < *to_ns;
}
