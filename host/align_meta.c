// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	align_meta.c
 * @brief	Read and write the alignment of a guest's trace in its sidecar.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "align_meta.h"
#include "clock_align.h"
#include "escape.h"
#include "json_read.h"
#include "regular_file.h"
#include "sidecar.h"
#include "sidecar_text.h"
#include "trace_dat.h"
#include "whole_file.h"

#define KEY	"alignment"

/** As many CPUs as a guest's trace may tell of. */
#define MAX_TIDS	4096

/** A sidecar, as it is and as it is understood. */
struct sidecar {
	char			*path;
	bool			there;		/* else it is an empty object */
	char			*text;
	size_t			size;
	struct json_object	*root;
};

static void free_sidecar(struct sidecar *sidecar)
{
	json_object_put(sidecar->root);
	free(sidecar->text);
	free(sidecar->path);
}

/** Find where it is, or belongs. */
static int find_sidecar(const char *trace_path, struct sidecar *sidecar)
{
	*sidecar = (struct sidecar){ .path = sidecar_find(trace_path) };
	sidecar->there = sidecar->path;
	if (!sidecar->path)
		sidecar->path = sidecar_path(trace_path);
	return sidecar->path ? 0 : -ENOMEM;
}

/** Return: 0, or a negative errno and a text in @error. */
static int load(struct sidecar *sidecar, char *error, size_t size)
{
	int ret = 0;

	if (sidecar->there) {
		ret = whole_file_read(sidecar->path, SIDECAR_MAX_BYTES, &sidecar->text,
				      &sidecar->size);
	} else {
		sidecar->text = strdup("{}\n");
		sidecar->size = sidecar->text ? strlen(sidecar->text) : 0;
		ret = sidecar->text ? 0 : -ENOMEM;
	}
	if (ret) {
		text_format(error, size, "%s: cannot read: %s", sidecar->path,
			    regular_file_error(ret));
		return ret;
	}
	return json_read_text(sidecar->path, sidecar->text, sidecar->size, &sidecar->root, error,
			      size);
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

/** With the offset that counts from there on, as people think of it. */
static struct json_object *steps_of(const struct align_meta *meta)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; list && i < meta->n_steps; i++) {
		const struct virt_clock_step *step = &meta->steps[i];
		struct json_object *object = json_object_new_object();
		int64_t offset = virt_clock_step_offset(meta->offset, step->add, meta->drift_ppm);

		json_object_object_add(object, "guest_cpu", json_object_new_int(step->cpu));
		if (step->back || step->from != INT64_MIN)
			json_object_object_add(object, "from", json_object_new_int64(step->from));
		json_object_object_add(object, "offset", json_object_new_int64(offset));
		if (step->back)
			json_object_object_add(object, "back", json_object_new_boolean(true));
		json_object_array_add(list, object);
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
	json_object_object_add(object, "at", json_object_new_int64(meta->at));
	json_object_object_add(object, "unit", json_object_new_string(meta->cycles ? "cycles" :
								      "ns"));
	json_object_object_add(object, "interval", interval);
	json_object_object_add(object, "drift_ppm",
			       json_object_new_double_s(meta->drift_ppm, ppm));
	json_object_object_add(object, "after_trace_cmd",
			       json_object_new_boolean(meta->after_trace_cmd));
	json_object_object_add(object, "vcpus", vcpus_of(meta));
	if (meta->n_steps)
		json_object_object_add(object, "steps", steps_of(meta));
	return object;
}

/** As it stands in the sidecar. Return: malloc'ed, or NULL without memory. */
static char *value_of(const struct align_meta *meta)
{
	struct json_object *object = object_of(meta);
	const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
							  JSON_C_TO_STRING_SPACED |
							  JSON_C_TO_STRING_NOSLASHESCAPE);
	char *value = NULL;
	size_t size;
	FILE *out = text ? open_memstream(&value, &size) : NULL;

	/* one level deeper than what stands alone */
	for (; out && *text; text++) {
		putc(*text, out);
		if (*text == '\n')
			fputs("  ", out);
	}
	json_object_put(object);
	if (!out || fclose(out)) {
		free(value);
		return NULL;
	}
	return value;
}

/** Set the member in what is there now, and replace the file. Return: 0 or a negative errno. */
static int replace(struct whole_file *file, const struct sidecar *sidecar,
		   const struct align_meta *meta)
{
	char *value = value_of(meta);
	char *text = value ? sidecar_put(sidecar->text, sidecar->size, KEY, value) : NULL;
	int ret = text ? 0 : !value || errno == ENOMEM ? -ENOMEM : -EBADMSG;

	if (!ret)
		ret = whole_file_write(file, text, strlen(text));
	if (ret)
		whole_file_discard(file);
	else
		ret = whole_file_commit(file);
	free(value);
	free(text);
	return ret;
}

int align_meta_write(const char *guest_path, const struct align_meta *meta, char *error,
		     size_t size)
{
	struct whole_file file;
	struct sidecar sidecar;
	int ret = find_sidecar(guest_path, &sidecar);

	/* from here on, nobody else writes it: what is read now is what is changed */
	if (!ret)
		ret = whole_file_open(&file, sidecar.path, true);
	if (ret)
		goto cannot_write;
	sidecar.there = !access(sidecar.path, F_OK);
	ret = load(&sidecar, error, size);
	if (ret) {
		whole_file_discard(&file);
		goto end;
	}
	ret = replace(&file, &sidecar, meta);
cannot_write:
	if (ret)
		text_format(error, size, "%s: cannot write: %s", sidecar.path ? sidecar.path :
			    guest_path, ret == -EAGAIN ? "another process keeps the folder locked" :
			    ret == -EBADMSG ? "not a plain JSON object: correct it, or move it "
					      "away" :
			    regular_file_error(ret));
end:
	free_sidecar(&sidecar);
	return ret;
}

/* --- reading --------------------------------------------------------------------------------- */

/** Return: malloc'ed, by CPU; NULL if there are none or without memory. */
static int *read_tids(struct json_object *object, int *n)
{
	struct json_object *list = json_member(object, "vcpus", json_type_array);
	size_t length = list ? json_object_array_length(list) : 0;
	int *tids = calloc(MAX_TIDS, sizeof(*tids));

	*n = 0;
	for (int i = 0; tids && i < MAX_TIDS; i++)
		tids[i] = VIRT_NONE;
	for (size_t i = 0; tids && i < length && i < MAX_TIDS; i++) {
		struct json_object *vcpu = json_object_array_get_idx(list, i);
		struct json_object *cpu = json_member(vcpu, "guest_cpu", json_type_int);
		struct json_object *tid = json_member(vcpu, "tid", json_type_int);
		int at = cpu ? json_object_get_int(cpu) : -1;

		if (!tid || at < 0 || at >= MAX_TIDS)
			continue;
		tids[at] = json_object_get_int(tid);
		if (at >= *n)
			*n = at + 1;
	}
	return tids;
}

/** Return: false for what cannot be. */
static bool read_step(struct json_object *object, const struct align_meta *meta,
		      struct virt_clock_step *step)
{
	struct json_object *cpu = json_member(object, "guest_cpu", json_type_int);
	struct json_object *offset = json_member(object, "offset", json_type_int);
	struct json_object *from = json_member(object, "from", json_type_int);
	struct json_object *back = json_member(object, "back", json_type_boolean);

	if (!cpu || !offset || json_object_get_int64(cpu) < 0 ||
	    json_object_get_int64(cpu) >= MAX_TIDS)
		return false;
	*step = (struct virt_clock_step){
		.cpu = json_object_get_int(cpu), .back = back && json_object_get_boolean(back),
		.from = from ? json_object_get_int64(from) : INT64_MIN,
		.add = virt_clock_step_add(meta->offset, json_object_get_int64(offset),
					   meta->drift_ppm),
	};
	return true;
}

/** Return: 0, -EINVAL if they cannot be, or -ENOMEM. */
static int read_steps(struct json_object *object, struct align_meta *meta)
{
	struct json_object *list = json_member(object, "steps", json_type_array);
	size_t n = list ? json_object_array_length(list) : 0;

	if (!list)
		return json_object_object_get_ex(object, "steps", &list) ? -EINVAL : 0;
	if (n > VIRT_CLOCK_MAX_STEPS)
		return -EINVAL;
	meta->steps = calloc(n + 1, sizeof(*meta->steps));
	if (!meta->steps)
		return -ENOMEM;
	for (; meta->n_steps < n; meta->n_steps++)
		if (!read_step(json_object_array_get_idx(list, meta->n_steps), meta,
			       &meta->steps[meta->n_steps]))
			return -EINVAL;
	return virt_clock_steps_are_sorted(meta->steps, n) ? 0 : -EINVAL;
}

static char *read_text(struct json_object *object, const char *key)
{
	struct json_object *value = json_member(object, key, json_type_string);

	return strdup(value ? json_object_get_string(value) : "");
}

/** Return: NULL with errno: ENOMEM, or EINVAL for steps that cannot be. */
static struct align_meta *meta_of(struct json_object *object, int64_t offset, double ppm)
{
	struct json_object *after = json_member(object, "after_trace_cmd", json_type_boolean);
	struct json_object *interval = json_member(object, "interval", json_type_array);
	struct json_object *at = json_member(object, "at", json_type_int);
	struct align_meta *meta = calloc(1, sizeof(*meta));
	char *unit = read_text(object, "unit");
	int ret = -ENOMEM;

	if (!meta || !unit)
		goto err;
	meta->host = read_text(object, "host");
	meta->source = read_text(object, "source");
	meta->tids = read_tids(object, &meta->n_tids);
	meta->cycles = !strcmp(unit, "cycles");
	meta->after_trace_cmd = after && json_object_get_boolean(after);
	meta->offset = meta->lo = meta->hi = offset;
	meta->drift_ppm = ppm;
	/* before it was told, it was 0 */
	meta->at = at ? json_object_get_int64(at) : 0;
	if (interval && json_object_array_length(interval) == 2) {
		meta->lo = json_object_get_int64(json_object_array_get_idx(interval, 0));
		meta->hi = json_object_get_int64(json_object_array_get_idx(interval, 1));
	}
	if (!meta->host || !meta->source || !meta->tids)
		goto err;
	ret = read_steps(object, meta);
	if (ret)
		goto err;
	free(unit);
	return meta;
err:
	free(unit);
	align_meta_free(meta);
	errno = -ret;
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
	struct json_object *object, *offset, *drift, *at;
	struct sidecar sidecar;
	double ppm;
	int ret = find_sidecar(guest_path, &sidecar);

	*meta = NULL;
	if (ret)
		text_format(error, size, "%s: not enough memory", guest_path);
	else if (sidecar.there)
		ret = load(&sidecar, error, size);
	object = ret || !sidecar.root ? NULL : json_member(sidecar.root, KEY, json_type_object);
	if (!object)
		goto end;
	offset = json_member(object, "offset", json_type_int);
	ppm = json_object_object_get_ex(object, "drift_ppm", &drift) ?
	      json_object_get_double(drift) : 0;
	if (!offset || !isfinite(ppm) || fabs(ppm) > 1e6 ||
	    (json_object_object_get_ex(object, "at", &at) &&
	     !json_object_is_type(at, json_type_int))) {
		snprintf(error, size, "%s: the sidecar's \"" KEY "\" has no offset, or an "
			 "impossible drift or time: run 'kshark-virt align --write' again",
			 guest_path);
		ret = -EINVAL;
		goto end;
	}
	*meta = meta_of(object, json_object_get_int64(offset), ppm);
	if (!*meta) {
		ret = -errno;
		text_format(error, size, ret == -ENOMEM ? "%s: not enough memory" :
			    "%s: the sidecar's \"" KEY "\" has impossible steps: run 'kshark-virt "
			    "align --write' again", guest_path);
	} else if (!counts_alike(guest_path, *meta)) {
		text_format(error, size, "%s: the alignment in its sidecar is for times in %s: run "
			    "'kshark-virt align --write' again", guest_path,
			    (*meta)->cycles ? "cycles" : "ns");
		align_meta_free(*meta);
		*meta = NULL;
		ret = -EINVAL;
	}
end:
	free_sidecar(&sidecar);
	return ret;
}

void align_meta_free(struct align_meta *meta)
{
	if (!meta)
		return;
	free(meta->host);
	free(meta->source);
	free(meta->tids);
	free(meta->steps);
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
	alignment.offset = virt_clock_offset_at(meta->offset, meta->drift_ppm, meta->at, 0);
	alignment.drift_ppm = meta->drift_ppm;
	alignment.host = meta->host;
	alignment.hide_offsets = !meta->after_trace_cmd;
	alignment.steps = meta->steps;
	alignment.n_steps = meta->n_steps;
	ret = kvm_trace_align(guest, &alignment);
	align_meta_free(meta);
	if (ret)
		snprintf(error, size, "%s: %s", kvm_trace_path(guest), ret == -ENOTSUP ?
			 "this libtracecmd cannot omit trace-cmd's offsets, which the alignment in "
			 "the sidecar requires" : "not enough memory");
	return ret;
}
