// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_reader.c
 * @brief	A trace.dat that a process of its own reads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kvm_trace.h"

static char folder[] = "/tmp/test-try-XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[2][256];
	static int i;

	i = !i;
	snprintf(path[i], sizeof(path[i]), "%s/%s", folder, name);
	return path[i];
}

static void copy(const char *from, const char *to, long most)
{
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	int c;

	assert_non_null(in);
	assert_non_null(out);
	while (most-- && (c = getc(in)) != EOF)
		putc(c, out);
	fclose(in);
	assert_int_equal(fclose(out), 0);
}

static int count(void *arg, const struct kvm_trace_record *record)
{
	(void)record;
	++*(int *)arg;
	return 0;
}

typedef struct kvm_trace *(*open_fn)(const char *path, char *error, size_t size);

static struct kvm_trace *open_by(open_fn open, const char *path)
{
	char error[512] = "";
	struct kvm_trace *trace = open(path, error, sizeof(error));

	if (!trace)
		fail_msg("%s", error);
	return trace;
}

static struct kvm_trace *open_apart(const char *path)
{
	return open_by(kvm_trace_open_apart, path);
}

static const open_fn others[] = { kvm_trace_open_apart, kvm_trace_open_by_program };

#define N_OTHERS	(sizeof(others) / sizeof(others[0]))

static const char *sample(const char *name)
{
	static char path[2][512];
	static int i;

	i = !i;
	snprintf(path[i], sizeof(path[i]), "%s/samples/%s", getenv("KSV_SOURCE_DIR"), name);
	return path[i];
}

/* --- which file ------------------------------------------------------------------------------ */

/** A file stays the one that was opened first, whatever has its name later. */
static void test_replaced(void **state)
{
	struct kvm_trace *trace;
	int n[2] = { 0, 0 };

	(void)state;
	copy(sample("kvm-paused.dat"), in_folder("trace.dat"), -1);
	copy(sample("kvm-paused.dat"), in_folder("bad.dat"), 4000);
	for (int i = 0; i < 2; i++) {
		trace = open_apart(in_folder("trace.dat"));
		if (!i)
			assert_int_equal(rename(in_folder("bad.dat"), in_folder("trace.dat")), 0);
		assert_int_equal(kvm_trace_walk(trace, count, NULL, &n[i]), 0);
		kvm_trace_close(trace);
	}
	assert_true(n[0] > 100);
	assert_int_equal(n[0], n[1]);
}

/** A program reads the file that has the name when it starts: KernelShark opens files again. */
static void test_replaced_since(void **state)
{
	static const char *const files[] = { "kvm-paused.dat", "kvm-migration.dat" };
	int n[4] = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct kvm_trace *trace;

		copy(sample(files[i / 2]), in_folder("again.dat"), -1);
		trace = open_by(i % 2 ? kvm_trace_open : kvm_trace_open_by_program,
				in_folder("again.dat"));
		assert_int_equal(kvm_trace_walk(trace, count, NULL, &n[i]), 0);
		kvm_trace_close(trace);
		assert_int_equal(remove(in_folder("again.dat")), 0);
	}
	assert_int_equal(n[0], n[1]);
	assert_int_equal(n[2], n[3]);
	assert_int_not_equal(n[0], n[2]);
}

/** What has been set as a file's copy is read by all processes. */
static void test_copy(void **state)
{
	int n[3] = { 0 }, fd = open(sample("kvm-paused.dat"), O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(held_file_set_copy(in_folder("folder"), fd), 0);
	for (size_t i = 0; i <= N_OTHERS; i++) {
		struct kvm_trace *trace = open_by(i < N_OTHERS ? others[i] : kvm_trace_open,
						  in_folder("folder"));

		assert_int_equal(kvm_trace_walk(trace, count, NULL, &n[i]), 0);
		kvm_trace_close(trace);
	}
	assert_true(n[0] > 100);
	assert_int_equal(n[0], n[1]);
	assert_int_equal(n[0], n[2]);
}

static void refused(open_fn open, const char *name)
{
	char error[512] = "";

	assert_null(open(in_folder(name), error, sizeof(error)));
	assert_non_null(strstr(error, name));
}

static void test_refused(void **state)
{
	(void)state;
	copy(sample("kvm-paused.dat"), in_folder("short.dat"), 4000);
	for (size_t i = 0; i < N_OTHERS; i++) {
		refused(others[i], "short.dat");
		refused(others[i], "none.dat");
	}
}

/* --- the same content ------------------------------------------------------------------------ */

/** All that a walk has given, as text. */
struct seen {
	struct kvm_trace *trace;
	FILE		*out;
	char		*text;
	size_t		size;
};

static const char *name_of(const char *name)
{
	return name ? name : "-";
}

static int write_record(void *arg, const struct kvm_trace_record *r)
{
	struct seen *seen = arg;
	FILE *out = seen->out;

	fprintf(out, "%lld %d %d %d %u %d %s %d %d %llu %llu %s %d %u %s",
		(long long)r->time_ns, r->pid, r->vcpu_pid, r->next_pid, r->bytes, r->cpu,
		name_of(kvm_trace_class(seen->trace, r->class)), r->injection, r->injection_flags,
		(unsigned long long)r->number, (unsigned long long)r->before,
		name_of(kvm_trace_event(seen->trace, r->event)), r->vector, r->flags,
		name_of(kvm_trace_device(seen->trace, r->device)));
	fprintf(out, " %s", name_of(kvm_trace_task(seen->trace, r->pid)));
	if (r->call)
		fprintf(out, " call %llu %llu %d %lld", (unsigned long long)r->call->nr,
			(unsigned long long)r->call->a[3], r->call->tid,
			(long long)r->call->cost_ns);
	if (r->boot)
		fprintf(out, " boot %s %lld %llu %s", r->boot->label, (long long)r->boot->number,
			(unsigned long long)r->boot->address, r->boot->name);
	if (r->sched)
		fprintf(out, " sched %d %d %lld %d %lld", r->sched->kind, r->sched->arg,
			(long long)r->sched->value, r->sched->pid, (long long)r->sched->time_ns);
	if (r->handler)
		fprintf(out, " handler %d %d %d %s", r->handler->kind, r->handler->edge,
			r->handler->is_timer, r->handler->name);
	if (r->cgroup)
		fprintf(out, " cgroup %d %d %s", r->cgroup->root, r->cgroup->pid, r->cgroup->path);
	fputc('\n', out);
	return 0;
}

static void write_lost(void *arg, int cpu, uint64_t records)
{
	fprintf(((struct seen *)arg)->out, "lost %d %llu\n", cpu, (unsigned long long)records);
}

static void walk(struct seen *seen, struct kvm_trace *trace)
{
	struct trace_notes notes = { 0 };

	seen->trace = trace;
	seen->out = open_memstream(&seen->text, &seen->size);
	assert_non_null(seen->out);
	assert_int_equal(kvm_trace_walk(trace, write_record, write_lost, seen), 0);
	/* names of threads that have no record */
	for (int pid = 0; pid < 4000; pid += 7)
		fprintf(seen->out, "%s\n", name_of(kvm_trace_task(trace, pid)));
	fprintf(seen->out, "%d %d %d %d %s\n", kvm_trace_is_host(trace),
		kvm_trace_has_vcpus(trace), kvm_trace_n_cpus(trace), (int)kvm_trace_unit(trace),
		name_of(kvm_trace_stranger(trace)));
	kvm_trace_notes(trace, &notes);
	trace_notes_print(&notes, seen->out);
	trace_notes_free(&notes);
	fclose(seen->out);
}

/** A process of its own gives the same records, names and notes as this one. */
static void test_same(void **state)
{
	static const char *const names[] = {
		"kvm-host.dat", "kvm-guest.dat", "kvm-cgroups-web.dat", "kvm-boot.dat",
		"kvm-boot-g1.dat", "kvm-restored.dat", "hypertrace-aggregated.dat",
		"hypertrace-packed-g1.dat", "waits-packet-web.dat",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct kvm_trace *trace = open_by(kvm_trace_open, sample(names[i]));
		struct seen here = { 0 };

		walk(&here, trace);
		kvm_trace_close(trace);
		for (size_t o = 0; o < N_OTHERS; o++) {
			struct seen other = { 0 };

			trace = open_by(others[o], sample(names[i]));
			walk(&other, trace);
			kvm_trace_close(trace);
			assert_int_equal(here.size, other.size);
			assert_memory_equal(here.text, other.text, here.size);
			free(other.text);
		}
		free(here.text);
	}
}

/* --- ends ------------------------------------------------------------------------------------ */

static int stop_at(void *arg, const struct kvm_trace_record *record)
{
	(void)record;
	return --*(int *)arg ? 0 : 7;
}

/** A walk that ends early, at any place, leaves the trace as it was. */
static void test_stopped(void **state)
{
	struct kvm_trace *trace = open_apart(sample("kvm-host.dat"));
	int all = 0, again = 0;

	(void)state;
	assert_int_equal(kvm_trace_walk(trace, count, NULL, &all), 0);
	for (int at = 1; at < all; at += all / 7) {
		int left = at;

		assert_int_equal(kvm_trace_walk(trace, stop_at, NULL, &left), 7);
	}
	assert_int_equal(kvm_trace_walk(trace, count, NULL, &again), 0);
	assert_int_equal(all, again);
	kvm_trace_close(trace);
}

struct sum {
	uint64_t	offset;		/* of the first record */
	uint64_t	bytes, records;
};

static int add(void *arg, const struct kvm_trace_record *record)
{
	struct sum *sum = arg;

	if (!sum->records++)
		sum->offset = record->offset;
	sum->bytes += record->bytes;
	return 0;
}

static struct sum sum_of(const char *path)
{
	struct kvm_trace *trace = open_apart(path);
	struct sum sum = { .records = 0 };

	assert_int_equal(kvm_trace_walk(trace, add, NULL, &sum), 0);
	kvm_trace_close(trace);
	return sum;
}

/** A damaged record gives any size, but is not larger than the page that it is in. */
static void test_size(void **state)
{
	/* the head of a record whose size follows: linux/ring_buffer.h */
	static const uint32_t sizes[] = { 5000, 1 << 20, 0x7fffffff, 0x80000000, 0xfffffff0 };
	struct sum whole = sum_of(sample("cases/exits.dat"));

	(void)state;
	assert_true(whole.records > 100 && whole.bytes > 10 * whole.records);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const uint32_t head[] = { 0, sizes[i] };
		struct sum damaged;
		FILE *file;

		copy(sample("cases/exits.dat"), in_folder("bad.dat"), -1);
		file = fopen(in_folder("bad.dat"), "r+b");
		assert_non_null(file);
		assert_int_equal(fseek(file, (long)whole.offset - 4, SEEK_SET), 0);
		assert_int_equal(fwrite(head, sizeof(head), 1, file), 1);
		assert_int_equal(fclose(file), 0);
		damaged = sum_of(in_folder("bad.dat"));
		assert_in_range(damaged.records, 1, whole.records);
		assert_in_range(damaged.bytes, 1, whole.bytes + 4096);
	}
}

/** The only process that this one has started. */
static pid_t child_of_ours(void)
{
	char path[64];
	FILE *in;
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	in = fopen(path, "r");
	if (!in || fscanf(in, "%d", &pid) != 1)
		pid = 0;
	if (in)
		fclose(in);
	return pid;
}

struct killing {
	int	n, signal;
};

static int kill_it(void *arg, const struct kvm_trace_record *record)
{
	struct killing *killing = arg;

	(void)record;
	if (++killing->n == 10)
		kill(child_of_ours(), killing->signal);
	return 0;
}

/** A process that ends in the middle of a walk is an error, and no more is read from then on. */
static void end_by(open_fn open, int signal, int error, const char *text)
{
	struct kvm_trace *trace = open_by(open, sample("kvm-migration.dat"));
	struct killing killing = { .signal = signal };
	int n = 0;

	assert_true(child_of_ours() > 0);
	assert_int_equal(kvm_trace_walk(trace, kill_it, NULL, &killing), error);
	assert_non_null(strstr(kvm_trace_problem(error), text));
	assert_int_equal(kvm_trace_walk(trace, count, NULL, &n), error);
	assert_int_equal(n, 0);
	assert_null(kvm_trace_task(trace, 999999));
	kvm_trace_close(trace);
	assert_int_equal(child_of_ours(), 0);
}

static void test_crashed(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OTHERS; i++) {
		end_by(others[i], SIGSEGV, -EBADMSG, "crashes");
		end_by(others[i], SIGXCPU, -ETIMEDOUT, "comes to no end");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_replaced_since),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_crashed),
	};
	int ret;

	if (!mkdtemp(folder))
		return 1;
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	remove(in_folder("trace.dat"));
	remove(in_folder("short.dat"));
	remove(in_folder("bad.dat"));
	return rmdir(folder) ? 1 : ret;
}
