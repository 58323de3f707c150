/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events that are decoded quickly are the same as those that are not, in each record of real files
 * and in records that are cut; those with unusual fields are not decoded so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <event-parse.h>

#include "array.h"
#include "kvm_quick.h"
#include "kvm_source_private.h"
#include "open_source.h"
#include "sample_file.h"

static const char *const files[] = {
	"kvm-host.dat", "kvm-talk.dat", "kvm-nested.dat", "kvm-memory.dat", "waits-timer.dat",
	"cases/arm-vhe-a.dat",
};

/* --- records --------------------------------------------------------------------------------- */

static bool compare(const struct kvm_fields *fields, const struct tep_record *record, int id)
{
	const struct kvm_quick *quick = kvm_fields_quick(fields, id);
	struct kvm_step step = { 0 }, quickly = { 0 };
	struct kvm_step_more more;

	if (!quick || record->size < quick->least)
		return false;
	kvm_fields_step(fields, record, id, &step, &more);
	kvm_quick_step(quick, record->data, &quickly);
	assert_int_equal(quickly.kind, step.kind);
	assert_int_equal(quickly.flags, step.flags & ~KVM_STEP_NAMED);
	assert_int_equal(quickly.event.kind, step.event.kind);
	assert_int_equal(quickly.event.more, step.event.more);
	assert_int_equal(quickly.event.arg, step.event.arg);
	assert_true(quickly.event.value == step.event.value);
	return true;
}

static void test_records(void **state)
{
	struct kvm_source *source = open_source(sample_path(*state));
	size_t n = 0, n_quick = 0;

	for (int cpu = 0; cpu < source->facts.n_cpus; cpu++) {
		struct kvm_reading reading;
		struct tep_record *record;
		bool blind;

		assert_int_equal(kvm_reading_begin(source, &reading, cpu), 0);
		while (!kvm_reading_next(source, &reading, &record, &blind) && record) {
			n_quick += compare(source->fields, record,
					   kvm_fields_id(source->fields, record));
			n++;
		}
		kvm_reading_end(source, &reading);
	}
	/* most of those that a report uses */
	assert_true(n_quick > n / 10);
	kvm_source_close(source);
}

/* --- formats --------------------------------------------------------------------------------- */

#define COMMON									\
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"	\
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"	\
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"	\
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static void test_formats(void **state)
{
	static const struct {
		const char	*system, *name, *fields;
		int32_t		least;		/* 0: not quickly */
	} rows[] = {
		{ "kvm", "kvm_entry",
		  "\tfield:unsigned int vcpu_id;\toffset:8;\tsize:4;\tsigned:0;\n", 12 },
		{ "kvm", "kvm_entry",
		  "\tfield:u64 vcpu_id;\toffset:8;\tsize:8;\tsigned:0;\n", 0 },
		{ "kvm", "kvm_entry",
		  "\tfield:unsigned int vcpu_id;\toffset:4;\tsize:4;\tsigned:0;\n", 0 },
		{ "kvm", "kvm_entry",
		  "\tfield:unsigned int vcpu_id;\toffset:99999;\tsize:4;\tsigned:0;\n", 0 },
		{ "kvm", "kvm_entry", "\tfield:u64 rip;\toffset:8;\tsize:8;\tsigned:0;\n", 8 },
		{ "kvm", "kvm_exit",
		  "\tfield:u32 exit_reason;\toffset:8;\tsize:4;\tsigned:0;\n"
		  "\tfield:u32 isa;\toffset:24;\tsize:4;\tsigned:0;\n", 28 },
		{ "kvm", "kvm_exit",
		  "\tfield:u16 exit_reason;\toffset:8;\tsize:2;\tsigned:0;\n"
		  "\tfield:u32 isa;\toffset:24;\tsize:4;\tsigned:0;\n", 0 },
		{ "kvm", "kvm_exit", "\tfield:u64 rip;\toffset:8;\tsize:8;\tsigned:0;\n", 0 },
		{ "kvm", "kvm_exit",
		  "\tfield:unsigned int esr_ec;\toffset:8;\tsize:4;\tsigned:0;\n"
		  "\tfield:int ret;\toffset:12;\tsize:4;\tsigned:1;\n", 0 },
		{ "kvm", "kvm_exit",
		  "\tfield:unsigned long scause;\toffset:8;\tsize:8;\tsigned:0;\n", 0 },
		{ "sched", "sched_wakeup",
		  "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n", 28 },
		{ "kvm", "kvm_fpu", "\tfield:u32 load;\toffset:8;\tsize:4;\tsigned:0;\n", 0 },
	};
	char text[2048];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tep_handle *tep = tep_alloc();
		const struct kvm_quick *quick;
		struct kvm_fields *fields;
		uint8_t data[64];
		int size;

		tep_set_file_bigendian(tep, tep_is_local_bigendian(tep) ? TEP_BIG_ENDIAN :
								TEP_LITTLE_ENDIAN);
		size = snprintf(text, sizeof(text), "name: %s\nID: 7\nformat:\n" COMMON
				"%s\nprint fmt: \"\"\n", rows[i].name, rows[i].fields);
		assert_int_equal(tep_parse_event(tep, text, (unsigned long)size, rows[i].system),
				 0);
		fields = kvm_fields_new(tep);
		quick = kvm_fields_quick(fields, 7);
		if (!quick != !rows[i].least)
			fail_msg("row %zu", i);
		assert_null(kvm_fields_quick(fields, 8));
		assert_null(kvm_fields_quick(fields, -1));
		if (quick)
			assert_int_equal(quick->least, rows[i].least);
		/* each bit of flags, numbers beyond the range of a signed one, and what is cut */
		for (int flags = 0; flags < 256; flags++) {
			struct tep_record record = { .data = data, .size = flags % 40 };

			for (size_t k = 0; k < sizeof(data); k++)
				data[k] = (uint8_t)(k * 37 + (size_t)flags * 11);
			data[2] = (uint8_t)flags;
			compare(fields, &record, 7);
		}
		kvm_fields_free(fields);
		tep_free(tep);
	}
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(files) + 1] = { cmocka_unit_test(test_formats) };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		tests[i + 1] = (struct CMUnitTest){
			.name = files[i], .test_func = test_records,
			.initial_state = (void *)(uintptr_t)files[i],
		};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
