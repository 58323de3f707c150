// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_monitor_requests.c
 * @brief	Requests to devices, from their begin to their end: timelines by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitor_requests.h"

static struct monitor_trace *trace;
static struct monitor_requests requests;

/** Lines without the second, which is 1. */
static void make(const char *const *lines, size_t n)
{
	char *text = NULL, error[256] = "";
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (size_t i = 0; i < n; i++) {
		const char *at = strchr(lines[i], '@');

		fprintf(out, "%.*s@1.%s\n", (int)(at - lines[i]), lines[i], at + 1);
	}
	fclose(out);
	if (monitor_trace_take("q.log", text, size, &trace, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(monitor_requests_make(&requests, trace), 0);
}

#define MAKE(lines)	make(lines, sizeof(lines) / sizeof((lines)[0]))

static int end_test(void **state)
{
	(void)state;
	monitor_requests_free(&requests);
	monitor_trace_free(trace);
	trace = NULL;
	return 0;
}

#define SECOND	1000000000

/** @end: -1 if it is not there */
static void check(size_t i, const char *device, enum monitor_operation operation, int64_t begin,
		  int64_t end, uint64_t bytes)
{
	const struct monitor_request *request = &requests.requests[i];
	const struct monitor_device *of;

	assert_true(i < requests.n_requests);
	of = &requests.devices[request->device];
	assert_int_equal(of->n_name, strlen(device));
	assert_memory_equal(of->name, device, of->n_name);
	assert_int_equal(request->operation, operation);
	assert_int_equal(request->begin_ns, SECOND + begin * 1000);
	assert_int_equal(request->done, end >= 0);
	if (end >= 0)
		assert_int_equal(request->end_ns, SECOND + end * 1000);
	assert_int_equal(request->bytes, bytes);
}

/** Out of its queue, to its disk, and back; a later record shows whose queue it is. */
static void test_disk(void **state)
{
	static const char *const lines[] = {
		"5@000000:resettable_phase_enter_begin obj=0xd1(virtio-blk-device) count=0 type=0",
		"7@000010:virtqueue_pop vq 0xa1 elem 0xe1 in_num 2 out_num 1",
		"7@000012:virtio_blk_handle_read vdev 0xd1 req 0xe1 sector 8 nsectors 4",
		"7@000013:virtqueue_pop vq 0xa1 elem 0xe2 in_num 1 out_num 2",
		"7@000014:virtio_blk_handle_write vdev 0xd1 req 0xe2 sector 8 nsectors 1",
		"8@000030:virtio_blk_req_complete vdev 0xd1 req 0xe2 status 0",
		"8@000031:virtqueue_fill vq 0xa1 elem 0xe2 len 1 idx 0",
		"8@000040:virtio_blk_req_complete vdev 0xd1 req 0xe1 status 0",
		"8@000042:virtqueue_fill vq 0xa1 elem 0xe1 len 2049 idx 0",
		"8@000043:virtio_notify_irqfd vdev 0xd1 vq 0xa1",
		"7@000050:virtqueue_pop vq 0xa1 elem 0xe1 in_num 2 out_num 1",
	};

	(void)state;
	MAKE(lines);
	assert_int_equal(requests.n_requests, 3);
	check(0, "virtio-blk-device", MONITOR_OP_READ, 10, 42, 2048);
	check(1, "virtio-blk-device", MONITOR_OP_WRITE, 13, 31, 512);
	check(2, "virtio-blk-device", MONITOR_OP_OTHER, 50, -1, 0);
	assert_int_equal(requests.requests[0].begin_thread, 7);
	assert_int_equal(requests.requests[0].end_thread, 8);
	assert_int_equal(requests.n_devices, 1);
	assert_int_equal(requests.devices[0].pointer, 0xd1);
	assert_int_equal(requests.ends_alone, 0);
	assert_int_equal(requests.odd, 0);
}

/** Only what the disk says of it. */
static void test_disk_alone(void **state)
{
	static const char *const lines[] = {
		"8@000005:virtio_blk_req_complete vdev 0xd1 req 0xe9 status 0",
		"7@000012:virtio_blk_handle_read vdev 0xd1 req 0xe1 sector 8 nsectors 8",
		"8@000040:virtio_blk_req_complete vdev 0xd1 req 0xe1 status 0",
		"8@000041:virtio_blk_req_complete vdev 0xd1 req 0xe1 status 0",
		"7@000050:virtio_blk_handle_read vdev 0xd1 req 0xe1 sector 8 nsectors 8",
		("7@000060:virtio_blk_handle_read vdev 0xd1 req 0xe1 sector 8 "
		 "nsectors 18446744073709551615"),
		"8@000070:virtio_blk_req_complete vdev 0xd1 req 0xe1 status 0",
		"8@000071:virtqueue_fill vq 0xa1 elem 0xe1 len 2049 idx 0",
	};

	(void)state;
	MAKE(lines);
	assert_int_equal(requests.n_requests, 3);
	check(0, "virtio-blk", MONITOR_OP_READ, 12, 40, 4096);
	/* its end was lost */
	check(1, "virtio-blk", MONITOR_OP_READ, 50, -1, 4096);
	/* too large to be true */
	check(2, "virtio-blk", MONITOR_OP_READ, 60, 70, 0);
	assert_int_equal(requests.ends_alone, 2);
}

/** Queues without an owner, two devices of one name, work of threads. */
static void test_others(void **state)
{
	static const char *const lines[] = {
		"7@000010:virtqueue_pop vq 0xa1 elem 0xe1 in_num 2 out_num 0",
		"7@000011:virtqueue_fill vq 0xa1 elem 0xe1 len 98 idx 0",
		"7@000012:virtqueue_pop vq 0xa2 elem 0xe2 in_num 0 out_num 1",
		"7@000013:thread_pool_submit pool 0xb1 req 0xc1 opaque 0x1",
		"7@000014:thread_pool_submit_aio pool 0xb1 req 0xc2 opaque 0x1",
		"7@000019:virtqueue_fill vq 0xa2 elem 0xe2 len 0 idx 0",
		"7@000020:thread_pool_complete_aio pool 0xb1 req 0xc2 opaque 0x1 ret -5",
		"7@000022:thread_pool_complete pool 0xb1 req 0xc1 opaque (nil) ret 0",
		"7@000023:virtio_queue_notify vdev 0xd2 n 0 vq 0xa2",
		"7@000030:virtqueue_fill vq 0xa2 elem 0xe7 len 0 idx 0",
		"7@000031:virtqueue_fill vq 0xa2 elem nonsense",
	};

	(void)state;
	MAKE(lines);
	assert_int_equal(requests.n_requests, 4);
	check(0, "virtio queue", MONITOR_OP_OTHER, 10, 11, 98);
	check(1, "device", MONITOR_OP_OTHER, 12, 19, 0);
	check(2, "worker threads", MONITOR_OP_WORK, 13, 22, 0);
	check(3, "worker threads", MONITOR_OP_WORK, 14, 20, 0);
	assert_int_equal(requests.n_devices, 3);
	assert_int_equal(requests.ends_alone, 1);
	assert_int_equal(requests.odd, 1);
}

static void test_vcpus(void **state)
{
	static const char *const lines[] = {
		"7@000010:kvm_run_exit cpu_index 1, reason 6",
		"7@000011:memory_region_ops_read cpu 1 mr 0x11 addr 0xfe0 value 0x0 size 4 "
		"name 'virtio-mmio'",
		"7@000020:kvm_run_exit cpu_index -1, reason -4",
		"7@000021:memory_region_ops_write cpu -1 mr 0x12 addr 0x3f8 value 0x41 size 1 "
		"name 'serial'",
		"7@000022:memory_region_ops_write cpu 1 mr 0x11 addr 0xfe0 value 0x41 size 300 "
		"name 'virtio-mmio'",
	};

	(void)state;
	MAKE(lines);
	assert_int_equal(requests.n_exits, 2);
	assert_int_equal(requests.exits[0].cpu, 1);
	assert_string_equal(monitor_exit_name(requests.exits[0].reason), "MMIO");
	assert_int_equal(requests.exits[1].cpu, MONITOR_NONE);
	assert_null(monitor_exit_name(requests.exits[1].reason));
	assert_null(monitor_exit_name(1000));
	assert_int_equal(requests.n_accesses, 3);
	assert_int_equal(requests.accesses[0].operation, MONITOR_OP_READ);
	assert_int_equal(requests.accesses[0].bytes, 4);
	assert_int_equal(requests.accesses[0].address, 0xfe0);
	assert_int_equal(requests.accesses[1].cpu, MONITOR_NONE);
	assert_int_equal(requests.accesses[2].bytes, 0);
	assert_int_equal(requests.accesses[2].device, requests.accesses[0].device);
	assert_int_equal(requests.n_devices, 2);
	assert_true(requests.devices[0].is_region);
	assert_string_equal(monitor_operation_name(MONITOR_OP_WRITE), "write");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_disk, end_test),
		cmocka_unit_test_teardown(test_disk_alone, end_test),
		cmocka_unit_test_teardown(test_others, end_test),
		cmocka_unit_test_teardown(test_vcpus, end_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
