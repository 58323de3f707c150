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

#include "escape.h"
#include "json_fields.h"
#include "json_read.h"
#include "monitor_meta.h"
#include "sidecar.h"

/** Of one monitor. */
#define MOST_THREADS	65536
#define KEY		"alignment"

/** No clock is that wrong. */
#define MOST_PPM	1000

static const struct json_field thread_fields[] = {
	{ JSON_A_NUMBER("thread", struct monitor_meta_thread, thread, 0, 1, INT32_MAX) },
	{ JSON_A_TEXT("name", struct monitor_meta_thread, name) },
	JSON_FIELDS_END
};

/** An impossible thread is left out. */
static int check_thread(const void *element)
{
	const struct monitor_meta_thread *thread = element;

	return !thread->name || !thread->thread;
}

static const struct json_field meta_fields[] = {
	{ JSON_A_TEXT("host", struct monitor_meta, host) },
	{ JSON_A_TEXT("machine", struct monitor_meta, machine) },
	{ JSON_A_TEXT("source", struct monitor_meta, source) },
	{ JSON_A_VALUE("offset", struct monitor_meta, offset_ns, 0) },
	{ JSON_A_VALUE("at", struct monitor_meta, at_ns, 0) },
	{ .key = "drift_ppm", .kind = JSON_REAL, JSON_PLACE(struct monitor_meta, drift_ppm),
	  .decimals = 6 },
	{ JSON_A_LIST("threads", struct monitor_meta, threads, n_threads, room, thread_fields),
	  .most = MOST_THREADS, .cut = true, .check = check_thread, .always = true },
	JSON_FIELDS_END
};

int monitor_meta_add(struct monitor_meta *meta, int32_t thread, const char *name)
{
	/* the list copies it */
	struct monitor_meta_thread one = { thread, (char *)(uintptr_t)name };

	return json_list_add(meta_fields, "threads", meta, &one);
}

void monitor_meta_free(struct monitor_meta *meta)
{
	json_fields_free(meta_fields, meta);
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

static int put_all(struct json_object *root, const void *meta)
{
	struct json_object *object = json_object_new_object();
	int ret = json_add(root, KEY, object);

	if (!ret)
		ret = json_fields_write(object, meta_fields, meta);
	return ret ? ret : json_add(object, "unit", json_text_new("ns"));
}

int monitor_meta_write(const char *path, const struct monitor_meta *meta, char *error, size_t size)
{
	return json_update_sidecar(path, put_all, meta, error, size);
}

/* --- reading --------------------------------------------------------------------------------- */

/** Return: 1, 0 for one without an offset, or -ENOMEM. */
static int take_all(struct monitor_meta *meta, struct json_object *object)
{
	struct json_wrong wrong;
	int ret;

	if (!json_member(object, "offset", json_type_int))
		return 0;
	ret = json_fields_read(object, meta_fields, meta, &wrong);
	if (!(meta->drift_ppm >= -MOST_PPM && meta->drift_ppm <= MOST_PPM))
		meta->drift_ppm = 0;
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
