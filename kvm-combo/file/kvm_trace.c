// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_trace.c
 * @brief	The trace.dat of a KVM host and those of its guests, without KernelShark.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trace-cmd.h>

#include "array.h"
#include "clock_align.h"
#include "key_map.h"
#include "kvm_recorded.h"
#include "kvm_trace.h"
#include "regular_file.h"
#include "trace_dat.h"

/* Exported by libtracecmd without being in its headers; another version may lack it. */
int tracecmd_enable_tsync(struct tracecmd_input *handle, bool enable) __attribute__((weak));
int tracecmd_cpus(struct tracecmd_input *handle) __attribute__((weak));

/** Event ids have 16 bits. */
#define N_IDS		65536

/** Events of irq_vectors that are entries of handlers; Linux has less than 20. */
#define MAX_HANDLERS	64

/** Of common_flags; Linux's include/linux/trace_events.h, enum trace_flag_type. */
enum { FLAG_IRQS_OFF = 0x01, FLAG_IRQS_UNKNOWN = 0x02, FLAG_HARDIRQ = 0x08, FLAG_NMI = 0x40 };

/** Systems of events that are told apart; the last class takes all others. */
#define MAX_CLASSES	20

/**
 * Linux's arch/x86/kvm/trace.h: the vector of kvm_inj_virq has been called irq before 6.0. The
 * first row of an event whose field is there counts.
 */
static const struct {
	const char		*event, *field;
	enum kvm_trace_injection	injection;
} injection_rows[] = {
	{ "kvm_inj_virq", "vector", KVM_TRACE_INTERRUPT },
	{ "kvm_inj_virq", "irq", KVM_TRACE_INTERRUPT },
	{ "kvm_inj_exception", "exception", KVM_TRACE_EXCEPTION },
	{ "kvm_hypercall", "nr", KVM_TRACE_HYPERCALL },
	{ "kvm_write_tsc_offset", "next_tsc_offset", KVM_TRACE_TSC_OFFSET },
};

/** A buffer of a trace: the top one, or an instance (trace-cmd record -B). */
struct kvm_buffer {
	struct tracecmd_input *input;
	const char	*name;		/* of an instance; NULL: the top buffer */
	uint64_t	lost;		/* records, as far as it is known, in the last walk */
	bool		has_lost;
	/* while a CPU is walked */
	struct tep_record *next;	/* or NULL: there are no more */
	uint64_t	last;		/* offset of the record before */
};

/** Records of a CPU that went by last, for finding them in another buffer again. */
#define N_RECENT	64
/** One tracepoint writes to all buffers at once; an interrupt may come between. */
#define MOST_APART	1000000

struct kvm_recent {
	uint64_t	ts;
	void		*data;		/* a copy: libtracecmd 3.3.1 crashes on kept records */
	int		size, buffer;
	uint64_t	matched;	/* set of buffers that had it, too */
};

/** Buffers that can be told apart; there are rarely more than two. */
#define MAX_BUFFERS	64

struct kvm_trace {
	char		*path;
	struct tracecmd_input *input;	/* the top buffer */
	struct kvm_buffer *buffers;	/* all of them, the top one first */
	int		n_buffers;
	int		n_unread;	/* instances that are not among them */
	bool		shifted;	/* so that instances cannot be read */
	uint64_t	n_twice;	/* records that another buffer had as well */
	struct kvm_recent recent[N_RECENT];
	size_t		n_recent;	/* so many went by */
	struct tep_handle *tep;
	struct kvm_fields *fields;
	int		n_cpus;
	int		damaged_cpu;		/* or -1 */
	struct kvm_meta	*meta;			/* of a host, or NULL */
	char		*meta_error;		/* why there is none, or NULL */
	enum trace_dat_unit unit;
	uint64_t	hz;			/* of cycles; 0: they are taken for ns */
	bool		aligned;
	int64_t		offset;			/* if so */
	double		drift_ppm;
	char		*host;			/* name of the file it is aligned with */
	int		*tids;
	int		n_tids;
	struct virt_clock_step *steps;
	size_t		n_steps;
	int8_t		*class_of;		/* by event id; -1: not looked up yet */
	const char	*classes[MAX_CLASSES];
	int		n_classes;
	int		switch_id;
	struct tep_format_field *next_pid, *next_comm;
	int		injection_id[KVM_TRACE_N_INJECTIONS];
	struct tep_format_field *injection_field[KVM_TRACE_N_INJECTIONS]; /* or NULL */
	struct tep_format_field *again, *soft;	/* of KVM_TRACE_INTERRUPT; or NULL */
	struct tep_format_field *before;	/* of KVM_TRACE_TSC_OFFSET; or NULL */
	struct tep_format_field *flags;		/* of all events; or NULL */
	uint8_t		*handler_of;		/* by event id: number in @vectors + 1, or 0 */
	struct tep_format_field *vectors[MAX_HANDLERS];
	int		n_vectors;
	struct key_map	irqs;			/* of devices */
	struct device {
		char	name[KVM_DEVICE_SIZE];
	} *devices;				/* by number in @irqs */
	size_t		devices_room;
};

void kvm_trace_close(struct kvm_trace *trace)
{
	if (!trace)
		return;
	kvm_fields_free(trace->fields);
	for (int i = 1; i < trace->n_buffers; i++)
		tracecmd_close(trace->buffers[i].input);
	free(trace->buffers);
	if (trace->input)
		tracecmd_close(trace->input);
	kvm_meta_free(trace->meta);
	free(trace->meta_error);
	free(trace->class_of);
	free(trace->handler_of);
	free(trace->host);
	free(trace->tids);
	free(trace->steps);
	key_map_destroy(&trace->irqs);
	free(trace->devices);
	free(trace->path);
	free(trace);
}

static void look_up_injections(struct kvm_trace *trace)
{
	for (size_t i = 0; i < ARRAY_SIZE(injection_rows); i++) {
		struct tep_event *event = tep_find_event_by_name(trace->tep, "kvm",
								 injection_rows[i].event);
		enum kvm_trace_injection injection = injection_rows[i].injection;

		if (!event || trace->injection_field[injection])
			continue;
		trace->injection_id[injection] = event->id;
		trace->injection_field[injection] = tep_find_field(event, injection_rows[i].field);
		if (injection == KVM_TRACE_INTERRUPT) {
			trace->again = tep_find_field(event, "reinjected");
			trace->soft = tep_find_field(event, "soft");
		} else if (injection == KVM_TRACE_TSC_OFFSET) {
			trace->before = tep_find_field(event, "previous_tsc_offset");
		}
	}
}

/** Linux's arch/x86/include/asm/trace/irq_vectors.h: *_entry, *_exit, and some of other kinds. */
static void look_up_handlers(struct kvm_trace *trace)
{
	int n = tep_get_events_count(trace->tep);

	for (int i = 0; i < n && trace->n_vectors < MAX_HANDLERS; i++) {
		struct tep_event *event = tep_get_event(trace->tep, i);
		struct tep_format_field *field;
		const char *end;

		if (!event || event->id < 0 || event->id >= N_IDS || !event->name ||
		    !event->system)
			continue;
		if (!trace->flags)
			trace->flags = tep_find_common_field(event, "common_flags");
		end = strrchr(event->name, '_');
		field = tep_find_field(event, "vector");
		if (!field || !end || strcmp(end, "_entry") || strcmp(event->system, "irq_vectors"))
			continue;
		trace->vectors[trace->n_vectors++] = field;
		trace->handler_of[event->id] = (uint8_t)trace->n_vectors;
	}
}

static bool look_up(struct kvm_trace *trace)
{
	struct tep_event *event;

	trace->tep = tracecmd_get_tep(trace->input);
	trace->fields = kvm_fields_new(trace->tep);
	trace->class_of = malloc(N_IDS);
	trace->handler_of = calloc(N_IDS, 1);
	if (!trace->fields || !trace->class_of || !trace->handler_of)
		return false;
	memset(trace->class_of, -1, N_IDS);
	look_up_injections(trace);
	look_up_handlers(trace);
	trace->n_cpus = tep_get_cpus(trace->tep);
	for (int i = 0; i < trace->n_buffers && tracecmd_cpus; i++)
		if (tracecmd_cpus(trace->buffers[i].input) > trace->n_cpus)
			trace->n_cpus = tracecmd_cpus(trace->buffers[i].input);
	trace->damaged_cpu = -1;
	trace->switch_id = -1;
	event = tep_find_event_by_name(trace->tep, "sched", "sched_switch");
	if (event) {
		trace->switch_id = event->id;
		trace->next_pid = tep_find_field(event, "next_pid");
		trace->next_comm = tep_find_field(event, "next_comm");
	}
	return true;
}

/** Open a file, or its copy if zlib has compressed it. Return: false after a text. */
static bool open_input(struct kvm_trace *trace, bool packed, char *error, size_t size)
{
	int fd = packed ? trace_dat_unpack(trace->path, error, size)
			: trace_dat_open(trace->path);
	char path[32];

	if (fd < 0) {
		if (!packed)
			snprintf(error, size, "%s: %s", trace->path, regular_file_error(fd));
		return false;
	}
	/* libtracecmd opens by name, and would wait for a FIFO that has this one by now */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	errno = 0;
	/* plugins only print; without them, nothing of this machine changes what is read */
	trace->input = tracecmd_open_head(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	close(fd);
	if (!trace->input) {
		snprintf(error, size, errno == ENOMEM ? "%s: not enough memory" :
			 access("/proc/self/fd", F_OK) ? "%s: cannot be opened without /proc" :
			 "%s: libtracecmd cannot read the head of this trace.dat", trace->path);
		return false;
	}
	errno = 0;
	if (!tracecmd_init_data(trace->input))
		return true;
	/*
	 * libtracecmd cannot close what it has not quite opened: it would follow lists of CPUs that
	 * it has not come to.
	 */
	trace->input = NULL;
	snprintf(error, size, errno == ENOMEM ? "%s: not enough memory" :
		 "%s: libtracecmd cannot read the records of this trace.dat "
		 "(a latency trace has none: record it with 'trace-cmd record')", trace->path);
	return false;
}

/** What is recorded into instances belongs to the trace, too. Return: false without memory. */
static bool open_buffers(struct kvm_trace *trace)
{
	int n = tracecmd_buffer_instances(trace->input);

	trace->buffers = calloc((size_t)n + 1, sizeof(*trace->buffers));
	if (!trace->buffers)
		return false;
	trace->buffers[trace->n_buffers++].input = trace->input;
	for (int i = 0; i < n; i++) {
		struct kvm_buffer *buffer = &trace->buffers[trace->n_buffers];

		if (!trace->shifted && trace->n_buffers < MAX_BUFFERS)
			buffer->input = tracecmd_buffer_instance_handle(trace->input, i);
		buffer->name = tracecmd_buffer_instance_name(trace->input, i);
		trace->n_buffers += buffer->input != NULL;
		trace->n_unread += !buffer->input;
	}
	return true;
}

/** A sidecar that cannot be used keeps no trace from being read. Return: false without memory. */
static bool look_up_meta(struct kvm_trace *trace)
{
	char text[512];
	int ret = kvm_fields_is_host(trace->fields) ?
		  kvm_meta_read(trace->path, &trace->meta, text, sizeof(text)) : 0;

	if (ret && ret != -ENOMEM)
		trace->meta_error = strdup(text);
	return !ret || trace->meta_error;
}

struct kvm_trace *kvm_trace_open(const char *path, char *error, size_t size)
{
	struct kvm_trace *trace = calloc(1, sizeof(*trace));
	struct trace_dat_info info;
	char problem[512];

	if (!trace)
		goto err_memory;
	trace->path = strdup(path);
	if (!trace->path)
		goto err_memory;
	if (!trace_dat_check(path, problem, sizeof(problem), &info)) {
		snprintf(error, size, "%s: %s", path, problem);
		goto err;
	}
	trace->unit = info.unit;
	trace->shifted = info.shifted;
	if (!open_input(trace, info.packed, error, size))
		goto err;
	if (!open_buffers(trace) || !look_up(trace) || !look_up_meta(trace))
		goto err_memory;
	return trace;
err_memory:
	snprintf(error, size, "%s: not enough memory", path);
err:
	kvm_trace_close(trace);
	return NULL;
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
	return tracecmd_enable_tsync && !tracecmd_enable_tsync(trace->input, false);
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

const char *kvm_trace_path(const struct kvm_trace *trace)
{
	return trace->path;
}

bool kvm_trace_is_host(const struct kvm_trace *trace)
{
	return kvm_fields_is_host(trace->fields);
}

const char *kvm_trace_stranger(const struct kvm_trace *trace)
{
	return kvm_fields_stranger(trace->fields);
}

bool kvm_trace_has_vcpus(const struct kvm_trace *trace)
{
	return tep_data_pid_from_comm(trace->tep, "CPU 0/KVM", NULL);
}

const int *kvm_trace_aligned_tids(const struct kvm_trace *guest, const char *host, int *n)
{
	const char *file = strrchr(host, '/');

	if (!guest->n_tids || strcmp(guest->host, file ? file + 1 : host))
		return NULL;
	*n = guest->n_tids;
	return guest->tids;
}

const int *kvm_trace_guest_tids(const struct kvm_trace *host, const struct kvm_trace *guest, int *n)
{
	unsigned long long id = tracecmd_get_traceid(guest->input);
	const int *tids = NULL;
	const char *name;

	/* found by events, and kept: it counts more than what was taken for granted before */
	if (host != guest)
		tids = kvm_trace_aligned_tids(guest, host->path, n);
	if (tids)
		return tids;
	if (id && !tracecmd_get_guest_cpumap(host->input, id, &name, n, &tids) && *n > 0 && tids)
		return tids;
	return NULL;
}

int kvm_trace_damaged_cpu(const struct kvm_trace *trace)
{
	return trace->damaged_cpu;
}

int kvm_trace_n_cpus(const struct kvm_trace *trace)
{
	return trace->n_cpus;
}

const char *kvm_trace_class(const struct kvm_trace *trace, int class)
{
	return class >= 0 && class < trace->n_classes ? trace->classes[class] : NULL;
}

const char *kvm_trace_event(const struct kvm_trace *trace, int32_t event)
{
	struct tep_event *found = event >= 0 ? tep_find_event(trace->tep, event) : NULL;

	return found ? found->name : NULL;
}

const char *kvm_trace_device(const struct kvm_trace *trace, int32_t device)
{
	return device >= 0 && (uint32_t)device < trace->irqs.n_keys &&
	       *trace->devices[device].name ? trace->devices[device].name : NULL;
}

const char *kvm_trace_task(const struct kvm_trace *trace, int32_t pid)
{
	const char *comm = tep_is_pid_registered(trace->tep, pid) ?
			   tep_data_comm_from_pid(trace->tep, pid) : NULL;

	return comm && *comm ? comm : NULL;
}

/** Of several buffers, losses and what cannot be read are told of each. */
static void note_buffers(const struct kvm_trace *trace, struct trace_notes *notes)
{
	if (trace->n_unread)
		trace_notes_add(notes, TRACE_NOTE_BUFFERS, TRACE_NOTE_WARNING,
				"%s: %d of its buffers (trace-cmd record -B) %s skipped: %s",
				trace->path, trace->n_unread, trace->n_unread > 1 ? "are" : "is",
				trace->shifted ? "trace-cmd recorded the time offsets of the top "
				"buffer only" :
				"libtracecmd cannot read them");
	for (int i = 0; i < trace->n_buffers && trace->n_buffers > 1; i++)
		if (trace->buffers[i].has_lost)
			trace_notes_add(notes, TRACE_NOTE_LOSS, TRACE_NOTE_WARNING,
					"%s: the %s%s%s lost %llu records", trace->path,
					i ? "buffer '" : "top buffer", i ? trace->buffers[i].name :
					"", i ? "'" : "",
					(unsigned long long)trace->buffers[i].lost);
	if (trace->n_twice)
		trace_notes_add(notes, TRACE_NOTE_BUFFERS, TRACE_NOTE_WARNING,
				"%s: %llu records are in two of its buffers, and are read once",
				trace->path, (unsigned long long)trace->n_twice);
}

void kvm_trace_notes(const struct kvm_trace *trace, struct trace_notes *notes)
{
	if (trace->meta_error)
		trace_notes_add(notes, TRACE_NOTE_SIDECAR, TRACE_NOTE_WARNING, "%s",
				trace->meta_error);
	/* what is aligned counts as its host does, of which the same is known */
	if (trace->unit == TRACE_DAT_CYCLES && !trace->hz && !trace->aligned)
		trace_notes_add(notes, TRACE_NOTE_UNIT, TRACE_NOTE_WARNING,
				"%s: its times are TSC cycles of unknown length, and are read as "
				"ns. Give --cpu-hz", trace->path);
	if (trace->damaged_cpu >= 0)
		trace_notes_add(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_WARNING,
				"%s: the records of CPU %d are damaged; they are read up to there. "
				"Copy the file again, if there is another one", trace->path,
				trace->damaged_cpu);
	note_buffers(trace, notes);
}

/* --- walking --------------------------------------------------------------------------------- */

/** The system of an event, as a number. */
static int16_t class_of(struct kvm_trace *trace, int id)
{
	struct tep_event *event;
	const char *name;
	int class;

	if (id < 0 || id >= N_IDS)
		id = 0;
	if (trace->class_of[id] >= 0)
		return trace->class_of[id];
	event = tep_find_event(trace->tep, id);
	name = event && event->system ? event->system : "other";
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

static bool has_field(const struct tep_format_field *field, const struct tep_record *record)
{
	return field && field->offset >= 0 && field->size > 0 &&
	       (int64_t)field->offset + field->size <= record->size;
}

/** Who comes next; the trace learns the name, which only the last of each thread's is kept of. */
static int32_t next_of(struct kvm_trace *trace, struct tep_record *record)
{
	unsigned long long pid;
	char comm[64] = "";
	size_t size;

	if (!has_field(trace->next_pid, record) ||
	    tep_read_number_field(trace->next_pid, record->data, &pid))
		return VIRT_NONE;
	if (has_field(trace->next_comm, record) && (int32_t)pid > 0 &&
	    !tep_is_pid_registered(trace->tep, (int)pid)) {
		size = trace->next_comm->size < (int)sizeof(comm) ?
		       (size_t)trace->next_comm->size : sizeof(comm) - 1;
		memcpy(comm, (const char *)record->data + trace->next_comm->offset, size);
		comm[sizeof(comm) - 1] = '\0';
		tep_register_comm(trace->tep, comm, (int)pid);
	}
	return (int32_t)pid;
}

static bool is_set(struct tep_format_field *field, const struct tep_record *record)
{
	unsigned long long value = 0;

	return has_field(field, record) &&
	       !tep_read_number_field(field, record->data, &value) &&
	       value;
}

static void find_injection(const struct kvm_trace *trace, const struct tep_record *record, int id,
		      struct kvm_trace_record *counted)
{
	for (int injection = 1; injection < KVM_TRACE_N_INJECTIONS; injection++) {
		struct tep_format_field *field = trace->injection_field[injection];
		unsigned long long number;

		if (!field || trace->injection_id[injection] != id || !has_field(field, record) ||
		    tep_read_number_field(field, record->data, &number))
			continue;
		counted->injection = (uint8_t)injection;
		counted->number = number;
		if (injection == KVM_TRACE_INTERRUPT && is_set(trace->again, record))
			counted->injection_flags |= KVM_TRACE_AGAIN;
		if (injection == KVM_TRACE_INTERRUPT && is_set(trace->soft, record))
			counted->injection_flags |= KVM_TRACE_SOFT;
		if (injection == KVM_TRACE_TSC_OFFSET && has_field(trace->before, record) &&
		    !tep_read_number_field(trace->before, record->data, &number)) {
			counted->before = number;
			counted->injection_flags |= KVM_TRACE_BEFORE;
		}
	}
}

/** In which context of its kernel an event was recorded. */
static void find_context(const struct kvm_trace *trace, const struct tep_record *record, int id,
			 struct kvm_trace_record *counted)
{
	int handler = id >= 0 && id < N_IDS ? trace->handler_of[id] : 0;
	unsigned long long value;

	if (has_field(trace->flags, record) && trace->flags->size == 1) {
		unsigned int flags = ((const uint8_t *)record->data)[trace->flags->offset];

		if ((flags & (FLAG_HARDIRQ | FLAG_NMI)) == FLAG_HARDIRQ)
			counted->flags |= VIRT_GUEST_IN_IRQ;
		if (!(flags & (FLAG_IRQS_OFF | FLAG_IRQS_UNKNOWN | FLAG_HARDIRQ | FLAG_NMI)))
			counted->flags |= VIRT_GUEST_IRQS_ON;
	}
	if (!handler || !has_field(trace->vectors[handler - 1], record) ||
	    tep_read_number_field(trace->vectors[handler - 1], record->data, &value))
		return;
	counted->vector = (int16_t)(value & 0xff);
	counted->flags |= VIRT_GUEST_IN_IRQ;
}

/** All records of a trace, for whoever wants them and for a tracker, if there is one. */
struct kvm_pass {
	struct kvm_trace *trace;
	struct kvm_tracker *tracker;
	int		(*take)(void *arg, const struct kvm_trace_record *record);
	void		(*lost)(void *arg, int cpu, uint64_t records);
	void		*arg;
	struct virt_clock_walk walk;	/* of one CPU */
	int64_t		begin_ns, end_ns;
	bool		is_missing;	/* records that the tracker has not heard of yet */
	uint64_t	missing;	/* so many */
};

/** In ns; what is beyond all reason is cut, so that differences fit. */
static int64_t time_of(const struct kvm_trace *trace, uint64_t ts, struct virt_clock_walk *walk)
{
	unsigned __int128 ns;

	if (trace->n_steps) {
		int64_t time = virt_clock_walk_next(walk, ts > INT64_MAX ? INT64_MAX : (int64_t)ts);

		/* what is told below 0 here may be so no more when it is aligned */
		if (trace->aligned)
			time = virt_clock_host_time(trace->offset, trace->drift_ppm, time);
		ts = time < 0 ? 0 : (uint64_t)time;
	} else if (trace->aligned) {
		int64_t time = virt_clock_host_time(trace->offset, trace->drift_ppm,
						    ts > INT64_MAX ? INT64_MAX : (int64_t)ts);

		ts = time < 0 ? 0 : (uint64_t)time;
	}
	ns = trace->hz && trace->unit == TRACE_DAT_CYCLES ?
	     (unsigned __int128)ts * 1000000000 / trace->hz : ts;
	return ns > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)ns;
}

/** What some records tell besides, as long as they go by. */
struct told {
	struct hyper_call call;
	struct hyper_event boot;
	struct kvm_event sched;
	struct kvm_handler_event handler;
	struct kvm_cgroup_event cgroup;
};

static void find_more(const struct kvm_trace *trace, const struct tep_record *record, int id,
		      struct kvm_trace_record *counted, struct told *told)
{
	const struct kvm_fields *fields = trace->fields;

	if (kvm_fields_call(fields, record, id, &told->call)) {
		told->call.time_ns = counted->time_ns;
		told->call.tid = counted->vcpu_pid;
		told->call.pcpu = counted->cpu;
		counted->call = &told->call;
	}
	if (kvm_fields_boot(fields, record, id, &told->boot))
		counted->boot = &told->boot;
	if (kvm_fields_sched(fields, record, id, counted->cpu, counted->pid, counted->time_ns,
			     &told->sched))
		counted->sched = &told->sched;
	if (kvm_fields_handler(fields, record, id, &told->handler))
		counted->handler = &told->handler;
	if (kvm_fields_cgroup(fields, record, id, &told->cgroup))
		counted->cgroup = &told->cgroup;
}

/** A device is known by the number of its interrupt; its name is read once. 0 or -ENOMEM. */
static int find_device(struct kvm_trace *trace, const struct tep_record *record, int id,
		       struct kvm_trace_record *counted)
{
	int64_t irq = kvm_fields_irq(trace->fields, record, id), n;
	uint32_t n_known = trace->irqs.n_keys;

	if (irq < 0)
		return 0;
	n = KEY_MAP_ELEMENT(&trace->irqs, (uint64_t)irq, trace->devices, trace->devices_room);
	if (n < 0)
		return (int)n;
	if (n >= n_known)
		kvm_fields_device(trace->fields, record, id, trace->devices[n].name);
	counted->device = (int32_t)n;
	return 0;
}

/**
 * For the tracker. While a buffer has lost records, the others tell only a part of what happened:
 * nothing of that time counts.
 * @blind: another buffer has lost records at that time
 */
static int track(struct kvm_pass *pass, struct tep_record *record, int id,
		 const struct kvm_trace_record *counted, bool blind)
{
	int ret = 0;

	if (record->missed_events) {
		pass->is_missing = true;
		pass->missing += record->missed_events > 0 ? (uint64_t)record->missed_events : 0;
	}
	if (blind)
		return 0;
	if (pass->is_missing)
		ret = kvm_tracker_lost(pass->tracker, counted->cpu, counted->pid, counted->time_ns,
				       pass->missing);
	pass->is_missing = false;
	pass->missing = 0;
	return ret ? ret : kvm_fields_take(pass->trace->fields, pass->tracker, record, id,
					   counted->cpu, counted->pid, counted->time_ns);
}

static int take_record(struct kvm_pass *pass, struct tep_record *record, int cpu, bool blind)
{
	struct kvm_trace *trace = pass->trace;
	int64_t time_ns = time_of(trace, record->ts, &pass->walk);
	uint64_t missing = record->missed_events > 0 ? (uint64_t)record->missed_events : 0;
	int id = tep_data_type(trace->tep, record), ret = 0;
	struct told told;
	struct kvm_trace_record counted = {
		.time_ns = time_ns, .cpu = (int16_t)cpu,
		.pid = kvm_fields_pid(trace->fields, record),
		.next_pid = id == trace->switch_id ? next_of(trace, record) : VIRT_NONE,
		.bytes = (uint32_t)record->record_size, .class = class_of(trace, id),
		.event = id, .vector = VIRT_NONE, .device = VIRT_NONE,
	};

	counted.vcpu_pid = kvm_meta_first(trace->meta, counted.pid);
	find_injection(trace, record, id, &counted);
	find_context(trace, record, id, &counted);
	if (pass->take)
		find_more(trace, record, id, &counted, &told);
	if (pass->take)
		ret = find_device(trace, record, id, &counted);
	if (time_ns < pass->begin_ns)
		pass->begin_ns = time_ns;
	if (time_ns >= pass->end_ns)
		pass->end_ns = time_ns + 1;
	if (record->missed_events && pass->lost)
		pass->lost(pass->arg, cpu, missing);
	if (pass->tracker && !ret)
		ret = track(pass, record, id, &counted, blind);
	return ret || !pass->take ? ret : pass->take(pass->arg, &counted);
}

/** The next record of a CPU in a buffer. */
static void read_next(struct kvm_trace *trace, struct kvm_buffer *buffer, int cpu, bool first)
{
	struct tep_record *record = first ? tracecmd_read_cpu_first(buffer->input, cpu) :
				    tracecmd_read_data(buffer->input, cpu);

	/* in a damaged page, libtracecmd goes round in circles */
	if (record && !first && record->offset <= buffer->last) {
		trace->damaged_cpu = cpu;
		tracecmd_free_record(record);
		record = NULL;
	}
	buffer->next = record;
	buffer->last = record ? record->offset : 0;
	if (record && record->missed_events) {
		buffer->has_lost = true;
		buffer->lost += record->missed_events > 0 ? (uint64_t)record->missed_events : 0;
	}
}

/** The buffer whose next record is the earliest; of two the first. Return: -1: there is none. */
static int earliest(const struct kvm_trace *trace, bool *blind)
{
	int found = -1;

	*blind = false;
	for (int i = 0; i < trace->n_buffers; i++)
		if (trace->buffers[i].next && (found < 0 || trace->buffers[i].next->ts <
					       trace->buffers[found].next->ts))
			found = i;
	for (int i = 0; i < trace->n_buffers; i++)
		if (i != found && trace->buffers[i].next && trace->buffers[i].next->missed_events)
			*blind = true;
	return found;
}

/** Was it in another buffer just now? One that is there twice is once paired with each. */
static bool is_twice(struct kvm_trace *trace, int buffer, const struct tep_record *record)
{
	size_t n = trace->n_recent < N_RECENT ? trace->n_recent : N_RECENT;

	for (size_t i = 1; i <= n; i++) {
		struct kvm_recent *recent = &trace->recent[(trace->n_recent - i) % N_RECENT];

		if (record->ts - recent->ts > MOST_APART)
			break;
		if (recent->buffer == buffer || recent->matched >> buffer & 1 ||
		    recent->size != record->size ||
		    memcmp(recent->data, record->data, (size_t)record->size) != 0)
			continue;
		recent->matched |= UINT64_C(1) << buffer;
		trace->n_twice++;
		return true;
	}
	return false;
}

/** @record: a copy is kept as long as it is needed. Return: 0 or -ENOMEM. */
static int remember(struct kvm_trace *trace, int buffer, const struct tep_record *record)
{
	struct kvm_recent *recent = &trace->recent[trace->n_recent % N_RECENT];
	void *data = malloc((size_t)record->size + 1);

	if (!data)
		return -ENOMEM;
	memcpy(data, record->data, (size_t)record->size);
	free(recent->data);
	*recent = (struct kvm_recent){
		.ts = record->ts, .data = data, .size = record->size, .buffer = buffer,
	};
	trace->n_recent++;
	return 0;
}

static void forget_all(struct kvm_trace *trace)
{
	for (size_t i = 0; i < N_RECENT; i++)
		free(trace->recent[i].data);
	memset(trace->recent, 0, sizeof(trace->recent));
	trace->n_recent = 0;
}

/** All buffers' records of a CPU, in order of time. */
static int read_cpu(struct kvm_pass *pass, int cpu)
{
	struct kvm_trace *trace = pass->trace;
	bool several = trace->n_buffers > 1, blind;
	int ret = 0, at;

	virt_clock_walk_begin(&pass->walk, trace->steps, trace->n_steps, cpu);
	for (int i = 0; i < trace->n_buffers; i++)
		read_next(trace, &trace->buffers[i], cpu, true);
	while (!ret && (at = earliest(trace, &blind)) >= 0) {
		struct kvm_buffer *buffer = &trace->buffers[at];
		struct tep_record *record = buffer->next;

		if (!several || record->missed_events || !is_twice(trace, at, record)) {
			ret = take_record(pass, record, cpu, blind);
			if (several && !ret)
				ret = remember(trace, at, record);
		}
		tracecmd_free_record(record);
		buffer->next = NULL;
		if (!ret)
			read_next(trace, buffer, cpu, false);
	}
	for (int i = 0; i < trace->n_buffers; i++) {
		if (trace->buffers[i].next)
			tracecmd_free_record(trace->buffers[i].next);
		trace->buffers[i].next = NULL;
	}
	forget_all(trace);
	return ret;
}

static int read_all(struct kvm_pass *pass)
{
	struct kvm_trace *trace = pass->trace;
	int ret = 0;

	pass->begin_ns = INT64_MAX;
	pass->end_ns = INT64_MIN;
	trace->n_twice = 0;
	for (int i = 0; i < trace->n_buffers; i++) {
		trace->buffers[i].lost = 0;
		trace->buffers[i].has_lost = false;
	}
	for (int cpu = 0; cpu < trace->n_cpus && cpu <= INT16_MAX && !ret; cpu++)
		ret = read_cpu(pass, cpu);
	return ret;
}

int kvm_trace_walk(struct kvm_trace *trace,
		   int (*take)(void *arg, const struct kvm_trace_record *record),
		   void (*lost)(void *arg, int cpu, uint64_t records), void *arg)
{
	struct kvm_pass pass = { .trace = trace, .take = take, .lost = lost, .arg = arg };

	return read_all(&pass);
}

int kvm_trace_track(struct kvm_trace *trace, struct kvm_tracker *tracker,
		    int (*take)(void *arg, const struct kvm_trace_record *record),
		    void (*lost)(void *arg, int cpu, uint64_t records), void *arg,
		    int64_t *begin_ns, int64_t *end_ns)
{
	struct kvm_pass pass = {
		.trace = trace, .take = take, .lost = lost, .arg = arg, .tracker = tracker,
	};
	/* whatever other files are open: who is who must not depend on them */
	int ret = kvm_meta_tell(trace->meta, trace->path, tracker);

	kvm_tracker_formats(tracker, kvm_fields_kinds(trace->fields));
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
		kvm_tracker_know_pcpus(tracker, kvm_trace_n_cpus(trace));
		ret = kvm_tracker_finish(tracker, begin_ns, end_ns, model);
	}
	kvm_tracker_free(tracker);
	return ret;
}
