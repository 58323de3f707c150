// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_cores.c
 * @brief	Core scheduling: find the pCPUs of a core, of which one records the switches of all.
 */
#include <errno.h>
#include <stdlib.h>

#include "key_map.h"
#include "xen_cores.h"
#include "xen_running.h"
#include "xentrace_facts.h"

/**
 * One change of another pCPU's idle vCPU may be damage. It counts if there is another one, or if
 * both pCPUs have recorded fewer changes of idle vCPUs than this.
 */
#define FEW_CHANGES	4

/** A core with more pCPUs is damage. */
#define MAX_PCPUS	1024

/** What the records show of a pCPU. */
struct seen_pcpu {
	uint32_t	first_id;	/* number of the vCPU that was seen there first */
	uint32_t	step;		/* divides the distance of all others from it; 0: none */
	uint32_t	changes;	/* of idle vCPUs that it has recorded */
	uint32_t	most;		/* vCPUs that it has replaced at once */
	bool		has_id;
};

/** The changes that a run records together. */
struct burst {
	bool		has_out;	/* the record before took a vCPU off its pCPU: */
	xen_vcpu	out;
	uint32_t	n;		/* vCPUs replaced */
	uint64_t	in;		/* hashes of the vCPUs that were put on a pCPU */
};

struct xen_cores_learn {
	struct key_map		pcpu_map;	/* pCPU */
	struct seen_pcpu	*pcpus;
	size_t			room_pcpus;
	struct key_map		pair_map;	/* pCPU that records << 16 | whose idle vCPU */
	uint32_t		*times;
	size_t			room_times;
	struct burst		*bursts;	/* by run */
	size_t			n_bursts;
};

struct xen_cores_learn *xen_cores_learn_new(void)
{
	return calloc(1, sizeof(struct xen_cores_learn));
}

void xen_cores_learn_free(struct xen_cores_learn *learn)
{
	if (!learn)
		return;
	key_map_destroy(&learn->pcpu_map);
	key_map_destroy(&learn->pair_map);
	free(learn->pcpus);
	free(learn->times);
	free(learn->bursts);
	free(learn);
}

static struct seen_pcpu *seen(struct xen_cores_learn *learn, uint32_t pcpu)
{
	int64_t i = KEY_MAP_ELEMENT(&learn->pcpu_map, pcpu, learn->pcpus, learn->room_pcpus);

	return i < 0 ? NULL : &learn->pcpus[i];
}

/** A pCPU has recorded a change of an idle vCPU. */
static int see_idle(struct xen_cores_learn *learn, uint16_t recorder, uint32_t idle)
{
	struct seen_pcpu *pcpu = seen(learn, recorder);
	int64_t i = 0;

	if (!pcpu)
		return -ENOMEM;
	pcpu->changes++;
	if (idle == recorder)
		return 0;
	i = KEY_MAP_ELEMENT(&learn->pair_map, (uint32_t)recorder << 16 | (idle & 0xffff),
			    learn->times, learn->room_times);
	if (i < 0)
		return -ENOMEM;
	learn->times[i]++;
	return 0;
}

static uint32_t divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/** A vCPU of this number has been on a pCPU. */
static int see_id(struct xen_cores_learn *learn, uint32_t pcpu, uint32_t id)
{
	struct seen_pcpu *its = seen(learn, pcpu);

	if (!its)
		return -ENOMEM;
	if (!its->has_id)
		its->first_id = id;
	its->has_id = true;
	its->step = divisor(its->step, id > its->first_id ? id - its->first_id :
							    its->first_id - id);
	return 0;
}

/** One takes the place of the other. */
static int see_pair(struct xen_cores_learn *learn, xen_vcpu out, xen_vcpu in)
{
	if (xen_vcpu_is_idle(out) && !xen_vcpu_is_idle(in))
		return see_id(learn, xen_vcpu_id(out), xen_vcpu_id(in));
	if (xen_vcpu_is_idle(in) && !xen_vcpu_is_idle(out))
		return see_id(learn, xen_vcpu_id(in), xen_vcpu_id(out));
	return 0;
}

static uint64_t hash(xen_vcpu vcpu)
{
	return UINT64_C(1) << ((vcpu * UINT32_C(2654435761)) >> 26);
}

/** A vCPU is taken off its pCPU or put on it. */
static int see_change(struct xen_cores_learn *learn, struct burst *burst,
		      const struct xentrace_record *rec, xen_vcpu vcpu)
{
	bool puts_on = xen_runstate_new(rec->event) == XEN_RUNSTATE_RUNNING;
	bool is_pair = puts_on && burst->has_out;
	struct seen_pcpu *pcpu;
	int ret = 0;

	if (xen_vcpu_is_idle(vcpu))
		ret = see_idle(learn, rec->pcpu, xen_vcpu_id(vcpu));
	if (!ret && is_pair)
		ret = see_pair(learn, burst->out, vcpu);
	/* a vCPU that leaves again: this is another decision */
	if (!puts_on && burst->in & hash(vcpu))
		*burst = (struct burst){ 0 };
	burst->has_out = !puts_on;
	burst->out = vcpu;
	burst->in |= puts_on ? hash(vcpu) : 0;
	burst->n += is_pair;
	if (ret || burst->n < 2)
		return ret;
	pcpu = seen(learn, rec->pcpu);
	if (!pcpu)
		return -ENOMEM;
	if (pcpu->most < burst->n)
		pcpu->most = burst->n;
	return 0;
}

int xen_cores_learn_record(struct xen_cores_learn *learn, const struct xentrace_record *rec)
{
	struct burst *burst;
	xen_vcpu vcpu = xentrace_word(rec, 0);

	if (rec->run >= learn->n_bursts && ARRAY_REACH(learn->bursts, rec->run, learn->n_bursts))
		return -ENOMEM;
	burst = &learn->bursts[rec->run];
	if (rec->n_words && xen_event_is_runstate_change(rec->event) &&
	    xen_vcpu_domid(vcpu) <= XEN_DOMID_IDLE &&
	    (xen_runstate_new(rec->event) == XEN_RUNSTATE_RUNNING ||
	     xen_runstate_old(rec->event) == XEN_RUNSTATE_RUNNING))
		return see_change(learn, burst, rec, vcpu);
	if (burst->n || burst->has_out)
		*burst = (struct burst){ 0 };
	if (rec->event == XEN_TRC_SCHED_CONTINUE_RUNNING && rec->n_words &&
	    xen_vcpu_domid(vcpu) < XEN_DOMID_IDLE)
		return see_id(learn, rec->pcpu, xen_vcpu_id(vcpu));
	return 0;
}

/* ---- what it comes to ---- */

static bool has_few(const struct xen_cores_learn *learn, uint64_t pcpu)
{
	int64_t i = key_map_find(&learn->pcpu_map, pcpu);

	return i < 0 || learn->pcpus[i].changes < FEW_CHANGES;
}

static bool counts(const struct xen_cores_learn *learn, uint32_t pair)
{
	uint64_t key = learn->pair_map.keys[pair];

	return learn->times[pair] > 1 ||
	       (has_few(learn, key >> 16) && has_few(learn, key & 0xffff));
}

/** The lowest pCPU of its core. */
static uint32_t root_of(uint32_t *parent, uint32_t pcpu)
{
	while (parent[pcpu] != pcpu)
		pcpu = parent[pcpu] = parent[parent[pcpu]];
	return pcpu;
}

/** Join all that belong together. Return: the highest pCPU + 1; 0: none does. */
static uint32_t join(const struct xen_cores_learn *learn, uint32_t *parent)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < learn->pair_map.n_keys; i++) {
		uint32_t a = (uint32_t)(learn->pair_map.keys[i] >> 16);
		uint32_t b = learn->pair_map.keys[i] & 0xffff;
		uint32_t root_a = root_of(parent, a), root_b = root_of(parent, b);

		if (!counts(learn, i))
			continue;
		parent[root_a < root_b ? root_b : root_a] = root_a < root_b ? root_a : root_b;
		n = n > a ? n : a + 1;
		n = n > b ? n : b + 1;
	}
	return n;
}

/** Do the numbers of the vCPUs that were seen name their places? */
static bool is_known(const struct xen_cores_learn *learn, const struct xen_core *core)
{
	for (uint32_t i = 0; i < core->n_pcpus; i++) {
		int64_t n = key_map_find(&learn->pcpu_map, core->pcpus[i].pcpu);
		const struct seen_pcpu *pcpu = n < 0 ? NULL : &learn->pcpus[n];

		if (pcpu && (pcpu->most > core->n_pcpus || pcpu->step % core->n_pcpus ||
			     (pcpu->has_id && pcpu->first_id % core->n_pcpus != i)))
			return false;
	}
	return true;
}

static int add_pcpu(struct xen_cores *cores, uint32_t root, uint32_t pcpu, uint32_t size)
{
	struct xen_core *core;

	/* the core's lowest pCPU comes first */
	if (root == pcpu) {
		cores->core_of[pcpu] = (int32_t)cores->n_cores;
		core = &cores->cores[cores->n_cores++];
		core->pcpus = malloc(size * sizeof(*core->pcpus));
		if (!core->pcpus)
			return -ENOMEM;
	}
	core = &cores->cores[cores->core_of[root]];
	core->pcpus[core->n_pcpus++] = (struct xen_core_pcpu){ XEN_NO_RUN, (uint16_t)pcpu };
	cores->core_of[pcpu] = cores->core_of[root];
	return 0;
}

/**
 * Cores of the pCPUs below @n. Each pCPU has the lowest one of its core in @parent, or one that
 * has.
 */
static int make(uint32_t *parent, uint32_t n, struct xen_cores **result)
{
	struct xen_cores *cores = calloc(1, sizeof(*cores));
	uint32_t *sizes = calloc(n, sizeof(*sizes));
	int ret = 0;

	*result = NULL;
	if (cores) {
		cores->n_core_of = n;
		cores->core_of = malloc(n * sizeof(*cores->core_of));
		cores->cores = calloc(n, sizeof(*cores->cores));
	}
	if (!sizes || !cores || !cores->core_of || !cores->cores) {
		free(sizes);
		xen_cores_free(cores);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		cores->core_of[i] = -1;
		sizes[root_of(parent, i)]++;
	}
	for (uint32_t i = 0; i < n && !ret; i++) {
		uint32_t root = root_of(parent, i);

		if (sizes[root] > 1 && sizes[root] <= MAX_PCPUS)
			ret = add_pcpu(cores, root, i, sizes[root]);
	}
	free(sizes);
	if (ret)
		xen_cores_free(cores);
	else
		*result = cores;
	return ret;
}

/** Each pCPU is in a core of its own. */
static uint32_t *all_alone(void)
{
	uint32_t *parent = malloc(((size_t)UINT16_MAX + 1) * sizeof(*parent));

	for (uint32_t i = 0; parent && i <= UINT16_MAX; i++)
		parent[i] = i;
	return parent;
}

/** Return: false: it is no core, or has a pCPU that another one has. */
static bool take_members(uint32_t *parent, const struct xen_core_members *core)
{
	uint32_t lowest = core->n_pcpus ? core->pcpus[0] : 0;

	if (core->n_pcpus < 2 || core->n_pcpus > MAX_PCPUS || parent[lowest] != lowest)
		return false;
	for (uint32_t i = 1; i < core->n_pcpus; i++) {
		uint16_t pcpu = core->pcpus[i];

		if (pcpu <= core->pcpus[i - 1] || parent[pcpu] != pcpu)
			return false;
		parent[pcpu] = lowest;
	}
	return true;
}

int xen_cores_of_members(const struct xen_core_members *members, size_t n,
			 struct xen_cores **cores)
{
	uint32_t *parent, highest = 0;
	int ret = 0;

	*cores = NULL;
	if (!n)
		return 0;
	parent = all_alone();
	if (!parent)
		return -ENOMEM;
	for (size_t i = 0; i < n && !ret; i++) {
		const struct xen_core_members *core = &members[i];

		if (!take_members(parent, core))
			ret = -EINVAL;
		else if (core->pcpus[core->n_pcpus - 1] > highest)
			highest = core->pcpus[core->n_pcpus - 1];
	}
	/* the lowest pCPU of one may be a member of a later one */
	for (size_t i = 0; i < n && !ret; i++)
		ret = parent[members[i].pcpus[0]] == members[i].pcpus[0] ? 0 : -EINVAL;
	if (!ret)
		ret = make(parent, highest + 1, cores);
	for (size_t i = 0; i < n && !ret; i++)
		(*cores)->cores[(*cores)->core_of[members[i].pcpus[0]]].known = members[i].known;
	free(parent);
	return ret;
}

int xen_cores_copy(const struct xen_cores *cores, struct xen_cores **copy)
{
	uint32_t *parent;
	int ret;

	*copy = NULL;
	if (!cores)
		return 0;
	parent = all_alone();
	if (!parent)
		return -ENOMEM;
	for (uint32_t i = 0; i < cores->n_cores; i++)
		for (uint32_t k = 0; k < cores->cores[i].n_pcpus; k++)
			parent[cores->cores[i].pcpus[k].pcpu] = cores->cores[i].pcpus[0].pcpu;
	ret = make(parent, cores->n_core_of, copy);
	free(parent);
	for (uint32_t i = 0; *copy && i < (*copy)->n_cores; i++)
		(*copy)->cores[i].known = cores->cores[i].known;
	return ret;
}

int xen_cores_make(const struct xen_cores_learn *learn, const struct xentrace *reader,
		   struct xen_cores **result)
{
	uint32_t *parent, n;
	int ret = 0;

	*result = NULL;
	if (!learn->pair_map.n_keys)
		return 0;
	parent = all_alone();
	if (!parent)
		return -ENOMEM;
	n = join(learn, parent);
	if (n)
		ret = make(parent, n, result);
	free(parent);
	for (uint32_t i = 0; *result && i < (*result)->n_cores; i++)
		(*result)->cores[i].known = is_known(learn, &(*result)->cores[i]);
	xen_cores_set_runs(*result, reader);
	return ret;
}

static struct xen_core_pcpu *find(const struct xen_core *core, uint32_t pcpu)
{
	uint32_t low = 0, high = core->n_pcpus;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (core->pcpus[middle].pcpu < pcpu)
			low = middle + 1;
		else
			high = middle;
	}
	return low < core->n_pcpus && core->pcpus[low].pcpu == pcpu ? &core->pcpus[low] : NULL;
}

void xen_cores_set_runs(struct xen_cores *cores, const struct xentrace *reader)
{
	bool twice;

	if (!cores)
		return;
	for (uint32_t i = 0; i < cores->n_cores; i++) {
		for (uint32_t k = 0; k < cores->cores[i].n_pcpus; k++)
			cores->cores[i].pcpus[k].run = XEN_NO_RUN;
	}
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t run = 0; run < xentrace_n_runs(reader); run++) {
			uint16_t pcpu = xentrace_run_pcpu(reader, run);
			const struct xen_core *core = xen_cores_of(cores, pcpu);
			struct xen_core_pcpu *its = core ? find(core, pcpu) : NULL;

			if (!its)
				continue;
			/* a change on a pCPU with several runs may belong to any of them */
			twice = pass && its->run != run;
			its->run = twice ? XEN_NO_RUN : pass ? its->run : run;
		}
	}
}

uint32_t xen_core_run(const struct xen_core *core, xen_vcpu vcpu)
{
	const struct xen_core_pcpu *pcpu = NULL;

	if (xen_vcpu_is_idle(vcpu))
		pcpu = find(core, xen_vcpu_id(vcpu));
	else if (core->known)
		pcpu = &core->pcpus[xen_vcpu_id(vcpu) % core->n_pcpus];
	return pcpu ? pcpu->run : XEN_NO_RUN;
}

void xen_cores_free(struct xen_cores *cores)
{
	if (!cores)
		return;
	for (uint32_t i = 0; cores->cores && i < cores->n_cores; i++)
		free(cores->cores[i].pcpus);
	free(cores->cores);
	free(cores->core_of);
	free(cores);
}
