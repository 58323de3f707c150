// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_disks.c
 * @brief	Requests to disks, from the events of a kernel's block layer.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "host_disks.h"
#include "record_gaps.h"

/** Bytes of a sector, whatever those of the disk have. */
#define SECTOR	512

/** Where requests of an operation are that have no place on the disk, such as flushes. */
#define NO_SECTOR(operation)	(UINT64_MAX - (operation))
#define IS_SECTOR(sector)	((sector) < NO_SECTOR(HOST_DISK_N_OPERATIONS))

/** Events of the block layer. */
enum disk_event_kind {
	DISK_INSERT,
	DISK_ISSUE,
	DISK_REQUEUE,		/* the disk has given a request back */
	DISK_COMPLETE,		/* of a request, or of its first part */
	DISK_MERGE_AFTER,	/* a new part becomes the end of a request ... */
	DISK_MERGE_BEFORE,	/* ... or its beginning */
	DISK_MERGE_REQUEST,	/* a request becomes part of another one */
	DISK_N_KINDS
};

/**
 * The system "block", Linux's include/trace/events/block.h: the fields dev, sector, nr_sector and
 * rwbs are in all of them, bytes in those about requests (since 3.6), error where these end (called
 * errors before 4.14). block_rq_merge exists since 5.12.
 */
static const char *const event_names[DISK_N_KINDS] = {
	[DISK_INSERT] = "block_rq_insert",
	[DISK_ISSUE] = "block_rq_issue",
	[DISK_REQUEUE] = "block_rq_requeue",
	[DISK_COMPLETE] = "block_rq_complete",
	[DISK_MERGE_AFTER] = "block_bio_backmerge",
	[DISK_MERGE_BEFORE] = "block_bio_frontmerge",
	[DISK_MERGE_REQUEST] = "block_rq_merge",
};

struct disk_event {
	int64_t		time_ns;
	uint64_t	sector, bytes;
	uint32_t	device, sectors;
	int32_t		pid;
	uint8_t		kind;		/* enum disk_event_kind */
	uint8_t		operation;	/* enum host_disk_operation */
	bool		has_failed;
	bool		is_part;	/* of DISK_COMPLETE: the disk goes on with the request, or
					 * had none */
	uint32_t	request;	/* of DISK_ISSUE, and of DISK_REQUEUE in the same segment:
					 * number + 1; 0: unknown */
};

/** A request before it is given to the disk. */
struct waiting {
	int64_t		time_ns;
	size_t		segment;
	int32_t		pid;
	uint32_t	next;		/* at the same place, number + 1 */
	bool		was_issued;	/* the disk has given it back */
	bool		is_vague;	/* there were two at this place at once */
};

/** What struct host_disk_request does not have. */
struct flight {
	size_t		segment;	/* of its issue */
	uint64_t	bytes_left;
	uint32_t	next;		/* at the same place, number + 1 */
	bool		is_vague;	/* there were two at this place at once */
};

/** A place on a disk, or the one for requests that have none. */
struct place {
	uint32_t	waiting, flying;	/* the latest one, number + 1; 0: none */
};

/** A disk, or a task on a disk: where its last request ends. */
struct head {
	size_t		segment;
	uint64_t	sector;
	int32_t		pid;
	uint32_t	flying;		/* of a disk, requests that it has */
	bool		is_known;
};

struct reading {
	struct host_disks	*disks;
	struct kvm_trace	*trace;
	uint8_t			*kind_of;	/* by event id: enum disk_event_kind + 1 */
	int32_t			max_id;
	unsigned int		seen;		/* set of kinds of which there are records */
	struct disk_event	*events;
	size_t			n_events, room_events;
	struct record_gaps	gaps;
	struct key_map		sector_map, place_map;
	struct place		*places;
	uint32_t		room_places;
	struct waiting		*waiting;
	uint32_t		n_waiting, room_waiting;
	struct flight		*flights;	/* by number of request */
	size_t			room_flights;
	struct key_map		foreign_map;	/* segment and disk */
	uint32_t		*foreign;	/* requests that end there, and begin before */
	uint32_t		room_foreign;
	struct head		*heads;		/* by disk */
	struct key_map		task_map;
	struct head		*tasks;		/* by disk and pid */
	uint32_t		room_tasks;
};

const char *host_disk_operation_name(enum host_disk_operation operation)
{
	static const char *const names[HOST_DISK_N_OPERATIONS] = {
		[HOST_DISK_READ] = "read", [HOST_DISK_WRITE] = "write",
		[HOST_DISK_DISCARD] = "discard", [HOST_DISK_FLUSH] = "flush",
		[HOST_DISK_OTHER] = "other",
	};

	return names[operation];
}

void host_disk_name(const struct host_disk *disk, char name[HOST_DISK_NAME])
{
	snprintf(name, HOST_DISK_NAME, "%u:%u", disk->device >> 20, disk->device & 0xfffff);
}

/* --- records --------------------------------------------------------------------------------- */

/** blk_fill_rwbs(), block/blk-core.c or kernel/trace/blktrace.c: an F in front is a flush first. */
static enum host_disk_operation operation_of(const char *rwbs)
{
	switch (rwbs[0] == 'F' && rwbs[1] ? rwbs[1] : rwbs[0]) {
	case 'R':
		return HOST_DISK_READ;
	case 'W':
		return HOST_DISK_WRITE;
	case 'D':
		return HOST_DISK_DISCARD;
	case 'F':
		return HOST_DISK_FLUSH;
	default:
		return HOST_DISK_OTHER;
	}
}

/** Return: false if it lacks a field. */
static bool read_fields(const struct kvm_trace_line *line, struct disk_event *event)
{
	enum { DEVICE = 1, PLACE = 2, SECTORS = 4, OPERATION = 8, BYTES = 16 };
	unsigned int found = 0;
	struct kvm_line_field field;
	size_t at = 0;

	while (kvm_line_field(&line->line, &at, &field)) {
		if (field.text) {
			if (strcmp(field.name, "rwbs") != 0)
				continue;
			event->operation = (uint8_t)operation_of(field.text);
			found |= OPERATION;
		} else if (!strcmp(field.name, "dev") && field.value <= UINT32_MAX) {
			event->device = (uint32_t)field.value;
			found |= DEVICE;
		} else if (!strcmp(field.name, "sector")) {
			event->sector = field.value;
			found |= PLACE;
		} else if (!strcmp(field.name, "nr_sector") && field.value <= UINT32_MAX) {
			event->sectors = (uint32_t)field.value;
			found |= SECTORS;
		} else if (!strcmp(field.name, "bytes") && field.value <= UINT32_MAX) {
			event->bytes = field.value;
			found |= BYTES;
		} else if (!strcmp(field.name, "error") || !strcmp(field.name, "errors")) {
			event->has_failed = (int32_t)field.value != 0;
		}
	}
	if (!(found & BYTES))
		event->bytes = (uint64_t)event->sectors * SECTOR;
	/* where a flush begins, its place is 0, where it ends, it is none */
	if (!event->sectors || !IS_SECTOR(event->sector))
		event->sector = NO_SECTOR(event->operation);
	return (found | BYTES) == (DEVICE | PLACE | SECTORS | OPERATION | BYTES);
}

/** Return: 0 or -ENOMEM. */
static int take_line(void *arg, const struct kvm_trace_line *line, int64_t time_ns)
{
	struct reading *reading = arg;
	struct disk_event event = { .time_ns = time_ns, .pid = line->pid };
	uint8_t kind = line->event >= 0 && line->event <= reading->max_id ?
		       reading->kind_of[line->event] : 0;

	if (!kind || !read_fields(line, &event))
		return 0;
	event.kind = (uint8_t)(kind - 1);
	reading->seen |= 1U << event.kind;
	if (ARRAY_GROW(reading->events, reading->n_events, reading->room_events))
		return -ENOMEM;
	reading->events[reading->n_events++] = event;
	return 0;
}

static bool wants_event(void *arg, int32_t event, const char *system, const char *name)
{
	struct reading *reading = arg;

	if (strcmp(system, "block") != 0 || event < 0 || event > reading->max_id)
		return false;
	for (size_t i = 0; i < DISK_N_KINDS; i++)
		if (!strcmp(name, event_names[i]))
			reading->kind_of[event] = (uint8_t)(i + 1);
	return reading->kind_of[event];
}

/* --- which end belongs to which beginning ---------------------------------------------------- */

/** Return: below 0 without memory. */
static int64_t disk_of(struct host_disks *disks, uint32_t device)
{
	int64_t disk = KEY_MAP_ELEMENT(&disks->disk_map, device, disks->disks, disks->room_disks);

	if (disk >= 0)
		disks->disks[disk].device = device;
	return disk;
}

static struct place *place_of(struct reading *reading, uint32_t disk, uint64_t sector)
{
	int64_t number = key_map_add(&reading->sector_map, sector), place;

	if (number < 0)
		return NULL;
	place = KEY_MAP_ELEMENT(&reading->place_map, (uint64_t)disk << 32 | (uint64_t)number,
				reading->places, reading->room_places);
	return place < 0 ? NULL : &reading->places[place];
}

static int add_moment(struct host_disks *disks, int64_t time_ns, uint32_t disk,
		      enum host_disk_moment_kind kind)
{
	if (ARRAY_GROW(disks->moments, disks->n_moments, disks->room_moments))
		return -ENOMEM;
	disks->moments[disks->n_moments++] = (struct host_disk_moment){
		time_ns, disk, (uint8_t)kind,
	};
	return 0;
}

/** The latest one at a place leaves it. Return: NULL: there is none. */
static struct waiting *take_waiting(struct reading *reading, struct place *place)
{
	struct waiting *waiting = place->waiting ? &reading->waiting[place->waiting - 1] : NULL;

	if (waiting)
		place->waiting = waiting->next;
	return waiting;
}

static int put_waiting(struct reading *reading, struct place *place, struct waiting waiting)
{
	struct waiting *before = place->waiting ? &reading->waiting[place->waiting - 1] : NULL;

	if (before && before->segment == waiting.segment) {
		before->is_vague = true;
		waiting.is_vague = true;
	}
	if (ARRAY_GROW(reading->waiting, reading->n_waiting, reading->room_waiting))
		return -ENOMEM;
	waiting.next = place->waiting;
	reading->waiting[reading->n_waiting++] = waiting;
	place->waiting = reading->n_waiting;
	return 0;
}

static int on_insert(struct reading *reading, struct place *place, const struct disk_event *event,
		     size_t segment)
{
	struct waiting *before = place->waiting ? &reading->waiting[place->waiting - 1] : NULL;

	/* what the disk has given back is put into the queue once more */
	if (before && before->was_issued && before->segment == segment) {
		before->was_issued = false;
		return 0;
	}
	return put_waiting(reading, place, (struct waiting){
		.time_ns = event->time_ns, .segment = segment, .pid = event->pid,
	});
}

static void put_flying(struct reading *reading, struct place *place, uint32_t request)
{
	struct flight *flight = &reading->flights[request];
	struct flight *before = place->flying ? &reading->flights[place->flying - 1] : NULL;

	/* no record shows which of them ends first */
	if (before) {
		before->is_vague = true;
		flight->is_vague = true;
	}
	/* an end that was lost may belong to another gap's one: it stays open */
	flight->next = before && before->segment == flight->segment ? place->flying : 0;
	place->flying = request + 1;
}

static int on_issue(struct reading *reading, struct place *place, struct disk_event *event,
		    uint32_t disk, size_t segment)
{
	struct host_disks *disks = reading->disks;
	const struct waiting *waiting = take_waiting(reading, place);
	struct host_disk_request request = {
		.issue_ns = event->time_ns, .end_ns = HOST_DISK_NO_TIME, .queue_ns = VIRT_NONE,
		.sector = event->sector, .bytes = event->bytes, .seek_bytes = VIRT_NONE,
		.disk = disk, .pid = event->pid, .interrupts = VIRT_NONE,
		.operation = event->operation,
	};

	if (waiting && waiting->segment == segment) {
		request.pid = waiting->pid;
		if (!record_gaps_is_gap(segment) && !waiting->is_vague)
			request.queue_ns = event->time_ns - waiting->time_ns;
	}
	if (disks->n >= UINT32_MAX - 1 || ARRAY_GROW(disks->requests, disks->n, disks->room) ||
	    ARRAY_GROW(reading->flights, disks->n, reading->room_flights))
		return -ENOMEM;
	disks->requests[disks->n] = request;
	reading->flights[disks->n] = (struct flight){
		.segment = segment, .bytes_left = (uint64_t)event->sectors * SECTOR,
	};
	put_flying(reading, place, (uint32_t)disks->n++);
	event->request = (uint32_t)disks->n;
	return 0;
}

/** A request that the trace does not show to begin is in flight up to here. */
static int add_foreign(struct reading *reading, const struct disk_event *event, uint32_t disk,
		       size_t segment)
{
	int64_t i = KEY_MAP_ELEMENT(&reading->foreign_map, (uint64_t)segment << 32 | disk,
				    reading->foreign, reading->room_foreign);

	if (i < 0)
		return -ENOMEM;
	reading->foreign[i] += !event->is_part;
	return 0;
}

/** The latest one at a place leaves it. Return: its number + 1; 0: there is none. */
static uint32_t take_flying(struct reading *reading, struct place *place)
{
	uint32_t request = place->flying;

	if (request)
		place->flying = reading->flights[request - 1].next;
	return request;
}

static int on_complete(struct reading *reading, struct place *place, struct disk_event *event,
		       uint32_t disk, size_t segment)
{
	struct host_disks *disks = reading->disks;
	uint64_t bytes = (uint64_t)event->sectors * SECTOR;
	uint32_t number = take_flying(reading, place);
	struct host_disk_request *request = number ? &disks->requests[number - 1] : NULL;
	struct flight *flight = number ? &reading->flights[number - 1] : NULL;

	/* an empty write ends with the flush in front of it, and the disk has only that */
	if (!request && !event->sectors && event->operation != HOST_DISK_FLUSH) {
		event->is_part = true;
		return 0;
	}
	if (!request) {
		int ret = add_moment(disks, event->time_ns, disk, HOST_DISK_FOREIGN_END);

		return ret ? ret : add_foreign(reading, event, disk, segment);
	}
	request->has_failed |= event->has_failed;
	flight->bytes_left -= bytes < flight->bytes_left ? bytes : flight->bytes_left;
	if (flight->bytes_left && bytes) {
		event->is_part = true;
		place = place_of(reading, disk, event->sector + event->sectors);
		if (!place)
			return -ENOMEM;
		put_flying(reading, place, number - 1);
		return 0;
	}
	if (flight->segment != segment)
		return add_foreign(reading, event, disk, segment);
	if (!record_gaps_is_gap(segment) && !flight->is_vague)
		request->end_ns = event->time_ns;
	return 0;
}

/** The disk gives a request back, which waits again from the beginning of its first wait on. */
static int on_requeue(struct reading *reading, struct place *place, struct disk_event *event,
		      size_t segment)
{
	uint32_t number = take_flying(reading, place);
	struct host_disk_request *request = number ? &reading->disks->requests[number - 1] : NULL;
	struct waiting waiting = {
		.time_ns = event->time_ns, .segment = segment, .pid = event->pid,
		.was_issued = true, .is_vague = !number,
	};

	if (request) {
		waiting.pid = request->pid;
		waiting.is_vague = reading->flights[number - 1].segment != segment;
		event->request = waiting.is_vague ? 0 : number;
		waiting.time_ns = request->issue_ns -
				  (request->queue_ns != VIRT_NONE ? request->queue_ns : 0);
		/* it was none that the disk has worked at */
		request->disk = UINT32_MAX;
	}
	return put_waiting(reading, place, waiting);
}

/** A request in a queue begins earlier on the disk than before. */
static int on_merge_before(struct reading *reading, uint32_t disk, const struct disk_event *event)
{
	struct place *place = place_of(reading, disk, event->sector + event->sectors);
	const struct waiting *waiting = place ? take_waiting(reading, place) : NULL;

	if (!place || !waiting)
		return place ? 0 : -ENOMEM;
	place = place_of(reading, disk, event->sector);
	return place ? put_waiting(reading, place, *waiting) : -ENOMEM;
}

static int take_event(struct reading *reading, struct disk_event *event, size_t segment)
{
	int64_t disk = disk_of(reading->disks, event->device);
	struct place *place = disk < 0 ? NULL : place_of(reading, (uint32_t)disk, event->sector);
	int ret = 0;

	if (!place)
		return -ENOMEM;
	switch ((enum disk_event_kind)event->kind) {
	case DISK_INSERT:
		return on_insert(reading, place, event, segment);
	case DISK_ISSUE:
		return on_issue(reading, place, event, (uint32_t)disk, segment);
	case DISK_REQUEUE:
		return on_requeue(reading, place, event, segment);
	case DISK_COMPLETE:
		return on_complete(reading, place, event, (uint32_t)disk, segment);
	case DISK_MERGE_BEFORE:
		ret = on_merge_before(reading, (uint32_t)disk, event);
		break;
	case DISK_MERGE_REQUEST:
		take_waiting(reading, place);
		break;
	case DISK_MERGE_AFTER:
	case DISK_N_KINDS:
		break;
	}
	return ret ? ret : add_moment(reading->disks, event->time_ns, (uint32_t)disk,
				      HOST_DISK_MERGE);
}

/* --- depth and place ------------------------------------------------------------------------- */

/** A disk in a segment, with the requests in flight that end later in it. */
static struct head *head_of(struct reading *reading, uint32_t disk, size_t segment)
{
	struct head *head = &reading->heads[disk];
	int64_t foreign;

	if (head->is_known && head->segment == segment)
		return head;
	foreign = key_map_find(&reading->foreign_map, (uint64_t)segment << 32 | disk);
	*head = (struct head){
		.segment = segment, .sector = NO_SECTOR(0), .is_known = true,
		.flying = foreign < 0 ? 0 : reading->foreign[foreign],
	};
	return head;
}

/** Where it is, and whose request came before it. Return: 0 or -ENOMEM. */
static int find_place(struct reading *reading, struct head *head,
		      struct host_disk_request *request, size_t segment)
{
	uint64_t end = request->sector + request->bytes / SECTOR;
	int64_t i = KEY_MAP_ELEMENT(&reading->task_map, (uint64_t)request->disk << 32 |
				    (uint32_t)request->pid, reading->tasks, reading->room_tasks);
	struct head *own;

	if (i < 0)
		return -ENOMEM;
	own = &reading->tasks[i];
	if (IS_SECTOR(head->sector)) {
		uint64_t apart = request->sector > head->sector ? request->sector - head->sector :
								  head->sector - request->sector;

		request->seek_bytes = apart > INT64_MAX / SECTOR ? INT64_MAX :
								   (int64_t)(apart * SECTOR);
		if (apart && head->pid != request->pid && own->is_known &&
		    own->segment == segment && own->sector == request->sector)
			request->interrupts = head->pid;
	}
	*own = (struct head){ .segment = segment, .sector = end, .is_known = true };
	head->sector = end;
	head->pid = request->pid;
	return 0;
}

static bool has_place(const struct host_disk_request *request)
{
	return IS_SECTOR(request->sector) && (request->operation == HOST_DISK_READ ||
						request->operation == HOST_DISK_WRITE);
}

/** Go through the events once more, now that it is known which ends belong to what. */
static int find_depths(struct reading *reading)
{
	struct host_disks *disks = reading->disks;

	record_gaps_rewind(&reading->gaps);
	for (size_t i = 0; i < reading->n_events; i++) {
		const struct disk_event *event = &reading->events[i];
		size_t segment = record_gaps_segment(&reading->gaps, event->time_ns);
		struct host_disk_request *request;
		struct head *head;

		if (record_gaps_is_gap(segment))
			continue;
		head = head_of(reading, (uint32_t)key_map_find(&disks->disk_map, event->device),
			       segment);
		if (event->kind == DISK_ISSUE) {
			request = &disks->requests[event->request - 1];
			request->depth = ++head->flying;
			if (request->disk != UINT32_MAX && has_place(request) &&
			    find_place(reading, head, request, segment))
				return -ENOMEM;
		} else if ((event->kind == DISK_COMPLETE && !event->is_part) ||
			   (event->kind == DISK_REQUEUE && event->request)) {
			head->flying -= head->flying > 0;
		}
	}
	return 0;
}

/** Requests that the disk has given back are none. */
static void drop_requeued(struct host_disks *disks)
{
	size_t n = 0;

	for (size_t i = 0; i < disks->n; i++)
		if (disks->requests[i].disk != UINT32_MAX)
			disks->requests[n++] = disks->requests[i];
	disks->n = n;
}

/* --- all ------------------------------------------------------------------------------------- */

static bool has(const struct reading *reading, enum disk_event_kind kind)
{
	return reading->seen >> kind & 1 ||
	       kvm_trace_has_enabled(reading->trace, "block", event_names[kind]);
}

static int match(struct reading *reading)
{
	struct host_disks *disks = reading->disks;
	int ret = 0;

	disks->known = has(reading, DISK_ISSUE) && has(reading, DISK_COMPLETE);
	disks->knows_queues = has(reading, DISK_INSERT);
	disks->knows_merges = has(reading, DISK_MERGE_AFTER) && has(reading, DISK_MERGE_BEFORE);
	for (size_t i = 0; i < reading->n_events && disks->known && !ret; i++)
		ret = take_event(reading, &reading->events[i],
				 record_gaps_segment(&reading->gaps, reading->events[i].time_ns));
	if (ret || !disks->known)
		return ret;
	reading->heads = calloc((size_t)disks->disk_map.n_keys + 1, sizeof(*reading->heads));
	ret = reading->heads ? find_depths(reading) : -ENOMEM;
	drop_requeued(disks);
	return ret;
}

static void free_reading(struct reading *reading)
{
	key_map_destroy(&reading->sector_map);
	key_map_destroy(&reading->place_map);
	key_map_destroy(&reading->foreign_map);
	key_map_destroy(&reading->task_map);
	free(reading->kind_of);
	free(reading->events);
	record_gaps_free(&reading->gaps);
	free(reading->places);
	free(reading->waiting);
	free(reading->flights);
	free(reading->foreign);
	free(reading->heads);
	free(reading->tasks);
}

int host_disks_read(struct host_disks *disks, struct kvm_trace *trace,
		    int64_t (*time)(const void *arg, int64_t time_ns), const void *arg)
{
	struct reading reading = { .disks = disks, .trace = trace, .max_id = UINT16_MAX };
	const struct record_walk walk = {
		.wants = wants_event, .take = take_line, .arg = &reading,
		.time = time, .time_arg = arg,
	};
	int ret;

	*disks = (struct host_disks){ .n = 0 };
	reading.kind_of = calloc((size_t)reading.max_id + 1, 1);
	ret = reading.kind_of ? record_gaps_walk(&reading.gaps, trace, &walk) : -ENOMEM;
	if (!ret)
		ret = match(&reading);
	free_reading(&reading);
	return ret;
}

void host_disks_free(struct host_disks *disks)
{
	key_map_destroy(&disks->disk_map);
	free(disks->disks);
	free(disks->requests);
	free(disks->moments);
	*disks = (struct host_disks){ .n = 0 };
}
