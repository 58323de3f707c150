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
#include "json_fields.h"
#include "json_read.h"
#include "regular_file.h"
#include "sidecar.h"
#include "sidecar_text.h"
#include "trace_dat.h"
#include "whole_file.h"

#define KEY	"alignment"
#define STEPS	"steps"

/** Most CPUs in a guest's trace. */
#define MAX_TIDS	4096

/** A sidecar, as it is and as it is understood. */
struct sidecar {
	char			*path;
	bool			there;
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

/**
 * Let the text be what counts, without the sidecar of another trace that a killed command kept.
 *
 * Return: 0 or -ENOMEM.
 */
static int drop_replaced(struct sidecar *sidecar)
{
	const char *counts;
	char *text;

	counts = json_object_to_json_string_ext(sidecar->root, JSON_C_TO_STRING_PRETTY |
						JSON_C_TO_STRING_SPACED |
						JSON_C_TO_STRING_NOSLASHESCAPE);
	text = counts ? strdup(counts) : NULL;
	if (!text)
		return -ENOMEM;
	free(sidecar->text);
	sidecar->text = text;
	sidecar->size = strlen(text);
	return 0;
}

/** Return: 0, or a negative errno and a text in @error; -ESTALE: it belongs to another trace. */
static int load(struct sidecar *sidecar, char *error, size_t size)
{
	int ret = whole_file_read(sidecar->path, SIDECAR_MAX_BYTES, &sidecar->text,
				  &sidecar->size);

	if (ret) {
		text_format(error, size, "%s: cannot read: %s", sidecar->path,
			    regular_file_error(ret));
		return ret;
	}
	ret = json_parse_text(sidecar->path, sidecar->text, sidecar->size, &sidecar->root, error,
			      size);
	if (!ret)
		ret = json_choose_sidecar(sidecar->path, &sidecar->root, error, size);
	if (ret > 0) {
		ret = drop_replaced(sidecar);
		if (ret)
			text_format(error, size, "%s: not enough memory", sidecar->path);
	}
	return ret;
}

/* --- tables ---------------------------------------------------------------------------------- */

static const char *unit_word(int cycles)
{
	return cycles ? "cycles" : "ns";
}

static int put_interval(struct json_object *object, const char *key, const void *from)
{
	const struct align_meta *meta = from;
	struct json_object *list = json_object_new_array();
	int ret = json_add(object, key, list);

	if (!ret)
		ret = json_add(list, NULL, json_object_new_int64(meta->lo));
	return ret ? ret : json_add(list, NULL, json_object_new_int64(meta->hi));
}

/** Without one, it is the offset. */
static int take_interval(struct json_object *object, const char *key, void *to)
{
	struct align_meta *meta = to;
	size_t n;
	struct json_object *list = json_list_member(object, key, &n);
	bool there = n == 2;

	meta->lo = there ? json_object_get_int64(json_object_array_get_idx(list, 0)) :
		   meta->offset;
	meta->hi = there ? json_object_get_int64(json_object_array_get_idx(list, 1)) :
		   meta->offset;
	return 0;
}

/** A vCPU of the guest, and its thread on the host. */
struct vcpu {
	int32_t		cpu, tid;
};

static const struct json_field vcpu_fields[] = {
	{ JSON_A_NUMBER("guest_cpu", struct vcpu, cpu, -1, 0, MAX_TIDS - 1), .must = true },
	{ JSON_A_VALUE("tid", struct vcpu, tid, VIRT_NONE), .must = true },
	JSON_FIELDS_END
};

/** Add an object to a list. Return: 0 or -ENOMEM. */
static int put_one(struct json_object *list, const struct json_field *fields, const void *from)
{
	struct json_object *object = json_object_new_object();
	int ret = json_add(list, NULL, object);

	return ret ? ret : json_fields_write(object, fields, from);
}

static int put_vcpus(struct json_object *object, const char *key, const void *from)
{
	const struct align_meta *meta = from;
	struct json_object *list = json_object_new_array();
	int ret = json_add(object, key, list);

	for (int i = 0; !ret && i < meta->n_tids; i++)
		ret = put_one(list, vcpu_fields, &(const struct vcpu){ i, meta->tids[i] });
	return ret;
}

/** Those that cannot be are left out. */
static int take_vcpus(struct json_object *object, const char *key, void *to)
{
	struct align_meta *meta = to;
	struct json_wrong wrong;
	struct vcpu vcpu;
	size_t n;
	struct json_object *list = json_list_member(object, key, &n);

	meta->tids = calloc(MAX_TIDS, sizeof(*meta->tids));
	if (!meta->tids)
		return -ENOMEM;
	for (int i = 0; i < MAX_TIDS; i++)
		meta->tids[i] = VIRT_NONE;
	for (size_t i = 0; i < n && i < MAX_TIDS; i++) {
		if (json_fields_read(json_object_array_get_idx(list, i), vcpu_fields, &vcpu,
				     &wrong))
			continue;
		meta->tids[vcpu.cpu] = vcpu.tid;
		if (vcpu.cpu >= meta->n_tids)
			meta->n_tids = vcpu.cpu + 1;
	}
	return 0;
}

/** A step with the offset that counts from there on, as people think of it. */
struct step {
	int32_t		cpu;
	bool		back;
	int64_t		from, offset;
};

static bool has_from(const void *from)
{
	const struct step *step = from;

	return step->back || step->from != INT64_MIN;
}

static const struct json_field step_fields[] = {
	{ JSON_A_NUMBER("guest_cpu", struct step, cpu, -1, 0, MAX_TIDS - 1), .must = true },
	{ JSON_A_VALUE("from", struct step, from, INT64_MIN), .when = has_from },
	{ JSON_A_VALUE("offset", struct step, offset, 0), .must = true },
	{ JSON_A_FLAG("back", struct step, back) },
	JSON_FIELDS_END
};

static int put_steps(struct json_object *object, const char *key, const void *from)
{
	const struct align_meta *meta = from;
	struct json_object *list = meta->n_steps ? json_object_new_array() : NULL;
	int ret = meta->n_steps ? json_add(object, key, list) : 0;

	for (size_t i = 0; !ret && i < meta->n_steps; i++) {
		const struct virt_clock_step *step = &meta->steps[i];

		ret = put_one(list, step_fields, &(const struct step){
			.cpu = step->cpu, .back = step->back, .from = step->from,
			.offset = virt_clock_step_offset(meta->offset, step->add,
							 meta->drift_ppm),
		});
	}
	return ret;
}

/** One that cannot be makes the alignment useless. */
static int take_steps(struct json_object *object, const char *key, void *to)
{
	struct align_meta *meta = to;
	struct json_wrong wrong;
	struct step step;
	size_t n;
	struct json_object *list = json_list_member(object, key, &n);

	if (!list)
		return json_object_object_get_ex(object, key, NULL) ? -EINVAL : 0;
	if (n > VIRT_CLOCK_MAX_STEPS)
		return -EINVAL;
	meta->steps = calloc(n + 1, sizeof(*meta->steps));
	if (!meta->steps)
		return -ENOMEM;
	for (; meta->n_steps < n; meta->n_steps++) {
		if (json_fields_read(json_object_array_get_idx(list, meta->n_steps), step_fields,
				     &step, &wrong))
			return -EINVAL;
		meta->steps[meta->n_steps] = (struct virt_clock_step){
			.cpu = step.cpu, .back = step.back, .from = step.from,
			.add = virt_clock_step_add(meta->offset, step.offset, meta->drift_ppm),
		};
	}
	return virt_clock_steps_are_sorted(meta->steps, n) ? 0 : -EINVAL;
}

/** The offset and the drift come before what is read by them. */
static const struct json_field fields[] = {
	{ JSON_A_TEXT("host", struct align_meta, host) },
	{ JSON_A_TEXT("source", struct align_meta, source) },
	{ JSON_A_VALUE("offset", struct align_meta, offset, 0), .must = true },
	/* before it was written, it was 0 */
	{ JSON_A_VALUE("at", struct align_meta, at, 0) },
	{ JSON_A_WORD("unit", struct align_meta, cycles, false, unit_word, 2), .always = true },
	{ .key = "interval", .kind = JSON_OWN, .put = put_interval, .take = take_interval },
	{ .key = "drift_ppm", .kind = JSON_REAL, JSON_PLACE(struct align_meta, drift_ppm),
	  .decimals = 6 },
	{ JSON_A_FLAG("after_trace_cmd", struct align_meta, after_trace_cmd), .always = true },
	{ .key = "vcpus", .kind = JSON_OWN, .put = put_vcpus, .take = take_vcpus },
	{ .key = STEPS, .kind = JSON_OWN, .put = put_steps, .take = take_steps },
	JSON_FIELDS_END
};

/* --- writing --------------------------------------------------------------------------------- */

/** As it stands in the sidecar. Return: malloc'ed, or NULL without memory. */
static char *value_of(const struct align_meta *meta)
{
	struct json_object *object = json_object_new_object();
	bool made = object && !json_fields_write(object, fields, meta);
	const char *text = !made ? NULL :
			   json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
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

/** What is there now; the sidecar of another trace is none. Return: 0 or a negative errno. */
static int load_or_begin(struct sidecar *sidecar, char *error, size_t size)
{
	int ret = access(sidecar->path, F_OK) ? -ESTALE : load(sidecar, error, size);

	if (ret != -ESTALE)
		return ret;
	free(sidecar->text);
	sidecar->text = strdup("{}\n");
	sidecar->size = sidecar->text ? strlen(sidecar->text) : 0;
	if (sidecar->text)
		return 0;
	text_format(error, size, "%s: not enough memory", sidecar->path);
	return -ENOMEM;
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

	/* from here on, no other program writes it: what is read now is what is changed */
	if (!ret)
		ret = whole_file_open(&file, sidecar.path, true);
	if (ret)
		goto cannot_write;
	ret = load_or_begin(&sidecar, error, size);
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

static bool is_drift(double ppm)
{
	return isfinite(ppm) && fabs(ppm) <= 1e6;
}

/** Return: 0, or a negative errno and what it is of. */
static int read_fields(struct json_object *object, struct align_meta *meta, const char **what)
{
	struct json_wrong wrong;
	struct json_object *at, *drift;
	double ppm = json_object_object_get_ex(object, "drift_ppm", &drift) ?
		     json_object_get_double(drift) : 0;
	int ret;

	*what = "has no offset, or an impossible drift or time";
	if (!is_drift(ppm) || (json_object_object_get_ex(object, "at", &at) &&
			       !json_object_is_type(at, json_type_int)))
		return -EINVAL;
	ret = json_fields_read(object, fields, meta, &wrong);
	if (ret == -EINVAL && !strcmp(wrong.key, STEPS))
		*what = "has impossible steps";
	if (!ret && !meta->host)
		meta->host = strdup("");
	if (!ret && !meta->source)
		meta->source = strdup("");
	return ret || (meta->host && meta->source) ? ret : -ENOMEM;
}

/** Is an alignment in the unit of the trace, as far as that is known? */
static bool counts_alike(const char *guest_path, const struct align_meta *meta)
{
	struct trace_dat_info info;
	char problem[256];

	return !trace_dat_check(guest_path, problem, sizeof(problem), &info) ||
	       info.unit == TRACE_DAT_EITHER || (info.unit == TRACE_DAT_CYCLES) == meta->cycles;
}

int align_meta_read(const char *guest_path, struct align_meta **meta, char *error, size_t size)
{
	struct json_object *object;
	struct sidecar sidecar;
	const char *what = NULL;
	int ret = find_sidecar(guest_path, &sidecar);

	*meta = NULL;
	if (!ret && sidecar.there) {
		ret = load(&sidecar, error, size);
		if (ret)
			goto end;
	}
	object = sidecar.root ? json_member(sidecar.root, KEY, json_type_object) : NULL;
	if (!ret && !object)
		goto end;
	if (!ret)
		*meta = calloc(1, sizeof(**meta));
	if (!ret)
		ret = *meta ? read_fields(object, *meta, &what) : -ENOMEM;
	if (ret == -ENOMEM) {
		text_format(error, size, "%s: not enough memory", guest_path);
	} else if (ret) {
		text_format(error, size, "%s: the sidecar's \"" KEY "\" %s: run 'kshark-virt "
			    "align --write' again", guest_path, what);
	} else if (!counts_alike(guest_path, *meta)) {
		text_format(error, size, "%s: the alignment in its sidecar is for times in %s: run "
			    "'kshark-virt align --write' again", guest_path,
			    unit_word((*meta)->cycles));
		ret = -EINVAL;
	}
	if (ret) {
		align_meta_free(*meta);
		*meta = NULL;
	}
end:
	free_sidecar(&sidecar);
	return ret;
}

void align_meta_free(struct align_meta *meta)
{
	if (!meta)
		return;
	json_fields_free(fields, meta);
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

void align_meta_mend(struct kvm_trace *host)
{
	struct align_meta *meta = NULL;
	char error[512];

	if (!kvm_trace_jumps(host))
		return;
	/* that a sidecar cannot be used is said by the code that applies it */
	align_meta_read(kvm_trace_path(host), &meta, error, sizeof(error));
	if (meta && !meta->after_trace_cmd)
		kvm_trace_hide_offsets(host);
	align_meta_free(meta);
}
