// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	json_durations.c
 * @brief	Durations of kshark-virt report as JSON.
 */
#include "json_durations.h"
#include "table.h"

void json_dist(struct json *json, const struct virt_dist *dist)
{
	if (!dist->count && !json->unknown)
		return;
	for (int i = 0; i < VIRT_N_STATS; i++)
		json_i64(json, virt_stat_look((enum virt_stat)i)->key,
			 virt_dist_stat(dist, (enum virt_stat)i));
}

void json_durations(struct json *json, const char *key, const struct virt_dist *durations)
{
	json_open(json, key, '{', true);
	json_u64(json, "count", durations->count);
	json_i64(json, "total_ns", durations->ns);
	json_dist(json, durations);
	json_close(json, '}');
}

void json_stretch_members(struct json *json, const struct virt_stretches *stretches)
{
	json_u64(json, "count", stretches->count);
	json_i64(json, "total_ns", stretches->ns);
	json_dist(json, &stretches->whole);
	json_u64(json, "complete", stretches->whole.count);
	if (stretches->before || json->unknown)
		json_u64(json, "before", stretches->before);
	if ((stretches->before && stretches->before_ns != VIRT_NONE) || json->unknown)
		json_i64(json, "before_ns", stretches->before_ns);
}

void json_stretches(struct json *json, const char *key,
		    const struct virt_stretches *stretches)
{
	json_open(json, key, '{', true);
	json_stretch_members(json, stretches);
	json_close(json, '}');
}

void json_window(struct json *json, int64_t from_ns, int64_t to_ns)
{
	json_open(json, "window_ns", '[', true);
	json_i64(json, NULL, from_ns);
	json_i64(json, NULL, to_ns);
	json_close(json, ']');
}
