// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_polling.c
 * @brief	Halt polling: how often it found an event, what it cost, and what it saved.
 *
 * A poll begins when a vCPU halts and its hypervisor polls. It hits if the vCPU goes on without
 * sleep, and misses if the vCPU sleeps. A poll during which its pCPU is taken is one poll.
 */
#include <errno.h>
#include <stdlib.h>

#include "report_section.h"
#include "report_unknown.h"
#include "table.h"
#include "text_columns.h"

enum outcome { HIT, MISS, OPEN, N_OUTCOMES };

static const char *const outcome_names[N_OUTCOMES] = {
	[HIT] = "hits", [MISS] = "misses", [OPEN] = "unknown",
};

struct polls {
	uint64_t	count[N_OUTCOMES];	/* that begin in the window */
	int64_t		ns[N_OUTCOMES];		/* within the window */
	double		saved_ns;		/* by this number of hits: */
	uint64_t	saved_hits;
};

static uint64_t number_of(const struct polls *polls)
{
	return polls->count[HIT] + polls->count[MISS] + polls->count[OPEN];
}

static int64_t time_of(const struct polls *polls)
{
	return polls->ns[HIT] + polls->ns[MISS] + polls->ns[OPEN];
}

/** Is it known what all hits saved? */
static bool knows_saved(const struct report *report, const struct polls *polls)
{
	return report_knows(report, VIRT_NUMBER_WAKING) && polls->saved_hits == polls->count[HIT];
}

static enum outcome outcome_of(const struct virt_interval_range *range, size_t after)
{
	if (after == range->n)
		return OPEN;
	switch (range->first[after].state) {
	case VIRT_BLOCKED:
	case VIRT_OFFLINE:
		return MISS;
	case VIRT_UNKNOWN:
		return OPEN;
	default:
		return HIT;
	}
}

/** The part of an interval that lies in the window. */
static int64_t part_of(const struct report *report, const struct virt_interval_range *range,
		       size_t i)
{
	int64_t from_ns = range->first[i].start_ns, to_ns;

	to_ns = i + 1 < range->n ? range->first[i + 1].start_ns : range->end_ns;
	if (from_ns < report->from_ns)
		from_ns = report->from_ns;
	if (to_ns > report->to_ns)
		to_ns = report->to_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/** Add the poll that begins with an interval. Return: the interval after it. */
static size_t add_poll(struct polls *polls, const struct report *report,
		       const struct virt_interval_range *range, size_t first)
{
	enum outcome outcome;
	int64_t ns = 0;
	size_t i = first;

	for (; i < range->n; i++) {
		uint8_t state = range->first[i].state;

		if (state == VIRT_POLLING)
			ns += part_of(report, range, i);
		else if (state != VIRT_PREEMPTED && state != VIRT_WAKING)
			break;
	}
	outcome = outcome_of(range, i);
	polls->ns[outcome] += ns;
	polls->count[outcome] += virt_begins_in(range->first[first].start_ns, report->from_ns,
						report->to_ns);
	return i;
}

static void polls_of_vcpu(struct polls *polls, const struct report *report, int32_t vcpu)
{
	const struct virt_model *model = report->load->model;
	struct virt_interval_range range = virt_vcpu_intervals(model, vcpu, INT64_MIN, INT64_MAX);
	const struct virt_window_stats *stats = virt_window_walk_vcpu(report->walk, vcpu);
	const struct virt_dist *wakes = &stats->states[VIRT_WAKING].whole;

	*polls = (struct polls){ .saved_ns = 0 };
	for (size_t i = 0; i < range.n;)
		if (range.first[i].state == VIRT_POLLING)
			i = add_poll(polls, report, &range, i);
		else
			i++;
	/* a hit counts as the mean wake-up of its vCPU, of which there must be one */
	if (wakes->count || !polls->count[HIT]) {
		polls->saved_hits = polls->count[HIT];
		polls->saved_ns = !wakes->count ? 0 : (double)polls->count[HIT] *
				  (double)wakes->ns / (double)wakes->count;
	}
}

static void polls_add(struct polls *sum, const struct polls *polls)
{
	for (int i = 0; i < N_OUTCOMES; i++) {
		sum->count[i] += polls->count[i];
		sum->ns[i] += polls->ns[i];
	}
	sum->saved_ns += polls->saved_ns;
	sum->saved_hits += polls->saved_hits;
}

/** The polls of all vCPUs that were asked for, to be freed. Return: NULL without memory. */
static struct polls *polls_of_all(const struct report *report)
{
	int32_t n = virt_model_n_vcpus(report->load->model);
	struct polls *polls = calloc((size_t)n + 1, sizeof(*polls));

	for (int32_t i = 0; polls && i < n; i++)
		if (virt_window_walk_wants(report->walk, i))
			polls_of_vcpu(&polls[i], report, i);
	return polls;
}

/** @polls: of all vCPUs */
static struct polls polls_of_machine(const struct polls *polls, const struct virt_machine *machine)
{
	struct polls sum = { .saved_ns = 0 };

	for (int32_t i = 0; i < machine->n_vcpus; i++)
		polls_add(&sum, &polls[machine->vcpus[i]]);
	return sum;
}

/* --- text ------------------------------------------------------------------------------------ */

enum { NAME, POLLS, HITS, MISSES, TIME, TIME_MISSED, SAVED, N_COLUMNS };

static const struct table_column columns[N_COLUMNS] = {
	[NAME] = { .title = "halt polling", .width = TEXT_NAME },
	[POLLS] = { .title = "polls", .type = TABLE_COUNT },
	[HITS] = { .title = "hits", .type = TABLE_COUNT },
	[MISSES] = { .title = "misses", .type = TABLE_COUNT },
	[TIME] = { .title = "time", .type = TABLE_NS },
	[TIME_MISSED] = { .title = "in misses", .type = TABLE_NS },
	[SAVED] = { .title = "saved, about", .type = TABLE_NS, .width = 13 },
};

static const struct table table = { .rows = { TABLE_COLUMNS(columns), .apart = true } };

static void polls_row(struct table_writer *to, const struct report *report, const char *name,
		      const struct polls *polls)
{
	table_row(to, (const struct table_cell[N_COLUMNS]){
		[NAME] = table_name(name), [POLLS] = table_number((int64_t)number_of(polls)),
		[HITS] = table_number((int64_t)polls->count[HIT]),
		[MISSES] = table_number((int64_t)polls->count[MISS]),
		[TIME] = table_number(time_of(polls)),
		[TIME_MISSED] = table_number(polls->ns[MISS]),
		[SAVED] = knows_saved(report, polls) ? table_number((int64_t)polls->saved_ns) :
						       table_unknown(),
	});
}

/** A line on what polling cost and saved a machine, if its vCPUs polled. */
static void put_advice(struct output *out, const struct report *report,
		       const struct virt_machine *machine, const struct polls *polls)
{
	if (!number_of(polls))
		return;
	out_sentence(out, "  %s: %llu of %llu polls hit", machine->name,
		     (unsigned long long)polls->count[HIT], (unsigned long long)number_of(polls));
	if (polls->count[OPEN])
		out_printf(out, ", of %llu it is unknown", (unsigned long long)polls->count[OPEN]);
	if (polls->count[HIT] && knows_saved(report, polls))
		out_printf(out, ", and saved about %s of wake-up latency (as long as the other "
			   "wake-ups)", duration_text((int64_t)polls->saved_ns).text);
	out_printf(out, "; a lower halt_poll_ns frees at most %s of pCPU time, %s of it in polls "
		   "that missed\n", duration_text(time_of(polls)).text,
		   duration_text(polls->ns[MISS]).text);
}

static void all_text(struct output *out, const struct report *report, const struct polls *polls)
{
	const struct virt_model *model = report->load->model;
	struct table_writer to = { .table = &table, .format = &table_text, .out = out };

	table_flat(&to, true);
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++)
		if (virt_window_walk_wants(report->walk, i))
			polls_row(&to, report, virt_model_who(model, i), &polls[i]);
	table_flat_end(&to);
	for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);
		struct polls sum = polls_of_machine(polls, machine);

		put_advice(out, report, machine, &sum);
	}
}

static void text(struct output *out, const struct report *report)
{
	struct polls *polls;
	uint64_t all = 0;

	if (!report_knows(report, VIRT_NUMBER_POLLING))
		return;
	polls = polls_of_all(report);
	for (int32_t i = 0; polls && i < virt_model_n_vcpus(report->load->model); i++)
		all += number_of(&polls[i]);
	if (all)
		all_text(out, report, polls);
	if (!polls)
		out->error = ENOMEM;
	free(polls);
}

/* --- facts ----------------------------------------------------------------------------------- */

static void polls_facts(struct facts *to, const struct report *report, const struct polls *polls)
{
	bool unknown = to->unknown;

	for (int i = 0; i < N_OUTCOMES; i++) {
		facts_open(to, outcome_names[i], '{', true);
		facts_count(to, FACT_JSON("count"), polls->count[i]);
		facts_ns(to, FACT_JSON("total_ns"), polls->ns[i]);
		facts_close(to, '}');
		facts_sum(to, "polls", outcome_names[i], polls->count[i], polls->ns[i]);
	}
	to->unknown = !knows_saved(report, polls);
	facts_ns(to, FACT("about_saved_ns", "polls_saved", NULL), (int64_t)polls->saved_ns);
	to->unknown = unknown;
}

static void machine_facts(struct facts *to, const struct report *report,
			  const struct virt_machine *machine, const struct polls *polls)
{
	struct polls sum = polls_of_machine(polls, machine);

	to->machine = machine->name;
	facts_open(to, NULL, '{', false);
	facts_name(to, "machine", machine->name);
	polls_facts(to, report, &sum);
	facts_open(to, "vcpus", '[', false);
	for (int32_t i = 0; i < machine->n_vcpus; i++) {
		if (!virt_window_walk_wants(report->walk, machine->vcpus[i]))
			continue;
		to->vcpu = virt_model_who(report->load->model, machine->vcpus[i]);
		facts_open(to, NULL, '{', false);
		facts_name(to, "vcpu", to->vcpu);
		polls_facts(to, report, &polls[machine->vcpus[i]]);
		facts_close(to, '}');
		to->vcpu = NULL;
	}
	facts_close(to, ']');
	facts_close(to, '}');
	to->machine = NULL;
}

static bool wants_machine(const struct report *report, const struct virt_machine *machine)
{
	for (int32_t i = 0; i < machine->n_vcpus; i++)
		if (virt_window_walk_wants(report->walk, machine->vcpus[i]))
			return true;
	return false;
}

static void facts(struct facts *to, const struct report *report)
{
	const struct virt_model *model = report->load->model;
	struct polls *polls;

	/* Xen does not poll */
	if (virt_model_hypervisor(model) != VIRT_KVM)
		return;
	polls = report_knows(report, VIRT_NUMBER_POLLING) ? polls_of_all(report) : NULL;
	if (!polls) {
		facts_null(to, "halt_polling");
		return;
	}
	facts_open(to, "halt_polling", '[', false);
	for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		if (wants_machine(report, machine))
			machine_facts(to, report, machine, polls);
	}
	facts_close(to, ']');
	free(polls);
}

const struct report_section report_polling = { .text = text, .facts = facts };
