/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Formats of events that are parsed when they are asked for are those that libtracecmd has parsed
 * at once: the same events, in the same order, with the same fields. What libtraceevent might
 * refuse is not kept.
 */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <trace-cmd.h>

#include "array.h"
#include "kvm_formats.h"
#include "kvm_source_private.h"
#include "open_source.h"
#include "kvm_trace_symbols.h"
#include "sample_file.h"

/* --- files ----------------------------------------------------------------------------------- */

static const char *const files[] = {
	"kvm-host.dat", "kvm-guest.dat", "kvm-hypercall.dat", "kvm-nested.dat", "kvm-shared.dat",
	"kvm-memory.dat", "waits-timer.dat", "dom0-ftrace.dat",
};

/** What libtraceevent learns about fields from how they are printed. */
#define BY_PRINT	(TEP_FIELD_IS_FLAG | TEP_FIELD_IS_SYMBOLIC)

static void compare_fields(const struct tep_format_field *a, const struct tep_format_field *b)
{
	for (; a && b; a = a->next, b = b->next) {
		assert_string_equal(a->type, b->type);
		assert_string_equal(a->name, b->name);
		assert_int_equal(a->offset, b->offset);
		assert_int_equal(a->size, b->size);
		assert_int_equal(a->flags & ~BY_PRINT, b->flags & ~BY_PRINT);
	}
	assert_ptr_equal(a, b);
}

/** Without libtraceevent, it is only known where fields are. */
static void compare_places(const struct tep_format_field *a, const struct tep_format_field *b)
{
	for (; a && b; a = a->next, b = b->next) {
		assert_string_equal(a->name, b->name);
		assert_int_equal(a->offset, b->offset);
		assert_int_equal(a->size, b->size);
		assert_int_equal(a->flags & TEP_FIELD_IS_ARRAY, b->flags & TEP_FIELD_IS_ARRAY);
	}
	assert_ptr_equal(a, b);
}

/** Events that are asked for by their name, of which libtraceevent parses few. */
static void compare_found(struct kvm_source *source, struct tep_handle *tep)
{
	int n = tep_get_events_count(tep), parsed = tep_get_events_count(source->tep);

	kvm_formats_use(source->formats);
	for (int i = 0; i < n; i++) {
		struct tep_event *wanted = tep_get_event(tep, i);
		struct tep_event *event = kvm_formats_find(source->tep, wanted->system,
							   wanted->name);

		if (!event)
			fail_msg("%s:%s", wanted->system, wanted->name);
		assert_int_equal(event->id, wanted->id);
		assert_string_equal(event->name, wanted->name);
		assert_ptr_equal(event->tep, source->tep);
		compare_places(event->format.common_fields, wanted->format.common_fields);
		compare_places(event->format.fields, wanted->format.fields);
		if (event->format.fields)
			assert_ptr_equal(event->format.fields->event, event);
		assert_ptr_equal(kvm_formats_find(source->tep, wanted->system, wanted->name),
				 event);
	}
	kvm_formats_use(NULL);
	/* mm_page_alloc says how it is printed */
	assert_in_range(tep_get_events_count(source->tep), parsed, parsed + 1);
}

static void compare_events(struct kvm_source *source, struct tep_handle *tep)
{
	const struct kvm_facts *facts = kvm_source_facts(source);

	assert_int_equal(facts->n_events, tep_get_events_count(tep));
	for (int32_t i = 0; i < facts->n_events; i++) {
		struct tep_event *wanted = tep_get_event(tep, i), *event;

		assert_int_equal(facts->events[i].id, wanted->id);
		assert_string_equal(facts->events[i].system, wanted->system);
		assert_string_equal(facts->events[i].name, wanted->name);
		event = kvm_formats_find_id(source->formats, source->tep, wanted->id);
		assert_non_null(event);
		assert_string_equal(event->system, wanted->system);
		assert_string_equal(event->name, wanted->name);
		/* which are read, see kvm_fields.c and kvm_memory_fields.c */
		if (!strcmp(event->name, "sched_switch") || !strcmp(event->name, "mm_page_alloc"))
			assert_string_equal(event->print_fmt.format, wanted->print_fmt.format);
		compare_fields(event->format.common_fields, wanted->format.common_fields);
		compare_fields(event->format.fields, wanted->format.fields);
	}
	assert_int_equal(tep_get_events_count(source->tep), facts->n_events);
}

static void check_file(void **state)
{
	const struct kvm_lines_wanted wanted = { 0 };
	const char *path = sample_path(*state);
	struct kvm_source *source = open_source(path);
	struct tracecmd_input *input = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	struct tep_handle *tep;
	struct kvm_fields *fields;

	assert_non_null(input);
	tep = tracecmd_get_tep(input);
	assert_true(tep_get_events_count(source->tep) < tep_get_events_count(tep));
	fields = kvm_fields_new(tep);
	assert_non_null(fields);
	assert_int_equal(kvm_source_facts(source)->kinds, kvm_fields_kinds(fields));
	assert_int_equal(kvm_source_facts(source)->is_host, kvm_fields_is_host(fields));
	compare_found(source, tep);
	compare_events(source, tep);
	kvm_fields_free(fields);
	tracecmd_close(input);
	assert_int_equal(kvm_source_lines(source, &wanted, NULL, NULL), -ENOTSUP);
	kvm_source_close(source);
}

/* --- texts ----------------------------------------------------------------------------------- */

#define COMMON									\
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"	\
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char plain[] =
	"name: sched_waking\nID: 318\nformat:\n" COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:const char * why;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] path;\toffset:32;\tsize:4;\n"
	"\nprint fmt: \"comm=%s\", REC->comm\n";

/** Give a format to libtraceevent, as libtracecmd does. Return: whether it was kept. */
static bool give(struct tep_handle *tep, const char *text, size_t size, const char *system)
{
	int known = kvm_formats_count(tep), parsed = tep_get_events_count(tep);

	tep_parse_event(tep, text, size, system);
	return kvm_formats_count(tep) > known && tep_get_events_count(tep) == parsed;
}

static void check_texts(void **state)
{
	static const struct {
		const char	*field;
		bool		is_kept;
	} rows[] = {
		{ "\tfield:u64 x;\toffset:8;\tsize:8;\tsigned:0;\n", true },
		{ "\tfield:unsigned long args[6];\toffset:8;\tsize:48;\tsigned:0;\n", true },
		{ "\tfield:struct page *page;\toffset:8;\tsize:8;\tsigned:0;\n", true },
		{ "\tfield:__rel_loc u8[] x;\toffset:8;\tsize:4;\tsigned:0;\n", true },
		{ "\tfield:x;\toffset:8;\tsize:8;\tsigned:0;\n", false },
		{ "\tfield:u64 *;\toffset:8;\tsize:8;\tsigned:0;\n", false },
		{ "\tfield:void (*f)(int);\toffset:8;\tsize:8;\tsigned:0;\n", false },
		{ "\tfield:u8 x[N];\toffset:8;\tsize:8;\tsigned:0;\n", false },
		{ "\tfield:u64 x;\toffset:;\tsize:8;\tsigned:0;\n", false },
		{ "\tfield:u64 x\toffset:8;\tsize:8;\tsigned:0;\n", false },
		{ "", false },
	};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct kvm_formats *formats = kvm_formats_new();
		struct tep_handle *tep = tep_alloc();
		int size = snprintf(text, sizeof(text), "name: one\nID: 7\nformat:\n" COMMON
				    "%s\nprint fmt: \"\"\n", rows[i].field);

		kvm_formats_use(formats);
		assert_int_equal(give(tep, text, (size_t)size, "own"), rows[i].is_kept);
		kvm_formats_use(NULL);
		kvm_formats_free(formats);
		tep_free(tep);
	}
}

/** Two of one number: libtraceevent has those in the order in which they were parsed. */
static void check_same_number(void **state)
{
	static const char other[] = "name: other\nID: 318\nformat:\n" COMMON
				    "\tfield:u64 x;\toffset:8;\tsize:8;\tsigned:0;\n"
				    "\nprint fmt: \"\"\n";
	struct kvm_formats *formats = kvm_formats_new();
	struct tep_handle *tep = tep_alloc();

	(void)state;
	kvm_formats_use(formats);
	assert_true(give(tep, plain, sizeof(plain) - 1, "sched"));
	assert_false(give(tep, other, sizeof(other) - 1, "sched"));
	kvm_formats_use(NULL);
	assert_int_equal(tep_get_events_count(tep), 2);
	kvm_formats_free(formats);
	tep_free(tep);
}

/** libtracecmd itself looks for some of ftrace, and libtraceevent at the first one. */
static void check_needed(void **state)
{
	struct kvm_formats *formats = kvm_formats_new();
	struct tep_handle *tep = tep_alloc();
	char other[sizeof(plain)];

	(void)state;
	kvm_formats_use(formats);
	assert_true(give(tep, plain, sizeof(plain) - 1, "ftrace"));
	memcpy(other, plain, sizeof(plain));
	memcpy(strstr(other, "318"), "319", 3);
	assert_true(give(tep, other, sizeof(other) - 1, "sched"));
	assert_null(tep_find_event_by_name(tep, "ftrace", "other"));
	assert_non_null(tep_find_event_by_name(tep, "sched", "sched_waking"));
	assert_int_equal(tep_get_events_count(tep), 1);
	assert_non_null(kvm_formats_find(tep, "ftrace", "sched_waking"));
	assert_int_equal(tep_get_events_count(tep), 1);
	kvm_formats_settle(tep);
	assert_int_equal(tep_get_events_count(tep), 2);
	kvm_formats_use(NULL);
	kvm_formats_free(formats);
	tep_free(tep);
}

/** Of two with one name, the one with the lower number is found, as libtraceevent finds it. */
static void check_same_name(void **state)
{
	static const char numbers[] = "312";
	struct kvm_formats *formats = kvm_formats_new();
	struct tep_handle *tep = tep_alloc();
	char text[sizeof(plain)];

	(void)state;
	kvm_formats_use(formats);
	for (size_t i = 0; numbers[i]; i++) {
		memcpy(text, plain, sizeof(plain));
		*(strstr(text, "318") + 2) = numbers[i];
		assert_true(give(tep, text, sizeof(text) - 1, "sched"));
	}
	assert_int_equal(kvm_formats_find(tep, "sched", "sched_waking")->id, 311);
	assert_int_equal(kvm_formats_find(tep, NULL, "sched_waking")->id, 311);
	assert_null(kvm_formats_find(tep, "other", "sched_waking"));
	assert_null(kvm_formats_find(tep, "sched", "sched_wakin"));
	kvm_formats_find_id(formats, tep, 312);
	assert_int_equal(kvm_formats_find(tep, "sched", "sched_waking")->id, 311);
	kvm_formats_find_id(formats, tep, 311);
	assert_ptr_equal(kvm_formats_find(tep, "sched", "sched_waking"), tep_find_event(tep, 311));
	kvm_formats_use(NULL);
	kvm_formats_free(formats);
	tep_free(tep);
}

/** Names of tasks, as libtraceevent itself reads them. */
static void check_tasks(void **state)
{
	static const char *const texts[] = {
		"1 init\n23 a b \n\n4 x", "1 init\n2  blank\n3 x\n", "1 init\n 2 blank\n3 x\n",
		"1 init\n2 \n3 x\n", "1 init\n2\n3 x\n", "1 init\n2x y\n3 x\n",
		"1 init\nx 2\n3 x\n",
		"1 init\n4294967298 two\n3 x\n", "1 init\n-2 two\n3 x\n", "1 a\n2 b\n1 c\n3 x\n",
		"1 a\n007 b\n3 x\n", "", "\n", "999999999 x\n1 y",
	};
	int (*parse)(struct tep_handle *tep, const char *text);
	void *next = dlsym(RTLD_NEXT, "tep_parse_saved_cmdlines");

	(void)state;
	assert_non_null(next);
	memcpy(&parse, &next, sizeof(parse));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct tep_handle *own = tep_alloc(), *other = tep_alloc();

		assert_int_equal(tep_parse_saved_cmdlines(own, texts[i]),
				 parse(other, texts[i]));
		for (int pid = -3; pid < 30; pid++)
			assert_string_equal(tep_data_comm_from_pid(own, pid),
					    tep_data_comm_from_pid(other, pid));
		assert_string_equal(tep_data_comm_from_pid(own, 999999999),
				    tep_data_comm_from_pid(other, 999999999));
		tep_free(own);
		tep_free(other);
	}
}

/** libtraceevent accepts what was kept, whatever damage there is. */
static void check_damage(void **state)
{
	static const char bytes[] = "\n\t ;:*[]0a_\"(";
	size_t kept = 0;

	(void)state;
	srand(1);
	for (int i = 0; i < 20000; i++) {
		struct kvm_formats *formats = kvm_formats_new();
		struct tep_handle *tep = tep_alloc();
		const struct kvm_format *all;
		char text[sizeof(plain)];

		memcpy(text, plain, sizeof(plain));
		for (int n = rand() % 3; n >= 0; n--)
			text[(size_t)rand() % (sizeof(plain) - 1)] =
				bytes[(size_t)rand() % (sizeof(bytes) - 1)];
		kvm_formats_use(formats);
		if (give(tep, text, sizeof(plain) - 1, "sched")) {
			kvm_formats_kept(formats, &all);
			if (!kvm_formats_find_id(formats, tep, all[0].id))
				fail_msg("libtraceevent refuses %s", text);
			kept++;
		}
		kvm_formats_use(NULL);
		kvm_formats_free(formats);
		tep_free(tep);
	}
	assert_true(kept > 1000);
}

/** In the code of x86-64 kernels. */
#define SYMBOL	UINT64_C(0xffffffff81100000)

/** Without names of functions, they are not unpacked; with them, all formats are parsed at once. */
static void check_symbols(void **state)
{
	const char *path = sample_path("kvm-functions-g1.dat");
	struct kvm_source *source = open_source(path);
	unsigned long long address;

	(void)state;
	assert_null(tep_find_function(source->tep, SYMBOL));
	kvm_source_close(source);
	kvm_trace_use_symbols();
	source = open_source(path);
	address = tep_find_function_address(source->tep, SYMBOL);
	assert_true(address);
	assert_non_null(kvm_source_function(source, address));
	assert_int_equal(tep_get_events_count(source->tep), kvm_source_facts(source)->n_events);
	kvm_source_close(source);
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(files) + 7] = {
		cmocka_unit_test(check_texts),
		cmocka_unit_test(check_same_number),
		cmocka_unit_test(check_same_name),
		cmocka_unit_test(check_tasks),
		cmocka_unit_test(check_needed),
		cmocka_unit_test(check_damage),
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		tests[6 + i] = (struct CMUnitTest){
			.name = files[i], .test_func = check_file,
			.initial_state = (void *)(uintptr_t)files[i],
		};
	/* from then on, names are wanted */
	tests[ARRAY_SIZE(tests) - 1] = (struct CMUnitTest)cmocka_unit_test(check_symbols);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
