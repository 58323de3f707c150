/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sparse walk has the same numbers as one that gives each record, by CPU, thread and event, and
 * the tracker makes the same model of it.
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

#include "array.h"
#include "kvm_trace.h"
#include "open_source.h"
#include "same_model.h"
#include "sample_file.h"
#include "temporary_file.h"
#include "trace_dat_write.h"
#include "virt_handlers.h"

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

static void same_handlings(const struct virt_model *a, const struct virt_model *b)
{
	for (int32_t i = 0; i < virt_model_n_vcpus(a); i++) {
		struct virt_handling_range x = virt_vcpu_handlings(a, i, INT64_MIN, INT64_MAX);
		struct virt_handling_range y = virt_vcpu_handlings(b, i, INT64_MIN, INT64_MAX);

		assert_int_equal(x.n, y.n);
		for (size_t k = 0; k < x.n; k++) {
			assert_string_equal(virt_model_handler(a, x.first[k].handler)->name,
					    virt_model_handler(b, y.first[k].handler)->name);
			assert_true(x.first[k].start_ns == y.first[k].start_ns);
			assert_true(x.first[k].end_ns == y.first[k].end_ns);
		}
	}
}

static void compare_models(const char *path)
{
	char error[1024] = "";
	struct kvm_trace *trace = kvm_trace_open(path, error, sizeof(error));
	uint64_t n_all, n_sparse;
	struct virt_model *all, *sparse;

	if (!trace)
		fail_msg("%s", error);
	all = make_model(trace, false, &n_all);
	sparse = make_model(trace, true, &n_sparse);
	assert_int_equal(n_sparse, n_all);
	same_model(sparse, all);
	same_handlings(sparse, all);
	virt_model_free(all);
	virt_model_free(sparse);
	kvm_trace_close(trace);
}

static void test_models(void **state)
{
	compare_models(sample_path(*state));
}

/* --- handlers -------------------------------------------------------------------------------- */

#define COMMON									\
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"	\
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"	\
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"	\
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

enum { ENTRY = 1, EXIT, IRQ, IRQ_EXIT, SOFTIRQ, SOFTIRQ_EXIT };

static const struct {
	uint16_t	id;
	const char	*system, *name, *fields;
} events[] = {
	{ ENTRY, "kvm", "kvm_entry",
	  "\tfield:unsigned int vcpu_id;\toffset:8;\tsize:4;\tsigned:0;\n" },
	{ EXIT, "kvm", "kvm_exit", "\tfield:u32 exit_reason;\toffset:8;\tsize:4;\tsigned:0;\n" },
	{ IRQ, "irq", "irq_handler_entry",
	  "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n" },
	{ IRQ_EXIT, "irq", "irq_handler_exit",
	  "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n" },
	{ SOFTIRQ, "irq", "softirq_entry",
	  "\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n" },
	{ SOFTIRQ_EXIT, "irq", "softirq_exit",
	  "\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n" },
};

/** With @apart, both ends of a softirq have the same place among what the walk has met. */
static uint16_t id_of(uint16_t event, bool apart)
{
	return (uint16_t)(event == SOFTIRQ_EXIT && apart ? SOFTIRQ + 32 : event);
}

static void declare(struct trace_dat_writer *writer, bool by_pid, bool apart)
{
	char text[2048];

	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		int size = snprintf(text, sizeof(text), "name: %s\nID: %d\nformat:\n" COMMON
				    "%s\nprint fmt: \"\"\n", events[i].name,
				    id_of(events[i].id, apart),
				    events[i].fields);
		char *field = strstr(text, "vec;\toffset:8");

		/* as no kernel has it: all records have what says which softirq it is */
		if (by_pid && field)
			field[strlen("vec;\toffset:")] = '4';
		assert_int_equal(trace_dat_writer_event(writer, id_of(events[i].id, apart),
							events[i].system, text, (size_t)size),
				 0);
	}
}

static void write_record(struct trace_dat_writer *writer, int event, int pid, uint32_t number)
{
	const struct {
		uint16_t	type, flags;
		int32_t		pid;
		uint32_t	number;
	} record = { (uint16_t)event, 0, pid, number };
	static uint64_t time_ns = 1000000000;

	time_ns += 100;
	assert_int_equal(trace_dat_writer_record(writer, 0, time_ns, &record, sizeof(record)), 0);
}

/** Two vCPUs with interrupts. */
static int write_handlers(bool by_pid, bool apart)
{
	const struct trace_dat_about about = { .long_size = 8, .n_cpus = 1, .clock = "mono" };
	int fd = temporary_file(), spool = temporary_file();
	struct trace_dat_writer *writer = trace_dat_writer_new(fd, spool, &about);

	assert_non_null(writer);
	declare(writer, by_pid, apart);
	/* records of threads without a name are given one by one */
	assert_int_equal(trace_dat_writer_comm(writer, 'd', "CPU 0/KVM"), 0);
	assert_int_equal(trace_dat_writer_comm(writer, 'e', "CPU 1/KVM"), 0);
	for (uint32_t i = 0; i < 4000; i++) {
		/* each for a while, and alternating with another one of the same place */
		uint32_t softirq = i / 20 % 15 + i / 7 % 2 * 32;
		int pid = 'd' + (int)(i / 5 % 2);

		write_record(writer, ENTRY, pid, (uint32_t)pid - 'd');
		write_record(writer, EXIT, pid, 1);
		write_record(writer, IRQ, pid, i % 23);
		write_record(writer, SOFTIRQ, pid, softirq);
		write_record(writer, id_of(SOFTIRQ_EXIT, apart), pid, softirq);
		write_record(writer, IRQ_EXIT, pid, i % 23);
	}
	assert_int_equal(trace_dat_writer_finish(writer), 0);
	trace_dat_writer_free(writer);
	close(spool);
	return fd;
}

static void test_handlers(void **state)
{
	(void)state;
	for (int variant = 0; variant < 4; variant++) {
		int fd = write_handlers(variant & 1, variant & 2);
		char path[64];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		compare_models(path);
		close(fd);
	}
}

int main(void)
{
	struct CMUnitTest tests[2 * ARRAY_SIZE(files) + 1];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		tests[2 * i] = (struct CMUnitTest)
			cmocka_unit_test_prestate(test_numbers, (void *)(uintptr_t)files[i]);
		tests[2 * i + 1] = (struct CMUnitTest)
			cmocka_unit_test_prestate(test_models, (void *)(uintptr_t)files[i]);
	}
	tests[2 * ARRAY_SIZE(files)] = (struct CMUnitTest)cmocka_unit_test(test_handlers);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
