// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_cgroups.c
 * @brief	The CPU quota of machines when the recording begins and ends, for the sidecar; and
 *		the timers that end what it holds, for the trace.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

#define TIMER_EVENT	"hrtimer_expire_entry"

void record_look_at_cgroups(const struct kvm_live *live, struct kvm_cgroups *cgroups)
{
	kvm_cgroups_free(cgroups);
	/* what did not fit into memory is not known */
	if (kvm_cgroups_read(record_root(), live, cgroups))
		kvm_cgroups_free(cgroups);
}

static bool has_quota(const struct record *record)
{
	for (size_t i = 0; i < record->cgroups.n; i++)
		if (record->cgroups.all[i].quota.quota_us != CPU_NO_QUOTA)
			return true;
	return false;
}

/** Addresses of functions of the kernel; 0: unknown. */
static void find_timers(uint64_t *quota, uint64_t *slack)
{
	char path[PATH_MAX], line[512], name[128];
	FILE *file;

	*quota = *slack = 0;
	snprintf(path, sizeof(path), "%s/proc/kallsyms", record_root());
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		unsigned long long address;

		if (sscanf(line, "%llx %*c %127s", &address, name) != 2)
			continue;
		if (!strcmp(name, "sched_cfs_period_timer"))
			*quota = address;
		else if (!strcmp(name, "sched_cfs_slack_timer"))
			*slack = address;
	}
	if (file)
		fclose(file);
}

/** Is every expiry of a timer recorded anyhow? */
static bool has_all_timers(const struct record *record)
{
	for (int i = 0; i < record->n_events; i++)
		if (!strcmp(record->events[i], "timer") ||
		    !strcmp(record->events[i], "timer:" TIMER_EVENT))
			return true;
	return false;
}

/** A list of events from the user has no more than that. */
static bool is_preset(const struct record *record)
{
	const char *name = record->options->events ? record->options->events : "default";

	for (size_t i = 0; record_event_preset(i); i++)
		if (!strcmp(record_event_preset(i), name))
			return true;
	return false;
}

void record_quota_timers(struct record *record)
{
	char filter[128], folder[PATH_MAX];
	uint64_t quota, slack;

	record->quota_timer = record->slack_timer = 0;
	if (!has_quota(record))
		return;
	find_timers(&quota, &slack);
	/* without one of them, the end of a hold may not be seen */
	if (!quota || !slack)
		return;
	snprintf(folder, sizeof(folder), "%s/instances/%s/events/timer/" TIMER_EVENT,
		 record_tracing(), record->instance);
	snprintf(filter, sizeof(filter), "function == 0x%llx || function == 0x%llx",
		 (unsigned long long)quota, (unsigned long long)slack);
	if (!has_all_timers(record) &&
	    (!is_preset(record) || record_write(filter, "%s/filter", folder) ||
	     record_write("1", "%s/enable", folder)))
		return;
	record->quota_timer = quota;
	record->slack_timer = slack;
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
	meta->quota_timer = record->quota_timer;
	meta->slack_timer = record->slack_timer;
	return ret;
}
