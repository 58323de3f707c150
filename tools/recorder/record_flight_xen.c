// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_flight_xen.c
 * @brief	Keep the last records of xentrace, which writes to a pipe instead of a file.
 *
 * xentrace's own ring in memory (-M) does not help: xentrace writes it only when it ends, no other
 * process can read it before, and the headers of its windows are written beyond its end when it is
 * full (xentrace.c, membuf_reserve_window).
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "array.h"
#include "json_read.h"
#include "record_flight.h"
#include "record_xen.h"
#include "whole_file.h"

/** Header word of a window: TRC_TRACE_CPU_CHANGE with two words, the pCPU and a size in bytes. */
#define WINDOW_HEADER	(2u << 28 | 0x0001f003u)
#define HEADER_BYTES	12
/** No window is larger than the largest buffer; no pCPU has a higher number. */
#define MAX_WINDOW	(65536u * RECORD_XEN_PAGE)
#define MAX_PCPU	65535
#define READ_BYTES	(256 << 10)
#define MAX_READS	64

/* --- windows --------------------------------------------------------------------------------- */

static uint32_t word_at(const unsigned char *data, size_t i)
{
	uint32_t word;

	memcpy(&word, data + i * sizeof(word), sizeof(word));
	return le32toh(word);
}

/** xentrace goes through its pCPUs in turns. One turn is kept or forgotten as a whole. */
static int add_window(struct record_flight *flight, const unsigned char *data, size_t size)
{
	int cpu = (int)word_at(data, 1);

	if (!flight->round_ns || cpu <= flight->last_cpu)
		flight->round_ns = record_now_ns();
	flight->last_cpu = cpu;
	return record_ring_add(&flight->ring, flight->round_ns, cpu, data, size);
}

/** Return: how many bytes were whole windows. */
static size_t add_windows(struct record_flight *flight)
{
	size_t at = 0;

	while (flight->n_data - at >= HEADER_BYTES) {
		const unsigned char *data = flight->data + at;
		uint32_t bytes = word_at(data, 2);

		if (word_at(data, 0) != WINDOW_HEADER || word_at(data, 1) > MAX_PCPU ||
		    bytes > MAX_WINDOW) {
			flight->is_no_trace = true;
			return flight->n_data;
		}
		if (flight->n_data - at - HEADER_BYTES < bytes)
			break;
		if (add_window(flight, data, HEADER_BYTES + bytes))
			flight->no_memory = true;
		at += HEADER_BYTES + bytes;
	}
	return at;
}

/** Return: false when there is nothing more now. */
static bool read_some(struct record_flight *flight)
{
	ssize_t n;
	size_t used;

	if (flight->fd < 0)
		return false;
	if (ARRAY_GROW(flight->data, flight->n_data + READ_BYTES, flight->room_data))
		return false;
	n = read(flight->fd, flight->data + flight->n_data, READ_BYTES);
	if (n <= 0 && (n == 0 || (errno != EAGAIN && errno != EINTR))) {
		close(flight->fd);
		flight->fd = -1;
	}
	if (n <= 0)
		return false;
	flight->n_data += (size_t)n;
	used = add_windows(flight);
	flight->n_data -= used;
	memmove(flight->data, flight->data + used, flight->n_data);
	return true;
}

static void take_xen(struct record *record)
{
	/* reading is traced, too: where that is slow, there would never be an end */
	for (int i = 0; i < MAX_READS && read_some(record->flight); i++)
		continue;
}

/* --- begin and end --------------------------------------------------------------------------- */

static const char *missing_xen(const struct record *record, enum virt_worst_kind kind)
{
	switch (kind) {
	case VIRT_WORST_EXIT:
		return record->mask & RECORD_XEN_HVM & ~RECORD_XEN_SUBCLASSES ? NULL : "hvm";
	case VIRT_WORST_STEAL:
	case VIRT_WORST_WAKE:
	case VIRT_WORST_MIGRATION:
	case VIRT_WORST_OFFLINE:
		return record->mask & RECORD_XEN_SCHED & ~RECORD_XEN_SUBCLASSES ? NULL : "sched";
	case VIRT_WORST_IRQ:
	case VIRT_WORST_TSC:
		return "";
	default:
		return NULL;
	}
}

static int begin_xentrace(struct record *record)
{
	struct record_flight *flight = record->flight;
	int status;

	flight->n_data = 0;
	flight->round_ns = 0;
	status = record_xen_begin_pipe(record, &flight->fd);
	if (status)
		return status;
	fcntl(flight->fd, F_SETFL, O_NONBLOCK);
	take_xen(record);
	if (flight->fd >= 0 || flight->ring.bytes) {
		record_xen_check_buffer(record);
		return KSV_EXIT_OK;
	}
	waitpid(record->recorder, &record->recorder_status, 0);
	record->recorder = 0;
	return record_failed(record, RECORD_XEN_LOG, "xentrace", "does not begin");
}

/** What is kept has no end then. */
static void report_cut_off(struct record *record)
{
	record_failed(record, RECORD_XEN_LOG, "xentrace", "did not write all of Xen's records");
	record->stop = RECORD_DIED;
}

/** What Xen still has comes, and then the end; or, of one that hangs, nothing. */
static void take_to_end(struct record *record)
{
	struct record_flight *flight = record->flight;
	struct pollfd wait = { .fd = flight->fd, .events = POLLIN };
	int64_t last = record_now_ns();

	while (flight->fd >= 0 && record_now_ns() - last < RECORD_XEN_END_S * 1000000000LL) {
		uint64_t before = flight->ring.total + flight->n_data;

		poll(&wait, 1, 100);
		take_xen(record);
		if (flight->ring.total + flight->n_data != before)
			last = record_now_ns();
	}
	if (flight->fd >= 0)
		close(flight->fd);
	flight->fd = -1;
}

static void stop_xen(struct record *record)
{
	struct record_flight *flight = record->flight;
	bool runs = record->recorder > 0;
	int status;

	/* a signal that comes while it waits for room in the pipe cuts off what it writes, which
	 * it takes for an error, and ends
	 */
	take_xen(record);
	if (runs)
		kill(record->recorder, SIGINT);
	take_to_end(record);
	record_xen_end(&record->recorder, SIGINT, &status);
	if (runs && (status || flight->n_data))
		report_cut_off(record);
	record_xen_end(&flight->meta, SIGTERM, &status);
}

static int start_xen(struct record *record)
{
	int status;

	/* while the one before was written, tracing was not in use */
	if (record->flight->number > 1 && record_xen_check_in_use())
		return KSV_EXIT_FILE;
	/* from when xentrace begins, nothing must keep us from reading, not even a slow disk; it
	 * has nothing to finish that would have to be waited for if we are killed
	 */
	if (record_lock_note(record))
		ksv_note("/run: cannot be written to");
	record->flight->meta = record_xen_start_meta(record);
	status = begin_xentrace(record);
	if (status)
		stop_xen(record);
	return status;
}

static int write_xen(const struct record *record, const char *folder)
{
	char path[PATH_MAX + NAME_MAX];

	if (!record->flight->ring.bytes)
		return -ENODATA;
	snprintf(path, sizeof(path), "%s/" RECORD_XEN_FILE, folder);
	return record_ring_write(&record->flight->ring, -1, path);
}

/* --- the sidecar ----------------------------------------------------------------------------- */

static struct json_object *list_of(struct json_object *object, const char *key, size_t *n)
{
	struct json_object *list = json_member(object, key, json_type_array);

	*n = list ? json_object_array_length(list) : 0;
	return list;
}

static void forget_begin(struct json_object *root)
{
	size_t n_domains, n;
	struct json_object *domains = list_of(root, "domains", &n_domains);

	for (size_t i = 0; i < n_domains; i++) {
		struct json_object *domain = json_object_array_get_idx(domains, i);
		struct json_object *vcpus = list_of(domain, "vcpus", &n);

		for (size_t j = 0; j < n; j++) {
			struct json_object *vcpu = json_object_array_get_idx(vcpus, j);

			if (json_object_is_type(vcpu, json_type_object))
				json_object_object_del(vcpu, "begin");
		}
	}
}

static int write_json(struct json_object *root, const char *path)
{
	size_t size;
	const char *text = json_object_to_json_string_length(root, JSON_C_TO_STRING_PRETTY |
							     JSON_C_TO_STRING_SPACED |
							     JSON_C_TO_STRING_NOSLASHESCAPE, &size);
	struct whole_file file;
	int ret = text ? whole_file_open(&file, path, false) : -ENOMEM;

	if (ret)
		return ret;
	ret = whole_file_write(&file, text, size);
	if (!ret)
		return whole_file_commit(&file);
	whole_file_discard(&file);
	return ret;
}

/**
 * Where vCPUs were when it began may be long before what is kept: that they are there again at the
 * end does not show that they have been there all the time.
 */
static void forget_begins(const struct record *record)
{
	char path[PATH_MAX + NAME_MAX], error[512];
	struct json_object *root;
	int ret;

	snprintf(path, sizeof(path), "%s/" RECORD_XEN_FILE ".meta.json", record->folder);
	if (access(path, F_OK))
		return;
	if (json_read_file(path, &root, error, sizeof(error))) {
		ksv_note("%s", error);
		return;
	}
	forget_begin(root);
	ret = write_json(root, path);
	if (ret)
		ksv_note("%s: %s; the placement of vCPUs at \"begin\" is from before the kept "
			 "records", path,
			 strerror(-ret));
	json_object_put(root);
}

static int finish_xen(struct record *record)
{
	forget_begins(record);
	/* that there is nothing has been said */
	return record_xen_finish(record, record->flight->ring.bytes ? KSV_EXIT_OK :
				 KSV_EXIT_FILE);
}

const struct record_source record_source_xen = {
	.file = RECORD_XEN_FILE,
	.missing = missing_xen,
	.start = start_xen,
	.take = take_xen,
	.stop = stop_xen,
	.write = write_xen,
	.finish = finish_xen,
};
