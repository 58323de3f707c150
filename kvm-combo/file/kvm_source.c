// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_source.c
 * @brief	The content of a trace.dat, read by libtracecmd and decoded.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trace-cmd.h>

#include "array.h"
#include "key_map.h"
#include "kvm_formats.h"
#include "kvm_source_private.h"
#include "record_flags.h"
#include "regular_file.h"
#include "virt_delivery.h"

/* Exported by libtracecmd without being in its headers; another version may lack it. */
int tracecmd_enable_tsync(struct tracecmd_input *handle, bool enable) __attribute__((weak));
int tracecmd_cpus(struct tracecmd_input *handle) __attribute__((weak));
struct tracecmd_input *tracecmd_alloc_fd(int fd, int flags) __attribute__((weak));
int tracecmd_read_headers(struct tracecmd_input *handle, int state) __attribute__((weak));

/** Event ids have 16 bits. */
#define N_IDS		65536

/** The largest pages of tracing buffers, in bytes: those of arm64 with pages of 64 KiB. */
#define MOST_PAGE	65536

/**
 * Linux's arch/x86/kvm/trace.h: the vector of kvm_inj_virq has been called irq before 6.0. The
 * first row of an event whose field is there counts. System calls: include/trace/events/syscalls.h.
 */
static const struct {
	const char		*system, *event, *field;
	enum kvm_trace_injection	injection;
} injection_rows[] = {
	{ "kvm", "kvm_inj_virq", "vector", KVM_TRACE_INTERRUPT },
	{ "kvm", "kvm_inj_virq", "irq", KVM_TRACE_INTERRUPT },
	{ "kvm", "kvm_inj_exception", "exception", KVM_TRACE_EXCEPTION },
	{ "kvm", "kvm_hypercall", "nr", KVM_TRACE_HYPERCALL },
	{ "kvm", "kvm_write_tsc_offset", "next_tsc_offset", KVM_TRACE_TSC_OFFSET },
	{ "raw_syscalls", "sys_enter", "id", KVM_TRACE_SYSCALL },
	{ "raw_syscalls", "sys_exit", "id", KVM_TRACE_SYSCALL_END },
};

void kvm_facts_free(struct kvm_facts *facts)
{
	free(facts->stranger);
	for (int32_t i = 0; facts->buffers && i < facts->n_buffers; i++)
		free(facts->buffers[i].name);
	free(facts->buffers);
	for (int32_t i = 0; facts->events && i < facts->n_events; i++) {
		free(facts->events[i].system);
		free(facts->events[i].name);
	}
	free(facts->events);
}

/* --- opening --------------------------------------------------------------------------------- */

void kvm_source_close(struct kvm_source *source)
{
	if (!source)
		return;
	kvm_fields_free(source->fields);
	kvm_formats_free(source->formats);
	kvm_source_pages_free(source);
	for (int i = 1; source->inputs && i < source->facts.n_buffers; i++)
		tracecmd_close(source->inputs[i]);
	free(source->inputs);
	if (source->input)
		tracecmd_close(source->input);
	kvm_facts_free(&source->facts);
	free(source->handler_of);
	free(source->contents);
	key_map_destroy(&source->irqs);
	key_map_destroy(&source->named);
	free(source);
}

static void look_up_injections(struct kvm_source *source)
{
	for (size_t i = 0; i < ARRAY_SIZE(injection_rows); i++) {
		struct tep_event *event = kvm_formats_find(source->tep,
								 injection_rows[i].system,
								 injection_rows[i].event);
		enum kvm_trace_injection injection = injection_rows[i].injection;

		if (!event || source->injection_field[injection])
			continue;
		source->injection_id[injection] = event->id;
		source->injection_field[injection] = tep_find_field(event, injection_rows[i].field);
		source->again[injection] = tep_find_field(event, "reinjected");
		if (injection == KVM_TRACE_INTERRUPT) {
			source->soft = tep_find_field(event, "soft");
		} else if (injection == KVM_TRACE_TSC_OFFSET) {
			source->before = tep_find_field(event, "previous_tsc_offset");
		}
	}
}

static void add_vector(void *arg, int id, const char *name)
{
	struct kvm_source *source = arg;
	enum kvm_handler_edge edge;

	if (id >= 0 && id < N_IDS && kvm_vector_edge(name, &edge) && edge == KVM_HANDLER_ENTRY &&
	    source->n_vectors < KVM_SOURCE_HANDLERS)
		source->handler_of[id] = (uint8_t)++source->n_vectors;
}

static void look_up_handlers(struct kvm_source *source)
{
	for (int32_t i = 0; i < source->facts.n_events && !source->flags; i++) {
		struct tep_event *event = kvm_formats_find_id(source->formats, source->tep,
							      source->facts.events[i].id);

		source->flags = event ? tep_find_common_field(event, "common_flags") : NULL;
	}
	kvm_formats_each(source->tep, "irq_vectors", add_vector, source);
}

/** The vector of an entry of a handler; most of these events have no record, and are not parsed. */
static const struct tep_format_field *vector_of(struct kvm_source *source, int id)
{
	struct tep_format_field **field = &source->vectors[source->handler_of[id] - 1];
	struct tep_event *event = *field ? NULL :
				  kvm_formats_find_id(source->formats, source->tep, id);

	if (event)
		*field = tep_find_field(event, "vector");
	if (!*field)
		source->handler_of[id] = 0;
	return *field;
}

static uint16_t contents_by_fields(const struct kvm_fields *fields, int id)
{
	return (uint16_t)((kvm_fields_has_more(fields, id) ? KVM_SOURCE_MORE : 0) |
			  (kvm_fields_tracks(fields, id) ? KVM_SOURCE_STEP : 0) |
			  (kvm_fields_handles(fields, id) ? KVM_SOURCE_HANDLER : 0) |
			  (kvm_fields_has_exit_rip(fields, id) ? KVM_SOURCE_RIP : 0));
}

static void look_up_quick(struct kvm_source *source, int id)
{
	const struct kvm_quick *quick = kvm_fields_quick(source->fields, id);

	if (!quick || source->n_quick == KVM_SOURCE_MOST_QUICK)
		return;
	source->quick[source->n_quick++] = *quick;
	source->contents[id] |= (uint16_t)(source->n_quick << KVM_SOURCE_QUICK);
}

static void look_up_contents(struct kvm_source *source)
{
	for (int32_t i = 0; i < source->facts.n_events; i++) {
		int id = source->facts.events[i].id;

		if (id < 0 || id >= N_IDS)
			continue;
		source->contents[id] = contents_by_fields(source->fields, id);
		look_up_quick(source, id);
	}
	for (int injection = 1; injection < KVM_TRACE_N_INJECTIONS; injection++) {
		int id = source->injection_id[injection];

		if (source->injection_field[injection] && id >= 0 && id < N_IDS)
			source->contents[id] |= KVM_SOURCE_INJECTION;
	}
}

static unsigned int contents_of(const struct kvm_source *source, int id)
{
	return id >= 0 && id < N_IDS ? source->contents[id] : 0;
}

static char *copy_text(const char *text)
{
	return strdup(text ? text : "");
}

/** Return: false without memory. */
static bool add_event(struct kvm_facts *facts, int id, const char *system, const char *name,
		      size_t name_size)
{
	struct kvm_event_name *to = &facts->events[facts->n_events++];

	*to = (struct kvm_event_name){ id, copy_text(system), strndup(name, name_size) };
	return to->system && to->name;
}

static int compare_ids(const void *a, const void *b)
{
	const struct kvm_event_name *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/** As libtraceevent has them: in the order of their numbers. Return: false without memory. */
static bool list_events(struct kvm_source *source)
{
	struct kvm_facts *facts = &source->facts;
	int n = tep_get_events_count(source->tep);
	const struct kvm_format *kept;
	size_t n_kept = kvm_formats_kept(source->formats, &kept);
	bool ok = true;

	facts->events = calloc((size_t)n + n_kept + 1, sizeof(*facts->events));
	if (!facts->events)
		return false;
	for (int i = 0; i < n && ok; i++) {
		const struct tep_event *event = tep_get_event(source->tep, i);
		const char *name = event && event->name ? event->name : "";

		if (event)
			ok = add_event(facts, event->id, event->system ? event->system : "other",
				       name, strlen(name));
	}
	for (size_t i = 0; i < n_kept && ok; i++)
		if (kept[i].text)
			ok = add_event(facts, kept[i].id, kept[i].system, kept[i].name,
				       kept[i].name_size);
	if (facts->n_events > n)
		qsort(facts->events, (size_t)facts->n_events, sizeof(*facts->events), compare_ids);
	return ok;
}

/** The vCPU that a thread enters. Return: 1 if it enters another one as well; 0; -ENOMEM. */
static int see_entry(struct key_map *threads, int **vcpus, size_t *room, int32_t pid, int vcpu)
{
	uint32_t known = threads->n_keys;
	int64_t at = KEY_MAP_ELEMENT(threads, (uint32_t)pid, *vcpus, *room);

	if (at < 0)
		return -ENOMEM;
	if (threads->n_keys > known)
		(*vcpus)[at] = vcpu;
	return (*vcpus)[at] != vcpu;
}

/**
 * Up to POWER8, one thread enters all vCPUs of a core (kvmppc_run_core() of Linux's
 * arch/powerpc/kvm/book3s_hv.c): its records do not show which thread is which vCPU. From POWER9
 * on, each thread enters its own (kvmhv_run_single_vcpu()). Return: as see_entry().
 */
static int enters_for_others(const struct kvm_source *source, const struct tep_event *enter)
{
	struct tep_format_field *vcpu = tep_find_any_field((struct tep_event *)enter, "vcpu_id");
	struct key_map threads = { 0 };
	unsigned long long number = 0;
	int *vcpus = NULL, found = 0;
	size_t room = 0;

	for (int i = 0; i < source->facts.n_buffers * KVM_MOST_CPUS && !found; i++) {
		struct tracecmd_input *input = source->inputs[i / KVM_MOST_CPUS];
		int cpu = i % KVM_MOST_CPUS;
		struct tep_record *record;
		uint64_t last = 0;

		if (cpu >= tep_get_cpus(source->tep))
			continue;
		record = tracecmd_read_cpu_first(input, cpu);
		/* in a damaged page, libtracecmd goes round in circles */
		while (record && !found && (!last || record->offset > last)) {
			last = record->offset;
			if (tep_data_type(source->tep, record) == enter->id &&
			    !tep_read_number_field(vcpu, record->data, &number))
				found = see_entry(&threads, &vcpus, &room,
						  tep_data_pid(source->tep, record), (int)number);
			tracecmd_free_record(record);
			record = tracecmd_read_data(input, cpu);
		}
		tracecmd_free_record(record);
	}
	key_map_destroy(&threads);
	free(vcpus);
	return found;
}

/** An architecture that is not understood, or NULL. Return: false without memory. */
static bool find_stranger(const struct kvm_source *source, const char **stranger)
{
	const struct tep_event *enter = kvm_formats_find(source->tep, "kvm_hv",
							       "kvm_guest_enter");
	int ret = enter ? enters_for_others(source, enter) : 0;

	*stranger = ret > 0 ? "POWER8 and older" : kvm_fields_stranger(source->fields);
	return ret >= 0;
}

/** Return: false without memory. */
static bool look_up(struct kvm_source *source)
{
	struct kvm_facts *facts = &source->facts;
	struct tep_event *event;
	const char *stranger;

	source->tep = tracecmd_get_tep(source->input);
	source->fields = kvm_fields_new(source->tep);
	source->is_usual = source->fields && kvm_fields_is_usual(source->fields);
	source->handler_of = calloc(N_IDS, 1);
	source->contents = calloc(N_IDS, sizeof(*source->contents));
	if (!source->fields || !source->handler_of || !source->contents || !list_events(source))
		return false;
	look_up_injections(source);
	look_up_contents(source);
	look_up_handlers(source);
	facts->n_cpus = tep_get_cpus(source->tep);
	for (int i = 0; i < facts->n_buffers && tracecmd_cpus; i++)
		if (tracecmd_cpus(source->inputs[i]) > facts->n_cpus)
			facts->n_cpus = tracecmd_cpus(source->inputs[i]);
	if (facts->n_cpus > KVM_MOST_CPUS)
		facts->n_cpus = KVM_MOST_CPUS;
	facts->damaged_cpu = -1;
	source->most_bytes = tep_get_sub_buffer_size(source->tep);
	if (source->most_bytes <= 0 || source->most_bytes > MOST_PAGE)
		source->most_bytes = MOST_PAGE;
	facts->is_host = kvm_fields_is_host(source->fields);
	facts->has_vcpus = tep_data_pid_from_comm(source->tep, "CPU 0/KVM", NULL) != NULL;
	facts->kinds = kvm_fields_kinds(source->fields);
	facts->trace_id = tracecmd_get_traceid(source->input);
	if (!find_stranger(source, &stranger))
		return false;
	facts->is_host &= !stranger;
	facts->stranger = stranger ? strdup(stranger) : NULL;
	source->switch_id = -1;
	event = kvm_formats_find(source->tep, "sched", "sched_switch");
	if (event) {
		source->switch_id = event->id;
		if (event->id >= 0 && event->id < N_IDS)
			source->contents[event->id] |= KVM_SOURCE_SWITCH;
		source->next_pid = tep_find_field(event, "next_pid");
		source->next_comm = tep_find_field(event, "next_comm");
	}
	return !stranger || facts->stranger;
}

bool kvm_source_find(const char *path, struct kvm_source_file *file, char *error, size_t size)
{
	char problem[512];

	if (!trace_dat_check(path, problem, sizeof(problem), &file->info)) {
		snprintf(error, size, "%s: %s", path, problem);
		return false;
	}
	file->fd = file->info.packed ? trace_dat_unpack(path, error, size) : held_file_open(path);
	if (file->fd < 0 && !file->info.packed)
		snprintf(error, size, "%s: %s", path, regular_file_error(file->fd));
	return file->fd >= 0;
}

static _Thread_local const struct kvm_source_opening *opening;

const struct kvm_source_opening *kvm_source_opening(void)
{
	return opening;
}

/**
 * As tracecmd_open_fd(), which closes what it has not quite opened: then libtracecmd follows lists
 * of CPUs that it has not come to. Plugins only print; without them, nothing of this machine
 * changes the content.
 */
static struct tracecmd_input *open_head(int fd)
{
	struct tracecmd_input *input;
	char name[32];

	if (tracecmd_alloc_fd && tracecmd_read_headers) {
		input = tracecmd_alloc_fd(fd, TRACECMD_FL_LOAD_NO_PLUGINS);
		if (!input)
			close(fd);
		if (!input || !tracecmd_read_headers(input, 0))
			return input;
		tracecmd_close(input);
		return NULL;
	}
	/* by a name that is this file, whatever has the file's own by now */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	input = tracecmd_open_head(name, TRACECMD_FL_LOAD_NO_PLUGINS);
	close(fd);
	return input;
}

/** Return: false after a text. */
static bool open_input(struct kvm_source *source, const char *path,
		       const struct kvm_source_file *file, char *error, size_t size)
{
	const struct kvm_source_opening now = { .fd = file->fd, .symbols = file->info.symbols };

	errno = 0;
	opening = &now;
	source->input = open_head(file->fd);
	opening = NULL;
	if (source->input)
		kvm_formats_settle(tracecmd_get_tep(source->input));
	if (!source->input) {
		snprintf(error, size, errno == ENOMEM ? "%s: not enough memory" :
			 "%s: libtracecmd cannot read the head of this trace.dat", path);
		return false;
	}
	errno = 0;
	if (!tracecmd_init_data(source->input))
		return true;
	/* it cannot be closed */
	source->input = NULL;
	snprintf(error, size, errno == ENOMEM ? "%s: not enough memory" :
		 "%s: libtracecmd cannot read the records of this trace.dat "
		 "(a latency trace has none: record it with 'trace-cmd record')", path);
	return false;
}

/** Instances are parts of the trace as well. Return: false without memory. */
static bool open_buffers(struct kvm_source *source)
{
	struct kvm_facts *facts = &source->facts;
	int n = tracecmd_buffer_instances(source->input);

	source->inputs = calloc((size_t)n + 1, sizeof(struct tracecmd_input *));
	facts->buffers = calloc((size_t)n + 1, sizeof(*facts->buffers));
	if (!source->inputs || !facts->buffers)
		return false;
	source->inputs[facts->n_buffers++] = source->input;
	for (int i = 0; i < n; i++) {
		struct tracecmd_input *input = NULL;

		if (!facts->shifted && facts->n_buffers < KVM_MOST_BUFFERS)
			input = tracecmd_buffer_instance_handle(source->input, i);
		if (!input) {
			facts->n_unread++;
			continue;
		}
		source->inputs[facts->n_buffers] = input;
		facts->buffers[facts->n_buffers].name =
			copy_text(tracecmd_buffer_instance_name(source->input, i));
		if (!facts->buffers[facts->n_buffers++].name)
			return false;
	}
	return true;
}

/** Return: false after a text. */
static bool open_all(struct kvm_source *source, const char *path,
		     const struct kvm_source_file *file, char *error, size_t size)
{
	if (!open_input(source, path, file, error, size))
		return false;
	if (open_buffers(source) && !kvm_source_pages_find(source) && look_up(source))
		return true;
	snprintf(error, size, "%s: not enough memory", path);
	return false;
}

struct kvm_source *kvm_source_open(const char *path, const struct kvm_source_file *file,
				   char *error, size_t size)
{
	struct kvm_source *source = calloc(1, sizeof(*source));
	bool is_open;

	if (source)
		source->formats = kvm_formats_new();
	if (!source || !source->formats)
		goto err_memory;
	source->facts.unit = file->info.unit;
	source->facts.shifted = file->info.shifted;
	source->facts.jump = file->info.jump;
	memcpy(source->facts.clock, file->info.clock, sizeof(source->facts.clock));
	/* libtracecmd closes its own */
	source->pages.fd = dup(file->fd);
	kvm_formats_use(source->formats);
	is_open = open_all(source, path, file, error, size);
	kvm_formats_use(NULL);
	if (is_open)
		return source;
	kvm_source_close(source);
	return NULL;
err_memory:
	close(file->fd);
	free(source);
	snprintf(error, size, "%s: not enough memory", path);
	return NULL;
}

const struct kvm_facts *kvm_source_facts(const struct kvm_source *source)
{
	return &source->facts;
}

bool kvm_source_hide_offsets(struct kvm_source *source)
{
	return tracecmd_enable_tsync && !tracecmd_enable_tsync(source->input, false);
}

const char *kvm_source_function(const struct kvm_source *source, uint64_t address)
{
	/* libtraceevent takes what follows a function for a part of it; if it knows none there, the
	 * result is 0 */
	return address - tep_find_function_address(source->tep, address) < KVM_FUNCTION_ENTRY ?
	       tep_find_function(source->tep, address) : NULL;
}

const int *kvm_source_guest_tids(const struct kvm_source *source, uint64_t trace_id, int *n)
{
	const int *tids = NULL;
	const char *name;

	if (trace_id && !tracecmd_get_guest_cpumap(source->input, trace_id, &name, n, &tids) &&
	    *n > 0)
		return tids;
	return NULL;
}

const char *kvm_source_task(const struct kvm_source *source, int32_t pid)
{
	const char *comm = tep_is_pid_registered(source->tep, pid) ?
			   tep_data_comm_from_pid(source->tep, pid) : NULL;

	return comm && *comm ? comm : NULL;
}

/* --- a record -------------------------------------------------------------------------------- */

static bool has_field(const struct tep_format_field *field, const struct tep_record *record)
{
	return field && field->offset >= 0 && field->size > 0 &&
	       (int64_t)field->offset + field->size <= record->size;
}

/** Most records are those of a thread whose name was asked for a short time ago. */
static bool is_named_lately(const struct kvm_source *source, int32_t pid)
{
	return pid < 0 ||
	       source->named_lately[(uint32_t)pid % KVM_SOURCE_LATELY] == (uint32_t)pid + 1;
}

static void add_part(struct kvm_item *item, enum kvm_item_part part, const void *content)
{
	item->part[part] = content;
	item->parts |= (uint16_t)(1 << part);
}

/** Return: 0 or -ENOMEM. */
static int give_name(struct kvm_source *source, int32_t pid, enum kvm_item_part part,
		     struct kvm_item_name *name, struct kvm_item *item)
{
	int ret = is_named_lately(source, pid) ? 0 : kvm_source_name_once(source, pid, name);

	if (ret > 0)
		add_part(item, part, name);
	return ret < 0 ? ret : 0;
}

int kvm_source_name_once(struct kvm_source *source, int32_t pid, struct kvm_item_name *name)
{
	const char *comm;
	int64_t n;

	if (is_named_lately(source, pid))
		return 0;
	if (key_map_find(&source->named, (uint64_t)pid) >= 0) {
		source->named_lately[(uint32_t)pid % KVM_SOURCE_LATELY] = (uint32_t)pid + 1;
		return 0;
	}
	comm = kvm_source_task(source, pid);
	if (!comm)
		return 0;
	n = key_map_add(&source->named, (uint64_t)pid);
	if (n < 0)
		return (int)n;
	*name = (struct kvm_item_name){ .pid = pid };
	snprintf(name->comm, sizeof(name->comm), "%s", comm);
	return 1;
}

static void register_comm(struct kvm_source *source, const struct tep_record *record, int pid)
{
	char comm[KVM_TASK_NAME] = "";
	size_t size = source->next_comm->size < (int)sizeof(comm) ?
		      (size_t)source->next_comm->size : sizeof(comm) - 1;

	memcpy(comm, (const char *)record->data + source->next_comm->offset, size);
	comm[sizeof(comm) - 1] = '\0';
	tep_register_comm(source->tep, comm, pid);
}

/** The trace keeps the first name of each thread that has none. */
static inline void keep_name(struct kvm_source *source, const struct tep_record *record,
			     int32_t pid)
{
	uint32_t *lately = &source->known_lately[(uint32_t)pid % KVM_SOURCE_LATELY];

	if (pid <= 0 || *lately == (uint32_t)pid + 1 || !has_field(source->next_comm, record))
		return;
	if (!tep_is_pid_registered(source->tep, pid))
		register_comm(source, record, pid);
	*lately = (uint32_t)pid + 1;
}

int32_t kvm_source_next_pid(struct kvm_source *source, struct tep_record *record)
{
	uint64_t pid;

	if (!kvm_fields_number(source->fields, source->next_pid, record, &pid))
		return VIRT_NONE;
	keep_name(source, record, (int32_t)pid);
	return (int32_t)pid;
}

static bool is_set(const struct kvm_source *source, const struct tep_format_field *field,
		   const struct tep_record *record)
{
	uint64_t value;

	return kvm_fields_number(source->fields, field, record, &value) && value;
}

static void find_injection(const struct kvm_source *source, const struct tep_record *record, int id,
			   struct kvm_item_rare *rare)
{
	for (int injection = 1; injection < KVM_TRACE_N_INJECTIONS; injection++) {
		const struct tep_format_field *field = source->injection_field[injection];
		uint64_t number;

		if (!field || source->injection_id[injection] != id ||
		    !kvm_fields_number(source->fields, field, record, &number))
			continue;
		rare->injection = (uint8_t)injection;
		rare->number = number;
		if (is_set(source, source->again[injection], record))
			rare->injection_flags |= KVM_TRACE_AGAIN;
		if (injection == KVM_TRACE_INTERRUPT && is_set(source, source->soft, record))
			rare->injection_flags |= KVM_TRACE_SOFT;
		if (injection == KVM_TRACE_TSC_OFFSET &&
		    kvm_fields_number(source->fields, source->before, record, &number)) {
			rare->before = number;
			rare->injection_flags |= KVM_TRACE_BEFORE;
		}
	}
}

/** In which context of its kernel an event was recorded. */
static void find_context(struct kvm_source *source, const struct tep_record *record, int id,
			 struct kvm_item *item)
{
	const struct tep_format_field *vector = id >= 0 && id < N_IDS && source->handler_of[id] ?
						vector_of(source, id) : NULL;
	uint64_t value;

	if (has_field(source->flags, record) && source->flags->size == 1) {
		unsigned int flags = ((const uint8_t *)record->data)[source->flags->offset];

		if ((flags & (RECORD_IN_HARDIRQ | RECORD_IN_NMI)) == RECORD_IN_HARDIRQ)
			item->flags |= VIRT_GUEST_IN_IRQ;
		if (!(flags & (RECORD_IRQS_OFF | RECORD_IRQS_UNKNOWN | RECORD_IN_HARDIRQ |
			       RECORD_IN_NMI)))
			item->flags |= VIRT_GUEST_IRQS_ON;
	}
	if (!vector || !kvm_fields_number(source->fields, vector, record, &value))
		return;
	item->vector = (int16_t)(value & 0xff);
	item->flags |= VIRT_GUEST_IN_IRQ;
}

/** Room for the parts of an item. */
struct parts {
	struct kvm_step_more step_more;
	struct kvm_item_rare rare;
	struct kvm_handler_event handler;
	struct hyper_call call;
	struct hyper_event boot;
	struct kvm_cgroup_event cgroup;
	char		device[KVM_DEVICE_SIZE];
	struct kvm_item_name name, next_name;
};

/** A handler's record, whose event has no more than this. */
struct known_handler {
	int32_t		id;		/* of the event */
	size_t		size;		/* of @own; 0: there is none */
	int64_t		value;
	uint8_t		kind;		/* of an event of a run, with @value */
	char		own[40];	/* the record after struct kvm_common */
};

/** A walk. */
struct walk {
	struct kvm_source *source;
	bool		all_parts;
	bool		is_sparse;
	struct kvm_sparse sparse;	/* if so */
	kvm_item_fn	take;
	void		*arg;
	/* the last VM exit of this CPU, unless an entry, switch or loss followed; rip 0: none */
	uint64_t	exit_rip;
	int32_t		exit_pid;
	struct known_handler known[32];
};

/** The part with members that few records have; it is added without any of them. */
static struct kvm_item_rare *rare_of(struct kvm_item *item, struct parts *parts)
{
	if (!(item->parts >> KVM_ITEM_RARE & 1)) {
		parts->rare = (struct kvm_item_rare){ .irq = -1 };
		add_part(item, KVM_ITEM_RARE, &parts->rare);
	}
	return &parts->rare;
}

/** Has the tracker got this name of the thread already, and no other one since then? */
static bool is_tracked_name(struct kvm_source *source, int32_t pid, const char *comm)
{
	uint32_t slot = (uint32_t)pid % KVM_SOURCE_LATELY;

	if (source->tracked_lately[slot].pid == pid &&
	    !memcmp(source->tracked_lately[slot].comm, comm, KVM_COMM_SIZE))
		return true;
	source->tracked_lately[slot].pid = pid;
	memcpy(source->tracked_lately[slot].comm, comm, KVM_COMM_SIZE);
	return false;
}

/** Has the tracker got the name of the next thread that a sched_switch has, if there is one? */
static bool has_tracked_name(const struct kvm_source *source, const struct tep_record *record,
			     int32_t pid)
{
	uint32_t slot = (uint32_t)pid % KVM_SOURCE_LATELY;

	if (pid <= 0 || !has_field(source->next_comm, record))
		return true;
	return source->next_comm->size >= KVM_COMM_SIZE - 1 &&
	       source->tracked_lately[slot].pid == pid &&
	       !memcmp(source->tracked_lately[slot].comm,
		       (const char *)record->data + source->next_comm->offset, KVM_COMM_SIZE - 1);
}

/** The parts that the tracker takes, besides the step. */
static void find_step_parts(const struct walk *walk, const struct tep_record *record, int id,
			    unsigned int contents, struct kvm_item *item, struct parts *parts)
{
	if (kvm_step_has_more(&item->step))
		add_part(item, KVM_ITEM_STEP_MORE, &parts->step_more);
	if (contents & KVM_SOURCE_HANDLER &&
	    (item->step.kind == KVM_STEP_HANDLER || walk->all_parts) &&
	    kvm_fields_handler(walk->source->fields, record, id, &parts->handler))
		add_part(item, KVM_ITEM_HANDLER, &parts->handler);
}

/** A device is known by the number of its interrupt; its name is read once. 0 or -ENOMEM. */
static int find_device(struct kvm_source *source, const struct tep_record *record, int id,
		       struct kvm_item *item, struct parts *parts)
{
	int64_t irq = kvm_fields_irq(source->fields, record, id), n;

	if (irq < 0)
		return 0;
	rare_of(item, parts)->irq = irq;
	if (key_map_find(&source->irqs, (uint64_t)irq) >= 0)
		return 0;
	n = key_map_add(&source->irqs, (uint64_t)irq);
	if (n < 0)
		return (int)n;
	kvm_fields_device(source->fields, record, id, parts->device);
	add_part(item, KVM_ITEM_DEVICE, parts->device);
	return 0;
}

/** The VM exit before a hypercall has the address of the guest. */
static void find_exit(struct walk *walk, const struct tep_record *record, int id,
		      unsigned int contents, const struct kvm_step *step, bool is_cut)
{
	uint64_t rip = contents & KVM_SOURCE_RIP ?
		       kvm_fields_exit_rip(walk->source->fields, record, id) : 0;
	bool entered = step->kind == KVM_STEP_EVENT && step->event.kind == KVM_ENTRY;

	if (rip) {
		walk->exit_rip = rip;
		walk->exit_pid = step->event.pid;
	} else if (is_cut || entered || contents & KVM_SOURCE_SWITCH) {
		walk->exit_rip = 0;
	}
}

static int find_more(struct walk *walk, const struct tep_record *record, int id,
		     struct kvm_item *item, struct parts *parts)
{
	struct kvm_source *source = walk->source;
	const struct kvm_fields *fields = source->fields;

	if (kvm_fields_call(fields, record, id, &parts->call)) {
		if (!parts->call.rip && walk->exit_pid == item->step.event.pid)
			parts->call.rip = walk->exit_rip;
		add_part(item, KVM_ITEM_CALL, &parts->call);
	}
	if (kvm_fields_boot(fields, record, id, &parts->boot))
		add_part(item, KVM_ITEM_BOOT, &parts->boot);
	if (kvm_fields_cgroup(fields, record, id, &parts->cgroup))
		add_part(item, KVM_ITEM_CGROUP, &parts->cgroup);
	return find_device(source, record, id, item, parts);
}

/** The head of a damaged record gives any size. None is larger than a page of the buffer. */
static uint32_t bytes_of(const struct kvm_source *source, const struct tep_record *record)
{
	return record->record_size < 0 || record->record_size > source->most_bytes ?
	       (uint32_t)source->most_bytes : (uint32_t)record->record_size;
}

/** Is it the first record of its event that a sparse walk meets, or one of no event? */
static bool meet(struct kvm_source *source, int id)
{
	if (contents_of(source, id) & KVM_SOURCE_MET)
		return false;
	if (id >= 0 && id < N_IDS)
		source->contents[id] |= KVM_SOURCE_MET;
	return true;
}

/** Records with no other contents may be events for the tracker, and nothing else. */
#define PLAIN	(KVM_SOURCE_STEP | KVM_SOURCE_HANDLER | KVM_SOURCE_RIP | KVM_SOURCE_SWITCH | \
		 KVM_SOURCE_MET | UINT16_MAX << KVM_SOURCE_QUICK)

/** The rest of a record whose step is known. */
static int take_item(struct walk *walk, struct tep_record *record, unsigned int contents,
		     struct kvm_item *item, struct parts *parts)
{
	struct kvm_source *source = walk->source;
	int32_t pid = item->step.event.pid;
	int id = item->event, ret = 0;

	item->vector = VIRT_NONE;
	item->offset = record->offset;
	if (record->missed_events) {
		item->has_lost = 1;
		if (record->missed_events > 0)
			rare_of(item, parts)->missing = (uint64_t)record->missed_events;
	}
	find_step_parts(walk, record, id, contents, item, parts);
	if (contents & KVM_SOURCE_INJECTION)
		find_injection(source, record, id, rare_of(item, parts));
	find_context(source, record, id, item);
	if (walk->all_parts && contents & KVM_SOURCE_MORE)
		ret = find_more(walk, record, id, item, parts);
	if (!ret)
		ret = give_name(source, pid, KVM_ITEM_NAME, &parts->name, item);
	if (!ret && id == source->switch_id)
		ret = give_name(source, item->next_pid, KVM_ITEM_NEXT_NAME, &parts->next_name,
				item);
	if (ret || !walk->is_sparse)
		return ret ? ret : walk->take(walk->arg, item);
	return kvm_sparse_item(&walk->sparse, item, meet(source, id));
}

/** The handler that a record is about, if it has the same contents as one a short time ago. */
static struct known_handler *known_handler(struct walk *walk, const struct tep_record *record,
					   int id)
{
	const char *own = (const char *)record->data + sizeof(struct kvm_common);
	size_t size = (size_t)record->size - sizeof(struct kvm_common);
	struct known_handler *known;
	uint32_t first;

	if (!walk->source->is_usual || record->size < (int)(sizeof(struct kvm_common) + 4) ||
	    size > sizeof(known->own))
		return NULL;
	memcpy(&first, own, sizeof(first));
	known = &walk->known[((uint32_t)id * 11 + first) % ARRAY_SIZE(walk->known)];
	if (known->id == id && known->size == size && !memcmp(known->own, own, size))
		return known;
	known->size = 0;
	known->id = id;
	memcpy(known->own, own, size);
	return known;
}

/** Make an event of a run of a handler. @n: receives its number if it is new. Return: as below. */
static bool is_known_handler(struct walk *walk, const struct tep_record *record, int id,
			     struct kvm_event *event, struct kvm_handler_event *handler,
			     uint32_t *n)
{
	struct known_handler *known = known_handler(walk, record, id);
	bool is_new = false;

	if (known && known->size) {
		event->kind = known->kind;
		event->value = known->value;
		return true;
	}
	kvm_fields_handler(walk->source->fields, record, id, handler);
	event->kind = handler->edge == KVM_HANDLER_EXIT ? KVM_RUN_LEAVE : KVM_RUN_ENTER;
	event->value = handler->kind;
	if (handler->edge == KVM_HANDLER_ENTRY) {
		event->value = kvm_sparse_handler(&walk->sparse, handler, &is_new);
		*n = (uint32_t)(event->value + 1);
	}
	if (handler->edge == KVM_HANDLER_WHOLE || event->value < 0 || is_new)
		return false;
	if (known && kvm_fields_handler_is_beyond(walk->source->fields, id,
						  (int)sizeof(struct kvm_common))) {
		known->size = (size_t)record->size - sizeof(struct kvm_common);
		known->kind = event->kind;
		known->value = event->value;
	}
	return true;
}

/** Make an event of a run of the step. Return: false: an item is needed. */
static inline bool is_of_run(struct walk *walk, const struct tep_record *record, int id,
			     struct kvm_step *step, struct kvm_handler_event *handler,
			     uint32_t *n)
{
	if (step->kind == KVM_STEP_EVENT)
		return !kvm_step_has_more(step);
	if (step->kind == KVM_STEP_HANDLER)
		return is_known_handler(walk, record, id, &step->event, handler, n);
	step->event.kind = KVM_SEEN;
	return step->kind == KVM_STEP_SEEN;
}

/** A record of which more is needed than its step. */
__attribute__((noinline))
static int take_whole(struct walk *walk, struct tep_record *record, const struct kvm_step *step,
		      struct kvm_item *item, struct parts *parts)
{
	unsigned int contents = contents_of(walk->source, item->event);

	item->step = *step;
	item->bytes = bytes_of(walk->source, record);
	return take_item(walk, record, contents, item, parts);
}

/** Decode a record. @next_pid: receives the next thread of a sched_switch, or VIRT_NONE */
static inline void find_step(struct walk *walk, struct tep_record *record, int id,
			     unsigned int contents, struct kvm_step *step,
			     struct kvm_step_more *more, int32_t *next_pid)
{
	unsigned int n = contents >> KVM_SOURCE_QUICK;
	struct kvm_source *source = walk->source;
	const struct kvm_quick *quick = n ? &source->quick[n - 1] : NULL;

	*next_pid = VIRT_NONE;
	if (quick && quick->least <= record->size) {
		kvm_quick_step(quick, record->data, step);
		if (!(contents & KVM_SOURCE_SWITCH))
			return;
		*next_pid = step->event.arg;
		keep_name(source, record, *next_pid);
		if (walk->is_sparse && has_tracked_name(source, record, *next_pid))
			return;
	} else if (id == source->switch_id) {
		*next_pid = kvm_source_next_pid(source, record);
	}
	if (contents & KVM_SOURCE_STEP)
		kvm_fields_step(source->fields, record, id, step, more);
	else
		*step = (struct kvm_step){ .kind = KVM_STEP_SEEN };
	if (step->flags & KVM_STEP_NAMED && walk->is_sparse &&
	    is_tracked_name(source, step->event.arg, more->comm))
		step->flags &= (uint8_t)~KVM_STEP_NAMED;
}

static int take_record(struct walk *walk, struct tep_record *record, int cpu, bool is_blind)
{
	struct kvm_source *source = walk->source;
	bool is_cut = record->missed_events || is_blind, is_plain;
	struct kvm_common common;
	unsigned int contents;
	struct parts parts;
	struct kvm_step step;
	struct kvm_item item;
	int32_t pid, next_pid;
	uint32_t n = 0;
	int id;

	if (source->is_usual && record->size >= (int)sizeof(common)) {
		memcpy(&common, record->data, sizeof(common));
		id = common.type;
		pid = common.pid;
	} else {
		id = kvm_fields_id(source->fields, record);
		pid = kvm_fields_pid(source->fields, record);
	}
	contents = contents_of(source, id);
	is_plain = contents & KVM_SOURCE_MET && !is_cut && is_named_lately(source, pid);
	if (is_plain && contents == KVM_SOURCE_MET && pid == walk->sparse.last_pid)
		return kvm_sparse_repeat(&walk->sparse, record->ts, id, bytes_of(source, record));
	find_step(walk, record, id, contents, &step, &parts.step_more, &next_pid);
	step.event.time_ns = (int64_t)record->ts;
	step.event.pid = pid;
	step.event.cpu = (int16_t)cpu;
	if (walk->all_parts)
		find_exit(walk, record, id, contents, &step, is_cut);
	if (is_plain && !(contents & ~PLAIN) && is_named_lately(source, next_pid) &&
	    is_of_run(walk, record, id, &step, &parts.handler, &n))
		return kvm_sparse_event(&walk->sparse, &step.event, id, bytes_of(source, record));
	/* without the places of parts, which are set with their bits */
	memset(&item, 0, offsetof(struct kvm_item, part));
	item.next_pid = next_pid;
	item.event = id;
	item.n = n;
	item.is_blind = is_blind;
	return take_whole(walk, record, &step, &item, &parts);
}

/* --- walking --------------------------------------------------------------------------------- */

void kvm_source_forget_walk(struct kvm_source *source)
{
	struct kvm_facts *facts = &source->facts;

	facts->n_twice = 0;
	for (int i = 0; i < facts->n_buffers; i++) {
		facts->buffers[i].lost = 0;
		facts->buffers[i].has_lost = false;
	}
}

/** All buffers' records of a CPU, in order of time. */
static int read_cpu(struct walk *walk, int cpu)
{
	struct kvm_source *source = walk->source;
	struct tep_record *record = NULL;
	struct kvm_reading reading;
	bool blind;
	int ret = kvm_reading_begin(source, &reading, cpu);

	walk->exit_rip = 0;
	kvm_sparse_begin_cpu(&walk->sparse, cpu);
	while (!ret) {
		ret = kvm_reading_next(source, &reading, &record, &blind);
		if (ret || !record)
			break;
		ret = take_record(walk, record, cpu, blind);
	}
	kvm_reading_end(source, &reading);
	return ret ? ret : kvm_sparse_end_cpu(&walk->sparse);
}

int kvm_source_walk(struct kvm_source *source, unsigned int flags, kvm_item_fn take, void *arg)
{
	struct walk walk = {
		.source = source, .all_parts = flags & KVM_WALK_ALL_PARTS,
		.is_sparse = flags & KVM_WALK_SPARSE, .sparse = { .take = take, .arg = arg },
		.take = take, .arg = arg, .exit_pid = VIRT_NONE,
	};
	int ret = 0;

	if (flags & KVM_WALK_COUNTS) {
		walk.sparse.counts = calloc(KVM_SPARSE_COUNTS, sizeof(*walk.sparse.counts));
		ret = walk.sparse.counts ? 0 : -ENOMEM;
	}
	for (int id = 0; id < N_IDS; id++)
		source->contents[id] &= (uint16_t)~KVM_SOURCE_MET;
	memset(source->tracked_lately, 0, sizeof(source->tracked_lately));
	kvm_source_forget_walk(source);
	source->pages.is_off = flags & KVM_WALK_BY_LIBRARY;
	for (int cpu = 0; cpu < source->facts.n_cpus && !ret; cpu++)
		ret = read_cpu(&walk, cpu);
	free(walk.sparse.counts);
	return ret;
}
