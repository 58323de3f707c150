// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	monitor_meta.c
 * @brief	Read and write the sidecar of a monitor's trace: its place on its host's axis.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "json_read.h"
#include "monitor_meta.h"
#include "sidecar.h"

#define KEY		"alignment"

/** No clock is that wrong. */
#define MOST_PPM	1000

/** More of them has no monitor. */
#define MOST_THREADS	65536

int monitor_meta_add(struct monitor_meta *meta, int32_t thread, const char *name)
{
	char *copy = strdup(name);

	if (!copy || ARRAY_GROW(meta->threads, meta->n_threads, meta->room)) {
		free(copy);
		return -ENOMEM;
	}
	meta->threads[meta->n_threads++] = (struct monitor_meta_thread){ thread, copy };
	return 0;
}

void monitor_meta_free(struct monitor_meta *meta)
{
	for (size_t i = 0; i < meta->n_threads; i++)
		free(meta->threads[i].name);
	free(meta->threads);
	free(meta->host);
	free(meta->machine);
	free(meta->source);
	*meta = (struct monitor_meta){ 0 };
}

int64_t monitor_meta_time(const struct monitor_meta *meta, int64_t time_ns)
{
	int64_t since, drift, ns;

	if (__builtin_sub_overflow(time_ns, meta->at_ns, &since))
		since = 0;
	drift = llround(meta->drift_ppm * 1e-6 * (double)since);
	if (__builtin_add_overflow(time_ns, meta->offset_ns, &ns))
		return meta->offset_ns < 0 ? INT64_MIN : INT64_MAX;
	return __builtin_add_overflow(ns, drift, &ns) ? time_ns : ns;
}

const char *monitor_meta_name(const struct monitor_meta *meta, int32_t thread)
{
	for (size_t i = 0; i < meta->n_threads; i++)
		if (meta->threads[i].thread == thread)
			return meta->threads[i].name;
	return NULL;
}

/* --- writing --------------------------------------------------------------------------------- */

static int put_threads(struct json_object *object, const struct monitor_meta *meta)
{
	struct json_object *list = json_object_new_array();
	int ret = json_add(object, "threads", list);

	for (size_t i = 0; i < meta->n_threads && !ret; i++) {
		struct json_object *one = json_object_new_object();

		ret = json_add(list, NULL, one);
		if (!ret)
			ret = json_add(one, "thread",
				       json_object_new_int(meta->threads[i].thread));
		if (!ret)
			ret = json_add(one, "name", json_text_new(meta->threads[i].name));
	}
	return ret;
}

static int put_all(struct json_object *root, const void *what)
{
	const struct monitor_meta *meta = what;
	struct json_object *object = json_object_new_object();
	char drift[32];
	int ret = json_add(root, KEY, object);

	snprintf(drift, sizeof(drift), "%.6f", meta->drift_ppm);
	if (!ret && meta->host)
		ret = json_add(object, "host", json_text_new(meta->host));
	if (!ret && meta->machine)
		ret = json_add(object, "machine", json_text_new(meta->machine));
	if (!ret && meta->source)
		ret = json_add(object, "source", json_text_new(meta->source));
	if (!ret)
		ret = json_add(object, "offset", json_object_new_int64(meta->offset_ns));
	if (!ret)
		ret = json_add(object, "at", json_object_new_int64(meta->at_ns));
	if (!ret)
		ret = json_add(object, "drift_ppm",
			       json_object_new_double_s(meta->drift_ppm, drift));
	if (!ret)
		ret = json_add(object, "unit", json_text_new("ns"));
	return ret ? ret : put_threads(object, meta);
}

int monitor_meta_write(const char *path, const struct monitor_meta *meta, char *error, size_t size)
{
	return json_update_sidecar(path, put_all, meta, error, size);
}

/* --- reading --------------------------------------------------------------------------------- */

/** What cannot be is left out. Return: 0 or -ENOMEM. */
static int take_threads(struct monitor_meta *meta, struct json_object *object)
{
	struct json_object *list = json_member(object, "threads", json_type_array);
	size_t n = list ? json_object_array_length(list) : 0;
	int ret = 0;

	for (size_t i = 0; i < n && i < MOST_THREADS && !ret; i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		int64_t thread = json_number_member(one, "thread", 0);
		char *name = NULL;

		ret = json_text_member(one, "name", &name);
		if (!ret && name && thread > 0 && thread <= INT32_MAX)
			ret = monitor_meta_add(meta, (int32_t)thread, name);
		free(name);
	}
	return ret;
}

/** Return: 1, 0 for what tells of no offset, or -ENOMEM. */
static int take_all(struct monitor_meta *meta, struct json_object *object)
{
	struct json_object *drift, *offset;
	int ret;

	if (!object || !json_object_object_get_ex(object, "offset", &offset) ||
	    !json_object_is_type(offset, json_type_int))
		return 0;
	meta->offset_ns = json_object_get_int64(offset);
	meta->at_ns = json_number_member(object, "at", 0);
	if (json_object_object_get_ex(object, "drift_ppm", &drift))
		meta->drift_ppm = json_object_get_double(drift);
	if (!(meta->drift_ppm >= -MOST_PPM && meta->drift_ppm <= MOST_PPM))
		meta->drift_ppm = 0;
	ret = json_text_member(object, "host", &meta->host);
	if (!ret)
		ret = json_text_member(object, "machine", &meta->machine);
	if (!ret)
		ret = json_text_member(object, "source", &meta->source);
	if (!ret)
		ret = take_threads(meta, object);
	return ret ? ret : 1;
}

int monitor_meta_read(const char *path, struct monitor_meta *meta, char *error, size_t size)
{
	char *sidecar = sidecar_find(path);
	struct json_object *root = NULL;
	int ret = 0;

	*meta = (struct monitor_meta){ 0 };
	if (!sidecar)
		return 0;
	ret = json_read_file(sidecar, &root, error, size);
	if (!ret)
		ret = take_all(meta, json_member(root, KEY, json_type_object));
	if (ret == -ENOMEM)
		text_format(error, size, "%s: not enough memory", sidecar);
	json_object_put(root);
	free(sidecar);
	return ret;
}
