// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_report.c
 * @brief	kshark-virt report: the activity of the vCPUs of a trace, in numbers.
 */
#include <errno.h>
#include <stdlib.h>

#include "escape.h"
#include "host_topology.h"
#include "kvm_trace_symbols.h"
#include "model_files.h"
#include "model_over_time.h"
#include "report_devices.h"
#include "report_html.h"
#include "report_page.h"
#include "report_section.h"
#include "report_summary.h"
#include "report_tracing.h"
#include "report_worst.h"
#include "terminal.h"
#include "virt_moments.h"

/** More than anybody reads, less than memory holds. */
#define MAX_WORST	1000000

#define MAX_TOP		1000000

/** Intervals of --over-time. */
#define INTERVALS	20

/** What can be asked for instead of the report and needs no more than the model. */
enum page {
	PAGE_EXITS, PAGE_WAITS, PAGE_THREADS, PAGE_HANDLERS, PAGE_POWER, PAGE_MIGRATIONS,
	PAGE_DEVICES, PAGE_TASKS, PAGE_EVENTS, PAGE_DISKS, PAGE_FILES, PAGE_LOCKS,
	PAGE_COUNTERS, PAGE_OVER_TIME, N_PAGES
};

static const struct report_page *const report_pages[N_PAGES] = {
	[PAGE_EXITS] = &report_arguments,
	[PAGE_WAITS] = &report_waits,
	[PAGE_THREADS] = &report_threads,
	[PAGE_HANDLERS] = &report_handlers,
	[PAGE_POWER] = &report_power,
	[PAGE_MIGRATIONS] = &report_migrations,
	[PAGE_DEVICES] = &report_devices,
	[PAGE_TASKS] = &report_host_tasks,
	[PAGE_EVENTS] = &report_event_counts,
	[PAGE_DISKS] = &report_disks,
	[PAGE_FILES] = &report_file_calls,
	[PAGE_LOCKS] = &report_locks,
	[PAGE_COUNTERS] = &report_counters,
	[PAGE_OVER_TIME] = &report_over_time,
};

/** The same in HTML, which has all of them but those that need more files. */
static const struct report_html_page html_pages[] = {
	{ "exits", "What VM exits were for", &report_arguments },
	{ "waits", "Causes of waits, and wakers", &report_waits },
	{ "threads", "Other threads of machines", &report_threads },
	{ "handlers", "Interrupt handlers of the host", &report_handlers },
	{ "power", "Idle states and frequencies of pCPUs", &report_power },
	{ "migrations", "Migrations by distance", &report_migrations },
};

static const char *const format_names[] = {
	[TABLE_TEXT] = "text", [TABLE_JSON] = "json", [TABLE_CSV] = "csv", [TABLE_HTML] = "html",
	[TABLE_N_FORMATS] = NULL
};

static const struct {
	void		(*write)(struct output *out, const struct report *report, bool first);
	/* culprits that have a row of their own */
	size_t		most_culprits;
} formats[TABLE_N_FORMATS] = {
	[TABLE_TEXT] = { report_text, 8 },
	[TABLE_JSON] = { report_json, 64 },
	[TABLE_CSV] = { report_csv, 64 },
	[TABLE_HTML] = { NULL, 64 },
};

struct report_options {
	const struct ksv_command *command;
	int			format;		/* enum table_format_kind */
	bool			quiet;
	const char		*output;
	struct ksv_vcpu_set	vcpus;
	struct ksv_time		from, to;
	struct report_worst	worst;
	bool			tracing, full, pages[N_PAGES];
	int			n_intervals;	/* of --over-time; 0: not asked for */
	int			sort;		/* index of report_summary_columns, from 1 on */
	char *const		*argv;		/* what is no option */
	int			n_argv;
	char			*made_by;	/* HTML: all arguments, for a shell */
	const char		*topology;
	struct model_monitors	monitors;
	double			record_cost_ns;
	struct report_hypertrace_options hypertrace;
	struct host_options trace;
};

static int take_worst(const struct ksv_command *command, const struct ksv_option *option,
		      const char *text, void *target)
{
	return ksv_take_number(command, option, text, 1, MAX_WORST, target);
}

/** A choice of which 0 is none. */
static int take_order(const struct ksv_command *command, const struct ksv_option *option,
		      const char *text, void *target)
{
	int status = ksv_take_choice(command, option, text, target);

	*(int *)target += !status;
	return status;
}

static int take_top(const struct ksv_command *command, const struct ksv_option *option,
		    const char *text, void *target)
{
	return ksv_take_number(command, option, text, 1, MAX_TOP, target);
}

static int take_kinds(const struct ksv_command *command, const struct ksv_option *option,
		      const char *text, void *target)
{
	char kinds[128];

	(void)option;
	if (!report_worst_kinds(text, target))
		return 0;
	virt_worst_kind_list(VIRT_WORST_ALL_KINDS, kinds, sizeof(kinds));
	return ksv_usage_error(command, "--kind %s: not a list of %s", text, kinds);
}

static int take_above(const struct ksv_command *command, const struct ksv_option *option,
		      const char *text, void *target)
{
	struct ksv_time time = { .kind = KSV_TIME_NONE };
	int status = ksv_take_time(command, option, text, &time);

	if (!status && (time.kind != KSV_TIME_NS || time.ns < 0))
		return ksv_usage_error(command, "--above %s: not a duration; write 1.5, 20ms, "
				       "300us or 17ns", text);
	*(int64_t *)target = time.ns;
	return status;
}

static int take_over_time(const struct ksv_command *command, const struct ksv_option *option,
			  const char *text, void *target)
{
	size_t n = INTERVALS;
	int status = text ? ksv_take_number(command, option, text, 1, MODEL_MAX_INTERVALS, &n) : 0;

	*(int *)target = (int)n;
	return status;
}

static int take_record_cost(const struct ksv_command *command, const struct ksv_option *option,
			    const char *text, void *target)
{
	double *ns = target;
	char *end;

	(void)option;
	*ns = strtod(text, &end);
	if (end == text || *end || !(*ns > 0 && *ns <= 1e9))
		return ksv_usage_error(command, "--record-cost %s: not a number of ns above 0, up "
				       "to 1e9", text);
	return 0;
}

static int take_hypertrace(const struct ksv_command *command, const struct ksv_option *option,
			   const char *text, void *target)
{
	struct report_hypertrace_options *hypertrace = target;
	char error[512];

	(void)option;
	hypertrace->calls = true;
	hypertrace->dialect = text;
	if (!text || host_hypertrace_check(text, error, sizeof(error)))
		return 0;
	if (!host_hypertrace_is_file(text))
		return ksv_usage_error(command, "--hypertrace=%s: %s", text, error);
	ksv_error("%s", error);
	return KSV_EXIT_FILE;
}

static int take_kallsyms(const struct ksv_command *command, const struct ksv_option *option,
			 const char *text, void *target)
{
	struct report_hypertrace_options *hypertrace = target;
	char error[512];

	(void)command;
	(void)option;
	hyper_symbols_free(hypertrace->symbols);
	hypertrace->kallsyms = text;
	if (!hyper_symbols_read(text, &hypertrace->symbols, error, sizeof(error)))
		return 0;
	ksv_error("%s", error);
	return KSV_EXIT_FILE;
}

#define OPTIONS	struct report_options

static const struct ksv_option report_option_table[] = {
	KSV_OPTION_FORMAT(OPTIONS, format, format_names, "text (default), json, csv or html"),
	KSV_OPTION_OUTPUT(OPTIONS, output),
	KSV_OPTION_VCPUS(OPTIONS, vcpus, "only these vCPUs, e.g. d1v0,d2"),
	KSV_OPTION_FROM(OPTIONS, from, KSV_FROM_HELP),
	KSV_OPTION_TO(OPTIONS, to, "up to this time, which is not included"),
	{ 0, "full", NULL, "all numbers of all vCPUs, instead of a summary of one screen",
	  ksv_take_flag, offsetof(OPTIONS, full), NULL },
	{ 0, "sort", "COLUMN", "sort the summary by steal (default), waiting, guest,\n"
	  "hypervisor, blocked, exits, migrations or vcpu",
	  take_order, offsetof(OPTIONS, sort), report_summary_columns },
	{ 0, "worst", "N", "instead: the N costliest moments",
	  take_worst, offsetof(OPTIONS, worst.n), NULL },
	{ 0, "kind", "LIST", "with --worst: only exit,steal,wake,migration,irq,lost,\n"
					"offline,tsc",
	  take_kinds, offsetof(OPTIONS, worst.kinds), NULL },
	{ 0, "above", "TIME", "with --worst: only moments that cost at least TIME",
	  take_above, offsetof(OPTIONS, worst.above_ns), NULL },
	{ 0, "exits", NULL, "instead: what VM exits were for: registers, ports, addresses",
	  ksv_take_flag, offsetof(OPTIONS, pages[PAGE_EXITS]), NULL },
	{ 0, "waits", NULL, "instead: the causes of waits, and the wakers",
	  ksv_take_flag, offsetof(OPTIONS, pages[PAGE_WAITS]), NULL },
	{ 0, "threads", NULL, "instead: the other threads of machines",
	  ksv_take_flag, offsetof(OPTIONS, pages[PAGE_THREADS]), NULL },
	{ 0, "tasks", NULL, "instead: the host's tasks: what they did, and their waits",
	  ksv_take_flag, offsetof(OPTIONS, pages[PAGE_TASKS]), NULL },
	{ 0, "events", NULL, "instead: how often each event and system call was recorded",
	  ksv_take_flag, offsetof(OPTIONS, pages[PAGE_EVENTS]), NULL },
	{ 0, "disks", NULL, "instead: requests to disks, by disk, VM and task",
	  ksv_take_flag, offsetof(OPTIONS, pages[PAGE_DISKS]), NULL },
	{ 0, "files", NULL, "instead: bytes that tasks read and write by file\n"
	  "descriptor, from system calls",
	  ksv_take_flag, offsetof(OPTIONS, pages[PAGE_FILES]), NULL },
	{ 0, "locks", NULL, "instead: waits for locks of the kernel and for futexes, by\nlock, "
	  "VM and task",
	  ksv_take_flag, offsetof(OPTIONS, pages[PAGE_LOCKS]), NULL },
	{ 0, "counters", NULL, "instead: counters of pCPUs (cycles ...) in perf.data, by VM, vCPU\n"
	  "and task",
	  ksv_take_flag, offsetof(OPTIONS, pages[PAGE_COUNTERS]), NULL },
	{ 0, "over-time", "[=N]", "instead: what the host's pCPUs did, in N intervals\n"
	  "(default 20)",
	  take_over_time, offsetof(OPTIONS, n_intervals), NULL },
	{ 0, "handlers", NULL, "instead: the host's interrupt handlers on vCPUs' pCPUs",
	  ksv_take_flag, offsetof(OPTIONS, pages[PAGE_HANDLERS]), NULL },
	{ 0, "power", NULL, "instead: idle states and frequencies of pCPUs, and their cost",
	  ksv_take_flag, offsetof(OPTIONS, pages[PAGE_POWER]), NULL },
	{ 0, "migrations", NULL, "instead: migrations by distance, and their cost",
	  ksv_take_flag, offsetof(OPTIONS, pages[PAGE_MIGRATIONS]), NULL },
	{ 0, "topology", "FILE", "with --migrations: the topology of pCPUs: a sidecar,\n"
	  "or output of 'lscpu -p' or 'xl info -n'; default:\nthe trace's sidecar",
	  ksv_take_text, offsetof(OPTIONS, topology), NULL },
	{ 0, "devices", NULL, "instead: requests to devices, and their durations;\n"
	  "needs --monitor",
	  ksv_take_flag, offsetof(OPTIONS, pages[PAGE_DEVICES]), NULL },
	MODEL_OPTION_MONITOR(OPTIONS, monitors, "with --devices: QEMU's own trace (-trace) of a "
			     "machine\nof this host; may be repeated"),
	{ 0, "tracing", NULL, "instead: the cost of tracing, and events to switch off",
	  ksv_take_flag, offsetof(OPTIONS, tracing), NULL },
	{ 0, "record-cost", "NS", "with --tracing: the cost of a record",
	  take_record_cost, offsetof(OPTIONS, record_cost_ns), NULL },
	{ 0, "hypertrace", "[=DIALECT]", "instead: events that guests report through hypercalls;\n"
	  "DIALECT is a name or FILE.json (default: detected)",
	  take_hypertrace, offsetof(OPTIONS, hypertrace), NULL },
	{ 0, "boot", NULL, "instead, or in addition: phases and levels of boots",
	  ksv_take_flag, offsetof(OPTIONS, hypertrace.boot), NULL },
	{ 0, "function", "GLOB", "instead, or in addition: functions whose names match, by\n"
	  "calls and time; may be repeated",
	  report_functions_take, offsetof(OPTIONS, hypertrace.functions), NULL },
	{ 0, "order", "COLUMN", "with --function: own or total time, or calls, first;\n"
	  "default: own of function_graph, total of hypercalls",
	  take_order, offsetof(OPTIONS, hypertrace.functions.order), report_function_orders },
	{ 0, "top", "N", "with --function: the N first functions (default 20)",
	  take_top, offsetof(OPTIONS, hypertrace.functions.most), NULL },
	{ 0, "kallsyms", "FILE", "with these: a guest's /proc/kallsyms, for names",
	  take_kallsyms, offsetof(OPTIONS, hypertrace), NULL },
	KSV_OPTIONS_TRACE(OPTIONS, trace),
	KSV_OPTION_QUIET(OPTIONS, quiet, "no progress, no notes about damage, clock and skew"),
};

static const char *kind_word(size_t i)
{
	return i < VIRT_WORST_N_KINDS ? virt_worst_kind_name((enum virt_worst_kind)i) : NULL;
}

static const struct ksv_words report_words[] = { { .option = "kind", .word = kind_word }, { 0 } };

/** Do the options ask for what guests report of themselves? */
static bool wants_guests(const struct report_options *options)
{
	return options->hypertrace.calls || options->hypertrace.boot ||
	       options->hypertrace.functions.n_patterns;
}

/** How much of what can be asked for is, besides all numbers. */
static int count_pages(const struct report_options *options)
{
	int wanted = !!options->worst.n + options->tracing + wants_guests(options);

	for (int page = 0; page < N_PAGES; page++)
		wanted += options->pages[page];
	return wanted;
}

static bool wants_summary(const struct report_options *options)
{
	return options->format == TABLE_TEXT && !options->full && !count_pages(options);
}

/** Options that say more about another one need it. */
static int check_options(const struct report_options *options)
{
	if (count_pages(options) + options->full > 1)
		return ksv_usage_error(options->command, "only one of --full, --worst, --exits, "
				       "--waits, --threads, --tasks, --events, --disks, "
				       "--files, --locks, --counters, --over-time, --handlers, "
				       "--power, --migrations, --devices, --tracing, and "
				       "--hypertrace, --boot, --function");
	if (options->format == TABLE_HTML && count_pages(options) + options->full)
		return ksv_usage_error(options->command, "--format html has all pages: give no "
				       "--full, --worst, --exits ...");
	if (options->sort && !wants_summary(options))
		return ksv_usage_error(options->command, "--sort sorts the summary, which is text "
				       "without --full and other pages");
	if (options->hypertrace.kallsyms && !wants_guests(options))
		return ksv_usage_error(options->command, "--kallsyms requires --hypertrace, --boot "
				       "or --function");
	if (options->hypertrace.functions.most && !options->hypertrace.functions.n_patterns)
		return ksv_usage_error(options->command, "--top requires --function");
	if (options->hypertrace.functions.order && !options->hypertrace.functions.n_patterns)
		return ksv_usage_error(options->command, "--order requires --function");
	if (!options->worst.n && (options->worst.kinds || options->worst.above_ns))
		return ksv_usage_error(options->command, "--kind and --above require --worst");
	if (options->topology && !options->pages[PAGE_MIGRATIONS])
		return ksv_usage_error(options->command, "--topology requires --migrations");
	if (options->pages[PAGE_DEVICES] != !!options->monitors.n_paths)
		return ksv_usage_error(options->command, "--devices requires --monitor FILE "
				       "(QEMU's own trace), and --monitor requires --devices");
	if (!options->tracing && options->record_cost_ns > 0)
		return ksv_usage_error(options->command, "--record-cost requires --tracing");
	return KSV_EXIT_OK;
}

/** A file that is being reported on. */
struct job {
	const struct report_options *options;
	struct report_counted	counted;
	struct report_tracing	tracing;
	struct host_topology	topology;
	struct model_monitors	monitors;
	struct report		report;
	struct report_summary	summary;
	char			*path;
	int			place;		/* among the hosts, from 0 on */
};

/** Does the page that was asked for show records? A page does so only beside guests' traces. */
static bool counts_for_page(const struct job *job)
{
	for (int page = 0; page < N_PAGES; page++)
		if (job->options->pages[page])
			return report_pages[page]->with_guests && job->counted.load.n_guests;
	return true;
}

/** Does the report show numbers of records? Otherwise it needs only the model. */
static bool counts_records(const struct job *job)
{
	return !wants_summary(job->options) && counts_for_page(job);
}

/** Do records count, whenever they were written? */
static bool counts_all(const struct job *job)
{
	return !job->options->tracing && job->counted.count.from_ns == INT64_MIN &&
	       job->counted.count.to_ns == INT64_MAX;
}

static int job_skipped(void *arg, const struct xen_trace_skipped *skipped)
{
	report_count_skipped(&((struct job *)arg)->counted.count, skipped);
	return 0;
}

/** The clock is known now: find the window, so that only what lies inside is counted. */
static int job_opened(void *arg)
{
	struct job *job = arg;
	int status = KSV_EXIT_OK;

	if (ksv_time_is_relative(&job->options->from) || ksv_time_is_relative(&job->options->to))
		status = model_find_ends(&job->counted.load);
	if (status)
		return status;
	job->counted.count.from_ns = model_time(&job->counted.load, &job->options->from, INT64_MIN);
	job->counted.count.to_ns = model_time(&job->counted.load, &job->options->to, INT64_MAX);
	if (job->counted.count.from_ns >= job->counted.count.to_ns)
		return ksv_usage_error(job->options->command,
				       "--from is not before --to");
	job->tracing.from_ns = job->counted.count.from_ns;
	job->tracing.to_ns = job->counted.count.to_ns;
	job->counted.kvm.from_ns = job->counted.count.from_ns;
	job->counted.kvm.to_ns = job->counted.count.to_ns;
	job->counted.count.kvm = job->counted.load.host.kvm;
	job->tracing.record_cost_ns = job->options->record_cost_ns;
	job->counted.load.only_counts = counts_all(job);
	/* guests need more of Xen's rows */
	if (job->counted.load.rows && counts_all(job) && !job->counted.load.n_guests &&
	    !job->counted.hypertrace.options)
		job->counted.load.skipped = job_skipped;
	if (!report_count_init(&job->counted.count, host_trace_n_pcpus(&job->counted.load.host)) &&
	    !report_tracing_init(&job->tracing, host_trace_n_pcpus(&job->counted.load.host)))
		return 0;
	ksv_error("not enough memory");
	return KSV_EXIT_FILE;
}

static void job_rows(void *arg, const struct xen_trace_row *rows, size_t n)
{
	struct job *job = arg;

	report_sections_rows(&job->counted, rows, n);
	if (job->options->tracing)
		report_tracing_rows(&job->tracing, rows, n);
}

static void job_record(void *arg, const struct kvm_trace_record *record)
{
	struct job *job = arg;

	report_sections_record(&job->counted, record);
	if (job->options->tracing && record->cpu < job->tracing.n_pcpus)
		report_tracing_record(&job->tracing, record->cpu, record->time_ns, record->bytes);
}

/** The window, cut to the trace. Return: KSV_EXIT_OK, or the exit status after a message. */
static int set_window(struct job *job)
{
	struct report *report = &job->report;

	report->from_ns = job->counted.count.from_ns;
	report->to_ns = job->counted.count.to_ns;
	return model_cut_window(&job->counted.load, job->options->command, &report->from_ns,
				&report->to_ns);
}

/**
 * A guest that is a host itself has the window of its host. Return: false, after a note, if there
 * is none of it in the guest's own trace.
 */
static bool has_window(const struct job *job)
{
	const struct model_load *load = &job->counted.load;
	bool is_absolute = job->options->from.kind == KSV_TIME_NS ||
			   job->options->to.kind == KSV_TIME_NS;
	const char *why = NULL;
	int64_t ns;

	if (is_absolute && !kvm_trace_own_time(load->as_guest, 0, &ns))
		why = "its own times of --from and --to are unknown, as its clock was set or"
		      " counts cycles";
	else if (job->counted.count.from_ns >= virt_model_end(load->model) ||
		 job->counted.count.to_ns <= virt_model_begin(load->model))
		why = "it has no records between --from and --to";
	if (why && !job->options->quiet)
		ksv_note("%s: is not reported as a host, because %s", load->path, why);
	return !why;
}

static void note_invisible(const struct job *job)
{
	const struct report_options *options = job->options;
	const char *missing = job->report.delivery ? job->counted.delivery.missing :
			      "no aligned trace of the guest is given";

	/* text has it below the list */
	if (options->worst.n && options->worst.kinds >> VIRT_WORST_IRQ & 1 && !options->quiet &&
	    missing && options->format != TABLE_TEXT)
		ksv_note("%s: interrupt delivery is unknown, because %s",
			 job->counted.load.path, missing);
}

/** Return: KSV_EXIT_OK, or the exit status after a message. */
static int find_topology(struct job *job)
{
	const char *path = job->options->topology;
	char error[512] = "not enough memory";

	if ((!job->options->pages[PAGE_MIGRATIONS] && job->options->format != TABLE_HTML) ||
	    !(path ? host_topology_read(&job->topology, path, error, sizeof(error)) :
	      host_topology_of_trace(&job->topology, job->counted.load.path, error,
				     sizeof(error))))
		return KSV_EXIT_OK;
	ksv_error("%s", error);
	return KSV_EXIT_FILE;
}

static int culprits_error(const struct report *report)
{
	return report->culprits ? report->culprits->error : 0;
}

/** Of the monitors that were given. Return: KSV_EXIT_OK, or the exit status after a message. */
static int open_monitors(struct job *job)
{
	job->monitors = job->options->monitors;
	return job->options->pages[PAGE_DEVICES] ?
	       model_monitors_open(&job->monitors, &job->counted.load) : KSV_EXIT_OK;
}

/** Return: 0 or -ENOMEM. */
static int write_html(struct job *job, struct output *out)
{
	struct report *report = &job->report;
	struct report_html html = {
		.command = job->options->made_by, .files = job->summary.files,
		.n_files = job->summary.n_files, .index = job->place,
		.pages = html_pages, .n_pages = ARRAY_SIZE(html_pages),
	};
	int ret;

	if (report_sections_build(&job->counted, report, &job->options->vcpus) ||
	    report_build(report, &job->options->vcpus, formats[TABLE_HTML].most_culprits))
		return -ENOMEM;
	ret = report_html_write(out, report, &job->options->vcpus, &html);
	if (!ret && virt_window_walk_error(report->walk))
		ret = -ENOMEM;
	return ret ? ret : culprits_error(report);
}

/** Write what was asked for. Return: 0 or -ENOMEM. */
static int write_report(struct job *job, struct output *out, bool first)
{
	const struct report_options *options = job->options;
	enum table_format_kind format = (enum table_format_kind)options->format;
	struct report *report = &job->report;
	struct report_worst worst = options->worst;

	if (job->counted.count.error)
		return job->counted.count.error;
	if (format == TABLE_HTML)
		return write_html(job, out);
	if (worst.n) {
		if (report_sections_build(&job->counted, report, &options->vcpus))
			return -ENOMEM;
		worst.kinds = worst.kinds ? worst.kinds : VIRT_WORST_ALL_KINDS;
		return report_worst_write(format, out, report, &options->vcpus, &worst, first) ?
		       -ENOMEM : culprits_error(report);
	}
	for (int page = 0; page < N_PAGES; page++) {
		if (!options->pages[page])
			continue;
		if (job->counted.load.n_guests && report_pages[page]->with_guests &&
		    report_sections_build(&job->counted, report, &options->vcpus))
			return -ENOMEM;
		if (report_window(report, &options->vcpus, report_pages[page]->parts))
			return -ENOMEM;
		return report_page_write(report_pages[page], format, out, report, first);
	}
	if (wants_guests(options)) {
		if (report_sections_build(&job->counted, report, &options->vcpus))
			return -ENOMEM;
		formats[format].write(out, report, first);
		return 0;
	}
	if (options->tracing) {
		report->n_pcpus = job->counted.count.n_pcpus;
		if (report_window(report, &options->vcpus, 0))
			return -ENOMEM;
		report_tracing_write(format, out, report, &job->tracing, first);
		return virt_window_walk_error(report->walk);
	}
	if (wants_summary(options))
		return report_summary_write(out, report, &options->vcpus, &job->summary, first);
	if (report_sections_build(&job->counted, report, &options->vcpus) ||
	    report_build(report, &options->vcpus, formats[format].most_culprits))
		return -ENOMEM;
	formats[format].write(out, report, first);
	return virt_window_walk_error(report->walk) ? -ENOMEM : culprits_error(report);
}

/** Commands about one of several hosts can name only that one. */
static void set_summary(struct job *job, const struct model_files *files)
{
	const struct report_options *options = job->options;
	struct report_summary *summary = &job->summary;
	int hosts = 0;

	for (int i = 0; i < files->n; i++)
		hosts += model_files_is_host(files, i) && files->hosts[i] < 0;
	summary->sort = options->sort ? options->sort - 1 : 0;
	summary->files = hosts > 1 ? &job->path : options->argv;
	summary->n_files = hosts > 1 ? 1 : options->n_argv;
	report_summary_screen(summary, options->output);
}

static int count_hosts(const struct model_files *files)
{
	int n = 0;

	for (int i = 0; i < files->n; i++)
		n += model_files_is_host(files, i);
	return n;
}

/** The reports of several hosts are one document. */
static bool is_document(const struct report_options *options, const struct model_files *files)
{
	return options->format == TABLE_JSON && count_hosts(files) > 1;
}

/**
 * A file with its guests. Its trace is used up, guests' are not. @first: cleared if there is a
 * report
 */
static int report_file(const struct report_options *options, struct model_files *files, int host,
		       struct output *out, bool *first)
{
	struct job job = {
		.options = options,
		.counted.load = {
			.options = options->trace,
			.quiet = options->quiet, .shows_lacks = true, .is_brief = true,
			.command = options->command, .vcpus = &options->vcpus,
			.opened = job_opened,
		},
	};
	int status;

	job.counted.load.arg = &job;
	model_files_load(files, host, &job.counted.load);
	if (wants_guests(options))
		job.counted.hypertrace.options = &options->hypertrace;
	if (counts_records(&job)) {
		job.counted.load.rows = job_rows;
		job.counted.load.records = job_record;
	}
	status = model_load(&job.counted.load);
	if (!status && job.counted.load.as_guest && !has_window(&job))
		goto end;
	if (!status)
		status = set_window(&job);
	if (!status)
		status = find_topology(&job);
	if (!status)
		status = open_monitors(&job);
	if (status)
		goto end;
	job.path = files->paths[host];
	for (int i = 0; i < host; i++)
		job.place += model_files_is_host(files, i);
	job.report.file = job.counted.load.path;
	job.report.load = &job.counted.load;
	job.report.count = &job.counted.count;
	job.report.topology = &job.topology;
	job.report.monitors = &job.monitors;
	job.report.n_intervals = options->n_intervals;
	set_summary(&job, files);
	if (!*first && is_document(options, files))
		out_str(out, ",\n");
	if (write_report(&job, out, *first)) {
		ksv_error("%s: not enough memory", job.counted.load.path);
		status = KSV_EXIT_FILE;
		goto end;
	}
	*first = false;
	note_invisible(&job);
	if (!options->quiet) {
		model_notes(&job.counted.load);
		model_monitors_notes(&job.monitors);
	}
	status = model_changed(&job.counted.load, status);
end:
	report_sections_free(&job.counted);
	report_tracing_destroy(&job.tracing);
	host_topology_free(&job.topology);
	model_monitors_close(&job.monitors);
	report_free(&job.report);
	model_unload(&job.counted.load);
	return status;
}

/* --- hosts and guests ------------------------------------------------------------------------ */

static int report_files(const struct report_options *options, const struct trace_args *args,
			struct output *out)
{
	const struct report_hypertrace_options *guests = &options->hypertrace;
	struct model_files files = {
		.args = args, .cpu_hz = options->trace.cpu_hz, .quiet = options->quiet,
		/* functions need no host */
		.takes_any = guests->functions.n_patterns && !guests->calls && !guests->boot,
	};
	int status = out_open_text(out, options->output,
				   options->format == TABLE_TEXT ? OUT_PAGES : OUT_PROGRAM);
	int unread;
	bool first = true, document;

	if (status)
		return status;
	if (options->hypertrace.functions.n_patterns)
		kvm_trace_use_symbols();
	unread = model_files_open(&files);
	status = files.traces ? KSV_EXIT_OK : unread;
	document = !status && is_document(options, &files);
	if (document)
		out_printf(out, "{\n \"version\": %d,\n \"reports\": [\n", JSON_VERSION);
	if (!status && options->format == TABLE_HTML)
		report_html_begin(out, options->argv, options->n_argv);
	for (int i = 0; i < files.n && !status && !out->error; i++)
		if (model_files_is_host(&files, i))
			status = report_file(options, &files, i, out, &first);
	if (document)
		out_str(out, " ]\n}\n");
	if (!status && options->format == TABLE_HTML)
		report_html_end(out);
	model_files_close(&files);
	return out_close(out, status ? status : unread);
}

/** Arguments may be folders, which have several files. */
static int report_args(const struct report_options *options, char **argv, int n,
		       struct output *out)
{
	struct trace_args args = {
		.quiet = options->quiet, .max_input = options->trace.max_input,
		.counters = options->pages[PAGE_COUNTERS],
	};
	int status = trace_args_take(&args, argv, n, options->command, options->output);

	if (!status)
		status = model_monitors_check(&options->monitors, options->command,
					      options->output);
	if (!status)
		status = report_files(options, &args, out);
	trace_args_free(&args);
	return status;
}

static int run_report(const struct ksv_command *command, int argc, char **argv)
{
	static struct output out;
	struct report_options options = { .command = command };
	int first, status;

	status = model_parse(command, argc, argv, &options, &options.trace, &first);
	options.pages[PAGE_OVER_TIME] = options.n_intervals;
	if (status < 0 && check_options(&options))
		status = KSV_EXIT_USAGE;
	if (status >= 0)
		goto end;
	options.argv = argv + first;
	options.n_argv = argc - first;
	options.made_by = escape_shell_words(argv + 1, argc - 1);
	if (!options.made_by) {
		ksv_error("not enough memory");
		status = KSV_EXIT_FILE;
		goto end;
	}
	status = first < argc ? report_args(&options, argv + first, argc - first, &out) :
				ksv_usage_error(command, "which file?");
end:
	hyper_symbols_free(options.hypertrace.symbols);
	ksv_vcpus_free(&options.vcpus);
	free(options.made_by);
	return status;
}

const struct ksv_command cmd_report = {
	.name = "report",
	.args = "[OPTION...] FILE...",
	.summary = "Measure what the vCPUs of a trace did",
	.notes = "FILE is a xentrace file, which may be compressed with gzip or zstd, a pipe, or\n"
		 "- for standard input; or the trace.dat or perf.data of a KVM host, and\n"
		 "those of its guests; or the folder of a recording, or with traces of LTTng;\n"
		 "or the text of ftrace.\n",
	.options = report_option_table,
	.words = report_words,
	.n_options = ARRAY_SIZE(report_option_table),
	.prints_text = true,
	.run = run_report,
};
