// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	ctf_events.c
 * @brief	Formats and records of ftrace from event classes and events of CTF.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "ctf_events.h"
#include "ctf_names.h"
#include "hash_bytes.h"

/** Types of fields, as they are read. */
enum ctf_type {
	CTF_UNSIGNED, CTF_SIGNED, CTF_BOOL, CTF_BITS, CTF_STRING, CTF_ARRAY_UNSIGNED,
	CTF_ARRAY_SIGNED, CTF_OTHER,
};

/** A text of something that ftrace has no type for is cut here. */
#define OTHER_SIZE	512

/* --- plans ----------------------------------------------------------------------------------- */

/** A class, while its plan is made. */
struct making {
	struct ctf_events *events;
	struct ctf_plan	*plan;
	const struct ctf_event_name *name;
	bool		is_new;		/* the format is this class's alone so far */
	uint8_t		scope;
	uint16_t	path[CTF_DEPTH];
};

static bool is_type(bt_field_class_type type, bt_field_class_type base)
{
	return bt_field_class_type_is(type, base);
}

static size_t bytes_for(const bt_field_class *class)
{
	uint64_t bits = bt_field_class_integer_get_field_value_range(class);

	return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

static bool find_number(const bt_field_class *class, bt_field_class_type type, uint8_t *kind,
			size_t *size)
{
	*size = 8;
	if (is_type(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		*kind = CTF_UNSIGNED;
	else if (is_type(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		*kind = CTF_SIGNED;
	else if (is_type(type, BT_FIELD_CLASS_TYPE_BOOL))
		*kind = CTF_BOOL;
	else if (is_type(type, BT_FIELD_CLASS_TYPE_BIT_ARRAY))
		*kind = CTF_BITS;
	else
		return false;
	if (*kind == CTF_UNSIGNED || *kind == CTF_SIGNED)
		*size = bytes_for(class);
	else if (*kind == CTF_BOOL)
		*size = 1;
	return true;
}

static bool find_array(const bt_field_class *class, bt_field_class_type type, uint8_t *kind,
		       size_t *size)
{
	const bt_field_class *element;

	if (!is_type(type, BT_FIELD_CLASS_TYPE_ARRAY))
		return false;
	element = bt_field_class_array_borrow_element_field_class_const(class);
	if (!find_number(element, bt_field_class_get_type(element), kind, size))
		return false;
	if (*kind != CTF_UNSIGNED && *kind != CTF_SIGNED)
		return false;
	*kind = *kind == CTF_SIGNED ? CTF_ARRAY_SIGNED : CTF_ARRAY_UNSIGNED;
	return true;
}

/** Return: 0, -ENOMEM, or 1: there is no room. */
static int add_op(struct making *making, const struct ctf_op *op, size_t depth)
{
	struct ctf_plan *plan = making->plan;

	if (ARRAY_GROW(plan->ops, plan->n_ops, plan->room))
		return -ENOMEM;
	plan->ops[plan->n_ops] = *op;
	plan->ops[plan->n_ops].scope = making->scope;
	plan->ops[plan->n_ops].depth = (uint8_t)depth;
	memcpy(plan->ops[plan->n_ops++].path, making->path, sizeof(making->path));
	plan->has_payload[making->scope] = true;
	return 0;
}

/** Classes of one name share a format: what it lacks of a later one has no place. */
static int field_for(struct making *making, const char *name, enum event_field_kind kind,
		     size_t size, bool is_signed)
{
	struct event_format *format = making->plan->format;
	int at;

	if (making->is_new)
		return event_format_add(format, name, kind, size, is_signed);
	at = event_format_find(format, name);
	return at >= 0 && format->fields[at].kind == kind ? at : -E2BIG;
}

static int add_leaf(struct making *making, const char *name, const bt_field_class *class,
		    size_t depth)
{
	bt_field_class_type type = bt_field_class_get_type(class);
	struct ctf_field_name renamed = ctf_field_name(making->name, name);
	struct ctf_op op = {
		.add = renamed.add, .most = renamed.most, .type = CTF_OTHER,
	};
	enum event_field_kind kind = EVENT_TEXT;
	size_t size = 1;
	int at;

	if (find_number(class, type, &op.type, &size))
		kind = EVENT_NUMBER;
	else if (find_array(class, type, &op.type, &size))
		kind = EVENT_NUMBERS;
	else if (is_type(type, BT_FIELD_CLASS_TYPE_STRING))
		op.type = CTF_STRING;
	else
		op.type = CTF_OTHER;
	if (kind == EVENT_TEXT)
		size = 1;
	if (op.type == CTF_STRING && ctf_field_is_comm(making->name, renamed.name))
		kind = EVENT_COMM;
	at = field_for(making, renamed.name, kind, size,
		       op.type == CTF_SIGNED || op.type == CTF_ARRAY_SIGNED);
	if (at == -E2BIG) {
		making->events->n_left_out++;
		return 0;
	}
	op.field = (uint16_t)at;
	return at < 0 ? at : add_op(making, &op, depth);
}

/** The thread and the CPU are what all records have; a thread's name is kept once. */
static bool is_elsewhere(const struct making *making, const char *member, size_t depth)
{
	return making->scope == CTF_COMMON && !depth &&
	       (!strcmp(member, "tid") || !strcmp(member, "procname") ||
		!strcmp(member, "cpu_id"));
}

static int add_members(struct making *making, const char *prefix, const bt_field_class *class,
		       size_t depth)
{
	uint64_t n = bt_field_class_structure_get_member_count(class);
	int ret = 0;

	for (uint64_t i = 0; i < n && i <= UINT16_MAX && !ret; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(class, i);
		const bt_field_class *inner =
			bt_field_class_structure_member_borrow_field_class_const(member);
		char name[2 * EVENT_NAME_SIZE];

		if (is_elsewhere(making, bt_field_class_structure_member_get_name(member), depth))
			continue;
		snprintf(name, sizeof(name), "%.90s%s%.90s", prefix, *prefix ? "_" : "",
			 bt_field_class_structure_member_get_name(member));
		making->path[depth] = (uint16_t)i;
		if (is_type(bt_field_class_get_type(inner), BT_FIELD_CLASS_TYPE_STRUCTURE) &&
		    depth + 1 < CTF_DEPTH)
			ret = add_members(making, name, inner, depth + 1);
		else
			ret = add_leaf(making, name, inner, depth + 1);
	}
	return ret;
}

static int add_scope(struct making *making, enum ctf_scope scope, const bt_field_class *class,
		     const char *prefix)
{
	making->scope = (uint8_t)scope;
	if (!class || !is_type(bt_field_class_get_type(class), BT_FIELD_CLASS_TYPE_STRUCTURE))
		return 0;
	return add_members(making, prefix, class, 0);
}

static int member_of(const bt_field_class *class, const char *name, bt_field_class_type type)
{
	uint64_t n = class ? bt_field_class_structure_get_member_count(class) : 0;

	for (uint64_t i = 0; i < n && i <= INT16_MAX; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(class, i);
		const bt_field_class *inner =
			bt_field_class_structure_member_borrow_field_class_const(member);

		if (!strcmp(bt_field_class_structure_member_get_name(member), name))
			return is_type(bt_field_class_get_type(inner), type) ? (int)i : -1;
	}
	return -1;
}

static void find_context(const bt_field_class *class, struct ctf_context *context)
{
	*context = (struct ctf_context){
		.tid = member_of(class, "tid", BT_FIELD_CLASS_TYPE_SIGNED_INTEGER),
		.procname = member_of(class, "procname", BT_FIELD_CLASS_TYPE_STRING),
		.interruptible = member_of(class, "interruptible",
					   BT_FIELD_CLASS_TYPE_SIGNED_INTEGER),
		.cpu_id = member_of(class, "cpu_id", BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER),
	};
	if (context->cpu_id < 0)
		context->cpu_id = member_of(class, "cpu_id", BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
}

static bool ends(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end);
}

static enum ctf_role role_of(struct ctf_events *events, const struct ctf_event_name *name)
{
	bool is_vector = !strcmp(name->system, "irq_vectors");
	bool is_irq = !strcmp(name->system, "irq");

	if (!strcmp(name->system, "sched") && !strcmp(name->name, "sched_switch")) {
		events->has_switch = true;
		return CTF_SWITCH;
	}
	if (!strcmp(name->name, "lttng_statedump_process_state"))
		return CTF_PROCESS;
	if ((is_irq && !strcmp(name->name, "irq_handler_entry")) ||
	    (is_vector && ends(name->name, "_entry"))) {
		events->has_hardirq |= is_irq;
		events->has_vector |= is_vector;
		return CTF_ENTER_HARDIRQ;
	}
	if ((is_irq && !strcmp(name->name, "irq_handler_exit")) ||
	    (is_vector && ends(name->name, "_exit")))
		return CTF_LEAVE_HARDIRQ;
	if (is_irq && !strcmp(name->name, "softirq_entry")) {
		events->has_softirq = true;
		return CTF_ENTER_SOFTIRQ;
	}
	return is_irq && !strcmp(name->name, "softirq_exit") ? CTF_LEAVE_SOFTIRQ : CTF_PLAIN;
}

static int number_field(const struct event_format *format, const char *name)
{
	int at = event_format_find(format, name);

	return at >= 0 && format->fields[at].kind == EVENT_NUMBER && format->fields[at].size == 4 ?
	       at : -1;
}

static void find_role(struct ctf_events *events, struct ctf_plan *plan,
		      const struct ctf_event_name *name)
{
	plan->role = (uint8_t)role_of(events, name);
	plan->pid = plan->next_pid = plan->prev_comm = plan->comm = -1;
	if (plan->role == CTF_SWITCH) {
		plan->pid = number_field(plan->format, "prev_pid");
		plan->next_pid = number_field(plan->format, "next_pid");
		plan->prev_comm = event_format_find(plan->format, "prev_comm");
		plan->comm = event_format_find(plan->format, "next_comm");
	} else if (plan->role == CTF_PROCESS) {
		plan->next_pid = number_field(plan->format, "tid");
		plan->comm = event_format_find(plan->format, "name");
	}
	if (plan->pid < 0 && plan->next_pid < 0)
		plan->role = plan->role == CTF_SWITCH || plan->role == CTF_PROCESS ? CTF_PLAIN :
			     plan->role;
}

/** The format of a name. @is_new: receives whether this is the first class of that name. */
static struct event_format *format_for(struct ctf_events *events,
				       const struct ctf_event_name *name, const char *release,
				       uint16_t *id, bool *is_new)
{
	char key[2 * EVENT_NAME_SIZE];
	struct event_format *format;
	int64_t at;

	snprintf(key, sizeof(key), "%s:%s", name->system, name->name);
	*is_new = key_map_find(&events->by_name, hash_text(key)) < 0;
	if (*is_new && events->by_name.n_keys >= UINT16_MAX - CTF_FIRST_ID) {
		errno = E2BIG;
		return NULL;
	}
	at = KEY_MAP_ELEMENT(&events->by_name, hash_text(key), events->formats,
			     events->room_formats);
	if (at < 0) {
		errno = ENOMEM;
		return NULL;
	}
	*id = (uint16_t)(CTF_FIRST_ID + at);
	if (events->formats[at])
		return events->formats[at];
	format = malloc(sizeof(*format));
	if (!format)
		return NULL;
	event_format_init(format, name->system, name->name);
	if (!strcmp(name->system, "sched") && !strcmp(name->name, "sched_switch"))
		format->print = ctf_switch_print(release);
	events->formats[at] = format;
	return format;
}

static int make_plan(struct ctf_events *events, struct ctf_plan *plan, const bt_event_class *class,
		     const char *release)
{
	const bt_stream_class *stream = bt_event_class_borrow_stream_class_const(class);
	const bt_field_class *common =
		bt_stream_class_borrow_event_common_context_field_class_const(stream);
	const char *text = bt_event_class_get_name(class);
	struct making making = { .events = events, .plan = plan };
	struct ctf_event_name name;
	int ret;

	ctf_event_name(text && *text ? text : "ctf_unnamed", &name);
	making.name = &name;
	plan->format = format_for(events, &name, release, &plan->id, &making.is_new);
	if (!plan->format)
		return -errno;
	ret = add_scope(&making, CTF_PAYLOAD,
			bt_event_class_borrow_payload_field_class_const(class), "");
	if (!ret)
		ret = add_scope(&making, CTF_SPECIFIC,
				bt_event_class_borrow_specific_context_field_class_const(class),
				"context");
	if (!ret)
		ret = add_scope(&making, CTF_COMMON, common, "context");
	find_context(common, &plan->context);
	plan->needs_context = plan->context.tid >= 0 || plan->context.procname >= 0 ||
			      plan->context.interruptible >= 0 || plan->context.cpu_id >= 0;
	find_role(events, plan, &name);
	return ret;
}

static void free_plan(struct ctf_plan *plan)
{
	if (plan)
		free(plan->ops);
	free(plan);
}

struct ctf_plan *ctf_events_plan(struct ctf_events *events, const bt_event_class *class,
				 const char *release)
{
	int64_t at;
	int ret;

	if (class == events->last)
		return events->last_plan;
	at = KEY_MAP_ELEMENT(&events->by_class, (uint64_t)(uintptr_t)class, events->plans,
			     events->room_plans);
	if (at < 0) {
		errno = ENOMEM;
		return NULL;
	}
	if (!events->plans[at]) {
		struct ctf_plan *plan = calloc(1, sizeof(*plan));

		ret = plan ? make_plan(events, plan, class, release) : -ENOMEM;
		if (ret) {
			free_plan(plan);
			errno = -ret;
			return NULL;
		}
		events->plans[at] = plan;
	}
	events->last = class;
	return events->last_plan = events->plans[at];
}

void ctf_events_free(struct ctf_events *events)
{
	for (size_t i = 0; i < events->by_class.n_keys; i++)
		free_plan(events->plans[i]);
	for (size_t i = 0; i < events->by_name.n_keys; i++) {
		if (events->formats[i])
			event_format_destroy(events->formats[i]);
		free(events->formats[i]);
	}
	key_map_destroy(&events->by_class);
	key_map_destroy(&events->by_name);
	free(events->plans);
	free(events->formats);
	*events = (struct ctf_events){ 0 };
}

/* --- records --------------------------------------------------------------------------------- */

/** A text that grows up to its room. */
struct text {
	char	text[OTHER_SIZE];
	size_t	n;
};

__attribute__((format(printf, 2, 3)))
static void put(struct text *to, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(to->text + to->n, sizeof(to->text) - to->n, format, args);
	va_end(args);
	if (n > 0)
		to->n += (size_t)n;
	if (to->n > sizeof(to->text) - 1)
		to->n = sizeof(to->text) - 1;
}

static void put_value(struct text *to, const bt_field *field, int depth);

static void put_elements(struct text *to, const bt_field *field, uint64_t n, bool is_array,
			 int depth)
{
	put(to, is_array ? "[" : "{");
	for (uint64_t i = 0; i < n && to->n < sizeof(to->text) - 1; i++) {
		put(to, "%s", i ? "," : "");
		put_value(to, is_array ?
			  bt_field_array_borrow_element_field_by_index_const(field, i) :
			  bt_field_structure_borrow_member_field_by_index_const(field, i), depth);
	}
	put(to, is_array ? "]" : "}");
}

/** The value of a field, as a text for people. */
static void put_value(struct text *to, const bt_field *field, int depth)
{
	bt_field_class_type type = field ? bt_field_get_class_type(field) : 0;

	if (!field || depth > 2 * CTF_DEPTH)
		return;
	if (is_type(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		put(to, "%llu",
		    (unsigned long long)bt_field_integer_unsigned_get_value(field));
	else if (is_type(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		put(to, "%lld", (long long)bt_field_integer_signed_get_value(field));
	else if (is_type(type, BT_FIELD_CLASS_TYPE_BOOL))
		put(to, "%d", bt_field_bool_get_value(field) ? 1 : 0);
	else if (is_type(type, BT_FIELD_CLASS_TYPE_STRING))
		put(to, "%s", bt_field_string_get_value(field));
	else if (is_type(type, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL))
		put(to, "%.9g", (double)bt_field_real_single_precision_get_value(field));
	else if (is_type(type, BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL))
		put(to, "%.17g", bt_field_real_double_precision_get_value(field));
	else if (is_type(type, BT_FIELD_CLASS_TYPE_ARRAY))
		put_elements(to, field, bt_field_array_get_length(field), true, depth + 1);
	else if (is_type(type, BT_FIELD_CLASS_TYPE_STRUCTURE))
		put_elements(to, field, bt_field_class_structure_get_member_count(
			     bt_field_borrow_class_const(field)), false, depth + 1);
	else if (is_type(type, BT_FIELD_CLASS_TYPE_VARIANT))
		put_value(to, bt_field_variant_borrow_selected_option_field_const(field),
			  depth + 1);
	else if (is_type(type, BT_FIELD_CLASS_TYPE_OPTION))
		put_value(to, bt_field_option_borrow_field_const(field), depth + 1);
	else
		put(to, "?");
}

static void set_array(struct event_record *record, const struct event_field *to,
		      const bt_field *field, bool is_signed)
{
	size_t n = event_record_numbers(record, to, bt_field_array_get_length(field));

	for (size_t i = 0; i < n; i++) {
		const bt_field *element =
			bt_field_array_borrow_element_field_by_index_const(field, i);

		event_record_element(record, to, i, is_signed ?
				     (uint64_t)bt_field_integer_signed_get_value(element) :
				     bt_field_integer_unsigned_get_value(element));
	}
}

/** Of no kind that a record has. The text is large, so no other field pays for it. */
static void set_other(const struct event_field *to, const bt_field *field,
		      struct event_record *record)
{
	struct text other;

	other.n = 0;
	*other.text = '\0';
	put_value(&other, field, 0);
	event_record_text(record, to, other.text, other.n);
}

static void set_field(const struct ctf_op *op, const struct event_field *to,
		      const bt_field *field, struct event_record *record)
{
	uint64_t add = (uint64_t)op->add, value;

	switch (op->type) {
	case CTF_UNSIGNED:
		value = bt_field_integer_unsigned_get_value(field);
		event_record_number(record, to, op->most && value > op->most ? UINT64_MAX :
						value + add);
		return;
	case CTF_SIGNED:
		event_record_number(record, to,
				    (uint64_t)bt_field_integer_signed_get_value(field) + add);
		return;
	case CTF_BOOL:
		event_record_number(record, to, bt_field_bool_get_value(field));
		return;
	case CTF_BITS:
		event_record_number(record, to, bt_field_bit_array_get_value_as_integer(field));
		return;
	case CTF_STRING:
		event_record_text(record, to, bt_field_string_get_value(field),
				  bt_field_string_get_length(field));
		return;
	case CTF_ARRAY_UNSIGNED:
	case CTF_ARRAY_SIGNED:
		set_array(record, to, field, op->type == CTF_ARRAY_SIGNED);
		return;
	default:
		set_other(to, field, record);
	}
}

void ctf_events_record(const struct ctf_plan *plan, const bt_event *event, unsigned int flags,
		       struct event_record *record)
{
	const bt_field *scopes[CTF_N_SCOPES] = { NULL };

	if (plan->has_payload[CTF_PAYLOAD])
		scopes[CTF_PAYLOAD] = bt_event_borrow_payload_field_const(event);
	if (plan->has_payload[CTF_SPECIFIC])
		scopes[CTF_SPECIFIC] = bt_event_borrow_specific_context_field_const(event);
	if (plan->has_payload[CTF_COMMON])
		scopes[CTF_COMMON] = bt_event_borrow_common_context_field_const(event);
	event_record_begin(record, plan->format, plan->id, flags, 0);
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct ctf_op *op = &plan->ops[i];
		const bt_field *field = scopes[op->scope];

		for (size_t level = 0; field && level < op->depth; level++)
			field = bt_field_structure_borrow_member_field_by_index_const(field,
				op->path[level]);
		if (field)
			set_field(op, &plan->format->fields[op->field], field, record);
	}
}
