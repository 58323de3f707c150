// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_part_read.c
 * @brief	Read the facts that a part of a trace needs beside its records, from JSON.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "json_read.h"
#include "virt_part_json.h"
#include "virt_part_words.h"

/** As many as numbers of pCPUs have bits for. */
#define MOST_PCPUS	(INT16_MAX + 1)

/** A part that is being read, and what is wrong with it. */
struct reading {
	struct virt_part *part;
	const char	*wrong;		/* the member that cannot be understood */
};

/* ---- words ---- */

/** A number; a blank or the end follows it. @text: moved past both */
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
		uint8_t flag = virt_part_flag(*text);

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
	if (state < 0 || !take_limited(&text, VIRT_NONE, INT16_MAX, &pcpu) ||
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

/** An element that is a text; or NULL. */
static const char *text_at(struct json_object *list, size_t i)
{
	struct json_object *value = json_object_array_get_idx(list, i);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

/** Note the member that cannot be understood. Return: -EINVAL. */
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

	list = json_list_member(object, "changes", &n);
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

	list = json_list_member(object, key, &n);
	for (size_t i = 0; i < n && !ret; i++)
		ret = read_piece(reading, json_object_array_get_idx(list, i), track, read);
	return ret;
}

static int read_vcpus(struct reading *reading, struct json_object *list)
{
	int ret = 0;

	for (int32_t i = 0; i < reading->part->n_vcpus && !ret; i++)
		ret = read_track(reading, json_object_array_get_idx(list, (size_t)i), "pieces",
				 &reading->part->vcpus[i], read_interval);
	return ret;
}

static int read_pcpus(struct reading *reading, struct json_object *list)
{
	struct virt_part *model = reading->part;
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

/** Take a text. Return: 0, -ENOMEM, or -EINVAL if it cannot be understood. */
typedef int take_text(struct virt_part *part, const char *text);

/** Take each text of a list. */
static int read_texts(struct reading *reading, struct json_object *root, const char *key,
		      take_text *take)
{
	struct json_object *list;
	int ret = 0;
	size_t n;

	list = json_list_member(root, key, &n);
	for (size_t i = 0; i < n && !ret; i++) {
		const char *text = text_at(list, i);

		ret = text ? take(reading->part, text) : -EINVAL;
	}
	return ret == -EINVAL ? wrong(reading, key) : ret;
}

static int take_loss(struct virt_part *part, const char *text)
{
	int64_t pcpu, records;
	struct virt_loss loss;

	if (!take_limited(&text, VIRT_NONE, INT16_MAX, &pcpu) ||
	    !take_number(&text, &loss.from_ns) || !take_number(&text, &loss.to_ns) ||
	    !take_limited(&text, 0, INT64_MAX, &records) || *text)
		return -EINVAL;
	loss.pcpu = (int16_t)pcpu;
	loss.records = (uint64_t)records;
	if (ARRAY_GROW(part->losses, part->n_losses, part->room_losses))
		return -ENOMEM;
	part->losses[part->n_losses++] = loss;
	return 0;
}

static int take_contradiction(struct virt_part *part, const char *text)
{
	int64_t time_ns, count;

	if (!take_number(&text, &time_ns) || !take_limited(&text, 0, INT64_MAX, &count) || !*text)
		return -EINVAL;
	return virt_part_contradict(part, text, time_ns, (uint64_t)count);
}

/* ---- tables ---- */

static int take_reason(struct virt_part *part, const char *text)
{
	if (ARRAY_GROW(part->reasons, part->n_reasons, part->room_reasons))
		return -ENOMEM;
	part->reasons[part->n_reasons] = strdup(text);
	if (!part->reasons[part->n_reasons])
		return -ENOMEM;
	part->n_reasons++;
	return 0;
}

static int take_wake(struct virt_part *part, const char *text)
{
	int cause = take_name(&text, cause_name, VIRT_N_WAKES);
	int64_t who, vector;

	if (cause < 0 || !take_limited(&text, VIRT_NONE, INT32_MAX, &who) ||
	    !take_limited(&text, VIRT_NONE, INT16_MAX, &vector) || *text)
		return -EINVAL;
	if (ARRAY_GROW(part->wakes, part->n_wakes, part->room_wakes))
		return -ENOMEM;
	part->wakes[part->n_wakes++] = (struct virt_wake){
		.who = (int32_t)who, .vector = (int16_t)vector, .cause = (uint8_t)cause,
	};
	return 0;
}

static int read_numbers(struct reading *reading, struct json_object *root)
{
	struct virt_part *model = reading->part;
	struct json_object *list;
	size_t n;
	int ret = 0;

	list = json_list_member(root, "idle_states", &n);
	for (size_t i = 0; i < n; i++) {
		int state = json_object_get_int(json_object_array_get_idx(list, i));

		if (state < 0 || state >= VIRT_IDLE_STATES)
			return wrong(reading, "idle_states");
		model->idle_states[state] = true;
	}
	list = json_list_member(root, "left_out", &n);
	for (size_t i = 0; i < n && !ret; i++) {
		int pcpu = json_object_get_int(json_object_array_get_idx(list, i));

		ret = pcpu < 0 || pcpu > INT16_MAX ? wrong(reading, "left_out") :
		      virt_part_leave_out(model, pcpu);
	}
	return ret;
}

/* ---- tasks ---- */

static int take_name_member(struct json_object *object, const char *key, const char *(*name)(int i),
			    int n)
{
	struct json_object *text = json_member(object, key, json_type_string);
	int i = 0;

	while (text && i < n && strcmp(json_object_get_string(text), name(i)) != 0)
		i++;
	return text && i < n ? i : -1;
}

static const char *kind_name(int i)
{
	return virt_thread_kind_name((enum virt_thread_kind)i);
}

static const char *source_name(int i)
{
	return virt_thread_source_name((enum virt_thread_source)i);
}

/** Whose a task is. Return: false if that cannot be understood. */
static bool read_owner(struct json_object *object, struct virt_part_task *task)
{
	int64_t machine = json_number_member(object, "machine", VIRT_NONE);
	int kind, source;

	if (machine == VIRT_NONE)
		return true;
	kind = take_name_member(object, "kind", kind_name, VIRT_THREAD_N_KINDS);
	source = take_name_member(object, "source", source_name, VIRT_THREAD_N_SOURCES);
	if (machine < 0 || machine >= VIRT_MAX_MACHINES || kind < 0 || source < 0)
		return false;
	task->machine = (int32_t)machine;
	task->kind = (uint8_t)kind;
	task->source = (uint8_t)source;
	return true;
}

static int read_tasks(struct reading *reading, struct json_object *root)
{
	struct virt_part *part = reading->part;
	struct json_object *list;
	int ret = 0;
	size_t n;

	list = json_list_member(root, "tasks", &n);
	for (size_t i = 0; i < n && !ret; i++) {
		struct json_object *object = json_object_array_get_idx(list, i);
		int64_t pid = json_number_member(object, "pid", -1);
		struct virt_part_task *task;

		if (pid <= 0 || pid > INT32_MAX)
			return wrong(reading, "tasks");
		if (ARRAY_GROW(part->tasks, part->n_tasks, part->room_tasks))
			return -ENOMEM;
		task = &part->tasks[part->n_tasks++];
		*task = (struct virt_part_task){ .pid = (int32_t)pid, .machine = VIRT_NONE };
		ret = json_text_member(object, "name", &task->name);
		if (!ret)
			ret = json_text_member(object, "thread", &task->thread);
		if (!ret && (!task->name || !read_owner(object, task)))
			ret = wrong(reading, "tasks");
	}
	return ret;
}

/* ---- the whole ---- */

/** The kinds of records that the whole trace has; names of other versions are left aside. */
static void read_recorded(struct reading *reading, struct json_object *root)
{
	size_t n;
	struct json_object *list = json_list_member(root, "recorded", &n);

	for (size_t i = 0; i < n; i++) {
		const char *name =
			json_object_get_string(json_object_array_get_idx(list, i));

		for (size_t j = 0; name && j < ARRAY_SIZE(virt_part_kinds); j++)
			if (!strcmp(name, virt_part_kinds[j].name))
				reading->part->recorded |=
					VIRT_RECORD_BIT(virt_part_kinds[j].kind);
	}
}

/** Times of the part and of the whole trace, in their order. */
static int read_times(struct reading *reading, struct json_object *root)
{
	struct virt_part *model = reading->part;
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
	model->migrates = json_object_get_boolean(json_member(root, "migrates",
							      json_type_boolean));
	model->n_known = (int32_t)json_number_member(root, "known_pcpus", 0);
	if (model->n_known < 0 || model->n_known > model->n_pcpus)
		return wrong(reading, "known_pcpus");
	return 0;
}

static int read_all(struct reading *reading, struct json_object *root, struct json_object *vcpus,
		    struct json_object *pcpus)
{
	int ret = read_times(reading, root);

	read_recorded(reading, root);
	if (!ret)
		ret = read_texts(reading, root, "reasons", take_reason);
	if (!ret)
		ret = read_tasks(reading, root);
	if (!ret)
		ret = read_texts(reading, root, "wakes", take_wake);
	if (!ret)
		ret = read_numbers(reading, root);
	if (!ret)
		ret = read_vcpus(reading, vcpus);
	if (!ret)
		ret = read_pcpus(reading, pcpus);
	if (!ret)
		ret = read_texts(reading, root, "losses", take_loss);
	return ret ? ret : read_texts(reading, root, "contradictions", take_contradiction);
}

int virt_part_read(struct json_object *root, struct virt_part **part, const char **what)
{
	struct reading reading = { 0 };
	struct json_object *vcpus, *pcpus;
	size_t n_vcpus, n_pcpus;
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
	reading.part = virt_part_alloc((int32_t)n_vcpus, (int32_t)n_pcpus);
	if (!reading.part)
		return -ENOMEM;
	ret = read_all(&reading, root, vcpus, pcpus);
	if (!ret) {
		*part = reading.part;
		return 0;
	}
	*what = reading.wrong;
	virt_part_free(reading.part);
	return ret;
}
