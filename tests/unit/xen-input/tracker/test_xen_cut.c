// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A trace that is cut, or has a hole, shows less than the whole one, and nothing else: at any time,
 * each vCPU is in the state that the whole trace shows, or it is not known; the same for who is on
 * each pCPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sample_file.h"
#include "trace_builder.h"
#include "virt_model.h"
#include "xen_tracker.h"
#include "xentrace_reader.h"

#define HZ	1000000000ULL
#define CUTS	16

static struct virt_model *model_of(const uint8_t *data, size_t size, bool *ends_early)
{
	const struct xen_trace_options options = { .cpu_hz = HZ, .absolute_time = true };
	struct xen_trace *trace = xen_trace_open_memory(data, size, &options, NULL, 0);
	struct virt_model *model = NULL;

	assert_non_null(trace);
	*ends_early = false;
	for (int i = 0; i < xentrace_n_pcpus(xen_trace_reader(trace)); i++)
		*ends_early |= xen_trace_known_until(trace, i) != INT64_MAX;
	assert_int_equal(xen_tracker_build(trace, &model), 0);
	xen_trace_close(trace);
	return model;
}

/* A vCPU is there, but no record shows which. */
static bool nameless(const char *name)
{
	return name && !strncmp(name, "d?", 2);
}

/* Who it is, according to the whole trace, that nothing names in the other one. */
static int32_t name_of(const struct virt_model *whole, const struct virt_model *cut, int32_t vcpu)
{
	const struct virt_vcpu *v = virt_model_vcpu(cut, vcpu);
	int64_t end_ns, at = virt_model_begin(cut);

	/* not there before its pCPU's first record */
	while (virt_vcpu_at(cut, vcpu, at, &end_ns)->state == VIRT_UNKNOWN)
		at = end_ns;
	return virt_pcpu_at(whole, v->host_pid / xen_vcpu_tid(0) - 1 - XEN_DOMID_SOMEBODY, at,
			    NULL)->vcpu;
}

/* Time that is known of a vCPU, after comparing it with the whole trace's. */
static int64_t check_vcpu(const char *where, const struct virt_model *cut, int32_t vcpu,
			  const struct virt_model *whole)
{
	const struct virt_vcpu *v = virt_model_vcpu(cut, vcpu);
	int32_t same = nameless(v->name) ? name_of(whole, cut, vcpu) :
					   virt_model_find_vcpu(whole, v->host_pid);
	int64_t known = 0, end_ns, whole_end_ns;

	if (same == VIRT_NONE)
		fail_msg("%s: there is no %s", where, v->name);
	for (int64_t at = virt_model_begin(cut); at < virt_model_end(cut); at = end_ns) {
		const struct virt_interval *is = virt_vcpu_at(cut, vcpu, at, &end_ns), *was;

		was = virt_vcpu_at(whole, same, at, &whole_end_ns);
		end_ns = whole_end_ns < end_ns ? whole_end_ns : end_ns;
		if (is->state == VIRT_UNKNOWN)
			continue;
		/* where one that waits ran last may have been in the hole */
		if (is->state != was->state ||
		    (is->state <= VIRT_HYPERVISOR && is->pcpu != was->pcpu))
			fail_msg("%s: %s at %lld ns: state %d on pCPU %d, in truth %d on %d", where,
				 v->name, (long long)at, is->state, is->pcpu, was->state,
				 was->pcpu);
		known += end_ns - at;
	}
	return known;
}

static void check_pcpu(const char *where, const struct virt_model *cut, int32_t pcpu,
		       const struct virt_model *whole)
{
	int64_t end_ns, whole_end_ns;

	for (int64_t at = virt_model_begin(cut); at < virt_model_end(cut); at = end_ns) {
		const struct virt_occupant *is = virt_pcpu_at(cut, pcpu, at, &end_ns), *was;
		const char *who, *in_truth;

		was = virt_pcpu_at(whole, pcpu, at, &whole_end_ns);
		end_ns = whole_end_ns < end_ns ? whole_end_ns : end_ns;
		who = virt_model_who(cut, is->vcpu);
		if (!is->known)
			continue;
		/* the same one all the time: see check_vcpu() */
		if (nameless(who) && virt_model_vcpu(whole, was->vcpu))
			continue;
		in_truth = virt_model_who(whole, was->vcpu);
		if (!was->known || strcmp(who ? who : "-", in_truth ? in_truth : "-"))
			fail_msg("%s: pCPU %d at %lld ns: %s, in truth %s", where, pcpu,
				 (long long)at, who ? who : "-", in_truth ? in_truth : "-");
	}
}

/* Return: how much of the vCPUs' time is known, in per cent. */
static double check_cut(const char *where, const struct virt_model *cut,
			const struct virt_model *whole)
{
	int64_t known = 0, span = virt_model_end(cut) - virt_model_begin(cut);

	assert_true(virt_model_begin(cut) >= virt_model_begin(whole));
	for (int32_t i = 0; i < virt_model_n_vcpus(cut); i++)
		known += check_vcpu(where, cut, i, whole);
	for (int32_t i = 0; i < virt_model_n_pcpus(cut); i++)
		check_pcpu(where, cut, i, whole);
	return 100. * (double)known / (double)span / virt_model_n_vcpus(cut);
}

/*
 * @least: per cent that must be known when half of the file is there: what is lost is the last
 * window of each pCPU, and no more
 */
static void check_sample(const char *name, double least)
{
	uint64_t seed = 1 + (uint64_t)name[0];
	struct virt_model *whole, *cut;
	bool ends_early;
	uint8_t *data;
	char where[64];
	size_t size;

	data = read_sample(name, &size);
	whole = model_of(data, size, &ends_early);
	/* at its end, xentrace has written all that there was */
	assert_false(ends_early);
	for (int i = 0; i < CUTS; i++) {
		size_t n = size / 8 + trace_random(&seed) % (size - size / 8);
		double known;

		snprintf(where, sizeof(where), "%s cut at %zu", name, n);
		cut = model_of(data, n, &ends_early);
		assert_true(ends_early);
		known = check_cut(where, cut, whole);
		if (n > size / 2 && known < least)
			fail_msg("%s: no more than %.1f %% is known", where, known);
		virt_model_free(cut);
	}
	virt_model_free(whole);
	free(data);
}

static void test_cuts(void **state)
{
	(void)state;
	check_sample("hvm-exits.xen", 90);
	check_sample("credit2-basic.xen", 90);
	check_sample("pinned.xen", 85);
	check_sample("migration.xen", 95);
	check_sample("sched-credit.xen", 90);
	check_sample("dom0.xen", 90);
	check_sample("lost-records.xen", 70);
}

/* The offset of a record in the first two thirds of a trace. */
static size_t some_record(const uint8_t *data, size_t size, uint64_t *seed)
{
	struct xentrace *reader = xentrace_open_memory(data, size, NULL, NULL, 0);
	struct xentrace_iter *iter = xentrace_iter_new(reader, NULL);
	uint64_t n = 1 + trace_random(seed) % (xentrace_n_records(reader) * 2 / 3);
	struct xentrace_record rec = { 0 };

	while (n--)
		assert_true(xentrace_iter_next(iter, &rec));
	xentrace_iter_free(iter);
	xentrace_close(reader);
	return rec.offset;
}

/* Whole records are overwritten somewhere; what was before and comes after is good. */
static void check_holes(const char *name)
{
	uint64_t seed = 7 + (uint64_t)name[0];
	struct virt_model *whole, *holed;
	uint8_t *data, *copy;
	bool ends_early;
	char where[64];
	size_t size;

	data = read_sample(name, &size);
	copy = malloc(size);
	assert_non_null(copy);
	whole = model_of(data, size, &ends_early);
	for (int i = 0; i < CUTS; i++) {
		size_t begin = some_record(data, size, &seed);
		size_t n = 100 + trace_random(&seed) % 20000;

		snprintf(where, sizeof(where), "%s: a hole of %zu at %zu", name, n, begin);
		memcpy(copy, data, size);
		memset(copy + begin, '!', n);
		holed = model_of(copy, size, &ends_early);
		assert_true(virt_model_losses(holed).n > virt_model_losses(whole).n);
		check_cut(where, holed, whole);
		virt_model_free(holed);
	}
	virt_model_free(whole);
	free(copy);
	free(data);
}

static void test_holes(void **state)
{
	(void)state;
	check_holes("hvm-exits.xen");
	check_holes("credit2-basic.xen");
	check_holes("migration.xen");
	check_holes("sched-credit.xen");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuts), cmocka_unit_test(test_holes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
