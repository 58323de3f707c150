// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	plot_over_time.c
 * @brief	Draw the host's CPU time by kind, switches, tasks, memory and disks over time.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "figure_panels.h"
#include "plot_over_time.h"
#include "table.h"
#include "virt_needs.h"

#define MIB		((double)(1 << 20))
#define GIB		((double)(1 << 30))

/** What numbers are computed from. */
struct source {
	const struct model_load	*load;
	const struct model_over_time *sums;
	const struct model_interval *interval;
	const struct host_sample *held;		/* that states are of; or NULL */
};

/** Of an interval; NAN: not known. @number: of a mode or a sample */
typedef double value_of(const struct source *source, int number);

static double seconds_of(const struct source *source)
{
	return (double)(source->interval->to_ns - source->interval->from_ns) / 1e9;
}

/* --- numbers of the trace -------------------------------------------------------------------- */

static double mode_share(const struct source *source, int mode)
{
	const struct model_interval *interval = source->interval;

	if (!source->sums->has_tasks || !interval->all_ns ||
	    !model_has_mode(source->load, &source->sums->tasks.modes, (enum host_mode)mode))
		return NAN;
	return 100 * (double)interval->modes_ns[mode] / (double)interval->all_ns;
}

static double switch_rate(const struct source *source, int number)
{
	(void)number;
	return source->sums->has_tasks ?
	       (double)source->interval->switches / seconds_of(source) : NAN;
}

static double waiting_tasks(const struct source *source, int number)
{
	const struct model_interval *interval = source->interval;

	(void)number;
	if (!source->sums->has_tasks || !virt_model_knows(source->load->model, VIRT_NUMBER_WAKING))
		return NAN;
	return (double)(interval->waiting_ns + interval->waking_ns) / 1e9 / seconds_of(source);
}

static double tasks_in_d(const struct source *source, int number)
{
	(void)number;
	if (!source->sums->has_tasks || !virt_model_knows(source->load->model, VIRT_NUMBER_WAKING))
		return NAN;
	return (double)source->interval->uninterruptible_ns / 1e9 / seconds_of(source);
}

/* --- numbers of samples ---------------------------------------------------------------------- */

static double counted(const struct source *source, int number)
{
	int64_t count = source->interval->sampled.counts[number];

	return count < 0 ? NAN : (double)count;
}

static double cpu_share(const struct source *source, int number)
{
	int64_t all_ns = host_samples_cpu_ns(&source->interval->sampled);

	return all_ns > 0 ? 100 * counted(source, number) / (double)all_ns : NAN;
}

static double count_rate(const struct source *source, int number)
{
	return counted(source, number) / seconds_of(source);
}

static double mib_rate(const struct source *source, int number)
{
	return count_rate(source, number) / MIB;
}

static double pressure(const struct source *source, int number)
{
	return 100 * counted(source, number) / 1e9 / seconds_of(source);
}

/** The mean of the samples in an interval; of none, the one before it. */
static double state(const struct source *source, int number)
{
	double mean = source->interval->sampled.means[number];

	if (!isnan(mean) || !source->held)
		return mean;
	return source->held->numbers[number] < 0 ? NAN : (double)source->held->numbers[number];
}

static double used_memory(const struct source *source, int number)
{
	(void)number;
	return (state(source, HOST_SAMPLE_MEMORY) - state(source, HOST_SAMPLE_AVAILABLE)) / GIB;
}

static double used_swap(const struct source *source, int number)
{
	(void)number;
	return (state(source, HOST_SAMPLE_SWAP) - state(source, HOST_SAMPLE_SWAP_FREE)) / GIB;
}

static double state_gib(const struct source *source, int number)
{
	return state(source, number) / GIB;
}

/* --- panels ---------------------------------------------------------------------------------- */

/** A curve. */
struct curve {
	const char	*name;
	value_of	*value;
	int		number, color;		/* for host_cpu_color() */
};

#define CPU(number, kind)	{ kind, cpu_share, HOST_SAMPLE_##number, HOST_COLOR_##number },
#define MODE(number, mode)	{ mode, mode_share, HOST_MODE_##number, HOST_COLOR_##number },

static const struct panel {
	const char	*title;
	bool		stacked;
	struct curve	curves[FIGURE_MAX_SERIES];
} panels[] = {
	{ "CPU by kind, %", true, {
		HOST_SAMPLE_CPU(CPU)
	} },
	{ "CPU by records, %", true, {
		HOST_MODES(MODE)
		{ "mode not known", mode_share, HOST_MODE_UNKNOWN, HOST_COLOR_UNKNOWN },
	} },
	{ "Context switches per second", false, {
		{ "records", switch_rate, 0, 1 },
		{ "samples", count_rate, HOST_SAMPLE_SWITCHES, 3 },
	} },
	{ "Tasks", false, {
		{ "runnable", state, HOST_SAMPLE_RUNNABLE, 1 },
		{ "blocked by a disk", state, HOST_SAMPLE_BLOCKED, 3 },
		{ "waiting for a pCPU, by records", waiting_tasks, 0, 2 },
		{ "in D, by records", tasks_in_d, 0, 5 },
	} },
	{ "Memory, GiB", false, {
		{ "used", used_memory, 0, 1 },
		{ "cached", state_gib, HOST_SAMPLE_CACHED, 3 },
		{ "swap", used_swap, 0, 5 },
	} },
	{ "Disks, MiB/s", false, {
		{ "read", mib_rate, HOST_SAMPLE_READ, 1 },
		{ "written", mib_rate, HOST_SAMPLE_WRITTEN, 3 },
	} },
	{ "Pressure, %", false, {
		{ "CPU", pressure, HOST_SAMPLE_CPU_SOME, 1 },
		{ "memory", pressure, HOST_SAMPLE_MEMORY_SOME, 3 },
		{ "IO", pressure, HOST_SAMPLE_IO_SOME, 5 },
	} },
};

#define MAX_CURVES	(ARRAY_SIZE(panels) * FIGURE_MAX_SERIES)

/** What is shown of them: curves of which some number is known. */
struct shown {
	struct figure_panel	panels[ARRAY_SIZE(panels)];
	int			n_panels;
	int64_t			*edges;
	double			*values;	/* of each curve that is shown, by interval */
	size_t			n_curves;
};

/** Return: is any of its numbers known? */
static bool make_values(const struct curve *curve, const struct model_load *load,
			const struct model_over_time *sums, double *values)
{
	struct source source = { .load = load, .sums = sums };
	bool any = false;

	for (size_t i = 0; i < sums->n; i++) {
		source.interval = &sums->all[i];
		source.held = host_samples_held(&sums->samples, source.interval->from_ns);
		values[i] = curve->value(&source, curve->number);
		any |= !isnan(values[i]);
	}
	return any;
}

static void show_panel(struct shown *shown, const struct panel *panel,
		       const struct model_load *load, const struct model_over_time *sums)
{
	struct figure_panel *to = &shown->panels[shown->n_panels];

	*to = (struct figure_panel){ .title = panel->title, .stacked = panel->stacked };
	for (int c = 0; c < FIGURE_MAX_SERIES && panel->curves[c].name; c++) {
		const struct curve *curve = &panel->curves[c];
		double *values = shown->values + shown->n_curves * sums->n;

		if (!make_values(curve, load, sums, values))
			continue;
		to->series[to->n_series++] = (struct figure_series){
			.name = curve->name, .values = values,
			.unknown = curve->color == HOST_COLOR_UNKNOWN,
			.color = host_cpu_color(curve->color),
		};
		shown->n_curves++;
	}
	shown->n_panels += to->n_series > 0;
}

/** Return: 0 or -ENOMEM. */
static int make_shown(struct shown *shown, const struct plot_over_time *what,
		      const struct model_over_time *sums)
{
	shown->edges = malloc((sums->n + 1) * sizeof(*shown->edges));
	shown->values = malloc((sums->n * MAX_CURVES + 1) * sizeof(*shown->values));
	if (!shown->edges || !shown->values)
		return -ENOMEM;
	for (size_t i = 0; i < sums->n; i++)
		shown->edges[i] = sums->all[i].from_ns;
	shown->edges[sums->n] = what->to_ns;
	for (size_t i = 0; i < ARRAY_SIZE(panels); i++)
		show_panel(shown, &panels[i], what->load, sums);
	return 0;
}

/* --- output ---------------------------------------------------------------------------------- */

static const struct table_column columns[] = {
	{ .key = "panel" },
	{ .key = "curve" },
	{ .key = "from_ns", .type = TABLE_TIME },
	{ .key = "to_ns", .type = TABLE_TIME },
	{ .key = "value", .type = TABLE_FIXED },
};

static const struct table table = { .rows = { TABLE_COLUMNS(columns) } };

static void series_rows(struct table_writer *to, const struct shown *shown, size_t n,
			const struct figure_panel *panel, const struct figure_series *series)
{
	for (size_t i = 0; i < n; i++)
		table_row(to, (const struct table_cell[ARRAY_SIZE(columns)]){
			table_name(panel->title), table_name(series->name),
			table_number(shown->edges[i]), table_number(shown->edges[i + 1]),
			table_rate(!isnan(series->values[i]), series->values[i]),
		});
}

static int write_numbers(const struct plot_over_time *what, const struct shown *shown, size_t n)
{
	static struct output out;
	struct table_writer to = { .table = &table, .format = &table_csv, .out = &out };
	int status = out_open(&out, what->output);

	if (status)
		return status;
	table_flat(&to, true);
	for (int p = 0; p < shown->n_panels; p++)
		for (int s = 0; s < shown->panels[p].n_series; s++)
			series_rows(&to, shown, n, &shown->panels[p], &shown->panels[p].series[s]);
	table_flat_end(&to);
	return out_close(&out, KSV_EXIT_OK);
}

static int write_figure(const struct plot_over_time *what, const struct shown *shown, size_t n)
{
	const struct figure_panels figure = {
		.from_ns = what->from_ns, .to_ns = what->to_ns, .edges = shown->edges, .n = n,
		.all = shown->panels, .n_panels = shown->n_panels, .width = what->width,
		.height = what->height, .title = what->title,
	};
	double width, height, real = figure_panels_height(&figure);

	figure_panels_least(&figure, &width, &height);
	if (what->width < width || real < height)
		return ksv_usage_error(what->command, "%.0f x %.0f is too small for %d panels: at "
				       "least %.0f x %.0f are needed", what->width, real,
				       shown->n_panels, width, height);
	if (what->max_pixels && (what->width * what->scale > what->max_pixels ||
				 real * what->scale > what->max_pixels))
		return ksv_usage_error(what->command, "a PNG of %.0f x %.0f is too large: at most "
				       "%d pixels a side; give a smaller --width, --height or "
				       "--scale", what->width * what->scale, real * what->scale,
				       what->max_pixels);
	return figure_panels_write(&figure, what->format, what->output, what->scale);
}

int plot_over_time(const struct plot_over_time *what)
{
	struct model_over_time sums = { .n = 0 };
	struct shown shown = { .n_panels = 0 };
	int ret = model_over_time_make(&sums, what->load, what->load->path, what->from_ns,
				       what->to_ns, what->n_intervals);
	int status = KSV_EXIT_FILE;

	if (!ret)
		ret = make_shown(&shown, what, &sums);
	if (ret)
		ksv_error("%s: %s", what->load->path, host_trace_problem(ret));
	else if (!shown.n_panels)
		ksv_error("%s: there is nothing to draw over time: it has neither records of tasks "
			  "(sched:sched_switch of KVM) nor samples of kshark-virt record",
			  what->load->path);
	else
		status = what->csv ? write_numbers(what, &shown, sums.n) :
			 write_figure(what, &shown, sums.n);
	free(shown.edges);
	free(shown.values);
	model_over_time_free(&sums);
	return status;
}
