// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_plot.c
 * @brief	kshark-virt plot: a figure of the activity of vCPUs or pCPUs, or the numbers for
 *		one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "figure.h"
#include "heap.h"
#include "model_files.h"
#include "model_vcpus.h"
#include "plot_boot.h"
#include "plot_over_time.h"
#include "plot_tasks.h"
#include "table.h"

enum format { FORMAT_SVG, FORMAT_PNG, FORMAT_PDF, FORMAT_CSV, N_FORMATS };

static const char *const format_names[] = {
	[FORMAT_SVG] = "svg",
	[FORMAT_PNG] = "png",
	[FORMAT_PDF] = "pdf",
	[FORMAT_CSV] = "csv",
	NULL
};

enum by { BY_VCPU, BY_PCPU };

static const char *const by_names[] = { "vcpu", "pcpu", NULL };

static const enum canvas_format canvas_formats[N_FORMATS] = {
	[FORMAT_SVG] = CANVAS_SVG,
	[FORMAT_PNG] = CANVAS_PNG,
	[FORMAT_PDF] = CANVAS_PDF,
};

#define DEFAULT_WIDTH	900
#define INTERVALS	100
#define MAX_SIZE	20000	/* units */
#define MAX_SCALE	16
#define MAX_PIXELS	32767	/* of a side; cairo's limit */

/** What was asked for. */
struct plot_options {
	const struct ksv_command *command;
	int			format;		/* -1: as the file is called */
	const char		*output;
	int			by;		/* enum by; -1: not said */
	bool			tasks;
	int			n_intervals;	/* of --over-time; 0: not asked for */
	bool			quiet;
	struct ksv_time		from, to;
	struct ksv_id_set	pcpus;
	struct ksv_vcpu_set	vcpus;
	double			width, height, scale;
	const char		*title;
	struct plot_boot_options boot;
	struct host_options trace;
};

struct plot {
	const struct plot_options *options;
	struct model_load	load;
	int64_t			from_ns, to_ns;
	bool			*vcpus, *pcpus;	/* what is shown */
	struct plot_boot	boot;
	struct plot_tasks	tasks;
	struct output		out;
};

/* --- the command line ------------------------------------------------------------------------ */

#define OPTIONS	struct plot_options

/** Something to be measured: not less than 1. */
static int take_number(const struct ksv_command *command, const struct ksv_option *option,
		       const char *text, double max, double *value)
{
	char *end;

	errno = 0;
	*value = strtod(text, &end);
	if (end == text || *end || errno || !(*value >= 1 && *value <= max))
		return ksv_usage_error(command, "--%s %s: not a number from 1 to %.0f",
				       option->name, text, max);
	return 0;
}

static int take_size(const struct ksv_command *command, const struct ksv_option *option,
		     const char *text, void *target)
{
	return take_number(command, option, text, MAX_SIZE, target);
}

static int take_scale(const struct ksv_command *command, const struct ksv_option *option,
		      const char *text, void *target)
{
	return take_number(command, option, text, MAX_SCALE, target);
}

static int take_over_time(const struct ksv_command *command, const struct ksv_option *option,
			  const char *text, void *target)
{
	size_t n = INTERVALS;
	int status = text ? ksv_take_number(command, option, text, 1, MODEL_MAX_INTERVALS, &n) : 0;

	*(int *)target = (int)n;
	return status;
}

static const struct ksv_option plot_option_table[] = {
	KSV_OPTION_OUTPUT(OPTIONS, output),
	KSV_OPTION_FORMAT(OPTIONS, format, format_names,
			  "svg, png, pdf or csv; default: by FILE's suffix, or svg"),
	{ 0, "by", "WHAT", "a row for each vcpu, coloured by state (default), or for each\n"
	  "pcpu, coloured by vCPU", ksv_take_choice, offsetof(OPTIONS, by), by_names },
	{ 0, "tasks", NULL, "a row for each pcpu, coloured by the guests' tasks that vCPUs\n"
	  "executed there; needs the guests' traces",
	  ksv_take_flag, offsetof(OPTIONS, tasks), NULL },
	{ 0, "over-time", "[=N]", "instead of rows: the host's CPU time by kind, switches, tasks,\n"
	  "memory and disks, in N intervals (default 100)",
	  take_over_time, offsetof(OPTIONS, n_intervals), NULL },
	KSV_OPTION_FROM(OPTIONS, from, KSV_FROM_HELP),
	KSV_OPTION_TO(OPTIONS, to, "up to this time, which is not included"),
	KSV_OPTION_VCPUS(OPTIONS, vcpus, "only these vCPUs, e.g. d1v0,d2"),
	KSV_OPTION_PCPUS(OPTIONS, pcpus, "only these pCPUs, or vCPUs that were on them"),
	{ 0, "width", "W", "width in px (PDF: points), default 900",
	  take_size, offsetof(OPTIONS, width), NULL },
	{ 0, "height", "H", "height in px (PDF: points), default: by the rows",
	  take_size, offsetof(OPTIONS, height), NULL },
	{ 0, "scale", "N", "PNG: enlarge by this factor, for print",
	  take_scale, offsetof(OPTIONS, scale), NULL },
	{ 0, "title", "TEXT", "a title above the figure",
	  ksv_take_text, offsetof(OPTIONS, title), NULL },
	{ 0, "boot", NULL, "above the rows: phases and levels of guests' boots, from\n"
	  "hypercalls or their own traces", ksv_take_flag,
	  offsetof(OPTIONS, boot.wanted), NULL },
	{ 0, "hypertrace", "DIALECT", "with --boot: the dialect of the hypercalls, or a file\n"
	  "with your own", model_take_dialect, offsetof(OPTIONS, boot.dialect), NULL },
	{ 0, "kallsyms", "FILE", "with --boot: a guest's /proc/kallsyms, for names of initcalls",
	  ksv_take_text, offsetof(OPTIONS, boot.kallsyms), NULL },
	KSV_OPTION_CPU_HZ(OPTIONS, trace.cpu_hz),
	KSV_OPTION_MAX_INPUT(OPTIONS, trace.max_input),
	KSV_OPTION_QUIET(OPTIONS, quiet, "no notes about damage, clock and skew"),
};

/** What a file's name says. Return: 0, or an exit status after a message. */
static int find_format(struct plot_options *options)
{
	const char *dot = options->output ? strrchr(options->output, '.') : NULL;

	for (int i = 0; dot && i < N_FORMATS && options->format < 0; i++) {
		if (!strcasecmp(dot + 1, format_names[i]))
			options->format = i;
	}
	if (options->format < 0 && options->output && strcmp(options->output, "-") != 0)
		return ksv_usage_error(options->command, "--output %s: the suffix is not .svg, "
				       ".png, .pdf or .csv; give --format", options->output);
	if (options->format < 0)
		options->format = FORMAT_SVG;
	if ((options->format == FORMAT_PNG || options->format == FORMAT_PDF) &&
	    (!options->output || !strcmp(options->output, "-")) && isatty(STDOUT_FILENO))
		return ksv_usage_error(options->command, "a terminal cannot show %s; give --output "
				       "FILE", format_names[options->format]);
	return 0;
}

/* --- what is shown --------------------------------------------------------------------------- */

static bool vcpu_wanted(const struct plot *plot, int32_t index)
{
	return model_wants_vcpu(plot->load.model, index, &plot->options->vcpus);
}

/** Was a vCPU on one of the chosen pCPUs? */
static bool vcpu_was_there(const struct plot *plot, int32_t index)
{
	struct virt_interval_range range;

	if (!plot->options->pcpus.any)
		return true;
	range = virt_vcpu_intervals(plot->load.model, index, plot->from_ns, plot->to_ns);
	for (size_t i = 0; i < range.n; i++) {
		const struct virt_interval *interval = &range.first[i];

		if (virt_state_on_pcpu(interval->state) && interval->pcpu >= 0 &&
		    ksv_id_in_set(&plot->options->pcpus, (unsigned int)interval->pcpu))
			return true;
	}
	return false;
}

static int choose(struct plot *plot)
{
	const struct plot_options *options = plot->options;
	int32_t n_vcpus = virt_model_n_vcpus(plot->load.model);
	int32_t n_pcpus = virt_model_n_pcpus(plot->load.model);
	bool by_place = options->by == BY_VCPU && options->format != FORMAT_CSV;

	plot->vcpus = calloc(n_vcpus + 1, sizeof(*plot->vcpus));
	plot->pcpus = calloc(n_pcpus + 1, sizeof(*plot->pcpus));
	if (!plot->vcpus || !plot->pcpus)
		return -ENOMEM;
	for (int32_t i = 0; i < n_vcpus; i++)
		plot->vcpus[i] = vcpu_wanted(plot, i) && (!by_place || vcpu_was_there(plot, i));
	for (int32_t i = 0; i < n_pcpus; i++)
		plot->pcpus[i] = !options->pcpus.any ||
				 ksv_id_in_set(&options->pcpus, (unsigned int)i);
	return 0;
}

static int find_span(struct plot *plot)
{
	const struct plot_options *options = plot->options;
	int status = model_window(&plot->load, options->command, &options->from, &options->to,
				  &plot->from_ns, &plot->to_ns);

	if (status || plot->from_ns < plot->to_ns)
		return status;
	return ksv_no_window(options->command, plot->load.path,
			     virt_model_begin(plot->load.model), virt_model_end(plot->load.model));
}

/* --- numbers --------------------------------------------------------------------------------- */

/** One pCPU's occupants, on the way through them. */
struct source {
	int32_t				pcpu;
	struct virt_occupant_range	range;
	size_t				next;
};

static const struct table_column arrival_columns[] = {
	{ .key = "vcpu" },
	{ .key = "time_ns", .type = TABLE_TIME },
	{ .key = "pcpu", .type = TABLE_TIME },
};

static const struct table arrivals_table = { .rows = { TABLE_COLUMNS(arrival_columns) } };

static void arrival_row(struct table_writer *to, const struct plot *plot, int32_t vcpu,
			int64_t time_ns, int32_t pcpu)
{
	table_row(to, (const struct table_cell[ARRAY_SIZE(arrival_columns)]){
		table_name(virt_model_vcpu(plot->load.model, vcpu)->name), table_number(time_ns),
		table_number(pcpu),
	});
}

/** When the next occupant comes; of several at a time, the pCPU with the lowest number is first. */
static bool comes_before(const struct source *a, const struct source *b)
{
	int64_t time_a = a->range.first[a->next].start_ns;
	int64_t time_b = b->range.first[b->next].start_ns;

	return time_a != time_b ? time_a < time_b : a->pcpu < b->pcpu;
}

/** A heap of the pCPUs that are shown and have occupants. Return: how many. */
static size_t make_heap(const struct plot *plot, struct source *heap)
{
	size_t n = 0;

	for (int32_t i = 0; i < virt_model_n_pcpus(plot->load.model); i++) {
		struct source source = { .pcpu = i };

		if (plot->pcpus[i])
			source.range = virt_pcpu_occupants(plot->load.model, i, plot->from_ns,
							   plot->to_ns);
		if (source.range.n)
			heap[n++] = source;
	}
	for (size_t i = n / 2; i-- > 0;)
		HEAP_DOWN(heap, n, i, comes_before);
	return n;
}

/**
 * A row for each time that a vCPU gets a pCPU. After a migration there are two, the old pCPU
 * first, so that points joined by lines make steps; as xenalyze --scatterplot-pcpu does it.
 */
static int arrival_rows(struct plot *plot)
{
	const struct virt_model *model = plot->load.model;
	int32_t n_pcpus = virt_model_n_pcpus(model), n_vcpus = virt_model_n_vcpus(model);
	struct source *heap = calloc(n_pcpus + 1, sizeof(*heap));
	int32_t *last = calloc(n_vcpus + 1, sizeof(*last));
	int ret = heap && last ? 0 : -ENOMEM;
	size_t n = ret ? 0 : make_heap(plot, heap);
	struct table_writer to = {
		.table = &arrivals_table, .format = &table_csv, .out = &plot->out,
	};

	for (int32_t i = 0; i < n_vcpus && !ret; i++)
		last[i] = VIRT_NONE;
	if (!ret)
		table_flat(&to, true);
	while (n && !plot->out.error) {
		const struct virt_occupant *occupant = &heap->range.first[heap->next++];
		int64_t time_ns = occupant->start_ns < plot->from_ns ? plot->from_ns :
				  occupant->start_ns;
		int32_t pcpu = heap->pcpu;

		if (heap->next == heap->range.n && --n)
			heap[0] = heap[n];
		if (n)
			HEAP_DOWN(heap, n, 0, comes_before);
		if (!virt_model_vcpu(model, occupant->vcpu) || !plot->vcpus[occupant->vcpu])
			continue;
		if (last[occupant->vcpu] != VIRT_NONE && last[occupant->vcpu] != pcpu)
			arrival_row(&to, plot, occupant->vcpu, time_ns, last[occupant->vcpu]);
		arrival_row(&to, plot, occupant->vcpu, time_ns, pcpu);
		last[occupant->vcpu] = pcpu;
	}
	if (!ret)
		table_flat_end(&to);
	free(heap);
	free(last);
	return ret;
}

/* --- figures --------------------------------------------------------------------------------- */

static int no_memory(void)
{
	ksv_error("not enough memory");
	return KSV_EXIT_FILE;
}

static int make_boot(struct plot *plot, struct output *out)
{
	return plot_boot_make(&plot->boot, &plot->options->boot, &plot->load, plot->vcpus,
			      plot->from_ns, plot->to_ns, out);
}

/** Stages of boots, if they are asked for; there must be one. */
static int find_boot(struct plot *plot)
{
	int status = plot->options->boot.wanted ? make_boot(plot, NULL) : 0;

	if (status || !plot->options->boot.wanted || plot->boot.n_lanes)
		return status;
	return ksv_usage_error(plot->options->command, "no shown guest has phases or levels of its "
			       "boot in this window, neither in hypercalls nor in its own trace");
}

static int plot_figure(struct plot *plot)
{
	const struct plot_options *options = plot->options;
	double scale = options->scale;
	struct figure_options figure_options = {
		.model = plot->load.model, .by_vcpu = options->by == BY_VCPU,
		.from_ns = plot->from_ns, .to_ns = plot->to_ns,
		.vcpus = plot->vcpus, .pcpus = plot->pcpus,
		.width = options->width, .height = options->height,
		.scale = options->format == FORMAT_PNG ? scale : 0,
		.title = options->title,
	};
	struct figure *figure;
	char error[160] = "";
	int status;

	status = find_boot(plot);
	if (status)
		return status;
	if (options->tasks && plot_tasks_make(&plot->tasks, &plot->load, plot->vcpus,
					      plot->from_ns, plot->to_ns))
		return no_memory();
	figure_options.inner = plot->tasks.inner;
	figure_options.tasks = plot->tasks.tasks;
	figure_options.n_tasks = plot->tasks.n_tasks;
	figure_options.lanes = plot->boot.lanes;
	figure_options.n_lanes = plot->boot.n_lanes;
	figure = figure_new(&figure_options, error, sizeof(error));
	if (!figure)
		return errno == EINVAL ? ksv_usage_error(options->command, "%s", error) :
		       no_memory();
	if (options->format == FORMAT_PNG && (options->width * scale > MAX_PIXELS ||
					      figure_height(figure) * scale > MAX_PIXELS))
		status = ksv_usage_error(options->command, "a PNG of %.0f x %.0f is too large: at "
					 "most %d pixels a side; give a smaller --width, --height "
					 "or --scale", options->width * scale,
					 figure_height(figure) * scale, MAX_PIXELS);
	else
		status = figure_write(figure, canvas_formats[options->format], options->output,
				      options->scale);
	figure_free(figure);
	return status;
}

static int plot_numbers(struct plot *plot)
{
	int status = out_open(&plot->out, plot->options->output);

	if (status)
		return status;
	if (plot->options->boot.wanted)
		status = make_boot(plot, &plot->out);
	else if (plot->options->tasks)
		plot_tasks_csv(&plot->tasks, &plot->load, plot->vcpus, plot->pcpus, plot->from_ns,
			       plot->to_ns, &plot->out);
	else if (arrival_rows(plot))
		status = no_memory();
	return out_close(&plot->out, status);
}

/** Numbers of the host instead of rows. */
static int plot_numbers_over_time(struct plot *plot)
{
	const struct plot_options *options = plot->options;
	const struct plot_over_time what = {
		.command = options->command, .load = &plot->load,
		.n_intervals = options->n_intervals,
		.from_ns = plot->from_ns, .to_ns = plot->to_ns,
		.width = options->width, .height = options->height, .scale = options->scale,
		.title = options->title, .output = options->output,
		.csv = options->format == FORMAT_CSV,
		.format = canvas_formats[options->format],
		.max_pixels = options->format == FORMAT_PNG ? MAX_PIXELS : 0,
	};

	return plot_over_time(&what);
}

/* --- all of it ------------------------------------------------------------------------------- */

/** Tasks of guests are only in their own traces. */
static int read_tasks(struct plot *plot)
{
	if (!plot->options->tasks)
		return KSV_EXIT_OK;
	if (plot->load.n_guests)
		return plot_tasks_read(&plot->tasks, &plot->load);
	return ksv_usage_error(plot->options->command, "--tasks: give the aligned trace of a guest "
			       "after that of its host");
}

/** @files: NULL: @path, which is not open yet, and @before, what was found about it */
static int plot_file(const char *path, const struct trace_notes *before,
		     struct model_files *files, int host, const struct plot_options *options)
{
	struct plot *plot = calloc(1, sizeof(*plot));
	int status;

	if (!plot)
		return no_memory();
	plot->options = options;
	plot->load = (struct model_load){
		.path = path, .options = options->trace, .quiet = options->quiet, .before = before,
		.command = options->command, .vcpus = &options->vcpus,
	};
	if (files)
		model_files_load(files, host, &plot->load);
	if (options->boot.wanted)
		plot_boot_walk(&plot->boot, &plot->load);
	status = model_load(&plot->load);
	if (status)
		goto end;
	status = find_span(plot);
	if (!status && options->n_intervals) {
		status = plot_numbers_over_time(plot);
		goto notes;
	}
	if (!status && choose(plot))
		status = no_memory();
	if (!status)
		status = read_tasks(plot);
	if (!status)
		status = options->format == FORMAT_CSV ? plot_numbers(plot) : plot_figure(plot);
notes:
	if (!status && !options->quiet)
		model_notes(&plot->load);
	status = model_changed(&plot->load, status);
end:
	plot_tasks_free(&plot->tasks);
	plot_boot_free(&plot->boot);
	model_unload(&plot->load);
	free(plot->vcpus);
	free(plot->pcpus);
	free(plot);
	return status;
}

static int plot_arg(const char *arg, const struct plot_options *options)
{
	struct trace_args args = {
		.quiet = options->quiet, .max_input = options->trace.max_input,
	};
	const char *path;
	int status = trace_args_only(&args, options->command, arg, options->output, &path);

	if (!status)
		status = plot_file(path, &args.notes, NULL, -1, options);
	trace_args_free(&args);
	return status;
}

static int plot_opened(struct model_files *files, const struct plot_options *options)
{
	int host, status = model_files_only_host(files, options->command, &host);

	return status ? status : plot_file(NULL, NULL, files, host, options);
}

/** A host and its guests. */
static int plot_args(char **argv, int n, const struct plot_options *options)
{
	struct trace_args args = {
		.quiet = options->quiet, .max_input = options->trace.max_input,
	};
	struct model_files files = {
		.args = &args, .cpu_hz = options->trace.cpu_hz, .quiet = options->quiet,
	};
	int status = trace_args_take(&args, argv, n, options->command, options->output), unread;

	if (!status) {
		unread = model_files_open(&files);
		status = files.traces ? plot_opened(&files, options) : unread;
		status = status ? status : unread;
	}
	model_files_close(&files);
	trace_args_free(&args);
	return status;
}

/** Options that say more about another one need it. */
static int check_options(struct plot_options *options)
{
	if (!options->boot.wanted && (options->boot.dialect || options->boot.kallsyms))
		return ksv_usage_error(options->command, "--hypertrace and --kallsyms require "
				       "--boot");
	if (options->tasks && options->by == BY_VCPU)
		return ksv_usage_error(options->command, "--tasks: rows are pCPUs, not vCPUs");
	if (options->tasks && options->boot.wanted && options->format == FORMAT_CSV)
		return ksv_usage_error(options->command, "with --format csv, give either --tasks "
				       "or --boot");
	if (options->n_intervals && (options->tasks || options->boot.wanted || options->by >= 0 ||
				     options->vcpus.n || options->pcpus.any))
		return ksv_usage_error(options->command, "--over-time: its numbers are those of "
				       "the whole host, without --by, --tasks, --boot, --vcpu and "
				       "--pcpu");
	if (options->by < 0)
		options->by = options->tasks ? BY_PCPU : BY_VCPU;
	return KSV_EXIT_OK;
}

static int plot_run(const struct ksv_command *command, int argc, char **argv)
{
	struct plot_options *options = calloc(1, sizeof(*options));
	char error[256];
	int first, status;

	if (!options)
		return no_memory();
	options->command = command;
	options->format = -1;
	options->by = -1;
	options->width = DEFAULT_WIDTH;
	options->scale = 1;
	if (host_options_from_env(&options->trace, error, sizeof(error))) {
		status = ksv_usage_error(command, "%s", error);
		goto out;
	}
	status = ksv_parse(command, argc, argv, options, &first);
	if (status >= 0)
		goto out;
	status = find_format(options);
	if (!status)
		status = check_options(options);
	if (!status && argc == first)
		status = ksv_usage_error(command, "no file is given");
	if (!status && argc - first > 1 && !options->tasks && !options->boot.wanted)
		status = ksv_usage_error(command, "give one file; traces of guests require --tasks "
					 "or --boot");
	if (!status)
		status = options->tasks || options->boot.wanted ?
			 plot_args(argv + first, argc - first, options) :
			 plot_arg(argv[first], options);
out:
	ksv_vcpus_free(&options->vcpus);
	free(options);
	return status;
}

const struct ksv_command cmd_plot = {
	.name = "plot",
	.args = "[OPTION...] FILE...",
	.summary = "Draw the states of vCPUs or pCPUs over time, as SVG, PNG or PDF",
	.notes = KSV_NOTE_HOST,
	.options = plot_option_table,
	.n_options = ARRAY_SIZE(plot_option_table),
	.run = plot_run,
};
