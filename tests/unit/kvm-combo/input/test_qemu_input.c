// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a monitor traced of itself as a stream of KernelShark: the real plugin through libkshark. It
 * shows the lines of the log, at their own times, and on the host's axis once they are aligned.
 */
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

#include <libkshark.h>
#include <libkshark-plugin.h>

#define MOST_LINES	2000

static struct kshark_context *kshark;
static char folder[64], host[128], path[128];

/** Run the command. Return: its status. */
static int run(const char *arguments)
{
	char command[1024];

	snprintf(command, sizeof(command), "'%s' %s >/dev/null 2>&1", getenv("KSV_BIN"), arguments);
	return WEXITSTATUS(system(command));
}

static int set_up(void **state)
{
	char command[8192];

	(void)state;
	strcpy(folder, "/tmp/ksv-qemu-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command), "cp '%s'/samples/recording-qemu/* %s",
		 getenv("KSV_SOURCE_DIR"), folder);
	assert_int_equal(system(command), 0);
	snprintf(host, sizeof(host), "%s/host.dat", folder);
	snprintf(path, sizeof(path), "%s/web.log", folder);
	kshark = NULL;
	assert_true(kshark_instance(&kshark));
	assert_non_null(kshark_register_plugin(kshark, "qemu", getenv("KSV_PLUGIN_QEMU")));
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

static struct kshark_data_stream *open_log(void)
{
	int sd = kshark_open(kshark, path);

	assert_true(sd >= 0);
	return kshark_get_data_stream(kshark, sd);
}

/** A line of the log. */
struct line {
	int64_t	time_ns;
	int	thread;
	char	*event, *args;
};

/** So few are out of order that this is quick; and lines of the same time stay as they are. */
static void sort_lines(struct line *lines, int n)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k && lines[k - 1].time_ns > lines[k].time_ns; k--) {
			struct line swap = lines[k];

			lines[k] = lines[k - 1];
			lines[k - 1] = swap;
		}
}

static int read_lines(struct line *lines)
{
	FILE *in = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;
	int n = 0;

	assert_non_null(in);
	while (n < MOST_LINES && getline(&text, &room, in) > 0) {
		long long seconds, micros;
		char event[128];
		int end = 0;

		text[strcspn(text, "\n")] = '\0';
		if (sscanf(text, "%d@%lld.%lld:%127s %n", &lines[n].thread, &seconds, &micros,
			   event, &end) < 4)
			continue;
		lines[n].time_ns = (seconds * 1000000 + micros) * 1000;
		lines[n].event = strdup(event);
		lines[n++].args = strdup(end ? text + end : "");
	}
	free(text);
	fclose(in);
	sort_lines(lines, n);
	return n;
}

static void free_lines(struct line *lines, int n)
{
	for (int i = 0; i < n; i++) {
		free(lines[i].event);
		free(lines[i].args);
	}
	free(lines);
}

static void free_rows(struct kshark_entry **rows, ssize_t n)
{
	for (ssize_t i = 0; i < n; i++)
		free(rows[i]);
	free(rows);
}

/** A text that is the host's to free. */
static void check_text(char *text, const char *before, const char *wanted)
{
	assert_non_null(text);
	assert_int_equal(strncmp(text, before, strlen(before)), 0);
	assert_string_equal(text + strlen(before), wanted);
	free(text);
}

/** All lines, moved by @offset_ns. */
static void check_rows(int64_t offset_ns)
{
	struct line *lines = calloc(MOST_LINES, sizeof(*lines));
	struct kshark_data_stream *stream = open_log();
	struct kshark_generic_stream_interface *interface = stream->interface;
	struct kshark_entry **rows = NULL;
	int n = read_lines(lines);

	assert_true(n > 500 && n < MOST_LINES);
	assert_int_equal(stream->n_cpus, 1);
	assert_int_equal(interface->load_entries(stream, kshark, &rows), n);
	for (int i = 0; i < n; i++) {
		char event[160];

		assert_int_equal(rows[i]->ts, lines[i].time_ns + offset_ns);
		assert_int_equal(rows[i]->pid, lines[i].thread);
		assert_int_equal(rows[i]->cpu, 0);
		assert_ptr_equal(rows[i]->next, i + 1 < n ? rows[i + 1] : NULL);
		check_text(interface->get_event_name(stream, rows[i]), "qemu/", lines[i].event);
		check_text(interface->get_info(stream, rows[i]), "", lines[i].args);
		snprintf(event, sizeof(event), "qemu/%s", lines[i].event);
		assert_int_equal(interface->find_event_id(stream, event), rows[i]->event_id);
		assert_int_equal(interface->find_event_id(stream, lines[i].event),
				 rows[i]->event_id);
	}
	free_rows(rows, n);
	free_lines(lines, n);
}

static void test_own_clock(void **state)
{
	(void)state;
	check_rows(0);
}

/** "align --write" puts it on the host's axis, with the names of threads there. */
static void test_aligned(void **state)
{
	struct kshark_generic_stream_interface *interface;
	struct kshark_data_stream *stream;
	char arguments[512];
	struct kshark_entry entry = { .pid = 0 };
	long long realtime, trace;
	FILE *in;

	(void)state;
	snprintf(arguments, sizeof(arguments), "align --write %s %s", host, path);
	assert_int_equal(run(arguments), 0);
	snprintf(arguments, sizeof(arguments), "grep -Eo '(realtime|trace)_ns\": [0-9]+' "
		 "%s.meta.json | sort | grep -Eo '[0-9]+$'", host);
	in = popen(arguments, "r");
	assert_int_equal(fscanf(in, "%lld %lld", &realtime, &trace), 2);
	pclose(in);
	check_rows(trace - realtime);
	stream = kshark_get_data_stream(kshark, 0);
	interface = stream->interface;
	entry.pid = 202;
	check_text(interface->get_task(stream, &entry), "", "web v1");
	entry.pid = 192;
	check_text(interface->get_task(stream, &entry), "", "IO disks");
	entry.pid = 9999;
	check_text(interface->get_task(stream, &entry), "", "qemu");
}

/** What KernelShark asks besides. */
static void test_methods(void **state)
{
	struct kshark_data_stream *stream = open_log();
	struct kshark_generic_stream_interface *interface = stream->interface;
	int16_t *events, *cpus;
	int64_t *offsets, *times;
	int32_t *pids;
	struct kshark_entry **rows = NULL;
	ssize_t n = interface->load_entries(stream, kshark, &rows);
	char **names = NULL, *text;
	int64_t value;
	int *ids;

	(void)state;
	assert_int_equal(interface->load_matrix(stream, kshark, &events, &cpus, &pids, &offsets,
						&times), n);
	for (ssize_t i = 0; i < n; i++)
		assert_true(events[i] == rows[i]->event_id && cpus[i] == 0 &&
			    pids[i] == rows[i]->pid && times[i] == rows[i]->ts &&
			    offsets[i] == rows[i]->offset);
	ids = interface->get_all_event_ids(stream);
	for (int i = 0; i < stream->n_events; i++)
		assert_int_equal(ids[i], i);
	assert_int_equal(interface->find_event_id(stream, "qemu/nothing"), -22);
	assert_int_equal(interface->find_event_id(stream, NULL), -22);
	assert_int_equal(interface->get_all_event_field_names(stream, rows[0], &names), 0);
	assert_int_equal(interface->get_event_field_type(stream, rows[0], "vq"), KS_INVALID_FIELD);
	assert_int_equal(interface->read_event_field_int64(stream, rows[0], "vq", &value), -22);
	assert_int_equal(interface->read_record_field_int64(stream, NULL, "vq", &value), -22);
	text = interface->dump_entry(stream, rows[0]);
	assert_non_null(strstr(text, "; CPU 0; ; qemu/"));
	free(text);
	check_text(interface->aux_info(stream, rows[0]), "", "");
	free(ids);
	free(events);
	free(cpus);
	free(pids);
	free(offsets);
	free(times);
	free_rows(rows, n);
}

/** What has changed is read anew when KernelShark loads again; what is none is refused. */
static void test_files(void **state)
{
	struct kshark_data_stream *stream = open_log();
	struct kshark_generic_stream_interface *interface = stream->interface;
	struct kshark_entry **rows = NULL;
	ssize_t n = interface->load_entries(stream, kshark, &rows);
	char other[160];
	FILE *out;

	(void)state;
	free_rows(rows, n);
	out = fopen(path, "a");
	fputs("7@1.000000:one_more\n", out);
	fclose(out);
	assert_int_equal(interface->load_entries(stream, kshark, &rows), n + 1);
	assert_int_equal(rows[0]->ts, 1000000000);
	free_rows(rows, n + 1);
	snprintf(other, sizeof(other), "%s/nothing", folder);
	assert_true(kshark_open(kshark, other) < 0);
	out = fopen(other, "w");
	fputs("no trace\n", out);
	fclose(out);
	assert_true(kshark_open(kshark, other) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_own_clock, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_aligned, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_methods, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
