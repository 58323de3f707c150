// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_affinity.c
 * @brief	Lists of pCPUs that a vCPU may run on, by hand and of a sidecar.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "sample_model.h"
#include "virt_affinity.h"

#define N_PCPUS	8

/** "1" for each pCPU that a vCPU may run on; NULL: it is not known. */
static const char *marks(const struct virt_model *model, int32_t vcpu, char text[N_PCPUS + 1])
{
	bool pcpus[N_PCPUS] = { false };

	if (!virt_vcpu_may_run(model, vcpu, pcpus, N_PCPUS))
		return NULL;
	for (int i = 0; i < N_PCPUS; i++)
		text[i] = pcpus[i] ? '1' : '0';
	text[N_PCPUS] = '\0';
	return text;
}

static void lists(void **state)
{
	static const struct {
		const char *list, *marks;
	} cases[] = {
		{ "all", "11111111" }, { "0", "10000000" }, { "0-2,5", "11100100" },
		{ "7,1-1", "01000001" }, { "5-2147483647", "00000111" }, { "9", "00000000" },
	};
	static const char *const wrong[] = {
		"", "x", "-1", "1-", "2-1", "1,", ",1", "1,,2", "1 ", " 1", "all,1", "2147483648",
		"99999999999999999999", "1--2", "none",
	};
	struct virt_model *model = virt_model_new();
	int32_t machine = virt_model_add_machine(model, 1, "d1");
	char text[N_PCPUS + 1], list[VIRT_AFFINITY_BYTES + 1];

	(void)state;
	assert_int_equal(virt_model_add_vcpu(model, machine, 0, 20000, "d1v0"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(virt_model_set_affinity(model, 0, wrong[i]), -EINVAL);
	assert_null(marks(model, 0, text));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(virt_model_set_affinity(model, 0, cases[i].list), 0);
		assert_string_equal(marks(model, 0, text), cases[i].marks);
	}
	/* what is wrong changes nothing */
	memset(list, '1', sizeof(list) - 1);
	list[sizeof(list) - 1] = '\0';
	assert_int_equal(virt_model_set_affinity(model, 0, list), -EINVAL);
	assert_int_equal(virt_model_set_affinity(model, 1, "1"), -EINVAL);
	assert_string_equal(marks(model, 0, text), "00000000");
	assert_null(marks(model, 1, text));
	virt_model_free(model);
}

/** From the sidecar of a real trace to the model. */
static void sidecar(void **state)
{
	static const struct {
		int32_t tid;
		const char *marks;
	} vcpus[] = {
		{ 10000, "10000000" }, { 10001, "01000000" }, { 20000, "00110000" },
		{ 30001, "00110000" },
	};
	struct virt_model *model = sample_model("saved.xen"), *none = sample_model("pinned.xen");
	char text[N_PCPUS + 1];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(vcpus); i++)
		assert_string_equal(marks(model, virt_model_find_vcpu(model, vcpus[i].tid), text),
				    vcpus[i].marks);
	for (int32_t i = 0; i < virt_model_n_vcpus(none); i++)
		assert_null(marks(none, i, text));
	virt_model_free(model);
	virt_model_free(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(sidecar),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
