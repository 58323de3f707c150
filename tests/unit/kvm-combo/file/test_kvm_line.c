// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_line.c
 * @brief	Records as text: packed and unpacked, in order of time, from a process of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kvm_line.h"
#include "kvm_trace.h"
#include "sample_file.h"

static uint64_t packed[KVM_LINE_MOST / 8 + 1], room[KVM_LINE_MOST / 8 + 1];

/* --- packed lines ---------------------------------------------------------------------------- */

static struct kvm_line example(struct kvm_line_fields *fields)
{
	static const struct kvm_line_field all[] = {
		{ .name = "pid", .value = UINT64_MAX, .is_signed = true },
		{ .name = "comm", .text = "a\"b\n" },
		{ .name = "empty", .text = "" },
		{ .name = "address", .value = UINT64_MAX - 1 },
	};

	fields->n = 0;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		kvm_line_add_field(fields, &all[i]);
	return (struct kvm_line){
		.key = -5, .missing = 7, .pid = 12, .next_pid = -1, .event = 300, .cpu = 3,
		.has_lost = 1, .has_name = 1, .name = { .pid = 12, .comm = "sh" },
		.info = "comm=sh", .info_size = 8, .fields = fields->bytes,
		.fields_size = (uint32_t)fields->n,
	};
}

static void comes_back(void **state)
{
	static struct kvm_line_fields fields;
	struct kvm_line line = example(&fields), again;
	struct kvm_line_field field;
	size_t size = kvm_line_size(&line), at = 0;

	(void)state;
	assert_int_equal(size % 8, 0);
	kvm_line_pack(&line, packed);
	assert_int_equal(kvm_line_unpack(packed, size, &again, room), size);
	assert_int_equal(again.key, -5);
	assert_int_equal(again.missing, 7);
	assert_int_equal(again.event, 300);
	assert_int_equal(again.cpu, 3);
	assert_string_equal(again.name.comm, "sh");
	assert_string_equal(again.info, "comm=sh");
	assert_true(kvm_line_field(&again, &at, &field));
	assert_string_equal(field.name, "pid");
	assert_null(field.text);
	assert_true(field.is_signed);
	assert_int_equal((int64_t)field.value, -1);
	assert_true(kvm_line_field(&again, &at, &field));
	assert_string_equal(field.text, "a\"b\n");
	assert_true(kvm_line_field(&again, &at, &field));
	assert_string_equal(field.text, "");
	assert_true(kvm_line_field(&again, &at, &field));
	assert_false(field.is_signed);
	assert_true(field.value == UINT64_MAX - 1);
	assert_false(kvm_line_field(&again, &at, &field));
}

static void refuses(void **state)
{
	static struct kvm_line_fields fields;
	const struct kvm_line good = example(&fields);
	struct kvm_line line, again;
	struct kvm_line_field field;
	size_t size = kvm_line_size(&good), at = 0;

	(void)state;
	kvm_line_pack(&good, packed);
	for (size_t cut = 0; cut < size; cut++)
		assert_int_equal(kvm_line_unpack(packed, cut, &again, room), 0);
#define REFUSE(change) do {								\
		line = good;								\
		change;									\
		memcpy(packed, &line, offsetof(struct kvm_line, info));			\
		assert_int_equal(kvm_line_unpack(packed, size, &again, room), 0);	\
	} while (0)
	REFUSE(line.cpu = -1);
	REFUSE(line.has_lost = 2);
	REFUSE(line.has_name = 2);
	REFUSE(line.info_size = KVM_LINE_INFO + 1);
	REFUSE(line.info_size = 7);
	REFUSE(line.info_size = UINT32_MAX);
	REFUSE(line.fields_size = (uint32_t)KVM_LINE_FIELDS + 8);
	REFUSE(line.fields_size -= 1);
	REFUSE(line.fields_size += 8);
	REFUSE(memset(line.name.comm, 'x', sizeof(line.name.comm)));
	/* fields that end beyond the line are no fields */
	line = good;
	for (size_t i = 8; i < 12; i++) {
		static struct kvm_line_fields other;

		other = fields;
		other.bytes[i] ^= 0xff;
		line.fields = other.bytes;
		at = 0;
		assert_false(kvm_line_field(&line, &at, &field));
	}
}

/** What has no room is left out; what is left is whole. */
static void is_limited(void **state)
{
	static struct kvm_line_fields fields;
	static char text[20000];
	struct kvm_line line = { .fields = fields.bytes };
	struct kvm_line_field field = { .name = "text", .text = text };
	size_t at = 0;
	int n = 0;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < 10; i++)
		kvm_line_add_field(&fields, &field);
	line.fields_size = (uint32_t)fields.n;
	while (kvm_line_field(&line, &at, &field)) {
		assert_string_equal(field.text, text);
		n++;
	}
	assert_int_equal(n, KVM_LINE_FIELDS / sizeof(text));
}

/* --- traces ---------------------------------------------------------------------------------- */

static struct kvm_trace *open_sample(const char *name)
{
	char error[512] = "";
	struct kvm_trace *trace = kvm_trace_open_apart(sample_path(name), error, sizeof(error));

	if (!trace)
		fail_msg("%s", error);
	return trace;
}

struct seen {
	uint64_t	n, sum;
	int64_t		begin_ns;
};

static int walk_record(void *arg, const struct kvm_trace_record *record)
{
	struct seen *seen = arg;

	seen->begin_ns = !seen->n || record->time_ns < seen->begin_ns ? record->time_ns :
			 seen->begin_ns;
	seen->n++;
	seen->sum += (uint64_t)record->time_ns * (uint64_t)(record->event + 7 * record->cpu +
							    (record->pid << 8));
	return 0;
}

static bool wants_entries(void *arg, int32_t event, const char *system, const char *name)
{
	(void)arg;
	(void)event;
	return !strcmp(system, "kvm") && !strcmp(name, "kvm_entry");
}

/** The records of a walk CPU by CPU, in order of time. */
static void same_records(void **state)
{
	struct kvm_trace *trace = open_sample("kvm-host.dat");
	const struct kvm_trace_lines all = { .from_ns = INT64_MIN };
	struct seen walked = { 0 }, lines = { 0 };
	struct kvm_trace_line line;
	int64_t last = INT64_MIN;
	int ret;

	(void)state;
	assert_int_equal(kvm_trace_walk(trace, walk_record, NULL, &walked), 0);
	assert_int_equal(kvm_trace_begin_lines(trace, &all), 0);
	while ((ret = kvm_trace_next_line(trace, &line)) > 0) {
		const struct kvm_trace_record record = {
			.time_ns = line.time_ns, .pid = line.pid, .cpu = line.cpu,
			.event = line.event,
		};

		assert_true(line.time_ns >= last);
		last = line.time_ns;
		assert_true(*line.info);
		walk_record(&lines, &record);
	}
	assert_int_equal(ret, 0);
	assert_true(walked.n > 30000);
	assert_int_equal(lines.n, walked.n);
	assert_true(lines.sum == walked.sum);
	assert_int_equal(kvm_trace_next_line(trace, &line), 0);
	/* the trace can be walked again, also when lines were not read to their end */
	assert_int_equal(kvm_trace_begin_lines(trace, &all), 0);
	assert_int_equal(kvm_trace_next_line(trace, &line), 1);
	assert_int_equal(line.time_ns, walked.begin_ns);
	kvm_trace_end_lines(trace);
	walked = (struct seen){ 0 };
	assert_int_equal(kvm_trace_walk(trace, walk_record, NULL, &walked), 0);
	assert_true(lines.sum == walked.sum);
	kvm_trace_close(trace);
}

/** Only what is wanted has a text; all records go by. */
static void some_texts(void **state)
{
	struct kvm_trace *trace = open_sample("kvm-host.dat");
	struct kvm_trace_lines some = { .from_ns = INT64_MIN, .wants = wants_entries };
	struct kvm_trace_line line;
	uint64_t n = 0, texts = 0, late = 0;
	int64_t middle = 0;

	(void)state;
	assert_int_equal(kvm_trace_begin_lines(trace, &some), 0);
	while (kvm_trace_next_line(trace, &line) > 0) {
		const char *name = kvm_trace_event(trace, line.event);

		assert_int_equal(*line.info != '\0', !strcmp(name, "kvm_entry"));
		texts += *line.info != '\0';
		if (++n == 20000)
			middle = line.time_ns;
		late += *line.info && n >= 20000;
	}
	assert_true(texts > 1000 && late > 100 && late < texts);
	some.from_ns = middle;
	n = texts = 0;
	assert_int_equal(kvm_trace_begin_lines(trace, &some), 0);
	while (kvm_trace_next_line(trace, &line) > 0) {
		n++;
		texts += *line.info && line.time_ns >= middle;
		/* a few more do no harm */
		assert_true(!*line.info || line.time_ns >= middle - 1000000);
	}
	assert_true(texts >= late);
	kvm_trace_close(trace);
}

/** A trace that this process reads itself has none. */
static void apart_only(void **state)
{
	const struct kvm_trace_lines all = { .from_ns = INT64_MIN };
	char path[512], error[512] = "";
	struct kvm_trace *trace;

	(void)state;
	snprintf(path, sizeof(path), "%s/samples/kvm-host.dat", getenv("KSV_SOURCE_DIR"));
	trace = kvm_trace_open(path, error, sizeof(error));
	assert_non_null(trace);
	assert_int_equal(kvm_trace_begin_lines(trace, &all), -ENOTSUP);
	kvm_trace_end_lines(trace);
	kvm_trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(refuses),
		cmocka_unit_test(is_limited),
		cmocka_unit_test(same_records),
		cmocka_unit_test(some_texts),
		cmocka_unit_test(apart_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
