// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	why_write.c
 * @brief	Answers of "kshark-virt why" as text and JSON.
 */
#include "json_writer.h"
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
	why_put_sum(writing, &answer->why);
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

static void json_segments(const struct why_writing *writing, struct json *json,
			  const struct virt_why *why, size_t first, size_t end);

static void json_segment(const struct why_writing *writing, struct json *json,
			 const struct virt_why *why, size_t i)
{
	const struct virt_why_segment *segment = &why->segments[i];
	const char *subject = virt_model_who(writing->model, segment->subject);
	const char *reason = virt_model_reason(writing->model, segment->reason);
	const char *who = virt_model_who(writing->model, segment->who);
	int vector = why_vector_of(writing->model, segment);
	uint64_t numbers[2 * WHY_MOST_RECORDS];
	size_t n = why_evidence_of(writing->evidence, segment, numbers);

	json_open(json, NULL, '{', !segment->n_below);
	json_i64(json, "from_ns", segment->from_ns);
	json_i64(json, "to_ns", segment->to_ns);
	json_str(json, "kind", virt_why_kind_name((enum virt_why_kind)segment->kind));
	json_str(json, "cause", virt_why_cause_of(writing->model, segment));
	if (subject)
		json_str(json, "subject", subject);
	if (who)
		json_str(json, "who", who);
	if (segment->cause == VIRT_WHY_PCPU &&
	    virt_model_is_own(writing->model, segment->subject, segment->who))
		json_bool(json, "own", true);
	if (segment->pcpu >= 0)
		json_i64(json, "pcpu", segment->pcpu);
	if (vector >= 0)
		json_i64(json, "vector", vector);
	if (segment->kind == VIRT_WHY_HANDLER)
		json_str(json, "handler", why_handler_kind_of(writing->model, segment));
	if (segment->kind == VIRT_WHY_SLEEP)
		json_i64(json, "sleeps_ns", segment->sleeps_ns);
	if (reason)
		json_str(json, "reason", reason);
	json_flags(json, segment->flags);
	json_open(json, "evidence", '[', true);
	for (size_t k = 0; k < n; k++)
		json_u64(json, NULL, numbers[k]);
	json_close(json, ']');
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

void why_write_json(const struct why_writing *writing, const struct why_answer *answer, bool first)
{
	const struct virt_why *why = &answer->why;
	char subject[256];
	struct json json;

	(void)first;
	why_subject(writing->model, answer, subject, sizeof(subject));
	json_begin(&json, writing->out);
	json_open(&json, NULL, '{', false);
	json_str(&json, "file", writing->file);
	json_str(&json, "subject", subject);
	if (answer->moment) {
		json_str(&json, "moment", virt_why_moment_name((enum virt_why_moment_kind)
							       answer->moment->kind));
		json_i64(&json, "cost_ns", answer->moment->cost_ns);
	}
	json_open(&json, "window_ns", '[', true);
	json_i64(&json, NULL, why->from_ns);
	json_i64(&json, NULL, why->to_ns);
	json_close(&json, ']');
	json_i64(&json, "unexplained_ns", why->unexplained_ns);
	json_open(&json, "segments", '[', false);
	json_segments(writing, &json, why, 0, why->n);
	json_close(&json, ']');
	json_close(&json, '}');
	json_end(&json);
}
