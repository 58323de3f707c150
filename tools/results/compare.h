/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	compare.h
 * @brief	The data of kshark-virt compare: values by run and metric, and the results.
 */
#ifndef KSHARK_VIRT_COMPARE_H
#define KSHARK_VIRT_COMPARE_H

#include <stdio.h>

#include "options.h"
#include "output.h"
#include "stats_difference.h"
#include "trace_notes.h"

/** More than these are a mistake: a table of which columns are mixed up. */
#define COMPARE_MAX_RUNS	64
#define COMPARE_MAX_METRICS	1000

/** A statistic of a run beside that of the baseline; what is not known is NAN. */
struct compare_cell {
	double		value;
	struct stats_interval interval;
	double		percent;		/* of the baseline, that it is more */
	struct stats_difference difference;
};

/** Columns with values that can be chosen. */
#define COMPARE_CSV_MAX_COLUMNS	64

/** The values of one metric in one run. */
struct compare_set {
	double		*values;
	size_t		n, room;
	char		*unknown;	/* why there are none: what was not recorded; or NULL */
	struct compare_cell cells[STATS_N];	/* what compare_evaluate() finds */
};

/** Which values of a metric are better. */
enum compare_better { COMPARE_UNJUDGED = 0, COMPARE_LOWER, COMPARE_HIGHER };

struct compare_metric {
	char		*name;
	enum compare_better better;
	struct compare_set sets[COMPARE_MAX_RUNS]; /* by run */
};

/** Conditions under which a run was made, which are texts. */
enum compare_fact {
	COMPARE_GOVERNOR = 0,	/* of the frequency of CPUs */
	COMPARE_KERNEL,
	COMPARE_MACHINE,	/* model or number of its CPUs */
	COMPARE_PROGRAM,	/* version of a benchmark */
	COMPARE_SETTINGS,	/* of a benchmark */
	COMPARE_N_FACTS
};

/** More facts of one kind about one run are not compared. */
#define COMPARE_MAX_FACTS	32

/** Facts of one kind, each once. Two runs differ in those that both have with the same key. */
struct compare_facts {
	struct {
		char	*key, *text;
	}		all[COMPARE_MAX_FACTS];
	int		n;			/* 0: unknown */
	bool		incomplete;		/* there were more */
};

/** The conditions under which a run was made, as far as its files show them. */
struct compare_conditions {
	struct compare_facts facts[COMPARE_N_FACTS];
	double		load;			/* sum of load averages, before or while it ran, */
	int		n_loads;		/* as many as that */
	double		khz_ns;			/* frequency while vCPUs ran, by time, */
	int64_t		known_ns, ran_ns;	/* known for the first part of the second */
};

/** What it means that a run has no value of a metric that others have. */
struct compare_absent {
	int		run;
	char		*whole;			/* the metric of which it is a part; or NULL */
	char		*prefix;		/* of its name */
	char		*why;			/* it is unknown; NULL: it did not happen */
};

struct compare {
	char		*runs[COMPARE_MAX_RUNS];
	struct compare_conditions conditions[COMPARE_MAX_RUNS];
	int		n_runs;
	struct compare_metric **metrics;
	int		n_metrics, metrics_room;
	struct compare_absent *absent;
	size_t		n_absent, absent_room;
	int		last_run, last_metric;	/* that were asked for: they come again */
	uint64_t	bytes;			/* that the values come from */
	size_t		n_judged;		/* differences that have enough values */
	struct trace_notes notes;		/* about all traces */
};

void compare_init(struct compare *compare);
void compare_free(struct compare *compare);

/**
 * compare_run, compare_metric - the index of a run or metric, which is made if there is none
 * Return: -ENOMEM, or -ENOSPC if there are too many
 */
int compare_run(struct compare *compare, const char *name);
int compare_metric(struct compare *compare, const char *name);

/** compare_find_run - Return: its index, or -1. */
int compare_find_run(const struct compare *compare, const char *name);

/** compare_add - Return: 0, or as compare_run(). */
int compare_add(struct compare *compare, int run, const char *metric, double value);

/** A run has at most this number of values of a metric from histograms. */
#define COMPARE_MAX_VALUES	16000000

/**
 * compare_add_times - the same value several times, as a histogram has it
 *
 * Return: 0; -E2BIG if there are too many values, and none is added; or as compare_run().
 */
int compare_add_times(struct compare *compare, int run, const char *metric, double value,
		      uint64_t times);

/** compare_judge - values of metrics that one of the patterns (fnmatch) fits are better so. */
void compare_judge(struct compare *compare, const char *const *patterns, int n,
		   enum compare_better better);

/** compare_effect - "better" or "worse" than the baseline; NULL if it is not known to be either. */
const char *compare_effect(const struct compare_metric *metric, int run, int kind);

/** compare_better_name - "lower", "higher", or NULL. */
const char *compare_better_name(enum compare_better better);

/**
 * compare_add_unknown - a run cannot have values of a metric
 * @why: what was not recorded; the first word counts
 *
 * Return: 0, or as compare_run().
 */
int compare_add_unknown(struct compare *compare, int run, const char *metric, const char *why);

/** compare_add_to - compare_add() to a metric by its index */
int compare_add_to(struct compare *compare, int run, int metric, double value);

/**
 * compare_add_absent - what it means if a run has no value of metrics that begin with @prefix
 * @whole: a metric; theirs is 0 as often as this one has values that they have not. NULL: none
 * @why: they are unknown; NULL: they are 0
 *
 * The longest prefix of a metric counts; of equal ones, one that is unknown.
 *
 * Return: 0 or -ENOMEM.
 */
int compare_add_absent(struct compare *compare, int run, const char *whole, const char *prefix,
		       const char *why);

/** compare_fill_absent - add what they mean, after all values. Return: 0 or -ENOMEM. */
int compare_fill_absent(struct compare *compare);

/** compare_is_unknown - does a run have no values, as they were not recorded? */
static inline bool compare_is_unknown(const struct compare_set *set)
{
	return !set->n && set->unknown;
}

/**
 * compare_keep_runs - only these, in this order
 * @runs: indices, each once
 */
void compare_keep_runs(struct compare *compare, const int *runs, int n);

/** compare_keep_metrics - only those that one of the patterns (fnmatch) fits. */
void compare_keep_metrics(struct compare *compare, const char *const *patterns, int n);

/** compare_fits - is it a metric that one of the patterns fits? */
bool compare_fits(const char *metric, const char *const *patterns, int n);

/** compare_drop_zeros - forget metrics that are 0 or unknown everywhere; @asked: if 0 */
void compare_drop_zeros(struct compare *compare, bool asked);

/** The columns of a table that have other names than the usual ones, or no usual place. */
struct compare_csv_columns {
	struct compare_csv_names {
		const char	*names[COMPARE_CSV_MAX_COLUMNS];
		int		n;		/* 0: there is none */
	}		runs, metrics;		/* a name has a part of each, with points between */
	struct compare_csv_names values;	/* none: the columns have the usual names */
};

/**
 * compare_csv_read - add the values of a table
 * @columns: the names that its columns have; or NULL
 * @run: that values belong to if the table has no column for that; -1: it must have one
 * @name: of the file, for messages
 *
 * With columns run, metric and value, in any order: a value per line. Else with a first column run
 * or config: a metric per further column, except those that count (round, repeat, iteration); empty
 * fields are no values. With @columns: separated by commas, semicolons, tabs or '|'.
 *
 * Return: 0, -ENOMEM, -EIO or -EINVAL with file, line and remedy in @error.
 */
int compare_csv_read(struct compare *compare, FILE *in, const struct compare_csv_columns *columns,
		     int run, const char *name, char *error, size_t error_size);

/** compare_csv_fits - is this the first line of a table that compare_csv_read() takes? */
bool compare_csv_fits(const char *line, const struct compare_csv_columns *columns);

/** What percentiles can be, by enum stats_percentile; ends with NULL. */
extern const char *const compare_percentiles[];

/** Panels of a plot; a name's first part ends at its first point. */
enum compare_panels {
	COMPARE_PANEL_ONE = 0,
	COMPARE_PANEL_PART,		/* one for the metrics of a first part, such as a machine */
	COMPARE_PANEL_METRIC,		/* one for each metric, with its statistics */
};

/** What panels can be, by enum compare_panels; ends with NULL. */
extern const char *const compare_panels[];

/** How it is compared. */
struct compare_options {
	bool		kinds[STATS_N];		/* statistics that are shown */
	enum stats_percentile percentile;
	double		confidence;
	bool		asked;			/* metrics were chosen by name */
	bool		joint;			/* of all judged differences together */
	size_t		resamples;		/* 0: as compare_plan() finds */
	uint64_t	seed;
	enum compare_panels panels;		/* of the plot */
	const char	*title;			/* of the plot; or NULL */
	const char	*record_cost;		/* metric to find it from; or NULL */
};

/** compare_judged - the statistic that is judged: the first one shown. */
int compare_judged(const struct compare_options *options);

/** The default number of resamples, and the least in large tables. */
#define COMPARE_RESAMPLES	2000
#define COMPARE_LEAST_RESAMPLES	320

/**
 * compare_plan - find how many resamples there are time for, unless it is said
 *
 * Time is in proportion to what the values come from.
 *
 * Return: 0, or -E2BIG if even the least take too long.
 */
int compare_plan(struct compare *compare, struct compare_options *options);

/** compare_evaluate - fill all cells; run 0 is the baseline. Return: 0 or -ENOMEM. */
int compare_evaluate(struct compare *compare, const struct compare_options *options);

/**
 * compare_has_too_few - whether a percentile above the median has no value in a run, as the run has
 * too few values: it would be their highest one
 */
bool compare_has_too_few(const struct compare_set *set, int kind);

/** compare_verdict_name - "unknown", "too few values", "within noise", "different". */
const char *compare_verdict_name(enum stats_verdict verdict);

/**
 * compare_confidence - that of the interval of a difference: if all intervals are to hold together,
 * each gets its share of the allowed error (Bonferroni)
 */
double compare_confidence(const struct compare *compare, const struct compare_options *options);

/** compare_sentence - a plain sentence on a run (not the baseline) and the judged statistic. */
void compare_sentence(const struct compare *compare, const struct compare_metric *metric, int run,
		      const struct compare_options *options, char *text, size_t size);

/**
 * compare_status - Return: KSV_EXIT_FINDINGS if a judged statistic differs by more than noise; else
 * KSV_EXIT_UNKNOWN if one with several values has too few of them, if one was not recorded in one
 * of two runs or was asked for by name, or if none has a verdict.
 */
int compare_status(const struct compare *compare, const struct compare_options *options);

/** What may be why values differ, instead of what is compared. */
enum compare_confounder {
	/* first each enum compare_fact */
	COMPARE_FREQUENCY = COMPARE_N_FACTS,
	COMPARE_LOAD,
	COMPARE_N_CONFOUNDERS
};

/**
 * compare_add_fact - one that a file of a run shows
 * @key: facts with the same key are compared, such as the name of a program; or ""
 *
 * Return: 0 or -ENOMEM.
 */
int compare_add_fact(struct compare *compare, int run, enum compare_fact fact, const char *key,
		     const char *text);

/** compare_add_load - a load average of a run. */
void compare_add_load(struct compare *compare, int run, double load);

/** compare_mean_load - Return: NAN if it is not known. */
double compare_mean_load(const struct compare_conditions *conditions);

/** compare_fact_key - "governors", "kernels" ... */
const char *compare_fact_key(enum compare_fact fact);

/**
 * compare_confounder - a plain sentence, if a run (not the baseline) differs in that
 *
 * Return: false if it does not, or if it is unknown for one of both.
 */
bool compare_confounder(const struct compare *compare, int run, enum compare_confounder what,
			char *text, size_t size);

/** compare_knows_frequency - is it known for most of the time? */
bool compare_knows_frequency(const struct compare_conditions *conditions);

/** compare_mean_khz - Return: NAN if it is not known for most of the time. */
double compare_mean_khz(const struct compare_conditions *conditions);

/** Of a trace: records per second of a pCPU. */
#define COMPARE_RECORD_RATE	"trace.records_per_pcpu_s"

/** What it costs to record an event. */
struct compare_record_cost {
	double		ns;
	struct stats_interval interval;
	const char	*unknown;		/* why it is not known; else NULL */
};

/**
 * compare_record_cost - how much slower fixed work became by each record
 *
 * Work that takes T0 without and T1 with tracing, while its pCPU writes r records per second, has
 * lost T1 - T0 to r T1 records: each costs (1 - T0 / T1) / r.
 */
void compare_record_cost(const struct compare *compare, const struct compare_options *options,
			 int run, struct compare_record_cost *cost);

/** compare_value_text - a value and its interval: "28.3 [27.9, 28.7]"; "-" if it is not known */
void compare_value_text(char *text, size_t size, const struct compare_cell *cell);

/** compare_difference_text - the difference to the baseline: "+2.10 % [+0.35, +3.87]", or "-" */
void compare_difference_text(char *text, size_t size, const struct compare_cell *cell);

/** Writers. */
void compare_text(struct output *out, const struct compare *compare,
		  const struct compare_options *options);
void compare_csv(struct output *out, const struct compare *compare,
		 const struct compare_options *options);
void compare_json(struct output *out, const struct compare *compare,
		  const struct compare_options *options);
void compare_latex(struct output *out, const struct compare *compare,
		   const struct compare_options *options);

/**
 * compare_plot - grouped bars with intervals; the format by the name's end: .svg, .png, .pdf
 *
 * A metric alone has a group per statistic, in its own unit; several have a group each for the
 * judged statistic, in per cent of the baseline.
 *
 * Return: KSV_EXIT_OK, or the exit status after a message.
 */
int compare_plot(const char *path, const struct compare *compare,
		 const struct compare_options *options);

/** compare_plot_format - an enum canvas_format by the end of a name; -1: there is none */
int compare_plot_format(const char *path);

/** compare_take_plot - an option whose value is the name of such a figure, a ksv_take_fn */
int compare_take_plot(const struct ksv_command *command, const struct ksv_option *option,
		      const char *value, void *target);

#endif
