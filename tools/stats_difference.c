// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	stats_difference.c
 * @brief	By how much statistics of two samples differ, and whether chance alone does that.
 *
 * Each statistic is estimated with its standard error, from both samples; what counts is the
 * difference in standard errors. All values are put into one pool and divided anew, again and
 * again, to find out how large that becomes by chance. Because it is in standard errors, it hardly
 * depends on the distribution, nor on which of the samples varies more.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "distribution.h"
#include "stats_difference.h"
#include "virt_window.h"

enum { BASE, SAMPLE, N_SIDES };

/** So many divisions should be extreme at each end, or it is too vague where the limit is. */
#define LEAST_EXTREME	8.0

/** What is smaller, beside the values themselves, is rounding. */
#define ROUNDING	1e-13

/** @error: the square of its standard error */
struct estimate {
	double		value, error;
};

/**
 * A percentile is the value of a rank; drawn anew with replacement, the value of this rank would be
 * that of another one with a known probability.
 */
struct rank {
	size_t		rank;			/* from 1; 0: too few values */
	size_t		first, n;		/* values that it could be, from 0 */
	double		*weights;
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
	bool		all;			/* each one once, the one that is seen, too */
	bool		enough;			/* so many that some can be extreme */
	size_t		extreme;		/* so many at each end are, at most */
	size_t		*places;		/* of the sample's values, if it is each one once */
	double		*apart[STATS_N];	/* by division */
};

/* --- divisions ------------------------------------------------------------------------------- */

/** The generator splitmix64: good enough for drawing, and the same everywhere. */
static uint64_t next_random(struct pool *pool)
{
	uint64_t z = pool->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/** A number below @limit. */
static size_t random_below(struct pool *pool, size_t limit)
{
	return (size_t)((unsigned __int128)next_random(pool) * limit >> 64);
}

/** In how many ways so many values can be divided; @most if there are more. */
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
static void draw(struct pool *pool, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t from = pool->n_values * i / n, to = pool->n_values * (i + 1) / n;

		pool->drawn[i] = pool->values[from + random_below(pool, to - from)];
	}
}

static void random_division(struct pool *pool)
{
	size_t total = pool->n[BASE] + pool->n[SAMPLE];
	size_t taken[N_SIDES] = { 0, 0 };

	if (total < pool->n_values)
		draw(pool, total);
	for (size_t i = 0; i < total; i++) {
		bool sample = random_below(pool, total - i) < pool->n[SAMPLE] - taken[SAMPLE];

		pool->divided[sample][taken[sample]++] =
			(total < pool->n_values ? pool->drawn : pool->values)[i];
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

/** Return: 0 or -ENOMEM. */
static int find_rank(struct rank *rank, size_t n, unsigned int per_mille)
{
	size_t at = virt_nearest_rank(n, per_mille) + 1, first = at - 1, end = at;
	double below;

	while (first && drawn_below(n, at, first) > LEAST_WEIGHT)
		first--;
	while (end < n && drawn_below(n, at, end) < 1 - LEAST_WEIGHT)
		end++;
	*rank = (struct rank){ at, first, end - first, calloc(end - first, sizeof(double)) };
	if (!rank->weights)
		return -ENOMEM;
	below = 0;
	for (size_t i = 0; i < rank->n; i++) {
		double next = i + 1 < rank->n ? drawn_below(n, at, first + i + 1) : 1;

		rank->weights[i] = next - below;
		below = next;
	}
	return 0;
}

static int find_ranks(struct rank ranks[STATS_N], size_t n)
{
	int ret = 0;

	for (int kind = STATS_P50; kind < STATS_N && !ret; kind++)
		if (n >= stats_least_values(kind))
			ret = find_rank(&ranks[kind], n, stats_per_mille(kind));
	return ret;
}

static void release_ranks(struct rank ranks[STATS_N])
{
	for (int kind = 0; kind < STATS_N; kind++) {
		free(ranks[kind].weights);
		ranks[kind] = (struct rank){ 0 };
	}
}

/* --- estimates ------------------------------------------------------------------------------- */

static double mean_of(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / (double)n;
}

/** The second and fourth powers of the distances from the mean, added up. */
static void add_powers(const double *values, size_t n, double mean, double *squares,
		       double *fourths)
{
	*squares = *fourths = 0;
	for (size_t i = 0; i < n; i++) {
		double square = (values[i] - mean) * (values[i] - mean);

		*squares += square;
		*fourths += square * square;
	}
	/* equal values have a mean that may be off by rounding */
	if (*squares <= (double)n * ROUNDING * ROUNDING)
		*squares = *fourths = 0;
}

/** @spread: receives the logarithm of the variance; its kurtosis tells how that varies. */
static struct estimate estimate_mean(const double *values, size_t size, struct estimate *spread)
{
	double mean = mean_of(values, size), n = (double)size, squares, fourths;

	add_powers(values, size, mean, &squares, &fourths);
	if (spread) {
		spread->value = log(squares / (n - 1));
		spread->error = ((squares > 0 ? n * fourths / (squares * squares) : 1) -
				 (n - 3) / (n - 1)) / n;
	}
	return (struct estimate){ mean, squares / (n - 1) / n };
}

/** The harmonic mean is the inverse of what this estimates. */
static struct estimate estimate_inverse(struct pool *pool, const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		pool->inverses[i] = pool->least / values[i];
	return estimate_mean(pool->inverses, n, NULL);
}

static struct estimate estimate_percentile(const double *values, const struct rank *rank,
					   double value)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < rank->n; i++) {
		double distance = values[rank->first + i] - value;

		sum += rank->weights[i] * distance;
		squares += rank->weights[i] * distance * distance;
	}
	squares -= sum * sum;
	return (struct estimate){ value, squares > ROUNDING * ROUNDING ? squares : 0 };
}

/** Of a sample's values, in ascending order. @side: whose ranks they have. */
static void estimate_all(struct pool *pool, const double *values, size_t n,
			 const struct rank ranks[STATS_N], struct estimate estimate[STATS_N])
{
	double value[STATS_N];

	estimate[STATS_MEAN] = estimate_mean(values, n, &estimate[STATS_STDDEV]);
	if (pool->positive)
		estimate[STATS_HMEAN] = estimate_inverse(pool, values, n);
	for (int kind = STATS_P50; kind < STATS_N; kind++) {
		if (!ranks[kind].rank)
			continue;
		value[kind] = stats_percentile(values, n, kind, pool->method->percentile);
		estimate[kind] = estimate_percentile(values, &ranks[kind], value[kind]);
	}
}

/** A difference in standard errors; without any error it is infinite. */
static double apart(const struct estimate *base, const struct estimate *sample)
{
	double difference = sample->value - base->value;

	/* two logarithms of 0, too, do not differ */
	if (isnan(difference) || fabs(difference) <= ROUNDING)
		return 0;
	return difference / sqrt(base->error + sample->error);
}

/** So small that its square is no problem, and not so small that its inverse is one. */
static double scaled(const struct pool *pool, double value)
{
	value = ldexp(value, -pool->scale);
	return pool->positive ? fmax(value, DBL_MIN) : value;
}

/** Is there something to be told of both samples? */
static bool is_told(const struct pool *pool, int kind)
{
	size_t least = stats_least_values(kind);

	return pool->samples[BASE]->n >= least && pool->samples[SAMPLE]->n >= least &&
	       (kind != STATS_HMEAN || pool->positive);
}

static void divide(struct pool *pool)
{
	struct estimate base[STATS_N], sample[STATS_N];

	for (pool->at = 0; pool->at < pool->n_divisions && pool->enough; pool->at++) {
		if (pool->all)
			next_division(pool);
		else
			random_division(pool);
		estimate_all(pool, pool->divided[BASE], pool->n[BASE], pool->ranks[BASE], base);
		estimate_all(pool, pool->divided[SAMPLE], pool->n[SAMPLE], pool->ranks[SAMPLE],
			     sample);
		for (int kind = 0; kind < STATS_N; kind++)
			if (is_told(pool, kind))
				pool->apart[kind][pool->at] = apart(&base[kind], &sample[kind]);
	}
}

/* --- judgement ------------------------------------------------------------------------------- */

/** By Student's distribution if the divisions are too few, as Welch does. */
static struct limits limits_of(struct pool *pool, int kind, const struct estimate *base,
			       const struct estimate *sample)
{
	double a = base->error, b = sample->error, *values = pool->apart[kind], limit;
	double freedom = INFINITY;

	if (pool->enough) {
		stats_sort(values, pool->n_divisions);
		return (struct limits){
			values[pool->extreme], values[pool->n_divisions - 1 - pool->extreme],
		};
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

static void set_plain(const struct pool *pool, struct estimate base, struct estimate sample,
		      const struct limits *limits, struct stats_difference *difference)
{
	double distance = sample.value - base.value, error = sqrt(base.error + sample.error);

	difference->interval = (struct stats_interval){
		ldexp(distance - (error > 0 ? limits->high * error : 0), pool->scale),
		ldexp(distance - (error > 0 ? limits->low * error : 0), pool->scale),
	};
	difference->percent = ratio_interval(base, sample, limits);
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

static void judge(struct pool *pool, int kind, const struct estimate *base,
		  const struct estimate *sample, struct stats_difference *difference)
{
	bool mean = kind == STATS_MEAN || kind == STATS_HMEAN;
	struct limits limits;
	double away;

	if (!is_told(pool, kind) || (!pool->enough && !mean))
		return;
	limits = limits_of(pool, kind, base, sample);
	away = apart(base, sample);
	difference->verdict = is_beyond(away, limits.high) || is_beyond(-away, -limits.low) ?
			      STATS_DIFFERENT : STATS_SAME;
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

/** The samples themselves, beside the divisions. */
static int judge_all(struct pool *pool, struct stats_difference difference[STATS_N])
{
	struct estimate estimates[N_SIDES][STATS_N] = { { { 0, 0 } } };
	struct rank ranks[STATS_N] = { { 0 } };
	int ret = 0;

	for (int side = 0; side < N_SIDES && !ret; side++) {
		const struct stats_sample *sample = pool->samples[side];

		for (size_t i = 0; i < sample->n; i++)
			pool->values[i] = scaled(pool, sample->sorted[i]);
		ret = find_ranks(ranks, sample->n);
		if (!ret)
			estimate_all(pool, pool->values, sample->n, ranks, estimates[side]);
		release_ranks(ranks);
	}
	for (int kind = 0; kind < STATS_N && !ret; kind++)
		judge(pool, kind, &estimates[BASE][kind], &estimates[SAMPLE][kind],
		      &difference[kind]);
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

/**
 * How many divisions there will be, and how many of them are extreme. Divisions that are drawn
 * vary; one standard deviation less of them keeps an unlucky draw from too many alarms.
 */
static void plan_divisions(struct pool *pool)
{
	double tail = (1 - pool->method->confidence) / 2, extreme;
	size_t most = pool->method->resamples, divisions;

	if (tail * (double)most < LEAST_EXTREME)
		most = tail * STATS_MAX_RESAMPLES < LEAST_EXTREME ? STATS_MAX_RESAMPLES :
		       (size_t)ceil(LEAST_EXTREME / tail);
	divisions = count_divisions(pool->n[BASE], pool->n[SAMPLE], most + 1);
	pool->all = pool->n_values <= STATS_MAX_DIVIDED && divisions <= most;
	pool->n_divisions = pool->all ? divisions : most;
	/* the one that is seen counts, too */
	extreme = tail * (double)(pool->n_divisions + !pool->all);
	if (!pool->all)
		extreme -= sqrt(extreme);
	/* a whole number stays one in spite of rounding */
	pool->enough = extreme + 1e-9 >= 1;
	pool->extreme = pool->enough ? (size_t)(extreme + 1e-9) - !pool->all : 0;
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
		pool->apart[kind] = doubles(pool->n_divisions, &failed);
	for (int side = 0; side < N_SIDES && !failed && !ret; side++)
		ret = find_ranks(pool->ranks[side], pool->n[side]);
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

/** The values of both samples, in order. */
static void fill(struct pool *pool)
{
	const struct stats_sample *base = pool->samples[BASE], *sample = pool->samples[SAMPLE];
	double most = fmax(fabs(base->sorted[base->n - 1]), fabs(sample->sorted[sample->n - 1]));
	size_t i = 0, j = 0;

	frexp(fmax(most, fabs(pool->least)), &pool->scale);
	pool->least = scaled(pool, pool->least);
	while (i < base->n || j < sample->n) {
		bool first = j == sample->n ||
			     (i < base->n && base->sorted[i] <= sample->sorted[j]);

		pool->values[i + j] = scaled(pool, first ? base->sorted[i] : sample->sorted[j]);
		i += first;
		j += !first;
	}
}

int stats_differences(const struct stats_sample *base, const struct stats_sample *sample,
		      const struct stats_method *method,
		      struct stats_difference difference[STATS_N])
{
	struct pool pool = { .method = method, .samples = { base, sample },
			     .n_values = base->n + sample->n, .random = method->seed };
	int ret;

	for (int kind = 0; kind < STATS_N; kind++) {
		bool known = !isnan(base->value[kind]) && !isnan(sample->value[kind]);

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
	ret = allocate(&pool);
	if (!ret) {
		fill(&pool);
		divide(&pool);
		ret = judge_all(&pool, difference);
	}
	release(&pool);
	return ret;
}
