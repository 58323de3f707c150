// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	dump_filter.c
 * @brief	Which records "kshark-virt dump" shows.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "dump.h"

int dump_add_pattern(struct dump_filter *filter, const struct ksv_command *command,
		     const char *glob)
{
	struct event_pattern *pattern;
	unsigned long id;
	char *end;

	if (ARRAY_GROW(filter->patterns, filter->n_patterns, filter->patterns_room)) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	pattern = &filter->patterns[filter->n_patterns++];
	*pattern = (struct event_pattern){ .glob = glob };
	if (strncmp(glob, "0x", 2) != 0)
		return 0;
	errno = 0;
	id = strtoul(glob, &end, 16);
	if (errno || *end || end == glob + 2 || id > XEN_TRC_ID_MASK)
		return ksv_usage_error(command, "--event %s: not an event id", glob);
	pattern->is_id = true;
	pattern->id = (uint32_t)id;
	return 0;
}

int dump_add_glob(struct dump_globs *globs, const char *glob)
{
	if (ARRAY_GROW(globs->all, globs->n, globs->room)) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	globs->all[globs->n++] = glob;
	return 0;
}

bool dump_names_event(const struct dump_filter *filter, uint32_t id, const char *system,
		      const char *name)
{
	char full[256];

	if (dump_event_selected(filter, id, name))
		return true;
	snprintf(full, sizeof(full), "%s:%s", system, name);
	for (int i = 0; i < filter->n_patterns; i++)
		if (!filter->patterns[i].is_id && !fnmatch(filter->patterns[i].glob, full, 0))
			return true;
	return false;
}

bool dump_event_selected(const struct dump_filter *filter, uint32_t id, const char *name)
{
	if (!filter->n_patterns)
		return true;
	for (int i = 0; i < filter->n_patterns; i++) {
		const struct event_pattern *pattern = &filter->patterns[i];

		if (pattern->is_id ? pattern->id == id : !fnmatch(pattern->glob, name, 0))
			return true;
	}
	return false;
}

int dump_check_patterns(const struct dump_filter *filter, const struct ksv_command *command)
{
	for (int i = 0; i < filter->n_patterns; i++) {
		const struct event_pattern *pattern = &filter->patterns[i];
		bool found = pattern->is_id || !strncmp(pattern->glob, "unknown_", 8);

		for (int j = 0; j < xen_events_count() && !found; j++)
			found = !fnmatch(pattern->glob, xen_event_at(j)->name, 0);
		if (!found)
			return ksv_usage_error(command, "--event %s: no such event; --list-events "
					       "lists all", pattern->glob);
	}
	return 0;
}

bool dump_before(const struct dump_filter *filter, const struct xen_trace_row *row)
{
	const struct ksv_time *from = &filter->from;

	if (from->kind == KSV_TIME_TSC)
		return row->rec.tsc < from->tsc;
	return from->kind == KSV_TIME_NS && row->time_ns < from->ns;
}

bool dump_after(const struct dump_filter *filter, const struct xen_trace_row *row)
{
	const struct ksv_time *to = &filter->to;

	if (to->kind == KSV_TIME_TSC)
		return row->rec.tsc >= to->tsc;
	return to->kind == KSV_TIME_NS && row->time_ns >= to->ns;
}

void dump_filter_free(struct dump_filter *filter)
{
	free(filter->patterns);
	free(filter->machines.all);
	free(filter->tasks.all);
	ksv_vcpus_free(&filter->vcpus);
}
