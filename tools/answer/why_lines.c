// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	why_lines.c
 * @brief	Write an answer of "kshark-virt why" as lines of text.
 */
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "virt_block.h"
#include "virt_delivery.h"
#include "virt_handlers.h"
#include "virt_limits.h"
#include "why_answer.h"

/** Segments below another one that are listed one by one: the longest. */
#define MOST_BELOW	12

/* --- what text and JSON say ------------------------------------------------------------------ */

int why_vector_of(const struct virt_why *why, const struct virt_why_segment *segment)
{
	const struct virt_wake *wake = virt_why_guest_wake(why, segment) ? NULL :
				       virt_model_wake(why->model, segment->wake);

	return wake ? wake->vector : VIRT_NONE;
}

bool why_is_paused(const struct virt_why *why, const struct virt_why_segment *segment)
{
	const struct virt_vcpu *vcpu = virt_model_vcpu(why->model, segment->subject);
	int64_t ns = segment->to_ns - segment->from_ns;

	return vcpu && virt_machine_is_offline(why->model, vcpu->machine,
					       segment->from_ns + ns / 2);
}

const char *why_vector_name(const struct virt_why *why, const struct virt_why_segment *segment)
{
	bool is_vcpu = virt_model_vcpu(why->model, segment->subject);

	return virt_vector_name(why->model, is_vcpu ? segment->subject : segment->vcpu,
				why_vector_of(why, segment));
}

const char *why_interrupt_of(const struct virt_why *why, const struct virt_why_segment *segment)
{
	const struct virt_life_wake *wake = virt_why_guest_wake(why, segment);

	return wake && wake->handler >= 0 ?
	       virt_why_life_of(why, segment)->handlers[wake->handler] : NULL;
}

bool why_asks_for_host(const struct virt_why *why)
{
	for (size_t i = 0; i < why->n; i++)
		if (why->segments[i].cause == VIRT_WHY_WAKE &&
		    virt_model_task(why->model, why->segments[i].who))
			return true;
	return false;
}

size_t why_next_of(const struct virt_why *why, size_t i)
{
	return i + 1 + why->segments[i].n_below;
}

void why_subject(const struct why_answer *answer, char *text, size_t size)
{
	if (answer->who == VIRT_NONE)
		snprintf(text, size, "pCPU %d", answer->pcpu);
	else
		snprintf(text, size, "%s", virt_why_who(&answer->why, answer->who));
}

/* --- words ------------------------------------------------------------------------------------ */

struct why_duration why_duration(int64_t ns)
{
	static const struct {
		int64_t		ns;
		int		digits;
		const char	*unit;
	} units[] = { { 1000000000, 9, "s" }, { 1000000, 6, "ms" }, { 1000, 3, "us" } };
	struct why_duration text;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (ns >= units[i].ns) {
			snprintf(text.text, sizeof(text.text), "%lld.%0*lld %s",
				 (long long)(ns / units[i].ns), units[i].digits,
				 (long long)(ns % units[i].ns), units[i].unit);
			return text;
		}
	}
	snprintf(text.text, sizeof(text.text), "%lld ns", (long long)ns);
	return text;
}

void why_put_duration(struct output *out, int64_t ns, size_t width)
{
	out_printf(out, "%*s", (int)width, why_duration(ns).text);
}

static void put_pcpu(struct output *out, const char *before, int pcpu)
{
	if (pcpu < 0)
		out_printf(out, "%sa pCPU", before);
	else
		out_printf(out, "%spCPU %d", before, pcpu);
}

/** The pCPU, or the vCPU of a guest's task, that the subject has or waits for. */
static void put_place_of(struct output *out, const struct virt_why *why, const char *before,
			 const struct virt_why_segment *segment)
{
	const char *vcpu = virt_why_who(why, segment->vcpu);

	if (!vcpu && (segment->cause == VIRT_WHY_GUEST_CPU ||
		      virt_guests_task(why->guests, segment->subject, NULL)))
		out_printf(out, "%sa CPU of its guest", before);
	else if (vcpu)
		out_sentence(out, "%s%s", before, vcpu);
	else
		put_pcpu(out, before, segment->pcpu);
}

static void put_named(struct output *out, const char *before, const char *name)
{
	if (name)
		out_sentence(out, "%s%s", before, name);
}

/** A wake-up by the guest's own trace: by which interrupt, where; or which task it was. */
static void put_guest_part(struct output *out, const struct virt_why *why,
			   const struct virt_why_segment *segment)
{
	const char *vcpu = virt_why_who(why, segment->vcpu);

	put_named(out, " ", why_interrupt_of(why, segment));
	put_named(out, ", on ", vcpu);
	put_named(out, ", which had ", virt_guests_short(why->guests, segment->who_task));
}

const struct virt_block_read *why_read_of(const struct virt_why *why,
					  const struct virt_why_segment *segment)
{
	return segment->kind == VIRT_WHY_BLOCKED && segment->flags & VIRT_WHY_UNASKED &&
	       virt_model_vcpu(why->model, segment->subject) ?
	       virt_block_read_in(why->model, segment->subject, segment->from_ns,
				  segment->to_ns) : NULL;
}

static void put_read(struct output *out, const struct virt_block_read *read)
{
	if (!read)
		return;
	out_printf(out, ", for device %u:%u to read sector %llu (",
		   VIRT_BLOCK_MAJOR(read->device), VIRT_BLOCK_MINOR(read->device),
		   (unsigned long long)read->sector);
	why_put_duration(out, read->to_ns - read->from_ns, 0);
	out_char(out, ')');
}

/** "mutex 0xffff888301e57220" */
static void put_lock(struct output *out, const char *before, const struct virt_lock_wait *lock)
{
	char name[VIRT_LOCK_NAME];

	virt_lock_name(lock->lock, name);
	out_sentence(out, "%s%s %s", before, lock->kind, name);
}

/** The lock that the subject waits for. */
static void put_own_lock(struct output *out, const struct virt_why *why, const char *before,
			 const struct virt_why_segment *segment)
{
	const char *holder = virt_why_who(why, segment->lock_holder);

	if (!segment->lock)
		return;
	put_lock(out, before, segment->lock);
	if (holder)
		out_sentence(out, ", which %s has", holder);
}

/** The lock that the subject has, while another one waits for it. */
static void put_held_lock(struct output *out, const struct virt_why *why,
			  const struct virt_why_segment *segment)
{
	const char *holder = virt_why_who(why, segment->lock_holder);
	const char *waiter = virt_why_who(why, segment->lock_waiter);

	if (!segment->lock)
		return;
	out_sentence(out, "; %s has", holder ? holder : "it");
	put_lock(out, " ", segment->lock);
	out_sentence(out, ", for which %s waits", waiter ? waiter : "another task");
}

static void put_wait(struct output *out, const struct virt_why *why,
		     const struct virt_why_segment *segment)
{
	const char *who = virt_why_who(why, segment->who);
	int vector = why_vector_of(why, segment);

	out_str(out, "blocked");
	if (segment->flags & VIRT_WHY_UNASKED)
		out_str(out, ", which it did not ask for");
	put_read(out, why_read_of(why, segment));
	put_own_lock(out, why, ", waits for ", segment);
	if (segment->wake == VIRT_NONE)
		return;
	out_printf(out, ", ended by: %s", virt_why_cause_of(why, segment));
	put_named(out, " ", who);
	if (vector >= 0)
		out_printf(out, ", vector 0x%02x", (unsigned int)vector);
	put_named(out, " ", why_vector_name(why, segment));
	put_guest_part(out, why, segment);
	if (segment->flags & VIRT_WHY_CUT)
		out_str(out, ", which is shown above or leads too far");
}

/** "irq", "softirq" ... */
const char *why_handler_kind_of(const struct virt_why *why,
				   const struct virt_why_segment *segment)
{
	const struct virt_handler *handler = virt_model_handler(why->model, segment->handler);

	return handler ? virt_handler_kind_name((enum virt_handler_kind)handler->kind) : "handler";
}

bool why_is_steal(const struct virt_why *why, const struct virt_why_segment *segment)
{
	return segment->kind == VIRT_WHY_PREEMPTED && virt_model_vcpu(why->model, segment->subject);
}

void why_steal_kinds(const struct virt_why *why, size_t i, int64_t ns[VIRT_STEAL_N_KINDS])
{
	const struct virt_why_segment *segments = why->segments;

	memset(ns, 0, VIRT_STEAL_N_KINDS * sizeof(*ns));
	ns[VIRT_STEAL_LIMIT] = virt_why_held(why, &segments[i]).ns;
	ns[VIRT_STEAL_UNKNOWN] = segments[i].to_ns - segments[i].from_ns - ns[VIRT_STEAL_LIMIT];
	for (size_t at = i + 1; at < why_next_of(why, i); at = why_next_of(why, at)) {
		/* what the limit held is counted already */
		int64_t length = segments[at].to_ns - segments[at].from_ns -
				 virt_vcpu_held(why->model, segments[i].subject,
						segments[at].from_ns, segments[at].to_ns).ns;
		enum virt_steal_kind kind = VIRT_STEAL_UNKNOWN;

		if (segments[at].kind == VIRT_WHY_VCPU || segments[at].kind == VIRT_WHY_TASK)
			kind = virt_steal_kind_of(why->model, segments[i].subject,
						  segments[at].subject);
		else if (segments[at].cause == VIRT_WHY_LEFT_IDLE)
			kind = VIRT_STEAL_NOBODY;
		ns[VIRT_STEAL_UNKNOWN] -= length;
		ns[kind] += length;
	}
}

/** One kind of culprits needs no words: the culprit says it. put_held() has the limit. */
static void put_steal_kinds(struct output *out, const struct virt_why *why,
			    const struct virt_why_segment *segment)
{
	int64_t ns[VIRT_STEAL_N_KINDS];
	const char *before = "; ";
	int n = 0;

	why_steal_kinds(why, (size_t)(segment - why->segments), ns);
	for (int kind = 0; kind < VIRT_STEAL_N_KINDS; kind++)
		n += kind != VIRT_STEAL_LIMIT && ns[kind];
	for (int kind = 0; kind < VIRT_STEAL_N_KINDS && n > 1; kind++) {
		if (kind == VIRT_STEAL_LIMIT || !ns[kind])
			continue;
		out_printf(out, "%s%s %s", before,
			   virt_steal_kind_name((enum virt_steal_kind)kind),
			   why_duration(ns[kind]).text);
		before = ", ";
	}
}

/** By how much of a wait for a pCPU the culprits are not the cause. */
static void put_held(struct output *out, const struct virt_why *why,
		     const struct virt_why_segment *segment)
{
	struct virt_held held = virt_why_held(why, segment);
	struct why_duration certain = why_duration(held.ns);
	struct why_duration most = why_duration(held.ns + held.possible_ns);
	char text[VIRT_HELD_TEXT];

	if (virt_held_text(text, why->model, (enum virt_state)segment->kind,
			   held.ns ? certain.text : NULL, held.possible_ns ? most.text : NULL))
		out_printf(out, "; %s", text);
}

static void put_what(struct output *out, const struct virt_why *why,
		     const struct virt_why_segment *segment)
{
	const char *kind = virt_why_kind_name((enum virt_why_kind)segment->kind);
	const char *who = virt_why_who(why, segment->who);

	switch (segment->kind) {
	case VIRT_WHY_GUEST:
		out_str(out, segment->cause == VIRT_WHY_NESTED ? "code of a nested guest" :
			"guest code");
		if (segment->task != why->subject)
			put_named(out, " of ", virt_guests_short(why->guests, segment->task));
		return;
	case VIRT_WHY_PREEMPTED:
	case VIRT_WHY_WAKING:
		out_styled(out, OUT_BAD, kind);
		put_place_of(out, why, ", waits for ", segment);
		if (who)
			out_sentence(out, ", which %s%s has", who,
				     virt_model_is_own(why->model, segment->subject, segment->who) ?
				     " of its own machine" : "");
		if (why_is_steal(why, segment))
			put_steal_kinds(out, why, segment);
		put_held(out, why, segment);
		put_held_lock(out, why, segment);
		return;
	case VIRT_WHY_BLOCKED:
		put_wait(out, why, segment);
		return;
	case VIRT_WHY_VCPU:
	case VIRT_WHY_TASK:
		put_place_of(out, why, "has ", segment);
		return;
	case VIRT_WHY_IDLE:
		if (segment->vcpu != VIRT_NONE)
			put_place_of(out, why, "nothing to do in the guest of ", segment);
		else if (segment->task != VIRT_NONE)
			out_str(out, "nothing to do in the guest");
		else
			put_pcpu(out, "nobody has ", segment->pcpu);
		return;
	case VIRT_WHY_HANDLER:
		out_sentence(out, "is interrupted by %s %s", why_handler_kind_of(why, segment),
			     virt_why_cause_of(why, segment));
		return;
	case VIRT_WHY_LOCK:
		put_own_lock(out, why, "waits for ", segment);
		if (segment->flags & VIRT_WHY_CUT)
			out_str(out, ", which is shown above or leads too far");
		return;
	case VIRT_WHY_SLEEP:
		put_pcpu(out, "", segment->pcpu);
		out_sentence(out, " sleeps, in %s, altogether for %s",
			     virt_why_cause_of(why, segment),
			     why_duration(segment->sleeps_ns).text);
		return;
	case VIRT_WHY_DEVICE_MODEL:
		out_str(out, "waits for its device model");
		return;
	case VIRT_WHY_OFFLINE:
		out_str(out, kind);
		if (segment->cause == VIRT_WHY_LIMIT)
			out_printf(out, ", held by %s",
				   virt_hold_words(why->model, VIRT_OFFLINE));
		else if (segment->cause == VIRT_WHY_ANSWER)
			out_str(out, ", waits for its device model");
		else if (virt_model_vcpu(why->model, segment->subject))
			out_str(out, why_is_paused(why, segment) ? ", with its whole machine" :
				", others of its machine are not");
		if (segment->cause == VIRT_WHY_SIGNAL)
			out_str(out, ", stopped by a signal or a debugger");
		return;
	default:
		out_styled(out, segment->kind == VIRT_WHY_UNEXPLAINED ? OUT_WARNING : OUT_PLAIN,
			   kind);
		out_sentence(out, ": %s", virt_why_cause_of(why, segment));
		if (segment->cause == VIRT_WHY_EXIT)
			put_named(out, ": ", virt_why_argument_of(why, segment));
		if (segment->flags & VIRT_WHY_WITH_WAITS)
			out_str(out, ", waits not split");
	}
}

static void put_place(struct output *out, int64_t from_ns, int64_t ns, int level)
{
	out_ns(out, from_ns, 18);
	out_printf(out, " %16s  %*s", why_duration(ns).text, 2 * level, "");
}

void why_put_segment(struct output *out, const struct virt_why *why,
		     const struct virt_why_segment *segment)
{
	const char *subject = virt_why_who(why, segment->subject);

	/* whose time the uppermost ones are, the title says */
	if ((segment->level || segment->kind >= VIRT_WHY_VCPU ||
	     segment->subject != why->subject) &&
	    subject && segment->kind != VIRT_WHY_UNEXPLAINED) {
		out_text(out, subject);
		out_str(out, segment->kind >= VIRT_WHY_VCPU ? " " : ": ");
	}
	put_what(out, why, segment);
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
		out_printf(out, "%s%s %s", before, virt_why_kind_name((enum virt_why_kind)kind),
			   why_duration(rest->ns[kind]).text);
		before = ", ";
	}
}

void why_put_words(struct output *out, const struct virt_why *why,
		   const struct why_line *line)
{
	if (line->segment)
		why_put_segment(out, why, line->segment);
	else
		put_rest(out, line);
}

static void put_numbers(struct output *out, const uint64_t *numbers, size_t n, const char *before,
			const char *guest)
{
	for (size_t i = 0; i < n; i++) {
		out_str(out, i ? " " : before);
		if (guest)
			out_text(out, guest);
		out_char(out, '#');
		out_u64(out, numbers[i]);
	}
}

/** "#12 #15 web#7": those of the host, and of the guest; @before: the first one. */
static void put_records(const struct why_writing *writing, const struct why_line *line,
			const char *before)
{
	const struct virt_why *why = writing->why;
	uint64_t numbers[2 * WHY_MOST_RECORDS];
	size_t n, in_guest;

	if (!line->segment)
		return;
	n = why_evidence_of(writing->evidence, line->segment, numbers);
	put_numbers(writing->out, numbers, n, before, NULL);
	in_guest = why_evidence_in_guest(writing->evidence, why, line->segment, numbers);
	if (in_guest)
		put_numbers(writing->out, numbers, in_guest, n ? " " : before,
			    why->guests->all[virt_why_guest_of(why, line->segment)].name);
}

void why_put_records(const struct why_writing *writing, const struct why_line *line)
{
	put_records(writing, line, "");
}

void why_put_line(const struct why_writing *writing, const struct why_line *line)
{
	put_place(writing->out, line->from_ns, line->length_ns, line->level);
	why_put_words(writing->out, writing->why, line);
	if (line->segment && writing->put_more)
		writing->put_more(writing, line->segment);
	put_records(writing, line, "  ");
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

void why_put_title(struct output *out, const struct why_answer *answer)
{
	char subject[256];

	why_subject(answer, subject, sizeof(subject));
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

	out_style(out, OUT_HEAD);
	out_text(out, writing->file);
	out_str(out, ": ");
	why_put_title(out, answer);
	out_style(out, OUT_PLAIN);
	out_str(out, "\n          from [s]           length  what, and the records that show it\n");
}

void why_put_sum(const struct why_writing *writing)
{
	const struct virt_why *why = writing->why;
	struct output *out = writing->out;

	put_place(out, why->from_ns, why->to_ns - why->from_ns, 0);
	out_str(out, "in all, ");
	why_put_duration(out, why->unexplained_ns, 0);
	out_str(out, " of it unexplained\n");
}
