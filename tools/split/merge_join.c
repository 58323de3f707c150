// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	merge_join.c
 * @brief	Combine the known facts about several files.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "json_read.h"
#include "merge.h"
#include "merge_facts.h"
#include "sidecar.h"

/* ---- what both kinds have ---- */

static bool has_piece(const struct split_cut *cut, uint16_t pcpu)
{
	for (size_t i = 0; i < cut->n_pieces; i++)
		if (cut->pieces[i].pcpu == pcpu)
			return true;
	return false;
}

/** Behind a time of which nothing is known, records of each pCPU are missing. @file: the later */
static int mark_gaps(struct merge *merge, int file)
{
	bool *seen = calloc(XENTRACE_MAX_PCPU + 1, sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	for (size_t i = 0; i < merge->n_pieces; i++) {
		struct split_piece *piece = &merge->pieces[i];

		if (piece->file != file || seen[piece->pcpu])
			continue;
		seen[piece->pcpu] = true;
		for (size_t k = 0; k < i && !piece->gap; k++)
			piece->gap = merge->pieces[k].pcpu == piece->pcpu;
	}
	free(seen);
	return 0;
}

/* ---- parts of a trace ---- */

/** Between two parts, of which the later one is file @i, nothing is known. */
static int join_nothing(struct merge *merge, int i)
{
	int ret = merge_facts_nothing(merge->part->model, merge->files[i].part->model,
				      merge->part->n_pcpus);

	for (int k = i; k < merge->n && !ret; k++)
		if (merge_same_time(&merge->files[i], &merge->files[k]))
			ret = mark_gaps(merge, k);
	return ret;
}

/** One window after the other. */
static int join_windows(struct merge *merge)
{
	int ret = 0, next;

	for (int i = 0; i < merge->n && !ret; i = next) {
		next = i + 1;
		while (next < merge->n && merge_same_time(&merge->files[i], &merge->files[next]))
			next++;
		if (i && !merge_follows(merge, i))
			ret = join_nothing(merge, i);
		if (!ret)
			ret = merge_facts_add(merge->part->model, merge->files[i].part->model, !i,
					      next == merge->n);
	}
	return ret;
}

/** A pCPU that no file has. */
static bool is_left_out(const struct merge *merge, int32_t pcpu)
{
	for (int i = 0; i < merge->n; i++)
		if (!virt_part_is_left_out(merge->files[i].part->model, pcpu))
			return false;
	return true;
}

/** Who was there at the beginning, and where knowledge ends. */
static int join_pcpus(struct merge *merge)
{
	for (int i = 0; i < merge->n; i++) {
		const struct xen_part *part = merge->files[i].part;

		for (int k = 0; k < part->n_of_pcpus; k++) {
			const struct xen_part_pcpu *from = &part->pcpus[k];
			struct xen_part_pcpu *to = xen_part_pcpu(merge->part, from->pcpu);

			if (!to)
				return -ENOMEM;
			if (from->has_first && !to->has_first) {
				to->has_first = true;
				to->first = from->first;
			}
			if (from->known_tsc < to->known_tsc)
				to->known_tsc = from->known_tsc;
		}
	}
	return 0;
}

static struct xen_part *begin_parts(const struct xen_part *first)
{
	struct xen_part *part = calloc(1, sizeof(*part));
	const struct virt_part *model = first->model;

	if (!part)
		return NULL;
	*part = (struct xen_part){
		.has_clock = true, .clock = first->clock, .n_pcpus = first->n_pcpus,
		.isa = first->isa, .scheduler = first->scheduler,
		.has_whole = first->has_whole, .whole_tsc = first->whole_tsc,
		.model = merge_facts_begin(model),
		.vcpus = calloc((size_t)model->n_vcpus + 1, sizeof(*part->vcpus)),
	};
	if (!part->model || !part->vcpus ||
	    (first->has_cores && xen_part_set_cores(part, first->cores))) {
		xen_part_free(part);
		return NULL;
	}
	memcpy(part->vcpus, first->vcpus, (size_t)model->n_vcpus * sizeof(*part->vcpus));
	return part;
}

int merge_parts(struct merge *merge)
{
	int ret;

	merge->part = begin_parts(merge->files[0].part);
	if (!merge->part)
		return -ENOMEM;
	ret = join_windows(merge);
	for (int32_t pcpu = 0; pcpu < merge->part->n_pcpus && !ret; pcpu++)
		if (is_left_out(merge, pcpu))
			ret = virt_part_leave_out(merge->part->model, pcpu);
	return ret ? ret : join_pcpus(merge);
}

/* ---- recordings ---- */

/** Of a pCPU without records in a later file, nothing is known after the earlier one's end. */
static int end_pcpus(struct merge *merge, int file)
{
	const struct xentrace *reader = xen_trace_reader(merge->files[file].trace);

	for (int i = 0; i < xentrace_n_pcpus(reader); i++) {
		const struct xentrace_pcpu *from = xentrace_pcpu_at(reader, i);
		struct xen_part_pcpu *to = xen_part_pcpu(merge->part, from->pcpu);
		bool goes_on = false, later = false;

		if (!to)
			return -ENOMEM;
		for (int k = 0; k < merge->n; k++) {
			if (merge->files[k].first_tsc <= merge->files[file].last_tsc)
				continue;
			later = true;
			goes_on |= has_piece(&merge->files[k].cut, from->pcpu);
		}
		if (goes_on)
			continue;
		to->known_tsc = from->known_tsc;
		if (later && merge->files[file].last_tsc < to->known_tsc)
			to->known_tsc = merge->files[file].last_tsc;
	}
	return 0;
}

int merge_recordings(struct merge *merge)
{
	int ret = 0;

	merge->part = calloc(1, sizeof(*merge->part));
	if (!merge->part)
		return -ENOMEM;
	merge->part->has_whole = true;
	for (int i = 0; i < merge->n && !ret; i++) {
		uint64_t tsc = xentrace_whole_tsc(xen_trace_reader(merge->files[i].trace));

		if (tsc > merge->part->whole_tsc)
			merge->part->whole_tsc = tsc;
		ret = mark_gaps(merge, i);
		if (!ret)
			ret = end_pcpus(merge, i);
	}
	return ret;
}

/* ---- sidecars ---- */

static struct json_object *with_id(struct json_object *list, int64_t id)
{
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

	for (size_t i = 0; i < n; i++) {
		struct json_object *object = json_object_array_get_idx(list, i);

		if (json_number_member(object, "id", -1) == id)
			return object;
	}
	return NULL;
}

/** Domains or vCPUs of the later recording, which ends them; those that are new are taken over. */
static int join_list(struct json_object *to, struct json_object *from, const char *key)
{
	struct json_object *list = json_member(from, key, json_type_array), *have;
	int ret = 0;

	if (!list)
		return 0;
	have = json_member(to, key, json_type_array);
	if (!have)
		return json_add(to, key, json_object_get(list));
	for (size_t i = 0; i < json_object_array_length(list) && !ret; i++) {
		struct json_object *new = json_object_array_get_idx(list, i);
		struct json_object *old = with_id(have, json_number_member(new, "id", -1));
		struct json_object *end = json_member(new, "end", json_type_object);

		if (!old) {
			ret = json_add(have, NULL, json_object_get(new));
			continue;
		}
		json_object_object_del(old, "end");
		if (end)
			ret = json_add(old, "end", json_object_get(end));
		if (!ret)
			ret = join_list(old, new, "vcpus");
	}
	return ret;
}

static int join_sidecar(struct json_object *to, struct json_object *from)
{
	struct json_object *end = json_member(from, "end", json_type_object);
	int ret = join_list(to, from, "domains");

	json_object_object_foreach(from, key, value) {
		if (!ret && !json_object_object_get_ex(to, key, NULL))
			ret = json_add(to, key, json_object_get(value));
	}
	if (!ret && end)
		ret = json_add(to, "end", json_object_get(end));
	return ret;
}

/** The sidecar of a file, NULL if it has none that counts. Return: 0 or -ENOMEM. */
static int read_sidecar(const struct merge_file *file, struct json_object **root)
{
	char *path = xen_trace_meta(file->trace) ? sidecar_find(file->path) : NULL;
	char error[512];
	int ret = 0;

	*root = NULL;
	if (path)
		ret = json_read_file(path, root, error, sizeof(error));
	free(path);
	return ret == -ENOMEM ? ret : 0;
}

int merge_sidecar(struct merge *merge)
{
	int ret = 0;

	merge->root = json_object_new_object();
	if (!merge->root)
		return -ENOMEM;
	for (int i = 0; i < merge->n && !ret; i++) {
		struct json_object *root;

		ret = read_sidecar(&merge->files[i], &root);
		if (!ret && root)
			ret = join_sidecar(merge->root, root);
		json_object_put(root);
	}
	json_object_object_del(merge->root, "part");
	return ret;
}
