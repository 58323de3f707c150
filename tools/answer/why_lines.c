// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	why_lines.c
 * @brief	An answer of "kshark-virt why" as lines of text.
 */
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "virt_handlers.h"
#include "why_answer.h"

/** Segments below another one that are listed one by one: the longest. */
#define MOST_BELOW	12

/* --- what text and JSON say ------------------------------------------------------------------ */

static const char *name_of(const struct virt_model *model, int32_t who)
{
	return virt_model_who(model, who);
}

int why_vector_of(const struct virt_model *model, const struct virt_why_segment *segment)
{
	const struct virt_wake *wake = virt_model_wake(model, segment->wake);

	return wake ? wake->vector : VIRT_NONE;
}

size_t why_next_of(const struct virt_why *why, size_t i)
{
	return i + 1 + why->segments[i].n_below;
}

void why_subject(const struct virt_model *model, const struct why_answer *answer, char *text,
		 size_t size)
{
	if (answer->vcpu == VIRT_NONE)
		snprintf(text, size, "p%d", answer->pcpu);
	else
		snprintf(text, size, "%s", name_of(model, answer->vcpu));
}

/* --- words ------------------------------------------------------------------------------------ */

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
	int vector = why_vector_of(model, segment);

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
const char *why_handler_kind_of(const struct virt_model *model,
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
		out_str(out, why_handler_kind_of(model, segment));
		out_char(out, ' ');
		out_text(out, virt_why_cause_of(model, segment));
		return;
	case VIRT_WHY_SLEEP:
		put_pcpu(out, "", segment->pcpu);
		out_str(out, " sleeps, in ");
		out_text(out, virt_why_cause_of(model, segment));
		out_str(out, ", altogether for ");
		why_put_duration(out, segment->sleeps_ns, 0);
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

/* --- lines ----------------------------------------------------------------------------------- */

static void put_rest(struct output *out, const struct why_line *rest)
{
	const char *before = ": ";

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
}

void why_put_words(struct output *out, const struct virt_model *model,
		   const struct why_line *line)
{
	if (line->segment)
		why_put_segment(out, model, line->segment);
	else
		put_rest(out, line);
}

/** @before: of each number. */
static void put_records(const struct why_writing *writing, const struct why_line *line,
			const char *before)
{
	uint64_t numbers[2 * WHY_MOST_RECORDS];
	size_t n = 0;

	if (line->segment)
		n = why_evidence_of(writing->evidence, line->segment, numbers);
	for (size_t i = 0; i < n; i++) {
		out_str(writing->out, i ? " #" : before);
		out_u64(writing->out, numbers[i]);
	}
}

void why_put_records(const struct why_writing *writing, const struct why_line *line)
{
	put_records(writing, line, "#");
}

void why_put_line(const struct why_writing *writing, const struct why_line *line)
{
	put_place(writing->out, line->from_ns, line->length_ns, line->level);
	why_put_words(writing->out, writing->model, line);
	put_records(writing, line, "  #");
	out_char(writing->out, '\n');
}

/** Who takes lines. */
struct taker {
	const struct virt_why	*why;
	void			(*take)(void *arg, const struct why_line *line);
	void			*arg;
};

/** The shortest length of the longest, of those from @i on; @ties: how many may be as long. */
static int64_t shortest_shown(const struct virt_why *why, size_t i, size_t end, size_t *ties)
{
	int64_t longest[MOST_BELOW] = { 0 }, least;
	size_t more = 0;

	for (; i < end; i = why_next_of(why, i)) {
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

static void take_segment(const struct taker *taker, const struct virt_why_segment *segment)
{
	const struct why_line line = {
		.segment = segment, .level = segment->level,
		.from_ns = segment->from_ns, .to_ns = segment->to_ns,
		.length_ns = segment->to_ns - segment->from_ns, .n = 1,
	};

	taker->take(taker->arg, &line);
}

static void add_to_rest(struct why_line *rest, const struct virt_why_segment *segment)
{
	int64_t ns = segment->to_ns - segment->from_ns;

	if (!rest->n++)
		rest->from_ns = segment->from_ns;
	rest->to_ns = segment->to_ns;
	rest->level = segment->level;
	rest->ns[segment->kind] += ns;
	rest->length_ns += ns;
}

/** Segments [first, end) of a level, and what is below each. */
static void take_segments(const struct taker *taker, size_t first, size_t end)
{
	const struct virt_why *why = taker->why;
	struct why_line rest = { 0 };
	size_t ties = 0;
	int64_t least = 0;

	if (first < end && why->segments[first].level)
		least = shortest_shown(why, first, end, &ties);
	for (size_t i = first; i < end; i = why_next_of(why, i)) {
		const struct virt_why_segment *segment = &why->segments[i];
		int64_t ns = segment->to_ns - segment->from_ns;

		if (ns > least || !least || (ns == least && ties && ties--)) {
			take_segment(taker, segment);
			take_segments(taker, i + 1, why_next_of(why, i));
		} else {
			add_to_rest(&rest, segment);
		}
	}
	if (rest.n)
		taker->take(taker->arg, &rest);
}

void why_each_line(const struct virt_why *why,
		   void (*take)(void *arg, const struct why_line *line), void *arg)
{
	const struct taker taker = { .why = why, .take = take, .arg = arg };

	take_segments(&taker, 0, why->n);
}

void why_put_title(struct output *out, const struct virt_model *model,
		   const struct why_answer *answer)
{
	char subject[256];

	why_subject(model, answer, subject, sizeof(subject));
	out_text(out, subject);
	if (!answer->moment)
		return;
	out_str(out, ", ");
	out_str(out, virt_why_moment_name((enum virt_why_moment_kind)answer->moment->kind));
	out_str(out, " that costs ");
	why_put_duration(out, answer->moment->cost_ns, 0);
}

void why_put_head(const struct why_writing *writing, const struct why_answer *answer)
{
	struct output *out = writing->out;

	out_text(out, writing->file);
	out_str(out, ": ");
	why_put_title(out, writing->model, answer);
	out_str(out, "\n          from [s]           length  what, and the records that show it\n");
}

void why_put_sum(const struct why_writing *writing, const struct virt_why *why)
{
	struct output *out = writing->out;

	put_place(out, why->from_ns, why->to_ns - why->from_ns, 0);
	out_str(out, "in all, of which unexplained: ");
	why_put_duration(out, why->unexplained_ns, 0);
	out_char(out, '\n');
}
