// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_meta.c
 * @brief	The sidecar of a KVM host's trace: what is written is read, the rest left out.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "array.h"
#include "kvm_meta.h"
#include "trace_dat.h"
#include "whole_file.h"

static char folder[] = "/tmp/kvm_meta.XXXXXX";
static char trace[64], sidecar[80];

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(trace, sizeof(trace), "%s/host.dat", folder);
	snprintf(sidecar, sizeof(sidecar), "%s.meta.json", trace);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(sidecar);
	return rmdir(folder);
}

static void put(const char *text)
{
	FILE *out = fopen(sidecar, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static struct kvm_meta *get(const char *text)
{
	struct kvm_meta *meta;
	char error[256] = "";

	put(text);
	assert_int_equal(kvm_meta_read(trace, &meta, error, sizeof(error)), 0);
	assert_string_equal(error, "");
	return meta;
}

/** Of a vCPU with a clock. */
static struct kvm_meta *get_tsc(const char *members)
{
	char text[512];

	snprintf(text, sizeof(text), "{\"guests\":[{\"vcpus\":[{\"id\":3,\"tid\":7,%s}]}]}",
		 members);
	return get(text);
}

static void test_written_is_read(void **state)
{
	struct kvm_meta *meta = kvm_meta_new(), *read;
	struct kvm_meta_guest *guest = kvm_meta_add_guest(meta, "w\"\x1b\xff", "0-1", 1472);
	const struct kvm_meta_vcpu plain = {
		.id = 0, .tid = 1480, .has_tsc = true, .tsc_offset = INT64_MIN,
		.tsc_offset_at_end = INT64_MAX,
		.tsc_ratio = KVM_META_RATIO_ONE, .tsc_frac_bits = KVM_META_FRAC_BITS,
	}, scaled = {
		.id = 4095, .tid = 1481, .has_tsc = true, .tsc_offset = -1,
		.tsc_offset_at_end = -1,
		.tsc_ratio = UINT64_C(0x00000001fedcba98), .tsc_frac_bits = 32,
	}, unknown = { .id = 2, .tid = 1482 };
	const struct kvm_meta_guest *whose = NULL;
	const struct kvm_meta_vcpu *found;
	char error[256] = "", *text;
	size_t length;

	(void)state;
	meta->cpu_khz = 2300000;
	assert_int_equal(kvm_meta_add_vcpu(guest, &plain), 0);
	assert_int_equal(kvm_meta_add_vcpu(guest, &scaled), 0);
	assert_int_equal(kvm_meta_add_vcpu(guest, &unknown), 0);
	assert_int_equal(kvm_meta_add_thread(guest, 1472), 0);
	assert_int_equal(kvm_meta_add_thread(guest, INT32_MAX), 0);
	assert_int_equal(kvm_meta_add_thread(guest, 0), -EINVAL);
	assert_non_null(kvm_meta_add_guest(meta, NULL, NULL, 0));
	put("{ \"alignment\": { \"offset\": 5 }, \"guests\": 7 }");
	assert_int_equal(kvm_meta_write(trace, meta, error, sizeof(error)), 0);
	kvm_meta_free(meta);
	assert_int_equal(kvm_meta_read(trace, &read, error, sizeof(error)), 0);
	assert_int_equal(read->cpu_khz, 2300000);
	assert_int_equal(read->n_guests, 2);
	assert_string_equal(read->guests[0].name, "w\"\x1b\xef\xbf\xbd");
	assert_string_equal(read->guests[0].uuid, "0-1");
	assert_int_equal(read->guests[0].pid, 1472);
	assert_int_equal(read->guests[0].n_vcpus, 3);
	assert_int_equal(read->guests[0].n_threads, 2);
	assert_int_equal(read->guests[0].threads[0], 1472);
	assert_int_equal(read->guests[0].threads[1], INT32_MAX);
	found = kvm_meta_find(read, 1480, &whose);
	assert_ptr_equal(whose, &read->guests[0]);
	assert_true(found->id == 0 && found->has_tsc && found->tsc_offset == INT64_MIN);
	found = kvm_meta_find(read, 1481, NULL);
	assert_int_equal(found->id, 4095);
	assert_int_equal(found->tsc_offset, -1);
	assert_int_equal(found->tsc_offset_at_end, -1);
	assert_int_equal(kvm_meta_find(read, 1480, NULL)->tsc_offset_at_end, INT64_MAX);
	assert_true(found->tsc_ratio == scaled.tsc_ratio && found->tsc_frac_bits == 32);
	assert_false(kvm_meta_find(read, 1482, NULL)->has_tsc);
	assert_null(kvm_meta_find(read, 1483, NULL));
	assert_null(kvm_meta_find(read, 0, NULL));
	assert_null(kvm_meta_find(NULL, 1480, NULL));
	assert_null(read->guests[1].name);
	assert_int_equal(read->guests[1].n_vcpus, 0);
	assert_int_equal(read->guests[1].n_threads, 0);
	kvm_meta_free(read);
	/* what else was there is kept */
	assert_int_equal(whole_file_read(sidecar, 10000, &text, &length), 0);
	assert_non_null(strstr(text, "\"offset\": 5"));
	assert_non_null(strstr(text, "\"0x8000000000000000\""));
	free(text);
}

static void test_cannot_be(void **state)
{
	struct kvm_meta *meta = kvm_meta_new();
	struct kvm_meta_guest *guest = kvm_meta_add_guest(meta, "web", NULL, 1);
	struct kvm_meta_vcpu vcpu = { .id = -1 };

	(void)state;
	assert_int_equal(kvm_meta_add_vcpu(guest, &vcpu), -EINVAL);
	vcpu.id = KVM_META_MAX_VCPUS;
	assert_int_equal(kvm_meta_add_vcpu(guest, &vcpu), -EINVAL);
	vcpu.id--;
	assert_int_equal(kvm_meta_add_vcpu(guest, &vcpu), 0);
	vcpu.tid = -1;
	assert_int_equal(kvm_meta_add_vcpu(guest, &vcpu), -EINVAL);
	vcpu = (struct kvm_meta_vcpu){ .has_tsc = true };
	assert_int_equal(kvm_meta_add_vcpu(guest, &vcpu), -EINVAL);
	for (int i = 1; i < KVM_META_MAX_GUESTS; i++)
		assert_non_null(kvm_meta_add_guest(meta, NULL, NULL, 0));
	assert_null(kvm_meta_add_guest(meta, NULL, NULL, 0));
	kvm_meta_free(meta);
}

static void test_tsc(void **state)
{
	static const struct {
		const char	*members;
		bool		has;
		int64_t		offset;
		uint64_t	ratio;
		int		bits;
	} cases[] = {
		{ "\"tsc_offset\":\"0xfffffffffffffff6\"", true, -10, KVM_META_RATIO_ONE, 48 },
		{ "\"tsc_offset\":-10", true, -10, KVM_META_RATIO_ONE, 48 },
		{ "\"tsc_offset\":18446744073709551606", true, -10, KVM_META_RATIO_ONE, 48 },
		{ "\"tsc_offset\":5,\"tsc_scale\":0.5", true, 5, KVM_META_RATIO_ONE / 2, 48 },
		{ "\"tsc_offset\":5,\"tsc_ratio\":12884901888,\"tsc_ratio_frac_bits\":32,"
		  "\"tsc_scale\":7", true, 5, UINT64_C(3) << 32, 32 },
		{ "\"tsc_offset\":5,\"tsc_ratio\":\"0x300000000\",\"tsc_ratio_frac_bits\":32",
		  true, 5, UINT64_C(3) << 32, 32 },
		{ "\"tsc_offset\":5,\"tsc_ratio\":\"x\",\"tsc_ratio_frac_bits\":32",
		  false, 0, 0, 0 },
		{ "\"tsc_offset\":5,\"tsc_ratio\":12884901888", false, 0, 0, 0 },
		{ "\"tsc_offset\":5,\"tsc_ratio\":1,\"tsc_ratio_frac_bits\":48", false, 0, 0, 0 },
		{ "\"tsc_offset\":5,\"tsc_ratio\":1,\"tsc_ratio_frac_bits\":63", false, 0, 0, 0 },
		{ "\"tsc_offset\":5,\"tsc_ratio\":0,\"tsc_ratio_frac_bits\":32", false, 0, 0, 0 },
		{ "\"tsc_offset\":5,\"tsc_scale\":0", false, 0, 0, 0 },
		{ "\"tsc_offset\":5,\"tsc_scale\":\"nan\"", false, 0, 0, 0 },
		{ "\"tsc_offset\":5,\"tsc_scale\":1001", false, 0, 0, 0 },
		{ "\"tsc_offset\":\"\"", false, 0, 0, 0 },
		{ "\"tsc_offset\":\"5x\"", false, 0, 0, 0 },
		{ "\"tsc_offset\":1.5", false, 0, 0, 0 }, { "\"tsc_scale\":1", false, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kvm_meta *meta = get_tsc(cases[i].members);
		const struct kvm_meta_vcpu *vcpu = kvm_meta_find(meta, 7, NULL);

		assert_non_null(vcpu);
		if (vcpu->has_tsc != cases[i].has)
			fail_msg("%s", cases[i].members);
		if (vcpu->has_tsc) {
			assert_int_equal(vcpu->tsc_offset, cases[i].offset);
			assert_int_equal(vcpu->tsc_offset_at_end, cases[i].offset);
			assert_int_equal(vcpu->tsc_ratio, cases[i].ratio);
			assert_int_equal(vcpu->tsc_frac_bits, cases[i].bits);
		}
		kvm_meta_free(meta);
	}
}

/** Impossible contents are ignored. */
static void test_left_out(void **state)
{
	struct kvm_meta *meta;

	(void)state;
	assert_null(get("{}"));
	assert_null(get("{\"domains\":[],\"guests\":{}}"));
	meta = get("{\"guests\":[7,null,{\"name\":\"\",\"pid\":-1,\"vcpus\":[1,{\"id\":0},"
		   "{\"tid\":5},{\"id\":-1,\"tid\":5},{\"id\":4096,\"tid\":5},{\"id\":0,\"tid\":0},"
		   "{\"id\":0,\"tid\":2147483648},{\"id\":0,\"tid\":5},{\"id\":0,\"tid\":6},"
		   "{\"id\":1,\"tid\":5}]},{\"name\":7,\"pid\":2147483648,"
		   "\"vcpus\":[{\"id\":0,\"tid\":5},{\"id\":1,\"tid\":8}]}]}");
	assert_int_equal(meta->n_guests, 4);
	assert_null(meta->guests[2].name);
	assert_int_equal(meta->guests[2].pid, 0);
	assert_int_equal(meta->guests[2].n_vcpus, 1);
	assert_int_equal(meta->guests[3].n_vcpus, 1);
	assert_int_equal(meta->guests[3].pid, 0);
	assert_ptr_equal(kvm_meta_find(meta, 5, NULL), &meta->guests[2].vcpus[0]);
	assert_int_equal(kvm_meta_find(meta, 8, NULL)->id, 1);
	kvm_meta_free(meta);
}

/** Threads that are none are left out. */
static void test_threads(void **state)
{
	struct kvm_meta *meta = get("{\"guests\":[{\"pid\":7,\"threads\":[8,\"9\",-1,0,2147483648,"
				    "1.5,null,[10],11]},{\"pid\":6,\"threads\":{\"0\":12}}]}");

	(void)state;
	assert_int_equal(meta->n_guests, 2);
	assert_int_equal(meta->guests[0].n_threads, 2);
	assert_int_equal(meta->guests[0].threads[0], 8);
	assert_int_equal(meta->guests[0].threads[1], 11);
	assert_int_equal(meta->guests[1].n_threads, 0);
	kvm_meta_free(meta);
}

/** Names of idle states by number, governors once; what is none is left out. */
static void test_power(void **state)
{
	struct kvm_meta *meta = kvm_meta_new(), *read;
	char error[256] = "";

	(void)state;
	assert_int_equal(kvm_meta_name_idle_state(meta, 3, "C6"), 0);
	assert_int_equal(kvm_meta_name_idle_state(meta, 1, "C1"), 0);
	assert_int_equal(kvm_meta_name_idle_state(meta, 1, "C1E\n"), 0);
	assert_int_equal(kvm_meta_name_idle_state(meta, VIRT_IDLE_STATES, "C9"), -EINVAL);
	assert_int_equal(kvm_meta_add_governor(meta, "schedutil"), 0);
	assert_int_equal(kvm_meta_add_governor(meta, "schedutil"), 0);
	assert_int_equal(kvm_meta_add_governor(meta, ""), -EINVAL);
	put("{}");
	assert_int_equal(kvm_meta_write(trace, meta, error, sizeof(error)), 0);
	kvm_meta_free(meta);
	assert_int_equal(kvm_meta_read(trace, &read, error, sizeof(error)), 0);
	assert_null(read->idle_states[0]);
	assert_string_equal(read->idle_states[1], "C1E\n");
	assert_null(read->idle_states[2]);
	assert_string_equal(read->idle_states[3], "C6");
	assert_int_equal(read->n_governors, 1);
	kvm_meta_free(read);

	assert_null(get("{\"idle_states\":[\"\",7,{}],\"governors\":[\"\",[]]}"));
	assert_null(get("{\"idle_states\":{\"0\":\"C1\"},\"governors\":\"schedutil\"}"));
	meta = get("{\"idle_states\":[1,\"C1\",null,3,4,5,6,7,8,9,10,11,12,13,14,"
		   "\"last\",\"more\"],\"governors\":[\"a\",\"b\",\"a\",\"c\",\"d\",\"e\",\"f\","
		   "\"g\",\"h\",\"i\",\"j\",\"k\",\"l\",\"m\",\"n\",\"o\",\"p\",\"q\",\"r\"]}");
	assert_string_equal(meta->idle_states[1], "C1");
	assert_string_equal(meta->idle_states[15], "last");
	assert_true(meta->n_governors <= KVM_META_MAX_GOVERNORS);
	kvm_meta_free(meta);
}

/** A moment of the recording, in real time and on the axis of the trace. */
static void test_moment(void **state)
{
	struct kvm_meta *meta = kvm_meta_new(), *read;
	char error[256] = "";

	(void)state;
	meta->has_moment = true;
	meta->realtime_ns = 1795514400123456789;
	meta->trace_ns = 5812345678901;
	meta->within_ns = 1250000;
	put("{}");
	assert_int_equal(kvm_meta_write(trace, meta, error, sizeof(error)), 0);
	kvm_meta_free(meta);
	assert_int_equal(kvm_meta_read(trace, &read, error, sizeof(error)), 0);
	assert_true(read->has_moment);
	assert_int_equal(read->realtime_ns, 1795514400123456789);
	assert_int_equal(read->trace_ns, 5812345678901);
	assert_int_equal(read->within_ns, 1250000);
	kvm_meta_free(read);

	/* the recorder's clock is set by nothing; or it is a recording of before */
	meta = get("{\"moment\":{\"realtime_ns\":5,\"trace_ns\":6}}");
	assert_true(meta->has_moment);
	assert_int_equal(meta->within_ns, -1);
	kvm_meta_free(meta);

	assert_null(get("{\"moment\":5}"));
	assert_null(get("{\"moment\":{\"realtime_ns\":5}}"));
	assert_null(get("{\"moment\":{\"realtime_ns\":-5,\"trace_ns\":5}}"));
	assert_null(get("{\"moment\":{\"realtime_ns\":5,\"trace_ns\":-5}}"));
	assert_null(get("{\"moment\":{\"realtime_ns\":\"x\",\"trace_ns\":5}}"));
}

/** A chain of cgroups: what is written is read. */
static void test_cgroups(void **state)
{
	const struct cpu_quota begin = { 20000, 100000, 31, 30, 2413020 }, end = {
		.quota_us = CPU_NO_QUOTA, .period_us = 100000, .periods = 41, .throttled = 40,
		.throttled_us = INT64_MAX,
	};
	struct kvm_meta *meta = kvm_meta_new(), *read;
	struct kvm_meta_cgroup *web;
	struct kvm_meta_guest *guest;
	char error[256] = "";

	(void)state;
	assert_non_null(kvm_meta_add_cgroup(meta, "/", 0));
	web = kvm_meta_add_cgroup(meta, "/w\"b", 1);
	assert_non_null(web);
	*web = (struct kvm_meta_cgroup){
		.path = web->path, .above = 1, .depth = 1, .has_begin = true, .has_end = true,
		.begin = begin, .end = end,
	};
	guest = kvm_meta_add_guest(meta, "web", NULL, 7);
	assert_int_equal(kvm_meta_add_vcpu(guest, &(struct kvm_meta_vcpu){
		.tid = 8, .cgroup = 2 }), 0);
	assert_int_equal(kvm_meta_add_vcpu(guest, &(struct kvm_meta_vcpu){
		.id = 1, .tid = 9 }), 0);
	put("{}");
	assert_int_equal(kvm_meta_write(trace, meta, error, sizeof(error)), 0);
	kvm_meta_free(meta);
	assert_int_equal(kvm_meta_read(trace, &read, error, sizeof(error)), 0);
	assert_int_equal(read->n_cgroups, 2);
	assert_string_equal(read->cgroups[1].path, "/w\"b");
	assert_int_equal(read->cgroups[0].above, 0);
	assert_false(read->cgroups[0].has_begin || read->cgroups[0].has_end);
	assert_int_equal(read->cgroups[1].above, 1);
	assert_true(read->cgroups[1].has_begin && read->cgroups[1].has_end);
	assert_memory_equal(&read->cgroups[1].begin, &begin, sizeof(begin));
	assert_memory_equal(&read->cgroups[1].end, &end, sizeof(end));
	assert_int_equal(kvm_meta_find(read, 8, NULL)->cgroup, 2);
	assert_int_equal(kvm_meta_find(read, 9, NULL)->cgroup, 0);
	kvm_meta_free(read);
}

/** Members of a quota, with one that may be wrong. */
#define COUNTS(throttled_us) \
	"\"periods\":2,\"throttled\":1,\"throttled_us\":" throttled_us
#define QUOTA(quota_us, throttled_us) \
	"{\"quota_us\":" quota_us ",\"period_us\":100000," COUNTS(throttled_us) "}"

/** Numbers that name no cgroup, or not one before; quotas that cannot be, or lack a number. */
static void test_odd_cgroups(void **state)
{
	static const char *const quotas[] = {
		"5", "null", "[]", "{\"period_us\":-1}", "{\"throttled_us\":-5}",
		"{\"quota_us\":-2}", "{}", "{\"throttled_us\":3}",
		"{\"quota_us\":20000,\"period_us\":100000}",
		QUOTA("-2", "5"), QUOTA("20000", "-5"), QUOTA("20000", "null"),
	};
	struct kvm_meta *meta = get("{\"cgroups\":[{\"path\":\"/a\",\"above\":0},"
				    "{\"above\":2},{\"path\":5,\"above\":-1},7,"
				    "{\"path\":\"/b\",\"above\":3,\"begin\":"
				    "{\"period_us\":100000," COUNTS("0") "}}],"
				    "\"guests\":[{\"vcpus\":["
				    "{\"id\":0,\"tid\":1,\"cgroup\":4},"
				    "{\"id\":1,\"tid\":2,\"cgroup\":5},"
				    "{\"id\":2,\"tid\":3,\"cgroup\":-1},"
				    "{\"id\":3,\"tid\":4,\"cgroup\":4294967296},"
				    "{\"id\":4,\"tid\":5,\"cgroup\":\"0\"}]}]}");
	char text[256];

	(void)state;
	assert_int_equal(meta->n_cgroups, 5);
	for (int i = 0; i < 4; i++)
		assert_int_equal(meta->cgroups[i].above, 0);
	assert_int_equal(meta->cgroups[4].above, 4);
	assert_true(meta->cgroups[4].has_begin);
	assert_int_equal(meta->cgroups[4].begin.quota_us, CPU_NO_QUOTA);
	assert_int_equal(kvm_meta_find(meta, 1, NULL)->cgroup, 5);
	for (int tid = 2; tid <= 5; tid++)
		assert_int_equal(kvm_meta_find(meta, tid, NULL)->cgroup, 0);
	kvm_meta_free(meta);
	for (size_t i = 0; i < ARRAY_SIZE(quotas); i++) {
		snprintf(text, sizeof(text), "{\"cgroups\":[{\"path\":\"/\",\"end\":%s}]}",
			 quotas[i]);
		meta = get(text);
		assert_false(meta->cgroups[0].has_end);
		kvm_meta_free(meta);
	}
}

/** Deeper than any host's: the chain is cut, so that each walk up ends soon. */
static void test_deep_cgroups(void **state)
{
	struct kvm_meta *meta = kvm_meta_new();
	int n = KVM_META_MAX_DEPTH * 3;

	(void)state;
	for (int i = 0; i < n; i++)
		assert_non_null(kvm_meta_add_cgroup(meta, "/x", i));
	for (int i = 0; i < n; i++)
		assert_in_range(meta->cgroups[i].depth, 0, KVM_META_MAX_DEPTH);
	assert_int_equal(meta->cgroups[KVM_META_MAX_DEPTH].above, KVM_META_MAX_DEPTH);
	assert_int_equal(meta->cgroups[KVM_META_MAX_DEPTH + 1].above, 0);
	kvm_meta_free(meta);
}

static void test_damaged(void **state)
{
	static const struct {
		const char	*text, *said;
	} cases[] = {
		{ "{", "not a JSON object" }, { "[]", "not a JSON object" },
		{ "{\"cpu_khz\":1}", "cpu_khz 1 is no CPU frequency" },
		{ "{\"cpu_khz\":\"fast\",\"guests\":[]}", "is no CPU frequency" },
	};
	struct kvm_meta *meta;
	char error[256], *many = malloc(8 * KVM_META_MAX_GUESTS);
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		put(cases[i].text);
		assert_int_equal(kvm_meta_read(trace, &meta, error, sizeof(error)), -EINVAL);
		assert_null(meta);
		assert_non_null(strstr(error, cases[i].said));
		assert_ptr_equal(strstr(error, sidecar), error);
	}
	n += (size_t)sprintf(many, "{\"guests\":[{}");
	for (int i = 0; i < KVM_META_MAX_GUESTS; i++)
		n += (size_t)sprintf(many + n, ",{}");
	strcpy(many + n, "]}");
	put(many);
	assert_int_equal(kvm_meta_read(trace, &meta, error, sizeof(error)), -E2BIG);
	assert_non_null(strstr(error, "1025 guests, and at most 1024 are allowed"));
	free(many);
	unlink(sidecar);
	assert_int_equal(kvm_meta_read(trace, &meta, error, sizeof(error)), 0);
	assert_null(meta);
	assert_int_equal(mkfifo(sidecar, 0600), 0);
	assert_int_equal(kvm_meta_read(trace, &meta, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "not a regular file"));
	meta = kvm_meta_new();
	assert_int_equal(kvm_meta_write(trace, meta, error, sizeof(error)), -EINVAL);
	kvm_meta_free(meta);
	unlink(sidecar);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written_is_read), cmocka_unit_test(test_cannot_be),
		cmocka_unit_test(test_tsc), cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_threads), cmocka_unit_test(test_cgroups),
		cmocka_unit_test(test_odd_cgroups), cmocka_unit_test(test_deep_cgroups),
		cmocka_unit_test(test_power), cmocka_unit_test(test_moment),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
