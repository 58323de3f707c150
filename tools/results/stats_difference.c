// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	stats_difference.c
 * @brief	Find the differences between statistics of two samples, and whether chance alone
 *		causes them.
 *
 * Both samples give an estimate of each statistic, with its standard error. The measure is the
 * difference in standard errors. All values are put into one pool and divided anew, again and
 * again, to find out how large this measure becomes by chance. Because it is in standard errors, it
 * hardly depends on the distribution, or on which of the samples varies more.
 *
 * Percentiles jump from value to value, so a percentile of few values says little. Here a
 * percentile is an average of the values around it. The weight of each value is the probability
 * that it is the percentile of values drawn anew (much as F. E. Harrell and C. E. Davis, A new
 * distribution-free quantile estimator, 1982). Where the percentiles themselves do not differ in
 * the same direction, there is no difference.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distribution.h"
#include "random.h"
#include "stats_difference.h"
#include "virt_window.h"

enum { BASE, SAMPLE, N_SIDES };

/** The least number of extreme divisions at each end; with fewer, the limit is too vague. */
#define LEAST_EXTREME	8.0

/** What is smaller, beside the values themselves, is rounding. */
#define ROUNDING	1e-13

/**
 * @error: the square of its standard error
 * @plain: the percentile that @value is an average around; else the same
 */
struct estimate {
	double		value, error, plain;
};

/**
 * A percentile is the value of a rank; drawn anew with replacement, the value of this rank would be
 * that of another one with a known probability.
 */
struct rank {
	size_t		rank;			/* from 1; 0: too few values */
	size_t		first, n;		/* values that it could be, from 0 */
	double		*weights;
	double		*densities;		/* of weights, between each one and that below */
};

/** Limits outside of which there is more than chance. */
struct limits {
	double		low, high;
};

struct pool {
	const struct stats_method *method;
	const struct stats_sample *samples[N_SIDES];
	size_t		n_values;		/* of both samples */
	bool		positive;		/* all values are above 0 */
	int		scale;			/* values are divided by 2 to the power of it */
	double		least;			/* of them */
	double		*values;		/* of both samples, ascending */
	/* a division: */
	size_t		n[N_SIDES];
	double		*drawn;			/* all values, or some of them; ascending */
	double		*divided[N_SIDES], *inverses;
	struct rank	ranks[N_SIDES][STATS_N];
	uint64_t	random;
	/* all divisions: */
	size_t		n_divisions, at;
	size_t		look;			/* divisions after which clear cases need no more */
	bool		all;			/* each one once, the one that is seen, too */
	bool		enough;			/* enough divisions that some can be extreme */
	bool		open[STATS_N];		/* more divisions are needed */
	size_t		n_apart[STATS_N];
	size_t		*places;		/* of the sample's values, if it is each one once */
	double		*apart[STATS_N];	/* by division */
	/* the samples themselves: */
	struct estimate	seen[N_SIDES][STATS_N];
};

/* --- divisions ------------------------------------------------------------------------------- */

/** In how many ways @a + @b values can be divided; @most if there are more. */
static size_t count_divisions(size_t a, size_t b, size_t most)
{
	double n = 1;

	for (size_t i = 1; i <= (a < b ? a : b) && n <= (double)most; i++)
		n = n * (double)(a + b + 1 - i) / (double)i;
	return n > (double)most ? most : (size_t)lround(n);
}

/** The next one in a row that has each division once. */
static void next_division(struct pool *pool)
{
	size_t *places = pool->places, n = pool->n[SAMPLE], i = n;
	size_t taken[N_SIDES] = { 0, 0 };

	if (!pool->at) {
		for (size_t j = 0; j < n; j++)
			places[j] = j;
	} else {
		/* the last place that can be moved, and behind it those that follow */
		while (i > 1 && places[i - 1] == pool->n[BASE] + i - 1)
			i--;
		for (size_t place = places[i - 1] + 1; i <= n; i++)
			places[i - 1] = place++;
	}
	for (i = 0; i < pool->n_values; i++) {
		bool sample = taken[SAMPLE] < n && places[taken[SAMPLE]] == i;

		pool->divided[sample][taken[sample]++] = pool->values[i];
	}
}

/** Of many values, one out of each of as many groups, so that they are in order, too. */
static void draw_values(struct pool *pool, size_t n)
{
	size_t least = pool->n_values / n, more = pool->n_values % n, part = 0, from = 0;

	for (size_t i = 0; i < n; i++) {
		size_t size = least;

		/* as many groups have one more as there are values over, evenly */
		part += more;
		if (part >= n) {
			part -= n;
			size++;
		}
		pool->drawn[i] = pool->values[from + random_below(&pool->random, size)];
		from += size;
	}
}

/** Without branches: half of them would be guessed wrong. */
static void random_division(struct pool *pool)
{
	size_t total = pool->n[BASE] + pool->n[SAMPLE], wanted = pool->n[SAMPLE];
	const double *values = total < pool->n_values ? pool->drawn : pool->values;
	double *base = pool->divided[BASE], *sample = pool->divided[SAMPLE];
	uint64_t random = 0;

	if (total < pool->n_values)
		draw_values(pool, total);
	for (size_t i = 0; i < total; i++) {
		bool taken;

		/* 32 bits are enough for one of STATS_MAX_DIVIDED */
		random = i % 2 ? random >> 32 : random_next(&pool->random);
		taken = (uint32_t)random * (uint64_t)(total - i) >> 32 < wanted;
		/* there is room for one more on each side */
		*base = *sample = values[i];
		base += !taken;
		sample += taken;
		wanted -= taken;
	}
}

/* --- ranks ----------------------------------------------------------------------------------- */

/** Weights of less than this, all that are farther off together, make no difference. */
#define LEAST_WEIGHT	1e-7

/** The probability that the value of a rank, drawn anew, is among the @n_lowest. */
static double drawn_below(size_t n, size_t rank, size_t n_lowest)
{
	return distribution_binomial(n, (double)n_lowest / (double)n, rank);
}

/** By how much weights grow there, per value: the density of the rank among values from 0 to 1. */
static double density_below(size_t n, size_t rank, size_t n_lowest)
{
	double part = (double)n_lowest / (double)n, a = (double)rank, b = (double)(n - rank) + 1;

	return exp(lgamma(a + b) - lgamma(a) - lgamma(b) + (a - 1) * log(part) +
		   (b - 1) * log1p(-part));
}

/** Return: 0 or -ENOMEM. */
static int find_rank(struct rank *rank, size_t n, unsigned int per_mille)
{
	size_t at = virt_nearest_rank(n, per_mille) + 1, first = at - 1, end = at;
	double below;

	while (first && drawn_below(n, at, first) > LEAST_WEIGHT)
		first--;
	while (end < n && drawn_below(n, at, end) < 1 - LEAST_WEIGHT)
		end++;
	*rank = (struct rank){ at, first, end - first, calloc(end - first, sizeof(double)),
			       calloc(end - first, sizeof(double)) };
	if (!rank->weights || !rank->densities)
		return -ENOMEM;
	below = 0;
	for (size_t i = 0; i < rank->n; i++) {
		double next = i + 1 < rank->n ? drawn_below(n, at, first + i + 1) : 1;

		rank->weights[i] = next - below;
		rank->densities[i] = i ? density_below(n, at, first + i) : 0;
		below = next;
	}
	return 0;
}

/** The ranks of all percentiles that are still open. */
static int find_ranks(const struct pool *pool, struct rank ranks[STATS_N], size_t n)
{
	int ret = 0;

	for (int kind = STATS_P50; kind < STATS_N && !ret; kind++)
		if (pool->open[kind] && n >= stats_least_values(kind))
			ret = find_rank(&ranks[kind], n, stats_per_mille(kind));
	return ret;
}

static void release_ranks(struct rank ranks[STATS_N])
{
	for (int kind = 0; kind < STATS_N; kind++) {
		free(ranks[kind].weights);
		free(ranks[kind].densities);
		ranks[kind] = (struct rank){ 0 };
	}
}

/* --- estimates ------------------------------------------------------------------------------- */

/** Sums side by side, in two pairs, so that one addition need not wait for the other. */
#define LANES	4

typedef double pair_t __attribute__((vector_size(2 * sizeof(double))));

static pair_t pair_at(const double *values)
{
	pair_t pair;

	memcpy(&pair, values, sizeof(pair));
	return pair;
}

static double add_lanes(pair_t low, pair_t high)
{
	return (low[0] + low[1]) + (high[0] + high[1]);
}

static double mean_of(const double *values, size_t n)
{
	pair_t low = { 0 }, high = { 0 };
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		low += pair_at(values + i);
		high += pair_at(values + i + 2);
	}
	for (; i < n; i++)
		low[0] += values[i];
	return add_lanes(low, high) / (double)n;
}

/** The second and fourth powers of the distances from the mean, added up. */
static void add_powers(const double *values, size_t n, double mean, double *squares,
		       double *fourths)
{
	pair_t square[2] = { 0 }, fourth[2] = { 0 };
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		pair_t low = pair_at(values + i) - mean, high = pair_at(values + i + 2) - mean;

		low *= low;
		high *= high;
		square[0] += low;
		square[1] += high;
		fourth[0] += low * low;
		fourth[1] += high * high;
	}
	for (size_t lane = 0; i < n; i++, lane++) {
		double power = (values[i] - mean) * (values[i] - mean);

		square[lane / 2][lane % 2] += power;
		fourth[lane / 2][lane % 2] += power * power;
	}
	*squares = add_lanes(square[0], square[1]);
	*fourths = add_lanes(fourth[0], fourth[1]);
	/* equal values have a mean that may be off by rounding */
	if (*squares <= (double)n * ROUNDING * ROUNDING)
		*squares = *fourths = 0;
}

/** @spread: receives the logarithm of the variance; its kurtosis shows how that varies. */
static struct estimate estimate_mean(const double *values, size_t size, struct estimate *spread)
{
	double mean = mean_of(values, size), n = (double)size, squares, fourths;

	add_powers(values, size, mean, &squares, &fourths);
	if (spread) {
		spread->value = spread->plain = log(squares / (n - 1));
		spread->error = ((squares > 0 ? n * fourths / (squares * squares) : 1) -
				 (n - 3) / (n - 1)) / n;
	}
	return (struct estimate){ mean, squares / (n - 1) / n, mean };
}

/** The harmonic mean is the inverse of what this estimates. */
static struct estimate estimate_inverse(struct pool *pool, const double *values, size_t n)
{
	size_t i = 0;

	for (; i + 2 <= n; i += 2) {
		pair_t inverse = pool->least / pair_at(values + i);

		memcpy(&pool->inverses[i], &inverse, sizeof(inverse));
	}
	if (i < n)
		pool->inverses[i] = pool->least / values[i];
	return estimate_mean(pool->inverses, n, NULL);
}

/**
 * The standard error is that of what each value contributes: it moves the weights of all between
 * itself and the rank (the infinitesimal jackknife).
 */
static struct estimate estimate_percentile(const double *sorted, size_t size,
					   const struct rank *rank, double plain)
{
	const double *values = sorted + rank->first;
	double n = (double)size, sum = 0, above = 0, squares = 0, moved = 0;

	for (size_t i = rank->n - 1; i; i--) {
		double step = rank->densities[i] * (values[i] - values[i - 1]);

		sum += rank->weights[i] * (values[i] - plain);
		squares += above * above;
		above += step;
		moved += step * (double)(rank->first + i);
	}
	sum += rank->weights[0] * (values[0] - plain);
	squares += (double)(rank->first + 1) * above * above - moved * moved / n;
	squares /= n * (n - 1);
	return (struct estimate){ plain + sum, squares > ROUNDING * ROUNDING ? squares : 0, plain };
}

/** Of a sample's values, in ascending order. */
static void estimate_all(struct pool *pool, const double *values, size_t n,
			 const struct rank ranks[STATS_N], struct estimate estimate[STATS_N])
{
	if (pool->open[STATS_MEAN] || pool->open[STATS_STDDEV])
		estimate[STATS_MEAN] = estimate_mean(values, n, &estimate[STATS_STDDEV]);
	if (pool->open[STATS_HMEAN])
		estimate[STATS_HMEAN] = estimate_inverse(pool, values, n);
	for (int kind = STATS_P50; kind < STATS_N; kind++)
		if (pool->open[kind])
			estimate[kind] = estimate_percentile(values, n, &ranks[kind],
				stats_percentile(values, n, kind, pool->method->percentile));
}

/**
 * The standard error of a percentile comes from few values and varies much by itself. To divide by
 * a power of it that is less than 1 finds more, and still shows which of the samples varies more.
 */
#define PERCENTILE_POWER	0.8

/** What differences are divided by. @parts: the sum of 1 / n of both samples */
static double measure_of(int kind, double error, double parts)
{
	if (kind < STATS_P50 || !(error > 0))
		return sqrt(error);
	/* the errors of more values are smaller, and what is measured with them is not */
	return sqrt(parts) * pow(error / parts, PERCENTILE_POWER / 2);
}

/** A difference in such measures; without any error it is infinite. */
static double apart(int kind, const struct estimate *base, const struct estimate *sample,
		    double parts)
{
	double difference = sample->value - base->value;

	/* two logarithms of 0, too, do not differ */
	if (isnan(difference) || fabs(difference) <= ROUNDING ||
	    !(difference * (sample->plain - base->plain) > 0))
		return 0;
	return difference / measure_of(kind, base->error + sample->error, parts);
}

/** So small that its square is no problem, and not so small that its inverse is one. */
static double scaled(const struct pool *pool, double value)
{
	value = ldexp(value, -pool->scale);
	return pool->positive ? fmax(value, DBL_MIN) : value;
}

/** Is the statistic defined for both samples? */
static bool is_defined(const struct pool *pool, int kind)
{
	size_t least = stats_least_values(kind);

	return pool->samples[BASE]->n >= least && pool->samples[SAMPLE]->n >= least &&
	       (kind != STATS_HMEAN || pool->positive) && !pool->method->left_out[kind];
}

static double parts_of(const size_t n[N_SIDES])
{
	return 1 / (double)n[BASE] + 1 / (double)n[SAMPLE];
}

static double seen_parts(const struct pool *pool)
{
	const size_t n[N_SIDES] = { pool->samples[BASE]->n, pool->samples[SAMPLE]->n };

	return parts_of(n);
}

/** How far apart the samples themselves are, and in which measure. */
static double seen_apart(const struct pool *pool, int kind)
{
	return apart(kind, &pool->seen[BASE][kind], &pool->seen[SAMPLE][kind], seen_parts(pool));
}

static double seen_measure(const struct pool *pool, int kind)
{
	return measure_of(kind, pool->seen[BASE][kind].error + pool->seen[SAMPLE][kind].error,
			  seen_parts(pool));
}

static bool is_mean(int kind)
{
	return kind == STATS_MEAN || kind == STATS_HMEAN;
}

/** How many of @n divisions are beyond what the confidence allows, at each end. */
static double in_tail(const struct pool *pool, size_t n)
{
	return (1 - pool->method->confidence) / 2 * (double)(n + !pool->all);
}

/**
 * How many of @n divisions may be extreme at each end, 0 if it is too few. Among divisions that are
 * drawn, the one that is seen counts, too.
 */
static size_t count_extreme(const struct pool *pool, size_t n)
{
	/* a whole number stays one in spite of rounding */
	return (size_t)(in_tail(pool, n) + 1e-9);
}

/**
 * Where clearly more divisions are as extreme as what is seen, more of them would not change the
 * verdict: if only those that may be were, as many would be with a probability below 1e-5.
 */
static bool is_clear(const struct pool *pool, int kind)
{
	double seen = seen_apart(pool, kind), expected = in_tail(pool, pool->at);
	size_t many = (size_t)(expected + 5 * sqrt(expected) + 5), above = 0, below = 0;

	for (size_t i = 0; i < pool->at; i++) {
		above += pool->apart[kind][i] >= seen;
		below += pool->apart[kind][i] <= seen;
	}
	return above >= many && below >= many;
}

/** Return: whether more divisions are needed. */
static bool look(struct pool *pool)
{
	bool more = false;

	for (int kind = 0; kind < STATS_N; kind++) {
		pool->open[kind] = pool->open[kind] && !is_clear(pool, kind);
		more |= pool->open[kind];
	}
	return more;
}

static void divide(struct pool *pool)
{
	struct estimate base[STATS_N], sample[STATS_N];
	double parts = parts_of(pool->n);

	for (pool->at = 0; pool->at < pool->n_divisions && pool->enough; pool->at++) {
		if (pool->at == pool->look && !look(pool))
			break;
		if (pool->all)
			next_division(pool);
		else
			random_division(pool);
		estimate_all(pool, pool->divided[BASE], pool->n[BASE], pool->ranks[BASE], base);
		estimate_all(pool, pool->divided[SAMPLE], pool->n[SAMPLE], pool->ranks[SAMPLE],
			     sample);
		for (int kind = 0; kind < STATS_N; kind++)
			if (pool->open[kind])
				pool->apart[kind][pool->n_apart[kind]++] =
					apart(kind, &base[kind], &sample[kind], parts);
	}
}

/* --- judgement ------------------------------------------------------------------------------- */

/** By Student's distribution if the divisions are too few, as Welch does. */
static struct limits limits_of(struct pool *pool, int kind, const struct estimate *base,
			       const struct estimate *sample)
{
	double a = base->error, b = sample->error, *values = pool->apart[kind], limit;
	size_t n = pool->n_apart[kind], extreme;
	double freedom = INFINITY;

	if (pool->enough) {
		extreme = count_extreme(pool, n) - !pool->all;
		return (struct limits){ stats_select(values, n, extreme),
					stats_select(values, n, n - 1 - extreme) };
	}
	if (a + b > 0)
		freedom = (a + b) * (a + b) / (a * a / (double)(pool->samples[BASE]->n - 1) +
					       b * b / (double)(pool->samples[SAMPLE]->n - 1));
	limit = distribution_student(pool->method->confidence, freedom);
	return (struct limits){ -limit, limit };
}

/** Is it beyond a limit by more than rounding? */
static bool is_beyond(double value, double limit)
{
	return isfinite(limit) ? value > limit + fabs(limit) * 1e-9 : value > limit;
}

/** A ratio less 1, in per cent, at which both would be so far apart: an end of Fieller's. */
static double ratio_end(const struct estimate *base, const struct estimate *sample, double away)
{
	double rest = base->value * base->value - away * away * base->error;
	double root = base->error * sample->value * sample->value + sample->error * rest;

	if (!(rest > 0) || !isfinite(away))
		return NAN;
	return 100 * ((base->value * sample->value - away * sqrt(root)) / rest - 1);
}

static struct stats_interval ratio_interval(struct estimate base, struct estimate sample,
					    const struct limits *limits)
{
	if (base.value > 0)
		return (struct stats_interval){ ratio_end(&base, &sample, limits->high),
						ratio_end(&base, &sample, limits->low) };
	/* what becomes more negative becomes less */
	base.value = -base.value;
	sample.value = -sample.value;
	return (struct stats_interval){ -ratio_end(&base, &sample, -limits->high),
					-ratio_end(&base, &sample, -limits->low) };
}

/** So that the interval has the difference in it. */
static void include(struct stats_interval *interval, double difference)
{
	if (!isnan(interval->low) && !isnan(difference)) {
		interval->low = fmin(interval->low, difference);
		interval->high = fmax(interval->high, difference);
	}
}

static void set_plain(const struct pool *pool, struct estimate base, struct estimate sample,
		      const struct limits *limits, struct stats_difference *difference)
{
	double distance = sample.value - base.value, error = sqrt(base.error + sample.error);

	difference->interval = (struct stats_interval){
		ldexp(distance - (error > 0 ? limits->high * error : 0), pool->scale),
		ldexp(distance - (error > 0 ? limits->low * error : 0), pool->scale),
	};
	include(&difference->interval, ldexp(sample.plain - base.plain, pool->scale));
	/* an average around the percentile may be above 0 if the percentile is not */
	if (base.plain * base.value > 0)
		difference->percent = ratio_interval(base, sample, limits);
	include(&difference->percent, stats_percent(base.plain, sample.plain));
}

/** What is known in per cent of the base's value alone. */
static void set_percent(const struct pool *pool, int kind, struct stats_interval percent,
			struct stats_difference *difference)
{
	double part = fabs(pool->samples[BASE]->value[kind]) / 100;

	difference->percent = percent;
	difference->interval = (struct stats_interval){ percent.low * part, percent.high * part };
}

static void set_harmonic(const struct pool *pool, struct estimate base, struct estimate sample,
			 const struct limits *limits, struct stats_difference *difference)
{
	const struct limits turned = { -limits->high, -limits->low };

	/* the ratio of harmonic means is that of the inverses, turned round */
	set_percent(pool, STATS_HMEAN, ratio_interval(sample, base, &turned), difference);
}

static void set_spread(const struct pool *pool, struct estimate base, struct estimate sample,
		       const struct limits *limits, struct stats_difference *difference)
{
	double ratio = sample.value - base.value, error = sqrt(base.error + sample.error);

	set_percent(pool, STATS_STDDEV, (struct stats_interval){
			100 * expm1((ratio - limits->high * error) / 2),
			100 * expm1((ratio - limits->low * error) / 2) }, difference);
}

/** An interval has both ends, or none; and 0 is in it as the verdict says, in spite of rounding. */
static void tidy(struct stats_interval *interval, enum stats_verdict verdict)
{
	if (!isfinite(interval->low) || !isfinite(interval->high))
		*interval = (struct stats_interval){ NAN, NAN };
	if (verdict != STATS_SAME)
		return;
	interval->low = interval->low > 0 ? 0 : interval->low;
	interval->high = interval->high < 0 ? 0 : interval->high;
}

static void judge(struct pool *pool, int kind, struct stats_difference *difference)
{
	const struct estimate *base = &pool->seen[BASE][kind], *sample = &pool->seen[SAMPLE][kind];
	double away, error = base->error + sample->error;
	struct limits limits;

	if (!is_defined(pool, kind) || (!pool->enough && !is_mean(kind)))
		return;
	limits = limits_of(pool, kind, base, sample);
	away = seen_apart(pool, kind);
	difference->verdict = is_beyond(away, limits.high) || is_beyond(-away, -limits.low) ?
			      STATS_DIFFERENT : STATS_SAME;
	/* from here on in standard errors, whatever was divided by */
	if (error > 0) {
		limits.low *= seen_measure(pool, kind) / sqrt(error);
		limits.high *= seen_measure(pool, kind) / sqrt(error);
	}
	if (kind == STATS_STDDEV)
		set_spread(pool, *base, *sample, &limits, difference);
	else if (kind == STATS_HMEAN)
		set_harmonic(pool, *base, *sample, &limits, difference);
	else
		set_plain(pool, *base, *sample, &limits, difference);
	tidy(&difference->interval, difference->verdict);
	tidy(&difference->percent, difference->verdict);
	/* what is never negative cannot become less than nothing */
	if (pool->least >= 0 && difference->percent.low < -100)
		difference->percent.low = -100;
}

/** Estimate the statistics of the samples themselves. Return: 0 or -ENOMEM. */
static int see(struct pool *pool)
{
	struct rank ranks[STATS_N] = { { 0 } };
	int ret = 0;

	for (int side = 0; side < N_SIDES && !ret; side++) {
		const struct stats_sample *sample = pool->samples[side];

		for (size_t i = 0; i < sample->n; i++)
			pool->values[i] = scaled(pool, sample->sorted[i]);
		ret = find_ranks(pool, ranks, sample->n);
		if (!ret)
			estimate_all(pool, pool->values, sample->n, ranks, pool->seen[side]);
		release_ranks(ranks);
	}
	return ret;
}

/* --- all ------------------------------------------------------------------------------------- */

/** A division has all values, or as many of each sample as are drawn. */
static void plan_sizes(struct pool *pool)
{
	for (int side = 0; side < N_SIDES; side++) {
		pool->n[side] = pool->samples[side]->n;
		if (pool->n_values > STATS_MAX_DIVIDED && pool->n[side] > STATS_MAX_DIVIDED / 2)
			pool->n[side] = STATS_MAX_DIVIDED / 2;
	}
}

/** How many divisions there will be, and after how many what is clear needs no more. */
static void plan_divisions(struct pool *pool)
{
	double tail = (1 - pool->method->confidence) / 2;
	size_t most = pool->method->resamples, divisions;

	if (tail * (double)most < LEAST_EXTREME)
		most = tail * STATS_MAX_RESAMPLES < LEAST_EXTREME ? STATS_MAX_RESAMPLES :
		       (size_t)ceil(LEAST_EXTREME / tail);
	divisions = count_divisions(pool->n[BASE], pool->n[SAMPLE], most + 1);
	pool->all = pool->n_values <= STATS_MAX_DIVIDED && divisions <= most;
	pool->n_divisions = pool->all ? divisions : most;
	pool->enough = count_extreme(pool, pool->n_divisions) > 0;
	/* as many as the confidence needs at least */
	pool->look = pool->method->resamples;
	if (!pool->all && pool->enough)
		while (!count_extreme(pool, pool->look))
			pool->look++;
}

static double *doubles(size_t n, bool *failed)
{
	double *values = calloc(n + 1, sizeof(*values));

	*failed |= !values;
	return values;
}

static int allocate(struct pool *pool)
{
	bool failed = false;
	int ret = 0;

	pool->values = doubles(pool->n_values, &failed);
	pool->inverses = doubles(pool->n_values, &failed);
	pool->drawn = doubles(pool->n[BASE] + pool->n[SAMPLE], &failed);
	pool->places = calloc(pool->n[SAMPLE], sizeof(*pool->places));
	failed |= !pool->places;
	for (int side = 0; side < N_SIDES; side++)
		pool->divided[side] = doubles(pool->n[side], &failed);
	for (int kind = 0; kind < STATS_N; kind++)
		pool->apart[kind] = doubles(pool->open[kind] ? pool->n_divisions : 0, &failed);
	for (int side = 0; side < N_SIDES && !failed && !ret; side++)
		ret = find_ranks(pool, pool->ranks[side], pool->n[side]);
	return failed ? -ENOMEM : ret;
}

static void release(struct pool *pool)
{
	free(pool->values);
	free(pool->inverses);
	free(pool->drawn);
	free(pool->places);
	for (int side = 0; side < N_SIDES; side++) {
		free(pool->divided[side]);
		release_ranks(pool->ranks[side]);
	}
	for (int kind = 0; kind < STATS_N; kind++)
		free(pool->apart[kind]);
}

static void set_scale(struct pool *pool)
{
	const struct stats_sample *base = pool->samples[BASE], *sample = pool->samples[SAMPLE];
	double most = fmax(fabs(base->sorted[base->n - 1]), fabs(sample->sorted[sample->n - 1]));

	frexp(fmax(most, fabs(pool->least)), &pool->scale);
	pool->least = scaled(pool, pool->least);
}

/** The values of both samples, in order. */
static void fill(struct pool *pool)
{
	const struct stats_sample *base = pool->samples[BASE], *sample = pool->samples[SAMPLE];
	size_t i = 0, j = 0;

	while (i < base->n || j < sample->n) {
		bool first = j == sample->n ||
			     (i < base->n && base->sorted[i] <= sample->sorted[j]);

		pool->values[i + j] = scaled(pool, first ? base->sorted[i] : sample->sorted[j]);
		i += first;
		j += !first;
	}
}

/** The fixed work of each division, and of each difference, in values. */
#define DIVISION_WORK	60
#define DIFFERENCE_WORK	2000

double stats_work(size_t base, size_t sample, const struct stats_method *method)
{
	const struct stats_sample samples[N_SIDES] = { { .n = base }, { .n = sample } };
	struct pool pool = { .method = method, .samples = { &samples[BASE], &samples[SAMPLE] },
			     .n_values = base + sample };
	int kinds = 0;

	if (base < 2 || sample < 2)
		return 0;
	plan_sizes(&pool);
	plan_divisions(&pool);
	if (!pool.enough)
		return DIFFERENCE_WORK;
	for (int kind = 0; kind < STATS_N; kind++)
		kinds += !method->left_out[kind];
	/* most differences are clear when they are looked at; dividing is as much as two kinds */
	return DIFFERENCE_WORK + (double)(pool.n_divisions < pool.look ? pool.n_divisions :
					  pool.look) * (kinds + 2) / (STATS_N + 2) *
	       (double)(pool.n[BASE] + pool.n[SAMPLE] + DIVISION_WORK);
}

int stats_differences(const struct stats_sample *base, const struct stats_sample *sample,
		      const struct stats_method *method,
		      struct stats_difference difference[STATS_N])
{
	struct pool pool = { .method = method, .samples = { base, sample },
			     .n_values = base->n + sample->n, .random = method->seed };
	int ret;

	for (int kind = 0; kind < STATS_N; kind++) {
		bool known = !isnan(base->value[kind]) && !isnan(sample->value[kind]) &&
			     !method->left_out[kind];

		difference[kind] = (struct stats_difference){
			known ? STATS_TOO_FEW : STATS_UNKNOWN, { NAN, NAN }, { NAN, NAN }
		};
	}
	if (base->n < 2 || sample->n < 2)
		return 0;
	pool.least = fmin(base->sorted[0], sample->sorted[0]);
	pool.positive = pool.least > 0;
	plan_sizes(&pool);
	plan_divisions(&pool);
	for (int kind = 0; kind < STATS_N; kind++)
		pool.open[kind] = is_defined(&pool, kind);
	ret = allocate(&pool);
	if (!ret) {
		set_scale(&pool);
		ret = see(&pool);
	}
	if (!ret) {
		fill(&pool);
		divide(&pool);
		for (int kind = 0; kind < STATS_N; kind++)
			judge(&pool, kind, &difference[kind]);
	}
	release(&pool);
	return ret;
}
