// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	why_write.c
 * @brief	Answers of "kshark-virt why" as text and JSON.
 */
#include <stdio.h>

#include "escape.h"
#include "json_writer.h"
#include "virt_block.h"
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

static void json_flags(struct json *json, unsigned int flags)
{
	if (flags & VIRT_WHY_UNASKED)
		json_bool(json, "unasked", true);
	if (flags & VIRT_WHY_CUT)
		json_bool(json, "cut", true);
	if (flags & VIRT_WHY_WITH_WAITS)
		json_bool(json, "with_waits", true);
}

static void json_named(struct json *json, const char *key, const char *name)
{
	if (name)
		json_str(json, key, name);
}

static void json_numbers(struct json *json, const char *key, const uint64_t *numbers, size_t n)
{
	json_open(json, key, '[', true);
	for (size_t i = 0; i < n; i++)
		json_u64(json, NULL, numbers[i]);
	json_close(json, ']');
}

/** Records of the host's trace; and of the guest's, where there are any. */
static void json_evidence(const struct why_writing *writing, struct json *json,
			  const struct virt_why_segment *segment)
{
	uint64_t numbers[2 * WHY_MOST_RECORDS];
	size_t n = why_evidence_of(writing->evidence, segment, numbers);

	json_numbers(json, "evidence", numbers, n);
	n = why_evidence_in_guest(writing->evidence, writing->why, segment, numbers);
	if (!n)
		return;
	json_open(json, "guest_evidence", '{', true);
	json_str(json, "file", writing->guest_files[virt_why_guest_of(writing->why, segment)]);
	json_numbers(json, "records", numbers, n);
	json_close(json, '}');
}

/** Whose time it is, who else has to do with it, and where. */
static void json_who(struct json *json, const struct virt_why *why,
		     const struct virt_why_segment *segment)
{
	json_named(json, "subject", virt_why_who(why, segment->subject));
	json_named(json, "who", virt_why_who(why, segment->who));
	json_named(json, "task", virt_why_who(why, segment->task));
	json_named(json, "who_task", virt_why_who(why, segment->who_task));
	json_named(json, "vcpu", virt_why_who(why, segment->vcpu));
	if (segment->cause == VIRT_WHY_PCPU &&
	    virt_model_is_own(why->model, segment->subject, segment->who))
		json_bool(json, "own", true);
	if (segment->pcpu >= 0)
		json_i64(json, "pcpu", segment->pcpu);
}

static void json_access(void *arg, const struct why_access *access)
{
	struct json *json = arg;
	char name[128];

	json_open(json, NULL, '{', true);
	json_i64(json, "time_ns", access->time_ns);
	if (access->is_exit) {
		json_i64(json, "kvm_exit", access->reason);
		if (access->operation)
			json_str(json, "kvm_exit_name", access->operation);
	} else {
		snprintf(name, sizeof(name), "%.*s",
			 (int)text_cut(access->device, access->n_device), access->device);
		json_str(json, "operation", access->operation);
		json_str(json, "device", name);
		json_i64(json, "bytes", access->bytes);
		json_u64(json, "address", access->address);
	}
	json_close(json, '}');
}

/** Only where a monitor's trace is given. */
static void json_accesses(const struct why_writing *writing, struct json *json,
			  const struct virt_why_segment *segment)
{
	if (!writing->n_monitors || segment->kind != VIRT_WHY_VMM)
		return;
	json_open(json, "monitor", '[', true);
	why_each_access(writing, segment, json_access, json);
	json_close(json, ']');
}

/** Whether a neighbour, the host, the vCPU's own machine or nobody had its pCPU. */
static void json_steal(struct json *json, const struct virt_why *why, size_t i)
{
	int64_t ns[VIRT_STEAL_N_KINDS];

	if (!why_is_steal(why, &why->segments[i]))
		return;
	why_steal_kinds(why, i, ns);
	json_open(json, "steal_kinds", '{', true);
	json_i64(json, "machines_ns", ns[VIRT_STEAL_MACHINES]);
	json_i64(json, "host_ns", ns[VIRT_STEAL_HOST]);
	json_i64(json, "own_ns", ns[VIRT_STEAL_OWN]);
	json_i64(json, "nobody_ns", ns[VIRT_STEAL_NOBODY]);
	json_i64(json, "unknown_ns", ns[VIRT_STEAL_UNKNOWN]);
	json_close(json, '}');
}

static void json_read(struct json *json, const struct virt_block_read *read)
{
	char device[32];

	if (!read)
		return;
	snprintf(device, sizeof(device), "%u:%u", VIRT_BLOCK_MAJOR(read->device),
		 VIRT_BLOCK_MINOR(read->device));
	json_open(json, "block_request", '{', true);
	json_str(json, "device", device);
	json_i64(json, "sector", (int64_t)read->sector);
	json_i64(json, "from_ns", read->from_ns);
	json_i64(json, "to_ns", read->to_ns);
	json_close(json, '}');
}

static void json_segments(const struct why_writing *writing, struct json *json,
			  const struct virt_why *why, size_t first, size_t end);

static void json_segment(const struct why_writing *writing, struct json *json,
			 const struct virt_why *why, size_t i)
{
	const struct virt_why_segment *segment = &why->segments[i];
	int vector = why_vector_of(why, segment);

	json_open(json, NULL, '{', !segment->n_below);
	json_i64(json, "from_ns", segment->from_ns);
	json_i64(json, "to_ns", segment->to_ns);
	json_str(json, "kind", virt_why_kind_name((enum virt_why_kind)segment->kind));
	json_str(json, "cause", virt_why_cause_of(why, segment));
	json_who(json, why, segment);
	if (vector >= 0)
		json_i64(json, "vector", vector);
	json_named(json, "vector_name", why_vector_name(why, segment));
	json_named(json, "handler", segment->kind == VIRT_WHY_HANDLER ?
		   why_handler_kind_of(why, segment) : why_interrupt_of(why, segment));
	if (segment->kind == VIRT_WHY_SLEEP)
		json_i64(json, "sleeps_ns", segment->sleeps_ns);
	if (segment->kind == VIRT_WHY_OFFLINE && virt_model_vcpu(why->model, segment->subject))
		json_bool(json, "whole_machine", why_is_paused(why, segment));
	json_named(json, "reason", virt_model_reason(why->model, segment->reason));
	json_named(json, "argument", virt_why_argument_of(why, segment));
	json_read(json, why_read_of(why, segment));
	json_flags(json, segment->flags);
	json_steal(json, why, i);
	json_accesses(writing, json, segment);
	json_evidence(writing, json, segment);
	json_open(json, "segments", '[', !segment->n_below);
	json_segments(writing, json, why, i + 1, why_next_of(why, i));
	json_close(json, ']');
	json_close(json, '}');
}

static void json_segments(const struct why_writing *writing, struct json *json,
			  const struct virt_why *why, size_t first, size_t end)
{
	for (size_t i = first; i < end; i = why_next_of(why, i))
		json_segment(writing, json, why, i);
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

void why_write_json_of(const struct why_writing *writing, const char *key,
		       const struct why_answer *answer)
{
	const struct virt_why *why = &answer->why;
	struct json *json = &document;
	char subject[256];

	why_subject(answer, subject, sizeof(subject));
	json_open(json, key, '{', false);
	json_str(json, "subject", subject);
	if (answer->moment) {
		json_str(json, "moment", virt_why_moment_name((enum virt_why_moment_kind)
							      answer->moment->kind));
		json_i64(json, "cost_ns", answer->moment->cost_ns);
	}
	json_open(json, "window_ns", '[', true);
	json_i64(json, NULL, why->from_ns);
	json_i64(json, NULL, why->to_ns);
	json_close(json, ']');
	json_i64(json, "unexplained_ns", why->unexplained_ns);
	json_open(json, "segments", '[', false);
	json_segments(writing, json, why, 0, why->n);
	json_close(json, ']');
	json_close(json, '}');
}

void why_write_json(const struct why_writing *writing, const struct why_answer *answer, bool first)
{
	(void)first;
	why_write_json_of(writing, NULL, answer);
}
