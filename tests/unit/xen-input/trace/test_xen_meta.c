/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sidecar: what is read, what is ignored, and what is refused with which words.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sidecar.h"
#include "trace_builder.h"
#include "xen_meta.h"

static struct xen_meta *load_bytes(const char *text, size_t size, char *error, size_t error_size)
{
	char *path = trace_file(text, size, ".meta.json");
	struct xen_meta *meta = xen_meta_load(path, error, error_size);
	int saved = errno;

	if (!meta && error && strncmp(error, path, strlen(path)))
		fail_msg("'%s' does not name the file", error);
	unlink(path);
	free(path);
	errno = saved;
	return meta;
}

static struct xen_meta *load(const char *text)
{
	char error[512] = "";
	struct xen_meta *meta = load_bytes(text, strlen(text), error, sizeof(error));

	if (!meta)
		fail_msg("%s: %s", text, error);
	return meta;
}

static void refuse(const char *text, size_t size, int error_number, const char *words)
{
	char error[512] = "";

	if (load_bytes(text, size, error, sizeof(error)))
		fail_msg("accepted: %.100s", text);
	assert_int_equal(errno, error_number);
	if (!strstr(error, words))
		fail_msg("'%s' does not say '%s'", error, words);
}

static void test_valid(void **state)
{
	struct xen_meta *meta = load(
		"{ \"cpu_khz\": 2300002, \"xen_version\": \"4.17.7\", \"scheduler\": \"credit2\",\n"
		"  \"domains\": [ { \"id\": 5, \"name\": \"five\" }, "
		"{ \"id\": 0, \"name\": \"dom0\" },\n"
		"    { \"id\": 32767, \"name\": \"\\u00fcber \\\"x\\\"\" } ] }\n");

	(void)state;
	assert_int_equal(meta->cpu_khz, 2300002);
	assert_string_equal(meta->xen_version, "4.17.7");
	assert_string_equal(meta->scheduler, "credit2");
	assert_int_equal(meta->n_domains, 3);
	assert_string_equal(xen_meta_domain_name(meta, 0), "dom0");
	assert_string_equal(xen_meta_domain_name(meta, 5), "five");
	assert_string_equal(xen_meta_domain_name(meta, 32767), "\xc3\xbc" "ber \"x\"");
	assert_null(xen_meta_domain_name(meta, 1));
	assert_null(xen_meta_domain_name(NULL, 0));
	xen_meta_free(meta);
	xen_meta_free(NULL);
}

static void test_moment(void **state)
{
	struct xen_meta *meta = load("{ \"begin\": { \"realtime_ns\": 1795416164776472395,"
				     " \"tsc\": 83256860434, \"tsc_within\": 22998 } }");
	int64_t realtime_ns;
	uint64_t tsc;

	(void)state;
	assert_true(xen_meta_moment(meta, &tsc, &realtime_ns));
	assert_int_equal(tsc, 83256860434);
	assert_int_equal(realtime_ns, 1795416164776472395);
	xen_meta_free(meta);
	/* dom0's TSC is another one than that of the records */
	meta = load("{ \"begin\": { \"realtime_ns\": 5, \"tsc\": 1000 },"
		    " \"domains\": [ { \"id\": 0, \"tsc_offset\": \"0xfffffffffffffff0\" } ] }");
	assert_true(xen_meta_moment(meta, &tsc, &realtime_ns));
	assert_int_equal(tsc, 1016);
	xen_meta_free(meta);
	meta = load("{ \"begin\": { \"realtime_ns\": 5, \"tsc\": 1000 }, \"domains\":"
		    " [ { \"id\": 0, \"tsc_offset\": 0, \"tsc_scale\": 2 } ] }");
	assert_false(xen_meta_moment(meta, &tsc, &realtime_ns));
	xen_meta_free(meta);
	assert_false(xen_meta_moment(NULL, &tsc, &realtime_ns));
	for (size_t i = 0; i < 6; i++) {
		static const char *const wrong[] = {
			"{}", "{ \"begin\": 5 }", "{ \"begin\": { \"tsc\": 5 } }",
			"{ \"begin\": { \"realtime_ns\": 5 } }",
			"{ \"begin\": { \"realtime_ns\": -5, \"tsc\": 5 } }",
			"{ \"begin\": { \"realtime_ns\": 5, \"tsc\": 1.5 } }",
		};

		meta = load(wrong[i]);
		assert_false(xen_meta_moment(meta, &tsc, &realtime_ns));
		xen_meta_free(meta);
	}
}

static void test_unknown_and_wrong(void **state)
{
	struct xen_meta *meta = load("{}");

	(void)state;
	assert_int_equal(meta->cpu_khz, 0);
	assert_null(meta->xen_version);
	assert_null(meta->scheduler);
	assert_int_equal(meta->n_domains, 0);
	assert_null(xen_meta_domain_name(meta, 0));
	xen_meta_free(meta);
	/* unknown keys and values of the wrong type are as if they were not there */
	meta = load("{ \"future\": [1, {\"a\": null}], \"cpu_khz\": null,"
		    "  \"xen_version\": 4.17,"
		    "  \"scheduler\": null, \"domains\": { \"id\": 1, \"name\": \"x\" } }");
	assert_int_equal(meta->cpu_khz, 0);
	assert_null(meta->xen_version);
	assert_null(meta->scheduler);
	assert_int_equal(meta->n_domains, 0);
	xen_meta_free(meta);
	meta = load("{ \"domains\": [ 7, null, [], \"x\", {}, { \"id\": 1 }, { \"name\": \"y\" },"
		    " { \"id\": -1, \"name\": \"n\" }, { \"id\": 65536, \"name\": \"n\" },"
		    " { \"id\": \"2\", \"name\": \"n\" }, { \"id\": 3, \"name\": 3 },"
		    " { \"id\": 4, \"name\": \"\" },"
		    " { \"id\": 6, \"name\": \"good\", \"more\": 1 },"
		    " { \"id\": 1e30, \"name\": \"n\" } ] }");
	assert_int_equal(meta->n_domains, 1);
	assert_string_equal(xen_meta_domain_name(meta, 6), "good");
	xen_meta_free(meta);
}

/** Who is pinned to which pCPU: one vCPU, and that to one pCPU only. */
static void test_pins(void **state)
{
	struct xen_meta *meta = load(
		"{ \"domains\": [ { \"id\": 3, \"name\": \"c\", \"vcpus\": ["
		"  { \"id\": 7, \"hard_affinity\": \"2\" }, { \"id\": 8, \"hard_affinity\": 5 },"
		"  { \"id\": 1, \"hard_affinity\": \"all\" }, { \"id\": 2 }, 4, null, [],"
		"  { \"id\": 3, \"hard_affinity\": \"0-1\" },"
		"  { \"id\": 4, \"hard_affinity\": \"9,10\" },"
		"  { \"id\": 5, \"hard_affinity\": \"-1\" },"
		"  { \"id\": 6, \"hard_affinity\": \"32768\" },"
		"  { \"id\": 9, \"hard_affinity\": \"99999999999999999999\" },"
		"  { \"id\": 10000, \"hard_affinity\": \"11\" },"
		"  { \"id\": -1, \"hard_affinity\": \"12\" },"
		"  { \"id\": 10, \"hard_affinity\": [ 13 ] },"
		"  { \"id\": 12, \"hard_affinity\": \"\" },"
		"  { \"id\": 13, \"hard_affinity\": \":\" },"
		"  { \"id\": 14, \"hard_affinity\": \"0\" },"
		"  { \"id\": 15, \"hard_affinity\": \"32767\" },"
		"  { \"id\": 16, \"hard_affinity\": \"20\" },"
		"  { \"id\": 17, \"hard_affinity\": \"20\" },"
		"  { \"id\": 18, \"hard_affinity\": \"20\" },"
		"  { \"id\": 11, \"hard_affinity\": \"14\" } ] },"
		" { \"id\": 1, \"vcpus\": [ { \"id\": 0, \"hard_affinity\": \"14\" } ] },"
		" { \"id\": 32767, \"vcpus\": [ { \"id\": 0, \"hard_affinity\": \"15\" } ] },"
		" { \"id\": 4, \"vcpus\": { \"id\": 0, \"hard_affinity\": \"16\" } } ] }");
	const struct xen_meta_pin *pin = xen_meta_pinned(meta, 2);

	(void)state;
	assert_non_null(pin);
	assert_int_equal(pin->domid, 3);
	assert_int_equal(pin->vcpu, 7);
	pin = xen_meta_pinned(meta, 5);
	assert_non_null(pin);
	assert_int_equal(pin->vcpu, 8);
	/* the lowest and the highest there can be */
	assert_int_equal(xen_meta_pinned(meta, 0)->vcpu, 14);
	assert_int_equal(xen_meta_pinned(meta, 32767)->vcpu, 15);
	for (uint32_t pcpu = 1; pcpu < 40000; pcpu++) {
		if (pcpu != 2 && pcpu != 5 && pcpu != 32767)
			assert_null(xen_meta_pinned(meta, pcpu));
	}
	assert_null(xen_meta_pinned(NULL, 2));
	assert_string_equal(xen_meta_domain_name(meta, 3), "c");
	/* lists of any kind, also of domains without a name */
	assert_string_equal(xen_meta_affinity(meta, 3, 1), "all");
	assert_null(xen_meta_affinity(meta, 3, 2));
	assert_string_equal(xen_meta_affinity(meta, 3, 4), "9,10");
	assert_string_equal(xen_meta_affinity(meta, 1, 0), "14");
	assert_null(xen_meta_affinity(meta, 2, 0));
	assert_null(xen_meta_affinity(meta, 3, UINT32_MAX));
	assert_null(xen_meta_affinity(NULL, 3, 1));
	xen_meta_free(meta);
}

/** Offsets in each of the forms they are seen in; what cannot be is left out. */
static void test_tsc(void **state)
{
	static const struct {
		uint32_t id;
		int64_t offset;
		double scale;
	} wanted[] = {
		{ 1, -26214574438, 1 }, { 2, -5, 1 }, { 3, 7, 1.5 }, { 4, -1, 1 }, { 5, 0, 0 },
		{ 6, 0, 0 }, { 7, 0, 0 }, { 8, 0, 0 }, { 9, 0, 0 }, { 10, 0, 0 },
	};
	struct xen_meta *meta = load(
		"{ \"domains\": [ { \"id\": 1, \"tsc_offset\": \"0xfffffff9e57d569a\" },"
		" { \"id\": 2, \"tsc_offset\": -5 },"
		" { \"id\": 3, \"name\": \"c\", \"tsc_offset\": \"7\", \"tsc_scale\": 1.5 },"
		" { \"id\": 4, \"tsc_offset\": 18446744073709551615 },"
		" { \"id\": 5, \"name\": \"e\", \"tsc_offset\": \"0x1g\" },"
		" { \"id\": 6, \"name\": \"f\", \"tsc_offset\": \"0x1ffffffffffffffff\" },"
		" { \"id\": 7, \"name\": \"g\", \"tsc_offset\": 1, \"tsc_scale\": 0 },"
		" { \"id\": 9, \"name\": \"i\", \"tsc_offset\": \"\" },"
		" { \"id\": 10, \"name\": \"j\", \"tsc_offset\": 1, \"tsc_scale\": 1e30 },"
		" { \"id\": 8, \"name\": \"h\", \"tsc_offset\": null } ] }");

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		const struct xen_meta_domain *domain = xen_meta_domain(meta, wanted[i].id);

		assert_non_null(domain);
		assert_true(domain->tsc_scale == wanted[i].scale);
		if (wanted[i].scale > 0)
			assert_int_equal(domain->tsc_offset, wanted[i].offset);
	}
	assert_null(xen_meta_domain_name(meta, 1));
	assert_string_equal(xen_meta_domain_name(meta, 3), "c");
	assert_null(xen_meta_domain(NULL, 1));
	xen_meta_free(meta);
}

static void test_refused(void **state)
{
	static const char whole[] = "{ \"cpu_khz\": 2300000, \"domains\": [ { \"id\": 1, "
				    "\"name\": \"burny\" } ] }";
	char *deep = malloc(100001), error[64] = "";

	(void)state;
	for (size_t n = 0; n < sizeof(whole) - 1; n++)
		refuse(whole, n, EINVAL, "not a JSON object");
	refuse("[1, 2]", 6, EINVAL, "not a JSON object");
	refuse("\"text\"", 6, EINVAL, "not a JSON object");
	refuse("{ \"cpu_khz\" 5 }", 15, EINVAL, "offset 12");
	refuse("\0\0\0\0", 4, EINVAL, "not a JSON object");
	refuse("\xff\xfe{}", 4, EINVAL, "not a JSON object");
	refuse("{ \"cpu_khz\": -1 }", 17, EINVAL, "cpu_khz -1");
	refuse("{ \"cpu_khz\": 100000001 }", 24, EINVAL, "cpu_khz 100000001");
	refuse("{ \"cpu_khz\": 99999999999999999999999 }", 38, EINVAL, "no CPU frequency");
	refuse("{ \"cpu_khz\": \"2300000\" }", 24, EINVAL, "cpu_khz \"2300000\" is no CPU");
	refuse("{ \"cpu_khz\": 2300000.5 }", 24, EINVAL, "cpu_khz 2300000.5 is no CPU");
	refuse("{ \"cpu_khz\": 999 }", 18, EINVAL, "from 1000");
	refuse("{ \"cpu_khz\": 0 }", 16, EINVAL, "cpu_khz 0 is no CPU");
	refuse("{ \"cpu_khz\": 2e400 }", 20, EINVAL, "no CPU frequency");
	refuse("{ \"cpu_khz\": true }", 19, EINVAL, "cpu_khz true is");
	refuse("{ \"cpu_khz\": [ 2300000 ] }", 26, EINVAL, "no CPU frequency");
	memset(deep, '[', 100000);
	memcpy(deep, "{\"a\":", 5);
	refuse(deep, 100000, EINVAL, "not a JSON object");
	free(deep);
	assert_null(load_bytes("{", 1, NULL, 0));
	assert_null(xen_meta_load("/tmp", error, sizeof(error)));
	assert_non_null(strstr(error, "cannot read"));
}

static void test_missing(void **state)
{
	char error[256] = "";

	(void)state;
	assert_null(xen_meta_load("/nonexistent.meta.json", error, sizeof(error)));
	assert_int_equal(errno, ENOENT);
	assert_non_null(strstr(error, "/nonexistent.meta.json"));
}

static void test_huge(void **state)
{
	size_t room = SIDECAR_MAX_BYTES + 1, n;
	char *text = malloc(room);
	struct xen_meta *meta;

	(void)state;
	memset(text, ' ', room);
	memcpy(text, "{}", 2);
	refuse(text, room, EFBIG, "too large");
	meta = load_bytes(text, room - 1, NULL, 0);
	assert_non_null(meta);
	xen_meta_free(meta);
	/* as many domains as there can be */
	n = sprintf(text, "{ \"domains\": [ { \"id\": 65535, \"name\": \"last\" }");
	for (int i = 65534; i >= 0; i--)
		n += sprintf(text + n, ",{\"id\":%d,\"name\":\"domain-%d\"}", i, i);
	n += sprintf(text + n, "] }");
	meta = load_bytes(text, n, NULL, 0);
	assert_non_null(meta);
	assert_int_equal(meta->n_domains, 65536);
	assert_string_equal(xen_meta_domain_name(meta, 65535), "last");
	assert_string_equal(xen_meta_domain_name(meta, 4711), "domain-4711");
	xen_meta_free(meta);
	free(text);
}

/* What would never end, or never begin. */
static void test_special_files(void **state)
{
	static const char *const files[] = { "/dev/zero", "/dev/full", NULL };
	char fifo[] = "/tmp/ksv-meta-XXXXXX", error[256];
	int fd = mkstemp(fifo);

	(void)state;
	close(fd);
	unlink(fifo);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	for (int i = 0; i < 3; i++) {
		const char *path = files[i] ? files[i] : fifo;

		assert_null(xen_meta_load(path, error, sizeof(error)));
		assert_int_equal(errno, EINVAL);
		if (!strstr(error, "not a regular file"))
			fail_msg("%s", error);
	}
	unlink(fifo);
}

static void test_path(void **state)
{
	char *path = sidecar_path("/a/b.xen");

	(void)state;
	assert_string_equal(path, "/a/b.xen.meta.json");
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_moment),
		cmocka_unit_test(test_unknown_and_wrong),
		cmocka_unit_test(test_pins),
		cmocka_unit_test(test_tsc),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_special_files),
		cmocka_unit_test(test_path),
	};

	return cmocka_run_group_tests_name("xen_meta", tests, NULL, NULL);
}
