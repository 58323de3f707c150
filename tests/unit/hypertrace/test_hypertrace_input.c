// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Guests that report through hypercalls as streams of KernelShark: the real plugin through
 * libkshark. It shows what "kshark-virt dump --hypertrace" prints: the same events at the same
 * times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <libkshark.h>
#include <libkshark-plugin.h>

#include "array.h"
#include "host_hypertrace.h"
#include "guest_trace.h"
#include "sample_file.h"

#define MOST_LINES	4000
#define UNKNOWN		4194305

/* What the host's own libraries lose with every trace.dat. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent\nleak:kshark_add_stream\n";
}

static struct kshark_context *kshark;
static char folder[] = "/tmp/ksv-guests-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	strcpy(strrchr(folder, '-'), "-XXXXXX");
	assert_non_null(mkdtemp(folder));
	kshark = NULL;
	assert_true(kshark_instance(&kshark));
	assert_non_null(kshark_register_plugin(kshark, "hypertrace",
					       getenv("KSV_PLUGIN_HYPERTRACE")));
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	kshark_free(kshark);
	kshark = NULL;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

/** The file that stands for the one guest of a host's trace. To be freed. */
static char *point_to(const char *host)
{
	const struct host_options options = { 0 };
	struct guest_list list;
	char error[512] = "", *path;

	if (guest_list_find(host, &options, NULL, NULL, &list, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(list.n, 1);
	assert_non_null(list.why[0]);
	assert_int_equal(guest_pointer_write(folder, &list.pointers[0], &path, error,
					     sizeof(error)), 0);
	guest_list_free(&list);
	return path;
}

static struct kshark_data_stream *open_file(const char *path)
{
	int sd = kshark_open(kshark, path);

	assert_true(sd >= 0);
	return kshark_get_data_stream(kshark, sd);
}

/** A line of what is printed. */
struct line {
	int64_t	time_ns;
	int	vcpu;
	char	*event, *info;
};

/** time_ns,pcpu,machine,vcpu,nr,result,event,info: the last one may be in quotes */
static struct line parse(char *text)
{
	char *fields[8];
	struct line line;

	text[strcspn(text, "\n")] = '\0';
	for (int i = 0; i < 8; i++)
		fields[i] = strsep(&text, i < 7 ? "," : "\n");
	if (fields[7] && *fields[7] == '"') {
		fields[7]++;
		fields[7][strcspn(fields[7], "\"")] = '\0';
	}
	line = (struct line){
		strtoll(fields[0], NULL, 10), atoi(fields[3]), strdup(fields[6]),
		strdup(fields[7] ? fields[7] : ""),
	};
	return line;
}

static int read_lines(const char *host, struct line *lines)
{
	char command[8192], text[4096];
	FILE *in;
	int n = 0;

	snprintf(command, sizeof(command), "'%s' dump -q --hypertrace --format csv '%s'",
		 getenv("KSV_BIN"), host);
	in = popen(command, "r");
	assert_non_null(in);
	assert_non_null(fgets(text, sizeof(text), in));
	while (n < MOST_LINES && fgets(text, sizeof(text), in))
		lines[n++] = parse(text);
	assert_int_equal(pclose(in), 0);
	return n;
}

/** Is that something that the stream says itself? */
static bool is_own(const char *event)
{
	return !strcmp(event, "hypertrace/cannot_be") || !strcmp(event, "hypertrace/lost_records");
}

/** A row against the next line of its vCPU. Return: is it later than the line says? */
static bool check_row(const struct kshark_entry *row, const char *event, const char *info,
		      struct line *lines, int n, int *next)
{
	int i = next[row->cpu];

	while (i < n && lines[i].vcpu != row->cpu)
		i++;
	assert_true(i < n);
	next[row->cpu] = i + 1;
	assert_string_equal(event + strlen("hypertrace/"), lines[i].event);
	assert_string_equal(info, lines[i].info);
	assert_true(row->ts >= lines[i].time_ns);
	return row->ts != lines[i].time_ns;
}

/**
 * Lines in the order of the reports, vCPU by vCPU: dump has them so. @n_late: rows that are
 * later; @n_own: rows that say what cannot be, and what is lost.
 */
static void same_events(const char *host, int n_late, int n_own)
{
	static struct line lines[MOST_LINES];
	char *path = point_to(host);
	struct kshark_data_stream *stream = open_file(path);
	int n = read_lines(host, lines), n_moved = 0, next[2] = { 0 };
	struct kshark_entry **rows, *after[2] = { NULL };
	ssize_t n_all = kshark_load_entries(kshark, stream->stream_id, &rows);
	int64_t last_ns = INT64_MIN;

	assert_int_equal(n_all, n + n_own);
	/* each has the next one of the same CPU */
	for (ssize_t i = n_all - 1; i >= 0; i--) {
		assert_in_range(rows[i]->cpu, 0, 1);
		assert_ptr_equal(rows[i]->next, after[rows[i]->cpu]);
		after[rows[i]->cpu] = rows[i];
	}
	for (ssize_t i = 0; i < n_all; i++) {
		char *event = kshark_get_event_name(rows[i]), *info = kshark_get_info(rows[i]);

		assert_true(rows[i]->ts >= last_ns);
		last_ns = rows[i]->ts;
		if (!is_own(event))
			n_moved += check_row(rows[i], event, info, lines, n, next);
		free(event);
		free(info);
		free(rows[i]);
	}
	assert_int_equal(n_moved, n_late);
	free(rows);
	free(path);
	for (int i = 0; i < n; i++) {
		free(lines[i].event);
		free(lines[i].info);
	}
}

static void plain(void **state)
{
	(void)state;
	same_events(sample_path("hypertrace-plain.dat"), 0, 7);
}

/**
 * Some calls are recorded late, and what seems to lie before them is in order nevertheless. In both
 * samples, functions had begun before the module did: seven exits without an entry.
 */
static void packed(void **state)
{
	(void)state;
	same_events(sample_path("hypertrace-packed.dat"), 26, 7);
}

/** A trace that is made by hand. */
static const char *story(const char *name)
{
	static char path[128];
	char command[8192];

	snprintf(path, sizeof(path), "%s/%s.dat", folder, name);
	snprintf(command, sizeof(command), "python3 '%s/tests/golden/hyper_files.py' %s %s",
		 getenv("KSV_SOURCE_DIR"), name, path);
	assert_int_equal(system(command), 0);
	return path;
}

/** All that it says is shown, and behind what cannot be, that it cannot. */
static void liar(void **state)
{
	(void)state;
	same_events(story("liar"), 0, 4);
}

static void lossy(void **state)
{
	(void)state;
	same_events(story("lossy"), 0, 3);
}

static void tasks(void **state)
{
	char *path = point_to(sample_path("hypertrace-plain.dat"));
	struct kshark_data_stream *stream = open_file(path);
	struct kshark_entry **rows, any = { .stream_id = stream->stream_id, .pid = 131 };
	ssize_t n = kshark_load_entries(kshark, stream->stream_id, &rows);
	int n_switches = 0, id;
	char *task;

	(void)state;
	assert_string_equal(stream->data_format, "hypertrace");
	assert_int_equal(stream->n_cpus, 2);
	assert_int_equal(stream->idle_pid, 0);
	assert_true(n > 0);
	task = kshark_get_task(&any);
	assert_string_equal(task, "sh");
	free(task);
	id = kshark_find_event_id(stream, "hypertrace/sched_switch");
	assert_true(id >= 0);
	assert_int_equal(kshark_find_event_id(stream, "sched_switch"), id);
	assert_true(kshark_find_event_id(stream, "hypertrace/nothing") < 0);
	assert_int_equal(rows[0]->pid, UNKNOWN);
	for (ssize_t i = 0; i < n; i++) {
		int64_t pid = -1;

		if (rows[i]->event_id == id) {
			n_switches++;
			assert_int_equal(kshark_read_event_field_int(rows[i], "pid", &pid), 0);
			assert_int_equal(rows[i]->pid, pid);
			assert_true(kshark_read_event_field_int(rows[i], "address", &pid) < 0);
		}
		free(rows[i]);
	}
	assert_int_equal(n_switches, 297);
	free(rows);
	free(path);
}

/** Reloading gives the same, from a trace that has not changed. */
static void again(void **state)
{
	char *path = point_to(sample_path("hypertrace-packed.dat"));
	struct kshark_data_stream *stream = open_file(path);
	struct kshark_entry **first, **second;
	ssize_t n = kshark_load_entries(kshark, stream->stream_id, &first);

	(void)state;
	assert_int_equal(kshark_load_entries(kshark, stream->stream_id, &second), n);
	for (ssize_t i = 0; i < n; i++) {
		assert_int_equal(first[i]->ts, second[i]->ts);
		assert_int_equal(first[i]->pid, second[i]->pid);
		assert_int_equal(first[i]->event_id, second[i]->event_id);
		free(first[i]);
		free(second[i]);
	}
	free(first);
	free(second);
	free(path);
}

/** What is written twice is the same file, left alone. */
static void pointer(void **state)
{
	char *first = point_to(sample_path("hypertrace-plain.dat")), *second;
	const struct timespec long_ago[2] = { { 1000, 0 }, { 1000, 0 } };
	struct guest_pointer read;
	struct stat st;
	char error[512] = "";

	(void)state;
	assert_int_equal(utimensat(AT_FDCWD, first, long_ago, 0), 0);
	second = point_to(sample_path("hypertrace-plain.dat"));
	assert_string_equal(first, second);
	assert_int_equal(stat(first, &st), 0);
	assert_int_equal(st.st_mtime, 1000);
	assert_int_equal(guest_pointer_read(first, &read, error, sizeof(error)), 0);
	assert_string_equal(read.machine, "g1");
	assert_int_equal(read.thread, 965);
	assert_null(read.dialect);
	guest_pointer_free(&read);
	free(first);
	free(second);
}

/** Write a file, and see what becomes of it. Return: what is said. */
static const char *refuse(const char *name, const char *text)
{
	static char error[512];
	char path[256];
	struct guest_pointer read;
	struct guest_trace trace = { 0 };
	const struct host_options options = { .has_threads = true };
	FILE *out;
	int ret;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
	*error = '\0';
	ret = guest_pointer_read(path, &read, error, sizeof(error));
	if (!ret)
		ret = guest_trace_open(&trace, &read, &options, error, sizeof(error));
	assert_true(ret < 0);
	guest_trace_close(&trace);
	guest_pointer_free(&read);
	return error;
}

static void refused(void **state)
{
	char text[8192];

	(void)state;
	assert_non_null(strstr(refuse("a", "{}"), "is not what"));
	assert_non_null(strstr(refuse("b", "\"kshark_virt_guest\""), "/b"));
	assert_non_null(strstr(refuse("c", "{\"kshark_virt_guest\": 2, \"host\": \"x\","
					   " \"thread\": 1}"), "version 2"));
	assert_non_null(strstr(refuse("d", "{\"kshark_virt_guest\": 1, \"thread\": 1}"),
			       "no host"));
	assert_non_null(strstr(refuse("e", "{\"kshark_virt_guest\": 1, \"host\": \"x\"}"),
			       "no thread"));
	/* relative to its folder */
	assert_non_null(strstr(refuse("f", "{\"kshark_virt_guest\": 1, \"host\": \"x\","
					   " \"thread\": 1}"), folder));
	snprintf(text, sizeof(text), "{\"kshark_virt_guest\": 1, \"host\": \"%s\","
		 " \"thread\": 1}", sample_path("hypertrace-plain.dat"));
	assert_non_null(strstr(refuse("g", text), "has no machine with the vCPU 1"));
	snprintf(text, sizeof(text), "{\"kshark_virt_guest\": 1, \"host\": \"%s\", \"thread\": 965,"
		 " \"dialect\": \"other\"}", sample_path("hypertrace-plain.dat"));
	assert_non_null(strstr(refuse("h", text), "no dialect is called 'other'"));
	assert_false(guest_pointer_is(sample_path("pinned.xen")));
}

/** A host whose guests' calls are of no dialect, and one without any. */
static void no_guests(void **state)
{
	static const char *const names[] = { "kvm-hypercall.dat", "kvm-host.dat", "pinned.xen" };
	const struct host_options options = { 0 };
	struct guest_list list;
	char error[512] = "";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(guest_list_find(sample_path(names[i]), &options, NULL, NULL, &list,
						 error, sizeof(error)), 0);
		assert_int_equal(list.n, 0);
		guest_list_free(&list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(plain, set_up, tear_down),
		cmocka_unit_test_setup_teardown(packed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(liar, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lossy, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tasks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(pointer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_guests, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
