// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_stream.c
 * @brief	The model of a KVM host's trace.dat that KernelShark loads.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>
#include <libkshark.h>
#include <libkshark-plugin.h>
#include <libkshark-tepdata.h>

#include "escape.h"
#include "ks_clock.h"
#include "ks_stream.h"
#include "kvm_fields.h"
#include "kvm_meta.h"
#include "kvm_recorded.h"
#include "kvm_stream.h"
#include "trace_dat.h"
#include "virt_registry.h"
#include "xen_trace.h"

/* Of libtracecmd, which libkshark has loaded; another version may lack the last one. */
struct tep_record *tracecmd_read_at(struct tracecmd_input *handle, unsigned long long offset,
				    int *cpu);
void tracecmd_free_record(struct tep_record *record);
int tracecmd_set_ts2secs(struct tracecmd_input *handle, unsigned long long hz)
	__attribute__((weak));

/** What is collected of a stream; the registry's promise and the stream share it. */
struct collection {
	pthread_mutex_t		lock;		/* per record, and while a model is made */
	int			refs;
	int			stream_id;
	char			*file;
	struct kvm_meta		*meta;		/* or NULL */
	struct kvm_fields	*fields;	/* NULL: the stream is gone */
	struct kvm_tracker	*tracker;
	int64_t			begin_ns, end_ns;
	int64_t			*last;		/* by CPU: where in the file its last record is */
	int			n_cpus;
	int			error;
};

/* By stream, as KernelShark's callbacks have no other context; its own limit is 127 streams. */
#define MAX_STREAMS	128

/** Of a text about a sidecar. */
#define SAID_BYTES	512

static struct collection *collections[MAX_STREAMS];
static pthread_mutex_t collections_lock = PTHREAD_MUTEX_INITIALIZER;

static void release(struct collection *collection)
{
	int refs;

	if (!collection)
		return;
	pthread_mutex_lock(&collection->lock);
	refs = --collection->refs;
	pthread_mutex_unlock(&collection->lock);
	if (refs)
		return;
	kvm_fields_free(collection->fields);
	kvm_tracker_free(collection->tracker);
	kvm_meta_free(collection->meta);
	free(collection->last);
	free(collection->file);
	pthread_mutex_destroy(&collection->lock);
	free(collection);
}

static struct collection *get(int stream_id)
{
	struct collection *collection = NULL;

	pthread_mutex_lock(&collections_lock);
	if (stream_id >= 0 && stream_id < MAX_STREAMS)
		collection = collections[stream_id];
	if (collection) {
		pthread_mutex_lock(&collection->lock);
		collection->refs++;
		pthread_mutex_unlock(&collection->lock);
	}
	pthread_mutex_unlock(&collections_lock);
	return collection;
}

/* --- the model ------------------------------------------------------------------------------- */

static struct virt_model *make(void *arg)
{
	struct collection *collection = arg;
	struct virt_model *model = NULL;
	int ret = 0;

	pthread_mutex_lock(&collection->lock);
	if (!collection->error && collection->tracker &&
	    collection->begin_ns < collection->end_ns)
		ret = kvm_tracker_finish(collection->tracker, collection->begin_ns,
					 collection->end_ns, &model);
	pthread_mutex_unlock(&collection->lock);
	if (ret)
		escape_print(stderr, "", "%s: its virtual machines are not shown: %s",
			     collection->file, virt_model_problem(ret));
	return model;
}

static void drop(void *arg)
{
	release(arg);
}

/** A model may be another one now. */
static void promise(int stream_id)
{
	struct collection *collection = get(stream_id);

	/* the reference goes to the promise */
	if (collection)
		virt_registry_promise(stream_id, make, drop, collection);
}

/* --- while KernelShark loads ----------------------------------------------------------------- */

/**
 * Nothing has been collected. The file and its sidecar name guests and vCPUs, whatever other files
 * are open.
 *
 * Return: false without memory.
 */
static bool begin(struct collection *collection)
{
	kvm_tracker_free(collection->tracker);
	collection->tracker = kvm_tracker_new();
	if (collection->tracker &&
	    kvm_meta_fill_tracker(collection->meta, collection->file, collection->tracker)) {
		kvm_tracker_free(collection->tracker);
		collection->tracker = NULL;
	}
	if (collection->tracker) {
		kvm_tracker_know_pcpus(collection->tracker, collection->n_cpus);
		kvm_tracker_formats(collection->tracker, kvm_fields_kinds(collection->fields));
	}
	collection->begin_ns = INT64_MAX;
	collection->end_ns = INT64_MIN;
	for (int cpu = 0; cpu < collection->n_cpus; cpu++)
		collection->last[cpu] = -1;
	return collection->tracker;
}

/**
 * Does KernelShark load all once more? For its advanced filter, it does so without a notice.
 * The records of a CPU come in the order of the file; one before which others are missing comes
 * twice, first as these.
 */
static bool is_again(struct collection *collection, const struct tep_record *record, bool missing)
{
	int64_t *last, here = 2 * (int64_t)record->offset + !missing;

	if (record->cpu < 0 || record->cpu >= collection->n_cpus)
		return false;
	last = &collection->last[record->cpu];
	if (here > *last) {
		*last = here;
		return false;
	}
	return true;
}

static void span(struct collection *collection, int64_t time_ns)
{
	if (time_ns < collection->begin_ns)
		collection->begin_ns = time_ns;
	if (time_ns >= collection->end_ns)
		collection->end_ns = time_ns + 1;
}

/** Times are the record's own: the entry's may have an offset that changes later. */
static void on_record(struct kshark_data_stream *stream, void *rec, struct kshark_entry *entry)
{
	/* it is not taken away while its stream is loading */
	struct collection *collection = collections[stream->stream_id];
	struct tep_record *record = rec;
	bool missing = entry->event_id == KS_EVENT_OVERFLOW, again;
	int64_t time_ns;
	int32_t pid;
	int ret = 0;

	if (!collection)
		return;
	time_ns = (int64_t)record->ts;
	/* the entry's may be another one: KernelShark gives a switch to the task that comes next */
	pid = kvm_fields_pid(collection->fields, record);
	pthread_mutex_lock(&collection->lock);
	again = is_again(collection, record, missing);
	if (again && begin(collection))
		is_again(collection, record, missing);
	if (!collection->tracker)
		collection->error = -ENOMEM;
	if (!collection->error && missing)
		ret = kvm_tracker_lost(collection->tracker, record->cpu, pid, time_ns,
				       record->missed_events > 0 ? record->missed_events : 0);
	else if (!collection->error)
		ret = kvm_fields_take(collection->fields, collection->tracker, record,
				      entry->event_id, record->cpu, pid, time_ns);
	span(collection, time_ns);
	if (ret == -ENOMEM)
		collection->error = ret;
	pthread_mutex_unlock(&collection->lock);
	if (again)
		promise(collection->stream_id);
}

/* --- once more ------------------------------------------------------------------------------- */

/** A row with a place in the file, in the order of the file. */
struct place {
	const struct kshark_entry *row;
	bool		missing;	/* records before it are */
};

static int compare_places(const void *a, const void *b)
{
	const struct kshark_entry *x = ((const struct place *)a)->row;
	const struct kshark_entry *y = ((const struct place *)b)->row;

	return x->cpu != y->cpu ? x->cpu - y->cpu : (x->offset > y->offset) -
						    (x->offset < y->offset);
}

/** @places: receives the rows of a stream; KernelShark has one for lost records before the next. */
static size_t find_places(const struct kshark_data_stream *stream, struct kshark_entry **rows,
			  size_t n_rows, struct place *places, bool *missing)
{
	size_t n = 0;

	for (size_t i = 0; i < n_rows; i++) {
		const struct kshark_entry *row = rows[i];

		if (row->stream_id != stream->stream_id || row->cpu < 0 ||
		    row->cpu >= stream->n_cpus)
			continue;
		if (row->event_id != KS_EVENT_OVERFLOW)
			places[n++] = (struct place){ row, missing[row->cpu] };
		missing[row->cpu] = row->event_id == KS_EVENT_OVERFLOW;
	}
	return n;
}

/** Do what KernelShark does with a row of one of our events while it loads. */
static void take_again(struct kshark_data_stream *stream, struct tep_record *record,
		       const struct place *place, const int *ids, size_t n_ids)
{
	struct kshark_entry entry = { .event_id = KS_EVENT_OVERFLOW };

	if (place->missing)
		on_record(stream, record, &entry);
	entry.event_id = place->row->event_id;
	for (size_t i = 0; i < n_ids; i++)
		if (ids[i] == entry.event_id)
			on_record(stream, record, &entry);
}

/** The stream's records have other times now. They are read again, not loaded: rows stay. */
static int collect_again(int stream_id, struct kshark_entry **rows, size_t n_rows)
{
	struct collection *collection = get(stream_id);
	struct kshark_context *kshark = NULL;
	struct kshark_data_stream *stream;
	struct place *places;
	bool *missing;
	const int *ids;
	size_t n = 0, n_ids;
	int ret = 0;

	if (!collection || !kshark_instance(&kshark)) {
		release(collection);
		return 0;
	}
	stream = kshark_get_data_stream(kshark, stream_id);
	places = malloc((n_rows + 1) * sizeof(*places));
	missing = calloc((size_t)stream->n_cpus + 1, sizeof(*missing));
	if (!places || !missing)
		ret = -ENOMEM;
	else
		n = find_places(stream, rows, n_rows, places, missing);
	if (n)
		qsort(places, n, sizeof(*places), compare_places);
	pthread_mutex_lock(&collection->lock);
	if (!ret && !begin(collection))
		ret = -ENOMEM;
	n_ids = kvm_fields_events(collection->fields, &ids);
	pthread_mutex_unlock(&collection->lock);
	for (size_t i = 0; i < n && !ret; i++) {
		struct tep_record *record = tracecmd_read_at(
			kshark_get_tep_input(stream),
			(unsigned long long)places[i].row->offset, NULL);

		if (record)
			take_again(stream, record, &places[i], ids, n_ids);
		else
			ret = -EIO;
		tracecmd_free_record(record);
	}
	free(places);
	free(missing);
	release(collection);
	promise(stream_id);
	return ret;
}

/* --- streams --------------------------------------------------------------------------------- */

static void forget(int stream_id)
{
	struct collection *before = NULL;

	bool any = false;

	pthread_mutex_lock(&collections_lock);
	if (stream_id >= 0 && stream_id < MAX_STREAMS) {
		before = collections[stream_id];
		collections[stream_id] = NULL;
	}
	for (int i = 0; i < MAX_STREAMS; i++)
		any |= collections[i] != NULL;
	pthread_mutex_unlock(&collections_lock);
	/* this plugin may be unloaded next */
	if (!any)
		virt_registry_set_again(NULL);
	release(before);
}

/**
 * KernelShark attaches and loads a trace several times, each of which finds the same. What is
 * repaired, and broken otherwise, is another text.
 */
static void say_once(const char *text)
{
	static char said[MAX_STREAMS][SAID_BYTES];
	static size_t next;
	bool known = false;

	pthread_mutex_lock(&collections_lock);
	for (size_t i = 0; i < MAX_STREAMS && !known; i++)
		known = !strncmp(said[i], text, SAID_BYTES - 1);
	if (!known)
		snprintf(said[next++ % MAX_STREAMS], SAID_BYTES, "%s", text);
	pthread_mutex_unlock(&collections_lock);
	if (!known)
		escape_print(stderr, "", "%s", text);
}

/** A sidecar that cannot be used is said, and that is all. */
static void read_meta(struct collection *collection, const struct kshark_data_stream *stream)
{
	char text[512] = "";

	if (kvm_fields_is_host(collection->fields) &&
	    kvm_meta_read(collection->file, &collection->meta, text, sizeof(text)))
		say_once(text);
	ks_stream_note(stream, VIRT_NOTE_SIDECAR, text);
}

/**
 * Times that are cycles of the TSC become ns, as everywhere: by the frequency that the user gives,
 * or that the sidecar has. Return: false if it is unknown.
 */
static bool set_hz(struct kshark_data_stream *stream, const struct kvm_meta *meta)
{
	struct tracecmd_input *input = kshark_get_tep_input(stream);
	struct xen_trace_options options = { 0 };
	char problem[256];
	uint64_t hz;

	/* a variable that cannot be understood has been reported */
	xen_trace_options_from_env(&options, problem, sizeof(problem));
	hz = options.cpu_hz ? options.cpu_hz : meta ? meta->cpu_khz * 1000 : 0;
	if (!hz || !input || !tracecmd_set_ts2secs || tracecmd_set_ts2secs(input, hz))
		return false;
	ks_stream_note_clock(stream, hz, options.cpu_hz ? "from --cpu-hz or XEN_CPUHZ" :
			     "from its sidecar");
	return true;
}

/** ns = cycles * mult >> shift */
static uint64_t hz_of(const struct trace_dat_scale *scale)
{
	return (uint64_t)(((unsigned __int128)1000000000 << scale->shift) / scale->mult);
}

/**
 * What keeps the model of a stream from being that of its trace. KernelShark makes a stream of each
 * buffer of a file.
 *
 * Return: false if there can be no model.
 */
static bool check_reading(struct kshark_data_stream *stream, const struct kvm_meta *meta)
{
	struct trace_dat_info info = { 0 };
	char problem[256], text[SAID_BYTES] = "", facts[SAID_BYTES] = "", jump[SAID_BYTES] = "";
	bool fits = trace_dat_check(stream->file, problem, sizeof(problem), &info);
	struct trace_dat_scale scale;

	if (info.unit == TRACE_DAT_NS && trace_dat_find_scale(stream->file, &scale))
		ks_stream_note_clock(stream, hz_of(&scale), "from the file");
	else
		ks_stream_note(stream, VIRT_NOTE_CLOCK, NULL);
	if (!fits && info.counts_events)
		snprintf(text, sizeof(text), "%s: %s", stream->file, problem);
	else if (info.n_instances)
		snprintf(text, sizeof(text), "%s: it has several buffers (trace-cmd record -B), "
			 "which KernelShark shows separately: one alone does not show what vCPUs "
			 "do. 'kshark-virt report' reads all of them together", stream->file);
	if (*text)
		say_once(text);
	ks_stream_note(stream, VIRT_NOTE_READING, text);
	if (info.unit == TRACE_DAT_CYCLES && !set_hz(stream, meta))
		snprintf(facts, sizeof(facts), "%s: wrong unit: times are TSC cycles, shown as ns. "
			 "Give the frequency: kshark-virt view --cpu-hz, or cpu_khz in its sidecar",
			 stream->file);
	ks_stream_note(stream, VIRT_NOTE_FACTS, facts);
	if (info.jump)
		trace_dat_jump_text(stream->file, info.jump, info.unit, jump, sizeof(jump));
	ks_stream_note(stream, VIRT_NOTE_JUMP, jump);
	return !info.counts_events;
}

static struct collection *collection_new(struct kshark_data_stream *stream)
{
	struct collection *collection = calloc(1, sizeof(*collection));

	if (!collection)
		return NULL;
	pthread_mutex_init(&collection->lock, NULL);
	collection->refs = 1;
	collection->stream_id = stream->stream_id;
	collection->n_cpus = stream->n_cpus > 0 ? stream->n_cpus : 0;
	collection->last = malloc(((size_t)collection->n_cpus + 1) * sizeof(*collection->last));
	collection->fields = kvm_fields_new(kshark_get_tep(stream));
	collection->file = strdup(stream->file ? stream->file : "");
	if (!collection->fields || !collection->last || !collection->file)
		goto err;
	read_meta(collection, stream);
	if (begin(collection))
		return collection;
err:
	release(collection);
	return NULL;
}

static void unregister(struct kshark_data_stream *stream, const struct kvm_fields *fields)
{
	const int *ids;
	size_t n = kvm_fields_events(fields, &ids);

	for (size_t i = 0; i < n; i++)
		kshark_unregister_event_handler(stream, ids[i], on_record);
	kshark_unregister_event_handler(stream, KS_EVENT_OVERFLOW, on_record);
}

int kvm_stream_attach(struct kshark_data_stream *stream)
{
	struct collection *collection;
	const int *ids;
	size_t n;
	int ret;

	if (stream->stream_id < 0 || stream->stream_id >= MAX_STREAMS || !kshark_get_tep(stream))
		return 0;
	kvm_stream_detach(stream);
	collection = collection_new(stream);
	if (!collection)
		return -ENOMEM;
	if (!kvm_fields_is_host(collection->fields) || !check_reading(stream, collection->meta)) {
		release(collection);
		return 0;
	}
	n = kvm_fields_events(collection->fields, &ids);
	ret = kshark_register_event_handler(stream, KS_EVENT_OVERFLOW, on_record);
	for (size_t i = 0; i < n && !ret; i++)
		ret = kshark_register_event_handler(stream, ids[i], on_record);
	if (ret) {
		unregister(stream, collection->fields);
		release(collection);
		return ret;
	}
	pthread_mutex_lock(&collections_lock);
	collections[stream->stream_id] = collection;
	pthread_mutex_unlock(&collections_lock);
	virt_registry_set_again(collect_again);
	promise(stream->stream_id);
	return 1;
}

void kvm_stream_detach(struct kshark_data_stream *stream)
{
	struct collection *collection = get(stream->stream_id);

	if (!collection)
		return;
	unregister(stream, collection->fields);
	release(collection);
	forget(stream->stream_id);
	virt_registry_set(stream->stream_id, NULL);
	ks_stream_note(stream, VIRT_NOTE_SIDECAR, NULL);
	ks_stream_note(stream, VIRT_NOTE_READING, NULL);
	ks_stream_note(stream, VIRT_NOTE_FACTS, NULL);
	ks_stream_note(stream, VIRT_NOTE_CLOCK, NULL);
	ks_stream_note(stream, VIRT_NOTE_JUMP, NULL);
}
