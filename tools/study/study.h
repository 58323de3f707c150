/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	study.h
 * @brief	kshark-virt study: plan, runs and results of a study of the cost of tracing.
 *
 * A study runs each benchmark under each configuration of tracing, in rounds. The order in a round
 * is random. The folder of a study has:
 *
 *	plan.json	the plan, with the seed
 *	journal.jsonl	a line per run that has ended
 *	samples.csv	CPU, memory and runnable tasks over time
 *	raw/CONFIGURATION/BENCHMARK.rROUND.txt	the outputs of the benchmarks
 *	results.txt, .csv, .json, .tex, cost.svg, cost.pdf, cpu.svg, cpu.pdf	the results
 */
#ifndef KSHARK_VIRT_STUDY_H
#define KSHARK_VIRT_STUDY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "compare.h"
#include "options.h"
#include "record.h"

#define STUDY_MAX_BENCHMARKS	32
#define STUDY_MAX_CONFIGS	16
#define STUDY_MAX_GUESTS	16
#define STUDY_MAX_ROUNDS	1000
#define STUDY_MAX_WORDS		256	/* of a command */
#define STUDY_MAX_NAME		48

/** Room for the path of a file in the folder. */
#define STUDY_PATH		(PATH_MAX + 4 * STUDY_MAX_NAME)

/** The names of instances of tracefs begin so; the number of the process follows. */
#define STUDY_INSTANCE		"kshark-virt-study-"

/**
 * The first words of each ssh: it asks for no password, and ends two minutes after its guest, so
 * that a study does not wait for a benchmark in a guest that has died.
 */
#define STUDY_SSH		"ssh", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", \
				"-o", "ServerAliveCountMax=8"

/** The format of a benchmark whose time alone counts. */
#define STUDY_TIME		"time"

struct study_benchmark {
	char	*name;
	char	**command;	/* ends with NULL */
	int	n_command, room_command;
	char	*where;		/* name of a guest; NULL: the host */
	char	*format;	/* of results.h, or STUDY_TIME; NULL: as recognised */
	char	*metric;	/* a pattern: the one that decides about more rounds; or NULL */
};

enum study_tracing { STUDY_NONE = 0, STUDY_EVENTS, STUDY_ALL, STUDY_FUNCTION, STUDY_N_TRACINGS };

/** Where a configuration traces: bits. */
enum study_where { STUDY_HOST = 1, STUDY_GUESTS = 2, STUDY_BOTH = 3 };

struct study_config {
	char			*name;
	enum study_tracing	tracing;
	unsigned int		where;		/* bits of enum study_where */
	char			*events;	/* list with commas; NULL: the plan's */
};

struct study_guest {
	char	*name, *target;		/* of ssh: USER@HOST */
};

struct study_plan {
	struct study_benchmark	benchmarks[STUDY_MAX_BENCHMARKS];
	int			n_benchmarks;
	struct study_config	configs[STUDY_MAX_CONFIGS];	/* the first one is the baseline */
	int			n_configs;
	struct study_guest	guests[STUDY_MAX_GUESTS];
	int			n_guests;
	char			*events;	/* of STUDY_EVENTS; NULL: the usual ones */
	size_t			rounds, max_rounds, warm_up;
	size_t			precision;	/* per cent: half of an interval is narrow enough */
	size_t			max_seconds;	/* no round begins that would end later */
	uint64_t		seed;
	uint64_t		buffer;		/* bytes for each CPU */
};

/** A number that is not known is NAN. */
struct study_run {
	int		round;		/* from 1 on; 0: a warm-up, which is no result */
	int		benchmark, config;
	double		wall_s;
	double		load;		/* average of a minute, before it began */
	/* of the host, while it ran: */
	double		cpu_percent;	/* busy, of all CPUs */
	double		others_percent;	/* the part of that that is not the benchmark's */
	double		own_s;		/* CPU time of the benchmark */
	double		steal_percent;	/* that a hypervisor gave to others */
	double		memory_mib;	/* in use, mean */
	double		runnable;	/* tasks, mean */
	double		throttled;	/* times that a CPU was too hot */
	double		exits;		/* of all guests */
	/* of the host's tracing; all NAN if it did not trace */
	double		records, lost, bytes;
	double		guest_records;	/* of all guests that traced */
	double		guest_bytes;	/* of them; NAN, too, if some were overwritten */
	char		kernel[160], governor[64];
};

struct study {
	const struct ksv_command *command;
	struct study_plan	plan;
	char			folder[PATH_MAX];
	struct record_options	record_options;
	struct record		record;
	struct study_run	*runs;
	int			n_runs, room_runs;
	unsigned char		done[(STUDY_MAX_ROUNDS + 1) * STUDY_MAX_BENCHMARKS *
				     STUDY_MAX_CONFIGS / 8];	/* bits, see study_has_run() */
	bool			quiet;
	int			signal;		/* that ended the study, or 0 */
};

/* --- study_plan.c ---------------------------------------------------------------------------- */

extern const char *const study_tracing_names[];

/** study_plan_init - the numbers that a plan has if it has no others */
void study_plan_init(struct study_plan *plan);
void study_plan_free(struct study_plan *plan);

/**
 * study_plan_read - a plan in JSON
 * @error: on failure, receives a text that names the file and the remedy
 *
 * Return: 0, -ENOMEM or another negative errno.
 */
int study_plan_read(struct study_plan *plan, const char *path, char *error, size_t size);

/** study_plan_read_text - the same of a text of @length bytes and a NUL */
int study_plan_read_text(struct study_plan *plan, const char *path, const char *text,
			 size_t length, char *error, size_t size);

/** study_plan_write - Return: 0, or a negative errno and a text in @error. */
int study_plan_write(const struct study_plan *plan, const char *path, char *error, size_t size);

/** study_plan_add_config - "events" or "all@both". Return: as study_plan_read(). */
int study_plan_add_config(struct study_plan *plan, const char *text, char *error, size_t size);

/** study_plan_add_guest - NAME=ssh:USER@HOST. Return: as study_plan_read(). */
int study_plan_add_guest(struct study_plan *plan, const char *text, char *error, size_t size);

/** study_plan_add_command - a benchmark; @where: or NULL. Return: as study_plan_read(). */
int study_plan_add_command(struct study_plan *plan, char *const *command, const char *where,
			   const char *format, const char *metric, char *error, size_t size);

/** study_plan_check - does a plan contradict itself? Return: 0, or -EINVAL with a text. */
int study_plan_check(const struct study_plan *plan, char *error, size_t size);

/** study_find_guest - Return: it, or NULL. */
const struct study_guest *study_find_guest(const struct study_plan *plan, const char *name);

/* --- study_check.c: before the first run. Return: KSV_EXIT_OK, or a status after messages. ---- */

int study_check(struct study *study);

/** study_try - trace for a moment as each configuration does, into the folder that is there now */
int study_try(struct study *study);

/* --- study_trace.c --------------------------------------------------------------------------- */

/**
 * study_trace_begin - trace as a configuration says, into buffers of our own
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_FILE after a message, and nothing traces.
 */
int study_trace_begin(struct study *study, const struct study_config *config);

/** study_trace_end - end that; @run: receives the numbers of it */
int study_trace_end(struct study *study, const struct study_config *config,
		    struct study_run *run);

/** study_trace_clean - remove the logs of tracers, which have ended well */
void study_trace_clean(const struct study *study);

/** study_trace_xen.c: the same of a host of Xen; study_xen_check() returns what is missing. */
int study_xen_check(const struct study *study);
int study_xen_begin(struct study *study, const struct study_config *config);
int study_xen_end(struct study *study, struct study_run *run);

/** study_xen_exits - as xenperf prints them, of all domains; NAN: this Xen does not count them */
double study_xen_exits(void);

/** study_ssh - run a script in a guest. Return: as record_capture(). */
int study_ssh(const struct study_guest *guest, const char *script, char *text, size_t size);

/* --- study_sample.c: what the host does ------------------------------------------------------ */

/** Times of all CPUs since the boot in ns, and the state now; NAN: unknown. */
struct study_sample {
	double	busy, idle, steal;
	double	runnable;
	double	memory_mib;	/* in use */
};

void study_sample(struct study_sample *sample);

/** study_host_facts - kernel, governor and load of a run that begins */
void study_host_facts(struct study_run *run);

/** study_throttled - how often CPUs were too hot since the host began; NAN: not known */
double study_throttled(void);

/**
 * study_kvm_exits - how often all machines that run now have left their guests until now
 * @machines: receives a number that is another one with other machines: exits go with a machine
 *
 * Return: what KVM has counted; NAN: not known, or no machine runs.
 */
double study_kvm_exits(uint64_t *machines);

/* --- study_run.c ----------------------------------------------------------------------------- */

/** study_raw_path - where the output of a run is */
void study_raw_path(const struct study *study, const struct study_run *run, char path[STUDY_PATH]);

/**
 * study_run_one - trace, run the benchmark, end tracing, keep all
 *
 * Return: KSV_EXIT_OK; or an exit status, after a message unless study->signal is set.
 */
int study_run_one(struct study *study, struct study_run *run);

/* --- study_journal.c ------------------------------------------------------------------------- */

/** study_journal_add - Return: KSV_EXIT_OK, or KSV_EXIT_FILE after a message. */
int study_journal_add(struct study *study, const struct study_run *run);

/**
 * study_journal_read - all runs that have ended
 *
 * A last line without its end is one whose writing was interrupted: its run is not there.
 *
 * Return: 0, or a negative errno with a text in @error.
 */
int study_journal_read(struct study *study, char *error, size_t size);

/** study_journal_read_text - the same of a text of @length bytes and a NUL */
int study_journal_read_text(struct study *study, const char *path, char *text, size_t length,
			    char *error, size_t size);

/** study_has_run - has it ended? */
bool study_has_run(const struct study *study, int round, int benchmark, int config);

/* --- study_results.c ------------------------------------------------------------------------- */

/** The value of a metric of struct study_results in one run. */
struct study_value {
	const struct compare *compare;	/* costs or volumes */
	int	metric, round, config;
	double	value;
};

/** The values of all runs, by configuration. */
struct study_results {
	struct compare	costs;		/* of the benchmarks */
	struct compare	volumes;	/* of tracing and of the host */
	struct compare_options options;
	int		benchmark_of[COMPARE_MAX_METRICS];	/* of a metric of @costs */
	struct study_value *values;	/* all, by round */
	size_t		n_values, room_values;
	int		rounds;		/* that all of them have ended */
};

/**
 * study_results_make - read all outputs, and compare
 *
 * Differences of positive values are those in the same round: cells of statistic STATS_MEAN have
 * the geometric mean of their ratios, and its interval by Student's t.
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_FILE after a message.
 */
int study_results_make(const struct study *study, struct study_results *results);
void study_results_free(struct study_results *results);

/**
 * study_read_raw - the values of one output
 * @values: empty; receives them as those of its first run
 *
 * Return: 0, or -EINVAL with a text in @error.
 */
int study_read_raw(const struct study *study, const struct study_run *run, struct compare *values,
		   char *error, size_t size);

/** study_effect - "better" or "worse" than the baseline; NULL if it is not known to be either */
const char *study_effect(const struct compare_metric *metric, int config);

/** study_main_metric - the metric of a benchmark that decides about more rounds; -1: none */
int study_main_metric(const struct study *study, const struct study_results *results,
		      int benchmark);

/** study_is_narrow - are the intervals of all differences that decide narrow enough? */
bool study_is_narrow(const struct study *study, const struct study_results *results);

/** study_is_decided - is each main metric either different or within noise? */
bool study_is_decided(const struct study *study, const struct study_results *results);

/* --- study_write.c, study_plot.c ------------------------------------------------------------- */

/** study_write - all results in one format. Return: an exit status. */
int study_write(const struct study *study, const struct study_results *results,
		const char *path, int format);

/** study_sentences - call @put for each sentence of the result */
void study_sentences(const struct study *study, const struct study_results *results,
		     void (*put)(void *arg, bool main, const char *sentence), void *arg);

/** study_warnings - call @put for each condition that limits the results */
void study_warnings(const struct study *study, const struct study_results *results,
		    void (*put)(void *arg, bool main, const char *sentence), void *arg);

/**
 * study_plot_costs - the main metrics in per cent of the baseline
 *
 * The others are removed from @results. Return: an exit status.
 */
int study_plot_costs(const struct study *study, struct study_results *results, const char *path);

/** study_plot_time - CPU and memory over time, from samples.csv. Return: an exit status. */
int study_plot_time(const struct study *study, const char *path);

/* --- study_order.c --------------------------------------------------------------------------- */

/**
 * study_order - the order of the runs in a round, which seed and round decide
 * @order: receives benchmark * @n_configs + configuration for each run
 *
 * Runs that are compared with each other are neighbours: benchmarks come in random order, and
 * the configurations of each in another random order.
 */
void study_order(uint64_t seed, int round, int n_benchmarks, int n_configs, int *order);

/* --- study_loop.c ---------------------------------------------------------------------------- */

/** study_go - all rounds that are still to be run; signals are blocked. Return: an exit status. */
int study_go(struct study *study);

#endif
