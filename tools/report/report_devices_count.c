// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_devices_count.c
 * @brief	Count requests to devices, and the time of vCPUs in their monitor, from the
 *		monitor's own trace.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "key_map.h"
#include "report_devices.h"

/** While one monitor is counted. */
struct counting {
	const struct report	*report;
	struct report_devices	*devices;
	struct key_map		asked, opened;
	size_t			room_asked, room_opened;
	int			error;
};

static bool is_aligned(const struct host_monitor *monitor)
{
	return monitor->source != HOST_MONITOR_NONE;
}

/* --- requests -------------------------------------------------------------------------------- */

static int count_thread(struct report_asked *asked, int32_t thread)
{
	size_t i = 0;

	/* there are few */
	while (i < asked->n_threads && asked->threads[i].thread != thread)
		i++;
	if (i == asked->n_threads) {
		if (ARRAY_GROW(asked->threads, asked->n_threads, asked->room_threads))
			return -ENOMEM;
		asked->threads[asked->n_threads++] = (struct report_beginner){ thread, 0 };
	}
	asked->threads[i].count++;
	return 0;
}

static int count_request(struct counting *counting, const struct monitor_request *request)
{
	struct report_devices *devices = counting->devices;
	uint64_t key = (uint64_t)(uint32_t)request->device << 8 | request->operation;
	struct report_asked *asked;
	int64_t i = KEY_MAP_ELEMENT(&counting->asked, key, devices->asked, counting->room_asked);

	if (i < 0)
		return -ENOMEM;
	devices->n_asked = counting->asked.n_keys;
	asked = &devices->asked[i];
	asked->device = request->device;
	asked->operation = request->operation;
	asked->count++;
	asked->bytes += request->bytes;
	if (request->done) {
		if (ARRAY_GROW(asked->ns, asked->n_ns, asked->room_ns))
			return -ENOMEM;
		asked->ns[asked->n_ns++] = request->end_ns - request->begin_ns;
	}
	return devices->monitor->knows_threads ? count_thread(asked, request->begin_thread) : 0;
}

/** Those that begin in the window; all of them if the beginning is unknown. */
static int count_requests(struct counting *counting)
{
	const struct host_monitor *monitor = counting->devices->monitor;
	const struct monitor_requests *requests = &monitor->requests;
	int ret = 0;

	for (size_t i = 0; i < requests->n_requests && !ret; i++) {
		const struct monitor_request *request = &requests->requests[i];

		if (is_aligned(monitor)) {
			int64_t begin = host_monitor_time(monitor, request->begin_ns);

			if (begin < counting->report->from_ns || begin >= counting->report->to_ns)
				continue;
		}
		ret = count_request(counting, request);
	}
	return ret;
}

/* --- time in the monitor --------------------------------------------------------------------- */

static struct report_opened *opened_of(struct counting *counting, int32_t device, int32_t reason,
				       uint8_t operation, uint8_t bytes)
{
	struct report_devices *devices = counting->devices;
	uint64_t key = (uint64_t)(uint32_t)(device == MONITOR_NONE ? reason : device) << 24 |
		       (uint64_t)(device == MONITOR_NONE) << 20 | (uint64_t)operation << 8 | bytes;
	int64_t i = KEY_MAP_ELEMENT(&counting->opened, key, devices->opened,
				    counting->room_opened);

	if (i < 0) {
		counting->error = -ENOMEM;
		return NULL;
	}
	devices->n_opened = counting->opened.n_keys;
	devices->opened[i].device = device;
	devices->opened[i].reason = reason;
	devices->opened[i].operation = operation;
	devices->opened[i].bytes = bytes;
	return &devices->opened[i];
}

static struct report_opened *opened_by_access(struct counting *counting,
					      const struct host_monitor_stretch *stretch, size_t i)
{
	const struct monitor_requests *requests = &counting->devices->monitor->requests;
	const struct monitor_access *access = &requests->accesses[stretch->vcpu->accesses[i]];

	return opened_of(counting, access->device, REPORT_NO_EXIT, access->operation,
			 access->bytes);
}

static void count_stretch(void *arg, const struct host_monitor_stretch *stretch)
{
	struct counting *counting = arg;
	const struct monitor_requests *requests = &counting->devices->monitor->requests;
	size_t end = stretch->first_access + stretch->n_accesses;
	struct report_opened *opened;
	int32_t reason = REPORT_NO_EXIT;

	if (stretch->n_exits)
		reason = requests->exits[stretch->vcpu->exits[stretch->first_exit]].reason;
	for (size_t i = stretch->first_access; i < end; i++) {
		opened = opened_by_access(counting, stretch, i);
		if (opened)
			opened->accesses++;
	}
	opened = stretch->n_accesses ?
		 opened_by_access(counting, stretch, stretch->first_access) :
		 opened_of(counting, MONITOR_NONE, reason, 0, 0);
	if (!opened)
		return;
	opened->stretches++;
	opened->ns += stretch->vmm_ns;
	counting->devices->vmm_ns += stretch->vmm_ns;
}

/* --- all of it ------------------------------------------------------------------------------- */

static int compare_asked(const void *a, const void *b)
{
	const struct report_asked *x = a, *y = b;

	if (x->latency.ns != y->latency.ns)
		return x->latency.ns < y->latency.ns ? 1 : -1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->operation - y->operation;
}

static int compare_opened(const void *a, const void *b)
{
	const struct report_opened *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->reason != y->reason)
		return x->reason < y->reason ? -1 : 1;
	return x->operation != y->operation ? x->operation - y->operation : x->bytes - y->bytes;
}

static int compare_beginners(const void *a, const void *b)
{
	const struct report_beginner *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static void sort_all(struct report_devices *devices)
{
	for (size_t i = 0; i < devices->n_asked; i++) {
		struct report_asked *asked = &devices->asked[i];

		virt_dist_make(&asked->latency, asked->ns, asked->n_ns);
		if (asked->n_threads)
			qsort(asked->threads, asked->n_threads, sizeof(*asked->threads),
			      compare_beginners);
	}
	if (devices->n_asked)
		qsort(devices->asked, devices->n_asked, sizeof(*devices->asked), compare_asked);
	if (devices->n_opened)
		qsort(devices->opened, devices->n_opened, sizeof(*devices->opened),
		      compare_opened);
}

static void free_devices(struct report_devices *devices)
{
	for (size_t i = 0; i < devices->n_asked; i++) {
		free(devices->asked[i].threads);
		free(devices->asked[i].ns);
	}
	free(devices->asked);
	free(devices->opened);
}

static int count_monitor(const struct report *report, struct report_devices *devices)
{
	struct counting counting = { .report = report, .devices = devices };
	int ret = count_requests(&counting);

	host_monitor_stretches(devices->monitor, report->from_ns, report->to_ns, count_stretch,
			       &counting);
	sort_all(devices);
	key_map_destroy(&counting.asked);
	key_map_destroy(&counting.opened);
	return ret ? ret : counting.error;
}

int report_each_monitor(const struct report *report,
			int (*put)(void *arg, const struct report *report,
				   const struct report_devices *devices), void *arg)
{
	int ret = 0;

	for (int i = 0; i < report->monitors->n && !ret; i++) {
		struct report_devices devices = { .monitor = &report->monitors->all[i] };

		ret = count_monitor(report, &devices);
		if (!ret)
			ret = put(arg, report, &devices);
		free_devices(&devices);
	}
	return ret;
}
