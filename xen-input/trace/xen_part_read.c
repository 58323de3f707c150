// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_part_read.c
 * @brief	The member "part" of a sidecar, as it is read: others may have written it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "json_read.h"
#include "xen_part.h"
#include "xen_part_words.h"

/** A part that is being read, and what is wrong with it. */
struct reading {
	struct xen_part	*part;
	const char	*wrong;		/* the member that cannot be understood */
};

/* ---- words ---- */

/** A number, behind which a blank or the end comes. @text: moved behind both */
static bool take_number(const char **text, int64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoll(*text, &end, 10);
	if (errno || end == *text || (*end && *end != ' '))
		return false;
	*text = *end ? end + 1 : end;
	return true;
}

static bool take_limited(const char **text, int64_t least, int64_t most, int64_t *number)
{
	return take_number(text, number) && *number >= least && *number <= most;
}

/** One of some names. Return: which one, or -1. */
static int take_name(const char **text, const char *(*name)(int i), int n)
{
	size_t length = strcspn(*text, " ");

	for (int i = 0; i < n; i++) {
		if (strlen(name(i)) != length || strncmp(*text, name(i), length) != 0)
			continue;
		*text += length + ((*text)[length] == ' ');
		return i;
	}
	return -1;
}

static const char *state_name(int i)
{
	return virt_state_name((enum virt_state)i);
}

static const char *cause_name(int i)
{
	return virt_wake_cause_name((enum virt_wake_cause)i);
}

static bool take_flags(const char *text, uint8_t *flags)
{
	if (!strcmp(text, "-"))
		return true;
	for (; *text; text++) {
		uint8_t flag = xen_part_flag(*text);

		if (!flag)
			return false;
		*flags |= flag;
	}
	return true;
}

static bool read_interval(const char *text, struct virt_interval *change)
{
	int64_t pcpu, detail;
	int state;

	if (!take_number(&text, &change->start_ns))
		return false;
	state = take_name(&text, state_name, VIRT_N_STATES);
	if (state < 0 || !take_limited(&text, VIRT_NONE, XENTRACE_MAX_PCPU, &pcpu) ||
	    !take_limited(&text, VIRT_NONE, INT32_MAX, &detail))
		return false;
	change->state = (uint8_t)state;
	change->pcpu = (int16_t)pcpu;
	change->detail = (int32_t)detail;
	return take_flags(text, &change->flags);
}

static bool read_value(const char *text, struct virt_interval *change, int32_t unknown)
{
	int64_t value;

	if (!take_number(&text, &change->start_ns))
		return false;
	change->state = strcmp(text, "?") != 0;
	if (!change->state) {
		change->detail = unknown;
		return true;
	}
	if (!take_limited(&text, VIRT_NONE, INT32_MAX, &value) || *text)
		return false;
	change->detail = (int32_t)value;
	return true;
}

static bool read_occupant(const char *text, struct virt_interval *change)
{
	return read_value(text, change, VIRT_NONE);
}

static bool read_power(const char *text, struct virt_interval *change)
{
	bool right = read_value(text, change, VIRT_POWER_UNKNOWN);

	change->state = 0;
	return right;
}

/* ---- lists ---- */

static struct json_object *list_of(struct json_object *object, const char *key, size_t *n)
{
	struct json_object *list = json_member(object, key, json_type_array);

	*n = list ? json_object_array_length(list) : 0;
	return list;
}

/** An element that is a text; or NULL. */
static const char *text_at(struct json_object *list, size_t i)
{
	struct json_object *value = json_object_array_get_idx(list, i);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

static int wrong(struct reading *reading, const char *what)
{
	reading->wrong = what;
	return -EINVAL;
}

static int read_piece(struct reading *reading, struct json_object *object,
		      struct virt_part_track *track,
		      bool (*read)(const char *text, struct virt_interval *change))
{
	struct virt_part_piece piece = {
		.from_ns = json_number_member(object, "from_ns", INT64_MIN),
		.to_ns = json_number_member(object, "to_ns", INT64_MAX),
	};
	struct virt_interval *changes;
	struct json_object *list;
	int ret = 0;
	size_t n;

	list = list_of(object, "changes", &n);
	if (!list || n > INT32_MAX)
		return wrong(reading, "changes");
	changes = calloc(n + 1, sizeof(*changes));
	if (!changes)
		return -ENOMEM;
	for (; piece.n < n && !ret; piece.n++) {
		const char *text = text_at(list, piece.n);

		if (!text || !read(text, &changes[piece.n]))
			ret = wrong(reading, "changes");
	}
	if (!ret)
		ret = virt_part_add(track, &piece, changes);
	free(changes);
	return ret;
}

static int read_track(struct reading *reading, struct json_object *object, const char *key,
		      struct virt_part_track *track,
		      bool (*read)(const char *text, struct virt_interval *change))
{
	struct json_object *list;
	int ret = 0;
	size_t n;

	list = list_of(object, key, &n);
	for (size_t i = 0; i < n && !ret; i++)
		ret = read_piece(reading, json_object_array_get_idx(list, i), track, read);
	return ret;
}

static int read_vcpus(struct reading *reading, struct json_object *list)
{
	struct xen_part *part = reading->part;
	int ret = 0;

	part->vcpus = calloc((size_t)part->model->n_vcpus + 1, sizeof(*part->vcpus));
	if (!part->vcpus)
		return -ENOMEM;
	for (int32_t i = 0; i < part->model->n_vcpus && !ret; i++) {
		struct json_object *object = json_object_array_get_idx(list, (size_t)i);
		int64_t domain = json_number_member(object, "domain", -1);
		int64_t id = json_number_member(object, "id", -1);

		if (domain < 0 || domain > UINT16_MAX || id < 0 || id > XEN_MAX_VCPU)
			return wrong(reading, "vcpus");
		part->vcpus[i] = (struct xen_part_vcpu){
			.vcpu = (xen_vcpu)domain << 16 | (xen_vcpu)id,
			.hvm = json_object_get_boolean(json_member(object, "hvm",
								   json_type_boolean)),
		};
		ret = read_track(reading, object, "pieces", &part->model->vcpus[i], read_interval);
	}
	return ret;
}

static int read_pcpus(struct reading *reading, struct json_object *list)
{
	struct virt_part *model = reading->part->model;
	int ret = 0;

	for (int32_t i = 0; i < model->n_pcpus && !ret; i++) {
		struct json_object *object = json_object_array_get_idx(list, (size_t)i);

		ret = read_track(reading, object, "occupants", &model->pcpus[i], read_occupant);
		if (!ret)
			ret = read_track(reading, object, "idle_states",
					 &model->power[VIRT_IDLE_STATE][i], read_power);
		if (!ret)
			ret = read_track(reading, object, "khz", &model->power[VIRT_FREQUENCY][i],
					 read_power);
	}
	return ret;
}

static int read_losses(struct reading *reading, struct json_object *root)
{
	struct virt_part *model = reading->part->model;
	struct json_object *list;
	size_t n;

	list = list_of(root, "losses", &n);
	for (size_t i = 0; i < n; i++) {
		const char *text = text_at(list, i);
		int64_t pcpu, records;
		struct virt_loss loss;

		if (!text || !take_limited(&text, VIRT_NONE, XENTRACE_MAX_PCPU, &pcpu) ||
		    !take_number(&text, &loss.from_ns) || !take_number(&text, &loss.to_ns) ||
		    !take_limited(&text, 0, INT64_MAX, &records) || *text)
			return wrong(reading, "losses");
		loss.pcpu = (int16_t)pcpu;
		loss.records = (uint64_t)records;
		if (ARRAY_GROW(model->losses, model->n_losses, model->room_losses))
			return -ENOMEM;
		model->losses[model->n_losses++] = loss;
	}
	return 0;
}

static int read_contradictions(struct reading *reading, struct json_object *root)
{
	struct json_object *all = json_member(root, "contradictions", json_type_object);
	struct virt_part *model = reading->part->model;

	if (!all)
		return 0;
	json_object_object_foreach(all, what, count) {
		char *copy = strdup(what);

		if (!copy || ARRAY_GROW(model->contradictions, model->n_contradictions,
					model->room_contradictions)) {
			free(copy);
			return -ENOMEM;
		}
		model->contradictions[model->n_contradictions++] =
			(struct virt_part_contradiction){
				copy, (uint64_t)json_object_get_int64(count),
			};
	}
	return 0;
}

/* ---- tables ---- */

static int read_reasons(struct reading *reading, struct json_object *root)
{
	struct virt_part *model = reading->part->model;
	struct json_object *list;
	size_t n;

	list = list_of(root, "reasons", &n);
	for (size_t i = 0; i < n; i++) {
		const char *text = text_at(list, i);

		if (!text)
			return wrong(reading, "reasons");
		if (ARRAY_GROW(model->reasons, model->n_reasons, model->room_reasons))
			return -ENOMEM;
		model->reasons[model->n_reasons] = strdup(text);
		if (!model->reasons[model->n_reasons])
			return -ENOMEM;
		model->n_reasons++;
	}
	return 0;
}

static int read_wakes(struct reading *reading, struct json_object *root)
{
	struct virt_part *model = reading->part->model;
	struct json_object *list;
	size_t n;

	list = list_of(root, "wakes", &n);
	for (size_t i = 0; i < n; i++) {
		const char *text = text_at(list, i);
		int cause = text ? take_name(&text, cause_name, VIRT_N_WAKES) : -1;
		int64_t who, vector;

		if (cause < 0 || !take_limited(&text, VIRT_NONE, INT32_MAX, &who) ||
		    !take_limited(&text, VIRT_NONE, INT16_MAX, &vector) || *text)
			return wrong(reading, "wakes");
		if (ARRAY_GROW(model->wakes, model->n_wakes, model->room_wakes))
			return -ENOMEM;
		model->wakes[model->n_wakes++] = (struct virt_wake){
			.who = (int32_t)who, .vector = (int16_t)vector, .cause = (uint8_t)cause,
		};
	}
	return 0;
}

static int read_numbers(struct reading *reading, struct json_object *root)
{
	struct virt_part *model = reading->part->model;
	struct json_object *list;
	size_t n;
	int ret = 0;

	list = list_of(root, "idle_states", &n);
	for (size_t i = 0; i < n; i++) {
		int state = json_object_get_int(json_object_array_get_idx(list, i));

		if (state < 0 || state >= VIRT_IDLE_STATES)
			return wrong(reading, "idle_states");
		model->idle_states[state] = true;
	}
	list = list_of(root, "left_out", &n);
	for (size_t i = 0; i < n && !ret; i++) {
		int pcpu = json_object_get_int(json_object_array_get_idx(list, i));

		ret = pcpu < 0 || pcpu > XENTRACE_MAX_PCPU ? wrong(reading, "left_out") :
		      virt_part_leave_out(model, pcpu);
	}
	return ret;
}

/* ---- the whole ---- */

static int read_clock(struct reading *reading, struct json_object *root)
{
	struct json_object *object = json_member(root, "clock", json_type_object);
	struct json_object *name = json_member(object, "source", json_type_string);
	struct xen_part *part = reading->part;
	enum xen_clock_source source = XEN_CLOCK_OPTION;
	int64_t hz = json_number_member(object, "hz", -1);
	uint64_t base;

	if (!object)
		return 0;
	while (name && source <= XEN_CLOCK_ASSUMED &&
	       strcmp(json_object_get_string(name), xen_clock_source_name(source)) != 0)
		source++;
	if (!name || source > XEN_CLOCK_ASSUMED || hz < (int64_t)XEN_CLOCK_MIN_HZ ||
	    hz > (int64_t)XEN_CLOCK_MAX_HZ || !json_bits_member(object, "time0_tsc", &base))
		return wrong(reading, "clock");
	part->has_clock = true;
	xen_clock_init(&part->clock, (uint64_t)hz, source, base);
	part->clock.residual_ppm =
		json_object_get_double(json_member(object, "residual_ppm", json_type_double));
	part->clock.n_samples = (uint64_t)json_number_member(object, "samples", 0);
	return 0;
}

/** Places in the file. */
static int read_offsets(struct reading *reading, struct json_object *root, const char *key,
			int (*add)(struct xen_part *part, uint64_t offset))
{
	struct json_object *list;
	int ret = 0;
	size_t n;

	list = list_of(root, key, &n);
	for (size_t i = 0; i < n && !ret; i++) {
		struct json_object *offset = json_object_array_get_idx(list, i);
		int64_t number = json_object_get_int64(offset);

		if (!json_object_is_type(offset, json_type_int) || number < 0)
			return wrong(reading, key);
		ret = add(reading->part, (uint64_t)number);
	}
	return ret;
}

static int read_file(struct reading *reading, struct json_object *root)
{
	struct xen_part *part = reading->part;
	struct json_object *list;
	int ret = 0;
	size_t n;

	part->bytes = (uint64_t)json_number_member(root, "bytes", -1);
	part->records = (uint64_t)json_number_member(root, "records", -1);
	part->has_whole = json_bits_member(root, "whole_tsc", &part->whole_tsc);
	ret = read_offsets(reading, root, "gaps", xen_part_add_gap);
	if (!ret)
		ret = read_offsets(reading, root, "windows", xen_part_add_window);
	list = list_of(root, "ends", &n);
	for (size_t i = 0; i < n && !ret; i++) {
		struct json_object *object = json_object_array_get_idx(list, i);
		int64_t number = json_number_member(object, "pcpu", -1);
		struct xen_part_pcpu pcpu = { .pcpu = (uint16_t)number, .known_tsc = UINT64_MAX };
		uint64_t first;

		if (number < 0 || number > XENTRACE_MAX_PCPU)
			return wrong(reading, "ends");
		pcpu.has_first = json_bits_member(object, "first", &first);
		pcpu.first = pcpu.has_first ? (xen_vcpu)first : XEN_VCPU_UNKNOWN;
		json_bits_member(object, "known_tsc", &pcpu.known_tsc);
		if (ARRAY_GROW(part->pcpus, part->n_of_pcpus, part->room_pcpus))
			return -ENOMEM;
		part->pcpus[part->n_of_pcpus++] = pcpu;
	}
	return ret;
}

/** The kinds of records that the whole trace has; names of other versions are left aside. */
static void read_recorded(struct reading *reading, struct json_object *root)
{
	size_t n;
	struct json_object *list = list_of(root, "recorded", &n);

	for (size_t i = 0; i < n; i++) {
		const char *name =
			json_object_get_string(json_object_array_get_idx(list, i));

		for (size_t j = 0; name && j < ARRAY_SIZE(xen_part_kinds); j++)
			if (!strcmp(name, xen_part_kinds[j].name))
				reading->part->model->recorded |=
					VIRT_RECORD_BIT(xen_part_kinds[j].kind);
	}
}

/** Times of the part and of the whole trace, in their order. */
static int read_times(struct reading *reading, struct json_object *root)
{
	struct xen_part *part = reading->part;
	struct virt_part *model = part->model;
	struct json_object *isa = json_member(root, "isa", json_type_string);
	int64_t length;

	model->begin_ns = json_number_member(root, "begin_ns", 1);
	model->end_ns = json_number_member(root, "end_ns", 0);
	model->from_ns = json_number_member(root, "from_ns", 1);
	model->to_ns = json_number_member(root, "to_ns", 0);
	if (model->begin_ns > model->from_ns || model->from_ns >= model->to_ns ||
	    model->to_ns > model->end_ns ||
	    __builtin_sub_overflow(model->end_ns, model->begin_ns, &length))
		return wrong(reading, "from_ns");
	model->unsplit = json_object_get_boolean(json_member(root, "unsplit", json_type_boolean));
	part->scheduler = json_object_get_boolean(json_member(root, "scheduler",
							      json_type_boolean));
	part->n_pcpus = (int)json_number_member(root, "n_pcpus", 0);
	model->n_known = (int32_t)json_number_member(root, "known_pcpus", 0);
	if (part->n_pcpus < 0 || part->n_pcpus > XENTRACE_MAX_PCPU + 1 || model->n_known < 0 ||
	    model->n_known > model->n_pcpus)
		return wrong(reading, "n_pcpus");
	while (isa && part->isa < XEN_ISA_SVM &&
	       strcmp(json_object_get_string(isa), xen_part_isa(part->isa)) != 0)
		part->isa++;
	return 0;
}

/** What the whole trace tells of it. */
static int read_model(struct reading *reading, struct json_object *root)
{
	struct json_object *vcpus, *pcpus;
	size_t n_vcpus, n_pcpus;
	int ret;

	vcpus = list_of(root, "vcpus", &n_vcpus);
	pcpus = list_of(root, "pcpus", &n_pcpus);
	if (!vcpus)
		return 0;
	if (n_vcpus > VIRT_MAX_VCPUS || n_pcpus > XENTRACE_MAX_PCPU + 1)
		return wrong(reading, "vcpus");
	if (!reading->part->has_clock)
		return wrong(reading, "clock");
	reading->part->model = virt_part_alloc((int32_t)n_vcpus, (int32_t)n_pcpus);
	if (!reading->part->model)
		return -ENOMEM;
	read_recorded(reading, root);
	ret = read_times(reading, root);
	if (!ret)
		ret = read_reasons(reading, root);
	if (!ret)
		ret = read_wakes(reading, root);
	if (!ret)
		ret = read_numbers(reading, root);
	if (!ret)
		ret = read_vcpus(reading, vcpus);
	if (!ret)
		ret = read_pcpus(reading, pcpus);
	if (!ret)
		ret = read_losses(reading, root);
	return ret ? ret : read_contradictions(reading, root);
}

int xen_part_read(struct json_object *root, const char *path, struct xen_part **part, char *error,
		  size_t size)
{
	struct json_object *object = json_member(root, "part", json_type_object);
	struct reading reading = { .wrong = "version" };
	int ret = 0;

	*part = NULL;
	if (!object)
		return 0;
	reading.part = calloc(1, sizeof(*reading.part));
	if (!reading.part)
		return -ENOMEM;
	if (json_number_member(object, "version", 0) != XEN_PART_VERSION)
		ret = -EINVAL;
	if (!ret)
		ret = read_clock(&reading, object);
	if (!ret)
		ret = read_file(&reading, object);
	if (!ret)
		ret = read_model(&reading, object);
	if (!ret) {
		*part = reading.part;
		return 0;
	}
	xen_part_free(reading.part);
	if (ret == -EINVAL)
		text_format(error, size, "%s: \"%s\" of \"part\" cannot be understood: split the "
			    "trace again with this version", path, reading.wrong);
	return ret;
}
