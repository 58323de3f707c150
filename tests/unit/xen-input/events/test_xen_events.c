/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The event table's sanity, and the engine that decodes records with it.
 *
 * Expected values of records are worked out by hand from the payload structures at the places in
 * Xen that emit them, not from the table.
 */
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "xen_events.h"
#include "xentrace_reader.h"

/* A record with its payload, which is little-endian. */
struct sample {
	struct xentrace_record	rec;
};

static void sample_set(struct sample *s, uint32_t event, unsigned int n, const uint32_t *words)
{
	unsigned int i;

	assert_true(n <= XENTRACE_MAX_WORDS);
	memset(s, 0, sizeof(*s));
	for (i = 0; i < n; i++)
		s->rec.words[i] = htole32(words[i]);
	s->rec.event = event;
	s->rec.n_words = n;
	s->rec.flags = XENTRACE_HAS_TSC;
}

#define SAMPLE(s, event, ...)							\
	do {									\
		const uint32_t words_[] = { __VA_ARGS__ };			\
		sample_set(&(s), event, ARRAY_SIZE(words_), words_);		\
	} while (0)

static void check_info(const struct sample *s, enum xen_isa isa, const char *expected)
{
	char buf[512];
	int n = xen_record_info(buf, sizeof(buf), &s->rec, isa);

	assert_string_equal(buf, expected);
	assert_int_equal(n, strlen(expected));
}

static int64_t field(const struct sample *s, const char *name)
{
	int64_t value = INT64_MIN;

	if (xen_record_field(&s->rec, name, &value))
		fail_msg("event 0x%08x has no field %s", s->rec.event, name);
	return value;
}

static void check_no_field(const struct sample *s, const char *name)
{
	int64_t value = 4711;

	assert_int_equal(xen_record_field(&s->rec, name, &value), -ENOENT);
	assert_int_equal(value, 4711);
}

static void check_text(enum xen_field_kind kind, unsigned int width, uint64_t value,
		       enum xen_isa isa, const char *expected)
{
	char buf[256];
	int n = xen_field_text(buf, sizeof(buf), kind, width, value, isa);

	assert_string_equal(buf, expected);
	assert_int_equal(n, strlen(expected));
}

/* ---- the table ---- */

static void test_ids_and_names(void **state)
{
	int i, j, n = xen_events_count();

	(void)state;
	assert_true(n > 0);
	for (i = 0; i < n; i++) {
		const struct xen_event *ev = xen_event_at(i);
		const char *c;

		assert_non_null(ev);
		assert_int_equal(ev->id & ~XEN_TRC_ID_MASK, 0);
		assert_true(ev->id != 0);
		assert_true(*ev->name && *ev->symbol && *ev->help);
		assert_non_null(ev->layouts);
		for (c = ev->name; *c; c++)
			if (!islower(*c) && !isdigit(*c) && *c != '_' && *c != ':')
				fail_msg("name '%s' has a '%c'", ev->name, *c);
		assert_string_not_equal(xen_event_class(ev->id), "unknown");
		for (j = 0; j < i; j++) {
			if (xen_event_at(j)->id == ev->id)
				fail_msg("id 0x%08x twice", ev->id);
			if (!strcmp(xen_event_at(j)->name, ev->name))
				fail_msg("name %s twice", ev->name);
		}
	}
	assert_null(xen_event_at(-1));
	assert_null(xen_event_at(n));
	assert_null(xen_event_at(INT_MAX));
	assert_null(xen_event_at(INT_MIN));
}

static bool is_identifier(const char *name)
{
	if (!isalpha(*name) && *name != '_')
		return false;
	while (*++name)
		if (!isalnum(*name) && *name != '_')
			return false;
	return true;
}

/* Words that Xen emits but that mean nothing. */
static const struct {
	uint32_t	id;
	int		n_words;
	int		word;
} padding[] = {
	{ 0x0002220c, 6, 5 },	/* csched2:updt_runq_load, the structure's tail */
	{ 0x00022211, 6, 5 },	/* csched2:load_balance, the structure's tail */
};

static bool is_padding(uint32_t id, int n_words, int word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(padding); i++)
		if (padding[i].id == id && padding[i].n_words == n_words &&
		    padding[i].word == word)
			return true;
	return false;
}

static void check_layout(const struct xen_event *ev, const struct xen_layout *layout)
{
	uint32_t used[XENTRACE_MAX_WORDS] = { 0 }, mask;
	const struct xen_field *f, *g;
	bool packed = false;
	int i;

	if (layout->n_words > XENTRACE_MAX_WORDS || !layout->versions || !*layout->versions)
		fail_msg("%s: bad layout of %d words", ev->name, layout->n_words);

	for (f = layout->fields; f->name; f++) {
		if (!is_identifier(f->name) || !strncmp(f->name, "extra", 5))
			fail_msg("%s: bad field name '%s'", ev->name, f->name);
		for (g = layout->fields; g != f; g++)
			if (!strcmp(f->name, g->name))
				fail_msg("%s: field %s twice", ev->name, f->name);
		if (f->kind >= XEN_FIELD_N_KINDS)
			fail_msg("%s.%s: bad kind %d", ev->name, f->name, f->kind);
		if (f->kind == XEN_FIELD_VCPU && f->width != 32)
			fail_msg("%s.%s: a vCPU has 32 bits", ev->name, f->name);

		if (f->word == XEN_FIELD_FROM_ID) {
			if (!f->width || f->shift + f->width > 28)
				fail_msg("%s.%s: not within the id", ev->name, f->name);
			continue;
		}
		if (f->kind == XEN_FIELD_HYPERCALL_ARGS) {
			packed = true;
			continue;
		}
		if (f->width == 64) {
			if (f->shift || f->word + 2 > layout->n_words)
				fail_msg("%s.%s: not within the payload", ev->name, f->name);
			if (used[f->word] || used[f->word + 1])
				fail_msg("%s.%s overlaps", ev->name, f->name);
			used[f->word] = used[f->word + 1] = UINT32_MAX;
			continue;
		}
		if (!f->width || f->shift + f->width > 32 || f->word >= layout->n_words)
			fail_msg("%s.%s: not within the payload", ev->name, f->name);
		mask = (f->width == 32 ? UINT32_MAX : (1u << f->width) - 1) << f->shift;
		if (used[f->word] & mask)
			fail_msg("%s.%s overlaps", ev->name, f->name);
		used[f->word] |= mask;
	}

	for (i = 0; i < layout->n_words && !packed; i++)
		if (!used[i] != is_padding(ev->id, layout->n_words, i))
			fail_msg("%s: word %d of %d: %s", ev->name, i, layout->n_words,
				 used[i] ? "is a field and padding" : "belongs to no field");
}

static void test_layouts(void **state)
{
	const struct xen_layout *a, *b;
	int i;

	(void)state;
	for (i = 0; i < xen_events_count(); i++) {
		const struct xen_event *ev = xen_event_at(i);

		for (a = ev->layouts; a->n_words >= 0; a++) {
			check_layout(ev, a);
			for (b = ev->layouts; b != a; b++)
				if (a->n_words == b->n_words)
					fail_msg("%s: two layouts of %d words", ev->name,
						 a->n_words);
		}
	}
}

/* What tools/xentrace/formats of 4.17 and include/public/trace.h of current Xen define. */
static void test_all_known_ids(void **state)
{
	static const uint32_t known[] = {
		0x0001f001, 0x0001f002, 0x0001f003, 0x0001f004, 0x00021001, 0x00021002,
		0x00021011, 0x00021021, 0x00021031, 0x00021101, 0x00021121, 0x00021131,
		0x00021201, 0x00021211, 0x00021231, 0x00021301, 0x00021311, 0x00021321,
		0x00022001, 0x00022002, 0x00022003, 0x00022004, 0x00022005, 0x00022006,
		0x00022007, 0x00022008, 0x00022009, 0x0002200a, 0x0002200b, 0x00022201,
		0x00022202, 0x00022203, 0x00022204, 0x00022205, 0x00022206, 0x00022207,
		0x00022208, 0x00022209, 0x0002220a, 0x0002220b, 0x0002220c, 0x0002220d,
		0x0002220e, 0x0002220f, 0x00022210, 0x00022211, 0x00022212, 0x00022213,
		0x00022214, 0x00022215, 0x00022216, 0x00022217, 0x00022801, 0x00022802,
		0x00022803, 0x00022804, 0x00022805, 0x00022806, 0x00022a01, 0x00022a02,
		0x00022a03, 0x00022a04, 0x00022a05, 0x00022a06, 0x00028001, 0x00028002,
		0x00028003, 0x00028004, 0x00028005, 0x00028006, 0x00028007, 0x00028008,
		0x00028009, 0x0002800a, 0x0002800b, 0x0002800c, 0x0002800d, 0x0002800e,
		0x0002800f, 0x00028010, 0x00028011, 0x00041001, 0x00041002, 0x00081001,
		0x00081002, 0x00081003, 0x00081102, 0x00081103, 0x00081401, 0x00081402,
		0x00081502, 0x00082001, 0x00082002, 0x00082003, 0x00082004, 0x00082005,
		0x00082006, 0x00082007, 0x00082008, 0x00082009, 0x0008200a, 0x0008200b,
		0x0008200c, 0x0008200d, 0x0008200e, 0x0008200f, 0x00082010, 0x00082011,
		0x00082012, 0x00082013, 0x00082014, 0x00082015, 0x00082016, 0x00082017,
		0x00082018, 0x00082019, 0x0008201a, 0x00082020, 0x00082021, 0x00082022,
		0x00082023, 0x00082024, 0x00082025, 0x00082101, 0x00082102, 0x00082108,
		0x00082109, 0x00082114, 0x00082119, 0x00082126, 0x00082127, 0x00082216,
		0x00082217, 0x00084001, 0x00084002, 0x00084003, 0x00084004, 0x00084005,
		0x00084006, 0x00084007, 0x00084008, 0x00084009, 0x0008400a, 0x0008400b,
		0x0008400c, 0x0008400d, 0x0008400e, 0x0008400f, 0x00084010, 0x00084011,
		0x0010f001, 0x0010f002, 0x0010f003, 0x0010f004, 0x0010f005, 0x0010f010,
		0x0010f011, 0x0010f012, 0x00201001, 0x00201003, 0x00201004, 0x00201005,
		0x00201006, 0x00201007, 0x00201008, 0x00201009, 0x0020100a, 0x0020100b,
		0x0020100c, 0x0020100d, 0x00201101, 0x00201103, 0x00201104, 0x00201105,
		0x00201106, 0x00201107, 0x00201108, 0x00201109, 0x0020110a, 0x0020110b,
		0x0020110c, 0x0020200e, 0x0040f001, 0x0040f002, 0x0040f003, 0x0040f004,
		0x0040f005, 0x0040f006, 0x0040f007, 0x0040f008, 0x0040f009, 0x0040f00a,
		0x0040f00b, 0x0040f00c, 0x0040f00d, 0x0040f00e, 0x0040f00f, 0x0040f101,
		0x0040f102, 0x0040f103, 0x0040f104, 0x0040f105, 0x0040f106, 0x0040f107,
		0x0040f108, 0x0040f109, 0x0040f10a, 0x0040f10b, 0x0040f10c, 0x0040f10d,
		0x0040f10e, 0x0040f10f, 0x00801001, 0x00801002, 0x00801003, 0x00802001,
		0x00802002, 0x00802003, 0x00802004, 0x00802005, 0x00802006, 0x00802007,
		0x00802008,
	};
	size_t i;
	int index;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		index = xen_event_index(known[i]);
		if (index < 0)
			fail_msg("0x%08x is not in the table", known[i]);
		assert_int_equal(xen_event_at(index)->id, known[i]);
	}
}

static void test_runstate_ids(void **state)
{
	unsigned int old, new;
	char name[64];
	int index;

	(void)state;
	for (old = 0; old < 4; old++) {
		for (new = 0; new < 4; new++) {
			index = xen_event_index(0x00021001 | old << 8 | new << 4);
			assert_true(index >= 0);
			snprintf(name, sizeof(name), "%s_to_%s", xen_runstate_name(old),
				 xen_runstate_name(new));
			assert_string_equal(xen_event_at(index)->name, name);
		}
	}
}

/* ---- look-ups ---- */

static void test_index(void **state)
{
	static const uint32_t unknown[] = {
		0, 1, 0x0001f000, 0x0001f0ff, 0x00021fff, 0x00022400, 0x0002f00a, 0x0800e000,
		0x08010000, 0x0fffffff, 0x10021011, 0x8002800e, 0xffffffff,
	};
	size_t i;
	int n;

	(void)state;
	for (n = 0; n < xen_events_count(); n++)
		assert_int_equal(xen_event_index(xen_event_at(n)->id), n);
	for (i = 0; i < ARRAY_SIZE(unknown); i++)
		assert_int_equal(xen_event_index(unknown[i]), -1);

	assert_string_equal(xen_event_at(xen_event_index(XEN_TRC_SCHED_SWITCH))->symbol,
			    "SCHED_SWITCH");
	/* A guest's own numbers all lead to one row. */
	n = xen_event_index(0x0800f000);
	assert_true(n >= 0);
	assert_int_equal(xen_event_index(0x0800f001), n);
	assert_int_equal(xen_event_index(0x0800ffff), n);
}

static void test_find(void **state)
{
	int n;

	(void)state;
	for (n = 0; n < xen_events_count(); n++)
		assert_int_equal(xen_event_find(xen_event_at(n)->name), n);
	assert_int_equal(xen_event_at(xen_event_find("csched2:credit_burn"))->id, 0x00022203);
	/* xentrace's formats file is off by one from here on; we are not. */
	assert_int_equal(xen_event_at(xen_event_find("csched2:pick_cpu"))->id, 0x00022213);
	assert_int_equal(xen_event_at(xen_event_find("csched2:runq_cand_chk"))->id, 0x00022217);
	assert_int_equal(xen_event_find(""), -1);
	assert_int_equal(xen_event_find("switch"), -1);
	assert_int_equal(xen_event_find("SWITCH_INFPREV"), -1);
}

static void *index_all(void *arg)
{
	int n, *wrong = arg;

	for (n = 0; n < xen_events_count(); n++)
		*wrong += xen_event_index(xen_event_at(n)->id) != n;
	return NULL;
}

/* Must be the first test that looks an id up, so that the threads race for the first use. */
static void test_first_use_by_threads(void **state)
{
	pthread_t threads[8];
	int wrong[ARRAY_SIZE(threads)] = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, index_all, &wrong[i]), 0);
	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(wrong[i], 0);
	}
}

static void test_class(void **state)
{
	(void)state;
	assert_string_equal(xen_event_class(0x0001f001), "gen");
	assert_string_equal(xen_event_class(0x00022203), "sched");
	assert_string_equal(xen_event_class(0x00041001), "dom0op");
	assert_string_equal(xen_event_class(0x00081002), "hvm");
	assert_string_equal(xen_event_class(0x0010f001), "mem");
	assert_string_equal(xen_event_class(0x0020100d), "pv");
	assert_string_equal(xen_event_class(0x0040f001), "shadow");
	assert_string_equal(xen_event_class(0x00802001), "hw");
	assert_string_equal(xen_event_class(0x0800f001), "guest");
	assert_string_equal(xen_event_class(0x00000001), "unknown");
	assert_string_equal(xen_event_class(0x00030000), "unknown");
}

static void test_layout_choice(void **state)
{
	static const struct xen_field no_fields[] = { { .name = NULL } };
	static const struct xen_layout unsorted[] = {
		{ 5, "a", no_fields }, { 1, "b", no_fields }, { 3, "c", no_fields },
		{ .n_words = -1 },
	};
	static const struct xen_event any_order = { .name = "any_order", .layouts = unsorted };
	const struct xen_event *prev, *burn, *tick, *call, *none;

	(void)state;
	/* Two layouts: 2 and 3 words. */
	prev = xen_event_at(xen_event_index(0x0002800e));
	assert_int_equal(xen_event_layout(prev, 2)->n_words, 2);
	assert_int_equal(xen_event_layout(prev, 3)->n_words, 3);
	assert_null(xen_event_layout(prev, 4));
	assert_null(xen_event_layout(prev, 1));
	assert_null(xen_event_layout(prev, 0));
	/* 4 and 6 words, and others in between: those with 5 are of an unknown Xen. */
	burn = xen_event_at(xen_event_index(0x00022803));
	assert_null(xen_event_layout(burn, 5));
	/* In whatever order the layouts stand. */
	assert_int_equal(xen_event_layout(&any_order, 3)->n_words, 3);
	assert_null(xen_event_layout(&any_order, 4));
	/* An event without payload. */
	tick = xen_event_at(xen_event_index(0x00022208));
	assert_int_equal(xen_event_layout(tick, 0)->n_words, 0);
	assert_null(xen_event_layout(tick, 3));
	/* As many words as the hypercall has arguments. */
	call = xen_event_at(xen_event_index(0x0020100d));
	assert_non_null(xen_event_layout(call, 7));
	none = xen_event_at(xen_event_index(0x00022212));
	assert_null(xen_event_layout(none, 0));
	assert_null(xen_event_layout(none, 4));
}

/* ---- records ---- */

static void test_runstate_record(void **state)
{
	struct sample s;

	(void)state;
	SAMPLE(s, 0x00021211, 3u << 16 | 5);
	check_info(&s, XEN_ISA_UNKNOWN, "vcpu=d3v5 old=blocked new=runnable");
	assert_int_equal(field(&s, "vcpu"), 0x30005);
	assert_int_equal(field(&s, "old"), 2);
	assert_int_equal(field(&s, "new"), 1);
	check_no_field(&s, "domid");

	SAMPLE(s, 0x00021101, 0x7fffu << 16 | 2);
	check_info(&s, XEN_ISA_UNKNOWN, "vcpu=d[idle]v2 old=runnable new=running");
}

/* Domain below and vCPU above: the other way round than in every scheduler record. */
static void test_lost_records(void **state)
{
	struct sample s;

	(void)state;
	SAMPLE(s, 0x0001f001, 1234, 7u << 16 | 2, 0x89abcdef, 0x01234567);
	check_info(&s, XEN_ISA_UNKNOWN,
		   "lost_records=1234 domid=d2 vcpu=7 first_tsc=81985529216486895");
	assert_int_equal(field(&s, "domid"), 2);
	assert_int_equal(field(&s, "vcpu"), 7);
	assert_int_equal(field(&s, "first_tsc"), 0x0123456789abcdef);
}

static void test_switch(void **state)
{
	struct sample s;

	(void)state;
	/* 4.0 to 4.7, and since 4.8. */
	SAMPLE(s, 0x0002800e, 1, 300000);
	check_info(&s, XEN_ISA_UNKNOWN, "domid=d1 runtime=300000ns");
	SAMPLE(s, 0x0002800e, 1, 3, 300000);
	check_info(&s, XEN_ISA_UNKNOWN, "domid=d1 vcpu=3 runtime=300000ns");
	SAMPLE(s, 0x0002800f, 0x7fff, 3, 0, 0xffffffff);
	check_info(&s, XEN_ISA_UNKNOWN, "domid=d[idle] vcpu=3 waited=0ns slice=none");
	assert_int_equal(field(&s, "slice"), 0xffffffff);
	SAMPLE(s, 0x0002800a, 1, 0, 0x7fff, 2);
	check_info(&s, XEN_ISA_UNKNOWN,
		   "prev_domid=d1 prev_vcpu=0 next_domid=d[idle] next_vcpu=2");
}

static void test_shutdown(void **state)
{
	struct sample s;

	(void)state;
	SAMPLE(s, 0x00028010, 4, 0, 3);
	check_info(&s, XEN_ISA_UNKNOWN, "domid=d4 vcpu=0 reason=crash");
	SAMPLE(s, 0x00028010, 4, 0, 77);
	check_info(&s, XEN_ISA_UNKNOWN, "domid=d4 vcpu=0 reason=77");
}

static void test_credit(void **state)
{
	struct sample s;

	(void)state;
	/* The pCPU comes first in this one. */
	SAMPLE(s, 0x00022004, 6, 2, 1);
	check_info(&s, XEN_ISA_UNKNOWN, "from=6 domid=d2 vcpu=1");
	/* { uint16_t cpu; uint8_t tasklet, idle; } */
	SAMPLE(s, 0x00022009, 0x01u << 24 | 0x00u << 16 | 300);
	check_info(&s, XEN_ISA_UNKNOWN, "cpu=300 tasklet=no idle=yes");
}

static void test_credit2_burn(void **state)
{
	struct sample s;

	(void)state;
	SAMPLE(s, 0x00022203, 1u << 16, (uint32_t)-500, 2000);
	check_info(&s, XEN_ISA_UNKNOWN, "vcpu=d1v0 credit=-500 delta=2000");
	SAMPLE(s, 0x00022203, 1u << 16, (uint32_t)-500, 0x80000000, 2000);
	check_info(&s, XEN_ISA_UNKNOWN, "vcpu=d1v0 credit=-500 budget=-2147483648 delta=2000");
	assert_int_equal(field(&s, "credit"), -500);
	assert_int_equal(field(&s, "budget"), INT32_MIN);
}

static void test_credit2_loads(void **state)
{
	struct sample s;

	(void)state;
	/* 4.8-: { u64 rq_avgload, b_avgload; u16 rq_load; u8 rq_id, shift; } and padding. */
	SAMPLE(s, 0x0002220c, 0x89, 0x1, 0x55, 0x2, 18u << 24 | 3u << 16 | 6, 0xdeadbeef);
	check_info(&s, XEN_ISA_UNKNOWN,
		   "rq_avgload=4294967433 b_avgload=8589934677 rq_load=6 rq_id=3 wshift=18");
	/* -4.7: { unsigned rq_load:4, rq_avgload:28; unsigned rq_id:4, b_avgload:28; } */
	SAMPLE(s, 0x0002220c, 1000u << 4 | 6, 2000u << 4 | 1);
	check_info(&s, XEN_ISA_UNKNOWN, "rq_load=6 rq_avgload=1000 rq_id=1 b_avgload=2000");
	/* { u64 v_avgload; u16 vcpu, dom; u32 shift; }, and { vcpu, dom; u32 v_avgload; } */
	SAMPLE(s, 0x0002220b, 121413, 0, 2u << 16 | 1, 18);
	check_info(&s, XEN_ISA_UNKNOWN, "vcpuload=121413 vcpu=d2v1 wshift=18");
	SAMPLE(s, 0x0002220b, 2u << 16 | 1, 121413);
	check_info(&s, XEN_ISA_UNKNOWN, "vcpu=d2v1 vcpuload=121413");
}

static void test_credit2_choices(void **state)
{
	struct sample s;

	(void)state;
	SAMPLE(s, 0x00022213, 9, 0, 2u << 16 | 1, 3u << 16 | 0xffff);
	check_info(&s, XEN_ISA_UNKNOWN, "b_avgload=9 vcpu=d2v1 rq_id=-1 new_cpu=3");
	assert_int_equal(field(&s, "rq_id"), -1);
	SAMPLE(s, 0x00022214, 2u << 16 | 1, 0xffffffff, 10129754);
	check_info(&s, XEN_ISA_UNKNOWN, "vcpu=d2v1 tickled_cpu=-1 credit=10129754");
	SAMPLE(s, 0x00022214, 2u << 16 | 1, 2, 1, 10129754);
	check_info(&s, XEN_ISA_UNKNOWN, "vcpu=d2v1 tickled_cpu=2 skipped=1 credit=10129754");
	/* { u16 cpu, rq_id; u8 tasklet, idle, smt_idle, tickled; } */
	SAMPLE(s, 0x00022215, 1u << 16 | 5, 0x01000100);
	check_info(&s, XEN_ISA_UNKNOWN,
		   "cpu=5 rq_id=1 tasklet=no idle=yes smt_idle=no tickled=yes");
}

static void test_rtds(void **state)
{
	struct sample s;

	(void)state;
	/* Packed: the 64-bit members are not aligned. */
	SAMPLE(s, 0x00022803, 1u << 16 | 2, 4000000, 0, 1000, 3, 0xcccccc01);
	check_info(&s, XEN_ISA_UNKNOWN, "vcpu=d1v2 cur_budget=4000000ns delta=1000ns "
		   "priority_level=3 has_extratime=yes");
	SAMPLE(s, 0x00022804, 1u << 16 | 2, 3, 0x1, 0x2, 4000000, 0);
	check_info(&s, XEN_ISA_UNKNOWN,
		   "vcpu=d1v2 priority_level=3 cur_deadline=8589934593ns cur_budget=4000000ns");
	/* 4.5 and 4.6, with domain and vCPU swapped. */
	SAMPLE(s, 0x00022805, 2u << 16 | 1, 5, 0, 6, 0);
	check_info(&s, XEN_ISA_UNKNOWN, "domid=d1 vcpu=2 cur_deadline=5ns cur_budget=6ns");
	/* { u16 cpu; u8 tasklet, tickled:4, idle:4; } */
	SAMPLE(s, 0x00022806, 0x1001u << 16 | 7);
	check_info(&s, XEN_ISA_UNKNOWN, "cpu=7 tasklet=yes tickled=no idle=yes");
}

static void test_null(void **state)
{
	struct sample s;

	(void)state;
	SAMPLE(s, 0x00022a05, 4u << 16 | 1, 0xffffffff);
	check_info(&s, XEN_ISA_UNKNOWN, "tasklet=yes cpu=4 vcpu=none");
	SAMPLE(s, 0x00022a04, 1u << 16, 5u << 16 | 4);
	check_info(&s, XEN_ISA_UNKNOWN, "vcpu=d1v0 cpu=4 new_cpu=5");
}

static void test_memory(void **state)
{
	struct sample s;

	(void)state;
	SAMPLE(s, 0x0010f004, 0x1000, 0x1, 0x2000, 0, 4, 9u << 16 | 1);
	check_info(&s, XEN_ISA_UNKNOWN, "gfn=0x100001000 mfn=0x2000 p2mt=4 domid=d1 order=9");
	/* Since 4.18; and up to 4.17, with garbage in the last word. */
	SAMPLE(s, 0x0010f005, 0x1000, 0, 1, 9);
	assert_int_equal(field(&s, "domid"), 1);
	assert_int_equal(field(&s, "order"), 9);
	assert_int_equal(field(&s, "order_4_17"), 0);
	SAMPLE(s, 0x0010f005, 0x1000, 0, 9u << 16 | 1, 0xdeadbeef);
	assert_int_equal(field(&s, "domid"), 1);
	assert_int_equal(field(&s, "order_4_17"), 9);
}

static void test_irq(void **state)
{
	struct sample s;

	(void)state;
	SAMPLE(s, 0x00802006, 0x31u << 16 | 9, 0x5, 0x1, 0, 0, 0, 0x80000000);
	check_info(&s, XEN_ISA_UNKNOWN, "irq=9 vector=0x31 cpus_0=0x100000005 cpus_64=0x0 "
		   "cpus_128=0x8000000000000000");
	assert_int_equal(field(&s, "cpus_128"), INT64_MIN);
	SAMPLE(s, 0x00801003, 2, 77, 0xf0, 0, 0, 0);
	check_info(&s, XEN_ISA_UNKNOWN,
		   "cstate=2 tick=77 irq0=0xf0 irq1=0x00 irq2=0x00 irq3=0x00");
}

static void test_guest(void **state)
{
	struct sample s;

	(void)state;
	SAMPLE(s, 0x0800f123, 0xab, 0xcd);
	check_info(&s, XEN_ISA_UNKNOWN, "number=291 w0=0xab w1=0xcd");
	check_no_field(&s, "w2");
}

static void test_no_payload(void **state)
{
	struct sample s;

	(void)state;
	sample_set(&s, 0x00022208, 0, NULL);
	check_info(&s, XEN_ISA_UNKNOWN, "");
	SAMPLE(s, 0x00022208, 0x11, 0x22);
	check_info(&s, XEN_ISA_UNKNOWN, "w0=0x11 w1=0x22");
	/* Neither a layout nor a payload, and a payload without a layout. */
	sample_set(&s, 0x00022212, 0, NULL);
	check_info(&s, XEN_ISA_UNKNOWN, "");
	SAMPLE(s, 0x00022212, 0x11);
	check_info(&s, XEN_ISA_UNKNOWN, "w0=0x11");
}

static void test_longer_and_cut(void **state)
{
	struct sample s;

	(void)state;
	SAMPLE(s, 0x00021011, 1u << 16, 0xaa, 0xbb);
	/* The fields in the id are valid all the same. */
	check_info(&s, XEN_ISA_UNKNOWN, "old=running new=runnable w0=0x10000 w1=0xaa w2=0xbb");
	assert_int_equal(field(&s, "w2"), 0xbb);
	SAMPLE(s, 0x0001f001, 5, 7u << 16 | 2, 0x1);
	check_info(&s, XEN_ISA_UNKNOWN, "w0=0x5 w1=0x70002 w2=0x1");
	check_no_field(&s, "first_tsc");
	/* rtds:burn_budget of a private Xen: neither the 4 words of 4.5 nor the 6 of 4.10. */
	SAMPLE(s, 0x00022803, 0x10000, 1, 2, 3, 4);
	check_info(&s, XEN_ISA_UNKNOWN, "w0=0x10000 w1=0x1 w2=0x2 w3=0x3 w4=0x4");
	check_no_field(&s, "vcpu");
	sample_set(&s, 0x00021011, 0, NULL);
	check_info(&s, XEN_ISA_UNKNOWN, "old=running new=runnable");
}

static void test_unknown_id(void **state)
{
	struct sample s;

	(void)state;
	SAMPLE(s, 0x00022fff, 1, 2, 3, 4, 5, 6, 0xffffffff);
	check_info(&s, XEN_ISA_UNKNOWN,
		   "w0=0x1 w1=0x2 w2=0x3 w3=0x4 w4=0x5 w5=0x6 w6=0xffffffff");
	assert_int_equal(field(&s, "w6"), 0xffffffff);
	check_no_field(&s, "w7");
	sample_set(&s, 0x00022fff, 0, NULL);
	check_info(&s, XEN_ISA_UNKNOWN, "");
	check_no_field(&s, "w0");
}

/* TRC_PV_HYPERCALL_V2: bits 20..31 of word 0 show which arguments follow and how long they are. */
static void test_hypercall_args(void **state)
{
	struct sample s;

	(void)state;
	/* grant_table_op with arguments 0 and 2, as __trace_hypercall() records it. */
	SAMPLE(s, 0x0020100d, 20 | 1u << 20 | 1u << 24, 5, 8);
	assert_int_equal(field(&s, "a0"), 5);
	assert_int_equal(field(&s, "a2"), 8);
	check_no_field(&s, "a1");
	check_no_field(&s, "extra1");
	check_no_field(&s, "extra2");

	/* 64 bits, nothing, 32 bits (a5); the same in a multicall. */
	SAMPLE(s, 0x0020200e, 1 | 2u << 20 | 1u << 30, 0x11, 0x22, 0x33);
	assert_int_equal(field(&s, "a0"), 0x2200000011);
	assert_int_equal(field(&s, "a5"), 0x33);
	check_no_field(&s, "a1");

	/* None at all. */
	SAMPLE(s, 0x0020100d, 23);
	check_no_field(&s, "a0");

	/* All six: as many as fit into a record. */
	SAMPLE(s, 0x0020100d, 1 | 0x555u << 20, 10, 11, 12, 13, 14, 15);
	assert_int_equal(field(&s, "a0"), 10);
	assert_int_equal(field(&s, "a5"), 15);

	/* A word that belongs to no argument; an argument that is cut; a reserved length. */
	SAMPLE(s, 0x0020100d, 1 | 1u << 20, 10, 11);
	assert_int_equal(field(&s, "a0"), 10);
	assert_int_equal(field(&s, "extra2"), 11);
	SAMPLE(s, 0x0020100d, 1 | 2u << 20, 10);
	check_no_field(&s, "a0");
	assert_int_equal(field(&s, "extra1"), 10);
	SAMPLE(s, 0x0020100d, 1 | 1u << 20 | 3u << 22 | 1u << 24, 10, 11, 12, 13, 14);
	assert_int_equal(field(&s, "a0"), 10);
	check_no_field(&s, "a1");
	check_no_field(&s, "a2");
	assert_int_equal(field(&s, "extra2"), 11);
	assert_int_equal(field(&s, "extra5"), 14);
}

struct stop {
	int	calls;
	char	names[64];
};

static int stop_at_third(void *arg, const char *name, enum xen_field_kind kind,
			 unsigned int width, uint64_t value)
{
	struct stop *stop = arg;
	size_t len = strlen(stop->names);

	(void)kind;
	(void)width;
	(void)value;
	snprintf(stop->names + len, sizeof(stop->names) - len, "%s,", name);
	return ++stop->calls == 3 ? 42 : 0;
}

static void test_visit_stops(void **state)
{
	struct stop stop = { 0 };
	struct sample s;

	(void)state;
	SAMPLE(s, 0x0002800a, 1, 2, 3, 4);
	assert_int_equal(xen_record_fields(&s.rec, stop_at_third, &stop), 42);
	assert_string_equal(stop.names, "prev_domid,prev_vcpu,next_domid,");
	memset(&stop, 0, sizeof(stop));
	SAMPLE(s, 0x0002800e, 1, 2);
	assert_int_equal(xen_record_fields(&s.rec, stop_at_third, &stop), 0);
	assert_int_equal(stop.calls, 2);
	/* In words of an unknown event too. */
	memset(&stop, 0, sizeof(stop));
	SAMPLE(s, 0x00022fff, 1, 2, 3, 4);
	assert_int_equal(xen_record_fields(&s.rec, stop_at_third, &stop), 42);
	assert_string_equal(stop.names, "w0,w1,w2,");
}

struct visited {
	const struct xentrace_record *rec;
	int	n;
};

static int check_visited(void *arg, const char *name, enum xen_field_kind kind,
			 unsigned int width, uint64_t value)
{
	struct visited *visited = arg;
	int64_t found;

	assert_true((unsigned int)kind < XEN_FIELD_N_KINDS);
	assert_true((width >= 1 && width <= 32) || width == 64);
	/* Found by its name means that no other field of this record has the same. */
	assert_int_equal(xen_record_field(visited->rec, name, &found), 0);
	assert_int_equal(found, (int64_t)value);
	if (kind != XEN_FIELD_SDEC && width < 64)
		assert_int_equal(value >> width, 0);
	visited->n++;
	return 0;
}

/*
 * Whatever a damaged file says: nothing outside the payload is read (it ends where the allocation
 * ends), and text and fields agree.
 */
static void test_every_event_every_length(void **state)
{
	static const unsigned char patterns[] = { 0x00, 0xff, 0x55, 0xaa, 0x01, 0x80 };
	const size_t head = offsetof(struct xentrace_record, words);
	struct xentrace_record *rec;
	struct visited visited;
	char full[512], part[16];
	int i, n, len, equal_signs;
	const char *c;
	size_t p;

	(void)state;
	for (i = 0; i < xen_events_count(); i++) {
		for (n = 0; n <= XENTRACE_MAX_WORDS; n++) {
			for (p = 0; p < ARRAY_SIZE(patterns); p++) {
				rec = malloc(head + 4 * n);
				assert_non_null(rec);
				memset(rec, 0, head);
				memset((char *)rec + head, patterns[p], 4 * n);
				rec->event = xen_event_at(i)->id;
				rec->n_words = n;

				visited = (struct visited){ .rec = rec };
				assert_int_equal(xen_record_fields(rec, check_visited, &visited),
						 0);
				len = xen_record_info(full, sizeof(full), rec, XEN_ISA_VMX);
				assert_int_equal(len, strlen(full));
				for (equal_signs = 0, c = full; *c; c++)
					equal_signs += *c == '=';
				assert_int_equal(equal_signs, visited.n);
				assert_int_equal(xen_record_info(part, sizeof(part), rec,
								 XEN_ISA_VMX), len);
				assert_int_equal(strncmp(part, full, sizeof(part) - 1), 0);
				free(rec);
			}
		}
	}
}

/* ---- texts ---- */

static void test_text_of_kinds(void **state)
{
	(void)state;
	check_text(XEN_FIELD_DEC, 32, 4294967295, XEN_ISA_UNKNOWN, "4294967295");
	check_text(XEN_FIELD_DEC, 64, UINT64_MAX, XEN_ISA_UNKNOWN, "18446744073709551615");
	check_text(XEN_FIELD_SDEC, 32, 0xffffffff, XEN_ISA_UNKNOWN, "-1");
	check_text(XEN_FIELD_SDEC, 16, 0x8000, XEN_ISA_UNKNOWN, "-32768");
	check_text(XEN_FIELD_SDEC, 64, UINT64_MAX, XEN_ISA_UNKNOWN, "-1");
	check_text(XEN_FIELD_SDEC, 16, UINT64_MAX, XEN_ISA_UNKNOWN, "-1");
	check_text(XEN_FIELD_SDEC, 1, 1, XEN_ISA_UNKNOWN, "-1");
	check_text(XEN_FIELD_HEX, 64, UINT64_MAX, XEN_ISA_UNKNOWN, "0xffffffffffffffff");
	check_text(XEN_FIELD_BOOL, 1, 0, XEN_ISA_UNKNOWN, "no");
	check_text(XEN_FIELD_BOOL, 8, 1, XEN_ISA_UNKNOWN, "yes");
	check_text(XEN_FIELD_NS, 32, 1000, XEN_ISA_UNKNOWN, "1000ns");
	check_text(XEN_FIELD_NS, 64, 0xffffffff, XEN_ISA_UNKNOWN, "4294967295ns");
	check_text(XEN_FIELD_NS, 64, UINT64_MAX, XEN_ISA_UNKNOWN, "none");
	check_text(XEN_FIELD_CYCLES, 64, 2400000000, XEN_ISA_UNKNOWN, "2400000000");
	check_text(XEN_FIELD_VCPU, 32, 0x00010000, XEN_ISA_UNKNOWN, "d1v0");
	check_text(XEN_FIELD_VCPU, 32, 0x7fff0003, XEN_ISA_UNKNOWN, "d[idle]v3");
	check_text(XEN_FIELD_VCPU, 32, 0x80000003, XEN_ISA_UNKNOWN, "d32768v3");
	check_text(XEN_FIELD_DOMID, 16, 0x7ff2, XEN_ISA_UNKNOWN, "d[xen]");
	check_text(XEN_FIELD_DOMID, 32, 12, XEN_ISA_UNKNOWN, "d12");
	check_text(XEN_FIELD_RUNSTATE, 4, 3, XEN_ISA_UNKNOWN, "offline");
	check_text(XEN_FIELD_RUNSTATE, 4, 4, XEN_ISA_UNKNOWN, "4");
	check_text(XEN_FIELD_VECTOR, 32, 9, XEN_ISA_UNKNOWN, "0x09");
	check_text(XEN_FIELD_PORT, 32, 0x3f8, XEN_ISA_UNKNOWN, "0x3f8");
	check_text(XEN_FIELD_CR, 32, 3, XEN_ISA_UNKNOWN, "cr3");
	check_text(XEN_FIELD_DR, 32, 7, XEN_ISA_UNKNOWN, "dr7");
	check_text(XEN_FIELD_PF_ERROR, 32, 0, XEN_ISA_UNKNOWN, "0x0");
	check_text(XEN_FIELD_PF_ERROR, 32, 6, XEN_ISA_UNKNOWN, "0x6 (write user)");
	check_text(XEN_FIELD_PF_ERROR, 32, 0x11, XEN_ISA_UNKNOWN, "0x11 (present fetch)");
	check_text(XEN_FIELD_PF_ERROR, 32, 0x80000000, XEN_ISA_UNKNOWN, "0x80000000 (rmp)");
	check_text(XEN_FIELD_PF_ERROR, 32, 0x100, XEN_ISA_UNKNOWN, "0x100");
	check_text(XEN_FIELD_PAGE_ORDER, 16, 9, XEN_ISA_UNKNOWN, "9");
	check_text(XEN_FIELD_DOM_SHUTDOWN, 32, 0, XEN_ISA_UNKNOWN, "poweroff");
	check_text(XEN_FIELD_DOM_SHUTDOWN, 32, 5, XEN_ISA_UNKNOWN, "soft_reset");
	check_text(XEN_FIELD_GUEST_LEVELS, 2, 2, XEN_ISA_UNKNOWN, "4");
	check_text(XEN_FIELD_SHADOW_FLAGS, 32, 0x401, XEN_ISA_UNKNOWN, "0x401 (set_ad wrmap)");
	check_text(XEN_FIELD_N_KINDS, 32, 0x10, XEN_ISA_UNKNOWN, "0x10");
}

/* Names come from tables of their own; here it matters which of them is asked, and the form. */
static void test_text_with_names(void **state)
{
	char expected[128];

	(void)state;
	assert_non_null(xen_vmx_exit_name(12));
	assert_non_null(xen_svm_exit_name(0x78));
	assert_non_null(xen_hypercall_name(36));
	assert_non_null(xen_trap_name(14));
	assert_non_null(xen_msr_name(0x10));

	check_text(XEN_FIELD_EXIT_REASON, 32, 12, XEN_ISA_VMX, xen_vmx_exit_name(12));
	check_text(XEN_FIELD_EXIT_REASON, 32, 0x78, XEN_ISA_SVM, xen_svm_exit_name(0x78));
	check_text(XEN_FIELD_EXIT_REASON, 32, 0x78, XEN_ISA_UNKNOWN, "0x78");
	check_text(XEN_FIELD_VMX_REASON, 32, 12, XEN_ISA_SVM, xen_vmx_exit_name(12));
	check_text(XEN_FIELD_SVM_REASON, 32, 0x78, XEN_ISA_VMX, xen_svm_exit_name(0x78));
	check_text(XEN_FIELD_VMX_REASON, 32, 0xfff0, XEN_ISA_VMX, "0xfff0");
	check_text(XEN_FIELD_SVM_REASON, 32, 0xfff0, XEN_ISA_SVM, "0xfff0");
	snprintf(expected, sizeof(expected), "%s|0x80000000", xen_vmx_exit_name(12));
	check_text(XEN_FIELD_VMX_REASON, 32, 0x8000000c, XEN_ISA_VMX, expected);
	snprintf(expected, sizeof(expected), "36 (%s)", xen_hypercall_name(36));
	check_text(XEN_FIELD_HYPERCALL, 20, 36, XEN_ISA_UNKNOWN, expected);
	check_text(XEN_FIELD_HYPERCALL, 20, 0xfffff, XEN_ISA_UNKNOWN, "1048575");
	snprintf(expected, sizeof(expected), "14 (%s)", xen_trap_name(14));
	check_text(XEN_FIELD_TRAP, 32, 14, XEN_ISA_UNKNOWN, expected);
	snprintf(expected, sizeof(expected), "0x10 (%s)", xen_msr_name(0x10));
	check_text(XEN_FIELD_MSR, 32, 0x10, XEN_ISA_UNKNOWN, expected);
	check_text(XEN_FIELD_MSR, 32, 0x7fffffff, XEN_ISA_UNKNOWN, "0x7fffffff");

	assert_string_equal(xen_runstate_name(0), "running");
	assert_null(xen_runstate_name(4));
	assert_null(xen_runstate_name(UINT32_MAX));
}

/* As snprintf(): never beyond the buffer, always ended, and the full length is returned. */
static void test_truncation(void **state)
{
	const char *full = "domid=d1 vcpu=3 runtime=300000ns";
	char buf[64];
	struct sample s;
	size_t size;

	(void)state;
	SAMPLE(s, 0x0002800e, 1, 3, 300000);
	for (size = 0; size <= strlen(full) + 2; size++) {
		memset(buf, '#', sizeof(buf));
		assert_int_equal(xen_record_info(buf, size, &s.rec, XEN_ISA_UNKNOWN),
				 strlen(full));
		if (size) {
			size_t kept = size - 1 < strlen(full) ? size - 1 : strlen(full);

			assert_int_equal(strlen(buf), kept);
			assert_memory_equal(buf, full, kept);
		}
		assert_int_equal(buf[size], '#');
	}
	assert_int_equal(xen_record_info(NULL, 0, &s.rec, XEN_ISA_UNKNOWN), strlen(full));

	memset(buf, '#', sizeof(buf));
	assert_int_equal(xen_field_text(buf, 4, XEN_FIELD_VCPU, 32, 0x7fff0003, XEN_ISA_UNKNOWN),
			 strlen("d[idle]v3"));
	assert_string_equal(buf, "d[i");
	assert_int_equal(buf[4], '#');
	assert_int_equal(xen_field_text(NULL, 0, XEN_FIELD_DEC, 32, 12345, XEN_ISA_UNKNOWN), 5);

	/* An empty text is ended as well. */
	memset(buf, '#', sizeof(buf));
	sample_set(&s, 0x00022208, 0, NULL);
	assert_int_equal(xen_record_info(buf, 1, &s.rec, XEN_ISA_UNKNOWN), 0);
	assert_int_equal(buf[0], '\0');
	assert_int_equal(buf[1], '#');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_use_by_threads),
		cmocka_unit_test(test_ids_and_names),
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_all_known_ids),
		cmocka_unit_test(test_runstate_ids),
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_class),
		cmocka_unit_test(test_layout_choice),
		cmocka_unit_test(test_runstate_record),
		cmocka_unit_test(test_lost_records),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_shutdown),
		cmocka_unit_test(test_credit),
		cmocka_unit_test(test_credit2_burn),
		cmocka_unit_test(test_credit2_loads),
		cmocka_unit_test(test_credit2_choices),
		cmocka_unit_test(test_rtds),
		cmocka_unit_test(test_null),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_irq),
		cmocka_unit_test(test_guest),
		cmocka_unit_test(test_no_payload),
		cmocka_unit_test(test_longer_and_cut),
		cmocka_unit_test(test_unknown_id),
		cmocka_unit_test(test_hypercall_args),
		cmocka_unit_test(test_visit_stops),
		cmocka_unit_test(test_every_event_every_length),
		cmocka_unit_test(test_text_of_kinds),
		cmocka_unit_test(test_text_with_names),
		cmocka_unit_test(test_truncation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
