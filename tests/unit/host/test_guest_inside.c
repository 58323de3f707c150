// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_guest_inside.c
 * @brief	Initcalls in the lanes of a boot have the names that the kallsyms of the guest's own
 *		trace give them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest_inside.h"
#include "host_hypertrace.h"
#include "temporary_file.h"
#include "trace_dat_write.h"

#define COMMON										\
	"format:\n"									\
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"		\
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"		\
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"	\
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

enum { LEVEL = 301, START, FINISH };

static const struct {
	uint16_t	id;
	const char	*format;
} formats[] = {
	{ LEVEL, "name: initcall_level\nID: 301\n" COMMON
	  "\tfield:__data_loc char[] level;\toffset:8;\tsize:4;\tsigned:0;\n\n"
	  "print fmt: \"level=%s\", __get_str(level)\n" },
	{ START, "name: initcall_start\nID: 302\n" COMMON
	  "\tfield:void * func;\toffset:8;\tsize:8;\tsigned:0;\n\n"
	  "print fmt: \"func=%pS\", REC->func\n" },
	{ FINISH, "name: initcall_finish\nID: 303\n" COMMON
	  "\tfield:void * func;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:int ret;\toffset:16;\tsize:4;\tsigned:1;\n\n"
	  "print fmt: \"func=%pS ret=%d\", REC->func, REC->ret\n" },
};

#define FIRST	UINT64_C(0xffffffff83001000)
#define SECOND	UINT64_C(0xffffffff83002000)
/** Within a function, and behind all of them: no name is theirs. */
#define WITHIN	(FIRST + 16)
#define BEHIND	UINT64_C(0xffffffff8300f000)

static const char symbols[] =
	"ffffffff83001000 t first_init\n"
	"ffffffff83002000 T second_init\n"
	"ffffffff83003000 t no_init\n";

static void put(struct trace_dat_writer *writer, uint16_t id, uint64_t ns, const void *fields,
		size_t size)
{
	uint8_t data[64] = { 0 };

	memcpy(data, &id, sizeof(id));
	data[4] = 1;
	memcpy(data + 8, fields, size);
	assert_int_equal(trace_dat_writer_record(writer, 0, ns, data, 8 + size), 0);
}

static void put_level(struct trace_dat_writer *writer, uint64_t ns, const char *name)
{
	uint8_t fields[32] = { 0 };
	uint32_t where = (uint32_t)(strlen(name) + 1) << 16 | 12;

	memcpy(fields, &where, sizeof(where));
	strcpy((char *)fields + 4, name);
	put(writer, LEVEL, ns, fields, 4 + strlen(name) + 1);
}

static void put_call(struct trace_dat_writer *writer, uint64_t ns, uint64_t function)
{
	uint64_t fields[2] = { function, 0 };

	put(writer, START, ns, fields, 8);
	put(writer, FINISH, ns + 1000, fields, 12);
}

typedef struct kvm_trace *open_fn(const char *path, char *error, size_t size);

/** In this process, and by the program without rights that reads for plugins. */
static open_fn *const opens[] = { kvm_trace_open, kvm_trace_open_by_program };

/** Return: lanes from a file of a boot with these symbols. */
static struct virt_inside *boot_with(const char *kallsyms, open_fn *open)
{
	const struct trace_dat_about about = { .long_size = 8, .n_cpus = 1, .clock = "mono" };
	int fd = temporary_file(), spool = temporary_file();
	struct host_boot_source source = { 0 };
	struct trace_dat_writer *writer;
	struct virt_inside *inside;
	struct hyper_guest *guest;
	char path[64], error[512];

	assert_true(fd >= 0 && spool >= 0);
	writer = trace_dat_writer_new(fd, spool, &about);
	assert_non_null(writer);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		assert_int_equal(trace_dat_writer_event(writer, formats[i].id, "initcall",
							formats[i].format,
							strlen(formats[i].format)), 0);
	assert_int_equal(trace_dat_writer_symbols(writer, kallsyms, strlen(kallsyms)), 0);
	put_level(writer, 1000000, "early");
	put_call(writer, 1001000, FIRST);
	put_call(writer, 1003000, SECOND);
	put_level(writer, 1005000, "core");
	put_call(writer, 1006000, WITHIN);
	put_call(writer, 1008000, BEHIND);
	assert_int_equal(trace_dat_writer_finish(writer), 0);
	trace_dat_writer_free(writer);

	/* another program may read it */
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
	source.trace = open(path, error, sizeof(error));
	if (!source.trace)
		fail_msg("%s", error);
	assert_int_equal(host_hypertrace_boot_alone(&source, &guest), 0);
	assert_non_null(guest);
	inside = guest_inside_boot(guest, source.trace);
	assert_non_null(inside);
	hyper_guest_free(guest);
	kvm_trace_close(source.trace);
	close(fd);
	close(spool);
	return inside;
}

static void check_names(const struct virt_inside *inside, int32_t cpu, enum virt_inside_kind kind,
			const char *const *names, size_t n_names)
{
	size_t n;
	const struct virt_inside_lane *lanes = virt_inside_lanes(inside, cpu, &n);

	for (size_t i = 0; i < n; i++) {
		if (lanes[i].kind != kind)
			continue;
		assert_int_equal(lanes[i].n, n_names);
		for (size_t k = 0; k < n_names; k++)
			assert_string_equal(virt_inside_name(inside, lanes[i].pieces[k].name),
					    names[k]);
		return;
	}
	fail_msg("there is no such lane");
}

static void test_names(void **state)
{
	static const char *const levels[] = { "early", "core" };
	static const char *const calls[] = {
		"first_init", "second_init", "0xffffffff83001010", "0xffffffff8300f000",
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct virt_inside *inside = boot_with(symbols, opens[i]);

		check_names(inside, VIRT_NONE, VIRT_INSIDE_LEVEL, levels, 2);
		check_names(inside, 0, VIRT_INSIDE_INITCALL, calls, 4);
		virt_inside_put(inside);
	}
}

/** As the kernel shows its addresses to others than root, and without any. */
static void test_no_names(void **state)
{
	static const char *const calls[] = {
		"0xffffffff83001000", "0xffffffff83002000", "0xffffffff83001010",
		"0xffffffff8300f000",
	};

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct virt_inside *inside =
			boot_with(i / 2 ? "0000000000000000 t first_init\n" : "", opens[i % 2]);

		check_names(inside, 0, VIRT_INSIDE_INITCALL, calls, 4);
		virt_inside_put(inside);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_no_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
