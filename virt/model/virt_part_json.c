// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_part_json.c
 * @brief	The facts that a part of a trace needs beside its records, as JSON.
 *
 * A state that holds for a vCPU or pCPU from a time on is a text of a few words, so that it takes
 * one line.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "json_fields.h"
#include "json_read.h"
#include "virt_part_json.h"
#include "virt_part_words.h"

/** As many as numbers of pCPUs have bits for. */
#define MOST_PCPUS	(INT16_MAX + 1)

/** Of a task: the word is missing. */
#define NO_WORD		UINT8_MAX

static const char *state_name(int i)
{
	return virt_state_name((enum virt_state)i);
}

static const char *cause_name(int i)
{
	return virt_wake_cause_name((enum virt_wake_cause)i);
}

static const char *kind_name(int i)
{
	return virt_thread_kind_name((enum virt_thread_kind)i);
}

static const char *source_name(int i)
{
	return virt_thread_source_name((enum virt_thread_source)i);
}

/* --- tracks ---------------------------------------------------------------------------------- */

static const struct json_field interval_fields[] = {
	{ JSON_A_VALUE(NULL, struct virt_interval, start_ns, 0) },
	{ JSON_A_WORD(NULL, struct virt_interval, state, 0, state_name, VIRT_N_STATES) },
	{ JSON_A_NUMBER(NULL, struct virt_interval, pcpu, 0, VIRT_NONE, INT16_MAX),
	  .always = true },
	{ JSON_A_NUMBER(NULL, struct virt_interval, detail, 0, VIRT_NONE, INT32_MAX),
	  .always = true },
	{ .kind = JSON_LETTERS, JSON_WIDE(struct virt_interval, flags),
	  .letters = VIRT_PART_LETTERS },
	JSON_FIELDS_END
};

static const struct json_field occupant_fields[] = {
	{ JSON_A_VALUE(NULL, struct virt_interval, start_ns, 0) },
	{ JSON_A_NUMBER(NULL, struct virt_interval, detail, VIRT_NONE, VIRT_NONE, INT32_MAX),
	  JSON_HAS(struct virt_interval, state) },
	JSON_FIELDS_END
};

static const struct json_field power_fields[] = {
	{ JSON_A_VALUE(NULL, struct virt_interval, start_ns, 0) },
	{ JSON_A_NUMBER(NULL, struct virt_interval, detail, VIRT_POWER_UNKNOWN, VIRT_NONE,
			INT32_MAX) },
	JSON_FIELDS_END
};

static const struct json_field piece_fields[] = {
	{ JSON_A_NUMBER("from_ns", struct virt_part_piece, from_ns, INT64_MIN, INT64_MIN,
			INT64_MAX) },
	{ JSON_A_NUMBER("to_ns", struct virt_part_piece, to_ns, INT64_MAX, INT64_MIN,
			INT64_MAX) },
	JSON_FIELDS_END
};

static int write_track(struct json_object *to, const char *key,
		       const struct virt_part_track *track, const struct json_field *change_fields)
{
	const struct virt_interval *change = track->changes;
	struct json_object *list = track->n_pieces ? json_object_new_array() : NULL;
	int ret = track->n_pieces ? json_add(to, key, list) : 0;

	for (uint32_t p = 0; p < track->n_pieces && !ret; p++) {
		const struct virt_part_piece *piece = &track->pieces[p];
		struct json_object *object = json_object_new_object();
		struct json_object *changes = json_object_new_array();

		ret = json_add(list, NULL, object);
		if (!ret)
			ret = json_fields_write(object, piece_fields, piece);
		ret |= json_add(ret ? NULL : object, "changes", changes);
		for (uint32_t n = 0; n < piece->n && !ret; n++)
			ret = json_add(changes, NULL,
				       json_line_write(change_fields, change++, NULL));
	}
	return ret ? -ENOMEM : 0;
}

/** Return: 0, -ENOMEM, or -EINVAL for what cannot be understood. */
static int read_piece(struct json_object *object, struct virt_part_track *track,
		      const struct json_field *change_fields)
{
	struct virt_part_piece piece;
	struct virt_interval *changes;
	struct json_object *list;
	struct json_wrong wrong;
	int ret = 0;
	size_t n;

	json_fields_read(object, piece_fields, &piece, &wrong);
	piece.n = 0;
	list = json_list_member(object, "changes", &n);
	if (!list || n > INT32_MAX)
		return -EINVAL;
	changes = calloc(n + 1, sizeof(*changes));
	if (!changes)
		return -ENOMEM;
	for (; piece.n < n && !ret; piece.n++) {
		const char *text = json_text_at(list, piece.n);
		const char *rest = text ? json_line_read(text, change_fields,
							 &changes[piece.n]) : NULL;

		ret = rest && !*rest ? 0 : -EINVAL;
	}
	if (!ret)
		ret = virt_part_add(track, &piece, changes);
	free(changes);
	return ret;
}

static int read_track(struct json_object *object, const char *key, struct virt_part_track *track,
		      const struct json_field *change_fields)
{
	struct json_object *list;
	int ret = 0;
	size_t n;

	list = json_list_member(object, key, &n);
	for (size_t i = 0; i < n && !ret; i++)
		ret = read_piece(json_object_array_get_idx(list, i), track, change_fields);
	return ret;
}

/** The tracks of a pCPU. */
static const struct {
	const char	*key;
	int		power;		/* kind, or -1: its occupants */
	const struct json_field *fields;
} pcpu_tracks[] = {
	{ "occupants", -1, occupant_fields },
	{ "idle_states", VIRT_IDLE_STATE, power_fields },
	{ "khz", VIRT_FREQUENCY, power_fields },
};

static struct virt_part_track *pcpu_track(const struct virt_part *part, size_t track, int32_t pcpu)
{
	int power = pcpu_tracks[track].power;

	return power < 0 ? &part->pcpus[pcpu] : &part->power[power][pcpu];
}

static int write_tracks(struct json_object *root, const struct virt_part *part,
			struct json_object *vcpus)
{
	struct json_object *list = json_object_new_array();
	int ret = 0;

	for (int32_t i = 0; i < part->n_vcpus && !ret; i++)
		ret = write_track(json_object_array_get_idx(vcpus, (size_t)i), "pieces",
				  &part->vcpus[i], interval_fields);
	ret |= json_add(ret ? NULL : root, "pcpus", list);
	for (int32_t i = 0; i < part->n_pcpus && !ret; i++) {
		struct json_object *object = json_object_new_object();

		ret = json_add(list, NULL, object);
		for (size_t k = 0; k < ARRAY_SIZE(pcpu_tracks) && !ret; k++)
			ret = write_track(object, pcpu_tracks[k].key, pcpu_track(part, k, i),
					  pcpu_tracks[k].fields);
	}
	return ret ? -ENOMEM : 0;
}

static int read_tracks(struct virt_part *part, struct json_object *vcpus,
		       struct json_object *pcpus)
{
	int ret = 0;

	for (int32_t i = 0; i < part->n_vcpus && !ret; i++)
		ret = read_track(json_object_array_get_idx(vcpus, (size_t)i), "pieces",
				 &part->vcpus[i], interval_fields);
	for (int32_t i = 0; i < part->n_pcpus && !ret; i++)
		for (size_t k = 0; k < ARRAY_SIZE(pcpu_tracks) && !ret; k++)
			ret = read_track(json_object_array_get_idx(pcpus, (size_t)i),
					 pcpu_tracks[k].key, pcpu_track(part, k, i),
					 pcpu_tracks[k].fields);
	return ret;
}

/* --- sets ------------------------------------------------------------------------------------ */

/** The kinds of records that the whole trace has. */
static int put_recorded(struct json_object *root, const char *key, const void *recorded)
{
	struct json_object *list = json_object_new_array();
	int ret = json_add(root, key, list);

	for (size_t i = 0; i < ARRAY_SIZE(virt_part_kinds) && !ret; i++)
		if (*(const uint64_t *)recorded & VIRT_RECORD_BIT(virt_part_kinds[i].kind))
			ret = json_add(list, NULL,
				       json_object_new_string(virt_part_kinds[i].name));
	return ret;
}

/** Names of other versions are left out. */
static int take_recorded(struct json_object *root, const char *key, void *recorded)
{
	size_t n;
	struct json_object *list = json_list_member(root, key, &n);

	for (size_t i = 0; i < n; i++) {
		const char *name = json_text_at(list, i);

		for (size_t j = 0; name && j < ARRAY_SIZE(virt_part_kinds); j++)
			if (!strcmp(name, virt_part_kinds[j].name))
				*(uint64_t *)recorded |= VIRT_RECORD_BIT(virt_part_kinds[j].kind);
	}
	return 0;
}

/** -1: it is no number. */
static int number_at(struct json_object *list, size_t i)
{
	struct json_object *value = json_object_array_get_idx(list, i);

	return json_object_is_type(value, json_type_int) ? json_object_get_int(value) : -1;
}

static int write_set(struct json_object *root, const char *key, const bool *set, int32_t n)
{
	struct json_object *list = json_object_new_array();
	int ret = json_add(root, key, list);

	for (int32_t i = 0; i < n && !ret; i++)
		if (set[i])
			ret = json_add(list, NULL, json_object_new_int(i));
	return ret;
}

static int put_left_out(struct json_object *root, const char *key, const void *from)
{
	const struct virt_part *part = from;

	return virt_part_leaves_out(part) ?
	       write_set(root, key, part->left_out, part->n_left_out) : 0;
}

static int take_left_out(struct json_object *root, const char *key, void *part)
{
	struct json_object *list;
	int ret = 0;
	size_t n;

	list = json_list_member(root, key, &n);
	for (size_t i = 0; i < n && !ret; i++) {
		int pcpu = number_at(list, i);

		ret = pcpu < 0 || pcpu > INT16_MAX ? -EINVAL : virt_part_leave_out(part, pcpu);
	}
	return ret;
}

static int put_idle_states(struct json_object *root, const char *key, const void *states)
{
	return write_set(root, key, states, VIRT_IDLE_STATES);
}

static int take_idle_states(struct json_object *root, const char *key, void *states)
{
	struct json_object *list;
	size_t n;

	list = json_list_member(root, key, &n);
	for (size_t i = 0; i < n; i++) {
		int state = number_at(list, i);

		if (state < 0 || state >= VIRT_IDLE_STATES)
			return -EINVAL;
		((bool *)states)[state] = true;
	}
	return 0;
}

/* --- tables ---------------------------------------------------------------------------------- */

static const struct json_field reason_fields[] = {
	{ .kind = JSON_TEXT, .must = true },
	JSON_FIELDS_END
};

static const struct json_field wake_fields[] = {
	{ JSON_A_WORD(NULL, struct virt_wake, cause, 0, cause_name, VIRT_N_WAKES) },
	{ JSON_A_NUMBER(NULL, struct virt_wake, who, 0, VIRT_NONE, INT32_MAX), .always = true },
	{ JSON_A_NUMBER(NULL, struct virt_wake, vector, 0, VIRT_NONE, INT16_MAX), .always = true },
	JSON_FIELDS_END
};

static bool is_owned(const void *task)
{
	return ((const struct virt_part_task *)task)->machine != VIRT_NONE;
}

static const struct json_field task_fields[] = {
	{ JSON_A_NUMBER("pid", struct virt_part_task, pid, 0, 1, INT32_MAX), .must = true },
	{ JSON_A_TEXT("name", struct virt_part_task, name), .must = true },
	{ JSON_A_TEXT("thread", struct virt_part_task, thread), .when = is_owned },
	{ JSON_A_VALUE("machine", struct virt_part_task, machine, VIRT_NONE), .strict = true,
	  .when = is_owned },
	{ JSON_A_WORD("kind", struct virt_part_task, kind, NO_WORD, kind_name,
		      VIRT_THREAD_N_KINDS), .when = is_owned },
	{ JSON_A_WORD("source", struct virt_part_task, source, NO_WORD, source_name,
		      VIRT_THREAD_N_SOURCES), .when = is_owned },
	JSON_FIELDS_END
};

/** A task with a machine needs a valid machine, kind and source. */
static int check_task(const void *element)
{
	const struct virt_part_task *task = element;

	return is_owned(task) &&
	       (task->machine < 0 || task->machine >= VIRT_MAX_MACHINES ||
		task->kind == NO_WORD || task->source == NO_WORD) ? -EINVAL : 0;
}

static const struct json_field head_fields[] = {
	{ JSON_A_VALUE("begin_ns", struct virt_part, begin_ns, 1) },
	{ JSON_A_VALUE("end_ns", struct virt_part, end_ns, 0) },
	{ JSON_A_VALUE("from_ns", struct virt_part, from_ns, 1) },
	{ JSON_A_VALUE("to_ns", struct virt_part, to_ns, 0) },
	{ JSON_A_FLAG("unsplit", struct virt_part, unsplit) },
	{ JSON_A_FLAG("migrates", struct virt_part, migrates) },
	{ JSON_A_VALUE("known_pcpus", struct virt_part, n_known, 0), .strict = true },
	{ .key = "recorded", .kind = JSON_OWN, JSON_PLACE(struct virt_part, recorded),
	  .put = put_recorded, .take = take_recorded },
	{ .key = "left_out", .kind = JSON_OWN, .put = put_left_out, .take = take_left_out },
	{ JSON_A_LIST("reasons", struct virt_part, reasons, n_reasons, room_reasons,
		      reason_fields), .always = true },
	{ JSON_A_LIST("wakes", struct virt_part, wakes, n_wakes, room_wakes, wake_fields),
	  .line = true, .always = true },
	{ .key = "idle_states", .kind = JSON_OWN, JSON_PLACE(struct virt_part, idle_states),
	  .put = put_idle_states, .take = take_idle_states },
	{ JSON_A_LIST("tasks", struct virt_part, tasks, n_tasks, room_tasks, task_fields),
	  .check = check_task },
	JSON_FIELDS_END
};

/* --- losses and contradictions --------------------------------------------------------------- */

static const struct json_field hold_fields[] = {
	{ JSON_A_NUMBER(NULL, struct virt_part_hold, vcpu, 0, 0, INT32_MAX), .always = true },
	{ JSON_A_VALUE(NULL, struct virt_part_hold, hold.from_ns, 0) },
	{ JSON_A_VALUE(NULL, struct virt_part_hold, hold.to_ns, 0) },
	{ JSON_A_NUMBER(NULL, struct virt_part_hold, hold.complete, 0, 0, 1), .always = true },
	{ JSON_A_NUMBER(NULL, struct virt_part_hold, hold.possible, 0, 0, 1) },
	JSON_FIELDS_END
};

static const struct json_field loss_fields[] = {
	{ JSON_A_NUMBER(NULL, struct virt_loss, pcpu, 0, VIRT_NONE, INT16_MAX), .always = true },
	{ JSON_A_VALUE(NULL, struct virt_loss, from_ns, 0) },
	{ JSON_A_VALUE(NULL, struct virt_loss, to_ns, 0) },
	{ JSON_A_NUMBER(NULL, struct virt_loss, records, 0, 0, INT64_MAX), .always = true },
	JSON_FIELDS_END
};

/** The text follows them. */
static const struct json_field contradiction_fields[] = {
	{ JSON_A_VALUE(NULL, struct virt_part_contradiction, time_ns, 0) },
	{ JSON_A_NUMBER(NULL, struct virt_part_contradiction, count, 0, 0, INT64_MAX),
	  .always = true },
	JSON_FIELDS_END
};

static int put_contradictions(struct json_object *root, const char *key, const void *from)
{
	struct json_object *list = json_object_new_array();
	const struct virt_part *part = from;
	int ret = json_add(root, key, list);

	for (int i = 0; i < part->n_contradictions && !ret; i++)
		ret = json_add(list, NULL, json_line_write(contradiction_fields,
							   &part->contradictions[i],
							   part->contradictions[i].what));
	return ret;
}

static int take_contradictions(struct json_object *root, const char *key, void *part)
{
	struct virt_part_contradiction at = { 0 };
	struct json_object *list;
	int ret = 0;
	size_t n;

	list = json_list_member(root, key, &n);
	for (size_t i = 0; i < n && !ret; i++) {
		const char *text = json_text_at(list, i);

		text = text ? json_line_read(text, contradiction_fields, &at) : NULL;
		ret = text && *text ? virt_part_contradict(part, text, at.time_ns, at.count) :
				      -EINVAL;
	}
	return ret;
}

static const struct json_field tail_fields[] = {
	{ JSON_A_FLAG("knows_holds", struct virt_part, knows_holds) },
	{ JSON_A_LIST("holds", struct virt_part, holds, n_holds, room_holds, hold_fields),
	  .line = true },
	{ JSON_A_LIST("losses", struct virt_part, losses, n_losses, room_losses, loss_fields),
	  .line = true, .always = true },
	{ .key = "contradictions", .kind = JSON_OWN, .put = put_contradictions,
	  .take = take_contradictions },
	JSON_FIELDS_END
};

/* --- the whole ------------------------------------------------------------------------------- */

int virt_part_write(struct json_object *root, const struct virt_part *part,
		    struct json_object *vcpus)
{
	int ret = json_fields_write(root, head_fields, part);

	ret |= json_add(ret ? NULL : root, "vcpus", vcpus);
	if (!ret)
		ret = write_tracks(root, part, vcpus);
	return ret ? -ENOMEM : json_fields_write(root, tail_fields, part);
}

/** Return: the member that contradicts others; or NULL. */
static const char *find_contradiction(const struct virt_part *part)
{
	int64_t length;

	if (part->begin_ns > part->from_ns || part->from_ns >= part->to_ns ||
	    part->to_ns > part->end_ns ||
	    __builtin_sub_overflow(part->end_ns, part->begin_ns, &length))
		return "from_ns";
	return part->n_known < 0 || part->n_known > part->n_pcpus ? "known_pcpus" : NULL;
}

static int read_all(struct virt_part *part, struct json_object *root, struct json_object *vcpus,
		    struct json_object *pcpus, struct json_wrong *wrong)
{
	int ret = json_fields_read(root, head_fields, part, wrong);

	if (!ret && (wrong->key = find_contradiction(part)))
		ret = -EINVAL;
	if (!ret) {
		wrong->key = "changes";
		ret = read_tracks(part, vcpus, pcpus);
	}
	return ret ? ret : json_fields_read(root, tail_fields, part, wrong);
}

int virt_part_read(struct json_object *root, struct virt_part **part, const char **what)
{
	struct json_object *vcpus, *pcpus;
	size_t n_vcpus, n_pcpus;
	struct json_wrong wrong;
	int ret;

	*part = NULL;
	vcpus = json_list_member(root, "vcpus", &n_vcpus);
	pcpus = json_list_member(root, "pcpus", &n_pcpus);
	if (!vcpus)
		return 0;
	if (n_vcpus > VIRT_MAX_VCPUS || n_pcpus > MOST_PCPUS) {
		*what = n_pcpus > MOST_PCPUS ? "pcpus" : "vcpus";
		return -EINVAL;
	}
	*part = virt_part_alloc((int32_t)n_vcpus, (int32_t)n_pcpus);
	if (!*part)
		return -ENOMEM;
	ret = read_all(*part, root, vcpus, pcpus, &wrong);
	if (!ret)
		return 0;
	*what = wrong.key;
	virt_part_free(*part);
	*part = NULL;
	return ret;
}
