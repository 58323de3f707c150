// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	why_write.c
 * @brief	Answers of "kshark-virt why" as text and JSON.
 */
#include <stdio.h>
#include <string.h>

#include "json_writer.h"
#include "virt_handlers.h"
#include "why.h"

/** Segments below another one that are listed one by one: the longest. */
#define MOST_BELOW	12

/* --- what both say --------------------------------------------------------------------------- */

static const char *name_of(const struct virt_model *model, int32_t who)
{
	return virt_model_who(model, who);
}

static int vector_of(const struct virt_model *model, const struct virt_why_segment *segment)
{
	const struct virt_wake *wake = virt_model_wake(model, segment->wake);

	return wake ? wake->vector : VIRT_NONE;
}

/** The next segment that is not below @i. */
static size_t next_of(const struct virt_why *why, size_t i)
{
	return i + 1 + why->segments[i].n_below;
}

static void subject_of(const struct virt_model *model, const struct why_answer *answer,
		       char *text, size_t size)
{
	if (answer->vcpu == VIRT_NONE)
		snprintf(text, size, "p%d", answer->pcpu);
	else
		snprintf(text, size, "%s", name_of(model, answer->vcpu));
}

/* --- text ------------------------------------------------------------------------------------ */

static void exact_duration(char *text, size_t size, int64_t ns)
{
	static const struct {
		int64_t		ns;
		int		digits;
		const char	*unit;
	} units[] = { { 1000000000, 9, "s" }, { 1000000, 6, "ms" }, { 1000, 3, "us" } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (ns >= units[i].ns) {
			snprintf(text, size, "%lld.%0*lld %s", (long long)(ns / units[i].ns),
				 units[i].digits, (long long)(ns % units[i].ns), units[i].unit);
			return;
		}
	}
	snprintf(text, size, "%lld ns", (long long)ns);
}

void why_put_duration(struct output *out, int64_t ns, size_t width)
{
	char text[48];

	exact_duration(text, sizeof(text), ns);
	out_right(out, text, strlen(text), width);
}

static void put_pcpu(struct output *out, const char *before, int pcpu)
{
	out_str(out, before);
	if (pcpu < 0) {
		out_str(out, "a pCPU");
		return;
	}
	out_char(out, 'p');
	out_i64(out, pcpu);
}

static void put_wait(struct output *out, const struct virt_model *model,
		     const struct virt_why_segment *segment)
{
	const char *who = name_of(model, segment->who);
	int vector = vector_of(model, segment);

	out_str(out, "blocked");
	if (segment->flags & VIRT_WHY_UNASKED)
		out_str(out, ", which it did not ask for");
	if (segment->wake == VIRT_NONE)
		return;
	out_str(out, ", ended by: ");
	out_str(out, virt_why_cause_of(model, segment));
	if (who) {
		out_char(out, ' ');
		out_text(out, who);
	}
	if (vector >= 0)
		out_printf(out, ", vector 0x%02x", (unsigned int)vector);
	if (segment->flags & VIRT_WHY_CUT)
		out_str(out, ", which is told above or leads too far");
}

/** "irq", "softirq" ... */
static const char *handler_kind_of(const struct virt_model *model,
				   const struct virt_why_segment *segment)
{
	const struct virt_handler *handler = virt_model_handler(model, segment->handler);

	return handler ? virt_handler_kind_name((enum virt_handler_kind)handler->kind) : "handler";
}

static void put_what(struct output *out, const struct virt_model *model,
		     const struct virt_why_segment *segment)
{
	const char *kind = virt_why_kind_name((enum virt_why_kind)segment->kind);
	const char *who = name_of(model, segment->who);

	switch (segment->kind) {
	case VIRT_WHY_GUEST:
		out_str(out, segment->cause == VIRT_WHY_NESTED ? "code of a nested guest" :
			"guest code");
		return;
	case VIRT_WHY_PREEMPTED:
	case VIRT_WHY_WAKING:
		out_str(out, kind);
		put_pcpu(out, ", waits for ", segment->pcpu);
		if (who) {
			out_str(out, ", had by: ");
			out_text(out, who);
			if (virt_model_is_own(model, segment->subject, segment->who))
				out_str(out, ", its own machine's");
		}
		return;
	case VIRT_WHY_BLOCKED:
		put_wait(out, model, segment);
		return;
	case VIRT_WHY_VCPU:
	case VIRT_WHY_TASK:
		put_pcpu(out, "has ", segment->pcpu);
		return;
	case VIRT_WHY_IDLE:
		put_pcpu(out, "nobody has ", segment->pcpu);
		return;
	case VIRT_WHY_HANDLER:
		out_str(out, "is interrupted by ");
		out_str(out, handler_kind_of(model, segment));
		out_char(out, ' ');
		out_text(out, virt_why_cause_of(model, segment));
		return;
	case VIRT_WHY_OFFLINE:
		out_str(out, kind);
		return;
	default:
		out_str(out, kind);
		out_str(out, ": ");
		out_text(out, virt_why_cause_of(model, segment));
		if (segment->flags & VIRT_WHY_WITH_WAITS)
			out_str(out, ", waits not told apart");
	}
}

static void put_evidence(const struct why_writing *writing,
			 const struct virt_why_segment *segment)
{
	uint64_t numbers[2 * WHY_MOST_RECORDS];
	size_t n = why_evidence_of(writing->evidence, segment, numbers);

	for (size_t i = 0; i < n; i++) {
		out_str(writing->out, i ? " #" : "  #");
		out_u64(writing->out, numbers[i]);
	}
}

static void put_place(struct output *out, int64_t from_ns, int64_t ns, int level)
{
	out_ns(out, from_ns, 18);
	out_char(out, ' ');
	why_put_duration(out, ns, 16);
	out_str(out, "  ");
	for (int i = 0; i < level; i++)
		out_str(out, "  ");
}

void why_put_segment(struct output *out, const struct virt_model *model,
		     const struct virt_why_segment *segment)
{
	const char *subject = name_of(model, segment->subject);

	/* whose time the uppermost ones are of a vCPU, the title says */
	if ((segment->level || segment->kind >= VIRT_WHY_VCPU) && subject &&
	    segment->kind != VIRT_WHY_UNEXPLAINED) {
		out_text(out, subject);
		out_str(out, segment->kind >= VIRT_WHY_VCPU ? " " : ": ");
	}
	put_what(out, model, segment);
}

static void put_segment(const struct why_writing *writing, const struct virt_why_segment *segment)
{
	struct output *out = writing->out;

	put_place(out, segment->from_ns, segment->to_ns - segment->from_ns, segment->level);
	why_put_segment(out, writing->model, segment);
	put_evidence(writing, segment);
	out_char(out, '\n');
}

/** The shortest length of the longest, of those from @i on; @ties: how many may be as long. */
static int64_t shortest_shown(const struct virt_why *why, size_t i, size_t end, size_t *ties)
{
	int64_t longest[MOST_BELOW] = { 0 }, least;
	size_t more = 0;

	for (; i < end; i = next_of(why, i)) {
		int64_t ns = why->segments[i].to_ns - why->segments[i].from_ns;
		size_t at = MOST_BELOW;

		for (; at && longest[at - 1] < ns; at--)
			if (at < MOST_BELOW)
				longest[at] = longest[at - 1];
		if (at < MOST_BELOW)
			longest[at] = ns;
	}
	least = longest[MOST_BELOW - 1];
	for (size_t at = 0; at < MOST_BELOW; at++)
		more += longest[at] > least;
	*ties = MOST_BELOW - more;
	return least;
}

/** What is not listed one by one. */
struct rest {
	size_t		n;
	int64_t		first_ns;
	int64_t		ns[VIRT_WHY_N_KINDS], all_ns;
};

static void put_rest(const struct why_writing *writing, const struct rest *rest, int level)
{
	struct output *out = writing->out;
	const char *before = ": ";

	if (!rest->n)
		return;
	put_place(out, rest->first_ns, rest->all_ns, level);
	out_u64(out, rest->n);
	out_str(out, " more");
	for (int kind = 0; kind < VIRT_WHY_N_KINDS; kind++) {
		if (!rest->ns[kind])
			continue;
		out_str(out, before);
		out_str(out, virt_why_kind_name((enum virt_why_kind)kind));
		out_char(out, ' ');
		why_put_duration(out, rest->ns[kind], 0);
		before = ", ";
	}
	out_char(out, '\n');
}

/** Segments [first, end) of a level, and what is below each. */
static void put_segments(const struct why_writing *writing, const struct virt_why *why,
			 size_t first, size_t end)
{
	struct rest rest = { 0 };
	size_t ties = 0;
	int64_t least = 0;

	if (first < end && why->segments[first].level)
		least = shortest_shown(why, first, end, &ties);
	for (size_t i = first; i < end; i = next_of(why, i)) {
		const struct virt_why_segment *segment = &why->segments[i];
		int64_t ns = segment->to_ns - segment->from_ns;

		if (ns > least || !least || (ns == least && ties && ties--)) {
			put_segment(writing, segment);
			put_segments(writing, why, i + 1, next_of(why, i));
			continue;
		}
		if (!rest.n++)
			rest.first_ns = segment->from_ns;
		rest.ns[segment->kind] += ns;
		rest.all_ns += ns;
	}
	put_rest(writing, &rest, first < end ? why->segments[first].level : 0);
}

void why_put_title(struct output *out, const struct virt_model *model,
		   const struct why_answer *answer)
{
	char subject[256];

	subject_of(model, answer, subject, sizeof(subject));
	out_text(out, subject);
	if (!answer->moment)
		return;
	out_str(out, ", ");
	out_str(out, virt_why_moment_name((enum virt_why_moment_kind)answer->moment->kind));
	out_str(out, " that costs ");
	why_put_duration(out, answer->moment->cost_ns, 0);
}

void why_write_text(const struct why_writing *writing, const struct why_answer *answer,
		    bool first)
{
	const struct virt_why *why = &answer->why;
	struct output *out = writing->out;

	out_str(out, first ? "" : "\n");
	out_text(out, writing->file);
	out_str(out, ": ");
	why_put_title(out, writing->model, answer);
	out_str(out, "\n          from [s]           length  what, and the records that show it\n");
	put_segments(writing, why, 0, why->n);
	put_place(out, why->from_ns, why->to_ns - why->from_ns, 0);
	out_str(out, "in all, of which unexplained: ");
	why_put_duration(out, why->unexplained_ns, 0);
	out_char(out, '\n');
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
	const char *subject = name_of(writing->model, segment->subject);
	const char *reason = virt_model_reason(writing->model, segment->reason);
	const char *who = name_of(writing->model, segment->who);
	int vector = vector_of(writing->model, segment);
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
		json_str(json, "handler", handler_kind_of(writing->model, segment));
	if (reason)
		json_str(json, "reason", reason);
	json_flags(json, segment->flags);
	json_open(json, "evidence", '[', true);
	for (size_t k = 0; k < n; k++)
		json_u64(json, NULL, numbers[k]);
	json_close(json, ']');
	json_open(json, "segments", '[', !segment->n_below);
	json_segments(writing, json, why, i + 1, next_of(why, i));
	json_close(json, ']');
	json_close(json, '}');
}

static void json_segments(const struct why_writing *writing, struct json *json,
			  const struct virt_why *why, size_t first, size_t end)
{
	for (size_t i = first; i < end; i = next_of(why, i))
		json_segment(writing, json, why, i);
}

void why_write_json(const struct why_writing *writing, const struct why_answer *answer, bool first)
{
	const struct virt_why *why = &answer->why;
	char subject[256];
	struct json json;

	(void)first;
	subject_of(writing->model, answer, subject, sizeof(subject));
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
