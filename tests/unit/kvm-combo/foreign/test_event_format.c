// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_event_format.c
 * @brief	libtraceevent reads our formats and records, and has the values that we wrote.
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

#include <event-parse.h>

#include "event_format.h"
#include "kvm_fields.h"
#include "record_flags.h"

/** An event that libtraceevent knows, and one record. */
struct fixture {
	struct event_format format;
	struct event_record record;
	struct tep_handle *tep;
	struct tep_event *event;
};

static void begin(struct fixture *fixture, const char *name)
{
	memset(fixture, 0, sizeof(*fixture));
	event_format_init(&fixture->format, "kvm", name);
}

static int add(struct fixture *fixture, const char *name, enum event_field_kind kind, size_t size,
	       bool is_signed)
{
	int at = event_format_add(&fixture->format, name, kind, size, is_signed);

	assert_true(at >= 0);
	return at;
}

static void load(struct fixture *fixture)
{
	char *text = event_format_text(&fixture->format, 300);

	assert_non_null(text);
	fixture->tep = tep_alloc();
	assert_int_equal(tep_parse_event(fixture->tep, text, strlen(text), "kvm"), 0);
	fixture->event = tep_find_event_by_name(fixture->tep, "kvm", fixture->format.name);
	assert_non_null(fixture->event);
	assert_int_equal(fixture->event->id, 300);
	free(text);
}

static void end(struct fixture *fixture)
{
	event_format_destroy(&fixture->format);
	tep_free(fixture->tep);
}

static unsigned long long read_back(struct fixture *fixture, const char *name)
{
	struct tep_format_field *field = tep_find_any_field(fixture->event, name);
	unsigned long long value;

	assert_non_null(field);
	assert_int_equal(tep_read_number_field(field, fixture->record.data, &value), 0);
	return value;
}

static const char *print(struct fixture *fixture, char *text, size_t size)
{
	struct tep_record record = {
		.data = fixture->record.data, .size = (int)fixture->record.size,
	};
	struct trace_seq seq;

	trace_seq_init(&seq);
	tep_print_event(fixture->tep, &seq, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&seq);
	snprintf(text, size, "%s", seq.buffer);
	trace_seq_destroy(&seq);
	return text;
}

static void test_numbers(void **state)
{
	static const size_t sizes[] = { 1, 8, 2, 4 };
	struct fixture fixture;
	char text[200];

	(void)state;
	begin(&fixture, "numbers");
	for (size_t i = 0; i < 4; i++) {
		char name[8];

		snprintf(name, sizeof(name), "u%zu", sizes[i]);
		add(&fixture, name, EVENT_NUMBER, sizes[i], false);
		snprintf(name, sizeof(name), "s%zu", sizes[i]);
		add(&fixture, name, EVENT_NUMBER, sizes[i], true);
	}
	load(&fixture);
	event_record_begin(&fixture.record, &fixture.format, 300, RECORD_IN_HARDIRQ, -7);
	for (size_t i = 0; i < 4; i++) {
		event_record_number(&fixture.record, &fixture.format.fields[2 * i],
				    0x1122334455667788 + i);
		event_record_number(&fixture.record, &fixture.format.fields[2 * i + 1],
				    (uint64_t)-3);
	}
	assert_int_equal(read_back(&fixture, "common_type"), 300);
	assert_int_equal(read_back(&fixture, "common_flags"), 8);
	assert_int_equal((int)read_back(&fixture, "common_pid"), -7);
	assert_int_equal(read_back(&fixture, "u1"), 0x88);
	assert_int_equal(read_back(&fixture, "u8"), 0x1122334455667789);
	assert_int_equal(read_back(&fixture, "u2"), 0x778a);
	assert_int_equal(read_back(&fixture, "u4"), 0x5566778b);
	/* libtraceevent prints numbers of 1 and 2 bytes without their sign */
	assert_string_equal(print(&fixture, text, sizeof(text)),
			    "u1=136 s1=253 u8=1234605616436508553 s8=-3 u2=30602 s2=65533 "
			    "u4=1432778635 s4=-3");
	end(&fixture);
}

static void test_texts(void **state)
{
	struct fixture fixture;
	int comm, name, numbers;
	char text[200];
	size_t n;

	(void)state;
	begin(&fixture, "texts");
	comm = add(&fixture, "comm", EVENT_COMM, 1, false);
	name = add(&fixture, "name", EVENT_TEXT, 1, false);
	numbers = add(&fixture, "val", EVENT_NUMBERS, 2, false);
	load(&fixture);
	event_record_begin(&fixture.record, &fixture.format, 300, 0, 1);
	event_record_text(&fixture.record, &fixture.format.fields[comm], "a name of 20 bytes..",
			  20);
	event_record_text(&fixture.record, &fixture.format.fields[name], "eth0", 4);
	n = event_record_numbers(&fixture.record, &fixture.format.fields[numbers], 3);
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++)
		event_record_element(&fixture.record, &fixture.format.fields[numbers], i,
				     0x100 + i);
	assert_string_equal(print(&fixture, text, sizeof(text)),
			    "comm=a name of 20 by name=eth0 val=00 01 01 01 02 01");
	end(&fixture);
}

/** A value without room is cut, and the record stays within its bounds. */
static void test_room(void **state)
{
	static char longest[2 * EVENT_MOST_BYTES];
	struct fixture fixture;
	char name[16];
	int ret, first, last;

	(void)state;
	begin(&fixture, "room");
	first = add(&fixture, "first", EVENT_TEXT, 1, false);
	last = add(&fixture, "last", EVENT_NUMBERS, 8, false);
	memset(longest, 'x', sizeof(longest));
	event_record_begin(&fixture.record, &fixture.format, 300, 0, 1);
	event_record_text(&fixture.record, &fixture.format.fields[first], longest,
			  sizeof(longest));
	assert_int_equal(fixture.record.size, EVENT_MOST_BYTES);
	assert_int_equal(event_record_numbers(&fixture.record, &fixture.format.fields[last], 9), 0);
	event_record_begin(&fixture.record, &fixture.format, 300, 0, 1);
	assert_int_equal(event_record_numbers(&fixture.record, &fixture.format.fields[last],
					      SIZE_MAX / 2),
			 (EVENT_MOST_BYTES - 16) / 8);
	assert_true(fixture.record.size <= EVENT_MOST_BYTES);
	assert_int_equal(event_format_add(&fixture.format, "odd", EVENT_NUMBER, 3, false), -EINVAL);
	for (int i = 0; ; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		ret = event_format_add(&fixture.format, name, EVENT_NUMBER, 8, false);
		if (ret < 0)
			break;
	}
	assert_int_equal(ret, -E2BIG);
	assert_int_equal(fixture.format.n, EVENT_MOST_FIELDS);
	event_format_destroy(&fixture.format);
}

/** Names may be anything in a file. */
static void test_names(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture, "a b\nname: c;");
	add(&fixture, "x;\toffset:0;", EVENT_NUMBER, 4, false);
	add(&fixture, "3", EVENT_NUMBER, 4, false);
	add(&fixture, "3", EVENT_NUMBER, 4, false);
	add(&fixture, "", EVENT_NUMBER, 4, false);
	load(&fixture);
	assert_string_equal(fixture.format.name, "a_b_name__c_");
	assert_string_equal(fixture.format.fields[0].name, "x__offset_0_");
	assert_string_equal(fixture.format.fields[1].name, "_3");
	assert_string_equal(fixture.format.fields[2].name, "_3_2");
	event_record_begin(&fixture.record, &fixture.format, 300, 0, 1);
	event_record_number(&fixture.record, &fixture.format.fields[2], 17);
	assert_int_equal(read_back(&fixture, "_3_2"), 17);
	assert_int_equal(event_format_find(&fixture.format, "_3_2"), 2);
	assert_int_equal(event_format_find(&fixture.format, "none"), -1);
	end(&fixture);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
