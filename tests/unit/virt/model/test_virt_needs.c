/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	test_virt_needs.c
 * @brief	Which records each number needs: the table, what asks it, and the document about it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "virt_needs.h"

#define BIT(kind)	VIRT_RECORD_BIT(VIRT_RECORD_##kind)

static struct virt_model *model_without(enum virt_hypervisor hypervisor, uint64_t kinds)
{
	struct virt_model *model = virt_model_new();

	assert_non_null(model);
	virt_model_set_hypervisor(model, hypervisor);
	assert_int_equal(virt_model_set_recorded(model, VIRT_RECORDED_ALL & ~kinds), 0);
	assert_int_equal(virt_model_finish(model, 0, 10), 0);
	return model;
}

static void test_all_is_known(void **state)
{
	struct virt_model *model = virt_model_new();
	char text[VIRT_ADVICE_SIZE];

	(void)state;
	assert_non_null(model);
	assert_int_equal(virt_model_finish(model, 0, 10), 0);
	assert_int_equal(virt_model_hypervisor(model), VIRT_KVM);
	for (int i = 0; i <= VIRT_N_NUMBERS; i++) {
		assert_true(virt_model_knows(model, (enum virt_number)i));
		assert_string_equal(virt_model_advice(model, (enum virt_number)i, text,
						      sizeof(text)), "");
	}
	for (int kind = 0; kind < VIRT_RECORD_N_KINDS; kind++)
		assert_null(virt_model_lacks(model, (enum virt_record_kind)kind, text,
					     sizeof(text)));
	for (int i = 0; i < VIRT_N_STATES; i++)
		assert_int_equal(virt_model_includes(model, (enum virt_state)i), 0);
	virt_model_free(model);
}

/** Whatever a number needs, it is unknown without it, and it can be recorded. */
static void test_each_need(void **state)
{
	(void)state;
	for (int i = 0; i < VIRT_N_HYPERVISORS * VIRT_N_NUMBERS; i++) {
		enum virt_hypervisor hypervisor = i / VIRT_N_NUMBERS;
		enum virt_number number = i % VIRT_N_NUMBERS;
		char text[VIRT_ADVICE_SIZE];
		uint64_t set;

		assert_non_null(virt_number_name(number));
		for (size_t n = 0; virt_needs(hypervisor, number, n, &set); n++) {
			uint64_t kinds = set & VIRT_RECORDED_ALL;
			struct virt_model *model;

			/* without switches, or without moves, it is not needed */
			if (kinds != set)
				continue;
			model = model_without(hypervisor, kinds);
			assert_false(virt_model_knows(model, number));
			assert_true(virt_model_missing(model, number) & kinds);
			assert_string_not_equal(virt_model_advice(model, number, text,
								  sizeof(text)), "");
			virt_model_free(model);
			/* one of them is enough */
			model = model_without(hypervisor, kinds & (kinds - 1));
			assert_true(virt_model_knows(model, number));
			virt_model_free(model);
		}
	}
}

static void test_sentences(void **state)
{
	struct virt_model *model = model_without(VIRT_KVM, BIT(WAKEUP) | BIT(MONITOR));
	char text[VIRT_ADVICE_SIZE];

	(void)state;
	assert_string_equal(virt_model_advice(model, VIRT_NUMBER_WAKING, text, sizeof(text)),
			    "sched:sched_wakeup was not recorded: record it as well");
	assert_string_equal(virt_model_lacks(model, VIRT_RECORD_MONITOR, text, sizeof(text)),
			    "kvm:kvm_userspace_exit was not recorded: vmm is unknown; "
			    "hypervisor includes vmm; record it as well");
	assert_null(virt_model_lacks(model, VIRT_RECORD_ENTRY, text, sizeof(text)));
	assert_int_equal(virt_model_includes(model, VIRT_HYPERVISOR), 1U << VIRT_VMM);
	assert_int_equal(virt_model_includes(model, VIRT_BLOCKED), 1U << VIRT_WAKING);
	virt_model_free(model);
	model = model_without(VIRT_XEN, BIT(ENTRY) | BIT(EXIT));
	assert_string_equal(virt_model_advice(model, VIRT_NUMBER_EXIT_COST, text, sizeof(text)),
			    "the class hvm (-e 0x8f000) was not recorded: record it as well");
	/* both kinds are one class of Xen, which is named once */
	assert_non_null(virt_model_lacks(model, VIRT_RECORD_ENTRY, text, sizeof(text)));
	assert_null(virt_model_lacks(model, VIRT_RECORD_EXIT, text, sizeof(text)));
	assert_int_equal(virt_model_includes(model, VIRT_GUEST), 1U << VIRT_HYPERVISOR);
	virt_model_free(model);
	/* without switches, either, nothing shows a vCPU on a pCPU */
	model = model_without(VIRT_XEN, BIT(ENTRY) | BIT(EXIT) | BIT(RUNSTATE) | BIT(SWITCH));
	assert_int_equal(virt_model_includes(model, VIRT_GUEST), 0);
	assert_false(virt_model_knows(model, VIRT_NUMBER_GUEST));
	virt_model_free(model);
	model = model_without(VIRT_XEN, BIT(RUNSTATE) | BIT(SWITCH));
	assert_true(virt_model_knows(model, VIRT_NUMBER_GUEST));
	virt_model_free(model);
	model = model_without(VIRT_XEN, BIT(CALL) | BIT(INJECT));
	for (int i = VIRT_NUMBER_INJECTED; i <= VIRT_NUMBER_TRAPS; i++) {
		if (i == VIRT_NUMBER_SUBCALLS)
			continue;
		assert_string_equal(virt_model_advice(model, (enum virt_number)i, text,
						      sizeof(text)),
				    "the part hvm.handler (-e 0x82000) was not recorded: "
				    "record it as well");
	}
	virt_model_free(model);
	model = model_without(VIRT_XEN, BIT(HYPERCALL) | BIT(CALL));
	assert_string_equal(virt_model_advice(model, VIRT_NUMBER_HYPERCALLS, text, sizeof(text)),
			    "the class pv (-e 0x20f000), the part hvm.handler (-e 0x82000) "
			    "were not recorded: record them as well");
	virt_model_free(model);
}

/** Without switches, time is not split, which is a rule of its own. */
static void test_unsplit(void **state)
{
	struct virt_model *model = model_without(VIRT_KVM, BIT(SWITCH) | BIT(WAKEUP));

	(void)state;
	assert_true(virt_model_knows(model, VIRT_NUMBER_EXIT_COST));
	assert_true(virt_model_knows(model, VIRT_NUMBER_GUEST));
	assert_false(virt_model_knows(model, VIRT_NUMBER_PREEMPTED));
	assert_int_equal(virt_model_includes(model, VIRT_BLOCKED), 0);
	virt_model_free(model);
}

/* --- docs/what-costs-what.md ----------------------------------------------------------------- */

/** A class of Xen stands for several kinds, and is named once. */
static void put_needs(FILE *file, enum virt_hypervisor hypervisor, enum virt_number number)
{
	char all[512] = "";
	uint64_t set;

	for (size_t n = 0; virt_needs(hypervisor, number, n, &set); n++) {
		char text[256] = "";

		for (int kind = 0; kind < VIRT_RECORD_N_KINDS; kind++) {
			const char *name = virt_record_name(hypervisor,
							    (enum virt_record_kind)kind);

			if (!(set & VIRT_RECORD_BIT(kind)) || !name || strstr(text, name))
				continue;
			strcat(text, *text ? " or " : "");
			strcat(text, name);
		}
		if (!*text || strstr(all, text))
			continue;
		strcat(all, *all ? ", " : "");
		strcat(all, text);
	}
	fprintf(file, " %s |", *all ? all : "-");
}

static char *expected(void)
{
	FILE *file;
	char *text;
	size_t size;

	file = open_memstream(&text, &size);
	assert_non_null(file);
	fprintf(file, "| number | KVM | Xen |\n| --- | --- | --- |\n");
	for (int i = 0; i < VIRT_N_NUMBERS; i++) {
		fprintf(file, "| %s |", virt_number_name((enum virt_number)i));
		put_needs(file, VIRT_KVM, (enum virt_number)i);
		put_needs(file, VIRT_XEN, (enum virt_number)i);
		fprintf(file, "\n");
	}
	fclose(file);
	return text;
}

static void test_document(void **state)
{
	const char *source = getenv("KSV_SOURCE_DIR");
	char *wanted = expected(), *found = calloc(1, 262144);
	char path[4096];
	FILE *file;

	(void)state;
	assert_non_null(source);
	assert_non_null(found);
	snprintf(path, sizeof(path), "%s/docs/what-costs-what.md", source);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(found, 1, 262143, file) > 0);
	fclose(file);
	if (!strstr(found, wanted))
		fail_msg("docs/what-costs-what.md needs:\n%s", wanted);
	free(wanted);
	free(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_is_known),
		cmocka_unit_test(test_each_need),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_unsplit),
		cmocka_unit_test(test_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
