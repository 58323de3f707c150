// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	merge_dat.c
 * @brief	Join parts of a trace.dat, as split_dat.c writes them; other files, see
 *		merge_dat_join.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json_read.h"
#include "kvm_part_json.h"
#include "kvm_trace.h"
#include "merge_facts.h"
#include "sidecar.h"
#include "split_dat.h"
#include "trace_dat_cut.h"

/** One of the files. */
struct dat_part {
	const char		*path;
	struct trace_dat_cut	*cut;
	struct kvm_part		*facts;		/* of a host; or NULL */
	int64_t			from_ns, to_ns, first_ns, last_ns;
};

struct dat_merge {
	const struct split_dat_options *options;
	struct dat_part		*parts;		/* in order of time */
	int			n;
};

static int no_memory(void)
{
	ksv_error("not enough memory");
	return KSV_EXIT_FILE;
}

/* ---- the files ---- */

/** What the sidecar says about a part. */
static int take_facts(struct dat_part *part, struct json_object *root, const char *sidecar)
{
	struct json_object *object = json_member(root, "part", json_type_object);
	char error[512];
	int ret = kvm_part_read(root, sidecar, &part->facts, error, sizeof(error));

	if (ret) {
		ksv_error("%s", ret == -ENOMEM ? "not enough memory" : error);
		return KSV_EXIT_FILE;
	}
	part->from_ns = json_number_member(object, "from_ns", 1);
	part->to_ns = json_number_member(object, "to_ns", 0);
	part->first_ns = json_number_member(object, "first_ns", 1);
	part->last_ns = json_number_member(object, "last_ns", 0);
	if (part->from_ns < part->to_ns && part->first_ns <= part->last_ns)
		return KSV_EXIT_OK;
	ksv_error("%s: not a part that 'kshark-virt split' wrote: only such parts of one trace.dat "
		  "can be merged", part->path);
	return KSV_EXIT_FILE;
}

static int read_sidecar(struct dat_part *part)
{
	struct json_object *root;
	char *sidecar;
	int status = split_dat_facts(part->path, &sidecar, &root);

	if (!status)
		status = take_facts(part, root, sidecar ? sidecar : part->path);
	json_object_put(root);
	free(sidecar);
	return status;
}

/** The times of a host's records. */
static int take_time(void *arg, const struct kvm_trace_record *record)
{
	struct dat_part *seen = arg;

	if (record->time_ns < seen->first_ns)
		seen->first_ns = record->time_ns;
	if (record->time_ns > seen->last_ns)
		seen->last_ns = record->time_ns;
	return 0;
}

/** Is the sidecar that of this file? */
static int check_times(const struct dat_part *part)
{
	struct dat_part seen = { .first_ns = INT64_MAX, .last_ns = INT64_MIN };
	struct kvm_trace *trace;
	char error[512];
	int ret;

	if (!part->facts)
		return KSV_EXIT_OK;
	trace = kvm_trace_open_apart(part->path, error, sizeof(error));
	if (!trace) {
		ksv_error("%s", error);
		return KSV_EXIT_FILE;
	}
	kvm_trace_set_hz(trace, part->facts->hz);
	ret = kvm_trace_walk(trace, take_time, NULL, &seen);
	kvm_trace_close(trace);
	if (ret)
		ksv_error("%s: %s", part->path, kvm_trace_problem(ret));
	else if (seen.first_ns != part->first_ns || seen.last_ns != part->last_ns)
		ksv_error("%s: the sidecar's \"part\" belongs to another file: split the trace "
			  "again", part->path);
	else
		return KSV_EXIT_OK;
	return KSV_EXIT_FILE;
}

static int open_part(struct dat_part *part)
{
	int status = read_sidecar(part);
	char error[512];

	if (!status)
		status = check_times(part);
	if (status)
		return status;
	part->cut = trace_dat_cut_open(part->path, error, sizeof(error));
	if (part->cut) {
		trace_dat_cut_take_all(part->cut);
		return KSV_EXIT_OK;
	}
	ksv_error("%s", error);
	return KSV_EXIT_FILE;
}

/* ---- what belongs together ---- */

static int compare_parts(const void *a, const void *b)
{
	const struct dat_part *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static bool same_vcpus(const struct kvm_part *a, const struct kvm_part *b)
{
	for (int32_t i = 0; i < a->model->n_vcpus; i++)
		if (a->vcpus[i].machine != b->vcpus[i].machine ||
		    a->vcpus[i].id != b->vcpus[i].id || a->vcpus[i].tid != b->vcpus[i].tid)
			return false;
	return true;
}

static bool same_tasks(const struct virt_part *a, const struct virt_part *b)
{
	if (a->n_tasks != b->n_tasks)
		return false;
	for (int32_t i = 0; i < a->n_tasks; i++)
		if (a->tasks[i].pid != b->tasks[i].pid)
			return false;
	return true;
}

/** Are both of the same trace? */
static bool same_trace(const struct dat_part *a, const struct dat_part *b)
{
	if (!trace_dat_cut_same(a->cut, b->cut) || !a->facts != !b->facts)
		return false;
	return !a->facts || (a->facts->hz == b->facts->hz &&
			     virt_part_same(a->facts->model, b->facts->model) &&
			     same_vcpus(a->facts, b->facts) &&
			     same_tasks(a->facts->model, b->facts->model));
}

static int check_parts(const struct dat_merge *merge)
{
	for (int i = 1; i < merge->n; i++) {
		const struct dat_part *a = &merge->parts[i - 1], *b = &merge->parts[i];

		if (!same_trace(a, b)) {
			ksv_error("%s and %s are parts of different traces", a->path, b->path);
			return KSV_EXIT_FILE;
		}
		if (a->to_ns <= b->from_ns)
			continue;
		ksv_error("%s and %s overlap: the one ends at %.9f s, the other one begins at "
			  "%.9f s", a->path, b->path, (double)a->to_ns / 1e9,
			  (double)b->from_ns / 1e9);
		return KSV_EXIT_FILE;
	}
	return KSV_EXIT_OK;
}

static bool follows(const struct dat_merge *merge, int i)
{
	return merge->parts[i].from_ns == merge->parts[i - 1].to_ns;
}

/* ---- output ---- */

/** The facts of all parts, as the first one's. Return: 0 or -ENOMEM. */
static int join_facts(struct dat_merge *merge)
{
	struct kvm_part *first = merge->parts[0].facts;
	struct virt_part *all = merge_facts_begin(first->model);
	int ret = all ? 0 : -ENOMEM;

	for (int i = 0; i < merge->n && !ret; i++) {
		const struct virt_part *model = merge->parts[i].facts->model;

		if (i && !follows(merge, i))
			ret = merge_facts_nothing(all, model, model->n_known);
		if (!ret)
			ret = merge_facts_add(all, model, !i, i == merge->n - 1);
	}
	if (ret) {
		virt_part_free(all);
		return ret;
	}
	virt_part_free(first->model);
	first->model = all;
	first->last_ns = merge->parts[merge->n - 1].facts->last_ns;
	return 0;
}

/** The member "part" of the result. Return: NULL without memory. */
static struct json_object *make_part(struct dat_merge *merge)
{
	const struct dat_part *first = merge->parts, *last = &merge->parts[merge->n - 1];
	struct json_object *part;
	int ret;

	if (first->facts)
		return join_facts(merge) ? NULL : kvm_part_write(first->facts);
	part = json_object_new_object();
	ret = part ? json_add(part, "version", json_object_new_int(1)) : -ENOMEM;
	if (!ret)
		ret = json_add(part, "first_ns", json_object_new_int64(first->first_ns));
	if (!ret)
		ret = json_add(part, "last_ns", json_object_new_int64(last->last_ns));
	if (!ret)
		ret = json_add(part, "from_ns", json_object_new_int64(first->from_ns));
	if (!ret)
		ret = json_add(part, "to_ns", json_object_new_int64(last->to_ns));
	if (!ret)
		return part;
	json_object_put(part);
	return NULL;
}

/** Return: KSV_EXIT_OK, or after a message. */
static int write_records(const struct dat_merge *merge, struct split_target *target)
{
	struct trace_dat_cut **cuts = calloc((size_t)merge->n, sizeof(*cuts));
	char error[512];
	int ret;

	if (!cuts)
		return no_memory();
	for (int i = 0; i < merge->n; i++) {
		cuts[i] = merge->parts[i].cut;
		if (i && !follows(merge, i))
			trace_dat_cut_gap(cuts[i]);
	}
	ret = trace_dat_cut_write(cuts, merge->n, target->out->fd, error, sizeof(error));
	free(cuts);
	return split_dat_written(target, NULL, ret, error);
}

static int write_merged(struct dat_merge *merge)
{
	const struct split_dat_options *options = merge->options;
	struct split_target target;
	struct json_object *root;
	int status = split_open(&target, options->command, options->output);

	if (status)
		return status;
	status = write_records(merge, &target);
	root = status ? NULL : split_dat_sidecar(merge->parts[0].path, make_part(merge));
	if (!status && !root)
		status = no_memory();
	if (status) {
		split_discard(&target);
		return status;
	}
	status = split_close(&target, root);
	if (!status && !options->quiet)
		ksv_note("%s: %d parts from %.9f to %.9f s", options->output, merge->n,
			 (double)merge->parts[0].from_ns / 1e9,
			 (double)merge->parts[merge->n - 1].to_ns / 1e9);
	return status;
}

/** Is it what split_dat.c has written? A sidecar that cannot be read is complained about later. */
static bool is_part(const char *path)
{
	char *sidecar = sidecar_find(path), error[512];
	struct json_object *root = NULL;
	bool is = sidecar && !json_read_file(sidecar, &root, error, sizeof(error)) &&
		  json_member(root, "part", json_type_object);

	json_object_put(root);
	free(sidecar);
	return is;
}

static int merge_parts(const struct split_dat_options *options, const struct trace_args *args)
{
	struct dat_merge merge = {
		.options = options, .n = args->n,
		.parts = calloc((size_t)args->n, sizeof(*merge.parts)),
	};
	int status = merge.parts ? KSV_EXIT_OK : no_memory();

	for (int i = 0; i < args->n && !status; i++) {
		merge.parts[i].path = args->items[i].path;
		status = open_part(&merge.parts[i]);
	}
	if (!status) {
		qsort(merge.parts, (size_t)merge.n, sizeof(*merge.parts), compare_parts);
		status = check_parts(&merge);
	}
	if (!status)
		status = write_merged(&merge);
	for (int i = 0; merge.parts && i < args->n; i++) {
		trace_dat_cut_close(merge.parts[i].cut);
		kvm_part_free(merge.parts[i].facts);
	}
	free(merge.parts);
	return status;
}

int merge_dat(const struct split_dat_options *options, const struct trace_args *args)
{
	int n = 0, status = KSV_EXIT_OK;

	for (int i = 0; i < args->n && !status; i++) {
		status = split_dat_unpack(args->items[i].path);
		n += is_part(args->items[i].path);
	}
	if (status)
		return status;
	return n ? merge_parts(options, args) : merge_dat_join(options, args);
}
