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
#include "trace_dat.h"
#include "xen_meta.h"

#define KEY	"alignment"

/** As many CPUs as a guest's trace may tell of. */
#define MAX_TIDS	4096

/**
 * The sidecar of a trace. @there: receives whether there is one.
 *
 * Return: NULL if it is no JSON object, or without memory, and a text in @error.
 */
static struct json_object *load(const char *trace_path, bool *there, char *error, size_t size)
{
	char *path = xen_meta_find(trace_path);
	struct json_object *root;

	*there = path;
	root = path ? json_object_from_file(path) : json_object_new_object();
	if (!root || !json_object_is_type(root, json_type_object)) {
		snprintf(error, size, "%s: not a JSON object: correct it, or move it away",
			 path ? path : trace_path);
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

	snprintf(ppm, sizeof(ppm), "%.6f", meta->drift_ppm);
	json_object_array_add(interval, json_object_new_int64(meta->lo));
	json_object_array_add(interval, json_object_new_int64(meta->hi));
	json_object_object_add(object, "host", json_object_new_string(meta->host));
	json_object_object_add(object, "source", json_object_new_string(meta->source));
	json_object_object_add(object, "offset", json_object_new_int64(meta->offset));
	json_object_object_add(object, "unit", json_object_new_string(meta->cycles ? "cycles" :
								      "ns"));
	json_object_object_add(object, "interval", interval);
	json_object_object_add(object, "drift_ppm",
			       json_object_new_double_s(meta->drift_ppm, ppm));
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

int align_meta_write(const char *guest_path, const struct align_meta *meta, char *error,
		     size_t size)
{
	bool there;
	struct json_object *root = load(guest_path, &there, error, size);
	char *path;
	int saved;

	if (!root)
		return -EINVAL;
	path = there ? xen_meta_find(guest_path) : xen_meta_path(guest_path);
	json_object_object_add(root, KEY, object_of(meta));
	saved = path ? replace(path, root) : ENOMEM;
	if (saved)
		snprintf(error, size, "%s: cannot write: %s", path ? path : guest_path,
			 strerror(saved));
	free(path);
	json_object_put(root);
	return -saved;
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

static char *read_text(struct json_object *object, const char *key)
{
	struct json_object *value = member(object, key, json_type_string);

	return strdup(value ? json_object_get_string(value) : "");
}

/** Return: NULL without memory. */
static struct align_meta *meta_of(struct json_object *object, int64_t offset, double ppm)
{
	struct json_object *after = member(object, "after_trace_cmd", json_type_boolean);
	struct json_object *interval = member(object, "interval", json_type_array);
	struct align_meta *meta = calloc(1, sizeof(*meta));
	char *unit = read_text(object, "unit");

	if (!meta || !unit)
		goto err;
	meta->host = read_text(object, "host");
	meta->source = read_text(object, "source");
	meta->tids = read_tids(object, &meta->n_tids);
	meta->cycles = !strcmp(unit, "cycles");
	meta->after_trace_cmd = after && json_object_get_boolean(after);
	meta->offset = meta->lo = meta->hi = offset;
	meta->drift_ppm = ppm;
	if (interval && json_object_array_length(interval) == 2) {
		meta->lo = json_object_get_int64(json_object_array_get_idx(interval, 0));
		meta->hi = json_object_get_int64(json_object_array_get_idx(interval, 1));
	}
	if (!meta->host || !meta->source || !meta->tids)
		goto err;
	free(unit);
	return meta;
err:
	free(unit);
	align_meta_free(meta);
	return NULL;
}

/** Is an alignment in the unit of the trace, as far as that tells? */
static bool counts_alike(const char *guest_path, const struct align_meta *meta)
{
	struct trace_dat_info info;
	char problem[256];

	return !trace_dat_check(guest_path, problem, sizeof(problem), &info) ||
	       info.unit == TRACE_DAT_EITHER || (info.unit == TRACE_DAT_CYCLES) == meta->cycles;
}

int align_meta_read(const char *guest_path, struct align_meta **meta, char *error, size_t size)
{
	bool there;
	struct json_object *root = load(guest_path, &there, error, size), *object, *offset, *drift;
	double ppm;
	int ret = 0;

	*meta = NULL;
	if (!root)
		return -EINVAL;
	object = member(root, KEY, json_type_object);
	if (!object)
		goto end;
	offset = member(object, "offset", json_type_int);
	ppm = json_object_object_get_ex(object, "drift_ppm", &drift) ?
	      json_object_get_double(drift) : 0;
	if (!offset || !isfinite(ppm) || fabs(ppm) > 1e6) {
		snprintf(error, size, "%s: the sidecar's \"" KEY "\" has no offset, or a drift "
			 "that cannot be: let kshark-virt align --write write it anew", guest_path);
		ret = -EINVAL;
		goto end;
	}
	*meta = meta_of(object, json_object_get_int64(offset), ppm);
	if (!*meta) {
		snprintf(error, size, "%s: not enough memory", guest_path);
		ret = -ENOMEM;
	} else if (!counts_alike(guest_path, *meta)) {
		snprintf(error, size, "%s: the alignment in its sidecar is of a trace that counts "
			 "%s: let kshark-virt align --write write it anew", guest_path,
			 (*meta)->cycles ? "cycles" : "ns");
		align_meta_free(*meta);
		*meta = NULL;
		ret = -EINVAL;
	}
end:
	json_object_put(root);
	return ret;
}

void align_meta_free(struct align_meta *meta)
{
	if (!meta)
		return;
	free(meta->host);
	free(meta->source);
	free(meta->tids);
	free(meta);
}

int align_meta_apply(struct kvm_trace *guest, char *error, size_t size)
{
	struct kvm_trace_alignment alignment = { 0 };
	struct align_meta *meta;
	int ret = align_meta_read(kvm_trace_path(guest), &meta, error, size);

	if (!meta)
		return ret;
	alignment.cycles = meta->cycles;
	alignment.tids = meta->tids;
	alignment.n_tids = meta->n_tids;
	alignment.offset = meta->offset;
	alignment.drift_ppm = meta->drift_ppm;
	alignment.host = meta->host;
	alignment.hide_offsets = !meta->after_trace_cmd;
	ret = kvm_trace_align(guest, &alignment);
	align_meta_free(meta);
	if (ret)
		snprintf(error, size, "%s: %s", kvm_trace_path(guest), ret == -ENOTSUP ?
			 "this libtracecmd cannot leave out trace-cmd's offsets, as the alignment "
			 "in the sidecar needs" : "not enough memory");
	return ret;
}
