// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_flight_kvm.c
 * @brief	Keep the last records of a KVM host: pages of the kernel's buffers, CPU by CPU.
 *
 * The buffers are our own, or, where these cannot be made, those that trace-cmd starts. This
 * process takes pages as trace-cmd itself would take them, and trace-cmd makes a trace of the pages
 * that are kept. The clock counts ns: there are no guests'
 * traces to align by cycles.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "held_file.h"
#include "host_trace.h"
#include "record_buffers.h"
#include "record_flight.h"
#include "record_tracing.h"

/** trace-cmd has enabled everything in this time. */
#define START_S		60
/** Pages that are kept as one. */
#define CHUNK_PAGES	64
/** A CPU may write faster than it is read: others have to have their turn. */
#define MAX_CHUNKS	64

/* --- CPUs ------------------------------------------------------------------------------------ */

/** Return: whether there may be more. */
static bool take_chunk(struct record_flight *flight, const struct record_cpu *cpu,
		       int64_t now, unsigned char *data)
{
	size_t page = (size_t)getpagesize(), size = 0;
	ssize_t n = 0;

	while (size < CHUNK_PAGES * page && (n = read(cpu->fd, data + size, page)) > 0) {
		/* pages lie side by side in a file */
		memset(data + size + n, 0, page - (size_t)n);
		size += page;
	}
	if (size && record_ring_add(&flight->ring, now, cpu->cpu, data, size))
		flight->no_memory = true;
	return n > 0;
}

static void take_kvm(struct record *record)
{
	struct record_flight *flight = record->flight;
	unsigned char *data = malloc(CHUNK_PAGES * (size_t)getpagesize());
	int64_t now = record_now_ns();

	for (int i = 0; data && i < flight->cpus.n; i++)
		for (int n = 0; n < MAX_CHUNKS; n++)
			if (!take_chunk(flight, &flight->cpus.all[i], now, data))
				break;
	free(data);
}

/* --- begin and end --------------------------------------------------------------------------- */

static bool has_event(const struct record *record, const char *system, const char *event)
{
	char full[128];

	snprintf(full, sizeof(full), "%s:%s", system, event);
	for (int i = 0; i < record->n_events; i++)
		if (!strcmp(record->events[i], system) || !strcmp(record->events[i], full))
			return true;
	return false;
}

/** Machines are known by their entries, whatever is asked of them. */
static const char *missing_kvm(const struct record *record, enum virt_worst_kind kind)
{
	if (kind == VIRT_WORST_IRQ)
		return "";
	if (kind == VIRT_WORST_LOST)
		return NULL;
	if (kind == VIRT_WORST_TSC && !has_event(record, "kvm", "kvm_write_tsc_offset"))
		return "kvm:kvm_write_tsc_offset";
	if (!has_event(record, "kvm", "kvm_entry"))
		return "kvm:kvm_entry";
	if (!has_event(record, "kvm", "kvm_exit"))
		return "kvm:kvm_exit";
	if (kind != VIRT_WORST_EXIT && !has_event(record, "sched", "sched_switch"))
		return "sched:sched_switch";
	if (kind == VIRT_WORST_WAKE && !has_event(record, "sched", "sched_wakeup") &&
	    !has_event(record, "sched", "sched_waking"))
		return "sched:sched_wakeup";
	return NULL;
}

static int run_start(struct record *record)
{
	char buffer[24], said[4096];
	const char **argv = calloc(2 * (size_t)record->n_events + 8, sizeof(*argv));
	int n = 6, status;

	if (!argv)
		return KSV_EXIT_FILE;
	snprintf(buffer, sizeof(buffer), "%llu",
		 (unsigned long long)record->options->buffer / 1024);
	memcpy(argv, (const char *[]){ "trace-cmd", "start", "-C", record->clock, "-b", buffer },
	       6 * sizeof(*argv));
	for (int i = 0; i < record->n_events; i++) {
		argv[n++] = "-e";
		argv[n++] = record->events[i];
	}
	status = record_capture_noted(record, argv, START_S, said, sizeof(said),
				      record_lock_note_tracing);
	free(argv);
	if (!status)
		return KSV_EXIT_OK;
	ksv_error("trace-cmd does not start; it says: %s", *said ? said : "nothing");
	return KSV_EXIT_FILE;
}

/** Leave no sign that there was a recorder. */
static void put_back(struct record *record)
{
	if (*record->instance)
		record_own_remove(record);
	else
		record_tracing_restore(record_tracing_before(), true);
}

/** Guests are seen by the host alone. */
static int add_guests(struct record *record)
{
	int ret = 0;

	for (int i = 0; i < record->live.n_guests && !ret; i++) {
		const struct recording_guest guest = {
			.name = record->live.guests[i].name, .uuid = record->live.guests[i].uuid,
			.how = (char[]){ "none" },
		};

		ret = recording_add_guest(&record->recording, &guest);
	}
	return ret ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

/** Where there can be no buffers of our own. */
static int start_shared(struct record *record)
{
	int status;

	if (record_check_in_use())
		return KSV_EXIT_FILE;
	if (record->flight->number == 1)
		record_tracing_save();
	record_tracing_expect((const char *const *)record->events, record->n_events);
	record_lock_note_tracing(record);
	status = run_start(record);
	if (!status)
		record_tracing_mark();
	else
		record_tracing_restore(record_tracing_before(), true);
	return status;
}

/** While an earlier recording was written, tracing was not in use. */
static int start_kvm(struct record *record)
{
	int status;

	if (record->flight->number > 1) {
		kvm_live_free(&record->live);
		kvm_live_read(record_root(), &record->live);
	}
	status = add_guests(record);
	if (!status)
		status = record_sidecar(record, NULL);
	if (!status && record_own_make(record))
		status = start_shared(record);
	if (status)
		return status;
	record_lock_note_tracing(record);
	status = record_buffers_open(&record->flight->cpus,
				     *record->instance ? record->instance : NULL);
	if (status)
		put_back(record);
	return status;
}

/** Nothing is written any more: what there is has an end, however much it is. */
static void take_rest(struct record *record)
{
	const struct record_ring *ring = &record->flight->ring;
	uint64_t before;

	do {
		before = ring->total;
		take_kvm(record);
	} while (ring->total > before);
}

static void stop_kvm(struct record *record)
{
	record->was_off = !record_tracing_is_on();
	record_tracing_stop();
	record->count.bytes = record->flight->ring.total;
	record_tracing_count(record, &record->count);
	take_rest(record);
	record_buffers_close(&record->flight->cpus);
}

static int write_kvm(const struct record *record, const char *folder)
{
	const struct record_ring *ring = &record->flight->ring;
	char path[PATH_MAX + NAME_MAX];
	int ret = 0;

	for (int cpu = 0; cpu < ring->n_cpus && !ret; cpu++) {
		snprintf(path, sizeof(path), "%s/" RECORD_KVM_FILE ".cpu%d", folder, cpu);
		ret = record_ring_write(ring, cpu, path);
	}
	if (ret)
		return ret;
	if (!ring->bytes)
		return -ENODATA;
	return record_settle_files(folder) && record_has_trace(folder) ? 0 : -EIO;
}

/* --- what was kept --------------------------------------------------------------------------- */

static int count_record(void *arg, const struct kvm_trace_record *record)
{
	struct record_count *count = arg;

	(void)record;
	count->records++;
	return 0;
}

static void count_loss(void *arg, int cpu, uint64_t records)
{
	struct record_count *count = arg;

	(void)cpu;
	count->lost += records;
}

/** Of what is kept, not of all that has gone by. Return: false, after a note: not to be counted. */
static bool count_kept(struct record *record)
{
	struct host_walk walk = { .record = count_record, .lost = count_loss,
				  .arg = &record->count };
	const struct host_options options = { 0 };
	char path[PATH_MAX + NAME_MAX], error[512];
	struct host_trace trace;
	int ret;

	record->count.records = record->count.lost = 0;
	snprintf(path, sizeof(path), "%s/" RECORD_KVM_FILE, record->folder);
	if (host_trace_open(&trace, path, &options, error, sizeof(error))) {
		ksv_note("%s", error);
		return false;
	}
	ret = host_trace_walk(&trace, &walk);
	host_trace_close(&trace);
	/* --keep may remove it, and many come after it */
	held_file_release(path);
	if (ret)
		ksv_note("%s: cannot be read completely: %s", path, strerror(-ret));
	return !ret;
}

static int finish_kvm(struct record *record)
{
	struct recording_file file = { .name = (char[]){ RECORD_KVM_FILE },
				       .role = RECORDING_HOST,
				       .clock = (char *)(uintptr_t)record->clock };
	struct kvm_live end;
	int status = KSV_EXIT_OK;
	bool counted;

	put_back(record);
	if (!kvm_live_read(record_root(), &end) && record_sidecar(record, &end))
		status = KSV_EXIT_FILE;
	kvm_live_free(&end);
	if (!record_has_trace(record->folder))
		return KSV_EXIT_FILE;
	counted = count_kept(record);
	file.records = counted ? (int64_t)record->count.records : RECORDING_UNKNOWN;
	file.lost = counted ? (int64_t)record->count.lost : RECORDING_UNKNOWN;
	return recording_add_file(&record->recording, &file) ? KSV_EXIT_FILE : status;
}

const struct record_source record_source_kvm = {
	.file = RECORD_KVM_FILE,
	.missing = missing_kvm,
	.start = start_kvm,
	.take = take_kvm,
	.stop = stop_kvm,
	.write = write_kvm,
	.finish = finish_kvm,
};
