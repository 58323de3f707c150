// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_part_write.c
 * @brief	The member "part" of a sidecar, as it is written.
 *
 * What holds of a vCPU or pCPU from a time on is a text of a few words, so that it takes a line.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "array.h"
#include "json_read.h"
#include "xen_part.h"
#include "xen_part_words.h"

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
	char flags[ARRAY_SIZE(xen_part_flags) + 2] = "-";
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(xen_part_flags); i++)
		if (change->flags & xen_part_flags[i].flag) {
			flags[n++] = xen_part_flags[i].letter;
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

static int add_vcpus(struct json_object *root, const struct xen_part *part)
{
	struct json_object *list = json_object_new_array();
	int ret = json_add(root, "vcpus", list);

	for (int32_t i = 0; i < part->model->n_vcpus && !ret; i++) {
		struct json_object *object = json_object_new_object();
		xen_vcpu vcpu = part->vcpus[i].vcpu;

		ret = json_add(list, NULL, object);
		if (!ret)
			ret = json_add(object, "domain",
				       json_object_new_int64(xen_vcpu_domid(vcpu)));
		if (!ret)
			ret = json_add(object, "id", json_object_new_int64(xen_vcpu_id(vcpu)));
		if (!ret && part->vcpus[i].hvm)
			ret = json_add(object, "hvm", json_object_new_boolean(1));
		if (!ret)
			ret = add_track(object, "pieces", &part->model->vcpus[i], interval_text);
	}
	return ret;
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
	struct json_object *list = json_object_new_object();
	int ret = json_add(root, "contradictions", list);

	for (int i = 0; i < model->n_contradictions && !ret; i++)
		ret = json_add(list, model->contradictions[i].what,
			       json_object_new_int64((int64_t)model->contradictions[i].count));
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

	for (size_t i = 0; i < ARRAY_SIZE(xen_part_kinds) && !ret; i++)
		if (model->recorded & VIRT_RECORD_BIT(xen_part_kinds[i].kind))
			ret = json_add(list, NULL,
				       json_object_new_string(xen_part_kinds[i].name));
	return ret;
}

static int add_times(struct json_object *root, const struct xen_part *part)
{
	const struct {
		const char	*key;
		int64_t		ns;
	} times[] = {
		{ "begin_ns", part->model->begin_ns }, { "end_ns", part->model->end_ns },
		{ "from_ns", part->model->from_ns }, { "to_ns", part->model->to_ns },
	};
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(times) && !ret; i++)
		ret = json_add(root, times[i].key, json_object_new_int64(times[i].ns));
	if (!ret && part->model->unsplit)
		ret = json_add(root, "unsplit", json_object_new_boolean(1));
	if (!ret && part->scheduler)
		ret = json_add(root, "scheduler", json_object_new_boolean(1));
	if (!ret)
		ret = json_add(root, "n_pcpus", json_object_new_int(part->n_pcpus));
	if (!ret)
		ret = json_add(root, "known_pcpus", json_object_new_int(part->model->n_known));
	if (!ret)
		ret = json_add(root, "isa", json_object_new_string(xen_part_isa(part->isa)));
	return ret;
}

static int add_clock(struct json_object *root, const struct xen_clock *clock)
{
	struct json_object *object = json_object_new_object();
	int ret = json_add(root, "clock", object);

	if (!ret)
		ret = json_add(object, "hz", json_object_new_int64((int64_t)clock->hz));
	if (!ret)
		ret = json_add(object, "source",
			       json_object_new_string(xen_clock_source_name(clock->source)));
	if (!ret)
		ret = json_add(object, "time0_tsc", json_bits_new(clock->base_tsc));
	if (!ret && clock->source == XEN_CLOCK_CALIBRATED)
		ret = json_add(object, "residual_ppm",
			       json_object_new_double(clock->residual_ppm));
	if (!ret && clock->source == XEN_CLOCK_CALIBRATED)
		ret = json_add(object, "samples",
			       json_object_new_int64((int64_t)clock->n_samples));
	return ret;
}

static int add_offsets(struct json_object *root, const char *key, const uint64_t *offsets,
		       size_t n)
{
	struct json_object *list = json_object_new_array();
	int ret = json_add(root, key, list);

	for (size_t i = 0; i < n && !ret; i++)
		ret = json_add(list, NULL, json_object_new_int64((int64_t)offsets[i]));
	return ret;
}

/** What belongs to the reader. */
static int add_file(struct json_object *root, const struct xen_part *part)
{
	struct json_object *ends = json_object_new_array();
	int ret = json_add(root, "version", json_object_new_int(XEN_PART_VERSION));

	if (!ret)
		ret = json_add(root, "bytes", json_object_new_int64((int64_t)part->bytes));
	if (!ret)
		ret = json_add(root, "records", json_object_new_int64((int64_t)part->records));
	if (!ret && part->has_whole)
		ret = json_add(root, "whole_tsc", json_bits_new(part->whole_tsc));
	if (!ret)
		ret = add_offsets(root, "gaps", part->gaps, part->n_gaps);
	if (!ret && part->n_windows)
		ret = add_offsets(root, "windows", part->windows, part->n_windows);
	ret |= json_add(ret ? NULL : root, "ends", ends);
	for (int i = 0; i < part->n_of_pcpus && !ret; i++) {
		const struct xen_part_pcpu *pcpu = &part->pcpus[i];
		struct json_object *object = json_object_new_object();

		ret = json_add(ends, NULL, object);
		if (!ret)
			ret = json_add(object, "pcpu", json_object_new_int(pcpu->pcpu));
		if (!ret && pcpu->has_first)
			ret = json_add(object, "first", json_bits_new(pcpu->first));
		if (!ret && pcpu->known_tsc != UINT64_MAX)
			ret = json_add(object, "known_tsc", json_bits_new(pcpu->known_tsc));
	}
	return ret;
}

struct json_object *xen_part_write(const struct xen_part *part)
{
	struct json_object *root = json_object_new_object();
	int ret = root ? add_file(root, part) : -ENOMEM;

	if (!ret && part->has_clock)
		ret = add_clock(root, &part->clock);
	if (!ret && part->model) {
		ret = add_times(root, part);
		if (!ret)
			ret = add_recorded(root, part->model);
		if (!ret)
			ret = add_left_out(root, part->model);
		if (!ret)
			ret = add_tables(root, part->model);
		if (!ret)
			ret = add_vcpus(root, part);
		if (!ret)
			ret = add_pcpus(root, part->model);
		if (!ret)
			ret = add_losses(root, part->model);
		if (!ret)
			ret = add_contradictions(root, part->model);
	}
	if (!ret)
		return root;
	json_object_put(root);
	return NULL;
}
