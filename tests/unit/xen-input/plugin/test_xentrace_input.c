// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The real plugin through libkshark: all that KernelShark's windows ask of a stream. The files are
 * the samples; the plugin is $KSV_PLUGIN.
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
#include <pthread.h>

#include <libkshark.h>
#include <libkshark-plugin.h>

#include "sample_file.h"
#include "trace_builder.h"
#include "xen_running.h"

#define SAMPLE	"hvm-exits.xen"
#define SOME_BYTES	40000		/* of it, where more would only take longer */

/* What the host's own libraries lose with every trace.dat. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent\nleak:kshark_add_stream\n";
}

static struct kshark_context *kshark;
static struct kshark_plugin_list *plugin;

/** A file of its own in the temporary directory: @n bytes; removed by the caller. */
static char *write_file(const char *suffix, const void *bytes, size_t n)
{
	char *path = NULL;
	FILE *file;

	assert_true(asprintf(&path, "/tmp/ksv-test-%d%s", (int)getpid(), suffix) > 0);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
	return path;
}

static int set_up(void **state)
{
	(void)state;
	kshark = NULL;
	assert_true(kshark_instance(&kshark));
	plugin = kshark_register_plugin(kshark, "xentrace", getenv("KSV_PLUGIN"));
	assert_non_null(plugin);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	kshark_free(kshark);
	kshark = NULL;
	return 0;
}

#define MOST_PCPUS	256

static struct kshark_data_stream *open_file(const char *path)
{
	int sd = kshark_open(kshark, path);

	assert_true(sd >= 0);
	return kshark_get_data_stream(kshark, sd);
}

struct rows {
	struct kshark_entry	**row;
	ssize_t			n;
};

/** Each row has the next one of the same pCPU. */
static void assert_linked(const struct rows *rows)
{
	struct kshark_entry *next[MOST_PCPUS] = { NULL };

	for (ssize_t i = rows->n - 1; i >= 0; i--) {
		struct kshark_entry *row = rows->row[i];

		assert_in_range(row->cpu, 0, MOST_PCPUS - 1);
		assert_ptr_equal(row->next, next[row->cpu]);
		next[row->cpu] = row;
	}
}

static struct rows load(struct kshark_data_stream *stream)
{
	struct rows rows = { 0 };

	rows.n = kshark_load_entries(kshark, stream->stream_id, &rows.row);
	assert_true(rows.n > 0);
	for (ssize_t i = 0; i < rows.n; i++) {
		assert_int_equal(rows.row[i]->stream_id, stream->stream_id);
		assert_true(!i || rows.row[i - 1]->ts <= rows.row[i]->ts);
		assert_in_range(rows.row[i]->cpu, 0, stream->n_cpus - 1);
	}
	assert_linked(&rows);
	return rows;
}

static void free_rows(struct rows *rows)
{
	for (ssize_t i = 0; i < rows->n; i++)
		free(rows->row[i]);
	free(rows->row);
}

static void same_rows(const struct rows *a, const struct rows *b)
{
	assert_int_equal(a->n, b->n);
	for (ssize_t i = 0; i < a->n; i++) {
		assert_int_equal(a->row[i]->ts, b->row[i]->ts);
		assert_int_equal(a->row[i]->offset, b->row[i]->offset);
		assert_int_equal(a->row[i]->pid, b->row[i]->pid);
		assert_int_equal(a->row[i]->cpu, b->row[i]->cpu);
		assert_int_equal(a->row[i]->event_id, b->row[i]->event_id);
	}
}

/** An entry as KernelShark makes it to ask about an event or task: the rest is anything. */
static struct kshark_entry probe(struct kshark_data_stream *stream, int event, int pid)
{
	struct kshark_entry entry;

	memset(&entry, 0x5a, sizeof(entry));
	entry.stream_id = stream->stream_id;
	entry.event_id = event;
	entry.pid = pid;
	return entry;
}

static void assert_task(struct kshark_data_stream *stream, int pid, const char *wanted)
{
	struct kshark_entry entry = probe(stream, -1, pid);
	char *task = kshark_get_task(&entry);

	assert_string_equal(task, wanted);
	free(task);
}

static void stream_itself(void **state)
{
	struct kshark_data_stream *stream = open_file(sample_path(SAMPLE));
	int *pids;
	ssize_t n;
	struct rows rows;

	(void)state;
	assert_string_equal(stream->data_format, "xentrace");
	/* or sessions cannot be restored */
	assert_string_equal(stream->name, KS_UNNAMED);
	assert_int_equal(stream->idle_pid, 0);
	assert_int_equal(stream->n_cpus, 4);
	assert_int_equal(stream->idle_cpus->count, 0);
	rows = load(stream);
	assert_task(stream, 0, "idle");
	assert_task(stream, 1, "d?v?");
	assert_task(stream, 10001, "d0v1");
	assert_task(stream, 20000, "d1v0");
	n = kshark_get_task_pids(kshark, stream->stream_id, &pids);
	assert_int_equal(n, 6);	/* idle, unknown, two domains with two vCPUs */
	free(pids);
	free_rows(&rows);
}

/* Tasks and pids agree. */
static void rows_and_text(void **state)
{
	struct kshark_data_stream *stream = open_file(sample_path(SAMPLE));
	struct rows rows = load(stream);
	unsigned int domid, vcpu;
	ssize_t busy = 0;

	(void)state;
	for (ssize_t i = 0; i < rows.n; i += 7) {
		char *task = kshark_get_task(rows.row[i]);
		char *name = kshark_get_event_name(rows.row[i]);
		char *info = kshark_get_info(rows.row[i]);
		char *aux = kshark_get_aux_info(rows.row[i]);
		char *dump = kshark_dump_entry(rows.row[i]);
		int pid = kshark_get_pid(rows.row[i]);

		assert_int_equal(pid, rows.row[i]->pid);
		assert_int_equal(kshark_get_event_id(rows.row[i]), rows.row[i]->event_id);
		if (sscanf(task, "d%uv%u", &domid, &vcpu) == 2) {
			assert_int_equal(pid, (domid + 1) * 10000 + vcpu);
			busy++;
		} else {
			assert_string_equal(task, pid ? "d?v?" : "idle");
			assert_in_range(pid, 0, 1);
		}
		/* the pCPU itself, first in the latency column */
		assert_int_equal(aux[rows.row[i]->cpu], 'x');
		assert_non_null(strstr(dump, name));
		assert_non_null(strstr(dump, task));
		assert_non_null(strstr(dump, info));
		free(task);
		free(name);
		free(info);
		free(aux);
		free(dump);
	}
	assert_true(busy > rows.n / 14);
	free_rows(&rows);
}

/** A trace whose pCPU 1 has no record of the scheduler. */
static char *write_somebody(void)
{
	struct trace trace = { 0 };
	char *path;

	trace_window(&trace, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 2000, 1 << 16);
	trace_window(&trace, 1);
	for (int i = 0; i < 5; i++)
		TRACE_RECORD(&trace, XEN_TRC_PV_HYPERCALL_V2, 1000 + 500 * i, 0x0010001d);
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 4000, 1 << 16);
	path = write_file("somebody.xen", trace.data, trace.size);
	trace_free(&trace);
	return path;
}

/* A vCPU that nothing names is a task like others, with the pid of the model, at every load. */
static void somebody(void **state)
{
	char *path = write_somebody();
	struct kshark_data_stream *stream = open_file(path);
	struct rows rows = load(stream), again = load(stream);
	int pid = xen_vcpu_tid(xen_vcpu_somebody(1));

	(void)state;
	same_rows(&rows, &again);
	assert_true(kshark_hash_id_find(stream->tasks, pid));
	assert_task(stream, pid, "d?v? on p1");
	for (ssize_t i = 0; i < rows.n; i++)
		assert_int_equal(rows.row[i]->pid, rows.row[i]->cpu ? pid : 20000);
	free_rows(&rows);
	free_rows(&again);
	unlink(path);
	free(path);
}

static void check_names(struct kshark_data_stream *stream)
{
	int *ids = kshark_get_all_event_ids(stream);
	char **names = calloc(stream->n_events, sizeof(*names));

	assert_non_null(ids);
	assert_non_null(names);
	for (int i = 0; i < stream->n_events; i++) {
		struct kshark_entry entry = probe(stream, ids[i], 0);

		assert_true(ids[i] >= 0);
		assert_true(!i || ids[i] > ids[i - 1]);
		names[i] = kshark_get_event_name(&entry);
		assert_int_equal(kshark_find_event_id(stream, names[i]), ids[i]);
		assert_non_null(strchr(names[i], '/'));
		assert_int_equal(kshark_find_event_id(stream, strchr(names[i], '/') + 1), ids[i]);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(names[i], names[j]);
	}
	assert_true(kshark_find_event_id(stream, "no/such_event") < 0);
	assert_true(kshark_find_event_id(stream, "no/hypercall") < 0);
	for (int i = 0; i < stream->n_events; i++)
		free(names[i]);
	free(names);
	free(ids);
}

static void events(void **state)
{
	struct kshark_data_stream *stream = open_file(sample_path(SAMPLE));
	struct rows rows;
	int n_all = stream->n_events;
	bool seen[INT16_MAX + 1] = { false };
	int *ids, n_seen = 0;

	(void)state;
	check_names(stream);
	rows = load(stream);
	check_names(stream);
	assert_true(stream->n_events < n_all);
	for (ssize_t i = 0; i < rows.n; i++) {
		n_seen += !seen[rows.row[i]->event_id];
		seen[rows.row[i]->event_id] = true;
	}
	ids = kshark_get_all_event_ids(stream);
	assert_int_equal(stream->n_events, n_seen);
	for (int i = 0; i < n_seen; i++)
		assert_true(seen[ids[i]]);
	free(ids);
	free_rows(&rows);
}

/** Names of an event's fields; KernelShark gives nothing but the event's id. */
static int field_names(struct kshark_data_stream *stream, int event, char ***names)
{
	struct kshark_entry entry = probe(stream, event, 0);

	return kshark_get_all_event_field_names(&entry, names);
}

static void free_names(char **names, int n)
{
	while (n > 0)
		free(names[--n]);
	free(names);
}

static void fields(void **state)
{
	struct kshark_data_stream *stream = open_file(sample_path(SAMPLE));
	struct rows rows = load(stream);
	int wake = kshark_find_event_id(stream, "sched/domain_wake");
	int64_t value;
	char **names;
	int n, n_values = 0;
	struct kshark_entry entry = probe(stream, wake, 0);

	(void)state;
	n = field_names(stream, wake, &names);
	assert_int_equal(n, 2);
	assert_string_equal(names[0], "domid");
	assert_string_equal(names[1], "vcpu");
	free_names(names, n);
	assert_int_equal(kshark_get_event_field_type(&entry, "domid"), KS_INTEGER_FIELD);
	assert_int_equal(kshark_get_event_field_type(&entry, "nothing"), KS_INVALID_FIELD);

	/* whatever a record has is announced, and nothing is announced that none can have */
	for (ssize_t i = 0; i < rows.n; i += 11) {
		char *info = kshark_get_info(rows.row[i]), *equals = info;
		int n_info = 0, n_read = 0;

		for (; (equals = strchr(equals, '=')); equals++)
			n_info++;
		n = field_names(stream, rows.row[i]->event_id, &names);
		for (int j = 0; j < n; j++)
			n_read += kshark_read_event_field_int(rows.row[i], names[j], &value) >= 0;
		assert_int_equal(n_read, n_info);
		n_values += n_read;
		assert_true(kshark_read_event_field_int(rows.row[i], "nothing", &value) < 0);
		if (rows.row[i]->event_id == wake) {
			char text[64];
			int64_t vcpu;

			assert_int_equal(kshark_read_event_field_int(rows.row[i], "domid",
								     &value), 0);
			assert_int_equal(kshark_read_event_field_int(rows.row[i], "vcpu",
								     &vcpu), 0);
			snprintf(text, sizeof(text), "domid=d%d vcpu=%d", (int)value, (int)vcpu);
			assert_string_equal(info, text);
		}
		free_names(names, n);
		free(info);
	}
	assert_true(n_values > 1000);
	free_rows(&rows);
}

static void load_again(void **state)
{
	struct kshark_data_stream *stream = open_file(sample_path(SAMPLE));
	struct rows rows = load(stream), again;
	int n_events = stream->n_events, n_tasks = stream->tasks->count;
	int16_t *event, *cpu;
	int32_t *pid;
	int64_t *offset, *ts;
	ssize_t n;

	(void)state;
	for (int i = 0; i < 2; i++) {
		again = load(stream);
		same_rows(&rows, &again);
		assert_int_equal(stream->n_events, n_events);
		assert_int_equal(stream->tasks->count, n_tasks);
		free_rows(&again);
	}
	n = kshark_load_matrix(kshark, stream->stream_id, &event, &cpu, &pid, &offset, &ts);
	assert_int_equal(n, rows.n);
	for (ssize_t i = 0; i < n; i++) {
		assert_int_equal(event[i], rows.row[i]->event_id);
		assert_int_equal(cpu[i], rows.row[i]->cpu);
		assert_int_equal(pid[i], rows.row[i]->pid);
		assert_int_equal(offset[i], rows.row[i]->offset);
		assert_int_equal(ts[i], rows.row[i]->ts);
	}
	free(event);
	free(cpu);
	free(pid);
	free(offset);
	free(ts);
	free_rows(&rows);
}

static void filters_at_load(void **state)
{
	static const enum kshark_filter_type filter[] = {
		KS_SHOW_EVENT_FILTER, KS_HIDE_EVENT_FILTER, KS_SHOW_TASK_FILTER,
		KS_HIDE_TASK_FILTER, KS_SHOW_CPU_FILTER, KS_HIDE_CPU_FILTER,
	};
	struct kshark_data_stream *stream = open_file(sample_path(SAMPLE));
	int event = kshark_find_event_id(stream, "hypercall");

	(void)state;
	kshark->filter_mask = KS_TEXT_VIEW_FILTER_MASK;
	for (size_t f = 0; f < sizeof(filter) / sizeof(*filter); f++) {
		int wanted = f < 2 ? event : f < 4 ? 10001 : 2;
		ssize_t n_fit = 0, n_shown = 0;
		struct rows rows;

		kshark_filter_add_id(kshark, stream->stream_id, filter[f], wanted);
		rows = load(stream);
		for (ssize_t i = 0; i < rows.n; i++) {
			bool fits = wanted == (f < 2 ? rows.row[i]->event_id :
					       f < 4 ? rows.row[i]->pid : rows.row[i]->cpu);
			bool shown = rows.row[i]->visible & KS_TEXT_VIEW_FILTER_MASK;

			assert_int_equal(shown, f % 2 ? !fits : fits);
			n_fit += fits;
			n_shown += shown;
		}
		assert_in_range(n_fit, 1, rows.n - 1);
		assert_in_range(n_shown, 1, rows.n - 1);
		kshark_filter_clear(kshark, stream->stream_id, filter[f]);
		free_rows(&rows);
	}
}

static ssize_t n_handled;

static void handler(struct kshark_data_stream *stream, void *record, struct kshark_entry *entry)
{
	int64_t by_record, by_entry;

	assert_int_equal(kshark_read_record_field_int(stream, record, "op", &by_record), 0);
	assert_int_equal(kshark_read_event_field_int(entry, "op", &by_entry), 0);
	assert_int_equal(by_record, by_entry);
	n_handled++;
}

static void event_handlers(void **state)
{
	struct kshark_data_stream *stream = open_file(sample_path(SAMPLE));
	int id = kshark_find_event_id(stream, "pv/hypercall");
	struct rows rows;
	ssize_t n = 0;

	(void)state;
	n_handled = 0;
	assert_int_equal(kshark_register_event_handler(stream, id, handler), 0);
	rows = load(stream);
	for (ssize_t i = 0; i < rows.n; i++)
		n += rows.row[i]->event_id == id;
	assert_true(n > 0);
	assert_int_equal(n_handled, n);
	assert_int_equal(kshark_unregister_event_handler(stream, id, handler), 0);
	free_rows(&rows);
}

/* Nothing is shared: what one stream has does not change when others come and go. */
static void several(void **state)
{
	struct kshark_data_stream *one = open_file(sample_path(SAMPLE)), *two, *host;
	struct rows first = load(one), second, again;
	int sd;

	(void)state;
	two = open_file(sample_path("lost-records.xen"));
	second = load(two);
	host = open_file(sample_path("kvm-host.dat"));
	assert_true(first.n != second.n);
	assert_string_not_equal(one->data_format, host->data_format);
	again = load(one);
	same_rows(&first, &again);
	free_rows(&again);
	again = load(host);
	free_rows(&again);

	sd = two->stream_id;
	free_rows(&second);
	kshark_close(kshark, sd);
	assert_int_equal(kshark->n_streams, 2);
	two = open_file(sample_path("pinned.xen"));
	second = load(two);
	free_rows(&second);
	again = load(one);
	same_rows(&first, &again);
	free_rows(&again);
	free_rows(&first);

	kshark_close_all(kshark);
	one = open_file(sample_path(SAMPLE));
	first = load(one);
	check_names(one);
	free_rows(&first);
}

static void names_of_domains(void **state)
{
	static const char meta[] = "{ \"domains\": [ { \"id\": 1, \"name\": \"burny\" } ] }";
	size_t size;
	char *bytes = read_sample(SAMPLE, &size);
	char *trace = write_file(".xen", bytes, size);
	char *sidecar = write_file(".xen.meta.json", meta, strlen(meta));
	struct kshark_data_stream *stream = open_file(trace);

	(void)state;
	assert_task(stream, 20001, "d1v1:burny");
	assert_task(stream, 10001, "d0v1");
	unlink(trace);
	unlink(sidecar);
	free(trace);
	free(sidecar);
	free(bytes);
}

static void damaged(void **state)
{
	size_t size;
	char *bytes = read_sample(SAMPLE, &size), *path, *name, *info;
	struct kshark_data_stream *stream;
	ssize_t n_damaged = 0;
	struct rows rows;
	char **names;

	(void)state;
	memset(bytes + size / 2, '!', 5000);
	path = write_file(".xen", bytes, size - 7);
	stream = open_file(path);
	rows = load(stream);
	for (ssize_t i = 0; i < rows.n; i++) {
		name = kshark_get_event_name(rows.row[i]);
		if (!strcmp(name, "xentrace/damaged_data")) {
			info = kshark_get_info(rows.row[i]);
			assert_non_null(strstr(info, "offset"));
			free(info);
			free(kshark_get_aux_info(rows.row[i]));
			free(kshark_dump_entry(rows.row[i]));
			assert_int_equal(field_names(stream, rows.row[i]->event_id, &names), 0);
			n_damaged++;
		}
		free(name);
	}
	assert_in_range(n_damaged, 1, 10);
	check_names(stream);
	free_rows(&rows);
	unlink(path);
	free(path);
	free(bytes);
}

static void refused(void **state)
{
	static const char zero[4096], text[] = "#!/bin/sh\necho this is no trace\n";
	char *files[] = {
		write_file("-empty", "", 0), write_file("-zero", zero, sizeof(zero)),
		write_file("-text", text, strlen(text)),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		assert_true(kshark_open(kshark, files[i]) < 0);
		unlink(files[i]);
		assert_true(kshark_open(kshark, files[i]) < 0);
		free(files[i]);
	}
	assert_true(kshark_open(kshark, "/proc/self/exe") < 0);
	assert_int_equal(kshark->n_streams, 0);
}

/* Write a file anew, in place, as a recording to the same path does. */
static void write_anew(const char *path, const void *bytes, size_t n)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

/* Ask for all texts of all rows. Return: how many rows have an info. */
static ssize_t ask_all(const struct rows *rows)
{
	ssize_t n = 0;

	for (ssize_t i = 0; i < rows->n; i++) {
		char *info = kshark_get_info(rows->row[i]);

		n += !strstr(info, "has changed since");
		free(info);
		free(kshark_get_aux_info(rows->row[i]));
		free(kshark_dump_entry(rows->row[i]));
	}
	return n;
}

/* Between opening and loading, another recording takes the file's place, with many more records. */
static void written_anew_before_load(void **state)
{
	size_t size, other_size;
	char *bytes = read_sample("hvm-io.xen", &size);
	char *other = read_sample("credit2-basic.xen", &other_size);
	char *path = write_file(".xen", bytes, size);
	struct kshark_data_stream *stream = open_file(path), *direct;
	struct rows rows, wanted;

	(void)state;
	write_anew(path, other, other_size);
	rows = load(stream);
	direct = open_file(sample_path("credit2-basic.xen"));
	wanted = load(direct);
	same_rows(&rows, &wanted);
	assert_int_equal(ask_all(&rows), rows.n);
	free_rows(&wanted);
	free_rows(&rows);
	unlink(path);
	free(path);
	free(bytes);
	free(other);
}

/* The same file, but full of nothing: as many records as there could ever be. */
static void zeros_before_load(void **state)
{
	size_t size;
	char *bytes = read_sample(SAMPLE, &size), *path = write_file(".xen", bytes, size), *info;
	struct kshark_data_stream *stream = open_file(path);
	struct rows rows;

	(void)state;
	memset(bytes, 0, size);
	write_anew(path, bytes, size);
	rows = load(stream);
	assert_int_equal(rows.n, 1);
	info = kshark_get_info(rows.row[0]);
	assert_non_null(strstr(info, "has changed since it was opened"));
	free(info);
	free_rows(&rows);
	unlink(path);
	free(path);
	free(bytes);
}

/* It is cut while its rows are shown: texts are gone, all else goes on; a reload shows the rest. */
static void cut_after_load(void **state)
{
	size_t size;
	char *bytes = read_sample(SAMPLE, &size), *path = write_file(".xen", bytes, size);
	struct kshark_data_stream *stream = open_file(path);
	struct rows rows = load(stream), again;

	(void)state;
	assert_int_equal(ask_all(&rows), rows.n);
	assert_int_equal(truncate(path, size / 2), 0);
	assert_int_equal(ask_all(&rows), 0);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(ask_all(&rows), 0);
	check_names(stream);
	write_anew(path, bytes, size / 2);
	again = load(stream);
	assert_in_range(again.n, rows.n / 4, rows.n * 3 / 4);
	assert_int_equal(ask_all(&again), again.n);
	free_rows(&again);
	/* nothing is left of it: still no crash, and a row that says so */
	assert_int_equal(truncate(path, 0), 0);
	again = load(stream);
	assert_int_equal(again.n, 1);
	free_rows(&again);
	free_rows(&rows);
	unlink(path);
	free(path);
	free(bytes);
}

/* xentrace goes on writing: what was there is there, and a reload shows all of it. */
static void grown_after_load(void **state)
{
	size_t size;
	char *bytes = read_sample(SAMPLE, &size), *path = write_file(".xen", bytes, size / 2);
	struct kshark_data_stream *stream = open_file(path);
	struct rows rows = load(stream), again;
	FILE *file = fopen(path, "ab");

	(void)state;
	assert_int_equal(fwrite(bytes + size / 2, 1, size - size / 2, file), size - size / 2);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(ask_all(&rows), rows.n);
	again = load(stream);
	assert_true(again.n > rows.n);
	assert_int_equal(ask_all(&again), again.n);
	free_rows(&again);
	free_rows(&rows);
	unlink(path);
	free(path);
	free(bytes);
}

/* What was opened has no name any more: it goes on being shown, and loaded. */
static void removed(const char *path, const char *other)
{
	(void)other;
	assert_int_equal(unlink(path), 0);
}

static void made_folder(const char *path, const char *other)
{
	removed(path, other);
	assert_int_equal(mkdir(path, 0700), 0);
}

/* A reader that opens it waits for a writer. */
static void made_fifo(const char *path, const char *other)
{
	removed(path, other);
	assert_int_equal(mkfifo(path, 0600), 0);
}

/* This one never comes to an end. */
static void made_device(const char *path, const char *other)
{
	removed(path, other);
	assert_int_equal(symlink("/dev/zero", path), 0);
}

static void made_text(const char *path, const char *other)
{
	removed(path, other);
	write_anew(path, "no trace", 8);
}

static void made_other(const char *path, const char *other)
{
	assert_int_equal(rename(other, path), 0);
}

/* Another file takes its name: that one is shown. What cannot be read: the old one goes on. */
static void replaced_after_load(void **state)
{
	static void (*const replace[])(const char *path, const char *other) = {
		removed, made_folder, made_fifo, made_device, made_text, made_other,
	};
	size_t size, other_size;
	char *bytes = read_sample(SAMPLE, &size), *other = read_sample("pinned.xen", &other_size);

	(void)state;
	assert_true(size > SOME_BYTES && other_size > SOME_BYTES);
	for (size_t i = 0; i < sizeof(replace) / sizeof(*replace); i++) {
		char *path = write_file(".xen", bytes, SOME_BYTES);
		char *new = write_file("-new.xen", other, SOME_BYTES);
		struct kshark_data_stream *stream = open_file(path);
		struct rows rows = load(stream), again;

		replace[i](path, new);
		assert_int_equal(ask_all(&rows), rows.n);
		/* instead of waiting for ever */
		alarm(60);
		again = load(stream);
		alarm(0);
		if (replace[i] == made_other)
			assert_true(again.n != rows.n);
		else
			same_rows(&rows, &again);
		assert_int_equal(ask_all(&again), again.n);
		free_rows(&again);
		free_rows(&rows);
		remove(path);
		unlink(new);
		free(path);
		free(new);
	}
	free(bytes);
	free(other);
}

static void *ask(void *arg)
{
	const struct rows *rows = arg;

	for (ssize_t i = 0; i < rows->n; i += 5) {
		free(kshark_get_event_name(rows->row[i]));
		free(kshark_get_task(rows->row[i]));
		free(kshark_get_info(rows->row[i]));
		free(kshark_get_aux_info(rows->row[i]));
	}
	return NULL;
}

/* As KernelShark's search does; errors show under the thread sanitizer. */
static void threads(void **state)
{
	struct kshark_data_stream *stream = open_file(sample_path(SAMPLE));
	struct rows rows = load(stream);
	pthread_t thread[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, ask, &rows), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	free_rows(&rows);
}

int main(void)
{
#define TEST(function)	cmocka_unit_test_setup_teardown(function, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(stream_itself), TEST(rows_and_text), TEST(somebody), TEST(events),
		TEST(fields), TEST(load_again), TEST(filters_at_load), TEST(event_handlers),
		TEST(several), TEST(names_of_domains), TEST(damaged), TEST(refused),
		TEST(threads), TEST(written_anew_before_load), TEST(zeros_before_load),
		TEST(cut_after_load), TEST(grown_after_load), TEST(replaced_after_load),
	};

	if (!getenv("KSV_PLUGIN") || !getenv("KSV_SOURCE_DIR")) {
		fputs("KSV_PLUGIN and KSV_SOURCE_DIR must be set\n", stderr);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
