// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	study_run.c
 * @brief	One run: begin tracing, run the benchmark and watch the host, end tracing.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "escape.h"
#include "study.h"
#include "table.h"
#include "whole_file.h"

/** The time between two samples. */
#define SAMPLE_NS	250000000
/** A benchmark ends in this time after SIGTERM. */
#define TERM_S		5
/** Bytes of the end of an output, for messages. */
#define TAIL_BYTES	400

void study_raw_path(const struct study *study, const struct study_run *run, char path[STUDY_PATH])
{
	const char *benchmark = study->plan.benchmarks[run->benchmark].name;

	if (run->round)
		snprintf(path, STUDY_PATH, "%s/raw/%s/%s.r%03d.txt", study->folder,
			 study->plan.configs[run->config].name, benchmark, run->round);
	else
		snprintf(path, STUDY_PATH, "%s/warm-up-%s.txt", study->folder, benchmark);
}

static bool make_folder(const char *path)
{
	return !mkdir(path, 0700) || errno == EEXIST;
}

/** Return: a descriptor, or -1 after a message. */
static int open_raw(const struct study *study, const struct study_run *run)
{
	char path[STUDY_PATH];
	int fd = -1;

	snprintf(path, sizeof(path), "%s/raw", study->folder);
	if (make_folder(path)) {
		snprintf(path, sizeof(path), "%s/raw/%s", study->folder,
			 study->plan.configs[run->config].name);
		if (make_folder(path)) {
			study_raw_path(study, run, path);
			fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC |
				  O_NOFOLLOW | O_NOCTTY, 0600);
		}
	}
	if (fd < 0)
		ksv_error("%s: cannot be written: %s", path, strerror(errno));
	return fd;
}

/* --- the benchmark --------------------------------------------------------------------------- */

/** The words of a command as a line of a shell in a guest. Return: to be freed, or NULL. */
static char *shell_line(const struct study_benchmark *benchmark)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);
	bool whole = out;

	for (int i = 0; whole && i < benchmark->n_command; i++) {
		char *word = escape_shell_dup(benchmark->command[i]);

		whole = word && fprintf(out, "%s%s", i ? " " : "", word) >= 0;
		free(word);
	}
	if (out && !fclose(out) && whole)
		return line;
	free(line);
	return NULL;
}

__attribute__((noreturn))
static void run_child(char *const argv[], pid_t parent, int output)
{
	sigset_t none;
	int null = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	dup2(null, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/** Return: its pid or a negative errno. */
static pid_t start(const struct study *study, const struct study_run *run, int output)
{
	const struct study_benchmark *benchmark = &study->plan.benchmarks[run->benchmark];
	const struct study_guest *guest = benchmark->where ?
					  study_find_guest(&study->plan, benchmark->where) : NULL;
	char *line = guest ? shell_line(benchmark) : NULL;
	const char *const remote[] = { STUDY_SSH, guest ? guest->target : NULL, line, NULL };
	pid_t pid = -1, parent = getpid();

	if (guest && !line)
		return -ENOMEM;
	fflush(NULL);
	pid = fork();
	if (!pid)
		run_child(guest ? (char *const *)remote : benchmark->command, parent, output);
	if (pid > 0)
		setpgid(pid, pid);
	free(line);
	return pid < 0 ? -errno : pid;
}

/* --- while it runs --------------------------------------------------------------------------- */

/** Sums over the samples of a run. */
struct watch {
	struct study_sample first, last;
	double	memory, runnable;
	int	n;
	int	samples;		/* samples.csv, or -1 */
};

static double percent_of(double part, double busy, double idle, double steal)
{
	double all = busy + idle + steal;

	return all > 0 ? 100 * part / all : NAN;
}

static const struct table_column sample_columns[] = {
	{ .key = "benchmark" },
	{ .key = "configuration" },
	{ .key = "round", .type = TABLE_TIME },
	{ .key = "ms", .type = TABLE_TIME },
	{ .key = "cpu_percent", .type = TABLE_RATE },
	{ .key = "steal_percent", .type = TABLE_RATE },
	{ .key = "memory_mib", .type = TABLE_RATE },
	{ .key = "runnable", .type = TABLE_RATE },
};

static const struct table samples_table = { .rows = { TABLE_COLUMNS(sample_columns) } };

/** Return: a descriptor, or -1: a study is complete without samples. */
static int open_samples(const struct study *study)
{
	char path[STUDY_PATH];

	snprintf(path, sizeof(path), "%s/samples.csv", study->folder);
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
}

/** One decimal is what such numbers are good for. */
static struct table_cell sample_cell(double number)
{
	return table_rate(isfinite(number), round(10 * number) / 10);
}

static void put_sample(const struct study *study, const struct study_run *run,
		       const struct watch *watch, const struct study_sample *before, int64_t ns)
{
	static struct output out;
	struct table_writer to = {
		.table = &samples_table, .format = &table_csv, .out = &out,
	};
	double busy = watch->last.busy - before->busy, idle = watch->last.idle - before->idle;
	double steal = watch->last.steal - before->steal;
	const char *text;
	struct stat st;

	out_collect(&out);
	table_flat(&to, !fstat(watch->samples, &st) && !st.st_size);
	table_row(&to, (const struct table_cell[ARRAY_SIZE(sample_columns)]){
		table_name(study->plan.benchmarks[run->benchmark].name),
		table_name(study->plan.configs[run->config].name),
		table_number(run->round), table_number(ns / 1000000),
		sample_cell(percent_of(busy, busy, idle, steal)),
		sample_cell(percent_of(steal, busy, idle, steal)),
		sample_cell(watch->last.memory_mib), sample_cell(watch->last.runnable),
	});
	table_flat_end(&to);
	text = out_collected(&out);
	/* a disk that is full shows in the journal */
	if (text && write(watch->samples, text, strlen(text)) < 0)
		return;
}

static void take_sample(const struct study *study, const struct study_run *run,
			struct watch *watch, int64_t since_ns)
{
	const struct study_sample before = watch->last;

	study_sample(&watch->last);
	watch->memory += watch->last.memory_mib;
	watch->runnable += watch->last.runnable;
	watch->n++;
	if (watch->samples >= 0 && run->round)
		put_sample(study, run, watch, &before, since_ns);
}

static double seconds_of(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static void end_watch(const struct study *study, struct study_run *run, struct watch *watch,
		      const struct rusage *usage)
{
	bool here = !study->plan.benchmarks[run->benchmark].where;
	double busy, idle, steal, all;

	study_sample(&watch->last);
	busy = watch->last.busy - watch->first.busy;
	idle = watch->last.idle - watch->first.idle;
	steal = watch->last.steal - watch->first.steal;
	all = busy + idle + steal;
	run->cpu_percent = percent_of(busy, busy, idle, steal);
	run->steal_percent = percent_of(steal, busy, idle, steal);
	run->memory_mib = watch->n ? watch->memory / watch->n : NAN;
	run->runnable = watch->n ? watch->runnable / watch->n : NAN;
	/* the ssh of a guest's benchmark is not the benchmark */
	run->own_s = here ? seconds_of(usage) : NAN;
	run->others_percent = NAN;
	if (all > 0 && here)
		run->others_percent = 100 * fmax(busy - run->own_s *
						 (double)sysconf(_SC_CLK_TCK), 0) / all;
	if (watch->samples >= 0)
		close(watch->samples);
}

static void end_child(pid_t pid, int *status)
{
	kill(-pid, SIGTERM);
	record_wait_or_kill(pid, TERM_S, status);
}

/** Until it ends, the user ends it, or it takes too long. Return: an exit status. */
static int wait_for(struct study *study, struct study_run *run, pid_t pid, int64_t begin_ns,
		    int *status)
{
	const struct timespec pause = { .tv_nsec = SAMPLE_NS };
	int64_t most_ns = (int64_t)study->plan.max_seconds * 1000000000;
	struct watch watch = { .samples = open_samples(study) };
	struct rusage usage = { .ru_maxrss = 0 };
	int64_t sampled = begin_ns;
	int result = KSV_EXIT_OK;
	pid_t ended;

	study_sample(&watch.first);
	watch.last = watch.first;
	while (!(ended = wait4(pid, status, WNOHANG, &usage))) {
		int number = record_next_signal(&pause);
		int64_t now = record_now_ns();

		if (number > 0 && number != SIGCHLD)
			study->signal = number;
		if (study->signal || now - begin_ns > most_ns) {
			end_child(pid, status);
			result = KSV_EXIT_FILE;
			break;
		}
		if (now - sampled >= SAMPLE_NS) {
			take_sample(study, run, &watch, now - begin_ns);
			sampled = now;
		}
	}
	run->wall_s = (double)(record_now_ns() - begin_ns) / 1e9;
	end_watch(study, run, &watch, &usage);
	if (ended < 0)
		result = KSV_EXIT_FILE;
	if (result && !study->signal)
		ksv_error("%s did not end in %zu seconds (--max-time)",
			  study->plan.benchmarks[run->benchmark].name, study->plan.max_seconds);
	return result;
}

/** A message with the end of the output, as one line. */
static int failed(const struct study *study, const struct study_run *run, int status)
{
	char path[STUDY_PATH], *text = NULL, *end;
	size_t size = 0;

	study_raw_path(study, run, path);
	if (whole_file_read(path, RECORD_MIB, &text, &size))
		text = NULL;
	while (text && size && text[size - 1] == '\n')
		text[--size] = '\0';
	for (end = text; end && *end; end++)
		if (*end == '\n')
			*end = ' ';
	end = text && size > TAIL_BYTES ? text + size - TAIL_BYTES : text;
	if (WIFEXITED(status))
		ksv_error("%s failed with status %d; its output is in %s: %s",
			  study->plan.benchmarks[run->benchmark].name, WEXITSTATUS(status), path,
			  end && *end ? end : "nothing");
	else
		ksv_error("%s was ended by signal %d (%s)",
			  study->plan.benchmarks[run->benchmark].name, WTERMSIG(status),
			  strsignal(WTERMSIG(status)));
	free(text);
	return KSV_EXIT_FILE;
}

/** Xen counts those of all domains together. */
static double count_exits(uint64_t *machines)
{
	*machines = 0;
	return record_is_xen() ? study_xen_exits() : study_kvm_exits(machines);
}

static int run_benchmark(struct study *study, struct study_run *run, int output)
{
	uint64_t before, after;
	double exits = count_exits(&before);
	int64_t begin_ns = record_now_ns();
	pid_t pid = start(study, run, output);
	int status = 0, result;

	if (pid < 0) {
		ksv_error("%s: %s", study->plan.benchmarks[run->benchmark].name, strerror(-pid));
		return KSV_EXIT_FILE;
	}
	result = wait_for(study, run, pid, begin_ns, &status);
	exits = count_exits(&after) - exits;
	run->exits = before == after && exits >= 0 ? exits : NAN;
	if (!result && (!WIFEXITED(status) || WEXITSTATUS(status)))
		result = failed(study, run, status);
	return result;
}

int study_run_one(struct study *study, struct study_run *run)
{
	const struct study_config *config = &study->plan.configs[run->config];
	double throttled = study_throttled();
	int output = open_raw(study, run), status, ended;

	if (output < 0)
		return KSV_EXIT_FILE;
	study_host_facts(run);
	status = study_trace_begin(study, config);
	if (!status) {
		status = run_benchmark(study, run, output);
		ended = study_trace_end(study, config, run);
		status = status ? status : ended;
	}
	close(output);
	run->throttled = study_throttled() - throttled;
	return status ? status : study_journal_add(study, run);
}
