// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_cgroups.c
 * @brief	The CPU quota of machines when the recording begins and ends, for the sidecar.
 */
#include <errno.h>
#include <stdlib.h>

#include "record.h"

void record_look_at_cgroups(const struct kvm_live *live, struct kvm_cgroups *cgroups)
{
	kvm_cgroups_free(cgroups);
	/* what did not fit into memory is not known */
	if (kvm_cgroups_read(record_root(), live, cgroups))
		kvm_cgroups_free(cgroups);
}

/** What is kept, and under which numbers: from 1 on. */
struct keeping {
	const struct kvm_cgroups *begin, *end;
	struct kvm_meta	*meta;
	int		*of_end;	/* those of @end, by index; those of @begin are in order */
};

/** Those of the beginning. Return: 0 or -ENOMEM. */
static int keep_begin(const struct keeping *keeping)
{
	for (size_t i = 0; i < keeping->begin->n; i++) {
		const struct kvm_cgroup *cgroup = &keeping->begin->all[i];
		struct kvm_meta_cgroup *to = kvm_meta_add_cgroup(keeping->meta, cgroup->path,
								 cgroup->above + 1);

		if (!to)
			return -ENOMEM;
		to->has_begin = cgroup->is_known;
		to->begin = cgroup->quota;
	}
	return 0;
}

/** One of the end, after those above it. Return: 0 or -ENOMEM. */
static int keep_end(const struct keeping *keeping, size_t i)
{
	const struct kvm_cgroup *cgroup = &keeping->end->all[i];
	int number = kvm_cgroups_find(keeping->begin, cgroup->path) + 1;
	int above = cgroup->above < 0 ? 0 : keeping->of_end[cgroup->above];
	struct kvm_meta_cgroup *to;

	if (!number && !kvm_meta_add_cgroup(keeping->meta, cgroup->path, above))
		return -ENOMEM;
	number = number ? number : keeping->meta->n_cgroups;
	keeping->of_end[i] = number;
	to = &keeping->meta->cgroups[number - 1];
	to->has_end = cgroup->is_known;
	to->end = cgroup->quota;
	return 0;
}

/** A thread that was in another cgroup at the end than at the beginning has none. */
static int cgroup_of(const struct keeping *keeping, int tid)
{
	int begin = kvm_cgroups_of(keeping->begin, tid) + 1;
	int index = kvm_cgroups_of(keeping->end, tid);
	int end = index < 0 ? 0 : keeping->of_end[index];

	return !begin || !end || begin == end ? end ? end : begin : 0;
}

int record_add_cgroups(const struct record *record, struct kvm_meta *meta)
{
	struct keeping keeping = {
		.begin = &record->cgroups, .end = &record->cgroups_end, .meta = meta,
		.of_end = calloc(record->cgroups_end.n + 1, sizeof(*keeping.of_end)),
	};
	int ret = keeping.of_end ? keep_begin(&keeping) : -ENOMEM;

	for (size_t i = 0; i < keeping.end->n && !ret; i++)
		ret = keep_end(&keeping, i);
	for (int i = 0; i < meta->n_guests && !ret; i++)
		for (int v = 0; v < meta->guests[i].n_vcpus; v++)
			meta->guests[i].vcpus[v].cgroup =
				cgroup_of(&keeping, meta->guests[i].vcpus[v].tid);
	free(keeping.of_end);
	return ret;
}
