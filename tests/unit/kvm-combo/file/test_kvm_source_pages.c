/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records that are read from the pages of a trace.dat are those that libtracecmd reads, with the
 * same times, places and losses. Samples are packed by zstd; each is read unpacked, too.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <trace-cmd.h>

#include "array.h"
#include "kvm_source_private.h"
#include "open_source.h"
#include "sample_file.h"

/** The sample that is damaged. */
#define DAMAGED		"kvm-hypercall.dat"

/** A file, and who reads its records. */
static const struct file {
	const char	*name;
	bool		by_pages;
} files[] = {
	/* cycles with a scale */
	{ "kvm-host.dat", true },
	{ "kvm-nested.dat", true },
	/* ns, and cycles of unknown length */
	{ DAMAGED, true },
	{ "waits-timer.dat", true },
	{ "kvm-restored.dat", true },
	/* libtracecmd brings the times to those of the host */
	{ "kvm-guest.dat", false },
};

static void compare_cpu(struct kvm_source *source, struct tracecmd_input *input, int cpu,
			const struct file *file, size_t *n)
{
	struct tep_record *wanted = tracecmd_read_cpu_first(input, cpu), *record = NULL;
	struct kvm_reading reading;
	bool is_blind;

	assert_int_equal(kvm_reading_begin(source, &reading, cpu), 0);
	assert_int_equal(reading.places[0].pages != NULL, wanted && file->by_pages);
	for (; wanted; ++*n) {
		assert_int_equal(kvm_reading_next(source, &reading, &record, &is_blind), 0);
		assert_non_null(record);
		assert_int_equal(record->ts, wanted->ts);
		assert_int_equal(record->offset, wanted->offset);
		assert_int_equal(record->missed_events, wanted->missed_events);
		assert_int_equal(record->record_size, wanted->record_size);
		assert_int_equal(record->size, wanted->size);
		assert_memory_equal(record->data, wanted->data, (size_t)wanted->size);
		tracecmd_free_record(wanted);
		wanted = tracecmd_read_data(input, cpu);
	}
	assert_int_equal(kvm_reading_next(source, &reading, &record, &is_blind), 0);
	assert_null(record);
	kvm_reading_end(source, &reading);
}

static void compare(const char *path, const struct file *file)
{
	struct kvm_source *source = open_source(path);
	struct tracecmd_input *input = tracecmd_open(path, 0);
	size_t n = 0;

	assert_non_null(input);
	for (int cpu = 0; cpu < kvm_source_facts(source)->n_cpus; cpu++)
		compare_cpu(source, input, cpu, file, &n);
	assert_true(n > 100);
	assert_int_equal(kvm_source_facts(source)->damaged_cpu, -1);
	tracecmd_close(input);
	kvm_source_close(source);
}

static char copy[] = "/tmp/ksv-source-pages-XXXXXX";

/** An unpacked copy of a sample. */
static void make_copy(const char *name)
{
	char error[1024] = "", bytes[65536];
	int from = trace_dat_unpack(sample_path(name), error, sizeof(error));
	int to = open(copy, O_WRONLY | O_TRUNC);
	ssize_t n;

	if (from < 0)
		fail_msg("%s", error);
	assert_true(to >= 0);
	lseek(from, 0, SEEK_SET);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(to, bytes, (size_t)n), n);
	close(from);
	close(to);
}

static void check_same(void **state)
{
	const struct file *file = *state;

	compare(sample_path(file->name), file);
	make_copy(file->name);
	compare(copy, file);
}

/* --- damage ---------------------------------------------------------------------------------- */

/** Change how many bytes a page of the copy has. */
static void damage(uint64_t page, uint32_t commit)
{
	int fd;

	make_copy(DAMAGED);
	fd = open(copy, O_WRONLY);
	assert_int_equal(pwrite(fd, &commit, sizeof(commit), (off_t)page + 8), sizeof(commit));
	close(fd);
}

static int count(void *arg, struct kvm_item *item)
{
	size_t *n = arg;

	*n += item->step.event.cpu == 0;
	return 0;
}

static size_t count_records(const char *path, int damaged_cpu)
{
	struct kvm_source *source = open_source(path);
	size_t n = 0;

	assert_int_equal(kvm_source_walk(source, 0, count, &n), 0);
	assert_int_equal(kvm_source_facts(source)->damaged_cpu, damaged_cpu);
	kvm_source_close(source);
	return n;
}

/** Where CPU 0 of the copy has its second page, and how many records are in the first one. */
static uint64_t second_page(size_t *n_first)
{
	struct kvm_source *source = open_source(copy);
	struct tep_record *record;
	struct kvm_reading reading;
	uint64_t page;
	bool is_blind;

	assert_int_equal(kvm_reading_begin(source, &reading, 0), 0);
	assert_int_equal(kvm_reading_next(source, &reading, &record, &is_blind), 0);
	page = record->offset / 4096;
	for (*n_first = 0; record && record->offset / 4096 == page; ++*n_first)
		assert_int_equal(kvm_reading_next(source, &reading, &record, &is_blind), 0);
	assert_non_null(record);
	page = record->offset / 4096 * 4096;
	kvm_reading_end(source, &reading);
	kvm_source_close(source);
	return page;
}

static void check_damage(void **state)
{
	size_t n_first, n, all;
	uint64_t page;

	(void)state;
	make_copy(DAMAGED);
	page = second_page(&n_first);
	all = count_records(copy, -1);
	/* a page that claims to be larger than it is: its records count, and then no more */
	damage(page, 5000);
	n = count_records(copy, 0);
	assert_true(n > n_first && n < all);
	/* the page ends within its first record */
	damage(page, 12);
	assert_int_equal(count_records(copy, 0), n_first);
}

static int set_up(void **state)
{
	int fd = mkstemp(copy);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(copy);
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(files) + 1];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		tests[i] = (struct CMUnitTest){ files[i].name, check_same, NULL, NULL,
						(void *)&files[i] };
	tests[ARRAY_SIZE(files)] = (struct CMUnitTest)cmocka_unit_test(check_damage);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
