// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_tracker.c
 * @brief	From the records of a xentrace file to the vCPU model.
 *
 * Each vCPU is in one of the states of enum state; which record leads from which to which is in the
 * tables below, and nowhere else. See the rules in xen_tracker.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "u32_map.h"
#include "xen_tracker.h"

/** Nobody, when it is a vCPU; not known who. */
#define IDLE		(-1)
#define NOT_KNOWN	(-2)

/** Domains above are not real ones (DOMID_FIRST_RESERVED, xen/include/public/xen.h). */
#define FIRST_RESERVED	0x7ff0

/**
 * Times further away are cut to this: 73 years are a damaged TSC, and so the model may add and
 * subtract without a thought of overflow.
 */
#define FARTHEST_NS	(INT64_C(1) << 61)

/** What is known about a vCPU. */
enum state {
	UNKNOWN,
	OFFLINE,
	BLOCKED,
	WAKING,
	PREEMPTED,
	RUNNING,	/* on a pCPU; whether in the guest, a later record will tell */
	GUEST,
	HYPERVISOR,
	N_STATES
};

struct tracked_vcpu {
	int64_t		last_ns;	/* since when it is in this state */
	int32_t		index;		/* in the model */
	int32_t		domain;
	int32_t		reason;		/* of the last VM exit */
	uint32_t	run;		/* where it is, if it is on a pCPU */
	int16_t		pcpu;		/* where it is or was */
	uint8_t		state;
	bool		blocking;	/* TRC_SCHED_BLOCK came: it will be switched out for that */
	bool		sleeping;	/* TRC_SCHED_SLEEP */
};

struct tracked_domain {
	int32_t		machine;	/* in the model */
	bool		hvm;		/* has VM entries and exits */
	bool		created;	/* within the trace */
	bool		has_vcpus;
};

/** A VM entry or exit of a vCPU that a later record will name. */
struct early_crossing {
	int64_t		time_ns;
	int32_t		reason;
	uint8_t		crossing;
};

/** A run of a pCPU (struct xentrace_record, run). */
struct tracked_run {
	int64_t		first_ns;
	uint16_t	pcpu;
	struct early_crossing *early;	/* since then, while nobody is known to be there */
	size_t		n_early, room_early;
	bool		early_days;	/* nothing has been said yet of who is there */
	int32_t		current;	/* vCPU, IDLE or NOT_KNOWN */
	int32_t		preempted;	/* vCPU that was preempted right now, or NOT_KNOWN */
	int64_t		preempted_ns;
	bool		lost;
	bool		pending;	/* a switch that no runstate change has followed yet */
	xen_vcpu	prev, next;
	int64_t		switch_ns;
};

/** Records of one run are missing in [from_ns, to_ns]. */
struct loss {
	int64_t		from_ns, to_ns;
	uint64_t	records;
	uint32_t	run;
	int16_t		pcpu;
};

struct xen_tracker {
	struct xen_tracker_head	head;
	struct xen_trace	*trace;
	struct virt_model	*model;
	enum xen_isa		isa;
	struct tracked_run	*runs;
	uint32_t		n_runs;
	struct u32_map		vcpu_map;	/* xen_vcpu */
	struct tracked_vcpu	*vcpus;
	uint32_t		room_vcpus;
	struct u32_map		domain_map;	/* domid */
	struct tracked_domain	*domains;
	uint32_t		room_domains;
	struct u32_map		reason_map;	/* see reason_of() */
	int32_t			*reasons;
	uint32_t		room_reasons;
	struct loss		*losses;
	size_t			n_losses, room_losses;
	size_t			next_loss;	/* of the second walk */
	uint32_t		n_lost;		/* pCPUs whose records are missing now */
	int64_t			begin_ns;
	bool			begun;
	bool			replay;		/* the second walk: losses are known */
	bool			have_runstates;
	int			error;
};

/* --- the state machine ----------------------------------------------------------------------- */

/** A runstate change leads here; rows: from, columns: to; UNKNOWN: stays what it was. */
static const uint8_t after_change[4][4] = {
	/*			  running  runnable   blocked  offline */
	[XEN_RUNSTATE_RUNNING]	= { RUNNING, PREEMPTED, BLOCKED, OFFLINE },
	[XEN_RUNSTATE_RUNNABLE]	= { RUNNING, UNKNOWN,   BLOCKED, OFFLINE },
	[XEN_RUNSTATE_BLOCKED]	= { RUNNING, WAKING,    BLOCKED, OFFLINE },
	[XEN_RUNSTATE_OFFLINE]	= { RUNNING, WAKING,    BLOCKED, OFFLINE },
};

/** Runstates that a runstate change can rightly give as the old one. */
static const uint8_t agrees[N_STATES] = {
	[UNKNOWN]	= 0xff,
	[OFFLINE]	= 1 << XEN_RUNSTATE_OFFLINE,
	[BLOCKED]	= 1 << XEN_RUNSTATE_BLOCKED,
	[WAKING]	= 1 << XEN_RUNSTATE_RUNNABLE,
	[PREEMPTED]	= 1 << XEN_RUNSTATE_RUNNABLE,
	[RUNNING]	= 1 << XEN_RUNSTATE_RUNNING,
	[GUEST]		= 1 << XEN_RUNSTATE_RUNNING,
	[HYPERVISOR]	= 1 << XEN_RUNSTATE_RUNNING,
};

/** The old runstate where a record does not tell it. */
#define ANY_RUNSTATE	7

static const char twice[] = "a vCPU runs on two pCPUs";
static const char again[] = "a vCPU begins to run while running";
static const char crowded[] = "two vCPUs run on one pCPU";
static const char elsewhere[] = "a vCPU leaves a pCPU while running on another one";
static const char wrong_old[] = "a runstate change from another state";
static const char no_exit[] = "a vCPU leaves its pCPU from within the guest";
static const char entry_twice[] = "a VM entry after a VM entry";
static const char exit_twice[] = "a VM exit after a VM exit";

/** VM entry and exit: what a vCPU has been since it was put on its pCPU, and what it is now. */
enum crossing { ENTRY, EXIT };

static const struct {
	uint8_t		was;
	uint8_t		is;
	const char	*wrong;
} crossings[2][N_STATES] = {
	[ENTRY] = {
		[RUNNING]	= { HYPERVISOR, GUEST, NULL },
		[HYPERVISOR]	= { HYPERVISOR, GUEST, NULL },
		[GUEST]		= { GUEST, GUEST, entry_twice },
	},
	[EXIT] = {
		[RUNNING]	= { GUEST, HYPERVISOR, NULL },
		[GUEST]		= { GUEST, HYPERVISOR, NULL },
		[HYPERVISOR]	= { HYPERVISOR, HYPERVISOR, exit_twice },
	},
};

/** Requests of TRC_SCHED_VERBOSE, where no runstates are traced: the state that follows at once. */
enum request { WAKE, SLEEP, BLOCK, N_REQUESTS };

static const struct {
	bool		blocking, sleeping;	/* what a vCPU on its pCPU will do */
	uint8_t		is[N_STATES];		/* UNKNOWN: stays what it was */
} requests[N_REQUESTS] = {
	[WAKE]	= { false, false, { [OFFLINE] = WAKING, [BLOCKED] = WAKING } },
	[SLEEP]	= { false, true, { [WAKING] = OFFLINE, [PREEMPTED] = OFFLINE } },
	[BLOCK]	= { true, false, { 0 } },
};

static const enum virt_state virt_states[N_STATES] = {
	[UNKNOWN]	= VIRT_UNKNOWN,
	[OFFLINE]	= VIRT_OFFLINE,
	[BLOCKED]	= VIRT_BLOCKED,
	[WAKING]	= VIRT_WAKING,
	[PREEMPTED]	= VIRT_PREEMPTED,
	[RUNNING]	= VIRT_UNKNOWN,
	[GUEST]		= VIRT_GUEST,
	[HYPERVISOR]	= VIRT_HYPERVISOR,
};

static int64_t cut_time(int64_t time_ns)
{
	if (time_ns > FARTHEST_NS)
		return FARTHEST_NS;
	return time_ns < -FARTHEST_NS ? -FARTHEST_NS : time_ns;
}

static bool on_pcpu(const struct tracked_vcpu *v)
{
	return v->state >= RUNNING;
}

static void fail(struct xen_tracker *tracker, int ret)
{
	if (ret < 0 && ret != -EINVAL && !tracker->error)
		tracker->error = ret;
}

static void contradiction(struct xen_tracker *tracker, const char *what)
{
	virt_model_contradiction(tracker->model, what);
}

static void model_set(struct xen_tracker *tracker, const struct tracked_vcpu *v, int64_t time_ns,
		      enum state state, int32_t detail, uint8_t flags)
{
	fail(tracker, virt_model_set(tracker->model, v->index, time_ns, virt_states[state],
				     v->pcpu, detail, flags));
}

/** A vCPU that was on its pCPU: now it is known in which of the two states. */
static void resolve(struct xen_tracker *tracker, struct tracked_vcpu *v, enum state was)
{
	if (v->state != RUNNING)
		return;
	model_set(tracker, v, v->last_ns, was, VIRT_NONE, 0);
	v->state = (uint8_t)was;
}

static void enter_state(struct xen_tracker *tracker, struct tracked_vcpu *v, int64_t time_ns,
			enum state state, int32_t detail, uint8_t flags)
{
	/* a switch may be told later than what another pCPU has recorded since */
	if (time_ns < v->last_ns)
		time_ns = v->last_ns;
	v->last_ns = time_ns;
	v->state = (uint8_t)state;
	/* RUNNING is no state of the model: resolve() will say what it was */
	if (state != RUNNING)
		model_set(tracker, v, time_ns, state, detail, flags);
}

/** Where a vCPU has been since it was put on its pCPU, if no VM entry or exit has told. */
static enum state inside(const struct xen_tracker *tracker, const struct tracked_vcpu *v)
{
	return tracker->domains[v->domain].hvm ? HYPERVISOR : GUEST;
}

static void occupy(struct xen_tracker *tracker, uint32_t run, int64_t time_ns, int32_t who)
{
	tracker->runs[run].current = who;
	fail(tracker, virt_model_occupy(tracker->model, (int16_t)tracker->runs[run].pcpu, time_ns,
					who >= 0 ? tracker->vcpus[who].index : VIRT_NONE,
					who != NOT_KNOWN));
}

/** Not on its pCPU any more, but nothing tells why. */
static void lose(struct xen_tracker *tracker, struct tracked_vcpu *v, int64_t time_ns)
{
	resolve(tracker, v, inside(tracker, v));
	v->reason = VIRT_NONE;
	enter_state(tracker, v, time_ns, UNKNOWN, VIRT_NONE, 0);
}

/** Somebody is on a pCPU who cannot be there. */
static void evict(struct xen_tracker *tracker, uint32_t run, int32_t who, int64_t time_ns)
{
	int32_t current = tracker->runs[run].current;

	if (current < 0 || current == who)
		return;
	contradiction(tracker, crowded);
	lose(tracker, &tracker->vcpus[current], time_ns);
}

/** It is known now who took the pCPU from the vCPU that was preempted on it. */
static void blame(struct xen_tracker *tracker, struct tracked_run *run, int32_t culprit)
{
	struct tracked_vcpu *v;

	if (run->preempted < 0)
		return;
	v = &tracker->vcpus[run->preempted];
	if (v->state == PREEMPTED && v->last_ns == run->preempted_ns && culprit != run->preempted)
		model_set(tracker, v, v->last_ns, PREEMPTED, tracker->vcpus[culprit].index, 0);
	run->preempted = NOT_KNOWN;
}

/**
 * put_on - a vCPU is on a pCPU from now on
 * @certain: it is in the hypervisor, being scheduled; else it was found there after a loss
 */
static void put_on(struct xen_tracker *tracker, uint32_t run, int64_t time_ns, int32_t who,
		   unsigned int old, bool certain)
{
	struct tracked_vcpu *v = &tracker->vcpus[who];

	if (on_pcpu(v) && v->run == run) {
		if (!(agrees[v->state] & 1 << old) && old != ANY_RUNSTATE)
			contradiction(tracker, again);
		return;
	}
	if (on_pcpu(v)) {
		contradiction(tracker, twice);
		resolve(tracker, v, inside(tracker, v));
		occupy(tracker, v->run, time_ns, NOT_KNOWN);
	} else if (old != ANY_RUNSTATE && !(agrees[v->state] & 1 << old)) {
		contradiction(tracker, wrong_old);
	}
	evict(tracker, run, who, time_ns);
	v->run = run;
	v->pcpu = (int16_t)tracker->runs[run].pcpu;
	v->blocking = v->sleeping = false;
	enter_state(tracker, v, time_ns,
		    certain && tracker->domains[v->domain].hvm ? HYPERVISOR : RUNNING,
		    v->reason, 0);
	occupy(tracker, run, time_ns, who);
	blame(tracker, &tracker->runs[run], who);
}

/** A vCPU leaves a pCPU. */
static void take_off(struct xen_tracker *tracker, uint32_t index, int64_t time_ns, int32_t who,
		     enum state next, unsigned int old)
{
	struct tracked_vcpu *v = &tracker->vcpus[who];
	struct tracked_run *run = &tracker->runs[index];

	if (on_pcpu(v) && v->run != index) {
		contradiction(tracker, elsewhere);
		return;
	}
	if (old != ANY_RUNSTATE && !(agrees[v->state] & 1 << old))
		contradiction(tracker, wrong_old);
	if (v->state == GUEST && tracker->domains[v->domain].hvm)
		contradiction(tracker, no_exit);
	evict(tracker, index, who, time_ns);
	resolve(tracker, v, inside(tracker, v));
	v->pcpu = (int16_t)run->pcpu;
	v->blocking = v->sleeping = false;
	enter_state(tracker, v, time_ns, tracker->n_lost ? UNKNOWN : next, VIRT_NONE, 0);
	occupy(tracker, index, time_ns, IDLE);
	run->preempted = next == PREEMPTED ? who : NOT_KNOWN;
	run->preempted_ns = v->last_ns;
}

/** A change between two states off the pCPU. */
static void change_off(struct xen_tracker *tracker, int64_t time_ns, int32_t who, enum state next,
		       unsigned int old)
{
	struct tracked_vcpu *v = &tracker->vcpus[who];

	if (!(agrees[v->state] & 1 << old)) {
		contradiction(tracker, wrong_old);
		if (on_pcpu(v))
			return;
	}
	if (tracker->n_lost)
		next = UNKNOWN;
	else if (next == UNKNOWN)
		return;
	enter_state(tracker, v, time_ns, next, VIRT_NONE, 0);
}

static void cross(struct xen_tracker *tracker, int32_t who, int64_t time_ns, enum crossing crossing,
		  int32_t reason)
{
	struct tracked_vcpu *v = &tracker->vcpus[who];
	enum state is = crossings[crossing][v->state].is;

	tracker->domains[v->domain].hvm = true;
	if (crossings[crossing][v->state].wrong)
		contradiction(tracker, crossings[crossing][v->state].wrong);
	resolve(tracker, v, crossings[crossing][v->state].was);
	v->reason = reason;
	enter_state(tracker, v, time_ns, is, reason, crossing == EXIT ? VIRT_INTERVAL_EXIT : 0);
}

/** Nothing more can be said of what happened on a pCPU before anybody was known to be there. */
static void end_early_days(struct tracked_run *run)
{
	free(run->early);
	run->early = NULL;
	run->n_early = run->room_early = 0;
	run->early_days = false;
}

/**
 * was_here - the first record that tells who is on a pCPU: it has been there all the time
 * @who: vCPU or IDLE
 */
static void was_here(struct xen_tracker *tracker, uint32_t index, int32_t who)
{
	struct tracked_run *run = &tracker->runs[index];
	struct tracked_vcpu *v = who >= 0 ? &tracker->vcpus[who] : NULL;

	if (!run->early_days || run->current != NOT_KNOWN)
		return;
	if (!v) {
		occupy(tracker, index, run->first_ns, IDLE);
	} else if (v->state == UNKNOWN && v->last_ns <= run->first_ns) {
		put_on(tracker, index, run->first_ns, who, ANY_RUNSTATE, false);
		for (size_t i = 0; i < run->n_early; i++)
			cross(tracker, who, run->early[i].time_ns,
			      (enum crossing)run->early[i].crossing, run->early[i].reason);
	}
	end_early_days(run);
}

/* --- who and what ---------------------------------------------------------------------------- */

/** Room for one more element. Return: 0 or -ENOMEM. */
static int make_room(void *array, uint32_t *room, size_t n, size_t element)
{
	uint32_t more = *room ? 2 * *room : 16;
	void *grown;

	if (n < *room)
		return 0;
	memcpy(&grown, array, sizeof(grown));
	grown = realloc(grown, more * element);
	if (!grown)
		return -ENOMEM;
	memcpy(array, &grown, sizeof(grown));
	*room = more;
	return 0;
}

/** A domain by its number. Return: index or -ENOMEM. */
static int32_t domain_of(struct xen_tracker *tracker, uint32_t domid)
{
	const char *meta = xen_meta_domain_name(xen_trace_meta(tracker->trace), domid);
	uint32_t known = tracker->domain_map.n_keys;
	int64_t n = u32_map_add(&tracker->domain_map, domid);
	struct tracked_domain *domain;
	char name[128];

	if (n < 0 || n < known)
		return (int32_t)n;
	if (make_room(&tracker->domains, &tracker->room_domains, n, sizeof(*tracker->domains)))
		return -ENOMEM;
	if (domid == XEN_TRACKER_ANONYMOUS)
		snprintf(name, sizeof(name), "d?");
	else
		snprintf(name, sizeof(name), "d%u%s%s", domid, meta ? ":" : "", meta ? meta : "");
	domain = &tracker->domains[n];
	memset(domain, 0, sizeof(*domain));
	domain->machine = virt_model_add_machine(tracker->model, (int32_t)domid, name);
	return domain->machine < 0 ? domain->machine : (int32_t)n;
}

/** A vCPU by its name. Return: index, or -ENOMEM (kept as the tracker's error, too). */
static int32_t vcpu_of(struct xen_tracker *tracker, xen_vcpu vcpu)
{
	uint32_t domid = xen_vcpu_domid(vcpu), id = xen_vcpu_id(vcpu);
	uint32_t known = tracker->vcpu_map.n_keys;
	int64_t n = u32_map_add(&tracker->vcpu_map, vcpu);
	const struct xen_meta_domain *meta;
	struct tracked_vcpu *v;
	int32_t domain;
	char name[32];

	if (n >= 0 && n < known)
		return (int32_t)n;
	domain = n < 0 ? -ENOMEM : domain_of(tracker, domid);
	if (domain < 0 ||
	    make_room(&tracker->vcpus, &tracker->room_vcpus, n, sizeof(*tracker->vcpus))) {
		fail(tracker, -ENOMEM);
		return -ENOMEM;
	}
	if (domid == XEN_TRACKER_ANONYMOUS)
		snprintf(name, sizeof(name), "d?p%u", id);
	else
		snprintf(name, sizeof(name), "d%uv%u", domid, id);
	v = &tracker->vcpus[n];
	*v = (struct tracked_vcpu){ .domain = domain, .last_ns = tracker->begin_ns,
				    .reason = VIRT_NONE, .pcpu = VIRT_NONE };
	v->index = virt_model_add_vcpu(tracker->model, tracker->domains[domain].machine,
				       (int32_t)id, xen_vcpu_tid(vcpu), name);
	if (v->index < 0) {
		fail(tracker, v->index);
		return v->index;
	}
	meta = xen_meta_domain(xen_trace_meta(tracker->trace), domid);
	if (meta && meta->tsc_scale > 0)
		virt_model_set_tsc(tracker->model, v->index, meta->tsc_scale, meta->tsc_offset);
	tracker->domains[domain].has_vcpus = true;
	if (tracker->domains[domain].created)
		enter_state(tracker, v, tracker->begin_ns, OFFLINE, VIRT_NONE, 0);
	return (int32_t)n;
}

/** Can there be such a vCPU? Damaged files name others. */
static bool believable(xen_vcpu vcpu)
{
	return xen_vcpu_id(vcpu) <= XEN_MAX_VCPU && xen_vcpu_domid(vcpu) < FIRST_RESERVED;
}

static xen_vcpu make_vcpu(uint32_t domid, uint32_t id)
{
	return domid > XEN_DOMID_IDLE || id > XEN_MAX_VCPU ? XEN_VCPU_UNKNOWN : domid << 16 | id;
}

/** The exit reason of a VM exit as an index of the model. */
static int32_t reason_of(struct xen_tracker *tracker, const struct xentrace_record *rec)
{
	uint32_t code = xentrace_word(rec, 0);
	bool nested = rec->event & 0x400;
	bool svm = nested || (rec->event & 0xf) == 3 || tracker->isa == XEN_ISA_SVM;
	uint32_t known = tracker->reason_map.n_keys;
	char number[32], name[64];
	const char *text;
	int64_t n;

	if (!rec->n_words)
		return VIRT_NONE;
	if (!svm)
		code &= 0xffff;
	n = u32_map_add(&tracker->reason_map, (code & 0x3fffffff) | (uint32_t)svm << 30 |
			(uint32_t)nested << 31);
	if (n >= 0 && n < known)
		return tracker->reasons[n];
	if (n < 0 || make_room(&tracker->reasons, &tracker->room_reasons, n,
			       sizeof(*tracker->reasons))) {
		fail(tracker, -ENOMEM);
		return VIRT_NONE;
	}
	text = svm ? xen_svm_exit_name(code == UINT32_MAX ? UINT64_MAX : code) :
		     xen_vmx_exit_name(code);
	snprintf(number, sizeof(number), "0x%x", code);
	snprintf(name, sizeof(name), "%s%s", nested ? "L2:" : "", text ? text : number);
	tracker->reasons[n] = virt_model_add_reason(tracker->model, name);
	fail(tracker, tracker->reasons[n]);
	return tracker->reasons[n];
}

/* --- records --------------------------------------------------------------------------------- */

/** A pCPU is idle now; what was on it before has left without a word. */
static void put_idle(struct xen_tracker *tracker, uint32_t run, int64_t time_ns)
{
	end_early_days(&tracker->runs[run]);
	evict(tracker, run, IDLE, time_ns);
	if (tracker->runs[run].current != IDLE)
		occupy(tracker, run, time_ns, IDLE);
	tracker->runs[run].preempted = NOT_KNOWN;
}

static void on_runstate(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	enum xen_runstate old = xen_runstate_old(row->rec.event);
	enum xen_runstate new = xen_runstate_new(row->rec.event);
	xen_vcpu vcpu = xentrace_word(&row->rec, 0);
	enum state next = after_change[old][new];
	int32_t who;

	tracker->have_runstates = true;
	if (!row->rec.n_words)
		return;
	if (xen_vcpu_is_idle(vcpu)) {
		if (old == XEN_RUNSTATE_RUNNING)
			was_here(tracker, row->rec.run, IDLE);
		if (new == XEN_RUNSTATE_RUNNING || old == XEN_RUNSTATE_RUNNING)
			put_idle(tracker, row->rec.run, row->time_ns);
		return;
	}
	if (!believable(vcpu))
		return;
	who = vcpu_of(tracker, vcpu);
	if (who < 0)
		return;
	if (old == XEN_RUNSTATE_RUNNING)
		was_here(tracker, row->rec.run, who);
	if (new == XEN_RUNSTATE_RUNNING)
		put_on(tracker, row->rec.run, row->time_ns, who, old, true);
	else if (old == XEN_RUNSTATE_RUNNING)
		take_off(tracker, row->rec.run, row->time_ns, who, next, old);
	else
		change_off(tracker, row->time_ns, who, next, old);
}

static void on_continue(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	xen_vcpu vcpu = xentrace_word(&row->rec, 0);
	int32_t who;

	if (!row->rec.n_words)
		return;
	if (xen_vcpu_is_idle(vcpu)) {
		was_here(tracker, row->rec.run, IDLE);
		put_idle(tracker, row->rec.run, row->time_ns);
		return;
	}
	who = believable(vcpu) ? vcpu_of(tracker, vcpu) : -1;
	if (who < 0)
		return;
	was_here(tracker, row->rec.run, who);
	put_on(tracker, row->rec.run, row->time_ns, who, XEN_RUNSTATE_RUNNING, true);
}

/** What a switch tells; the record after it is no runstate change, which would have told more. */
static void end_switch(struct xen_tracker *tracker, uint32_t index)
{
	struct tracked_run *run = &tracker->runs[index];
	enum state next;
	int32_t who;

	run->pending = false;
	tracker->head.n_pending--;
	if (run->prev != XEN_VCPU_UNKNOWN && xen_vcpu_is_idle(run->prev))
		was_here(tracker, index, IDLE);
	if (run->prev != XEN_VCPU_UNKNOWN && believable(run->prev)) {
		who = vcpu_of(tracker, run->prev);
		if (who < 0)
			return;
		was_here(tracker, index, who);
		next = tracker->vcpus[who].blocking ? BLOCKED :
		       tracker->vcpus[who].sleeping ? OFFLINE : PREEMPTED;
		take_off(tracker, index, run->switch_ns, who, next, ANY_RUNSTATE);
	}
	if (run->next != XEN_VCPU_UNKNOWN && xen_vcpu_is_idle(run->next)) {
		put_idle(tracker, index, run->switch_ns);
	} else if (run->next != XEN_VCPU_UNKNOWN && believable(run->next)) {
		who = vcpu_of(tracker, run->next);
		if (who >= 0)
			put_on(tracker, index, run->switch_ns, who, ANY_RUNSTATE, true);
	}
}

/** Another pCPU's record is about a vCPU that waits to be switched out or in. */
static void end_switches_of(struct xen_tracker *tracker, xen_vcpu vcpu)
{
	for (uint32_t i = 0; tracker->head.n_pending && i < tracker->n_runs; i++) {
		const struct tracked_run *run = &tracker->runs[i];

		if (run->pending && (run->prev == vcpu || run->next == vcpu))
			end_switch(tracker, i);
	}
}

static void on_switch(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	struct tracked_run *run = &tracker->runs[row->rec.run];

	if (tracker->have_runstates || row->rec.n_words < 4)
		return;
	run->prev = make_vcpu(xentrace_word(&row->rec, 0), xentrace_word(&row->rec, 1));
	run->next = make_vcpu(xentrace_word(&row->rec, 2), xentrace_word(&row->rec, 3));
	end_switches_of(tracker, run->prev);
	end_switches_of(tracker, run->next);
	run->switch_ns = row->time_ns;
	run->pending = true;
	tracker->head.n_pending++;
}

static void on_request(struct xen_tracker *tracker, const struct xen_trace_row *row,
		       enum request request)
{
	xen_vcpu vcpu = make_vcpu(xentrace_word(&row->rec, 0), xentrace_word(&row->rec, 1));
	struct tracked_vcpu *v;
	enum state next;
	int32_t who;

	if (tracker->have_runstates || row->rec.n_words < 2 || !believable(vcpu))
		return;
	end_switches_of(tracker, vcpu);
	who = vcpu_of(tracker, vcpu);
	if (who < 0)
		return;
	v = &tracker->vcpus[who];
	v->blocking = requests[request].blocking;
	v->sleeping = requests[request].sleeping;
	next = requests[request].is[v->state];
	if (next != UNKNOWN && !tracker->n_lost)
		enter_state(tracker, v, row->time_ns, next, VIRT_NONE, 0);
}

static void on_crossing(struct xen_tracker *tracker, const struct xen_trace_row *row,
			enum crossing crossing)
{
	struct tracked_run *run = &tracker->runs[row->rec.run];
	int32_t reason = crossing == EXIT ? reason_of(tracker, &row->rec) : VIRT_NONE;

	if (run->current >= 0) {
		cross(tracker, run->current, row->time_ns, crossing, reason);
		return;
	}
	if (!run->early_days)
		return;
	if (run->n_early == run->room_early) {
		size_t room = run->room_early ? 2 * run->room_early : 16;
		struct early_crossing *grown = realloc(run->early, room * sizeof(*grown));

		if (!grown) {
			fail(tracker, -ENOMEM);
			return;
		}
		run->early = grown;
		run->room_early = room;
	}
	run->early[run->n_early++] = (struct early_crossing){
		.time_ns = row->time_ns, .reason = reason, .crossing = (uint8_t)crossing
	};
}

static void on_domain(struct xen_tracker *tracker, const struct xen_trace_row *row, bool created)
{
	uint32_t domid = xentrace_word(&row->rec, 0);
	int32_t domain;

	if (!row->rec.n_words || domid >= FIRST_RESERVED)
		return;
	domain = domain_of(tracker, domid);
	if (domain < 0) {
		fail(tracker, domain);
		return;
	}
	if (created) {
		tracker->domains[domain].created |= !tracker->domains[domain].has_vcpus;
		return;
	}
	for (uint32_t i = 0; i < tracker->vcpu_map.n_keys; i++) {
		struct tracked_vcpu *v = &tracker->vcpus[i];

		if (v->domain == domain && !on_pcpu(v))
			enter_state(tracker, v, row->time_ns, OFFLINE, VIRT_NONE, 0);
	}
}

/** The record after a switch. */
static void after_switch(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	if (!xen_event_is_runstate_change(row->rec.event)) {
		end_switch(tracker, row->rec.run);
		return;
	}
	tracker->runs[row->rec.run].pending = false;
	tracker->head.n_pending--;
}

/** What xen_tracker_wants() lets through, by event. */
static void on_record(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	uint32_t event = row->rec.event;

	if (xen_event_is_runstate_change(event)) {
		on_runstate(tracker, row);
		return;
	}
	switch (event) {
	case XEN_TRC_SCHED_CONTINUE_RUNNING:
		on_continue(tracker, row);
		break;
	case XEN_TRC_SCHED_SWITCH:
		on_switch(tracker, row);
		break;
	case XEN_TRC_SCHED_WAKE:
		on_request(tracker, row, WAKE);
		break;
	case XEN_TRC_SCHED_SLEEP:
		on_request(tracker, row, SLEEP);
		break;
	case XEN_TRC_SCHED_BLOCK:
		on_request(tracker, row, BLOCK);
		break;
	case XEN_TRC_SCHED_DOM_ADD:
	case XEN_TRC_DOM0_DOM_ADD:
		on_domain(tracker, row, true);
		break;
	case XEN_TRC_SCHED_DOM_REM:
	case XEN_TRC_DOM0_DOM_REM:
		on_domain(tracker, row, false);
		break;
	case XEN_TRC_HVM_VMENTRY:
	case XEN_TRC_HVM_NESTED_VMENTRY:
		on_crossing(tracker, row, ENTRY);
		break;
	case XEN_TRC_HVM_VMX_EXIT:
	case XEN_TRC_HVM_SVM_EXIT:
	case XEN_TRC_HVM_VMX_EXIT64:
	case XEN_TRC_HVM_SVM_EXIT64:
	case XEN_TRC_HVM_NESTED_VMEXIT:
	case XEN_TRC_HVM_NESTED_SVM_EXIT:
	case XEN_TRC_HVM_NESTED_VMEXIT64:
	case XEN_TRC_HVM_NESTED_SVM_EXIT64:
		on_crossing(tracker, row, EXIT);
		break;
	}
}

/* --- losses ---------------------------------------------------------------------------------- */

static bool is_loss(const struct xen_trace_row *row)
{
	return row->rec.event == XEN_TRC_LOST_RECORDS || row->rec.flags & XENTRACE_AFTER_GAP;
}

/** The first TSC that a lost-records record tells, as a time. */
static int64_t first_lost_ns(const struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	uint64_t tsc = (uint64_t)xentrace_word(&row->rec, 3) << 32 | xentrace_word(&row->rec, 2);
	struct xentrace_record raw;

	/* a correction of the pCPU's TSC holds for the payload too */
	if (!xentrace_read_at(xen_trace_reader(tracker->trace), row->rec.offset, &raw))
		tsc += row->rec.tsc - raw.tsc;
	return cut_time(xen_clock_ns(xen_trace_clock(tracker->trace), tsc));
}

/** First walk: note a loss, which becomes known only when it is over. */
static void note_loss(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	int64_t last_ns = cut_time(tracker->head.last_ns[row->rec.run]);
	struct loss *loss;

	if (tracker->n_losses == tracker->room_losses) {
		size_t room = tracker->room_losses ? 2 * tracker->room_losses : 64;
		struct loss *grown = realloc(tracker->losses, room * sizeof(*grown));

		if (!grown) {
			fail(tracker, -ENOMEM);
			return;
		}
		tracker->losses = grown;
		tracker->room_losses = room;
	}
	loss = &tracker->losses[tracker->n_losses++];
	*loss = (struct loss){ .run = row->rec.run, .pcpu = (int16_t)row->rec.pcpu,
			       .from_ns = last_ns, .to_ns = row->time_ns };
	if (row->rec.event == XEN_TRC_LOST_RECORDS && row->rec.n_words >= 4) {
		loss->records = xentrace_word(&row->rec, 0);
		/* bytes that are missing, too, reach back to the last record */
		if (!(row->rec.flags & XENTRACE_AFTER_GAP))
			loss->from_ns = first_lost_ns(tracker, row);
	}
	if (loss->from_ns < last_ns)
		loss->from_ns = last_ns;
	if (loss->from_ns < tracker->begin_ns)
		loss->from_ns = tracker->begin_ns;
	if (loss->from_ns > loss->to_ns)
		loss->from_ns = loss->to_ns;
}

static void begin_loss(struct xen_tracker *tracker, const struct loss *loss)
{
	struct tracked_run *run = &tracker->runs[loss->run];
	struct virt_loss lost = {
		.from_ns = loss->from_ns,
		.to_ns = loss->to_ns,
		.records = loss->records,
		.pcpu = loss->pcpu,
	};

	fail(tracker, virt_model_add_loss(tracker->model, &lost));
	if (!run->lost)
		tracker->n_lost++;
	run->lost = true;
	run->pcpu = (uint16_t)loss->pcpu;
	end_early_days(run);
	run->preempted = NOT_KNOWN;
	if (run->pending)
		tracker->head.n_pending--;
	run->pending = false;
	if (run->current >= 0)
		lose(tracker, &tracker->vcpus[run->current], loss->from_ns);
	occupy(tracker, loss->run, loss->from_ns, NOT_KNOWN);
	for (uint32_t i = 0; i < tracker->vcpu_map.n_keys; i++) {
		struct tracked_vcpu *v = &tracker->vcpus[i];

		if (!on_pcpu(v) && v->state != UNKNOWN)
			lose(tracker, v, loss->from_ns);
	}
}

/** All losses that have begun by now. */
static void begin_losses(struct xen_tracker *tracker, int64_t time_ns, bool inclusive)
{
	while (tracker->next_loss < tracker->n_losses) {
		const struct loss *loss = &tracker->losses[tracker->next_loss];

		if (loss->from_ns > time_ns || (loss->from_ns == time_ns && !inclusive))
			return;
		begin_loss(tracker, loss);
		tracker->next_loss++;
	}
}

/** The first record after a loss; TRC_LOST_RECORDS tells who is running now. */
static void end_loss(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	struct tracked_run *run = &tracker->runs[row->rec.run];
	uint32_t did_vid = xentrace_word(&row->rec, 1);
	xen_vcpu vcpu = (did_vid & 0xffff) << 16 | did_vid >> 16;
	int32_t who;

	if (run->lost)
		tracker->n_lost--;
	run->lost = false;
	end_early_days(run);
	if (row->rec.event != XEN_TRC_LOST_RECORDS || row->rec.n_words < 2)
		return;
	if (xen_vcpu_is_idle(vcpu)) {
		put_idle(tracker, row->rec.run, row->time_ns);
	} else if (believable(vcpu)) {
		who = vcpu_of(tracker, vcpu);
		if (who >= 0)
			put_on(tracker, row->rec.run, row->time_ns, who, ANY_RUNSTATE, false);
	}
}

static int compare_losses(const void *a, const void *b)
{
	const struct loss *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* --- the walk -------------------------------------------------------------------------------- */

int xen_tracker_change(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	uint32_t event = row->rec.event;
	struct xen_trace_row cut;

	if (cut_time(row->time_ns) != row->time_ns) {
		cut = *row;
		cut.time_ns = cut_time(row->time_ns);
		row = &cut;
	}
	if (!tracker->begun) {
		tracker->begin_ns = row->time_ns;
		tracker->begun = true;
	}
	if (tracker->head.last_ns[row->rec.run] == INT64_MIN) {
		tracker->runs[row->rec.run].first_ns = row->time_ns;
		tracker->runs[row->rec.run].pcpu = row->rec.pcpu;
		tracker->runs[row->rec.run].early_days = true;
	}
	if (!tracker->replay) {
		if (is_loss(row))
			note_loss(tracker, row);
		/* all that was done until the first loss will be done anew */
		if (tracker->n_losses)
			return tracker->error;
	} else {
		begin_losses(tracker, row->time_ns, is_loss(row));
		if (is_loss(row))
			end_loss(tracker, row);
	}
	if (tracker->runs[row->rec.run].pending)
		after_switch(tracker, row);
	if (xen_tracker_wants(event))
		on_record(tracker, row);
	return tracker->error;
}

/** Forget everything but the losses. Return: 0 or -ENOMEM. */
static int start_over(struct xen_tracker *tracker)
{
	virt_model_free(tracker->model);
	tracker->model = virt_model_new();
	u32_map_destroy(&tracker->vcpu_map);
	u32_map_destroy(&tracker->domain_map);
	u32_map_destroy(&tracker->reason_map);
	memset(&tracker->vcpu_map, 0, sizeof(tracker->vcpu_map));
	memset(&tracker->domain_map, 0, sizeof(tracker->domain_map));
	memset(&tracker->reason_map, 0, sizeof(tracker->reason_map));
	tracker->head.n_pending = 0;
	tracker->begun = false;
	tracker->have_runstates = false;
	for (uint32_t i = 0; i < tracker->n_runs; i++) {
		tracker->head.last_ns[i] = INT64_MIN;
		end_early_days(&tracker->runs[i]);
		tracker->runs[i] = (struct tracked_run){ .current = NOT_KNOWN,
							 .preempted = NOT_KNOWN };
	}
	return tracker->model ? 0 : -ENOMEM;
}

struct xen_tracker *xen_tracker_new(struct xen_trace *trace)
{
	struct xen_tracker *tracker = calloc(1, sizeof(*tracker));

	if (!tracker)
		return NULL;
	tracker->trace = trace;
	tracker->isa = xen_trace_isa(trace);
	tracker->n_runs = xentrace_n_runs(xen_trace_reader(trace));
	tracker->head.last_ns = calloc(tracker->n_runs + 1, sizeof(*tracker->head.last_ns));
	tracker->runs = calloc(tracker->n_runs + 1, sizeof(*tracker->runs));
	if (!tracker->head.last_ns || !tracker->runs || start_over(tracker)) {
		xen_tracker_free(tracker);
		return NULL;
	}
	return tracker;
}

void xen_tracker_free(struct xen_tracker *tracker)
{
	if (!tracker)
		return;
	virt_model_free(tracker->model);
	u32_map_destroy(&tracker->vcpu_map);
	u32_map_destroy(&tracker->domain_map);
	u32_map_destroy(&tracker->reason_map);
	free(tracker->vcpus);
	free(tracker->domains);
	free(tracker->reasons);
	free(tracker->losses);
	for (uint32_t i = 0; i < tracker->n_runs && tracker->runs; i++)
		end_early_days(&tracker->runs[i]);
	free(tracker->runs);
	free(tracker->head.last_ns);
	free(tracker);
}

static int walk(struct xen_tracker *tracker)
{
	struct xen_trace_iter *iter = xen_trace_iter_new(tracker->trace);
	struct xen_trace_row row;
	int ret = iter ? 0 : -ENOMEM;

	while (!ret && xen_trace_iter_next(iter, &row))
		ret = xen_tracker_add(tracker, &row);
	xen_trace_iter_free(iter);
	return ret;
}

/** VM entries and exits on pCPUs of which nothing has told to the end who was there. */
static void name_the_nameless(struct xen_tracker *tracker)
{
	for (uint32_t i = 0; i < tracker->n_runs; i++) {
		const struct tracked_run *run = &tracker->runs[i];
		int32_t who;

		if (!run->early_days || !run->n_early)
			continue;
		who = vcpu_of(tracker, (xen_vcpu)XEN_TRACKER_ANONYMOUS << 16 | run->pcpu);
		if (who >= 0)
			was_here(tracker, i, who);
	}
}

/** What is still open at the end of the trace. */
static void close_vcpus(struct xen_tracker *tracker)
{
	for (uint32_t i = 0; i < tracker->vcpu_map.n_keys; i++) {
		struct tracked_vcpu *v = &tracker->vcpus[i];

		/* without an entry or exit until the end, either is possible in an HVM domain */
		resolve(tracker, v, tracker->domains[v->domain].hvm ? UNKNOWN : GUEST);
	}
}

int xen_tracker_finish(struct xen_tracker *tracker, struct virt_model **model)
{
	int64_t end_ns = INT64_MIN;
	int ret = tracker->error;

	if (!ret && tracker->n_losses) {
		qsort(tracker->losses, tracker->n_losses, sizeof(*tracker->losses),
		      compare_losses);
		tracker->replay = true;
		ret = start_over(tracker);
		if (!ret)
			ret = walk(tracker);
	}
	if (ret)
		return ret;
	for (uint32_t i = 0; tracker->head.n_pending && i < tracker->n_runs; i++) {
		if (tracker->runs[i].pending)
			end_switch(tracker, i);
	}
	name_the_nameless(tracker);
	close_vcpus(tracker);
	for (uint32_t i = 0; i < tracker->n_runs; i++) {
		if (tracker->head.last_ns[i] > end_ns)
			end_ns = tracker->head.last_ns[i];
	}
	/* the last record lies within the trace */
	end_ns = tracker->begun ? cut_time(end_ns) + 1 : 0;
	ret = tracker->error;
	if (!ret)
		ret = virt_model_finish(tracker->model, tracker->begin_ns, end_ns);
	if (ret)
		return ret;
	*model = tracker->model;
	tracker->model = NULL;
	return 0;
}

int xen_tracker_build(struct xen_trace *trace, struct virt_model **model)
{
	struct xen_tracker *tracker = xen_tracker_new(trace);
	int ret = tracker ? walk(tracker) : -ENOMEM;

	if (!ret)
		ret = xen_tracker_finish(tracker, model);
	xen_tracker_free(tracker);
	return ret;
}
