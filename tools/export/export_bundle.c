// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	export_bundle.c
 * @brief	Records of a CPU as messages of Perfetto, until they are a packet.
 *
 * perfetto.proto describes the events that have a message of their own, and the fields of each. A
 * record of any other event, or one that lacks such a field, is a list of names and values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfetto.pb-c.h>

#include "array.h"
#include "escape.h"
#include "export_bundle.h"
#include "export_packet.h"
#include "export_sink.h"

/** A bundle is written once it has that many records, or bytes of their messages. */
#define MOST_RECORDS	512
#define MOST_BYTES	((size_t)256 << 10)
/**
 * A record has room: texts grow by escapes, six times at most. A field has 16 bytes more in a line,
 * and 96 more here: its message, a pointer to that, and what its texts are rounded up by.
 */
#define RECORD_ROOM	(KVM_LINE_FIELDS * 10)

/** Bits of prev_state that are the same in all kernels. */
#define PREV_STATE_SAFE	0x3f

struct export_bundle {
	size_t		n, used;	/* bytes of @room */
	Ksv__FtraceEvent *events[MOST_RECORDS];
	_Alignas(16) uint8_t room[MOST_BYTES + RECORD_ROOM];
};

struct export_bundle *export_bundle_new(void)
{
	struct export_bundle *bundle = malloc(sizeof(*bundle));

	if (bundle)
		bundle->n = bundle->used = 0;
	return bundle;
}

void export_bundle_free(struct export_bundle *bundle)
{
	free(bundle);
}

bool export_bundle_is_empty(const struct export_bundle *bundle)
{
	return !bundle->n;
}

bool export_bundle_is_full(const struct export_bundle *bundle)
{
	return bundle->n == MOST_RECORDS || bundle->used >= MOST_BYTES;
}

/* --- room for messages ----------------------------------------------------------------------- */

static void *take_room(struct export_bundle *bundle, size_t size)
{
	void *taken = bundle->room + bundle->used;

	bundle->used += (size + 7) & ~(size_t)7;
	return taken;
}

static void *take_message(struct export_bundle *bundle, const ProtobufCMessageDescriptor *kind)
{
	ProtobufCMessage *message = take_room(bundle, kind->sizeof_message);

	kind->message_init(message);
	return message;
}

static char *take_text(struct export_bundle *bundle, const char *text)
{
	char *taken = (char *)bundle->room + bundle->used;

	escape_text(taken, EXPORT_TEXT_SIZE, text);
	return take_room(bundle, strlen(taken) + 1);
}

/* --- a record -------------------------------------------------------------------------------- */

/** The systems of events that have a message of their own, by how their names begin. */
static const char *const systems[][2] = {
	{ "sched_", "sched" }, { "softirq_", "irq" }, { "irq_handler_", "irq" },
	{ "cpu_", "power" }, { "task_", "task" },
};

/** Return: the field of FtraceEvent for an event, or NULL: it has no message of its own. */
static const ProtobufCFieldDescriptor *find_typed(const struct export_record *record)
{
	if (!record->name || !record->system)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(systems); i++)
		if (!strncmp(record->name, systems[i][0], strlen(systems[i][0])) &&
		    !strcmp(record->system, systems[i][1]))
			return protobuf_c_message_descriptor_get_field_by_name(
				&ksv__ftrace_event__descriptor, record->name);
	return NULL;
}

static bool find_field(const struct kvm_line *line, const char *name, struct kvm_line_field *field)
{
	size_t at = 0;

	while (kvm_line_field(line, &at, field))
		if (!strcmp(field->name, name))
			return true;
	return false;
}

static uint64_t number_of(const struct export_record *record, const struct kvm_line_field *field)
{
	return !record->has_release && !strcmp(field->name, "prev_state") ?
	       field->value & PREV_STATE_SAFE : field->value;
}

/** Set a member of a message; all of them are optional. */
static void set_member(struct export_bundle *bundle, uint8_t *message,
		       const ProtobufCFieldDescriptor *member, const struct export_record *record,
		       const struct kvm_line_field *field)
{
	uint8_t *to = message + member->offset;
	uint64_t number;

	if (member->type == PROTOBUF_C_TYPE_STRING) {
		*(char **)(void *)to = take_text(bundle, field->text);
		return;
	}
	number = number_of(record, field);
	*(protobuf_c_boolean *)(void *)(message + member->quantifier_offset) = true;
	if (member->type == PROTOBUF_C_TYPE_INT32 || member->type == PROTOBUF_C_TYPE_UINT32)
		*(uint32_t *)(void *)to = (uint32_t)number;
	else
		*(uint64_t *)(void *)to = number;
}

/** Return: false if the record is not as Perfetto knows this event. */
static bool add_typed(struct export_bundle *bundle, Ksv__FtraceEvent *event,
		      const ProtobufCFieldDescriptor *typed, const struct export_record *record)
{
	const ProtobufCMessageDescriptor *kind = typed->descriptor;
	uint8_t *message = take_message(bundle, kind);

	for (unsigned int i = 0; i < kind->n_fields; i++) {
		const ProtobufCFieldDescriptor *member = &kind->fields[i];
		struct kvm_line_field field;

		if (!find_field(record->line, member->name, &field) ||
		    !field.text == (member->type == PROTOBUF_C_TYPE_STRING))
			return false;
		set_member(bundle, message, member, record, &field);
	}
	*(void **)(void *)((uint8_t *)event + typed->offset) = message;
	return true;
}

static void set_value(struct export_bundle *bundle, Ksv__GenericFtraceEvent__Field *to,
		      const struct kvm_line_field *field)
{
	to->name = take_text(bundle, field->name);
	if (field->text) {
		to->str_value = take_text(bundle, field->text);
	} else if (field->is_signed) {
		to->has_int_value = true;
		to->int_value = (int64_t)field->value;
	} else {
		to->has_uint_value = true;
		to->uint_value = field->value;
	}
}

static void add_generic(struct export_bundle *bundle, Ksv__FtraceEvent *event,
			const struct export_record *record)
{
	Ksv__GenericFtraceEvent *generic =
		take_message(bundle, &ksv__generic_ftrace_event__descriptor);
	struct kvm_line_field field;
	char unknown[32];
	size_t n = 0;

	snprintf(unknown, sizeof(unknown), "unknown_%d", record->event);
	generic->event_name = take_text(bundle, record->name ? record->name : unknown);
	for (size_t at = 0; kvm_line_field(record->line, &at, &field);)
		n++;
	generic->field = take_room(bundle, n * sizeof(generic->field[0]));
	for (size_t at = 0; kvm_line_field(record->line, &at, &field);) {
		Ksv__GenericFtraceEvent__Field *to =
			take_message(bundle, &ksv__generic_ftrace_event__field__descriptor);

		set_value(bundle, to, &field);
		generic->field[generic->n_field++] = to;
	}
	event->generic = generic;
}

void export_bundle_add(struct export_bundle *bundle, const struct export_record *record)
{
	const ProtobufCFieldDescriptor *typed = find_typed(record);
	Ksv__FtraceEvent *event = take_message(bundle, &ksv__ftrace_event__descriptor);
	size_t used = bundle->used;

	event->has_timestamp = event->has_pid = true;
	event->timestamp = (uint64_t)record->time_ns;
	event->pid = (uint32_t)record->pid;
	if (!typed || !add_typed(bundle, event, typed, record)) {
		bundle->used = used;
		add_generic(bundle, event, record);
	}
	bundle->events[bundle->n++] = event;
}

void export_bundle_write(struct export_bundle *bundle, struct output *out, uint32_t machine,
			 int cpu, bool has_lost)
{
	Ksv__FtraceEventBundle message = KSV__FTRACE_EVENT_BUNDLE__INIT;

	message.has_cpu = true;
	message.cpu = (uint32_t)cpu;
	message.n_event = bundle->n;
	message.event = bundle->events;
	message.has_lost_events = message.lost_events = has_lost;
	packet_ftrace(out, machine, &message.base);
	bundle->n = bundle->used = 0;
}
