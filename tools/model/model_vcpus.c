// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	model_vcpus.c
 * @brief	The vCPUs of a model that an option --vcpu names.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "model_vcpus.h"
#include "search.h"

/** A vCPU as a list such as d1v0 names it. */
static xen_vcpu id_of(const struct virt_machine *machine, const struct virt_vcpu *vcpu)
{
	return machine->id != XEN_DOMID_IDLE ?
	       (xen_vcpu)machine->id << 16 | (uint32_t)vcpu->id : XEN_VCPU_UNKNOWN;
}

static bool is_called(const struct virt_model *model, int32_t index, const char *word)
{
	const struct virt_vcpu *vcpu = virt_model_vcpu(model, index);

	return !strcmp(word, vcpu->name) ||
	       ksv_vcpu_is_called(virt_model_machine(model, vcpu->machine)->name,
				  (uint32_t)vcpu->id, word);
}

bool model_wants_vcpu(const struct virt_model *model, int32_t index,
		      const struct ksv_vcpu_set *set)
{
	const struct virt_vcpu *vcpu = virt_model_vcpu(model, index);

	if (!ksv_vcpus_given(set) ||
	    ksv_vcpu_in_set(set, id_of(virt_model_machine(model, vcpu->machine), vcpu)))
		return true;
	for (int i = 0; i < set->n_names; i++)
		if (is_called(model, index, set->names[i]))
			return true;
	return false;
}

static int compare_ids(const void *a, const void *b)
{
	const xen_vcpu *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/** Sorted, of all models. Return: NULL without memory. */
static xen_vcpu *all_ids(const struct virt_model *const *models, size_t n, size_t *n_ids)
{
	xen_vcpu *ids;

	*n_ids = 0;
	for (size_t m = 0; m < n; m++)
		*n_ids += (size_t)virt_model_n_vcpus(models[m]);
	ids = calloc(*n_ids + 1, sizeof(*ids));
	*n_ids = 0;
	for (size_t m = 0; ids && m < n; m++) {
		for (int32_t i = 0; i < virt_model_n_vcpus(models[m]); i++) {
			const struct virt_vcpu *vcpu = virt_model_vcpu(models[m], i);

			ids[(*n_ids)++] = id_of(virt_model_machine(models[m], vcpu->machine), vcpu);
		}
	}
	if (ids)
		qsort(ids, *n_ids, sizeof(*ids), compare_ids);
	return ids;
}

/** Is one of the ids in the range of a list's item? False also if it is no range. */
static bool has_range(const xen_vcpu *ids, size_t n_ids, const char *word)
{
	struct ksv_vcpu_set one = { 0 };
	bool found = false;
	size_t i;

	if (!ksv_parse_vcpus(word, &one)) {
		SEARCH_FIRST(i, 0, n_ids, ids[i] < one.ranges[0].first);
		found = i < n_ids && ids[i] <= one.ranges[0].last;
	}
	ksv_vcpus_free(&one);
	return found;
}

static bool has_name(const struct virt_model *const *models, size_t n, const char *word)
{
	for (size_t m = 0; m < n; m++)
		for (int32_t i = 0; i < virt_model_n_vcpus(models[m]); i++)
			if (is_called(models[m], i, word))
				return true;
	return false;
}

/** Rows that any trace may have: a day of seconds of one vCPU fits. */
#define LEAST_ROWS	100000

/** Rows for each state of a vCPU: one that wakes up once a second has three of them. */
#define ROWS_EACH	16

struct model_extent model_extent(const struct virt_model *model, const struct ksv_vcpu_set *set,
				 int64_t from_ns, int64_t to_ns)
{
	struct model_extent extent = { 0 };

	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
		if (!model_wants_vcpu(model, i, set))
			continue;
		extent.vcpus++;
		extent.states += virt_vcpu_intervals(model, i, from_ns, to_ns).n;
	}
	extent.most_rows = LEAST_ROWS + ROWS_EACH * extent.states;
	return extent;
}

void model_list_vcpus(const struct virt_model *model, struct ksv_vcpu_list *list)
{
	for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		for (int32_t i = 0; i < machine->n_vcpus; i++)
			ksv_vcpu_list_add(list, virt_model_vcpu(model, machine->vcpus[i])->name);
	}
}

int model_no_machine(const struct virt_model *model, const struct ksv_command *command,
		     const char *path, const char *option, const char *word)
{
	struct ksv_vcpu_list list = { 0 };
	const char *more;

	for (int32_t i = 0; i < virt_model_n_machines(model); i++)
		ksv_vcpu_list_add(&list, virt_model_machine(model, i)->name);
	more = ksv_vcpu_list_more(&list);
	return ksv_usage_error(command, "--%s %s: %s has no such machine; it has %s%s", option,
			       word, path, list.text, more);
}

int model_check_vcpus(const struct virt_model *const *models, size_t n, const char *path,
		      const struct ksv_command *command, const struct ksv_vcpu_set *set)
{
	const char *missing = NULL;
	struct ksv_vcpu_list list = { 0 };
	size_t n_ids;
	xen_vcpu *ids;

	if (!ksv_vcpus_given(set))
		return KSV_EXIT_OK;
	ids = all_ids(models, n, &n_ids);
	if (!ids) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	for (int i = 0; i < set->n_words && !missing; i++)
		if (!has_range(ids, n_ids, set->words[i]) && !has_name(models, n, set->words[i]))
			missing = set->words[i];
	free(ids);
	if (!missing)
		return KSV_EXIT_OK;
	model_list_vcpus(models[0], &list);
	return ksv_no_vcpu(command, path, missing, &list);
}
