// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	clock_align.c
 * @brief	Put the trace of a guest on the time axis of its host's trace, by causality alone.
 *
 * A vote of a few events gives candidates; near each candidate, an exact search finds the offsets
 * with the most votes. With a drift, no offset holds for the whole trace, but one holds for a short
 * piece of it: from there, the search follows a line over ever longer stretches. If the result is
 * still ambiguous, or hardly any interrupt handler runs after its injection, another search lets
 * handlers vote as well. Its result counts if it explains nearly all of them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "clock_chance.h"
#include "clock_fit.h"
#include "clock_limits.h"

/** What the drift makes of a span of time: any span, as numbers may come from damaged files. */
static __int128 drift_of(double drift_ppm, double span)
{
	double d = drift_ppm * 1e-6 * span;

	return (__int128)(d < 0 ? d - 0.5 : d + 0.5);
}

static int64_t cut(__int128 time)
{
	return time > INT64_MAX ? INT64_MAX : time < INT64_MIN ? INT64_MIN : (int64_t)time;
}

int64_t virt_clock_host_time(int64_t offset, double drift_ppm, int64_t guest_time)
{
	return cut(drift_of(drift_ppm, (double)guest_time) + guest_time + offset);
}

int64_t virt_clock_offset_at(int64_t offset, double drift_ppm, int64_t at, int64_t guest_time)
{
	return cut(drift_of(drift_ppm, (double)((__int128)guest_time - at)) + offset);
}

const char *virt_clock_verdict_text(enum virt_clock_verdict verdict)
{
	switch (verdict) {
	case VIRT_CLOCK_GOOD:
		return "good";
	case VIRT_CLOCK_POOR:
		return "too many of the guest's events lie where no vCPU executed guest code";
	case VIRT_CLOCK_AMBIGUOUS:
		return "another offset explains nearly as many events";
	case VIRT_CLOCK_FEW:
		return "too few events are judged to rule out chance";
	case VIRT_CLOCK_DENSE:
		return "trying all offsets takes more work than files of this size may cause";
	}
	return "unknown";
}

/* --- the problem ----------------------------------------------------------------------------- */

static bool in_reach(int64_t time)
{
	return time >= INT64_MIN / 8 && time <= INT64_MAX / 8;
}

static int check_times(struct clock_search *search)
{
	const struct virt_clock_problem *problem = search->problem;

	search->host_begin = search->guest_begin = INT64_MAX;
	search->host_end = search->guest_end = INT64_MIN;
	for (int32_t v = 0; v < problem->n_vcpus; v++) {
		const struct virt_clock_vcpu *vcpu = &problem->vcpus[v];

		for (size_t i = 0; i < vcpu->n; i++)
			if (!in_reach(vcpu->changes[i].time) ||
			    (i && vcpu->changes[i].time < vcpu->changes[i - 1].time))
				return -EINVAL;
		for (size_t i = 0; i < vcpu->n_injections; i++)
			if (!in_reach(vcpu->injections[i].time_ns) ||
			    (i && vcpu->injections[i].time_ns < vcpu->injections[i - 1].time_ns))
				return -EINVAL;
		if (vcpu->n && vcpu->changes[0].time < search->host_begin)
			search->host_begin = vcpu->changes[0].time;
		if (vcpu->n && vcpu->changes[vcpu->n - 1].time > search->host_end)
			search->host_end = vcpu->changes[vcpu->n - 1].time;
	}
	for (int32_t c = 0; c < problem->n_cpus; c++) {
		const struct virt_clock_cpu *cpu = &problem->cpus[c];

		if (cpu->vcpu < VIRT_NONE || cpu->vcpu >= problem->n_vcpus)
			return -EINVAL;
		for (size_t i = 0; i < cpu->n; i++)
			if (!in_reach(cpu->times[i]) || (i && cpu->times[i] < cpu->times[i - 1]))
				return -EINVAL;
		for (size_t i = 0; i < cpu->n_handlers; i++)
			if (!in_reach(cpu->handlers[i].time) ||
			    (i && cpu->handlers[i].time < cpu->handlers[i - 1].time))
				return -EINVAL;
		if (cpu->n && cpu->times[0] < search->guest_begin)
			search->guest_begin = cpu->times[0];
		if (cpu->n && cpu->times[cpu->n - 1] > search->guest_end)
			search->guest_end = cpu->times[cpu->n - 1];
	}
	return 0;
}

/** How many changes, events and so on there are, and how many pairs of CPUs and vCPUs. */
static uint64_t count_all(const struct virt_clock_problem *problem, uint64_t *pairs)
{
	uint64_t n = 1;

	for (int32_t v = 0; v < problem->n_vcpus; v++)
		n += 1 + problem->vcpus[v].n + problem->vcpus[v].n_injections;
	for (int32_t c = 0; c < problem->n_cpus; c++)
		n += 1 + problem->cpus[c].n + problem->cpus[c].n_handlers;
	*pairs = (uint64_t)problem->n_cpus * (uint64_t)problem->n_vcpus;
	return n;
}

static void end(struct clock_search *search)
{
	if (search->problem->work)
		*search->problem->work = search->room.work;
	clock_tracks_free(&search->tracks);
	free(search->pairing);
	free(search->pool);
	clock_room_free(&search->room);
	free(search->sums);
	free(search->best);
}

/**
 * @steps: of work, for each change, event and so on
 * Return: 0, -EINVAL, -ENOMEM or -ETIME; end() in any case.
 */
static int begin(struct clock_search *search, const struct virt_clock_problem *problem,
		 uint64_t steps)
{
	uint64_t pairs, n;

	*search = (struct clock_search){
		.problem = problem, .events = true,
		.room.work = problem->work ? *problem->work : UINT64_MAX,
	};
	if (problem->n_cpus < 0 || problem->n_vcpus < 0)
		return -EINVAL;
	n = count_all(problem, &pairs);
	search->room.n_most = limits.most_edges + n / 2;
	if (clock_spend(&search->room.work, steps * n + pairs))
		return -ETIME;
	if (check_times(search))
		return -EINVAL;
	search->pairing = malloc(((size_t)problem->n_cpus + 1) * sizeof(*search->pairing));
	if (!search->pairing || clock_tracks_make(problem, &search->tracks))
		return -ENOMEM;
	for (int32_t c = 0; c < problem->n_cpus; c++)
		search->pairing[c] = problem->cpus[c].vcpu;
	return 0;
}

/* --- quality --------------------------------------------------------------------------------- */

/** How far an event is from guest code. */
static int64_t distance(const struct virt_clock_vcpu *vcpu, int64_t at, int64_t time)
{
	int64_t best = INT64_MAX;

	for (int64_t i = at; i >= 0; i--) {
		if (vcpu->changes[i].where == VIRT_CLOCK_OUTSIDE)
			continue;
		best = time - vcpu->changes[i + 1].time + 1;
		break;
	}
	for (int64_t i = at + 1; i < (int64_t)vcpu->n; i++) {
		if (vcpu->changes[i].where == VIRT_CLOCK_OUTSIDE)
			continue;
		if (vcpu->changes[i].time - time < best)
			best = vcpu->changes[i].time - time;
		break;
	}
	return best == INT64_MAX ? 0 : best;
}

static void judge_cpu(const struct virt_clock_vcpu *vcpu, const struct virt_clock_cpu *cpu,
		      int64_t offset, double ppm, struct virt_clock_evidence *evidence)
{
	int64_t at = -1, last = -1;

	if (cpu->n)
		at = clock_find(vcpu, virt_clock_host_time(offset, ppm, cpu->times[0]));
	for (size_t i = 0; i < cpu->n; i++) {
		int64_t time = virt_clock_host_time(offset, ppm, cpu->times[i]), far;

		while (at + 1 < (int64_t)vcpu->n && vcpu->changes[at + 1].time <= time)
			at++;
		switch (at < 0 ? VIRT_CLOCK_UNKNOWN : vcpu->changes[at].where) {
		case VIRT_CLOCK_INSIDE:
			evidence->inside++;
			evidence->stretches += at != last;
			last = at;
			break;
		case VIRT_CLOCK_OUTSIDE:
			evidence->outside++;
			far = distance(vcpu, at, time);
			if (far > evidence->worst)
				evidence->worst = far;
			break;
		default:
			evidence->unknown++;
		}
	}
}

/** What speaks against chance. */
struct against_chance {
	struct clock_chance events, irqs;
};

/** Count the handlers of a CPU that are explained. */
static void judge_irqs(const struct clock_search *search, int32_t c, int64_t offset, double ppm,
		       struct virt_clock_evidence *evidence, struct clock_chance *chance)
{
	int32_t stride = search->tracks.stride;

	for (int32_t k = 1; k < stride; k++) {
		const struct virt_clock_cpu *cpu = &search->tracks.cpus[c * stride + k];
		const struct virt_clock_vcpu *vcpu =
			&search->tracks.vcpus[evidence->vcpu * stride + k].known;
		struct virt_clock_evidence kind = { 0 };

		if (!cpu->n)
			continue;
		judge_cpu(vcpu, cpu, offset, ppm, &kind);
		evidence->interrupts += kind.inside + kind.outside;
		evidence->interrupts_explained += kind.inside;
		clock_chance_add(chance, vcpu, cpu, offset, ppm);
	}
}

/** Fill in what the offset and drift explain. */
static struct against_chance judge(const struct clock_search *search,
				   struct virt_clock_alignment *alignment,
				   struct virt_clock_evidence *evidence)
{
	const struct virt_clock_problem *problem = search->problem;
	struct against_chance against_chance = { 0 };
	uint64_t judged;

	alignment->inside = alignment->outside = alignment->unknown = 0;
	alignment->interrupts = alignment->interrupts_explained = 0;
	alignment->worst = 0;
	for (int32_t c = 0; c < problem->n_cpus; c++) {
		const struct virt_clock_cpu *cpu = &problem->cpus[c];
		struct virt_clock_evidence *e = &evidence[c];

		*e = (struct virt_clock_evidence){ .vcpu = search->pairing[c] };
		if (e->vcpu < 0) {
			e->unknown = cpu->n;
		} else if (cpu->n) {
			judge_cpu(&problem->vcpus[e->vcpu], cpu, alignment->offset,
				  alignment->drift_ppm, e);
			clock_chance_add(&against_chance.events, &problem->vcpus[e->vcpu], cpu,
					 alignment->offset, alignment->drift_ppm);
			judge_irqs(search, c, alignment->offset, alignment->drift_ppm, e,
				   &against_chance.irqs);
		}
		alignment->interrupts += e->interrupts;
		alignment->interrupts_explained += e->interrupts_explained;
		alignment->inside += e->inside;
		alignment->outside += e->outside;
		alignment->unknown += e->unknown;
		if (e->worst > alignment->worst)
			alignment->worst = e->worst;
	}
	judged = alignment->inside + alignment->outside;
	alignment->explained_percent = judged ? 100.0 * (double)alignment->inside /
						(double)judged : 0;
	return against_chance;
}

/** In how many ways CPUs can have been paired, as a logarithm. */
static double pairings(const struct virt_clock_problem *problem)
{
	int32_t left = problem->n_vcpus;
	double ways = 0;

	for (int32_t c = 0; c < problem->n_cpus; c++)
		left -= problem->cpus[c].vcpu >= 0;
	for (int32_t c = 0; c < problem->n_cpus; c++)
		if (problem->cpus[c].vcpu < 0 && left > 1)
			ways += log(left--);
	return ways;
}

/** What chance alone reaches in a search: by the number of offsets, drifts and pairings. */
static double chance(const struct clock_search *search,
		     const struct virt_clock_alignment *alignment)
{
	double host = (double)(search->host_end - search->host_begin);
	double guest = (double)(search->guest_end - search->guest_begin);
	double width = (double)(alignment->hi - alignment->lo) + 1;
	double offsets = (host + guest) / width, drifts = 1;

	/* those that differ by more than the interval, within what both traces cover */
	if (alignment->drift_ppm != 0)
		drifts += 2e-6 * VIRT_CLOCK_MAX_PPM * fmin(host, guest) / width;
	return log(fmax(offsets, 1)) + log(drifts) + pairings(search->problem) +
	       log(CLOCK_STRAYS) + limits.min_evidence;
}

/** @against_chance: NULL: the alignment is given, it has not been searched */
static void decide(const struct clock_search *search, struct virt_clock_alignment *alignment,
		   const struct against_chance *against_chance)
{
	uint64_t judged = alignment->inside + alignment->outside;

	if (judged && alignment->explained_percent < VIRT_CLOCK_MIN_PERCENT)
		alignment->verdict = VIRT_CLOCK_POOR;
	else if (judged < VIRT_CLOCK_MIN_EVENTS ||
		 (against_chance && clock_chance_against(&against_chance->events) +
		  (search->irqs ? clock_chance_against(&against_chance->irqs) : 0) <
		  chance(search, alignment)))
		alignment->verdict = VIRT_CLOCK_FEW;
	else
		alignment->verdict = VIRT_CLOCK_GOOD;
}

/** Do the handlers speak for an alignment? */
static bool irqs_agree(const struct clock_search *search,
		       const struct virt_clock_alignment *alignment,
		       const struct against_chance *against_chance)
{
	uint64_t explained = alignment->interrupts_explained;

	return explained >= limits.min_handlers &&
	       clock_irqs_fit(explained, alignment->interrupts - explained) &&
	       clock_chance_against(&against_chance->irqs) >= chance(search, alignment);
}

/** Nothing is known when the work is too much. */
static int give_up(const struct virt_clock_problem *problem,
		   struct virt_clock_alignment *alignment, struct virt_clock_evidence *evidence)
{
	*alignment = (struct virt_clock_alignment){ .verdict = VIRT_CLOCK_DENSE };
	for (int32_t c = 0; c < problem->n_cpus; c++) {
		evidence[c] = (struct virt_clock_evidence){
			.vcpu = problem->cpus[c].vcpu, .unknown = problem->cpus[c].n,
		};
		alignment->unknown += problem->cpus[c].n;
	}
	return 0;
}

int virt_clock_judge(const struct virt_clock_problem *problem, int64_t offset, double drift_ppm,
		     struct virt_clock_alignment *alignment, struct virt_clock_evidence *evidence)
{
	struct against_chance against_chance;
	struct clock_search search;
	int ret = begin(&search, problem, CLOCK_WORK_JUDGE);

	if (ret)
		goto out;
	*alignment = (struct virt_clock_alignment){
		.offset = offset, .lo = offset, .hi = offset, .drift_ppm = drift_ppm,
		.drift_lo_ppm = drift_ppm, .drift_hi_ppm = drift_ppm,
	};
	against_chance = judge(&search, alignment, evidence);
	alignment->by_interrupts = irqs_agree(&search, alignment, &against_chance);
	decide(&search, alignment, NULL);
	if (alignment->verdict == VIRT_CLOCK_GOOD)
		ret = clock_widen(&search, alignment);
out:
	end(&search);
	return ret == -ETIME ? give_up(problem, alignment, evidence) : ret;
}

/* --- searching ------------------------------------------------------------------------------- */

/** The best lines so far. */
struct found {
	struct clock_fit	*fits;
	int			n, room;
};

static int add_fit(struct found *found, const struct clock_fit *fit)
{
	if (ARRAY_GROW(found->fits, found->n, found->room))
		return -ENOMEM;
	found->fits[found->n++] = *fit;
	return 0;
}

static int compare_fits(const void *a, const void *b)
{
	const struct clock_fit *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return (x->lo > y->lo) - (x->lo < y->lo);
}

/** Is a fit one of those before it? Candidates of a piece may overlap. */
static bool is_known(const struct clock_fit *fits, int n)
{
	for (int i = 0; i < n; i++)
		if (fits[i].lo <= fits[n].hi && fits[n].lo <= fits[i].hi)
			return true;
	return false;
}

/** Look closely at candidates, most votes first, and follow the best lines. */
static int look_closely(struct clock_search *search, int64_t from, int64_t to, struct found *near,
			struct found *found)
{
	int ret = 0, close = 0;

	/* what a drift leaves of it may not look good yet */
	if (near->n && near->fits[0].slack) {
		near->fits[0].voted = true;
		near->fits[0].n_rates = limits.rates;
	}
	for (int i = 0; i < near->n && !ret; i++) {
		const struct clock_candidate candidate = { near->fits[i].lo, near->fits[i].hi, 0 };

		ret = clock_fit_piece(search, from, to, &candidate, &near->fits[i]);
	}
	if (!ret && near->n)
		qsort(near->fits, (size_t)near->n, sizeof(*near->fits), compare_fits);
	for (int i = 0; i < near->n && !ret; i++) {
		if ((close >= limits.max_close && !near->fits[i].voted) || is_known(near->fits, i))
			continue;
		close++;
		ret = clock_fit_grow(search, &near->fits[i]);
		if (!ret)
			ret = add_fit(found, &near->fits[i]);
	}
	return ret;
}

/** Add candidates with a line's rate, which is known to its range. */
static int add_candidates(struct clock_search *search, int64_t from, int64_t to,
			  const struct clock_fit *line, int max, struct found *near)
{
	struct clock_candidate candidates[CLOCK_CANDIDATES];
	int n = clock_candidates(search, &line->rate, from, to, line->slack, NULL, candidates,
				 max);
	int ret = n < 0 ? n : 0;

	for (int i = 0; i < n && !ret; i++) {
		struct clock_fit fit = *line;

		fit.lo = candidates[i].lo;
		fit.hi = candidates[i].hi;
		fit.score = candidates[i].score;
		ret = add_fit(near, &fit);
	}
	return ret;
}

/** Look for lines that hold near a piece of the guest's trace, and follow them. */
static int search_piece(struct clock_search *search, int64_t from, int64_t to, bool drift,
			struct found *found)
{
	int64_t half = (to - from) / 2;
	double range = drift ? VIRT_CLOCK_MAX_PPM * 1e-6 : 0;
	struct clock_fit line = {
		.rate.pivot = from + half, .half = half, .range = range,
		.slack = drift ? (int64_t)((double)half * range) + 1 : 0,
	};
	struct found near = { 0 };
	int ret = add_candidates(search, from, to, &line, CLOCK_CANDIDATES, &near);

	if (!ret)
		ret = look_closely(search, from, to, &near, found);
	free(near.fits);
	return ret;
}

/**
 * The same with all drifts, one after the other: if a piece is too short to distinguish the right
 * offset from others, all of the trace may be needed.
 */
static int search_drifts(struct clock_search *search, int64_t from, int64_t to,
			 struct found *found)
{
	int64_t half = (to - from) / 2;
	double most = VIRT_CLOCK_MAX_PPM * 1e-6;
	int n = (int)ceil(most * (double)half / (2 * limits.slack)), ret = 0;
	struct clock_fit line = {
		.rate.pivot = from + half, .half = half, .slack = limits.slack,
		.range = most / n / 2, .n_rates = limits.rates,
	};
	struct found near = { 0 };

	for (int k = -n; k <= n && !ret; k++) {
		line.rate.rate = most * k / n;
		ret = add_candidates(search, from, to, &line, limits.max_close, &near);
	}
	if (!ret && near.n)
		qsort(near.fits, (size_t)near.n, sizeof(*near.fits), compare_fits);
	near.n = near.n < CLOCK_CANDIDATES ? near.n : CLOCK_CANDIDATES;
	if (!ret)
		ret = look_closely(search, from, to, &near, found);
	free(near.fits);
	return ret;
}

/** Is there no need to look elsewhere? With a drift, some events are outside more easily. */
static bool is_enough(const struct clock_fit *fit, bool drift)
{
	return fit->perfect || (drift && fit->score > fit->most / 10 * limits.tenths &&
				fit->score > limits.much * limits.no_chance);
}

/** Is something found, from number @known on, so that there is no need to look on? */
static bool is_found(struct clock_search *search, const struct found *found, int known, bool drift)
{
	for (int i = known; i < found->n && !search->patient; i++) {
		if (is_enough(&found->fits[i], drift)) {
			search->was_hasty = true;
			return true;
		}
	}
	return false;
}

/** Look at @n pieces, one after the other, until something is found that explains all. */
static int search_pieces(struct clock_search *search, int n, int64_t piece, bool drift,
			 struct found *found)
{
	int64_t all = search->guest_end + 1 - search->guest_begin;

	for (int i = 0; i < n && piece > 1; i++) {
		/* one alone is all of it */
		int64_t from = search->guest_begin +
			       (n > 1 ? (int64_t)((double)(all - piece) * i / (n - 1)) : 0);
		int known = found->n, ret = search_piece(search, from, from + piece, drift, found);

		if (ret || is_found(search, found, known, drift))
			return ret;
	}
	return 0;
}

/** With a drift: pieces for which it does little; then long ones, where most events are. */
static int search_drift(struct clock_search *search, int n, int64_t longest, struct found *found)
{
	int64_t all = search->guest_end + 1 - search->guest_begin, middles[CLOCK_LONG_PIECES];
	int64_t piece = all / (limits.pieces + 2);
	int64_t half = (longest < all ? longest : all) / 2;
	int known = found->n, ret;

	/* no drift shows at one moment */
	if (half < 1)
		return 0;
	piece = piece < limits.max_piece ? piece : limits.max_piece;
	ret = search_pieces(search, n, piece < longest ? piece : longest, true, found);
	half = half < limits.max_long / 2 ? half : limits.max_long / 2;
	n = all <= 2 * half + 1 ? 1 : CLOCK_LONG_PIECES;
	if (!ret)
		ret = clock_middles(search, middles, n);
	if (n == 1)
		middles[0] = search->guest_begin + half;
	n = ret;
	for (int i = 0; i < n && ret >= 0 && !is_found(search, found, known, true); i++) {
		known = found->n;
		ret = search_drifts(search, middles[i] - half, middles[i] + half + 1, found);
	}
	return ret < 0 ? ret : 0;
}

/** Do two lines explain all? Then it stays open, whatever else there is. */
static bool is_open(const struct found *found)
{
	const struct clock_fit *first = NULL;

	for (int i = 0; i < found->n; i++) {
		const struct clock_fit *fit = &found->fits[i];

		if (!fit->perfect)
			continue;
		if (first && fit->apart && clock_fits_differ(first, fit))
			return true;
		if (!first)
			first = fit;
	}
	return false;
}

/**
 * All of it at once, which is enough if the clocks do not drift; then pieces, for which a drift
 * does little. They are hardly longer than the host's trace, or most events would say nothing.
 */
static int search_all(struct clock_search *search, struct found *found)
{
	int64_t host = search->host_end - search->host_begin;
	int64_t all = search->guest_end + 1 - search->guest_begin;
	double needed = ceil(2.0 * (double)all / (double)host);
	int n = all <= host ? 1 : needed < limits.max_pieces ? (int)needed : limits.max_pieces, ret;
	int64_t longest = host > 2 * (all / n) ? host : 2 * (all / n);

	ret = search_pieces(search, n, all < longest ? all : longest, false, found);
	for (int i = 0; i < found->n && !search->patient; i++)
		if (found->fits[i].perfect)
			return ret;
	if (ret || is_open(found))
		return ret;
	return search_drift(search, n > limits.pieces ? n : limits.pieces, host, found);
}

/** Is there a line elsewhere that leaves hardly more unexplained? */
static void look_for_others(const struct found *found, struct virt_clock_alignment *alignment)
{
	const struct clock_fit *best = &found->fits[0];

	for (int i = 1; i < found->n; i++) {
		const struct clock_fit *fit = &found->fits[i];

		if (!fit->apart || !clock_fits_differ(best, fit) ||
		    fit->score < best->score - clock_clear(best->most))
			continue;
		alignment->verdict = VIRT_CLOCK_AMBIGUOUS;
		alignment->other_offset = clock_fit_offset(fit, fit->lo + (fit->hi - fit->lo) / 2);
		return;
	}
}

/** Is a search with handlers needed? Some may be without an injection, but rarely most. */
static bool wants_irqs(const struct clock_search *search,
		       const struct virt_clock_alignment *alignment)
{
	return search->tracks.stride > 1 &&
	       (alignment->verdict != VIRT_CLOCK_GOOD ||
		limits.few_handlers * alignment->interrupts_explained < alignment->interrupts);
}

static int search_and_judge(struct clock_search *search, struct virt_clock_alignment *alignment,
			    struct virt_clock_evidence *evidence)
{
	struct against_chance against_chance;
	struct found found = { 0 };
	int ret;

	*alignment = (struct virt_clock_alignment){ .verdict = VIRT_CLOCK_FEW };
	for (int32_t c = 0; c < search->problem->n_cpus; c++)
		search->pairing[c] = search->problem->cpus[c].vcpu;
	search->n_pool = 0;
	ret = search_all(search, &found);
	if (!ret && !found.n)
		judge(search, alignment, evidence);
	if (ret || !found.n)
		goto out;
	qsort(found.fits, (size_t)found.n, sizeof(*found.fits), compare_fits);
	ret = clock_fit_exactly(search, &found.fits[0], alignment);
	if (!ret)
		ret = clock_settle(search, alignment);
	if (ret)
		goto out;
	against_chance = judge(search, alignment, evidence);
	alignment->by_interrupts = irqs_agree(search, alignment, &against_chance);
	if (search->irqs && !alignment->by_interrupts)
		goto out;
	decide(search, alignment, &against_chance);
	if (alignment->verdict == VIRT_CLOCK_GOOD)
		ret = clock_fit_neighbours(search, alignment);
	if (!ret && alignment->verdict == VIRT_CLOCK_GOOD) {
		ret = clock_fit_elsewhere(search, alignment);
		/* what else may be found leaves these two */
		search->was_hasty &= alignment->verdict == VIRT_CLOCK_GOOD;
	}
	if (alignment->verdict == VIRT_CLOCK_GOOD)
		look_for_others(&found, alignment);
	if (!ret && alignment->verdict == VIRT_CLOCK_GOOD)
		ret = clock_region(search, alignment);
out:
	free(found.fits);
	return ret;
}

/**
 * Search with handlers or without. With them, the verdict is bad also if they disagree. The first
 * thing that explains all it can may be a few events far from the others, which is too little.
 */
static int search_once(struct clock_search *search, bool irqs,
		       struct virt_clock_alignment *alignment,
		       struct virt_clock_evidence *evidence)
{
	int ret;

	search->irqs = irqs;
	search->patient = search->was_hasty = false;
	ret = search_and_judge(search, alignment, evidence);
	if (ret || alignment->verdict == VIRT_CLOCK_GOOD || !search->was_hasty)
		return ret;
	search->patient = true;
	return search_and_judge(search, alignment, evidence);
}

/** Search once more, with handlers; @alignment stays as it is if nothing better is found. */
static int search_with_irqs(struct clock_search *search, struct virt_clock_alignment *alignment,
			    struct virt_clock_evidence *evidence)
{
	size_t n = (size_t)search->problem->n_cpus;
	struct virt_clock_evidence *with = calloc(n + 1, sizeof(*with));
	struct virt_clock_alignment found;
	int ret = with ? search_once(search, true, &found, with) : -ENOMEM;

	if (!ret && found.verdict == VIRT_CLOCK_GOOD) {
		*alignment = found;
		memcpy(evidence, with, n * sizeof(*with));
	}
	free(with);
	return ret;
}

int virt_clock_align(const struct virt_clock_problem *problem,
		     struct virt_clock_alignment *alignment, struct virt_clock_evidence *evidence)
{
	struct clock_search search;
	int ret = begin(&search, problem, CLOCK_WORK_SEARCH);

	if (ret)
		goto out;
	if (search.host_begin > search.host_end || search.guest_begin > search.guest_end) {
		*alignment = (struct virt_clock_alignment){ .verdict = VIRT_CLOCK_FEW };
		judge(&search, alignment, evidence);
		goto out;
	}
	ret = search_once(&search, false, alignment, evidence);
	if (!ret && wants_irqs(&search, alignment))
		ret = search_with_irqs(&search, alignment, evidence);
out:
	end(&search);
	return ret == -ETIME ? give_up(problem, alignment, evidence) : ret;
}
