// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_top.c
 * @brief	kshark-virt top: the activity of machines and vCPUs, interval by interval.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "model_over_time.h"
#include "model_tasks.h"
#include "record.h"
#include "report_range.h"
#include "terminal.h"
#include "top_follow.h"
#include "top_input_kernel.h"
#include "top_input_kvm.h"
#include "top_input_xen.h"
#include "top_listen.h"
#include "top_screen.h"
#include "top_xen_host.h"
#include "trace_args.h"
#include "virt_needs.h"

#define INTERVAL_NS	1000000000
/** Each takes a model. */
#define LEAST_LIVE_NS	10000000
#define HOLD_NS		500000000
/** What waits at most, and intervals that wait to be written. */
#define LIMIT		(UINT64_C(256) << 20)
#define BUFFER		(UINT64_C(2) << 20)
#define KEPT_BYTES	(UINT64_C(64) << 20)

static const char *const format_names[] = {
	"text", "csv", "json", "openmetrics", "prometheus", NULL
};

static const struct top_format *const formats[] = {
	&top_text, &top_csv, &top_json, &top_openmetrics, &top_prometheus,
};

struct top_options {
	const struct ksv_command *command;
	int			format;		/* index of @formats; -1: none was asked for */
	bool			quiet, once, follow, no_exits, in_kernel, exits, tasks, host;
	const char		*output, *sidecar, *listen;
	struct ksv_vcpu_set	vcpus;
	struct ksv_time		from, to, interval, hold;
	uint64_t		limit, buffer;
	struct host_options	trace;
};

#define OPTIONS	struct top_options

static const struct ksv_option top_option_table[] = {
	KSV_OPTION_FORMAT(OPTIONS, format, format_names, "text (default, except on a terminal), "
			  "csv,\njson; openmetrics or prometheus (for the textfile\n"
			  "collector): counters over the whole window"),
	KSV_OPTION_OUTPUT(OPTIONS, output),
	{ 0, "interval", "TIME", "length of each interval (default 1s)",
	  ksv_take_time, offsetof(OPTIONS, interval), NULL },
	{ 0, "once", NULL, "only the first interval",
	  ksv_take_flag, offsetof(OPTIONS, once), NULL },
	{ 0, "exits", NULL, "also what VM exits were for; of a complete trace",
	  ksv_take_flag, offsetof(OPTIONS, exits), NULL },
	{ 0, "tasks", NULL, "also the tasks of a KVM host: their time on pCPUs, waits and\n"
	  "wake-ups; of a complete trace, or of this host",
	  ksv_take_flag, offsetof(OPTIONS, tasks), NULL },
	{ 0, "host", NULL, "also a KVM host as a whole: time of pCPUs by kind, pressure,\n"
	  "context switches, memory; of a recording, or of this host",
	  ksv_take_flag, offsetof(OPTIONS, host), NULL },
	{ 0, "follow", NULL, "FILE is still being written: wait for more at its end",
	  ksv_take_flag, offsetof(OPTIONS, follow), NULL },
	{ 0, "listen", "ADDRESS:PORT", "serve counters of live input over HTTP, at\n/metrics; PORT "
	  "alone is of 127.0.0.1",
	  ksv_take_text, offsetof(OPTIONS, listen), NULL },
	{ 0, "hold", "TIME", "wait this long for late records before an interval is\n"
	  "printed (default: 500ms in live mode, else the end of\nFILE)",
	  ksv_take_time, offsetof(OPTIONS, hold), NULL },
	{ 0, "limit", "SIZE", "memory limit for waiting records (default 256M)",
	  ksv_take_size, offsetof(OPTIONS, limit), NULL },
	{ 'b', "buffer", "SIZE", "for this host: buffer for each CPU (default 2M, Xen:\nas it is)",
	  ksv_take_size, offsetof(OPTIONS, buffer), NULL },
	{ 0, "no-exits", NULL, "for this KVM host: record only the scheduler; VM exits\n"
	  "cost nothing then and are unknown, as is guest time",
	  ksv_take_flag, offsetof(OPTIONS, no_exits), NULL },
	{ 0, "in-kernel", NULL, "let this KVM host's kernel count, and record nothing: states\n"
	  "as with --no-exits, and KVM's own counters of VM exits",
	  ksv_take_flag, offsetof(OPTIONS, in_kernel), NULL },
	{ 0, "sidecar", "FILE", "sidecar for standard input or a pipe: clock, names",
	  ksv_take_text, offsetof(OPTIONS, sidecar), NULL },
	KSV_OPTION_VCPUS(OPTIONS, vcpus, "only these vCPUs, e.g. d1v0,d2"),
	KSV_OPTION_FROM(OPTIONS, from, KSV_FROM_HELP),
	KSV_OPTION_TO(OPTIONS, to, "up to this time, which is not included"),
	KSV_OPTIONS_TRACE(OPTIONS, trace),
	KSV_OPTION_QUIET(OPTIONS, quiet, "no progress, no notes about damage, clock and skew"),
};

static unsigned int scope_of(const struct top_options *options)
{
	return (options->exits ? TOP_ARGUMENTS : 0U) | (options->tasks ? TOP_TASKS : 0U) |
	       (options->host ? TOP_WHOLE_HOST : 0U);
}

/** Times may be farther apart than a time can be. */
static uint64_t length_of(int64_t from_ns, int64_t to_ns)
{
	return (uint64_t)to_ns - (uint64_t)from_ns;
}

/** Return: KSV_EXIT_OK, or after a message. */
static int set_window(const struct top_options *options, struct report *report)
{
	int status = report_set_range(options->command, report, &options->from, &options->to);

	if (status)
		return status;
	if (options->once || formats[options->format]->at_once)
		return KSV_EXIT_OK;
	return report_check_intervals(options->command, report, &options->vcpus,
				      options->interval.ns);
}

/** Return: 0 or -ENOMEM. */
static int write_intervals(const struct top_options *options, struct report *report,
			   struct output *out)
{
	const struct top_format *format = formats[options->format];
	bool whole = format->at_once && !options->once;
	int64_t to_ns = report->to_ns, step = options->interval.ns;
	struct top_interval interval;

	do {
		report->to_ns = whole || length_of(report->from_ns, to_ns) <= (uint64_t)step ?
				to_ns : report->from_ns + step;
		if (top_interval_make(&interval, report, &options->vcpus, scope_of(options)))
			return -ENOMEM;
		if (format->at_once)
			trace_notes_copy(&interval.notes, &report->load->notes);
		format->interval(out, &interval);
		top_interval_free(&interval);
		report->from_ns = report->to_ns;
	} while (!options->once && !out->error && report->from_ns < to_ns);
	return 0;
}

static int write_top(const struct top_options *options, struct report *report)
{
	const struct top_format *format = formats[options->format];
	static struct output out;
	int status = out_open_text(&out, options->output,
				   format == &top_text ? OUT_PAGES : OUT_PROGRAM);

	if (status)
		return status;
	if (format->begin)
		format->begin(&out, report->file, &report->load->notes);
	if (write_intervals(options, report, &out)) {
		ksv_error("%s: not enough memory", report->file);
		status = KSV_EXIT_FILE;
	}
	if (format->end)
		format->end(&out, NULL);
	return out_close(&out, model_changed(report->load, status));
}

/* --- a file on the screen -------------------------------------------------------------------- */

/** Intervals are made when they are looked at. */
struct replay {
	struct report		*report;
	const struct ksv_vcpu_set *vcpus;
	unsigned int		scope;		/* set of enum top_scope */
	int64_t			from_ns, to_ns, step;
};

static void replay_wait(void *self, uint64_t number, int timeout_ms, struct top_status *status)
{
	const struct replay *replay = self;
	uint64_t length = length_of(replay->from_ns, replay->to_ns);

	(void)number;
	(void)timeout_ms;
	*status = (struct top_status){
		.state = TOP_ENDED, .n = length / (uint64_t)replay->step +
					 (length % (uint64_t)replay->step != 0),
	};
}

static const struct top_interval *replay_get(void *self, uint64_t number)
{
	struct replay *replay = self;
	struct top_interval *interval = malloc(sizeof(*interval));
	int64_t from_ns = replay->from_ns + (int64_t)number * replay->step;
	int64_t left = replay->to_ns - from_ns;

	replay->report->from_ns = from_ns;
	replay->report->to_ns = left < replay->step ? replay->to_ns : from_ns + replay->step;
	if (interval && !top_interval_make(interval, replay->report, replay->vcpus,
					    replay->scope))
		return interval;
	free(interval);
	return NULL;
}

static void replay_put(void *self, const struct top_interval *interval)
{
	struct top_interval *made = (struct top_interval *)(uintptr_t)interval;

	(void)self;
	if (made)
		top_interval_free(made);
	free(made);
}

/** Return: -ENOTTY if it has to be written instead; or an exit status. */
static int show_file(const struct top_options *options, struct report *report)
{
	struct replay replay = {
		.report = report, .vcpus = &options->vcpus, .scope = scope_of(options),
		.from_ns = report->from_ns,
		.to_ns = report->to_ns, .step = options->interval.ns,
	};
	const struct top_screen_source source = {
		.wait = replay_wait, .get = replay_get, .put = replay_put, .self = &replay,
		.name = report->file, .interval_ns = options->interval.ns,
	};
	struct top_status status;
	int ret;

	/* the terminal is put right before it ends */
	top_follow_signals();
	ret = top_screen_show(&source, &status);
	report->from_ns = replay.from_ns;
	report->to_ns = replay.to_ns;
	if (ret == -ENOMEM)
		ksv_error("%s: not enough memory", report->file);
	return ret == -ENOMEM ? KSV_EXIT_FILE : ret;
}

/** A terminal shows it, unless something else was asked for. */
static bool wants_screen(const struct top_options *options)
{
	return options->format < 0 && !options->listen && !options->tasks &&
	       !options->once && !options->output && top_screen_can();
}

/** Return: KSV_EXIT_OK, or after a message. */
static int read_samples(const struct model_load *load, struct host_samples *samples)
{
	int ret = load->host.kvm ? model_samples_read(samples, load, load->path) : 0;

	if (ret)
		ksv_error("%s: not enough memory", load->path);
	else if (!samples->n)
		ksv_error("%s: --host: there are no samples of the host's counters beside it: "
			  "'kshark-virt record' takes them on a KVM host", load->path);
	return ret ? KSV_EXIT_FILE : samples->n ? KSV_EXIT_OK : KSV_EXIT_UNKNOWN;
}

static int top_file(struct top_options *options, const char *path, const struct trace_notes *before)
{
	struct model_load load = {
		.path = path, .options = options->trace, .quiet = options->quiet, .before = before,
		.command = options->command, .vcpus = &options->vcpus,
	};
	struct host_tasks tasks = { .tasks.trace = NULL };
	struct host_samples samples = { .n = 0 };
	struct report report = {
		.file = path, .load = &load, .host_tasks = &tasks, .host_samples = &samples,
	};
	bool screen = wants_screen(options);
	int status = model_load(&load);

	if (options->format < 0)
		options->format = 0;
	if (!status)
		status = report_begin_intervals(&report);
	if (!status)
		status = set_window(options, &report);
	if (!status && options->tasks)
		status = model_tasks_read(&load, &tasks, "--tasks");
	if (!status && options->host)
		status = read_samples(&load, &samples);
	if (!status && screen)
		status = show_file(options, &report);
	if ((!status && !screen) || status == -ENOTTY)
		status = write_top(options, &report);
	if (!status && !options->quiet)
		model_notes(&load);
	virt_loss_walk_free(report.lost);
	host_tasks_free(&tasks);
	host_samples_free(&samples);
	model_unload(&load);
	return status;
}

/* --- what is still being written ------------------------------------------------------------- */

/** What would take all of the trace, or is about windows of it. */
static int check_live(const struct top_options *options, const char *path)
{
	if (options->from.kind || options->to.kind)
		return ksv_usage_error(options->command, "%s: --from and --to require a complete "
				       "trace", path);
	if (options->exits)
		return ksv_usage_error(options->command, "%s: --exits requires a complete "
				       "trace", path);
	if (options->trace.correct_skew)
		return ksv_usage_error(options->command, "%s: --correct-skew requires a complete "
				       "trace",
				       path);
	if (options->interval.ns < LEAST_LIVE_NS)
		return ksv_usage_error(options->command, "%s: --interval is shorter than 10ms",
				       path);
	return KSV_EXIT_OK;
}

/** The same for xentrace's. */
static int check_stream(const struct top_options *options, const char *path)
{
	int status = check_live(options, path);

	if (status)
		return status;
	if (options->tasks || options->host)
		return ksv_usage_error(options->command, "%s: --%s requires a complete trace, or "
				       "this KVM host", path, options->tasks ? "tasks" : "host");
	if (isatty(STDIN_FILENO) && !strcmp(path, "-"))
		return ksv_usage_error(options->command, "standard input is a terminal: "
				       "xentrace -D - | kshark-virt top -");
	return KSV_EXIT_OK;
}

static void live_wait(void *self, uint64_t number, int timeout_ms, struct top_status *status)
{
	top_live_wait(self, number, timeout_ms, status);
}

static const struct top_interval *live_get(void *self, uint64_t number)
{
	return top_live_get(self, number);
}

static void live_put(void *self, const struct top_interval *interval)
{
	top_live_put(self, interval);
}

/** Return: as show_file(). */
static int show_live(const struct top_options *options, const struct top_follow *follow)
{
	const struct top_screen_source source = {
		.wait = live_wait, .get = live_get, .put = live_put, .self = follow->live,
		.name = follow->name, .is_live = true, .interval_ns = options->interval.ns,
	};
	struct trace_notes notes = { 0 };
	struct top_status status;
	int ret = top_screen_show(&source, &status);

	if (ret == -ENOTTY)
		return ret;
	if (ret) {
		ksv_error("%s: not enough memory", follow->name);
		return KSV_EXIT_FILE;
	}
	top_live_notes(follow->live, &notes);
	/* a user who leaves the screen has seen the rest */
	if (status.state == TOP_FAILED)
		ret = top_follow_end(follow, &status, &notes);
	else if (!follow->quiet)
		trace_notes_print(&notes, stderr);
	trace_notes_free(&notes);
	return ret;
}

/** Return: KSV_EXIT_OK, or after a message. */
static int start_listening(const struct top_options *options, struct top_follow *follow)
{
	char problem[512];

	if (!options->listen)
		return KSV_EXIT_OK;
	follow->format = &top_openmetrics;
	follow->listen = top_listen_start(options->listen, problem, sizeof(problem));
	if (!follow->listen) {
		ksv_error("%s", problem);
		return KSV_EXIT_FILE;
	}
	if (!options->quiet)
		ksv_note("%s has the counters of %s; Ctrl-C ends it",
			 top_listen_url(follow->listen), follow->name);
	return KSV_EXIT_OK;
}

/** @name: of what @self is, for messages; @path: as it was given */
static int follow_input(struct top_options *options, const char *name, const char *path,
			const struct top_input *input, void *self)
{
	bool screen = wants_screen(options);
	const struct top_live_options live = {
		.input = input, .self = self, .interval_ns = options->interval.ns,
		.hold_ns = options->hold.ns, .vcpus = &options->vcpus, .max_bytes = KEPT_BYTES,
		.drops = screen, .name = name, .once = options->once,
		.left_out = options->no_exits ? TOP_INPUT_KVM_EXITS : 0, .scope = scope_of(options),
	};
	const struct top_format *format = formats[options->format < 0 ? 0 : options->format];
	struct top_follow follow = {
		.live = top_live_start(&live), .input = input, .self = self,
		.name = name, .path = path, .output = options->output,
		.format = format->live ? format->live : format,
		.once = options->once, .quiet = options->quiet,
	};
	int status = screen ? KSV_EXIT_OK : -ENOTTY;

	if (!follow.live) {
		ksv_error("%s: %s", name, strerror(errno));
		return KSV_EXIT_FILE;
	}
	top_follow_signals();
	if (screen)
		status = show_live(options, &follow);
	if (status == -ENOTTY) {
		status = start_listening(options, &follow);
		if (!status)
			status = top_follow_write(&follow);
	}
	top_listen_stop(follow.listen);
	top_live_free(follow.live);
	return status;
}

/**
 * What xentrace writes.
 * @name: for messages; NULL: that of @path
 * @sidecar: or NULL
 * @grows: whether there will be more at the end of a file; or NULL
 */
static int follow_xen(struct top_options *options, const char *name, const char *path,
		      const char *sidecar, bool (*grows)(void *arg), void *arg)
{
	struct xen_live_options xen = {
		.trace = {
			.cpu_hz = options->trace.cpu_hz,
			.absolute_time = options->trace.absolute_time,
			.meta_path = sidecar,
		},
		.path = strcmp(path, "-") && !name ? path : NULL,
		.max_bytes = options->limit,
	};
	struct top_input_xen input;
	int status;

	if (__builtin_add_overflow(options->interval.ns, options->hold.ns, &xen.begin_ns))
		xen.begin_ns = INT64_MAX;
	if (top_input_xen_open(&input, path, &xen))
		return KSV_EXIT_FILE;
	if (name)
		input.name = name;
	input.grows = grows;
	input.arg = arg;
	status = follow_input(options, input.name, path, &top_input_xen, &input);
	top_input_xen_close(&input);
	return status;
}

/** @grows: as follow_xen() */
static int follow(struct top_options *options, const char *path, bool (*grows)(void *arg),
		  void *arg)
{
	int status = check_stream(options, path);

	return status ? status : follow_xen(options, NULL, path, options->sidecar, grows, arg);
}

/** It never ends by itself. */
static bool always(void *arg)
{
	(void)arg;
	return true;
}

/** An interval is printed when the sample after it is there. */
static int64_t sample_ns(const struct top_options *options)
{
	int64_t ns = options->hold.ns / 2;

	return ns > HOST_SAMPLE_NS ? HOST_SAMPLE_NS : ns > 0 ? ns : 1;
}

/** Numbers that no program in the kernel counts. */
static int check_in_kernel(const struct top_options *options, const char *path)
{
	if (options->no_exits || options->tasks || options->host || options->buffer)
		return ksv_usage_error(options->command, "%s: --in-kernel records nothing: leave "
				       "out --%s", path, options->no_exits ? "no-exits" :
				       options->tasks ? "tasks" : options->host ? "host" :
				       "buffer");
	return KSV_EXIT_OK;
}

/** As follow_host(). @why: receives why the kernel cannot count, with -ENOTSUP */
static int follow_in_kernel(struct top_options *options, const char *name, const char *path,
			    const struct top_input_kernel_options *kernel, char *why, size_t size)
{
	struct top_input_kernel *input;
	int status;

	input = top_input_kernel_open(name, kernel, why, size, &status);
	if (!input)
		return status ? status : -ENOTSUP;
	if (!options->quiet && top_input_kernel_is_idle(input))
		ksv_note("%s: no KVM machine runs; waiting for one, Ctrl-C ends it", name);
	status = follow_input(options, name, path, &top_input_kernel, input);
	top_input_kernel_close(input);
	return status;
}

/** @path: what was given; @grows: as follow() */
static int follow_host(struct top_options *options, const char *path, bool (*grows)(void *arg),
		       void *arg)
{
	static const char name[] = "this host";
	struct top_input_kvm_options kvm = {
		.buffer = options->buffer ? : BUFFER, .max_bytes = options->limit,
		.no_exits = options->no_exits, .tasks = options->tasks,
		.sample_ns = options->host ? sample_ns(options) : 0,
	};
	const struct top_input_kernel_options kernel = {
		.interval_ns = options->interval.ns, .hold_ns = options->hold.ns,
		.vcpus = &options->vcpus, .grows = grows, .arg = arg,
	};
	struct top_input_kvm input;
	int status = check_live(options, path);
	char why[256];

	if (!status && options->in_kernel)
		status = check_in_kernel(options, path);

	/* tasks that come and go would be counters without end */
	if (!status && options->tasks &&
	    (options->listen || (options->format >= 0 && formats[options->format]->at_once)))
		status = ksv_usage_error(options->command, "%s: there are no counters of tasks of "
					 "this host: leave out --tasks", path);
	/* what is changed in the kernel becomes as it was */
	top_follow_signals();
	if (!status && options->in_kernel) {
		status = follow_in_kernel(options, name, path, &kernel, why, sizeof(why));
		if (status != -ENOTSUP)
			return status;
		if (!options->quiet)
			ksv_note("%s: its kernel cannot count (--in-kernel): %s; its scheduler's "
				 "events are recorded instead, as with --no-exits", name, why);
		status = KSV_EXIT_OK;
		kvm.no_exits = options->no_exits = true;
	}
	if (!status)
		status = top_input_kvm_open(&input, name, &kvm);
	if (status)
		return status;
	if (!options->quiet && options->no_exits)
		ksv_note("%s: VM exits are not recorded (--no-exits): exits, guest, hypervisor, "
			 "polling and vmm are unknown", name);
	if (!options->quiet && top_input_kvm_is_idle(&input))
		ksv_note("%s: no KVM machine runs; waiting for one, Ctrl-C ends it", name);
	input.grows = grows;
	input.arg = arg;
	status = follow_input(options, name, path, &top_input_kvm, &input);
	top_input_kvm_close(&input);
	return status;
}

/* --- a recording that is under way ------------------------------------------------------------ */

/** What recording.json says; of one that cannot be read, that it has ended. */
static bool is_recording(const char *folder, struct recording *recording)
{
	char error[512];

	return !recording_read(folder, recording, error, sizeof(error)) &&
	       recording->state == RECORDING_RUNNING;
}

static bool still_grows(void *folder)
{
	struct recording recording;
	bool grows = is_recording(folder, &recording);

	recording_free(&recording);
	return grows;
}

/** Its trace need not be there yet. Return: an exit status. */
static int wait_for(const char *path, const char *folder, bool quiet)
{
	const struct timespec pause = { .tv_nsec = 100000000 };

	for (int i = 0; access(path, F_OK); i++) {
		if (top_follow_is_over() || !still_grows((char *)(uintptr_t)folder)) {
			ksv_error("%s: %s", path, strerror(ENOENT));
			return KSV_EXIT_FILE;
		}
		if (i == 50 && !quiet)
			ksv_note("%s: waiting for it", path);
		nanosleep(&pause, NULL);
	}
	return KSV_EXIT_OK;
}

/** What trace-cmd writes comes late, see top_input_kvm.h: it is looked at beside that. */
static int follow_beside(struct top_options *options, const char *folder)
{
	if (!record_lock_is_of(folder)) {
		ksv_error("%s: is not being recorded on this host, or its recorder was killed: run "
			  "top on the host that records", folder);
		return KSV_EXIT_FILE;
	}
	if (!options->quiet)
		ksv_note("%s: is shown from top's own buffers, independent of the recording",
			 folder);
	return follow_host(options, folder, still_grows, (void *)(uintptr_t)folder);
}

/** @recording: the folder's */
static int follow_recording(struct top_options *options, const char *folder,
			    const struct recording *recording)
{
	char *path = recording_path(recording->folder, RECORDING_XEN_FILE);
	int status = path ? KSV_EXIT_OK : KSV_EXIT_FILE;

	if (!path) {
		ksv_error("%s: not enough memory", folder);
	} else {
		status = ksv_check_output(options->command, "output", options->output, path);
	}
	top_follow_signals();
	if (!status)
		status = wait_for(path, folder, options->quiet);
	if (!status)
		status = follow(options, path, still_grows, (void *)(uintptr_t)folder);
	free(path);
	return status;
}

/* --- which of both --------------------------------------------------------------------------- */

static bool is_pipe(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") ||
	       (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

static int top_trace(struct top_options *options, const char *arg)
{
	bool live = options->follow || options->hold.kind || is_pipe(arg);
	struct trace_args args = {
		.quiet = options->quiet, .is_live = live, .max_input = options->trace.max_input,
	};
	const char *path;
	int status = trace_args_only(&args, options->command, arg, options->output, &path);

	if (!options->hold.kind)
		options->hold.ns = HOLD_NS;
	if (!status && !live && options->listen)
		status = ksv_usage_error(options->command, "%s: --listen requires live input: a "
					 "pipe, --follow, a recording under way, or this host",
					 arg);
	else if (!status && live)
		status = follow(options, path, options->follow ? always : NULL, NULL);
	else if (!status)
		status = top_file(options, path, &args.notes);
	trace_args_free(&args);
	return status;
}

/** What has no buffers of top's own has the events that it has. */
static int refuse_no_exits(const struct top_options *options)
{
	return ksv_usage_error(options->command, "--%s requires this KVM host, without a FILE",
			       options->no_exits ? "no-exits" : "in-kernel");
}

static int top_arg(struct top_options *options, const char *arg)
{
	struct recording recording = { 0 };
	bool grows = strcmp(arg, "-") && recording_is(arg) && is_recording(arg, &recording);
	int status;

	if ((options->no_exits || options->in_kernel) &&
	    (!grows || recording.hypervisor == RECORDING_XEN)) {
		status = refuse_no_exits(options);
	} else if (grows) {
		if (!options->hold.kind)
			options->hold.ns = HOLD_NS;
		status = recording.hypervisor == RECORDING_XEN ?
			 follow_recording(options, arg, &recording) : follow_beside(options, arg);
	} else {
		status = top_trace(options, arg);
	}
	recording_free(&recording);
	return status;
}

/** Its own xentrace ends with it. */
static int follow_dom0(struct top_options *options)
{
	static struct top_xen_host host;
	int status = check_live(options, "this host");

	if (status)
		return status;
	top_follow_signals();
	status = top_xen_host_open(&host, options->buffer);
	if (!status)
		status = follow_xen(options, "this host", host.path,
				    *host.sidecar ? host.sidecar : NULL, NULL, NULL);
	return top_xen_host_close(&host, status);
}

/** This host. */
static int top_host(struct top_options *options)
{
	if (options->follow || options->sidecar || options->trace.cpu_hz)
		return ksv_usage_error(options->command, "--follow, --sidecar and --cpu-hz require "
				       "a FILE");
	if ((options->no_exits || options->in_kernel) && record_is_xen())
		return refuse_no_exits(options);
	if (!options->hold.kind)
		options->hold.ns = HOLD_NS;
	return record_is_xen() ? follow_dom0(options) :
				 follow_host(options, "this host", NULL, NULL);
}

static int run_top(const struct ksv_command *command, int argc, char **argv)
{
	struct top_options options = {
		.command = command, .format = -1,
		.interval = { .kind = KSV_TIME_NS, .ns = INTERVAL_NS },
	};
	int first, status;

	options.limit = LIMIT;
	status = model_parse(command, argc, argv, &options, &options.trace, &first);
	if (status >= 0)
		goto end;
	if (options.interval.kind != KSV_TIME_NS || options.interval.ns <= 0)
		status = ksv_usage_error(command, "--interval must be longer than 0");
	else if (options.hold.kind > KSV_TIME_NS || options.hold.ns < 0)
		status = ksv_usage_error(command, "--hold must be a duration");
	else if (options.listen && (options.format >= 0 || options.output || options.once))
		status = ksv_usage_error(command, "--listen serves counters: leave out --format, "
					 "--output and --once");
	else if (argc - first > 1)
		status = ksv_usage_error(command, "give one file; '%s' is another one",
					 argv[first + 1]);
	else
		status = argc > first ? top_arg(&options, argv[first]) : top_host(&options);
end:
	ksv_vcpus_free(&options.vcpus);
	return status;
}

const struct ksv_command cmd_top = {
	.name = "top",
	.args = "[OPTION...] [FILE|FOLDER|-]",
	.summary = "Print what machines and vCPUs did in each interval",
	.notes = "FILE is a xentrace file, which may be compressed with gzip or zstd; or the\n"
		 "trace.dat of a KVM host; FOLDER is a recording. A pipe, or - for standard\n"
		 "input, is shown live: xentrace -D - | kshark-virt top -\n"
		 "With no FILE, watch this KVM host, or this Xen host in dom0 (root only).\n"
		 "On a terminal, the full screen is used unless --format is given.\n",
	.options = top_option_table,
	.n_options = ARRAY_SIZE(top_option_table),
	.prints_text = true,
	.run = run_top,
};
