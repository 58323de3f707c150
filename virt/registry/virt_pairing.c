// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_pairing.c
 * @brief	Keep the pairs of vCPUs and CPUs of guests, and guess them.
 */
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "virt_pairing.h"

/* The one state that all plugins share, as the registry of the models. */
static struct {
	pthread_mutex_t		lock;
	struct virt_pair	*pairs;
	size_t			n, room;
	uint64_t		serial;
} store = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool same_vcpu(const struct virt_pair *a, const struct virt_pair *b)
{
	return a->host_stream == b->host_stream && a->host_pid == b->host_pid;
}

static bool same_cpu(const struct virt_pair *a, const struct virt_pair *b)
{
	return a->guest_stream == b->guest_stream && a->guest_cpu == b->guest_cpu &&
	       a->guest_stream != VIRT_NONE;
}

/** A vCPU may be seen in two streams: what it records of itself, and its own trace. */
static bool overlap(const struct virt_pair *a, const struct virt_pair *b)
{
	bool one_is_derived = (a->source == VIRT_PAIR_DERIVED) != (b->source == VIRT_PAIR_DERIVED);

	return same_cpu(a, b) || (same_vcpu(a, b) && !one_is_derived);
}

/** Remove what a new pair ends; with the lock held. */
static void remove_overlaps(const struct virt_pair *pair)
{
	size_t n = 0;

	for (size_t i = 0; i < store.n; i++)
		if (!overlap(&store.pairs[i], pair))
			store.pairs[n++] = store.pairs[i];
	store.n = n;
}

/** With the lock held. */
static int set_pair(const struct virt_pair *pair)
{
	for (size_t i = 0; i < store.n; i++) {
		const struct virt_pair *old = &store.pairs[i];

		if (!overlap(old, pair))
			continue;
		if (same_vcpu(old, pair) && same_cpu(old, pair) && old->source >= pair->source)
			return 0;
		if (old->source > pair->source)
			return -EEXIST;
	}
	if (ARRAY_GROW(store.pairs, store.n, store.room))
		return -ENOMEM;
	remove_overlaps(pair);
	store.pairs[store.n++] = *pair;
	store.serial++;
	return 0;
}

int virt_pairing_set(const struct virt_pair *pair)
{
	struct virt_pair clean = *pair;
	int ret;

	if (pair->host_stream < 0 || pair->guest_stream < VIRT_NONE ||
	    (pair->guest_stream != VIRT_NONE && pair->guest_cpu < 0) ||
	    pair->host_stream == pair->guest_stream)
		return -EINVAL;
	if (clean.guest_stream == VIRT_NONE)
		clean.guest_cpu = VIRT_NONE;
	pthread_mutex_lock(&store.lock);
	ret = set_pair(&clean);
	pthread_mutex_unlock(&store.lock);
	return ret;
}

/** Forget those with a stream, unless it is VIRT_NONE, and those of a source, unless negative. */
static void drop(int stream_id, int source)
{
	size_t n = 0;

	pthread_mutex_lock(&store.lock);
	for (size_t i = 0; i < store.n; i++) {
		const struct virt_pair *pair = &store.pairs[i];

		if ((stream_id >= 0 && pair->host_stream != stream_id &&
		     pair->guest_stream != stream_id) ||
		    (source >= 0 && (int)pair->source != source))
			store.pairs[n++] = *pair;
	}
	if (n != store.n)
		store.serial++;
	store.n = n;
	pthread_mutex_unlock(&store.lock);
}

void virt_pairing_drop_stream(int stream_id)
{
	if (stream_id >= 0)
		drop(stream_id, -1);
}

void virt_pairing_drop_source(enum virt_pair_source source)
{
	drop(VIRT_NONE, (int)source);
}

static bool find(const struct virt_pair *wanted,
		 bool (*same)(const struct virt_pair *a, const struct virt_pair *b),
		 struct virt_pair *pair)
{
	bool found = false;

	pthread_mutex_lock(&store.lock);
	for (size_t i = 0; i < store.n; i++) {
		const struct virt_pair *at = &store.pairs[i];

		if (!same(at, wanted) || (found && at->source == VIRT_PAIR_DERIVED))
			continue;
		found = true;
		if (pair)
			*pair = *at;
	}
	pthread_mutex_unlock(&store.lock);
	return found;
}

bool virt_pairing_of_vcpu(int host_stream, int32_t host_pid, struct virt_pair *pair)
{
	struct virt_pair wanted = { .host_stream = host_stream, .host_pid = host_pid };

	return find(&wanted, same_vcpu, pair);
}

bool virt_pairing_of_cpu(int guest_stream, int32_t guest_cpu, struct virt_pair *pair)
{
	struct virt_pair wanted = { .guest_stream = guest_stream, .guest_cpu = guest_cpu };

	return find(&wanted, same_cpu, pair);
}

uint64_t virt_pairing_serial(void)
{
	uint64_t serial;

	pthread_mutex_lock(&store.lock);
	serial = store.serial;
	pthread_mutex_unlock(&store.lock);
	return serial;
}

/* ---- guessing ---- */

/** Fewer times prove nothing. */
#define LEAST_MOMENTS	20
/** Larger machines are paired CPU by CPU in their order. */
#define MAX_CPUS	64

/** How much better than chance, and how good, the activity must be to count. */
#define GOOD_SHARE	0.9
#define GOOD_GAIN	0.05

enum { SCORE_COUNT_BELOW = 1, SCORE_COUNT = 2, SCORE_ACTIVITY = 4, SCORE_NAME = 8 };

double virt_pairing_share(const struct virt_model *model, int32_t vcpu, int64_t offset_ns,
			  const struct virt_times *times)
{
	size_t inside = 0, known = 0;

	for (size_t i = 0; i < times->n; i++) {
		const struct virt_interval *interval =
			virt_vcpu_at(model, vcpu, times->ns[i] - offset_ns, NULL);

		if (!interval || virt_interval_is_lost(interval))
			continue;
		known++;
		inside += interval->state == VIRT_GUEST;
	}
	return known < LEAST_MOMENTS ? -1 : (double)inside / (double)known;
}

/** What the share would be if the events had nothing to do with the vCPU. */
static double chance(const struct virt_model *model, int32_t vcpu)
{
	int64_t unsplit[VIRT_N_STATES], known;
	struct virt_totals totals;

	virt_vcpu_totals(model, vcpu, INT64_MIN, INT64_MAX, &totals);
	virt_vcpu_unsplit(model, vcpu, INT64_MIN, INT64_MAX, unsplit);
	known = unsplit[VIRT_UNKNOWN];
	for (int state = 0; state < VIRT_UNKNOWN; state++)
		known += totals.ns[state];
	return known ? (double)totals.ns[VIRT_GUEST] / (double)known : 0;
}

/** A guest that may be a machine, and how its CPUs and vCPUs belong together. */
struct candidate {
	const struct virt_pair_host	*host;
	const struct virt_machine	*machine;
	const struct virt_pair_guest	*guest;
	int				score;
	int32_t				cpu_of[MAX_CPUS];	/* by place in the machine */
};

static int32_t min32(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

/** Is a name a word of a text? */
static bool has_word(const char *text, const char *word, size_t n)
{
	if (n < 2)
		return false;
	for (const char *p = text; *p; p++) {
		if (!strncmp(p, word, n) && (p == text || !isalnum((unsigned char)p[-1])) &&
		    !isalnum((unsigned char)p[n]))
			return true;
	}
	return false;
}

/** Does a file's name contain a machine's: of "d0", "dom0"; of "d1:web", "web"? */
static bool name_fits(const struct virt_machine *machine, const char *text)
{
	const char *name = machine->name, *colon = strchr(name, ':');
	size_t n = colon ? (size_t)(colon - name) : strlen(name);
	char domain[24];

	if (!text)
		return false;
	if (has_word(text, name, n) || (colon && has_word(text, colon + 1, strlen(colon + 1))))
		return true;
	if (name[0] != 'd' || !isdigit((unsigned char)name[1]) ||
	    n - 1 != strspn(name + 1, "0123456789"))
		return false;
	snprintf(domain, sizeof(domain), "dom%.*s", (int)(n - 1), name + 1);
	return has_word(text, domain, strlen(domain));
}

/** Which CPU the activity gives to each vCPU, best first. Return: mean share of the paired ones. */
static double pair_by_activity(const double *shares, int32_t n_vcpus, int32_t n_cpus,
			       int32_t *cpu_of)
{
	bool taken[MAX_CPUS] = { false };
	double sum = 0;
	int32_t n = 0;

	for (int32_t i = 0; i < n_vcpus; i++)
		cpu_of[i] = VIRT_NONE;
	for (;;) {
		int32_t vcpu = VIRT_NONE, cpu = VIRT_NONE;
		double best = -1;

		for (int32_t i = 0; i < n_vcpus; i++)
			for (int32_t j = 0; j < n_cpus && cpu_of[i] == VIRT_NONE; j++)
				if (!taken[j] && shares[i * MAX_CPUS + j] > best) {
					best = shares[i * MAX_CPUS + j];
					vcpu = i;
					cpu = j;
				}
		if (vcpu == VIRT_NONE)
			break;
		cpu_of[vcpu] = cpu;
		taken[cpu] = true;
		sum += best;
		n++;
	}
	return n ? sum / n : 0;
}

/** Judge a candidate by when its events happened, and put right which CPU is which vCPU. */
static void judge_activity(struct candidate *candidate)
{
	const struct virt_machine *machine = candidate->machine;
	const struct virt_pair_guest *guest = candidate->guest;
	int32_t n_vcpus = machine->n_vcpus, n_cpus = guest->n_cpus, n = 0, other[MAX_CPUS];
	double *shares, in_order = 0, by_chance = 0, best;

	if (!guest->events || n_vcpus > MAX_CPUS || n_cpus > MAX_CPUS)
		return;
	shares = malloc(sizeof(*shares) * MAX_CPUS * MAX_CPUS);
	if (!shares)
		return;
	for (int32_t i = 0; i < n_vcpus; i++)
		for (int32_t j = 0; j < n_cpus; j++)
			shares[i * MAX_CPUS + j] =
				virt_pairing_share(candidate->host->model, machine->vcpus[i],
						   candidate->host->offset_ns, &guest->events[j]);
	for (int32_t i = 0; i < n_vcpus; i++) {
		int32_t cpu = candidate->cpu_of[i];

		if (cpu == VIRT_NONE || shares[i * MAX_CPUS + cpu] < 0)
			continue;
		in_order += shares[i * MAX_CPUS + cpu];
		by_chance += chance(candidate->host->model, machine->vcpus[i]);
		n++;
	}
	if (n) {
		best = pair_by_activity(shares, n_vcpus, n_cpus, other);
		if (best >= GOOD_SHARE && in_order / n < best - 2 * GOOD_GAIN) {
			memcpy(candidate->cpu_of, other, n_vcpus * sizeof(*other));
			in_order = best * n;
		}
		if (in_order / n >= GOOD_SHARE && (in_order - by_chance) / n > GOOD_GAIN)
			candidate->score += SCORE_ACTIVITY;
	}
	free(shares);
}

static void judge(struct candidate *candidate)
{
	const struct virt_machine *machine = candidate->machine;
	const struct virt_pair_guest *guest = candidate->guest;
	const struct virt_model *model = candidate->host->model;

	for (int32_t i = 0; i < min32(machine->n_vcpus, MAX_CPUS); i++) {
		int32_t id = virt_model_vcpu(model, machine->vcpus[i])->id;

		candidate->cpu_of[i] = id < guest->n_cpus ? id : VIRT_NONE;
	}
	if (guest->n_cpus == machine->n_vcpus)
		candidate->score = SCORE_COUNT;
	else if (guest->n_cpus < machine->n_vcpus)
		candidate->score = SCORE_COUNT_BELOW;
	if (name_fits(machine, guest->name))
		candidate->score += SCORE_NAME;
	judge_activity(candidate);
}

/** Is there a word about one of its vCPUs already? */
static bool machine_is_paired(const struct virt_pair_host *host, const struct virt_machine *machine)
{
	for (int32_t i = 0; i < machine->n_vcpus; i++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(host->model, machine->vcpus[i]);
		struct virt_pair pair = { 0 };

		if (virt_pairing_of_vcpu(host->stream, vcpu->host_pid, &pair) &&
		    pair.source != VIRT_PAIR_DERIVED)
			return true;
	}
	return false;
}

static bool guest_is_paired(const struct virt_pair_guest *guest)
{
	for (int32_t cpu = 0; cpu < guest->n_cpus; cpu++)
		if (virt_pairing_of_cpu(guest->stream, cpu, NULL))
			return true;
	return false;
}

/** All that may be. Return: their number. */
static size_t list_candidates(const struct virt_pair_host *hosts, size_t n_hosts,
			      const struct virt_pair_guest *guests, size_t n_guests,
			      struct candidate *candidates)
{
	size_t n = 0;

	for (size_t h = 0; h < n_hosts; h++)
		for (int32_t m = 0; m < virt_model_n_machines(hosts[h].model); m++) {
			const struct virt_machine *machine = virt_model_machine(hosts[h].model, m);

			if (!machine->n_vcpus || machine_is_paired(&hosts[h], machine))
				continue;
			for (size_t g = 0; g < n_guests; g++) {
				if (guests[g].stream == hosts[h].stream ||
				    guests[g].n_cpus < 1 || guest_is_paired(&guests[g]))
					continue;
				candidates[n] = (struct candidate){
					.host = &hosts[h], .machine = machine, .guest = &guests[g],
				};
				judge(&candidates[n]);
				n += candidates[n].score > 0;
			}
		}
	return n;
}

/** Has another candidate an equal or better claim on the machine or the guest? */
static bool is_contested(const struct candidate *candidates, size_t n,
			 const struct candidate *mine)
{
	for (size_t i = 0; i < n; i++)
		if (&candidates[i] != mine && candidates[i].score >= mine->score &&
		    (candidates[i].machine == mine->machine || candidates[i].guest == mine->guest))
			return true;
	return false;
}

static int set_all(const struct candidate *candidate)
{
	const struct virt_machine *machine = candidate->machine;
	int n = 0;

	for (int32_t i = 0; i < min32(machine->n_vcpus, MAX_CPUS); i++) {
		const struct virt_vcpu *vcpu =
			virt_model_vcpu(candidate->host->model, machine->vcpus[i]);
		struct virt_pair pair = {
			.host_stream = candidate->host->stream,
			.host_pid = vcpu->host_pid,
			.guest_stream = candidate->guest->stream,
			.guest_cpu = candidate->cpu_of[i],
			.source = VIRT_PAIR_GUESSED,
		};

		n += pair.guest_cpu != VIRT_NONE && !virt_pairing_set(&pair);
	}
	return n;
}

int virt_pairing_guess(const struct virt_pair_host *hosts, size_t n_hosts,
		       const struct virt_pair_guest *guests, size_t n_guests)
{
	struct candidate *candidates;
	size_t n_machines = 0, n;
	bool again = true;
	int n_set = 0;

	for (size_t h = 0; h < n_hosts; h++)
		n_machines += virt_model_n_machines(hosts[h].model);
	if (!n_machines || !n_guests)
		return 0;
	candidates = calloc(n_machines * n_guests + 1, sizeof(*candidates));
	if (!candidates)
		return -ENOMEM;
	n = list_candidates(hosts, n_hosts, guests, n_guests, candidates);
	while (again) {
		again = false;
		for (size_t i = 0; i < n && !again; i++) {
			const struct candidate done = candidates[i];
			size_t left = 0;

			if (is_contested(candidates, n, &candidates[i]))
				continue;
			n_set += set_all(&done);
			for (size_t j = 0; j < n; j++)
				if (candidates[j].machine != done.machine &&
				    candidates[j].guest != done.guest)
					candidates[left++] = candidates[j];
			n = left;
			again = true;
		}
	}
	free(candidates);
	return n_set;
}
