// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_calibrate.c
 * @brief	Collect run times from scheduler records and fit the TSC's frequency to them.
 *
 * Xen's scheduler reads the system time once per context switch and notes with
 * TRC_SCHED_SWITCH_INFPREV for how many ns the outgoing vCPU ran (xen/common/sched/core.c,
 * sched_switch_units()): the time since that vCPU was switched in on this pCPU. As long as no
 * switch is missing, the sum of the run times is the pCPU's system time. Each sum is a point beside
 * the record's TSC; the points between two losses make a chain with an unknown start but the same
 * slope.
 *
 * Xen adjusts each pCPU's system time to a platform timer, some better than others (much so on
 * emulated machines): each pCPU is fitted for itself and counts by how well it keeps to its line.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "select.h"
#include "xen_calibrate.h"
#include "xen_events.h"
#include "xen_running.h"
#include "xentrace_reader.h"

/** Points that are enough, and are kept at most. */
#define MAX_POINTS	400000

/** Fewer run times than this show nothing. */
#define MIN_POINTS	16

/** Nor does a shorter span of time (ns). */
#define MIN_SPAN_NS	1000000

/** A run time whose cycles per ns differ by more from the typical ones breaks the chain. */
#define MAX_DEVIATION	0.5

/** ... apart from this, the time between reading the clock and writing the record. */
#define MAX_OFFSET_NS	100000

/** Rounds of fitting, each without the worst points of the one before. */
#define ROUNDS		5

/** One point. */
struct point {
	double		ns;		/* sum of the run times in this chain */
	double		cycles;		/* TSC since the chain's first switch */
	uint32_t	chain;
	bool		used;
};

/** One run time. */
struct runtime {
	uint64_t	begin_tsc, end_tsc;
	uint32_t	ns;
	uint32_t	run;
};

/** What is known of a run (a pCPU). */
struct pcpu {
	uint64_t	switch_tsc;	/* last INFPREV */
	xen_vcpu	running;	/* switched in there; XEN_VCPU_UNKNOWN */
};

/** Numbers of payload words; negative: there is none. */
struct places {
	int8_t		domid, vcpu, runtime;
};

struct xen_calibrate {
	struct places	prev[XENTRACE_MAX_WORDS + 1];	/* of INFPREV, by its length */
	struct places	next[XENTRACE_MAX_WORDS + 1];	/* of INFNEXT */
	struct pcpu	*pcpus;
	uint32_t	n_pcpus;
	struct runtime	*runtimes;
	uint32_t	n_runtimes;
};

static struct places places_of(uint32_t event, unsigned int n_words)
{
	return (struct places){
		.domid = (int8_t)xen_event_word(event, n_words, "domid"),
		.vcpu = (int8_t)xen_event_word(event, n_words, "vcpu"),
		.runtime = (int8_t)xen_event_word(event, n_words, "runtime"),
	};
}

struct xen_calibrate *xen_calibrate_new(uint32_t n_runs)
{
	struct xen_calibrate *cal = calloc(1, sizeof(*cal));

	if (!cal)
		return NULL;
	for (unsigned int n = 0; n <= XENTRACE_MAX_WORDS; n++) {
		cal->prev[n] = places_of(XEN_TRC_SCHED_SWITCH_INFPREV, n);
		cal->next[n] = places_of(XEN_TRC_SCHED_SWITCH_INFNEXT, n);
	}
	cal->n_pcpus = n_runs;
	cal->pcpus = malloc((n_runs ? n_runs : 1) * sizeof(*cal->pcpus));
	cal->runtimes = malloc(MAX_POINTS * sizeof(*cal->runtimes));
	if (!cal->pcpus || !cal->runtimes) {
		xen_calibrate_free(cal);
		return NULL;
	}
	for (uint32_t i = 0; i < n_runs; i++)
		cal->pcpus[i] = (struct pcpu){ .running = XEN_VCPU_UNKNOWN };
	return cal;
}

void xen_calibrate_free(struct xen_calibrate *cal)
{
	if (!cal)
		return;
	free(cal->pcpus);
	free(cal->runtimes);
	free(cal);
}

/** The vCPU in a switch record; before 4.8 it is the domain alone. */
static xen_vcpu vcpu_in(const struct xentrace_record *rec, const struct places *places)
{
	uint32_t vcpu = places->vcpu < 0 ? 0 : xentrace_word(rec, places->vcpu);

	return places->domid < 0 ? XEN_VCPU_UNKNOWN :
				   xentrace_word(rec, places->domid) << 16 | (vcpu & 0xffff);
}

void xen_calibrate_observe(struct xen_calibrate *cal, const struct xentrace_record *rec)
{
	const struct places *prev = &cal->prev[rec->n_words];
	struct pcpu *pcpu = &cal->pcpus[rec->run];
	uint32_t ns = 0;

	if (rec->event == XEN_TRC_LOST_RECORDS || (rec->flags & XENTRACE_AFTER_GAP))
		pcpu->running = XEN_VCPU_UNKNOWN;
	if (rec->event == XEN_TRC_SCHED_SWITCH_INFNEXT) {
		pcpu->running = vcpu_in(rec, &cal->next[rec->n_words]);
		return;
	}
	if (rec->event != XEN_TRC_SCHED_SWITCH_INFPREV)
		return;
	if (prev->runtime >= 0)
		ns = xentrace_word(rec, prev->runtime);
	if (pcpu->running != XEN_VCPU_UNKNOWN && pcpu->running == vcpu_in(rec, prev) &&
	    cal->n_runtimes < MAX_POINTS && ns)
		cal->runtimes[cal->n_runtimes++] = (struct runtime){
			.begin_tsc = pcpu->switch_tsc, .end_tsc = rec->tsc,
			.ns = ns, .run = rec->run,
		};
	pcpu->switch_tsc = rec->tsc;
	pcpu->running = XEN_VCPU_UNKNOWN;	/* until INFNEXT shows it */
}

static double median(double *values, uint32_t n)
{
	double below;

	SELECT_NTH(values, 0, n, n / 2);
	if (n % 2)
		return values[n / 2];
	below = values[0];
	for (uint32_t i = 1; i < n / 2; i++)
		below = fmax(below, values[i]);
	return (below + values[n / 2]) / 2;
}

static double ratio(const struct runtime *r)
{
	return (double)(r->end_tsc - r->begin_tsc) / r->ns;
}

/** Typical cycles per ns of the longer half of the run times, which noise bends least. */
static double typical_ratio(const struct xen_calibrate *cal, double *scratch)
{
	uint32_t n = 0;
	double half;

	for (uint32_t i = 0; i < cal->n_runtimes; i++)
		scratch[i] = cal->runtimes[i].ns;
	half = median(scratch, cal->n_runtimes);
	for (uint32_t i = 0; i < cal->n_runtimes; i++)
		if (cal->runtimes[i].ns >= half)
			scratch[n++] = ratio(&cal->runtimes[i]);
	return median(scratch, n);
}

/** String a pCPU's run times together. Return: number of points. */
static uint32_t make_points(const struct runtime *runtimes, uint32_t n_runtimes, double typical,
			    struct point *points, uint32_t *n_chains)
{
	double ns = 0, cycles = 0;
	uint64_t end_tsc = 0;
	uint32_t n = 0;

	*n_chains = 1;
	for (uint32_t i = 0; i < n_runtimes; i++) {
		const struct runtime *r = &runtimes[i];
		uint64_t duration = r->end_tsc - r->begin_tsc;
		/* 32 bits of ns hold 4.3 s: a longer run time does not fit its TSCs */
		bool fits = fabs(duration - r->ns * typical) < MAX_DEVIATION * r->ns * typical +
			    MAX_OFFSET_NS * typical;

		if (end_tsc != r->begin_tsc || !fits) {
			ns = cycles = 0;
			(*n_chains)++;
		}
		end_tsc = fits ? r->end_tsc : 0;
		if (!fits)
			continue;
		ns += r->ns;
		cycles += duration;
		points[n++] = (struct point){ ns, cycles, *n_chains - 1, true };
	}
	return n;
}

/** Sums over the points of one chain. */
struct chain_sums {
	double	n, ns, excess;		/* excess: cycles - typical * ns, small numbers */
};

/** Common slope of all chains' used points: cycles per ns. */
static double common_slope(const struct point *points, uint32_t n, double typical,
			   struct chain_sums *sums, uint32_t n_chains, double *sxx)
{
	double sxy = 0;

	for (uint32_t i = 0; i < n_chains; i++)
		sums[i] = (struct chain_sums){ 0 };
	for (uint32_t i = 0; i < n; i++) {
		struct chain_sums *s = &sums[points[i].chain];

		if (!points[i].used)
			continue;
		s->n++;
		s->ns += points[i].ns;
		s->excess += points[i].cycles - typical * points[i].ns;
	}
	*sxx = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct chain_sums *s = &sums[points[i].chain];
		double x;

		if (!points[i].used)
			continue;
		x = points[i].ns - s->ns / s->n;
		*sxx += x * x;
		sxy += x * (points[i].cycles - typical * points[i].ns - s->excess / s->n);
	}
	return *sxx > 0 ? typical + sxy / *sxx : 0;
}

/** Leave out what lies far off the line. Return: mean square of the rest. */
static double reject_outliers(struct point *points, uint32_t n, double typical, double slope,
			      const struct chain_sums *sums, double *scratch)
{
	double square = 0, limit;
	uint32_t used = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct chain_sums *s = &sums[points[i].chain];
		double excess = points[i].cycles - typical * points[i].ns;

		scratch[n + i] = s->n ? fabs(excess - s->excess / s->n -
					     (slope - typical) * (points[i].ns - s->ns / s->n))
				      : INFINITY;
		scratch[i] = scratch[n + i];
	}
	limit = 4.5 * median(scratch, n) + 1;	/* 3 sigma of a normal distribution */
	for (uint32_t i = 0; i < n; i++) {
		double off = scratch[n + i];

		points[i].used = off <= limit;
		if (!points[i].used)
			continue;
		square += off * off;
		used++;
	}
	return used > 2 ? square / used : 0;
}

/** Memory for fitting one pCPU. */
struct workspace {
	struct point		*points;
	double			*scratch;
	struct chain_sums	*sums;
};

/** Result of one pCPU. */
struct slope {
	double		cycles_per_ns;
	double		error;		/* standard error */
	double		span;		/* ns */
	uint32_t	n;
};

/** Fit one pCPU. Return: false if its run times do not show a slope. */
static bool fit_pcpu(const struct runtime *runtimes, uint32_t n_runtimes, double typical,
		     struct workspace *work, struct slope *slope)
{
	double sxx = 0, variance = 0;
	uint32_t n_chains;

	slope->n = make_points(runtimes, n_runtimes, typical, work->points, &n_chains);
	slope->span = 0;
	for (uint32_t i = 0; i < slope->n; i++)
		slope->span = fmax(slope->span, work->points[i].ns);
	if (slope->n < MIN_POINTS || slope->span < MIN_SPAN_NS)
		return false;
	for (int round = 0; round < ROUNDS; round++) {
		slope->cycles_per_ns = common_slope(work->points, slope->n, typical, work->sums,
						    n_chains, &sxx);
		if (slope->cycles_per_ns <= 0)
			return false;
		variance = reject_outliers(work->points, slope->n, typical, slope->cycles_per_ns,
					   work->sums, work->scratch);
	}
	/* neighbouring points share their noise: the span counts, not the number of points */
	slope->error = (sqrt(variance) + 1) / slope->span;
	return true;
}

/** Weighted mean of the pCPUs' slopes. Return: number of pCPUs with a slope. */
static uint32_t combine(const struct xen_calibrate *cal, double typical, struct workspace *work,
			struct xen_clock_fit *fit)
{
	double weights = 0, mean = 0, scatter = 0;
	uint32_t n = 0, begin, end;
	struct slope slope;

	fit->n_samples = fit->span_ns = 0;
	for (begin = 0; begin < cal->n_runtimes; begin = end) {
		double weight, off;

		for (end = begin; end < cal->n_runtimes &&
		     cal->runtimes[end].run == cal->runtimes[begin].run; end++)
			;
		if (!fit_pcpu(cal->runtimes + begin, end - begin, typical, work, &slope))
			continue;
		weight = 1 / (slope.error * slope.error);
		off = slope.cycles_per_ns - mean;
		/* weighted mean and variance in one pass (West 1979) */
		weights += weight;
		mean += weight / weights * off;
		scatter += weight * off * (slope.cycles_per_ns - mean);
		fit->n_samples += slope.n;
		if (slope.span > fit->span_ns)
			fit->span_ns = slope.span;
		n++;
	}
	if (!n)
		return 0;
	fit->hz = mean > 0 && mean < 1e3 ? llround(mean * 1e9) : 0;
	/* pCPUs that disagree more than their own errors allow make the result less certain */
	scatter = n > 1 ? scatter / (n - 1) : 0;
	fit->residual_ppm = sqrt(fmax(1, scatter) / weights) / mean * 1e6;
	return n;
}

/** Those of each run together, in their order, which is that of time. Return: 0 or -ENOMEM. */
static int order_by_run(struct xen_calibrate *cal)
{
	struct runtime *ordered = malloc(MAX_POINTS * sizeof(*ordered));
	uint32_t *place = calloc((size_t)cal->n_pcpus + 1, sizeof(*place));
	int ret = ordered && place ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < cal->n_runtimes && !ret; i++)
		place[cal->runtimes[i].run + 1]++;
	for (uint32_t run = 0; run < cal->n_pcpus && !ret; run++)
		place[run + 1] += place[run];
	for (uint32_t i = 0; i < cal->n_runtimes && !ret; i++)
		ordered[place[cal->runtimes[i].run]++] = cal->runtimes[i];
	free(place);
	if (ret) {
		free(ordered);
		return ret;
	}
	free(cal->runtimes);
	cal->runtimes = ordered;
	return 0;
}

int xen_calibrate_fit(struct xen_calibrate *cal, struct xen_clock_fit *fit)
{
	uint32_t n = cal->n_runtimes;
	struct workspace work = {
		.points = malloc((n + 1) * sizeof(*work.points)),
		.scratch = malloc((2 * n + 1) * sizeof(*work.scratch)),
		.sums = malloc((n + 2) * sizeof(*work.sums)),
	};
	int ret = -ENOMEM;

	if (!work.points || !work.scratch || !work.sums)
		goto out;
	ret = -ENODATA;
	if (n < MIN_POINTS)
		goto out;
	ret = order_by_run(cal);
	if (ret)
		goto out;
	ret = -ENODATA;
	if (combine(cal, typical_ratio(cal, work.scratch), &work, fit) &&
	    fit->hz >= XEN_CLOCK_MIN_HZ && fit->hz <= XEN_CLOCK_MAX_HZ)
		ret = 0;
out:
	free(work.points);
	free(work.scratch);
	free(work.sums);
	return ret;
}

int xen_clock_calibrate(const struct xentrace *reader, struct xen_clock_fit *fit)
{
	struct xen_calibrate *cal = xen_calibrate_new(xentrace_n_runs(reader));
	struct xentrace_iter *iter = cal ? xentrace_iter_new(reader, NULL) : NULL;
	struct xentrace_record rec;
	int ret = -ENOMEM;

	if (iter) {
		while (xentrace_iter_next(iter, &rec))
			xen_calibrate_observe(cal, &rec);
		ret = xentrace_iter_error(iter);
	}
	if (iter && !ret)
		ret = xen_calibrate_fit(cal, fit);
	xentrace_iter_free(iter);
	xen_calibrate_free(cal);
	return ret;
}
