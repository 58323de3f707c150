// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_trace.c
 * @brief	The trace.dat of a KVM host and those of its guests, without KernelShark.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "clock_align.h"
#include "key_map.h"
#include "kvm_fields.h"
#include "kvm_reader.h"
#include "kvm_recorded.h"
#include "kvm_source.h"
#include "kvm_trace.h"
#include "trace_dat.h"

/** Event ids have 16 bits. */
#define N_IDS		65536

/** Classes of events; the last one takes all further systems. */
#define MAX_CLASSES	20

/** Answers of the reading process, which the callers of a const trace ask for. */
struct known {
	struct key_map	pids;
	char		**names;	/* by number in @pids; NULL: none */
	size_t		names_room;
	struct guest_cpus {
		uint64_t	trace_id;
		int		*tids, n;	/* NULL: it does not know the guest */
	} *guests;
	size_t		n_guests, guests_room;
	struct key_map	addresses;
	char		**functions;	/* by number in @addresses; NULL: none */
	size_t		functions_room;
};

struct kvm_trace {
	char		*path;
	struct kvm_source *source;	/* one of the two; the other is NULL */
	struct kvm_reader *reader;
	const struct kvm_facts *facts;
	struct known	*known;
	struct kvm_meta	*meta;			/* of a host, or NULL */
	bool		meta_is_lent;
	bool		part_is_strange;	/* its sidecar's part is another trace's */
	char		*meta_error;		/* why there is none, or NULL */
	enum trace_dat_unit unit;
	bool		hides_offsets;	/* of trace-cmd, to another file's times */
	uint64_t	hz;			/* of cycles; 0: they are taken for ns */
	bool		aligned;
	int64_t		offset;			/* if so */
	double		drift_ppm;
	char		*host;			/* name of the file it is aligned with */
	int		*tids;
	int		n_tids;
	struct virt_clock_step *steps;
	size_t		n_steps;
	uint32_t	*event_of;		/* by event id: number in the facts' events + 1 */
	int8_t		*class_of;		/* by event id; -1: not looked up yet */
	const char	*classes[MAX_CLASSES];
	int		n_classes;
	struct key_map	irqs;			/* of devices */
	struct device {
		char	name[KVM_DEVICE_SIZE];
	} *devices;				/* by number in @irqs */
	size_t		devices_room;
	kvm_trace_progress_fn progress;		/* of walks; NULL: none */
	uint64_t	progress_records;	/* from one call to the next */
	void		*progress_arg;
	bool		only_counts;
	bool		is_brief;	/* of models */
};

/* --- opening --------------------------------------------------------------------------------- */

static void free_known(struct known *known)
{
	if (!known)
		return;
	for (uint32_t i = 0; i < known->pids.n_keys; i++)
		free(known->names[i]);
	free(known->names);
	key_map_destroy(&known->pids);
	for (size_t i = 0; i < known->n_guests; i++)
		free(known->guests[i].tids);
	free(known->guests);
	for (uint32_t i = 0; i < known->addresses.n_keys; i++)
		free(known->functions[i]);
	free(known->functions);
	key_map_destroy(&known->addresses);
	free(known);
}

void kvm_trace_close(struct kvm_trace *trace)
{
	if (!trace)
		return;
	kvm_source_close(trace->source);
	kvm_reader_close(trace->reader);
	free_known(trace->known);
	if (!trace->meta_is_lent)
		kvm_meta_free(trace->meta);
	free(trace->meta_error);
	free(trace->event_of);
	free(trace->class_of);
	free(trace->host);
	free(trace->tids);
	free(trace->steps);
	key_map_destroy(&trace->irqs);
	free(trace->devices);
	free(trace->path);
	free(trace);
}

/** A sidecar that cannot be used keeps no trace from being read. Return: false without memory. */
static bool look_up_meta(struct kvm_trace *trace)
{
	char text[512];
	int ret = trace->facts->is_host ?
		  kvm_meta_read(trace->path, &trace->meta, text, sizeof(text)) : 0;

	if (ret && ret != -ENOMEM)
		trace->meta_error = strdup(text);
	return !ret || trace->meta_error;
}

/** Return: false without memory. */
static bool look_up_events(struct kvm_trace *trace)
{
	const struct kvm_facts *facts = trace->facts;

	trace->event_of = calloc(N_IDS, sizeof(*trace->event_of));
	trace->class_of = malloc(N_IDS);
	if (!trace->event_of || !trace->class_of)
		return false;
	memset(trace->class_of, -1, N_IDS);
	for (int32_t i = 0; i < facts->n_events; i++)
		if (facts->events[i].id >= 0 && facts->events[i].id < N_IDS &&
		    !trace->event_of[facts->events[i].id])
			trace->event_of[facts->events[i].id] = (uint32_t)i + 1;
	return true;
}

static struct kvm_source *open_here(const char *path, char *error, size_t size)
{
	struct kvm_source_file file;

	return kvm_source_find(path, &file, error, size) ?
	       kvm_source_open(path, &file, error, size) : NULL;
}

/** Which process reads a file. */
enum reading { THIS_PROCESS, A_COPY, A_PROGRAM };

static struct kvm_trace *open_trace(const char *path, enum reading by, char *error, size_t size)
{
	struct kvm_trace *trace = calloc(1, sizeof(*trace));

	if (!trace)
		goto err_memory;
	trace->path = strdup(path);
	trace->known = calloc(1, sizeof(*trace->known));
	if (!trace->path || !trace->known)
		goto err_memory;
	if (by == THIS_PROCESS)
		trace->source = open_here(path, error, size);
	else
		trace->reader = kvm_reader_open(path, by == A_PROGRAM, error, size);
	if (!trace->reader && !trace->source)
		goto err;
	trace->facts = trace->reader ? kvm_reader_facts(trace->reader) :
				       kvm_source_facts(trace->source);
	trace->unit = trace->facts->unit;
	if (!look_up_events(trace) || !look_up_meta(trace))
		goto err_memory;
	return trace;
err_memory:
	snprintf(error, size, "%s: not enough memory", path);
err:
	kvm_trace_close(trace);
	return NULL;
}

struct kvm_trace *kvm_trace_open(const char *path, char *error, size_t size)
{
	return open_trace(path, THIS_PROCESS, error, size);
}

struct kvm_trace *kvm_trace_open_apart(const char *path, char *error, size_t size)
{
	return open_trace(path, A_COPY, error, size);
}

struct kvm_trace *kvm_trace_open_by_program(const char *path, char *error, size_t size)
{
	return open_trace(path, A_PROGRAM, error, size);
}

const char *kvm_trace_problem(int ret)
{
	if (ret == -EBADMSG)
		return "damaged: libtracecmd crashes on it. Copy it again, if there is another one";
	if (ret == -ETIMEDOUT)
		return "damaged: libtracecmd comes to no end on it. Copy it again, if there is "
		       "another one";
	return ret == -ENODATA ? "there is no record in it" : virt_model_problem(ret);
}

void kvm_trace_set_hz(struct kvm_trace *trace, uint64_t hz)
{
	trace->hz = hz;
}

uint64_t kvm_trace_hz(const struct kvm_trace *trace)
{
	return trace->hz;
}

const struct kvm_meta *kvm_trace_meta(const struct kvm_trace *trace)
{
	return trace->meta;
}

void kvm_trace_lend_meta(struct kvm_trace *trace, struct kvm_meta *meta)
{
	if (!trace->meta_is_lent)
		kvm_meta_free(trace->meta);
	trace->meta = meta;
	trace->meta_is_lent = true;
}

const char *kvm_trace_meta_error(const struct kvm_trace *trace)
{
	return trace->meta_error;
}

enum trace_dat_unit kvm_trace_unit(const struct kvm_trace *trace)
{
	return trace->unit;
}

bool kvm_trace_hide_offsets(struct kvm_trace *trace)
{
	trace->hides_offsets = trace->reader ? kvm_reader_hide_offsets(trace->reader) :
					       kvm_source_hide_offsets(trace->source);
	return trace->hides_offsets;
}

bool kvm_trace_jumps(const struct kvm_trace *trace)
{
	return trace->facts->jump && !trace->hides_offsets;
}

int kvm_trace_set_steps(struct kvm_trace *trace, const struct virt_clock_step *steps, size_t n)
{
	struct virt_clock_step *copy = malloc((n + 1) * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	if (n)
		memcpy(copy, steps, n * sizeof(*copy));
	free(trace->steps);
	trace->steps = copy;
	trace->n_steps = n;
	return 0;
}

int kvm_trace_align(struct kvm_trace *trace, const struct kvm_trace_alignment *alignment)
{
	size_t size = (size_t)alignment->n_tids * sizeof(*trace->tids);
	char *host = strdup(alignment->host ? alignment->host : "");
	int *tids = malloc(size + 1);

	if (!host || !tids) {
		free(host);
		free(tids);
		return -ENOMEM;
	}
	if (size)
		memcpy(tids, alignment->tids, size);
	free(trace->host);
	free(trace->tids);
	trace->host = host;
	trace->tids = tids;
	trace->n_tids = alignment->n_tids;
	if (alignment->hide_offsets && !kvm_trace_hide_offsets(trace))
		return -ENOTSUP;
	if (kvm_trace_set_steps(trace, alignment->steps, alignment->n_steps))
		return -ENOMEM;
	trace->aligned = true;
	trace->offset = alignment->offset;
	trace->drift_ppm = alignment->drift_ppm;
	if (trace->unit == TRACE_DAT_EITHER)
		trace->unit = alignment->cycles ? TRACE_DAT_CYCLES : TRACE_DAT_NS;
	return 0;
}

bool kvm_trace_is_aligned(const struct kvm_trace *trace)
{
	return trace->aligned;
}

/** Is the alignment all that is between the times of the trace's clock and those of its host? */
static bool has_one_offset(const struct kvm_trace *trace)
{
	return trace->aligned && !trace->n_steps && trace->unit == TRACE_DAT_NS &&
	       (!trace->facts->shifted || trace->hides_offsets);
}

bool kvm_trace_clock_time(const struct kvm_trace *trace, int64_t time, int64_t *ns)
{
	if (!has_one_offset(trace))
		return false;
	*ns = virt_clock_host_time(trace->offset, trace->drift_ppm, time);
	return true;
}

const char *kvm_trace_function(const struct kvm_trace *trace, uint64_t address)
{
	struct known *known = trace->known;
	int64_t n;

	if (trace->source)
		return kvm_source_function(trace->source, address);
	n = key_map_find(&known->addresses, address);
	if (n >= 0)
		return known->functions[n];
	n = KEY_MAP_ELEMENT(&known->addresses, address, known->functions, known->functions_room);
	if (n >= 0)
		known->functions[n] = kvm_reader_function(trace->reader, address);
	return n < 0 ? NULL : known->functions[n];
}

const char *kvm_trace_path(const struct kvm_trace *trace)
{
	return trace->path;
}

const char *kvm_trace_clock(const struct kvm_trace *trace)
{
	return trace->facts->clock;
}

bool kvm_trace_is_host(const struct kvm_trace *trace)
{
	return trace->facts->is_host;
}

const char *kvm_trace_stranger(const struct kvm_trace *trace)
{
	return trace->facts->stranger;
}

bool kvm_trace_has_vcpus(const struct kvm_trace *trace)
{
	return trace->facts->has_vcpus;
}

const int *kvm_trace_aligned_tids(const struct kvm_trace *guest, const char *host, int *n)
{
	const char *file = strrchr(host, '/');

	if (!guest->n_tids || strcmp(guest->host, file ? file + 1 : host))
		return NULL;
	*n = guest->n_tids;
	return guest->tids;
}

/** As the reading process answers; it is asked once. */
static const int *ask_tids(const struct kvm_trace *host, uint64_t trace_id, int *n)
{
	struct known *known = host->known;
	struct guest_cpus *guest;
	size_t i = 0;

	while (i < known->n_guests && known->guests[i].trace_id != trace_id)
		i++;
	if (i == known->n_guests) {
		if (ARRAY_GROW(known->guests, known->n_guests, known->guests_room))
			return NULL;
		guest = &known->guests[known->n_guests++];
		*guest = (struct guest_cpus){ .trace_id = trace_id };
		guest->tids = kvm_reader_guest_tids(host->reader, trace_id, &guest->n);
	}
	*n = known->guests[i].tids ? known->guests[i].n : *n;
	return known->guests[i].tids;
}

const int *kvm_trace_guest_tids(const struct kvm_trace *host, const struct kvm_trace *guest, int *n)
{
	uint64_t id = guest->facts->trace_id;
	const int *tids = NULL;

	/* found by events, and kept: it counts more than what was taken for granted before */
	if (host != guest)
		tids = kvm_trace_aligned_tids(guest, host->path, n);
	if (tids || !id)
		return tids;
	return host->reader ? ask_tids(host, id, n) : kvm_source_guest_tids(host->source, id, n);
}

int kvm_trace_damaged_cpu(const struct kvm_trace *trace)
{
	return trace->facts->damaged_cpu;
}

int kvm_trace_n_cpus(const struct kvm_trace *trace)
{
	return trace->facts->n_cpus;
}

const char *kvm_trace_class(const struct kvm_trace *trace, int class)
{
	return class >= 0 && class < trace->n_classes ? trace->classes[class] : NULL;
}

static const struct kvm_event_name *event_of(const struct kvm_trace *trace, int32_t id)
{
	uint32_t n = id >= 0 && id < N_IDS ? trace->event_of[id] : 0;

	return n ? &trace->facts->events[n - 1] : NULL;
}

const char *kvm_trace_event(const struct kvm_trace *trace, int32_t event)
{
	const struct kvm_event_name *found = event_of(trace, event);

	return found ? found->name : NULL;
}

const char *kvm_trace_device(const struct kvm_trace *trace, int32_t device)
{
	return device >= 0 && (uint32_t)device < trace->irqs.n_keys &&
	       *trace->devices[device].name ? trace->devices[device].name : NULL;
}

/** Keep the name of a thread, unless it has one; "" is none. Return: it, or NULL. */
static const char *keep_name(struct known *known, int32_t pid, const char *name)
{
	int64_t n = KEY_MAP_ELEMENT(&known->pids, (uint32_t)pid, known->names, known->names_room);

	if (n < 0)
		return NULL;
	if (!known->names[n] && *name)
		known->names[n] = strdup(name);
	return known->names[n];
}

const char *kvm_trace_task(const struct kvm_trace *trace, int32_t pid)
{
	struct known *known = trace->known;
	char name[KVM_TASK_NAME] = "";
	int64_t n;

	if (trace->source)
		return kvm_source_task(trace->source, pid);
	n = key_map_find(&known->pids, (uint32_t)pid);
	if (n >= 0)
		return known->names[n];
	return kvm_reader_task(trace->reader, pid, name) ? keep_name(known, pid, name) : NULL;
}

/** Each of several buffers has its own notes of losses and of what cannot be read. */
static void note_buffers(const struct kvm_trace *trace, struct trace_notes *notes)
{
	const struct kvm_facts *facts = trace->facts;

	if (facts->n_unread)
		trace_notes_add(notes, TRACE_NOTE_BUFFERS, TRACE_NOTE_WARNING,
				"%s: %d of its buffers (trace-cmd record -B) %s skipped: %s",
				trace->path, facts->n_unread, facts->n_unread > 1 ? "are" : "is",
				facts->shifted ? "trace-cmd recorded the time offsets of the top "
				"buffer only" :
				"libtracecmd cannot read them");
	for (int i = 0; i < facts->n_buffers && facts->n_buffers > 1; i++)
		if (facts->buffers[i].has_lost)
			trace_notes_add(notes, TRACE_NOTE_LOSS, TRACE_NOTE_WARNING,
					"%s: the %s%s%s lost %llu records", trace->path,
					i ? "buffer '" : "top buffer", i ? facts->buffers[i].name :
					"", i ? "'" : "",
					(unsigned long long)facts->buffers[i].lost);
	if (facts->n_twice)
		trace_notes_add(notes, TRACE_NOTE_BUFFERS, TRACE_NOTE_WARNING,
				"%s: %llu records are in two of its buffers, and are read once",
				trace->path, (unsigned long long)facts->n_twice);
}

void kvm_trace_notes(const struct kvm_trace *trace, struct trace_notes *notes)
{
	char text[PATH_MAX + 512];

	if (trace->meta_error)
		trace_notes_add(notes, TRACE_NOTE_SIDECAR, TRACE_NOTE_WARNING, "%s",
				trace->meta_error);
	if (trace->part_is_strange)
		trace_notes_add(notes, TRACE_NOTE_SIDECAR, TRACE_NOTE_WARNING,
				"%s: the sidecar's \"part\" belongs to another file, or to other "
				"times (--cpu-hz): it is ignored", trace->path);
	/* what is aligned counts as its host does, of which the same is known */
	if (trace->unit == TRACE_DAT_CYCLES && !trace->hz && !trace->aligned)
		trace_notes_add(notes, TRACE_NOTE_UNIT, TRACE_NOTE_WARNING,
				"%s: its times are TSC cycles of unknown length, and are read as "
				"ns. Give --cpu-hz", trace->path);
	if (kvm_trace_jumps(trace)) {
		trace_dat_jump_text(trace->path, trace->facts->jump, trace->unit, text,
				    sizeof(text));
		trace_notes_add(notes, TRACE_NOTE_ALIGNMENT, TRACE_NOTE_WARNING, "%s", text);
	}
	if (trace->facts->damaged_cpu >= 0)
		trace_notes_add(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_WARNING,
				"%s: the records of CPU %d are damaged; they are read up to there. "
				"Copy the file again, if there is another one", trace->path,
				trace->facts->damaged_cpu);
	note_buffers(trace, notes);
}

/* --- walking --------------------------------------------------------------------------------- */

/** The system of an event, as a number. */
static int16_t class_of(struct kvm_trace *trace, int id)
{
	const struct kvm_event_name *event;
	const char *name;
	int class;

	if (id < 0 || id >= N_IDS)
		id = 0;
	if (trace->class_of[id] >= 0)
		return trace->class_of[id];
	event = event_of(trace, id);
	name = event ? event->system : "other";
	for (class = 0; class < trace->n_classes; class++)
		if (!strcmp(trace->classes[class], name))
			break;
	if (class >= MAX_CLASSES - 1) {
		class = MAX_CLASSES - 1;
		name = "other";
	}
	if (class >= trace->n_classes) {
		trace->classes[class] = name;
		trace->n_classes = class + 1;
	}
	trace->class_of[id] = (int8_t)class;
	return (int16_t)class;
}

/** All records of a trace, for the caller's functions and for a tracker, if there are any. */
struct kvm_pass {
	struct kvm_trace *trace;
	struct kvm_tracker *tracker;
	int		(*take)(void *arg, const struct kvm_trace_record *record);
	void		(*lost)(void *arg, int cpu, uint64_t records);
	void		*arg;
	bool		by_library;
	bool		converts;	/* times, by more than a limit */
	struct virt_clock_walk walk;	/* of one CPU: */
	int		cpu;
	int64_t		begin_ns, end_ns;
	bool		is_missing;	/* records that the tracker has not heard of yet */
	uint64_t	missing;	/* number of these */
	uint64_t	done;		/* records since the last call of progress() */
	/* the tracker's numbers of handlers by those of items; below 0: none */
	int		handlers[KVM_ITEM_MOST_HANDLERS];
	/* of the record that goes by: */
	struct kvm_trace_record record;
	bool		has_more;	/* than all records have */
	struct hyper_call call;
};

/** Cut a time that is beyond all reason, so that differences fit. */
static inline int64_t cut_time(uint64_t ns)
{
	return ns > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)ns;
}

/** From a time of the file, after the steps of its clock, to ns. */
static int64_t aligned_time(const struct kvm_trace *trace, int64_t time)
{
	unsigned __int128 ns;

	/* a time below 0 may be above it when it is aligned */
	if (trace->aligned)
		time = virt_clock_host_time(trace->offset, trace->drift_ppm, time);
	ns = time < 0 ? 0 : (uint64_t)time;
	if (trace->hz && trace->unit == TRACE_DAT_CYCLES)
		ns = ns * 1000000000 / trace->hz;
	return ns > UINT64_MAX ? cut_time(UINT64_MAX) : cut_time((uint64_t)ns);
}

/** Are times of the file not yet ns that only cut_time() limits? */
static bool converts_times(const struct kvm_trace *trace)
{
	return trace->aligned || trace->n_steps || (trace->hz && trace->unit == TRACE_DAT_CYCLES);
}

static int64_t time_of(const struct kvm_trace *trace, uint64_t ts, struct virt_clock_walk *walk)
{
	int64_t time = ts > INT64_MAX ? INT64_MAX : (int64_t)ts;

	return aligned_time(trace, trace->n_steps ? virt_clock_walk_next(walk, time) : time);
}

void kvm_trace_walk_begin(const struct kvm_trace *trace, int32_t cpu,
			  struct virt_clock_walk *walk)
{
	virt_clock_walk_begin(walk, trace->steps, trace->n_steps, cpu);
}

int64_t kvm_trace_walk_time(const struct kvm_trace *trace, uint64_t ts,
			    struct virt_clock_walk *walk)
{
	return time_of(trace, ts, walk);
}

/** The number of a device, whose name goes with its first record. Return: -ENOMEM. */
static int32_t device_of(struct kvm_trace *trace, const struct kvm_item *item, int64_t irq)
{
	const char *name = kvm_item_part(item, KVM_ITEM_DEVICE);
	int64_t n;

	if (irq < 0)
		return VIRT_NONE;
	n = KEY_MAP_ELEMENT(&trace->irqs, (uint64_t)irq, trace->devices, trace->devices_room);
	if (n >= 0 && name)
		memcpy(trace->devices[n].name, name, KVM_DEVICE_SIZE);
	return (int32_t)n;
}

/** How many records are missing before it; 0: unknown, or none. */
static uint64_t missing_before(const struct kvm_item *item)
{
	const struct kvm_item_rare *rare = kvm_item_part(item, KVM_ITEM_RARE);

	return rare ? rare->missing : 0;
}

/** From here on, the items of the walk have a number for a handler. */
static void number_handler(struct kvm_pass *pass, const struct kvm_item *item)
{
	const struct kvm_handler_event *handler = kvm_item_part(item, KVM_ITEM_HANDLER);

	pass->handlers[item->n - 1] = kvm_tracker_add_handler(pass->tracker, handler->kind,
							      handler->name);
}

/**
 * For the tracker. While a buffer has lost records, the others show only a part of what happened:
 * nothing of that time counts.
 */
static int track(struct kvm_pass *pass, const struct kvm_item *item)
{
	const struct kvm_event *event = &item->step.event;
	int ret = 0;

	if (item->has_lost) {
		pass->is_missing = true;
		pass->missing += missing_before(item);
	}
	if (item->is_blind)
		return 0;
	if (pass->is_missing)
		ret = kvm_tracker_lost(pass->tracker, event->cpu, event->pid, event->time_ns,
				       pass->missing);
	pass->is_missing = false;
	pass->missing = 0;
	if (item->step.kind == KVM_STEP_HANDLER && item->n)
		number_handler(pass, item);
	return ret ? ret : kvm_step_take(&item->step, kvm_item_part(item, KVM_ITEM_STEP_MORE),
					 kvm_item_part(item, KVM_ITEM_HANDLER), pass->tracker);
}

static void take_names(struct kvm_pass *pass, const struct kvm_item *item)
{
	static const enum kvm_item_part parts[] = { KVM_ITEM_NAME, KVM_ITEM_NEXT_NAME };

	if (!(item->parts & (1 << KVM_ITEM_NAME | 1 << KVM_ITEM_NEXT_NAME)))
		return;
	for (size_t i = 0; pass->trace->reader && i < ARRAY_SIZE(parts); i++) {
		const struct kvm_item_name *name = kvm_item_part(item, parts[i]);

		if (name)
			keep_name(pass->trace->known, name->pid, name->comm);
	}
}

/** Add the members that few records have. Return: 0 or -ENOMEM. */
static int add_more(struct kvm_pass *pass, const struct kvm_item *item)
{
	static const struct kvm_item_rare none = { .irq = -1 };
	const struct kvm_item_rare *rare = kvm_item_part(item, KVM_ITEM_RARE);
	const struct hyper_call *call = kvm_item_part(item, KVM_ITEM_CALL);
	struct kvm_trace_record *counted = &pass->record;

	if (!rare)
		rare = &none;
	counted->injection = rare->injection;
	counted->injection_flags = rare->injection_flags;
	counted->number = rare->number;
	counted->before = rare->before;
	counted->device = device_of(pass->trace, item, rare->irq);
	counted->call = NULL;
	if (call) {
		pass->call = *call;
		pass->call.time_ns = counted->time_ns;
		pass->call.tid = counted->vcpu_pid;
		pass->call.pcpu = counted->cpu;
		counted->call = &pass->call;
	}
	counted->boot = kvm_item_part(item, KVM_ITEM_BOOT);
	counted->handler = kvm_item_part(item, KVM_ITEM_HANDLER);
	counted->cgroup = kvm_item_part(item, KVM_ITEM_CGROUP);
	pass->has_more = item->parts;
	return counted->device == -ENOMEM ? -ENOMEM : 0;
}

/** Give the record with all its parts to the caller of the walk. */
static int take_more(struct kvm_pass *pass, const struct kvm_item *item)
{
	const struct kvm_event *event = &item->step.event;
	struct kvm_trace_record *counted = &pass->record;
	struct kvm_trace *trace = pass->trace;

	counted->time_ns = event->time_ns;
	counted->offset = item->offset;
	counted->pid = event->pid;
	counted->vcpu_pid = trace->meta ? kvm_meta_first(trace->meta, event->pid) : event->pid;
	counted->next_pid = item->next_pid;
	counted->bytes = item->bytes;
	counted->records = item->role == KVM_ITEM_COUNTED ? item->n : 1;
	counted->cpu = event->cpu;
	counted->class = class_of(trace, item->event);
	counted->event = item->event;
	counted->vector = item->vector;
	counted->flags = item->flags;
	counted->sched = item->step.flags & KVM_STEP_SCHED ? event : NULL;
	/* otherwise they would be those of the record before */
	if ((item->parts || pass->has_more) && add_more(pass, item))
		return -ENOMEM;
	return pass->take(pass->arg, counted);
}

/** The time of a record of the CPU whose clock goes on. */
static inline void set_time(struct kvm_pass *pass, struct kvm_event *event)
{
	uint64_t ts = (uint64_t)event->time_ns;

	event->time_ns = pass->converts ? time_of(pass->trace, ts, &pass->walk) : cut_time(ts);
	if (event->time_ns < pass->begin_ns)
		pass->begin_ns = event->time_ns;
	if (event->time_ns >= pass->end_ns)
		pass->end_ns = event->time_ns + 1;
}

/** CPU by CPU: how many records there will be is not known. */
static int show_progress(struct kvm_pass *pass, int cpu, uint32_t records)
{
	const struct kvm_trace *trace = pass->trace;

	pass->done += records;
	if (!trace->progress || pass->done < trace->progress_records)
		return 0;
	pass->done = 0;
	return trace->progress(trace->progress_arg, (uint64_t)cpu, (uint64_t)trace->facts->n_cpus);
}

/** An event of a kind that only runs have, or KVM_SEEN. */
static int take_other(struct kvm_pass *pass, const struct kvm_event *event)
{
	uint64_t n = (uint64_t)event->value;

	if (event->kind == KVM_RUN_ENTER)
		return kvm_tracker_enter(pass->tracker, event->cpu, event->pid, event->time_ns,
					 n < KVM_ITEM_MOST_HANDLERS ? pass->handlers[n] : -1);
	if (event->kind == KVM_RUN_LEAVE)
		return kvm_tracker_leave(pass->tracker, event->cpu, event->pid, event->time_ns,
					 (int)event->value);
	return kvm_tracker_seen(pass->tracker, event->cpu, event->pid, event->time_ns);
}

/** Events of a CPU, for the tracker only. */
static int take_events(struct kvm_pass *pass, const struct kvm_item *item)
{
	const struct kvm_event *events = kvm_item_part(item, KVM_ITEM_RUN);
	int ret = 0;

	for (uint32_t i = 0; events && i < item->n && !ret; i++) {
		struct kvm_event event = events[i];

		event.cpu = item->step.event.cpu;
		set_time(pass, &event);
		ret = event.kind < KVM_N_KINDS && event.kind != KVM_SEEN ?
		      kvm_tracker_add(pass->tracker, &event) : take_other(pass, &event);
	}
	return ret ? ret : show_progress(pass, item->step.event.cpu, item->n);
}

static int take_item(void *arg, struct kvm_item *item)
{
	struct kvm_event *event = &item->step.event;
	struct kvm_pass *pass = arg;
	struct kvm_trace *trace = pass->trace;
	int ret = 0;

	if (item->role == KVM_ITEM_COUNTED)
		return pass->take ? take_more(pass, item) : 0;
	if (event->cpu != pass->cpu)
		virt_clock_walk_begin(&pass->walk, trace->steps, trace->n_steps, event->cpu);
	pass->cpu = event->cpu;
	if (item->role == KVM_ITEM_EVENTS)
		return pass->tracker ? take_events(pass, item) : 0;
	set_time(pass, event);
	take_names(pass, item);
	if (item->has_lost && pass->lost)
		pass->lost(pass->arg, event->cpu, missing_before(item));
	if (pass->tracker)
		ret = track(pass, item);
	if (!ret)
		ret = show_progress(pass, event->cpu, 1);
	return ret || !pass->take || item->role != KVM_ITEM_RECORD ? ret : take_more(pass, item);
}

static int read_all(struct kvm_pass *pass)
{
	struct kvm_trace *trace = pass->trace;
	unsigned int flags = (pass->take ? KVM_WALK_ALL_PARTS : 0) |
			     (pass->by_library ? KVM_WALK_BY_LIBRARY : 0);

	/* each record may have to move the clock of its CPU on */
	if (pass->tracker && !trace->n_steps && (!pass->take || trace->only_counts))
		flags |= KVM_WALK_SPARSE | (pass->take ? KVM_WALK_COUNTS : 0);

	pass->begin_ns = INT64_MAX;
	pass->end_ns = INT64_MIN;
	pass->cpu = -1;
	pass->converts = converts_times(trace);
	memset(pass->handlers, -1, sizeof(pass->handlers));
	/* the first record sets these members, too */
	pass->has_more = true;
	return trace->reader ? kvm_reader_walk(trace->reader, flags, take_item, pass) :
			       kvm_source_walk(trace->source, flags, take_item, pass);
}

void kvm_trace_watch(struct kvm_trace *trace, uint64_t n, kvm_trace_progress_fn progress, void *arg)
{
	trace->progress_records = n;
	trace->progress = progress;
	trace->progress_arg = arg;
}

void kvm_trace_brief(struct kvm_trace *trace, bool is_brief)
{
	trace->is_brief = is_brief;
}

void kvm_trace_count(struct kvm_trace *trace, bool only_counts)
{
	trace->only_counts = only_counts;
}

int kvm_trace_walk(struct kvm_trace *trace,
		   int (*take)(void *arg, const struct kvm_trace_record *record),
		   void (*lost)(void *arg, int cpu, uint64_t records), void *arg)
{
	struct kvm_pass pass = { .trace = trace, .take = take, .lost = lost, .arg = arg };

	return read_all(&pass);
}

int kvm_trace_try(struct kvm_trace *trace,
		  int (*take)(void *arg, const struct kvm_trace_record *record), void *arg)
{
	struct kvm_pass pass = { .trace = trace, .take = take, .arg = arg, .by_library = true };
	int ret = read_all(&pass);

	/* there, libtracecmd goes round in circles for ever */
	return !ret && trace->facts->damaged_cpu >= 0 ? -ETIMEDOUT : ret;
}

/* --- lines ----------------------------------------------------------------------------------- */

const char *kvm_trace_system(const struct kvm_trace *trace, int32_t event)
{
	const struct kvm_event_name *found = event_of(trace, event);

	return found ? found->system : NULL;
}

bool kvm_trace_has_event(const struct kvm_trace *trace, kvm_trace_wants_fn wants, void *arg)
{
	for (int32_t i = 0; i < trace->facts->n_events; i++) {
		const struct kvm_event_name *event = &trace->facts->events[i];

		if (wants(arg, event->id, event->system, event->name))
			return true;
	}
	return false;
}

bool kvm_trace_has_enabled(const struct kvm_trace *trace, const char *system, const char *name)
{
	const struct kvm_facts *facts = trace->facts;

	for (int32_t i = 0; i < facts->n_events && facts->n_events <= KVM_MAX_ENABLED; i++)
		if (!strcmp(facts->events[i].system, system) &&
		    !strcmp(facts->events[i].name, name))
			return true;
	return false;
}

/** Slack for a conversion of times that rounds. */
#define KEY_SLACK	4096

/** The first time of the file that is @from_ns or later; conversions keep the order. */
static int64_t first_time(const struct kvm_trace *trace, int64_t from_ns)
{
	int64_t lo = INT64_MIN / 2, hi = INT64_MAX / 2;

	while (lo < hi) {
		int64_t middle = lo + (hi - lo) / 2;

		if (aligned_time(trace, middle) < from_ns)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

static int64_t key_of(const struct kvm_trace *trace, int64_t from_ns)
{
	return first_time(trace, from_ns) - KEY_SLACK;
}

bool kvm_trace_own_time(const struct kvm_trace *trace, int64_t ns, int64_t *time)
{
	/* without an alignment its times have trace-cmd's offsets, unless these jump */
	if (trace->aligned && (!has_one_offset(trace) ||
			       (trace->facts->shifted && !trace->facts->jump)))
		return false;
	*time = trace->aligned ? first_time(trace, ns) : ns;
	return true;
}

static int compare_ids(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int kvm_trace_begin_lines(struct kvm_trace *trace, const struct kvm_trace_lines *lines)
{
	struct kvm_lines_wanted wanted = {
		.fields = lines->fields, .no_info = lines->no_info,
		.steps = trace->steps, .n_steps = trace->n_steps,
		.from_key = lines->from_ns == INT64_MIN ? INT64_MIN :
			    key_of(trace, lines->from_ns),
	};
	int32_t *without = calloc((size_t)trace->facts->n_events + 1, sizeof(*without));
	int ret;

	if (!without)
		return -ENOMEM;
	for (int32_t i = 0; i < trace->facts->n_events && lines->wants; i++) {
		const struct kvm_event_name *event = &trace->facts->events[i];

		if (!lines->wants(lines->arg, event->id, event->system, event->name))
			without[wanted.n_without++] = event->id;
	}
	qsort(without, wanted.n_without, sizeof(*without), compare_ids);
	wanted.without = without;
	ret = trace->reader ? kvm_reader_lines(trace->reader, &wanted) : -ENOTSUP;
	free(without);
	return ret;
}

int kvm_trace_next_line(struct kvm_trace *trace, struct kvm_trace_line *line)
{
	struct kvm_line *from = &line->line;
	int ret = kvm_reader_next_line(trace->reader, from);
	const char *system;

	if (ret <= 0)
		return ret;
	if (from->has_name)
		keep_name(trace->known, from->name.pid, from->name.comm);
	system = kvm_trace_system(trace, from->event);
	line->time_ns = aligned_time(trace, from->key);
	line->missing = from->missing;
	line->pid = from->pid;
	line->vcpu_pid = kvm_meta_first(trace->meta, from->pid);
	line->next_pid = from->next_pid;
	line->event = from->event;
	line->cpu = from->cpu;
	line->has_lost = from->has_lost;
	line->is_own = system && !strcmp(system, KVM_OWN_SYSTEM);
	line->info = from->info ? from->info : "";
	return 1;
}

void kvm_trace_end_lines(struct kvm_trace *trace)
{
	if (trace->reader)
		kvm_reader_end_lines(trace->reader);
}

/* --- models ---------------------------------------------------------------------------------- */

int kvm_trace_track(struct kvm_trace *trace, struct kvm_tracker *tracker,
		    int (*take)(void *arg, const struct kvm_trace_record *record),
		    void (*lost)(void *arg, int cpu, uint64_t records), void *arg,
		    int64_t *begin_ns, int64_t *end_ns)
{
	struct kvm_pass pass = {
		.trace = trace, .take = take, .lost = lost, .arg = arg, .tracker = tracker,
	};
	/* whatever other files are open: who is who must not depend on them */
	int ret = kvm_meta_fill_tracker(trace->meta, trace->path, tracker);

	kvm_tracker_formats(tracker, trace->facts->kinds);
	if (!ret)
		ret = read_all(&pass);
	*begin_ns = pass.begin_ns;
	*end_ns = pass.end_ns;
	return ret || pass.begin_ns <= pass.end_ns ? ret : -ENODATA;
}

int kvm_trace_model(struct kvm_trace *trace,
		    int (*take)(void *arg, const struct kvm_trace_record *record),
		    void (*lost)(void *arg, int cpu, uint64_t records), void *arg,
		    struct virt_model **model)
{
	struct kvm_tracker *tracker = kvm_tracker_new();
	int64_t begin_ns, end_ns;
	int ret = tracker ? kvm_trace_track(trace, tracker, take, lost, arg, &begin_ns, &end_ns)
			  : -ENOMEM;

	if (!ret) {
		trace->part_is_strange = trace->meta && trace->meta->part &&
					 !kvm_part_fits(trace->meta->part, begin_ns, end_ns);
		kvm_tracker_know_pcpus(tracker, kvm_trace_n_cpus(trace));
		kvm_tracker_once(tracker);
		if (trace->is_brief)
			kvm_tracker_brief(tracker);
		ret = kvm_tracker_finish(tracker, begin_ns, end_ns, model);
	}
	kvm_tracker_free(tracker);
	return ret;
}
