/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sparse walk has the same numbers as one that gives each record, by CPU, thread and event, and
 * the tracker makes the same model of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "kvm_trace.h"
#include "open_source.h"
#include "same_model.h"
#include "sample_file.h"

/** With switches, several buffers, losses, handlers, power, a guest, its guest, and arm64. */
static const char *const files[] = {
	"kvm-host.dat", "kvm-talk.dat", "kvm-hypercall.dat", "kvm-nested.dat", "kvm-boot.dat",
	"kvm-guest.dat", "kvm-memory.dat", "hypertrace-packed.dat", "waits-timer.dat",
	"cases/arm-vhe-a.dat",
};

/* --- numbers --------------------------------------------------------------------------------- */

/** Of a CPU, a thread and an event. */
struct sum {
	int32_t		cpu, pid, event;
	uint64_t	records, bytes;
};

struct sums {
	struct sum	*all;
	size_t		n, room;
	size_t		n_items;
	uint64_t	rare;		/* records with an injection, a hypercall, a device ... */
};

static int compare(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->event > y->event) - (x->event < y->event);
}

static int add(void *arg, struct kvm_item *item)
{
	const unsigned int rare = 1U << KVM_ITEM_RARE | 1U << KVM_ITEM_CALL |
				  1U << KVM_ITEM_BOOT | 1U << KVM_ITEM_CGROUP;
	struct sums *sums = arg;

	sums->n_items++;
	sums->rare += (item->parts & rare) != 0;
	if (item->role != KVM_ITEM_RECORD && item->role != KVM_ITEM_COUNTED)
		return 0;
	assert_false(ARRAY_GROW(sums->all, sums->n, sums->room));
	sums->all[sums->n++] = (struct sum){
		.cpu = item->step.event.cpu, .pid = item->step.event.pid, .event = item->event,
		.records = item->role == KVM_ITEM_COUNTED ? item->n : 1, .bytes = item->bytes,
	};
	return 0;
}

/** Add up what is of the same CPU, thread and event. */
static struct sums walk(struct kvm_source *source, unsigned int flags)
{
	struct sums sums = { 0 };
	size_t n = 0;

	assert_int_equal(kvm_source_walk(source, flags, add, &sums), 0);
	assert_true(sums.n > 0);
	qsort(sums.all, sums.n, sizeof(*sums.all), compare);
	for (size_t i = 1; i < sums.n; i++) {
		if (compare(&sums.all[n], &sums.all[i])) {
			sums.all[++n] = sums.all[i];
			continue;
		}
		sums.all[n].records += sums.all[i].records;
		sums.all[n].bytes += sums.all[i].bytes;
	}
	sums.n = n + 1;
	return sums;
}

static void test_numbers(void **state)
{
	struct kvm_source *source = open_source(sample_path(*state));
	struct sums all = walk(source, KVM_WALK_ALL_PARTS);
	struct sums sparse = walk(source, KVM_WALK_ALL_PARTS | KVM_WALK_SPARSE | KVM_WALK_COUNTS);

	assert_int_equal(sparse.n, all.n);
	for (size_t i = 0; i < all.n; i++) {
		assert_int_equal(compare(&sparse.all[i], &all.all[i]), 0);
		assert_int_equal(sparse.all[i].records, all.all[i].records);
		assert_int_equal(sparse.all[i].bytes, all.all[i].bytes);
	}
	assert_int_equal(sparse.rare, all.rare);
	assert_true(sparse.n_items < all.n_items);
	free(all.all);
	free(sparse.all);
	kvm_source_close(source);
}

/* --- models ---------------------------------------------------------------------------------- */

static int take(void *arg, const struct kvm_trace_record *record)
{
	*(uint64_t *)arg += record->records;
	return 0;
}

static struct virt_model *make_model(struct kvm_trace *trace, bool only_counts, uint64_t *records)
{
	struct virt_model *model = NULL;

	*records = 0;
	kvm_trace_count(trace, only_counts);
	assert_int_equal(kvm_trace_model(trace, take, NULL, records, &model), 0);
	return model;
}

static void test_models(void **state)
{
	char error[1024] = "";
	struct kvm_trace *trace = kvm_trace_open(sample_path(*state), error, sizeof(error));
	uint64_t n_all, n_sparse;
	struct virt_model *all, *sparse;

	if (!trace)
		fail_msg("%s", error);
	all = make_model(trace, false, &n_all);
	sparse = make_model(trace, true, &n_sparse);
	assert_int_equal(n_sparse, n_all);
	same_model(sparse, all);
	virt_model_free(all);
	virt_model_free(sparse);
	kvm_trace_close(trace);
}

int main(void)
{
	struct CMUnitTest tests[2 * ARRAY_SIZE(files)];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		tests[2 * i] = (struct CMUnitTest)
			cmocka_unit_test_prestate(test_numbers, (void *)(uintptr_t)files[i]);
		tests[2 * i + 1] = (struct CMUnitTest)
			cmocka_unit_test_prestate(test_models, (void *)(uintptr_t)files[i]);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
