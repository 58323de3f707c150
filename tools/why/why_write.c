// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	why_write.c
 * @brief	Answers of "kshark-virt why" as text and JSON.
 */
#include <stdio.h>

#include "array.h"
#include "escape.h"
#include "table.h"
#include "virt_block.h"
#include "virt_limits.h"
#include "why.h"

static void write_line(void *arg, const struct why_line *line)
{
	why_put_line(arg, line);
}

void why_write_text(const struct why_writing *writing, const struct why_answer *answer,
		    bool first)
{
	out_str(writing->out, first ? "" : "\n");
	why_put_head(writing, answer);
	why_each_line(&answer->why, write_line, (void *)writing);
	why_put_sum(writing);
}

/* --- JSON ------------------------------------------------------------------------------------ */

/** Of a segment. */
struct at {
	const struct why_writing *writing;
	const struct virt_why	*why;
	const struct virt_why_segment *segment;
};

static void number_list(struct json *json, const char *key, const uint64_t *numbers, size_t n)
{
	json_open(json, key, '[', true);
	for (size_t i = 0; i < n; i++)
		json_u64(json, NULL, numbers[i]);
	json_close(json, ']');
}

/** Records of the host's trace; and of the guest's, where there are any. */
static void evidence_members(struct json *json, const void *of)
{
	const struct at *at = of;
	const struct why_writing *writing = at->writing;
	uint64_t numbers[2 * WHY_MOST_RECORDS];
	size_t n = why_evidence_of(writing->evidence, at->segment, numbers);

	number_list(json, "evidence", numbers, n);
	n = why_evidence_in_guest(writing->evidence, writing->why, at->segment, numbers);
	if (!n)
		return;
	json_open(json, "guest_evidence", '{', true);
	json_str(json, "file",
		 writing->guest_files[virt_why_guest_of(writing->why, at->segment)]);
	number_list(json, "records", numbers, n);
	json_close(json, '}');
}

static const struct table_column access_columns[] = {
	{ .key = "time_ns", .type = TABLE_TIME },
	{ .key = "kvm_exit", .type = TABLE_TIME },
	{ .key = "kvm_exit_name" },
	{ .key = "operation" },
	{ .key = "device" },
	{ .key = "bytes", .type = TABLE_TIME },
	{ .key = "address", .type = TABLE_MEMBERS },
};

/** All 64 bits of it, without a sign. */
static void address_member(struct json *json, const void *of)
{
	json_u64(json, "address", *(const uint64_t *)of);
}

static void access_object(void *arg, const struct why_access *access)
{
	struct json *json = arg;
	bool is_exit = access->is_exit;
	char name[128] = "";

	if (!is_exit)
		snprintf(name, sizeof(name), "%.*s",
			 (int)text_cut(access->device, access->n_device), access->device);
	json_open(json, NULL, '{', true);
	table_json_members(json, access_columns, ARRAY_SIZE(access_columns),
			   (const struct table_cell[ARRAY_SIZE(access_columns)]){
		table_number(access->time_ns), table_optional(is_exit, access->reason),
		table_optional_name(is_exit ? access->operation : NULL),
		table_optional_name(is_exit ? NULL : access->operation),
		table_optional_name(is_exit ? NULL : name),
		table_optional(!is_exit, access->bytes),
		is_exit ? table_absent() : table_members(address_member, &access->address),
	});
	json_close(json, '}');
}

static void access_members(struct json *json, const void *of)
{
	const struct at *at = of;

	json_open(json, "monitor", '[', true);
	why_each_access(at->writing, at->segment, access_object, json);
	json_close(json, ']');
}

/** Whether a neighbour, the host, the vCPU's own machine or no one had its pCPU. */
static const struct table_column steal_columns[] = {
	{ .key = "machines_ns", .type = TABLE_NS },
	{ .key = "host_ns", .type = TABLE_NS },
	{ .key = "own_ns", .type = TABLE_NS },
	{ .key = "limit_ns", .type = TABLE_NS },
	{ .key = "nobody_ns", .type = TABLE_NS },
	{ .key = "unknown_ns", .type = TABLE_NS },
};

/** The request to a disk for which it waits. */
static const struct table_column read_columns[] = {
	{ .key = "device" },
	{ .key = "sector", .type = TABLE_COUNT },
	{ .key = "from_ns", .type = TABLE_TIME },
	{ .key = "to_ns", .type = TABLE_TIME },
};

/** The lock that it waits for, or that it has while another one waits for it. */
static const struct table_column lock_columns[] = {
	{ .key = "lock" },
	{ .key = "kind" },
	{ .key = "waiter" },
	{ .key = "holder" },
	{ .key = "from_ns", .type = TABLE_TIME },
	{ .key = "to_ns", .type = TABLE_TIME },
};

static const struct table_column segment_columns[] = {
	{ .key = "from_ns", .type = TABLE_TIME },
	{ .key = "to_ns", .type = TABLE_TIME },
	{ .key = "kind" },
	{ .key = "cause" },
	/* whose time it is, who else has to do with it, and where */
	{ .key = "subject" },
	{ .key = "who" },
	{ .key = "task" },
	{ .key = "who_task" },
	{ .key = "vcpu" },
	{ .key = "own", .type = TABLE_FLAG },
	{ .key = "pcpu", .type = TABLE_COUNT },
	{ .key = "vector", .type = TABLE_COUNT },
	{ .key = "vector_name" },
	{ .key = "handler" },
	{ .key = "sleeps_ns", .type = TABLE_TIME },
	{ .key = "whole_machine", .type = TABLE_FLAG },
	{ .key = "reason" },
	{ .key = "argument" },
	{ .key = "block_request", .type = TABLE_OBJECT, .list = read_columns,
	  .n_list = ARRAY_SIZE(read_columns) },
	{ .key = "lock", .type = TABLE_OBJECT, .list = lock_columns,
	  .n_list = ARRAY_SIZE(lock_columns) },
	{ .key = "unasked", .type = TABLE_FLAG },
	{ .key = "cut", .type = TABLE_FLAG },
	{ .key = "with_waits", .type = TABLE_FLAG },
	{ .key = "steal_kinds", .type = TABLE_OBJECT, .list = steal_columns,
	  .n_list = ARRAY_SIZE(steal_columns) },
	{ .key = "held_ns", .type = TABLE_TIME },
	{ .key = "possible_ns", .type = TABLE_TIME },
	{ .key = "monitor", .type = TABLE_MEMBERS },
	{ .key = "evidence", .type = TABLE_MEMBERS },
};

static struct table_cell who_cell(const struct virt_why *why, int32_t who)
{
	return table_optional_name(virt_why_who(why, who));
}

/** A flag that is only there if it is set. */
static struct table_cell flag_cell(bool is_set)
{
	return table_optional(is_set, true);
}

static void segment_members(struct json *json, const struct at *at, size_t i)
{
	const struct virt_why *why = at->why;
	const struct virt_why_segment *segment = at->segment;
	bool is_offline = segment->kind == VIRT_WHY_OFFLINE &&
			  virt_model_vcpu(why->model, segment->subject);
	bool is_own = segment->cause == VIRT_WHY_PCPU &&
		      virt_model_is_own(why->model, segment->subject, segment->who);
	bool is_steal = why_is_steal(why, segment);
	/* only where a monitor's trace is given */
	bool has_accesses = at->writing->n_monitors && segment->kind == VIRT_WHY_VMM;
	struct table_cell steal[ARRAY_SIZE(steal_columns)], request[ARRAY_SIZE(read_columns)];
	struct table_cell lock[ARRAY_SIZE(lock_columns)];
	const struct virt_block_read *read = why_read_of(why, segment);
	struct virt_held held = virt_why_held(why, segment);
	int vector = why_vector_of(why, segment);
	int64_t ns[VIRT_STEAL_N_KINDS];
	char device[32], lock_name[VIRT_LOCK_NAME];

	if (read) {
		snprintf(device, sizeof(device), "%u:%u", VIRT_BLOCK_MAJOR(read->device),
			 VIRT_BLOCK_MINOR(read->device));
		request[0] = table_name(device);
		request[1] = table_number((int64_t)read->sector);
		request[2] = table_number(read->from_ns);
		request[3] = table_number(read->to_ns);
	}
	if (segment->lock) {
		virt_lock_name(segment->lock->lock, lock_name);
		lock[0] = table_name(lock_name);
		lock[1] = table_name(segment->lock->kind);
		lock[2] = who_cell(why, segment->lock_waiter);
		lock[3] = who_cell(why, segment->lock_holder);
		lock[4] = table_number(segment->lock->begin_ns);
		lock[5] = table_number(segment->lock->end_ns);
	}
	if (is_steal) {
		why_steal_kinds(why, i, ns);
		steal[0] = table_number(ns[VIRT_STEAL_MACHINES]);
		steal[1] = table_number(ns[VIRT_STEAL_HOST]);
		steal[2] = table_number(ns[VIRT_STEAL_OWN]);
		steal[3] = virt_model_knows_holds(why->model) ?
			   table_number(ns[VIRT_STEAL_LIMIT]) : table_unknown();
		steal[4] = table_number(ns[VIRT_STEAL_NOBODY]);
		steal[5] = table_number(ns[VIRT_STEAL_UNKNOWN]);
	}
	table_json_members(json, segment_columns, ARRAY_SIZE(segment_columns),
			   (const struct table_cell[ARRAY_SIZE(segment_columns)]){
		table_number(segment->from_ns), table_number(segment->to_ns),
		table_name(virt_why_kind_name((enum virt_why_kind)segment->kind)),
		table_name(virt_why_cause_of(why, segment)), who_cell(why, segment->subject),
		who_cell(why, segment->who), who_cell(why, segment->task),
		who_cell(why, segment->who_task), who_cell(why, segment->vcpu), flag_cell(is_own),
		table_optional(segment->pcpu >= 0, segment->pcpu),
		table_optional(vector >= 0, vector),
		table_optional_name(why_vector_name(why, segment)),
		table_optional_name(segment->kind == VIRT_WHY_HANDLER ?
				    why_handler_kind_of(why, segment) :
				    why_interrupt_of(why, segment)),
		table_optional(segment->kind == VIRT_WHY_SLEEP, segment->sleeps_ns),
		table_optional(is_offline, is_offline && why_is_paused(why, segment)),
		table_optional_name(virt_model_reason(why->model, segment->reason)),
		table_optional_name(virt_why_argument_of(why, segment)),
		read ? table_object(request) : table_absent(),
		segment->lock ? table_object(lock) : table_absent(),
		flag_cell(segment->flags & VIRT_WHY_UNASKED),
		flag_cell(segment->flags & VIRT_WHY_CUT),
		flag_cell(segment->flags & VIRT_WHY_WITH_WAITS),
		is_steal ? table_object(steal) : table_absent(),
		table_optional(held.ns, held.ns),
		table_optional(held.possible_ns, held.possible_ns),
		has_accesses ? table_members(access_members, at) : table_absent(),
		table_members(evidence_members, at),
	});
}

/** Segments, each with those that are below it. */
static void segment_list(const struct why_writing *writing, struct json *json,
			 const struct virt_why *why, size_t first, size_t end, bool flat)
{
	json_open(json, "segments", '[', flat);
	for (size_t i = first; i < end; i = why_next_of(why, i)) {
		const struct at at = { writing, why, &why->segments[i] };

		json_open(json, NULL, '{', !at.segment->n_below);
		segment_members(json, &at, i);
		segment_list(writing, json, why, i + 1, why_next_of(why, i),
			     !at.segment->n_below);
		json_close(json, '}');
	}
	json_close(json, ']');
}

/** One document with all answers; one at a time is written. */
static struct json document;

void why_write_json_begin(struct output *out, const char *file, const struct trace_notes *notes)
{
	json_document(&document, out);
	json_str(&document, "file", file);
	json_warnings(&document, notes);
	json_open(&document, "answers", '[', false);
}

void why_write_json_end(struct output *out)
{
	(void)out;
	json_close(&document, ']');
	json_document_end(&document);
}

struct json *why_json_document(void)
{
	return &document;
}

static const struct table_column answer_columns[] = {
	{ .key = "subject" },
	{ .key = "moment" },
	{ .key = "cost_ns", .type = TABLE_TIME },
	{ .key = "window_ns", .type = TABLE_RANGE },
	{ .key = "unexplained_ns", .type = TABLE_TIME },
};

void why_write_json_of(const struct why_writing *writing, const char *key,
		       const struct why_answer *answer)
{
	const struct virt_why *why = &answer->why;
	const struct virt_why_moment *moment = answer->moment;
	struct json *json = &document;
	char subject[256];

	why_subject(answer, subject, sizeof(subject));
	json_open(json, key, '{', false);
	table_json_members(json, answer_columns, ARRAY_SIZE(answer_columns),
			   (const struct table_cell[ARRAY_SIZE(answer_columns)]){
		table_name(subject),
		table_optional_name(moment ? virt_why_moment_name((enum virt_why_moment_kind)
								  moment->kind) : NULL),
		table_optional(moment, moment ? moment->cost_ns : 0),
		table_range(why->from_ns, why->to_ns), table_number(why->unexplained_ns),
	});
	segment_list(writing, json, why, 0, why->n, false);
	json_close(json, '}');
}

void why_write_json(const struct why_writing *writing, const struct why_answer *answer, bool first)
{
	(void)first;
	why_write_json_of(writing, NULL, answer);
}
