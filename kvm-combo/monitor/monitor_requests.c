// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	monitor_requests.c
 * @brief	Collect the requests to a monitor's devices, and the time that each took.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "key_map.h"
#include "monitor_events.h"
#include "monitor_requests.h"

/** Bytes of a sector, whatever the disk's are. */
#define SECTOR		512

/** More sectors than that is no request. */
#define MAX_SECTORS	(UINT64_C(1) << 40)

/** A request that may go on. */
struct open_request {
	uint32_t	request;	/* index + 1; 0: there is none */
	bool		by_queue;	/* its end is where it goes back to its queue */
};

/** While a trace is gone through. */
struct making {
	struct monitor_requests *to;
	const struct monitor_trace *trace;
	enum monitor_kind *kinds;	/* by event */
	struct key_map	owners;		/* queues */
	uint64_t	*owner_of;	/* their devices */
	uint32_t	room_owners;
	struct key_map	names;		/* devices */
	struct monitor_device *name_of;	/* what they are called */
	uint32_t	room_names;
	struct key_map	devices;	/* devices, queues, pools and regions */
	uint32_t	*device_of;	/* indices in @to */
	uint32_t	room_devices;
	struct key_map	open;		/* requests, by pointer */
	struct open_request *open_of;
	uint32_t	room_open;
};

static const char *const operation_names[MONITOR_N_OPS] = {
	[MONITOR_OP_OTHER] = "request", [MONITOR_OP_READ] = "read", [MONITOR_OP_WRITE] = "write",
	[MONITOR_OP_WORK] = "work",
};

const char *monitor_operation_name(enum monitor_operation operation)
{
	return operation_names[operation];
}

/** As linux/kvm.h numbers them. */
static const char *const exit_names[] = {
	"UNKNOWN", "EXCEPTION", "IO", "HYPERCALL", "DEBUG", "HLT", "MMIO", "IRQ_WINDOW_OPEN",
	"SHUTDOWN", "FAIL_ENTRY", "INTR", "SET_TPR", "TPR_ACCESS", "S390_SIEIC", "S390_RESET",
	"DCR", "NMI", "INTERNAL_ERROR", "OSI", "PAPR_HCALL", "S390_UCONTROL", "WATCHDOG",
	"S390_TSCH", "EPR", "SYSTEM_EVENT", "S390_STSI", "IOAPIC_EOI", "HYPERV", "ARM_NISV",
	"X86_RDMSR", "X86_WRMSR", "DIRTY_RING_FULL", "AP_RESET_HOLD", "X86_BUS_LOCK", "XEN",
};

const char *monitor_exit_name(int32_t reason)
{
	return reason >= 0 && reason < (int32_t)ARRAY_SIZE(exit_names) ? exit_names[reason] : NULL;
}

/* --- devices --------------------------------------------------------------------------------- */

/** The last that an event says of whose queue one is. Return: 0 or -ENOMEM. */
static int note_owner(struct making *making, uint64_t queue, uint64_t device)
{
	int64_t i = KEY_MAP_ELEMENT(&making->owners, queue, making->owner_of, making->room_owners);

	if (i < 0)
		return -ENOMEM;
	making->owner_of[i] = device;
	return 0;
}

/** @sure: what the monitor calls it; else only what it must be, which is no more than that. */
static int note_name(struct making *making, uint64_t device, const char *name, size_t n, bool sure)
{
	int64_t i = KEY_MAP_ELEMENT(&making->names, device, making->name_of, making->room_names);

	if (i < 0)
		return -ENOMEM;
	if (sure || !making->name_of[i].name)
		making->name_of[i] = (struct monitor_device){ device, name, n, false };
	return 0;
}

/** Note devices from events that may come at any time, also after the device's requests. */
static int note_devices(struct making *making, const struct monitor_args *args)
{
	static const char disk[] = "virtio-blk";

	switch (args->kind) {
	case MONITOR_QUEUE:
		return note_owner(making, args->value[2], args->value[0]);
	case MONITOR_OWNER:
		return note_owner(making, args->value[1], args->value[0]);
	case MONITOR_BLOCK_READ:
	case MONITOR_BLOCK_WRITE:
	case MONITOR_BLOCK_DONE:
		return note_name(making, args->value[0], disk, strlen(disk), false);
	case MONITOR_NAME:
		return note_name(making, args->value[0], args->text, args->n_text, true);
	default:
		return 0;
	}
}

static int32_t add_device(struct making *making, uint64_t pointer, const char *name, size_t n,
			  bool is_region)
{
	struct monitor_requests *to = making->to;
	int64_t i = KEY_MAP_ELEMENT(&making->devices, pointer, making->device_of,
				    making->room_devices);

	if (i < 0)
		return MONITOR_NONE;
	if (making->device_of[i])
		return (int32_t)making->device_of[i] - 1;
	if (ARRAY_GROW(to->devices, to->n_devices, to->room_devices))
		return MONITOR_NONE;
	to->devices[to->n_devices++] = (struct monitor_device){ pointer, name, n, is_region };
	making->device_of[i] = (uint32_t)to->n_devices;
	return (int32_t)to->n_devices - 1;
}

/** The device of a pointer, or of a queue's pointer; MONITOR_NONE without memory. */
static int32_t find_device(struct making *making, uint64_t pointer, bool is_queue)
{
	static const char queue[] = "virtio queue", device[] = "device";
	int64_t owner = is_queue ? key_map_find(&making->owners, pointer) : -1, name;

	if (owner >= 0)
		pointer = making->owner_of[owner];
	name = key_map_find(&making->names, pointer);
	if (name >= 0)
		return add_device(making, pointer, making->name_of[name].name,
				  making->name_of[name].n_name, false);
	return is_queue && owner < 0 ? add_device(making, pointer, queue, strlen(queue), false) :
	       add_device(making, pointer, device, strlen(device), false);
}

/* --- requests -------------------------------------------------------------------------------- */

static struct open_request *find_open(struct making *making, uint64_t pointer)
{
	int64_t i = KEY_MAP_ELEMENT(&making->open, pointer, making->open_of, making->room_open);

	return i < 0 ? NULL : &making->open_of[i];
}

/** One that goes on; NULL if there is none. */
static struct monitor_request *request_of(struct making *making, const struct open_request *open)
{
	struct monitor_request *request = open->request ?
		&making->to->requests[open->request - 1] : NULL;

	return request && !request->done ? request : NULL;
}

/** Whatever was there at this pointer before has been lost. Return: 0 or -ENOMEM. */
static int begin_request(struct making *making, const struct monitor_record *record,
			 struct open_request *open, int32_t device, uint8_t operation)
{
	struct monitor_requests *to = making->to;

	if (device == MONITOR_NONE || ARRAY_GROW(to->requests, to->n_requests, to->room_requests))
		return -ENOMEM;
	to->requests[to->n_requests++] = (struct monitor_request){
		.begin_ns = record->time_ns, .begin_thread = record->thread,
		.end_thread = MONITOR_NONE, .device = device, .operation = operation,
	};
	open->request = (uint32_t)to->n_requests;
	return 0;
}

/** Return: 0 or -ENOMEM. */
static int take_pop(struct making *making, const struct monitor_record *record,
		    const struct monitor_args *args)
{
	struct open_request *open = find_open(making, args->value[1]);

	if (!open)
		return -ENOMEM;
	open->by_queue = true;
	return begin_request(making, record, open, find_device(making, args->value[0], true),
			     MONITOR_OP_OTHER);
}

/** A disk says what a request is; if no device has submitted it before, it begins here. */
static int take_block(struct making *making, const struct monitor_record *record,
		      const struct monitor_args *args)
{
	struct open_request *open = find_open(making, args->value[1]);
	struct monitor_request *request = open ? request_of(making, open) : NULL;
	uint8_t operation = args->kind == MONITOR_BLOCK_READ ? MONITOR_OP_READ : MONITOR_OP_WRITE;
	int ret = 0;

	if (!open)
		return -ENOMEM;
	if (!request || request->operation != MONITOR_OP_OTHER) {
		open->by_queue = false;
		ret = begin_request(making, record, open,
				    find_device(making, args->value[0], false), operation);
		request = ret ? NULL : request_of(making, open);
	}
	if (request) {
		request->operation = operation;
		request->bytes = args->value[3] < MAX_SECTORS ? args->value[3] * SECTOR : 0;
	}
	return ret;
}

static int take_work(struct making *making, const struct monitor_record *record,
		     const struct monitor_args *args)
{
	static const char pool[] = "worker threads";
	struct open_request *open = find_open(making, args->value[1]);

	if (!open)
		return -ENOMEM;
	open->by_queue = false;
	return begin_request(making, record, open,
			     add_device(making, args->value[0], pool, strlen(pool), false),
			     MONITOR_OP_WORK);
}

/** @of_queue: it goes back there, which is the last that one hears of it. */
static int take_end(struct making *making, const struct monitor_record *record,
		    const struct monitor_args *args, bool of_queue)
{
	struct open_request *open = find_open(making, args->value[1]);
	struct monitor_request *request = open ? request_of(making, open) : NULL;

	if (!open)
		return -ENOMEM;
	if (!request || (of_queue && !open->by_queue)) {
		/* the device's own event for an end that its queue records as well */
		making->to->ends_alone += !(of_queue && open->request);
		return 0;
	}
	if (open->by_queue && !of_queue)
		return 0;
	request->done = true;
	request->end_ns = record->time_ns;
	request->end_thread = record->thread;
	if (of_queue && request->operation == MONITOR_OP_OTHER)
		request->bytes = args->value[2];
	return 0;
}

/* --- vCPUs ----------------------------------------------------------------------------------- */

static int32_t cpu_of(uint64_t value)
{
	return value <= INT32_MAX ? (int32_t)value : MONITOR_NONE;
}

static int take_access(struct making *making, const struct monitor_record *record,
		       const struct monitor_args *args)
{
	struct monitor_requests *to = making->to;
	int32_t device = add_device(making, args->value[1], args->text, args->n_text, true);

	if (device == MONITOR_NONE || ARRAY_GROW(to->accesses, to->n_accesses, to->room_accesses))
		return -ENOMEM;
	to->accesses[to->n_accesses++] = (struct monitor_access){
		.time_ns = record->time_ns, .thread = record->thread, .device = device,
		.cpu = cpu_of(args->value[0]), .address = args->value[2],
		.operation = args->kind == MONITOR_READ ? MONITOR_OP_READ : MONITOR_OP_WRITE,
		.bytes = (uint8_t)(args->value[4] <= UINT8_MAX ? args->value[4] : 0),
	};
	return 0;
}

static int take_exit(struct making *making, const struct monitor_record *record,
		     const struct monitor_args *args)
{
	struct monitor_requests *to = making->to;

	if (ARRAY_GROW(to->exits, to->n_exits, to->room_exits))
		return -ENOMEM;
	to->exits[to->n_exits++] = (struct monitor_exit){
		.time_ns = record->time_ns, .thread = record->thread,
		.cpu = cpu_of(args->value[0]), .reason = (int32_t)args->value[1],
	};
	return 0;
}

/* --- all of it ------------------------------------------------------------------------------- */

static int take(struct making *making, const struct monitor_record *record,
		const struct monitor_args *args)
{
	switch (args->kind) {
	case MONITOR_POP:
		return take_pop(making, record, args);
	case MONITOR_FILL:
		return take_end(making, record, args, true);
	case MONITOR_BLOCK_READ:
	case MONITOR_BLOCK_WRITE:
		return take_block(making, record, args);
	case MONITOR_BLOCK_DONE:
	case MONITOR_WORK_DONE:
		return take_end(making, record, args, false);
	case MONITOR_WORK:
		return take_work(making, record, args);
	case MONITOR_READ:
	case MONITOR_WRITE:
		return take_access(making, record, args);
	case MONITOR_RUN_EXIT:
		return take_exit(making, record, args);
	default:
		return 0;
	}
}

/** Return: 0 or -ENOMEM. @second: all devices are known by now */
static int each_event(struct making *making, bool second)
{
	size_t n;
	const struct monitor_record *records = monitor_trace_records(making->trace, &n);
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		struct monitor_args args;

		if (making->kinds[records[i].event] == MONITOR_NOTHING)
			continue;
		if (!monitor_args_of(making->trace, &records[i], &args))
			making->to->odd += second;
		else
			ret = second ? take(making, &records[i], &args) :
			      note_devices(making, &args);
	}
	return ret;
}

int monitor_requests_make(struct monitor_requests *requests, const struct monitor_trace *trace)
{
	uint32_t n = monitor_trace_n_events(trace);
	struct making making = {
		.to = requests, .trace = trace, .kinds = calloc((size_t)n + 1,
								 sizeof(*making.kinds)),
	};
	int ret = making.kinds ? 0 : -ENOMEM;

	*requests = (struct monitor_requests){ 0 };
	for (uint32_t i = 0; i < n && !ret; i++)
		making.kinds[i] = monitor_event_kind(monitor_trace_event(trace, i));
	if (!ret)
		ret = each_event(&making, false);
	if (!ret)
		ret = each_event(&making, true);
	key_map_destroy(&making.owners);
	key_map_destroy(&making.names);
	key_map_destroy(&making.devices);
	key_map_destroy(&making.open);
	free(making.owner_of);
	free(making.name_of);
	free(making.device_of);
	free(making.open_of);
	free(making.kinds);
	return ret;
}

void monitor_requests_free(struct monitor_requests *requests)
{
	free(requests->devices);
	free(requests->requests);
	free(requests->accesses);
	free(requests->exits);
	*requests = (struct monitor_requests){ 0 };
}
