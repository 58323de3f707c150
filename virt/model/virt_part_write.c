// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_part_write.c
 * @brief	Write the facts that a part of a trace needs beside its records, as JSON.
 *
 * A state that holds for a vCPU or pCPU from a time on is a text of a few words, so that it takes
 * one line.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "array.h"
#include "json_read.h"
#include "virt_part_json.h"
#include "virt_part_words.h"

/** Texts of one line. */
__attribute__((format(printf, 1, 2)))
static struct json_object *line(const char *format, ...)
{
	char text[128];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return json_object_new_string(text);
}

static struct json_object *interval_text(const struct virt_interval *change)
{
	char flags[ARRAY_SIZE(virt_part_flags) + 2] = "-";
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(virt_part_flags); i++)
		if (change->flags & virt_part_flags[i].flag) {
			flags[n++] = virt_part_flags[i].letter;
			flags[n] = '\0';
		}
	return line("%" PRId64 " %s %d %" PRId32 " %s", change->start_ns,
		    virt_state_name((enum virt_state)change->state), change->pcpu, change->detail,
		    flags);
}

static struct json_object *occupant_text(const struct virt_interval *change)
{
	return change->state ? line("%" PRId64 " %" PRId32, change->start_ns, change->detail) :
			       line("%" PRId64 " ?", change->start_ns);
}

static struct json_object *power_text(const struct virt_interval *change)
{
	return change->detail != VIRT_POWER_UNKNOWN ?
	       line("%" PRId64 " %" PRId32, change->start_ns, change->detail) :
	       line("%" PRId64 " ?", change->start_ns);
}

/** Return: 0 or -ENOMEM. */
static int add_track(struct json_object *to, const char *key, const struct virt_part_track *track,
		     struct json_object *(*text)(const struct virt_interval *change))
{
	const struct virt_interval *change = track->changes;
	struct json_object *list = json_object_new_array();
	int ret = track->n_pieces ? json_add(to, key, list) : 0;

	if (!track->n_pieces)
		json_object_put(list);
	for (uint32_t p = 0; p < track->n_pieces && !ret; p++) {
		const struct virt_part_piece *piece = &track->pieces[p];
		struct json_object *object = json_object_new_object();
		struct json_object *changes = json_object_new_array();

		ret = json_add(list, NULL, object);
		if (!ret && piece->from_ns != INT64_MIN)
			ret = json_add(object, "from_ns", json_object_new_int64(piece->from_ns));
		if (!ret && piece->to_ns != INT64_MAX)
			ret = json_add(object, "to_ns", json_object_new_int64(piece->to_ns));
		ret |= json_add(ret ? NULL : object, "changes", changes);
		for (uint32_t n = 0; n < piece->n && !ret; n++)
			ret = json_add(changes, NULL, text(change++));
	}
	return ret ? -ENOMEM : 0;
}

static int add_pcpus(struct json_object *root, const struct virt_part *model)
{
	struct json_object *list = json_object_new_array();
	int ret = json_add(root, "pcpus", list);

	for (int32_t i = 0; i < model->n_pcpus && !ret; i++) {
		struct json_object *object = json_object_new_object();

		ret = json_add(list, NULL, object);
		if (!ret)
			ret = add_track(object, "occupants", &model->pcpus[i], occupant_text);
		if (!ret)
			ret = add_track(object, "idle_states", &model->power[VIRT_IDLE_STATE][i],
					power_text);
		if (!ret)
			ret = add_track(object, "khz", &model->power[VIRT_FREQUENCY][i],
					power_text);
	}
	return ret;
}

static int add_losses(struct json_object *root, const struct virt_part *model)
{
	struct json_object *list = json_object_new_array();
	int ret = json_add(root, "losses", list);

	for (size_t i = 0; i < model->n_losses && !ret; i++) {
		const struct virt_loss *loss = &model->losses[i];

		ret = json_add(list, NULL, line("%d %" PRId64 " %" PRId64 " %" PRIu64, loss->pcpu,
						loss->from_ns, loss->to_ns, loss->records));
	}
	return ret;
}

static int add_contradictions(struct json_object *root, const struct virt_part *model)
{
	struct json_object *list = json_object_new_array();
	int ret = json_add(root, "contradictions", list);

	for (int i = 0; i < model->n_contradictions && !ret; i++) {
		const struct virt_part_contradiction *at = &model->contradictions[i];

		ret = json_add(list, NULL, line("%" PRId64 " %" PRIu64 " %s", at->time_ns,
						at->count, at->what));
	}
	return ret;
}

/** Names and numbers that the tracks refer to. */
static int add_tables(struct json_object *root, const struct virt_part *model)
{
	struct json_object *reasons = json_object_new_array();
	struct json_object *wakes = json_object_new_array();
	struct json_object *states = json_object_new_array();
	int ret = json_add(root, "reasons", reasons);

	for (int32_t i = 0; i < model->n_reasons && !ret; i++)
		ret = json_add(reasons, NULL, json_text_new(model->reasons[i]));
	ret |= json_add(ret ? NULL : root, "wakes", wakes);
	for (int32_t i = 0; i < model->n_wakes && !ret; i++)
		ret = json_add(wakes, NULL, line("%s %" PRId32 " %d",
			virt_wake_cause_name((enum virt_wake_cause)model->wakes[i].cause),
			model->wakes[i].who, model->wakes[i].vector));
	ret |= json_add(ret ? NULL : root, "idle_states", states);
	for (int i = 0; i < VIRT_IDLE_STATES && !ret; i++)
		if (model->idle_states[i])
			ret = json_add(states, NULL, json_object_new_int(i));
	return ret;
}

static int add_left_out(struct json_object *root, const struct virt_part *model)
{
	struct json_object *list;
	int ret;

	if (!virt_part_leaves_out(model))
		return 0;
	list = json_object_new_array();
	ret = json_add(root, "left_out", list);
	for (int32_t i = 0; i < model->n_left_out && !ret; i++)
		if (model->left_out[i])
			ret = json_add(list, NULL, json_object_new_int(i));
	return ret;
}

static int add_recorded(struct json_object *root, const struct virt_part *model)
{
	struct json_object *list = json_object_new_array();
	int ret = json_add(root, "recorded", list);

	for (size_t i = 0; i < ARRAY_SIZE(virt_part_kinds) && !ret; i++)
		if (model->recorded & VIRT_RECORD_BIT(virt_part_kinds[i].kind))
			ret = json_add(list, NULL,
				       json_object_new_string(virt_part_kinds[i].name));
	return ret;
}

/** The tasks of the host that tracks and wakes refer to. */
static int add_tasks(struct json_object *root, const struct virt_part *model)
{
	struct json_object *list = json_object_new_array();
	int ret = json_add(root, "tasks", list);

	for (int32_t i = 0; i < model->n_tasks && !ret; i++) {
		const struct virt_part_task *task = &model->tasks[i];
		struct json_object *object = json_object_new_object();

		ret = json_add(list, NULL, object);
		if (!ret)
			ret = json_add(object, "pid", json_object_new_int(task->pid));
		if (!ret)
			ret = json_add(object, "name", json_text_new(task->name));
		if (ret || task->machine == VIRT_NONE)
			continue;
		ret = json_add(object, "thread", json_text_new(task->thread));
		if (!ret)
			ret = json_add(object, "machine", json_object_new_int(task->machine));
		if (!ret)
			ret = json_add(object, "kind", json_object_new_string(
				virt_thread_kind_name((enum virt_thread_kind)task->kind)));
		if (!ret)
			ret = json_add(object, "source", json_object_new_string(
				virt_thread_source_name((enum virt_thread_source)task->source)));
	}
	return ret;
}

static int add_times(struct json_object *root, const struct virt_part *model)
{
	const struct {
		const char	*key;
		int64_t		ns;
	} times[] = {
		{ "begin_ns", model->begin_ns }, { "end_ns", model->end_ns },
		{ "from_ns", model->from_ns }, { "to_ns", model->to_ns },
	};
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(times) && !ret; i++)
		ret = json_add(root, times[i].key, json_object_new_int64(times[i].ns));
	if (!ret && model->unsplit)
		ret = json_add(root, "unsplit", json_object_new_boolean(1));
	if (!ret && model->migrates)
		ret = json_add(root, "migrates", json_object_new_boolean(1));
	if (!ret)
		ret = json_add(root, "known_pcpus", json_object_new_int(model->n_known));
	return ret;
}

static int add_pieces(struct json_object *vcpus, const struct virt_part *model)
{
	int ret = 0;

	for (int32_t i = 0; i < model->n_vcpus && !ret; i++)
		ret = add_track(json_object_array_get_idx(vcpus, (size_t)i), "pieces",
				&model->vcpus[i], interval_text);
	return ret;
}

int virt_part_write(struct json_object *root, const struct virt_part *model,
		    struct json_object *vcpus)
{
	int ret = add_times(root, model);

	if (!ret)
		ret = add_recorded(root, model);
	if (!ret)
		ret = add_left_out(root, model);
	if (!ret)
		ret = add_tables(root, model);
	if (!ret && model->n_tasks)
		ret = add_tasks(root, model);
	ret |= json_add(ret ? NULL : root, "vcpus", vcpus);
	if (!ret)
		ret = add_pieces(vcpus, model);
	if (!ret)
		ret = add_pcpus(root, model);
	if (!ret)
		ret = add_losses(root, model);
	return ret ? ret : add_contradictions(root, model);
}
