// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	align_meta.c
 * @brief	The alignment of a guest's trace in its sidecar.
 */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "align_meta.h"
#include "options.h"
#include "xen_meta.h"

#define KEY	"alignment"

/** As many CPUs as a guest's trace may tell of. */
#define MAX_TIDS	4096

/** The sidecar of a trace. @there: receives whether there is one. Return: NULL if it is no JSON
 * object, after a message. */
static struct json_object *load(const char *trace_path, bool *there)
{
	char *path = xen_meta_find(trace_path);
	struct json_object *root;

	*there = path;
	if (!path)
		return json_object_new_object();
	root = json_object_from_file(path);
	if (!root || !json_object_is_type(root, json_type_object)) {
		ksv_error("%s: not a JSON object: correct it, or move it away", path);
		json_object_put(root);
		root = NULL;
	}
	free(path);
	return root;
}

static struct json_object *vcpus_of(const struct align_meta *meta)
{
	struct json_object *list = json_object_new_array();

	for (int i = 0; list && i < meta->n_tids; i++) {
		struct json_object *vcpu = json_object_new_object();

		json_object_object_add(vcpu, "guest_cpu", json_object_new_int(i));
		json_object_object_add(vcpu, "tid", json_object_new_int(meta->tids[i]));
		json_object_array_add(list, vcpu);
	}
	return list;
}

static struct json_object *object_of(const struct align_meta *meta)
{
	struct json_object *object = json_object_new_object();
	struct json_object *interval = json_object_new_array();
	char ppm[32];

	snprintf(ppm, sizeof(ppm), "%.6f", meta->alignment->drift_ppm);
	json_object_array_add(interval, json_object_new_int64(meta->alignment->lo));
	json_object_array_add(interval, json_object_new_int64(meta->alignment->hi));
	json_object_object_add(object, "host", json_object_new_string(meta->host));
	json_object_object_add(object, "source", json_object_new_string(meta->source));
	json_object_object_add(object, "offset", json_object_new_int64(meta->alignment->offset));
	json_object_object_add(object, "unit", json_object_new_string(meta->cycles ? "cycles" :
								      "ns"));
	json_object_object_add(object, "interval", interval);
	json_object_object_add(object, "drift_ppm",
			       json_object_new_double_s(meta->alignment->drift_ppm, ppm));
	json_object_object_add(object, "after_trace_cmd",
			       json_object_new_boolean(meta->after_trace_cmd));
	json_object_object_add(object, "vcpus", vcpus_of(meta));
	return object;
}

/** By way of a new file, so that there is always a whole one. Return: 0 or errno. */
static int replace(const char *path, struct json_object *root)
{
	int flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
		    JSON_C_TO_STRING_NOSLASHESCAPE;
	char *name;
	FILE *file;
	int saved = 0;

	if (asprintf(&name, "%s.new", path) < 0)
		return ENOMEM;
	file = fopen(name, "we");
	if (!file) {
		saved = errno;
		free(name);
		return saved;
	}
	if (fprintf(file, "%s\n", json_object_to_json_string_ext(root, flags)) < 0)
		saved = errno;
	if (fclose(file) && !saved)
		saved = errno;
	if (!saved && rename(name, path))
		saved = errno;
	if (saved)
		unlink(name);
	free(name);
	return saved;
}

int align_meta_write(const char *guest_path, const struct align_meta *meta)
{
	bool there;
	struct json_object *root = load(guest_path, &there);
	char *path;
	int saved;

	if (!root)
		return KSV_EXIT_FILE;
	path = there ? xen_meta_find(guest_path) : xen_meta_path(guest_path);
	json_object_object_add(root, KEY, object_of(meta));
	saved = path ? replace(path, root) : ENOMEM;
	if (saved)
		ksv_error("%s: cannot write: %s", path ? path : guest_path, strerror(saved));
	free(path);
	json_object_put(root);
	return saved ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

/* --- reading --------------------------------------------------------------------------------- */

static struct json_object *member(struct json_object *object, const char *key, json_type type)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) &&
	       json_object_is_type(value, type) ? value : NULL;
}

/** Return: malloc'ed, by CPU; NULL if there are none or without memory. */
static int *read_tids(struct json_object *object, int *n)
{
	struct json_object *list = member(object, "vcpus", json_type_array);
	size_t length = list ? json_object_array_length(list) : 0;
	int *tids = calloc(MAX_TIDS, sizeof(*tids));

	*n = 0;
	for (int i = 0; tids && i < MAX_TIDS; i++)
		tids[i] = VIRT_NONE;
	for (size_t i = 0; tids && i < length && i < MAX_TIDS; i++) {
		struct json_object *vcpu = json_object_array_get_idx(list, i);
		struct json_object *cpu = member(vcpu, "guest_cpu", json_type_int);
		struct json_object *tid = member(vcpu, "tid", json_type_int);
		int at = cpu ? json_object_get_int(cpu) : -1;

		if (!tid || at < 0 || at >= MAX_TIDS)
			continue;
		tids[at] = json_object_get_int(tid);
		if (at >= *n)
			*n = at + 1;
	}
	return tids;
}

static int apply(struct kvm_trace *guest, struct json_object *object)
{
	struct json_object *offset = member(object, "offset", json_type_int);
	struct json_object *host = member(object, "host", json_type_string);
	struct json_object *after = member(object, "after_trace_cmd", json_type_boolean);
	struct json_object *drift;
	double ppm = json_object_object_get_ex(object, "drift_ppm", &drift) ?
		     json_object_get_double(drift) : 0;
	struct kvm_trace_alignment alignment = { 0 };
	int *tids;
	int ret;

	if (!offset || !isfinite(ppm) || fabs(ppm) > 1e6) {
		ksv_error("%s: the sidecar's \"" KEY "\" has no offset, or a drift that cannot be: "
			  "let kshark-virt align --write write it anew", kvm_trace_path(guest));
		return KSV_EXIT_FILE;
	}
	tids = read_tids(object, &alignment.n_tids);
	alignment.tids = tids;
	alignment.offset = json_object_get_int64(offset);
	alignment.drift_ppm = ppm;
	alignment.host = host ? json_object_get_string(host) : NULL;
	alignment.hide_offsets = !after || !json_object_get_boolean(after);
	ret = tids ? kvm_trace_align(guest, &alignment) : -ENOMEM;
	free(tids);
	if (!ret)
		return KSV_EXIT_OK;
	ksv_error("%s: %s", kvm_trace_path(guest), ret == -ENOTSUP ?
		  "this libtracecmd cannot leave out trace-cmd's offsets, as the alignment in the "
		  "sidecar needs" : "not enough memory");
	return KSV_EXIT_FILE;
}

int align_meta_apply(struct kvm_trace *guest)
{
	bool there;
	struct json_object *root = load(kvm_trace_path(guest), &there), *object;
	int status = KSV_EXIT_OK;

	if (!root)
		return KSV_EXIT_FILE;
	object = member(root, KEY, json_type_object);
	if (object)
		status = apply(guest, object);
	json_object_put(root);
	return status;
}
