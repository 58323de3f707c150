// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_counters.c
 * @brief	The spans between readings of a host's counters, with the vCPU or task that had the
 *		pCPU.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "held_file.h"
#include "host_counters.h"
#include "virt_needs.h"

/** perf's turns, where a processor has too few counters, are ten times as long at least. */
#define TURN_NS		100000

/** The event that shows who has a pCPU. */
#define SWITCH		"sched:sched_switch"

const char *host_counter_after_name(enum host_counter_after after)
{
	static const char *const names[HOST_N_AFTERS] = {
		[HOST_AFTER_STEAL] = "steal", [HOST_AFTER_SLEEP] = "sleep",
		[HOST_AFTER_UNKNOWN] = "unknown",
	};

	return names[after];
}

const char *host_counter_state_name(uint8_t state)
{
	return state == HOST_COUNTER_MIXED ? "mixed" : virt_state_name((enum virt_state)state);
}

const char *host_counter_owner_name(const struct virt_model *model,
				    const struct host_counter_span *span)
{
	return span->who == HOST_COUNTER_IDLE ? "idle" :
	       span->who == HOST_COUNTER_UNKNOWN ? "unknown" :
	       virt_model_vcpu(model, span->who) ? "vcpu" : "task";
}

const char *host_counter_side_name(const struct trace_counter *counter)
{
	switch (counter->sides) {
	case TRACE_COUNTS_HOST:
		return "host";
	case TRACE_COUNTS_GUEST:
		return "guests";
	case TRACE_COUNTS_HOST | TRACE_COUNTS_GUEST:
		return "both";
	default:
		return NULL;
	}
}

int host_counters_open(struct host_counters *counters, const struct kvm_trace *trace)
{
	*counters = (struct host_counters){ .fd = held_file_open(kvm_trace_path(trace)) };
	return counters->fd < 0 ? -ENOENT : trace_counters_open(&counters->file, counters->fd);
}

void host_counters_close(struct host_counters *counters)
{
	if (counters->file.counters)
		close(counters->fd);
	trace_counters_close(&counters->file);
}

/* --- names ----------------------------------------------------------------------------------- */

/** "cpu_core/cycles,period=1/u", "cpu-cycles" and "cycles:u" are "cycles". Return: its length. */
static size_t base_name(const char *name, const char **base)
{
	static const char other[] = "cpu-cycles";
	const char *slash = strchr(name, '/');
	size_t n;

	*base = slash ? slash + 1 : name;
	n = strcspn(*base, slash ? "/," : ":");
	if (n == sizeof(other) - 1 && !strncmp(*base, other, n))
		*base = "cycles";
	return n == sizeof(other) - 1 && !strcmp(*base, "cycles") ? strlen(*base) : n;
}

bool host_counters_is(const struct host_counters *counters, uint32_t counter, const char *name)
{
	const char *base;
	size_t n = base_name(counters->file.counters[counter].name, &base);

	return n == strlen(name) && !strncmp(base, name, n);
}

int32_t host_counters_partner(const struct host_counters *counters, uint32_t counter,
			      const char *name)
{
	const struct trace_counter *of = &counters->file.counters[counter];

	for (uint32_t i = 0; i < counters->file.n; i++) {
		const struct trace_counter *other = &counters->file.counters[i];

		if (other->group == of->group && other->modes == of->modes &&
		    other->sides == of->sides && host_counters_is(counters, i, name))
			return (int32_t)i;
	}
	return -1;
}

/* --- spans ----------------------------------------------------------------------------------- */

/** The last reading of a counter on the pCPU. */
struct last {
	bool		has, was_lost;	/* since then, readings are missing */
	int64_t		time_ns;
	uint64_t	value, enabled_ns, running_ns;
};

/** What is known of a span, whichever counter. */
struct span_of {
	int64_t		from_ns, to_ns;
	int32_t		who;
	uint8_t		state, after;
};

struct walk {
	const struct virt_model *model;
	bool		knows[VIRT_N_STATES];	/* the trace shows these states of vCPUs */
	bool		has_turns[TRACE_COUNTERS_MOST];	/* switches are recorded only while the
							 * counter counts: they are of its group */
	int32_t		pcpu;
	struct last	last[TRACE_COUNTERS_MOST];
	struct span_of	now;		/* the one that was looked at last */
	struct virt_clock_walk clock;
};

/** By the records: the only one that had the pCPU. */
static int32_t occupant_of(const struct walk *walk, int64_t from_ns, int64_t to_ns)
{
	struct virt_occupant_range range = virt_pcpu_occupants(walk->model, walk->pcpu, from_ns,
							       to_ns);
	int32_t who = HOST_COUNTER_UNKNOWN;

	for (size_t i = 0; i < range.n; i++) {
		const struct virt_occupant *one = &range.first[i];
		int64_t end_ns = i + 1 < range.n ? one[1].start_ns : range.end_ns;
		int32_t its = !one->known ? HOST_COUNTER_UNKNOWN :
			      one->vcpu == VIRT_NONE ? HOST_COUNTER_IDLE : one->vcpu;

		if (!i && one->start_ns > from_ns)
			return HOST_COUNTER_UNKNOWN;
		if (end_ns <= from_ns || end_ns <= one->start_ns)
			continue;
		if (its == HOST_COUNTER_UNKNOWN || (who != HOST_COUNTER_UNKNOWN && its != who))
			return HOST_COUNTER_UNKNOWN;
		who = its;
	}
	return range.end_ns >= to_ns ? who : HOST_COUNTER_UNKNOWN;
}

/** The record at the end must show the same one: a switch in between may not have been recorded. */
static int32_t who_of(const struct walk *walk, int64_t from_ns, int64_t to_ns, int32_t pid)
{
	int32_t who = from_ns < to_ns ? occupant_of(walk, from_ns, to_ns) : HOST_COUNTER_UNKNOWN;
	int32_t at_end = !pid ? HOST_COUNTER_IDLE : virt_model_find_vcpu(walk->model, pid);

	if (at_end == VIRT_NONE)
		at_end = virt_model_find_task(walk->model, pid);
	return who == at_end ? who : HOST_COUNTER_UNKNOWN;
}

/** A state that the trace cannot show is not known. */
static uint8_t state_of(const struct walk *walk, int32_t vcpu, int64_t from_ns, int64_t to_ns)
{
	struct virt_interval_range range = virt_vcpu_intervals(walk->model, vcpu, from_ns, to_ns);
	uint8_t state = HOST_COUNTER_NO_STATE;

	for (size_t i = 0; i < range.n; i++) {
		const struct virt_interval *one = &range.first[i];
		int64_t end_ns = i + 1 < range.n ? one[1].start_ns : range.end_ns;
		uint8_t its = walk->knows[one->state] ? one->state : VIRT_UNKNOWN;

		if (end_ns <= from_ns || end_ns <= one->start_ns)
			continue;
		if (state != HOST_COUNTER_NO_STATE && state != its)
			return HOST_COUNTER_MIXED;
		state = its;
	}
	return state == HOST_COUNTER_NO_STATE ? VIRT_UNKNOWN : state;
}

static bool is_on_pcpu(const struct virt_interval *interval)
{
	return virt_state_on_pcpu(interval->state) || interval->flags & VIRT_INTERVAL_ON_PCPU;
}

/** What was before the run that a time is in. */
static uint8_t after_of(const struct walk *walk, int32_t vcpu, int64_t time_ns)
{
	struct virt_interval_range range = virt_vcpu_intervals(walk->model, vcpu, INT64_MIN,
							       time_ns + 1);
	uint8_t before = VIRT_UNKNOWN;
	size_t i = range.n;

	while (i && is_on_pcpu(&range.first[i - 1]))
		i--;
	if (i && walk->knows[VIRT_PREEMPTED] && walk->knows[range.first[i - 1].state])
		before = range.first[i - 1].state;
	switch (before) {
	case VIRT_PREEMPTED:
		return HOST_AFTER_STEAL;
	case VIRT_WAKING:
	case VIRT_BLOCKED:
		return HOST_AFTER_SLEEP;
	default:
		return HOST_AFTER_UNKNOWN;
	}
}

/** Does a vCPU's run go on at a time, which is the end of the span before? */
static bool goes_on(const struct walk *walk, int32_t vcpu, int64_t time_ns)
{
	struct virt_interval_range range = virt_vcpu_intervals(walk->model, vcpu, time_ns - 1,
							       time_ns + 1);
	bool is_on = range.n;

	for (size_t i = 0; i < range.n; i++)
		is_on &= is_on_pcpu(&range.first[i]);
	return is_on;
}

/** @pid: the thread of the record at the end of the span */
static const struct span_of *look(struct walk *walk, int64_t from_ns, int64_t to_ns, int32_t pid)
{
	const struct span_of before = walk->now;
	struct span_of *now = &walk->now;

	if (now->from_ns == from_ns && now->to_ns == to_ns)
		return now;
	*now = (struct span_of){
		.from_ns = from_ns, .to_ns = to_ns, .who = who_of(walk, from_ns, to_ns, pid),
		.state = HOST_COUNTER_NO_STATE, .after = HOST_AFTER_UNKNOWN,
	};
	if (now->who < 0 || !virt_model_vcpu(walk->model, now->who))
		return now;
	now->state = state_of(walk, now->who, from_ns, to_ns);
	/* a long run has many spans: each looks no further back than to the one before */
	now->after = before.to_ns == from_ns && before.who == now->who &&
		     goes_on(walk, now->who, from_ns) ? before.after :
		     after_of(walk, now->who, from_ns);
	return now;
}

/** Since the last reading. Return: -1: not known. */
static int64_t since(uint64_t time, uint64_t last)
{
	return time == TRACE_COUNTER_NO_TIME || last == TRACE_COUNTER_NO_TIME || time < last ||
	       time - last > INT64_MAX / 2 ? -1 : (int64_t)(time - last);
}

static struct host_counter_span make_span(struct walk *walk, const struct last *last,
					  const struct trace_reading *reading, int64_t time_ns,
					  const struct trace_counter_value *value)
{
	struct host_counter_span span = {
		.from_ns = last->time_ns, .to_ns = time_ns, .pcpu = walk->pcpu,
		.counter = (uint32_t)value->counter, .who = HOST_COUNTER_UNKNOWN,
		.state = HOST_COUNTER_NO_STATE, .after = HOST_AFTER_UNKNOWN,
		.is_counted = value->value >= last->value,
		.enabled_ns = since(reading->enabled_ns, last->enabled_ns),
		.running_ns = since(reading->running_ns, last->running_ns),
	};

	if (span.is_counted)
		span.value = value->value - last->value;
	if (span.enabled_ns < 0 || span.running_ns < 0 || span.running_ns > span.enabled_ns)
		span.enabled_ns = span.running_ns = -1;
	if (!last->was_lost && !(walk->has_turns[span.counter] &&
				 span.enabled_ns - span.running_ns >= TURN_NS)) {
		const struct span_of *of = look(walk, span.from_ns, time_ns, reading->pid);

		span.who = of->who;
		span.state = of->state;
		span.after = of->after;
	}
	return span;
}

static void begin_pcpu(struct walk *walk, const struct kvm_trace *trace, int32_t pcpu)
{
	walk->pcpu = pcpu;
	memset(walk->last, 0, sizeof(walk->last));
	walk->now = (struct span_of){ .from_ns = INT64_MIN, .to_ns = INT64_MIN };
	kvm_trace_walk_begin(trace, pcpu, &walk->clock);
}

int host_counters_each(struct host_counters *counters, const struct kvm_trace *trace,
		       const struct virt_model *model,
		       int (*take)(void *arg, const struct host_counter_span *span), void *arg)
{
	struct walk walk = { .model = model, .pcpu = VIRT_NONE };
	struct trace_reading reading;
	int found, ret = 0;

	for (uint32_t i = 0; i < counters->file.n; i++)
		walk.has_turns[i] = !strcmp(counters->file.counters[i].read_at, SWITCH);
	for (int state = 0; state < VIRT_N_STATES; state++)
		walk.knows[state] = virt_model_knows_state(model, (enum virt_state)state);
	while (!ret && (found = trace_counters_next(&counters->file, &reading)) == 1) {
		int64_t time_ns;

		if (reading.cpu > INT16_MAX)
			return -EBADMSG;
		if ((int32_t)reading.cpu != walk.pcpu)
			begin_pcpu(&walk, trace, (int32_t)reading.cpu);
		if (reading.n == TRACE_READING_LOST) {
			for (uint32_t i = 0; i < counters->file.n; i++)
				walk.last[i].was_lost = true;
			continue;
		}
		time_ns = kvm_trace_walk_time(trace, reading.ts, &walk.clock);
		for (uint32_t i = 0; i < reading.n && !ret; i++) {
			const struct trace_counter_value *value = &counters->file.values[i];
			struct last *last = &walk.last[value->counter];

			if (last->has && time_ns >= last->time_ns) {
				struct host_counter_span span = make_span(&walk, last, &reading,
									  time_ns, value);

				ret = take(arg, &span);
			}
			*last = (struct last){
				.has = true, .time_ns = time_ns, .value = value->value,
				.enabled_ns = reading.enabled_ns, .running_ns = reading.running_ns,
			};
		}
	}
	return ret ? ret : found;
}

/* --- sums ------------------------------------------------------------------------------------ */

struct making {
	struct host_counter_sums *sums;
	const struct virt_model	*model;
	int64_t			from_ns, to_ns;
};

static uint64_t key_of(enum host_counter_kind kind, uint32_t counter, int32_t who, uint8_t sub)
{
	return (uint64_t)counter << 48 | (uint64_t)kind << 40 | (uint64_t)sub << 32 |
	       (uint32_t)who;
}

static struct host_counter_sum *sum_for(struct host_counter_sums *sums,
					enum host_counter_kind kind, uint32_t counter, int32_t who,
					uint8_t sub)
{
	int64_t i = KEY_MAP_ELEMENT(&sums->map, key_of(kind, counter, who, sub), sums->all,
				    sums->room);

	if (i < 0)
		return NULL;
	sums->all[i].kind = (uint8_t)kind;
	sums->all[i].counter = counter;
	sums->all[i].who = who;
	sums->all[i].sub = sub;
	return &sums->all[i];
}

void host_counter_add(struct host_counter_sum *to, const struct host_counter_sum *sum)
{
	to->no_times |= sum->no_times;
	to->spans += sum->spans;
	to->value = sum->value > UINT64_MAX - to->value ? UINT64_MAX : to->value + sum->value;
	to->ns += sum->ns;
	to->uncounted_ns += sum->uncounted_ns;
	to->enabled_ns += sum->enabled_ns;
	to->running_ns += sum->running_ns;
}

/** Return: 0 or -ENOMEM. */
static int add(struct host_counter_sums *sums, enum host_counter_kind kind, int32_t who,
	       uint8_t sub, const struct host_counter_span *span, int64_t ns)
{
	struct host_counter_sum *to = sum_for(sums, kind, span->counter, who, sub);
	bool has_times = span->enabled_ns >= 0;

	if (!to)
		return -ENOMEM;
	host_counter_add(to, &(const struct host_counter_sum){
		.no_times = !has_times, .spans = 1, .value = span->value, .ns = ns,
		.uncounted_ns = span->is_counted ? 0 : ns,
		.enabled_ns = has_times ? span->enabled_ns : 0,
		.running_ns = has_times ? span->running_ns : 0,
	});
	return 0;
}

static int add_span(void *arg, const struct host_counter_span *span)
{
	const struct making *making = arg;
	struct host_counter_sums *sums = making->sums;
	int64_t from_ns = span->from_ns > making->from_ns ? span->from_ns : making->from_ns;
	int64_t to_ns = span->to_ns < making->to_ns ? span->to_ns : making->to_ns;
	int64_t ns = span->to_ns - span->from_ns;
	int ret;

	if (from_ns > to_ns || (from_ns == to_ns && ns))
		return 0;
	if (from_ns != span->from_ns || to_ns != span->to_ns)
		return add(sums, HOST_COUNTER_CUT, VIRT_NONE, 0,
			   &(const struct host_counter_span){
			.counter = span->counter, .enabled_ns = -1,
		}, to_ns - from_ns);
	ret = add(sums, HOST_COUNTER_OF_WHO, span->who, 0, span, ns);
	if (!ret)
		ret = add(sums, HOST_COUNTER_OF_PCPU, span->pcpu, 0, span, ns);
	if (!ret && span->state != HOST_COUNTER_NO_STATE)
		ret = add(sums, HOST_COUNTER_IN_STATE, span->who, span->state, span, ns);
	if (!ret && span->state != HOST_COUNTER_NO_STATE)
		ret = add(sums, HOST_COUNTER_AFTER, span->who, span->after, span, ns);
	return ret;
}

int host_counter_sums_make(struct host_counter_sums *sums, struct host_counters *counters,
			   const struct kvm_trace *trace, const struct virt_model *model,
			   int64_t from_ns, int64_t to_ns)
{
	struct making making = {
		.sums = sums, .model = model, .from_ns = from_ns, .to_ns = to_ns,
	};

	*sums = (struct host_counter_sums){ .all = NULL };
	return host_counters_each(counters, trace, model, add_span, &making);
}

void host_counter_sums_free(struct host_counter_sums *sums)
{
	key_map_destroy(&sums->map);
	free(sums->all);
	*sums = (struct host_counter_sums){ .all = NULL };
}

const struct host_counter_sum *host_counter_sum_of(const struct host_counter_sums *sums,
						   enum host_counter_kind kind, uint32_t counter,
						   int32_t who, uint8_t sub)
{
	int64_t i = key_map_find(&sums->map, key_of(kind, counter, who, sub));

	return i < 0 ? NULL : &sums->all[i];
}

enum host_counter_share host_counter_share(const struct host_counter_sum *sum)
{
	return sum->no_times ? HOST_COUNTED_UNKNOWN :
	       sum->running_ns == sum->enabled_ns ? HOST_COUNTED_ALL :
	       sum->running_ns ? HOST_COUNTED_SOME : HOST_COUNTED_NONE;
}

double host_counter_estimate(const struct host_counter_sum *sum)
{
	return sum->running_ns == sum->enabled_ns ? (double)sum->value :
	       (double)sum->value * (double)sum->enabled_ns / (double)sum->running_ns;
}
