/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	monitor_meta.h
 * @brief	The sidecar <file>.meta.json of a monitor's trace: its place on its host's axis.
 *
 *     { "alignment": { "host": "host.dat", "machine": "web", "source": "moment",
 *                      "offset": -1795578937376842757, "at": 1795579068110052000,
 *                      "drift_ppm": 0.0, "unit": "ns",
 *                      "threads": [ { "thread": 201, "name": "web v0" } ] } }
 *
 * A time of the trace is time + offset + drift * (time - at) on the host's axis. Threads have the
 * names that they have in the host's trace.
 */
#ifndef KSHARK_VIRT_MONITOR_META_H
#define KSHARK_VIRT_MONITOR_META_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct monitor_meta_thread {
	int32_t		thread;
	char		*name;
};

/** All zero: no offset, and no host or machine. */
struct monitor_meta {
	char		*host, *machine, *source;
	int64_t		offset_ns, at_ns;
	double		drift_ppm;
	struct monitor_meta_thread *threads;
	size_t		n_threads, room;
};

/** monitor_meta_add - a thread; its name is copied. Return: 0 or -ENOMEM. */
int monitor_meta_add(struct monitor_meta *meta, int32_t thread, const char *name);

/** monitor_meta_free - what is in it; it is all zero then */
void monitor_meta_free(struct monitor_meta *meta);

/** monitor_meta_time - from a time of the trace to the host's axis; what does not fit is cut. */
int64_t monitor_meta_time(const struct monitor_meta *meta, int64_t time_ns);

/** monitor_meta_name - what a thread is called; or NULL. */
const char *monitor_meta_name(const struct monitor_meta *meta, int32_t thread);

/**
 * monitor_meta_write - put it into the sidecar of a trace, whose other members stay
 *
 * Return: 0, or a negative errno and a text in @error.
 */
int monitor_meta_write(const char *path, const struct monitor_meta *meta, char *error, size_t size);

/**
 * monitor_meta_read - what the sidecar of a trace says
 * @meta: receives it; to be given to monitor_meta_free() in any case
 *
 * Return: 1; 0: nothing; or a negative errno and a text in @error.
 */
int monitor_meta_read(const char *path, struct monitor_meta *meta, char *error, size_t size);

#ifdef __cplusplus
}
#endif
#endif
